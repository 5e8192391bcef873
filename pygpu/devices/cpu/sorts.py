"""Sorting on all cores: by digits of keys, several lines or a short one each on one core
(codegen/elements/digits.py), a long one on all (codegen/elements/sorts.py). Where NumPy sorts by
the processor's vectors, and no places are asked for, by NumPy: each core sorts a run, and runs are
merged by native code (codegen/elements/merges.py).

keys, places = sorted_lines(lines, cores, descending=False, placed=True)
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import digits as digit_code
from pygpu.codegen.elements import merges as merge_code
from pygpu.codegen.elements import sorts as sort_code
from pygpu.codegen.elements.digits import line_span
from pygpu.codegen.elements.merges import merge_span
from pygpu.codegen.elements.sorts import BITS, DIGITS, Kind, Sorting, Step, sort_span
from pygpu.devices.cpu.chunks import Chunks, Cores, Slots, run_chunks
from pygpu.devices.cpu.native import native_of
from pygpu.devices.process.reserve import RESERVE

LEAST: Final = {False: 1 << 15, True: 1 << 12}  # elements of a line below which NumPy is as quick
LONGEST: Final = 2**31 - 1
TINY: Final = 1 << 15  # elements, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
RUN: Final = 1 << 19  # elements that are worth a thread of Python's
TILE: Final = 1 << 15  # elements merged at a time
_WIDE: Final = {"f": np.dtype("float32"), "u": np.dtype("uint32"), "b": np.dtype("uint32")}
_NARROW: Final[dict[str, np.dtype[Any]]] = {
    "uint8": np.dtype("uint16"),
    "int8": np.dtype("int16"),
    "float16": np.dtype("float32"),
}
CHUNK: Final = 1 << 17  # elements of lines that are partitioned one after the other
_KINDS: Final[dict[str, Kind]] = {"f": "float", "u": "uint", "i": "int"}
SAMPLE: Final = 1 << 12  # elements of which NumPy's pace is measured
PACE: Final = 7e-9  # seconds an element of it, below which NumPy sorts by vectors,
QUICKER: Final = 5.5e-9  # and below which it is quicker than digits of a line on one core
SHORT: Final = 1 << 19  # elements, times cores, of a line that one core sorts as soon as all do


def sorted_lines(
    lines: NDArray[Any], cores: Cores, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """The elements of each line of a contiguous array (lines, N) in order, NaNs last, and with
    `placed` where they were, equal ones in their order."""
    count = lines.shape[1]
    if not LEAST[placed] <= count <= LONGEST or (lines.dtype.itemsize <= 2 and not placed):
        return _by_numpy(lines, cores.threads, descending, placed)
    is_short = count * cores.threads <= SHORT or len(lines) >= cores.threads
    if is_short and lines.dtype.itemsize == 4 and (placed or not is_quick(lines.dtype, QUICKER)):
        return _line_by_line(lines, cores, descending, placed)
    if not placed and is_quick(lines.dtype):
        if len(lines) >= cores.threads > 1 or count < 2 * RUN:
            return _side_by_side(lines, cores.threads, descending), None
        found = [_by_runs(line, cores, descending) for line in lines]
        return (found[0][None] if len(found) == 1 else np.stack(found)), None
    keys = RESERVE.empty(lines.shape, lines.dtype)
    places = RESERVE.empty(lines.shape, np.dtype(np.int32)) if placed else None
    for index, line in enumerate(lines):
        keys[index], where = _sorted_line(line, cores, descending, placed)
        if places is not None and where is not None:
            places[index] = where
    return keys, places


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


def _sorted_line(
    line: NDArray[Any], cores: Cores, descending: bool, placed: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    wide = np.ascontiguousarray(line, _WIDE.get(line.dtype.kind, np.dtype("int32")))
    run = _Run(wide, cores, descending, placed)
    run.step("encode", wide, run.keys)
    bits = line.dtype.itemsize * 8 if line.dtype.kind in "ub" else 32
    for low in range(0, bits, BITS):
        run.by_digit(low + (32 if placed else 0))
    if not placed:
        result = RESERVE.empty(wide.shape, wide.dtype)
        run.step("decode", run.keys, result)
        return result.astype(line.dtype, copy=False), None
    places = RESERVE.empty((wide.size,), np.dtype(np.int32))
    run.step("decode", run.keys, run.keys, places)
    return line[places], places


def _by_runs(line: NDArray[Any], cores: Cores, descending: bool) -> NDArray[Any]:
    return _turned(sorted_by_runs(line, cores)) if descending else sorted_by_runs(line, cores)


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


class _Run:
    """One sort: its keys, a second place for them, and how the elements are shared out."""

    def __init__(self, values: NDArray[Any], cores: Cores, descending: bool, placed: bool) -> None:
        self.cores, self.placed = cores, placed
        self.kind = _KINDS[values.dtype.kind]
        self.flip = 2**32 - 1 if descending else 0
        count = values.size
        self.threads = 1 if count < TINY else cores.threads
        chunks = 1 if self.threads == 1 else SHARES * self.threads
        self.length = -(-count // chunks)
        self.chunks = -(-count // self.length)
        key = np.dtype(np.uint64 if placed else np.uint32)
        self.keys, self.spare = RESERVE.empty((count,), key), RESERVE.empty((count,), key)
        self.table = np.empty((self.chunks, DIGITS), np.uint32)

    def by_digit(self, shift: int) -> None:
        """Put the keys in the order of one digit."""
        self.table[:] = 0
        self.step("count", self.keys, self.keys, shift=shift)
        total = self.table.sum(axis=0)
        if total.max() == self.keys.size:  # all keys have the same digit
            return
        before = np.cumsum(total) - total
        self.table[:] = before + np.cumsum(self.table, axis=0) - self.table
        self.step("move", self.keys, self.spare, shift=shift)
        self.keys, self.spare = self.spare, self.keys

    def step(
        self,
        step: Step,
        source: NDArray[Any],
        target: NDArray[Any],
        other: NDArray[Any] | None = None,
        shift: int = 0,
    ) -> None:
        sorting = Sorting(step, self.kind, self.placed)
        given = {
            sort_code.SOURCE: source,
            sort_code.TARGET: target,
            sort_code.OTHER: other,
            sort_code.TABLE: self.table,
            sort_code.SHIFT: shift,
            sort_code.FLIP: self.flip,
            sort_code.LENGTH: self.length,
        }
        code = native_of(sort_span, sorting, self.cores.machine)
        chunks = Chunks(code, source.size, self.length)
        run_chunks(self.cores, self.threads, chunks, given, source.size < TINY)


# ---------------------------------------------------------------- by runs


def is_quick(dtype: np.dtype[Any], pace: float = PACE) -> bool:
    """Whether NumPy sorts such numbers by vectors, faster than they are sorted by digits."""
    return dtype.itemsize == 4 and dtype.kind in _KINDS and _pace() < pace


@lru_cache(maxsize=1)
def _pace() -> float:
    """Seconds that NumPy's sort takes for an element. A processor's features do not tell: where
    vectors are packed into memory slowly (AMD's Zen 4), AVX-512 makes it slower than digits are."""
    shuffled = np.arange(SAMPLE, dtype=np.uint32) * np.uint32(2654435761)  # Knuth's hash
    times = []
    for _ in range(5):
        started = time.perf_counter()
        np.sort(shuffled)
        times.append(time.perf_counter() - started)
    return min(times) / SAMPLE


def sorted_by_runs(line: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The elements (N,) of a contiguous array in rising order, NaNs last."""
    count = line.size
    pieces = max(1, min(cores.threads, count // RUN))
    if pieces == 1:
        return np.sort(line)
    length = -(-count // pieces)
    keys = RESERVE.empty((count + 1,), line.dtype)  # one more may be read
    keys[count] = 0
    runs = [keys[low : min(low + length, count)] for low in range(0, count, length)]

    def put(index: int) -> None:
        run = runs[index]
        np.copyto(run, line[index * length : index * length + run.size])
        run.sort()

    with ThreadPoolExecutor(len(runs) - 1) as others:
        waiting = [others.submit(put, index) for index in range(1, len(runs))]
        put(0)
        for each in waiting:
            each.result()
    return _merged(runs, keys, cores)


def _merged(runs: list[NDArray[Any]], keys: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """Runs that stand one after the other in memory as one."""
    count = keys.size - 1
    if keys.dtype.kind == "f":  # NaNs, which are last in each, are put behind all
        ends = [int(np.searchsorted(run, np.nan)) for run in runs]
        runs = [run[:end] for run, end in zip(runs, ends, strict=True)]
    spare = RESERVE.empty(keys.shape, keys.dtype)
    while len(runs) > 1:
        done, start = [], 0
        for first in range(0, len(runs), 2):
            pair = runs[first : first + 2]
            size = sum(run.size for run in pair)
            target = spare[start : start + size]
            _merge(pair, target, cores)
            done.append(target)
            start += size
        runs, keys, spare = done, spare, keys
    keys[runs[0].size : count] = np.nan if keys.dtype.kind == "f" else 0
    return keys[:count]


def _merge(pair: list[NDArray[Any]], target: NDArray[Any], cores: Cores) -> None:
    if len(pair) == 1 or not pair[0].size or not pair[1].size:
        np.copyto(target, np.concatenate(pair))
        return
    first, other = pair
    given: Slots = {
        merge_code.FIRST: first,
        merge_code.OTHER: other,
        merge_code.TARGET: target,
        merge_code.COUNT: first.size,
        merge_code.COUNT_OTHER: other.size,
    }
    code = native_of(merge_span, _KINDS[target.dtype.kind], cores.machine)
    run_chunks(cores, cores.threads, Chunks(code, target.size, TILE), given, False)
