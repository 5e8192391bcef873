"""The functions of images: a slide made of nothing, its denoising, its cells and their number."""

import dask.array as da
import numpy as np

import pygpu
from pygpu import Image, Position

CELL = 64  # pixels from a place of a cell to the next
BITS = 256  # steps of the histogram from which the threshold is taken


@pygpu.compile
def slide(unlit: Image, p: Position):
    """Bright disks, at most one in each square of 64 pixels and never beyond it, and noise."""
    square = p // CELL
    dx, dy, size, _ = pygpu.random.uniform(square, 1, 4)
    centre = CELL * square + CELL / 2 + 24 * pygpu.Vec2(dx - 0.5, dy - 0.5)
    inside = pygpu.length(p - centre) < 8 + 10 * size
    return 0.25 + (0.35 if inside and taken(square) else 0) + 0.06 * pygpu.random.normal(p, 2)


def taken(square: Position):
    """Whether there is a disk in a square."""
    return pygpu.random.uniform(square, 3) < 0.75


def cells_in(height: int, width: int) -> int:
    """How many disks a slide has: the answer that counting should find."""
    return int(pygpu.compile(taken)(shape=(height // CELL, width // CELL)).sum())


@pygpu.compile
def denoise(im: Image, p: Position):
    """A Gaussian of 5 x 5 of the medians of 3 x 3: single pixels go first, then the rest."""
    weights = (1, 4, 6, 4, 1)
    return (
        sum(
            weights[i] * weights[j] * median(im, p + (j - 2, i - 2))
            for i in range(5)
            for j in range(5)
        )
        / 256
    )


def median(im: Image, p: Position):
    return np.median([im(p + (dx, dy)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)])


@pygpu.compile
def above(im: Image, p: Position, threshold: float):
    return im(p) > threshold


@pygpu.compile
def corners(mask: Image, p: Position):
    """Four times what the 2 x 2 pixels at `p` add to the number of components less holes, with
    neighbours along edges and corners: S. B. Gray, Local Properties of Binary Images in Two
    Dimensions, IEEE Transactions on Computers C-20, 1971."""
    a, b = mask(p + (-1, -1)) > 0, mask(p + (0, -1)) > 0
    c, d = mask(p + (-1, 0)) > 0, mask(p) > 0
    count = int(a) + int(b) + int(c) + int(d)
    diagonal = count == 2 and a == d
    return (1 if count == 1 else 0) - (1 if count == 3 else 0) - (2 if diagonal else 0)


def between(counts) -> float:
    """The threshold of N. Otsu (1979): the one of largest variance between the two sides."""
    at = (np.arange(BITS) + 0.5) / BITS
    below, sums = np.cumsum(counts, dtype=float), np.cumsum(counts * at)
    above = below[-1] - below
    sides = (below > 0) & (above > 0)
    variance = np.zeros(BITS)
    apart = sums[sides] / below[sides] - (sums[-1] - sums[sides]) / above[sides]
    variance[sides] = below[sides] * above[sides] * apart**2
    return float(np.flatnonzero(variance == variance.max()).mean() + 1) / BITS


def histogram(image: da.Array) -> da.Array:
    """How many pixels are in each of BITS steps from 0 to 1."""
    return pygpu.reduce(
        np.add,
        image,
        map=lambda v: 1,
        by=lambda v: np.clip(int(v * BITS), 0, BITS - 1),
        groups=BITS,
    )
