"""Storage buffers in large pages, by way of CUDA's driver.

NVIDIA's driver lays plain buffers of OpenGL in small pages. Programs that walk through more than
some 512 MiB of them wait for addresses to be translated and move half of what the memory can
(benchmarks/NOTES.md has the figures). Memory that CUDA's driver allocates lies in pages of 2 MiB,
and OpenGL takes it by GL_EXT_memory_object_fd. No context of CUDA's is made.

    pages = LargePages.open(gl, platform.load)     # None where there is no such way
    buffer = pages.buffer(1 << 28)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref
from typing import Any, Final

from pygpu.core.host import log, settings

_UUID_BYTES: Final = 16
_DEVICE_UUID: Final = 0x9597  # GL_DEVICE_UUID_EXT
_OPAQUE_FD: Final = 0x9586  # GL_HANDLE_TYPE_OPAQUE_FD_EXT
_PINNED: Final = 1  # CU_MEM_ALLOCATION_TYPE_PINNED: on the device, where it stays
_FILE: Final = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_DEVICE: Final = 1  # CU_MEM_LOCATION_TYPE_DEVICE
_RECOMMENDED: Final = 1  # CU_MEM_ALLOC_GRANULARITY_RECOMMENDED

_WORD: Final = b"\x5a\xa5\x3c\xc3"  # written and read back: what is no driver's first content

_REACH: Final = 1 << 31  # bytes: moderngl writes into no larger buffers

_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "glGetUnsignedBytei_vEXT": (ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p),
    "glCreateMemoryObjectsEXT": (ctypes.c_int, ctypes.c_void_p),
    "glDeleteMemoryObjectsEXT": (ctypes.c_int, ctypes.c_void_p),
    "glImportMemoryFdEXT": (ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint, ctypes.c_int),
    "glCreateBuffers": (ctypes.c_int, ctypes.c_void_p),
    "glDeleteBuffers": (ctypes.c_int, ctypes.c_void_p),
    "glNamedBufferStorageMemEXT": (
        ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_uint64,
    ),
}  # fmt: skip


class PagesError(Exception):
    """What a driver answered."""


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32_handle", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class LargePages:
    """See the module's head. Only to be used inside the door."""

    def __init__(self, gl: Any, load: Callable[[str], int]) -> None:
        self.gl = gl
        if "GL_EXT_memory_object_fd" not in gl.extensions:
            raise PagesError("the driver has no GL_EXT_memory_object_fd")
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise PagesError(str(error)) from None
        self.functions = {}
        for name, arguments in _FUNCTIONS.items():
            address = load(name)
            if not address:
                raise PagesError(f"the driver has no {name}")
            self.functions[name] = ctypes.CFUNCTYPE(None, *arguments)(address)
        self._cuda("cuInit", 0)
        self.properties = _Properties(_PINNED, _FILE, _Location(_DEVICE, self._device()))
        size = ctypes.c_size_t()
        self._cuda(
            "cuMemGetAllocationGranularity", byref(size), byref(self.properties), _RECOMMENDED
        )
        self.page = size.value

    @classmethod
    def open(cls, gl: Any, load: Callable[[str], int]) -> LargePages | None:
        """None, and a line in the log, where there is no such way, or PYGPU_LARGE_PAGES is 0."""
        if not settings.flag("PYGPU_LARGE_PAGES", default=True):
            return None
        try:
            return cls(gl, load)
        except (PagesError, AttributeError) as error:  # a libcuda that is too old lacks functions
            log.info("large images lie in plain buffers: %s", error)
            return None

    def buffer(self, nbytes: int) -> Any:
        """A buffer as moderngl makes them, its bytes undefined. PagesError where a driver refuses,
        as it does where memory is short.

        Its storage covers whole pages: of one that ended inside a page, one in thirty lost all
        that was written to it (an H200, driver 580; none of 400 that cover theirs). That it keeps
        what is written is looked at all the same."""
        size = -(-nbytes // self.page) * self.page
        memory, name = ctypes.c_uint(), ctypes.c_uint()
        self._gl("glCreateMemoryObjectsEXT", 1, byref(memory))
        try:
            self._gl("glImportMemoryFdEXT", memory.value, size, _OPAQUE_FD, self._exported(size))
            self._gl("glCreateBuffers", 1, byref(name))
            self._gl("glNamedBufferStorageMemEXT", name.value, size, memory.value, 0)
        finally:  # the buffer keeps it
            self._gl("glDeleteMemoryObjectsEXT", 1, byref(memory))
        answer = self.gl.error
        if answer != "GL_NO_ERROR":
            self._delete(name)
            raise PagesError(answer)
        buffer = _Buffer(self.gl.external_buffer(name.value, nbytes), lambda: self._delete(name))
        if nbytes < _REACH and not self._keeps(buffer):
            buffer.release()
            raise PagesError("the driver's memory object loses what is written to it")
        return buffer

    def _keeps(self, buffer: Any) -> bool:
        """Whether words at both ends are read as they were written. They cannot be mapped."""
        ends = 0, buffer.size - len(_WORD)
        for place in ends:
            buffer.write(_WORD, offset=place)
        word = self.gl.buffer(reserve=len(_WORD))
        found = []
        for place in ends:
            self.gl.copy_buffer(word, buffer, len(_WORD), read_offset=place)
            found.append(word.read())
        word.release()
        return found == [_WORD, _WORD]

    def _exported(self, size: int) -> int:
        """A file that stands for so many new bytes; OpenGL closes it."""
        handle, file = ctypes.c_uint64(), ctypes.c_int()
        none = ctypes.c_uint64(0)
        self._cuda(
            "cuMemCreate", byref(handle), ctypes.c_size_t(size), byref(self.properties), none
        )
        try:
            self._cuda("cuMemExportToShareableHandle", byref(file), handle, _FILE, none)
        finally:
            self._cuda("cuMemRelease", handle)
        return file.value

    def _device(self) -> int:
        """CUDA's number of the device that OpenGL has."""
        wanted, found = (ctypes.c_ubyte * _UUID_BYTES)(), (ctypes.c_ubyte * _UUID_BYTES)()
        self._gl("glGetUnsignedBytei_vEXT", _DEVICE_UUID, 0, wanted)
        count, device = ctypes.c_int(), ctypes.c_int()
        self._cuda("cuDeviceGetCount", byref(count))
        for number in range(count.value):
            self._cuda("cuDeviceGet", byref(device), number)
            self._cuda("cuDeviceGetUuid", found, device)
            if bytes(found) == bytes(wanted):
                return device.value
        raise PagesError(f"OpenGL's device is none of the {count.value} that CUDA sees")

    def _delete(self, name: ctypes.c_uint) -> None:
        self._gl("glDeleteBuffers", 1, byref(name))

    def _gl(self, name: str, *arguments: Any) -> None:
        self.functions[name](*arguments)

    def _cuda(self, name: str, *arguments: Any) -> None:
        answer = getattr(self.cuda, name)(*arguments)
        if answer:
            raise PagesError(f"{name} answered {answer}")


class _Buffer:
    """A buffer of moderngl's, which does not delete what others made."""

    def __init__(self, buffer: Any, delete: Callable[[], None]) -> None:
        self._buffer, self._delete = buffer, delete

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)

    def release(self) -> None:
        self._buffer.release()
        self._delete()


def plain(buffer: Any) -> Any:
    """moderngl's own buffer, which is what textures and framebuffers are copied from and to."""
    return buffer._buffer if isinstance(buffer, _Buffer) else buffer
