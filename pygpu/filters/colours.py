"""Conversions of colours, as in `skimage.color`: D65, two degrees.

All take a colour of three numbers and give one (`rgb2gray` gives a number, `gray2rgb` takes one).
Given an image they convert each of its texels.

    lightness = rgb2lab(im(p)).x            # in a function
    lab = rgb2lab(photo)                    # an image of three channels
"""

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu import glsl
from pygpu.execution.arguments.convert import is_picture
from pygpu.image.image import Image
from pygpu.language.vectors import Position, Vec3, Vector
from pygpu.runtime import compile

LUMA: Final = np.array([0.2125, 0.7154, 0.0721])
XYZ_OF_RGB: Final = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
RGB_OF_XYZ: Final = np.linalg.inv(XYZ_OF_RGB)
WHITE: Final = np.array([0.95047, 1.0, 1.08883])


def of_colours(*channels: int) -> Callable[[Callable[[Any], Any]], Callable[..., Any]]:
    """Make a function of a colour one of images of so many channels, too, with the keywords of any
    call."""

    def extend(function: Callable[[Any], Any]) -> Callable[..., Any]:
        name = function.__name__

        def of_image(im: Image, p: Position) -> Any:
            if im.channels not in channels:
                raise ValueError(refusal(name, channels, im.channels))
            return function(im(p))

        of_image.__name__ = of_image.__qualname__ = name
        compiled = compile(of_image)

        @functools.wraps(function)
        def either(colour: Any, **keywords: Any) -> Any:
            image = is_picture(colour) and not isinstance(colour, Vector)
            if image and getattr(colour, "ndim", 2) > 1:
                return compiled(colour, **keywords)
            if keywords:
                raise TypeError(f"{name} takes {', '.join(keywords)} with an image, got {colour!r}")
            return function(colour)

        return either

    return extend


def refusal(name: str, channels: tuple[int, ...], got: int) -> str:
    """What is said of an image of other channels."""
    most = "1 channel" if channels == (1,) else f"{' or '.join(map(str, channels))} channels"
    help = ": leave alpha out, as im(p).rgb does" if got == 4 else ""
    return f"{name} takes an image of {most}, got {got}{help}"


@of_colours(3)
def rgb2gray(rgb: Any) -> Any:
    """The luminance 0.2125 r + 0.7154 g + 0.0721 b."""
    r, g, b = rgb
    return LUMA[0] * r + LUMA[1] * g + LUMA[2] * b


@of_colours(1)
def gray2rgb(gray: Any) -> Any:
    """Three times the same."""
    return Vec3(gray, gray, gray)


@of_colours(3)
def rgb2hsv(rgb: Any) -> Any:
    """Hue, saturation and value, all in [0, 1]; the hue of grey is 0."""
    r, g, b = rgb
    value = max(r, g, b)
    delta = value - min(r, g, b)
    if delta == 0:
        hue = 0.0
    elif value == r:
        hue = (g - b) / delta
    elif value == g:
        hue = 2 + (b - r) / delta
    else:
        hue = 4 + (r - g) / delta
    return Vec3((hue / 6) % 1, 0.0 if delta == 0 else delta / value, value)


@of_colours(3)
def hsv2rgb(hsv: Any) -> Any:
    """The colour of a hue, a saturation and a value."""
    hue, saturation, value = hsv

    def channel(n: int) -> Any:
        k = (n + 6 * hue) % 6
        return value - value * saturation * max(0.0, min(k, 4 - k, 1.0))

    return Vec3(channel(5), channel(3), channel(1))


@of_colours(1, 3)
def srgb_to_linear(v: Any) -> Any:
    """Light from what sRGB stores, of a colour or a number (IEC 61966-2-1)."""
    return glsl.select(v <= 0.04045, v / 12.92, glsl.pow((glsl.max(v, 0.0) + 0.055) / 1.055, 2.4))


@of_colours(1, 3)
def linear_to_srgb(v: Any) -> Any:
    """What sRGB stores of light, of a colour or a number."""
    power = glsl.pow(glsl.max(v, 0.0), 1 / 2.4)
    return glsl.select(v <= 0.0031308, 12.92 * v, 1.055 * power - 0.055)


@of_colours(3)
def rgb2xyz(rgb: Any) -> Any:
    """CIE XYZ of sRGB."""
    return XYZ_OF_RGB @ srgb_to_linear(Vec3(*rgb))


@of_colours(3)
def xyz2rgb(xyz: Any) -> Any:
    """sRGB of CIE XYZ, in [0, 1]."""
    return glsl.clamp(linear_to_srgb(RGB_OF_XYZ @ Vec3(*xyz)), 0.0, 1.0)


@of_colours(3)
def rgb2lab(rgb: Any) -> Any:
    """CIE L*a*b* of sRGB; L* is in [0, 100]."""

    def f(t: Any) -> Any:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    x, y, z = map(f, rgb2xyz(rgb) / WHITE)
    return Vec3(116 * y - 16, 500 * (x - y), 200 * (y - z))


@of_colours(3)
def lab2rgb(lab: Any) -> Any:
    """sRGB of CIE L*a*b*, in [0, 1]."""

    def g(t: Any) -> Any:
        return t**3 if t > 0.2068966 else (t - 16 / 116) / 7.787

    lightness, a, b = lab
    y = (lightness + 16) / 116
    return xyz2rgb(WHITE * Vec3(g(y + a / 500), g(y), g(max(0.0, y - b / 200))))
