"""Blend modes: what a layer and the one below it make, in [0, 1], by the W3C's *Compositing and
Blending Level 1*. `a` is below, `b` above; both are numbers or vectors of the same length.

    multiply(a(p), b(p))
    blend(below, above, mode="screen", opacity=0.5)
"""

from typing import Any, Final

from pygpu import glsl
from pygpu.core.errors import shown
from pygpu.image.image import Image
from pygpu.language.vectors import Position
from pygpu.runtime import compile

TINY: Final = 1e-30  # in place of a zero to divide by


def normal(a: Any, b: Any) -> Any:
    """b alone."""
    return b


def multiply(a: Any, b: Any) -> Any:
    """a * b: darker."""
    return a * b


def screen(a: Any, b: Any) -> Any:
    """1 - (1 - a) (1 - b): brighter."""
    return a + b - a * b


def overlay(a: Any, b: Any) -> Any:
    """`hard_light` with the layers exchanged."""
    return hard_light(b, a)


def darken(a: Any, b: Any) -> Any:
    """The darker of both, in each channel."""
    return glsl.min(a, b)


def lighten(a: Any, b: Any) -> Any:
    """The brighter of both, in each channel."""
    return glsl.max(a, b)


def color_dodge(a: Any, b: Any) -> Any:
    """a / (1 - b), at most 1; 0 where a is."""
    return glsl.select(a <= 0, 0.0 * a, glsl.min(a / glsl.max(1 - b, TINY), 1.0))


def color_burn(a: Any, b: Any) -> Any:
    """1 - (1 - a) / b, at least 0; 1 where a is."""
    return glsl.select(a >= 1, 0.0 * a + 1, 1 - glsl.min((1 - a) / glsl.max(b, TINY), 1.0))


def hard_light(a: Any, b: Any) -> Any:
    """`multiply` or `screen` with 2 b, as b is dark or bright."""
    return glsl.select(b <= 0.5, 2 * a * b, screen(a, 2 * b - 1))


def soft_light(a: Any, b: Any) -> Any:
    """As `hard_light`, softly."""
    d = glsl.select(a <= 0.25, ((16 * a - 12) * a + 4) * a, glsl.sqrt(a))
    return glsl.select(b <= 0.5, a - (1 - 2 * b) * a * (1 - a), a + (2 * b - 1) * (d - a))


def difference(a: Any, b: Any) -> Any:
    """|a - b|"""
    return glsl.abs(a - b)


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
    if mode not in BLENDS:
        raise ValueError(f"blend: mode takes {', '.join(BLENDS)}, or a function, got {shown(mode)}")
    return BLENDS[mode]
