"""Chooses which two of three are compared first, where the least, the middle or the greatest of
three is wanted: two that other threes have too, so that pixels next to each other share the
comparison.

    max(min(a, b), min(max(a, b), c))   ->   max(min(b, c), min(max(b, c), a))   # as of b, c and d

Where sums are exact, as in lanes, what remains of a sum is known without a comparison:

    max(a, b)   ->   a + b - min(a, b)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from pygpu.core.operations.ops import OPEN
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate
from pygpu.ssa import Function, Op, Value, uses, walk

Two = tuple[Value, Value]
Three = frozenset[Value]

# The lesser of two, the greater of two, and their data: where NaN cannot be, or leaves all open.
_ORDERS: Final = (("min", "max", OPEN), ("lanes_min", "lanes_max", None))


def share_pairs(function: Function, sums: bool = False) -> Function:
    """The function with threes compared so that they have most in common. In lanes, where `sums`
    of three are exact too, the middle is what the least and the greatest leave of them."""
    threes: dict[Value, tuple[str, Three, Sequence[Value]]] = {}
    used = uses(function)
    for op in walk(function.body):
        for low, high, data in _ORDERS:
            if op.code in (low, high) and op.data == data:
                found = _middle(op, low, high) or _extreme(op, used)
                if found is not None and len(set(found[1])) == 3:
                    threes[op.result] = found[0], frozenset(found[1]), found[1]
    if not threes:
        return function
    first = _choice({three: members for _, three, members in threes.values()})
    known = {(kind, three) for kind, three, _ in threes.values()}

    def rebuilt(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.result not in threes:
            return None
        kind, three, members = threes[op.result]
        low, high, data = next(order for order in _ORDERS if op.code in order)
        a, b = gate.mapped(first[three])
        (c,) = gate.mapped([value for value in members if value not in first[three]])
        if kind != "middle":
            return [gate(kind, gate(kind, a, b, data=data), c, data=data)]
        if sums and {(low, three), (high, three)} <= known and low == "lanes_min":
            left = gate("lanes_add", gate("lanes_add", a, b), c)
            for code in (low, high):
                left = gate("lanes_sub", left, gate(code, gate(code, a, b), c))
            return [left]
        # Either of two forms; in one the third is compared as it was made, which some devices take
        # for a comparison of three, and are slow at in lanes.
        if c.op is not None and c.op.code == low:
            low, high = high, low
        lesser, greater = gate(low, a, b, data=data), gate(high, a, b, data=data)
        return [gate(high, lesser, gate(low, greater, c, data=data), data=data)]

    codes = [code for low, high, _ in _ORDERS for code in (low, high)]
    return remove_dead(Gate(function, dict.fromkeys(codes, rebuilt)).run())


def greater_by_sums(function: Function) -> Function:
    """The function with a + b - lesser for the greater of two lanes of which the lesser is known
    too: comparisons are for fewer units of a device than sums."""
    lesser = {frozenset(op.operands) for op in walk(function.body) if op.code == "lanes_min"}

    def greater(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if frozenset(op.operands) not in lesser:
            return None
        both = gate("lanes_add", *operands)
        return [gate("lanes_sub", both, gate("lanes_min", *operands))]

    return remove_dead(Gate(function, {"lanes_max": greater}).run())


def _extreme(op: Op, used: Mapping[Value, int]) -> tuple[str, Sequence[Value]] | None:
    """The least or the greatest of three: its code, and the three. Of these, one may itself be the
    least or the greatest of others where it is wanted elsewhere too, and the first two are not."""
    for this, other in (op.operands, op.operands[::-1]):
        parts = _parts(this, op.code, op.data)
        nested = [each for each in (*parts, other) if _parts(each, op.code, op.data)]
        if parts and (not nested or (used[this] == 1 and all(used[each] > 1 for each in nested))):
            return op.code, (*parts, other)
    return None


def _middle(op: Op, low: str, high: str) -> tuple[str, Sequence[Value]] | None:
    """The middle one of three."""
    one, other = (low, high) if op.code == high else (high, low)
    for lesser, rest in (op.operands, op.operands[::-1]):
        pair, of_rest = _parts(lesser, one, op.data), _parts(rest, one, op.data)
        for greater, third in (of_rest, of_rest[::-1]) if pair and of_rest else ():
            if set(_parts(greater, other, op.data)) == set(pair):
                return "middle", (*pair, third)
    return None


def _parts(value: Value, code: str, data: object) -> Sequence[Value]:
    """What a value is the lesser or the greater of; nothing where it is not."""
    op = value.op
    return op.operands if op is not None and op.code == code and op.data == data else ()


def _choice(threes: dict[Three, Sequence[Value]]) -> dict[Three, Two]:
    """For each three the two that go first: those that most of the others not decided yet have."""
    having: dict[Three, list[Three]] = {}
    for three, members in threes.items():
        for two in _twos(members):
            having.setdefault(frozenset(two), []).append(three)
    chosen: dict[Three, Two] = {}
    for three, members in threes.items():
        if three in chosen:
            continue
        open_ = {
            two: [t for t in having[frozenset(two)] if t not in chosen] for two in _twos(members)
        }
        two = max(open_, key=lambda two: len(open_[two]))
        chosen.update(dict.fromkeys(open_[two], two))
    return chosen


def _twos(members: Sequence[Value]) -> Iterator[Two]:
    return combinations(members, 2)
