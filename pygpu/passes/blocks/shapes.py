"""How the work of a compute program is shared out: the pixels of a thread, the threads of a group.

All shapes compute the same bits; which one is the fastest depends on the function and the device. A
function has the shape that was measured for it on this machine and driver
(execution/inspection/tuning.py), else one that follows from how it reads.

    key = shapes.key(task, "NVIDIA H200, OpenGL 4.6")
    shape = shapes.remembered(key) or shapes.default(task)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Final

from pygpu.core.host import cache
from pygpu.core.programs import Shape, Task
from pygpu.passes.analysis.footprint import fixed, footprint, reads_itself
from pygpu.passes.analysis.pressure import pressure
from pygpu.passes.blocks.block import columns_of, shares_words, size, words_far
from pygpu.passes.blocks.block_views import COLUMNS, is_near
from pygpu.ssa import images_read, walk

KIND: Final = "shape"  # of what is kept in the disk cache
PROGRAMS: Final = 9  # a new number forgets all that was measured: programs are made otherwise


# What tuning tries. Four columns are one load of 16 bytes of a float32 row; functions that read
# nothing near have one column whatever is asked. Threads that are neighbours along x read
# neighbouring bytes; OpenGL 4.3 promises 1024 threads a group.
CANDIDATES: Final = tuple(
    Shape(4, rows, *threads)
    for rows in (1, 2, 4, 8)
    for threads in ((64, 1), (64, 2), (32, 4), (16, 8), (8, 8), (32, 8), (16, 16))
)

# The shapes of functions of which nothing was measured: the fastest for such kernels on an H200.
OWN: Final = Shape(4, 2, 64, 2)  # what is read is the pixel itself: memory is all there is
HEAVY: Final = Shape(4, 1, 64, 2)  # the pixel itself is read, but threads wait for arithmetic
TABLED: Final = Shape(1, 4, 64, 1)  # likewise, and tables are read, which fills registers
WHOLE: Final = Shape(1, 2, 64, 2)  # the pixel itself is read, of 16 bytes
POINTS: Final = Shape(4, 2, 32, 4)  # pixels of a column share nothing, or too little to matter
WINDOWS: Final = Shape(4, 4, 32, 4)  # rows share what they read, or are of 8 or 16 bits
PACKED: Final = Shape(4, 8, 16, 8)  # rows share what they read and are of 8 or 16 bits
SCATTERED: Final = Shape(4, 1, 32, 4)  # reads are anywhere
SINGLE: Final = Shape(1, 4, 32, 4)  # reads are anywhere, by neighbours that are other threads'
WIDE: Final = Shape(1, 2, 32, 4)  # reads are anywhere, of colours, and results are colours
SQUARE: Final = Shape(1, 1, 16, 16)  # likewise many times, and near each other on all sides
COLOURS: Final = Shape(1, 8, 32, 4)  # pixels of 4 bytes
LOOPS: Final = Shape(4, 1, 16, 16)  # neighbours loop about equally long
LANES: Final = Shape(16, 4, 32, 4)  # bytes, two at a time
THIN: Final = 4096  # pixels from which on a group of another shape is worth a program
IDLE: Final = 4  # times as many threads, or rows, as there is work for: another shape is worth it
MUCH: Final = 32  # operations of a pixel, from which on it is arithmetic that threads wait for
TABLES: Final = 8  # reads of tables of a pixel, from which on threads wait for these
MANY_FAR: Final = 24  # words read at places apart, from which on groups are squares
DENSE: Final = 6  # operations for each texel read, from which on it matters little to share these

# What blocks of functions that look around cost: those of which times on an H200 differ least from
# the fastest of NEAR, for 28 functions of the gallery (2 % in the mean).
NEAR: Final = tuple(Shape(*block, 32, 4) for block in ((1, 2), (1, 4), (4, 1), (4, 2), (4, 4)))
NEAR_PACKED: Final = (*NEAR[2:], PACKED)  # blocks of functions whose pixels share words
READ: Final = 2  # operations that a read costs, with its place: of a texel, or of four numbers
NUMBER: Final = 6  # and each number read
PICKED: Final = 1  # and picking it out of four numbers, where these are of several texels
UNPACKED: Final = 3  # and what a number out of a word costs, of which it is a quarter or half
MANY: Final = 400  # numbers that a block reads, above which compilers run out of registers
LARGEST: Final = 4096  # operations of a block, before what is shared is left out
REGISTERS: Final = 100  # numbers in a thread's registers with which it takes twice as long


def default(task: Task, narrow: bool = False, is_software: bool = False) -> Shape:
    """The shape of a function of which nothing was measured; `narrow` as for columns_of. Where it
    looks around it is what costs least on a GPU, unless a processor runs it (`is_software`)."""
    function, inputs = task.function, task.inputs
    ops = list(walk(function.body))
    if any(op.code == "loop" for op in ops):
        return LOOPS
    same = fixed(function)
    found = footprint(function, same)
    read = [index for index in images_read(function) if index not in same]
    is_single = columns_of(task, narrow) == 1
    if None in found or not read:
        gives = sum(format.channels for format in task.outputs)
        if not is_single:
            return SCATTERED
        if read and gives > 2:
            near = sum(is_near(function, op) for op in ops)
            return SQUARE if words_far(task, is_apart=True) > max(MANY_FAR, gives * near) else WIDE
        return SINGLE
    texels = sum(op.code == "load" and op.data.image not in same for op in ops)
    is_flat = not any(each.up or each.down for each in found if each is not None)
    is_packed = all(inputs[index].dtype.itemsize < 4 for index in read)
    if is_flat and is_packed and is_single:
        return COLOURS
    if reads_itself(found) and not is_single and size(function) > MUCH:
        is_tabled = sum(op.code == "table" for op in ops) > TABLES and not shares_words(task)
        return TABLED if is_tabled else HEAVY
    if reads_itself(found) and not is_packed:
        return WHOLE if is_single else OWN
    if not (is_software or reads_itself(found)):
        if is_packed and not is_single:
            return _cheapest(task, NEAR_PACKED)
        every = {1} if is_single else {COLUMNS} if shares_words(task) else {1, COLUMNS}
        return _cheapest(task, [each for each in NEAR if each.columns in every])
    tests = sum(value.type.kind == "bool" for op in ops for value in op.results)  # cost little
    if size(function) - tests > DENSE * texels or (is_flat and not is_packed):
        return POINTS
    return PACKED if is_packed and not is_flat else WINDOWS


def _cheapest(task: Task, candidates: Sequence[Shape]) -> Shape:
    """The shape in which a pixel costs least: the more of what it reads its neighbours in a block
    read too, and the fewer numbers are at hand at once, as registers are shared by the threads that
    run at once."""
    function = task.function
    loads = [op for op in function.body.ops if op.code == "load"]
    near: dict[int, set[tuple[int, int]]] = {}
    for op in loads:
        if is_near(function, op):
            near.setdefault(op.data.image, set()).add((op.data.dx, op.data.dy))
    apart = sum(READ + NUMBER * op.result.type.size for op in loads if not is_near(function, op))
    alone, gives = pressure(function.body), sum(format.channels for format in task.outputs)

    pixel = size(function)
    fitting = [
        replace(each, rows=rows_within(each.rows, pixel * each.columns, LARGEST))
        for each in candidates
        if pixel * each.columns <= LARGEST
    ]

    def cost(shape: Shape) -> float:
        columns, pixels = shape.columns, shape.columns * shape.rows
        read, numbers = 0.0, 0
        for image, places in near.items():
            size_of = function.images[image].type.size
            every = {
                (dx + column, dy + row)
                for dx, dy in places
                for column in range(columns)
                for row in range(shape.rows)
            }
            nbytes = task.inputs[image].dtype.itemsize
            number = NUMBER if nbytes == 4 else NUMBER * nbytes / 4 + UNPACKED
            texel: float = READ + number * size_of
            if columns > 1:
                texel = (READ / COLUMNS + number + PICKED * (size_of == 3)) * size_of
            read += texel * len(every)
            numbers += size_of * len(every)
        each = pixel + apart + read / pixels
        return each * (REGISTERS + alone + gives * pixels) * max(numbers / MANY, 1)

    return min(fitting or candidates, key=cost)


def rows_within(wanted: int, row: int, largest: int) -> int:
    """The rows of a block: so many, or half or a quarter of it and so on, for which `row` each are
    not too much; at least one."""
    while wanted > 1 and wanted * row > largest:
        wanted //= 2
    return wanted


def fitted(shape: Shape, size: tuple[int, int]) -> Shape:
    """The shape for a result of (H, W): with groups taller by as much as their threads would lie
    beside a narrow one, and wider and of fewer rows by as much as pixels would lie below a low one,
    if these are most."""
    height, width = size
    across = _power(-(-width // shape.columns))
    down = _power(-(-height // shape.rows))
    threads = shape.threads_x * shape.threads_y
    if height * width < THIN:
        return shape
    if across * IDLE <= shape.threads_x and down > shape.threads_y:
        columns = 1 if width < shape.columns else shape.columns
        across = _power(-(-width // columns))
        return Shape(columns, shape.rows, across, threads // across)
    tall = _power(height)
    if tall * IDLE <= shape.rows * shape.threads_y and across > shape.threads_x:
        rows = min(shape.rows, tall)
        down = _power(-(-height // rows))
        return replace(shape, rows=rows, threads_x=threads // down, threads_y=down)
    return shape


def _power(number: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << (number - 1).bit_length()


# ---------------------------------------------------------------- what was measured


def key(task: Task, driver: str) -> str:
    """What a measured shape is remembered under: a hash of all that decides which is the fastest.
    The task as the device gets it, `driver` what that says of itself."""
    formats = [(str(f.dtype), f.channels, f.normalize) for f in (*task.inputs, *task.outputs)]
    text = f"{PROGRAMS}\n{task.function}\n{len(task.inputs)} {formats}\n{driver}"
    return hashlib.sha256(text.encode()).hexdigest()


class _Chosen:
    """The shapes that were measured or looked up in this process: None where there is none."""

    def __init__(self) -> None:
        self.shapes: dict[str, Shape | None] = {}


_CHOSEN: Final = _Chosen()


def remembered(key: str) -> Shape | None:
    """The shape that was measured, in this process or, where the disk cache is on, in another."""
    if key not in _CHOSEN.shapes:
        _CHOSEN.shapes[key] = _read(cache.get(KIND, key))
    return _CHOSEN.shapes[key]


def remember(key: str, shape: Shape) -> None:
    """Keep a measured shape: on disk where the cache is on, in this process anyway."""
    _CHOSEN.shapes[key] = shape
    cache.put(KIND, key, " ".join(map(str, astuple(shape))).encode("ascii"))


def forget() -> None:
    """Forget what this process knows; what is on disk stays."""
    _CHOSEN.shapes.clear()


def _read(data: bytes | None) -> Shape | None:
    """The shape that was written; None where these are no four numbers."""
    found = re.fullmatch(rb"[1-9]\d{0,4}(?: [1-9]\d{0,4}){3}", data or b"")
    return Shape(*map(int, found[0].split())) if found else None
