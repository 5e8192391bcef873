"""Folds of Dask arrays: each chunk is folded where it is, and the results of chunks in a tree.

total = pygpu.reduce(np.add, dask_array)        # a Dask array of no dimensions
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import accumulate, product
from operator import getitem
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.execution.arguments.convert import TAKEN, unmasked
from pygpu.execution.arrays.scanning import scan
from pygpu.execution.large.sources import of_tasks

# What a chunk gives, or several together: a value for each part of tuples.
Part = NDArray[Any] | tuple[NDArray[Any], ...]

TOGETHER: Final = 16  # results that a node of the tree joins


@record(eq=False)
class ChunkFold:
    """A fold of arrays in memory, as workers run it, with `function` as what joins two results."""

    fold: Callable[..., Any]  # of the corner (x, y) of a chunk, and of chunks
    function: Callable[..., Any]
    rest: Callable[..., Any]  # the fold of tuples, whose parts are arrays (N,) or (N, C)
    grouped: bool
    least: bool | None = None  # where places are wanted: that of the least, or of the greatest

    def part(self, corner: tuple[int, int], *arrays: NDArray[Any]) -> Part | None:
        """What a chunk gives; nothing where it is empty."""
        if arrays[0].size == 0:
            return None
        plain = [np.ascontiguousarray(unmasked(array, "reduce: a chunk")) for array in arrays]
        found = self.fold(corner, *plain)
        if self.least is not None:
            return np.stack(found).astype(np.float64)
        return tuple(map(np.asarray, found)) if isinstance(found, tuple) else np.asarray(found)

    def join(self, parts: Sequence[Part | None]) -> Part | None:
        """What several results give together."""
        there = [part for part in parts if part is not None]
        if len(there) < 2:
            return there[0] if there else None
        if self.least is not None:
            return reduce(partial(first_extreme, least=self.least), there)
        if isinstance(there[0], tuple):
            stacks = [np.stack(each) for each in zip(*there, strict=True)]
            is_of_each = isinstance(self.function, np.ufunc)
            return tuple(map(self._each, stacks) if is_of_each else self._together(stacks))
        return self._each(np.stack(there))

    def _together(self, stacks: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """The fold of tuples."""
        groups = stacks[0].shape[1] if self.grouped else 1
        axes = 1 + self.grouped  # the others are channels
        rows = [narrowed(each.reshape(-1, *each.shape[axes:])) for each in stacks]
        if not self.grouped:
            return [np.asarray(each) for each in self.rest(None, *rows)]
        of = np.tile(np.arange(groups, dtype=np.int32), len(stacks[0]))
        return [np.asarray(each) for each in self.rest(groups, *rows, of)]

    def _each(self, stack: NDArray[Any]) -> NDArray[Any]:
        """The fold of arrays along their first axis."""
        if isinstance(self.function, np.ufunc):
            return np.asarray(self.function.reduce(stack, axis=0)).astype(stack.dtype)
        rows = stack if self.grouped else stack[:, None]
        joined = np.asarray(scan(self.function, narrowed(rows), axis=0))[-1]
        return joined if self.grouped else np.asarray(joined[0])

    def whole(self, parts: Sequence[Part | None]) -> Part:
        found = self.join(parts)
        if found is None:
            raise ValueError("reduce: an array without elements")
        return found

    def place(self, parts: Sequence[Part | None], axes: int) -> NDArray[Any]:
        """The coordinates, x first, of the first extreme; -1 for a group without texels."""
        found = np.moveaxis(np.asarray(self.whole(parts))[1 : 1 + axes], 0, -1).astype(np.int64)
        return found[..., 0] if axes == 1 else found


def first_extreme(a: NDArray[Any], b: NDArray[Any], least: bool) -> NDArray[Any]:
    """Of two values, each with its column and row, (3,) or for groups (3, N), that of which comes
    first what np.argmax and np.argmin look for: a NaN, else the greatest or the least. A group that
    has none has a column below 0."""
    (value, x, y), (other, other_x, other_y) = a, b
    is_nan, other_is_nan = np.isnan(value), np.isnan(other)
    is_earlier = (other_y < y) | ((other_y == y) & (other_x < x))
    is_better = other < value if least else other > value
    takes = np.where(
        (is_nan & other_is_nan) | (value == other), is_earlier, other_is_nan | (is_better & ~is_nan)
    )
    return np.where((other_x >= 0) & ((x < 0) | takes), b, a)


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers as images hold them."""
    narrow = {"f": np.float32, "i": np.int32, "u": np.uint32}.get(array.dtype.kind)
    return array if narrow is None else array.astype(narrow)


def reduced(fold: ChunkFold, images: Sequence[Any]) -> Any:
    """The fold of arrays of one size, of which some are Dask's, as one of Dask's."""
    dask_array = importlib.import_module("dask.array")
    first = next(each for each in images if hasattr(each, "dask"))
    axes = min(first.ndim, 2)
    for each in images:
        if each.ndim > 3 or (each.ndim == 3 and not 1 <= each.shape[2] <= 4):
            raise ValueError(
                f"reduce: an array of shape {each.shape}, where one is a Dask array; {TAKEN[2]}. "
                "Of volumes (D, H, W[, C]) and stacks give the planes below one another: "
                "array.reshape(-1, *array.shape[2:])"
            )
    chunks = first.chunks[:axes]
    arrays = []
    for each in images:
        array = each if hasattr(each, "dask") else dask_array.from_array(np.asarray(each))
        if array.shape[:2] != first.shape[:2]:
            raise ValueError(f"reduce: images of different sizes: {first.shape}, {array.shape}")
        whole = dict.fromkeys(range(axes, array.ndim), -1)
        arrays.append(array.rechunk({**dict(enumerate(chunks)), **whole}))
    texels = [np.zeros(((1, 1)[:axes] + each.shape[axes:]), each.dtype) for each in images]
    like = fold.part((0, 0), *texels)
    assert like is not None, "a texel is something"
    if fold.least is not None:
        like = fold.place([like], axes)
    name = f"reduce-{uuid.uuid4().hex}"
    tasks = _tree(fold, name, arrays, axes)
    last = [list(tasks)[-1]]
    wanted = (fold.whole, last) if fold.least is None else (fold.place, last, axes)

    def only(layer: str, task: Any, value: NDArray[Any]) -> Any:
        """The Dask array whose only chunk is a task; `value` is like it."""
        sizes = tuple([(length,) for length in value.shape])
        given = {**tasks, (layer, *(0,) * value.ndim): task}
        return of_tasks(given, layer, sizes, value.dtype, arrays)

    if not isinstance(like, tuple):
        return only(name, wanted, like)
    tasks[name] = wanted
    parts = enumerate(like)
    return tuple([only(f"{name}-{n}", (getitem, name, n), each) for n, each in parts])


def _tree(fold: ChunkFold, name: str, arrays: Sequence[Any], axes: int) -> dict[Any, Any]:
    """The tasks that fold each chunk, and those that join results, of which the last joins all."""
    lengths = arrays[0].chunks[:axes]
    starts = [accumulate(each[:-1], initial=0) for each in lengths]
    corners = [(*place[::-1], 0)[:2] for place in product(*starts)]
    keys = [_flat(array.__dask_keys__()) for array in arrays]
    tasks: dict[Any, Any] = {}
    level: list[Any] = []
    for number, (corner, *some) in enumerate(zip(corners, *keys, strict=True)):
        level.append((f"{name}-part", number))
        tasks[level[-1]] = (fold.part, corner, *some)
    depth = 0
    while len(level) > 1:
        depth += 1
        joined: list[Any] = []
        for start in range(0, len(level), TOGETHER):
            joined.append((f"{name}-join-{depth}", start))
            tasks[joined[-1]] = (fold.join, level[start : start + TOGETHER])
        level = joined
    return tasks


def _flat(keys: Any) -> list[Any]:
    """The keys of all chunks, in order."""
    return [key for each in keys for key in _flat(each)] if isinstance(keys, list) else [keys]
