"""Native code that sorts lines by parts of their range on all cores, each part in a core's cache.

Keys are uints in whose order the elements are; they stand in longs above the place of their element
where places are asked for. Three kernels, each the `span` of a job (devices/cpu/chunks.py):

count    for chunks x0 <= x < x1 of all lines: how many elements lie in each part
move     for the same: their keys to where the part begins
order    for parts x0 <= x < x1 of all lines: the keys of each in order, by as few digits as those
         differ in, the lowest first; then elements, places with these, or keys above places

A part is a rising function of an element, which is told for each line: a product of its distance
to the first, as a float or as a key. Whatever the product is, elements are in order in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final, Literal

from pygpu.codegen.llvm.code import CACHE_LINE, Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, several, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# Slots of %args. SOURCES: where each line is, whose elements are STRIDE bytes apart. RULES: for
# each line the first element or key and the product. SHARE: elements of a chunk, of which a line
# has CHUNKS. TABLE: for each chunk its counts of parts, then where these begin in their line.
# STARTS: where each part of all lines begins, and the end. For each chunk of GROUP parts DIGITS has
# counts of digits, and SPARE room for the keys of a part, which are no more than ROOM; if that is 0
# SPARE has room for all keys.
(SOURCES, STRIDE, TARGET, PLACES, KEYS, SPARE, RULES, TABLE, STARTS, DIGITS,
 COUNT, SHARE, CHUNKS, PARTS, GROUP, FLIP, ROOM) = range(17)  # fmt: skip
BITS: Final = 11  # of a digit, at most: counts of three stay in the first cache
# And at least, if the keys of a part differ in so many. Digits may have bits in common. Of fewer
# counts one is often wanted again before it is stored: 7 bits take three times as long as 10.
FEWEST: Final = 10
AT_ONCE: Final = 4  # keys whose extremes are asked for at once
MOST: Final = 3  # digits of a key
COUNTS: Final = MOST << BITS  # of a chunk of parts
Kind = Literal["float", "int", "uint"]
Step = Literal["count", "move", "order"]
Kept = Literal["elements", "places", "keys"]


@record
class Sorting:
    """A kernel: for elements of a kind, what of them is put down, whether parts are of equal width
    as floats, not as keys."""

    step: Step
    kind: Kind
    kept: Kept
    is_even: bool

    @property
    def placed(self) -> bool:
        return self.kept != "elements"


def sort_span(sorting: Sorting, machine: Machine) -> str:
    """The IR of a kernel."""
    return _Kernel(sorting, machine).write()


class _Kernel:
    """The body of a kernel."""

    def __init__(self, sorting: Sorting, machine: Machine) -> None:
        self.sorting, self.kind, self.placed = sorting, sorting.kind, sorting.placed
        self.code = Code(machine)
        self.wide, self.size = ("long", 8) if sorting.placed else ("uint", 4)
        self.flip = self.code.argument(FLIP, "uint")

    def write(self) -> str:
        code = self.code
        x0, x1 = code.ends()
        with Loop(code, [x0]) as loop:
            x = loop.params[0]
            if self.sorting.step == "order":
                self.order(x, x0)
            else:
                self.share_out(x)
            loop.next(x + 1 < x1, [x + 1])
        return code.span()

    def long(self, slot: int) -> Val:
        return self.code.argument(slot, "long")

    def pointer(self, slot: int, index: Val, size: int) -> Val:
        return self.code.at(self.code.argument(slot, "ptr"), index * size)

    def source(self, line: Val) -> Val:
        return self.code.load("ptr", self.pointer(SOURCES, line, 8), 1, 8)

    # ------------------------------------------------------------ parts

    def share_out(self, x: Val) -> None:
        """Count the elements of a chunk by parts, or put down their keys."""
        code, count = self.code, self.long(COUNT)
        line, share = code.binary("sdiv", x, self.long(CHUNKS)), self.long(SHARE)
        first = (x - line * self.long(CHUNKS)) * share
        length = code.minimum(share, count - first)
        source, keys = self.source(line), self.pointer(KEYS, line * count, self.size)
        rule, table = self.pointer(RULES, line, 8), self.pointer(TABLE, x * self.long(PARTS), 4)
        least = code.read("float" if self.sorting.is_even else "uint", rule, align=4)
        scale = code.read("float", code.at(rule, 4), align=4)
        for ks in several(code, length):
            places = [k + first for k in ks]
            stride = self.long(STRIDE)
            bits = [code.read("uint", code.at(source, each * stride), align=4) for each in places]
            rows = [code.at(table, self.part(each, least, scale) * 4) for each in bits]
            for place, each, row in zip(places, bits, rows, strict=True):
                to = code.read("uint", row, align=4)
                code.store(to + 1, row, 4)
                if self.sorting.step == "move":
                    key = key_of(code, self.kind, each, self.flip, place if self.placed else None)
                    here = code.at(keys, code.cast("zext", to, "long") * self.size)
                    store_in_turn(code, key, here, self.size)

    def part(self, bits: Val, least: Val, scale: Val) -> Val:
        """The part of an element; NaNs are in the last."""
        code = self.code
        last = self.long(PARTS) - 1
        if self.sorting.is_even:
            distance = code.bits(bits, "float") - least
        else:
            if self.placed and self.kind == "float":  # zeros are in one part, as their keys are one
                plain = code.fixed("float", 1, f"fadd float {code.bits(bits, 'float').text}, 0.0")
                bits = code.bits(plain, "uint")
            key = key_of(code, self.kind, bits, self.flip, None)
            above = code.cast("zext", code.maximum(key, least) - least, "long")
            distance = code.cast("sitofp", above, "float")
        product, most = distance * scale, code.cast("sitofp", last, "float")
        product = code.select(product < most, product, most)
        inside = code.select(product > 0.0, product, code.constant("float", 0.0))
        return code.cast("sext", code.to_int_inside(inside), "long")

    # ------------------------------------------------------------ elements of a part

    def order(self, x: Val, x0: Val) -> None:
        """Sort the keys of a part, and put down what they are of."""
        code = self.code
        starts = self.pointer(STARTS, x, 8)
        start, end = (code.read("long", code.at(starts, 8 * k), align=8) for k in range(2))
        count = end - start
        chunk = code.binary("sdiv", x0, self.long(GROUP))
        keys = self.pointer(KEYS, start, self.size)
        room = self.long(ROOM)
        spare = self.pointer(SPARE, code.select(room > 0, chunk * room, start), self.size)
        table = self.pointer(DIGITS, chunk, 4 * COUNTS)
        line = code.binary("sdiv", x, self.long(PARTS))
        ends = (
            self.pointer(TARGET, start, 4),
            self.pointer(PLACES, start, 4),
            self.source(line),
        )
        results = ends[: {"keys": 0, "elements": 1, "places": 2}[self.sorting.kept]]
        with when(code, count > 0):
            low, most = self.extremes(keys, count, results)
            bits = self.length(most - low)
            passes = code.binary("udiv", bits + (BITS - 1), BITS)
            divisor = code.maximum(passes, code.constant("uint", 1))
            width = code.binary("udiv", bits + divisor - 1, divisor)
            width = code.maximum(width, code.minimum(bits, code.constant("uint", FEWEST)))
            by = table, low, width, bits - width
            for number in range(MOST + 1):
                with when(code, passes.eq(number)):
                    if number:
                        self.tally(keys, count, by, number)
                    self.move(keys, spare, count, by, number, ends)

    def extremes(self, keys: Val, count: Val, results: Sequence[Val]) -> tuple[Val, Val]:
        """The least and the greatest key, of several at once: each waits for the one before. Where
        results go is brought into the caches."""
        code = self.code
        first = self.above(code.read(self.wide, keys, align=self.size))
        last = count - 1
        with Loop(code, [code.constant("long", 0), *[first] * (2 * AT_ONCE)]) as loop:
            k, *found = loop.params
            for each in results:
                code.fetch(code.at(each, k * 4), 0, 1, to_write=True)
            after = []
            for j in range(AT_ONCE):
                key = self.above(self.key(keys, code.minimum(k + j, last)))
                low, most = found[2 * j : 2 * j + 2]
                after += [code.minimum(low, key), code.maximum(most, key)]
            loop.next(k + AT_ONCE < count, [k + AT_ONCE, *after])
        found = loop.results[1:]
        return reduce(code.minimum, found[::2]), reduce(code.maximum, found[1::2])

    def key(self, keys: Val, k: Val) -> Val:
        return self.code.read(self.wide, self.code.at(keys, k * self.size), align=self.size)

    def above(self, key: Val) -> Val:
        """A key without its place."""
        code = self.code
        return code.cast("trunc", code.binary("lshr", key, 32), "uint") if self.placed else key

    def length(self, number: Val) -> Val:
        """The bits of a uint: a double's exponent, 1022 above them."""
        code = self.code
        wide = code.cast("uitofp", number, "double")
        exponent = code.cast("trunc", code.binary("lshr", code.bits(wide, "long"), 52), "uint")
        return code.select(number > 0, exponent - 1022, code.constant("uint", 0))

    def row(self, by: tuple[Val, Val, Val, Val], key: Val, digit: int) -> Val:
        """Where the count of a digit of a key is. The highest digit is that of its highest bits."""
        code, (table, low, width, last) = self.code, by
        mask = (code.constant("uint", 1) << width) - 1
        of = code.binary("lshr", key - low, code.minimum(width * digit, last)) & mask
        return code.at(table, code.cast("zext", of, "long") * 4 + (4 * digit << BITS))

    def tally(self, keys: Val, count: Val, by: tuple[Val, Val, Val, Val], number: int) -> None:
        """Put down in the table where the keys of each of so many digits begin."""
        code, (table, _, width, _) = self.code, by
        size = code.constant("long", 1) << code.cast("zext", width, "long")
        with counting(code, code.binary("lshr", size + 1, 1)) as k:
            for digit in range(number):
                place = code.at(table, k * 8 + (4 * digit << BITS))
                code.store(code.constant("long", 0), place, 8)
        for ks in several(code, count):
            read = [self.above(self.key(keys, k)) for k in ks]
            for place in [self.row(by, key, digit) for key in read for digit in range(number)]:
                code.store(code.read("uint", place, align=4) + 1, place, 4)
        nothing = [code.constant("uint", 0)] * number
        with Loop(code, [code.constant("long", 0), *nothing]) as loop:
            k, *before = loop.params
            after = []
            for digit, already in enumerate(before):
                place = code.at(table, k * 4 + (4 * digit << BITS))
                after.append(already + code.read("uint", place, align=4))
                code.store(already, place, 4)
            loop.next(k + 1 < size, [k + 1, *after])

    def move(
        self, keys: Val, other: Val, count: Val, by: tuple[Val, Val, Val, Val], number: int,
        ends: tuple[Val, Val, Val],
    ) -> None:  # fmt: skip
        """Put keys in the order of so many digits, the last time what they are of. `ends`: where
        elements and places go, and the line."""
        code, in_place = self.code, self.sorting.kept == "keys"
        # Keys that stay end where they began: after an odd number of moves they are copied there.
        for digit in range(number + number % 2 if in_place else max(number, 1)):
            for ks in several(code, count):
                read = [self.key(keys, k) for k in ks]
                rows = [self.row(by, self.above(key), digit) for key in read if digit < number]
                for k, (at, key) in enumerate(zip(ks, read, strict=True)):
                    if digit < number:
                        to = code.read("uint", rows[k], align=4)
                        code.store(to + 1, rows[k], 4)
                        at = code.cast("zext", to, "long")
                    if in_place or digit + 1 < number:
                        code.store(key, code.at(other, at * self.size), self.size)
                    else:
                        self.put(key, at, ends)
            keys, other = other, keys

    def put(self, key: Val, at: Val, ends: tuple[Val, Val, Val]) -> None:
        """Put down the element of a key and its place, so far on in the part."""
        code, (target, places, source) = self.code, ends
        if not self.placed:
            found = element_of(code, self.kind, key, self.flip)
            code.store(found, code.at(target, at * 4), 4)
            return
        of = code.cast("trunc", key, "uint")
        code.store(of, code.at(places, at * 4), 4)
        plain = self.above(key)
        found = element_of(code, self.kind, plain, self.flip)
        if self.kind == "float":  # of zeros and NaNs keys do not tell which they were
            zero = code.constant("uint", 2**31) ^ self.flip
            branch = Branch(code, plain.eq(zero) | plain.eq(2**32 - 1))
            with branch.side():
                place = code.at(source, code.cast("zext", of, "long") * self.long(STRIDE))
                kept = code.read("uint", place, align=4)
            (found,) = branch.join([kept], [found])
        code.store(found, code.at(target, at * 4), 4)


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


def store_in_turn(code: Code, value: Val, place: Val, size: int) -> None:
    """Store one of several values that go side by side, each at another time: the line behind it is
    brought into the caches, where the next ones find it."""
    code.store(value, place, size)
    code.fetch(place, CACHE_LINE, 1, to_write=True)


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
