"""A support vector machine trained by sequential minimal optimisation: each round two reductions
find the pair of points that violates the conditions most, two multipliers are set, and one pass
brings all errors up to date.

Source: J. Platt, "Fast Training of Support Vector Machines Using Sequential Minimal Optimization",
1998; on GPUs: B. Catanzaro, N. Sundaram and K. Keutzer, "Fast Support Vector Machine Training and
Classification on Graphics Processors", 2008.
"""

import math

import numpy as np
from scipy.optimize import minimize

import pygpu
from pygpu import Position, Signal, Vec2


def kernel(a, b, gamma):
    return math.exp(-gamma * pygpu.dot(a - b, a - b))


@pygpu.compile
def updated(
    errors: Signal, points: Signal, i: Position, a: Vec2, b: Vec2, step: float, gamma: float
):
    """The errors, after the multipliers of a and b have made a step towards each other."""
    x = points(i)
    return errors(i) + step * (kernel(a, x, gamma) - kernel(b, x, gamma))


def upper(error, alpha, y, cost):
    """The error of a point whose multiplier may move up along its sign, else none."""
    return error if (alpha < cost if y > 0 else alpha > 0) else math.inf


def lower(error, alpha, y, cost):
    return error if (alpha > 0 if y > 0 else alpha < cost) else -math.inf


def trained(points, y, cost, gamma, tolerance=1e-3):
    """The multipliers, and the offset."""
    alpha, errors, signal = np.zeros_like(y), Signal(-y), Signal(points)
    while True:
        i = pygpu.reduce(np.argmin, errors, alpha, y, map=upper, cost=cost)
        j = pygpu.reduce(np.argmax, errors, alpha, y, map=lower, cost=cost)
        low, high = np.asarray(errors)[[i, j]]
        if high - low < 2 * tolerance:
            return alpha, -(low + high) / 2
        k = math.exp(-gamma * ((points[i] - points[j]) ** 2).sum())
        room_i = cost - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else cost - alpha[j]
        step = min((high - low) / (2 - 2 * k), room_i, room_j)
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        errors = updated(errors, signal, a=points[i], b=points[j], step=step, gamma=gamma)


def expected(points, y, cost, gamma):
    """The multipliers by SciPy's optimiser."""
    away = ((points[:, None] - points) ** 2).sum(-1)
    gram = np.exp(-gamma * away) * np.outer(y, y)
    found = minimize(
        lambda a: a @ gram @ a / 2 - a.sum(), np.zeros(len(y)), jac=lambda a: gram @ a - 1,
        bounds=[(0, cost)] * len(y), constraints={"type": "eq", "fun": lambda a: a @ y,
        "jac": lambda a: y}, method="SLSQP", options={"ftol": 1e-9, "maxiter": 500},
    )  # fmt: skip
    return found.x


def decision(alpha, points, y, gamma):
    """What the machine says of its points, but for the offset."""
    away = ((points[:, None] - points) ** 2).sum(-1)
    return np.exp(-gamma * away) @ (alpha * y)


def difference(n=100) -> float:
    """The largest difference from SciPy of what the machine says, where 1 is the margin."""
    random = np.random.default_rng(0)
    points = random.normal(size=(n, 2)).astype(np.float32)
    y = np.where((points**2).sum(1) + random.normal(0, 0.3, n) < 1.2, 1, -1).astype(np.float32)
    alpha, _ = trained(points, y, cost=1.0, gamma=1.0)
    right = decision(expected(points.astype(float), y, 1.0, 1.0), points, y, 1.0)
    return float(abs(decision(alpha, points, y, 1.0) - right).max())


if __name__ == "__main__":
    print(f"SVM by SMO: {difference():.1e} from SciPy")
