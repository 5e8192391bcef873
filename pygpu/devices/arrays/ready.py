"""Programs over whole arrays, made ready in the context: what they are given, what they give.

ready = Programs(formats).ready(gl, text)
ready.bind([*ready.read(gl, storages), buffer], storages, extent=(480, 640))
ready.dispatch(gl, 100)                # groups of threads
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu.codegen.arrays.elements import ArrayText
from pygpu.codegen.glsl.buffers import row_bytes
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import bindings
from pygpu.devices.opengl.buffers import COPY, read_buffer, upload
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer
from pygpu.devices.opengl.passes import kept
from pygpu.types import Type


def format_of(type: Type) -> Format:
    """How a part of a value is stored: words, so no bools."""
    dtype = np.dtype("int32") if type.kind == "bool" else np.dtype(NUMPY_TYPE[type.kind])
    return Format(dtype, type.size, normalize=False)


def result(held: Buffer, shape: tuple[int, int], format: Format) -> Storage:
    """A storage of what a program has left in a buffer."""
    return kept(held, COPY, shape, format, read_buffer)


def nbytes(shape: tuple[int, int], format: Format) -> int:
    return shape[0] * row_bytes(format, shape[1])


def stride(shape: tuple[int, int], format: Format) -> int:
    """Words from row to row."""
    return row_bytes(format, shape[1]) // 4


class Ready(bindings.Ready):
    """A program of the driver's that reads images."""

    def __init__(self, gl: Context, text: ArrayText, inputs: Sequence[Format]) -> None:
        super().__init__(gl, text.text, text.program)
        self.text, self.inputs = text, tuple(inputs)
        self.images = [i for i, name in enumerate(text.program.images) if name is not None]

    def read(self, gl: Context, inputs: Sequence[Storage]) -> list[Buffer]:
        """The buffers of the images that are read."""
        return [upload(gl, inputs[index]) for index in self.images]

    def bind(
        self,
        buffers: Sequence[Buffer],
        inputs: Sequence[Storage],
        already: dict[int, Buffer] | None = None,
        /,
        **sizes: Any,
    ) -> None:
        """Bind buffers in their order, and set uniforms that are not so yet. `already`: what
        programs that ran just before, and nothing since, have bound where; it is kept up."""
        for binding, buffer in enumerate(buffers):
            if already is None:
                buffer.glo.bind_to_storage_buffer(binding)
            elif already.get(binding) is not buffer:
                buffer.glo.bind_to_storage_buffer(binding)
                already[binding] = buffer
        for name, format, image in zip(self.text.sizes, self.inputs, inputs, strict=False):
            if name:
                row = row_bytes(format, image.width) // 4
                sizes[name] = (image.width, image.height, row)
        self.set(**sizes)


class Programs:
    """The programs of one task, each made ready when a context is first to run it."""

    def __init__(self, inputs: Sequence[Format]) -> None:
        self.inputs = tuple(inputs)
        self._context: Context | None = None
        self._ready: dict[int, Ready] = {}

    def ready(self, gl: Context, text: ArrayText) -> Ready:
        """One of them."""
        if self._context is not gl:
            self._context, self._ready = gl, {}
        found = self._ready.get(id(text))
        if found is None:
            found = self._ready[id(text)] = Ready(gl, text, self.inputs)
        return found

    def all(self, gl: Context, *texts: ArrayText) -> list[Ready]:
        return [self.ready(gl, text) for text in texts]
