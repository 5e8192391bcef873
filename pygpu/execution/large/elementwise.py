"""Vectorized functions of Dask arrays: broadcast, and computed chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.execution.large.sources import is_dask, of_tasks


def _by_places(
    function: Callable[..., Any], names: tuple[str, ...], dtype: Any, *values: Any
) -> Any:
    """A vectorized function, called by places with what has been given by name put back."""
    count = len(values) - len(names)
    return function(*values[:count], dtype=dtype, **dict(zip(names, values[count:], strict=True)))


def elementwise(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], dtype: Any
) -> Any:
    """The results of a vectorized function as Dask arrays: the arguments are broadcast, nothing is
    computed yet. A call for one element says what the results are."""
    from dask.array import blockwise  # optional, and slow to import

    values = [*args, *kwargs.values()]
    each = partial(_by_places, function, tuple(kwargs), dtype)
    shapes = [np.shape(value) for value in values]
    axes = max(map(len, shapes))
    sample = each(
        *[
            np.ones((1,) * len(shape), value.dtype) if is_dask(value) else _corner(value)
            for value, shape in zip(values, shapes, strict=True)
        ]
    )
    several = sample if isinstance(sample, tuple) else (sample,)
    given: list[Any] = []
    for value, shape in zip(values, shapes, strict=True):
        lazy = value if is_dask(value) or not shape else np.asarray(value)
        given += [lazy, tuple(range(axes - len(shape), axes)) if shape else None]
    if not isinstance(sample, tuple):
        widths = dict(enumerate(sample.shape[axes:], axes))
        index = (*range(axes), *widths)
        return blockwise(each, index, *given, new_axes=widths, dtype=sample.dtype, meta=sample[:0])
    together = blockwise(each, tuple(range(axes)), *given, dtype=object, meta=np.empty((0,) * axes))
    return tuple([_taken(together, place, one) for place, one in enumerate(several)])


def _corner(value: Any) -> Any:
    """One element of an argument that is no Dask array."""
    shape = np.shape(value)
    return np.asarray(value)[tuple([slice(0, 1)] * len(shape))] if shape else value


def _taken(together: Any, place: int, sample: NDArray[Any]) -> Any:
    """The array of one of the results, of an array whose chunks are tuples of them."""
    widths = sample.shape[together.ndim :]
    name = f"{together.name}-{place}"
    tasks: dict[Any, Any] = {
        (name, *at, *([0] * len(widths))): (getitem, (together.name, *at), place)
        for at in np.ndindex(*together.numblocks)
    }
    chunks = (*together.chunks, *[(width,) for width in widths])
    return of_tasks(tasks, name, chunks, sample.dtype, [together])
