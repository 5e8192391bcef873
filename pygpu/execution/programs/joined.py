"""Images with more rows than a device takes, computed as images of fewer and longer rows.

The rows of an image lie one behind the other in memory, so that its texels are those of an image
with fewer and longer rows, of which nothing is copied: passes/blocks/joined_rows.py makes the
function of such images. What pixels read around them is put before and behind long rows by the
host, as with strips. Rows near the top and the bottom, and those left over, are computed as they
are. Where a pixel reads itself alone, rows mean nothing, and images of any size are joined.

    (349525, 3)  ->  (255, 4104), read of rows of 4 + 4104 + 4
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Limits
from pygpu.core.host import log
from pygpu.core.programs import Program, Work
from pygpu.core.storage import Format, Storage
from pygpu.execution.programs.specialise import COMPILING, Specialisation, dump
from pygpu.execution.programs.strips import kept, scratch
from pygpu.execution.programs.tiles import allocated, fit
from pygpu.passes.blocks.joined_rows import Beside, Joined, beside, joined_rows

WIDTH: Final = 1 << 12  # pixels of a long row, at least
AROUND: Final = 2  # times what is around a long row, at least
WIDTHS: Final = 4  # of short rows, whose programs are kept
SHORT: Final = 1 << 10  # pixels of a row that are joined with others, at most
PACKED: Final = 4  # pixels of which a long row has a multiple: a texel may hold so many
COLUMN: Final = Format(np.dtype(np.int16), 1)


class JoinedProgram:
    """A specialisation's function of long rows; its programs, each for short rows of one width."""

    def __init__(self, made: Specialisation) -> None:
        self.made = made
        self.rows = joined_rows(made.task.function)
        self.programs: dict[int, tuple[Beside, Program]] = {}

    def of_width(self, width: int) -> tuple[Beside, Program]:
        """The function and its program, made when it is first needed."""
        assert self.rows is not None, "there is a function where it runs"
        found = self.programs.get(width)
        if found is None:
            function, task = beside(self.rows, width), self.made.task
            inputs = [*[task.inputs[image] for image in function.images], COLUMN]
            made = self.made.device.compile(
                replace(task, function=function.function, inputs=inputs)
            )
            dump("source", made.source)
            while len(self.programs) >= WIDTHS:
                del self.programs[next(iter(self.programs))]
            found = self.programs[width] = function, made
        return found


def run(limits: Limits, made: Specialisation, work: Work) -> list[Storage] | None:
    """Compute images that are longer than a device's; None where they are not computed so."""
    if max(work.size) <= limits.side or limits.side < 2 * WIDTH:
        return None
    if any((each.height, each.width) != work.size for each in work.inputs):
        return None
    with COMPILING.lock:
        if made.joined is None or made.joined.made.task is not made.task:
            made.joined = JoinedProgram(made)
        joined: JoinedProgram = made.joined
    rows, (height, width) = joined.rows, work.size
    if rows is None:
        return None
    if _reads_itself(rows):
        height, width = height * width, 1  # each pixel is a row
    elif width == 1 or width > SHORT or width <= 2 * rows.aside:
        return None
    long = _long(limits, rows, height, width)
    if long is None:
        return None
    count, length = long
    inputs = [*made.task.inputs, COLUMN]
    sizes = [(count, length + sum(rows.around(width)))] * len(inputs)
    outputs = made.task.outputs
    if not fit(limits, [*sizes, *[long] * len(outputs)], [*inputs, *outputs]):
        return None
    log.info("%s of rows of %d as %d of %d", made.task.function.name, work.size[1], *long)
    return _computed(joined, work, (height, width), long)


def _reads_itself(rows: Joined) -> bool:
    """Whether a pixel reads itself alone."""
    return not rows.aside and all(row == 0 for _, row in rows.reads)


def _long(limits: Limits, rows: Joined, height: int, width: int) -> tuple[int, int] | None:
    """How many long rows there are, and of how many pixels: as few as may be, unless they are too
    many, or what is around them as much. None where there are too few rows for one, or too many."""
    around = sum(rows.around(width))
    length = lcm(width, PACKED)
    length *= -(-max(WIDTH, AROUND * around) // length)
    inside = (height - rows.above - rows.below) * width
    while inside // length > limits.side and 2 * length + around <= limits.side:
        length *= 2
    count = inside // length
    fits = 0 < count <= limits.side and length + around <= limits.side
    return (count, length) if fits else None


def _computed(
    joined: JoinedProgram, work: Work, size: tuple[int, int], long: tuple[int, int]
) -> list[Storage]:
    """The results: rows that are joined, then those above and below."""
    rows, (height, width) = joined.rows, size
    assert rows is not None, "there is a function where it runs"
    with COMPILING.lock:
        function, program = joined.of_width(width)
    wholes = [
        array if array is not None else allocated(work.size, format)
        for array, format in zip(work.out, joined.made.task.outputs, strict=True)
    ]
    results = [whole.reshape(height, width, -1) for whole in wholes]
    begin, end = rows.above, rows.above + long[0] * long[1] // width
    first = begin * width
    images = [_seen(work.inputs[i], first, long, rows.around(width)) for i in function.images]
    images.append(columns(width, long) if rows.aside else columns(1, (1, 1)))
    direct = [result[begin:end].reshape(*long, result.shape[2]) for result in results]
    program.run(Work(images, [*work.uniforms, width], long, direct))
    arrays = [each.host().reshape(height, width, -1) for each in work.inputs]
    _ends(joined, work, arrays, results, (begin, end))
    return [Storage.of(whole) for whole in wholes]


def _seen(storage: Storage, first: int, long: tuple[int, int], around: tuple[int, int]) -> Storage:
    """The pixels of an image in long rows, from the `first` on, with those around each row; what
    would lie before and behind the image is 0."""
    (count, length), (left, right) = long, around
    if not left + right:
        texels = storage.host().reshape(-1, storage.channels)[first : first + count * length]
        return Storage.of(texels.reshape(*long, storage.channels))
    key = first, long, around
    return kept(storage, key, lambda: _cut(storage, first, long, around))


def _cut(
    storage: Storage, first: int, long: tuple[int, int], around: tuple[int, int]
) -> NDArray[Any]:
    """The rows (H, W, C) that `_seen` gives."""
    (count, length), (left, right) = long, around
    texels = storage.host().reshape(-1, storage.channels)
    start, wide = first - left, left + length + right
    rows = scratch((count, wide, storage.channels), storage.dtype)
    low = -(min(start, 0) // length)  # rows that begin before the image, and that end within it
    high = max(min((len(texels) - wide - start) // length + 1, count), low)
    step = texels.strides[0]
    if low < high:
        rows[low:high] = np.lib.stride_tricks.as_strided(
            texels[start + low * length :],
            (high - low, wide, storage.channels),
            (length * step, *texels.strides),
            writeable=False,
        )
    for row in (*range(low), *range(high, count)):
        begin = start + row * length
        part = texels[max(begin, 0) : begin + wide]
        before = max(-begin, 0)
        rows[row, :before], rows[row, before + len(part) :] = 0, 0
        rows[row, before : before + len(part)] = part
    return rows


def _ends(
    joined: JoinedProgram,
    work: Work,
    arrays: list[NDArray[Any]],
    results: list[NDArray[Any]],
    inside: tuple[int, int],
) -> None:
    """Compute the rows above and below those inside, with as many between them as these read: one
    image, in which nothing that is read at one end is a row of the other."""
    rows, (above, end), width = joined.rows, inside, results[0].shape[1]
    assert rows is not None, "there is a function where it runs"
    around, below = rows.above + rows.below, len(results[0]) - end
    if not above + below:
        return
    top = above + around if above else 0
    bottom = end - around
    images = [_part(np.concatenate([each[:top], each[bottom:]])) for each in arrays]
    given = work._replace(inputs=images, shape=images[0].shape, out=[None] * len(results))
    for result, storage in zip(results, joined.made.program.run(given), strict=True):
        part = storage.host().reshape(-1, width, result.shape[2])
        result[:above], result[end:] = part[:above], part[len(part) - below :]


def _part(rows: NDArray[Any]) -> Storage:
    """Some rows of an image: single pixels, of which each is a row, in one row."""
    return Storage.of(rows.swapaxes(0, 1) if rows.shape[1] == 1 else rows)


@lru_cache(maxsize=4)
def columns(width: int, long: tuple[int, int]) -> Storage:
    """In which column each pixel of long rows stands."""
    row = np.tile(np.arange(width, dtype=np.int16), long[1] // width)
    return Storage.of(np.ascontiguousarray(np.broadcast_to(row[None, :, None], (*long, 1))))
