"""Methods of arrays, and of numbers, which have many of theirs as NumPy's do."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import arrays
from pygpu.frontend.values import views
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_complex, may_be_numpys, scalar_kind
from pygpu.frontend.values.lazy import Masked, lifted
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.values import Dynamic, Numpys, describe, tuple_of
from pygpu.language.scalars import UInt
from pygpu.types import UINT

with later():
    from pygpu.frontend.methods import dict_methods
    from pygpu.frontend.protocols import indexing
    from pygpu.frontend.walked import special


def _astype(w: Evaluator, a: Any, dtype: Any, **more: Any) -> Any:
    array = w.read(a)
    if array.dtype != object:
        return Array(array.astype(dtype))
    if more.get("copy", True) is False and arrays.dtype_of(w, array) == np.dtype(dtype):
        return a
    if np.dtype(dtype).kind == "c":
        return arrays.array_of([w.call(complex, x) for x in array.reshape(-1)], array.shape)
    flat = [arrays.of_dtype(w, part, dtype) for part in array.reshape(-1)]
    made = arrays.array_of(flat, array.shape)
    return made if array.ndim else Array(arrays.to_objects(w, made))


_SHAPING: Final = frozenset(
    ["reshape", "ravel", "flatten", "transpose", "copy", "swapaxes", "squeeze", "repeat"]
)


_NUMPY_METHODS: Final = frozenset(
    "sum mean min max prod dot clip round any all argmin argmax "
    "argsort cumprod cumsum diagonal trace std var searchsorted take nonzero "
    "ravel flatten copy squeeze tolist".split()
)
_NAMED: Final = {"flatten": np.ravel, "tolist": list}


def array_method(w: Evaluator, value: Any, name: str) -> Builtin | None:
    if isinstance(value, Array) and name in _SHAPING:

        def shape(*args: Any, **keywords: Any) -> Any:
            args = tuple([dict_methods.known_index(w, arg, f"{name}()") for arg in args])
            keywords = {
                key: dict_methods.known_index(w, arg, f"{name}()") for key, arg in keywords.items()
            }
            return views.viewed(w, value, lambda a: getattr(a, name)(*args, **keywords))

        return Builtin(name, shape)
    if isinstance(value, (Array, Masked)) and name == "item":
        return Builtin(name, functools.partial(_item, w, value))
    if isinstance(value, Array) and name == "tolist":
        return Builtin(name, lambda: _nested(w, w.read(value)))
    if isinstance(value, Array) and name == "astype":
        return Builtin(name, lambda dtype, **more: _astype(w, value, dtype, **more))
    if isinstance(value, Masked) and name == "astype":
        return Builtin(
            name,
            lambda dtype, **more: lifted(lambda item: arrays.of_dtype(w, item, dtype), (value,)),
        )
    if isinstance(value, Array) and name in ("conj", "conjugate"):
        # The array itself where it is of real numbers, unlike np.conjugate.
        is_real = not any(map(is_complex, w.read(value).flat))
        return Builtin(name, lambda: value if is_real else w.call(np.conjugate, value))
    if isinstance(value, Array) and name == "view":
        return Builtin(name, functools.partial(_array_view, w, value))
    if isinstance(value, Array) and name == "sort":
        return Builtin(name, lambda *axis, **more: _sort_array(w, value, *axis, **more), value)
    if isinstance(value, Array) and name == "fill":
        return Builtin(name, lambda new: indexing.set_item(w, value, Ellipsis, new), value)
    if name in _NUMPY_METHODS and isinstance(value, (Array, Masked)):
        function = _NAMED.get(name) or getattr(np, name)
        return Builtin(name, lambda *args, **keywords: w.call(function, value, *args, **keywords))
    return None


def _array_view(w: Evaluator, a: Array, dtype: Any = None) -> Any:
    """The bits of all elements as numbers of another dtype: they can only be read."""
    if dtype is None:
        return views.viewed(w, a, lambda array: array.view())
    array = w.read(a)
    if array.dtype != object:
        return Array(array.view(dtype), _BITS)
    kind = arrays.kind_of(array)
    held = [arrays.cast(w, element, kind) for element in array.flat]
    words = [each for each in held if isinstance(each, Dynamic) and origins.may_be_word(w, each)]
    some = words[0] if words else held[0]
    _check_word(w, some, np.dtype(dtype))
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [_bits_as(w, element, np.dtype(dtype)) for element in held]
    return Array(made, _BITS)


_BITS: Final = "shows the bits of another array"


def _view(w: Evaluator, number: Any, dtype: Any = None) -> Any:
    """The bits of a number as another one's: both have 32."""
    if dtype is None:
        return number
    _check_word(w, number, np.dtype(dtype))
    return _bits_as(w, number, np.dtype(dtype))


def _check_word(w: Evaluator, number: Any, dtype: np.dtype[Any]) -> None:
    is_word = isinstance(number, Dynamic) and origins.may_be_word(w, number)
    if not is_word or dtype.itemsize != 4 or dtype.kind not in "iuf" or not dtype.isnative:
        raise w.error(
            f"{describe(number)}, which may have other than 32 bits, cannot be seen as {dtype}: "
            "np.float32(x).view(np.int32) and np.int32(x).view(np.float32) can"
        )


def _bits_as(w: Evaluator, number: Any, dtype: np.dtype[Any]) -> Any:
    """The bits of a number of 32 bits as one of a dtype."""
    kind, wanted = scalar_kind(number), arrays.kind_of_dtype(w, dtype)
    assert kind is not None
    if not isinstance(number, Dynamic):
        bits = NUMPY_TYPE[kind](number).view(dtype)
        return UInt(bits) if wanted == "uint" else bits.item()
    if kind == "float" != wanted:
        number, kind = arithmetic.elementwise(w, "float_bits", (number,), "float"), "int"
    if wanted == "float" != kind:
        made = arithmetic.elementwise(w, "bits_float", (number,), "int")
    else:
        made = number if wanted == kind else arithmetic.elementwise(w, None, (number,), wanted)
    return origins.as_word(w, made if wanted == "uint" else Numpys(made.value), dtype)


def _item(w: Evaluator, a: Any, *at: Any) -> Any:
    """The element at an index for each axis, or at one of all elements: the only one without."""
    if at[1:]:
        return arrays.pythons(w, w.item(a, tuple_of(at)))
    if not at and w.call(np.size, a) != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return arrays.pythons(w, w.call(np.take, a, *(at or (0,))))


def _sort_array(w: Evaluator, a: Array, *axis: Any, **more: Any) -> None:
    ordered = w.call(np.sort, Array(w.read(a)), *axis, **more)
    w.write(a, w.read(ordered))


def scalar_method(w: Evaluator, value: Dynamic, name: str) -> Builtin | None:
    """A method that NumPy's scalars have, as arrays of no dimensions."""
    if name in ("item", "tolist"):
        return Builtin(name, lambda *index: arrays.pythons(w, value))
    if name == "copy":
        return Builtin(name, lambda: value)
    if name == "astype":
        return Builtin(name, lambda dtype, **more: arrays.of_dtype(w, value, dtype))
    if name == "view" and (may_be_numpys(value) or value.type is UINT):
        return Builtin(name, functools.partial(_view, w, value))
    if name in ("reshape", "ravel", "flatten", "squeeze"):
        made = Array(arrays.to_objects(w, value))
        return array_method(w, made, name)
    if name in _OF_SCALARS:
        function = getattr(np, name)
        return Builtin(name, lambda *args, **keywords: w.call(function, value, *args, **keywords))
    return None


_OF_SCALARS: Final = frozenset("sum mean min max prod dot clip round any all std var".split())


def _nested(w: Evaluator, array: np.ndarray[Any, Any]) -> Any:
    if array.ndim == 0:
        return arrays.pythons(w, array[()])
    return List(tuple([_nested(w, np.asarray(part)) for part in array]))


SCALAR: Final[dict[str, Callable[..., Any]]] = {
    "is_integer": lambda w, x: arithmetic.both(
        w,
        arithmetic.compare(w, "==", w.call(np.floor, x), x),
        arithmetic.compare(w, "<", w.call(abs, x), math.inf),
    ),
    "bit_length": lambda w, x: origins.as_class(w, w.call(special.bit_length, x), int),
    "to_bytes": lambda w, x, *args, **named: w.call(special.to_bytes, x, *args, **named),
    "bit_count": lambda w, x: origins.as_class(w, w.call(special.bit_count, x), int),
    "conjugate": lambda w, x: x,
}
