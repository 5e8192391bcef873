"""A buffer in the host's memory that stays mapped, through which small ones are downloaded.

A copy by the driver takes its own way through the device, some 40 us on an H200. A program that
writes the same words into memory of the host takes as long as any small program, and the host waits
for a fence alone.

    mapped = Mapped.open(gl, platform.load, copy)  # None where there is no such way
    mapped.download(buffer.glo, texels)            # at most `mapped.size` bytes, all of its writes
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.devices.opengl.driver.held import Program

SIZE: Final = 1 << 18  # bytes: beyond them the driver's own copies are as fast
THREADS: Final = 64
WORD: Final = 4
COPY: Final = f"""#version 430 core
layout(local_size_x = {THREADS}) in;
layout(std430, binding = 0) readonly buffer from_block {{ uint from[]; }};
layout(std430, binding = 1) writeonly buffer to_block {{ uint to[]; }};
uniform int count;
void main() {{
    int i = int(gl_GlobalInvocationID.x);
    if (i < count)
        to[i] = from[i];
}}
"""
_BUFFER: Final = 0x90D2  # GL_SHADER_STORAGE_BUFFER
_READ: Final = 0x0001 | 0x0040 | 0x0080  # GL_MAP_READ_BIT, _PERSISTENT_BIT, _COHERENT_BIT
_HOST: Final = 0x0200  # GL_CLIENT_STORAGE_BIT
_COMPLETE: Final = 0x9117  # GL_SYNC_GPU_COMMANDS_COMPLETE
_FLUSH: Final = 1  # GL_SYNC_FLUSH_COMMANDS_BIT
_EXPIRED: Final = 0x911B  # GL_TIMEOUT_EXPIRED
_DONE: Final = (0x911A, 0x911C)  # GL_ALREADY_SIGNALED, GL_CONDITION_SATISFIED
_LOOKS: Final = 200  # at a fence, some 100 us, before the host sleeps: it wakes late
_PATIENCE: Final = 1_000_000_000  # nanoseconds of a wait, after which it is begun again

_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "glGenBuffers": (None, ctypes.c_int, ctypes.c_void_p),
    "glDeleteBuffers": (None, ctypes.c_int, ctypes.c_void_p),
    "glBindBuffer": (None, ctypes.c_uint, ctypes.c_uint),
    "glBufferStorage": (
        None, ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint,
    ),
    "glMapBufferRange": (
        ctypes.c_void_p, ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_uint,
    ),
    "glFenceSync": (ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint),
    "glClientWaitSync": (ctypes.c_uint, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64),
    "glDeleteSync": (None, ctypes.c_void_p),
}  # fmt: skip


class Mapped:
    """See the module's head. Only to be used inside the door."""

    size: Final = SIZE

    def __init__(self, gl: Any, functions: Mapping[str, Callable[..., Any]], copy: Program) -> None:
        self._gl, self._call, self._copy = gl, functions, copy
        name = ctypes.c_uint()
        functions["glGenBuffers"](1, ctypes.byref(name))
        functions["glBindBuffer"](_BUFFER, name.value)
        functions["glBufferStorage"](_BUFFER, SIZE, None, _READ | _HOST)
        self._address = functions["glMapBufferRange"](_BUFFER, 0, SIZE, _READ)
        functions["glBindBuffer"](_BUFFER, 0)
        self._name, self._buffer = name, gl.external_buffer(name.value, SIZE)
        self._count = copy.glo["count"]

    @classmethod
    def open(
        cls, gl: Any, load: Callable[[str], int], copy: Callable[[], Program]
    ) -> Mapped | None:
        """None where the driver has no buffers that stay mapped. `copy` makes a program of COPY."""
        if gl.version_code < 440:
            return None
        functions = {}
        for name, (result, *arguments) in _FUNCTIONS.items():
            address = load(name)
            if not address:
                return None
            functions[name] = ctypes.CFUNCTYPE(result, *arguments)(address)
        found = cls(gl, functions, copy())
        if found._address and gl.error == "GL_NO_ERROR":
            return found
        found.release()
        return None

    def takes(self, buffer: Any, nbytes: int) -> bool:
        """Whether so many bytes of a buffer go this way."""
        return 0 < nbytes <= SIZE and -(-nbytes // WORD) * WORD <= buffer.size

    def download(self, buffer: Any, into: NDArray[np.uint8]) -> None:
        """The first bytes of a buffer, as they are after all programs that were sent."""
        words = -(-len(into) // WORD)
        buffer.bind_to_storage_buffer(0)
        self._buffer.bind_to_storage_buffer(1)
        self._count.value = words
        self._copy.glo.run(-(-words // THREADS), 1, 1)
        self._gl.memory_barrier()
        self._wait()
        ctypes.memmove(into.ctypes.data, self._address, len(into))

    def _wait(self) -> None:
        """Until the device has done all that was sent, by the slower way where the fence fails."""
        wait, looks = self._call["glClientWaitSync"], 0
        fence = self._call["glFenceSync"](_COMPLETE, 0)
        while (state := wait(fence, _FLUSH, 0 if looks < _LOOKS else _PATIENCE)) == _EXPIRED:
            looks += 1
        if state not in _DONE:
            self._gl.finish()
        self._call["glDeleteSync"](fence)

    def release(self) -> None:
        self._buffer.release()
        self._call["glDeleteBuffers"](1, ctypes.byref(self._name))  # which ends the mapping
