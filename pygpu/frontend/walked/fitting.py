"""Decompositions, least squares and covariances of small matrices that are not known, and np.poly1d
of such coefficients, as Python functions that are walked. What is known in them, the places of
samples say, Python computes.

    polyfit([0, 1, 2, 3], values, 1)    # the decomposition is known: sums of products are left
    Polynomial([a, b, c])(0.5)          # of a x**2 + b x + c
"""

import math
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later

with later():
    from pygpu.frontend.walked import linear

NEGLIGIBLE: Final = 1e-6  # of the largest singular value: float32 has 24 bits


def reflected(a: Any) -> Any:
    """Rows of Q and R by Householder's reflections, with the signs that LAPACK gives them."""
    m, n = a.shape
    r = [[a[i, j] * 1.0 for j in range(n)] for i in range(m)]
    q = [[1.0 if i == j else 0.0 for j in range(m)] for i in range(m)]
    for k in range(min(m - 1, n)):
        first, below = r[k][k], [r[i][k] for i in range(k + 1, m)]
        rest = sum([x * x for x in below])
        is_done = rest == 0
        norm = np.sqrt(first * first + rest)
        lead = np.where(is_done, first, np.where(first < 0, norm, -norm))[()]
        tau = np.where(is_done, 0.0, (lead - first) / np.where(is_done, 1.0, lead))[()]
        v = [x / np.where(is_done, 1.0, first - lead)[()] for x in below]
        for j in range(k, n):
            shift = tau * (r[k][j] + sum([x * r[k + 1 + i][j] for i, x in enumerate(v)]))
            r[k][j] = r[k][j] - shift
            for i, x in enumerate(v):
                r[k + 1 + i][j] = r[k + 1 + i][j] - shift * x
        for row in q:
            shift = tau * (row[k] + sum([x * row[k + 1 + i] for i, x in enumerate(v)]))
            row[k] = row[k] - shift
            for i, x in enumerate(v):
                row[k + 1 + i] = row[k + 1 + i] - shift * x
    for j in range(n):
        for i in range(j + 1, m):
            r[i][j] = 0.0
    return q, r


def qr(a: Any, mode: Any = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(
            f"qr of dynamic values takes mode 'reduced', 'complete' or 'r', not {mode!r}"
        )
    a = np.asarray(a)
    q, r = reflected(a)
    k = a.shape[0] if mode == "complete" else min(a.shape)
    if mode == "r":
        return np.array(r[:k])
    return np.array([row[:k] for row in q]), np.array(r[:k])


def back_substituted(r: Any, b: Any) -> Any:
    """x of R x = b, rows of an upper triangle and of right sides."""
    found: list[Any] = []
    for k in range(len(r) - 1, -1, -1):
        value = b[k]
        for i, x in enumerate(found):
            value = value - r[k][len(r) - 1 - i] * x
        found.append(value / r[k][k])
    return np.array(found[::-1])


def least_squares(a: Any, b: Any) -> Any:
    """x that makes |A x - b| least; of several the smallest. Of no full rank: infinite or NaN."""
    m, n = a.shape
    if m < n:
        return np.transpose(a) @ np.linalg.solve(a @ np.transpose(a), b)
    q, r = reflected(a)
    turned = np.transpose(np.array([row[:n] for row in q])) @ b
    return back_substituted(r[:n], turned)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """np.linalg.lstsq: of several solutions the smallest. Residuals are given where there are more
    rows than columns, whatever the rank is."""
    a, b = np.asarray(a), np.asarray(b)
    m, n = a.shape
    u, s, v = np.linalg.svd(a, full_matrices=False)
    own = rcond is None or rcond < 0
    rank = np.linalg.matrix_rank(a) if own else np.sum(s > rcond * s[0])
    counts = np.arange(min(m, n)) < rank
    inverse = np.where(counts, 1.0 / np.where(counts, s, 1.0), 0.0)
    turned = np.transpose(u) @ b
    x = np.transpose(v) @ (turned * (inverse if b.ndim == 1 else inverse[:, None]))
    left = a @ x - b
    residuals = np.sum(left * left, axis=0) if m > n else np.zeros(0)
    residuals = np.reshape(residuals, (-1,)) if m > n and b.ndim == 1 else residuals
    return x, residuals, rank, s


def matrix_rank(a: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Any:
    """How many singular values are no rounding of zero."""
    if np.ndim(tol) > 0 or np.ndim(rtol) > 0:
        raise ValueError("matrix_rank of dynamic values takes one number for tol")
    s = np.linalg.svd(np.asarray(a), compute_uv=False)
    least = s[0] * (NEGLIGIBLE if rtol is None else rtol) if tol is None else tol
    return np.sum(s > least)


def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    if full or cov:
        raise ValueError("polyfit of dynamic values gives the coefficients alone: no full, no cov")
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    a = np.array([[value ** (deg - k) for k in range(deg + 1)] for value in x])
    if w is not None:
        w = np.asarray(w) + 0.0
        a = a * w[:, None]
        y = y * (w if y.ndim == 1 else w[:, None])
    scale = np.sqrt(np.sum(a * a, axis=0))
    solved = least_squares(a / scale, y)
    return np.transpose(np.transpose(solved) / scale)


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Which signs columns of U and rows of V have is open."""
    a = np.asarray(a)
    m, n = a.shape
    if compute_uv and full_matrices and m != n:
        raise ValueError("svd of dynamic values that are no square takes full_matrices=False")
    if not compute_uv:
        return rotated(a if m >= n else np.transpose(a), False)
    u, s, v = rotated(a if m >= n else np.transpose(a))
    q, _ = reflected(u)  # its columns are those of U, and after them such as are square to them
    rest = np.array([row[: len(s)] for row in q])
    u = np.where(s == 0, rest, u)
    return (u, s, v) if m >= n else (np.transpose(v), s, np.transpose(u))


def rotated(a: Any, compute_uv: Any = True) -> Any:
    """The decomposition of a matrix that has no more columns than rows, by Jacobi's rotations of
    the columns (Hestenes). Where a singular value is zero, so is its column of U."""
    m, n = a.shape
    columns = [[a[i, j] * 1.0 for i in range(m)] for j in range(n)]
    turns = [[1.0 if i == j else 0.0 for i in range(n)] for j in range(n)]
    for _ in range(0 if n < 2 else 1 if n == 2 else linear.SWEEPS):
        for p in range(n - 1):
            for q in range(p + 1, n):
                turn(columns, turns, p, q)
    sizes = [np.sqrt(sum([x * x for x in column])) for column in columns]
    if not compute_uv:
        return np.sort(np.array(sizes))[::-1]
    triples = sorted(zip(sizes, columns, turns, strict=True), key=lambda each: -each[0])
    u = [[x / np.where(size == 0, 1.0, size)[()] for x in column] for size, column, _ in triples]
    s = np.array([size for size, _, _ in triples])
    return np.transpose(np.array(u)), s, np.array([turned for _, _, turned in triples])


def turn(columns: Any, turns: Any, p: Any, q: Any) -> Any:
    """Make two columns stand square to each other."""
    first, second = columns[p], columns[q]
    inner = sum([x * y for x, y in zip(first, second, strict=True)])
    sizes = [sum([x * x for x in column]) for column in (first, second)]
    _, c, s = linear.angle(inner, sizes[1] - sizes[0])
    for pair in (columns, turns):
        one, other = pair[p], pair[q]
        pair[p] = [c * x - s * y for x, y in zip(one, other, strict=True)]
        pair[q] = [s * x + c * y for x, y in zip(one, other, strict=True)]


def pinv(a: Any, rcond: Any = None, hermitian: Any = False) -> Any:
    a = np.asarray(a)
    m, n = a.shape
    u, s, v = rotated(a if m >= n else np.transpose(a))
    if m < n:
        u, v = np.transpose(v), np.transpose(u)
    limit = s[0] * (NEGLIGIBLE if rcond is None else rcond)
    inverted = np.where(s > limit, 1.0 / np.where(s > limit, s, 1.0), 0.0)
    return (np.transpose(v) * inverted) @ np.transpose(u)


def cholesky(a: Any) -> Any:
    a = linear.square(a)
    n = len(a)
    rows = [[0.0 for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            left = a[i, j] - sum([x * y for x, y in zip(rows[i][:j], rows[j][:j], strict=True)])
            rows[i][j] = np.sqrt(left) if i == j else left / rows[j][j]
    return np.array(rows)


def slogdet(a: Any) -> Any:
    found = linear.det(a)
    return np.sign(found), np.log(np.abs(found))


def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, **more: Any
) -> Any:
    if more:
        raise ValueError("cov of dynamic values takes no weights")
    parts = [m] if y is None else [m, y]
    rows = [row for part in parts for row in variables(part, rowvar)]
    count = len(rows[0])
    centred = [row - np.sum(row) / count for row in rows]
    over = count - (ddof if ddof is not None else 0 if bias else 1)
    found = [[np.sum(one * other) / over for other in centred] for one in centred]
    return found[0][0] if len(found) == 1 else np.array(found)


def variables(part: Any, rowvar: Any) -> Any:
    """The rows of what is observed."""
    part = np.asarray(part)
    if part.ndim == 1:
        return [part]
    return list(part if rowvar or len(part) == 1 else np.transpose(part))


def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    found = cov(x, y, rowvar)
    if np.ndim(found) == 0:
        return found / found
    n = len(found)
    roots = [np.sqrt(found[k, k]) for k in range(n)]
    whole = [[found[i, j] / (roots[i] * roots[j]) for j in range(n)] for i in range(n)]
    return np.clip(np.array(whole), -1.0, 1.0)


def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """Sorted, which is one of the orders that a partition may have."""
    return np.sort(a, axis=axis)


def argpartition(a: Any, kth: Any, axis: Any = -1) -> Any:
    return np.argsort(a, axis=axis)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **more: Any) -> Any:
    return function(*np.indices(shape, dtype=dtype), **more)


def in_rows(*parts: Any) -> Any:
    """np.r_[parts]"""
    return np.concatenate([np.atleast_1d(part) for part in parts])


def in_columns(*parts: Any) -> Any:
    """np.c_[parts]"""
    columns = [part if np.ndim(part) > 1 else np.reshape(part, (-1, 1)) for part in parts]
    return np.concatenate(columns, axis=-1)


def for_each(function: Any, *args: Any) -> Any:
    """What np.vectorize makes of a function."""
    if max([np.ndim(arg) for arg in args]) == 0:
        return np.array(function(*args))
    arrays = np.broadcast_arrays(*args)
    rows = zip(*[np.ravel(array) for array in arrays], strict=True)
    return np.reshape(np.array([function(*row) for row in rows]), arrays[0].shape)


# ---------------------------------------------------------------- polynomials


class Polynomial:
    """np.poly1d: coefficients from the highest power down. Python's drops leading zeros, which only
    the device knows here: `order` is that of the coefficients that were given."""

    def __init__(self, c_or_r: Any, r: Any = False, variable: Any = None) -> None:
        if isinstance(c_or_r, Polynomial):
            c_or_r = c_or_r.coeffs
        self.coeffs: Any = np.atleast_1d(np.poly(c_or_r) if r else np.array(c_or_r))

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def o(self) -> Any:
        return len(self.coeffs) - 1

    def __len__(self) -> Any:
        return len(self.coeffs) - 1

    def __iter__(self) -> Any:
        return iter(self.coeffs)

    def __getitem__(self, power: Any) -> Any:
        return self.coeffs[self.order - power] if 0 <= power <= self.order else 0.0

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Polynomial):
            made = Polynomial([0.0])
            for factor in self.coeffs:
                made = made * x + factor
            return made
        return np.polyval(self.coeffs, x)

    def __neg__(self) -> Any:
        return Polynomial(-self.coeffs)

    def __add__(self, other: Any) -> Any:
        return Polynomial(summed(self.coeffs, of(other)))

    def __radd__(self, other: Any) -> Any:
        return Polynomial(summed(of(other), self.coeffs))

    def __sub__(self, other: Any) -> Any:
        return Polynomial(summed(self.coeffs, -of(other)))

    def __rsub__(self, other: Any) -> Any:
        return Polynomial(summed(of(other), -self.coeffs))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Polynomial) and np.ndim(other) == 0:
            return Polynomial(self.coeffs * other)
        return Polynomial(np.convolve(self.coeffs, of(other)))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return Polynomial(self.coeffs / other)

    def __pow__(self, times: Any) -> Any:
        made = Polynomial([1.0])
        for _ in range(times):
            made = made * self
        return made

    def deriv(self, m: Any = 1) -> Any:
        coeffs = self.coeffs
        for _ in range(m):
            coeffs = derived(coeffs)
        return Polynomial(coeffs)

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        coeffs = self.coeffs
        for _ in range(m):
            powers = np.arange(len(coeffs), 0, -1)
            coeffs = np.concatenate([coeffs / powers, [k]])
        return Polynomial(coeffs)


def of(other: Any) -> Any:
    """The coefficients of a polynomial, or of a number or sequence that stands for one."""
    return other.coeffs if isinstance(other, Polynomial) else np.atleast_1d(np.array(other))


def summed(a: Any, b: Any) -> Any:
    """The sum of two rows of coefficients, which end alike."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    missing = len(long) - len(short)
    return np.concatenate([long[:missing], long[missing:] + short]) if missing else a + b


def derived(coeffs: Any) -> Any:
    if len(coeffs) == 1:
        return coeffs * 0.0
    return coeffs[:-1] * np.arange(len(coeffs) - 1, 0, -1)


def polymul(a: Any, b: Any) -> Any:
    return np.convolve(of(a), of(b))


def polyadd(a: Any, b: Any) -> Any:
    return summed(of(a), of(b))


def polysub(a: Any, b: Any) -> Any:
    return summed(of(a), -of(b))


def polyder(p: Any, m: Any = 1) -> Any:
    return Polynomial(p).deriv(m).coeffs


def polyint(p: Any, m: Any = 1, k: Any = 0) -> Any:
    return Polynomial(p).integ(m, k).coeffs


class Broadcast:
    """np.broadcast(): of which shape several arrays are together, and their rows of elements."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays
        self.shape = np.broadcast_shapes(*[np.shape(each) for each in arrays])
        self.size = math.prod(self.shape)
        self.ndim = self.nd = len(self.shape)

    def __iter__(self) -> Any:
        return zip(*[np.ravel(np.broadcast_to(x, self.shape)) for x in self.arrays], strict=True)


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.broadcast: Broadcast,
    np.linalg.qr: qr,
    np.linalg.lstsq: lstsq,
    np.linalg.svd: svd,
    np.linalg.matrix_rank: matrix_rank,
    np.linalg.pinv: pinv,
    np.linalg.cholesky: cholesky,
    np.linalg.slogdet: slogdet,
    np.polyfit: polyfit,
    np.cov: cov,
    np.corrcoef: corrcoef,
    np.partition: partition,
    np.argpartition: argpartition,
    np.fromfunction: fromfunction,
    np.poly1d: Polynomial,
    np.polymul: polymul,
    np.polyadd: polyadd,
    np.polysub: polysub,
    np.polyder: polyder,
    np.polyint: polyint,
}
