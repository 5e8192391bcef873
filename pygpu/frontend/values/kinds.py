"""Of which kind a number is, and which kind holds several as what they are: where paths meet, in
tables and choices.

Dynamic ints and uints are kept apart: neither holds the other, unless an int is never negative. A
known integer goes with either that holds it, and from 2**31 on it is a uint. A number that meets a
complex one becomes complex.

    scalar_kind(np.float32(1)) == "float"; scalar_kind("1") is None
    meeting((3, uint)) == "uint"; meeting((-1, uint)) is None; meeting((1, 0x80000000)) == "uint"
    as_complex((0, 1j)) == (Complex(0, 0.0), Complex(0.0, 1.0)); as_complex((0, 1)) is None
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.frontend.values.values import (
    Abstract,
    Certainty,
    Conflict,
    Dynamic,
    Flagged,
    Narrow,
    Natural,
    Numpys,
    Parts,
    Truth,
)
from pygpu.language.scalars import Int, UInt
from pygpu.ssa import Value
from pygpu.types import BOOL, INT, INTEGERS, UINT, Kind, widest

_SCALARS: Final[dict[type, Kind]] = {  # kinds of the numbers that are met most
    bool: "bool", int: "int", Int: "int", UInt: "uint",
    float: "float", np.float64: "float", np.float32: "float",
}  # fmt: skip


def scalar_kind(value: Any) -> Kind | None:
    """The kind of a scalar, known or dynamic; None for anything else."""
    cls = value.__class__
    if cls is Dynamic:
        return value.value.type.kind  # type: ignore[no-any-return]
    kind = _SCALARS.get(cls)
    if kind is not None:
        return kind
    if isinstance(value, Dynamic):
        return value.value.type.kind
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (UInt, np.uint32)):
        return "uint"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    # By its name: most programs have none, and need not wait for its module.
    return "float" if (cls.__module__, cls.__name__) == ("fractions", "Fraction") else None


def is_written(cls: type) -> bool:
    """Whether a class is written in Python: Py_TPFLAGS_HEAPTYPE, which those in C may have, too,
    and then mostly Py_TPFLAGS_IMMUTABLETYPE."""
    return bool(cls.__flags__ & (1 << 9)) and not cls.__flags__ & (1 << 8)


def is_ours(cls: type) -> bool:
    """Whether it is a class of the language, and none that a program derives from one."""
    return cls.__module__.startswith("pygpu.language")


@functools.lru_cache(256)
def is_number_class(cls: type) -> bool:
    """Whether a program has derived it from int, float or complex, in Python and as `type` does."""
    for base in cls.__mro__:
        if base in (int, float, complex):
            return base is not cls and type(cls).__call__ is type.__call__
        if not is_written(base):
            return False
        if base.__module__.partition(".")[0] in ("numpy", "enum", "pygpu"):
            return False
    return False


def is_of_users(value: Any) -> bool:
    """Whether it is a known number of a class that a program has derived from one of Python's."""
    cls: Any = value.__class__
    return cls not in _SCALARS and is_number_class(cls)


def is_member(value: Any) -> bool:
    """Whether it is a number that `is` and its attributes tell from other numbers: a member of an
    enumeration, or one of a user's class. Flags are numbers alone: what they are together with
    others is no member."""
    if isinstance(value, int) and isinstance(value, enum.Enum):
        return not isinstance(value, enum.Flag)
    return is_of_users(value)


def flag_class(value: Any) -> type[enum.IntFlag] | None:
    """The class of flags that an integer is of."""
    if isinstance(value, Flagged):
        return value.cls
    return type(value) if isinstance(value, enum.IntFlag) else None


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether it is one of integers of fewer than 32 bits."""
    return dtype.kind in "iu" and dtype.itemsize < 4


def narrow_dtype(value: Any) -> np.dtype[Any] | None:
    """The dtype of an integer that NumPy holds in fewer bits; None for anything else."""
    if isinstance(value, Narrow):
        return value.dtype
    return value.dtype if isinstance(value, np.integer) and is_narrow(value.dtype) else None


def is_word(value: Any) -> bool:
    """Whether it is an Int or a UInt, whose operators are Python's in plain Python."""
    if not isinstance(value, Dynamic):
        return isinstance(value, (Int, UInt))
    return value.type.kind in INTEGERS and type(value) not in (Narrow, Numpys)


def range_of(value: Any) -> tuple[int, int]:
    """What an integer or a bool lies within."""
    if isinstance(value, Narrow):
        return value.range
    if isinstance(value, Dynamic):
        return (0, 1) if value.type is BOOL else (-(2**31), 2**31 - 1)
    return int(value), int(value)


def narrow_either(value: Value, *numbers: Any, within: bool = False) -> Narrow | None:
    """What may be any of several integers, some of which NumPy holds in fewer bits; None where
    these are of different widths, or a uint or float is among the others. `within`: it may become
    anything that the dtype holds, in a loop."""
    dtypes = {dtype for dtype in map(narrow_dtype, numbers) if dtype is not None}
    if len(dtypes) != 1 or any(scalar_kind(x) not in ("int", "bool") for x in numbers):
        return None
    dtype = dtypes.pop()
    ends = [end for number in numbers for end in range_of(number)]
    if within:
        ends += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    return Narrow(value, dtype, (min(ends), max(ends)), max(map(certainty, numbers)))


def any_of(value: Value, *numbers: Any) -> Dynamic:
    """What may be any of several numbers: NumPy's, or flags of a class, where they all are."""
    flags = flag_class(numbers[0]) if numbers else None
    if flags and all(flag_class(number) is flags for number in numbers):
        return Flagged(value, flags)
    narrow = narrow_either(value, *numbers)
    if narrow is not None:
        return narrow
    if value.type.kind in ("int", "float") and any(map(may_be_numpys, numbers)):
        return Numpys(value, True if all(map(is_numpys, numbers)) else None)
    return Dynamic(value)


def truth_either(value: Value, a: Any, b: Any) -> Dynamic:
    """What may be either of two bools: NumPy's or Python's where both are."""
    whose = {_is_numpys(a), _is_numpys(b)}
    if len(whose) == 1 and ... not in whose:
        return Truth(value, whose.pop())
    return Truth(value, None) if whose & {True, None} else Dynamic(value)


def _is_numpys(value: Any) -> Any:
    """Whether a bool is NumPy's: see Truth; Ellipsis where nothing is known of it."""
    if isinstance(value, Truth):
        return value.is_numpys
    return ... if isinstance(value, Abstract) else isinstance(value, np.generic)


def certainty(value: Any) -> Certainty:
    """Whether an integer or bool is one of NumPy's of fewer bits."""
    if isinstance(value, Narrow):
        return value.certainty
    if narrow_dtype(value) is not None:
        return Certainty.NUMPY
    is_pythons = isinstance(value, int) and not isinstance(value, (Int, UInt))
    return Certainty.OR_PYTHONS if is_pythons or scalar_kind(value) == "bool" else Certainty.NEITHER


def is_numpys(value: Any) -> bool:
    """Whether a number is NumPy's own for sure, known or not."""
    if isinstance(value, Numpys):
        return value.own is True
    if isinstance(value, Narrow):
        return value.certainty is Certainty.NUMPY
    return isinstance(value, np.generic) or (isinstance(value, Truth) and value.is_numpys is True)


def may_be_numpys(value: Any) -> bool:
    """Whether a number is NumPy's own on some path, known or not."""
    is_own = isinstance(value, Truth) and value.is_numpys is not False
    return is_own or isinstance(value, (Numpys, Narrow, np.generic))


def own_of(value: Any, int_classes: Callable[[Any], frozenset[type]]) -> Any:
    """Whether an int or float is NumPy's: True, False, or the bool that says so; None where it may
    be an Int, or nobody can say."""
    if isinstance(value, Numpys):
        return Dynamic(value.own) if isinstance(value.own, Value) else value.own
    if isinstance(value, Truth) or (is_word(value) and Int in int_classes(value)):
        return None
    return is_numpys(value)


def specimen(number: Any) -> Any:
    """One of NumPy's numbers of the dtype of one that is NumPy's for sure, to ask what it has; None
    for others."""
    if isinstance(number, Truth):
        return np.True_ if number.is_numpys else None
    if isinstance(number, Numpys):
        return np.int64(0) if number.type is INT and number.own is True else None
    is_sure = isinstance(number, Narrow) and number.certainty is Certainty.NUMPY
    return number.dtype.type(0) if is_sure else None


def as_numpys(element: Any) -> Any:
    """What an array gives of an element that it holds: one of NumPy's."""
    if isinstance(element, bool):
        return np.bool_(element)
    if not isinstance(element, Dynamic) or isinstance(element, Narrow):
        return element
    if element.type is BOOL:
        return Truth(element.value, True)
    return element if element.type is UINT else Numpys(element.value)


def as_objects(array: NDArray[Any]) -> NDArray[Any]:
    """An array as one of objects: integers of fewer bits stay NumPy's, which wrap, and those of 32
    bits without a sign are UInts."""
    made = array.astype(object, order="C")
    if is_narrow(array.dtype) or array.dtype == np.uint32:
        flat = made.reshape(-1)
        for place, element in enumerate(array.reshape(-1)):
            flat[place] = UInt(element) if array.dtype == np.uint32 else element
    return made


def narrow_of(array: NDArray[Any]) -> np.dtype[Any] | None:
    """The dtype of fewer bits that an array, which may be one of objects, holds its integers in."""
    if array.dtype != object:
        return array.dtype if is_narrow(array.dtype) else None
    found = {narrow_dtype(element) for element in array.reshape(-1)}
    return found.pop() if len(found) == 1 else None


def is_plain(value: Any) -> bool:
    """Whether it is a known integer of no particular kind: Python's own, or NumPy's."""
    return not isinstance(value, Abstract) and scalar_kind(value) == "int"


def is_beyond(value: Any) -> bool:
    """Whether it is a known integer that needs more than 32 bits."""
    return is_plain(value) and not -(2**31) <= int(value) < 2**32


def meeting(scalars: Sequence[Any], wrapping: bool = False) -> Kind | None:
    """The kind that holds all of these scalars, None where there is none.

    `wrapping`: known integers are taken modulo 2**32, so that one from 2**31 on may be an int: as
    what a loop begins with. One of more than 32 bits is left to whoever makes a constant of it.
    """
    kinds = [scalar_kind(value) or "float" for value in scalars]
    kind = kinds[0]
    for other, value in zip(kinds, scalars, strict=True):
        if other != kind or value.__class__ is not Dynamic:
            break
    else:
        return kind
    kind = widest(*kinds)
    if kind in ("float", "bool") or any(map(is_beyond, scalars)):
        return kind
    large = [value for value in scalars if is_plain(value) and int(value) >= 2**31]
    if kind == "int" and (wrapping or not large):
        return kind
    held = [
        isinstance(v, Natural) or (is_plain(v) and int(v) >= 0)
        for v in scalars
        if scalar_kind(v) == "int"
    ]
    return "uint" if all(held) else None


def held_kind(value: Any) -> Kind | None:
    """The kind that holds a scalar by itself; None for anything else."""
    return meeting((value,)) if scalar_kind(value) else None


class Text(Conflict):
    """A string made from what is not known: it may be made, handed on and dropped."""

    __slots__ = ()

    def __init__(self, of: str, instead: str = "use the number itself") -> None:
        super().__init__(f"a string cannot be made from {of}: {instead}")


class Complex(Abstract):
    """A complex number that is not known: two floats, each known or dynamic."""

    __slots__ = ("im", "re")

    def __init__(self, re: Any, im: Any) -> None:
        self.re, self.im = [Dynamic(x.value) if type(x) is Numpys else x for x in (re, im)]

    def parts(self) -> Parts:
        return (((".real",), self.re), ((".imag",), self.im))

    def rebuild(self, parts: tuple[Any, ...]) -> Complex:
        return Complex(*parts)

    def shape(self) -> Any:
        return ()

    def real(self, parts: tuple[Any, ...]) -> Any:
        return complex(*parts)

    def describe(self) -> str:
        return "a dynamic complex number"


def is_complex(value: Any) -> bool:
    """Whether it is a complex number, known or not."""
    return isinstance(value, (Complex, complex, np.complexfloating))


def as_complex(numbers: Sequence[Any]) -> tuple[Complex, ...] | None:
    """Numbers of which one is complex as complex numbers; None where they are no such."""
    if not any(map(is_complex, numbers)):
        return None
    made = []
    for number in numbers:
        if isinstance(number, Complex):
            made.append(number)
        elif is_complex(number):
            made.append(Complex(float(number.real), float(number.imag)))
        elif scalar_kind(number):
            made.append(Complex(number, 0.0))
        else:
            return None
    return tuple(made)
