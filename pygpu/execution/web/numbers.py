"""Which numbers of plain Python over whole images can be changed on its page.

    found = changeable(record, arguments, {"gain": (0, 10)})
    found.controls, found.uses, found.given

A number that goes into programs as it is, is their uniform. With another one Python computes first:
it is given as a Number, an image of one texel, so that this arithmetic is among the steps. One by
which Python decides what the steps are cannot change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record as frozen
from pygpu.core.storage import Storage
from pygpu.devices.noting import TaskStep
from pygpu.devices.recording import MeshStep, Recording, no_texels, same_mesh
from pygpu.execution.arguments.numbers import Number
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.web.controls import Control, check_names, guess
from pygpu.language.vectors import Vector
from pygpu.ssa import Constant
from pygpu.types import Kind, Type, vector, widest

KINDS: Final[dict[type, Kind]] = {float: "float", int: "int", bool: "bool"}
INNER: Final = 0.382  # a number is tried at its least, its greatest and here between both
Record = Callable[[Mapping[str, Any]], Recording]  # of a function, what it runs for arguments
Use = tuple[int, int]  # a step, and a uniform of it


@frozen(eq=False)
class Changeable:
    """Numbers that can be changed: their controls, which uniforms each is, and which are given as
    Numbers in the arguments."""

    controls: list[Control]
    uses: dict[Use, str]
    given: dict[str, Number]
    arguments: dict[str, Any]


def changeable(
    record: Record, named: Mapping[str, Any], controls: Mapping[str, Any] | None
) -> Changeable:
    """The numbers among a function's arguments that can be changed. DeviceError for a control that
    is asked for, of one that cannot."""
    numbers = {n: typed for n, v in named.items() if (typed := _typed(v)) is not None}
    wishes = check_names(controls, list(numbers))
    recording = record(named)
    found = {}
    for name, (type, value) in numbers.items():
        control = guess(name, type, value, wishes.get(name))
        if control is not None:
            found[name] = control
    uses = {n: _uses(record, named, recording, control) for n, control in found.items()}
    tried = {n: numbers[n][0] for n in found if not uses[n]}
    named, given = _with_numbers(record, named, tried)
    if given:
        recording = record(named)
        for name in found.keys() - given.keys():
            uses[name] = _uses(record, named, recording, found[name])
    missing = [n for n in wishes if n in found and not uses[n] and n not in given]
    if missing:
        raise DeviceError(
            f"controls[{missing[0]!r}]: by this number Python decides what the steps are, which "
            "stay the same on a page, or it is not used: it has no control there"
        )
    return Changeable(
        [control for n, control in found.items() if uses[n] or n in given],
        {use: n for n in found for use in uses[n]},
        given,
        named,
    )


def _typed(value: Any) -> tuple[Type, Constant] | None:
    """The type of a number, or of a tuple or vector of 2 to 4, and its value; None of others."""
    if isinstance(value, Vector):
        return type(value).TYPE, _parts(value)
    parts = value if isinstance(value, tuple) else (value,)
    if len(parts) not in ((2, 3, 4) if isinstance(value, tuple) else (1,)):
        return None
    kinds = {KINDS[type(part)] for part in parts if type(part) in KINDS}
    if not all(type(part) in KINDS for part in parts):
        return None
    return vector(widest(*kinds), len(parts)), value


def _parts(value: Any) -> Any:
    """A number, or the components of a vector, as constants of programs are."""
    return tuple(value) if isinstance(value, Vector) else value


def _with_numbers(
    record: Record, named: Mapping[str, Any], types: Mapping[str, Type]
) -> tuple[dict[str, Any], dict[str, Number]]:
    """The arguments, with Numbers in place of numbers that the function computes with without
    asking for their value; and these Numbers by name. `types` has the types of the numbers that are
    tried."""
    given: dict[str, Number] = {}
    for name, kind in types.items():
        number = Number(Storage(1, 1, kind.size, natural_dtype(kind), None, no_texels))
        try:
            recording = record({**named, **given, name: number})
        except Exception:  # the function asks for the value, or hands a Number to what takes none
            continue
        if recording.holds(number.storage):
            given[name] = number
    return {**named, **given}, given


def _uses(
    record: Record, named: Mapping[str, Any], recording: Recording, control: Control
) -> list[tuple[int, int]]:
    """Which uniforms are this number as it is, if the steps depend on it by these alone: shown by
    recording the function with other numbers of its range. Else none."""
    name = control.name
    given = named[name]
    value = _parts(given)
    low, high = control.low, control.high
    uses: list[tuple[int, int]] | None = None
    for tried in (low, high, low + INNER * (high - low)):
        number = control.number([tried] * len(control.value))
        if number == value:
            continue
        argument = type(given)(*number) if isinstance(given, Vector) else number
        try:
            with np.errstate(all="ignore"):
                other = record({**named, name: argument})
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
    if len(before.steps) != len(after.steps) or before.loops != after.loops:
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
