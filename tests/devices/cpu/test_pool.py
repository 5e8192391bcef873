"""The pool of the cpu target: calls from several threads, forks, Ctrl-C, helpers that are late."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Final

import numpy as np
import pytest

import pygpu
from devices.cpu.test_cpu import F32, LEVELS, taps_of
from pygpu import Image, Position
from pygpu.codegen.jobs import arrays
from pygpu.core.builder import Builder
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Storage
from pygpu.devices.cpu.device import CpuDevice
from pygpu.devices.cpu.threads import Job, Pool
from pygpu.ssa import ImageInput
from pygpu.types import FLOAT


class _Calls:
    """The driver's functions as a pool sees them, of jobs that are done by whoever serves them."""

    def __init__(self) -> None:
        self.go = threading.Event()  # helpers wait for it
        self.done: set[int] = set()

    def serve(self, address: int, scratch: int) -> None:
        assert self.go.wait(20)
        self.done.add(address)

    def run(self, address: int, scratch: int) -> None:
        self.done.add(address)

    def wait(self, address: int, rounds: int, what: int) -> bool:
        return address in self.done

    def nothing(self, *given: Any) -> int:
        return 0

    post = retract = linger = open = shut = nothing


class _Block:
    def __init__(self, address: int) -> None:
        self.address, self.halted = address, False

    def halt(self) -> None:
        self.halted = True


def test_a_job_that_only_helpers_do_reaches_one_that_is_far_behind() -> None:
    calls: Any = _Calls()
    pool = Pool()
    for number in range(8):  # the caller does these alone, and the helper has not begun yet
        block: Any = _Block(number)
        pool.run(calls, Job(block, 64, None), 2, True)
    last: Any = _Block(99)
    threading.Timer(0.1, calls.go.set).start()
    thread = threading.Thread(
        target=pool.run, args=(calls, Job(last, 64, None), 1, False), daemon=True
    )
    thread.start()
    thread.join(20)
    assert 99 in calls.done


def test_a_thread_that_is_one_of_many_runs_its_jobs_without_helpers() -> None:
    calls: Any = _Calls()
    calls.go.set()
    pool = Pool()
    pool.run(calls, Job(_Block(1), 64, None), 2, True)
    assert pool.made == 1  # the helper
    others = Pool()

    def work() -> None:
        others.share()
        others.run(calls, Job(_Block(2), 64, None), 2, True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert (calls.done >= {1, 2}, others.made) == (True, 0)
    others.run(calls, Job(_Block(3), 64, None), 2, True)  # another thread has helpers as ever
    assert others.made == 1


def test_a_job_does_not_wait_for_that_of_another_thread() -> None:
    endless: Any = _Calls()
    brief: Any = _Calls()
    brief.go.set()
    pool = Pool()
    first: Any = _Block(1)
    thread = threading.Thread(target=pool.run, args=(endless, Job(first, 64, None), 2, False))
    thread.start()
    while len(pool.running) == 0:
        time.sleep(0.001)
    second: Any = _Block(2)
    pool.run(brief, Job(second, 64, None), 2, False)
    assert 2 in brief.done
    assert 1 not in endless.done
    endless.go.set()
    thread.join(20)
    assert pool.running == {}


def test_where_no_thread_can_be_started_the_caller_does_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    calls: Any = _Calls()
    block: Any = _Block(1)
    Pool().run(calls, Job(block, 64, None), 2, False)
    assert 1 in calls.done


# ---------------------------------------------------------------- Ctrl-C

INTERRUPTED: Final = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run unattended
import numpy as np
import pygpu
from pygpu import Image, Position

def endless(p: Position):
    n = 0
    while n >= 0:
        n = (n + p.x + 1) % 1000
    return n

def long(p: Position):
    n = p.x
    for i in range(100_000):
        for j in range(100_000):
            n = n * 3 + i ^ j
    return n

def same(im: Image, p: Position):
    return im(p)

function = {"endless": endless, "long": long}[sys.argv[1]]
compiled = pygpu.compile(function, target="cpu")
compiled.lower(shape=(200, 300))
for delay in (0.3, 0.301):   # twice, as the impatient do
    threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    try:
        compiled(shape=(200, 300))
    finally:
        time.sleep(0.2)
except KeyboardInterrupt:
    print("interrupted")
print("then", np.asarray(pygpu.compile(same, target="cpu")(np.ones((300, 300), np.float32))).all())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("which", "features"), [*[("endless", level) for level in LEVELS], ("long", "")]
)
def test_what_takes_too_long_can_be_interrupted(which: str, features: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, which],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYGPU_CPU_FEATURES": features},
    )
    assert done.stdout == "interrupted\nthen True\n", done.stderr


# ---------------------------------------------------------------- processes and threads


def test_several_threads_may_run_programs_at_once() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)], [("u", FLOAT)])
    function = build.finish([build.emit("mul", build.load(0, build.x, build.y), build.uniforms[0])])
    program = CpuDevice().compile(Task(function, [F32], [F32]))
    texels = np.ones((400, 400, 1), np.float32)
    wrong = []

    def use(number: int) -> None:
        for _ in range(20):
            (result,) = program.run(Work([Storage.of(texels)], [float(number)], (400, 400), [None]))
            if not np.all(result.host() == number):
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_gets_threads_of_its_own() -> None:
    texels = np.random.default_rng(1).random((300, 300, 1), np.float32)
    program = CpuDevice().compile(Task(taps_of("nearest"), [F32], [F32]))
    (before,) = program.run(Work([Storage.of(texels)], [], (300, 300), [None]))
    child = os.fork()
    if child == 0:
        (after,) = program.run(Work([Storage.of(texels)], [], (300, 300), [None]))
        os._exit(0 if np.array_equal(after.host(), before.host()) else 1)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert status == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux alone tells")
def test_helpers_that_were_woken_beside_the_caller_are_for_all_processors_again() -> None:
    pool, calls = Pool(), _Calls()
    calls.go.set()
    given: Any = calls
    for number in range(3):
        block: Any = _Block(number)
        pool.run(given, Job(block, 64, None), 1, False)
        (helper,) = pool.idle
        assert helper.thread.native_id is not None
        while helper.moved is not None:
            time.sleep(0.001)
        assert os.sched_getaffinity(helper.thread.native_id) == os.sched_getaffinity(0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone has them")
def test_a_helper_that_is_to_step_aside_twice_comes_back_to_all_its_processors() -> None:
    if len(mask := os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    pool, calls = Pool(), _Calls()
    given: Any = calls
    block: Any = _Block(1)
    pool.run(given, Job(block, 64, None), 2, True)  # the caller does it, the helper waits
    (helper,) = pool.idle
    helper.step_aside()
    narrowed = helper.moved
    helper.step_aside()
    assert helper.thread.native_id is not None
    assert helper.moved == narrowed
    assert len(os.sched_getaffinity(helper.thread.native_id)) == len(mask) - 1
    calls.go.set()
    pool.run(given, Job(_Block(2), 64, None), 1, False)  # type: ignore[arg-type]
    while helper.moved is not None:
        time.sleep(0.001)
    assert os.sched_getaffinity(helper.thread.native_id) == mask


# ---------------------------------------------------------------- calls that are prepared


def brighter(im: Image, p: Position) -> Any:
    return im(p) * 0.5 + im(p + (1, 0)) * 0.25


def expected(a: Any) -> Any:
    beside = np.concatenate([a[:, 1:], a[:, -1:]], 1)
    return beside * np.float32(0.25) + a * np.float32(0.5)


@pytest.mark.parametrize("side", [40, 500, 700, 1200])
def test_calls_one_after_the_other_share_their_work(side: int) -> None:
    compiled = pygpu.compile(brighter, target="cpu")
    images = [np.random.default_rng(n).random((side, side), np.float32) for n in range(3)]
    right = [expected(image) for image in images]
    for turn in range(60):
        number = turn % 3
        assert np.allclose(compiled(images[number]), right[number], atol=1e-6)
        out = np.full((side, side), np.nan, np.float32)
        assert compiled(images[number], out=out) is out
        assert np.allclose(out, right[number], atol=1e-6)
        if turn == 30:
            time.sleep(0.05)  # helpers fall asleep


def test_small_calls_from_several_threads_have_their_own_results() -> None:
    compiled = pygpu.compile(brighter, target="cpu")
    wrong = []

    def use(number: int) -> None:
        image = np.full((500, 500), number, np.float32)
        for _ in range(200):
            if not np.all(compiled(image) == number * 0.75):
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("shift", [0, 1, 2, 4])
def test_arrays_whose_memory_begins_anywhere_go_through_a_gate(shift: int) -> None:
    compiled = pygpu.compile(brighter, target="cpu", dtype="float32")
    texels = np.random.default_rng(0).integers(0, 255, (64, 64, 4), np.uint8)
    memory = np.empty(texels.nbytes + 8, np.uint8)
    moved = memory[shift : shift + texels.nbytes].reshape(texels.shape)
    moved[:] = texels
    first = compiled(texels)
    for array in (texels, moved, texels, moved):
        assert np.array_equal(compiled(array), first)


def test_native_code_finds_the_texels_of_arrays() -> None:
    assert arrays.are_read() == (sys.implementation.name == "cpython" and sys.maxsize > 2**32)
