"""Filters that no library has ready, against noise: a median that spares what is no outlier, and
a bilateral filter. Writes out/denoise.png: noisy, median, bilateral.
"""

import math
from pathlib import Path

import numpy as np

import pygpu
from pygpu import Image, Position, Vec3, offsets

HERE = Path(__file__).parent
OUT = HERE.parent / "out" / "denoise.png"

WINDOW = offsets(np.ones((3, 3)))


@pygpu.compile
def despeckle(im: Image, p: Position, tolerance: float = 0.1):
    """Each channel's median of nine where the texel is far from it, else the texel itself."""
    texel, around = im(p), [im(p + d) for d in WINDOW]

    def cleaned(channel):
        median = sorted(v[channel] for v in around)[4]
        return median if abs(texel[channel] - median) > tolerance else texel[channel]

    return Vec3(*[cleaned(channel) for channel in range(3)])


@pygpu.compile
def bilateral(im: Image, p: Position, near: float = 1.5, like: float = 0.1):
    """The mean of 5 x 5 texels, weighted by how near they are and how much alike."""
    centre = im(p)
    total, weights = Vec3(0.0), 0.0
    for d in offsets(np.ones((5, 5))):
        v = im(p + d)
        difference = pygpu.length(v - centre) / like
        weight = math.exp(-0.5 * (pygpu.dot(d, d) / near**2 + difference**2))
        total += weight * v
        weights += weight
    return total / weights


def main():
    photo = np.asarray(Image.open(HERE / "astronaut.jpg"))
    random = np.random.default_rng(0)
    noisy = np.clip(photo + random.normal(0, 12, photo.shape), 0, 255).astype(np.uint8)
    noisy[random.random(photo.shape[:2]) < 0.02] = 255
    clean = despeckle(noisy, dtype=np.uint8)
    smooth = bilateral(clean, dtype=np.uint8)
    OUT.parent.mkdir(exist_ok=True)
    Image(np.hstack([noisy, clean, smooth])).save(OUT)
    print(f"{photo.shape[1]} x {photo.shape[0]} on {bilateral.target}: {OUT}")


if __name__ == "__main__":
    main()
