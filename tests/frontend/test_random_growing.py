"""Random functions whose lists grow in loops give what they give in CPython, or are refused."""

import os
import random
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position
from pygpu.core.errors import CompileError
from random_growing import EndlessError, Growing, growing

INTS = np.random.default_rng(3).integers(-3, 9, (3, 6)).astype(np.int32)
MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS = {"interpreter": 8, "cpu": 3}


@pytest.mark.timeout(200 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_lists_that_grow_hold_what_they_hold_in_python(on: str) -> None:
    require(on)
    left, seed = COUNTS[on] * MORE, 0 if MORE == 1 else random.randrange(10**9)
    while left:
        made = growing(seed)
        expected = outcomes(made)
        if any(expected):
            check(made, expected, on, seed)
            left -= 1
        seed += 1


def outcomes(made: Growing) -> list[list[int] | None]:
    """What each pixel is in plain Python, None where it raises; nothing where one has no end."""
    found: list[list[int] | None] = []
    for y, x in np.ndindex(INTS.shape):
        try:
            found.append([int(part) for part in made.counted(Image(INTS), Position(x, y))])
        except LookupError:
            found.append(None)
        except EndlessError:
            return []
    return found


def check(made: Growing, expected: list[list[int] | None], on: str, seed: int) -> None:
    try:
        results: Any = pygpu.compile(made.function, target=on)(Image(INTS))
    except (CompileError, MemoryError):
        return
    rows = [np.broadcast_to(np.asarray(one), INTS.shape).ravel() for one in results]
    for want, have in zip(expected, np.array(rows).T.tolist(), strict=True):
        assert want is None or want == have, f"{seed}\n{made.text}"
