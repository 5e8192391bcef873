"""Which values of a function of bytes are small whole numbers, and how few bits hold each.

A texel of 8 bits is a whole number of 255ths, a condition counts as 0 or 1, and what is added up,
chosen or compared of those stays whole. A value is known by its unit, in which it is whole, and by
what it lies between; nothing is rounded, so the results are those of floats to the bit.

Texels times known weights, added up, are whole in parts of a 255th: those of a Gauss of nine taps
in sixteenths. Floats round such sums, so these are *not exact* here: they are not compared, and end
in bytes, which are those of floats but where a sum lies halfway between two.

    narrow = Narrow.of(task, varying)                        # None where a value is none of these
    narrow.small[value]                                      # Small(unit="whole", low=0, high=25)
    narrow.sums[value]                                       # Sum(terms=((texel, 2), ...), more=0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm.plan import Near
from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.ssa import Op, Value, constant_of

Unit = Literal["whole", "texel"]  # 1, and 255ths, of floats
LEAST: Final = -(2**15)
MOST: Final = 2**15 - 1
PARTS: Final = 256  # of a 255th, at most
TESTS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    code: row.operators[0] for code, row in TABLE.items() if row.is_comparison
}
LOGIC: Final = frozenset(("not", "bit_and", "bit_or", "bit_xor", "bit_not", "select"))
STORED: Final = frozenset(("uint8", "int32", "float32", "bool"))


@record
class Small:
    """A whole number of units, or of so many parts of one, between two ends."""

    unit: Unit
    low: int
    high: int
    parts: int = 1
    exact: bool = True  # whether floats have the same value

    @property
    def kind(self) -> str:
        """What holds it: `byte` has no sign, `short` has one, where any value needs it."""
        return "byte" if self.low >= 0 and self.high <= 255 else "short"

    @property
    def fits(self) -> bool:
        """Whether a register holds it, one without a sign where it is large: no two of those are
        compared."""
        if self.high <= MOST:
            return self.low >= LEAST
        return self.low >= 0 and self.high + self.parts // 2 < 2**16

    @property
    def compares(self) -> bool:
        """Whether it may be compared, with a sign: as floats are, or as ints."""
        return self.exact and self.high <= MOST

    def in_parts(self, parts: int) -> Small:
        """This number as one of smaller parts of its unit: 3 quarters are 12 sixteenths."""
        times = parts // self.parts
        return replace(self, low=self.low * times, high=self.high * times, parts=parts)

    def numbers(self) -> Any:
        """All that it can be, as floats of 32 bits have them (ints that small are as exact)."""
        whole = np.arange(self.low, self.high + 1, dtype=np.float32)
        return whole / np.float32(255) if self.unit == "texel" else whole


def count(value: Value, unit: Unit) -> int | None:
    """A constant in a unit; None where it is not whole there, and of what is none."""
    number = constant_of(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) <= MOST:
        return None
    if unit == "whole":
        is_minus_nothing = number == 0 and math.copysign(1, number) < 0
        return int(number) if number == int(number) and not is_minus_nothing else None
    nearest = round(number * 255)
    exact = np.float32(nearest / 255) == np.float32(number)
    return nearest if exact and 0 <= nearest <= 255 and value.type.kind == "float" else None


def weight(value: Value) -> Fraction | None:
    """A constant as so many parts of 1; None where few parts do not give the float, and of what is
    no number."""
    number = constant_of(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) <= MOST:
        return None
    found = Fraction(number).limit_denominator(PARTS)
    return found if np.float32(found.numerator / found.denominator) == np.float32(number) else None


BOUNDS: Final = ("lt", "le", "gt", "ge")


def threshold(small: Small, test: str, number: float) -> tuple[str, int] | bool:
    """A comparison with a number as one of the count of units: ("ge", 128). A bool where all that
    it can be give the same."""
    truth = TESTS[test](small.numbers(), np.float32(number) if small.unit == "texel" else number)
    if truth.all() or not truth.any():
        return bool(truth[0])
    at = int(np.argmax(truth != truth[0])) + small.low
    if test in ("eq", "ne"):
        return test, int(np.argmax(truth == (test == "eq"))) + small.low
    return ("lt" if truth[0] else "ge"), at


def _ends(code: str, parts: Sequence[Small]) -> tuple[int, int]:
    """What the result of an operation on numbers of one unit lies between."""
    rule = TABLE[code].range
    assert rule is not None, code
    low, high = rule([(part.low, part.high) for part in parts])
    return int(low), int(high)


@record
class Sum:
    """Values times whole numbers, and one more number, added up: in the parts of their sum."""

    terms: tuple[tuple[Value, int], ...]
    more: int


class Narrow:
    """See the module's head. Values that are no numbers but conditions are bits, and are not
    here; neither are those that do not vary along a row."""

    def __init__(self, task: Task, varying: Mapping[Value, int]) -> None:
        self.task, self.varying = task, varying
        self.near = Near.of(task.function, task.inputs)
        self.small: dict[Value, Small] = {}
        self.sums: dict[Value, Sum] = {}  # of those that are not exact
        self.results: NDArray[np.uint8] | None = None  # what each byte is stored as: see lookup.py

    @classmethod
    def of(cls, task: Task, varying: Mapping[Value, int]) -> Narrow | None:
        """`varying` says of values whether they change from pixel to pixel. None where one that
        does is neither small nor a condition, or a result is stored otherwise."""
        found = cls(task, varying)
        if not all(found._takes(op) for op in task.function.body.ops):
            return None
        stored = zip(task.function.outputs, task.outputs, strict=True)
        return found if found.small and all(found._stores(*each) for each in stored) else None

    def _takes(self, op: Op) -> bool:
        if op.regions:
            return False
        if op.code == "constant" or op in self.near.places:
            return True
        (result,) = op.results
        if op.code != "load" and not any(self._varies(value) for value in op.operands):
            return not self.varying[result]
        if op.code in TESTS:
            return self._compares(op)
        if result.type.kind == "bool":
            return op.code in LOGIC and all(v.type.kind == "bool" for v in op.operands)
        made = self._made(op) if result.type.size == 1 else None
        if made is None or not made.fits:
            return False
        self.small[result] = made
        return True

    def _varies(self, value: Value) -> bool:
        return bool(self.varying.get(value)) and constant_of(value) is None

    def _stores(self, value: Value, format: Format) -> bool:
        if format.channels != 1 or format.dtype.name not in STORED:
            return False
        if value.type.kind == "bool":
            return self._varies(value)
        if value not in self.small:
            return False
        match format.dtype.name:
            case "int32":
                return value.type.kind == "int"
            case "float32":
                return value.type.kind == "float" and self.small[value].unit == "whole"
            case name:
                return name == "uint8"

    def _compares(self, op: Op) -> bool:
        first, second = op.operands
        if first.type.size > 1 or first.type.kind == "bool":
            return False
        if first not in self.small:
            first, second = second, first
        one, other = self.small.get(first), self.small.get(second)
        if one is None or not all(each.compares for each in (one, other) if each is not None):
            return False
        if other is not None:
            return one.unit == other.unit
        return isinstance(constant_of(second), (int, float)) or self._limits(op.code, one, second)

    def _limits(self, code: str, small: Small, limit: Value) -> bool:
        """Whether a number that is not known, but one for all pixels, bounds a count of units."""
        kind = "float" if small.unit == "texel" else "int"
        is_one = limit.type.kind == kind and not self.varying.get(limit)
        return is_one and code in BOUNDS and small.parts == 1

    # ------------------------------------------------ operations

    def _made(self, op: Op) -> Small | None:
        rule = _RULES.get(op.code)
        return None if rule is None else rule(self, op)

    def _load(self, op: Op) -> Small | None:
        format = self.task.inputs[op.data.image]
        if format.dtype != np.uint8 or format.channels != 1 or op not in self.near.loads:
            return None
        return Small("texel" if format.is_scaled else "whole", 0, 255)

    def _alike(self, values: Sequence[Value]) -> list[Small] | None:
        """The values in one unit; None where they have none in common."""
        units: list[Unit] = [self.small[v].unit for v in values if v in self.small] or ["whole"]
        for unit in dict.fromkeys(units):
            found = []
            for value in values:
                known = self.small.get(value)
                if known is not None and not known.exact:
                    return None
                number = count(value, unit) if known is None else None
                if known is None and number is not None:
                    known = Small(unit, number, number)
                if known is None or known.unit != unit:
                    return None
                found.append(known)
        return found

    def _chosen(self, op: Op) -> Small | None:
        values = op.operands[1:] if op.code == "select" else op.operands
        parts = self._alike(values) or self._in_parts(values)
        if parts is None or op.operands[0].type.size > 1:
            return None
        if op.code != "select" and any(part.high > MOST for part in parts):
            return None
        low, high = _ends(op.code, parts)
        return replace(parts[0], low=low, high=high)

    def _in_parts(self, values: Sequence[Value]) -> list[Small] | None:
        """Sums and texels in the same parts of a 255th; None where they have none in common."""
        found = [part for value in values if (part := self.part(value)) is not None]
        if len(found) < len(values):
            return None
        parts = math.lcm(*[each.parts for each in found])
        scaled = [each.in_parts(parts) for each in found]
        if parts > PARTS or not all(each.low >= LEAST and each.high <= MOST for each in scaled):
            return None  # shorts are compared with their signs
        return [replace(each, exact=False) for each in scaled]

    def part(self, value: Value) -> Small | None:
        """What is known of a texel, or of a sum of texels; a known number counts as a texel of this
        value. None for other values."""
        if constant_of(value) is None:
            known = self.small.get(value)
            return known if known is not None and known.unit == "texel" else None
        found = weight(value) if value.type.kind == "float" else None
        if found is None:
            return None
        found *= 255
        count, parts = found.numerator, found.denominator
        return Small("texel", count, count, parts, exact=False)

    def _converted(self, op: Op) -> Small | None:
        (value,) = op.operands
        if value.type.kind == "bool":
            return Small("whole", 0, 1)
        known = self.small.get(value)
        return known if known is not None and known.unit == "whole" else None

    def _weighed(self, op: Op) -> Small | None:
        """A sum of texels, and of such sums, times known weights."""
        one = Fraction(1)
        pairs: list[tuple[Value, Fraction | None]] = []
        match op.code:
            case "add" | "sub":
                first, second = op.operands
                pairs = [(first, one), (second, one if op.code == "add" else -one)]
            case "neg":
                pairs = [(op.operands[0], -one)]
            case "div":
                by = weight(op.operands[1])
                pairs = [(op.operands[0], 1 / by if by else None)]
            case "mul" | "fma":
                first, second, *rest = op.operands
                if constant_of(first) is not None:
                    first, second = second, first
                pairs = [(first, weight(second)), *[(value, one) for value in rest]]
        return self._added(op.result, pairs)

    def _added(self, result: Value, pairs: Sequence[tuple[Value, Fraction | None]]) -> Small | None:
        if result.type.kind != "float":
            return None
        units = []
        for value, by in pairs:
            known = self.part(value)
            if known is None or by is None:
                return None
            units.append((value, known, by / known.parts))
        parts = math.lcm(*[unit.denominator for _, _, unit in units])
        terms, more, low, high = [], 0, 0, 0
        for value, known, unit in units:
            times = int(unit * parts)
            ends = known.low * times, known.high * times
            low, high = low + min(ends), high + max(ends)
            if constant_of(value) is None:
                terms.append((value, times))
            else:
                more += known.low * times
        if parts > PARTS or not terms:
            return None
        if len(terms) == 2 and not more and terms[0][1] == -terms[1][1] and _is_more(*terms):
            low = max(low, 0)
        self.sums[result] = Sum(tuple(terms), more)
        return Small("texel", low, high, parts, exact=False)

    def difference(self, value: Value) -> tuple[Value, Value] | None:
        """The two bytes of which a value is the first less the second; None where it is not."""
        made, op = self.sums.get(value), value.op
        pair = op.operands if made is None and op is not None and op.code == "sub" else ()
        if made is not None and not made.more:
            ordered = sorted(made.terms, key=lambda term: -term[1])
            is_plain = [times for _, times in ordered] == [1, -1]
            pair = tuple([each for each, _ in ordered]) if is_plain else ()
        known = [self.small[each] for each in (value, *pair) if each in self.small]
        alike = len({(each.unit, each.parts) for each in known}) == 1
        if len(known) != 3 or not alike or any(each.kind != "byte" for each in known[1:]):
            return None
        return pair[0], pair[1]

    def _positive(self, op: Op) -> Small | None:
        """How much it is, without its sign."""
        known = self.small.get(op.operands[0])
        if known is None or known.high > MOST or known.low == LEAST:
            return None
        ends = abs(known.low), abs(known.high)
        return replace(known, low=0 if known.low < 0 < known.high else min(ends), high=max(ends))

    def _summed(self, op: Op) -> Small | None:
        parts = self._alike(op.operands)
        if parts is None or parts[0].unit != "whole":
            return self._scaled(op) or self._weighed(op)
        made = Small("whole", *_ends(op.code, parts))
        if op.code == "sub" and _is_more((op.operands[0], 1), (op.operands[1], -1)):
            made = replace(made, low=max(made.low, 0))
        if op.code == "mul":
            is_signed = op.result.type.kind == "float" and min(part.low for part in parts) < 0
            return None if is_signed else made  # nothing times less than nothing is -0.0
        first = Small("whole", *_ends("mul", parts[:2])) if op.code == "fma" else parts[0]
        return made if first.fits else None

    def _scaled(self, op: Op) -> Small | None:
        """A count times or over 255, and back, where floats give that exactly."""
        value, number = op.operands[0], constant_of(op.operands[-1])
        if op.code == "mul" and constant_of(value) is not None:
            value, number = op.operands[1], constant_of(value)
        known = self.small.get(value)
        if op.code not in ("mul", "div") or known is None or not isinstance(number, float):
            return None
        if not known.exact:
            return None
        factor = np.float32(number)
        with np.errstate(all="ignore"):
            numbers = known.numbers()
            numbers = numbers / factor if op.code == "div" else numbers * factor
        if known.unit == "whole" and known.kind != "byte":
            return None
        other = Small("texel" if known.unit == "whole" else "whole", known.low, known.high)
        return other if np.array_equal(numbers, other.numbers()) else None

    def _joined(self, op: Op) -> Small | None:
        parts = self._alike(op.operands)
        if parts is None or op.result.type.kind != "int" or min(p.low for p in parts) < 0:
            return None
        if op.code == "bit_and":
            return Small("whole", 0, min(p.high for p in parts))
        bits = max(p.high for p in parts).bit_length()
        return Small("whole", 0, 2**bits - 1)

    def _shifted(self, op: Op) -> Small | None:
        known, places = self.small.get(op.operands[0]), constant_of(op.operands[1])
        if known is None or known.low < 0 or not isinstance(places, int) or not 0 <= places < 15:
            return None
        if op.result.type.kind != "int":
            return None
        if op.code == "shr":
            return Small("whole", known.low >> places, known.high >> places)
        return Small("whole", known.low << places, known.high << places)

    def _parted(self, op: Op) -> Small | None:
        """An int without a sign over a known one, or what is left of it."""
        known, number = self.small.get(op.operands[0]), constant_of(op.operands[1])
        if known is None or known.low < 0 or op.result.type.kind != "int":
            return None
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= MOST:
            return None
        if op.code == "floordiv":
            return Small("whole", known.low // number, known.high // number)
        return Small("whole", 0, min(known.high, number - 1))


def _is_more(*terms: tuple[Value, int]) -> bool:
    """Whether of two values the one that is added cannot be less than the one that is taken away:
    the greatest of some values, among which is one of which that is the least."""
    (least, _), (greatest, _) = sorted(terms, key=lambda term: term[1])
    return not _compared(greatest, "max").isdisjoint(_compared(least, "min"))


def _compared(value: Value, code: str) -> set[Value]:
    """The values of which one is the greatest or least, and itself."""
    found, pending = set(), [value]
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            if each.op is not None and each.op.code == code:
                pending += each.op.operands
    return found


_Rule = Callable[[Narrow, Op], Small | None]
_RULES: Final[dict[str, _Rule]] = {
    "load": Narrow._load,
    **dict.fromkeys(("min", "max", "select"), Narrow._chosen),
    **dict.fromkeys(("to_int", "to_float"), Narrow._converted),
    **dict.fromkeys(("add", "sub", "mul", "fma"), Narrow._summed),
    "div": lambda narrow, op: narrow._scaled(op) or narrow._weighed(op),
    "neg": Narrow._weighed,
    "abs": Narrow._positive,
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), Narrow._joined),
    **dict.fromkeys(("shl", "shr"), Narrow._shifted),
    **dict.fromkeys(("floordiv", "mod"), Narrow._parted),
}
assert _RULES.keys() - {"load", "select"} <= TABLE.keys()
