"""How a program registers itself, and the images that programs are given.

    program = Suite()

    @program(gain=2.0)
    def scaled(im: Image, p: Position, gain: float):
        return gain * im(p)

Texels of floats are multiples of 1/64, so that sums and comparisons are exact in float32 and a
decision taken in plain Python is taken alike on every target.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np

HEIGHT, WIDTH = 5, 7


@dataclass(frozen=True)
class Program:
    """A function, and the values of its parameters that are neither images nor the position."""

    function: Callable[..., Any]
    values: dict[str, Any]

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function).parameters.values())

    @property
    def images(self) -> list[str]:
        return [parameter.name for parameter in self.parameters if parameter.name in IMAGES]

    @cached_property
    def position(self) -> str:
        """The name of the parameter that is the position; empty where there is none."""
        for parameter in self.parameters:
            if parameter.name in ("p", "pos"):
                return parameter.name
        return ""

    @property
    def known(self) -> dict[str, Any]:
        """The values given when the program is compiled: those of parameters without a type."""
        typed = {
            p.name
            for p in self.parameters
            if p.annotation is not p.empty
            or (p.default is not p.empty and inspect.isclass(p.default))
        }
        return {name: value for name, value in self.values.items() if name not in typed}

    @property
    def dynamic(self) -> dict[str, Any]:
        """The values given at each call."""
        return {name: value for name, value in self.values.items() if name not in self.known}


def topics_of(package: ModuleType) -> list[ModuleType]:
    """The modules of a package that have a suite called `program`."""
    names = [f"{package.__name__}.{each.name}" for each in iter_modules(package.__path__)]
    return [each for each in map(import_module, names) if hasattr(each, "program")]


class Suite(list[Program]):
    """A topic's programs; the suite itself is the decorator that adds one."""

    def __call__(self, function: Callable[..., Any] | None = None, **values: Any) -> Any:
        if function is None:
            return lambda function: self(function, **values)
        self.append(Program(function, values))
        return function


def _grid(seed: int, low: int, high: int, *shape: int) -> np.ndarray:
    """Multiples of 1/64 from low to high, among them some zeros."""
    random = np.random.default_rng(seed)
    values = random.integers(low * 64, high * 64, shape, endpoint=True) / 64
    values[random.random(shape) < 0.1] = 0.0
    return values.astype(np.float32)


def _integers(seed: int, low: int, high: int) -> np.ndarray:
    """Whole numbers without 0, so that they may divide."""
    random = np.random.default_rng(seed)
    values = random.integers(low, high, (HEIGHT, WIDTH), endpoint=True)
    return np.where(values == 0, 7, values).astype(np.int32)


IMAGES: dict[str, np.ndarray] = {
    "im": _grid(1, -2, 2, HEIGHT, WIDTH),
    "unit": np.clip(_grid(2, 0, 1, HEIGHT, WIDTH), 1 / 64, 1),  # in (0, 1]
    "other": _grid(3, -4, 4, HEIGHT, WIDTH),
    "small": _grid(4, -2, 2, 3, 4),
    "flow": _grid(5, -2, 2, HEIGHT, WIDTH, 2),
    "vecs": _grid(6, -2, 2, HEIGHT, WIDTH, 3),
    "rgb": np.random.default_rng(7).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8),
    "rgba": _grid(8, 0, 1, HEIGHT, WIDTH, 4),
    "ints": _integers(9, -40, 40),
    "counts": _integers(10, 1, 6),
    "pairs": np.stack([_integers(11, -9, 9), _integers(12, -9, 9)], axis=-1),
    "mask": np.random.default_rng(13).random((HEIGHT, WIDTH)) < 0.5,
    "masks": np.random.default_rng(14).random((HEIGHT, WIDTH, 3)) < 0.5,
}
