"""The printed form of a function, for people and for golden tests.

Values that came from the user's variables keep their names (made unique), the others are numbered
in order of appearance; constants are printed where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from pygpu.types import Type, vector

NOUNS: Final = {1: "signal", 2: "image", 3: "volume"}  # by the coordinates of a texel

# What is printed, as ssa.py defines it, which stands above and prints itself by this.


class Value(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> Type: ...
    @property
    def op(self) -> Op | None: ...


class Op(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def operands(self) -> Sequence[Value]: ...
    @property
    def data(self) -> Any: ...
    @property
    def regions(self) -> Sequence[Region]: ...
    @property
    def results(self) -> Sequence[Value]: ...


class Region(Protocol):
    @property
    def params(self) -> Sequence[Value]: ...
    @property
    def ops(self) -> Sequence[Op]: ...
    @property
    def results(self) -> Sequence[Value]: ...


class Function(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def images(self) -> Sequence[Any]: ...
    @property
    def tables(self) -> Sequence[Any]: ...
    @property
    def body(self) -> Region: ...


def text(function: Function) -> str:
    """The function in the grammar of pygpu/ssa.py, one op a line."""
    printer = _Printer(function)
    return "\n".join(printer.function()) + "\n"


def number(type: Type, value: object) -> str:
    """A constant, floats in the shortest form that float32 reads back."""
    if isinstance(value, tuple):
        inner = vector(type.kind, 1)
        return f"{type}({', '.join(number(inner, v) for v in value)})"
    if type.kind == "float":
        return str(np.float32(value))  # type: ignore[arg-type]
    return str(value).lower() if type.kind == "bool" else str(value)


class _Printer:
    """Prints a function. Regions may be nested deep, so what is left to do stands in `waiting`, the
    next last."""

    def __init__(self, function: Function) -> None:
        self.f = function
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.suffixes: dict[str, int] = {}  # of names of users, the last that was given
        self.count = 0
        self.lines: list[str] = []
        self.waiting: list[Callable[[], None]] = []

    def function(self) -> list[str]:
        x, y, *uniforms = self.f.body.params
        self.names[x], self.names[y] = "x", "y"
        self.taken |= {"x", "y"}
        params = [f"{image.name}: {NOUNS[image.dims]} {image.type}" for image in self.f.images]
        params += [f"{self.name(value)}: {value.type}" for value in uniforms]
        self.lines = [f"function {self.f.name}({', '.join(params)}) {{"]
        for table in self.f.tables:
            shape, dtype = list(table.values.shape), table.values.dtype
            self.lines.append(f"  table {table.name}: {shape} {dtype}")
        self.region(self.f.body, "  ", "return")
        while self.waiting:
            self.waiting.pop()()
        return [*self.lines, "}"]

    def then(self, *tasks: Callable[[], None]) -> None:
        self.waiting += reversed(tasks)

    def name(self, value: Value) -> str:
        """The name of a value; a constant is its own name."""
        if value.op is not None and value.op.code == "constant":
            return number(*value.op.data)
        if value not in self.names:
            name = value.name
            if not name:
                name, self.count = f"%{self.count}", self.count + 1
            else:
                suffix = self.suffixes.get(name, 1)
                while name in self.taken:
                    suffix += 1
                    name = f"{value.name}_{suffix}"
                self.suffixes[value.name] = suffix
            self.taken.add(name)
            self.names[value] = name
        return self.names[value]

    def names_of(self, values: Sequence[Value]) -> str:
        return ", ".join(map(self.name, values))

    def region(self, region: Region, indent: str, end: str) -> None:
        ops = [partial(self.op, op, indent) for op in region.ops]
        self.then(*ops, partial(self.end, region, indent, end))

    def end(self, region: Region, indent: str, end: str) -> None:
        if region.results or end == "return":
            self.lines.append(f"{indent}{end} {self.names_of(region.results)}")

    def op(self, op: Op, indent: str) -> None:
        if op.code == "constant":
            return
        if op.regions:
            self.nested(op, indent)
            return
        self.lines.append(f"{indent}{self.assigned(op)}{op.code} {self.body(op)}".rstrip())

    def nested(self, op: Op, indent: str) -> None:
        """An op with regions. Its line is made last: values are numbered from within."""
        at = len(self.lines)
        self.lines.append("")
        inner = indent + "  "
        if op.code == "if":
            first, second = [partial(self.region, region, inner, "yield") for region in op.regions]
            between = partial(self.lines.append, f"{indent}}} else {{")
            self.then(first, between, second, partial(self.close, op, indent, at, ""))
            return
        (body,) = op.regions
        carried = ", ".join(
            f"{self.name(param)} = {self.name(initial)}"
            for param, initial in zip(body.params, op.operands, strict=True)
        )
        close = partial(self.close, op, indent, at, f"({carried})")
        self.then(partial(self.region, body, inner, "next"), close)

    def close(self, op: Op, indent: str, at: int, carried: str) -> None:
        assigned = self.assigned(op)
        self.lines[at] = f"{indent}{assigned}{op.code} {carried or self.names_of(op.operands)} {{"
        self.lines.append(f"{indent}}}")

    def assigned(self, op: Op) -> str:
        return f"{self.names_of(op.results)} = " if op.results else ""

    def body(self, op: Op) -> str:
        if op.code == "load":
            x, y = (
                self.name(value) + (f" {'-' if d < 0 else '+'} {abs(d)}" if d else "")
                for value, d in zip(op.operands, (op.data.dx, op.data.dy), strict=True)
            )
            cval = f" {op.data.cval}" if op.data.boundary == "constant" else ""
            return f"{self.f.images[op.data.image].name}[{x}, {y}] {op.data.boundary}{cval}"
        if op.code == "voxel":
            cval = f" {op.data.cval}" if op.data.boundary == "constant" else ""
            read: str = self.f.images[op.data.image].name
            return f"{read}[{self.names_of(op.operands)}] {op.data.boundary}{cval}"
        if op.code == "table":
            return f"{self.f.tables[op.data.table].name}[{self.names_of(op.operands)}]"
        if op.code in ("width", "height", "depth"):
            name: str = self.f.images[op.data].name
            return name
        if op.code == "swizzle":
            return f"{self.names_of(op.operands)}.{''.join('xyzw'[i] for i in op.data)}"
        return self.names_of(op.operands)
