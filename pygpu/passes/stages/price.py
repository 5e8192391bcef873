"""What operations cost, for those who decide whether to do them again."""

from __future__ import annotations

import math
from typing import Final

from pygpu.core.host.later import later
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.ssa import Op, Region

with later():
    from pygpu.passes.analysis import counters

# What an operation costs, in sums of floats.
PRICE: Final = {
    Cost.FREE: 0, Cost.GIVEN: 0, Cost.MEMORY: 1, Cost.ONE: 1, Cost.FEW: 3, Cost.DIVISION: 4,
    Cost.NATIVE: 10, Cost.ROUNDS: 8, Cost.SERIES: 30,
}  # fmt: skip
ROUNDS: Final = 8  # that a loop is taken to make, of which it is not known


def price(region: Region) -> int:
    """What a region costs besides its loads, in sums of floats."""
    return sum(map(price_of, region.ops))


def price_of(op: Op) -> int:
    """What an operation costs, with the regions in it."""
    if op.regions:
        return sum(map(price, op.regions)) * _rounds(op)
    if op.code in ("constant", "load"):
        return 0
    cost = cost_of(op.code)
    return (1 if cost is None else PRICE.get(cost, 1)) * op.result.type.size


def numbers_read(region: Region) -> int:
    """How many numbers are loaded from images in a region, and in those within it."""
    read = sum([op.result.type.size for op in region.ops if op.code == "load"])
    inner = [sum(map(numbers_read, op.regions)) * _rounds(op) for op in region.ops if op.regions]
    return read + sum(inner)


def _rounds(op: Op) -> int:
    """How often the regions of an operation run, at most."""
    if op.code != "loop":
        return 1
    most = counters.most_rounds(op)
    return ROUNDS if most == math.inf else int(most)
