"""Paths that end by raising: which exception, where, and which are failing assertions.

What leads to nothing but a `raise` under a dynamic condition is not walked (it may make strings of
what is not known): the run raises there, or leaves its mark.
"""

from __future__ import annotations

import builtins
from typing import NoReturn

from pygpu.bytecode import Instruction
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.states import State
from pygpu.frontend.walk.paths import ControlFlow


def doom(frame: Frame, block: int) -> Fault:
    """The fault of a block from which every path ends by raising: the first exception named there
    and where it is raised."""
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
    named = [_exception(frame, instruction) for _, instruction in instructions]
    error = next((each for each in named if each is not None), None)
    at = next(at for at, instruction in instructions if instruction.op == "RAISE")
    return Fault(error, "", frame.place(at))


def _exception(frame: Frame, instruction: Instruction) -> type[BaseException] | None:
    """The class of exceptions that an instruction loads, if it does."""
    value = instruction.arg
    if instruction.op == "GLOBAL" and isinstance(value, str):
        value = frame.globals.get(value, getattr(builtins, value, None))
    elif instruction.op != "CONST":
        return None
    return value if isinstance(value, type) and issubclass(value, BaseException) else None


def is_assertion(frame: Frame, block: int) -> bool:
    """Whether a block from which every path raises is what a failing assertion does, also one that
    pytest has rewritten."""
    if "@pytest_ar" in frame.code.code.co_names:
        return doom(frame, block).error is AssertionError
    first = frame.code.instructions[block]
    return first.op == "CONST" and first.arg is AssertionError


def raise_known(w: ControlFlow, state: State, arg: int) -> NoReturn:
    """Raise what is raised on every path: a known exception."""
    parts = state.pop(arg if isinstance(arg, int) else 1)
    raised = parts[0] if parts else None
    if isinstance(raised, type) and issubclass(raised, BaseException):
        raise raised()
    if isinstance(raised, BaseException):
        raise raised
    raise w.error("an exception with dynamic arguments cannot be raised")


__all__ = ["doom", "is_assertion", "raise_known"]
