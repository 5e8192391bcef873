"""Bitonic sort: every round each element meets the one at a distance and keeps the lesser or the
greater. The distances are known beforehand, so that all rounds are one `iterate` with `pygpu.each`.

Source: K. Batcher, "Sorting Networks and Their Applications", 1968; on GPUs: I. Buck and
T. Purcell, "A Toolkit for Computation on GPUs", 2004.
"""

import numpy as np

import pygpu
from pygpu import Int, Position, Signal


@pygpu.compile
def meet(keys: Signal, i: Position, run: Int, distance: Int):
    other = i ^ distance
    lesser = (i < other) == ((i & run) == 0)
    return min(keys(i), keys(other)) if lesser else max(keys(i), keys(other))


def bitonic_sort(keys):
    """The keys in order; there are 2**m of them."""
    bits = len(keys).bit_length() - 1
    rounds = [(2**k, 2**j) for k in range(1, bits + 1) for j in reversed(range(k))]
    runs, distances = zip(*rounds)
    each = pygpu.each
    return meet.iterate(keys, len(rounds), run=each(runs), distance=each(distances))


def difference(n=65_536) -> float:
    """How many elements are not where NumPy puts them."""
    keys = np.random.default_rng(0).normal(size=n).astype(np.float32)
    return float((bitonic_sort(keys) != np.sort(keys)).sum())


if __name__ == "__main__":
    print(f"bitonic sort: {difference():.0f} of 65,536 elements differ from NumPy")
