"""NumPy's own code on arrays whose elements are not known.

What only moves and adds elements, and has no rule of its own, runs in NumPy itself, on arrays of
objects. NumPy applies Python's operators to the elements: so each that is not known goes there as
an `Element`, whose operators emit, and comes back as the value that it stands for.

    on_objects(w, np.cumsum, (array,), {})        # emits an addition for each but the first
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Final

import numpy as np

from pygpu.core.errors import CompileError
from pygpu.frontend.calls import trials
from pygpu.frontend.numbers import flags
from pygpu.frontend.numbers.operands import components, make_vector, vector_type
from pygpu.frontend.protocols import arrays, datamodel
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values import views
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_complex, is_narrow, is_numpys, narrow_dtype, scalar_kind
from pygpu.frontend.values.lazy import Indexed, Row
from pygpu.frontend.values.objects import Array, Dict, Instance, Iterator, List, Matrix, Set, Vector
from pygpu.frontend.values.values import Abstract, Dynamic, Narrow, Tuple, describe, tuple_of
from pygpu.language import vectors
from pygpu.ssa import Value
from pygpu.types import vector


def _operator(symbol: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A binary operator's method of the left operand, and of the right one."""

    def method(self: Element, other: Any) -> Any:
        return self.of(self.w.binary(symbol, *map(_counted, (self, other))))

    def reflected(self: Element, other: Any) -> Any:
        return self.of(self.w.binary(symbol, *map(_counted, (other, self))))

    return method, reflected


class Element:
    """A value among the elements of an array of objects."""

    __slots__ = ("value", "w")

    def __init__(self, w: Evaluator | trials.Numbers, value: Abstract) -> None:
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


def _counted(part: Any) -> Any:
    """What an operator is given: bools count, as in the trials."""
    return flags.counted(_value(part))


def _value(part: Any) -> Any:
    return part.value if isinstance(part, Element) else part


def on_objects(w: Evaluator, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """Run a function of NumPy on arrays of objects, if trials with numbers agree (trials.py)."""
    if function in (np.cumsum, np.cumprod) and args and "dtype" not in keywords:
        args = (_widened(w, args[0]), *args[1:])
    given = _listed(w, args), _listed(w, dict(keywords))
    if trials.is_untried(function):
        raise _refused(w, function)
    numbers = trials.Numbers()

    def tried(draw: trials.Draw) -> Any:
        def element(value: Any) -> Element:
            return Element(numbers, trials.Tried(draw.number(value)))

        return _closed(w, _run(w, function, given, element)[0])

    try:
        form = trials.form_of_result(w, function, given, tried)
        elements: set[Value | None] = set()

        def emitting(value: Any) -> Element:
            elements.add(value.value if isinstance(value, Dynamic) else None)
            return Element(w, value)

        result, opened = _run(w, function, given, emitting)
        return _formed(w, result, form, opened, elements)
    except (TypeError, AttributeError, trials.Disagreement) as error:
        raise _refused(w, function) from error


def _widened(w: Evaluator, value: Any) -> Any:
    """An array whose integers of fewer bits are ints, as NumPy adds them up."""
    found = arrays.to_objects(w, value)
    parts = [arrays.cast(w, x, "int") if narrow_dtype(x) else x for x in found.reshape(-1)]
    return arrays.array_of(parts, found.shape)


def _refused(w: Evaluator, function: Any) -> Exception:
    return w.error(
        f"numpy's {getattr(function, '__name__', function)} has no meaning on dynamic values: "
        "call it with known values, or write out what it does"
    )


def _listed(w: Evaluator, value: Any) -> Any:
    """Arguments in which what can be read once alone is a list, rows of tables are arrays, and
    vectors are of components that are the same values each time they are asked for: trials know
    values by them."""
    if type(value) is dict:
        return {name: _listed(w, part) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_listed(w, part) for part in value])
    if isinstance(value, Row):
        return arrays.opened(w, value)
    if isinstance(value, Vector):
        parts = components(w, value)
        if any(map(is_numpys, parts)):  # a short row of a table
            return arrays.array_of(parts, (len(parts),))
        return Vector(value.cls, value.type, parts)
    if isinstance(value, Matrix):
        return Matrix(value.cls, _listed(w, w.read(value)))
    if isinstance(value, Tuple):
        return tuple_of(_listed(w, items_of(w, value)))
    return List(_listed(w, items_of(w, value))) if isinstance(value, (Iterator, List)) else value


def _run(
    w: Evaluator, function: Any, given: Any, element: Callable[[Any], Element]
) -> tuple[Any, list[tuple[Array, Any]]]:
    """What a function gives on arrays of objects, what is not known being elements there; and each
    array of ours with the array of objects that was given for it."""
    args, keywords = given
    opened: list[tuple[Array, Any]] = []
    taken = [_opened(w, arg, element, opened) for arg in args]
    named = {name: _opened(w, value, element, opened) for name, value in keywords.items()}
    return function(*taken, **named), opened


def _opened(w: Evaluator, value: Any, element: Any, opened: list[tuple[Array, Any]]) -> Any:
    """An argument as NumPy can take it: arrays of objects, lists of them, scalars."""
    if isinstance(value, (List, Tuple, tuple, list)):
        if not isinstance(value, Abstract) and not any(
            isinstance(part, Abstract) for part in value
        ):
            return value
        items = items_of(w, value)
        if all(scalar_kind(item) or is_complex(item) for item in items):
            return _elements(w, tuple_of(items), element)
        return [_opened(w, item, element, opened) for item in items]
    if isinstance(value, Array):
        made = _elements(w, value, element)
        opened.append((value, made))
        return made
    if vector_type(value) or isinstance(value, Matrix):
        return _elements(w, value, element)
    if isinstance(value, (Dict, Set, Indexed)):
        raise w.error(f"{describe(value)} is no array")
    is_number = scalar_kind(value) or is_complex(value)
    return element(value) if is_number and isinstance(value, Abstract) else value


def _elements(w: Evaluator, value: Any, element: Any) -> Any:
    """A value as an array of objects that NumPy can work on."""
    array = arrays.to_objects(w, value)
    flat = array.reshape(-1)
    for place, part in enumerate(flat):
        if isinstance(part, Abstract):
            flat[place] = element(part)
    return flat.reshape(array.shape)


def _closed(w: Evaluator, result: Any) -> Any:
    """What NumPy gave, with values in place of elements; a known array where all are known."""
    if isinstance(result, (tuple, list)):
        parts = tuple([_closed(w, part) for part in result])
        return tuple_of(parts) if isinstance(result, tuple) else List(parts)
    if not isinstance(result, np.ndarray):
        return _value(result)
    if result.dtype != object:
        return Array(result)
    made = np.empty(result.shape, object)
    made.reshape(-1)[:] = [_value(part) for part in result.reshape(-1)]
    made = arrays.of_one_kind(w, made)
    return arrays.array_of(made.reshape(-1), made.shape)


def _formed(
    w: Evaluator,
    result: Any,
    form: trials.Form,
    opened: list[tuple[Array, Any]],
    given: AbstractSet[Value | None],
) -> Any:
    """What NumPy gave as of numbers: of their dtype, and views where NumPy makes views. `given` are
    the values of the elements that NumPy was given."""
    if form[0] == "sequence":
        pairs = zip(result, form[1:], strict=True)
        parts = tuple([_formed(w, part, its, opened, given) for part, its in pairs])
        return tuple_of(parts) if isinstance(result, tuple) else List(parts)
    if form[0] == "known":
        return result
    if form[0] == "ours":
        return _of_class(w, form[1], result)
    _, dtype, is_array, is_view = form
    if is_view and isinstance(result, np.ndarray):
        return _view(result, opened)
    held = np.asarray(result, object)
    flat = [_of_dtype(w, _value(part), dtype, given) for part in held.reshape(-1)]
    if held.ndim == 0:
        return arrays.alone(flat[0]) if is_array else flat[0]
    return arrays.array_of(flat, held.shape)


def _of_class(w: Evaluator, cls: Any, result: Any) -> Any:
    """A vector or matrix of a class, of what NumPy gave in an array."""
    if not issubclass(cls, vectors.Vector):
        row = vectors.CLASSES[vector("float", cls.SIZE)]
        return Matrix(cls, tuple([_of_class(w, row, parts) for parts in result]))
    parts = [arrays.cast(w, _value(part), cls.TYPE.kind) for part in result]
    return make_vector(w, cls.TYPE, tuple(parts))


def _of_dtype(
    w: Evaluator, value: Any, dtype: np.dtype[Any], given: AbstractSet[Value | None]
) -> Any:
    if not isinstance(value, Abstract):
        return dtype.type(value)
    if isinstance(value, Narrow) and value.value in given and not is_narrow(dtype):
        return arrays.of_dtype(w, value, dtype)  # it was put beside wider ones
    if is_narrow(dtype) != isinstance(value, Narrow):
        raise trials.Disagreement
    if dtype.kind in "bif" and isinstance(value, Dynamic) and not isinstance(value, Narrow):
        kind = arrays.kind_of_dtype(w, dtype)
        is_uint = (kind, value.type.kind) == ("int", "uint")
        return value if is_uint else arrays.of_dtype(w, value, dtype)
    if dtype.kind == "c" and not is_complex(value):
        return w.call(complex, value)
    return value


def _view(result: np.ndarray[Any, Any], opened: list[tuple[Array, Any]]) -> Array:
    """The view of an array of ours that the result is of the array of objects."""
    for source, objects in opened:
        if np.may_share_memory(result, objects):
            places = np.arange(objects.size)  # items of 8 bytes, as pointers to objects are
            start = _address(result) - _address(objects)
            shown = np.ndarray(result.shape, places.dtype, places.data, start, result.strides)
            return views.showing(source, shown.copy())
    raise trials.Disagreement


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


_OF_ROWS: Final = (abs, operator.abs, np.round, np.around)


def by_parts(w: Evaluator, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """What a function of one number gives of a matrix, row by row, and a ufunc of an object, whose
    method of that name NumPy calls; NotImplemented of others."""
    value, *more = args
    is_of_one = isinstance(function, np.ufunc) and function.nin == 1 and not more
    if isinstance(value, Matrix) and (is_of_one or any(function is each for each in _OF_ROWS)):
        rows = [w.call(function, row, *more, **keywords) for row in w.read(value)]
        kinds = {getattr(vector_type(row), "kind", None) for row in rows}
        return arrays.make_matrix(w, value.cls, rows) if kinds == {"float"} else NotImplemented
    if not isinstance(value, Instance) or not is_of_one or keywords:
        return NotImplemented
    own = [datamodel.find_method(w, value, name) for name in ("__array_ufunc__", "__array__")]
    method = datamodel.find_method(w, value, function.__name__)
    return NotImplemented if method is None or any(own) else w.call(method)
