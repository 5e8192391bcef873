"""Native code that sorts whole lines, each on one thread, by digits of keys (sorts.py).

`span` sorts the lines x0 <= x < x1 of a chunk. All digits of a line are counted in one pass, which
makes its keys; then these are moved once for each digit, the lowest first, and become elements, or
with places these, as they are moved for the last time. A chunk has memory for the keys of two
lines, and a table of counts.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.elements.sorts import Kind, element_of, key_of, store_in_turn
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, counting, several
from pygpu.codegen.llvm.text import Machine, Val

BITS: Final = 11  # of a digit: three are a key, and their counts stay in the first cache
DIGITS: Final = 1 << BITS
PASSES: Final = 3
# Slots of %args; KEYS is the memory of chunks, of so many bytes each.
SOURCE, TARGET, KEYS, ROOM, COUNT, FLIP, LENGTH, SLOTS = range(8)
TABLE: Final = 4 * PASSES * DIGITS  # bytes of a chunk's table, which stands before its keys


def room(count: int, placed: bool) -> int:
    """The bytes of a chunk, for lines of so many elements."""
    return TABLE + 2 * count * (8 if placed else 4)


def line_span(kind: Kind, placed: bool, machine: Machine) -> str:
    """The IR of `span`. The elements of lines, or with places these, go to the target."""
    code = Code(machine)
    x0, x1 = code.ends()
    lines = _Lines(code, kind, placed, x0)
    with Loop(code, [x0]) as loop:
        x = loop.params[0]
        lines.sort(x)
        loop.next(x + 1 < x1, [x + 1])
    return code.span()


class _Lines:
    """The body of `span`."""

    def __init__(self, code: Code, kind: Kind, placed: bool, x0: Val) -> None:
        self.code, self.kind, self.placed = code, kind, placed
        self.wide, self.size = ("long", 8) if placed else ("uint", 4)
        self.count, self.flip = code.argument(COUNT, "long"), code.argument(FLIP, "uint")
        chunk = code.binary("sdiv", x0, code.argument(LENGTH, "long"))
        self.table = code.at(code.argument(KEYS, "ptr"), chunk * code.argument(ROOM, "long"))

    def sort(self, x: Val) -> None:
        code = self.code
        source, target = (
            code.at(code.argument(slot, "ptr"), x * self.count * 4) for slot in (SOURCE, TARGET)
        )
        first = code.at(self.table, TABLE)
        second = code.at(first, self.count * self.size)
        with counting(code, code.constant("long", TABLE // 8)) as k:
            code.store(code.constant("long", 0), code.at(self.table, k * 8), 8)
        with counting(code, self.count) as k:
            bits = code.read("uint", code.at(source, k * 4), align=4)
            key = key_of(code, self.kind, bits, self.flip, k if self.placed else None)
            code.store(key, code.at(first, k * self.size), self.size)
            for digit in range(PASSES):
                place = self.place(key, digit)
                code.store(code.read("uint", place, align=4) + 1, place, 4)
        for digit in range(PASSES):
            self.add_up(digit)
        self.move(0, first, second, None)
        self.move(1, second, first, None)
        self.move(2, first, None, target)

    def place(self, key: Val, digit: int) -> Val:
        """Where the count of a key's digit is."""
        code = self.code
        low = code.binary("lshr", key, BITS * digit + (32 if self.placed else 0)) & (DIGITS - 1)
        return code.at(self.table, code.cast("zext", low, "long") * 4 + 4 * DIGITS * digit)

    def add_up(self, digit: int) -> None:
        """Put how many keys have less in place of the counts of a digit."""
        code = self.code
        start = code.at(self.table, 4 * DIGITS * digit)
        with Loop(code, [code.constant("long", 0), code.constant("uint", 0)]) as loop:
            k, before = loop.params
            place = code.at(start, k * 4)
            after = before + code.read("uint", place, align=4)
            code.store(before, place, 4)
            loop.next(k + 1 < DIGITS, [k + 1, after])

    def move(self, digit: int, source: Val, keys: Val | None, target: Val | None) -> None:
        """Put keys where they belong by a digit, or what they are of to the target."""
        code = self.code
        for ks in several(code, self.count):
            places = [code.at(source, k * self.size) for k in ks]
            read = [code.read(self.wide, each, align=self.size) for each in places]
            for key, row in [(key, self.place(key, digit)) for key in read]:
                to = code.read("uint", row, align=4)
                code.store(to + 1, row, 4)
                at = code.cast("zext", to, "long")
                if keys is not None:
                    store_in_turn(code, key, code.at(keys, at * self.size), self.size)
                if target is not None:
                    of = code.cast("trunc", key, "uint")
                    found = of if self.placed else element_of(code, self.kind, key, self.flip)
                    store_in_turn(code, found, code.at(target, at * 4), 4)
