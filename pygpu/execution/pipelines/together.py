"""Functions of several passes that are known to be pipelines, as filters are.

passes = Together(function)
passes(1 << 15, {"image": image, "radius": 3})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError
from pygpu.core.storage import ImageLike, NumberLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import Out
from pygpu.execution.pipelines.deferred import Graph, current, deferring
from pygpu.execution.pipelines.stages import Runner
from pygpu.execution.pipelines.steady import Trusted
from pygpu.execution.pipelines.takes import Take, Takes


class Together:
    """A function of images and known values which does the same for the same: its calls are put
    together where one of its images has so many pixels, and done again without its Python when they
    come again. In a pipeline they are that one's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._runner = function, Runner()
        self._takes = Takes(Trusted)

    def __call__(self, least: int, values: Mapping[str, Any], out: Out | None = None) -> Any:
        """What it gives for such arguments, by their names; made in the caller's arrays where that
        can be done."""
        if current() is not None:
            return self._function(**values)
        device = targets.choose("auto")
        take = self._take(values, device)
        if take is not None:
            try:
                return take.play(list(values.values()), out=out)
            except (DeviceError, MemoryError, ArithmeticError, TypeError):
                self._takes.forget()  # the long way says what cannot be
        if not any(_has(each, least) for each in values.values()):
            return self._function(**values)
        settle: Any = self._runner.settle
        graph = Graph(device, settle)
        with deferring(graph):
            result = self._function(**values)
            graph.settle([image.storage for image in images_of(result)])
        return result

    def _take(self, values: Mapping[str, Any], device: Device) -> Take | None:
        """What such a call does, if that is known, or found out now."""
        key = self._takes.exact(values, device)
        if key is None or self._takes.is_refused(key):
            return None
        take = self._takes.find(key)
        if take is not None or not self._takes.is_due(key):
            return take

        def call(graph: Graph, given: Sequence[Any]) -> Any:
            with deferring(graph):
                return self._function(**dict(zip(values, given, strict=True)))

        return self._takes.rehearse(key, list(values.values()), call, self._runner, device)


def _has(value: Any, least: int) -> bool:
    """Whether it is an image of so many pixels."""
    return isinstance(value, ImageLike) and value.storage.height * value.storage.width >= least


def images_of(result: Any) -> list[ImageLike | NumberLike]:
    """The images and the numbers of a device in a result, in lists, tuples and dicts too."""
    if isinstance(result, (ImageLike, NumberLike)):
        return [result]
    if isinstance(result, dict):
        return [image for value in result.values() for image in images_of(value)]
    if isinstance(result, (list, tuple)):
        return [image for value in result for image in images_of(value)]
    return []
