"""What functions of numbers mean on values that are not known: operators, `math`, conversions.

Which callables are an operation of the table, on vectors and arrays as well, stands in its rows.
The others are rules, functions of the walker and the arguments.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from pygpu import glsl
from pygpu.core.host.later import later
from pygpu.core.operations.ops import TABLE
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic, flags
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import arrays, datamodel, operators, products
from pygpu.frontend.protocols.operators import fold
from pygpu.frontend.rules.walked_calls import SPECIAL_RULES, in_python
from pygpu.frontend.values.evaluator import Evaluator, Rule, usable
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.kinds import is_complex, scalar_kind, specimen
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.objects import Array, Instance, List, Matrix, Vector
from pygpu.frontend.values.values import Abstract, Choice, Truth, Tuple, describe
from pygpu.language import scalars, vectors
from pygpu.types import INTEGERS, Kind, vector

with later():
    from pygpu.frontend.collections import words
    from pygpu.frontend.numbers import integers, narrow
    from pygpu.frontend.protocols import comparisons
    from pygpu.frontend.rules import reductions
    from pygpu.frontend.walked import special


# ---------------------------------------------------------------- functions of numbers


def _elementwise_rule(code: str, kind: Kind | None) -> Rule:
    return lambda w, *args: elementwise(w, code, args, kind)


def _binary_rule(symbol: str) -> Rule:
    return lambda w, a, b: operators.binary(w, symbol, a, b)


def _scaled(by: float) -> Rule:
    return lambda w, x: operators.binary(w, "*", x, by)


def _compare_rule(symbol: str) -> Rule:
    return lambda w, a, b: comparisons.compare(w, symbol, a, b)


def _of_arrays(rule: Rule) -> Rule:
    """NumPy's function for an operator, to which tuples and lists are arrays."""

    def of_arrays(w: Evaluator, *args: Any) -> Any:
        if not any(isinstance(arg, (Vector, Matrix)) for arg in args):
            args = tuple([w.call(np.asarray, x) if isinstance(x, _ROWS) else x for x in args])
        return rule(w, *args)

    return of_arrays


_ROWS: Final = (Tuple, tuple, List, list)


def _from_table() -> Iterator[tuple[Any, Rule]]:
    """The callables that mean an operation of the table, or an operator, and no more."""
    for code, row in TABLE.items():
        by_glsl = (getattr(glsl, row.glsl),) if row.glsl else ()
        for function in (*row.python, *by_glsl):
            yield function, _elementwise_rule(code, row.works_in)
        rule = _compare_rule if row.is_comparison else _binary_rule
        for function in row.operators:
            made = rule(row.symbol)
            yield function, _of_arrays(made) if isinstance(function, np.ufunc) else made


def of_library(function: Any) -> Rule | None:
    """The rule of a function that the table calls by its full name, of a library that is imported
    where there is such a function, and not imported to look."""
    if not isinstance(function, (np.ufunc, types.FunctionType, types.BuiltinFunctionType)):
        return None
    name, rule = _NAMED.get(function.__name__, ("", None))
    module, _, attribute = name.rpartition(".")
    return rule if getattr(sys.modules.get(module), attribute, None) is function else None


def _math_log(w: Evaluator, x: Any, base: Any = None) -> Any:
    result = elementwise(w, "log", (x,), "float")
    if base is None or result is NotImplemented:
        return result
    return operators.binary(w, "/", result, w.call(math.log, base))


def _glsl_atan(w: Evaluator, y: Any, x: Any = None) -> Any:
    code, args = ("atan", (y,)) if x is None else ("atan2", (y, x))
    return elementwise(w, code, args, "float")


def _hypot(w: Evaluator, *parts: Any) -> Any:
    if len(parts) == 2:
        return elementwise(w, "hypot", parts, "float")
    floats = [elementwise(w, None, (part,), "float") for part in parts]  # squares of ints may wrap
    total = fold(w, "+", [operators.binary(w, "*", part, part) for part in floats])
    return elementwise(w, "sqrt", (total,), "float")


def _rounded_int(code: str) -> Rule:
    """math.floor and its like: an int of the rounded float."""
    name = f"__{code}__"

    def rule(w: Evaluator, x: Any) -> Any:
        one = specimen(x)
        if one is not None:
            getattr(math, code, round)(one)  # a TypeError where NumPy's numbers have it not
        if scalar_kind(x) in ("int", "uint", "bool"):
            return integers.whole(w, x)
        method = datamodel.find_method(w, x, name)
        if method is not None:
            return w.call(method)
        if not scalar_kind(x) and not isinstance(x, Array):
            kind = datamodel.class_of(x).__name__
            raise TypeError(f"type {kind} doesn't define {name} method")
        rounded = elementwise(w, code, (x,), "float")
        if rounded is not NotImplemented:
            _check_int(w, rounded)
        return rounded if rounded is NotImplemented else elementwise(w, None, (rounded,), "int")

    return rule


_DIGITS: Final = 15  # after the point, of which a float of 64 bits may still round some


def _round(w: Evaluator, x: Any, ndigits: Any = None) -> Any:
    method = datamodel.find_method(w, x, "__round__")
    if method is not None:
        return w.call(method, *(() if ndigits is None else (ndigits,)))
    if isinstance(x, Array):
        raise TypeError("type numpy.ndarray doesn't define __round__ method: np.round(x) does it")
    if ndigits is None:
        return _rounded_int("round")(w, x)
    if scalar_kind(ndigits) == "float":
        raise TypeError("'float' object cannot be interpreted as an integer")
    if scalar_kind(x) in ("int", "uint", "bool"):
        return w.call(special.round_int, x, ndigits)
    places = concrete(w, ndigits)
    if places > _DIGITS:
        return operators.binary(w, "*", x, 1.0)
    return arithmetic.to_places(w, x, places)


def _convert(kind: Kind) -> Rule:
    method_name = f"__{kind}__"

    def rule(w: Evaluator, x: Any = 0, *more: Any) -> Any:
        usable(w, x)
        if more and not isinstance(x, str):
            if kind == "int" and len(more) == 1:
                raise TypeError("int() can't convert non-string with explicit base")
            raise TypeError(f"{kind}() takes one argument, got {1 + len(more)}")
        if isinstance(x, Array) and w.read(x).size == 1:
            x = w.read(x).reshape(-1)[0]
        if kind == "bool" and scalar_kind(x) == "bool":
            return flags.marked(w.truth(x), False)
        if kind == "bool" and not scalar_kind(x):
            return w.truth(x)
        method = datamodel.find_method(w, x, method_name)
        if method is not None:
            return w.call(method)
        if not scalar_kind(x):
            if isinstance(x, Abstract):
                raise w.error(f"{kind}() takes a scalar, got {describe(x)}")
            return NotImplemented
        if kind == "int" and scalar_kind(x) == "float":
            _check_int(w, x)
        result = elementwise(w, None, (x,), kind)
        if kind != "bool":
            return origins.settled(w, result, kind)
        return flags.marked(result, False)

    return rule


def _check_int(w: Evaluator, x: Any, low: float = -(2.0**31), high: float = 2.0**31) -> None:
    """In checked programs note where a float is no Int, or, by `low` and `high`, no UInt."""
    if w.faults.checked and not w.handled() and scalar_kind(x) == "float":
        least = comparisons.compare(w, ">", x, low - 1)  # neither is true of NaN
        fits = comparisons.compare(w, "<", x, high)
        fails = arithmetic.negate(w, arithmetic.both(w, least, fits))
        name = "UInt" if low == 0 else "int"
        what = f"{name}() of a float that is NaN, infinite or beyond 32 bits"
        w.check(fails, OverflowError, what if low else f"{what} without a sign")


def _int(w: Evaluator, x: Any = 0, *more: Any, base: Any = None) -> Any:
    """int(x): of an unsigned integer the same number; of a string what it says."""
    if base is not None:
        return _int(w, x, base, *more)
    if isinstance(x, Choice):
        return words.number_of_each(w, lambda word: int(word, *more), x)
    if isinstance(x, Instance) and datamodel.class_of(x) is str:
        return w.call(w.attribute(x, "parsed"), *(more or (10,)))
    if scalar_kind(x) == "uint" and not more:
        return integers.whole(w, x)
    return _convert("int")(w, x, *more)


def _unsigned(w: Evaluator, x: Any = 0) -> Any:
    """UInt(x) and np.uint32(x): of an int its bits, of a float the number without its fraction."""
    if isinstance(x, Array) and w.read(x).size == 1:
        x = w.read(x).reshape(-1)[0]
    if not isinstance(x, Abstract):
        return NotImplemented
    if not scalar_kind(x):
        raise w.error(f"UInt() takes a scalar, got {describe(x)}")
    _check_int(w, x, 0.0, 2.0**32)
    return elementwise(w, None, (x,), "uint")


def _made_narrow(cls: type[np.integer[Any]]) -> Rule:
    """np.uint8(x) and the like of a dynamic number, or of several."""
    dtype = np.dtype(cls)

    def rule(w: Evaluator, x: Any = 0) -> Any:
        if not isinstance(x, Abstract):
            return NotImplemented
        return narrow.converted(w, x, dtype) if scalar_kind(x) else reductions.astype(w, x, dtype)

    return rule


def _made_wide(kind: Kind, cls: type[np.generic]) -> Rule:
    convert = _convert(kind)

    def rule(w: Evaluator, x: Any = 0.0) -> Any:
        made = convert(w, x)
        return origins.as_word(w, origins.as_wide(w, made, cls), cls)

    return rule


def _known_scalar(kind: Kind) -> Rule:
    convert = _convert(kind)
    return lambda w, x=0: convert(w, x) if isinstance(x, Abstract) else NotImplemented


def _of_numbers(function: Any, rule: Rule) -> Rule:
    """A rule for a function of `math`: like Python's, it takes numbers alone."""
    integers = function in (math.gcd, math.lcm, math.isqrt, math.factorial, math.comb, math.perm)

    @functools.wraps(rule)
    def checked(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        return rule(w, *[number(w, arg) for arg in args], **keywords)

    def number(w: Evaluator, value: Any) -> Any:
        if isinstance(value, Array) and w.read(value).size == 1:
            value = w.read(value).reshape(-1)[0]
        kind = scalar_kind(value)
        if integers and kind == "float":
            what = describe(value)
            raise TypeError(f"'float' object cannot be interpreted as an integer: {what}")
        if kind:
            return value
        usable(w, value)
        method = datamodel.find_method(w, value, "__index__" if integers else "__float__")
        if method is None:
            hint = ": cmath has functions of complex ones" if is_complex(value) else ""
            name = datamodel.class_of(value).__name__
            raise TypeError(f"must be real number, not {name}{hint}")
        return w.call(method)

    return checked


def _divmod(w: Evaluator, a: Any, b: Any) -> Any:
    for value, other, name in ((a, b, "__divmod__"), (b, a, "__rdivmod__")):
        method = datamodel.find_method(w, value, name)
        if method is not None:
            result = w.call(method, other)
            if result is not NotImplemented:
                return result
    return Tuple((operators.binary(w, "//", a, b), operators.binary(w, "%", a, b)))


def _pow(w: Evaluator, a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return operators.binary(w, "**", a, b)
    for value in (a, b, modulus):
        if scalar_kind(value) not in ("int", "uint", "bool"):
            raise TypeError(
                "pow() 3rd argument not allowed unless all arguments are integers: "
                f"{describe(value)}"
            )
    w.check(arithmetic.compare(w, "==", modulus, 0), ValueError, said_by(pow, 1, 1, 0))
    return w.call(special.power_modulo, a, b, modulus)


def _fmod(w: Evaluator, a: Any, b: Any, function: Any) -> Any:
    """Of two integers exact: math.fmod as a float, np.fmod as an integer."""
    if function is special.remainder_of_integers:
        if any(map(arrays.is_array, (a, b))):
            return arrays.each(w, a, b, lambda x, y: _fmod(w, x, y, function))
        are_whole = {reductions.kind_of(a), reductions.kind_of(b)} <= {*INTEGERS, "bool"}
        if are_whole and (vector_type(a) or vector_type(b)):
            return in_python(function)(w, a, b)
    kinds = scalar_kind(a), scalar_kind(b)
    if None in kinds or "float" in kinds:
        return elementwise(w, "fmod", (a, b), "float")
    return w.call(function, a, b)


def _is_finite(w: Evaluator, x: Any) -> Any:
    tests = [elementwise(w, code, (x,), "float") for code in ("isnan", "isinf")]
    return elementwise(w, "eq", tests, "bool")  # never both


def _dot(w: Evaluator, a: Any, b: Any) -> Any:
    """glsl.dot: always a float."""
    if scalar_kind(a) and scalar_kind(b):
        return elementwise(w, "mul", (a, b), "float")
    sizes = [type.size for type in map(vector_type, (a, b)) if type]
    if not sizes:
        return NotImplemented
    as_vector = vectors.CLASSES[vector("float", sizes[0])]
    parts = [value if vector_type(value) else w.call(as_vector, value) for value in (a, b)]
    return products.dot(w, *[elementwise(w, None, (value,), "float") for value in parts])


def _abs(w: Evaluator, x: Any) -> Any:
    method = datamodel.find_method(w, x, "__abs__")
    if method is not None:
        return w.call(method)
    if isinstance(x, Truth) and x.is_numpys:
        return x
    return elementwise(w, "abs", (x,))


def _reciprocal(w: Evaluator, x: Any) -> Any:
    """1 / x; of integers, as NumPy has it, an integer."""
    kinds = map(scalar_kind, arrays.to_objects(w, x).reshape(-1))
    if any(kind in ("int", "uint", "bool") for kind in kinds):
        raise w.error("np.reciprocal() of an integer is 0 but for 1 and -1: write 1 / x")
    return operators.binary(w, "/", 1.0, x)


def _invert(w: Evaluator, x: Any) -> Any:
    """NumPy's complement: of a bool, its negation."""
    return arithmetic.negate(w, x) if scalar_kind(x) == "bool" else operators.unary(w, "~", x)


def _distance(w: Evaluator, a: Any, b: Any) -> Any:
    """math.dist: of points of as many dimensions as one likes."""
    if w.length(a) != w.length(b):
        raise ValueError("both points must have the same number of dimensions")
    apart = w.call(np.subtract, a, b)
    if w.length(a) == 2:
        return w.call(math.hypot, *w.items(apart))
    return w.call(np.linalg.norm, apart)


_RULES: Final[dict[Any, Rule]] = {
    **{function: rule for function, rule in _from_table() if not isinstance(function, str)},
    operator.matmul: _binary_rule("@"),
    math.log: _math_log,
    math.hypot: _hypot,
    np.hypot: _hypot,
    glsl.atan: _glsl_atan,
    math.floor: _rounded_int("floor"),
    math.ceil: _rounded_int("ceil"),
    math.trunc: _rounded_int("trunc"),
    round: _round,
    divmod: _divmod,
    np.divmod: _divmod,
    pow: _pow,
    int: _int,
    scalars.UInt: _unsigned,
    np.uint32: lambda w, x=0: origins.as_wide(w, _unsigned(w, x), np.uint32),
    math.fmod: lambda w, a, b: _fmod(w, a, b, special.fmod_of_integers),
    np.fmod: lambda w, a, b: _fmod(w, a, b, special.remainder_of_integers),
    float: _convert("float"),
    bool: _convert("bool"),
    np.int32: _made_wide("int", np.int32),
    **{cls: _made_narrow(cls) for cls in (np.uint8, np.int8, np.uint16, np.int16)},
    np.int64: _made_wide("int", np.int64),
    np.float32: _made_wide("float", np.float32),
    np.float64: _made_wide("float", np.float64),
    np.bool_: _convert("bool"),
    operator.index: _int,
    operator.truth: _convert("bool"),
    scalars.Float: _known_scalar("float"),
    scalars.Int: _known_scalar("int"),
    scalars.Bool: _known_scalar("bool"),
    math.fabs: lambda w, x: elementwise(w, "abs", (x,), "float"),
    np.fabs: lambda w, x: elementwise(w, "abs", (x,), "float"),
    math.isfinite: _is_finite,
    np.isfinite: _is_finite,
    **dict.fromkeys((math.radians, np.radians, np.deg2rad), _scaled(math.pi / 180)),
    **dict.fromkeys((math.degrees, np.degrees, np.rad2deg), _scaled(180 / math.pi)),
    np.positive: lambda w, x: operators.unary(w, "+", x),
    np.signbit: lambda w, x: comparisons.compare(
        w, "<", elementwise(w, "copysign", (1.0, x), "float"), 0.0
    ),
    math.dist: _distance,
    glsl.select: lambda w, condition, a, b: arithmetic.select(w, condition, a, b),
    glsl.dot: _dot,
    operator.neg: lambda w, x: operators.unary(w, "-", x),
    np.negative: lambda w, x: operators.unary(w, "-", x),
    operator.pos: lambda w, x: operators.unary(w, "+", x),
    operator.invert: lambda w, x: operators.unary(w, "~", x),
    np.invert: _invert,
    operator.not_: lambda w, x: arithmetic.negate(w, _convert("bool")(w, x)),
    np.square: lambda w, x: (
        w.call(np.int8, x) if scalar_kind(x) == "bool" else operators.binary(w, "*", x, x)
    ),
    np.reciprocal: _reciprocal,
    abs: _abs,
    operator.abs: _abs,
    **SPECIAL_RULES,
}
# Functions of `math` that leave what they take to an object's method, or take sequences.
_OF_ANY: Final = frozenset([math.dist, math.floor, math.ceil, math.trunc])
NUMBER_RULES: Final[dict[Any, Rule]] = {
    function: _of_numbers(function, rule)
    if getattr(function, "__module__", "") == "math" and function not in _OF_ANY
    else rule
    for function, rule in _RULES.items()
}

# Functions of libraries by the last part of their names: their full names, and rules.
_NAMED: Final[dict[str, tuple[str, Rule | None]]] = {
    name.rpartition(".")[2]: (name, rule) for name, rule in _from_table() if isinstance(name, str)
}
