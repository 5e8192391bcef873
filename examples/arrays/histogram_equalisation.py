"""Histogram equalisation: the running sum of a histogram is a table, in which each pixel looks
itself up with interpolation.

Source: R. Gonzalez and R. Woods, "Digital Image Processing".
"""

import numpy as np

import pygpu
from pygpu import Image, Position, Signal


@pygpu.compile
def graded(grey: Image, shares: Signal, p: Position):
    """Each value's share of darker pixels, linear between the middles of the bins."""
    return shares(shares.width * grey(p) - 0.5)


def equalised(grey, bins=256):
    counts, _ = pygpu.histogram(grey, bins)
    shares = pygpu.scan(np.add, counts) / counts.sum()
    return graded(grey, Signal(shares, interpolation="linear"))


def expected(grey, bins=256):
    counts, edges = np.histogram(grey, bins, (0, 1))
    shares = np.cumsum(counts) / counts.sum()
    return np.interp(grey, (edges[:-1] + edges[1:]) / 2, shares)


def difference(n=512) -> float:
    """The largest difference from NumPy; the picture is in [0, 1]."""
    photo = np.asarray(pygpu.data.astronaut())[:n, :n]
    grey = photo.mean(-1, dtype=np.float32) / 255
    return float(abs(equalised(grey) - expected(grey)).max())


if __name__ == "__main__":
    print(f"histogram equalisation: {difference():.1e} from NumPy")
