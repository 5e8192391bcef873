"""Prints what puts elements where a mask holds one after the other, as GLSL compute programs.

    compress_programs(task, dialect, in_software=False)

Groups of threads take tiles of elements. `count` says in how many elements of a tile the mask
holds, `offsets` where those of a tile begin, and how many there are in all; `move` finds where each
goes within its tile and copies it. No group waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.arrays.elements import ArrayText, Functions, words
from pygpu.codegen.arrays.tiles import BARRIER, running_sums, tile
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.printer import INDENT
from pygpu.codegen.glsl.writer import Dialect, GlslProgram, lines_of
from pygpu.core.arrays import CompressTask
from pygpu.core.host.records import record
from pygpu.types import Type

THREADS: Final = 256
EACH: Final = 16  # elements of a thread
TILE: Final = THREADS * EACH
AT_ONCE: Final = 8  # tiles of a thread of `offsets`, for each turn
TAKEN: Final = frozenset(
    """extent counts ranks sums slot each EACH thread number first left before at_place side held
    own total""".split()
)


@record(frozen=False)
class CompressText:
    """Programs. Buffers are those of the images that each reads, then counts: their sum and, from
    word 1 on, one a tile. Results' buffers follow in `move`, one for each part of a value."""

    count: ArrayText
    offsets: ArrayText
    move: ArrayText


def compress_programs(task: CompressTask, dialect: Dialect, in_software: bool) -> CompressText:
    """The programs for a task."""
    parts = (_program(task, dialect, in_software, moves) for moves in (False, True))
    count, move = parts
    head = [
        "#version 430 core",
        f"layout(local_size_x = {THREADS}) in;",
        "layout(std430, binding = 0) buffer counts_block { uint counts[]; };",
        "uniform int tiles;",
        f"shared uint sums[{2 * THREADS}];",
        "",
    ]
    text = lines_of([*head, *function("void main()", _offsets_main())])
    return CompressText(count, ArrayText(GlslProgram(text, [], []), ()), move)


def _program(task: CompressTask, dialect: Dialect, in_software: bool, moves: bool) -> ArrayText:
    """The program that counts, or the one that moves."""
    functions = Functions.of_texel(task, dialect, TAKEN)
    binding, types = len(functions.writer.read), tuple(task.types)
    main = _move_main(types) if moves else _count_main()
    body = [
        *struct(types),
        *functions.accessors,
        *functions.pixel,
        *function("ivec2 at_place(int e)", ["return ivec2(e % extent.y, e / extent.y);"]),
        *function("int slot(int e)", ["return e + (e >> 5);"]),
        f"shared uint ranks[{TILE + TILE // 32}];" if moves else "",
        f"shared uint sums[{2 * THREADS}];",
        "",
        *function("void main()", main),
    ]
    results = range(len(types) - 1) if moves else ()
    head = [
        f"layout(local_size_x = {THREADS}) in;",
        f"layout(std430, binding = {binding}) buffer counts_block {{ uint counts[]; }};",
        *[
            f"layout(std430, binding = {binding + 1 + k}) writeonly buffer result{k}_block "
            f"{{ uint result{k}[]; }};"
            for k in results
        ],
        "uniform ivec3 extent;  // elements, of a row, tiles",
        # In software a number that no compiler unrolls loops by.
        *(["uniform int each;", "#define EACH each"] if in_software else [f"#define EACH {EACH}"]),
    ]
    return functions.finish(head, body)


_TILE: Final = (*tile(THREADS, "extent.z"), "int left = extent.x - first;")
_HOLDS: Final = "e < left && value(at_place(first + e)).v0 != 0"


def _count_main() -> list[str]:
    return [
        *_TILE,
        "uint own = 0u;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}own += {_HOLDS} ? 1u : 0u;",
        "}",
        "sums[thread] = own;",
        *BARRIER,
        f"for (int apart = {THREADS // 2}; apart > 0; apart >>= 1) {{",
        f"{INDENT}if (thread < apart)",
        f"{INDENT * 2}sums[thread] += sums[thread + apart];",
        *[INDENT + line for line in BARRIER],
        "}",
        "if (thread == 0)",
        f"{INDENT}counts[1 + number] = sums[0];",
    ]


def _offsets_main() -> list[str]:
    """Counts become those of all tiles before."""
    body = [
        f"int first = top + thread * {AT_ONCE};",
        "uint own = 0u;",
        f"for (int k = 0; k < {AT_ONCE}; k++)",
        f"{INDENT}own += first + k < tiles ? counts[1 + first + k] : 0u;",
        *running_sums(THREADS, "own"),
        "uint before = carried + sums[side + thread] - own;",
        f"carried += sums[side + {THREADS - 1}];",
        f"for (int k = 0; k < {AT_ONCE}; k++) {{",
        f"{INDENT}if (first + k < tiles) {{",
        f"{INDENT * 2}uint some = counts[1 + first + k];",
        f"{INDENT * 2}counts[1 + first + k] = before;",
        f"{INDENT * 2}before += some;",
        f"{INDENT}}}",
        "}",
        *BARRIER,
    ]
    return [
        "int thread = int(gl_LocalInvocationIndex);",
        "uint carried = 0u;",
        f"for (int top = 0; top < tiles; top += {THREADS * AT_ONCE}) {{",
        *[INDENT + line for line in body],
        "}",
        "if (thread == 0)",
        f"{INDENT}counts[0] = carried;",
    ]


def _move_main(types: Sequence[Type]) -> list[str]:
    """Elements are read side by side by threads, and ranked in the order of a thread's own: what
    is between goes through shared memory. The top bit of a rank says that the mask holds."""
    lines = [
        *_TILE,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}ranks[slot(e)] = {_HOLDS} ? 1u : 0u;",
        "}",
        *BARRIER,
        "uint own = 0u;",
        "for (int k = 0; k < EACH; k++)",
        f"{INDENT}own += ranks[slot(thread * EACH + k)];",
        *running_sums(THREADS, "own"),
        "uint before = counts[1 + number] + sums[side + thread] - own;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}uint held = ranks[slot(thread * EACH + k)];",
        f"{INDENT}ranks[slot(thread * EACH + k)] = before | held << 31;",
        f"{INDENT}before += held;",
        "}",
        *BARRIER,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}uint rank = ranks[slot(e)];",
        f"{INDENT}if (rank >> 31 == 0u)",
        f"{INDENT * 2}continue;",
        f"{INDENT}uint to = rank & 0x7fffffffu;",
        f"{INDENT}Value v = value(at_place(first + e));",
    ]
    given = words(types, "v")[1:]
    for part, type in enumerate(types[1:]):
        for c in range(type.size):
            at = "to" if type.size == 1 else f"to * {type.size}u + {c}u"
            lines.append(f"{INDENT}result{part}[{at}] = {given.pop(0)};")
    return [*lines, "}"]


__all__ = ["EACH", "TILE", "CompressText", "compress_programs"]
