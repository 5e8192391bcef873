"""Plain Python over whole images as a page: recorded as it runs on the given ones.

    export_recorded(render, "bloom.html", [photo], {"strength": 0.5})

The page repeats its steps on pictures of that size, and numbers that go into programs as they are
can be changed there.
"""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pygpu.core.errors import HOME, DeviceError, shown
from pygpu.core.sampler import of
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices.recording import (
    MeshStep,
    Recording,
    TaskStep,
    no_texels,
    recorded,
    same_mesh,
)
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.web.controls import Control, check_names, guess
from pygpu.execution.web.export import source, story, written
from pygpu.execution.web.pages import Page
from pygpu.types import FLOAT, INT

INNER: Final = 0.382  # where between least and greatest a number is tried, besides these


def export_recorded(
    function: Callable[..., Any],
    path: str | os.PathLike[str],
    images: Sequence[Any],
    values: Mapping[str, Any] | None = None,
    controls: Mapping[str, Any] | None = None,
    name: str = "",
) -> Path:
    """A page of what a plain Python function runs on whole images, called `name` or what the
    function is called."""
    return written(recorded_page(function, images, values, controls, name), path)


def recorded_page(
    function: Callable[..., Any],
    images: Sequence[Any],
    values: Mapping[str, Any] | None = None,
    controls: Mapping[str, Any] | None = None,
    name: str = "",
) -> Page:
    """The page that `export_recorded` writes."""
    bound = inspect.signature(function).bind(*map(_wrapped, images), **dict(values or {}))
    bound.apply_defaults()
    named, originals = _blank({n: _wrapped(v) for n, v in bound.arguments.items()})
    numbers = {n: v for n, v in named.items() if type(v) in (float, int)}
    wishes = check_names(controls, list(numbers))
    try:
        recording, results = _record(function, named)
    except DeviceError as error:
        raise DeviceError(f"{function.__name__}{_where(error)}: {error}") from None
    recording.images = [originals.get(id(image), image) for image in recording.images]
    names = dict.fromkeys(recording.given(), "")
    for parameter, value in named.items():
        if isinstance(value, ImageLike) and recording.place(value.storage) in names:
            names[recording.place(value.storage)] = parameter
    formats = _formats(recording)
    uses: dict[tuple[int, int], str] = {}
    found = []
    for parameter, value in numbers.items():
        kind = FLOAT if isinstance(value, float) else INT
        control = guess(parameter, kind, value, wishes.get(parameter))
        used = _uses(function, named, recording, control) if control is not None else []
        if control is not None and used:
            found.append(control)
            uses |= dict.fromkeys(used, parameter)
    return Page(
        recording,
        name or function.__name__,
        story(function),
        source(function),
        names,
        formats,
        [(recording.place(image.storage), of(image).format) for image in results],
        found,
        uses,
    )


def _wrapped(value: Any) -> Any:
    """Pictures as images, which operators and compiled functions take to the recording device."""
    return ImageMaker.wrap(value) if is_picture(value) or is_pil(value) else value


def _blank(named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[int, Storage]]:
    """The arguments, with images without texels for those that a page's reader may replace: what
    Python computes from texels holds for one picture only. And what they stand for, by id."""
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
        result = function(*bound.args, **bound.kwargs)
    results = list(result) if isinstance(result, tuple | list) else [result]
    for image in results:
        if not isinstance(image, ImageLike):
            raise TypeError(
                f"{function.__name__}: a page shows images, and it returned {shown(image)} "
                f"({type(image).__name__})"
            )
    return recording, results


def _formats(recording: Recording) -> dict[int, Format]:
    """How the given images are stored and seen: as the first step that reads each has it."""
    formats: dict[int, Format] = {}
    for step in reversed(recording.steps):
        formats.update(zip(step.inputs, step.reads, strict=True))
    return formats


def _uses(
    function: Callable[..., Any],
    named: Mapping[str, Any],
    recording: Recording,
    control: Control,
) -> list[tuple[int, int]]:
    """Which uniforms are this number as it is, if the steps depend on it by these alone: shown by
    recording the function with other numbers of its range. Else none."""
    name = control.name
    kind = type(named[name])
    value = named[name]
    low, high = control.low, control.high
    uses: list[tuple[int, int]] | None = None
    for tried in (low, high, low + INNER * (high - low)):
        number = kind(tried)
        if number == value:
            continue
        try:
            with np.errstate(all="ignore"):
                other, _ = _record(function, {**named, name: number})
        except Exception:  # the user's function may not take it
            return []
        found = _changed(recording, other, value, number)
        if found is None or (uses is not None and found != uses):
            return []
        uses = found
    return uses or []


def _same_work(old: TaskStep | MeshStep, new: TaskStep | MeshStep) -> bool:
    """Whether two steps differ by their uniforms alone."""
    if (old.shape, old.inputs, old.outputs) != (new.shape, new.inputs, new.outputs):
        return False
    if isinstance(old, TaskStep) or isinstance(new, TaskStep):
        return isinstance(old, TaskStep) and isinstance(new, TaskStep) and old.task is new.task
    first, second = old.draw, new.draw
    return (
        old.drawing is new.drawing
        and (first.attributes, first.clear) == (second.attributes, second.clear)
        and same_mesh(first.geometry, second.geometry)
    )


def _changed(
    before: Recording, after: Recording, value: Any, number: Any
) -> list[tuple[int, int]] | None:
    """The uniforms that were one number and are another; None where anything else differs."""
    if len(before.steps) != len(after.steps):
        return None
    found = []
    for place, (old, new) in enumerate(zip(before.steps, after.steps, strict=True)):
        if not _same_work(old, new):
            return None
        for index, pair in enumerate(zip(old.uniforms, new.uniforms, strict=True)):
            if pair == (value, number):
                found.append((place, index))
            elif pair[0] != pair[1]:
                return None
    return found


def _where(error: BaseException) -> str:
    """The user's line that led to an error: ", canny.py:87 (`high = quantile(found, 0.9)`)"."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(HOME)
    ]
    if not frames:
        return ""
    last = frames[-1]
    return f", {Path(last.filename).name}:{last.lineno} (`{last.line}`)"


__all__ = ["export_recorded", "recorded_page"]
