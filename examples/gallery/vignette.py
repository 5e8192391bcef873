"""
Vignette
========

Darker towards the corners, by the cosine's fourth power as a simple lens does it, with a warm
tint in the middle.

Reference: the cos⁴ law of illumination, see R. Kingslake, *Optics in Photography*, 1992.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, mix


@pygpu.compile
def vignetted(im: Image, p: Position, strength: float):
    middle = Vec2(im.width - 1, im.height - 1) / 2
    v = (p - middle) / max(middle.x, middle.y, 0.5)
    cosine4 = 1 / (1 + strength * dot(v, v)) ** 2
    tint = mix(Vec3(0.8, 0.9, 1.1), Vec3(1.05, 1.0, 0.92), cosine4)
    return cosine4 * tint * im(p)


def render(photo: Image, *, strength=0.35) -> Image:
    return vignetted(photo, strength=strength)


if __name__ == "__main__":
    main(render, strength=(0, 10))
