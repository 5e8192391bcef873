"""Generators, and what else computes items when they are asked for.

A generator is a frame that waits. It is walked on to its next `yield` when an item is asked for;
where all items are taken, it is walked to its end. A generator expression's items are taken at once
where nobody can tell: where taking them changes something, or fails, it waits as others do.

    n = 0
    any(counted(x) > 1 for x in xs)         # `counted` changes n: stops at the first that holds

For loops over generators see driving.py.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pygpu import bytecode
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.flow.choices import possible
from pygpu.frontend.flow.comprehensions import FILTERED
from pygpu.frontend.flow.paths import RAISED, RETURN, SUSPENDED, ControlFlow, Outcome
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols.sequences import taken_or_put_off
from pygpu.frontend.values.faults import Fault, PathEnds
from pygpu.frontend.values.frames import Frame, Guarded
from pygpu.frontend.values.lazy import Indexed, Lazy, Suspended
from pygpu.frontend.values.objects import (
    Cell,
    Iterator,
    Object,
    Unordered,
    Waiting,
    Yielded,
    youngest,
)
from pygpu.frontend.values.states import State, reachable
from pygpu.frontend.values.values import ABSENT, Choice, Conflict, NotKnown
from pygpu.ssa import Call

with later():
    from pygpu.frontend.collections import members
    from pygpu.frontend.flow import branches, handling

# Where a frame goes on stands with its variables: a block and how much is on its stack, or why it
# does not. It is a string: what is one string on one path and another on the other is a choice.
AT: Final = ".at"
START: Final = "0 0"
ENDED: Final = "ended"
RUNNING: Final = "running"
LEFT: Final = "left"

# What becomes of an item: from the generator's state, the item, and where the frame goes on.
Driver = Callable[[State, Any, int], Outcome]


def packed(block: int, state: State) -> dict[str, Any]:
    """The parts of a frame that waits to go on at a block."""
    stack = {f".stack{place}": value for place, value in enumerate(state.stack)}
    return {**state.locals, **stack, AT: f"{block} {len(stack)}"}


def at_yield(state: State, end: int) -> dict[str, Any]:
    """The parts of a generator that waits at a `yield`, to go on behind it."""
    return packed(end, State(state.locals, [*state.stack, None], {}))


def unpacked(contents: Mapping[str, Any], at: str) -> tuple[int, dict[str, Any], list[Any]]:
    """The block at which a frame goes on, its variables and its stack."""
    block, depth = map(int, at.split())
    stack = [contents[f".stack{place}"] for place in range(depth)]
    own = {name: v for name, v in contents.items() if name != AT and not name.startswith(".stack")}
    return block, own, stack


def generator(
    w: ControlFlow, code: types.CodeType, globals: dict[str, Any], locals: dict[str, Any]
) -> Iterator:
    """What a call of a generator function gives, its code with its parameters given."""
    return Iterator((_suspended(w, code, globals, locals), 0))


def _suspended(
    w: ControlFlow, code: types.CodeType, globals: dict[str, Any], locals: dict[str, Any]
) -> Suspended:
    waiting = Waiting(packed(0, State(locals, [], {})))
    waiting.call = Call(w.build.call)
    step = functools.partial(_resume, code, globals, _UNDECIDED)
    whole = functools.partial(_whole, code, globals)
    source = Suspended(step, (waiting,), whole, code=code, globals=globals)
    if w.frames and bytecode.decode(code).handlers:
        w.guarded[waiting] = Guarded(source, w.frame.call)
    return source


def expression(
    w: ControlFlow, code: types.CodeType, globals: dict[str, Any], locals: dict[str, Any]
) -> Iterator:
    """The iterator that a generator expression is, its code with its variables given."""
    suspended = _suspended(w, code, globals, locals)
    (waiting,) = suspended.of
    source, region = locals[".0"], w.build.region
    unseen = source is w.fresh or not isinstance(source, Iterator) or not w.in_sight((source,))
    begun = w.peek(source) if unseen and isinstance(source, Iterator) else None

    def late() -> Any:
        """The items as they are if they are taken later, where they can still be."""
        if w.build.region is not region or begun is None or isinstance(begun[0], Lazy):
            return None
        w.state.heap[source] = begun
        return suspended, 0

    def whole() -> Iterator:
        before = youngest()
        with w.heap.noted() as reads:
            made = _whole(code, globals, w, waiting)
        if code.co_cellvars and any(
            type(held) is Cell and held.serial > before for held in reachable([made], w.state)
        ):
            raise NotKnown  # an item reads the expression's own variable, which goes on
        followed: Iterator = w.heap.follow(made, reads - {waiting}, late=late)
        return followed

    sources = (source,) if unseen else ()

    def put_off(error: Exception | None) -> Iterator:
        if not isinstance(error, CompileError) or error.msg == FILTERED:
            return Iterator((suspended, 0))
        return Iterator((_refused(suspended, error), 0))

    return taken_or_put_off(w, whole, put_off, sources)


def send(w: ControlFlow, iterator: Iterator, value: Any) -> Any:
    """What a generator yields next. `value` is what the `yield` gives at which it waits."""
    _receive(w, iterator, value)
    return w.next(iterator)


def _receive(w: ControlFlow, iterator: Iterator, value: Any) -> None:
    """Let the `yield` at which a generator waits give a value when it goes on."""
    source = w.read(iterator)[0]
    if not isinstance(source, Suspended):
        raise w.error(
            "send() is of generators that the function itself makes, and Python has made this one: "
            "call its generator function here, then next()"
        )
    (waiting,) = source.of
    contents = w.read(waiting)
    at = contents[AT]
    if isinstance(at, Choice):
        raise w.error(
            "at which 'yield' this generator waits only the device knows: it cannot be sent"
        )
    if at not in (ENDED, *_STUCK):
        block, depth = map(int, at.split())
        inner = _delegate(source, contents, block, depth)
        if inner is not None and isinstance(w.read(inner)[0], Suspended):
            _receive(w, inner, value)
        elif depth:
            w.write(waiting, {**contents, f".stack{depth - 1}": value})
        elif value is not None:
            raise TypeError("can't send non-None value to a just-started generator")


def _delegate(
    source: Suspended, contents: Mapping[str, Any], block: int, depth: int
) -> Iterator | None:
    """The iterator whose items a generator hands on, where it waits in a `yield from`: what the
    generator is sent is for that one. In a `for`, its variable stands before the `yield`."""
    code = bytecode.decode(source.code).instructions
    if block < 2 or (code[block - 2].op, code[block - 1].op) != ("FOR", "YIELD"):
        return None
    inner = contents[f".stack{depth - 1 - bytecode.ITERATOR_SLOTS}"]
    return inner if isinstance(inner, Iterator) else None


def throw(w: ControlFlow, iterator: Iterator, error: Any) -> Any:
    """What a generator yields next; its `yield` raises `error`, which handlers may take."""
    source = w.read(iterator)[0]
    if not isinstance(source, Suspended):
        raise w.error(
            "throw() and close() are of generator functions that are called in the function"
        )
    if isinstance(error, type):
        error = w.call(error)
    if isinstance(error, BaseException):
        error = w.faults.raised(Fault(type(error), str(error), w.frame.place(), error))
    return _resume(source.code, source.globals, _UNDECIDED, w, 0, source.of[0], error)


def _refused(source: Suspended, error: CompileError) -> Suspended:
    """A generator whose items cannot be taken at once."""

    def whole(w: ControlFlow, waiting: Waiting) -> Any:
        raise error

    step = functools.partial(_resume, source.code, source.globals, error.msg)
    return replace(source, step=step, whole=whole)


def in_sight(w: ControlFlow, handles: Iterable[Object], beside: Object | None = None) -> bool:
    """Whether a variable or an operand leads to one of some objects, not by way of another."""
    held = [frame.state for frame in w.frames if frame.state is not None]
    values = [value for state in held for value in (*state.locals.values(), *state.stack)]
    state = w.state
    if beside is not None:
        state = State({}, [], {**state.heap, beside: ABSENT})
    return not reachable([*values, *w.kept], state).isdisjoint(handles)


def go_on(
    w: ControlFlow,
    code: types.CodeType,
    globals: dict[str, Any],
    waiting: Waiting,
    driver: Driver,
    suspends: bool = False,
    error: Any = None,
) -> Outcome:
    """Walk a generator from where it waits: the paths that end it, and those that `driver` gives.
    With `suspends` these stop at the item; with an error the `yield` raises it. The state of the
    walk is afterwards what it was."""
    outer = w.state
    contents = w.read(waiting)
    at = contents[AT]
    w.write(waiting, {AT: RUNNING})  # its variables are those of the frame now
    frame = Frame(bytecode.decode(code), globals, w.frame)
    frame.driver, frame.suspends = driver, suspends
    frame.call = waiting.call or frame.call
    frame.conditions = w.conditions
    state = State({}, [], outer.heap, outer.facts)
    walk = functools.partial(_from, w, frame, contents, error=error)
    try:
        if isinstance(at, Choice):
            return _from_any(w, frame, walk, at, sorted(possible(w, at)), state)
        return walk(at, state)
    except BaseException:  # what has been done until then stays done
        outer.heap = w.state.heap
        raise
    finally:
        w.state = outer


def _from(
    w: ControlFlow, frame: Frame, contents: Mapping[str, Any], at: str, state: State, error: Any
) -> Outcome:
    w.state = state
    code = frame.code.code
    if error is not None and (at == ENDED or not frame.code.handlers):
        return Outcome.one(RAISED, State({}, [error], state.heap, state.facts))
    if at == ENDED:
        return Outcome.one(RETURN, State({}, [None], state.heap, state.facts))
    if at in _STUCK:
        raise w.error(_STUCK[at])
    block, locals, stack = unpacked(contents, at)
    if any(isinstance(locals.get(n), Conflict) for n in (*code.co_freevars, *code.co_cellvars)):
        raise w.error(_ENDED_ON_ONE_PATH)
    handler = frame.code.handlers.get(block - 1)  # of the `yield`
    if error is not None and handler is None:
        return Outcome.one(RAISED, State({}, [error], state.heap, state.facts))
    if error is not None and handler is not None:
        block, stack = handler.target, handling.entered(handler, stack, error)
    return w.enter(frame, block, State(locals, stack, state.heap, state.facts), frozenset())


def _from_any(
    w: ControlFlow,
    frame: Frame,
    walk: Callable[[str, State], Outcome],
    at: Choice,
    left: list[int],
    state: State,
) -> Outcome:
    """Walk a frame on from one of several places; a dynamic int says from which."""
    first, *others = left
    here = at.options[first]
    if not others:
        return walk(here, state)
    condition = arithmetic.compare(w, "==", at.which, first)
    other = state.fork()
    return branches.branch(
        w,
        frame,
        condition.value,
        lambda: walk(here, state),
        lambda: _from_any(w, frame, walk, at, others, other),
    )


_STUCK: Final = {
    RUNNING: "an item of this generator is asked for in a loop over it, whose rounds depend on "
    "dynamic values: make a list of its items first, or ask for each with next()",
    LEFT: "how many items of this generator a loop has taken that was left early is not known at "
    "compile time: make a list of its items first, and index it",
}
_ENDED_ON_ONE_PATH: Final = (
    "only the device knows whether this generator has been looped over before: make a list of its "
    "items first, and loop over that"
)
_UNDECIDED: Final = (
    "whether this generator gives one more item is not known at compile time: loop over it with "
    "'for', or fold it with sum(), min(), max(), any() or all()"
)


def _resume(
    code: types.CodeType,
    globals: dict[str, Any],
    why: str,
    w: ControlFlow,
    index: Any,
    waiting: Waiting,
    error: Any = None,
) -> Any:
    """The next item of a generator; StopIteration at its end. With an error the `yield` at which it
    waits raises that. `why` is the message where it cannot be told whether there is a next item."""

    def stop(state: State, item: Any, end: int) -> Outcome:
        w.write(waiting, at_yield(state, end))
        return Outcome.one(SUSPENDED, State({}, [item], state.heap, state.facts))

    try:
        outcome = go_on(w, code, globals, waiting, stop, True, error)
    except CompileError:
        raise
    except (Exception, GeneratorExit):  # of the program: it has ended
        w.write(waiting, {AT: ENDED})
        raise
    raised, given = outcome.exits.get(RAISED), outcome.exits.get(SUSPENDED)
    if raised is not None and given is not None and len(outcome.exits) == 2:
        raised.heap[waiting] = {AT: ENDED}
        handling.keep(w, outcome, raised, given)
        del outcome.exits[RAISED]
    if len(outcome.exits) > 1:
        raise w.error(why)
    ((target, state),) = outcome.exits.items()
    w.state.heap = state.heap
    if target == RAISED:
        w.write(waiting, {AT: ENDED})
        raise PathEnds(state.stack[0] if state.stack else None)
    if target == RETURN:
        w.write(waiting, {AT: ENDED})
        raise StopIteration(state.stack[-1])
    return state.stack[-1]


def _whole(
    code: types.CodeType, globals: dict[str, Any], w: ControlFlow, waiting: Waiting
) -> Iterator:
    """An iterator over all items of a generator that has not begun, or has ended."""
    begun = w.read(waiting)
    at = begun[AT]
    if at == ENDED:
        return Iterator(((), 0))
    if at != START:
        raise w.error(_UNDECIDED if isinstance(at, Choice) else _STUCK.get(at, _UNDECIDED))
    collected = Yielded(())
    _, locals, _ = unpacked(begun, at)
    w.inline(code, globals, {**locals, ".yield": collected})
    contents = w.read(collected)
    if collected.before is None:
        return Iterator((contents if isinstance(contents, Indexed) else collected, 0))
    youngest_then, held = collected.before
    for handle, now in w.state.heap.items():
        is_old = handle.serial <= youngest_then and not isinstance(
            handle, (Iterator, Yielded, Waiting)
        )
        if is_old and held.get(handle, handle.initial) is not now:  # by whichever came last
            raise w.error(members.UNORDERED)
    return Iterator((Unordered(contents), 0))
