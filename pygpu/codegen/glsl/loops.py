"""Prints a function as lines of GLSL, as its plan has it: loops here, all else in statements.py.

A loop is a `while` loop. Where its body ends in an `if` on whether to go on, the `if` becomes the
`while`'s own condition or a `break`.

    printer = Printer(plan, namer, ranges, loose=False, leaf=...)
    printer.region(function.body)          # ["float t = ...;", ...]
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.codegen.glsl.expressions.text import Text
from pygpu.codegen.glsl.lines import Break, Line, block
from pygpu.codegen.glsl.plan import Plan, Variable
from pygpu.codegen.glsl.statements import Assignment, Statements
from pygpu.passes.analysis.branches import goes_by, left_by
from pygpu.ssa import Op, Region, Value, constant_of


class Printer(Statements):
    """See the module's head."""

    def loop(self, op: Op) -> list[Line]:
        (body,) = op.regions
        variables = [self.plan.variable[param] for param in body.params]
        lines = self.at_once(zip(variables, op.operands, strict=True))
        go = body.results[0]
        carried = list(zip(variables, body.results[1:], strict=True))
        if self.switches and not self._is_headed(op):
            return lines + self.switched(body, go, carried)
        inner = self.tail(op, body.ops, go, carried)
        if inner and isinstance(inner[0], Break) and inner[0].is_plain:
            return lines + block(f"while ({inner[0].stay})", inner[1:], always=True)
        return lines + block("while (true)", inner, always=True)

    def _is_headed(self, op: Op) -> bool:
        """Whether the loop ends before anything changes, as `while` loops do: what is used after
        it is what the round began with."""
        (body,) = op.regions
        last = self._last(body.ops)
        if last is None or last.code != "if" or last.operands[0] is not body.results[0]:
            return False
        left = dict(zip(last.results, last.regions[1].results, strict=True))
        return all(
            left.get(value, value) is param
            for value, param, result in zip(body.results[1:], body.params, op.results, strict=True)
            if result in self.plan.uses
        )

    def _last(self, ops: Sequence[Op]) -> Op | None:
        return next((op for op in reversed(ops) if self.plan.is_statement(op)), None)

    def switched(self, body: Region, go: Value, carried: list[Assignment]) -> list[Line]:
        """A loop that ends at its head alone, by a variable. Mesa's llvmpipe (22.3) may compute
        again, in rounds that other pixels need, what a `break` in the middle left to the code
        after the loop; variables that the head sees are safe."""
        switch = Variable([go], [], self.namer.fresh("go"))
        statements = [op for op in body.ops if self.plan.is_statement(op)]
        last = self._last(body.ops)
        if last is not None and last.operands[:1] == (go,) and self.plan.is_expression(go):
            inner = self.statements(statements[:-1])
            inner.append(self.assign(switch, self.text(go)))
            names, self.names = self.names, {**self.names, go: Text(switch.name)}
            inner += self.statements(statements[-1:]) + self.at_once(carried)
            self.names = names
        else:
            inner = self.statements(statements) + self.at_once([*carried, (switch, go)])
        head = f"bool {switch.name} = true;"
        return [head, *block(f"while ({switch.name})", inner, always=True)]

    def tail(self, loop: Op, ops: Sequence[Op], go: Value, carried: list[Assignment]) -> list[Line]:
        """The lines of ops at the end of a loop's body, of what it carries, and of the break."""
        statements = [op for op in ops if self.plan.is_statement(op)]
        last = statements[-1] if statements else None
        if last is not None and last.code == "if" and self._decides(last, go, carried):
            return self.statements(statements[:-1]) + self.parting(loop, last, go, carried)
        known = constant_of(go)
        if known is False:
            kept = [
                (variable, value)
                for (variable, value), result in zip(carried, loop.results, strict=True)
                if result in self.plan.uses
            ]
            return [*self.statements(statements), *self.at_once(kept), "break;"]
        lines: list[Line] = []
        names = self.names
        if known is None:
            changed = {to for to, value in carried if self.plan.variable.get(value) is not to}
            reads = self.plan.reads(go)
            early = last is not None and go in last.operands and last.code == "if"
            if early and last is not None:
                changed |= self.plan.writes(last)
            if reads & changed:  # as it is before they change
                variable = Variable([go], [])
                before = statements[:-1] if early else statements
                lines = self.statements(before)
                lines.append(self.assign(variable, self.text(go)))
                self.names = {**names, go: Text(variable.name)}
                statements = statements[len(before) :]
        lines += self.statements(statements) + self.at_once(carried)
        if known is None:
            lines.append(Break(self.negated(go), self.text(go), self.is_plain(go)))
        self.names = names
        return lines

    def _decides(self, op: Op, go: Value, carried: list[Assignment]) -> bool:
        """Whether a branch at the end of a body says if it runs again, and its results are used
        for nothing but what is carried."""
        if go is not op.operands[0] and (go not in op.results or self.plan.uses[go] > 1):
            return False
        made = {self.plan.variable[op.results[i]] for i in self.plan.used_results(op)}
        mixed = [v for _, v in carried if v in self.plan.inlined and self.plan.reads(v) & made]
        return not any(_reads_any(self.plan, value, op.results) for value in mixed)

    def parting(self, loop: Op, op: Op, go: Value, carried: list[Assignment]) -> list[Line]:
        """A branch that ends the body: each side carries on, or breaks, by itself."""
        condition = op.operands[0]
        variables = [to for to, _ in carried]
        first, second = [
            self.tail(
                loop,
                region.ops,
                goes_by(op, side, go),
                list(zip(variables, left_by(op, side, [v for _, v in carried]), strict=True)),
            )
            for side, region in enumerate(op.regions)
        ]
        if second == ["break;"]:
            plain = self.is_plain(condition)
            return [Break(self.negated(condition), self.text(condition), plain), *first]
        if first == ["break;"]:
            plain = self.is_plain(condition)
            return [Break(self.text(condition), self.negated(condition), plain), *second]
        if second[-1:] == ["break;"]:
            return block(f"if ({self.negated(condition)})", second) + first
        if first[-1:] == ["break;"]:
            return block(f"if ({self.text(condition)})", first) + second
        return self.if_else(condition, first, second)


def _reads_any(plan: Plan, value: Value, results: Sequence[Value]) -> bool:
    """Whether an expression needs one of these values themselves."""
    if value in results:
        return True
    if not plan.is_expression(value) or value.op is None:
        return False
    return any(_reads_any(plan, operand, results) for operand in plan.operands(value.op))
