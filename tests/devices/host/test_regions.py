"""Connected regions: numbered, and those that hold a seed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import ndimage
from skimage import measure

from pygpu.devices.host.regions import holding, numbered


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (150, 1), (77, 130), (300, 400)])
def test_regions_with_a_seed_are_held(shape: tuple[int, int], share: float, diagonal: bool) -> None:
    random = np.random.default_rng(0)
    mask = random.random(shape) < share
    seeds = random.random(shape) < 0.01  # of which some are beside the mask
    labels, count = ndimage.label(mask, np.ones((3, 3)) if diagonal else None)
    is_held = np.zeros(count + 1, bool)
    is_held[labels[seeds]] = True
    is_held[0] = False
    assert_array_equal(holding(mask, seeds, diagonal), is_held[labels])


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint16", "int32", "float32"])
@pytest.mark.parametrize("width", [64, 65, 66, 128, 129, 193, 500])
def test_regions_of_short_runs_are_numbered(width: int, dtype: str, diagonal: bool) -> None:
    """Runs of rows are joined by their pixels, 64 at once; rows of long ones lie between."""
    random = np.random.default_rng(width)
    for values in (2, 3, 30):
        image = random.integers(0, values, (90, width))
        image[40:60] = np.repeat(image[40:60, : width // 60 + 1], 60, 1)[:, :width]
        image = image.astype(dtype)
        for background in (0, 1, None):
            expected, count = measure.label(
                image.astype(int),
                background=-1 if background is None else background,
                connectivity=2 if diagonal else 1,
                return_num=True,
            )
            labels, found = numbered(image, -7.5 if background is None else background, diagonal)
            assert_array_equal(labels, expected)
            assert found == count


def test_regions_of_floats_are_of_equal_ones() -> None:
    """NaN is equal to nothing, both zeros are one number."""
    random = np.random.default_rng(0)
    image = random.choice(np.array([np.nan, 0.0, -0.0, 1.5], np.float32), (50, 200))
    ranks = np.where(np.isnan(image), 10 + np.arange(image.size).reshape(image.shape), image)
    expected = measure.label(ranks.astype(np.float64) * 2, background=-1)
    assert_array_equal(numbered(image, -1.0, True)[0], expected)
