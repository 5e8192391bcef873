"""GLSL programs: their text, that other compilers accept it, and that they compute what the
interpreter computes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import Golden, require
from glsl_validator import validate
from pygpu import Float, Image, Position, Vec2
from pygpu.codegen.glsl.compute import block_program, pixel_program
from pygpu.codegen.glsl.expressions.text import Namer, Text, infix, literal, prefix, wrap
from pygpu.codegen_glsl import Dialect, fragment_program
from pygpu.core.builder import Builder
from pygpu.core.interpret import run
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.block import Cut, block, can_block, columns_of
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import Function, ImageInput, Lookup, Region, Value
from pygpu.types import BOOL, FLOAT, INT, Type, vector
from random_functions import random_case
from random_loops import random_loops

Array = NDArray[Any]
F32: Final = Format(np.dtype("float32"), 1)
PLAIN: Final = Dialect(400)
I32: Final = Format(np.dtype("int32"), 1)
U8: Final = Format(np.dtype("uint8"), 1)


@pytest.fixture
def fragment() -> Any:
    require("fragment")
    return targets.open_device("fragment")


def compute(
    device: Any, function: Function, arrays: list[Array], formats: list[Format] | None = None
) -> list[Array]:
    """The results for images of these arrays, at the size of the first."""
    inputs = formats or [Format(a.dtype, 1 if a.ndim == 2 else a.shape[2]) for a in arrays]
    outputs = [
        Format(
            np.dtype({"float": "float32", "int": "int32", "bool": "bool"}[v.type.kind]), v.type.size
        )
        for v in function.outputs
    ]
    program = device.compile(Task(function, inputs, outputs))
    storages = [Storage.of(array) for array in arrays]
    results = program.run(Work(storages, [], arrays[0].shape[:2], [None] * len(outputs)))
    return [result.host() for result in results]


# ---------------------------------------------------------------- functions with golden texts


def scale() -> tuple[Function, list[Format], list[Format]]:
    build = Builder("scale", [ImageInput("photo", FLOAT)], [("gain", FLOAT)])
    texel = build.load(0, build.x, build.y)
    return build.finish([build.emit("mul", build.uniforms[0], texel)]), [U8], [U8]


def laplace() -> tuple[Function, list[Format], list[Format]]:
    build = Builder("laplace", [ImageInput("photo", vector("float", 3))])
    x, y = build.x, build.y
    total = build.emit("mul", build.load(0, x, y), build.constant(vector("float", 3), (-4.0,) * 3))
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        total = build.emit("add", total, build.load(0, x, y, "wrap", (), dx, dy))
    return build.finish([total]), [Format(np.dtype("float32"), 3)], [Format(np.dtype("float32"), 3)]


def mandelbrot() -> tuple[Function, list[Format], list[Format]]:
    build = Builder("mandelbrot", [], [("zoom", FLOAT)])
    emit, number = build.emit, build.constant
    cx = emit("mul", emit("to_float", build.x), build.uniforms[0], name="cx")
    cy = emit("mul", emit("to_float", build.y), build.uniforms[0], name="cy")
    zx, zy, n = Value(FLOAT, "zx"), Value(FLOAT, "zy"), Value(INT, "n")
    body, again, stop = Region((zx, zy, n)), Region(), Region((), [], (zx, zy, n))
    with build.inside(body):
        xx, yy = emit("mul", zx, zx), emit("mul", zy, zy)
        near = emit("lt", emit("add", xx, yy), number(FLOAT, 4.0))
        go = emit("bit_and", near, emit("lt", n, number(INT, 50)))
        with build.inside(again):
            next_x = emit("add", emit("sub", xx, yy), cx)
            product = emit("mul", emit("mul", number(FLOAT, 2.0), zx), zy)
            again.results = next_x, emit("add", product, cy), emit("add", n, number(INT, 1))
        carried = build.append("if", [go], [FLOAT, FLOAT, INT], [again, stop])
        body.results = (go, *carried)
    start = [number(FLOAT, 0.0), number(FLOAT, 0.0), number(INT, 0)]
    rounds = build.append("loop", start, [FLOAT, FLOAT, INT], [body])[2]
    return build.finish([rounds]), [], [I32]


def first_dark() -> tuple[Function, list[Format], list[Format]]:
    """A search along a row, with a break in the middle."""
    build = Builder("first_dark", [ImageInput("photo", FLOAT)])
    emit, number = build.emit, build.constant
    k = Value(INT, "k")
    body = Region((k,))
    dark, light = Region((), [], (k,)), Region()
    with build.inside(body):
        texel = build.load(0, emit("add", build.x, k), build.y)
        is_dark = emit("lt", texel, number(FLOAT, 0.5))
        with build.inside(light):
            ahead = emit("add", k, number(INT, 1))
            going = emit("lt", ahead, number(INT, 16))
            light.results = going, ahead
        with build.inside(dark):
            dark.results = number(BOOL, False), k
        go, found = build.append("if", [is_dark], [BOOL, INT], [dark, light])
        body.results = go, found
    (found,) = build.append("loop", [number(INT, 0)], [INT], [body])
    return build.finish([found]), [U8], [I32]


def fibonacci() -> tuple[Function, list[Format], list[Format]]:
    """What a loop carries changes places."""
    build = Builder("fibonacci", [])
    emit, number = build.emit, build.constant
    a, b, n = Value(INT, "a"), Value(INT, "b"), Value(INT, "n")
    body = Region((a, b, n))
    with build.inside(body):
        left = emit("sub", n, number(INT, 1))
        go = emit("gt", left, number(INT, 0))
        body.results = go, b, emit("add", a, b), left
    last = build.append("loop", [number(INT, 0), number(INT, 1), build.x], [INT] * 3, [body])
    return build.finish([last[0]]), [], [I32]


def branches() -> tuple[Function, list[Format], list[Format]]:
    """A choice, and a branch with a statement on one side."""
    build = Builder("branches", [ImageInput("photo", FLOAT)], [("level", FLOAT)])
    emit, number = build.emit, build.constant
    value = build.load(0, build.x, build.y)
    low, high = Region(), Region()
    with build.inside(low):
        square = emit("mul", value, value, name="square")
        low.results = (emit("sub", square, emit("sin", square)),)
    with build.inside(high):
        high.results = (number(FLOAT, 1.0),)
    test = emit("lt", value, build.uniforms[0])
    (curve,) = build.append("if", [test], [FLOAT], [low, high], ["curve"])
    one = Region((), [], (curve,))
    other = Region((), [], (value,))
    odd = emit("eq", emit("bit_and", build.x, number(INT, 1)), number(INT, 1))
    (striped,) = build.append("if", [odd], [FLOAT], [one, other])
    return build.finish([striped, curve]), [F32], [F32, F32]


def tables() -> tuple[Function, list[Format], list[Format]]:
    build = Builder("tables", [ImageInput("index", INT)])
    build.add_table("palette", np.arange(12).reshape(4, 3) / 8)
    build.add_table("curve", np.linspace(0, 1, 1000))
    index = build.load(0, build.x, build.y)
    color = build.emit("table", index, data=Lookup(0, vector("float", 3)))
    return (
        build.finish([color, build.emit("table", index, data=Lookup(1, FLOAT))]),
        [I32],
        [Format(np.dtype("uint8"), 3), F32],
    )


def integers() -> tuple[Function, list[Format], list[Format]]:
    """A hash: wrapping arithmetic, shifts, Python's division."""
    build = Builder("integers", [], [("seed", INT)])
    emit, number = build.emit, build.constant
    h = emit("bit_xor", emit("mul", build.x, number(INT, 374761393)), build.uniforms[0], name="h")
    h = emit("bit_xor", h, emit("shr", h, number(INT, 13)), name="h")
    h = emit("mul", h, emit("add", build.y, number(INT, -1274126177)), name="h")
    rest = emit("mod", h, number(INT, 1000))
    quotient = emit("floordiv", h, number(INT, 16))
    return build.finish([emit("bit_or", rest, emit("shl", quotient, build.x))]), [], [I32]


GOLDEN: Final[list[Callable[[], tuple[Function, list[Format], list[Format]]]]] = [
    scale, laplace, mandelbrot, first_dark, fibonacci, branches, tables, integers,
]  # fmt: skip


def glsl(
    function: Function, inputs: list[Format], outputs: list[Format], dialect: Dialect = PLAIN
) -> str:
    return fragment_program(Task(lower_boundary(function), inputs, outputs), dialect).text


@pytest.mark.parametrize("make", GOLDEN)
def test_text_is_the_golden_one(make: Any, golden: Golden) -> None:
    golden.check(f"glsl/{make.__name__}.frag", glsl(*make()))


@pytest.mark.parametrize("make", [scale, laplace, tables])
def test_text_of_a_compute_program_is_the_golden_one(make: Any, golden: Golden) -> None:
    function, inputs, outputs = make()
    text = pixel_program(Task(lower_boundary(function), inputs, outputs)).text
    golden.check(f"glsl/{make.__name__}.comp", text)


@pytest.mark.parametrize("make", [scale, laplace])
def test_text_of_a_program_of_blocks_is_the_golden_one(make: Any, golden: Golden) -> None:
    function, inputs, outputs = make()
    text = block_program(block(Task(function, inputs, outputs), Cut(4, 2))).text
    golden.check(f"glsl/{make.__name__}_block.comp", text)


@pytest.mark.parametrize("make", GOLDEN)
def test_function_computes_what_the_interpreter_computes(make: Any, fragment: Any) -> None:
    function, inputs, outputs = make()
    generator = np.random.default_rng(1)
    arrays = [
        generator.integers(0, 100, (9, 13, f.channels)).astype(f.dtype)
        if f.dtype.kind in "iu"
        else generator.random((9, 13, f.channels)).astype(f.dtype)
        for f in inputs
    ]
    uniforms = [3 if value.type is INT else 0.3 for value in function.uniforms]
    expected = targets.open_device("interpreter").compile(Task(function, inputs, outputs))
    actual = fragment.compile(Task(function, inputs, outputs))
    results = [
        program.run(Work([Storage.of(a) for a in arrays], uniforms, (9, 13), [None] * len(outputs)))
        for program in (expected, actual)
    ]
    for want, have in zip(*results, strict=True):
        np.testing.assert_allclose(have.host(), want.host(), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- other compilers


def test_reference_compiler_accepts_the_golden_texts(tmp_path: Path) -> None:
    validate([glsl(*make()) for make in GOLDEN], tmp_path)


def test_reference_compiler_accepts_random_programs(tmp_path: Path) -> None:
    fragments, computes = [], []
    for seed in range(60):
        case = random_case(seed)
        function = lower_boundary(case.function)
        for version in (330, 400):
            fused = version >= 400
            dialect = Dialect(version, seed % 2 == 0, block_size=64, fused=fused)
            program = fragment_program(Task(function, case.formats, case.outputs), dialect)
            fragments.append(program.text)
        computes.append(pixel_program(Task(function, case.formats, case.outputs)).text)
        if can_block(case.function):
            task = Task(case.function, case.formats, case.outputs)
            columns = columns_of(task, False)
            blocked = block(task, Cut(columns, 2))
            computes.append(block_program(blocked).text)
    validate(fragments, tmp_path)
    validate(computes, tmp_path, "comp")


def test_reference_compiler_accepts_every_operation(tmp_path: Path) -> None:
    texts = []
    for size in (1, 3):
        for loose in (False, True):
            given = [(kind, vector(kind, size)) for kind in ("float", "int", "uint")]
            build = Builder("all", [], given)
            a, i, u = build.uniforms
            test = build.emit("lt", a, a)
            results = []
            for code, operation in TABLE.items():
                if code == "fma" or code.startswith("lane") or "unorm8x4" in code:
                    continue  # of compute programs alone
                for values in ((a, a, a), (i, i, i), (u, u, u), (test, test, test), (test, a, a)):
                    operands = values[: operation.arity or 0]
                    if operation.meaning is not None and operands:
                        try:
                            results.append(build.emit(code, *operands))
                        except TypeError:
                            continue
            for first in range(0, len(results), 4):
                some = results[first : first + 4]
                outputs = [Format(np.dtype("float32"), value.type.size) for value in some]
                texts.append(glsl(build.finish(some), [], outputs, Dialect(400, loose)))
    validate(texts, tmp_path)


# ---------------------------------------------------------------- agreement


@pytest.mark.parametrize("name", ["fragment", "compute"])
@pytest.mark.parametrize("seed", range(40))
def test_random_function_computes_what_the_interpreter_computes(seed: int, name: str) -> None:
    require(name)
    case = random_case(seed)
    program = targets.open_device(name).compile(Task(case.function, case.formats, case.outputs))
    results = program.run(
        Work(case.storages(), case.uniforms, case.shape, [None] * len(case.outputs))
    )
    case.check([result.host() for result in results])


@pytest.mark.parametrize("seed", range(100, 120))
def test_random_function_computes_the_same_as_on_hardware(seed: int) -> None:
    """The texts for GPUs that fuse, in any shape."""
    require("compute")
    device = ComputeDevice()
    device.dialect, device.is_software = replace(device.dialect, fused=True, loose=False), False
    case, shape = random_case(seed), shapes.CANDIDATES[seed % len(shapes.CANDIDATES)]
    program = device.compile(Task(case.function, case.formats, case.outputs), shape)
    results = program.run(
        Work(case.storages(), case.uniforms, case.shape, [None] * len(case.outputs))
    )
    case.check([result.host() for result in results])


def test_reference_compiler_accepts_random_loops(tmp_path: Path) -> None:
    texts = []
    for seed in range(60):
        function, _ = random_loops(seed)
        formats = [I32 if v.type is INT else Format(np.dtype(bool), 1) for v in function.outputs]
        for loose in (False, True):
            texts.append(glsl(function, [I32, I32], formats, Dialect(400, loose)))
    validate(texts, tmp_path)


def test_loops_with_breaks_end_with_the_right_values() -> None:
    """The text for drivers other than Mesa's, on the one of Mesa's that computes pixel by pixel."""
    require("fragment")
    with opengl.context() as gl:
        if gl.renderer.startswith("NVIDIA") or "Mesa" not in gl.version:
            pytest.skip("the random loops ran with this text already")
    environment = os.environ | {
        "GALLIUM_DRIVER": "softpipe",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    answer = subprocess.run(
        [sys.executable, "-c", _ON_SOFTPIPE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    if "softpipe" not in answer.stdout:
        pytest.skip("no softpipe")


_ON_SOFTPIPE: Final = """
import dataclasses
from test_glsl import INT, compute, np, opengl, random_loops, run
from pygpu.devices.opengl.fragment import FragmentDevice
with opengl.context() as gl:
    print(gl.renderer)
device = FragmentDevice()
device.dialect = dataclasses.replace(device.dialect, loose=False)
for seed in range(40):
    function, arrays = random_loops(seed)
    actual = compute(device, function, arrays)
    for want, have in zip(run(function, arrays, [], arrays[0].shape), actual, strict=True):
        np.testing.assert_array_equal(have[..., 0], want, str(seed))
"""


@pytest.mark.parametrize("name", ["fragment", "compute"])
@pytest.mark.parametrize("seed", range(40))
def test_random_loops_end_with_the_right_values(seed: int, name: str) -> None:
    require(name)
    function, arrays = random_loops(seed)
    function = simplify(function) if seed % 2 else function
    actual = compute(targets.open_device(name), function, arrays)
    for want, have in zip(run(function, arrays, [], arrays[0].shape), actual, strict=True):
        np.testing.assert_array_equal(have[..., 0], want)


def unary(code: str, type: Type = FLOAT) -> Function:
    build = Builder(code, [ImageInput("a", type)])
    return build.finish([build.emit(code, build.load(0, build.x, build.y))])


def binary(code: str, type: Type = FLOAT) -> Function:
    build = Builder(code, [ImageInput("a", type), ImageInput("b", type)])
    return build.finish([build.emit(code, *[build.load(i, build.x, build.y) for i in (0, 1)])])


def floats(low: float, high: float, count: int = 1 << 17) -> Array:
    """Floats between two numbers: evenly, and evenly in their logarithm."""
    even = np.linspace(low, high, count)
    powers = np.geomspace(1e-30, max(abs(low), abs(high)), count)
    values = np.concatenate([even, powers[powers <= high], -powers[powers <= -low]])
    return values.astype(np.float32)


def as_image(values: Array) -> Array:
    padded = np.resize(values, -(-values.size // 1024) * 1024)
    return padded.reshape(-1, 1024)


SWEEPS: Final = [  # functions of one float
    code
    for code, row in TABLE.items()
    if row.arity == 1 and row.exact is not None and row.domain and not row.whole
]


def swept(code: str) -> Array:
    """What a function is tested with: its domain, and what of it is not far from zero."""
    ((low, high),) = TABLE[code].domain
    near = [floats(max(low, -end), min(high, end)) for end in (2.0, 12.0)]
    return as_image(np.concatenate([floats(low, high), *near]))


def assert_lawful(expected: Array, actual: Array) -> None:
    """Within 2e-5 relative or 1e-6 absolute of the exact result."""
    with np.errstate(all="ignore"):
        off = np.abs(actual.astype(np.float64) - expected)
        bad = ~((off <= 2e-5 * np.abs(expected)) | (off <= 1e-6) | (expected == actual))
    bad &= ~(np.isnan(expected) & np.isnan(actual))
    worst = np.argmax(np.where(bad, off, 0))
    assert not bad.any(), f"{expected.flat[worst]} expected, got {actual.flat[worst]}"


def exactly(code: str, *arrays: Array) -> Array:
    """The operation on wider floats."""
    exact = TABLE[code].exact
    assert exact is not None
    return np.asarray(exact(*[array.astype(np.float64) for array in arrays]))


@pytest.mark.parametrize("code", SWEEPS)
def test_function_of_one_argument_is_accurate(code: str, fragment: Any) -> None:
    image = swept(code)
    (actual,) = compute(fragment, unary(code), [image])
    with np.errstate(all="ignore"):
        assert_lawful(exactly(code, image), actual[..., 0])


@pytest.mark.parametrize("code", ["pow", "atan2", "hypot", "fmod", "mod"])
def test_function_of_two_arguments_is_accurate(code: str, fragment: Any) -> None:
    generator = np.random.default_rng(5)
    shape = (128, 1024)
    a = np.ldexp(generator.uniform(1, 2, shape), generator.integers(-20, 20, shape))
    b = np.ldexp(generator.uniform(1, 2, shape), generator.integers(-20, 20, shape))
    if code == "pow":
        a[:64] = generator.uniform(0.5, 2, (64, 1024))
        b = generator.uniform(-126, 126, shape) / np.log2(a)
    else:
        a, b = (each * generator.choice([-1, 1], shape) for each in (a, b))
    a, b = a.astype(np.float32), b.astype(np.float32)
    (actual,) = compute(fragment, binary(code), [a, b])
    assert_lawful(exactly(code, a, b), actual[..., 0])


@pytest.mark.parametrize("code", ["fmod", "mod", "floordiv"])
def test_remainders_of_numbers_as_large_as_floats_are(code: str, fragment: Any) -> None:
    """Drivers have 0 for quotients of divisors above 2**126: what was left did not get less."""
    sizes = np.float32([3.4e38, 3e38, 2.5e38, 1.7e38, 1e38, 8.5e37, 3e37, 1e30, 41.0, 3.0])
    a, b = (each.copy() for each in np.meshgrid([*sizes, *-sizes], [*sizes, *-sizes]))
    (actual,) = compute(fragment, binary(code), [a, b])
    rest = np.fmod(a.astype(np.float64), b)
    mod = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    with np.errstate(all="ignore"):
        expected = {"fmod": rest, "mod": mod, "floordiv": (a.astype(np.float64) - mod) / b}[code]
    np.testing.assert_allclose(actual[..., 0], expected, rtol=2e-6)


SPECIAL: Final = np.array(
    [0.0, 1, -1, 0.5, 2, -2, 3, -3, 1e30, -1e30, np.inf, -np.inf, np.nan, 16777215], np.float32
)


@pytest.mark.parametrize("code", ["pow", "atan2", "copysign", "fmod", "hypot"])
def test_special_floats_give_what_ieee_says(code: str, fragment: Any) -> None:
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    with np.errstate(all="ignore"):
        expected = TABLE[code].meaning(a, b)  # type: ignore[misc]
    (actual,) = compute(fragment, binary(code), [a.copy(), b.copy()])
    np.testing.assert_allclose(actual[..., 0], expected, rtol=2e-5)


@pytest.mark.parametrize("code", ["lt", "le", "gt", "ge", "eq", "ne", "min", "max"])
def test_nan_compares_as_python_has_it(code: str, fragment: Any) -> None:
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    (actual,) = compute(fragment, binary(code), [a.copy(), b.copy()])
    np.testing.assert_array_equal(actual[..., 0], TABLE[code].meaning(a, b))  # type: ignore[misc]


def held(build: Builder, value: Value, low: float, high: float) -> Value:
    greater = build.emit("max", value, build.constant(FLOAT, low))
    return build.emit("min", greater, build.constant(FLOAT, high))


@pytest.mark.parametrize(
    ("low", "high", "moved", "is_clamp"),
    [(0.0, 1.0, 0.5, True), (-0.0, 1.0, 0.5, False), (-1.0, -0.0, 0.5, False),
     (0.0, 1.0, 0.0, False), (1.0, 0.0, 0.5, False)],
)  # fmt: skip
def test_what_is_held_between_is_clamped_where_no_zero_is_negative(
    low: float, high: float, moved: float, is_clamp: bool
) -> None:
    build = Builder("held", [ImageInput("im", FLOAT)])
    texel = build.load(0, build.x, build.y)
    value = build.emit("sub", texel, build.constant(FLOAT, moved)) if moved else texel
    function = build.finish([held(build, value, low, high)])
    floats = Format(np.dtype(np.float32), 1)
    blocked = block(Task(function, [floats], [floats]), Cut(4, 1))
    fused = block_program(blocked, dialect=Dialect(450, fused=True)).text
    assert ("pg_clamp(" in fused) == is_clamp
    assert "pg_clamp(" not in block_program(blocked).text


def test_nan_is_not_lost_in_conditions(fragment: Any) -> None:
    """Optimisers like to turn `a < c and b < c` into `max(a, b) < c`."""
    build = Builder("f", [ImageInput("a", FLOAT), ImageInput("b", FLOAT)])
    emit = build.emit
    a, b = (build.load(i, build.x, build.y) for i in (0, 1))
    half = build.constant(FLOAT, 0.5)
    both = emit("bit_and", emit("lt", a, half), emit("lt", b, half))
    chosen = emit("select", emit("lt", b, a), b, a)
    positive = emit("gt", emit("abs", a), build.constant(FLOAT, 0.0))
    results = [both, emit("not", both), chosen, positive, emit("ne", a, a), emit("isnan", b)]
    left, right = np.meshgrid(SPECIAL, SPECIAL)
    function = build.finish(results)
    actual = compute(fragment, function, [left.copy(), right.copy()])
    for want, have in zip(run(function, [left, right], [], left.shape), actual, strict=True):
        np.testing.assert_array_equal(have[..., 0], want)


def test_nan_ends_a_loop_and_takes_the_other_branch(fragment: Any) -> None:
    """Optimisers like to turn `not a < b` into `a >= b`, be it in `while (a < b)`."""
    build = Builder("f", [ImageInput("a", FLOAT)])
    emit, number = build.emit, build.constant
    a = build.load(0, build.x, build.y)
    z, count = Value(FLOAT, "z"), Value(INT, "count")
    body, again, stop = Region((z, count)), Region(), Region((), [], (z, count))
    with build.inside(body):
        go = emit("lt", z, number(FLOAT, 4.0))
        with build.inside(again):
            again.results = emit("add", z, number(FLOAT, 1.0)), emit("add", count, number(INT, 1))
        body.results = (go, *build.append("if", [go], [FLOAT, INT], [again, stop]))
    rounds = build.append("loop", [a, number(INT, 0)], [FLOAT, INT], [body])[1]
    small = emit("lt", a, number(FLOAT, 2.0))
    sides = [Region(), Region()]
    for side, code in zip(sides, ("sin", "cos"), strict=True):
        with build.inside(side):
            value = emit(code, emit("select", emit("isnan", a), number(FLOAT, 0.0), a))
            side.results = (emit("mul", value, value),)
    (chosen,) = build.append("if", [small], [FLOAT], sides)
    function = build.finish([rounds, chosen, emit("not", small)])
    values = np.array([[1, 2, np.nan, 0, 5, -np.nan, 3.5, np.inf]], np.float32)
    actual = compute(fragment, function, [values])
    for want, have in zip(run(function, [values], [], values.shape), actual, strict=True):
        np.testing.assert_allclose(have[..., 0], want, atol=1e-6)


def test_search_in_nested_loops_ends_with_what_it_found(fragment: Any) -> None:
    """Mesa 22.3 got this wrong where the outer loop broke on `found == false`."""
    build = Builder("f", [ImageInput("a", INT)])
    emit, number = build.emit, build.constant
    a = build.load(0, build.x, build.y)
    zero, no = number(INT, 0), number(BOOL, False)
    j, i, found = Value(INT, "j"), Value(INT, "i"), Value(BOOL)
    k, missed = Value(INT), Value(BOOL)
    outer, inner, search, stop = Region((j, i, found)), Region((k, missed)), Region(), Region()
    with build.inside(outer):
        within = emit("lt", j, a)
        with build.inside(search):
            with build.inside(inner):
                left = emit("lt", k, a)
                other = emit("ne", emit("add", k, j), number(INT, 5))
                after = emit("select", left, emit("add", k, number(INT, 1)), zero)
                inner.results = emit("bit_and", left, other), after, emit("ge", k, a)
            last, none = build.append("loop", [zero, no], [INT, BOOL], [inner])
            search.results = none, emit("add", j, number(INT, 1)), last, emit("not", none)
        stop.results = no, zero, zero, no
        results = build.append("if", [within], [BOOL, INT, INT, BOOL], [search, stop])
        outer.results = results
    j_end, i_end, is_found = build.append("loop", [zero, zero, no], [INT, INT, BOOL], [outer])
    place = emit("add", emit("mul", i_end, number(INT, 10)), j_end)
    function = build.finish([emit("select", is_found, place, number(INT, -1))])
    values = np.arange(9, dtype=np.int32)[None]
    (actual,) = compute(fragment, function, [values])
    np.testing.assert_array_equal(actual[..., 0], run(function, [values], [], values.shape)[0])


@pytest.mark.parametrize("code", ["floordiv", "mod", "pow", "shl", "shr", "add", "mul", "min"])
def test_integers_give_what_python_gives(code: str, fragment: Any) -> None:
    numbers = [0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 1000, -1000, 2**31 - 1, -(2**31), -(2**31) + 1]
    a, b = np.meshgrid(*[np.array(numbers, np.int32)] * 2)
    if code == "pow":
        b = np.clip(b, -3, 40).astype(np.int32)
    (actual,) = compute(fragment, binary(code, INT), [a.copy(), b.copy()])
    with np.errstate(all="ignore"):
        expected = TABLE[code].meaning(a, b)  # type: ignore[misc]
    np.testing.assert_array_equal(actual[..., 0], expected)


@pytest.mark.parametrize("divisor", [1, 3, 8, -4, 7])
@pytest.mark.parametrize("code", ["floordiv", "mod"])
def test_division_by_a_constant_floors(code: str, divisor: int, fragment: Any) -> None:
    image = np.arange(-40, 40, dtype=np.int32).reshape(8, 10)
    for type, values in ((INT, image), (FLOAT, (image / 4).astype(np.float32))):
        build = Builder("f", [ImageInput("a", type)])
        texel = build.load(0, build.x, build.y)
        function = build.finish([build.emit(code, texel, build.constant(type, divisor))])
        (actual,) = compute(fragment, function, [values])
        expected = TABLE[code].meaning(values, values.dtype.type(divisor))  # type: ignore[misc]
        np.testing.assert_array_equal(actual[..., 0], expected)


def test_what_is_outside_of_ranges_is_what_is_not_within() -> None:
    """NVIDIA's compiler takes two `x < 1 || x > 8` for their opposite in some programs."""

    def frame(im: Image, p: Position) -> Any:
        return 0.0 if (p.x < 1) | (p.x > 8) | (p.y < 1) | (p.y > 6) | (im(p) < 0.5) else im(p)

    image = np.random.default_rng(1).random((9, 11), np.float32)
    made = pygpu.compile(frame, target="fragment")
    test = "!(p.x >= 1 && p.x <= 8 && p.y >= 1 && p.y <= 6) || "
    assert test in made.lower(image).glsl
    task = Job.of(made, (image,), {}).made.task
    for fused in (False, True):
        dialect = Dialect(450, fused=fused)
        assert test in glsl(task.function, task.inputs, task.outputs, dialect)
    expected = np.zeros_like(image)
    expected[1:7, 1:9] = np.where(image[1:7, 1:9] < 0.5, 0, image[1:7, 1:9])
    require("fragment")
    np.testing.assert_array_equal(np.asarray(made(image)), expected)


MULTIPLES = {
    "of its own multiple": lambda a, b, c: 2.0 * a * 22.0 + (21.0 * a + c),
    "of its half": lambda a, b, c: a / 2.0 * 22.0 + (5.0 * a + c),
    "of its double": lambda a, b, c: (a + a) * 22.0 + (5.0 * a + c),
    "of itself": lambda a, b, c: 2.0 * a * 22.0 + (a + c),
    "of two multiples": lambda a, b, c: 2.0 * a * 22.0 + (21.0 * (4.0 * a) + c),
    "of its negative": lambda a, b, c: 2.0 * a * 22.0 - (21.0 * a + c),
    "of a vector": lambda a, b, c: (Vec2(a, b) * 2.0 * 22.0 + (Vec2(a, c) * 21.0 + c)).x,
    "of a component": lambda a, b, c: 2.0 * Vec2(b, a * c).y - Vec2(b, a * c).y,
    "of a sum": lambda a, b, c: (3.0 * a + c) * 4.0 + (a + b),
}


@pytest.mark.parametrize("backend", ["fragment", "compute"])
@pytest.mark.parametrize("name", MULTIPLES)
def test_multiples_of_what_is_added_are_kept(name: str, backend: str) -> None:
    """NVIDIA's compiler loses the 2.0 of `fma(2.0 * a, 22.0, fma(a, 21.0, c))`, unless told."""
    sum = MULTIPLES[name]

    def of_two(im: Image, other: Image, p: Position, c: Float) -> Any:
        return sum(im(p), other(p), c)

    rng = np.random.default_rng(6)
    a, b = rng.integers(-64, 65, (2, 12, 16)).astype(np.float32) / 32
    made = pygpu.compile(of_two, target=backend)
    task = Job.of(made, (a, b, 1.5), {}).made.task
    for fused in (False, True):
        text = glsl(task.function, task.inputs, task.outputs, Dialect(450, fused=fused))
        assert ("#pragma optionNV(fastmath off)" in text) == fused, text
    require(backend)
    texels = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    expected = np.reshape([sum(*both, 1.5) for both in texels], a.shape)
    np.testing.assert_array_equal(made(a, b, 1.5), expected)


def test_conversion_to_int_saturates(fragment: Any) -> None:
    values = [np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31), 2.0**40, 0.99, -0.99, 2147483520.0]
    image = np.array([values], np.float32)
    (actual,) = compute(fragment, unary("to_int"), [image])
    np.testing.assert_array_equal(actual[..., 0], TABLE["to_int"].meaning(image))  # type: ignore[misc]


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("shape", [(5,), (7, 3), (300,), (300, 2), (9000,), (5000, 4)])
def test_table_is_read_clamped(kind: str, shape: tuple[int, ...], fragment: Any) -> None:
    """Small ones are constants, larger ones uniform blocks or textures."""
    values = np.random.default_rng(2).integers(-50, 50, shape)
    array = values % 2 == 0 if kind == "bool" else values.astype(kind + "32")
    build = Builder("f", [ImageInput("index", INT)])
    build.add_table("lut", array)
    type = vector(kind, 1 if len(shape) == 1 else shape[1])  # type: ignore[arg-type]
    index = build.load(0, build.x, build.y)
    function = build.finish([build.emit("table", index, data=Lookup(0, type))])
    at = np.random.default_rng(3).integers(-5, shape[0] + 5, (20, 30)).astype(np.int32)
    at[0, :2] = 0, shape[0] - 1
    (actual,) = compute(fragment, function, [at])
    np.testing.assert_array_equal(
        actual.reshape(*at.shape, *shape[1:]), array[np.clip(at, 0, shape[0] - 1)]
    )


def test_table_keeps_nan_and_infinity(fragment: Any) -> None:
    build = Builder("f", [])
    build.add_table("lut", np.array([np.nan, np.inf, -np.inf, -0.0], np.float32))
    function = build.finish([build.emit("table", build.x, data=Lookup(0, FLOAT))])
    program = fragment.compile(Task(function, [], [F32]))
    (result,) = program.run(Work([], [], (1, 4), [None]))
    np.testing.assert_array_equal(result.host()[0, :, 0], [np.nan, np.inf, -np.inf, 0.0])


# ---------------------------------------------------------------- text


def test_names_are_never_reserved() -> None:
    namer = Namer()
    hints = ["mix", "vec3", "gl_Position", "a__b", "pg_sin", "für", "x", "x", "sampler2D", "_", "1"]
    names = [namer.fresh(hint) for hint in hints]
    assert names == [
        "mix_2", "vvec3", "v_gl_Position", "a_b", "v_pg_sin", "f_r", "x", "x_2", "vsampler2D", "v_",
        "v_1",
    ]  # fmt: skip


def test_parentheses_follow_precedence() -> None:
    a, b, c = map(Text, "abc")
    assert str(infix("*", infix("+", a, b), c)) == "(a + b) * c"
    assert str(infix("+", infix("*", a, b), c)) == "a * b + c"
    assert str(infix("-", a, infix("-", b, c))) == "a - (b - c)"
    assert str(infix("&", infix("+", a, b), c)) == "(a + b) & c"
    assert str(prefix("-", prefix("-", a))) == "-(-a)"
    assert str(infix("+", a, literal(INT, -1))) == "a - 1"
    assert str(infix("+", a, infix("*", literal(FLOAT, -2.0), b))) == "a - 2.0 * b"
    assert str(infix("*", a, literal(FLOAT, 2.0))) == "2.0 * a"


@pytest.mark.parametrize("value", [0.1, 1e-5, 1e30, 3.4028235e38, 16777217.0, -0.0, 1 / 3, 1.0])
def test_literal_reads_back_to_the_same_float(value: float) -> None:
    text = str(literal(FLOAT, float(np.float32(value))))
    assert "." in text or "e" in text
    assert np.float32(text).tobytes() == np.float32(value).tobytes()


def test_literal_of_no_decimal_is_made_from_bits() -> None:
    assert str(literal(FLOAT, float("inf"))) == "uintBitsToFloat(0x7f800000u)"
    assert str(literal(FLOAT, 1e-45)) == "uintBitsToFloat(0x00000001u)"
    assert str(literal(INT, -(2**31))) == "-2147483647 - 1"


def test_long_line_is_broken_before_the_loosest_operator() -> None:
    line = "    float total = " + " + ".join(f"weight{i} * value{i}" for i in range(12)) + ";"
    lines = wrap(line)
    assert all(len(each) <= 100 for each in lines)
    assert [each.strip()[:2] for each in lines[1:]] == ["+ "] * (len(lines) - 1)
    assert "".join(each.strip() + " " for each in lines).strip() == line.strip()


def test_long_directive_stays_whole() -> None:
    line = "#define texel(p) " + " + ".join(f"weight{i} * value{i}" for i in range(12))
    assert wrap(line) == [line]


def test_only_indices_that_may_lie_beside_a_table_are_clamped(target: str) -> None:
    shuffled = np.random.default_rng(0).permutation(256).tolist() * 2
    signs = [1.0, -1.0, 0.5, -0.5]

    @pygpu.compile(target=target)
    def within(im: Image, p: Position):
        return signs[shuffled[shuffled[(p.x - 3) & 255] + (p.y & 255)] & 3]

    @pygpu.compile(target=target)
    def beside(im: Image, p: Position):
        return signs[int(im(p) * 9)]

    @pygpu.compile(target=target)
    def deep(im: Image, p: Position):
        return CUBE[int(im(p) * 3), p.y % 4, p.x % 5]

    CUBE = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    image = Image(np.array([[0.0, 0.2, 0.34], [0.9, -0.2, -0.4]], np.float32))
    have = np.asarray(within(image, shape=(7, 9)))
    want = [[within.__wrapped__(image, Position(x, y)) for x in range(9)] for y in range(7)]
    np.testing.assert_array_equal(have, want)
    assert np.asarray(beside(image)).tolist()[0] == [1.0, -1.0, -0.5]
    if target in ("fragment", "compute"):
        assert "clamp" not in within.lower(image).source
        assert "clamp" in beside.lower(image).source
    assert np.asarray(deep(image)).tolist() == [[0.0, 1.0, 22.0], [45.0, 6.0, 47.0]]
    text = str(deep.lower(image).ssa).partition("# after")[2]
    assert text.count("select ") <= 1  # the first index alone may be negative


@pytest.mark.parametrize("name", ["register", "private", "string", "sample", "packed"])
def test_no_name_is_a_word_of_the_languages_that_drivers_take(name: str) -> None:
    assert Namer().fresh(name) != name


def test_bytes_of_float16_are_not_clamped_by_the_device() -> None:
    """NVIDIA's compiler takes a float16 and that float16 clamped for one value."""
    made = pygpu.compile(lambda im, p: (im(p), im(p) + 1.0), im=Image, p=Position, target="compute")
    for dtype, clamps in ((np.float16, False), (np.float32, True)):
        task = Job.of(made, (np.zeros((3, 4), dtype),), {}).made.task
        stored = [U8, U8]
        text = glsl(task.function, task.inputs, stored, Dialect(450, fused=True))
        assert ("clamp(a, 0.0, 1.0)" in text) == clamps, text
