"""Partial results of a fold as words in a buffer, a plane for each component of a value, and the
program that folds them: see pygpu/codegen/glsl/reduction.py.

    struct(types)                                # "struct Value { float v0; ... };"
    stores(types, "parts.y")                     # lines that store `folded` at `at`
    rest_program(joiner, joined, types, 256)     # GLSL whose groups leave one partial result each
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.glsl.expressions.functions import source
from pygpu.codegen.glsl.lines import INDENT, braced, lines_of
from pygpu.codegen.glsl.writer import GlslProgram, Writer
from pygpu.types import Type

PARTIALS: Final = 16  # partial results that a lane folds
ROWS: Final = 8  # rows of partial results that a lane folds
DOWN_LANES: Final = 64  # lanes of a group that folds rows
AXES: Final = "xyzw"


def function(head: str, lines: Sequence[str]) -> list[str]:
    return [*braced(head, lines), ""]


def struct(types: Sequence[Type]) -> list[str]:
    fields = [f"{INDENT}{type} v{index};" for index, type in enumerate(types)]
    return ["struct Value {", *fields, "};", ""]


def stores(types: Sequence[Type], plane: str) -> list[str]:
    """Lines that store `folded` as words at `at`, a plane for each component."""
    words = []
    for index, type in enumerate(types):
        for component in range(type.size):
            part = f"folded.v{index}" + (f".{AXES[component]}" if type.size > 1 else "")
            words.append(f"floatBitsToUint({part})" if type.kind == "float" else f"uint({part})")
    return [
        f"partials[at{f' + {place} * {plane}' if place else ''}] = {word};"
        for place, word in enumerate(words)
    ]


def loads(types: Sequence[Type], plane: str) -> str:
    """The value of words at `at`."""
    parts, place = [], 0
    for type in types:
        words = [f"before[at{f' + {place + c} * {plane}' if place + c else ''}]"
                 for c in range(type.size)]  # fmt: skip
        place += type.size
        form = {"float": "uintBitsToFloat({})", "int": "int({})", "uint": "{}",
                "bool": "({} != 0u)"}[type.kind]  # fmt: skip
        components = [form.format(word) for word in words]
        parts.append(components[0] if type.size == 1 else f"{type}({', '.join(components)})")
    return f"Value({', '.join(parts)})"


def rest_program(
    joiner: Writer, joined: list[str], types: Sequence[Type], lanes: int
) -> GlslProgram:
    """The program that folds partial results: PARTIALS of them a lane, one remains of a group."""
    strip = function(
        "Value strip(int at)",
        [
            f"Value folded = {loads(types, 'count.x')};",
            f"for (int k = 1; k < {PARTIALS}; k++) {{",
            f"{INDENT}at += {lanes};",
            f"{INDENT}if (at < count.x)",
            f"{INDENT * 2}folded = join(folded, {loads(types, 'count.x')});",
            "}",
            "return folded;",
        ],
    )
    body = [
        f"int first = int(gl_WorkGroupID.x) * {PARTIALS * lanes};",
        "int lane = int(gl_LocalInvocationID.x);",
        "if (first + lane < count.x)",
        f"{INDENT}lanes[lane] = strip(first + lane);",
        f"for (int apart = {lanes // 2}; apart > 0; apart >>= 1) {{",
        f"{INDENT}memoryBarrierShared();",
        f"{INDENT}barrier();",
        f"{INDENT}if (lane < apart && first + lane + apart < count.x)",
        f"{INDENT * 2}lanes[lane] = join(lanes[lane], lanes[lane + apart]);",
        "}",
        "if (lane == 0) {",
        f"{INDENT}Value folded = lanes[0];",
        f"{INDENT}int at = int(gl_WorkGroupID.x);",
        *[INDENT + line for line in stores(types, "count.y")],
        "}",
    ]
    head = [
        f"layout(local_size_x = {lanes}) in;",
        "",
        "layout(std430, binding = 0) readonly buffer before_block { uint before[]; };",
        "layout(std430, binding = 1) writeonly buffer partials_block { uint partials[]; };",
        "uniform ivec2 count;  // partial results before and after",
    ]
    tail = [f"shared Value lanes[{lanes}];", "", *strip, *function("void main()", body)]
    return _program(joiner, head, [*struct(types), *joined, *tail])


def down_program(joiner: Writer, joined: list[str], types: Sequence[Type]) -> GlslProgram:
    """The program that folds rows of partial results, ROWS of them into one, by pairs of pairs."""
    body = [
        "int k = int(gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * "
        f"{DOWN_LANES}u);",
        "if (k >= count.y * count.z)",
        f"{INDENT}return;",
        f"int first = k / count.z * {ROWS};",
        f"Value some[{ROWS}];",
        f"for (int row = 0; row < {ROWS}; row++) {{",
        f"{INDENT}int at = min(first + row, count.x - 1) * count.z + k % count.z;",
        f"{INDENT}some[row] = {loads(types, 'count.x * count.z')};",
        "}",
    ]
    apart = 1
    while apart < ROWS:
        for row in range(0, ROWS, 2 * apart):
            body += [
                f"if (first + {row + apart} < count.x)",
                f"{INDENT}some[{row}] = join(some[{row}], some[{row + apart}]);",
            ]
        apart *= 2
    body += ["Value folded = some[0];", "int at = k;", *stores(types, "count.y * count.z")]
    head = [
        f"layout(local_size_x = {DOWN_LANES}) in;",
        "",
        "layout(std430, binding = 0) readonly buffer before_block { uint before[]; };",
        "layout(std430, binding = 1) writeonly buffer partials_block { uint partials[]; };",
        "uniform ivec3 count;  // rows before and after, columns",
    ]
    return _program(joiner, head, [*struct(types), *joined, *function("void main()", body)])


def _program(joiner: Writer, head: list[str], main: list[str]) -> GlslProgram:
    """A program of partial results alone."""
    helpers = source(joiner.printer.helpers)
    parts = [lines_of(["#version 430 core"]), lines_of(head), lines_of(joiner.declared), helpers]
    text = "\n".join(part for part in [*parts, lines_of(main)] if part)
    return GlslProgram(text, [], [], joiner.bound)
