"""Methods of lists, dicts, sets, arrays and vectors that the function has made itself."""

from __future__ import annotations

import collections
import collections.abc
import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.protocols import (
    arithmetic,
    arrays,
    followers,
    indexing,
    objects,
    operators,
)
from pygpu.frontend.protocols.operands import vector_type
from pygpu.frontend.protocols.sequences import items_of, items_or_maybe, iterate
from pygpu.frontend.protocols.tables import by_key_unchecked, choose, has_key
from pygpu.frontend.values import views
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Complex
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Cut, Masked, lifted
from pygpu.frontend.values.objects import Array, Dict, Iterator, List, Set, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Builtin,
    Dynamic,
    Maybe,
    NotKnown,
    Slice,
    Tuple,
    describe,
    tuple_of,
)
from pygpu.frontend.walked import complex_numbers as complex_functions
from pygpu.frontend.walked import containers, special

# Methods by which something from outside would be changed.
MUTATING: Final[dict[type, frozenset[str]]] = {
    list: frozenset(["append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"]),
    dict: frozenset(["update", "pop", "popitem", "clear", "setdefault"]),
    set: frozenset(
        [
            "add",
            "update",
            "remove",
            "discard",
            "pop",
            "clear",
            "difference_update",
            "intersection_update",
            "symmetric_difference_update",
        ]
    ),
    np.ndarray: frozenset(["fill", "sort", "resize", "put", "itemset", "partition", "setfield"]),
    bytearray: frozenset(["append", "extend", "insert", "remove", "pop", "clear", "reverse"]),
    collections.deque: frozenset(
        ["append", "extend", "insert", "remove", "pop", "clear", "reverse", "rotate"]
        + ["appendleft", "extendleft", "popleft"]
    ),
    collections.OrderedDict: frozenset(["move_to_end"]),
    collections.Counter: frozenset(["subtract"]),
}


def mutates(owner: Any, name: str) -> bool:
    """Whether a method of that name changes its object."""
    return any(name in MUTATING.get(base, ()) for base in type(owner).__mro__)


def method(w: Evaluator, value: Any, name: str) -> Builtin | None:
    """value.name, to be called; None if there is no such method."""
    table: dict[str, Callable[..., Any]] = next(
        (methods for kind, methods in _METHODS if isinstance(value, kind)), {}
    )
    function = table.get(name)
    if function is None and isinstance(value, Set) and name in _SET_ALONE:
        return Builtin(name, lambda *args: _natively(w, getattr(set, name), value, *args), value)
    if function is None and isinstance(value, (Array, Vector, Masked)) and type(value) is not Cut:
        made = _array_method(w, value, name)
        if made is not None:
            return made
    if function is None and isinstance(value, Dynamic):
        made = _scalar_method(w, value, name)
        if made is not None:
            return made
    if function is None and objects.in_class(value, name):
        function = _SPECIAL.get(name)
    return None if function is None else Builtin(name, functools.partial(function, w, value), value)


_SET_ALONE: Final = frozenset(name for name in dir(set) if name[0] != "_")


def _natively(w: Evaluator, function: Any, *args: Any) -> Any:
    """A method that Python itself runs, on what is known throughout."""
    try:
        return w.native(function, args, {})
    except NotKnown:
        raise w.error(f"{function.__qualname__} has no meaning on dynamic values") from None


def known_index(w: Evaluator, index: Any, what: str) -> Any:
    try:
        return concrete(w, index)
    except NotKnown:
        raise w.error(f"{what} takes a known value, got {describe(index)}") from None


# ---------------------------------------------------------------- lists


def _append(w: Evaluator, xs: List, value: Any) -> None:
    some = lists.bounded(w, xs)
    if some is not None:
        w.write(xs, lists.appended(w, some, (value,)))
        return
    items = items_of(w, xs)
    w.steps += len(items) >> 9  # copying a long list takes its time: one that grows for ever ends
    w.write(xs, (*items, value))


def _extend(w: Evaluator, xs: List, more: Any) -> None:
    lists.hold(w, xs, lists.appended(w, lists.held(w, xs), items_or_maybe(w, more)))


def _insert(w: Evaluator, xs: List, index: Any, value: Any) -> None:
    if lists.is_moved(w, xs, index):
        lists.hold(w, xs, lists.inserted(w, lists.held(w, xs), index, value))
        return
    items = list(items_of(w, xs))
    items.insert(index, value)
    w.write(xs, tuple(items))


def _pop(w: Evaluator, xs: List, index: Any = -1) -> Any:
    if lists.is_moved(w, xs, index):
        value, left = lists.popped(w, lists.held(w, xs), index)
        lists.hold(w, xs, left)
        return value
    items = list(items_of(w, xs))
    value = items.pop(index)
    w.write(xs, tuple(items))
    return value


def _place(w: Evaluator, xs: Any, value: Any) -> Any:
    """The first place of a value among the items; a dynamic one if a comparison is."""
    tests = []
    for place, item in enumerate(items_of(w, xs)):
        same = item is value or operators.compare(w, "==", item, value)
        if isinstance(same, Abstract):
            tests.append((place, w.truth(same)))
        elif same:
            break
    else:
        if not tests:
            raise ValueError(f"{describe(value)} is not in list")
        if w.faults.checked or w.handled():
            found = functools.reduce(functools.partial(arithmetic.either, w), dict(tests).values())
            missing = arithmetic.negate(w, found)
            w.check(missing, ValueError, f"{describe(value)} is not in list")
        place = tests.pop()[0]  # where it is not in the list, some place
    for before, test in reversed(tests):
        place = choose(w, test, before, place)
    return place


def _remove(w: Evaluator, xs: List, value: Any) -> None:
    items = list(items_of(w, xs))
    place = _place(w, xs, value)
    if isinstance(place, Abstract):
        raise w.error(f"where {describe(value)} stands is not known at compile time")
    del items[place]
    w.write(xs, tuple(items))


def _sort(w: Evaluator, xs: List, *, key: Any = None, reverse: Any = False) -> None:
    ordered = w.call(sorted, xs, key=key, reverse=reverse)
    w.write(xs, w.read(ordered) if isinstance(ordered, List) else items_of(w, ordered))


def _count(w: Evaluator, xs: Any, value: Any) -> Any:
    total: Any = 0
    for item in items_or_maybe(w, xs):
        is_sure = not isinstance(item, Maybe)
        same = operators.compare(w, "==", item if is_sure else item.value, value)
        same = same if is_sure else arithmetic.both(w, item.taken, same)
        total = operators.binary(w, "+", total, same)
    return total


_LIST: Final[dict[str, Callable[..., Any]]] = {
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop,
    "remove": _remove,
    "index": _place,
    "count": _count,
    "sort": _sort,
    "reverse": lambda w, xs: w.write(xs, w.read(indexing.item(w, xs, slice(None, None, -1)))),
    "clear": lambda w, xs: w.write(xs, ()),
    "copy": lambda w, xs: List(w.read(xs)),
    "__len__": lambda w, xs: indexing.length(w, xs),
}


# ---------------------------------------------------------------- dicts and sets


def _get(w: Evaluator, d: Dict, key: Any, default: Any = None) -> Any:
    try:
        key = concrete(w, key)
    except NotKnown:
        if not w.read(d):
            return default
        return choose(w, has_key(w, d, key), by_key_unchecked(w, d, key), default)
    return indexing.item(w, d, key) if key in w.read(d) else default


def _dict_pop(w: Evaluator, d: Dict, key: Any, *default: Any) -> Any:
    contents, key = dict(w.read(d)), known_index(w, key, "a dict")
    value = contents.pop(key, *default)
    w.write(d, contents)
    return value


def _setdefault(w: Evaluator, d: Dict, key: Any, default: Any = None) -> Any:
    contents, key = w.read(d), known_index(w, key, "a dict")
    if key not in contents:
        w.write(d, {**contents, key: default})
        return default
    return contents[key]


def _update(w: Evaluator, d: Dict, more: Any = (), **named: Any) -> None:
    w.write(d, {**w.read(d), **pairs_of(w, more), **named})


def _popitem(w: Evaluator, d: Dict) -> Any:
    contents = dict(w.read(d))
    pair = contents.popitem()
    w.write(d, contents)
    return tuple_of(pair)


def pairs_of(w: Evaluator, value: Any) -> dict[Any, Any]:
    """What dict(value) holds: of a mapping its items, else of pairs of a key and a value."""
    if isinstance(value, Dict):
        return dict(w.read(value))
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    keys = objects.find_method(w, value, "keys")
    if keys is not None:
        known = [known_index(w, key, "a dict") for key in items_of(w, w.call(keys))]
        return {key: indexing.item(w, value, key) for key in known}
    pairs = [items_of(w, pair) for pair in items_of(w, value)]
    return {known_index(w, key, "a dict"): item for key, item in pairs}


_DICT: Final[dict[str, Callable[..., Any]]] = {
    "get": _get,
    "pop": _dict_pop,
    "setdefault": _setdefault,
    "update": _update,
    "popitem": _popitem,
    "keys": lambda w, d: followers.view(w, d, list),
    "values": lambda w, d: followers.view(w, d, lambda contents: list(contents.values())),
    "items": lambda w, d: followers.view(
        w, d, lambda contents: [tuple_of(pair) for pair in contents.items()]
    ),
    "copy": lambda w, d: Dict(dict(w.read(d))),
    "clear": lambda w, d: w.write(d, {}),
}


def _add(w: Evaluator, s: Set, value: Any) -> None:
    known = known_index(w, value, "a set")
    if known not in w.read(s):
        w.write(s, (*w.read(s), known))


def _add_all(w: Evaluator, s: Set, more: Any) -> None:
    for item in items_of(w, more):
        _add(w, s, item)


def _discard(w: Evaluator, s: Set, value: Any, must: bool = False) -> None:
    known = known_index(w, value, "a set")
    if must and known not in w.read(s):
        raise KeyError(known)
    w.write(s, tuple([item for item in w.read(s) if item != known]))


_SET: Final[dict[str, Callable[..., Any]]] = {
    "add": _add,
    "discard": _discard,
    "remove": lambda w, s, value: _discard(w, s, value, must=True),
    "clear": lambda w, s: w.write(s, ()),
    "copy": lambda w, s: Set(w.read(s)),
    "update": _add_all,
}


# ---------------------------------------------------------------- arrays and vectors


def _astype(w: Evaluator, a: Any, dtype: Any, **more: Any) -> Any:
    array = w.read(a)
    if array.dtype != object:
        return Array(array.astype(dtype))
    if np.dtype(dtype).kind == "c":
        return arrays.array_of([w.call(complex, x) for x in array.reshape(-1)], array.shape)
    kind = arrays.kind_of_dtype(w, dtype)
    flat = [arrays.cast(w, part, kind) for part in array.reshape(-1)]
    return arrays.array_of(flat, array.shape)


_SHAPING: Final = frozenset(
    ["reshape", "ravel", "flatten", "transpose", "copy", "swapaxes", "squeeze", "repeat"]
)
_NUMPY_METHODS: Final = frozenset(
    "sum mean min max prod dot clip round any all argmin argmax "
    "argsort conj conjugate cumprod cumsum diagonal trace std var searchsorted take item".split()
)


def _array_method(w: Evaluator, value: Any, name: str) -> Builtin | None:
    if isinstance(value, Array) and name in _SHAPING:

        def shape(*args: Any, **keywords: Any) -> Any:
            args = tuple([known_index(w, arg, f"{name}()") for arg in args])
            keywords = {key: known_index(w, arg, f"{name}()") for key, arg in keywords.items()}
            return views.viewed(w, value, lambda a: getattr(a, name)(*args, **keywords))

        return Builtin(name, shape)
    if isinstance(value, Array) and name == "tolist":
        return Builtin(name, lambda: _nested(w.read(value)))
    if isinstance(value, Array) and name == "astype":
        return Builtin(name, lambda dtype, **more: _astype(w, value, dtype, **more))
    if isinstance(value, Masked) and name == "astype":
        return Builtin(
            name,
            lambda dtype, **more: lifted(
                lambda item: arrays.cast(w, item, arrays.kind_of_dtype(w, dtype)), (value,)
            ),
        )
    if isinstance(value, Array) and name == "sort":
        return Builtin(name, lambda *axis, **more: _sort_array(w, value, *axis, **more))
    if isinstance(value, Array) and name == "fill":
        return Builtin(name, lambda new: indexing.set_item(w, value, Ellipsis, new))
    if name in _NUMPY_METHODS and isinstance(value, (Array, Masked)):
        function = getattr(np, "take" if name == "item" else name)
        return Builtin(name, lambda *args, **keywords: w.call(function, value, *args, **keywords))
    return None


def _sort_array(w: Evaluator, a: Array, *axis: Any, **more: Any) -> None:
    ordered = w.call(np.sort, Array(w.read(a)), *axis, **more)
    w.write(a, w.read(ordered))


def _scalar_method(w: Evaluator, value: Dynamic, name: str) -> Builtin | None:
    """A method that NumPy's scalars have, as arrays of no dimensions."""
    if name in ("item", "tolist", "copy"):
        return Builtin(name, lambda *index: value)
    if name == "astype":
        return Builtin(
            name, lambda dtype, **more: arrays.cast(w, value, arrays.kind_of_dtype(w, dtype))
        )
    if name in ("reshape", "ravel", "flatten"):
        made = Array(arrays.to_objects(w, value))
        return _array_method(w, made, name)
    if name in _OF_SCALARS:
        function = getattr(np, name)
        return Builtin(name, lambda *args, **keywords: w.call(function, value, *args, **keywords))
    return None


_OF_SCALARS: Final = frozenset("sum mean min max prod dot clip round any all std var".split())


def _nested(array: np.ndarray[Any, Any]) -> Any:
    if array.ndim == 0:
        return array[()]
    parts = array.tolist() if array.ndim == 1 else [_nested(part) for part in array]
    return List(tuple(parts))


_ITERATOR: Final[dict[str, Callable[..., Any]]] = {
    "__next__": lambda w, it: w.call(next, it),
    "__iter__": lambda w, it: iterate(w, it),
}
_TUPLE: Final[dict[str, Callable[..., Any]]] = {"index": _place, "count": _count}


def _is_integer(w: Evaluator, x: Dynamic) -> Any:
    """float.is_integer; ints and bools always are."""
    return arithmetic.compare(w, "==", arithmetic.elementwise(w, "floor", (x,), "float"), x)


_SCALAR: Final[dict[str, Callable[..., Any]]] = {
    "is_integer": _is_integer,
    "bit_length": lambda w, x: w.call(special.bit_length, x),
    "bit_count": lambda w, x: w.call(special.bit_count, x),
    "conjugate": lambda w, x: x,
}

# Methods that the language calls, of whatever builtin class has them.
_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "__len__": indexing.length,
    "__iter__": iterate,
    "__getitem__": indexing.item,
    "__contains__": operators.contains,
    "__bool__": operators.truth,
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
        }.items()
    },
    **{
        name: functools.partial(lambda symbol, w, x, y: operators.compare(w, symbol, x, y), symbol)
        for symbol, name in operators.COMPARISONS.items()
    },
    **{
        names[0]: functools.partial(lambda s, w, x, y: operators.binary(w, s, x, y), symbol)
        for symbol, names in arithmetic.METHODS.items()
    },
    **{
        names[1]: functools.partial(lambda s, w, x, y: operators.binary(w, s, y, x), symbol)
        for symbol, names in arithmetic.METHODS.items()
    },
}


def _slice_indices(w: Evaluator, value: Slice, length: Any) -> Any:
    start, stop, step = (objects.attribute(w, value, name) for name in ("start", "stop", "step"))
    return w.call(containers.slice_indices, start, stop, 1 if step is None else step, length)


_METHODS: Final[tuple[tuple[type, dict[str, Callable[..., Any]]], ...]] = (
    (List, _LIST),
    (Dict, _DICT),
    (Set, _SET),
    (Iterator, _ITERATOR),
    (Tuple, _TUPLE),
    (Dynamic, _SCALAR),
    (Slice, {"indices": _slice_indices}),
    (Complex, {"conjugate": lambda w, z: w.call(complex_functions.conjugate, z)}),
)

__all__ = ["MUTATING", "method", "vector_type"]
