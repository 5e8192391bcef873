"""What NumPy references of the gallery's pictures are made of.

    sampled(colours, x + 0.5, y)        # between the pixels, as the gallery reads photographs
    smoothstep(0.2, 0.4, luma(colours))

All take and give arrays of rows, columns and, for colours, channels.
"""

from collections.abc import Callable

import numpy as np
from scipy import ndimage

GREY = np.array([0.2125, 0.7154, 0.0721])
SIZE = (48, 64)  # of the photograph that gallery.photo() gives


def grid(size: tuple[int, int] = SIZE) -> tuple[np.ndarray, np.ndarray]:
    """The x and y of all pixels."""
    y, x = np.mgrid[0 : size[0], 0 : size[1]].astype(float)
    return x, y


def channels(f: Callable[[np.ndarray], np.ndarray], colours: np.ndarray) -> np.ndarray:
    """A function of one channel, applied to each."""
    return np.stack([f(colours[..., k]) for k in range(3)], axis=-1)


def shifted(a: np.ndarray, dx: int, dy: int) -> np.ndarray:
    """a at (x + dx, y + dy), the nearest where that is outside."""
    height, width = a.shape[:2]
    ys = np.clip(np.arange(height) + dy, 0, height - 1)
    xs = np.clip(np.arange(width) + dx, 0, width - 1)
    return a[ys][:, xs]


def window(radius: int) -> list[tuple[int, int]]:
    side = range(-radius, radius + 1)
    return [(dx, dy) for dy in side for dx in side]


def inside(a: np.ndarray, margin: int) -> np.ndarray:
    """Without a border."""
    return np.asarray(a)[margin:-margin, margin:-margin]


def sampled(a: np.ndarray, x: np.ndarray, y: np.ndarray, mode: str = "nearest") -> np.ndarray:
    """Each channel between its pixels."""
    return channels(lambda c: ndimage.map_coordinates(c, [y, x], order=1, mode=mode), a)


def nearest(a: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The texel nearest to (x, y)."""
    height, width = a.shape[:2]
    rows = np.clip(np.floor(y + 0.5).astype(int), 0, height - 1)
    columns = np.clip(np.floor(x + 0.5).astype(int), 0, width - 1)
    return a[rows, columns]


def luma(colours: np.ndarray) -> np.ndarray:
    """The brightness, with an axis of one channel."""
    return (colours @ GREY)[..., np.newaxis]


def mixed(a: np.ndarray, b: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    return a * (1 - t) + b * t


def smoothstep(low: float, high: float, v: np.ndarray) -> np.ndarray:
    t = np.clip((v - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def lattice(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The hash of whole positions that the gallery uses, as int32, which wraps."""
    i, j = np.asarray(i).astype(np.int32), np.asarray(j).astype(np.int32)
    h = i * np.int32(374761393) + j * np.int32(668265263)
    h = (h ^ (h >> 13)) * np.int32(1274126177)
    return h ^ (h >> 16)


def jittered(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """A point of each cell (i, j), by its hash: (..., 2)."""
    h = lattice(i, j)
    return np.stack([i + (h & 0xFF) / 255, j + (h >> 8 & 0xFF) / 255], axis=-1)
