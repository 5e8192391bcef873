"""Functions of floats in native code: within 2 ulp of the exact result, and right at the ends."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.operations.ops import TABLE, Operation
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu.device import CpuDevice
from pygpu.ssa import ImageInput
from pygpu.types import FLOAT, INT

Array = NDArray[Any]
F32: Final = Format(np.dtype("float32"), 1)
LEVELS: Final = ("", "avx2", "sse4.2", "sse2")
LONG: Final = np.longdouble


def of_floats(arity: int) -> dict[str, Operation]:
    """The functions of the table of so many floats that there are of wider floats, too."""
    return {
        code: row
        for code, row in TABLE.items()
        if row.arity == arity and row.exact is not None and "float" in row.kinds
        if row.result([FLOAT] * arity, None) is FLOAT
    }


# Functions with the accuracy that is promised; what gives the very floats that the table says.
UNARY: Final = [code for code, row in of_floats(1).items() if row.approximate]
BINARY: Final = [code for code, row in of_floats(2).items() if row.approximate]
EXACT: Final = [code for code, row in of_floats(1).items() if not row.approximate]
EXACT_OF_TWO: Final = [code for code, row in of_floats(2).items() if not row.approximate]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def exactly(code: str, *arrays: Array) -> Array:
    """The operation on wider floats."""
    exact = TABLE[code].exact
    assert exact is not None
    return np.asarray(exact(*[array.astype(LONG) for array in arrays]))


def compute(code: str, *arrays: Array) -> Array:
    """An operation on arrays (H, W) of float32, natively."""
    build = Builder(code, [ImageInput(f"a{i}", FLOAT) for i in range(len(arrays))])
    loads = [build.load(i, build.x, build.y) for i in range(len(arrays))]
    function = build.finish([build.emit(code, *loads)])
    program = CpuDevice().compile(Task(function, [F32] * len(arrays), [F32]))
    (result,) = program.run(Work([Storage.of(a) for a in arrays], [], arrays[0].shape, [None]))
    return result.host()[..., 0]


def everywhere(step: int) -> Array:
    """Floats over all exponents and both signs, and all special values: every `step`-th bit
    pattern from a random start on."""
    rng = np.random.default_rng(step)
    bits = np.arange(rng.integers(step), 2**32, step, dtype=np.int64).astype(np.uint32)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, np.inf, -np.inf, np.nan, 2.0**-149,
         -(2.0**-149), 2.0**-126, 3.4e38, -3.4e38, 8388608.0, 0.49999997, 1.5, 2.5, -2.5, 88.72284,
         -103.97, 128.0, -149.5, np.pi, np.pi / 2, 16367173.0 * 2.0**72],
        np.float32,
    )  # fmt: skip
    near = (1 + np.arange(-2000, 2000) * 2.0**-22).astype(np.float32)
    usual = rng.uniform(-100, 100, 20000).astype(np.float32)
    values = np.concatenate([bits.view(np.float32), special, near, -near, usual])
    return values[: len(values) // 16 * 16].reshape(16, -1)


def ulps(actual: Array, exact: Array) -> Array:
    """The distance of float32 results from exact ones, in units of the last place there; zero
    where both are NaN or the same infinity, and infinite where only one is."""
    rounded = exact.astype(np.float32)
    unit = np.spacing(np.clip(np.abs(rounded), 0, np.finfo(np.float32).max)).astype(LONG)
    # Where the exact result exceeds the largest float it is an infinity one unit further.
    top = LONG(2.0) ** 128
    wide = np.where(np.isinf(actual), np.sign(actual) * top, actual.astype(LONG))
    want = np.clip(exact, -top, top)
    error = np.abs(wide - want) / unit
    error[np.isnan(actual) & np.isnan(exact)] = 0
    error[np.isnan(actual) != np.isnan(exact)] = np.inf
    return error.astype(np.float64)


def worst(code: str, actual: Array, exact: Array, *arrays: Array) -> float:
    """The largest error; where it is more than 2 ulp, an error that shows it."""
    error = ulps(actual, exact)
    at = np.unravel_index(np.argmax(error), error.shape)
    given = [f"{a[at]!r}" for a in arrays]
    assert error[at] <= 2, (
        f"{code}({', '.join(given)}) = {actual[at]!r}, not {exact[at]!r}: {error[at]:.2f} ulp"
    )
    return float(error[at])


def huge_angles(code: str, values: Array) -> Array:
    """Sines of whole eighths exactly: the angle is reduced as an integer first."""
    digits = (
        "31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348"
        "25342117067982148086513282306647093844609550582231725359408128481"
    )
    pi, scale = int(digits), 10 ** (len(digits) - 1)
    results = []
    for value in values:
        angle = int(float(value) * 8) * (scale // 8)
        quarter, rest = divmod(4 * angle + pi, 2 * pi)
        near = LONG(rest - pi) / LONG(4 * scale)  # within an eighth of a turn of zero
        sine, cosine = np.sin(near), np.cos(near)
        turned = [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quarter % 4]
        results.append({"sin": turned[0], "cos": turned[1], "tan": turned[0] / turned[1]}[code])
    return np.array(results, LONG)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("code", UNARY)
def test_functions_are_within_two_ulp(
    code: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    values = everywhere(40009)
    exact = exactly(code, values)
    if code in ("sin", "cos", "tan"):  # the long double's own reduction ends at 2**63
        values = np.where(np.abs(values) < 2.0**60, values, np.float32(1))
        exact = exactly(code, values)
    worst(code, compute(code, values), exact, values)


@pytest.mark.parametrize("level", LEVELS)
def test_logarithms_are_the_same_beside_rare_numbers(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros, subnormal and negative numbers take another branch, with all lanes beside them."""
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rare = np.float32([0.0, -1.0, np.inf, np.nan, 1e-40, -0.0])
    values = np.random.default_rng(3).lognormal(0, 20, (64, 64)).astype(np.float32)
    alone = compute("log", values)
    beside = values.copy()
    beside[::2, ::5] = np.resize(rare, beside[::2, ::5].shape)
    kept = beside == values
    np.testing.assert_array_equal(compute("log", beside)[kept], alone[kept])


@pytest.mark.parametrize("level", LEVELS)
def test_exponentials_are_the_same_whatever_is_known_of_their_operands(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of operands that are never positive, or small, the power of two is put in in fewer steps."""
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    values = everywhere(40009)
    counts = np.arange(1024, dtype=np.float32).reshape(16, -1)

    def made(code: str, given: Array, small: bool) -> Array:
        build = Builder(code, [ImageInput("a", FLOAT)])
        value = build.emit("abs", build.load(0, build.x, build.y))
        if small:
            count = build.emit("bit_and", build.emit("to_int", value), build.constant(INT, 63))
            value = build.emit("to_float", count)
        function = build.finish([build.emit(code, build.emit("neg", value))])
        program = CpuDevice().compile(Task(function, [F32], [F32]))
        (result,) = program.run(Work([Storage.of(given)], [], given.shape, [None]))
        return result.host()[..., 0]

    for code in ("exp", "exp2"):
        below = made(code, values, small=False)
        np.testing.assert_array_equal(below, compute(code, -np.abs(values)))
        near = made(code, counts, small=True)
        np.testing.assert_array_equal(near, compute(code, -(counts % 64)))


@pytest.mark.parametrize("level", ["", "sse2"])
def test_arcs_are_accurate_where_their_formulas_meet(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (400, 1000)).astype(np.float32)
    for code in ("asin", "acos", "atan"):
        worst(code, compute(code, x), exactly(code, x), x)
    y = (x * rng.choice([-1, 1], x.shape) * rng.uniform(0.9, 1.1, x.shape)).astype(np.float32)
    worst("atan2", compute("atan2", y, x), exactly("atan2", y, x), y, x)


def test_gamma_and_its_logarithm_are_accurate_next_to_poles_and_zeros() -> None:
    """The zeros of the logarithm are 1, 2, and two between negative whole numbers each."""
    centres = np.arange(-12.0, 4.0, dtype=np.float32)
    roots = np.array([-2.457025, -2.747683, -3.143581, -3.955294, -4.039361], np.float32)
    steps = np.arange(-20000, 20000, dtype=np.int32)
    bits = np.concatenate([centres[centres != 0], roots]).view(np.int32)[:, None] + steps
    values = bits.view(np.float32)
    for code in ("gamma", "lgamma"):
        worst(code, compute(code, values), exactly(code, values), values)


@pytest.mark.parametrize("code", ["sin", "cos", "tan"])
def test_sines_of_huge_angles_are_within_two_ulp(code: str) -> None:
    rng = np.random.default_rng(3)
    values = np.exp2(rng.uniform(20, 127.9, 4000)).astype(np.float32)
    values[:2] = 16367173.0 * 2.0**72, 2.0**127
    values = values.reshape(4, -1)
    exact = huge_angles(code, values.ravel()).reshape(values.shape)
    worst(code, compute(code, values), exact, values)
    assert np.array_equal(
        compute(code, -values), (1 if code == "cos" else -1) * compute(code, values)
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("code", EXACT)
def test_exact_functions_are_exact(code: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    values = everywhere(400009)
    actual, expected = compute(code, values), TABLE[code].meaning(values)  # type: ignore[misc]
    same = (actual.view(np.int32) == expected.view(np.int32)) | (
        np.isnan(actual) & np.isnan(values)
    )
    same |= (values == 0) & (actual == 0) & (code == "sign")
    assert same.all(), values[~same][:5]


@pytest.mark.parametrize("code", [*UNARY, "sqrt"])
def test_zero_keeps_its_sign(code: str) -> None:
    zeros = np.array([[0.0, -0.0] * 8], np.float32)
    expected = exactly(code, zeros)
    number = ~np.isnan(expected)
    assert np.array_equal(np.signbit(compute(code, zeros))[number], np.signbit(expected)[number])


def pairs(seed: int) -> tuple[Array, Array]:
    """Pairs of floats: any, moderate ones, and all pairs of special ones."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 2**32, (2, 60000), np.uint32).view(np.float32)
    moderate = rng.normal(0, 8, (2, 60000)).astype(np.float32)
    whole = np.stack([rng.normal(0, 4, 4000), rng.integers(-30, 30, 4000)]).astype(np.float32)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e30, -1e30, 1e-40, -1e-40, np.inf,
         -np.inf, np.nan, 2.0**24, 2.0**24 - 1, 2.0**23 + 1, 1.0000001, 0.99999994],
        np.float32,
    )  # fmt: skip
    grid = np.stack([a.ravel() for a in np.meshgrid(special, special)])
    both = np.concatenate([any_bits, moderate, whole, grid], axis=1)
    both = both[:, : both.shape[1] // 4 * 4].reshape(2, 4, -1)
    return np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("code", BINARY)
def test_functions_of_two_are_within_two_ulp(
    code: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    a, b = pairs(5)
    exact = exactly(code, a, b)
    actual = compute(code, a, b)
    worst(code, actual, exact, a, b)
    certain = ~np.isnan(exact) & (np.abs(exact) < 1e38) & (np.abs(exact) > 1e-37) | (exact == 0)
    certain &= ~((exact == 0) & (np.abs(actual) > 0))
    assert np.array_equal(np.signbit(actual)[certain], np.signbit(exact)[certain])


@pytest.mark.parametrize("level", LEVELS)
def test_lengths_of_all_magnitudes(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rng = np.random.default_rng(9)
    exponents = rng.uniform(-149, 128, (50, 1000))
    a = np.exp2(exponents).astype(np.float32)
    b = -np.exp2(np.minimum(exponents + rng.uniform(-13, 13, a.shape), 127.9)).astype(np.float32)
    both = compute("hypot", a, b)
    worst("hypot", both, exactly("hypot", a, b), a, b)
    assert np.array_equal(both, compute("hypot", b, a))
    usual = np.abs(exponents) < 38
    beside = [np.where(usual, each, np.float32(1)) for each in (a, b)]
    assert np.array_equal(compute("hypot", *beside)[usual], both[usual])  # whatever lies beside


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("code", [*EXACT_OF_TWO, "min", "max"])
def test_remainders_are_numpys(code: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    a, b = pairs(6)
    meaning = TABLE[code].meaning
    assert meaning is not None
    expected, actual = meaning(a, b), compute(code, a, b)
    same = (actual.view(np.int32) == expected.view(np.int32)) | (
        np.isnan(actual) & np.isnan(expected)
    )
    assert same.all(), (a[~same][:5], b[~same][:5], actual[~same][:5])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "exponent",
    [0.5, 1 / 3, 2.4, 1 / 2.4, 0.9, -0.5, -1.7, 7.3, 7.9, -7.6, 0.01, 11.5, 5, 40, -3, 1023],
)
def test_powers_with_known_exponents(level: str, exponent: float, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    x = everywhere(30011)
    build = Builder("power", [ImageInput("x", FLOAT)])
    texel, known = build.load(0, build.x, build.y), build.constant(FLOAT, exponent)
    function = build.finish([build.emit("pow", texel, known)])
    program = CpuDevice().compile(Task(function, [F32], [F32]))
    (made,) = program.run(Work([Storage.of(x)], [], x.shape, [None]))
    exact = np.power(x.astype(LONG), LONG(np.float32(exponent)))
    worst(f"power {exponent}", made.host()[..., 0], exact, x)


@pytest.mark.parametrize("level", LEVELS)
def test_powers_with_exponents_of_the_pixel(level: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rng = np.random.default_rng(10)
    near, far = (np.exp2(rng.uniform(-e, e, (200, 1000))).astype(np.float32) for e in (0.6, 40))
    exponents = rng.uniform(-7, 7, near.shape).astype(np.float32)
    whole = np.where(rng.random(near.shape) < 0.02, exponents.round(), exponents)
    for x, y in ((near, exponents), (far, exponents), (near, whole)):
        results = compute("pow", x, y)
        worst("pow", results, exactly("pow", x, y), x, y)
        other = rng.random(x.shape) < 0.1
        beside = compute("pow", x, np.where(other, np.float32(2), y))
        assert np.array_equal(beside[~other], results[~other])  # whatever lies beside
    tens = np.full((1, 16), 10, np.float32)
    assert compute("pow", tens, np.arange(-5, 11, dtype=np.float32)[None])[0, 5:].tolist() == [
        10.0**n for n in range(11)
    ]
