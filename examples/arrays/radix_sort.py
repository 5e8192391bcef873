"""Radix sort, a bit at a time: a running sum says where the keys with a 0 go, the others go behind
them in the order in which they were. (`pygpu.sort` is the ready one.)

Source: G. Blelloch, "Prefix Sums and Their Applications", 1990, section 1.3.
"""

import numpy as np

import pygpu
from pygpu import Int, IVec2, Position, Signal


@pygpu.compile
def zero(keys: Signal, i: Position, bit: Int):
    return 1 - (keys(i) >> bit & 1)


@pygpu.compile
def sent(keys: Signal, before: Signal, i: Position, bit: Int, zeros: Int):
    """A key, and its place: `before` counts the keys with a 0 before each."""
    low = (keys(i) >> bit & 1) == 0
    return IVec2(keys(i), before(i) if low else zeros + i - before(i))


def radix_sort(keys, bits=31):
    n = len(keys)
    for bit in range(bits):
        low = zero(keys, bit=bit)
        before = pygpu.scan(np.add, low, exclusive=True)
        pairs = sent(keys, before, bit=bit, zeros=int(np.sum(low)))
        keys = pygpu.scatter(Signal(pairs), lambda v: v.y, shape=(n,)).numpy()[:, 0]
    return keys


def difference(n=100_000, bits=31) -> float:
    """How many elements are not where NumPy puts them."""
    keys = np.random.default_rng(0).integers(0, 2**bits, n, dtype=np.int32)
    return float((np.asarray(radix_sort(keys, bits)) != np.sort(keys)).sum())


if __name__ == "__main__":
    print(f"radix sort: {difference():.0f} of 100,000 elements differ from NumPy")
