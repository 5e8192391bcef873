"""Arithmetic on values of which at least one is dynamic: which operations are emitted.

Python's meaning decides: kinds widen bool < int < float, `/` is true division, bools count as
ints except under `& | ^`. Vectors work a component at a time (operands.py).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.core.operations.ops import TABLE
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import flags
from pygpu.frontend.numbers.numbers import as_value, bounded, dynamic
from pygpu.frontend.numbers.operands import (
    column,
    components,
    componentwise,
    make_vector,
    operand_components,
    operand_kind,
    sequence_of_scalars,
    unmasked,
    vector_type,
    without_dimensions,
)
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.kinds import (
    Complex,
    any_of,
    as_complex,
    as_objects,
    is_complex,
    meeting,
    narrow_dtype,
    scalar_kind,
    truth_either,
)
from pygpu.frontend.values.lazy import lifted
from pygpu.frontend.values.objects import Array, Vector
from pygpu.frontend.values.values import Abstract, Dynamic, describe
from pygpu.language.componentwise import calculate
from pygpu.ssa import Value
from pygpu.types import BOOL, INTEGERS, KINDS, UINT, Kind, Type, vector, widest

with later():
    from pygpu.frontend.numbers import integers, narrow

# ---------------------------------------------------------------- operators

_PYTHON: Final[dict[str, Callable[[Any, Any], Any]]] = {
    row.symbol: row.operators[0] for row in TABLE.values() if row.symbol and not row.is_comparison
} | {"@": operator.matmul}
_IN_PLACE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    f"{symbol}=": getattr(operator, f"i{function.__name__.strip('_')}")
    for symbol, function in _PYTHON.items()
}
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    row.symbol: row.operators[0] for row in TABLE.values() if row.is_comparison
}
# What an operator or a comparison is on the kinds that its operands widen to.
_CODES: Final[dict[str, dict[Kind, str]]] = {
    row.symbol: dict.fromkeys(row.kinds, code) for code, row in TABLE.items() if row.symbol
}
METHODS: Final = {
    symbol: (f"__{function.__name__.strip('_')}__", f"__r{function.__name__.strip('_')}__")
    for symbol, function in _PYTHON.items()
}


def python_operator(symbol: str) -> Callable[[Any, Any], Any]:
    """CPython's own function for a binary operator or comparison, in-place ones too."""
    return _PYTHON.get(symbol) or _IN_PLACE.get(symbol) or _COMPARE[symbol]


def result_kind(symbol: str, kinds: Sequence[Kind], exponent: Any = None) -> Kind:
    """The kind in which an operator works: the widest, but never bool where Python counts."""
    kind = widest(*kinds)
    if symbol == "**" and kind != "float":
        parts = exponent if isinstance(exponent, tuple) else (exponent,)
        known = [part for part in parts if part is not None and not isinstance(part, Abstract)]
        return "float" if any(part < 0 for part in known) else widest(kind, "int")
    choice = _CODES[symbol]
    if kind in choice:
        return kind
    for wider in KINDS[KINDS.index(kind) :]:
        if wider in choice:
            return wider
    raise CompileError(
        f"unsupported operand types for {symbol}: {' and '.join(kinds)}; convert with int() first"
    )


def _what_is_made() -> dict[tuple[str, Kind, Kind], tuple[str, Type]]:
    """The operation and the type that operators are of, by the kinds of two operands, where nothing
    else has to be known of these."""
    found = {}
    for symbol, first, second in itertools.product(_CODES, KINDS, KINDS):
        try:
            kind = result_kind(symbol, (first, second))
        except CompileError:
            continue
        if symbol != "**" or kind == "float":
            found[symbol, first, second] = _CODES[symbol][kind], vector(kind, 1)
    return found


_MADE: Final = _what_is_made()
_PLAIN: Final = frozenset("+-*|^")  # modulo 2**32 whatever is known of two integers


def binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a + b and the like, where a or b is not known. Without `=`: see steps for in-place."""
    if not isinstance(a, Abstract) and not isinstance(b, Abstract):
        return _PYTHON[symbol](a, b)
    first, second = scalar_kind(a), scalar_kind(b)
    if first and second and symbol != "@":
        return scalars(w, symbol, a, b, first, second)
    a, b = usable(w, a), usable(w, b)
    if symbol != "@" and (vector_type(a) or vector_type(b)):
        return _vector_binary(w, symbol, a, b)
    return NotImplemented


def scalars(w: Evaluator, symbol: str, a: Any, b: Any, first: Kind, second: Kind) -> Dynamic:
    """a + b and the like, of scalars of these kinds."""
    if symbol in "+*-" and flags.may_be_of_numpys(w, a, b, first, second):
        return flags.combined(w, symbol, a, b)  # type: ignore[no-any-return]
    row = _MADE.get((symbol, first, second))
    if row is None:  # it depends on the operands, or there is none
        kind = result_kind(symbol, (first, second), b)
        row = _CODES[symbol][kind], vector(kind, 1)
    code, type = row
    kind = type.kind
    if kind in INTEGERS:
        if w.faults.checked and not w.handled() and flags.whose(w, a, b) is not True:
            integers.check_second(w, symbol, b)
        if narrow_dtype(a) is not None or narrow_dtype(b) is not None:
            whole = integers.binary(w, symbol, code, a, b, kind)
            return flags.inherited(w, narrow.combined(w, symbol, a, b, whole), a, b, symbol)
        if symbol in _PLAIN and not (symbol == "-" and type is UINT):
            made = dynamic(w, code, as_value(w, a, type), as_value(w, b, type))
        else:
            made = integers.binary(w, symbol, code, a, b, kind)
        return flags.inherited(w, made, a, b, symbol)
    operands = as_value(w, a, type), as_value(w, b, type)
    if w.environment.widened:
        operands = origins.note(w, operands[0], a), origins.note(w, operands[1], b)
    return flags.inherited(w, dynamic(w, code, *operands), a, b, symbol)


def _vector_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    def whole(parts: list[Any], size: int) -> Value:
        kinds = [operand_kind(part) for part in parts]
        exponent = parts[1] if not isinstance(parts[1], Value) else None
        kind = result_kind(symbol, kinds, exponent)
        type = vector(kind, size)
        if kind != "float" and w.faults.checked:
            for each in column(w, operand_components(w, b, size), size):
                integers.check_second(w, symbol, each)
        return w.build.emit(_CODES[symbol][kind], *[as_value(w, part, type) for part in parts])

    operands: Sequence[Any] = (a, b)
    size = (vector_type(a) or vector_type(b)).size  # type: ignore[union-attr]
    parts: list[Any] | None = [operand_components(w, each, size) for each in operands]
    if parts[0].__class__ is Value or parts[1].__class__ is Value:  # type: ignore[index]
        operands, parts = integers_apart(w, operands, symbol in "** // % << >>")

    for row, place in zip(parts or (), (1, 0), strict=False):
        if isinstance(row, tuple) and narrow_dtype(row[0]) is not None:
            parts[place] = narrow.beside(w, narrow_dtype(row[0]), operands[place], parts[place])  # type: ignore[index,arg-type]

    def scalar(x: Any, y: Any) -> Any:  # known floats as IEEE has them, as vectors do in Python
        known = not isinstance(x, Abstract) and not isinstance(y, Abstract)
        return calculate(_PYTHON[symbol], x, y) if known else binary(w, symbol, x, y)

    result = componentwise(w, operands, scalar, whole, parts)
    return NotImplemented if result is None else result


def integers_apart(
    w: Evaluator, operands: Sequence[Any], always: bool = False
) -> tuple[Sequence[Any], list[Any] | None]:
    """The operands, vectors with their components apart where what is to be done to integers is
    decided for each: ints meet uints, or known integers that are no ints. With what the operands
    bring to the operation (`operand_components`), where that was found out and holds of them."""
    types = [type for type in map(vector_type, operands) if type]
    if any(type.kind == "float" for type in types):
        return operands, None
    size = types[0].size
    parts = [operand_components(w, operand, size) for operand in operands]
    if any(part is None for part in parts) or not (always or integers.differ(parts)):
        return operands, parts
    apart = [
        make_vector(w, operand.type, components(w, operand))
        if isinstance(operand, Vector)
        else operand
        for operand in operands
    ]
    return apart, None


def unary(w: Evaluator, symbol: str, a: Any) -> Any:
    """-a, +a and ~a of a scalar or vector that is not known."""
    kind = scalar_kind(a) or (vector_type(a) and vector_type(a).kind)  # type: ignore[union-attr]
    if not kind:
        return NotImplemented
    if symbol == "~" and kind == "float":
        raise w.error(f"bad operand type for unary ~: {describe(a)}; convert with int() first")
    if symbol == "+" and kind != "bool":
        return Vector(a.cls, a.type, w.read(a)) if isinstance(a, Vector) else a
    if symbol == "~" and isinstance(a, Dynamic) and a.type is BOOL:
        return flags.complement(w, a)
    code = {"-": "neg", "~": "bit_not", "+": "to_int"}[symbol]
    working: Kind = "int" if kind == "bool" else kind
    if symbol == "~" and kind == "bool" and vector_type(a):
        code, working = "not", "bool"  # as NumPy's ~ on arrays of bools
    return elementwise(w, code if code != "to_int" else None, (a,), working)


def compare(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a < b and the like on scalars and vectors: a bool, or one a component."""
    if not isinstance(a, Abstract) and not isinstance(b, Abstract):
        return _COMPARE[symbol](a, b)
    a, b = usable(w, a), usable(w, b)
    code = _CODES[symbol]["float"]
    first, second = scalar_kind(a), scalar_kind(b)
    if first and second:
        kind = widest(first, second)
        if kind in INTEGERS:
            return integers.compare(w, symbol, code, a, b)
        if kind == "float":
            a, b = bounded(a), bounded(b)
        type = vector(kind if kind != "bool" or symbol in ("==", "!=") else "int", 1)
        return dynamic(w, code, as_value(w, a, type), as_value(w, b, type))
    if vector_type(a) or vector_type(b):

        def whole(parts: list[Any], size: int) -> Value:
            kind = widest(*[operand_kind(part) for part in parts])
            type = vector("int" if kind == "bool" and symbol not in ("==", "!=") else kind, size)
            return w.build.emit(code, *[as_value(w, part, type) for part in parts])

        def scalar(x: Any, y: Any) -> Any:
            return flags.compared(w, compare(w, symbol, x, y), x, y)

        operands, parts = integers_apart(w, (a, b))
        result = componentwise(w, operands, scalar, whole, parts)
        return NotImplemented if result is None else result
    return NotImplemented


# ---------------------------------------------------------------- logic


def negate(w: Evaluator, value: Any) -> Any:
    """not value, of a bool; of vectors a component at a time."""
    if not isinstance(value, Abstract):
        return not value
    if isinstance(value, Dynamic):
        return dynamic(w, "not", as_value(w, value, BOOL))
    return unary(w, "~", value)


def both(w: Evaluator, a: Any, b: Any) -> Any:
    """a and b for bools without effects."""
    return _settled(w, "&", False, a, b)


def either(w: Evaluator, a: Any, b: Any) -> Any:
    """a or b for bools without effects."""
    return _settled(w, "|", True, a, b)


def _settled(w: Evaluator, symbol: str, by: bool, a: Any, b: Any) -> Any:
    """Two bools by & or |, where one that is known to be `by` is all there is to say."""
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Abstract):
            return by if bool(one) is by else other
    return binary(w, symbol, a, b)


# ---------------------------------------------------------------- functions of numbers


def elementwise(
    w: Evaluator,
    code: str | None,
    operands: Sequence[Any],
    kind: Kind | None = None,
    data: Any = None,
) -> Any:
    """An operation of the table on scalars, vectors and arrays, which widen to each other.

    `kind` is the kind that it works in, None the widest of the operands (bools become ints).
    No code: conversion to that kind alone. NotImplemented where an operand is none of these.
    `data` is the operation's, on scalars and vectors.
    """
    selected = lifted(lambda *row: elementwise(w, code, row, kind, data), operands)
    if selected is not NotImplemented:
        return selected
    if any(isinstance(operand, (Array, np.ndarray)) for operand in operands):
        plain = without_dimensions(w, operands)
        if plain is None:
            return _array_elementwise(w, code, operands, kind)
        operands = plain

    def emit(type: Type, parts: Sequence[Any]) -> Value:
        values = [as_value(w, part, type) for part in parts]
        if code in ("min", "max"):
            values = [origins.note(w, *each) for each in zip(values, parts, strict=True)]
        return w.build.emit(code, *values, data=data) if code else values[0]

    def working(kinds: Sequence[Kind]) -> Kind:
        widened = kind or widest(*kinds)
        return "int" if widened == "bool" and kind is None else widened

    def scalar(*parts: Any) -> Any:
        kinds = [scalar_kind(part) for part in parts]
        if code and working(kinds) in INTEGERS and any(map(narrow_dtype, parts)):  # type: ignore[arg-type]
            return narrow.extreme(w, code, *parts, data=data)
        if code in ("min", "max") and kind is None and "float" not in kinds:
            return integers.extreme(w, code, *parts, data=data)
        value = emit(vector(working(kinds), 1), parts)  # type: ignore[arg-type]
        return flags.made(code, value, *parts)

    def whole(parts: list[Any], size: int) -> Value:
        return emit(vector(working([operand_kind(part) for part in parts]), size), parts)

    for operand in operands:
        usable(w, operand)
    if any(map(vector_type, operands)):
        parts = None
        if len(operands) > 1 and kind is None:
            operands, parts = integers_apart(w, operands)
        result = componentwise(w, operands, scalar, whole, parts)
        return NotImplemented if result is None else result
    if all(map(scalar_kind, operands)):
        return scalar(*operands)
    for operand in operands:
        if is_complex(operand):
            raise TypeError(
                f"a real number is needed, not {describe(operand)}: take its abs(), .real or .imag"
            )
    return NotImplemented


def _array_elementwise(
    w: Evaluator, code: str | None, operands: Sequence[Any], kind: Kind | None
) -> Any:
    """Element by element over arrays, with NumPy's broadcasting."""
    arrays = []
    for operand in operands:
        if isinstance(operand, Array):
            operand = w.read(operand)
        elif not scalar_kind(operand) and not isinstance(operand, np.ndarray):
            is_vector = vector_type(operand) is not None
            items = components(w, operand) if is_vector else sequence_of_scalars(w, operand)
            if items is None:
                return NotImplemented
            operand = np.empty(len(items), object)
            operand[:] = items
        if not isinstance(operand, np.ndarray):
            operand = np.array([operand, None], object)[:1].reshape(())
        arrays.append(as_objects(unmasked(w, operand)))
    shaped = np.broadcast_arrays(*arrays)
    result = np.empty(shaped[0].shape, object)
    flat = result.reshape(-1)
    for index, parts in enumerate(zip(*[array.reshape(-1) for array in shaped], strict=True)):
        flat[index] = elementwise(w, code, parts, kind)
        if flat[index] is NotImplemented:
            return NotImplemented
    return Array(result)


def select(w: Evaluator, condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b: scalars or vectors, componentwise for a BVec."""
    if not isinstance(condition, Abstract) and scalar_kind(condition):
        return a if condition else b
    plain = a.__class__ is Dynamic and b.__class__ is Dynamic and a.type is b.type is not BOOL
    if plain and isinstance(condition, Dynamic) and condition.type is BOOL:  # what most are
        return dynamic(w, "select", condition.value, a.value, b.value)
    if not any(map(vector_type, (condition, a, b))):
        if None in (scalar_kind(a), scalar_kind(b)):
            pair = as_complex((a, b))
            if pair is None:
                return NotImplemented
            parts = [(x.re, x.im) for x in pair]
            return Complex(*[select(w, condition, *part) for part in zip(*parts, strict=True)])
        type = vector(_common_kind(w, (a, b)), 1)
        test = as_value(w, condition, BOOL)
        either = [origins.note(w, as_value(w, each, type), each) for each in (a, b)]
        made = dynamic(w, "select", test, *either)
        if type is BOOL:
            return truth_either(made.value, a, b)
        dtype = narrow_dtype(a) or narrow_dtype(b)
        if dtype is None or type.kind == "float":
            return any_of(made.value, a, b)
        what = f"what comes of {describe(a)} or {describe(b)}, by a choice,"
        return narrow.one_of(w, what, made.value, a, b)
    size = next(t.size for t in map(vector_type, (condition, a, b)) if t)
    parts = [operand_components(w, operand, size) for operand in (condition, a, b)]
    if any(part is None for part in parts):
        return NotImplemented
    scalars = [
        part if isinstance(part, tuple) else (Dynamic(part) if isinstance(part, Value) else part,)
        for part in parts[1:]
    ]
    type = vector(_common_kind(w, [*scalars[0], *scalars[1]]), size)
    if type.kind == "int" and any(map(narrow_dtype, (*scalars[0], *scalars[1]))):
        rows = zip(*[column(w, part, size) for part in parts], strict=True)
        each = [select(w, test, *narrow.beside_rows(w, (a, b), *pair)) for test, *pair in rows]
        return make_vector(w, type, tuple(each))
    test = as_value(w, parts[0], BOOL if scalar_kind(condition) else vector("bool", size))
    value = w.build.emit("select", test, as_value(w, parts[1], type), as_value(w, parts[2], type))
    return make_vector(w, type, value)


def _common_kind(w: Evaluator, scalars: Sequence[Any]) -> Kind:
    """The kind that holds all of the scalars as what they are."""
    kind = meeting(scalars)
    if kind is None:
        shown = " and ".join(describe(value) for value in scalars[:2])
        raise w.error(f"{shown} cannot be one value: {integers.HINT}")
    return kind


def to_places(w: Evaluator, x: Any, places: int) -> Any:
    """A float rounded to decimal places."""
    scale = 10.0**places
    scaled = elementwise(w, "round", (binary(w, "*", x, scale),), "float")
    rounded = binary(w, "/", scaled, scale)
    is_whole = places > 0 and compare(w, ">=", w.call(abs, x), 2.0**23)  # times the scale too large
    return select(w, is_whole, x, rounded)
