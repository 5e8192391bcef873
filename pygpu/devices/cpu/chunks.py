"""Jobs over elements of arrays, chunk by chunk, and what they run on."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.threads import Calls


class Cores(NamedTuple):
    """What native code runs on."""

    machine: Machine
    calls: Calls
    threads: int


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


__all__ = ["Cores", "address", "chunked_job"]
