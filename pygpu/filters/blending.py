"""Layers over each other: blend modes, and opacity, a fourth channel that filters of colours had
better leave alone.

    multiply(a(p), b(p))
    blend(below, above, mode="screen", opacity=0.5)
    edges = compile(keep_alpha(edgeDetect), kernel=sobel)

A mode says what a layer and the one below it make, in [0, 1], by the W3C's *Compositing and
Blending Level 1*. `a` is below, `b` above; both are numbers or vectors of the same length.
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from pygpu import glsl
from pygpu.core.errors import guarded, is_among, shown
from pygpu.filters.whole import refusing
from pygpu.image.image import Image
from pygpu.language.elementwise import check
from pygpu.language.vectors import Position, Vec4
from pygpu.runtime import Compiled, compile

__all__ = [
    "BLENDS", "blend", "color_burn", "color_dodge", "darken", "difference", "exclusion",
    "hard_light", "keep_alpha", "lighten", "multiply", "normal", "over", "overlay", "screen",
    "soft_light",
]  # fmt: skip

TINY: Final = 1e-30  # in place of a zero to divide by
_of_layers = functools.partial(guarded, check=check)


@_of_layers
def normal(a: Any, b: Any) -> Any:
    """b alone."""
    return b


@_of_layers
def multiply(a: Any, b: Any) -> Any:
    """a * b: darker."""
    return a * b


@_of_layers
def screen(a: Any, b: Any) -> Any:
    """1 - (1 - a) (1 - b): brighter."""
    return a + b - a * b


@_of_layers
def overlay(a: Any, b: Any) -> Any:
    """`hard_light` with the layers exchanged."""
    return hard_light(b, a)


@_of_layers
def darken(a: Any, b: Any) -> Any:
    """The darker of both, in each channel."""
    return glsl.min(a, b)


@_of_layers
def lighten(a: Any, b: Any) -> Any:
    """The brighter of both, in each channel."""
    return glsl.max(a, b)


@_of_layers
def color_dodge(a: Any, b: Any) -> Any:
    """a / (1 - b), at most 1; 0 where a is."""
    return glsl.select(a <= 0, 0.0 * a, glsl.min(a / glsl.max(1 - b, TINY), 1.0))


@_of_layers
def color_burn(a: Any, b: Any) -> Any:
    """1 - (1 - a) / b, at least 0; 1 where a is."""
    return glsl.select(a >= 1, 0.0 * a + 1, 1 - glsl.min((1 - a) / glsl.max(b, TINY), 1.0))


@_of_layers
def hard_light(a: Any, b: Any) -> Any:
    """`multiply` or `screen` with 2 b, as b is dark or bright."""
    return glsl.select(b <= 0.5, 2 * a * b, screen(a, 2 * b - 1))


@_of_layers
def soft_light(a: Any, b: Any) -> Any:
    """Darker or brighter, as b is below or above a half, more gently than `hard_light`."""
    d = glsl.select(a <= 0.25, ((16 * a - 12) * a + 4) * a, glsl.sqrt(a))
    return glsl.select(b <= 0.5, a - (1 - 2 * b) * a * (1 - a), a + (2 * b - 1) * (d - a))


@_of_layers
def difference(a: Any, b: Any) -> Any:
    """|a - b|"""
    return glsl.abs(a - b)


@_of_layers
def exclusion(a: Any, b: Any) -> Any:
    """a + b - 2 a b: a softer difference."""
    return a + b - 2 * a * b


BLENDS: Final = {
    f.__name__: f
    for f in (
        normal,
        multiply,
        screen,
        overlay,
        darken,
        lighten,
        color_dodge,
        color_burn,
        hard_light,
        soft_light,
        difference,
        exclusion,
    )
}


@compile
def blend(
    below: Image, above: Image, p: Position, opacity: float = 1.0, mode: Any = "normal"
) -> Any:
    """Two images of the same channels, by the name of a mode or any function of two colours."""
    a, b = below(p), above(p)
    function = mode_of(mode)
    return a + opacity * (function(a, b) - a)


def mode_of(mode: Any) -> Any:
    """The function of a mode's name, or of itself. ValueError where there is none of that name."""
    if callable(mode):
        return mode
    if not is_among(mode, BLENDS):
        raise ValueError(f"blend: mode takes {', '.join(BLENDS)}, or a function, got {shown(mode)}")
    return BLENDS[mode]


# ---------------------------------------------------------------- opacity


class Colours:
    """An image of four channels seen without the fourth."""

    def __init__(self, image: Any) -> None:
        self.image = image

    def __call__(self, *position: Any) -> Any:
        return self.image(*position).rgb

    def sampled(self, **how: Any) -> Any:
        return Colours(self.image.sampled(**how))

    @property
    def width(self) -> Any:
        return self.image.width

    @property
    def height(self) -> Any:
        return self.image.height

    @property
    def shape(self) -> Any:
        return (self.image.height, self.image.width, 3)

    @property
    def channels(self) -> int:
        return 3


@refusing
def keep_alpha(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the colours of images with alpha, that gives back the alpha of the first.

    `function` is one of images and a position, as `compile` takes; images without alpha are given
    to it as they are. The result is such a function, too.
    """
    if not callable(function):
        raise TypeError(
            f"keep_alpha takes a function of images and a position, got {shown(function)}"
        )
    plain = function.__wrapped__ if isinstance(function, Compiled) else function

    @functools.wraps(plain)
    def kept(*args: Any, **keywords: Any) -> Any:
        values = [*args, *keywords.values()]
        images = [v for v in values if isinstance(v, Image) and v.channels == 4]
        if not images:
            return plain(*args, **keywords)
        position = next(v for v in values if isinstance(v, Position))
        given = [_colours(v) for v in args]
        named = {name: _colours(v) for name, v in keywords.items()}
        return Vec4(plain(*given, **named), images[0](position).a)

    return kept


def _colours(value: Any) -> Any:
    return Colours(value) if isinstance(value, Image) and value.channels == 4 else value


_NO_COLOUR: Final = (
    "takes an image, not a colour: mix(below, above.rgb, above.a) puts one colour over another"
)


@compile
def over(below: Image, above: Image, p: Position) -> Any:
    """One image with alpha over another, with or without (Porter and Duff, 1984). Colours are not
    premultiplied; the result has alpha if the lower image has."""
    for name, layer in (("below", below), ("above", above)):
        if not hasattr(layer, "channels"):
            raise TypeError(f"over: {name} {_NO_COLOUR}")
    if above.channels != 4:
        raise ValueError(f"over: above takes an image of four channels, got {above.channels}")
    a, b = above(p), below(p)
    if below.channels != 4:
        return b + a.a * (a.rgb - b)
    alpha = a.a + b.a * (1 - a.a)
    colour = a.a * a.rgb + (1 - a.a) * b.a * b.rgb
    return Vec4(glsl.select(alpha > 0, colour / alpha, 0 * colour), alpha)
