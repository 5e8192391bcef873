"""
Posterise
=========

A few tones for each colour. The steps are softened by a width that is a number of the call: at 0
they are hard.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, floor, fract, smoothstep


@pygpu.compile
def posterised(im: Image, p: Position, levels: float, soft: float):
    v = im(p) * (levels - 1)
    return (floor(v) + smoothstep(0.5 - soft, 0.5 + soft, fract(v))) / (levels - 1)


def render(photo: Image, *, levels=4, soft=0.05) -> Image:
    return posterised(photo, levels=levels, soft=max(soft, 1e-6))


if __name__ == "__main__":
    main(render, levels=(2, 256), soft=(0, 0.5))
