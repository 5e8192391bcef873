"""Few rows that are longer than a device's, computed as strips of one image.

Tiles of a row have a run each; strips lie one below the other and have one for all. What lies
around each strip is put beside it by the host, as with tiles, and kept with the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from pygpu.core.device import Limits
from pygpu.core.host import log
from pygpu.core.programs import Program, Task, Work
from pygpu.core.storage import Storage
from pygpu.execution.programs.specialise import COMPILING, Specialisation, dump
from pygpu.execution.programs.tiles import Tile, row_bytes, view
from pygpu.execution.programs.wrapping import fitted
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.lower.strips import beyond, strips
from pygpu.passes.lower.window import View, Windowed, window

WIDTH: Final = 1 << 12  # pixels of a strip, at least
KEPT: Final = 2  # forms of an image in strips: by how it is read
ROWS: Final = 64  # at most: what has more is as well computed in tiles


class Grid(NamedTuple):
    """How rows are cut: so many strips of a width, each a block of rows in the image of strips."""

    strips: int
    width: int
    rows: int  # of the image
    block: int  # with those that are read above and below


class Stripped:
    """A specialisation's function of strips, compiled; no program where there is none."""

    def __init__(self, made: Specialisation, is_single: bool) -> None:
        self.task, self.is_single = made.task, is_single
        self.windowed: Windowed = window(made.task.function)
        self.program: Program | None = None
        function = strips(self.windowed, is_single)
        if function is not None:
            formats = [made.task.inputs[each.image] for each in self.windowed.views]
            self.program = made.device.compile(Task(function, formats, made.task.outputs))
            dump("source", self.program.source)


def run(limits: Limits, made: Specialisation, work: Work) -> list[Storage] | None:
    """Compute a row, whose texels lie in no array; None where it is not to be computed so."""
    height, width = size = work.size
    if height > ROWS or width <= limits.side or limits.side < 2 * WIDTH:
        return None
    made, inputs, uniforms = fitted(limits, made, work.inputs, work.uniforms)
    is_single = height == 1
    with COMPILING.lock:
        known = made.stripped
        if known is None or known.task is not made.task or known.is_single != is_single:
            made.stripped = Stripped(made, is_single)
    stripped: Stripped = made.stripped
    grid = _grid(limits, height + sum(beyond(stripped.windowed)), size)
    if stripped.program is None or not _hold(limits, made, stripped, inputs, grid):
        return None
    log.info("%s of %d pixels in %d strips", made.task.function.name, width, grid.strips)
    windowed = stripped.windowed
    images = [_strips(inputs[each.image], each, grid) for each in windowed.views]
    sizes = [n for i in windowed.sized for n in (inputs[i].width, inputs[i].height)]
    values = [*uniforms, grid.width, 0 if is_single else grid.block, *sizes]
    shape = (grid.strips * grid.block, grid.width)
    results = stripped.program.run(Work(images, values, shape, [None] * len(work.out)))
    return [_rows(result, grid, width) for result in results]


def _grid(limits: Limits, block: int, size: tuple[int, int]) -> Grid:
    """Strips as narrow as may be: wider ones where they would be too many."""
    height, width = size
    wide = WIDTH
    while -(-width // wide) * block > limits.side and 4 * wide <= limits.side:
        wide *= 2
    return Grid(-(-width // wide), wide, height, block)


def _hold(
    limits: Limits,
    made: Specialisation,
    stripped: Stripped,
    inputs: Sequence[Storage],
    grid: Grid,
) -> bool:
    """Whether a device takes all strips at once."""
    count = grid.strips * grid.block
    total = sum(count * row_bytes(format, grid.width) for format in made.task.outputs)
    for each in stripped.windowed.views:
        storage, format = inputs[each.image], made.task.inputs[each.image]
        margin = each.margin
        rows, wide = storage.height, storage.width
        if margin is not None:
            rows, wide = count, grid.width + margin.left + margin.right
        nbytes = rows * row_bytes(format, wide)
        if max(rows, wide) > limits.side or nbytes > limits.nbytes:
            return False
        total += nbytes
    return count <= limits.side and total <= limits.memory


def _strips(storage: Storage, each: View, grid: Grid) -> Storage:
    """An image of strips with what is read around them; as it is where it is read anywhere."""
    if each.margin is None:
        return storage
    margin: Footprint = each.margin
    key = each.boundary, margin.left, margin.right, margin.up, margin.down, grid
    found = storage.strips.get(key)
    if found is None:
        whole = Tile(0, 0, grid.strips * grid.width, grid.rows)
        part = view(storage.host(), each.boundary, whole, margin)
        wide = grid.width + margin.left + margin.right
        rows, channels = len(part), storage.channels
        row, texel, channel = part.strides
        shape, steps = (
            (grid.strips, rows, wide, channels),
            (grid.width * texel, row, texel, channel),
        )
        overlapping = np.lib.stride_tricks.as_strided(part, shape, steps, writeable=False)
        made = np.zeros((grid.strips, grid.block, wide, channels), part.dtype)
        made[:, :rows] = overlapping
        found = Storage.of(made.reshape(-1, wide, channels))
        while len(storage.strips) >= KEPT:
            del storage.strips[next(iter(storage.strips))]
        storage.strips[key] = found
    return found


def _rows(strips_of: Storage, grid: Grid, width: int) -> Storage:
    """The rows that strips are of."""
    blocks = strips_of.host().reshape(grid.strips, grid.block, grid.width, strips_of.channels)
    rows = np.empty((grid.rows, width, strips_of.channels), blocks.dtype)
    whole, rest = divmod(width, grid.width)
    full = rows[:, : whole * grid.width].reshape(grid.rows, whole, *blocks.shape[2:])
    full[...] = blocks[:whole, : grid.rows].swapaxes(0, 1)  # a view: one axis became two
    if rest:
        rows[:, whole * grid.width :] = blocks[whole, : grid.rows, :rest]
    return Storage.of(rows)


__all__ = ["run"]
