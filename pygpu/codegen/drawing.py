"""Prints what is drawn as a pair of GLSL programs, for vertices and for fragments.

    made = draw_program(drawing)
    made.vertex.text, made.fragment.text           # "#version 330 core ..."

Row 0 of the picture is row 0 of the framebuffer, which OpenGL calls the lowest: y of clip space is
turned over, and with it which side of a triangle is the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.lines import INDENT, braced
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.codegen_glsl import PLAIN, FragmentWriter, mentions, numbered
from pygpu.core.drawing import Drawing, Stage
from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.types import INT, Type

POSITION: Final = "clip"
# Differences to neighbouring pixels get variables of their own: within an expression only some of
# the pixels might compute them.
_HELD: Final = frozenset(code for code, row in TABLE.items() if row.of_neighbours)


def _whole(declared: str, statement: str) -> str:
    """A program that copies a texture."""
    place = "    ivec2 p = ivec2(gl_FragCoord.xy);"
    main = f"void main() {{\n{place}\n    {statement}\n}}\n"
    return f"#version 330 core\nuniform sampler2D image;\n{declared}{main}"


_OUT: Final = "out vec4 colour;\n"
_UNPACKED: Final = "texelFetch(image, ivec2(p.x >> 2, p.y), 0)[p.x & 3]"
_FOUR: Final = ", ".join(f"texelFetch(image, at + ivec2({k}, 0), 0).r" for k in range(4))
# Programs that copy what is drawn over into a drawing, and, of one channel, what was drawn into a
# packed texture, four pixels a texel. Texels beyond the last column are not used.
COPIES: Final = {
    "colour": _whole(_OUT, "colour = texelFetch(image, p, 0);"),
    "packed colour": _whole(_OUT, f"colour = vec4({_UNPACKED});"),
    "depth": _whole("", "gl_FragDepth = texelFetch(image, p, 0).r;"),
    "packed depth": _whole("", f"gl_FragDepth = {_UNPACKED};"),
    "pack": _whole(_OUT, f"ivec2 at = p * ivec2(4, 1);\n    colour = vec4({_FOUR});"),
}


@record
class DrawTexts:
    """The programs, and under which names they take what a draw brings. `attributes` are those of
    the vertices' inputs, in order; textures of one channel hold four pixels a texel and have their
    widths as uniforms, under the names of `widths`."""

    vertex: GlslProgram
    fragment: GlslProgram
    attributes: Sequence[str]
    given: Sequence[str]  # the same attributes by their names in the geometry
    widths: tuple[Sequence[str | None], Sequence[str | None]]

    @property
    def text(self) -> str:
        return f"{self.vertex.text}\n{self.fragment.text}"

    @property
    def both(self) -> GlslProgram:
        """Uniforms and tables of the pair."""
        before, after = self.vertex, self.fragment
        count = len(before.uniforms) - len(self.attributes)
        named = zip(before.uniforms[:count], after.uniforms[:count], strict=True)
        uniforms = [first or second for first, second in named]
        return GlslProgram(self.text, [], uniforms, [*before.tables, *after.tables])


class _StageWriter(FragmentWriter):
    """Writes one stage: its last parameters are inputs, under names of their own. Uniforms, and the
    images that both stages have, are called the same in both."""

    def __init__(
        self, stage: Stage, dialect: Dialect, taken: frozenset[str], inputs: Sequence[str]
    ) -> None:
        packed = [index for index, format in enumerate(stage.images) if format.channels == 1]
        super().__init__(
            stage.function, stage.images, dialect, taken, frozenset(packed), held=_HELD
        )
        self.count = len(stage.images)
        first = len(stage.uniforms)
        names = inputs or [self.namer.fresh(f"in_{value.name}") for value in stage.inputs]
        self.inputs_named = dict(zip(stage.inputs, names, strict=True))
        self.uniforms[first:] = names

    def as_in(self, other: _StageWriter, images: int) -> None:
        """Take over the names that another stage has for uniforms, and for the first images, which
        both have."""
        self.images[:images] = other.images[:images]
        count = len(self.uniforms) - len(self.inputs_named)
        self.uniforms[:count] = other.uniforms[:count]

    def given(self, type: Type, name: str) -> str:
        """Inputs are declared elsewhere."""
        return "" if name in self.inputs_named.values() else super().given(type, name)

    def declared_inputs(self) -> list[str]:
        return [f"in {value.type} {name};" for value, name in self.inputs_named.items()]

    def whole(self, declared: Sequence[str], lines: Sequence[str]) -> GlslProgram:
        """The program around what main does."""
        main = braced("void main()", [*self.places(), *lines])
        accessors = [line for image in self.by_pixel for line in self.accessor(image)]
        widths = [self.given(INT, name) for name in self.widths.values()]
        samplers = [self.sampler(image) for image in sorted(self.read)]
        return self.program(330, [*declared, *samplers, *widths], [], [*accessors, *main])

    def named_widths(self) -> list[str | None]:
        return [self.widths.get(image) for image in range(self.count)]


def draw_program(drawing: Drawing, dialect: Dialect = PLAIN) -> DrawTexts:
    """The programs of a drawing whose loads lie inside their images."""
    dialect = replace(dialect, images=False)
    colours = numbered("colour", len(drawing.colours))
    taken = frozenset([*colours, POSITION])
    handed: list[str] = []
    for value in drawing.fragment.inputs:
        name = f"v_{value.name}"
        handed.append(name if name not in handed else f"{name}_{len(handed)}")
    taken = taken.union(handed)
    vertex = _StageWriter(drawing.vertex, dialect, taken, [])
    before = _vertex(vertex, handed)
    fragment = _StageWriter(drawing.fragment, dialect, taken.union(vertex.namer.taken), handed)
    fragment.as_in(vertex, drawing.shared)
    after = _fragment(fragment, colours, drawing)
    return DrawTexts(
        before,
        after,
        list(vertex.inputs_named.values()),
        [value.name for value in drawing.vertex.inputs],
        (vertex.named_widths(), fragment.named_widths()),
    )


def _vertex(writer: _StageWriter, handed: Sequence[str]) -> GlslProgram:
    lines, outputs = writer.body(), writer.function.outputs
    lines.append(f"vec4 {POSITION} = {writer.printer.text(outputs[0])};")
    declared = writer.declared_inputs()
    for name, value in zip(handed, outputs[1:], strict=True):
        lines.append(f"{name} = {writer.printer.text(value)};")
        declared.append(f"out {value.type} {name};")
    lines.append(f"gl_Position = vec4({POSITION}.x, -{POSITION}.y, {POSITION}.zw);")
    return writer.whole(declared, lines)


def _fragment(writer: _StageWriter, names: Sequence[str], drawing: Drawing) -> GlslProgram:
    lines, outputs = writer.body(), writer.function.outputs
    if drawing.discards:
        lines += [f"if ({writer.printer.text(outputs[-1])})", f"{INDENT}discard;"]
    declared = writer.declared_inputs()
    for index, (name, value) in enumerate(zip(names, outputs, strict=False)):
        lines.append(f"{name} = {writer.printer.text(value)};")
        declared.append(f"layout(location = {index}) out {value.type} {name};")
    if mentions(lines, "p"):
        lines = ["ivec2 p = ivec2(gl_FragCoord.xy);", *lines]
    return writer.whole(declared, lines)
