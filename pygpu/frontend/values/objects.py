"""Virtual objects: what the function makes that has an identity, and can change.

An `Object` is a handle. It keeps its first contents; what it holds later stands in the heap of the
`State`, so that both sides of a branch have a world of their own. Contents are never changed in
place, only replaced. Each class says what its contents are made of, and makes others like them:

    xs = List((x, 2.0));  state.heap[xs] = (x,)
    xs.parts_of((x, 2.0))             # (((0,), x), ((1,), 2.0))
    xs.gather((x, 2.0), (y, 3.0))     # (y, 3.0)
    xs.hollow(), xs.fill([], ...)     # the Python object that it is, made first and filled then
"""

from __future__ import annotations

import itertools
import types
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.frontend.values.lazy import Indexed, Lazy
from pygpu.frontend.values.values import (
    UNBOUND,
    Abstract,
    NotKnown,
    Parts,
    named,
    numbered,
    same_known,
)
from pygpu.language import vectors
from pygpu.ssa import Call
from pygpu.types import Type

_serial = itertools.count(1)


def youngest() -> int:
    """A serial that parts the objects made so far from those made later."""
    return next(_serial)


EITHER: Final = "may be either of two objects"  # why an object must not be changed
ITEM: Final = "is an item of what came from outside the function"
ROW: Final = "is a row of an array from outside the function"


class Object(Abstract):
    """A handle of something with identity. `serial` orders handles by age."""

    __slots__ = ("__weakref__", "either", "initial", "outside", "serial")

    def __init__(self, initial: Any, outside: bool | str = False) -> None:
        self.initial = initial
        self.outside = outside  # not to be changed: came from outside the function, or why not
        self.serial: Final = next(_serial)
        # Of one that may be any of several: what holds which of them it is, a Choice of them.
        self.either: Object | None = None

    def parts_of(self, contents: Any) -> Parts:
        """The values that contents are made of: of most, a tuple or one value."""
        return numbered(contents) if isinstance(contents, tuple) else (((), contents),)

    def gather(self, contents: Any, parts: tuple[Any, ...]) -> Any:
        """Contents like these of other parts."""
        return parts if isinstance(contents, tuple) else parts[0]

    def matches(self, a: Any, b: Any) -> bool:
        """Whether two contents can be joined part by part."""
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)

    def like(self, other: Any, outside: bool | str) -> Object | None:
        """A new object that two of one class and shape become, without contents; None of others."""
        return type(self)(None, outside) if type(self) is type(other) else None

    def hollow(self) -> Any:
        """A new Python object like it, to be filled; None where that is made of its parts."""
        return None

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        """The Python object with real parts in it."""
        raise NotKnown

    def taken(self, real: Any, old: Any) -> Any:
        """The contents that the Python object made of this one, of the contents `old`, has now:
        the same where nothing has changed in an object without parts, or nothing can."""
        return old

    def settle(self, real: Any, contents: Any, made: dict[Object, Any]) -> None:
        """Let the Python objects of its parts hold what that of this one, a copy, holds now."""


class Cell(Object):
    """A variable that closures share. Contents: a value, or UNBOUND."""

    __slots__ = ()

    def parts_of(self, contents: Any) -> Parts:
        return (((), contents),)

    def gather(self, contents: Any, parts: tuple[Any, ...]) -> Any:
        return parts[0]

    def matches(self, a: Any, b: Any) -> bool:
        return True

    def hollow(self) -> Any:
        return types.CellType()

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        if contents is not UNBOUND:
            hollow.cell_contents = parts[0]
        return hollow

    def taken(self, real: Any, old: Any) -> Any:
        try:
            return real.cell_contents
        except ValueError:
            return UNBOUND


class Vector(Object):
    """A vector. Contents: an ssa.Value, or a tuple of scalars, known or dynamic. `cls` is the
    user's class (Vec3, IVec2, Position ...)."""

    __slots__ = ("cls", "type")

    def __init__(self, cls: type, type: Type, initial: Any, outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls
        self.type: Final = type

    def like(self, other: Any, outside: bool | str) -> Object | None:
        same = isinstance(other, Vector) and other.cls is self.cls
        return Vector(self.cls, self.type, None, outside) if same else None

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        if not isinstance(contents, tuple):
            raise NotKnown
        return vectors.holding(self.cls, parts)

    def taken(self, real: Any, old: Any) -> Any:
        return tuple(real)

    def describe(self) -> str:
        return f"a {self.cls.__name__}"


class Matrix(Object):
    """A matrix. Contents: a tuple of Vectors or known vectors, its rows."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, initial: tuple[Any, ...], outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls

    def like(self, other: Any, outside: bool | str) -> Object | None:
        same = isinstance(other, Matrix) and other.cls is self.cls
        return Matrix(self.cls, (), outside) if same else None

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        return self.cls(*parts)

    def describe(self) -> str:
        return f"a {self.cls.__name__}"


class List(Object):
    """A list. Contents: a tuple, or an Indexed."""

    __slots__ = ()

    def matches(self, a: Any, b: Any) -> bool:
        return super().matches(a, b) or (isinstance(a, Indexed) and isinstance(b, Indexed))

    def hollow(self) -> Any:
        return []

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        if not isinstance(contents, tuple):
            raise NotKnown
        hollow.extend(parts)
        return hollow

    def taken(self, real: Any, old: Any) -> Any:
        return tuple(real)


class Yielded(List):
    """What a generator expression has yielded: some items may be a `Maybe`."""

    __slots__ = ("before",)

    def __init__(self, initial: Any, outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.before: Any = None  # of what has no order: what objects held before it was taken


class Unordered(Yielded):
    """Members of a set, or what was made of each, in an order of Python's that nobody can tell."""

    __slots__ = ()


class Keyed(Object):
    """An object of parts with names. Contents: a dict, never changed in place."""

    __slots__ = ()

    def parts_of(self, contents: Any) -> Parts:
        return named(contents) if isinstance(contents, dict) else super().parts_of(contents)

    def gather(self, contents: Any, parts: tuple[Any, ...]) -> Any:
        return dict(zip(contents, parts, strict=True)) if isinstance(contents, dict) else parts[0]

    def matches(self, a: Any, b: Any) -> bool:
        return isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b)


class Waiting(Keyed):
    """A frame that waits: of a generator between two items, or of a function whose loop a generator
    drives. Its parts are its variables by name, what is on its stack, and where it goes on."""

    __slots__ = ("call",)

    def __init__(self, initial: Any, outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.call: Call | None = None  # of the generator, whoever asks for its items

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        raise NotKnown


class Dict(Keyed):
    """A dict. Contents: a dict of known keys, or a Bounded of pairs."""

    __slots__ = ()

    def hollow(self) -> Any:
        return {}

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        if not isinstance(contents, dict) or any(isinstance(key, Abstract) for key in contents):
            raise NotKnown
        hollow.update(zip(contents, parts, strict=True))
        return hollow

    def taken(self, real: Any, old: Any) -> Any:
        return dict(real)


class Names(Dict):
    """Attributes or variables by name, of a function or a class's body: all known."""

    __slots__ = ()


class Namespace(Dict):
    """An object's `__dict__`: what it holds is the object's, here and in each world."""

    __slots__ = ("owner",)

    def __init__(self, owner: Object) -> None:
        super().__init__({}, owner.outside)
        self.owner: Final = owner

    def like(self, other: Any, outside: bool | str) -> None:
        return None  # two become the joined object's


class Set(Object):
    """A set. Contents: a tuple of known elements without repeats, or a Bounded."""

    __slots__ = ()

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        if not isinstance(contents, tuple) or any(isinstance(one, Abstract) for one in contents):
            raise NotKnown  # a copy would be another element
        return set(parts)

    def taken(self, real: Any, old: Any) -> Any:
        return old if set(old) == real else tuple(real)


class Array(Object):
    """A NumPy array some of whose elements are dynamic. Contents: an object ndarray, or a numeric
    one. A view of a `base` has none of its own: `places` says which elements of the base, counted
    in C order, it shows."""

    __slots__ = ("base", "places")

    def __init__(
        self,
        initial: Any,
        outside: bool | str = False,
        base: Array | None = None,
        places: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(initial, outside)
        self.base: Final = base
        self.places: Final = places

    @property
    def whole(self) -> Array:
        """What changes where the array does: its base, or itself."""
        return self if self.base is None else self.base

    def parts_of(self, contents: Any) -> Parts:
        return numbered(contents.reshape(-1)) if contents.dtype == object else ()

    def gather(self, contents: Any, parts: tuple[Any, ...]) -> Any:
        if contents.dtype != object:
            return contents
        made = np.empty(contents.shape, object)
        made.reshape(-1)[:] = parts
        return made

    def matches(self, a: Any, b: Any) -> bool:
        return bool(a.shape == b.shape)

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        known = np.array(parts) if contents.dtype == object else contents.copy()
        return known.reshape(contents.shape)

    def taken(self, real: Any, old: Any) -> Any:
        before = self.fill(None, old, tuple(old.reshape(-1)))
        same = np.array_equal(before, real, equal_nan=before.dtype.kind in "fc")
        return old if same else real

    def describe(self) -> str:
        held = self.initial if self.places is None else self.places
        return f"an array of shape {held.shape}" if isinstance(held, np.ndarray) else "an array"


class Instance(Keyed):
    """An object of a user's class: its parts are its attributes."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, initial: dict[str, Any], outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls

    def like(self, other: Any, outside: bool | str) -> Object | None:
        same = type(self) is type(other) and other.cls is self.cls
        return type(self)(self.cls, {}, outside) if same else None

    def hollow(self) -> Any:
        namespace = self.cls is types.SimpleNamespace
        return types.SimpleNamespace() if namespace else object.__new__(self.cls)

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        for name, part in zip(contents, parts, strict=True):
            object.__setattr__(hollow, name, part)
        return hollow

    def taken(self, real: Any, old: Any) -> Any:
        return attributes(real)

    def describe(self) -> str:
        return f"a {getattr(self.cls, 'stands_for', self.cls).__name__}"


class Thrown(Instance):
    """What an exception holds that is not all known: `args`, its cause, what has been set."""

    __slots__ = ()

    def hollow(self) -> Any:
        raise NotKnown


class ClassParts(Instance):
    """What the attributes of a class are that the function has made, those that are not known or
    have been set since; those that were deleted are ABSENT."""

    __slots__ = ()


class Iterator(Object):
    """An iterator. Contents: (source, index); a source is a tuple, a range, a Replay, an Indexed, a
    Lazy, or a List, whose changes it sees."""

    __slots__ = ()

    def parts_of(self, contents: Any) -> Parts:
        source, index = contents
        if isinstance(source, tuple):
            return numbered(source)
        place = (((".index",), index),)
        return (((), source), *place) if isinstance(source, Abstract) else place

    def gather(self, contents: Any, parts: tuple[Any, ...]) -> Any:
        source, index = contents
        if isinstance(source, tuple):
            return parts, index
        return (parts[0], parts[1]) if isinstance(source, Abstract) else (source, parts[0])

    def matches(self, a: Any, b: Any) -> bool:
        (source, index), (other, place) = a, b
        if isinstance(source, (Indexed, Lazy)) and type(source) is type(other):
            return True
        both = isinstance(source, tuple) and isinstance(other, tuple) and len(source) == len(other)
        return (both or source is other) and same_known(index, place)

    def describe(self) -> str:
        return "an iterator"


class Replay:
    """The items of a Python iterator, taken once and kept, so that re-walking sees them again."""

    __slots__ = ("items", "iterator")

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        self.items: list[Any] = []

    def get(self, index: int) -> Any:
        """The item, or StopIteration."""
        while len(self.items) <= index:
            self.items.append(next(self.iterator))
        return self.items[index]


def attributes(value: Any) -> dict[str, Any]:
    """The attributes an object holds itself, in its dict and its slots."""
    fields = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                fields[name] = getattr(value, name)
    return fields
