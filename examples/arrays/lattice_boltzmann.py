"""Lattice Boltzmann in two dimensions with nine speeds: each round every cell takes what flows to
it and lets it relax towards equilibrium. The nine numbers of a cell are three images of three
channels, one for each vertical speed.

Source: Y. Qian, D. d'Humières and P. Lallemand, "Lattice BGK Models for Navier-Stokes Equation",
1992.
"""

import numpy as np

import pygpu
from pygpu import Image, Position, Vec3

SPEEDS = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
WEIGHTS = [(4, 1, 1 / 4)[abs(x) + abs(y)] / 9 for x, y in SPEEDS]


def equilibrium(density, u, v):
    """The nine numbers, as products of speeds; of numbers as of arrays."""
    along = [3 * (u * x + v * y) for x, y in SPEEDS]
    still = 1 - 1.5 * (u * u + v * v)
    return [density * w * (still + a + a * a / 2) for w, a in zip(WEIGHTS, along)]


@pygpu.compile
def relaxed(up: Image, level: Image, down: Image, p: Position, rate: float):
    rows = up, level, down
    f = [rows[y + 1](p - (x, y))[x + 1] for x, y in SPEEDS]
    density = sum(f)
    u = sum(x * n for (x, _), n in zip(SPEEDS, f)) / density
    v = sum(y * n for (_, y), n in zip(SPEEDS, f)) / density
    f = [n + rate * (e - n) for n, e in zip(f, equilibrium(density, u, v))]
    return Vec3(*f[:3]), Vec3(*f[3:6]), Vec3(*f[6:])


def expected(f, rounds, rate):
    for _ in range(rounds):
        f = np.array([np.roll(n, (y, x), (0, 1)) for n, (x, y) in zip(f, SPEEDS)])
        density = f.sum(0)
        u, v = np.tensordot(np.transpose(SPEEDS), f, 1) / density
        f += rate * (np.array(equilibrium(density, u, v)) - f)
    return f


def difference(n=128, rounds=200, rate=1.2) -> float:
    """The largest difference of a number from NumPy in float64, after two whirls have decayed."""
    y, x = 2 * np.pi * np.mgrid[:n, : n + 32] / np.reshape([n, n + 32], (2, 1, 1))
    f = np.array(equilibrium(np.ones(x.shape), 0.1 * np.sin(y), 0.05 * np.sin(x)))
    state = [Image(np.moveaxis(f[k : k + 3], 0, -1), boundary="wrap") for k in (0, 3, 6)]
    found = np.concatenate(relaxed.iterate(tuple(state), rounds, rate=rate), -1)
    return float(abs(np.moveaxis(found, -1, 0) - expected(f, rounds, rate)).max())


if __name__ == "__main__":
    print(f"lattice Boltzmann: {difference():.1e} from NumPy")
