"""Conversions of colours, as in `skimage.color`: D65, two degrees.

All take a colour of three numbers and give one (`rgb2gray` gives a number, `gray2rgb` takes one).
Given an image they convert each of its texels.

    lightness = rgb2lab(im(p)).x            # in a function
    lab = rgb2lab(photo)                    # an image of three channels
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu import glsl
from pygpu.core.errors import guarded, shown
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.filters.whole import refusing
from pygpu.image.image import Image
from pygpu.language.elementwise import check
from pygpu.language.scalars import number
from pygpu.language.vectors import Position, Vec3, Vector
from pygpu.runtime import compile

__all__ = [
    "gray2rgb", "hed2rgb", "hsv2rgb", "lab2lch", "lab2rgb", "lab2xyz", "lch2lab",
    "linear_to_srgb", "luv2rgb", "rgb2gray", "rgb2hed", "rgb2hsv", "rgb2lab", "rgb2luv",
    "rgb2xyz", "rgb2ycbcr", "rgb2yiq", "rgb2ypbpr", "rgb2yuv", "srgb_to_linear", "xyz2lab",
    "xyz2rgb", "ycbcr2rgb", "yiq2rgb", "ypbpr2rgb", "yuv2rgb",
]  # fmt: skip

LUMA: Final = np.array([0.2125, 0.7154, 0.0721])
XYZ_OF_RGB: Final = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
RGB_OF_XYZ: Final = np.linalg.inv(XYZ_OF_RGB)
WHITE: Final = np.array([0.95047, 1.0, 1.08883])
WHITE_UV: Final = np.array([4 * WHITE[0], 9 * WHITE[1]]) / (WHITE @ [1, 15, 3])
EPSILON: Final = float(np.finfo(np.float64).eps)
YUV_OF_RGB: Final = np.array(
    [
        [0.299, 0.587, 0.114],
        [-0.14714119, -0.28886916, 0.43601035],
        [0.61497538, -0.51496512, -0.10001026],
    ]
)
YIQ_OF_RGB: Final = np.array(
    [
        [0.299, 0.587, 0.114],
        [0.59590059, -0.27455667, -0.32134392],
        [0.21153661, -0.52273617, 0.31119955],
    ]
)
YPBPR_OF_RGB: Final = np.array(
    [[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]]
)
YCBCR_OF_RGB: Final = np.array(
    [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]
)
RGB_OF_HED: Final = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]])


def of_colours(
    *channels: int, beyond: bool = False
) -> Callable[[Callable[[Any], Any]], Callable[..., Any]]:
    """Make a function of a colour one of images, too, with the keywords of any call. Colours that
    lie `beyond` [0, 1], before or after, are in no PIL image: it would cut them off."""

    def extend(function: Callable[[Any], Any]) -> Callable[..., Any]:
        name = function.__name__

        def of_image(im: Image, p: Position) -> Any:
            if im.channels not in channels:
                raise ValueError(refusal(name, channels, im.channels))
            return function(im(p))

        of_image.__name__, of_image.__qualname__ = name, f"{name}.__pygpu_images__"
        compiled = compile(of_image)
        of_colour = guarded(function, functools.partial(_check_colour, channels))

        @refusing
        @functools.wraps(function)
        def either(colour: Any, **keywords: Any) -> Any:
            image = is_picture(colour) and not isinstance(colour, Vector)
            if beyond and is_pil(colour) and keywords.get("out") is None:
                raise TypeError(
                    f"{name}: a PIL image holds no colours beyond [0, 1]: give np.asarray(picture)"
                )
            if image and getattr(colour, "ndim", 2) > 1:
                return compiled(colour, **keywords)
            if keywords:
                raise TypeError(
                    f"{name} takes {', '.join(keywords)} with an image, got {shown(colour)}"
                )
            return of_colour(colour)

        either.__pygpu_images__ = compiled  # type: ignore[attr-defined]  # under its __qualname__
        either.map = compiled.map  # type: ignore[attr-defined]
        return either

    return extend


def _check_colour(channels: tuple[int, ...], name: str, arguments: tuple[Any, ...]) -> None:
    """TypeError for what is neither an image nor a colour."""
    for colour in arguments:
        is_vector = isinstance(colour, (Vector, list, tuple, np.ndarray)) and np.ndim(colour) > 0
        if (len(colour) if is_vector else 1) not in channels or not (
            is_vector or number(colour) is not None
        ):
            taken = "a number" if channels == (1,) else f"a colour of {channels[0]} numbers"
            raise TypeError(f"{name} takes an image or {taken}, got {shown(colour)}")
    check(name, arguments)


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
    """A grey colour: the number in each of three channels."""
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
        return value - value * saturation * max(min(k, 4 - k, 1.0), 0.0)

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


@of_colours(3, beyond=True)
def rgb2lab(rgb: Any) -> Any:
    """CIE L*a*b* of sRGB; L* is in [0, 100]."""
    return xyz2lab(rgb2xyz(rgb))


@of_colours(3, beyond=True)
def lab2rgb(lab: Any) -> Any:
    """sRGB of CIE L*a*b*, in [0, 1]."""
    return xyz2rgb(lab2xyz(lab))


def _cube_root(t: Any) -> Any:
    return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116


def _cube(t: Any) -> Any:
    return t**3 if t > 0.2068966 else (t - 16 / 116) / 7.787


@of_colours(3, beyond=True)
def xyz2lab(xyz: Any) -> Any:
    """CIE L*a*b* of XYZ."""
    x, y, z = map(_cube_root, Vec3(*xyz) / WHITE)
    return Vec3(116 * y - 16, 500 * (x - y), 200 * (y - z))


@of_colours(3, beyond=True)
def lab2xyz(lab: Any) -> Any:
    """CIE XYZ of L*a*b*."""
    lightness, a, b = lab
    y = (lightness + 16) / 116
    return WHITE * Vec3(_cube(y + a / 500), _cube(y), _cube(max(y - b / 200, 0.0)))


@of_colours(3, beyond=True)
def lab2lch(lab: Any) -> Any:
    """L*a*b* by lightness, chroma and hue, an angle from 0 to 2 pi."""
    lightness, a, b = lab
    hue = math.atan2(b, a)
    return Vec3(lightness, math.hypot(a, b), hue + 2 * math.pi if hue < 0 else hue)


@of_colours(3, beyond=True)
def lch2lab(lch: Any) -> Any:
    """L*a*b* of lightness, chroma and hue."""
    lightness, chroma, hue = lch
    return Vec3(lightness, chroma * math.cos(hue), chroma * math.sin(hue))


@of_colours(3, beyond=True)
def rgb2luv(rgb: Any) -> Any:
    """CIE L*u*v* of sRGB; L* is in [0, 100]."""
    x, y, z = rgb2xyz(rgb)
    lightness = 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
    total = x + 15 * y + 3 * z + EPSILON
    u, v = 4 * x / total - WHITE_UV[0], 9 * y / total - WHITE_UV[1]
    return Vec3(lightness, 13 * lightness * u, 13 * lightness * v)


@of_colours(3, beyond=True)
def luv2rgb(luv: Any) -> Any:
    """sRGB of CIE L*u*v*, in [0, 1]."""
    lightness, u, v = luv
    y = ((lightness + 16) / 116) ** 3 if lightness > 7.999625 else lightness / 903.3
    scale = 13 * lightness + EPSILON
    a, b = WHITE_UV[0] + u / scale, WHITE_UV[1] + v / scale
    x = 9 * y * a / (4 * b)
    return xyz2rgb(Vec3(x, y, (12 - 3 * a - 20 * b) * y / (4 * b)))


def _linear_space(name: str, matrix: Any, offset: Any, what: str) -> tuple[Any, Any]:
    """The conversions to and from a space that is a matrix times sRGB, and an offset."""
    back = np.linalg.inv(matrix)

    def to(rgb: Any) -> Any:
        return matrix @ Vec3(*rgb) + offset

    def of(colour: Any) -> Any:
        return back @ (Vec3(*colour) - offset)

    to.__name__ = to.__qualname__ = f"rgb2{name}"
    of.__name__ = of.__qualname__ = f"{name}2rgb"
    to.__doc__, of.__doc__ = f"{what} of RGB.", f"RGB of {what}."
    both = of_colours(3, beyond=True)
    return both(to), both(of)


rgb2yuv, yuv2rgb = _linear_space("yuv", YUV_OF_RGB, np.zeros(3), "Y'UV (PAL)")
rgb2yiq, yiq2rgb = _linear_space("yiq", YIQ_OF_RGB, np.zeros(3), "Y'IQ (NTSC)")
rgb2ypbpr, ypbpr2rgb = _linear_space("ypbpr", YPBPR_OF_RGB, np.zeros(3), "Y'PbPr")
rgb2ycbcr, ycbcr2rgb = _linear_space(
    "ycbcr", YCBCR_OF_RGB, np.array([16.0, 128.0, 128.0]), "Y'CbCr, in the range of bytes,"
)


@of_colours(3)
def rgb2hed(rgb: Any) -> Any:
    """How much of the stains haematoxylin, eosin and DAB a colour shows.

    Reference: A. Ruifrok and D. Johnston, *Quantification of histochemical staining by color
    deconvolution*, 2001.
    """
    shown = glsl.log(glsl.max(Vec3(*rgb), 1e-6)) / math.log(1e-6)
    return glsl.max(np.linalg.inv(RGB_OF_HED).T @ shown, 0.0)


@of_colours(3)
def hed2rgb(hed: Any) -> Any:
    """The colour that so much of haematoxylin, eosin and DAB shows, in [0, 1]."""
    return glsl.clamp(glsl.exp(RGB_OF_HED.T @ Vec3(*hed) * math.log(1e-6)), 0.0, 1.0)
