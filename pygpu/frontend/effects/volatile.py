"""Known calls that give something else each time: random numbers and clocks. Such a call is
executed once, like any other, so that all pixels see one value: hardly meant, and warned of. So are
calls that show something to somebody, where it is dynamic: nothing is shown.
"""

from __future__ import annotations

import functools
import sys
import time
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakSet

import numpy as np

from pygpu.bytecode import decode
from pygpu.core.errors import HOME
from pygpu.frontend.values.frames import Frame

# Generators, clocks and loggers by module and name: who never imported these has none.
_GENERATORS: Final = (
    ("random", "Random"), ("numpy.random", "Generator"), ("numpy.random", "RandomState"),
)  # fmt: skip
_SEEDED: Final = _GENERATORS[0], _GENERATORS[2], ("numpy.random", "default_rng")
_DATES: Final = (("datetime", "date"),)
_STILL: Final = frozenset("seed setstate getstate set_state get_state spawn bit_generator".split())
_MODULES: Final = frozenset(("secrets", "numpy.random", "numpy.random.mtrand"))
_CLOCKS: Final = frozenset(
    """
    time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns
    thread_time thread_time_ns ctime localtime gmtime strftime urandom uuid1 uuid4
    """.split()
)
_TIMED: Final = frozenset(("time", "posix", "nt", "os", "uuid"))  # the modules of these
DEPTH: Final = 50  # functions that are looked into for one call
_LEVELS: Final = frozenset("debug info warning error critical exception log".split())
_LOGGERS: Final = ("logging", "Logger"), ("logging", "LoggerAdapter")
_SETTINGS: Final = (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)
_TOLD: Final = frozenset(map(id, (print, warnings.warn, *_SETTINGS)))  # some callables have no hash


class _Warned:
    """The places that have been warned of: code objects, and instructions of each."""

    def __init__(self) -> None:
        self.codes: WeakSet[Any] = WeakSet()
        self.places: set[tuple[int, int]] = set()

    def first(self, frame: Frame) -> bool:
        """Whether a place is warned of for the first time."""
        code = frame.code.code
        if code not in self.codes:
            self.codes.add(code)
            self.places = {place for place in self.places if place[0] != id(code)}
        place = (id(code), frame.at)
        found = place in self.places
        self.places.add(place)
        return not found


_WARNED: Final = _Warned()


def is_volatile(function: Callable[..., Any]) -> bool:
    """Whether calls of a function give something else each time."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, _loaded(_GENERATORS)):
        return name not in _STILL
    module = getattr(function, "__module__", None)
    if isinstance(function, functools.partial):
        return is_volatile(function.func)
    if isinstance(owner, type) and issubclass(owner, _loaded(_DATES)):
        return name in ("now", "today", "utcnow")
    if name == "rvs" and (module or "").startswith("scipy.stats"):
        return True
    if module in _MODULES:
        return not isinstance(function, type) and name not in ("default_rng", *_STILL)
    return name in _CLOCKS and module in _TIMED


def _loaded(names: Sequence[tuple[str, str]]) -> tuple[type[Any], ...]:
    """The classes of these modules and names, of modules that somebody has imported."""
    return tuple([getattr(sys.modules[at], name) for at, name in names if at in sys.modules])


def _drawn_by(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What a function calls that gives something else each time, be it itself: calls of what its
    code names are found, through the functions that it calls, not what comes of calls."""
    waiting: list[Any] = [function]
    seen: set[types.CodeType] = set()
    while waiting and len(seen) < DEPTH:
        each = waiting.pop()
        if is_volatile(each):
            found: Callable[..., Any] = each
            return found
        if type(each) is types.FunctionType and each.__code__ not in seen:
            seen.add(each.__code__)
            if each.__code__.co_filename.startswith(HOME):  # of ours none draws, nor asks the time
                continue
            if not _is_of_library(each.__globals__):
                waiting += _named(each)
    return None


def _is_of_library(names: Mapping[str, Any]) -> bool:
    """Whether globals are those of a package that is no user's: Python's own, or installed."""
    module = sys.modules.get((names.get("__name__") or "").partition(".")[0])
    if module is None:
        return False
    file = getattr(module, "__file__", None) or ""
    return module.__name__ in sys.stdlib_module_names or "site-packages" in file


def _named(function: types.FunctionType) -> list[Any]:
    """What the code of a function reads by name: globals, captures, and attributes of modules and
    of generators of random numbers."""
    captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found: list[Any] = []
    held: Any = None
    for instruction in decode(function.__code__).instructions:
        name = instruction.arg
        match instruction.op:
            case "GLOBAL":
                held = function.__globals__.get(name)
            case "DEREF" if name in captured:
                held = _contents(captured[name])
            case "ATTR" | "METHOD":
                named = isinstance(held, (types.ModuleType, type, *_loaded(_GENERATORS)))
                held = getattr(held, name, None) if named else None
            case "CALL" if name == (0, ()) and any(held is one for one in _loaded(_SEEDED)):
                held = held().random  # what is drawn of it
            case "NULL":
                continue
            case _:
                held = None
        if callable(held):
            found.append(held)
    return found


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def is_report(function: Callable[..., Any]) -> bool:
    """Whether calls of a function only tell somebody something: `print`, logging, warnings."""
    if id(function) in _TOLD:
        return True
    name = getattr(function, "__name__", "")
    if type(name) is not str or name not in _LEVELS:
        return False
    logging = sys.modules.get("logging")
    is_method = isinstance(getattr(function, "__self__", None), _loaded(_LOGGERS))
    return is_method or function is getattr(logging, name, None)


def is_setting(function: Callable[..., Any]) -> bool:
    """Whether a function sets which warnings are shown."""
    return any(function is one for one in _SETTINGS)


def warn_of_report(frame: Frame, function: Callable[..., Any]) -> None:
    """Say, once a place, that nothing is told of dynamic values."""
    if _WARNED.first(frame):
        name = getattr(function, "__qualname__", None) or repr(function)
        _warn(
            frame,
            f"{name}() of a dynamic value shows nothing in a compiled function: to look at dynamic "
            "values call the function in plain Python with a Position, or return them",
        )


def called(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> list[Callable[..., Any]]:
    """What a known call calls: a function, and what it is given to call."""
    given = [keywords["key"]] if callable(keywords.get("key")) else []
    if function is np.datetime64 and args and args[0] in ("now", "today"):
        given.append(time.time)
    return [function, *given]


def warn(frame: Frame, function: Callable[..., Any], still: set[types.FunctionType]) -> None:
    """Say, once a place, that a call is executed once for all pixels, unless it is in `still`."""
    is_python = type(function) is types.FunctionType
    if is_python and function in still:
        return
    drawn = _drawn_by(function)
    if drawn is None and is_python:
        still.add(function)  # type: ignore[arg-type]
    if drawn is None:
        return
    while frame.caller and _is_of_library(frame.globals):  # the place is where the user asks
        frame = frame.caller
    if not _WARNED.first(frame):
        return
    drawn = getattr(drawn, "func", drawn)  # of a partial
    name = getattr(drawn, "__qualname__", None) or repr(drawn)
    _warn(
        frame,
        f"{name}() is executed once, when {frame.name} is compiled, and all pixels see that one "
        "value: pygpu.random has random numbers for each position; a value that changes from call "
        "to call is a parameter",
    )


def _warn(frame: Frame, message: str) -> None:
    place = frame.place()
    shown = place.users() or place
    warnings.warn_explicit(message, UserWarning, shown.filename, shown.line or 0)
