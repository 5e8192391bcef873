"""The tables of jobs that are given Python's objects (arrays.py), from what calls were given.

listed = listed(taken, None, places, [FLOAT])    # None: Python is to look at such arguments itself
numbers, inner = listed.table(start)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any, Final, NamedTuple

import numpy as np

from pygpu.codegen.jobs import arrays
from pygpu.codegen.jobs.arrays import ARGUMENTS, ITEMS, RESULTS, Pair, Row, item
from pygpu.core.programs import Taken
from pygpu.ssa import Number
from pygpu.types import Type

# How numbers are read that uniforms of a kind are given.
_NUMBERS: Final[dict[tuple[str, Any], int]] = {
    ("float", float): arrays.FLOAT,
    ("float", np.float64): arrays.FLOAT,
    ("float", np.float32): arrays.SINGLE,
    ("float", int): arrays.INT_AS_FLOAT,
    ("int", int): arrays.INT,
}


class Places(NamedTuple):
    """The bytes of a job where the addresses of arrays go, inputs first; which bits of an input's
    must be 0; the byte where the first number goes."""

    arrays: Sequence[int]
    masks: Sequence[int]
    numbers: int


class Listed(NamedTuple):
    """What a table lists. `constants`: numbers that are the same for all calls, of a kind, and the
    byte of the job where each goes. What rows know by address is `held`."""

    rows: Sequence[Row]
    pairs: Sequence[Pair] = ()
    constants: Sequence[tuple[str, int, Number]] = ()
    held: Any = None

    def table(self, start: int) -> tuple[list[int], list[int]]:
        """See arrays.table."""
        return arrays.table(self.rows, self.pairs, start)


def any_arrays(places: Places) -> Listed:
    """Arrays that others have looked at: inputs are the arguments."""
    count = len(places.masks)
    rows = [
        Row(arrays.NEW, ARGUMENTS, item(n), place=place, mask=mask)
        for n, (place, mask) in enumerate(zip(places.arrays, places.masks, strict=False))
    ]
    return Listed([*rows, *_new(places.arrays[count:])])


def listed(
    taken: Sequence[Taken], out: Sequence[Taken] | None, places: Places, uniforms: Sequence[Type]
) -> Listed | None:
    """Arguments like these, in the order of inputs and of uniforms, and arrays for results."""
    count, inputs, number, place = len(places.masks), 0, 0, places.numbers
    rows: list[Row] = []
    constants: list[tuple[str, int, Number]] = []
    for each in taken:
        if each.how == "same":
            rows.append(Row(arrays.SAME, ARGUMENTS, item(each.place), id(each.like)))
        elif each.how == "array":
            if inputs == count:
                return None
            row = _array(each, ARGUMENTS, places.arrays[inputs])
            rows.append(row._replace(mask=places.masks[inputs]))
            inputs += 1
        else:
            if number == len(uniforms):
                return None
            if each.how == "constant":
                constants.append((uniforms[number].kind, place, each.like))
            else:
                found = _number(each, uniforms[number], place)
                if found is None:
                    return None
                rows += found
            place += 8 * uniforms[number].size
            number += 1
    if inputs != count or number != len(uniforms):
        return None
    if out is None:
        return Listed([*rows, *_new(places.arrays[count:])], (), constants, taken)
    for each, at in zip(out, places.arrays[count:], strict=True):
        rows.append(_array(each, RESULTS, at)._replace(flags=arrays.WRITTEN))
    images = [each for each in taken if each.how == "array"]
    sizes = [_extent(*each.like) for each in (*images, *out)]
    if any(size is None for size in sizes):
        return None
    every = [*zip(places.arrays, [size or 0 for size in sizes], strict=True)]
    apart = [*product(every[:count], every[count:]), *combinations(every[count:], 2)]
    pairs = [Pair(one, other, size, size2) for (one, size), (other, size2) in apart]
    return Listed(rows, pairs, constants, (taken, out))


def _new(places: Sequence[int]) -> list[Row]:
    """Results that nobody else knows."""
    return [Row(arrays.NEW, RESULTS, item(n), place=place) for n, place in enumerate(places)]


def _array(taken: Taken, holder: int, place: int) -> Row:
    shape, dtype, strides = taken.like
    kind, source = arrays.ARRAY, item(taken.place)
    both, of_type = (*shape, *strides), id(np.ndarray)
    return Row(kind, holder, source, of_type, place, 0, len(shape), both, id(dtype))


def _number(taken: Taken, uniform: Type, place: int) -> list[Row] | None:
    """A number, or a tuple of as many as a vector has; None where Python is to look at it."""
    source = item(taken.place)
    if not isinstance(taken.like, tuple):
        kind = _NUMBERS.get((uniform.kind, taken.like))
        if kind is None or uniform.size != 1:
            return None
        return [Row(kind, ARGUMENTS, source, id(taken.like), place)]
    if len(taken.like) != uniform.size:
        return None
    rows = [Row(arrays.TUPLE, ARGUMENTS, source, id(tuple), mask=uniform.size)]
    for n, cls in enumerate(taken.like):
        kind = _NUMBERS.get((uniform.kind, cls))
        if kind is None:
            return None
        rows.append(Row(kind, ITEMS, item(n), id(cls), place + 8 * n))
    return rows


def _extent(shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int]) -> int | None:
    """The bytes from an array's first to its last; None where the first is not its address."""
    if min(shape, default=1) < 1 or min(strides, default=0) < 0:
        return None
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(steps) + dtype.itemsize
