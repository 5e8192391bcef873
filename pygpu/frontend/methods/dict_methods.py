"""Methods of dicts and sets."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.protocols import datamodel, followers
from pygpu.frontend.protocols.sequences import items_of, items_or_maybe
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.known import key_of
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.objects import Dict, Set
from pygpu.frontend.values.values import Maybe, NotKnown, describe, tuple_of
from pygpu.frontend.values.views import Items, Keys, Values, View

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import derived, members
    from pygpu.frontend.numbers import arithmetic
    from pygpu.frontend.protocols import comparisons, indexing, lookups, operators


def known_index(w: Evaluator, index: Any, what: str) -> Any:
    try:
        return key_of(w, index)
    except NotKnown:
        raise w.error(f"{what} takes a known value, got {describe(index)}") from None


def _is_moved(w: Evaluator, value: Dict | Set) -> bool:
    """Whether which members there are only the device knows."""
    return isinstance(w.peek(value), Bounded)


def _get(w: Evaluator, d: Dict, key: Any, default: Any = None) -> Any:
    try:
        key = key_of(w, key)
    except NotKnown:
        pass
    else:
        if not _is_moved(w, d):
            return indexing.item(w, d, key) if key in w.read(d) else default
    if members.is_present(w, d, key):
        return lookups.by_key_unchecked(w, d, key)
    if _is_moved(w, d):
        return members.value_or(w, d, key, default)
    if not w.read(d):
        return default
    is_there = lookups.has_key(w, d, key)
    if is_there is False:
        return default
    return lookups.choose(w, is_there, lookups.by_key_unchecked(w, d, key), default)


def _dict_pop(w: Evaluator, d: Dict, key: Any, *default: Any) -> Any:
    try:
        key = key_of(w, key)
    except NotKnown:
        pass
    else:
        if not _is_moved(w, d):
            contents = dict(w.read(d))
            value = contents.pop(key, *default)
            w.write(d, contents)
            return value
    value = _get(w, d, key, *default) if default else indexing.item(w, d, key)
    members.take(w, d, key)
    return value


def _setdefault(w: Evaluator, d: Dict, key: Any, default: Any = None) -> Any:
    try:
        key = key_of(w, key)
    except NotKnown:
        return members.value_or_put(w, d, key, default)
    if _is_moved(w, d):
        return members.value_or_put(w, d, key, default)
    contents = w.read(d)
    if key not in contents:
        w.write(d, {**contents, key: default})
    return contents.get(key, default)


def _update(w: Evaluator, d: Dict, more: Any = (), **named: Any) -> None:
    more = derived.held_dict(w, more)
    held = w.peek(more) if type(more) is Dict else None
    if isinstance(held, Bounded):
        for pair in lists.maybes(w, held):
            is_sure = not isinstance(pair, Maybe)
            key, value = items_of(w, pair if is_sure else pair.value)
            members.put(w, d, key, value, when=True if is_sure else pair.taken)
    else:
        put_all(w, d, _entries(w, more))
    put_all(w, d, list(named.items()))


def put_all(w: Evaluator, d: Dict, pairs: list[tuple[Any, Any]]) -> None:
    """d[key] = value, of pairs of the two: at once, where all keys are known."""
    if not pairs:
        return
    try:
        new = {key_of(w, key): value for key, value in pairs}
    except NotKnown:
        new = None
    if new is not None and not _is_moved(w, d):
        w.write(d, {**w.read(d), **new})
        return
    for key, value in pairs:
        indexing.set_item(w, d, key, value)


def _popitem(w: Evaluator, d: Dict) -> Any:
    if _is_moved(w, d):
        return members.last(w, d)
    contents = dict(w.read(d))
    pair = contents.popitem()
    w.write(d, contents)
    return tuple_of(pair)


def pairs_of(w: Evaluator, value: Any) -> dict[Any, Any]:
    """What dict(value) holds, whose keys are known: of a mapping its items, else of pairs."""
    return {known_index(w, key, "a dict"): item for key, item in _entries(w, value)}


def _entries(w: Evaluator, value: Any) -> list[tuple[Any, Any]]:
    """Keys and values of what dict() and update() are given: a mapping, or pairs of the two."""
    value = derived.held_dict(w, value)
    if isinstance(value, Dict):
        return list(members.known_entries(w, value).items())
    if isinstance(value, collections.abc.Mapping):
        return list(value.items())
    keys = datamodel.find_method(w, value, "keys")
    if keys is not None:
        return [(key, indexing.item(w, value, key)) for key in items_of(w, w.call(keys))]
    pairs = []
    for place, pair in enumerate(items_of(w, value)):
        two = items_of(w, pair)
        if len(two) != 2:
            raise ValueError(
                f"dictionary update sequence element #{place} has length {len(two)}; 2 is required"
            )
        pairs.append((two[0], two[1]))
    return pairs


def _view(w: Evaluator, d: Dict, which: int | None, items: Any, kind: type[View]) -> View:
    held = w.peek(d)
    if not isinstance(held, Bounded):
        return followers.view(w, d, items, kind)
    return w.heap.follow(kind(members.columns(held, which)), {d})  # type: ignore[no-any-return]


def _copy(w: Evaluator, d: Dict) -> Dict:
    contents = w.read(d)
    return Dict(dict(contents) if isinstance(contents, dict) else contents)


DICT: Final[dict[str, Callable[..., Any]]] = {
    "get": _get,
    "pop": _dict_pop,
    "setdefault": _setdefault,
    "update": _update,
    "popitem": _popitem,
    "keys": lambda w, d: _view(w, d, 0, list, Keys),
    "values": lambda w, d: _view(w, d, 1, lambda contents: list(contents.values()), Values),
    "items": lambda w, d: _view(
        w, d, None, lambda contents: [tuple_of(pair) for pair in contents.items()], Items
    ),
    "copy": _copy,
    "clear": lambda w, d: w.write(d, {}),
}


def _add(w: Evaluator, s: Set, value: Any) -> None:
    try:
        known = key_of(w, value)
    except NotKnown:
        members.put(w, s, value)
        return
    if _is_moved(w, s):
        members.put(w, s, known)
        return
    hash(known)
    if known not in w.read(s):
        w.write(s, (*w.read(s), known))


def _add_all(w: Evaluator, s: Set, *several: Any) -> None:
    for more in several:
        items = items_or_maybe(w, members.as_list(w, more))
        try:
            known = [key_of(w, item) for item in items]
        except NotKnown:
            known = None
        if known is not None and not _is_moved(w, s):
            w.write(s, tuple(dict.fromkeys([*w.read(s), *known])))
            continue
        for item in items:
            if isinstance(item, Maybe):
                members.put(w, s, item.value, when=item.taken)
            else:
                _add(w, s, item)


def _discard(w: Evaluator, s: Set, value: Any, must: bool = False) -> None:
    try:
        known = key_of(w, value)
    except NotKnown:
        _take(w, s, value, must)
        return
    if _is_moved(w, s):
        _take(w, s, known, must)
        return
    if must and known not in w.read(s):
        raise KeyError(known)
    w.write(s, tuple([item for item in w.read(s) if item != known]))


def _take(w: Evaluator, s: Set, value: Any, must: bool) -> None:
    found = members.take(w, s, value)
    if must and found is False:
        raise KeyError(describe(value))
    if must and (w.faults.checked or w.handled()):
        missing = arithmetic.negate(w, found)
        w.check(missing, KeyError, "a member that is none of the set's", value)


def _set_pop(w: Evaluator, s: Set) -> Any:
    raise w.error(
        "which member a set's pop() gives Python leaves open: take min(s), or sorted(s)[0], and "
        "discard it"
    )


def _operation(symbol: str, changes: bool = False) -> Callable[..., Any]:
    """A method of sets that is an operator on any number of iterables."""

    def method(w: Evaluator, s: Set, *others: Any) -> Any:
        made: Any = s
        for other in others:
            made = operators.binary(w, symbol, made, w.call(set, other))
        made = Set(w.read(s)) if made is s else made
        if not changes:
            return made
        w.write(s, w.read(made) if isinstance(made, Set) else tuple(made))
        return None

    return method


def _test(symbol: str) -> Callable[..., Any]:
    return lambda w, s, other: comparisons.compare(w, symbol, s, w.call(set, other))


def _is_disjoint(w: Evaluator, s: Set, other: Any) -> Any:
    both = operators.binary(w, "&", s, w.call(set, other))
    return arithmetic.negate(w, w.truth(both))


SET: Final[dict[str, Callable[..., Any]]] = {
    "add": _add,
    "discard": _discard,
    "remove": lambda w, s, value: _discard(w, s, value, must=True),
    "clear": lambda w, s: w.write(s, ()),
    "pop": _set_pop,
    "copy": lambda w, s: Set(w.read(s)),
    "update": _add_all,
    "union": _operation("|"),
    "intersection": _operation("&"),
    "difference": _operation("-"),
    "symmetric_difference": _operation("^"),
    "intersection_update": _operation("&", changes=True),
    "difference_update": _operation("-", changes=True),
    "symmetric_difference_update": _operation("^", changes=True),
    "issubset": _test("<="),
    "issuperset": _test(">="),
    "isdisjoint": _is_disjoint,
}
