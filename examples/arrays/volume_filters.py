"""The median of 27 voxels and the Laplacian of a volume, as of a scan: filters of images with one
more axis.

Source: `scipy.ndimage.median_filter` and `laplace`.
"""

import numpy as np
import scipy.ndimage

import pygpu
from pygpu import Position, Volume, offsets

CUBE = offsets(np.ones((3, 3, 3)))
FACES = [d for d in CUBE if sum(abs(c) for c in d) == 1]


@pygpu.compile
def median(v: Volume, p: Position):
    return sorted(v(p + d) for d in CUBE)[13]


@pygpu.compile
def laplacian(v: Volume, p: Position):
    return sum(v(p + d) for d in FACES) - 6 * v(p)


def difference(n=64) -> float:
    """The largest difference of both from SciPy, of a volume in [0, 1]."""
    array = np.random.default_rng(0).random((n, n + 3, n + 5), np.float32)
    volume = Volume(array, boundary="reflect")
    medians = abs(median(volume).numpy() - scipy.ndimage.median_filter(array, 3))
    edges = abs(laplacian(volume).numpy() - scipy.ndimage.laplace(array))
    return float(np.max([medians, edges]))


if __name__ == "__main__":
    print(f"median and Laplacian of a volume: {difference():.1e} from SciPy")
