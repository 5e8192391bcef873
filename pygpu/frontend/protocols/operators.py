"""Operators on every kind of value: the left operand's method, then the right one's reflected one.

Numbers and vectors are arithmetic's; matrices, arrays and sequences have rules here; what is left
are the special methods of users' classes.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, Final

import numpy as np

from pygpu.frontend.collections.bounded import bounded
from pygpu.frontend.protocols import arithmetic, complex_numbers, integers, operands
from pygpu.frontend.protocols.arrays import (
    array_of,
    each,
    is_array,
    make_matrix,
    matrix_rows,
    stored,
    to_objects,
    unwrapped,
    vector_like,
)
from pygpu.frontend.protocols.objects import class_of, find_method, user_method
from pygpu.frontend.protocols.operands import vector_type
from pygpu.frontend.protocols.sequences import items_of, items_or_maybe
from pygpu.frontend.protocols.tables import has_key
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Complex, Text, is_complex, is_narrow, scalar_kind
from pygpu.frontend.values.known import adopt, concrete
from pygpu.frontend.values.lazy import Indexed, Masked, lifted
from pygpu.frontend.values.objects import Array, Dict, Instance, List, Matrix, Set, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Conflict,
    Dynamic,
    Maybe,
    NotKnown,
    Picture,
    Tuple,
    describe,
    tuple_of,
)
from pygpu.frontend.walked import library
from pygpu.language import matrices
from pygpu.types import BOOL

# What Python raises where operations and functions of numbers have no result. Under a dynamic
# condition they give what they give on a device.
RAISED_BY_NUMBERS: Final = (ZeroDivisionError, OverflowError, ValueError)


def binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a + b and the like, for any values."""
    if (a.__class__ is Dynamic or b.__class__ is Dynamic) and symbol != "@":
        first, second = scalar_kind(a), scalar_kind(b)
        if first and second:  # what most are
            return arithmetic.scalars(w, symbol, a, b, first, second)
    a, b = unwrapped(w, a), unwrapped(w, b)
    if not isinstance(a, Abstract) and not isinstance(b, Abstract):
        w.environment.dependencies.add(a, b)
        try:
            result = arithmetic.python_operator(symbol)(a, b)
        except RAISED_BY_NUMBERS:
            first = operands.unknown(w, a)
            if not w.lenient() or first is a:
                raise
            return binary(w, symbol, first, b)
        return adopt(w, result)
    for value in (a, b):
        if isinstance(value, Text) and symbol in "+%*":
            return value
        if isinstance(value, Conflict):
            raise w.error(value.message)
    for rule in _BINARY_RULES:
        result = rule(w, symbol, a, b)
        if result is not NotImplemented:
            return result
    result = _sequence_binary(w, symbol, a, b)
    if result is not NotImplemented:
        return result
    try:
        left, right = concrete(w, a), concrete(w, b)
    except NotKnown:
        if (isinstance(a, str) and symbol in "%*") or (isinstance(b, str) and symbol == "*"):
            made = describe(b if isinstance(a, str) else a)
            return Text(made)
        raise w.error(
            f"unsupported operands for {symbol}: {describe(a)} and {describe(b)}"
        ) from None
    result = arithmetic.python_operator(symbol)(left, right)
    return adopt(w, result)


def truth(w: Evaluator, value: Any) -> Any:
    """bool(value): a known bool, or a Dynamic one."""
    if not isinstance(value, Abstract):
        w.environment.dependencies.add(value)
        return bool(value)
    match value:
        case Dynamic():
            if value.type is BOOL:
                return value
            return arithmetic.compare(w, "!=", value, 0)
        case Vector():
            raise w.error(
                f"the truth of {describe(value)} is ambiguous: use all(v == w) or any(...), "
                "np.maximum and np.minimum for max and min"
            )
        case Array():
            if w.read(value).size == 1:
                return truth(w, w.read(value).reshape(-1)[0])
            raise w.error("the truth of an array is ambiguous: use np.all or np.any")
        case Conflict():
            raise w.error(value.message)
        case Picture():
            raise w.error(
                f"{describe(value)} has no truth: call it with a position, as in im(p) > 0.5"
            )
        case Instance():
            method = find_method(w, value, "__bool__")
            if method is not None:
                return truth(w, w.call(method))
            if find_method(w, value, "__len__") is None:
                return True
            return truth(w, w.length(value))
        case Tuple() | List() | Dict() | Set() | Matrix() | Indexed():
            return truth(w, w.length(value))
        case Complex():
            return complex_numbers.truth(w, value)
        case Maybe():
            return arithmetic.both(w, value.taken, truth(w, value.value))
    return True


def fold(w: Evaluator, symbol: str, items: Any) -> Any:
    """Combine items from the left by an operator."""
    return reduce(lambda a, b: binary(w, symbol, a, b), items)


def _user_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    names = arithmetic.METHODS[symbol]
    tries = [(a, names[0], b), (b, names[1], a)]
    left, right = class_of(a), class_of(b)
    if left is not right and issubclass(right, left) and user_method(w, b, names[1]):
        tries.reverse()
    if left is right:
        tries = tries[:1]
    for value, name, other in tries:
        method = user_method(w, value, name)
        if method is not None:
            result = w.call(method, value, other)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _sequence_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    lists, tuples = (list, List), (tuple, Tuple)
    if symbol == "+":
        if isinstance(a, lists) and isinstance(b, lists):
            made = List(items_of(w, a)) if not isinstance(a, List) else List(w.read(a))
            w.call(w.method(made, "extend"), b)
            return made
        if isinstance(a, tuples) and isinstance(b, tuples):
            return tuple_of((*items_of(w, a), *items_of(w, b)))
    if symbol == "*":
        for sequence, times in ((a, b), (b, a)):
            if isinstance(times, Dynamic) and isinstance(sequence, (*lists, *tuples)):
                raise w.error("a sequence can only be repeated a known number of times")
            if isinstance(times, int) and isinstance(sequence, List):
                return List(items_of(w, sequence) * times)
            if isinstance(times, int) and isinstance(sequence, Tuple):
                return tuple_of(sequence.items * times)
    if symbol == "|" and isinstance(a, (Dict, dict)) and isinstance(b, (Dict, dict)):
        left = w.read(a) if isinstance(a, Dict) else a
        return Dict({**left, **(w.read(b) if isinstance(b, Dict) else b)})
    return NotImplemented


def in_place(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a += b and the like: lists, dicts and arrays change, other values are replaced."""
    plain = symbol[:-1]
    if isinstance(a, List) and symbol in ("+=", "*="):
        if symbol == "+=":
            w.call(w.method(a, "extend"), b)
        else:
            w.write(a, items_of(w, a) * concrete(w, b))
        return a
    if isinstance(a, Dict) and symbol == "|=":
        w.write(a, {**w.read(a), **(w.read(b) if isinstance(b, Dict) else b)})
        return a
    if isinstance(a, Array):
        result = binary(w, plain, a, b)
        old = w.read(a)
        new = to_objects(w, result) if isinstance(result, Array) else result
        w.write(a, stored(w, old, Ellipsis, new if isinstance(new, np.ndarray) else result))
        return a
    if not isinstance(a, Abstract) and isinstance(a, (list, dict, set, bytearray, np.ndarray)):
        raise w.error(
            f"{describe(a)} came from outside the function and must not be changed: "
            f"write x = x {plain} y, or make a copy"
        )
    method = user_method(w, a, f"__i{arithmetic.METHODS[plain][0][2:]}")
    if method is not None:
        result = w.call(method, a, b)
        if result is not NotImplemented:
            return result
    return binary(w, plain, a, b)


def unary(w: Evaluator, symbol: str, a: Any) -> Any:
    """-a, +a, ~a"""
    a = unwrapped(w, a)
    if not isinstance(a, Abstract):
        w.environment.dependencies.add(a)
        function: Any = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[symbol]
        result = function(a)
        return adopt(w, result)
    if isinstance(a, Conflict):
        raise w.error(a.message)
    if isinstance(a, Masked):
        return lifted(lambda x: unary(w, symbol, x), (a,))
    result = arithmetic.unary(w, symbol, a)
    if result is not NotImplemented:
        return result
    if isinstance(a, Complex):
        return complex_numbers.unary(w, symbol, a)
    name = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[symbol]
    method = user_method(w, a, name)
    if method is not None:
        return w.call(method, a)
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


_SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


COMPARISONS: Final = {
    "<": "__lt__",
    "<=": "__le__",
    "==": "__eq__",
    "!=": "__ne__",
    ">": "__gt__",
    ">=": "__ge__",
}


def compare(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a < b and the like, for any values."""
    a, b = unwrapped(w, a), unwrapped(w, b)
    selected = lifted(lambda x, y: compare(w, symbol, x, y), (a, b))
    if selected is not NotImplemented:
        return selected
    w.environment.dependencies.add(a, b)
    for rule in (complex_numbers.compare_size, arithmetic.compare, complex_numbers.compare):
        result = rule(w, symbol, a, b)
        if result is not NotImplemented:
            return result
    if any(isinstance(value, (Array, np.ndarray)) for value in (a, b)):
        return each(w, a, b, lambda x, y: compare(w, symbol, x, y))
    left, right = class_of(a), class_of(b)
    tries = [(a, symbol, b), (b, _SWAPPED[symbol], a)]
    if left is not right and issubclass(right, left):
        tries.reverse()
    for value, sign, other in tries:
        method = user_method(w, value, COMPARISONS[sign])
        if method is None and sign == "!=":
            method = user_method(w, value, "__eq__")
            if method is not None:
                equal = w.call(method, value, other)
                if equal is not NotImplemented:
                    return arithmetic.negate(w, equal)
                continue
        if method is not None:
            answer = w.call(method, value, other)
            if answer is not NotImplemented:
                return answer
    sequences = ((Tuple, tuple), (List, list))
    for pair in sequences:
        if isinstance(a, pair) and isinstance(b, pair):
            if symbol in ("==", "!=") and any(bounded(w, xs) is not None for xs in (a, b)):
                same = w.call(library.same_items, a, b)
                return same if symbol == "==" else arithmetic.negate(w, same)
            return _compare_sequences(w, symbol, items_of(w, a), items_of(w, b))
    try:
        return arithmetic.python_operator(symbol)(concrete(w, a), concrete(w, b))
    except NotKnown:
        pass
    for value in (a, b):
        if isinstance(value, Picture):
            raise w.error(
                f"{describe(value)} cannot be compared: its pixels can, as in im(p) {symbol} 0.5"
            )
    if symbol in ("==", "!="):
        return (a is b) == (symbol == "==")
    raise TypeError(f"'{symbol}' not supported between {describe(a)} and {describe(b)}")


def _compare_sequences(w: Evaluator, symbol: str, a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Tuples and lists: equality item by item, order by the first items that differ."""
    if symbol in ("==", "!="):
        equal: Any = len(a) == len(b)
        if equal:
            for x, y in zip(a, b, strict=True):
                equal = arithmetic.both(w, equal, compare(w, "==", x, y))
        return equal if symbol == "==" else arithmetic.negate(w, equal)
    result: Any = arithmetic.python_operator(symbol)(len(a), len(b))
    for x, y in reversed(list(zip(a, b, strict=False))):
        equal = compare(w, "==", x, y)
        first = compare(w, symbol[0], x, y)
        rest = arithmetic.both(w, equal, result)
        result = arithmetic.either(w, first, rest)
    return result


def contains(w: Evaluator, container: Any, value: Any) -> Any:
    """value in container"""
    w.environment.dependencies.add(value, container)
    method = user_method(w, container, "__contains__")
    if method is not None and isinstance(container, Abstract):
        return w.call(method, container, value)
    try:
        return concrete(w, value) in concrete(w, container)
    except NotKnown:
        pass
    if method is not None:
        return w.call(method, container, value)
    if isinstance(container, (Dict, dict)):
        try:
            return concrete(w, value) in (
                w.read(container) if isinstance(container, Dict) else container
            )
        except NotKnown:
            return has_key(w, container, value)
    if isinstance(container, range) and isinstance(value, Dynamic):
        low, high = sorted((container.start, container.stop - container.step))
        after = arithmetic.compare(w, ">=", value, low)
        before = arithmetic.compare(w, "<=", value, high)
        offset = arithmetic.binary(w, "-", value, container.start)
        aligned = arithmetic.compare(w, "==", arithmetic.binary(w, "%", offset, container.step), 0)
        inside = arithmetic.binary(w, "&", after, before)
        return arithmetic.binary(w, "&", inside, aligned)
    found: Any = False
    for taken in items_or_maybe(w, container):
        part = taken.value if isinstance(taken, Maybe) else taken
        same = True if part is value else compare(w, "==", part, value)
        if isinstance(taken, Maybe):
            same = arithmetic.both(w, taken.taken, truth(w, same))
        if isinstance(same, Vector):
            raise w.error("vectors cannot be looked for with 'in': use all(v == w)")
        if found is False or same is True:
            found = same
        elif same is not False:
            found = arithmetic.binary(w, "|", found, same)
        if found is True:
            return True
    return found


def _array_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if not (is_array(a) or is_array(b)):
        return NotImplemented
    allowed = (Array, np.ndarray, List, Tuple, list, tuple, Matrix)
    numbers = [bool(scalar_kind(v) or vector_type(v)) or is_complex(v) for v in (a, b)]
    if not all(n or isinstance(v, allowed) for n, v in zip(numbers, (a, b), strict=True)):
        return NotImplemented
    if symbol == "@":
        return matmul(w, a, b)
    for array, other in ((a, b), (b, a)):
        if isinstance(array, np.ndarray) and is_narrow(array.dtype) and symbol != "/":
            _check_wide(w, symbol, array, other)
    return each(w, a, b, lambda x, y: binary(w, symbol, x, y))


def _check_wide(w: Evaluator, symbol: str, array: np.ndarray[Any, Any], other: Any) -> None:
    """An error for a known array of fewer than 32 bits beside dynamic integers."""
    parts = to_objects(w, other).reshape(-1)
    if any(isinstance(part, Dynamic) and part.type.kind != "float" for part in parts):
        raise w.error(integers.wraps(symbol, array.dtype))


def _matrix_binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    is_matrix = [isinstance(value, (Matrix, matrices.Matrix)) for value in (a, b)]
    if not any(is_matrix):
        return NotImplemented
    if symbol == "@":
        return matmul(w, a, b)
    cls: Any = class_of(a if is_matrix[0] else b)
    size = cls.SIZE
    rows = []
    for value in (a, b):
        own = matrix_rows(w, value)
        if own is None and not scalar_kind(value):
            return NotImplemented
        rows.append(own if own is not None else [value] * size)
    if len(rows[0]) != len(rows[1]):
        raise w.error(f"matrices of {len(rows[0])} and {len(rows[1])} rows do not fit")
    return make_matrix(w, cls, [binary(w, symbol, x, y) for x, y in zip(*rows, strict=True)])


def matmul(w: Evaluator, a: Any, b: Any) -> Any:
    """M @ N, M @ v and v @ M for matrices, arrays and vectors of small sizes."""
    left, right = matrix_rows(w, a), matrix_rows(w, b)
    if left is None and right is None:
        return inner_product(w, a, b)
    if right is None:
        like = a if isinstance(a, (Matrix, matrices.Matrix)) else b
        return vector_like(w, [inner_product(w, row, b) for row in left or ()], like)
    columns = [
        tuple_of(column) for column in zip(*[items_of(w, row) for row in right], strict=True)
    ]
    if left is None:
        like = b if isinstance(b, (Matrix, matrices.Matrix)) else a
        return vector_like(w, [inner_product(w, a, column) for column in columns], like)
    rows = [[inner_product(w, row, column) for column in columns] for row in left]
    for value in (a, b):
        cls = class_of(value)
        if issubclass(cls, matrices.Matrix) and len(rows) == len(rows[0]) == cls.SIZE:
            return make_matrix(w, cls, [Tuple(tuple(row)) for row in rows])
    return array_of([part for row in rows for part in row], (len(rows), len(rows[0])))


def inner_product(w: Evaluator, a: Any, b: Any) -> Any:
    """The sum of the products of two sequences of scalars."""
    sizes = [vector_type(value) for value in (a, b)]
    if any(isinstance(value, Vector) and not isinstance(w.read(value), tuple) for value in (a, b)):
        size = next(type.size for type in sizes if type)
        if all(operands.operand_components(w, value, size) is not None for value in (a, b)):
            return arithmetic.dot(w, a, b)
    first, second = items_of(w, a), items_of(w, b)
    if len(first) != len(second):
        raise ValueError(f"a product of {len(first)} and {len(second)} elements does not fit")
    products = [binary(w, "*", x, y) for x, y in zip(first, second, strict=True)]
    total = products[0]
    for part in products[1:]:
        total = binary(w, "+", total, part)
    return total


_BINARY_RULES: Final = (
    lambda w, symbol, a, b: lifted(lambda x, y: binary(w, symbol, x, y), (a, b)),
    arithmetic.binary,
    complex_numbers.binary,
    _matrix_binary,
    _array_binary,
    _user_binary,
)
