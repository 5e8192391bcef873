"""What rounds of an unrolled loop tell: how much they share, and whether there is an end to them;
and how many rounds a loop has at most.

    sharing = Sharing(region, place)       # where the first round begins
    sharing.round()                        # after each: what it reads, and what nobody had before
    ending = Ending(frame, header, mark)   # before a round
    ending.comes(state, emitted, 16)       # after each: whether the last is among the next 16

Windows within windows read the same texels in many of their rounds, which is seen in straight code
and not in loops.

Operations are numbered by what they compute, of the numbers of their operands: what they compute
written out would have no end where each is used twice by the next. The place x + 1 - 1 is x: whole
numbers to which known ones were added are a base and an offset.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from types import GeneratorType
from typing import Any, Final, NamedTuple

from pygpu.bytecode import ITERATOR_SLOTS, Instruction, decode
from pygpu.core.host.later import later
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.joins.joining import Leaf
from pygpu.frontend.protocols.sequences import ENDLESS, items_of
from pygpu.frontend.values.evaluator import Evaluator, Mark
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Bounded, Indexed
from pygpu.frontend.values.objects import List, Replay, Waiting
from pygpu.frontend.values.states import State, reachable
from pygpu.frontend.values.values import ABSENT, Abstract, Conflict, Dynamic, Tuple, Unset
from pygpu.ssa import Op, Region, Value, constant_of, walk

with later():
    from pygpu.frontend.flow import branches
    from pygpu.frontend.joins import bounding, choosing
    from pygpu.frontend.values import ranges


GROWING: Final = 12  # rounds in which ever more objects were joined


class Round(NamedTuple):
    """What a round of a loop reads, and how many of these reads, and of all operations, are new."""

    loads: int
    new_loads: int
    new: int


class Ending:
    """Whether a `while` loop that a dynamic test may leave ends by what is known: the sides of a
    test come closer from round to round (`while j >= 0 and v[j] > x`), or, where it has loops in
    it, each round emits less than the last one (`while swapped`, with `n -= 1`)."""

    def __init__(self, frame: Frame, header: int, before: Mark) -> None:
        graph, code = frame.graph, frame.code.instructions
        blocks = graph.loops[header]
        self._tests = [
            code[max(graph.blocks[block] - 4, block) : graph.blocks[block]]
            for block in blocks
            if code[graph.blocks[block] - 1].op == "BRANCH"
            and not blocks.issuperset(graph.successors[block])
        ]
        self._nested = any(block in graph.loops for block in blocks - {header})
        self._gaps = self._asked(before.state)
        self._emitted = before.emitted
        self._made: list[int] = []  # what each round has emitted
        self.is_known = any(gap is not None for gap in self._gaps)  # the sides of a test, at first

    def comes(self, state: State, emitted: int, rounds: int) -> bool:
        """Whether the end comes within so many rounds more, as far as can be seen."""
        self._made.append(emitted - self._emitted)
        self._emitted = emitted
        # The second round is the first under a condition, which emits something itself.
        shrinks = len(self._made) < 3 or self._made[-1] < self._made[-2]
        before, self._gaps = self._gaps, self._asked(state)
        is_near = any(
            was != now and -1 <= now / (was - now) <= rounds
            for was, now in zip(before, self._gaps, strict=True)
            if was is not None and now is not None
        )
        return rounds > 0 and (is_near or (self._nested and shrinks))

    def _asked(self, state: State) -> list[float | None]:
        """By how much the sides of each test differ; None where that is not known."""
        return [_gap(test, state) for test in self._tests]


def _gap(test: Sequence[Instruction], state: State) -> float | None:
    """By how much two numbers differ that instructions compare, or one from 0 whose truth they ask
    for; of a list its length."""
    *sides, asks = test[:-1] or test
    if asks.op != "COMPARE":
        sides = [asks]
    numbers = [_number(side, state) for side in sides]
    if len(numbers) != 1 + (asks.op == "COMPARE") or None in numbers:
        return None
    return numbers[0] - sum(numbers[1:])  # type: ignore[operator,arg-type]


def _number(instruction: Instruction, state: State) -> float | None:
    """The number that an instruction pushes, of a list its length; None where it is not known."""
    value = instruction.arg if instruction.op == "CONST" else None
    if instruction.op == "LOAD":
        value = state.locals.get(instruction.arg)
    if type(value) is List:
        items = state.get(value)
        return len(items) if type(items) is tuple else None
    return value if type(value) in (int, float) else None


class Sharing:
    """See the module's head."""

    def __init__(self, region: Region, place: int) -> None:
        self.region, self.place = region, place
        self._numbers: dict[Value, Hashable] = {}
        self._known: dict[Hashable, int] = {}

    def round(self) -> Round:
        """What the operations do that have come since the last round."""
        ops = self.region.ops[self.place :]
        self.place += len(ops)
        before, loads, new_loads, new = len(self._known), 0, 0, 0
        for op in ops:
            if op.regions:
                new += sum(1 for region in op.regions for _ in walk(region))
                continue
            moved = _moved(op, self._numbers)
            if moved is not None:
                self._numbers[op.results[0]] = moved
                continue
            count = len(self._known)
            number = self._known.setdefault(self._key(op), count)
            is_new = number == count
            for place, result in enumerate(op.results):
                self._numbers[result] = number, place
            if op.code == "load":
                loads, new_loads = loads + 1, new_loads + is_new
        return Round(loads, new_loads, new + len(self._known) - before)

    def _key(self, op: Op) -> Hashable:
        operands = tuple([self._numbers.get(value, value) for value in op.operands])
        try:
            hash(op.data)
        except TypeError:
            return op.results
        return op.code, op.data, operands


def _moved(op: Op, numbers: dict[Value, Hashable]) -> Hashable | None:
    """A constant, or a whole number that a known one was added to, as a base and an offset."""
    if op.code == "constant":
        return "constant", op.data, 0
    if op.code not in ("add", "sub") or op.results[0].type.kind != "int":
        return None
    parts = _with_offset(op.operands)
    if parts is None:
        return None
    value, offset = parts
    if op.code == "sub":
        if op.operands[0] is not value:
            return None
        offset = -offset
    base = numbers.get(value, value)
    if isinstance(base, tuple) and base[0] == "moved":
        _, base, before = base
        offset += before
    return ("moved", base, offset) if offset else base


def _with_offset(operands: Sequence[Value]) -> tuple[Value, int] | None:
    """The value and the known number of a sum of both."""
    for value, other in (operands, operands[::-1]):
        offset = constant_of(other)
        if isinstance(offset, int) and not isinstance(offset, bool):
            return value, offset
    return None


def grow_on(pairs: list[int]) -> bool:
    """Whether ever more objects were joined in the last rounds: names that rotate come to an end,
    what lists hold that grow may not."""
    last = pairs[-GROWING:]
    return last[0] > GROWING and all(a < b for a, b in pairwise(last))


def length(frame: Frame, header: int, state: State) -> Any:
    """How often a `for` loop's body runs at most, if it runs; None where nothing says that."""
    if frame.code.instructions[frame.graph.blocks[header] - 1].op != "FOR":
        return None
    source, _ = state.get(state.stack[-ITERATOR_SLOTS])
    return source.length if isinstance(source, Indexed) else None


def items_left(state: State) -> int | None:
    """How many rounds a `for` loop over what is known has yet; None where nobody knows."""
    contents = state.get(state.stack[-ITERATOR_SLOTS])
    if isinstance(contents, Conflict):
        return None
    source, index = contents
    if isinstance(source, List):
        source = state.get(source)
    return len(source) - index if isinstance(source, (tuple, range)) else None


def collects(w: Evaluator) -> bool:
    """Whether the items of a generator are being collected."""
    held = [frame.state.locals for frame in w.frames if frame.state is not None]
    held += [w.state.get(each) for each in w.kept if isinstance(each, Waiting)]
    return any(".yield" in variables for variables in held)


def asks_for_one(w: Evaluator) -> bool:
    """Whether a generator is walked up to its next item."""
    return any(frame.suspends for frame in w.frames)


def source_items(w: Evaluator, source: Any) -> Sequence[Any]:
    """The items of an iterator's source, of one that Python runs as far as it goes."""
    if isinstance(source, List):
        return items_of(w, source)
    if isinstance(source, Replay) and not _goes_on(source.iterator):
        try:
            for index in range(ENDLESS + 1):
                item = source.get(index)
                if isinstance(item, int) and item.bit_length() > 64:
                    break  # which no table holds: such numbers may grow for ever
        except StopIteration:
            return tuple(source.items)
    return source  # type: ignore[no-any-return]


def _goes_on(iterator: Any) -> bool:
    """Whether a generator of Python's waits in a loop that nothing leaves."""
    if not isinstance(iterator, GeneratorType) or iterator.gi_frame is None:
        return False
    line, code = iterator.gi_frame.f_lineno, decode(iterator.gi_code)
    return any(
        each.op == "YIELD" and each.position[0] == line
        for header, blocks in code.graph.loops.items()
        if not code.graph.exits(header)
        for block in blocks
        for each in code.instructions[block : code.graph.blocks[block]]
    )


def at_most(w: Evaluator, rounds: Any, turns: int | None) -> tuple[int | None, bool]:
    """The most rounds that a loop can have, and if it has so many where it runs; None where nobody
    knows, or they are so many that lists are better given the room of one without a known end.
    `turns`: how often it comes round at most, where that was found by what it counts."""
    if turns is not None:
        return turns, False
    if isinstance(rounds, int):
        return rounds if rounds < 1 << 31 else None, True
    if isinstance(rounds, Dynamic) and rounds.value.type.kind == "int":
        most = ranges.range_of(w, rounds.value)[1]
        return max(most, 0) if most <= choosing.UNKNOWN else None, False
    return None, False


def define(w: Evaluator, rounds: Any, entry: State, back: State, leaf: Leaf) -> None:
    """Give variables that a loop's body assigns first, and that is known to run, a start too."""
    if not ranges.is_above(w, rounds, 0):
        return
    for name, value in back.locals.items():
        is_set = not isinstance(entry.locals.get(name, _UNSET), Unset)
        if not is_set and isinstance(value, Dynamic):
            entry.locals[name] = value.moved(leaf(0, value, value.type, (name,)))
        elif not is_set and (begun := _begun(value)) is not ABSENT:
            entry.locals[name] = begun


_UNSET: Final = Unset("")


def _begun(value: Any) -> Any:
    """What something like a value may be before it is set; ABSENT where that is not known."""
    if isinstance(value, Tuple):
        items = tuple(map(_begun, value.items))
        return ABSENT if any(item is ABSENT for item in items) else value.rebuild(items)
    if not isinstance(value, Abstract):
        return value
    zero = choosing.zero_of(value)
    return ABSENT if zero is None else zero


def trim(w: ControlFlow, frame: Frame, state: State) -> None:
    """Leave out slots of lists that no item can be in: more than there may be items say that a loop
    has made room for what its rounds add."""
    for each in (*state.heap, *reachable(branches.in_sight(w, frame, state), state)):
        held = state.get(each)
        if type(held) is Bounded and held.most < len(held.items):
            items = held.items[: held.most]
            state.heap[each] = held.changed(items, held.length, held.least, held.most)


def turns(
    w: ControlFlow,
    frame: Frame,
    states: tuple[State, State, State],
    guard: tuple[Value, bool] | None,
    body: Region,
    before: Mapping[Value, Any],
    after: Mapping[Value, Any],
) -> int | None:
    """How often a loop comes round at most, where lists grow in it; None where that is not known,
    or more than such lists have room for. The states: before, in and after a round."""
    start, current, now = states
    if guard is None or not _is_given_room(start, now):
        return None
    lengths: dict[Value, tuple[int, int]] = {}
    for state in (start, current):
        lengths |= bounding.lengths(state, branches.in_sight(w, frame, state))
    found = bounding.most_rounds(w, bounding.Turn(body, *guard, before, after, lengths))
    return found if found is not None and found < choosing.UNKNOWN else None


def _is_given_room(before: State, now: State) -> bool:
    """Whether lists have been given the room of those that a loop without a known end adds to."""
    held = [(before.heap.get(each), new) for each, new in now.heap.items()]
    return any(
        type(new) is Bounded and new.room is not None and getattr(old, "room", None) is None
        for old, new in held
    )
