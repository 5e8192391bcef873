"""Prints running folds of lines as GLSL compute programs that read and write each element once.

    line_programs(task, "x", dialect, False)     # groups of threads take tiles of lines
    column_program(task, dialect, False)         # many columns: each group goes down its own

A tile of a line is folded by a work group: threads fold what is theirs, then what threads have is
scanned in shared memory. What stands before a tile is folded in a tree of FAN nodes a node, whose
leaves are the tiles: a tile waits for the nodes before its own on each level, folds them in their
order, and the last below a node leaves the node's fold. So the order is one and the same in every
run, errors of rounding grow with the logarithm of the length, and nobody waits for a long chain.
Groups take tiles by a ticket, so that they only wait for groups that run already. Where a driver
does not let groups wait for others (llvmpipe ends loops after 65535 rounds), other programs make
the nodes before, of which one reads all elements once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pygpu.codegen.arrays.elements import (
    SHARED,
    ArrayText,
    Functions,
    count_words,
    of_words,
    result_blocks,
    shared_bytes,
    stores,
    words,
)
from pygpu.codegen.arrays.tiles import BARRIER, each_of
from pygpu.codegen.glsl.lines import INDENT, braced
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.writer import Dialect
from pygpu.core.host.records import record
from pygpu.core.programs import FoldTask
from pygpu.types import Type

Layout = Literal["x", "y", "folded"]
THREADS: Final = 256
MOST: Final = 16  # elements of a thread
FAN: Final = 32  # nodes below a node
NODES: Final = 64  # threads of a group that makes nodes
ACROSS: Final = 32  # columns of a group that goes down
TAKEN: Final = frozenset(
    """place store there tile lanes look block before ticket status sums extent row sign epoch each
    EACH MOST across first line lane slot words_of own carried""".split()
)
_PLACES: Final[dict[str, str]] = {
    "x": "ivec2(i, line)",
    "y": "ivec2(line, i)",
    "folded": "ivec2(i % row, i / row)",
}


@record(frozen=False)
class ScanText:
    """A program. Results' buffers follow those of images, one for each part of a value; in programs
    of lines a ticket and states of nodes follow, then what nodes hold."""

    whole: ArrayText
    each: int  # elements of a thread
    sums: ArrayText | None = None  # makes the nodes of tiles, where groups do not wait
    nodes: ArrayText | None = None  # makes those of a level from those below


def elements_of(types: Sequence[Type]) -> int:
    """How many elements a thread has, of such values; 0: they have no room."""
    room = (SHARED - 4096) // THREADS - 2 * shared_bytes(types)
    each = MOST
    while each and each * shared_bytes(types) * 33 // 32 > room:
        each //= 2
    return each


def line_programs(
    task: FoldTask, layout: Layout, dialect: Dialect, in_software: bool
) -> ScanText | None:
    """The programs for lines along x or y, or one line that is folded into rows. None where values
    do not fit into shared memory. In software groups do not wait for others, and loops stay loops:
    their compilers take long for what is unrolled."""
    each = elements_of(task.types)
    if not each:
        return None
    how = task, layout, dialect, each, in_software
    whole = _of_lines(*how, _line_main(not in_software))
    if not in_software:
        return ScanText(whole, each)
    return ScanText(whole, each, _of_lines(*how, _sums_main()), _of_nodes(task, dialect))


def _of_lines(
    task: FoldTask, layout: Layout, dialect: Dialect, each: int, in_software: bool, main: list[str]
) -> ArrayText:
    """The program of lines with this main function."""
    types = tuple(task.types)
    functions = Functions.of(task, dialect, TAKEN)
    body = [
        *struct(types),
        *functions.joined,
        *functions.accessors,
        *functions.pixel,
        *_places(layout),
        *stores(types),
        f"shared Value tile[{THREADS * each + THREADS * each // 32}];",
        f"shared Value lanes[{2 * THREADS}];",
        f"shared Value look[{FAN}];",
        "shared uint ticket_of;",
        "",
        *function("int slot(int e)", ["return e + (e >> 5);"]),
        *_nodes(types),
        *function("void main()", main),
    ]
    results = len(functions.writer.read)
    head = [
        f"layout(local_size_x = {THREADS}) in;",
        "",
        *result_blocks(types, results),
        *_states(results + len(types)),
        "uniform ivec4 extent;  // elements of a line, lines, tiles of a line, nodes of a line",
        *each_of(each, in_software),
        "uniform int across;  // threads of a line",
        "uniform int row;  // elements of a row, where they are folded",
        "uniform int sign;  // 1, or -1 where scans begin at the end",
        "uniform uint epoch;  // of the states of nodes that are there",
    ]
    return functions.finish(head, body)


def _states(binding: int) -> list[str]:
    return [
        f"layout(std430, binding = {binding}) coherent volatile buffer status_block "
        "{ uint ticket; uint status[]; };",
        f"layout(std430, binding = {binding + 1}) coherent volatile buffer sums_block "
        "{ uint sums[]; };",
    ]


def _of_nodes(task: FoldTask, dialect: Dialect) -> ArrayText:
    """The program that makes nodes of those below, a thread each: those that are whole."""
    types = tuple(task.types)
    functions = Functions.of(task, dialect, TAKEN)
    count = count_words(types)
    given = of_words(types, [f"sums[node * {count} + {c}]" for c in range(count)])
    main = [
        "int number = int(gl_GlobalInvocationID.x) + extent.z * int(gl_GlobalInvocationID.y);",
        "if (int(gl_GlobalInvocationID.x) >= extent.z)",
        f"{INDENT}return;",
        "int line = number / extent.z;",
        f"int node = line * extent.w + extent.x + number % extent.z * {FAN};",
        f"Value folded = {given};",
        f"for (int k = 1; k < {FAN}; k++) {{",
        f"{INDENT}node++;",
        f"{INDENT}folded = join(folded, {given});",
        "}",
        "leave(line * extent.w + extent.y + number % extent.z, folded);",
    ]
    body = [*struct(types), *functions.joined, *_nodes(types), *function("void main()", main)]
    head = [
        f"layout(local_size_x = {NODES}) in;",
        "",
        *_states(0),
        "uniform ivec4 extent;  // the first node below, the first; nodes and all nodes of a line",
        "uniform uint epoch;",
    ]
    return functions.finish_join(head, body)


def column_program(task: FoldTask, dialect: Dialect, in_software: bool) -> ScanText | None:
    """The program for many columns: a group goes down ACROSS of them."""
    types = tuple(task.types)
    if THREADS * shared_bytes(types) > SHARED - 4096:
        return None
    each = max(min(MOST, 64 // count_words(types)), 1)
    functions = Functions.of(task, dialect, TAKEN)
    down = THREADS // ACROSS
    body = [
        *struct(types),
        *functions.joined,
        *functions.accessors,
        *functions.pixel,
        *_places("y"),
        *stores(types),
        f"shared Value lanes[{THREADS}];",
        f"shared Value carried[{ACROSS}];",
        "",
        *function("void main()", _column_main(down)),
    ]
    head = [
        f"layout(local_size_x = {THREADS}) in;",
        "",
        *result_blocks(types, len(functions.writer.read)),
        *each_of(each, in_software),
        "uniform ivec4 extent;  // elements of a line, lines",
        "uniform int row;",
        "uniform int sign;",
    ]
    return ScanText(functions.finish(head, body), each)


# ---------------------------------------------------------------- elements


def _places(layout: str) -> list[str]:
    """Where an element of a line is, counted from where its scan begins."""
    lines = ["if (sign < 0)", f"{INDENT}i = extent.x - 1 - i;", f"return {_PLACES[layout]};"]
    return function("ivec2 place(int line, int i)", lines)


# ---------------------------------------------------------------- the tree


def _nodes(types: Sequence[Type]) -> list[str]:
    count = count_words(types)
    leave = [
        *[f"sums[node * {count} + {c}] = {word};" for c, word in enumerate(words(types, "v"))],
        "memoryBarrierBuffer();",
        "atomicExchange(status[node], epoch);",
    ]
    take = [
        "while (status[node] != epoch)",
        f"{INDENT};",
        "memoryBarrierBuffer();",
        "return at(node);",
    ]
    there = of_words(types, [f"sums[node * {count} + {c}]" for c in range(count)])
    return [
        *function("void leave(int node, Value v)", leave),
        *function("Value at(int node)", [f"return {there};"]),
        *function("Value take(int node)", take),
    ]


def _tile_folded() -> list[str]:
    """A tile read, where each thread folds its own elements in place, and those of threads: `lanes`
    from `side` on have the fold of the thread's elements and of those before it. Behind the last
    element of a line stand copies of it, whose folds are not looked at."""
    return [
        "int thread = int(gl_LocalInvocationIndex);",
        "if (thread == 0) {",
        f"{INDENT}ticket_of = atomicAdd(ticket, 1u);",
        f"{INDENT}if (ticket_of == gl_NumWorkGroups.x * gl_NumWorkGroups.y - 1u)",
        f"{INDENT * 2}atomicExchange(ticket, 0u);",
        "}",
        *BARRIER,
        "int number = int(ticket_of);",
        f"int line = number / extent.z * ({THREADS} / across) + thread / across;",
        "int index = number % extent.z;",
        "if (extent.z > 1 && line >= extent.y)  // there are as many groups as fill a rectangle",
        f"{INDENT}return;",
        "int lane = thread % across;",
        "int first = index * across * EACH;",
        "int left = line < extent.y ? extent.x - first : 0;  // elements from this tile on",
        "int base = thread / across * across * EACH;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}ivec2 p = place(min(line, extent.y - 1), min(first + k * across + lane, "
        "extent.x - 1));",
        f"{INDENT}tile[slot(base + k * across + lane)] = value(p);",
        "}",
        *BARRIER,
        "int mine = lane * EACH;",
        "Value total = tile[slot(base + mine)];",
        "for (int k = 1; k < EACH; k++) {",
        f"{INDENT}Value one = join(total, tile[slot(base + mine + k)]);",
        f"{INDENT}tile[slot(base + mine + k)] = one;",
        f"{INDENT}if (mine + k < left)",
        f"{INDENT * 2}total = one;",
        "}",
        "int side = 0;",
        "lanes[thread] = total;",
        *BARRIER,
        "for (int apart = 1; apart < across; apart <<= 1) {",
        f"{INDENT}Value folded = lanes[side + thread];",
        f"{INDENT}if (lane >= apart && mine < left)",
        f"{INDENT * 2}folded = join(lanes[side + thread - apart], folded);",
        f"{INDENT}side = {THREADS} - side;",
        f"{INDENT}lanes[side + thread] = folded;",
        *[INDENT + line for line in BARRIER],
        "}",
    ]


def _sums_main() -> list[str]:
    """Lines that store the fold of a tile, where another tile follows."""
    return [
        *_tile_folded(),
        f"if (thread == {THREADS - 1} && index < extent.z - 1)",
        f"{INDENT}leave(line * extent.w + index, lanes[side + thread]);",
    ]


def _line_main(waits: bool) -> list[str]:
    return [
        *_tile_folded(),
        "Value before;",
        "bool is_first = true;  // nothing is known to stand before",
        *braced("if (extent.z > 1)", _lookback(waits)),
        "if (lane > 0) {",
        f"{INDENT}Value others = lanes[side + thread - 1];",
        f"{INDENT}if (is_first)",
        f"{INDENT * 2}before = others;",
        f"{INDENT}else",
        f"{INDENT * 2}before = join(before, others);",
        f"{INDENT}is_first = false;",
        "}",
        "if (mine < left && !is_first) {",
        f"{INDENT}for (int k = 0; k < EACH; k++)",
        f"{INDENT * 2}tile[slot(base + mine + k)] = join(before, tile[slot(base + mine + k)]);",
        "}",
        *BARRIER,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int element = k * across + lane;",
        f"{INDENT}if (element < left)",
        f"{INDENT * 2}store(place(line, first + element), tile[slot(base + element)]);",
        "}",
    ]


def _lookback(waits: bool) -> list[str]:
    """The fold of all tiles before this one, level by level of the tree: `before`."""
    taken = "take" if waits else "at"
    return [
        f"Value block = lanes[side + {THREADS - 1}];",
        "bool is_whole = index < extent.z - 1;  // the node's tiles are there, and one follows",
        "int node = line * extent.w;",
        "int nodes = extent.z;",
        "int place_of = index;",
        "while (place_of > 0 || is_whole) {",
        *_left(waits),
        f"{INDENT}int earlier = place_of % {FAN};",
        f"{INDENT}if (earlier > 0) {{",
        f"{INDENT * 2}if (thread < earlier)",
        f"{INDENT * 3}look[thread] = {taken}(node + place_of - earlier + thread);",
        *[INDENT * 2 + line for line in BARRIER],
        f"{INDENT * 2}for (int apart = 1; apart < earlier; apart <<= 1) {{",
        f"{INDENT * 3}if (thread % (2 * apart) == 0 && thread + apart < earlier)",
        f"{INDENT * 4}look[thread] = join(look[thread], look[thread + apart]);",
        *[INDENT * 3 + line for line in BARRIER],
        f"{INDENT * 2}}}",
        f"{INDENT * 2}Value some = look[0];",
        f"{INDENT * 2}if (is_first)",
        f"{INDENT * 3}before = some;",
        f"{INDENT * 2}else",
        f"{INDENT * 3}before = join(some, before);",
        f"{INDENT * 2}is_first = false;",
        f"{INDENT * 2}block = join(some, block);",
        *[INDENT * 2 + line for line in BARRIER],
        f"{INDENT}}}",
        f"{INDENT}is_whole = is_whole && earlier == {FAN - 1};",
        f"{INDENT}node += nodes;",
        f"{INDENT}nodes = (nodes + {FAN - 1}) / {FAN};",
        f"{INDENT}place_of /= {FAN};",
        "}",
    ]


def _column_main(down: int) -> list[str]:
    body = [
        "int mine = top + lane * EACH;",
        "bool is_there = line < extent.y && mine < extent.x;",
        "Value own[MOST];",
        "if (is_there) {",
        f"{INDENT}for (int k = 0; k < EACH; k++)",
        f"{INDENT * 2}own[k] = value(place(line, min(mine + k, extent.x - 1)));",
        f"{INDENT}for (int k = 1; k < EACH; k++)",
        f"{INDENT * 2}own[k] = join(own[k - 1], own[k]);",
        f"{INDENT}lanes[thread] = own[EACH - 1];",
        "}",
        *BARRIER,
        "if (is_there) {",
        f"{INDENT}bool is_first = top == 0;",
        f"{INDENT}Value before;",
        f"{INDENT}if (!is_first)",
        f"{INDENT * 2}before = carried[thread % {ACROSS}];",
        f"{INDENT}for (int other = 0; other < lane; other++) {{",
        f"{INDENT * 2}Value one = lanes[other * {ACROSS} + thread % {ACROSS}];",
        f"{INDENT * 2}if (is_first)",
        f"{INDENT * 3}before = one;",
        f"{INDENT * 2}else",
        f"{INDENT * 3}before = join(before, one);",
        f"{INDENT * 2}is_first = false;",
        f"{INDENT}}}",
        f"{INDENT}if (!is_first) {{",
        f"{INDENT * 2}for (int k = 0; k < EACH; k++)",
        f"{INDENT * 3}own[k] = join(before, own[k]);",
        f"{INDENT}}}",
        f"{INDENT}for (int k = 0; k < EACH; k++) {{",
        f"{INDENT * 2}if (mine + k < extent.x)",
        f"{INDENT * 3}store(place(line, mine + k), own[k]);",
        f"{INDENT}}}",
        "}",
        *BARRIER,
        f"if (lane == {down - 1} && is_there)  // all rows are there if any follow",
        f"{INDENT}carried[thread % {ACROSS}] = own[EACH - 1];",
        *BARRIER,
    ]
    return [
        "int thread = int(gl_LocalInvocationIndex);",
        f"int line = int(gl_WorkGroupID.x) * {ACROSS} + thread % {ACROSS};",
        f"int lane = thread / {ACROSS};",
        *braced(f"for (int top = 0; top < extent.x; top += {down} * EACH)", body),
    ]


def _left(waits: bool) -> list[str]:
    """Lines that leave a node for the tiles that wait for it; none where tiles do not wait."""
    return [
        f"{INDENT}if (is_whole && thread == 0)",
        f"{INDENT * 2}leave(node + place_of, block);",
    ] if waits else []  # fmt: skip
