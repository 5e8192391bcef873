"""Functions of numbers, applied to the components of vectors.

Numbers among vectors are used for every component. What is neither (an array, an image) is left
to NumPy's function of the same meaning.

    elementwise(math.hypot, np.hypot, (Vec2(3, 6), 4)) is the vector (5, hypot(6, 4))
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.core.operations.ops import TABLE
from pygpu.language.components import operand
from pygpu.language.scalars import number
from pygpu.language.vectors import Vector, from_components


def columns(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]] | None:
    """The arguments' numbers, one tuple for each component; a single one for numbers alone.

    None where an argument is neither a number nor a vector, nor 2 to 4 numbers in a list or tuple
    (beside a vector also in an array).
    """
    numbers = tuple(map(number, arguments))
    if None not in numbers:
        return [numbers]
    kinds = (Vector, list, tuple)
    if any(isinstance(value, Vector) for value in arguments):
        kinds += (np.ndarray,)  # type: ignore[assignment]
    sizes = [
        len(value)
        for value, single in zip(arguments, numbers, strict=True)
        if single is None and isinstance(value, kinds)
    ]
    if not sizes or not 2 <= sizes[0] <= 4:
        return None
    operands = []
    for value in arguments:
        values = operand(value, sizes[0])
        if values is None:
            return None
        operands.append(values)
    return list(zip(*operands, strict=True))


def check(name: str, arguments: tuple[Any, ...]) -> None:
    """TypeError where a function of this name can do nothing with an argument."""
    for value in arguments:
        is_given = number(value) is not None or isinstance(value, Vector)
        if not is_given and not _holds_numbers(value):
            raise TypeError(
                f"{name}: takes numbers, vectors and arrays of them, got {shown(value)}"
            )


def _holds_numbers(value: Any) -> bool:
    """Whether NumPy finds numbers in it. Images are asked no more: their texels may be far."""
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError:  # ragged
            return False
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biufc"
    return hasattr(value, "__array_ufunc__") or hasattr(value, "__array_interface__")


def elementwise(
    compute: Callable[..., Any], ufunc: Any, arguments: tuple[Any, ...], name: str = ""
) -> Any:
    """`compute` on each component, or `ufunc` on what has none. TypeError for what is no number."""
    found = columns(arguments)
    if found is None:
        check(name or compute.__name__, arguments)
        return ufunc(*arguments)
    results = tuple(compute(*column) for column in found)
    return results[0] if len(results) == 1 else from_components(results)


def float_function(code: str, text: str, name: str = "") -> Callable[..., Any]:
    """An operation of the table on floats, in double precision and without warnings, under the
    name that its row says, or under another one."""
    ufunc: Any = TABLE[code].exact
    name = name or TABLE[code].glsl

    def compute(*values: float) -> Any:
        with np.errstate(all="ignore"):
            return ufunc(*map(float, values)).item()

    def function(*arguments: Any) -> Any:
        if len(arguments) != ufunc.nin:
            takes = "1 argument" if ufunc.nin == 1 else f"{ufunc.nin} arguments"
            raise TypeError(f"{name} takes {takes}, got {len(arguments)}")
        return elementwise(compute, ufunc, arguments)

    compute.__name__ = function.__name__ = function.__qualname__ = name
    function.__module__ = "pygpu.glsl"
    function.__doc__ = text
    return guarded(function)


def alike(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers as floats if one of them is, as integers if one of them is, else as they are."""
    if any(isinstance(value, float) for value in values):
        return tuple(map(float, values))
    if all(isinstance(value, bool) for value in values):
        return values
    return tuple(int(value) if isinstance(value, bool) else value for value in values)


def absolute(x: Any) -> Any:
    return abs(x)


def signum(x: Any) -> Any:
    """1, 0 or -1, of the type of x; NaN of NaN."""
    if x != x:
        return x
    positive = (x > 0) - (x < 0)
    return positive if isinstance(x, bool) else type(x)(positive)


def smaller(x: Any, y: Any) -> Any:
    x, y = alike((x, y))
    return y if y < x else x


def larger(x: Any, y: Any) -> Any:
    x, y = alike((x, y))
    return y if y > x else x


def choice(condition: Any, x: Any, y: Any) -> Any:
    x, y = alike((x, y))
    return x if condition else y
