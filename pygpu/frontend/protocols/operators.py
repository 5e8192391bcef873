"""Operators on every kind of value: the left operand's method, then the right one's reflected one.

Numbers and vectors are arithmetic's; matrices, arrays and sequences have rules here; what is left
are the special methods of users' classes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.collections.adoption import adopt
from pygpu.frontend.numbers import arithmetic, flags, operands
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols.arrays import (
    array_of,
    beside,
    each,
    is_array,
    kind_of,
    make_matrix,
    matrix_rows,
    stored,
    to_objects,
    unwrapped,
)
from pygpu.frontend.protocols.datamodel import class_of, user_method
from pygpu.frontend.protocols.sequences import held_by, items_of
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.kinds import (
    Complex,
    Text,
    as_numpys,
    is_complex,
    is_of_users,
    is_ours,
    narrow_of,
    scalar_kind,
    specimen,
)
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Cut, Masked, Row, lifted
from pygpu.frontend.values.objects import ROW, Array, Dict, List, Matrix, Set, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Dynamic,
    Flagged,
    NotKnown,
    Tuple,
    describe,
    kept,
    tuple_of,
)
from pygpu.frontend.values.views import AS_SETS, View
from pygpu.language import matrices

with later():
    from pygpu.frontend.collections import bounded, cuts, texts, words
    from pygpu.frontend.numbers import complex_numbers, narrow
    from pygpu.frontend.protocols import products, sets

# What Python raises where operations and functions of numbers have no result. Under a dynamic
# condition they give what they give on a device.
RAISED_BY_NUMBERS: Final = (ZeroDivisionError, OverflowError, ValueError)


def binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a + b and the like, for any values."""
    if (a.__class__ is Dynamic or b.__class__ is Dynamic) and symbol != "@":
        first, second = scalar_kind(a), scalar_kind(b)
        if first and second and not (is_of_users(a) or is_of_users(b)):  # what most are
            return arithmetic.scalars(w, symbol, a, b, first, second)
    if symbol in "|&-^" and (a.__class__ in AS_SETS or b.__class__ in AS_SETS):
        a, b = w.call(set, a), w.call(set, b)
    a, b = beside(w, a, b)
    w.environment.dependencies.add(a, b)
    if not isinstance(a, Abstract) and not isinstance(b, Abstract):
        try:
            return _made(w, arithmetic.python_operator(symbol), a, b)
        except RAISED_BY_NUMBERS:
            first = operands.unknown(w, a)
            if not w.lenient() or first is a:
                raise
            return binary(w, symbol, first, b)
    for value in (a, b):
        beside_number = symbol == "+" and (scalar_kind(a) or scalar_kind(b))
        if isinstance(value, Text) and symbol in "+%*" and not beside_number:
            return value
        usable(w, value)
    if isinstance(a, Cut) or isinstance(b, Cut):
        a, b = bounded.listed(w, a), bounded.listed(w, b)
    for rule in _BINARY_RULES if not _is_users_vector(a, b) else (_user_binary, *_BINARY_RULES):
        result = rule(w, symbol, a, b)
        if result is not NotImplemented:
            return result
    result = _sequence_binary(w, symbol, a, b)
    if result is NotImplemented and (isinstance(a, Set) or isinstance(b, Set)):
        result = sets.combined(w, symbol, a, b)
    if result is not NotImplemented:
        return result
    try:
        left, right = concrete(w, a), concrete(w, b)
    except NotKnown:
        if isinstance(a, str) and symbol == "%":
            return texts.percent(w, a, b)
        if (isinstance(a, str) and symbol == "*") or (isinstance(b, str) and symbol == "*"):
            word, times = (a, b) if isinstance(a, str) else (b, a)
            return texts.repeated(w, word, times)
        x, y = words.as_number(w, a), words.as_number(w, b)
        if x is not a or y is not b:
            return binary(w, symbol, x, y)
        for part in (*_parts(a), *_parts(b)):
            if isinstance(part, Choice) and any(each is None for each in part.options):
                raise w.error(part.unusable()) from None
        matrix = isinstance(a, Matrix) or isinstance(b, Matrix)
        hint = "; the matrix product is @" if matrix and symbol == "*" else ""
        raise w.error(
            f"unsupported operands for {symbol}: {describe(a)} and {describe(b)}{hint}"
        ) from None
    return _made(w, arithmetic.python_operator(symbol), left, right)


def _is_users_vector(*values: Any) -> bool:
    """Whether one is a vector of a class of the user's, which may have operators of its own."""
    vectors = [class_of(value) for value in values if vector_type(value)]
    return not all(map(is_ours, vectors))


def _made(w: Evaluator, function: Callable[..., Any], *args: Any) -> Any:
    """What Python gives, adopted. A function of its own, that `adopt` counts references to the
    result as those of what is new."""
    result = function(*args)
    return adopt(w, result)


def _parts(value: Any) -> tuple[Any, ...]:
    return value.items if isinstance(value, Tuple) else (value,)


def fold(w: Evaluator, symbol: str, items: Any) -> Any:
    """Combine items from the left by an operator."""
    return reduce(lambda a, b: binary(w, symbol, a, b), items)


def _user_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if symbol == "%" and isinstance(a, str):
        return NotImplemented  # a string's own comes first
    names = arithmetic.METHODS[symbol]
    tries = [(a, names[0], b), (b, names[1], a)]
    left, right = class_of(a), class_of(b)
    if left is not right and issubclass(right, left):
        overriding = user_method(w, b, names[1])
        if overriding is not None and overriding is not user_method(w, a, names[1]):
            tries.reverse()
    if left is right and isinstance(a, Abstract) == isinstance(b, Abstract):
        tries = tries[:1]
    for value, name, other in tries:
        method = user_method(w, value, name)
        if method is not None:
            result = w.call(method, value, other)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _sequence_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if isinstance(a, View) or isinstance(b, View):
        return NotImplemented
    lists, tuples = (list, List), (tuple, Tuple)
    if symbol == "+":
        if isinstance(a, lists) and isinstance(b, lists):
            made = List(items_of(w, a)) if not isinstance(a, List) else List(w.read(a))
            w.call(w.method(made, "extend"), b)
            return made
        if isinstance(a, tuples) and isinstance(b, tuples):
            return tuple_of((*held_by(w, a), *held_by(w, b)))
    if symbol == "*":
        for sequence, times in ((a, b), (b, a)):
            if scalar_kind(times) == "float" and isinstance(sequence, (*lists, *tuples)):
                raise TypeError("can't multiply sequence by non-int of type 'float'")
            if isinstance(times, Dynamic) and isinstance(sequence, lists):
                return bounded.repeated(w, sequence, times)
            if isinstance(times, Dynamic) and isinstance(sequence, tuples):
                raise w.error(
                    "a tuple can only be repeated a known number of times: repeat a list, as in "
                    "[0, 1] * n"
                )
            if isinstance(times, int) and isinstance(sequence, List):
                return List(items_of(w, sequence) * times)
            if isinstance(times, int) and isinstance(sequence, Tuple):
                return tuple_of(sequence.items * times)
    if symbol == "|" and isinstance(a, (Dict, dict)) and isinstance(b, (Dict, dict)):
        made = w.call(dict, a)
        w.call(w.method(made, "update"), b)
        return made
    return NotImplemented


# Of what an array holds and what it would be given: what NumPy's operators in place refuse.
_LOSING: Final = frozenset(
    (("int", "float"), ("uint", "float"), ("bool", "float"), ("bool", "int"), ("bool", "uint"))
)


def in_place(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a += b and the like: lists, dicts and arrays change, other values are replaced."""
    plain = symbol[:-1]
    if type(a) is Cut and symbol in ("+=", "*="):
        cuts.check_change(w, a, symbol, 1)  # of its one name, which is that of what comes of it
    if isinstance(a, List) and not isinstance(a, View) and symbol in ("+=", "*="):
        if symbol == "+=":
            w.call(w.method(a, "extend"), b)
        else:
            made = binary(w, plain, a, b)
            w.write(a, w.read(made))
        return a
    if isinstance(a, Dict) and symbol == "|=":
        w.call(w.method(a, "update"), b)
        return a
    if isinstance(a, Set) and isinstance(b, (Set, set, frozenset)):
        made = binary(w, plain, a, b)
        w.write(a, w.read(made) if isinstance(made, Set) else tuple(made))
        return a
    if isinstance(a, Array):
        result = binary(w, plain, a, b)
        old = w.read(a)
        new = to_objects(w, result)
        kinds = kind_of(old), kind_of(new)
        if kinds in _LOSING:
            raise TypeError(
                f"{symbol} cannot put the {kinds[1]}s that it gives into an array of {kinds[0]}s: "
                f"write x = x {plain} y, or make it one of {kinds[1]}s"
            )
        w.write(a, stored(w, old, Ellipsis, new))
        return a
    if isinstance(a, Row) or (isinstance(a, Vector) and a.outside == ROW):
        raise w.error(
            f"{describe(a)}, taken by an index, can only be read, and {symbol} would change the "
            f"array: write x = x {plain} y"
        )
    if not isinstance(a, Abstract) and isinstance(a, (list, dict, set, bytearray, np.ndarray)):
        raise w.error(kept(a, instead=f"write x = x {plain} y, or make a copy"))
    method = user_method(w, a, f"__i{arithmetic.METHODS[plain][0][2:]}")
    if method is not None:
        result = w.call(method, a, b)
        if result is not NotImplemented:
            return result
    return binary(w, plain, a, b)


_UNARY: Final[dict[str, Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


def unary(w: Evaluator, symbol: str, a: Any) -> Any:
    """-a, +a, ~a"""
    a = unwrapped(w, a)
    if not isinstance(a, Abstract):
        w.environment.dependencies.add(a)
        return adopt(w, _UNARY[symbol](a))
    usable(w, a)
    if isinstance(a, Masked):
        return lifted(lambda x: unary(w, symbol, x), (a,))
    a = operands.number_in(w, a) if isinstance(a, Array) else a
    if symbol == "~" and isinstance(a, Flagged):
        return flags.complement(w, a)
    one = specimen(a)
    if one is not None:
        _UNARY[symbol](one)  # a TypeError for - and + of bools
    method = user_method(w, a, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[symbol])
    if method is not None:
        return w.call(method, a)
    result = arithmetic.unary(w, symbol, a)
    if result is not NotImplemented:
        return result
    if isinstance(a, Complex):
        return complex_numbers.unary(w, symbol, a)
    if isinstance(a, Array):
        flat = [
            arithmetic.negate(w, part)
            if symbol == "~" and scalar_kind(part) == "bool"
            else unary(w, symbol, part)
            for part in w.read(a).reshape(-1)
        ]
        return array_of(flat, w.read(a).shape)
    if isinstance(a, Matrix) and symbol in "+-":
        return Matrix(a.cls, tuple([unary(w, symbol, row) for row in w.read(a)]))
    raise TypeError(f"bad operand for unary {symbol}: {describe(a)}")


def _array_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    is_of_vectors = symbol == "@" and (vector_type(a) or vector_type(b))
    if not (is_array(a) or is_array(b) or is_of_vectors):
        return NotImplemented
    allowed = (Array, np.ndarray, List, Tuple, list, tuple, Matrix)
    numbers = [bool(scalar_kind(v) or vector_type(v)) or is_complex(v) for v in (a, b)]
    if not all(n or isinstance(v, allowed) for n, v in zip(numbers, (a, b), strict=True)):
        return NotImplemented
    if symbol == "@":
        return products.matmul(w, a, b)
    x, y = [narrow_of(to_objects(w, side)) if is_array(side) else None for side in (a, b)]
    if x is not None:
        b = _beside_narrow(w, x, b)
    elif y is not None:
        a = _beside_narrow(w, y, a)
    return each(w, a, b, lambda x, y: binary(w, symbol, as_numpys(x), as_numpys(y)))


def _beside_narrow(w: Evaluator, dtype: np.dtype[Any], other: Any) -> Any:
    """An operand of an array of fewer than 32 bits."""
    if scalar_kind(other):
        return narrow.beside(w, dtype, other, other)
    array = to_objects(w, other)
    if narrow_of(array) is not None:
        return other
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = narrow.beside(w, dtype, other, tuple(array.reshape(-1)))
    return Array(made)


def _matrix_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    is_matrix = [isinstance(value, (Matrix, matrices.Matrix)) for value in (a, b)]
    if not any(is_matrix):
        return NotImplemented
    if symbol == "@":
        return products.matmul(w, a, b)
    cls: Any = class_of(a if is_matrix[0] else b)
    rows: Any = [[x] * cls.SIZE if scalar_kind(x) else matrix_rows(w, x) for x in (a, b)]
    if rows[0] is None or rows[1] is None:
        return NotImplemented
    if len(rows[0]) != len(rows[1]):
        raise w.error(f"matrices of {len(rows[0])} and {len(rows[1])} rows do not fit")
    return make_matrix(w, cls, [binary(w, symbol, x, y) for x, y in zip(*rows, strict=True)])


def _complex_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if not is_complex(a) and not is_complex(b):
        return NotImplemented
    return complex_numbers.binary(w, symbol, a, b)


_BINARY_RULES: Final = (
    lambda w, symbol, a, b: (
        w.call(np.dot, a, b)
        if symbol == "@" and isinstance(a, Masked)
        else lifted(lambda x, y: binary(w, symbol, x, y), (a, b))
    ),
    arithmetic.binary,
    _complex_binary,
    _matrix_binary,
    _array_binary,
    _user_binary,
)
