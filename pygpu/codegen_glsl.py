"""Prints functions as GLSL fragment programs; pygpu/glsl_compute.py prints compute programs.

    program = fragment_program(function, inputs, outputs)     # loads lie inside their images
    program.text                                               # "#version 330 core ..."

Row 0 of an image is row 0 of its texture and of the framebuffer, so nothing is ever flipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pygpu.glsl_printer import INDENT
from pygpu.glsl_text import Text
from pygpu.glsl_writer import (
    TABLE_WIDTH,
    BoundTable,
    Dialect,
    GlslProgram,
    Writer,
    as_seen,
    store,
    stored_type,
)
from pygpu.ssa import Function, Op
from pygpu.storage import Format

PLAIN: Final = Dialect()


def fragment_program(
    function: Function,
    inputs: Sequence[Format],
    outputs: Sequence[Format],
    dialect: Dialect = PLAIN,
) -> GlslProgram:
    """A fragment program that computes the function's pixel and stores it as `outputs` say."""
    names = _names("result", len(outputs))
    writer = _FragmentWriter(function, inputs, dialect, frozenset(names))
    lines = writer.body()
    for name, value, format in zip(names, function.outputs, outputs, strict=True):
        lines.append(f"{name} = {store(writer.printer, value, format)};")
    sizes = [
        f"ivec2 {name} = textureSize({writer.images[image]}, 0);"
        for image, name in writer.sizes.items()
    ]
    place = ["ivec2 p = ivec2(gl_FragCoord.xy);"] if _has(lines, "p") else []
    return writer.program(
        330,
        [
            f"uniform {_SAMPLERS[inputs[image].dtype.kind]} {writer.images[image]};"
            for image in sorted(writer.read)
        ],
        [
            f"layout(location = {index}) out {stored_type(format)} {name};"
            for index, (name, format) in enumerate(zip(names, outputs, strict=True))
        ],
        ["void main() {", *[INDENT + line for line in (*place, *sizes, *lines)], "}"],
    )


_SAMPLERS: Final = {"f": "sampler2D", "i": "isampler2D", "u": "usampler2D", "b": "usampler2D"}


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{index}" for index in range(count)]


def _has(lines: Sequence[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in lines)


class _FragmentWriter(Writer):
    """Reads textures."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        dialect: Dialect,
        taken: frozenset[str],
    ) -> None:
        super().__init__(function, inputs, dialect, taken)
        self.sizes: dict[int, str] = {}

    def size(self, image: int, axis: str) -> Text:
        if image not in self.sizes:
            self.read.add(image)
            self.sizes[image] = self.namer.fresh(f"{self.images[image]}_size")
        return Text(f"{self.sizes[image]}.{axis}")

    def texel(self, image: int, op: Op) -> Text:
        texel = f"texelFetch({self.images[image]}, {self.place(op)}, 0)"
        texel += ("", ".r", ".rg", ".rgb", "")[op.data.type.size]
        return as_seen(self.printer, Text(texel), self.inputs[image])


__all__ = [
    "TABLE_WIDTH",
    "BoundTable",
    "Dialect",
    "GlslProgram",
    "fragment_program",
]
