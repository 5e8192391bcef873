"""Generator expressions, and what else computes items when they are asked for.

Their items are taken at once where nobody can tell. Where taking them changes something, or fails,
they are taken as in Python: one by one, by a frame that stops at each `yield`.

    n = 0
    any(counted(x) > 1 for x in xs)         # `counted` changes n: stops at the first that holds
"""

from __future__ import annotations

import functools
import types
from typing import Any

from pygpu import bytecode
from pygpu.core.errors import CompileError
from pygpu.frontend.protocols.sequences import taken_or_put_off
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Indexed, Lazy
from pygpu.frontend.values.objects import Cell, Iterator, Object, Yielded
from pygpu.frontend.values.states import State, reachable
from pygpu.frontend.values.values import Abstract, Tuple
from pygpu.frontend.walk.paths import RAISED, RETURN, SUSPENDED, ControlFlow, PathEnds


def expression(
    w: ControlFlow, code: types.CodeType, globals: dict[str, Any], locals: dict[str, Any]
) -> Iterator:
    """The iterator that a generator expression is, its code with its variables given."""

    def whole(w: ControlFlow) -> Iterator:
        collected = Yielded(())
        with w.heap.noted() as reads:
            w.inline(code, globals, {**locals, ".yield": collected})
        contents = w.read(collected)
        source = contents if isinstance(contents, Indexed) else collected
        made: Iterator = w.heap.follow(Iterator((source, 0)), reads)
        return made

    def suspended(error: Exception | None) -> Iterator:
        why = error.msg if isinstance(error, CompileError) else _UNDECIDED
        step = functools.partial(_resume, code, globals, why)
        names, values = tuple(locals), tuple(locals.values())
        return Iterator((Lazy(step, (Cell(_pack(0, [], names, values)),), whole), 0))

    source = locals[".0"]
    unseen = source is w.fresh or not isinstance(source, Iterator) or not w.in_sight(source)
    return taken_or_put_off(w, lambda: whole(w), suspended, (source,) if unseen else ())


_UNDECIDED = (
    "whether this generator expression gives an item here is not known at compile time, and "
    "taking one changes something: write a loop"
)


def in_sight(w: ControlFlow, handle: Object) -> bool:
    """Whether a variable or an operand leads to an object."""
    held = [frame.state for frame in w.frames if frame.state is not None]
    values = [value for state in held for value in (*state.locals.values(), *state.stack)]
    return handle in reachable([*values, *w.kept], w.state)


def _pack(position: int, stack: list[Any], names: tuple[str, ...], values: Any) -> Tuple:
    """A frame that waits: the block it goes on at, its stack and variables."""
    return Tuple((position, Tuple(tuple(stack)), names, Tuple(tuple(values))))


def _resume(
    code: types.CodeType, globals: dict[str, Any], why: str, w: ControlFlow, index: Any, cell: Cell
) -> Any:
    """The next item; `why` says what to say where it cannot be told whether there is one.
    StopIteration at the end."""
    if isinstance(index, Abstract):
        raise w.error("how many items of this generator expression have been taken is not known")
    packed = w.read(cell)
    if packed is None:
        raise StopIteration
    position, stack, names, values = packed.items
    outer = w.state
    frame = Frame(bytecode.decode(code), globals, w.frame)
    inner = State(dict(zip(names, values.items, strict=True)), list(stack.items), outer.heap)
    outcome = w.enter(frame, position, inner, frozenset((SUSPENDED,)))
    w.state = outer
    if len(outcome.exits) > 1:
        raise w.error(why)
    ((target, state),) = outcome.exits.items()
    outer.heap = state.heap
    if target == RAISED:
        raise PathEnds
    if target == RETURN:
        w.write(cell, None)
        raise StopIteration
    *rest, item, position = state.stack
    w.write(cell, _pack(position, [*rest, None], tuple(state.locals), state.locals.values()))
    return item
