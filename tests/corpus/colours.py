"""Colour: spaces, tone curves, palettes, blending, as colour scientists and photographers write it."""

import enum
import math
from collections import namedtuple
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec3, Vec4, glsl

program = Corpus()

RGB_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def decoded(c):
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def encoded(c):
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055


class Lab(NamedTuple):
    l: float
    a: float
    b: float

    @classmethod
    def of(cls, rgb):
        xyz = RGB_TO_XYZ @ [decoded(c) for c in rgb] / WHITE

        def f(t):
            return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29

        x, y, z = map(f, xyz)
        return cls(116 * y - 16, 500 * (x - y), 200 * (y - z))

    @property
    def chroma(self):
        return math.hypot(self.a, self.b)

    def to(self, other):
        return math.dist(self, other)


@program
def lab(rgb: Image, p: Position):
    return Lab.of(rgb(p))


@program
def lab_difference(rgb: Image, p: Position):
    return Lab.of(rgb(p)).to(Lab.of(rgb(p + (1, 0))))


@program
def lab_chroma_and_hue(rgb: Image, p: Position):
    c = Lab.of(0.1 + 0.6 * rgb(p))
    return c.chroma, math.degrees(math.atan2(c.b, c.a)) % 360


@program
def oklab(rgb: Image, p: Position):
    r, g, b = (decoded(c) for c in rgb(p))
    lms = [
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    ]
    l, m, s = [np.cbrt(v) for v in lms]
    return (
        float(0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s),
        float(1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s),
        float(0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s),
    )


@program
def ciede_weights(rgb: Image, p: Position):
    one, other = Lab.of(0.2 + 0.5 * rgb(p)), Lab(50.0, 10.0, 20.0)
    mean = (one.chroma + other.chroma) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    return math.sqrt(((1 + g) * one.a) ** 2 + one.b**2)


@program
def hue_with_cases(rgb: Image, p: Position):
    r, g, b = rgb(p)
    high, low = max(r, g, b), min(r, g, b)
    d = high - low
    if d == 0:
        h = 0
    elif high == r:
        h = (g - b) / d % 6
    elif high == g:
        h = (b - r) / d + 2
    else:
        h = (r - g) / d + 4
    return h * 60, 0 if high == 0 else d / high, high


@program
def hsl_by_helper(rgb: Image, p: Position):
    def component(a, b, h):
        h = h % 1
        if h < 1 / 6:
            return a + (b - a) * 6 * h
        if h < 1 / 2:
            return b
        if h < 2 / 3:
            return a + (b - a) * (2 / 3 - h) * 6
        return a

    h, s, l = rgb(p)
    b = l * (1 + s) if l < 0.5 else l + s - l * s
    a = 2 * l - b
    return Vec3(component(a, b, h + 1 / 3), component(a, b, h), component(a, b, h - 1 / 3))


@program
def hwb(rgb: Image, p: Position):
    h, w, b = rgb(p)
    if w + b >= 1:
        grey = w / (w + b)
        return grey, grey, grey
    i, f = divmod(h * 6, 1)
    f = 1 - f if int(i) % 2 else f
    n = w + f * ((1 - b) - w)
    v = 1 - b
    table = [(v, n, w), (n, v, w), (w, v, n), (w, n, v), (n, w, v), (v, w, n)]
    return table[int(i) % 6]


@program
def cmyk(rgb: Image, p: Position):
    try:
        k = 1 - max(rgb(p))
        return tuple((1 - c - k) / (1 - k) for c in rgb(p)) + (k,)
    except ZeroDivisionError:
        return 0.0, 0.0, 0.0, 1.0


@program
def ycbcr_table(rgb: Image, p: Position):
    M = np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]])
    return tuple(M @ rgb(p) + np.array([16, 128, 128]))


@program
def luminance_and_contrast(rgb: Image, p: Position):
    def luminance(c):
        return sum(w * decoded(v) for w, v in zip((0.2126, 0.7152, 0.0722), c))

    a, b = sorted([luminance(rgb(p)), luminance(rgb(p + (0, 1)))], reverse=True)
    return (a + 0.05) / (b + 0.05)


@program
def colour_temperature(rgb: Image, p: Position):
    x, y, z = RGB_TO_XYZ @ (0.2 + 0.5 * rgb(p))
    s = x + y + z
    n = (x / s - 0.3320) / (0.1858 - y / s)
    return (449 * n**3 + 3525 * n**2 + 6823.3 * n + 5520.33) / 1000


@program(within=1e-3)
def blackbody(unit: Image, p: Position):
    t = (1000 + 39000 * unit(p)) / 100
    if t <= 66:
        red = 255
        green = 99.4708025861 * math.log(t) - 161.1195681661
        blue = 0 if t <= 19 else 138.5177312231 * math.log(t - 10) - 305.0447927307
    else:
        red = 329.698727446 * (t - 60) ** -0.1332047592
        green = 288.1221695283 * (t - 60) ** -0.0755148492
        blue = 255
    return tuple(min(max(c, 0), 255) / 255 for c in (red, green, blue))


@program
def cosine_palette(unit: Image, p: Position):
    a, b, c, d = (np.array(v) for v in ((0.5,) * 3, (0.5,) * 3, (1.0, 1, 0.5), (0.8, 0.9, 0.3)))
    return tuple(a + b * np.cos(6.28318 * (c * unit(p) + d)))


@program
def gradient_of_stops(unit: Image, p: Position):
    stops = [(0.0, (0, 0, 0)), (0.25, (0.2, 0.1, 0.5)), (0.6, (0.9, 0.4, 0.1)), (1.0, (1, 1, 0.8))]
    t = unit(p)
    for (t0, c0), (t1, c1) in zip(stops, stops[1:]):
        if t <= t1:
            k = (t - t0) / (t1 - t0)
            return tuple(a + (b - a) * k for a, b in zip(c0, c1))
    return stops[-1][1]


@program
def viridis_like_lookup(unit: Image, p: Position):
    table = np.array([[0.27, 0.0, 0.33], [0.13, 0.57, 0.55], [0.99, 0.91, 0.14]])
    x = unit(p) * (len(table) - 1)
    i = min(int(x), len(table) - 2)
    return tuple(table[i] + (x - i) * (table[i + 1] - table[i]))


@program
def interpolated_channels(unit: Image, p: Position):
    xs = np.linspace(0, 1, 5)
    return tuple(float(np.interp(unit(p), xs, xs**g)) for g in (0.5, 1.0, 2.0))


class Curve(enum.Enum):
    LINEAR = 0
    REINHARD = 1
    FILMIC = 2
    ACES = 3

    def __call__(self, x):
        match self:
            case Curve.LINEAR:
                return x
            case Curve.REINHARD:
                return x / (1 + x)
            case Curve.FILMIC:
                x = max(0, x - 0.004)
                return (x * (6.2 * x + 0.5)) / (x * (6.2 * x + 1.7) + 0.06)
            case Curve.ACES:
                return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)


@program
def tone_curves(rgb: Image, p: Position):
    r, g, b = rgb(p)
    return tuple(curve(2 * (r + g + b)) for curve in Curve)


@program
def tone_curve_by_position(unit: Image, p: Position):
    curve = [Curve.LINEAR, Curve.REINHARD, Curve.ACES][p.x % 3]
    return curve(3 * unit(p))


def soft_light(a, b):
    if b <= 0.5:
        return a - (1 - 2 * b) * a * (1 - a)
    d = ((16 * a - 12) * a + 4) * a if a <= 0.25 else math.sqrt(a)
    return a + (2 * b - 1) * (d - a)


MODES = {
    "multiply": lambda a, b: a * b,
    "screen": lambda a, b: a + b - a * b,
    "overlay": lambda a, b: 2 * a * b if a < 0.5 else 1 - 2 * (1 - a) * (1 - b),
    "dodge": lambda a, b: min(1.0, a / (1 - b)) if b < 1 else 1.0,
    "soft light": soft_light,
}


@program
def blends(rgb: Image, p: Position):
    return tuple(
        sum(mode(a, b) for a, b in zip(rgb(p), rgb(p + (1, 0)))) for mode in MODES.values()
    )


@program
def blend_by_name(rgb: Image, p: Position):
    name = "screen" if p.x % 2 else "multiply"
    return Vec3(*[MODES[name](c, 0.3) for c in rgb(p)])


@dataclass(frozen=True)
class Pixel:
    r: float
    g: float
    b: float
    a: float = 1.0

    def over(self, other):
        a = self.a + other.a * (1 - self.a)
        if a == 0:
            return Pixel(0, 0, 0, 0)

        def mixed(s, o):
            return (s * self.a + o * other.a * (1 - self.a)) / a

        return Pixel(mixed(self.r, other.r), mixed(self.g, other.g), mixed(self.b, other.b), a)

    def __iter__(self):
        yield self.r
        yield self.g
        yield self.b
        yield self.a


@program
def composited(rgba: Image, p: Position):
    return tuple(Pixel(*rgba(p)).over(Pixel(*rgba(p + (1, 0)))))


@program
def composited_with_half_the_alpha(rgba: Image, p: Position):
    pixel = Pixel(*rgba(p))
    r, g, b, a = replace(pixel, a=pixel.a / 2).over(Pixel(1.0, 0.5, 0.25))
    return Vec4(r, g, b, a)


@program
def posterised(rgb: Image, p: Position):
    levels = 4
    return tuple(round(c * (levels - 1)) / (levels - 1) for c in rgb(p) + 0.01)


@program
def sepia(rgb: Image, p: Position):
    weights = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
    return tuple(min(sum(w * c for w, c in zip(row, rgb(p))), 1.0) for row in weights)


@program
def vibrance(rgb: Image, p: Position):
    v = rgb(p)
    average = sum(v) / 3
    amount = (max(v) - average) * -3 * 0.7
    return glsl.mix(v, Vec3(max(v)), amount)


@program
def levels_with_gamma(unit: Image, p: Position):
    Levels = namedtuple("Levels", "black white gamma", defaults=(1.0,))
    levels = Levels(0.1, 0.9, gamma=2.2)
    x = (unit(p) - levels.black) / (levels.white - levels.black)
    return min(max(x, 0.0), 1.0) ** (1 / levels.gamma)


@program
def white_balance_by_bradford(rgb: Image, p: Position):
    B = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    source, target = B @ WHITE, B @ np.array([1.09850, 1.0, 0.35585])
    M = np.linalg.inv(B) @ np.diag(target / source) @ B
    return tuple(M @ rgb(p))


@program
def nearest_of_a_palette(rgb: Image, p: Position):
    palette = [(0, 0, 0), (1, 1, 1), (0.8, 0.2, 0.2), (0.2, 0.7, 0.3), (0.2, 0.3, 0.8)]
    return min(palette, key=lambda c: sum((a - b) ** 2 for a, b in zip(c, rgb(p))))


@program
def wavelength(unit: Image, p: Position):
    w = 380 + 400 * unit(p)
    match w:
        case _ if w < 440:
            r, g, b = (440 - w) / 60, 0.0, 1.0
        case _ if w < 490:
            r, g, b = 0.0, (w - 440) / 50, 1.0
        case _ if w < 580:
            r, g, b = (w - 490) / 70, 1.0, 0.0
        case _:
            r, g, b = 1.0, max(0.0, (645 - w) / 65), 0.0
    return r, g, b
