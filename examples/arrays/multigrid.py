"""Poisson's equation by multigrid: a few rounds of Jacobi's method smooth the error, the rest is
solved on a grid of half the size and added. Zero outside is the boundary `constant`, and linear
interpolation brings corrections to the finer grid.

Source: W. Briggs, V. Henson and S. McCormick, "A Multigrid Tutorial", 2000.
"""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

import pygpu
from pygpu import Image, Position, offsets

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
WEIGHTS = np.outer([1, 2, 1], [1, 2, 1]) / 4


@pygpu.compile
def smoothed(u: Image, f: Image, p: Position):
    """A round of Jacobi's method for 4 u - (the sum of the neighbours) = f, damped by 4/5."""
    return u(p) / 5 + (f(p) + sum(u(p + d) for d in NEIGHBOURS)) / 5


@pygpu.compile
def residual(u: Image, f: Image, p: Position):
    return f(p) - 4 * u(p) + sum(u(p + d) for d in NEIGHBOURS)


@pygpu.compile
def coarser(r: Image, p: Position):
    """The mean around every second point, times 4: the square of the wider spacing."""
    centre = 2 * p + (1, 1)
    return sum(w * r(centre + d) for w, d in zip(np.ravel(WEIGHTS), offsets(WEIGHTS)))


@pygpu.compile
def corrected(u: Image, error: Image, p: Position):
    return u(p) + error.sampled(interpolation="linear")(((p.x - 1) / 2, (p.y - 1) / 2))


def cycle(u, f):
    """A V-cycle, on a grid of 2**k - 1 points square."""
    u = smoothed.iterate(u, 3, f)
    if f.width > 1:
        half = f.width // 2
        r = coarser(residual(u, f), shape=(half, half))
        u = corrected(u, cycle(0 * r, r))
    return smoothed.iterate(u, 3, f)


def solved(f, cycles=10):
    f = Image(f, boundary="constant")
    u = 0 * f
    for _ in range(cycles):
        u = cycle(u, f)
    return u.numpy()


def difference(n=127) -> float:
    """The largest relative difference from SciPy's direct solver."""
    f = np.random.default_rng(0).random((n, n)).astype(np.float32)
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    right = spsolve(scipy.sparse.kronsum(line, line, "csc"), f.ravel()).reshape(n, n)
    return float(abs(solved(f) - right).max() / right.max())


if __name__ == "__main__":
    print(f"multigrid: {difference():.1e} from SciPy")
