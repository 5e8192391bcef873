"""What cannot be where control is, by the tests that led there.

Variables that are set together tell of one another: where `found` says so, `ball` is set.

    found, ball = False, None
    for each in balls:
        if each.holds(p): found, ball = True, each
    if found: ...ball.radius...         # ball cannot be None here

Asked where a value would be refused, so that other programs pay nothing. Tests that have gone one
way are followed back through the branches of which their operands are results, either way in turn,
until they contradict each other. For the results of a loop that is shown by induction: for its
first round, and for a round that follows one for which it was shown. What tables hold at one place
is what one of their rows holds: where `op` of `op, arg = rows[i]` is "load", `arg` may be a name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, Final

from pygpu.core import bounds
from pygpu.core.errors import Place
from pygpu.core.operations.ops import TABLE
from pygpu.frontend.flow import handling
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.states import settled
from pygpu.frontend.values.values import Choice
from pygpu.ssa import FALSE, TRUE, Op, Value, constant_of, is_constant
from pygpu.types import BOOL, FLOAT, INT, Type

CASES: Final = 1000  # that are looked at before nothing is said
_ROWS: Final = 256  # of tables that are read at one place
_DEEPEST: Final = 12  # operations of a test that are looked through
Test = tuple[Value, bool]  # a bool, and what it is
Claim = frozenset[tuple[Any, bool]]  # tests, by what equal ones have in common


def is_excluded(w: ControlFlow, choice: Choice, number: int, nan: bool = True) -> bool:
    """Whether a choice cannot be one of its options where tests have gone so as they have; without
    `nan`, unless some float is NaN."""
    which = choice.which.value
    asked = Op("eq", (which, _constant(INT, number)), None, (BOOL,)).result
    return _contradict(w, [(asked, True), *_gone(w)], nan)


def is_for_nan(w: ControlFlow) -> bool:
    """Whether tests have gone so that control comes here for NaN alone, or not at all."""
    return bool(w.conditions) and _contradict(w, _gone(w), nan=False)


def _contradict(w: ControlFlow, tests: list[Test], nan: bool) -> bool:
    """Whether tests contradict each other. Where that was looked for in vain, as in earlier rounds
    of a loop or calls of a function, fewer cases are looked at."""
    place = "excluded", *[(frame.code, frame.at) for frame in w.frames[-1:]]
    search = _Search(nan, CASES >> 2 * w.tried[place])
    try:
        return search.contradict(tests, ())
    finally:
        w.tried[place] += search.left <= 0
        _key.cache_clear()


def raises_unset(w: ControlFlow, choice: Choice, number: int) -> None:
    """Have the reading of a variable raise where it lacks a value, which it does for NaN alone or
    where a loop runs no round. What lacks one elsewhere is refused."""
    unset = choice.options[number]
    name = getattr(unset, "name", "")
    if not name and not is_excluded(w, choice, number, nan=False):
        raise w.error(unset.message)
    where = _without(w, choice, number)
    handling.note(w, where, handling.raised(w, w.frame, unbound(name)), w.state.fork())


def unbound(name: str) -> UnboundLocalError:
    """What Python raises where a variable is read that has no value."""
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    return UnboundLocalError(*[message] * bool(name))


def returned(w: ControlFlow, result: Any, place: Place | None) -> Any:
    """What the outermost function returns; pixels for which that is None, where it is so for NaN
    alone, are in error."""
    if type(result) is not Choice:
        return result
    for number, option in enumerate(result.options):
        if option is None and is_excluded(w, result, number, nan=False):
            where = _without(w, result, number)
            fault = w.faults.number(Fault(TypeError, "None is no result of a pixel", place))
            w.write(w.faults.cell, w.faults.possible(w.build, w.state, where.value, fault))
    return settled(result, w.state.facts)


def _without(w: ControlFlow, choice: Choice, number: int) -> Any:
    """Whether a choice is one of its options, which it is not where control goes on."""
    where = arithmetic.compare(w, "==", choice.which, number)
    left = w.state.facts.get(choice.which.value, frozenset(range(len(choice.options))))
    w.state.facts = {**w.state.facts, choice.which.value: left - {number}}
    return where


def _gone(w: ControlFlow) -> list[Test]:
    """The tests that led here."""
    return [test for *_, test in reversed(w.conditions) if test is not None]


def left(w: ControlFlow, subject: Value) -> frozenset[int] | None:
    """What an int of a table can be by tests of what is read beside it; None where none are."""
    if subject.op is None or subject.op.code != "table":
        return None
    tables = w.build.tables
    place, own = _key(subject.op.operands[0]), tables[subject.op.data.table].values
    asked, columns = [], {subject: own}
    for test in _gone(w):
        for op in _read(test[0]):
            held = tables[op.data.table].values
            if len(held) == len(own) and _key(op.operands[0]) == place:
                columns[op.result] = held
                asked.append(test)
    if not asked or len(own) > _ROWS:
        return None

    def fits(row: int) -> bool:
        held = [_constant(value.type, each[row].item()) for value, each in columns.items()]
        simple: dict[Any, Test] = {}
        return all(_add(simple, *test) for test in _put(asked, [*columns], held))

    return frozenset([int(own[row]) for row in range(len(own)) if fits(row)])


def _read(value: Value) -> list[Op]:
    """What reads the scalars of tables that a test is of."""
    found: list[Op] = []
    waiting = [(value, _DEEPEST)]
    while waiting and len(found) < _DEEPEST:
        each, deep = waiting.pop()
        if each.op is not None and not each.op.regions and deep:
            found += [each.op] if each.op.code == "table" and each.type.is_scalar else []
            waiting += [(operand, deep - 1) for operand in each.op.operands]
    return found


def _constant(type: Type, number: Any) -> Value:
    return Op("constant", (), (type, number), (type,)).result


class _Search:
    """Looks for a case in which tests do not contradict each other."""

    def __init__(self, nan: bool, cases: int) -> None:
        self.nan = nan
        self.left = cases
        self.found: dict[Any, bool] = {}
        self.heights: dict[Op, int] = {}

    def contradict(self, tests: Iterable[Test], claims: tuple[Claim, ...]) -> bool:
        """Whether tests contradict each other; claims are of tests that do."""
        simple: dict[Any, Test] = {}
        if not all(_add(simple, *test) for test in tests):
            return True
        said = frozenset([(key, holds) for key, (_, holds) in simple.items()])
        if any(claim <= said for claim in claims):
            return True
        if (said, claims) not in self.found:
            if self.left <= 0:
                return False
            self.found[said, claims] = False  # while it is looked for, too
            self.found[said, claims] = self._contradict(list(simple.values()), claims)
        return self.found[said, claims]

    def _contradict(self, tests: list[Test], claims: tuple[Claim, ...]) -> bool:
        if _fits_no_number(tests, self.nan) or _fits_no_order(tests, self.nan):
            return True
        self.left -= 1
        behind = [_behind(value) for value, _ in tests]
        ops = dict.fromkeys([op for each in behind for op in each if op.regions])
        alone = [each[0] for each in behind if len(each) == 1 and each[0] in ops]
        for op in sorted(dict.fromkeys([*alone, *ops]), key=self._height, reverse=True):
            own = [test for test, each in zip(tests, behind, strict=True) if each == [op]]
            if op.code == "loop":
                if own and self._after_no_round(op, own):
                    return True
            elif own or not alone:
                if 0 < len(own) < len(tests) and self.contradict(own, claims):
                    return True
                return self.left > 0 and self._either_way(op, tests, claims)
        return False

    def _height(self, op: Op) -> int:
        """One more than of the branches and loops of whose results an operation is made."""
        waiting = [op]
        while op not in self.heights:
            each = waiting[-1]
            values = [*each.operands, *[v for region in each.regions for v in region.results]]
            made = dict.fromkeys([value.op for value in values if value.op is not None])
            missing = [one for one in made if one not in self.heights]
            if not missing:
                most = max([self.heights[one] for one in made], default=0)
                self.heights[each] = most + bool(each.regions)
                waiting.pop()
            waiting += missing
        return self.heights[op]

    def _either_way(self, branch: Op, tests: list[Test], claims: tuple[Claim, ...]) -> bool:
        for region, holds in zip(branch.regions, (True, False), strict=True):
            here = _put(tests, branch.results, region.results)
            if not self.contradict([*here, (branch.operands[0], holds)], claims):
                return False
        return True

    def _after_no_round(self, loop: Op, tests: list[Test]) -> bool:
        body = loop.regions[0]
        before, first, later = [
            _put(tests, loop.results, values)
            for values in (body.params, loop.operands, body.results[1:])
        ]
        claim = frozenset([(_key(value), holds) for value, holds in before])
        whole = len(before) == len(tests)
        return whole and self.contradict(first, ()) and self.contradict(later, (claim,))


def _add(simple: dict[Any, Test], value: Value, holds: bool) -> bool:
    """Add what a test says; False where that contradicts what is there."""
    op = value.op
    if op is not None and op.code == "not":
        return _add(simple, op.operands[0], not holds)
    if op is not None and op.code == ("bit_and" if holds else "bit_or"):
        return all(_add(simple, each, holds) for each in op.operands)
    if is_constant(value):
        return bool(constant_of(value)) is holds
    key = _key(value)
    if op is not None and holds and op.code == "eq" and is_constant(op.operands[1]):
        before, _ = simple.setdefault(("is", key[2]), (value, True))
        if _key(before) != key:  # it is another number
            return False
    return simple.setdefault(key, (value, holds))[1] is holds


def _fits_no_number(tests: Iterable[Test], nan: bool) -> bool:
    """Whether comparisons contradict each other: no number is such, or no two stand so. Floats may
    be NaN with `nan` alone."""
    ways: dict[tuple[Any, Any], frozenset[int | None]] = {}
    limits: dict[Any, tuple[Value, list[tuple[Any, frozenset[int | None]]]]] = {}
    for test, holds in tests:
        op = test.op
        if op is None or op.code not in _ALLOWED or not op.operands[0].type.is_scalar:
            continue
        (one, other), code = op.operands, op.code
        if is_constant(one) or (_key(other), _key(one)) in ways:
            one, other, code = other, one, TABLE[code].exchanged
        allowed = _ALLOWED[code] if holds else _WAYS - _ALLOWED[code]
        if not (nan and any(map(_may_be_nan, (one, other)))):
            allowed -= {None}
        number = constant_of(other) if is_constant(other) else math.nan
        if number == number:
            limits.setdefault(_key(one), (one, []))[1].append((number, allowed))
        pair = _key(one), _key(other)
        ways[pair] = ways.get(pair, _WAYS) & allowed
    apart = any(not allowed for allowed in ways.values())
    return apart or any(len(of) > 1 and not _is_there(one, of, nan) for one, of in limits.values())


def _is_there(value: Value, limits: list[tuple[Any, frozenset[int | None]]], nan: bool) -> bool:
    """Whether there is a number that stands to each of some numbers in one of the ways allowed."""
    low, high = bounds.between(value) or (-math.inf, math.inf)
    ends = sorted({low, high, *[number for number, _ in limits]})
    found: list[Any] = [each for end in ends for each in (end - 1, end, end + 1)]
    if value.type.kind == "float":
        found = [*ends, *[a / 2 + b / 2 for a, b in pairwise(ends)], *([math.nan] * nan)]
    return any(
        all(_way(each, number) in allowed for number, allowed in limits)
        for each in found
        if low <= each <= high or each != each
    )


def _fits_no_order(tests: Iterable[Test], nan: bool) -> bool:
    """Whether comparisons contradict each other however what is compared, and what greatest and
    least of it are, are ordered: r, g and b cannot all differ from max(r, g, b)."""
    compared = [
        (TABLE[test.op.code].operators[0], test.op.operands, holds)
        for test, holds in tests
        if test.op is not None and test.op.code in _ALLOWED and test.op.operands[0].type.is_scalar
    ]
    ordered: dict[Any, Value] = {}
    for _, operands, _ in compared:
        for each in operands:
            ordered |= {_key(one): one for one in _ordered(each)}
    if not 2 < len(ordered) <= _MOST_ORDERED:
        return False
    places = range(len(ordered))
    each_place = [
        [*places, *([math.nan] if nan and _may_be_nan(value) else [])] for value in ordered.values()
    ]
    numbers: list[tuple[Any, Any]] = [
        (key, constant_of(value)) for key, value in ordered.items() if is_constant(value)
    ]
    for chosen in product(*each_place):
        at = dict(zip(ordered, chosen, strict=True))
        if all((at[a] < at[b]) == (m < n) for a, m in numbers for b, n in numbers) and all(
            compare(*[_placed(each, at) for each in operands]) is holds
            for compare, operands, holds in compared
        ):
            return False
    return True


def _ordered(value: Value) -> list[Value]:
    """A number, or those of which it is the greatest or the least."""
    if value.op is None or value.op.code not in _EXTREMES:
        return [value]
    return [one for each in value.op.operands for one in _ordered(each)]


def _placed(value: Value, at: Mapping[Any, float]) -> float:
    if value.op is None or value.op.code not in _EXTREMES:
        return at[_key(value)]
    a, b = [_placed(each, at) for each in value.op.operands]
    return _EXTREMES[value.op.code](a, b)


_EXTREMES: Final = {"max": max, "min": min}  # of NaN they are as Python's
_MOST_ORDERED: Final = 5  # numbers of which every order is looked at


def _may_be_nan(value: Value) -> bool:
    return bounds.between(value) is None


def _way(a: Any, b: Any) -> int | None:
    """How two numbers stand to each other: -1, 0, 1; None where one is NaN."""
    return None if a != a or b != b else (a > b) - (a < b)


_WAYS: Final[frozenset[int | None]] = frozenset((-1, 0, 1, None))
_ALLOWED: Final = {
    code: frozenset(
        [way for way in _WAYS if row.operators[0](*((math.nan, 0.0) if way is None else (way, 0)))]
    )
    for code, row in TABLE.items()
    if row.is_comparison
}


@lru_cache(maxsize=4096)
def _key(value: Value, deep: int = _DEEPEST) -> tuple[Any, ...]:
    """What equal values have in common."""
    op = value.op
    if op is None or op.regions or len(op.results) != 1 or not deep:
        return (value,)
    if op.code == "constant":
        return "constant", repr(op.data)
    return op.code, op.data, *[_key(each, deep - 1) for each in op.operands]


def _behind(value: Value) -> list[Op]:
    """What makes the operands of a test that is no constant, the nearest first; what reads or is
    given numbers too."""
    found: dict[Op, None] = {}
    waiting: list[Value] = [value]
    seen: set[Value] = set()
    while waiting and len(seen) < 10 * _DEEPEST:
        each = waiting.pop()
        if each in seen or is_constant(each):
            continue
        seen.add(each)
        op = each.op or _GIVEN
        if op.regions or not op.operands:
            found[op] = None
        waiting += [] if op.regions else reversed(op.operands)
    return list(found)


_GIVEN: Final = Op("given", ())  # what is no operation's result


def _put(tests: Sequence[Test], of: Sequence[Value], by: Sequence[Value]) -> list[Test]:
    """Tests with values in place of others, less those that are of too many operations."""
    stands = dict(zip(of, by, strict=True))
    made = [(_replaced(value, stands, _DEEPEST), holds) for value, holds in tests]
    return [(value, holds) for value, holds in made if value is not None]


def _replaced(value: Value, stands: Mapping[Value, Value], deep: int) -> Value | None:
    op = value.op
    if value in stands:
        return stands[value]
    if op is None or op.regions or not op.operands:
        return value
    operands = [_replaced(each, stands, deep - 1) if deep else None for each in op.operands]
    if len(op.results) != 1 or None in operands:
        return None
    if all(new is old for new, old in zip(operands, op.operands, strict=True)):
        return value
    return _made(op, operands)  # type: ignore[arg-type]


def _made(op: Op, operands: list[Value]) -> Value:
    """The result of an operation on other operands."""
    known: list[Any] = [constant_of(each) for each in operands]
    if op.code in ("bit_and", "bit_or") and op.result.type is BOOL:
        settles = op.code == "bit_or"
        if settles in known:
            return TRUE if settles else FALSE
        if (not settles) in known:
            return operands[1 - known.index(not settles)]
    elif None not in known and all(each.type.is_scalar for each in operands):
        row = TABLE.get(op.code)
        if row is not None and row.is_comparison:
            return TRUE if row.operators[0](*known) else FALSE
        if op.code == "not":
            return FALSE if known[0] else TRUE
        if op.code == "to_float":
            return _constant(FLOAT, float(known[0]))
    return Op(op.code, tuple(operands), op.data, (op.result.type,)).result
