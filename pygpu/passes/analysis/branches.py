"""What values are after one side of an `if`, and which conditions a bool stands for.

left_by(branch, 1, [total])        # what `total` is after the second side
holding(go)                        # conditions that hold wherever `go` does
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.ssa import FALSE, TRUE, Op, Value, constant_of


def left_by(branch: Op, side: int, values: Sequence[Value]) -> list[Value]:
    """What these values are after a side of an `if`, 0 or 1: its results as that hands on."""
    left = dict(zip(branch.results, branch.regions[side].results, strict=True))
    return [left.get(value, value) for value in values]


def goes_by(branch: Op, side: int, go: Value) -> Value:
    """What a bool is after one side of an `if`: where it is the condition, whether that holds."""
    if go is branch.operands[0]:
        return FALSE if side else TRUE
    return left_by(branch, side, [go])[0]


def holding(value: Value) -> list[Value]:
    """Bools that hold wherever this one holds: itself, both of an `and`, and the condition of a
    branch of which the second side leaves False."""
    found: list[Value] = []
    waiting = [value]
    while waiting:
        value = waiting.pop()
        found.append(value)
        op = value.op
        if op is None:
            continue
        if op.code == "bit_and":
            waiting += op.operands
        elif op.code == "if":
            first, second = [goes_by(op, side, value) for side in (0, 1)]
            if constant_of(second) is False:
                waiting += [op.operands[0], first]
    return found
