"""The cpu target against the interpreter: functions, formats, boundaries, sizes."""

from __future__ import annotations

from typing import Any, Final

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

from agreement import PRECISE
from pygpu.core.builder import Builder
from pygpu.core.errors import CompileError, DeviceError
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import Task, Work
from pygpu.core.storage import STORED, Format, Storage
from pygpu.devices.cpu.device import CpuDevice
from pygpu.devices.cpu.moves import PICKED
from pygpu.devices.cpu.threads import thread_count
from pygpu.devices.interpreter import InterpreterDevice
from pygpu.ssa import BOUNDARIES, Function, ImageInput, Lookup, Region, Value
from pygpu.types import BOOL, FLOAT, INT
from random_functions import random_case

Array = NDArray[Any]
LEVELS: Final = ("", "avx2", "sse4.2", "sse2")
F32: Final = Format(np.dtype("float32"), 1)
I32: Final = Format(np.dtype("int32"), 1)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(params=LEVELS, ids=lambda level: level or "host")
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", request.param)
    return str(request.param)


def both(
    function: Function,
    inputs: list[Format],
    outputs: list[Format],
    arrays: list[Array],
    shape: tuple[int, int],
    uniforms: list[Any] | None = None,
) -> tuple[list[Array], list[Array]]:
    """What the interpreter and native code give."""
    results = []
    for device in (InterpreterDevice(), CpuDevice()):
        program = device.compile(Task(function, inputs, outputs))
        stored = program.run(
            Work([Storage.of(a) for a in arrays], uniforms or [], shape, [None] * len(outputs))
        )
        results.append([storage.host() for storage in stored])
    return results[0], results[1]


def random_texels(format: Format, shape: tuple[int, int], seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    size = (*shape, format.channels)
    if format.dtype.kind == "f":
        texels = rng.normal(0, 100, size).astype(format.dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8, 6.2e-5, 65504]
        texels.flat[: len(special)] = special[: texels.size]
        return texels
    if format.dtype.kind == "b":
        return rng.random(size) < 0.5
    limits = np.iinfo(format.dtype)
    return rng.integers(limits.min, limits.max, size, format.dtype, endpoint=True)


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_agree_with_the_interpreter(seed: int, level: str) -> None:
    case = random_case(seed + 1000)
    program = CpuDevice().compile(Task(case.function, case.formats, case.outputs))
    none = [None] * len(case.outputs)
    results = program.run(Work(case.storages(), case.uniforms, case.shape, none))
    case.check([storage.host() for storage in results], PRECISE)


def test_ints_divide_as_python_and_never_trap(level: str) -> None:
    build = Builder("f", [ImageInput("a", INT), ImageInput("b", INT)], [("u", INT)])
    a, b = (build.load(i, build.x, build.y) for i in range(2))
    (u,) = build.uniforms
    codes = ("floordiv", "mod", "shl", "shr", "pow")
    outputs = [build.emit(code, a, b) for code in codes] + [build.emit(c, a, u) for c in codes]
    outputs += [build.emit(code, u, u) for code in codes]
    function = build.finish(outputs)
    edges = np.array([0, 1, -1, 2, -2, 31, 32, 33, -31, 7, -7, 2**31 - 1, -(2**31)], np.int32)
    left, right = (np.ascontiguousarray(m[..., None]) for m in np.meshgrid(edges, edges))
    formats = [I32] * len(outputs)
    for uniform in (0, -1, 3, -(2**31)):
        expected, actual = both(
            function, [I32, I32], formats, [left, right], left.shape[:2], [uniform]
        )
        for index, (want, have) in enumerate(zip(expected, actual, strict=True)):
            assert np.array_equal(want, have), codes[index % len(codes)]


def test_floats_become_ints_saturated(level: str) -> None:
    build = Builder("f", [ImageInput("a", FLOAT)])
    function = build.finish([build.emit("to_int", build.load(0, build.x, build.y))])
    values = np.array([[0.9, -0.9, 1e9, -1e9, 2.0**31, -(2.0**31), 1e30, -np.inf, np.inf, np.nan]])
    texels = values.astype(np.float32)[..., None]
    expected, actual = both(function, [F32], [I32], [texels], texels.shape[:2])
    assert np.array_equal(expected[0], actual[0])


# ---------------------------------------------------------------- formats


TEXELS: Final = [(dtype, True) for dtype in STORED] + [
    (np.dtype(name), False) for name in ("uint8", "uint16")
]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(("dtype", "normalize"), TEXELS)
def test_every_format_is_read_near_and_far_and_written(
    dtype: np.dtype[Any], channels: int, normalize: bool, level: str
) -> None:
    format = Format(dtype, channels, normalize)
    build = Builder("f", [ImageInput("im", format.type)])
    here = build.load(0, build.x, build.y)
    near = build.load(0, build.x, build.y, "wrap", dx=2, dy=-1)
    far = build.load(0, build.y, build.x, "reflect")
    function = build.finish([here, near, far])
    formats = [Format(np.dtype(NUMPY_TYPE[format.kind]), channels)] * 3
    for shape in [(1, 1), (2, 1), (7, 37)]:
        texels = random_texels(format, shape)
        expected, actual = both(function, [format], formats, [texels], shape)
        for want, have in zip(expected, actual, strict=True):
            np.testing.assert_allclose(have, want, rtol=1.2e-7)
        _, copied = both(function, [format], [format] * 3, [texels], shape)
        assert np.array_equal(copied[0], texels, equal_nan=format.kind == "float")


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_results_are_converted(dtype: np.dtype[Any], kind: str, level: str) -> None:
    source = {"float": F32, "int": I32, "bool": Format(np.dtype("bool"), 1)}[kind]
    build = Builder("f", [ImageInput("im", source.type)])
    texel = build.load(0, build.x, build.y)
    vectors = [build.emit("splat", texel, data=n) for n in (2, 3, 4)]
    function = build.finish([texel, *vectors])
    values = random_texels(source, (5, 41))
    if kind == "float":
        values[1:3] /= 300  # some within [0, 1]
        values[3] *= 1e8
    formats = [Format(dtype, n) for n in (1, 2, 3, 4)]
    expected, actual = both(function, [source], formats, [values], values.shape[:2])
    for want, have in zip(expected, actual, strict=True):
        assert np.array_equal(want, have, equal_nan=dtype.kind == "f")


def test_half_floats_are_exact(level: str) -> None:
    half = Format(np.dtype("float16"), 1)
    build = Builder("f", [ImageInput("h", FLOAT), ImageInput("s", FLOAT)])
    h, s = (build.load(i, build.x, build.y) for i in range(2))
    function = build.finish([h, s])
    every = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(256, 256, 1)
    bits = np.random.default_rng(0).integers(0, 2**32, every.shape, np.uint32)
    singles = bits.view(np.float32)
    singles[:128] = every[:128].astype(np.float32) * (1 + singles[:128] % 2**-11)
    expected, actual = both(function, [half, F32], [F32, half], [every, singles], (256, 256))
    for want, have in zip(expected, actual, strict=True):
        assert np.array_equal(want, have, equal_nan=True)


def test_eight_bits_are_right_to_one_ulp() -> None:
    for name, top in (("uint8", 255), ("uint16", 65535)):
        format = Format(np.dtype(name), 1)
        build = Builder("f", [ImageInput("im", FLOAT)])
        function = build.finish([build.load(0, build.x, build.y)])
        every = np.arange(top + 1).astype(name).reshape(-1, 256, 1)
        program = CpuDevice().compile(Task(function, [format], [F32]))
        (result,) = program.run(Work([Storage.of(every)], [], every.shape[:2], [None]))
        exact = every.astype(np.float64) / top
        assert np.all(np.abs(result.host() - exact) <= np.spacing(exact.astype(np.float32)))
        program = CpuDevice().compile(Task(function, [format], [format]))
        (copy,) = program.run(Work([Storage.of(every)], [], every.shape[:2], [None]))
        assert np.array_equal(copy.host(), every)


# ---------------------------------------------------------------- boundaries and sizes


def taps_of(boundary: str, cval: float = 0.25) -> Function:
    """Weighted taps around the pixel, further to one side, and one far away."""
    build = Builder("f", [ImageInput("im", FLOAT)])
    outside = (cval,) if boundary == "constant" else ()
    total = build.constant(FLOAT, 0)
    for index, (dx, dy) in enumerate(
        [(0, 0), (-3, 1), (5, 0), (1, -4), (0, 2), (-1, 0), (90, -90)]
    ):
        tap = build.load(0, build.x, build.y, boundary, outside, dx, dy)
        weight = build.constant(FLOAT, 1 + index * 0.37)
        total = build.emit("add", total, build.emit("mul", weight, tap))
    return build.finish([total])


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_sums_of_taps_hold_for_every_format(dtype: str, channels: int, level: str) -> None:
    format = Format(np.dtype(dtype), channels)
    build = Builder("f", [ImageInput("im", format.type)])
    total = build.load(0, build.x, build.y)
    for index, (dx, dy) in enumerate([(-2, 0), (-1, 1), (0, -2), (1, 0), (3, 1), (17, 0)]):
        tap = build.load(0, build.x, build.y, "mirror", (), dx, dy)
        weight = build.constant(FLOAT, 0.5 + index * 0.37)
        weights = build.emit("splat", weight, data=channels) if channels > 1 else weight
        total = build.emit("sub" if index % 2 else "add", total, build.emit("mul", weights, tap))
    function = build.finish([total])
    result = Format(np.dtype("float32"), channels)
    for shape in [(1, 1), (3, 5), (8, 33), (13, 70)]:
        texels = random_texels(format, shape)
        if dtype.startswith("float"):
            texels = np.random.default_rng(0).normal(0, 1, texels.shape).astype(dtype)
        (want,), (have,) = both(function, [format], [result], [texels], shape)
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_what_only_chooses_texels_takes_them_as_they_are(
    dtype: str, boundary: str, level: str
) -> None:
    format = Format(np.dtype(dtype), 1)
    build = Builder("f", [ImageInput("im", FLOAT)])
    outside = (1.0,) if boundary == "constant" else ()
    taps = [build.load(0, build.x, build.y, boundary, outside, dx, dy)
            for dx, dy in ((0, 0), (-2, 1), (5, -1))]  # fmt: skip
    least, most = (build.emit(code, *taps[:2]) for code in ("min", "max"))
    function = build.finish([build.emit("max", least, taps[2]), build.emit("min", most, taps[2])])
    for shape in [(1, 1), (3, 63), (9, 65), (14, 200)]:
        texels = random_texels(format, shape)
        expected, actual = both(function, [format], [format] * 2, [texels], shape)
        for want, have in zip(expected, actual, strict=True):
            assert np.array_equal(want, have)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_what_chooses_among_other_things_too_converts_them(dtype: str) -> None:
    format = Format(np.dtype(dtype), 1)
    integers = Format(np.dtype(dtype), 1, normalize=False)
    for places in (False, True):
        kind, held = (INT, integers) if places else (FLOAT, format)
        build = Builder("f", [ImageInput("im", kind)], [("limit", kind)])
        tap = build.load(0, build.x, build.y, "nearest", (), 0, 0)
        (limit,) = build.uniforms
        chosen = [limit, build.emit("max", tap, limit)]
        function = build.finish([*chosen, build.x, tap] if places else [*chosen, tap])
        texels, uniforms = random_texels(held, (9, 65)), [7 if places else 0.25]
        formats = [held] * len(function.outputs)
        expected, actual = both(function, [held], formats, [texels], (9, 65), uniforms)
        for want, have in zip(expected, actual, strict=True):
            assert np.array_equal(want, have)


SIZES: Final = [(1, 1), (1, 2), (2, 1), (3, 5), (5, 16), (1, 40), (40, 1), (7, 33), (9, 130)]


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_boundaries_hold_at_every_size(boundary: str, level: str) -> None:
    function = taps_of(boundary)
    for shape in SIZES:
        texels = np.random.default_rng(1).random((*shape, 1), np.float32)
        (want,), (have,) = both(function, [F32], [F32], [texels], shape)
        np.testing.assert_allclose(have, want, rtol=1e-6, err_msg=f"{shape}")


def swept(boundary: str) -> Function:
    """The sum of taps at offsets from tables, in a loop on the device."""
    build = Builder("f", [ImageInput("im", FLOAT)])
    offsets = np.array([[dx, dy] for dy in (-6, 0, 3) for dx in (-9, -1, 0, 20)], np.int32)
    across, down = (build.add_table(n, offsets[:, i]) for i, n in enumerate(("dx", "dy")))
    body = Region((Value(INT, "n"), Value(FLOAT, "total")))
    outside = (0.5,) if boundary == "constant" else ()
    with build.inside(body):
        n, total = body.params
        dx, dy = (build.emit("table", n, data=Lookup(t, INT)) for t in (across, down))
        place = build.emit("add", build.x, dx), build.emit("sub", build.y, dy)
        tap = build.load(0, *place, boundary, outside, dx=-1)
        following = build.emit("add", n, build.constant(INT, 1))
        go = build.emit("lt", following, build.constant(INT, len(offsets)))
        scaled = build.emit("mul", total, build.constant(FLOAT, 0.7))
        body.results = go, following, build.emit("add", scaled, tap)
    start = [build.constant(INT, 0), build.constant(FLOAT, 0)]
    return build.finish([build.append("loop", start, [INT, FLOAT], [body])[1]])


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_loops_over_offsets_hold_at_every_size(boundary: str, level: str) -> None:
    function = swept(boundary)
    for shape in SIZES:
        texels = np.random.default_rng(1).random((*shape, 1), np.float32)
        (want,), (have,) = both(function, [F32], [F32], [texels], shape)
        np.testing.assert_allclose(have, want, rtol=1e-6, err_msg=f"{shape}")


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_images_may_be_of_another_size(boundary: str) -> None:
    function = taps_of(boundary)
    for inner, shape in [((3, 4), (40, 70)), ((70, 80), (9, 9)), ((30, 60), (31, 61))]:
        texels = np.random.default_rng(1).random((*inner, 1), np.float32)
        (want,), (have,) = both(function, [F32], [F32], [texels], shape)
        np.testing.assert_allclose(have, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int8", "bool", "uint16"])
def test_constants_outside_need_not_be_storable(dtype: str, level: str) -> None:
    format = Format(np.dtype(dtype), 1)
    build = Builder("f", [ImageInput("im", format.type)])
    cval = {"float": 0.1, "int": 1000, "bool": True}[format.kind]
    near = build.load(0, build.x, build.y, "constant", (cval,), -2, 1)
    function = build.finish([near])
    result = {"float": F32, "int": I32, "bool": Format(np.dtype("bool"), 1)}[format.kind]
    texels = random_texels(format, (5, 9))
    (want,), (have,) = both(function, [format], [result], [texels], (5, 9))
    np.testing.assert_allclose(have, want, rtol=2e-7)


def test_any_position_is_safe(level: str) -> None:
    for boundary in BOUNDARIES:
        build = Builder("f", [ImageInput("im", FLOAT), ImageInput("at", INT)])
        place = build.load(1, build.x, build.y)
        outside = (7.0,) if boundary == "constant" else ()
        outputs = [
            build.load(0, place, build.y, boundary, outside),
            build.load(0, build.x, place, boundary, outside),
            build.load(0, place, place, boundary, outside, 1000, -1000),
        ]
        function = build.finish(outputs)
        rng = np.random.default_rng(2)
        places = rng.integers(-(2**31), 2**31 - 1, (6, 50, 1), np.int32, endpoint=True)
        places[0] //= 2**26
        texels = rng.random((6, 50, 1), np.float32)
        program = CpuDevice().compile(Task(function, [F32, I32], [F32] * 3))
        results = program.run(
            Work([Storage.of(texels), Storage.of(places)], [], (6, 50), [None] * 3)
        )
        given = set(texels.ravel()) | {np.float32(7)}
        assert all(set(result.host().ravel()) <= given for result in results)
        small = np.clip(places, -2000, 2000)
        expected, actual = both(function, [F32, I32], [F32] * 3, [texels, small], (6, 50))
        for want, have in zip(expected, actual, strict=True):
            assert np.array_equal(want, have)


def test_results_may_go_to_given_arrays_and_inputs_lie_anywhere() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])
    function = build.finish([build.load(0, build.x, build.y, dx=1)])
    format = Format(np.dtype("uint8"), 1)
    memory = np.random.default_rng(0).integers(0, 256, 5 * 40 + 1, np.uint8)
    texels = memory[1:].reshape(5, 40, 1)
    out = np.zeros((5, 40, 1), np.uint8)
    program = CpuDevice().compile(Task(function, [format], [format]))
    (result,) = program.run(Work([Storage.of(texels)], [], (5, 40), [out]))
    assert result.array is not None
    assert np.shares_memory(result.array, out)
    assert np.array_equal(out[:, :-1], texels[:, 1:])


def test_large_images_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texels = np.random.default_rng(1).random((300, 500, 1), np.float32)
    for threads in ("1", "3"):
        monkeypatch.setenv("PYGPU_THREADS", threads)
        (want,), (have,) = both(taps_of("mirror"), [F32], [F32], [texels], (300, 500))
        np.testing.assert_allclose(have, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("asked", "others", "threads"),
    [(None, "1", 1), (None, "2,1", 2), (None, "64", 3), ("5", "1", 5)]
    + [(None, said, 3) for said in (None, "", "0", "many", "-1")],
)
def test_threads_are_those_that_workers_of_other_libraries_are_told(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, others: str | None, threads: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    for name, said in (("PYGPU_THREADS", asked), ("OMP_NUM_THREADS", others)):
        monkeypatch.delenv(name, raising=False)
        if said is not None:
            monkeypatch.setenv(name, said)
    assert thread_count() == threads


# ---------------------------------------------------------------- loops


def counting(limit: Value | None, build: Builder) -> Value:
    """Rounds of n -> n + 1 below a limit; without one, for ever."""
    body = Region((Value(INT, "n"),))
    with build.inside(body):
        following = build.emit("add", body.params[0], build.constant(INT, 1))
        never = build.emit("ge", build.emit("bit_and", following, build.constant(INT, 1)), build.x)
        go = build.constant(BOOL, True) if limit is None else build.emit("lt", following, limit)
        body.results = (go if limit is not None else build.emit("bit_or", go, never), following)
    return build.append("loop", [build.constant(INT, 0)], [INT], [body])[0]


def test_lanes_leave_loops_one_by_one(level: str) -> None:
    build = Builder("f", [ImageInput("n", INT)])
    function = build.finish([counting(build.load(0, build.x, build.y), build)])
    limits = np.random.default_rng(0).integers(-2, 50, (11, 37, 1)).astype(np.int32)
    (want,), (have,) = both(function, [I32], [I32], [limits], (11, 37))
    assert np.array_equal(have, want)


def test_a_loop_that_no_pixel_enters_is_not_run(level: str) -> None:
    build = Builder("f", [ImageInput("n", INT)])
    texel = build.load(0, build.x, build.y)
    sides = Region(), Region()
    with build.inside(sides[0]):
        sides[0].results = (counting(None, build),)
    with build.inside(sides[1]):
        sides[1].results = (texel,)
    positive = build.emit("gt", texel, build.constant(INT, 0))
    function = build.finish([build.append("if", [positive], [INT], sides)[0]])
    zeros = np.zeros((3, 21, 1), np.int32)
    program = CpuDevice().compile(Task(function, [I32], [I32]))
    (result,) = program.run(Work([Storage.of(zeros)], [], (3, 21), [None]))
    assert not result.host().any()


# ---------------------------------------------------------------- refusals


def test_a_function_too_large_is_refused_with_its_size() -> None:
    build = Builder("huge", [ImageInput("im", FLOAT)])
    value = build.load(0, build.x, build.y)
    for _ in range(70_000):
        value = build.emit("add", value, value)
    with pytest.raises(CompileError, match="huge has 70001 operations"):
        CpuDevice().compile(Task(build.finish([value]), [F32], [F32]))


def test_unknown_features_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", "mmx3")
    with pytest.raises(DeviceError, match="mmx3"):
        CpuDevice().compile(Task(taps_of("nearest"), [F32], [F32]))


def test_features_that_this_processor_has_not_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [name for name, on in llvm.get_host_cpu_features().items() if not on]
    monkeypatch.setenv("PYGPU_CPU_FEATURES", f"+{missing[0]}")
    with pytest.raises(DeviceError, match=f"this processor has no .*{missing[0]}"):
        CpuDevice().compile(Task(taps_of("nearest"), [F32], [F32]))


# ---------------------------------------------------------------- images of 2 GiB and more


def test_loads_far_away_in_huge_images_use_wide_indices(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dtype, channels in (("float32", 1), ("uint8", 3), ("uint8", 4), ("uint16", 2)):
        format = Format(np.dtype(dtype), channels)
        build = Builder("f", [ImageInput("im", format.type)])
        double = build.emit("mul", build.x, build.constant(INT, 2))
        function = build.finish([build.load(0, double, build.y, "wrap")])
        texels = random_texels(format, (9, 40))
        result = Format(np.dtype("float32"), channels)
        program = InterpreterDevice().compile(Task(function, [format], [result]))
        (want,) = program.run(Work([Storage.of(texels)], [], (9, 40), [None]))
        native = CpuDevice().compile(Task(function, [format], [result]))
        monkeypatch.setattr("pygpu.devices.cpu.given.HUGE", 1)
        (have,) = native.run(Work([Storage.of(texels)], [], (9, 40), [None]))
        assert native.native.keys() == {(False, False), (True, False)}
        np.testing.assert_allclose(have.host(), want.host(), rtol=1.2e-7)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_masks_pick_elements_and_places(level: str, dtype: str, channels: int) -> None:
    """Packed by vectors or one by one, of every length beside that of a vector's."""
    device, generator = CpuDevice(), np.random.default_rng(0)
    for count in (PICKED, *range(PICKED + 1, PICKED + 34, 8), 100_003):
        texels = generator.integers(0, 200, (count, channels)).astype(dtype)
        for share in (0.0, 0.03, 0.5, 1.0):
            mask = generator.random(count) < share
            np.testing.assert_array_equal(device.picked(mask, texels), texels[mask])
            places = device.picked(mask, None)
            np.testing.assert_array_equal(places[:, 0], np.flatnonzero(mask))
