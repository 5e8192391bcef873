"""Prints functions as GLSL fragment programs; codegen/glsl/compute.py prints compute programs.

    program = fragment_program(task)                          # loads lie inside their images
    program.text                                               # "#version 330 core ..."

Textures of one channel may be *packed*: four pixels of a row a texel. Programs that write such ones
make four pixels at once, by blocks (pygpu/passes/blocks/block.py) or one after the other.

Row 0 of an image is row 0 of its texture and of the framebuffer, so nothing is ever flipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from pygpu.codegen.glsl.expressions.text import Text, call
from pygpu.codegen.glsl.lines import INDENT, TRIANGLE, braced, triangle
from pygpu.codegen.glsl.writer import (
    TABLE_WIDTH,
    BoundTable,
    Dialect,
    GlslProgram,
    Writer,
    as_seen,
    stored_type,
)
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.blocks.block import Blocked
from pygpu.passes.blocks.block_views import COLUMNS, is_column, view_of
from pygpu.ssa import Function, Op, walk
from pygpu.types import INT, Type

PLAIN: Final = Dialect()
FLAT: Final = 8  # values that vertices hand on, at most
PARTS: Final = 32  # loads of single pixels of a packed texture, up to which it is read as an image
NONE: Final[frozenset[int]] = frozenset()


@record(frozen=False)
class FragmentProgram(GlslProgram):
    """The width of a packed image in pixels is a uniform, an int, under the name in `widths`;
    `last` is the uniform of the last column of the results. Units of textures, of those
    `bound_as_images` too, are in the order of all images that are read. `vertices` is the program
    of the triangle that is drawn, which has those uniforms that it hands on."""

    widths: list[str | None] = field(default_factory=list)
    last: str | None = None
    bound_as_images: frozenset[int] = NONE
    vertices: str = TRIANGLE


def fragment_program(
    task: Task, dialect: Dialect = PLAIN, packed: frozenset[int] = NONE
) -> FragmentProgram:
    """A program that computes the function's pixel and stores it as the task says. The textures of
    the images `packed` hold four pixels a texel."""
    names = numbered("result", len(task.outputs))
    writer = FragmentWriter(task.function, task.inputs, dialect, frozenset(names), packed)
    lines = [*writer.body(), *_stores(writer, names, task.outputs)]
    place = ["ivec2 p = ivec2(gl_FragCoord.xy);"] if mentions(lines, "p") else []
    main = braced("void main()", [*place, *writer.places(), *lines])
    return writer.finish(names, task.outputs, main)


def block_fragment(
    blocked: Blocked, dialect: Dialect = PLAIN, packed: frozenset[int] = NONE
) -> FragmentProgram:
    """A program of which each fragment is a block of four pixels in a row, packed."""
    names = numbered("result", len(blocked.outputs))
    taken = frozenset([*names, "texel"])
    writer = FragmentWriter(blocked.function, blocked.inputs, dialect, taken, packed, blocked.views)
    for op in writer.function.body.ops:
        if is_column(writer.function, op):
            writer.plan.free.add(op.result)
            writer.printer.names[op.result] = Text("texel.x")
    lines = [*writer.body(), *_stores(writer, names, blocked.outputs)]
    places = ["ivec2 texel = ivec2(gl_FragCoord.xy);", f"ivec2 p = texel * ivec2({COLUMNS}, 1);"]
    main = braced("void main()", [*places, *writer.places(), *lines])
    return writer.finish(names, blocked.outputs, main)


def four_pixels(
    task: Task, dialect: Dialect = PLAIN, packed: frozenset[int] = NONE
) -> FragmentProgram:
    """A program of which each fragment is four pixels of one channel, computed one by one."""
    outputs = task.outputs
    names = numbered("result", len(outputs))
    values = numbered("value", len(outputs))
    taken = frozenset([*names, *values, "pixel", "last"])
    writer = FragmentWriter(task.function, task.inputs, dialect, taken, packed)
    lines = [*writer.body(), *_stores(writer, values, outputs)]
    outs = zip(values, outputs, strict=True)
    params = ", ".join(f"out {stored_type(format)} {value}" for value, format in outs)
    main = [
        f"ivec2 p = ivec2(gl_FragCoord.xy) * ivec2({COLUMNS}, 1);",
        *(
            f"{stored_type(format)} {value}[{COLUMNS}];"
            for value, format in zip(values, outputs, strict=True)
        ),
        f"for (int k = 0; k < {COLUMNS}; k++)",
        f"{INDENT}pixel(ivec2(min(p.x + k, last), p.y), {', '.join(f'{v}[k]' for v in values)});",
    ]
    for name, value, format in zip(names, values, outputs, strict=True):
        four = ", ".join(f"{value}[{k}]" for k in range(COLUMNS))
        main.append(f"{name} = {stored_type(view_of(format))}({four});")
    program = writer.finish(
        names,
        [view_of(format) for format in outputs],
        [
            *braced(f"void pixel(ivec2 p, {params})", [*writer.places(), *lines]),
            "",
            *braced("void main()", main),
        ],
        [writer.given(INT, "last")],
    )
    program.last = "last"
    return program


def numbered(name: str, count: int) -> list[str]:
    """The names of several: a number behind each, unless there is one alone."""
    return [name] if count == 1 else [f"{name}{index}" for index in range(count)]


def mentions(lines: Sequence[str], name: str) -> bool:
    """Whether a line has a word."""
    return any(re.search(rf"\b{name}\b", line) for line in lines)


def _stores(writer: FragmentWriter, names: Sequence[str], outputs: Sequence[Format]) -> list[str]:
    lines = []
    for name, value, format in zip(names, writer.function.outputs, outputs, strict=True):
        before, made = writer.stored(value, format, "value")
        lines += [*before, f"{name} = {made};"]
    return lines


class FragmentWriter(Writer):
    """Reads textures. `views` are the last of the function's images: of which packed image each is
    one, so that its texels are the texture's own."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        dialect: Dialect,
        taken: frozenset[str],
        packed: frozenset[int],
        views: Sequence[int] = (),
        held: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(function, inputs, dialect, taken, held=held)
        self.packed = packed
        self.count = len(inputs) - len(views)
        self.views = views
        loads = Counter(op.data.image for op in walk(function.body) if op.code == "load")
        self.in_parts = {image for image in packed if loads[image] > PARTS}
        self.sizes: dict[int, str] = {}  # of textures, whose texels may be four pixels
        self.widths: dict[int, str] = {}  # of packed images, in pixels
        self.by_pixel: dict[int, str] = {}  # functions that read a pixel of a packed image
        self.flat: list[tuple[Type, str]] = []  # uniforms of vertices

    def size(self, image: int, axis: str) -> Text:
        if image in self.packed and axis == "x":
            if image not in self.widths:
                self.widths[image] = self.namer.fresh(f"{self.images[image]}_width")
            return Text(self.widths[image])
        texture = self.views[image - self.count] if image >= self.count else image
        if texture not in self.sizes:
            self.read.add(texture)
            self.sizes[texture] = self.namer.fresh(f"{self.images[texture]}_size")
        return Text(f"{self.sizes[texture]}.{axis}")

    def places(self) -> list[str]:
        """What declares the sizes of textures."""
        return [f"ivec2 {name} = {self.texture_size(image)};" for image, name in self.sizes.items()]

    def texture_size(self, image: int) -> Text:
        if self.reads_image(image):
            return call("imageSize", self.images[image])
        return call("textureSize", self.images[image], "0")

    def texel(self, image: int, op: Op) -> Text:
        place = self.place(op)
        if image in self.packed:
            if image not in self.by_pixel:
                self.by_pixel[image] = self.namer.fresh(f"{self.images[image]}_at")
            return call(self.by_pixel[image], place)
        if image >= self.count:  # a view
            self.read.discard(image)
            base = self.views[image - self.count]
            self.read.add(base)
            return as_seen(self.printer, self.fetch(base, place), self.inputs[image])
        texel = f"{self.fetch(image, place)}{('', '.r', '.rg', '.rgb', '')[op.data.type.size]}"
        return as_seen(self.printer, Text(texel), self.inputs[image])

    def fetch(self, image: int, place: Text | str) -> Text:
        if self.reads_image(image):
            return call("imageLoad", self.images[image], place)
        return call("texelFetch", self.images[image], place, "0")

    def reads_image(self, image: int) -> bool:
        """Whether a texture is read as an image: where software draws, that is faster, but takes
        longer to compile for loads of single pixels of what is packed, four times for many."""
        four = image in self.packed or self.inputs[image].channels == 4
        return self.dialect.images and four and image not in self.in_parts

    def finish(
        self,
        names: Sequence[str],
        outputs: Sequence[Format],
        main: list[str],
        more: Sequence[str] = (),
    ) -> FragmentProgram:
        """The program, main and all around it."""
        accessors = [line for image in self.by_pixel for line in self.accessor(image)]
        widths = [self.given(INT, name) for name in self.widths.values()]
        made = self.program(
            430 if self.dialect.images else 330,
            [*[self.sampler(image) for image in sorted(self.read)], *widths, *more],
            [
                f"layout(location = {index}) out {stored_type(format)} {name};"
                for index, (name, format) in enumerate(zip(names, outputs, strict=True))
            ],
            [*accessors, *main],
        )
        return FragmentProgram(
            made.text,
            made.images[: self.count],
            made.uniforms,
            made.tables,
            [self.widths.get(image) for image in range(self.count)],
            None,
            frozenset(filter(self.reads_image, self.read)),
            self.vertices(),
        )

    def given(self, type: Type, name: str) -> str:
        """Software, which reads textures as images, looks for a uniform at every few fragments;
        what vertices hand on, the same to all, it has at hand. Bools cannot be handed on."""
        if not self.dialect.images or type.kind == "bool" or len(self.flat) == FLAT:
            return super().given(type, name)
        self.flat.append((type, name))
        return f"layout(location = {len(self.flat) - 1}) flat in {type} {name};"

    def vertices(self) -> str:
        """The program of vertices."""
        declared, handed = [], []
        for location, (type, name) in enumerate(self.flat):
            declared += [
                f"uniform {type} {name};",
                f"layout(location = {location}) flat out {type} pg_given{location};",
            ]
            handed.append(f"pg_given{location} = {name};")
        return triangle(declared, handed, self.dialect.embedded)

    def sampler(self, image: int) -> str:
        """What declares a texture."""
        format = self.inputs[image]
        if self.reads_image(image):
            kind = {"f": "", "i": "i", "u": "u", "b": "u"}[format.dtype.kind]
            stored = f"rgba{8 * format.dtype.itemsize}{_SUFFIXES[kind]}"
            unit = sorted(self.read).index(image)
            layout = f"layout({stored}, binding = {unit})"
            return f"{layout} readonly uniform {kind}image2D {self.images[image]};"
        return f"uniform {_SAMPLERS[format.dtype.kind]} {self.images[image]};"

    def accessor(self, image: int) -> list[str]:
        """The function that reads a pixel of a packed image."""
        format = self.inputs[image]
        four = f"{stored_type(view_of(format))} four = {self.fetch(image, 'ivec2(p.x >> 2, p.y)')};"
        seen = as_seen(self.printer, Text("four[p.x & 3]"), format)
        head = f"{format.type} {self.by_pixel[image]}(ivec2 p)"
        return [*braced(head, [four, f"return {seen};"]), ""]


_SUFFIXES: Final = {"": "f", "i": "i", "u": "ui"}  # of the formats of images
_SAMPLERS: Final = {"f": "sampler2D", "i": "isampler2D", "u": "usampler2D", "b": "usampler2D"}


__all__ = [
    "TABLE_WIDTH",
    "BoundTable",
    "Dialect",
    "FragmentProgram",
    "FragmentWriter",
    "GlslProgram",
    "block_fragment",
    "four_pixels",
    "fragment_program",
    "mentions",
]
