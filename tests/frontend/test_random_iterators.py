"""Random functions that take from iterators give what they give in CPython, or are refused."""

import os
import random
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position
from pygpu.core.errors import CompileError
from random_iterators import function

IM = (np.random.default_rng(2).integers(-8, 25, (3, 5)) / 8).astype(np.float32)
MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS = {"interpreter": 40, "cpu": 20, "fragment": 6, "compute": 6}
REFUSED = 0.3  # where an iterator stands must be known at compile time


@pytest.mark.timeout(200 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_random_iterators_give_what_they_give_in_python(on: str) -> None:
    require(on)
    count, refused = COUNTS[on] * MORE, []
    for number in range(count):
        seed = number if MORE == 1 else random.randrange(10**9)
        try:
            check(seed, on)
        except CompileError as error:
            refused.append(str(error))
    assert len(refused) <= REFUSED * count + 1, "\n".join(refused)


def check(seed: int, target: str) -> None:
    made, n = function(seed), seed % 4
    expected = [outcome(made.function, Position(x, y), n) for y, x in np.ndindex(IM.shape)]
    if not any(expected):
        return
    results = pygpu.compile(made.function, target=target)(Image(IM), n=n)
    rows = np.array([np.broadcast_to(np.asarray(one, float), IM.shape).ravel() for one in results])
    for want, have in zip(expected, rows.T, strict=True):
        if want is not None:
            np.testing.assert_allclose(have, want, 2e-4, 2e-4, err_msg=f"{seed}\n{made.text}")


def outcome(function: Any, p: Position, n: int) -> list[float] | None:
    """What a pixel is in plain Python; None where it raises."""
    try:
        return [float(part) for part in function(Image(IM), p, n)]
    except (ArithmeticError, ValueError, LookupError, StopIteration):
        return None
