"""N bodies that attract each other: each of them adds up all others, and a round returns places
and velocities, which are the next round's. Masses ride along as fourth components.

Source: L. Nyland, M. Harris and J. Prins, "Fast N-Body Simulation with CUDA", 2007.
"""

import numpy as np

import pygpu
from pygpu import Position, Signal, Vec3, Vec4


@pygpu.compile
def moved(bodies: Signal, velocities: Signal, i: Position, dt: float, softening: float = 0.1):
    own = bodies(i)
    pull = Vec3(0.0)
    for j in range(bodies.width):
        other = bodies(j)
        away = other.xyz - own.xyz
        pull += other.w * away * (pygpu.dot(away, away) + softening**2) ** -1.5
    velocity = velocities(i) + dt * pull
    return Vec4(own.xyz + dt * velocity, own.w), velocity


def expected(bodies, velocities, rounds, dt, softening=0.1):
    places, masses = bodies[:, :3].astype(float), bodies[:, 3]
    for _ in range(rounds):
        away = places - places[:, None]
        weights = masses * ((away**2).sum(-1) + softening**2) ** -1.5
        velocities = velocities + dt * (weights[..., None] * away).sum(1)
        places = places + dt * velocities
    return places


def difference(n=1000, rounds=20, dt=0.01) -> float:
    """The largest difference of a place from NumPy in float64, of a cloud of radius 1."""
    random = np.random.default_rng(0)
    bodies = np.column_stack([random.normal(size=(n, 3)), np.full(n, 1 / n)]).astype(np.float32)
    velocities = np.zeros((n, 3), np.float32)
    found, _ = moved.iterate((bodies, velocities), rounds, dt=dt)
    return float(abs(found[:, :3] - expected(bodies, velocities, rounds, dt)).max())


if __name__ == "__main__":
    print(f"N bodies: {difference():.1e} from NumPy")
