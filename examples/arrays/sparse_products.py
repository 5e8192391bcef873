"""A sparse matrix times a vector, for two ways to store the matrix. CSR has the elements row after
row and where each row starts; a row's loop is as long as the row. ELL pads all rows to one length.

Source: N. Bell and M. Garland, "Implementing Sparse Matrix-Vector Multiplication on
Throughput-Oriented Processors", 2009.
"""

import numpy as np
import scipy.sparse

import pygpu
from pygpu import Image, Position, Signal


@pygpu.compile
def csr(values: Signal, columns: Signal, starts: Signal, x: Signal, row: Position):
    total = 0.0
    for k in range(starts(row), starts(row + 1)):
        total += values(k) * x(columns(k))
    return total


@pygpu.compile
def ell(values: Image, columns: Image, x: Signal, row: Position):
    total = 0.0
    for k in range(values.height):
        total += values((row, k)) * x(columns((row, k)))
    return total


def padded(matrix):
    """A CSR matrix's elements and columns in ELL's order: the k-th ones of all rows are a row."""
    lengths = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(matrix.nnz) - matrix.indptr[rows], rows
    values = np.zeros((lengths.max(), len(lengths)), np.float32)
    columns = np.zeros(values.shape, np.int32)
    values[places], columns[places] = matrix.data, matrix.indices
    return values, columns


def difference(n=20_000, density=0.001) -> float:
    """The largest difference of both from SciPy."""
    random = np.random.default_rng(0)
    matrix = scipy.sparse.random(n, n, density, "csr", np.float32, random)
    x = random.random(n, np.float32)
    expected = matrix @ x
    by_rows = csr(matrix.data, matrix.indices, matrix.indptr, x, shape=(n,))
    by_places = ell(*padded(matrix), x, shape=(n,))
    return float(np.max([abs(by_rows - expected), abs(by_places - expected)]))


if __name__ == "__main__":
    print(f"CSR and ELL: {difference():.1e} from SciPy")
