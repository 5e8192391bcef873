"""Native code that picks elements by a mask, in order.

`span` runs over elements x0 <= x < x1 of a chunk and puts those where the mask, a byte an element,
is not zero behind each other, from where the chunk's results begin. What is not picked is written
too, to a place of the chunk's own, so that there is no branch.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.elements.folds import AHEAD
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, when
from pygpu.codegen.llvm.text import Machine, Val

MASK, SOURCE, TARGET, STARTS, NOWHERE, LENGTH, SLOTS = range(7)  # of %args
UNITS: Final = {1: "byte", 2: "short", 4: "uint", 8: "long"}  # by bytes
ROUND: Final = 16  # elements of a round
LINE: Final = 64  # bytes that a chunk has of NOWHERE
_TYPES: Final = {"byte": "i8", "short": "i16", "uint": "i32", "long": "i64"}


def pick_span(unit: int, count: int, machine: Machine) -> str:
    """The IR of `span`, for elements of so many units of so many bytes."""
    code = Code(machine)
    args = Val(code, "ptr", 1, "%args", 0)
    x0, x1 = (code.cast("sext", Val(code, "int", 1, name, 0), "long") for name in ("%x0", "%x1"))

    def argument(slot: int, kind: str) -> Val:
        return code.load(kind, code.at(args, 8 * slot), 1, 8)

    def read(kind: str, place: Val) -> Val:
        """What is in memory now."""
        return code.fixed(kind, 1, f"load {_TYPES[kind]}, ptr {place.text}, align 1")

    mask, source, target, starts, nowhere = (argument(k, "ptr") for k in range(LENGTH))
    chunk = code.binary("sdiv", x0, argument(LENGTH, "long"))
    aside = code.at(nowhere, chunk * LINE)
    size, kind = unit * count, UNITS[unit]

    def pick(x: Val, to: Val) -> Val:
        """Put an element where it goes; the place of the next."""
        holds = read("byte", code.at(mask, x)).ne(0)
        place = code.select(holds, code.at(target, to * size), aside)
        values = [read(kind, code.at(source, x * size + unit * k)) for k in range(count)]
        for k, value in enumerate(values):
            code.store(value, code.at(place, unit * k), 1)
        return to + code.cast("zext", holds, "long")

    first = read("long", code.at(starts, chunk * 8))
    head = code.binary("and", x1 - x0, -ROUND) + x0
    rounds = Branch(code, head > x0)
    with rounds.side(), Loop(code, [x0, first]) as loop:
        x, to = loop.params
        code.fetch(code.at(source, x * size), AHEAD, ROUND * size)
        for k in range(ROUND):
            to = pick(x + k, to)
        loop.next(x + ROUND < head, [x + ROUND, to])
    with rounds.side():
        pass
    (after,) = rounds.join([loop.results[1]], [first])
    with when(code, head < x1), Loop(code, [head, after]) as loop:
        x, to = loop.params
        loop.next(x + 1 < x1, [x + 1, pick(x, to)])
    return code.span()


__all__ = ["LINE", "UNITS", "pick_span"]
