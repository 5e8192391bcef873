"""What each canonical instruction does to the state of a frame: one function an instruction.

`STEPS` has them by the instructions' names (pygpu/bytecode.py lists these). Branches, loops and
returns are the walker's business.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any, Final

from pygpu.bytecode import NULL
from pygpu.frontend.effects import domains
from pygpu.frontend.protocols import arithmetic, followers, indexing, objects, operators
from pygpu.frontend.protocols.methods import pairs_of
from pygpu.frontend.protocols.sequences import items_of, iterate
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.objects import EITHER, Array, Cell, Dict, Vector
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import (
    UNBOUND,
    Choice,
    Conflict,
    Dynamic,
    Function,
    NotKnown,
    Slice,
    Super,
    describe,
)
from pygpu.frontend.walk.calls import call
from pygpu.frontend.walk.choices import (
    asked,
    compare_remainder,
    is_same,
    narrowed,
    negated,
    several_or_one,
)
from pygpu.frontend.walk.contexts import HANDLING
from pygpu.frontend.walk.displays import DISPLAYS, Step
from pygpu.frontend.walk.paths import ControlFlow
from pygpu.ssa import Value
from pygpu.types import BOOL


def _checked(w: ControlFlow, value: Any) -> Any:
    if isinstance(value, Conflict):
        raise w.error(value.message)
    return value


# ---------------------------------------------------------------- the stack and variables


def _const(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(arg)


def _null(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(NULL)


def _pop(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.pop()


def _copy(w: ControlFlow, state: State, arg: int) -> None:
    value = state.stack[-arg]
    state.stack.append(narrowed(w, value) if type(value) is Choice else value)


def _swap(w: ControlFlow, state: State, arg: int) -> None:
    state.stack[-1], state.stack[-arg] = state.stack[-arg], state.stack[-1]


def _load(w: ControlFlow, state: State, name: str) -> None:
    value = state.locals.get(name, UNBOUND)
    if value is UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    if type(value) is Conflict:
        raise w.error(value.message)
    state.stack.append(narrowed(w, value) if type(value) is Choice else value)


def _store(w: ControlFlow, state: State, name: str) -> None:
    value = state.stack.pop()
    if value is UNBOUND:
        state.locals.pop(name, None)
        return
    _give_name(value, name)
    w.frame.stored[name] = w.frame.at
    state.locals[name] = value


def _give_name(value: Any, name: str) -> None:
    """Let a value that has no name yet be called as the user calls it."""
    if isinstance(value, Dynamic):
        made = value.value
    elif type(value) is Vector:
        made = value.initial
    else:
        return
    if isinstance(made, Value) and not made.name:
        made.name = name


def _delete(w: ControlFlow, state: State, name: str) -> None:
    if name not in state.locals:
        raise UnboundLocalError(f"cannot access local variable '{name}'")
    del state.locals[name]


def _load_clear(w: ControlFlow, state: State, name: str) -> None:
    state.stack.append(state.locals.pop(name, UNBOUND))


def _cell(w: ControlFlow, state: State, name: str) -> None:
    state.locals[name] = Cell(state.locals.get(name, UNBOUND))


def _deref(w: ControlFlow, state: State, name: str) -> None:
    cell = state.locals[name]
    if isinstance(cell, types.CellType):
        value = w.environment.read_cell(cell, name)
        if isinstance(value, Cell):  # of a class that was made in the function
            value = w.peek(value)
    else:
        value = w.peek(cell)
    if value is UNBOUND:
        raise NameError(f"cannot access free variable '{name}' where it has no value")
    state.stack.append(narrowed(w, _checked(w, value)))


def _setref(w: ControlFlow, state: State, name: str) -> None:
    cell = state.locals[name]
    value = state.stack.pop()
    if isinstance(cell, types.CellType) and isinstance(cell.cell_contents, Cell):
        cell = cell.cell_contents
    if isinstance(cell, types.CellType):
        raise w.error(
            f"'{name}' belongs to a function outside the compiled one and must not be assigned: "
            "return the value instead"
        )
    _give_name(value, name)
    w.frame.stored[name] = w.frame.at
    w.write(cell, value)


def _delderef(w: ControlFlow, state: State, name: str) -> None:
    w.write(state.locals[name], UNBOUND)


def _global(w: ControlFlow, state: State, name: str) -> None:
    state.stack.append(w.environment.read_global(w.frame.globals, name))


def _setglobal(w: ControlFlow, state: State, name: str) -> None:
    raise w.error(
        f"'{name}' is global and must not be assigned in a compiled function: "
        "return the value instead"
    )


def _in_class(w: ControlFlow, state: State, name: str) -> Any:
    """A name of the class body that is walked; UNBOUND without one."""
    namespace = state.locals[".namespace"]
    return _checked(w, w.read(namespace).get(name, UNBOUND))


def _name(w: ControlFlow, state: State, name: str) -> None:
    value = _in_class(w, state, name)
    found = value is not UNBOUND
    state.stack.append(value if found else w.environment.read_global(w.frame.globals, name))


def _storename(w: ControlFlow, state: State, name: str) -> None:
    namespace = state.locals[".namespace"]
    value = state.stack.pop()
    _give_name(value, name)
    w.write(namespace, {**w.read(namespace), name: value})


def _delname(w: ControlFlow, state: State, name: str) -> None:
    namespace = state.locals[".namespace"]
    if name not in w.read(namespace):
        raise NameError(f"name '{name}' is not defined")
    w.write(namespace, {key: v for key, v in w.read(namespace).items() if key != name})


def _locals(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(state.locals[".namespace"])


def _dict_deref(w: ControlFlow, state: State, name: str) -> None:
    value = w.read(state.stack.pop()).get(name, UNBOUND)
    if value is UNBOUND:
        _deref(w, state, name)
    else:
        state.stack.append(_checked(w, value))


def _dict_global(w: ControlFlow, state: State, name: str) -> None:
    value = w.read(state.stack.pop()).get(name, UNBOUND)
    if value is UNBOUND:
        _global(w, state, name)
    else:
        state.stack.append(_checked(w, value))


def _attr(w: ControlFlow, state: State, name: str) -> None:
    state.stack.append(narrowed(w, objects.attribute(w, state.stack.pop(), name)))


def _setattr(w: ControlFlow, state: State, name: str) -> None:
    target = state.stack.pop()
    objects.set_attribute(w, target, name, state.stack.pop())


def _delattr(w: ControlFlow, state: State, name: str) -> None:
    objects.delete_attribute(w, state.stack.pop(), name)


def _super(w: ControlFlow, state: State, name: str) -> None:
    owner, cls, _super = state.stack.pop(), state.stack.pop(), state.stack.pop()
    state.stack.append(objects.attribute(w, Super(cls, owner), name))


def _item(w: ControlFlow, state: State, arg: Any) -> None:
    index = state.stack.pop()
    state.stack.append(indexing.item(w, state.stack.pop(), index))


def _setitem(w: ControlFlow, state: State, arg: Any) -> None:
    index, container, value = state.stack.pop(), state.stack.pop(), state.stack.pop()
    indexing.set_item(w, container, index, value)


def _delitem(w: ControlFlow, state: State, arg: Any) -> None:
    index = state.stack.pop()
    indexing.delete_item(w, state.stack.pop(), index)


def _slice(w: ControlFlow, state: State, count: int) -> None:
    parts = state.pop(count)
    try:
        state.stack.append(slice(*[concrete(w, part) for part in parts]))
    except NotKnown:
        state.stack.append(Slice(tuple(parts)))


# ---------------------------------------------------------------- operators


def _unary(w: ControlFlow, state: State, symbol: str) -> None:
    value = state.stack.pop()
    if symbol == "not":
        state.stack.append(arithmetic.negate(w, w.truth(value)))
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
    if symbol in ("==", "!="):
        found = asked(w, a, b, lambda a, b: operators.compare(w, symbol, a, b))
    if found is None:
        found = compare_remainder(w, symbol, a, b)
    state.stack.append(operators.compare(w, symbol, a, b) if found is None else found)


def _is(w: ControlFlow, state: State, inverted: bool) -> None:
    b = _checked(w, state.stack.pop())
    a = _checked(w, state.stack.pop())
    a, b = several_or_one(w, a, b), several_or_one(w, b, a)
    if type(a) is Choice or type(b) is Choice:
        state.stack.append(is_same(w, a, b, inverted))
        return
    same = a is b
    unsure = any(getattr(value, "outside", False) == EITHER for value in (a, b))
    if not same and unsure and objects.class_of(a) is objects.class_of(b):
        raise w.error(f"which of two objects {describe(a)} is depends on a dynamic value")
    if isinstance(a, Dynamic) and isinstance(b, bool) and a.type is BOOL:
        state.stack.append(operators.compare(w, "!=" if inverted else "==", a, b))
        return
    state.stack.append(same != inverted)


def _in(w: ControlFlow, state: State, inverted: bool) -> None:
    container, value = state.stack.pop(), state.stack.pop()
    found = asked(w, value, container, lambda a, b: operators.contains(w, b, a))
    if found is None:
        found = operators.contains(w, container, value)
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
    state.stack.append(call(w, function, tuple(args), keywords))


def _call_ex(w: ControlFlow, state: State, arg: Any) -> None:
    keywords, args = state.stack.pop(), items_of(w, state.stack.pop())
    second, first = state.stack.pop(), state.stack.pop()
    function = second if first is NULL else first
    named = {} if keywords is NULL else pairs_of(w, keywords)
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
    state.stack.append(objects.attribute(w, module, name))


def _unsupported(w: ControlFlow, state: State, what: Any) -> None:
    plain = f"{_NAMES.get(what, what)} is not supported in a compiled function"
    raise w.error(_INSTEAD.get(what, plain))


_NAMES: Final = {"async with": "'async with'", "await": "'await'", "except*": "'except*'"}
_INSTEAD: Final = {
    "the value of 'yield from'": "the value of 'yield from' is not supported: 'return' gives none "
    "in a generator; keep what it would return in an object",
}


def _buildclass(w: ControlFlow, state: State, arg: Any) -> None:
    state.stack.append(builtins.__build_class__)


STEPS: Final[dict[str, Step]] = {
    **DISPLAYS,
    **HANDLING,
    "CONST": _const,
    "NULL": _null,
    "POP": _pop,
    "COPY": _copy,
    "SWAP": _swap,
    "LOAD": _load,
    "STORE": _store,
    "DELETE": _delete,
    "LOAD_CLEAR": _load_clear,
    "CELL": _cell,
    "DEREF": _deref,
    "SETREF": _setref,
    "DELDEREF": _delderef,
    "GLOBAL": _global,
    "SETGLOBAL": _setglobal,
    "DELGLOBAL": _setglobal,
    "NAME": _name,
    "STORENAME": _storename,
    "DELNAME": _delname,
    "LOCALS": _locals,
    "DICT_DEREF": _dict_deref,
    "DICT_GLOBAL": _dict_global,
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
    "UNSUPPORTED": _unsupported,
    "IMPORT": _import,
    "IMPORT_FROM": _import_from,
    "BUILDCLASS": _buildclass,
}

__all__ = ["STEPS"]
