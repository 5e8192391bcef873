"""Turns small `if`s into selects: computing both sides costs less than a branch.

Sides with loads, loops or expensive functions stay: a branch may skip them. So do branches on what
ends a loop, which become its `break`s; `convert_all` is for targets that have none,
and drivers whose loops end at their heads alone.

    if %0 { %1 = neg x; yield %1 } else { yield x }  ->  %1 = neg x; select %0, %1, x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.analysis.variance import variance
from pygpu.ssa import Function, Op, Region, Value, has, walk

# What a component of an operation's result costs, in additions. An `if` with any other operation in
# it stays a branch.
PRICE: Final[dict[Cost | None, int]] = {Cost.FREE: 0, Cost.ONE: 1, Cost.FEW: 4, Cost.DIVISION: 4}
LIMIT: Final = 16  # for both sides and the selects together


@record
class _Prices:
    """What is small: prices by cost, and the most for an `if`."""

    prices: Mapping[Cost | None, int]
    limit: int
    near: int | None = None  # the price of a texel so near the pixel that neighbours share its load

    def of(self, op: Op, place: tuple[Value, ...]) -> int | None:
        """The price of a component, in a function of pixels at this place; None: it stays."""
        price = self.prices.get(cost_of(op.code))
        if price is None and op.code == "load" and op.operands == place:
            return self.near
        return price


SMALL: Final = _Prices(PRICE, LIMIT)
# For functions of bytes, where a load of many bytes at once costs no more than other operations do.
OF_BYTES: Final = _Prices({**PRICE, Cost.MEMORY: 1}, 4 * LIMIT)

# Where many pixels are computed at once, which share their loads: a branch that all of them agree
# about costs little, any other takes them apart.
_SHARED: Final = {**PRICE, Cost.GIVEN: 0}
OF_ALL: Final = _Prices(_SHARED, LIMIT, near=1)
OF_SOME: Final = _Prices(_SHARED, 4 * LIMIT, near=1)

# For functions that are computed for few values, as tables are: sides may cost whatever they do.
# They may hold no loop, which need not end for values with which the branch is not taken.
OF_FEW: Final = _Prices(dict.fromkeys((*Cost, None), 0), LIMIT)


def convert_ifs(function: Function) -> Function:
    """The function with small `if`s as selects, but for those that end loops; itself without."""
    exits: set[Value] = set()
    for op in walk(function.body):
        if op.code == "loop":
            _find_exits(op.regions[0].results[0], exits)
    return _converted(function, exits, SMALL)


def convert_all(function: Function) -> Function:
    """The function with all its small `if`s as selects; itself where there are none."""
    return _converted(function, set(), SMALL)


def convert_near(function: Function) -> Function:
    """The function with its `if`s as selects, those with a few loads near the pixel too, and with
    some more where pixels may disagree; itself where there are none."""
    function = _converted(function, set(), OF_ALL)
    bits = variance(function)
    ifs = [op for op in walk(function.body) if op.code == "if"]
    agreed = {op.operands[0] for op in ifs if not bits[op.operands[0]]}
    return _converted(function, agreed, OF_SOME)


def convert_loading(function: Function) -> Function:
    """A function of bytes with small `if`s as selects, with loads too; itself without."""
    return _converted(function, set(), OF_BYTES)


def convert_any(function: Function) -> Function:
    """A function without loops with its `if`s as selects, those that cost much too; itself where
    there are none, or loops."""
    return function if has(function, "loop") else _converted(function, set(), OF_FEW)


def _find_exits(decides: Value, found: set[Value]) -> None:
    """The conditions that a bool depends on, through branches and logic."""
    op = decides.op
    if op is None:
        found.add(decides)
    elif op.code in ("not", "bit_and", "bit_or"):
        for operand in op.operands:
            _find_exits(operand, found)
    elif op.code == "if":
        found.add(op.operands[0])
        index = op.results.index(decides)
        for region in op.regions:
            _find_exits(region.results[index], found)
    else:
        found.add(decides)


def _converted(function: Function, kept: set[Value], small: _Prices) -> Function:
    ifs = [op for op in walk(function.body) if op.code == "if" and op.operands[0] not in kept]
    place = function.x, function.y
    if not any(_is_small(op.regions, small, place) for op in ifs):
        return function
    return rewrite(function, lambda *what: _convert(kept, small, *what))


def _convert(
    kept: set[Value], small: _Prices, rewriter: Rewriter, op: Op, operands: tuple[Value, ...]
) -> Sequence[Value] | None:
    if op.code != "if" or op.operands[0] in kept:
        return None
    regions = tuple([rewriter.copy_region(region) for region in op.regions])
    build = rewriter.build
    if not _is_small(regions, small, build.body.params[:2]):
        return build.again(op, operands, regions)
    build.place = op.place
    for region in regions:
        build.region.ops += region.ops
    pairs = zip(*[region.results for region in regions], strict=True)
    return [build.emit("select", operands[0], first, second) for first, second in pairs]


def _is_small(regions: Sequence[Region], small: _Prices, place: tuple[Value, ...]) -> bool:
    if not any(region.ops for region in regions):
        return True
    cost = sum(value.type.size for value in regions[0].results)
    for region in regions:
        for op in region.ops:
            price = small.of(op, place)
            if price is None:
                return False
            cost += price * op.result.type.size
    return cost <= small.limit
