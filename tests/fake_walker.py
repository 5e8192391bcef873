"""A front end for tests of what stands behind it: functions made by hand, in place of the walker.

with translating(lambda bindings, build: [build.load(0, build.x, build.y)]):
    f(photo)
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from pygpu.core.builder import Builder
from pygpu.execution.programs import specialise
from pygpu.frontend.translate import Translation
from pygpu.ssa import ImageInput
from pygpu.types import Type

Make = Callable[[Mapping[str, Any], Builder], Any]


class Dependencies:
    stale = False

    def changed(self) -> bool:
        return self.stale


@contextlib.contextmanager
def translating(make: Make) -> Iterator[list[Mapping[str, Any]]]:
    """Functions are translated by `make`; gives the bindings of each translation."""
    calls: list[Mapping[str, Any]] = []

    def translate(
        function: Callable[..., Any],
        bindings: Mapping[str, Any],
        *,
        images: Sequence[ImageInput],
        uniforms: Sequence[tuple[str, Type]],
        checked: bool = False,
    ) -> Any:
        calls.append(bindings)
        build = Builder(function.__name__, images, uniforms)
        outputs = make(bindings, build)
        is_tuple = isinstance(outputs, tuple)
        return Translation(build.finish(outputs), (), is_tuple, Dependencies())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(specialise.frontend, "translate", translate)
        yield calls
