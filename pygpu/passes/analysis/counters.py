"""Loops that count: a carried int changes by a constant from round to round, and the loop goes on
only while a comparison of it holds.

    (counter,) = counters(loop)              # for i in range(3, 10)
    counter.step, counter.test               # 1, "lt"
    counter.rounds                           # 7
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.ssa import Op, Region, Value, constant_of, walk
from pygpu.types import INT

with later():
    from pygpu.passes.analysis import branches

# The numbers from `first` on, `step` apart, for which a comparison with `end` holds.
_HELD: Final[dict[str, Callable[[int, int, int], range]]] = {
    "lt": lambda first, end, step: range(first, end, step),
    "le": lambda first, end, step: range(first, end + 1, step),
    "gt": lambda first, end, step: range(first, end, step),
    "ge": lambda first, end, step: range(first, end - 1, step),
    "ne": lambda first, end, step: range(first, end, step),
}
_ENDS: Final = {"lt": (1,), "le": (1,), "gt": (-1,), "ge": (-1,), "ne": (1, -1)}  # signs of steps
_INTS: Final = range(-(2**31), 2**31)
ROUNDS: Final = 10_000  # of loops that are over before anybody would wish to interrupt them


@record
class Counter:
    """The carried int `index` of a loop, which begins with `first`. Where the loop goes on, `step`
    was added to it, and the bool `condition` held: a comparison by `test` with `limit`, of the
    sum (`is_after`) or of what the round began with."""

    index: int
    first: Value
    step: int
    condition: Value
    test: str
    limit: Value
    is_after: bool
    always: bool  # the step is added in the last round too

    @property
    def held(self) -> range | None:
        """The numbers for which the comparison holds, one after the other, if nothing else ends
        the loop; None where its ends are not known."""
        first, limit = constant_of(self.first), constant_of(self.limit)
        if type(first) is not int or type(limit) is not int:
            return None
        start = first + self.step if self.is_after else first
        held = _HELD[self.test](start, limit, self.step)
        end = start + len(held) * self.step  # the first number for which it does not hold
        if end not in _INTS or (self.test == "ne" and end != limit):
            return None
        return held

    @property
    def rounds(self) -> float:
        """The most rounds that the loop runs: infinity where its ends are not known."""
        held = self.held
        return math.inf if held is None else 1 + len(held)


def counters(loop: Op) -> Iterator[Counter]:
    """The counters of a loop, those with several conditions for each of them."""
    (body,) = loop.regions
    go, *following = body.results
    tests = [
        value for value in branches.holding(go) if value.op is not None and value.op.code in _ENDS
    ]
    known: Sides = {}
    for index, (param, after) in enumerate(zip(body.params, following, strict=True)):
        step = _step(after, go, param, known) if tests and param.type is INT else None
        if not step:
            continue
        always = after.op is not None and _added(after.op, param) is not None
        for condition in tests:
            assert condition.op is not None
            tested, limit = condition.op.operands
            is_counted = tested is param or tested is after
            if is_counted and (1 if step > 0 else -1) in _ENDS[condition.op.code]:
                yield Counter(
                    index, loop.operands[index], step, condition, condition.op.code, limit,
                    tested is after, always,
                )  # fmt: skip


def most_rounds(loop: Op) -> float:
    """The most rounds that a loop runs: infinity where no counter ends it at a known number."""
    return min([counter.rounds for counter in counters(loop)], default=math.inf)


# Of a branch, and what says whether the loop goes on: where each result stands, and what says so
# on each side.
Sides = dict[tuple[Op, Value], tuple[dict[Value, int], list[Value]]]


def _step(value: Value, go: Value, param: Value, known: Sides) -> int | None:
    """How much a value exceeds the parameter wherever the loop goes on, if that is one number."""
    steps: set[int] = set()
    waiting = [(value, go)]
    seen = set(waiting)
    while waiting:
        value, go = waiting.pop()
        op = value.op
        if op is not None and op.code == "if":
            if (op, go) not in known:
                places = {result: place for place, result in enumerate(op.results)}
                known[op, go] = places, [_goes(op, side, go) for side in range(2)]
            places, goes = known[op, go]
            for region, side_goes in zip(op.regions, goes, strict=True):
                pair = region.results[places[value]], side_goes
                if constant_of(pair[1]) is not False and pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)
            continue
        if op is not None and op.code == "select":
            pairs = [(side, go) for side in _chosen(op, go)]
            waiting += [pair for pair in pairs if pair not in seen]
            seen.update(pairs)
            continue
        found = _steps(op, param, go) if op is not None else ()
        if not found:
            return None
        steps.update(found)
    return steps.pop() if len(steps) == 1 else None


def _goes(branch: Op, side: int, go: Value) -> Value:
    """`goes_by`, of what is the negative of the condition too."""
    negated = go.op is not None and go.op.code == "not" and go.op.operands[0]
    if negated is branch.operands[0]:
        return branches.goes_by(branch, 1 - side, branch.operands[0])
    return branches.goes_by(branch, side, go)


def _steps(op: Op, param: Value, go: Value) -> Sequence[int]:
    """The constants that an op may add to a parameter where `go` holds: one, or those that it
    chooses from; empty where it adds others."""
    step = _added(op, param)
    if step is not None:
        return [step]
    added = op.operands[1].op if op.code in ("add", "sub") and op.operands[0] is param else None
    if added is None or added.code != "select":
        return ()
    sign = 1 if op.code == "add" else -1
    numbers = [constant_of(side) for side in _chosen(added, go)]
    ints = [sign * number for number in numbers if type(number) is int]
    return ints if len(ints) == len(numbers) else ()


def _chosen(select: Op, go: Value) -> Sequence[Value]:
    """What a choice may give where `go` holds."""
    condition, first, second = select.operands
    for held in branches.holding(go):
        if held is condition:
            return [first]
        if held.op is not None and held.op.code == "not" and held.op.operands[0] is condition:
            return [second]
    return [first, second]


def _added(op: Op, param: Value) -> int | None:
    """The constant that an op adds to a parameter."""
    if op.code not in ("add", "sub") or op.operands[0] is not param:
        return None
    number = constant_of(op.operands[1])
    if type(number) is not int:
        return None
    return number if op.code == "add" else -number


def find_bounded(region: Region, found: set[Op]) -> float:
    """Add the loops of at most ROUNDS rounds, those of the loops within included. Gives the most
    rounds that a pixel goes in the region."""
    total = 0.0
    for op in region.ops:
        inner = sum([find_bounded(each, found) for each in op.regions])
        if op.code == "loop":
            inner = most_rounds(op) * max(1, inner)
            if inner <= ROUNDS:
                found.add(op)
        total += inner
    return total


def ends_by(loop: Op, fetched: Sequence[Op]) -> bool:
    """Whether a loop ends by what these operations in it give."""
    body, known = loop.regions[0], 0
    found = {value for op in fetched for value in op.results}
    while known < len(found):
        known = len(found)
        for op in walk(body):
            sides = [each.results for each in op.regions] if op.code == "if" else []
            inner = [] if sides else [value for each in op.regions for value in each.results]
            for result, *of_sides in zip(op.results, *sides, strict=True):
                if not found.isdisjoint([*op.operands, *inner, *of_sides]):
                    found.add(result)
        pairs = zip(body.params, body.results[1:], strict=True)
        found.update(param for param, value in pairs if value in found)
    return body.results[0] in found
