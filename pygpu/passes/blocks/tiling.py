"""Puts functions that read one another's results together for work groups: each makes a tile of the
results, and keeps what is between, with its halo, in memory that its threads share.

    made = tiling([Source(products, (0,), (1, 2, 3)), Source(boxes, (1, 2, 3), (4,))], 32768)
    made.pieces       # in order: loops over parts of shared memory, the last over the results

A piece is a function of some pixels below one another, which share what they read and compute. What
is between is read where it would be read if it were an image: boundaries are arithmetic of places
before anything is looked up in shared memory, and pixels outside of the image are not made. So
results are those of the functions one after the other. The parts of one function
(passes/stages/part.py) have images with a margin, whose x and y count from its first pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from pygpu.core.boundaries import MIRRORING
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.analysis.footprint import Footprint, footprint
from pygpu.passes.blocks.block import can_block, rows_of_pixels
from pygpu.passes.stages.part import Part, stages
from pygpu.passes.stages.price import numbers_read, price
from pygpu.passes.stages.rank import factored
from pygpu.ssa import Function, ImageInput, Op, Region, Value, alike, has, walk

ROWS: Final = 4  # pixels below one another that a thread makes at once
SIZES: Final = ((64, 32), (32, 32), (64, 16), (32, 16), (32, 8))  # of tiles of results
SHARED: Final = 4  # sums that a read or a write of shared memory costs
LOADED: Final = 2  # those that a read of an image costs, which others near have read
STORED: Final = 26  # those that writing a number to an image, or reading it first, costs
WORTH: Final = 2.0  # times as much as in tiles, what is apart must cost: blocks and caches are good
LARGEST: Final = 4096  # operations of all pieces
BLOCK: Final = 16  # pixels of a block, with which tiles are compared


@record(eq=False)
class Source:
    """A function, and the numbers of the images that it reads and makes."""

    function: Function
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@record(eq=False, frozen=False)
class Piece:
    """A function of ROWS pixels below one another. Its images are those of the tiling. The area in
    which it makes pixels begins so far (`before`) left of and above the tile of results, in its own
    x and y, and has `width` columns and `height` rows; its pixels go as far as the results' and
    `beyond` that many columns and rows."""

    function: Function
    makes: tuple[int, ...]  # images of the tiling; nothing where they are results
    before: tuple[int, int]
    width: int
    height: int
    beyond: tuple[int, int]
    cost: float = 0.0  # in sums, for each pixel of the area


@record(eq=False)
class Tiling:
    """The pieces in order, for tiles of (width, height). The images are those that are read
    (`reads` has their numbers), then those that stay in shared memory, of which piece `makers[i]`
    makes the i-th. Of which source each of the uniforms is which, `uniforms` says."""

    pieces: tuple[Piece, ...]
    images: tuple[ImageInput, ...]
    reads: tuple[int, ...]
    makers: tuple[int, ...]
    uniforms: tuple[tuple[int, int], ...]
    size: tuple[int, int]
    cost: float  # in sums, for each pixel of the results


@record(eq=False, frozen=False)
class _Node:
    """A part of a source, by the keys of what it reads and makes."""

    source: int
    function: Function
    reads: list[Any]
    makes: list[Any]
    margin: Footprint
    before: tuple[int, int] = (0, 0)
    extent: tuple[int, int] = (0, 0)


def tiling(sources: Sequence[Source], nbytes: int) -> Tiling | None:
    """The functions of some sources in tiles, of which the last makes results alone and reads, by
    way of others, what all of them make. So much memory may be shared. None where that cannot be,
    or costs no less than one after the other."""
    factors = [replace(each, function=factored(each.function)) for each in sources]
    if not all(can_block(each.function) and not has(each.function, "table") for each in factors):
        return None
    nodes = [node for place, each in enumerate(factors) for node in _nodes(place, each)]
    if len(nodes) < 2:
        return None
    reach = _reach(factors)
    if reach is None:
        return None
    made = _Maker(factors, nodes, reach)
    if sum(_size(function) for function in made.functions) > LARGEST:
        return None
    found = [made.tiled(size) for size in SIZES]
    fitting = [each for each in found if _shared_bytes(each) <= nbytes]
    best = min(fitting, key=lambda each: each.cost, default=None)
    if best is None or _apart(sources) < WORTH * best.cost:
        return None
    return best


def _size(function: Function) -> int:
    return sum(1 for op in walk(function.body) if op.code != "constant")


def _nodes(place: int, source: Source) -> Iterator[_Node]:
    """The parts of a function: each reads what that does, and what the part before makes."""
    parts = stages(source.function) or (Part(source.function, Footprint()),)
    between: list[Any] = []
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        makes: list[Any] = [(place, index, k) for k in range(len(part.function.outputs))]
        if is_last:
            makes = list(source.outputs)
        yield _Node(place, part.function, [*source.inputs, *between], makes, part.margin)
        between = makes


def _reach(sources: Sequence[Source]) -> list[tuple[int, int]] | None:
    """How far around a tile each source is to be made; None where one is read from elsewhere."""
    makers = {image: place for place, each in enumerate(sources) for image in each.outputs}
    found = [(0, 0)] * len(sources)
    for place in reversed(range(len(sources))):
        reader = sources[place]
        around = footprint(reader.function)
        for index, image in enumerate(reader.inputs):
            maker = makers.get(image)
            if maker is None:
                continue
            near, rules = around[index], _rules(reader.function, index)
            if near is None or "wrap" in rules or maker >= place:
                return None
            x, y = max(near.left, near.right), max(near.up, near.down)
            if rules & MIRRORING:
                y += ROWS - 1  # rows below the image, made with its last, are read from far above
            (px, py), (mx, my) = found[place], found[maker]
            found[maker] = max(mx, px + x), max(my, -(-(py + y) // ROWS) * ROWS)
    return found


def _rules(function: Function, image: int) -> set[str]:
    loads = [op.data for op in walk(function.body) if op.code == "load"]
    return {data.boundary for data in loads if data.image == image}


def _inside(function: Function, first: int) -> Function:
    """The function of a part, whose images from the first on have all that is read of them."""

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load" or op.data.image < first:
            return None
        data = replace(op.data, boundary="inside", cval=())
        return [rewriter.build.emit("load", *operands, data=data)]

    return Rewriter(function, rule).run()


class _Maker:
    """Makes tilings of several sizes."""

    def __init__(
        self, sources: Sequence[Source], nodes: Sequence[_Node], reach: Sequence[tuple[int, int]]
    ) -> None:
        self.sources, self.nodes, self.reach = sources, nodes, reach
        makers = {key: place for place, node in enumerate(nodes) for key in node.makes}
        last = nodes[-1]
        inner = [key for node in nodes[:-1] for key in node.makes]
        read = {key for node in nodes for key in node.reads}
        self.inner = [key for key in inner if key in read]
        outside: dict[Any, ImageInput] = {}
        for node in nodes:
            for key, image in zip(node.reads, node.function.images, strict=True):
                if key not in makers:
                    outside.setdefault(key, image)
        self.reads = tuple(outside)
        between = [
            ImageInput(f"tile{place}", self._value(nodes[makers[key]], key).type)
            for place, key in enumerate(self.inner)
        ]
        self.images = (*outside.values(), *between)
        self.index = {key: place for place, key in enumerate([*self.reads, *self.inner])}
        self.makers = tuple([makers[key] for key in self.inner])
        self.uniforms = tuple(
            (place, index)
            for place, each in enumerate(sources)
            for index in range(len(each.function.uniforms))
        )
        self.functions = [self._function(node) for node in nodes]
        assert last.makes == list(sources[-1].outputs)

    def _value(self, node: _Node, key: Any) -> Value:
        return node.function.outputs[node.makes.index(key)]

    def _function(self, node: _Node) -> Function:
        """A node's function of ROWS pixels, of the images and uniforms of all."""
        kept = [node is self.nodes[-1] or key in self.index for key in node.makes]
        outputs = [v for v, is_kept in zip(node.function.outputs, kept, strict=True) if is_kept]
        body = replace(node.function.body, results=tuple(outputs))
        count = len(self.sources[node.source].inputs)
        inside = _inside(replace(node.function, body=body), count)
        rows = rows_of_pixels(inside, ROWS)
        places = [self.index.get(key) for key in node.reads]

        def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
            if op.code == "load":
                data = replace(op.data, image=places[op.data.image])
                return [rewriter.build.emit("load", *operands, data=data)]
            if op.code in ("width", "height"):
                return [rewriter.build.emit(op.code, data=places[op.data])]
            return None

        made = Rewriter(replace(rows, images=self.images), rule).run()
        own = iter(made.uniforms)
        given: list[Value] = []
        for place, index in self.uniforms:
            uniform = self.sources[place].function.uniforms[index]
            given.append(next(own) if place == node.source else alike([uniform])[0])
        region = Region((made.x, made.y, *given), made.body.ops, made.body.results)
        return replace(made, body=region)

    def tiled(self, size: tuple[int, int]) -> Tiling:
        """The pieces for tiles of a size."""
        self._extents(size)
        pieces, total = [], 0.0
        for node, function in zip(self.nodes, self.functions, strict=True):
            is_last = node is self.nodes[-1]
            makes = () if is_last else tuple([self.index[k] for k in node.makes if k in self.index])
            margin = node.margin
            beyond = margin.left + margin.right, margin.up + margin.down
            cost = self._cost(function, is_last)
            pieces.append(Piece(function, makes, node.before, *node.extent, beyond, cost))
            total += cost * node.extent[0] * node.extent[1]
        return Tiling(
            tuple(pieces),
            self.images,
            self.reads,
            self.makers,
            self.uniforms,
            size,
            total / (size[0] * size[1]) + STORED * _components(self.nodes[-1].function.outputs),
        )

    def _cost(self, function: Function, is_last: bool) -> float:
        cost = float(price(function.body))
        for op in walk(function.body):
            if op.code == "load":
                each = LOADED if op.data.image < len(self.reads) else SHARED
                cost += each * op.result.type.size
        if not is_last:
            cost += SHARED * _components(function.outputs)
        return cost / ROWS

    def _extents(self, size: tuple[int, int]) -> None:
        """Set where the area of each node begins and how large it is, as its readers look."""
        width, height = size
        for node in self.nodes:
            (mx, my), margin = self.reach[node.source], node.margin
            node.before = mx, my
            across = width + 2 * mx + margin.left + margin.right
            node.extent = across, _blocks(height + 2 * my + margin.up + margin.down)
        for place in reversed(range(len(self.nodes))):
            reader = self.nodes[place]
            around = footprint(reader.function)
            for key, near in zip(reader.reads, around, strict=True):
                maker = next((node for node in self.nodes[:place] if key in node.makes), None)
                if maker is None:
                    continue
                assert near is not None
                x = maker.before[0] - reader.before[0] + near.right + reader.extent[0]
                y = maker.before[1] - reader.before[1] + near.down + reader.extent[1]
                maker.extent = max(maker.extent[0], x), _blocks(max(maker.extent[1], y))


def _blocks(rows: int) -> int:
    return -(-rows // ROWS) * ROWS


def _components(values: Sequence[Value]) -> int:
    return sum(value.type.size for value in values)


def _shared_bytes(made: Tiling) -> int:
    total = 0
    for image, maker in zip(made.images[len(made.reads) :], made.makers, strict=True):
        piece = made.pieces[maker]
        total += 4 * (4 if image.type.size == 3 else image.type.size) * piece.width * piece.height
    return total


def _apart(sources: Sequence[Source]) -> float:
    """What the functions cost one after the other, in blocks, which share what they can."""
    total = 0.0
    for each in sources:
        function, rows = each.function, BLOCK
        while rows > 1 and _size(function) * rows > LARGEST:
            rows //= 2
        made = rows_of_pixels(function, rows) if rows > 1 else function
        cost = (price(made.body) + LOADED * numbers_read(made.body)) / rows
        total += cost + STORED * _components(each.function.outputs)
    makes = {image for each in sources[:-1] for image in each.outputs}
    for each in sources:
        for image, value in zip(each.inputs, each.function.images, strict=True):
            if image in makes:
                total += STORED * value.type.size
    return total
