"""Connected regions of Dask arrays: numbered in each chunk, then joined where chunks touch.

What travels are the rows and columns at the edges of chunks, and for each chunk a table of the
numbers that its regions have in the whole image.

    labels, count = numbered(array, 0, True, chunked)      # both Dask arrays
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import getitem
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.execution.large.sources import of_tasks

Numbered = Callable[[NDArray[Any], Any, bool], tuple[NDArray[np.int32], int]]
MOST: Final = 2**31 - 1  # regions: their numbers are ints of images


@record(eq=False)
class Edges:
    """What the chunks around one have to know of its regions: the labels and the values of its
    first and last row and column; and the place (row, column) of each region's first pixel."""

    rows: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    columns: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    firsts: NDArray[np.int64]

    @classmethod
    def of(cls, chunk: NDArray[Any], labels: NDArray[np.int32]) -> Edges:
        numbers, places = np.unique(labels, return_index=True)
        found = places[numbers > 0]
        return cls(
            tuple([(labels[at].copy(), chunk[at].copy()) for at in (0, -1)]),
            tuple([(labels[:, at].copy(), chunk[:, at].copy()) for at in (0, -1)]),
            np.stack(np.divmod(found, labels.shape[1]), axis=1).astype(np.int64),
        )


def numbered(array: Any, background: Any, diagonal: bool, chunked: Numbered) -> tuple[Any, Any]:
    """For each pixel of a Dask array (H, W) the number of its region, as `chunked` has it of an
    array in memory, and how many regions there are."""
    token = uuid.uuid4().hex
    parts = ("label", "own", "edge", "table", "joined")
    name, own, edge, table, joined = (f"{part}-{token}" for part in parts)
    sides = [[i for i, length in enumerate(sizes) if length] for sizes in array.chunks]
    tasks: dict[Any, Any] = {}
    for place in np.ndindex(*array.numblocks):
        chunk = (array.name, *place)
        if all(i in side for i, side in zip(place, sides, strict=True)):
            tasks[own, *place] = (_labels, chunked, chunk, background, diagonal)
            tasks[edge, *place] = (Edges.of, chunk, (own, *place))
            tasks[table, *place] = (getitem, joined, place)
            tasks[name, *place] = (_renumbered, (own, *place), (table, *place))
        else:
            lengths = [sizes[i] for sizes, i in zip(array.chunks, place, strict=True)]
            tasks[name, *place] = (np.zeros, tuple(lengths), np.int32)
    corners = [
        {i: sum(sizes[:i]) for i in side} for sizes, side in zip(array.chunks, sides, strict=True)
    ]
    found = [[(edge, i, j) for j in sides[1]] for i in sides[0]]
    tasks[joined] = (_joined, found, sides, corners, array.shape[1], diagonal)
    labels = of_tasks(tasks, name, array.chunks, np.int32, [array])
    total = f"count-{token}"
    count = of_tasks({(total,): (getitem, joined, None)}, total, (), np.int64, [labels])
    return labels, count


def _labels(
    chunked: Numbered, chunk: NDArray[Any], background: Any, diagonal: bool
) -> NDArray[np.int32]:
    return chunked(chunk, background, diagonal)[0]


def _renumbered(labels: NDArray[np.int32], table: NDArray[np.int32]) -> NDArray[np.int32]:
    return table[labels]


def _joined(
    edges: Sequence[Sequence[Edges]],
    sides: Sequence[Sequence[int]],
    corners: Sequence[Mapping[int, int]],
    width: int,
    diagonal: bool,
) -> dict[Any, Any]:
    """For each chunk a table of the numbers of its regions, and how many there are, as None."""
    counts = [len(each.firsts) for row in edges for each in row]
    bases = np.cumsum([0, *counts]).reshape(-1)
    base = bases[:-1].reshape(len(sides[0]), len(sides[1]))
    firsts = [
        (each.firsts + (corners[0][i], corners[1][j])) @ (width, 1)
        for i, row in zip(sides[0], edges, strict=True)
        for j, each in zip(sides[1], row, strict=True)
    ]
    first = np.concatenate([np.zeros(1, np.int64), *firsts])  # of each label; 0 is the background
    pairs = [np.zeros((0, 2), np.int64)]
    for a, b in pairwise(range(len(sides[0]))):
        lines = [
            _line([(each.rows[at], base[k, j]) for j, each in enumerate(edges[k])])
            for k, at in ((a, -1), (b, 0))
        ]
        pairs.append(_touching(lines[0], lines[1], diagonal))
    for a, b in pairwise(range(len(sides[1]))):
        lines = [
            _line([(row[k].columns[at], base[i, k]) for i, row in enumerate(edges)])
            for k, at in ((a, -1), (b, 0))
        ]
        pairs.append(_touching(lines[0], lines[1], diagonal))
    roots = _roots(len(first), np.concatenate(pairs))
    earliest = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(earliest, roots[1:], first[1:])
    own = np.unique(roots[1:])
    if len(own) > MOST:
        raise OverflowError(f"label: {len(own)} regions are more than an int of 32 bits numbers")
    numbers = np.zeros(len(first), np.int32)
    numbers[own[np.argsort(earliest[own], kind="stable")]] = np.arange(1, len(own) + 1)
    numbers = numbers[roots]
    tables: dict[Any, Any] = {None: np.asarray(len(own), np.int64)}
    places = [(i, j) for i in sides[0] for j in sides[1]]
    for place, start, stop in zip(places, bases[:-1], bases[1:], strict=True):
        tables[place] = np.concatenate([np.zeros(1, np.int32), numbers[start + 1 : stop + 1]])
    return tables


def _line(parts: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """A row or a column of the whole image: the labels of all chunks, and the values."""
    labels = [np.where(labels > 0, labels + base, 0) for (labels, _), base in parts]
    return np.concatenate(labels).astype(np.int64), np.concatenate([v for (_, v), _ in parts])


def _touching(one: Any, other: Any, diagonal: bool) -> NDArray[np.int64]:
    """The labels (N, 2) that belong together in two lines beside each other."""
    (a, values), (b, others) = one, other
    found = []
    for step in (-1, 0, 1) if diagonal else (0,):
        mine, its = slice(max(-step, 0), len(a) - max(step, 0)), slice(max(step, 0), None)
        its = slice(its.start, len(b) - max(-step, 0))
        is_joined = (a[mine] > 0) & (b[its] > 0) & (values[mine] == others[its])
        found.append(np.stack([a[mine][is_joined], b[its][is_joined]], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def _roots(count: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of so many labels the least one that it is connected with."""
    parents = np.arange(count)
    while True:
        ends = parents[pairs]
        apart = ends[ends[:, 0] != ends[:, 1]]
        if not len(apart):
            return parents
        np.minimum.at(parents, apart.max(axis=1), apart.min(axis=1))
        while not np.array_equal(higher := parents[parents], parents):
            parents = higher


# ---------------------------------------------------------------- regions that a mask touches


def touched(labels: Any, mask: Any) -> Any:
    """Whether each pixel is in a region of which some pixel is in the mask: Dask arrays."""
    token = uuid.uuid4().hex
    name, own, all_of = (f"{part}-{token}" for part in ("touched", "own", "all"))
    tasks: dict[Any, Any] = {}
    for place in np.ndindex(*labels.numblocks):
        tasks[own, *place] = (_numbers, (labels.name, *place), (mask.name, *place))
        tasks[name, *place] = (_is_in, (labels.name, *place), all_of)
    tasks[all_of] = (_distinct, [key for key in tasks if key[0] == own])
    return of_tasks(tasks, name, labels.chunks, bool, [labels, mask])


def _numbers(labels: NDArray[np.int32], mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.unique(labels[mask])


def _distinct(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    found = np.unique(np.concatenate(parts))
    return found[found > 0]


def _is_in(labels: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    return np.isin(labels, numbers)
