"""xarray's DataArrays in, DataArrays out: the results have the first one's dimensions, coordinates,
name and attributes, as far as they fit.

    edges(xarray.open_dataarray("heights.nc"))          # (y, x) with their coordinates
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def is_labelled(value: object) -> bool:
    """Whether it is a DataArray. xarray is not imported for the question."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(value, module.DataArray)


def holds_labelled(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether any of a call's arguments is a DataArray."""
    if "xarray" not in sys.modules:
        return False
    return bool(_labelled_in((*args, *kwargs.values())))


def _labelled_in(values: Sequence[Any]) -> list[Any]:
    """The DataArrays among values, and in the tuples among them, in their order."""
    leaves = [leaf for each in values for leaf in (each if type(each) is tuple else (each,))]
    return [leaf for leaf in leaves if is_labelled(leaf)]


def bare(value: Any) -> Any:
    """A value, or the values of a tuple, without labels."""
    if type(value) is tuple:
        return tuple([bare(each) for each in value])
    return value.data if is_labelled(value) else value


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The function's results for the arrays that DataArrays hold, as DataArrays."""
    given = _labelled_in((*args, *kwargs.values()))
    for other in given[1:]:
        _check_order(given[0].dims, other.dims)
    result = function(*map(bare, args), **{key: bare(value) for key, value in kwargs.items()})
    return result if kwargs.get("out") is not None else _relabelled(result, given[0])


def _check_order(dims: tuple[str, ...], others: tuple[str, ...]) -> None:
    """A ValueError for axes of the same names in another order: arrays are read by position."""
    shared = [name for name in dims if name in others]
    if shared != [name for name in others if name in dims]:
        order = ", ".join(map(repr, shared))
        raise ValueError(
            f"DataArrays of dimensions {dims} and {others} are read by position, and theirs are in "
            f"another order: give the second one's .transpose(..., {order})"
        )


def _relabelled(result: Any, first: Any) -> Any:
    """Results with the labels of a DataArray; numbers and others as they are."""
    if isinstance(result, dict):
        return {key: _relabelled(value, first) for key, value in result.items()}
    if type(result) in (tuple, list):
        return type(result)([_relabelled(value, first) for value in result])
    has_axes = getattr(result, "ndim", 0) > 0 and isinstance(result, (np.ndarray, *_lazy()))
    return _labelled(result, first) if has_axes else result


def _lazy() -> tuple[type, ...]:
    module = sys.modules.get("dask.array")
    return () if module is None else (module.Array,)


def _labelled(array: Any, first: Any) -> Any:
    """A result with the labels of a DataArray's leading axes that are as long. Axes of pictures of
    another length keep their names."""
    shared = 0
    for own, other in zip(array.shape, first.shape, strict=False):
        if own != other:
            break
        shared += 1
    dims = [*first.dims[:shared]]
    are_pictures = min(array.ndim, first.ndim) >= 2
    for axis in range(shared, array.ndim):
        stays = are_pictures and axis < first.ndim
        dims.append(first.dims[axis] if stays else _new_name(dims, axis))
    coords = {
        name: coordinate
        for name, coordinate in first.coords.items()
        if set(coordinate.dims) <= set(first.dims[:shared])
    }
    module = sys.modules["xarray"]
    made = module.DataArray(array, coords, dims, attrs=first.attrs)
    made.name = first.name  # told to the constructor, no name becomes that of a Dask array's graph
    return made


def _new_name(dims: Sequence[str], axis: int) -> str:
    name = "channel" if axis >= 2 else f"dim_{axis}"
    return name if name not in dims else f"{name}_{axis}"
