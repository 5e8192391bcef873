"""A Sobel filter over 40000 x 30000 bytes: seconds, and the memory taken beside the arrays.

python -m benchmarks.large cpu [HEIGHT WIDTH]
"""

import resource
import sys
import time

import numpy as np

import pygpu
from pygpu import Image, Position

SHAPE = (30_000, 40_000)
GIB = 2**30


def edges(im: Image, p: Position):
    """The magnitude of the gradient."""
    gx = sum([k * (im(p + (1, d)) - im(p + (-1, d))) for d, k in ((-1, 1), (0, 2), (1, 1))])
    gy = sum([k * (im(p + (d, 1)) - im(p + (d, -1))) for d, k in ((-1, 1), (0, 2), (1, 1))])
    return np.sqrt(gx**2 + gy**2)


def texels(height: int, width: int) -> np.ndarray:
    """Bytes that repeat nowhere near, made row by row."""
    made = np.empty((height, width), np.uint8)
    row = np.random.default_rng(0).integers(0, 256, width + 251, np.uint8)
    for y in range(height):
        made[y] = row[y % 251 : y % 251 + width] ^ (y * 167 >> 3 & 255)
    return made


def peak() -> int:
    """The most memory this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    height, width = map(int, sys.argv[2:4]) if len(sys.argv) > 3 else SHAPE
    sobel = pygpu.compile(edges, target=target)
    photo = texels(height, width)
    wrapped = Image(photo[:64, :64], boundary="wrap")
    sobel(wrapped, dtype="uint8")
    out = np.zeros_like(photo)
    before = peak()
    started = time.perf_counter()
    sobel(photo, out=out)
    took = time.perf_counter() - started
    size = photo.nbytes + out.nbytes
    print(
        f"{target}: {width} x {height}, {took:.1f} s, {photo.size / took / 1e6:.0f} Mpixel/s; "
        f"arrays {size / GIB:.2f} GiB, peak {peak() / GIB:.2f} GiB, "
        f"{(peak() - before) / GIB:.2f} GiB by the call"
    )
    for top in (0, height // 3 - 20, height - 40):
        part = photo[max(top - 1, 0) : top + 41]
        expected = pygpu.compile(edges, target="interpreter")(part, dtype="uint8")
        offset = 1 if top else 0
        rows = slice(offset, 39)
        error = np.abs(out[top : top + 39 - offset].astype(int) - expected[rows].astype(int)).max()
        print(f"rows {top} and after differ by at most {error} from the interpreter's")


if __name__ == "__main__":
    main()
