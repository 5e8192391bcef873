"""Functions of a byte: a component of the result depends on the same component of the pixel's own
texel alone, and on all in the same way, so that 256 results are all there is to compute.

    scalar = of_a_byte(gamma, inputs, outputs)     # the function of a component; None of others
    pays(scalar)                                   # whether to look results up is less
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pygpu.passes.block import WEIGHTS
from pygpu.passes.vectors import COMPONENTWISE
from pygpu.ssa import Function, ImageInput, Op, Rewriter, Value, images_read, rewrite, walk
from pygpu.storage import Format
from pygpu.types import Type, vector

# What GPUs take for an operation, in additions; where there is nothing, 1.
COSTS: Final = dict.fromkeys(WEIGHTS, 16) | dict.fromkeys(("div", "exp", "exp2", "log", "log2"), 6)
LEAST: Final = 12  # additions a byte that take longer than to look it up


def of_a_byte(
    function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
) -> Function | None:
    """The function of a component, which reads images of scalars. None where a result depends on
    anything else but uniforms, or where texels or results are no bytes."""
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
    if texel.channels > 1:
        is_whole = function.outputs[0].type.size == result.channels
        takes_scalars = all(value.type.is_scalar for value in function.uniforms)
        if not (is_whole and takes_scalars and all(_is_alike(op) for op in ops)):
            return None
        function = _of_component(function)
    return rewrite(function, _inside)


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


def _is_alike(op: Op) -> bool:
    """Whether an op does the same to all components."""
    if op.code == "constant":
        type, number = op.data
        return type.is_scalar or len({repr(each) for each in number}) == 1
    return not op.regions and (op.code in COMPONENTWISE or op.code in ("splat", "load"))


def _inside(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    """Loads of texels that are there."""
    if op.code != "load":
        return None
    return [rewriter.build.emit("load", *operands, data=replace(op.data, boundary="inside"))]


def _of_component(function: Function) -> Function:
    """The same of one component."""

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
        build = rewriter.build
        if op.code == "splat":
            return operands
        if op.code == "constant":
            type, number = op.data
            return [build.constant(_scalar(type), number if type.is_scalar else number[0])]
        data = replace(op.data, type=_scalar(op.data.type)) if op.code == "load" else op.data
        return [build.emit(op.code, *operands, data=data)]

    images = tuple([ImageInput(image.name, _scalar(image.type)) for image in function.images])
    scalar = rewrite(function, rule)
    return Function(scalar.name, images, scalar.tables, scalar.body)


def _scalar(type: Type) -> Type:
    return vector(type.kind, 1)


__all__ = ["of_a_byte", "pays"]
