"""How a program of the corpus registers itself: as those of tests/programs do, with what it needs.

    opensimplex = module("opensimplex")

    @program(needs=opensimplex)
    def noise(p: Position): ...

Images are the corners of those of tests/programs. Programs compute with floats of 64 bits in plain
Python, so results may differ by `within` of their size and of one, which is 1e-4 unless said.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from programs.suite import IMAGES, Program

HEIGHT, WIDTH = 3, 4
CORNERS = {name: image[:HEIGHT, :WIDTH] for name, image in IMAGES.items()}


class Missing:
    """A package that is not installed."""

    def __init__(self, name: str) -> None:
        self.name = name


def module(name: str, private: str = "") -> Any:
    """The module, or what says that it is missing, or that this version of it lacks a function of
    its own that is called. Some set how NumPy prints: that is put back."""
    try:
        with np.printoptions():
            found = importlib.import_module(name)
    except ImportError:
        return Missing(name)
    return Missing(f"{name}.{private}") if private and not hasattr(found, private) else found


@dataclass(frozen=True)
class Entry(Program):
    """A program of the corpus."""

    missing: str = ""
    within: float = 1e-4


class Corpus(list[Entry]):
    """A topic's programs; the corpus itself is the decorator that adds one."""

    def __call__(
        self, function: Callable[..., Any] | None = None, *, needs: Any = None, **options: Any
    ) -> Any:
        if function is None:
            return lambda function: self(function, needs=needs, **options)
        missing = needs.name if isinstance(needs, Missing) else ""
        self.append(Entry(function, {}, missing, **options))
        return function
