"""Executes canonical instructions on plain Python values: what they mean, as a program.

`call` runs a Python function from its decoded instructions instead of by CPython, and likewise
every Python function that it calls.  Each instruction is the method of its name.
"""

# ruff: noqa: N802 (methods have the names of instructions)

import builtins
import operator
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from inspect import CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import CellType, CodeType, FunctionType, MethodType, new_class
from typing import Any

from pygpu.bytecode import ITERATOR_SLOTS, NULL, decode

UNBOUND = object()

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul},
    **{"&": operator.and_, "|": operator.or_, "^": operator.xor},
    **{"<<": operator.lshift, ">>": operator.rshift},
    **{"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv},
    **{"//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow},
    **{"&=": operator.iand, "|=": operator.ior, "^=": operator.ixor, "@=": operator.imatmul},
    **{"<<=": operator.ilshift, ">>=": operator.irshift},
    **{"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne},
    **{">": operator.gt, ">=": operator.ge},
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "not": operator.not_,
}
TESTS: dict[str, Callable[[Any], bool]] = {
    "true": bool,
    "false": operator.not_,
    "none": lambda value: value is None,
    "notnone": lambda value: value is not None,
}
CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda a: a, "s": str, "r": repr, "a": ascii}

# Flags of types, from CPython's object.h.
SEQUENCE, MAPPING, MATCH_SELF = 1 << 5, 1 << 6, 1 << 22


class UnsupportedError(Exception):
    """An UNSUPPORTED instruction was reached."""


def call(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """`function(*arguments, **keywords)`, executed here if it is written in Python."""
    if isinstance(function, MethodType):
        return call(function.__func__, function.__self__, *arguments, **keywords)
    if function is builtins.__build_class__:
        return build_class(*arguments, **keywords)
    if not isinstance(function, FunctionType):
        return function(*arguments, **keywords)
    code = function.__code__
    frame = Frame(bind(function, arguments, keywords), function.__globals__, code)
    running = frame.run()
    if code.co_flags & CO_GENERATOR:
        return running
    try:
        next(running)
    except StopIteration as finished:
        return finished.value
    raise AssertionError("a function that is no generator has yielded")


def bind(function: FunctionType, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The slots that a call starts with."""
    code = function.__code__
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    positional = names[:count]
    defaults = function.__defaults__ or ()
    slots = dict(zip(positional[count - len(defaults) :], defaults, strict=True))
    slots |= function.__kwdefaults__ or {}
    slots |= dict(zip(positional, arguments, strict=False))
    named = names[code.co_posonlyargcount : count + keyword_only]
    slots |= {name: value for name, value in keywords.items() if name in named}
    missing = [name for name in names[: count + keyword_only] if name not in slots]
    assert not missing, f"{function.__name__} lacks {missing}"
    rest = iter(names[count + keyword_only :])
    if code.co_flags & CO_VARARGS:
        slots[next(rest)] = arguments[count:]
    if code.co_flags & CO_VARKEYWORDS:
        slots[next(rest)] = {name: v for name, v in keywords.items() if name not in named}
    return slots | dict(zip(code.co_freevars, function.__closure__ or (), strict=True))


def build_class(function: FunctionType, name: str, *bases: Any, **keywords: Any) -> type:
    """The class whose body is the function."""
    cells = []

    def body(namespace: dict[str, Any]) -> None:
        slots = bind(function, (), {})
        frame = Frame(slots, function.__globals__, function.__code__, namespace)
        try:
            next(frame.run())
        except StopIteration as finished:
            cells.append(finished.value)

    return new_class(name, bases, keywords, body)


@dataclass(slots=True)
class Frame:
    """A running function."""

    slots: dict[str, Any]
    globals: dict[str, Any]
    code: CodeType
    namespace: dict[str, Any] = field(default_factory=dict)
    place: int = 0
    stack: list[Any] = field(default_factory=list)
    handled: BaseException | None = None
    result: Any = None  # of the iterator that a FOR has ended last

    def run(self) -> Generator[Any, Any, Any]:
        """Yields as the function does, and returns its result."""
        code = decode(self.code)
        place = 0
        while True:
            try:
                place, result = yield from self.walk(code.instructions, place)
            except UnsupportedError:
                raise
            except BaseException as error:
                handler = code.handlers.get(self.place)
                if handler is None:
                    raise
                del self.stack[handler.depth :]
                self.stack += [NULL] * handler.marked + [error]
                place = handler.target
            else:
                return result

    def walk(self, instructions: Any, place: int) -> Generator[Any, Any, tuple[int, Any]]:
        """Executes instructions up to a return; `self.place` is the last one."""
        while True:
            self.place = place
            instruction = instructions[place]
            op, arg = instruction.op, instruction.arg
            place += 1
            match op:
                case "JUMP":
                    place = arg
                case "BRANCH":
                    if TESTS[arg[0]](self.stack.pop()):
                        place = arg[1]
                case "FOR":
                    try:
                        self.stack.append(next(self.stack[-ITERATOR_SLOTS]))
                    except StopIteration as ended:
                        self.take(ITERATOR_SLOTS)
                        self.result = ended.value
                        place = arg
                case "YIELD":
                    self.stack.append((yield self.stack.pop()))
                case "RETURN":
                    result = self.stack.pop()
                    assert not self.stack, f"left on the stack: {self.stack}"
                    return place, result
                case _:
                    getattr(self, op)(arg)

    def take(self, count: int) -> list[Any]:
        """The topmost values, the top last; they leave the stack."""
        start = len(self.stack) - count
        assert start >= 0, "the stack is too short"
        taken = self.stack[start:]
        del self.stack[start:]
        return taken

    def push(self, value: Any) -> None:
        self.stack.append(value)

    # The stack.

    def CONST(self, value: Any) -> None:
        self.push(value)

    def NULL(self, _: None) -> None:
        self.push(NULL)

    def POP(self, _: None) -> None:
        self.stack.pop()

    def COPY(self, depth: int) -> None:
        self.push(self.stack[-depth])

    def SWAP(self, depth: int) -> None:
        stack = self.stack
        stack[-1], stack[-depth] = stack[-depth], stack[-1]

    # Variables.

    def LOAD(self, name: str) -> None:
        self.push(self.slots[name])

    def STORE(self, name: str) -> None:
        value = self.stack.pop()
        if value is UNBOUND:
            self.slots.pop(name, None)
        else:
            self.slots[name] = value

    def DELETE(self, name: str) -> None:
        del self.slots[name]

    def LOAD_CLEAR(self, name: str) -> None:
        self.push(self.slots.pop(name, UNBOUND))

    def CELL(self, name: str) -> None:
        self.slots[name] = CellType(self.slots[name]) if name in self.slots else CellType()

    def DEREF(self, name: str) -> None:
        self.push(self.slots[name].cell_contents)

    def SETREF(self, name: str) -> None:
        self.slots[name].cell_contents = self.stack.pop()

    def DELDEREF(self, name: str) -> None:
        del self.slots[name].cell_contents

    def GLOBAL(self, name: str) -> None:
        self.push(self.globals[name] if name in self.globals else getattr(builtins, name))

    def SETGLOBAL(self, name: str) -> None:
        self.globals[name] = self.stack.pop()

    def DELGLOBAL(self, name: str) -> None:
        del self.globals[name]

    def NAME(self, name: str) -> None:
        if name in self.namespace:
            self.push(self.namespace[name])
        else:
            self.GLOBAL(name)

    def STORENAME(self, name: str) -> None:
        self.namespace[name] = self.stack.pop()

    def DELNAME(self, name: str) -> None:
        del self.namespace[name]

    def LOCALS(self, _: None) -> None:
        self.push(self.namespace)

    def DICT_DEREF(self, name: str) -> None:
        namespace = self.stack.pop()
        self.push(namespace[name] if name in namespace else self.slots[name].cell_contents)

    def DICT_GLOBAL(self, name: str) -> None:
        namespace = self.stack.pop()
        if name in namespace:
            self.push(namespace[name])
        else:
            self.GLOBAL(name)

    # Parts of objects.

    def ATTR(self, name: str) -> None:
        self.push(getattr(self.stack.pop(), name))

    def SETATTR(self, name: str) -> None:
        value, thing = self.take(2)
        setattr(thing, name, value)

    def DELATTR(self, name: str) -> None:
        delattr(self.stack.pop(), name)

    def SUPER(self, name: str) -> None:
        function, cls, thing = self.take(3)
        self.push(getattr(function(cls, thing), name))

    def ITEM(self, _: None) -> None:
        thing, index = self.take(2)
        self.push(thing[index])

    def SETITEM(self, _: None) -> None:
        value, thing, index = self.take(3)
        thing[index] = value

    def DELITEM(self, _: None) -> None:
        thing, index = self.take(2)
        del thing[index]

    def SLICE(self, count: int) -> None:
        self.push(slice(*self.take(count)))

    # Operators.

    def UNARY(self, op: str) -> None:
        self.push(UNARY[op](self.stack.pop()))

    def BINARY(self, op: str) -> None:
        left, right = self.take(2)
        self.push(BINARY[op](left, right))

    COMPARE = BINARY

    def IS(self, inverted: bool) -> None:
        left, right = self.take(2)
        self.push((left is right) != inverted)

    def IN(self, inverted: bool) -> None:
        item, container = self.take(2)
        self.push((item in container) != inverted)

    # Containers.

    def TUPLE(self, count: int) -> None:
        self.push(tuple(self.take(count)))

    def LIST(self, count: int) -> None:
        self.push(self.take(count))

    def SET(self, count: int) -> None:
        self.push(set(self.take(count)))

    def MAP(self, count: int) -> None:
        items = self.take(2 * count)
        self.push(dict(zip(items[::2], items[1::2], strict=True)))

    def KEYMAP(self, count: int) -> None:
        keys = self.stack.pop()
        self.push(dict(zip(keys, self.take(count), strict=True)))

    def APPEND(self, depth: int) -> None:
        item = self.stack.pop()
        self.stack[-depth].append(item)

    def ADD(self, depth: int) -> None:
        item = self.stack.pop()
        self.stack[-depth].add(item)

    def MAPADD(self, depth: int) -> None:
        key, value = self.take(2)
        self.stack[-depth][key] = value

    def EXTEND(self, depth: int) -> None:
        items = self.stack.pop()
        self.stack[-depth].extend(items)

    def UPDATE(self, depth: int) -> None:
        items = self.stack.pop()
        self.stack[-depth].update(items)

    def MERGE(self, depth: int) -> None:
        items = self.stack.pop()
        target = self.stack[-depth]
        twice = [key for key in items if key in target]
        if twice:
            raise TypeError(f"multiple values for keyword argument {twice[0]!r}")
        target.update(items)

    def TO_TUPLE(self, _: None) -> None:
        self.push(tuple(self.stack.pop()))

    def UNPACK(self, count: int) -> None:
        items = list(self.stack.pop())
        if len(items) != count:
            raise ValueError(f"{len(items)} values to unpack, expected {count}")
        self.stack += reversed(items)

    def UNPACK_EX(self, counts: tuple[int, int]) -> None:
        before, after = counts
        items = list(self.stack.pop())
        end = len(items) - after
        if end < before:
            raise ValueError("not enough values to unpack")
        self.stack += reversed([*items[:before], items[before:end], *items[end:]])

    # Calls and functions.

    def CALL(self, shape: tuple[int, tuple[str, ...]]) -> None:
        count, names = shape
        arguments = self.take(count)
        self.invoke(
            arguments[: count - len(names)],
            dict(zip(names, arguments[count - len(names) :], strict=True)),
        )

    def CALL_EX(self, _: None) -> None:
        arguments, keywords = self.take(2)
        self.invoke(arguments, {} if keywords is NULL else keywords)

    def invoke(self, arguments: Any, keywords: Any) -> None:
        one, two = self.take(2)
        if one is NULL:
            function = two
        else:
            function = one
            if two is not NULL:
                arguments = [two, *arguments]
        if function is super and not arguments:  # finds its class and object in the caller
            thing = self.slots[self.code.co_varnames[0]]
            thing = thing.cell_contents if isinstance(thing, CellType) else thing
            arguments = [self.slots["__class__"].cell_contents, thing]
        self.push(call(function, *arguments, **keywords))

    def FUNCTION(self, _: None) -> None:
        code = self.stack.pop()
        closure = tuple(CellType() for _ in code.co_freevars)
        self.push(FunctionType(code, self.globals, closure=closure))

    def SETFUNC(self, what: int) -> None:
        value, function = self.take(2)
        match what:
            case 1:
                function.__defaults__ = value
            case 2:
                function.__kwdefaults__ = value
            case 4 | 16:
                pass
            case 8:
                kept, function = (
                    function,
                    FunctionType(
                        function.__code__,
                        self.globals,
                        argdefs=function.__defaults__,
                        closure=value,
                    ),
                )
                function.__kwdefaults__ = kept.__kwdefaults__
            case _:
                raise AssertionError(f"SETFUNC {what}")
        self.push(function)

    def BUILDCLASS(self, _: None) -> None:
        self.push(builtins.__build_class__)

    def IMPORT(self, name: str) -> None:
        level, names = self.take(2)
        self.push(__import__(name, self.globals, None, names, level))

    def IMPORT_FROM(self, name: str) -> None:
        self.push(getattr(self.stack[-1], name))

    # Control.

    def ITER(self, _: None) -> None:
        self.push(iter(self.stack.pop()))

    def PUSH_EXC(self, _: None) -> None:
        error = self.stack.pop()
        self.stack += [self.handled, error]
        self.handled = error

    def POP_EXC(self, _: None) -> None:
        self.handled = self.stack.pop()

    def MATCH_EXC(self, _: None) -> None:
        cls = self.stack.pop()
        self.push(issubclass(type(self.stack[-1]), cls))

    def MATCH_GROUP(self, _: None) -> None:
        rest, cls = self.take(2)
        if rest is None:
            self.stack += [None, None]
            return
        group = rest if isinstance(rest, BaseExceptionGroup) else BaseExceptionGroup("", [rest])
        found, other = group.split(cls)
        self.stack += [other if found is not None else rest, found]

    def UNHANDLED(self, _: None) -> None:
        errors = [error for error in self.stack.pop() if error is not None]
        self.stack[-1] = errors[0] if errors else None

    def RERAISE(self, _: None) -> None:
        raise self.stack.pop()

    def ENTER(self, _: None) -> None:
        context = self.stack.pop()
        self.push(context.__exit__)
        self.push(context.__enter__())

    def SPECIAL(self, name: str) -> None:
        self.push(getattr(self.stack.pop(), name))
        self.push(NULL)

    def EXIT(self, depth: int) -> None:
        error = self.stack[-1]
        self.push(self.stack[-depth](type(error), error, error.__traceback__))

    def RAISE(self, count: int) -> None:
        if not count:
            assert self.handled is not None
            raise self.handled
        exception, *cause = self.take(count)
        if cause:
            raise exception from cause[0]
        raise exception

    def UNSUPPORTED(self, what: str) -> None:
        raise UnsupportedError(what)

    # Strings and patterns.

    def FORMAT(self, how: tuple[str, bool]) -> None:
        conversion, has_spec = how
        spec = self.stack.pop() if has_spec else ""
        self.push(format(CONVERSIONS[conversion](self.stack.pop()), spec))

    def STRING(self, count: int) -> None:
        self.push("".join(self.take(count)))

    def RESULT(self, _: None) -> None:
        self.push(self.result)

    def LEN(self, _: None) -> None:
        self.push(len(self.stack[-1]))

    def MATCH_SEQ(self, _: None) -> None:
        self.push(bool(type(self.stack[-1]).__flags__ & SEQUENCE))

    def MATCH_MAP(self, _: None) -> None:
        self.push(bool(type(self.stack[-1]).__flags__ & MAPPING))

    def MATCH_KEYS(self, _: None) -> None:
        thing, keys = self.stack[-2:]
        self.push(tuple(thing[k] for k in keys) if all(k in thing for k in keys) else None)

    def MATCH_CLASS(self, count: int) -> None:
        thing, cls, names = self.take(3)
        if not isinstance(thing, cls):
            self.push(None)
        elif count == 1 and cls.__flags__ & MATCH_SELF:
            self.push((thing, *(getattr(thing, name) for name in names)))
        else:
            names = (*getattr(cls, "__match_args__", ())[:count], *names)
            found = all(hasattr(thing, name) for name in names)
            self.push(tuple(getattr(thing, name) for name in names) if found else None)
