"""Calls of pipelines done again: what a steady function did is not asked of it a second time.

    takes = Takes(function, Pipeline)
    key = takes.key(args, kwargs, device)       # None where arguments are of another kind
    take = takes.find(key)                      # None where it is not known what the call does
    takes.rehearse(key, call, runner)           # find out: the function is called, nothing computed
    take.play(images)                           # the results for images of these sizes

A function that is steady (steady.py), given images of the same sizes and the same numbers, calls
the same functions in the same order, unless it looks at texels. So it is called with images that
cannot be looked at, and what it notes then is what all such calls are to run.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler, of
from pygpu.core.storage import Awaited, ImageLike, NumberLike, Storage
from pygpu.devices.noting import NotingDevice
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.execution.pipelines.deferred import Deferred, Graph, settled
from pygpu.execution.pipelines.stages import Runner, Score
from pygpu.execution.pipelines.steady import Steady
from pygpu.execution.programs import checked
from pygpu.execution.programs.options import is_fast_here
from pygpu.ssa import Constant

KEPT: Final = 16  # kinds of calls of a pipeline
_NUMBERS: Final = (float, int, bool, str, type(None))


class LookedAt(BaseException):
    """A function looks at texels: what it does next depends on them. It is no `Exception`, so that
    nothing on its way takes it for one."""


class Unseen(Awaited):
    """An image that a function may hand on, and not look at."""

    __slots__ = ()

    @property
    def settled(self) -> Storage:
        raise LookedAt


@record(eq=False)
class Made:
    """An image of a result: its name in the score, the form of its rows, how it is read, and whose
    of the arguments' `info` it has, if any's."""

    name: int
    shape: tuple[int, ...]
    cls: Any
    sampler: Sampler
    dtype: np.dtype[Any]
    info: int | None


@record(eq=False)
class Take:
    """What a call did: its score, the score's names of the images given, the numbers of each stage,
    the images it made, and what it returned, with places of these in place of images."""

    score: Score
    given: tuple[tuple[int, int], ...]
    uniforms: tuple[tuple[tuple[Constant, ...], ...], ...]
    made: tuple[Made, ...]
    result: Any

    def play(self, values: Sequence[Any]) -> Any:
        """The results for such arguments."""
        images = [value for value in values if isinstance(value, ImageLike)]
        found = {name: settled(images[place].storage) for place, name in self.given}
        for group, uniforms in zip(self.score.groups, self.uniforms, strict=True):
            found |= group.run(found, uniforms)
            for name in group.done:
                del found[name]
        results = []
        for each in self.made:
            storage = found[each.name]
            storage.shape = each.shape
            info = NO_INFO if each.info is None else images[each.info].info
            results.append(each.cls._of(storage, each.sampler, each.dtype, info))
        return _put_together(self.result, results)


@record
class _Place:
    """Stands in a result for one of the images that were made."""

    index: int


def _put_together(result: Any, images: Sequence[Any]) -> Any:
    cls = type(result)
    if cls is _Place:
        return images[result.index]
    if cls is dict:
        return {name: _put_together(value, images) for name, value in result.items()}
    if cls in (tuple, list):
        return cls([_put_together(value, images) for value in result])
    return result


class Takes:
    """See the module's head."""

    def __init__(self, function: Callable[..., Any], pipelines: type) -> None:
        self._function, self._pipelines = function, pipelines
        self._steady: Steady | None = None
        self._of: dict[Hashable, Take | None] = {}  # None: it was met, or cannot be done again
        self._refused: set[Hashable] = set()
        self._lock = threading.Lock()

    def key(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], device: Device, fast: bool
    ) -> Hashable | None:
        """What the call follows from, if its function is steady; None where that is more. A
        debugger wants to see the function run."""
        if isinstance(device, NotingDevice) or checked.is_asked_for():
            return None
        if sys.gettrace() is not None or sys.getprofile() is not None:
            return None
        kinds: list[Any] = [device.name, fast or is_fast_here(), *kwargs]
        images: list[Any] = []
        for value in (*args, *kwargs.values()):
            cls = value.__class__
            if isinstance(value, ImageLike) and cls.__module__.startswith("pygpu."):
                images.append(value)
                format, shape = value.format, value.storage.shape
                kinds += (cls, shape, format.dtype, format.channels, format.normalize)
                kinds += (value.boundary, value.interpolation, value.cval, value._dtype)  # type: ignore[attr-defined]
            elif cls is np.ndarray:
                kinds += (cls, value.shape, value.dtype)
                images.append(value)
            elif cls in _NUMBERS:
                kinds.append(known_key(value))
            else:
                return None
        storages = {id(getattr(image, "storage", image)) for image in images}
        if not images or len(storages) < len(images):
            return None
        return tuple(kinds)

    def find(self, key: Hashable) -> Take | None:
        take = self._of.get(key)
        steady = self._steady
        if take is None or steady is None:
            return None
        if steady.holds():
            return take
        self.forget()
        return None

    def forget(self) -> None:
        with self._lock:
            self._of, self._refused, self._steady = {}, set(), None

    def is_due(self, key: Hashable) -> bool:
        """Whether such a call is worth a rehearsal: it comes for the second time."""
        if key in self._refused:
            return False
        if key in self._of:
            return True
        with self._lock:
            self._of[key] = None
            while len(self._of) > KEPT:
                del self._of[next(iter(self._of))]
        return False

    def refuse(self, key: Hashable) -> None:
        """Note that such calls may differ."""
        with self._lock:
            if len(self._refused) > KEPT:
                self._refused = set()
            self._refused.add(key)

    def rehearse(
        self,
        key: Hashable,
        values: Sequence[Any],
        call: Callable[[Graph, Sequence[Any]], Any],
        runner: Runner,
        device: Device,
    ) -> Take | None:
        """What the call does, if its function is steady and looks at no texel; `call` has it note
        its steps in a graph, given these arguments."""
        steady = self._steady or Steady.of(self._function, self._pipelines)
        try:
            take = None if steady is None else _rehearsed(values, call, runner, device)
        except (LookedAt, DeviceError, MemoryError):
            take = None
        if take is None:
            self.refuse(key)
            return None
        with self._lock:
            self._of[key], self._steady = take, steady
        return take


def _rehearsed(
    values: Sequence[Any],
    call: Callable[[Graph, Sequence[Any]], Any],
    runner: Runner,
    device: Device,
) -> Take | None:
    graph = Graph(device, _look)
    values = [_unseen(value) if isinstance(value, ImageLike) else value for value in values]
    given = [value for value in values if isinstance(value, ImageLike)]
    made: list[Any] = []
    template = _template(call(graph, values), made)
    storages: list[Any] = [image.storage for image in made]
    places = {id(image.storage): place for place, image in enumerate(given)}
    if any(type(each) is not Deferred or each.graph is not graph for each in storages):
        return None  # what was given
    if graph.folded or any(id(each) not in places for each in graph.there.values()):
        return None  # values of folds, and images that are no arguments
    infos = [_giver(image, given) for image in made]
    if any(info == _NOBODY for info in infos):
        return None
    score = runner.score(graph, {each.number for each in storages})
    images = [
        Made(score.names[storage.number], storage.shape, type(image), of(image), image._dtype, info)
        for image, storage, info in zip(made, storages, infos, strict=True)
    ]
    inputs = [(places[id(graph.there[number])], name) for number, name in score.given]
    return Take(score, tuple(inputs), tuple(score.numbers(graph)), tuple(images), template)


def _look(graph: Graph, wanted: set[int]) -> None:
    raise LookedAt


def _unseen(image: Any) -> Any:
    """The image, not to be looked at."""
    storage = image.storage
    hidden = Unseen((storage.height, storage.width), storage.channels, storage.dtype)
    hidden.shape = storage.shape
    return type(image)._of(hidden, of(image), image._dtype, dict(image.info))


def _template(result: Any, made: list[Any]) -> Any:
    """A result with places for its images, which are added to those made. LookedAt for what is
    neither."""
    cls = type(result)
    if isinstance(result, ImageLike):
        for place, image in enumerate(made):
            if image is result:
                return _Place(place)
        made.append(result)
        return _Place(len(made) - 1)
    if cls is dict:
        return {name: _template(value, made) for name, value in result.items()}
    if cls in (tuple, list):
        return cls([_template(value, made) for value in result])
    if cls in _NUMBERS and not isinstance(result, NumberLike):
        return result
    raise LookedAt


_NOBODY: Final = -1


def _giver(made: Any, images: Sequence[ImageLike]) -> int | None:
    """Whose `info` an image has: the place of an image that was given, None if it says nothing."""
    for place, image in enumerate(images):
        if made.info is image.info:
            return place
    return None if made.info is NO_INFO else _NOBODY


__all__ = ["Take", "Takes"]
