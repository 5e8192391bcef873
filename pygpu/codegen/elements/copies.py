"""Native code that copies texels which lie anywhere, as strides say, into rows that follow each
other.

`span` copies rows y0 <= y < y1. Where texels beside each other lie near, it reads what several of
them lie in and picks the elements in registers. Where they lie far apart, it copies so many columns
at a time: the lines that were read then hold those of the next rows, too.
"""

from __future__ import annotations

from pygpu.codegen.elements.picks import UNITS
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# Of %args: the texels, the bytes from row to row, column to column and channel to channel, where
# they go, how many a row has, and how many of them are copied at a time.
SOURCE, DOWN, ACROSS, BETWEEN, TARGET, WIDTH, TILE, SLOTS = range(8)
TOGETHER = 16  # texels that are picked at once
NEAR = 8  # elements from texel to texel, at most, where they are


@record
class Copy:
    """What is copied: texels of `count` elements of `unit` bytes. `near`: the elements from texel
    to texel and from channel to channel, where texels lie near in rows of TOGETHER and more."""

    unit: int
    count: int
    near: tuple[int, int] | None = None


def copy_span(copy: Copy, machine: Machine) -> str:
    """The IR of `span`."""
    code = Code(machine)
    y0, y1 = code.ends()
    source, target = (code.argument(slot, "ptr") for slot in (SOURCE, TARGET))
    down, width, tile = (code.argument(slot, "long") for slot in (DOWN, WIDTH, TILE))
    pitch = width * (copy.unit * copy.count)
    with Loop(code, [code.constant("long", 0)]) as tiles:
        (first,) = tiles.params
        end = code.minimum(first + tile, width)
        with Loop(code, [y0]) as rows:
            (y,) = rows.params
            of, to = code.at(source, y * down), code.at(target, y * pitch)
            if copy.near is None:
                _one_by_one(code, copy, (of, to), (first, end))
            else:
                _picked(code, copy, copy.near, (of, to), width)
            rows.next(y + 1 < y1, [y + 1])
        tiles.next(end < width, [end])
    return code.span()


def _one_by_one(code: Code, copy: Copy, row: tuple[Val, Val], columns: tuple[Val, Val]) -> None:
    (of, to), (first, end) = row, columns
    across, between = (code.argument(slot, "long") for slot in (ACROSS, BETWEEN))
    apart = [between * channel for channel in range(copy.count)]
    texel = copy.unit * copy.count
    with Loop(code, [first, first * across, first * texel]) as loop:
        x, there, here = loop.params
        for channel, offset in enumerate(apart):
            value = code.read(UNITS[copy.unit], code.at(code.at(of, there), offset))
            code.store(value, code.at(code.at(to, here), channel * copy.unit), 1)
        loop.next(x + 1 < end, [x + 1, there + across, here + texel])


def _picked(
    code: Code, copy: Copy, near: tuple[int, int], row: tuple[Val, Val], width: Val
) -> None:
    """Copy TOGETHER texels at once; the last ones of a row, where fewer are left, once more."""
    (of, to), (across, between), unit = row, near, copy.unit
    places = [x * across + k * between for x in range(TOGETHER) for k in range(copy.count)]
    lowest, kind = min(places), UNITS[unit]
    with Loop(code, [code.constant("long", 0)]) as loop:
        x = code.minimum(loop.params[0], width - TOGETHER)
        there = code.at(of, x * (across * unit) + lowest * unit)
        elements = code.read(kind, there, max(places) - lowest + 1)
        picked = code.shuffle(elements, None, [place - lowest for place in places])
        code.store(picked, code.at(to, x * (unit * copy.count)), 1)
        following = loop.params[0] + TOGETHER
        loop.next(following < width, [following])
