"""Parts of images that lie in pieces: which texels a window of a result reads, and from where.

Along an axis a window reads places, of which some may lie outside the image: the boundary's rule
says which texels are meant. `Reach` has these texels as intervals of the image and, where places
are not simply one of those intervals, the texel that each place takes.

    reach = Reach.of("wrap", -2, 5, 100)
    reach.intervals                     # ((0, 5), (98, 100))
    reach.take                          # [5, 6, 0, 1, 2, 3, 4]: places of what the intervals hold
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The texels of an image that are read along one axis."""

    intervals: tuple[tuple[int, int], ...]  # ascending, apart from each other
    take: NDArray[np.intp] | None  # for each place, which of the intervals' texels; None: in order

    @classmethod
    def of(cls, boundary: str, start: int, stop: int, size: int) -> Reach:
        """What the places from `start` up to `stop` read of an axis of `size` texels."""
        if start >= 0 and stop <= size:
            return cls(((start, stop),), None)
        places = sampler.indices(boundary, np.arange(start, stop), size)
        texels = np.unique(places)
        breaks = np.flatnonzero(np.diff(texels) > 1) + 1
        ends = [0, *breaks.tolist(), len(texels)]
        intervals = [(int(texels[a]), int(texels[b - 1]) + 1) for a, b in pairwise(ends)]
        return cls(tuple(intervals), np.searchsorted(texels, places))

    @property
    def length(self) -> int:
        """How many texels the intervals hold."""
        return sum(stop - start for start, stop in self.intervals)

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


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """How a window of an image is put together from pieces: of each its place, row by row."""

    rows: Reach
    columns: Reach
    places: tuple[tuple[slice, slice], ...]

    def of(self, pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The texels (H, W, ...) that the window reads; not copied where they are one piece."""
        if len(pieces) == 1:
            whole = pieces[0]
        else:
            shape = (self.rows.length, self.columns.length, *pieces[0].shape[2:])
            whole = np.empty(shape, pieces[0].dtype)
            for place, piece in zip(self.places, pieces, strict=True):
                whole[place] = piece
        if self.rows.take is not None:
            whole = whole[self.rows.take]
        return whole if self.columns.take is None else whole[:, self.columns.take]


__all__ = ["Assembly", "Reach"]
