"""Motion in a film: where a frame differs from the one before, once specks are eroded away, and how
much of each frame moves. Functions of images are mapped over all frames at once.

Source: R. Gonzalez and R. Woods, "Digital Image Processing": change between frames.
"""

import numpy as np
import scipy.ndimage

import pygpu
from pygpu import Image, Position, offsets

WINDOW = offsets(np.ones((3, 3)))


@pygpu.compile
def changed(now: Image, before: Image, p: Position, threshold: float = 0.25):
    return abs(now(p) - before(p)) > threshold


@pygpu.compile
def eroded(mask: Image, p: Position):
    return all(mask(p + d) for d in WINDOW)


def motion(film):
    """What moves, of each frame but the first."""
    return eroded.map(changed.map(film[1:], film[:-1]))


def expected(film):
    changes = abs(np.diff(film, axis=0)) > 0.25
    return scipy.ndimage.minimum_filter(changes, (1, 3, 3), mode="nearest")


def recorded(frames, n):
    """A noisy film of a bright square that crosses it."""
    film = np.random.default_rng(0).normal(0.2, 0.08, (frames, n, n)).astype(np.float32)
    for t in range(frames):
        film[t, n // 3 : n // 3 + 9, 4 * t : 4 * t + 9] += 0.7
    return film


def difference(frames=24, n=128) -> float:
    """How many pixels differ from SciPy."""
    film = recorded(frames, n)
    return float((motion(film) != expected(film)).sum())


if __name__ == "__main__":
    moving = motion(recorded(24, 128)).mean((1, 2))
    print(f"motion: {difference():.0f} pixels differ from SciPy; {moving.mean():.1%} move")
