"""How native code reads images and tables, for the cells of a block.

A *tap* is at a known offset from the pixel and reads through the pointer to its row. A load that
*reaches* is at an offset found at run time, the same for all pixels and within known ends: it picks
its pointer. Other loads are brought into the image by the boundary rule: lanes that lie side by
side as vectors, those of a row near each other picked from vectors, others one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Final

from pygpu.codegen.llvm.block import Block, Values
from pygpu.codegen.llvm.boundary import Asked, Place, anywhere, inside, located
from pygpu.codegen.llvm.code import Code, pairs, quads, singles
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.memory import (
    decode_raw,
    gather,
    load_block,
    load_words,
    mixed,
    parts_of,
    steps,
    unpack,
)
from pygpu.codegen.llvm.schedule import Cell, Step
from pygpu.codegen.llvm.text import Val
from pygpu.core.host.records import record
from pygpu.core.storage import Format
from pygpu.ssa import Load, Op, Value

BUNCH: Final = 8  # loads from anywhere that are made at once
# Texels that are read at once, by their bytes.
RUNS: Final = {1: (4,), 2: (2, 4), 3: (2, 4), **dict.fromkeys((4, 8, 12, 16), (1, 2, 4))}
# How so many words are read from one place, and what parts the words of all places.
AT_ONCE: Final = {1: ("int", 1, singles), 2: ("double", 1, pairs), 4: ("int", 4, quads)}
Run = tuple[int, int, int]  # a row and a column beside a place, and how many texels from it on


def table(block: Block, op: Op, cell: Cell) -> Values:
    code, values = block.code, block.f.tables[op.data.table].values
    (index,) = block.get(op.operands[0], cell)
    if op not in block.plan.inside:
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


def far_loads(block: Block, steps: Sequence[Step]) -> None:
    """Loads from anywhere, of which none waits for another."""
    cells: dict[Op, list[Cell]] = {}
    for op, cell in steps:
        cells.setdefault(op, []).append(cell)
    near: dict[tuple[Value, int, int], Asked] = {}
    far: dict[tuple[Value, int, int], Asked] = {}
    for op, each in cells.items():
        places, beside = {}, {}
        for cell in block.cells_of(op.result, each):
            x, y = (block.get(value, cell)[0] for value in op.operands)
            places[cell], beside[cell] = (x, y), (x + op.data.dx, y + op.data.dy)
            for whole, offset in ((x, op.data.dx), (y, op.data.dy)):
                if offset:  # the int is made anyway, for a place beside it
                    block.code.whole.pop(whole.text, None)
        if all(x.base is not None and y.lanes == 1 for x, y in beside.values()):
            load_rows(block, op, beside)
            continue
        for cell, (x, y) in places.items():
            if x.lanes > y.lanes == 1 and picks(block.code):
                near[op.result, *cell] = op.data, x, y
            else:
                far[op.result, *cell] = op.data, x, y
    if near:
        texels = near_each_other(block, [*near.values()])
        block.env.update(zip(near, texels, strict=True))
    for bundle in bundled(block, far):
        asked = [far.pop(key) for key in bundle.keys]
        block.env.update(zip(bundle.keys, bundle.texels(block, asked), strict=True))
    for key, (load, x, y) in far.items():
        place = located(block, load, x + load.dx, y + load.dy)
        block.env[key] = place.texels()
        if place.inside == (None, None) and not (block.machine.gathers or block.machine.streams):
            block.places[key] = place


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
            for part in located(block, load, x, y).texels()
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


def near_each_other(block: Block, loads: Sequence[Asked]) -> list[Values]:
    """Texels that the lanes of a load read from one row. Neighbours mostly read texels not far
    apart, nearly in order or in reverse: where all of a load are within two vectors of the image,
    these are loaded and picked from, which takes a half of fetching each, and no boundary's rule
    is asked for their columns. Loads of an image beside each other are asked about together."""
    code = block.code
    groups: dict[tuple[int, str], list[int]] = {}
    for load, x, _ in loads:
        groups.setdefault((load.image, x.text), []).append(load.dx)
    windows = {}
    for load, x, _ in loads:
        if (load.image, x.text) not in windows:
            offsets = groups[load.image, x.text]
            width = block.image(load.image, 1)
            size = reached(code, block.inputs[load.image])
            window = Window.of(code, code.plain(x), width, size, (min(offsets), max(offsets)))
            windows[load.image, x.text] = window
    beyond = reduce(Val.__or__, [window.inner & -window.size for window in windows.values()])
    small = reduce(Val.__or__, [window.small for window in windows.values()])
    branch = block.seldom(code.anywhere(beyond.ne(0)) | small)
    with branch.side():
        first = anywhere(block, loads, Place.gathered)
    with branch.side():
        second: list[Val] = []
        for load, x, y in loads:
            format, window = block.inputs[load.image], windows[load.image, x.text]
            row, _ = inside(code, y + load.dy, block.image(load.image, 2), load.boundary)
            pitch = block.image(load.image, 3, "long")
            start = code.cast("sext", row, "long") * pitch + window.low
            base = code.at(block.image(load.image, 0, "ptr"), start * format.nbytes)
            second += pick(code, code.at(base, load.dx * format.nbytes), window.inner, format)
    result = []
    each = decoded(block, loads, branch.join(first, second))
    for (load, x, y), texels in zip(loads, each, strict=True):
        if load.boundary == "constant":
            across = code.compare("ult", code.plain(x) + load.dx, block.image(load.image, 1))
            down = code.compare("ult", y + load.dy, block.image(load.image, 2))
            texels = mixed(code, across & down, texels, load.cval)
        result.append(texels)
    return result


@record
class Window:
    """So many columns (a power of two) from `low` on, in which all lanes lie where `inner`, their
    places there, are less. All that are by some offsets beside them are within the image, too,
    unless that is too `small`."""

    size: int
    low: Val
    inner: Val
    small: Val

    @classmethod
    def of(
        cls, code: Code, columns: Val, width: Val, size: int, offsets: tuple[int, int]
    ) -> Window:
        (first, last), lanes = offsets, code.machine.lanes
        least = code.minimum(code.lane(columns, 0), code.lane(columns, lanes - 1))
        room = width - (size + last)
        low = code.maximum(code.minimum(least - (size - lanes) // 4, room), -first)
        return cls(size, code.cast("sext", low, "long"), columns - low, room < -first)


def picks(code: Code) -> bool:
    """Whether there are instructions that take any lanes from a register, or from two."""
    machine = code.machine
    return machine.x86 and machine.has("avx512f" if machine.lanes == 16 else "avx2")


def reached(code: Code, format: Format) -> int:
    """How many texels `pick` picks from. Registers of 8 lanes are picked from one by one, and what
    makes a register for each component of as many texels takes as long as fetching them."""
    lanes = code.machine.lanes
    return 2 * lanes if lanes == 16 or format.nbytes <= 4 else lanes


def pick(code: Code, pointer: Val, places: Val, format: Format) -> list[Val]:
    """What `gather_raw` gives, of texels at places (ints) of the first ones at the pointer."""
    size, channels, lanes = format.dtype.itemsize, format.channels, code.machine.lanes
    starts = range(0, reached(code, format) * format.nbytes, lanes * format.nbytes)
    pointers = [code.at(pointer, start) if start else pointer for start in starts]
    if format.nbytes <= 4:
        parts = [[load_words(code, each, format)] for each in pointers]
    else:
        parts = [unpack(code, each, size, channels, size) for each in pointers]
    return [picked(code, registers, places) for registers in zip(*parts, strict=True)]


def picked(code: Code, registers: Sequence[Val], places: Val) -> Val:
    """The lanes at places of one or two vectors of ints, one behind the other."""
    if code.machine.lanes == 16:
        first, second = registers
        return code.call("llvm.x86.avx512.vpermi2var.d", "int", [first, places, second], "512")
    lanes = [code.call("llvm.x86.avx2", "int", [each, places], "permd") for each in registers]
    return lanes[0] if len(lanes) == 1 else code.select(places < 8, *lanes)


# ---------------------------------------------------------------- neighbours of places anywhere


@record
class Bundle:
    """Loads of an image at known offsets from one place, the same in all lanes: where all that is
    beside it lies within the image, no boundary's rule is asked, and those of a row are read at
    once.

    What a row of results reads goes down or up the image a little, by which processors do not see
    what comes next: lanes would wait for each line of the cache that is new. A map that keeps
    angles takes what is below a vector to where what is beside it goes, turned to the right: there,
    as many rows of results ahead as a vector has lanes, texels are asked for."""

    keys: Sequence[tuple[Value, int, int]]
    runs: Sequence[Run]

    def ends(self, format: Format) -> tuple[int, int, int, int]:
        """From which to which column, and row, texels are read."""
        rows, columns, counts = zip(*self.runs, strict=True)
        read = [4 * _words(format, count) - 1 for count in counts]
        last = max([x + end // format.nbytes for x, end in zip(columns, read, strict=True)])
        return min(columns), last, min(rows), max(rows)

    def texels(self, block: Block, asked: Sequence[Asked]) -> list[Values]:
        code, (load, x, y) = block.code, asked[0]
        x, y = code.plain(x), code.plain(y)
        left, right, top, bottom = self.ends(block.inputs[load.image])
        room = [block.image(load.image, part) - size for part, size in
                ((1, right - left), (2, bottom - top))]  # fmt: skip
        beside = [code.compare("ult", n + first, code.maximum(size, 0))
                  for n, first, size in ((x, left, room[0]), (y, top, room[1]))]  # fmt: skip
        branch = block.seldom(code.anywhere(~(beside[0] & beside[1])))
        is_plain = load.boundary != "constant"
        with branch.side():
            first = anywhere(block, asked, Place.gathered if is_plain else Place.texels)
        with branch.side():
            second = self.read(block, asked)
            if not is_plain:
                second = [part for texel in decoded(block, asked, second) for part in texel]
        joined = branch.join(first, second)
        if is_plain:
            return decoded(block, asked, joined)
        many = load.type.size
        return [tuple(joined[i : i + many]) for i in range(0, len(joined), many)]

    def read(self, block: Block, asked: Sequence[Asked]) -> list[Val]:
        """The texels, all of which are within the image."""
        code, (load, x, y) = block.code, asked[0]
        format, kind = block.inputs[load.image], "long" if block.wide else "int"
        base, pitch = block.image(load.image, 0, "ptr"), block.image(load.image, 3, "long")
        wide = [code.cast("sext" if block.wide else "trunc", n, kind) for n in (x, y, pitch)]
        place = wide[1] * wide[2] + wide[0]
        lanes = [code.lane(place, i) for i in range(place.lanes)]
        places = [code.cast("sext", lane, "long") * format.nbytes for lane in lanes]
        if block.fetches and y.lanes == x.lanes:
            right, down = (code.lane(n, n.lanes - 1) - code.lane(n, 0) for n in (x, y))
            right, down = (code.cast("sext", n, "long") for n in (right, down))
            ahead = code.at(base, (pitch * right - down) * format.nbytes)
            third = (x.lanes - 1) // 3
            for lane in (0, third, x.lanes - 1 - third, x.lanes - 1):
                code.fetch(code.at(ahead, places[lane]), 0, 1)
        found = {}
        for dy, dx, count in self.runs:
            start = code.at(base, (pitch * dy + dx) * format.nbytes)
            pointers = [code.at(start, each) for each in places]
            for i, raw in enumerate(run_words(code, pointers, format, count)):
                found[dx + i, dy] = raw
        return [raw for each, _, _ in asked for raw in found[each.dx, each.dy]]


def decoded(block: Block, asked: Sequence[Asked], bits: Sequence[Val]) -> list[Values]:
    """The texels of which these are the bits, one after the other."""
    result, rest = [], iter(bits)
    for load, _, _ in asked:
        format = block.inputs[load.image]
        raw = [next(rest) for _ in range(1 if format.nbytes <= 4 else format.channels)]
        result.append(decode_raw(block.code, raw, format))
    return result


def bundles(block: Block) -> bool:
    """Whether lanes are fetched one by one, so that runs of texels are worth looking for."""
    return not block.machine.gathers and block.plan.group == 1


def bundled(block: Block, far: Mapping[tuple[Value, int, int], Asked]) -> Iterator[Bundle]:
    """Those of the loads that are beside each other, where it is worth it to read them so: runs are
    fewer than loads."""
    if not bundles(block):
        return
    groups: dict[tuple[object, ...], list[tuple[Value, int, int]]] = {}
    for key, (load, x, y) in far.items():
        if 4 <= x.lanes <= 8 and block.inputs[load.image].nbytes in RUNS:
            together = load.image, load.boundary, load.cval, x.text, y.text, key[1:]
            groups.setdefault(together, []).append(key)
    for keys in groups.values():
        loads = [far[key][0] for key in keys]
        runs = list(runs_of({(load.dy, load.dx) for load in loads},
                            RUNS[block.inputs[loads[0].image].nbytes]))  # fmt: skip
        if len(runs) < len(loads):
            yield Bundle(keys, runs)


def runs_of(texels: set[tuple[int, int]], counts: Sequence[int]) -> Iterator[Run]:
    """Runs of so many texels that have all those in given rows and columns."""
    rest = sorted(texels)
    while rest:
        dy, dx = rest[0]
        reach = max([x - dx for y, x in rest if y == dy and x - dx < counts[-1]])
        count = next(each for each in counts if reach < each)
        yield dy, dx, count
        rest = [(y, x) for y, x in rest if y != dy or x >= dx + count]


def run_words(code: Code, pointers: Sequence[Val], format: Format, count: int) -> list[list[Val]]:
    """What `gather_raw` gives, of texels side by side, from a pointer for each lane on."""
    nbytes, size, words = format.nbytes, format.dtype.itemsize, _words(format, count)
    found: list[Val] = []
    while len(found) < words:
        many = next(each for each in (4, 2, 1) if len(found) + each <= words)
        starts = [code.at(pointer, 4 * len(found)) for pointer in pointers]
        kind, lanes, apart = AT_ONCE[many]
        found += apart(code, [code.read(kind, start, lanes) for start in starts])
    if nbytes < 4:
        return [[_within_words(code, found, nbytes * i, nbytes)] for i in range(count)]
    each = nbytes // 4
    texels = [found[i * each : (i + 1) * each] for i in range(count)]
    if size == 4 or nbytes == 4:
        return texels
    return [[part for word in texel for part in parts_of(code, word, size, 2)] for texel in texels]


def _words(format: Format, count: int) -> int:
    """The words that have so many texels."""
    return -(-count * format.nbytes // 4)


def _within_words(code: Code, words: Sequence[Val], start: int, nbytes: int) -> Val:
    """So many bytes from one on, in the low bits of ints."""
    index, past = divmod(start, 4)
    word = code.binary("lshr", words[index], 8 * past) if past else words[index]
    return word | (words[index + 1] << (32 - 8 * past)) if past + nbytes > 4 else word
