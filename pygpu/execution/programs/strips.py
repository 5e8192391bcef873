"""Single rows that are longer than a device's, computed as strips of one image.

Tiles of a row have a run each; strips lie one below the other and have one for all. What lies
around each strip is put beside it by the host, as with tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Limits, Program, Task
from pygpu.core.storage import Storage
from pygpu.execution.programs.specialise import COMPILING, LOG, Specialisation, dump
from pygpu.execution.programs.tiles import Tile, row_bytes, view
from pygpu.execution.programs.wrapping import fitted
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.lower.strips import strips
from pygpu.passes.lower.window import View, Windowed, window
from pygpu.ssa import Constant

WIDTH: Final = 1 << 12  # pixels of a strip


class Stripped:
    """A specialisation's function of strips, compiled; no program where there is none."""

    def __init__(self, made: Specialisation) -> None:
        self.task = made.task
        self.windowed: Windowed = window(made.task.function)
        self.program: Program | None = None
        function = strips(self.windowed)
        if function is not None:
            formats = [made.task.inputs[each.image] for each in self.windowed.views]
            self.program = made.device.compile(Task(function, formats, made.task.outputs))
            dump("source", self.program.source)


def run(
    limits: Limits,
    made: Specialisation,
    inputs: Sequence[Storage],
    uniforms: Sequence[Constant],
    size: tuple[int, int],
) -> list[Storage] | None:
    """Compute a row; None where it is not to be computed so."""
    height, width = size
    if height != 1 or width <= limits.side or limits.side < 2 * WIDTH:
        return None
    made, inputs, uniforms = fitted(limits, made, inputs, uniforms)
    with COMPILING.lock:
        if made.stripped is None or made.stripped.task is not made.task:
            made.stripped = Stripped(made)
    stripped: Stripped = made.stripped
    count = -(-width // WIDTH)
    if stripped.program is None or not _hold(limits, made, stripped, inputs, count):
        return None
    LOG.info("%s of %d pixels in %d strips", made.task.function.name, width, count)
    windowed = stripped.windowed
    images = [_strips(inputs[each.image], each, count) for each in windowed.views]
    sizes = [n for i in windowed.sized for n in (inputs[i].width, inputs[i].height)]
    out: list[NDArray[np.generic] | None] = [None] * len(made.task.outputs)
    results = stripped.program.run(images, [*uniforms, WIDTH, 0, *sizes], (count, WIDTH), out)
    return [_row(result, width) for result in results]


def _hold(
    limits: Limits,
    made: Specialisation,
    stripped: Stripped,
    inputs: Sequence[Storage],
    count: int,
) -> bool:
    """Whether a device takes all strips at once."""
    total = sum(count * row_bytes(format, WIDTH) for format in made.task.outputs)
    for each in stripped.windowed.views:
        storage, format = inputs[each.image], made.task.inputs[each.image]
        margin = each.margin
        rows, wide = storage.height, storage.width
        if margin is not None:
            rows, wide = count, WIDTH + margin.left + margin.right
        nbytes = rows * row_bytes(format, wide)
        if max(rows, wide) > limits.side or nbytes > limits.nbytes:
            return False
        total += nbytes
    return count <= limits.side and total <= limits.memory


def _strips(storage: Storage, each: View, count: int) -> Storage:
    """An image of strips with what is read around them; as it is where it is read anywhere."""
    if each.margin is None:
        return storage
    margin: Footprint = each.margin
    row = view(storage.host(), each.boundary, Tile(0, 0, count * WIDTH, 1), margin)
    wide, channels = WIDTH + margin.left + margin.right, storage.channels
    texel, channel = row.strides[1:]
    shape, steps = (count, wide, channels), (WIDTH * texel, texel, channel)
    overlapping = np.lib.stride_tricks.as_strided(row, shape, steps, writeable=False)
    return Storage.of(np.ascontiguousarray(overlapping))


def _row(strips_of: Storage, width: int) -> Storage:
    texels = strips_of.host().reshape(1, -1, strips_of.channels)[:, :width]
    return Storage.of(np.ascontiguousarray(texels))


__all__ = ["run"]
