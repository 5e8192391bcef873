"""Functions written as on Shadertoy: of a place with y up, the time, the resolution, the mouse.

@pygpu.shadertoy
def circles(fragCoord, iTime, iResolution):
    uv = (2 * fragCoord - iResolution.xy) / iResolution.y
    return Vec3(pygpu.fract(4 * pygpu.length(uv) - iTime))

circles(1.5, shape=(360, 640))                      # a picture at 1.5 seconds
pygpu.animate(circles, 48, "circles.gif", shape=(180, 320))
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pygpu.core.errors import guarded, shortened, shown
from pygpu.core.host.later import later
from pygpu.execution.programs.calls import checked_shape
from pygpu.image.image import Image
from pygpu.language.scalars import Float, Int
from pygpu.language.vectors import Position, Vec2, Vec3, Vec4
from pygpu.runtime import compile

with later():
    from pygpu.execution.web import export, pages

GIVEN: Final = ("iTime", "iResolution", "iMouse", "iFrame")
CHANNELS: Final = ("iChannel0", "iChannel1", "iChannel2", "iChannel3")
SIZE: Final = (360, 640)  # of pictures, where none is asked for


def _pixel(
    what: Any, p: Position, time: Float, resolution: Vec3, mouse: Vec4, frame: Int, *channels: Image
) -> Any:
    """What is compiled: the pixel at p, by a function that counts from the bottom."""
    main, names = what
    values = {"iTime": time, "iResolution": resolution, "iMouse": mouse, "iFrame": frame}
    values.update(zip(CHANNELS, channels, strict=False))
    place = Vec2(p.x + 0.5, resolution.y - p.y - 0.5)
    colour = main(place, **{name: values[name] for name in names})
    return colour.xyz if isinstance(colour, Vec4) else colour


class Shadertoy:
    """A function as on Shadertoy, made by `shadertoy`. A call gives its picture."""

    __wrapped__: Callable[..., Any]
    __name__: str
    counts_frames: Final = True  # who makes one picture after the other gives their number

    def __init__(self, main: Callable[..., Any], target: str = "auto") -> None:
        functools.update_wrapper(self, main)
        place, *names = inspect.signature(main).parameters or [None]
        if place is None:
            raise TypeError(f"{main.__name__}: takes the place of a pixel as its first parameter")
        for name in names:
            if name not in (*GIVEN, *CHANNELS):
                raise TypeError(
                    f"{main.__name__}: {name!r} is none of {', '.join((*GIVEN, *CHANNELS))}, which "
                    f"follow {place!r}"
                )
        self.channels = tuple(name for name in CHANNELS if name in names)
        if self.channels != CHANNELS[: len(self.channels)]:
            raise TypeError(f"{main.__name__}: channels are taken from {CHANNELS[0]} on")
        self.compiled = compile(_pixel, target=target, what=(main, tuple(names)))

    def __call__(
        self,
        time: float = 0.0,
        *,
        shape: tuple[int, int] = SIZE,
        mouse: Any = (0.0, 0.0, 0.0, 0.0),
        frame: int = 0,
        dtype: Any = None,
        **channels: Any,
    ) -> Any:
        """The picture (H, W) at a time in seconds: a `pygpu.Image`, floats from 0 to 1. `mouse` is
        in pixels from the bottom left, as iMouse, `frame` is iFrame; pictures are `iChannel0` to
        `iChannel3`."""
        height, width = checked_shape(shape)
        arguments = (time, (width, height, 1.0), mouse, frame, *self._pictures(channels))
        return self.compiled(*arguments, shape=shape, dtype=dtype)

    def _pictures(self, channels: Mapping[str, Any]) -> list[Image]:
        if set(channels) != set(self.channels):
            raise TypeError(
                f"{self.__name__}: takes the pictures {', '.join(self.channels) or 'none'}, "
                f"got {', '.join(channels) or 'none'}"
            )
        given = [channels[name] for name in self.channels]
        return [each if isinstance(each, Image) else Image(each) for each in given]

    def export(
        self, path: str | os.PathLike[str], *, shape: tuple[int, int] = SIZE, **channels: Any
    ) -> Path:
        """A page that runs it in the browser, with a clock: see `Compiled.export`."""
        with shortened:
            return export.written(self.page(shape, self.arguments(shape, channels)), path)

    def page(
        self, shape: tuple[int, int], arguments: tuple[Any, ...], controls: Any = None
    ) -> pages.Page:
        """That page: of the user's function, not of what is compiled for it."""
        main = self.__wrapped__
        mouse = "iMouse" if "iMouse" in inspect.signature(main).parameters else False
        wishes = {"resolution": False, "frame": "frame", "mouse": mouse} | dict(controls or {})
        asked: dict[str, Any] = {"controls": wishes, "iterate": None, "shape": shape}
        page = export.page_of(self.compiled, arguments, {}, **asked)
        page.name, page.story = self.__name__, export.story(main)
        page.python = export.source(main)
        return page

    def arguments(self, shape: tuple[int, int], channels: Mapping[str, Any]) -> tuple[Any, ...]:
        """What `compiled` is given for the first frame, at time 0."""
        height, width = checked_shape(shape)
        return (0.0, (width, height, 1.0), (0.0,) * 4, 0, *self._pictures(channels))

    def on(self, target: str) -> Shadertoy:
        """The same function, for another target."""
        return Shadertoy(self.__wrapped__, target)

    def __repr__(self) -> str:
        return f"<shadertoy {self.__name__}>"


@guarded
def shadertoy(function: Callable[..., Any]) -> Shadertoy:
    """Make a picture of time of a function written as on Shadertoy.

    Its first parameter is the place of the pixel's centre, in pixels from the bottom left (Vec2);
    of `iTime` (seconds), `iResolution` (Vec3: width, height, 1), `iMouse` (Vec4), `iFrame` and
    `iChannel0` to `iChannel3` (images) it takes those that it names. It returns a colour, of which
    alpha is left out. TypeError for parameters of other names.
    """
    if not callable(function):
        raise TypeError(f"shadertoy: takes a function, got {shown(function)}")
    return Shadertoy(function)
