"""xarray's DataArrays in, DataArrays out: the results have the first one's dimensions, coordinates,
name and attributes, as far as they fit.

    edges(xarray.open_dataarray("heights.nc"))          # (y, x) with their coordinates
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def is_labelled(value: object) -> bool:
    """Whether it is a DataArray. xarray is not imported for the question."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(value, module.DataArray)


def holds_labelled(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether any of a call's arguments is a DataArray."""
    if "xarray" not in sys.modules:
        return False
    return any(map(is_labelled, args)) or any(map(is_labelled, kwargs.values()))


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The function's results for the arrays that DataArrays hold, as DataArrays."""
    given = [value for value in (*args, *kwargs.values()) if is_labelled(value)]
    plain = [value.data if is_labelled(value) else value for value in args]
    named = {key: value.data if is_labelled(value) else value for key, value in kwargs.items()}
    result = function(*plain, **named)
    if kwargs.get("out") is not None:
        return result
    parts = result if isinstance(result, tuple) else (result,)
    made = [_labelled(part, given) for part in parts]
    return tuple(made) if isinstance(result, tuple) else made[0]


def _labelled(array: Any, given: Sequence[Any]) -> Any:
    """A result with the labels of the first DataArray whose leading axes are as long."""
    first = given[0]
    shared = 0
    for own, other in zip(array.shape, first.shape, strict=False):
        if own != other:
            break
        shared += 1
    dims = [*first.dims[:shared]]
    for axis in range(shared, array.ndim):
        free = axis < first.ndim and axis >= 2  # channels of another number: the name stays
        dims.append(first.dims[axis] if free else _new_name(dims, axis))
    coords = {
        name: coordinate
        for name, coordinate in first.coords.items()
        if set(coordinate.dims) <= set(first.dims[:shared])
    }
    module = sys.modules["xarray"]
    return module.DataArray(array, coords, dims, first.name, first.attrs)


def _new_name(dims: Sequence[str], axis: int) -> str:
    name = "channel" if axis >= 2 else f"dim_{axis}"
    return name if name not in dims else f"{name}_{axis}"


__all__ = ["call", "holds_labelled", "is_labelled"]
