"""What functions of complex numbers mean: those of cmath, NumPy's on complex values, `complex`.

Most are functions of frontend/walked/complex_numbers.py, for arrays element by element.

    RULES[cmath.exp]        # of any number
    rules_of(others)        # abs and NumPy's: others' rules, unless an argument is complex
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.protocols import arrays, datamodel
from pygpu.frontend.values.evaluator import Evaluator, Rule, usable
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.objects import Array
from pygpu.frontend.values.values import describe
from pygpu.language.scalars import Complex

with later():
    from pygpu.frontend.numbers import complex_numbers
    from pygpu.frontend.walked import complex_numbers as walked


def _is_number(value: Any) -> bool:
    return is_complex(value) or scalar_kind(value) is not None


def _holds_complex(w: Evaluator, value: Any) -> bool:
    """Whether it is a complex number, or an array in which there is one."""
    if not arrays.is_array(value):
        return is_complex(value)
    array = w.read(value) if isinstance(value, Array) else value
    if array.dtype != object:
        return bool(array.dtype.kind == "c")
    return any(map(is_complex, array.reshape(-1)))


def _of_elements(w: Evaluator, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """The function of numbers, or of each element of arrays."""
    if not any(map(arrays.is_array, args)):
        return w.call(function, *args, **keywords)
    rows, shape = arrays.spread(w, args)
    return arrays.array_of([w.call(function, *row, **keywords) for row in rows], shape)


def _of_numbers(name: str) -> Rule:
    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        if not all(_is_number(arg) or arrays.is_array(arg) for arg in args):
            return NotImplemented
        return _of_elements(w, getattr(walked, name), args, keywords)

    return rule


def _of_complex(name: str, otherwise: Rule | None) -> Rule:
    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        if any(_holds_complex(w, arg) for arg in args):
            return _of_elements(w, getattr(walked, name), args, keywords)
        return NotImplemented if otherwise is None else otherwise(w, *args, **keywords)

    return rule


def _complex(w: Evaluator, real: Any = 0.0, imag: Any = 0.0) -> Any:
    """complex(x, y): x + y*1j, each of which may be complex itself."""
    re, im = _number(w, real), _number(w, imag)
    if is_complex(im):
        return w.binary("+", re, w.binary("*", im, 1j))
    if is_complex(re):
        is_zero = isinstance(im, (int, float)) and im == 0
        return re if is_zero else w.binary("+", re, complex_numbers.made_of(w, 0.0, im))
    return complex_numbers.made_of(w, re, im)


def _number(w: Evaluator, value: Any) -> Any:
    usable(w, value)
    if isinstance(value, Array) and w.read(value).size == 1:
        value = w.read(value).reshape(-1)[0]
    for name in ("__complex__", "__float__"):
        method = datamodel.find_method(w, value, name)
        if method is not None:
            return w.call(method)
    if not _is_number(value):
        raise TypeError(f"complex() takes numbers, got {describe(value)}")
    return value


def _real(w: Evaluator, x: Any) -> Any:
    """np.real, of an array of real numbers the array itself, of a number its own part."""
    if isinstance(x, Array) and not _holds_complex(w, x):
        return x
    return w.attribute(x, "real") if _is_number(x) else _of_numbers("real")(w, x)


def _imag(w: Evaluator, x: Any) -> Any:
    return w.attribute(x, "imag") if _is_number(x) else _of_numbers("imag")(w, x)


def _is_real(w: Evaluator, x: Any) -> Any:
    return w.compare("==", w.call(np.imag, x), 0)


def _is_complex(w: Evaluator, x: Any) -> Any:
    found = w.compare("!=", w.call(np.imag, x), 0)
    return np.bool_(found) if isinstance(found, bool) else found


# Functions of any numbers, and those that mean something else where a number is complex, each with
# its name among the walked ones.
_OF_NUMBERS: Final = {
    **{
        getattr(cmath, name): name
        for name in (
            "exp log log10 sqrt phase polar rect sin cos tan sinh cosh tanh asin acos atan asinh "
            "acosh atanh isnan isinf isfinite isclose"
        ).split()
    },
    np.angle: "angle",
}
_ALIKE: Final = "conjugate exp log log10 sqrt sin cos tan sinh cosh tanh isnan isinf isfinite"
_OF_COMPLEX: Final = {
    abs: "size_of",
    np.abs: "size_of",
    **{getattr(np, name): name for name in _ALIKE.split()},
    **{getattr(np, f"arc{name}"): f"a{name}" for name in "sin cos tan sinh cosh tanh".split()},
}
RULES: Final[dict[Any, Rule]] = {
    **{function: _of_numbers(name) for function, name in _OF_NUMBERS.items()},
    **dict.fromkeys((complex, np.complex64, np.complex128, Complex), _complex),
    np.real: _real,
    np.imag: _imag,
    np.isreal: _is_real,
    np.iscomplex: _is_complex,
    np.isrealobj: lambda w, x: not _holds_complex(w, x),
    np.iscomplexobj: lambda w, x: _holds_complex(w, x),
}


def rules_of(others: Mapping[Any, Rule]) -> dict[Any, Rule]:
    """The rules of functions that mean something else where an argument is complex."""
    return {
        function: _of_complex(name, others.get(function)) for function, name in _OF_COMPLEX.items()
    }
