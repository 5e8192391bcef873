"""Methods of dicts and sets, whose keys are known."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.protocols import datamodel, followers
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.known import key_of
from pygpu.frontend.values.objects import Dict, Keys, Set
from pygpu.frontend.values.values import Conflict, NotKnown, describe, tuple_of

with later():
    from pygpu.frontend.protocols import indexing, lookups


def known_index(w: Evaluator, index: Any, what: str) -> Any:
    try:
        return key_of(w, index)
    except NotKnown:
        raise w.error(f"{what} takes a known value, got {describe(index)}") from None


def _get(w: Evaluator, d: Dict, key: Any, default: Any = None) -> Any:
    try:
        key = key_of(w, key)
    except NotKnown:
        if not w.read(d):
            return default
        return lookups.choose(
            w, lookups.has_key(w, d, key), lookups.by_key_unchecked(w, d, key), default
        )
    return indexing.item(w, d, key) if key in w.read(d) else default


def _dict_pop(w: Evaluator, d: Dict, key: Any, *default: Any) -> Any:
    contents = dict(w.read(d))
    try:
        key = key_of(w, key)
    except NotKnown:
        value = _get(w, d, key, *default) if default else indexing.item(w, d, key)
        message = "which key was popped from this dict only the device knows: {hint}"
        w.write(d, contents)
        w.state.heap[d] = Conflict(message.format(hint=_POP_HINT))
        return value
    value = contents.pop(key, *default)
    w.write(d, contents)
    return value


_POP_HINT: Final = "read d[k] and keep what is left in a list of True and False"


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
    keys = datamodel.find_method(w, value, "keys")
    if keys is not None:
        known = [known_index(w, key, "a dict") for key in items_of(w, w.call(keys))]
        return {key: indexing.item(w, value, key) for key in known}
    pairs = [items_of(w, pair) for pair in items_of(w, value)]
    return {known_index(w, key, "a dict"): item for key, item in pairs}


DICT: Final[dict[str, Callable[..., Any]]] = {
    "get": _get,
    "pop": _dict_pop,
    "setdefault": _setdefault,
    "update": _update,
    "popitem": _popitem,
    "keys": lambda w, d: followers.view(w, d, list, Keys),
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


SET: Final[dict[str, Callable[..., Any]]] = {
    "add": _add,
    "discard": _discard,
    "remove": lambda w, s, value: _discard(w, s, value, must=True),
    "clear": lambda w, s: w.write(s, ()),
    "copy": lambda w, s: Set(w.read(s)),
    "update": _add_all,
}
