"""How many numbers a function has at hand at once, in the order of its operations: each needs a
register from where it is made until it is last used.

    pressure(function.body) > 224          # some go to memory and back, whatever the driver does
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pygpu.ssa import Op, Region, Value


def pressure(region: Region) -> int:
    """The most numbers that live at once; constants are none."""
    last: dict[Value, int] = {}
    for place, op in enumerate(region.ops):
        last.update(dict.fromkeys(_used(op), place))
    last.update(dict.fromkeys(region.results, len(region.ops)))
    ending: dict[int, int] = defaultdict(int)  # numbers last used by an operation
    live = most = 0
    for place, op in enumerate(region.ops):
        within = max(map(pressure, op.regions), default=0)
        most = max(most, live + within)
        if op.code != "constant":
            for value in op.results:
                if value in last:
                    live += value.type.size
                    ending[last[value]] += value.type.size
        most = max(most, live)
        live -= ending.pop(place, 0)
    return most


def _used(op: Op) -> Iterator[Value]:
    """The values that an operation uses, those within its regions too."""
    yield from op.operands
    for region in op.regions:
        for inner in region.ops:
            yield from _used(inner)
        yield from region.results
