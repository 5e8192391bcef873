"""Integers that NumPy holds in fewer than 32 bits, which wrap there: `uint8`, `int8`, `uint16`,
`int16`.

The device computes in 32 bits, and what does not fit is then taken modulo the width. Beside a
number of Python's the width stays, beside a wider one it goes, as NumPy 2 has it. A value that is
NumPy's on one path and Python's on another is taken where nothing can wrap, else refused.

    combined(w, "+", a, b, made)      # of two uint8: made & 0xff
    converted(w, x, np.dtype("i1"))   # np.int8(x): x << 24 >> 24
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import numpy as np

from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import integers
from pygpu.frontend.numbers.numbers import as_value, convert, dynamic
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import (
    certainty,
    is_narrow,
    narrow_dtype,
    narrow_either,
    range_of,
    scalar_kind,
)
from pygpu.frontend.values.values import Certainty, Dynamic, Narrow, Natural, describe
from pygpu.language.scalars import Int, UInt
from pygpu.ssa import Value
from pygpu.types import INT

DType = np.dtype[Any]

_WITHIN: Final = ("&", "|", "^", ">>", "//", "%")  # leave the width of neither operand, but once
_RANGES: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_UNARY: Final = ("neg", "bit_not", "abs", "sign")


# ---------------------------------------------------------------- operators


def combined(w: Evaluator, symbol: str, a: Any, b: Any, made: Any) -> Any:
    """What an operator has made of scalars, one of which may be of fewer bits, as NumPy has it."""
    dtype = _width(w, a, b)
    if dtype is None:
        return made
    low, high = _ends(w, symbol, a, b, dtype)
    limits = np.iinfo(dtype)
    whose = _certainty(w, a), _certainty(w, b)
    sure = max(whose)
    if Certainty.NUMPY in whose and sure is not Certainty.NEITHER:
        sure = Certainty.NUMPY  # beside one of NumPy's, Python's number becomes one
    for other in (a, b) if w.faults.checked else ():
        if type(other) is Dynamic and other.type is INT:
            converted(w, other, dtype)  # it has to fit
    if limits.min <= low and high <= limits.max:
        return Narrow(made.value, dtype, (low, high), sure)
    if sure is not Certainty.NUMPY:
        unclear = (a, b)[whose.index(sure)]
        raise w.error(ambiguous(symbol, unclear, dtype))
    return wrapped(w, made.value, dtype)


def _certainty(w: Evaluator, number: Any) -> Certainty:
    """`certainty`, of ints that only the device knows as well: a loop's counter is Python's."""
    return Certainty.OR_PYTHONS if _is_pythons(w, number) else certainty(number)


def _width(w: Evaluator, a: Any, b: Any) -> DType | None:
    """The dtype of what NumPy makes of two scalars; None where it is none of fewer bits."""
    first, second = narrow_dtype(a), narrow_dtype(b)
    if first is not None and second is not None:
        both = np.result_type(first, second)
        return both if is_narrow(both) else None
    dtype = first or second
    other = b if first is not None else a
    if dtype is None or scalar_kind(other) == "bool":
        return dtype
    if _is_counted(other) and int in origins.int_classes(w, other):
        return dtype  # Python's, on some paths at least
    if isinstance(other, (Dynamic, Int, UInt, np.integer)):
        return None  # with an integer of 32 bits and more it is one
    dtype.type(0) + int(other)  # OverflowError for what it cannot hold
    return dtype


def _ends(w: Evaluator, symbol: str, a: Any, b: Any, dtype: DType) -> tuple[int, int]:
    """Between which two integers the result of an operator lies."""
    limits, first, second = np.iinfo(dtype), _range(w, a), _range(w, b)
    if symbol in _RANGES:
        ends = [_RANGES[symbol](x, y) for x in first for y in second]
    elif symbol in _WITHIN:
        ends = [*first, *second, limits.min, limits.max]
        if symbol == "//" and limits.min < 0 and min(second) < 0:
            ends.append(limits.max + 1)  # -128 // -1 is 128
    else:
        ends = [limits.min - 1, limits.max + 1]
    return min(ends), max(ends)


def _range(w: Evaluator, number: Any) -> tuple[int, int]:
    return ranges.range_of(w, number.value) if _is_counted(number) else range_of(number)


def _is_counted(number: Any) -> bool:
    """Whether it is an int that is not NumPy's, nor known."""
    return type(number) in (Dynamic, Natural) and number.type is INT


def _unary(w: Evaluator, code: str, number: Any) -> Any:
    """-x, ~x and abs(x) of one of fewer bits; an error for other operations."""
    dtype = narrow_dtype(number)
    assert dtype is not None
    if code not in _UNARY:
        raise w.error(refused(f"{code}()", dtype))
    if not isinstance(number, Narrow):
        return getattr(np, {"neg": "negative", "bit_not": "invert"}.get(code, code))(number)
    made = w.build.emit(code, number.value)
    low, high = range_of(number)
    ends = {"neg": (-high, -low), "bit_not": (~high, ~low), "sign": (-1, 1)}.get(code)
    low, high = ends or (0, max(abs(low), abs(high)))
    limits = np.iinfo(dtype)
    if limits.min <= low and high <= limits.max:
        return Narrow(made, dtype, (low, high), number.certainty)
    if number.certainty is not Certainty.NUMPY:
        raise w.error(ambiguous(f"{code}()", number, dtype))
    return wrapped(w, made, dtype)


def extreme(w: Evaluator, code: str, *numbers: Any, data: Any = None) -> Any:
    """The least or greatest of two numbers, one of fewer bits; an error for other operations."""
    if len(numbers) == 1:
        return _unary(w, code, *numbers)
    if code not in ("min", "max"):
        raise w.error(refused(f"{code}()", next(x for x in map(narrow_dtype, numbers) if x)))
    made = integers.extreme(w, code, *numbers, data=data)
    is_new = type(made) is Dynamic and not any(made is number for number in numbers)
    return one_of(w, f"{code}()", made.value, *numbers) if is_new else made


def one_of(w: Evaluator, what: str, value: Value, *numbers: Any) -> Narrow:
    """What may be any of several integers, some of them of fewer bits, or an error."""
    made = narrow_either(value, *numbers)
    if made is None:
        raise w.error(refused(what, next(dtype for dtype in map(narrow_dtype, numbers) if dtype)))
    return made


def beside(w: Evaluator, dtype: DType, other: Any, parts: Any) -> Any:
    """What an operand brings to arithmetic with an array of a dtype: a scalar, or a tuple of them.
    A dynamic integer becomes an element of it, as Python's numbers do; known integers in an array
    of their own are of 64 bits."""
    if isinstance(other, Dynamic):
        is_wide = other.type.kind in ("int", "uint") and not isinstance(other, Narrow)
        return converted(w, other, dtype) if is_wide else parts
    if not isinstance(parts, tuple):
        return parts
    if isinstance(other, np.ndarray) and is_narrow(other.dtype):
        return tuple(other.reshape(-1))
    return parts if all(map(narrow_dtype, parts)) else tuple(map(widened, parts))


def of_widths(w: Evaluator, number: Any, widths: Collection[DType | None]) -> Any:
    """An integer in an array of integers of several widths; None: of 64 bits."""
    dtypes = [dtype for dtype in widths if dtype is not None]
    both = np.result_type(*dtypes)
    if len(dtypes) < len(widths) or not is_narrow(both):
        return integers.whole(w, widened(number))
    return converted(w, number, both, exact=False)


def beside_rows(w: Evaluator, rows: Sequence[Any], *numbers: Any) -> Sequence[Any]:
    """Integers of rows, or beside them, one of which is chosen, as NumPy's arrays have them."""
    pairs = zip(rows, numbers, strict=True)
    own = [x if scalar_kind(row) or narrow_dtype(x) else widened(x) for row, x in pairs]
    return together(w, *own)


def together(w: Evaluator, *numbers: Any) -> Sequence[Any]:
    """Integers that a function of NumPy gives one of, in the width that it gives them in: that of
    all that are not Python's own, which become numbers of it."""
    sized = [x for x in numbers if scalar_kind(x) != "bool" and not _is_pythons(w, x)]
    widths = set(map(narrow_dtype, sized))
    if len(widths) > 1:
        return [of_widths(w, x, widths) for x in numbers]
    dtype = widths.pop() if widths else None
    if dtype is None:
        return numbers
    return [converted(w, x, dtype) if _is_pythons(w, x) else x for x in numbers]


def _is_pythons(w: Evaluator, number: Any) -> bool:
    """Whether an integer is Python's own for sure, known or not."""
    return origins.int_classes(w, number) == {int} if _is_counted(number) else type(number) is int


def widened(number: Any) -> Any:
    """An integer as one of an array of 64 bits."""
    if isinstance(number, Narrow):
        return Dynamic(number.value)
    is_int = type(number) in (int, Int) or narrow_dtype(number) is not None
    return np.int64(number) if is_int else number


# ---------------------------------------------------------------- conversion


def wrapped(w: Evaluator, value: Value, dtype: DType) -> Narrow:
    """An int modulo the width of a dtype."""
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        made = w.build.emit("bit_and", value, w.build.constant(INT, 2**bits - 1))
    else:
        rest = w.build.constant(INT, 32 - bits)
        made = w.build.emit("shr", w.build.emit("shl", value, rest), rest)
    return Narrow(made, dtype)


def converted(w: Evaluator, number: Any, dtype: DType, exact: bool = True) -> Any:
    """A scalar as an integer of fewer bits. `exact`: where an int does not fit, NumPy raises."""
    if not isinstance(number, Dynamic):
        return dtype.type(number)
    if narrow_dtype(number) == dtype and certainty(number) is Certainty.NUMPY:
        return number
    limits, kind = np.iinfo(dtype), scalar_kind(number)
    value = convert(w, as_value(w, number, number.type), "int")
    low, high = range_of(number) if isinstance(number, Narrow) else ranges.range_of(w, value)
    if limits.min <= low and high <= limits.max:
        return Narrow(value, dtype, (low, high))
    is_python = kind in ("int", "uint") and narrow_dtype(number) is None
    if exact and is_python and w.faults.checked and not w.handled():
        tests = [integers.compare(w, "<", "lt", number, limits.min)]
        tests.append(integers.compare(w, ">", "gt", number, limits.max))
        fails = [test.value for test in tests if isinstance(test, Dynamic)]
        what = f"Python integer out of bounds for {dtype}"
        w.check(dynamic(w, "bit_or", fails[0], fails[-1]), OverflowError, what)
    return wrapped(w, value, dtype)


# ---------------------------------------------------------------- messages


def refused(what: str, dtype: DType) -> str:
    """What to say of an operation whose result NumPy takes modulo a power of two of fewer bits."""
    return (
        f"{what} of {dtype} wraps in its own width in NumPy, where the device has 32 bits: use "
        ".astype(int) on the table, or int(x)"
    )


def ambiguous(what: str, value: Any, dtype: DType) -> str:
    """What to say of a number that wraps on one path alone."""
    if not isinstance(value, Narrow):
        return (
            f"{what} of {dtype} and {describe(value)}, which may be a number of Python's, beside "
            f"which it wraps in its own width, or an Int, beside which it does not: make that "
            f"np.{dtype}(x), or the other int(x)"
        )
    return (
        f"{what} of {describe(value)}, which is NumPy's on one path and not on another: the first "
        f"wraps in its own width, the other does not; make it np.{dtype}(x), or int(x), on both"
    )
