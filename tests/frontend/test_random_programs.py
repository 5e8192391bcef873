"""Random programs give the same on every target as in plain Python, and after every pass.

PYGPU_EXAMPLES=20 runs twenty times as many, other ones each time.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import pygpu
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
