"""GLSL programs written by hand: what users write, and all that is declared around it.

In a fragment program inputs are samplers, results `out` variables; in a compute program both are
buffers of elements in raster order. A text without a `main` is the
body of one, with `p`, the position, `size`, that of the result, and in compute programs `i`, the
number of the element.

    written = Written("fragment", "r = texelFetch(im, p, 0);", {"im": vec4}, {"r": vec4}, {})
    written.source
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from pygpu.core.host.records import record
from pygpu.types import Type, vector

Kind = Literal["fragment", "compute"]
THREADS: Final = (8, 8)  # of a work group
GIVEN: Final = ("p", "size", "i", "main")  # names that are PyGPU's
_SAMPLERS: Final = {"float": "sampler2D", "int": "isampler2D", "uint": "usampler2D",
                    "bool": "usampler2D"}  # fmt: skip
_OF_COMPUTE: Final = re.compile(
    r"\bgl_(Global|Local|WorkGroup|NumWork)\w*|\bbarrier\s*\(|\bshared\b|\batomic\w+\s*\("
)


def kind_of(text: str, outputs: Mapping[str, Type]) -> Kind:
    """Which kind of program a text is: one that has invocations, shared memory or atomic functions,
    or writes elements of its results, is a compute program."""
    if _OF_COMPUTE.search(text) or any(re.search(rf"\b{name}\s*\[", text) for name in outputs):
        return "compute"
    return "fragment"


def stored_type(type: Type) -> Type:
    """How results and elements of buffers are stored: without bools and threes."""
    declared = declared_type(type)
    return vector(declared.kind, 4) if type.size == 3 else declared


def declared_type(type: Type) -> Type:
    """The type of results and elements as the text has it. Three components take the room of four
    in buffers (std430) and textures."""
    return vector("uint" if type.kind == "bool" else type.kind, type.size)


@record
class Uniform:
    """A uniform: a type of GLSL, and the rows of a matrix, 0 of others."""

    type: Type
    rows: int = 0

    @property
    def name(self) -> str:
        return f"mat{self.rows}" if self.rows else str(self.type)


@record
class Written:
    """A program: its inputs' texels, results and uniforms by name."""

    kind: Kind
    text: str
    inputs: tuple[tuple[str, Type], ...]
    outputs: tuple[tuple[str, Type], ...]
    uniforms: tuple[tuple[str, Uniform], ...]

    @property
    def source(self) -> str:
        """The whole program. The driver counts lines from the first of the user's on."""
        is_compute = self.kind == "compute"
        head = ["#version 430 core"] if is_compute else ["#version 330 core"]
        head += self._buffers() if is_compute else self._samplers()
        head += [f"uniform {uniform.name} {name};" for name, uniform in self.uniforms]
        head.append("uniform ivec2 size;")
        if re.search(r"\bvoid\s+main\s*\(", self.text):
            return "\n".join([*head, "#line 1", self.text, ""])
        place = "gl_GlobalInvocationID.xy" if is_compute else "gl_FragCoord.xy"
        body = ["void main() {", f"ivec2 p = ivec2({place});"]
        if is_compute:
            body += ["if (p.x >= size.x || p.y >= size.y) return;", "int i = p.y * size.x + p.x;"]
        return "\n".join([*head, *body, "{", "#line 1", self.text, "}", "}", ""])

    def _samplers(self) -> list[str]:
        lines = [f"uniform {_SAMPLERS[type.kind]} {name};" for name, type in self.inputs]
        for location, (name, type) in enumerate(self.outputs):
            lines.append(f"layout(location = {location}) out {declared_type(type)} {name};")
        return lines

    def _buffers(self) -> list[str]:
        across, down = THREADS
        lines = [f"layout(local_size_x = {across}, local_size_y = {down}) in;"]
        places = [("readonly ", name, type) for name, type in self.inputs]
        places += [("", name, type) for name, type in self.outputs]
        for binding, (access, name, type) in enumerate(places):
            lines.append(
                f"layout(std430, binding = {binding}) {access}buffer pg_{name} "
                f"{{ {declared_type(type)} {name}[]; }};"
            )
        lines += [f"uniform ivec2 {name}_size;" for name, _ in self.inputs]
        return lines
