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
from pygpu.core.programs import Frame, Work
from pygpu.core.storage import Format, Storage, in_rows, stored
from pygpu.devices import targets
from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.arguments.convert import texels_of, unmasked, without_channel_axis
from pygpu.execution.large.faults import raise_first
from pygpu.execution.large.plans import Part, Plan, Ready, Told, ready_for
from pygpu.execution.large.regions import Assembly, Cut, Single, memory_of
from pygpu.execution.large.rounds import Given, rounds_of
from pygpu.execution.programs import tiles
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.layout.window import View

BAND: Final = 1 << 21  # bytes that are put together at a time for a device of this memory
LEAST_BAND: Final = 16  # rows, of which some are put together twice


def cut_off(
    cuts: Sequence[Cut], chunk: NDArray[Any] | None, is_kept: bool = False
) -> dict[Cut, NDArray[Any] | None]:
    """Parts of a chunk. They are copies, for views would keep, or take along, all of it: but where
    it `is_kept`, as part of a larger array that a graph holds, and has not come from elsewhere."""
    if chunk is None:  # of a round that nobody needs
        return dict.fromkeys(cuts)
    parts = {cut: chunk[tuple([slice(*ends) for ends in cut])] for cut in cuts}
    if is_kept and memory_of(chunk).nbytes > chunk.nbytes:
        return dict(parts)
    return {cut: part.copy() for cut, part in parts.items()}


@record
class Ended:
    """In place of the plan of a round that nobody needs. `count`: of results, if it has several."""

    count: int | None

    @property
    def nothing(self) -> Any:
        return None if self.count is None else (None,) * self.count


def settled(
    plan: Plan,
    count: int | None,
    has_ended: Any,
    told: Sequence[Told],
    values: Sequence[NDArray[Any]],
) -> Plan | Ended:
    """The plan with the numbers that had to be computed first, if its round is needed."""
    if has_ended:
        return Ended(count)
    pairs = zip(told, values, strict=True)
    return replace(plan, numbers=tuple([each.of(value) for each, value in pairs]))


@record
class Block:
    """A chunk of the results: a tile, of some planes where it is one of volumes, and how what it
    reads is had of the parts of arrays that come with it."""

    tile: Tile
    planes: range | None
    assemblies: tuple[Assembly | None, ...]  # of each view; None: of an image that the plan holds
    picks: tuple[Cut | None, ...]  # which of what `cut_off` gives a piece is; None: the whole part


def run_block(
    plan: Plan | Ended, block: Block, *chunks: Any, out: NDArray[Any] | None = None
) -> Any:
    """One chunk of the results: an array, or a tuple of them. An only result is written to `out`
    where that spares a copy."""
    if isinstance(plan, Ended):
        return plan.nothing
    pieces = [
        unmasked(part if pick is None else part[pick], "a chunk")
        for part, pick in zip(chunks, block.picks, strict=True)
    ]
    ready, tile = ready_for(plan), block.tile
    depth = 1 if block.planes is None else len(block.planes)
    if not (tile.width and tile.height and depth):  # nothing to compute, in its dtype
        return _listed(ready, [_empty(ready, index, block) for index in range(len(ready.formats))])
    left, part = list(pieces), Part(ready, plan, tile)
    given: list[Given] = []
    for view, assembly in zip(ready.views.views, block.assemblies, strict=True):
        own = _taken(assembly, left)
        given.append((view, None, own) if assembly is None else (view, *assembly.together(own)))
    if plan.rounds is not None:
        return _listed(ready, rounds_of(part, given, _of_pieces))
    if block.planes is not None:
        return _listed(ready, _by_planes(part, block.planes, given))
    return _listed(ready, _of_pieces(part, given, out))


def _of_pieces(
    part: Part, given: Sequence[Given], out: NDArray[Any] | None = None
) -> list[NDArray[Any]]:
    """The results of a tile, of the pieces that each view is put together of."""
    ready, tile = part.ready, part.tile
    if targets.limits(ready.device) is None and not ready.faults:
        pieces = [piece for *_, each in given for piece in each]
        largest = max(pieces, key=lambda piece: piece.nbytes, default=None)
        rooms = [_room(ready, tile, format, out, largest) for format in ready.formats]
        return _by_bands(part, given, rooms)
    return _computed(part, [_seen(ready, *each, tile) for each in given])


def _by_bands(
    part: Part, given: Sequence[Given], results: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    """The results of a tile: at once from the chunks as they lie where the program takes what is
    around them apart, else by as many rows at a time as a cache holds of what is put together for
    them, so that memory is read and written once."""
    ready, tile = part.ready, part.tile
    if not _framed(part, given, results):
        row = sum(
            tile.width * pieces[0].itemsize * math.prod(pieces[0].shape[2:])
            for _, assembly, pieces in given
            if assembly is not None
        )
        height = max(BAND // max(row, 1), LEAST_BAND)
        for top in range(0, tile.height, height):
            band = Tile(0, top, tile.width, min(height, tile.height - top))
            views = [_seen(ready, *each, tile, band) for each in given]
            place = Tile(tile.left, tile.top + top, tile.width, band.height)
            rows = slice(top, top + band.height)
            _run(part.of(place), views, [result[rows] for result in results])
    return [
        stored(without_channel_axis(result), dtype)
        for result, dtype in zip(results, ready.dtypes, strict=True)
    ]


def _room(
    ready: Ready, tile: Tile, format: Format, out: NDArray[Any] | None, read: NDArray[Any] | None
) -> NDArray[Any]:
    """Where a result of a tile goes that the device writes to memory, while it reads an array."""
    shape = (tile.height, tile.width, format.channels)
    if out is not None and out.dtype == format.dtype and ready.device.rows_apart:
        room = out if out.ndim == len(shape) else out[..., np.newaxis]
        if room.shape == shape and in_rows(room):
            return room
    return RESERVE.beside(shape, format.dtype, read)


def _framed(part: Part, given: Sequence[Given], results: Sequence[NDArray[Any]]) -> bool:
    """Compute a tile from the largest piece of each view, and what is around that. Whether the
    program does that, and pieces are large enough."""
    program = part.ready.program
    views: list[NDArray[Any]] = []
    frames: list[Frame | None] = []
    for index, (each, assembly, pieces) in enumerate(given):
        if assembly is None or each.margin is None or assembly.is_piece:
            views.append(_seen(part.ready, each, assembly, pieces, part.tile))
            frames.append(None)
            continue
        single = assembly.single()
        size = math.prod([axis.count for axis in assembly.axes])
        if 2 * single.size < size or program.reach(index) is None:
            return False
        views.append(texels_of(pieces[single.piece][single.texels], apart=True))
        frames.append(_frame(assembly, single, pieces))
    return _run(part, views, results, frames) is not None


def _frame(assembly: Assembly, single: Single, part: Sequence[NDArray[Any]]) -> Frame:
    """What is around a piece."""
    rows, columns = [axis.count for axis in assembly.axes]
    (top, bottom), (left, right) = single.places
    within = left, right
    places = [((0, top), within), ((bottom, rows), within)]
    places += [((0, rows), (0, left)), ((0, rows), (right, columns))]
    return Frame(
        *[
            texels_of(assembly.of(part, *ends), apart=True)
            if all(start < stop for start, stop in ends)
            else None
            for ends in places
        ]
    )


def _by_planes(part: Part, planes: range, given: Sequence[Given]) -> list[NDArray[Any]]:
    """The results of some planes of a volume, one after the other."""
    ready, plan, tile = part.ready, part.plan, part.tile
    images = [  # the same for all planes
        texels_of(assembly.of(pieces)) if assembly is not None and len(assembly.axes) == 2 else None
        for _, assembly, pieces in given
    ]
    found = []
    for number, z in enumerate(planes):
        views = [
            _plane(ready, *each, tile, (number, z)) if image is None else image
            for each, image in zip(given, images, strict=True)
        ]
        found.append(_computed(Part(ready, plan, tile, z), views))
    return [np.stack(each) for each in zip(*found, strict=True)]


def _plane(
    ready: Ready,
    each: View,
    assembly: Assembly | None,
    part: Sequence[NDArray[Any]],
    tile: Tile,
    place: tuple[int, int],
) -> NDArray[Any]:
    """What a tile of a plane reads of a view: its number in the chunk, and in the whole."""
    (number, z), read = place, ready.views.read(each)
    if assembly is None:
        storage = ready.whole[read.image]
        assert storage is not None
        texels = storage.host()
        if storage.dims == 3 and read.offset is not None:
            depth, height = storage.shape[:2]
            at = _nearest(read.boundary, z + read.offset, depth)
            texels = texels[at * height : (at + 1) * height]
        if each.margin is None:
            return texels
        return tiles.view(texels, each.boundary, tile, each.margin)
    if read.offset is None:  # all rows of the volume, one plane below the other
        whole = assembly.of(part)
        return texels_of(whole.reshape(-1, *whole.shape[2:]))
    if each.margin is None:
        number = _nearest(read.boundary, z + read.offset, assembly.axes[0].count)
    return texels_of(assembly.of(part, (number, number + 1))[0])


def _nearest(boundary: str, place: int, size: int) -> int:
    """The texel that a boundary's rule takes for a place."""
    return int(sampler.indices(boundary, np.array([place]), size)[0])


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
    area: Tile | None = None,
) -> NDArray[Any]:
    """What a tile, or an area of it, counted from its corner, reads of a view."""
    margin, apart = each.margin, ready.device.rows_apart
    area = area or Tile(0, 0, tile.width, tile.height)
    if assembly is not None:
        if margin is None:
            return texels_of(assembly.of(part))
        rows = area.top, area.top + area.height + margin.up + margin.down
        columns = area.left, area.left + area.width + margin.left + margin.right
        return texels_of(assembly.of(part, rows, columns), apart=apart)
    storage = ready.whole[ready.views.read(each).image]
    assert storage is not None
    if margin is None:
        return storage.host()
    place = Tile(tile.left + area.left, tile.top + area.top, area.width, area.height)
    return tiles.view(storage.host(), each.boundary, place, margin)


# ---------------------------------------------------------------- one call


def _computed(part: Part, views: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The results of a tile: at once where the device holds that, else by halves."""
    ready = part.ready
    limits = targets.limits(ready.device)
    if limits is not None and not _fits(limits, ready, part.tile, views):
        return _by_halves(part, views)
    nowhere: list[NDArray[Any] | None] = [None] * (len(ready.formats) + bool(ready.faults))
    results = _run(part, views, nowhere)
    assert results is not None
    if ready.faults:
        raise_first(part, views, results.pop().host()[..., 0])
    return [
        stored(without_channel_axis(result.host()), dtype)
        for result, dtype in zip(results, ready.dtypes, strict=True)
    ]


def _run(
    part: Part,
    views: Sequence[NDArray[Any]],
    out: Sequence[NDArray[Any] | None],
    frames: Sequence[Frame | None] = (),
) -> list[Storage] | None:
    """The results of a tile, for which `out` may have room; of views with `frames`, None where the
    program does not take these."""
    ready, plan, tile = part.ready, part.plan, part.tile
    before, after = ready.views.numbers(plan.sizes, plan.depths, part.z)
    numbers = [*plan.uniforms(ready.arguments), *before, tile.left, tile.top, *after]
    apart = ready.device.rows_apart
    inputs = [Storage.of(view if apart else np.ascontiguousarray(view)) for view in views]
    work = Work(inputs, numbers, (tile.height, tile.width), out)
    return ready.program.run_framed(work, frames) if any(frames) else ready.program.run(work)


def _fits(limits: Limits, ready: Ready, tile: Tile, views: Sequence[NDArray[Any]]) -> bool:
    sizes = [view.shape[:2] for view in views] + [(tile.height, tile.width)] * len(ready.formats)
    small = tiles.fit(limits, sizes, (*ready.inputs, *ready.formats))
    return small or tile.width == tile.height == 1


def _by_halves(part: Part, views: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    tile = part.tile
    axis = 0 if tile.height >= tile.width else 1
    whole = (tile.height, tile.width)[axis]
    parts = []
    for start, stop in ((0, whole // 2), (whole // 2, whole)):
        if axis == 0:
            half = Tile(tile.left, tile.top + start, tile.width, stop - start)
        else:
            half = Tile(tile.left + start, tile.top, stop - start, tile.height)
        seen = [
            _cut(view, each.margin, axis, start, stop)
            for view, each in zip(views, part.ready.views.views, strict=True)
        ]
        parts.append(_computed(part.of(half), seen))
    return [np.concatenate(both, axis) for both in zip(*parts, strict=True)]


def _cut(
    view: NDArray[Any], margin: Footprint | None, axis: int, start: int, stop: int
) -> NDArray[Any]:
    if margin is None:
        return view
    around = margin.left + margin.right if axis else margin.up + margin.down
    return view[start : stop + around] if axis == 0 else view[:, start : stop + around]


def _empty(ready: Ready, index: int, block: Block) -> NDArray[Any]:
    depths = [] if block.planes is None else [len(block.planes)]
    channels = ready.formats[index].channels
    shape = (*depths, block.tile.height, block.tile.width, *([channels] if channels > 1 else []))
    return np.empty(shape, ready.dtypes[index])


def _listed(ready: Ready, results: list[NDArray[Any]]) -> Any:
    return tuple(results) if ready.is_tuple else results[0]
