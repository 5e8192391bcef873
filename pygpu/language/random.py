"""Random numbers as functions of a position and a seed, and of nothing else: counter-based.

Each draw is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
3", 2011) of the counter (x, y, z, number of the draw by fours) under the 64-bit seed as key. So
pixels are independent, a picture is the same whoever computes it, and another seed is another
picture. All that is computed in floats is exact but for one rounding, so that plain Python and all
targets give the same bits.

    grain = pygpu.random.normal(p, seed=7)             # one number for each position
    r, g, b = pygpu.random.uniform(p, 7, count=3)      # independent of each other
"""

from __future__ import annotations

import functools
import statistics
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded, shown
from pygpu.core.host.reference import describe_all
from pygpu.language.scalars import Int, UInt
from pygpu.language.vectors import IVec2, IVec3, IVec4, Vec2, Vec3, Vec4, Vector

ROUNDS: Final = 10
MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
WEYL: Final = (0x9E3779B9, 0xBB67AE85)
LOW: Final = 0xFFFF
MOST: Final = 2**16  # numbers of a call
PARTS: Final = 64  # of each octave of probabilities, in the table of normal numbers
BITS: Final = 12  # of a place within a part


@guarded
def uniform(p: Any, seed: Any, count: int = 1) -> Any:
    """Floats in [0, 1), multiples of 2**-24, at a position of one to three whole coordinates.
    `count` of 2 to 4 gives a vector, more a tuple; all are independent of each other. `seed` is an
    int of up to 64 bits, or a dynamic Int."""
    return _gathered([((word >> 8) & 0xFFFFFF) * 2.0**-24 for word in _words(p, seed, count)])


@guarded
def normal(p: Any, seed: Any, count: int = 1) -> Any:
    """Floats of the normal distribution of mean 0 and deviation 1, up to 6.3 in magnitude, by the
    inverse of its distribution function, interpolated to 3e-5. As `uniform` otherwise."""
    return _gathered([_normal(word) for word in _words(p, seed, count)])


@guarded
def integers(p: Any, seed: Any, low: Any, high: Any, count: int = 1) -> Any:
    """Ints from `low` up to and without `high`, each as likely as the others to 2**-32 of the
    number of them. ValueError where there are none. As `uniform` otherwise."""
    for name, bound in (("low", low), ("high", high)):
        if not isinstance(bound, int | np.integer):
            raise TypeError(f"{name}: takes a whole number, got {shown(bound)}")
    if high <= low:
        raise ValueError(f"high: takes a number above low, {low}, got {high}")
    span = Int(high) - Int(low)
    words = _words(p, seed, count)
    return _gathered([Int(low) + _product(word, span)[0] for word in words], whole=True)


def _gathered(numbers: list[Any], whole: bool = False) -> Any:
    """One number, a vector of 2 to 4, a tuple of more."""
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) > 4:
        return tuple(numbers)
    return ((IVec2, IVec3, IVec4) if whole else (Vec2, Vec3, Vec4))[len(numbers) - 2](*numbers)


def _words(p: Any, seed: Any, count: int) -> list[Any]:
    """So many random words of 32 bits, as Ints."""
    if not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"count: takes a whole number of at least 1, got {shown(count)}")
    if count > MOST:
        raise ValueError(f"count: takes up to {MOST} numbers a position, got {shown(count)}")
    has_axes = isinstance(p, (Vector, tuple, list, np.ndarray))
    places = [Int(c) for c in p] if has_axes else [Int(p)]
    if len(places) > 3:
        raise ValueError(f"p: takes a position of 1 to 3 coordinates, got {len(places)}")
    while len(places) < 3:
        places.append(Int(0))
    key = _key(seed)
    words: list[Any] = []
    for number in range(-(-count // 4)):
        words += philox((*places, Int(number)), key)
    return words[:count]


def _key(seed: Any) -> tuple[Any, Any]:
    """The seed's two words, of a negative one those of its 64 bits."""
    if isinstance(seed, UInt):
        return Int(seed), Int(0)
    if isinstance(seed, Int):
        return seed, seed >> 31
    if not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed: takes an int of up to 64 bits, got {shown(seed)}")
    whole = int(seed)
    if not -(2**63) <= whole < 2**64:
        raise ValueError(f"seed: takes an int of up to 64 bits, got {whole}")
    return _wrapped(whole & 0xFFFFFFFF), _wrapped((whole >> 32) & 0xFFFFFFFF)


def _wrapped(word: int) -> Any:
    """A word of 32 bits as an Int."""
    return Int(word - 2**32 if word >= 2**31 else word)


def philox(counter: Any, key: Any) -> tuple[Any, Any, Any, Any]:
    """Philox 4x32-10: four random words, as Ints, of a counter of four and a key of two."""
    a, b, c, d = counter
    k, m = key
    for _ in range(ROUNDS):
        high, low = _product(a, _wrapped(MULTIPLIERS[0]))
        other_high, other_low = _product(c, _wrapped(MULTIPLIERS[1]))
        a, b, c, d = other_high ^ b ^ k, other_low, high ^ d ^ m, low
        k, m = k + _wrapped(WEYL[0]), m + _wrapped(WEYL[1])
    return a, b, c, d


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """The upper and lower word of the product of two unsigned words, by halves."""
    a_low, a_high = a & LOW, (a >> 16) & LOW
    b_low, b_high = b & LOW, (b >> 16) & LOW
    middle = a_high * b_low + ((a_low * b_low >> 16) & LOW)
    other = a_low * b_high + (middle & LOW)
    high = a_high * b_high + ((middle >> 16) & LOW) + ((other >> 16) & LOW)
    return high, a * b


def _normal(word: Any) -> Any:
    """The normal number of a word: a bit for the sign, the others for the probability of the tail.
    Its octave and part choose a row of the table, the next bits a place between two rows."""
    tail = word & 0x7FFFFFFF
    octave = Int(0)
    for shift in (16, 8, 4, 2, 1):
        is_small = tail < (1 << (31 - shift))
        octave = octave + shift if is_small else octave
        tail = tail << shift if is_small else tail
    row = octave * PARTS + ((tail >> 24) & (PARTS - 1))
    place = np.float32((tail >> (24 - BITS)) & ((1 << BITS) - 1))
    starts, slopes = _table()
    size = starts[row] + slopes[row] * place  # the product is exact: one rounding, fused or not
    return size if word < 0 else -size


@functools.cache
def _table() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The normal numbers where the parts of octaves of tail probabilities begin, and how much they
    change from place to place: in as few bits that their products with places are exact."""
    inverse = statistics.NormalDist().inv_cdf
    octave, part = np.divmod(np.arange(32 * PARTS), PARTS)
    starts = (1 + part / PARTS) * 2.0 ** (-1.0 - octave)  # probabilities of being farther out
    ends = starts + 2.0 ** (-1.0 - octave) / PARTS
    numbers, after = [np.array([-inverse(tail / 2) for tail in tails]) for tails in (starts, ends)]
    mantissas, exponents = np.frexp((after - numbers) / 2**BITS)
    slopes = np.ldexp(np.rint(mantissas * 2**BITS), exponents - BITS)
    return numbers.astype(np.float32), slopes.astype(np.float32)


__all__ = ["integers", "normal", "philox", "uniform"]

describe_all("pygpu.language.random", globals(), __all__)
