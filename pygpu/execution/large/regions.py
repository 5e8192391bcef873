"""Parts of images that lie in pieces: which texels a window of a result reads, and from where.

Along an axis a window reads places, of which some may lie outside the image: the boundary's rule
says which texels are meant. `Reach` has these texels as intervals of the image, and which of them
the places take, in runs.

    reach = Reach.of("wrap", -2, 5, 100)
    reach.intervals                     # ((0, 5), (98, 100))
    reach.runs                          # two texels from 5 on, then five from 0 on
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.host.records import record
from pygpu.devices.process.reserve import RESERVE

Cut = tuple[int, int, int, int]  # of a chunk: its rows from .. to .., columns from .. to ..


@record
class Run:
    """Places beside each other, from `place` on, that take texels in steps of 1, -1 or 0."""

    place: int
    texel: int
    step: int
    count: int

    def within(self, start: int, stop: int) -> Run | None:
        """What of it lies between two places, counted from the first of these."""
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
    def of(cls, boundary: str, start: int, stop: int, size: int) -> Reach:
        """What the places from `start` up to `stop` read of an axis of `size` texels."""
        if start >= 0 and stop <= size:
            return cls.inside(start, stop)
        places = sampler.indices(boundary, np.arange(start, stop), size)
        texels = np.unique(places)
        breaks = np.flatnonzero(np.diff(texels) > 1) + 1
        ends = [0, *breaks.tolist(), len(texels)]
        intervals = [(int(texels[a]), int(texels[b - 1]) + 1) for a, b in pairwise(ends)]
        return cls(tuple(intervals), _runs(np.searchsorted(texels, places)), len(places))

    @property
    def is_plain(self) -> bool:
        """Whether the places are an interval of the image."""
        return len(self.runs) == 1 and self.runs[0].step == 1 and len(self.intervals) == 1

    def held(self) -> Iterator[tuple[tuple[int, int], slice]]:
        """The intervals, and where their texels stand among those of all."""
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


@record(eq=False)
class Assembly:
    """How a window of an image is put together from pieces: of each its place, row by row."""

    rows: Reach
    columns: Reach
    places: tuple[tuple[slice, slice], ...]

    def of(
        self, pieces: Sequence[NDArray[Any]], rows: tuple[int, int] | None = None
    ) -> NDArray[Any]:
        """The texels (H, W, ...) that the window reads, or some rows of them; not copied where they
        are one piece."""
        start, stop = rows or (0, self.rows.count)
        if len(pieces) == 1 and self.rows.is_plain and self.columns.is_plain:
            return pieces[0][start:stop]
        down = [run for each in self.rows.runs if (run := each.within(start, stop))]
        across = self.columns.runs
        shape = (stop - start, self.columns.count, *pieces[0].shape[2:])
        whole = RESERVE.empty(shape, pieces[0].dtype)
        for (part, columns), piece in zip(self.places, pieces, strict=True):
            for to_rows, row in (each for run in down if (each := run.of(part))):
                for to_columns, column in (each for run in across if (each := run.of(columns))):
                    whole[to_rows, to_columns] = piece[row, column]
        return whole


__all__ = ["Assembly", "Cut", "Reach"]
