"""What SciPy's functions mean, and NumPy's Fourier transforms: a room that few programs enter.

Discrete transforms: what the library itself gives of unit vectors is a known matrix, whatever
length, normalisation or type is asked for; its zeros cost nothing. Distributions and the functions
that they are made of are Python functions that are walked (frontend/walked/distributions.py).

    np.fft.rfft(window)     # window @ np.fft.rfft(np.eye(8)), real and imaginary parts apart
    stats.norm.cdf(x)       # 0.5 * erfc(-x / sqrt(2))
"""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.frontend.protocols import arrays
from pygpu.frontend.protocols.operators import fold
from pygpu.frontend.rules.walked_calls import in_python, walked_as
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.kinds import is_complex
from pygpu.frontend.values.known import concrete
from pygpu.frontend.walked import distributions

_ALONG: Final = frozenset(
    ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "dct", "idct", "dst", "idst")
)
_HOMES: Final = ("numpy.fft", "scipy.fft")
_NOISE: Final = 1e-15  # what a sine of a multiple of pi has left for zero


def named_rule(function: Any) -> Rule | None:
    """The rule of a function that is known by its name; None of any other."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        scipys = getattr(sys.modules.get("scipy.special"), name, None)
        return _OF_NUMBERS.get(name) if scipys is function else None
    if module == "_statistics" and name == "_normal_dist_inv_cdf":
        return in_python(distributions.inverse_normal)
    if module == _DISTRIBUTIONS and isinstance(function, types.FunctionType):
        return _METHODS.get(function.__qualname__)
    if module.startswith("scipy.linalg") and name == "norm":
        return _norm
    if not module.startswith(_HOMES):
        return None
    if name in _ALONG:
        return lambda w, a, *args, **more: _along(w, function, a, args, more)
    if name[:-1] in _ALONG and name[-1] in "2n":
        return lambda w, a, *args, **more: _over(w, function, a, args, more)
    return None


def _norm(w: Evaluator, a: Any, *how: Any, check_finite: Any = True, **more: Any) -> Any:
    """scipy.linalg.norm, whose functions are written in Fortran."""
    return w.call(np.linalg.norm, a, *how, **more)


_OF_NUMBERS: Final = {name: in_python(f) for name, f in distributions.OF_NUMBERS.items()}
# Methods of SciPy's distributions, by where they are defined.
_DISTRIBUTIONS: Final = "scipy.stats._distn_infrastructure"
_METHODS: Final = {name: walked_as(meaning) for name, meaning in distributions.METHODS.items()}


def _given(
    w: Evaluator, function: Any, args: tuple[Any, ...], more: dict[str, Any]
) -> dict[str, Any]:
    """What a transform is told beside the array, which is its first argument."""
    known = [concrete(w, each) for each in args]
    named = {name: concrete(w, each) for name, each in more.items()}
    given = inspect.signature(function).bind(None, *known, **named)
    return dict(list(given.arguments.items())[1:])


def _along(w: Evaluator, function: Any, a: Any, args: tuple[Any, ...], more: Any) -> Any:
    """A transform along one axis."""
    given = _given(w, function, args, more)
    axis = given.pop("axis", -1)
    array = np.moveaxis(arrays.to_objects(w, a), axis, -1)
    units = np.eye(array.shape[-1])
    reals = _clean(function(units, **given))
    imaginary = None
    if any(map(is_complex, array.reshape(-1))):
        imaginary = _clean(function(1j * units, **given))  # refuses them where the transform does
    rows = [_transformed(w, row, reals, imaginary) for row in array.reshape(-1, len(units))]
    made = np.empty((len(rows), reals.shape[1]), object)
    for place, row in enumerate(rows):
        made[place] = row
    moved = np.moveaxis(made.reshape(*array.shape[:-1], -1), -1, axis)
    return arrays.array_of(moved.reshape(-1), moved.shape)


def _clean(matrix: NDArray[Any]) -> NDArray[Any]:
    """Without what rounding has left of zeros."""
    if not np.iscomplexobj(matrix):
        return np.where(abs(matrix) < _NOISE, 0.0, matrix)
    return _clean(matrix.real) + 1j * _clean(matrix.imag)


def _transformed(
    w: Evaluator, row: NDArray[Any], reals: NDArray[Any], imaginary: NDArray[Any] | None
) -> list[Any]:
    """One row: its real parts by the one matrix, its imaginary parts by the other."""
    terms = [(x, weights) for x, weights in zip(row, reals, strict=True)]
    if imaginary is not None:
        parts = [(w.attribute(x, "real"), w.attribute(x, "imag")) for x in row]
        terms = [(x, weights) for (x, _), weights in zip(parts, reals, strict=True)]
        terms += [(x, weights) for (_, x), weights in zip(parts, imaginary, strict=True)]

    def made(column: int, part: str) -> Any:
        """The sum of the values, each by that part of its weight."""
        pairs = [(x, float(getattr(weights[column], part))) for x, weights in terms]
        products = [x if weight == 1 else w.binary("*", x, weight) for x, weight in pairs if weight]
        return fold(w, "+", products) if products else 0.0

    columns = range(reals.shape[1])
    if not np.iscomplexobj(reals):
        return [made(k, "real") for k in columns]
    return [w.call(complex, made(k, "real"), made(k, "imag")) for k in columns]


def _over(w: Evaluator, function: Any, a: Any, args: tuple[Any, ...], more: Any) -> Any:
    """A transform over several axes: along each of them. Of real numbers to half of the results the
    last axis is the first to go, and back it is the last."""
    given = _given(w, function, args, more)
    name = function.__name__[:-1]
    home = next(home for home in _HOMES if function.__module__.startswith(home))
    module = sys.modules[home]
    if given.pop("s", None) is not None:
        raise w.error(f"{function.__name__} takes no s= here: pad or crop the array before")
    shape = arrays.to_objects(w, a).shape
    default = (-2, -1) if function.__name__[-1] == "2" else tuple(range(len(shape)))
    *first, last = given.pop("axes", None) or default
    plain = {"rfft": "fft", "irfft": "ifft", "hfft": "fft", "ihfft": "ifft"}.get(name, name)
    steps = [(plain, axis) for axis in first]
    steps = [*steps, (name, last)] if name in ("irfft", "hfft") else [(name, last), *steps]
    for each, axis in steps:
        a = w.call(getattr(module, each), a, axis=axis, **given)
    return a
