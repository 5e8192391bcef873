"""Which loads are taps: texels of the rows around a pixel, read as whole vectors where a row of the
image, or a copy that goes on behind its ends, has them at a known distance; and which functions
read the pixel's own alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pygpu.ssa import Function, Load, Op, walk

REACH: Final = 64  # loads further along x are taps where many share what is copied at the ends
FAR: Final = 512  # and no further
SHARED: Final = 32  # columns of a row of margins, which cost what a load elsewhere does


def find_taps(function: Function) -> set[Op]:
    """The loads at known distances from the pixel, but those so far along x that the margins of
    blocks, which are copied at the ends of rows, would cost more than the loads elsewhere do."""
    taps: dict[int, list[Op]] = {}
    for op in walk(function.body):
        if op.code == "load" and op.operands == (function.x, function.y):
            taps.setdefault(op.data.image, []).append(op)
    found = set()
    for loads in taps.values():
        near = [op for op in loads if abs(op.data.dx) <= REACH]
        wide = [op for op in loads if abs(op.data.dx) <= FAR]
        columns, rows = [0, *[op.data.dx for op in wide]], {op.data.dy for op in wide}
        margins = (max(columns) - min(columns)) * len(rows)
        found.update(wide if (len(wide) - len(near)) * SHARED >= margins else near)
    return found


def loads_of_block(taps: Iterable[Op], rows: int) -> float:
    """How many vectors of texels are loaded for each of so many rows that are computed together."""
    columns: dict[tuple[int, str, int], set[int]] = {}
    for op in taps:
        data: Load = op.data
        below = range(data.dy, data.dy + rows)
        columns.setdefault((data.image, data.boundary, data.dx), set()).update(below)
    return sum([len(read) for read in columns.values()]) / rows


def is_flat(function: Function, down: bool = False) -> bool:
    """Whether a pixel is computed from the texels at its place alone, wherever that is; `down`: or
    from others of its column."""
    place, ops = {function.x, function.y}, list(walk(function.body))
    for op in ops:
        is_near = op.code == "load" and op.operands == (function.x, function.y)
        if is_near and op.data.dx == 0 and (down or op.data.dy == 0):
            continue
        if op.code in ("load", "width", "height") or not place.isdisjoint(op.operands):
            return False
    regions = [function.body, *(region for op in ops for region in op.regions)]
    return all(place.isdisjoint(region.results) for region in regions)
