"""Prints functions as GLSL programs, of a kind for each way to run them.

    program = fragment_program(function, inputs, outputs)     # loads lie inside their images
    program.text                                               # "#version 330 core ..."

Row 0 of an image is row 0 of its texture and of the framebuffer, so nothing is ever flipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pygpu.glsl_buffers import element_type, pixels_a_word, read_texel, write_texels
from pygpu.glsl_printer import INDENT
from pygpu.glsl_text import Text, call
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


# ---------------------------------------------------------------- compute

GROUP: Final = 64  # threads along a row


@dataclass(slots=True)
class ComputeProgram(GlslProgram):
    """Buffers are bound in order: the images that are read, then the results. A thread makes
    `pixels` neighbours along a row, a group GROUP times as many. The uniforms of sizes, those of
    results and those of images, are (width, height, elements from row to row); `top` is the first
    row."""

    pixels: int = 1
    result_sizes: list[str] = field(default_factory=list)
    image_sizes: list[str | None] = field(default_factory=list)


def compute_program(
    function: Function,
    inputs: Sequence[Format],
    outputs: Sequence[Format],
    dialect: Dialect = PLAIN,
) -> ComputeProgram:
    """A compute program that computes the function's pixels and stores them as `outputs` say."""
    names = _names("result", len(outputs))
    writer = _ComputeWriter(function, inputs, dialect, frozenset([*names, "top", "pixel"]))
    pixels = max(map(pixels_a_word, outputs))
    sizes = [writer.namer.fresh(f"{name}_size") for name in names]
    data = [writer.namer.fresh(f"{name}_data") for name in names]
    lines = writer.body()
    stores = [
        f"{name} = {store(writer.printer, value, format)};"
        for name, value, format in zip(names, function.outputs, outputs, strict=True)
    ]
    targets = list(zip(names, outputs, data, sizes, strict=True))
    read = sorted(writer.read)
    blocks = [
        _block(index, "readonly", inputs[image], writer.data[image])
        for index, image in enumerate(read)
    ]
    blocks += [
        _block(len(read) + index, "writeonly", format, name)
        for index, (_, format, name, _) in enumerate(targets)
    ]
    uniforms = [f"uniform ivec3 {name};" for _, name in sorted(writer.sizes.items())]
    uniforms += [f"uniform ivec3 {name};" for name in sizes]
    accessors = [line for image in read for line in writer.accessor(image)]
    if pixels == 1:
        main = _one_pixel(targets, lines, stores)
    else:
        main = _some_pixels(targets, lines, stores, pixels)
    text = writer.program(
        430,
        [f"layout(local_size_x = {GROUP}) in;", "", *blocks, *uniforms, "uniform int top;"],
        [],
        [*accessors, *main],
    )
    return ComputeProgram(
        text.text,
        text.images,
        text.uniforms,
        text.tables,
        pixels,
        sizes,
        [writer.sizes.get(image) for image in range(len(inputs))],
    )


Target = tuple[str, Format, str, str]  # a result's name, format, data and size


def _block(binding: int, access: str, format: Format, name: str) -> str:
    head = f"layout(std430, binding = {binding}) {access} buffer {name}_block"
    return f"{head} {{ {element_type(format)} {name}[]; }};"


def _one_pixel(targets: list[Target], lines: list[str], stores: list[str]) -> list[str]:
    size = targets[0][3]
    body = [
        "ivec2 p = ivec2(gl_GlobalInvocationID.xy) + ivec2(0, top);",
        f"if (p.x >= {size}.x)",
        f"{INDENT}return;",
        *lines,
    ]
    for (name, format, data, each), line in zip(targets, stores, strict=True):
        body.append(f"{stored_type(format)} {line}")
        body += _scoped(write_texels(format, data, each, [name], "p.x", "p.y"))
    return _function("void main()", body)


def _some_pixels(
    targets: list[Target], lines: list[str], stores: list[str], pixels: int
) -> list[str]:
    """A function for one pixel, and a thread that calls it for some of them."""
    outs = ", ".join(f"out {stored_type(format)} {name}" for name, format, _, _ in targets)
    size = targets[0][3]
    arguments = ", ".join(f"{name}[k]" for name, *_ in targets)
    body = [
        f"int x = {pixels} * int(gl_GlobalInvocationID.x);",
        "int y = int(gl_GlobalInvocationID.y) + top;",
        f"if (x >= {size}.x)",
        f"{INDENT}return;",
        *(f"{stored_type(format)} {name}[{pixels}];" for name, format, _, _ in targets),
        f"for (int k = 0; k < {pixels}; k++)",
        f"{INDENT}pixel(ivec2(min(x + k, {size}.x - 1), y), {arguments});",
    ]
    for name, format, data, each in targets:
        texels = [f"{name}[{k}]" for k in range(pixels)]
        body += _scoped(write_texels(format, data, each, texels, "x", "y"))
    return [
        *_function(f"void pixel(ivec2 p, {outs})", [*lines, *stores]),
        "",
        *_function("void main()", body),
    ]


def _scoped(lines: list[str]) -> list[str]:
    """Lines that declare something, in a scope of their own."""
    if lines[0].startswith("int "):
        return ["{", *[INDENT + line for line in lines], "}"]
    return lines


def _function(head: str, lines: Sequence[str]) -> list[str]:
    return [f"{head} {{", *[INDENT + line for line in lines], "}"]


class _ComputeWriter(Writer):
    """Reads storage buffers, through a function for each image."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        dialect: Dialect,
        taken: frozenset[str],
    ) -> None:
        super().__init__(function, inputs, dialect, taken)
        self.sizes: dict[int, str] = {}
        self.data: dict[int, str] = {}

    def name(self, image: int) -> None:
        if image not in self.sizes:
            self.sizes[image] = self.namer.fresh(f"{self.images[image]}_size")
            self.data[image] = self.namer.fresh(f"{self.images[image]}_data")

    def size(self, image: int, axis: str) -> Text:
        self.name(image)
        return Text(f"{self.sizes[image]}.{axis}")

    def texel(self, image: int, op: Op) -> Text:
        self.name(image)
        return call(self.images[image], self.place(op))

    def accessor(self, image: int) -> list[str]:
        """The function that reads an image's texel as functions see it."""
        format = self.inputs[image]
        lines, texel = read_texel(format, self.data[image], self.sizes[image])
        seen = as_seen(self.printer, texel, format)
        head = f"{format.type} {self.images[image]}(ivec2 p)"
        return [*_function(head, [*lines, f"return {seen};"]), ""]


__all__ = [
    "GROUP",
    "TABLE_WIDTH",
    "BoundTable",
    "ComputeProgram",
    "Dialect",
    "GlslProgram",
    "compute_program",
    "fragment_program",
]
