"""Truth values that may be NumPy's or Python's are not added up; what NumPy refuses is refused."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import CompileError, Position

FLAGS = np.array([True, False, True, True, False])
PYTHONS = FLAGS.tolist()
NUMBERS = np.array([0.5, -1.25, 2.0])


def set_on_one_path(p: Position) -> Any:
    is_set: Any = False
    if p.x > 1:
        is_set = FLAGS[p.x]
    return is_set + is_set


def set_in_a_loop(p: Position) -> Any:
    is_set, k = True, 0
    while k < p.x:
        is_set, k = is_set & FLAGS[k], k + 1
    return is_set + PYTHONS[p.y]


def of_a_sum_that_starts_as_pythons(p: Position) -> Any:
    total = 0.0
    for k in range(p.x):
        total += NUMBERS[k % 3]
    return (total > 1) + (total < 2)


def numpys_in_rows(p: Position) -> Any:
    return FLAGS[p.x] if p.y > 0 else p.x > 2


UNCLEAR: list[Callable[[Position], Any]] = [
    set_on_one_path,
    set_in_a_loop,
    of_a_sum_that_starts_as_pythons,
    lambda p: (FLAGS[p.x] if p.y > 0 else PYTHONS[p.x]) + PYTHONS[p.y],
    # By a call: where Python compiles what follows a choice for each of its sides, each is clear.
    lambda p: np.where(p.y > 0, 1, 0) * (PYTHONS[p.x] - numpys_in_rows(p)),
]


@pytest.mark.parametrize("function", UNCLEAR)
def test_what_is_numpys_on_one_path_alone_is_not_added(
    function: Callable[[Position], Any],
) -> None:
    with pytest.raises(CompileError, match="NumPy's on one path and may be Python's"):
        pygpu.compile(lambda p=Position: function(p), target="interpreter")(shape=(2, 5))


def test_what_is_numpys_on_one_path_alone_is_used_elsewhere() -> None:
    def used(p: Position) -> Any:
        is_set: Any = False
        if p.x > 1:
            is_set = FLAGS[p.x]
        return (
            is_set * is_set,
            1 + is_set,
            is_set | (p.y > 0),
            0.5 if is_set else 2,
            is_set + FLAGS[0],
        )

    results = pygpu.compile(used, target="interpreter")(shape=(2, 5))
    for y, x in np.ndindex(2, 5):
        expected = [float(v) for v in used(Position(x, y))]
        assert [float(np.asarray(each)[y, x]) for each in results] == expected


@pytest.mark.parametrize(
    "function",
    [
        lambda p: FLAGS[p.x] - FLAGS[p.y],
        lambda p: FLAGS[p.x] - (p.y > 0),
        lambda p: -FLAGS[p.x],
        lambda p: operator.pos(FLAGS[p.x]),
        lambda p: round(FLAGS[p.x]),
    ],
)
def test_what_numpy_refuses_raises_its_error(function: Callable[[Position], Any]) -> None:
    with pytest.raises(TypeError) as expected:
        function(Position(0, 0))
    with pytest.raises(TypeError) as caught:
        pygpu.compile(lambda p=Position: function(p), target="interpreter")(shape=(2, 5))
    assert str(caught.value).splitlines()[0] == str(expected.value).splitlines()[0]


@pytest.mark.parametrize(
    "function",
    [
        lambda p: NUMBERS[p.x > 1],
        lambda p: NUMBERS[FLAGS[p.x]],
        lambda p: np.array([p.x, 2.0])[p.y > 0],
    ],
)
def test_a_bool_is_no_place_in_an_array(function: Callable[[Position], Any]) -> None:
    with pytest.raises(CompileError, match="a bool is a mask where it indexes a NumPy array"):
        pygpu.compile(lambda p=Position: function(p), target="interpreter")(shape=(2, 5))


def test_numpys_bool_is_no_place_in_a_list() -> None:
    def chosen(p: Position) -> Any:
        return PYTHONS[FLAGS[p.x]]

    with pytest.raises(TypeError, match="list indices must be integers"):
        chosen(Position(0, 0))
    with pytest.raises(CompileError, match="is no place in a list or tuple"):
        pygpu.compile(chosen, target="interpreter")(shape=(2, 5))


def test_a_bool_is_a_place_in_a_list() -> None:
    result = pygpu.compile(
        lambda p=Position: NUMBERS.tolist()[p.x > 1] + np.take(NUMBERS, p.x > 1),
        target="interpreter",
    )(shape=(1, 3))
    assert np.asarray(result)[0].tolist() == [1.0, 1.0, -2.5]


WIDE = np.array([0, 5, -7, 9])
LISTED = [0, 2, 0, 5]


def a_number_or_a_truth(p: Position) -> Any:
    either = p.x % 2 or FLAGS[p.y]
    return either + FLAGS[p.x]


def the_larger_one_or_a_truth(p: Position) -> Any:
    return max(p.x % 2, FLAGS[p.y]) + PYTHONS[p.x]


@pytest.mark.parametrize("function", [a_number_or_a_truth, the_larger_one_or_a_truth])
def test_what_may_be_numpys_truth_or_a_number_is_not_added_to_a_truth(
    function: Callable[[Position], Any],
) -> None:
    assert {int(function(Position(x, y))) for y in range(2) for x in range(5)} == {0, 1, 2}
    with pytest.raises(CompileError, match="Python counts, NumPy does not"):
        pygpu.compile(lambda p=Position: function(p), target="interpreter")(shape=(2, 5))


def the_larger_of_two(p: Position) -> Any:
    return 7, max(WIDE[p.x], LISTED[p.y])


def numpys_or_an_int(p: Position) -> Any:
    return 7, WIDE[p.x] if p.y > 0 else p.x


def an_int_in_some_rounds(p: Position) -> Any:
    k = 0
    for n in range(p.x):
        k = p.y if n > 1 else k
    return WIDE[p.y], k


def pythons_int_of_an_int(p: Position) -> Any:
    return WIDE[p.y], int(p.x)


@pytest.mark.parametrize(
    "function",
    [the_larger_of_two, numpys_or_an_int, an_int_in_some_rounds, pythons_int_of_an_int],
)
@pytest.mark.parametrize("advice", [None, int, np.float64])
def test_a_division_that_may_be_numpys_is_not_handled(
    function: Callable[[Position], Any], advice: Any
) -> None:
    def quotient(p: Position) -> Any:
        a, b = function(p)
        if advice is not None:
            a, b = advice(a), advice(b)
        try:
            return 1.0 * max(min(a / b, 99), -99)
        except ZeroDivisionError:
            return 777.0

    compiled = pygpu.compile(quotient, target="interpreter")
    if advice is None:
        with pytest.raises(CompileError, match="whether this raises where it divides by zero"):
            compiled(shape=(2, 4))
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = [[quotient(Position(x, y)) for x in range(4)] for y in range(2)]
    np.testing.assert_allclose(np.asarray(compiled(shape=(2, 4))), expected, rtol=1e-6)
