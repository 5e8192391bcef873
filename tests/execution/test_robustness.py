"""What happens when much happens at once: threads, arrays that overlap, every layout and dtype,
borders against SciPy, images smaller than what is read around a pixel."""

import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PILImage
from scipy import ndimage

import pygpu
from pygpu import Float, Image, Position, Vec3

PHOTO = np.random.default_rng(1).random((23, 31), dtype=np.float32)


def cross(im: Image, p: Position, gain: Float = 1.0):
    return gain * (im(p - (1, 0)) + 2 * im(p) + im(p + (0, 3)))


def crossed(array, gain=1.0):
    """What `cross` is to give, in NumPy."""
    padded = np.pad(array, ((0, 3), (1, 0)), mode="edge")
    height, width = array.shape
    left, low = padded[:height, :width], padded[3 : 3 + height, 1 : 1 + width]
    return gain * (left + 2 * array + low)


# ---------------------------------------------------------------- threads


def test_eight_threads_call_one_function(target):
    f = pygpu.compile(cross, target=target)

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(12):
            array = rng.random((rng.integers(1, 40), rng.integers(1, 40)), dtype=np.float32)
            gain = float(rng.random())
            image = f(Image(array), gain)
            out = np.empty_like(array)
            f(array, gain, out=out)
            np.testing.assert_allclose(out, crossed(array, gain), rtol=1e-5)
            np.testing.assert_array_equal(np.asarray(image), out)
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8), timeout=120)) == list(range(8))
    assert len(f._cache.programs) <= 2


def test_eight_threads_compile_at_once(target):
    start = threading.Barrier(8)

    @pygpu.compile(target=target)
    def inner(im: Image, p: Position, k=1):
        return im(p) * k

    def work(k):
        start.wait(timeout=60)
        f = pygpu.compile(lambda im=Image, p=Position: inner(im, p) + k, target=target)
        return np.array_equal(f(PHOTO), PHOTO + np.float32(k)) and np.array_equal(
            inner(PHOTO, k=k), PHOTO * k
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8), timeout=120))


def test_threads_share_an_image_and_its_download(target):
    f = pygpu.compile(lambda im=Image, p=Position: 2 * im(p), target=target)
    for _ in range(5):
        image = f(Image(PHOTO))
        with ThreadPoolExecutor(8) as pool:
            for array in pool.map(lambda _, image=image: np.asarray(image), range(8)):
                np.testing.assert_array_equal(array, 2 * PHOTO)


def test_an_error_in_one_thread_is_none_in_another(target):
    f = pygpu.compile(cross, target=target)

    def work(k):
        for _ in range(10):
            if k % 2:
                with pytest.raises(TypeError, match="gain"):
                    f(PHOTO, "much")
                with pytest.raises(ValueError, match="out"):
                    f(PHOTO, out=np.empty((2, 2), np.float32))
            else:
                np.testing.assert_allclose(f(PHOTO), crossed(PHOTO), rtol=1e-5)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8), timeout=120))


# ---------------------------------------------------------------- out


def windows(base):
    """Pairs of an input and an `out` of equal shape that share memory in one way or another."""
    yield base[:9, :11], base[:9, :11]
    yield base[:9, :11], base[1:10, :11]
    yield base[1:10, :11], base[:9, :11]
    yield base[:9, :11], base[2:11, 3:14]
    yield base[:9, :11], base[:9, :11][::-1]
    yield base[:9, :11], base[:9, :11][:, ::-1]
    yield base[:11, :11], base[:11, :11].T
    yield base[:18:2, :11], base[1:18:2, :11]
    yield base[::-1, :], base
    yield base, base
    yield base.ravel()[: 9 * 11].reshape(9, 11), base.ravel()[5 : 5 + 9 * 11].reshape(9, 11)


@pytest.mark.parametrize("which", range(11))
@pytest.mark.parametrize("kind", ["f4", ">f4", "f8"])
def test_out_may_overlap_its_input_in_every_way(target, which, kind):
    base = np.random.default_rng(0).random((19, 17)).astype(kind)
    given, out = list(windows(base))[which]
    f = pygpu.compile(cross, target=target)
    expected = f(given.copy())
    assert f(given, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_out_may_see_the_bytes_of_its_input(target):
    base = np.random.default_rng(0).random((8, 8), dtype=np.float32)
    out = base.view(np.uint8)[:, 4:12]
    f = pygpu.compile(cross, target=target)
    expected = f(base.copy(), 0.25, dtype="uint8")
    f(base, 0.25, out=out)
    np.testing.assert_array_equal(out, expected)


def test_outs_of_a_tuple_may_overlap_inputs(target):
    f = pygpu.compile(lambda a=Image, b=Image, p=Position: (b(p + (1, 0)), a(p)), target=target)
    a, b = PHOTO.copy(), PHOTO[::-1].copy()
    expected = f(a.copy(), b.copy())
    f(a, b, out=(a, b))
    np.testing.assert_array_equal(a, expected[0])
    np.testing.assert_array_equal(b, expected[1])


def test_out_may_overlap_an_image_but_an_image_never_changes(target):
    f = pygpu.compile(lambda im=Image, p=Position: 1 - im(p), target=target)
    array = PHOTO.copy()
    image = Image(array)
    f(image, out=array)
    np.testing.assert_array_equal(np.asarray(image), PHOTO)
    np.testing.assert_array_equal(array, 1 - PHOTO)


@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.sampled_from([-3, -2, -1, 1, 2, 3]), st.sampled_from([-3, -2, -1, 1, 2, 3])),
    st.sampled_from(["f4", ">f4", "f8", "u1", ">u2", "i2", ">i4", "?", "f2"]),
    st.booleans(),
)
@settings(max_examples=40)
def test_any_strides_and_byte_orders_go_in_and_out(shape, steps, dtype, transposed):
    f = pygpu.compile(lambda im=Image, p=Position: im(p))
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 2 if dtype == "?" else 120, (20, 20)).astype(dtype)
    into = np.zeros((20, 20), dtype)
    views = []
    for each in (whole, into):
        view = each[:: steps[0], :: steps[1]][: shape[0], : shape[1]]
        views.append(view.T if transposed else view)
    assert f(views[0], out=views[1]) is views[1]
    np.testing.assert_array_equal(*views)


# ---------------------------------------------------------------- borders

SCIPY = {
    "nearest": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "wrap",
    "constant": "constant",
}  # fmt: skip
SIZES = [(1, 1), (1, 2), (2, 1), (1, 7), (3, 3), (5, 2), (4, 9), (17, 16)]


@pytest.mark.parametrize("boundary", SCIPY)
@pytest.mark.parametrize("reach", [1, 2, 6])
def test_borders_are_scipys_at_every_size(target, boundary, reach):
    side = 2 * reach + 1
    kernel = np.random.default_rng(2).integers(-4, 5, (side, side)).astype(np.float64)

    def correlate(im: Image, p: Position):
        return sum([w * im(p + d) for w, d in zip(kernel.ravel(), pygpu.offsets(kernel))])  # noqa: B905

    f = pygpu.compile(correlate, target=target)
    for shape in SIZES:
        array = np.random.default_rng(3).integers(0, 9, shape).astype(np.float32)
        expected = reference(array, kernel, boundary, 2.0)
        image = Image(array, boundary=boundary, cval=2.0)
        np.testing.assert_allclose(np.asarray(f(image)), expected, atol=1e-3)


def reference(array, kernel, boundary, cval):
    """SciPy's correlation. Where one texel is mirrored, SciPy reads beyond it."""
    if boundary == "mirror" and 1 in array.shape:
        repeat = [5 if n == 1 else 1 for n in array.shape]
        whole = ndimage.correlate(np.tile(array, repeat).astype(float), kernel, mode="mirror")
        return whole[tuple([slice(0, n) for n in array.shape])]
    return ndimage.correlate(array.astype(float), kernel, mode=SCIPY[boundary], cval=cval)


@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
def test_what_is_read_around_a_pixel_may_be_larger_than_the_image(target, boundary):
    far = [(-40, 3), (25, -60), (0, 99), (-1, 0), (1000, -1000)]
    f = pygpu.compile(lambda im=Image, p=Position: sum([im(p + d) for d in far]), target=target)
    for shape in [(1, 1), (2, 3), (7, 5)]:
        image = Image(PHOTO[: shape[0], : shape[1]], boundary=boundary, cval=0.5)
        expected = [
            [sum(image((x + dx, y + dy)) for dx, dy in far) for x in range(shape[1])]
            for y in range(shape[0])
        ]
        np.testing.assert_allclose(np.asarray(f(image)), expected, rtol=1e-6)


@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (3, 4)])
def test_interpolation_beyond_the_border_is_scipys(target, boundary, shape):
    mode = {"reflect": "grid-mirror", "wrap": "grid-wrap", "constant": "grid-constant"}
    image = Image(
        PHOTO[: shape[0], : shape[1]], boundary=boundary, cval=0.25, interpolation="linear"
    )
    f = pygpu.compile(
        lambda im=Image, p=Position: im((p.x * 0.75 - 4.5, p.y * 0.75 - 4.5)), target=target
    )
    ys, xs = np.meshgrid(np.arange(14) * 0.75 - 4.5, np.arange(15) * 0.75 - 4.5, indexing="ij")
    if boundary == "mirror" and 1 in shape:
        pytest.skip("SciPy reads beyond a single texel")
    expected = ndimage.map_coordinates(
        np.asarray(image).astype(float), [ys, xs], order=1, mode=mode.get(boundary, boundary),
        cval=0.25,
    )  # fmt: skip
    np.testing.assert_allclose(np.asarray(f(image, shape=(14, 15))), expected, atol=1e-6)


# ---------------------------------------------------------------- dtypes and modes

TABLE = [
    ("uint8", True, "float", lambda a: a / np.float32(255)),
    ("uint16", True, "float", lambda a: a / np.float32(65535)),
    ("uint8", False, "int", lambda a: a),
    ("uint16", False, "int", lambda a: a),
    ("float16", True, "float", lambda a: a),
    ("float32", True, "float", lambda a: a),
    ("float64", True, "float", lambda a: a.astype(np.float32)),
    ("int8", True, "int", lambda a: a),
    ("int16", True, "int", lambda a: a),
    ("int32", True, "int", lambda a: a),
    ("uint32", True, "int", lambda a: a),
    ("int64", True, "int", lambda a: a),
    ("uint64", True, "int", lambda a: a),
    ("bool", True, "bool", lambda a: a),
]


@pytest.mark.parametrize(("dtype", "normalize", "kind", "seen"), TABLE)
@pytest.mark.parametrize("channels", [(), (1,), (2,), (3,), (4,)])
def test_every_row_of_the_table_of_dtypes(target, dtype, normalize, kind, seen, channels):
    shape = (3, 5, *channels)
    rng = np.random.default_rng(0)
    array = (
        rng.normal(0, 9, shape) if kind == "float" and dtype[0] == "f"
        else rng.integers(0, 2 if dtype == "bool" else 127, shape)
    ).astype(dtype)  # fmt: skip
    image = Image(array, normalize=normalize)
    assert image.format.kind == kind
    f = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)
    result = np.asarray(f(image))
    assert result.dtype == {"float": "float32", "int": "int32", "bool": "bool"}[kind]
    expected = array[..., 0] if channels == (1,) else array
    np.testing.assert_allclose(result, seen(expected), rtol=2e-7)
    back = np.asarray(image)
    assert back.dtype == ("float32" if dtype == "float64" else dtype)
    np.testing.assert_array_equal(back, expected.astype(back.dtype))


@pytest.mark.parametrize("dtype", ["c8", object, "U4", "S3", "f4,i4", "M8[D]", "m8[D]", "V2"])
def test_dtypes_that_are_no_numbers_are_named(dtype):
    array = np.zeros((2, 2), dtype)
    for use in (Image, pygpu.compile(cross), pygpu.vectorize(lambda x: x)):
        with pytest.raises(TypeError, match=re.escape(str(array.dtype))):
            use(array)


@pytest.mark.parametrize(
    ("mode", "colour"),
    [
        ("1", 1), ("L", 77), ("LA", (9, 200)), ("RGB", (1, 2, 3)), ("RGBA", (1, 2, 3, 4)),
        ("I;16", 40_000), ("I", -70_000), ("F", 0.625),
    ],
)  # fmt: skip
def test_pil_modes_go_in_and_come_out(target, mode, colour):
    picture = PILImage.new(mode, (5, 4), colour)
    result = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)(picture)
    if mode == "1":
        assert (result.mode, result.getpixel((1, 1))) == ("L", 255)
        return
    assert result.mode == mode
    assert result.size == (5, 4)
    assert result.getpixel((1, 1)) == colour


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "LAB", "HSV", "PA", "La", "RGBa", "RGBX"])
def test_other_pil_modes_say_what_to_do(mode):
    try:
        picture = PILImage.new(mode, (3, 3))
    except ValueError:
        pytest.skip(f"this PIL has no mode {mode}")
    with pytest.raises(TypeError, match=rf"{mode}.*convert\('"):
        pygpu.compile(cross)(picture)


def test_a_palette_is_its_colours(target):
    picture = PILImage.new("P", (4, 3), 1)
    picture.putpalette([0, 0, 0, 10, 20, 30])
    f = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)
    result = f(picture)
    assert (result.mode, result.getpixel((0, 0))) == ("RGB", (10, 20, 30))
    picture.info["transparency"] = 1
    assert f(picture).getpixel((0, 0)) == (10, 20, 30, 0)


def test_one_call_takes_every_kind_of_input(target):
    def mixed(a: Image, b: Image, c: Image, p: Position):
        return Vec3(a(p), b(p) if c(p) else 0, p.x)

    mask = PHOTO > 0.5
    ints = np.arange(PHOTO.size).reshape(PHOTO.shape).astype(">i2")[::-1]
    result = pygpu.compile(mixed, target=target)(PHOTO.astype(">f8"), ints, mask)
    np.testing.assert_allclose(result[..., 0], PHOTO)
    np.testing.assert_array_equal(result[..., 1], np.where(mask, ints, 0))
    np.testing.assert_array_equal(result[..., 2], np.tile(np.arange(31), (23, 1)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_tables_of_floats_warn_of_nothing(dtype):
    table = np.linspace(0, 1, 7).astype(dtype)
    table[3] = np.inf

    def looked_up(im: Image, p: Position):
        return im(p) + table[p.x]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pygpu.compile(looked_up, target="cpu")(np.zeros((1, 7), np.float32))
    np.testing.assert_array_equal(found[0], table.astype(np.float32))
