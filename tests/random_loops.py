"""Random functions of nested loops and branches on ints and bools, for which results are exact.

Loops end early, in the middle, by what inner loops found, and leave values that were computed
before they ended: what drivers get wrong.

    function, arrays = random_loops(7)
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.operations.ops import TABLE
from pygpu.core.verify import verify
from pygpu.ssa import Function, ImageInput, Region, Value
from pygpu.types import BOOL, INT, Type

_COMPARE = " ".join(code for code, row in TABLE.items() if row.is_comparison)


def random_loops(seed: int) -> tuple[Function, list[NDArray[Any]]]:
    """A verified function of two int images, and the images."""
    function = _Maker(random.Random(seed)).make()
    generator = np.random.default_rng(seed)
    return function, [generator.integers(-3, 8, (6, 17)).astype(np.int32) for _ in range(2)]


class _Scope:
    """Values to choose from."""

    def __init__(self, ints: list[Value], bools: list[Value]) -> None:
        self.ints, self.bools = ints, bools

    def inner(self, more: tuple[Value, ...] = ()) -> _Scope:
        scope = _Scope(list(self.ints), list(self.bools))
        scope.add(more)
        return scope

    def add(self, values: tuple[Value, ...]) -> None:
        for value in values:
            (self.ints if value.type is INT else self.bools).append(value)


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.build = Builder("loops", [ImageInput("a", INT), ImageInput("b", INT)])

    def make(self) -> Function:
        build = self.build
        loads = [build.load(index, build.x, build.y) for index in (0, 1)]
        scope = _Scope([*loads, build.x], [])
        self.block(scope, 0)
        self.loop(scope, 0)
        ints = scope.ints[3:]
        outputs = self.source.sample(ints, min(3, len(ints)))
        if scope.bools:
            outputs.append(self.source.choice(scope.bools))
        return verify(build.finish(outputs))

    def pick(self, type: Type, scope: _Scope) -> Value:
        values = scope.ints if type is INT else scope.bools
        if values and self.source.random() < 0.8:
            return self.source.choice(values)
        number = self.source.randint(-2, 5) if type is INT else self.source.random() < 0.5
        return self.build.constant(type, number)

    def types(self, low: int) -> list[Type]:
        return [self.source.choice([INT, BOOL]) for _ in range(self.source.randint(low, 3))]

    def expressions(self, scope: _Scope, count: int) -> None:
        codes = [(_COMPARE, INT, 7), ("add sub min max", INT, 5), ("select", INT, 3)]
        codes += [("bit_and bit_or", BOOL, 2), ("not", BOOL, 2), ("select", BOOL, 2)]
        for _ in range(count):
            names, type, _ = self.source.choices(codes, [weight for *_, weight in codes])[0]
            code = self.source.choice(names.split())
            operands = [self.pick(type, scope) for _ in range(1 if code == "not" else 2)]
            if code == "select":
                operands.insert(0, self.pick(BOOL, scope))
            scope.add((self.build.emit(code, *operands),))

    def block(self, scope: _Scope, depth: int) -> None:
        for _ in range(self.source.randint(1, 3)):
            self.expressions(scope, self.source.randint(1, 3))
            chance = self.source.random()
            if depth < 2 and chance < 0.5:
                self.loop(scope, depth)
            elif chance < 0.75:
                self.branch(scope, depth)

    def branch(self, scope: _Scope, depth: int) -> None:
        condition, types = self.pick(BOOL, scope), self.types(1)
        sides = []
        for _ in range(2):
            side, inner = Region(), scope.inner()
            with self.build.inside(side):
                if depth < 1 and self.source.random() < 0.3:
                    self.block(inner, depth + 1)
                else:
                    self.expressions(inner, self.source.randint(0, 3))
                side.results = tuple([self.pick(type, inner) for type in types])
            sides.append(side)
        scope.add(self.build.append("if", [condition], types, sides))

    def loop(self, scope: _Scope, depth: int) -> None:
        """A loop of at most 6 rounds: its first parameter counts them."""
        emit, constant = self.build.emit, self.build.constant
        types: list[Type] = [INT, *self.types(0)]
        start = [constant(INT, 0), *(self.pick(type, scope) for type in types[1:])]
        params = tuple([Value(type) for type in types])
        body, inner = Region(params), scope.inner(params)
        bound = emit("max", self.pick(INT, scope), constant(INT, 0))
        bound = emit("min", bound, constant(INT, self.source.randint(2, 6)))
        with self.build.inside(body):
            within = emit("lt", params[0], bound)
            count = emit("add", params[0], constant(INT, 1))
            if self.source.random() < 0.3:
                self.block(inner, depth + 1)
                go = self.narrowed(within, inner)
                body.results = go, count, *(self.pick(type, inner) for type in types[1:])
            else:
                self.expressions(inner, self.source.randint(0, 2))
                sides = self.sides(inner, params, count, depth)
                condition = self.narrowed(within, inner)
                body.results = self.build.append("if", [condition], [BOOL, *types], sides)
        scope.add(self.build.append("loop", start, types, [body]))

    def narrowed(self, condition: Value, scope: _Scope) -> Value:
        if self.source.random() < 0.5:
            return condition
        return self.build.emit("bit_and", condition, self.pick(BOOL, scope))

    def sides(
        self, scope: _Scope, params: tuple[Value, ...], count: Value, depth: int
    ) -> list[Region]:
        """A round, which may be the last; and the end, with what was carried or other values."""
        again, stop = Region(), Region()
        types = [param.type for param in params]
        inner = scope.inner()
        with self.build.inside(again):
            self.block(inner, depth + 1)
            is_last = self.source.random() < 0.4
            go = self.build.constant(BOOL, True) if is_last else self.pick(BOOL, inner)
            again.results = go, count, *(self.pick(type, inner) for type in types[1:])
        with self.build.inside(stop):
            kept = self.source.random() < 0.5
            left = params if kept else tuple([self.pick(type, scope) for type in types])
            stop.results = self.build.constant(BOOL, False), *left
        return [again, stop]
