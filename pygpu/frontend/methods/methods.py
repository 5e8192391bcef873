"""Methods of lists, dicts, sets, arrays and vectors that the function has made itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.methods.array_methods import SCALAR
from pygpu.frontend.methods.dict_methods import DICT, SET
from pygpu.frontend.methods.list_methods import LIST, TUPLE
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import attributes, comparisons, datamodel, indexing, operators
from pygpu.frontend.protocols.sequences import iterate
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Complex
from pygpu.frontend.values.lazy import Cut, FixedCut, Masked, Span
from pygpu.frontend.values.objects import Array, Dict, Iterator, List, Names, Set, Vector
from pygpu.frontend.values.values import Dynamic, NotKnown, Slice, Tuple
from pygpu.frontend.values.views import AS_SETS, Values
from pygpu.frontend.walked import iterators

with later():
    from pygpu.frontend.collections import cuts
    from pygpu.frontend.methods import array_methods
    from pygpu.frontend.walked import complex_numbers as complex_functions


def method(w: Evaluator, value: Any, name: str) -> Builtin | None:
    """value.name, to be called; None if there is no such method."""
    if type(value) is Cut:
        if name in cuts.CHANGES:
            cuts.check_change(w, value, f".{name}()")
        value = w.call(list, value)
    table: dict[str, Callable[..., Any]] = next(
        (methods for kind, methods in _METHODS if isinstance(value, kind)), {}
    )
    function = table.get(name)
    if function is None and isinstance(value, Set) and name in _SET_ALONE:
        return Builtin(name, lambda *args: _natively(w, getattr(set, name), value, *args), value)
    if function is None and isinstance(value, _ARRAYS) and type(value) is not FixedCut:
        made = array_methods.array_method(w, value, name)
        if made is not None:
            return made
    if function is None and isinstance(value, Dynamic):
        made = array_methods.scalar_method(w, value, name)
        if made is not None:
            return made
    if isinstance(value, Builtin) and type(value.owner) is Names:
        if name == "cache_info":
            raise w.error(_CACHE_INFO)
        if name == "cache_clear":
            return Builtin(name, lambda: w.write(value.owner, {}))
    if function is None and datamodel.in_class(value, name):
        function = _SPECIAL.get(name)
    return None if function is None else Builtin(name, functools.partial(function, w, value), value)


_CACHE_INFO: Final = (
    "how many calls of this function were given equal arguments only the device knows: count them "
    "where it is called, in a variable"
)
_ARRAYS: Final = (Array, Vector, Masked)
_SET_ALONE: Final = frozenset(name for name in dir(set) if name[0] != "_")


def _natively(w: Evaluator, function: Any, *args: Any) -> Any:
    """A method that Python itself runs, on what is known throughout."""
    try:
        return w.native(function, args, {})
    except NotKnown:
        raise w.error(
            f"{function.__qualname__} has no meaning on dynamic values: use a list of numbers"
        ) from None


_ITERATOR: Final[dict[str, Callable[..., Any]]] = {
    "__next__": lambda w, it: w.call(next, it),
    "__iter__": lambda w, it: iterate(w, it),
}


# Methods that the language calls, of whatever builtin class has them.
_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "__len__": indexing.length,
    "__iter__": iterate,
    "__getitem__": indexing.item,
    "__setitem__": indexing.set_item,
    "__delitem__": indexing.delete_item,
    "__contains__": comparisons.contains,
    "__bool__": comparisons.truth,
    "__rdivmod__": lambda w, x, y: w.call(divmod, y, x),
    "__neg__": lambda w, x: operators.unary(w, "-", x),
    "__pos__": lambda w, x: operators.unary(w, "+", x),
    "__invert__": lambda w, x: operators.unary(w, "~", x),
    "__call__": lambda w, f, *args, **keywords: w.call(f, *args, **keywords),
    **{
        name: functools.partial(lambda function, w, x, *more: w.call(function, x, *more), function)
        for name, function in {
            "__abs__": abs,
            "__float__": float,
            "__int__": int,
            "__round__": round,
            "__floor__": math.floor,
            "__ceil__": math.ceil,
            "__trunc__": math.trunc,
            "__divmod__": divmod,
            "__hash__": hash,
            "__str__": str,
            "__repr__": repr,
            "__format__": format,
            "__reversed__": reversed,
        }.items()
    },
    **{
        name: functools.partial(
            lambda symbol, w, x, y: comparisons.compare(w, symbol, x, y), symbol
        )
        for symbol, name in comparisons.COMPARISONS.items()
    },
    **{
        names[0]: functools.partial(lambda s, w, x, y: operators.binary(w, s, x, y), symbol)
        for symbol, names in arithmetic.METHODS.items()
    },
    **{
        names[1]: functools.partial(lambda s, w, x, y: operators.binary(w, s, y, x), symbol)
        for symbol, names in arithmetic.METHODS.items()
    },
    "__pow__": lambda w, x, y, *modulus: w.call(pow, x, y, *modulus),
}


def _slice_indices(w: Evaluator, value: Slice, length: Any) -> Any:
    start, stop, step = (attributes.attribute(w, value, name) for name in ("start", "stop", "step"))
    return w.call(iterators.slice_indices, start, stop, 1 if step is None else step, length)


def _of_range(function: Any) -> Callable[..., Any]:
    return lambda w, span, x: w.call(function, *span.of, x)


def _is_disjoint(w: Evaluator, view: Any, xs: Any) -> Any:
    return SET["isdisjoint"](w, w.call(set, view), xs)


_METHODS: Final[tuple[tuple[type, dict[str, Callable[..., Any]]], ...]] = (
    *((cls, {"isdisjoint": _is_disjoint}) for cls in AS_SETS),
    (Values, {}),
    (List, LIST),
    (Dict, DICT),
    (Set, SET),
    (Iterator, _ITERATOR),
    (Tuple, TUPLE),
    (Dynamic, SCALAR),
    (Slice, {"indices": _slice_indices}),
    (
        Span,
        {
            "index": _of_range(iterators.index_in_range),
            "count": _of_range(iterators.count_in_range),
        },
    ),
    (Complex, {"conjugate": lambda w, z: w.call(complex_functions.conjugate, z)}),
)
