"""Opacity: a fourth channel that filters of colours had better leave alone.

edges = compile(keep_alpha(edgeDetect), kernel=sobel)
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.errors import shown
from pygpu.filters.whole import refusing
from pygpu.glsl import select
from pygpu.image.image import Image
from pygpu.language.vectors import Position, Vec4
from pygpu.runtime import Compiled, compile


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
    return Vec4(select(alpha > 0, colour / alpha, 0 * colour), alpha)
