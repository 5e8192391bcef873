"""Prints a radix sort of lines as GLSL compute programs: eight bits of the keys a round, the lowest
first, each round stable.

    sort_programs(task, dialect, in_software=False)

A round is three programs. Groups of threads take tiles of elements: `count` says how many of each
digit a tile has, `offsets` where those of a tile begin among all, and `move` puts the elements of a
tile in order in shared memory, by four bits at a time, and then where they belong. Keys are words
whose order is that of the elements, NaNs last. The first round reads the image, the last one leaves
results. Lines are told apart by rounds over their numbers, which come last.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.arrays.elements import ArrayText, Functions
from pygpu.codegen.arrays.tiles import BARRIER, running_sums, tile
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.printer import INDENT
from pygpu.codegen.glsl.writer import Dialect, GlslProgram, lines_of
from pygpu.core.arrays import SortTask
from pygpu.core.host.records import record

THREADS: Final = 256
DIGITS: Final = 256
MOST: Final = 16  # elements of a thread, half as many where places go along
DIGITS_AT_ONCE: Final = 32  # of a group that adds counts up
TAKEN: Final = frozenset(
    """extent row round_of bound keys_in keys_out places_in places_out counts totals result_keys
    result_places key_at place_at digit key original at_place store_key EACH DOWN each bins tile
    beside slot padded sums offsets starts""".split()
)
_PLACES: Final = {"x": "ivec2(i, line)", "y": "ivec2(line, i)", "folded": "ivec2(i % row, i / row)"}


@record(frozen=False)
class SortText:
    """Programs, whose buffers are those of the image, then by number: keys and places before and
    after a round, counts, totals, and the results' keys and places."""

    count: ArrayText
    offsets: ArrayText
    move: ArrayText
    each: int  # elements of a thread
    down: int  # threads of a group of `offsets` that share the tiles of a digit


def sort_programs(task: SortTask, dialect: Dialect, in_software: bool) -> SortText:
    """The programs of a sort."""
    each = 4 if in_software else MOST // 2 if task.is_placed else MOST
    down = 8 if in_software else 32
    texts = []
    for main in (_count_main(), _move_main(task.is_placed)):
        functions = Functions.of_texel(task, dialect, TAKEN)
        body = [
            *struct((task.type,)),
            *functions.accessors,
            *functions.pixel,
            *_reading(task),
            *_shared(task.is_placed, each),
            *function("void main()", main),
        ]
        head = [
            f"layout(local_size_x = {THREADS}) in;",
            *_blocks(len(functions.writer.read)),
            *_each(each, in_software),
        ]
        texts.append(functions.finish(head, body))
    head = [
        "#version 430 core",
        f"layout(local_size_x = {DIGITS_AT_ONCE * down}) in;",
        *_blocks(0),
        "#define EACH 8",
        f"#define DOWN {down}",
    ]
    text = lines_of([*head, *_offsets_program(down)])
    offsets = ArrayText(GlslProgram(text, [], []), ())
    return SortText(texts[0], offsets, texts[1], each, down)


def _each(each: int, in_software: bool) -> list[str]:
    """The elements of a thread: in software a number that no compiler unrolls loops by."""
    if in_software:
        return ["uniform int each;", "#define EACH each", f"#define MOST {each}"]
    return [f"#define EACH {each}", f"#define MOST {each}"]


def _blocks(first: int) -> list[str]:
    names = ("keys_in", "places_in", "keys_out", "places_out", "counts", "totals", "result_keys",
             "result_places")  # fmt: skip
    return [
        *(
            f"layout(std430, binding = {first + k}) buffer {name}_block {{ uint {name}[]; }};"
            for k, name in enumerate(names)
        ),
        "uniform ivec4 extent;  // elements, of a line, tiles, words of a row of results",
        "uniform ivec4 round_of;  // the first, the last; the shift, of a line's number (1)",
        "uniform int row;  // elements of a row, where they are folded",
        "uniform uint bound;  // keys from it on are equal to it",
    ]


# ---------------------------------------------------------------- keys


def _reading(task: SortTask) -> list[str]:
    """Functions of an element's number: its key, the place where it was, its digit of the round."""
    place = _PLACES[task.layout]
    return [
        *function("ivec2 at_place(int e)", [
            "int line = e / extent.y;",
            "int i = e - line * extent.y;",
            f"return {place};",
        ]),
        *function("uint key(uint word)", _key(task)),
        *function("uint original(uint word)", _original(task)),
        *function("uint key_at(int e)", [
            f"return round_of.x != 0 ? key({_word(task.kind)}) : keys_in[e];",
        ]),
        *function("uint place_at(int e)", [
            "return round_of.x != 0 ? uint(e) : places_in[e];",
        ] if task.is_placed else ["return 0u;"]),
        *function("uint digit(uint key, uint place)", [
            "if (round_of.w != 0)",
            f"{INDENT}return (place / uint(extent.y)) >> round_of.z & 255u;",
            "return key >> round_of.z & 255u;",
        ]),
    ]  # fmt: skip


def _word(kind: str) -> str:
    return {
        "float": "floatBitsToUint(value(at_place(e)).v0)",
        "int": "uint(value(at_place(e)).v0)",
        "uint": "value(at_place(e)).v0",
        "bool": "uint(value(at_place(e)).v0)",
    }[kind]


TOP: Final = "0xff000001u"  # the key of infinity: those of NaNs are greater


def _key(task: SortTask) -> list[str]:
    """The key of a word. Floats: zeros of both signs are equal where places go along."""
    if task.is_bounded:
        return ["return min(word, bound);"]
    if task.kind == "float":
        lines = ["if (word == 0x80000000u)", f"{INDENT}word = 0u;"] if task.is_placed else []
        lines.append("uint key = (word >> 31 != 0u ? ~word : word | 0x80000000u) - 0x007fffffu;")
        if task.descending:
            lines += [f"if (key <= {TOP})", f"{INDENT}key = {TOP} - key;"]
        return [*lines, "return key;"]
    lines = []
    if task.kind == "int":
        lines.append(f"word += {1 << task.bits - 1 if task.is_signed else 0}u;")
    if task.descending:
        lines.append(f"word = {2**task.bits - 1}u - word;")
    return [*lines, "return word;"]


def _original(task: SortTask) -> list[str]:
    """The word of a key of four bytes."""
    if task.is_bounded:
        return ["return word;"]
    if task.kind == "float":
        lines = [f"if (word <= {TOP})", f"{INDENT}word = {TOP} - word;"] if task.descending else []
        return [
            *lines,
            "word += 0x007fffffu;",
            "return word >> 31 != 0u ? word & 0x7fffffffu : ~word;",
        ]
    lines = [f"word = {2**task.bits - 1}u - word;"] if task.descending else []
    if task.kind == "int":
        lines.append(f"word -= {1 << task.bits - 1 if task.is_signed else 0}u;")
    return [*lines, "return word;"]


# ---------------------------------------------------------------- a round


def _shared(is_placed: bool, each: int) -> list[str]:
    words = THREADS * each * 33 // 32
    return [
        f"shared uint tile[{words}];",
        *([f"shared uint beside[{words}];"] if is_placed else []),
        f"shared uint bins[{8 * THREADS * 9 // 8}];",
        f"shared uint sums[{2 * THREADS}];",
        f"shared uint starts[{DIGITS}];",
        "",
        *function("int slot(int e)", ["return e + (e >> 5);"]),
        *function("int padded(int e)", ["return e + (e >> 3);"]),
    ]


_TILE: Final = tile(THREADS, "extent.z")


def _count_main() -> list[str]:
    return [
        *_TILE,
        "starts[thread] = 0u;",
        *BARRIER,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = first + k * {THREADS} + thread;",
        f"{INDENT}if (e < extent.x)",
        f"{INDENT * 2}atomicAdd(starts[digit(key_at(e), place_at(e))], 1u);",
        "}",
        *BARRIER,
        f"counts[number * {DIGITS} + thread] = starts[thread];",
    ]


def _offsets_program(down: int) -> list[str]:
    """Counts become those of all tiles before, digit by digit, and totals those of all."""
    threads = DIGITS_AT_ONCE * down
    main = [
        "int thread = int(gl_LocalInvocationIndex);",
        f"int digit = int(gl_WorkGroupID.x) * {DIGITS_AT_ONCE} + thread % {DIGITS_AT_ONCE};",
        f"int lane = thread / {DIGITS_AT_ONCE};",
        "uint carried = 0u;",
        "for (int top = 0; top < extent.z; top += DOWN * EACH) {",
        f"{INDENT}uint own[EACH];",
        f"{INDENT}uint total = 0u;",
        f"{INDENT}for (int k = 0; k < EACH; k++) {{",
        f"{INDENT * 2}int tile = top + lane * EACH + k;",
        f"{INDENT * 2}own[k] = counts[min(tile, extent.z - 1) * {DIGITS} + digit];",
        f"{INDENT * 2}own[k] = tile < extent.z ? own[k] : 0u;",
        f"{INDENT}}}",
        f"{INDENT}for (int k = 0; k < EACH; k++)",
        f"{INDENT * 2}total += own[k];",
        f"{INDENT}lanes[thread] = total;",
        *[INDENT + line for line in BARRIER],
        f"{INDENT}uint before = carried;",
        f"{INDENT}for (int other = 0; other < DOWN; other++) {{",
        f"{INDENT * 2}uint some = lanes[other * {DIGITS_AT_ONCE} + thread % {DIGITS_AT_ONCE}];",
        f"{INDENT * 2}before += other < lane ? some : 0u;",
        f"{INDENT * 2}carried += some;",
        f"{INDENT}}}",
        f"{INDENT}for (int k = 0; k < EACH; k++) {{",
        f"{INDENT * 2}int tile = top + lane * EACH + k;",
        f"{INDENT * 2}if (tile < extent.z)",
        f"{INDENT * 3}counts[tile * {DIGITS} + digit] = before;",
        f"{INDENT * 2}before += own[k];",
        f"{INDENT}}}",
        *[INDENT + line for line in BARRIER],
        "}",
        "if (lane == 0)",
        f"{INDENT}totals[digit] = carried;",
    ]
    return [f"shared uint lanes[{threads}];", "", *function("void main()", main)]


def _move_main(is_placed: bool) -> list[str]:
    lines = [
        *_TILE,
        "int left = extent.x - first;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}int from = first + min(e, left - 1);",
        f"{INDENT}tile[slot(e)] = key_at(from);",
        *([f"{INDENT}beside[slot(e)] = place_at(from);"] if is_placed else []),
        "}",
        *running_sums(THREADS, "totals[thread]"),
        f"uint offset = sums[side + thread] - totals[thread] + counts[number * {DIGITS} + thread];",
        *BARRIER,
        "uint keys[MOST];",
        *(["uint places[MOST];"] if is_placed else []),
        "uint ranks[MOST];",
        "for (int half_of = 0; half_of < 8; half_of += 4) {",
        *[INDENT + line for line in _half(is_placed)],
        "}",
    ]
    place = "beside[slot(e)]" if is_placed else "0u"
    before = "beside[slot(e - 1)]" if is_placed else "0u"
    return [
        *lines,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}uint d = digit(tile[slot(e)], {place});",
        f"{INDENT}if (e < left && (e == 0 || digit(tile[slot(e - 1)], {before}) != d))",
        f"{INDENT * 2}starts[d] = uint(e);",
        "}",
        *BARRIER,
        "sums[thread] = offset - starts[thread];  // of digits that are here",
        *BARRIER,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}if (e < left) {{",
        f"{INDENT * 2}uint found = tile[slot(e)];",
        f"{INDENT * 2}uint place = {place};",
        f"{INDENT * 2}int to = int(sums[digit(found, place)]) + e;",
        f"{INDENT * 2}if (round_of.y == 0) {{",
        f"{INDENT * 3}keys_out[to] = found;",
        *([f"{INDENT * 3}places_out[to] = place;"] if is_placed else []),
        f"{INDENT * 2}}} else {{",
        f"{INDENT * 3}ivec2 p = at_place(to);",
        f"{INDENT * 3}int at = p.y * extent.w + p.x;",
        f"{INDENT * 3}result_keys[at] = original(found);",
        *([f"{INDENT * 3}result_places[at] = place % uint(extent.y);"] if is_placed else []),
        f"{INDENT * 2}}}",
        f"{INDENT}}}",
        "}",
    ]


def _half(is_placed: bool) -> list[str]:
    """The tile put in order by four bits of the digit. A thread counts its own neighbours in two
    halves of words: in bins of the first eight values and of the others. What is behind the last
    element, copies of it, has the greatest value and stays behind."""
    place = "places[k]" if is_placed else "0u"
    value = "int(own >> half_of & 15u)"
    return [
        "for (int k = 0; k < 8; k++)",
        f"{INDENT}bins[padded(k * {THREADS} + thread)] = 0u;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = thread * EACH + k;",
        f"{INDENT}keys[k] = tile[slot(e)];",
        *([f"{INDENT}places[k] = beside[slot(e)];"] if is_placed else []),
        f"{INDENT}uint own = e < left ? digit(keys[k], {place}) : 255u;",
        f"{INDENT}int value_of = {value};",
        f"{INDENT}int bin = padded((value_of & 7) * {THREADS} + thread);",
        f"{INDENT}int shift = (value_of >> 3) * 16;",
        f"{INDENT}uint counted = bins[bin];",
        f"{INDENT}ranks[k] = counted >> shift & 0xffffu;",
        f"{INDENT}bins[bin] = counted + (1u << shift);",
        "}",
        *BARRIER,
        "uint total = 0u;",
        "for (int k = 0; k < 8; k++)",
        f"{INDENT}total += bins[padded(8 * thread + k)];",
        *running_sums(THREADS, "total"),
        f"uint before = sums[side + thread] - total + (sums[side + {THREADS - 1}] << 16);",
        "for (int k = 0; k < 8; k++) {",
        f"{INDENT}int bin = padded(8 * thread + k);",
        f"{INDENT}uint counted = bins[bin];",
        f"{INDENT}bins[bin] = before;",
        f"{INDENT}before += counted;",
        "}",
        *BARRIER,
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = thread * EACH + k;",
        f"{INDENT}uint own = e < left ? digit(keys[k], {place}) : 255u;",
        f"{INDENT}int value_of = {value};",
        f"{INDENT}uint first_of = bins[padded((value_of & 7) * {THREADS} + thread)];",
        f"{INDENT}int to = int(ranks[k] + (first_of >> (value_of >> 3) * 16 & 0xffffu));",
        f"{INDENT}tile[slot(to)] = keys[k];",
        *([f"{INDENT}beside[slot(to)] = places[k];"] if is_placed else []),
        "}",
        *BARRIER,
    ]


__all__ = ["DIGITS", "DIGITS_AT_ONCE", "THREADS", "SortText", "sort_programs"]
