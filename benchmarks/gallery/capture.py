"""What a program of the gallery runs: each compiled function that it calls, with its arguments, and
what the device is given for that.

    for run in captured("swirl", photo):
        run.call(out=run.outs)             # as a user calls it
        run.function, run.images           # its optimised SSA, and the arrays (H, W, C) it reads
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import pygpu
from benchmarks.gallery import strangers
from pygpu import runtime
from pygpu.core.storage import Format
from pygpu.execution.programs import running
from pygpu.ssa import Function

FOLDER: Final = Path(__file__).resolve().parents[2] / "examples" / "gallery"
STRANGERS: Final = "strangers"  # no picture's name
OUTS: Final = ("float32", "uint8", "int32", "bool")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A call of a compiled function, as users make it and as the device sees it. `call(outs)`
    writes into these arrays, `call(None)` gives new results."""

    name: str
    call: Callable[..., Any]
    function: Function
    images: tuple[NDArray[Any], ...]
    formats: tuple[Format, ...]
    uniforms: tuple[Any, ...]
    shape: tuple[int, int]
    outputs: tuple[Format, ...]

    def outs(self) -> list[NDArray[Any]]:
        """Arrays (H, W, C) for results."""
        return [np.zeros((*self.shape, f.channels), f.dtype) for f in self.outputs]


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def captured(name: str, photo: NDArray[Any]) -> list[Run]:
    """The runs of one picture, or of all functions of strangers.py."""
    if name == STRANGERS:
        return recorded(name, lambda: strangers.render(photo))
    if str(FOLDER) not in sys.path:  # where the examples find what they share
        sys.path.insert(0, str(FOLDER))
    return recorded(name, lambda: importlib.import_module(name).render(pygpu.Image(photo)))


def recorded(name: str, render: Callable[[], Any]) -> list[Run]:
    """What runs while something is rendered, of each function one for each kind of arguments.
    Functions that take several runs of the device for a call are left out, and rounds of
    `iterate`."""
    found: dict[Any, Run] = {}
    called, ran = runtime.Compiled.__call__, running.run
    runs: list[Any] = []

    def run(made: Any, work: Any) -> Any:
        runs.append((made.task, tuple(work.inputs), tuple(work.uniforms), work.shape))
        return ran(made, work)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = len(runs)
        result = called(self, *args, **kwargs)
        if len(runs) == before + 1 and "out" not in kwargs and len(runs[-1][3]) == 2:
            task, inputs, uniforms, shape = runs[-1]
            key = self.__name__, task.function, shape
            if key not in found:
                arrays = tuple([storage.host() for storage in inputs])

                def again(out: Any, dtype: Any = None) -> Any:
                    if out is None:
                        return called(self, *args, **{"dtype": dtype} | kwargs)
                    outs = [each[..., 0] if each.shape[2] == 1 else each for each in out]
                    return called(
                        self, *args, **kwargs, out=tuple(outs) if len(outs) > 1 else outs[0]
                    )

                found[key] = Run(
                    f"{name}.{self.__name__}",
                    again,
                    task.function,
                    arrays,
                    tuple(task.inputs),
                    uniforms,
                    shape,
                    tuple(task.outputs),
                )
        return result

    runtime.Compiled.__call__, running.run = call, run  # type: ignore[method-assign]
    try:
        render()
    finally:
        runtime.Compiled.__call__, running.run = called, ran  # type: ignore[method-assign]
    return list(found.values())


__all__ = ["Run", "captured", "names"]
