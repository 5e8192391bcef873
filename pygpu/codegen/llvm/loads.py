"""How native code reads images and tables, for the cells of a block.

A *tap* is at a known offset from the pixel and reads through the pointer to its row. A load that
*reaches* is at an offset found at run time, the same for all pixels and within known ends: it picks
its pointer. Other loads are brought into the image by the boundary rule: lanes that lie side by
side as vectors, those of a row near each other picked from vectors, others one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import reduce

from pygpu.codegen.llvm.block import Block, Values
from pygpu.codegen.llvm.boundary import inside
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.memory import gather, load_block, load_picked, mixed, picks, steps
from pygpu.codegen.llvm.schedule import Cell
from pygpu.codegen.llvm.text import Val
from pygpu.core.storage import Format
from pygpu.ssa import Load, Op, Value


def table(block: Block, op: Op, cell: Cell) -> Values:
    code, values = block.code, block.f.tables[op.data.table].values
    (index,) = block.get(op.operands[0], cell)
    index = code.clamp(index, 0, values.shape[0] - 1)
    base = block.code.argument(block.table_slot + op.data.table, "ptr")
    format = Format(values.dtype, op.data.type.size, False)
    return gather(code, base, index * steps(format), format, values.shape[0])


def reach(block: Block, op: Op, cells: Sequence[Cell]) -> None:
    """A load near the pixel at an offset found at run time."""
    code, load, ends = block.code, op.data, block.plan.reaching[op]
    taps, format = block.plan.set_of[op], block.inputs[load.image]

    def offset(start: int, terms: Sequence[tuple[Value, bool]], low: int, high: int) -> Val:
        total = code.constant("int", start)
        for value, minus in terms:
            (part,) = block.get(value, (0, 0))
            total = total - part if minus else total + part
        return code.cast("sext", code.clamp(total, low, high), "long")

    dx = offset(load.dx, ends.across, *ends.columns)
    slot = offset(load.dy, ends.down, *ends.rows) + (block.slots[taps] - taps.rows[0])
    texel = format.dtype.itemsize * format.channels
    start = (code.cast("sext", block.x, "long") + dx) * texel
    first = code.at(block.ctx, slot * 8)
    for u, r in block.cells_of(op.result, cells):
        row = code.at(code.load("ptr", code.at(first, r * 8), 1, 8), start)
        place = code.at(row, u * block.machine.lanes * texel)
        block.env[op.result, u, r] = load_block(code, place, format)


def far_load(block: Block, op: Op, cells: Sequence[Cell]) -> None:
    """A load from anywhere."""
    places = {}
    for cell in block.cells_of(op.result, cells):
        x, y = (block.get(value, cell)[0] for value in op.operands)
        places[cell] = x + op.data.dx, y + op.data.dy
    if all(x.base is not None and y.lanes == 1 for x, y in places.values()):
        load_rows(block, op, places)
        return
    for (u, r), (x, y) in places.items():
        block.env[op.result, u, r] = load_anywhere(block, op.data, x, y)


def load_rows(block: Block, op: Op, places: dict[Cell, tuple[Val, Val]]) -> None:
    """Lanes that lie side by side: whole vectors, unless the image's edge is met."""
    code, load = block.code, op.data
    inner = [x.base for x, _ in places.values() if x.base is not None]
    room = block.image(load.image, 1) - block.machine.lanes
    across = reduce(Val.__and__, [code.compare("ule", x, room) for x in inner], room >= 0)
    height = block.image(load.image, 2)
    down = reduce(Val.__and__, [code.compare("ult", y, height) for _, y in places.values()])
    within = dataclasses.replace(load, boundary="unchecked")

    def along(data: Load) -> list[Val]:
        loaded = zip(inner, [y for _, y in places.values()], strict=True)
        return [part for x, y in loaded for part in load_along(block, data, x, y)]

    branch = Branch(code, across)
    with branch.side():
        rows = Branch(code, down)
        with rows.side():
            first = along(within)
        with rows.side():
            second = along(load)
        first = rows.join(first, second)
    with branch.side():
        second = [
            code.splat(part, block.machine.lanes)
            for x, y in places.values()
            for part in load_anywhere(block, load, x, y)
        ]
    parts = iter(branch.join(first, second))
    for u, r in places:
        block.env[op.result, u, r] = tuple([next(parts) for _ in range(load.type.size)])


def load_along(block: Block, load: Load, x: Val, y: Val) -> Values:
    """Texels x, x + 1, ... of a row, all inside the image as to x."""
    code, format = block.code, block.inputs[load.image]
    row, valid = inside(code, y, block.image(load.image, 2), load.boundary)
    pitch = block.image(load.image, 3, "long")
    texel = format.dtype.itemsize * format.channels
    place = code.cast("sext", row, "long") * pitch + code.cast("sext", x, "long")
    texels = load_block(code, code.at(block.image(load.image, 0, "ptr"), place * texel), format)
    return texels if valid is None else mixed(code, valid, texels, load.cval)


def load_anywhere(block: Block, load: Load, x: Val, y: Val) -> Values:
    code, format = block.code, block.inputs[load.image]
    column, inside_x = inside(code, x, block.image(load.image, 1), load.boundary)
    row, inside_y = inside(code, y, block.image(load.image, 2), load.boundary)
    given = [block.image(load.image, part) for part in (1, 2, 3)]
    if block.wide or max(column.lanes, row.lanes) == 1:
        given = [code.cast("sext", value, "long") for value in given]
        column, row = (code.cast("sext", value, "long") for value in (column, row))
    (width, height, pitch), base = given, block.image(load.image, 0, "ptr")

    def gathered() -> Values:
        # Texels of one column or one row have a product in common.
        place = row * (pitch * steps(format)) + column * steps(format)
        return gather(code, base, place, format, (height - 1) * pitch + width)

    if column.lanes > row.lanes == 1 and picks(code):
        long_row, long_pitch = (code.cast("sext", value, "long") for value in (row, pitch))
        start = code.at(base, long_row * (long_pitch * format.nbytes))
        texels = near_each_other(block, start, column, width, format, gathered)
    else:
        texels = gathered()
    if inside_x is None or inside_y is None:
        return texels
    return mixed(code, inside_x & inside_y, texels, load.cval)


def near_each_other(
    block: Block,
    row: Val,
    columns: Val,
    width: Val,
    format: Format,
    otherwise: Callable[[], Values],
) -> Values:
    """Texels of a row at columns inside the image. Lanes next to each other mostly read texels not
    far apart, nearly in order or in reverse: where all are within two vectors, these are loaded and
    picked from, which takes a half of fetching each."""
    code, lanes = block.code, block.machine.lanes
    columns = code.plain(columns)
    low = code.minimum(code.lane(columns, 0), code.lane(columns, lanes - 1))
    low = code.maximum(code.minimum(low - lanes // 4, width - 2 * lanes), 0)
    places = columns - low
    room = code.splat(width >= 2 * lanes, lanes)
    far = code.anywhere(~(code.compare("ult", places, 2 * lanes) & room))
    branch = Branch(code, far)
    with branch.side():
        first = otherwise()
    with branch.side():
        start = code.at(row, code.cast("sext", low, "long") * format.nbytes)
        second = load_picked(code, start, code.cast("trunc", places, "int"), format)
    return tuple(branch.join(first, second))
