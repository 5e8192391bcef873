"""What values are after one side of an `if`, and which conditions a bool stands for.

left_by(branch, 1, [total])        # what `total` is after the second side
holding(go)                        # conditions that hold wherever `go` does
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.ssa import FALSE, TRUE, Function, Op, Value, constant_of, uses


def left_by(branch: Op, side: int, values: Sequence[Value]) -> list[Value]:
    """What these values are after a side of an `if`, 0 or 1: its results as that hands on."""
    left = dict(zip(branch.results, branch.regions[side].results, strict=True))
    return [left.get(value, value) for value in values]


def goes_by(branch: Op, side: int, go: Value) -> Value:
    """What a bool is after one side of an `if`: where it is the condition, whether that holds."""
    if go is branch.operands[0]:
        return FALSE if side else TRUE
    return branch.regions[side].results[branch.results.index(go)] if go.op is branch else go


def going_on(function: Function, loops: Sequence[Op]) -> dict[Value, int]:
    """The results of branches that are looked at only where a loop goes on, as are numbers that it
    carries and does not leave behind; by the side on which it may, where it may on one alone."""
    found, count = {}, uses(function)
    for loop in loops:
        go, *following = loop.regions[0].results
        carried = zip(loop.results, following, strict=True)
        open_ = [(go, value) for result, value in carried if not count[result]]
        while open_:
            go, value = open_.pop()
            branch = value.op
            if branch is None or branch.code != "if" or count[value] > 1:
                continue
            goes = [goes_by(branch, side, go) for side in range(2)]
            ends = [constant_of(each) is False for each in goes]
            if sum(ends) == 1:
                found[value] = side = ends.index(False)
                open_.append((goes[side], goes_by(branch, side, value)))
    return found


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
