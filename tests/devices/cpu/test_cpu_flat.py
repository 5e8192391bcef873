"""Images whose rows are short, and functions that need no rows: the results of native code, and
that they take no longer for it."""

import time

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position
from pygpu.devices.cpu.chunks import cores
from pygpu.devices.cpu.moves import columns_of, put_back
from pygpu.devices.cpu.program import MANY, CpuProgram
from pygpu.ssa import BOUNDARIES

RNG = np.random.default_rng(4)
TALL = [(64, 1), (97, 3), (300, 15), (65, 16), (40, 7)]


def around(im: Image, p: Position, g: Float):
    """Reads near and far, and knows where it is and how large the image."""
    far = im((p.y // 2, p.x * 3 + 1))
    near = 2 * im(p + (2, 0)) - im(p + (0, -3)) + im(p + (-1, 5)) * g
    return near + far * p.x - 0.5 * p.y / im.height, im(p) * im.width


@pytest.mark.parametrize("shape", TALL)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_tall_images_are_computed_as_others(shape, boundary):
    for channels in ((), (3,)):
        array = RNG.random((*shape, *channels), dtype=np.float32)
        given = Image(array, boundary=boundary, cval=2.5)
        made = pygpu.compile(around, target="cpu")(given, 0.7)
        wanted = pygpu.compile(around, target="interpreter")(given, 0.7)
        for ours, theirs in zip(made, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16"])
@pytest.mark.parametrize("shape", [(70, 1), (70, 5)])
def test_tall_results_go_into_arrays(shape, dtype):
    array = (RNG.random(shape) * 100).astype(dtype)
    out = np.empty(shape, np.float32)
    first = pygpu.compile(lambda im, p: im(p + (0, 1)), target="cpu", im=Image, p=Position)
    assert first(array, out=out) is out
    scale = 255 if dtype == "uint8" else 1
    np.testing.assert_allclose(out * scale, np.vstack([array[1:], array[-1:]]), rtol=1e-6)


def in_its_column(im: Image, p: Position, step: Float):
    """Of each component the same, of rows that a number says, and of a column of its own."""
    y = int((p.y + 0.5) * step)
    return 0.7 * im((p.x, y)) + 0.4 * im((p.x, y - 2)) - 0.2 * im((p.x, 2 * p.y + 1)) ** 2


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("channels", [2, 3])
def test_components_of_other_rows_are_as_numbers_of_a_row(boundary, dtype, channels):
    """Rows wider than the image read outside by texels."""
    for shape in ((9, 40), (7, 5), (3, 1), (40, 130)):
        texels = RNG.random((*shape, channels), np.float32)
        array = texels if dtype == "float32" else np.uint8(255 * texels)
        given = Image(array, boundary=boundary, cval=0.5)
        program = pygpu.compile(in_its_column, target="cpu")
        plain = pygpu.compile(in_its_column, target="interpreter")
        for asked in (shape, (5, shape[1] + 37), (shape[0] + 3, shape[1])):
            for step in (0.4, 1.7):
                made = program(given, step, shape=asked, dtype="float32")
                wanted = plain(given, step, shape=asked, dtype="float32")
                np.testing.assert_allclose(np.asarray(made), np.asarray(wanted), 1e-5, 1e-5)
    assert f"<{channels} x float>" not in program.lower(given, 0.4).source


def test_images_of_other_sizes_are_turned_with_the_result():
    tall, small = RNG.random((80, 2), np.float32), RNG.random((5, 9), np.float32)

    def both(a: Image, b: Image, p: Position):
        return a(p) + b(p + (1, 2))

    made = pygpu.compile(both, target="cpu")(tall, small)
    y, x = np.minimum(np.arange(80) + 2, 4), np.minimum(np.arange(2) + 1, 8)
    np.testing.assert_allclose(made, tall + small[np.ix_(y, x)], rtol=1e-6)


def scaled(a: Image, b: Image, p: Position, g: Float):
    total = a(p) * g + b(p) * 0.25 + 1.0
    return total if total > 1.5 else total * total


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (33, 47), (1000, 1), (1, 1000), (129, 128)])
def test_functions_of_a_pixel_alone_have_one_row(shape):
    a, b = RNG.random((2, *shape), dtype=np.float32)
    made = pygpu.compile(scaled, target="cpu")(a, b, 0.7)
    total = a * 0.7 + b * 0.25 + 1
    np.testing.assert_allclose(made, np.where(total > 1.5, total, total * total), rtol=1e-5)


def test_texels_at_known_places_are_read_there():
    def relative(im: Image, p: Position):
        return im(p) - im((3, 2))

    array = RNG.random((6, 9), dtype=np.float32)
    made = pygpu.compile(relative, target="cpu")(array)
    np.testing.assert_allclose(made, array - array[2, 3], rtol=1e-6)


def test_images_of_other_sizes_keep_their_rows():
    a, b = RNG.random((6, 9), np.float32), RNG.random((4, 5), np.float32)
    made = pygpu.compile(scaled, target="cpu")(a, b, 0.7)
    total = a * 0.7 + np.pad(b, ((0, 2), (0, 4)), mode="edge") * 0.25 + 1
    np.testing.assert_allclose(made, np.where(total > 1.5, total, total * total), rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "is_flat"),
    [
        (lambda im, p: im(p) * 2, True),
        (lambda im, p: im(p) + im(p + (0, 1)), False),
        (lambda im, p: im(p) + p.x, False),
        (lambda im, p: im(p) + im.width, False),
        (lambda im, p: im((p.y, p.x)), False),
        (lambda im, p: im(p) + im((3, 2)), False),
        (lambda im, p: im((2, int(3 * im(p)))), False),
        (lambda im, p: p.x, False),
    ],
)
def test_which_functions_have_no_need_of_rows(function, is_flat):
    compiled = pygpu.compile(function, target="cpu", im=Image, p=Position)
    compiled(np.zeros((4, 4), np.float32))
    (made,) = compiled._cache.programs.values()
    assert made.program.plan.flat == is_flat


@pytest.mark.parametrize("reach", [0, 1])
def test_thin_images_cost_about_what_square_ones_do(reach):
    def near(im: Image, p: Position):
        return im(p) * 0.3 + im(p + (0, reach)) * 0.7

    compiled = pygpu.compile(near, target="cpu")

    def seconds(shape):
        array, out = RNG.random(shape, dtype=np.float32), np.empty(shape, np.float32)
        times = []
        for _ in range(6):
            begun = time.perf_counter()
            compiled(array, out=out)
            times.append(time.perf_counter() - begun)
        return min(times)

    assert seconds((2**18, 1)) < 40 * seconds((512, 512))  # it was 900 times as much


@pytest.mark.parametrize("reach", [0, 1])
def test_thin_images_are_shared_out_as_square_ones_are(reach):
    def near(im: Image, p: Position):
        return im(p) * 0.25 + im(p + (0, reach)) * 0.5

    def tiles(shape):
        compiled, array = pygpu.compile(near, target="cpu"), RNG.random(shape, dtype=np.float32)
        expected = array * 0.25 + array[[*range(reach, len(array)), *[-1] * reach]] * 0.5
        np.testing.assert_allclose(compiled(array), expected, rtol=1e-6)
        (made,) = compiled._cache.programs.values()
        programs = [made.program, made.program.turned, made.program.__dict__.get("by_rows")]
        programs += [program.__dict__.get("by_rows") for program in programs if program]
        (layout,) = [each for program in programs if program for each in program.layouts.values()]
        return layout.tiles

    assert tiles((2**20, 1)) <= 4 * tiles((1024, 1024))


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_long_rows_alone_are_computed_as_others(boundary):
    """Results of one row have code of their own, from which equal bits come."""

    def near(im: Image, p: Position):
        return im(p + (2, 0)) - 3 * im(p + (0, -1)) + im(p + (-1, 1)) + 0.5 * im(p + (0, 2))

    row = RNG.random((1, (1 << 16) + 13), dtype=np.float32)
    compiled = pygpu.compile(near, target="cpu")
    whole = compiled(Image(row, boundary=boundary, cval=0.5), shape=(6, row.shape[1]))
    alone = compiled(Image(row, boundary=boundary, cval=0.5))
    assert np.array_equal(np.asarray(alone)[0], np.asarray(whole)[0])
    (made,) = compiled.specialisations()
    assert made.program.plan.rows > 1
    assert made.program.__dict__.get("by_rows").plan.rows == 1


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_large_images_whose_rows_share_little_are_computed_by_rows(boundary):
    """Equal bits come of blocks of several rows, which small ones have."""

    def wave(now: Image, before: Image, p: Position):
        beside = now(p + (1, 0)) + now(p + (-1, 0)) + now(p + (0, 1)) + now(p + (0, -1))
        return 2 * now(p) - before(p) + 0.2 * (beside - 4 * now(p))

    now, before = (RNG.random((401, 389), dtype=np.float32) for _ in range(2))
    compiled = pygpu.compile(wave, target="cpu")
    seen = Image(now, boundary=boundary, cval=0.5)
    results = [np.asarray(compiled(seen, Image(before))) for _ in range(3)]
    (made,) = compiled.specialisations()
    assert made.program.plan.rows > 1
    assert made.program.by_rows.plan.rows == 1
    assert made.program.by_rows.layouts
    assert np.array_equal(results[0], results[2])
    top = Image(now[:90], boundary=boundary, cval=0.5)
    assert np.array_equal(np.asarray(compiled(top, before[:90]))[1:80], results[2][1:80])


def test_rows_that_share_most_of_what_they_read_are_computed_together():
    def total(im: Image, p: Position):
        return sum(im(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1))

    array = RNG.random((512, 640), dtype=np.float32)
    compiled = pygpu.compile(total, target="cpu")
    for _ in range(3):
        compiled(array)
    (made,) = compiled.specialisations()
    assert "by_rows" not in made.program.__dict__


def near_alone(im: Image, other: Image, p: Position):
    """Reads near the pixel alone, and asks for rows."""
    total = 2 * im(p + (2, -3)) - other(p + (-1, 0)) + im(p + (0, 4))
    return total * p.y, im(p) + im.height


def until_enough(im: Image, other: Image, p: Position):
    total, i = 0.0, 0
    while total < 4 and i < 30:
        total += abs(im(p + (-1, 1))) + other(p) * 0.1
        i += 1
    return total, i


@pytest.mark.parametrize("function", [near_alone, until_enough])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_rows_of_few_columns_are_as_texels(function, boundary, dtype):
    compiled = pygpu.compile(function, target="cpu")
    for columns in (2, 3, 4):
        texels = (RNG.random((70, columns + 1)) * 250).astype(dtype)
        given = [Image(texels[:, k : columns + k], boundary=boundary, cval=0.5) for k in (0, 1)]
        wanted = pygpu.compile(function, target="interpreter")(*given)
        for ours, theirs in zip(compiled(*given), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), 2e-6, 2e-6)
        (made,) = [each.program for each in compiled.specialisations()]
        assert made.few[columns] is not None
        assert made.turned is None


@pytest.mark.parametrize("boundary", ["nearest", "wrap", "mirror", "constant"])
@pytest.mark.parametrize("dtype", ["float32", "uint16"])
def test_rows_shorter_than_some_blocks_are_turned_where_there_are_many(
    boundary, dtype, monkeypatch
):
    # As of functions for which the ends of rows have no code of their own.
    monkeypatch.setattr(CpuProgram, "can_end", False)

    @pygpu.compile(target="cpu")
    def slope(im: Image, p: Position):
        return im(p + (2, 0)) - 0.5 * im(p - (1, 1)) + 0.25 * p.x

    columns, rows = 40, MANY // 40 + 1
    texels = (RNG.random((rows, columns)) * 250).astype(dtype)
    image = Image(texels, boundary=boundary, cval=0.5)
    found = np.asarray(slope(image))
    (made,) = [each.program for each in slope.specialisations()]
    assert made.turned is not None
    few = slice(0, MANY // 80)  # rows that are too few to be turned
    part = np.asarray(slope(Image(texels[few], boundary=boundary, cval=0.5)))
    start = 1 if boundary == "wrap" else 0  # whose first row reads the last
    np.testing.assert_array_equal(found[few][start:], part[start:])


def test_functions_that_know_their_column_are_turned():
    def knows(im: Image, p: Position):
        return im(p + (1, 1)) * p.x

    compiled, texels = pygpu.compile(knows, target="cpu"), RNG.random((70, 3), np.float32)
    wanted = pygpu.compile(knows, target="interpreter")(texels)
    np.testing.assert_allclose(compiled(texels), wanted, 1e-6)
    (made,) = [each.program for each in compiled.specialisations()]
    assert made.few == {3: None}
    assert made.turned is not None


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_columns_are_turned_and_put_back(dtype, channels):
    for columns, height in ((2, 8195), (5, 4111), (15, 1031), (31, 700)):
        around = (RNG.random((height, columns + 2, channels)) * 250).astype(dtype)
        for texels in (around, around[:, 1:-1]):
            rows = columns_of(texels, cores())
            assert np.array_equal(rows, texels.swapaxes(0, 1))
            for target in (np.zeros(texels.shape, dtype), np.zeros_like(around)[:, 1:-1]):
                if target.shape == texels.shape:
                    put_back(rows, target, cores())
                    assert np.array_equal(target, texels)
