"""The edge detector of the PyGPU paper (2006) on a photograph, in colour: writes out/edges.png.

make demo, or: python examples/demo.py [PHOTO [OUT]]
"""

import sys
import time
from pathlib import Path

import numpy as np
from numpy import ravel, sqrt, transpose

import pygpu
from pygpu import Image, Position, offsets

HERE = Path(__file__).parent

sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def convolve(kernel, im=Image, p=Position):
    return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel))])


def edgeDetect(kernel, im=Image, p=Position):
    Gx = convolve(kernel, im, p)
    Gy = convolve(transpose(kernel), im, p)
    return sqrt(Gx**2 + Gy**2)


def main(photo: Path = HERE / "astronaut.jpg", out: Path = HERE.parent / "out" / "edges.png"):
    picture = Image.open(photo)
    edges = pygpu.compile(edgeDetect, kernel=sobel)

    started = time.perf_counter()
    result = np.asarray(edges(picture))
    first = time.perf_counter() - started

    later = []
    for _ in range(9):
        started = time.perf_counter()
        np.asarray(edges(picture))
        later.append(time.perf_counter() - started)

    out.parent.mkdir(exist_ok=True)
    edges(picture).save(out)
    height, width = result.shape[:2]
    print(f"{photo.name}: {width} x {height}, target {edges.target}")
    print(f"first call {1e3 * first:.1f} ms, then {1e3 * sorted(later)[4]:.2f} ms")
    print(f"wrote {out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
