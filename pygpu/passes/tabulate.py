"""Functions of a byte: a component of the result depends on the same component of the pixel's own
texel alone, and on all in the same way, so that 256 results are all there is to compute. Of four
components some may be handed on as they are, as most functions do with alpha.

    found = of_a_byte(gamma, inputs, outputs)      # None of others
    found.function, found.kept                     # that of a component, and those handed on
    pays(found.function)                           # whether to look results up is less
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pygpu.passes.block import WEIGHTS
from pygpu.passes.vectors import COMPONENTWISE
from pygpu.ssa import (
    Builder,
    Function,
    ImageInput,
    Op,
    Rewriter,
    Value,
    constant_of,
    images_read,
    rewrite,
    walk,
)  # fmt: skip
from pygpu.storage import Format
from pygpu.types import Type, vector

# What GPUs take for an operation, in additions; where there is nothing, 1.
COSTS: Final = dict.fromkeys(WEIGHTS, 16) | dict.fromkeys(("div", "exp", "exp2", "log", "log2"), 6)
LEAST: Final = 12  # additions a byte that take longer than to look it up
WORD: Final = 4  # components that fill one
LONGEST: Final = 200  # operations of a function of several components


@dataclass(frozen=True, slots=True)
class OfAByte:
    """The function of a component, which reads images of scalars, and the places in a word of those
    that stay as they are."""

    function: Function
    kept: frozenset[int] = frozenset()


def of_a_byte(
    function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
) -> OfAByte | None:
    """None where a result depends on anything else but uniforms, or where texels or results are no
    bytes."""
    read = images_read(function)
    if len(outputs) != 1 or len(read) != 1:
        return None
    texel, result = inputs[next(iter(read))], outputs[0]
    if {texel.dtype, result.dtype} != {np.dtype(np.uint8)} or texel.channels != result.channels:
        return None
    ops = list(walk(function.body))
    are_own = all(_is_own(function, op) for op in ops if op.code == "load")
    if not are_own or any(op.code in ("width", "height", "loop") for op in ops):
        return None
    if any(value in (function.x, function.y) for value in _used(function, ops)):
        return None
    if texel.channels == 1:
        return OfAByte(rewrite(function, _inside))
    if len(ops) > LONGEST or function.outputs[0].type.size != result.channels:
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
    return OfAByte(alike, frozenset(kept))


def pays(scalar: Function) -> bool:
    """Whether a table is less than the function of each byte."""
    ops = [op for op in walk(scalar.body) if op.code not in ("constant", "load")]
    return sum(COSTS.get(op.code, 1) for op in ops) >= LEAST


def _is_own(function: Function, op: Op) -> bool:
    """Whether a load reads the pixel itself, or the nearest where the image ends before."""
    is_here = op.operands == (function.x, function.y) and not (op.data.dx or op.data.dy)
    return is_here and op.data.boundary == "nearest"


def _used(function: Function, ops: Sequence[Op]) -> Iterator[Value]:
    """What anything but loads takes."""
    for op in ops:
        if op.code != "load":
            yield from op.operands
        for region in op.regions:
            yield from region.results
    yield from function.outputs


def _inside(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    """Loads of texels that are there."""
    if op.code != "load":
        return None
    return [rewriter.build.emit("load", *operands, data=replace(op.data, boundary="inside"))]


def _component(function: Function, place: int) -> Function | None:
    """A component of the result as a function of images of that component; None where it depends on
    others."""
    images = [ImageInput(image.name, _scalar(image.type)) for image in function.images]
    uniforms = [(value.name, value.type) for value in function.uniforms]
    build = Builder(function.name, images, uniforms)
    made: dict[tuple[Value, int], Value] = {
        (old, 0): new
        for old, new in zip(function.uniforms, build.uniforms, strict=True)
        if old.type.is_scalar
    }

    def component(value: Value, at: int) -> Value:
        if (value, at) not in made:
            made[value, at] = of(value, at)
        return made[value, at]

    def of(value: Value, at: int) -> Value:
        op = value.op
        if op is None or op.regions:
            raise _IsMixed
        if op.code == "constant":
            number = constant_of(value)
            number = number[at] if isinstance(number, tuple) else number
            return build.constant(_scalar(value.type), number)
        if op.code == "load":
            if at != place:
                raise _IsMixed
            data = replace(op.data, type=_scalar(op.data.type), boundary="inside")
            return build.emit("load", build.x, build.y, data=data)
        if op.code == "swizzle":
            return component(op.operands[0], op.data[at])
        if op.code == "splat":
            return component(op.operands[0], 0)
        if op.code == "construct":
            return component(op.operands[at], 0)
        if op.code not in COMPONENTWISE:
            raise _IsMixed
        parts = [component(v, 0 if v.type.is_scalar else at) for v in op.operands]
        return build.emit(op.code, *parts, data=op.data)

    try:
        return build.finish([component(function.outputs[0], place)])
    except _IsMixed:
        return None


class _IsMixed(Exception):
    """A component depends on others, or on what has none."""


def _scalar(type: Type) -> Type:
    return vector(type.kind, 1)


__all__ = ["OfAByte", "of_a_byte", "pays"]
