"""Images that are too large for a device, computed in tiles.

A tile is given to the device with as much of the images around it as the function looks at; the
host assembles that, with what lies outside by the image's boundary. Results are host arrays. What a
function reads far from the pixel cannot be cut: such images must fit as they are, or wrapped into
rows that are short enough.

    made.program.run(...) if hold(limits, made, inputs, size) else run(limits, made, inputs, ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Limits
from pygpu.core.host import log
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Program, Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.execution.programs.bars import steps
from pygpu.execution.programs.specialise import COMPILING, dump

with later():
    from pygpu.execution.programs import wrapping
    from pygpu.passes.analysis import footprint
    from pygpu.passes.layout import window

ALIGNMENT: Final = 64  # a row's bytes are at most rounded up to it


class NotCut(Exception):
    """Says why the work cannot be done in tiles."""


@record
class Cut:
    """A function of a window, compiled."""

    windowed: window.Windowed
    program: Program


@record
class Tile:
    """A part of a result: where it begins and how large it is."""

    left: int
    top: int
    width: int
    height: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.height, self.width

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """The part of an array (H, W, ...)."""
        return array[self.top : self.top + self.height, self.left : self.left + self.width]


# ---------------------------------------------------------------- what fits


def row_bytes(format: Format, width: int) -> int:
    """A bound on the bytes of a row as devices keep it: three channels may take room of four."""
    channels = 4 if format.channels == 3 else format.channels
    return -(-width * channels * format.dtype.itemsize // ALIGNMENT) * ALIGNMENT


def hold(
    limits: Limits, made: wrapping.Made, inputs: Sequence[Storage], size: tuple[int, int]
) -> bool:
    """Whether a device takes these images and results as they are."""
    height, width = size
    if max(size) > limits.side:
        return False
    for format in made.task.outputs:
        if height * row_bytes(format, width) > limits.nbytes:
            return False
    for storage, format in zip(inputs, made.task.inputs, strict=True):
        if max(storage.height, storage.width) > limits.side:
            return False
        if storage.height * row_bytes(format, storage.width) > limits.nbytes:
            return False
    return needed(made, inputs, size) <= limits.memory


def fit(limits: Limits, sizes: Sequence[tuple[int, ...]], formats: Sequence[Format]) -> bool:
    """Whether a device takes images (H, W) of these formats, all at once."""
    nbytes = [h * row_bytes(format, w) for (h, w), format in zip(sizes, formats, strict=True)]
    sides = max([max(size) for size in sizes])
    return sides <= limits.side and max(nbytes) <= limits.nbytes and sum(nbytes) <= limits.memory


def needed(made: wrapping.Made, inputs: Sequence[Storage], size: tuple[int, int]) -> int:
    """Bytes that a call takes of a device's memory. Images that are there already take none."""
    total = sum(size[0] * row_bytes(format, size[1]) for format in made.task.outputs)
    for storage, format in zip(inputs, made.task.inputs, strict=True):
        if not storage.copies:
            total += storage.height * row_bytes(format, storage.width)
    return total


@record(frozen=False)
class _Room:
    """What a tile may take."""

    limits: Limits
    memory: int  # what whole images leave
    images: list[tuple[Format, footprint.Footprint]]

    def rows(self, width: int) -> int:
        """The greatest height of tiles of a width; 0 where none fits."""
        least, total, margins = self.limits.side, 0, 0
        for format, margin in self.images:
            wide = width + margin.left + margin.right
            row, around = row_bytes(format, wide), margin.up + margin.down
            if wide > self.limits.side:
                return 0
            least = min(least, self.limits.side - around, self.limits.nbytes // row - around)
            total += row
            margins += row * around
        return max(min(least, (self.memory - margins) // total), 0)


@record
class Tiles(Sequence[Tile]):
    """Tiles of equal size, but for the last of a row or column, that cover a result of (H, W). They
    are made as they are asked for: of a large image there may be very many."""

    size: tuple[int, int]
    width: int
    height: int

    @property
    def across(self) -> int:
        return -(-self.size[1] // self.width)

    def __len__(self) -> int:
        return self.across * -(-self.size[0] // self.height)

    @overload
    def __getitem__(self, index: int) -> Tile: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tile]: ...
    def __getitem__(self, index: int | slice) -> Tile | list[Tile]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        row, column = divmod(range(len(self))[index], self.across)
        left, top = column * self.width, row * self.height
        height, width = self.size
        return Tile(left, top, min(self.width, width - left), min(self.height, height - top))


def tiles(room: _Room, size: tuple[int, int]) -> Tiles:
    """Tiles that cover a result with the least to be read twice. NotCut where none fits."""
    height, width = size
    best: tuple[int, int, int] | None = None
    parts = 1
    while parts <= 2 * width:
        wide = -(-width // min(parts, width))
        tall = min(room.rows(wide), height)
        if tall > 0:
            across, down = -(-width // wide), -(-height // tall)
            read = sum(
                (width + across * (m.left + m.right)) * (height + down * (m.up + m.down))
                for _, m in room.images
            )
            if best is None or read < best[0]:
                best = read, wide, -(-height // down)
        parts *= 2
    if best is None:
        raise NotCut("not even one pixel and what the function reads around it fit")
    _, wide, tall = best
    return Tiles(size, wide, tall)


def tiles_of(limits: Limits, format: Format, size: tuple[int, int]) -> Tiles:
    """Tiles of an image that a device holds along with what is made of them."""
    return tiles(_Room(limits, limits.memory // 4, [(format, footprint.Footprint())]), size)


# ---------------------------------------------------------------- parts of images


def view(
    array: NDArray[Any], boundary: str, tile: Tile, margin: footprint.Footprint
) -> NDArray[Any]:
    """The texels (H, W, C) that a tile reads: those of the tile and the margin around it. Of what
    lies inside the image nothing is copied where rows are whole."""
    height, width, channels = array.shape
    across = range(tile.left - margin.left, tile.left + tile.width + margin.right)
    down = range(tile.top - margin.up, tile.top + tile.height + margin.down)
    columns, rows = _segments(boundary, across, width), _segments(boundary, down, height)
    if len(columns) == len(rows) == 1:
        (_, column), (_, row) = columns[0], rows[0]
        if isinstance(column, slice) and isinstance(row, slice):
            return np.ascontiguousarray(array[row, column])
    made = np.empty((len(down), len(across), channels), array.dtype)
    for to_rows, row in rows:
        for to_columns, column in columns:
            if isinstance(row, slice) or isinstance(column, slice):
                made[to_rows, to_columns] = array[row, column]
            else:
                made[to_rows, to_columns] = array[np.ix_(row, column)]
    return made


def _segments(
    boundary: str, places: range, size: int
) -> list[tuple[slice, slice | NDArray[np.intp]]]:
    """Where texels of an axis go and come from: before, inside and after the image."""
    start, stop = places.start, places.stop
    ends = sorted({start, stop, min(max(0, start), stop), max(min(size, stop), start)})
    found: list[tuple[slice, slice | NDArray[np.intp]]] = []
    for start, stop in pairwise(ends):
        to = slice(start - places.start, stop - places.start)
        if start >= 0 and stop <= size:
            found.append((to, slice(start, stop)))
        else:
            found.append((to, sampler.indices(boundary, np.arange(start, stop), size)))
    return found


# ---------------------------------------------------------------- running


def run(limits: Limits, made: wrapping.Made, work: Work) -> list[Storage]:
    """Compute all pixels by tiles, as the program does at once. NotCut where that cannot be."""
    made, inputs, uniforms = wrapping.fitted(limits, made, work.inputs, work.uniforms)
    size = work.size
    cut = _cut(made)
    views = cut.windowed.views
    room = _room(limits, made, views, inputs)
    results = [  # first: where there is no memory for them, nothing else need be done
        array if array is not None else allocated(size, format)
        for array, format in zip(work.out, made.task.outputs, strict=True)
    ]
    parts = tiles(room, size)
    sizes = [n for i in cut.windowed.sized for n in (inputs[i].width, inputs[i].height)]
    name = made.task.function.name
    log.info("%s of %d x %d in %d tiles", name, size[1], size[0], len(parts))
    for tile in steps(parts, "tile", name):
        images = [_part(inputs[each.image], each, tile) for each in views]
        numbers = [*uniforms, tile.left, tile.top, *sizes]
        direct = [_rows(result, tile) for result in results]
        made_parts = cut.program.run(Work(images, numbers, (tile.height, tile.width), direct))
        for result, part, where in zip(results, made_parts, direct, strict=True):
            if where is None:
                tile.of(result)[...] = part.host()
    return [Storage.of(result) for result in results]


def allocated(size: tuple[int, int], format: Format) -> NDArray[Any]:
    """An array for a result of a height and width. MemoryError where there is none."""
    height, width = size
    try:
        return np.empty((height, width, format.channels), format.dtype)
    except (MemoryError, ValueError):  # a ValueError where the bytes are more than a number holds
        nbytes = height * width * format.nbytes / 2**30
        raise MemoryError(
            f"no memory for a result of {width} x {height} pixels ({nbytes:,.0f} GiB)"
        ) from None


def _part(storage: Storage, each: window.View, tile: Tile) -> Storage:
    if each.margin is None:
        return storage
    return Storage.of(view(storage.host(), each.boundary, tile, each.margin))


def _rows(result: NDArray[Any], tile: Tile) -> NDArray[Any] | None:
    """The part of a result into which a device may write: one of whole rows."""
    return tile.of(result) if tile.width == result.shape[1] else None


def _cut(made: wrapping.Made) -> Cut:
    """The function of a window, compiled once."""
    with COMPILING.lock:
        if made.cut is None:
            windowed = window.window(made.task.function)
            formats = [made.task.inputs[each.image] for each in windowed.views]
            program = made.device.compile(Task(windowed.function, formats, made.task.outputs))
            dump("source", program.source)
            made.cut = Cut(windowed, program)
    return made.cut  # type: ignore[no-any-return]


def _room(
    limits: Limits, made: wrapping.Made, views: Sequence[window.View], inputs: Sequence[Storage]
) -> _Room:
    """What a tile may take, beside images that are read anywhere."""
    whole = dict.fromkeys(each.image for each in views if each.margin is None)
    taken = 0
    for index in whole:
        storage, format = inputs[index], made.task.inputs[index]
        nbytes = storage.height * row_bytes(format, storage.width)
        if max(storage.height, storage.width) > limits.side or nbytes > limits.nbytes:
            raise NotCut(_unbounded(made, index, storage))
        taken += nbytes
    if taken >= limits.memory:
        raise NotCut(_unbounded(made, next(iter(whole)), inputs[next(iter(whole))]))
    cut = [(made.task.inputs[each.image], each.margin) for each in views if each.margin is not None]
    results = [(format, footprint.Footprint()) for format in made.task.outputs]
    return _Room(limits, limits.memory - taken, cut + results)


def _unbounded(made: wrapping.Made, index: int, storage: Storage) -> str:
    name = made.task.function.images[index].name
    return (
        f"the image {name!r} of {storage.width} x {storage.height} pixels is read far from the "
        "position, or nobody can tell how far, so that it cannot be cut into tiles, and the device "
        "does not hold it; target='cpu' does"
    )
