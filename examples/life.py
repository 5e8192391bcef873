"""Conway's game of life: 200 rounds on the device by `iterate`. Writes out/life.png."""

import time
from pathlib import Path

import numpy as np

import pygpu
from pygpu import Image, Position

OUT = Path(__file__).parent.parent / "out" / "life.png"

NEIGHBOURS = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if (i, j) != (0, 0)]


@pygpu.compile
def life(world: Image, p: Position):
    n = sum(world(p + d) for d in NEIGHBOURS)
    return n == 3 or (n == 2 and world(p))


def main():
    start = np.random.default_rng(1).random((512, 768)) < 0.3
    world = Image(start, boundary="wrap")
    started = time.perf_counter()
    alive = np.asarray(life.iterate(world, 200))
    took = 1e3 * (time.perf_counter() - started)
    OUT.parent.mkdir(exist_ok=True)
    Image(alive).save(OUT)
    print(f"200 rounds of 768 x 512 on {life.target} in {took:.0f} ms, {alive.sum()} alive: {OUT}")


if __name__ == "__main__":
    main()
