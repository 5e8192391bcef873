"""Sorting on all cores: short lines by digits of keys, each on one core
(codegen/elements/digits.py), long ones in parts of their ranges, which cores sort one by one
(codegen/elements/sorts.py). Where NumPy sorts by the processor's vectors, and no places are asked
for, lines that are short, or as many as cores, by NumPy.

keys, places = sorted_lines(lines, cores, descending=False, placed=True)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import digits as digit_code
from pygpu.codegen.elements import shares as share_code
from pygpu.codegen.elements import sorts as sort_code
from pygpu.codegen.elements.digits import line_span
from pygpu.codegen.elements.shares import share_span
from pygpu.codegen.elements.sorts import Kept, Kind, Sorting, Step, sort_span
from pygpu.devices.cpu.chunks import Chunks, Cores, Slots, address, run_chunks
from pygpu.devices.cpu.native import native_of
from pygpu.devices.process.reserve import RESERVE

LEAST: Final = {False: 1 << 15, True: 1 << 12}  # elements of a line below which NumPy is as quick
LONGEST: Final = 2**31 - 1
TINY: Final = 1 << 15  # elements, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
WHOLE: Final = 1 << 14  # elements of a part, about: its keys stay in the second cache
MOST_PARTS: Final = 1 << 9  # places to put elements that a core keeps up with
LEAST_KEY: Final = 0x00800000 << 32  # above the places of -inf,
MOST_KEY: Final = 0xFF800000 << 32  # and below those of inf and NaN
TINIEST: Final = 1e-30  # width of a range of floats whose parts are of equal width
SOME: Final = 1 << 8  # elements of a line by which its parts are chosen
LONG: Final = 1 << 20  # elements of lines that all cores sort sooner than NumPy does on one
_WIDE: Final = {"f": np.dtype("float32"), "u": np.dtype("uint32"), "b": np.dtype("uint32")}
_NARROW: Final[dict[str, np.dtype[Any]]] = {
    "uint8": np.dtype("uint16"),
    "int8": np.dtype("int16"),
    "float16": np.dtype("float32"),
}
CHUNK: Final = 1 << 17  # elements of lines that are partitioned one after the other
_KINDS: Final[dict[str, Kind]] = {"f": "float", "u": "uint", "i": "int"}
SAMPLE: Final = 1 << 12  # elements of which NumPy's pace is measured
PACE: Final = 2.3  # times as long as it takes by digits, below which NumPy sorts by vectors;
QUICKER: Final = 1.8  # and below which it is quicker than digits of a line on one core
SHORT: Final = 1 << 18  # elements of lines for all cores that each sorts as soon as all do,
SHORT_ALONE: Final = 1 << 16  # and of lines for some


def sorted_lines(
    lines: NDArray[Any], cores: Cores, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """The elements of each line of a contiguous array (lines, N) in order, NaNs last, and with
    `placed` where they were, equal ones in their order."""
    count = lines.shape[1]
    if not LEAST[placed] <= count <= LONGEST or (lines.dtype.itemsize <= 2 and not placed):
        return _by_numpy(lines, cores.threads, descending, placed)
    is_short = count <= (SHORT if len(lines) >= cores.threads else SHORT_ALONE)
    if is_short and lines.dtype.itemsize == 4 and (placed or not is_quick(lines.dtype, QUICKER)):
        return _line_by_line(lines, cores, descending, placed)
    is_apart = len(lines) >= cores.threads or count < LONG
    if is_apart and not placed and is_quick(lines.dtype):
        return _side_by_side(lines, cores.threads, descending), None
    return _by_parts(lines, cores, descending, placed)


def _line_by_line(
    lines: NDArray[Any], cores: Cores, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Each line sorted on one core."""
    number, count = lines.shape
    given, result = np.ascontiguousarray(lines), RESERVE.empty(lines.shape, lines.dtype)
    places = RESERVE.empty(lines.shape, np.dtype(np.int32)) if placed else None
    length = -(-number // min(number, cores.threads))
    room = digit_code.room(count, placed)
    code = native_of(line_span, _KINDS[lines.dtype.kind], placed, cores.machine)
    slots = {
        digit_code.SOURCE: given,
        digit_code.TARGET: result if places is None else places,
        digit_code.KEYS: RESERVE.empty((-(-number // length), room), np.dtype(np.uint8)),
        digit_code.ROOM: room,
        digit_code.COUNT: count,
        digit_code.FLIP: 2**32 - 1 if descending else 0,
        digit_code.LENGTH: length,
    }
    run_chunks(cores, cores.threads, Chunks(code, number, length), slots, False)
    if places is not None:
        for line, at, to in zip(given, places, result, strict=True):
            np.take(line, at, out=to, mode="clip")  # all are in the line
    return result, places


def _by_parts(
    lines: NDArray[Any], cores: Cores, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """The elements of all lines in order, or with `placed` these and their places."""
    given = np.ascontiguousarray(lines, _WIDE.get(lines.dtype.kind, np.dtype("int32")))
    result = RESERVE.empty(given.shape, given.dtype)
    places = RESERVE.empty(given.shape, np.dtype(np.int32)) if placed else None
    put = {sort_code.TARGET: result, sort_code.PLACES: places}
    _in_parts([*given], cores, descending, "places" if placed else "elements", put)
    return result.astype(lines.dtype, copy=False), places


def _in_parts(
    given: Sequence[NDArray[Any]], cores: Cores, descending: bool, kept: Kept, put: Slots
) -> NDArray[Any]:
    """Sort all lines at once on all cores, by parts of their ranges. The lines have one size and
    stride. The keys, above places if these are kept, in order if they are."""
    number, count = len(given), given[0].size
    size, dtype = number * count, given[0].dtype
    kind = _KINDS[dtype.kind]
    parts = min(1 << (count // WHOLE).bit_length(), MOST_PARTS)
    threads = 1 if size < TINY else cores.threads
    chunks = 1 if threads == 1 else -(-SHARES * threads // number)
    share = -(-count // chunks)
    chunks = -(-count // share)
    group = -(-number * parts // (2 * SHARES * threads))
    rules, is_even = _rules(given, kind, descending, parts)
    table = np.zeros((number, chunks, parts), np.uint32)
    starts = np.zeros(number * parts + 1, np.int64)
    key = np.dtype(np.uint32 if kept == "elements" else np.uint64)
    keys = RESERVE.empty((number, count), key)
    slots = {
        **put,
        sort_code.SOURCES: np.array([address(line) for line in given]),
        sort_code.STRIDE: given[0].strides[0],
        sort_code.KEYS: keys,
        sort_code.RULES: rules,
        sort_code.TABLE: table,
        sort_code.STARTS: starts,
        sort_code.DIGITS: np.empty((-(-number * parts // group), sort_code.COUNTS), np.uint32),
        sort_code.COUNT: count,
        sort_code.SHARE: share,
        sort_code.CHUNKS: chunks,
        sort_code.PARTS: parts,
        sort_code.GROUP: group,
        sort_code.FLIP: 2**32 - 1 if descending else 0,
    }

    def run(step: Step, total: int, length: int) -> None:
        code = native_of(sort_span, Sorting(step, kind, kept, is_even), cores.machine)
        run_chunks(cores, threads, Chunks(code, total, length), slots, size < TINY)

    run("count", number * chunks, 1)
    totals = table.sum(axis=1)
    np.cumsum(totals, out=starts[1:])
    table[:, 1:] = np.cumsum(table[:, :-1], axis=1)
    table[:, 0] = 0
    table += (starts[:-1].reshape(number, 1, parts) - _firsts(number, count)).astype(np.uint32)
    run("move", number * chunks, 1)
    largest = int(totals.max())  # if parts are alike, their keys are moved within a cache
    room = largest * -(-number * parts // group)
    slots[sort_code.ROOM] = largest if room <= size else 0
    slots[sort_code.SPARE] = RESERVE.empty((min(room, size),), key)
    run("order", number * parts, group)
    return keys


def _firsts(number: int, count: int) -> NDArray[np.int64]:
    """Where lines begin."""
    return (np.arange(number) * count)[:, None, None]


def _rules(
    lines: Sequence[NDArray[Any]], kind: Kind, descending: bool, parts: int
) -> tuple[NDArray[np.uint32], bool]:
    """For each line what the parts of elements are found by, told from some of them (see
    codegen/elements/sorts.py); whether they are of equal width as floats. If most floats would
    share parts then, as where few are far larger, widths are of keys, which are finer near 0."""
    some = np.sort([line[:: max(1, line.size // SOME | 1)] for line in lines], axis=1)
    rules = np.empty((len(lines), 2), np.uint32)
    ends = some[:, [-1, 0] if descending else [0, -1]]
    if kind == "float":
        wide = ends.astype(np.float64)
        widths = wide[:, 1] - wide[:, 0] if np.isfinite(wide).all() else np.zeros(1)
        if (np.abs(widths) > TINIEST).all():
            scales = parts / widths
            rules[:, 0] = ends[:, 0].astype(np.float32).view(np.uint32)
            rules[:, 1] = scales.astype(np.float32).view(np.uint32)
            if not _is_crowded(some, wide, scales):
                return rules, True
    keys = _keys(ends, kind, descending).astype(np.int64)
    scales = parts / np.maximum(keys[:, 1] - keys[:, 0], 1)
    rules[:, 0], rules[:, 1] = keys[:, 0], scales.astype(np.float32).view(np.uint32)
    return rules, False


def _is_crowded(some: NDArray[Any], ends: NDArray[Any], scales: NDArray[Any]) -> bool:
    """Whether a quarter of a line's different numbers are in one of its parts."""
    places = np.sort(((some - ends[:, :1]) * scales[:, None]).astype(np.int64), axis=1)
    far = some.shape[1] // 4
    same = places[:, far:] == places[:, :-far]
    return bool((same & (some[:, far:] != some[:, :-far])).any())


def _keys(values: NDArray[Any], kind: Kind, descending: bool) -> NDArray[np.uint32]:
    """Keys as native code makes them, but for NaN."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    if kind != "uint":
        sign = (bits.view(np.int32) >> 31).view(np.uint32) if kind == "float" else np.uint32(0)
        bits = bits ^ (sign | np.uint32(1 << 31))
    return ~bits if descending else bits


def _turned(keys: NDArray[Any]) -> NDArray[Any]:
    """Sorted numbers the other way round, NaNs last."""
    known = int(np.searchsorted(keys, np.nan)) if keys.dtype.kind == "f" else keys.size
    return np.concatenate([keys[:known][::-1], keys[known:]])


def _side_by_side(lines: NDArray[Any], threads: int, descending: bool) -> NDArray[Any]:
    """Each line sorted by NumPy on one core."""
    found = lines.copy()
    share = -(-len(lines) // threads)
    parts = [found[first : first + share] for first in range(0, len(lines), share)]
    with ThreadPoolExecutor(threads) as pool:  # which starts no thread that it is not asked for
        others = [pool.submit(part.sort, axis=1) for part in parts[1:]]
        parts[0].sort(axis=1)
        for other in others:
            other.result()
    return np.stack([*map(_turned, found)]) if descending else found


def _by_numpy(
    lines: NDArray[Any], threads: int, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Sort lines by NumPy, and find places: short lines, and narrow numbers, which NumPy counts."""
    is_float = lines.dtype.kind == "f"
    if not descending and not placed:  # NumPy counts bytes only where it is asked to be stable
        kind: Any = "stable" if lines.dtype.itemsize == 1 else None
        return np.sort(lines, axis=1, kind=kind), None
    if lines.size and (is_float or lines.dtype.itemsize == 4):
        return _with_places(lines, threads, descending)
    ranks = -lines.astype(np.int64) if descending else lines
    places = np.argsort(ranks, axis=1, kind="stable")
    return np.take_along_axis(lines, places, 1), places.astype(np.int32)


def _with_places(
    lines: NDArray[Any], threads: int, descending: bool
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Lines in order and their places. NumPy's stable argsort compares elements through their
    places; a number and its place in one int64 are sorted by vectors, and no two are equal."""
    keys, places = np.empty_like(lines), np.empty(lines.shape, np.int32)
    used = 1 if lines.size < TINY else threads
    length = max(1, min(CHUNK // lines.shape[1], -(-len(lines) // used)))

    def put(first: int) -> None:
        own = lines[first : first + length]
        pairs = _ordered_ints(own, descending).astype(np.int64) << 32
        pairs |= np.arange(own.shape[1])
        pairs.sort(axis=1)
        pairs &= LONGEST
        places[first : first + length] = pairs
        keys[first : first + length] = np.take_along_axis(own, pairs, 1)

    if used == 1:
        put(0)
        return keys, places
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(put, range(0, len(lines), length)))
    return keys, places


def _ordered_ints(values: NDArray[Any], descending: bool) -> NDArray[np.int32]:
    """Numbers of at most 32 bits as ints of the same order, both zeros the same, NaNs last."""
    if values.dtype.kind != "f":
        low = np.uint32(1 << 31) if values.dtype.kind == "u" else np.uint32(0)
        ints: NDArray[np.int32] = (values.view(np.uint32) ^ low).view(np.int32)
        return ~ints if descending else ints
    wide = values.astype(np.float32) + np.float32(0)  # -0 + 0 is 0
    ints = wide.view(np.int32)
    ints = ints ^ ((ints >> 31) & np.int32(LONGEST))  # negative ones rise as their bits fall
    ordered: NDArray[np.int32] = ~ints if descending else ints
    ordered[np.isnan(wide)] = LONGEST
    return ordered


def alike(
    texels: NDArray[np.float32], others: NDArray[np.float32], cores: Cores
) -> NDArray[np.float32] | None:
    """See core.device.Device.alike."""
    result = RESERVE.empty(texels.shape, np.dtype(np.float32))
    for channel in range(texels.shape[2]):
        pair = [each.reshape(-1, each.shape[2])[:, channel] for each in (texels, others)]
        groups = [pair] if pair[0].size == pair[1].size else [[each] for each in pair]
        own, rest = (
            keys for group in groups for keys in _in_parts(group, cores, False, "keys", {})
        )
        if not all(keys[0] > LEAST_KEY and keys[-1] < MOST_KEY for keys in (own, rest)):
            return None
        slots = {
            share_code.ELEMENTS: own,
            share_code.OTHERS: rest,
            share_code.TARGET: result[..., channel],
            share_code.STRIDE: result.strides[1],
            share_code.COUNT: own.size,
            share_code.COUNT_OTHERS: rest.size,
        }
        threads = 1 if own.size < TINY else cores.threads
        length = -(-own.size // (SHARES * threads))
        code = native_of(share_span, cores.machine)
        run_chunks(cores, threads, Chunks(code, own.size, length), slots, threads == 1)
    return result


def ranked(lines: NDArray[Any], places: NDArray[np.intp], threads: int) -> NDArray[Any]:
    """See core.device.Device.ranked. NumPy partitions chunks of lines, each in a core's cache."""
    kept: np.dtype[Any] = _NARROW.get(
        lines.dtype.name, lines.dtype
    )  # which NumPy partitions by vectors

    def rank(first: int) -> NDArray[Any]:
        own: NDArray[Any] = lines[first : first + length].astype(kept, order="C")
        if places.ndim == 1:
            return _partitioned(own, places)
        own.sort(axis=1)
        return np.take_along_axis(own, places[first : first + length], 1)

    length = max(1, min(CHUNK // lines.shape[1], -(-len(lines) // threads)))
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(rank, range(0, len(lines), length)))
    return np.concatenate(parts).astype(lines.dtype, copy=False)


def _partitioned(lines: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """What stands at places of each line, which is changed; NaN of one that has one. From the last
    place on, each by itself: NumPy is slow with several at once."""
    is_nan = np.isnan(lines).any(axis=1) if lines.dtype.kind == "f" else None
    found = np.empty((len(lines), len(places)), lines.dtype)
    end, first = lines.shape[1], places.min()
    for place in np.unique(places)[::-1].tolist():  # among the numbers before `end`
        if place == end - 1 and place == first:
            values = lines[:, :end].max(axis=1)
        else:
            lines[:, :end].partition(place, axis=1)
            values = lines[:, place]
        found[:, places == place] = values[:, None]
        end = place
    if is_nan is not None:
        found[is_nan] = np.nan
    return found


# ---------------------------------------------------------------- by runs


def is_quick(dtype: np.dtype[Any], pace: float = PACE) -> bool:
    """Whether NumPy sorts such numbers by vectors, faster than they are sorted by digits."""
    return dtype.itemsize == 4 and dtype.kind in _KINDS and _pace() < pace


@lru_cache(maxsize=1)
def _pace() -> float:
    """How many times as long as its sort by digits NumPy's sort takes for an element: other work
    makes both slower. A processor's features do not tell: where vectors are packed into memory
    slowly (AMD's Zen 4), AVX-512 makes it slower than digits are."""
    shuffled = np.arange(SAMPLE, dtype=np.uint32) * np.uint32(2654435761)  # Knuth's hash
    halves = (shuffled >> 16).astype(np.uint16)
    times: list[tuple[float, float]] = []
    for _ in range(7):
        started = time.perf_counter()
        np.sort(shuffled)
        between = time.perf_counter()
        np.sort(halves, kind="stable")
        times.append((between - started, time.perf_counter() - between))
    return min(vectors for vectors, _ in times) / min(digits for _, digits in times)
