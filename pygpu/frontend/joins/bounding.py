"""How often a loop comes round at most, by what it counts: so often a list can grow in it.

    while i < len(left) and j < len(right):       # each round counts one of them up, and none down
        if left[i] < right[j]: i += 1             # so there are len(left) + len(right) at most
        else: j += 1

A round is told apart into paths, one for each way in which its tests can go. A counter is a number
that no path moves back; where a path moves it, a test says on which side of a limit it was: so it
moves as often as there are whole numbers from its start to the farthest limit. Each path on which
the loop goes on moves one of the counters that are added up.

Lists have a limited room when this is asked, and more where they are walked again. That changes no
bound: a path on which a list is full differs from the one on which it is not by what it adds alone,
and both need a counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from pygpu.core.host.records import record
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.ranges import range_of
from pygpu.frontend.values.states import State, reachable
from pygpu.frontend.values.values import Dynamic
from pygpu.ssa import Region, Value, constant_of, is_constant, walk
from pygpu.types import BOOL, INT, Type

_PATHS: Final = 64  # through a round, that are looked at
_SWAPPED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_OPPOSITE: Final = {"lt": "ge", "gt": "le", "le": "gt", "ge": "lt", "eq": "ne", "ne": "eq"}
_LAST: Final = {"lt": -1, "le": 0, "eq": 0}  # how far the greatest is from what it is compared with
_FIRST: Final = {"gt": 1, "ge": 0, "eq": 0}  # and how far the least
Range = tuple[int, int]
Linear = tuple[Value | None, int]  # a value and a number that is added, or a number
Path = dict[Value, bool]  # tests, and how they have gone


class _Fork(Exception):
    """A test of which a path does not say yet how it has gone."""


def lengths(state: State, values: Iterable[Any]) -> dict[Value, Range]:
    """Between what the lengths of lists lie that can be reached from the values."""
    held = [state.get(each) for each in reachable(values, state)]
    return {
        each.length.value: (each.least, each.most)
        for each in held
        if isinstance(each, Bounded) and isinstance(each.length, Dynamic)
    }


@record
class Turn:
    """A loop's body, and what each number that it carries was before, and is in the next round."""

    body: Region
    go: Value
    wanted: bool  # what the test is where it comes round
    before: Mapping[Value, Any]
    after: Mapping[Value, Any]
    lengths: Mapping[Value, Range]


def most_rounds(w: Evaluator, turn: Turn) -> int | None:
    """How often a loop comes round at most; None where that is not found."""
    counters = _Counters(w, turn)
    moved: dict[Value, int] = {}  # counters, and how often each moves at most
    try:
        paths = counters.paths()
        for each in counters.asked if paths else ():
            for way in (1, -1):
                most = counters.moves(each, way, paths)
                if most is not None:
                    moved[each] = most
    except RecursionError:
        return None
    left = [[each for each in moved if counters.step(each, path)] for path in paths]
    most = 0
    for each in sorted(moved, key=lambda each: moved[each]):  # few that move on all paths together
        if left and any(each in some for some in left):
            most += moved[each]
            left = [some for some in left if each not in some]
    return most if paths and not left else None


class _Counters:
    """What a loop's counters do on the paths through a round."""

    def __init__(self, w: Evaluator, turn: Turn) -> None:
        self.w, self.turn = w, turn
        self.inside = {value for op in walk(turn.body) for value in op.results}
        self.moving: dict[Value, bool] = {}
        self.ranges: dict[Value, Range] = {}  # of what branches give
        self.carried = {
            each
            for each, new in turn.after.items()
            if each.type is INT and _value(new) is not each
            if _is_number(turn.before[each], INT) and _is_number(new, INT)
        }
        self.asked: dict[Value, None] = {}  # counters that tests compare with something

    def paths(self) -> list[Path]:
        """The paths on which the loop goes on, told apart by what moves the counters that are
        compared with something on them; none where they are too many."""
        paths = self.told_apart()
        while paths:
            facts = [fact for path in paths for fact in self.facts(path)]
            compared = {a: None for _, (a, _), _ in facts if a in self.carried}
            if compared.keys() <= self.asked.keys():
                break
            before, self.asked = self.asked, {**self.asked, **compared}
            more = self.told_apart()
            if not more:
                self.asked = before
                break
            paths = more
        return paths

    def told_apart(self) -> list[Path]:
        found: list[Path] = []
        waiting: list[Path] = [{}]
        while waiting:
            path = waiting.pop()
            if len(found) + len(waiting) > _PATHS:
                return []
            try:
                if self.truth(self.turn.go, path) is (not self.turn.wanted):
                    continue
                for each in self.asked:
                    self.step(each, path)
            except _Fork as fork:
                test = fork.args[0]
                waiting += [{**path, test: True}, {**path, test: False}]
                continue
            found.append(path)
        return found

    def step(self, counter: Value, path: Path) -> int | None:
        """By how much a path moves a counter, or at least so much; None where nobody knows."""
        new = _value(self.turn.after[counter])
        base, by = self.linear(new, path) if isinstance(new, Value) else (None, int(new))
        if base is not None:
            return by if base is counter else None
        least, most = self.limit(counter, -1, path), self.limit(counter, 1, path)
        if least is not None and by < least:
            return by - least
        return by - most if most is not None and by > most else None

    def moves(self, counter: Value, way: int, paths: list[Path]) -> int | None:
        """How often a counter moves at most, up or down; None where that is not known."""
        ends = []
        for path in paths:
            step = self.step(counter, path)
            if step is None or step * way < 0:
                return None
            if step:
                end = self.limit(counter, way, path)
                if end is None or not -(2**31) <= end + step < 2**31:
                    return None
                ends.append(end)
        start = self.range(self.turn.before[counter])
        if not ends:
            return None
        return max(max(ends) - start[0] if way > 0 else start[1] - min(ends), -1) + 1

    def limit(self, counter: Value, way: int, path: Path) -> int | None:
        """The last number from which a path moves a counter up, or down."""
        found = []
        for code, (a, m), (b, n) in self.facts(path):
            if a is not counter:
                continue
            table = _LAST if way > 0 else _FIRST
            number = None if b is not None and self.is_moving(b) else self.range(b)
            if number is not None and code in table:
                found.append(number[way > 0] + n - m + table[code])
            elif code == "ne" and b is None and way < 0 and m == n == 0 and a in self.turn.lengths:
                found.append(1)
        return (min(found) if way > 0 else max(found)) if found else None

    def is_moving(self, value: Value) -> bool:
        """Whether a value may be another in the next round: what each round computes of the same
        values is not."""
        if value not in self.moving:
            op = value.op
            if op is None or value not in self.inside:
                self.moving[value] = value in self.turn.before and not self.stays(value)
            else:
                self.moving[value] = bool(op.regions) or any(map(self.is_moving, op.operands))
        return self.moving[value]

    def range(self, value: Any) -> Range:
        if value is None or isinstance(value, int):
            return int(value or 0), int(value or 0)
        return range_of(self.w, _value(value), self.known)

    def known(self, value: Value) -> Range | None:
        """Between what a length lies, what a branch gives, or what is as before the loop."""
        if value in self.turn.lengths:
            return self.turn.lengths[value]
        if self.stays(value):
            return self.range(self.turn.before[value])
        if value.op is None or value.op.code != "if":
            return None
        if value not in self.ranges:
            place = value.op.results.index(value)
            sides = [self.range(region.results[place]) for region in value.op.regions]
            self.ranges[value] = min(low for low, _ in sides), max(high for _, high in sides)
        return self.ranges[value]

    # ------------------------------------------------------------ what values are on a path

    def resolved(self, value: Value, path: Path) -> Value:
        """What a value is, where branches and selections have gone a path's way."""
        while True:
            op = value.op
            if (
                op is None
                and self.stays(value)
                and isinstance(_value(before := self.turn.before[value]), Value)
            ):
                return _value(before)  # type: ignore[no-any-return]
            if op is None or op.code not in ("if", "select") or value not in self.inside:
                return value
            goes = self.decided(op.operands[0], path)
            if op.code == "select":
                value = op.operands[1 if goes else 2]
            else:
                value = op.regions[not goes].results[op.results.index(value)]

    def stays(self, value: Value) -> bool:
        """Whether a value is carried as it was before the loop."""
        before = _value(self.turn.before.get(value))
        same = _value(self.turn.after.get(value, value)) is value and before is not value
        return same and _is_number(before, value.type)

    def test(self, value: Value, path: Path) -> tuple[Value, bool]:
        """A bool as a test that is none of another one, and what it is then."""
        holds = True
        while True:
            value = self.resolved(value, path)
            if value.op is None or value.op.code != "not":
                return value, holds
            value, holds = value.op.operands[0], not holds

    def truth(self, value: Value, path: Path) -> bool | None:
        """What a bool is on a path; None where that is not known."""
        test, holds = self.test(value, path)
        if is_constant(test):
            return bool(constant_of(test)) is holds
        return path[test] is holds if test in path else None

    def decided(self, value: Value, path: Path) -> bool:
        """What a bool is on a path; a fork where that is not known."""
        goes = self.truth(value, path)
        if goes is None:
            raise _Fork(self.test(value, path)[0])
        return goes

    def facts(self, path: Path) -> list[tuple[str, Linear, Linear]]:
        """The comparisons of ints that hold on a path, from either side."""
        found = []
        waiting = [*path.items(), (self.turn.go, self.turn.wanted)]
        while waiting:
            value, goes = waiting.pop()
            with suppress(_Fork):  # of what it says of others than counters
                test, holds = self.test(value, path)
                op, holds = test.op, holds is goes
                if op is None or not op.operands:
                    continue
                if op.code == ("bit_and" if holds else "bit_or") and test.type is BOOL:
                    waiting += [(each, holds) for each in op.operands]
                elif op.code in _OPPOSITE and op.operands[0].type is INT:
                    code = op.code if holds else _OPPOSITE[op.code]
                    a, b = [self.linear(each, path, False) for each in op.operands]
                    found += [(code, a, b), (_SWAPPED[code], b, a)]
        return found

    def linear(self, value: Value, path: Path, floors: bool = True) -> Linear:
        """A value as another and a number that is added to it."""
        value = self.resolved(value, path)
        if is_constant(value):
            return None, int(constant_of(value))  # type: ignore[arg-type]
        if self.stays(value) and isinstance(before := self.turn.before[value], int):
            return None, int(before)
        op = value.op
        if op is not None and op.code == "to_int" and op.operands[0].type is BOOL:
            return None, int(self.decided(op.operands[0], path))
        if op is None or op.code not in ("add", "sub", "max") or value.type is not INT:
            return value, 0
        one, other = [self.linear(each, path, floors) for each in op.operands]
        if op.code == "add" and one[0] is None:
            one, other = other, one
        if other[0] is not None:
            return value, 0
        if op.code != "max":
            return one[0], one[1] + (other[1] if op.code == "add" else -other[1])
        base, by = one
        if base is not None and floors:
            limit = self.limit(base, -1, path)
            if limit is not None and limit + by >= other[1]:
                return one
        return value, 0


def _is_number(value: Any, type: Type) -> bool:
    """Whether it is a known int, or one that is not known, of a type."""
    value = _value(value)
    return value.type is type if isinstance(value, Value) else isinstance(value, int)


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Dynamic) else value
