"""What programs of both kinds of OpenGL devices have in common: passes that are made ready in the
context, and results that stay on the device until somebody asks for their texels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Planes, Program
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Held
from pygpu.ssa import Constant

TOGETHER: Final = 16  # rounds within one section: others come between, and the device begins


class Pass(Protocol):
    """Computes some of a function's results: those at `indices`, stored as `outputs` say."""

    indices: Sequence[int]
    outputs: Sequence[Format]

    def compute(
        self,
        gl: Context,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        *planes: Planes,
    ) -> Sequence[Held]:
        """Compute all pixels (H, W), of each plane where there are some; what holds each result.
        Waits for nothing."""


class Passes(Program):
    """A function's passes. `make` makes them ready in a context, first now and again where the
    driver has reset; `read` reads what holds a result into an array; `copy` is the name under which
    a storage keeps it."""

    def __init__(
        self,
        source: str,
        copy: str,
        make: Callable[[Context], list[Pass]],
        read: Callable[[Context, Any, Format, NDArray[Any]], None],
    ) -> None:
        self.source = source
        self._copy, self._make, self._read = copy, make, read
        with opengl.context() as gl:
            begun = time.perf_counter()
            self._passes, self._context = make(gl), gl
            self.driver_seconds = time.perf_counter() - begun

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        out: Sequence[NDArray[Any] | None],
        *planes: Planes,
    ) -> list[Storage]:
        """See device.Program; `planes` are for passes that compute several. Waits for the device
        only where `out` has an array."""
        whole = (shape[0] * planes[0].count, shape[1]) if planes else shape
        results: dict[int, Storage] = {}
        with opengl.context() as gl:
            if self._context is not gl:
                self._passes, self._context = self._make(gl), gl
            for each in self._passes:
                made = each.compute(gl, inputs, uniforms, shape, *planes)
                for index, format, held in zip(each.indices, each.outputs, made, strict=True):
                    array = out[index] if out else None
                    if array is None:
                        results[index] = kept(held, self._copy, whole, format, self._read)
                    else:
                        self._read(gl, held, format, array)
                        results[index] = Storage(*whole, format.channels, format.dtype, array)
        return [results[index] for index in range(len(results))]

    def run_rounds(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Sequence[Constant]],
        shape: tuple[int, int],
        out: Sequence[NDArray[Any] | None],
        state: Sequence[int],
    ) -> list[Storage] | None:
        if any(array is not None for array in out):
            return None
        run, images = self.ready(shape), list(inputs)
        results: list[Storage] = []
        for first in range(0, len(uniforms), TOGETHER):
            with opengl.context() as gl:
                for given in uniforms[first : first + TOGETHER]:
                    results = run(images, given, shape, ())
                    for place, result in zip(state, results, strict=True):
                        images[place] = result
                    gl.drain()  # what the round before read is free for the next one
        return results


def kept(
    held: Held,
    copy: str,
    shape: tuple[int, int],
    format: Format,
    read: Callable[[Context, Any, Format, NDArray[Any]], None],
) -> Storage:
    """A storage of what was computed, downloaded when it is asked for."""

    def download() -> NDArray[Any]:
        array = np.empty((*shape, format.channels), format.dtype)
        with opengl.context() as gl:
            if held.context is not gl:
                raise DeviceError("the image was lost when the driver reset the device")
            read(gl, held, format, array)
        return array

    storage = Storage(*shape, format.channels, format.dtype, None, download)
    storage.copies[copy] = held
    return storage
