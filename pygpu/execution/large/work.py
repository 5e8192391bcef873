"""Chunks of results, computed by workers from parts of larger images: see graph.py.

A worker gets a plan (plans.py) and, for each chunk, the parts of arrays that are read there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Limits
from pygpu.core.host.records import record
from pygpu.core.storage import Storage, stored
from pygpu.devices import targets
from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.arguments.convert import texels_of, without_channel_axis
from pygpu.execution.arguments.parameters import Arguments
from pygpu.execution.large.plans import Plan, Ready, Rounds, ready_for
from pygpu.execution.large.regions import Assembly, Cut, Reach
from pygpu.execution.programs import checked, tiles
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.lower.window import View

BAND: Final = 1 << 21  # bytes that are put together at a time for a device of this memory
LEAST_BAND: Final = 16  # rows, of which some are put together twice


def cut_off(chunk: NDArray[Any], cuts: Sequence[Cut]) -> dict[Cut, NDArray[Any]]:
    """Parts of a chunk. They are copies: views would keep, or take along, all of it."""
    return {
        (top, bottom, left, right): chunk[top:bottom, left:right].copy()
        for top, bottom, left, right in cuts
    }


def run_tile(
    plan: Plan,
    tile: Tile,
    assemblies: Sequence[Assembly | None],
    picks: Sequence[Cut | None],
    *chunks: Any,
) -> Any:
    """One chunk of the results: an array, or a tuple of them. `assemblies` says for each view how
    its pieces are put together; None: the view is of an image that the plan holds. Pieces are
    whole chunks, or what `picks` names of those that `cut_off` gives."""
    pieces = [
        part if pick is None else part[pick] for part, pick in zip(chunks, picks, strict=True)
    ]
    ready = ready_for(plan)
    if not (tile.width and tile.height):  # nothing to compute, in the dtype of what is not
        return _listed(ready, [_empty(ready, index, tile) for index in range(len(ready.formats))])
    left = list(pieces)
    if plan.rounds is not None:
        return _listed(ready, _all_rounds(ready, plan, plan.rounds, tile, assemblies, left))
    parts = [_taken(assembly, left) for assembly in assemblies]
    if targets.limits(ready.device) is None and not ready.faults:
        return _listed(ready, _by_bands(ready, plan, tile, assemblies, parts))
    views = [
        _seen(ready, each, assembly, part, tile)
        for each, assembly, part in zip(ready.windowed.views, assemblies, parts, strict=True)
    ]
    return _listed(ready, _computed(ready, plan, tile, views))


def _by_bands(
    ready: Ready,
    plan: Plan,
    tile: Tile,
    assemblies: Sequence[Assembly | None],
    parts: Sequence[Sequence[NDArray[Any]]],
) -> list[NDArray[Any]]:
    """The results of a tile, by as many rows at a time as a cache holds of what is put together for
    them, so that memory is read and written once."""
    row = sum(
        assembly.columns.count * part[0].itemsize * math.prod(part[0].shape[2:])
        for assembly, part in zip(assemblies, parts, strict=True)
        if assembly is not None
    )
    height = max(BAND // max(row, 1), LEAST_BAND)
    results = [
        RESERVE.empty((tile.height, tile.width, format.channels), format.dtype)
        for format in ready.formats
    ]
    for top in range(0, tile.height, height):
        band = Tile(tile.left, tile.top + top, tile.width, min(height, tile.height - top))
        views = [
            _seen(ready, each, assembly, part, band, top)
            for each, assembly, part in zip(ready.windowed.views, assemblies, parts, strict=True)
        ]
        direct = [result[top : top + band.height] for result in results]
        _run(ready, plan, band, views, direct)
    return [
        stored(without_channel_axis(result), dtype)
        for result, dtype in zip(results, ready.dtypes, strict=True)
    ]


def _taken(assembly: Assembly | None, pieces: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The next pieces, those of a view, which are taken from the list."""
    count = 0 if assembly is None else len(assembly.places)
    own = pieces[:count]
    del pieces[:count]
    return own


def _seen(
    ready: Ready,
    each: View,
    assembly: Assembly | None,
    part: Sequence[NDArray[Any]],
    tile: Tile,
    top: int = 0,
) -> NDArray[Any]:
    """What a tile, or a band of one that begins `top` rows below, reads of a view."""
    margin = each.margin
    if assembly is not None:
        if margin is None:
            return texels_of(assembly.of(part))
        return texels_of(assembly.of(part, (top, top + tile.height + margin.up + margin.down)))
    storage = ready.whole[each.image]
    assert storage is not None
    if margin is None:
        return storage.host()
    return tiles.view(storage.host(), each.boundary, tile, margin)


# ---------------------------------------------------------------- rounds


@record
class _Region:
    """The texels of a part of an image."""

    texels: NDArray[Any]
    left: int
    top: int

    def view(self, each: View, tile: Tile, size: tuple[int, int]) -> NDArray[Any]:
        """What a tile reads of the image, which is of the size (width, height)."""
        if each.margin is None:
            return self.texels
        wide = grown(tile, each.margin, 1)
        down = Reach.of(each.boundary, wide.top, wide.top + wide.height, size[1])
        across = Reach.of(each.boundary, wide.left, wide.left + wide.width, size[0])
        pieces, places = [], []
        for (top, bottom), rows in down.held():
            for (left, right), columns in across.held():
                mine = slice(left - self.left, right - self.left)
                pieces.append(self.texels[top - self.top : bottom - self.top, mine])
                places.append((rows, columns))
        return Assembly(down, across, tuple(places)).of(pieces)


def _all_rounds(
    ready: Ready,
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
        seen.append(
            _Region(texels_of(assembly.of(_taken(assembly, pieces))), region.left, region.top)
        )
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


def _whole(ready: Ready, each: View) -> _Region:
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
    ready: Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    """The results of a tile: at once where the device holds that, else by halves."""
    limits = targets.limits(ready.device)
    if limits is not None and not _fits(limits, ready, tile, views):
        return _by_halves(ready, plan, tile, views)
    nowhere: list[NDArray[Any] | None] = [None] * (len(ready.formats) + bool(ready.faults))
    results = _run(ready, plan, tile, views, nowhere)
    if ready.faults:
        _raise_first(ready, plan, tile, views, results.pop().host()[..., 0])
    return [
        stored(without_channel_axis(result.host()), dtype)
        for result, dtype in zip(results, ready.dtypes, strict=True)
    ]


def _run(
    ready: Ready,
    plan: Plan,
    tile: Tile,
    views: Sequence[NDArray[Any]],
    out: Sequence[NDArray[Any] | None],
) -> list[Storage]:
    """The results of a tile, for which `out` may have room."""
    sizes = [number for index in ready.windowed.sized for number in plan.sizes[index]]
    numbers = [*ready.arguments.uniforms, tile.left, tile.top, *sizes]
    inputs = [Storage.of(np.ascontiguousarray(view)) for view in views]
    return ready.program.run(inputs, numbers, (tile.height, tile.width), out)


def _raise_first(
    ready: Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]], numbers: NDArray[Any]
) -> None:
    """Raise what has gone wrong first in a tile of a checked program."""
    if not numbers.any():
        return
    function, signature = plan.compiled.function, plan.compiled.signature
    arguments = _as_seen(ready, plan, tile, views)
    corner = tile.left, tile.top
    checked.raise_first(ready.faults, numbers, function, signature, arguments, corner)


def _as_seen(
    ready: Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
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


def _fits(limits: Limits, ready: Ready, tile: Tile, views: Sequence[NDArray[Any]]) -> bool:
    sizes = [view.shape[:2] for view in views] + [(tile.height, tile.width)] * len(ready.formats)
    rows = [
        height * tiles.row_bytes(format, width)
        for (height, width), format in zip(sizes, (*ready.inputs, *ready.formats), strict=True)
    ]
    sides = max(max(size) for size in sizes)
    small = sides <= limits.side and max(rows) <= limits.nbytes and sum(rows) <= limits.memory
    return small or tile.width == tile.height == 1


def _by_halves(
    ready: Ready, plan: Plan, tile: Tile, views: Sequence[NDArray[Any]]
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


def _empty(ready: Ready, index: int, tile: Tile) -> NDArray[Any]:
    channels = ready.formats[index].channels
    shape = (tile.height, tile.width, *([channels] if channels > 1 else []))
    return np.empty(shape, ready.dtypes[index])


def _listed(ready: Ready, results: list[NDArray[Any]]) -> Any:
    return tuple(results) if ready.is_tuple else results[0]


__all__ = ["clipped", "cut_off", "grown", "run_tile"]
