"""Makes one function of several that read one another's results, which then are never stored.

    merge("f", [Part(blur, (0,), (1,)), Part(add, (0, 1), (2,))], wanted=[2], reads={0}, sizes=...)

Images are numbers here. An image that a part makes is computed where another part reads it, unless
it is one of `reads`; other images are read. A part whose result is read beside the pixel must be
pointwise (`is_pointwise`): it is computed again at that place, and reads its own images there by
the boundary of its reader. That gives what reading its finished result would give, by all
boundaries but "constant".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.ssa import Function, ImageInput, Load, Lookup, Op, Region, Value, alike, walk
from pygpu.types import INT


@record(eq=False)
class Part:
    """A function, and the numbers of the images that it reads and makes."""

    function: Function
    images: tuple[int, ...]
    outputs: tuple[int, ...]


@record(eq=False)
class Merged:
    """A function of several parts: the images that it reads, and the part each uniform is of."""

    function: Function
    images: tuple[int, ...]
    uniforms: tuple[tuple[int, int], ...]


@record
class _Place:
    """Where an image is read: as a load says it."""

    x: Value
    y: Value
    load: Load


def is_here(function: Function, op: Op) -> bool:
    """Whether a load reads the pixel itself."""
    x, y = op.operands
    return x is function.x and y is function.y and op.data.dx == op.data.dy == 0


def is_pointwise(function: Function) -> bool:
    """Whether a pixel of the results depends on that pixel of the images alone, wherever it is."""
    places = {function.x, function.y}
    for op, operands in _reads(function):
        if op is not None and op.code == "load":
            if not is_here(function, op):
                return False
        elif (op is not None and op.code in ("width", "height")) or not places.isdisjoint(operands):
            return False
    return True


def _reads(function: Function) -> Iterator[tuple[Op | None, tuple[Value, ...]]]:
    """What reads values: operations, and regions that hand them on."""
    yield None, tuple(function.body.results)
    for op in walk(function.body):
        yield op, op.operands
        for region in op.regions:
            yield None, tuple(region.results)


def merge(
    name: str,
    parts: Sequence[Part],
    wanted: Sequence[int],
    reads: Set[int],
    sizes: Mapping[int, tuple[int, int]],
) -> Merged:
    """The function of images `wanted`, of parts in order and of sizes (height, width). Images of
    `reads` are finished before: also those that a part makes beside others."""
    return _Merger(name, parts, reads, sizes).run(wanted)


class _Merger:
    def __init__(
        self,
        name: str,
        parts: Sequence[Part],
        reads: Set[int],
        sizes: Mapping[int, tuple[int, int]],
    ) -> None:
        self.parts, self.sizes = parts, sizes
        self.maker = {
            image: place
            for place, part in enumerate(parts)
            for image in part.outputs
            if image not in reads
        }
        self.images: list[int] = []
        inputs = []
        for part in parts:
            for image, read in zip(part.images, part.function.images, strict=True):
                if image not in self.maker and image not in self.images:
                    self.images.append(image)
                    inputs.append(ImageInput(read.name, read.type))
        self.uniforms = tuple(
            (place, index)
            for place, part in enumerate(parts)
            for index in range(len(part.function.uniforms))
        )
        given = [parts[place].function.uniforms[index] for place, index in self.uniforms]
        self.build = Builder(name, inputs, [(value.name, value.type) for value in given])
        self.given = dict(zip(self.uniforms, self.build.uniforms, strict=True))
        self.here: dict[int, Value] = {}  # images at the pixel itself

    def run(self, wanted: Sequence[int]) -> Merged:
        for place, part in enumerate(self.parts):
            made = self.copy(place, None)
            self.here.update(zip(part.outputs, made, strict=True))
        function = self.build.finish([self.here[image] for image in wanted])
        return Merged(function, tuple(self.images), self.uniforms)

    def copy(self, place: int, at: _Place | None) -> list[Value]:
        """A part's results at the pixel, or elsewhere."""
        function = self.parts[place].function
        new = {value: self.given[place, i] for i, value in enumerate(function.uniforms)}
        if at is None:
            new |= {function.x: self.build.x, function.y: self.build.y}
        self.region(place, function.body, new, at)
        return [new[value] for value in function.outputs]

    def region(self, place: int, old: Region, new: dict[Value, Value], at: _Place | None) -> None:
        """Copy a region's operations to where the builder is."""
        for op in old.ops:
            self.build.place = op.place
            if op.code == "load":
                results: Sequence[Value] = [self.load(place, op, new, at)]
            elif op.code in ("width", "height"):
                results = [self.size(place, op)]
            else:
                results = self.operation(place, op, new, at)
            for before, after in zip(op.results, results, strict=True):
                new[before] = after
                if before.name and not after.name and after.op is not None:
                    after.name = before.name

    def operation(
        self, place: int, op: Op, new: dict[Value, Value], at: _Place | None
    ) -> Sequence[Value]:
        data: Any = op.data
        if isinstance(data, Lookup):
            table = self.parts[place].function.tables[data.table]
            data = replace(data, table=self.build.add_table(table.name, table.values))
        regions = []
        for region in op.regions:
            inner = Region(tuple(alike(region.params)))
            new.update(zip(region.params, inner.params, strict=True))
            with self.build.inside(inner):
                self.region(place, region, new, at)
                inner.results = tuple([new[value] for value in region.results])
            regions.append(inner)
        return self.build.again(op, [new[value] for value in op.operands], regions, data=data)

    def load(self, place: int, op: Op, new: dict[Value, Value], at: _Place | None) -> Value:
        """What a load gives, of an image or of what makes it."""
        image = self.parts[place].images[op.data.image]
        if at is not None:
            found = at
        elif image in self.maker and is_here(self.parts[place].function, op):
            return self.here[image]
        else:
            x, y = op.operands
            found = _Place(new[x], new[y], op.data)
        if image in self.maker:
            made = self.copy(self.maker[image], found)
            return made[self.parts[self.maker[image]].outputs.index(image)]
        cval = found.load.cval if at is None else op.data.cval
        load = replace(found.load, image=self.images.index(image), type=op.data.type, cval=cval)
        return self.build.emit("load", found.x, found.y, data=load)

    def size(self, place: int, op: Op) -> Value:
        image = self.parts[place].images[op.data]
        if image in self.maker:
            return self.build.constant(INT, self.sizes[image][op.code == "width"])
        return self.build.emit(op.code, data=self.images.index(image))


def beside(first: Function, second: Function, places: Sequence[int]) -> Function:
    """The function with the results of both, which have the same parameters. `places` says which
    image of the first each of the second's is, or which further one."""
    images = dict(enumerate(first.images)) | dict(zip(places, second.images, strict=True))
    inputs = tuple([images[place] for place in range(len(images))])
    whole = Function(first.name, inputs, first.tables, first.body)
    rewriter = Rewriter(whole)
    rewriter.inline(first.body)
    build = rewriter.build

    def renumbered(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Any:
        data: Any = op.data
        if isinstance(data, Lookup):
            table = second.tables[data.table]
            data = replace(data, table=build.add_table(table.name, table.values))
        elif isinstance(data, Load):
            data = replace(data, image=places[data.image])
        elif op.code in _SIZES:
            data = places[data]
        else:
            return None
        return build.again(op, operands, data=data)

    rewriter.new.update(zip(second.body.params, build.body.params, strict=True))
    rewriter.rule = renumbered
    rewriter.inline(second.body)
    return build.finish([rewriter.new[value] for value in (*first.outputs, *second.outputs)])


_SIZES: Final = ("width", "height", "depth")
