"""Every program of tests/programs gives on each target what it gives in plain Python.

Plain Python is the definition: the same function called for each pixel on the same images.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import programs
import pygpu
from programs import errors
from programs.suite import HEIGHT, IMAGES, WIDTH, topics_of
from pygpu.devices import targets
from pygpu.devices.targets import Target

TOPICS = [topic for topic in topics_of(programs) if topic is not errors]  # those are refused
PROGRAMS = {
    f"{topic.__name__.rpartition('.')[2]}.{program.name}": program
    for topic in TOPICS
    for program in topic.program
}
RELATIVE, ABSOLUTE = 2e-5, 1e-6


@functools.cache
def image(name: str) -> pygpu.Image:
    return pygpu.Image(IMAGES[name])


@functools.cache
def in_plain_python(name: str) -> list[np.ndarray]:
    """The program's images (one for each result) from CPython, a pixel at a time."""
    program = PROGRAMS[name]
    inputs = {name: image(name) for name in program.images}
    height, width = IMAGES[program.images[0]].shape[:2] if inputs else (HEIGHT, WIDTH)
    pixels = []
    for y, x in np.ndindex(height, width):
        here = {program.position: pygpu.Position(x, y)} if program.position else {}
        result = program.function(**inputs, **here, **program.values)
        pixels.append(result if isinstance(result, tuple) else (result,))
    return [
        np.array([components(value) for value in alike(values)]).reshape(height, width, -1)
        for values in zip(*pixels, strict=True)
    ]


def alike(values: tuple[Any, ...]) -> list[Any]:
    """The values of all pixels, pairs of floats where some are complex."""
    if not any(map(np.iscomplexobj, values)):
        return list(values)
    return [(complex(value).real, complex(value).imag) for value in values]


def components(value: Any) -> list[Any]:
    """The numbers of a scalar, a vector or a small array, as plain Python has them."""
    return np.asarray(value if np.ndim(value) == 0 else list(value)).ravel().tolist()


def compare(name: str, results: list[np.ndarray]) -> None:
    expected = in_plain_python(name)
    assert len(expected) == len(results)
    for index, (want, have) in enumerate(zip(expected, results, strict=True)):
        have = have.reshape(*have.shape[:2], -1)
        assert want.shape == have.shape
        assert kind(want) == kind(have), f"result {index} has dtype {have.dtype}"
        close = have == want
        if want.dtype.kind == "f":
            close = np.isclose(have.astype(float), want, RELATIVE, ABSOLUTE, equal_nan=True)
        if not close.all():
            y, x, _ = (int(i) for i in np.argwhere(~close)[0])
            pytest.fail(
                f"{(~close).any(-1).sum()} of {close.shape[0] * close.shape[1]} pixels differ; "
                f"result {index} at ({x}, {y}): Python {want[y, x]}, here {have[y, x]}",
                pytrace=False,
            )


def kind(array: np.ndarray) -> str:
    return {"b": "bool", "i": "int", "u": "int", "f": "float"}[array.dtype.kind]


@pytest.fixture(scope="module")
def new_target() -> Iterator[str]:
    """A target that PyGPU does not know of, registered: the interpreter under another name."""
    targets.register("new", Target("new_target:NewDevice"))
    yield "new"
    del targets.DEVICES["new"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_gives_what_python_gives(name: str, target: str, new_target: str) -> None:
    check(name, new_target if target == "interpreter" else target)  # one of the two is enough


@functools.lru_cache(maxsize=1)
def compiled_once(name: str) -> Any:
    """The program; what it is in SSA is found once for all targets, which follow one another."""
    program = PROGRAMS[name]
    return pygpu.compile(program.function, **program.known)


def check(name: str, target: str) -> None:
    program = PROGRAMS[name]
    images = {name: image(name) for name in program.images}
    result = compiled_once(name).on(target)(**images, **program.dynamic)
    results = result if isinstance(result, tuple) else (result,)
    compare(name, [np.asarray(result) for result in results])


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_in_plain_python(name: str) -> None:
    for values in in_plain_python(name):
        assert values.dtype.kind in "bif"
        assert name == "arithmetic.infinities_and_nan" or not np.isnan(values.astype(float)).any()
