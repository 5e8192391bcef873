"""Sorting by merges, on any device: each pass merges pairs of sorted runs into runs twice as long.

An element of a merged run finds by bisection how many of those before it are of the first run, and
so where it comes from. Of equal ones those of the first run come first: the order is stable.

    keys, places = merged(keys, lines, descending=False, target="fragment")
"""

from __future__ import annotations

from typing import Any

from pygpu.core.storage import ImageLike
from pygpu.execution.arrays.lines import Lines, element, place
from pygpu.execution.arrays.passes import COUNT, IMAGES, made


def merged(
    keys: ImageLike, lines: Lines, descending: bool, target: str
) -> tuple[ImageLike, ImageLike]:
    """The keys, of one channel and as they are stored, in order along lines, and the places on
    their lines where they were. NaNs are last."""
    start = made(_places, {"layout": "known", "keys": IMAGES}, target)
    (places,) = start(lines.shape, ["int32"], layout=lines.layout, keys=(keys,))
    roles = {"how": "known", "state": IMAGES, "width": COUNT, "count": COUNT}
    merge = made(_merge, roles, target)
    how = lines.layout, descending
    dtypes = [keys.format.dtype, "int32"]
    state: tuple[ImageLike, ...] = (keys, places)
    width = 1
    while width < lines.count:
        state = merge(lines.shape, dtypes, how=how, state=state, width=width, count=lines.count)
        width *= 2
    return state[0], state[1]


def _places(layout: Any, keys: Any, p: Any) -> Any:
    """The place of an element on its line."""
    _, i = element(layout, p)
    return i


def _merge(how: Any, state: Any, width: Any, count: Any, p: Any) -> Any:
    """The element of the merged run at a position: its key, and the place where it was."""
    layout, descending = how
    keys, places = state
    line, i = element(layout, p)
    start = i // width // 2 * 2 * width
    middle = min(start + width, count)
    stop = min(width, count - middle)  # elements of the second run
    rank = i - start
    least, most = max(0, rank - stop), min(rank, middle - start)
    while least < most:  # how many of the first run come before this element
        half = (least + most) // 2
        first = keys(place(layout, line, start + half))
        second = keys(place(layout, line, middle + rank - half - 1))
        if precedes(second, first, descending):
            most = half
        else:
            least = half + 1
    one, other = start + least, middle + rank - least
    is_first = one < middle
    if is_first and rank - least < stop:
        first, second = keys(place(layout, line, one)), keys(place(layout, line, other))
        is_first = not precedes(second, first, descending)
    source = place(layout, line, one if is_first else other)
    return keys(source), places(source)


def precedes(a: Any, b: Any, descending: Any) -> Any:
    """Whether a key must stand before another, NaN behind all. For compiled functions."""
    if isinstance(a, float):
        return (a > b if descending else a < b) or (b != b and a == a)
    return a > b if descending else a < b
