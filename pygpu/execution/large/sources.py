"""Dask arrays as images: how they lie in chunks, and the images of one pixel that stand in for them
while a function is translated."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record

NO_OUT: Final = "out: a Dask array is computed later; store it with its to_zarr or store"


def is_dask(value: object) -> bool:
    """Whether it is a Dask array. Dask is not imported for the question."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(value, module.Array)


def holds_dask(values: Iterable[Any]) -> bool:
    """Whether any of a call's arguments is a Dask array, or one of the items that `*rest` or
    `**named` parameters take."""
    return "dask.array" in sys.modules and any(map(is_dask, _leaves(values)))


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) is tuple:
            yield from value
        elif type(value) is dict:
            yield from value.values()
        else:
            yield value


@record(eq=False)
class Source:
    """A Dask array as an image: how it lies in chunks."""

    array: Any
    given: Any  # as the caller has it: `array` may be that in other chunks
    name: str  # the parameter
    rows: tuple[int, ...]  # 0, then where each chunk ends
    columns: tuple[int, ...]

    @classmethod
    def of(cls, given: Any, name: str) -> Source:
        array = given
        if array.ndim not in (2, 3) or (array.ndim == 3 and not 1 <= array.shape[2] <= 4):
            raise ValueError(
                f"{name}: a Dask array of shape {array.shape}; an image is an array (H, W) or "
                "(H, W, C) with 1 to 4 channels (f.map takes stacks of images)"
            )
        if any(np.isnan(n) for sizes in array.chunks for n in sizes):
            raise ValueError(
                f"{name}: a Dask array whose chunks are of unknown size; "
                "call its compute_chunk_sizes() first"
            )
        if 0 in array.shape:
            raise ValueError(f"{name}: a Dask array of shape {array.shape} is empty")
        if array.ndim == 3 and len(array.chunks[2]) > 1:
            array = array.rechunk({2: -1})
        rows, columns = (tuple(accumulate(sizes, initial=0)) for sizes in array.chunks[:2])
        return cls(array, given, name, rows, columns)

    def standin(self) -> NDArray[Any]:
        """An image of one pixel of the same kind."""
        return np.zeros((1, 1, *self.array.shape[2:]), self.array.dtype)

    def key(self, row: int, column: int) -> tuple[Any, ...]:
        """The key of a chunk in the graph."""
        return (self.array.name, row, column, *([0] if self.array.ndim == 3 else []))


__all__ = ["NO_OUT", "Source", "holds_dask", "is_dask"]
