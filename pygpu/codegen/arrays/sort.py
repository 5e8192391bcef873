"""Prints a radix sort of lines as GLSL compute programs: eight bits of the keys a round, the lowest
first, each round stable.

    sort_programs(task, dialect, in_software=False)

A round is three programs. Groups of threads take tiles of elements: `count` says how many of each
digit a tile has, `offsets` where those of a tile begin among all, and `move` puts the elements of a
tile in order in shared memory, by votes of subgroups (ranks.py) or by four bits at a time, and then
where they belong. Keys are words whose order is that of the elements, NaNs last. The first round
reads the image, the last one leaves results. Lines are told apart by rounds over their numbers,
which come last.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.arrays import ranks, subgroups
from pygpu.codegen.arrays.elements import ArrayText, Functions
from pygpu.codegen.arrays.tiles import BARRIER, each_of, running_sums, tile, turns
from pygpu.codegen.glsl.lines import INDENT, lines_of
from pygpu.codegen.glsl.partials import function, struct
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.core.arrays import SortTask
from pygpu.core.host.records import record

THREADS: Final = 256
DIGITS: Final = 256
MOST: Final = 16  # elements of a thread, half as many where places are sorted with the keys
VOTED: Final = 12  # elements of a thread where subgroups vote: of 16, fewer groups have room
VOTED_PLACED: Final = 14  # the same where places are sorted with the keys
TAKEN: Final = subgroups.NAMES | frozenset(
    """extent row round_of bound keys_in keys_out places_in places_out counts totals result_keys
    result_places key_at place_at digit key original at_place store_key EACH DOWN each bins tile
    beside slot padded sums offsets starts keys places ranks goals mine""".split()
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
    groups: int  # of `offsets`


def sort_programs(task: SortTask, dialect: Dialect, in_software: bool) -> SortText:
    """The programs of a sort."""
    by_subgroups = dialect.subgroups
    each = _elements(task.is_placed, by_subgroups, in_software)
    at_once, down = (32, 8) if in_software else (4, 256)
    by = ranks.move if by_subgroups else _by_bits
    move = by(task.is_placed, each, in_software)
    count = [*_COUNT_SHARED, *function("void main()", _count_main(each, in_software))]
    texts = []
    for program in (count, move):
        functions = Functions.of_texel(task, dialect, TAKEN)
        images = len(functions.writer.read)
        body = [
            *struct((task.type,)),
            *functions.accessors,
            *functions.pixel,
            *_reading(task),
            *program,
        ]
        head = [
            f"layout(local_size_x = {THREADS}) in;",
            *_blocks(images),
            *each_of(each, in_software),
        ]
        needed = subgroups.EXTENSIONS if by_subgroups and program is move else ()
        texts.append(functions.finish(head, body, needed))
    head = [
        "#version 430 core",
        f"layout(local_size_x = {at_once * down}) in;",
        *_blocks(images),
        "#define EACH 8",
    ]
    text = lines_of([*head, *_offsets_program(at_once, down)])
    offsets = ArrayText(GlslProgram(text, [], []), ())
    return SortText(texts[0], offsets, texts[1], each, DIGITS // at_once)


def _elements(is_placed: bool, by_subgroups: bool, in_software: bool) -> int:
    """The elements of a thread."""
    if in_software:
        return 4
    if by_subgroups:
        return VOTED_PLACED if is_placed else VOTED
    return MOST // 2 if is_placed else MOST


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
        *function("ivec2 of_one_line(int i)", ["int line = 0;", f"return {place};"]),
        *function("uint on_line(uint place)", [
            "return extent.y < extent.x ? place % uint(extent.y) : place;",
        ]),
        *function("uint key(uint word)", _key(task)),
        *function("uint original(uint word)", _original(task)),
        *function("uint first_key(ivec2 p)", [f"return key({_word(task.kind)});"]),
        *function("uint digit(uint key, uint place)", [
            *([
                "if (round_of.w != 0)",
                f"{INDENT}return (place / uint(extent.y)) >> round_of.z & 255u;",
            ] if task.is_placed else []),  # several lines have places
            "return key >> round_of.z & 255u;",
        ]),
    ]  # fmt: skip


def _word(kind: str) -> str:
    return {
        "float": "floatBitsToUint(value(p).v0)",
        "int": "uint(value(p).v0)",
        "uint": "value(p).v0",
        "bool": "uint(value(p).v0)",
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
_COUNT_SHARED: Final = (f"shared uint starts[{DIGITS}];", "")


def _count_main(each: int, in_software: bool) -> list[str]:
    """Lines that count digits. All elements of a thread are read before the first is counted: with
    a branch or a division for each, none would be read before the one before it has come."""

    def some(word: str) -> list[str]:
        def one(k: str) -> list[str]:
            at = f"min(first + {k} * {THREADS} + thread, extent.x - 1)"
            return [f"words[{k}] = {word.format(at)};"]

        return [INDENT + line for line in turns(each, in_software, one)]

    def counted(k: str) -> list[str]:
        return [
            f"if (first + {k} * {THREADS} + thread < extent.x)",
            f"{INDENT}atomicAdd(starts[words[{k}] >> round_of.z & 255u], 1u);",
        ]

    return [
        *_TILE,
        "starts[thread] = 0u;",
        "uint words[MOST];",
        "if (round_of.x != 0 && extent.y == extent.x) {",
        *some("first_key(of_one_line({}))"),
        "} else if (round_of.x != 0) {",
        *some("first_key(at_place({}))"),
        "} else if (round_of.w != 0) {",
        *some("places_in[{}] / uint(extent.y)"),
        "} else {",
        *some("keys_in[{}]"),
        "}",
        *BARRIER,
        *turns(each, in_software, counted),
        *BARRIER,
        f"counts[number * {DIGITS} + thread] = starts[thread];",
    ]


def _offsets_program(at_once: int, down: int) -> list[str]:
    """The program that replaces the count of a digit in each tile by the sum of its counts in all
    tiles before, and makes totals of all tiles. A group works on `at_once` digits, with `down`
    threads for each."""
    threads = at_once * down
    main = [
        "int thread = int(gl_LocalInvocationIndex);",
        f"int digit = int(gl_WorkGroupID.x) * {at_once} + thread % {at_once};",
        f"int lane = thread / {at_once};",
        "uint carried = 0u;",
        f"for (int top = 0; top < extent.z; top += {down} * EACH) {{",
        f"{INDENT}uint own[EACH];",
        f"{INDENT}uint total = 0u;",
        f"{INDENT}for (int k = 0; k < EACH; k++) {{",
        f"{INDENT * 2}int tile = top + lane * EACH + k;",
        f"{INDENT * 2}own[k] = counts[min(tile, extent.z - 1) * {DIGITS} + digit];",
        f"{INDENT * 2}own[k] = tile < extent.z ? own[k] : 0u;",
        f"{INDENT}}}",
        f"{INDENT}for (int k = 0; k < EACH; k++)",
        f"{INDENT * 2}total += own[k];",
        *[INDENT + line for line in running_sums(threads, "total", at_once)],
        f"{INDENT}uint before = carried + sums[side + thread] - total;",
        f"{INDENT}carried += sums[side + {threads - at_once} + thread % {at_once}];",
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
    return [f"shared uint sums[{2 * threads}];", "", *function("void main()", main)]


def _by_bits(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """What puts the elements of a tile in order by four bits at a time, and moves them."""
    main = _move_main(is_placed, each, in_software)
    return [*_shared(is_placed, each), *function("void main()", main)]


def _move_main(is_placed: bool, each: int, in_software: bool) -> list[str]:
    is_first = "round_of.x != 0"
    place = f"{is_first} ? uint(from) : places_in[from]"
    lines = [
        *_TILE,
        "int left = extent.x - first;",
        "for (int k = 0; k < EACH; k++) {",
        f"{INDENT}int e = k * {THREADS} + thread;",
        f"{INDENT}int from = first + min(e, left - 1);",
        f"{INDENT}tile[slot(e)] = {is_first} ? first_key(at_place(from)) : keys_in[from];",
        *([f"{INDENT}beside[slot(e)] = {place};"] if is_placed else []),
        "}",
        *running_sums(THREADS, "totals[thread]"),
        f"uint offset = sums[side + thread] - totals[thread] + counts[number * {DIGITS} + thread];",
        *BARRIER,
        "uint keys[MOST];",
        *(["uint places[MOST];"] if is_placed else []),
        "uint ranks[MOST];",
        "for (int half_of = 0; half_of < 8; half_of += 4) {",
        *[INDENT + line for line in _half(is_placed, each, in_software)],
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
        *([f"{INDENT * 3}result_places[at] = on_line(place);"] if is_placed else []),
        f"{INDENT * 2}}}",
        f"{INDENT}}}",
        "}",
    ]


def _half(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """The tile put in order by four bits of the digit. A thread counts its own neighbours in two
    halves of words: in bins of the first eight values and of the others. What is behind the last
    element, copies of it, has the greatest value and stays behind."""

    def value(k: str) -> list[str]:
        place = f"places[{k}]" if is_placed else "0u"
        return [
            f"int e = thread * EACH + {k};",
            f"uint own = e < left ? digit(keys[{k}], {place}) : 255u;",
            "int value_of = int(own >> half_of & 15u);",
        ]

    def counted(k: str) -> list[str]:
        read, *rest = value(k)
        return [
            read,
            f"keys[{k}] = tile[slot(e)];",
            *([f"places[{k}] = beside[slot(e)];"] if is_placed else []),
            *rest,
            f"int bin = padded((value_of & 7) * {THREADS} + thread);",
            "int shift = (value_of >> 3) * 16;",
            "uint so_far = bins[bin];",
            f"ranks[{k}] = so_far >> shift & 0xffffu;",
            "bins[bin] = so_far + (1u << shift);",
        ]

    def put(k: str) -> list[str]:
        return [
            *value(k),
            f"uint first_of = bins[padded((value_of & 7) * {THREADS} + thread)];",
            f"int to = int(ranks[{k}] + (first_of >> (value_of >> 3) * 16 & 0xffffu));",
            f"tile[slot(to)] = keys[{k}];",
            *([f"beside[slot(to)] = places[{k}];"] if is_placed else []),
        ]

    return [
        "for (int k = 0; k < 8; k++)",
        f"{INDENT}bins[padded(k * {THREADS} + thread)] = 0u;",
        *turns(each, in_software, counted),
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
        *turns(each, in_software, put),
        *BARRIER,
    ]
