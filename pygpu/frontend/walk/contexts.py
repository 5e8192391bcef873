"""The instructions of handlers and of `with`: which exception it is, contexts that do nothing here.

A context is a class of the user's, whose `__enter__` and `__exit__` are walked, or one of the
library's that has nothing to do on a device: `np.errstate`, `contextlib.nullcontext`,
`warnings.catch_warnings`. `contextlib.suppress` is the handler that it says it is.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.bytecode import NULL
from pygpu.core.host.later import later
from pygpu.frontend.calls.calls import call
from pygpu.frontend.flow.choices import is_one_of, narrowed, possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.protocols import attributes, datamodel
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Text
from pygpu.frontend.values.objects import Instance
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Choice, Conflict
from pygpu.frontend.walk.displays import Step

with later():
    from pygpu.frontend.effects import raising
    from pygpu.frontend.walked import library

# ---------------------------------------------------------------- handlers


def _push_exc(w: ControlFlow, state: State, arg: Any) -> None:
    error = state.stack.pop()
    state.stack += [state.locals.get(raising.HANDLED), error]
    state.locals[raising.HANDLED] = error


def _pop_exc(w: ControlFlow, state: State, arg: Any) -> None:
    before = state.stack.pop()
    if before is None:
        state.locals.pop(raising.HANDLED, None)
    else:
        state.locals[raising.HANDLED] = before


def _match_exc(w: ControlFlow, state: State, arg: Any) -> None:
    classes = state.stack.pop()
    state.stack.append(matches(w, state.stack[-1], classes))


def matches(w: ControlFlow, error: Any, classes: Any) -> Any:
    """Whether an exception is of one of some classes."""
    several = classes if isinstance(classes, tuple) else (classes,)
    for cls in several:
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
    match error:
        case Conflict():
            raise w.error(error.message)
        case Choice():
            left = possible(w, error)
            held = [i for i in left if matches(w, error.options[i], classes)]
            return is_one_of(w, error.which, frozenset(held), left)
        case Raised():
            return issubclass(error.fault.error or Exception, several)
    return isinstance(error, several)


class _Group(Text):
    """The group of exceptions that an `except*` takes, which nobody may look into."""

    __slots__ = ()

    def __init__(self) -> None:
        Conflict.__init__(
            self,
            "the exceptions that 'except*' takes cannot be looked into or raised again: handle "
            "each class by an 'except' of its own",
        )


def _match_group(w: ControlFlow, state: State, arg: Any) -> None:
    """Part what is not handled: what is of the classes, and the rest; one alone is whole."""
    classes = state.stack.pop()
    rest = state.stack.pop()
    options = rest.options if isinstance(rest, Choice) else (rest,)
    left = possible(w, rest) if isinstance(rest, Choice) else frozenset((0,))
    held = {i for i in left if options[i] is not None and _is_of_group(w, options[i], classes)}
    if held:
        state.locals[raising.HANDLED] = _Group()
    if not isinstance(rest, Choice):
        state.stack += [None, _Group()] if held else [rest, None]
        return
    others = tuple([None if i in held else option for i, option in enumerate(options)])
    groups = tuple([_Group() if i in held else None for i in range(len(options))])
    for parts in (others, groups):
        found = {i: parts[i] for i in left}
        alike = all(part is None for part in found.values())
        state.stack.append(None if alike else narrowed(w, Choice(rest.which, parts, "")))


def _is_of_group(w: ControlFlow, error: Any, classes: Any) -> bool:
    if isinstance(error, Raised) and issubclass(error.fault.error or Exception, BaseExceptionGroup):
        raise w.error(
            "'except*' of a group that is raised as such is not supported: raise each of its "
            "exceptions alone, in a 'try' of its own with the handlers of its class"
        )
    return bool(matches(w, error, classes))


def _unhandled(w: ControlFlow, state: State, arg: Any) -> None:
    """What is raised after the handlers: by the one that has run, or what none has taken."""
    found = None
    for each in reversed(w.items(state.stack.pop())):
        if each is not None:
            found = each if found is None else w.call(library.first_of, each, found)
    state.stack[-1] = found


# ---------------------------------------------------------------- contexts


def _held(w: ControlFlow, context: Any) -> dict[str, Any]:
    """The attributes of a context."""
    if isinstance(context, Instance):
        return dict(w.read(context))
    slots = getattr(type(context), "__slots__", ())
    names = (*slots, *getattr(context, "__dict__", ()))
    return {name: getattr(context, name, None) for name in names}


def _check_errstate(w: ControlFlow, held: dict[str, Any]) -> None:
    if any(value in ("raise", "call") for value in held.values() if isinstance(value, str)):
        raise w.error("np.errstate(...='raise') is not supported: test the condition before")


def _check_nothing(w: ControlFlow, held: dict[str, Any]) -> None:
    pass


_RECORDED: Final = Conflict(
    "what catch_warnings(record=True) records is not known: nothing on a device warns"
)
# Contexts that do nothing on a device, with what refuses some of them.
_IDLE: Final[dict[type, Callable[[ControlFlow, dict[str, Any]], None]]] = {
    np.errstate: _check_errstate,
    contextlib.nullcontext: _check_nothing,
    warnings.catch_warnings: _check_nothing,
    contextlib.suppress: _check_nothing,
}


class _Exit(Builtin):
    """The exit of a context that does nothing, but for exceptions of the classes `suppressed`.
    Those of one statement are one where paths meet in its handler."""

    __slots__ = ("suppressed",)

    def __init__(self, w: ControlFlow, suppressed: tuple[Any, ...]) -> None:
        super().__init__("__exit__", functools.partial(_leave, w, suppressed))
        self.suppressed: Final = suppressed

    def shape(self) -> Any:
        return self.suppressed


def _leave(w: ControlFlow, suppressed: Any, error: Any = None, *rest: Any) -> Any:
    return bool(suppressed) and error is not None and matches(w, error, suppressed)


def _method(w: ControlFlow, context: Any, name: str) -> Any:
    """A context's `__enter__` or `__exit__`."""
    kind = datamodel.class_of(context)
    if kind in _IDLE:
        held = _held(w, context)
        _IDLE[kind](w, held)
        given = _RECORDED if held.get("_record") else held.get("enter_result")
        suppressed = tuple(items_of(w, held.get("_exceptions", ())))

        return _Exit(w, suppressed) if name == "__exit__" else Builtin(name, lambda: given)
    if isinstance(context, Instance):
        found = datamodel.find_method(w, context, name)
        if found is None:
            raise TypeError(
                f"'{kind.__name__}' object does not support the context manager protocol"
            )
        return found
    own = not isinstance(context, Abstract) and kind.__module__ not in sys.stdlib_module_names
    if own and hasattr(kind, "__enter__") and hasattr(kind, "__exit__"):
        return attributes.attribute(w, context, name)
    if not hasattr(kind, "__enter__") and not isinstance(context, Abstract):
        raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol")
    raise w.error(
        f"'with' of an object of {kind.__name__} is not supported: np.errstate, "
        "contextlib.nullcontext and suppress, warnings.catch_warnings and classes of yours are; "
        "open what is needed outside and pass the values"
    )


def _enter(w: ControlFlow, state: State, arg: Any) -> None:
    context = state.stack.pop()
    state.stack.append(_method(w, context, "__exit__"))
    state.stack.append(call(w, _method(w, context, "__enter__"), (), {}))


def _special(w: ControlFlow, state: State, name: str) -> None:
    state.stack += [_method(w, state.stack.pop(), name), NULL]


def _exit(w: ControlFlow, state: State, place: int) -> None:
    """Tell a context which exception leaves it: whether that goes no further."""
    error, leave = state.stack[-1], state.stack[-place]
    if isinstance(leave, Builtin):
        state.stack.append(leave.call(error))
        return
    state.stack.append(call(w, leave, (_class_of(error), error, None), {}))


def _class_of(error: Any) -> Any:
    """The class of an exception; a choice of several where it may be one of them."""
    if isinstance(error, Raised):
        return error.fault.error or Exception
    if isinstance(error, Choice):
        return Choice(error.which, tuple(map(_class_of, error.options)), error.why)
    return type(error)


HANDLING: Final[dict[str, Step]] = {
    "PUSH_EXC": _push_exc,
    "POP_EXC": _pop_exc,
    "MATCH_EXC": _match_exc,
    "MATCH_GROUP": _match_group,
    "UNHANDLED": _unhandled,
    "ENTER": _enter,
    "SPECIAL": _special,
    "EXIT": _exit,
}
