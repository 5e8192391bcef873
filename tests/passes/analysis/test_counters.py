"""Loops that count: by how much, while which comparison holds, and for how many rounds at most."""

import math

import pytest

from pygpu.core.builder import Builder
from pygpu.passes.analysis.counters import Counter, counters
from pygpu.ssa import Region, Value
from pygpu.types import BOOL, INT

INT_MAX = 2**31 - 1


def counting(first: int, step: int, test: str, limit: int, after: bool = True) -> list[Counter]:
    """What is found in `do { n += step } while (n `test` limit)`, or of n before the sum."""
    build = Builder("f")
    start = build.constant(INT, first)
    n = Value(INT, "n")
    body = Region((n,))
    with build.inside(body):
        following = build.emit("add", n, build.constant(INT, step))
        go = build.emit(test, following if after else n, build.constant(INT, limit))
        body.results = (go, following)
    (result,) = build.append("loop", [start], [INT], [body])
    build.finish([result])
    assert result.op is not None
    return list(counters(result.op))


def rounds(first: int, step: int, test: str, limit: int, after: bool = True) -> float:
    """The rounds of that loop, by running it."""
    n, count = first, 0
    while True:
        before, n, count = n, n + step, count + 1
        tested = n if after else before
        if not {"lt": tested < limit, "le": tested <= limit, "gt": tested > limit,
                "ge": tested >= limit, "ne": tested != limit}[test]:  # fmt: skip
            return count


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    ("first", "step", "test", "limit"),
    [
        (0, 1, "lt", 10),
        (0, 3, "lt", 10),
        (3, 2, "le", 9),
        (10, -1, "gt", 0),
        (10, -4, "ge", -3),
        (0, 2, "ne", 8),
        (20, 1, "lt", 10),
    ],
)
def test_rounds_are_those_of_the_loop(
    first: int, step: int, test: str, limit: int, after: bool
) -> None:
    (counter,) = counting(first, step, test, limit, after)
    assert (counter.step, counter.always) == (step, True)
    assert rounds(first, step, test, limit, after) == counter.rounds


@pytest.mark.parametrize(
    ("first", "step", "test", "limit"),
    [
        (0, 2**30, "lt", INT_MAX),  # wraps before it ends
        (0, 1, "le", INT_MAX),  # never ends
        (0, 3, "ne", 8),  # passes it by
        (0, -1, "ne", 8),
    ],
)
def test_a_counter_that_wraps_has_no_known_rounds(
    first: int, step: int, test: str, limit: int
) -> None:
    assert all(each.rounds == math.inf for each in counting(first, step, test, limit))


def test_a_counter_away_from_its_limit_is_none() -> None:
    assert counting(0, 1, "gt", -5) == []


def test_a_step_taken_where_the_loop_goes_on_is_found_behind_a_break() -> None:
    build = Builder("f", uniforms=[("leaves", BOOL)])
    n = Value(INT, "n")
    body, inner, outer = Region((n,)), Region(), Region()
    with build.inside(body):
        below = build.emit("lt", n, build.constant(INT, 9))
        with build.inside(inner):
            stays = build.emit("not", build.uniforms[0])
            inner.results = (stays, build.emit("add", n, build.constant(INT, 2)))
        with build.inside(outer):
            outer.results = (build.constant(BOOL, False), n)
        body.results = build.append("if", [below], [BOOL, INT], [inner, outer])
    (result,) = build.append("loop", [build.constant(INT, 0)], [INT], [body])
    build.finish([result])
    assert result.op is not None
    (counter,) = counters(result.op)
    assert (counter.step, counter.test, counter.is_after, counter.always) == (2, "lt", False, False)
    assert counter.held == range(0, 9, 2)


@pytest.mark.parametrize(("side", "steps"), [(0, [3]), (1, [])])
def test_a_step_is_found_that_is_chosen_by_what_ends_the_loop(side: int, steps: list[int]) -> None:
    """`n += 3 if go else 0` is a step of 3; where the loop goes on with 0 as well, it is none."""
    build = Builder("f", uniforms=[("stays", BOOL)])
    n = Value(INT, "n")
    body = Region((n,))
    with build.inside(body):
        below = build.emit("lt", n, build.constant(INT, 9))
        go = [build.emit("bit_and", below, build.uniforms[0]), below][side]
        three, none = build.constant(INT, 3), build.constant(INT, 0)
        chosen = build.emit("select", build.uniforms[0], three, none)
        body.results = (go, build.emit("add", n, chosen))
    (result,) = build.append("loop", [build.constant(INT, 0)], [INT], [body])
    build.finish([result])
    assert result.op is not None
    assert [(each.step, each.always) for each in counters(result.op)] == [
        (step, False) for step in steps
    ]
