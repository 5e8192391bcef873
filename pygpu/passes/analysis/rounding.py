"""What may be rounded otherwise than it is written: drivers fuse products with sums, and put
constant factors together, where nothing forbids it.

    settled(function)           # values that come out the same whatever a driver fuses
    scales(op)                  # whether its constant factors may be put together
"""

from __future__ import annotations

from typing import Final

from pygpu.ssa import Function, Op, Value, constant_of, walk

UNIT: Final = 2.0**-24  # of lanes, which hold whole numbers of it: the least float16
# Floats hold sums of what leaves lanes, so many times at most, and of constants of fewer units.
_TIMES: Final = 64
_MANY: Final = 1 << 16


def settled(function: Function) -> set[Value]:
    """Of what leaves lanes: sums that floats hold exactly, and those of no product, which there is
    nothing to fuse with. An `fma` is none: it is fused already."""
    found = _whole(function)
    for op in walk(function.body):
        among = [value in found for value in op.operands]
        if (op.code == "fma" and any(among)) or (op.code in ("add", "sub") and all(among)):
            found.update(op.results)
    return found


def _whole(function: Function) -> set[Value]:
    """Sums of what leaves lanes, which floats hold exactly as long as they are not of sums of sums
    in turn many times."""
    found: set[Value] = set()
    for op in walk(function.body):
        parts = list(op.operands)
        if op.code == "fma":  # a small number of times
            parts = [value for value in parts[:2] if not _is_small(value)] + parts[2:]
        is_sum = op.code in ("add", "sub", "fma") and len(parts) == 2
        is_exact = is_sum and all(value in found or _is_in_units(value) for value in parts)
        if is_exact or op.code in ("lane_low", "lane_high"):
            found.update(op.results)
    return found


def _is_small(value: Value) -> bool:
    """Whether a value is a constant that may be a factor of what leaves lanes."""
    number = constant_of(value)
    return isinstance(number, float) and number % 1 == 0 and abs(number) <= _TIMES


def _is_in_units(value: Value) -> bool:
    """Whether a value is a constant that may be added to what leaves lanes."""
    number = constant_of(value)
    return isinstance(number, float) and number % UNIT == 0 and abs(number) < _MANY * UNIT


def scales(op: Op) -> bool:
    """Whether a product is of a product: drivers put constant factors together."""
    return any(value.op is not None and value.op.code == "mul" for value in op.operands)
