"""How well a target must agree with the interpreter on any function.

Rounding, an approximate sine or a decision next to its edge explain differences. So the interpreter
runs several times with errors of the allowed size in every inexact operation: what these move, a
target may move too; all else must be the same.

    check(function, images, uniforms, shape, actual)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.interpret import Interpreter, parameters, run
from pygpu.core.operations.ops import TABLE
from pygpu.ssa import Constant, Function, Op

Array = NDArray[Any]

ULP: Final = 1.2e-7  # relative: the distance of neighbouring floats
RUNS: Final = 4


@dataclass(frozen=True)
class Accuracy:
    """What a target promises of functions (exp, sin); whether it keeps IEEE's infinities, NaN and
    subnormals through arithmetic."""

    relative: float
    absolute: float
    ieee: bool


PRECISE: Final = Accuracy(2.5 * ULP, 0.0, ieee=True)  # native code
GRAPHICS: Final = Accuracy(2e-5, 1e-6, ieee=False)  # GLSL

# Operations that are rounded, and how many ulp a target may be off.
ROUNDED: Final = {"neg": 0, "add": 1, "sub": 1, "mul": 1, "div": 3, "sqrt": 3, "fmod": 3}
FUNCTIONS: Final = frozenset(code for code, row in TABLE.items() if row.approximate)


def check(
    function: Function,
    images: Sequence[Array],
    uniforms: Sequence[Constant],
    shape: tuple[int, int],
    actual: Sequence[Array],
    accuracy: Accuracy = GRAPHICS,
) -> None:
    """Assert that a target's results agree with the interpreter's, but for a few pixels where
    rounding decides what is computed."""
    expected = run(function, images, uniforms, shape)
    given = parameters(function, uniforms, range(shape[0]), shape[1])
    runs = []
    doubtful = np.zeros(shape, bool)
    for seed in range(RUNS):
        disturbed = Disturbed(function, images, accuracy, seed)
        runs.append(disturbed.run(given))
        doubtful |= disturbed.doubtful
    for index, (want, have) in enumerate(zip(expected, actual, strict=True)):
        moved = [np.broadcast_to(results[index], want.shape) for results in runs]
        have = np.asarray(have).reshape(want.shape)
        assert have.dtype == want.dtype, f"output {index} is {have.dtype}, not {want.dtype}"
        bad = ~agrees(want, have, moved)
        bad = bad.any(axis=-1) if bad.ndim == 3 else bad
        bad &= ~doubtful
        undecided = any(np.any(~_close(want, array, 1e-3)) for array in moved)
        if np.count_nonzero(bad) > (bad.size // 50 + 1 if undecided else 0):
            raise AssertionError(_report(function, index, want, have, bad, uniforms))


def agrees(want: Array, have: Array, moved: Sequence[Array]) -> Any:
    """Where a result is what was expected, or differs no more than disturbed results do."""
    with np.errstate(all="ignore"):
        if want.dtype.kind != "f":
            return np.any([want == have, *(array != want for array in moved)], axis=0)
        slack = np.zeros(want.shape)
        for array in moved:
            off = np.abs(array.astype(np.float64) - want)
            off[_same(array, want)] = 0
            slack = np.maximum(slack, np.nan_to_num(off, nan=np.inf))
        close = np.abs(have.astype(np.float64) - want) <= 4 * slack + 8 * ULP * np.abs(want) + 1e-6
        return close | _same(have, want) | np.isinf(slack)


def assert_close(
    expected: Array,
    actual: Array,
    relative: float = 2e-5,
    absolute: float = 1e-6,
    fraction: float = 0.0,
) -> None:
    """Assert that arrays agree, NaN with NaN, but for a fraction of their elements."""
    bad = ~(_close(expected, actual, relative, absolute) | _same(expected, actual))
    where = np.argwhere(bad)[:5].tolist()
    assert np.count_nonzero(bad) <= fraction * bad.size, (
        f"{np.count_nonzero(bad)} of {bad.size} differ, at {where}: "
        f"expected {expected[bad][:5]}, got {actual[bad][:5]}"
    )


def _same(a: Array, b: Array) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (a == b) | ((a != a) & (b != b))
    return same


def _close(a: Array, b: Array, relative: float, absolute: float = 1e-3) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64)
        close: NDArray[np.bool_] = np.abs(wide - b) <= relative * np.abs(wide) + absolute
        return close | _same(a, b)


class Disturbed(Interpreter):
    """Interprets with random errors. `doubtful` are the pixels whose arithmetic met an infinity,
    a NaN or a subnormal, where a target that is not IEEE's may give what it likes."""

    def __init__(
        self, function: Function, images: Sequence[Array], accuracy: Accuracy, seed: int
    ) -> None:
        super().__init__(function, images)
        self.accuracy = accuracy
        self.generator = np.random.default_rng(seed)
        self.zero = np.float32((0.0, -0.0)[seed % 2])
        self.doubtful: Any = np.bool_(False)

    def compute(self, op: Op, operands: list[Array]) -> Array:
        exact = super().compute(op, operands)
        if exact.dtype.kind != "f" or op.code in ("load", "constant", "table"):
            return exact
        if not self.accuracy.ieee:
            size = np.abs(exact)
            self.doubt(~np.isfinite(exact) | ((size < 2e-38) & (size > 0)) | (size > 1e37))
        if op.code in ("mul", "dot"):  # a product with a zero that is known may be zero
            a, b = operands
            self.doubt(((a == 0) & ~np.isfinite(b)) | ((b == 0) & ~np.isfinite(a)))
        if op.code in FUNCTIONS:
            return self.moved(exact, self.accuracy.relative, self.accuracy.absolute)
        if op.code in ROUNDED:
            return self.moved(exact, ROUNDED[op.code] * ULP, 0.0)
        if op.code == "dot":
            largest = np.fmax.reduce(np.abs(operands[0] * operands[1]), axis=None, initial=0)
            return self.moved(exact, 0.0, float(4 * ULP * largest))
        if op.code in ("floordiv", "mod"):
            a, b = operands
            quotient = np.floor(self.moved(a / b, 3 * ULP, 0.0))
            return quotient if op.code == "floordiv" else self.moved(a - b * quotient, ULP, 0.0)
        return exact

    def doubt(self, where: Any) -> None:
        """Note pixels, given as a scalar or a vector of bools for each."""
        where = np.asarray(where)
        self.doubtful = self.doubtful | (where.any(axis=-1) if where.ndim % 2 else where)

    def moved(self, exact: Array, relative: float, absolute: float) -> Array:
        """The value with a random error of at most that."""
        first, second = self.generator.uniform(-1, 1, (2, *exact.shape))
        wide = exact.astype(np.float64)
        result: Array = (wide * (1 + relative * first) + absolute * second).astype(np.float32)
        return np.where(result == 0, self.zero, result)  # the sign of a zero is not promised


def _report(
    function: Function,
    index: int,
    want: Array,
    have: Array,
    bad: NDArray[np.bool_],
    uniforms: Sequence[Constant],
) -> str:
    where = np.argwhere(bad)
    lines = [f"output {index} differs in {len(where)} of {bad.size} pixels"]
    for y, x in where[:5]:
        lines.append(f"  at x={x} y={y}: expected {want[y, x]}, got {have[y, x]}")
    return "\n".join([*lines, f"uniforms {list(uniforms)}", str(function)])
