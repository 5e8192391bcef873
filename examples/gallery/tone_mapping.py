"""
Tone mapping
============

A scene of high contrast on paper that cannot show it. The photograph is taken for linear light
with highlights far above white; the log-average luminance, a reduction, sets the exposure, and a
curve brings everything below 1.

Reference: E. Reinhard and others, *Photographic tone reproduction for digital images*, 2002; for
`aces` K. Narkowicz's fit of the Academy's curve, 2015.
"""

import math
from typing import Literal

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, glsl

GREY = Vec3(0.2126, 0.7152, 0.0722)


@pygpu.compile
def scene(im: Image, p: Position, contrast: float):
    """Linear light from a photograph: bright places become brighter than white."""
    v = im(p)
    return glsl.pow(v, Vec3(2.2)) * (1 + contrast * glsl.pow(v, Vec3(6.0)))


@pygpu.compile
def log_luminance(light: Image, p: Position):
    return math.log(1e-4 + dot(GREY, light(p)))


@pygpu.compile
def reinhard(light: Image, p: Position, exposure: float, white: float = 6.0):
    v = exposure * light(p)
    luminance = dot(GREY, v)
    mapped = luminance * (1 + luminance / white**2) / (1 + luminance)
    return glsl.pow(v * (mapped / max(luminance, 1e-6)), Vec3(1 / 2.2))


@pygpu.compile
def aces(light: Image, p: Position, exposure: float):
    v = exposure * light(p)
    mapped = v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)
    return glsl.pow(glsl.clamp(mapped, 0.0, 1.0), Vec3(1 / 2.2))


def render(
    photo: Image, *, curve: Literal["reinhard", "aces"] = "reinhard", key=0.18, contrast=8.0
) -> Image:
    light = scene(photo, contrast=contrast)
    exposure = key / np.exp(log_luminance(light).mean())
    return globals()[curve](light, exposure=exposure)


if __name__ == "__main__":
    main(render, key=(0.01, 10), contrast=(0, 1000))
