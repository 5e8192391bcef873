"""Folds by group by native code, on all cores: each folds a chunk into a table of its own.

fold_groups(values, index, "add", start, cores)     # rows of start, with the values
counted(texels, 256, cores)                         # how many there are of each byte, by channels
binned(values, edges, (first, scale, doubt), cores) # how many there are between edges
join_groups(join, types, parts, index, 8, cores)    # the same by any function of two values
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import bins as bin_code
from pygpu.codegen.elements import groups as group_code
from pygpu.codegen.elements import joins as join_code
from pygpu.codegen.elements.bins import bin_span
from pygpu.codegen.elements.groups import COUNTED, Folding, group_span
from pygpu.codegen.elements.joins import can_join, join_span, words
from pygpu.core.programs import UFUNCS
from pygpu.devices.cpu.chunks import Chunks, Cores, Slots, run_chunks
from pygpu.devices.cpu.native import Native, native_of
from pygpu.ssa import Function
from pygpu.types import Type

TINY: Final = 1 << 16  # elements, below which a second thread is not worth its call
LARGE: Final = 1 << 25  # numbers in a table, of which one is enough
SMALL: Final = 1 << 14  # bytes of a table of which there are several copies
COPIES: Final = 4
LEAST: Final = 1 << 12  # bytes of a table of which there are twice as many
SHARES: Final = 4  # chunks for each thread where tables are small: none waits long for another
_DTYPES: Final = {"double": np.float64, "float": np.float32, "int": np.int32, "uint": np.uint32}
_KINDS: Final = {"f": "float", "i": "int", "u": "uint"}


def fold_groups(
    values: NDArray[Any], index: NDArray[Any], how: str, start: NDArray[Any], cores: Cores
) -> NDArray[Any] | None:
    """See core.device.Device.fold_groups. None of bools, whose sums are none."""
    if values.dtype.kind not in _KINDS or values.dtype.itemsize != 4:
        return None
    values = np.ascontiguousarray(values)
    kind, channels = _KINDS[values.dtype.kind], values.shape[1]
    dtype = np.dtype(_DTYPES[Folding(how, kind).accumulated])
    folding = Folding(how, kind, channels, _copies(start.size * dtype.itemsize))
    tables = _tables(folding, start.astype(dtype), values, index, cores)[:, :, : len(start)]
    # Each chunk and each copy began with `start`, which is an identity.
    with np.errstate(over="ignore"):
        joined = UFUNCS[how].reduce(tables, axis=(0, 1), dtype=dtype)
        return np.asarray(joined, start.dtype)


def counted(texels: NDArray[Any], groups: int, cores: Cores) -> NDArray[np.int64]:
    """How many elements of each channel of contiguous texels (H, W, C), of whole numbers, are 0, 1,
    ... groups - 1: (groups, C). Those of one or two bytes are taken as unsigned, and all are to be
    less. Channels lie between the elements of one that follow each other, as copies do."""
    kind, channels = COUNTED[texels.dtype.itemsize], texels.shape[2]
    copies = _copies(4 * groups * channels)
    between = 1 << (-(-copies // channels) - 1).bit_length()
    flat = texels.reshape(-1, channels)
    folding = Folding("count", kind, channels, between)
    return _sums(_tables(folding, (groups, channels), None, flat, cores), len(flat), groups)


def binned(
    values: NDArray[np.float32],
    edges: NDArray[np.float32],
    guess: tuple[float, float, float],
    cores: Cores,
) -> NDArray[np.int64]:
    """See core.device.Device.binned."""
    count, bins = len(values), len(edges) - 1
    copies = _copies(4 * bins)
    threads, length = _shared(count, bins, copies, cores)
    tables = np.zeros((-(-count // length), bins + 1, copies), np.uint32)
    numbers = np.array([*guess, edges[-1]], np.float32)
    given = {
        bin_code.DATA: values,
        bin_code.EDGES: edges,
        bin_code.GUESS: numbers,
        bin_code.TABLE: tables,
        bin_code.BINS: bins,
        bin_code.LENGTH: length,
        bin_code.STRIDE: tables[0].nbytes,
    }
    code = native_of(bin_span, copies, cores.machine)
    run_chunks(cores, threads, Chunks(code, count, length), given, count < TINY)
    counts: NDArray[np.int64] = np.add.reduce(tables, axis=(0, 2), dtype=np.int64)
    return counts[1:]  # the first row has what is in no bin


def _sums(tables: NDArray[np.uint32], count: int, groups: int) -> NDArray[np.int64]:
    """The counts of all tables together, as narrow as they may be: wider are added one by one. Rows
    are whole tables, as short ones take NumPy much longer."""
    narrow = np.uint32 if count < 1 << 32 else np.int64
    rows = tables.reshape(tables.shape[0] * tables.shape[1], -1)
    sums: NDArray[Any] = np.add.reduce(rows, axis=0, dtype=narrow).reshape(tables.shape[2:])
    return sums[:groups].astype(np.int64)


def _copies(bytes: int) -> int:
    return 2 * COPIES if bytes <= LEAST else COPIES if bytes <= SMALL else 1


def _shared(count: int, numbers: int, copies: int, cores: Cores) -> tuple[int, int]:
    """The threads for so many elements, and the elements of a chunk, by the numbers in a table."""
    few = count < TINY or numbers > LARGE or count < 2 * numbers
    threads = 1 if few else cores.threads
    shares = SHARES if threads > 1 and copies > 1 else 1
    return threads, -(-count // (threads * shares))


def _tables(
    folding: Folding,
    start: NDArray[Any] | tuple[int, int],
    values: NDArray[Any] | None,
    index: NDArray[Any],
    cores: Cores,
) -> NDArray[Any]:
    """The tables of chunks (chunks, copies, groups + 1, numbers of a row), each `start` at first,
    or of such a shape and 0; what is of no group is in the last row."""
    groups, numbers = start if isinstance(start, tuple) else start.shape
    count = len(index)
    threads, length = _shared(count, groups * numbers, folding.copies, cores)
    room = -(-count // length), folding.copies, groups + 1, numbers
    tables = np.zeros(room, np.uint32 if isinstance(start, tuple) else start.dtype)
    if not isinstance(start, tuple):
        tables[:, :, :groups] = start
    given = {
        group_code.VALUES: values,
        group_code.INDEX: index,
        group_code.TABLE: tables,
        group_code.GROUPS: groups,
        group_code.LENGTH: length,
        group_code.STRIDE: tables[0].nbytes,
    }
    code = native_of(group_span, folding, cores.machine)
    run_chunks(cores, threads, Chunks(code, count, length), given, count < TINY)
    return tables


CHUNK: Final = 1 << 10  # elements folded one after the other: sums of floats then err little
JOINED: Final = 16  # tables joined one after the other: sums of floats then err little


def join_groups(
    join: Function,
    types: tuple[Type, ...],
    parts: Sequence[NDArray[Any]],
    index: NDArray[Any],
    groups: int,
    cores: Cores,
) -> tuple[list[NDArray[Any]], NDArray[np.bool_]] | None:
    """See core.device.Device.join_groups."""
    count = len(index)
    if not can_join(join) or groups * 8 > count:
        return None
    code = native_of(join_span, join, types, cores.machine)
    wide = [part.astype(np.int32) if part.dtype.kind == "b" else part for part in parts]
    given = [(np.ascontiguousarray(part), 4 * part.shape[1]) for part in wide]
    length = max(CHUNK, 8 * groups)
    index = np.ascontiguousarray(index)
    row = words(types)
    tables = _joined_tables(code, given, index, (groups, row), length, cores)
    starts = np.cumsum([1, *[type.size for type in types]])[:-1]
    while len(tables) > 1:  # the tables are values to be folded, too
        flat = tables.reshape(-1, row)
        numbers = np.tile(np.arange(groups, dtype=np.int32), len(tables))
        numbers[flat[:, 0] == 0] = -1
        given = [(flat[:, start:], 4 * row) for start in starts]
        tables = _joined_tables(code, given, numbers, (groups, row), JOINED * groups, cores)
    (table,) = tables
    results, start = [], 1
    for part, type in zip(parts, types, strict=True):
        columns = np.ascontiguousarray(table[:, start : start + type.size])
        is_bool = part.dtype.kind == "b"
        results.append(columns.astype(np.bool_) if is_bool else columns.view(part.dtype))
        start += type.size
    return results, table[:, 0] != 0


def _joined_tables(
    code: tuple[Native, int],
    parts: Sequence[tuple[NDArray[Any], int]],
    index: NDArray[Any],
    shape: tuple[int, int],
    length: int,
    cores: Cores,
) -> NDArray[np.int32]:
    """The tables of a shape, groups and numbers of each, of chunks of so many elements."""
    count = len(index)
    chunks = -(-count // length)
    tables = np.zeros((chunks, *shape), np.int32)
    given: Slots = {
        join_code.INDEX: index,
        join_code.TABLE: tables,
        join_code.GROUPS: shape[0],
        join_code.LENGTH: length,
        **dict(enumerate(chain.from_iterable(parts), join_code.PARTS)),
    }
    threads = 1 if count < TINY else min(cores.threads, chunks)
    run_chunks(cores, threads, Chunks(code, count, length), given, count < TINY)
    return tables
