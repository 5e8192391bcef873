"""Prints what puts elements where a mask holds one after the other, as GLSL compute programs.

    compress_programs(task, dialect, in_software=False)

Groups of threads take tiles of elements. `count` says in how many elements of a tile the mask
holds, `offsets` where those of a tile begin, and how many there are in all; `move` finds where each
goes within its tile, by votes where subgroups vote, and copies it. No group waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from pygpu.codegen.arrays import subgroups
from pygpu.codegen.arrays.elements import ArrayText, Functions, words
from pygpu.codegen.arrays.tiles import BARRIER, running_sums, tile, turns
from pygpu.codegen.glsl.lines import INDENT, braced, lines_of
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.writer import SUBGROUP, Dialect, GlslProgram
from pygpu.core.arrays import CompressTask
from pygpu.core.host.records import record
from pygpu.types import Type

THREADS: Final = 256
EACH: Final = 16  # elements of a thread
TILE: Final = THREADS * EACH
AT_ONCE: Final = 8  # tiles of a thread of `offsets`, for each turn
WORDS: Final = 4  # of a value, up to which a thread keeps all of its own at once
TAKEN: Final = subgroups.NAMES | frozenset(
    """extent counts ranks sums slot each EACH thread number first left before at_place side held
    own total is_set mine kept""".split()
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
    if not moves:  # what is kept of elements is not read
        only = replace(task.value.body, results=task.value.outputs[:1])
        task = replace(task, value=replace(task.value, body=only), types=task.types[:1])
    functions = Functions.of_texel(task, dialect, TAKEN)
    binding, types = len(functions.writer.read), tuple(task.types)
    votes = moves and dialect.subgroups
    if moves:
        main = _move_by_votes(types, in_software) if votes else _move(types)
    else:
        main = _count(in_software)
    body = [
        *struct(types),
        *functions.accessors,
        *functions.pixel,
        *function("ivec2 at_place(int e)", ["return ivec2(e % extent.y, e / extent.y);"]),
        *main,
    ]  # fmt: skip
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
    return functions.finish(head, body, subgroups.EXTENSIONS if votes else ())


_TILE: Final = tile(THREADS, "extent.z")
_SUMS: Final = (f"shared uint sums[{2 * THREADS}];", "")
_EACH: Final = "for (int k = 0; k < EACH; k++)"


def _holds(at: str, place: str) -> list[str]:
    """Lines that read `v`, a value of the tile, and `is_set`, whether it is to be kept. Behind the
    last value the last is read again: with a branch for each value none would be read before the
    one before it has come."""
    return [
        f"Value v = value({place.format(f'min(first + {at}, extent.x - 1)')});",
        f"bool is_set = v.v0 != 0 && {at} < extent.x - first;",
    ]


def _by_rows(each: int, in_software: bool, body: Callable[[str, str], list[str]]) -> list[str]:
    """The lines of `body` for each element of a thread; within one row places take no division."""
    whole, parted = (
        braced("", turns(each, in_software, partial(_at, body, place)))
        for place in ("ivec2({}, 0)", "at_place({})")
    )
    return ["if (extent.y >= extent.x)", *whole, "else", *parted]


def _at(body: Callable[[str, str], list[str]], place: str, k: str) -> list[str]:
    return body(k, place)


def _count(in_software: bool) -> list[str]:
    def counted(k: str, place: str) -> list[str]:
        return [*_holds(f"{k} * {THREADS} + thread", place), "own += uint(is_set);"]

    main = [
        *_TILE,
        "uint own = 0u;",
        *_by_rows(EACH, in_software, counted),
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
    return [*_SUMS, *function("void main()", main)]


def _offsets_main() -> list[str]:
    """Lines that replace the count of each tile by the sum of the counts of all tiles before."""
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


def _move(types: Sequence[Type]) -> list[str]:
    """Elements are read side by side by threads, and ranked in the order of a thread's own: what
    is between goes through shared memory. The top bit of a rank says that the mask holds."""
    main = [
        *_TILE,
        f"{_EACH} {{",
        f"{INDENT}int e = k * {THREADS} + thread;",
        *[INDENT + line for line in _holds("e", "at_place({})")],
        f"{INDENT}ranks[slot(e)] = uint(is_set);",
        "}",
        *BARRIER,
        "uint own = 0u;",
        _EACH,
        f"{INDENT}own += ranks[slot(thread * EACH + k)];",
        *running_sums(THREADS, "own"),
        "uint before = counts[1 + number] + sums[side + thread] - own;",
        f"{_EACH} {{",
        f"{INDENT}uint held = ranks[slot(thread * EACH + k)];",
        f"{INDENT}ranks[slot(thread * EACH + k)] = before | held << 31;",
        f"{INDENT}before += held;",
        "}",
        *BARRIER,
        f"{_EACH} {{",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}uint rank = ranks[slot(e)];",
        f"{INDENT}if (rank >> 31 == 0u)",
        f"{INDENT * 2}continue;",
        f"{INDENT}uint to = rank & 0x7fffffffu;",
        f"{INDENT}Value v = value(at_place(first + e));",
        *[INDENT + line for line in _stores(types)],
        "}",
    ]
    return [
        f"shared uint ranks[{TILE + TILE // 32}];",
        *_SUMS,
        *function("int slot(int e)", ["return e + (e >> 5);"]),
        *function("void main()", main),
    ]


def _move_by_votes(types: Sequence[Type], in_software: bool) -> list[str]:
    """A subgroup has elements that follow one another, its threads neighbours of each turn: of
    their votes each counts those before its own. Short values are read at once, with the mask."""
    is_short = sum(type.size for type in types[1:]) <= WORDS

    def read(k: str, place: str) -> list[str]:
        holds = _holds(f"mine + {k} * {SUBGROUP}", place)
        return [*holds, f"held |= uint(is_set) << {k};", *([f"kept[{k}] = v;"] if is_short else [])]

    def ranked(k: str) -> list[str]:
        return [
            f"uint set = votes((held >> {k} & 1u) != 0u);",
            f"ranks[{k}] = own + uint(bitCount(set & (1u << uint(lane)) - 1u));",
            "own += uint(bitCount(set));",
        ]

    def put(k: str) -> list[str]:
        one = f"kept[{k}]" if is_short else f"value(at_place(first + mine + {k} * {SUBGROUP}))"
        return [
            f"if ((held >> {k} & 1u) != 0u) {{",
            f"{INDENT}uint to = from + ranks[{k}];",
            f"{INDENT}Value v = {one};",
            *[INDENT + line for line in _stores(types)],
            "}",
        ]

    main = [
        *_TILE,
        *subgroups.THREAD,
        f"int mine = team * {SUBGROUP} * EACH + lane;",
        "uint held = 0u;",
        *([f"Value kept[{EACH}];"] if is_short else []),
        *_by_rows(EACH, in_software, read),
        f"uint ranks[{EACH}];",
        "uint own = 0u;",
        *turns(EACH, in_software, ranked),
        "if (lane == 0)",
        f"{INDENT}teams[team] = own;",
        *BARRIER,
        "uint from = counts[1 + number];",
        "for (int other = 0; other < team; other++)",
        f"{INDENT}from += teams[other];",
        *turns(EACH, in_software, put),
    ]
    return [
        f"shared uint teams[{THREADS // SUBGROUP}];",
        "",
        *subgroups.FUNCTIONS,
        *function("void main()", main),
    ]


def _stores(types: Sequence[Type]) -> list[str]:
    """Lines that store a value `v` as element `to` of the results."""
    lines, given = [], words(types, "v")[1:]
    for part, type in enumerate(types[1:]):
        for c in range(type.size):
            at = "to" if type.size == 1 else f"to * {type.size}u + {c}u"
            lines.append(f"result{part}[{at}] = {given.pop(0)};")
    return lines
