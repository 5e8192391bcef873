"""What may be rounded otherwise than it is written: drivers fuse products with sums, and put
constant factors together, where nothing forbids it.

    settled(function)           # values that come out the same whatever a driver fuses
    repeats(op); scales(op); regroups(op)   # operations that drivers are known to make others of
    distributes(function)       # whether such may be in it that no operation shows alone
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pygpu.ssa import Function, Op, Value, constant_of, walk

UNIT: Final = 2.0**-24  # of lanes, which hold whole numbers of it: the least float16
# Floats hold sums of what leaves lanes, so many times at most, and of constants of fewer units.
_TIMES: Final = 64
_MANY: Final = 1 << 16
_DEEP: Final = 3  # operations into a sum: NVIDIA's driver was seen to look two deep
_DEEPER: Final = 8  # more than it was seen to look
_LINEAR: Final = frozenset("add sub mul div neg fma splat construct swizzle".split())


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


def repeats(op: Op) -> bool:
    """Whether a factor of an `fma` is part of what is added: NVIDIA's driver (580.159) makes other
    components of `fma(2.0, v.y, -v.y)`."""
    return op.code == "fma" and not _parts(op.operands[2]).isdisjoint(op.operands[:2])


def scales(op: Op) -> bool:
    """Whether a product is of a product: drivers put constant factors together."""
    return any(value.op is not None and value.op.code == "mul" for value in op.operands)


def regroups(op: Op) -> bool:
    """Whether an `fma` multiplies a multiple of what is also in its sum: of `fma(2.0 * a, 22.0,
    fma(a, 21.0, b))` and `fma(2.0 * a, 22.0, a + b)` NVIDIA's driver (580.159) loses the 2.0."""
    bases = {base for factor in op.operands[:2] for base in _bases(factor)}
    return bool(bases) and not bases.isdisjoint(_behind(op.operands[2], _DEEP, _operands))


def distributes(function: Function) -> bool:
    """Whether sums are multiplied by constants, and added to what shares a term with them: NVIDIA's
    driver (580.159) makes another sum of some of these, one in a thousand at random."""
    return any(op.code == "fma" and _shares(op) for op in walk(function.body))


def _shares(op: Op) -> bool:
    left, right, added = op.operands
    for factor, by in ((left, right), (right, left)):
        if constant_of(by) is not None and constant_of(factor) is None:
            terms = _behind(factor, _DEEPER, _summed)
            return not terms.isdisjoint(_behind(added, _DEEPER, _summed))
    return False


def _behind(value: Value, deep: int, operands: Callable[[Value], Sequence[Value]]) -> set[Value]:
    """A value, and what it is computed from, but for constants, so many operations deep."""
    found, last = {value}, {value}
    for _ in range(deep):
        parts = {part for each in last for part in operands(each)}
        last = {part for part in parts - found if constant_of(part) is None}
        found |= last
    return found


def _operands(value: Value) -> Sequence[Value]:
    return () if value.op is None or value.op.regions else value.op.operands


def _summed(value: Value) -> Sequence[Value]:
    """The operands of a sum, multiple or vector. A texel's components have no term in common."""
    op = value.op
    if op is None or op.code not in _LINEAR:
        return ()
    return () if op.code == "swizzle" and not _summed(op.operands[0]) else op.operands


def _bases(value: Value) -> set[Value]:
    """What a value is a multiple of, by a constant; nothing where it is none."""
    op, found = value.op, set[Value]()
    if op is None:
        return found
    if op.code in ("mul", "div", "add"):
        left, right = op.operands
        known = [constant_of(operand) is not None for operand in op.operands]
        if left is right or (op.code != "add" and known == [False, True]):
            found.add(left)  # or its square
        elif op.code == "mul" and known == [True, False]:
            found.add(right)
    elif op.code in ("neg", "splat", "construct", "swizzle"):
        found = {base for operand in op.operands for base in _bases(operand)}
    return found.union(*map(_bases, found))


def _parts(value: Value) -> set[Value]:
    """A value, and those that it is a product or the negative of."""
    parts, open_ = {value}, [value]
    while open_:
        op = open_.pop().op
        if op is not None and op.code in ("neg", "mul"):
            open_ += set(op.operands) - parts
            parts.update(op.operands)
    return parts
