"""Distributions of SciPy, and the functions that they are made of, as Python functions: they are
walked.

The methods of scipy.stats (`norm.cdf(x, loc, scale)`, `poisson.pmf(k, 3)`) leave all but shift,
scale and support to private ones of a few lines each. So do these, without that bookkeeping for
arrays which only NumPy can do.
"""

import math
from typing import Any, Final

import numpy as np

# ---------------------------------------------------------------- functions of scipy.special


def ndtr(x: Any) -> Any:
    """The normal distribution's function."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def log_ndtr(x: Any) -> Any:
    """Its logarithm; far below zero by the asymptotic series, where the function itself is zero."""
    y = 1 / (x * x)
    far = -0.5 * x * x - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-y + 3 * y * y)
    return far if x < -10 else math.log(ndtr(x))


def ndtri(p: Any) -> Any:
    """Its inverse, by Wichura's algorithm AS 241 (Applied Statistics 37, 1988), PPND7."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * quotient(r, MIDDLE)
    r = math.sqrt(-math.log(p if q < 0 else 1 - p))
    size = quotient(r - 1.6, TAIL) if r <= 5 else quotient(r - 5, FAR)
    return -size if q < 0 else size


def quotient(x: Any, coefficients: Any) -> Any:
    above, below = coefficients
    return polynomial(x, above) / polynomial(x, below)


def polynomial(x: Any, coefficients: Any) -> Any:
    result = 0.0
    for factor in coefficients:
        result = result * x + factor
    return result


MIDDLE: Final = (
    (59.109374720, 159.29113202, 50.434271938, 3.3871327179),
    (67.187563600, 78.757757664, 17.895169469, 1.0),
)
TAIL: Final = (
    (0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777),
    (0.12021132975, 0.73700164250, 1.0),
)
FAR: Final = (
    (0.017337203997, 0.42868294337, 3.0812263860, 6.6579051150),
    (0.012258202635, 0.24197894225, 1.0),
)


def inverse_normal(p: Any, mu: Any, sigma: Any) -> Any:
    """statistics.NormalDist.inv_cdf"""
    return mu + sigma * ndtri(p)


def expit(x: Any) -> Any:
    """The logistic function, without what overflows."""
    e = math.exp(-abs(x))
    return (1.0 if x >= 0 else e) / (1.0 + e)


def logit(p: Any) -> Any:
    return math.log(p / (1 - p))


def expm1(x: Any) -> Any:
    return math.expm1(x)


def log1p(x: Any) -> Any:
    return math.log1p(x)


def xlogy(x: Any, y: Any) -> Any:
    return 0.0 if x == 0 else x * math.log(y)


def xlog1py(x: Any, y: Any) -> Any:
    return 0.0 if x == 0 else x * math.log1p(y)


# ---------------------------------------------------------------- continuous ones


def standard(dist: Any, x: Any, args: Any, keywords: Any) -> Any:
    """The shape, the number by which it is stretched, x before shift and stretch, the support."""
    shape, loc, scale = dist._parse_args(*args, **keywords)
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    low, high = dist._get_support(*shape)
    return shape, scale, (x - loc) / scale, low, high


def valid(dist: Any, shape: Any, scale: Any, result: Any) -> Any:
    """What comes of parameters that a distribution takes: NaN of others."""
    taken = np.logical_and(dist._argcheck(*shape), scale > 0)
    return np.where(taken, result, math.nan)[()]


def pdf(dist: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    shape, scale, y, low, high = standard(dist, x, args, keywords)
    inside = np.where((y >= low) & (y <= high), dist._pdf(y, *shape) / scale, 0.0)
    return valid(dist, shape, scale, inside)


def logpdf(dist: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    shape, scale, y, low, high = standard(dist, x, args, keywords)
    inside = dist._logpdf(y, *shape) - np.log(scale)
    return valid(dist, shape, scale, np.where((y >= low) & (y <= high), inside, -math.inf))


def cdf(dist: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    shape, scale, y, low, high = standard(dist, x, args, keywords)
    inside = np.where(y >= high, 1.0, dist._cdf(y, *shape))
    return valid(dist, shape, scale, np.where(y <= low, 0.0, inside))


def sf(dist: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    shape, scale, y, low, high = standard(dist, x, args, keywords)
    inside = np.where(y >= high, 0.0, dist._sf(y, *shape))
    return valid(dist, shape, scale, np.where(y <= low, 1.0, inside))


def ppf(dist: Any, q: Any, *args: Any, **keywords: Any) -> Any:
    shape, loc, scale = dist._parse_args(*args, **keywords)
    low, high = dist._get_support(*shape)
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    inside = np.where(q == 0, low, np.where(q == 1, high, dist._ppf(q, *shape)))
    there = np.where((q >= 0) & (q <= 1), inside * scale + loc, math.nan)
    return valid(dist, shape, scale, there)


# ---------------------------------------------------------------- discrete ones


def pmf(dist: Any, k: Any, *args: Any, **keywords: Any) -> Any:
    shape, loc, _ = dist._parse_args(*args, **keywords)
    low, high = dist._get_support(*shape)
    at = k - loc
    is_there = (at >= low) & (at <= high) & (np.floor(at) == at)
    return valid(dist, shape, 1, np.where(is_there, dist._pmf(at, *shape), 0.0))


# By name: ufuncs of scipy.special, and methods of distributions.
OF_NUMBERS: Final[dict[str, Any]] = {
    "ndtr": ndtr,
    "log_ndtr": log_ndtr,
    "ndtri": ndtri,
    "expit": expit,
    "logit": logit,
    "expm1": expm1,
    "log1p": log1p,
    "xlogy": xlogy,
    "xlog1py": xlog1py,
}
METHODS: Final[dict[str, Any]] = {
    **{f"rv_continuous.{each.__name__}": each for each in (pdf, logpdf, cdf, sf, ppf)},
    "rv_discrete.pmf": pmf,
}
