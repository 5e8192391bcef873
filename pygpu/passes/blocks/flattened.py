"""Functions that treat all components of their texels alike, as functions of one component: for
images of which a row is seen as a row of numbers, n for a texel.

load im[x + 1, y] : vec3     ->  load im[x + 3, y] : float
mul %0, vec3(0.5, 0.5, 0.5)  ->  mul %0, 0.5
construct (sqrt %0.x), (sqrt %0.y), (sqrt %0.z)  ->  sqrt %0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.core.rewriter import Rewriter
from pygpu.passes.analysis.taps import find_taps
from pygpu.ssa import Function, Load, Op, Region, Value, walk
from pygpu.types import Type, vector

_ALONG: Final = ("width", "load")


class _Mixed(Exception):
    """Components are not all treated alike."""


def flattened(function: Function) -> tuple[Function, int] | None:
    """The function of one component, and how many components a texel has; None where they are not
    treated alike, where a pixel asks where it is along x, or reads elsewhere than near itself or in
    its column."""
    sizes = {value.type.size for value in function.outputs}
    if len(sizes) != 1 or sizes == {1}:
        return None
    (size,) = sizes
    try:
        return _Flattening(function, size).run(), size
    except _Mixed:
        return None


class _Flattening(Rewriter):
    """Makes the function. What was a vector and is a number now is one component of it, and so is
    what is computed of one component by itself, where the same is computed of the others."""

    def __init__(self, function: Function, size: int) -> None:
        super().__init__(function)
        self.size = size
        self.parts: dict[Value, int] = {}  # what is of one component, and of which
        self.made: dict[Any, Sequence[Value]] = {}  # of parts: the same of each component
        self.build.images = [replace(each, type=_one(each.type)) for each in function.images]

    def run(self) -> Function:
        made = super().run()
        pairs = zip(self.function.outputs, made.outputs, strict=True)
        if not all(_is_component(old, new) for old, new in pairs):
            raise _Mixed
        loads = {op for op in walk(made.body) if op.code == "load"}
        if any(op.data.dx for op in loads - find_taps(made)):
            raise _Mixed
        return made

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        code, emit = op.code, self.build.emit
        x = self.function.body.params[0]
        if code == "load":
            column, row = op.operands
            if column != x or row in self.parts or _is_component(row, operands[1]):
                raise _Mixed
            return [emit("load", *operands, data=self._load(op.data))]
        if x in op.operands or any(x in region.results for region in op.regions) or code in _ALONG:
            raise _Mixed
        if code == "constant":
            return self._constant(op)
        if code == "if":
            return self._made(op, operands, [self.copy_region(each) for each in op.regions])
        if code == "loop":
            return self._made(op, operands, [self._body(op, operands)])
        if code == "splat" and op.data == self.size and op.operands[0] not in self.parts:
            return operands
        if any(value in self.parts for value in op.operands):
            return self._of_parts(op, operands)
        if code == "table":
            raise _Mixed
        components = [_is_component(*pair) for pair in zip(op.operands, operands, strict=True)]
        if not any(components):
            return None
        if code == "swizzle" and len(op.data) == 1:
            self.parts[op.result] = op.data[0]
            return operands
        if not TABLE[code].componentwise or any(value.type.size > 1 for value in operands):
            raise _Mixed
        return [emit(code, *operands, data=op.data)]

    def _of_parts(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
        """What is computed of one component alone, or the vector of such."""
        places = [self.parts.get(value, -1) for value in op.operands]
        if op.code == "construct":
            if places != list(range(self.size)) or len(set(operands)) > 1:
                raise _Mixed
            return operands[:1]
        of_one = {place for place in places if place >= 0}
        is_apart = op.code == "table" or TABLE[op.code].componentwise
        is_scalar = all(value.type.is_scalar for value in (*op.operands, *op.results))
        if len(of_one) > 1 or not is_apart or not is_scalar:
            raise _Mixed
        self.parts[op.result] = of_one.pop()
        key = self.build.region, op.code, operands, repr(op.data)
        if key not in self.made:
            self.made[key] = [self.build.emit(op.code, *operands, data=op.data)]
        return self.made[key]

    def _load(self, load: Load) -> Load:
        dx = load.dx * self.size
        if load.type.size != self.size or len(set(load.cval)) > 1:
            raise _Mixed
        return replace(load, type=_one(load.type), dx=dx, cval=load.cval[:1])

    def _constant(self, op: Op) -> Sequence[Value] | None:
        type, number = op.data
        if type.size != self.size:
            return None
        if len(set(map(repr, number))) > 1:  # zeros of both signs and NaN are told apart
            raise _Mixed
        return [self.build.constant(_one(type), number[0])]

    def _body(self, op: Op, operands: tuple[Value, ...]) -> Region:
        """The body of a loop, whose parameters are what it begins with."""
        (old,) = op.regions
        pairs = zip(old.params, operands, strict=True)
        new = Region(tuple([Value(value.type, param.name) for param, value in pairs]))
        self.new.update(zip(old.params, new.params, strict=True))
        with self.build.inside(new):
            self.inline(old)
        new.results = tuple([self.new[value] for value in old.results])
        if any(a.type != b.type for a, b in zip(new.params, new.results[1:], strict=True)):
            raise _Mixed
        return new

    def _made(
        self, op: Op, operands: tuple[Value, ...], regions: Sequence[Region]
    ) -> Sequence[Value]:
        """The op with new regions."""
        old = [*op.operands, *[value for region in op.regions for value in region.results]]
        if not self.parts.keys().isdisjoint(old):
            raise _Mixed
        results = [region.results[op.code == "loop" :] for region in regions]
        types = [[value.type for value in each] for each in results]
        if any(each != types[0] for each in types):
            raise _Mixed
        named = [Value(type, old.name) for type, old in zip(types[0], op.results, strict=True)]
        made = Op(op.code, operands, op.data, named, tuple(regions), op.place)
        self.build.region.ops.append(made)
        return made.results


def _one(type: Type) -> Type:
    return vector(type.kind, 1)


def _is_component(old: Value, new: Value) -> bool:
    return old.type.size != new.type.size
