"""Picture files: every depth comes back, what they say of themselves too, and what cannot be is
refused in a line."""

import contextlib
import importlib.util
import io
import subprocess
import sys
import time
import warnings
from concurrent.futures import wait
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from PIL import Image as PILImage
from PIL import ImageCms, TiffImagePlugin

import pygpu
from pygpu import Image, Position, imread, imwrite
from pygpu.command.cli import main
from pygpu.execution.arguments import convert
from pygpu.image.files import ahead, exr, pillow, tiff

PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
HAS_EXR = importlib.util.find_spec("OpenEXR") is not None
NEEDS_EXR = pytest.mark.skipif(not HAS_EXR, reason="OpenEXR is not here")
EXIF = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\x02\0\0\0A\0\0\0\0\0\0\0"
ROOT = Path(__file__).parents[2]


def randoms(*shape: int, dtype: str = "float32") -> NDArray:
    values = np.random.default_rng(1).random(shape)
    if dtype == "bool":
        return values > 0.5
    if np.dtype(dtype).kind == "f":
        return (values * 2 - 0.5).astype(dtype)
    limits = np.iinfo(dtype)
    return (limits.min + values * (float(limits.max) - limits.min)).astype(dtype)


def shape_of(channels: int) -> tuple[int, ...]:
    return (13, 17) if channels == 1 else (13, 17, channels)


HELD = [
    *[("png", dtype, channels) for dtype in ("uint8", "uint16") for channels in (1, 2, 3, 4)],
    ("png", "bool", 1),
    *[
        ("tif", dtype, channels)
        for dtype in ("uint8", "uint16", "int8", "int16", "int32", "float16", "float32")
        for channels in (1, 2, 3, 4)
    ],
    ("tiff", "bool", 1),
    *[
        pytest.param("exr", dtype, channels, marks=NEEDS_EXR)
        for dtype in ("float16", "float32")
        for channels in (1, 2, 3, 4)
    ],
]


@pytest.mark.parametrize(("suffix", "dtype", "channels"), HELD)
def test_every_depth_comes_back(tmp_path, suffix, dtype, channels):
    array = randoms(*shape_of(channels), dtype=dtype)
    path = tmp_path / f"a.{suffix}"
    Image(array).save(path)
    opened = Image.open(path)
    assert opened.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(opened), array)
    np.testing.assert_array_equal(imread(path), array)


@pytest.mark.parametrize("dtype", ["float64", "uint32"])
def test_arrays_are_written_in_dtypes_that_images_have_not(tmp_path, dtype):
    array = randoms(13, 17, 3, dtype=dtype)
    imwrite(tmp_path / "a.tif", array)
    assert imread(tmp_path / "a.tif").dtype == dtype
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), array)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_other_readers_find_what_was_written(tmp_path, channels):
    array = randoms(*shape_of(channels), dtype="uint16")
    imwrite(tmp_path / "a.png", array)
    imwrite(tmp_path / "a.tif", array)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), array)
    with PILImage.open(tmp_path / "a.png") as picture:  # of several channels the upper bytes
        seen = np.asarray(picture)
    if channels == 2:
        seen = seen[..., [0, 3]] if seen.shape[2] == 4 else seen
    np.testing.assert_array_equal(seen, array if channels == 1 else array >> 8)


@pytest.mark.parametrize("filter", range(5))
@pytest.mark.parametrize("channels", [2, 3, 4])
def test_pngs_of_16_bits_are_read_with_every_filter(tmp_path, monkeypatch, channels, filter):
    array = randoms(13, 17, channels, dtype="uint16")
    rows = array.astype(">u2").view(np.uint8).reshape(13, -1).astype(int)
    left = np.pad(rows, ((0, 0), (2 * channels, 0)))[:, : rows.shape[1]]
    above = np.pad(rows, ((1, 0), (0, 0)))[:-1]
    corner = np.pad(left, ((1, 0), (0, 0)))[:-1]
    distances = np.stack([abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)])
    paeth = np.choose(distances.argmin(axis=0), [left, above, corner])
    guess = [0, left, above, (left + above) // 2, paeth][filter]
    filtered = np.insert((rows - guess).astype(np.uint8), 0, filter, axis=1)
    monkeypatch.setattr(pillow, "_filtered", lambda _: np.ascontiguousarray(filtered))
    imwrite(tmp_path / "a.png", array)
    np.testing.assert_array_equal(imread(tmp_path / "a.png"), array)


@pytest.mark.parametrize("compression", ["zlib", "lzma", None])
@pytest.mark.parametrize("predictor", [False, True])
@pytest.mark.parametrize("order", "<>")
def test_tiffs_are_read_in_either_order_of_bytes(tmp_path, compression, predictor, order):
    array = randoms(13, 17, 3, dtype="uint16")
    tifffile.imwrite(
        tmp_path / "a.tif",
        array,
        photometric="rgb",
        compression=compression,
        predictor=predictor and compression is not None,
        byteorder=order,
    )
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), array)


@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 1), ("uint8", 3), ("uint16", 1)])
def test_tiffs_in_other_compressions_are_read(tmp_path, dtype, channels):
    array = randoms(*shape_of(channels), dtype=dtype)
    PILImage.fromarray(array).save(tmp_path / "a.tif", compression="tiff_lzw")
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), array)


def test_a_deep_tiff_is_read_without_its_codec(tmp_path, monkeypatch):
    """A file that libtiff reads, through Pillow, with all its bits: as LZW would be."""
    array = randoms(13, 17, 3, dtype="uint16")
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb", compression="zlib")

    def missing(*_):
        raise ValueError("<COMPRESSION.LZW: 5> requires the 'imagecodecs' package")

    monkeypatch.setattr(tiff, "_whole", missing)
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), array)
    imwrite(tmp_path / "b.tif", array.astype("float32"), compression="zlib")
    with pytest.raises(OSError, match=r"b\.tif: .* pip install imagecodecs"):
        imread(tmp_path / "b.tif")


def test_stacks_are_pages(tmp_path):
    for shape in [(3, 13, 17), (3, 13, 17, 3), (1, 13, 17, 4)]:
        stack = randoms(*shape, dtype="uint16")
        imwrite(tmp_path / "a.tif", stack)
        read = imread(tmp_path / "a.tif")
        np.testing.assert_array_equal(read, stack if shape[0] > 1 else stack[0])
    stack = randoms(3, 13, 17)
    imwrite(tmp_path / "a.tif", stack)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.tif", page=1)), stack[1])
    np.testing.assert_array_equal(imread(tmp_path / "a.tif", page=-1), stack[2])
    with pytest.raises(OSError, match=r"a\.tif: it holds 3 pictures: page=0 .*pygpu\.imread"):
        Image.open(tmp_path / "a.tif")
    with pytest.raises(IndexError, match="3 pictures, there is no page 3"):
        imread(tmp_path / "a.tif", page=3)
    with pytest.raises(TypeError, match="page: takes a whole number"):
        imread(tmp_path / "a.tif", page="one")
    with pytest.raises(OSError, match=r"a\.png: PNG is .* a TIFF holds a stack .* pygpu\.animate"):
        imwrite(tmp_path / "a.png", stack)


def test_big_tiffs(tmp_path):
    stack = randoms(5, 13, 17, dtype="uint16")
    tifffile.imwrite(tmp_path / "big.tif", stack, bigtiff=True)
    assert_array_equal(imread(tmp_path / "big.tif"), stack)


def test_stacks_of_imagej_and_thumbnails(tmp_path):
    stack = randoms(4, 13, 17, dtype="uint16")
    tifffile.imwrite(tmp_path / "a.tif", stack, imagej=True)
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), stack)
    with tifffile.TiffWriter(tmp_path / "b.tif") as file:
        file.write(stack[0])
        file.write(stack[0, ::4, ::4], subfiletype=1)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "b.tif")), stack[0])


def test_white_may_be_zero(tmp_path):
    for dtype in ("uint8", "uint16", "bool"):
        array = randoms(13, 17, dtype=dtype)
        tifffile.imwrite(tmp_path / "a.tif", array, photometric="miniswhite")
        opposite = ~array if dtype == "bool" else np.iinfo(dtype).max - array
        np.testing.assert_array_equal(imread(tmp_path / "a.tif"), opposite)


def test_planes_and_palettes(tmp_path):
    array = randoms(13, 17, 3, dtype="uint16")
    planes = np.moveaxis(array, -1, 0)
    tifffile.imwrite(tmp_path / "a.tif", planes, photometric="rgb", planarconfig="separate")
    np.testing.assert_array_equal(imread(tmp_path / "a.tif"), array)
    picture = PILImage.fromarray((array >> 8).astype("uint8")).quantize(7)
    for name in ("a.tif", "a.png", "a.gif"):
        picture.save(tmp_path / name)
        np.testing.assert_array_equal(imread(tmp_path / name), np.asarray(picture.convert("RGB")))


@pytest.mark.parametrize(("bits", "dtype"), [(16, "uint16"), (8, "uint8"), (8, "uint16")])
def test_palettes_have_the_depth_of_their_colours(tmp_path, bits, dtype):
    """Of numbers of 8 or 16 bits: colours of 8 bits are written as equal bytes."""
    numbers = randoms(13, 17, dtype=f"uint{bits}")
    colours = randoms(3, 2**bits, dtype="uint16")
    if dtype == "uint8":
        colours = (colours >> 8) * np.uint16(257)
    tifffile.imwrite(tmp_path / "a.tif", numbers, photometric="palette", colormap=colours)
    expected = np.moveaxis(colours[:, numbers], 0, -1)
    texels = imread(tmp_path / "a.tif")
    assert texels.dtype == dtype
    np.testing.assert_array_equal(texels, expected >> 8 if dtype == "uint8" else expected)


def test_tags_of_a_tiff_that_pillow_opens_come_back_as_exif(tmp_path, on_cpu):
    """Pillow itself turns it upright and keeps its tags apart from what other files say."""
    exif = PILImage.Exif()
    exif[0x10F], exif[0x112] = "Maker", 6  # of which the second is the orientation
    PILImage.fromarray(randoms(6, 8, 3, dtype="uint8")).save(
        tmp_path / "a.tif", exif=exif, dpi=(300, 300)
    )
    same = pygpu.compile(lambda im, p: im(p), im=Image, p=Position)
    with PILImage.open(tmp_path / "a.tif") as picture:
        result = same(picture)
    assert result.size == (6, 8)
    assert dict(result.getexif()) == {0x10F: "Maker"}
    assert result.info["dpi"] == (300, 300)


@pytest.mark.parametrize("suffix", ["jpg", "webp"])
def test_quality_is_asked_for(tmp_path, suffix):
    photo = Image.open(ROOT / "examples/astronaut.jpg")
    for quality in (20, 95):
        photo.save(tmp_path / f"{quality}.{suffix}", quality=quality)
    sizes = [(tmp_path / f"{quality}.{suffix}").stat().st_size for quality in (20, 95)]
    assert sizes[0] * 3 < sizes[1]
    errors = [
        np.abs(imread(tmp_path / f"{q}.{suffix}").astype(int) - np.asarray(photo)).mean()
        for q in (20, 95)
    ]
    assert errors[1] < 3 < errors[0]
    for wrong in (-1, 101, 0.5, "high"):
        with pytest.raises(ValueError, match="quality: takes a whole number from 0 to 100"):
            photo.save(tmp_path / "a.jpg", quality=wrong)
    with pytest.raises(TypeError, match=r"a\.png: PNG takes no quality; JPEG and WebP do"):
        photo.save(tmp_path / "a.png", quality=90)


def test_formats_are_known_by_their_content_and_open_files_are_taken(tmp_path):
    array = randoms(13, 17, 3, dtype="uint16")
    for name in ("PNG", "TIFF"):
        buffer = io.BytesIO()
        Image(array).save(buffer, format=name)
        np.testing.assert_array_equal(np.asarray(Image.open(buffer)), array)
        (tmp_path / "misnamed.jpg").write_bytes(buffer.getvalue())
        np.testing.assert_array_equal(imread(str(tmp_path / "misnamed.jpg")), array)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (23_000, 2), (3, 23_000), (317, 211)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA"])
def test_texels_are_those_of_pillow(tmp_path, size, mode):
    """Also of rows longer than what Pillow hands on at once."""
    array = np.random.default_rng(0).integers(0, 256, (size[1], size[0], len(mode)), np.uint8)
    picture = PILImage.fromarray(array if len(mode) > 1 else array[..., 0])
    picture.save(tmp_path / "some.png")
    np.testing.assert_array_equal(pygpu.imread(tmp_path / "some.png"), np.asarray(picture))


@pytest.mark.parametrize("size", [(512, 512), (2900, 1500), (700, 6001)])
def test_texels_of_large_pictures_are_packed_from_their_words(size, monkeypatch) -> None:
    """Also of those that Pillow has in several parts of memory, or where it does not say where."""
    width, height = size
    texels = np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)
    picture = PILImage.fromarray(texels)
    own = np.asarray(Image(picture))
    assert_array_equal(own, texels)
    picture.paste(0, (0, 0, 9, 9))
    assert_array_equal(own, texels)
    monkeypatch.setattr(convert, "_words", lambda image: None)
    assert_array_equal(np.asarray(Image(picture)), np.asarray(picture))


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_pictures_of_one_file_are_apart(tmp_path, mode):
    """What is read may be changed, and changes no other reading."""
    PILImage.new(mode, (40, 30), 3).save(tmp_path / "some.png")
    expected = pygpu.imread(tmp_path / "some.png")
    first, image = pygpu.imread(tmp_path / "some.png"), pygpu.Image.open(tmp_path / "some.png")
    first[:] = 9
    assert np.all(np.asarray(image) == expected)
    assert np.all(pygpu.imread(tmp_path / "some.png") == expected)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(image)[:] = 9


def test_a_photograph_comes_along():
    photo = pygpu.data.astronaut()
    assert (photo.shape, photo.dtype) == ((512, 512, 3), np.uint8)
    np.testing.assert_array_equal(photo, imread(ROOT / "examples/astronaut.jpg"))


# ---------------------------------------------------------------- bits


def test_floats_keep_the_bits_of_the_picture_that_they_come_of(tmp_path):
    array = randoms(13, 17, 3, dtype="uint16")
    imwrite(tmp_path / "deep.png", array)
    half = 0.5 * Image.open(tmp_path / "deep.png")
    half.save(tmp_path / "half.png")
    halved = imread(tmp_path / "half.png")
    assert halved.dtype == np.uint16
    assert np.abs(halved - array * 0.5).max() <= 0.51
    (0.5 * Image((array >> 8).astype("uint8"))).save(tmp_path / "half.png")
    assert imread(tmp_path / "half.png").dtype == np.uint8
    half.save(tmp_path / "half.tif")
    assert imread(tmp_path / "half.tif").dtype == np.float32
    half[2:9].save(tmp_path / "crop.png")
    assert imread(tmp_path / "crop.png").dtype == np.uint16


REFUSED = [
    ("uint16", 3, "a.jpg", {}, r"JPEG holds uint8, not uint16: dtype='uint8' .*PNG and TIFF hold"),
    ("uint16", 3, "a.webp", {}, "WebP holds uint8, not uint16"),
    ("uint16", 1, "a.bmp", {}, "BMP holds uint8, not uint16"),
    ("uint16", 3, "a.exr", {}, "EXR holds float32, float16, not uint16: dtype='float32'"),
    ("bool", 1, "a.exr", {}, "EXR holds float32, float16, not bool: .*PNG and TIFF hold it"),
    ("int32", 1, "a.png", {}, "PNG holds uint8, uint16, bool, not int32.*TIFF holds it"),
    ("uint8", 3, "a.icns", {}, "ICNS scales pictures to sizes of its own"),
    ("float32", 3, "a.png", {"dtype": "float32"}, "not float32: .*TIFF and EXR hold it"),
    ("float32", 3, "a.tif", {"dtype": "int64"}, "not int64: dtype='int32' converts$"),
    ("float32", 3, "a.tif", {"dtype": "bool"}, "bools are written of one channel"),
    ("uint8", 4, "a.jpg", {}, r"JPEG has no alpha: leave it out, image\[\.\.\., :3\]"),
    ("uint8", 2, "a.jpg", {}, r"JPEG has no alpha: leave it out, image\[\.\.\., :1\]"),
    ("uint8", 4, "a.ppm", {}, r"PPM would lose the alpha: leave it out, image\[\.\.\., :3\]"),
    ("uint8", 4, "a.bmp", {}, "BMP would lose the alpha: .*; PNG, TIFF and WebP hold it"),
    ("uint8", 4, "a.gif", {}, "GIF would lose the alpha: .*; PNG, TIFF and WebP hold it"),
    ("uint8", 2, "a.bmp", {}, r"BMP would lose the alpha: leave it out, image\[\.\.\., :1\]"),
    ("uint8", 3, "a.xyz", {}, r"the suffix '\.xyz' is no format .*: \.png, \.tif, \.exr, \.jpg"),
    ("uint8", 3, "a", {}, "without a suffix it has no format"),
]


@pytest.mark.parametrize(("dtype", "channels", "name", "options", "words"), REFUSED)
def test_what_a_file_cannot_hold_is_refused(tmp_path, dtype, channels, name, options, words):
    image = Image(randoms(*shape_of(channels), dtype=dtype))
    with pytest.raises((OSError, ValueError), match=words) as caught:
        image.save(tmp_path / name, **options)
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.tga", "a.sgi", "a.ico"])
def test_alpha_goes_into_other_formats_that_hold_it(tmp_path, name):
    array = randoms(13, 17, 4, dtype="uint8")
    imwrite(tmp_path / name, array)
    assert_array_equal(imread(tmp_path / name), array)


def test_a_webp_without_loss_keeps_the_colours_of_clear_texels(tmp_path):
    array = randoms(13, 17, 4, dtype="uint8")
    array[..., 3] = 255 * (array[..., 3] > 127)
    imwrite(tmp_path / "a.webp", array, lossless=True)
    assert_array_equal(imread(tmp_path / "a.webp"), array)


def test_a_picture_of_floats_is_not_narrowed_unasked(tmp_path):
    imwrite(tmp_path / "a.tif", randoms(13, 17, 3))
    light = 0.5 * Image.open(tmp_path / "a.tif")
    with pytest.raises(OSError, match="not float32, of a picture of 32 bits: dtype='uint8'"):
        light.save(tmp_path / "a.png")
    light.save(tmp_path / "a.png", dtype="uint16")
    expected = np.clip(np.asarray(light), 0, 1) * 65535
    assert np.abs(imread(tmp_path / "a.png") - expected).max() <= 0.51


@pytest.mark.parametrize("source", ["uint8", "uint16", "float32", "int32", "bool"])
@pytest.mark.parametrize("wanted", ["uint8", "uint16", "int16", "float32"])
def test_dtypes_are_converted_as_results_are(tmp_path, source, wanted):
    """In NumPy for few values, and on the device for many."""
    array = randoms(300, 300, dtype=source)
    image = Image(array)
    image.save(tmp_path / "a.tif", dtype=wanted)
    image[:20, :20].save(tmp_path / "b.tif", dtype=wanted)
    read = imread(tmp_path / "a.tif")
    assert read.dtype == wanted
    step = 2e-7 if wanted == "float32" else 1  # a tie may be rounded either way
    assert np.abs(read[:20, :20] - imread(tmp_path / "b.tif").astype(float)).max() <= step
    if source == wanted:
        np.testing.assert_array_equal(read, array)


# ---------------------------------------------------------------- what pictures say of themselves


@pytest.fixture
def photo() -> PILImage.Image:
    """A photograph on its side, as cameras write it."""
    picture = PILImage.fromarray(randoms(13, 17, 3, dtype="uint8"))
    exif = picture.getexif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010F] = "A camera"
    exif.get_ifd(0x8769)[0x829A] = TiffImagePlugin.IFDRational(1, 250)  # the exposure
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", exif=exif, icc_profile=PROFILE, dpi=(300, 300))
    return PILImage.open(buffer)


def same(im: Image, p: Position):
    return im(p)


@pytest.mark.parametrize("n", [None, 0, 3])
def test_a_picture_of_pil_keeps_what_it_says(photo, n):
    compiled = pygpu.compile(same, target="cpu")
    result = compiled(photo) if n is None else compiled.iterate(photo, n)
    assert result.size == photo.size  # it is not turned,
    assert result.getexif()[0x0112] == 6  # and says so
    assert result.info["exif"] == photo.info["exif"]
    assert result.info["icc_profile"] == PROFILE
    assert result.info["dpi"] == photo.info["dpi"]
    assert "transparency" not in result.info
    none = compiled.iterate(photo, 0, dtype="uint8")
    assert none.info == result.info
    assert compiled.iterate(Image(photo), 0, dtype="uint8").info == dict(Image(photo).info)


def test_images_keep_what_pictures_say(photo):
    image = Image(photo)
    compiled = pygpu.compile(same, target="cpu")
    for kept in (image, compiled(image), 1 - image, image[2:5, 3:], image.sampled("wrap")):
        assert kept.info["icc_profile"] == PROFILE
        assert kept.to_pil().info == image.to_pil().info
    assert compiled(np.asarray(photo), dtype="uint8").dtype == np.uint8
    assert dict(Image(np.asarray(photo)).info) == {}


@pytest.mark.parametrize("name", ["a.png", "deep.png", "a.jpg", "a.webp", "a.tif", "deep.tif"])
def test_files_keep_what_pictures_say(photo, tmp_path, name):
    photo.save(tmp_path / "photo.png", exif=photo.info["exif"], icc_profile=PROFILE, dpi=(300, 300))
    image = Image.open(tmp_path / "photo.png")
    assert image.shape == (17, 13, 3)  # upright
    np.testing.assert_array_equal(np.asarray(image), np.rot90(np.asarray(photo), -1))
    image.save(tmp_path / name, dtype="uint16" if name.startswith("deep") else None)
    read = Image.open(tmp_path / name)
    assert read.shape == image.shape
    assert read.info["icc_profile"] == PROFILE
    assert read.info["dpi"] == pytest.approx((300, 300), abs=0.1)
    exif = read.to_pil("uint8").getexif()
    assert exif[0x010F] == "A camera"
    assert exif.get_ifd(0x8769)[0x829A] == pytest.approx(1 / 250)
    assert 0x0112 not in exif


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "deep.png", "a.tif", "deep.tif", "a.jpg"])
def test_every_orientation_is_turned_upright(tmp_path, orientation, name):
    upright = np.zeros((16, 24, 3), np.uint16)
    upright[:8, :8, 0], upright[8:, 16:, 1] = 65535, 30000
    turns = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.swapaxes(0, 1),
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].swapaxes(0, 1),
        8: np.rot90(upright, -1),
    }
    array = turns[orientation] if name.startswith("deep") else turns[orientation] >> 8
    exif = PILImage.Exif()
    exif[0x0112] = orientation
    dtype = "uint16" if name.startswith("deep") else "uint8"
    sharp = {"quality": 100, "subsampling": 0} if name == "a.jpg" else {}
    imwrite(tmp_path / name, array.astype(dtype), exif=exif.tobytes(), **sharp)
    opened = Image.open(tmp_path / name)
    expected = upright if name.startswith("deep") else upright >> 8
    assert opened.shape == expected.shape
    error = np.abs(np.asarray(opened).astype(int) - expected).max()
    assert error <= (20 if name == "a.jpg" else 0)


# ---------------------------------------------------------------- bad input


@pytest.fixture
def bad(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    array = randoms(64, 64, 3, dtype="uint8")
    for name, dtype in [("cut.png", "uint8"), ("cut.jpg", "uint8"), ("cut.webp", "uint8")]:
        imwrite(name, array.astype(dtype))
    imwrite("cut16.png", array.astype("uint16") * 257)
    imwrite("cut.tif", array)
    imwrite("cutz.tif", array, compression="zlib")
    imwrite("cutn.tif", np.stack([array] * 5))
    if HAS_EXR:
        imwrite("cut.exr", array.astype("float32"))
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    (tmp_path / "stub.tif").write_bytes(b"II*\0\x08\0\0\0")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "folder.png").mkdir()
    PILImage.new("CMYK", (8, 8)).save("inks.jpg")
    PILImage.new("CMYK", (8, 8)).save("inks.tif")
    frames = [PILImage.fromarray(array + k) for k in range(3)]
    for name in ("moving.png", "moving.gif", "moving.webp"):
        frames[0].save(name, save_all=True, append_images=frames[1:], lossless=True)
    (tmp_path / "deep.ppm").write_bytes(b"P6 2 2 65535\n" + bytes(24))
    raw = randoms(16, 16, dtype="uint16")
    (tmp_path / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    tifffile.imwrite("raw.dng", raw, photometric=32803, extratags=[(33421, "H", 2, (2, 2), True)])
    return tmp_path


SAID = {
    **dict.fromkeys(
        (
            "cut.png",
            "cut.jpg",
            "cut16.png",
            "cut.webp",
            "cut.tif",
            "cutz.tif",
            "cutn.tif",
            "cut.exr",
        ),
        "damaged or was not written to its end",
    ),
    "stub.tif": "damaged",
    "empty.png": "the file is empty",
    "text.png": "no picture, or of an unknown format; PNG, TIFF, EXR, JPEG, WebP are read",
    "folder.png": "a directory",
    "missing.png": "o such file",
    "inks.jpg": "convert('RGB')",
    "inks.tif": "convert('RGB')",
    "moving.png": "it holds 3 pictures: ",
    "moving.gif": "it holds 3 pictures: ",
    "moving.webp": "it holds 3 pictures: ",
    "deep.ppm": "more than 8 bits",
    "raw.dng": "pip install rawpy",
    "phone.heic": "pip install pillow-heif",
}
TOLD = SAID | dict.fromkeys(("inks.jpg", "inks.tif"), "save it as RGB")  # on the command line


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=NEEDS_EXR) if n.endswith("exr") else n for n in SAID]
)
def test_bad_files_are_told_in_a_line(bad, name, capfd):
    """And neither libraries nor logging print more."""
    with pytest.raises(OSError) as caught:  # noqa: PT011  the words are looked for below
        Image.open(name)
    assert SAID[name] in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    (bad / "f.py").write_text(
        "from pygpu import Image, Position\ndef same(im: Image, p: Position):\n    return im(p)\n"
    )
    assert main(["run", "f.py:same", name, "-o", "out.png"]) == 2
    told = capfd.readouterr().err
    assert told.startswith(f"pygpu: {name}: ")
    assert told.count("\n") == 1
    assert TOLD[name] in told


def test_frames_are_read_as_a_stack(bad):
    for name in ("moving.png", "moving.gif"):
        assert imread(name).shape == (3, 64, 64, 3)
        assert imread(name, page=2).shape == (64, 64, 3)


def test_a_missing_codec_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(OSError, match=r"a\.exr: EXR needs .* pip install OpenEXR"):
        imwrite(tmp_path / "a.exr", randoms(4, 4))
    (tmp_path / "a.exr").write_bytes(exr.MAGIC + bytes(20))
    with pytest.raises(OSError, match="pip install OpenEXR"):
        imread(tmp_path / "a.exr")


def test_codecs_are_found_that_are_installed_meanwhile(tmp_path):
    """In a process of its own: a folder of packages gets one after it was asked for."""
    code = f"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, {str(tmp_path)!r})
import pygpu
from pygpu.core.host.optional import optional

assert optional("some_codec") is None
Path({str(tmp_path)!r}, "some_codec.py").write_text("broken = False")
assert not optional("some_codec").broken

array = np.zeros((4, 5), np.uint8)
sys.modules["imagecodecs"] = None
try:
    pygpu.imwrite("a.tif", array, compression="jpegxl")
except OSError as error:
    assert str(error) == "a.tif: TIFF: jpegxl needs a codec: pip install imagecodecs"
assert not Path("a.tif").exists()

del sys.modules["imagecodecs"]
lines = ["class DelayedImportError(ImportError): pass", "version = __version__ = '9999.1.1'"]
lines += ["def __getattr__(name): raise AttributeError(name)"]
lines += ["class JPEGXL: available = True"]
lines += ["def jpegxl_encode(data, *_, **__): return data.tobytes()"]
Path({str(tmp_path)!r}, "imagecodecs.py").write_text("\\n".join(lines))
pygpu.imwrite("a.tif", array, compression="jpegxl")
assert Path("a.tif").exists()
"""
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def test_channels_of_an_exr_that_are_no_colours_are_named(tmp_path):
    openexr = pytest.importorskip("OpenEXR")
    header = {"compression": openexr.ZIP_COMPRESSION, "type": openexr.scanlineimage}
    with openexr.File(header, {"depth.Z": randoms(4, 5), "Y": randoms(4, 5)}) as file:
        file.write(str(tmp_path / "a.exr"))
    with pytest.raises(OSError, match=r"its channels are Y, depth\.Z"):
        imread(tmp_path / "a.exr")


def test_a_compression_without_its_codec_is_not_written(tmp_path):
    with pytest.raises(OSError, match="TIFF: jpegxl needs a codec: pip install imagecodecs"):
        imwrite(tmp_path / "a.tif", randoms(4, 4), compression="jpegxl")
    with pytest.raises(OSError, match=r"a\.tif: .*colour"):
        imwrite(tmp_path / "a.tif", randoms(4, 4), colour="blue")


def test_damage_anywhere_is_an_error_of_the_file(tmp_path):
    array = randoms(8, 9, 3, dtype="uint16")
    draw = np.random.default_rng(3)
    for name, options in [("a.png", {}), ("a.tif", {}), ("b.tif", {"compression": "zlib"})]:
        path = tmp_path / name
        imwrite(path, array, exif=EXIF, **options)
        whole = path.read_bytes()
        for _ in range(150):
            part = bytearray(whole[: draw.integers(1, len(whole) + 1)])
            part[draw.integers(len(part))] ^= int(draw.integers(256))
            path.write_bytes(part)
            with warnings.catch_warnings(), contextlib.suppress(OSError):
                warnings.simplefilter("ignore")  # Pillow's, about EXIF
                imread(path)


@pytest.mark.parametrize("wrong", [5, None, b"\x89PNG"])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises((TypeError, OSError)):
        imread(wrong)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4, 5), (0, 4), (2, 2, 2, 2, 2)])
def test_what_is_no_picture_is_not_written(tmp_path, shape):
    with pytest.raises(ValueError, match="imwrite takes a picture"):
        imwrite(tmp_path / "a.tif", np.zeros(shape, np.uint8))


def test_a_float_result_is_saved_as_fast_as_8_bits_are_made():
    image = Image(randoms(1000, 1000)) * 0.9

    def seconds(function):
        function()
        return min(_timed(function) for _ in range(5))

    converted = seconds(lambda: np.asarray(np.positive(image, dtype="uint8")))
    assert seconds(image.to_pil) < 3 * converted + 5e-3


def _timed(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def test_libraries_of_files_are_imported_at_need():
    code = (
        "import sys, pygpu; pygpu.Image; "
        "assert not {'PIL.Image', 'tifffile', 'OpenEXR'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_complex_numbers_are_refused_without_a_dtype_that_would_take_them(tmp_path):
    with pytest.raises(OSError, match=r"not complex128$"):
        pygpu.imwrite(tmp_path / "a.tif", np.zeros((4, 4), complex))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.ones((5, 6), np.complex64), "it holds complex64"),
        (np.ones((5, 6, 7), np.uint8), "it has 7 channels"),
        (np.full((5, 6), 2**32 - 1, np.uint32), "it holds ints of more than 32 bits"),
        (np.full((5, 6), -(2**40)), "it holds ints of more than 32 bits"),
    ],
)
def test_numbers_that_are_no_texels_are_refused_by_the_name_of_the_file(tmp_path, array, words):
    path = tmp_path / "waves.tif"
    tifffile.imwrite(path, array, photometric="minisblack", planarconfig="contig")
    with pytest.raises(OSError, match=rf"waves\.tif: {words}.*imread"):
        Image.open(path)
    assert_array_equal(pygpu.imread(path), array)


WRONG = [
    ("a.png", {"qualty": 90}, "PNG takes no qualty; it takes icc_profile, .* compress_level"),
    ("a.jpg", {"compress_level": 9}, "JPEG takes no compress_level"),
    ("a.webp", {"optimize": True}, "WebP takes no optimize"),
    ("a.tif", {"qualty": 90}, r"a\.tif: TIFF: .*'qualty'$"),
    ("a.png", {"compress_level": 99, "dtype": "uint16"}, r"a\.png: PNG: Bad compression level"),
    ("a.png", {"format": 3}, "format: takes a name as 'PNG', got 3"),
    ("a.dat", {"format": "nope"}, r"a\.dat: format='nope' is no format .*: \.png"),
    *[
        (f"a.{suffix}", options, words)
        for suffix in ("png", "jpg", "webp", "tif")
        for options, words in (
            ({"dpi": 72}, "dpi: takes two numbers above 0, across and down, got 72"),
            ({"dpi": (-3, 1)}, "dpi: takes two numbers above 0"),
            ({"exif": "x"}, "exif: takes the bytes of EXIF, or Pillow's Exif, got 'x'"),
            ({"exif": b"x"}, "exif: takes the bytes of EXIF"),
            ({"icc_profile": "x"}, "icc_profile: takes the bytes of a profile, got 'x'"),
        )
    ],
]


@pytest.mark.parametrize(("name", "options", "words"), WRONG)
def test_options_that_are_none_are_not_passed_over(tmp_path, name, options, words):
    with pytest.raises((TypeError, OSError), match=words):
        Image(randoms(5, 6, 3)).save(tmp_path / name, **options)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp"])
def test_options_of_a_format_reach_its_writer(tmp_path, name):
    image = Image(randoms(8, 8, 3, dtype="uint8").repeat(3, axis=0).repeat(3, axis=1))
    options = {"a.png": {"compress_level": 0}, "a.jpg": {"subsampling": 0}}.get(name)
    image.save(tmp_path / name, **(options or {"lossless": True}))
    image.save(tmp_path / f"b{name}")
    assert (tmp_path / name).stat().st_size != (tmp_path / f"b{name}").stat().st_size


@NEEDS_EXR
def test_a_place_where_no_exr_goes_is_an_error_of_the_file(tmp_path):
    (tmp_path / "a.exr").mkdir()
    with pytest.raises(OSError, match=r"a\.exr: EXR: .*directory"):
        Image(randoms(5, 6)).save(tmp_path / "a.exr")


def test_files_that_are_open_otherwise_are_refused(tmp_path):
    path = tmp_path / "a.png"
    image = Image(randoms(5, 6, dtype="uint8"))
    image.save(path)
    with path.open() as text, pytest.raises(TypeError, match="open it for bytes"):
        imread(text)
    with path.open("rb") as file, pytest.raises(OSError, match="not open for writing"):
        image.save(file, format="PNG")


def test_a_resolution_without_a_unit_is_none(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.ones((5, 6)), resolution=(1, 1), resolutionunit="NONE")
    assert "dpi" not in Image.open(tmp_path / "a.tif").info


def test_jpegs_decoded_ahead_are_what_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texels, exif = randoms(40, 60, 3, dtype="uint8"), PILImage.Exif()
    exif[274] = 6  # turned to the right
    paths = [tmp_path / name for name in ("turned.jpg", "broken.jpg", "other.jpg", "late.jpg")]
    turned, broken, other, late = paths
    for path in (turned, late, broken):
        PILImage.fromarray(texels).save(path, "JPEG", exif=exif, dpi=(72, 72))
    broken.write_bytes(broken.read_bytes()[:900])
    PILImage.fromarray(texels).save(other, "PNG")
    wanted = [Image.open(turned), Image.open(other)]

    decoding = ahead.begin(map(str, paths[:3]))
    wait(decoding.begun.values())
    opened: list[object] = []
    monkeypatch.setattr(
        PILImage, "open", lambda *given, real=PILImage.open: (opened.append(given), real(*given))[1]
    )
    for have, want in zip(map(Image.open, (turned, other)), wanted, strict=True):
        assert_array_equal(have, want)
        assert have.info == want.info
    assert all(given[0] != turned for given in opened)
    with pytest.raises(OSError, match=r"broken\.jpg.*damaged"):
        Image.open(broken)
    assert_array_equal(Image.open(turned), wanted[0])  # which is opened the second time
    for _ in range(2):
        assert_array_equal(Image.open(late), wanted[0])  # nobody waits for what is not decoded
    decoding.stop()
    ahead.begin([str(late)]).stop()
    assert ahead.taken(late) is None


def test_pages_of_different_dtypes_are_no_stack(tmp_path: Path) -> None:
    path = tmp_path / "kinds.tif"
    with tifffile.TiffWriter(path) as writer:
        writer.write(np.full((4, 5), 255, np.uint8))
        writer.write(np.full((4, 5), 255, np.uint16))
    with pytest.raises(OSError, match="its 2 pictures are of dtypes uint16, uint8: page=0 takes"):
        pygpu.imread(path)
    assert pygpu.imread(path, page=1).dtype == np.uint16
