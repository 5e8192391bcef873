"""What operations mean on float32, int32, uint32 and bool arrays, where NumPy has no such function.

Vectors have their components in the last axis, so operations on components need no case of their
own. Where Python would raise, the meaning says what a device gives: integer division by zero is 0,
conversion to int saturates and takes NaN to 0.

    wide(np.sin)(np.float32(1))      # the sine in float64, rounded once
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def floordiv(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.floor_divide(a, b)
    wide = np.floor_divide(a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64))
    return np.where(b == 0, 0, wide).astype(a.dtype)


def mod(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.remainder(a, b)
    wide = np.remainder(a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64))
    return np.where(b == 0, 0, wide).astype(a.dtype)


def to_integer(dtype: type[np.integer[Any]]) -> Callable[[Array], Array]:
    """Floats are truncated and saturated, NaN is 0; integers keep their bits."""
    low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)

    def convert(a: Array) -> Array:
        if a.dtype.kind != "f":
            return a.astype(dtype)
        wide = np.nan_to_num(a.astype(np.float64), nan=0.0, posinf=high, neginf=low)
        return np.clip(np.trunc(wide), low, high).astype(dtype)

    return convert


def bits_as(dtype: type[np.generic]) -> Callable[[Array], Array]:
    """The same bits, of another dtype."""
    return lambda a: np.asarray(a).view(dtype)


def shl(a: Array, b: Array) -> Array:
    """Left shift; by 32 or more (or by a negative count, which Python refuses) gives 0."""
    inside = (b >= 0) & (b < 32)
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), 0).astype(a.dtype)


def shr(a: Array, b: Array) -> Array:
    """Right shift that keeps the sign, of uints with zeros; counts of 32 or more, or negative,
    leave the sign alone: 0 of a uint."""
    inside = (b >= 0) & (b < 32)
    shifted = np.right_shift(a, np.where(inside, b, 31).astype(a.dtype))
    return np.where(inside | (a.dtype.kind == "i"), shifted, 0).astype(a.dtype)


def power(a: Array, b: Array) -> Array:
    """Floats: IEEE pow. Ints: wrapping power by squaring; a negative exponent gives 0."""
    if a.dtype.kind == "f":
        a, b = np.broadcast_arrays(a, b)
        spread = np.ascontiguousarray(b)  # a scalar 0.5 would be taken for sqrt: -0.0, NaN of -inf
        return wide(np.power)(np.ascontiguousarray(a), spread).reshape(a.shape)
    with np.errstate(over="ignore"):
        base, left = np.broadcast_arrays(a, b)
        base, left = base.copy(), np.where(left < 0, 0, left).astype(a.dtype)
        result = np.ones_like(base)
        while np.any(left):
            result = np.where(left & 1, result * base, result)
            base = base * base
            left = left >> 1
    return np.where(b < 0, 0, result).astype(a.dtype)


# Lanes: the two halves of an int as float16, for devices that compute on both at once. They hold
# whole numbers of at most 2048 in units of 2**-24, which are exact (pygpu/passes/blocks/lanes.py).


def halves(word: Array) -> Array:
    """Both lanes, the lower first, in a last axis of their own."""
    return np.ascontiguousarray(word)[..., None].view(np.float16)


def lanes(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function of both lanes of its operands."""

    def both(*words: Array) -> Array:
        lanes = function(*map(halves, np.broadcast_arrays(*words)))
        return np.ascontiguousarray(lanes.astype(np.float16)).view(np.int32)[..., 0]

    return both


def lane(index: int) -> Callable[[Array], Array]:
    return lambda word: halves(word)[..., index].astype(np.float32)


def lanes_join(a: Array, b: Array) -> Array:
    """The upper lane of a, the lower of b."""
    return (a.view(np.uint32) >> 16 | b.view(np.uint32) << 16).view(np.int32)


def lanes_pack(low: Array, high: Array) -> Array:
    """Both as float16."""
    both = np.stack(np.broadcast_arrays(low, high), -1)
    with np.errstate(over="ignore"):
        return both.astype(np.float16).view(np.int32)[..., 0]


def unorm8x4(a: Array) -> Array:
    bytes = np.rint(np.clip(np.nan_to_num(a, nan=0.0), 0.0, 1.0) * 255).astype(np.uint8)
    return np.ascontiguousarray(bytes).view(np.int32)[..., 0]


def from_unorm8x4(a: Array) -> Array:
    bytes = np.ascontiguousarray(np.asarray(a, np.int32)[..., None]).view(np.uint8)
    return (bytes / 255).astype(np.float32)


def minimum(a: Array, b: Array) -> Array:
    """Python's min: b where b < a, else a. NaN in a stays, NaN in b is passed over."""
    return np.where(b < a, b, a)


def maximum(a: Array, b: Array) -> Array:
    """Python's max: b where b > a, else a."""
    return np.where(b > a, b, a)


def wide(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function computed in float64 and rounded once: NumPy's float32 forms err by some ulp."""

    def rounded(*operands: Array) -> Array:
        return function(*[a.astype(np.float64) for a in operands]).astype(np.float32)  # type: ignore[no-any-return]

    return rounded


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once: the product is exact in float64, and the sum there is rounded to odd,
    so that rounding it again does no harm (Boldo and Melquiond, "Emulation of FMA", 2008)."""
    product, added = np.broadcast_arrays(a.astype(np.float64) * b, c.astype(np.float64))
    with np.errstate(invalid="ignore"):
        total = np.ascontiguousarray(product + added)
        rest = total - product
        error = (product - (total - rest)) + (added - rest)
    bits = total.view(np.int64)
    is_even = np.isfinite(error) & (error != 0) & (bits & 1 == 0)
    odd = bits + np.where((error > 0) == (total > 0), 1, -1)
    return np.where(is_even, odd, bits).view(np.float64).astype(np.float32).reshape(product.shape)


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of `math` that NumPy lacks, of each element of an array, in float64."""
    of_objects = np.frompyfunc(function, 1, 1)
    return lambda a: np.asarray(of_objects(a)).astype(np.float64)


def gamma(x: float) -> float:
    """math.gamma; where that raises, an infinity of zeros, NaN of other poles."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan if x else math.copysign(math.inf, x)


def lgamma(x: float) -> float:
    """math.lgamma; infinite where that raises."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf
