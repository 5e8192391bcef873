"""Folds by group by native code, on all cores: each folds a chunk into a table of its own.

fold_groups(values, index, "add", start, cores)     # rows of start, with the values
counted(texels, 0, cores)                           # how many there are of each byte in a channel
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm import driver
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu import group_code
from pygpu.devices.cpu.group_code import COUNTED, Folding, group_span
from pygpu.devices.cpu.native import Native, attributes
from pygpu.devices.cpu.sorts import Cores, address, chunked_job
from pygpu.devices.cpu.threads import POOL, Job

TINY: Final = 1 << 14  # elements, below which a second thread is not worth its call
LARGE: Final = 1 << 25  # numbers in a table, of which one is enough
_DTYPES: Final = {"double": np.float64, "float": np.float32, "int": np.int32, "uint": np.uint32}
_KINDS: Final = {"f": "float", "i": "int", "u": "uint"}
_JOIN: Final[dict[str, np.ufunc]] = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@lru_cache(maxsize=64)
def _native(folding: Folding, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    native = Native(group_span(folding, machine) + attributes(machine), machine)
    return native, native.address("span")


def fold_groups(
    values: NDArray[Any], index: NDArray[Any], how: str, start: NDArray[Any], cores: Cores
) -> NDArray[Any] | None:
    """See core.device.Device.fold_groups. None of bools, whose sums are none."""
    if values.dtype.kind not in _KINDS or values.dtype.itemsize != 4:
        return None
    values = np.ascontiguousarray(values)
    folding = Folding(how, _KINDS[values.dtype.kind], values.shape[1])
    dtype = np.dtype(_DTYPES[folding.accumulated])
    tables = _tables(folding, start.astype(dtype), values, index, cores)
    # Each chunk began with `start`, which is an identity.
    with np.errstate(over="ignore"):
        joined = tables[0] if len(tables) == 1 else _JOIN[how].reduce(tables, axis=0, dtype=dtype)
        return np.asarray(joined, start.dtype)


def counted(texels: NDArray[Any], channel: int, groups: int, cores: Cores) -> NDArray[np.int64]:
    """How many elements of a channel of contiguous texels (H, W, C), of whole numbers, are 0, 1,
    ... groups - 1. Those of one or two bytes are taken as unsigned, and all are to be less."""
    flat = texels.reshape(-1, texels.shape[2])
    folding = Folding("count", COUNTED[texels.dtype.itemsize], texels.shape[2])
    start = np.zeros((groups, 1), np.uint32)
    tables = _tables(folding, start, None, flat[:, channel], cores)
    return np.asarray(np.sum(tables[..., 0], axis=0, dtype=np.int64))


def _tables(
    folding: Folding,
    start: NDArray[Any],
    values: NDArray[Any] | None,
    index: NDArray[Any],
    cores: Cores,
) -> NDArray[Any]:
    """The tables of chunks, each `start` at first."""
    count = len(index)
    few = count < TINY or start.size > LARGE or count < 2 * len(start)
    threads = 1 if few else cores.threads
    length = -(-count // threads)
    chunks = -(-count // length)
    tables = np.empty((chunks, *start.shape), start.dtype)
    tables[:] = start
    arguments = {
        group_code.VALUES: 0 if values is None else address(values),
        group_code.INDEX: address(index),
        group_code.TABLE: address(tables),
        group_code.GROUPS: len(start),
        group_code.LENGTH: length,
        group_code.STRIDE: tables[0].nbytes,
    }
    _, span = _native(folding, cores.machine)
    listed = [arguments[slot] for slot in range(group_code.SLOTS)]
    block = chunked_job(span, count, length, listed)
    job = Job(block, driver.scratch_size(0, 1, 0), (values, index, tables))
    POOL.run(cores.calls, job, threads, True, count < TINY)
    return tables


__all__ = ["counted", "fold_groups"]
