"""The private OpenGL context and the fragment device: texels up and down, other libraries'
contexts, threads, forks, and drivers in trouble."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from pygpu.core.builder import Builder
from pygpu.core.errors import DeviceError
from pygpu.core.programs import Task, Work
from pygpu.core.storage import STORED, Format, Storage, stored, texels
from pygpu.devices import targets
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver import limits as opengl_limits
from pygpu.devices.opengl.driver import platform as opengl_platform
from pygpu.devices.opengl.driver.context import LOGIC_OP, SPARE
from pygpu.devices.opengl.driver.pool import Pool
from pygpu.ssa import Function, ImageInput, Lookup
from pygpu.types import BOOL, FLOAT, INT, Type, vector

Array = NDArray[Any]
F32: Final = Format(np.dtype("float32"), 1)


@pytest.fixture(params=["fragment", "compute"])
def device(request: pytest.FixtureRequest) -> Any:
    """Each of the targets that run on OpenGL."""
    require(request.param)
    return targets.open_device(request.param)


@pytest.fixture
def fragment() -> Any:
    require("fragment")
    return targets.open_device("fragment")


def copying(type: Type) -> Function:
    build = Builder("copy", [ImageInput("a", type)])
    return build.finish([build.load(0, build.x, build.y)])


def values_of(format: Format, shape: tuple[int, int]) -> Array:
    """Texels with everything special in them."""
    generator = np.random.default_rng(4)
    size = (*shape, format.channels)
    if format.dtype.kind == "b":
        return generator.random(size) < 0.5
    if format.dtype.kind == "f":
        array = generator.normal(0, 10, size).astype(format.dtype)
        array.flat[:6] = [np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(format.dtype).max]
        return array
    limits = np.iinfo(format.dtype)
    array = generator.integers(limits.min, limits.max, size, format.dtype, endpoint=True)
    array.flat[:2] = limits.min, limits.max
    return array


# ---------------------------------------------------------------- formats

ALL: Final = [
    Format(dtype, channels, normalize)
    for dtype in STORED
    for channels in (1, 2, 3, 4)
    for normalize in ((True, False) if dtype.kind == "u" else (True,))
]


@pytest.mark.parametrize("width", [5, 8])
@pytest.mark.parametrize("format", ALL, ids=lambda f: f"{f.dtype}x{f.channels}{f.normalize:d}")
def test_texels_come_back_as_they_went_up(format: Format, width: int, device: Any) -> None:
    array = values_of(format, (7, width))
    program = device.compile(Task(copying(format.type), [format], [format]))
    out = np.zeros_like(array)
    (lazy,) = program.run(Work([Storage.of(array)], [], (7, width), [None]))
    program.run(Work([Storage.of(array)], [], (7, width), [out]))
    np.testing.assert_array_equal(lazy.host(), array)
    np.testing.assert_array_equal(out, array)
    if format.dtype.kind == "f":
        real = ~np.isnan(array)
        np.testing.assert_array_equal(np.signbit(out[real]), np.signbit(array[real]))


@pytest.mark.parametrize("name", ["uint8", "uint16"])
def test_texel_of_an_integer_image_is_the_nearest_float(name: str, device: Any) -> None:
    top = np.iinfo(name).max
    array = np.arange(top + 1, dtype=name).reshape(-1, 256)
    format = Format(array.dtype, 1)
    program = device.compile(Task(copying(FLOAT), [format], [F32]))
    (result,) = program.run(Work([Storage.of(array)], [], array.shape, [None]))
    np.testing.assert_array_equal(result.host()[..., 0], texels(array, format))


@pytest.mark.parametrize("dtype", STORED, ids=str)
@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("channels", [1, 3])
def test_results_are_stored_as_the_contract_says(
    kind: Any, dtype: np.dtype[Any], channels: int, device: Any
) -> None:
    if kind == "float":
        array = np.random.default_rng(0).uniform(-0.2, 1.2, (6, 8, channels)).astype(np.float32)
        array[0, :7, 0] = [np.nan, np.inf, -np.inf, 300.7, -300.7, 1e20, -1e20]
    elif kind == "int":
        array = np.random.default_rng(0).integers(-300, 300, (6, 8, channels)).astype(np.int32)
        array[0, :3, 0] = [2**31 - 1, -(2**31), 70000]
    else:
        array = np.random.default_rng(0).random((6, 8, channels)) < 0.5
    function = copying(vector(kind, channels))
    program = device.compile(
        Task(function, [Format(array.dtype, channels)], [Format(dtype, channels)])
    )
    (result,) = program.run(Work([Storage.of(array)], [], (6, 8), [None]))
    actual = result.host()
    assert actual.dtype == dtype
    with np.errstate(all="ignore"):
        expected = stored(array, dtype)
    if dtype == np.uint16 and kind == "float":  # a tie may go either way
        np.testing.assert_allclose(actual.astype(int), expected.astype(int), atol=1)
    else:
        np.testing.assert_array_equal(actual, expected)


def test_result_is_read_by_another_program_without_a_download(device: Any) -> None:
    array = values_of(Format(np.dtype("uint8"), 3), (4, 6))
    format = Format(array.dtype, 3)
    program = device.compile(Task(copying(format.type), [format], [format]))
    (first,) = program.run(Work([Storage.of(array)], [], (4, 6), [None]))
    (second,) = program.run(Work([first], [], (4, 6), [None]))
    assert first.array is None
    np.testing.assert_array_equal(second.host(), array)


def test_images_of_other_sizes_are_read_at_their_own_edges(device: Any) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    program = device.compile(Task(copying(FLOAT), [F32], [F32]))
    (result,) = program.run(Work([Storage.of(array)], [], (3, 5), [None]))
    expected = np.pad(array, ((0, 1), (0, 2)), mode="edge")
    np.testing.assert_array_equal(result.host()[..., 0], expected)


def test_uniforms_of_every_type_arrive(device: Any) -> None:
    given: dict[Type, Any] = {
        FLOAT: 0.1, INT: -(2**31), BOOL: True,
        vector("float", 3): (1.5, float("nan"), -0.0), vector("int", 2): (2**31 - 1, -7),
        vector("bool", 4): (True, False, False, True),
    }  # fmt: skip
    build = Builder("f", [], [(f"u{i}", type) for i, type in enumerate(given)])
    function = build.finish(build.uniforms)
    formats = [
        Format(np.dtype({"float": "float32", "int": "int32", "bool": "bool"}[t.kind]), t.size)
        for t in given
    ]
    program = device.compile(Task(function, [], formats))
    for _ in range(2):
        results = program.run(Work([], list(given.values()), (1, 2), [None] * len(formats)))
        for result, (type, value) in zip(results, given.items(), strict=True):
            expected = np.array(value, result.dtype).reshape(type.size)
            np.testing.assert_array_equal(result.host()[0, 1], expected)


@pytest.mark.parametrize("channels", [1, 3])
def test_many_uniforms_change_from_call_to_call(device: Any, channels: int) -> None:
    """More than the program of vertices hands on, with an odd width and a width's own uniform."""
    type = vector("float", channels) if channels > 1 else FLOAT
    build = Builder(
        "f", [ImageInput("pg_given0", type)], [(f"u{i}", (FLOAT, INT)[i % 2]) for i in range(13)]
    )
    total = build.load(0, build.x, build.y, "wrap", dx=1)
    for value in build.uniforms:
        number = value if value.type is FLOAT else build.emit("to_float", value)
        scalar = number if channels == 1 else build.emit("construct", *[number] * channels)
        total = build.emit("add", total, scalar)
    format = Format(np.dtype("float32"), channels)
    program = device.compile(Task(build.finish([total]), [format], [format]))
    texels = np.arange(15 * channels, dtype=np.float32).reshape(3, 5, channels)
    for start in (0, 100):
        given = [start + i for i in range(13)]
        (result,) = program.run(Work([Storage.of(texels)], given, (3, 5), [None]))
        np.testing.assert_array_equal(result.host(), np.roll(texels, -1, 1) + sum(given))


def test_functions_of_one_text_may_have_their_images_in_any_order(device: Any) -> None:
    """They share a program, and what its uniforms were set to."""
    programs = []
    for order in (["a", "b"], ["b", "a"]):
        build = Builder("f", [ImageInput(name, FLOAT) for name in order])
        a, b = [build.emit("width", data=order.index(name)) for name in "ab"]
        hundred = build.constant(INT, 100)
        function = build.finish([build.emit("add", build.emit("mul", a, hundred), b)])
        programs.append(device.compile(Task(function, [F32, F32], [Format(np.dtype("int32"), 1)])))
    images = [Storage.of(np.zeros((2, width, 1), np.float32)) for width in (5, 9)]
    widths = [
        program.run(Work(images, [], (1, 1), [None]))[0].host().item() for program in programs
    ]
    assert widths == [509, 905]


def test_more_results_than_the_driver_draws_at_once_take_several_passes(device: Any) -> None:
    build = Builder("f", [])
    results = [build.emit("add", build.x, build.constant(INT, i)) for i in range(20)]
    formats = [Format(np.dtype("int32"), 1)] * 20
    program = device.compile(Task(build.finish(results), [], formats))
    out = [np.zeros((1, 3, 1), np.int32) for _ in range(20)]
    program.run(Work([], [], (1, 3), out))
    assert [array[0, 2, 0] for array in out] == [2 + i for i in range(20)]


# ---------------------------------------------------------------- the door


def test_other_libraries_context_stays_current(fragment: Any) -> None:
    """Run in a process of its own: contexts of other libraries live long."""
    run_python(
        """
import ctypes, numpy as np, moderngl
other = moderngl.create_context(standalone=True, backend="egl")
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetCurrentContext.restype = ctypes.c_void_p
theirs = egl.eglGetCurrentContext()
buffer = other.buffer(b"abcd")
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.fragment import FragmentDevice
from pygpu.core.builder import Builder
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format
build = Builder("f", [])
task = Task(build.finish([build.x]), [], [Format(np.dtype("int32"), 1)])
program = FragmentDevice().compile(task)
(result,) = program.run(Work([], [], (2, 3), [None]))
assert egl.eglGetCurrentContext() == theirs
assert result.host()[1].ravel().tolist() == [0, 1, 2]
assert egl.eglGetCurrentContext() == theirs
assert buffer.read() == b"abcd"
assert moderngl.get_context() is other
with opengl.context() as gl:
    assert egl.eglGetCurrentContext() != theirs
    with opengl.context() as again:
        assert again is gl
    assert egl.eglGetCurrentContext() != theirs
other.release()
(result,) = program.run(Work([], [], (2, 3), [None]))
assert result.host()[1].ravel().tolist() == [0, 1, 2]
"""
    )


def run_python(text: str, **environment: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    return answer.stdout


def test_compute_runs_as_fragments_where_the_driver_is_too_old(fragment: Any) -> None:
    with opengl.context() as gl:
        if "Mesa" not in gl.version:
            pytest.skip("no other driver can be told to be older")
    told = run_python(
        """
import logging, sys
import numpy as np, pygpu
from pygpu import Image, Position
logging.basicConfig(stream=sys.stdout)
def shifted(im: Image, p: Position):
    return im(p + (1, 0)) * 2
f = pygpu.compile(shifted, target="compute")
image = np.arange(15, dtype=np.float32).reshape(3, 5)
for _ in range(2):
    np.testing.assert_array_equal(f(image)[:, :-1], 2 * image[:, 1:])
print(f.target, pygpu.info().targets["compute"]["available"])
""",
        MESA_GL_VERSION_OVERRIDE="3.3",
        MESA_GLSL_VERSION_OVERRIDE="330",
    )
    assert told.count("running on fragment") == 1
    assert told.endswith("fragment False\n")


def test_nothing_is_current_after_the_door(fragment: Any) -> None:
    run_python(
        """
import ctypes
from pygpu.devices.opengl import context as opengl
with opengl.context() as gl:
    pass
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetCurrentContext.restype = ctypes.c_void_p
assert egl.eglGetCurrentContext() is None
"""
    )


def test_threads_take_turns(device: Any) -> None:
    function = copying(FLOAT)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            generator = np.random.default_rng(seed)
            program = device.compile(Task(function, [F32], [F32]))
            for _ in range(20):
                array = generator.random((8, int(generator.integers(1, 30)))).astype(np.float32)
                (result,) = program.run(Work([Storage.of(array)], [], array.shape, [None]))
                np.testing.assert_array_equal(result.host()[..., 0], array)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_forked_child_is_told_not_to_use_opengl(device: Any) -> None:
    array = np.ones((2, 2), np.float32)
    program = device.compile(Task(copying(FLOAT), [F32], [F32]))
    (result,) = program.run(Work([Storage.of(array)], [], (2, 2), [None]))
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            for use in (
                lambda: program.run(Work([Storage.of(array)], [], (2, 2), [None])),
                result.host,
            ):
                try:
                    use()
                except DeviceError as error:
                    sender.send(str(error))
                else:
                    sender.send("no error")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for _ in range(2):
        assert "forked" in receiver.recv()
    np.testing.assert_array_equal(result.host()[..., 0], array)


def test_process_ends_silently() -> None:
    require("fragment")
    run_python(
        """
import numpy as np
from pygpu.devices.opengl.fragment import FragmentDevice
from pygpu.core.builder import Builder
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format
build = Builder("f", [])
task = Task(build.finish([build.x]), [], [Format(np.dtype("int32"), 1)])
program = FragmentDevice().compile(task)
held = program.run(Work([], [], (2, 3), [None]))
"""
    )


# ---------------------------------------------------------------- pools


def test_textures_go_back_to_the_pool(device: Any) -> None:
    array = np.ones((31, 33), np.float32)
    program = device.compile(Task(copying(FLOAT), [F32], [F32]))
    storage = Storage.of(array)
    names = set()
    for _ in range(2 * SPARE):
        (result,) = program.run(Work([storage], [], (31, 33), [None]))
        names.add(next(iter(result.copies.values())).glo.glo)
        if len(names) > 1:
            assert not opengl.context().held.is_software  # there, results take turns
        del result
        gc.collect()
    assert len(names) <= SPARE
    (result,) = program.run(Work([storage], [], (31, 33), [None]))
    with opengl.context() as gl:
        gl.drain()
        gl.pool.clear()
        assert gl.pool.nbytes == 0
    np.testing.assert_array_equal(result.host()[..., 0], array)


def test_pool_is_bounded_and_lets_the_oldest_go() -> None:
    freed: list[str] = []
    pool = Pool(100, freed.append)
    for name in "abc":
        pool.give("small" if name == "b" else "large", name, 40)
    assert freed == ["b"]
    assert pool.nbytes == 80
    assert pool.take("other") is None
    assert pool.take("large") == "c"
    pool.clear()
    assert len(pool) == 0
    assert freed == ["b", "a"]


# ---------------------------------------------------------------- trouble


def test_image_above_the_drivers_size_says_the_numbers(fragment: Any) -> None:
    program = fragment.compile(Task(copying(FLOAT), [F32], [F32]))
    with opengl.context() as gl:
        limit = gl.limits.texture_size
    widest = 4 * limit  # a texel is four pixels
    wide = np.zeros((1, widest + 1), np.float32)
    with pytest.raises(DeviceError, match=f"{widest + 4} x 1 .*{widest} x {limit}"):
        program.run(Work([Storage.of(wide)], [], wide.shape, [None]))
    small = np.ones((2, 2), np.float32)
    (result,) = program.run(Work([Storage.of(small)], [], (2, 2), [None]))
    np.testing.assert_array_equal(result.host()[..., 0], small)


def test_no_memory_is_an_error_and_the_next_call_works(device: Any) -> None:
    with opengl.context() as gl:
        if not gl.is_software:
            pytest.skip("takes a driver that fails before it takes the memory")
        limit = gl.limits.texture_size
        with pytest.raises(DeviceError, match="no memory for a texture"):
            gl.texture(limit, limit, 4, np.dtype("float32"))
    program = device.compile(Task(copying(FLOAT), [F32], [F32]))
    small = np.ones((2, 2), np.float32)
    (result,) = program.run(Work([Storage.of(small)], [], (2, 2), [None]))
    np.testing.assert_array_equal(result.host()[..., 0], small)


def test_context_is_made_anew_after_a_reset(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = device.compile(Task(copying(FLOAT), [F32], [F32]))
    array = np.ones((2, 2), np.float32)
    storage = Storage.of(array)
    (lost,) = program.run(Work([storage], [], (2, 2), [None]))
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "_status", lambda: 0x8253)
    with pytest.raises(DeviceError, match="reset the device"):
        program.run(Work([storage], [], (2, 2), [np.zeros((2, 2, 1), np.float32)]))
    (result,) = program.run(Work([storage], [], (2, 2), [None]))
    np.testing.assert_array_equal(result.host()[..., 0], array)
    with pytest.raises(DeviceError, match="lost"):
        lost.host()
    with opengl.context() as again:
        assert again is not gl


def test_image_above_the_size_of_a_buffer_says_the_numbers() -> None:
    require("compute")
    with opengl.context() as gl:
        limit = gl.limits.storage_size
        with pytest.raises(DeviceError, match=f"{limit >> 20} MiB"):
            gl.buffer(limit + 4)


def test_results_of_other_word_sizes_leave_together() -> None:
    """A thread stores whole words: the narrowest result says how many pixels it makes."""
    require("compute")
    device = targets.open_device("compute")
    build = Builder("f", [])
    color = build.emit("construct", build.x, build.y, build.emit("add", build.x, build.y))
    function = build.finish([build.x, color, build.y])
    dtypes = [("int32", 1), ("uint8", 3), ("int16", 1)]
    program = device.compile(Task(function, [], [Format(np.dtype(d), c) for d, c in dtypes]))
    for width in (1, 5, 67, 300):
        results = program.run(Work([], [], (3, width), [None] * 3))
        y, x = np.indices((3, width))
        expected = [x, np.clip(np.stack([x, y, x + y], -1), 0, 255), y]
        for want, have in zip(expected, results, strict=True):
            np.testing.assert_array_equal(have.host().reshape(want.shape), want)


def test_refused_program_is_shown_with_the_drivers_words(fragment: Any) -> None:
    with opengl.context() as gl, pytest.raises(DeviceError, match="nonsense") as error:
        gl.program("#version 330 core\nnonsense")
    assert "#version 330 core" in str(error.value)


def test_missing_driver_names_every_attempt_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> Any:
        raise opengl_platform.PlatformError("no such display")

    monkeypatch.setattr(opengl, "attempts", lambda: [("EGL device 0", fail), ("glcontext", fail)])
    door = opengl._Door()
    for _ in range(2):
        with pytest.raises(DeviceError) as error, door:
            pass
        assert "EGL device 0: no such display" in str(error.value)
        assert "glcontext: no such display" in str(error.value)
        assert "libgl1-mesa-dri" in str(error.value)
    assert door.depth == 0


def test_too_many_images_for_the_driver_says_how_many(fragment: Any) -> None:
    with opengl.context() as gl:
        count = gl.limits.textures + 1
    build = Builder("f", [ImageInput(f"im{i}", FLOAT) for i in range(count)])
    total = build.load(0, build.x, build.y)
    for index in range(1, count):
        total = build.emit("add", total, build.load(index, build.x, build.y))
    with pytest.raises(DeviceError, match=f"reads {count} images and tables at once"):
        fragment.compile(Task(build.finish([total]), [F32] * count, [F32]))


def tables(count: int, size: int) -> Function:
    """A function that adds an element of each of several tables."""
    build = Builder("f", [ImageInput("im", FLOAT)])
    total = build.load(0, build.x, build.y)
    for k in range(count):
        table = build.add_table(f"t{k}", np.arange(size, dtype=np.float32) + k)
        element = build.emit("table", build.x, data=Lookup(table, FLOAT))
        total = build.emit("add", total, element)
    return build.finish([total])


def test_many_tables_are_blocks_as_far_as_drivers_have_them_then_textures(device: Any) -> None:
    image = Storage.of(np.zeros((1, 5), np.float32))
    program = device.compile(Task(tables(30, 300), [F32], [F32]))
    (result,) = program.run(Work([image], [], (1, 5), [None]))
    expected = 30 * np.arange(5) + sum(range(30))
    np.testing.assert_array_equal(result.host()[0, :, 0], expected)


def test_too_many_tables_for_the_driver_says_how_many(device: Any) -> None:
    with opengl.context() as gl:
        count = gl.limits.textures + gl.limits.storage_blocks + 1
    with pytest.raises(DeviceError, match=r"reads \d+ images and tables at once; this driver"):
        device.compile(Task(tables(count + 12, 300), [F32], [F32]))


def test_too_many_numbers_for_the_driver_says_how_many(device: Any) -> None:
    with opengl.context() as gl:
        count = gl.limits.uniform_components + 1
    build = Builder("f", [], [(f"u{i}", FLOAT) for i in range(count)])
    with pytest.raises(DeviceError, match=f"{count} numbers"):
        device.compile(Task(build.finish([build.uniforms[-1]]), [], [F32]))


def test_device_knows_whether_it_is_software(fragment: Any) -> None:
    with opengl.context() as gl:
        known = opengl_limits.SOFTWARE
        assert gl.is_software == any(name in gl.renderer.lower() for name in known)
        assert gl.renderer in gl.description


def test_opaque_programs_are_compiled_once_in_software_and_blending_goes_on(fragment: Any) -> None:
    with opengl.context() as gl:
        type = ctypes.CFUNCTYPE(ctypes.c_ubyte, ctypes.c_uint)
        is_enabled = type(gl.platform.load("glIsEnabled"))
        is_llvmpipe = "llvmpipe" in gl.renderer
        assert bool(is_enabled(LOGIC_OP)) == is_llvmpipe
        for flags in (gl.gl.BLEND, gl.gl.DEPTH_TEST, gl.gl.DEPTH_TEST | gl.gl.BLEND, 0):
            gl.enable_only(flags)
            blends = bool(flags & gl.gl.BLEND)
            assert bool(is_enabled(LOGIC_OP)) == (is_llvmpipe and not blends)


@pytest.fixture
def display() -> Iterator[str]:
    """An X server of our own."""
    if shutil.which("Xvfb") is None:
        pytest.skip("no Xvfb (Debian: xvfb)")
    receiving, sending = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(sending), "-screen", "0", "64x64x24"],
        pass_fds=[sending],
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f":{os.read(receiving, 16).decode().strip()}"
    finally:
        server.terminate()
        server.wait()
        os.close(receiving)
        os.close(sending)


GLX = """
import ctypes, moderngl, os, threading
glx = ctypes.CDLL("libGLX.so.0")
glx.glXGetCurrentContext.restype = ctypes.c_void_p
"""


def test_context_of_a_window_stays_current(fragment: Any, display: str) -> None:
    """Contexts of GLX and of EGL exclude each other; ours makes way."""
    code = """
other = moderngl.create_context(standalone=True)
theirs = glx.glXGetCurrentContext()
buffer = other.buffer(b"abcd")
from pygpu.devices.opengl import context as opengl
with opengl.context() as gl:
    assert glx.glXGetCurrentContext() is None
    gl.check()
assert theirs and glx.glXGetCurrentContext() == theirs
assert buffer.read() == b"abcd"
"""
    run_python(GLX + code, DISPLAY=display)


@pytest.mark.parametrize("others", [False, True])
def test_context_of_the_window_system_makes_way_for_others(display: str, others: bool) -> None:
    """Ours may be one of GLX, too: used by any thread, and current in none afterwards."""
    code = f"""
other = moderngl.create_context(standalone=True) if {others} else None
theirs = glx.glXGetCurrentContext()
assert bool(theirs) == {others}
from pygpu.devices.opengl import context as opengl
failed = []
def use():
    try:
        for _ in range(10):
            with opengl.context() as gl:
                assert gl.gl.buffer(b"abcd").read() == b"abcd"
            assert glx.glXGetCurrentContext() is None
    except BaseException as error:
        failed.append(error)
for _ in range(2):
    with opengl.context() as gl:
        assert "window system" in gl.platform.name
        assert glx.glXGetCurrentContext() not in (None, theirs)
    assert glx.glXGetCurrentContext() == theirs
    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    opengl.context().held.is_lost = True  # the next to enter makes a new one
"""
    run_python(GLX + code, DISPLAY=display, PYGPU_GL_BACKEND="native")


def test_device_is_chosen_by_its_number_and_one_that_is_missing_is_told() -> None:
    require("fragment")
    code = "from pygpu.devices.targets import choose; print(choose('{}').describe())"
    answers = {
        (number, target): subprocess.run(
            [sys.executable, "-c", code.format(target)],
            env={**os.environ, "PYGPU_DEVICE": number, "PYGPU_TARGET": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        for number in ("0", "99")
        for target in ("fragment", "auto")
    }
    if sys.platform.startswith("linux") and "DISPLAY" not in os.environ:
        for target in ("fragment", "auto"):
            assert answers["0", target].returncode == 0, answers["0", target].stderr
            assert "PYGPU_DEVICE='99': the devices here are 0" in answers["99", target].stderr


@pytest.mark.parametrize("device", ["fragment", "compute"])
@pytest.mark.parametrize("count", [5, 40, 300])
def test_tables_that_pixels_read_anywhere_are_textures_or_buffers(
    device: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(device)
    opened: Any = targets.open_device(device)
    monkeypatch.setattr(opened, "dialect", replace(opened.dialect, uniform_blocks=True))
    table = np.sin(np.arange(count)).astype(np.float32)

    def looked_up(im: pygpu.Image, p: pygpu.Position) -> Any:
        near = sum(table[k] * im(p + (k % 3, 0)) for k in range(5))
        return table[pygpu.Int(im(p) * (count - 1))] + near

    values = np.random.default_rng(0).random((20, 33), np.float32)
    compiled = pygpu.compile(looked_up, target=device)
    source = compiled.lower(values).source
    kept = "sampler2D table" if device == "fragment" else "buffer table"
    assert (kept in source) == (count > 16)
    expected = pygpu.compile(looked_up, target="cpu")(values)
    np.testing.assert_allclose(compiled(values), expected, rtol=1e-6, atol=1e-6)


def test_tables_of_every_type_are_read_from_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    require("compute")
    opened: Any = targets.open_device("compute")
    monkeypatch.setattr(opened, "dialect", replace(opened.dialect, uniform_blocks=True))
    random = np.random.default_rng(1)
    numbers = random.random(50).astype(np.float32)
    pairs, triples, fours = (random.random((50, n)).astype(np.float32) for n in (2, 3, 4))
    ints, truths = random.integers(-9, 9, 50), random.random(50) > 0.5
    many = [random.random(20).astype(np.float32) for _ in range(12)]

    def of_types(im: pygpu.Image, p: pygpu.Position) -> Any:
        k = pygpu.Int(im(p) * 60) - 5 if p.x > 2 else p.y
        at = min(max(k, 0), 49)
        found = numbers[at] + sum(pairs[at]) + sum(triples[at]) * 2 + sum(fours[at]) * 3
        return found + ints[at] + (10 if truths[at] else 0)

    def of_many(im: pygpu.Image, p: pygpu.Position) -> Any:
        at = pygpu.Int(im(p) * 19)
        return sum([table[at] for table in many])

    def of_planes(v: pygpu.Volume, p: pygpu.Position) -> Any:
        return numbers[pygpu.Int(v(p + (0, 1, 1)) * 49)] * v(p)

    values = random.random((20, 33), np.float32)
    for function in (of_types, of_many):
        compiled = pygpu.compile(function, target="compute")
        assert "readonly buffer table" in compiled.lower(values).source
        expected = pygpu.compile(function, target="cpu")(values)
        np.testing.assert_allclose(compiled(values), expected, rtol=1e-6, atol=1e-6)
    scan = random.random((4, 5, 9), np.float32)
    made, expected = (pygpu.compile(of_planes, target=t) for t in ("compute", "cpu"))
    assert "buffer table" in made.lower(pygpu.Volume(scan)).source
    np.testing.assert_allclose(made(scan), expected(scan), rtol=1e-6)


@pytest.mark.parametrize("boundary", ["nearest", "constant"])
@pytest.mark.parametrize("most", [max, min])
def test_nan_that_comes_first_is_the_most_of_texels_that_are_chosen(target, most, boundary):
    rng = np.random.default_rng(1)
    texels = rng.random((12, 35)).astype(np.float32)
    texels[rng.random(texels.shape) < 0.3] = np.nan

    def found(im: pygpu.Image, p: pygpu.Position):
        return most(im(p + (i, j)) for j in range(3) for i in range(2))

    image = pygpu.Image(texels, boundary=boundary, cval=0.25)
    want = [[found(image, pygpu.Position(x, y)) for x in range(35)] for y in range(12)]
    np.testing.assert_array_equal(np.asarray(pygpu.compile(found, target=target)(image)), want)
