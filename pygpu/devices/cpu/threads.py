"""A standing pool of threads that run native jobs, all threads on one job, the GIL released.

A job (codegen/jobs/driver.py) shares its tiles out itself: whoever runs it takes tiles until none
is left. A call borrows idle helpers for as long as it lasts, so calls from several threads do not
wait for each other. Helpers that are idle sleep in a queue; those that have just finished linger in
native code for a moment, where the next job reaches them at once. The caller never waits for a
helper that has not begun, if there is another way: it takes part itself, or, where the job might
not end, waits in a way that Ctrl-C interrupts: then the job's stop flag is set and the helpers
leave.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, Protocol

from pygpu.codegen.jobs.handover import DONE, LEFT_ALL, LINGERING, TAKEN
from pygpu.codegen.jobs.slots import PAGE
from pygpu.codegen.llvm.text import Machine
from pygpu.core.host import settings
from pygpu.devices.cpu.native import Native

LINGER: Final = 20_000  # looks at the mailbox, of some 20 ns
SPIN: Final = 2000  # looks at a job that others are finishing
LONGEST: Final = 0.002  # seconds between later looks
OFTEN: Final = 0.0005  # seconds between small jobs for which helpers are woken

_P: Final = ctypes.c_void_p


def _processor_here() -> Callable[[], int]:
    """What gives the number of the processor that a thread is on; -1 where that is unknown."""
    if hasattr(os, "sched_setaffinity"):
        with suppress(AttributeError, OSError):
            return ctypes.PyDLL(None).sched_getcpu
    return lambda: -1


_processor: Final = _processor_here()


class Numbers(Protocol):
    """The numbers of a job in memory, and all that they point at."""

    address: int

    def halt(self) -> None:
        """Let the native code leave."""


class Calls:
    """The functions of the driver, from their addresses. Those that work let go of the GIL."""

    NAMES: Final = (
        *("run", "serve", "linger", "wait", "post", "retract", "open", "shut", "share"),
        "accept",
    )

    def __init__(self, native: Native, machine: Machine) -> None:
        self.native, self.machine = native, machine  # the code must stay
        at = native.addresses
        free, brief = ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE
        self.run = free(None, _P, _P)(at["run"])
        self.run_held = brief(None, _P, _P)(at["run"])
        self.serve = free(None, _P, _P)(at["serve"])
        self.linger = free(None, _P, _P, ctypes.c_int64)(at["linger"])
        self.wait = free(ctypes.c_int32, _P, ctypes.c_int64, ctypes.c_int32)(at["wait"])
        self.post = brief(ctypes.c_int32, _P, _P)(at["post"])
        self.retract = brief(None, _P, _P)(at["retract"])
        self.open = brief(None, _P)(at["open"])
        self.shut = brief(None, _P)(at["shut"])
        boxes = _P, _P, _P, ctypes.c_int64, ctypes.c_int64
        self.share = free(ctypes.c_int32, *boxes)(at["share"])
        self.share_held = brief(ctypes.c_int32, *boxes)(at["share"])
        objects = ctypes.py_object, ctypes.py_object
        self.accept = brief(ctypes.c_int32, _P, _P, *objects)(at["accept"])


def thread_count() -> int:
    """PYGPU_THREADS, or the processors this process may use: no more of them than OMP_NUM_THREADS
    says, by which Dask's and joblib's processes keep native code from sharing each core."""
    chosen = settings.count("PYGPU_THREADS")
    if chosen is not None:
        return chosen
    has_mask = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if has_mask else os.cpu_count() or 1
    asked = settings.read("OMP_NUM_THREADS").split(",")[0].strip()  # then of nested regions
    return min(int(asked), processors) if asked.isdecimal() and int(asked) else processors


class Scratch:
    """Memory of a thread's own, which grows."""

    __slots__ = ("buffer", "size", "start")

    def __init__(self) -> None:
        self.buffer: Any = None
        self.size = self.start = 0

    def of(self, size: int) -> int:
        """The address of so many bytes, at which a page begins."""
        if self.size < size:
            self.size = size
            self.buffer = ctypes.create_string_buffer(size + PAGE)
            start = ctypes.addressof(self.buffer)
            self.start = start + -start % PAGE
        return self.start


class _Helper:
    """A thread of the pool."""

    __slots__ = ("boxes", "mailbox", "moved", "numbers", "queue", "thread")

    def __init__(self) -> None:
        self.moved: set[int] | None = None  # the processors it is for, while it is for fewer
        self.queue: SimpleQueue[tuple[Numbers, Calls, int]] = SimpleQueue()
        self.numbers = (ctypes.c_int64 * 3)(0, 0)
        self.mailbox = ctypes.addressof(self.numbers)
        self.numbers[2] = self.mailbox
        self.boxes = self.mailbox + 16  # where the address of the mailbox is
        self.thread = threading.Thread(target=self.serve, name="pygpu", daemon=True)
        self.thread.start()

    def serve(self) -> None:
        scratch = Scratch()
        while True:
            block, calls, size = self.queue.get()
            self.settle()
            start = scratch.of(size)
            self.numbers[1] = scratch.size
            calls.serve(block.address, start)
            if self.queue.empty():
                calls.linger(self.mailbox, start, LINGER)
            del block, calls

    def is_awake(self, size: int) -> bool:
        """Whether it looks at its mailbox, and has so many bytes of scratch."""
        return self.numbers[0] == LINGERING and self.numbers[1] >= size

    def wake(self, block: Numbers, calls: Calls, size: int) -> None:
        """Have it look at its mailbox, and have so many bytes of scratch, by a job that is over."""
        if self.queue.empty():
            self.step_aside()
            self.queue.put((block, calls, size))

    def take(self, block: Numbers, calls: Calls, size: int, needed: bool) -> None:
        """Hand over a job. Where it is not `needed`, a helper that is far behind gets none."""
        if not calls.post(self.mailbox, block.address) and (needed or self.queue.qsize() < 2):
            self.step_aside()
            self.queue.put((block, calls, size))

    def step_aside(self) -> None:
        """Be woken on another processor than the caller's, who would have to stop for a helper
        there: Linux may wake a thread where the one is that wakes it, beside idle processors."""
        here = _processor()
        if here < 0 or self.moved is not None or self.thread.native_id is None:
            return
        try:
            mask = os.sched_getaffinity(self.thread.native_id)
            if len(mask) > 1 and here in mask:
                os.sched_setaffinity(self.thread.native_id, mask - {here})
                self.moved = mask
        except OSError:  # it is not allowed here
            return

    def settle(self) -> None:
        """Be for all processors again."""
        mask, self.moved = self.moved, None
        if mask is not None:
            with suppress(OSError):
                os.sched_setaffinity(0, mask)


class Job(NamedTuple):
    """What the threads of a pool are to do."""

    block: Numbers
    scratch: int  # bytes that each thread needs of its own
    memory: Any  # what is read and written, kept until the last thread has left, come what may


class Pool:
    """Threads that are made when they are first needed, anew in a process that was forked."""

    def __init__(self) -> None:
        self.idle: deque[_Helper] = deque()
        self.made = 0
        self.local = threading.local()
        self.running: dict[int, Any] = {}
        self.alone = 0.0  # when a small job found no helper awake

    def run(self, calls: Calls, job: Job, threads: int, join: bool, is_tiny: bool = False) -> None:
        """Run a job on so many threads. `join`: the caller is one of them, which is quicker but
        leaves no ear for Ctrl-C. For a job that is tiny the GIL is kept: to get it back would take
        longer."""
        block, size, memory = job
        address = block.address
        if join and is_tiny:
            calls.run_held(address, self.scratch(size))
            return
        if join:  # the processors that other callers keep busy are no help
            is_one = getattr(self.local, "is_one_of_many", False)
            threads = 1 if is_one else max(1, threads - len(self.running))
        helpers: list[_Helper] = []
        if join and threads <= 1:
            try:
                self.running[address] = block, memory
                calls.run(address, self.scratch(size))
            finally:
                self.running.pop(address, None)
            return
        is_over = False
        try:
            self.running[address] = block, memory
            self._borrow(helpers, threads - join, not join)
            join = join or not helpers
            if helpers and join and all(each.is_awake(size) for each in helpers):
                is_over = self._shared(calls.share, job, helpers) >= 0
            else:
                self._handed_over(calls, job, helpers, join)
            if not is_over:
                _until(lambda: calls.wait(address, SPIN, DONE))
        except BaseException:
            block.halt()
            raise
        finally:
            self._end(calls, job, helpers, is_over)

    def run_small(self, calls: Calls, job: Job, threads: int) -> None:
        """Run a job that is too small to wait until helpers are awake, or for the GIL: with those
        that are. Where such jobs follow each other, others are woken for the next ones."""
        block, size, _ = job
        if self.running or threads < 2 or getattr(self.local, "is_one_of_many", False):
            calls.run_held(block.address, self.scratch(size))
            return
        helpers: list[_Helper] = []
        is_over = False
        try:
            self._borrow(helpers, threads - 1, False)
            if helpers:
                missed = self._shared(calls.share_held, job, helpers)
            else:
                calls.run_held(block.address, self.scratch(size))
                missed = 0
            is_over = missed >= 0
            if missed > 0:
                self._rouse(calls, job, helpers)
            elif missed < 0:
                _until(lambda: calls.wait(block.address, SPIN, DONE))
        except BaseException:
            block.halt()
            raise
        finally:
            if is_over:
                self.idle.extend(helpers)
            else:
                self._end(calls, job, helpers, is_over)

    def _shared(self, share: Callable[..., int], job: Job, helpers: Sequence[_Helper]) -> int:
        """Run a job with helpers that are awake: how many were not; -1 where one still works."""
        count = len(helpers)
        if count == 1:
            boxes = helpers[0].boxes
        else:
            every = (ctypes.c_int64 * count)(*[helper.mailbox for helper in helpers])
            boxes = ctypes.addressof(every)
        return share(job.block.address, self.scratch(job.scratch), boxes, count, SPIN)

    def _rouse(self, calls: Calls, job: Job, helpers: Sequence[_Helper]) -> None:
        """Wake helpers that a small job did not find awake, where such jobs follow each other."""
        now = time.perf_counter()
        if now - self.alone < OFTEN:
            for helper in helpers:
                if not helper.is_awake(job.scratch):
                    helper.wake(job.block, calls, job.scratch)
        self.alone = now

    def _end(self, calls: Calls, job: Job, helpers: Sequence[_Helper], is_over: bool) -> None:
        """Take helpers back, which leave a job first that is not over."""
        address, interrupt = job.block.address, None
        try:
            if not is_over:
                for helper in helpers:
                    calls.retract(helper.mailbox, address)
                calls.shut(address)
                interrupt = _leave(lambda: calls.wait(address, SPIN, LEFT_ALL))
            self.running.pop(address, None)
            if interrupt is not None:
                raise interrupt
        finally:
            self.idle.extend(helpers)

    def _handed_over(self, calls: Calls, job: Job, helpers: Sequence[_Helper], join: bool) -> None:
        """Run a job with helpers, some of which sleep."""
        address = job.block.address
        calls.open(address)
        for helper in helpers:
            helper.take(job.block, calls, job.scratch, not join)
        if join:
            calls.run(address, self.scratch(job.scratch))
        else:
            _until(lambda: calls.wait(address, SPIN, TAKEN))
        for helper in helpers:
            calls.retract(helper.mailbox, address)

    def share(self) -> None:
        """Run the jobs of the thread that calls this by itself: it is one of as many as there are
        processors, which do other work between jobs."""
        self.local.is_one_of_many = True

    def scratch(self, size: int) -> int:
        """The address of so many bytes that are this thread's own."""
        try:
            scratch: Scratch = self.local.scratch
        except AttributeError:
            self.local.scratch = scratch = Scratch()
        return scratch.start if scratch.size >= size else scratch.of(size)

    def _borrow(self, helpers: list[_Helper], count: int, needed: bool) -> None:
        """Add up to `count` helpers, those that were busy last first: as many as are idle or may
        still be made; where one is `needed`, one at least, unless no thread can be started."""
        while len(helpers) < count:
            try:
                helpers.append(self.idle.pop())
            except IndexError:
                if self.made >= count and (helpers or not needed):
                    break
                try:
                    helpers.append(_Helper())
                except RuntimeError:  # no more threads, or the interpreter is about to end
                    break
                self.made += 1


def _leave(left: Callable[[], int]) -> BaseException | None:
    """Wait until all have left. What interrupts that is to be raised afterwards."""
    interrupt: BaseException | None = None
    while True:
        try:
            while not left():
                time.sleep(0.0002)
            return interrupt
        except BaseException as error:
            interrupt = error


def _until(done: Callable[[], int]) -> None:
    """Look again and again, less often as time goes by."""
    start = time.perf_counter()
    while not done():
        time.sleep(min(LONGEST, (time.perf_counter() - start) / 16))


POOL: Final = Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: POOL.__init__())  # type: ignore[misc]
