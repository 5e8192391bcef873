"""Native code that copies texels which lie anywhere, as strides say, into rows that follow each
other.

`span` copies rows y0 <= y < y1. Where texels beside each other lie near, it reads what several of
them lie in and picks the elements in registers. Where they lie far apart, it copies so many columns
at a time: the lines that were read then hold those of the next rows, too.

Other code narrows doubles to floats, as `astype` does: rounded to nearest, ties to even.
"""

from __future__ import annotations

import math

from pygpu.codegen.elements.folds import AHEAD
from pygpu.codegen.elements.picks import UNITS
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# Of %args: the texels, the bytes from row to row, column to column and channel to channel, where
# they go, how many a row has, and how many of them are copied at a time.
SOURCE, DOWN, ACROSS, BETWEEN, TARGET, WIDTH, TILE, SLOTS = range(8)
TOGETHER = 16  # texels that are picked at once
# Of %args: the doubles, where the floats go, and a byte that is 1 at the end if one was too large.
DOUBLES, FLOATS, LARGE = range(3)
VECTORS = 4  # of each round
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


def narrowing_span(machine: Machine) -> str:
    """The IR of a `span` that narrows elements x0 <= x < x1, and tells of finite ones that are too
    large for a float. There are as many elements as a round takes, at least: where fewer are left,
    the last ones are done again."""
    code, lanes = Code(machine), machine.lanes
    x0, x1 = code.ends()
    source, target, large = (code.argument(slot, "ptr") for slot in (DOUBLES, FLOATS, LARGE))
    together = lanes * VECTORS
    with Loop(code, [x0, code.constant("int", 0, lanes)]) as loop:
        start, found = loop.params
        x = code.maximum(code.minimum(start, x1 - together), 0)
        code.fetch(code.at(source, x * 8), AHEAD, together * 8)
        for k in range(0, together, lanes):
            wide = code.load("double", code.at(source, (x + k) * 8), lanes)
            narrow = code.to_float(wide)
            code.store(narrow, code.at(target, (x + k) * 4), 1)
            found = code.select(_overflows(code, wide, narrow), code.constant("int", 1), found)
        following = start + together
        loop.next(following < x1, [following, found])
    with when(code, code.anywhere(loop.results[1].ne(0))):
        code.store(code.constant("byte", 1), large, 1)
    return code.span()


def _overflows(code: Code, wide: Val, narrow: Val) -> Val:
    """Whether a double is finite, and the float that it became is not."""
    return code.absolute(narrow).eq(math.inf) & (code.absolute(wide) < math.inf)
