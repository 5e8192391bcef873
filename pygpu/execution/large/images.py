"""Dask arrays as the images of filters of several passes, and small values made of them.

Such a filter is written for pygpu.Images. A `LazyImage` has what of one can be had without a texel:
sizes, how it is read, operators. Compiled functions take it as they take a Dask array, and give
LazyImages back, read as it is.

    smooth = gaussian(LazyImage.of(slide, "im").sampled(boundary="mirror"))
    table = derived(cumulated, counts, shape=(1, 256))     # of an array that is not computed yet
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.sampler import Sampler
from pygpu.core.storage import Format, stored, texels
from pygpu.execution.arguments.convert import result_dtype, stored_dtype
from pygpu.execution.large.sources import Lazy, Source, is_dask, of_tasks, seen


class LazyImage(Lazy, NDArrayOperatorsMixin):
    """A Dask array (H, W) or (H, W, C) and how it is read."""

    __slots__ = ("array", "name", "sampler")

    def __init__(self, array: Any, reading: Sampler, name: str) -> None:
        self.array, self.sampler, self.name = array, reading, name

    @classmethod
    def of(cls, array: Any, name: str) -> LazyImage:
        """A Dask array as it is read where nothing is said. `name` is the filter's, for errors."""
        source = Source.of(array, name, 2)
        array = source.array
        dtype = stored_dtype(array.dtype)
        if dtype is None:
            raise TypeError(f"{name}: a Dask array of {array.dtype} holds no texels")
        channels = array.shape[2] if array.ndim == 3 else 1
        there = without_empty(source.array)  # of empty chunks many of Dask's functions make nothing
        taken = there[..., 0] if array.ndim == 3 and channels == 1 else there
        return cls(taken, sampler.default(dtype, channels), name)

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def height(self) -> int:
        return self.shape[0]

    @property
    def width(self) -> int:
        return self.shape[1]

    @property
    def channels(self) -> int:
        return self.format.channels

    @property
    def format(self) -> Format:
        return self.sampler.format

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.format.dtype

    @property
    def boundary(self) -> str:
        return self.sampler.boundary

    @property
    def cval(self) -> tuple[Any, ...]:
        return self.sampler.cval

    def sampled(
        self, boundary: str | None = None, cval: Any = None, interpolation: str | None = None
    ) -> LazyImage:
        """The array, read with another boundary or interpolation."""
        reading = sampler.adjusted(self.format, self.sampler, boundary, cval, interpolation)
        return LazyImage(self.array, reading, self.name)

    def reading(self, array: Any) -> LazyImage:
        """Another array, read as this one is as far as that can be."""
        channels = array.shape[2] if array.ndim == 3 else 1
        dtype = stored_dtype(array.dtype) or self.dtype
        format = Format(dtype, channels, self.format.normalize)
        return LazyImage(array, sampler.inherited(self.sampler, format), self.name)

    # ---- texels as functions see them

    def texels(self) -> Any:
        """The Dask array of its texels as functions see them."""
        narrowed = self.array if self.array.dtype == self.dtype else self.array.astype(self.dtype)
        return seen(narrowed, 2)

    def converted(self, dtype: Any) -> Any:
        """The Dask array, in the dtype asked for."""
        if dtype is None:
            return self.array
        wanted = result_dtype(dtype)
        meta = self.array._meta.astype(wanted)
        return self.array.map_blocks(_converted, self.format, wanted, dtype=wanted, meta=meta)

    def min(self) -> Any:
        """The least value of all channels, as a Dask array of no dimensions."""
        return without_empty(self.texels()).min()

    def max(self) -> Any:
        return without_empty(self.texels()).max()

    def span(self) -> tuple[Any, Any]:
        """The least and the greatest number, whatever is NaN."""
        there = without_empty(self.texels())
        if there.dtype.kind != "f":
            return there.min(), there.max()
        none = np.isnan(there)
        ends = [np.where(none, far, there) for far in (np.inf, -np.inf)]
        return ends[0].min(), ends[1].max()

    def std(self) -> Any:
        return without_empty(self.texels()).std(dtype=np.float64)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        given = [each.texels() if isinstance(each, LazyImage) else each for each in inputs]
        found = ufunc(*given)
        narrow = found.astype(np.float32) if found.dtype == np.float64 else found
        return self.reading(narrow)

    def __getitem__(self, index: Any) -> LazyImage:
        return self.reading(self.array[index])

    # ---- what there is none of

    @property
    def storage(self) -> Any:
        raise self.refusal()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise self.refusal()

    def refusal(self, what: str = "", instead: str = "") -> TypeError:
        """What is said where all texels are needed at one place."""
        what = what or f"{self.name}: a Dask array would have to be in memory as a whole"
        instead = instead or "give it the array's .compute(), or that of a part"
        return TypeError(f"{what}; {instead}")


def _converted(chunk: NDArray[Any], format: Format, dtype: np.dtype[Any]) -> NDArray[Any]:
    return stored(texels(chunk, format), dtype) if chunk.size else chunk.astype(dtype)


def counted(array: Any, count: Callable[..., NDArray[Any]], groups: int, *values: Any) -> Any:
    """The sum of what `count` gives of each chunk of a Dask array of two axes: so many ints.
    `values` are numbers that it is given besides, which may be Dask arrays."""
    there = without_empty(array)
    ones = [(1,) * blocks for blocks in there.numblocks]
    told = {"dtype": np.int64, "meta": np.empty((0, 0, 0), np.int64), "new_axis": 2}
    job = partial(_counted, count)
    parts = there.map_blocks(job, *values, chunks=(*ones, (groups,)), **told)
    return parts.sum(axis=(0, 1))


def _counted(count: Callable[..., NDArray[Any]], chunk: NDArray[Any], *values: Any) -> NDArray[Any]:
    return count(chunk, *values)[np.newaxis, np.newaxis]


def without_empty(array: Any) -> Any:
    """A Dask array without its empty chunks, which have neither a least value nor a mean."""
    sizes = tuple([tuple([n for n in own if n]) for own in array.chunks])
    return array if sizes == array.chunks else array.rechunk(sizes)


def tiled(
    function: Callable[[NDArray[Any]], NDArray[Any]], array: Any, tile: tuple[int, int], values: int
) -> Any:
    """A function of whole tiles of a Dask array, whose sides are multiples of theirs: it gives so
    many ints for each tile, (down, across, values)."""
    cuts = []
    for sizes, side in zip(array.chunks, tile, strict=True):
        count = max(max(sizes) // side, 1)  # tiles of a chunk, along an axis
        tiles = sum(sizes) // side
        cuts.append([min(count, tiles - first) for first in range(0, tiles, count)])
    chunks = [[side * count for count in own] for own, side in zip(cuts, tile, strict=True)]
    given = array.rechunk(tuple(map(tuple, chunks)))
    told = {"dtype": np.int32, "meta": np.empty((0, 0, 0), np.int32)}
    return given.map_blocks(function, chunks=(*map(tuple, cuts), (values,)), new_axis=2, **told)


def by_strips(
    function: Callable[[NDArray[Any]], Any], array: Any, axis: int | None, dtype: np.dtype[Any]
) -> Any:
    """A function of arrays in memory of each strip of a Dask array that is whole along an axis, or
    of the whole of it: Dask puts strips together of chunks."""
    strips = array.rechunk(-1 if axis is None else {axis: -1, 1 - axis: "auto"})
    meta = np.empty((0, 0), dtype)
    return strips.map_blocks(_strip, function, dtype, dtype=dtype, meta=meta)


def _strip(
    strip: NDArray[Any], function: Callable[[NDArray[Any]], Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    return np.asarray(function(strip)) if strip.size else np.empty(strip.shape, dtype)


def derived(
    function: Callable[..., Any], *values: Any, shape: tuple[int, ...] = (), dtype: Any = float
) -> Any:
    """A function of small arrays or numbers; where one is Dask's, a Dask array of one piece. It is
    a task beside theirs: `dask.delayed` would rename those, and the array would be read again."""
    if not any(map(is_dask, values)):
        return function(*values)
    given = [each.rechunk(-1) if is_dask(each) else each for each in values]
    told = [(each.name, *(0,) * each.ndim) if is_dask(each) else each for each in given]
    name = f"derived-{uuid.uuid4().hex}"
    tasks = {(name, *(0,) * len(shape)): (_array_of, function, np.dtype(dtype), *told)}
    sizes = tuple([(length,) for length in shape])
    return of_tasks(tasks, name, sizes, dtype, list(filter(is_dask, given)))


def _array_of(function: Callable[..., Any], dtype: np.dtype[Any], *values: Any) -> NDArray[Any]:
    return np.asarray(function(*values), dtype)
