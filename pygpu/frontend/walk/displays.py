"""The steps that make containers, take them apart and match them: see steps.py."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.flow.choices import is_one_of, narrowed, possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.protocols import datamodel
from pygpu.frontend.protocols.sequences import in_turn, items_of, items_or_maybe
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.objects import Dict, Instance, List, Set
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, NotKnown, Tuple, tuple_of

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import members, texts
    from pygpu.frontend.methods import dict_methods
    from pygpu.frontend.protocols import attributes, indexing

Step = Callable[[ControlFlow, State, Any], None]


# ---------------------------------------------------------------- displays and comprehensions


def _tuple(w: ControlFlow, state: State, count: int) -> None:
    state.stack.append(tuple_of(tuple(state.pop(count))))


def _list(w: ControlFlow, state: State, count: int) -> None:
    state.stack.append(List(tuple(state.pop(count))))


def _set(w: ControlFlow, state: State, count: int) -> None:
    made = Set(())
    for value in state.pop(count):
        _put(w, made, value)
    state.stack.append(made)


def _put(w: ControlFlow, target: Set, value: Any) -> None:
    w.call(w.method(target, "add"), value)


def _map(w: ControlFlow, state: State, count: int) -> None:
    parts = state.pop(2 * count)
    made = Dict({})
    dict_methods.put_all(w, made, list(zip(parts[::2], parts[1::2], strict=True)))
    state.stack.append(made)


def _keymap(w: ControlFlow, state: State, count: int) -> None:
    keys = state.stack.pop()
    state.stack.append(Dict(dict(zip(keys, state.pop(count), strict=True))))


def _append(w: ControlFlow, state: State, depth: int) -> None:
    value = state.stack.pop()
    target = state.stack[-depth]
    lists.add(w, target, (value,))


def _add(w: ControlFlow, state: State, depth: int) -> None:
    value = state.stack.pop()
    _put(w, state.stack[-depth], value)


def _mapadd(w: ControlFlow, state: State, depth: int) -> None:
    value, key = state.stack.pop(), state.stack.pop()
    target = state.stack[-depth]
    indexing.set_item(w, target, key, value)


def _extend(w: ControlFlow, state: State, depth: int) -> None:
    more = items_or_maybe(w, state.stack.pop())
    lists.add(w, state.stack[-depth], more)


def _update(w: ControlFlow, state: State, depth: int) -> None:
    source = state.stack.pop()
    target = state.stack[-depth]
    w.call(w.method(target, "update"), source)


def _merge(w: ControlFlow, state: State, depth: int) -> None:
    source = state.stack.pop()
    target = state.stack[-depth]
    more = dict_methods.pairs_of(w, source)
    old = members.known_entries(w, target)
    for name in more:
        if name in old:
            raise TypeError(f"got multiple values for keyword argument '{name}'")
    w.write(target, {**old, **more})


def _to_tuple(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(tuple_of(items_of(w, state.stack.pop())))


def _unpack(w: ControlFlow, state: State, count: int) -> None:
    value = state.stack.pop()
    some = lists.in_slots(w, value)
    if some is not None and some.least <= count <= some.most:
        _check_length(w, some.length, "!=", count, f"a list is not of {count} items: unpacked")
        state.stack.extend(reversed([w.item(value, place) for place in range(count)]))
        return
    items = items_of(w, value) if some is None else some.items[: max(some.least, count + 1)]
    if len(items) != count:
        few = len(items) < count
        raise ValueError(
            f"not enough values to unpack (expected {count}, got {len(items)})"
            if few
            else f"too many values to unpack (expected {count}, got {len(items)})"
        )
    state.stack.extend(reversed(items))


def _check_length(w: ControlFlow, length: Any, wrong: str, count: int, message: str) -> None:
    """Where a list of dynamic length has another than is unpacked, it is as if it raised there."""
    differs = w.compare(wrong, length, count)
    if w.handled():
        w.check(differs, ValueError, message)
    elif isinstance(differs, Dynamic):
        number = w.faults.number(Fault(ValueError, message, w.frame.place()))
        w.write(w.faults.cell, w.faults.possible(w.build, w.state, differs.value, number))


def _unpack_ex(w: ControlFlow, state: State, arg: tuple[int, int]) -> None:
    before, after = arg
    value = state.stack.pop()
    value = w.call(list, value) if in_turn(w, value) else value
    some = lists.in_slots(w, value)
    if some is not None and some.most >= before + after:
        few = f"not enough values to unpack (expected at least {before + after})"
        _check_length(w, some.length, "<", before + after, few)
        middle = w.item(value, slice(before, None))
        ends = [w.call(w.method(middle, "pop")) for _ in range(after)][::-1]
        firsts = [w.item(value, place) for place in range(before)]
        state.stack.extend(reversed([*firsts, middle, *ends]))
        return
    items = items_of(w, value)
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after})")
    end = len(items) - after
    parts = [*items[:before], List(items[before:end]), *items[end:]]
    state.stack.extend(reversed(parts))


def _string(w: ControlFlow, state: State, count: int) -> None:
    state.stack.append(texts.joined(w, "", state.pop(count)))


def _format(w: ControlFlow, state: State, arg: tuple[Any, bool]) -> None:
    conversion, has_spec = arg
    spec = state.stack.pop() if has_spec else ""
    value = state.stack.pop()
    apply: Any = {"r": repr, "s": str, "a": ascii, 1: str, 2: repr, 3: ascii}.get(conversion)
    if callable(conversion):
        apply = conversion

    def text(known: Any) -> str:
        return format(apply(known) if apply else known, spec)

    if isinstance(value, Choice):
        is_shown = apply in (None, str) and texts.is_written(value)
        made = texts.written_of(w, value, spec) if is_shown else texts.of_options(w, value, text)
        state.stack.append(made)
        return
    try:
        state.stack.append(w.native(text, (value,), {}))
    except NotKnown:
        if not apply and (method := datamodel.find_method(w, value, "__format__")) is not None:
            state.stack.append(w.call(method, spec))
            return
        value = w.call(apply, value) if apply else value
        if isinstance(value, Instance) and not texts.is_written(value):
            value = w.call(str, value)
        state.stack.append(texts.written_of(w, value, spec))


# ---------------------------------------------------------------- match statements


def _each(test: Callable[[ControlFlow, Any], bool]) -> Step:
    """An instruction that asks a subject what it is: of a choice, which of its options are so."""

    def step(w: ControlFlow, state: State, arg: Any) -> None:
        subject = narrowed(w, state.stack[-1])
        if not isinstance(subject, Choice):
            state.stack.append(test(w, subject))
            return
        left = possible(w, subject)
        held = frozenset([place for place in left if test(w, subject.options[place])])
        state.stack.append(is_one_of(w, subject.which, held, left))

    return step


def _len(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(indexing.length(w, state.stack[-1]))


def _is_sequence(w: ControlFlow, subject: Any) -> bool:
    if isinstance(subject, Abstract):
        return isinstance(subject, (Tuple, List))
    known = isinstance(subject, collections.abc.Sequence)
    return known and not isinstance(subject, (str, bytes, bytearray))


def _match_keys(w: ControlFlow, state: State, arg: Any) -> None:
    keys, subject = state.stack[-1], state.stack[-2]
    contents = members.known_entries(w, subject) if isinstance(subject, Dict) else subject
    if all(key in contents for key in keys):
        state.stack.append(tuple_of(tuple([contents[key] for key in keys])))
    else:
        state.stack.append(None)


def _match_class(w: ControlFlow, state: State, count: int) -> None:
    names, cls = state.stack.pop(), state.stack.pop()
    subject = narrowed(w, state.stack.pop())
    if not isinstance(subject, Choice):
        state.stack.append(_parts_of(w, subject, cls, count, names))
        return
    left = possible(w, subject)  # of the others nothing is asked
    parts = [
        _parts_of(w, option, cls, count, names) if place in left else None
        for place, option in enumerate(subject.options)
    ]
    why = f"it is no {cls.__name__} on one path"
    state.stack.append(narrowed(w, Choice(subject.which, tuple(parts), why)))


def _parts_of(w: ControlFlow, subject: Any, cls: Any, count: int, names: Any) -> Any:
    """What a pattern of a class takes from a subject; None where it is no such."""
    if not datamodel.is_instance(w, subject, cls):
        return None
    if cls in (bool, float, int, str, tuple, list, dict, set, bytes) and count == 1:
        return tuple_of((subject,))
    wanted = (*getattr(cls, "__match_args__", ())[:count], *names)
    if len(wanted) < count + len(names):
        raise TypeError(f"{cls.__name__}() accepts fewer positional sub-patterns than {count}")
    try:
        return tuple_of(tuple([attributes.attribute(w, subject, name) for name in wanted]))
    except AttributeError:
        return None


DISPLAYS: Final[dict[str, Step]] = {
    "TUPLE": _tuple,
    "LIST": _list,
    "SET": _set,
    "MAP": _map,
    "KEYMAP": _keymap,
    "APPEND": _append,
    "ADD": _add,
    "MAPADD": _mapadd,
    "EXTEND": _extend,
    "UPDATE": _update,
    "MERGE": _merge,
    "TO_TUPLE": _to_tuple,
    "UNPACK": _unpack,
    "UNPACK_EX": _unpack_ex,
    "STRING": _string,
    "FORMAT": _format,
    "LEN": _len,
    "MATCH_SEQ": _each(_is_sequence),
    "MATCH_MAP": _each(lambda w, it: isinstance(it, (Dict, collections.abc.Mapping))),
    "MATCH_KEYS": _match_keys,
    "MATCH_CLASS": _match_class,
}
