"""The interpreter gives what CPython gives for every operation, and what NumPy's padding gives for
places outside an image."""

import itertools
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage  # type: ignore[import-untyped]

from agreement import PRECISE, assert_close
from pygpu.core.builder import Builder
from pygpu.core.interpret import compute, run, scalar
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.core.verify import verify
from pygpu.devices.interpreter import InterpreterDevice
from pygpu.ssa import BOUNDARIES, ImageInput, Lookup, Region, Value
from pygpu.types import BOOL, FLOAT, INT, UINT, Type, vector
from random_functions import random_case

# ---------------------------------------------------------------- operations against CPython

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 0.1, -7.25, 100.0, 1e10, math.inf, -math.inf]
FLOATS += [math.nan]
INTS = [0, 1, -1, 2, 3, -3, 7, 31, 32, -100, 2**31 - 1, -(2**31), 123456789]


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def sign(a: float) -> float:
    return a if a != a else (a > 0) - (a < 0)


def round_half_even(a: float) -> float:
    return a if math.isnan(a) or math.isinf(a) else math.copysign(float(round(a)), a)


def whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda a: a if not math.isfinite(a) else math.copysign(float(function(a)), a)


# What the table says that a function of `math` means.
OF_MATH: dict[str, Callable[..., Any]] = {
    code: function
    for code, row in TABLE.items()
    if row.kinds == ("float",)
    for function in row.python
    if getattr(function, "__module__", "") == "math"
}

FLOAT_MEANING: dict[str, Callable[..., Any]] = {
    **OF_MATH,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "neg": lambda a: -a,
    "abs": abs,
    "sign": sign,
    "min": min,
    "max": max,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "trunc": whole(math.trunc),
    "round": round_half_even,
    "inversesqrt": lambda a: 1 / math.sqrt(a),
    "log": math.log,
    "hypot": math.hypot,
    "to_float": lambda a: a,
    "to_bool": bool,
    "to_int": lambda a: 0 if a != a else int(max(-(2.0**31), min(a, 2**31 - 1))),
    "to_uint": lambda a: 0 if a != a else int(max(0.0, min(a, 2**32 - 1))),
    "float_bits": lambda a: struct.unpack("i", struct.pack("f", a))[0],
}

INT_MEANING: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: wrapped(a + b),
    "sub": lambda a, b: wrapped(a - b),
    "mul": lambda a, b: wrapped(a * b),
    "floordiv": lambda a, b: wrapped(a // b) if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "pow": lambda a, b: 0 if b < 0 else wrapped(pow(a, b, 2**32)),
    "neg": lambda a: wrapped(-a),
    "abs": lambda a: wrapped(abs(a)),
    "sign": sign,
    "min": min,
    "max": max,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "bit_not": lambda a: ~a,
    "shl": lambda a, b: wrapped(a << b) if 0 <= b < 32 else 0,
    "shr": lambda a, b: a >> (b if 0 <= b < 32 else 31),
    "to_float": float,
    "to_int": int,
    "to_uint": lambda a: a % 2**32,
    "bits_float": lambda a: struct.unpack("f", struct.pack("i", a))[0],
    "to_bool": bool,
}

UINT_MEANING: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: (a + b) % 2**32,
    "sub": lambda a, b: (a - b) % 2**32,
    "mul": lambda a, b: a * b % 2**32,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "pow": lambda a, b: pow(a, b, 2**32),
    "neg": lambda a: -a % 2**32,
    "abs": abs,
    "sign": sign,
    "min": min,
    "max": max,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "bit_not": lambda a: 2**32 - 1 - a,
    "shl": lambda a, b: (a << b) % 2**32 if b < 32 else 0,
    "shr": lambda a, b: a >> b if b < 32 else 0,
    "to_float": float,
    "to_int": lambda a: wrapped(a),
    "to_uint": int,
    "to_bool": bool,
}

BOOL_MEANING: dict[str, Callable[..., Any]] = {
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "not": lambda a: not a,
    "to_float": float,
    "to_int": int,
    "to_uint": int,
    "to_bool": bool,
}

COMPARISON: dict[str, Callable[..., Any]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}

MEANINGS = {
    FLOAT: {**FLOAT_MEANING, **COMPARISON},
    INT: {**INT_MEANING, **COMPARISON},
    UINT: {**UINT_MEANING, **COMPARISON},
    BOOL: {**BOOL_MEANING, **COMPARISON},
}
SAMPLES: dict[Type, list[Any]] = {
    FLOAT: FLOATS,
    INT: INTS,
    UINT: [0, 1, 2, 3, 7, 31, 32, 255, 2**31 - 1, 2**31, 2**31 + 7, 2**32 - 2, 2**32 - 1],
    BOOL: [False, True],
}


ROWS = [(code, type) for type, meanings in MEANINGS.items() for code in meanings]


@pytest.mark.parametrize(("code", "type"), ROWS)
def test_an_operation_means_what_python_means(code: str, type: Type) -> None:
    meaning = MEANINGS[type][code]
    result = TABLE[code].result([type] * (TABLE[code].arity or 0), None)
    samples = SAMPLES[type]
    for operands in itertools.product(samples, repeat=TABLE[code].arity or 1):
        arrays = [scalar(type, a) for a in operands]
        exact = [array.item() for array in arrays]
        with np.errstate(all="ignore"):
            actual = np.asarray(compute(code, None, arrays))
            try:
                want = scalar(result, meaning(*exact))
            except (ArithmeticError, ValueError):  # a device goes on, as IEEE has it
                assert not math.isfinite(actual)
                continue
        assert actual.dtype == want.dtype
        if code in ("div", "floordiv", "mod") and not all(map(math.isfinite, operands)):
            continue  # CPython's own choice at infinity: checked against NumPy's
        assert_close(want[None], actual[None], 2e-7, 0.0)
        if result is FLOAT and want == 0:
            assert math.copysign(1, actual) == math.copysign(1, want), (code, operands)


def test_every_row_of_the_table_has_a_meaning() -> None:
    tested = {code for meanings in MEANINGS.values() for code in meanings}
    structural = [
        "constant",
        "select",
        "construct",
        "splat",
        "swizzle",
        "element",
        "dot",
        "any",
        "all",
        "ddx",
        "ddy",
    ]
    memory = ["load", "table", "width", "height"]
    volumes = ["voxel", "depth", "plane"]  # which are made images of before: test_planes.py
    packed = {code for code in TABLE if code.startswith("lane")} | {
        "unorm8x4",
        "from_unorm8x4",
    }  # test_lanes.py
    assert tested | {*structural, *memory, *volumes} | packed == set(TABLE)


def test_differences_are_of_blocks_of_two_by_two_pixels() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])
    texel = build.load(0, build.x, build.y)
    differences = [build.emit(code, texel) for code in ("ddx", "ddy")]
    function = build.finish([*differences, build.emit("ddx", build.constant(FLOAT, 3.0))])
    texels = np.float32([[1, 2, 4, 9], [10, 20, 30, 50]])
    along, down, none = run(function, [texels], [], (2, 4))
    assert along.tolist() == [[1, 1, 5, 5], [10, 10, 20, 20]]
    assert down.tolist() == [[9, 18, 26, 41], [9, 18, 26, 41]]
    assert none.tolist() == [[0] * 4] * 2


def test_float_division_by_zero_is_ieee() -> None:
    with np.errstate(all="ignore"):
        values = [
            float(compute("div", None, [scalar(FLOAT, a), scalar(FLOAT, 0.0)])) for a in (1.0, -1.0)
        ]
        assert values == [math.inf, -math.inf]
        assert math.isnan(compute("mod", None, [scalar(FLOAT, 1.0), scalar(FLOAT, 0.0)]))


def test_vectors_are_made_and_taken_apart() -> None:
    build = Builder("f", uniforms=[("v", vector("float", 3))])
    (v,) = build.uniforms
    outputs = [
        build.emit("swizzle", v, data=(2, 0)),
        build.emit("swizzle", v, data=(1,)),
        build.emit("element", v, build.x),
        build.emit("dot", v, v),
        build.emit("construct", build.x, build.y),
        build.emit("splat", build.y, data=2),
        build.emit("select", build.emit("lt", build.x, build.y), v, build.emit("neg", v)),
        build.emit("any", build.emit("eq", v, build.constant(v.type, (5, 2, 5)))),
        build.emit("all", build.emit("eq", v, build.constant(v.type, (5, 2, 5)))),
    ]
    results = [a.tolist() for a in run(verify(build.finish(outputs)), [], [(1, 2, 3)], (2, 5))]
    assert results[0] == [[[3, 1]] * 5] * 2
    assert results[1] == [[2] * 5] * 2
    assert results[2] == [[1, 2, 3, 3, 3]] * 2
    assert results[3] == [[14] * 5] * 2
    assert results[4][1] == [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]
    assert results[5][1] == [[1, 1]] * 5
    assert results[6][1] == [[1, 2, 3]] + [[-1, -2, -3]] * 4
    assert results[7][0][0] is True
    assert results[8][0][0] is False


# ---------------------------------------------------------------- memory

PAD = {
    "nearest": "edge",
    "reflect": "symmetric",
    "mirror": "reflect",
    "wrap": "wrap",
    "constant": "constant",
}


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("size", [(1, 1), (1, 4), (3, 1), (2, 2), (5, 7)])
def test_boundaries_are_those_of_numpy_and_scipy(boundary: str, size: tuple[int, int]) -> None:
    reach = 9
    image = np.random.default_rng(1).normal(size=size).astype(np.float32)
    build = Builder("f", [ImageInput("im", FLOAT)])
    cval = (0.25,) if boundary == "constant" else ()
    load = build.load(0, build.x, build.y, boundary, cval, -reach, -reach)
    shape = (size[0] + 2 * reach, size[1] + 2 * reach)
    (result,) = run(verify(build.finish([load])), [image], [], shape)
    extra = {"constant_values": 0.25} if boundary == "constant" else {}
    assert np.array_equal(result, np.pad(image, reach, PAD[boundary], **extra))  # type: ignore[call-overload]
    mode = {"wrap": "grid-wrap", "constant": "grid-constant"}.get(boundary, boundary)
    shifted = scipy.ndimage.shift(image, (1, -2), order=0, mode=mode, cval=0.25)
    assert np.array_equal(
        result[reach - 1 : reach - 1 + size[0], reach + 2 : reach + 2 + size[1]], shifted
    )


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("place", [-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2])
def test_the_farthest_places_are_exact(boundary: str, place: int) -> None:
    image = np.arange(5, dtype=np.int32)[None]
    build = Builder("f", [ImageInput("im", INT)])
    zero = build.constant(INT, 0)
    cval = (-7,) if boundary == "constant" else ()
    loads = [
        build.load(0, build.constant(INT, place), zero, boundary, cval, dx) for dx in (0, 3, -3)
    ]
    for dx, result in zip((0, 3, -3), run(build.finish(loads), [image], [], (1, 1)), strict=True):
        i = place + dx
        expected = {
            "nearest": min(max(i, 0), 4),
            "wrap": i % 5,
            "reflect": i % 10 if i % 10 < 5 else 9 - i % 10,
            "mirror": i % 8 if i % 8 < 5 else 8 - i % 8,
            "constant": -7,
        }
        assert result.item() == expected[boundary]


def test_a_table_is_looked_up_at_a_clamped_index() -> None:
    build = Builder("f")
    table = build.add_table("t", np.array([[1.0, 2.0], [3.0, 4.0]]))
    index = build.emit("sub", build.x, build.constant(INT, 1))
    value = build.emit("table", index, data=Lookup(table, vector("float", 2)))
    (result,) = run(verify(build.finish([value])), [], [], (1, 4))
    assert result.tolist() == [[[1, 2], [1, 2], [3, 4], [3, 4]]]


def test_sizes_are_those_of_the_image() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])
    function = build.finish([build.emit("width", data=0), build.emit("height", data=0)])
    width, height = run(function, [np.zeros((3, 5), np.float32)], [], (1, 2))
    assert (width.tolist(), height.tolist()) == ([[5, 5]], [[3, 3]])


# ---------------------------------------------------------------- control flow


def collatz() -> Builder:
    """The number of steps to reach 1 from x + 1, at most 1000."""
    build = Builder("collatz")
    one, zero = build.constant(INT, 1), build.constant(INT, 0)
    start = build.emit("add", build.x, one)
    body = Region((Value(INT, "n"), Value(INT, "steps")))
    with build.inside(body):
        n, steps = body.params
        done = build.emit("eq", n, one)
        inner = [Region(), Region()]
        with build.inside(inner[0]):
            inner[0].results = (n, steps)
        with build.inside(inner[1]):
            odd = build.emit("to_bool", build.emit("bit_and", n, one))
            tripled = build.emit("add", build.emit("mul", n, build.constant(INT, 3)), one)
            halved = build.emit("floordiv", n, build.constant(INT, 2))
            after = build.emit("select", odd, tripled, halved)
            inner[1].results = (after, build.emit("add", steps, one))
        following = build.append("if", [done], [INT, INT], inner)
        body.results = (build.emit("not", done), *following)
    _, steps = build.append("loop", [start, zero], [INT, INT], [body])
    build.body.results = (steps,)
    return build


def test_each_pixel_leaves_a_loop_on_its_own() -> None:
    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    build = collatz()
    (result,) = run(verify(build.finish(build.body.results)), [], [], (2, 30))
    assert result.tolist() == [[steps(n + 1) for n in range(30)]] * 2


def test_a_loop_in_a_side_that_no_pixel_takes_is_not_run() -> None:
    build = Builder("f")
    sides = [Region(), Region()]
    with build.inside(sides[0]):
        endless = Region((Value(INT),))
        with build.inside(endless):
            endless.results = (build.constant(BOOL, True), endless.params[0])
        sides[0].results = build.append("loop", [build.x], [INT], [endless])
    sides[1].results = (build.y,)
    never = build.emit("lt", build.x, build.constant(INT, 0))
    (result,) = run(verify(build.finish(build.append("if", [never], [INT], sides))), [], [], (2, 2))
    assert result.tolist() == [[0, 0], [1, 1]]


def test_strips_do_not_show() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])
    function = build.finish([build.load(0, build.y, build.x)])
    image = np.random.default_rng(0).random((700, 700), np.float32)
    (result,) = run(function, [image], [], (700, 700))
    assert np.array_equal(result, image.T)


# ---------------------------------------------------------------- the device


def test_the_device_stores_results_in_their_dtype() -> None:
    build = Builder("invert", [ImageInput("im", vector("float", 3))])
    one = build.constant(vector("float", 3), (1, 1, 1))
    function = build.finish([build.emit("sub", one, build.load(0, build.x, build.y))])
    bytes_ = Format(np.dtype("uint8"), 3)
    program = InterpreterDevice().compile(Task(function, [bytes_], [bytes_]))
    image = np.random.default_rng(0).integers(0, 255, (4, 6, 3), np.uint8, endpoint=True)
    out = np.empty_like(image)
    (result,) = program.run(Work([Storage.of(image)], [], (4, 6), [None]))
    program.run(Work([Storage.of(image)], [], (4, 6), [out]))
    assert np.array_equal(result.host(), 255 - image)
    assert np.array_equal(out, 255 - image)


def test_the_interpreter_agrees_with_itself() -> None:
    for seed in range(30):
        case = random_case(seed)
        device = InterpreterDevice().compile(Task(case.function, case.formats, case.outputs))
        none = [None] * len(case.outputs)
        results = device.run(Work(case.storages(), case.uniforms, case.shape, none))
        case.check([result.host() for result in results], PRECISE)


def test_tables_that_hold_the_same_bits_are_one() -> None:
    build = Builder("tables")
    given = [np.array(each, np.float32) for each in ([0.0, 1.0], [[0.0, 1.0]], [-0.0, 1.0])]
    assert [build.add_table("t", each) for each in given] == [0, 1, 2]
    assert [build.add_table("t", each.copy()) for each in given] == [0, 1, 2]
    del build.tables[1:]  # as where a walk goes back
    assert [build.add_table("t", each) for each in reversed(given)] == [1, 2, 0]
