"""The collector of garbage waits while programs are made, and goes on after that."""

import gc
import os
import threading

import pytest

import pygpu
from pygpu import Image, Position
from pygpu.core.host.collector import lasting, paused


def test_blocks_nest_and_leave_the_collector_as_it_was() -> None:
    assert gc.isenabled()
    with paused():
        with paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_thread_that_leaves_lets_it_run() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with paused():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    with paused():
        pass
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_it_runs_in_a_child_that_was_forked_meanwhile() -> None:
    with paused():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_it_runs_after_a_program_is_made_or_refused() -> None:
    seen = []

    def note() -> float:
        seen.append(gc.isenabled())
        return 2.0

    def f(im: Image, p: Position):
        return note() * im(p)

    def refused(im: Image, p: Position):
        return im

    pygpu.compile(f, target="cpu")([[1.0]])
    assert seen == [False]
    assert gc.isenabled()
    with pytest.raises(pygpu.CompileError):
        pygpu.compile(refused, target="cpu")([[1.0]])
    assert gc.isenabled()


def test_what_modules_make_is_taken_for_old() -> None:
    gc.unfreeze()  # what another library may have frozen
    with lasting():
        made = [[]]
    assert any(each is made for each in gc.get_objects(generation=2))
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_what_a_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with lasting():
            pass
        assert gc.get_freeze_count() == frozen > 0
    finally:
        gc.unfreeze()
