"""Prints the program of a radix sort that puts a tile in order by all bits of a digit at once:
where the threads of a subgroup vote, each knows which of them have its digit.

    move(is_placed, each, in_software)     # what follows functions that read, see sort.py

A subgroup has elements that follow one another, of which its threads take neighbours in each turn.
Turn by turn the first thread of those with one digit counts them, and tells the others how many its
subgroup had before; so each knows its rank among those of its digit, and once all are counted, its
place on the tile.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.arrays import subgroups
from pygpu.codegen.arrays.tiles import BARRIER, tile, turns
from pygpu.codegen.glsl.lines import INDENT
from pygpu.codegen.glsl.partials import function
from pygpu.codegen.glsl.writer import SUBGROUP

THREADS: Final = 256  # of a group, and digits
TEAMS: Final = THREADS // SUBGROUP
_TEAMS: Final = f"for (int other = 0; other < {TEAMS}; other++)"


def move(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """The program's own declarations and its main function, for so many elements of a thread."""
    words = THREADS * each
    how = is_placed, each, in_software
    main = [
        *tile(THREADS, "extent.z"),
        *subgroups.THREAD,
        f"thread = team * {SUBGROUP} + lane;",
        "int left = extent.x - first;",
        f"int mine = team * {SUBGROUP} * EACH + lane;",
        _TEAMS,
        f"{INDENT}bins[other * {THREADS} + thread] = 0u;",
        *_read(*how),
        *BARRIER,
        *_ranked(*how),
        *BARRIER,
        *_starts(),
        *BARRIER,
        *_in_order(*how),
        *BARRIER,
        *_away(*how),
    ]
    return [
        f"shared uint tile[{words}];",
        *([f"shared uint beside[{words}];"] if is_placed else []),
        f"shared uint bins[{TEAMS * THREADS}];",
        f"shared uint goals[{THREADS}];",
        f"shared uint teams[{2 * TEAMS}];",
        "",
        *subgroups.FUNCTIONS,
        *subgroups.alike(8),
        *function("void main()", main),
    ]


def _read(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """Lines that read the elements of a thread; behind the last element they read it again."""

    def at(k: str) -> str:
        return f"first + min(mine + {k} * {SUBGROUP}, left - 1)"

    def some(name: str, word: str) -> list[str]:
        lines = turns(each, in_software, lambda k: [f"{name}[{k}] = {word.format(at(k))};"])
        return [INDENT + line for line in lines]

    return [
        "uint keys[MOST];",
        *(["uint places[MOST];"] if is_placed else []),
        "if (round_of.x != 0 && extent.y == extent.x) {",
        *some("keys", "first_key(of_one_line({}))"),
        *(some("places", "uint({})") if is_placed else []),
        "} else if (round_of.x != 0) {",
        *some("keys", "first_key(at_place({}))"),
        *(some("places", "uint({})") if is_placed else []),
        "} else {",
        *some("keys", "keys_in[{}]"),
        *(some("places", "places_in[{}]") if is_placed else []),
        "}",
    ]


def _digit(is_placed: bool, k: str) -> str:
    """The digit of an element of the thread; what is behind the last one has the greatest."""
    digit = f"digit(keys[{k}], {f'places[{k}]' if is_placed else '0u'})"
    return f"(mine + {k} * {SUBGROUP} < left ? {digit} : 255u)"


def _ranked(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """`ranks`: how many elements of the same digit the subgroup has before; `bins`: in all."""

    def ranked(k: str) -> list[str]:
        return [
            f"uint own = {_digit(is_placed, k)};",
            "uint same = alike(own);",
            "int who = findLSB(same);",
            "uint had = 0u;",
            "if (lane == who)",
            f"{INDENT}had = atomicAdd(bins[team * {THREADS} + int(own)], uint(bitCount(same)));",
            f"ranks[{k}] = told(had, who) + uint(bitCount(same & (1u << uint(lane)) - 1u));",
        ]

    return ["uint ranks[MOST];", *turns(each, in_software, ranked)]


def _starts() -> list[str]:
    """`bins`: where a subgroup's elements of a digit begin; `goals`: how far from where they go."""
    return [
        "uint total = 0u;",
        f"{_TEAMS} {{",
        f"{INDENT}uint some = bins[other * {THREADS} + thread];",
        f"{INDENT}bins[other * {THREADS} + thread] = total;",
        f"{INDENT}total += some;",
        "}",
        *subgroups.sums_before(THREADS, "total", "start", 0),
        *subgroups.sums_before(THREADS, "totals[thread]", "among", TEAMS),
        _TEAMS,
        f"{INDENT}bins[other * {THREADS} + thread] += start;",
        f"goals[thread] = among + counts[number * {THREADS} + thread] - start;",
    ]


def _in_order(is_placed: bool, each: int, in_software: bool) -> list[str]:
    def put(k: str) -> list[str]:
        bin = f"bins[team * {THREADS} + int({_digit(is_placed, k)})]"
        beside = [f"beside[to] = places[{k}];"] if is_placed else []
        return [f"uint to = ranks[{k}] + {bin};", f"tile[to] = keys[{k}];", *beside]

    return turns(each, in_software, put)


def _away(is_placed: bool, each: int, in_software: bool) -> list[str]:
    """Lines that move the tile's elements to where they belong among all: neighbouring threads move
    elements that are neighbours there."""

    def away(k: str, stores: list[str]) -> list[str]:
        return [
            f"int e = {k} * {THREADS} + thread;",
            "if (e < left) {",
            f"{INDENT}uint found = tile[e];",
            f"{INDENT}uint place = {'beside[e]' if is_placed else '0u'};",
            f"{INDENT}int to = int(goals[digit(found, place)]) + e;",
            *[INDENT + line for line in stores],
            "}",
        ]

    between = ["keys_out[to] = found;"]
    last = [
        "ivec2 p = extent.y == extent.x ? of_one_line(to) : at_place(to);",
        "int at = p.y * extent.w + p.x;",
        "result_keys[at] = original(found);",
    ]
    if is_placed:
        between.append("places_out[to] = place;")
        last.append("result_places[at] = on_line(place);")
    return [
        "if (round_of.y == 0) {",
        *[INDENT + line for line in turns(each, in_software, lambda k: away(k, between))],
        "} else {",
        *[INDENT + line for line in turns(each, in_software, lambda k: away(k, last))],
        "}",
    ]
