"""Trials of NumPy's functions that have no rule: whether NumPy's own code does to values that are
not known what it does to numbers.

That code asks what it is given for its dtype, compares, may write into its arguments. So it is run
with numbers in place of what is not known, twice: as plain Python would run it, and with the
numbers as elements of arrays of objects, which have operators alone. What is not the same in each
of several draws, with NaN, infinity, negative and equal numbers among them, is refused.
"""

from __future__ import annotations

import operator
import random
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.operations.ops import TABLE
from pygpu.frontend.numbers.operands import components, vector_type
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Complex, scalar_kind
from pygpu.frontend.values.objects import Array, List, Matrix
from pygpu.frontend.values.values import Abstract, Dynamic, Narrow, Tuple
from pygpu.language import matrices, vectors

Form = tuple[Any, ...]
"""What a result is: ("number", dtype, is an array, is a view), ("ours", a class of vectors or
matrices), ("known",) or ("sequence", form, ...)."""


class Disagreement(Exception):
    """Numbers and values that are not known fare differently."""


class Tried(Abstract):
    """A number in place of a value that is not known."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number: Final = number


class Numbers:
    """An evaluator of numbers for elements: floats overflow and divide as IEEE says."""

    _OPERATORS: Final = {row.symbol: row.operators[0] for row in TABLE.values() if row.operators}

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        function = operator.matmul if symbol == "@" else self._OPERATORS[symbol]
        return Tried(function(_number(a), _number(b)))

    def unary(self, symbol: str, a: Any) -> Any:
        return Tried(-_number(a))

    def call(self, function: Callable[..., Any], a: Any) -> Any:
        return Tried(function(_number(a)))

    def error(self, message: str) -> Exception:
        return Disagreement(message)


def _number(value: Any) -> Any:
    number = value.number if isinstance(value, Tried) else value
    return np.float64(number) if type(number) is float else number


class Draw:
    """Numbers for values that are not known, one for each."""

    def __init__(
        self, floats: tuple[float, ...], ints: tuple[int, ...], bools: tuple[bool, ...]
    ) -> None:
        self._from: Final = {"float": floats, "int": ints, "uint": ints, "bool": bools}
        self._random: Final = random.Random(len(floats))
        self._drawn: Final[dict[Any, Any]] = {}

    def number(self, value: Any) -> Any:
        """The number in place of a scalar that is not known; what is known is itself."""
        if isinstance(value, Complex):
            return complex(self.number(value.re), self.number(value.im))
        if not isinstance(value, Dynamic):
            return value
        if value.value not in self._drawn:
            kind = value.type.kind
            number: Any = self._random.choice(self._from[kind])
            is_unsigned = isinstance(value, Narrow) or kind == "uint"
            self._drawn[value.value] = abs(number) if is_unsigned else number
        number = self._drawn[value.value]
        return _of_width(value.dtype, number) if isinstance(value, Narrow) else number

    def plain(self, w: Evaluator, value: Any) -> Any:
        """An argument as plain Python would have it."""
        if type(value) is dict:
            return {name: self.plain(w, part) for name, part in value.items()}
        if type(value) in (list, tuple):
            return type(value)([self.plain(w, part) for part in value])
        if not isinstance(value, Abstract):
            return value.copy() if isinstance(value, np.ndarray) else value
        if scalar_kind(value) or isinstance(value, Complex):
            return self.number(value)
        if isinstance(value, Array):
            array = w.read(value)
            if array.dtype != object:
                return array.copy()
            return np.array([self.number(part) for part in array.reshape(-1)]).reshape(array.shape)
        of = vector_type(value)
        if of:
            return vectors.CLASSES[of](*[self.number(part) for part in components(w, value)])
        if isinstance(value, Matrix):
            return value.cls(*[self.plain(w, row) for row in items_of(w, value)])
        if isinstance(value, (List, Tuple)):
            made = [self.plain(w, part) for part in items_of(w, value)]
            return made if isinstance(value, List) else tuple(made)
        raise Disagreement


def _of_width(dtype: np.dtype[Any], number: int) -> np.integer[Any]:
    """An integer of fewer bits for a small one: sums and products of such wrap."""
    limits = np.iinfo(dtype)
    spread = (97 * number - limits.min) % (limits.max - limits.min + 1)
    return dtype.type(limits.min + spread)  # type: ignore[no-any-return]


def _draws() -> list[Draw]:
    mixed = tuple(np.linspace(-3.1, 4.7, 23).tolist())
    return [
        Draw(mixed, (*range(-9, 0), *range(1, 12)), (True, False)),
        Draw((*mixed[::-1], 0.5), (1, 2, 3, 5, 7), (True, False)),
        Draw((0.1, 0.25, 0.7), (0, 1), (True,)),
        Draw((np.nan, np.inf, -1.5, 2.25, -np.inf, np.nan, 0.0, 1.0), (-3, 0, 2), (False,)),
        Draw((2.0,), (-2,), (False, True)),
    ]


def form_of_result(
    w: Evaluator, function: Any, given: Any, on_elements: Callable[[Draw], Any]
) -> Form:
    """What a function gives, (args, keywords) given, where the trials agree. Raises what it raises
    of all numbers. `on_elements` runs it on elements that are a draw's."""
    forms = set()
    errors: list[Exception] = []
    for draw in _draws():
        args, keywords = draw.plain(w, given)
        arrays = _arrays(args) + _arrays(keywords)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = function(*args, **keywords)
            except Exception as raised:
                errors.append(raised)
                continue
            if not _same_arrays(arrays, _arrays(draw.plain(w, given))):
                raise Disagreement
            try:
                found = on_elements(draw)
            except ZeroDivisionError:  # of Python's ints, of which a device gives a number
                continue
            except Exception as raised:
                raise Disagreement from raised
            forms.add(_form(w, expected, found, arrays))
    is_one = not forms and len({str(error) for error in errors}) == 1
    if is_one and isinstance(errors[0], (TypeError, ValueError)):
        raise errors[0]
    if len(forms) != 1:
        raise Disagreement
    return forms.pop()


def _arrays(value: Any) -> list[Any]:
    """The arrays in an argument."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [array for part in value for array in _arrays(part)]
    return [value] if isinstance(value, np.ndarray) else []


def _same_arrays(a: list[Any], b: list[Any]) -> bool:
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind in "fc") for x, y in zip(a, b, strict=True)
    )


def _form(w: Evaluator, expected: Any, found: Any, arrays: list[Any]) -> Form:
    if isinstance(expected, (tuple, list)):
        parts = items_of(w, found) if isinstance(found, (List, Tuple, tuple, list)) else ()
        if len(parts) != len(expected):
            raise Disagreement
        pairs = zip(expected, parts, strict=True)
        return ("sequence", *[_form(w, a, b, arrays) for a, b in pairs])
    if isinstance(expected, (vectors.Vector, matrices.Matrix)):
        if not _same_numbers(np.asarray(expected), _found_numbers(w, found)):
            raise Disagreement
        return "ours", type(expected)
    is_array = type(expected) is np.ndarray
    if is_array or isinstance(expected, (bool, int, float, complex, np.number, np.bool_)):
        numbers = np.asarray(expected)
        if numbers.dtype.kind in "biufc":
            if not _same_numbers(numbers, _found_numbers(w, found)):
                raise Disagreement
            is_view = is_array and any(np.may_share_memory(expected, array) for array in arrays)
            return "number", numbers.dtype, is_array, is_view
    if type(expected) not in _KNOWN or type(found) is not type(expected) or found != expected:
        raise Disagreement
    return ("known",)


_KNOWN: Final = (str, bytes, type, type(None), slice)


def _found_numbers(w: Evaluator, found: Any) -> np.ndarray[Any, Any]:
    holder = np.empty((), object)
    holder[()] = found
    array = w.read(found) if isinstance(found, Array) else holder
    flat = [_number(part) for part in array.reshape(-1)]
    if not all(isinstance(n, (bool, int, float, complex, np.number, np.bool_)) for n in flat):
        raise Disagreement
    return np.array(flat).reshape(array.shape)


def _same_numbers(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return np.array_equal(a, b)
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


_UNTRIED: Final = ("save", "load", "from", "gen", "set", "test", "info", "show", "busday")


def is_untried(function: Any) -> bool:
    """Whether it reads or writes files or settings, or takes long: it is not tried."""
    return getattr(function, "__name__", "").startswith(_UNTRIED)
