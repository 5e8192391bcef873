"""Intervals of numbers: what results lie between where it is known what operands lie between.

A rule takes the intervals of an operation's operands (floats are finite) and gives that of its
result, as if nothing wrapped. An operation's `bounds` hold whatever its operands are.

    total([(0.0, 1.0), (2.0, 3.0)]) == (2.0, 4.0)
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

Range = tuple[float, float]
RangeRule = Callable[[Sequence[Range]], Range]

ANY: Final[Range] = (-math.inf, math.inf)
POSITIVE: Final[Range] = (0.0, math.inf)  # zeros of both signs are in it
LARGEST: Final = 1e38  # of floats: short of the largest, so that rounding cannot overflow


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


def quotient(ranges: Sequence[Range]) -> Range:
    """Of a // b of ints, which is 0 where b is."""
    (a, b), (low, high) = ranges
    if low == high != 0:
        return min(a // low, b // low), max(a // low, b // low)
    return (0, b) if a >= 0 <= low else ANY


def remainder(ranges: Sequence[Range]) -> Range:
    """Of a % b of ints, which has the sign of b, and is 0 where b is."""
    _, (low, high) = ranges
    return (min(low + 1, 0), 0) if high <= 0 else (0, max(high - 1, 0)) if low >= 0 else ANY


def common_bits(ranges: Sequence[Range]) -> Range:
    """Of a & b: at most a factor that is not negative."""
    natural = [high for low, high in ranges if low >= 0]
    return (0, min(natural)) if natural else ANY


def all_bits(ranges: Sequence[Range]) -> Range:
    """Of a | b."""
    low, high = union(ranges)
    return (0, (1 << int(high).bit_length()) - 1) if low >= 0 else ANY


def shifted(ranges: Sequence[Range]) -> Range:
    """Of a >> b, which leaves the sign alone where b is no count."""
    (a, b), (low, high) = ranges
    if low == high and 0 <= low < 32:
        return int(a) >> int(low), int(b) >> int(low)
    return min(a, 0), max(b, 0)


def largest(ranges: Sequence[Range]) -> float:
    """The greatest magnitude."""
    low, high = union(ranges)
    return max(abs(low), abs(high))
