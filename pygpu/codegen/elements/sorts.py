"""Native code that sorts by the digits of keys, the lowest first, as each step leaves the order of
equal digits.

Keys are uints in whose order the elements are; with places they are longs, the key above the place.
Elements go in chunks, one for a thread. Each kernel below is the `span` of a job (folds.py) that
runs over elements x0 <= x < x1 of a chunk:

encode   keys of floats or ints, whether ascending or not
count    how many elements of a chunk have each digit
move     elements to where their digits belong
decode   floats or ints of keys, and the places
"""

from __future__ import annotations

from typing import Final, Literal

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

BITS: Final = 8  # of a digit
DIGITS: Final = 1 << BITS
SOURCE, TARGET, OTHER, TABLE, SHIFT, FLIP, LENGTH, SLOTS = range(8)  # of %args
Kind = Literal["float", "int", "uint"]
Step = Literal["encode", "count", "move", "decode"]


@record
class Sorting:
    """A kernel: for elements of a kind, whether with their places."""

    step: Step
    kind: Kind
    placed: bool


class _Kernel:
    """The body of a kernel."""

    def __init__(self, sorting: Sorting, machine: Machine) -> None:
        self.sorting = sorting
        self.code = Code(machine)
        self.wide = "long" if sorting.placed else "uint"
        self.size = 8 if sorting.placed else 4

    def write(self) -> str:
        code = self.code
        x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
        chunk = code.binary("sdiv", x0, self.number(LENGTH, "int"))
        self.table = code.at(self.pointer(TABLE), code.cast("sext", chunk, "long") * (4 * DIGITS))
        with Loop(code, [x0]) as loop:
            x = loop.params[0]
            getattr(self, self.sorting.step)(code.cast("sext", x, "long"), x)
            following = x + 1
            loop.next(following < x1, [following])
        return code.span()

    def pointer(self, slot: int) -> Val:
        return self.code.argument(slot, "ptr")

    def number(self, slot: int, kind: str) -> Val:
        return self.code.argument(slot, kind)

    def read(self, kind: str, place: Val) -> Val:
        """What is in memory now."""
        return self.code.read(kind, place, align=8 if kind == "long" else 4)

    # ------------------------------------------------------------ kernels

    def encode(self, at: Val, x: Val) -> None:
        code, placed = self.code, self.sorting.placed
        bits = self.read("uint", code.at(self.pointer(SOURCE), at * 4))
        flip = self.number(FLIP, "uint")
        key = key_of(code, self.sorting.kind, bits, flip, x if placed else None)
        code.store(key, code.at(self.pointer(TARGET), at * self.size), self.size)

    def digit(self, key: Val) -> Val:
        """The place in a chunk's table of the digit of a key."""
        code = self.code
        low = code.binary("lshr", key, self.number(SHIFT, self.wide)) & (DIGITS - 1)
        index = low if low.kind == "long" else code.cast("zext", low, "long")
        return code.at(self.table, index * 4)

    def count(self, at: Val, x: Val) -> None:
        code = self.code
        place = self.digit(self.read(self.wide, code.at(self.pointer(SOURCE), at * self.size)))
        code.store(self.read("uint", place) + 1, place, 4)

    def move(self, at: Val, x: Val) -> None:
        code = self.code
        key = self.read(self.wide, code.at(self.pointer(SOURCE), at * self.size))
        place = self.digit(key)
        to = self.read("uint", place)
        target = code.cast("zext", to, "long") * self.size
        code.store(key, code.at(self.pointer(TARGET), target), self.size)
        code.store(to + 1, place, 4)

    def decode(self, at: Val, x: Val) -> None:
        """Elements of keys alone; with places, the places, and elements from where they were."""
        code = self.code
        key = self.read(self.wide, code.at(self.pointer(SOURCE), at * self.size))
        if self.sorting.placed:
            place = code.cast("trunc", key, "uint")
            code.store(place, code.at(self.pointer(OTHER), at * 4), 4)
            return
        bits = element_of(code, self.sorting.kind, key, self.number(FLIP, "uint"))
        code.store(bits, code.at(self.pointer(TARGET), at * 4), 4)


def key_of(code: Code, kind: Kind, bits: Val, flip: Val, place: Val | None) -> Val:
    """The key of an element, above its place if one is given."""
    key = bits ^ flip if kind == "uint" else (bits ^ 2**31) ^ flip
    if kind == "float":
        value = code.bits(bits, "float")
        if place is not None:  # of two zeros the first stays first
            bits = code.bits(code.fixed("float", 1, f"fadd float {value.text}, 0.0"), "uint")
        sign = code.binary("ashr", bits, 31)
        key = code.select(value.ne(value), code.constant("uint", 2**32 - 1),
                          (bits ^ (sign | 2**31)) ^ flip)  # fmt: skip
    if place is None:
        return key
    return code.cast("zext", key, "long") << 32 | code.cast("zext", place, "long")


def element_of(code: Code, kind: Kind, key: Val, flip: Val) -> Val:
    """The bits of the element of a key without its place."""
    if kind == "uint":
        return key ^ flip
    if kind == "int":
        return (key ^ flip) ^ 2**31
    plain = key ^ flip
    sign = code.binary("ashr", plain, 31)  # all ones of what was positive
    return code.select(key.eq(2**32 - 1), code.constant("uint", 0x7FC00000),
                       plain ^ (~sign | 2**31))  # fmt: skip


def sort_span(sorting: Sorting, machine: Machine) -> str:
    """The IR of a kernel."""
    return _Kernel(sorting, machine).write()
