"""Vectors of floats, integers and bools, and positions, as plain Python values.

The compiler knows these classes as its types; here they run in CPython, with the same meaning.
A vector is a mutable object of two to four components: Python floats, `Int`s, `UInt`s or bools.
Everything works a component at a time; numbers widen bool < int < uint < float.

    v = Vec3(1, 2, 3); v.xy = v.yx; (v + 1).z == 4.0; all(Vec2(v) == (2, 1))
"""

import copy
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.language.components import (
    CONVERT,
    DTYPE,
    flattened,
    kind_of,
    operand,
    sum_of_products,
    swizzle,
)
from pygpu.language.componentwise import Componentwise, Operator, calculate, operators
from pygpu.language.scalars import Int, from_numpy_scalar, number
from pygpu.types import KINDS, Kind, Type, vector

# Methods of NumPy's arrays that give what they give of an array of the components.
OF_ARRAYS: Final = frozenset(
    "T argmax argmin argsort astype clip cumsum flatten ravel reshape round std tolist var".split()
)


class Vector(Componentwise):
    """What the vector classes have in common.

    Built from numbers, vectors, lists, tuples and one-dimensional arrays that together have as
    many components as the vector; from one number, which all components take; or from one longer
    vector, the first components of which are taken. An integer vector truncates floats.
    """

    __slots__ = ("_components",)
    __hash__ = None
    TYPE: ClassVar[Type]
    _components: tuple[Any, ...]

    @guarded
    def __init__(self, *parts: Any) -> None:
        size = self.TYPE.size
        values = flattened(type(self).__name__, parts)
        if len(parts) == 1 and len(values) != size:
            if number(parts[0]) is not None:
                values *= size
            elif isinstance(parts[0], Vector):
                values = values[:size]
        if len(values) != size:
            name = type(self).__name__
            raise TypeError(f"{name} takes {size} components, got {len(values)}")
        convert = CONVERT[self.TYPE.kind]
        _set_components(self, tuple(convert(value) for value in values))

    # ---- components

    def __len__(self) -> int:
        return self.TYPE.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self._components)

    @guarded
    def __getitem__(self, index: Any) -> Any:
        places = self._places(index)
        if isinstance(places, range):
            return self._build(tuple([self._components[place] for place in places]))
        return self._components[places]

    @guarded
    def __setitem__(self, index: Any, value: Any) -> None:
        places = self._places(index)
        self._assign(tuple(places) if isinstance(places, range) else (places,), value)

    def _places(self, index: Any) -> Any:
        """The component that an index means, or a range of them."""
        try:
            return range(self.TYPE.size)[index]
        except IndexError:
            raise IndexError(f"index {index} of {self!r} is out of range") from None
        except TypeError:
            name, kind = type(self).__name__, type(index).__name__
            raise TypeError(f"{name} indices must be integers or slices, not {kind}") from None

    def __getattr__(self, name: str) -> Any:
        if name in OF_ARRAYS:
            return getattr(np.asarray(self), name)
        indices = swizzle(name, self.TYPE.size)
        if len(indices) == 1:
            return self._components[indices[0]]
        return self._build(tuple(self._components[index] for index in indices))

    def __setattr__(self, name: str, value: Any) -> None:
        self._assign(swizzle(name, self.TYPE.size, write=True), value)

    def _assign(self, indices: tuple[int, ...], value: Any) -> None:
        """Replace the components at `indices` by one number or by as many."""
        kind = self.TYPE.kind
        values = operand(value, len(indices))
        if values is None:
            raise TypeError(f"{type(self).__name__} cannot take {shown(value)} as components")
        components = list(self._components)
        for index, item in zip(indices, values, strict=True):
            if KINDS.index(kind_of(item)) > KINDS.index(kind):
                name = type(self).__name__
                raise TypeError(
                    f"{name} holds {kind}s, cannot take {shown(item)}: convert it first"
                )
            components[index] = CONVERT[kind](item)
        _set_components(self, tuple(components))

    def _build(self, values: tuple[Any, ...], other: object = None) -> "Vector":
        """A vector of what was computed from self and other."""
        if not 2 <= len(values) <= 4:
            raise TypeError(f"a vector has 2 to 4 components, not {len(values)}")
        result = from_components(values)
        if type(result) in _PLACES and (isinstance(self, Position) or isinstance(other, Position)):
            return _make(_PLACES[type(result)], result._components)
        return result

    # ---- operators

    def _binary(self, op: Operator, left: Any, right: Any) -> Any:
        size = self.TYPE.size
        first, second = operand(left, size), operand(right, size)
        if first is None or second is None:
            return NotImplemented
        values = [calculate(op, x, y) for x, y in zip(first, second, strict=True)]
        return self._build(tuple(values), right if left is self else left)

    def _unary(self, op: Callable[[Any], Any]) -> Any:
        components = self._components
        if self.TYPE.kind == "bool":  # arithmetic is of integers
            components = tuple(map(Int, components))
        return self._build(tuple(map(op, components)))

    def __invert__(self) -> Any:
        """The complement of integers, the negation of bools."""
        if self.TYPE.kind == "bool":
            return self._build(tuple(map(operator.not_, self._components)))
        return self._unary(operator.invert)

    __and__, __rand__ = operators(operator.and_)
    __or__, __ror__ = operators(operator.or_)
    __xor__, __rxor__ = operators(operator.xor)
    __lshift__, __rlshift__ = operators(operator.lshift)
    __rshift__, __rrshift__ = operators(operator.rshift)

    def __matmul__(self, other: Any) -> Any:
        """The sum of products with a vector; with a matrix, that of the row vector with it."""
        values = None if number(other) is not None else operand(other, len(self))
        if values is None:
            return NotImplemented
        return sum_of_products(self._components, values)

    __rmatmul__ = __matmul__  # a product of two vectors does not depend on their order

    __eq__ = operators(operator.eq)[0]
    __ne__ = operators(operator.ne)[0]
    __lt__, __gt__ = operators(operator.lt)
    __le__, __ge__ = operators(operator.le)

    def __bool__(self) -> bool:
        raise ValueError(
            f"the truth of a {type(self).__name__} is ambiguous: use all() or any() of it; for "
            "the smaller or larger of two vectors, a component at a time, np.minimum or np.maximum"
        )

    # ---- NumPy's methods

    def copy(self) -> "Vector":
        """A vector of the same class and components: changes of one are not seen in the other."""
        return copy.copy(self)

    def sum(self, *args: Any, **named: Any) -> Any:
        """The components' sum; of bools, how many are True."""
        return self._folded("sum", args, named)

    def prod(self, *args: Any, **named: Any) -> Any:
        """The components' product."""
        return self._folded("prod", args, named)

    def min(self, *args: Any, **named: Any) -> Any:
        """The least component, NaN where one is NaN."""
        return self._folded("min", args, named)

    def max(self, *args: Any, **named: Any) -> Any:
        """The greatest component, NaN where one is NaN."""
        return self._folded("max", args, named)

    def mean(self, *args: Any, **named: Any) -> Any:
        """The components' mean, a float."""
        return self._folded("mean", args, named)

    def any(self, *args: Any, **named: Any) -> Any:
        """Whether any component is true."""
        return self._folded("any", args, named)

    def all(self, *args: Any, **named: Any) -> Any:
        """Whether all components are true."""
        return self._folded("all", args, named)

    def dot(self, other: Any) -> Any:
        """The sum of products with another vector."""
        made = self @ other
        if made is NotImplemented:
            raise TypeError(f"dot takes a vector of {len(self)} components, got {shown(other)}")
        return made

    def _folded(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What NumPy's method gives; a number as one of ours."""
        made = getattr(np.asarray(self), name)(*args, **named)
        return made if isinstance(made, np.ndarray) else from_numpy_scalar(made)

    # ---- texts, copies, arrays

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._components))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._components

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a vector is not stored as an array: it can only be copied to one")
        return np.array(self._components, dtype or DTYPE[self.TYPE.kind])

    def _from_array(self, result: np.ndarray[Any, Any]) -> Any:
        return vector_of_array(result)


_set_components: Final = Vector._components.__set__  # type: ignore[attr-defined, misc]


def _make(cls: type[Vector], components: tuple[Any, ...]) -> Vector:
    """A vector of components that are of its kind already."""
    result = object.__new__(cls)
    _set_components(result, components)
    return result


def holding(cls: type[Vector], components: Iterable[Any]) -> Vector:
    """A vector of a class, of so many numbers as it has components."""
    convert, given = CONVERT[cls.TYPE.kind], tuple(components)
    if all(value.__class__ is convert for value in given):  # they are of it already
        return _make(cls, given)
    return _make(cls, tuple(map(convert, given)))


def from_components(values: tuple[Any, ...]) -> Vector:
    """The vector of these 2 to 4 Python numbers, of the widest kind among them."""
    kind: Kind = max(map(kind_of, values), key=KINDS.index)
    convert = CONVERT[kind]
    return _make(CLASSES[vector(kind, len(values))], tuple(convert(value) for value in values))


def vector_of_array(array: np.ndarray[Any, Any]) -> Any:
    """An array of 2 to 4 numbers as a vector, integers modulo 2**32; others as they are."""
    if array.ndim != 1 or not 2 <= array.size <= 4 or array.dtype.kind not in "biuf":
        return array
    return from_components(tuple(map(from_numpy_scalar, array)))


class Vec2(Vector):
    """Two floats."""

    __slots__ = ()
    TYPE = vector("float", 2)


class Vec3(Vector):
    """Three floats."""

    __slots__ = ()
    TYPE = vector("float", 3)


class Vec4(Vector):
    """Four floats."""

    __slots__ = ()
    TYPE = vector("float", 4)


class IVec2(Vector):
    """Two 32-bit integers."""

    __slots__ = ()
    TYPE = vector("int", 2)


class IVec3(Vector):
    """Three 32-bit integers."""

    __slots__ = ()
    TYPE = vector("int", 3)


class IVec4(Vector):
    """Four 32-bit integers."""

    __slots__ = ()
    TYPE = vector("int", 4)


class UVec2(Vector):
    """Two 32-bit integers without a sign."""

    __slots__ = ()
    TYPE = vector("uint", 2)


class UVec3(Vector):
    """Three 32-bit integers without a sign."""

    __slots__ = ()
    TYPE = vector("uint", 3)


class UVec4(Vector):
    """Four 32-bit integers without a sign."""

    __slots__ = ()
    TYPE = vector("uint", 4)


class BVec2(Vector):
    """Two bools."""

    __slots__ = ()
    TYPE = vector("bool", 2)


class BVec3(Vector):
    """Three bools."""

    __slots__ = ()
    TYPE = vector("bool", 3)


class BVec4(Vector):
    """Four bools."""

    __slots__ = ()
    TYPE = vector("bool", 4)


class Position(IVec2):
    """A pixel's place (x, y): column and row, whole numbers at the centres of pixels. A place in a
    volume is (x, y, z), one in a signal a number: `Position(5)` is an `Int`, whose `x` is itself.

    Arithmetic with integers gives a position. Floats lie between pixels: arithmetic with them,
    and `Position(1.5, 2)` itself, gives a `Vec2`, with three components a `Vec3`, with one a float.
    """

    __slots__ = ()

    @guarded
    def __new__(cls, *parts: Any) -> Any:
        values = flattened("Position", parts)
        if len(values) == 1:
            return values[0] if isinstance(values[0], float) else Place(values[0])
        if "float" in map(kind_of, values):
            return (Vec3 if len(values) == 3 else Vec2)(*parts)
        return object.__new__(Position3 if len(values) == 3 else Position)


class Position3(Position):
    """A place (x, y, z) in a volume: what `Position` gives of three components."""

    __slots__ = ()
    TYPE = vector("int", 3)


Position3.__name__ = Position.__name__  # as users write it


class Place(Int):
    """A place in a signal: what `Position` gives of one component."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Position({int(self)})"

    __str__ = int.__repr__  # as other Ints


_PLACES: Final[dict[type[Vector], type[Position]]] = {IVec2: Position, IVec3: Position3}
POSITIONS: Final = {cls.TYPE: cls for cls in _PLACES.values()}


CLASSES: Final[dict[Type, type[Vector]]] = {
    cls.TYPE: cls
    for cls in (
        *(Vec2, Vec3, Vec4),
        *(IVec2, IVec3, IVec4),
        *(UVec2, UVec3, UVec4),
        *(BVec2, BVec3, BVec4),
    )
}


def position(*components: Int) -> Position:
    """The position of two or three Ints, without the constructor's checks."""
    cls = Position if len(components) == 2 else Position3
    return _make(cls, components)  # type: ignore[return-value]
