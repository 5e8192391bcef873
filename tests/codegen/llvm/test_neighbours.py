"""Texels beside a place that may be anywhere, which are read at once where all lie in the image."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pygpu

SIZES = [(1, 1), (2, 3), (5, 40), (40, 5), (64, 70)]


@pygpu.compile(target="cpu")
def around(im: pygpu.Image, places: pygpu.Image, p: pygpu.Position, taps=(), rounds=1):
    """Each round a column further."""
    q, total = places(p), 0.0
    for k in range(rounds):
        x, y = int(q.x) + k, int(q.y)
        total += sum(weight * im((x + i, y + j)) for i, j, weight in taps)
    return total


@pygpu.compile(target="cpu")
def one(im: pygpu.Image, places: pygpu.Image, p: pygpu.Position, i: int, j: int, weight: int):
    q = places(p)
    return weight * im((int(q.x) + i, int(q.y) + j))


def _taps(columns: range, rows: range) -> tuple[tuple[int, int, int], ...]:
    return tuple((i, j, 3 + 2 * i + 5 * j) for j in rows for i in columns)


TAPS = {
    "linear": _taps(range(2), range(2)),
    "cubic": _taps(range(-1, 3), range(-1, 3)),
    "wide": _taps(range(-3, 4), range(1)),
    "holes": ((0, 0, 1), (3, 0, 2), (-5, 2, 3), (9, 2, 4), (-4, 2, 5)),
}


@pytest.mark.parametrize("taps", TAPS.values(), ids=list(TAPS))
@pytest.mark.parametrize("boundary", ["constant", "nearest", "wrap"])
@pytest.mark.parametrize(
    ("dtype", "channels"),
    [
        ("float32", 1),
        ("float32", 3),
        ("float32", 4),
        ("uint8", 1),
        ("uint8", 3),
        ("float16", 4),
        ("int16", 2),
    ],
)
def test_taps_at_once_are_those_one_by_one(dtype, channels, boundary, taps) -> None:
    random = np.random.default_rng(0)
    for height, width in SIZES:
        texels = random.integers(0, 200, (height, width, channels)).astype(dtype)
        im = pygpu.Image(texels, normalize=False).sampled(boundary=boundary)
        shape = 9, 33, 2
        places = random.integers(-4, [width + 4, height + 4], shape).astype(np.float32)
        places[4:] = random.integers(0, [width, height], shape)[4:]
        places[0, 0] = np.inf, np.nan
        places[0, 9] = 2**31 - 2, -(2**31)
        single = [np.asarray(one(im, places, *tap)) for tap in taps]
        assert_array_equal(np.asarray(around(im, places, taps=taps)), sum(single))
        if (width, dtype) == (70, "float32"):
            more = [np.asarray(one(im, places, i + k, j, n)) for i, j, n in taps for k in range(9)]
            rounds = np.int32(9)  # a loop of the device
            assert_array_equal(np.asarray(around(im, places, taps=taps, rounds=rounds)), sum(more))
