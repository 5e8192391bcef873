"""Dynamic branches: both arms are walked, each in a region, and joined by an `if`.

`branch` walks the arms and makes the operation; `Slots` collects what it hands on from them. `join`
puts two states together, for branches and for loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pygpu.core.errors import HOME
from pygpu.core.host.later import later
from pygpu.frontend.decode import liveness
from pygpu.frontend.flow.paths import ControlFlow, Outcome, guard, name_of, still_read, zero
from pygpu.frontend.joins import origins
from pygpu.frontend.joins.joining import Meeting, Round
from pygpu.frontend.numbers.numbers import as_value
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Bounded, Growing, Indexed
from pygpu.frontend.values.objects import Object, youngest
from pygpu.frontend.values.states import Export, State, move_out, reachable
from pygpu.frontend.values.values import Dynamic, Key, Unset
from pygpu.frontend.values.views import LISTS
from pygpu.ssa import Op, Region, Value
from pygpu.types import Type

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import spelled
    from pygpu.frontend.joins import joins


def branch(
    w: ControlFlow,
    frame: Frame,
    condition: Value,
    left: Callable[[], Outcome],
    right: Callable[[], Outcome],
) -> Outcome:
    """Walk both arms, each in its region, and join what they arrive at by an `if`."""
    at = frame.at
    older, before = youngest(), w.state.heap.copy()
    regions = Region(), Region()
    outcomes, walked = [], []
    conditions = w.conditions
    for region, arm, holds in zip(regions, (left, right), (True, False), strict=True):
        w.conditions = (*conditions, (frame, at, (condition, holds)))
        with w.build.inside(region):
            outcomes.append(arm())
        walked.append((older, youngest()))  # what this arm has made is not in the other
        w.heap.dead += (walked[-1],)
    w.heap.dead = tuple([serials for serials in w.heap.dead if serials not in walked])
    w.conditions = conditions
    frame.at = at
    return _merge(w, frame, condition, regions, outcomes, (older, before))


def _merge(
    w: ControlFlow,
    frame: Frame,
    condition: Value,
    regions: tuple[Region, Region],
    outcomes: list[Outcome],
    since: tuple[int, Mapping[Object, Any]],
) -> Outcome:
    slots, (older, before) = Slots(), since
    left, right = outcomes
    for outcome in outcomes:
        for target, state in outcome.exits.items():
            state.locals = still_read(w, frame.code, target, state)

    def leaf(a: Any, b: Any, type: Type, key: Key) -> Value:
        values = []
        for region, contents in zip(regions, (a, b), strict=True):
            if contents.__class__ is Dynamic and contents.value.type is type:
                values.append(contents.value)
                continue
            with w.build.inside(region):
                values.append(origins.note(w, as_value(w, contents, type), contents))
        made = slots.pair(values[0], values[1], key)
        if key[-1] == ".which":
            numbers = [part if isinstance(part, int) else None for part in (a, b)]
            w.meanings.tell(condition, made, *numbers)
        return made

    exits: dict[int, State] = {}
    for target in [t for t in left.exits if t in right.exits]:
        pair = left.exits[target], right.exits[target]
        _level(w, frame, regions, pair, older)
        exits[target], joined = join(w, frame, *pair, leaf, older)
        w.heap.grows |= joined.grows
        w.heap.alias_joined(joined.aliases, joined.named())
    lone = [
        (side, target)
        for side, one in enumerate(outcomes)
        for target in one.exits
        if target not in outcomes[1 - side].exits
    ]
    inside: list[set[Value]] = []
    if lone:
        inside = [{value for op in region.ops for value in op.results} for region in regions]
        exits.update((target, outcomes[side].exits[target]) for side, target in lone)
    exports: list[Export] = []
    for final in (False, True):  # first what must go through a result, then what may share it
        for side, target in lone:
            if not final and not inside[side]:
                continue
            state = outcomes[side].exits[target]
            leaving = _export(state, slots, side, inside[side], older, final)
            leaving.before, leaving.sharing = before, slots.heads(side) if final else _NOBODY
            exports.append(leaving)
            exits[target] = exports[-1].states()
    move_out(exports)
    guards = _guards(w, condition, outcomes, list(exits), slots, regions)
    _emit_if(w, condition, regions, slots)
    return Outcome(exits, guards)


_LOOKED_AT: Final = 500_000  # objects: some ten seconds


def _level(
    w: ControlFlow,
    frame: Frame,
    regions: tuple[Region, Region],
    pair: tuple[State, State],
    older: int,
) -> None:
    """Let all lists be in slots where one path has put some of them there: slots and items that are
    perhaps there, or are made when they are asked for, cannot be joined."""
    for region, state, other in zip(regions, pair, pair[::-1], strict=True):
        with w.build.inside(region):
            fill(w, frame, state, filled(w, state, other))
    if w.heap.spells:
        spelled.level(w, regions, pair, older)
    if not w.heap.grows:
        return
    differ = False
    for state, other in (pair, pair[::-1]) if _may_differ(pair, older) else ():
        seen = reachable(in_sight(w, frame, state), state)
        w.heap.looked_at += len(seen)
        if w.heap.looked_at > _LOOKED_AT:
            raise w.error(
                f"more than {_LOOKED_AT} times an object with several names was looked at: "
                "a list of lists that grows in a loop without a known end? Loop a known number of "
                "times, as in 'for _ in range(16): if not more: break', or keep numbers in it"
            )
        for each in seen:
            held = state.get(each) if type(each) in LISTS else None
            changed = each.serial > older or other.get(each) is not held
            differ |= isinstance(held, Bounded) and changed
    for region, state in zip(regions, pair, strict=True) if differ else ():
        with w.build.inside(region):
            place_lists(w, frame, state)


def _may_differ(pair: tuple[State, State], older: int) -> bool:
    """Whether a list is new on one of two paths, or is in slots there and holds something else."""
    left, right = pair
    return youngest() > older or any(
        type(each) in LISTS and left.get(each) is not right.get(each)
        for each in {**left.heap, **right.heap}
    )


def place_lists(w: ControlFlow, frame: Frame, state: State) -> None:
    """Put into slots what lists in sight hold that were added to under conditions."""
    here, w.state = w.state, state
    seen = reachable(in_sight(w, frame, state), state) if w.heap.grows else ()
    for each in sorted(seen, key=lambda one: one.serial):
        if isinstance(state.get(each), Growing):
            w.peek(each)
    w.state = here


def filled(w: ControlFlow, state: State, other: State) -> list[Object]:
    """Lists of what a comprehension makes of a dynamic number of items, which lie in slots on
    another path."""
    pairs = [(each, held) for each, held in other.heap.items() if w.heap.fills]
    return [
        each
        for each, held in pairs
        if isinstance(held, Bounded) and isinstance(state.get(each), Indexed)
    ]


def fill(w: ControlFlow, frame: Frame, state: State, some: list[Object]) -> None:
    """Put what such lists hold into slots on this path, too."""
    before = w.state, frame.state
    w.state = frame.state = state
    for each in some:
        lists.fill(w, each)
    w.state, frame.state = before


def join(
    w: ControlFlow,
    frame: Frame,
    left: State,
    right: State,
    leaf: Any,
    older: int,
    loop: Round | None = None,
) -> tuple[State, joins.Join]:
    """Two states as one, and how they were joined: the heap is to be told of its aliases."""
    meeting = Meeting(
        lambda: f"the {'loop' if loop else 'branch'} at line {frame.line()}",
        loop,
        lambda: _outer_values(w, frame),
        lambda name: _one_sided(frame, name),
        lambda number: origins.int_classes(w, number),
    )
    join = joins.Join(left, right, leaf, older, meeting)
    return join.states(), join


def _outer_values(w: ControlFlow, frame: Frame) -> Iterable[Any]:
    for outer in w.frames:
        if outer is not frame and outer.state is not None:
            yield from outer.state.locals.values()
            yield from outer.state.stack
    yield from w.kept


def in_sight(w: ControlFlow, frame: Frame, state: State) -> list[Any]:
    """What a frame and those around it hold."""
    return [*state.locals.values(), *state.stack, *_outer_values(w, frame)]


def _one_sided(frame: Frame, name: str) -> str:
    """What to say of a name that is defined on one of two paths."""
    branch = frame.line()
    if name.startswith(".") or frame.code.code.co_filename.startswith(HOME):  # of a generator
        return (
            f"a generator goes on on one path only through the branch or loop at line {branch}: "
            "where it waits must be known at compile time; make a list of its items, and count "
            "those that are taken in a variable"
        )
    where = f" (line {frame.place(frame.stored[name]).line})" if name in frame.stored else ""
    return (
        f"'{name}' is assigned{where} on one path only through the branch or loop at line "
        f"{branch}: give it a value on the other path too, or before"
    )


def unset(frame: Frame, header: int, locals: dict[str, Any]) -> dict[str, Any]:
    """The variables of a state before a loop. One that the loop sets first, and that is read there
    or later, is among them without a value."""
    blocks, live = frame.graph.blocks, liveness.live_at(frame.code) or {}
    inside = [at for block in frame.graph.loops[header] for at in range(block, blocks[block])]
    held = [frame.code.instructions[at] for at in inside]
    names = dict.fromkeys([arg for op, arg, _ in held if op == "STORE" and arg not in locals])
    lacking = [name for name in names if name in live.get(header, ())]
    return {**locals, **{name: Unset(_one_sided(frame, name), name) for name in lacking}}


def _export(
    state: State, slots: Slots, side: int, inside: set[Value], older: int, final: bool
) -> Export:
    def leaf(value: Value, key: Key) -> Value:
        if value in inside:
            return slots.one(side, value, key)
        if final:
            return slots.fill(side, value, key) or value
        return value

    return Export(state, leaf, older)


def _guards(
    w: ControlFlow,
    condition: Value,
    outcomes: list[Outcome],
    targets: list[int],
    slots: Slots,
    regions: tuple[Region, Region],
) -> dict[int, tuple[Value, bool]]:
    """For each target a bool that says whether it was reached."""
    left, right = outcomes
    if len(targets) == 1:
        return {}
    if len(left.exits) == len(right.exits) == 1:
        return {
            next(iter(left.exits)): (condition, True),
            next(iter(right.exits)): (condition, False),
        }
    wanted = targets[:1] if len(targets) == 2 else targets
    guards = {}
    for target in wanted:
        values = []
        for region, outcome in zip(regions, outcomes, strict=True):
            with w.build.inside(region):
                values.append(guard(w, outcome, target))
        guards[target] = (slots.pair(values[0], values[1], (".guard", target)), True)
    if len(targets) == 2:
        guards[targets[1]] = (guards[targets[0]][0], False)
    return guards


def _emit_if(
    w: ControlFlow, condition: Value, regions: tuple[Region, Region], slots: Slots
) -> None:
    if not slots.rows:
        return
    for side, region in enumerate(regions):
        with w.build.inside(region):
            region.results = tuple(
                [row[side] if row[side] is not None else zero(w, row[2].type) for row in slots.rows]
            )
    results = [row[2] for row in slots.rows]
    w.build.take(Op("if", (condition,), None, results, regions))


_NOBODY: Final = frozenset[Any]()


class Slots:
    """The results of an `if` in the making: what each arm yields, None where it does not matter."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []  # [left, right, result, key]
        self.pairs: dict[tuple[Value | None, Value | None], Value] = {}
        self.lefts: dict[Value, list[Any]] = {}
        self.rights: dict[Value, list[Any]] = {}
        self.keys: dict[tuple[Any, Type], list[list[Any]]] = {}

    def pair(self, left: Value, right: Value, key: Key) -> Value:
        """The result that is `left` after the left arm and `right` after the right one."""
        if (left, right) not in self.pairs:
            self.pairs[left, right] = self._add(left, right, key)
        return self.pairs[left, right]

    def one(self, side: int, value: Value, key: Key) -> Value:
        """The result that is `value` after the arm of that side, whatever after the other."""
        index = self.rights if side else self.lefts
        if value in index:
            return index[value][2]  # type: ignore[no-any-return]
        filled = self.fill(side, value, key)
        if filled is not None:
            return filled
        return self._add(None, value, key) if side else self._add(value, None, key)

    def fill(self, side: int, value: Value, key: Key) -> Value | None:
        """Give a row of this variable that the arm leaves open this value, if there is one."""
        for row in self.keys.get((key, value.type), ()):
            if row[side] is value:
                return row[2]  # type: ignore[no-any-return]
            if row[side] is None:
                row[side] = value
                (self.rights if side else self.lefts).setdefault(value, row)
                return row[2]  # type: ignore[no-any-return]
        return None

    def heads(self, side: int) -> frozenset[Any]:
        """The variables and objects in which results lie that an arm leaves open."""
        return frozenset([row[3][0] for row in self.rows if row[side] is None])

    def _add(self, left: Value | None, right: Value | None, key: Key) -> Value:
        type = (left or right).type  # type: ignore[union-attr]
        result = Value(type, name_of(key))
        row: list[Any] = [left, right, result, key]
        self.rows.append(row)
        if left is not None:
            self.lefts.setdefault(left, row)
        if right is not None:
            self.rights.setdefault(right, row)
        self.keys.setdefault((key, type), []).append(row)
        return result
