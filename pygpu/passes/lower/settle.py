"""Makes constants of a function's uniforms, where how far it looks depends on their values.

load im[x + n, y], n = 5  ->  load im[x + 5, y]         (n is left unused)
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import Constant, Function


def settle(function: Function, values: Sequence[Constant | None]) -> Function:
    """The function for these values of its uniforms, in order. Those of None stay uniforms."""
    rewriter = Rewriter(function)
    for uniform, value in zip(function.uniforms, values, strict=True):
        if value is not None:
            rewriter.new[uniform] = rewriter.build.constant(uniform.type, value)
    return simplify(rewriter.run())
