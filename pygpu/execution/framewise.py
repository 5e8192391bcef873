"""`f.map(stack)` of a function of a whole image that is several programs, as ready filters are.

    filters.canny.map(film, sigma=2)       # (T, H, W) gives (T, H, W)
    filters.threshold_otsu.map(film)       # a number for each frame: (T,)
    for frame in filters.canny.map(camera()): ...    # a generator

Each frame is a call. The first argument varies; the others are given as in a call.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pygpu.core.errors import guarded
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.convert import array_of
from pygpu.execution.frames import Stack, come_one_by_one, lazy_stack, stack_of
from pygpu.execution.large import labels
from pygpu.execution.large.sources import NO_OUT, holds_dask, is_dask


def mapped(call: Callable[..., Any], dims: int = 2) -> Callable[..., Any]:
    """The function of stacks, given that of an image, whose first parameter is the image: one of so
    many coordinates."""
    name = call.__name__

    @functools.wraps(call)
    def over(images: Any, *args: Any, out: Any = None, **options: Any) -> Any:
        if labels.holds_labelled((images, *args), options):
            return labels.call(over, (images, *args), options | {"out": out})
        if come_one_by_one(images):
            if out is not None:
                raise TypeError("out: of frames that come one by one each result is a new one")
            return (call(frame, *args, **options) for frame in images)
        if is_dask(images):
            if out is not None:
                raise TypeError(NO_OUT)
            stack = lazy_stack(images, name, dims)
        else:
            found = stack_of(images, name, dims, must=True)
            assert found is not None, "the first argument must vary"
            stack = found
        if not stack.count:
            raise ValueError(f"{name}.map: a stack without frames")
        if out is None:
            results = [call(stack.frame(t), *args, **options) for t in range(stack.count)]
            return _joined(results, stack)
        for index in np.ndindex(*stack.leading):
            place = int(np.ravel_multi_index(index, stack.leading))
            call(stack.frame(place), *args, out=_part(out, index), **options)
        return out

    del over.__wrapped__  # its first parameter is another
    over.__name__, over.__qualname__ = "map", f"{call.__qualname__}.map"  # pickle finds it so
    over.__doc__ = (
        f"`{name}` of each frame of a stack: an array (T, H, W) or (T, H, W, C) gives (T, ...), a "
        "pygpu.Volume one; frames that come one by one, by a generator or in a list, give a "
        "generator. All other arguments are given as in a call."
    )
    return guarded(over)


def _part(out: Any, index: tuple[int, ...]) -> Any:
    """The part of `out` for a frame."""
    if isinstance(out, tuple):
        return tuple([array_of(each, "out")[index] for each in out])
    return array_of(out, "out")[index]


def _joined(results: list[Any], stack: Stack) -> Any:
    """The results of frames, with the axes of the stack before theirs. Of functions that give
    several, as many; of those that give layers one by one, each layer of all frames."""
    first = results[0]
    if isinstance(first, Iterator):
        return (_joined(list(layers), stack) for layers in zip(*results, strict=True))
    if isinstance(first, dict):
        return {name: _joined([each[name] for each in results], stack) for name in first}
    if isinstance(first, tuple | list):
        return type(first)([_joined(list(each), stack) for each in zip(*results, strict=True)])
    if isinstance(first, ImageLike):
        return np.stack(results)
    if holds_dask(results):
        made: Any = sys.modules["dask.array"].stack(results)
    else:
        made = np.stack(results)
    return made.reshape(*stack.leading, *made.shape[1:])
