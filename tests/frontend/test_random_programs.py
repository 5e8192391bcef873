"""Random programs give the same on every target as in plain Python, and after every pass.

PYGPU_EXAMPLES=20 runs twenty times as many, other ones each time.
"""

import functools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import pygpu
from conftest import require
from pygpu import Image, Position, Vec3
from pygpu.core import interpret
from pygpu.core.errors import CompileError
from pygpu.core.specs import ImageSpec, PositionSpec, UniformSpec
from pygpu.core.verify import verify
from pygpu.frontend import translate as frontend
from pygpu.passes.simplify import pipeline as passes
from pygpu.ssa import Function, ImageInput
from pygpu.types import BOOL, FLOAT, INT, Type, vector
from random_programs import Program, program, programs

HEIGHT, WIDTH = 4, 5
RANDOM = np.random.default_rng(5)
IMAGES = {
    "im": (RANDOM.integers(-16, 17, (HEIGHT, WIDTH)) / 8).astype(np.float32),
    "rgb": (RANDOM.integers(-16, 17, (HEIGHT, WIDTH, 3)) / 8).astype(np.float32),
    "ints": RANDOM.integers(-4, 5, (HEIGHT, WIDTH)).astype(np.int32),
}
TYPES = {"im": FLOAT, "rgb": vector("float", 3), "ints": INT}
UNIFORMS: list[tuple[str, Type]] = [("n", INT), ("g", FLOAT), ("flag", BOOL)]

MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
EXAMPLES = {"interpreter": 150, "cpu": 60, "fragment": 20, "compute": 20}
REFUSED = 0.02  # of the programs may be refused, for what the generator cannot foresee


@pytest.mark.timeout(120 * MORE)
def test_random_programs_give_what_python_gives(target: str) -> None:
    check = check_interpreted if target == "interpreter" else on_target(target)
    count = EXAMPLES[target] * MORE
    refused = []

    @settings(max_examples=count, derandomize=MORE == 1, suppress_health_check=list(HealthCheck))
    @given(made=programs())
    def run(made: Program) -> None:
        expected = in_plain_python(made)
        try:
            check(made, expected)
        except CompileError as error:
            refused.append(str(error))

    run()
    assert len(refused) <= REFUSED * count + 1, "\n".join(refused)


def test_programs_of_a_seed_are_the_same() -> None:
    assert program(3) == program(3)


def in_plain_python(made: Program) -> list[np.ndarray]:
    """The images of the results, from CPython a pixel at a time."""
    images = inputs(made)
    return images_of(
        [
            made.function(**images, p=pygpu.Position(x, y), **made.values)
            for y, x in np.ndindex(HEIGHT, WIDTH)
        ]
    )


def inputs(made: Program) -> dict[str, pygpu.Image]:
    return {name: pygpu.Image(array, boundary=made.boundary) for name, array in IMAGES.items()}


def images_of(pixels: Sequence[Any]) -> list[np.ndarray]:
    """Results of all pixels, each a number, a vector or a tuple of them, as images."""
    rows = [pixel if isinstance(pixel, tuple) else (pixel,) for pixel in pixels]
    return [
        np.array([np.asarray(value, np.float64).reshape(-1) for value in values]).reshape(
            HEIGHT, WIDTH, -1
        )
        for values in zip(*rows, strict=True)
    ]


def check_interpreted(made: Program, expected: list[np.ndarray]) -> None:
    """What the walker makes, and what each pass makes of that, gives what is expected."""
    uniforms = [made.values[name] for name, _ in UNIFORMS]
    for what, function in stages(translated(made)):
        try:
            verify(function)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from None
        results = interpret.run(function, list(IMAGES.values()), uniforms, (HEIGHT, WIDTH))
        same(expected, results, what)


def translated(made: Program) -> Function:
    """The program's function in SSA, as it comes from the walker."""
    bindings: dict[str, Any] = {"p": PositionSpec()}
    for index, (name, type) in enumerate(TYPES.items()):
        cval = (0.0 if type.kind == "float" else 0,) * type.size
        bindings[name] = ImageSpec(index, name, type, made.boundary, cval, "nearest")
    for index, (name, type) in enumerate(UNIFORMS):
        bindings[name] = UniformSpec(index, name, type)
    images = [ImageInput(name, type) for name, type in TYPES.items()]
    return frontend.translate(made.function, bindings, images=images, uniforms=UNIFORMS).function


def stages(function: Function) -> Iterator[tuple[str, Function]]:
    """A function, and what each pass of `simplify` makes of it."""
    yield "walked", function
    for number in range(passes.ROUNDS + 1):
        before = function
        for each in passes.CLEAN if number == 0 else (*passes.RESTRUCTURE, *passes.CLEAN):
            changed = each(function)
            if changed is not function:
                function = changed
                yield f"after {each.__name__}", function
        if number and function is before:
            return


def on_target(target: str) -> Callable[[Program, list[np.ndarray]], None]:
    def check(made: Program, expected: list[np.ndarray]) -> None:
        result = pygpu.compile(made.function, target=target)(**inputs(made), **made.values)
        results = result if isinstance(result, tuple) else (result,)
        same(expected, [np.asarray(each) for each in results], f"on {target}")

    return check


# ---------------------------------------------------------------- what is done with programs


DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64")
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "least": lambda a, b: min(a, b),
    "greatest": lambda a, b: max(a, b),
    "both": lambda a, b: (a[0] + b[0], max(a[1], b[1])),
}


def in_dtypes(made: Program, target: str, dtype: str) -> None:
    """A program's results are stored in a dtype as the language says."""
    compiled = pygpu.compile(made.function, target=target)
    plain, wanted = compiled(**IMAGES, **made.values), np.dtype(dtype)
    results = compiled(**IMAGES, **made.values, dtype=wanted)
    parts = plain if isinstance(plain, tuple) else (plain,)
    others = results if isinstance(results, tuple) else (results,)
    for part, other in zip(parts, others, strict=True):
        values, have = np.asarray(part), np.asarray(other)
        assert have.dtype == wanted, (target, dtype)
        slack = 0.5 if wanted.kind in "iu" and values.dtype.kind == "f" else 0  # a tie: either way
        off = np.abs(have.astype(np.float64) - as_stored(values, wanted))
        assert (off <= slack).all(), (target, dtype, values[off > slack], have[off > slack])


def as_stored(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What is to be stored, before it is rounded to an integer."""
    if dtype.kind == "b":
        return (values != 0).astype(float)
    if dtype.kind == "f":
        return values.astype(dtype).astype(np.float64)
    ends = np.iinfo(dtype)
    wide = values.astype(np.float64)
    if values.dtype.kind == "b":
        wide = wide * ends.max if dtype.kind == "u" else wide
    elif values.dtype.kind == "f" and dtype.kind == "u":
        wide = wide * ends.max
    return np.clip(wide, ends.min, ends.max)


def in_rounds(made: Program, target: str, count: int) -> None:
    """A program of one result, iterated, gives what Python gives round by round."""

    def step(im: Image, rgb: Image, ints: Image, p: Position, n: int, g: float, flag: bool):
        result = plain_function(im, rgb, ints, p, n, g, flag)
        return 1.0 * (result[0] if isinstance(result, (tuple, Vec3)) else result)

    plain_function = made.function
    images = inputs(made)
    state = images["im"]
    for _ in range(count):
        given = {**images, "im": state}
        pixels = [
            step(**given, p=Position(x, y), **made.values) for y, x in np.ndindex(HEIGHT, WIDTH)
        ]
        rows = images_of(pixels)[0]
        state = Image(rows.astype(np.float32), boundary=made.boundary)
    images = inputs(made)
    rest = images["rgb"], images["ints"], *made.values.values()
    result = pygpu.compile(step, target=target).iterate(images["im"], count, *rest)
    same([rows], [np.asarray(result)], f"{count} rounds on {target}")


def folded(made: Program, target: str, how: str) -> None:
    """Folds of what a program gives at each pixel are those of Python."""
    images, plain_function, values = inputs(made), made.function, made.values
    rgb, ints = images["rgb"], images["ints"]
    im = images["im"]

    def mapped(texel, p):
        result = plain_function(im, rgb, ints, p, values["n"], texel, values["flag"])
        number = result[0] if isinstance(result, (tuple, Vec3)) else result
        return (number, number * 2) if how == "both" else number * 1

    expected = functools.reduce(
        FOLDS[how],
        [mapped(float(IMAGES["im"][y, x]), Position(x, y)) for y, x in np.ndindex(HEIGHT, WIDTH)],
    )
    result = pygpu.reduce(FOLDS[how], im, map=mapped, target=target)
    assert np.array_equal(np.asarray(result, float), np.asarray(expected, float)), (how, target)


@pytest.mark.timeout(120 * MORE)
@pytest.mark.parametrize("on", ["cpu", "fragment", "compute"])
@pytest.mark.parametrize("use", [in_dtypes, in_rounds, folded])
def test_random_programs_are_stored_iterated_and_folded(use: Any, on: str) -> None:
    require(on)
    refused = []
    count = (12 if on == "cpu" else 4) * MORE
    for seed in range(count):
        made = program(seed if MORE == 1 else random.randrange(10**9))
        options = {in_dtypes: DTYPES, in_rounds: (2, 3), folded: tuple(FOLDS)}[use]
        try:
            use(made, on, options[seed % len(options)])
        except CompileError as error:
            refused.append(str(error))
    assert len(refused) <= REFUSED * count + 1, "\n".join(refused)


# ---------------------------------------------------------------- agreement


def same(expected: list[np.ndarray], actual: Sequence[np.ndarray], what: str) -> None:
    """The results are equal: all arithmetic of these programs is exact."""
    assert len(expected) == len(actual), what
    for index, (want, have) in enumerate(zip(expected, actual, strict=True)):
        have = have.reshape(HEIGHT, WIDTH, -1)
        assert want.shape == have.shape, what
        bad = (want != have).any(axis=-1)
        if bad.any():
            y, x = (int(place) for place in np.argwhere(bad)[0])
            raise AssertionError(
                f"{what}: result {index} differs in {bad.sum()} pixels, at ({x}, {y}): "
                f"Python {want[y, x]}, here {have[y, x]}"
            )
