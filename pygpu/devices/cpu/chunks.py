"""Jobs over elements of arrays, chunk by chunk, and over numbers in a row, and what they run on."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.jobs.driver import driver
from pygpu.codegen.llvm.text import Machine
from pygpu.core.host import settings
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.native import Native, machine
from pygpu.devices.cpu.threads import POOL, Calls, Job, thread_count
from pygpu.devices.process.reserve import keep_freed


class Cores(NamedTuple):
    """What native code runs on."""

    machine: Machine
    calls: Calls
    threads: int


def host() -> Machine:
    """What code is made for: this machine, as far as PYGPU_CPU_FEATURES allows."""
    return machine(_level())


def _level() -> str:
    return settings.read("PYGPU_CPU_FEATURES").strip()


def cores() -> Cores:
    return Cores(*_for_level(_level()), thread_count())


@lru_cache(maxsize=4)
def _for_level(level: str) -> tuple[Machine, Calls]:
    """What a part of this machine is, with its loops: records of machines take long to look up."""
    return machine(level), native_loops(machine(level))


@lru_cache(maxsize=4)
def native_loops(made_for: Machine) -> Calls:
    keep_freed()
    return Calls(Native(driver(made_for), made_for, Calls.NAMES), made_for)


Slots = Mapping[int, NDArray[Any] | int | None]  # what a span is given, by its slots


class Chunks(NamedTuple):
    """Code that runs over 0, 1, ... below a total, where its span is, and how many at once."""

    code: tuple[Native, int]
    total: int
    length: int


def run_chunks(cores: Cores, threads: int, chunks: Chunks, given: Slots, is_tiny: bool) -> None:
    """Run a span for all chunks. What it is given is a number for each slot of its arguments, for
    an array its address, 0 for None and where there is nothing."""
    run_steps(cores, [(threads, chunks)], given, is_tiny)


def run_steps(
    cores: Cores, steps: Sequence[tuple[int, Chunks]], given: Slots, is_tiny: bool
) -> None:
    """Run several spans that are given the same, one after the other, each on so many threads."""
    arguments = array("q", bytes(8 * (max(given) + 1)))
    for slot, each in given.items():
        if each is not None:
            arguments[slot] = each if isinstance(each, int) else address(each)
    for threads, chunks in steps:
        block = chunked(chunks.code[1], chunks.total, chunks.length, arguments)
        job = Job(block, slots.scratch_size(0, 1, 0), (chunks.code, given))
        POOL.run(cores.calls, job, threads, True, is_tiny or threads == 1 < len(steps))


def chunked(span: int, count: int, length: int, arguments: Sequence[int], step: int = 1) -> Block:
    """A job of one row of elements without taps or results, each chunk of them a tile, of which a
    thread takes `step` at once: see codegen/jobs/driver.py."""
    numbers, stop = _numbers(span, count, length, len(arguments), step)
    block = Block(numbers, (slots.ARGS, slots.STOP), stop)
    block.buffer[slots.JOB_SLOTS : stop] = array("q", arguments)
    return block


@lru_cache(maxsize=64)
def _numbers(span: int, count: int, length: int, given: int, step: int) -> tuple[array[int], int]:
    """The numbers of such a job, but for the `given` ones, which are 0; and where its stop flag
    is. Blocks copy them."""
    args = slots.JOB_SLOTS
    stop = args + given
    numbers = array("q", bytes(8 * (stop + 1)))
    for slot, value in {
        slots.TILES: -(-count // length),
        slots.TILE_COLUMNS: -(-count // length),
        slots.TILE_WIDTH: length,
        slots.TILE_HEIGHT: 1,
        slots.WIDTH: count,
        slots.HEIGHT: 1,
        slots.ROWS: 1,
        slots.BLOCK: step,
        slots.END: count,
        slots.SPAN: span,
        slots.SCRATCH: slots.scratch_size(0, step, 0),
        slots.GATE: slots.SHUT,
        slots.ARGS: args,
        slots.STOP: stop,
    }.items():
        numbers[slot] = value
    return numbers, stop


class Call:
    """A job of the native loop, with all that it points at: a span is called for 0, 1, ... below a
    count. The first of its numbers says where the stop flag is. `scratch`: bytes that each thread
    needs of its own."""

    __slots__ = ("address", "count", "floats", "numbers", "scratch")

    def __init__(self, span: int, numbers: Sequence[int], scratch: int) -> None:
        start, stop = slots.JOB_SLOTS, slots.JOB_SLOTS + len(numbers)
        self.numbers = job = array("q", [*[0] * slots.JOB_SLOTS, *numbers, 0])
        self.floats = memoryview(job).cast("B").cast("f")
        self.address, _ = job.buffer_info()
        self.count = 0
        self.scratch = slots.scratch_size(0, 1, scratch)
        for slot in (slots.TILE_WIDTH, slots.TILE_HEIGHT, slots.HEIGHT, slots.ROWS, slots.BLOCK):
            job[slot] = 1
        job[slots.SCRATCH], job[slots.GATE] = self.scratch, slots.SHUT
        job[slots.SPAN], job[slots.ARGS] = span, self.address + 8 * start
        job[slots.STOP] = job[start] = self.address + 8 * stop

    def begin(self, count: int) -> None:
        """Let the next run call the span so many times."""
        job = self.numbers
        job[slots.NEXT] = 0
        if count != self.count:
            self.count = count
            job[slots.TILES] = job[slots.TILE_COLUMNS] = job[slots.WIDTH] = job[slots.END] = count

    def put(self, slot: int, number: int) -> None:
        """Change one of the numbers that the span is given."""
        self.numbers[slots.JOB_SLOTS + slot] = number

    def put_float(self, slot: int, number: float) -> None:
        """Change one of the numbers that the span is given to a float of 32 bits: what does not fit
        is infinite."""
        self.floats[2 * (slots.JOB_SLOTS + slot)] = number

    def halt(self) -> None:
        """Let the native code leave."""
        self.numbers[-1] = 1


def address(array: NDArray[Any]) -> int:
    """Where an array's texels are. What is only to be read, and what is empty, ctypes does not
    take; NumPy's own answer takes four times as long."""
    try:
        return ctypes.addressof(_BYTE(array))
    except (TypeError, ValueError):
        found: int = array.__array_interface__["data"][0]
        return found


def addresses(arrays: Sequence[NDArray[Any]]) -> list[int]:
    """Where the texels of several arrays are."""
    try:
        return [ctypes.addressof(_BYTE(array)) for array in arrays]
    except (TypeError, ValueError):
        return [address(array) for array in arrays]


_BYTE: Final[Callable[[Any], ctypes.c_char]] = ctypes.c_char.from_buffer
