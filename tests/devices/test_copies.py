"""Arrays whose texels do not follow each other are copied by all cores, as NumPy copies them."""

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
