"""Objects as parameters: a chain of lenses, each of a class of its own, bends the way to a photo.

The classes are known when the function is compiled, so `bend` costs no dispatch; the numbers in the
objects are not, so that moving a lens compiles nothing. Writes out/lens.png.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pygpu
from pygpu import Image, Position, Vec2

HERE = Path(__file__).parent
OUT = HERE.parent / "out" / "lens.png"


@dataclass
class Lens:
    centre: Vec2
    radius: float

    def bend(self, p):
        return p


@dataclass
class Magnifier(Lens):
    power: float = 2.0

    def bend(self, p):
        v = p - self.centre
        inside = 1 - pygpu.length(v) / self.radius
        return p if inside < 0 else self.centre + v / (1 + (self.power - 1) * inside)


@dataclass
class Whirl(Lens):
    turn: float = 3.0

    def bend(self, p):
        v = p - self.centre
        inside = 1 - pygpu.length(v) / self.radius
        if inside < 0:
            return p
        c, s = pygpu.cos(self.turn * inside), pygpu.sin(self.turn * inside)
        return self.centre + Vec2(c * v.x - s * v.y, s * v.x + c * v.y)


@dataclass
class Bench:
    lenses: list


@pygpu.compile(dtype=np.uint8)
def seen_through(im: Image, p: Position, bench: Bench):
    for lens in bench.lenses:
        p = lens.bend(p)
    return im.sampled(interpolation="linear")(p)


def main():
    photo = Image.open(HERE / "astronaut.jpg")
    bench = Bench([Magnifier(Vec2(225, 120), 110), Whirl(Vec2(390, 330), 130)])
    OUT.parent.mkdir(exist_ok=True)
    seen_through(photo, bench=bench).save(OUT)
    print(f"{photo.width} x {photo.height} on {seen_through.target}: {OUT}")


if __name__ == "__main__":
    main()
