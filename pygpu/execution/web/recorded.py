"""Plain Python over whole images as a page: recorded as it runs on the given ones.

    export_recorded(render, "bloom.html", [photo], {"strength": 0.5})

The page repeats its steps on pictures of that size; numbers.py says which numbers can be changed
there.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pygpu.core.errors import HOME, DeviceError, shown
from pygpu.core.sampler import of
from pygpu.core.storage import Format, ImageLike, NumberLike, Storage
from pygpu.devices.recording import Recording, no_texels, recorded
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.web.controls import unasked_of_plain
from pygpu.execution.web.export import source, story, written
from pygpu.execution.web.numbers import changeable
from pygpu.execution.web.pages import Page
from pygpu.execution.web.rounds import as_held, check_count, held, rounds_of, state_of


def export_recorded(
    function: Callable[..., Any],
    path: str | os.PathLike[str],
    images: Sequence[Any],
    values: Mapping[str, Any] | None = None,
    controls: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:
    """A page of what a plain Python function runs on whole images. Options are its `name`, else
    that of the function, and `iterate`, the rounds for each picture shown."""
    return written(recorded_page(function, images, values, controls, **options), path)


def recorded_page(
    function: Callable[..., Any],
    images: Sequence[Any],
    values: Mapping[str, Any] | None = None,
    controls: Mapping[str, Any] | None = None,
    name: str = "",
    iterate: int | None = None,
) -> Page:
    """The page that `export_recorded` writes."""
    rounds = rounds_of(iterate)
    signature = inspect.signature(function)
    bound = signature.bind(
        *map(_wrapped, images), **unasked_of_plain(signature, images, values or {})
    )
    bound.apply_defaults()
    named: dict[str, Any] = {n: _wrapped(v) for n, v in bound.arguments.items()}
    run = function
    try:
        if rounds:
            named, run = _in_rounds(function, named)
        named, originals = _blank(named)
        changing = changeable(lambda arguments: _record(run, arguments)[0], named, controls)
    except DeviceError as error:
        name = function.__name__
        raise DeviceError(f"{name}{_where(error)}: {_in_python(error, name) or error}") from None
    recording, results = _record(run, changing.arguments)
    numbers = {recording.place(number.storage): n for n, number in changing.given.items()}
    given = {n: v for n, v in named.items() if isinstance(v, ImageLike)}
    state = [recording.place(image.storage) for image in list(given.values())[: len(results)]]
    recording.images = [originals.get(id(image), image) for image in recording.images]
    names = dict.fromkeys([place for place in recording.given() if place not in numbers], "")
    for parameter, image in given.items():
        if recording.place(image.storage) in names:
            names[recording.place(image.storage)] = parameter
    page = Page(
        recording,
        name or function.__name__,
        story(function),
        source(function),
        names,
        {recording.place(image.storage): image.format for image in given.values()}
        | _formats(recording),
        [(recording.place(image.storage), of(image).format) for image in results],
        changing.controls,
        changing.uses,
        numbers=numbers,
    )
    if rounds:
        page.goes_on(rounds, state)
    return page


def _in_rounds(
    function: Callable[..., Any], named: Mapping[str, Any]
) -> tuple[dict[str, Any], Callable[..., Any]]:
    """The arguments with the first images as rounds hand them on, and the function with results of
    these dtypes, each an image of its own."""
    images = {n: v for n, v in named.items() if isinstance(v, ImageLike)}
    _, made = _record(function, _blank(named)[0])
    check_count(function.__name__, len(made), len(images))
    states = {n: state_of(images[n].storage, of(images[n])) for n in list(images)[: len(made)]}
    dtypes = held([image.format for image in states.values()], [of(image).format for image in made])
    kept = dict(zip(states, map(as_held, states.values(), dtypes), strict=True))

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        made: list[Any] = []
        for image, dtype in zip(_listed(function(*args, **kwargs)), dtypes, strict=True):
            taken = [*args, *kwargs.values(), *made]
            is_own = not any(getattr(each, "storage", None) is image.storage for each in taken)
            made.append(image if is_own and image.dtype == dtype else _copy(image, dtype.kind))
        return tuple(made)

    return {**named, **kept}, run


def _copy(image: Any, kind: str) -> Any:
    return image * 1.0 if kind == "f" else image & True if kind == "b" else image + 0


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def _wrapped(value: Any) -> Any:
    """Pictures as images, which operators and compiled functions take to the recording device."""
    return ImageMaker.wrap(value) if is_picture(value) or is_pil(value) else value


def _blank(named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[int, Storage]]:
    """The arguments, with images without texels for those that a page's reader may replace: what
    Python computes from texels holds for one picture only. And, by the id of each such image, the
    image that it stands for."""
    blank, originals = dict(named), {}
    for name, value in named.items():
        if isinstance(value, ImageLike):
            old = value.storage
            size = (old.height, old.width, old.channels)
            new = Storage(*size, old.dtype, None, no_texels).shaped(old.shape)
            originals[id(new)] = old
            blank[name] = ImageMaker.make(new, of(value))
    return blank, originals


def _record(
    function: Callable[..., Any], named: Mapping[str, Any]
) -> tuple[Recording, list[ImageLike]]:
    """What the function runs, and its results."""
    with recorded() as recording:
        bound = inspect.signature(function).bind_partial()
        bound.arguments.update(named)
        results = _listed(function(*bound.args, **bound.kwargs))
        for image in results:
            if not isinstance(image, ImageLike):
                number = isinstance(image, NumberLike)  # whose value is not known yet
                what = "a number" if number else f"{shown(image)} ({type(image).__name__})"
                raise TypeError(f"{function.__name__}: a page shows images, and it returned {what}")
            recording.place(image.storage)  # which makes what was put off
    return recording, results


def _formats(recording: Recording) -> dict[int, Format]:
    """How the given images are stored and seen: as the first step that reads each has it."""
    formats: dict[int, Format] = {}
    for step in reversed(recording.steps):
        formats.update(zip(step.inputs, step.reads, strict=True))
    return formats


def _where(error: BaseException) -> str:
    """The user's line that led to an error: ", canny.py:87 (`high = quantile(found, 0.9)`)"."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(HOME):
            return f", {Path(frame.filename).name}:{frame.lineno} (`{frame.line}`)"
    return ""


def _in_python(error: BaseException, name: str) -> str:
    """What to write where a function of PyGPU's asks for texels itself, else nothing."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if frames[-1].f_code is not no_texels.__code__:
        return ""
    theirs = [n for n, frame in enumerate(frames) if not frame.f_code.co_filename.startswith(HOME)]
    ours = frames[theirs[-1] + 1 :] if theirs else []
    called = next(filter(None, map(_called, ours)), "")
    if not called:
        return ""
    why = "needs texels while the page is made, and a page repeats programs alone"
    instead = f"Call it on the picture before, and hand what it gives to {name}"
    how = "a number as a parameter (which has a slider), an image as one more picture"
    return f"{called} {why}. {instead}: {how}"


def _called(frame: types.FrameType) -> str:
    """What a user calls that function: filters.sobel, pygpu.scan, np.cumsum, .numpy()."""
    name, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
    known = frame.f_locals
    if name in ("__array_function__", "__array_ufunc__"):
        return f"np.{known['func' if 'func' in known else 'ufunc'].__name__}"
    for package, shown_as in (("pygpu.filters", "filters"), ("pygpu", "pygpu")):
        if module.startswith(package) and name in sys.modules[package].__all__:
            return f"{shown_as}.{name}"
    if not isinstance(known.get("self"), (ImageLike, NumberLike)):
        return ""
    return _BY_OPERATORS.get(name, "" if name[0] == "_" else f".{name}()")


_BY_OPERATORS: Final = {
    "__float__": "float()", "__int__": "int()", "__bool__": "a test of a number",
    "__index__": "a number as an index", "__getitem__": "a slice of an image",
    "__array__": "NumPy", "__iter__": "a loop over an image", "__str__": "the text of a number",
    "__format__": "the text of a number", "__repr__": "the text of a number",
}  # fmt: skip
