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
from pygpu.devices.opengl.driver.context import DTYPES, Context
from pygpu.devices.opengl.driver.held import BUFFER, TEXTURE, Buffer, Texture
from pygpu.devices.opengl.driver.pages import plain

COPY: Final = BUFFER  # the name of a storage's copy


def upload(gl: Context, storage: Storage) -> Buffer:
    """The buffer that holds a storage's texels: kept with it, made where it is missing."""
    held = storage.copies.get(COPY)
    if held is not None and held.context is gl:
        return held  # type: ignore[no-any-return]
    row = row_bytes(Format(storage.dtype, storage.channels), storage.width)
    texture = storage.copies.get(TEXTURE) if storage.array is None else None
    if texture is not None and texture.context is gl:
        copied = _of_texture(gl, storage, texture, row)
        if copied is not None:
            storage.copies[COPY] = copied
            return copied
    texels = _bytes(storage.host())
    buffer = gl.buffer(storage.height * row)
    if row != texels.shape[1]:
        padded = np.zeros((storage.height, row), np.uint8)
        padded[:, : texels.shape[1]] = texels
        texels = padded
    gl.write(buffer, texels)
    storage.copies[COPY] = buffer
    return buffer


def _of_texture(gl: Context, storage: Storage, texture: Texture, row: int) -> Buffer | None:
    """A buffer of what a texture holds, without a way through the host. None where rows of the two
    have other lengths: texels of one channel are four pixels, and rows of bytes are filled up."""
    per_texel = 4 if storage.channels == 1 else 1
    pixels = storage.width * storage.channels * storage.dtype.itemsize
    if row != pixels or storage.width % per_texel:
        return None
    buffer = gl.buffer(storage.height * row)
    gl.order.before(written=[buffer.glo])
    gl.framebuffer([texture]).read_into(
        plain(buffer.glo),
        components=max(storage.channels, per_texel),
        alignment=1,
        dtype=DTYPES[storage.dtype],
    )
    return buffer


def read_buffer(gl: Context, buffer: Buffer, format: Format, array: NDArray[Any]) -> None:
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
