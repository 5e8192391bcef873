"""What is known of ints that are not: whether they can be negative, and between which they lie.

is_natural(w, n)                    # of abs(n), n % 7, n & 255, p.x
range_of(w, (n % 7 + 1).value)      # (1, 7)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.values import Dynamic, Natural
from pygpu.ssa import Op, Value, constant_of

_LOW: Final = -(2**31)
_HIGH: Final = 2**31


def is_natural(w: Evaluator, value: Any) -> bool:
    """Whether an int is known never to be negative."""
    if isinstance(value, Natural) or scalar_kind(value) in ("bool", "uint"):
        return True
    if not isinstance(value, Dynamic):
        return bool(value >= 0)
    return _is_natural(w, value.value, 8)


def _is_natural(w: Evaluator, value: Value, depth: int) -> bool:
    if _is_place(w, value):
        return True
    op = value.op
    if op is None or depth == 0:
        return False
    number = constant_of(value)
    if number is not None:
        return isinstance(number, int) and number >= 0
    natural = [_is_natural(w, operand, depth - 1) for operand in op.operands]
    match op.code:
        case "abs" | "width" | "height" | "depth" | "plane":  # abs(-2**31) aside, which is itself
            return True
        case "to_int":
            return op.operands[0].type.kind == "bool"
        case "add":  # of a place in the image, which is far from 2**31
            step = constant_of(op.operands[1])
            is_small = isinstance(step, int) and 0 <= step < 1 << 30
            return _is_place(w, op.operands[0]) and (is_small or _is_place(w, op.operands[1]))
        case "max" | "bit_and":
            return any(natural)
        case "min" | "bit_or" | "floordiv":
            return all(natural)
        case "select":
            return all(natural[1:])
        case "shr":
            return natural[0]
        case "mod":
            return natural[1]
        case "table":
            return bool(w.build.tables[op.data.table].values.min() >= 0)
    return False


def _is_place(w: Evaluator, value: Value) -> bool:
    return value in (w.build.x, w.build.y) or value in w.environment.places


def range_of(w: Evaluator, value: Value, depth: int = 8) -> tuple[int, int] | None:
    """The least and the greatest that an int can be, where what made it says that."""
    number = constant_of(value)
    if isinstance(number, int):
        return int(number), int(number)
    op = value.op
    if op is None or depth == 0 or op.regions:
        return None
    if op.code == "table":
        values = w.build.tables[op.data.table].values
        return (int(values.min()), int(values.max())) if values.dtype.kind in "iu" else None
    if op.code == "to_int" and op.operands[0].type.kind == "bool":
        return 0, 1
    if op.code not in _RANGED:
        return None
    ranges = [range_of(w, operand, depth - 1) for operand in op.operands]
    return _RANGED[op.code](op, *ranges) if op.result.type.kind in ("int", "uint") else None


Range = tuple[int, int] | None


def _of_mod(op: Op, first: Range, second: Range) -> Range:
    return (0, second[1] - 1) if second is not None and second[0] == second[1] > 0 else None


def _of_mask(op: Op, *ranges: Range) -> Range:
    masks = [each[1] for each in ranges if each is not None and each[0] >= 0]
    return (0, min(masks)) if masks else None


def _of_sum(op: Op, first: Range, second: Range) -> Range:
    """A sum, difference or product, where it does not wrap."""
    if first is None or second is None:
        return None
    apply = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}[op.code]
    ends = [apply(x, y) for x in first for y in second]
    low, high = min(ends), max(ends)
    least, most = (0, 2**32 - 1) if op.result.type.kind == "uint" else (_LOW, _HIGH - 1)
    return (low, high) if least <= low and high <= most else None


def _of_quotient(op: Op, first: Range, second: Range) -> Range:
    if first is None or second is None or second[0] != second[1] or second[0] <= 0:
        return None
    return first[0] // second[0], first[1] // second[0]


def _of_select(op: Op, _: Range, first: Range, second: Range) -> Range:
    if first is None or second is None:
        return None
    return min(first[0], second[0]), max(first[1], second[1])


def _limited(op: Op, *ranges: Range) -> Range:
    """A clamp: max(min(x, high), low), and the other way round."""
    found = [each for each in ranges if each is not None]
    if len(found) == 2:
        pick = min if op.code == "min" else max
        return pick(found[0][0], found[1][0]), pick(found[0][1], found[1][1])
    inner = next((o.op for o in op.operands if constant_of(o) is None), None)
    if not found or inner is None or {op.code, inner.code} != {"min", "max"}:
        return None
    others = [constant_of(o) for o in inner.operands]
    other = next((int(each) for each in others if isinstance(each, int)), None)
    if other is None:
        return None
    low, high = (other, found[0][0]) if op.code == "min" else (found[0][0], other)
    return (low, high) if low <= high else None


_RANGED: Final[dict[str, Callable[..., Range]]] = {
    "mod": _of_mod,
    "bit_and": _of_mask,
    "add": _of_sum,
    "sub": _of_sum,
    "mul": _of_sum,
    "floordiv": _of_quotient,
    "select": _of_select,
    "min": _limited,
    "max": _limited,
}
