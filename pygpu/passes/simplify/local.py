"""Rebuilds a function through one gate, which folds constants, applies the rules of algebra, logic,
vectors and places, and shares equal operations.

Every operation goes through the gate with operands that went before, so one walk is enough: rules
look at simplified operands, and what a rule emits is simplified too. Constants end up at the head
of the body, one of each.

    gate = Gate(function)
    gate("add", gate.x, gate.constant(INT, 0)) is gate.x
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from pygpu.core.errors import Place
from pygpu.core.host.later import later
from pygpu.core.operations.ops import TABLE
from pygpu.passes.simplify import algebra, logic, places, vectors
from pygpu.passes.simplify.algebra import ORDERED
from pygpu.passes.simplify.cse import Key, Known, constant_key, key
from pygpu.passes.simplify.rules import Rule
from pygpu.passes.simplify.vectors import COMPONENTWISE, shrink
from pygpu.ssa import Constant, Function, Op, Region, Table, Value, alike, normal
from pygpu.types import BOOL, Type

with later():
    from pygpu.core import interpret

RULES: Final[dict[str, Rule]] = {**algebra.RULES, **logic.RULES, **vectors.RULES, **places.RULES}

# What becomes of an op, its operands being mapped: the values of its results, or None for the rule.
Special = Callable[["Gate", Op, tuple[Value, ...]], Sequence[Value] | None]


def simplify_locally(function: Function) -> Function:
    """The function with every operation put through the gate."""
    return Gate(function).run()


class Gate:
    """Builds a function from another one. `special` may decide for some ops what becomes of them,
    calling the gate for what it needs."""

    def __init__(self, function: Function, special: Mapping[str, Special] | None = None) -> None:
        self.function = function
        self.special = special or {}
        self.tables = list(function.tables)
        params = tuple([Value(value.type, value.name) for value in function.body.params])
        self.x, self.y = params[:2]
        self.new: dict[Value, Value] = dict(zip(function.body.params, params, strict=True))
        self.body = Region(params)
        self.ops = self.body.ops  # of the region being built
        self.constants: dict[Key, Value] = {}
        self.known = Known()
        self.assumed: dict[Value, Value] = {}  # what conditions are in the sides being built
        self.place: Place | None = None

    def run(self) -> Function:
        """The whole function, rebuilt."""
        self.inline(self.function.body)
        return self.finish(self.mapped(self.function.body.results))

    def finish(self, outputs: Sequence[Value]) -> Function:
        """What was built, as a function of these outputs."""
        head = [value.op for value in self.constants.values() if value.op is not None]
        body = Region(self.body.params, head + self.body.ops, tuple(outputs))
        return Function(self.function.name, self.function.images, tuple(self.tables), body)

    # ------------------------------------------------------------ the gate

    def __call__(self, code: str, *operands: Value, data: Any = None) -> Value:
        return self.emit(code, operands, data)

    def constant(self, type: Type, value: Any) -> Value:
        """A constant; a number for a vector is meant for all its components."""
        return self._constant(type, normal(type, value))

    def _constant(self, type: Type, value: Constant) -> Value:
        identity = constant_key(type, value)
        found = self.constants.get(identity)
        if found is None:
            found = Op("constant", (), (type, value), (type,)).results[0]
            self.constants[identity] = found
        return found

    def emit(
        self, code: str, operands: tuple[Value, ...], data: Any, type: Type | None = None
    ) -> Value:
        """The value of an operation: a constant, one that is there already, or a new one."""
        if self.assumed:
            operands = tuple([self.assumed.get(value, value) for value in operands])
        for index, value in enumerate(operands):
            if value.op is None or value.op.code != "constant":
                if index == 1 and code in ORDERED:
                    operands = (value, operands[0], *operands[2:])
                break
        else:
            folded = _folded(code, operands, data, self.tables)
            if folded is not None:
                types = [value.type for value in operands]
                return self._constant(type or TABLE[code].result(types, data), folded)
        if code in COMPONENTWISE and operands[-1].type.size > 1:
            better = shrink(self, code, operands)
            if better is not None:
                return better
        rule = RULES.get(code)
        if rule is not None:
            better = rule(self, operands, data)
            if better is not None:
                return better
        identity = key(code, operands, data)
        known = self.known
        found = known.values.get(identity)
        if found is None:
            found = self.append(code, operands, data, type)
            known.add(identity, found)
        return found

    def append(
        self, code: str, operands: tuple[Value, ...], data: Any = None, type: Type | None = None
    ) -> Value:
        """A new operation, not put through the gate."""
        type = type or TABLE[code].result([value.type for value in operands], data)
        op = Op(code, operands, data, (type,), (), self.place)
        self.ops.append(op)
        return op.results[0]

    # ------------------------------------------------------------ walking the old function

    def inline(self, region: Region) -> None:
        """Build a region's ops into the region being built."""
        new, special = self.new, self.special
        for op in region.ops:
            code = op.code
            if code == "constant":
                new[op.results[0]] = self._constant(*op.data)
                continue
            self.place = op.place
            operands = self.mapped(op.operands)
            if code in special:
                results = special[code](self, op, operands)
                if results is not None:
                    new.update(zip(op.results, results, strict=True))
                    continue
            if op.regions:
                (self._if if code == "if" else self._loop)(op, operands)
                continue
            old = op.results[0]
            value = self.emit(code, operands, op.data, old.type)
            if old.name and not value.name and value.op is not None:
                value.name = old.name
            new[old] = value

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """What is built in this context goes into a region, and is known there alone."""
        outer, self.ops = self.ops, region.ops
        self.known.enter()
        yield
        self.known.leave()
        self.ops = outer

    def _region(
        self, region: Region, condition: Value | None = None, truth: bool = False
    ) -> Region:
        """A region built from another one, in a scope that knows the condition of its `if`."""
        params = tuple([Value(value.type, value.name) for value in region.params])
        self.new.update(zip(region.params, params, strict=True))
        built = Region(params)
        with self.inside(built):
            if condition is not None:
                self.assumed[condition] = self._constant(BOOL, truth)
            self.inline(region)
            built.results = self.mapped(region.results)
            if condition is not None:
                del self.assumed[condition]
        return built

    def mapped(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """The new values for old ones."""
        new, assumed = self.new, self.assumed
        if assumed:
            return tuple([assumed.get(new[value], new[value]) for value in values])
        return tuple([new[value] for value in values])

    def _if(self, op: Op, operands: tuple[Value, ...]) -> None:
        """A condition that is known takes its side. A result on which both sides agree is no result
        of the `if`: what both hand on was made before it."""
        (condition,), (yes, no) = operands, op.regions
        if condition.op is not None and condition.op.code == "not":
            inner = condition.op.operands[0]
            condition, yes, no = self.assumed.get(inner, inner), no, yes
        if condition.op is not None and condition.op.code == "constant":
            taken = yes if condition.op.data[1] else no
            self.inline(taken)
            self.new.update(zip(op.results, self.mapped(taken.results), strict=True))
            return
        place = self.place
        first = self._region(yes, condition, True)
        second = self._region(no, condition, False)
        pairs = list(zip(first.results, second.results, strict=True))
        names = {pair: value.name for pair, value in zip(pairs, op.results, strict=True)}
        kept = [pair for pair in names if pair[0] is not pair[1]]
        first.results = tuple([pair[0] for pair in kept])
        second.results = tuple([pair[1] for pair in kept])
        chosen = [Value(pair[0].type, names[pair]) for pair in kept]
        made = Op("if", (condition,), None, chosen, (first, second), place)
        self.ops.append(made)
        handed = dict(zip(kept, made.results, strict=True))
        for value, pair in zip(op.results, pairs, strict=True):
            self.new[value] = handed.get(pair, pair[0])

    def _loop(self, op: Op, operands: tuple[Value, ...]) -> None:
        place = self.place
        body = self._region(op.regions[0])
        made = Op("loop", operands, None, alike(op.results), (body,), place)
        self.ops.append(made)
        self.new.update(zip(op.results, made.results, strict=True))


# ---------------------------------------------------------------- constants


def _folded(
    code: str, operands: tuple[Value, ...], data: Any, tables: Sequence[Table]
) -> Constant | None:
    """What the meaning of an operation on constants gives; None where it reads memory."""
    if code != "table" and (code == "constant" or TABLE[code].is_memory):
        return None
    values = [interpret.scalar(*value.op.data) for value in operands]  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        if code == "table":
            result = interpret.look_up(tables[data.table].values, values[0])
        else:
            result = interpret.compute(code, data, values)
    numbers: Any = result.tolist()
    return tuple(numbers) if isinstance(numbers, list) else numbers
