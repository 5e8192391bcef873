"""Native code that narrows doubles to floats, as `astype` does: rounded to nearest, ties to even.

`span` narrows elements x0 <= x < x1, and tells of finite ones that are too large for a float. There
are as many elements as a round takes, at least: where fewer are left, the last ones are done again.
"""

from __future__ import annotations

import math
from typing import Final

from pygpu.codegen.elements.folds import AHEAD
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.text import Machine, Val

# Of %args: the doubles, where the floats go, and a byte that is 1 at the end if one was too large.
SOURCE, TARGET, LARGE, SLOTS = range(4)
VECTORS: Final = 4  # of each round


def narrowing_span(machine: Machine) -> str:
    """The IR of `span`."""
    code, lanes = Code(machine), machine.lanes
    x0, x1 = code.ends()
    source, target, large = (code.argument(slot, "ptr") for slot in (SOURCE, TARGET, LARGE))
    together = lanes * VECTORS
    with Loop(code, [x0, code.constant("int", 0, lanes)]) as loop:
        start, found = loop.params
        x = code.maximum(code.minimum(start, x1 - together), 0)
        code.fetch(code.at(source, x * 8), AHEAD, together * 8)
        for k in range(0, together, lanes):
            wide = code.load("double", code.at(source, (x + k) * 8), lanes)
            narrow = code.to_float(wide)
            code.store(narrow, code.at(target, (x + k) * 4), 1)
            found = code.select(_overflows(code, wide, narrow), code.constant("int", 1), found)
        following = start + together
        loop.next(following < x1, [following, found])
    with when(code, code.anywhere(loop.results[1].ne(0))):
        code.store(code.constant("byte", 1), large, 1)
    return code.span()


def _overflows(code: Code, wide: Val, narrow: Val) -> Val:
    """Whether a double is finite, and the float that it became is not."""
    return code.absolute(narrow).eq(math.inf) & (code.absolute(wide) < math.inf)
