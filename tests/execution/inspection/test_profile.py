"""What `f.profile` says: counts that can be known, and times of which only the sign can."""

import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Vec4
from pygpu.core.device import Limits
from pygpu.core.errors import DeviceError
from pygpu.devices import targets
from pygpu.devices.opengl import time as opengl_time
from pygpu.devices.opengl.time import Clock
from pygpu.execution.inspection.profile import copy_bandwidth

ROWS, COLUMNS = 6, 10


def box(im: Image, p: Position):
    return (im(p) + im(p + (1, 0)) + im(p + (0, 1))) / 3


def weighed(im: Image, p: Position, by: Float):
    return Vec4(im(p).rgb * by, 1.0)


def ramp(p: Position, step: Float):
    return step * p.x


def rounds(p: Position, least: Float):
    n = 0
    while n * least < p.x:
        n += 1
    return n


def random(*shape):
    return np.random.default_rng(0).random(shape, np.float32)


def test_it_counts_what_is_moved_and_done(target):
    profile = pygpu.compile(box, target=target).profile(random(ROWS, COLUMNS))
    assert (profile.name, profile.target) == ("box", target)
    assert profile.size == (ROWS, COLUMNS)
    assert profile.bytes_read == profile.bytes_written == 4 * ROWS * COLUMNS
    assert profile.texels == 3
    assert 3 <= profile.operations <= 5  # two sums and a quotient, x + 1 and y + 1 perhaps
    assert profile.loops == 0


def test_bytes_are_those_stored(target):
    image = (255 * random(ROWS, COLUMNS, 4)).astype(np.uint8)
    profile = pygpu.compile(weighed, target=target).profile(image, by=0.5, dtype=np.uint8)
    assert profile.bytes_read == profile.bytes_written == 4 * ROWS * COLUMNS
    assert profile.operations >= 3  # component by component


def test_an_image_that_is_not_read_moves_nothing(target):
    def blank(im: Image, p: Position):
        return 1.0

    profile = pygpu.compile(blank, target=target).profile(random(ROWS, COLUMNS))
    assert profile.bytes_read == 0


def test_times_make_the_figures(target):
    profile = pygpu.compile(ramp, target=target).profile(step=0.5, shape=(32, 48))
    assert profile.size == (32, 48)
    assert min(profile.times) > 0
    assert min(profile.times) <= profile.seconds <= max(profile.times)
    assert profile.milliseconds == 1e3 * profile.seconds
    assert profile.bandwidth == pytest.approx(4 * 32 * 48 / profile.seconds)
    assert profile.fraction == pytest.approx(profile.bandwidth / profile.copied)


def test_it_is_shown_in_a_few_lines(target):
    shown = repr(pygpu.compile(rounds, target=target).profile(least=0.5, shape=(8, 8)))
    assert shown.startswith(f"rounds on {target}, 8 x 8 pixels\n")
    assert "ms, median of 9" in shown
    assert "256 B written" in shown
    assert "a loop's counted once" in shown
    assert len(shown.splitlines()) <= 5


def test_methods_have_it_too(target):
    class Gain:
        def __init__(self):
            self.by = 2.0

        @pygpu.compile(target=target)
        def applied(self, im: Image, p: Position):
            return self.by * im(p)

    assert Gain().applied.profile(random(4, 4)).texels == 1


def test_a_call_and_its_profile_share_the_program(target):
    compiled = pygpu.compile(box, target=target)
    image = random(ROWS, COLUMNS)
    compiled(image)
    compiled.profile(image)
    assert len(compiled.programs) == 1


def test_wrong_arguments_are_refused_as_in_a_call():
    compiled = pygpu.compile(box, target="interpreter")
    with pytest.raises(TypeError, match="im"):
        compiled.profile()
    with pytest.raises(TypeError, match="shape"):
        pygpu.compile(ramp, target="interpreter").profile(step=1.0)


def test_an_image_for_tiles_is_refused(monkeypatch):
    compiled = pygpu.compile(box, target="interpreter")
    monkeypatch.setattr(targets, "limits", lambda device: Limits(4, 1 << 30, 1 << 30))
    with pytest.raises(DeviceError, match="tiles"):
        compiled.profile(random(ROWS, COLUMNS))


def test_a_copy_is_measured_once_for_sizes_of_a_kind(target, monkeypatch):
    device = targets.open_device(target)
    first = copy_bandwidth(device, 70_000)
    assert first > 0
    assert copy_bandwidth(device, 100_000) == first  # both are measured with 128 KiB


def test_a_device_whose_pace_goes_up_and_down_is_awake_some_time(monkeypatch):
    context = SimpleNamespace(
        program=lambda text: None, drain=lambda: None, gl=SimpleNamespace(finish=lambda: None)
    )
    clock = Clock(context)
    paces = itertools.cycle([2e-4, 1e-4])
    monkeypatch.setattr(clock, "_paced", lambda program: next(paces))
    monkeypatch.setattr(opengl_time, "AWAKE", 0.05)
    runs = []
    for best in (0.0, 5e-5):  # not known yet, and not reached
        clock.best, started = best, time.perf_counter()
        clock._wake(lambda: runs.append(1))
        assert time.perf_counter() - started < 5
        assert clock.best == (best or 1e-4)
    assert runs
