"""Graphs of chunks: a task for each chunk of a result.

A task puts together what the function reads there, as its footprint says, and runs the function of
that window, which knows where in the whole image it stands (work.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import getitem
from typing import Any, Final

import numpy as np

from pygpu.core.host.records import record
from pygpu.execution.large.plans import Plan, Rounds, results
from pygpu.execution.large.regions import Assembly, Cut, Reach
from pygpu.execution.large.sources import Source
from pygpu.execution.large.work import cut_off, run_tile
from pygpu.execution.programs.specialise import Translated
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.lower.window import View, Windowed

_Edges = Sequence[tuple[int, int]]  # start and length along an axis
_Part = tuple[Source, int, int, Cut]  # of which chunk it is, and what of it


class Graph:
    """The tasks of one call, in the making."""

    def __init__(
        self,
        plan: Plan,
        sources: Mapping[int, Source],
        windowed: Windowed,
        chunks: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> None:
        self.plan, self.sources, self.chunks = plan, sources, chunks
        self.name: Final = f"{plan.compiled.signature.name}-{plan.token}"
        self.plan_key: Final = f"plan-{self.name}"
        self.tasks: dict[Any, Any] = {self.plan_key: plan}
        rows, columns = (_edges(sizes) for sizes in chunks)
        self.rows, self.columns = rows, columns
        self.views = [
            _ViewParts.of(each, sources, (rows, columns), plan.rounds) for each in windowed.views
        ]

    def results(self, translated: Translated) -> Any:
        """Dask arrays for what the function returns."""
        from dask.array import Array  # optional, and slow to import
        from dask.highlevelgraph import HighLevelGraph

        formats, dtypes = results(translated, self.plan.wanted)
        rounds = self.plan.rounds
        if rounds is not None and rounds.dtype is not None:
            dtypes = (rounds.dtype,) * len(formats)
        is_tuple = translated.translation.is_tuple
        channels = [(format.channels,) if format.channels > 1 else () for format in formats]
        self.tiles(() if is_tuple or not channels[0] else (0,))
        names = [f"{self.name}-{index}" for index in range(len(formats))] if is_tuple else []
        for index, (name, own) in enumerate(zip(names, channels, strict=bool(names))):
            for row in range(len(self.rows)):
                for column in range(len(self.columns)):
                    key = (name, row, column, *([0] if own else []))
                    self.tasks[key] = (getitem, (self.name, row, column), index)
        arrays = {id(source.array): source.array for source in self.sources.values()}
        given = HighLevelGraph.from_collections(
            self.name, self.tasks, dependencies=list(arrays.values())
        )
        graph = HighLevelGraph(
            dict(given.layers) | {name: {} for name in names},
            dict(given.dependencies) | {name: {self.name} for name in names},
        )
        made = [
            Array(
                graph,
                name,
                (*self.chunks, *((n,) for n in own)),
                meta=np.empty((0,) * (2 + len(own)), dtype),
            )
            for name, own, dtype in zip(names or [self.name], channels, dtypes, strict=True)
        ]
        return tuple(made) if is_tuple else made[0]

    def tiles(self, suffix: tuple[int, ...]) -> None:
        reads: list[tuple[Tile, list[Assembly | None], list[_Part]]] = []
        for i, (top, height) in enumerate(self.rows):
            for j, (left, width) in enumerate(self.columns):
                assemblies: list[Assembly | None] = []
                parts: list[_Part] = []
                for view in self.views:
                    assembly, own = view.assembly(i, j) if width and height else (None, [])
                    assemblies.append(assembly)
                    parts += own
                reads.append((Tile(left, top, width, height), assemblies, parts))
        keys = self.sent([part for _, _, parts in reads for part in parts])
        places = ((i, j) for i in range(len(self.rows)) for j in range(len(self.columns)))
        for place, (tile, assemblies, parts) in zip(places, reads, strict=True):
            picks = tuple([keys[part][1] for part in parts])
            self.tasks[(self.name, *place, *suffix)] = (
                run_tile,
                self.plan_key,
                tile,
                tuple(assemblies),
                picks,
                *[keys[part][0] for part in parts],
            )

    def sent(self, parts: Iterable[_Part]) -> dict[_Part, tuple[Any, Cut | None]]:
        """The key under which each part of a chunk is had, and which of the parts it is that one
        has there; None: all. Parts are cut off where the chunk is, so that no more than they travel
        between workers, and those of one chunk by one task, for a task costs a cluster as much as
        a small part."""
        cuts: dict[tuple[Source, int, int], dict[Cut, None]] = {}
        keys: dict[_Part, tuple[Any, Cut | None]] = {}
        for part in parts:
            source, row, column, cut = part
            heights, widths = source.array.chunks[:2]
            if cut == (0, heights[row], 0, widths[column]):
                keys[part] = source.key(row, column), None
            else:
                cuts.setdefault((source, row, column), {})[cut] = None
        for (source, row, column), found in cuts.items():
            heights, widths = source.array.chunks[:2]
            size = sum((bottom - top) * (right - left) for top, bottom, left, right in found)
            together = 4 * size <= heights[row] * widths[column]
            for some in [tuple(found)] if together else [(cut,) for cut in found]:
                key = (f"part-{source.array.name}-{self.plan.token}", row, column, *some)
                self.tasks[key] = (cut_off, source.key(row, column), some)
                for cut in some:
                    keys[source, row, column, cut] = key, cut
        return keys


@record(eq=False)
class _ViewParts:
    """What each row and each column of chunks of the result reads of an image."""

    source: Source | None  # None: the image is no Dask array
    rows: tuple[Reach, ...] = ()
    columns: tuple[Reach, ...] = ()

    @classmethod
    def of(
        cls,
        view: View,
        sources: Mapping[int, Source],
        edges: tuple[_Edges, _Edges],
        rounds: Rounds | None,
    ) -> _ViewParts:
        rows, columns = edges
        source = sources.get(view.image)
        if source is None:
            return cls(None)
        height, width = source.array.shape[:2]
        margin = view.margin
        if margin is None:
            if len(source.rows) > 2 or len(source.columns) > 2:
                raise ValueError(
                    f"{source.name} is read far from the position, or nobody can tell how far: "
                    f"every chunk would need all of it. Give it as one piece: "
                    f"{source.name}.rechunk(-1)"
                )
            down, across = Reach.inside(0, height), Reach.inside(0, width)
            return cls(source, (down,) * len(rows), (across,) * len(columns))
        how = view.boundary
        before, after = (margin.up, margin.left), (margin.down, margin.right)
        if rounds is not None:
            how, count, reach = "clipped", rounds.count, rounds.reach
            before = (count * reach.up, count * reach.left)
            after = (count * reach.down, count * reach.right)
        return cls(
            source,
            tuple([_reach(how, edge, before[0], after[0], height) for edge in rows]),
            tuple([_reach(how, edge, before[1], after[1], width) for edge in columns]),
        )

    def assembly(self, i: int, j: int) -> tuple[Assembly | None, list[_Part]]:
        """How the view of a chunk of the result is put together, and of which parts of chunks."""
        if self.source is None:
            return None, []
        rows, columns = self.rows[i], self.columns[j]
        places, pieces = [], []
        for row, part, down in rows.pieces(self.source.rows):
            for column, piece, across in columns.pieces(self.source.columns):
                places.append((down, across))
                cut = part.start, part.stop, piece.start, piece.stop
                pieces.append((self.source, row, column, cut))
        return Assembly(rows, columns, tuple(places)), pieces


def _edges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(accumulate(sizes, initial=0), sizes, strict=False))


def _reach(boundary: str, edge: tuple[int, int], before: int, after: int, size: int) -> Reach:
    start, length = edge
    if boundary == "clipped":
        return Reach.inside(max(start - before, 0), min(start + length + after, size))
    return Reach.of(boundary, start - before, start + length + after, size)


__all__ = ["Graph"]
