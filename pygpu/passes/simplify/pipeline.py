"""What every function goes through: passes, each a function from functions to functions.

simplify(translated)                     # CLEAN, then RESTRUCTURE and CLEAN until nothing changes
apply((convert_all, *CLEAN), function)   # passes of one's own choice, checked as these are
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pygpu.core.host import settings
from pygpu.core.host.later import later
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.hoist import hoist
from pygpu.passes.simplify.if_conversion import convert_ifs
from pygpu.passes.simplify.local import simplify_locally
from pygpu.passes.simplify.loops import settle_loops
from pygpu.passes.simplify.negation import move_negations
from pygpu.passes.simplify.sides import merge_sides
from pygpu.passes.simplify.vectors import drop_components
from pygpu.ssa import Function, has

with later():
    from pygpu.core import verify
    from pygpu.passes.simplify import nesting

Pass = Callable[[Function], Function]

CLEAN: Final[tuple[Pass, ...]] = (simplify_locally, remove_dead)
RESTRUCTURE: Final[tuple[Pass, ...]] = (
    drop_components,
    settle_loops,
    hoist,
    merge_sides,
    move_negations,
    convert_ifs,
)
ROUNDS: Final = 4  # what a restructured function gives way to ends long before in practice


def simplify(function: Function) -> Function:
    """The function as devices take it: nothing known left to compute, nothing computed twice,
    nothing unused. PYGPU_VERIFY=1 checks it after every pass."""
    bounds = (nesting.bound_nesting,) if has(function, "if") else ()
    return settle(apply((*bounds, *CLEAN), function))


def settle(function: Function) -> Function:
    """Simplify a function that has been through the gate of the local rules."""
    for _ in range(ROUNDS):
        changed = apply(RESTRUCTURE, function)
        if changed is function:
            break
        function = apply(CLEAN, changed)
    return function


def apply(passes: Sequence[Pass], function: Function) -> Function:
    """The function after the passes, in order."""
    check = settings.flag("PYGPU_VERIFY")
    for each in passes:
        changed = each(function)
        if check and changed is not function:
            verify.verify(changed)
        function = changed
    return function
