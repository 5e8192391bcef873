"""GLSL written by hand, run in the private OpenGL context.

run = OpenGLWritten(device, written)
run.run(storages, formats, [gain], (480, 640))       # arrays (H, W, C), one for each result
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import CompileError, DeviceError
from pygpu.core.storage import Format, Storage, texels
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import DTYPES, Context
from pygpu.devices.written.text import THREADS, Written, stored_type

TRIANGLES: Final = 4
_DTYPES: Final = {
    "float": np.dtype("float32"),
    "int": np.dtype("int32"),
    "uint": np.dtype("uint32"),
    "bool": np.dtype("uint32"),
}


class OpenGLWritten:
    """A program by hand, compiled by the driver; anew where the context was lost."""

    def __init__(self, device: Device, written: Written) -> None:
        self.device, self.written = device, written
        self.source = written.source
        self._held: Any = None
        with opengl.context() as gl:
            self._program(gl)

    def _program(self, gl: Context) -> Any:
        if self._held is None or self._held.context is not gl:
            try:
                self._held = gl.program(self.source, self.written.kind == "compute")
            except DeviceError as error:
                said = str(error).removesuffix(self.source).strip()
                raise CompileError(f"program: {said}") from None
        return self._held

    def run(
        self,
        inputs: Sequence[Storage],
        formats: Sequence[Format],
        uniforms: Sequence[Any],
        shape: tuple[int, int],
    ) -> list[NDArray[Any]]:
        """The results of (H, W), as arrays (H, W, C) of float32, int32 or uint32."""
        arrays = [_elements(*each) for each in zip(inputs, formats, strict=True)]
        with opengl.context() as gl:
            held = self._program(gl)
            held.sizes = held.uniforms = None  # nobody else knows how they are set
            self._set(held.glo, uniforms, shape, inputs)
            is_compute = self.written.kind == "compute"
            found = (self._dispatch if is_compute else self._draw)(gl, held, arrays, shape)
            gl.check()
        outputs = [type for _, type in self.written.outputs]
        return [
            np.ascontiguousarray(array[..., : type.size])
            for array, type in zip(found, outputs, strict=True)
        ]

    def _set(
        self, glo: Any, uniforms: Sequence[Any], shape: tuple[int, int], inputs: Sequence[Storage]
    ) -> None:
        """Set the uniforms that the driver has kept."""
        values = {name: value for (name, _), value in zip(self.written.uniforms, uniforms,
                                                          strict=True)}  # fmt: skip
        values["size"] = (shape[1], shape[0])
        for (name, _), storage in zip(self.written.inputs, inputs, strict=True):
            values[f"{name}_size"] = (storage.width, storage.height)
        for name, value in values.items():
            if name in glo:
                glo[name].value = value

    def _draw(
        self, gl: Context, held: Any, arrays: list[NDArray[Any]], shape: tuple[int, int]
    ) -> list[NDArray[Any]]:
        height, width = shape
        textures = []
        for unit, ((name, _), array) in enumerate(zip(self.written.inputs, arrays, strict=True)):
            texture = gl.texture(array.shape[1], array.shape[0], array.shape[2], array.dtype)
            texture.glo.write(array, alignment=1)
            texture.glo.use(unit)
            textures.append(texture)
            if name in held.glo:
                held.glo[name].value = unit
        stored = [stored_type(type) for _, type in self.written.outputs]
        targets = [gl.texture(width, height, type.size, _DTYPES[type.kind]) for type in stored]
        framebuffer = gl.framebuffer(targets)
        framebuffer.use()
        held.vertices.render(TRIANGLES, 3)
        results = []
        for index, type in enumerate(stored):
            array = np.empty((height, width, type.size), _DTYPES[type.kind])
            gl.read(framebuffer, index, DTYPES[array.dtype], array)
            results.append(array)
        return results

    def _dispatch(
        self, gl: Context, held: Any, arrays: list[NDArray[Any]], shape: tuple[int, int]
    ) -> list[NDArray[Any]]:
        height, width = shape
        buffers = []
        for array in arrays:
            buffer = gl.buffer(array.nbytes)
            gl.write(buffer, array.reshape(array.shape[0], -1).view(np.uint8))
            buffers.append(buffer)
        results = [
            np.zeros((height, width, type.size), _DTYPES[type.kind])
            for type in (stored_type(type) for _, type in self.written.outputs)
        ]
        made = gl.results([buffer.glo for buffer in buffers], [each.nbytes for each in results])
        for buffer, zeros in zip(made, results, strict=True):  # what is not written is 0
            gl.write(buffer, zeros.reshape(height, -1).view(np.uint8))
        for binding, buffer in enumerate([*buffers, *made]):
            buffer.glo.bind_to_storage_buffer(binding)
        groups = -(-width // THREADS[0]), -(-height // THREADS[1])
        if max(groups) > gl.limits.groups:
            raise DeviceError(f"program: {width} x {height} results are too many for this driver")
        held.glo.run(*groups, 1)
        for buffer, array in zip(made, results, strict=True):
            gl.download(buffer, array.reshape(height, -1).view(np.uint8))
        return results


def _elements(storage: Storage, format: Format) -> NDArray[Any]:
    """Texels as functions see them, of four bytes a component, three components as four."""
    seen = texels(storage.host(), format)
    wide = seen.astype(_DTYPES[format.kind], copy=False)
    if format.channels == 3:
        wide = np.concatenate([wide, np.zeros_like(wide[..., :1])], axis=2)
    return np.ascontiguousarray(wide)
