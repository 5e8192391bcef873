"""The frames of a walk, and where its paths arrive.

An `Outcome` says at which blocks paths have arrived, each with the state there; `Slots` collects
what an `if` hands on from its arms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pygpu import bytecode
from pygpu.core.errors import HOME, Place
from pygpu.frontend.values.states import Key
from pygpu.frontend.values.values import State
from pygpu.ssa import Value
from pygpu.types import Type

RETURN: Final = -1  # the exit of a frame
SUSPENDED: Final = -2  # where a generator's frame stops, the item and where to go on on its stack


class Frame:
    """A function being walked."""

    __slots__ = ("at", "caller", "code", "globals", "graph", "name", "state", "stored")

    def __init__(self, code: bytecode.Code, globals: dict[str, Any], caller: Frame | None) -> None:
        self.code = code
        self.graph = code.graph
        self.globals = globals
        self.name = code.code.co_qualname
        self.caller = caller
        self.at = 0  # the instruction being walked
        self.state: State | None = None
        self.stored: dict[str, int] = {}  # the instruction that last assigned each variable

    def place(self, at: int | None = None) -> Place:
        """Where the instruction stands in the user's source; for our own functions, which are
        walked as well, where they were called."""
        if self.caller and self.code.code.co_filename.startswith(HOME):
            return self.caller.place()
        span = self.code.instructions[self.at if at is None else at].span
        caller = self.caller.place() if self.caller else None
        file = self.code.code.co_filename
        line = span.line or self.code.code.co_firstlineno
        return Place(file, self.name, line, span.end_line, span.column, span.end_column, caller)

    def raises(self) -> bool:
        """Whether the basic block that is being walked ends by raising."""
        blocks = self.graph.blocks.items()
        end = next(end for start, end in blocks if start <= self.at < end)
        return self.code.instructions[end - 1].op == "RAISE"

    def refused_around(self) -> str | None:
        """The `with` statement whose context the instruction being walked computes."""
        here = self.code.instructions[self.at].span
        for instruction in self.code.instructions[self.at + 1 :]:
            if instruction.op == "UNSUPPORTED" and instruction.arg in ("with", "async with"):
                span = instruction.span
                if None not in (here.line, span.line) and _within(here, span):
                    return str(instruction.arg)
        return None


def _within(inner: bytecode.Span, outer: bytecode.Span) -> bool:
    """Whether a span of source lies in another."""
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        inner.end_line,
        inner.end_column,
    ) <= (outer.end_line, outer.end_column)


@dataclass(slots=True)
class Outcome:
    """Where paths arrived, and which was taken: a guard is a bool and the truth it must have,
    None where there is one exit."""

    exits: dict[int, State]
    guards: dict[int, tuple[Value, bool]]

    @classmethod
    def one(cls, target: int, state: State) -> Outcome:
        return cls({target: state}, {})


class Slots:
    """The results of an `if` in the making: what each arm yields, None where it does not matter."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []  # [left, right, result, key]
        self.pairs: dict[tuple[Value | None, Value | None], Value] = {}
        self.lefts: dict[Value, list[Any]] = {}
        self.rights: dict[Value, list[Any]] = {}
        self.keys: dict[tuple[Any, Type], list[list[Any]]] = {}

    def pair(self, left: Value, right: Value, key: Key) -> Value:
        """The result that is `left` after the left arm and `right` after the right one."""
        if (left, right) not in self.pairs:
            self.pairs[left, right] = self._add(left, right, key)
        return self.pairs[left, right]

    def one(self, side: int, value: Value, key: Key) -> Value:
        """The result that is `value` after the arm of that side, whatever after the other."""
        index = self.rights if side else self.lefts
        if value in index:
            return index[value][2]  # type: ignore[no-any-return]
        filled = self.fill(side, value, key)
        if filled is not None:
            return filled
        return self._add(None, value, key) if side else self._add(value, None, key)

    def fill(self, side: int, value: Value, key: Key) -> Value | None:
        """Give a row of this variable that the arm leaves open this value, if there is one."""
        for row in self.keys.get((key, value.type), ()):
            if row[side] is value:
                return row[2]  # type: ignore[no-any-return]
            if row[side] is None:
                row[side] = value
                (self.rights if side else self.lefts).setdefault(value, row)
                return row[2]  # type: ignore[no-any-return]
        return None

    def _add(self, left: Value | None, right: Value | None, key: Key) -> Value:
        type = (left or right).type  # type: ignore[union-attr]
        result = Value(type, name_of(key))
        row: list[Any] = [left, right, result, key]
        self.rows.append(row)
        if left is not None:
            self.lefts.setdefault(left, row)
        if right is not None:
            self.rights.setdefault(right, row)
        self.keys.setdefault((key, type), []).append(row)
        return result


def name_of(key: Key) -> str:
    return key[0] if isinstance(key[0], str) and key[0].isidentifier() else ""
