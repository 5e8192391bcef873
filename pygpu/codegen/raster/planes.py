"""The memory that tiles are drawn into: depths and colours as floats, a picture for each sample.

Rows are whole blocks of lanes, so that a block is read and written whole, and no pixel of another
thread's is in it. Pictures that are drawn over are copied there, tile by tile, and at the end those
that are asked for are written from there: the mean of the samples, without what is beyond the last
column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.memory import interleave
from pygpu.codegen.llvm.text import Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.memory import copy
from pygpu.core.host.records import record

ROW: Final = layout.TILE * 4 * 4  # bytes of a tile's row, of four floats a pixel: of thread's own


@record
class Target:
    """Floats (samples, rows, pitch, channels) in memory."""

    base: Val
    channels: int
    slot: int  # of its address, among the numbers that tiles are given

    def get(self, code: Code, place: Val, lanes: int) -> list[Val]:
        """The vectors that hold a block."""
        places = [code.at(place, 4 * lanes * k) for k in range(self.channels)]
        return [
            code.fixed("float", lanes, f"load <{lanes} x float>, ptr {each.text}, align 4")
            for each in places
        ]

    def put(self, code: Code, place: Val, vectors: Sequence[Val]) -> None:
        lanes = vectors[0].lanes
        for k, vector in enumerate(vectors):
            code.store(vector, code.at(place, 4 * lanes * k), 4)


@record
class Tile:
    """The pixels of a tile: first column and row, last column and row."""

    left: Val
    top: Val
    right: Val
    bottom: Val


class Planes:
    """The targets of a drawing, in the order in which their addresses are given."""

    def __init__(
        self, code: Code, given: Callable[[int, str], Val], sizes: Sequence[int], samples: int
    ) -> None:
        self.code, self.given, self.samples = code, given, samples
        self.lanes = code.machine.lanes
        self.pitch, self.plane = given(layout.PITCH, "long"), given(layout.PLANE, "long")
        slots = [layout.TARGETS + index * layout.TARGET_SLOTS for index in range(len(sizes))]
        pairs = zip(slots, sizes, strict=True)
        self.targets = [Target(given(slot, "ptr"), size, slot) for slot, size in pairs]

    def pixel(self, x: Val, y: Val) -> Val:
        """The number of a pixel in the memory of a sample."""
        x, y = (self.code.cast("sext", value, "long") for value in (x, y))
        return y * self.pitch + x

    def memory(self, target: Target, pixel: Val, sample: int) -> Val:
        if sample:
            pixel = pixel + self.plane * sample
        return self.code.at(target.base, pixel * (4 * target.channels))

    def begin(self, tile: Tile) -> None:
        """Fill a tile's rows with what is drawn over: a picture or a colour."""
        code = self.code
        for target in self.targets:
            floats = [
                self.given(target.slot + layout.COLOUR + c, "float") for c in range(target.channels)
            ]
            pattern = interleave(code, [code.splat(value, self.lanes) for value in floats])
            below = self.given(target.slot + layout.BELOW, "long")
            for sample in range(self.samples):
                with when(code, below.eq(0)), self._rows(tile) as y, self._columns(tile) as x:
                    place = self.memory(target, self.pixel(x, y), sample)
                    target.put(code, place, pattern)
                with when(code, below.ne(0)), self._rows(tile) as y:
                    source, size = self._row(target, below, tile, y)
                    to = self.memory(target, self.pixel(tile.left, y), sample)
                    copy(code, to, source, size)

    def finish(self, tile: Tile, row: Val) -> None:
        """Write a tile into the pictures that are asked for; `row` is memory for ROW bytes."""
        code = self.code
        for target in self.targets:
            picture = self.given(target.slot + layout.PICTURE, "long")
            with when(code, picture.ne(0)), self._rows(tile) as y:
                to, size = self._row(target, picture, tile, y)
                source = self.memory(target, self.pixel(tile.left, y), 0)
                if self.samples > 1:
                    self._mean(target, tile, y, row)
                    source = row
                copy(code, to, source, size)

    def _row(self, target: Target, picture: Val, tile: Tile, y: Val) -> tuple[Val, Val]:
        """Where a tile's row is in a picture, and how many bytes it has."""
        code, texel = self.code, 4 * target.channels
        left = code.cast("sext", tile.left, "long")
        count = code.cast("sext", tile.right - tile.left + 1, "long")
        place = code.cast("sext", y, "long") * self.given(layout.PICTURE_WIDTH, "long") + left
        return code.at(code.cast("inttoptr", picture, "ptr"), place * texel), count * texel

    def _mean(self, target: Target, tile: Tile, y: Val, row: Val) -> None:
        """The mean of the samples of a tile's row."""
        code = self.code
        with self._columns(tile) as x:
            pixel = self.pixel(x, y)
            total = target.get(code, self.memory(target, pixel, 0), self.lanes)
            for sample in range(1, self.samples):
                more = target.get(code, self.memory(target, pixel, sample), self.lanes)
                total = [a + b for a, b in zip(total, more, strict=True)]
            start = code.cast("sext", x - tile.left, "long") * (4 * target.channels)
            mean = [value * (1 / self.samples) for value in total]
            target.put(code, code.at(row, start), mean)

    @contextmanager
    def _rows(self, tile: Tile) -> Iterator[Val]:
        with Loop(self.code, [tile.top]) as loop:
            (y,) = loop.params
            yield y
            loop.next(y < tile.bottom, [y + 1])

    @contextmanager
    def _columns(self, tile: Tile) -> Iterator[Val]:
        with Loop(self.code, [tile.left]) as loop:
            (x,) = loop.params
            yield x
            following = x + self.lanes
            loop.next(following <= tile.right, [following])
