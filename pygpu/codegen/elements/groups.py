"""Native code that folds values into groups, by the number of the group of each.

`span` runs over elements x0 <= x < x1 of a chunk and folds them into the chunk's own table; who
calls it joins the tables. Sums and products of floats are made in doubles. Without values elements
are counted; their numbers may then be texels of one or two bytes as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.text import Machine, Val

VALUES, INDEX, TABLE, GROUPS, LENGTH, STRIDE, SLOTS = range(7)  # of %args
COUNTED: Final = {1: "byte", 2: "short", 4: "uint"}  # by the bytes of an element
_SIZES: Final = {"float": 4, "double": 8, "int": 4, "uint": 4, "byte": 1, "short": 2}
_TYPES: Final = {"float": "float", "double": "double", "byte": "i8", "short": "i16"}


@dataclass(frozen=True, slots=True)
class Folding:
    """How values of a kind are folded: `how` is a name of a function of NumPy's, or "count".
    `channels` is of values, or of texels that are counted, of which it is one in so many. Elements
    next to each other are counted in so many `copies`: a processor waits for a count that it has
    just stored."""

    how: str
    kind: str
    channels: int = 1
    copies: int = 1

    @property
    def accumulated(self) -> str:
        """The kind of what is in a table."""
        if self.how == "count":
            return "uint"
        return "double" if self.kind == "float" and self.how in ("add", "multiply") else self.kind


def group_span(folding: Folding, machine: Machine) -> str:
    """The IR of `span`."""
    code = Code(machine)
    args = Val(code, "ptr", 1, "%args", 0)
    x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
    values, index, table = (_argument(code, args, k, "ptr") for k in (VALUES, INDEX, TABLE))
    groups, length = _argument(code, args, GROUPS, "uint"), _argument(code, args, LENGTH, "int")
    chunk = code.cast("sext", code.binary("sdiv", x0, length), "long")
    table = code.at(table, chunk * _argument(code, args, STRIDE, "long"))
    is_count = folding.how == "count"
    kind = folding.kind if is_count else "uint"
    step = folding.channels if is_count else 1
    with Loop(code, [x0]) as loop:
        x = code.cast("sext", loop.params[0], "long")
        number = _read(code, kind, code.at(index, x * (_SIZES[kind] * step)))
        if kind in ("byte", "short"):  # all of them have a place
            _fold(code, folding, table, code.cast("zext", number, "long"), values, x)
        else:
            with when(code, number < groups):
                _fold(code, folding, table, code.cast("zext", number, "long"), values, x)
        following = loop.params[0] + 1
        loop.next(following < x1, [following])
    code.line("ret i32 0")
    return (
        "define i32 @span(ptr %ctx, ptr %args, i32 %y, i32 %x0, i32 %x1) #0 {\n"
        f"{code.text()}\n}}\n{code.helpers()}"
    )


def _fold(code: Code, folding: Folding, table: Val, group: Val, values: Val, x: Val) -> None:
    """Fold an element into its group."""
    kind = folding.accumulated
    if folding.how == "count":
        copies = folding.copies
        place = code.at(table, (group * copies + (x & (copies - 1))) * 4)
        code.store(_read(code, "uint", place) + 1, place, 4)
        return
    channels, size = folding.channels, _SIZES[kind]
    for c in range(channels):
        value = _read(code, folding.kind, code.at(values, (x * channels + c) * 4))
        if kind == "double":
            value = code.cast("fpext", value, kind)
        place = code.at(table, (group * channels + c) * size)
        code.store(_JOIN[folding.how](code, _read(code, kind, place), value), place, size)


def _argument(code: Code, args: Val, slot: int, kind: str) -> Val:
    return code.load(kind, code.at(args, 8 * slot), 1, 8)


def _read(code: Code, kind: str, place: Val) -> Val:
    """What is in memory now."""
    type = _TYPES.get(kind, "i32")
    return code.fixed(kind, 1, f"load {type}, ptr {place.text}, align {_SIZES[kind]}")


def _greater(code: Code, total: Val, value: Val) -> Val:
    return code.select((value > total) | value.ne(value), value, total)  # a NaN stays


def _less(code: Code, total: Val, value: Val) -> Val:
    return code.select((value < total) | value.ne(value), value, total)


_JOIN: Final[dict[str, Callable[[Code, Val, Val], Val]]] = {
    "add": lambda code, total, value: total + value,
    "multiply": lambda code, total, value: total * value,
    "maximum": _greater,
    "minimum": _less,
}

__all__ = ["COUNTED", "Folding", "group_span"]
