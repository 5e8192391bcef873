"""Prints functions of a byte (pygpu/passes/blocks/tabulate.py) as compute programs: a group
computes the 256 results, keeps them in shared memory, and looks them up for all bytes of its
pixels.

    program = table_program(found, task, threads, dialect)

Rows are read and written by 16 bytes, however many pixels these are.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.compute import ComputeProgram
from pygpu.codegen.glsl.expressions.text import Text
from pygpu.codegen.glsl.lines import INDENT, braced
from pygpu.codegen.glsl.writer import Dialect, Writer, as_seen
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.blocks.tabulate import OfAByte
from pygpu.ssa import Function, Op, images_read

ELEMENT: Final = 16  # bytes
ROWS: Final = 4  # elements that a thread has under way, at least
_TAKEN: Final = frozenset(
    """table entry looked texels beyond first top stored result result_data result_size""".split()
)


def table_program(
    found: OfAByte, task: Task, threads: tuple[int, int], dialect: Dialect
) -> ComputeProgram:
    """The program for images and results as a task has them."""
    inputs, outputs = task.inputs, task.outputs
    channels = outputs[0].channels
    rows = max(1, ROWS // channels)
    writer = _Writer(found.function, [replace(each, channels=1) for each in inputs], dialect)
    entry = writer.entry(replace(outputs[0], channels=1))
    image = writer.image
    data, size = writer.data, writer.size_name
    count = threads[0] * threads[1]
    across, down = threads
    main = [
        "shared uint table[256];",
        "",
        *entry,
        "",
        *_looked(found.kept),
        "",
        *_beyond(channels, data, size),
        "",
        *_texels(channels, data, size),
        "",
        *braced("void main()", _main(channels, rows, across, count)),
    ]
    text = writer.program(
        430,
        [
            f"layout(local_size_x = {across}, local_size_y = {down}) in;",
            "",
            f"layout(std430, binding = 0) readonly buffer {data}_block {{ uvec4 {data}[]; }};",
            "layout(std430, binding = 1) writeonly buffer result_data_block "
            "{ uvec4 result_data[]; };",
            f"uniform ivec3 {size};",
            "uniform ivec3 result_size;",
            "uniform int top;",
        ],
        [],
        main,
    )
    sizes = [(size if index == image else None, ELEMENT) for index in range(len(inputs))]
    return ComputeProgram(
        text.text, text.images, text.uniforms, text.tables, list(range(len(inputs))),
        ELEMENT, rows, threads, sizes, [("result_size", ELEMENT)],
    )  # fmt: skip


class _Writer(Writer):
    """Prints the function of a stored byte."""

    def __init__(self, function: Function, inputs: Sequence[Format], dialect: Dialect) -> None:
        super().__init__(function, inputs, dialect, _TAKEN)
        self.data, self.size_name = self.namer.fresh("texel_data"), self.namer.fresh("texel_size")
        self.seen = self.namer.fresh("texel")
        (self.image,) = images_read(function)

    def texel(self, image: int, op: Op) -> Text:
        return Text(self.seen)

    def entry(self, format: Format) -> list[str]:
        """The function that computes the byte to be stored from the byte that is read."""
        lines, printer, result = self.body(), self.printer, self.function.outputs[0]
        given = self.inputs[self.image]
        seen = as_seen(printer, Text("stored"), given)
        lines.insert(0, f"{given.type} {self.seen} = {seen};")
        before, text = self.stored(result, format, "value")
        return braced("uint entry(uint stored)", [*lines, *before, f"return {text};"])


def _looked(kept: Container[int]) -> list[str]:
    """The function that looks up the bytes of a word, but for those that are kept as they are."""
    parts = ["table[word & 255u]"]
    parts += [f"table[bitfieldExtract(word, {at}, 8)] << {at}" for at in (8, 16, 24)]
    parts = [
        f"word & {0xFF << 8 * place:#x}u" if place in kept else part
        for place, part in enumerate(parts)
    ]
    return braced("uint looked(uint word)", [f"return {' | '.join(parts)};"])


def _texels(channels: int, data: str, size: str) -> list[str]:
    """The function that reads an element of a row: of the image's last where it has no more."""
    lines = [
        f"int y = min(p.y, {size}.y - 1);",
        f"if (result_size.x > {size}.x && {ELEMENT} * (p.x + 1) > {channels} * {size}.x)",
        f"{INDENT}return beyond(p.x, y);",
        f"return {data}[y * {size}.z + min(p.x, {size}.z - 1)];",
    ]
    return braced("uvec4 texels(ivec2 p)", lines)


def _beyond(channels: int, data: str, size: str) -> list[str]:
    """The function that reads an element that reaches over the row: bytes of the nearest pixel."""
    nearest = f"min(byte, {size}.x - 1)"
    if channels > 1:
        nearest = f"{channels} * min(byte / {channels}, {size}.x - 1) + byte % {channels}"
    inner = [
        f"int byte = {ELEMENT} * x + 4 * k + i;",
        f"int at = {nearest};",
        f"uint word = {data}[y * {size}.z + (at >> 4)][(at >> 2) & 3];",
        "element[k] |= bitfieldExtract(word, 8 * (at & 3), 8) << (8 * i);",
    ]
    lines = [
        "uvec4 element = uvec4(0u);",
        "for (int k = 0; k < 4; k++)",
        *(INDENT + line for line in braced("for (int i = 0; i < 4; i++)", inner)),
        "return element;",
    ]
    return braced("uvec4 beyond(int x, int y)", lines)


def _main(channels: int, rows: int, across: int, count: int) -> list[str]:
    """Elements that neighbouring threads read lie next to each other. They are on their way while
    the table is made."""
    lines = [
        f"int first = {channels * across} * int(gl_WorkGroupID.x) + int(gl_LocalInvocationID.x);",
        f"int y = {rows} * int(gl_GlobalInvocationID.y) + top;",
    ]
    places = [(row, across * step) for row in range(rows) for step in range(channels)]
    texts = [
        (f"first + {step}" if step else "first", f"y + {row}" if row else "y")
        for row, step in places
    ]
    lines += [f"uvec4 element{k} = texels(ivec2({x}, {y}));" for k, (x, y) in enumerate(texts)]
    lines += [
        f"for (uint stored = gl_LocalInvocationIndex; stored < 256u; stored += {count}u)",
        f"{INDENT}table[stored] = entry(stored);",
        "memoryBarrierShared();",
        "barrier();",
    ]
    for k, (x, y) in enumerate(texts):
        at = f"({y}) * result_size.z + {x}"
        words = ", ".join(f"looked(element{k}.{axis})" for axis in "xyzw")
        lines += [
            f"if ({x} < result_size.z && {y} < result_size.y)",
            f"{INDENT}result_data[{at}] = uvec4({words});",
        ]
    return lines
