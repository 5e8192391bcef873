"""The fragment target: a function as an OpenGL fragment program, drawn over textures.

A storage's texture has the stored dtype itself (bytes stay bytes), so that nothing is converted on
the way up or down; programs convert texels as they read and write them. Textures of one channel
are packed: a texel is four pixels of a row, so that a fragment makes four. Results stay textures
until somebody asks for their texels.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.buffers import row_bytes
from pygpu.codegen_glsl import FragmentProgram
from pygpu.core.programs import Planes, Shape, Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import buffers
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.device import OpenGLDevice
from pygpu.devices.opengl.drawn import Drawn, drawn
from pygpu.devices.opengl.driver.context import DTYPES, Context
from pygpu.devices.opengl.driver.held import BUFFER, TEXTURE, Buffer, Texture
from pygpu.devices.opengl.driver.pages import plain
from pygpu.devices.opengl.passes import Passes
from pygpu.passes.blocks.block_views import COLUMNS

COPY: Final = TEXTURE  # the name of a storage's copy here
TRIANGLES: Final = 4


class FragmentDevice(OpenGLDevice):
    """OpenGL 3.3 and up."""

    name, copy = "fragment", COPY

    def __init__(self) -> None:
        super().__init__()
        self.outputs = self.granted.outputs
        self.uniforms = self.granted.uniform_components
        self.images = self.granted.images

    def images_at_once(self, results: int) -> int:
        return self.granted.textures

    def made(self, task: Task, shape: Shape | None = None) -> Passes:
        """See drawn.py."""
        Bindings.check(task.function, self.uniforms)
        parts = drawn(task, self.dialect, self.outputs, self.images)
        texts = [text for each in parts for text in (each.inner, each.edges) if text]
        source = "\n".join(text.text for text in texts)
        return Passes(source, COPY, lambda gl: [Pass(gl, part) for part in parts], read_texture)


class Pass:
    """The programs of a pass, ready to draw."""

    def __init__(self, gl: Context, drawn: Drawn) -> None:
        self.drawn = drawn
        self.indices, self.outputs = drawn.indices, drawn.outputs
        self.inner = _Program(gl, drawn.inner)
        self.edges: _Program | None = None  # made when it is first needed

    def noted(self, gl: Context, work: Work, size: tuple[int, int]) -> None:
        """See Pass."""

    def compute(self, gl: Context, work: Work, planes: Planes | None) -> list[Texture]:
        """See Pass."""
        assert planes is None, "programs of one plane"
        inputs, (height, width) = work.inputs, work.size
        if self.drawn.is_packed:
            across = -(-width // COLUMNS)
            targets = [gl.texture(across, height, 4, f.dtype, COLUMNS) for f in self.outputs]
        else:
            across = width
            targets = [
                gl.texture(width, height, 4 if f.channels == 3 else f.channels, f.dtype)
                for f in self.outputs
            ]
        framebuffer = gl.framebuffer(targets)
        framebuffer.use()
        halves = self.drawn.halves
        first, end = 0, across
        if halves is not None:
            sizes = [(image.width, image.height) for image in inputs]
            first, end = halves.whole(sizes, across, height)
        if (first, end) == (0, across):
            self.inner.draw(gl, work)
            return targets
        if self.edges is None:
            assert self.drawn.edges is not None, "there are edges"
            self.edges = _Program(gl, self.drawn.edges)
        try:
            for program, start, stop in (
                (self.inner, first, end),
                (self.edges, 0, first),
                (self.edges, end, across),
            ):
                if start < stop:
                    framebuffer.scissor = start, 0, stop - start, height
                    program.draw(gl, work)
        finally:
            framebuffer.scissor = None
        return targets


class _Program:
    """One program of the driver's."""

    def __init__(self, gl: Context, text: FragmentProgram) -> None:
        named = [(index, name) for index, name in enumerate(text.images) if name is not None]
        Bindings.check_textures(gl, text, len(named))
        self.held = gl.program(text.text, vertices=text.vertices)
        program, self.vertices = self.held.glo, self.held.vertices
        self.textures: list[tuple[int, int]] = []  # image, unit
        self.images: list[tuple[int, int]] = []
        for unit, (index, name) in enumerate(named):
            if index in text.bound_as_images:
                self.images.append((index, unit))
            elif name in program:
                program[name].value = unit
                self.textures.append((index, unit))
        self.bindings = Bindings(gl, self.held, text, len(named))
        self.widths = [
            (index, name, program[name])
            for index, name in enumerate(text.widths)
            if name is not None and name in program
        ]
        self.last = program.get(text.last, None) if text.last else None

    def draw(self, gl: Context, work: Work) -> None:
        """Draw over the framebuffer in use."""
        inputs, width = work.inputs, work.size[1]
        held = [upload(gl, inputs[index]) for index, _ in (*self.textures, *self.images)]
        for texture, (_, unit) in zip(held, self.textures, strict=False):
            texture.glo.use(unit)
        for texture, (_, unit) in zip(held[len(self.textures) :], self.images, strict=True):
            texture.glo.bind_to_image(unit, read=True, write=False)
        sizes = (width, [(name, inputs[index].width) for index, name, _ in self.widths])
        if sizes != self.held.sizes:  # which other functions with the same text may have set
            self.held.sizes = sizes
            for index, _, uniform in self.widths:
                uniform.value = inputs[index].width
            if self.last is not None:
                self.last.value = width - 1
        ahead = [buffers.upload(gl, each) for each in self.bindings.ahead(work)]
        if read := [*self.bindings.buffers, *[held.glo for held in ahead]]:
            gl.order.before(read=read)
        self.bindings.bind(work.uniforms, ahead)
        self.vertices.render(TRIANGLES, 3)


# ---------------------------------------------------------------- up and down


def upload(gl: Context, storage: Storage) -> Texture:
    """The texture that holds a storage's texels: kept with it, made where it is missing."""
    held = storage.copies.get(COPY)
    if held is not None and held.context is gl:
        return held  # type: ignore[no-any-return]
    buffer = storage.copies.get(BUFFER) if storage.array is None else None
    if buffer is not None and buffer.context is gl:
        copied = _of_buffer(gl, storage, buffer)
        if copied is not None:
            storage.copies[COPY] = copied
            return copied
    texels, height, width = storage.host(), storage.height, storage.width
    if storage.channels == 1:
        across = -(-width // COLUMNS)
        if width % COLUMNS:
            texels = np.pad(texels, ((0, 0), (0, COLUMNS * across - width), (0, 0)))
        texture = gl.texture(across, height, 4, storage.dtype, COLUMNS)
    else:
        texture = gl.texture(width, height, storage.channels, storage.dtype)
    texture.glo.write(texels, alignment=1)
    storage.copies[COPY] = texture
    return texture


def _of_buffer(gl: Context, storage: Storage, buffer: Buffer) -> Texture | None:
    """A texture of what a compute program has left in a buffer, without a way through the host.
    None where rows of the two have other lengths."""
    format = Format(storage.dtype, storage.channels)
    width, height, channels = storage.width, storage.height, storage.channels
    if row_bytes(format, width) != width * format.nbytes or (channels == 1 and width % COLUMNS):
        return None
    if channels == 1:
        texture = gl.texture(width // COLUMNS, height, 4, storage.dtype, COLUMNS)
    else:
        texture = gl.texture(width, height, channels, storage.dtype)
    gl.order.before(read=[buffer.glo])
    texture.glo.write(plain(buffer.glo), alignment=1)
    return texture


def read_texture(gl: Context, texture: Texture, format: Format, array: NDArray[Any]) -> None:
    """The texels of a texture into an array (H, W, C), C-contiguous."""
    framebuffer = gl.framebuffer([texture])
    height, width, channels = array.shape
    dtype = DTYPES[format.dtype]
    if channels != 1:
        gl.read(framebuffer, 0, dtype, array)
    elif width % COLUMNS == 0:
        gl.read(framebuffer, 0, dtype, array.reshape(height, -1, COLUMNS))
    else:
        padded = np.empty((height, -(-width // COLUMNS), COLUMNS), array.dtype)
        gl.read(framebuffer, 0, dtype, padded)
        array[:] = padded.reshape(height, -1, 1)[:, :width]
