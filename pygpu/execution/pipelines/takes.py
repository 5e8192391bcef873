"""Calls of pipelines done again: what a steady function did is not asked of it a second time.

    takes = Takes(partial(Steady.of, function, Pipeline))
    keys = takes.keys(args, kwargs, device, False)      # none of arguments of another kind
    take = takes.find(key)                      # None where it is not known what the call does
    takes.rehearse(key, values, call, runner, device)   # find out: called, and nothing computed
    take.play(values)                           # the results for images of these sizes
    take.play(values, out=out)                  # in the caller's arrays, where they may lie there

A function that is steady (steady.py), given images of the same sizes, calls the same functions in
the same order, unless it looks at texels or numbers. So it is called with images and floats that
cannot be looked at (unseen.py), and what it notes then is what all such calls are to run. If it
looks at its floats, that is so for calls with these floats. On devices of the host a fold is such a
float: when the call is done again, images are made up to the fold, which then gives its number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.host import forks
from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler, of
from pygpu.core.storage import ImageLike, Storage
from pygpu.devices import targets
from pygpu.devices.noting import NotingDevice
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.execution.arguments.results import Out
from pygpu.execution.arguments.uniforms import as_float
from pygpu.execution.pipelines.deferred import Deferred, Graph, settled
from pygpu.execution.pipelines.stages import Runner, Score
from pygpu.execution.pipelines.steady import Steady, Trusted
from pygpu.execution.pipelines.unseen import (
    NUMBERS,
    LookedAt,
    Unseen,
    UnseenTexels,
    put_together,
    template,
    unseen,
)
from pygpu.execution.programs.options import is_checked_here, is_fast_here
from pygpu.ssa import Constant

SMALL: Final = 1 << 12  # bytes of an array, or items, that are compared at each call
KEPT: Final = 16  # kinds of calls of a pipeline
_LOCK: Final = forks.Renewed()  # of all pipelines: it is held for some lines


@record(eq=False)
class Made:
    """An image of a result: its number in the graph, the form of its rows, how it is read, and
    which argument's `info` it has, if any's."""

    number: int
    shape: tuple[int, ...]
    cls: Any
    sampler: Sampler
    dtype: np.dtype[Any]
    info: int | None


@record(eq=False)
class Act:
    """What happens at once: a score is played, and what it makes may be folded to a number. Images
    have the numbers of the graph; each goes by a name in the score."""

    score: Score
    given: tuple[tuple[int, int], ...]  # the number and the name of each image that is read
    kept: tuple[tuple[int, int], ...]  # and of each that is read later, or is a result
    uniforms: tuple[tuple[tuple[Constant, ...], ...], ...]
    fold: Fold | None = None

    def play(
        self,
        images: dict[int, Storage],
        known: Mapping[int, Any],
        places: Mapping[int, NDArray[Any]],
    ) -> None:
        """Add the images that it makes, some at places of the caller's, by the numbers that are
        known now."""
        out = {name: places[number] for number, name in self.kept if number in places}
        found = {name: settled(images[number]) for number, name in self.given}
        for group, given in zip(self.score.groups, self.uniforms, strict=True):
            found |= group.run(found, [_seen(uniforms, known) for uniforms in given], out)
            for name in group.done:
                del found[name]
        for number, name in self.kept:
            images[number] = found[name]


@record(eq=False)
class Fold:
    """A fold of an image to a number: which image, how it is read, which of its methods folds it,
    and the place of the number among those that are known."""

    number: int
    shape: tuple[int, ...]
    cls: Any
    sampler: Sampler
    dtype: np.dtype[Any]
    method: str
    place: int

    def of(self, images: Mapping[int, Storage]) -> Any:
        """The number."""
        storage = settled(images[self.number])
        if storage.shape != self.shape:
            storage = storage.shaped(self.shape)
        image = self.cls._of(storage, self.sampler, self.dtype, NO_INFO)
        return getattr(image, self.method)()


def _seen(uniforms: tuple[Constant, ...], known: Mapping[int, Any]) -> tuple[Constant, ...]:
    """Uniforms, with their numbers in place of what stood for them."""
    given: tuple[Any, ...] = uniforms
    if not any(isinstance(each, Unseen) for each in given):
        return uniforms
    return tuple(
        [
            as_float(each.value(known), "a number") if isinstance(each, Unseen) else each
            for each in given
        ]
    )


@record(eq=False)
class Take:
    """What a call did: its acts, the graph's numbers of the images given, the images that it made,
    and what it returned, with places of these in place of images."""

    device: Device
    acts: tuple[Act, ...]
    given: tuple[tuple[int, int], ...]  # the place among the images given, and the number
    made: tuple[Made, ...]
    result: Any

    def play(self, values: Sequence[Any], as_arrays: bool = False, out: Out | None = None) -> Any:
        """The results for such arguments, images among them as arrays of their own if these are
        asked for. Nobody has what was made but who gets it, and the caller what lies in `out`."""
        given = [value for value in values if isinstance(value, ImageLike)]
        known: dict[int, Any] = dict(enumerate(values))
        images = {number: given[place].storage for place, number in self.given}
        places = {} if out is None else self._places(out, [*images.values()])
        for act in self.acts:
            act.play(images, known, places)
            if act.fold is not None:
                with targets.diverted(self.device):
                    known[act.fold.place] = act.fold.of(images)
        results: list[Any] = []
        for each in self.made:
            storage = images[each.number]
            storage.shape = each.shape
            info = NO_INFO if each.info is None else given[each.info].info
            results.append(each.cls._of(storage, each.sampler, each.dtype, info))
        if not as_arrays:
            return put_together(self.result, results.__getitem__)
        handed = set[int]()

        def array(place: int) -> NDArray[Any]:
            number, image = self.made[place].number, results[place]
            found = image.numpy() if number in handed else _array(image)
            handed.add(number)
            return found

        return put_together(self.result, array)

    def _places(self, out: Out, inputs: Sequence[Storage]) -> dict[int, NDArray[Any]]:
        """The caller's arrays in which images are made at once, by the numbers of these."""
        kinds, device = [(each.shape, each.sampler.format) for each in self.made], self.device
        found = [] if device.copy else out.places(kinds, inputs, device.rows_apart)
        made = zip(self.made, found, strict=False)
        return {each.number: array for each, array in made if array is not None}


def _array(image: Any) -> NDArray[Any]:
    """An image that nobody else has as an array: a copy where its dtype asks for one."""
    array: NDArray[Any] = image.storage.handed()
    is_as_asked = array.dtype == image.dtype and array.flags.writeable
    return array if is_as_asked else image.numpy()


def _kind(image: Any) -> tuple[Any, ...]:
    """What calls follow from of an image, but its texels."""
    format = image.format
    kind = (image.__class__, image.storage.shape, format.dtype, format.channels, format.normalize)
    return *kind, image.boundary, image.interpolation, image.cval, image._dtype


def _is_small(value: Any) -> bool:
    """Whether a known value is soon compared, and holds on to nothing."""
    if isinstance(value, (tuple, list)):
        return len(value) <= SMALL and all(map(_is_small, value))
    if isinstance(value, np.ndarray):
        return value.nbytes <= SMALL and not value.dtype.hasobject
    return isinstance(value, (*NUMBERS, np.generic))


def _is_watched(device: Device) -> bool:
    """Whether somebody wants to see functions run: who notes or checks what they do, a debugger."""
    if isinstance(device, NotingDevice) or is_checked_here():
        return True
    return sys.gettrace() is not None or sys.getprofile() is not None


class Takes:
    """See the module's head."""

    def __init__(self, steady: Callable[[], Steady | Trusted | None]) -> None:
        """Of a function; `steady` says whether it does the same for the same, if it is asked."""
        self._is_steady = steady
        self._steady: Steady | Trusted | None = None
        self._of: dict[Hashable, Take | None] = {}  # None: it was met, or cannot be done again
        self._refused: set[Hashable] = set()

    def keys(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], device: Device, fast: bool
    ) -> tuple[Hashable, ...]:
        """What the call follows from, if its function is steady: first as if no float among its
        arguments counted, then with these. None where it follows from more. A debugger wants to see
        the function run."""
        if _is_watched(device):
            return ()
        kinds: list[Any] = [device.name, fast or is_fast_here(), *kwargs]
        images: list[Any] = []
        floats: list[int] = []
        for value in (*args, *kwargs.values()):
            cls = value.__class__
            if isinstance(value, ImageLike) and cls.__module__.startswith("pygpu."):
                images.append(value)
                kinds += _kind(value)
            elif cls is np.ndarray:
                kinds += (cls, value.shape, value.dtype)
                images.append(value)
            elif cls in NUMBERS:
                if cls is float:
                    floats.append(len(kinds))
                kinds.append(known_key(value))
            else:
                return ()
        storages = {id(getattr(image, "storage", image)) for image in images}
        if not images or len(storages) < len(images):
            return ()
        exact = tuple(kinds)
        if not floats:
            return (exact,)
        for place in floats:
            kinds[place] = float
        return tuple(kinds), exact

    def exact(self, values: Mapping[str, Any], device: Device) -> Hashable | None:
        """What a call with these arguments follows from, images that are no arrays and known
        values: numbers, texts, small arrays and tuples of them. None where it is to be made."""
        known = [each for each in values.values() if not isinstance(each, ImageLike)]
        if _is_watched(device) or not all(map(_is_small, known)):
            return None
        kinds: list[Any] = [device.name, is_fast_here()]
        for name, value in values.items():
            is_image = isinstance(value, ImageLike)
            kinds.append((name, *(_kind(value) if is_image else (known_key(value),))))
        storages = [each.storage for each in values.values() if isinstance(each, ImageLike)]
        return tuple(kinds) if len(set(map(id, storages))) == len(storages) else None

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
        with _LOCK.lock:
            self._of, self._refused, self._steady = {}, set(), None

    def is_due(self, key: Hashable) -> bool:
        """Whether such a call is worth a rehearsal: it comes for the second time."""
        if key in self._of:
            return True
        with _LOCK.lock:
            self._of[key] = None
            while len(self._of) > KEPT:
                self._of.pop(next(iter(self._of)), None)
        return False

    def is_refused(self, key: Hashable) -> bool:
        """Whether such calls may differ."""
        return key in self._refused

    def refuse(self, key: Hashable) -> None:
        """Note that such calls may differ."""
        with _LOCK.lock:
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
        steady = self._steady or self._is_steady()
        try:
            take = None if steady is None else _rehearsed(values, call, runner, device)
        except (LookedAt, Exception):  # an error is told by the call itself, which sees its numbers
            take = None
        if take is None:
            self.refuse(key)
            return None
        with _LOCK.lock:
            self._of[key], self._steady = take, steady
        return take


def _rehearsed(
    values: Sequence[Any],
    call: Callable[[Graph, Sequence[Any]], Any],
    runner: Runner,
    device: Device,
) -> Take | None:
    graph = Graph(device, _look)
    values = [unseen(value) if isinstance(value, ImageLike) else value for value in values]
    given = [value for value in values if isinstance(value, ImageLike)]
    rehearsal = _Rehearsal(graph, runner, len(values))
    made: list[Any] = []
    result = template(call(graph, values), made)
    storages: list[Any] = [image.storage for image in made]
    places = {id(image.storage): place for place, image in enumerate(given)}
    if any(type(each) is not Deferred or each.graph is not graph for each in storages):
        return None  # what was given
    rehearsal.act(storages)
    outside = rehearsal.outside()
    if graph.folded or any(id(each) not in places for each in outside.values()):
        return None  # values of folds that stay on a device, and images that are no arguments
    infos = [_giver(image, given) for image in made]
    if any(info == _NOBODY for info in infos):
        return None
    images = [
        Made(storage.number, storage.shape, type(image), of(image), image._dtype, info)
        for image, storage, info in zip(made, storages, infos, strict=True)
    ]
    inputs = tuple([(places[id(each)], number) for number, each in outside.items()])
    return Take(device, rehearsal.acts(), inputs, tuple(images), result)


class _Rehearsal:
    """The acts of a call, as they come about: what is noted before a fold is asked for is one act,
    as it is one job of a call that computes."""

    def __init__(self, graph: Graph, runner: Runner, first: int) -> None:
        self.graph, self.runner = graph, runner
        self.next = first  # place of a fold's number, behind the arguments
        self.made: list[tuple[Score, list[int], Fold | None]] = []
        if not graph.device.copy:  # else folds stay on the device
            graph.fold_unseen = self.fold

    def act(self, wanted: Sequence[Storage], fold: Fold | None = None) -> None:
        """An act that makes the images wanted which are not there."""
        graph = self.graph
        found = {graph.number(each): each for each in wanted}
        missing = {number: each for number, each in found.items() if number not in graph.there}
        score = self.runner.score(graph, missing.keys()) if missing else _NOTHING
        self.made.append((score, list(missing), fold))
        for number, each in missing.items():
            graph.asked.pop(number, None)
            graph.there[number] = UnseenTexels.like(each)

    def fold(self, image: Any, method: str) -> Unseen:
        """The number that an image is folded to."""
        place, storage = self.next, image.storage
        self.next += 1
        number = self.graph.number(storage)
        fold = Fold(number, storage.shape, type(image), of(image), image._dtype, method, place)
        self.act([storage], fold)
        return Unseen.given(place)

    def outside(self) -> dict[int, Storage]:
        """The images that were there before, by their numbers."""
        made = {number for _, missing, _ in self.made for number in missing}
        return {n: each for n, each in self.graph.there.items() if n not in made}

    def acts(self) -> tuple[Act, ...]:
        """All of them."""
        return tuple(
            [
                Act(
                    score,
                    tuple(score.given),
                    tuple([(number, score.names[number]) for number in missing]),
                    tuple(score.numbers(self.graph)),
                    fold,
                )
                for score, missing, fold in self.made
            ]
        )


_NOTHING: Final = Score((), (), (), (), {})


def _look(graph: Graph, wanted: set[int]) -> None:
    raise LookedAt


_NOBODY: Final = -1


def _giver(made: Any, images: Sequence[ImageLike]) -> int | None:
    """Whose `info` an image has: the place of an image that was given, None if it says nothing."""
    for place, image in enumerate(images):
        if made.info is image.info:
            return place
    return None if made.info is NO_INFO else _NOBODY
