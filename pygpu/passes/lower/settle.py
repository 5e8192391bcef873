"""Makes constants of a function's uniforms, where how far it looks depends on their values.

load im[x + n, y], n = 5  ->  load im[x + 5, y]         (n is left unused)
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import Constant, Function


def settle(function: Function, values: Sequence[Constant]) -> Function:
    """The function for these values of its uniforms, in order."""
    rewriter = Rewriter(function)
    for uniform, value in zip(function.uniforms, values, strict=True):
        rewriter.new[uniform] = rewriter.build.constant(uniform.type, value)
    return simplify(rewriter.run())
