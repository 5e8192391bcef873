"""vectorize, reduce and iterate."""

import functools
import math
import subprocess
import sys
from typing import Final

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from pygpu import Float, Image, Int, Position, Vec2, Vec3
from pygpu.core.device import Limits
from pygpu.devices import targets
from pygpu.execution.arguments import broadcasting
from pygpu.execution.arrays import recall
from pygpu.execution.folds import folding, totals

PHOTO = np.random.default_rng(1).random((37, 45), dtype=np.float32)
COLOUR = np.random.default_rng(2).integers(0, 256, (19, 23, 3), dtype=np.uint8)


# ---------------------------------------------------------------- vectorize


@pytest.fixture(scope="module")
def lin_comb():
    return pygpu.vectorize(lambda a, x, b, y: a * x + b * y)


def test_numpys_broadcasting_is_followed(lin_comb):
    x = np.random.default_rng(0).random((3, 1, 5))
    y = np.random.default_rng(0).random((4, 1))
    result = lin_comb(2.0, x, 3.0, y)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, 2 * x + 3 * y, rtol=1e-6)
    np.testing.assert_allclose(lin_comb(a=2.0, x=x, b=3.0, y=y), 2 * x + 3 * y, rtol=1e-6)
    with pytest.raises(ValueError, match=r"x \(3,\), y \(2,\)"):
        lin_comb(1.0, np.zeros(3), 1.0, np.zeros(2))


@pytest.mark.parametrize(
    "shape",
    [(1,), (7,), (4095,), (4096,), (4097,), (12289,), (2, 3, 4, 5), (100, 100), (3, 0), (0,)],
)
def test_any_shape_is_taken(lin_comb, shape):
    x = np.random.default_rng(0).random(shape).astype(np.float32)
    result = lin_comb(2.0, x, 1.0, x)
    assert result.shape == shape
    np.testing.assert_allclose(result, 3 * x, rtol=1e-6)


def test_many_rows_are_cut(monkeypatch, lin_comb):
    monkeypatch.setattr(broadcasting, "ROWS", 2)
    monkeypatch.setattr(broadcasting, "ROW", 16)
    x = np.random.default_rng(0).random(1000).astype(np.float32)
    np.testing.assert_allclose(lin_comb(2.0, x, 1.0, x), 3 * x, rtol=1e-6)


def test_scalars_alone_give_scalars(lin_comb):
    assert lin_comb(1, 2, 3, 4) == 14
    assert type(lin_comb(1, 2, 3, 4)) is int
    assert lin_comb(0.5, 2, 3, 4) == 13.0
    assert type(lin_comb(0.5, 2, 3, 4)) is float
    assert pygpu.vectorize(lambda x: x > 1)(2) is True
    assert lin_comb(1, np.array(2), 3, np.float32(4)) == 14


def test_arrays_are_raw():
    double = pygpu.vectorize(lambda x: x + x)
    result = double(np.array([100, 200], np.uint8))
    assert result.dtype == np.int32
    assert result.tolist() == [200, 400]
    with pytest.raises(OverflowError, match="x"):
        double(np.array([2**40]))
    assert pygpu.vectorize(lambda x: not x)(np.array([True, False])).tolist() == [False, True]
    assert pygpu.vectorize(lambda x: x / 2)(np.array([1, 2])).tolist() == [0.5, 1.0]


def test_scalars_are_no_part_of_the_program(lin_comb):
    lin_comb(1.0, PHOTO, 2.0, PHOTO)
    before = len(lin_comb._compiled._cache.translations)
    lin_comb(3.0, PHOTO, 4.0, PHOTO)
    assert len(lin_comb._compiled._cache.translations) == before


def test_tuples_and_vectors_come_back():
    f = pygpu.vectorize(lambda x: (x, x > 0.5, Vec2(x, 1)))
    a, b, c = f(PHOTO)
    np.testing.assert_array_equal(a, PHOTO)
    np.testing.assert_array_equal(b, PHOTO > 0.5)
    assert c.shape == (37, 45, 2)
    a, b, c = f(0.75)
    assert (a, b) == (0.75, True)
    assert type(c) is Vec2


def test_images_give_images():
    f = pygpu.vectorize(lambda c, k: c * k)
    image = Image(COLOUR, boundary="wrap")
    result = f(image, 0.5)
    assert isinstance(result, Image)
    assert result.boundary == "wrap"
    np.testing.assert_allclose(np.asarray(result), COLOUR / 510, rtol=1e-6)
    mask = np.random.default_rng(0).random(COLOUR.shape[:2])
    np.testing.assert_allclose(
        np.asarray(f(image, mask)), COLOUR / 255 * mask[..., None], rtol=1e-6
    )
    row = np.random.default_rng(0).random((1, 23))
    np.testing.assert_allclose(np.asarray(f(Image(PHOTO[:19, :23]), row)), PHOTO[:19, :23] * row)


def test_known_values_and_dtypes_are_told():
    power = pygpu.vectorize(lambda x, n: x**n, n=3, dtype="float64")
    assert power(np.arange(4.0)).tolist() == [0, 1, 8, 27]
    assert power(np.arange(4.0)).dtype == np.float64
    assert power(np.arange(4.0), dtype="int16").dtype == np.int16

    @pygpu.vectorize(k=2)
    def scaled(x, k):
        return x * k

    assert scaled(np.arange(3)).tolist() == [0, 2, 4]
    assert "scaled" in repr(scaled)


def test_numpys_functions_are_vectorized():
    x = np.random.default_rng(0).random(50)
    np.testing.assert_allclose(pygpu.vectorize(np.hypot)(x, 2.0), np.hypot(x, 2), rtol=1e-6)
    np.testing.assert_allclose(pygpu.vectorize(math.sin)(x), np.sin(x), rtol=1e-6)


def test_results_go_into_an_out(lin_comb):
    out = np.empty(PHOTO.shape)
    assert lin_comb(1.0, PHOTO, 1.0, PHOTO, out=out) is out
    np.testing.assert_allclose(out, 2 * PHOTO)
    with pytest.raises(ValueError, match="shape"):
        lin_comb(1.0, PHOTO, 1.0, PHOTO, out=np.empty(3))
    pair = pygpu.vectorize(lambda x: (x, Vec2(x, -x)))
    out = np.empty((*PHOTO.shape, 2), np.float32)
    a, b = pair(PHOTO, out=(None, out))
    np.testing.assert_array_equal(a, PHOTO)
    assert b is out
    np.testing.assert_array_equal(out[..., 1], -PHOTO)


def test_keywords_are_arguments_like_others():
    def blend(x, *others, t, **more):
        return x * (1 - t) + sum(others) * t + sum(more.values())

    x = np.random.default_rng(0).random(100)
    f = pygpu.vectorize(blend)
    np.testing.assert_allclose(f(x, 2.0, x, t=x), x * (1 - x) + (2 + x) * x, rtol=1e-5)
    np.testing.assert_allclose(f(x, t=0.5, a=x, b=1), x * 1.5 + 1, rtol=1e-5)
    assert f(1, t=3, a=4) == 2
    image = f(Image(PHOTO), t=0.5, a=PHOTO)
    np.testing.assert_allclose(np.asarray(image), PHOTO * 1.5, rtol=1e-5)


def test_vectorized_functions_are_lowered(lin_comb):
    lowered = lin_comb.lower(2.0, PHOTO, 3.0, PHOTO)
    assert lowered.stats["taps"] == 2
    assert lowered.target == lin_comb.target
    assert "lambda" in lowered.python
    assert lin_comb.lower(2.0, Image(PHOTO), 3.0, PHOTO).stats["taps"] == 2
    assert lin_comb.lower(1, 2, 3, 4).stats["taps"] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_broadcast_arrays_of_several_cuts_are_spread_out_as_they_are_needed(monkeypatch, dtype):
    monkeypatch.setattr(broadcasting, "ROWS", 2)
    monkeypatch.setattr(broadcasting, "ROW", 16)
    x = np.random.default_rng(0).random((50, 1)).astype(dtype)
    y = np.random.default_rng(1).random((40, 50)).astype(dtype).T
    f = pygpu.vectorize(lambda x, y: x + 2 * y)
    np.testing.assert_allclose(f(x, y), x + 2 * y, rtol=1e-6)
    expected = x + 2 * y
    assert f(x, y, out=y) is y
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_an_out_may_overlap_an_argument():
    x = np.random.default_rng(0).random(20000).astype(np.float32)
    expected = x[:-1] * 2
    pygpu.vectorize(lambda x: x * 2)(x[:-1], out=x[1:])
    np.testing.assert_array_equal(x[1:], expected)


@pytest.mark.parametrize(
    ("args", "words"),
    [(("a", 1, 2, 3), "a: takes numbers"), ((1, 2, 3), "missing"), ((1, None, 2, 3), "x: takes")],
)
def test_wrong_arguments_are_named(lin_comb, args, words):
    with pytest.raises(TypeError, match=words):
        lin_comb(*args)


def test_functions_of_images_and_positions_are_for_compile():
    with pytest.raises(TypeError, match="'p' is no scalar"):
        pygpu.vectorize(lambda x, p=Position: x)


# ---------------------------------------------------------------- reduce


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (8, 8), (37, 45), (65, 129)])
def test_folds_take_every_texel_once(shape):
    array = np.random.default_rng(0).random(shape, dtype=np.float32)
    assert pygpu.reduce(lambda a, b: a + b, array) == pytest.approx(array.sum(dtype=float), 1e-6)
    assert pygpu.reduce(max, array) == array.max()
    ints = np.arange(np.prod(shape)).reshape(shape)
    assert pygpu.reduce(lambda a, b: a + b, ints) == ints.sum()
    assert pygpu.reduce(lambda a, b: a ^ b, Image(ints)) == np.bitwise_xor.reduce(ints, axis=None)


def test_vectors_and_tuples_are_folded():
    total = pygpu.reduce(lambda a, b: a + b, COLOUR)
    assert isinstance(total, np.ndarray)
    np.testing.assert_allclose(total, (COLOUR / 255).sum((0, 1)), rtol=1e-5)
    low, high = pygpu.reduce(
        lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), PHOTO, map=lambda v: (v, v)
    )
    assert (low, high) == (PHOTO.min(), PHOTO.max())


def test_texels_are_mapped_with_their_positions():
    count = pygpu.reduce(lambda a, b: a + b, PHOTO, map=lambda v: int(v > 0.5))
    assert count == (PHOTO > 0.5).sum()
    weight = pygpu.reduce(lambda a, b: a + b, PHOTO, map=lambda v, p: v * p.x)
    assert weight == pytest.approx((PHOTO * np.arange(45)).sum(dtype=float), rel=1e-5)

    def brightest(a, b):
        return a if a.x >= b.x else b

    value, x, y = pygpu.reduce(brightest, PHOTO, map=lambda v, p: Vec3(v, p.x, p.y))
    assert PHOTO[int(y), int(x)] == value == PHOTO.max()


def test_bools_are_counted():
    assert pygpu.reduce(lambda a, b: a + b, PHOTO > 0.5, initial=0) == (PHOTO > 0.5).sum()
    assert pygpu.reduce(lambda a, b: a and b, PHOTO >= 0.0) is True


def test_every_target_folds_alike(target):
    f = functools.partial(pygpu.reduce, lambda a, b: a + b, target=target)
    assert f(PHOTO) == pytest.approx(PHOTO.sum(dtype=float), rel=1e-6)


def test_equal_lambdas_are_compiled_once():
    folding.program.cache_clear()
    for _ in range(3):
        pygpu.reduce(lambda a, b: a + b, PHOTO)
    assert folding.program.cache_info().misses == 1


def test_one_texel_is_what_functions_see():
    assert pygpu.reduce(max, np.array([[51]], np.uint8)) == pytest.approx(0.2)
    assert pygpu.reduce(max, np.array([[51]], np.uint8), map=lambda v, p: v + p.x) == (
        pytest.approx(0.2)
    )
    assert pygpu.reduce(max, Image(np.array([[51]], np.uint8), normalize=False)) == 51


def test_a_tuple_of_one_is_a_tuple():
    def add(a, b):
        return (a[0] + b[0],)

    (total,) = pygpu.reduce(add, PHOTO, map=lambda v: (v,))
    assert total == pytest.approx(PHOTO.sum(dtype=float), rel=1e-5)


@pytest.mark.parametrize(
    ("function", "map", "words"),
    [
        (lambda a, b: (a, b), None, r"gives \(float, float\) of two values that are float.*map="),
        (lambda a, b: Vec2(a, b), None, "gives vec2 of two values that are float"),
        (lambda a, b: a.x + b.x, lambda v: Vec2(v, v), "gives float of two values that are vec2"),
        (lambda a, b: (a[0],), lambda v: (v, 1), r"gives \(float,\) .* that are \(float, int\)"),
    ],
)
def test_what_is_folded_must_be_like_what_comes_of_it(function, map, words):
    with pytest.raises(TypeError, match=words):
        pygpu.reduce(function, PHOTO, map=map)


def test_what_a_device_does_not_hold_is_folded_part_by_part(target, monkeypatch):
    whole = Limits(1 << 40, 1 << 40, 1 << 40)
    for limits in (whole, Limits(16, 1 << 40, 1 << 40), Limits(64, 2000, 1 << 40)):
        monkeypatch.setattr(targets, "limits", lambda device, limits=limits: limits)
        recall.clear()  # a device's limits stay what they are, so plans do not ask for them again
        total = functools.partial(pygpu.reduce, lambda a, b: a + b, target=target)
        assert total(PHOTO) == pytest.approx(PHOTO.sum(dtype=float), rel=1e-5)
        weight = total(PHOTO, map=lambda v, p: v * p.x * p.y)
        places = np.arange(45) * np.arange(37)[:, None]
        assert weight == pytest.approx((PHOTO * places).sum(dtype=float), rel=1e-5)
        np.testing.assert_allclose(total(COLOUR), (COLOUR / 255).sum((0, 1)), rtol=1e-5)
        ints = np.arange(37 * 45).reshape(37, 45)
        low, high = pygpu.reduce(
            lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
            ints, map=lambda v: (v, v), target=target,
        )  # fmt: skip
        assert (low, high) == (0, 37 * 45 - 1)
        assert pygpu.reduce(lambda a, b: a or b, PHOTO > 2, target=target) is False


def test_what_cannot_be_folded_is_refused():
    with pytest.raises(TypeError, match="function"):
        pygpu.reduce(3, PHOTO)
    with pytest.raises(TypeError, match="map"):
        pygpu.reduce(max, PHOTO, map=3)
    with pytest.raises(ValueError, match="4 axes"):
        pygpu.reduce(max, np.zeros((1, 2, 3, 4)))


def test_sums_may_begin_on_the_device(monkeypatch):
    monkeypatch.setattr(totals, "ON_DEVICE", 0)
    ints = np.random.default_rng(0).integers(-(2**31), 2**31, (200, 30), dtype=np.int32)
    for array in (PHOTO, COLOUR, ints, ints > 0):
        image = Image(array)
        storage = image.storage
        host, storage.array = storage.array, None
        storage.download = lambda host=host: host
        raw = array / 255 if array.dtype == np.uint8 else array
        for axis in (None, 0, (0, 1)):
            storage.array = None
            exact = raw.sum(axis, dtype=np.int64 if raw.dtype.kind in "ib" else float)
            np.testing.assert_allclose(image.sum(axis), exact, rtol=1e-6)
            storage.array = None
            np.testing.assert_allclose(image.max(axis), raw.max(axis), rtol=1e-6)


# ---------------------------------------------------------------- iterate


@pygpu.compile
def blur(im: Image, p: Position, weight: Float = 0.5):
    return weight * im(p) + (1 - weight) * im(p + (1, 0))


def rounds(image, n, **kwargs):
    for _ in range(n):
        image = blur(image, **kwargs)
    return image


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rounds_are_repeated_calls(n):
    np.testing.assert_allclose(blur.iterate(PHOTO, n), rounds(PHOTO, n), rtol=1e-6)
    np.testing.assert_allclose(
        blur.iterate(PHOTO, n, 0.25), rounds(PHOTO, n, weight=0.25), rtol=1e-6
    )
    np.testing.assert_allclose(
        blur.iterate(PHOTO, n, weight=0.25), rounds(PHOTO, n, weight=0.25), rtol=1e-6
    )


def test_between_rounds_nothing_is_quantised():
    picture = PILImage.fromarray(COLOUR)
    result = blur.iterate(picture, 4)
    assert result.mode == "RGB"
    exact = rounds(COLOUR.astype(np.float32) / 255, 4)
    np.testing.assert_allclose(np.asarray(result), exact * 255, atol=0.501)


def test_how_it_is_read_survives_the_rounds():
    image = Image(PHOTO, boundary="wrap", interpolation="linear")
    result = blur.iterate(image, 3)
    assert (result.boundary, result.interpolation) == ("wrap", "linear")
    expected = PHOTO
    for _ in range(3):
        expected = 0.5 * expected + 0.5 * np.roll(expected, -1, axis=1)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)


def test_out_and_dtype_count_at_the_end():
    out = np.empty(PHOTO.shape, np.uint8)
    assert blur.iterate(PHOTO, 3, out=out) is out
    np.testing.assert_array_equal(out, blur.iterate(PHOTO, 3, dtype="uint8"))
    np.testing.assert_allclose(out, rounds(PHOTO, 3) * 255, atol=0.501)
    array = PHOTO.copy()
    blur.iterate(array, 2, out=array)
    np.testing.assert_allclose(array, rounds(PHOTO, 2), rtol=1e-6)


def test_no_rounds_give_the_input_back():
    result = blur.iterate(PHOTO, 0)
    assert result is not PHOTO
    np.testing.assert_array_equal(result, PHOTO)
    image = Image(PHOTO)
    assert blur.iterate(image, 0) is image
    picture = PILImage.fromarray(COLOUR)
    assert np.array_equal(np.asarray(blur.iterate(picture, 0)), COLOUR)
    assert blur.iterate(COLOUR, 0).dtype == np.uint8
    np.testing.assert_allclose(blur.iterate(COLOUR, 0, dtype="float32"), COLOUR / 255, rtol=1e-6)
    out = np.empty(COLOUR.shape, np.float32)
    assert blur.iterate(COLOUR, 0, out=out) is out
    np.testing.assert_allclose(out, COLOUR / 255, rtol=1e-6)


def test_several_images_are_iterated_together():
    @pygpu.compile
    def swap(a: Image, b: Image, p: Position, mask: Image, step: Int):
        return b(p) + step, a(p) * mask(p)

    a, b = PHOTO, Image(PHOTO + 1, boundary="wrap")
    u, v = swap.iterate((a, b), 3, PHOTO * 0 + 2, step=1)
    assert u.boundary == "nearest"
    assert v.boundary == "wrap"
    x, y = PHOTO, PHOTO + 1
    for _ in range(3):
        x, y = y + 1, x * 2
    np.testing.assert_allclose(np.asarray(u), x, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(v), y, rtol=1e-6)


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((PHOTO, -1), ValueError, "rounds"),
        ((PHOTO, 1.5), TypeError, "rounds"),
        ((PHOTO, 2, 1.0, 2.0), TypeError, "takes 1 argument"),
        (((PHOTO, PHOTO), 2), TypeError, "2 images given"),
        (("x", 2), TypeError, "im"),
    ],
)
def test_wrong_rounds_are_refused(args, error, words):
    with pytest.raises(error, match=words):
        blur.iterate(*args)


def test_a_tuple_of_one_image_is_iterated_as_a_tuple():
    (result,) = blur.iterate((PHOTO,), 2)
    np.testing.assert_allclose(result, rounds(PHOTO, 2), rtol=1e-6)
    (result,) = blur.iterate((PHOTO,), 0)
    np.testing.assert_array_equal(result, PHOTO)
    single = pygpu.compile(lambda im=Image, p=Position: (im(p) * 2,))
    np.testing.assert_array_equal(single.iterate(PHOTO, 2), PHOTO * 4)


def test_as_many_must_come_out_as_go_in():
    pair = pygpu.compile(lambda im=Image, p=Position: (im(p), im(p)))
    with pytest.raises(TypeError, match="returns 2 images"):
        pair.iterate(PHOTO, 2)


def test_ints_and_bools_stay_what_they_are():
    @pygpu.compile
    def life(im: Image, p: Position):
        near = sum([int(im(p + (x, y))) for y in (-1, 0, 1) for x in (-1, 0, 1)])
        return near == 3 or (im(p) and near == 4)

    board = np.random.default_rng(0).random((16, 16)) < 0.4
    result = life.iterate(Image(board, boundary="wrap"), 5)
    assert result.dtype == bool
    expected = board
    for _ in range(5):
        shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
        near = sum(np.roll(expected, shift, (0, 1)).astype(int) for shift in shifts)
        expected = (near == 3) | (expected & (near == 4))
    np.testing.assert_array_equal(np.asarray(result), expected)


_WITHOUT_SCIPY: Final = """
import math, sys
import numpy as np
import pygpu
from pygpu import Image, Position

@pygpu.compile(target="cpu")
def f(im: Image, p: Position):
    return math.erf(im(p))

assert abs(f(np.full((2, 2), 0.5, np.float32))[0, 0] - math.erf(0.5)) < 1e-7
print("scipy" in sys.modules)
"""


def test_functions_of_libraries_are_known_without_importing_them() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _WITHOUT_SCIPY], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def test_functions_that_numba_compiles_are_walked_as_they_were_written() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def curve(x):
        return x * x + 1

    @numba.vectorize
    def half(x):
        return curve(x) / 2

    def f(im: Image, p: Position):
        return half(im(p))

    image = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)
    result = pygpu.compile(f, target="cpu")(image)
    np.testing.assert_allclose((image**2 + 1) / 2, result, rtol=1e-6)


class Tool:
    def __init__(self, function, strength=1.0):
        self.function, self.strength = function, strength


@pygpu.compile
def halved(im: Image, p: Position):
    return im(p) / 2


@pygpu.compile
def used(tool: Tool, im: Image, p: Position):
    return tool.function(im, p) * tool.strength


@pytest.mark.parametrize("called_before", [False, True])
def test_objects_hold_functions_that_are_compiled(called_before):
    function = pygpu.compile(halved.__wrapped__)
    if called_before:
        function(PHOTO)
    np.testing.assert_allclose(used(Tool(function, 3.0), PHOTO), PHOTO * 1.5, rtol=1e-6)
    np.testing.assert_allclose(used(Tool(function, 4.0), PHOTO), PHOTO * 2, rtol=1e-6)
    plain = used.__wrapped__(Tool(function, 3.0), Image(PHOTO), Position(2, 1))
    np.testing.assert_allclose(plain, PHOTO[1, 2] * 1.5, rtol=1e-6)
    doubled = pygpu.vectorize(lambda v: v * 2)

    @pygpu.compile
    def mapped(tool: Tool, im: Image, p: Position):
        return tool.function(im(p))

    np.testing.assert_allclose(mapped(Tool(doubled), PHOTO), PHOTO * 2, rtol=1e-6)
    folded = pygpu.reduce(np.add, PHOTO, map=lambda v, f: f(v), f=doubled)
    np.testing.assert_allclose(folded, PHOTO.sum(dtype=float) * 2, rtol=1e-5)

    @pygpu.compile
    def unused(tool: Tool, im: Image, p: Position):
        return im(p) * tool.strength

    for other in (pygpu.pipeline(lambda im: im), pygpu.filters.sobel):
        np.testing.assert_array_equal(unused(Tool(other), PHOTO), PHOTO)
