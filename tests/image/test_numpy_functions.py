"""NumPy's functions of images: each gives what NumPy gives of the texels that functions see."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from pygpu import Image
from pygpu.core.errors import HOME

Array = NDArray[Any]
GENERATOR = np.random.default_rng(0)
BYTES = GENERATOR.integers(0, 255, (13, 18)).astype(np.uint8)
COLOURS = GENERATOR.integers(0, 255, (13, 18, 3)).astype(np.uint8)
FLOATS = GENERATOR.normal(size=(13, 18)).astype(np.float32)
INTS = GENERATOR.integers(-99, 99, (13, 18)).astype(np.int32)

VALUES: dict[str, Callable[[Any], Any]] = {
    "mean": np.mean,
    "mean of columns": lambda x: np.mean(x, axis=0),
    "sum": lambda x: np.sum(x, axis=1),
    "sum where": lambda x: np.sum(x, where=np.arange(18) % 2 == 0),
    "min": np.min,
    "amax": np.max,
    "std": np.std,
    "var": lambda x: np.var(x, ddof=1),
    "median": np.median,
    "median of rows": lambda x: np.median(x, axis=1),
    "percentile": lambda x: np.percentile(x, [10, 50, 99]),
    "quantile": lambda x: np.quantile(x, 0.3, axis=0),
    "nanmean": np.nanmean,
    "nanmax": np.nanmax,
    "nanmin": np.nanmin,
    "nansum": np.nansum,
    "nanstd": np.nanstd,
    "average": lambda x: np.average(x, axis=0),
    "prod": np.prod,
    "ptp": np.ptp,
    "norm": lambda x: np.linalg.norm(x, axis=1),
    "norm of all": np.linalg.norm,
    "argmax": np.argmax,
    "argmin": lambda x: np.argmin(x, axis=0),
    "any": np.any,
    "all": np.all,
    "count_nonzero": np.count_nonzero,
    "nonzero": lambda x: np.nonzero(x)[0],
    "unique": np.unique,
    "histogram": lambda x: np.histogram(x, 7, (0.1, 0.8))[0],
    "histogram of all": lambda x: np.histogram(x)[0],
    "density": lambda x: np.histogram(x, 7, (0, 1), density=True)[0],
    "dot": lambda x: np.dot(x, np.arange(18.0)),
    "searchsorted": lambda x: np.searchsorted([0.2, 0.5], np.ravel(x)),
    "allclose": lambda x: np.allclose(x, x),
}
IMAGES: dict[str, Callable[[Any], Any]] = {
    "where": lambda x: np.where(x > 0.5, x, 0),
    "where of arrays": lambda x: np.where(FLOATS > 0, x, FLOATS),
    "clip": lambda x: np.clip(x, 0.2, 0.5),
    "round": lambda x: np.round(x, 1),
    "nan_to_num": np.nan_to_num,
    "isclose": lambda x: np.isclose(x, 0.5, atol=0.1),
    "cumsum": lambda x: np.cumsum(x, axis=0),
    "cumsum of all": np.cumsum,
    "cumprod": lambda x: np.cumprod(x, axis=1),
    "partition": lambda x: np.partition(x, 0, axis=1),
    "diff": lambda x: np.diff(x, axis=0),
    "gradient": lambda x: np.gradient(x)[0],
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "argsort of columns": lambda x: np.argsort(x, axis=0, kind="stable"),
    "convolve": lambda x: np.convolve(np.ravel(x), [1, 2, 1], "same"),
    "correlate": lambda x: np.correlate(np.ravel(x), [1, 0, -1]),
    "zeros_like": np.zeros_like,
    "full_like": lambda x: np.full_like(x, 0.25),
}
MOVES: dict[str, Callable[[Any], Any]] = {
    "flip": lambda x: np.flip(x, axis=(0, 1)),
    "flip of rows": lambda x: np.flip(x, 0),
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "roll": lambda x: np.roll(x, 5, axis=1),
    "roll of both": lambda x: np.roll(x, (-3, 40), axis=(0, -1 if x.ndim == 2 else 1)),
    "rot90": np.rot90,
    "rot180": lambda x: np.rot90(x, 2),
    "rot270": lambda x: np.rot90(x, -1),
    "transpose": lambda x: np.transpose(x, (1, 0) if x.ndim == 2 else (1, 0, 2)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "pad": lambda x: np.pad(x, ((1, 2), (3, 0), (0, 0))[: x.ndim]),
    "pad with ones": lambda x: np.pad(x, 1 if x.ndim == 2 else ((1, 1), (1, 1), (0, 0)),
                                      constant_values=1),
    "edge": lambda x: np.pad(x, ((1, 2), (3, 0), (0, 0))[: x.ndim], "edge"),
    "symmetric": lambda x: np.pad(x, ((1, 2), (3, 0), (0, 0))[: x.ndim], "symmetric"),
    "reflect": lambda x: np.pad(x, ((1, 2), (3, 0), (0, 0))[: x.ndim], "reflect"),
    "wrap": lambda x: np.pad(x, ((1, 2), (3, 0), (0, 0))[: x.ndim], "wrap"),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "vstack": lambda x: np.vstack([x, x, x]),
    "tile": lambda x: np.tile(x, (2, 1) if x.ndim == 2 else (2, 1, 1)),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "take": lambda x: np.take(x, [1, 5, 2], axis=0),
    "split": lambda x: np.split(x, 2, axis=1)[1],
    "delete": lambda x: np.delete(x, 3, axis=0),
    "sort": lambda x: np.sort(x, axis=0),
}  # fmt: skip


@pytest.fixture
def chosen(target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYGPU_TARGET", target)
    return target


def seen(array: Array) -> Array:
    return array / np.float32(255) if array.dtype == np.uint8 else array


def on_device(array: Array) -> Image:
    """An image whose texels are on the device alone, as results are."""
    image = Image(array)
    (image + 0).storage.host()  # brings it there
    if image.storage.copies:
        host = image.storage.host()
        image.storage.download, image.storage.array = lambda: host, None
    return image


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("array", [BYTES, FLOATS], ids=["bytes", "floats"])
def test_numbers_are_those_of_texels(name: str, array: Array, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    found, expected = VALUES[name](Image(array)), VALUES[name](seen(array))
    assert not isinstance(found, Image)
    np.testing.assert_allclose(found, expected, 2e-5, 1e-6)


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("array", [BYTES, FLOATS], ids=["bytes", "floats"])
def test_texels_of_texels_are_images(chosen: str, name: str, array: Array) -> None:
    found, expected = IMAGES[name](Image(array)), IMAGES[name](seen(array))
    assert isinstance(found, (Image, pygpu.Signal))
    np.testing.assert_allclose(np.asarray(found), expected, 2e-5, 2e-6)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("array", [BYTES, FLOATS, INTS, COLOURS], ids=["u1", "f4", "i4", "rgb"])
def test_moved_texels_stay_as_they_are(chosen: str, name: str, array: Array) -> None:
    for image in (Image(array), on_device(array)):
        found, expected = MOVES[name](image), MOVES[name](array)
        assert isinstance(found, Image)
        if name == "pad with ones" and array.dtype == np.uint8:
            for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
                expected[edge] = 255  # as functions see it, 1
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_images_are_put_together() -> None:
    red, green = Image(BYTES), Image(255 - BYTES)
    both = np.stack([red, green], axis=-1)
    assert isinstance(both, Image)
    np.testing.assert_array_equal(np.asarray(both), np.stack([BYTES, 255 - BYTES], -1))
    assert isinstance(np.dstack([red, green, red]), Image)
    volume = np.stack([red, green])
    assert isinstance(volume, pygpu.Volume)
    assert volume.shape == (2, 13, 18)
    for shape in ((2, 3, 2), (2, 3, 2, 3)):
        deep = np.dstack([pygpu.Volume(np.ones(shape, np.float32))] * 2)
        assert isinstance(deep, pygpu.Volume)
        assert deep.shape == (2, 3, 4, *shape[3:])
    mixed = np.concatenate([red, FLOATS])  # an array beside an image is an image, too
    np.testing.assert_allclose(np.asarray(mixed), np.concatenate([BYTES / 255, FLOATS]), 1e-6)
    same = np.hstack([red, BYTES])
    assert same.dtype == np.uint8


def test_values_that_are_put_into_bytes_are_texels() -> None:
    seen = BYTES / np.float32(255)
    for put in (
        lambda x: np.insert(x, 2, 0.5, axis=0),
        lambda x: np.insert(x, 1, seen[:, 0], axis=1),
        lambda x: np.append(x, seen[:2], axis=0),
    ):
        np.testing.assert_allclose(np.asarray(put(Image(BYTES))), put(seen), rtol=1e-6)


def test_one_scale() -> None:
    image = Image(BYTES)
    assert np.mean(image) == pytest.approx(BYTES.mean() / 255)
    assert np.median(image) == pytest.approx(np.median(BYTES) / 255)
    assert np.array_equal(image, BYTES)  # the array is an image, too
    assert (
        np.bincount(np.ravel(Image(abs(INTS)))).tolist() == np.bincount(abs(INTS).ravel()).tolist()
    )


def test_what_is_no_image_has_the_texels_of_one() -> None:
    signal, seen = pygpu.Signal(BYTES[0]), BYTES[0] / np.float32(255)
    assert np.take(signal, 2) == signal[2] == seen[2]
    colours = COLOURS / np.float32(255)
    for move in (np.transpose, lambda x: np.pad(x, 1), lambda x: np.stack([x, x], -1)):
        found = move(Image(COLOURS))
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, move(colours))
    volume = pygpu.Volume(COLOURS[..., 0, None].repeat(3, 2))
    np.testing.assert_array_equal(np.stack([volume, volume])[1], volume / np.float32(1))
    raw = pygpu.Signal(BYTES[0], normalize=False)
    assert np.take(raw, 2).dtype == np.uint8
    assert np.take(raw, 2) == BYTES[0][2]


def test_sums_of_whole_numbers_fit_or_are_refused() -> None:
    large = Image(np.full((2, 3), 2**30, np.int32))
    np.testing.assert_array_equal(np.asarray(np.cumsum(Image(INTS), 0)), np.cumsum(INTS, 0))
    with pytest.raises(OverflowError, match="does not fit in 32 bits"):
        np.cumsum(large)


def test_how_images_are_read_is_inherited() -> None:
    image = Image(BYTES, boundary="wrap")
    for found in (np.roll(image, 1, 0), np.where(image > 0.5, image, 0), np.cumsum(image, 0)):
        assert found.boundary == "wrap"


def test_what_an_image_holds_is_saved_and_shown(tmp_path: Any) -> None:
    np.save(tmp_path / "image.npy", Image(BYTES))
    np.testing.assert_array_equal(np.load(tmp_path / "image.npy"), BYTES)
    target = np.zeros_like(BYTES)
    np.copyto(target, Image(BYTES))
    np.testing.assert_array_equal(target, BYTES)
    assert np.shape(Image(COLOURS)) == COLOURS.shape


@pytest.mark.parametrize("function", [np.fft.fft2, np.linalg.svd, np.linalg.det, np.packbits])
def test_others_are_refused(function: Any) -> None:
    with pytest.raises(TypeError, match=r"of a pygpu.Image: PyGPU has no program.*np.asarray"):
        function(Image(FLOATS))
    with pytest.raises(TypeError, match="cannot be written to"):
        np.median(FLOATS, out=Image(FLOATS))


# ---------------------------------------------------------------- what is not changed


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[1].__setitem__(0, 99),
        lambda x: next(iter(x)).__setitem__(0, 99),
        lambda x: x[None].__setitem__(0, 99),
        lambda x: np.asarray(x).__setitem__(0, 99),
        lambda x: np.add.at(x, 0, 1),
        lambda x: np.copyto(x, 1),
        lambda x: np.copyto(dst=x, src=1),
        lambda x: np.put(x, [0], [1]),
        lambda x: np.place(x, np.asarray(x) == x[0, 0], 1),
        lambda x: np.putmask(x, np.asarray(x) == x[0, 0], 1),
    ],
)
def test_images_are_not_written_to(write: Callable[[Any], Any]) -> None:
    """What a device has of them would not know."""
    image = Image(FLOATS)
    with pytest.raises((TypeError, ValueError), match=r"cannot be written to|read-only"):
        write(image)
    assert np.array_equal(image, FLOATS)


def test_medians_leave_images_as_they_are() -> None:
    image = Image(FLOATS)
    assert np.median(image, overwrite_input=True) == np.median(FLOATS)
    assert np.array_equal(image, FLOATS)


IMAGE = Image(FLOATS)


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.any(IMAGE, out=IMAGE),
        lambda: np.add(IMAGE, IMAGE, out=IMAGE),
        lambda: np.add(IMAGE, [1, 2, 3]),
        lambda: np.add.reduce(IMAGE, axis=7),
        lambda: np.sum(IMAGE, axis="x"),
        lambda: np.median(IMAGE, axis=9),
        lambda: np.percentile(IMAGE, 101),
        lambda: np.roll(IMAGE, "x"),
        lambda: np.pad(IMAGE, -1),
        lambda: np.clip(IMAGE, "a", 1),
        lambda: np.stack([IMAGE, 3]),
        lambda: np.reshape(IMAGE, (3, 3)),
        lambda: np.full_like(IMAGE, "x"),
        lambda: np.sqrt(IMAGE, out=np.zeros((2, 2))),
        lambda: np.sqrt(IMAGE, dtype="x"),
        lambda: np.sqrt(IMAGE, casting="zz"),
        lambda: np.linalg.inv(IMAGE),
        lambda: bool(IMAGE),
        lambda: IMAGE[0.5],
        lambda: IMAGE[20:2],
        lambda: IMAGE[::0],
        lambda: IMAGE[99, 0],
        lambda: IMAGE & IMAGE,
        lambda: ~IMAGE,
        lambda: pow(IMAGE, 2, 3),
        lambda: IMAGE.sum(axis=5),
        lambda: IMAGE.std(axis="x"),
        lambda: IMAGE.min(out=3),
        lambda: IMAGE.any(axis=0, out=np.zeros(3, bool)),
    ],
)
def test_wrong_calls_show_no_frame_of_ours(call: Callable[[], Any]) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011  (of NumPy's various kinds)
        call()
    assert not isinstance(caught.value, RecursionError)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert [file for file in files if file.startswith(HOME)] == []


def test_options_of_ufuncs_may_be_images() -> None:
    out = np.zeros(FLOATS.shape, np.float32)
    np.exp(IMAGE, where=IMAGE > 0.5, out=out)
    np.testing.assert_allclose(out, np.where(FLOATS > 0.5, np.exp(FLOATS), 0), rtol=1e-6)


def test_products_of_matrices_are_numpys_of_texels() -> None:
    texels = np.random.default_rng(0).integers(0, 256, (6, 6), np.uint8)
    image, seen = Image(texels), texels / 255.0
    for product in (np.matmul(image, image), image @ image, image @ texels, texels @ image):
        np.testing.assert_allclose(product, seen @ seen, rtol=1e-6)
    with pytest.raises(TypeError):
        image @ "x"


def test_powers_of_ints_by_whole_numbers_are_ints() -> None:
    ints = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    for exponent in (0, 1, 2, 5, np.int64(3)):
        for found in (Image(ints) ** exponent, np.power(Image(ints), exponent)):
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, ints**exponent)
    for power in (2.0, 0.0, np.float32(3)):  # products, which are exact
        assert (Image(ints) ** power).dtype == np.float32
        np.testing.assert_array_equal(Image(ints) ** power, ints**power)
    with pytest.raises(pygpu.CompileError, match="negative"):
        Image(ints) ** -1


def test_powers_of_a_half_are_square_roots(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    squares = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2
    found = np.asarray(Image(squares) ** 0.5)
    np.testing.assert_array_equal(found, np.asarray(np.sqrt(Image(squares))))
    exact = target in ("cpu", "interpreter")  # elsewhere to what is promised of functions
    np.testing.assert_allclose(found, np.sqrt(squares), rtol=0 if exact else 2e-5)
    inverse = np.asarray(Image(squares + 1) ** -0.5)
    np.testing.assert_allclose(inverse, (squares + 1) ** -0.5, rtol=2.4e-7 if exact else 2e-5)
    ends = np.array([[0.0, -0.0, np.inf, -np.inf]], np.float32)
    np.testing.assert_array_equal(Image(ends) ** 0.5, [[0, 0, np.inf, np.inf]])
    np.testing.assert_array_equal(Image(ends) ** -0.5, [[np.inf, np.inf, 0, 0]])


def test_stacks_of_colours_are_volumes_and_images() -> None:
    colours = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    volume = np.stack([Image(colours), Image(colours)])
    assert isinstance(volume, pygpu.Volume)
    np.testing.assert_array_equal(volume, np.stack([colours, colours]))
    np.testing.assert_allclose(volume.sum(axis=0), colours * (2 / 255), rtol=1e-6)
    rows = np.stack([pygpu.Signal(colours[0]), pygpu.Signal(colours[1])])
    assert isinstance(rows, Image)
    np.testing.assert_array_equal(rows, colours[:2])


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int32", "bool"])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_images_are_put_together_on_their_device(
    dtype: str, channels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    require("compute")
    monkeypatch.setenv("PYGPU_TARGET", "compute")
    a = np.random.default_rng(0).integers(0, 2, (5, 7, *channels)).astype(dtype)
    b = a[::-1, ::-1].copy()
    copy = pygpu.compile(lambda im, p: im(p), im=Image, p=pygpu.Position)
    on_device = [copy(Image(each), dtype=each.dtype) for each in (a, b)]
    joins: list[Callable[[Any], Any]] = [
        np.concatenate,
        lambda images: np.concatenate(images, axis=1),
        np.vstack,
        np.hstack,
    ]
    if not channels:
        joins += [lambda images: np.stack(images, -1), np.dstack]
    for join in joins:
        for images, arrays in ((on_device, [a, b]), ([on_device[0], Image(b)] * 3, [a, b] * 3)):
            if len(images) > 4 and join in joins[4:]:
                continue
            found = join(images)
            assert found.storage.array is None, "on the device alone"
            assert found.dtype == a.dtype
            np.testing.assert_array_equal(found, join(arrays))
    with pytest.raises(ValueError, match="dimension"):
        np.concatenate([on_device[0], on_device[1][:, :3]])


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int32", "bool"])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_tiles_and_turned_images_stay_on_their_device(
    dtype: str, channels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    require("compute")
    monkeypatch.setenv("PYGPU_TARGET", "compute")
    array = np.random.default_rng(1).integers(0, 200, (12, 15, *channels)).astype(dtype)
    copy = pygpu.compile(lambda im, p: im(p), im=Image, p=pygpu.Position)
    axes = array.ndim
    for move, stays in (
        (lambda x: np.tile(x, (2, 3, 1)[:axes]), True),
        (lambda x: np.tile(x, 1), True),
        (lambda x: np.tile(x, 2), not channels),
        (lambda x: np.tile(x, (2, *[1] * axes)), False),
        (lambda x: np.swapaxes(x, 1, 0), True),
        (lambda x: np.swapaxes(x, -axes, 1), True),
        (lambda x: np.swapaxes(x, 0, -1), not channels),
        (lambda x: np.concatenate([x, np.zeros(x.shape, x.dtype)]), True),
    ):
        found = move(copy(Image(array), dtype=dtype))
        stayed = isinstance(found, Image) and found.storage.array is None
        assert stayed == stays
        if isinstance(found, Image) or not channels:
            np.testing.assert_array_equal(np.asarray(found), move(array))


def test_signals_and_volumes_are_put_together_on_their_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require("compute")
    monkeypatch.setenv("PYGPU_TARGET", "compute")
    for kind, shape in ((pygpu.Signal, (50,)), (pygpu.Volume, (3, 4, 5))):
        copy = pygpu.compile(lambda im, p: im(p), im=kind, p=pygpu.Position)
        array = np.random.default_rng(0).random(shape, np.float32)
        image = copy(kind(array))
        for axis in range(len(shape)):
            found = np.concatenate([image, image, image], axis)
            assert kind is pygpu.Volume or found.storage.array is None
            np.testing.assert_array_equal(found, np.concatenate([array] * 3, axis))


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (pygpu.Signal, (7,)),
        (pygpu.Image, (3, 5)),
        (pygpu.Image, (8, 5, 3)),
        (pygpu.Volume, (2, 3, 4)),
    ],
)
def test_axes_are_reversed(kind: Any, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(5).random(shape, np.float32)
    turned = kind(array).T
    assert isinstance(turned, kind) == (len(shape) < 3 or kind is pygpu.Volume)
    np.testing.assert_array_equal(np.asarray(turned), array.T)
