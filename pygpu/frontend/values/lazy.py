"""Sequences whose items are made when they are asked for, each by its index or one after the other.

evens = Indexed(n, lambda index, step: w.binary("*", index, step), "even numbers", (2,))
evens.element(index)            # emits a product
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from types import CodeType
from typing import Any, ClassVar, Final

from pygpu.core.host.records import record
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.values import (
    Abstract,
    Conflict,
    Dynamic,
    Maybe,
    Parts,
    Tuple,
    if_there,
    is_there,
    leads_on,
    numbered,
)
from pygpu.ssa import Value, base_and_offset


@record(eq=False)
class Indexed(Abstract):
    """A sequence too long to be unrolled, or of dynamic length: a length and an element by index.

    `make` takes an index (an int or a Dynamic int) and the values that the sequence is made `of`,
    and emits what makes the element. Whatever may be dynamic is one of these, for it has to follow
    the sequence out of a branch.
    """

    length: Any
    make: Callable[..., Any]
    what: str
    of: tuple[Any, ...] = ()
    grouped: bool = False  # each element is a list of elements, of a nested loop
    filtered: bool = False  # an element may be a Maybe

    def element(self, index: Any) -> Any:
        """The element at an index that lies in the sequence."""
        return self.make(index, *self.of)

    def ungrouped(self) -> Indexed:
        """The same, for a loop that asks of each element what it is."""
        is_plain = not self.grouped and not self.filtered
        return self if is_plain else Indexed(self.length, self.make, self.what, self.of)

    def parts(self) -> Parts:
        return (((".length",), self.length), *numbered(self.of))

    def rebuild(self, parts: tuple[Any, ...]) -> Indexed | None:
        if any(isinstance(part, Conflict) for part in parts):
            return None
        return type(self)(parts[0], self.make, self.what, parts[1:], self.grouped, self.filtered)

    def shape(self) -> Any:
        return id(self.make), len(self.of)

    def describe(self) -> str:
        return self.what


class Span(Indexed):
    """A range of dynamic length: it is made of its start, stop and step."""

    __slots__ = ()


class Row(Indexed):
    """A row of a known array that is taken by a dynamic index: its elements are looked up when
    they are used. In arithmetic, and to NumPy, it is an array."""

    __slots__ = ()


def one_of(w: Any, index: Any, *items: Any) -> Any:
    """One of some items by its index, a Maybe where it may not be there."""
    there, found = [w.item(Tuple(tuple(map(ask, items))), index) for ask in (is_there, if_there)]
    return Maybe(there, found) if isinstance(there, Dynamic) else found


@record(eq=False)
class Bounded(Abstract):
    """What a list holds whose length only the device knows: slots, of which the first `length` are
    its items. It has at least `least` items and at most `most`, which is no more than the slots.
    So does a set with members that only the device knows, and a dict, of pairs.

    Nobody knows how long a list gets that a loop without a known end adds to. It is given `room`
    for so many items: what is added to a full one is left out, and the call raises."""

    items: tuple[Any, ...]
    length: Any
    least: int
    most: int
    room: int | None = None
    leading: tuple[Any, ...] = field(init=False)  # the slots that are more than numbers

    def __post_init__(self) -> None:
        object.__setattr__(self, "leading", tuple(filter(leads_on, self.items)))

    def changed(self, items: tuple[Any, ...], length: Any, least: int, most: int) -> Bounded:
        """What the list holds after a change."""
        return Bounded(items, length, least, most, self.room)

    def parts(self) -> Parts:
        return (((".length",), self.length), *numbered(self.items))

    def rebuild(self, parts: tuple[Any, ...]) -> Bounded:
        return self.changed(parts[1:], parts[0], self.least, self.most)

    def shape(self) -> Any:
        return len(self.items), self.least, self.most, self.room

    def describe(self) -> str:
        return f"a list of at most {self.most} items"


@record(eq=False)
class Growing(Abstract):
    """What a list holds to which items were added under conditions: its items in their order, those
    that may not be there as a Maybe. It is folded as it stands. Who asks for more (`Heap.read`) is
    given slots: of a list of n items that takes as many operations as n lists have items."""

    rows: tuple[Any, ...]
    room: int | None = None

    def parts(self) -> Parts:
        return numbered(self.rows)

    def rebuild(self, parts: tuple[Any, ...]) -> Growing:
        return Growing(parts, self.room)

    def shape(self) -> Any:
        return len(self.rows), self.room

    def describe(self) -> str:
        return f"a list of at most {len(self.rows)} items"


class Masked(Abstract):
    """The elements or rows of an array where a dynamic mask holds, as in `w[w > 0.5]`: all of them,
    and a test for each. How many hold only the device knows. Where a `length` is given, the first
    so many are those."""

    __slots__ = ("items", "length", "tests")
    TAKEN: ClassVar[str] = (
        "can be folded, sorted, iterated by 'for', measured, indexed, computed with and stored; "
        "np.where(mask, x, 0) has a length that is known"
    )

    def __init__(self, items: Sequence[Any], tests: Sequence[Any], length: Any = None) -> None:
        self.items: Final = tuple(items)
        self.tests: Final = tuple(tests)
        self.length: Final = length

    def parts(self) -> Parts:
        return (((".length",), self.length), *numbered((*self.items, *self.tests)))

    def rebuild(self, parts: tuple[Any, ...]) -> Masked | None:
        if any(isinstance(part, Conflict) for part in parts):
            return None
        length, *rest = parts
        return type(self)(rest[: len(self.items)], rest[len(self.items) :], length)

    def shape(self) -> Any:
        return len(self.items), self.length is None

    def describe(self) -> str:
        return f"a selection of {len(self.items)} elements by a dynamic mask"

    def is_like(self, other: Masked) -> bool:
        """Whether another was selected by the same mask."""
        pairs = zip(self.tests, other.tests, strict=False)
        proven: set[Any] = set()
        alike = (_is_one(a, b, proven) for a, b in pairs)
        return len(self.tests) == len(other.tests) and all(alike)


class Cut(Masked):
    """A slice of a list whose length only the device knows, as `xs[:k]`: what is not folded or
    taken item by item is done with a list of its items."""

    __slots__ = ()
    TAKEN: ClassVar[str] = (
        "can be folded, iterated by 'for' and measured: its length is not known at compile time"
    )

    def describe(self) -> str:
        return f"a slice of {len(self.items)} items that ends or begins at a dynamic place"


class FixedCut(Cut):
    """A slice of a tuple or a string, which no list stands for."""

    __slots__ = ()


def _is_one(a: Any, b: Any, proven: set[Any]) -> bool:
    if isinstance(a, Dynamic) and isinstance(b, Dynamic):
        return is_same(a.value, b.value, proven)
    return a is b


def is_same(a: Value, b: Value, proven: set[Any] | None = None, depth: int = 300) -> bool:
    """Whether two values are made alike: the same operations on the same values. `proven`: pairs
    that were found to be."""
    proven = set() if proven is None else proven
    if a is b or (a, b) in proven:
        return True
    one, other = a.op, b.op
    if one is None or other is None or depth == 0 or one.regions or other.regions:
        return False
    alike = one.code == other.code and one.data == other.data and a.type is b.type
    pairs = zip(one.operands, other.operands, strict=False)
    found = (
        alike
        and len(one.operands) == len(other.operands)
        and all(is_same(x, y, proven, depth - 1) for x, y in pairs)
    )
    if found:
        proven.add((a, b))
    return found


def lifted(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """A function of numbers, of numbers and of selections by one mask; NotImplemented where no
    operand is a selection."""
    selections = [operand for operand in operands if isinstance(operand, Masked)]
    if not selections:
        return NotImplemented
    first = selections[0]
    if any(isinstance(selection, Cut) for selection in selections):
        raise TypeError(
            f"{first.describe()} {Cut.TAKEN}; one of an array can be computed with, too"
        )
    if not all(first.is_like(other) for other in selections[1:]):
        raise ValueError(
            "operands could not be broadcast together: they were selected by different masks; "
            "select both by one, as a[m & n] + b[m & n] does"
        )
    of_numbers = first.items and scalar_kind(first.items[0]) is not None
    columns = []
    for operand in operands:
        if isinstance(operand, Masked):
            columns.append(operand.items)
            continue
        if of_numbers and isinstance(operand, Abstract) and not scalar_kind(operand):
            raise ValueError(
                f"operands could not be broadcast together: {first.describe()} has a length that "
                f"only the device knows, and the other is {operand.describe()}: select of both by "
                "one mask"
            )
        columns.append((operand,) * len(first.items))
    rows = zip(*columns, strict=True)
    return Masked([function(*row) for row in rows], first.tests, first.length)


@record(eq=False)
class Lazy(Abstract):
    """What an iterator over other iterators takes from: `step(w, index, *of)` makes the next item,
    or raises StopIteration. Whatever may be dynamic is one of the values that it is made `of`.
    `whole(w, *of)`, where given, is an iterator over all items, to be used before one has been
    taken. Where it is `endless`, `step` takes nothing from other iterators."""

    step: Callable[..., Any]
    of: tuple[Any, ...]
    whole: Callable[..., Any] | None = None
    endless: bool = False

    def parts(self) -> Parts:
        return numbered(self.of)

    def rebuild(self, parts: tuple[Any, ...]) -> Lazy | None:
        return (
            None if any(isinstance(part, Conflict) for part in parts) else replace(self, of=parts)
        )

    def shape(self) -> Any:
        return id(self.step), len(self.of)


@record(eq=False)
class Suspended(Lazy):
    """What a generator gives: of one object, its frame, which waits."""

    code: CodeType = field(kw_only=True)
    globals: dict[str, Any] = field(kw_only=True)

    def shape(self) -> Any:
        return id(self.code)

    def describe(self) -> str:
        return f"the generator {self.code.co_qualname}"


def difference(start: Value, stop: Value) -> int | None:
    """How much one integer is more than another, where that is known."""
    first, low = base_and_offset(start)
    second, high = base_and_offset(stop)
    return high - low if is_same(first, second) else None
