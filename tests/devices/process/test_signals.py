"""Handlers of signals that raise, or call PyGPU, anywhere in its calls: nothing dies, hangs or
comes out wrong, and the next call is as good as the first."""

import sys
import threading

import pytest

from conftest import require
from processes import run, start
from pygpu.core.host.undisturbed import undisturbed, when_gone
from pygpu.devices.process.door import PATIENCE, Door

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers of signals")

STRESS = """
import random, signal, threading, time

SEED, SECONDS, TARGET = {seed}, {seconds}, {target!r}
chance = random.Random(SEED)
small = np.arange(24, dtype=np.float32).reshape(4, 6)
other = pygpu.compile(lambda im=Image, p=Position: 3 * im(p) + im(p + (1, 0)), target=TARGET)
expected = other(small)

class Now(Exception):
    pass

heard, refused, armed = 0, 0, False

def handler(*_):
    global heard, refused
    heard += 1
    if {raises}:
        if armed:
            raise Now
        return
    try:
        assert np.array_equal(other(small), expected), "what a handler computes is wrong"
    except RuntimeError as error:
        assert "in the middle of another call" in str(error), error
        refused += 1

def made(c):
    return pygpu.compile(
        lambda im=Image, p=Position, g=pygpu.Float: im(p) * g + c + im(p + (0, 1)), target=TARGET
    )

signal.signal(signal.SIGALRM, handler)
photo = np.arange(35, dtype=np.float32).reshape(5, 7)
functions, calls, end = [], 0, time.time() + SECONDS
while time.time() < end or (heard <= 20 and time.time() < end + 60):  # on a busy machine longer
    calls += 1
    if calls % 3 == 1:
        functions = [*functions[-4:], made(calls)]
    which = chance.randrange(len(functions))
    array = chance.choice([photo, photo[:3], photo[:, :4].copy()])
    gain, result = float(calls % 7), None
    delay = chance.uniform(1e-5, 3e-2 if calls % 3 == 1 else 2e-3)
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, delay)
        result = functions[which](array, gain)
        armed = False
    except Now:
        armed = False
    again = functions[which](array, gain)
    for each in (result, again):
        if each is not None:
            rest = each - array * np.float32(gain) - np.vstack([array[1:], array[-1:]])
            assert np.all(rest == rest.flat[0]), (calls, rest)
signal.setitimer(signal.ITIMER_REAL, 0)
assert heard > 20, heard

def elsewhere():  # no lock is left behind
    f = pygpu.compile(lambda im=Image, p=Position: 7 * im(p) + SEED, target=TARGET)
    assert np.array_equal(f(small), 7 * small + SEED)
    print("done", refused > 0)

thread = threading.Thread(target=elsewhere, daemon=True)
thread.start()
thread.join(30)
"""


def stressed(**settings):
    """What the stress prints. Python tells on stderr of handlers that raise in finalisers."""
    child = start(STRESS.format(**settings), PYGPU_CACHE="0")
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return out


@posix
@pytest.mark.parametrize("name", ["cpu", "fragment", "compute"])
@pytest.mark.parametrize("seed", [1, 2])
def test_handlers_may_raise_anywhere(name, seed):
    require(name)
    assert stressed(seed=seed, seconds=2, target=name, raises=True).startswith("done")


@posix
@pytest.mark.parametrize("name", ["cpu", "fragment", "compute"])
def test_handlers_may_call_pygpu_and_get_the_right_result_or_an_error(name):
    require(name)
    out = stressed(seed=3, seconds=4, target=name, raises=False)
    assert out == f"done {name != 'cpu'}\n"  # the cpu refuses nothing


@posix
@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_an_interrupt_while_a_program_is_compiled_comes_when_it_has_been(name):
    require(name)
    run(
        f"""
    import signal, time
    from pygpu.devices.opengl import context as opengl
    signal.signal(signal.SIGINT, signal.default_int_handler)
    f = pygpu.compile(double, target={name!r})
    ended = []
    compiled = opengl.Context._compile
    def slow(self, *arguments):
        made = compiled(self, *arguments)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        ended.append(True)
        return made
    opengl.Context._compile = slow
    try:
        f(PHOTO)
    except KeyboardInterrupt:
        assert ended
    else:
        raise AssertionError("no interrupt")
    opengl.Context._compile = compiled
    assert np.array_equal(f(PHOTO), 2 * PHOTO)
    """
    )


# ---------------------------------------------------------------- the door itself


class Counted(Door):
    """A door that writes down what happens."""

    def __init__(self):
        super().__init__()
        self.log = []

    def begin(self):
        self.log.append("begin")
        return self

    def end(self):
        self.log.append("end")

    def mend(self):
        self.log.append("mend")

    def desert(self):
        self.log.append("desert")


def in_pygpu(code, **names):
    """Run code as if it stood in PyGPU."""
    path = sys.modules["pygpu"].__file__.replace("__init__", "imagined")
    exec(compile(code, path, "exec"), names)
    return names


def test_a_section_entered_twice_is_one():
    door = Counted()
    with door, door:
        assert door.depth == 2
    assert door.log == ["begin", "end"]


def test_a_section_that_an_error_ends_is_mended():
    door = Counted()
    with pytest.raises(ValueError), door:  # noqa: PT011
        raise ValueError
    assert door.log == ["begin", "mend", "end"]


def test_a_section_that_was_never_ended_is_ended_by_the_next():
    door = Counted()
    in_pygpu("def left_open(): door.__enter__()\nleft_open()", door=door)
    with door:
        assert door.log == ["begin", "mend", "end", "begin"]
    assert door.log[4:] == ["end"]


def test_a_section_that_another_thread_never_ended_keeps_nobody_waiting():
    door = Counted()
    opened, leave = threading.Event(), threading.Event()
    code = "def left_open(): door.__enter__()\nleft_open()\nopened.set()\nleave.wait()"
    thread = threading.Thread(
        target=in_pygpu, args=(code,), kwargs={"door": door, "opened": opened, "leave": leave}
    )
    thread.start()
    opened.wait()
    entered = threading.Event()

    def enter():
        with door:
            entered.set()

    waiting = [threading.Thread(target=enter) for _ in range(3)]
    for each in waiting:
        each.start()
    assert entered.wait(20 * PATIENCE)
    leave.set()
    for each in [thread, *waiting]:
        each.join()
    assert door.log == ["begin", "desert", *["begin", "end"] * 3]


def test_a_section_that_is_open_is_waited_for():
    door = Counted()
    thread = threading.Thread(target=in_pygpu, args=("with door: pass",), kwargs={"door": door})
    code = "def hold():\n    with door:\n        thread.start()\n        thread.join(wait)\nhold()"
    in_pygpu(code, door=door, thread=thread, wait=3 * PATIENCE)
    thread.join()
    assert door.log == ["begin", "end"] * 2


def test_what_is_called_in_the_middle_of_a_section_is_refused():
    door = Counted()

    def handler():
        in_pygpu("with door: pass", door=door)

    with pytest.raises(RuntimeError, match=r"handler.* set a flag"):
        in_pygpu("with door: handler()", door=door, handler=handler)
    assert door.log == ["begin", "mend", "end"]
    in_pygpu("with door:\n    door.is_visited = True\n    handler()", door=door, handler=handler)


@pytest.mark.parametrize("moment", ["begin", "end"])
def test_what_is_called_while_a_section_is_entered_or_left_is_refused(moment):
    class Busy(Counted):
        pass

    def handler(door):
        with door:
            pass

    def busy(self):
        with pytest.raises(RuntimeError, match=r"handler.* set a flag"):
            handler(self)
        return self

    setattr(Busy, moment, busy)
    in_pygpu("with door: pass", door=Busy())


# ---------------------------------------------------------------- the undisturbed thread


def test_undisturbed_calls_give_results_and_errors():
    assert undisturbed(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        undisturbed(divmod, 7, 0)
    assert undisturbed(threading.current_thread) is not threading.main_thread()


def test_finalisers_run_on_the_undisturbed_thread():
    class Thing:
        pass

    thing, where, done = Thing(), [], threading.Event()

    def finalise():
        where.append(threading.current_thread())
        done.set()

    when_gone(thing, finalise)
    del thing
    assert done.wait(10)
    assert where != [threading.main_thread()]
