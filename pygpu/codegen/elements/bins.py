"""Native code that counts floats in bins of equal width.

`span` runs over elements x0 <= x < x1 of a chunk and counts them in the chunk's own table, which is
has a row for what lies outside, then one for each bin. A row has several copies of a count, in
which elements next to each other count by turns: a processor waits for what it has just stored.

The bin of a value is guessed by a product, for a vector of values at once. The guess is right, or
one bin off where the value is within rounding of an edge: then the edges themselves are read.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, several
from pygpu.codegen.llvm.memory import masked_gather
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

DATA, EDGES, GUESS, TABLE, BINS, LENGTH, STRIDE, SLOTS = range(8)  # of %args
_WORD: Final = 4  # bytes of a value, of an edge and of a count


def bin_span(copies: int, machine: Machine) -> str:
    """The IR of `span`. Tables have so many copies, a power of two."""
    code = Code(machine)
    x0, x1 = code.ends()
    data, edges, guess, table = (code.argument(slot, "ptr") for slot in (DATA, EDGES, GUESS, TABLE))
    chunk = code.binary("sdiv", x0, code.argument(LENGTH, "long"))
    table = code.at(table, chunk * code.argument(STRIDE, "long"))
    first, scale, doubt, last = (
        code.load("float", code.at(guess, k * _WORD), 1, _WORD) for k in range(4)
    )
    bins = code.argument(BINS, "int")
    kernel = _Kernel(code, data, edges, table, copies, bins, first, scale, doubt, last)
    for ks in several(code, x1 - x0, machine.lanes):
        kernel.count(x0 + ks[0], len(ks))
    return code.span()


@record
class _Kernel:
    """What values are counted with: pointers to them, to the edges and to the table of a chunk, and
    its copies; the first and the last edge, the bins to a unit, and how near to an edge a guess may
    be wrong, in bins."""

    code: Code
    data: Val
    edges: Val
    table: Val
    copies: int
    bins: Val
    first: Val
    scale: Val
    doubt: Val
    last: Val

    def count(self, x: Val, lanes: int) -> None:
        """Count so many values from x on, next ones in copies that follow each other."""
        code = self.code
        rows = self._rows(code.load("float", code.at(self.data, x * _WORD), lanes, _WORD))
        scaled = min(self.copies * _WORD, 8)  # by so much x86 multiplies on the way to memory
        rows = rows * (self.copies * _WORD // scaled)
        for k, row in enumerate(self._apart(rows)):
            place = code.at(code.at(self.table, row * scaled), k % self.copies * _WORD)
            total = code.read("uint", place, 1, _WORD)
            code.store(total + 1, place, _WORD)

    def _apart(self, rows: Val) -> list[Val]:
        """The lanes of a vector of rows, as longs. Two leave the vector in a word: taking out each
        by itself would cost more than to count."""
        code = self.code
        if rows.lanes == 1:
            return [code.cast("sext", rows, "long")]
        words = code.regroup(rows, "long")
        wide = [code.lane(words, k) for k in range(words.lanes)]
        return [part for word in wide for part in (word & 2**32 - 1, code.binary("lshr", word, 32))]

    def _rows(self, values: Val) -> Val:
        """The rows of values: 1 + the bin; 0 of those outside, NaN among them."""
        code, lanes = self.code, values.lanes
        low = code.load("float", self.edges, 1, _WORD)
        is_inside = (values >= low) & (values <= self.last)
        quotient = code.select(is_inside, (values - self.first) * self.scale, -1.0)
        top = code.splat(self.bins - 1, lanes)
        found = code.minimum(code.to_int_inside(quotient), top)
        beyond = quotient - code.to_float(found)
        # The least and the greatest of an image are often many, and its first and last edge.
        is_near = (beyond < self.doubt) & (found > 0) | (beyond > 1.0 - self.doubt) & (found < top)
        branch = Branch(code, code.anywhere(is_near))
        with branch.side():
            corrected = self._corrected(values, found, top)
        (found,) = branch.join([corrected], [found])
        return found + 1

    def _corrected(self, values: Val, found: Val, top: Val) -> Val:
        """The bin in which a value lies that may be one off."""
        code = self.code
        place = code.cast("sext", code.maximum(found, 0), "long") * _WORD
        here, following = (self._edges(code.at(self.edges, place + k * _WORD)) for k in range(2))
        is_above = (values >= following) & (found >= 0) & (found < top)
        is_below = (values < here) & (found > 0)
        return code.select(is_below, found - 1, code.select(is_above, found + 1, found))

    def _edges(self, places: Val) -> Val:
        if places.lanes == 1:
            return self.code.load("float", places, 1, _WORD)
        return masked_gather(self.code, places, "float")
