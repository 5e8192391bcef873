"""The programs that browsers are given, run by the desktop's driver, which takes GLSL ES, too.

targets.register("browser", Target("es_target:BrowserDevice"))
"""

from pygpu.core.device import Device
from pygpu.devices.opengl.fragment import COPY, Pass, read_texture
from pygpu.devices.opengl.passes import Passes
from pygpu.execution.web.programs import passes


class BrowserDevice(Device):
    """Draws as the fragment target does."""

    name, language = "browser", "GLSL"

    def compile(self, task, shape=None):
        parts = passes(task)
        source = "\n".join(text.text for part in parts for text in part.texts)
        return Passes(source, COPY, lambda gl: [Pass(gl, part) for part in parts], read_texture)
