"""Native code of functions of bytes: the span of any function (codegen/llvm/span.py), but in lanes
of 8 bits, of which a register holds four times as many as of floats.

A value that needs 16 bits has two registers for what others have in one. Where a function has a
value that is no small number it is written as any other: see values.py.

    narrow = narrowed(task, machine)     # None: no such function
    emit(narrow, machine)                # as that of span.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.codegen.llvm.block import Block, Values
from pygpu.codegen.llvm.memory import store_block
from pygpu.codegen.llvm.plan import chooses, plan
from pygpu.codegen.llvm.schedule import Cell
from pygpu.codegen.llvm.span import Emitted, Writer
from pygpu.codegen.llvm.text import FLOAT_TESTS, INT_TESTS, Machine, Val
from pygpu.codegen.narrow.lookup import OfBytes, looked_up
from pygpu.codegen.narrow.values import TESTS, Narrow, Small, count, threshold
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.analysis.variance import variance
from pygpu.passes.simplify.if_conversion import convert_loading
from pygpu.ssa import Op, Value, constant_of

FEATURE: Final = "avx512bw"  # without it registers of 64 bytes are for floats alone


def narrowed(task: Task, machine: Machine) -> Narrow | None:
    """The small values of a function that is one for narrow lanes; None of any other."""
    if chooses(task) or (machine.lanes >= 16 and not machine.has(FEATURE)):
        return None
    flat = convert_loading(task.function)
    return Narrow.of(replace(task, function=flat), variance(flat))


def of_a_table(byte: OfBytes) -> Narrow:
    """The bytes that a task of lookup.py hands on, and what becomes of each."""
    narrow = Narrow.of(byte.task, variance(byte.task.function))
    assert narrow is not None, byte.task.function
    narrow.results = byte.results
    return narrow


def emit(
    narrow: Narrow, machine: Machine, wide: bool = False, group: int = 1, at_ends: bool = False
) -> Emitted:
    """The span of a function in narrow lanes: what `span.emit` gives of any other function."""
    machine = replace(machine, lanes=4 * machine.lanes)
    layout = plan(narrow.task, machine.lanes, True, group)
    writer = _Writer(narrow.task, machine, layout, wide)
    writer.narrow, writer.at_ends = narrow, at_ends
    return Emitted(writer.write(), layout)


class _Writer(Writer):
    """Writes `span` in narrow lanes. Small values are in `env` in the kind that holds them."""

    narrow: Narrow

    def as_kind(self, value: Value, kind: str, cell: Cell, like: Value) -> Val:
        """A small value, or a constant in the unit of another, in lanes of a kind."""
        unit, known = self.narrow.small[like], self.narrow.small.get(value)
        if known is None:
            return self.constant(kind, self.number(value, unit))
        (held,) = self.get(value, cell)
        return self.times(self.resized(held, kind), unit.parts // known.parts)

    def number(self, value: Value, unit: Small) -> int:
        """A constant in the unit of a small value."""
        number = count(value, unit.unit)
        if number is None or unit.parts > 1:
            part = self.narrow.part(value)
            assert part is not None, value
            number = part.in_parts(unit.parts).low
        return number

    def times(self, held: Val, number: int) -> Val:
        if number == 1:
            return held
        return self.code.binary("mul", held, self.constant(held.kind, number))

    def constant(self, kind: str, number: int) -> Val:
        """In the bits of that kind."""
        half = 2**7 if kind == "byte" else 2**15 if kind == "short" else 2**31
        return self.code.constant(kind, (number + half) % (2 * half) - half)

    def resized(self, held: Val, kind: str) -> Val:
        if held.kind == kind:
            return held
        return self.code.cast("zext" if kind == "short" else "trunc", held, kind)

    def simple(self, op: Op, cell: Cell) -> Values:
        (result,) = op.results
        if op.code in TESTS and any(value in self.narrow.small for value in op.operands):
            return (self.compared(op, cell),)
        if result not in self.narrow.small:
            return super().simple(op, cell)
        return (self.small(op, cell),)

    def compared(self, op: Op, cell: Cell) -> Val:
        (first, second), test = op.operands, op.code
        if first not in self.narrow.small:
            first, second, test = second, first, TABLE[test].exchanged
        number = constant_of(second)
        if number is None and second not in self.narrow.small:
            return self.bounded(first, test, self.get(second, cell)[0], cell)
        if number is None:
            kinds = {self.narrow.small[value].kind for value in (first, second)}
            kind = "byte" if kinds == {"byte"} else "short"
            a, b = (self.as_kind(value, kind, cell, first) for value in (first, second))
            return self.test(test, a, b)
        assert isinstance(number, (int, float))
        known = self.narrow.small[first]
        found = threshold(known, test, number)
        if isinstance(found, bool):
            return self.code.constant("bool", found, self.machine.lanes)
        a = self.as_kind(first, known.kind, cell, first)
        return self.test(found[0], a, self.constant(known.kind, found[1]))

    def bounded(self, value: Value, test: str, limit: Val, cell: Cell) -> Val:
        """A comparison with a number that is one for all pixels, as one of the count of units: the
        least count that is as large (or larger) is found once, by comparing the few around it."""
        code, known = self.code, self.narrow.small[value]
        below = "le" if test in ("gt", "le") else "lt"
        first = (
            limit if known.unit == "whole" else code.to_int(code.arithmetic("mul", limit, 255.0))
        )
        first = code.binary("sub", code.clamp(first, known.low - 1, known.high + 1), 1)
        least = first
        for k in range(3):
            number = code.binary("add", first, k)
            if known.unit == "texel":
                number = code.arithmetic("div", code.to_float(number), 255.0)
            is_below = code.compare(below, number, limit)
            least = code.binary("add", least, code.cast("zext", is_below, "int"))
        is_none = code.compare("gt", least, known.high)
        held = code.cast("trunc", code.clamp(least, known.low, known.high), known.kind)
        a = self.as_kind(value, known.kind, cell, value)
        if test in ("lt", "le"):
            return code.binary("or", self.test("lt", a, held), is_none)
        is_number = code.compare("eq", limit, limit)
        some = code.binary("and", is_number, code.binary("xor", is_none, 1))
        return code.binary("and", self.test("ge", a, held), some)

    def test(self, test: str, a: Val, b: Val) -> Val:
        """A comparison; shorts have a sign."""
        if a.kind == "byte":
            return self.code.compare(test, a, b)
        a, b = self.code.level(a, b)
        return self.code.make("bool", f"icmp {INT_TESTS[test]} {a.type} {a.text}, {b.text}", a, b)

    def small(self, op: Op, cell: Cell) -> Val:
        """An operation whose result is small."""
        code, (result,) = self.code, op.results
        known = self.narrow.small[result]
        if result in self.narrow.sums:
            return self.summed(result, cell)
        if op.code in ("abs", "max"):
            difference = self.difference(op, cell)
            if difference is not None:
                return self.resized(difference, known.kind)
        if op.code in ("to_int", "to_float") and op.operands[0].type.kind == "bool":
            (held,) = self.get(op.operands[0], cell)
            return code.select(held, self.constant("byte", 1), self.constant("byte", 0))
        if op.code in ("to_int", "to_float", "div") or known.unit != self.unit_of(op):
            value = next(value for value in op.operands if value in self.narrow.small)
            return self.as_kind(value, known.kind, cell, value)
        values = op.operands[1:] if op.code == "select" else op.operands
        if op.code == "mul":
            chosen = self.conditional(op, cell)
            if chosen is not None:
                return chosen
        small = [self.narrow.small[v] for v in values if v in self.narrow.small]
        kinds = {each.in_parts(known.parts).kind for each in small}
        in_bytes = {known.kind, *kinds} == {"byte"} and op.code not in _SHORT
        if in_bytes and op.code in ("min", "max"):  # whose limits may be none of a byte's
            limits = [self.number(v, known) for v in values if v not in self.narrow.small]
            in_bytes = all(0 <= limit < 2**8 for limit in limits)
        kind = "byte" if in_bytes else "short"
        parts = [self.as_kind(value, kind, cell, result) for value in values]
        return self.resized(self.computed(op, parts, cell), known.kind)

    def difference(self, op: Op, cell: Cell) -> Val | None:
        """The difference of two bytes without its sign, or nothing where it has one, in bytes. None
        for what is neither."""
        value, *others = op.operands
        if others and constant_of(value) is not None:
            value, others = others[0], [value]
        pair = self.narrow.difference(value)
        if pair is None or any(constant_of(each) != 0 for each in others):
            return None
        return self.apart(pair, cell, op.code == "abs")

    def apart(self, pair: tuple[Value, Value], cell: Cell, is_either: bool) -> Val:
        """How much more the first is than the second, nothing where it is less; or the second."""
        code, ((first,), (second,)) = self.code, (self.get(value, cell) for value in pair)
        least = code.minimum(first, second) if is_either else second
        return code.binary("sub", code.maximum(first, second), least)

    def summed(self, result: Value, cell: Cell) -> Val:
        """Values times known numbers, added up. What is between may be too large: only the sum, of
        which no bit is lost, is known to fit."""
        code, made, small = self.code, self.narrow.sums[result], self.narrow.small
        kinds = {small[value].kind if abs(times) == 1 else "short" for value, times in made.terms}
        kind = "byte" if {small[result].kind, *kinds} == {"byte"} else "short"
        total: Val | None = self.constant(kind, made.more) if made.more else None
        for value, times in made.terms:
            (held,) = self.get(value, cell)
            held = self.resized(held, kind)
            if total is None:
                total = self.times(held, times)
            elif times < 0:
                total = code.binary("sub", total, self.times(held, -times))
            else:
                total = code.binary("add", total, self.times(held, times))
        assert total is not None, result
        return self.resized(total, small[result].kind)

    def unit_of(self, op: Op) -> str:
        """The unit of what an operation takes."""
        values = op.operands[1:] if op.code == "select" else op.operands
        units = [self.narrow.small[v].unit for v in values if v in self.narrow.small]
        return units[0] if units else self.narrow.small[op.results[0]].unit

    def conditional(self, op: Op, cell: Cell) -> Val | None:
        """A product with a condition, which is 0 or 1, as a choice: processors have no product of
        bytes. None for other products."""
        (result,) = op.results
        for factor, other in (op.operands, op.operands[::-1]):
            made = factor.op
            is_flag = made is not None and made.code in ("to_int", "to_float")
            if made is not None and is_flag and made.operands[0].type.kind == "bool":
                (held,) = self.get(made.operands[0], cell)
                kind = self.narrow.small[result].kind
                part = self.as_kind(other, kind, cell, result)
                return self.code.select(held, part, self.constant(kind, 0))
        return None

    def computed(self, op: Op, parts: Sequence[Val], cell: Cell) -> Val:
        """An operation on parts of one kind."""
        code = self.code
        match op.code:
            case "min" | "max":
                first, second = parts
                test = self.test("lt" if op.code == "min" else "gt", second, first)
                return code.select(test, second, first)
            case "select":
                (condition,) = self.get(op.operands[0], cell)
                return code.select(condition, *parts)
            case "abs":
                (held,) = parts
                zero = self.constant(held.kind, 0)
                less = self.test("lt", held, zero)
                return code.select(less, code.binary("sub", zero, held), held)
            case "fma":
                a, b, c = parts
                return code.binary("add", code.binary("mul", a, b), c)
            case _:
                return code.binary(_OPCODES[op.code], *parts)

    # ------------------------------------------------------------ results

    def write_row(self, r: int, targets: list[Val], lanes: int) -> None:
        code = self.code
        for value, format, target in zip(self.f.outputs, self.outputs, targets, strict=True):
            start = code.at(target, code.cast("sext", self.x, "long") * format.dtype.itemsize)
            for u in range(self.plan.vectors):
                place = code.at(start, u * lanes * format.dtype.itemsize)
                stored = code.splat(self.stored(value, format, (u, r)), lanes)
                store_block(code, [stored], place, format, raw=True)

    def stored(self, value: Value, format: Format, cell: Cell) -> Val:
        """A result as it stands in memory: see device.Task."""
        code, name = self.code, format.dtype.name
        (held,) = Block.get(self, value, cell)
        if held.kind == "bool":
            most = {"uint8": 255, "float32": 1.0}.get(name, 1)
            kind = {"uint8": "byte", "bool": "byte", "int32": "int"}.get(name, "float")
            if kind == "byte":
                return code.select(held, self.constant(kind, int(most)), self.constant(kind, 0))
            return code.select(held, code.constant(kind, most), code.constant(kind, 0))
        known = self.narrow.small[value]
        if self.narrow.results is not None:
            return looked_up(code, code.splat(held, self.machine.lanes), self.narrow.results)
        if name in ("int32", "float32"):
            wide = code.cast("zext" if known.low >= 0 else "sext", held, "int")
            return code.to_float(wide) if name == "float32" else wide
        if value.type.kind == "float" and known.unit == "whole":
            above = self.test("ne" if known.low >= 0 else "gt", held, self.constant(held.kind, 0))
            return code.select(above, self.constant("byte", 255), self.constant("byte", 0))
        pair = self.narrow.difference(value) if known.low < 0 and known.parts == 1 else None
        if pair is not None:
            return self.apart(pair, cell, False)
        if known.low < 0:
            zero = self.constant("short", 0)
            held = code.select(self.test("gt", held, zero), held, zero)
        if known.high > 255 * known.parts:  # from here on without a sign
            held = code.minimum(held, self.constant("short", 255 * known.parts))
        if known.parts > 1:
            half = self.constant("short", known.parts // 2)
            held = code.binary("add", self.resized(held, "short"), half)
            held = code.binary("udiv", held, self.constant("short", known.parts))
        return self.resized(held, "byte")


_OPCODES: Final = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "bit_and": "and",
    "bit_or": "or",
    "bit_xor": "xor",
    "shl": "shl",
    "shr": "lshr",
    "floordiv": "udiv",
    "mod": "urem",
}
_SHORT: Final = frozenset(("mul", "fma", "shl", "shr", "floordiv", "mod"))  # never in bytes
assert TESTS.keys() <= FLOAT_TESTS.keys()
