"""`Scene`: what is shown of a function: its pictures for what controls stand at, and its page.

    scene = scene_of(Request(edges, (photo,), {"gain": 2.0}))
    scene.controls                          # [Control("gain", ...)]
    scene.frame({"gain": [3.0]})            # (H, W, 4) of uint8
    scene.page().html()                     # runs by itself; a DeviceError where a browser cannot

Images may come one by one (a camera, a video): each picture takes the next.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import DeviceError, shown
from pygpu.core.host.records import record
from pygpu.drawing import shadertoy
from pygpu.drawing.shadertoy import Shadertoy
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.arguments.uniforms import convert
from pygpu.execution.bound import BoundMethod
from pygpu.execution.pipeline import Pipeline
from pygpu.execution.web.controls import Control, check_names, guess, unasked, unasked_of_plain
from pygpu.execution.web.export import page_of, source, story
from pygpu.execution.web.pages import Page
from pygpu.execution.web.recorded import recorded_page
from pygpu.image.image import Image
from pygpu.runtime import Compiled, compile
from pygpu.types import FLOAT, INT, vector

NUMBERS: Final = {float: FLOAT, int: INT}


@record
class Request:
    """What `show` was asked."""

    function: Any
    images: tuple[Any, ...]
    arguments: Mapping[str, Any]
    controls: Mapping[str, Any] | None = None
    shape: tuple[int, int] | None = None
    iterate: int | None = None


@record(eq=False, frozen=False)
class Scene:
    """See the module's head. `call` makes the results of numbers by name, `page` the page."""

    name: str
    story: str
    python: str
    controls: list[Control]
    call: Callable[[dict[str, Any]], Any]
    page: Callable[[], Page]
    moves: bool = False  # whether a picture differs from the last though no control has moved
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def frame(self, values: Mapping[str, list[float]] | None = None) -> NDArray[np.uint8]:
        """The picture (H, W, 4) with controls at these numbers, by name; the others as they were
        at the beginning. What lies outside 0 to 1 is cut off."""
        at = values or {}
        now = {each.name: each.number(at.get(each.name, each.value)) for each in self.controls}
        with self._lock:  # a page asks from several threads
            return _bytes_of(self.call(now), self.name)


def scene_of(request: Request) -> Scene:
    """What is shown for a request. TypeError for what is no function of images."""
    function = request.function
    if isinstance(function, Shadertoy):
        return _of_shadertoy(function, request)
    if isinstance(function, Compiled | BoundMethod):
        return _of_compiled(function, request)
    if not callable(function):
        raise TypeError(f"show: takes a function, got {shown(function)}")
    if _has_position(function):
        return _of_compiled(_compiled(function, request), request)
    return _of_plain(function, request)


def _has_position(function: Any) -> bool:
    """Whether a plain function is of a position: to be compiled."""
    try:
        return Signature.of(function, {}).position is not None
    except (TypeError, ValueError):
        return False


def _compiled(function: Any, request: Request) -> Any:
    """A plain function, with the arguments that are known when it is compiled."""
    parameters = Signature.of(function, {}).parameters
    known = {p.name for p in parameters if p.role == "known"}
    return compile(function, **{n: v for n, v in request.arguments.items() if n in known})


# ---------------------------------------------------------------- the kinds of functions


def _of_shadertoy(function: Shadertoy, request: Request) -> Scene:
    size = request.shape or shadertoy.SIZE
    channels = dict(request.arguments) | dict(zip(function.channels, request.images, strict=False))
    controls = [
        Control("time", "time", [0.0], 0.0, 20.0, 0.01),
        Control("mouse", "iMouse", [0.0] * 4),
    ]
    frames, made = _Frames(channels), [0]

    def call(now: dict[str, Any]) -> Any:
        made[0] = made[0] + 1 if now["time"] else 0  # a clock that is set back begins anew
        return function(**now, shape=size, frame=made[0], **frames.next())

    def page() -> Page:
        return function.page(size, function.arguments(size, frames.still()), request.controls)

    main = function.__wrapped__
    return _scene(main, function.__name__, controls, call, page, frames)


def _of_compiled(function: Any, request: Request) -> Scene:
    is_method = isinstance(function, BoundMethod)
    compiled: Compiled = function.__func__ if is_method else function
    signature = compiled.signature
    by_place = signature.positional[is_method:]
    named = {signature.parameters[i].name for i in by_place[: len(request.images)]}
    given = (function.__self__, *request.images) if is_method else request.images
    arguments = unasked(signature, given, request.arguments)
    values = signature.collect(given, arguments)
    keeps = signature.rest is None
    bound = {
        p.name: values[i]
        for i, p in enumerate(signature.parameters)
        if p.name in arguments or (keeps and p.name in named)
    }
    places = () if keeps else request.images
    numbers = [
        (p.name, p.type, convert(p.type, value, p.name))
        for p, value in zip(signature.parameters, values, strict=True)
        if p.role == "uniform" and value is not None and (keeps or p.name not in named)
    ]
    wishes = check_names(request.controls, [name for name, *_ in numbers])
    found = [guess(name, type, value, wishes.get(name)) for name, type, value in numbers]
    controls = [control for control in found if control is not None]
    frames, more = _Frames(bound), {"shape": request.shape} if request.shape else {}

    def once(now: dict[str, Any]) -> Any:
        return function(*places, **frames.next() | now, **more)

    call = once if request.iterate is None else _rounds(function, request, bound)

    def page() -> Page:
        given = (function.__self__, *places) if is_method else places
        asked: dict[str, Any] = {"iterate": request.iterate, "shape": request.shape}
        return page_of(compiled, given, frames.still(), controls=wishes, **asked)

    moves = request.iterate is not None
    scene = _scene(compiled.__wrapped__, signature.name, controls, call, page, frames)
    scene.moves = scene.moves or moves
    return scene


def _rounds(
    function: Any, request: Request, bound: Mapping[str, Any]
) -> Callable[[dict[str, Any]], Any]:
    """Some rounds for each picture, on what the last left."""
    images = [name for name, value in bound.items() if _is_image(value)]
    state: list[Any] = []

    def call(now: dict[str, Any]) -> Any:
        rest = {name: value for name, value in bound.items() if name not in images} | now
        start = state or [Image(bound[name]) for name in images]
        first = start[0] if len(start) == 1 else tuple(start)
        made = function.iterate(first, request.iterate, **rest)
        state[:] = made if isinstance(made, tuple) else (made,)
        return made

    return call


def _of_plain(function: Any, request: Request) -> Scene:
    """Python over whole images, and pipelines."""
    signature = inspect.signature(function)
    arguments = unasked_of_plain(signature, request.images, request.arguments)
    binding = signature.bind(*request.images, **arguments)
    binding.apply_defaults()
    bound = dict(binding.arguments)
    numbers = {n: (NUMBERS[type(v)], v) for n, v in bound.items() if type(v) in NUMBERS}
    if isinstance(bound.get("mouse"), tuple):
        numbers["mouse"] = (vector("float", 2), bound["mouse"])
    wishes = check_names(request.controls, list(numbers))
    found = [guess(name, *numbers[name], wishes.get(name)) for name in numbers]
    controls = [control for control in found if control is not None]
    frames = _Frames(bound)

    def call(now: dict[str, Any]) -> Any:
        binding.arguments.update(frames.next() | now)
        return function(*binding.args, **binding.kwargs)

    def page() -> Page:
        values = frames.still()
        images = {name: value for name, value in values.items() if _is_image(value)}
        rest = {name: value for name, value in values.items() if name not in images}
        plain = function.__wrapped__ if isinstance(function, Pipeline) else function
        made = recorded_page(plain, (), images | rest, wishes)
        if {control.name for control in made.controls} != {control.name for control in controls}:
            raise DeviceError("numbers that the steps of the page depend on cannot change there")
        return made

    name = getattr(function, "__name__", "function")
    return _scene(inspect.unwrap(function), name, controls, call, page, frames)


def _scene(
    function: Any,
    name: str,
    controls: list[Control],
    call: Callable[[dict[str, Any]], Any],
    page: Callable[[], Page],
    frames: _Frames,
) -> Scene:
    return Scene(name, story(function), source(function), controls, call, page, frames.moves)


# ---------------------------------------------------------------- images


class _Frames:
    """Arguments of which some come one by one, each call the next; the last stays."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self.coming = {n: v for n, v in values.items() if isinstance(v, Iterator)}
        self.moves = bool(self.coming)
        for name, frames in self.coming.items():
            self.values[name] = next(frames, None)
            if self.values[name] is None:
                raise ValueError(f"{name}: holds no frames")

    def next(self) -> dict[str, Any]:
        """The arguments of the next picture."""
        now = dict(self.values)
        for name, frames in self.coming.items():
            self.values[name] = next(frames, self.values[name])
        return now

    def still(self) -> dict[str, Any]:
        """The arguments. DeviceError where they change, which no page can do by itself."""
        if self.moves:
            raise DeviceError("frames come one by one")
        return self.values


def _is_image(value: Any) -> bool:
    return isinstance(value, Image) or is_picture(value) or is_pil(value)


def _bytes_of(result: Any, name: str) -> NDArray[np.uint8]:
    """The first result as RGBA."""
    image = result[0] if isinstance(result, tuple | list) and result else result
    if not _is_image(image):
        raise TypeError(f"{name}: pictures are shown, and it gave {shown(result)}")
    picture = (image if isinstance(image, Image) else Image(image)).to_pil("uint8")
    return np.asarray(picture.convert("RGBA"))
