"""How many numbers a function has at hand at once, in the order of its operations: each needs a
register from where it is made until it is last used.

    pressure(function.body) > 224          # some go to memory and back, whatever the driver does
"""

from __future__ import annotations

from collections import defaultdict

from pygpu.ssa import Region, Value, used_by


def pressure(region: Region) -> int:
    """The most numbers that live at once; constants are none."""
    last: dict[Value, int] = {}
    for place, op in enumerate(region.ops):
        last.update(dict.fromkeys(used_by(op), place))
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
