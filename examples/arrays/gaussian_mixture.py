"""A mixture of Gaussians fitted by expectation and maximisation: in one pass each point is divided
among the components, and for each component weights, sums and squares are added up.

Source: A. Dempster, N. Laird and D. Rubin, "Maximum Likelihood from Incomplete Data via the EM
Algorithm", 1977; in Python for GPUs: H. Cook and others, "CUDA-level Performance
with Python-level Productivity for Gaussian Mixture Model Applications", 2011.
"""

import math

import numpy as np
from scipy.stats import multivariate_normal

import pygpu
from pygpu import Signal, Vec3


def shares(x, factors, means, precisions):
    """How much of the point each component has; the factors are weights of normalised densities."""
    away = [x - mean for mean in means]
    densities = [
        factor * math.exp(-0.5 * pygpu.dot(d, precision @ d))
        for factor, d, precision in zip(factors, away, precisions)
    ]
    total = sum(densities)
    return [density / total for density in densities]


def moments(x, factors, means, precisions):
    """For each component: its share of 1, x, y, and of xx, xy, yy."""
    each = shares(x, factors, means, precisions)
    first, second = Vec3(1.0, x.x, x.y), Vec3(x.x * x.x, x.x * x.y, x.y * x.y)
    return tuple(share * part for share in each for part in (first, second))


def fit(points, weights, means, covariances, rounds):
    for _ in range(rounds):
        precisions = np.linalg.inv(covariances)
        factors = weights / (2 * np.pi * np.sqrt(np.linalg.det(covariances)))
        sums = pygpu.reduce(
            np.add, points, map=moments, means=list(means), precisions=list(precisions),
            factors=list(factors),
        )  # fmt: skip
        counts, *first = np.transpose(sums[::2])
        xx, xy, yy = np.transpose(sums[1::2]) / counts
        weights, means = counts / len(points), np.transpose(first / counts)
        x, y = means.T
        squares = np.array([[xx - x * x, xy - x * y], [xy - x * y, yy - y * y]])
        covariances = squares.transpose(2, 0, 1)
    return weights, means, covariances


def expected(points, weights, means, covariances, rounds):
    points = points.astype(float)
    for _ in range(rounds):
        components = zip(weights, means, covariances)
        each = np.array([w * multivariate_normal.pdf(points, m, c) for w, m, c in components])
        each /= each.sum(0)
        counts = each.sum(1)
        weights, means = counts / len(points), each @ points / counts[:, None]
        away = points - means[:, None]
        covariances = np.einsum("kn,kni,knj->kij", each, away, away) / counts[:, None, None]
    return weights, means, covariances


def difference(n=100_000, rounds=10) -> float:
    """The largest difference of a weight, mean or covariance from SciPy's densities."""
    random = np.random.default_rng(0)
    start = np.full(3, 1 / 3), np.array([[0.0, 0], [2, 0], [0, 2]]), np.tile(np.eye(2), (3, 1, 1))
    spreads = np.array([[[0.6, 0.2], [0, 0.4]], [[0.4, 0], [0.1, 0.8]], [[0.5, -0.3], [0, 0.5]]])
    component = random.choice(3, n, p=[0.5, 0.3, 0.2])
    points = start[1][component] + 0.3
    points += np.einsum("nij,nj->ni", spreads[component], random.normal(size=(n, 2)))
    points = points.astype(np.float32)
    found, right = fit(Signal(points), *start, rounds), expected(points, *start, rounds)
    return float(np.max([abs(a - b).max() for a, b in zip(found, right)]))


if __name__ == "__main__":
    print(f"Gaussian mixture: {difference():.1e} from SciPy")
