"""SSA as statements about single numbers: what Numba's Python and C have in common. A vector is as
many numbers as it has components; an `if` is one, a `loop` is a `while` that is left at its end.

    body = Statements(language, function)
    body.lines, body.results               # text, and the names of the outputs' components
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pygpu.ssa import Function, Load, Lookup, Op, Region, Value


class Unsupported(Exception):
    """An operation that a language has no spelling for."""


class Language(Protocol):
    """How statements are spelled."""

    def literal(self, kind: str, value: Any) -> str: ...

    def operation(self, code: str, kind: str, operands: Sequence[str], to: str) -> str:
        """An expression: operands are of `kind`, what is made of `to`."""

    def load(self, data: Load, x: str, y: str, is_near: bool) -> list[str]:
        """An expression for each component."""

    def lookup(self, data: Lookup, index: str, component: int) -> str: ...

    def select(self, condition: str, first: str, second: str) -> str: ...

    def declare(self, name: str, kind: str, value: str) -> str: ...

    def assign(self, name: str, value: str) -> str: ...

    def blocks(self, head: str, condition: str) -> tuple[str, str]:
        """What opens and closes a block: of `if`, `else` or `loop`."""

    def leave(self, go: str) -> str:
        """What leaves a loop where `go` does not hold."""


class Statements:
    """The statements of a function."""

    def __init__(self, language: Language, function: Function) -> None:
        self.language, self.function = language, function
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        self.names: dict[Value, list[str]] = {function.x: ["x"], function.y: ["y"]}
        for index, value in enumerate(function.uniforms):
            self.names[value] = [f"u{index}_{k}" for k in range(value.type.size)]
        self.region(function.body)
        self.results = [self.names[value] for value in function.outputs]

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def let(self, kind: str, value: str) -> str:
        """A variable of its own for an expression."""
        self.count += 1
        name = f"t{self.count}"
        self.emit(self.language.declare(name, kind, value))
        return name

    def region(self, region: Region) -> None:
        for op in region.ops:
            if op.code == "if":
                self.branch(op)
            elif op.code == "loop":
                self.loop(op)
            elif op.code == "constant":
                type, value = op.data
                values = [value] if type.is_scalar else value
                self.names[op.result] = [self.language.literal(type.kind, v) for v in values]
            else:
                self.names[op.result] = self.simple(op)

    def simple(self, op: Op) -> list[str]:
        kind, operands = op.result.type.kind, [self.names[v] for v in op.operands]
        match op.code:
            case "construct":
                return [name for each in operands for name in each]
            case "splat":
                return operands[0] * op.data
            case "swizzle":
                return [operands[0][k] for k in op.data]
            case "ddx" | "ddy" | "voxel" | "plane" | "depth":
                raise Unsupported(op.code)
            case "width" | "height":
                return [f"{op.code[0]}{op.data}"]
        return [self.let(kind, text) for text in self.texts(op, kind, operands)]

    def texts(self, op: Op, kind: str, operands: list[list[str]]) -> list[str]:
        language, function = self.language, self.function
        match op.code:
            case "load":
                is_near = op.operands == (function.x, function.y)
                return language.load(op.data, operands[0][0], operands[1][0], is_near)
            case "table":
                size = op.data.type.size
                return [language.lookup(op.data, operands[0][0], k) for k in range(size)]
            case "select":
                conditions = operands[0] * (len(operands[1]) // len(operands[0]))
                listed = zip(conditions, *operands[1:], strict=True)
                return [language.select(*each) for each in listed]
            case "element":
                text = operands[0][0]
                for k, component in enumerate(operands[0][1:], 1):
                    at = language.literal("int", k)
                    test = language.operation("ge", "int", [operands[1][0], at], "bool")
                    text = language.select(test, component, text)
                return [text]
            case "dot":
                pairs = zip(*operands, strict=True)
                products = [language.operation("mul", kind, each, kind) for each in pairs]
                return [self._folded("add", kind, products)]
            case "any" | "all":
                code = "bit_or" if op.code == "any" else "bit_and"
                return [self._folded(code, "bool", operands[0])]
        of = op.operands[0].type.kind
        listed = zip(*operands, strict=True)
        return [language.operation(op.code, of, each, kind) for each in listed]

    def _folded(self, code: str, kind: str, parts: Sequence[str]) -> str:
        text = parts[0]
        for part in parts[1:]:
            text = self.language.operation(code, kind, [text, part], kind)
        return text

    def variables(self, values: Sequence[Value], starts: list[list[str]] | None) -> Any:
        """A variable for each component, with its first value if there is one."""
        named = []
        for index, value in enumerate(values):
            kind, size = value.type.kind, value.type.size
            first = starts[index] if starts else [self.language.literal(kind, 0)] * size
            named.append([self.let(kind, each) for each in first])
        return named

    def assign(self, targets: Sequence[list[str]], values: Sequence[Value]) -> None:
        """Variables get other values; all of these are read before any variable changes."""
        moves = [
            (a, b, value.type.kind)
            for target, value in zip(targets, values, strict=True)
            for a, b in zip(target, self.names[value], strict=True)
            if a != b
        ]
        if len(moves) > 1:
            moves = [(a, self.let(kind, b), kind) for a, b, kind in moves]
        for a, b, _ in moves:
            self.emit(self.language.assign(a, b))
        if not moves:
            self.let("bool", self.language.literal("bool", 0))

    def branch(self, op: Op) -> None:
        named = self.variables(op.results, None)
        (condition,) = self.names[op.operands[0]]
        for head, region in zip(("if", "else"), op.regions, strict=True):
            begin, end = self.language.blocks(head, condition)
            self.emit(begin)
            self.depth += 1
            self.region(region)
            self.assign(named, region.results)
            self.depth -= 1
            if end:
                self.emit(end)
        self.names.update(zip(op.results, named, strict=True))

    def loop(self, op: Op) -> None:
        (body,) = op.regions
        named = self.variables(body.params, [self.names[v] for v in op.operands])
        self.names.update(zip(body.params, named, strict=True))
        begin, end = self.language.blocks("loop", "")
        self.emit(begin)
        self.depth += 1
        self.region(body)
        (go,) = self.names[body.results[0]]
        go = self.let("bool", go)
        self.assign(named, body.results[1:])
        self.emit(self.language.leave(go))
        self.depth -= 1
        if end:
            self.emit(end)
        self.names.update(zip(op.results, named, strict=True))


__all__ = ["Language", "Statements", "Unsupported"]
