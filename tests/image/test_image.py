"""Images: what they are made of, what they give back, pixels in plain Python, crops, sums."""

import copy
import io
import pickle

import numpy as np
import pytest
from PIL import Image as PILImage
from scipy import ndimage

import pygpu
from pygpu import BVec3, Image, Int, IVec2, Position, Vec2, Vec3
from pygpu.core.sampler import BOUNDARY_NAMES


def randoms(*shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.random(shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -(2**31)), min(limits.max, 2**31 - 1)
    return rng.integers(low, high, shape, dtype=dtype, endpoint=True)


ALL_DTYPES = "uint8 uint16 float16 float32 int8 int16 int32 uint32 int64 uint64 bool".split()


# ---------------------------------------------------------------- what goes in


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("channels", [(), (2,), (3,), (4,)])
def test_an_array_comes_back_as_it_was(dtype, channels):
    array = randoms(5, 7, *channels, dtype=dtype)
    image = Image(array)
    back = np.asarray(image)
    assert back.dtype == array.dtype
    assert image.dtype == array.dtype
    assert image.shape == array.shape
    np.testing.assert_array_equal(back, array)


def test_float64_is_narrowed():
    array = randoms(3, 4, dtype="float64")
    image = Image(array)
    assert image.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(image), array.astype(np.float32))


def test_a_double_that_float32_cannot_hold_is_refused():
    with pytest.raises(OverflowError, match="float32"):
        Image(np.array([[1e300]]))
    assert np.isinf(np.asarray(Image(np.array([[np.inf]])))).all()


def test_one_channel_loses_its_axis():
    array = randoms(4, 5, 1)
    assert Image(array).shape == (4, 5)
    np.testing.assert_array_equal(np.asarray(Image(array)), array[..., 0])


def test_an_image_is_a_snapshot():
    array = randoms(4, 5)
    kept = array.copy()
    image = Image(array)
    array[:] = 0
    np.testing.assert_array_equal(np.asarray(image), kept)


def test_what_numpy_reads_of_an_image_cannot_be_written_and_numpy_can():
    image = Image(randoms(4, 5))
    assert not np.asarray(image).flags.writeable
    mine = image.numpy()
    mine[:] = 7
    assert not (np.asarray(image) == 7).any()


def layouts():
    base = randoms(6, 8, 3)
    read_only = base.copy()
    read_only.flags.writeable = False
    return {
        "transposed": base.transpose(1, 0, 2),
        "fortran": np.asfortranarray(base),
        "strided": base[::2, 1::3],
        "negative": base[::-1, ::-1],
        "big-endian": base.astype(">f4"),
        "read-only": read_only,
        "broadcast": np.broadcast_to(base[:1], base.shape),
        "list": base.tolist(),
    }


@pytest.mark.parametrize("name", layouts())
def test_every_layout_is_taken(name):
    data = layouts()[name]
    np.testing.assert_array_equal(np.asarray(Image(data)), np.asarray(data).astype(np.float32))


def test_other_containers_of_numbers_are_taken():
    base = randoms(3, 4)

    class ByInterface:
        __array_interface__ = base.__array_interface__

    class ByMethod:
        def __array__(self, dtype=None, copy=None):
            return base

    class ByDLPack:
        def __dlpack__(self, **options):
            return base.__dlpack__()

        def __dlpack_device__(self):
            return base.__dlpack_device__()

    for data in (ByInterface(), ByMethod(), ByDLPack(), memoryview(base)):
        np.testing.assert_array_equal(np.asarray(Image(data)), base)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (np.zeros(3), ValueError, "1 axes"),
        (np.zeros((2, 2, 2, 2)), ValueError, "4 axes"),
        (np.zeros((2, 2, 5)), ValueError, "5 channels"),
        (np.zeros((0, 2)), ValueError, "empty"),
        (np.zeros((2, 0, 3)), ValueError, "empty"),
        (np.zeros((2, 2, 0)), ValueError, "0 channels"),
        (np.zeros((2, 2), complex), TypeError, "complex128"),
        (np.zeros((2, 2), object), TypeError, "object"),
        (np.zeros((2, 2), "U3"), TypeError, "U3"),
        (np.zeros((2, 2), "f4,f4"), TypeError, "f4"),
        (np.zeros((2, 2), "M8[s]"), TypeError, "datetime64"),
        (np.full((2, 2), 2**40), OverflowError, "32 bits"),
        (np.full((2, 2), -(2**40)), OverflowError, "32 bits"),
        (np.full((2, 2), 2**31, np.uint32), OverflowError, "32 bits"),
        (None, TypeError, "NoneType"),
        ("photo.png", TypeError, "str"),
        (3.0, TypeError, "float"),
    ],
)
def test_what_is_no_image_is_refused(data, error, words):
    for use, name in (
        (Image, "image"),
        (pygpu.compile(lambda photo=Image: photo((0, 0))), "photo"),
    ):
        with pytest.raises(error, match=words) as caught:
            use(data)
        said = str(caught.value)
        assert said.startswith(f"{name}: ")
        if isinstance(data, np.ndarray):
            assert str(data.shape) in said
            assert str(data.dtype) in said


def test_a_path_is_told_how_it_is_read():
    with pytest.raises(TypeError, match=r"Image\.open"):
        Image("photo.png")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "I;16", "I", "F"])
def test_pil_modes_come_back(mode):
    channels = {"LA": 2, "RGB": 3, "RGBA": 4}.get(mode)
    dtype = {"1": "bool", "I;16": "uint16", "I": "int32", "F": "float32"}.get(mode, "uint8")
    shape = (5, 6) if channels is None else (5, 6, channels)
    picture = PILImage.fromarray(randoms(*shape, dtype=dtype))
    assert picture.mode == mode
    image = Image(picture)
    assert image.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(image), np.asarray(picture))
    if mode != "F":  # floats are pictures of 8 bits, unless asked otherwise
        assert image.to_pil().mode == mode
        np.testing.assert_array_equal(np.asarray(image.to_pil()), np.asarray(picture))
    assert Image(picture).to_pil(dtype).mode == mode


@pytest.mark.parametrize("has_arrow", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "uint16"])
def test_large_colours_become_pictures_of_their_own(monkeypatch, tmp_path, dtype, has_arrow):
    if not has_arrow:
        monkeypatch.delattr(PILImage, "fromarrow", raising=False)
    texels = randoms(200, 151, 3, dtype=dtype)
    if dtype[0] == "f":
        texels *= np.asarray(1.5, dtype)
        texels[0, 0] = np.nan, -np.inf, np.inf
    image = Image(texels)
    expected = image._texels(np.dtype("uint8"))
    picture = image.to_pil("uint8")
    assert (picture.mode, picture.size) == ("RGB", (151, 200))
    others = [image.to_pil("uint8") for _ in range(3)]
    np.testing.assert_array_equal(np.asarray(picture), expected)
    others[0].paste((1, 2, 3), (0, 0, 9, 9))  # a picture that is drawn on is no other's
    assert others[0].getpixel((3, 3)) == (1, 2, 3)
    np.testing.assert_array_equal(np.asarray(others[1]), expected)
    np.testing.assert_array_equal(np.asarray(image.to_pil("uint8")), expected)
    image.save(tmp_path / "a.png", dtype="uint8")
    with PILImage.open(tmp_path / "a.png") as written:
        np.testing.assert_array_equal(np.asarray(written), expected)


def test_palettes_become_colours():
    picture = PILImage.fromarray(randoms(4, 4, 3, dtype="uint8")).quantize(8)
    assert picture.mode == "P"
    assert Image(picture).channels == 3
    picture.info["transparency"] = 0
    assert Image(picture).channels == 4


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "HSV", "LAB"])
def test_other_pil_modes_name_the_conversion(mode):
    with pytest.raises(TypeError, match=r"convert\('RGB'\)"):
        Image(PILImage.new(mode, (3, 3)))


# ---------------------------------------------------------------- how it is read


@pytest.mark.parametrize("name", BOUNDARY_NAMES)
def test_boundaries_are_those_of_scipy_and_numpy(name):
    array = randoms(4, 5)
    image = Image(array, boundary=name, cval=0.25)
    scipy_name = {"edge": "nearest", "symmetric": "reflect", "wrap": "grid-wrap"}.get(name, name)
    for x in range(-14, 18):
        for y in (-9, -1, 0, 3, 4, 10):
            expected = ndimage.map_coordinates(
                array, [[y], [x]], order=0, mode=scipy_name, cval=0.25
            )[0]
            assert image((x, y)) == expected, (x, y)


@pytest.mark.parametrize("name", ["edge", "symmetric", "wrap"])
def test_boundaries_are_those_of_numpys_pad(name):
    array = randoms(4, 5)
    image = Image(array, boundary=name)
    padded = np.pad(array, 3, mode=name)
    seen = [[image((x, y)) for x in range(-3, 8)] for y in range(-3, 7)]
    np.testing.assert_array_equal(np.array(seen, np.float32), padded)


def test_a_row_of_one_is_mirrored_into_itself():
    for boundary in ("nearest", "reflect", "mirror", "wrap"):
        assert Image(np.array([[3.0]]), boundary=boundary)(-5, 9) == 3.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"boundary": "zero"}, "boundary='zero'"),
        ({"boundary": None, "interpolation": "cubic"}, "interpolation='cubic'"),
        ({"cval": (1, 2)}, "3 channels"),
        ({"cval": "x"}, "cval='x'"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        Image(randoms(2, 2, 3), **options)


def test_ints_and_bools_are_not_interpolated():
    for dtype in ("int32", "bool", "int8"):
        with pytest.raises(ValueError, match="linear"):
            Image(randoms(2, 2, dtype=dtype), interpolation="linear")
    with pytest.raises(ValueError, match="linear"):
        Image(randoms(2, 2, dtype="uint8"), interpolation="linear", normalize=False)


def test_cval_is_in_texel_units():
    image = Image(randoms(2, 2, 3, dtype="uint8"), boundary="constant", cval=(0.5, 0, 1))
    assert tuple(image(-1, 0)) == (0.5, 0, 1)
    assert Image(randoms(2, 2, dtype="int32"), boundary="constant", cval=-7)(5, 5) == -7
    assert Image(randoms(2, 2, dtype="bool"), boundary="constant", cval=True)(5, 5) is True
    with pytest.raises(ValueError, match="whole"):
        Image(randoms(2, 2, dtype="int32"), cval=0.5)


def test_sampled_sees_the_same_image_otherwise():
    image = Image(randoms(3, 3), boundary="wrap")
    seen = image.sampled(boundary="constant", cval=2.0)
    assert seen(-1, -1) == 2.0
    assert seen.storage is image.storage
    assert image.boundary == "wrap"
    assert image.sampled(interpolation="linear").boundary == "wrap"


# ---------------------------------------------------------------- pixels in plain Python


def test_a_pixel_is_column_then_row():
    array = randoms(4, 6)
    image = Image(array)
    assert image((5, 2)) == array[2, 5]
    assert image(5, 2) == image([5, 2]) == image(Position(5, 2)) == image(IVec2(5, 2))
    assert image(np.array([5, 2])) == image((np.int64(5), np.float32(2.0))) == array[2, 5]


def test_pixels_have_the_types_of_the_language():
    colour = Image(randoms(3, 3, 3, dtype="uint8"))(1, 1)
    assert type(colour) is Vec3
    np.testing.assert_array_equal(
        np.asarray(Image(randoms(3, 3, dtype="uint8")))[1, 1] / 255,
        Image(randoms(3, 3, dtype="uint8"))(1, 1),
    )
    assert type(Image(randoms(3, 3, dtype="int16"))(0, 0)) is Int
    assert type(Image(randoms(3, 3, dtype="bool"))(0, 0)) is bool
    assert type(Image(randoms(3, 3, 3, dtype="bool"))(0, 0)) is BVec3
    raw = Image(np.full((2, 2), 200, np.uint8), normalize=False)
    assert type(raw(0, 0)) is Int
    assert raw(0, 0) == 200


def test_fractions_take_the_nearest_pixel():
    image = Image(np.arange(12.0).reshape(3, 4))
    assert image(1.4, 0.6) == 5.0
    assert image(0.5, 0.5) == 5.0  # floor(x + 0.5)
    assert image(-0.5, -0.6) == 0.0
    assert image(Vec2(2.5, 1)) == 7.0


def test_fractions_are_interpolated_and_whole_positions_exact():
    array = randoms(5, 6)
    array[2, 3] = np.nan
    image = Image(array, interpolation="linear", boundary="reflect")
    assert image(2, 2) == image(2.0, 2.0) == array[2, 2]
    for x, y in [(0.25, 0.5), (-1.5, 0.75), (4.75, 3.5), (6.25, -2.5)]:
        expected = ndimage.map_coordinates(
            np.nan_to_num(array).astype(float), [[y], [x]], order=1, mode="grid-mirror"
        )[0]
        clean = Image(np.nan_to_num(array), interpolation="linear", boundary="reflect")
        assert clean(x, y) == pytest.approx(expected, rel=1e-6)


def test_a_constant_outside_is_interpolated_with():
    image = Image(np.ones((2, 2)), boundary="constant", interpolation="linear")
    assert image(-0.25, 0) == pytest.approx(0.75)


def test_wild_positions_read_some_texel():
    image = Image(randoms(3, 3), interpolation="linear")
    for value in (np.nan, np.inf, -np.inf, 1e30):
        assert 0 <= image(value, 0.0) < 1
        assert 0 <= image.sampled(interpolation="nearest")(0.0, value) < 1


@pytest.mark.parametrize("position", [(), (1,), (1, 2, 3), ("a", 2), (None,), ((1, 2, 3),)])
def test_what_is_no_position_is_refused(position):
    with pytest.raises(TypeError, match="position"):
        Image(randoms(3, 3))(*position)


# ---------------------------------------------------------------- like an array


def test_it_says_what_it_is():
    image = Image(randoms(4, 6, 3, dtype="uint8"), boundary="wrap")
    assert (image.width, image.height, image.channels, image.ndim, image.size) == (6, 4, 3, 3, 72)
    assert len(image) == 4
    for part in ("(4, 6, 3)", "uint8", "wrap", "device"):
        assert part in repr(image)


def test_numpy_converts_as_it_is_asked():
    image = Image(randoms(3, 3, dtype="uint8"))
    assert np.asarray(image, dtype=np.float64).dtype == np.float64
    assert np.array(image).flags.writeable
    with pytest.raises(ValueError, match="copied"):
        np.asarray(image, dtype=np.int64, copy=False)


def test_images_are_pickled_and_copied():
    image = Image(randoms(3, 4, 2), boundary="constant", cval=0.5, interpolation="linear")
    again = pickle.loads(pickle.dumps(image))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(image))
    assert (again.boundary, again.cval, again.interpolation) == ("constant", (0.5, 0.5), "linear")
    assert copy.deepcopy([image])[0].storage is image.storage


def test_an_image_of_an_image_is_read_as_that_one():
    image = Image(randoms(3, 4, dtype="uint8"), boundary="wrap")
    again = Image(image)
    assert again.storage is image.storage
    assert again.boundary == "wrap"
    assert Image(image, boundary="mirror").boundary == "mirror"
    assert Image(image, normalize=False)(0, 0) == np.asarray(image)[0, 0]


def test_its_truth_is_ambiguous_and_it_has_no_hash():
    image = Image(randoms(2, 2))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(image)
    with pytest.raises(TypeError):
        hash(image)


def test_operators_work_on_texels():
    array = randoms(4, 5, 3, dtype="uint8")
    image = Image(array)
    seen = array.astype(np.float32) / 255
    for result, expected in [
        (image + 1, seen + 1),
        (1 - image, 1 - seen),
        (image * image, seen * seen),
        (image / 2, seen / 2),
        (2 / (image + 1), 2 / (seen + 1)),
        (image**2, seen**2),
        (-image, -seen),
        (abs(image - 0.5), abs(seen - 0.5)),
        (image // 0.3, seen // np.float32(0.3)),
        (image % 0.3, seen % np.float32(0.3)),
        (np.float32(0.5) * image, np.float32(0.5) * seen),
        (np.sqrt(image), np.sqrt(seen)),
        (np.maximum(image, 0.5), np.maximum(seen, 0.5)),
        (image * np.array([1, 2, 3.0]), seen * np.array([1, 2, 3.0])),
        (image + Vec3(1, 2, 3), seen + np.array([1, 2, 3.0])),
        (array * image, seen * seen),
    ]:
        assert isinstance(result, Image)
        assert result.dtype == np.float32
        np.testing.assert_allclose(np.asarray(result), expected, rtol=2e-6, atol=1e-6)


def test_clips_and_membership_are_of_texels():
    array = randoms(4, 5, 3, dtype="uint8")
    image, seen = Image(array), array.astype(np.float32) / 255
    clipped = np.clip(image, 0.25, 0.5)
    assert isinstance(clipped, Image)
    np.testing.assert_array_equal(np.asarray(clipped), np.clip(seen, 0.25, 0.5))
    np.testing.assert_array_equal(np.asarray(image.clip(max=0.5)), np.minimum(seen, 0.5))
    out = np.empty_like(seen)
    assert np.clip(image, 0.25, None, out=out) is out
    np.testing.assert_array_equal(out, np.maximum(seen, 0.25))
    assert seen[2, 3, 1] in image
    assert 2.0 not in image


def test_masks_and_lists_index_as_numpy_does():
    array = randoms(4, 5, 3)
    image = Image(array)
    np.testing.assert_array_equal(image[array > 0.5], array[array > 0.5])
    np.testing.assert_array_equal(image[array[..., 0] > 0.5], array[array[..., 0] > 0.5])
    np.testing.assert_array_equal(image[..., [2, 0]], array[..., [2, 0]])
    np.testing.assert_array_equal(image[[1, 2], [3, 0]], array[[1, 2], [3, 0]])


def test_comparisons_give_bools():
    array = randoms(4, 5)
    image = Image(array)
    for result, expected in [
        (image > 0.5, array > 0.5),
        (np.float32(0.5) >= image, array <= 0.5),
        (image == image, np.ones((4, 5), bool)),
        (image != array, np.zeros((4, 5), bool)),
        ((image > 0.2) & (image < 0.7), (array > 0.2) & (array < 0.7)),
        (~(image > 0.2), array <= 0.2),
    ]:
        assert result.dtype == bool
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_ints_stay_ints():
    array = randoms(4, 5, dtype="int16").astype(np.int32)
    image = Image(array)
    for result, expected in [
        (image + 1, array + 1),
        (image // 7, array // 7),
        (image % 7, array % 7),
        (image & 255, array & 255),
        (image >> 2, array >> 2),
        (~image, ~array),
        (-image, -array),
    ]:
        assert result.dtype == np.int32
        np.testing.assert_array_equal(np.asarray(result), expected)
    assert (image / 2).dtype == np.float32


def test_operators_inherit_how_the_first_image_is_read():
    image = Image(randoms(3, 3), boundary="constant", cval=0.5, interpolation="linear")
    result = 2 * image
    assert (result.boundary, result.cval, result.interpolation) == ("constant", (0.5,), "linear")
    assert (image > 0.5).interpolation == "nearest"


def test_images_of_different_sizes_do_not_mix():
    with pytest.raises(ValueError, match="sizes"):
        Image(randoms(3, 3)) + Image(randoms(4, 4))


def test_ufuncs_write_into_an_out():
    image = Image(randoms(3, 3))
    out = np.empty((3, 3), np.float32)
    assert np.add(image, 1, out=out) is out
    np.testing.assert_allclose(out, np.asarray(image) + 1)


def test_what_an_operator_does_not_take_is_refused():
    with pytest.raises(TypeError):
        Image(randoms(2, 2)) + "a"
    with pytest.raises(TypeError):
        Image(randoms(2, 2)) + None


# ---------------------------------------------------------------- crops


def test_crops_are_numpys():
    array = randoms(9, 11, 3, dtype="uint8")
    image = Image(array, boundary="wrap")
    for index in [
        np.s_[2:5, 3:7],
        np.s_[2:5],
        np.s_[::2, ::-1],
        np.s_[..., :2],
        np.s_[..., ::-1],
        np.s_[-3:, -1:],
        np.s_[:, :, 1],
        np.s_[..., 0],
    ]:
        part = image[index]
        assert isinstance(part, Image)
        assert part.boundary == "wrap"
        assert part.dtype == np.uint8
        np.testing.assert_array_equal(np.asarray(part), array[index])


@pytest.mark.parametrize("channels", [(), (2,), (3,)])
def test_crops_of_results_are_numpys(target, channels):
    array = randoms(9, 11, *channels)
    result = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)(Image(array))
    rows = [np.s_[2:5, 3:7], np.s_[::2, ::-1], np.s_[-3:, -1:], np.s_[::-3, 7:2:-2]]
    for index in rows + [(*row, np.s_[::-1]) for row in rows if channels]:
        np.testing.assert_array_equal(np.asarray(result[index]), array[index])


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "float16", "float32", "int16", "int32", "bool"]
)
def test_channels_of_results_are_numpys_and_read_nothing(target, dtype, monkeypatch):
    monkeypatch.setenv("PYGPU_TARGET", target)
    array = randoms(9, 11, 4, dtype=dtype)
    same = pygpu.compile(lambda im=Image, p=Position: im(p))
    cval = (0, 1, 1, 0) if dtype == "bool" else (0, 1, 2, 3)
    for index in [np.s_[..., 1], np.s_[..., 1:3], np.s_[2:5, ::-2, 3:0:-1], np.s_[::3, :, -1]]:
        result = same(Image(array, boundary="constant", cval=cval), dtype=dtype)
        part = result[index]
        assert target in ("cpu", "interpreter") or result.storage.array is None
        assert (part.boundary, part.cval) == ("constant", tuple(np.array(cval)[index[-1:]].flat))
        np.testing.assert_array_equal(np.asarray(part), array[index])


def test_whole_numbers_give_texels():
    array = randoms(5, 6, dtype="uint8")
    image = Image(array)
    assert image[2, 3] == pytest.approx(array[2, 3] / 255)
    np.testing.assert_allclose(image[2], array[2] / 255, rtol=1e-6)


def test_an_empty_crop_is_refused():
    with pytest.raises(ValueError, match="empty"):
        Image(randoms(3, 3))[3:]


# ---------------------------------------------------------------- sums


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32", "bool", "uint16"])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 1), (0, 1, 2)])
def test_reductions_are_numpys_on_texels(dtype, axis):
    array = randoms(7, 5, 3, dtype=dtype)
    image = Image(array)
    seen = array / np.iinfo(dtype).max if array.dtype.kind == "u" else array
    wide = seen.astype(np.int64 if dtype in ("int32", "bool") else np.float64)
    np.testing.assert_allclose(image.sum(axis=axis), wide.sum(axis=axis), rtol=1e-12)
    np.testing.assert_allclose(image.mean(axis=axis), wide.mean(axis=axis), rtol=1e-12)
    np.testing.assert_allclose(image.min(axis=axis), seen.min(axis=axis), rtol=1e-6)
    np.testing.assert_allclose(image.max(axis=axis), seen.max(axis=axis), rtol=1e-6)


def test_sums_of_ints_are_exact():
    array = np.full((300, 300), 2**31 - 1, np.int32)
    assert Image(array).sum() == 300 * 300 * (2**31 - 1)
    assert np.sum(Image(array)) == 300 * 300 * (2**31 - 1)
    assert Image(array > 0).sum() == 90000


def test_numpys_own_reductions_find_the_methods():
    image = Image(randoms(4, 5, dtype="uint8"))
    assert np.mean(image) == pytest.approx(np.asarray(image).mean() / 255)
    assert np.max(image, axis=0).shape == (5,)
    assert image.sum(axis=0, keepdims=True).shape == (1, 5)


def test_methods_of_ufuncs_and_other_reductions_see_texels():
    array = randoms(4, 5, dtype="uint8")
    image = Image(array)
    np.testing.assert_allclose(np.add.reduce(image), (array / 255).sum(0), rtol=1e-6)
    assert np.std(image) == pytest.approx((array / 255).std())
    assert np.any(image > 0.5)
    assert not np.all(image > 0.5)
    np.testing.assert_array_equal(np.any(image > 0.9, axis=0), (array / 255 > 0.9).any(0))


def test_clip_holds_texels_between():
    image = Image(np.array([[-1.0, 0.5, 2.0]]))
    np.testing.assert_array_equal(np.asarray(np.clip(image, 0, 1)), [[0, 0.5, 1]])


# ---------------------------------------------------------------- pictures


def test_pictures_are_saved_and_opened(tmp_path):
    array = randoms(6, 7, 3, dtype="uint8")
    Image(array).save(tmp_path / "a.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), array)
    assert Image.open(tmp_path / "a.png", boundary="wrap").boundary == "wrap"


def test_floats_are_saved_as_8_bits_saturated_and_rounded(tmp_path):
    Image(np.array([[-1.0, 0.5, 2.0, np.nan]])).save(tmp_path / "a.png")
    assert np.asarray(PILImage.open(tmp_path / "a.png")).tolist() == [[0, 128, 255, 0]]


@pytest.mark.parametrize("dtype", ["uint16", "int32"])
def test_a_file_that_holds_8_bits_says_how_it_gets_them(tmp_path, dtype):
    image = Image(np.full((2, 3), 7, dtype))
    with pytest.raises(OSError, match="dtype='uint8'"):
        image.save(tmp_path / "deep.jpg")
    image.save(tmp_path / "deep.jpg", dtype="uint8")


def test_pictures_are_opened_upright(tmp_path):
    array = randoms(4, 6, 3, dtype="uint8")
    picture = PILImage.fromarray(array)
    exif = picture.getexif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    picture.save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), np.rot90(array, -1))


def test_a_notebook_gets_a_picture():
    image = Image(randoms(4, 6))
    picture = PILImage.open(io.BytesIO(image._repr_png_()))
    assert picture.size == (6, 4)
    assert "data:image/png" in image._repr_html_()


def test_what_pil_has_no_mode_for_is_refused():
    with pytest.raises(TypeError, match="no mode"):
        Image(randoms(2, 2, 3)).to_pil("float32")


def test_importing_pygpu_does_not_import_pil():
    assert pygpu.Image is Image


# ---------------------------------------------------------------- the same on devices


@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
@pytest.mark.parametrize("interpolation", ["nearest", "linear"])
@pytest.mark.parametrize("channels", [1, 3])
def test_devices_read_as_plain_python_does(target, boundary, interpolation, channels):
    array = randoms(5, 7, 3, dtype="uint8")[..., :channels]
    image = Image(array, boundary=boundary, cval=0.25, interpolation=interpolation)

    def spread(im: Image, p: Position):
        return im(Vec2((p.x - 8) * 0.9375 + 0.03125, (p.y - 6) * 1.125 + 0.0625))

    def shifted(im: Image, p: Position):
        return im(p - (9, 8))

    for function in (spread, shifted):
        result = np.asarray(pygpu.compile(function, target=target)(image, shape=(18, 22)))
        plain = [
            [np.asarray(function(image, Position(x, y))) for x in range(22)] for y in range(18)
        ]
        np.testing.assert_allclose(result, np.array(plain), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "int8", "int16", "int32", "bool"])
def test_devices_see_every_dtype(target, dtype):
    array = randoms(6, 7, 2, dtype=dtype)
    image = Image(array)
    result = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)(image)
    expected = np.array([[list(image(x, y)) for x in range(7)] for y in range(6)])
    np.testing.assert_allclose(np.asarray(result), expected, rtol=2e-7)
    same = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)(array, dtype=dtype)
    np.testing.assert_array_equal(same, array)


def test_the_sign_of_nan_is_nan(target):
    texels = np.array([[np.nan, 0.0, 2.0, -3.0, np.inf, -np.inf]], np.float32)
    signs = pygpu.compile(lambda im, p: np.sign(im(p)), im=Image, p=Position, target=target)
    assert np.array_equal(signs(texels), np.sign(texels), equal_nan=True)


def test_nan_and_infinity_pass_through(target):
    array = np.array([[np.nan, np.inf, -np.inf, -0.0, 1e-40]], np.float32)
    for image in (array, Image(array)):
        result = pygpu.compile(lambda im=Image, p=Position: im(p), target=target)(image)
        np.testing.assert_array_equal(np.asarray(result)[:, :4], array[:, :4])


def test_sizes_are_read_on_devices(target):
    f = pygpu.compile(
        lambda im=Image, p=Position: (im.width, im.height, im.shape[0], im.channels),
        target=target,
    )
    results = f(randoms(5, 7, 3))
    assert [int(r[0, 0]) for r in results] == [7, 5, 5, 3]


def test_a_mask_is_viewed_as_bytes() -> None:
    mask = Image(np.array([[True, False]]))
    view = mask.view(np.int8)
    np.testing.assert_array_equal(view, [[1, 0]])
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 3


def test_a_whole_place_is_its_texel_whatever_lies_beside_it(target):
    texels = np.array([[1, np.nan, 2, np.inf, 4]], np.float32)
    places = np.array([[0, 2, 3, np.inf, -np.inf, 3.5, 0.5]], np.float32)

    def read(im: Image, x: Image, p: Position):
        return im((x(p), 0.0))

    image = Image(texels, interpolation="linear")
    expected = np.array([1, 2, np.inf, 4, 1, np.inf, np.nan], np.float32)
    read_all = pygpu.compile(read, target=target)
    np.testing.assert_array_equal(np.asarray(read_all(image, places, shape=(1, 7)))[0], expected)
    plain = [read(image, Image(places), Position(x, 0)) for x in range(7)]
    np.testing.assert_array_equal(plain, expected)
