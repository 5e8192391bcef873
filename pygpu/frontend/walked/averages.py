"""Python's module `statistics`, as functions that are walked: of floats, where Python's own count
in fractions.

    statistics.variance(window)         # of a list of texels
"""

import math
import statistics
from typing import Any, Final


def numbers(data: Any, least: Any, name: Any) -> Any:
    """The data as a list, which has as many numbers as are needed."""
    xs = list(data)
    if len(xs) < least:
        raise statistics.StatisticsError(f"{name} requires at least {least} data point(s)")
    return xs


def mean(data: Any) -> Any:
    xs = numbers(data, 1, "mean")
    return sum([x * 1.0 for x in xs]) / len(xs)


def fmean(data: Any, weights: Any = None) -> Any:
    xs = numbers(data, 1, "fmean")
    if weights is None:
        return sum([x * 1.0 for x in xs]) / len(xs)
    return sum([x * 1.0 * w for x, w in zip(xs, weights, strict=True)]) / sum(weights)


def geometric_mean(data: Any) -> Any:
    return math.exp(mean([math.log(x) for x in data]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    xs = numbers(data, 1, "harmonic_mean")
    ws = [1] * len(xs) if weights is None else list(weights)
    return sum(ws) / sum([w / x for x, w in zip(xs, ws, strict=True)])


def median(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median"))
    middle = len(xs) // 2
    return xs[middle] if len(xs) % 2 else (xs[middle - 1] + xs[middle]) / 2


def median_low(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median_low"))
    return xs[(len(xs) - 1) // 2]


def median_high(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median_high"))
    return xs[len(xs) // 2]


def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    xs = sorted(numbers(data, 2, "quantiles"))
    if method == "inclusive":
        places = [divmod(i * (len(xs) - 1), n) for i in range(1, n)]
        return [(xs[at] * (n - part) + xs[at + 1] * part) / n for at, part in places]
    count, made = len(xs) + 1, []
    for i in range(1, n):
        at = min(max(i * count // n, 1), len(xs) - 1)
        part = i * count - at * n
        made.append((xs[at - 1] * (n - part) + xs[at] * part) / n)
    return made


def squares(xs: Any, centre: Any) -> Any:
    """The sum of squares about a centre, the mean where none is given."""
    c = mean(xs) if centre is None else centre
    return sum([(x - c) ** 2 for x in xs])


def variance(data: Any, xbar: Any = None) -> Any:
    xs = numbers(data, 2, "variance")
    return squares(xs, xbar) / (len(xs) - 1)


def pvariance(data: Any, mu: Any = None) -> Any:
    xs = numbers(data, 1, "pvariance")
    return squares(xs, mu) / len(xs)


def stdev(data: Any, xbar: Any = None) -> Any:
    return math.sqrt(variance(data, xbar))


def pstdev(data: Any, mu: Any = None) -> Any:
    return math.sqrt(pvariance(data, mu))


def products(x: Any, y: Any) -> Any:
    """The sum of products of deviations from the means."""
    a, b = mean(x), mean(y)
    return sum([(p - a) * (q - b) for p, q in zip(x, y, strict=True)])


def covariance(x: Any, y: Any, /) -> Any:
    xs, ys = numbers(x, 2, "covariance"), list(y)
    return products(xs, ys) / (len(xs) - 1)


def correlation(x: Any, y: Any, /) -> Any:
    xs, ys = numbers(x, 2, "correlation"), list(y)
    return products(xs, ys) / math.sqrt(squares(xs, None) * squares(ys, None))


def linear_regression(x: Any, y: Any, /, *, proportional: Any = False) -> Any:
    xs, ys = numbers(x, 2, "linear_regression"), list(y)
    if proportional:
        slope = sum([p * q for p, q in zip(xs, ys, strict=True)]) / sum([p * p for p in xs])
        return statistics.LinearRegression(slope=slope, intercept=0.0)
    slope = products(xs, ys) / squares(xs, None)
    return statistics.LinearRegression(slope=slope, intercept=mean(ys) - slope * mean(xs))


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    getattr(statistics, made.__name__): made
    for made in (
        *(mean, fmean, geometric_mean, harmonic_mean, median, median_low, median_high),
        *(quantiles, variance, pvariance, stdev, pstdev, covariance, correlation),
        linear_regression,
    )
}
