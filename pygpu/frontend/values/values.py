"""What a variable may hold while a function is translated.

A *known* value is itself: any Python object that is no `Abstract`. A *dynamic* scalar is a
`Dynamic`, an SSA value. What the function makes itself is *virtual*: a handle of one of the
classes below, whose leaves may be either. Handles that can change (`Object`) keep their first
contents; what they hold later stands in the heap of the `State`, so that both sides of a branch
have a world of their own. Contents are never changed in place, only replaced.

    x = Dynamic(value);  pair = Tuple((x, 2));  xs = List((x, 2.0));  state.heap[xs] = (x,)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu import ssa
from pygpu.core.errors import CompileError
from pygpu.types import Kind, Type

_serial = itertools.count(1)


def youngest() -> int:
    """A serial that parts the objects made so far from those made later."""
    return next(_serial)


class Abstract:
    """A value the compiler holds instead of a Python object."""

    __slots__ = ()

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

    def __eq__(self, other: object) -> bool:
        raise CompileError("dynamic values cannot be compared at compile time")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Dynamic({self.value!r})"


class Tuple(Abstract):
    """A tuple some of whose items are not known; `cls` is tuple or a named tuple's class."""

    __slots__ = ("cls", "items")

    def __init__(self, items: tuple[Any, ...], cls: type = tuple) -> None:
        self.items: Final = items
        self.cls: Final = cls


def tuple_of(items: tuple[Any, ...]) -> Any:
    """A tuple: a real one if all items are known."""
    for item in items:
        if isinstance(item, Abstract):
            return Tuple(items)
    return items


class Function(Abstract):
    """A function made while translating: a lambda, a nested function, a generator expression."""

    __slots__ = ("closure", "code", "defaults", "globals", "keyword_defaults", "name")

    def __init__(
        self,
        code: CodeType,
        globals: dict[str, Any],
        defaults: tuple[Any, ...] = (),
        keyword_defaults: Mapping[str, Any] | None = None,
        closure: tuple[Any, ...] = (),
    ) -> None:
        self.code: Final = code
        self.globals: Final = globals
        self.name: Final = code.co_qualname
        self.defaults = defaults
        self.keyword_defaults = dict(keyword_defaults or {})
        self.closure = closure  # Cells, or real cells of an outside function


class Bound(Abstract):
    """A callable with its first argument: a method, or functools.partial's with more."""

    __slots__ = ("args", "function", "keywords")

    def __init__(
        self, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any] | None = None
    ) -> None:
        self.function: Final = function
        self.args: Final = args
        self.keywords: Final = dict(keywords or {})


class Builtin(Abstract):
    """A callable that the walker itself provides: a method of a list, say, its owner."""

    __slots__ = ("call", "name", "owner")

    def __init__(self, name: str, call: Callable[..., Any], owner: Any = None) -> None:
        self.name: Final = name
        self.call: Final = call
        self.owner: Final = owner


class Super(Abstract):
    """What super() gives: attributes are looked up after `cls` in the order of `owner`'s class."""

    __slots__ = ("cls", "owner")

    def __init__(self, cls: type, owner: Any) -> None:
        self.cls: Final = cls
        self.owner: Final = owner


class Slice(Abstract):
    """A slice with a part that is not known."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts: Final = parts


class Picture(Abstract):
    """An image that is an input, and how it is read here."""

    __slots__ = ("boundary", "cval", "index", "interpolation", "name", "type")

    def __init__(
        self,
        index: int,
        name: str,
        type: Type,
        boundary: str,
        cval: tuple[ssa.Number, ...],
        interpolation: str,
    ) -> None:
        self.index: Final = index
        self.name: Final = name
        self.type: Final = type
        self.boundary: Final = boundary
        self.cval: Final = cval
        self.interpolation: Final = interpolation


class Indexed(Abstract):
    """A sequence too long to be unrolled, or of dynamic length: a length and an element by index.

    `make` takes an index (an int or a Dynamic int) and the `parts`, and emits what makes the
    element. Whatever may be dynamic is a part, for it has to follow the sequence out of a branch.
    """

    __slots__ = ("grouped", "length", "make", "parts", "what")

    def __init__(
        self,
        length: Any,
        make: Callable[..., Any],
        what: str,
        parts: tuple[Any, ...] = (),
        grouped: bool = False,
    ) -> None:
        self.length: Final = length
        self.make: Final = make
        self.what: Final = what
        self.parts: Final = parts
        self.grouped: Final = grouped  # each element is a list of elements, of a nested loop

    def element(self, index: Any) -> Any:
        """The element at an index that lies in the sequence."""
        return self.make(index, *self.parts)


class Row(Indexed):
    """A row of a known array that is taken by a dynamic index: its elements are looked up when
    they are used. In arithmetic, and to NumPy, it is an array."""

    __slots__ = ()


class Lazy(Abstract):
    """What an iterator over other iterators takes from: `step(w, index, *parts)` makes the next
    item, or raises StopIteration. Whatever may be dynamic is a part. `whole(w)`, where given, is
    an iterator over all items, to be used before one has been taken."""

    __slots__ = ("parts", "step", "whole")

    def __init__(
        self,
        step: Callable[..., Any],
        parts: tuple[Any, ...],
        whole: Callable[..., Iterator] | None = None,
    ) -> None:
        self.step: Final = step
        self.parts: Final = parts
        self.whole: Final = whole


class Conflict(Abstract):
    """What a name holds where two paths meet that cannot be one: an error at its first use."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message: Final = message


EITHER: Final = "may be either of two objects"  # why an object must not be changed


class Object(Abstract):
    """A handle of something with identity. `serial` orders handles by age."""

    __slots__ = ("__weakref__", "initial", "outside", "serial")

    def __init__(self, initial: Any, outside: bool | str = False) -> None:
        self.initial = initial
        self.outside = outside  # not to be changed: came from outside the function, or why not
        self.serial: Final = next(_serial)


class Cell(Object):
    """A variable that closures share. Contents: a value, or UNBOUND."""

    __slots__ = ()


class Vector(Object):
    """A vector. Contents: an ssa.Value, or a tuple of scalars, known or dynamic. `cls` is the
    user's class (Vec3, IVec2, Position ...)."""

    __slots__ = ("cls", "type")

    def __init__(self, cls: type, type: Type, initial: Any, outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls
        self.type: Final = type


class Matrix(Object):
    """A matrix. Contents: a tuple of Vectors or known vectors, its rows."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, initial: tuple[Any, ...], outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls


class List(Object):
    """A list. Contents: a tuple, or an Indexed."""

    __slots__ = ()


class Yielded(List):
    """What a generator expression has yielded: some items may be a `Maybe`."""

    __slots__ = ()


class Maybe(Abstract):
    """A number or vector that is there where the Dynamic bool `taken` holds; elsewhere `value` is
    zero."""

    __slots__ = ("taken", "value")

    def __init__(self, taken: Any, value: Any) -> None:
        self.taken: Final = taken
        self.value: Final = value


class Dict(Object):
    """A dict with known keys. Contents: a dict, never changed in place."""

    __slots__ = ()


class Set(Object):
    """A set of known elements. Contents: a tuple without repeats."""

    __slots__ = ()


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


class Instance(Object):
    """An object of a user's class. Contents: a dict of its attributes."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, initial: dict[str, Any], outside: bool | str = False) -> None:
        super().__init__(initial, outside)
        self.cls: Final = cls


class ClassParts(Instance):
    """What the attributes of a class are that the function has made, those that are not known or
    have been set since. Contents: a dict of them, those that were deleted are ABSENT."""

    __slots__ = ()


class Iterator(Object):
    """An iterator. Contents: (source, index); a source is a tuple, a Replay or an Indexed."""

    __slots__ = ()


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


class _Unbound:
    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND: Final = _Unbound()  # a local or cell without a value


class _Absent:
    def __repr__(self) -> str:
        return "<absent>"


# The first contents of an object that was made in a region which has been left: where it still can
# be reached the heap says what it holds, and it does not exist on paths whose heap does not.
ABSENT: Final = _Absent()


class State:
    """The world at one point of the walk: the variables and stack of the frame that runs, and
    what objects hold that has been changed since they were made."""

    __slots__ = ("heap", "locals", "stack")

    def __init__(self, locals: dict[str, Any], stack: list[Any], heap: dict[Object, Any]) -> None:
        self.locals = locals
        self.stack = stack
        self.heap = heap

    def fork(self) -> State:
        return State(self.locals.copy(), self.stack.copy(), self.heap.copy())

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
            return whole.reshape(-1)[handle.places] if isinstance(whole, np.ndarray) else whole
        return handle.initial


class Frozen(Abstract):
    """The world as it was where something was put off: a comprehension over a long sequence."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state: Final = state


def same_known(a: Any, b: Any) -> bool:
    """Whether two known values are one for good: same type and bits (True is not 1, -0.0 is
    not 0.0), tuples item by item, other objects by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a == b and np.signbit(a) == np.signbit(b)) or (a != a and b != b)
    if isinstance(a, (int, str, bytes, complex, np.generic)):
        return bool(a == b)
    if isinstance(a, (tuple, frozenset)) and len(a) == len(b):
        return all(map(same_known, a, b)) if isinstance(a, tuple) else a == b
    if isinstance(a, (range, slice)):
        return bool(a == b)
    return False


def describe(value: Any) -> str:
    """A value in the words of an error message: what it is and its type."""
    match value:
        case Dynamic():
            name = f" '{value.value.name}'" if value.value.name else ""
            return f"the dynamic {value.type.kind}{name}"
        case Vector() | Instance() | Matrix():
            return f"a {value.cls.__name__}"
        case Tuple():
            return f"a {value.cls.__name__} of {len(value.items)} items"
        case List() | Dict() | Set() | Iterator():
            return f"a {type(value).__name__.lower()}"
        case Array():
            shape = np.shape(value.initial if value.places is None else value.places)
            return f"an array of shape {shape}"
        case Picture():
            return f"the image '{value.name}'"
        case Function():
            return f"the function {value.name}"
        case Bound():
            return "a bound method"
        case Builtin():
            return f"the method {value.name}"
        case Indexed():
            return value.what
        case Conflict():
            return value.message
        case Abstract():
            return f"a {type(value).__name__.lower()}"
    shown = repr(value)
    if len(shown) > 60:
        shown = shown[:57] + "..."
    return f"{shown} ({type(value).__name__})"


def scalar_kind(value: Any) -> Kind | None:
    """The kind of a scalar, known or dynamic; None for anything else."""
    if isinstance(value, Dynamic):
        return value.type.kind
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    return None
