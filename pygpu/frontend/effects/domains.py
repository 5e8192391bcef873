"""Where Python's operators and functions of numbers raise: asked only where a handler waits.

    try:
        x = math.log(v)         # ValueError where v <= 0
    except ValueError:
        ...

NumPy's functions raise nothing on numbers, and what stands in walked code of ours stands for them.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.errors import HOME
from pygpu.core.host.later import later
from pygpu.frontend.numbers import arithmetic, flags
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.values import Abstract, Dynamic, describe

with later():
    from pygpu.frontend.walked import complex_numbers

# Where it raises, what, and the message: or of which numbers Python says it.
Domain = tuple[Callable[..., Any], type[Exception], str | tuple[int, ...]]


def _both(w: Evaluator, one: Any, other: Any) -> Any:
    return arithmetic.both(w, one, other)


def _is(symbol: str, bound: float) -> Callable[..., Any]:
    return lambda w, x, *rest: arithmetic.compare(w, symbol, x, bound)


def _beyond(symbol: str, bound: float) -> Callable[..., Any]:
    return lambda w, x, *rest: arithmetic.compare(w, symbol, w.call(abs, x), bound)


def _second_is_zero(w: Evaluator, x: Any, y: Any, *rest: Any) -> Any:
    return arithmetic.compare(w, "==", y, 0)


def _second_is_negative(w: Evaluator, x: Any, *more: Any) -> Any:
    return arithmetic.compare(w, "<", more[0], 0) if more else False


def _is_pole(w: Evaluator, x: Any, *rest: Any) -> Any:
    """Whether it is zero or a negative whole number."""
    whole = arithmetic.compare(w, "==", w.call(np.floor, x), x)
    return _both(w, whole, arithmetic.compare(w, "<=", x, 0.0))


def _zero_to_negative(w: Evaluator, x: Any, y: Any, *modulus: Any) -> Any:
    if modulus:  # by which there may be an inverse
        return False
    zero = arithmetic.compare(w, "==", x, 0)
    return _both(w, zero, arithmetic.compare(w, "<", y, 0))


def _root_of_negative(w: Evaluator, x: Any, y: Any, *rest: Any) -> Any:
    negative = arithmetic.compare(w, "<", x, 0)
    return _both(w, negative, arithmetic.compare(w, "!=", w.call(np.floor, y), y))


def _power_overflows(w: Evaluator, x: Any, y: Any, *rest: Any) -> Any:
    """Whether a power of floats is beyond those of 64 bits: ints have no such bound, and infinities
    have powers."""
    if scalar_kind(x) != "float" and scalar_kind(y) != "float":
        return False
    if not isinstance(x, Abstract) and x == 0:
        return False
    size = w.call(abs, x)
    finite = _both(
        w, arithmetic.compare(w, ">", size, 0.0), arithmetic.compare(w, "<", size, math.inf)
    )
    finite = _both(w, finite, arithmetic.compare(w, "<", w.call(abs, y), math.inf))
    exponent = arithmetic.binary(w, "*", w.call(np.log, size), y)
    return _both(w, finite, arithmetic.compare(w, ">", exponent, _LARGEST))


def _is_nan(w: Evaluator, x: Any, *rest: Any) -> Any:
    return arithmetic.compare(w, "!=", x, x)


def _is_infinite(w: Evaluator, x: Any, *rest: Any) -> Any:
    return arithmetic.compare(w, "==", w.call(abs, x), math.inf)


def _overflows(beyond: Callable[..., Any]) -> Callable[..., Any]:
    """Whether a finite number is beyond those that have a result of 64 bits."""

    def of(w: Evaluator, x: Any, *rest: Any) -> Any:
        finite = arithmetic.compare(w, "<", w.call(abs, x), math.inf)
        return _both(w, finite, beyond(w, x))

    return of


def _turns_infinite(w: Evaluator, x: Any, y: Any, *rest: Any) -> Any:
    """Whether a remainder is one of infinity by a number."""
    return _both(w, _is_infinite(w, x), arithmetic.compare(w, "==", y, y))


def _divided_by_zero(w: Evaluator, x: Any, y: Any, *rest: Any) -> Any:
    """Whether a remainder is one of a number by zero."""
    return _both(w, _second_is_zero(w, x, y), arithmetic.compare(w, "==", x, x))


def _base_is(symbol: str, bound: float) -> Callable[..., Any]:
    return lambda w, x, *base: arithmetic.compare(w, symbol, base[0], bound) if base else False


def _is_one_of(*numbers: complex) -> Callable[..., Any]:
    def of(w: Evaluator, z: Any, *rest: Any) -> Any:
        found: Any = False
        for each in numbers:
            found = arithmetic.either(w, found, w.compare("==", z, each))
        return found

    return of


def _base_is_one_of(*numbers: complex) -> Callable[..., Any]:
    found = _is_one_of(*numbers)
    return lambda w, z, *base: found(w, *base) if base else False


def _of_complex(name: str, is_turned: bool = False) -> Callable[..., Any]:
    """What a function of walked/complex_numbers.py says of a complex number, or of it turned by a
    right angle."""

    def of(w: Evaluator, z: Any, *rest: Any) -> Any:
        z = w.call(complex, z)
        z = w.call(complex_numbers.turned, z) if is_turned else z
        return w.call(getattr(complex_numbers, name), z)

    return of


def _exponential(name: str, is_turned: bool = False) -> tuple[Domain, ...]:
    fails, overflows = [_of_complex(f"{name}_{how}", is_turned) for how in ("fails", "overflows")]
    return (fails, *_DOMAIN), (overflows, *_RANGE)


_DOMAIN: Final = (ValueError, "math domain error")
_RANGE: Final = (OverflowError, "math range error")
_QUOTIENT: Final[tuple[Domain, ...]] = ((_second_is_zero, ZeroDivisionError, (1, 0)),)
_LARGEST: Final = math.log(np.finfo(float).max)  # e to more than that is no float of 64 bits
_POWER: Final[tuple[Domain, ...]] = (
    (_zero_to_negative, ZeroDivisionError, (0, -1)),
    (_power_overflows, OverflowError, "Numerical result out of range"),
)
_WHOLE: Final[tuple[Domain, ...]] = (
    (_is_nan, ValueError, "cannot convert float NaN to integer"),
    (_is_infinite, OverflowError, "cannot convert float infinity to integer"),
)
_TURN: Final[tuple[Domain, ...]] = ((_is_infinite, *_DOMAIN),)
_REMAINDER: Final[tuple[Domain, ...]] = (
    (_divided_by_zero, *_DOMAIN),
    (_turns_infinite, *_DOMAIN),
)
_LARGEST_OF_GAMMA: Final = 171.6243769563027
_NEGATIVE: Final[tuple[Domain, ...]] = (
    (_is("<", 0), ValueError, (-1, 1)),
    (_second_is_negative, ValueError, (1, -1)),
)
_SHIFT: Final[tuple[Domain, ...]] = ((_second_is_negative, ValueError, "negative shift count"),)

_PLAIN: Final[dict[str, tuple[Domain, ...]]] = {
    "/": _QUOTIENT,
    "//": _QUOTIENT,
    "%": _QUOTIENT,
    "**": _POWER,
    "<<": _SHIFT,
    ">>": _SHIFT,
}
_OPERATORS: Final = _PLAIN | {f"{symbol}=": domains for symbol, domains in _PLAIN.items()}
_METHODS: Final = {
    name: (symbol, is_reflected)
    for symbol in _PLAIN
    for is_reflected, name in enumerate(arithmetic.METHODS[symbol])
}
_FUNCTIONS: Final[dict[Any, tuple[Domain, ...]]] = {
    cmath.exp: _exponential("exp"),
    **dict.fromkeys((cmath.cosh, cmath.sinh), _exponential("cosh")),
    **dict.fromkeys((cmath.cos, cmath.sin), _exponential("cosh", True)),
    cmath.tanh: ((_of_complex("tanh_fails"), *_DOMAIN),),
    cmath.tan: ((_of_complex("tanh_fails", True), *_DOMAIN),),
    cmath.rect: ((lambda w, r, phi: w.call(complex_numbers.rect_fails, r, phi), *_DOMAIN),),
    cmath.log: ((_is_one_of(0.0), *_DOMAIN), (_base_is_one_of(0.0, 1.0), *_DOMAIN)),
    cmath.log10: ((_is_one_of(0.0), *_DOMAIN),),
    cmath.atan: ((_is_one_of(1j, -1j), *_DOMAIN),),
    cmath.atanh: ((_is_one_of(1.0, -1.0), *_DOMAIN),),
    math.sqrt: ((_is("<", 0.0), *_DOMAIN),),
    math.log: (
        (_is("<=", 0.0), *_DOMAIN),
        (_base_is("<=", 0.0), *_DOMAIN),
        (_base_is("==", 1.0), ZeroDivisionError, "float division by zero"),
    ),
    math.log2: ((_is("<=", 0.0), *_DOMAIN),),
    math.log10: ((_is("<=", 0.0), *_DOMAIN),),
    math.log1p: ((_is("<=", -1.0), *_DOMAIN),),
    math.asin: ((_beyond(">", 1.0), *_DOMAIN),),
    math.acos: ((_beyond(">", 1.0), *_DOMAIN),),
    math.acosh: ((_is("<", 1.0), *_DOMAIN),),
    math.atanh: ((_beyond(">=", 1.0), *_DOMAIN),),
    math.sin: _TURN,
    math.cos: _TURN,
    math.tan: _TURN,
    math.exp: ((_overflows(_is(">", _LARGEST)), *_RANGE),),
    math.expm1: ((_overflows(_is(">", _LARGEST)), *_RANGE),),
    math.exp2: ((_overflows(_is(">=", 1024.0)), *_RANGE),),
    math.sinh: ((_overflows(_beyond(">", _LARGEST + math.log(2.0))), *_RANGE),),
    math.cosh: ((_overflows(_beyond(">", _LARGEST + math.log(2.0))), *_RANGE),),
    math.fmod: _REMAINDER,
    math.pow: (
        (_zero_to_negative, *_DOMAIN),
        (_root_of_negative, *_DOMAIN),
        (_power_overflows, *_RANGE),
    ),
    math.remainder: _REMAINDER,
    math.gamma: ((_is_pole, *_DOMAIN), (_overflows(_is(">", _LARGEST_OF_GAMMA)), *_RANGE)),
    math.lgamma: ((_overflows(_is_pole), *_DOMAIN),),
    math.factorial: _NEGATIVE,
    math.comb: _NEGATIVE,
    math.perm: _NEGATIVE,
    math.isqrt: _NEGATIVE,
    operator.lshift: _SHIFT,
    operator.rshift: _SHIFT,
    math.floor: _WHOLE,
    math.ceil: _WHOLE,
    math.trunc: _WHOLE,
    int: _WHOLE,
    round: _WHOLE,
    divmod: _QUOTIENT,
    pow: _POWER,
    operator.truediv: _QUOTIENT,
    operator.floordiv: _QUOTIENT,
    operator.mod: _QUOTIENT,
    operator.pow: _POWER,
}


def of_operator(w: Evaluator, symbol: str, a: Any, b: Any) -> None:
    """Note where an operator raises."""
    domains = _OPERATORS.get(symbol)
    if domains is not None:
        _note(w, arithmetic.python_operator(symbol), domains, (a, b))


def of_method(w: Evaluator, name: str, owner: Any, args: tuple[Any, ...]) -> None:
    """Note where an operator's method of a number raises."""
    if name in _METHODS and len(args) == 1:
        symbol, is_reflected = _METHODS[name]
        of_operator(w, symbol, *((*args, owner) if is_reflected else (owner, *args)))


def of_function(w: Evaluator, function: Any, args: tuple[Any, ...]) -> None:
    """Note where a function of numbers raises."""
    domains = _FUNCTIONS.get(function)
    if domains is not None:
        _note(w, function, domains, args)


def _unclear(args: tuple[Any, ...]) -> str:
    shown = " and ".join(map(describe, args))
    return (
        f"whether this raises where it divides by zero depends on whose {shown} are: NumPy's give "
        "inf or 0 and a warning, Python's and Int raise. Write int(x) or float(x) of NumPy's "
        "number where it is to raise, np.int64(x) or np.float64(x) of the other where it is not"
    )


def _message(function: Any, says: str | tuple[int, ...], args: tuple[Any, ...]) -> str:
    if isinstance(says, str):
        return says
    kinds = [float if scalar_kind(each) == "float" else int for each in args]
    return said_by(function, *[kind(x) for kind, x in zip(kinds, says, strict=False)])


def _is_number(value: Any) -> bool:
    return is_complex(value) or scalar_kind(value) is not None


def _note(w: Evaluator, function: Any, domains: tuple[Domain, ...], args: tuple[Any, ...]) -> None:
    is_told = w.faults.checked and domains is _NEGATIVE  # else it would be some other number
    if not (is_told or w.handled()) or w.frame.code.code.co_filename.startswith(HOME):
        return
    # NumPy's numbers are divided by zero, with a warning; functions of `math` take them as any.
    own = domains in _PLAIN.values() and flags.whose(w, *args)
    is_number = _is_number if getattr(function, "__module__", "") == "cmath" else scalar_kind
    numbers = own is not True and all(map(is_number, args))
    if not numbers or not any(isinstance(x, Abstract) for x in args):
        return
    if domains is _WHOLE and (scalar_kind(args[0]) != "float" or len(args) > 1):
        return
    for where, error, says in domains:
        try:
            wrong = where(w, *args)
        except TypeError:  # a wrong number of arguments, of which the call says more
            return
        if own is None and (isinstance(wrong, Dynamic) or wrong):
            raise w.error(_unclear(args))
        if isinstance(own, Dynamic) and (isinstance(wrong, Dynamic) or wrong):
            wrong = arithmetic.both(w, wrong, Dynamic(w.build.emit("not", own.value)))
        if isinstance(wrong, Dynamic) or wrong:
            w.check(wrong, error, _message(function, says, args))
