"""Comprehensions and generator expressions over sequences that are too long to be unrolled.

They become an `Indexed`: the body is walked anew for each element that is used, in the world as it
was where the comprehension stood.

    xs = [im(p + (i, 0)) for i in range(5000)]
    xs[k]                                       # walks the body for i = k
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.bytecode import ITERATOR_SLOTS, Instruction
from pygpu.core.errors import CompileError
from pygpu.core.host.records import record
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.flow.paths import ControlFlow, Outcome
from pygpu.frontend.protocols.sequences import indexed
from pygpu.frontend.values.evaluator import usable
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Growing, Indexed
from pygpu.frontend.values.objects import Iterator, List, Object, youngest
from pygpu.frontend.values.states import Frozen, State, reachable
from pygpu.frontend.values.values import Abstract, Dynamic, Maybe
from pygpu.ssa import Value
from pygpu.types import INT

FILTERED: Final = (
    "how many items this generator expression gives only the device knows: it can be looped over "
    "and folded (sum() and the like); a list comprehension can be indexed and measured, too"
)


def collected_by(
    w: ControlFlow, frame: Frame, header: int, state: State, known: bool = False
) -> List | None:
    """The list that a comprehension's loop appends to in each round, None for other loops: which
    rounds a filter leaves out only the device knows, so that no index says where an item is. Those
    of `known` items are too many to be taken in turn: what does not ask for indices is given them.
    """
    found = _adding(frame, header)
    if found is None:
        return None
    block, instruction = found
    if instruction.op == "YIELD":
        collected = state.locals.get(".yield")
    else:
        collected = state.stack[-_depth(frame, header, block, instruction)]
    if not isinstance(collected, List):
        return None
    if not known and state.get(collected) != ():  # a loop around this one has had a round
        if instruction.op == "YIELD":
            raise w.error(FILTERED)
        lists.fill(w, collected)
        return None
    if known or not _may_leave_out(frame, header, block):
        return collected
    if instruction.op == "YIELD":
        raise w.error(FILTERED)  # its items are to be taken in turn
    return None


def _may_leave_out(frame: Frame, header: int, adding: int) -> bool:
    """Whether a round of a comprehension's own loop may add nothing."""
    if _loops_within(frame, header, adding):
        return False
    loop = frame.graph.loops[header]
    waiting, seen = [header], {adding}
    while waiting:
        for block in frame.graph.successors[waiting.pop()]:
            if block == header:
                return True
            if block in loop and block not in seen:
                seen.add(block)
                waiting.append(block)
    return False


def adds_to_a_set(frame: Frame, header: int) -> bool:
    """Whether a loop is one of a set's comprehension, whose set lies below the loop's iterator."""
    return any(
        instruction.op == "ADD" and _depth(frame, header, block, instruction) > ITERATOR_SLOTS
        for block in frame.graph.loops.get(header, ())
        for instruction in frame.code.instructions[block : frame.graph.blocks[block]]
    )


def _adding(frame: Frame, header: int) -> tuple[int, Instruction] | None:
    """The instruction that adds an item to what a comprehension's loop makes, and its block."""
    for block in sorted(frame.graph.loops[header]):
        for instruction in frame.code.instructions[block : frame.graph.blocks[block]]:
            if instruction.op == "YIELD":
                # a generator's loop may carry more than its items
                return (block, instruction) if frame.code.code.co_name == "<genexpr>" else None
            # the list of a comprehension in the loop's body lies above the loop's iterator
            appends = instruction.op == "APPEND"
            if appends and _depth(frame, header, block, instruction) > ITERATOR_SLOTS:
                return block, instruction
    return None


def _depth(frame: Frame, header: int, block: int, append: Instruction) -> int:
    """How deep the list that is appended to would lie on the stack at a loop's header, if there
    stood but iterators above it: those of all loops around the append."""
    return int(append.arg) - ITERATOR_SLOTS * _loops_within(frame, header, block)


def _loops_within(frame: Frame, header: int, block: int) -> int:
    """How many loops inside the header's own are around a block of it."""
    loops = frame.graph.loops
    return sum(h != header and block in loops[h] and h in loops[header] for h in loops)


def long_comprehension(
    w: ControlFlow, frame: Frame, header: int, state: State, collected: List
) -> Outcome | None:
    """A comprehension over a long sequence: its elements are made where they are used. None for a
    list of which each item may raise: what raises belongs here, in a loop that makes them all."""
    here = state.fork()
    items = indexed(w, state.stack[-ITERATOR_SLOTS])
    leave = frame.code.instructions[frame.graph.blocks[header] - 1].arg
    adding = _adding(frame, header)
    grouped = adding is not None and _loops_within(frame, header, adding[0]) > 0
    if w.read(collected):
        raise w.error(_TOO_LONG)
    frozen = state.fork()
    taken = frozen.stack[-ITERATOR_SLOTS]  # its items are in tables now; they would be many
    done = Iterator(((), 0))
    frozen.stack[-ITERATOR_SLOTS] = done
    frozen.locals = {name: done if v is taken else v for name, v in frozen.locals.items()}
    frozen.heap.pop(taken, None)
    seen = reachable([*frozen.locals.values(), *frozen.stack, *w.kept], frozen)
    frozen.heap = {handle: held for handle, held in frozen.heap.items() if handle in seen}
    known = not isinstance(items.length, Abstract)
    what = f"a comprehension over {items.length if known else 'a dynamic number of'} items"
    body = _Body(w, frame, header, frame.at, collected, grouped)
    yields = adding is not None and adding[1].op == "YIELD"
    tried = w.handled() or w.faults.checked or grouped
    if tried and body.may_raise(items, frozen):
        if yields:
            raise w.error(FILTERED)  # its items are to be taken in turn
        w.state = frame.state = here
        return None
    w.state = state
    filtered = adding is not None and _may_leave_out(frame, header, adding[0])
    of = (items, Frozen(frozen))
    w.write(collected, Indexed(items.length, body.element, what, of, grouped, filtered))
    del state.stack[-ITERATOR_SLOTS:]
    return Outcome.one(leave, state)


_TOO_LONG: Final = "this comprehension is too long to be unrolled"
_TOO_LONG_TO_CHANGE: Final = "a comprehension too long to be unrolled must not change other objects"


@record
class _Body:
    """The body of a comprehension, and the instruction that takes an item."""

    w: ControlFlow
    frame: Frame
    header: int
    at: int
    collected: List
    grouped: bool  # whether a loop within makes several elements of an item

    def may_raise(self, items: Indexed, frozen: State) -> bool:
        """Whether what the body makes of an item may raise, or cannot be made where it is used."""
        try:
            with self.w.attempt():  # undone
                self.w.state = frozen.fork()
                self.element(Dynamic(Value(INT, "i")), items, Frozen(frozen.fork()))
        except CompileError:
            return True
        return False

    def element(self, index: Any, items: Indexed, put_off: Frozen) -> Any:
        """What the body makes of the item at an index."""
        w, frame = self.w, self.frame
        outer, outer_at = w.state, frame.at
        frozen = put_off.state
        inner = State(frozen.locals.copy(), frozen.stack.copy(), {**outer.heap, **frozen.heap})
        inner.heap[self.collected] = ()
        before, older = inner.heap.copy(), youngest()
        result = self._walked(inner, index, items)
        self._carry_out(result, before, outer, older, frozen)
        made = result.get(self.collected)
        made = made.rows if isinstance(made, Growing) else made
        w.state, frame.at = outer, outer_at
        usable(w, made)
        if self.grouped:
            return type(self.collected)(made)
        if made:
            return made[0]
        if isinstance(index, Abstract):
            return Maybe(False, 0)
        # left out by a filter: what type it would be shows at an index that is not known
        return self.element(Dynamic(w.build.constant(INT, index)), items, put_off)

    def _walked(self, inner: State, index: Any, items: Indexed) -> State:
        """The state after the body, walked from another."""
        w, frame = self.w, self.frame
        w.state, frame.at = inner, self.at
        inner.stack.append(items.element(index))
        walk = w.run if frame is w.frames[-1] else w.enter
        outcome = walk(frame, frame.graph.blocks[self.header], inner, frozenset((self.header,)))
        result = outcome.exits[self.header]
        if len(outcome.exits) > 1:
            raise w.error(_TOO_LONG)
        return result

    def _carry_out(
        self, result: State, before: dict[Object, Any], outer: State, older: int, frozen: State
    ) -> None:
        """Let objects that the body has made be where the element is used; it must not have changed
        others, but for the variables of its own."""
        own = {frozen.locals.get(name) for name in self.frame.code.code.co_cellvars}
        for handle, contents in result.heap.items():
            if handle.serial > older:
                outer.heap[handle] = contents
            elif handle is self.collected or handle in own:
                continue
            elif before.get(handle, handle.initial) is not contents:
                raise self.w.error(_TOO_LONG_TO_CHANGE)
