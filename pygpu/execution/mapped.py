"""Values that are folded of signals and volumes, as images of their rows.

A fold does not ask where texels lie, so rows of a volume are as good as those of an image. A `map`
that takes the position too is computed first, at every position of the whole.

    mapped(map, volume, "auto").images      # images (D * H, W)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Wanted
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.folding import State
from pygpu.execution.programs.calls import Programs


def mapped(map: Callable[..., Any], image: ImageLike, target: str) -> State:
    """map(texel, position) at every position, as images of rows."""
    compiled = _program(Code(map), image.dims, target)
    arguments = flatten(compiled.signature, [map, image, None])
    results = compiled.run(arguments, Wanted("image")).presented()
    is_tuple = isinstance(results, tuple)
    parts = results if is_tuple else (results,)
    return State(tuple([ImageMaker.of_rows(part) for part in parts]), is_tuple)


@lru_cache(maxsize=64)
def _program(map: Code, dims: int, target: str) -> Programs:
    parameters = [
        Parameter("map", "known", default=map.value),
        Parameter("image", "image", dims),
        Parameter("p", "position"),
    ]
    return Programs(_apply, Signature(_apply, parameters), target)


def _apply(map: Any, image: Any, p: Any) -> Any:
    return map(image(p), p)


__all__ = ["mapped"]
