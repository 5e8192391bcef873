"""Native code that gives each element of an array the number of another that has its share.

Both arrays are keys above places (sorts.py), sorted. The share of an element is that of all which
are not above it. Numbers lie on straight lines between the shares of the other's different ones, as
`numpy.interp` has it:

    values, counts = numpy.unique(other, return_counts=True)
    numpy.interp(share, counts.cumsum() / other.size, values)

`span` runs over elements x0 <= x < x1 and puts what it finds where these were. All are finite.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.elements.sorts import element_of
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop
from pygpu.codegen.llvm.text import Machine, Val

AHEAD: Final = 24  # elements, so far on, whose places are on their way to the cache
ELEMENTS, OTHERS, TARGET, STRIDE, COUNT, COUNT_OTHERS = range(6)  # of %args


def share_span(machine: Machine) -> str:
    """The IR of `span`."""
    code = Code(machine)
    x0, x1 = code.ends()
    shares = _Shares(code)
    start = code.constant("long", -1)
    with Loop(code, [x0, start, start]) as loop:
        x, first, last = loop.params
        after = shares.give(x, x1, first, last)
        loop.next(after[0] < x1, after)
    return code.span()


class _Shares:
    """Two sorted arrays, and where numbers go."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.elements, self.others, self.target = (
            code.argument(slot, "ptr") for slot in (ELEMENTS, OTHERS, TARGET)
        )
        self.stride, self.count, self.rest = (
            code.argument(slot, "long") for slot in (STRIDE, COUNT, COUNT_OTHERS)
        )

    def give(self, x: Val, x1: Val, first: Val, last: Val) -> list[Val]:
        """Put the number of element x where that and its equals below x1 were. The next one, and
        from where, -1 if that was not asked, up to where the others are that equal the last one
        found."""
        code = self.code
        end = self.furthest(self.elements, x, self.count, 1)
        # The first of the others whose share is not below the element's.
        is_even = self.count.eq(self.rest)
        at = Branch(code, is_even)
        with at.side():
            pass
        with at.side():
            many = (end + 1) * self.rest + (self.count - 1)
            place = code.fixed("long", 1, f"udiv i64 {many.text}, {self.count.text}") - 1
        (place,) = at.join([end], [place])
        is_next = Branch(code, place > last)
        with is_next.side():
            nearest = self.furthest(self.others, place, self.rest, 1)
        first, last = is_next.join([code.constant("long", -1), nearest], [first, last])
        number = self.number(place)
        exact = Branch(code, is_even & place.eq(last))
        with exact.side():
            pass
        with exact.side():
            is_new = Branch(code, first < 0)
            with is_new.side():
                begin = self.furthest(self.others, place, self.rest, -1)
            (begin,) = is_new.join([begin], [first])
            between = self.between(end, begin, last, number)
        first, number = exact.join([first, number], [begin, between])
        stop = code.minimum(end + 1, x1)
        with Loop(code, [x]) as loop:
            k = loop.params[0]
            later = code.minimum(k + AHEAD, self.count - 1)
            code.fetch(self.place(later), 0, 1, to_write=True)
            code.store(number, self.place(k), 4)
            loop.next(k + 1 < stop, [k + 1])
        return [stop, first, last]

    def between(self, end: Val, first: Val, last: Val, number: Val) -> Val:
        """On the line from the number before `first` to that at `last`; that, where none is."""
        code, zero = self.code, self.code.constant("long", 0)
        low = code.to_float(self.number(code.maximum(first - 1, zero)), "double")
        start, stop = self.share(first, self.rest), self.share(last + 1, self.rest)
        slope = (code.to_float(number, "double") - low) / (stop - start)
        found = slope * (self.share(end + 1, self.count) - start) + low
        return code.select(first > 0, code.to_float(found, "float"), number)

    def share(self, some: Val, of: Val) -> Val:
        wide = [self.code.cast("sitofp", each, "double") for each in (some, of)]
        return wide[0] / wide[1]

    def number(self, index: Val) -> Val:
        """One of the others."""
        code, key = self.code, self.key(self.others, index)
        return code.bits(element_of(code, "float", key, code.constant("uint", 0)), "float")

    def place(self, index: Val) -> Val:
        """Where the number of one of the elements goes."""
        to = self.code.read("int", self.code.at(self.elements, index * 8), align=4)
        return self.code.at(self.target, self.code.cast("sext", to, "long") * self.stride)

    def key(self, array: Val, index: Val) -> Val:
        return self.code.read("uint", self.code.at(array, index * 8 + 4), align=4)

    def furthest(self, array: Val, index: Val, count: Val, sign: int) -> Val:
        """The last (sign 1) or the first (-1) of the elements equal to that at an index: by steps
        that double, then halve."""
        code, value = self.code, self.key(array, index)

        def further(at: Val, step: Val) -> tuple[Val, Val]:
            to = at + step * sign
            inside = to < count if sign > 0 else to >= 0
            there = self.key(array, code.select(inside, to, at))
            return inside & there.eq(value), to

        one = code.constant("long", 1)
        with Loop(code, [index, one]) as loop:
            at, step = loop.params
            goes, to = further(at, step)
            loop.next(goes, [code.select(goes, to, at), code.select(goes, step * 2, step)])
        at, step = loop.results
        found = Branch(code, step > 1)
        with found.side():
            with Loop(code, [at, code.binary("lshr", step, 1)]) as loop:
                at, step = loop.params
                goes, to = further(at, step)
                half = code.binary("lshr", step, 1)
                loop.next(half > 0, [code.select(goes, to, at), half])
            nearer = loop.results[0]
        return found.join([nearer], [loop.initial[0]])[0]
