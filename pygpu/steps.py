"""What each canonical instruction does to the state of a frame: one function an instruction.

The names are the instructions' own (pygpu/bytecode.py lists them). Branches, loops and returns are
the walker's business.
"""

from __future__ import annotations

import builtins
import collections.abc
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pygpu import arithmetic, followers, indexing, objects, operators
from pygpu.bytecode import NULL
from pygpu.known import NotKnown, concrete
from pygpu.methods import pairs_of
from pygpu.sequences import items_of, iterate
from pygpu.ssa import Value
from pygpu.types import BOOL
from pygpu.values import (
    EITHER,
    UNBOUND,
    Abstract,
    Array,
    Bound,
    Builtin,
    Cell,
    Conflict,
    Dict,
    Dynamic,
    Function,
    Indexed,
    Instance,
    List,
    Matrix,
    Maybe,
    Picture,
    Set,
    Slice,
    State,
    Super,
    Tuple,
    Vector,
    describe,
)

if TYPE_CHECKING:
    from pygpu.walker import Walker

Step = Callable[["Walker", State, Any], None]


def truth(w: Walker, value: Any) -> Any:
    """bool(value): a known bool, or a Dynamic one."""
    if not isinstance(value, Abstract):
        w.environment.dependencies.add(value)
        return bool(value)
    match value:
        case Dynamic():
            if value.type is BOOL:
                return value
            return arithmetic.compare(w, "!=", value, 0)
        case Vector():
            raise w.error(
                f"the truth of {describe(value)} is ambiguous: use all(v == w) or any(...), "
                "np.maximum and np.minimum for max and min"
            )
        case Array():
            if w.read(value).size == 1:
                return truth(w, w.read(value).reshape(-1)[0])
            raise w.error("the truth of an array is ambiguous: use np.all or np.any")
        case Conflict():
            raise w.error(value.message)
        case Picture():
            raise w.error(
                f"{describe(value)} has no truth: call it with a position, as in im(p) > 0.5"
            )
        case Instance():
            method = objects.find_method(value, "__bool__")
            if method is not None:
                return truth(w, w.call(method))
            if objects.find_method(value, "__len__") is None:
                return True
            return truth(w, indexing.length(w, value))
        case Tuple() | List() | Dict() | Set() | Matrix() | Indexed():
            return truth(w, indexing.length(w, value))
        case Maybe():
            return w.environment.both(w, value.taken, truth(w, value.value))
    return True


def _pop(state: State, count: int) -> list[Any]:
    """The topmost values, taken from the stack, the deepest first."""
    if not count:
        return []
    values = state.stack[-count:]
    del state.stack[-count:]
    return values


def _checked(w: Walker, value: Any) -> Any:
    if isinstance(value, Conflict):
        raise w.error(value.message)
    return value


# ---------------------------------------------------------------- the stack and variables


def CONST(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(arg)


def NULL_(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(NULL)


def POP(w: Walker, state: State, arg: Any) -> None:
    state.stack.pop()


def COPY(w: Walker, state: State, arg: int) -> None:
    state.stack.append(state.stack[-arg])


def SWAP(w: Walker, state: State, arg: int) -> None:
    state.stack[-1], state.stack[-arg] = state.stack[-arg], state.stack[-1]


def LOAD(w: Walker, state: State, name: str) -> None:
    value = state.locals.get(name, UNBOUND)
    if value is UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    if type(value) is Conflict:
        raise w.error(value.message)
    state.stack.append(value)


def STORE(w: Walker, state: State, name: str) -> None:
    value = state.stack.pop()
    if value is UNBOUND:
        state.locals.pop(name, None)
        return
    _name(value, name)
    w.frame.stored[name] = w.frame.at
    state.locals[name] = value


def _name(value: Any, name: str) -> None:
    """Let a value that has no name yet be called as the user calls it."""
    if type(value) is Dynamic:
        made = value.value
    elif type(value) is Vector:
        made = value.initial
    else:
        return
    if isinstance(made, Value) and not made.name:
        made.name = name


def DELETE(w: Walker, state: State, name: str) -> None:
    if name not in state.locals:
        raise UnboundLocalError(f"cannot access local variable '{name}'")
    del state.locals[name]


def LOAD_CLEAR(w: Walker, state: State, name: str) -> None:
    state.stack.append(state.locals.pop(name, UNBOUND))


def CELL(w: Walker, state: State, name: str) -> None:
    state.locals[name] = Cell(state.locals.get(name, UNBOUND))


def DEREF(w: Walker, state: State, name: str) -> None:
    cell = state.locals[name]
    if isinstance(cell, types.CellType):
        value = w.environment.read_cell(cell, name)
        if isinstance(value, Cell):  # of a class that was made in the function
            value = w.peek(value)
    else:
        value = w.peek(cell)
    if value is UNBOUND:
        raise NameError(f"cannot access free variable '{name}' where it has no value")
    state.stack.append(_checked(w, value))


def SETREF(w: Walker, state: State, name: str) -> None:
    cell = state.locals[name]
    value = state.stack.pop()
    if isinstance(cell, types.CellType) and isinstance(cell.cell_contents, Cell):
        cell = cell.cell_contents
    if isinstance(cell, types.CellType):
        raise w.error(
            f"'{name}' belongs to a function outside the compiled one and must not be assigned: "
            "return the value instead"
        )
    _name(value, name)
    w.frame.stored[name] = w.frame.at
    w.write(cell, value)


def DELDEREF(w: Walker, state: State, name: str) -> None:
    w.write(state.locals[name], UNBOUND)


def GLOBAL(w: Walker, state: State, name: str) -> None:
    state.stack.append(w.environment.read_global(w.frame.globals, name))


def SETGLOBAL(w: Walker, state: State, name: str) -> None:
    raise w.error(
        f"'{name}' is global and must not be assigned in a compiled function: "
        "return the value instead"
    )


def _in_class(w: Walker, state: State, name: str) -> Any:
    """A name of the class body that is walked; UNBOUND without one."""
    namespace = state.locals[".namespace"]
    return _checked(w, w.read(namespace).get(name, UNBOUND))


def NAME(w: Walker, state: State, name: str) -> None:
    value = _in_class(w, state, name)
    found = value is not UNBOUND
    state.stack.append(value if found else w.environment.read_global(w.frame.globals, name))


def STORENAME(w: Walker, state: State, name: str) -> None:
    namespace = state.locals[".namespace"]
    value = state.stack.pop()
    _name(value, name)
    w.write(namespace, {**w.read(namespace), name: value})


def DELNAME(w: Walker, state: State, name: str) -> None:
    namespace = state.locals[".namespace"]
    if name not in w.read(namespace):
        raise NameError(f"name '{name}' is not defined")
    w.write(namespace, {key: v for key, v in w.read(namespace).items() if key != name})


def LOCALS(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(state.locals[".namespace"])


def DICT_DEREF(w: Walker, state: State, name: str) -> None:
    value = w.read(state.stack.pop()).get(name, UNBOUND)
    if value is UNBOUND:
        DEREF(w, state, name)
    else:
        state.stack.append(_checked(w, value))


def DICT_GLOBAL(w: Walker, state: State, name: str) -> None:
    value = w.read(state.stack.pop()).get(name, UNBOUND)
    if value is UNBOUND:
        GLOBAL(w, state, name)
    else:
        state.stack.append(_checked(w, value))


def ATTR(w: Walker, state: State, name: str) -> None:
    state.stack.append(objects.attribute(w, state.stack.pop(), name))


def SETATTR(w: Walker, state: State, name: str) -> None:
    target = state.stack.pop()
    objects.set_attribute(w, target, name, state.stack.pop())


def DELATTR(w: Walker, state: State, name: str) -> None:
    objects.delete_attribute(w, state.stack.pop(), name)


def SUPER(w: Walker, state: State, name: str) -> None:
    owner, cls, _super = state.stack.pop(), state.stack.pop(), state.stack.pop()
    state.stack.append(objects.attribute(w, Super(cls, owner), name))


def ITEM(w: Walker, state: State, arg: Any) -> None:
    index = state.stack.pop()
    state.stack.append(indexing.item(w, state.stack.pop(), index))


def SETITEM(w: Walker, state: State, arg: Any) -> None:
    index, container, value = state.stack.pop(), state.stack.pop(), state.stack.pop()
    indexing.set_item(w, container, index, value)


def DELITEM(w: Walker, state: State, arg: Any) -> None:
    index = state.stack.pop()
    indexing.delete_item(w, state.stack.pop(), index)


def SLICE(w: Walker, state: State, count: int) -> None:
    parts = _pop(state, count)
    try:
        state.stack.append(slice(*[concrete(w, part) for part in parts]))
    except NotKnown:
        state.stack.append(Slice(tuple(parts)))


# ---------------------------------------------------------------- operators


def UNARY(w: Walker, state: State, symbol: str) -> None:
    value = state.stack.pop()
    if symbol == "not":
        state.stack.append(w.environment.negate(w, truth(w, value)))
    else:
        state.stack.append(operators.unary(w, symbol, value))


def BINARY(w: Walker, state: State, symbol: str) -> None:
    b = state.stack.pop()
    a = state.stack.pop()
    if symbol[-1] == "=":
        state.stack.append(operators.in_place(w, symbol, a, b))
    else:
        state.stack.append(operators.binary(w, symbol, a, b))


def COMPARE(w: Walker, state: State, symbol: str) -> None:
    b = state.stack.pop()
    state.stack.append(operators.compare(w, symbol, state.stack.pop(), b))


def IS(w: Walker, state: State, inverted: bool) -> None:
    b = _checked(w, state.stack.pop())
    a = _checked(w, state.stack.pop())
    same = a is b
    unsure = any(getattr(value, "outside", False) == EITHER for value in (a, b))
    if not same and unsure and objects.class_of(a) is objects.class_of(b):
        raise w.error(f"which of two objects {describe(a)} is depends on a dynamic value")
    if isinstance(a, Dynamic) and isinstance(b, bool) and a.type is BOOL:
        state.stack.append(operators.compare(w, "!=" if inverted else "==", a, b))
        return
    state.stack.append(same != inverted)


def IN(w: Walker, state: State, inverted: bool) -> None:
    container = state.stack.pop()
    found = operators.contains(w, container, state.stack.pop())
    state.stack.append(w.environment.negate(w, found) if inverted else found)


# ---------------------------------------------------------------- displays and comprehensions


def TUPLE(w: Walker, state: State, count: int) -> None:
    state.stack.append(w.environment.tuple_of(tuple(_pop(state, count))))


def LIST(w: Walker, state: State, count: int) -> None:
    state.stack.append(List(tuple(_pop(state, count))))


def SET(w: Walker, state: State, count: int) -> None:
    made = Set(())
    for value in _pop(state, count):
        _add(w, made, value)
    state.stack.append(made)


def _add(w: Walker, target: Set, value: Any) -> None:
    try:
        known = concrete(w, value)
    except NotKnown:
        raise w.error(f"a set holds known values only, got {describe(value)}") from None
    elements = w.read(target)
    if known not in elements:
        w.write(target, (*elements, known))


def MAP(w: Walker, state: State, count: int) -> None:
    parts = _pop(state, 2 * count)
    state.stack.append(Dict({_key(w, k): v for k, v in zip(parts[::2], parts[1::2], strict=True)}))


def _key(w: Walker, key: Any) -> Any:
    try:
        return concrete(w, key)
    except NotKnown:
        raise w.error(
            f"the key of a dict must be known at compile time, got {describe(key)}"
        ) from None


def KEYMAP(w: Walker, state: State, count: int) -> None:
    keys = state.stack.pop()
    state.stack.append(Dict(dict(zip(keys, _pop(state, count), strict=True))))


def APPEND(w: Walker, state: State, depth: int) -> None:
    value = state.stack.pop()
    target = state.stack[-depth]
    w.write(target, (*w.read(target), value))


def ADD(w: Walker, state: State, depth: int) -> None:
    value = state.stack.pop()
    _add(w, state.stack[-depth], value)


def MAPADD(w: Walker, state: State, depth: int) -> None:
    value, key = state.stack.pop(), state.stack.pop()
    target = state.stack[-depth]
    w.write(target, {**w.read(target), _key(w, key): value})


def EXTEND(w: Walker, state: State, depth: int) -> None:
    items = items_of(w, state.stack.pop())
    target = state.stack[-depth]
    w.write(target, (*w.read(target), *items))


def UPDATE(w: Walker, state: State, depth: int) -> None:
    source = state.stack.pop()
    target = state.stack[-depth]
    if isinstance(target, Set):
        for value in items_of(w, source):
            _add(w, target, value)
        return
    w.write(target, {**w.read(target), **pairs_of(w, source)})


def MERGE(w: Walker, state: State, depth: int) -> None:
    source = state.stack.pop()
    target = state.stack[-depth]
    more = pairs_of(w, source)
    old = w.read(target)
    for name in more:
        if name in old:
            raise TypeError(f"got multiple values for keyword argument '{name}'")
    w.write(target, {**old, **more})


def TO_TUPLE(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(w.environment.tuple_of(items_of(w, state.stack.pop())))


def UNPACK(w: Walker, state: State, count: int) -> None:
    items = items_of(w, state.stack.pop())
    if len(items) != count:
        few = len(items) < count
        raise ValueError(
            f"not enough values to unpack (expected {count}, got {len(items)})"
            if few
            else f"too many values to unpack (expected {count}, got {len(items)})"
        )
    state.stack.extend(reversed(items))


def UNPACK_EX(w: Walker, state: State, arg: tuple[int, int]) -> None:
    before, after = arg
    items = items_of(w, state.stack.pop())
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after})")
    end = len(items) - after
    parts = [*items[:before], List(items[before:end]), *items[end:]]
    state.stack.extend(reversed(parts))


def STRING(w: Walker, state: State, count: int) -> None:
    state.stack.append("".join(_pop(state, count)))


def FORMAT(w: Walker, state: State, arg: tuple[Any, bool]) -> None:
    conversion, has_spec = arg
    spec = state.stack.pop() if has_spec else ""
    value = state.stack.pop()
    apply: Any = {"r": repr, "s": str, "a": ascii, 1: str, 2: repr, 3: ascii}.get(conversion)
    if callable(conversion):
        apply = conversion

    def text(known: Any) -> str:
        return format(apply(known) if apply else known, spec)

    try:
        state.stack.append(w.environment.native(w, text, (value,), {}))
    except NotKnown:
        if not (w.conditional and w.frame.raises()):
            raise w.error(f"a string cannot be made from {describe(value)}") from None
        state.stack.append(describe(value))  # nobody reads it: RAISE says what is wrong


# ---------------------------------------------------------------- calls


def CALL(w: Walker, state: State, arg: tuple[int, tuple[str, ...]]) -> None:
    count, names = arg
    args = _pop(state, count)
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
    state.stack.append(w.environment.call(w, function, tuple(args), keywords))


def CALL_EX(w: Walker, state: State, arg: Any) -> None:
    keywords, args = state.stack.pop(), items_of(w, state.stack.pop())
    second, first = state.stack.pop(), state.stack.pop()
    function = second if first is NULL else first
    named = {} if keywords is NULL else pairs_of(w, keywords)
    state.stack.append(w.environment.call(w, function, args, named))


def FUNCTION(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(Function(state.stack.pop(), w.frame.globals))


def SETFUNC(w: Walker, state: State, part: int) -> None:
    made, value = state.stack.pop(), state.stack.pop()
    match part:
        case 1:
            made.defaults = items_of(w, value)
        case 2:
            made.keyword_defaults = dict(w.read(value) if isinstance(value, Dict) else value)
        case 8:
            made.closure = items_of(w, value)
    state.stack.append(made)


def ITER(w: Walker, state: State, arg: Any) -> None:
    value = state.stack.pop()
    made = iterate(w, value)
    w.fresh = made if made is not value else None
    if isinstance(value, Array):
        followers.follow(w, made, {value}, *followers.known_row(w, value))
    state.stack.append(made)


def YIELD(w: Walker, state: State, arg: Any) -> None:
    collected = state.locals.get(".yield")
    value = state.stack.pop()
    if collected is None:
        raise w.error("'yield' is not supported: return a list or use a generator expression")
    w.write(collected, (*w.read(collected), value))
    state.stack.append(None)


# ---------------------------------------------------------------- match statements


def LEN(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(indexing.length(w, state.stack[-1]))


def MATCH_SEQ(w: Walker, state: State, arg: Any) -> None:
    subject = state.stack[-1]
    if isinstance(subject, Abstract):
        state.stack.append(isinstance(subject, (Tuple, List)))
    else:
        known = isinstance(subject, collections.abc.Sequence)
        state.stack.append(known and not isinstance(subject, (str, bytes, bytearray)))


def MATCH_MAP(w: Walker, state: State, arg: Any) -> None:
    subject = state.stack[-1]
    state.stack.append(isinstance(subject, (Dict, collections.abc.Mapping)))


def MATCH_KEYS(w: Walker, state: State, arg: Any) -> None:
    keys, subject = state.stack[-1], state.stack[-2]
    contents = w.read(subject) if isinstance(subject, Dict) else subject
    if all(key in contents for key in keys):
        state.stack.append(w.environment.tuple_of(tuple([contents[key] for key in keys])))
    else:
        state.stack.append(None)


def MATCH_CLASS(w: Walker, state: State, count: int) -> None:
    names, cls, subject = state.stack.pop(), state.stack.pop(), state.stack.pop()
    if not w.environment.isinstance(w, subject, cls):
        state.stack.append(None)
        return
    if cls in (bool, float, int, str, tuple, list, dict, set, bytes) and count == 1:
        state.stack.append(w.environment.tuple_of((subject,)))
        return
    wanted = (*getattr(cls, "__match_args__", ())[:count], *names)
    if len(wanted) < count + len(names):
        raise TypeError(f"{cls.__name__}() accepts fewer positional sub-patterns than {count}")
    try:
        parts = tuple([objects.attribute(w, subject, name) for name in wanted])
    except AttributeError:
        state.stack.append(None)
    else:
        state.stack.append(w.environment.tuple_of(parts))


# ---------------------------------------------------------------- what ends the walk


def RAISE(w: Walker, state: State, arg: int) -> None:
    parts = _pop(state, arg if isinstance(arg, int) else 1)
    raised = parts[0] if parts else None
    if isinstance(raised, Builtin | Bound):
        raised = None
    error = None
    if isinstance(raised, type) and issubclass(raised, BaseException):
        error = raised()
    elif isinstance(raised, BaseException):
        error = raised
    if w.conditional:
        kind = type(error).__name__ if error is not None else "an exception"
        if isinstance(error, AssertionError):
            raise w.error(
                "an assertion on a dynamic value cannot fail on the device: "
                "assert what is known at compile time, or return a value that shows it"
            )
        raise w.error(
            f"{kind} would be raised where a dynamic condition holds, and a device cannot raise: "
            "return a value that shows it"
        )
    if error is None:
        raise w.error("an exception with dynamic arguments cannot be raised")
    raise error


def RERAISE(w: Walker, state: State, arg: Any) -> None:
    raise w.error("exceptions cannot be handled in a compiled function")


_INSTEAD: Final = {
    "try": "'try' is not supported: test the condition before, device code does not raise",
    "with": "'with' is not supported: open what is needed outside and pass the values",
    "async with": "'async with' is not supported in a compiled function",
    "await": "'await' is not supported in a compiled function",
}


def refusal(what: str) -> str:
    """What to say of a construct that is not supported."""
    return _INSTEAD.get(what, f"{what} is not supported in a compiled function")


def UNSUPPORTED(w: Walker, state: State, what: Any) -> None:
    raise w.error(refusal(what))


def IMPORT(w: Walker, state: State, name: str) -> None:
    raise w.error(
        f"'import' is not supported inside a compiled function: import '{name}' outside it"
    )


def BUILDCLASS(w: Walker, state: State, arg: Any) -> None:
    state.stack.append(builtins.__build_class__)


_OTHER_NAMES: Final = {"NULL_": "NULL"}
STEPS: Final[dict[str, Step]] = {
    _OTHER_NAMES.get(name, name): function
    for name, function in list(globals().items())
    if isinstance(function, types.FunctionType) and name.isupper()
}
STEPS["IMPORT_FROM"] = IMPORT
STEPS["DELGLOBAL"] = SETGLOBAL

__all__ = ["STEPS", "refusal", "truth"]
