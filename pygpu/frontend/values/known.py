"""Between known Python objects and virtual ones: what is wholly known is handed to Python itself.

`concrete` makes the real object of a virtual one all of whose leaves are known; `Materialiser` does
so for the arguments of a call and carries back what the call changed. `lift` makes virtual what is
only read.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from pygpu.core.storage import ImageLike
from pygpu.frontend.values.callables import Function
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import as_objects, is_written
from pygpu.frontend.values.lazy import Indexed, Lazy
from pygpu.frontend.values.objects import (
    EITHER,
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Object,
    Vector,
    attributes,
)
from pygpu.frontend.values.values import (
    Abstract,
    Conflict,
    NotKnown,
    Parts,
    Tuple,
    describe,
    same_known,
)
from pygpu.language import vectors


def concrete(w: Evaluator, value: Any) -> Any:
    """The Python object that a value is. NotKnown if it has dynamic leaves."""
    return value if not isinstance(value, Abstract) else Materialiser(w).value(value)


def key_of(w: Evaluator, value: Any) -> Any:
    """What stands for a value as the key of a dict or in a set: the Python object that it is, and
    what is compared by identity itself. NotKnown if it has dynamic leaves."""
    if isinstance(value, Tuple) and any(map(_is_by_identity, value.items)):
        raise w.error(
            f"{describe(value)} is no key, nor in a set, as it holds objects that are compared by "
            "identity: take a number or a string of each in place of it"
        )
    if not _is_by_identity(value):
        w.environment.dependencies.add(value)
        return concrete(w, value)
    if isinstance(value, Object) and value.outside == EITHER:
        raise w.error(f"which of two objects {describe(value)} is depends on a dynamic value")
    return value


def _is_by_identity(value: Any) -> bool:
    if not isinstance(value, Instance):
        return isinstance(value, Function)
    equals: object = value.cls.__eq__
    return equals is object.__eq__


class Materialiser:
    """Makes real objects of virtual ones, the same for the same, and carries changes back."""

    def __init__(self, w: Evaluator) -> None:
        self.w = w
        self.made: dict[Object, Any] = {}
        self.functions: list[tuple[Any, Abstract]] = []

    def value(self, value: Any) -> Any:
        if not isinstance(value, Abstract):
            return value
        if type(value) is Tuple:
            return value.real(tuple([self.value(item) for item in value.items]))
        if not isinstance(value, Object):
            real = value.real(self.values(value.parts()))
            if isinstance(real, types.FunctionType | types.MethodType):
                self.functions.append((real, value))
            return real
        if value not in self.made:
            before = len(self.made)
            try:
                self.object(value)
            except NotKnown:  # nothing is carried back of what could not be filled
                for handle in list(self.made)[before:]:
                    del self.made[handle]
                raise
        return self.made[value]

    def values(self, parts: Parts) -> tuple[Any, ...]:
        return tuple([self.value(part) for _, part in parts])

    def object(self, handle: Object) -> None:
        contents = self.w.peek(handle)
        if isinstance(contents, Conflict):
            raise NotKnown
        if isinstance(handle, Iterator):
            self.made[handle] = self._generator(handle)
            return
        if type(handle) is Vector:  # of numbers: nothing to look into
            if type(contents) is not tuple or any(isinstance(x, Abstract) for x in contents):
                raise NotKnown
            self.made[handle] = vectors.holding(handle.cls, contents)
            return
        hollow = handle.hollow()
        if hollow is not None:  # it may hold itself
            self.made[handle] = hollow
        parts = self.values(handle.parts_of(contents))
        self.made[handle] = handle.fill(hollow, contents, parts)

    def _generator(self, handle: Iterator) -> Any:
        source, index = self.w.peek(handle)
        items = self.w.read(source) if isinstance(source, List) else source
        if isinstance(items, (Indexed, Lazy)):
            raise NotKnown
        if isinstance(items, tuple):
            for part in items[index:]:
                concrete(self.w, part)  # NotKnown before anything is taken

        def items_left() -> Any:
            while True:
                try:
                    yield concrete(self.w, self.w.next(handle))
                except StopIteration:
                    return

        return items_left()

    def carry_back(self) -> None:
        """Let the virtual objects hold what a call has made of the real ones."""
        back = {id(real): handle for handle, real in self.made.items()}
        for handle, real in list(self.made.items()):
            handle.settle(real, self.w.state.get(handle), self.made)
        for handle, real in list(self.made.items()):
            old = self.w.state.get(handle)
            new = handle.taken(real, old)
            if new is old:
                continue
            mapped = [(name, back.get(id(part), part)) for name, part in handle.parts_of(new)]
            if isinstance(handle, Array) or not _same_parts(handle.parts_of(old), mapped):
                self.w.write(handle, handle.gather(new, tuple([part for _, part in mapped])))

    def given(self) -> dict[int, Any]:
        """What each real object and function stands for that was made here, by its identity."""
        objects = [(id(real), handle) for handle, real in self.made.items()]
        return dict(objects + [(id(real), value) for real, value in self.functions])


def realised(w: Evaluator, function: Function) -> Any:
    """A Python function that closes over our own cells: to be walked, and to stand in a class."""
    made = types.FunctionType(
        function.code,
        function.globals,
        function.code.co_name,
        function.defaults,
        tuple([real_cell(w, cell) for cell in function.closure]),
    )
    made.__kwdefaults__ = dict(function.keyword_defaults)
    made.__qualname__ = function.name
    function.annotate(made)
    return made


def real_cell(w: Evaluator, cell: Any) -> types.CellType:
    """A cell for Python's functions that holds one of ours."""
    if isinstance(cell, types.CellType):
        return cell
    real = types.CellType(cell)
    w.environment.class_cells.append((real, cell))
    return real


def _same_parts(old: Iterable[Any], new: Iterable[Any]) -> bool:
    a, b = tuple(old), tuple(new)
    return len(a) == len(b) and all(
        name == other and (x is y or isinstance(x, Object) or _like(x, y))
        for (name, x), (other, y) in zip(a, b, strict=True)
    )


def _like(a: Any, b: Any) -> bool:
    if isinstance(a, Abstract):
        return not isinstance(b, Abstract)  # a structure that was made real and left alone
    return same_known(a, b)


def again(made: Any) -> Any:
    """What a call gave, as it was first, in objects of its own: those given before may have been
    changed, or have been left behind with the walk that they were made in."""
    copies: dict[Object, Any] = {}

    def copied(value: Any) -> Any:
        if not isinstance(value, Abstract):
            return value
        if not isinstance(value, Object):
            return value.rebuild(tuple([copied(part) for _, part in value.parts()]))
        if type(value) is Vector and type(value.initial) is tuple and value not in copies:
            copies[value] = Vector(value.cls, value.type, value.initial, value.outside)  # numbers
        if value not in copies:
            copies[value] = new = value.like(value, value.outside)
            assert new is not None
            contents = value.initial
            parts = tuple([copied(part) for _, part in value.parts_of(contents)])
            new.initial = value.gather(contents, parts)
        return copies[value]

    return copied(made)


_AS_USERS_WRITE: Final = ("filters", "frontend.walked", "polynomial")  # modules that are walked


def is_users_class(cls: type) -> bool:
    """Whether objects of the class can be virtual: made by Python code alone."""
    if cls is object or issubclass(cls, (ImageLike, BaseException)):
        return False
    if issubclass(cls, tuple):
        return is_tuple_class(cls)
    for base in cls.__mro__[:-1]:
        if not is_written(base):
            return False
        package, _, inner = base.__module__.partition(".")
        if package in ("numpy", "enum", "pygpu") and not inner.startswith(_AS_USERS_WRITE):
            return False
    if not any("__dict__" in vars(base) or "__slots__" in vars(base) for base in cls.__mro__[:-1]):
        return False  # written in C: nothing says what its objects hold
    new = next(base.__dict__["__new__"] for base in cls.__mro__ if "__new__" in base.__dict__)
    if new is not object.__dict__["__new__"] and not isinstance(
        new, (staticmethod, types.FunctionType)
    ):
        return False
    kind = type(cls)  # a metaclass may make classes as it likes, and objects as `type` does
    return kind.__module__ == "typing" or kind.__call__ is type.__call__


def is_tuple_class(cls: type) -> bool:
    """Whether it is a named tuple's class, or one that a program derives from tuple."""
    if hasattr(cls, "_fields"):
        return True
    others = cls.__mro__[:-2] if issubclass(cls, tuple) else ()
    return bool(others) and all(map(is_written, others)) and type(cls).__call__ is type.__call__


LIFTED: Final = 1024  # elements of an outside array or list that may meet another in a join


def lift(known: Any) -> Any:
    """A known value as a virtual one, to be read only, for a join with another: tuples, vectors,
    containers and objects of users' classes."""
    if isinstance(known, Abstract):
        return known
    kind = type(known)
    if kind in (list, dict) and len(known) <= LIFTED:
        return List(tuple(known), EITHER) if kind is list else Dict(dict(known), EITHER)
    if kind is np.ndarray and known.dtype.kind in "biufc" and known.size <= LIFTED:
        return Array(as_objects(known), EITHER)
    if isinstance(known, tuple) and (type(known) is tuple or is_tuple_class(type(known))):
        return Tuple(tuple.__new__(tuple, known), type(known))
    if isinstance(known, vectors.Vector):
        return Vector(type(known), known.TYPE, tuple(known), EITHER)
    if isinstance(known, types.FunctionType) and known.__closure__:
        return Function.of(known)
    if is_users_class(kind):
        return Instance(kind, attributes(known), EITHER)
    return known
