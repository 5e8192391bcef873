"""Native code that turns images of few columns: columns to rows that begin so many bytes apart, or
such rows back to columns.

`span` goes over rows x0 <= x < x1 of the image. Words of four bytes are fetched by a register's
lanes at once, in the order in which they are written; bytes and pairs of them go one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.elements.picks import UNITS
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop
from pygpu.codegen.llvm.memory import masked_gather
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# Of %args: the image and the bytes from row to row, the columns as rows and the bytes between them.
IMAGE, IMAGE_STRIDE, ROWS, ROWS_STRIDE, SLOTS = range(5)
WORD: Final = 4


@record
class Turn:
    """What is turned: an image of few columns into rows, or such rows back into an image."""

    columns: int
    unit: int  # bytes that are moved at once
    count: int  # units of a texel
    back: bool  # into an image, whose rows follow each other


def turn_span(turn: Turn, machine: Machine) -> str:
    """The IR of `span`."""
    writer = _Writer(turn, machine)
    code = writer.code
    write = writer.words if turn.unit == WORD else writer.units
    write()
    return code.span()


class _Writer:
    def __init__(self, turn: Turn, machine: Machine) -> None:
        self.turn, self.code = turn, Code(machine)
        code = self.code
        self.x0, self.x1 = code.ends()
        self.image, self.rows = (code.argument(k, "ptr") for k in (IMAGE, ROWS))
        strides = (IMAGE_STRIDE, ROWS_STRIDE)
        self.stride, self.pitch = (code.argument(k, "long") for k in strides)

    def words(self) -> None:
        """Turn as many rows at once as there are lanes. Where fewer are left, the last ones of the
        image are turned, some of them for the second time."""
        code, lanes = self.code, self.code.machine.lanes
        with Loop(code, [self.x0]) as loop:
            x = code.maximum(code.minimum(loop.params[0], self.x1 - lanes), 0)
            (self.back if self.turn.back else self.forth)(x)
            following = loop.params[0] + lanes
            loop.next(following < self.x1, [following])

    def forth(self, x: Val) -> None:
        turn, code, lanes = self.turn, self.code, self.code.machine.lanes
        texel, start = turn.count * WORD, code.at(self.image, x * self.stride)
        for part in range(turn.count):
            places = [divmod(part * lanes + k, turn.count) for k in range(lanes)]
            within = [word * WORD for _, word in places]
            offsets = self.offsets(self.stride, [row for row, _ in places], within)
            for column in range(turn.columns):
                found = masked_gather(code, code.at(code.at(start, column * texel), offsets), "int")
                to = code.at(code.at(self.rows, self.pitch * column), x * texel)
                code.store(found, code.at(to, part * lanes * WORD), WORD)

    def back(self, x: Val) -> None:
        turn, code, lanes = self.turn, self.code, self.code.machine.lanes
        texel = turn.count * WORD
        row = turn.columns * turn.count
        start, to = code.at(self.rows, x * texel), code.at(self.image, x * self.stride)
        for part in range(row):
            places = [divmod(part * lanes + k, row) for k in range(lanes)]
            columns = [word // turn.count for _, word in places]
            within = [y * texel + word % turn.count * WORD for y, word in places]
            offsets = self.offsets(self.pitch, columns, within)
            found = masked_gather(code, code.at(start, offsets), "int")
            code.store(found, code.at(to, part * lanes * WORD), WORD)

    def offsets(self, stride: Val, times: Sequence[int], more: Sequence[int]) -> Val:
        """Of each lane so many strides and bytes more."""
        code, lanes = self.code, self.code.machine.lanes

        def known(numbers: Sequence[int]) -> Val:
            text = ", ".join(f"i64 {number}" for number in numbers)
            return Val(code, "long", lanes, f"<{text}>", 0)

        return code.splat(stride, lanes) * known(times) + known(more)

    def units(self) -> None:
        turn, code = self.turn, self.code
        kind, texel = UNITS[turn.unit], turn.unit * turn.count
        load = {1: "i8", 2: "i16"}[turn.unit]
        with Loop(code, [self.x0]) as loop:
            (x,) = loop.params
            start = code.at(self.image, x * self.stride)
            for column in range(turn.columns):
                row = code.at(code.at(self.rows, self.pitch * column), x * texel)
                there = code.at(start, column * texel)
                of, to = (row, there) if turn.back else (there, row)
                for k in range(turn.count):
                    place = code.at(of, k * turn.unit).text
                    value = code.fixed(kind, 1, f"load {load}, ptr {place}, align {turn.unit}")
                    code.store(value, code.at(to, k * turn.unit), turn.unit)
            loop.next(x + 1 < self.x1, [x + 1])
