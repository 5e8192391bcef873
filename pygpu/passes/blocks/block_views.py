"""Views of images: what a block of pixels reads and writes at once.

A view has four components a texel: four pixels of one component, two pixels of two, or a third of
four pixels of three. Its width is the number of texels that hold a row.

    widened, views = widen(function, inputs, few=2, viewed=VIEWED, is_clamped=False)
    packed = pack(widened, outputs, rows=1)          # its results are texels of views
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from pygpu.core.builder import Builder
from pygpu.core.rewriter import Rewriter
from pygpu.core.storage import Format
from pygpu.ssa import Function, ImageInput, Load, Op, Value, constant_of
from pygpu.types import INT, vector

COLUMNS: Final = 4  # pixels of a block along x, where views are read or written
NARROW: Final = (1, 2)  # bytes of pixels that are elements of buffers, where these may be narrow
_SHIFTS: Final = {1: 2, 2: 1, 3: 2}  # from columns of pixels to those of texels, for three a third


def view_of(format: Format) -> Format:
    """How texels of a view are stored."""
    return replace(format, channels=4)


def is_near(function: Function, op: Op) -> bool:
    """Whether it reads at a known distance along x from the block's first pixel."""
    return op.code == "load" and op.operands[0] is function.x


def is_column(function: Function, op: Op) -> bool:
    """Whether it computes, from its first pixel's, the column of the block in a view of one
    component a pixel."""
    return (
        op.code == "shr"
        and op.operands[0] is function.x
        and constant_of(op.operands[1]) == _SHIFTS[1]
    )


def widen(
    function: Function, inputs: Sequence[Format], few: int, viewed: frozenset[int], is_clamped: bool
) -> tuple[Function, tuple[int, ...]]:
    """The function with loads of more than a `few` neighbouring pixels as loads of texels of views,
    for images of so many channels; and of which image each view is one. Where pixels beside the
    block are to be clamped, those over the image's edge become the pixel that is there: the block
    lies inside then, and the image ends where a texel of the view does."""
    widened = _Wide(function, inputs, few, viewed, is_clamped)
    return widened.run(), tuple(widened.views)


class _Wide(Rewriter):
    """Makes the function that `widen` gives."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        few: int,
        viewed: frozenset[int],
        is_clamped: bool,
    ) -> None:
        super().__init__(function)
        self.inputs, self.few, self.viewed = inputs, few, viewed
        self.is_clamped = is_clamped
        self.views: dict[int, int] = {}  # of an image: the index of its view
        self.used: dict[tuple[int, Value, int], set[int]] = {}  # image, y, texel: pixels
        for op in function.body.ops:
            if is_near(function, op):
                self.used.setdefault(self.group(op), set()).add(op.data.dx)

    def group(self, op: Op) -> tuple[int, Value, int]:
        """What pixels have in common that are read together."""
        return op.data.image, op.operands[1], op.data.dx // COLUMNS

    def each(self, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if not is_near(self.function, op):
            return None
        format, y = self.inputs[op.data.image], operands[1]
        enough = 1 if format.dtype.itemsize < 4 else self.few + 1
        is_wide = format.channels in self.viewed and len(self.used[self.group(op)]) >= enough
        if self.is_clamped and op.data.dx not in range(COLUMNS):
            beside = self.part_beside if is_wide else self.pixel_beside
            return (beside(op.data, y, format.channels),)
        return (self.part(op.data, y, format.channels),) if is_wide else None

    def part(self, data: Load, y: Value, channels: int) -> Value:
        """A pixel, from the texels of the view that its components are in."""
        x = _scaled(self.build, channels)
        components = []
        for texel, inside in _components(data.dx, channels):
            whole = self.texel(data, x, y, texel)
            components.append(self.build.emit("swizzle", whole, data=(inside,)))
        return self.joined(components)

    def part_beside(self, data: Load, y: Value, channels: int) -> Value:
        """A pixel beside the block, from the texels of the view that its components are in. Where
        it lies over the image's edge, it is the pixel at the edge."""
        build = self.build
        number = partial(build.constant, INT)
        last = build.emit("sub", build.emit("width", data=self.view(data.image)), number(1))
        first = data.dx // COLUMNS * COLUMNS  # of the four pixels, which lie inside together
        is_left = first < 0
        if is_left:
            inside = build.emit("ge", build.x, number(-first))
        else:
            after = build.emit("add", _scaled(build, channels), number(first * channels // 4))
            inside = build.emit("le", after, last)
        components = []
        for component, (texel, place) in enumerate(_components(data.dx, channels)):
            x = build.emit("add", _scaled(build, channels), number(texel))
            x = build.emit("max", x, number(0)) if is_left else build.emit("min", x, last)
            whole = self.texel(data, x, y, 0)
            edge = component if is_left else COLUMNS - channels + component
            taken, other = [build.emit("swizzle", whole, data=(i,)) for i in (place, edge)]
            components.append(build.emit("select", inside, taken, other))
        return self.joined(components)

    def pixel_beside(self, data: Load, y: Value, channels: int) -> Value:
        """A pixel beside the block, by a load of its own; over the edge the pixel at the edge."""
        build = self.build
        x = build.emit("add", build.x, build.constant(INT, data.dx))
        if data.dx < 0:
            x = build.emit("max", x, build.constant(INT, 0))
        else:
            width = build.emit("width", data=data.image)
            x = build.emit("min", x, build.emit("sub", width, build.constant(INT, 1)))
        return build.emit("load", x, y, data=replace(data, dx=0))

    def texel(self, data: Load, x: Value, y: Value, dx: int) -> Value:
        """A texel of the view of an image."""
        type = vector(data.type.kind, 4)
        near = replace(data, image=self.view(data.image), type=type, dx=dx)
        return self.build.emit("load", x, y, data=near)

    def joined(self, components: Sequence[Value]) -> Value:
        return components[0] if len(components) == 1 else self.build.emit("construct", *components)

    def view(self, image: int) -> int:
        """The index of the view of an image."""
        if image not in self.views:
            given = self.function.images[image]
            self.views[image] = len(self.build.images)
            self.build.images.append(ImageInput(f"{given.name}4", vector(given.type.kind, 4)))
        return self.views[image]


def _components(dx: int, channels: int) -> list[tuple[int, int]]:
    """Of a pixel so far from the block's first: the texel of the view that each component is in,
    counted from the block's first, and its place there."""
    return [divmod(channels * dx + component, 4) for component in range(channels)]


def _scaled(build: Builder, channels: int) -> Value:
    """The texel of a view that the block's first pixel begins."""
    x = build.emit("shr", build.x, build.constant(INT, _SHIFTS[channels]))
    return build.emit("mul", x, build.constant(INT, 3)) if channels == 3 else x


def pack(function: Function, outputs: Sequence[Format], rows: int) -> Function:
    """The function with texels of views as its results."""
    rewriter = Rewriter(function)
    rewriter.inline(function.body)
    build, values = rewriter.build, [rewriter.new[value] for value in function.outputs]
    size = COLUMNS * rows
    packed: list[Value] = []
    for index, format in enumerate(outputs):
        pixels = values[index * size : (index + 1) * size]
        if format.channels == 4:
            packed += pixels
            continue
        parts = _flat(build, pixels)
        packed += [build.emit("construct", *parts[i : i + 4]) for i in range(0, len(parts), 4)]
    return build.finish(packed)


def _flat(build: Builder, values: Sequence[Value]) -> tuple[Value, ...]:
    """The components of all the values."""
    return tuple(
        [
            part
            for value in values
            for part in (
                [value]
                if value.type.is_scalar
                else [build.emit("swizzle", value, data=(i,)) for i in range(value.type.size)]
            )
        ]
    )
