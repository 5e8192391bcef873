"""Reads at known multiples of the pixel's coordinates on cpu, taken out of vectors."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.codegen.llvm.plan import Multiple
from pygpu.ssa import BOUNDARIES

RNG = np.random.default_rng(9)


def mean_of_four(im: Image, p: Position):
    q = p * 2
    return (im(q) + im(q + (1, 0)) + im(q + (0, 1)) + im(q + (1, 1))) * 0.25


def smaller(im: Image, p: Position):
    return sum(
        im((2 * p.x + i, 2 * p.y + j)) * (i + 2.5 * j) for j in range(-2, 3) for i in range(3)
    )


def thirds(im: Image, p: Position):
    return im((p.x * 3 + 1, p.y)) - im((3 * p.x - 2, p.y + 1)) * 0.5 + im((3 * p.x, p.y * 2))


def fourths(im: Image, p: Position):
    return im((p.x * 4 + 5, p.y * 3 - 4)) + 0.25 * im((4 * p.x + 2, p.y * 3))


def known_rows(im: Image, p: Position):
    return im((p.x, 3)) * im(p) + im((p.x + 1, 0))


def in_a_loop(im: Image, p: Position):
    total, i = 0.0 * im(p), 0
    while i < 3:
        total, i = total + im((p.x * 2 + 1, p.y * 2)) * i, i + 1
    return total


ALL = [mean_of_four, smaller, thirds, fourths, known_rows, in_a_loop]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("dtype", "channels"), [
    ("float32", 1), ("float32", 3), ("uint8", 1), ("uint8", 3), ("uint16", 2), ("uint8", 4),
    ("float16", 2),
])  # fmt: skip
def test_multiples_are_read_as_other_places(function, boundary, dtype, channels):
    compiled = pygpu.compile(function, target="cpu")
    plain = pygpu.compile(function, target="interpreter")
    for shape in ((37, 41), (5, 3), (66, 160)):
        texels = RNG.random((*shape, channels)) * (1 if dtype == "float32" else 250)
        given = Image(texels.astype(dtype), boundary=boundary, cval=0.25)
        for asked in (shape, (shape[0] // 2, shape[1] // 2), (2, 3 * shape[1])):
            if 0 not in asked:
                have, wanted = compiled(given, shape=asked), plain(given, shape=asked)
                np.testing.assert_allclose(np.asarray(have), np.asarray(wanted), 2e-6, 2e-6)


@pytest.mark.parametrize(("function", "apart"), [
    (mean_of_four, {(2, 2)}), (thirds, {(3, 1), (3, 2)}), (known_rows, {(1, 0)}),
])  # fmt: skip
def test_they_are_taken_from_vectors(function, apart):
    compiled = pygpu.compile(function, target="cpu")
    compiled(np.zeros((40, 40), np.uint8))
    (made,) = compiled.specialisations()
    found = made.program.plan.multiples.values()
    assert {place.apart for place in found} == apart
    assert all(isinstance(place, Multiple) for place in found)


@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 2), ("uint8", 4), ("uint16", 2)])
def test_only_texels_that_are_asked_for_are_decoded(dtype, channels):
    def picked(im: Image, p: Position):
        return im(p * 2)

    compiled = pygpu.compile(picked, target="cpu", dtype="float32")
    compiled(np.zeros((40, 40, channels), dtype))
    (made,) = compiled.specialisations()
    plan = made.program.plan
    cells = plan.vectors * plan.rows
    assert made.program.source.count("sitofp <") == channels * cells


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("apart", [2, 3, 4])
def test_the_greatest_is_chosen_as_stored(apart, dtype):
    def most(im: Image, p: Position):
        q = p * apart
        return max(im(q + (i, j)) for i in range(apart) for j in range(apart))

    compiled = pygpu.compile(most, target="cpu", dtype=dtype)
    for size in ((1, 1), (5, 67), (9, 130)):
        given = RNG.integers(0, np.iinfo(dtype).max, (size[0] * apart, size[1] * apart), dtype)
        blocks = given.reshape(size[0], apart, size[1], apart)
        assert np.array_equal(compiled(given, shape=size), blocks.max((1, 3)))
    (made,) = compiled.specialisations()
    assert made.program.plan.raw


def test_one_of_three_colours_is_fetched():
    compiled = pygpu.compile(fourths, target="cpu")
    compiled(np.zeros((40, 40, 3), np.uint8))
    (made,) = compiled.specialisations()
    assert len(made.program.plan.multiples) == 2  # two of four columns
    third = pygpu.compile(lambda im, p: im((p.x * 3, p.y)), target="cpu", im=Image, p=Position)
    third(np.zeros((40, 40, 3), np.uint8))
    (made,) = third.specialisations()
    assert not made.program.plan.multiples


def test_positions_that_may_wrap_or_vary_are_fetched():
    def far(im: Image, p: Position, k: pygpu.Int):
        return im((p.x * 5, p.y)) + im((p.x * k, p.y)) + im((-p.x, p.y)) + im((p.x * 2 + 90, p.y))

    compiled = pygpu.compile(far, target="cpu")
    given = RNG.random((30, 40), np.float32)
    wanted = pygpu.compile(far, target="interpreter")(given, 3)
    np.testing.assert_allclose(compiled(given, 3), wanted, 1e-6)
    (made,) = compiled.specialisations()
    assert not made.program.plan.multiples


def test_pipelines_read_multiples_of_what_they_make():
    half = pygpu.compile(mean_of_four, target="cpu")
    brighter = pygpu.compile(lambda im, p: im(p) * 2 + im(p + (0, 1)), target="cpu",
                             im=Image, p=Position)  # fmt: skip
    given = RNG.random((600, 700), np.float32)

    def steps(im):
        return half(brighter(im), shape=(300, 350))

    assert np.array_equal(pygpu.pipeline(steps, target="cpu")(given), steps(given))


def test_nothing_beside_a_view_is_written_and_views_are_read():
    half = pygpu.compile(mean_of_four, target="cpu")
    whole, around = RNG.random((90, 100), np.float32), np.zeros((50, 60), np.float32)
    view = whole[1:81, 3:99]
    half(view, shape=(40, 48), out=around[5:45, 7:55])
    assert np.array_equal(around[5:45, 7:55], half(view.copy(), shape=(40, 48)))
    around[5:45, 7:55] = 0
    assert not around.any()


def test_sums_of_sums_have_blocks_of_rows_that_share_them():
    weights = [float(w) for w in np.hanning(10)[1:-1] / 3.5]

    def halved(im: Image, p: Position):
        rows = [
            sum(w * im((2 * p.x + i - 3, 2 * p.y + j - 3)) for i, w in enumerate(weights))
            for j in range(8)
        ]
        return sum(w * row for w, row in zip(weights, rows, strict=True))

    given = RNG.random((61, 142), dtype=np.float32)
    compiled = pygpu.compile(halved, target="cpu")
    wanted = pygpu.compile(halved, target="interpreter")
    np.testing.assert_allclose(
        compiled(given, shape=(30, 71)), wanted(given, shape=(30, 71)), 1e-6, 1e-6
    )
    (made,) = compiled.specialisations()
    assert [chain.is_inner for chain in made.program.plan.chains] == [True] * 8 + [False]
    assert made.program.plan.rows >= 4
