"""What values bring to an operation: vectors and their components, scalars, sequences of scalars.

Vectors work a component at a time; one whose components are kept apart (a position, a vector of
mixed parts) stays so, that what is known of each is not lost.

    operand_components(w, (1, 2), 2)        # (1, 2), to meet a vector of two components
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.collections.derived import Valued, plain_number
from pygpu.frontend.numbers.numbers import as_value, convert, dynamic, number_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import (
    Complex,
    as_numpys,
    is_complex,
    is_of_users,
    meeting,
    scalar_kind,
)
from pygpu.frontend.values.objects import Array, Vector
from pygpu.frontend.values.values import Abstract, Dynamic, Numpys, Tuple, describe
from pygpu.language import vectors
from pygpu.language.components import unequal
from pygpu.language.scalars import wrap, wrap_unsigned
from pygpu.ssa import Value
from pygpu.types import FLOAT, INT, UINT, Kind, Type, vector, widest

with later():
    from pygpu.frontend.numbers import integers


def unknown(w: Evaluator, value: Any) -> Any:
    """A known number or vector as a dynamic one; other values as they are. For where Python would
    raise, on a path that may not be taken: there the operation gives what a device gives."""
    kind, type = scalar_kind(value), vector_type(value)
    if kind:
        return Dynamic(as_value(w, value, vector(kind, 1)))
    if type:
        return make_vector(w, type, as_value(w, contents_of(w, value), type))
    if isinstance(value, complex):
        parts = as_value(w, value.real, FLOAT), as_value(w, value.imag, FLOAT)
        return Complex(*map(Dynamic, parts))
    return value


def make_vector(w: Evaluator, type: Type, contents: Any, position: bool = False) -> Vector:
    """A new vector of a type. Components are made of its kind; floats from ints, never back."""
    classes = vectors.POSITIONS if position and type in vectors.POSITIONS else vectors.CLASSES
    cls = classes[type]
    if isinstance(contents, tuple):
        scalar = vector(type.kind, 1)
        for part in contents:
            if part.__class__ is not Dynamic or part.value.type is not scalar:
                contents = tuple([component_of(w, part, scalar) for part in contents])
                break
    return Vector(cls, type, contents)


def component_of(w: Evaluator, part: Any, scalar: Type) -> Any:
    """A scalar as a component of a kind: known stays known."""
    if isinstance(part, Dynamic):
        return part if part.type is scalar else Dynamic(convert(w, part.value, scalar.kind))
    number = number_of(w, part, scalar.kind)
    wrapped = {INT: wrap, UINT: wrap_unsigned}.get(scalar)
    return number if wrapped is None else wrapped(int(number))


def vector_type(value: Any) -> Type | None:
    """The type of a vector, known or virtual; None for anything else."""
    if value.__class__ is Vector:
        return value.type
    return value.TYPE if isinstance(value, vectors.Vector) else None


def contents_of(w: Evaluator, value: Any) -> Any:
    """A vector's contents: an SSA value or a tuple of scalars."""
    return w.read(value) if value.__class__ is Vector else tuple(value)


def components(w: Evaluator, value: Any) -> tuple[Any, ...]:
    """The components of a vector as scalars."""
    contents = contents_of(w, value)
    if isinstance(contents, tuple):
        return contents
    return tuple(
        [dynamic(w, "swizzle", contents, data=(index,)) for index in range(contents.type.size)]
    )


def operand_components(w: Evaluator, value: Any, size: int) -> Any:
    """What an operand brings to arithmetic with a vector of that size: a scalar, an SSA vector,
    or a tuple of scalars; None if it is no operand."""
    if value.__class__ is Vector:
        contents = w.read(value)
    elif scalar_kind(value):
        return value
    elif isinstance(value, vectors.Vector):
        contents = tuple(value)
    else:
        contents = sequence_of_scalars(w, value)
        if contents is None:
            return None
    length = contents.type.size if isinstance(contents, Value) else len(contents)
    if length != size:
        raise w.error(unequal(length, size, describe(value)))
    return contents


def column(w: Evaluator, part: Any, size: int) -> Sequence[Any]:
    """The components of what an operand brings to arithmetic with vectors (operand_components)."""
    if isinstance(part, Value):
        return components(w, make_vector(w, part.type, part))
    return part if isinstance(part, tuple) else (part,) * size


def sequence_of_scalars(w: Evaluator, value: Any) -> tuple[Any, ...] | None:
    """The items of a tuple, list or one-dimensional array of scalars; None for anything else."""
    if isinstance(value, (np.ndarray, Array)):
        array = unmasked(w, w.read(value) if isinstance(value, Array) else value)
        items = tuple(array.tolist()) if array.ndim == 1 else None
    elif isinstance(value, (tuple, list, Tuple)) or type(value).__name__ == "List":
        items = w.items(value)
    else:
        return None
    items = None if items is None else tuple([number_in(w, item) for item in items])
    return items if items is not None and all(map(scalar_kind, items)) else None


def without_dimensions(w: Evaluator, operands: Sequence[Any]) -> list[Any] | None:
    """Scalars and vectors, of which some were arrays of no dimensions: NumPy takes these for
    numbers where they meet vectors. None where anything else is among them."""
    found = [number_in(w, operand) for operand in operands]
    is_plain = all(scalar_kind(v) or vector_type(v) or is_complex(v) for v in found)
    return found if is_plain else None


def number_in(w: Evaluator, value: Any) -> Any:
    """The number that an array of no dimensions holds, or one of a user's class of numbers; any
    other value as it is."""
    if value.__class__ is Valued or is_of_users(value):
        return plain_number(w, value)
    array = w.read(value) if isinstance(value, Array) else value
    is_number = isinstance(array, np.ndarray) and array.ndim == 0
    return as_numpys(unmasked(w, array)[()]) if is_number else value


def unmasked(w: Evaluator, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array whose elements are used one by one: a masked one must not leave any out."""
    if array.__class__ is not np.ndarray and np.ma.is_masked(array):
        raise w.error(
            "elements that a masked array leaves out have no meaning on the device: give its "
            ".filled(value), or np.where(mask, ...) of its .data"
        )
    return array


def operand_kind(contents: Any) -> Kind:
    """The kind of what operand_components gave."""
    if isinstance(contents, Value):
        return contents.type.kind
    if isinstance(contents, tuple):
        return widest(*[scalar_kind(part) or "float" for part in contents])
    return scalar_kind(contents) or "float"


_NO_OPERAND: Final = type(None)
_POSITIONS: Final = frozenset(vectors.POSITIONS.values())


def componentwise(
    w: Evaluator,
    operands: Sequence[Any],
    scalar: Callable[..., Any],
    whole: Callable[[list[Any], int], Value],
    parts: list[Any] | None = None,
) -> Any:
    """Apply something to vectors and scalars: to whole SSA vectors if there is one among the
    operands, else to each component. None if the operands do not fit. `parts`: what they bring
    (`operand_components`), where that is known."""
    size = next(type.size for type in map(vector_type, operands) if type)
    if parts is None:
        parts = [operand_components(w, operand, size) for operand in operands]
    classes = list(map(type, parts))
    if Value in classes and _NO_OPERAND not in classes:
        value = whole(parts, size)
        return make_vector(w, value.type, value)
    if _NO_OPERAND in classes:
        return None
    # A row of an array makes NumPy's numbers of those that it meets; a vector's own are Python's.
    rows = [part for part in parts if isinstance(part, tuple)]
    if any(isinstance(row[0], Numpys) for row in rows):
        parts = [part if isinstance(part, tuple) else as_numpys(part) for part in parts]
    columns = [part if isinstance(part, tuple) else (part,) * size for part in parts]
    results = (*map(scalar, *columns),)
    kind = meeting(results)
    if kind is None:
        raise w.error(f"components of one vector are ints and uints: {integers.HINT}")
    position = not _POSITIONS.isdisjoint([getattr(x, "cls", x.__class__) for x in operands])
    if not any(isinstance(result, Abstract) for result in results):
        results = tuple([np.asarray(result).item() for result in results])
    return make_vector(w, vector(kind, size), results, position)


def vector_of(w: Evaluator, like: Vector, parts: tuple[Any, ...]) -> Vector:
    position = issubclass(like.cls, vectors.Position)
    return make_vector(w, vector(like.type.kind, len(parts)), parts, position)


def assign_components(w: Evaluator, value: Vector, indices: tuple[int, ...], new: Any) -> None:
    parts = operand_components(w, new, len(indices))
    if parts is None:
        raise TypeError(f"{describe(new)} cannot be stored in components of {describe(value)}")
    kind = value.type.kind
    if widest(kind, operand_kind(parts)) != kind:
        raise TypeError(
            f"{value.cls.__name__} holds {kind}s, cannot take {describe(new)}: convert it first"
        )
    scalar = vector(kind, 1)
    current = list(components(w, value))
    for index, part in zip(indices, column(w, parts, len(indices)), strict=True):
        current[index] = component_of(w, part, scalar)
    w.write(value, tuple(current))
