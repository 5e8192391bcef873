"""Paths that end by raising: which exception, where, and which are failing assertions.

What leads to nothing but a `raise` under a dynamic condition is not walked (it may make strings of
what is not known): the run raises there, or leaves its mark.
"""

from __future__ import annotations

import builtins
import types
from typing import Any, Final

from pygpu.bytecode import Instruction
from pygpu.core.errors import AT_COMPILE_TIME
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.faults import Fault, PathEnds, Raised
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.objects import Cell, Thrown
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Choice

HANDLED: Final = ".handled"  # the variable that holds the exception being handled


def doom(frame: Frame, block: int) -> Fault:
    """The fault of a block whose every path raises: the first exception named, and where."""
    order = frame.graph.order[frame.graph.number[block] :]
    reached = {block}
    for one in order:
        if one in reached:
            reached.update(frame.graph.successors[one])
    instructions = [
        (at, frame.code.instructions[at])
        for one in order
        if one in reached
        for at in range(one, frame.graph.blocks[one])
    ]
    error = _exception(frame, [instruction for _, instruction in instructions])
    at = next(at for at, instruction in instructions if instruction.op == "RAISE")
    return Fault(error, "", frame.place(at))


def _exception(frame: Frame, instructions: list[Instruction]) -> type[BaseException] | None:
    """The first class of exceptions that instructions load, by its name or from a module."""
    held: Any = None
    for instruction in instructions:
        name = instruction.arg
        match instruction.op:
            case "CONST":
                held = name
            case "GLOBAL":
                held = frame.globals.get(name, getattr(builtins, name, None))
            case "LOAD" | "DEREF":
                held = _variable(frame, name)
            case "ATTR":
                held = getattr(held, name, None) if isinstance(held, types.ModuleType) else None
            case "NULL":
                continue
            case _:
                held = None
        if isinstance(held, type) and issubclass(held, BaseException):
            return held
    return None


def _variable(frame: Frame, name: str) -> Any:
    """What a variable holds, through its cell if it has one."""
    state = frame.state
    held = None if state is None else state.locals.get(name)
    if isinstance(held, types.CellType):
        held = held.cell_contents if held != types.CellType() else None
    return state.get(held) if state is not None and isinstance(held, Cell) else held


def is_assertion(frame: Frame, block: int) -> bool:
    """Whether a block whose every path raises is an assertion's, pytest's too."""
    if "@pytest_ar" in frame.code.code.co_names:
        return doom(frame, block).error is AssertionError
    first = frame.code.instructions[block]
    return first.op == "CONST" and first.arg is AssertionError


def _caused(w: Evaluator, error: Any, cause: Any) -> Any:
    """What `raise error from cause` raises."""
    if isinstance(error, type) and issubclass(error, BaseException):
        error = error()
    if isinstance(error, BaseException):
        if not isinstance(cause, Abstract):
            error.__cause__ = cause() if isinstance(cause, type) else cause
            return error
        holds = {**vars(error), "args": error.args, "__cause__": cause}
        fault = Fault(type(error), str(error), w.frame.place())
        return w.faults.raised(fault, Thrown(type(error), holds))
    if isinstance(error, Raised) and error.held is not None:
        w.write(error.held, {**w.read(error.held), "__cause__": cause})
    return error


def _as_raised(w: Evaluator, error: Any) -> Any:
    """One of several exceptions, of which some may be classes, as a value."""
    made = error() if isinstance(error, type) and issubclass(error, BaseException) else error
    if not isinstance(made, BaseException):
        return made
    return w.faults.raised(Fault(type(made), str(made), w.frame.place(), made))


def raised_by(w: Evaluator, state: State, instruction: Instruction) -> Any:
    """What a `raise`, or the end of a handler that does not handle, raises: a known exception is
    raised; what is given back goes its way as a value."""
    count = instruction.arg if instruction.op == "RAISE" else 1
    parts = state.pop(count) if count else [state.locals.get(HANDLED)]
    error = parts[0] if len(parts) < 2 else _caused(w, *parts)
    if isinstance(error, type) and issubclass(error, BaseException):
        raise error()
    if isinstance(error, BaseException):
        raise error
    if isinstance(error, Raised):
        known = error.fault.raised
        if known is not None and w.conditions is w.frame.conditions:
            if error.fault.place is not None and not hasattr(known, "__pygpu_noted__"):
                known.add_note(f"{AT_COMPILE_TIME}{error.fault.place.marked()}")
                known.__pygpu_noted__ = True  # type: ignore[attr-defined]
            raise known
        if w.conditions or w.handled():
            return error
        raise PathEnds(error)  # at every position
    if isinstance(error, Choice):
        left = state.facts.get(error.which.value, range(len(error.options)))
        some = [_as_raised(w, error.options[i]) for i in left]
        if all(isinstance(one, Raised) for one in some):  # what it cannot be here is none of these
            each = dict(zip(left, some, strict=True))
            every = [each.get(place, some[0]) for place, _ in enumerate(error.options)]
            return Choice(error.which, tuple(every), error.why)
    if error is None:
        raise RuntimeError("No active exception to reraise")
    usable(w, error)
    raise w.error("an exception with dynamic arguments cannot be raised")
