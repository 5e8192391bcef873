"""What each canonical instruction does to the state of a frame: one function an instruction.

`STEPS` has them by the instructions' names (pygpu/bytecode.py lists these). Branches, loops and
returns are the walker's business.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any, Final

from pygpu.bytecode import NULL
from pygpu.core.errors import HOME
from pygpu.core.host.later import later
from pygpu.frontend.calls import numpy_kinds
from pygpu.frontend.calls.calls import call
from pygpu.frontend.effects import domains
from pygpu.frontend.flow.choices import (
    asked,
    compare_remainder,
    narrowed,
    negated,
)
from pygpu.frontend.flow.paths import RESULT, ControlFlow
from pygpu.frontend.numbers import arithmetic, flags
from pygpu.frontend.protocols import datamodel, followers, operators
from pygpu.frontend.protocols.sequences import items_of, iterate
from pygpu.frontend.values.callables import Function, Super
from pygpu.frontend.values.evaluator import usable
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.objects import Array, Dict
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import (
    UNBOUND,
    Abstract,
    Choice,
    NotKnown,
    Slice,
)
from pygpu.frontend.values.views import View
from pygpu.frontend.walk.displays import DISPLAYS, Step
from pygpu.frontend.walk.variables import VARIABLES

with later():
    from pygpu.frontend.collections import words
    from pygpu.frontend.methods import dict_methods
    from pygpu.frontend.protocols import attributes, comparisons, indexing, lookups
    from pygpu.frontend.walk import contexts, identity

# ---------------------------------------------------------------- attributes and items


def _attr(w: ControlFlow, state: State, name: str) -> None:
    value = attributes.attribute(w, state.stack.pop(), name)
    state.stack.append(narrowed(w, value) if value.__class__ is Choice else value)


def _setattr(w: ControlFlow, state: State, name: str) -> None:
    target = state.stack.pop()
    attributes.set_attribute(w, target, name, state.stack.pop())


def _delattr(w: ControlFlow, state: State, name: str) -> None:
    attributes.delete_attribute(w, state.stack.pop(), name)


def _super(w: ControlFlow, state: State, name: str) -> None:
    owner, cls, _super = state.stack.pop(), state.stack.pop(), state.stack.pop()
    state.stack.append(attributes.attribute(w, Super(cls, owner), name))


def _item(w: ControlFlow, state: State, arg: Any) -> None:
    index, container = state.stack.pop(), state.stack.pop()
    _check_items(w, container, "is not subscriptable")
    state.stack.append(indexing.item(w, container, index))


def _setitem(w: ControlFlow, state: State, arg: Any) -> None:
    index, container, value = state.stack.pop(), state.stack.pop(), state.stack.pop()
    _check_items(w, container, "does not support item assignment")
    indexing.set_item(w, container, index, value)


def _delitem(w: ControlFlow, state: State, arg: Any) -> None:
    index, container = state.stack.pop(), state.stack.pop()
    _check_items(w, container, "doesn't support item deletion")
    indexing.delete_item(w, container, index)


def _check_items(w: ControlFlow, container: Any, says: str) -> None:
    """A TypeError for a view of a dict: functions of ours that are walked take it for a list."""
    if isinstance(container, View) and not w.frame.code.code.co_filename.startswith(HOME):
        raise TypeError(f"'{datamodel.class_of(container).__name__}' object {says}")


def _slice(w: ControlFlow, state: State, count: int) -> None:
    parts = [lookups.place_of(w, part) for part in state.pop(count)]
    try:
        state.stack.append(slice(*[concrete(w, part) for part in parts]))
    except NotKnown:
        state.stack.append(Slice(tuple(parts)))


# ---------------------------------------------------------------- operators


def _unary(w: ControlFlow, state: State, symbol: str) -> None:
    value = state.stack.pop()
    if symbol == "not":
        state.stack.append(flags.marked(arithmetic.negate(w, w.truth(value)), False))
    else:
        state.stack.append(operators.unary(w, symbol, value))


def _binary(w: ControlFlow, state: State, symbol: str) -> None:
    b = state.stack.pop()
    a = state.stack.pop()
    domains.of_operator(w, symbol, a, b)
    if symbol[-1] == "=":
        state.stack.append(operators.in_place(w, symbol, a, b))
    else:
        state.stack.append(operators.binary(w, symbol, a, b))


def _compare(w: ControlFlow, state: State, symbol: str) -> None:
    b = state.stack.pop()
    a = state.stack.pop()
    found = None
    if type(a) is Choice and type(b) is Choice and words.are_words((a, b)):
        pass  # compared by their places in all the strings
    elif symbol in ("==", "!="):
        found = asked(w, a, b, lambda a, b: comparisons.compare(w, symbol, a, b))
    if found is None:
        found = compare_remainder(w, symbol, a, b)
    state.stack.append(comparisons.compare(w, symbol, a, b) if found is None else found)


def _is(w: ControlFlow, state: State, inverted: bool) -> None:
    b = usable(w, state.stack.pop())
    a = usable(w, state.stack.pop())
    state.stack.append(identity.same(w, a, b, inverted))


def _in(w: ControlFlow, state: State, inverted: bool) -> None:
    container, value = state.stack.pop(), state.stack.pop()
    found = asked(w, value, container, lambda a, b: comparisons.contains(w, b, a))
    if found is None:
        found = comparisons.contains(w, container, value)
    state.stack.append(negated(w, found) if inverted else found)


# ---------------------------------------------------------------- calls


def _call(w: ControlFlow, state: State, arg: tuple[int, tuple[str, ...]]) -> None:
    count, names = arg
    args = state.pop(count)
    second, first = state.stack.pop(), state.stack.pop()
    if first is NULL:
        function = second
    elif second is NULL:
        function = first
    else:
        function, args = first, [second, *args]
    keywords = {}
    if names:
        keywords = dict(zip(names, args[-len(names) :], strict=True))
        args = args[: -len(names)]
    numpy_kinds.check_views(w, function, args)
    state.stack.append(call(w, function, tuple(args), keywords))


def _call_ex(w: ControlFlow, state: State, arg: Any) -> None:
    keywords, args = state.stack.pop(), items_of(w, state.stack.pop())
    second, first = state.stack.pop(), state.stack.pop()
    function = second if first is NULL else first
    named = {} if keywords is NULL else dict_methods.pairs_of(w, keywords)
    state.stack.append(call(w, function, args, named))


def _function(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(Function(state.stack.pop(), w.frame.globals))


def _setfunc(w: ControlFlow, state: State, part: int) -> None:
    made, value = state.stack.pop(), state.stack.pop()
    match part:
        case 1:
            made.defaults = items_of(w, value)
        case 2:
            made.keyword_defaults = dict(w.read(value) if isinstance(value, Dict) else value)
        case 4:
            parts = items_of(w, value)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            made.annotations = {
                name: part for name, part in pairs if not isinstance(part, Abstract)
            }
        case 16:
            made.annotations = value
        case 8:
            made.closure = items_of(w, value)
    state.stack.append(made)


def _iter(w: ControlFlow, state: State, arg: Any) -> None:
    value = state.stack.pop()
    made = iterate(w, value)
    w.fresh = made if made is not value else None
    if isinstance(value, Array):
        w.heap.follow(made, {value}, *followers.known_row(w, value))
    state.stack.append(made)


def _yield(w: ControlFlow, state: State, arg: Any) -> None:
    collected = state.locals.get(".yield")
    value = state.stack.pop()
    if collected is None:
        raise w.error("'yield' is not supported here")
    w.write(collected, (*w.read(collected), value))
    state.stack.append(None)


# ---------------------------------------------------------------- modules, what is refused


def _import(w: ControlFlow, state: State, name: str) -> None:
    """Import a module at compile time; it stays imported."""
    level, names = state.pop(2)
    state.stack.append(__import__(name, w.frame.globals, None, names, level))


def _import_from(w: ControlFlow, state: State, name: str) -> None:
    module = state.stack[-1]
    if not hasattr(module, name):  # a module that is imported around a circle
        inner = sys.modules.get(f"{module.__name__}.{name}")
        if inner is None:
            raise ImportError(f"cannot import name '{name}' from '{module.__name__}'")
        state.stack.append(inner)
        return
    state.stack.append(attributes.attribute(w, module, name))


def _result(w: ControlFlow, state: State, arg: Any) -> None:
    """What `yield from` gives: what the generator has returned that it has ended."""
    value = state.locals.pop(RESULT, UNBOUND)
    if value is UNBOUND:
        raise w.error(
            "the value of this 'yield from' is not known: it is of generator functions that are "
            "called in the function; keep what others would return in an object"
        )
    state.stack.append(narrowed(w, usable(w, value)))


def _unsupported(w: ControlFlow, state: State, what: Any) -> None:
    plain = f"{_NAMES.get(what, what)} is not supported in a compiled function"
    raise w.error(plain)


_NAMES: Final = {"async with": "'async with'", "await": "'await'", "except*": "'except*'"}


def _buildclass(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(builtins.__build_class__)


def _handled(name: str) -> Step:
    return lambda w, state, arg: contexts.HANDLING[name](w, state, arg)


_HANDLING: Final = (
    "PUSH_EXC POP_EXC MATCH_EXC MATCH_GROUP UNHANDLED ENTER SPECIAL EXIT"  # of contexts.py
)
STEPS: Final[dict[str, Step]] = {
    **DISPLAYS,
    **{name: _handled(name) for name in _HANDLING.split()},
    **VARIABLES,
    "ATTR": _attr,
    "SETATTR": _setattr,
    "DELATTR": _delattr,
    "SUPER": _super,
    "ITEM": _item,
    "SETITEM": _setitem,
    "DELITEM": _delitem,
    "SLICE": _slice,
    "UNARY": _unary,
    "BINARY": _binary,
    "COMPARE": _compare,
    "IS": _is,
    "IN": _in,
    "CALL": _call,
    "CALL_EX": _call_ex,
    "FUNCTION": _function,
    "SETFUNC": _setfunc,
    "ITER": _iter,
    "YIELD": _yield,
    "RESULT": _result,
    "UNSUPPORTED": _unsupported,
    "IMPORT": _import,
    "IMPORT_FROM": _import_from,
    "BUILDCLASS": _buildclass,
}
