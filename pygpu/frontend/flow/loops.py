"""Loops: unrolled where they can be, else loops of the SSA.

A loop over known things is walked again and again. Where that would emit too much, or where a
dynamic test may leave it, it becomes a loop of the device, its items taken from tables; a
comprehension becomes a sequence whose elements are made where they are used. What a loop of the
device carries is found by walking its body until nothing changes any more.
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.bytecode import ITERATOR_SLOTS
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.flow.driving import drive
from pygpu.frontend.flow.paths import (
    ControlFlow,
    Outcome,
    beyond_all,
    exits_of,
    guard,
    name_of,
    still_read,
    zero,
)
from pygpu.frontend.joins.joining import Renumbered, Round
from pygpu.frontend.numbers.numbers import as_value
from pygpu.frontend.protocols.sequences import UNROLL_OPS, endless, told_apart
from pygpu.frontend.values.evaluator import Mark, usable
from pygpu.frontend.values.faults import is_set
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Indexed
from pygpu.frontend.values.objects import Replay, youngest
from pygpu.frontend.values.states import Export, State, move_out
from pygpu.frontend.values.values import Dynamic, Key, same_known
from pygpu.ssa import Op, Region, Value
from pygpu.types import Type

with later():
    from pygpu.frontend.collections import spelled
    from pygpu.frontend.flow import branches, comprehensions, rounds
    from pygpu.frontend.joins import origins, several
    from pygpu.frontend.protocols import tables

ROUNDS: Final = 200  # walks of a loop's body after which it is said not to settle
COLLECTED: Final = 64  # rounds of a loop that a dynamic test may leave whose items are collected
SHARED: Final = 4  # times as many operations are unrolled where most loads are the same ones
UNROLLED_AT_ALL: Final = 4  # times as many where a loop cannot be one of the device
SHORT_LOOP: Final = 4  # rounds of a loop that is unrolled though it emits more, but in a deep nest
UNROLL_EXITS: Final = 16  # iterations of a known loop that a dynamic test may leave
IN_VAIN: Final = 2  # times that a `while` loop is walked on for an end that does not come


def loop(w: ControlFlow, frame: Frame, header: int, state: State, stops: frozenset[int]) -> Outcome:
    """Unroll a loop, or make it one of the device."""
    entry = frame.graph.blocks[header] - 1
    is_for = frame.code.instructions[entry].op == "FOR" and bool(frame.graph.exits(header))
    if is_for:
        usable(w, state.stack[-ITERATOR_SLOTS])

        def ask(state: State) -> Outcome:
            return _Unrolling(w, frame, header, stops, is_for, w.mark(state)).walk(state)

        driven = drive(w, frame, header, state, stops, ask)
        if driven is not None:
            return driven
    w.state = state
    if not is_for or not isinstance(w.read(state.stack[-ITERATOR_SLOTS])[0], Indexed):
        return _Unrolling(w, frame, header, stops, is_for, w.mark(state)).walk(state)
    frame.at = entry
    collected = comprehensions.collected_by(w, frame, header, state)
    if collected is None:
        return device_loop(w, frame, header, state, stops)
    made = comprehensions.long_comprehension(w, frame, header, state, collected)
    return made or device_loop(w, frame, header, w.state, stops)


class _Unrolling:
    """A loop that is walked iteration by iteration, as long as that is wise."""

    def __init__(
        self,
        w: ControlFlow,
        frame: Frame,
        header: int,
        stops: frozenset[int],
        is_for: bool,
        origin: Mark,
    ) -> None:
        self.w = w
        self.frame = frame
        self.header = header
        self.stops = stops
        self.is_for = is_for
        self.origin = origin  # before the first iteration
        self.peeled: Mark | None = None  # after it
        self.iterations = 0
        self.distinct = 0  # operations so far, each counted once
        self.sharing = rounds.Sharing(w.build.region, origin.operations)
        self.refused: CompileError | None = None  # why it cannot be a loop of the device
        self.is_endless = not is_for and not frame.graph.exits(header)
        self.by_choice = False  # whether items that fit no table are chosen in each round
        self.ending: rounds.Ending | None = None  # of a loop that a dynamic test may leave

    def walk(self, state: State) -> Outcome:
        w, header = self.w, self.header
        inner = self.stops.union((header,), beyond_all(self.frame, header))
        if not self.is_for and not self._may_end() and self._starts_by_a_dynamic_test(state):
            looped = self._try_from(self.origin)
            if looped is not None:
                return looped
        outcome = Outcome.one(header, state)
        here = self.origin

        def once(frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
            return w.run(frame, block, state, stops, force=True)

        while header in outcome.exits:
            if len(outcome.exits) == 1 and not self.is_for:
                here = w.mark(outcome.exits[header])
            try:
                outcome = w.advance(self.frame, outcome, header, inner, once)
            except CompileError:
                looped = self._try_from(here) if self.ending else None
                if looped is None:
                    raise
                return looped
            self.iterations += 1
            w.unrolled += 1
            if header in outcome.exits:
                looped = self._looped(outcome, here)
                if looped is not None:
                    return looped
        return outcome

    def _starts_by_a_dynamic_test(self, state: State) -> bool:
        """Whether a test before all else decides if there is a first round. The round need not be
        walked then to know that: within loops that would be walked themselves each time."""
        w, frame = self.w, self.frame
        ways = frozenset(frame.graph.successors[self.header])
        if len(ways) < 2 or ways <= frame.graph.loops[self.header]:
            return False
        w.state = frame.state = state
        with w.attempt():  # undone
            outcome = w.run(frame, self.header, state.fork(), self.stops | ways, force=True)
        return ways <= outcome.exits.keys()

    def _try_from(self, restart: Mark) -> Outcome | None:
        """The loop as one of the device from there on, if it can be one."""
        try:
            with self.w.attempt(since=restart) as trial:
                return trial.keep(self._fall_back(restart.state.fork()))
        except CompileError as error:
            self.refused = self.refused or error
        return None

    def _looped(self, outcome: Outcome, here: Mark) -> Outcome | None:
        """The loop as one of the device, where it is to be that; `here` is the last place at which
        it was known that the loop goes on."""
        w, state = self.w, outcome.exits[self.header]
        emitted = w.build.count - self.origin.emitted
        if self.is_endless and rounds.collects(w) and self._has_no_end():
            raise w.error("this loop has no end: its items can be taken one after the other")
        known = rounds.items_left(state) if self.is_for else None
        left = known if known is not None else int(self.is_for)
        may_leave = len(outcome.exits) > 1
        if self.is_for and self.iterations == 1 and not may_leave:
            self.peeled = w.mark(state)
        whole = emitted + emitted // self.iterations * left
        is_short = self.iterations + left <= SHORT_LOOP
        too_much = whole > UNROLL_OPS * (UNROLLED_AT_ALL if is_short else 1)
        if too_much and self.is_for and not may_leave and whole <= SHARED * UNROLL_OPS:
            too_much = not self._is_shared(left)
        is_hopeless = whole > UNROLLED_AT_ALL * UNROLL_OPS * (SHORT_LOOP if is_short else 1)
        if self.refused:
            goes_on = (
                self.is_endless or rounds.collects(w) or (known is None and rounds.asks_for_one(w))
            )
            if may_leave and goes_on and self._has_no_end():
                raise self.refused
            return self._by_choice() if is_hopeless and emitted > UNROLL_OPS else None
        if may_leave and not self.is_for:
            if emitted <= UNROLL_OPS and self._comes_to_an_end(state, here):
                return None
            restarts = [here]
        elif too_much or (may_leave and self.iterations + left > UNROLL_EXITS):
            # what a loop carries may have the type of what it adds up only after one iteration
            restarts = [self.origin, self.peeled] if self.peeled and left else [self.origin]
        else:
            return None
        for restart in restarts:
            looped = self._try_from(restart)
            if looped is not None:
                return looped
        if is_hopeless and self.refused:
            return self._by_choice()
        return None  # cannot be a loop of the device: unroll, whatever it takes

    def _by_choice(self) -> Outcome:
        """The loop as one of the device whose items are chosen in each round."""
        self.by_choice = True
        looped = self._try_from(self.origin)
        if looped is None:
            raise self.refused or AssertionError
        return looped

    def _may_end(self) -> bool:
        """Whether a loop may be walked on that a dynamic test may leave, for a known end."""
        known = rounds.Ending(self.frame, self.header, self.origin).is_known
        return known and self.w.tried[self.frame.code, self.header] < IN_VAIN

    def _comes_to_an_end(self, state: State, here: Mark) -> bool:
        """Whether such a loop is walked on; dynamic tests may leave it from `here`."""
        w, loop, walked_on = self.w, (self.frame.code, self.header), self.ending is not None
        self.ending = self.ending or rounds.Ending(self.frame, self.header, here)
        left = UNROLL_EXITS - self.iterations
        comes = w.tried[loop] < IN_VAIN and self.ending.comes(state, w.build.count, left)
        w.tried[loop] += walked_on and not comes
        return comes

    def _has_no_end(self) -> bool:
        """Whether a loop whose items are collected has been unrolled long enough: fewer rounds
        where it had no end before, in the same calls."""
        calls = tuple([(frame.code, frame.at) for frame in self.w.frames])
        few = self.w.tried[calls, self.header] >= IN_VAIN
        ends_not = self.iterations >= (UNROLL_EXITS if few else COLLECTED)
        self.w.tried[calls, self.header] += ends_not
        return ends_not

    def _is_shared(self, left: int) -> bool:
        """Whether rounds read so much of what others have read that the loop's operations, each
        counted once, are not too many; so many rounds are left. The first shares with none."""
        if self.w.build.region is not self.sharing.region:
            return False
        found = self.sharing.round()
        self.distinct += found.new
        if self.iterations == 1:
            return True
        return 2 * found.new_loads <= found.loads and self.distinct + found.new * left <= UNROLL_OPS

    def _fall_back(self, state: State) -> Outcome:
        """A known loop as a device loop: its items come from tables."""
        w, frame, header = self.w, self.frame, self.header
        w.state = frame.state = state
        frame.at = frame.graph.blocks[header] - 1
        if not self.is_for:
            return device_loop(w, frame, header, state, self.stops)
        iterator = state.stack[-ITERATOR_SLOTS]
        source, index = w.read(iterator)
        source = rounds.source_items(w, source)
        self.is_endless |= isinstance(source, Replay)
        items = endless(w, source, index)
        if items is None and not isinstance(source, (tuple, range)):
            raise w.error(
                "this loop is too long to be unrolled, and takes its items from an iterator that "
                "Python advances while the function is compiled: loop over a range or a list, or "
                "write the generator inside of the function, where it is compiled too"
            )
        if items is None:
            items = tables.tabulate(w, source[index:], self.by_choice)
        w.write(iterator, (items, 0))
        collected = comprehensions.collected_by(w, frame, header, state, known=True)
        if collected is not None:
            told_apart(w, items)
            made = comprehensions.long_comprehension(w, frame, header, state, collected)
            return made or device_loop(w, frame, header, w.state, self.stops)
        return device_loop(w, frame, header, state, self.stops)


def device_loop(
    w: ControlFlow,
    frame: Frame,
    header: int,
    state: State,
    stops: frozenset[int],
    texts: spelled.Spelled | None = None,
    turns: int | None = None,
) -> Outcome:
    """A loop of the SSA, of at most so many `turns`: walk it until what it carries is settled."""
    inner = stops.union((header,), exits_of(frame, header))
    initial: dict[Value, Any] = {}  # each parameter of the body: what it starts as
    rounds.trim(w, frame, state)
    current, start, texts, pairs = state, state.fork(), texts or spelled.Spelled(), [0]
    _place(w, frame, state, texts)
    entry, most = youngest(), rounds.length(frame, header, state)
    current.locals = branches.unset(frame, header, still_read(w, frame.code, header, current))
    while len(pairs) <= ROUNDS and not rounds.grow_on(pairs):
        before = w.mark()
        body, outcome = _round(w, frame, header, current.fork(), inner, texts, entry)
        if header not in outcome.exits:  # the body runs once at most: no loop at all
            w.rewind(before, youngest())
            return w.run(frame, header, state, inner, force=True)
        reached, walked = outcome.exits[header], youngest()
        if (filled := branches.filled(w, start, reached)) or texts.grown(current, reached):
            w.rewind(before, walked)  # to be walked again, from slots
            branches.fill(w, frame, start, filled)
            return device_loop(w, frame, header, start, stops, texts, turns)
        nexts: dict[Value, Any] = {}
        changed = False

        def leaf(a: Any, b: Any, type: Type, key: Key) -> Value:
            nonlocal changed
            old = a.value if isinstance(a, Dynamic) else a
            carried = isinstance(old, Value) and old in initial and old.type is type
            if carried and _same_leaf(nexts.setdefault(old, b), b):  # noqa: B023 - of this round
                changed |= origins.carries(w, old, b)
                return old
            changed = True
            param = origins.note_either(w, Value(type, name_of(key)), a, b)
            initial[param] = _initial(a, initial)
            return param

        rounds.define(w, most, current, reached, leaf)
        around = Round(lambda leaf: _initial(leaf, initial), *rounds.at_most(w, most, turns), entry)
        joined, how = branches.join(w, frame, current, reached, leaf, before.serial, around)
        pairs.append(len(how.pairs))
        noted = w.heap.alias_joined(how.aliases, how.named(), around=True)
        if not changed and not how.guarded():
            break
        w.rewind(before, walked)  # to be walked again, from what was joined
        w.heap.alias_joined(noted, {})
        current = joined
    else:
        raise w.error("what this loop carries from round to round is not settled: simplify it")
    if most is None and turns is None:
        go, states = outcome.guards.get(header), (start, current, joined)
        if (turns := rounds.turns(w, frame, states, go, body, initial, nexts)) is not None:
            w.rewind(before, walked)
            return device_loop(w, frame, header, start, stops, texts, turns)
    return _emit_loop(w, header, body, outcome, initial, nexts, entry)


def _round(
    w: ControlFlow,
    frame: Frame,
    header: int,
    state: State,
    stops: frozenset[int],
    texts: spelled.Spelled,
    entry: int,
) -> tuple[Region, Outcome]:
    """Walk a loop's body in a region of its own, at whose end lists are in slots that grow."""
    body, conditions, at = Region(), w.conditions, frame.at
    w.conditions = (*conditions, (frame, at, None))
    with w.build.inside(body):
        outcome = w.run(frame, header, state, stops, force=True)
    w.conditions = conditions
    frame.at = at
    for target, left in outcome.exits.items():
        left.locals = still_read(w, frame.code, target, left)
        if target == header:
            with w.build.inside(body):
                _place(w, frame, left, texts)
                several.put_together(w, left, branches.in_sight(w, frame, left), entry)
    return body, outcome


def _place(w: ControlFlow, frame: Frame, state: State, texts: spelled.Spelled) -> None:
    """Put into slots what lists hold that grow, and strings."""
    branches.place_lists(w, frame, state)
    texts.spell(w, state)


def _emit_loop(
    w: ControlFlow,
    header: int,
    body: Region,
    outcome: Outcome,
    initial: dict[Value, Any],
    nexts: dict[Value, Any],
    older: int,
) -> Outcome:
    if len(outcome.exits) == 1:
        raise w.error("this loop never ends: nothing leaves it")
    params = list(nexts)  # parameters that were widened or do not change are left out
    with w.build.inside(body):
        values = [as_value(w, nexts[param], param.type) for param in params]
        go = guard(w, outcome, header)
        fault = outcome.exits[header].get(w.faults.cell)
        if isinstance(fault, Dynamic):  # where a call has raised, nobody knows when it would end
            go = w.build.emit("bit_and", go, w.build.emit("not", is_set(w.build, fault.value)))
    left_out = {param: initial[param] for param in initial if param not in nexts}
    if left_out:  # invariant after all: carried unchanged, removed by a pass
        params += left_out
        values += left_out
    inits = [as_value(w, initial[param], param.type) for param in params]
    results = [Value(param.type, param.name) for param in params]
    inside = {value for op in body.ops for value in op.results} | set(params)
    carried: dict[Value, Value] = {}
    for value, result in zip(values, results, strict=True):
        carried.setdefault(value, result)

    def leaf(value: Value, key: Key) -> Value:
        if value not in inside:
            return value
        if value not in carried:
            param = Value(value.type, value.name or name_of(key))
            params.append(param)
            values.append(value)
            inits.append(zero(w, value.type))
            results.append(Value(value.type, param.name))
            carried[value] = results[-1]
        return carried[value]

    exits = {}
    exports: list[Export] = []
    for target, reached in outcome.exits.items():
        if target != header:
            exports.append(Export(reached, leaf, older))
            exits[target] = exports[-1].states()
    move_out(exports)
    guards = {}
    if len(exits) > 1:
        for target in exits:
            value, wanted = outcome.guards[target]
            guards[target] = (leaf(value, (".guard",)), wanted)
    body.params = tuple(params)
    body.results = (go, *values)
    w.build.take(Op("loop", tuple(inits), None, results, (body,)))
    return Outcome(exits, guards)


def _same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, Dynamic) and isinstance(b, Dynamic):
        return a.value is b.value
    if isinstance(a, Renumbered) or isinstance(b, Renumbered):
        return type(a) is type(b) and bool(a == b)
    return same_known(a, b)


def _initial(leaf: Any, initial: dict[Value, Any]) -> Any:
    """What a leaf of a loop's state was before the loop."""
    if isinstance(leaf, tuple):
        return tuple([_initial(part, initial) for part in leaf])
    value = leaf.value if isinstance(leaf, Dynamic) else leaf
    return initial[value] if isinstance(value, Value) and value in initial else leaf
