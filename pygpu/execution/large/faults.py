"""What goes wrong in a chunk of a checked program, raised as the plain function raises it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.storage import Storage
from pygpu.execution.arguments.parameters import Arguments
from pygpu.execution.large.plans import Part
from pygpu.execution.large.regions import grown
from pygpu.execution.programs import checked
from pygpu.execution.programs.tiles import Tile


def raise_first(part: Part, views: Sequence[NDArray[Any]], numbers: NDArray[Any]) -> None:
    """Raise what has gone wrong first in a part of the results of a checked program."""
    if not numbers.any():
        return
    ready, compiled = part.ready, part.plan.compiled
    function, signature = compiled.function, compiled.signature
    arguments = _as_seen(part, views)
    corner: tuple[int, ...] = part.tile.left, part.tile.top
    if part.z is not None:
        numbers, corner = numbers[np.newaxis], (*corner, part.z)
    elif ready.arguments.dims == 1:
        numbers, corner = numbers[0], corner[:1]
    checked.raise_first(ready.faults, numbers, function, signature, arguments, corner)


def _as_seen(part: Part, views: Sequence[NDArray[Any]]) -> Arguments | None:
    """The arguments for the plain function: images of the size of the whole that hold what the part
    has read. Memory that is not written is not taken; None where even so there is too little."""
    ready, plan = part.ready, part.plan
    given = list(ready.arguments.images)
    try:
        for index in plan.chunked:
            width, height = plan.sizes[index]
            own, shape = given[index].storage, (plan.depths[index], height, width)
            texels = np.zeros((shape[0] * height, width, own.channels), own.dtype)
            given[index] = replace(given[index], storage=Storage.of(texels, shape[-own.dims :]))
    except (MemoryError, ValueError):  # a ValueError where the bytes are more than a number holds
        return None
    for each, view in zip(ready.views.views, views, strict=True):
        read = ready.views.read(each)
        if read.image not in plan.chunked:
            continue
        size, texels, margin = plan.sizes[read.image], given[read.image].storage.host(), each.margin
        if read.offset is not None and plan.depths[read.image] > 1:
            depth = np.array([(part.z or 0) + read.offset])
            at = int(sampler.indices(read.boundary, depth, plan.depths[read.image])[0])
            texels = texels[at * size[1] : (at + 1) * size[1]]
        if margin is None:
            texels[...] = view
            continue
        rows, columns = _read(each.boundary, grown(part.tile, margin, 1), size)
        texels[np.ix_(rows, columns)] = view
    return replace(ready.arguments, images=given)


def _read(
    boundary: str, tile: Tile, size: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of an image that a tile reads, of which parts may lie outside."""
    width, height = size
    rows = sampler.indices(boundary, np.arange(tile.top, tile.top + tile.height), height)
    columns = sampler.indices(boundary, np.arange(tile.left, tile.left + tile.width), width)
    return rows, columns
