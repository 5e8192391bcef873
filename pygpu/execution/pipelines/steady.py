"""Functions that do the same whenever they are given the same: known by what their code names.

    steady = Steady.of(corners, Pipeline)    # None where it may do something else, or besides
    steady.holds()                           # whether all that it names is still what it was

The code of such a function, and of what it calls, uses its arguments, constants, names that stand
for numbers, texts and small arrays, and calls of compiled functions, filters, NumPy's ufuncs and a
few of Python's own. So it has nothing to do anything else by: no objects that change, no modules of
random numbers, clocks or files. What is not known to be harmless is not.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from pygpu.bytecode import Instruction, decode
from pygpu.core.errors import HOME
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.programs.calls import Programs
from pygpu.frontend.values.dependencies import Dependencies

SMALL: Final = 1 << 12  # bytes of an array that is compared at each call
_PLAIN: Final = frozenset((int, float, complex, bool, str, bytes, type(None), range))
_CALLED: Final = frozenset(
    map(id, (abs, enumerate, len, list, map, max, min, range, reversed, round, sum, tuple, zip))
)
_OURS: Final = tuple([HOME + room for room in ("filters", "language", "glsl.py")])
# Of images and of lists that the function has made: nothing that writes a file or changes anything.
_ATTRIBUTES: Final = frozenset(
    "shape height width channels ndim dims append extend sum mean min max std".split()
)
_INSTRUCTIONS: Final = frozenset(
    """
    CONST NULL POP COPY SWAP LOAD STORE LOAD_CLEAR DELETE CELL DEREF SETREF GLOBAL ATTR METHOD
    ITEM SLICE UNARY BINARY COMPARE IS IN TUPLE LIST MAP KEYMAP APPEND EXTEND TO_TUPLE UNPACK
    UNPACK_EX CALL CALL_EX FUNCTION SETFUNC ITER FOR JUMP BRANCH RETURN MAPADD UPDATE MERGE
    """.split()
)


class Trusted:
    """In place of a `Steady`, of a function that is known to be one."""

    __slots__ = ()

    def holds(self) -> bool:
        return True


class Steady:
    """See the module's head."""

    __slots__ = ("_arrays", "_cleared", "_functions", "_names", "_pipelines", "_seen")

    def __init__(self, pipelines: type) -> None:
        self._pipelines: Final = pipelines
        self._names: Final = Dependencies()
        self._functions: Final[list[tuple[Any, ...]]] = []
        self._arrays: Final[list[tuple[Any, Any]]] = []
        self._cleared: Final[list[tuple[Programs, int]]] = []
        self._seen: Final[set[int]] = set()

    @classmethod
    def of(cls, function: Callable[..., Any], pipelines: type) -> Steady | None:
        """What makes a function steady, else None; it may call `pipelines`, a class."""
        found = cls(pipelines)
        return found if found._is_steady(function) else None

    def holds(self) -> bool:
        """Whether all that the function names is still what it was."""
        if self._names.changed():
            return False
        for programs, count in self._cleared:
            if programs.cleared != count:
                return False
        for function, code, *defaults in self._functions:
            if function.__code__ is not code or _defaults(function) != tuple(defaults):
                return False
        return all(known_key(array) == key for array, key in self._arrays)

    def _is_steady(self, value: Any) -> bool:
        """Whether a value that is named may be there, and be called."""
        cls = type(value)
        if cls in _PLAIN or isinstance(value, (np.generic, np.dtype)) or id(value) in self._seen:
            return True
        if id(value) in _CALLED or (cls is types.BuiltinFunctionType and value.__self__ is math):
            return True
        self._seen.add(id(value))  # what is named lives as long as this: the names hold it
        if isinstance(value, Programs):
            self._names.add(value.function)
            self._cleared.append((value, value.cleared))
            return True
        if isinstance(value, self._pipelines):
            return self._is_steady(value.__wrapped__)  # type: ignore[attr-defined]
        if isinstance(value, types.FunctionType):
            return _is_ours(value) or self._is_function(value)
        if cls is tuple:
            return all(map(self._is_steady, value))
        if cls is np.ndarray:
            self._arrays.append((value, known_key(value)))
            return value.nbytes <= SMALL and not value.dtype.hasobject
        if cls is functools.partial:
            return all(map(self._is_steady, (value.func, *value.args, *value.keywords.values())))
        if isinstance(value, type):
            return issubclass(value, np.generic) or value.__module__.startswith("pygpu.language")
        return isinstance(value, np.ufunc)

    def _is_function(self, function: types.FunctionType) -> bool:
        """Whether the code of a user's function is steady, and all that it names."""
        self._names.add(function)
        self._functions.append((function, function.__code__, *_defaults(function)))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        if not all(map(self._is_steady, defaults)):
            return False
        outside = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        codes, seen = [function.__code__], 0
        while seen < len(codes):
            code = decode(codes[seen])
            if code.refused or code.handlers or codes[seen].co_flags & _WAITS:
                return False
            if not self._is_code(code.instructions, function, outside):
                return False
            parts = codes[seen].co_consts
            codes += [each for each in parts if isinstance(each, types.CodeType)]
            seen += 1
        return True

    def _is_code(
        self,
        instructions: Iterable[Instruction],
        function: types.FunctionType,
        outside: dict[str, types.CellType],
    ) -> bool:
        held: Any = None  # the module that was named last
        for op, name, _ in instructions:
            named: Any = None
            match op:
                case "NULL":
                    continue
                case "GLOBAL":
                    named = function.__globals__.get(name, _BUILTINS.get(name))
                case "DEREF" if name in outside:
                    try:
                        named = outside[name].cell_contents
                    except ValueError:
                        return False
                case "SETREF" if name in outside:
                    return False
                case "ATTR" | "METHOD":
                    if held is not None:
                        named = getattr(held, name, None)
                        self._names.add_attribute(held, name)
                    elif name not in _ATTRIBUTES:
                        return False
                case _ if op not in _INSTRUCTIONS:
                    return False
            held = named if isinstance(named, types.ModuleType) else None
            if named is not None and held is None and not self._is_steady(named):
                return False
        return True


def _is_ours(function: types.FunctionType) -> bool:
    """Whether it is a filter or a function of the language, as users get it."""
    inner = inspect.unwrap(function)
    return function.__code__.co_filename.startswith(HOME) and (
        isinstance(inner, types.FunctionType) and inner.__code__.co_filename.startswith(_OURS)
    )


_WAITS: Final = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines
_BUILTINS: Final = vars(__import__("builtins"))


def _defaults(function: types.FunctionType) -> tuple[Any, ...]:
    """Values of parameters as they are now: a function's may be changed in place."""
    named = function.__kwdefaults__
    return function.__defaults__, *(named.values() if named else ())
