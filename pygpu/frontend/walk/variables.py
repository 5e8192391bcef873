"""Instructions that move values: constants, the stack, variables of all kinds and scopes.

`VARIABLES` has them by their names, as `STEPS` has all.
"""

from __future__ import annotations

import types
from typing import Any, Final

from pygpu.bytecode import NULL
from pygpu.frontend.collections import cuts
from pygpu.frontend.flow import excluded, handling
from pygpu.frontend.flow.choices import loaded, narrowed, possible, settled_by_tests
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.values.evaluator import usable
from pygpu.frontend.values.faults import PathEnds
from pygpu.frontend.values.lazy import Cut
from pygpu.frontend.values.objects import Cell, Vector
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import UNBOUND, Choice, Conflict, Dynamic, Unset
from pygpu.frontend.values.views import several_of
from pygpu.frontend.walk.displays import Step
from pygpu.ssa import Value


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
    kind = type(value)
    if kind in _ODD:
        if value is UNBOUND:
            raise excluded.unbound(name)
        if kind is Unset and value.name:
            raise PathEnds(handling.raised(w, w.frame, excluded.unbound(value.name)))
        if kind is not Choice:
            raise w.error(value.message)
        value = loaded(w, value)
    state.stack.append(value)


_ODD: Final = frozenset((Choice, Conflict, Unset, type(UNBOUND)))  # what is not loaded as it is


def _store(w: ControlFlow, state: State, name: str) -> None:
    value = state.stack.pop()
    if value is UNBOUND:
        state.locals.pop(name, None)
        return
    value = settled_by_tests(w, value) if type(value) is Choice else value
    frame = w.frames[-1]
    if type(value) is Cut and name in cuts.changed_in(frame.code):
        cuts.check_change(w, value, f"way of '{name}'")
        value = w.call(list, value)
    _give_name(value, name)
    frame.stored[name] = frame.at
    state.locals[name] = value


def _give_name(value: Any, name: str) -> None:
    """Let a value that has no name yet be called as the user calls it."""
    kind = type(value)
    if kind is Vector:
        made = value.initial
    elif kind is Dynamic or isinstance(value, Dynamic):
        made = value.value
    else:
        return
    if type(made) is Value and not made.name:
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
    if type(value) in _ODD:
        if value is UNBOUND:
            raise NameError(f"cannot access free variable '{name}' where it has no value")
        value = loaded(w, value) if type(value) is Choice else usable(w, value)
    state.stack.append(value)


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
    several = several_of(w, cell)
    if several is None:
        w.write(cell, value)
        return
    for number in sorted(possible(w, several)):  # of the closures that may have been called
        here = arithmetic.compare(w, "==", several.which, number)
        option = several.options[number]
        w.write(option, w.choose(here, value, w.read(option)))


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
    return usable(w, w.read(namespace).get(name, UNBOUND))


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


def _in_dict_or(otherwise: Step) -> Step:
    """Loads a name from the dict on top, where it is there."""

    def load(w: ControlFlow, state: State, name: str) -> None:
        value = w.read(state.stack.pop()).get(name, UNBOUND)
        if value is UNBOUND:
            otherwise(w, state, name)
        else:
            state.stack.append(usable(w, value))

    return load


VARIABLES: Final[dict[str, Step]] = {
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
    "DICT_DEREF": _in_dict_or(_deref),
    "DICT_GLOBAL": _in_dict_or(_global),
}
