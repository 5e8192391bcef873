"""Writes loops of known rounds out, one round after the other.

total = loop of 15 rounds: total + v(x - 7, y + k - 7)   ->   0.0 + v(x - 7, y - 7) + ...

written_out(function)      # None where rounds are not known, or more than MOST operations
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.passes.analysis.counters import counters
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate
from pygpu.ssa import Function, Op, Value, constant_of, within

MOST: Final = 8192


class _Unknown(Exception):
    """Whether a loop goes on is not known, or it goes on for too long."""


def written_out(function: Function) -> Function | None:
    """The function without its loops, of which none stands in a branch."""
    if not all(_is_short(op) for op in function.body.ops if op.regions):
        return None
    try:
        return remove_dead(Gate(function, {"loop": _rounds}).run())
    except _Unknown:
        return None


def _is_short(loop: Op) -> bool:
    """Whether it has few rounds, and reads only texels around the place of its counters."""
    if loop.code != "loop" or _reads_others(loop):
        return False
    held = [len(each.held) for each in counters(loop) if each.held is not None]
    return bool(held) and min(held) * sum(1 for _ in within(loop)) <= MOST


def _reads_others(loop: Op) -> bool:
    """Whether it reads what was computed for the pixel before, but to begin with."""
    ops = list(within(loop))
    made = {value for op in ops for value in op.results} | set(loop.operands)
    made.update(value for op in ops for region in op.regions for value in region.params)
    read = {value for op in ops for value in op.operands} - made
    return any(value.op is not None and value.op.code != "constant" for value in read)


def _rounds(gate: Gate, loop: Op, carried: Sequence[Value]) -> Sequence[Value]:
    (body,) = loop.regions
    while True:
        gate.new.update(zip(body.params, carried, strict=True))
        gate.inline(body)
        go, *carried = gate.mapped(body.results)
        goes_on = constant_of(go)
        if goes_on is None or len(gate.ops) > MOST:
            raise _Unknown
        if not goes_on:
            return carried
