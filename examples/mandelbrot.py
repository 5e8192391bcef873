"""The Mandelbrot set, an image from nothing, with smooth colours: writes out/mandelbrot.png."""

import math
import time
from pathlib import Path

import numpy as np

import pygpu
from pygpu import Position, Vec2, Vec3

OUT = Path(__file__).parent.parent / "out" / "mandelbrot.png"


def palette(t):
    """Colours that go round with t (after Inigo Quilez's cosine palettes)."""
    return Vec3(*[0.5 - 0.5 * math.cos(2 * math.pi * (t + shift)) for shift in (0.0, 0.1, 0.2)])


@pygpu.compile
def mandelbrot(p: Position, centre: Vec2, zoom: float, rounds: int = 256):
    c = centre + (p - (480.0, 320.0)) / zoom
    z, n = Vec2(0.0, 0.0), 0
    while n < rounds and pygpu.dot(z, z) < 256:
        z = Vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c
        n += 1
    if n == rounds:
        return Vec3(0.0)
    return palette(0.03 * (n - math.log2(math.log2(pygpu.dot(z, z)))))


def main():
    started = time.perf_counter()
    image = mandelbrot(centre=(-0.7436, 0.1318), zoom=40_000.0, shape=(640, 960), dtype=np.uint8)
    OUT.parent.mkdir(exist_ok=True)
    image.save(OUT)
    took = 1e3 * (time.perf_counter() - started)
    print(f"960 x 640 on {mandelbrot.target} in {took:.0f} ms, compilation and PNG included: {OUT}")


if __name__ == "__main__":
    main()
