"""Rows that follow each other in memory are computed as one where pixels read their columns alone,
and pointers to rows move from block to block: results are those of plain Python's rules."""

import itertools

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Volume
from pygpu.core import sampler

RULES = ("nearest", "reflect", "mirror", "wrap", "constant")
SHAPES = ((1, 1, 1), (2, 3, 5), (3, 1, 17), (5, 40, 7), (4, 67, 33), (9, 16, 64), (3, 50, 130))


@pygpu.compile(target="cpu")
def across_planes(v: Volume, p: Position):
    return v(p - (0, 0, 2)) * 2 - v(p + (0, 0, 1)) + v(p)


@pygpu.compile(target="cpu")
def columns(v: Volume, p: Position):
    return v(p - (0, 2, 0)) - v(p + (0, 1, 1)) * 0.5 + v(p + (0, 3, -1))


@pygpu.compile(target="cpu")
def around(v: Volume, p: Position):
    return v(p - (1, 1, 0)) - v(p + (2, 0, 1)) * 0.5 + v(p + (0, 2, -1)) * 0.25


@pygpu.compile(target="cpu")
def counted(v: Volume, p: Position):
    return v(p + (0, 1, 0)) + p.y * 0.5 - p.z


TAPS = {
    across_planes: [((-2, 0, 0), 2), ((1, 0, 0), -1), ((0, 0, 0), 1)],
    columns: [((0, -2, 0), 1), ((1, 1, 0), -0.5), ((-1, 3, 0), 1)],
    around: [((0, -1, -1), 1), ((1, 0, 2), -0.5), ((-1, 2, 0), 0.25)],
}


def expected(taps, texels, rule):
    """The sum of texels as a rule has them, in float64."""
    total = np.zeros(texels.shape)
    for place, weight in taps:
        at = [index + d for index, d in zip(np.indices(texels.shape), place, strict=True)]
        sizes = zip(at, texels.shape, strict=True)
        inside = np.all([(index >= 0) & (index < size) for index, size in sizes], axis=0)
        near = "nearest" if rule == "constant" else rule
        sizes = zip(at, texels.shape, strict=True)
        found = texels[tuple(sampler.indices(near, index, size) for index, size in sizes)]
        total += weight * (np.where(inside, found, 0.25) if rule == "constant" else found)
    return total


@pytest.mark.parametrize(
    ("dtype", "rule"),
    [*itertools.product(("float32", "uint8"), RULES), ("uint16", "mirror"), ("float16", "wrap")],
)
def test_columns_are_those_of_each_plane(dtype, rule):
    for shape in SHAPES:
        numbers = np.random.default_rng(shape[2]).random(shape)
        whole = np.dtype(dtype).kind == "u"
        most = np.iinfo(dtype).max if whole else 1
        texels = (numbers * most).astype(dtype)
        cval = 0.25 if rule == "constant" else 0
        volume = Volume(texels, boundary=rule, cval=cval)
        for function, taps in TAPS.items():
            found = function(volume, dtype="float32")
            np.testing.assert_allclose(
                np.asarray(found),
                expected(taps, texels / most, rule),
                atol=2e-6,
                err_msg=str(shape),
            )


def test_rows_that_are_counted_are_not_joined():
    texels = np.random.default_rng(3).random((5, 40, 24), np.float32)
    z, y = np.arange(5)[:, None, None], np.arange(40)[:, None]
    below = texels[:, np.minimum(np.arange(40) + 1, 39)]
    np.testing.assert_allclose(counted(texels), below + y * 0.5 - z, atol=1e-6)


@pygpu.compile(target="cpu")
def down(im: Image, p: Position):
    return im(p - (1, 2)) + im(p + (1, 3)) * 2 - im((p.x, 2 * p.y - 1))


@pytest.mark.parametrize("rule", RULES[:4])
@pytest.mark.parametrize("shape", [(3, 7), (40, 13), (200, 31), (257, 129)])
def test_pointers_move_down_images(shape, rule):
    texels = np.random.default_rng(3).random(shape, np.float32)
    y, x = np.indices(shape)

    def at(row, column):
        places = zip((row, column), shape, strict=True)
        return texels[tuple(sampler.indices(rule, place, size) for place, size in places)]

    expected = at(y - 2, x - 1) + at(y + 3, x + 1) * 2 - at(2 * y - 1, x)
    np.testing.assert_allclose(down(Image(texels, boundary=rule)), expected, atol=1e-6)


def halved(im: Image, p: Position):
    v, rounds = im(p) + im(p - (0, 1)), 0
    while v > 0.1 and rounds < 50:
        v *= 0.7
        rounds += 1
    return rounds, v


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("shape", [(6, 10), (63, 65), (200, 64), (257, 130)])
def test_loops_run_in_all_rows(shape, dtype):
    texels = (np.random.default_rng(1).random(shape) * 250).astype(dtype)
    rounds, v = pygpu.compile(halved, target="cpu")(texels)
    expected = pygpu.compile(halved, target="interpreter")(texels)
    assert np.array_equal(rounds, expected[0])
    assert np.array_equal(v, expected[1])
