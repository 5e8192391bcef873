"""`pygpu.tune`: the fastest shape is taken, remembered, and changes no result."""

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position
from pygpu.core.device import Device
from pygpu.core.programs import Program
from pygpu.devices import targets
from pygpu.devices.interpreter import InterpreterDevice
from pygpu.execution.inspection import tuning
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.shapes import CANDIDATES, Shape

FASTEST = Shape(4, 1, 64, 1)


def difference(im: Image, p: Position):
    return im(p + (1, 1)) - im(p - (1, 1))


def scaled(im: Image, p: Position, by: Float):
    return by * im(p)


def random(*shape):
    return np.random.default_rng(0).random(shape, np.float32)


@pytest.fixture(autouse=True)
def disk(monkeypatch, tmp_path):
    monkeypatch.setenv("PYGPU_CACHE", "1")
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    shapes.forget()
    yield
    shapes.forget()


class ShapedProgram(Program):
    """Runs as the interpreter does, and knows its shape."""

    def __init__(self, program, shape):
        self.program, self.shape = program, shape
        self.source = f"{shape}: {program.source}"

    def run(self, work):
        return self.program.run(work)


class ShapedDevice(Device):
    """Takes the place of the compute target; it refuses groups of 16 x 16 threads. A run takes as
    many seconds as `times` says of its shape."""

    name, driver, shapes = "compute", "fake driver", CANDIDATES

    def __init__(self):
        self.times = dict.fromkeys(CANDIDATES, 2.0) | {FASTEST: 1.0}

    def seconds(self, runs):
        for run in runs:
            run()
        return [self.times[run.args[0].shape] for run in runs]

    def compile(self, task, shape=None):
        if shape is None:
            remembered = shapes.remembered(shapes.key(task, self.driver))
            shape = remembered or shapes.default(task)
        if shape.threads_y == 16:
            raise pygpu.DeviceError("too many threads")
        return ShapedProgram(InterpreterDevice().compile(task), shape)


@pytest.fixture
def device(monkeypatch):
    """A device on which FASTEST is the fastest shape."""
    device = ShapedDevice()
    monkeypatch.setattr(targets, "choose", lambda target: device)
    return device


def shape_of(compiled):
    (made,) = compiled.specialisations()
    return made.program.shape


def test_the_fastest_counts_from_the_next_call_on(device):
    compiled, image = pygpu.compile(scaled), random(5, 7)
    before = compiled(image, by=2.0)
    assert shape_of(compiled) == shapes.OWN
    tuned = pygpu.tune(compiled, image, by=2.0)
    assert (tuned.before, tuned.shape) == (shapes.OWN, FASTEST)
    assert next(iter(tuned.times)) == FASTEST
    assert shape_of(compiled) == FASTEST
    assert np.array_equal(compiled(image, by=2.0), before)


def test_another_process_finds_it(device):
    pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)
    shapes.forget()  # what another process begins with
    compiled = pygpu.compile(scaled)
    compiled(random(5, 7), by=3.0)
    assert shape_of(compiled) == FASTEST


def test_another_driver_does_not(device):
    pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)
    device.driver = "newer driver"
    compiled = pygpu.compile(scaled)
    compiled(random(5, 7), by=2.0)
    assert shape_of(compiled) == shapes.OWN


def test_programs_for_the_same_formats_all_change(device):
    compiled, image = pygpu.compile(scaled), random(5, 7)
    compiled(image, by=2.0)
    compiled(image, by=2.0, out=np.empty_like(image))
    compiled((255 * image).astype(np.uint8), by=2.0)  # another format, left as it is
    pygpu.tune(compiled, image, by=2.0)
    made = [each.program.shape for each in compiled.specialisations()]
    assert made == [FASTEST, FASTEST, shapes.WINDOWS]


def test_what_is_hardly_faster_changes_nothing(device):
    device.times[FASTEST] = 1.99
    tuned = pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)
    assert tuned.shape == tuned.before == shapes.OWN


def test_what_the_driver_refuses_is_left_out(device):
    tuned = pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)
    assert {shape.threads_x * shape.threads_y for shape in tuned.refused} == {256}
    assert set(tuned.times) | set(tuned.refused) == set(CANDIDATES)


def test_where_all_are_refused_it_says_so(device, monkeypatch):
    compiled, image = pygpu.compile(scaled), random(5, 7)
    compiled(image, by=2.0)
    monkeypatch.setattr(device, "shapes", (Shape(4, 1, 16, 16),))
    with pytest.raises(pygpu.DeviceError, match="refuses every shape"):
        pygpu.tune(compiled, image, by=2.0)


def test_without_a_cache_it_holds_for_the_process(device, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE", "0")
    pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)
    compiled = pygpu.compile(scaled)
    compiled(random(5, 7), by=2.0)
    assert shape_of(compiled) == FASTEST
    shapes.forget()
    again = pygpu.compile(scaled)
    again(random(5, 7), by=2.0)
    assert shape_of(again) == shapes.OWN


def test_the_report_is_a_table(device):
    shown = repr(pygpu.tune(pygpu.compile(scaled), random(5, 7), by=2.0)).splitlines()
    assert shown[0] == f"scaled on compute: {FASTEST}"
    assert shown[1].split(" ms ")[0].strip() == "1000"
    assert len(shown) == 1 + len(CANDIDATES)
    assert shown[-1].startswith("  refused")


def test_other_targets_have_nothing_to_choose(target):
    if target == "compute":
        pytest.skip("compute programs have shapes")
    tuned = pygpu.tune(pygpu.compile(scaled, target=target), random(5, 7), by=2.0)
    assert tuned.shape is None
    assert repr(tuned) == f"scaled on {target}: there is nothing to choose"


@pytest.mark.parametrize("wrong", [scaled, "scaled", None])
def test_only_compiled_functions_are_taken(wrong):
    with pytest.raises(TypeError, match="tune: takes a compiled function"):
        pygpu.tune(wrong, random(5, 7))


def test_wrong_arguments_are_refused_as_in_a_call():
    with pytest.raises(TypeError, match="by"):
        pygpu.tune(pygpu.compile(scaled, target="interpreter"), random(5, 7))


@pytest.mark.parametrize("size", [(1, 1), (9, 13), (40, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_every_shape_computes_the_same_bits(size, dtype):
    require("compute")
    compiled = pygpu.compile(difference, target="compute", dtype=dtype)
    image = random(*size) if dtype is np.float32 else (255 * random(*size)).astype(dtype)
    job = Job.of(compiled, [image], {})
    programs, refused = tuning._programs(job.made)
    assert not refused
    first, *others = [job.run(program)[0].host() for program in programs.values()]
    assert all(np.array_equal(first, other) for other in others)


def test_a_driver_can_be_tuned(monkeypatch):
    require("compute")
    few = (Shape(4, 1, 64, 1), Shape(4, 2, 32, 4))
    monkeypatch.setattr(targets.open_device("compute"), "shapes", few)
    compiled, image = pygpu.compile(difference, target="compute"), random(64, 80)
    before = compiled(image)
    tuned = pygpu.tune(compiled, image)
    assert set(tuned.times) == {Shape(4, 1, 64, 1), Shape(4, 2, 32, 4)}
    assert min(tuned.times.values()) > 0
    assert np.array_equal(compiled(image), before)
    assert np.array_equal(pygpu.compile(difference, target="compute")(image), before)
