"""Where two paths meet: two states become one, leaf by leaf.

Known values that are the same stay known; two scalars become a dynamic one of the wider type;
containers join item by item, in pairs of identities, so that aliases stay aliases. What cannot be
one becomes a `Conflict`, an error at its first use. What a leaf becomes is the caller's business:
a result of an `if`, or a parameter of a loop's body.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.joins import choosing
from pygpu.frontend.joins.choosing import choice, is_none, option, spread, zero_of
from pygpu.frontend.joins.joining import Leaf, Meeting, is_variable
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.kinds import (
    any_of,
    as_complex,
    certainty,
    is_member,
    is_ours,
    meeting,
    narrow_dtype,
    narrow_either,
    own_of,
    scalar_kind,
    truth_either,
)
from pygpu.frontend.values.known import lift
from pygpu.frontend.values.objects import (
    EITHER,
    Array,
    Cell,
    Instance,
    Iterator,
    Namespace,
    Object,
    Vector,
)
from pygpu.frontend.values.states import State, is_below, reachable, settled
from pygpu.frontend.values.values import (
    ABSENT,
    UNBOUND,
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Flagged,
    Key,
    Narrow,
    Numpys,
    Parts,
    Picture,
    Truth,
    Unset,
    describe,
    same_known,
)
from pygpu.language.vectors import CLASSES
from pygpu.ssa import Value
from pygpu.types import BOOL, Kind, vector, widest

with later():
    from pygpu.frontend.joins import contents, several


class Join:
    """Joins `left` and `right`, forked when the youngest object had the serial `older`."""

    def __init__(self, left: State, right: State, leaf: Leaf, older: int, meeting: Meeting) -> None:
        self.left, self.right = left, right
        self.leaf = leaf
        self.older = older
        self.meeting = meeting
        self.virtual: dict[int, Any] = {}  # known values that were lifted, by id
        self.pairs: dict[tuple[Object, Object], Object] = {}
        self.lone: dict[tuple[bool, Object], Object] = {}  # of what one side made; right or not
        self.taken: dict[Object, Object] = {}  # of a loop's left: what goes on as what
        self.heap: dict[Object, Any] = {}
        self.shown: list[tuple[tuple[Array, Array], Any, Array]] = []  # bases, joined one, view
        self.aliases: list[tuple[Object, Object]] = []  # (older object, joined one it may be)
        self.grows = False  # whether a list has come that holds a Growing
        self.spoiled = False  # whether a Conflict has come where the left had none

    @property
    def entry(self) -> int:
        """Parts the objects that there were before the paths parted, or the loop began."""
        return self.older if self.meeting.loop is None else self.meeting.loop.entry

    def states(self) -> State:
        left, right = self.left, self.right
        assert len(left.stack) == len(right.stack), (left.stack, right.stack)
        locals = {}
        for name in [*left.locals, *(n for n in right.locals if n not in left.locals)]:
            if name in left.locals and name in right.locals:
                locals[name] = self.value(left.locals[name], right.locals[name], (name,))
            else:
                locals[name] = self._set_on_one_side(name)
        stack = [
            self.value(a, b, (f".{index}",))
            for index, (a, b) in enumerate(zip(left.stack, right.stack, strict=True))
        ]
        facts = {
            value: numbers | right.facts[value]
            for value, numbers in left.facts.items()
            if value in right.facts
        }
        state = self.state = State(locals, stack, self.heap, facts)
        differing = []
        for handle in {**left.heap, **right.heap}:
            if handle.serial > self.older:
                continue
            a, b = left.get(handle), right.get(handle)
            if a is ABSENT or b is ABSENT:
                continue
            if a is not b:
                differing.append(handle)
            elif a is not handle.initial:
                self.heap[handle] = a
        lost = self._differing(state, differing)
        self._guard_aliases(state)
        while lost and len(lost) > len(lost := self._differing(state, lost)):
            self._guard_aliases(state)
        for handle in lost:
            self.heap[handle] = Conflict(
                f"{describe(handle)} was changed in a loop that had lost sight of it"
            )
        return state

    def _set_on_one_side(self, name: str) -> Any:
        """A variable that one path has set: it can be read where a test says that it is set."""
        unset = self.meeting.unset(name, name)
        a, b = self.left.locals.get(name, unset), self.right.locals.get(name, unset)
        made = self._perhaps_set(a, b, (name,))
        if made is None:
            self.spoiled |= name in self.left.locals and not isinstance(a, Conflict)
        return unset if made is None else made

    def set_on_one_side(self, cell: Cell, a: Any, b: Any) -> Any:
        """A variable of closures that one path has set: see `_set_on_one_side`."""
        names = [name for name, held in self.left.locals.items() if held is cell]
        unset = self.meeting.unset(names[0] if names else "a variable", cell)
        a, b = [unset if value is UNBOUND else value for value in (a, b)]
        made = self._perhaps_set(a, b, (cell,))
        return unset if made is None else made

    def _perhaps_set(self, a: Any, b: Any, key: Key) -> Choice | None:
        """What is set on one of two paths as a choice, where that can be."""
        is_conflict = isinstance(a, Conflict), isinstance(b, Conflict)
        is_unset = isinstance(a, Unset) or isinstance(b, Unset)
        if all(is_conflict) or not is_unset or (self.meeting.loop and not is_variable(key[0])):
            return None
        return choice(self, a, b, key)

    def guarded(self) -> bool:
        """Whether something has become impossible that could be done on the left: to read a value,
        or to change an object."""
        return self.spoiled or any(
            isinstance(made, Object) and bool(made.outside) and not a.outside
            for (a, _), made in self.pairs.items()
        )

    def _differing(self, state: State, handles: list[Object]) -> list[Object]:
        """Join what older objects hold. Where a loop comes round, only what is still in sight: of
        what its variables have left behind nothing is carried. Gives what is out of sight."""
        while handles:
            seen = self._seen(state) if self.meeting.loop else set(handles)
            met = [handle for handle in handles if handle in seen]
            for handle in met:
                a, b = self.left.get(handle), self.right.get(handle)
                self.heap[handle] = contents.contents(self, handle, a, b, (handle,))
            handles = [handle for handle in handles if handle not in seen]
            if not met:
                break
        return handles

    def sees(self, one: Object) -> bool:
        return one in self._seen(self.state, {one})

    def _seen(self, state: State, wanted: Collection[Object] = ()) -> set[Object]:
        """What is in sight; where some objects are wanted, at least those of them that are."""
        values = [*state.locals.values(), *state.stack, *self.meeting.outer()]
        return reachable(values, state, wanted)

    def value(self, a: Any, b: Any, key: Key) -> Any:
        if a is b:
            return a
        if a.__class__ is Dynamic and b.__class__ is Dynamic:
            if a.value is b.value:
                return a
            if a.value.type is b.value.type:
                return Dynamic(self.leaf(a, b, a.value.type, key))
        if a.__class__ is Choice:
            a = settled(a, self.left.facts)
        if b.__class__ is Choice:
            b = settled(b, self.right.facts)
        if not isinstance(a, Abstract) and not isinstance(b, Abstract) and same_known(a, b):
            return a
        if scalar_kind(a) or scalar_kind(b):
            whole = a
            a, b = choosing.number_in(a, self.left), choosing.number_in(b, self.right)
            self.spoiled |= a is not whole
        kind_a, kind_b = scalar_kind(a), scalar_kind(b)
        if kind_a and kind_b and not (is_member(a) or is_member(b)):
            is_same = isinstance(a, Dynamic) and isinstance(b, Dynamic) and a.value is b.value
            marks = {type(a), type(b)} & {Truth, Numpys, Flagged}
            if is_same and certainty(a) is certainty(b) and not marks:
                return a
            kind = self._kind(a, b)
            if kind is None:
                return self.conflict(a, b, key)
            made = a.value if is_same else self.leaf(a, b, vector(kind, 1), key)
            return self._number(made, a, b, key)
        if isinstance(a, Conflict) or isinstance(b, Conflict):
            option = self._perhaps_set(a, b, key)
            if option is not None:
                return option
            self.spoiled |= not isinstance(a, Conflict)
            return a if isinstance(a, Conflict) else b
        a, b = as_complex((a, b)) or (self.lifted(a), self.lifted(b))
        if kind_a and isinstance(b, Vector):  # a number that meets a vector is spread over it
            a = spread(a, kind_a, b)
        elif kind_b and isinstance(a, Vector):
            b = spread(b, kind_b, a)
        if isinstance(a, Object) and isinstance(b, Object):
            return self.objects(a, b, key)
        joined = self.structures(a, b, key)
        return joined if joined is not None else self.conflict(a, b, key)

    def _kind(self, a: Any, b: Any) -> Kind | None:
        """The kind of a number that is either. What began as a known integer before a loop may
        become a uint in it, though it was an int when the body was first walked."""
        loop = self.meeting.loop
        a = loop.before(a) if loop and (scalar_kind(a), scalar_kind(b)) == ("int", "uint") else a
        below = is_below(a, self.left.facts) or is_below(b, self.right.facts)
        return meeting((a, b), wrapping=loop is not None) or ("int" if below else None)

    def lifted(self, known: Any) -> Any:
        """A known value as a virtual one, the same one for the same."""
        if id(known) not in self.virtual:
            self.virtual[id(known)] = lift(known)
        return self.virtual[id(known)]

    def conflict(self, a: Any, b: Any, key: Key) -> Choice | Conflict:
        """What cannot be one value: a choice where that can be, else an error at its first use."""
        made = choice(self, a, b, key)
        if made is not None:
            return made
        self.spoiled = True
        own = isinstance(key[0], str) and key[0].isidentifier()
        name = f"'{key[0]}'" if own else "a value"
        if a is UNBOUND or b is UNBOUND:
            return Conflict(self.meeting.explain(str(key[0])))
        hint = ""
        if all(isinstance(v, (Picture, Function, Bound)) or callable(v) for v in (a, b)):
            hint = ": call each on its path and choose between the results, as f(x) if c else g(x)"
        elif isinstance(a, Choice) and isinstance(a.options[0], str):
            hint = (
                ": a string is one of up to 64 texts; where it can be more, put its letters in a "
                "list, as in letters.append(c), and take ''.join(letters); where not, loop a known "
                "number of times, as in 'for _ in range(16): if not more: break'"
            )
        elif self.meeting.loop and isinstance(a, Choice) and isinstance(b, Choice):
            hint = (
                ": what can be more things with each round of a loop needs a bound; loop a known "
                "number of times, as in 'for _ in range(16): if not more: break'"
            )
        elif a is None or b is None:
            hint = ": give it a number on both"
        elif narrow_dtype(a) or narrow_dtype(b):
            hint = ": NumPy's wraps in its own width; use .astype(int), or int(x)"
        elif any(type(v) is int and not -(1 << 31) <= v < 1 << 31 for v in (a, b)):
            hint = ": ints have 32 bits; make both floats, or end before, as by islice(numbers, 40)"
        elif {scalar_kind(a), scalar_kind(b)} == {"int", "uint"}:
            hint = ": make both a UInt, as UInt(x) or x & 0xFFFFFFFF, or an Int, as Int(x)"
        return Conflict(
            f"{name} is {describe(a)} on one path and {describe(b)} on the other, "
            f"which cannot be one value{hint}"
        )

    def _number(self, made: Value, a: Any, b: Any, key: Key) -> Any:
        """A value that is either of two numbers, as one of NumPy's where both are for sure."""
        if made.type is BOOL:
            either: Any = truth_either(made, a, b)
            was = a.is_numpys if isinstance(a, Truth) else None
            self.spoiled |= was is not None and getattr(either, "is_numpys", None) is not was
            return either
        if narrow_dtype(a) is None and narrow_dtype(b) is None:
            number = any_of(made, a, b)
            if isinstance(number, Numpys) and number.own is None:
                owns = [own_of(each, self.meeting.int_classes) for each in (a, b)]
                if not any(own is None for own in owns):
                    number = Numpys(made, self.value(owns[0], owns[1], (*key, ".own")).value)
                self.spoiled |= isinstance(a, Numpys) and bool(a.own) and number.own is None
            self.spoiled |= isinstance(a, (Numpys, Flagged)) and type(number) is Dynamic
            self.spoiled |= a.__class__ is Dynamic and type(number) is Numpys
            return number
        either = narrow_either(made, a, b, within=bool(self.meeting.loop))
        if either is None:
            return self.conflict(a, b, key)
        self.spoiled |= isinstance(a, Narrow) and a.certainty < either.certainty
        return either

    def structures(self, a: Any, b: Any, key: Key) -> Any:
        """Two immutable virtual values of one shape, or None."""
        if not isinstance(a, Abstract) or type(a) is not type(b) or a.shape() != b.shape():
            return None
        return a.rebuild(self.joined(a.parts(), b.parts(), key))

    def joined(self, a: Parts, b: Parts, key: Key) -> tuple[Any, ...]:
        """Parts of the same names, each with the other."""
        pairs = zip(a, b, strict=True)
        return tuple([self.value(x, y, (*key, *name)) for (name, x), (_, y) in pairs])

    def objects(self, a: Object, b: Object, key: Key) -> Any:
        """Two objects where one stood: a new one, unless they are of different shapes."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        if isinstance(a, Array) and isinstance(b, Array) and (a.base, b.base) != (None, None):
            return self._views(a, b, key)
        if type(a) is Namespace and type(b) is Namespace:
            owner = self.value(a.owner, b.owner, (*key, ".owner"))
            return Namespace(owner) if isinstance(owner, Instance) else owner
        joined = self._shell(a, b)
        if joined is None:
            return self.conflict(a, b, key)
        self.pairs[a, b] = joined
        held = contents.contents(self, joined, self.left.get(a), self.right.get(b), key)
        if isinstance(held, Conflict) and not isinstance(a, Cell):
            self.pairs[a, b] = held  # type: ignore[assignment]
            return held
        joined.initial = held
        return joined

    def alone(self, handle: Object, right: bool, key: Key, again: bool = False) -> Any:
        if (right, handle) in self.lone:
            return self.lone[right, handle]
        here, there = (self.right, self.left) if right else (self.left, self.right)
        is_old = handle.serial <= self.older and not again
        if is_old and not any(there.get(one) is ABSENT for one in reachable([handle], here)):
            return handle
        if isinstance(handle, Vector):
            zero = zero_of(handle)
            made = self.objects(zero, handle, key) if right else self.objects(handle, zero, key)
            self.lone[right, handle] = made
            return made
        held = here.get(handle)
        made = handle.like(handle, handle.outside)
        if made is None or isinstance(handle, Iterator) or isinstance(held, Conflict):
            return ABSENT
        self.lone[right, handle] = made
        parts = []
        for name, part in handle.parts_of(held):
            x, y = (ABSENT, part) if right else (part, ABSENT)
            parts.append(option(self, x, y, (*key, *name)))
            if is_none(parts[-1]):
                del self.lone[right, handle]
                return ABSENT
        made.initial = handle.gather(held, tuple(parts))
        return made

    def _views(self, a: Array, b: Array, key: Key) -> Any:
        """A view of the joined base where both show the same places, else an array to be read."""
        bases = (a.whole, b.whole)
        base = self.value(*bases, (*key, ".base"))
        same = a.places is not None and b.places is not None and np.array_equal(a.places, b.places)
        if same and isinstance(base, Array):
            self.pairs[a, b] = Array(None, base.outside, base, a.places)
            return self.pairs[a, b]
        held = contents.contents(self, Array(None), self.left.get(a), self.right.get(b), key)
        if isinstance(held, Conflict):
            return held
        self.pairs[a, b] = joined = Array(held, EITHER)
        self.shown.append((bases, base, joined))
        return joined

    def _shell(self, a: Object, b: Object) -> Object | None:
        outside = a.outside or b.outside
        if isinstance(a, Vector) and isinstance(b, Vector) and a.cls is not b.cls:
            differ = a.type.size != b.type.size or {a.type.kind, b.type.kind} == {"int", "uint"}
            if differ or not (is_ours(a.cls) and is_ours(b.cls)):
                return None
            wider = vector(widest(a.type.kind, b.type.kind), a.type.size)
            return Vector(CLASSES[wider], wider, None)
        return a.like(b, outside)

    def _guard_aliases(self, state: State) -> None:
        """A joined object that may be another one still in sight can be read, not changed:
        a change would have to be seen through the other name too. The other is an older object,
        or one that is the same on one of the two paths only."""
        made = self._made()
        for bases, base, view in self.shown:
            met = [joined for pair, joined in made if pair[0] is bases[0] or pair[1] is bases[1]]
            self.aliases += [(each, view) for each in (*bases, base, *met) if each is not view]
        found = -1
        while found != (found := len(self.aliases)):  # options are in sight, too
            self._mark_shared(made)
            self._mark_old(state, made)
            for _, joined in made:  # what a view shows is what its base is
                if isinstance(joined, Array) and joined.base is not None:
                    joined.outside = joined.base.outside
            if self.lone or any(joined.outside == EITHER for _, joined in made):
                several.name_options(self, made)
            self.aliases = list(dict.fromkeys(self.aliases))
            made = self._made()

    def _made(self) -> list[tuple[tuple[Object, Object], Object]]:
        return [(two, joined) for two, joined in self.pairs.items() if isinstance(joined, Object)]

    def named(self) -> dict[tuple[Object, Object], Any]:
        """What was made of each two objects, and of one that is on one side alone."""
        return {**self.pairs, **{(handle, handle): made for (_, handle), made in self.lone.items()}}

    def _mark_shared(self, made: list[tuple[tuple[Object, Object], Object]]) -> None:
        """Let what may be an object that another joined one may be be read only; what stands for
        that object alone is the one that is changed."""
        for side in (0, 1):
            first: dict[Object, Object] = {}
            for pair, joined in made:
                alone = self.lone.get((bool(side), pair[side]))
                if alone is not None and alone is not joined:
                    joined.outside = EITHER
                    self.aliases.append((alone, joined))
                elif alone is None and first.setdefault(pair[side], joined) is not joined:
                    joined.outside = first[pair[side]].outside = EITHER

    def _mark_old(self, state: State, made: list[tuple[tuple[Object, Object], Object]]) -> None:
        """Let what may be an older object that is still in sight be read only."""
        old = [
            (older, joined)
            for pair, joined in made
            if not isinstance(joined, Iterator)
            for older in pair
            if older.serial <= self.older
        ]
        if not old:
            return
        seen = self._seen(state, {older for older, _ in old})
        for older, joined in old:
            if older in seen:
                joined.outside = EITHER
                if not isinstance(older, Array) or older.base is None:  # views hold what bases hold
                    state.heap.setdefault(older, state.get(older))
                self.aliases.append((older, joined))
