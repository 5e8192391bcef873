"""Places in the user's source and the errors that point at them.

A `Place` is a span of source text, with the place of the call through which it was reached.
`CompileError` is a `SyntaxError`, so every Python front end (a terminal, a notebook, a debugger)
shows the user's own line with a caret under the expression.
"""

import functools
import inspect
import linecache
import math
import opcode
import operator
import os.path
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from pygpu.core.host.records import record

FEW: Final = 9  # elements of an array that is shown
ARRAY: Final = "an array of shape"  # how larger ones are shown
LONGEST: Final = 60  # characters of a value that is shown
NOTES: Final = 8  # calls shown of a chain of them
AT_RUN_TIME: Final = "at run time, "  # how notes on what checked programs raise begin
UNDER_CONDITION: Final = "on a path that depends on the condition at "
UNDER_CHOICE: Final = "for one of the values that may stand there, by a dynamic condition before"
AT_COMPILE_TIME: Final = "at compile time, "  # how notes on what known code raises begin
_RAISE: Final = opcode.opmap["RAISE_VARARGS"]
HOME: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")  # where PyGPU lies


@record
class Place:
    """A span of the user's source: lines from 1, columns in UTF-8 bytes from 0, as CPython's."""

    filename: str
    function: str
    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    caller: "Place | None" = None

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}, in {self.function}"

    def text(self) -> str | None:
        """The source line, or None where no source is to be had."""
        return linecache.getline(self.filename, self.line) or None if self.line else None

    def marked(self) -> str:
        """The place and its line of source, with carets under the expression."""
        text = self.text()
        if text is None:
            return str(self)
        source = text.strip()
        shown = f"{self}:\n    {source}"
        start, end = _character(text, self.column), _character(text, self.end_column)
        if start is None:
            return shown
        indent = len(text) - len(text.lstrip())
        start -= indent + 1
        end = len(source) if end is None or self.end_line != self.line else end - indent - 1
        return f"{shown}\n    {' ' * start}{'^' * (end - start)}" if start < end else shown

    def chain(self) -> list["Place"]:
        """The places of the calls that led here, innermost first; those in PyGPU are left out."""
        callers = []
        place = self.caller
        while place is not None:
            if not place.is_ours:
                callers.append(place)
            place = place.caller
        return callers

    @property
    def is_ours(self) -> bool:
        """Whether it is in PyGPU itself: helpers of PyGPU's own are walked, too."""
        return self.filename.startswith(HOME)

    def users(self) -> "Place | None":
        """The innermost place of the user's; None where all are PyGPU's."""
        return next((place for place in [self, *self.chain()] if not place.is_ours), None)


def _character(text: str | None, column: int | None) -> int | None:
    """A byte column as the 1-based character column that SyntaxError wants."""
    if text is None or column is None:
        return None
    return len(text.encode()[:column].decode(errors="replace")) + 1


class CompileError(SyntaxError):
    """What PyGPU refuses to translate: says what was found, its type, and what would work."""

    __module__ = "pygpu"  # as users know it

    def __init__(self, message: str, place: Place | None = None) -> None:
        place = place and place.users()
        if place is None:
            super().__init__(message)
            return
        text = place.text()
        end_text = text
        if place.end_line and place.end_line != place.line:
            end_text = linecache.getline(place.filename, place.end_line) or None
        details = (
            place.filename,
            place.line,
            _character(text, place.column),
            text,
            place.end_line,
            _character(end_text, place.end_column),
        )
        super().__init__(message, details)
        self.place = place
        for note in call_notes(place):
            self.add_note(note)


def call_notes(place: Place) -> list[str]:
    """One line for each call through which `place` was reached, innermost first; of a long chain
    (a recursion) both ends."""
    notes = []
    inner = place
    for caller in place.chain():
        source = caller.text()
        shown = f": {source.strip()}" if source else ""
        notes.append(f"{inner.function} was called from {caller}{shown}")
        inner = caller
    if len(notes) > NOTES:
        between = len(notes) - NOTES
        notes[NOTES // 2 : -NOTES // 2] = [f"... through {between} more calls ..."]
    return notes


def shown(value: object) -> str:
    """A value as errors show it, in a line: of arrays their shape."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None and math.prod(shape) > FEW:
        return f"{ARRAY} {shape} and dtype {dtype}"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def whole(value: Any) -> int | None:
    """The whole number that a value is; None of anything else, of truth values and arrays too."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_among(value: object, known: Iterable[object]) -> bool:
    """Whether a value is one of those known; arrays compare by elements, and lists have no hash."""
    return any(value is each or (type(each) is type(value) and value == each) for each in known)


_REFUSALS: Final = (TypeError, ValueError, IndexError, OverflowError, OSError)


def shorten(error: BaseException) -> None:
    """Take PyGPU's own frames out of the traceback of an error that is the user's: what PyGPU
    refuses, what known code raised, and wrong calls. Our own mistakes keep theirs."""
    notes = getattr(error, "__notes__", ())
    if (
        isinstance(error, CompileError)
        or hasattr(error, "__pygpu_refused__")
        or any(note.startswith((AT_COMPILE_TIME, AT_RUN_TIME)) for note in notes)
        or (isinstance(error, _REFUSALS) and _is_refusal(error.__traceback__))
        or (isinstance(error, OSError) and error.filename is not None)  # a file of the user's
    ):
        error.__traceback__ = _of_others(error.__traceback__)
        error.__pygpu_refused__ = True  # type: ignore[attr-defined]


class _Shortened:
    """`with shortened:` shortens what is raised within the block, as `shorten` does."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception):
            shorten(error)


shortened: Final = _Shortened()


def asked(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function of the user's gives for arguments; what it raises is the user's mistake."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        mark_as_theirs(error)
        raise


def mark_as_theirs(error: BaseException) -> None:
    """Note that what was raised in PyGPU's code is the user's mistake."""
    error.__pygpu_refused__ = True  # type: ignore[attr-defined]


_F = TypeVar("_F", bound=Callable[..., Any])


def guarded(function: _F, check: Callable[[str, tuple[Any, ...]], None] | None = None) -> _F:
    """The function, whose errors that are the user's show none of PyGPU's frames: for what users,
    or NumPy, call. `check` is given its name and arguments before, to raise what it would say of
    wrong ones. In a function that is compiled it is what it was, without check and guard."""
    flags = flags_of(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            check_flags(flags, args, kwargs)
            if check is not None:
                check(function.__name__, args)
            return function(*args, **kwargs)
        except Exception as error:
            if isinstance(error, TypeError) and _last(error.__traceback__) is guard:
                error.__pygpu_refused__ = True  # type: ignore[attr-defined]  # arguments misfit
                _name_as_called(error, function, args)
                name_unknown(error, function, kwargs)
            else:
                name_misfit(error, function, args, kwargs)
            shorten(error)
            raise

    guard = getattr(call, "__code__", None)
    call.__pygpu_plain__ = function, {}  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


_Flags = list[tuple[int, str, bool | None]]


def flags_of(function: Any) -> _Flags:
    """The parameters of a function that take True or False: places, names, and right values."""
    code, kinds = getattr(function, "__code__", None), getattr(function, "__annotations__", {})
    if code is None:
        return []
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    beyond = sys.maxsize  # of those by name alone
    return [
        (place if place < code.co_argcount else beyond, name, _FLAGS[kinds[name]])
        for place, name in enumerate(names)
        if kinds.get(name) in _FLAGS
    ]


_FLAGS: Final[Mapping[Any, bool | None]] = {"bool": False, bool: False, "bool | None": None}


def check_flags(flags: _Flags, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """TypeError for an argument of a call that is neither True nor False where it has to be."""
    for place, name, absent in flags:
        value = args[place] if place < len(args) else kwargs.get(name, absent)
        if value is not absent:
            check_flag(name, value)


def check_flag(name: str, value: Any) -> None:
    """TypeError for what is neither True nor False, nor NumPy's, nor 1 or 0."""
    if not isinstance(value, (int, np.bool_)) or value not in (0, 1):
        raise TypeError(f"{name}: takes True or False, got {shown(value)}")


def _last(traceback: types.TracebackType | None) -> types.CodeType | None:
    """The code that raised an error."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback and traceback.tb_frame.f_code


# What a word of an annotation takes: how that is said, and an attribute that such values have.
_TAKEN: Final[Mapping[str, tuple[str, str]]] = {
    "float": ("a number", "__float__"),
    "int": ("a whole number", "__index__"),
    "str": ("a string", "isidentifier"),
    "bool": ("True or False", "__bool__"),
    "None": ("None", ""),
    "tuple[int, int]": ("two whole numbers", "__index__"),
    "tuple[float, float]": ("two numbers", "__float__"),
}


def name_misfit(
    error: Exception, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Have an error that arose of an argument which is not what its annotation says name that
    argument, if its message does not. Calls that succeed pay nothing for it."""
    if not isinstance(error, (TypeError, ValueError)):
        return
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        annotation = parameter.annotation
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        taken = text.split(" | ")
        if "inhomogeneous" in str(error) and is_ragged(value):
            words = "rows of one length"
        elif any(each not in _TAKEN or _fits(value, each) for each in taken):
            continue
        else:
            words = " or ".join([_TAKEN[each][0] for each in taken])
        if not re.search(rf"\b{name}\b", str(error)):
            error.args = (f"{function.__name__}: {name} takes {words}, got {shown(value)}",)
            error.__pygpu_refused__ = True  # type: ignore[union-attr]
        return


# What stands here for keywords that other libraries' functions of images take.
_OUTSIDE: Final = "the image says what lies outside: pygpu.Image(a, boundary=..., cval=...)"
INSTEAD: Final = {
    "channel_axis": "channels are the last axis: leave it out",
    "preserve_range": "floats keep their range and bytes are 0 to 1: leave it out",
    "mode": _OUTSIDE,
    "cval": _OUTSIDE,
}


def _name_as_called(error: TypeError, function: Callable[..., Any], args: Sequence[Any]) -> None:
    """Have an error of a method's arguments name the class of the object, as users know it, and not
    one that this derives from."""
    owner = function.__qualname__.rpartition(".")[0]
    if owner and args and owner in [cls.__qualname__ for cls in type(args[0]).__mro__]:
        name, cls = function.__name__, type(args[0]).__name__
        called = cls if name == "__init__" else f"{cls}.{name}"
        error.args = (str(error).replace(f"{owner}.{name}()", f"{called}()", 1),)


def name_unknown(error: TypeError, function: Callable[..., Any], kwargs: Mapping[str, Any]) -> None:
    """Have an error of a keyword that a function does not take say what may be meant."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    unknown = [name for name in kwargs if name not in parameters]
    if not unknown or "unexpected keyword" not in str(error):
        return
    alike = [name for name in parameters if name[:3] == unknown[0][:3]]
    more = f"is {alike[0]} meant?" if alike else f"it takes {', '.join(parameters)}"
    error.args = (f"{error}; {INSTEAD.get(unknown[0], more)}",)


def is_ragged(value: Any) -> bool:
    """Whether it is a list of lists that make no array."""
    try:
        return isinstance(value, (list, tuple)) and np.ndim(value) < 0
    except ValueError:
        return True


def _fits(value: Any, taken: str) -> bool:
    """Whether a value is what a word of an annotation takes."""
    if taken == "None":
        return value is None
    attribute = _TAKEN[taken][1]
    if taken.startswith("tuple"):
        try:
            first, second = value
        except (TypeError, ValueError):
            return False
        return hasattr(first, attribute) and hasattr(second, attribute)
    return hasattr(value, attribute) and getattr(value, "shape", ()) == ()


# What code raises that does not mean to, and the rooms of the front end that say what happens when.
# What the others raise so is what Python says of the program's values: those rooms are its meaning.
_ACCIDENTS: Final = (LookupError, AttributeError, NameError)
_MACHINERY: Final = tuple(
    os.path.join(HOME, "frontend", room, "")
    for room in ("decode", "values", "joins", "effects", "flow", "calls", "walk")
)


def is_accident(error: BaseException) -> bool:
    """Whether an error is a mistake of PyGPU's own: raised in what walks functions, neither by a
    `raise` nor where Python was called for the function."""
    if not isinstance(error, _ACCIDENTS) or hasattr(error, "__pygpu_refused__"):
        return False
    code = _last(error.__traceback__)
    is_walking = code is not None and code.co_filename.startswith(_MACHINERY)
    return is_walking and not _is_refusal(error.__traceback__)


def _is_refusal(traceback: types.TracebackType | None) -> bool:
    """Whether PyGPU's own `raise` raised it, and it is no mistake of ours."""
    if traceback is None:
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return code.co_filename.startswith(HOME) and code.co_code[traceback.tb_lasti] == _RAISE


def _of_others(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without the frames of PyGPU's own."""
    every = []
    while traceback is not None:
        every.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for each in reversed(every):
        code = each.tb_frame.f_code
        if not code.co_filename.startswith(HOME):
            line: int | None = each.tb_lineno  # none between lines, where signals are taken, say
            line = code.co_firstlineno if line is None else line
            rest = types.TracebackType(rest, each.tb_frame, each.tb_lasti, line)
    return rest


class DeviceError(RuntimeError):
    """No device, or one that failed: says what was tried, with what result, and what to install."""

    __module__ = "pygpu"


class TooOld(DeviceError):
    """A driver lacks what a target's programs take."""


class NoSuchDevice(DeviceError):
    """There is no device of the number that the environment names."""


class OutOfMemory(DeviceError):
    """A device has no room for what a call brings there."""
