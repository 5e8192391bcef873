"""np.poly1d of coefficients that are not known, as a Python class: it is walked.

p = Polynomial([a, b, c])       # a x**2 + b x + c
p(0.5), p.deriv()(0.5), (p * p).order
"""

from typing import Any, Final

import numpy as np


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


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.poly1d: Polynomial,
    np.polymul: polymul,
    np.polyadd: polyadd,
    np.polysub: polysub,
    np.polyder: polyder,
    np.polyint: polyint,
}
