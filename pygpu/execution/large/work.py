"""Chunks of results, computed by workers from parts of larger images: see graph.py.

A worker gets a `Plan`, the call less its Dask arrays, which it compiles once a process, and for
each chunk the parts of arrays that the function reads there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Device, Limits, Program, Task
from pygpu.core.storage import Format, Storage, stored
from pygpu.devices import targets
from pygpu.execution.arguments.convert import texels_of, without_channel_axis
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import Wanted, output_dtype, output_format
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.large.regions import Assembly
from pygpu.execution.programs import checked, tiles
from pygpu.execution.programs.specialise import COMPILING, FAULTS, LIMIT, Translated
from pygpu.execution.programs.tiles import Tile
from pygpu.frontend.values.faults import Fault
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.lower.settle import settle
from pygpu.passes.lower.window import View, Windowed, window


class Function(Protocol):
    """What is asked of a compiled function."""

    @property
    def signature(self) -> Signature: ...

    @property
    def function(self) -> Callable[..., Any]: ...
    def translated(self, arguments: Arguments, checked: bool | None = None) -> Translated: ...
    def device(self) -> Device: ...
    def wanted(self, form: tuple[Any, str], out: None = None, dtype: Any = None) -> Wanted: ...
    def size(self, shape: Any, arguments: Arguments, out: None) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True)
class Rounds:
    """Several rounds of a function, done for a chunk and what is around it before the next chunk:
    how many, which image each result becomes in the next round, how far a round reaches, and in
    which dtype the last results are asked for."""

    count: int
    state: tuple[int, ...]
    reach: Footprint
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A call, less its Dask arrays, for which `values` has images of one pixel. Plans are equal if
    their tokens are, so that a process compiles each once however often it is sent."""

    token: str
    compiled: Function = field(compare=False)
    values: list[Any] = field(compare=False)
    wanted: Wanted = field(compare=False)
    chunked: tuple[int, ...] = field(compare=False)  # which of the call's images are Dask arrays
    sizes: tuple[tuple[int, int], ...] = field(compare=False)  # of all images: (width, height)
    settled: bool = field(compare=False)  # whether uniforms are constants: see `windowed_for`
    checked: bool = field(compare=False)  # whether what goes wrong at run time is to be found
    rounds: Rounds | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A plan, compiled."""

    windowed: Windowed
    program: Program
    device: Device
    formats: tuple[Format, ...]  # of the results
    dtypes: tuple[np.dtype[Any], ...]
    inputs: tuple[Format, ...]  # of the views
    whole: tuple[Storage | None, ...]  # images that are no Dask arrays, by index
    arguments: Arguments
    faults: tuple[Fault, ...]  # of a checked program, which has one more result that numbers them
    is_tuple: bool


def _ready(plan: Plan) -> _Ready:
    with COMPILING.lock:
        return _prepared(plan)


@lru_cache(maxsize=LIMIT)
def _prepared(plan: Plan) -> _Ready:
    arguments = flatten(plan.compiled.signature, plan.values)
    translated = plan.compiled.translated(arguments, plan.checked)
    windowed = windowed_for(translated, arguments, plan.settled)
    captured = translated.translation.captured
    formats, dtypes = results(translated, plan.wanted)
    read = [given.sampler.format for given in arguments.images]
    read += [sampler.of(image).format for image in captured]
    inputs = tuple([read[each.image] for each in windowed.views])
    whole = [given.storage for given in arguments.images] + [image.storage for image in captured]
    device = plan.compiled.device()
    faults = tuple(translated.translation.faults)
    written = (*formats, FAULTS) if faults else formats
    return _Ready(
        windowed,
        device.compile(Task(windowed.function, inputs, written)),
        device,
        formats,
        dtypes,
        inputs,
        tuple([None if i in plan.chunked else storage for i, storage in enumerate(whole)]),
        arguments,
        faults,
        translated.translation.is_tuple,
    )


def windowed_for(translated: Translated, arguments: Arguments, settled: bool) -> Windowed:
    """The function of a window. Where it is `settled`, the numbers given at the call are constants,
    so that offsets made of them are known."""
    function = translated.function
    return window(settle(function, arguments.uniforms) if settled else function)


def results(
    translated: Translated, wanted: Wanted
) -> tuple[tuple[Format, ...], tuple[np.dtype[Any], ...]]:
    types = [value.type for value in translated.results]
    dtypes = tuple([output_dtype(wanted, index, type) for index, type in enumerate(types)])
    return tuple(map(output_format, types, dtypes)), dtypes


def run_tile(
    plan: Plan, tile: Tile, assemblies: Sequence[Assembly | None], *pieces: NDArray[Any]
) -> Any:
    """One chunk of the results: an array, or a tuple of them. `assemblies` says for each view how
    its pieces are put together; None: the view is of an image that the plan holds."""
    ready = _ready(plan)
    if not (tile.width and tile.height):  # nothing to compute, in the dtype of what is not
        return _listed(ready, [_empty(ready, index, tile) for index in range(len(ready.formats))])
    left = list(pieces)
    if plan.rounds is not None:
        return _listed(ready, _all_rounds(ready, plan, plan.rounds, tile, assemblies, left))
    views = []
    for each, assembly in zip(ready.windowed.views, assemblies, strict=True):
        storage = ready.whole[each.image]
        if assembly is not None:
            views.append(_assembled(assembly, left))
        elif storage is not None and each.margin is not None:
            views.append(tiles.view(storage.host(), each.boundary, tile, each.margin))
        else:
            assert storage is not None
            views.append(storage.host())
    return _listed(ready, _computed(ready, plan, tile, views))


def _assembled(assembly: Assembly, pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """The texels of a view, of the next pieces, which are taken from the list."""
    count = len(assembly.places)
    own = pieces[:count]
    del pieces[:count]
    return texels_of(assembly.of(own))


# ---------------------------------------------------------------- rounds


@dataclass(frozen=True, slots=True)
class _Region:
    """The texels of a part of an image."""

    texels: NDArray[Any]
    left: int
    top: int

    def view(self, each: View, tile: Tile, size: tuple[int, int]) -> NDArray[Any]:
        """What a tile reads of the image, which is of the size (width, height)."""
        if each.margin is None:
            return self.texels
        rows, columns = _read(each.boundary, grown(tile, each.margin, 1), size)
        return self.texels[np.ix_(rows - self.top, columns - self.left)]


def _all_rounds(
    ready: _Ready,
    plan: Plan,
    rounds: Rounds,
    tile: Tile,
    assemblies: Sequence[Assembly | None],
    pieces: list[NDArray[Any]],
) -> list[NDArray[Any]]:
    """The results of several rounds. Each computes what the rounds after it still read."""
    around = grown(tile, rounds.reach, rounds.count)
    seen: list[_Region | None] = []
    for each, assembly in zip(ready.windowed.views, assemblies, strict=True):
        if assembly is None:
            seen.append(None)
            continue
        region = clipped(around, plan.sizes[each.image])
        seen.append(_Region(_assembled(assembly, pieces), region.left, region.top))
    state: dict[int, _Region] = {}
    results: list[NDArray[Any]] = []
    size = plan.sizes[rounds.state[0]]
    for left in reversed(range(rounds.count)):
        window = clipped(grown(tile, rounds.reach, left), size)
        views = [
            (state.get(each.image) or given or _whole(ready, each)).view(
                each, window, plan.sizes[each.image]
            )
            for each, given in zip(ready.windowed.views, seen, strict=True)
        ]
        results = _computed(ready, plan, window, views)
        for image, result in zip(rounds.state, results, strict=True):
            state[image] = _Region(texels_of(result), window.left, window.top)
    if rounds.dtype is None:
        return results
    return [stored(result, rounds.dtype) for result in results]


def _whole(ready: _Ready, each: View) -> _Region:
    """An image that the plan holds."""
    storage = ready.whole[each.image]
    assert storage is not None
    return _Region(storage.host(), 0, 0)


def _read(
    boundary: str, tile: Tile, size: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of an image of (width, height) that are read for a tile, of which parts
    may lie outside."""
    width, height = size
    rows = sampler.indices(boundary, np.arange(tile.top, tile.top + tile.height), height)
    columns = sampler.indices(boundary, np.arange(tile.left, tile.left + tile.width), width)
    return rows, columns


def grown(tile: Tile, reach: Footprint, times: int) -> Tile:
    """A tile with so many times what a function reads around it."""
    return Tile(
        tile.left - times * reach.left,
        tile.top - times * reach.up,
        tile.width + times * (reach.left + reach.right),
        tile.height + times * (reach.up + reach.down),
    )


def clipped(tile: Tile, size: tuple[int, int]) -> Tile:
    """What of a tile lies in an image of (width, height)."""
    left, top = max(tile.left, 0), max(tile.top, 0)
    right = min(tile.left + tile.width, size[0])
    bottom = min(tile.top + tile.height, size[1])
    return Tile(left, top, right - left, bottom - top)


# ---------------------------------------------------------------- one call


def _computed(
    ready: _Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    """The results of a tile: at once where the device holds that, else by halves."""
    limits = targets.limits(ready.device)
    if limits is not None and not _fits(limits, ready, tile, views):
        return _by_halves(ready, plan, tile, views)
    sizes = [number for index in ready.windowed.sized for number in plan.sizes[index]]
    numbers = [*ready.arguments.uniforms, tile.left, tile.top, *sizes]
    inputs = [Storage.of(np.ascontiguousarray(view)) for view in views]
    nowhere: list[NDArray[Any] | None] = [None] * (len(ready.formats) + bool(ready.faults))
    results = ready.program.run(inputs, numbers, (tile.height, tile.width), nowhere)
    if ready.faults:
        _raise_first(ready, plan, tile, views, results.pop().host()[..., 0])
    return [
        stored(without_channel_axis(result.host()), dtype)
        for result, dtype in zip(results, ready.dtypes, strict=True)
    ]


def _raise_first(
    ready: _Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]], numbers: NDArray[Any]
) -> None:
    """Raise what has gone wrong first in a tile of a checked program."""
    if not numbers.any():
        return
    function, signature = plan.compiled.function, plan.compiled.signature
    arguments = _as_seen(ready, plan, tile, views)
    corner = tile.left, tile.top
    checked.raise_first(ready.faults, numbers, function, signature, arguments, corner)


def _as_seen(
    ready: _Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
) -> Arguments | None:
    """The arguments for the plain function: images of the size of the whole that hold what the tile
    has read. Memory that is not written is not taken; None where even so there is too little."""
    given = list(ready.arguments.images)
    try:
        for index in plan.chunked:
            width, height = plan.sizes[index]
            own = given[index].storage
            texels = np.zeros((height, width, own.channels), own.dtype)
            given[index] = replace(given[index], storage=Storage.of(texels))
    except (MemoryError, ValueError):  # a ValueError where the bytes are more than a number holds
        return None
    for each, view in zip(ready.windowed.views, views, strict=True):
        if each.image not in plan.chunked:
            continue
        texels, margin = given[each.image].storage.host(), each.margin
        if margin is None:
            texels[...] = view
            continue
        rows, columns = _read(each.boundary, grown(tile, margin, 1), plan.sizes[each.image])
        texels[np.ix_(rows, columns)] = view
    return replace(ready.arguments, images=given)


def _fits(limits: Limits, ready: _Ready, tile: Tile, views: Sequence[NDArray[Any]]) -> bool:
    sizes = [view.shape[:2] for view in views] + [(tile.height, tile.width)] * len(ready.formats)
    rows = [
        height * tiles.row_bytes(format, width)
        for (height, width), format in zip(sizes, (*ready.inputs, *ready.formats), strict=True)
    ]
    sides = max(max(size) for size in sizes)
    small = sides <= limits.side and max(rows) <= limits.nbytes and sum(rows) <= limits.memory
    return small or tile.width == tile.height == 1


def _by_halves(
    ready: _Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    axis = 0 if tile.height >= tile.width else 1
    whole = (tile.height, tile.width)[axis]
    parts = []
    for start, stop in ((0, whole // 2), (whole // 2, whole)):
        if axis == 0:
            part = Tile(tile.left, tile.top + start, tile.width, stop - start)
        else:
            part = Tile(tile.left + start, tile.top, stop - start, tile.height)
        seen = [
            _cut(view, each.margin, axis, start, stop)
            for view, each in zip(views, ready.windowed.views, strict=True)
        ]
        parts.append(_computed(ready, plan, part, seen))
    return [np.concatenate(both, axis) for both in zip(*parts, strict=True)]


def _cut(
    view: NDArray[Any], margin: Footprint | None, axis: int, start: int, stop: int
) -> NDArray[Any]:
    if margin is None:
        return view
    around = margin.left + margin.right if axis else margin.up + margin.down
    return view[start : stop + around] if axis == 0 else view[:, start : stop + around]


def _empty(ready: _Ready, index: int, tile: Tile) -> NDArray[Any]:
    channels = ready.formats[index].channels
    shape = (tile.height, tile.width, *([channels] if channels > 1 else []))
    return np.empty(shape, ready.dtypes[index])


def _listed(ready: _Ready, results: list[NDArray[Any]]) -> Any:
    return tuple(results) if ready.is_tuple else results[0]


__all__ = [
    "Function",
    "Plan",
    "Rounds",
    "clipped",
    "grown",
    "results",
    "run_tile",
    "windowed_for",
]
