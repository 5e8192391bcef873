"""Rounds of Dask arrays that may end before their number is reached: what decides is computed with
the chunks, and rounds after the end hand on what is there.

    ended = either(None, until(state))         # a Dask array of one truth value, or a bool
    state = chosen(ended, before, after)
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.storage import stored
from pygpu.execution.arguments.rounds import no_truth, truth


def either(before: Any, answer: Any) -> Any:
    """Whether rounds have ended before, or end by this answer: lazily where one is lazy."""
    if not hasattr(answer, "__dask_graph__"):
        return True if truth(answer) else before
    dask_array = importlib.import_module("dask.array")
    if not hasattr(answer, "shape"):
        answer = dask_array.from_delayed(answer, (), object)
    if answer.shape != ():
        raise no_truth(answer)
    given = (answer, ()) if before is None else (before, (), answer, ())
    return dask_array.blockwise(_either, (), *given, dtype=bool, meta=np.empty((), bool))


def _either(*answers: Any) -> NDArray[Any]:
    return np.asarray(any(map(truth, answers)))


def chosen(ended: Any, before: Sequence[Any], after: Sequence[Any]) -> tuple[Any, ...]:
    """`before` where rounds have ended, else `after`."""
    return tuple([_chosen(ended, *pair) for pair in zip(before, after, strict=True)])


def _chosen(ended: Any, before: Any, after: Any) -> Any:
    blockwise = importlib.import_module("dask.array").blockwise
    axes = tuple(range(after.ndim))
    given = before.rechunk(after.chunks), axes, after, axes, ended, ()
    return blockwise(_one, axes, *given, dtype=after.dtype, meta=after._meta)


def _one(before: NDArray[Any], after: NDArray[Any] | None, ended: Any) -> NDArray[Any]:
    if ended or after is None:
        return before
    return after


def only_row(array: Any) -> Any:
    """A signal, of an image of one row."""
    blockwise = importlib.import_module("dask.array").blockwise
    axes = tuple(range(array.ndim))
    told = {"dtype": array.dtype, "meta": np.empty((0,) * (array.ndim - 1), array.dtype)}
    return blockwise(_only_row, axes[1:], array, axes, concatenate=False, **told)


def _only_row(chunks: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    (chunk,) = chunks  # one along the axis that goes
    return None if chunk is None else chunk[0]


def stored_as(array: Any, dtype: np.dtype[Any]) -> Any:
    """Results as a function has them, in the dtype that is asked for."""
    if array.dtype == dtype:
        return array
    return array.map_blocks(stored, dtype, dtype=dtype, meta=array._meta.astype(dtype))
