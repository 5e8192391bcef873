"""NumPy's own code on arrays whose elements are not known.

What only moves and adds elements, and has no rule of its own, runs in NumPy itself, on arrays of
objects. NumPy applies Python's operators to the elements: so each that is not known goes there as
an `Element`, whose operators emit, and comes back as the value that it stands for.

    on_objects(w, np.cumsum, (array,), {})        # emits an addition for each but the first
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu.core.errors import CompileError
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import arrays
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.lazy import Indexed
from pygpu.frontend.values.objects import Array, Dict, Iterator, List, Set
from pygpu.frontend.values.values import Abstract, Tuple, describe, tuple_of


def _operator(symbol: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A binary operator's method of the left operand, and of the right one."""

    def method(self: Element, other: Any) -> Any:
        return self.of(self.w.binary(symbol, self.value, _value(other)))

    def reflected(self: Element, other: Any) -> Any:
        return self.of(self.w.binary(symbol, _value(other), self.value))

    return method, reflected


class Element:
    """A value among the elements of an array of objects."""

    __slots__ = ("value", "w")

    def __init__(self, w: Evaluator, value: Abstract) -> None:
        self.w = w
        self.value = value

    def of(self, value: Any) -> Any:
        return Element(self.w, value) if isinstance(value, Abstract) else value

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __floordiv__, __rfloordiv__ = _operator("//")
    __mod__, __rmod__ = _operator("%")
    __pow__, __rpow__ = _operator("**")
    __matmul__, __rmatmul__ = _operator("@")
    __and__, __rand__ = _operator("&")
    __or__, __ror__ = _operator("|")
    __xor__, __rxor__ = _operator("^")
    __lshift__, __rlshift__ = _operator("<<")
    __rshift__, __rrshift__ = _operator(">>")

    def __neg__(self) -> Any:
        return self.of(self.w.unary("-", self.value))

    def __abs__(self) -> Any:
        return self.of(self.w.call(abs, self.value))

    def __eq__(self, other: object) -> bool:
        raise self.w.error("dynamic values cannot be compared by NumPy's own code here")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise CompileError(f"the truth of {describe(self.value)} is not known at compile time")


def _value(part: Any) -> Any:
    return part.value if isinstance(part, Element) else part


def on_objects(w: Evaluator, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """Run a function of NumPy on arrays of objects."""
    opened = [_opened(w, arg) for arg in args]
    named = {name: _opened(w, value) for name, value in keywords.items()}
    try:
        result = function(*opened, **named)
    except (TypeError, AttributeError) as error:
        raise w.error(
            f"numpy's {getattr(function, '__name__', function)} has no meaning on dynamic values: "
            "call it with known values, or write out what it does"
        ) from error
    if isinstance(result, (tuple, list)):
        parts = tuple([_closed(part) for part in result])
        return tuple_of(parts) if isinstance(result, tuple) else List(parts)
    return _closed(result)


def _opened(w: Evaluator, value: Any) -> Any:
    """An argument as NumPy can take it: arrays of objects, lists of them, scalars."""
    if isinstance(value, (List, Tuple, tuple, list, Iterator)):
        if not isinstance(value, Abstract) and not any(
            isinstance(part, Abstract) for part in value
        ):
            return value
        items = items_of(w, value)
        if all(scalar_kind(item) or is_complex(item) for item in items):
            return _elements(w, tuple_of(items))
        return [_elements(w, item) for item in items]
    if isinstance(value, Array) or vector_type(value):
        return _elements(w, value)
    if isinstance(value, (Dict, Set, Indexed)):
        raise w.error(f"{describe(value)} is no array")
    is_number = scalar_kind(value) or is_complex(value)
    return Element(w, value) if is_number and isinstance(value, Abstract) else value


def _elements(w: Evaluator, value: Any) -> Any:
    """A value as an array of objects that NumPy can work on."""
    array = arrays.to_objects(w, value)
    flat = array.reshape(-1)
    for place, part in enumerate(flat):
        if isinstance(part, Abstract):
            flat[place] = Element(w, part)
    return flat.reshape(array.shape)


def _closed(result: Any) -> Any:
    """What NumPy gave, with values in place of elements; a known array where all are known."""
    if not isinstance(result, np.ndarray):
        return _value(result)
    flat = [_value(part) for part in result.reshape(-1)]
    if result.ndim == 0:
        return flat[0]
    if result.dtype != object:
        return Array(result)
    return arrays.array_of(flat, result.shape)


__all__ = ["on_objects"]
