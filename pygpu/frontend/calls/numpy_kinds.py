"""What NumPy's functions of elements take and give, by what NumPy says of their dtypes.

    np.add of two bools is a bool; np.fabs of an int a float; np.gcd of floats is a TypeError

Integers where NumPy gives integers and the language floats (`np.floor(3)`) stay floats.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.errors import HOME
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import arrays, indexing
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.objects import Array, Vector
from pygpu.frontend.values.values import Dynamic, Tuple, describe
from pygpu.frontend.values.views import View
from pygpu.types import Kind

# Those that a loop folds, of items that are made one after the other.
FOLDED_BY_LOOPS: Final = frozenset(
    (np.sum, np.mean, np.prod, np.min, np.max, np.amin, np.amax, np.any, np.all)
)
# Those that have a rule, and give an array of no dimensions where all they are given is numbers.
_ARRAYS: Final = frozenset((np.where, np.select, np.piecewise, np.isin))
_DTYPES: Final[dict[Kind, Any]] = {"float": float, "int": int, "uint": int, "bool": bool}


def is_numpy(function: Any) -> bool:
    """Whether a function is NumPy's, other than those of polynomials, which are walked."""
    if isinstance(getattr(function, "__self__", None), np.ufunc):  # np.add.reduce
        return True
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] == "numpy" and not module.startswith("numpy.polynomial.")


def check_views(w: Evaluator, function: Any, args: Sequence[Any]) -> None:
    """An error for a dict's view as an array: NumPy takes one for a single object."""
    if not any(isinstance(arg, View) for arg in args) or function is np.fromiter:
        return
    if is_numpy(function) and not w.frame.code.code.co_filename.startswith(HOME):
        view = next(arg for arg in args if isinstance(arg, View))
        raise w.error(
            f"NumPy takes {describe(view)} for one object and no array: write "
            f"list(d.{type(view).__name__.lower()}())"
        )


def of_result(w: Evaluator, function: np.ufunc, args: tuple[Any, ...]) -> str | None:
    """The kind of a function's result as dtypes have it ("b", "i", "f"); None where that cannot be
    said. A TypeError where NumPy has no such function of what it is given."""
    if len(args) != function.nin:
        name = function.__name__
        raise TypeError(f"{name}() takes {function.nin} arguments here, got {len(args)}")
    if function.nout != 1:
        return None
    kinds = tuple([_kind(w, arg) for arg in args])
    return None if None in kinds else _resolved(function, kinds)


def _kind(w: Evaluator, arg: Any) -> Kind | None:
    if isinstance(arg, (Array, np.ndarray)):
        return arrays.kind_of(w.read(arg) if isinstance(arg, Array) else arg)
    type = vector_type(arg)
    return type.kind if type else scalar_kind(arg)


@functools.cache
def _resolved(function: np.ufunc, kinds: tuple[Kind, ...]) -> str:
    given = [np.dtype(_DTYPES[kind]) for kind in kinds]
    return function.resolve_dtypes((*given, None))[-1].kind


def in_array(function: Any, result: Any) -> Any:
    """A number in an array of no dimensions, where the function gives it so."""
    is_number = scalar_kind(result) or is_complex(result)
    return arrays.alone(result) if is_number and function in _ARRAYS else result


def in_kind(w: Evaluator, result: Any, kind: str) -> Any:
    """A result as bools where NumPy gives bools, as floats where it gives floats."""
    if isinstance(result, Array):
        contents = w.read(result)
        if contents.dtype != object:
            return result
        parts = [in_kind(w, part, kind) for part in contents.reshape(-1)]
        changed = any(a is not b for a, b in zip(parts, contents.reshape(-1), strict=True))
        return arrays.array_of(parts, contents.shape) if changed else result
    wanted: Kind | None = {"b": "bool", "f": "float"}.get(kind)  # type: ignore[assignment]
    if wanted and isinstance(result, Dynamic) and scalar_kind(result) != wanted:
        return arrays.cast(w, result, wanted)
    type = vector_type(result) if isinstance(result, Vector) else None
    if wanted and type is not None and type.kind != wanted:
        return elementwise(w, None, (result,), wanted)
    return result


def out_of(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Array | None:
    """The array of ours that a function is to put its result into; None without one."""
    if isinstance(function, np.ufunc):
        if function.nout != 1:
            return None
        out = args[function.nin] if len(args) == function.nin + 1 else keywords.get("out")
    else:
        out = keywords.get("out") if is_numpy(function) else None
    if isinstance(out, Tuple) and len(out.items) == 1:
        (out,) = out.items
    return out if isinstance(out, Array) else None


def where_it_is(w: Evaluator, mask: Any, made: Any, out: Array | None) -> Any:
    """What a function makes where a mask holds, elsewhere what its array had before; without one
    NumPy leaves it open, and it is 0."""
    if mask is True:
        return made
    if out is None:
        other = w.call(np.zeros_like, made)
    else:
        _check_cast(w, made, out)
        other = out
    chosen = w.call(np.where, mask, made, other)
    return chosen if out is not None else indexing.item(w, chosen, ())


def put_out(w: Evaluator, out: Array, result: Any) -> None:
    """Put what a function gives into an array, which is to hold such numbers."""
    made, there = [arrays.to_objects(w, each) for each in (result, out)]
    if made.shape != there.shape:
        raise ValueError(f"out has shape {there.shape}, and what is put there {made.shape}")
    _check_cast(w, made, there)
    indexing.set_item(w, out, Ellipsis, result)


def _check_cast(w: Evaluator, made: Any, there: Any) -> None:
    held = arrays.dtype_of(w, arrays.to_objects(w, there))
    if held.kind != "f":  # that of floats takes all numbers
        given = arrays.dtype_of(w, arrays.to_objects(w, made))
        if not np.can_cast(given, held, "same_kind"):
            raise TypeError(f"cannot put {given} into an array of {held}")
