"""Rows of images packed in words of four bytes, which a block reads and writes all at once.

views = PackedRows(gate, inputs, ("byte", BYTE), columns=16, words=4)
views.read({0: range(-1, 2)}, assembled)       # rows of image 0, from one above
views.word(0, 1, -1)                           # the second word of the first of them
views.blocked(results, rows=1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from pygpu.core.storage import Format
from pygpu.passes.blocks.block import Blocked
from pygpu.passes.lower.boundary import lower_boundary, nearest
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, Load, Op, Region, Value
from pygpu.types import INT, Type, vector


class PackedRows:
    """What a gate reads of images for a block of so many `columns`, which are so many `words`. Of
    each there are two views: its single elements, as ints, of which a name and a format are given,
    and the words of a row. `whole` has the rows that were read, by image and how far down."""

    def __init__(
        self,
        gate: Gate,
        inputs: Sequence[Format],
        single: tuple[str, Format],
        columns: int,
        words: int,
    ) -> None:
        self.gate, self.single, self.columns = gate, single, columns
        self.format = Format(np.dtype(np.int32), words)
        self.type = vector("int", words)
        self.images: list[ImageInput] = list(gate.function.images)
        self.formats: list[Format] = list(inputs)
        self.views: list[int] = []  # of which image each is one
        self.of_image: dict[int, int] = {}  # the index of its first view
        self.whole: dict[tuple[int, int], Value] = {}

    def read(
        self, rows: Mapping[int, Iterable[int]], assembled: Callable[[int, int], Value]
    ) -> None:
        """All words of these rows of images: loaded at once, or, where a row ends before the block
        does, `assembled`. One branch for an image, so that all loads are on their way together."""
        gate = self.gate
        end = gate("add", gate.x, gate.constant(INT, self.columns))
        for image, some in rows.items():
            keys = [(image, dy) for dy in some]
            fits = gate("le", end, gate("width", data=image))
            for key in keys:
                self._y(*key)  # before the branch, for both sides
            sides = (self._side(self._loaded, keys), self._side(assembled, keys))
            made = Op("if", (fits,), None, [self.type] * len(keys), sides)
            gate.ops.append(made)
            self.whole.update(zip(keys, made.results, strict=True))

    def word(self, image: int, index: int, dy: int) -> Value:
        """A word of a row that was read."""
        whole = self.whole[image, dy]
        return whole if self.type.is_scalar else self.gate("swizzle", whole, data=(index,))

    def element(self, image: int, column: int, dy: int) -> Value:
        """A single element, clamped."""
        x = self._clamped("width", image, self.gate.x, column)
        return self._load(self._first(image), x, self._y(image, dy), INT)

    def joined(self, words: Sequence[Value]) -> Value:
        """Words of a row in one value."""
        return words[0] if len(words) == 1 else self.gate("construct", *words)

    def finished(self, results: Sequence[Value]) -> Function:
        """The gate's function of these results, with the views among its images."""
        made = self.gate.finish(results)
        made = Function(made.name, tuple(self.images), made.tables, made.body)
        return apply(CLEAN, lower_boundary(made))

    def blocked(self, function: Function, rows: int) -> Blocked:
        """A function whose results are words of so many rows each, as that of a block."""
        count = len(function.outputs) // rows
        return Blocked(
            function,
            self.columns,
            rows,
            tuple(self.formats),
            (self.format,) * count,
            (1,) * count,
            tuple(self.views),
        )

    def _side(self, build: Callable[[int, int], Value], keys: Sequence[tuple[int, int]]) -> Region:
        """A side of a branch, which leaves something of each row of an image."""
        region = Region()
        with self.gate.inside(region):
            region.results = tuple([build(*key) for key in keys])
        return region

    def _loaded(self, image: int, dy: int) -> Value:
        """The words of a row, at once."""
        x = self.gate("shr", self.gate.x, self.gate.constant(INT, self.columns.bit_length() - 1))
        return self._load(self._first(image) + 1, x, self._y(image, dy), self.type)

    def _y(self, image: int, dy: int) -> Value:
        return self._clamped("height", image, self.gate.y, dy)

    def _clamped(self, size: str, image: int, place: Value, offset: int) -> Value:
        gate = self.gate
        return nearest(gate, place, offset, gate(size, data=image))

    def _load(self, view: int, x: Value, y: Value, type: Type) -> Value:
        return self.gate("load", x, y, data=Load(view, type, boundary="inside"))

    def _first(self, image: int) -> int:
        """The index of an image's first view: its elements. The next is its words."""
        if image not in self.of_image:
            self.of_image[image] = len(self.images)
            name, (what, format) = self.gate.function.images[image].name, self.single
            self.images += [
                ImageInput(f"{name}_{what}", INT),
                ImageInput(f"{name}_words", self.type),
            ]
            self.formats += [format, self.format]
            self.views += [image, image]
        return self.of_image[image]
