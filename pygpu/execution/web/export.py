"""`f.export`: a function as a page that runs it in the browser.

    edges.export("edges.html", photo, gain=2.0, controls={"gain": (0, 10)})

A compiled function is one step on pictures of any size. recorded.py has pages of many steps.
"""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pygpu.core.errors import DeviceError, shortened, shown
from pygpu.core.storage import Format
from pygpu.devices.noting import TaskStep
from pygpu.devices.recording import Recording, recorded
from pygpu.execution.arguments.parameters import Arguments, bindings, flatten
from pygpu.execution.arguments.results import Wanted
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.programs.calls import Programs, Run
from pygpu.execution.web.controls import Control, check_names, guess, unasked
from pygpu.execution.web.pages import Page
from pygpu.execution.web.rounds import as_held, check_count, held, rounds_of, state_of


def export(
    compiled: Programs,
    path: str | os.PathLike[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    controls: Mapping[str, Any] | None,
    iterate: int | None,
    shape: tuple[int, int] | None,
) -> Path:
    """See runtime.Compiled.export."""
    asked: dict[str, Any] = {"controls": controls, "iterate": iterate, "shape": shape}
    with shortened:
        return written(page_of(compiled, args, kwargs, **asked), path)


def page_of(
    compiled: Programs,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    controls: Mapping[str, Any] | None,
    iterate: int | None,
    shape: tuple[int, int] | None,
) -> Page:
    """The page of a compiled function."""
    rounds = rounds_of(iterate)
    signature = compiled.signature
    kwargs = unasked(signature, args, kwargs)
    programs = Programs(compiled.function, signature)
    programs.fast = compiled.fast
    arguments = flatten(signature, signature.collect(args, kwargs), stays=False)
    if shape is not None:
        arguments.asked = len(programs.size(shape, arguments, None))
    for fault in programs.translated(arguments).translation.faults:
        raise DeviceError(f"{signature.name}: a page cannot raise what a call may: {fault.message}")
    with recorded() as recording:
        run = programs.run(arguments, Wanted("image"), shape=shape)
    state = len(run.specialisation.types) if rounds else 0
    if rounds:
        arguments, dtypes = _as_state(signature, arguments, run.specialisation.task.outputs[:state])
        with recorded() as recording:
            run = programs.run(arguments, Wanted("image", "", dtypes), shape=shape)
    page = _page(compiled, recording, arguments, run, controls)
    page.follows = shape is None and bool(arguments.images)
    if rounds:
        page.goes_on(rounds, list(page.names)[:state])
    return page


def _as_state(
    signature: Signature, arguments: Arguments, results: Sequence[Format]
) -> tuple[Arguments, tuple[np.dtype[Any], ...]]:
    """The arguments with the first images as rounds hand them on, and the dtypes of these."""
    given = arguments.images[: len(results)]
    check_count(signature.name, len(results), len(arguments.images))
    states = [state_of(each.storage, each.sampler) for each in given]
    dtypes = held([image.format for image in states], results)
    values, start = list(arguments.values), 0
    for each, image, dtype in zip(given, states, dtypes, strict=True):
        for place in range(start, len(values)):
            # only the image that goes first: another argument that is the same image keeps it
            if values[place] is each.original:
                values[place], start = as_held(image, dtype), place + 1
                break
    return flatten(signature, values), dtypes


def _page(
    compiled: Programs,
    recording: Recording,
    arguments: Arguments,
    run: Run,
    controls: Mapping[str, Any] | None,
) -> Page:
    """The page of a single step."""
    signature, (step,) = compiled.signature, recording.steps
    assert isinstance(step, TaskStep), "a compiled function is one step"
    _, images, uniforms = bindings(signature, arguments)
    wishes = check_names(controls, [name for name, _ in uniforms])
    found: list[Control] = []
    uses = {}
    for index, (name, type) in enumerate(uniforms):
        control = guess(name, type, arguments.uniforms[index], wishes.get(name))
        if control is not None:
            found.append(control)
            uses[0, index] = name
    names = {
        place: images[index].name if index < len(images) else ""
        for index, place in enumerate(step.inputs)
    }
    made = run.specialisation
    shown_results = list(zip(step.outputs, made.task.outputs, strict=True))[: len(made.types)]
    return Page(
        recording,
        signature.name,
        story(compiled.function),
        source(compiled.function),
        names,
        dict(zip(step.inputs, step.task.inputs, strict=True)),
        shown_results,
        found,
        uses,
    )


# ---------------------------------------------------------------- texts and files


def story(function: Callable[..., Any]) -> str:
    """What a function says of itself, in a paragraph."""
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def source(function: Callable[..., Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    except (OSError, TypeError):
        return ""


def written(page: Page, path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: takes the path of a file, got {shown(path)}")
    file = Path(path)
    file.write_text(page.html(), "utf-8")
    return file
