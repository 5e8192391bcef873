"""What programs of both kinds of OpenGL devices have in common: passes that are made ready in the
context, and results that stay on the device until somebody asks for their texels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import DeviceError
from pygpu.core.programs import Planes, Program, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Held
from pygpu.ssa import Constant

Read = Callable[[Context, Any, Format, NDArray[Any]], None]  # what holds texels into an array
TOGETHER: Final = 16  # rounds within one section: others come between, and the device begins


class Pass(Protocol):
    """Computes some of a function's results: those at `indices`, stored as `outputs` say."""

    indices: Sequence[int]
    outputs: Sequence[Format]

    def compute(self, gl: Context, work: Work, planes: Planes | None) -> Sequence[Held]:
        """Compute all pixels, of each plane; what holds each result. Waits for nothing."""

    def noted(self, gl: Context, work: Work, size: tuple[int, int]) -> Sequence[Held] | None:
        """What holds the results of work noted for later. None where that takes the context."""


class Passes(Program):
    """A function's passes. `make` makes them ready in a context, first now and again where the
    driver has reset; `read` reads what holds a result into an array; `copy` is the name under which
    a storage keeps it."""

    def __init__(
        self,
        source: str,
        copy: str,
        make: Callable[[Context], list[Pass]],
        read: Read,
    ) -> None:
        self.source = source
        self._copy, self._make, self._read = copy, make, read
        with opengl.context() as gl:
            begun = time.perf_counter()
            self._passes, self._context = make(gl), gl
            self.driver_seconds = time.perf_counter() - begun

    def run(self, work: Work) -> list[Storage]:
        """See device.Program. Waits for the device only where `out` has an array."""
        return self.computed(work)

    def computed(self, work: Work, planes: Planes | None = None) -> list[Storage]:
        """The results, of all planes where there are some, one below the other."""
        with opengl.context() as gl:
            return self._computed(gl, work, planes)

    def noted(self, size: tuple[int, int], work: Work) -> list[Storage]:
        """The results (H, W) of the only pass, computed now or, where calls follow each other, with
        later ones."""
        for each in work.inputs:
            if each.__class__ is not Storage:  # what is awaited takes a current context
                return self.computed(work)
        only = self._passes[0]
        made = opengl.noted(only.noted, work, size)
        if made is None:
            return self.computed(work)
        copy, read = self._copy, self._read
        return [
            kept(held, copy, size, format, read)
            for format, held in zip(only.outputs, made, strict=True)
        ]

    @property
    def are_several(self) -> bool:
        return len(self._passes) > 1

    def _computed(self, gl: Context, work: Work, planes: Planes | None) -> list[Storage]:
        rows, width = work.size
        whole = (rows * planes.count if planes else rows), width
        results: dict[int, Storage] = {}
        if self._context is not gl:
            self._passes, self._context = self._make(gl), gl
        for each in self._passes:
            made = each.compute(gl, work, planes)
            for index, format, held in zip(each.indices, each.outputs, made, strict=True):
                array = work.out[index]
                if array is None:
                    results[index] = kept(held, self._copy, whole, format, self._read)
                else:
                    self._read(gl, held, format, array)
                    results[index] = Storage(*whole, format.channels, format.dtype, array)
        return [results[index] for index in range(len(results))]

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        if any(array is not None for array in work.out):
            return None
        run, images = self.ready(work.size), list(work.inputs)
        results: list[Storage] = []
        for first in range(0, len(rounds), TOGETHER):
            with opengl.context() as gl:
                for uniforms in rounds[first : first + TOGETHER]:
                    results = run(work._replace(inputs=images, uniforms=uniforms))
                    for place, result in zip(state, results, strict=True):
                        images[place] = result
                    gl.drain()  # what the round before read is free for the next one
        return results


def kept(held: Held, copy: str, shape: tuple[int, int], format: Format, read: Read) -> Storage:
    """A storage of what was computed, downloaded when it is asked for."""
    download = partial(_downloaded, held, shape, format, read)
    storage = Storage(*shape, format.channels, format.dtype, None, download)
    storage.copies[copy] = held
    return storage


def _downloaded(held: Held, shape: tuple[int, int], format: Format, read: Read) -> NDArray[Any]:
    array = np.empty((*shape, format.channels), format.dtype)
    with opengl.context() as gl:
        if held.context is not gl:
            raise DeviceError("the image was lost when the driver reset the device")
        read(gl, held, format, array)
    return array
