"""Intervals of floats: what results lie between where it is known what operands lie between.

A rule takes the intervals of an operation's float operands, all of them finite, and gives that of
its result. An operation's `bounds` hold whatever its operands are.

    total([(0.0, 1.0), (2.0, 3.0)]) == (2.0, 4.0)
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

Range = tuple[float, float]
RangeRule = Callable[[Sequence[Range]], Range]

ANY: Final[Range] = (-math.inf, math.inf)
POSITIVE: Final[Range] = (0.0, math.inf)  # zeros of both signs are in it


def union(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def total(ranges: Sequence[Range]) -> Range:
    """Of a sum of two."""
    (a, b), (c, d) = ranges
    return a + c, b + d


def difference(ranges: Sequence[Range]) -> Range:
    (a, b), (c, d) = ranges
    return a - d, b - c


def product(ranges: Sequence[Range]) -> Range:
    (a, b), (c, d) = ranges
    products = (a * c, a * d, b * c, b * d)
    return min(products), max(products)


def fused(ranges: Sequence[Range]) -> Range:
    """Of a * b + c."""
    return total([product(ranges[:2]), ranges[2]])


def negative(ranges: Sequence[Range]) -> Range:
    ((low, high),) = ranges
    return -high, -low


def magnitude(ranges: Sequence[Range]) -> Range:
    return 0.0, largest(ranges)


def least(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), min(high for _, high in ranges)


def greatest(ranges: Sequence[Range]) -> Range:
    return max(low for low, _ in ranges), max(high for _, high in ranges)


def rounded(ranges: Sequence[Range]) -> Range:
    """Of a whole number near the operand."""
    ((low, high),) = ranges
    return low - 1.0, high + 1.0


def root(ranges: Sequence[Range]) -> Range:
    ((low, high),) = ranges
    return (0.0, math.sqrt(high)) if low >= 0.0 else ANY


def inner(ranges: Sequence[Range]) -> Range:
    """Of a dot product of at most four components."""
    most = 4.0 * largest(ranges) ** 2
    return -most, most


def largest(ranges: Sequence[Range]) -> float:
    """The greatest magnitude."""
    low, high = union(ranges)
    return max(abs(low), abs(high))
