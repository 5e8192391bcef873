"""Scalars, vectors and matrices given at a call, checked and as the constants that devices take.

convert(FLOAT, 2, "gain") == 2.0; convert(vector("float", 3), (1, 0, 0), "tint")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.core.storage import UnseenNumber
from pygpu.language.matrices import Matrix
from pygpu.language.scalars import FLOAT_LIMIT, number
from pygpu.language.vectors import CLASSES, Vector
from pygpu.ssa import Constant, Number
from pygpu.types import FLOAT, Kind, Type


def convert(type: Type, value: Any, name: str) -> Constant:
    """The value as a constant of the type. TypeError or OverflowError name the parameter. A float
    that nobody knows yet is itself."""
    if isinstance(value, UnseenNumber):
        unseen: Any = value if type == FLOAT else value.item()
        return unseen  # type: ignore[no-any-return]
    if type.size == 1:
        return _SCALARS[type.kind](value, name)
    if isinstance(value, Vector) and type.kind == "float" and len(value) == type.size:
        components = tuple(value)
        if _fit(components):
            return components
    return tuple([_SCALARS[type.kind](item, name) for item in _items(type, value, name)])


def matrix(size: int, value: Any, name: str) -> list[tuple[Number, ...]]:
    """The rows of a square matrix given as a Mat, nested lists or an array."""
    if isinstance(value, Matrix) and size == value.SIZE:
        known = [tuple(row) for row in value]
        if _fit(sum(known, ())):
            return known
    try:
        rows = [[as_float(item, name) for item in row] for row in value]
    except TypeError:
        raise _refused(f"a {size} x {size} matrix", value, name) from None
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError(f"{name}: takes a {size} x {size} matrix, got {shown(value)}")
    return [tuple(row) for row in rows]


_FLOATS: Final = {float}


def _fit(numbers: tuple[Any, ...]) -> bool:
    """Whether all are floats of 32 bits, without a look at infinities."""
    if set(map(type, numbers)) != _FLOATS:
        return False
    return bool(min(numbers) > -FLOAT_LIMIT and max(numbers) < FLOAT_LIMIT)


def complex_number(value: Any, name: str) -> tuple[Number, ...]:
    """The two parts of a complex number, or of a real one."""
    if isinstance(value, (complex, np.complexfloating)):
        return as_float(float(value.real), name), as_float(float(value.imag), name)
    if number(value) is None:
        raise _refused("a complex number", value, name)
    return as_float(value, name), 0.0


def as_float(value: Any, name: str) -> float:
    if type(value) is not float:
        plain = number(value)
        if plain is None:
            raise _refused("a float", value, name)
        try:
            value = float(plain)
        except OverflowError:
            raise OverflowError(f"{name}: {shown(value)} does not fit in a 32-bit float") from None
    if abs(value) >= FLOAT_LIMIT and not math.isinf(value):
        raise OverflowError(f"{name}: {value} does not fit in a 32-bit float")
    return value  # type: ignore[no-any-return]


def as_int(value: Any, name: str) -> int:
    plain = number(value)
    if plain is None or isinstance(plain, float):
        raise _refused("an int", value, name)
    whole = int(plain)  # an Int would compare modulo 2**32
    if not -(2**31) <= whole < 2**31:
        raise OverflowError(
            f"{name}: {whole} does not fit in 32 bits (an Int is -2**31 to 2**31 - 1; "
            "pygpu.Int(x) takes unsigned ones modulo 2**32)"
        )
    return whole


def as_uint(value: Any, name: str) -> int:
    plain = number(value)
    if plain is None or isinstance(plain, float):
        raise _refused("an int", value, name)
    whole = int(plain)
    if not 0 <= whole < 2**32:
        raise OverflowError(
            f"{name}: {whole} is none of 0 to 2**32 - 1, as a UInt is "
            "(pygpu.UInt(x) takes negative ones modulo 2**32)"
        )
    return whole


def as_bool(value: Any, name: str) -> bool:
    plain = number(value)
    if not isinstance(plain, bool):
        raise _refused("a bool", value, name)
    return plain


_SCALARS: Final[dict[Kind, Callable[[Any, str], Number]]] = {
    "float": as_float,
    "int": as_int,
    "uint": as_uint,
    "bool": as_bool,
}


def _items(type: Type, value: Any, name: str) -> Iterable[Any]:
    """The components given for a vector."""
    wanted = f"{CLASSES[type].__name__} ({type.size} {type.kind}s)"
    if not isinstance(value, (Vector, tuple, list, np.ndarray)):
        raise _refused(wanted, value, name)
    has_axis = isinstance(value, Vector) or np.ndim(value) == 1  # NumPy takes a while for vectors
    if not has_axis or len(value) != type.size:
        raise ValueError(f"{name}: takes {wanted}, got {shown(value)}")
    return value


def _refused(wanted: str, value: Any, name: str) -> TypeError:
    return TypeError(f"{name}: takes {wanted}, got {shown(value)} ({type(value).__name__})")
