"""Results computed to be in memory as a whole: each chunk is written where it belongs there.

Dask's own way keeps all chunks until it copies them into a new array. That takes several times as
long as a cheap function of them, and twice the memory.

    found = edges(slide)               # a Dask array, for Dask as any other
    found.compute()                    # chunk by chunk into one array
    found.to_zarr("edges.zarr")        # as ever
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


def _is_ours(task: Any) -> bool:
    return type(task) is tuple and task[0] is run_block


def _write(function: Callable[..., Any], out: NDArray[Any], *told: Any) -> None:
    """Have a chunk be there, whether or not the function could write it there itself."""
    chunk = function(*told, out=out)
    if not np.may_share_memory(chunk, out):
        out[...] = chunk


def _done(chunks: list[None]) -> None:
    """What there is to do once all chunks are there."""


__all__ = ["Gathered"]
