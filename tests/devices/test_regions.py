"""Connected regions that hold a seed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import ndimage

from pygpu.devices.host.regions import holding


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
