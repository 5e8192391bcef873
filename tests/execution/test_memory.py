"""Memory does not grow with calls or with specialisations; what is short is said, and no more."""

import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position
from pygpu.devices import targets
from pygpu.execution.large import plans
from pygpu.execution.programs import joined, specialise
from pygpu.execution.programs.gate import Gate

MIB = 2**20
PHOTO = np.random.default_rng(0).random((24, 24), dtype=np.float32)

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def scale(im: Image, p: Position, gain: Float = 2.0):
    return gain * im(p)


@linux
def test_calls_leave_nothing(target):
    f = pygpu.compile(scale, target=target)
    image, out = Image(PHOTO), np.empty_like(PHOTO)
    blurred = pygpu.compile(lambda im=Image, p=Position: im(p) / 2, target=target)

    def some(count):
        for i in range(count):
            f(PHOTO, i * 0.5)
            f(image, i * 0.5)
            f(PHOTO[: 8 + i % 16], out=out[: 8 + i % 16])
        blurred.iterate(image, 5)

    some(200)
    grown = []
    for _ in range(3):  # a leak is there each time, what a driver keeps for later once
        before = resident()
        some(600)
        grown.append(resident() - before)
        if grown[-1] < 2 * MIB:
            return
    raise AssertionError(f"600 calls each left {grown} bytes")


def machine_code() -> int:
    """How many pieces of native code are alive."""
    gc.collect()
    return sum(type(each).__name__ == "Native" for each in gc.get_objects())


@linux
def test_specialisations_leave_nothing(target, monkeypatch):
    monkeypatch.setattr(specialise, "LIMIT", 4)
    f = pygpu.compile(lambda im=Image, p=Position, k=0: im(p) * k, target=target)

    def some(first, count):
        for k in range(first, first + count):
            f(PHOTO, k=float(k))

    some(0, 60)
    grown = []
    for turn in range(1, 4):  # a leak is there each time, what LLVM and drivers keep for later once
        before, natives = resident(), machine_code()
        some(60 * turn, 60)
        grown.append(resident() - before)
        assert len(f._cache.programs) == len(f._cache.translations) == 4
        assert machine_code() - natives < 30  # other tests' programs in this process count in both
        if grown[-1] < 40 * MIB:
            return
    raise AssertionError(f"60 programs each left {grown} bytes")


def test_calls_of_dask_arrays_let_go_of_the_images_beside_them():
    da = pytest.importorskip("dask.array")
    f = pygpu.compile(lambda im=Image, other=Image, p=Position: im(p) + other(p), target="cpu")
    lazy, alive = da.from_array(PHOTO, chunks=12), []
    for _ in range(3 * plans.WHOLE):
        beside = PHOTO.copy()
        alive.append(weakref.ref(beside))
        np.testing.assert_array_equal(f(lazy, beside).compute(), 2 * PHOTO)
    del beside
    gc.collect()
    assert sum(each() is not None for each in alive) <= plans.WHOLE
    before, made = plans._with_whole.cache_info().misses, lazy
    for _ in range(2 * plans.WHOLE):  # in one graph, where chunks of all of them take turns
        made = f(made, PHOTO)
    made.compute()
    assert plans._with_whole.cache_info().misses == before + 2 * plans.WHOLE


def test_the_least_recently_used_program_goes(monkeypatch):
    monkeypatch.setattr(specialise, "LIMIT", 2)
    monkeypatch.setattr(Gate, "after", lambda *given: None)  # gates hold some of the last besides
    f = pygpu.compile(lambda im=Image, p=Position, k=0: im(p) * k, target="interpreter")
    made = []
    compiled = targets.open_device("interpreter").compile
    monkeypatch.setattr(
        targets.open_device("interpreter"),
        "compile",
        lambda *args: made.append(1) or compiled(*args),
        raising=False,
    )
    for k in (1, 2, 1, 3, 1):
        f(PHOTO, k=k)
    assert len(made) == 3
    f(PHOTO, k=2)
    assert len(made) == 4


def test_clear_lets_go_of_what_is_kept_for_images_of_the_same_size():
    joined.columns(3, (2, 6))
    pygpu.clear()
    assert joined.columns.cache_info().currsize == 0


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_clear_gives_back_what_is_kept_for_reuse(name):
    require(name)
    from pygpu.devices.opengl import context as opengl

    f = pygpu.compile(scale, target=name)
    f(PHOTO)
    with opengl.context() as gl:
        gl.drain()
        assert gl.pool.nbytes > 0
    pygpu.clear()
    with opengl.context() as gl:
        assert gl.pool.nbytes == 0
    np.testing.assert_array_equal(f(PHOTO), 2 * PHOTO)


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_memory_of_the_device_that_is_short_is_a_clear_error_and_no_more(name, monkeypatch):
    require(name)
    from pygpu.devices.opengl import context as opengl

    f = pygpu.compile(scale, target=name)
    whole = f(PHOTO)
    allocate = opengl.Context._allocate

    def short(self, make, what, nbytes):
        if nbytes > 100:
            raise pygpu.core.errors.OutOfMemory(f"no memory for {what}: GL_OUT_OF_MEMORY")
        return allocate(self, make, what, nbytes)

    with opengl.context() as gl:
        gl.drain()
        gl.pool.clear()
    with monkeypatch.context() as patch:
        patch.setattr(opengl.Context, "_allocate", short)
        with pytest.raises(pygpu.DeviceError, match="GL_OUT_OF_MEMORY"):
            f(PHOTO)
    np.testing.assert_array_equal(f(PHOTO), whole)


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_a_driver_that_is_out_of_memory_is_asked_again_in_tiles(name, monkeypatch):
    require(name)
    from pygpu.devices.opengl import context as opengl

    f = pygpu.compile(lambda im=Image, p=Position: im(p + (1, 1)), target=name)
    image = Image(np.tile(PHOTO, (3, 3)), boundary="wrap")
    allocate = opengl.Context._allocate

    def short(self, make, what, nbytes):
        if nbytes > 10_000:
            raise pygpu.core.errors.OutOfMemory(f"no memory for {what}: GL_OUT_OF_MEMORY")
        return allocate(self, make, what, nbytes)

    with opengl.context() as gl:
        gl.drain()
        gl.pool.clear()
    monkeypatch.setattr(opengl.Context, "_allocate", short)
    expected = np.roll(np.asarray(image), (-1, -1), (0, 1))
    np.testing.assert_array_equal(np.asarray(f(image)), expected)
