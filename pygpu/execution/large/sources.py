"""Dask arrays as images: how they lie in chunks, and the images of one pixel that stand in for them
while a function is translated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler
from pygpu.core.storage import Format, texels
from pygpu.execution.arguments.convert import TAKEN, storage_of
from pygpu.execution.arguments.results import ImageMaker

with later():
    from pygpu.execution.large import gathered  # it imports Dask

NO_OUT: Final = "out: a Dask array is computed later; store it with its to_zarr or store"


class Lazy:
    """A Dask array that comes with how it is read: see images.LazyImage."""

    __slots__ = ()

    array: Any
    sampler: Sampler


def is_dask(value: object) -> bool:
    """Whether it is a Dask array, or one that says how it is read; Dask is not imported to ask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(value, (module.Array, Lazy))


def holds_dask(values: Iterable[Any]) -> bool:
    """Whether an argument, or an item of `*rest` or `**named`, is a Dask array."""
    return "dask.array" in sys.modules and any(map(is_dask, leaves(values)))


def leaves(values: Iterable[Any]) -> Iterator[Any]:
    """A call's arguments, and what tuples and dicts among them hold."""
    for value in values:
        if type(value) is tuple:
            yield from value
        elif type(value) is dict:
            yield from value.values()
        else:
            yield value


def seen(array: Any, dims: int) -> Any:
    """A Dask array, or an array beside one, as functions see its texels, bytes in [0, 1]: for
    operators of Dask's. What has another shape than images stays as it is, and so do wide ints,
    which are looked at one by one where they are read."""
    axes, dtype = array.ndim - dims, array.dtype
    is_image = axes == 0 or (axes == 1 and 1 <= array.shape[-1] <= 4)
    if not is_image or dtype.kind not in "biuf" or (dtype.kind != "f" and dtype.itemsize > 2):
        return array
    format = Format(dtype, 1)
    if not is_dask(array):
        return texels(array, format)
    as_seen = texels(np.zeros(1, dtype), format).dtype
    return array if as_seen == dtype else array.map_blocks(texels, format, dtype=as_seen)


def of_tasks(
    tasks: Mapping[Any, Any], name: str, chunks: Any, dtype: Any, needed: Sequence[Any]
) -> Any:
    """The Dask array whose chunks are the tasks of this name, which need these arrays."""
    array = importlib.import_module("dask.array").Array
    graph = importlib.import_module("dask.highlevelgraph").HighLevelGraph
    made = graph.from_collections(name, tasks, dependencies=needed)
    return array(made, name, chunks, meta=np.empty((0,) * len(chunks), dtype))


@record(eq=False)
class Source:
    """A Dask array as an image, a signal or a volume: how it lies in chunks."""

    array: Any  # (H, W), or (D, H, W) of a volume, each with or without channels
    given: Any  # as the caller has it: a signal (N,), other chunks
    name: str  # the parameter
    dims: int
    bounds: tuple[tuple[int, ...], ...]  # along each axis of `array`: 0, then where chunks end
    reading: Sampler | None = None  # None: as what is read where nothing is said

    @classmethod
    def of(cls, given: Any, name: str, dims: int) -> Source:
        reading = given.sampler if isinstance(given, Lazy) else None
        given = given.array if isinstance(given, Lazy) else given
        array = gathered.as_stored(given)
        if array.ndim not in (dims, dims + 1) or (
            array.ndim > dims and not 1 <= array.shape[dims] <= 4
        ):
            more = " (f.map takes stacks of images)" if dims == 2 else ""
            raise ValueError(f"{name}: a Dask array of shape {array.shape}; {TAKEN[dims]}{more}")
        if any(np.isnan(n) for sizes in array.chunks for n in sizes):
            raise ValueError(
                f"{name}: a Dask array whose chunks are of unknown size; "
                "call its compute_chunk_sizes() first"
            )
        if 0 in array.shape:
            raise ValueError(f"{name}: a Dask array of shape {array.shape} is empty")
        if array.ndim > dims and len(array.chunks[dims]) > 1:
            array = array.rechunk({dims: -1})
        if dims == 1:
            array = array[None]
        axes = array.chunks[: max(dims, 2)]
        bounds = tuple([tuple(accumulate(sizes, initial=0)) for sizes in axes])
        return cls(array, given, name, dims, bounds, reading)

    def standin(self) -> Any:
        """An image of one pixel of the same kind."""
        shape = (1,) * self.dims + self.given.shape[self.dims :]
        texels = np.zeros(shape, self.array.dtype)
        if self.reading is None:
            return texels
        return ImageMaker.make(storage_of(texels, self.name, self.dims), self.reading)

    @property
    def size(self) -> tuple[int, int]:
        """The width and height of the image, or of a plane."""
        height, width = [edges[-1] for edges in self.bounds[-2:]]
        return width, height

    @property
    def depth(self) -> int:
        return self.bounds[0][-1] if self.dims == 3 else 1

    @property
    def is_held(self) -> bool:
        """Whether the array's graph holds the chunks themselves, as that of an array in memory."""
        layer = self.array.dask.layers.get(self.array.name)
        tasks = getattr(layer, "mapping", {})  # no other layer is looked into: it makes its tasks
        return isinstance(tasks.get(self.key(*[0] * len(self.bounds))), np.ndarray)

    def lengths(self, place: tuple[int, ...]) -> tuple[int, ...]:
        """How long a chunk is along each axis."""
        return tuple([e[i + 1] - e[i] for e, i in zip(self.bounds, place, strict=True)])

    def key(self, *place: int) -> tuple[Any, ...]:
        """The key of a chunk in the graph."""
        return (self.array.name, *place, *([0] if self.array.ndim > len(self.bounds) else []))
