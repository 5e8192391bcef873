"""What operations cost, for those who decide whether to do them again."""

from __future__ import annotations

from typing import Final

from pygpu.core.operations.ops import Cost, cost_of
from pygpu.ssa import Op, Region

# What an operation costs, in sums of floats.
PRICE: Final = {
    Cost.FREE: 0, Cost.GIVEN: 0, Cost.MEMORY: 1, Cost.ONE: 1, Cost.FEW: 3, Cost.DIVISION: 4,
    Cost.NATIVE: 10, Cost.ROUNDS: 8, Cost.SERIES: 30,
}  # fmt: skip
ROUNDS: Final = 8  # that a loop is taken to make


def price(region: Region) -> int:
    """What a region costs besides its loads, in sums of floats."""
    return sum([price_of(op) for op in region.ops])


def price_of(op: Op) -> int:
    """What an operation costs, with the regions in it."""
    if op.regions:
        return sum(map(price, op.regions)) * (ROUNDS if op.code == "loop" else 1)
    if op.code in ("constant", "load"):
        return 0
    cost = cost_of(op.code)
    return (1 if cost is None else PRICE.get(cost, 1)) * op.result.type.size
