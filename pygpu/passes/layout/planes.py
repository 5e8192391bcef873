"""Makes functions of volumes functions of images: of one plane of the result.

A texel at a known number of planes from the result's own lies in an image that is that plane, so
that all that makes images fast serves volumes: which plane it is, the boundary's rule says, and who
runs the function hands it over. A texel at a z that is found at run time is looked up in the image
of all rows of the volume, one plane below the other, where the rules along y and z come before the
row is counted: none ever reads a row of another plane for one that lies outside.

    voxel v[x + 1, y, plane - 1] wrap  ->  load v_before1[x + 1, y] wrap
    voxel v[x, y, %0] wrap             ->  %1 = mod %0, v_depth; %2 = mod y, v_height
                                           load v[x, %1 * v_height + %2] wrap
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.layout.window import names_of_sizes, pairs
from pygpu.passes.lower.boundary import Emitting, Moved, chosen
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, Load, Op, Value, base_and_offset, walk
from pygpu.types import INT

FARTHEST: Final = 64  # planes from the result's own that are handed over as images


@record
class Read:
    """An image that a function of one plane reads: an image of the whole function as it is, a
    volume as all its rows, or, where there is an `offset`, the plane so far from the result's own,
    by the rule of a boundary."""

    image: int
    offset: int | None = None
    boundary: str = "nearest"


@record
class Planar:
    """A function of one plane. Its uniforms are those of the whole, the height and depth of each
    volume in `sized`, and last the number of the plane."""

    function: Function
    reads: tuple[Read, ...]
    sized: tuple[int, ...]


def by_planes(function: Function, most: int | None = None) -> Planar:
    """The function of one plane. Of more images than `most` no planes are made: all volumes are
    read as their rows."""
    reads = _reads(function, near=True)
    if most is not None and len(reads) > most:
        reads = _reads(function, near=False)
    split = _Split(function, reads)
    return Planar(apply(CLEAN, split.run()), tuple(reads), split.sized)


def _reads(function: Function, near: bool) -> list[Read]:
    """What a function of one plane reads. Others keep a place: their width may be asked for."""
    found: dict[Read, None] = {}
    for op in walk(function.body):
        if op.code == "load":
            found[Read(op.data.image)] = None
        elif op.code == "voxel":
            found[_read(op, near)] = None
        elif op.code in ("width", "height") and all(read.image != op.data for read in found):
            found[Read(op.data)] = None
    return list(found)


def _read(voxel: Op, near: bool) -> Read:
    base, offset = base_and_offset(voxel.operands[2])
    is_near = near and base.op is not None and base.op.code == "plane" and abs(offset) <= FARTHEST
    if not is_near:
        return Read(voxel.data.image)
    rule = "nearest" if voxel.data.boundary == "constant" else voxel.data.boundary
    return Read(voxel.data.image, offset, rule)


class _Split(Rewriter):
    """Volumes become images, their sizes and the plane's number uniforms."""

    def __init__(self, function: Function, reads: Sequence[Read]) -> None:
        self.reads = {read: place for place, read in enumerate(reads)}
        self.volumes = {i for i, image in enumerate(function.images) if image.dims == 3}
        self.sized = tuple(sorted(self.volumes))
        old, sides = function.images, names_of_sizes(function, self.sized, ("height", "depth"))
        images = [
            ImageInput(_name(old[each.image].name, each), old[each.image].type) for each in reads
        ]
        super().__init__(function, images=images, numbers=(*sides, "plane"))
        *sizes, self.plane = self.numbers
        self.sizes = pairs(self.sized, sizes)
        self.emit = self.build

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        match op.code:
            case "plane":
                return [self.plane]
            case "depth":
                return [self.sizes[op.data][1]]
            case "height" if op.data in self.volumes:
                return [self.sizes[op.data][0]]
            case "width" | "height":
                return [self.emit(op.code, data=self.any_of(op.data))]
            case "load":
                data = replace(op.data, image=self.reads[Read(op.data.image)])
                return [self.emit("load", *operands, data=data)]
            case "voxel":
                near = _read(op, near=True)
                if near.offset is not None and near in self.reads:
                    return [self.near(op.data, operands, self.reads[near])]
                return [self.among_rows(op.data, operands, self.reads[Read(op.data.image)])]
        return None

    def any_of(self, image: int) -> int:
        """An image that is as wide as one of the whole."""
        return next(place for read, place in self.reads.items() if read.image == image)

    def near(self, data: Load, place: tuple[Value, ...], image: int) -> Value:
        """A texel of a plane that is handed over."""
        x, y, z = place
        texel = self.emit("load", x, y, data=replace(data, image=image))
        if data.boundary != "constant":
            return texel
        return chosen(self.emit, data, texel, [self.within(z, self.sizes[data.image][1])])

    def among_rows(self, data: Load, place: tuple[Value, ...], image: int) -> Value:
        """A texel among all rows of a volume."""
        emit, numbers = self.emit, Emitting(self.emit)
        x, *others = place
        (y, tests_of_y), (z, tests_of_z) = [
            numbers.found(data.boundary, Moved(at, 0, own=False), size)
            for at, size in zip(others, self.sizes[data.image], strict=True)
        ]
        row = emit("add", emit("mul", z, self.sizes[data.image][0]), y)
        texel = emit("load", x, row, data=replace(data, image=image))
        return chosen(emit, data, texel, [*tests_of_y, *tests_of_z])

    def within(self, at: Value, size: Value) -> Value:
        emit = self.emit
        return emit("bit_and", emit("ge", at, emit.constant(INT, 0)), emit("lt", at, size))


def _name(name: str, read: Read) -> str:
    if not read.offset:
        return name if read.offset is None else f"{name}_here"
    return f"{name}_{'before' if read.offset < 0 else 'after'}{abs(read.offset)}"
