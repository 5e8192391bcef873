"""Connected components: each pixel starts with a number of its own, takes the least of its
neighbours', and then that of the pixel whose number it has, so that numbers travel in leaps. The
rounds end when nothing changes.

Source: K. Hawick, A. Leist and D. Playne, "Parallel Graph Component Labelling with GPUs and CUDA",
2010.
"""

import numpy as np
import scipy.ndimage

import pygpu
from pygpu import Image, Position

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


@pygpu.compile
def numbered(mask: Image, p: Position):
    return p.y * mask.width + p.x + 1 if mask(p) else 0


@pygpu.compile
def joined(label: Image, before: Image, p: Position):
    """The next labels, and those that were; 0 is the background."""
    own = label(p)
    least = own
    for d in NEIGHBOURS:
        other = label(p + d)
        if own != 0 and other != 0:
            least = min(least, other)
    place = max(least - 1, 0)
    leap = label((place % label.width, place // label.width))
    return (min(least, leap) if own != 0 else 0), own


def settled(label, before):
    return not (label != before).any()


def components(mask):
    """Labels from 1, in the order in which components are met."""
    start = numbered(mask)
    labels, _ = joined.iterate((start, start), start.size, until=settled)
    return np.unique(np.append(0, labels), return_inverse=True)[1][1:].reshape(mask.shape)


def difference(n=256) -> float:
    """How many pixels have another label than SciPy gives."""
    noise = np.random.default_rng(0).normal(size=(n, n + 5))
    mask = scipy.ndimage.gaussian_filter(noise, 2) > 0
    return float((components(mask) != scipy.ndimage.label(mask)[0]).sum())


if __name__ == "__main__":
    print(f"connected components: {difference():.0f} pixels differ from SciPy")
