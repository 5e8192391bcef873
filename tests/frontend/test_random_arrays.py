"""What is changed through one of an array's names and views is seen through all: or is refused.

PYGPU_EXAMPLES=20 runs twenty times as many programs, other ones each time.
"""

import os
import random

import numpy as np
import pytest

import pygpu
from pygpu import CompileError, Position
from random_arrays import function

HEIGHT, WIDTH = 3, 5
MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNT = 30
TAKEN = 0.8  # of the functions compile at least; others are refused


@pytest.mark.timeout(120 * MORE)
def test_changes_are_seen_through_all_names_and_views() -> None:
    first = 0 if MORE == 1 else random.randrange(10**6)
    taken = [check(seed) for seed in range(first, first + COUNT * MORE)]
    assert sum(taken) >= TAKEN * len(taken)


def check(seed: int) -> bool:
    """Whether it compiles; it gives then what it gives in plain Python."""
    made = function(seed)
    try:
        results = pygpu.compile(made.function, target="interpreter")(shape=(HEIGHT, WIDTH))
    except CompileError:
        return False
    pixels = [made.function(Position(x, y)) for y, x in np.ndindex(HEIGHT, WIDTH)]
    expected = np.reshape(pixels, (HEIGHT, WIDTH, -1))
    assert np.allclose(np.stack(results, axis=-1), expected, rtol=1e-5), made.text
    return True
