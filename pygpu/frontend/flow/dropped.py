"""Generators that wait and that nothing holds any more: Python closes them at once.

So what their `finally` and `with` wait to do is done, before the next instruction.

    for x in opened(log):           # a generator function with a `finally`
        if x > 2:
            break                   # drops the generator: its `finally` is walked here
    return len(log)

Only generators whose code has handlers are looked after (`ControlFlow.guarded`). Each belongs to
the call that holds it, and is asked for after that call's instructions alone: what a rule holds
amid an instruction, no frame shows.
"""

from __future__ import annotations

from collections.abc import Iterator as Yields
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from pygpu.core.host.later import later
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.values.frames import Frame, Guarded
from pygpu.frontend.values.objects import Iterator, Waiting
from pygpu.frontend.values.states import State, reachable
from pygpu.ssa import Call

with later():
    from pygpu.frontend.flow import generators
    from pygpu.frontend.walked import library


@contextmanager
def driven(w: ControlFlow, handle: Waiting, by: tuple[Waiting, State, int]) -> Yields[None]:
    """While the body of a loop is walked for an item: note by what (`by`) the loop's generator is
    closed if the body drops it."""
    each = w.guarded.get(handle)
    if each is None:
        yield
        return
    before, each.driven = each.driven, by
    try:
        yield
    finally:
        each.driven = before


def close(w: ControlFlow, frame: Frame, state: State) -> None:
    """Close what the instruction that was walked has dropped."""
    calls = [each.call for each in w.frames]
    waiting = [
        handle
        for handle, each in w.guarded.items()
        if _waits(each, state.get(handle)[generators.AT]) and _owner(each, calls) is frame.call
    ]
    if not waiting:
        return
    held = _held(w, state)
    for handle in waiting:
        if handle in held:
            continue
        each = w.guarded[handle]
        if each.driven is not None:
            _, inner, end = each.driven
            w.write(handle, generators.at_yield(inner, end))
        w.call(library.drop, Iterator((each.source, 0)))


def _waits(each: Guarded, at: Any) -> bool:
    """Whether a generator may wait at a `yield`."""
    if at == generators.RUNNING:
        return each.driven is not None
    return at not in (generators.START, generators.ENDED)


def _owner(each: Guarded, calls: Sequence[Call | None]) -> Call | None:
    """The call that holds a generator: its maker or, where that is over or waits, a caller."""
    owner = each.owner
    while owner not in calls:
        assert owner is not None
        owner = owner.outer
    return owner


def _held(w: ControlFlow, state: State) -> set[Any]:
    """What variables and operands lead to, those of the function of a driven loop included."""
    amid = {each.driven[0] for each in w.guarded.values() if each.driven}
    held: list[Any] = [each for each in w.kept if each not in amid]
    for frame in w.frames:
        if frame.state is not None:
            held += [*frame.state.locals.values(), *frame.state.stack]
    return reachable(held, state)
