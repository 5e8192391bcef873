"""Folds of Dask arrays: each chunk is folded where it is, and what comes of them in a tree.

total = pygpu.reduce(np.add, dask_array)        # a Dask array of no dimensions
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.execution.arrays.scanning import scan

TOGETHER: Final = 16  # results that a node of the tree joins


@record(eq=False)
class ChunkFold:
    """A fold of arrays in memory, as workers run it, with `function` as what joins two results."""

    fold: Callable[..., Any]
    function: Callable[..., Any]
    grouped: bool

    def part(self, *arrays: NDArray[Any]) -> NDArray[Any] | None:
        """What a chunk gives; nothing where it is empty."""
        if arrays[0].size == 0:
            return None
        return np.asarray(self.fold(*map(np.ascontiguousarray, arrays)))

    def join(self, parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
        """What several results give together."""
        there = [part for part in parts if part is not None]
        if len(there) < 2:
            return there[0] if there else None
        stack = np.stack(there)
        if isinstance(self.function, np.ufunc):
            return np.asarray(self.function.reduce(stack, axis=0)).astype(stack.dtype)
        rows = stack if self.grouped else stack[:, None]
        joined = np.asarray(scan(self.function, narrowed(rows), axis=0))[-1]
        return joined if self.grouped else np.asarray(joined[0])

    def whole(self, parts: Sequence[NDArray[Any] | None]) -> NDArray[Any]:
        found = self.join(parts)
        if found is None:
            raise ValueError("reduce: an array without elements")
        return found


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers as images hold them."""
    narrow = {"f": np.float32, "i": np.int32, "u": np.uint32}.get(array.dtype.kind)
    return array if narrow is None else array.astype(narrow)


def reduced(fold: ChunkFold, images: Sequence[Any]) -> Any:
    """The fold of arrays of one size, of which some are Dask's, as one of Dask's."""
    dask_array, delayed = (
        importlib.import_module("dask.array"),
        importlib.import_module("dask").delayed,
    )
    first = next(each for each in images if hasattr(each, "dask"))
    chunks = first.chunks[:2]
    blocks = []
    for each in images:
        array = each if hasattr(each, "dask") else dask_array.from_array(np.asarray(each))
        if array.shape[:2] != first.shape[:2]:
            raise ValueError(f"reduce: images of different sizes: {first.shape}, {array.shape}")
        whole = dict.fromkeys(range(2, array.ndim), -1)
        array = array.rechunk({0: chunks[0], 1: chunks[1], **whole})
        blocks.append(array.to_delayed().ravel())
    level = [delayed(fold.part, pure=False)(*some) for some in zip(*blocks, strict=True)]
    while len(level) > TOGETHER:
        level = [
            delayed(fold.join, pure=False)(level[start : start + TOGETHER])
            for start in range(0, len(level), TOGETHER)
        ]
    result = delayed(fold.whole, pure=False)(level)
    texels = [np.zeros((1, 1, *each.shape[2:]), each.dtype) for each in images]
    like = fold.part(*texels)
    assert like is not None, "a texel is something"
    return dask_array.from_delayed(result, like.shape, like.dtype)


__all__ = ["ChunkFold", "reduced"]
