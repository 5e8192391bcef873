"""Native code that folds the texels of an image as they are stored: their sum, least or greatest.

`span` folds the elements x0 <= x < x1 of memory, a whole number of steps, in as many accumulators
as a step has elements, and stores what is `left` of these for the tile that begins at x0; who calls
it folds what tiles leave. Floats are summed in float64, ints exactly. Interleaved channels stay
apart: in steps of three vectors three of them, in steps of four 1, 2 or 4.

    accumulated(np.dtype("uint8"), "sum")      # int32: a tile is too short to overflow it

`scan_span` makes running folds of the elements of a chunk, and puts before them the fold of all
chunks before; its other kernel makes the folds of chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

import numpy as np

from pygpu.codegen.llvm.body import READ
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop
from pygpu.codegen.llvm.text import BITS, Machine, Val
from pygpu.core.host.records import record
from pygpu.core.programs import How

TILE: Final = 1 << 16  # elements at most, about: a step adds one in 64 to each accumulator
AHEAD: Final = 4096  # bytes fetched before they are folded
DATA, PARTIAL, LENGTH, SLOTS = range(4)  # of %args: memory, what tiles leave, elements of a tile

# How elements of a type are loaded, and made ints.
_STORED: Final = {
    "float32": ("float", ""),
    "int32": ("int", ""),
    "uint16": ("short", "zext"),
    "int16": ("short", "sext"),
    "uint8": ("byte", "zext"),
    "int8": ("byte", "sext"),
    "bool": ("byte", "zext"),
}
KINDS: Final = {"float": "float32", "int": "int32", "double": "float64", "long": "int64"}


@record
class Folding:
    """What is folded, how, and in how many vectors at once."""

    dtype: np.dtype[np.generic]
    how: How
    vectors: int


def can_fold(dtype: np.dtype[np.generic], how: How) -> bool:
    """Whether there is code for a type; extremes of narrow ones NumPy finds in their own width."""
    return dtype.name in _STORED and (how == "sum" or dtype.itemsize == 4)


def accumulated(dtype: np.dtype[np.generic], how: How) -> np.dtype[np.generic]:
    """The type of the accumulators."""
    return np.dtype(KINDS[_kind(dtype, how)])


def _kind(dtype: np.dtype[np.generic], how: How) -> str:
    is_float = dtype.kind == "f"
    if how != "sum":
        return "float" if is_float else "int"
    if is_float:
        return "double"
    return "long" if dtype.itemsize == 4 else "int"


def left(folding: Folding, machine: Machine) -> int:
    """How many values a tile leaves: of four vectors, whose channels share lanes, those of one."""
    return machine.lanes * (folding.vectors if folding.vectors == 3 else 1)


def fold_span(folding: Folding, machine: Machine) -> str:
    """The IR of `span`, which the native loop (codegen/jobs/driver.py) calls for tiles."""
    code, lanes, vectors = Code(machine), machine.lanes, folding.vectors
    args = Val(code, "ptr", 1, "%args", 0)
    x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
    data, partial = (code.load("ptr", code.at(args, 8 * k), 1, 8) for k in (DATA, PARTIAL))
    kind = _kind(folding.dtype, folding.how)
    start = code.constant(kind, _START[folding.how](kind), lanes)
    holes = _Holes(code, folding)
    with Loop(code, [x0, *[start] * vectors, *holes.start]) as loop:
        x, totals, holed = loop.params[0], loop.params[1 : vectors + 1], loop.params[vectors + 1 :]
        stored = folding.dtype.itemsize
        here = code.at(data, code.cast("sext", x, "long") * stored)
        code.fetch(here, AHEAD, vectors * lanes * stored)
        values = [
            element(code, data, x + index * lanes, folding.dtype, kind) for index in range(vectors)
        ]
        join = _ROUNDS[folding.how]
        after = [join(code, *pair) for pair in zip(totals, values, strict=True)]
        following = x + vectors * lanes
        loop.next(following < x1, [following, *after, *holes.seen(holed, values)])
    totals = holes.put_back(loop.results[vectors + 1 :], loop.results[1 : vectors + 1])
    while len(totals) > 1 and vectors != 3:
        half = len(totals) // 2
        pairs = zip(totals[:half], totals[half:], strict=True)
        totals = [_JOIN[folding.how](code, *pair) for pair in pairs]
    length = code.load("int", code.at(args, 8 * LENGTH), 1, 8)
    size = accumulated(folding.dtype, folding.how).itemsize * lanes
    tile = code.cast("sext", code.binary("sdiv", x0, length), "long")
    place = code.at(partial, tile * (size * len(totals)))
    for index, total in enumerate(totals):
        code.store(total, code.at(place, index * size))
    return code.span(READ, READ)


class _Holes:
    """Which lanes of extremes of floats have met a NaN, which is an extreme before all others. One
    comparison finds it in two vectors whose lanes are of equal channels."""

    def __init__(self, code: Code, folding: Folding) -> None:
        self.code, self.vectors = code, folding.vectors
        self.apart = folding.vectors == 3
        # Masks are registers of their own where vectors are widest, else vectors of ints.
        self.kind = "bool" if code.machine.lanes == 16 else "int"
        is_asked = folding.how != "sum" and folding.dtype.kind == "f"
        count = (folding.vectors if self.apart else 1) if is_asked else 0
        self.start = [code.constant(self.kind, 0, code.machine.lanes)] * count

    def seen(self, holed: Sequence[Val], values: Sequence[Val]) -> list[Val]:
        """The marks after these values."""
        if self.apart:
            return [
                self.marked(old, v, v) for old, v in zip(holed, values[: len(holed)], strict=True)
            ]
        return [
            reduce(lambda old, k: self.marked(old, *values[k : k + 2]), range(0, 4, 2), old)
            for old in holed
        ]

    def marked(self, old: Val, first: Val, second: Val) -> Val:
        code = self.code
        either = code.make(
            "bool", f"fcmp uno {first.type} {first.text}, {second.text}", first, second
        )
        return old | (either if self.kind == "bool" else code.cast("sext", either, "int"))

    def put_back(self, holed: Sequence[Val], totals: Sequence[Val]) -> list[Val]:
        """The folds, NaN where one was met."""
        if not holed:
            return list(totals)
        code = self.code
        masks = [each if self.kind == "bool" else each.ne(0) for each in holed]
        nan = code.constant("float", math.nan, code.machine.lanes)
        marked = zip(masks * (1 if self.apart else self.vectors), totals, strict=True)
        return [code.select(mask, nan, total) for mask, total in marked]


def element(code: Code, data: Val, x: Val, dtype: np.dtype[np.generic], kind: str) -> Val:
    """A vector of elements from x on, of the accumulators' kind."""
    stored, widen = _STORED[dtype.name]
    place = code.at(data, code.cast("sext", x, "long") * dtype.itemsize)
    value = code.load(stored, place, code.machine.lanes, 1)
    if widen:
        value = code.cast(widen, value, "int")
    return code.cast("fpext" if kind == "double" else "sext", value, kind)


def less(code: Code, total: Val, value: Val) -> Val:
    return code.select((value < total) | value.ne(value), value, total)  # a NaN stays


def greater(code: Code, total: Val, value: Val) -> Val:
    return code.select((value > total) | value.ne(value), value, total)


def _least(code: Code, total: Val, value: Val) -> Val:
    return code.select(value < total, value, total)  # one instruction; NaNs are asked for apart


def _greatest(code: Code, total: Val, value: Val) -> Val:
    return code.select(value > total, value, total)


_ROUNDS: Final[dict[str, Callable[[Code, Val, Val], Val]]] = {
    "sum": lambda code, total, value: total + value,
    "min": _least,
    "max": _greatest,
}
_JOIN: Final[dict[str, Callable[[Code, Val, Val], Val]]] = {
    "sum": lambda code, total, value: total + value,
    "min": less,
    "max": greater,
}
_START: Final[dict[str, Callable[[str], float]]] = {
    "sum": lambda kind: 0,
    "min": lambda kind: math.inf if kind == "float" else 2**31 - 1,
    "max": lambda kind: -math.inf if kind == "float" else -(2**31),
}


# ---------------------------------------------------------------- running folds

SCANNED, RESULT, CARRIES, CHUNK, PITCH = range(5)  # of %args; elements of a chunk, and to the next


@record
class Scanning:
    """A kernel of scans: of floats or ints, by "add", "multiply", "maximum" or "minimum".
    `is_total`: the folds of chunks, as CARRIES; else the scan, after the carries of chunks. From
    vector to vector floats are folded in 64 bits, and carries have as many."""

    kind: str
    how: str
    is_total: bool


def scan_span(scanning: Scanning, machine: Machine) -> str:
    """The IR of `span` for whole vectors of elements of four bytes."""
    code, lanes = Code(machine), machine.lanes
    x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
    source, target, carries = (code.argument(k, "ptr") for k in (SCANNED, RESULT, CARRIES))
    length, pitch = code.argument(CHUNK, "int"), code.argument(PITCH, "int")
    chunk = code.cast("sext", code.binary("sdiv", x0, length), "long")
    apart = chunk * code.cast("sext", pitch - length, "long")
    join, kind = SCANS[scanning.how], scanning.kind
    wide = "double" if kind == "float" else kind
    carry = code.at(carries, chunk * (BITS[wide] // 8))
    if scanning.is_total:
        start = code.constant(wide, _NEUTRAL[scanning.how](wide), lanes)
    else:
        neutral = code.constant(kind, _NEUTRAL[scanning.how](kind), lanes)
        start = code.load(wide, carry, 1, 4)
    with Loop(code, [x0, start]) as loop:
        x, total = loop.params
        place = (code.cast("sext", x, "long") + apart) * 4
        code.fetch(code.at(source, place), AHEAD, lanes * 4)
        value = code.load(kind, code.at(source, place), lanes, 4)
        if not scanning.is_total:
            value = _prefixes(code, join, value, neutral)
            before = code.splat(code.cast("fptrunc", total, kind), lanes)
            code.store(join(code, before, value), code.at(target, place), 4)
            value = code.lane(value, lanes - 1)
        after = join(code, total, code.cast("fpext", value, wide))
        loop.next(x + lanes < x1, [x + lanes, after])
    if scanning.is_total:
        total = loop.results[1]
        step = lanes // 2
        while step:
            other = code.shuffle(total, None, [(i + step) % lanes for i in range(lanes)])
            total = join(code, total, other)
            step //= 2
        code.store(code.lane(total, 0), carry, 4)
    return code.span()


def _prefixes(code: Code, join: Callable[[Code, Val, Val], Val], value: Val, neutral: Val) -> Val:
    """The fold of each lane with all before it."""
    step = 1
    while step < value.lanes:
        indices = [i - step if i >= step else value.lanes + i for i in range(value.lanes)]
        value = join(code, code.shuffle(value, neutral, indices), value)
        step *= 2
    return value


SCANS: Final[dict[str, Callable[[Code, Val, Val], Val]]] = {
    "add": lambda code, total, value: total + value,
    "multiply": lambda code, total, value: total * value,
    "maximum": greater,
    "minimum": less,
}
_NEUTRAL: Final[dict[str, Callable[[str], float]]] = {
    "add": lambda kind: 0,
    "multiply": lambda kind: 1,
    "maximum": lambda kind: -(2**31) if kind == "int" else -math.inf,
    "minimum": lambda kind: 2**31 - 1 if kind == "int" else math.inf,
}
