"""What is changed through one of an object's names is seen through all: or is refused.

PYGPU_EXAMPLES=20 runs twenty times as many programs, other ones each time.
"""

import os
import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import pygpu
import random_arrays
import random_rebinding
from pygpu import CompileError, Position
from random_aliases import Aliases, function

HEIGHT, WIDTH = 3, 5
MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNT = 45
TAKEN = 0.35  # of the functions compile at least; others are refused


@pytest.mark.timeout(120 * MORE)
def test_changes_are_seen_through_all_names() -> None:
    check_some(function, TAKEN)


@pytest.mark.timeout(120 * MORE)
def test_changes_of_what_a_pixel_chooses_are_seen_through_all_names() -> None:
    check_some(partial(function, known=True), TAKEN)


@pytest.mark.timeout(120 * MORE)
def test_changes_of_arrays_are_seen_through_all_names_and_views() -> None:
    check_some(random_arrays.function, 2 * TAKEN, tolerance=1e-5)


@pytest.mark.timeout(120 * MORE)
def test_changes_of_what_loops_make_anew_are_seen_through_all_names() -> None:
    check_some(random_rebinding.function, 2 * TAKEN, tolerance=1e-5)


def check_some(make: Callable[[int], Aliases], least: float, tolerance: float = 0.0) -> None:
    """Check functions of some seeds, of which so many compile at least."""
    first = 0 if MORE == 1 else random.randrange(10**6)
    taken = [check(make(seed), tolerance) for seed in range(first, first + COUNT * MORE)]
    assert sum(taken) >= least * len(taken)


@pytest.mark.parametrize("seed", [2, 222])
def test_loops_that_rotate_names_settle(seed: int) -> None:
    check(function(seed))


@pytest.mark.parametrize("seed", [200245, 200418, 300173, 300269, 600574])
def test_which_object_a_pixel_chose_is_known(seed: int) -> None:
    check(function(seed, known=True))


def check(made: Aliases, tolerance: float = 0.0) -> bool:
    """Whether it compiles; it gives then what it gives in plain Python, ints to the last one."""
    try:
        results = pygpu.compile(made.function, target="interpreter")(shape=(HEIGHT, WIDTH))
    except CompileError as error:
        if "dynamic values cannot be compared" in error.msg:  # by us, not by the function
            raise
        return False
    actual = np.stack([np.asarray(plane) for plane in results], axis=-1)
    pixels = [made.function(Position(x, y)) for y, x in np.ndindex(HEIGHT, WIDTH)]
    kept = float if tolerance else wrapped
    expected = np.array([[kept(value) for value in pixel] for pixel in pixels])
    assert np.allclose(actual.reshape(expected.shape), expected, tolerance, 0.0), made.text
    return True


def wrapped(value: int) -> int:
    return (int(value) + 2**31) % 2**32 - 2**31


def test_functions_of_a_seed_are_the_same() -> None:
    assert function(3).text == function(3).text
