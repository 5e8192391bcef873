"""The fast Fourier transform of 2**m complex numbers: m rounds of Stockham's butterflies, which
leave the numbers in order. `pygpu.each` gives every round its own distance.

Source: N. Govindaraju and others, "High Performance Discrete Fourier Transforms on Graphics
Processors", 2008, section 4.
"""

import cmath

import numpy as np

import pygpu
from pygpu import Int, Position, Signal


@pygpu.compile
def butterfly(x: Signal, i: Position, half: Int):
    k = i // (2 * half) * half + i % half
    turn = cmath.exp(-1j * cmath.pi * (i % (2 * half)) / half)
    return complex(*x(k)) + turn * complex(*x(k + x.width // 2))


def fft(xs):
    pairs = np.stack([xs.real, xs.imag], -1)
    rounds = len(xs).bit_length() - 1
    found = butterfly.iterate(pairs, rounds, half=pygpu.each(2 ** np.arange(rounds)))
    return found[:, 0] + 1j * found[:, 1]


def difference(n=65_536) -> float:
    """The largest difference from NumPy, as a part of the mean size of the results."""
    random = np.random.default_rng(0)
    xs = random.normal(size=n) + 1j * random.normal(size=n)
    return float(abs(fft(xs) - np.fft.fft(xs)).max() / np.sqrt(n))


if __name__ == "__main__":
    print(f"FFT: {difference():.1e} from NumPy")
