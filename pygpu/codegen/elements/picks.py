"""Native code that picks elements by a mask, in order.

`span` runs over elements x0 <= x < x1 of a chunk and puts those where the mask, a byte an element,
is not zero behind each other, from where the chunk's results begin. Where the processor packs the
lanes of a vector that a mask picks, elements of four and eight bytes go so. Else they go one by
one, and what is not picked is written too, to a place of the chunk's own, so that there is no
branch. Elements of no units are their places: 0, 1, 2, ...
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.elements.folds import AHEAD
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, when
from pygpu.codegen.llvm.text import Machine, Val

MASK, SOURCE, TARGET, STARTS, NOWHERE, LENGTH, SLOTS = range(7)  # of %args
UNITS: Final = {1: "byte", 2: "short", 4: "uint", 8: "long"}  # kinds by their bytes
ROUND: Final = 16  # elements of a round of the loop
LINE: Final = 64  # bytes of NOWHERE for each chunk: elements that are not picked go there
LANES: Final = 8  # the bits of a byte


def places(code: Code, byte: Val) -> Val:
    """Where the bits of a byte are, behind each other; 0 in lanes behind the last."""
    found = [[k for k in range(LANES) if each >> k & 1] for each in range(256)]
    return _entry(code, "places", [[*each, *[0] * (LANES - len(each))] for each in found], byte)


def before(code: Code, byte: Val) -> Val:
    """How many of a byte's bits stand before each place."""
    counts = [[(each & (1 << k) - 1).bit_count() for k in range(LANES)] for each in range(256)]
    return _entry(code, "before", counts, byte)


def _entry(code: Code, name: str, table: list[list[int]], byte: Val) -> Val:
    """The entry of a table of vectors, by a byte."""
    text = "".join([f"\\{number:02x}" for entry in table for number in entry])
    code.functions[name] = f'@{name} = private constant [{len(text) // 3} x i8] c"{text}"'
    place = code.at(Val(code, "ptr", 1, f"@{name}", 0), byte * LANES)
    return code.cast("zext", code.load("byte", place, LANES, 1), "int")


def lowest(code: Code, bits: Val) -> Val:
    """Where the lowest of some bits is."""
    code.declared["llvm.cttz.i64"] = "declare i64 @llvm.cttz.i64(i64, i1)"
    return code.fixed("long", 1, f"call i64 @llvm.cttz.i64(i64 {bits.text}, i1 true)")


def _pack(code: Code, values: Val, holds: Val, place: Val) -> Val:
    """Put the lanes that a mask picks behind each other; how many were picked, a long. They are
    packed in a register: packing into memory takes some processors a hundred cycles. Only picked
    lanes are written, for the memory behind them may be another chunk's."""
    lanes, type, mask = values.lanes, values.type, f"<{values.lanes} x i1>"
    name = f"llvm.x86.avx512.mask.compress.v{lanes}i{512 // lanes}"
    code.declared[name] = f"declare {type} @{name}({type}, {type}, {mask})"
    given = f"{type} {values.text}, {type} zeroinitializer, {mask} {holds.text}"
    packed = code.make(values.kind, f"call {type} @{name}({given})", values, holds)
    bits = code.make("short", f"bitcast {mask} {holds.text} to i{lanes}", holds, lanes=1)
    count = code.fixed("long", 1, f"zext i{lanes} {bits.text} to i64")
    count = code.intrinsic("ctpop", count)
    written = code.ramp(code.constant("long", 0), lanes) < count
    name = f"llvm.masked.store.v{lanes}i{512 // lanes}.p0"
    given = f"{type} {packed.text}"
    if code.machine.version >= 22:
        code.declared[name] = f"declare void @{name}({type}, ptr, {mask})"
        given += f", ptr align 1 {place.text}, {mask} {written.text}"
    else:
        code.declared[name] = f"declare void @{name}({type}, ptr, i32, {mask})"
        given += f", ptr {place.text}, i32 1, {mask} {written.text}"
    code.line(f"call void @{name}({given})")
    return count


def lanes_of(unit: int, count: int, machine: Machine) -> int:
    """How many elements are picked at a time."""
    is_packed = machine.x86 and machine.has("avx512f") and count <= 1 and unit in (4, 8)
    return machine.lanes * 4 // unit if is_packed else 1


def pick_span(unit: int, count: int, machine: Machine) -> str:
    """The IR of `span` for elements of so many units of so many bytes; 0 units: for places."""
    code = Code(machine)
    x0, x1 = code.ends()
    mask, source, target, starts, nowhere = (code.argument(k, "ptr") for k in range(LENGTH))
    chunk = code.binary("sdiv", x0, code.argument(LENGTH, "long"))
    aside = code.at(nowhere, chunk * LINE)
    size, kind = unit * max(count, 1), UNITS[unit]

    def pick(x: Val, to: Val) -> Val:
        """Put an element where it goes; the place of the next."""
        holds = code.read("byte", code.at(mask, x)).ne(0)
        place = code.select(holds, code.at(target, to * size), aside)
        values = [code.read(kind, code.at(source, x * size + unit * k)) for k in range(count)]
        for k, value in enumerate(values or [code.cast("trunc", x, kind)]):
            code.store(value, code.at(place, unit * k), 1)
        return to + code.cast("zext", holds, "long")

    def pick_vector(x: Val, to: Val, lanes: int) -> Val:
        """Put as many elements as a register holds where they go; the place of the next."""
        holds = code.load("byte", code.at(mask, x), lanes).ne(0)
        if count:
            values = code.load(kind, code.at(source, x * size), lanes)
        else:
            values = code.ramp(code.cast("trunc", x, kind), lanes)
        return to + _pack(code, values, holds, code.at(target, to * size))

    first = code.read("long", code.at(starts, chunk * 8))
    head = code.binary("and", x1 - x0, -ROUND) + x0
    rounds = Branch(code, head > x0)
    with rounds.side(), Loop(code, [x0, first]) as loop:
        x, to = loop.params
        if count:
            code.fetch(code.at(source, x * size), AHEAD, ROUND * size)
        step = lanes_of(unit, count, machine)
        for k in range(0, ROUND, step):
            to = pick(x + k, to) if step == 1 else pick_vector(x + k, to, step)
        loop.next(x + ROUND < head, [x + ROUND, to])
    (after,) = rounds.join([loop.results[1]], [first])
    with when(code, head < x1), Loop(code, [head, after]) as loop:
        x, to = loop.params
        loop.next(x + 1 < x1, [x + 1, pick(x, to)])
    return code.span()
