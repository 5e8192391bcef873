"""Distances to the nearest zero, in rows of any length."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import ndimage

from pygpu.devices.host.distances import nearest_zero

SHAPES = [
    (1, 1),
    (1, 2),
    (5, 1),
    (3, 7),
    (2, 8),
    (3, 17),
    (64, 64),
    (77, 130),
    (1, 1000),
    (300, 401),
]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "float32"])
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_are_scipys(shape: tuple[int, int], dtype: str) -> None:
    random = np.random.default_rng(0)
    for share in (0.0, 0.1, 0.5, 0.98, 0.9999):
        image = np.where(random.random(shape) < share, 3, 0).astype(dtype)
        image.flat[random.integers(image.size)] = 0
        for down, across in ((1.0, 1.0), (1.0, 3.0), (2.5, 0.7)):
            expected = ndimage.distance_transform_edt(image, (down, across))
            assert_allclose(nearest_zero(image, down, across), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_zero_all_are_infinite(shape: tuple[int, int]) -> None:
    assert np.isinf(nearest_zero(np.ones(shape, bool), 1.0, 1.0)).all()


def test_nan_is_no_zero_and_minus_zero_is_one() -> None:
    image = np.array([[np.nan, 1, -0.0, np.nan, np.inf]], np.float32)
    assert nearest_zero(image, 1.0, 1.0).tolist() == [[2, 1, 0, 1, 2]]


def test_long_distances_are_exact() -> None:
    image = np.ones((2, 4000), bool)
    image[0, 0] = False
    expected = ndimage.distance_transform_edt(image)
    assert (nearest_zero(image, 1.0, 1.0) == np.float32(expected)).all()
