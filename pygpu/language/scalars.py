"""The scalar types that users write: `Int`, `Float` and `Bool`.

`Int` is an `int` of 32 bits: whatever arithmetic makes of it and other integers is taken modulo
2**32, so that hashes of integers come out as they do on a device. `Float` and `Bool` are names for
annotations and conversions; their values are Python's own.

    Int(65536) * 65536 == 0; Int(7) * 0.5 == 3.5; Float(1) == 1.0
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

FLOAT_LIMIT: Final = float.fromhex("0x1.ffffffp+127")  # from here on float32 rounds to infinity
_LOW: Final = -(2**31)
_HIGH: Final = 2**31
_MODULUS: Final = 2**32


def fit(value: int) -> int:
    """An integer of at most 32 bits, signed or not, as the signed one of the same bits."""
    if _LOW <= value < _HIGH:
        return value
    if _HIGH <= value < _MODULUS:
        return value - _MODULUS
    raise OverflowError(f"{value} needs more than 32 bits")


def wrap(value: int) -> "Int":
    """Any integer modulo 2**32."""
    if not _LOW <= value < _HIGH:
        value = (value + _HIGH) % _MODULUS - _HIGH
    return int.__new__(Int, value)


def number(value: object) -> bool | int | float | None:
    """A Python or NumPy number (an array of no dimensions too) as Python's; else None."""
    if type(value) in (float, Int, int, bool):
        return value  # type: ignore[return-value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        kind = value.dtype.kind
        return float(value) if kind == "f" else value.item() if kind in "biu" else None
    return value if isinstance(value, int | float) else None


def from_numpy_scalar(value: Any) -> Any:
    """A NumPy scalar as the scalar of the language: a float, an Int (modulo 2**32) or a bool."""
    plain = number(value)
    if plain is None or isinstance(plain, float | bool):
        return value if plain is None else plain
    return wrap(plain)


# ---------------------------------------------------------------- operators of Int


def _binary(op: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The method and the reflected method: integers wrap, a float makes a float."""

    def method(self: int, other: object) -> Any:
        if isinstance(other, int):
            return _wrapped(op(int(self), fit(int(other))))
        return op(int(self), other) if isinstance(other, float) else NotImplemented

    def reflected(self: int, other: object) -> Any:
        if isinstance(other, int):
            return _wrapped(op(fit(int(other)), int(self)))
        return op(other, int(self)) if isinstance(other, float) else NotImplemented

    return method, reflected


def _wrapped(value: Any) -> Any:
    """Wrap an integer; leave the float that a negative power is."""
    return wrap(value) if isinstance(value, int) else value


def _comparison(op: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Integers are compared as 32-bit ones: `Int(-1) == 0xFFFFFFFF`."""

    def method(self: int, other: object) -> Any:
        if isinstance(other, int):
            return op(int(self), fit(int(other)))
        return op(int(self), other) if isinstance(other, float) else NotImplemented

    return method


def _unary(op: Callable[[Any], int]) -> Callable[..., Any]:
    return lambda self: wrap(op(int(self)))


def _shift_left(a: int, b: int) -> int:
    return a << b if b < 32 else 0


def _power(a: int, b: int) -> Any:
    return pow(a, b, _MODULUS) if b >= 0 else a**b


class Int(int):
    """A 32-bit integer. `Int(x)` truncates a float; what needs more than 32 bits raises
    OverflowError, integers from 2**31 up to 2**32 are taken modulo 2**32.

    With floats and in true division it is an ordinary number. Other integers are taken modulo
    2**32 in comparisons as in arithmetic (`h == 0xDEADBEEF` may hold). Hash and text are those of
    `int`; `int(x)` is Python's own. `True + Int(1)` is Python's too, a plain 2: `bool` is asked
    first and answers.
    """

    __slots__ = ()

    def __new__(cls, value: Any = 0) -> "Int":
        whole = int(value)
        if isinstance(value, int | np.integer | str):
            return int.__new__(cls, fit(whole))
        if not _LOW <= whole < _HIGH:
            raise OverflowError(f"{value} needs more than 32 bits")
        return int.__new__(cls, whole)

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __and__, __rand__ = _binary(operator.and_)
    __or__, __ror__ = _binary(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor)
    __lshift__, __rlshift__ = _binary(_shift_left)
    __rshift__, __rrshift__ = _binary(operator.rshift)
    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __hash__ = int.__hash__
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __invert__ = _unary(operator.invert)

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if isinstance(exponent, float):
            return float(self) ** exponent
        if not isinstance(exponent, int):
            return NotImplemented
        if modulus is not None:
            return wrap(pow(int(self), int(exponent), int(modulus)))
        return _wrapped(_power(int(self), fit(int(exponent))))

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        if isinstance(base, float):
            return base ** int(self)
        if not isinstance(base, int) or modulus is not None:
            return NotImplemented
        return _wrapped(_power(fit(int(base)), int(self)))

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self)

    def __round__(self, digits: Any = None) -> Any:
        return wrap(int(self) if digits is None else round(int(self), digits))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """NumPy's functions of numbers give floats, Ints and bools; with arrays, arrays.

        NumPy's own integers come through here as well, so that `np.int64(3) * Int(4)` wraps.
        """
        numbers = [number(value) for value in inputs]
        if method != "__call__" or keywords or any(value is None for value in numbers):
            plain = [int(value) if isinstance(value, Int) else value for value in inputs]
            return getattr(ufunc, method)(*plain, **keywords)
        if ufunc in OPERATORS:
            return OPERATORS[ufunc](
                *(Int(value) if isinstance(value, bool) else value for value in numbers)
            )
        convert: Any = float if ufunc in ROUNDING else int
        plain = [convert(value) if isinstance(value, Int) else value for value in numbers]
        result = ufunc(*plain)
        if isinstance(result, tuple):
            return tuple(from_numpy_scalar(value) for value in result)
        return from_numpy_scalar(result)


# NumPy's ufuncs that are operators of Python.
OPERATORS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.invert: lambda x: not x if isinstance(x, bool) else ~x,
}

# Ufuncs that give floats in the language, and integers of integers in newer versions of NumPy.
ROUNDING: Final[frozenset[np.ufunc]] = frozenset({np.floor, np.ceil, np.trunc, np.rint})


if TYPE_CHECKING:
    Float = float
    Bool = bool
else:

    class Float:
        """A 32-bit float in annotations; `Float(x)` is Python's float of x."""

        def __new__(cls, value: Any = 0.0) -> float:
            return float(value)

    class Bool:
        """A truth value in annotations; `Bool(x)` is Python's bool of x."""

        def __new__(cls, value: Any = False) -> bool:
            return bool(value)
