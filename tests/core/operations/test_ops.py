"""What the rows of the table say of operations holds of their meanings."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pygpu.core.interpret import compute, scalar
from pygpu.core.operations import intervals
from pygpu.core.operations.ops import TABLE, Cost, Operation, cost_of
from pygpu.types import BOOL, FLOAT, INT, UINT, Type

Array = NDArray[Any]

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.0, 88.0, -100.0, 3e38, -3e38, 1e-40]
FLOATS = [*NUMBERS, math.inf, -math.inf, math.nan]
OF_FLOATS = {code: row for code, row in TABLE.items() if "float" in row.kinds and row.componentwise}


def evaluated(row: Operation, operands: tuple[float, ...]) -> Any:
    with np.errstate(all="ignore"):
        return compute(row.name, None, [scalar(FLOAT, a) for a in operands])


def operands(row: Operation, values: list[float]) -> Iterator[tuple[float, ...]]:
    assert row.arity is not None
    return itertools.product(values, repeat=row.arity)


@pytest.mark.parametrize("code", [code for code, row in OF_FLOATS.items() if row.nan is not None])
def test_nan_gives_what_the_row_says(code: str) -> None:
    row = TABLE[code]
    for given in operands(row, FLOATS):
        if any(map(math.isnan, given)):
            result = evaluated(row, given)
            same = result == row.nan or (math.isnan(row.nan) and np.isnan(result))  # type: ignore[arg-type]
            assert same, (given, result)


@pytest.mark.parametrize("code", OF_FLOATS)
def test_results_lie_within_bounds(code: str) -> None:
    row = TABLE[code]
    low, high = row.bounds
    for given in operands(row, FLOATS):
        result = evaluated(row, given)
        assert np.isnan(result) or not low > result, given
        assert np.isnan(result) or not high < result, given
        if row.is_total and all(map(math.isfinite, given)):
            assert np.isfinite(result), given


@pytest.mark.parametrize(
    "code", [code for code, row in OF_FLOATS.items() if row.range is not None and code != "select"]
)
def test_ranges_hold_what_operands_between_their_ends_give(code: str) -> None:
    row = TABLE[code]
    assert row.range is not None
    assert row.arity is not None
    ends = [(-3.0, -1.25), (-1.5, 2.0), (0.0, 0.0), (0.5, 6.0)]
    for ranges in itertools.product(ends, repeat=row.arity):
        low, high = row.range(ranges)
        for given in itertools.product(*[np.linspace(*each, 5) for each in ranges]):
            result = float(evaluated(row, given))
            slack = 1e-6 * abs(result)  # rounding
            is_within = low - slack <= result <= high + slack
            assert (low, high) == intervals.ANY or is_within, (ranges, given)


RULES_OF_INTS = {
    code: row.ints or row.range
    for code, row in TABLE.items()
    if {"int", "uint"} & set(row.kinds) and (row.ints or row.range) and row.componentwise
}


@pytest.mark.parametrize("type", [INT, UINT])
@pytest.mark.parametrize("code", [code for code in RULES_OF_INTS if code != "select"])
def test_ranges_hold_what_ints_between_their_ends_give(code: str, type: Type) -> None:
    rule, arity = RULES_OF_INTS[code], TABLE[code].arity
    assert rule is not None
    assert arity is not None
    ends = [(-5, -2), (-3, 4), (0, 0), (0, 6), (3, 3), (2, 9), (30, 35)]
    ends = [each for each in ends if type is INT or each[0] >= 0]
    for ranges in itertools.product(ends, repeat=arity):
        low, high = rule(ranges)
        if type is UINT and low < 0:
            continue  # it may wrap
        for given in itertools.product(*[range(low, high + 1) for low, high in ranges]):
            result = int(compute(code, None, [scalar(type, a) for a in given]))
            assert low <= result <= high, (ranges, given)


@pytest.mark.parametrize("code", [code for code, row in OF_FLOATS.items() if row.scales])
def test_what_scales_grows_with_its_operands(code: str) -> None:
    row = TABLE[code]
    for given in operands(row, [0.0, -1.0, 2.5, -6.0, 0.125]):
        larger = tuple(4.0 * a for a in given)
        assert np.isclose(evaluated(row, larger), 4.0 * evaluated(row, given), rtol=1e-6)


@pytest.mark.parametrize("code", [code for code, row in OF_FLOATS.items() if row.whole])
def test_what_is_whole_is_whole(code: str) -> None:
    for given in FLOATS if code != "to_float" else [0.0, 2.0, -7.0]:
        result = float(evaluated(TABLE[code], (given,)))
        assert not math.isfinite(result) or result == math.floor(result)


@pytest.mark.parametrize("code", [code for code, row in TABLE.items() if row.is_comparison])
def test_comparisons_are_negated_and_exchanged(code: str) -> None:
    row = TABLE[code]
    for a, b in itertools.product(NUMBERS, NUMBERS):
        holds = evaluated(row, (a, b))
        assert holds == evaluated(TABLE[row.exchanged], (b, a))
        assert holds != evaluated(TABLE[row.negated], (a, b))


@pytest.mark.parametrize("code", [code for code, row in TABLE.items() if row.commutes])
def test_what_commutes_gives_the_same_of_exchanged_operands(code: str) -> None:
    row = TABLE[code]
    values = {FLOAT: NUMBERS, INT: [0, -7, 3, 2**31 - 1], BOOL: [False, True]}
    for type in values if not row.lowered else ():
        if type.kind in row.kinds:
            for a, b in itertools.product(values[type], values[type]):
                pair = [scalar(type, a), scalar(type, b)]
                with np.errstate(all="ignore"):
                    first, second = compute(code, None, pair), compute(code, None, pair[::-1])
                assert np.array_equal(first, second), pair


def test_no_callable_means_two_operations() -> None:
    named = [f for row in TABLE.values() for f in (*row.python, *row.operators, row.glsl) if f]
    assert len(named) == len(set(named))


def test_every_operation_has_a_cost_and_branches_have_none() -> None:
    assert all(isinstance(cost_of(code), Cost) for code in TABLE)
    assert cost_of("if") is None
