"""Parts of images that lie in pieces: which texels a window of a result reads, and from where.

Along an axis a window reads places, of which some may lie outside the image: the boundary's rule
says which texels are meant. `Reach` has these texels as intervals of the image, and which of them
the places take, in runs.

    reach = Reach.of("wrap", -2, 5, 100)
    reach.intervals                     # ((0, 5), (98, 100))
    reach.runs                          # two texels from 5 on, then five from 0 on
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.host.records import record
from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.analysis.footprint import Footprint

Cut = tuple[tuple[int, int], ...]  # of a chunk: along each axis from .. to ..


@record
class Run:
    """Places beside each other, from `place` on, that take texels in steps of 1, -1 or 0."""

    place: int
    texel: int
    step: int
    count: int

    def within(self, start: int, stop: int) -> Run | None:
        """The part of the run between two places, counted from the first of these."""
        first, last = max(start, self.place), min(stop, self.place + self.count)
        if first >= last:
            return None
        texel = self.texel + self.step * (first - self.place)
        return Run(first - start, texel, self.step, last - first)

    def of(self, part: slice) -> tuple[slice, slice] | None:
        """The places that take texels of a part of them, and the texels, counted within it."""
        if self.step == 0:
            if not part.start <= self.texel < part.stop:
                return None
            here = self.texel - part.start
            return slice(self.place, self.place + self.count), slice(here, here + 1)
        ends = (part.start - self.texel) * self.step, (part.stop - 1 - self.texel) * self.step
        first, last = max(min(ends), 0), min(max(ends), self.count - 1)
        if first > last:
            return None
        low = self.texel + self.step * first - part.start
        stop = low + self.step * (last - first + 1)
        texels = slice(low, stop if stop >= 0 else None, self.step)
        return slice(self.place + first, self.place + last + 1), texels


def _runs(take: NDArray[np.intp]) -> tuple[Run, ...]:
    """Places that take these texels, in as few runs as going on while one can makes."""
    runs: list[Run] = []
    start = 0
    steps = np.diff(take)
    while start < len(take):
        step = int(steps[start]) if start < len(steps) and abs(steps[start]) <= 1 else 1
        other = np.flatnonzero(steps[start:] != step)
        count = (int(other[0]) if len(other) else len(steps) - start) + 1
        runs.append(Run(start, int(take[start]), step, count))
        start += count
    return tuple(runs)


def _joined(start: int, stop: int, texels: NDArray[np.intp]) -> list[tuple[int, int]]:
    """An interval, which may be empty, and some texels, as intervals apart from each other."""
    others = np.unique(texels[(texels < start) | (texels >= stop)]).tolist()
    joined: list[tuple[int, int]] = []
    for first, last in sorted([(n, n + 1) for n in others] + [(start, stop)] * (start < stop)):
        if joined and joined[-1][1] == first:
            joined[-1] = joined[-1][0], last
        else:
            joined.append((first, last))
    return joined


@record(eq=False)
class Reach:
    """The texels of an image that are read along one axis."""

    intervals: tuple[tuple[int, int], ...]  # ascending, apart from each other
    runs: tuple[Run, ...]  # which of the intervals' texels the places take
    count: int  # of places

    @classmethod
    def inside(cls, start: int, stop: int) -> Reach:
        """What these places read that lie in the image."""
        return cls(((start, stop),), (Run(0, 0, 1, stop - start),), stop - start)

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, boundary: str, start: int, stop: int, size: int) -> Reach:
        """What the places from `start` up to `stop` read of an axis of `size` texels."""
        if start >= 0 and stop <= size:
            return cls.inside(start, stop)
        low, high = max(start, 0), min(stop, size)
        if low >= high:
            low = high = min(max(low, 0), size)
        before = sampler.indices(boundary, np.arange(start, min(stop, low)), size)
        after = sampler.indices(boundary, np.arange(max(start, high), stop), size)
        intervals = _joined(low, high, np.concatenate([before, after]))
        starts = np.array([first for first, _ in intervals])
        held = np.cumsum([0, *[last - first for first, last in intervals]])[:-1] - starts

        def ranks(texels: NDArray[np.intp]) -> NDArray[np.intp]:
            ranked: NDArray[np.intp] = texels + held[np.searchsorted(starts, texels, "right") - 1]
            return ranked

        runs = list(_runs(ranks(before)))
        if low < high:
            first = int(ranks(np.array([low]))[0])
            runs.append(Run(len(before), first, 1, high - low))
        done = stop - start - len(after)
        runs += [replace(run, place=done + run.place) for run in _runs(ranks(after))]
        return cls(tuple(intervals), tuple(runs), stop - start)

    @property
    def is_plain(self) -> bool:
        """Whether the places are an interval of the image."""
        return len(self.runs) == 1 and self.runs[0].step == 1 and len(self.intervals) == 1

    def in_order(self, part: slice) -> tuple[slice, slice]:
        """The most places side by side that take texels of a part in order, and these texels."""
        none = slice(0, 0), slice(0, 0)
        moves = [move for run in self.runs if run.step == 1 and (move := run.of(part))]
        return max(moves, key=lambda move: move[0].stop - move[0].start, default=none)

    def held(self) -> Iterator[tuple[tuple[int, int], slice]]:
        """The intervals, each with the places of its texels among the texels of all intervals."""
        done = 0
        for start, stop in self.intervals:
            yield (start, stop), slice(done, done + stop - start)
            done += stop - start

    def pieces(self, bounds: Sequence[int]) -> Iterator[tuple[int, slice, slice]]:
        """The intervals cut where the image's pieces end (`bounds`: 0, ends of pieces): the piece,
        the part of it, and where among the intervals' texels that part goes."""
        done = 0
        for start, stop in self.intervals:
            first = int(np.searchsorted(bounds, start, side="right")) - 1
            for index in range(first, len(bounds) - 1):
                low, high = max(start, bounds[index]), min(stop, bounds[index + 1])
                if bounds[index] >= stop:
                    break
                if low < high:
                    part = slice(low - bounds[index], high - bounds[index])
                    yield index, part, slice(done, done + high - low)
                    done += high - low


def memory_of(array: NDArray[Any]) -> NDArray[Any]:
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _is_beside(one: NDArray[Any], other: NDArray[Any], axes: int) -> bool:
    """Whether two parts of images may be parts of one array."""
    alike = one.dtype == other.dtype and one.strides == other.strides
    return alike and one.shape[axes:] == other.shape[axes:] and memory_of(one) is memory_of(other)


@record
class Single:
    """What of a window one piece gives as it lies, and which of the piece's texels."""

    piece: int
    places: tuple[tuple[int, int], ...]
    texels: tuple[slice, ...]

    @property
    def size(self) -> int:
        return math.prod([stop - start for start, stop in self.places])


@record(eq=False)
class Assembly:
    """How a window of an image is put together from pieces: of each its place along each axis."""

    axes: tuple[Reach, ...]
    places: tuple[tuple[slice, ...], ...]

    def single(self) -> Single:
        """The largest part that one piece gives as it lies."""
        found: list[Single] = []
        for number, place in enumerate(self.places):
            moves = [axis.in_order(part) for axis, part in zip(self.axes, place, strict=True)]
            places = tuple([(to.start, to.stop) for to, _ in moves])
            found.append(Single(number, places, tuple([of for _, of in moves])))
        return max(found, key=lambda one: one.size)

    @property
    def is_piece(self) -> bool:
        """Whether the window is part of one piece."""
        return len(self.places) == 1 and all(axis.is_plain for axis in self.axes)

    def together(self, pieces: list[NDArray[Any]]) -> tuple[Assembly, list[NDArray[Any]]]:
        """The same of one piece, where all lie in one array as they do in the image."""
        axes = len(self.axes)
        if len(pieces) < 2 or any(not _is_beside(pieces[0], each, axes) for each in pieces[1:]):
            return self, pieces
        first, corners = pieces[0], set()
        for each, place in zip(pieces, self.places, strict=True):
            before = [part.start * n for part, n in zip(place, each.strides, strict=False)]
            corners.add(each.ctypes.data - sum(before))
        if len(corners) > 1:
            return self, pieces
        ends = [max(part.stop for part in along) for along in zip(*self.places, strict=True)]
        whole = as_strided(first, (*ends, *first.shape[axes:]), first.strides, writeable=False)
        return Assembly(self.axes, (tuple([slice(0, end) for end in ends]),)), [whole]

    def of(self, pieces: Sequence[NDArray[Any]], *ends: tuple[int, int]) -> NDArray[Any]:
        """The texels the window reads, or of some first places; not copied if of one piece."""
        along = [*ends, *[(0, axis.count) for axis in self.axes[len(ends) :]]]
        if self.is_piece:
            return pieces[0][tuple([slice(*each) for each in along])]
        runs = [
            [run for each in axis.runs if (run := each.within(start, stop))]
            for axis, (start, stop) in zip(self.axes, along, strict=True)
        ]
        lengths = [stop - start for start, stop in along]
        whole = RESERVE.empty((*lengths, *pieces[0].shape[len(lengths) :]), pieces[0].dtype)
        moves: list[dict[int, list[tuple[slice, slice]]]] = [{} for _ in runs]  # by a part's start
        for place, piece in zip(self.places, pieces, strict=True):
            for own, found, part in zip(runs, moves, place, strict=True):
                if part.start not in found:
                    found[part.start] = [each for run in own if (each := run.of(part))]
            along_all = [found[part.start] for found, part in zip(moves, place, strict=True)]
            for move in product(*along_all):
                whole[tuple([to for to, _ in move])] = piece[tuple([of for _, of in move])]
        return whole


def grown(tile: Tile, reach: Footprint, times: int) -> Tile:
    """A tile with so many times what a function reads around it."""
    return Tile(
        tile.left - times * reach.left,
        tile.top - times * reach.up,
        tile.width + times * (reach.left + reach.right),
        tile.height + times * (reach.up + reach.down),
    )


def clipped(tile: Tile, size: tuple[int, int]) -> Tile:
    """What of a tile lies in an image of (width, height)."""
    left, top = max(tile.left, 0), max(tile.top, 0)
    right = min(tile.left + tile.width, size[0])
    bottom = min(tile.top + tile.height, size[1])
    return Tile(left, top, right - left, bottom - top)
