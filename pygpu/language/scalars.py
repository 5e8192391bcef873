"""The scalar types that users write: `Int`, `UInt`, `Float` and `Bool`.

`Int` is an `int` of 32 bits: whatever arithmetic makes of it and other integers is taken modulo
2**32, so that hashes of integers come out as they do on a device. `UInt` is the same without a
sign. `Float` and `Bool` are names for annotations and conversions; their values are Python's own.

    Int(65536) * 65536 == 0; UInt(7) - 8 == 0xFFFFFFFF; Int(-1) & 0xFFFFFFFF == UInt(0xFFFFFFFF)
"""

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.core.storage import NumberLike

FLOAT_LIMIT: Final = float.fromhex("0x1.ffffffp+127")  # from here on float32 rounds to infinity
_LOW: Final = -(2**31)
_HIGH: Final = 2**31
_MODULUS: Final = 2**32
SIGNING: Final = (_HIGH, _MODULUS)  # what a UInt is an Int without


def fit(value: int) -> int:
    """An integer of at most 32 bits, signed or not, as the signed one of the same bits."""
    if _LOW <= value < _HIGH:
        return value
    if _HIGH <= value < _MODULUS:
        return value - _MODULUS
    raise OverflowError(f"{value} needs more than 32 bits")


def wrap(value: int) -> "Int":
    """Any integer modulo 2**32, signed."""
    if not _LOW <= value < _HIGH:
        value = (value + _HIGH) % _MODULUS - _HIGH
    return int.__new__(Int, value)


def wrap_unsigned(value: int) -> "UInt":
    """Any integer modulo 2**32, unsigned."""
    return int.__new__(UInt, value % _MODULUS)


def number(value: object) -> bool | int | float | None:
    """A Python or NumPy number (an array of no dimensions too) as Python's, one of uint32 as a
    UInt, one of a device's as what is read of it; else None."""
    if type(value) in (float, Int, UInt, int, bool):
        return value  # type: ignore[return-value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        kind = value.dtype.kind
        if value.dtype == np.uint32:
            return wrap_unsigned(int(value))
        return float(value) if kind == "f" else value.item() if kind in "biu" else None
    if isinstance(value, int | float):
        return value
    return number(value.item()) if isinstance(value, NumberLike) else None


def from_numpy_scalar(value: Any) -> Any:
    """A NumPy scalar as the scalar of the language: a float, a bool, a UInt of uint32, of other
    integers an Int (modulo 2**32)."""
    plain = number(value)
    if plain is None or isinstance(plain, float | bool | UInt):
        return value if plain is None else plain
    return wrap(plain)


# ---------------------------------------------------------------- operators of Int and UInt


def _unsigned(*values: int) -> bool:
    return any(isinstance(value, UInt) for value in values)


def _checked(value: int) -> int:
    """An operand; OverflowError where it needs more than 32 bits."""
    if not isinstance(value, Int | UInt):
        fit(int(value))
    return value


def _ring(op: Callable[[int, int], int]) -> Callable[[int, int], Any]:
    """What is the same modulo 2**32 whether its operands have a sign or not."""

    def compute(a: int, b: int) -> Any:
        result = op(int(_checked(a)), int(_checked(b)))
        return wrap_unsigned(result) if _unsigned(a, b) else wrap(result)

    return compute


def _minus(a: int, b: int) -> Any:
    """A UInt less 2**31 or 2**32 is an Int: so an unsigned number gets its sign."""
    if isinstance(a, UInt) and type(b) is int and b in SIGNING:
        return wrap(int(a) - b)
    return _ring(operator.sub)(a, b)


def _and(a: int, b: int) -> Any:
    """A known integer of 32 bits without a sign is a mask: what it leaves has no sign either."""
    masked = any(int(_checked(x)) >= _HIGH and not isinstance(x, Int | UInt) for x in (a, b))
    result = int(a) & int(b)
    return wrap_unsigned(result) if masked or _unsigned(a, b) else wrap(result)


def _natural(value: int) -> int:
    """An operand beside a UInt: an Int modulo 2**32; others as they are, where that is a UInt."""
    if isinstance(value, Int | UInt):
        return int(value) % _MODULUS
    if value < 0:
        raise OverflowError(f"{value} is negative, and a UInt has no sign")
    return int(_checked(value))


def _floordiv(a: int, b: int) -> Any:
    if _unsigned(a, b):
        return wrap_unsigned(_natural(a) // _natural(b))
    return _exactly(int(_checked(a)) // int(_checked(b)), a)


def _mod(a: int, b: int) -> Any:
    """Modulo 2**32 an integer is a UInt, as it is where 2**32 - 1 is its mask."""
    if int(b) == _MODULUS:
        return wrap_unsigned(int(_checked(a)))
    if _unsigned(a, b):
        return wrap_unsigned(_natural(a) % _natural(b))
    result = int(_checked(a)) % int(_checked(b))
    return wrap_unsigned(result) if int(b) > _HIGH else _exactly(result, b)


def _exactly(value: int, large: int) -> Any:
    """A quotient or remainder as an Int. That of the least Int by -1 wraps; another one that is no
    Int comes of a known integer that is none."""
    if not _LOW <= value < _HIGH and not _LOW <= int(large) < _HIGH:
        raise OverflowError(f"{value} does not fit in an Int; UInt(x) takes unsigned integers")
    return wrap(value)


def _shift_left(a: int, b: int) -> Any:
    """Of the kind of what is shifted."""
    count = int(_checked(b))
    result = int(_checked(a)) << count if count < 32 else 0
    return wrap_unsigned(result) if _like_unsigned(a, b) else wrap(result)


def _shift_right(a: int, b: int) -> Any:
    result = int(_checked(a)) >> int(_checked(b))
    unsigned = _like_unsigned(a, b) or result >= _HIGH
    return wrap_unsigned(result) if unsigned else wrap(result)


def _like_unsigned(a: int, b: int) -> bool:
    """Whether `a`, shifted by b, is a UInt: known integers follow the count, where they can."""
    return isinstance(a, UInt) or (not isinstance(a, Int) and a >= 0 and isinstance(b, UInt))


def _power(a: int, b: int) -> Any:
    base, exponent = int(_checked(a)), int(_checked(b))
    if exponent < 0:
        return base**exponent
    result = pow(base, exponent, _MODULUS)
    return wrap_unsigned(result) if _unsigned(a, b) else wrap(result)


def _equal(a: int, b: int) -> bool:
    """Int(-1) == 0xFFFFFFFF, for known integers are taken modulo 2**32 there. UInts are the
    integers that they are."""
    first, second = int(_checked(a)), int(_checked(b))
    if isinstance(a, Int | UInt) and isinstance(b, Int | UInt):
        return first == second
    return first == second if _unsigned(a, b) else fit(first) == fit(second)


_Compute = Callable[[Any, Any], Any]


def _methods(compute: _Compute, of_floats: _Compute) -> tuple[_Compute, _Compute]:
    """The method and the reflected method: of integers, and with a float as Python has it."""

    def method(self: int, other: object) -> Any:
        if isinstance(other, int):
            return compute(self, other)
        return of_floats(int(self), other) if isinstance(other, float) else NotImplemented

    def reflected(self: int, other: object) -> Any:
        if isinstance(other, int):
            return compute(other, self)
        return of_floats(other, int(self)) if isinstance(other, float) else NotImplemented

    return method, reflected


def _comparison(op: _Compute, of_integers: _Compute) -> _Compute:
    return _methods(of_integers, op)[0]


def _ordering(op: _Compute) -> _Compute:
    """Integers compare as what they are, of any size."""
    return _comparison(op, lambda a, b: op(int(a), int(b)))


class _Word(int):
    """What Int and UInt have in common: operators of integers and of floats."""

    __slots__ = ()

    __add__, __radd__ = _methods(_ring(operator.add), operator.add)
    __sub__, __rsub__ = _methods(_minus, operator.sub)
    __mul__, __rmul__ = _methods(_ring(operator.mul), operator.mul)
    __floordiv__, __rfloordiv__ = _methods(_floordiv, operator.floordiv)
    __mod__, __rmod__ = _methods(_mod, operator.mod)
    __and__, __rand__ = _methods(_and, operator.and_)
    __or__, __ror__ = _methods(_ring(operator.or_), operator.or_)
    __xor__, __rxor__ = _methods(_ring(operator.xor), operator.xor)
    __lshift__, __rlshift__ = _methods(_shift_left, operator.lshift)
    __rshift__, __rrshift__ = _methods(_shift_right, operator.rshift)
    __eq__ = _comparison(operator.eq, _equal)
    __ne__ = _comparison(operator.ne, lambda a, b: not _equal(a, b))
    __lt__ = _ordering(operator.lt)
    __le__ = _ordering(operator.le)
    __gt__ = _ordering(operator.gt)
    __ge__ = _ordering(operator.ge)
    __hash__ = int.__hash__

    def _again(self, value: int) -> Any:
        """An integer modulo 2**32, of this class."""
        return wrap_unsigned(value) if isinstance(self, UInt) else wrap(value)

    def __neg__(self) -> Any:
        return self._again(-int(self))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._again(abs(int(self)))

    def __invert__(self) -> Any:
        return self._again(~int(self))

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if isinstance(exponent, float):
            return float(self) ** exponent
        if not isinstance(exponent, int):
            return NotImplemented
        if modulus is None:
            return _power(self, exponent)
        result = pow(int(self), int(exponent), int(modulus))
        unsigned = result >= _HIGH or _unsigned(self, modulus)
        return wrap_unsigned(result) if unsigned else wrap(result)

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        if isinstance(base, float):
            return base ** int(self)
        if not isinstance(base, int) or modulus is not None:
            return NotImplemented
        return _power(base, self)

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self)

    def __round__(self, digits: Any = None) -> Any:
        return self._again(int(self) if digits is None else round(int(self), digits))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """NumPy's functions of numbers give floats, Ints, UInts and bools; with arrays, arrays.

        NumPy's own integers come through here as well, so that `np.int64(3) * Int(4)` wraps.
        """
        numbers = [number(value) for value in inputs]
        if method != "__call__" or keywords or any(value is None for value in numbers):
            plain = [int(value) if isinstance(value, _Word) else value for value in inputs]
            return getattr(ufunc, method)(*plain, **keywords)
        if ufunc in OPERATORS:
            return OPERATORS[ufunc](
                *(Int(value) if isinstance(value, bool) else value for value in numbers)
            )
        convert: Any = float if ufunc in ROUNDING else int
        plain = [convert(value) if isinstance(value, _Word) else value for value in numbers]
        result = ufunc(*plain)
        if isinstance(result, tuple):
            return tuple(_seen(value, numbers) for value in result)
        return _seen(result, numbers)


def _seen(result: Any, operands: Sequence[Any]) -> Any:
    """What NumPy made of numbers: an integer is a UInt where one of them was, unless negative, and
    one of more than 32 bits is itself where it is one of them (np.maximum)."""
    value = from_numpy_scalar(result)
    if (
        isinstance(value, Int)
        and int(value) != int(result)
        and any(int(result) == each for each in operands)
    ):
        return int(result)
    if isinstance(value, Int) and _unsigned(*operands) and number(result) >= 0:  # type: ignore[operator]
        return wrap_unsigned(int(result))
    return value


def _made(kind: type, name: str, *values: Any) -> Any:
    """What Python's class makes of the values; its errors in the words of the class here."""
    try:
        return kind(*values)
    except (TypeError, ValueError) as error:
        taken = "takes a number" if kind is not complex else "takes one or two numbers"
        kinds = TypeError if isinstance(error, TypeError) else ValueError
        wrong = kinds(f"{name} {taken}, got {', '.join(map(shown, values))}")
    raise wrong


class Int(_Word):
    """A 32-bit integer. `Int(x)` truncates a float; what needs more than 32 bits raises
    OverflowError, integers from 2**31 up to 2**32 are taken modulo 2**32.

    With floats and in true division it is an ordinary number. Other integers are taken modulo
    2**32 in `+ - * & | ^ <<` and `==` (`h == 0xDEADBEEF` may hold); `<`, `//`, `%` and the like
    give Python's result. Where 2**31 or more is the mask (`h & 0xFFFFFFFF`) and modulo 2**32, the
    result is a `UInt`. Hash and text are those of `int`; `int(x)` is Python's own. `True + Int(1)`
    is Python's too, a plain 2: `bool` is asked first and answers.
    """

    __slots__ = ()

    @guarded
    def __new__(cls, value: Any = 0) -> "Int":
        whole = _made(int, "Int", value)
        if isinstance(value, int | np.integer | str):
            return int.__new__(cls, fit(whole))
        if not _LOW <= whole < _HIGH:
            raise OverflowError(f"{value} needs more than 32 bits")
        return int.__new__(cls, whole)

    @property
    def x(self) -> "Int":
        """The number itself: a place in a signal is an Int, and has the x of other positions."""
        return self


class UInt(_Word):
    """A 32-bit integer without a sign: 0 to 2**32 - 1. `UInt(x)` truncates a float; what needs
    more than 32 bits raises OverflowError, negative integers of 32 bits are taken modulo 2**32.

    Arithmetic wraps; with an `Int` the result is a UInt, the Int taken modulo 2**32. `>>`, `/`,
    `//` and `%` are unsigned, a shift is of the kind of what is shifted. Comparisons, also with an
    Int, are exact. So hashes that are masked after each step come out as in Python.
    """

    __slots__ = ()

    @guarded
    def __new__(cls, value: Any = 0) -> "UInt":
        whole = _made(int, "UInt", value)
        if isinstance(value, int | np.integer | str):
            return int.__new__(cls, fit(whole) % _MODULUS)
        if not 0 <= whole < _MODULUS:
            raise OverflowError(f"{value} is no integer of 32 bits without a sign")
        return int.__new__(cls, whole)


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
    Complex = complex
else:

    class Float:
        """A 32-bit float in annotations; `Float(x)` is Python's float of x."""

        @guarded
        def __new__(cls, value: Any = 0.0) -> float:
            return float(_made(float, "Float", value))

    class Complex:
        """A complex number in annotations, two 32-bit floats; `Complex(x, y)` is Python's."""

        @guarded
        def __new__(cls, *parts: Any) -> complex:
            return complex(_made(complex, "Complex", *parts))

    class Bool:
        """A truth value in annotations; `Bool(x)` is Python's bool of x."""

        def __new__(cls, value: Any = False) -> bool:
            return bool(value)
