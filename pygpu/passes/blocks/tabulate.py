"""Functions of a byte: a component of the result depends on the same component of the pixel's own
texel alone, and all do in the same way, so that 256 results are all there is to compute. Of four
components some may be handed on as they are instead, as most functions do with alpha.

    found = of_a_byte(Task(gamma, inputs, outputs))    # None of others
    found.function, found.kept                     # that of a component, and those handed on
    pays(found.function)                           # whether to look results up is less
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.core.programs import Task
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.vectors import COMPONENTWISE
from pygpu.ssa import Function, ImageInput, Op, Value, images_read, used_by, walk
from pygpu.types import Type, vector

# What GPUs take for an operation, in additions; where there is nothing, 1.
PRICE: Final[dict[Cost | None, int]] = {
    Cost.SERIES: 16, Cost.ROUNDS: 16, Cost.NATIVE: 6, Cost.DIVISION: 6,
}  # fmt: skip
LEAST: Final = 12  # additions a byte that take longer than to look it up
WORD: Final = 4  # components that fill one


@record
class OfAByte:
    """The function of a component, of scalar images, and places in a word of those unchanged."""

    function: Function
    kept: frozenset[int] = frozenset()


def of_a_byte(task: Task) -> OfAByte | None:
    """None where a result depends on anything else but uniforms (of several components, those that
    are scalars), or where texels or results are no bytes."""
    function, read = task.function, images_read(task.function)
    if len(task.outputs) != 1 or len(read) != 1:
        return None
    texel, result = task.inputs[next(iter(read))], task.outputs[0]
    if {texel.dtype, result.dtype} != {np.dtype(np.uint8)} or texel.channels != result.channels:
        return None
    ops = list(walk(function.body))
    are_own = all(_is_own(function, op) for op in ops if op.code == "load")
    if not are_own or any(op.code in ("width", "height", "loop") for op in ops):
        return None
    if any(value in (function.x, function.y) for value in _used(function)):
        return None
    if texel.channels == 1:
        return OfAByte(rewrite(function, _inside))
    if function.outputs[0].type.size != result.channels:
        return None
    kept: set[int] = set()
    found: dict[str, Function] = {}
    for place in range(result.channels):
        component = _component(function, place)
        if component is None:
            return None
        (output,) = component.outputs
        if output.op is not None and output.op.code == "load" and texel == result:
            kept.add(place)
        else:
            found[str(component)] = component
    if len(found) != 1 or (kept and result.channels != WORD):
        return None
    (alike,) = found.values()
    return OfAByte(alike, frozenset(kept)) if images_read(alike) else None


def pays(scalar: Function) -> bool:
    """Whether a table is less than the function of each byte."""
    ops = [op for op in walk(scalar.body) if op.code not in ("constant", "load")]
    return sum(PRICE.get(cost_of(op.code), 1) for op in ops) >= LEAST


def _is_own(function: Function, op: Op) -> bool:
    """Whether a load reads the pixel itself, or the nearest where the image ends before."""
    is_here = op.operands == (function.x, function.y) and not (op.data.dx or op.data.dy)
    return is_here and op.data.boundary == "nearest"


def _used(function: Function) -> Iterator[Value]:
    """What anything but loads takes."""
    for op in function.body.ops:
        if op.code != "load":
            yield from used_by(op)
    yield from function.outputs


def _inside(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    """Loads of texels that are there."""
    if op.code != "load":
        return None
    return [rewriter.build.emit("load", *operands, data=replace(op.data, boundary="inside"))]


def _component(function: Function, place: int) -> Function | None:
    """A component of the result as a function of that of images; None where it needs others."""
    images = [ImageInput(image.name, _scalar(image.type)) for image in function.images]
    uniforms = [(value.name, value.type) for value in function.uniforms]
    build = Builder(function.name, images, uniforms)
    # The components of each value: None for one that other components of texels go into.
    parts: dict[Value, list[Value | None]] = {
        old: [new] if old.type.is_scalar else [None] * old.type.size
        for old, new in zip(function.body.params, build.body.params, strict=True)
    }
    for op in function.body.ops:
        for value in op.results:
            parts[value] = [_part(build, op, at, place, parts) for at in range(value.type.size)]
    found = parts[function.outputs[0]][place]
    return None if found is None else remove_dead(build.finish([found]))


def _part(
    build: Builder, op: Op, at: int, place: int, parts: Mapping[Value, Sequence[Value | None]]
) -> Value | None:
    """A component of what an op makes, if it depends on components of texels at a place alone."""
    operands = op.operands
    if op.code == "constant":
        type, number = op.data
        return build.constant(_scalar(type), number[at] if isinstance(number, tuple) else number)
    if op.code == "load":
        data = replace(op.data, type=_scalar(op.data.type), boundary="inside")
        return build.emit("load", build.x, build.y, data=data) if at == place else None
    if op.code == "swizzle":
        taken: tuple[int, ...] = op.data
        return parts[operands[0]][taken[at]]
    if op.code in ("splat", "construct"):
        return parts[operands[at if op.code == "construct" else 0]][0]
    if op.code not in COMPONENTWISE or op.regions:
        return None
    some = [parts[value][0 if value.type.is_scalar else at] for value in operands]
    known = [value for value in some if value is not None]
    return build.emit(op.code, *known, data=op.data) if len(known) == len(some) else None


def _scalar(type: Type) -> Type:
    return vector(type.kind, 1)
