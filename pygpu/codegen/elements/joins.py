"""Native code that folds values into groups by any function of two values.

`span` runs over elements x0 <= x < x1 of a chunk. A chunk has a table with a row of words for each
group: whether there is a value, and its components. The function's uniforms are the components of
its two values; its code stands in the loop, for one element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.plan import plan
from pygpu.codegen.llvm.span import Writer
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.programs import Task
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.if_conversion import convert_all
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, walk
from pygpu.types import Type

INDEX, TABLE, GROUPS, LENGTH, PARTS = range(5)  # of %args; then of each part where, and its stride
LARGEST: Final = 400  # operations of a function, above which other ways are as good


def can_join(function: Function) -> bool:
    """Whether there is code for a function of two values: one without images, tables and loops."""
    ops = list(walk(function.body))
    plain = not function.images and not function.tables and len(ops) <= LARGEST
    return plain and not any(op.code == "loop" for op in ops)


def words(types: Sequence[Type]) -> int:
    """The words of a row of a table."""
    return 1 + sum(type.size for type in types)


def join_span(function: Function, types: Sequence[Type], machine: Machine) -> str:
    """The IR of `span` for a function of two values of these types."""
    prepared = apply((convert_all, *CLEAN), without_nans(function, []))
    task = Task(prepared, (), ())
    layout = plan(task, machine.lanes)
    layout.vectors = layout.rows = 1
    return _Join(task, machine, layout).joining(types)


class _Join(Writer):
    def joining(self, types: Sequence[Type]) -> str:
        code = self.code
        x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
        size = 4 * words(types)
        index, table = code.argument(INDEX, "ptr"), code.argument(TABLE, "ptr")
        groups, length = code.argument(GROUPS, "uint"), code.argument(LENGTH, "int")
        chunk = code.cast("sext", code.binary("sdiv", x0, length), "long")
        table = code.at(table, chunk * (code.cast("zext", groups, "long") * size))
        parts = [
            (code.argument(PARTS + 2 * k, "ptr"), code.argument(PARTS + 2 * k + 1, "long"))
            for k in range(len(types))
        ]
        with Loop(code, [x0]) as loop:
            x = code.cast("sext", loop.params[0], "long")
            group = self.word(code.at(index, x * 4), "uint")
            with when(code, group < groups):
                row = code.at(table, code.cast("zext", group, "long") * size)
                self.join(row, [code.at(start, x * stride) for start, stride in parts], types)
            following = loop.params[0] + 1
            loop.next(following < x1, [following])
        return code.span()

    def join(self, row: Val, parts: Sequence[Val], types: Sequence[Type]) -> None:
        """Fold an element into the value of a row."""
        code = self.code
        there = self.word(row, "int").ne(0)
        firsts = [1, *accumulate([type.size for type in types], initial=1)][1:]
        old = [code.at(row, 4 * first) for first in firsts[: len(types)]]
        new = [self.components(*each) for each in zip(parts, types, strict=True)]
        values = [self.components(*each) for each in zip(old, types, strict=True)]
        for value, components in zip(self.f.uniforms, [*values, *new], strict=True):
            self.env[value, 0, 0] = tuple(components)
        self.body()
        for output, place, only in zip(self.f.outputs, old, new, strict=True):
            joined = self.get(output, (0, 0))
            for c, (one, both) in enumerate(zip(only, joined, strict=True)):
                word = code.select(there, self.as_word(both), self.as_word(one))
                code.store(word, code.at(place, 4 * c), 4)
        code.store(code.constant("int", 1), row, 4)

    def components(self, place: Val, type: Type) -> list[Val]:
        """The components of a value in memory."""
        kind = "int" if type.kind == "bool" else type.kind
        read = [self.word(self.code.at(place, 4 * c), kind) for c in range(type.size)]
        return [part.ne(0) for part in read] if type.kind == "bool" else read

    def word(self, place: Val, kind: str) -> Val:
        """What is in memory now."""
        return self.code.read(kind, place, align=4)

    def as_word(self, value: Val) -> Val:
        """A component as it is stored."""
        if value.kind == "bool":
            return self.code.cast("zext", value, "int")
        return self.code.bits(value, "int")
