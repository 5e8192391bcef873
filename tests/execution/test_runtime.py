"""Compiled functions: forms of `compile`, specialisation, results, errors, targets."""

import functools
import gc
import inspect
import logging
import os
import pickle
import subprocess
import sys
import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from fake_walker import translating
from pygpu import Float, Image, Mat2, Position, Vec2, Vec3
from pygpu.core.device import Device
from pygpu.devices import targets
from pygpu.execution.programs import specialise

PHOTO = np.random.default_rng(1).random((6, 8), dtype=np.float32)
COLOUR = np.random.default_rng(2).integers(0, 256, (6, 8, 3), dtype=np.uint8)


def scale(im: Image, p: Position, gain: Float = 2.0):
    return gain * im(p)


def where(p: Position):
    return Vec2(p.x, p.y)


# ---------------------------------------------------------------- forms of compile


def test_compile_is_a_function_and_a_decorator():
    @pygpu.compile
    def plain(im: Image, p: Position):
        return im(p) + 1

    @pygpu.compile(k=3)
    def told(k, im: Image, p: Position):
        return im(p) + k

    assert np.array_equal(plain(PHOTO), PHOTO + 1)
    assert np.array_equal(told(PHOTO), PHOTO + 3)
    assert np.array_equal(pygpu.compile(scale)(PHOTO), PHOTO * 2)


def test_a_compiled_function_looks_like_the_function():
    compiled = pygpu.compile(scale)
    assert compiled.__wrapped__ is scale
    assert compiled.__name__ == "scale"
    assert inspect.signature(compiled) == inspect.signature(scale)
    assert "im: image" in repr(compiled)
    assert "gain: float" in repr(compiled)
    assert "kernel=3" in repr(pygpu.compile(lambda kernel, im=Image: im((0, 0)), kernel=3))


def test_everything_callable_is_compiled():
    class Adder:
        def __init__(self, amount):
            self.amount = amount

        def __call__(self, im: Image, p: Position):
            return im(p) + self.amount

        def method(self, im: Image, p: Position):
            return im(p) + self.amount

        @staticmethod
        def static(im: Image, p: Position):
            return im(p) + 3

        @pygpu.compile
        @staticmethod
        def inner(im: Image, p: Position):
            return im(p) + 3

        @staticmethod
        @pygpu.compile
        def outer(im: Image, p: Position):
            return im(p) + 3

    adder = Adder(3)
    for function in (
        adder,
        adder.method,
        Adder.static,
        lambda im=Image, p=Position: im(p) + 3,
        functools.partial(lambda k, im=Image, p=Position: im(p) + k, 3),
        pygpu.compile(Adder.static),
    ):
        np.testing.assert_array_equal(pygpu.compile(function)(PHOTO), PHOTO + 3)
    np.testing.assert_array_equal(adder.inner(PHOTO), PHOTO + 3)
    np.testing.assert_array_equal(adder.outer(PHOTO), PHOTO + 3)


def test_decorated_methods_take_self_as_an_object():
    class Lens:
        def __init__(self, gain):
            self.gain = gain

        @pygpu.compile
        def look(self, im: Image, p: Position):
            return self.gain * self.shift(im(p))

        def shift(self, v):
            return v + 1

    class Strong(Lens):
        def shift(self, v):
            return v + 10

    lens = Lens(2.0)
    np.testing.assert_allclose(lens.look(PHOTO), 2 * (PHOTO + 1))
    lens.gain = 3.0
    np.testing.assert_allclose(lens.look(PHOTO), 3 * (PHOTO + 1))
    np.testing.assert_allclose(Strong(1.0).look(PHOTO), PHOTO + 10, rtol=1e-6)
    assert len(Lens.look._cache.programs) == 2
    assert lens.look(Image(PHOTO), Position(1, 2)) == pytest.approx(3 * (PHOTO[2, 1] + 1))
    assert "Lens" in repr(lens.look)
    np.testing.assert_allclose(lens.look.iterate(PHOTO, 2), 3 * (3 * (PHOTO + 1) + 1), rtol=1e-6)
    assert lens.look.lower(PHOTO).stats["taps"] == 1


def test_a_compiled_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(triple)) is triple


@pygpu.compile
def triple(im: Image, p: Position):
    return 3 * im(p)


# ---------------------------------------------------------------- known and dynamic


def test_dynamic_arguments_are_not_translated_again():
    with translating(lambda bound, build: [build.load(0, build.x, build.y)]) as calls:
        f = pygpu.compile(scale)
        for gain in (1.0, 2, np.float32(3)):
            f(PHOTO, gain)
            f(PHOTO[1:], gain=gain)
        assert len(calls) == 1
        f(PHOTO, out=np.empty((6, 8), np.uint8))  # another program, the same translation
        f(Image(PHOTO.astype(np.float16)))
        assert len(calls) == 1
        f(COLOUR)
        assert len(calls) == 2


def test_a_known_default_may_be_given_by_keyword():
    @pygpu.compile
    def f(im: Image, p: Position, power=2):
        return im(p) ** power

    np.testing.assert_allclose(f(PHOTO), PHOTO**2, rtol=1e-6)
    np.testing.assert_allclose(f(PHOTO, power=3), PHOTO**3, rtol=1e-6)
    with pytest.raises(TypeError, match="1 argument"):
        f(PHOTO, 3)


def test_a_type_as_a_value_makes_a_parameter_dynamic():
    f = pygpu.compile(lambda im, p, sigma: im(p) * sigma, im=Image, p=Position, sigma=Float)
    np.testing.assert_allclose(f(PHOTO, 0.5), PHOTO * 0.5)


def test_a_value_that_compile_was_told_may_be_given_anew():
    f = pygpu.compile(lambda k, im=Image, p=Position: im(p) * k, k=2)
    np.testing.assert_allclose(f(PHOTO, k=3), PHOTO * 3)
    np.testing.assert_allclose(f(PHOTO), PHOTO * 2)


def test_bound_arrays_are_snapshots():
    kernel = np.array([1.0, 2.0])
    f = pygpu.compile(lambda k, im=Image, p=Position: im(p) * k[1], k=kernel)
    kernel[:] = 0
    np.testing.assert_allclose(f(PHOTO), PHOTO * 2)


def test_an_image_as_a_value_is_an_input():
    mask = Image(PHOTO > 0.5)

    def masked(mask: Image, im: Image, p: Position):
        return im(p) if mask(p) else 0.0

    expected = np.where(PHOTO > 0.5, PHOTO, 0)
    for value in (mask, PHOTO > 0.5):
        f = pygpu.compile(masked, mask=value)
        np.testing.assert_array_equal(f(PHOTO), expected)
    np.testing.assert_array_equal(f(PHOTO, mask=Image(PHOTO > 0)), PHOTO)


def test_an_image_read_as_a_global_is_an_input_and_is_watched():
    namespace = {"Image": Image, "Position": Position, "texture": Image(PHOTO)}
    exec("def f(p: Position):\n    return texture(p)", namespace)
    f = pygpu.compile(namespace["f"])
    result = f()
    assert isinstance(result, Image)
    np.testing.assert_array_equal(np.asarray(result), PHOTO)
    namespace["texture"] = Image(COLOUR, boundary="wrap")
    assert f().shape == COLOUR.shape
    assert f().boundary == "wrap"


def test_what_was_read_of_the_outside_is_watched():
    amount = 1.0
    f = pygpu.compile(lambda im=Image, p=Position: im(p) + amount)
    np.testing.assert_allclose(f(PHOTO), PHOTO + 1)
    amount = 2.0
    np.testing.assert_allclose(f(PHOTO), PHOTO + 2)


def test_recompile_sees_changes_inside_objects():
    settings = {"gain": 1.0}

    @pygpu.compile
    def f(im: Image, p: Position):
        return im(p) * settings["gain"]

    f(PHOTO)
    settings["gain"] = 4.0
    np.testing.assert_allclose(f(PHOTO), PHOTO)
    f.recompile()
    np.testing.assert_allclose(f(PHOTO), PHOTO * 4)


def test_programs_go_with_the_function():
    f = pygpu.compile(lambda im=Image, p=Position: im(p))
    f(PHOTO)
    gone = weakref.ref(f), weakref.ref(next(iter(f._cache.programs.values())))
    del f
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_the_cache_is_bounded():
    f = pygpu.compile(lambda im=Image, p=Position, k=0: im(p))
    with translating(lambda bound, build: [build.load(0, build.x, build.y)]):
        for k in range(200):
            f(PHOTO, k=k)
    assert len(f._cache.programs) <= 128
    assert len(f._cache.translations) <= 128


# ---------------------------------------------------------------- what comes back


def test_arrays_give_arrays():
    result = pygpu.compile(scale)(PHOTO)
    assert type(result) is np.ndarray
    assert result.dtype == np.float32
    assert result.flags.writeable


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (lambda im=Image, p=Position: im(p), "float32"),
        (lambda im=Image, p=Position: p.x, "int32"),
        (lambda im=Image, p=Position: im(p) > 0.5, "bool"),
        (lambda im=Image, p=Position: 3, "int32"),
        (lambda im=Image, p=Position: True, "bool"),
        (lambda im=Image, p=Position: 0.5, "float32"),
    ],
)
def test_results_have_the_dtype_of_their_type(function, dtype):
    assert pygpu.compile(function)(PHOTO).dtype == dtype
    assert pygpu.compile(function)(PHOTO).shape == PHOTO.shape


def test_vectors_are_channels():
    f = pygpu.compile(where)
    result = f(shape=(3, 4))
    assert isinstance(result, Image)
    np.testing.assert_array_equal(np.asarray(result)[..., 0], np.tile(np.arange(4.0), (3, 1)))
    assert pygpu.compile(lambda p=Position: p)(shape=(3, 4)).dtype == np.int32


def test_tuples_give_tuples():
    f = pygpu.compile(lambda im=Image, p=Position: (im(p), im(p) > 0.5, p))
    a, b, c = f(PHOTO)
    assert (a.dtype, b.dtype, c.dtype) == ("float32", "bool", "int32")
    assert c.shape == (6, 8, 2)
    (one,) = pygpu.compile(lambda im=Image, p=Position: (im(p),))(PHOTO)
    np.testing.assert_array_equal(one, PHOTO)


def test_images_give_images_that_are_read_alike():
    image = Image(PHOTO, boundary="constant", cval=0.5, interpolation="linear")
    result = pygpu.compile(scale)(image)
    assert isinstance(result, Image)
    assert (result.boundary, result.cval, result.interpolation) == ("constant", (0.5,), "linear")
    np.testing.assert_array_equal(np.asarray(result), PHOTO * 2)


def test_with_mixed_inputs_a_device_image_wins_and_else_the_first_decides():
    f = pygpu.compile(lambda a=Image, b=Image, p=Position: a(p) + b(p))
    picture = PILImage.fromarray((PHOTO * 255).astype(np.uint8))
    assert isinstance(f(PHOTO, Image(PHOTO)), Image)
    assert isinstance(f(picture, Image(PHOTO)), Image)
    assert isinstance(f(picture, PHOTO), PILImage.Image)
    assert isinstance(f(PHOTO, picture), np.ndarray)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pil_gives_pil_of_8_bits_by_channels(channels):
    shape = (4, 5) if channels == 1 else (4, 5, channels)
    array = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)
    picture = PILImage.fromarray(array)
    result = pygpu.compile(scale)(picture, 0.5)
    assert result.mode == picture.mode
    np.testing.assert_allclose(np.asarray(result), array * 0.5, atol=0.51)
    assert np.asarray(pygpu.compile(scale)(picture, 1000.0))[array > 0].min() == 255


@pytest.mark.parametrize(("dtype", "mode"), [("float32", "F"), ("int32", "I"), ("uint16", "I;16")])
def test_pil_modes_of_one_channel_are_kept(dtype, mode):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    picture = PILImage.fromarray(array)
    result = pygpu.compile(lambda im=Image, p=Position: im(p))(picture)
    assert result.mode == mode
    np.testing.assert_array_equal(np.asarray(result), array)
    three = pygpu.compile(lambda im=Image, p=Position: Vec3(1.0, 0.5, 0.0))(picture)
    assert three.mode == "RGB"


def test_pil_takes_the_dtypes_it_has_modes_for():
    picture = PILImage.fromarray(COLOUR)
    f = pygpu.compile(lambda im=Image, p=Position: im(p).x)
    for dtype, mode in [("float32", "F"), ("uint16", "I;16"), ("bool", "1"), ("int32", "I")]:
        assert f(picture, dtype=dtype).mode == mode
    with pytest.raises(TypeError, match="no mode"):
        f(picture, dtype="float64")
    with pytest.raises(TypeError, match="no mode"):
        pygpu.compile(scale)(picture, dtype="float32")


def test_bits_give_a_picture_of_8_bits():
    picture = PILImage.fromarray(PHOTO > 0.5)
    assert picture.mode == "1"
    result = pygpu.compile(lambda im=Image, p=Position: not im(p))(picture)
    assert result.mode == "L"
    np.testing.assert_array_equal(np.asarray(result), np.where(PHOTO > 0.5, 0, 255))


DTYPES = "uint8 uint16 int8 int16 int32 float16 float64 int64 bool".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_scaled_rounded_and_saturated(dtype):
    values = np.array([[-0.5, 0.0, 0.25, 0.5019, 1.0, 7.25, np.nan]], np.float32)
    f = pygpu.compile(lambda im=Image, p=Position: im(p))
    result = f(values, dtype=dtype)
    assert result.dtype == dtype
    kind = np.dtype(dtype).kind
    if kind == "u":
        top = np.iinfo(dtype).max
        expected = np.rint(np.clip(np.nan_to_num(values), 0, 1).astype(float) * top)
    elif kind == "i":
        expected = np.rint(np.nan_to_num(values))
    else:
        expected = values.astype(dtype)
    np.testing.assert_array_equal(result, expected.astype(dtype))
    on_device = f(Image(values), dtype=dtype)
    assert on_device.dtype == ("float32" if dtype == "float64" else dtype)
    np.testing.assert_array_equal(np.asarray(on_device), result.astype(on_device.dtype))


def test_ints_and_bools_are_saturated_and_made_the_maximum():
    ints = np.array([[-3, 0, 5, 300, 70000]], np.int32)
    f = pygpu.compile(lambda im=Image, p=Position: im(p))
    assert f(ints, dtype="uint8").tolist() == [[0, 0, 5, 255, 255]]
    assert f(ints, dtype="int8").tolist() == [[-3, 0, 5, 127, 127]]
    assert f(ints, dtype="uint16").tolist() == [[0, 0, 5, 300, 65535]]
    assert f(ints > 4, dtype="uint8").tolist() == [[0, 0, 255, 255, 255]]
    assert f(ints > 4, dtype="int8").tolist() == [[0, 0, 1, 1, 1]]
    assert f(Image(ints), dtype="uint8")(4, 0) == 255  # raw, as the result was
    assert f(Image(ints > 4), dtype="uint8")(4, 0) == 1.0


def test_the_dtype_of_compile_counts_where_a_call_gives_none():
    f = pygpu.compile(scale, dtype="uint8")
    assert f(PHOTO, 1.0).dtype == np.uint8
    assert f(PHOTO, 1.0, dtype="float32").dtype == np.float32
    assert f(PHOTO, out=np.empty((6, 8))).dtype == np.float64


@pytest.mark.parametrize("dtype", ["complex64", "U3", object, "M8[s]"])
def test_dtypes_that_hold_no_numbers_are_refused(dtype):
    with pytest.raises(TypeError, match="dtype"):
        pygpu.compile(scale)(PHOTO, dtype=dtype)


def test_images_in_objects_and_defaults_decide_nothing_where_one_is_given():
    class Lens:
        def __init__(self):
            self.dirt = Image(np.ones((2, 3), np.float32), boundary="wrap")

        @pygpu.compile
        def look(self, im: Image, p: Position):
            return im(p) * self.dirt(p)

        @pygpu.compile
        def show(self, p: Position):
            return self.dirt(p)

    np.testing.assert_array_equal(Lens().look(PHOTO), PHOTO)
    assert type(Lens().look(PHOTO)) is np.ndarray
    assert Lens().look(Image(PHOTO, boundary="mirror")).boundary == "mirror"
    assert Lens().show().shape == (2, 3)
    assert Lens().show().boundary == "wrap"

    @pygpu.compile
    def masked(p: Position, mask: Image = Image(PHOTO[:2] * 0 + 1), *, im: Image):  # noqa: B008
        return im(p) * mask(p)

    assert type(masked(im=PHOTO)) is np.ndarray
    assert masked(im=PHOTO).shape == PHOTO.shape
    assert masked(Image(PHOTO[:3]), im=PHOTO).shape == (3, 8)


def test_images_come_in_any_number():
    @pygpu.compile
    def mean(*images: Image, p: Position):
        return sum([im(p) for im in images]) / len(images)

    @pygpu.compile
    def difference(p: Position, **images: Image):
        return images["a"](p) - images["b"](p)

    np.testing.assert_allclose(mean(PHOTO, 2 * PHOTO, 3 * PHOTO), 2 * PHOTO, rtol=1e-6)
    np.testing.assert_array_equal(mean(PHOTO), PHOTO)
    np.testing.assert_array_equal(difference(b=PHOTO, a=3 * PHOTO), 3 * PHOTO - PHOTO)
    with pytest.raises(KeyError, match="b"):
        difference(a=PHOTO)


# ---------------------------------------------------------------- out and shape


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", ">f4", "int64"])
def test_out_takes_the_result(dtype):
    out = np.empty((6, 8), dtype)
    assert pygpu.compile(scale)(PHOTO, 0.5, out=out) is out
    expected = pygpu.compile(scale)(PHOTO, 0.5, dtype=np.dtype(dtype))
    np.testing.assert_array_equal(out, expected)


def test_out_may_be_any_view():
    whole = np.zeros((12, 16, 2), np.float32)
    for out in (whole[::2, ::2, 0], whole[::-2, ::-2, 1], whole[:6, :8, :1]):
        assert pygpu.compile(scale)(PHOTO, 3.0, out=out) is out
        np.testing.assert_array_equal(out.reshape(6, 8), PHOTO * 3)


def test_out_may_overlap_the_input():
    def left(im: Image, p: Position):
        return im(p + (1, 0)) + im(p - (1, 0))

    f = pygpu.compile(left)
    array = PHOTO.copy()
    expected = f(PHOTO)
    f(array, out=array)
    np.testing.assert_array_equal(array, expected)
    big = np.random.default_rng(4).random((9, 9), dtype=np.float32)
    expected = f(big[:8, :8].copy())
    f(big[:8, :8], out=big[1:, 1:])
    np.testing.assert_array_equal(big[1:, 1:], expected)


def test_out_is_a_tuple_for_tuples():
    f = pygpu.compile(lambda im=Image, p=Position: (im(p), im(p) + 1))
    outs = (np.empty((6, 8), np.float32), np.empty((6, 8)))
    a, b = f(PHOTO, out=outs)
    assert a is outs[0]
    assert b is outs[1]
    np.testing.assert_allclose(b, PHOTO + 1)
    a, b = f(PHOTO, out=(outs[0], None))
    assert b.dtype == np.float32


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.empty((6, 7), np.float32), ValueError, r"\(6, 8\), got \(6, 7\)"),
        (np.empty((6, 8, 3), np.float32), ValueError, "shape"),
        ((np.empty((6, 8)), np.empty((6, 8))), ValueError, "1 result"),
        ("x", TypeError, "ndarray"),
        (np.empty((6, 8), complex), TypeError, "complex"),
        (np.broadcast_to(np.float32(0), (6, 8)), ValueError, "read-only"),
    ],
)
def test_wrong_outs_are_refused(out, error, words):
    with pytest.raises(error, match=words):
        pygpu.compile(scale)(PHOTO, out=out)


def test_out_and_dtype_must_agree():
    with pytest.raises(TypeError, match="give one"):
        pygpu.compile(scale)(PHOTO, out=np.empty((6, 8), np.float32), dtype="uint8")


def test_shape_says_the_size():
    f = pygpu.compile(scale)
    assert f(PHOTO, shape=(3, 20)).shape == (3, 20)
    assert pygpu.compile(where)(shape=(2, 3)).shape == (2, 3, 2)
    out = np.empty((4, 5, 2), np.float32)
    assert pygpu.compile(where)(out=out) is out


@pytest.mark.parametrize("shape", [3, (), (1, 2, 3, 4), "ab", (2.5, 3), (0, 3), (-1, 3)])
def test_wrong_shapes_are_refused(shape):
    with pytest.raises((TypeError, ValueError), match="shape"):
        pygpu.compile(scale)(PHOTO, shape=shape)


def test_a_shape_says_how_many_components_positions_have():
    with pytest.raises(pygpu.CompileError, match=r"takes a position, as im\(p\)"):
        pygpu.compile(scale)(PHOTO, shape=(3,))


def test_a_function_without_images_needs_a_shape():
    with pytest.raises(TypeError, match="shape="):
        pygpu.compile(where)()


def test_inputs_may_differ_in_size():
    f = pygpu.compile(lambda a=Image, b=Image, p=Position: a(p) + b(p))
    result = f(PHOTO, PHOTO[:2, :3])
    padded = np.pad(PHOTO[:2, :3], ((0, 4), (0, 5)), mode="edge")
    np.testing.assert_array_equal(result, PHOTO + padded)


# ---------------------------------------------------------------- in plain Python


def test_given_a_position_it_is_the_plain_function():
    compiled = pygpu.compile(scale)
    image = Image(PHOTO)
    assert compiled(image, Position(3, 2)) == 2 * PHOTO[2, 3]
    assert compiled(image, Position(3, 2), 5.0) == pytest.approx(5 * PHOTO[2, 3])
    assert compiled(image, p=(3, 2), gain=1.0) == PHOTO[2, 3]
    assert compiled(image, Position(3.4, 2)) == compiled(image, (3, 2)) == 2 * PHOTO[2, 3]
    with pytest.raises(TypeError, match=r"takes|by place"):
        compiled(image, Position(3, 2), 5.0, 6.0)
    with pytest.raises(TypeError, match=r"(two|multiple) values for"):
        compiled(image, Position(3, 2), p=Position(3, 2))
    assert pygpu.compile(where)(Position(3, 4)).y == 4


def test_the_plain_function_gets_vectors_for_sequences():
    @pygpu.compile(target="interpreter")
    def weighted(im: Image, p: Position, v: Vec2 = (3, 4), m: Mat2 = ((1, 2), (3, 4))):
        return (m @ (v * im(p))).x

    @pygpu.compile(target="interpreter")
    def twice(im: Image, p: Position):
        return weighted(im, p, (1, 2 * im(p))) + weighted(im, p, v=[1, 2]) + weighted(im, p)

    ones = pygpu.Image(np.ones((2, 3), np.float32))
    here = Position(1, 0)
    assert weighted(ones, here, (1, 2)) == 5 == np.asarray(weighted(ones, (1, 2)))[0, 1]
    assert weighted(ones, here) == 11
    assert twice(ones, here) == 21 == np.asarray(twice(ones))[0, 1]


def test_the_plain_function_gets_what_compile_was_told():
    def blend(kernel, im: Image, p: Position, sigma=1.0):
        return kernel * im(p) + sigma

    compiled = pygpu.compile(blend, kernel=3.0)
    image = Image(PHOTO)
    expected = 3 * float(PHOTO[2, 1]) + 1
    assert compiled(image, Position(1, 2)) == pytest.approx(expected)
    assert compiled(3.0, image, Position(1, 2)) == pytest.approx(expected)
    assert compiled(kernel=3.0, im=image, p=Position(1, 2)) == pytest.approx(expected)
    assert compiled(image, p=Position(1, 2), sigma=2.0) == pytest.approx(expected + 1)


def test_a_helper_without_image_and_position_is_plain():
    @pygpu.compile
    def luminance(c: Vec3):
        return (c.r + c.g + c.b) / 3

    assert luminance(Vec3(1, 2, 3)) == 2.0
    np.testing.assert_allclose(np.asarray(luminance(Vec3(1, 2, 3), shape=(2, 2))), 2.0)


def test_compiled_functions_call_one_another():
    @pygpu.compile
    def inner(im: Image, p: Position, gain: Float = 2.0):
        return gain * im(p)

    @pygpu.compile
    def outer(im: Image, p: Position):
        return inner(im, p) + inner(im, p + (1, 0), 3.0)

    shifted = np.pad(PHOTO, ((0, 0), (0, 1)), mode="edge")[:, 1:]
    np.testing.assert_allclose(outer(PHOTO), 2 * PHOTO + 3 * shifted, rtol=1e-6)
    assert outer(Image(PHOTO), Position(1, 1)) == pytest.approx(outer(PHOTO)[1, 1])


def test_compiled_methods_call_one_another():
    class Lens:
        def __init__(self, gain):
            self.gain = gain

        @pygpu.compile
        def weight(self, im: Image, p: Position):
            return self.gain * im(p)

        @pygpu.compile
        def look(self, im: Image, p: Position):
            return self.weight(im, p) + 1

    lens = Lens(2.0)
    np.testing.assert_allclose(lens.look(PHOTO), 2 * PHOTO + 1)
    assert lens.look(Image(PHOTO), Position(1, 2)) == pytest.approx(2 * PHOTO[2, 1] + 1)


def test_functions_that_compile_was_told_values_call_one_another():
    def blend(kernel, im: Image, p: Position, sigma=1.0):
        return kernel * im(p) + sigma

    told = pygpu.compile(blend, kernel=3.0)
    root = pygpu.vectorize(lambda x, k: x**k, k=0.5)

    @pygpu.compile
    def outer(im: Image, p: Position):
        return told(im, p) + told(2.0, im, p) + told(im, p=p, sigma=0.0) + root(im(p))

    np.testing.assert_allclose(outer(PHOTO), 8 * PHOTO + 2 + np.sqrt(PHOTO), rtol=1e-6)
    assert outer(Image(PHOTO), Position(1, 1)) == pytest.approx(outer(PHOTO)[1, 1])


# ---------------------------------------------------------------- errors


def test_an_error_leaves_nothing_behind():
    broken = True

    @pygpu.compile
    def f(im: Image, p: Position):
        return None if broken else im(p)

    with pytest.raises(pygpu.CompileError):
        f(PHOTO)
    assert not f._cache.programs
    broken = False
    np.testing.assert_array_equal(f(PHOTO), PHOTO)


def test_targets_are_checked():
    with pytest.raises(ValueError, match=r"'cuda'.*'auto', 'fragment', 'compute', 'cpu'"):
        pygpu.compile(scale, target="cuda")


def test_the_environment_chooses_and_the_program_beats_it(monkeypatch):
    monkeypatch.setenv("PYGPU_TARGET", "interpreter")
    assert pygpu.compile(scale).target == "interpreter"
    assert pygpu.compile(scale, target="cpu").target == "cpu"
    monkeypatch.setenv("PYGPU_TARGET", "magic")
    with pytest.raises(ValueError, match="PYGPU_TARGET='magic'"):
        pygpu.compile(scale)(PHOTO)
    monkeypatch.delenv("PYGPU_TARGET")
    np.testing.assert_array_equal(pygpu.compile(scale)(PHOTO), PHOTO * 2)


def test_every_target_gives_the_same(target):
    f = pygpu.compile(scale, target=target)
    np.testing.assert_allclose(f(PHOTO, 3.0), PHOTO * 3, rtol=1e-6)
    assert f.target == target


def test_a_function_for_another_target_is_not_translated_again(monkeypatch):
    factor = 2
    f = pygpu.compile(lambda im=Image, p=Position: im(p) * factor, target="cpu")
    other = f.on("interpreter")
    seen = []
    real = specialise.frontend.translate
    monkeypatch.setattr(
        specialise.frontend, "translate", lambda *a, **k: seen.append(1) or real(*a, **k)
    )
    for each in (other, f, other.on("cpu")):
        np.testing.assert_array_equal(each(PHOTO), PHOTO * 2)
    assert len(seen) == 1
    factor = 3  # what was read of the outside is watched by each of them
    for each in (f, other):
        np.testing.assert_array_equal(each(PHOTO), PHOTO * 3)
    f.recompile()
    np.testing.assert_array_equal(f(PHOTO), PHOTO * 3)
    assert len(seen) == 3


class Refusing(Device):
    """A device of OpenGL that takes nothing."""

    name = "fragment"

    def compile(self, task, shape=None):
        raise pygpu.DeviceError("the driver refused")


def test_what_the_driver_refuses_is_done_by_the_cpu_unless_it_was_asked_for(monkeypatch, caplog):
    state = targets._State()
    state.opened["fragment"] = state.automatic = Refusing()
    monkeypatch.setattr(targets, "_STATE", state)
    monkeypatch.delenv("PYGPU_TARGET", raising=False)
    f = pygpu.compile(scale)
    np.testing.assert_array_equal(f(PHOTO), PHOTO * 2)
    assert "refused" in caplog.text
    assert f.lower(PHOTO).target == "cpu"
    pipeline = pygpu.pipeline(lambda im: f(f(im)))
    np.testing.assert_array_equal(pipeline(PHOTO), PHOTO * 4)
    for demanded in (pygpu.compile(scale, target="fragment"), pipeline.on("fragment")):
        with pytest.raises(pygpu.DeviceError, match="refused"):
            demanded(PHOTO)


def test_info_says_what_is_here():
    info = pygpu.info()
    assert info.targets["cpu"]["available"]
    assert "numpy" in repr(info)
    assert info.default in repr(info)
    assert info.targets["cpu"]["device"] in info._repr_html_()
    pygpu.clear()


def test_info_says_why_and_what_was_set(monkeypatch):
    monkeypatch.setenv("PYGPU_TARGET", "interpreter")
    monkeypatch.setenv("PYGPU_CACHE", "0")
    shown = repr(pygpu.info())
    assert "auto: interpreter (PYGPU_TARGET says so)" in shown
    assert "disk cache: none" in shown
    assert "PYGPU_CACHE=0" in shown
    monkeypatch.setenv("PYGPU_TARGET", "magic")
    assert "auto: none: PYGPU_TARGET='magic'" in repr(pygpu.info())


def test_a_missing_device_says_what_was_tried(monkeypatch):
    missing = replace(targets.DEVICES["compute"], place="pygpu.devices.nowhere:Device")
    monkeypatch.setitem(targets.DEVICES, "compute", missing)
    targets._STATE.opened.pop("compute", None)
    with pytest.raises(pygpu.DeviceError, match=r"nowhere.*pip install"):
        pygpu.compile(scale, target="compute")(PHOTO)
    assert not pygpu.info().targets["compute"]["available"]


# ---------------------------------------------------------------- looking inside


def test_lower_shows_the_program_without_running():
    lowered = pygpu.compile(scale).lower(PHOTO)
    assert lowered.target == pygpu.compile(scale).target
    assert "load im[x, y]" in lowered.ssa
    assert lowered.source
    assert lowered.stats["taps"] == 1
    assert set(lowered.stats["time"]) == {"translate", "simplify", "compile", "driver"}
    assert "scale" in repr(lowered)
    assert "<pre>" in lowered._repr_html_()


def test_texts_are_printed_where_the_environment_asks(monkeypatch, capsys):
    monkeypatch.setenv("PYGPU_DUMP", "ssa,source")
    pygpu.compile(scale, target="interpreter")(PHOTO)
    shown = capsys.readouterr().out
    assert shown.count("load im[x, y]") >= 2


def test_compilations_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pygpu"):
        pygpu.compile(scale)(PHOTO)
    assert "compiled scale" in caplog.text


# ---------------------------------------------------------------- threads and processes


def test_threads_may_call_at_once():
    f = pygpu.compile(scale)
    failures = []

    def work(gain):
        for _ in range(20):
            if not np.allclose(f(PHOTO, gain), PHOTO * gain):
                failures.append(gain)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(f._cache.programs) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(
    ("import_", "result", "total"),
    [
        ("from pygpu.runtime import compile", "compile(f)(a)", 12),
        ("from pygpu.execution.folds.reduction import reduce", "reduce(add, a)", 6),
        ("from pygpu.execution.vectorized import vectorize", "vectorize(f)(a)", 12),
    ],
)
def test_what_runs_programs_may_be_imported_alone(import_: str, result: str, total: int) -> None:
    code = f"""{import_}
import numpy as np
def f(x: float): return 2 * x
def add(x, y): return x + y
a = np.ones((2, 3), np.float32)
print(np.sum({result}))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == total


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork_opengl_is_not_called(monkeypatch):
    state = targets._State()
    state.opened["fragment"] = object()
    state.automatic = state.opened["fragment"]
    state.after_fork()
    monkeypatch.setattr(targets, "_STATE", state)
    monkeypatch.delenv("PYGPU_TARGET", raising=False)
    assert targets.choose("auto").name == "cpu"
    with pytest.raises(pygpu.DeviceError, match="forked"):
        targets.choose("fragment")


# Of a process's first call, which waits for all of them. What is imported beyond that ought to be
# imported by those who need it.
MODULES = 221  # run by a first call


def test_first_call_imports_what_it_uses():
    code = """
import sys
import numpy as np
import pygpu

def sobel(kernel, im: pygpu.Image, p: pygpu.Position):
    shifts = pygpu.offsets(kernel)
    across = sum([w * im(p + d) for w, d in zip(np.ravel(kernel), shifts)])
    down = sum([w * im(p + d) for w, d in zip(np.ravel(np.transpose(kernel)), shifts)])
    return np.sqrt(across**2 + down**2)

kernel = np.outer([1, 2, 1], [-1, 0, 1])
pygpu.compile(sobel, kernel=kernel, target="cpu")(np.zeros((64, 64), np.float32))
print(" ".join(name for name, module in sys.modules.items() if type(module).__name__ != "_Later"))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(run.stdout.split())
    needless = "logging statistics moderngl PIL pygpu.codegen.jobs.strips pygpu.devices.cpu.strips"
    needless += " pygpu.devices.cpu.rounds pygpu.frontend.rules.numpy_calls"
    assert imported & set(needless.split()) == set()
    assert len([name for name in imported if name.startswith("pygpu.")]) <= MODULES


def test_importing_is_quick_and_imports_no_driver():
    code = (
        "import sys, pygpu; pygpu.compile, pygpu.Image, pygpu.vectorize, pygpu.reduce;"
        "print([m for m in ('PIL', 'moderngl', 'llvmlite', 'OpenGL', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_keywords_of_vectorized_functions_may_leave_out_earlier_defaults() -> None:
    @pygpu.vectorize
    def limited(x, lo=0.0, hi=1.0):
        return min(max(x, lo), hi)

    x, upper = np.array([-1.0, 0.5, 2.0]), np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(limited(x, hi=0.4), [0, 0.4, 0.4], rtol=1e-6)
    np.testing.assert_allclose(limited(x, hi=upper), [-1, 0.5, 2], rtol=1e-6)
    np.testing.assert_allclose(limited(hi=0.4, x=x), [0, 0.4, 0.4], rtol=1e-6)
    assert limited(2.0, hi=0.25) == 0.25
