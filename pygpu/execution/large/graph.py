"""Graphs of chunks: a task for each chunk of a result.

A task puts together what the function reads there, as its footprint says, and runs the function of
that window, which knows where in the whole image it stands (work.py). What a task is told besides
its keys is one object: Dask looks into tuples and dicts, one item after the other, for keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, product
from operator import getitem
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.execution.large.plans import Plan, Rounds, Told, Views, results
from pygpu.execution.large.regions import Assembly, Cut, Reach
from pygpu.execution.large.sources import Source
from pygpu.execution.large.work import Block, cut_off, run_block, settled
from pygpu.execution.programs.specialise import Translated
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.analysis.fractional import LARGEST, near
from pygpu.passes.layout.planes import Read
from pygpu.passes.layout.window import View

with later():
    from pygpu.execution.large import gathered  # it imports Dask

_Edges = Sequence[tuple[int, int]]  # start and length along an axis
_Part = tuple[Source, tuple[int, ...], Cut]  # of which chunk it is, and what of it


class Graph:
    """The tasks of one call, in the making."""

    def __init__(
        self,
        plan: Plan,
        sources: Mapping[int, Source],
        windowed: Views,
        chunks: tuple[tuple[int, ...], ...],
        numbers: Mapping[Told, Any],
        ended: Any = None,
    ) -> None:
        """`numbers` are those of the uniforms that Dask arrays of no dimensions are given for.
        Where `ended`, a Dask array of one truth value, holds, chunks are not computed: None."""
        self.plan, self.sources, self.chunks, self.numbers = plan, sources, chunks, numbers
        self.name: Final = f"{plan.compiled.signature.name}-{plan.token}"
        self.plan_key: Final = f"plan-{self.name}"
        self.tasks: dict[Any, Any] = {self.plan_key: plan}
        self.ended = ended
        self.edges = [_edges(sizes) for sizes in chunks]
        self.places = list(product(*[range(len(sizes)) for sizes in chunks]))
        self.views = [
            _ViewParts.of(each, windowed.read(each), sources, self.edges, plan.rounds)
            for each in windowed.views
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
        if self.ended is not None or self.numbers:
            count = len(formats) if is_tuple else None
            ended = False if self.ended is None else (self.ended.name,)
            told = [(each.name,) for each in self.numbers.values()]
            task = (settled, self.plan, count, ended, tuple(self.numbers), told)
            self.tasks[self.plan_key] = task
        for index, (name, own) in enumerate(zip(names, channels, strict=bool(names))):
            for place in self.places:
                key = (name, *place, *([0] if own else []))
                self.tasks[key] = (getitem, (self.name, *place), index)
        arrays = {id(source.array): source.array for source in self.sources.values()}
        needed = [*arrays.values(), *self.numbers.values()]
        needed += [] if self.ended is None else [self.ended]
        given = HighLevelGraph.from_collections(self.name, self.tasks, dependencies=needed)
        graph = HighLevelGraph(
            dict(given.layers) | {name: {} for name in names},
            dict(given.dependencies) | {name: {self.name} for name in names},
        )
        is_chosen = bool(names) or self.ended is not None  # of what a task gives, or from elsewhere
        kind: Any = Array if is_chosen else gathered.Gathered
        made = [
            kind(
                graph,
                name,
                (*self.chunks, *((n,) for n in own)),
                meta=np.empty((0,) * (len(self.chunks) + len(own)), dtype),
            )
            for name, own, dtype in zip(names or [self.name], channels, dtypes, strict=True)
        ]
        return tuple(made) if is_tuple else made[0]

    def tiles(self, suffix: tuple[int, ...]) -> None:
        blocks: list[tuple[Tile, range | None, list[Assembly | None], list[_Part]]] = []
        for place in self.places:
            starts, lengths = zip(
                *[e[i] for e, i in zip(self.edges, place, strict=True)], strict=True
            )
            assemblies: list[Assembly | None] = []
            parts: list[_Part] = []
            for view in self.views:
                assembly, own = view.assembly(place) if all(lengths) else (None, [])
                assemblies.append(assembly)
                parts += own
            tile = Tile(starts[-1], starts[-2], lengths[-1], lengths[-2])
            planes = range(starts[0], starts[0] + lengths[0]) if len(place) == 3 else None
            blocks.append((tile, planes, assemblies, parts))
        keys = self.sent([part for *_, parts in blocks for part in parts])
        for place, (tile, planes, assemblies, parts) in zip(self.places, blocks, strict=True):
            picks = tuple([keys[part][1] for part in parts])
            block = Block(tile, planes, tuple(assemblies), picks)
            chunks = [keys[part][0] for part in parts]
            key = (self.name, *place, *suffix)
            self.tasks[key] = (run_block, self.plan_key, block, *chunks)

    def sent(self, parts: Iterable[_Part]) -> dict[_Part, tuple[Any, Cut | None]]:
        """The key under which each part of a chunk is had, and which of the parts it is that one
        has there; None: all. Parts are cut off where the chunk is, so that no more than they travel
        between workers, and those of one chunk by one task, for a task costs a cluster as much as
        a small part."""
        cuts: dict[tuple[str, tuple[int, ...]], dict[Cut, list[_Part]]] = {}
        keys: dict[_Part, tuple[Any, Cut | None]] = {}
        for part in parts:
            source, place, cut = part
            if cut == tuple([(0, length) for length in source.lengths(place)]):
                keys[part] = source.key(*place), None
            else:
                cuts.setdefault((source.array.name, place), {}).setdefault(cut, []).append(part)
        for (name, place), found in cuts.items():
            source = next(iter(found.values()))[0][0]  # one of those of this array
            size = sum(math.prod([stop - start for start, stop in cut]) for cut in found)
            together = 4 * size <= math.prod(source.lengths(place))
            groups = [tuple(found)] if together else [(cut,) for cut in found]
            for number, some in enumerate(groups):
                key = (f"part-{name}-{self.plan.token}", *place, number)
                cut_here = partial(cut_off, some, is_kept=source.is_held)
                self.tasks[key] = (cut_here, source.key(*place))
                for cut in some:
                    keys |= dict.fromkeys(found[cut], (key, cut))
        return keys


@record(eq=False)
class _ViewParts:
    """What the chunks of the result read of an image, along each axis, by the chunk's number."""

    source: Source | None  # None: the image is no Dask array
    axes: tuple[tuple[Reach, ...], ...] = ()

    @classmethod
    def of(
        cls,
        view: View,
        read: Read,
        sources: Mapping[int, Source],
        edges: Sequence[_Edges],
        rounds: Rounds | None,
    ) -> _ViewParts:
        source = sources.get(read.image)
        if source is None:
            return cls(None)
        margin = view.margin
        if margin is None or (source.dims == 3 and read.offset is None):
            if any(len(bounds) > 2 for bounds in source.bounds):
                raise ValueError(
                    f"{source.name} is read far from the position, or nobody can tell how far: "
                    f"every chunk would need all of it. Give it as one piece: "
                    f"{source.name}.rechunk(-1)"
                )
            whole = [Reach.inside(0, bounds[-1]) for bounds in source.bounds]
            own = edges[-len(whole) :]
            return cls(source, tuple([(r,) * len(e) for r, e in zip(whole, own, strict=True)]))
        ends = [bounds[-1] for bounds in source.bounds] + [sum(each[-1]) for each in edges]
        if view.between and not near(*ends):
            raise ValueError(
                f"{source.name} is read between pixels, and floats cannot tell these apart in an "
                f"image with more than {LARGEST} along an axis: read it at whole offsets"
            )
        how = view.boundary
        around = [(margin.up, margin.down), (margin.left, margin.right)]
        if rounds is not None:
            how, count, reach = "clipped", rounds.count, rounds.reach
            around = [(reach.up, reach.down), (reach.left, reach.right)]
            around = [(count * before, count * after) for before, after in around]
        rules = [(how, *sides) for sides in around]
        if source.dims == 3:
            assert read.offset is not None
            rules = [(read.boundary, -read.offset, read.offset), *rules]
        axes = [
            tuple([_reach(rule, edge, before, after, bounds[-1]) for edge in own])
            for (rule, before, after), own, bounds in zip(
                rules, edges[-len(rules) :], source.bounds, strict=True
            )
        ]
        return cls(source, tuple(axes))

    def assembly(self, place: tuple[int, ...]) -> tuple[Assembly | None, list[_Part]]:
        """How the view of a chunk of the result is put together, and of which parts of chunks."""
        if self.source is None:
            return None, []
        own = place[-len(self.axes) :]
        axes = tuple([reaches[i] for reaches, i in zip(self.axes, own, strict=True)])
        found = [
            list(axis.pieces(bounds)) for axis, bounds in zip(axes, self.source.bounds, strict=True)
        ]
        places, parts = [], []
        for pieces in product(*found):
            places.append(tuple([to for _, _, to in pieces]))
            cut = tuple([(part.start, part.stop) for _, part, _ in pieces])
            parts.append((self.source, tuple([i for i, _, _ in pieces]), cut))
        return Assembly(axes, tuple(places)), parts


def _edges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(accumulate(sizes, initial=0), sizes, strict=False))


def _reach(boundary: str, edge: tuple[int, int], before: int, after: int, size: int) -> Reach:
    start, length = edge
    if not length:
        return Reach.inside(0, 0)
    if boundary == "clipped":
        return Reach.inside(max(start - before, 0), min(start + length + after, size))
    return Reach.of(boundary, start - before, start + length + after, size)
