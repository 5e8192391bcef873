"""Buffers of the contenders in GLSL: of their own, never PyGPU's pooled ones.

NVIDIA's driver moves a buffer that is read by the host to the host's memory and may leave it there,
where programs are 20 to 40 times slower; so none that is timed has been read.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pygpu.devices.opengl import context as opengl

_MADE: Final[list[Any]] = []


def empty(nbytes: int) -> Any:
    with opengl.context() as gl:
        _MADE.append(gl.new_buffer(nbytes))
        return _MADE[-1]


def uploaded(image: Any) -> Any:
    buffer = empty(image.nbytes)
    with opengl.context():
        buffer.write(np.ascontiguousarray(image).reshape(-1).view(np.uint8))
    return buffer


def read(buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of a buffer's bytes, by way of another buffer."""
    array = np.empty(shape, dtype)
    with opengl.context() as gl:
        gl.gl.memory_barrier()
        between = gl.gl.buffer(reserve=array.nbytes)
        gl.gl.copy_buffer(between, buffer, array.nbytes)
        between.read_into(array.reshape(-1).view(np.uint8))
        between.release()
    return array


def clear() -> None:
    """Free all: no job is run any more."""
    with opengl.context():
        while _MADE:
            _MADE.pop().release()
