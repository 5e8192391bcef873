"""Texels of storages in storage buffers, laid out as codegen/glsl/buffers.py says: up and down.

buffer = upload(gl, storage)           # kept with the storage, under COPY
read_buffer(gl, buffer, format, array)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.buffers import row_bytes
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import context as opengl

COPY: Final = "opengl buffer"  # the name of a storage's copy


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
    gl.write(buffer, texels)
    storage.copies[COPY] = buffer
    return buffer


def read_buffer(
    gl: opengl.Context, buffer: opengl.Buffer, format: Format, array: NDArray[Any]
) -> None:
    """The texels of a buffer into an array (H, W, C), C-contiguous."""
    texels = _bytes(array)
    row = row_bytes(format, array.shape[1])
    if row == texels.shape[1]:
        gl.download(buffer, texels)
    else:
        padded = np.empty((len(texels), row), np.uint8)
        gl.download(buffer, padded)
        texels[:] = padded[:, : texels.shape[1]]
    gl.check()


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array (H, W, C), row by row."""
    return array.reshape(len(array), -1).view(np.uint8)


__all__ = ["COPY", "read_buffer", "upload"]
