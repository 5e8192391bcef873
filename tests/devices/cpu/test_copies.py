"""Arrays whose texels do not follow each other are copied by all cores, as NumPy copies them, and
doubles are narrowed by them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.devices import targets
from pygpu.devices.cpu import moves
from pygpu.execution.arguments.convert import contiguous

Array = np.ndarray[Any, Any]
VIEWS: dict[str, Callable[[Array], Array]] = {
    "rows from the end": lambda a: a[::-1],
    "columns from the end": lambda a: a[:, ::-1],
    "turned": lambda a: a.swapaxes(0, 1),
    "turned by 90 degrees": np.rot90,
    "each third of each second": lambda a: a[::2, 1::3],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
    "one column": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "channels from the end": lambda a: a[..., ::-1],
    "one channel": lambda a: a[..., 0],
    "without the first channel": lambda a: a[..., 1:],
    "planes": lambda a: np.moveaxis(np.moveaxis(a, -1, 0).copy(), 0, -1),
    "Fortran's order": np.asfortranarray,
    "unaligned": lambda a: np.ndarray(a.shape, a.dtype, b"x" + a.tobytes(), 1),
}


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "bool"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(400, 301), (1, 70_001), (70_001, 1), (9, 20_003), (20_003, 9)])
def test_copies_are_what_was_copied(shape: tuple[int, int], channels: int, dtype: str) -> None:
    array = (np.random.default_rng(1).random((*shape, channels)) * 200).astype(dtype)
    cores = moves.cores()
    for name, view in VIEWS.items():
        if "without" in name and channels == 1:
            continue
        given = view(array)
        texels = given if given.ndim == 3 else given[:, :, None]
        made = moves.contiguous(texels, cores)
        assert made.flags.c_contiguous, name
        assert made.dtype == texels.dtype
        np.testing.assert_array_equal(made, texels, name)
        np.testing.assert_array_equal(contiguous(given), given, name)


def test_pictures_of_other_libraries_are_taken_as_they_lie(target: str) -> None:
    """OpenCV's channels, torch's planes, colours without their alpha."""
    picture = np.random.default_rng(2).integers(0, 256, (300, 299, 4), np.uint8)
    lighter = pygpu.compile(lambda im, p: im(p) * 0.5, im=Image, p=Position, target=target)
    for view in (
        picture[..., 2::-1],
        picture[..., :3],
        np.moveaxis(np.moveaxis(picture, -1, 0).copy(), 0, -1),
        picture.swapaxes(0, 1),
    ):
        for _ in range(2):
            np.testing.assert_allclose(lighter(view), view / np.float32(510), atol=1e-6)


def test_hosts_say_how(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    device = targets.host()
    monkeypatch.setattr(
        type(device), "contiguous", lambda _, texels: asked.append(texels) or texels.copy()
    )
    Image(np.zeros((600, 500), np.float32).T)
    Image(np.zeros((4, 3), np.float32).T)
    assert [texels.shape for texels in asked] == [(500, 600, 1)]


def _doubles(count: int) -> Array:
    """Any bits, sizes down to what is 0 as a float, ties, and the ends of what floats hold."""
    random = np.random.default_rng(3)
    bits = random.integers(0, 1 << 64, count, np.uint64).view(np.float64)
    values = np.where(np.abs(bits) > 3e38, random.normal(size=count), bits)
    part = count // 3
    values[:part] = random.normal(size=part) * 2.0 ** random.integers(-152, 120, part)
    near = random.normal(size=part).astype(np.float32)
    values[part : 2 * part] = (near + np.nextafter(near, np.float32(9)).astype(np.float64)) / 2
    largest = float(np.finfo(np.float32).max)
    # The last double that is rounded to the largest float lies below the middle to the next one.
    last = np.nextafter(largest + 2.0**103, 0)
    specials = [np.inf, -np.inf, -0.0, largest, -last, last, 2.0**-149, 2.0**-150, 5e-324]
    for k, special in enumerate([np.nan, *specials]):
        values[k::97] = special
    return values


@pytest.mark.parametrize("count", [1, moves.PICKED, moves.PICKED + 1, 70_001, 1_000_003])
def test_doubles_are_narrowed_as_numpy_narrows_them(count: int) -> None:
    values = _doubles(count)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        expected, made = values.astype(np.float32), targets.host().narrowed(values)
    np.testing.assert_array_equal(made.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("count", [9, moves.PICKED, 300_001])
def test_doubles_that_floats_do_not_hold_are_found_anywhere(count: int) -> None:
    for place in (0, count // 3, count - 1):
        for large in (float(np.finfo(np.float32).max) + 2.0**103, -1.7e308):
            values = np.full(count, np.inf)
            values[place] = large
            with pytest.raises(OverflowError):
                targets.host().narrowed(values)


def test_images_of_doubles_are_narrowed_wherever_they_lie(target: str) -> None:
    picture = np.random.default_rng(4).normal(size=(600, 900, 3))
    twice = pygpu.compile(lambda im, p: im(p) * 2.0, im=Image, p=Position, target=target)
    views = [picture, picture[..., ::-1], picture[20:, 30:800], picture.astype(">f8")]
    for view in views:
        for _ in range(2):
            np.testing.assert_array_equal(twice(view), view.astype(np.float32) * 2)
    picture[300, 400, 1] = 1e39
    with pytest.raises(OverflowError, match="im: a value does not fit in float32"):
        twice(picture)


def test_hosts_narrow_many_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def narrowed(_: object, doubles: Array) -> Array:
        asked.append(doubles.shape)
        return doubles.astype(np.float32)

    monkeypatch.setattr(type(targets.host()), "narrowed", narrowed)
    Image(np.zeros((600, 500)))
    Image(np.zeros((600, 500)).T)
    Image(np.zeros((4, 3)))
    assert asked == [(600, 500), (500, 600)]
