"""Conjugate gradients for a sparse system, plain and with a preconditioner (Jacobi's: division by
the diagonal). Vectors are signals and stay on the device; only sums come back.

Source: J. Shewchuk, "An Introduction to the Conjugate Gradient Method Without the Agonizing Pain",
1994, algorithms B2 and B3.
"""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

import pygpu
from pygpu import Position, Signal


@pygpu.compile
def csr(x: Signal, values: Signal, columns: Signal, starts: Signal, row: Position):
    total = 0.0
    for k in range(starts(row), starts(row + 1)):
        total += values(k) * x(columns(k))
    return total


def dot(a, b):
    return pygpu.reduce(np.add, a, b, map=lambda v, w: v * w)


def solved(product, b, precondition=lambda r: r, tolerance=1e-6):
    """The x for which product(x) is b, and how many rounds that took."""
    x, r = 0 * b, b
    d = z = precondition(r)
    rz, enough, rounds = dot(r, z), tolerance**2 * dot(b, b), 0
    while dot(r, r) > enough and rounds < 1000:
        q = product(d)
        step = rz / dot(d, q)
        x, r = x + step * d, r - step * q
        z = precondition(r)
        rz, before = dot(r, z), rz
        d = z + rz / before * d
        rounds += 1
    return x, rounds


def problem(n):
    """The five-point Laplacian on n x n points, in units that differ by a factor of ten."""
    random = np.random.default_rng(0)
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    scale = scipy.sparse.diags(10 ** random.uniform(-0.5, 0.5, n * n))
    matrix = scipy.sparse.csr_array(scale @ scipy.sparse.kronsum(line, line) @ scale, dtype="f4")
    return matrix, random.random(n * n, np.float32)


def difference(n=32) -> tuple[float, int, int]:
    """The largest relative difference of both from SciPy's direct solver, and their rounds."""
    matrix, b = problem(n)
    arrays = [Signal(a) for a in (matrix.data, matrix.indices, matrix.indptr)]
    diagonal = Signal(matrix.diagonal())
    expected = spsolve(matrix.astype(float).tocsc(), b)

    def product(x):
        return csr(x, *arrays)

    plain, many = solved(product, Signal(b))
    jacobi, few = solved(product, Signal(b), lambda r: r / diagonal)
    worst = np.max([abs(np.asarray(x) - expected) for x in (plain, jacobi)])
    return float(worst / abs(expected).max()), many, few


if __name__ == "__main__":
    error, many, few = difference()
    print(f"conjugate gradients: {error:.1e} from SciPy; {many} rounds, preconditioned {few}")
