"""The components of vectors: what swizzles mean, and what values are taken for components."""

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.language.componentwise import Componentwise, calculate
from pygpu.language.scalars import Int, UInt, number
from pygpu.types import Kind

Component = bool | int | float

CONVERT: Final[dict[Kind, Callable[[Any], Component]]] = {
    "bool": bool,
    "int": Int,
    "uint": UInt,
    "float": float,
}
DTYPE: Final[dict[Kind, type[np.generic]]] = {
    "bool": np.bool_,
    "int": np.int32,
    "uint": np.uint32,
    "float": np.float64,
}
_SETS: Final = ("xyzw", "rgba", "stpq")


@lru_cache(maxsize=1024)
def named(name: str, size: int) -> tuple[int, ...] | None:
    """The components that a name takes of a vector: (2, 0) of "zx"; None without such."""
    if 1 <= len(name) <= 4:
        for letters in _SETS:
            if not set(name) - set(letters[:size]):
                return tuple(map(letters.index, name))
    return None


def swizzle(name: str, size: int, *, write: bool = False) -> tuple[int, ...]:
    """The components that `v.name` means, v having `size`. AttributeError if it means none."""
    indices = named(name, size)
    if indices is None:
        choice = "; ".join(", ".join(letters[:size]) for letters in _SETS)
        raise AttributeError(
            f"a vector of {size} components has no attribute {name!r}: "
            f"its components are {choice}, and up to four of one set together"
        )
    if write and len(set(indices)) < len(indices):
        raise AttributeError(f"cannot assign to {name!r}: it names a component twice")
    return indices


def kind_of(value: Component) -> Kind:
    """The kind of a plain number."""
    if isinstance(value, float | bool):
        return "float" if isinstance(value, float) else "bool"
    return "uint" if isinstance(value, UInt) else "int"


def sum_of_products(first: Any, second: Any) -> Any:
    """The sum of the products of components, from the first on."""
    products = [calculate(operator.mul, x, y) for x, y in zip(first, second, strict=True)]
    return sum(products[1:], start=products[0])


def operand(value: Any, size: int) -> tuple[Any, ...] | None:
    """The components with which `size` others are combined; None if value is no operand.

    TypeError if it has another number of components.
    """
    single = number(value)
    if single is not None:
        return (single,) * size
    values = _numbers(value)
    if values is None:
        return None
    if len(values) != size:
        raise TypeError(unequal(len(values), size, shown(value)))
    return values


def unequal(length: int, size: int, value: str) -> str:
    """What is said of a value of other than `size` components, and how the two would meet."""
    message = f"{length} components where {size} are needed: {value}"
    small, large = sorted((length, size))
    if not 2 <= small < large <= 4:
        return message
    short = " or ".join(f"v.{letters[:small]}" for letters in _SETS[:2])
    return (
        f"{message}; {short} takes {small} of {large}, "
        f"Vec{large}(v{', 1' * (large - small)}) makes {large} of {small}"
    )


def flattened(name: str, parts: tuple[Any, ...]) -> list[Component]:
    """The components of a constructor's arguments, in order."""
    values: list[Component] = []
    for part in parts:
        single = number(part)
        if single is not None:
            values.append(single)
            continue
        numbers = _numbers(part)
        if numbers is None:
            raise TypeError(
                f"{name} takes numbers, vectors, and lists, tuples and one-dimensional arrays of "
                f"numbers, got {shown(part)}"
            )
        values.extend(numbers)
    return values


def _numbers(value: Any) -> tuple[Any, ...] | None:
    """The numbers that a vector, list, tuple or one-dimensional array holds; None of others."""
    is_sequence = isinstance(value, (Componentwise, list, tuple))
    if not is_sequence and not (isinstance(value, np.ndarray) and value.ndim == 1):
        return None
    numbers = tuple(map(number, value))
    return None if None in numbers else numbers
