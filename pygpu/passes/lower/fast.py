"""Functions that may err by 2**-12 (`precision="fast"`), by what is cheaper on every target.

A power with a known exponent is 2**(y log2 x): what the logarithm errs by is multiplied by y, so
that exponents up to 128 stay far within the promise.

    pow x, 0.4166667  ->  %1 = log2 x; %2 = mul %1, 0.4166667; exp2 %2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Value, constant_of, walk

LARGEST: Final = 128.0


def fastened(function: Function) -> Function:
    """The function with its powers so; itself where there are none."""
    if not any(_is_plain_power(op) for op in walk(function.body)):
        return function
    return rewrite(function, _replaced)


def _is_plain_power(op: Op) -> bool:
    """Whether the exponent is known and no whole number: of those the base may be negative."""
    if op.code != "pow" or op.result.type.kind != "float":
        return False
    exponent = constant_of(op.operands[1])
    return isinstance(exponent, float) and abs(exponent) <= LARGEST and not exponent.is_integer()


def _replaced(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    if not _is_plain_power(op):
        return None
    build = rewriter.build
    base, exponent = operands
    if constant_of(exponent) == 0.5:
        return [build.emit("sqrt", base)]
    return [build.emit("exp2", build.emit("mul", build.emit("log2", base), exponent))]
