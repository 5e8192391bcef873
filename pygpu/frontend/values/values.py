"""What a variable may hold while a function is translated.

A *known* value is itself: any Python object that is no `Abstract`. A *dynamic* scalar is a
`Dynamic`, an SSA value. What the function makes itself is *virtual*: a structure whose leaves may
be either. Structures that cannot change stand here, those that can in objects.py.

A structure is taken apart and put together by three methods, which is all that joins, exits from
regions and calls of Python need to know of a kind of values:

    pair = Tuple((x, 2))
    pair.parts()                # (((0,), x), ((1,), 2)): each part and what it is called
    pair.rebuild((y, 2))        # Tuple((y, 2))
    pair.shape()                # (tuple, 2): only values of one shape can be joined, part by part
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, ClassVar, Final, Literal

import numpy as np

from pygpu import ssa
from pygpu.core.errors import ARRAY, CompileError, shown
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.types import Type

with later():
    from pygpu.core import ssa_text

Key = tuple[Any, ...]  # where a leaf stands: the variable's name, then the names of parts
Parts = tuple[tuple[Key, Any], ...]


def numbered(values: Iterable[Any]) -> Parts:
    """Parts that are called by their places."""
    values = tuple(values)
    return tuple(zip(_places(len(values)), values, strict=True)) if values else ()


_places = functools.lru_cache(64)(lambda count: tuple([(place,) for place in range(count)]))


def named(values: Mapping[Any, Any]) -> Parts:
    """Parts that are called by their keys."""
    return tuple([((name,), value) for name, value in values.items()])


class NotKnown(Exception):
    """A value has a leaf that is not known."""


class Abstract:
    """A value the compiler holds instead of a Python object."""

    __slots__ = ()
    CHOICES: ClassVar[int] = 16  # how many such may be options of one choice

    def parts(self) -> Parts:
        """The values that it is made of."""
        return ()

    def rebuild(self, parts: tuple[Any, ...]) -> Any:
        """A value like this of other parts; a Conflict, or None, where they make no such value."""
        return self

    def shape(self) -> Any:
        """What two values must have in common to become one, part by part."""
        return (id(self),)

    def real(self, parts: tuple[Any, ...]) -> Any:
        """The Python object that it is, of real parts."""
        raise NotKnown

    def describe(self) -> str:
        name = type(self).__name__.lower()
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

    def __bool__(self) -> bool:
        raise CompileError(f"the truth of {describe(self)} is not known at compile time")

    def __iter__(self) -> Any:
        raise CompileError(f"{describe(self)} cannot be iterated at compile time")


class Dynamic(Abstract):
    """A scalar that is computed at run time."""

    __slots__ = ("value",)

    def __init__(self, value: ssa.Value) -> None:
        self.value: Final = value

    @property
    def type(self) -> Type:
        return self.value.type

    def kind_shown(self) -> str:
        """What it is of, in the words of a message."""
        return self.type.kind

    def moved(self, value: ssa.Value) -> Dynamic:
        """The same number as another value: what a branch or loop gives of it."""
        return Dynamic(value)

    def describe(self) -> str:
        return f"the dynamic {self.kind_shown()}" + (
            f" '{self.value.name}'" if self.value.name else ""
        )

    def __eq__(self, other: object) -> bool:
        raise CompileError("dynamic values cannot be compared at compile time")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Dynamic({self.value!r})"


def leads_on(part: Any) -> bool:
    """Whether a part may hold objects: it is more than numbers and what is known."""
    cls = part.__class__
    if cls is Dynamic or not isinstance(part, Abstract):
        return False
    return part.leads if cls is Tuple or cls is Choice else True  # type: ignore[attr-defined]


class Natural(Dynamic):
    """An int that is never negative: what counts the rounds of a loop."""

    __slots__ = ()


class Numpys(Dynamic):
    """An int or a float that is one of NumPy's of 32 bits and more in plain Python where the bool
    `own` holds, elsewhere Python's, and no Int. None: nobody can say where it is NumPy's."""

    __slots__ = ("own",)

    def __init__(self, value: ssa.Value, own: ssa.Value | Literal[True] | None = True) -> None:
        super().__init__(value)
        self.own: Final = own

    def moved(self, value: ssa.Value) -> Dynamic:
        return Numpys(value, self.own)


class Flagged(Dynamic):
    """An int that is flags of an `enum.IntFlag`, together or alone."""

    __slots__ = ("cls",)

    def __init__(self, value: ssa.Value, cls: type[enum.IntFlag]) -> None:
        super().__init__(value)
        self.cls: Final = cls

    def moved(self, value: ssa.Value) -> Dynamic:
        return Flagged(value, self.cls)


class Truth(Dynamic):
    """A bool of which it is sure whether it is NumPy's or Python's, or that it is NumPy's on some
    paths (None): see numbers/flags.py."""

    __slots__ = ("is_numpys",)

    def __init__(self, value: ssa.Value, is_numpys: bool | None) -> None:
        super().__init__(value)
        self.is_numpys: Final = is_numpys

    def moved(self, value: ssa.Value) -> Dynamic:
        return Truth(value, self.is_numpys)


class Certainty(enum.IntEnum):
    """Whether an integer is NumPy's of fewer bits: on all paths, one of Python's on some, or one of
    more bits on some."""

    NUMPY = 0
    OR_PYTHONS = 1
    NEITHER = 2


class Narrow(Dynamic):
    """An int that NumPy holds in fewer bits: its arithmetic with others of its kind wraps there. It
    lies in `range`, both ends included; where nothing is known of it, in the dtype's."""

    __slots__ = ("certainty", "dtype", "range")

    def __init__(
        self,
        value: ssa.Value,
        dtype: np.dtype[Any],
        range: tuple[int, int] | None = None,
        certainty: Certainty = Certainty.NUMPY,
    ) -> None:
        super().__init__(value)
        self.dtype: Final = dtype
        self.range: Final = range or (np.iinfo(dtype).min, np.iinfo(dtype).max)
        self.certainty: Final = certainty

    def moved(self, value: ssa.Value) -> Dynamic:
        return Narrow(value, self.dtype, self.range, self.certainty)

    def kind_shown(self) -> str:
        return str(self.dtype)


class Tuple(Abstract):
    """A tuple some of whose items are not known; `cls` is tuple or a named tuple's class."""

    __slots__ = ("cls", "items", "leads")

    def __init__(self, items: tuple[Any, ...], cls: type = tuple) -> None:
        self.items: Final = items
        self.cls: Final = cls
        self.leads: Final = any(map(leads_on, items))

    def parts(self) -> Parts:
        return numbered(self.items)

    def rebuild(self, parts: tuple[Any, ...]) -> Tuple:
        return Tuple(parts, self.cls)

    def shape(self) -> Any:
        return self.cls, len(self.items)

    def real(self, parts: tuple[Any, ...]) -> Any:
        return tuple.__new__(self.cls, parts) if self.cls is not tuple else parts

    def describe(self) -> str:
        return f"a {self.cls.__name__} of {len(self.items)} items"


class Range(Tuple):
    """A range of known length from a start that is not known."""

    __slots__ = ("step",)

    def __init__(self, items: tuple[Any, ...], step: int) -> None:
        super().__init__(items, range)
        self.step: Final = step

    def rebuild(self, parts: tuple[Any, ...]) -> Range:
        return Range(parts, self.step)

    def shape(self) -> Any:
        return range, len(self.items), self.step

    def real(self, parts: tuple[Any, ...]) -> Any:
        return range(parts[0], parts[0] + len(parts) * self.step, self.step)

    def taken(self, places: slice) -> Any:
        """The range of some of its items."""
        items = self.items[places]
        step = self.step * (1 if places.step is None else places.step)
        return Range(items, step) if items else range(0)


def tuple_of(items: tuple[Any, ...]) -> Any:
    """A tuple: a real one if all items are known."""
    for item in items:
        if isinstance(item, Abstract):
            return Tuple(items)
    return items


class Slice(Abstract):
    """A slice with a part that is not known."""

    __slots__ = ("bounds",)

    def __init__(self, bounds: tuple[Any, ...]) -> None:
        self.bounds: Final = (*bounds, None)[:3]  # start, stop and step

    def parts(self) -> Parts:
        return numbered(self.bounds)

    def rebuild(self, parts: tuple[Any, ...]) -> Slice:
        return Slice(parts)

    def shape(self) -> Any:
        return ()

    def real(self, parts: tuple[Any, ...]) -> Any:
        return slice(*parts)


@record(eq=False)
class Picture(Abstract):
    """An image that is an input, of one to three `dims`, and how it is read here."""

    index: int
    name: str
    type: Type
    boundary: str
    cval: tuple[ssa.Number, ...]
    interpolation: str
    dims: int = 2

    def describe(self) -> str:
        return f"the {self.noun} '{self.name}'"

    @property
    def noun(self) -> str:
        return ssa_text.NOUNS[self.dims]


_SHOWN: Final = 4  # options of a choice that a message names


class Choice(Abstract):
    """One of several values, of which a dynamic int says which: `None` or a number, one of two
    functions or strings. `why` says of an option that cannot be used where it comes from."""

    __slots__ = ("leads", "options", "which", "why")

    def __init__(self, which: Dynamic, options: tuple[Any, ...], why: str) -> None:
        self.which: Final = which
        self.options: Final = options
        self.leads: Final = any(map(leads_on, options))
        self.why: Final = why

    def parts(self) -> Parts:
        return (((".which",), self.which), *numbered(self.options))

    def rebuild(self, parts: tuple[Any, ...]) -> Choice:
        return Choice(parts[0], parts[1:], self.why)

    def describe(self) -> str:
        shown = [describe(option) for option in self.options[:_SHOWN]]
        if len(self.options) > _SHOWN:
            shown.append(f"one of {len(self.options) - _SHOWN} others")
        return " or ".join(shown)

    def unusable(self) -> str:
        """What to say where an option that is None is used as if it were not."""
        others = [describe(option) for option in self.options if option is not None]
        return (
            f"this may be None here, or {' or '.join(others)}: {self.why}; "
            "test it before it is used, as in 'if x is not None:'"
        )


class Maybe(Abstract):
    """A number or vector that is there where the bool `taken` holds; elsewhere `value` is zero."""

    __slots__ = ("taken", "value")

    def __init__(self, taken: Any, value: Any) -> None:
        self.taken: Final = taken
        self.value: Final = value

    def parts(self) -> Parts:
        return (((".taken",), self.taken), ((), self.value))

    def rebuild(self, parts: tuple[Any, ...]) -> Maybe:
        return Maybe(*parts)

    def shape(self) -> Any:
        return ()


def is_there(item: Any) -> Any:
    """Whether an item is there, which of a Maybe only the device knows."""
    return item.taken if isinstance(item, Maybe) else True


def if_there(item: Any) -> Any:
    """What an item is where it is there."""
    return item.value if isinstance(item, Maybe) else item


class Conflict(Abstract):
    """What a name holds where two paths meet that cannot be one: an error at its first use."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message: Final = message

    def describe(self) -> str:
        return self.message


class Unset(Conflict):
    """What a variable holds where two paths meet of which one has not set it. Where that is because
    a loop may have run no round, it has a `name`: reading it raises, as in Python."""

    __slots__ = ("name",)

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name: Final = name


class _Mark:
    """Something that is no value, where a value may stand."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


UNBOUND: Final = _Mark("unbound")  # a local or cell without a value
# The first contents of an object that was made in a region which has been left: where it still can
# be reached the heap says what it holds, and it does not exist on paths whose heap does not.
ABSENT: Final = _Mark("absent")
ELSEWHERE: Final = "this may be an object that another path made: make it before the paths part"


def same_known(a: Any, b: Any) -> bool:
    """Whether two known values are one for good: same type and bits (True is not 1, -0.0 is
    not 0.0), tuples item by item, other objects by identity."""
    if a is b or type(a) is not type(b):
        return a is b
    if isinstance(a, float):
        return (a == b and np.signbit(a) == np.signbit(b)) or (a != a and b != b)
    if isinstance(a, complex):
        return same_known(a.real, b.real) and same_known(a.imag, b.imag)
    if isinstance(a, (int, str, bytes, range, slice, np.generic)):
        return bool(a == b)
    if isinstance(a, (tuple, frozenset)) and len(a) == len(b):
        return all(map(same_known, a, b)) if isinstance(a, tuple) else a == b
    return False


def kept(value: Any, how: str = "", instead: str = "make a copy and change that") -> str:
    """What to say where something from outside the function would be changed."""
    where = "came from outside the function and must not be changed"
    return f"{describe(value)} {where}{how}: {instead}"


def describe(value: Any) -> str:
    """A value in the words of an error message: what it is and its type."""
    if value is None:
        return "None"
    if isinstance(value, Abstract):
        return value.describe()
    if isinstance(value, FunctionType):
        return f"the function {value.__qualname__}"
    text = shown(value)
    return text if text.startswith(ARRAY) else f"{text} ({type(value).__name__})"
