"""Dask arrays in, Dask arrays out: calls that are larger than memory, computed chunk by chunk.

Nothing is computed when a function is called: what comes back is a graph (graph.py).

    edges(dask.array.from_zarr("slide.zarr")).to_zarr("edges.zarr")
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.host.records import record
from pygpu.core.storage import Storage
from pygpu.execution.arguments.convert import narrow, stored_dtype
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import Wanted
from pygpu.execution.arguments.rounds import Ending, places_of
from pygpu.execution.arguments.signatures import Parameter
from pygpu.execution.large.endings import chosen, either, only_row, stored_as
from pygpu.execution.large.graph import Graph
from pygpu.execution.large.images import LazyImage
from pygpu.execution.large.plans import Function, Plan, Rounds, Told, results, windowed_for
from pygpu.execution.large.sources import NO_OUT, Source, is_dask, leaves
from pygpu.execution.programs.checked import check_sizes
from pygpu.passes.analysis.footprint import Footprint


def call(
    compiled: Function,
    values: Sequence[Any],
    *,
    out: Any = None,
    shape: tuple[int, ...] | None = None,
    dtype: Any = None,
) -> Any:
    """The results of a call as Dask arrays; nothing is computed yet. `values` are the arguments in
    the order of the parameters."""
    if out is not None:
        raise TypeError(NO_OUT)
    made = _Call.of(compiled, values, compiled.wanted(("array", ""), dtype=dtype))
    return _read_as(made.laid(shape), values)


def _read_as(made: Any, values: Sequence[Any]) -> Any:
    """The results as what says how it is read, where the first image among the values does."""
    first = next((value for value in leaves(values) if isinstance(value, LazyImage)), None)
    if first is None:
        return made
    return tuple(map(first.reading, made)) if isinstance(made, tuple) else first.reading(made)


@record(eq=False)
class Iterated:
    """Rounds of a function of some values: `slots` are the parameters that take the results of the
    round before, `turns` has those that have another value in each."""

    compiled: Function
    values: Sequence[Any]
    slots: Sequence[int]
    turns: Mapping[int, Sequence[Any]]

    def first(self) -> list[Any]:
        """The values of the first round."""
        values = list(self.values)
        for place, changing in self.turns.items():
            values[place] = changing[0]
        return values

    def after(self, done: int, state: Sequence[Any]) -> Iterated:
        """The rounds that are left after some, whose results these are."""
        values = list(self.values)
        for slot, result in zip(self.slots, state, strict=True):
            values[slot] = result
        turns = {place: changing[done:] for place, changing in self.turns.items()}
        return replace(self, values=values, turns=turns)


def iterate(work: Iterated, rounds: int, dtype: Any, ending: Ending) -> tuple[Any, ...]:
    """The images after some rounds, at least one, as Dask arrays. Where they may end before, those
    that are not needed are in the graph, and not computed."""
    last = work.compiled.wanted(("array", ""), dtype=dtype)
    if ending.until is None:
        return rounds_of(work, rounds, last, None)
    call = _Call.of(work.compiled, work.first(), last)
    done, ended = 0, None
    state: tuple[Any, ...] = ()
    while True:
        count = min(ending.every, rounds - done)
        made = rounds_of(work, count, Wanted("array"), ended)
        state = made if ended is None else chosen(ended, state, made)
        done += count
        if done == rounds:
            break
        ended = either(ended, ending.until(*state))
        if ended is True:
            break
        work = work.after(count, state)
    dtypes = results(call.translated, last)[1]
    return tuple([stored_as(each, own) for each, own in zip(state, dtypes, strict=True)])


def rounds_of(work: Iterated, rounds: int, last: Wanted, ended: Any) -> tuple[Any, ...]:
    """The images after some rounds, unless they have `ended`. Rounds that reach little are done
    several at a time: a chunk then reads, and computes, a little more around it, and travels less
    often."""
    compiled, values, slots, turns = work.compiled, list(work.values), work.slots, work.turns
    plain = Wanted("array")
    done = 0
    while done < rounds:
        for place, changing in turns.items():
            values[place] = changing[done]
        made = _Call.of(compiled, values, plain if done + 1 < rounds else last)
        state = made.places([values[slot] for slot in slots])
        alike = done > 0 or made.keeps(state)
        together = made.together(state, rounds - done) if alike and not turns else 1
        if together > 1:
            asked = last.dtype if done + together == rounds else None
            assert not isinstance(asked, tuple)
            made = _Call.of(compiled, values, plain)
            made.rounds = Rounds(together, tuple(state), made.reach(state), asked)
        made.ended = ended
        laid = made.laid(None)
        listed = laid if isinstance(laid, tuple) else (laid,)
        if len(listed) != len(slots):
            raise TypeError(
                f"iterate: {compiled.signature.name}() returns {len(listed)} images and "
                f"{len(slots)} are iterated: as many must come out as go in"
            )
        done += together
        for slot, result in zip(slots, listed, strict=True):
            values[slot] = result
    return tuple([values[slot] for slot in slots])


def converted(array: Any, dtype: Any) -> Any:
    """A Dask array as no round at all gives it back: its texels in the dtype asked for."""
    if dtype is None:
        return array
    kind = stored_dtype(array.dtype)
    narrowed = array if array.dtype == kind else array.map_blocks(narrow, "a chunk", dtype=kind)
    return LazyImage(narrowed, sampler.default(kind, 1), "").converted(dtype)


EXTRA: Final = 0.1  # of a chunk that rounds done together may compute twice


class _Call:
    """A call, before its graph is made."""

    def __init__(
        self,
        compiled: Function,
        stood: list[Any],
        arguments: Arguments,
        by_image: Mapping[int, Source],
        wanted: Wanted,
        numbers: Mapping[Told, Any],
    ) -> None:
        self.compiled, self.stood, self.arguments = compiled, stood, arguments
        self.by_image, self.wanted, self.numbers = by_image, wanted, numbers
        self.rounds: Rounds | None = None
        self.ended: Any = None  # a Dask array that says whether nobody needs the results
        arguments.fast = compiled.is_fast()
        self.translated = compiled.translated(arguments)
        storages = [given.storage for given in arguments.images]
        storages += [image.storage for image in self.translated.translation.captured]
        self.sizes = tuple([_size(by_image.get(i, each)) for i, each in enumerate(storages)])
        self.dims = [each.dims for each in storages]
        self.depths = tuple([_depth(by_image.get(i, each)) for i, each in enumerate(storages)])
        self.left: tuple[int, ...] | None = None
        self.views = windowed_for(self.translated, arguments, None)
        if any(
            view.margin is None and self.views.read(view).image in by_image
            for view in self.views.views
        ):
            self.left = tuple([each.place for each in numbers])
            self.views = windowed_for(self.translated, arguments, self.left)

    @classmethod
    def of(cls, compiled: Function, values: Sequence[Any], wanted: Wanted) -> _Call:
        sources: dict[int, Source] = {}
        parameters = compiled.signature.parameters
        lazy = {
            place: taken
            for place, each in enumerate(parameters)
            if (taken := _number(each, values[place])) is not None
        }
        stood = [
            _ENDS[lazy[place].type.kind][0]
            if place in lazy
            else _standins(value, str(each.name), _dims(each), sources)
            for place, (each, value) in enumerate(zip(parameters, values, strict=True))
        ]
        arguments = flatten(compiled.signature, stood, stays=False)
        numbers = {}
        for place, parameter in lazy.items():
            another = _ENDS[parameter.type.kind][1]
            other = flatten(
                compiled.signature, [*stood[:place], another, *stood[place + 1 :]], stays=False
            )
            pairs = zip(arguments.uniforms, other.uniforms, strict=True)
            index = next(i for i, (one, two) in enumerate(pairs) if one != two)
            numbers[Told(index, parameter.type, str(parameter.name))] = values[place]
        by_image = {
            index: sources[id(given.original)]
            for index, given in enumerate(arguments.images)
            if id(given.original) in sources
        }
        if len({id(source) for source in by_image.values()}) < len(sources):
            raise TypeError(
                f"{compiled.signature.name}: a Dask array is taken as an image, "
                "not as a known value, a number or inside an object"
            )
        return cls(compiled, stood, arguments, by_image, wanted, numbers)

    def laid(self, shape: tuple[int, ...] | None) -> Any:
        """The results as Dask arrays."""
        first, dims = self.arguments.first, self.arguments.dims
        plan = Plan(
            uuid.uuid4().hex,
            self.compiled,
            self.stood,
            self.wanted,
            tuple(self.by_image),
            self.sizes,
            self.depths,
            self.left,
            self.arguments.checked,
            self.arguments.fast,
            self.rounds,
        )
        if shape is None:
            width, height = self.sizes[first]
            size: tuple[int, ...] = (height, width)
            size = (self.depths[first], *size) if dims == 3 else size
        else:
            size = (1, 1, *self.compiled.size(shape, self.arguments, None))[-max(dims, 2) :]
        if self.arguments.checked:
            self.check(size)
        chunks = _chunks(size, first, self.by_image)
        graph = Graph(plan, self.by_image, self.views, chunks, self.numbers, self.ended)
        made = graph.results(self.translated)
        if dims > 1:
            return made
        return tuple(map(only_row, made)) if isinstance(made, tuple) else only_row(made)

    def check(self, size: tuple[int, ...]) -> None:
        """What of a checked call is known before anything is computed."""
        shapes = [
            (depth, height, width)[-dims:]
            for (width, height), depth, dims in zip(self.sizes, self.depths, self.dims, strict=True)
        ]
        made = self.translated.function
        check_sizes(self.compiled.function, made, shapes, size[-self.arguments.dims :])

    # ---- rounds

    def places(self, state: Sequence[Any]) -> list[int]:
        """Which of the call's images hold these arrays."""
        given = [each.original for each in self.arguments.images]
        for index, source in self.by_image.items():
            given[index] = source.given
        return places_of(state, given)

    def keeps(self, state: Sequence[int]) -> bool:
        """Whether results are read as the images that they become in the next round."""
        formats, dtypes = results(self.translated, self.wanted)
        before = [self.arguments.images[place].sampler for place in state]
        return len(before) == len(formats) and all(
            format.dtype == dtype and own == sampler.default(dtype, format.channels)
            for own, format, dtype in zip(before, formats, dtypes, strict=True)
        )

    def reach(self, state: Sequence[int]) -> Footprint:
        """How far a round looks around a pixel, in any image that is read near it."""
        margins = [view.margin for view in self.views.views if view.margin is not None]
        return reduce(Footprint.joined, margins, Footprint())

    def together(self, state: Sequence[int], left: int) -> int:
        """How many of the rounds that are left are done together."""
        if self.arguments.dims != 2:
            return 1
        around = [view for view in self.views.views if view.image in state]
        if any(view.margin is None for view in around):
            return 1
        lazy = [view for view in self.views.views if view.image in (*self.by_image, *state)]
        if any(view.boundary == "wrap" for view in lazy):
            return 1
        if len({self.sizes[image] for image in (*self.by_image, *state)}) > 1:
            return 1
        reach = self.reach(state)
        farthest = max(reach.left, reach.right, reach.up, reach.down)
        if farthest == 0:
            return left
        source = next(self.by_image[i] for i in (*state, *self.by_image) if i in self.by_image)
        sizes = source.array.chunks[:2]
        chunk = min(max(lengths) for lengths in sizes)
        together = min(1 + int(EXTRA / 2 * chunk / farthest), left)
        is_large = min(self.sizes[state[0]]) >= 4 * together * farthest
        return together if is_large else 1


def _dims(parameter: Parameter) -> int:
    """How many coordinates a Dask array has that a parameter takes."""
    return parameter.type if parameter.role == "image" else 2


# of each kind two numbers, for which a function is translated to see whether it looks at them
_ENDS: Final[dict[str, tuple[Any, Any]]] = {
    "float": (0.0, 1.0),
    "int": (0, 1),
    "uint": (0, 1),
    "bool": (False, True),
}


def _number(parameter: Parameter, value: Any) -> Parameter | None:
    """What takes a Dask array of no dimensions; None of other values. TypeError where the parameter
    takes no number that a call gives."""
    if not (is_dask(value) and value.ndim == 0):
        return None
    taken = parameter.dynamic or parameter
    if taken.role != "uniform" or taken.type.size > 1:
        raise TypeError(
            f"{parameter.name}: a Dask array of no dimensions is taken as a number that is given "
            "at the call; what is known when the function is compiled, and an image, it is not: "
            "give its .compute()"
        )
    return taken


def _standins(value: Any, name: str, dims: int, sources: dict[int, Source]) -> Any:
    """The argument with images of one pixel in place of Dask arrays, which go to `sources`."""
    if is_dask(value):
        source = Source.of(value, name, dims)
        made = source.standin()
        sources[id(made)] = source
        return made
    if type(value) is tuple:
        return tuple(
            [_standins(item, f"{name}[{i}]", dims, sources) for i, item in enumerate(value)]
        )
    if type(value) is dict:
        return {key: _standins(item, str(key), dims, sources) for key, item in value.items()}
    return value


def _size(image: Source | Storage) -> tuple[int, int]:
    """The width and height of an image, or of a plane of a volume."""
    if isinstance(image, Source):
        return image.size
    height, width = (1, *image.shape)[-2:]
    return width, height


def _depth(image: Source | Storage) -> int:
    if isinstance(image, Source):
        return image.depth
    return image.shape[0] if image.dims == 3 else 1


def _chunks(
    size: tuple[int, ...], first: int, by_image: Mapping[int, Source]
) -> tuple[tuple[int, ...], ...]:
    """How the results lie in chunks: as the first image of their size does."""
    for index in sorted(by_image, key=lambda index: index != first):
        source = by_image[index]
        if tuple([bounds[-1] for bounds in source.bounds]) == size:
            return source.array.chunks[: len(size)]  # type: ignore[no-any-return]
    from dask.array.core import normalize_chunks  # optional, and slow to import

    chunks = normalize_chunks("auto", size, dtype=np.dtype("float32"))
    return chunks  # type: ignore[no-any-return]
