"""The private OpenGL context: its programs, textures and buffers, and what is done in trouble.

What is freed goes into pools, from which the next of its kind comes. Only to be used behind the
door of pygpu/devices/opengl/context.py.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import moderngl
import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.lines import TRIANGLE
from pygpu.core.errors import DeviceError, OutOfMemory
from pygpu.core.host.undisturbed import is_disturbed, undisturbed
from pygpu.devices.opengl.driver.held import Buffer, Program, Texture
from pygpu.devices.opengl.driver.limits import dialect_of, is_software, read_limits
from pygpu.devices.opengl.driver.mapped import COPY, Mapped
from pygpu.devices.opengl.driver.notes import TOGETHER, Notes
from pygpu.devices.opengl.driver.order import Order
from pygpu.devices.opengl.driver.pages import LargePages, PagesError
from pygpu.devices.opengl.driver.platform import (
    PlatformContext,
    PlatformError,
    attached,
    integer,
)
from pygpu.devices.opengl.driver.pool import Pool

T = TypeVar("T")

STAGED: Final = 64 << 20  # bytes that are downloaded at once
LARGE: Final = 16 << 20  # bytes of a buffer from which on it lies in large pages
SPARE: Final = 64  # buffers of a size that results take turns in, so that few programs wait
FEW: Final = 4  # the same of those of HUGE bytes, whose programs take longer than to wait
HUGE: Final = 64 << 20
FRAMEBUFFERS: Final = 256  # kept: sets of textures that are drawn into together
POOLED: Final = 768 << 20  # bytes of textures kept at least for the next that fits
LOGIC_OP: Final = 0x0BF2  # GL_COLOR_LOGIC_OP, whose operation is to copy

# The one spelling of each stored dtype in moderngl.
DTYPES: Final = {
    np.dtype(name): spelled
    for name, spelled in {
        "uint8": "u1", "uint16": "u2", "float16": "f2", "float32": "f4",
        "int8": "i1", "int16": "i2", "int32": "i4", "uint32": "u4",
        "bool": "u1",
    }.items()
}  # fmt: skip


class Context:
    """The context, its programs, and its pools. Only to be used inside the door."""

    def __init__(self, platform: PlatformContext) -> None:
        self.platform = platform
        self.gl = attached(platform)
        self.garbage: deque[tuple[Any, Any, int]] = deque()
        self.programs: WeakValueDictionary[str, Program] = WeakValueDictionary()
        self.lasting: dict[str, Program] = {}  # programs of ours, kept as long as the context
        self.framebuffers: dict[tuple[int, ...], Any] = {}
        self.idle = self.gl.simple_framebuffer((1, 1))
        self.staging: Any = None  # the buffer through which others are downloaded
        self.is_lost = False
        info = self.gl.info
        self.renderer: str = info["GL_RENDERER"]
        self.is_software = is_software(self.renderer)  # whether the processor does the work
        self.enable_only(0)
        self.version: str = info["GL_VERSION"]
        self.limits = read_limits(self.gl, partial(integer, platform), self.is_software)
        self.dialect = dialect_of(info, self.gl.extensions, self.limits)
        self.pool = Pool(max(POOLED, self.limits.memory // 8), self._free)
        has_barriers = self.gl.version_code >= 420  # programs that write buffers are of 4.3
        self._barrier: Callable[[], object] = self.gl.memory_barrier if has_barriers else int
        self.order = Order(self._settle)
        # A processor that works for itself has nothing else to do while commands wait.
        self.notes = Notes(0 if self.is_software else TOGETHER)
        load = platform.load
        status = load("glGetGraphicsResetStatus") or load("glGetGraphicsResetStatusARB")
        flush = 0 if platform.flushes else load("glFlush")
        self._flush = ctypes.CFUNCTYPE(None)(flush) if flush else None
        self._thread: object = None  # the thread whose section was the last
        self._status = ctypes.CFUNCTYPE(ctypes.c_uint)(status) if status else None

    @property
    def description(self) -> str:
        return f"{self.renderer}, OpenGL {self.version}"

    # ------------------------------------------------ programs

    def program(self, text: str, is_compute: bool = False, vertices: str = TRIANGLE) -> Program:
        """The program with this fragment (or compute) shader, one for all who hold it. `vertices`
        are those of a triangle over everything, or what hands the fragments what they take."""
        name = text if vertices is TRIANGLE else vertices + text
        found = self.programs.get(name)
        if found is None:
            try:
                found = self._undisturbed(self._compile, text, is_compute, vertices)
            except moderngl.Error as error:
                raise DeviceError(f"the driver refused a program: {error}\n{text}") from None
            self.programs[name] = found
        return found

    def lasting_program(self, text: str) -> Program:
        """A fragment program of ours, which is not compiled again where nobody holds it."""
        found = self.lasting.get(text)
        if found is None:
            found = self.lasting[text] = self.program(text)
        return found

    def _compile(self, text: str, is_compute: bool, vertices: str) -> Program:
        if is_compute:
            return Program(self, self.gl.compute_shader(text), None)
        glo = self.gl.program(vertex_shader=vertices, fragment_shader=text)
        return Program(self, glo, self.gl.vertex_array(glo, []))

    def _undisturbed(self, make: Callable[..., Program], *arguments: Any) -> Program:
        """A call where no handler of a signal runs, with the context current there."""
        if not is_disturbed():
            return make(*arguments)

        def elsewhere() -> Program:
            saved = self.platform.enter()
            try:
                return make(*arguments)
            finally:
                self.platform.leave(saved)

        self.platform.let_go()
        try:
            return undisturbed(elsewhere)
        finally:
            try:
                self.platform.enter()
            except PlatformError as error:
                self.is_lost = True
                raise DeviceError(f"the OpenGL context is gone: {error}") from None

    # ------------------------------------------------ textures

    def texture(
        self, width: int, height: int, channels: int, dtype: np.dtype[Any], pixels: int = 1
    ) -> Texture:
        """A texture of texels of so many pixels, undefined. DeviceError where it does not fit."""
        self.check_size(width, height, pixels)
        key = (width, height, channels, DTYPES[dtype])
        make = partial(self._new_texture, *key)
        return self.pooled(key, make, width * height * channels * dtype.itemsize)

    def check_size(self, width: int, height: int, pixels: int = 1) -> None:
        """DeviceError where a texture of this size does not fit."""
        limit = self.limits.texture_size
        if max(width, height) > limit:
            raise DeviceError(
                f"an image of {width * pixels} x {height} pixels is larger than the textures of "
                f"this driver, which go to {limit * pixels} x {limit} ({self.renderer}); "
                "target='cpu' takes it"
            )

    def pooled(self, key: tuple[Any, ...], make: Callable[[], Any], nbytes: int) -> Texture:
        """A texture of the pool that has this key, or a new one."""
        glo = self.pool.take(key)
        if glo is None:
            glo = self._allocate(make, "a texture", nbytes)
        return Texture(self, glo, key, nbytes)

    def _new_texture(self, width: int, height: int, channels: int, dtype: str) -> Any:
        texture = self.gl.texture((width, height), channels, dtype=dtype, alignment=1)
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        return texture

    def _allocate(self, make: Callable[[], Any], what: str, nbytes: int) -> Any:
        """A new object. Where memory is short, what is pooled is given up for it."""
        self.check()
        for _ in range(2):
            try:
                glo = make()
            except moderngl.Error as error:
                answer = str(error)
            else:
                answer = self.gl.error
                if answer == "GL_NO_ERROR":
                    return glo
                glo.release()
            self.give_up()
        self.check()
        raise OutOfMemory(f"no memory for {what} ({nbytes >> 20} MiB): {answer} ({self.renderer})")

    def framebuffer(self, textures: Sequence[Texture], depths: Texture | None = None) -> Any:
        """What draws into these textures, made once for them; the least recently used are freed."""
        attached = [texture.glo for texture in textures]
        depth = depths and depths.glo
        key = tuple([each.glo for each in (*attached, *([depth] if depth else []))])
        found = self.framebuffers.pop(key, None)
        if found is None:
            found = self.gl.framebuffer(attached, depth)
        self.framebuffers[key] = found
        if len(self.framebuffers) > FRAMEBUFFERS:
            self.idle.use()  # moderngl goes back to the bound one, which must still be there
            for old in list(self.framebuffers)[: FRAMEBUFFERS // 2]:
                self.framebuffers.pop(old).release()
        return found

    def enable_only(self, flags: int) -> None:
        """Of the tests of depths and sides and of blending, these alone. llvmpipe compiles opaque
        programs twice, for tiles that triangles cover and others: a logical operation has it do so
        once. Nothing blends under one, and softpipe draws no ints."""
        self.gl.enable_only(flags)
        if "llvmpipe" in self.renderer:
            blends = flags & self.gl.BLEND
            (self.gl.disable_direct if blends else self.gl.enable_direct)(LOGIC_OP)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Draws while inputs are made ready: what was to be drawn into is so again afterwards."""
        before = self.gl.fbo
        try:
            yield
        finally:
            is_gone = isinstance(before.mglo, moderngl.InvalidObject)
            (self.idle if is_gone else before).use()

    def read(self, framebuffer: Any, attachment: int, dtype: str, into: NDArray[Any]) -> None:
        """Texels of a framebuffer into an array (H, W, C), C-contiguous."""
        framebuffer.read_into(
            into, components=into.shape[2], attachment=attachment, alignment=1, dtype=dtype
        )
        self.check()

    # ------------------------------------------------ buffers

    def constants(self, data: NDArray[Any]) -> Buffer:
        """A buffer for a uniform block."""
        buffer = self.memory(data.nbytes)
        self.write(buffer, np.ascontiguousarray(data))
        return buffer

    def buffer(self, nbytes: int) -> Buffer:
        """A storage buffer, its bytes undefined. DeviceError where it does not fit."""
        if nbytes > self.limits.storage_size:
            raise DeviceError(
                f"an image of {nbytes >> 20} MiB is larger than the storage buffers of this "
                f"driver, which go to {self.limits.storage_size >> 20} MiB ({self.renderer}); "
                "target='cpu' takes it"
            )
        return self.memory(nbytes)

    def results(self, read: Sequence[Any], sizes: Sequence[int]) -> list[Buffer]:
        """Storage buffers of so many bytes for what a program makes of those it reads. It is to be
        run next. They are chosen after the barrier that it may take, which frees some."""
        self.order.await_writes(read)
        made = [self.buffer(nbytes) for nbytes in sizes]
        self.order.ran(read, [buffer.glo for buffer in made])
        return made

    def kept_results(self, read: Sequence[Any], sizes: Sequence[int]) -> list[Buffer] | None:
        """Buffers as `results` gives them, from the pool. None where one would have to be made."""
        self.order.await_writes(read)
        made, written = [], []
        for nbytes in sizes:
            buffer = self._kept(nbytes)
            if buffer is None:
                return None
            made.append(buffer)
            written.append(buffer.glo)
        self.order.ran(read, written)
        return made

    def memory(self, nbytes: int) -> Buffer:
        """A buffer for any use, its bytes undefined. On hardware, one that programs are at work
        with is taken only where there are others enough, or no room for them."""
        kept = self._kept(nbytes)
        if kept is not None:
            return kept
        glo = self._allocate(partial(self.new_buffer, nbytes), "a storage buffer", nbytes)
        return Buffer(self, glo, ("buffer", nbytes), nbytes)

    def _kept(self, nbytes: int) -> Buffer | None:
        """One of the pool's."""
        key = ("buffer", nbytes)
        spare = 0 if self.is_software else SPARE if nbytes < HUGE else FEW
        glo = self.pool.take(key, self.order.busy, spare)
        return None if glo is None else Buffer(self, glo, key, nbytes)

    @cached_property
    def mapped(self) -> Mapped | None:
        """What downloads small buffers; None where the driver cannot keep a buffer mapped."""
        return Mapped.open(self.gl, self.platform.load, partial(self.program, COPY, True))

    @cached_property
    def pages(self) -> LargePages | None:
        """What makes buffers in large pages; None where OpenGL cannot have memory of CUDA's."""
        return LargePages.open(self.gl, self.platform.load)

    def new_buffer(self, nbytes: int) -> Any:
        """A buffer of no pool. A large one lies in large pages, for which what is pooled is given
        up, while there is memory for them."""
        if nbytes >= LARGE and self.pages is not None:
            for _ in range(2):
                try:
                    return self.pages.buffer(nbytes)
                except PagesError:
                    self.give_up()
        return self.gl.buffer(reserve=nbytes)

    def write(self, buffer: Buffer, data: NDArray[Any], offset: int = 0) -> None:
        """Bytes into a buffer."""
        self.order.before(written=[buffer.glo])
        buffer.glo.write(data, offset=offset)

    def copy(self, buffer: Buffer, source: Buffer, nbytes: int, start: int = 0) -> None:
        """Bytes of a buffer, from `start` on, to where another one begins."""
        self.order.before([source.glo], [buffer.glo])
        self.gl.copy_buffer(buffer.glo, source.glo, nbytes, read_offset=start)

    def download(self, buffer: Buffer, into: NDArray[Any]) -> None:
        """The first bytes of a buffer into a C-contiguous array. What the host maps, NVIDIA's
        driver moves to the host's memory, where programs reach it 40 times slower: on hardware
        no buffer is mapped but the one of `mapped`, which lies there from the start."""
        texels = into.reshape(-1).view(np.uint8)
        self.order.before(read=[buffer.glo])
        if self.is_software:
            buffer.glo.read_into(texels, len(texels))
            return
        if self.mapped is not None and self.mapped.takes(buffer.glo, len(texels)):
            self.mapped.download(buffer.glo, texels)
            return
        size = min(STAGED, max(4096, 1 << (len(texels) - 1).bit_length()))
        if self.staging is None or self.staging.size < size:
            make = partial(self.gl.buffer, reserve=size)
            self.staging = self._allocate(make, "what is downloaded", size)
        for start in range(0, len(texels), size):
            part = texels[start : start + size]
            self.gl.copy_buffer(self.staging, buffer.glo, len(part), read_offset=start)
            self.staging.read_into(part, len(part))

    def send(self) -> None:
        """At the end of a section, have the device begin. The next one may be another thread's,
        and NVIDIA's driver keeps what is not sent with the thread: it came too late."""
        if self._flush is not None:
            self._flush()
        self.notes.acted()

    def wait_for_others(self, thread: object) -> None:
        """At a section's begin, have the device finish what another thread sent. Where letting the
        context go does not flush it, NVIDIA's driver runs the threads' commands in no order: of
        Dask's chunks, computed by 16 threads, nearly every image had one with old texels."""
        if thread is not self._thread:
            if self._flush is not None and self._thread is not None:
                self.gl.finish()
            self._thread = thread

    # ------------------------------------------------ commands noted for later

    def takes_notes(self, thread: object) -> bool:
        """Whether a command of this thread's may wait for the next section."""
        return thread is self._thread and self.notes.are_taken() and not self.is_lost

    def noting(self, put: Callable[..., T], *given: Any) -> T:
        """What `put(self, *given)` gives, whose commands wait for the next section."""
        self.notes.is_open = True
        try:
            return put(self, *given)
        finally:
            self.notes.is_open = False

    def give_notes(self) -> None:
        """Give what was noted to the driver, as the first commands of a section."""
        was_doubted = self.notes.is_doubted
        if was_doubted:
            self.distrust()
        try:
            self.notes.give()
        except DeviceError:
            self.is_lost = True
            raise
        if was_doubted:
            self.order.settle()  # for `distrust` forgets what these commands write

    def _settle(self) -> None:
        if self.notes.is_open:
            self.notes.put(self._barrier)
        else:
            self._barrier()

    # ------------------------------------------------ trouble

    def check(self) -> None:
        """DeviceError where the driver has reset, or has run out of memory."""
        if self._status is not None and self._status():
            self.is_lost = True
            raise DeviceError(
                f"the driver reset the device ({self.renderer}): a program ran too long or failed; "
                "the next call gets a new context"
            )
        error = self.gl.error
        if error != "GL_NO_ERROR":
            self.give_up()
            kind = OutOfMemory if error == "GL_OUT_OF_MEMORY" else DeviceError
            raise kind(f"OpenGL answered {error} ({self.renderer})")

    def distrust(self) -> None:
        """Forget what is remembered of the driver's state, and count the pool: something was
        interrupted. An object that was on its way just then stays as long as the context."""
        for program in list(self.programs.values()):
            program.sizes = program.uniforms = None
        self.enable_only(0)
        self.idle.use()
        for framebuffer in self.framebuffers.values():
            framebuffer.release()
        self.framebuffers = {}
        self.order.settle()
        self.pool.count()

    def drain(self) -> None:
        """Take back what finalisers have let go."""
        while self.garbage:
            key, glo, nbytes = self.garbage.popleft()
            if key is None:
                glo.release()
            else:
                self.pool.give(key, glo, nbytes)

    def give_up(self) -> None:
        """Free what is pooled."""
        self.drain()
        self.pool.clear()

    def clear(self) -> None:
        """Give back the memory of what nobody uses."""
        if self.staging is not None:
            self.staging.release()
            self.staging = None
        self.give_up()

    def _free(self, glo: Any) -> None:
        name = glo.glo
        for key in [key for key in self.framebuffers if name in key]:
            self.idle.use()  # moderngl goes back to the bound one, which must still be there
            self.framebuffers.pop(key).release()
        glo.release()
