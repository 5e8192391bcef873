"""Values that are folded: their types, what users give as one, identities of NumPy's functions.

A value is a scalar or a vector, or a tuple of these, which is an image for each part.

    identity(np.maximum, vector("float", 2))          # Vec2(-inf, -inf)
    settled(np.add, (BOOL,), False, "auto", "scan")   # (INT,): sums of bools are ints
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.core.programs import UFUNCS
from pygpu.core.sampler import make
from pygpu.core.storage import Format, Storage
from pygpu.execution.arguments import uniforms
from pygpu.execution.arguments.results import ImageMaker, natural_dtype
from pygpu.execution.arrays.passes import IMAGES, made
from pygpu.language.scalars import UInt, number
from pygpu.language.vectors import CLASSES, Vector
from pygpu.types import KINDS, Type, vector, wider

# What devices call the functions of NumPy's that they may fold by themselves.
HOWS: Final[dict[Any, str]] = {ufunc: name for name, ufunc in UFUNCS.items()}
NEUTRAL: Final[dict[Any, float]] = {np.add: 0, np.multiply: 1}
MAKES: Final[dict[str, Callable[[Any], Any]]] = {
    "float": float,
    "int": int,
    "uint": UInt,
    "bool": bool,
}


def folding(function: Any) -> Any:
    """The function as it folds: NumPy's sums and products count bools, as its `reduce` and
    `accumulate` do, though of two bools np.add and np.multiply give a bool."""
    if function is np.add:
        return operator.add
    return operator.mul if function is np.multiply else function


def fold_of(function: Any, a: Any, b: Any) -> Any:
    """What the function folds two values into; NumPy's functions fold tuples part by part."""
    if isinstance(function, np.ufunc) and isinstance(a, tuple):
        return tuple([folding(function)(*parts) for parts in zip(a, b, strict=True)])
    return folding(function)(a, b)


def folded(function: Any, is_tuple: Any, a: Any, b: Any) -> Any:
    """The fold of two values, each a tuple of its parts. For compiled functions."""
    return fold_of(function, a, b) if is_tuple else (fold_of(function, a[0], b[0]),)


def _pair(function: Any, is_tuple: Any, images: Any, p: Any) -> Any:
    value = tuple([image(p) for image in images])
    value = value if is_tuple else value[0]
    return fold_of(function, value, value)


def settled(
    function: Callable[..., Any],
    types: Sequence[Type],
    is_tuple: bool,
    target: str,
    what: str,
    hint: str = "",
) -> tuple[Type, ...]:
    """The types that folding does not change any more, of values of these types. TypeError where
    the function gives other values than it takes."""
    _check_of_two(function, what)
    roles = {"function": "function", "is_tuple": "known", "images": IMAGES}
    fold = made(_pair, roles, target, function)
    current = tuple(types)
    for _ in KINDS:
        images = tuple([_sample(type) for type in current])
        after, gives_tuple = fold.types(is_tuple=is_tuple, images=images)
        alike = [type.size for type in after] == [type.size for type in types]
        if gives_tuple != is_tuple or not alike:
            raise TypeError(
                f"{what}: function(a, b) gives {described(after, gives_tuple)} of two values that "
                f"are {described(types, is_tuple)}: it must give what it takes{hint}"
            )
        both = tuple([wider(*pair) for pair in zip(current, after, strict=True)])
        if both == current:
            break
        current = both
    return current


def _check_of_two(function: Callable[..., Any], what: str) -> None:
    """TypeError where a function cannot be given two values."""
    takes: Any = ""
    try:
        if isinstance(function, np.ufunc):
            fits = function.nin == 2
        else:
            takes = inspect.signature(function)
            takes.bind(None, None)
            fits = True
    except ValueError:  # it says nothing of its parameters
        return
    except TypeError:
        fits = False
    if not fits:
        name = getattr(function, "__name__", shown(function))
        raise TypeError(f"{what}: function folds two values into one, got {name}{takes}")


def described(types: Sequence[Type], is_tuple: bool) -> str:
    """Types for people to read."""
    names = ", ".join(map(str, types))
    return f"({names}{',' * (len(types) == 1)})" if is_tuple else names


def _sample(type: Type) -> Any:
    """An image of one pixel of this type."""
    texels = np.ones((1, 1, type.size), natural_dtype(type))
    return ImageMaker.make(Storage.of(texels), make(Format(texels.dtype, type.size, False)))


# ---------------------------------------------------------------- values in hand


def value_of(numbers: Sequence[Any], type: Type) -> Any:
    """A scalar or vector of these components."""
    parts = [MAKES[type.kind](part) for part in numbers]
    return parts[0] if type.is_scalar else CLASSES[vector(type.kind, type.size)](*parts)


def checked(value: Any, type: Type, what: str) -> Any:
    """A value of a type, of what users write: one number is spread over vectors."""
    items = list(value) if isinstance(value, (Vector, list, tuple, np.ndarray)) else None
    if items is None:
        items = [value] * type.size
    if len(items) != type.size or any(number(item) is None for item in items):
        raise TypeError(
            f"{what} takes a value like those that are folded, {type}, got {shown(value)}"
        )
    constant = uniforms.convert(type, items[0] if type.is_scalar else tuple(items), what)
    return value_of(constant if isinstance(constant, tuple) else [constant], type)


def identity(function: Any, type: Type) -> Any:
    """The value with which NumPy's function leaves others as they are; None of other functions."""
    neutral: Any = None
    if function in (np.add, np.multiply):
        neutral = NEUTRAL[function]
    elif function in (np.maximum, np.minimum):
        neutral = _extreme(type, least=function is np.maximum)
    return None if neutral is None else value_of([neutral] * type.size, type)


def _extreme(type: Type, least: bool) -> float:
    """The least or greatest value of a kind."""
    if type.kind == "float":
        return -np.inf if least else np.inf
    if type.kind == "bool":
        return 0 if least else 1
    limits = np.iinfo(natural_dtype(type))
    return int(limits.min if least else limits.max)
