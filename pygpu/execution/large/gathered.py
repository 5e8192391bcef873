"""Dask arrays of classes of their own: results computed to be in memory as a whole, of which each
chunk is written where it belongs there, and texels that know the bytes they are made of.

Dask's own way keeps all chunks until it copies them into a new array. That takes several times as
long as a cheap function of them, and twice the memory.

    found = edges(slide)               # a Dask array, for Dask as any other
    found.compute()                    # chunk by chunk into one array
    found.to_zarr("edges.zarr")        # as ever
    as_stored(Seen.of(floats, slide, 2)[::-1])     # slide[::-1]
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, Final

import numpy as np
from dask import local, threaded
from dask.array import Array
from dask.array.core import slices_from_chunks
from dask.base import compute_as_if_collection, get_scheduler
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.arguments.convert import MOVES
from pygpu.execution.large.work import run_block

HERE: Final = (threaded.get, local.get_sync)  # schedulers whose tasks have this process' memory
TOLD: Final = {"scheduler", "num_workers"}  # options of `compute` that change no more than who runs


class Gathered(Array):
    """A Dask array whose chunks are made by tasks (run_block, argument, ...) of its own layer: that
    function takes with `out` where the chunk is to be."""

    __slots__ = ()

    def compute(self, **options: Any) -> Any:
        """The whole in memory."""
        schedule = get_scheduler(scheduler=options.get("scheduler"), collections=[self])
        keys = list(flatten(self.__dask_keys__()))
        tasks = dict(self.dask.layers.get(self.name, {}))
        # Assignments to its parts, and ufuncs with out=, put another array's tasks into this one.
        is_as_made = all(_is_ours(tasks.get(key)) for key in keys)
        if schedule not in HERE or not options.keys() <= TOLD or not is_as_made:
            return super().compute(**options)  # type: ignore[no-untyped-call]
        made = RESERVE.beside(self.shape, self.dtype, None)  # chunks are of arrays of their own
        for key, place in zip(keys, slices_from_chunks(self.chunks), strict=True):
            function, *told = tasks[key]
            tasks[key] = (partial(_write, function, made[place]), *told)
        whole = f"whole-{self.name}"
        tasks[whole] = (_done, keys)  # a task of all chunks has Dask make them in their order
        graph = HighLevelGraph({**self.dask.layers, self.name: tasks}, self.dask.dependencies)
        compute_as_if_collection(Array, graph, whole, **options)
        return made


def _moving(name: str) -> Callable[..., Any]:
    """A method of Dask's that only moves what an array holds."""
    method = getattr(Array, name)

    @functools.wraps(method)
    def moved(self: Seen, *args: Any, **kwargs: Any) -> Any:
        return self.moved(method(self, *args, **kwargs), lambda a: method(a, *args, **kwargs))

    return moved


class Seen(Gathered):
    """Texels as functions see them, of an array whose bytes stand for them. What only moves the
    texels moves that array, too: `as_stored` has it."""

    __slots__ = ("stored",)
    stored: tuple[str, Array, int]  # this one's name, the array of bytes, the coordinates of texels

    @classmethod
    def of(cls, texels: Array, stored: Array, dims: int) -> Seen:
        made = cls(texels.dask, texels.name, texels.chunks, meta=texels._meta)
        made.stored = made.name, stored, dims
        return made

    def moved(self, made: Any, move: Callable[[Array], Any]) -> Any:
        """What some move has `made` of the texels, with the bytes moved alike."""
        name, stored, dims = self.stored
        if made is self or name != self.name:  # assignments to its parts give it another name
            return made
        more, last = made.ndim - dims, made.shape[-1] if made.ndim else 0
        has_channels = self.ndim > dims and (more == 1 or (more == 2 and last == self.shape[-1]))
        if has_channels and last > 4:  # no image: what functions see
            return made
        return Seen.of(made, move(stored), made.ndim - has_channels)

    def __getitem__(self, index: Any) -> Any:
        made = super().__getitem__(index)  # type: ignore[no-untyped-call]
        listed = list(index) if isinstance(index, tuple) else [index]
        for place in [n for n, each in enumerate(listed) if each is Ellipsis]:
            listed[place : place + 1] = [slice(None)] * (self.ndim - len(listed) + 1)
        if not all(isinstance(each, slice) for each in listed[: self.stored[2]]):
            return made  # no image: what functions see
        return self.moved(made, lambda array: array[index])

    reshape, transpose, swapaxes = map(_moving, ("reshape", "transpose", "swapaxes"))
    ravel, flatten, squeeze = map(_moving, ("ravel", "flatten", "squeeze"))
    rechunk, repeat, copy = map(_moving, ("rechunk", "repeat", "copy"))

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Of a dtype that was asked for, which no bytes stand for."""
        plain = Array(self.dask, self.name, self.chunks, meta=self._meta)
        return plain.astype(dtype, **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        made = super().__array_function__(func, types, args, dict(kwargs))  # type: ignore[no-untyped-call]
        given: list[Any] = []
        _swapped(given.append, (args, kwargs))
        # Values that come from elsewhere are texels as functions see them.
        is_alone = all(isinstance(each, Seen | Integral | str | None) for each in given)
        brings = func is np.insert or kwargs.keys() & {"constant_values", "end_values"}
        if func not in MOVES or brings or not is_alone or not isinstance(made, Array):
            return made
        if len({as_stored(each).dtype for each in given if isinstance(each, Seen)}) > 1:
            return made
        swap = functools.partial(_swapped, as_stored)
        return self.moved(made, lambda _: func(*swap(args), **swap(dict(kwargs))))


def as_stored(value: Any) -> Any:
    """The bytes of texels that were only moved; anything else as it is."""
    if not isinstance(value, Seen):
        return value
    name, stored, _ = value.stored
    return stored if name == value.name else value


def _swapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Arguments with others in place of arrays, in lists among them too."""
    if isinstance(value, list | tuple):
        return type(value)([_swapped(change, each) for each in value])
    if isinstance(value, dict):
        return {name: _swapped(change, each) for name, each in value.items()}
    return change(value)


def _is_ours(task: Any) -> bool:
    return type(task) is tuple and task[0] is run_block


def _write(function: Callable[..., Any], out: NDArray[Any], *told: Any) -> None:
    """Have a chunk be there, whether or not the function could write it there itself."""
    chunk = function(*told, out=out)
    if not np.may_share_memory(chunk, out):
        out[...] = chunk


def _done(chunks: list[None]) -> None:
    """What there is to do once all chunks are there."""


__all__ = ["Gathered", "Seen", "as_stored"]
