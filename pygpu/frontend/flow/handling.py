"""Exceptions that handlers wait for: where a path goes that raises, and what handlers ask.

An instruction that raises under a dynamic condition parts the path in two: one goes to the handler
of the instruction, or out of the function where only a caller has one; the other goes on. What is
raised is a value, a `Raised` or a choice of some, so paths that meet in a handler join like others.

    try:
        x = 1 / im(p)               # parts: im(p) == 0 goes to the handler
    except ZeroDivisionError:       # asks which of the exceptions it is that may come here
        x = 0.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygpu.bytecode import NULL, Handler
from pygpu.core.builder import Builder
from pygpu.core.errors import CompileError, is_accident
from pygpu.core.host.later import later
from pygpu.frontend.flow.paths import RAISED, ControlFlow, Outcome, guard
from pygpu.frontend.values.evaluator import usable
from pygpu.frontend.values.faults import Fault, Raised, Raising, chosen, is_set
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Dynamic, NotKnown
from pygpu.ssa import Value
from pygpu.types import INT

with later():
    from pygpu.frontend.flow import branches

# What is ours, or no statement of the program's: never handled.
_OURS = (CompileError, NotKnown, AssertionError, RecursionError, MemoryError)


def has_handler(frame: Frame) -> bool:
    """Whether the instruction being walked stands in a `try` or `with` of its function."""
    return frame.at in frame.code.handlers


def is_awaited(frames: list[Frame]) -> bool:
    """Whether an exception may come to a handler in one of the frames."""
    for frame in frames:
        handlers = frame.code.handlers
        if handlers and frame.at in handlers and not _gives_an_item(frame):
            return True
    return False


def _gives_an_item(frame: Frame) -> bool:
    """Whether it is a generator at a `yield`: what is done with the item raises elsewhere."""
    return frame.driver is not None and frame.code.instructions[frame.at].op == "YIELD"


def is_handled(w: ControlFlow, frame: Frame, error: BaseException) -> bool:
    """Whether what Python has raised is a path of its own: it comes to a handler of this function,
    or it is raised under a dynamic condition, and a caller has a handler."""
    raised = frame.code.instructions[frame.at].op == "RAISE"
    if isinstance(error, _OURS) and not (raised and isinstance(error, AssertionError)):
        return False
    if is_accident(error):
        return False
    if has_handler(frame):
        return True
    parted = w.conditions is not frame.conditions or frame.driver is not None
    return parted and is_awaited(w.frames[:-1])


def raised(w: ControlFlow, frame: Frame, error: BaseException) -> Raised:
    """What Python has raised, as a value."""
    return w.faults.raised(Fault(type(error), str(error), frame.place(), error))


def leave(w: ControlFlow, frame: Frame, state: State, error: Any) -> Outcome:
    """A path on which the instruction being walked raises: to its handler, else out of the function
    to a caller that has one, else to its end."""
    usable(w, error)
    handler = frame.code.handlers.get(frame.at)
    if handler is not None:
        stack = entered(handler, state.stack, error)
        return Outcome.one(handler.target, State(state.locals, stack, state.heap, state.facts))
    if is_awaited(w.frames[:-1]):
        return Outcome.one(RAISED, State({}, [error], state.heap, state.facts))
    w.state = state
    w.write(w.faults.cell, _met(w, state, error))
    return Outcome.one(RAISED, State({}, [], state.heap))


def entered(handler: Handler, stack: list[Any], error: Any) -> list[Any]:
    """What is on the stack where a handler begins."""
    return [*stack[: handler.depth], *[NULL] * handler.marked, error]


def _met(w: ControlFlow, state: State, error: Any) -> Any:
    """What the cell of faults holds once nobody has handled an exception: the first stays."""
    faults, build = w.faults, w.build
    if isinstance(error, Raised):
        return faults.first(build, state, faults.number(error.fault))
    numbers = [faults.number(option.fault) for option in error.options]
    number = _one_of(build, error.which.value, numbers)
    held = state.get(faults.cell)
    if not isinstance(held, Dynamic) and not held:
        return Dynamic(number)
    before = faults.value(build, state)
    return Dynamic(build.emit("select", is_set(build, before), before, number))


def _one_of(build: Builder, which: Value, numbers: list[int]) -> Value:
    """The number of the place that an int says."""
    made = build.constant(INT, numbers[0])
    for place, number in enumerate(numbers[1:], 1):
        here = build.emit("ne", which, build.constant(INT, place))
        made = chosen(build, here, made, number)
    return made


def note(w: ControlFlow, where: Dynamic, error: Any, state: State) -> None:
    """The instruction being walked raises where a condition holds."""
    w.frame.raising.append(Raising(where.value, error, state, w.build.region))


def keep(w: ControlFlow, outcome: Outcome, raised: State, inner: State) -> None:
    """Go on where a call gives a value, and keep in mind where it raises."""
    where = guard(w, outcome, RAISED)
    if raised.stack:  # a handler waits
        note(w, Dynamic(where), raised.stack[0], raised)
        return
    numbers = w.faults.value(w.build, raised), w.faults.value(w.build, inner)
    inner.heap[w.faults.cell] = Dynamic(w.build.emit("select", where, *numbers))


def part(w: ControlFlow, frame: Frame, state: State, go_on: Callable[[State], Outcome]) -> Outcome:
    """Part the paths of an instruction that has noted exceptions; `go_on` is the path of none."""
    if not frame.raising:
        return go_on(state)
    first, rest = frame.raising[0], frame.raising[1:]
    frame.raising = []
    if first.region is not w.build.region:
        raise w.error(
            "an exception that may be raised in a part of this expression cannot be handled: "
            "give the part a line and a name of its own"
        )
    error = State(state.locals.copy(), state.stack.copy(), first.state.heap, state.facts)
    at = frame.at

    def other() -> Outcome:
        w.state = frame.state = state
        frame.at, frame.raising = at, rest
        # What follows is walked into the arm: there stand the conditions of what else may raise.
        frame.raising = [Raising(one.where, one.error, one.state, w.build.region) for one in rest]
        return part(w, frame, state, go_on)

    def handle() -> Outcome:
        w.state = frame.state = error
        frame.at = at
        return leave(w, frame, error, first.error)

    return branches.branch(w, frame, first.where, handle, other)


def refuse_parting(w: ControlFlow) -> None:
    """Refuse exceptions under a condition in the instruction that ends a block: there is nothing
    after it for the path on which it does not raise."""
    raise w.error(
        "an exception that may be raised by this test or iterator cannot be handled: "
        "compute it before, in a line of its own"
    )
