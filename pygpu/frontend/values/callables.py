"""What may be called that is no Python object: functions that the function makes, bound methods."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from pygpu.frontend.values.values import Abstract, Choice, Conflict, Parts, named, numbered


class Function(Abstract):
    """A function made while translating: a lambda, a nested function, a generator expression."""

    __slots__ = (
        "annotations",
        "attributes",
        "closure",
        "code",
        "defaults",
        "globals",
        "keyword_defaults",
        "name",
    )

    def __init__(
        self,
        code: CodeType,
        globals: dict[str, Any],
        defaults: tuple[Any, ...] = (),
        keyword_defaults: Mapping[str, Any] | None = None,
        closure: tuple[Any, ...] = (),
    ) -> None:
        self.code: Final = code
        self.globals: Final = globals
        self.name: Final = code.co_qualname
        self.defaults = defaults
        self.keyword_defaults = dict(keyword_defaults or {})
        self.closure = closure  # Cells, or real cells of an outside function
        self.annotations: Any = None  # a dict; from 3.14 on the function that makes it
        self.attributes: Any = None  # a Dict, once one has been set

    @classmethod
    def of(cls, function: FunctionType) -> Function:
        """A Python function, to be walked."""
        return cls(
            function.__code__,
            function.__globals__,
            function.__defaults__ or (),
            function.__kwdefaults__,
            function.__closure__ or (),
        )

    def parts(self) -> Parts:
        parts = named(self.keyword_defaults) + numbered((*self.closure, *self.defaults))
        return parts if self.attributes is None else (*parts, ((".attributes",), self.attributes))

    def rebuild(self, parts: tuple[Any, ...]) -> Function | None:
        names, cells = len(self.keyword_defaults), len(self.closure)
        attributes = None
        if self.attributes is not None:
            *parts, attributes = parts  # type: ignore[assignment]
        keywords = dict(zip(self.keyword_defaults, parts[:names], strict=True))
        closure, defaults = tuple(parts[names : names + cells]), tuple(parts[names + cells :])
        if any(isinstance(cell, (Conflict, Choice)) for cell in closure):
            return None  # cells of known functions are Python's own, and no two become one
        made = Function(self.code, self.globals, defaults, keywords, closure)
        made.annotations, made.attributes = self.annotations, attributes
        return made

    def shape(self) -> Any:
        sizes = len(self.closure), len(self.defaults)
        return id(self.code), sizes, tuple(self.keyword_defaults), self.attributes is None

    def real(self, parts: tuple[Any, ...]) -> Any:
        made = self.rebuild(parts)
        assert made is not None
        name = self.code.co_name
        function = FunctionType(self.code, self.globals, name, made.defaults, made.closure)
        function.__kwdefaults__ = made.keyword_defaults
        for attribute, value in (made.attributes or {}).items():
            setattr(function, attribute, value)
        self.annotate(function)
        return function

    def annotate(self, function: Any) -> None:
        """Give a Python function the annotations of this one."""
        if isinstance(self.annotations, dict):
            function.__annotations__ = self.annotations
        elif self.annotations is not None and not self.annotations.closure:
            function.__annotate__ = self.annotations.real(self.annotations.defaults)

    def describe(self) -> str:
        return f"the function {self.name}"


class Bound(Abstract):
    """A callable with its first argument: a method, or functools.partial's with more."""

    __slots__ = ("args", "function", "keywords")

    def __init__(
        self, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any] | None = None
    ) -> None:
        self.function: Final = function
        self.args: Final = args
        self.keywords: Final = dict(keywords or {})

    def parts(self) -> Parts:
        return (((), self.function), *named(self.keywords), *numbered(self.args))

    def rebuild(self, parts: tuple[Any, ...]) -> Any:
        function, rest = parts[0], parts[1 + len(self.keywords) :]
        if isinstance(function, Conflict):
            return function
        return Bound(function, rest, dict(zip(self.keywords, parts[1:], strict=False)))

    def shape(self) -> Any:
        function = self.function
        same = function.shape() if isinstance(function, Abstract) else id(function)
        return len(self.args), tuple(self.keywords), same

    def real(self, parts: tuple[Any, ...]) -> Any:
        function, rest = parts[0], parts[1 + len(self.keywords) :]
        if len(rest) == 1 and not self.keywords:
            return MethodType(function, rest[0])
        return functools.partial(
            function, *rest, **dict(zip(self.keywords, parts[1:], strict=False))
        )

    def describe(self) -> str:
        return "a bound method"


class Builtin(Abstract):
    """A callable that the walker itself provides: a method of a list, say, its owner."""

    __slots__ = ("call", "name", "owner")

    def __init__(self, name: str, call: Callable[..., Any], owner: Any = None) -> None:
        self.name: Final = name
        self.call: Final = call
        self.owner: Final = owner

    def parts(self) -> Parts:
        return (((), self.owner),)

    def describe(self) -> str:
        return f"the method {self.name}"


class Super(Abstract):
    """What super() gives: attributes are looked up after `cls` in the order of `owner`'s class."""

    __slots__ = ("cls", "owner")

    def __init__(self, cls: type, owner: Any) -> None:
        self.cls: Final = cls
        self.owner: Final = owner

    def parts(self) -> Parts:
        return (((), self.owner),)

    def rebuild(self, parts: tuple[Any, ...]) -> Super:
        return Super(self.cls, *parts)

    def shape(self) -> Any:
        return self.cls


# What calls a __repr__ unless that is being called for this object already.
_GUARDS: Final = tuple(
    [
        guard(repr).__code__
        for guard in (reprlib.recursive_repr(), getattr(dataclasses, "_recursive_repr", None))
        if guard is not None
    ]
)


def guarded(function: Any) -> Any:
    """The __repr__ that a function guards from calls within itself, as those of dataclasses are;
    None of other functions."""
    if getattr(function, "__code__", None) not in _GUARDS:
        return None
    held = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    return held["user_function"].cell_contents
