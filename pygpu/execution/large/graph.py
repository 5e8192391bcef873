"""Dask arrays in, Dask arrays out: calls that are larger than memory, computed chunk by chunk.

Nothing is computed when a function is called. The graph has a task for each chunk of the result: it
puts together what the function reads there (its footprint says how far around) and runs the
function of that window, which knows where in the whole image it stands (work.py).

    edges(dask.array.from_zarr("slide.zarr")).to_zarr("edges.zarr")
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import getitem
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.large.regions import Assembly, Reach
from pygpu.execution.large.work import Function, Plan, results, run_tile, windowed_for
from pygpu.execution.programs.specialise import Translated
from pygpu.execution.programs.tiles import Tile
from pygpu.passes.lower.window import View, Windowed

NO_OUT: Final = "out: a Dask array is computed later; store it with its to_zarr or store"


def is_dask(value: object) -> bool:
    """Whether it is a Dask array. Dask is not imported for the question."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(value, module.Array)


def holds_dask(values: Iterable[Any]) -> bool:
    """Whether any of a call's arguments is a Dask array, or one of the items that `*rest` or
    `**named` parameters take."""
    return "dask.array" in sys.modules and any(map(is_dask, _leaves(values)))


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) is tuple:
            yield from value
        elif type(value) is dict:
            yield from value.values()
        else:
            yield value


# ---------------------------------------------------------------- the graph


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """A Dask array as an image: how it lies in chunks."""

    array: Any
    name: str  # the parameter
    rows: tuple[int, ...]  # 0, then where each chunk ends
    columns: tuple[int, ...]

    @classmethod
    def of(cls, array: Any, name: str) -> _Source:
        if array.ndim not in (2, 3) or (array.ndim == 3 and not 1 <= array.shape[2] <= 4):
            raise ValueError(
                f"{name}: a Dask array of shape {array.shape}; an image is an array (H, W) or "
                "(H, W, C) with 1 to 4 channels (f.map takes stacks of images)"
            )
        if any(np.isnan(n) for sizes in array.chunks for n in sizes):
            raise ValueError(
                f"{name}: a Dask array whose chunks are of unknown size; "
                "call its compute_chunk_sizes() first"
            )
        if 0 in array.shape:
            raise ValueError(f"{name}: a Dask array of shape {array.shape} is empty")
        if array.ndim == 3 and len(array.chunks[2]) > 1:
            array = array.rechunk({2: -1})
        rows, columns = (tuple(accumulate(sizes, initial=0)) for sizes in array.chunks[:2])
        return cls(array, name, rows, columns)

    def standin(self) -> NDArray[Any]:
        """An image of one pixel of the same kind."""
        return np.zeros((1, 1, *self.array.shape[2:]), self.array.dtype)

    def key(self, row: int, column: int) -> tuple[Any, ...]:
        """The key of a chunk in the graph."""
        return (self.array.name, row, column, *([0] if self.array.ndim == 3 else []))


def call(
    compiled: Function,
    values: Sequence[Any],
    *,
    out: Any = None,
    shape: tuple[int, int] | None = None,
    dtype: Any = None,
) -> Any:
    """The results of a call as Dask arrays; nothing is computed yet. `values` are the arguments in
    the order of the parameters."""
    if out is not None:
        raise TypeError(NO_OUT)
    sources: dict[int, _Source] = {}
    names = [str(parameter.name) for parameter in compiled.signature.parameters]
    stood = [_standins(value, name, sources) for name, value in zip(names, values, strict=True)]
    arguments = flatten(compiled.signature, stood)
    by_image = {
        index: sources[id(given.original)]
        for index, given in enumerate(arguments.images)
        if id(given.original) in sources
    }
    if len({id(source) for source in by_image.values()}) < len(sources):
        raise TypeError(
            f"{compiled.signature.name}: a Dask array is taken as an image, "
            "not as a known value, a number or inside an object"
        )
    translated = compiled.translated(arguments)
    sizes = _sizes(arguments, by_image, translated)
    windowed = windowed_for(translated, arguments, settled=False)
    is_settled = any(view.margin is None and view.image in by_image for view in windowed.views)
    if is_settled:
        windowed = windowed_for(translated, arguments, settled=True)
    plan = Plan(
        uuid.uuid4().hex,
        compiled,
        stood,
        compiled.wanted(("array", ""), dtype=dtype),
        tuple(by_image),
        sizes,
        is_settled,
    )
    if shape is None:
        width, height = sizes[arguments.first]
        size = (height, width)
    else:
        size = compiled.size(shape, [], None)
    chunks = _chunks(size, arguments.first, by_image)
    return _Graph(plan, by_image, windowed, chunks).results(translated)


def _standins(value: Any, name: str, sources: dict[int, _Source]) -> Any:
    """The argument with images of one pixel in place of Dask arrays, which go to `sources`."""
    if is_dask(value):
        source = _Source.of(value, name)
        made = source.standin()
        sources[id(made)] = source
        return made
    if type(value) is tuple:
        return tuple([_standins(item, f"{name}[{i}]", sources) for i, item in enumerate(value)])
    if type(value) is dict:
        return {key: _standins(item, str(key), sources) for key, item in value.items()}
    return value


def _sizes(
    arguments: Arguments, by_image: Mapping[int, _Source], translated: Translated
) -> tuple[tuple[int, int], ...]:
    storages = [given.storage for given in arguments.images]
    storages += [image.storage for image in translated.translation.captured]
    return tuple(
        [
            (by_image[i].array.shape[1], by_image[i].array.shape[0])
            if i in by_image
            else (storage.width, storage.height)
            for i, storage in enumerate(storages)
        ]
    )


def _chunks(
    size: tuple[int, int], first: int, by_image: Mapping[int, _Source]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How the results lie in chunks: as the first image of their size does."""
    for index in sorted(by_image, key=lambda index: index != first):
        array = by_image[index].array
        if array.shape[:2] == size:
            return array.chunks[:2]  # type: ignore[no-any-return]
    from dask.array.core import normalize_chunks  # optional, and slow to import

    chunks = normalize_chunks("auto", size, dtype=np.dtype("float32"))
    return chunks  # type: ignore[no-any-return]


_Edges = Sequence[tuple[int, int]]  # start and length along an axis


class _Graph:
    """The tasks of one call, in the making."""

    def __init__(
        self,
        plan: Plan,
        sources: Mapping[int, _Source],
        windowed: Windowed,
        chunks: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> None:
        self.plan, self.sources, self.chunks = plan, sources, chunks
        self.name: Final = f"{plan.compiled.signature.name}-{plan.token}"
        self.plan_key: Final = f"plan-{self.name}"
        self.tasks: dict[Any, Any] = {self.plan_key: plan}
        rows, columns = (_edges(sizes) for sizes in chunks)
        self.rows, self.columns = rows, columns
        self.views = [_ViewParts.of(each, sources, rows, columns) for each in windowed.views]

    def results(self, translated: Translated) -> Any:
        """Dask arrays for what the function returns."""
        from dask.array import Array  # optional, and slow to import
        from dask.highlevelgraph import HighLevelGraph

        formats, dtypes = results(translated, self.plan.wanted)
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
        for i, (top, height) in enumerate(self.rows):
            for j, (left, width) in enumerate(self.columns):
                assemblies: list[Assembly | None] = []
                keys: list[Any] = []
                for view in self.views:
                    assembly, pieces = view.assembly(i, j) if width and height else (None, [])
                    assemblies.append(assembly)
                    keys += [self.piece(view.source, *piece) for piece in pieces]
                tile = Tile(left, top, width, height)
                key = (self.name, i, j, *suffix)
                self.tasks[key] = (run_tile, self.plan_key, tile, tuple(assemblies), *keys)

    def piece(
        self, source: _Source | None, row: int, column: int, rows: slice, columns: slice
    ) -> Any:
        """The key of a part of a chunk. A part is cut off where the chunk is, so that no more than
        it travels between workers."""
        assert source is not None
        chunk = source.key(row, column)
        heights, widths = source.array.chunks[:2]
        if rows == slice(0, heights[row]) and columns == slice(0, widths[column]):
            return chunk
        cut = (rows.start, rows.stop, columns.start, columns.stop)
        key = (f"part-{source.array.name}-{self.plan.token}", row, column, *cut)
        self.tasks.setdefault(key, (getitem, chunk, (rows, columns)))
        return key


@dataclass(frozen=True, slots=True, eq=False)
class _ViewParts:
    """What each row and each column of chunks of the result reads of an image."""

    source: _Source | None  # None: the image is no Dask array
    rows: tuple[Reach, ...] = ()
    columns: tuple[Reach, ...] = ()

    @classmethod
    def of(
        cls, view: View, sources: Mapping[int, _Source], rows: _Edges, columns: _Edges
    ) -> _ViewParts:
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
            down, across = Reach(((0, height),), None), Reach(((0, width),), None)
            return cls(source, (down,) * len(rows), (across,) * len(columns))
        how = view.boundary
        return cls(
            source,
            tuple([_reach(how, edge, margin.up, margin.down, height) for edge in rows]),
            tuple([_reach(how, edge, margin.left, margin.right, width) for edge in columns]),
        )

    def assembly(
        self, i: int, j: int
    ) -> tuple[Assembly | None, list[tuple[int, int, slice, slice]]]:
        """How the view of a chunk of the result is put together, and of which parts of chunks."""
        if self.source is None:
            return None, []
        rows, columns = self.rows[i], self.columns[j]
        places, pieces = [], []
        for row, part, down in rows.pieces(self.source.rows):
            for column, piece, across in columns.pieces(self.source.columns):
                places.append((down, across))
                pieces.append((row, column, part, piece))
        return Assembly(rows, columns, tuple(places)), pieces


def _edges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(accumulate(sizes, initial=0), sizes, strict=False))


def _reach(boundary: str, edge: tuple[int, int], before: int, after: int, size: int) -> Reach:
    start, length = edge
    return Reach.of(boundary, start - before, start + length + after, size)


# ---------------------------------------------------------------- element by element


@dataclass(frozen=True, slots=True)
class _Elementwise:
    """A vectorized function, called by places with what has been given by name put back."""

    function: Callable[..., Any]
    names: tuple[str, ...]
    dtype: Any

    def __call__(self, *values: Any) -> Any:
        by_place = len(values) - len(self.names)
        named = dict(zip(self.names, values[by_place:], strict=True))
        return self.function(*values[:by_place], dtype=self.dtype, **named)


def elementwise(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], dtype: Any
) -> Any:
    """The results of a vectorized function as Dask arrays: the arguments are broadcast, nothing is
    computed yet. A call for one element says what the results are."""
    from dask.array import blockwise  # optional, and slow to import

    values = [*args, *kwargs.values()]
    each = _Elementwise(function, tuple(kwargs), dtype)
    shapes = [np.shape(value) for value in values]
    axes = max(map(len, shapes))
    sample = each(
        *[
            np.ones((1,) * len(shape), value.dtype) if is_dask(value) else _corner(value)
            for value, shape in zip(values, shapes, strict=True)
        ]
    )
    several = sample if isinstance(sample, tuple) else (sample,)
    given: list[Any] = []
    for value, shape in zip(values, shapes, strict=True):
        lazy = value if is_dask(value) or not shape else np.asarray(value)
        given += [lazy, tuple(range(axes - len(shape), axes)) if shape else None]
    if not isinstance(sample, tuple):
        widths = dict(enumerate(sample.shape[axes:], axes))
        index = (*range(axes), *widths)
        return blockwise(each, index, *given, new_axes=widths, dtype=sample.dtype, meta=sample[:0])
    together = blockwise(each, tuple(range(axes)), *given, dtype=object, meta=np.empty((0,) * axes))
    return tuple([_taken(together, place, one) for place, one in enumerate(several)])


def _corner(value: Any) -> Any:
    """One element of an argument that is no Dask array."""
    shape = np.shape(value)
    return np.asarray(value)[tuple([slice(0, 1)] * len(shape))] if shape else value


def _taken(together: Any, place: int, sample: NDArray[Any]) -> Any:
    """The array of one of the results, of an array whose chunks are tuples of them."""
    from dask.array import Array  # optional, and slow to import
    from dask.highlevelgraph import HighLevelGraph

    widths = sample.shape[together.ndim :]
    name = f"{together.name}-{place}"
    tasks: dict[Any, Any] = {
        (name, *at, *([0] * len(widths))): (getitem, (together.name, *at), place)
        for at in np.ndindex(*together.numblocks)
    }
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[together])
    chunks = (*together.chunks, *[(width,) for width in widths])
    return Array(graph, name, chunks, meta=np.empty((0,) * len(chunks), sample.dtype))


__all__ = ["call", "elementwise", "holds_dask", "is_dask"]
