"""Prints sums of floats by group as GLSL compute programs, for more groups than threads have tables
for.

    sum_programs(task, dialect, in_software=False)

The sum is the same in every run, though nobody knows in which order atomic operations come: what
they add are whole numbers of 64 bits. `tops` finds the greatest magnitude in each group, `main`
takes each value as a multiple of a power of two that the group's greatest says, so that no sum
overflows, and `finish` makes floats of the sums, rounded once. Of n values in all, each counts to
2**(log2(n) - 61) of the greatest of its group, a thousandth of what float32 tells apart for ten
million.

Groups of threads take a part of the elements and a range of the groups, whose tables fit into
shared memory: where there are several ranges, elements are read once for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pygpu.codegen.arrays.elements import ArrayText, Functions, words
from pygpu.codegen.arrays.groups import TAKEN, each_element, extent_of
from pygpu.codegen.arrays.tiles import BARRIER
from pygpu.codegen.glsl.lines import INDENT, lines_of
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.core.arrays import GroupTask
from pygpu.types import vector

THREADS: Final = 512
ROOM: Final = 7680  # words of a table in shared memory
FINISHING: Final = 64  # threads of a group of `finish`
_TAKEN: Final = TAKEN | frozenset(
    """tops sums flags range base low top shift mantissa exponent words_in quantum parts""".split()
)


@dataclass(slots=True)
class SumText:
    """Programs. `top` and `main` take images, then the buffer of the groups' greatest magnitudes,
    behind which stand flags of what is not finite, and then that of sums, a table of low words
    and one of high words for each part. `finish` takes these two and the result. `ranges`: groups
    of a range, of `top` and of `main`."""

    top: ArrayText
    main: ArrayText
    finish: ArrayText
    ranges: tuple[int, int]


def sum_programs(task: GroupTask, dialect: Dialect, in_software: bool) -> SumText:
    """The programs of a task whose values are floats of one part that are added."""
    (type,) = task.types
    ranges = ROOM // type.size, ROOM // 2 // type.size
    size = type.size
    top = _program(task, dialect, in_software, (_top_lines(size), _top_left(size)), ranges[0])
    main = _program(task, dialect, in_software, (_sum_lines(size), _sums_left(size)), ranges[1])
    head = [
        "#version 430 core",
        f"layout(local_size_x = {FINISHING}) in;",
        "layout(std430, binding = 0) readonly buffer tops_block { uint tops[]; };",
        "layout(std430, binding = 1) readonly buffer sums_block { uint sums[]; };",
        "layout(std430, binding = 2) writeonly buffer result0_block { uint result0[]; };",
        "uniform ivec4 extent;  // words, parts, of a row of the result, and with its gap",
        "uniform int base;",
        "",
        *function("uint rounded(uint high, uint low, int exponent)", _rounded()),
        *function("void main()", _finish_main()),
    ]
    return SumText(top, main, ArrayText(GlslProgram(lines_of(head), [], []), ()), ranges)


def _program(
    task: GroupTask,
    dialect: Dialect,
    in_software: bool,
    lines: tuple[Sequence[str], Sequence[str]],
    range: int,
) -> ArrayText:
    """A program with lines for each element of a range of groups, then for each of their words."""
    each, left = lines
    functions = Functions.of(task, dialect, _TAKEN)
    size, first = task.types[0].size, len(functions.writer.read)
    part = "(int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) % parts)"
    main = [
        "int thread = int(gl_LocalInvocationIndex);",
        "int number_of = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);",
        f"int low = number_of / parts * {range};",
        "if (low >= extent.w)",
        f"{INDENT}return;",
        f"for (int k = thread; k < {ROOM}; k += THREADS)",
        f"{INDENT}table[k] = 0u;",
        *BARRIER,
        *each_element(each, part, f"number >= low && number < min(low + {range}, extent.w)"),
        *BARRIER,
        f"int held = min(extent.w - low, {range}) * {size};",
        f"int words_in = extent.w * {size};",
        "for (int k = thread; k < held; k += THREADS) {",
        *[INDENT + line for line in left],
        "}",
    ]
    body = [
        *struct(task.types),
        *functions.accessors,
        *functions.pixel,
        f"shared uint table[{ROOM}];",
        "",
        *function("void main()", main),
    ]
    head = [
        f"layout(local_size_x = {THREADS}) in;",
        f"layout(std430, binding = {first}) buffer tops_block {{ uint tops[]; }};",
        f"layout(std430, binding = {first + 1}) writeonly buffer sums_block {{ uint sums[]; }};",
        *extent_of(in_software),
        f"#define THREADS {THREADS}",
        "uniform int parts;  // of the elements",
        "uniform int base;  // by how many bits the greatest of a group is moved up",
    ]
    return functions.finish(head, body)


def _top_lines(size: int) -> list[str]:
    """An element's magnitude; of what is not finite a flag: 1 for +inf, 2 for -inf, 4 for NaN."""
    lines = []
    for c, word in enumerate(_words(size)):
        lines += [
            "{",
            f"{INDENT}uint bits = {word};",
            f"{INDENT}uint magnitude = bits & 0x7fffffffu;",
            f"{INDENT}if (magnitude < 0x7f800000u)",
            f"{INDENT * 2}atomicMax(table[(number - low) * {size} + {c}], magnitude);",
            f"{INDENT}else",
            f"{INDENT * 2}atomicOr(tops[(extent.w + number) * {size} + {c}], "
            "magnitude > 0x7f800000u ? 4u : 1u + (bits >> 31));",
            "}",
        ]
    return lines


def _top_left(size: int) -> list[str]:
    return [
        f"int at_word = low * {size} + k;",
        "if (table[k] > tops[at_word])",
        f"{INDENT}atomicMax(tops[at_word], table[k]);",
    ]


def _sum_lines(size: int) -> list[str]:
    """An element as a whole number of 64 bits, added to the two words of its sum."""
    lines = []
    for c, word in enumerate(_words(size)):
        lines += [
            "{",
            f"{INDENT}uint bits = {word};",
            f"{INDENT}int exponent = int(bits >> 23 & 255u);",
            f"{INDENT}uint mantissa = bits & 0x7fffffu;",
            f"{INDENT}mantissa |= exponent > 0 ? 0x800000u : 0u;",
            f"{INDENT}uint top = tops[number * {size} + {c}] >> 23;",
            f"{INDENT}int shift = base + max(exponent, 1) - int(max(top, 1u));",
            f"{INDENT}uint below = shift >= 0 ? mantissa << shift : 0u;",
            f"{INDENT}uint above = shift > 0 ? mantissa >> (32 - shift) : 0u;",
            f"{INDENT}if (shift < 0 && shift > -26)",
            f"{INDENT * 2}below = (mantissa + (1u << (-shift - 1))) >> -shift;",
            f"{INDENT}if (bits >> 31 != 0u) {{",
            f"{INDENT * 2}below = ~below + 1u;",
            f"{INDENT * 2}above = ~above + uint(below == 0u);",
            f"{INDENT}}}",
            f"{INDENT}if (exponent < 255 && (below | above) != 0u) {{",
            f"{INDENT * 2}int at_word = (number - low) * {size} + {c};",
            f"{INDENT * 2}uint before = atomicAdd(table[at_word], below);",
            f"{INDENT * 2}above += uint(before + below < before);",
            f"{INDENT * 2}if (above != 0u)",
            f"{INDENT * 3}atomicAdd(table[{ROOM // 2} + at_word], above);",
            f"{INDENT}}}",
            "}",
        ]
    return lines


def _sums_left(size: int) -> list[str]:
    return [
        f"int at_word = number_of % parts * 2 * words_in + low * {size} + k;",
        "sums[at_word] = table[k];",
        f"sums[at_word + words_in] = table[{ROOM // 2} + k];",
    ]


def _words(size: int) -> list[str]:
    """The words of a value of so many floats."""
    return words((vector("float", size),), "v")


def _finish_main() -> list[str]:
    """Lines that add up the parts of a sum, or put what is not finite in its place."""
    return [
        f"int k = int(gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * "
        f"{FINISHING}u);",
        "if (k >= extent.x)",
        f"{INDENT}return;",
        "uint low = 0u;",
        "uint high = 0u;",
        "for (int part = 0; part < extent.y; part++) {",
        f"{INDENT}uint below = sums[part * 2 * extent.x + k];",
        f"{INDENT}low += below;",
        f"{INDENT}high += sums[(part * 2 + 1) * extent.x + k] + uint(low < below);",
        "}",
        "int exponent = int(max(tops[k] >> 23, 1u)) - base - 150;",
        "bool is_negative = high >> 31 != 0u;",
        "if (is_negative) {",
        f"{INDENT}low = ~low + 1u;",
        f"{INDENT}high = ~high + uint(low == 0u);",
        "}",
        "uint found = rounded(high, low, exponent);",
        "found |= is_negative ? 0x80000000u : 0u;",
        "uint flags = tops[extent.x + k];",
        "if (flags != 0u)",
        f"{INDENT}found = flags == 1u ? 0x7f800000u : flags == 2u ? 0xff800000u : 0x7fc00000u;",
        "result0[k / extent.z * extent.w + k % extent.z] = found;",
    ]


def _rounded() -> list[str]:
    """The bits of the nearest float to (high, low) * 2**exponent, of two the even one: made by
    whole numbers, since devices may take floats below 2**-126 for zero."""
    return [
        "if ((high | low) == 0u)",
        f"{INDENT}return 0u;",
        "int left = high != 0u ? findMSB(high) + 32 : findMSB(low);",
        "int down = max(left - 23, -149 - exponent);  // bits that a float has no room for",
        "if (down > 63)",
        f"{INDENT}return 0u;",
        "uint kept = low;",
        "if (down > 0) {",
        f"{INDENT}kept = down >= 32 ? high >> (down - 32) : (low >> down) | "
        "(high << (31 - down) << 1);",
        f"{INDENT}uint half_of = down > 32 ? high >> (down - 33) & 1u : low >> (down - 1) & 1u;",
        f"{INDENT}uint rest = down > 32 ? low | (high & ((1u << (down - 33)) - 1u)) : "
        "low & ((1u << (down - 1)) - 1u);",
        f"{INDENT}kept += half_of & (uint(rest != 0u) | kept & 1u);",
        f"{INDENT}exponent += down;",
        "}",
        "int top = findMSB(kept);",
        "if (kept == 0u || exponent + top < -126)",
        f"{INDENT}return kept << max(exponent + 149, 0);",
        "if (exponent + top > 127)",
        f"{INDENT}return 0x7f800000u;",
        "uint digits = top > 23 ? kept >> (top - 23) : kept << (23 - top);",
        "return uint(exponent + top + 127) << 23 | (digits & 0x7fffffu);",
    ]
