"""The programs that browsers are given, run by the desktop's driver, which takes GLSL ES, too.

targets.register("browser", Target("es_target:BrowserDevice"))
"""

import numpy as np

from pygpu.core.device import Device, Program
from pygpu.core.storage import Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.driver.context import DTYPES
from pygpu.execution.web.programs import passes


class BrowserDevice(Device):
    """One pixel a fragment; what is read is uploaded at each run."""

    name, language = "browser", "GLSL"

    def compile(self, task, shape=None):
        return BrowserProgram(task)


class BrowserProgram(Program):
    def __init__(self, task):
        self.task, self.parts = task, passes(task)
        self.source = "\n".join(program.text for program, _ in self.parts)

    def run(self, inputs, uniforms, shape, out):
        results = [None] * len(self.task.outputs)
        with opengl.context() as gl:
            for text, indices in self.parts:
                for index, made in zip(
                    indices, self.draw(gl, text, indices, inputs, uniforms, shape), strict=True
                ):
                    results[index] = Storage.of(made)
        for array, result in zip(out or (), results, strict=False):
            if array is not None:
                array[...] = result.host()
        return results

    def draw(self, gl, text, indices, inputs, uniforms, shape):
        """The results of one pass."""
        read = [(index, name) for index, name in enumerate(text.images) if name is not None]
        held = gl.program(text.text, vertices=text.vertices)
        textures = []
        for unit, (index, name) in enumerate(read):
            texels = inputs[index].host()
            texture = gl.texture(texels.shape[1], texels.shape[0], texels.shape[2], texels.dtype)
            texture.glo.write(np.ascontiguousarray(texels), alignment=1)
            texture.glo.use(unit)
            textures.append(texture)
            if name in held.glo:
                held.glo[name].value = unit
        formats = [self.task.outputs[index] for index in indices]
        height, width = shape
        drawn = [gl.texture(width, height, padded(f), f.dtype) for f in formats]
        framebuffer = gl.framebuffer(drawn)
        framebuffer.use()
        Bindings(gl, held, text, len(read)).bind(uniforms)
        held.vertices.render(4, 3)
        return [self.result(gl, t, f, shape) for t, f in zip(drawn, formats, strict=True)]

    def result(self, gl, texture, format, shape):
        texels = np.empty((*shape, padded(format)), format.dtype)
        gl.read(gl.framebuffer([texture]), 0, DTYPES[format.dtype], texels)
        return np.ascontiguousarray(texels[..., : format.channels])


def padded(format):
    """Three channels are drawn as four."""
    return 4 if format.channels == 3 else format.channels
