"""Dask arrays in another size: each chunk of the result is made of the part of the array that it is
stretched from.

    large = resized(stretched, image, (2 * height, 2 * width))
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler
from pygpu.execution.arguments.convert import storage_of
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.large.images import LazyImage

AROUND: Final = 6  # texels of a neighbour that a chunk may read: splines reach 2, rounding 1, and
# 2 more texels may have been put before and behind an axis
LEAST: Final = 2 * AROUND  # texels of a piece


@record(eq=False)
class Axis:
    """Where an axis is cut: chunk k of the result is from `new[k]` up to `new[k + 1]`, and is
    stretched from what is around `old[k]` up to `old[k + 1]`."""

    new: tuple[int, ...]
    old: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], length: int) -> Axis:
        """Cut near to where a Dask array's chunks end."""
        whole = sum(sizes)
        new, old = [0], [0]
        for bound in np.cumsum(sizes)[:-1].tolist():
            to = round(bound * length / whole)
            of = round(to * whole / length)
            if new[-1] < to < length and of - old[-1] >= LEAST and whole - of >= LEAST:
                new.append(to)
                old.append(of)
        return cls((*new, length), (*old, whole))

    def sizes(self, cuts: Sequence[int]) -> tuple[int, ...]:
        return tuple([stop - start for start, stop in pairwise(cuts)])

    def corner(self, k: int, is_wrapped: bool) -> int:
        """Where in the array the part begins that chunk k gets."""
        return self.old[k] - (AROUND if k or is_wrapped else 0)


def resized(function: Callable[..., Any], image: LazyImage, shape: tuple[int, int]) -> LazyImage:
    """The image in another shape (height, width). `function` is given a part of it, a pygpu.Image,
    and as pairs (x, y) where in the result its chunk begins and where in the image the part does;
    and the shape of the chunk."""
    array, is_wrapped = image.array, image.boundary == "wrap"
    axes = tuple([Axis.of(sizes, n) for sizes, n in zip(array.chunks, shape, strict=False)])
    if is_wrapped and min(array.shape[:2]) < LEAST:
        axes = tuple([Axis((0, n), (0, own)) for n, own in zip(shape, array.shape, strict=False)])
    overlap = importlib.import_module("dask.array").overlap.overlap
    pieces = dict(enumerate([each.sizes(each.old) for each in axes]))
    is_cut = any(len(each.new) > 2 for each in axes)
    parts = array.rechunk(pieces)
    if is_cut:
        how = "periodic" if is_wrapped else "none"
        parts = overlap(parts, {0: AROUND, 1: AROUND}, {0: how, 1: how})
    job = _Part(function, axes, image.sampler, is_wrapped and is_cut)
    like = job.of(np.zeros((1, 1, *array.shape[2:]), array.dtype), (0, 0), (1, 1))
    chunks = (*[each.sizes(each.new) for each in axes], *array.chunks[2:])
    made = parts.map_blocks(job, chunks=chunks, dtype=like.dtype, meta=like[:0, :0])
    return image.reading(made)


@record(eq=False)
class _Part:
    function: Callable[..., Any]
    axes: tuple[Axis, ...]
    sampler: Sampler
    is_wrapped: bool

    def __call__(self, part: NDArray[Any], block_id: tuple[int, ...]) -> NDArray[Any]:
        """The chunk of the result at this place among the chunks."""
        shape = tuple([a.new[k + 1] - a.new[k] for a, k in zip(self.axes, block_id, strict=False)])
        return self.of(part, block_id, shape)

    def of(
        self, part: NDArray[Any], place: tuple[int, ...], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        first = [axis.new[k] for axis, k in zip(self.axes, place, strict=False)]
        corner = [a.corner(k, self.is_wrapped) for a, k in zip(self.axes, place, strict=False)]
        seen = ImageMaker.make(storage_of(part, "a chunk"), self.sampler)
        return np.asarray(self.function(seen, first[::-1], corner[::-1], shape))
