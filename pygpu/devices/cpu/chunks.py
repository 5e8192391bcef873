"""Jobs over elements of arrays, chunk by chunk, and what they run on."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.jobs.driver import driver
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.native import Native, machine
from pygpu.devices.cpu.threads import Calls, thread_count


class Cores(NamedTuple):
    """What native code runs on."""

    machine: Machine
    calls: Calls
    threads: int


def host() -> Machine:
    """What code is made for: this machine, as far as PYGPU_CPU_FEATURES allows."""
    return machine(os.environ.get("PYGPU_CPU_FEATURES", "").strip())


def cores() -> Cores:
    return Cores(host(), native_loops(host()), thread_count())


@lru_cache(maxsize=4)
def native_loops(made_for: Machine) -> Calls:
    return Calls(Native(driver(made_for), made_for, Calls.NAMES))


def chunked_job(span: int, count: int, length: int, arguments: list[int]) -> Block:
    """A job of one row of elements, each chunk of them a tile: see codegen/jobs/driver.py."""
    args = slots.JOB_SLOTS
    stop = args + len(arguments)
    numbers = [0] * (stop + 1)
    numbers[args:stop] = arguments
    for slot, value in {
        slots.TILES: -(-count // length),
        slots.TILE_COLUMNS: -(-count // length),
        slots.TILE_WIDTH: length,
        slots.TILE_HEIGHT: 1,
        slots.WIDTH: count,
        slots.HEIGHT: 1,
        slots.ROWS: 1,
        slots.BLOCK: 1,
        slots.END: count,
        slots.SPAN: span,
        slots.SCRATCH: slots.scratch_size(0, 1, 0),
        slots.GATE: slots.SHUT,
        slots.ARGS: args,
        slots.STOP: stop,
    }.items():
        numbers[slot] = value
    return Block(numbers, (slots.ARGS, slots.STOP), stop)


def address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


__all__ = ["Cores", "address", "chunked_job", "cores", "host", "native_loops"]
