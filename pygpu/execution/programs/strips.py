"""Few rows that are longer than a device's, computed as strips of one image.

Tiles of a row have a run each; strips lie one below the other and have one for all. What lies
around each strip is put beside it by the host, as with tiles, and kept with the image.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Limits
from pygpu.core.host import log
from pygpu.core.programs import Program, Task, Work
from pygpu.core.storage import Storage
from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.programs.specialise import COMPILING, Specialisation, dump
from pygpu.execution.programs.tiles import Tile, allocated, row_bytes, view
from pygpu.execution.programs.wrapping import fitted
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.layout.strips import beyond, strips
from pygpu.passes.layout.window import View, Windowed, window

WIDTH: Final = 1 << 12  # pixels of a strip, at least
PACKED: Final = 4  # texels of which a strip has a multiple: a texture's may hold so many
LEAST: Final = 1 << 18  # bytes of memory that calls hand on to each other
KEPT: Final = 2  # forms of an image in strips and long rows: by how it is read
ROWS: Final = 64  # at most: what has more is as well computed in tiles


class Grid(NamedTuple):
    """How rows are cut: each into so many strips of a width."""

    strips: int
    width: int
    rows: int


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
        stripped: Stripped = made.stripped  # another thread may make one for more rows, or fewer
    grid = _grid(limits, height + sum(beyond(stripped.windowed)), size)
    if stripped.program is None or not _hold(limits, made, stripped, inputs, grid):
        return None
    log.info("%s of %d pixels in %d strips", made.task.function.name, width, grid.strips)
    windowed = stripped.windowed
    images = [_strips(inputs[each.image], each, grid) for each in windowed.views]
    sizes = [n for i in windowed.sized for n in (inputs[i].width, inputs[i].height)]
    values = [*uniforms, grid.width, grid.strips, *sizes]
    shape = (grid.strips * grid.rows, grid.width)
    results = [
        array if array is not None else allocated(size, format)
        for array, format in zip(work.out, made.task.outputs, strict=True)
    ]
    if width % grid.width == 0:  # the strips are the rows
        direct = [each.reshape(*shape, -1) for each in results]
        stripped.program.run(Work(images, values, shape, direct))
    else:
        made_strips = [scratch((*shape, f.channels), f.dtype) for f in made.task.outputs]
        stripped.program.run(Work(images, values, shape, made_strips))
        for result, strips_of in zip(results, made_strips, strict=True):
            _put_back(strips_of, grid, result)
    return [Storage.of(result) for result in results]


def _grid(limits: Limits, block: int, size: tuple[int, int]) -> Grid:
    """Strips as narrow as may be: wider ones where they would be too many, of rows of which there
    are so many in a block, with those that are read above and below."""
    height, width = size
    wide = WIDTH
    while -(-width // wide) * block > limits.side and 4 * wide <= limits.side:
        wide *= 2
    return Grid(-(-width // wide), wide, height)


def _hold(
    limits: Limits, made: Specialisation, stripped: Stripped, inputs: Sequence[Storage], grid: Grid
) -> bool:
    """Whether a device takes all strips at once."""
    count = grid.strips * grid.rows
    total = sum(count * row_bytes(format, grid.width) for format in made.task.outputs)
    for each in stripped.windowed.views:
        storage, format = inputs[each.image], made.task.inputs[each.image]
        margin = each.margin
        rows, wide = storage.height, storage.width
        if margin is not None:
            rows = grid.strips * (grid.rows + margin.up + margin.down)
            wide = grid.width + margin.left + margin.right + PACKED
        nbytes = rows * row_bytes(format, wide)
        if max(rows, wide) > limits.side or nbytes > limits.nbytes:
            return False
        total += nbytes
    return count <= limits.side and total <= limits.memory


def kept(storage: Storage, key: Hashable, made: Callable[[], NDArray[Any]]) -> Storage:
    """What an image is as strips or long rows: kept with it, made where it is missing."""
    found = storage.strips.get(key)
    if found is None:
        found = Storage.of(made())
        while len(storage.strips) >= KEPT:
            for oldest in list(storage.strips)[:1]:  # other threads may let it go meanwhile
                storage.strips.pop(oldest, None)
        storage.strips[key] = found
    return found


def _strips(storage: Storage, each: View, grid: Grid) -> Storage:
    """An image of strips with what is read around them; as it is where it is read anywhere."""
    if each.margin is None:
        return storage
    margin: Footprint = each.margin
    key = each.boundary, margin.left, margin.right, margin.up, margin.down, grid

    def made() -> NDArray[Any]:
        cut = _cut(storage.host(), each.boundary, margin, grid)
        return cut.reshape(-1, *cut.shape[2:])

    return kept(storage, key, made)


def _cut(array: NDArray[Any], boundary: str, margin: Footprint, grid: Grid) -> NDArray[Any]:
    """The strips (rows, strips, texels, C) of an image, the first and the last with what lies
    outside of it. What nothing is read of is 0."""
    around = margin.left + margin.right
    rows, wide = grid.rows + margin.up + margin.down, grid.width + around
    length = -(-wide // PACKED) * PACKED
    made = scratch((rows, grid.strips, length, array.shape[2]), array.dtype)
    made[:, :, wide:] = 0
    first = -(-margin.left // grid.width)  # the first strip that lies within the image, the last
    last = max((array.shape[1] - margin.right) // grid.width, first)
    for strip in (*range(first), *range(last, grid.strips)):
        tile = Tile(strip * grid.width, 0, grid.width, grid.rows)
        made[:, strip, :wide] = view(array, boundary, tile, margin)
    if first < last:
        down = sampler.indices(boundary, np.arange(-margin.up, grid.rows + margin.down), len(array))
        start, step = first * grid.width - margin.left, array.strides[1]
        shape = last - first, wide, array.shape[2]
        for row, source in enumerate(down):
            inside = np.lib.stride_tricks.as_strided(
                array[source, start:],
                shape,
                (grid.width * step, *array.strides[1:]),
                writeable=False,
            )
            made[row, first:last, :wide] = inside
    return made


def scratch(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory for a call, which its next one has again."""
    return RESERVE.empty(shape, dtype, least=LEAST)


def _put_back(strips_of: NDArray[Any], grid: Grid, rows: NDArray[Any]) -> None:
    """The rows that strips are of."""
    each = strips_of.reshape(grid.rows, grid.strips, grid.width, -1)
    whole, rest = divmod(rows.shape[1], grid.width)
    full = rows[:, : whole * grid.width].reshape(grid.rows, whole, *each.shape[2:])
    full[...] = each[:, :whole]  # a view: one axis became two
    if rest:
        rows[:, whole * grid.width :] = each[:, whole, :rest]
