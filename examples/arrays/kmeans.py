"""K-means: in one pass each point finds the nearest centre and is added to its group; the means of
the groups are the new centres.

Source: S. Lloyd, "Least Squares Quantization in PCM", 1982; in Python for GPUs: Copperhead, 2011.
"""

import numpy as np
from scipy.cluster.vq import kmeans2

import pygpu


def nearest(x, centres):
    return int(np.argmin([pygpu.dot(x - c, x - c) for c in centres]))


def kmeans(points, centres, rounds=10):
    for _ in range(rounds):
        sums, counts = pygpu.reduce(
            np.add, points, map=lambda x: (x, 1), by=nearest, groups=len(centres),
            centres=list(centres),
        )  # fmt: skip
        centres = sums / np.maximum(counts, 1)[:, None]
    return centres


def difference(n=100_000, k=8, rounds=10) -> float:
    """The largest difference of a centre from SciPy's."""
    random = np.random.default_rng(0)
    corners = np.array(np.meshgrid(*3 * [(0, 1)])).reshape(3, -1).T[:k]
    points = (corners[np.arange(n) % k] + random.normal(0, 0.1, (n, 3))).astype(np.float32)
    start = (corners + random.normal(0, 0.1, corners.shape)).astype(np.float32)
    expected, _ = kmeans2(points, start, rounds, minit="matrix")
    return float(abs(kmeans(pygpu.Signal(points), start, rounds) - expected).max())


if __name__ == "__main__":
    print(f"k-means: {difference():.1e} from SciPy")
