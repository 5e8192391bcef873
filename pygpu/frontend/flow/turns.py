"""What ends a block: tests, and the next round of a loop.

A test of what is known takes one way. At a dynamic one both are walked, each in a region, up to
where they meet.
"""

from __future__ import annotations

from typing import Any

from pygpu.bytecode import ITERATOR_SLOTS
from pygpu.core.host.later import later
from pygpu.frontend.flow import choices
from pygpu.frontend.flow.paths import RESULT, ControlFlow, Outcome
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import sequences
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.kinds import Text
from pygpu.frontend.values.lazy import Indexed, Suspended
from pygpu.frontend.values.objects import Iterator, List, Unordered, Yielded, youngest
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Choice, Conflict, Dynamic, Maybe
from pygpu.ssa import Value

with later():
    from pygpu.frontend.effects import raising
    from pygpu.frontend.flow import branches, comprehensions
    from pygpu.frontend.values import ranges


def _costs_nothing(w: ControlFlow) -> bool:
    """Whether what fails in an assertion is nobody's business."""
    return not w.faults.checked and not w.handled()


def branch_on(
    w: ControlFlow, frame: Frame, block: int, state: State, arg: Any, stops: frozenset[int]
) -> Outcome:
    test, target = arg
    value = state.stack.pop()
    end = frame.graph.blocks[block]
    if test in ("none", "notnone"):
        if isinstance(value, Conflict) and not isinstance(value, Text):
            raise w.error(value.message)
        if not isinstance(value, Choice):
            return Outcome.one(target if (value is None) == (test == "none") else end, state)
        condition, test = choices.is_same(w, value, None, test == "notnone"), "true"
    else:
        condition = w.truth(value)
    if target == end:  # as in `if c: pass`
        return Outcome.one(end, state)
    if not isinstance(condition, Dynamic):
        return Outcome.one(target if condition == (test == "true") else end, state)
    yes, no = (target, end) if test == "true" else (end, target)
    for arm, other in ((yes, no), (no, yes)):
        if arm in frame.doomed() and raising.is_assertion(frame, arm) and _costs_nothing(w):
            return Outcome.one(other, state)  # an assertion costs nothing
    inner = stops.union(frame.graph.merges(block))
    other = state.fork()
    state.facts, other.facts = w.meanings.sides(state, condition.value)
    return branches.branch(
        w,
        frame,
        condition.value,
        lambda: w.run(frame, yes, state, inner),
        lambda: w.run(frame, no, other, inner),
    )


def next_round(
    w: ControlFlow, frame: Frame, block: int, state: State, target: int, stops: frozenset[int]
) -> Outcome:
    """Push the next item, or drop the iterator and jump."""
    body = frame.graph.blocks[block]
    iterator = state.stack[-ITERATOR_SLOTS]
    source, index = w.read(iterator) if isinstance(iterator, Iterator) else (None, 0)
    if type(source) is Unordered:
        _take_in_any_order(w, frame, block, state)
    if isinstance(source, Indexed):
        sure = ranges.is_above(w, source.length, index)
        inside = sure or arithmetic.compare(w, "<", index, source.length)
        if isinstance(inside, Dynamic):
            return _next_round_dynamic(w, frame, block, state, target, stops, inside.value)
        if inside:
            state.stack.append(source.element(index))
            w.write(iterator, (source, arithmetic.binary(w, "+", index, 1)))
            return Outcome.one(body, state)
    elif isinstance(iterator, Iterator) and sequences.maybe_next(w, iterator):
        return _round_that_may_be(w, frame, block, state, stops)
    else:
        try:
            state.stack.append(w.next(iterator))
            return Outcome.one(body, state)
        except StopIteration as ended:
            if frame.code.instructions[target].op == "RESULT":
                _keep_result(w, state, iterator, ended)
    del state.stack[-ITERATOR_SLOTS:]
    return Outcome.one(target, state)


def _take_in_any_order(w: ControlFlow, frame: Frame, block: int, state: State) -> None:
    """Let a loop take items that have no order where none shows: of a set's comprehension, and of
    a generator's, which then has none either."""
    iterator, collected = state.stack[-ITERATOR_SLOTS], state.locals.get(".yield")
    source, index = w.read(iterator)
    if isinstance(collected, Yielded) and frame.code.code.co_name == "<genexpr>":
        collected.before = collected.before or (youngest(), dict(state.heap))
    elif not comprehensions.adds_to_a_set(frame, block):
        return
    w.write(iterator, (Yielded(w.read(source)), index))


def _keep_result(w: ControlFlow, state: State, iterator: Any, ended: StopIteration) -> None:
    """Keep what a generator has returned for `yield from`. Sequences return None."""
    source = w.read(iterator)[0] if isinstance(iterator, Iterator) else None
    is_sequence = type(source) in (tuple, range, List)
    if is_sequence or isinstance(source, Suspended):
        state.locals[RESULT] = ended.value


def _round_that_may_be(
    w: ControlFlow, frame: Frame, block: int, state: State, stops: frozenset[int]
) -> Outcome:
    """Walk the body where the next item is there."""
    iterator = state.stack[-ITERATOR_SLOTS]
    source, index = w.read(iterator)
    item = w.read(source)[index]
    w.write(iterator, (source, index + 1))
    return _if_there(w, frame, block, state, stops, item)


def _if_there(
    w: ControlFlow, frame: Frame, block: int, state: State, stops: frozenset[int], item: Maybe
) -> Outcome:
    inner = stops.union((block,), frame.graph.merges(block))
    other = state.fork()
    state.stack.append(item.value)
    return branches.branch(
        w,
        frame,
        item.taken.value,
        lambda: w.run(frame, frame.graph.blocks[block], state, inner),
        lambda: Outcome.one(block, other),
    )


def _next_round_dynamic(
    w: ControlFlow,
    frame: Frame,
    block: int,
    state: State,
    target: int,
    stops: frozenset[int],
    inside: Value,
) -> Outcome:
    inner = stops.union(frame.graph.merges(block))
    other = state.fork()
    iterator = state.stack[-ITERATOR_SLOTS]

    def go_on() -> Outcome:
        w.state = frame.state = state
        source, index = w.read(iterator)
        item = source.element(index)
        w.write(iterator, (source, arithmetic.binary(w, "+", index, 1)))
        if isinstance(item, Maybe):
            return _if_there(w, frame, block, state, inner, item)
        state.stack.append(item)
        return w.run(frame, frame.graph.blocks[block], state, inner)

    def leave() -> Outcome:
        del other.stack[-ITERATOR_SLOTS:]
        return w.run(frame, target, other, inner)

    return branches.branch(w, frame, inside, go_on, leave)
