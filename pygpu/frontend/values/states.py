"""The state of a walk: what the variables of a frame are, and what objects hold.

state.locals["xs"]        # a List
state.get(xs)             # what it holds on this path
reachable([xs], state)    # it, and all objects in it
Export(state, leaf, older).states()      # the state as it is outside of a region
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.operations.ops import TABLE
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.objects import EITHER, Array, ClassParts, Namespace, Object, Vector
from pygpu.frontend.values.values import (
    ABSENT,
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Key,
    Numpys,
    Parts,
    Tuple,
    leads_on,
    named,
)
from pygpu.ssa import Value, constant_of
from pygpu.types import UINT

with later():
    from pygpu.core import bounds

# Which numbers some ints can be, by tests made before; and that a dict has a key.
Facts = Mapping[Any, frozenset[int]]


class State:
    """The world at one point of the walk: the variables and stack of the frame that runs, and
    what objects hold that has been changed since they were made."""

    __slots__ = ("facts", "heap", "locals", "stack")

    def __init__(
        self,
        locals: dict[str, Any],
        stack: list[Any],
        heap: dict[Object, Any],
        facts: Facts | None = None,
    ) -> None:
        self.locals = locals
        self.stack = stack
        self.heap = heap
        self.facts: Facts = {} if facts is None else facts  # replaced, never changed in place

    def fork(self) -> State:
        return State(self.locals.copy(), self.stack.copy(), self.heap.copy(), self.facts)

    def pop(self, count: int) -> list[Any]:
        """The topmost values, taken from the stack, the deepest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def get(self, handle: Object) -> Any:
        """What the object holds here."""
        contents = self.heap.get(handle, handle)
        if contents is not handle:
            return contents
        if type(handle) is Array and handle.base is not None:
            whole = self.get(handle.base)
            if not isinstance(whole, np.ndarray):
                return whole
            places = handle.places[None]  # type: ignore[index]
            return whole.reshape(-1)[places][0, ...]  # an array for one place, too
        return self.get(handle.owner) if type(handle) is Namespace else handle.initial


class Meanings:
    """Of conditions: the int that each tests, and the numbers that it can be on either side. And
    the ints that have become one number or another by a condition, which is perhaps asked again;
    those that count what the options of a choice hold."""

    def __init__(self) -> None:
        self.known: dict[Value, tuple[Value, frozenset[int], frozenset[int]]] = {}
        self.told: dict[int, list[tuple[Value, Any, Any]]] = {}  # by the number of a condition
        self.numbers: dict[Value, tuple[int, bool]] = {}
        self.shapes: dict[Any, int] = {}
        self.counts: dict[Value, tuple[Dynamic, tuple[int, ...]]] = {}

    def sides(self, state: State, condition: Value) -> tuple[Any, Any]:
        """What is known where a condition holds, and where it does not."""
        facts = state.facts, state.facts
        if signed := _sign(condition):
            subject, holds = signed
            facts = (
                {**facts[0], subject: frozenset((int(holds),))},
                {**facts[1], subject: frozenset((int(not holds),))},
            )
        if condition in self.known:
            subject, *either = self.known[condition]
            facts = {**facts[0], subject: either[0]}, {**facts[1], subject: either[1]}
        if self.told:
            number, holds = self._number(condition)
            for subject, *tells in self.told.get(number, ()):
                by_side = tells if holds else tells[::-1]
                facts = tuple(  # type: ignore[assignment]
                    [
                        _with(known, subject, told)
                        for known, told in zip(facts, by_side, strict=True)
                    ]
                )
        return facts

    def tell(self, condition: Value, subject: Value, yes: int | None, no: int | None) -> None:
        """Note which number an int is where a condition holds, and where not; None: any."""
        number, holds = self._number(condition)
        told = (yes, no) if holds else (no, yes)
        self.told.setdefault(number, []).append((subject, *told))

    def _number(self, condition: Value) -> tuple[int, bool]:
        """A number that conditions have in common which always hold together, and whether this one
        is such; False where it is the opposite of one."""
        found = self.numbers.get(condition)
        if found is None:
            found = self.numbers[condition] = self._numbered(condition)
        return found

    def _numbered(self, value: Value) -> tuple[int, bool]:
        op, shape, holds = value.op, value, True
        if op is not None and not op.regions and len(op.results) == 1:
            if op.code == "not":
                number, holds = self._number(op.operands[0])
                return number, not holds
            code = op.code
            if code == "ne" or (code in _OPPOSITE and all(map(bounds.between, op.operands))):
                code, holds = _OPPOSITE[code], False  # NaN is neither less nor not less
            data = repr(op.data) if code == "constant" else op.data  # -0.0 is not 0.0
            shape = code, data, *[self._number(operand) for operand in op.operands]  # type: ignore[assignment]
        return self.shapes.setdefault(shape, len(self.shapes)), holds


def _sign(condition: Value) -> tuple[Value, bool] | None:
    """The uint whose highest bit a condition asks for, and what the bit is where it holds: of uints
    that is the fact which a state may hold."""
    op = condition.op
    if op is None or op.code not in ("ge", "gt", "lt", "le", "ne", "eq"):
        return None
    value, limit = op.operands[0], constant_of(op.operands[1])
    if op.code in ("ne", "eq"):
        parts = value.op.operands if value.op is not None and value.op.code == "bit_and" else ()
        is_bit = limit == 0 and value.type is UINT and [*map(constant_of, parts)][1:] == [2**31]
        return (parts[0], op.code == "ne") if is_bit else None
    is_bit = value.type is UINT and limit == (2**31 if op.code in ("ge", "lt") else 2**31 - 1)
    return (value, op.code in ("ge", "gt")) if is_bit else None


def is_below(value: Any, facts: Facts) -> bool:
    """Whether it is a uint that facts tell to be less than 2**31, as ints are."""
    is_uint = isinstance(value, Dynamic) and value.type is UINT
    return is_uint and facts.get(value.value) == frozenset((0,))


_OPPOSITE: Final = {code: TABLE[code].negated for code in ("ne", "ge", "le")}


def settled(value: Any, facts: Facts) -> Any:
    """The only option of a choice that facts leave; other values as they are."""
    if type(value) is Choice:
        left = facts.get(value.which.value, ())
        if len(left) == 1:
            return value.options[next(iter(left))]
    return value


def _with(facts: Facts, subject: Value, number: int | None) -> Facts:
    """What is known, and that an int is a number. Where that cannot be, no path comes."""
    before = facts.get(subject)
    if number is None or (before is not None and number not in before):
        return facts
    return {**facts, subject: frozenset((number,))}


_LEAVES: Final = (Abstract, Value)  # of what leaves a region all else is known, and stays


def parts_held(handle: Object, contents: Any) -> Parts:
    """The parts of an object's contents; none where it holds nothing that can be read."""
    if contents is ABSENT or isinstance(contents, Conflict):
        return ()
    return handle.parts_of(contents)


Noted = dict[Object, tuple[Object, ...]]


class Aliases:
    """Which views, which can only be read, may be an object: asked of objects and of views."""

    def __init__(self, views: Noted | None = None, objects: Noted | None = None) -> None:
        self._views = dict(views or {})  # what may be the object
        self._objects = dict(objects or {})  # what the view may be

    def copy(self) -> Aliases:
        return Aliases(self._views, self._objects)

    def views(self, handle: Object) -> tuple[Object, ...]:
        """What may be the object."""
        return self._views.get(handle, ())

    def objects(self, view: Object) -> tuple[Object, ...]:
        """What the view may be."""
        return self._objects.get(view, ())

    def add(self, handle: Object, view: Object) -> bool:
        """Note that a view may be the object; whether that is new."""
        objects = self.objects(view)
        if handle in objects:
            return False
        self._views[handle] = (*self.views(handle), view)
        self._objects[view] = (*objects, handle)
        return True

    def forget(self, handle: Object, since: int, but: set[Object]) -> None:
        """Let no view that was made since be the object, but those."""
        views = self.views(handle)
        lost = [view for view in views if view.serial >= since and view not in but]
        self._views[handle] = tuple([view for view in views if view not in lost])
        for view in lost:
            self._objects[view] = tuple([h for h in self.objects(view) if h is not handle])


class Frozen(Abstract):
    """The world as it was where something was put off: a comprehension over a long sequence."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state: Final = state

    def parts(self) -> Parts:
        state = self.state
        stack = tuple([((f".{place}",), value) for place, value in enumerate(state.stack)])
        held = [
            ((handle, *name), part)
            for handle, contents in state.heap.items()
            for name, part in parts_held(handle, contents)
        ]
        return (*named(state.locals), *stack, *held)

    def rebuild(self, parts: tuple[Any, ...]) -> Frozen:
        state, rest = self.state, iter(parts)
        locals = {name: next(rest) for name in state.locals}
        stack = [next(rest) for _ in state.stack]
        heap = {}
        for handle, contents in state.heap.items():
            own = tuple([next(rest) for _ in parts_held(handle, contents)])
            heap[handle] = handle.gather(contents, own) if own else contents
        return Frozen(State(locals, stack, heap))


def reachable(values: Iterable[Any], state: State, wanted: Collection[Object] = ()) -> set[Object]:
    """Every object that can be reached from the values; where some are wanted, no more are looked
    for once all these have been found."""
    seen: set[Object] = set()
    waiting, missing = [value for value in values if isinstance(value, Abstract)], len(wanted)
    while waiting:
        value = waiting.pop()
        if value.__class__ is Dynamic or value in seen:
            continue
        if not isinstance(value, Object):
            held = value.items if isinstance(value, Tuple) else [part for _, part in value.parts()]
            waiting += filter(leads_on, held)
            continue
        seen.add(value)
        if value in wanted:
            missing -= 1
            if not missing:
                return seen
        if value.either is not None and value.outside == EITHER:
            waiting.append(value.either)
        if value.__class__ is Vector:  # which holds numbers
            continue
        contents = state.get(value)
        if contents.__class__ is dict:
            waiting += filter(leads_on, contents.values())
        elif contents.__class__ is tuple:
            waiting += filter(leads_on, contents)
        elif contents.__class__ is Bounded:
            waiting += contents.leading
        else:
            waiting += [part for _, part in parts_held(value, contents) if leads_on(part)]
        if isinstance(value, Array) and value.base is not None:
            waiting.append(value.base)
        elif type(value) is Namespace:
            waiting.append(value.owner)
    return seen


class Export:
    """Maps every leaf of a state: what leaves a region is replaced by what it is outside.

    `moved` are the objects made in the region (younger than `older`) whose contents changed so.
    Older ones that hold what they held `before` hold nothing of the region: they are looked into
    for the sake of variables and objects in `sharing` alone.
    """

    def __init__(self, state: State, leaf: Callable[[Value, Key], Value], older: int) -> None:
        self.state = state
        self.leaf = leaf
        self.older = older
        self.before: Mapping[Object, Any] | None = None
        self.sharing: frozenset[Any] = frozenset()
        self.moved: list[Object] = []
        self.seen: set[Object] = set()
        self.heap: dict[Object, Any] = {}
        self.facts: dict[Value, frozenset[int]] = dict(state.facts)

    def states(self) -> State:
        state = self.state
        locals = {name: self.value(value, (name,)) for name, value in state.locals.items()}
        stack = [self.value(value, (f".{i}",)) for i, value in enumerate(state.stack)]
        for handle in state.heap:
            if handle.serial <= self.older or type(handle) is ClassParts:
                self.object(handle, (handle,))
        return State(locals, stack, self.heap, self.facts)

    def value(self, value: Any, key: Key) -> Any:
        if not isinstance(value, _LEAVES):
            return value
        if isinstance(value, Dynamic):
            new = self.leaf(value.value, key)
            if isinstance(value, Numpys) and isinstance(value.own, Value):
                value = Numpys(value.value, self.leaf(value.own, (*key, ".own")))
            if new is value.value:
                return value
            if value.value in self.state.facts:
                self.facts[new] = self.state.facts[value.value]
            return value.moved(new)
        if isinstance(value, Object):
            self.object(value, key)
        elif isinstance(value, Abstract):
            parts = value.parts()
            exported = self.exported(parts, key)
            return value if exported is None else value.rebuild(exported)
        elif isinstance(value, Value):  # a whole vector, in an object
            return self.leaf(value, key)
        return value

    def exported(self, parts: Parts, key: Key, old: Collection[int] = ()) -> tuple[Any, ...] | None:
        """The parts as they are outside; None if they are the same. Of those that were there before
        the region, whose ids are in `old`, nothing is."""
        new = [
            self.value(part, (*key, *name))
            if isinstance(part, _LEAVES) and id(part) not in old
            else part
            for name, part in parts
        ]
        for (_, part), now in zip(parts, new, strict=True):
            if part is not now:
                return tuple(new)
        return None

    def _held(self, handle: Object, key: Key) -> Any:
        """What an object held before the region, if that holds nothing that is another outside."""
        if self.before is None or handle.serial > self.older or type(handle) is ClassParts:
            return ABSENT
        return ABSENT if key[0] in self.sharing else self.before.get(handle, handle.initial)

    def object(self, handle: Object, key: Key) -> None:
        if handle in self.seen:
            return
        self.seen.add(handle)
        if handle.either is not None:
            self.object(handle.either, (*key, ".either"))
        if isinstance(handle, Array) and handle.base is not None:
            self.object(handle.base, key)
            return
        if type(handle) is Namespace:
            self.object(handle.owner, key)
            return
        contents, held = self.state.get(handle), self._held(handle, key)
        if contents is held and held is not ABSENT:
            if contents is not handle.initial:
                self.heap[handle] = contents
            return
        old = {id(part) for _, part in parts_held(handle, held)}
        exported = self.exported(parts_held(handle, contents), key, old)
        new = contents if exported is None else handle.gather(contents, exported)
        if new is not handle.initial:
            self.heap[handle] = new
            if handle.serial > self.older:
                self.moved.append(handle)


def move_out(exports: Iterable[Export]) -> None:
    """Objects that a region changed hold what they hold on each way out, and exist there alone."""
    for handle in {handle for export in exports for handle in export.moved}:
        for export in exports:
            if handle in export.seen:
                export.heap.setdefault(handle, handle.initial)
        handle.initial = ABSENT
