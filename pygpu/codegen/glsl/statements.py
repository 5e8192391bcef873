"""Prints the expressions, assignments and branches of a function as lines of GLSL, as its plan has
them. Loops are printed by loops.py.

Assignments that belong together (what a loop carries, what a side of a branch leaves) happen as if
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Final

from pygpu.codegen.glsl.expressions.comparisons import opposite
from pygpu.codegen.glsl.expressions.helper import PREFIX
from pygpu.codegen.glsl.expressions.operations import ASSIGNED, NEGATED, TABLE
from pygpu.codegen.glsl.expressions.text import UNARY, Namer, Text, call, conditional, literal
from pygpu.codegen.glsl.lines import Line, block
from pygpu.codegen.glsl.plan import Plan, Variable
from pygpu.passes.analysis.ranges import Ranges
from pygpu.passes.analysis.rounding import scales, settled
from pygpu.ssa import Op, Region, Value, has
from pygpu.types import INTEGERS, vector

# Operations whose results are declared `precise`, because drivers would otherwise fuse products
# into sums and quotients, and take common factors out of sums. Others are not declared so, for
# `precise` slows down an operation and all that goes into it.
SUMS: Final = frozenset("add sub div dot".split())

Assignment = tuple[Variable, Value]
Leaf = Callable[[Any, Op], Text]  # is given the printer


class Statements:
    """Texts of values and lines of statements. `leaf` prints what depends on the kind of program:
    loads, tables and sizes. `names` has the texts of the function's parameters."""

    def __init__(self, plan: Plan, namer: Namer, ranges: Ranges, loose: bool, leaf: Leaf) -> None:
        self.plan = plan
        self.namer = namer
        self.loose = loose
        self.switches = loose  # whether loops end at their heads alone
        self.precise = False  # whether GLSL of this version can declare variables `precise`
        self.fused = False  # whether `fma` is rounded once
        self.saturates = False  # whether the driver's int() gives what `to_int` promises
        self.leaf = leaf
        self.may_be_nan = ranges.may_be_nan
        self.names: dict[Value, Text] = {}
        self.helpers: dict[tuple[str, int], None] = {}
        self._plain: dict[Value, bool] = {}

    # ------------------------------------------------ expressions

    def helper(self, name: str, size: int, *operands: Text) -> Text:
        self.helpers[name, size] = None
        return call(PREFIX + name, *operands)

    def to_int(self, size: int, operand: Text) -> Text:
        """Floats as ints: the nearest int where none holds the float, 0 for NaN."""
        if self.saturates:
            return call(str(vector("int", size)), operand)
        return self.helper("to_int", size, operand)

    def text(self, value: Value) -> Text:
        """What stands for a value where it is used."""
        if value in self.names:
            return self.names[value]
        if value in self.plan.variable:
            return Text(self.plan.variable[value].name)
        assert value.op is not None
        return self.expression(value.op)

    def inlined(self, value: Value) -> Op | None:
        """The operation of a value that is printed where it is used; None where it has a name."""
        return value.op if value in self.plan.inlined and value not in self.names else None

    def expression(self, op: Op) -> Text:
        if op.code == "constant":
            return literal(*op.data)
        if op in self.plan.choices:
            return conditional(*map(self.text, self.plan.operands(op)))
        if op.code in TABLE:
            return TABLE[op.code](self, op, [self.text(operand) for operand in op.operands])
        return self.leaf(self, op)

    def negated(self, condition: Value) -> Text:
        """The opposite of a bool. Only comparisons that know no NaN are turned around."""
        op = condition.op
        if op is not None and condition in self.plan.inlined and condition not in self.names:
            if op.code == "not":
                return self.text(op.operands[0])
            exact = op.operands and op.operands[0].type.kind in INTEGERS
            if op.code in NEGATED and exact:
                turned = Op(NEGATED[op.code], op.operands, None, [condition.type])
                return self.expression(turned)
        return opposite(self.text(condition), 1, self.is_plain(condition))

    @cached_property
    def is_laned(self) -> bool:
        """Whether two bytes are computed at once in one word. Products of products need not be
        `precise` then, which would be slow: pixels have no constant factors in common."""
        return has(self.plan.function, "lane_low", "lane_high")

    @cached_property
    def settled(self) -> set[Value]:
        """The values that come out the same whatever a driver fuses."""
        return settled(self.plan.function)

    def is_place(self, value: Value) -> bool:
        return value in (self.plan.function.x, self.plan.function.y)

    def is_plain(self, value: Value) -> bool:
        """Whether a bool may be negated by `!`: no NaN can be among what it compares, or the
        driver is one on which helpers that are precise compare. (There `!` is needed: Mesa 22.3
        miscompiles some loops that break on `b == false`.)"""
        if self.loose:
            return True
        if value not in self._plain:
            self._plain[value] = self._is_plain(value)
        return self._plain[value]

    def _is_plain(self, value: Value) -> bool:
        op = value.op
        if op is None:
            return value in self.plan.function.uniforms
        if op.code in NEGATED and op.operands[0].type.kind == "float":
            return op.code in ("eq", "ne") or not any(map(self.may_be_nan, op.operands))
        operands = [operand for operand in op.operands if operand.type.kind == "bool"]
        if op.code == "if":
            index = op.results.index(value)
            operands += [region.results[index] for region in op.regions]
        return op.code != "loop" and all(map(self.is_plain, operands))

    # ------------------------------------------------ statements

    def loop(self, op: Op) -> list[Line]:
        raise NotImplementedError  # see loops.py

    def region(self, region: Region) -> list[Line]:
        """The lines of a region, without what it hands on."""
        return self.statements(region.ops)

    def statements(self, ops: Iterable[Op]) -> list[Line]:
        return [line for op in ops if self.plan.is_statement(op) for line in self.statement(op)]

    def statement(self, op: Op) -> list[Line]:
        if op.code == "if":
            return self.branch(op)
        if op.code == "loop":
            return self.loop(op)
        value = op.results[0]
        return [self.assign(self.plan.variable[value], self.expression(op), value)]

    def assign(self, variable: Variable, text: Text, value: Value | None = None) -> str:
        """Assign to a variable, which is declared by its first assignment."""
        if not variable.name:
            return f"{self.declared(variable)} = {text};"
        op = value.op if value is not None else None
        if op is not None and op.code in ASSIGNED and op not in self.plan.choices:
            left, right = op.operands
            if self.plan.variable.get(left) is variable:
                return f"{variable.name} {ASSIGNED[op.code]} {self.text(right)};"
        return f"{variable.name} = {text};"

    def declared(self, variable: Variable) -> str:
        """`type name`: the name is given now."""
        named = [value.name for value in variable.values if value.name]
        role = self.role(variable.values[0])
        if named or role.endswith("edge"):
            variable.name = self.namer.fresh(named[0] if named else role)
        else:
            variable.name = self.namer.numbered(role)
        return f"{self.qualified(*variable.values)} {variable.name}"

    def qualified(self, *values: Value) -> str:
        """The type of a variable with these values: precise where they are sums or quotients."""
        type = values[0].type
        is_precise = self.precise and type.kind == "float" and any(map(self._is_sum, values))
        return f"precise {type}" if is_precise else str(type)

    def _is_sum(self, value: Value) -> bool:
        """Whether a value is a sum or a quotient, or its text contains one."""
        op = value.op
        if op is None or op.regions:
            return True
        if op.code in SUMS and value not in self.settled:
            return True
        if op.code == "fma" and not self.fused:
            return True
        if op.code == "mul" and not self.is_laned and scales(op):
            return True
        return any(
            self._is_sum(operand)
            for operand in op.operands
            if operand in self.plan.inlined and operand.type.kind == "float"
        )

    def at_once(self, assignments: Iterable[Assignment]) -> list[Line]:
        """Assignments in an order in which none changes what another reads."""
        variable_of = self.plan.variable.get
        pending = [(to, value) for to, value in assignments if variable_of(value) is not to]
        lines: list[Line] = []
        held: dict[Variable, Text] = {}
        while pending:
            for index, (to, value) in enumerate(pending):
                others = [v for j, (_, v) in enumerate(pending) if j != index]
                if not any(to in self.plan.reads(other) for other in others):
                    lines.append(self.assign(to, self.text(value), self._inlined(value)))
                    del pending[index]
                    break
            else:  # each is read by another: hold one result back
                to, value = pending.pop(0)
                name = self.namer.fresh("next")
                lines.append(f"{value.type} {name} = {self.text(value)};")
                held[to] = Text(name)
        return lines + [self.assign(to, text) for to, text in held.items()]

    def _inlined(self, value: Value) -> Value | None:
        return value if value in self.plan.inlined else None

    # ------------------------------------------------ branches

    def role(self, value: Value) -> str:
        """What a value without a name is called, before the number."""
        if value in self.plan.roles:
            return self.plan.roles[value]
        return {"float": "t", "int": "i", "uint": "u", "bool": "test"}[value.type.kind]

    def branch(self, op: Op) -> list[Line]:
        used = self.plan.used_results(op)
        condition = op.operands[0]
        lines: list[Line] = []
        done: set[tuple[int, int]] = set()  # sides and results assigned before the branch
        for index in used:
            variable = self.plan.variable[op.results[index]]
            if variable.name:
                continue
            side = self._plain_side(op, index)
            if side is None:
                lines.append(self.declared(variable) + ";")
            else:
                done.add((side, index))
                lines.append(self.assign(variable, self.text(op.regions[side].results[index])))
        sides = []
        for side, region in enumerate(op.regions):
            left = [
                (self.plan.variable[op.results[index]], region.results[index])
                for index in used
                if (side, index) not in done
            ]
            sides.append(self.region(region) + self.at_once(left))
        return lines + self.if_else(condition, *sides)

    def _plain_side(self, op: Op, index: int) -> int | None:
        """A side that computes nothing and leaves a plain value, so that its result may be assigned
        before the branch: `float t = 0.0; if (c) t = ...;`"""
        for side in (1, 0):
            value = op.regions[side].results[index]
            plain = value not in self.plan.inlined and self.text(value).binds >= UNARY
            if plain and not any(map(self.plan.is_statement, op.regions[side].ops)):
                return side
        return None

    def if_else(self, condition: Value, first: list[Line], second: list[Line]) -> list[Line]:
        if not first and not second:
            return []
        if not second:
            return block(f"if ({self.text(condition)})", first)
        if not first:
            return block(f"if ({self.negated(condition)})", second)
        head = block(f"if ({self.text(condition)})", first, always=len(second) > 1)
        tail = block("else", second, always=head[-1] == "}")
        if head[-1] == "}":
            return [*head[:-1], f"}} {tail[0]}", *tail[1:]]
        return head + tail
