"""The compute target: a function as an OpenGL compute program over storage buffers.

Images lie in buffers as pygpu/glsl_buffers.py says. Results stay there until somebody asks for
their texels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen_glsl import GROUP, ComputeProgram, compute_program
from pygpu.devices import opengl
from pygpu.devices.opengl_bindings import Bindings
from pygpu.errors import DeviceError
from pygpu.glsl_buffers import element_bytes, row_bytes
from pygpu.passes import CLEAN, apply
from pygpu.passes.boundary import lower_boundary
from pygpu.ssa import Constant, Function, Region, walk
from pygpu.storage import Format, Storage

COPY: Final = "opengl buffer"  # the name of a storage's copy here


class ComputeDevice:
    """OpenGL 4.3 and up. Making it makes the context."""

    name = "compute"

    def __init__(self) -> None:
        with opengl.context() as gl:
            if gl.limits.version < 430:
                raise DeviceError(
                    f"compute programs take OpenGL 4.3; this driver has {gl.version} "
                    f"({gl.renderer}): target='fragment' runs on it"
                )
            self.dialect = gl.dialect
            self.buffers = gl.limits.storage_blocks
            self.uniforms = gl.limits.uniform_components

    def compile(
        self, function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
    ) -> ComputedFunction:
        """One pass, or several where there are more results than the driver takes buffers."""
        Bindings.check(function, self.uniforms)
        lowered = apply(CLEAN, lower_boundary(function))
        read = {op.data.image for op in walk(lowered.body) if op.code == "load"}
        count = self.buffers - len(read)
        if count < 1:
            raise DeviceError(
                f"the function reads {len(read)} images at once; this driver takes "
                f"{self.buffers - 1}"
            )
        passes = []
        for first in range(0, len(outputs), count):
            part = slice(first, first + count)
            body = Region(lowered.body.params, lowered.body.ops, lowered.body.results[part])
            some = Function(lowered.name, lowered.images, lowered.tables, body)
            passes.append((compute_program(some, inputs, outputs[part], self.dialect), part))
        return ComputedFunction(passes, list(inputs), list(outputs))


class ComputedFunction:
    """A function's passes, made ready in the context when they first run."""

    def __init__(
        self,
        passes: Sequence[tuple[ComputeProgram, slice]],
        inputs: list[Format],
        outputs: list[Format],
    ) -> None:
        self.source = "\n".join(text.text for text, _ in passes)
        self.inputs, self.outputs = inputs, outputs
        self._texts = passes
        self._passes: list[Pass] = []
        self._context: opengl.Context | None = None
        with opengl.context() as gl:
            self._make_ready(gl)

    def _make_ready(self, gl: opengl.Context) -> None:
        self._passes = [
            Pass(gl, text, self.inputs, self.outputs[part]) for text, part in self._texts
        ]
        self._context = gl

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        out: Sequence[NDArray[Any] | None],
    ) -> list[Storage]:
        """See storage.Program. Waits for the device only where `out` has an array."""
        results: list[Storage] = []
        with opengl.context() as gl:
            if self._context is not gl:
                self._make_ready(gl)
            for each in self._passes:
                for buffer, format in zip(
                    each.dispatch(gl, inputs, uniforms, shape), each.outputs, strict=True
                ):
                    array = out[len(results)] if out else None
                    if array is not None:
                        read_buffer(gl, buffer, format, array)
                        results.append(Storage(*shape, format.channels, format.dtype, array))
                    else:
                        results.append(_result(buffer, shape, format))
        return results


class Pass:
    """One program of the driver's, ready to be dispatched."""

    def __init__(
        self,
        gl: opengl.Context,
        text: ComputeProgram,
        inputs: Sequence[Format],
        outputs: Sequence[Format],
    ) -> None:
        self.held = gl.program(text.text, is_compute=True)
        self.program = self.held.glo
        self.outputs = outputs
        self.pixels = text.pixels
        self.images = [index for index, name in enumerate(text.images) if name is not None]
        self.bindings = Bindings(gl, self.program, text, 0)
        named = [*zip(text.image_sizes, inputs, strict=True)]
        self.image_sizes = [
            (index, self.program[name], format)
            for index, (name, format) in enumerate(named)
            if name is not None and name in self.program
        ]
        self.result_sizes = [
            (self.program[name], format)
            for name, format in zip(text.result_sizes, outputs, strict=True)
            if name in self.program
        ]
        self.top = self.program.get("top", None)

    def dispatch(
        self,
        gl: opengl.Context,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
    ) -> list[opengl.Buffer]:
        """Compute all pixels of some results."""
        height, width = shape
        held = [upload(gl, inputs[index]) for index in self.images]
        held += [gl.buffer(height * row_bytes(format, width)) for format in self.outputs]
        for binding, buffer in enumerate(held):
            buffer.glo.bind_to_storage_buffer(binding)
        for index, uniform, format in self.image_sizes:
            image = inputs[index]
            uniform.value = _size(format, image.width, image.height)
        for uniform, format in self.result_sizes:
            uniform.value = _size(format, width, height)
        self.bindings.bind(uniforms)
        groups = -(-width // (GROUP * self.pixels))
        for top in range(0, height, gl.limits.groups):
            if self.top is not None:
                self.top.value = top
            self.program.run(groups, min(height - top, gl.limits.groups), 1)
        gl.gl.memory_barrier()
        return held[len(self.images) :]


def _size(format: Format, width: int, height: int) -> tuple[int, int, int]:
    return width, height, row_bytes(format, width) // element_bytes(format)


def _result(buffer: opengl.Buffer, shape: tuple[int, int], format: Format) -> Storage:
    """A storage of what was computed, downloaded when it is asked for."""

    def download() -> NDArray[Any]:
        array = np.empty((*shape, format.channels), format.dtype)
        with opengl.context() as gl:
            if buffer.context is not gl:
                raise DeviceError("the image was lost when the driver reset the device")
            read_buffer(gl, buffer, format, array)
        return array

    storage = Storage(*shape, format.channels, format.dtype, None, download)
    storage.copies[COPY] = buffer
    return storage


# ---------------------------------------------------------------- up and down


def upload(gl: opengl.Context, storage: Storage) -> opengl.Buffer:
    """The buffer that holds a storage's texels: kept with it, made where it is missing."""
    held = storage.copies.get(COPY)
    if held is not None and held.context is gl:
        return held  # type: ignore[no-any-return]
    texels = _bytes(storage.host())
    row = row_bytes(Format(storage.dtype, storage.channels), storage.width)
    buffer = gl.buffer(storage.height * row)
    if row != texels.shape[1]:
        padded = np.zeros((storage.height, row), np.uint8)
        padded[:, : texels.shape[1]] = texels
        texels = padded
    buffer.glo.write(texels)
    storage.copies[COPY] = buffer
    return buffer


def read_buffer(
    gl: opengl.Context, buffer: opengl.Buffer, format: Format, array: NDArray[Any]
) -> None:
    """The texels of a buffer into an array (H, W, C), C-contiguous."""
    texels = _bytes(array)
    row = row_bytes(format, array.shape[1])
    if row == texels.shape[1]:
        buffer.glo.read_into(texels)
    else:
        padded = np.empty((len(texels), row), np.uint8)
        buffer.glo.read_into(padded)
        texels[:] = padded[:, : texels.shape[1]]
    gl.check()


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array (H, W, C), row by row."""
    return array.reshape(len(array), -1).view(np.uint8)
