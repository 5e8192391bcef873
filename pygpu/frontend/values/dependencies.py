"""What a translation has read from outside: globals and closure cells, and whether they changed.

Also those that are reachable through the code of what Python itself runs at compile time: functions
called with known arguments, and methods of known objects that operators, attributes and loops call.
A module's names are globals, however they are read. A name that such code binds anew while it runs
(a table that is made when it is first asked for) counts with the object that it has afterwards.
"""

from __future__ import annotations

import functools
import opcode
import sys
import types
from collections.abc import Iterable
from typing import Any, Final

_MISSING: Final = object()
_STORE: Final = opcode.opmap["STORE_GLOBAL"]
_WRITTEN_IN_PYTHON: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class Dependencies:
    """The names that were read, each with the object it stood for."""

    __slots__ = (
        *("_cells", "_classes", "_functions", "_globals", "_modules", "_names", "_passed"),
        *("_places", "_reached", "_rebinds"),
    )

    def __init__(self) -> None:
        self._globals: list[tuple[dict[str, Any], str, Any]] = []
        self._cells: list[tuple[types.CellType, Any]] = []
        self._places: dict[Any, int] = {}  # among the globals
        self._reached: set[int] = set()  # globals that Python's code may read, and nothing has yet
        self._rebinds = False  # whether some of that code binds globals
        self._functions: set[types.FunctionType] = set()
        self._classes: set[type] = set()
        self._passed: set[type] = set()  # classes whose objects need not be looked at again
        self._names: set[str] = set()  # that code has which was reached
        self._modules: dict[types.ModuleType, set[str]] = {}  # what was looked into of each

    def changed(self) -> bool:
        """Whether one of them has been rebound since it was read."""
        for names, name, value in self._globals:
            if names.get(name, _MISSING) is not value:
                return True
        for cell, value in self._cells:
            try:
                if cell.cell_contents is not value:
                    return True
            except ValueError:
                if value is not _MISSING:
                    return True
        return False

    def add_global(self, names: dict[str, Any], name: str) -> None:
        """A name that was read."""
        self._reached.discard(self._place(names, name))

    def _place(self, names: dict[str, Any], name: str) -> int:
        """Where a name stands among the globals, from now on."""
        key = id(names), name
        if key not in self._places:
            self._places[key] = len(self._globals)
            self._globals.append((names, name, names.get(name, _MISSING)))
        return self._places[key]

    def settle(self) -> None:
        """Python has run code that was reached: names that it has bound anew count as read now."""
        if self._rebinds:
            for place in tuple(self._reached):
                names, name, before = self._globals[place]
                now = names.get(name, _MISSING)
                if now is not before:
                    self._globals[place] = names, name, now
                    self.add(now)

    def add_cell(self, cell: types.CellType) -> None:
        if all(cell is not seen for seen, _ in self._cells):
            try:
                self._cells.append((cell, cell.cell_contents))
            except ValueError:
                self._cells.append((cell, _MISSING))

    def add_attribute(self, module: types.ModuleType, name: str) -> None:
        """A name that was read from a module."""
        if not _of_library(module.__name__):
            self.add_global(vars(module), name)

    def add_item(self, container: Any, key: Any) -> None:
        """An item that was read: of the names of a module, as `globals()` gives them, a global."""
        if type(container) is dict and "__builtins__" in container and isinstance(key, str):
            self.add_global(container, key)
        else:
            self.add(container, key)

    def add(self, *values: Any) -> None:
        """Note all that the code of these values, functions, methods and classes, may read."""
        waiting = [value for value in values if type(value) not in self._passed]
        while waiting:
            value = waiting.pop()
            cls = type(value)
            if cls in self._passed:
                continue
            if cls is types.FunctionType:
                waiting += self._function(value)
            elif cls is types.MethodType:
                waiting += (value.__func__, value.__self__)
            elif cls is functools.partial:
                waiting += (value.func, *value.args, *value.keywords.values())
            elif cls is slice:
                waiting += (value.start, value.stop, value.step)
            elif cls is property:
                waiting += (value.fget, value.fset)
            elif cls in (staticmethod, classmethod):
                waiting.append(value.__func__)
            elif issubclass(cls, type):
                waiting += self._class(value)
            elif cls is types.ModuleType:
                if not _of_library(value.__name__):
                    names = vars(value)
                    looked = self._modules.setdefault(value, set())  # modules may name each other
                    wanted = self._names.intersection(names) - looked
                    looked |= wanted
                    waiting += self._read(names, wanted)
            elif cls is _CACHED:
                waiting.append(value.__wrapped__)
            elif _of_library(cls.__module__) and callable(value) and hasattr(value, "__dict__"):
                parts = vars(value).values()  # such as numpy.vectorize has
                waiting += [part for part in parts if type(part) is types.FunctionType]
            else:
                self._passed.add(cls)
                waiting.append(cls)

    def _function(self, function: types.FunctionType) -> Iterable[Any]:
        """Note what a function names; what is to be looked into next."""
        module = function.__globals__.get("__name__", "")
        if function in self._functions:
            return
        self._functions.add(function)
        if _of_library(module):  # a user's function may be wrapped in it (functools)
            yield vars(function).get("__wrapped__")
            yield from vars(function).get("registry", {}).values()
            return
        names = _names(function.__code__)
        self._rebinds = self._rebinds or "globals" in names or _binds(function.__code__)
        for cls in self._classes:
            yield from _methods(cls, names - self._names)
        self._names |= names
        yield from self._read(function.__globals__, names)
        for cell in function.__closure__ or ():
            self.add_cell(cell)
            try:
                yield cell.cell_contents
            except ValueError:
                continue

    def _read(self, names: dict[str, Any], wanted: Iterable[str]) -> Iterable[Any]:
        for name in wanted:
            count = len(self._globals)
            if self._place(names, name) == count:
                self._reached.add(count)
            if name in names:
                yield names[name]

    def _class(self, cls: type) -> Iterable[Any]:
        """Note a class; its methods that are run by name or by the language are looked into."""
        if cls in self._classes or not cls.__flags__ & _WRITTEN_IN_PYTHON:
            return
        if _of_library(cls.__module__) and not _is_made_here(cls):
            return
        self._classes.add(cls)
        yield type(cls)
        yield from _methods(cls, self._names)
        yield from _methods(cls, [n for b in cls.__mro__ for n in vars(b) if n[:2] == "__"])
        yield from [
            part for b in cls.__mro__ for part in vars(b).values() if type(part) is property
        ]


_CACHED: Final = type(functools.cache(lambda: None))
_LIBRARIES: Final = sys.stdlib_module_names.union(
    [
        *("numpy", "scipy", "pygpu", "skimage", "PIL", "cv2", "numba", "llvmlite", "pandas"),
        *("matplotlib", "sklearn", "sympy", "torch", "jax", "cupy", "dask", "xarray"),
    ]
).difference(["__main__", "builtins"])  # exec gives classes the module builtins


def _of_library(module: str | None) -> bool:
    """Whether a module's names are never rebound; they would also be many."""
    if not isinstance(module, str):  # of some classes of C a descriptor
        return module is not None
    return module.partition(".")[0] in _LIBRARIES


def _is_made_here(cls: type) -> bool:
    """Whether a class is made by `type()` in a function that is compiled: it has this package's
    module for its own then."""
    module = cls.__module__
    if not isinstance(module, str) or not module.startswith("pygpu."):
        return False
    return cls is not vars(sys.modules[module]).get(cls.__name__)


def _methods(cls: type, names: Iterable[str]) -> Iterable[Any]:
    for name in names:
        for base in cls.__mro__:
            if name in vars(base):
                yield vars(base)[name]
                break


def _names(code: types.CodeType) -> set[str]:
    """The names a code object loads, nested functions included."""
    return set(code.co_names).union(*map(_names, _nested(code)))


def _binds(code: types.CodeType) -> bool:
    """Whether a code object binds a global, nested functions included."""
    return _STORE in code.co_code[::2] or any(map(_binds, _nested(code)))


def _nested(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
