"""The fragment target: a function as an OpenGL fragment program, drawn over textures.

A storage's texture has the stored dtype itself (bytes stay bytes), so that nothing is converted on
the way up or down; programs convert texels as they read and write them. Results stay textures until
somebody asks for their texels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen_glsl import GlslProgram, fragment_program
from pygpu.devices import opengl
from pygpu.devices.opengl_bindings import Bindings
from pygpu.errors import DeviceError
from pygpu.passes import CLEAN, apply
from pygpu.passes.boundary import lower_boundary
from pygpu.ssa import Constant, Function, Region
from pygpu.storage import Format, Storage

TRIANGLES: Final = 4


class FragmentDevice:
    """OpenGL 3.3 and up. Making it makes the context."""

    name = "fragment"

    def __init__(self) -> None:
        with opengl.context() as gl:
            self.dialect = gl.dialect
            self.outputs = gl.limits.outputs
            self.uniforms = gl.limits.uniform_components

    def compile(
        self, function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
    ) -> FragmentProgram:
        """One pass, or several where there are more results than the driver draws at once."""
        Bindings.check(function, self.uniforms)
        lowered = apply(CLEAN, lower_boundary(function))
        passes = []
        for first in range(0, len(outputs), self.outputs):
            part = slice(first, first + self.outputs)
            passes.append(
                fragment_program(_only(lowered, part), inputs, outputs[part], self.dialect)
            )
        return FragmentProgram(passes, list(outputs))


def _only(function: Function, part: slice) -> Function:
    """The function with some of its results."""
    body = function.body
    left = Region(body.params, body.ops, body.results[part])
    return Function(function.name, function.images, function.tables, left)


class FragmentProgram:
    """A function's passes, made ready in the context when they first run."""

    def __init__(self, passes: Sequence[GlslProgram], outputs: list[Format]) -> None:
        self.source = "\n".join(each.text for each in passes)
        self.outputs = outputs
        self._texts = passes
        self._passes: list[Pass] = []
        self._context: opengl.Context | None = None
        with opengl.context() as gl:
            self._make_ready(gl)

    def _make_ready(self, gl: opengl.Context) -> None:
        self._passes = [Pass(gl, text) for text in self._texts]
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
                first = len(results)
                formats = self.outputs[first : first + gl.limits.outputs]
                textures = each.draw(gl, inputs, uniforms, shape, formats)
                for index, (texture, format) in enumerate(zip(textures, formats, strict=True)):
                    array = out[first + index] if out else None
                    if array is not None:
                        framebuffer = gl.framebuffer(textures)
                        gl.read(framebuffer, index, opengl.DTYPES[format.dtype], array)
                        results.append(Storage(*shape, format.channels, format.dtype, array))
                    else:
                        results.append(_result(texture, shape, format))
        return results


def _result(texture: opengl.Texture, shape: tuple[int, int], format: Format) -> Storage:
    """A storage of what was drawn, downloaded when it is asked for."""

    def download() -> NDArray[Any]:
        array = np.empty((*shape, format.channels), format.dtype)
        with opengl.context() as gl:
            if texture.context is not gl:
                raise DeviceError("the image was lost when the driver reset the device")
            gl.read(gl.framebuffer([texture]), 0, opengl.DTYPES[format.dtype], array)
        return array

    storage = Storage(*shape, format.channels, format.dtype, None, download)
    storage.copies["opengl"] = texture
    return storage


class Pass:
    """One program of the driver's, ready to draw."""

    def __init__(self, gl: opengl.Context, text: GlslProgram) -> None:
        Bindings.check_textures(gl, text, sum(name is not None for name in text.images))
        self.program = gl.program(text.text)
        program, self.vertices = self.program.glo, self.program.vertices
        self.images: list[tuple[int, int]] = []  # image, texture unit
        for index, name in enumerate(text.images):
            if name is not None and name in program:
                program[name].value = len(self.images)
                self.images.append((index, len(self.images)))
        self.bindings = Bindings(gl, program, text, len(self.images))

    def draw(
        self,
        gl: opengl.Context,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        formats: Sequence[Format],
    ) -> list[opengl.Texture]:
        """Compute all pixels of some results."""
        held = [gl.upload(inputs[index]) for index, _ in self.images]
        targets = [
            gl.texture(shape[1], shape[0], 4 if f.channels == 3 else f.channels, f.dtype)
            for f in formats
        ]
        gl.framebuffer(targets).use()
        for texture, (_, unit) in zip(held, self.images, strict=True):
            texture.glo.use(unit)
        self.bindings.bind(uniforms)
        self.vertices.render(TRIANGLES, 3)
        return targets
