"""Linear algebra of small matrices that are not known, as Python functions that are walked.

Matrices of up to three rows go by cofactors; larger ones by elimination, the rows of each column
exchanged until the largest element leads; symmetric ones' eigenvalues by Jacobi's rotations.

    inv(a)      # where a is singular, infinite or NaN: NumPy raises LinAlgError
"""

from typing import Any, Final

import numpy as np

SWEEPS: Final = 6  # of rotations: each about squares what is left, and float32 has 24 bits


def square(a: Any) -> Any:
    """A matrix as an array; LinAlgError as NumPy has it."""
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a


def det(a: Any) -> Any:
    a = square(a)
    if a.ndim > 2:
        return np.array([det(matrix) for matrix in a])
    if len(a) > 3:
        rows, sign = eliminated([list(row) for row in a])
        return sign * np.prod([rows[k][k] for k in range(len(rows))])
    if len(a) == 1:
        return a[0, 0]
    if len(a) == 2:
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return np.sum(a[0] * np.array([cofactor(a, 0, column) for column in range(3)]))


def cofactor(a: Any, row: Any, column: Any) -> Any:
    """Of a matrix of three rows: rows and columns go round, which has the sign in it."""
    i, j, m, n = (row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3
    return a[i, m] * a[j, n] - a[i, n] * a[j, m]


def adjugate(a: Any) -> Any:
    """What a matrix of up to three rows makes its determinant of, times the identity."""
    if len(a) == 1:
        return np.ones((1, 1))
    if len(a) == 2:
        return np.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]])
    return np.array([[cofactor(a, row, column) for row in range(3)] for column in range(3)])


def eliminated(rows: Any) -> Any:
    """Rows with zeros below the diagonal of their first columns, and the sign of the exchanges."""
    n = len(rows)
    sign: Any = 1.0
    for k in range(n):
        for i in range(k + 1, n):
            larger = abs(rows[i][k]) > abs(rows[k][k])
            sign = np.where(larger, -sign, sign)[()]
            both = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [np.where(larger, y, x)[()] for x, y in both]
            rows[i] = [np.where(larger, x, y)[()] for x, y in both]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            # A column of zeros has no pivot: the determinant is zero by the diagonal alone.
            factor = np.where(rows[k][k] == 0, 0.0, factor)[()]
            rows[i] = [y - factor * x for x, y in zip(rows[k], rows[i], strict=True)]
    return rows, sign


def solve(a: Any, b: Any) -> Any:
    a, b = square(a), np.asarray(b)
    if a.ndim > 2:
        return np.array([solve(matrix, part) for matrix, part in zip(a, b, strict=True)])
    if len(a) != len(b):
        raise ValueError(f"solve: a matrix of {len(a)} rows and {len(b)} values do not fit")
    if len(a) <= 3:
        return (adjugate(a) @ b) / det(a)
    columns = b if b.ndim == 2 else b[:, None]
    rows, _ = eliminated([[*row, *more] for row, more in zip(a, columns, strict=True)])
    n = len(rows)
    found: list[Any] = []
    for k in range(n - 1, -1, -1):
        known = found[::-1]
        value = np.array(rows[k][n:])
        for i in range(k + 1, n):
            value = value - rows[k][i] * known[i - k - 1]
        found.append(value / rows[k][k])
    result = np.array(found[::-1])
    return result if b.ndim == 2 else result[:, 0]


def inv(a: Any) -> Any:
    a = square(a)
    if a.ndim > 2:
        return np.array([inv(matrix) for matrix in a])
    return adjugate(a) / det(a) if len(a) <= 3 else solve(a, np.eye(len(a)))


def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues of a symmetric matrix, in order; of which only one triangle is read."""
    a = square(a)
    if a.ndim > 2:
        return np.array([eigvalsh(matrix, UPLO) for matrix in a])
    return np.sort(diagonal_of(symmetric(a, UPLO), None))


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues in order, and eigenvectors in columns; which sign these have is open."""
    a = square(a)
    vectors = [[1.0 if i == j else 0.0 for j in range(len(a))] for i in range(len(a))]
    values = diagonal_of(symmetric(a, UPLO), vectors)
    columns = [[row[k] for row in vectors] for k in range(len(a))]
    pairs = sorted(zip(values, columns, strict=True), key=lambda pair: pair[0])
    ordered = np.array([column for _, column in pairs])
    return np.array([value for value, _ in pairs]), np.transpose(ordered)


def symmetric(a: Any, UPLO: Any) -> Any:
    """Rows of one triangle and its mirror image."""
    n = len(a)
    lower = UPLO in ("L", "l")
    return [
        [a[max(i, j), min(i, j)] if lower else a[min(i, j), max(i, j)] for j in range(n)]
        for i in range(n)
    ]


def diagonal_of(m: Any, vectors: Any) -> Any:
    """The diagonal after Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5), done
    to the columns of `vectors` as well, where there are any."""
    n = len(m)
    for _ in range(1 if n == 2 else SWEEPS):
        for p in range(n - 1):
            for q in range(p + 1, n):
                rotate(m, vectors, p, q)
    return [m[k][k] * 1.0 for k in range(n)]


def angle(off: Any, difference: Any) -> Any:
    """Tangent, cosine and sine of the rotation that makes `off` zero: it stands beside two numbers
    of a diagonal with this difference."""
    done = off == 0
    theta = difference * 0.5 / np.where(done, 1.0, off)[()]
    size = abs(theta)
    # Beyond 1e9 a square would leave float32's range, and 1 is nothing beside it.
    root = np.where(size > 1e9, size, np.sqrt(theta * theta + 1.0))[()]
    t = np.where(theta < 0, -1.0, 1.0)[()] / (size + root)
    t = np.where(done, 0.0, t)[()]
    c = 1.0 / np.sqrt(t * t + 1.0)
    return t, c, t * c


def rotate(m: Any, vectors: Any, p: Any, q: Any) -> Any:
    """Make m[p][q] zero."""
    off = m[p][q]
    t, c, s = angle(off, m[q][q] - m[p][p])
    m[p][p], m[q][q] = m[p][p] - t * off, m[q][q] + t * off
    m[p][q] = m[q][p] = 0.0
    for k in range(len(m)):
        if k not in (p, q):
            first, second = m[k][p], m[k][q]
            m[k][p] = m[p][k] = c * first - s * second
            m[k][q] = m[q][k] = s * first + c * second
    if vectors is not None:
        for row in vectors:
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.linalg.det: det,
    np.linalg.inv: inv,
    np.linalg.solve: solve,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.eigh: eigh,
}
