"""Arrays and matrices some of whose elements are not known.

They are NumPy's arrays of objects, so that NumPy itself moves their elements; where all are known
they are numeric arrays.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.collections.derived import HELD, Valued, with_class
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.operands import components, make_vector, unmasked, vector_type
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import (
    as_objects,
    is_complex,
    is_narrow,
    narrow_dtype,
    narrow_of,
    scalar_kind,
)
from pygpu.frontend.values.lazy import Masked, Row
from pygpu.frontend.values.objects import Array, Instance, Iterator, List, Matrix
from pygpu.frontend.values.values import Abstract, Dynamic, Narrow, Numpys, Truth, Tuple, describe
from pygpu.frontend.values.views import AS_SETS
from pygpu.language import matrices, vectors
from pygpu.language.scalars import UInt
from pygpu.types import Kind, vector, widest

with later():
    from pygpu.frontend.numbers import narrow
    from pygpu.frontend.protocols import lookups


def unwrapped(w: Evaluator, value: Any) -> Any:
    """A known array of ours as NumPy's, a table's row as an array, a dict's keys as a set."""
    if type(value) is Row:
        return opened(w, value)
    if type(value) in AS_SETS:
        return w.call(set, List(w.read(value)))
    if type(value) is Array:
        contents = w.read(value)
        if contents.dtype != object:
            return contents
    return value


def opened(w: Evaluator, row: Row) -> Array:
    """A row of a table as an array, all its elements looked up."""
    elements = Tuple(tuple([row.element(index) for index in range(row.length)]))
    return Array(to_objects(w, elements))


def beside(w: Evaluator, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, of which neither is an array of no dimensions: the number in it is. A known one
    of a user's class of numbers is an object of ours beside what is not known."""
    a, b = unwrapped(w, a), unwrapped(w, b)
    if isinstance(a, Abstract) or isinstance(b, Abstract):
        return with_class(w, a), with_class(w, b)
    return a, b


def to_objects(w: Evaluator, value: Any) -> np.ndarray[Any, Any]:
    """A value as an array of objects: scalars, arrays, vectors, and nested sequences of them."""
    if isinstance(value, Masked):
        raise w.error(f"{value.describe()} {value.TAKEN}")
    if isinstance(value, Row):
        value = opened(w, value)
    if isinstance(value, Instance):
        value = held_in(w, value)
    if isinstance(value, Array):
        value = w.read(value)
    if isinstance(value, np.ndarray):
        return as_objects(unmasked(w, value))
    if vector_type(value):
        holder = np.empty(vector_type(value).size, object)  # type: ignore[union-attr]
        holder[:] = components(w, value)
        return holder
    if isinstance(value, (List, Tuple, Matrix, Iterator, list, tuple, matrices.Matrix, range)):
        parts = [to_objects(w, part) for part in items_of(w, value)]
        if len({part.shape for part in parts}) > 1:
            raise ValueError("setting an array element with a sequence: the shapes differ")
        if not parts:
            return np.empty(0, object)
        return np.stack(parts)
    return alone(value).initial  # type: ignore[no-any-return]


def held_in(w: Evaluator, value: Instance) -> Any:
    """The list of an object whose class derives from list, is a deque, or an array of ints and
    floats that are not narrower than the device's; else the object."""
    kind = getattr(value.cls, "stands_for", object)
    if value.__class__ is Valued:
        return w.read(value)[HELD]
    if issubclass(kind, array.array) and w.read(value)["typecode"] in ("i", "l", "q", "f", "d"):
        return w.read(value)[HELD]
    return w.read(value)[HELD] if issubclass(kind, (list, collections.deque)) else value


def array_of(parts: Any, shape: tuple[int, ...]) -> Any:
    """An Array of scalars in C order; a numeric one if all are known."""
    parts = list(parts)
    if shape == () and isinstance(parts[0], Abstract):
        return parts[0]
    if parts and not any(isinstance(part, Abstract) for part in parts):
        return Array(np.array(parts).reshape(shape))
    holder = np.empty(shape, object)
    holder.reshape(-1)[:] = parts
    return Array(holder)


def alone(number: Any) -> Array:
    """A number in an array of no dimensions."""
    holder = np.empty((), object)
    holder[()] = number
    return Array(holder)


def each(w: Evaluator, a: Any, b: Any, function: Any) -> Any:
    """A function of the elements of two arrays, with NumPy's broadcasting."""
    plain = operands.without_dimensions(w, (a, b))
    if plain is not None:
        return function(*plain)
    rows, shape = spread(w, (a, b))
    return array_of([function(*row) for row in rows], shape)


def spread(w: Evaluator, parts: Sequence[Any]) -> tuple[list[tuple[Any, ...]], tuple[int, ...]]:
    """What stands at each place of arrays that are broadcast as NumPy does, and their shape."""
    arrays = np.broadcast_arrays(*of_own_widths(w, parts, [to_objects(w, x) for x in parts]))
    return list(zip(*[array.reshape(-1) for array in arrays], strict=True)), arrays[0].shape


def of_own_widths(w: Evaluator, parts: Sequence[Any], arrays: list[Any]) -> list[Any]:
    """Arrays of objects, of which those of integers of 64 bits stay so where they meet some of
    fewer: known elements are Python's numbers otherwise, beside which these keep their width."""
    if not any(narrow_dtype(element) for each in arrays for element in each.flat):
        return arrays
    made = []
    for part, own in zip(parts, arrays, strict=True):
        if is_array(part) and kind_of(own) == "int" and narrow_of(own) is None:
            elements = [narrow.widened(element) for element in own.flat]
            own = np.array([*elements, None], object)[:-1].reshape(own.shape)
        made.append(own)
    return made


def is_array(value: Any) -> bool:
    return isinstance(value, (Array, np.ndarray)) and not isinstance(value, np.generic)


def matrix_rows(w: Evaluator, value: Any) -> list[Any] | None:
    """The rows of a matrix, known or not, as sequences of scalars or vectors."""
    if isinstance(value, Matrix):
        return list(w.read(value))
    if isinstance(value, matrices.Matrix):
        return list(value)
    if isinstance(value, (Array, np.ndarray, List, Tuple, list, tuple)):
        array = to_objects(w, value)
        return list(array) if array.ndim == 2 else None
    return None


def make_matrix(w: Evaluator, cls: Any, rows: list[Any]) -> Matrix:
    """A matrix of rows that are vectors or sequences of scalars."""
    row, parts = vectors.CLASSES[vector("float", cls.SIZE)], [items_of(w, part) for part in rows]
    if min(map(len, parts)) < 2:
        raise TypeError(f"{cls.__name__} takes {cls.SIZE} rows of {cls.SIZE} numbers")
    return Matrix(cls, tuple([w.call(row, *part) for part in parts]))


def vector_like(w: Evaluator, parts: list[Any], like: Any) -> Any:
    """The result of a product: a vector where the operand was one and it fits, else an array."""
    of_vectors = vector_type(like) or isinstance(like, (Matrix, matrices.Matrix))
    return _vector(w, parts) if of_vectors else array_of(parts, (len(parts),))


def _vector(w: Evaluator, parts: list[Any]) -> Any:
    """A vector of numbers, or an array where there is none of so many."""
    if not 2 <= len(parts) <= 4:
        return array_of(parts, (len(parts),))
    kind = operands.operand_kind(tuple(parts))
    return make_vector(w, vector(kind, len(parts)), tuple(parts))


def as_vectors(w: Evaluator, value: Any) -> Any:
    """A part of a matrix: a vector or a smaller matrix where it can be one."""
    if not isinstance(value, Array):
        return value
    array = w.read(value)
    if array.ndim == 2 and array.shape[0] == array.shape[1] in matrices.MATRICES:
        return make_matrix(w, matrices.MATRICES[len(array)], [Array(row) for row in array])
    return _vector(w, list(array)) if array.ndim == 1 else value


def cast(w: Evaluator, value: Any, kind: Any) -> Any:
    """A scalar as int(), float() or bool() gives it."""
    if isinstance(value, Dynamic):
        if isinstance(value, (Narrow, Numpys, Truth)):
            value = Dynamic(value.value)
        if value.type.kind != kind:
            return arithmetic.elementwise(w, None, (value,), kind)
        return origins.settled(w, value, kind)
    if is_complex(value):
        raise TypeError(f"{describe(value)} is no real number: an array of complex ones takes it")
    return {"int": int, "uint": UInt, "float": float, "bool": bool}[kind](value)


def first(w: Evaluator, initial: Any, items: list[Any]) -> list[Any]:
    """What a fold of elements begins with, as an array of them takes it in: a float is cut off
    where they are integers."""
    whole = scalar_kind(initial) == "float" and {scalar_kind(x) for x in items} <= _WHOLE
    return [cast(w, initial, "int") if items and whole else initial]


_WHOLE: Final = {"bool", "int", "uint"}


def pythons(w: Evaluator, number: Any) -> Any:
    """The number that Python has for one of NumPy's."""
    if isinstance(number, Truth):
        return Truth(number.value, False)
    return cast(w, number, number.type.kind) if isinstance(number, Dynamic) else number


def of_dtype(w: Evaluator, value: Any, dtype: Any) -> Any:
    """A scalar as NumPy has it in a dtype."""
    dtype = np.dtype(dtype)
    if is_narrow(dtype):
        value = np.int64(value) if value.__class__ is int else value
        return narrow.converted(w, value, dtype, exact=False)
    made = origins.as_word(w, cast(w, value, kind_of_dtype(w, dtype)), dtype)
    if not isinstance(made, Dynamic) or made.type.kind == "uint":
        is_single = dtype.kind == "f" and dtype.itemsize < 8 and not isinstance(made, Abstract)
        return dtype.type(made) if is_single else origins.as_wide(w, made, dtype.type)
    if dtype.kind in "fi":
        made = origins.as_word(w, origins.as_wide(w, made, dtype.type), dtype)
    return Truth(made.value, True) if made.type.kind == "bool" else Numpys(made.value)


def kind_of_dtype(w: Evaluator, dtype: Any) -> Kind:
    """What elements of a dtype are on the device."""
    dtype = np.dtype(dtype)
    if dtype.kind not in _KINDS:
        raise w.error(f"elements of {dtype} cannot be computed on the device: int, float, bool can")
    return "uint" if dtype == np.uint32 else _KINDS[dtype.kind]


def kind_of(array: np.ndarray[Any, Any]) -> Kind | None:
    """What an array is of; of objects the widest kind, as it would be if NumPy knew them."""
    if array.dtype != object:
        return "uint" if array.dtype == np.uint32 else _KINDS.get(array.dtype.kind)
    kinds = {scalar_kind(part) for part in array.reshape(-1)}
    return None if not kinds or None in kinds else widest(*kinds)  # type: ignore[arg-type]


def certain_kind(w: Evaluator, array: np.ndarray[Any, Any]) -> Kind | None:
    """`kind_of`; an error where it depends on the path."""
    kind = kind_of(array)
    if kind == "float" and array.dtype == object:
        origins.certain_array(w, array.flat)
    return kind


def dtype_of(w: Evaluator, array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """The dtype that an array of objects has in plain Python; floats are of 64 bits."""
    return narrow_of(array) or np.dtype(origins.NUMPYS[certain_kind(w, array) or "float"])


def first_dtype(value: Any) -> np.dtype[Any] | None:
    """The dtype of the numbers that an array was made of, which it keeps; None of others."""
    first = value.whole.initial if isinstance(value, Array) else None
    return first.dtype if isinstance(first, np.ndarray) and first.dtype != object else None


def own_dtype(w: Evaluator, value: Any) -> np.dtype[Any]:
    """The dtype of an array or a number. An error where it may be one of several."""
    made_of = first_dtype(value)
    if made_of is not None:
        return made_of
    held = to_objects(w, value)
    dtype = dtype_of(w, held)
    if is_narrow(dtype) or dtype.kind not in "if":
        return dtype
    kind: Kind = "int" if dtype.kind == "i" else "float"
    return np.dtype(origins.width_of_all(w, describe(value), held.flat, kind))


def of_one_kind(w: Evaluator, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of objects whose elements are all of its kind: ints among floats are floats, and
    known floats NumPy's, which divide by zero."""
    kind = kind_of(array)
    if kind is None:
        return array
    widths = set(map(narrow_dtype, array.flat)) if kind == "int" else set()
    made = np.empty(array.shape, object)
    part: Any
    for place, part in np.ndenumerate(array):
        if len(widths) > 1:
            part = narrow.of_widths(w, part, widths)
        elif scalar_kind(part) != kind:
            before, part = part, cast(w, part, kind)
            if isinstance(part, Dynamic):
                origins.note(w, part.value, before)
        made[place] = np.float64(part) if type(part) is float else part
    if kind == "float" and any(origins.is_float(w, part) for part in array.flat):
        made.flat[:] = [origins.settled(w, part, kind) for part in made.flat]
    return made


_KINDS: Final[dict[str, Kind]] = {"i": "int", "u": "int", "b": "bool", "f": "float"}


def stored(w: Evaluator, array: np.ndarray[Any, Any], index: Any, new: Any) -> Any:
    """A copy of an array with something stored at a known index; dynamic leaves make it one of
    objects. What is stored takes the array's kind, as in NumPy."""
    values = to_objects(w, new)
    flat = [as_element(w, array, part) for part in values.reshape(-1)]
    values = np.array([*flat, None], object)[:-1].reshape(values.shape)
    known = not any(isinstance(part, Abstract) for part in flat)
    copy = array.copy() if known and array.dtype != object else as_objects(array)
    copy[index] = values[()] if values.ndim == 0 else values
    return copy


def as_element(w: Evaluator, array: np.ndarray[Any, Any], part: Any) -> Any:
    """What becomes of a scalar that is stored in an array."""
    kind, dtype = certain_kind(w, array), narrow_of(array)
    if kind is None or dtype is None:
        return part if kind is None else cast(w, part, kind)
    if isinstance(part, Abstract):
        return narrow.converted(w, part, dtype)
    holder = np.zeros((), dtype)
    holder[()] = part  # OverflowError for what it cannot hold
    return holder[()]


def stored_by_dynamic(
    w: Evaluator, array: np.ndarray[Any, Any], indices: tuple[Any, ...], new: Any
) -> np.ndarray[Any, Any]:
    """A copy of an array with something stored where integers, some of them dynamic, point: each
    element that may be meant becomes a selection. An index out of range stores nothing."""
    if len(indices) > array.ndim:
        raise IndexError(
            f"too many indices for array: array is {array.ndim}-dimensional, but "
            f"{len(indices)} were indexed"
        )
    made = as_objects(array)
    axes = [lookups.meant(w, *each) for each in zip(indices, array.shape, strict=False)]
    for place in np.ndindex(*array.shape[: len(indices)]):
        meant: Any = True
        for tests, at in zip(axes, place, strict=True):
            meant = arithmetic.both(w, meant, tests[at])
        if meant is not False:
            old = np.asarray(made[place], object)
            chosen = to_objects(w, stored(w, array, place, new)[place])
            flat = zip(chosen.reshape(-1), old.reshape(-1), strict=True)
            selected = np.empty(old.shape, object)
            selected.reshape(-1)[:] = [lookups.choose(w, meant, a, b) for a, b in flat]
            made[place] = selected[()] if old.ndim == 0 else selected
    return made
