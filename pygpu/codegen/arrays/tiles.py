"""Lines of programs whose groups of threads have a tile of the elements each.

tile(256, "extent.z")          # `thread`, `number` of the tile, `first` of its elements
turns(16, False, lambda k: [f"sum += words[{k}];"])
running_sums(256, "own")       # `sums` from `side` on: of the words that threads have
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pygpu.codegen.glsl.lines import INDENT, braced

# After it threads of a group see what the others wrote into shared memory.
BARRIER: Final = ("memoryBarrierShared();", "barrier();")


def tile(threads: int, tiles: str) -> list[str]:
    """Which tile the group has, of so many, with `EACH` elements a thread."""
    return [
        "int thread = int(gl_LocalInvocationIndex);",
        "int number = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);",
        f"if (number >= {tiles})",
        f"{INDENT}return;",
        f"int first = number * {threads} * EACH;",
    ]


def turns(each: int, in_software: bool, body: Callable[[str], list[str]]) -> list[str]:
    """The lines of `body`, which is told the number of the element, for each element of a thread:
    put down one after the other, for what an array has at places that a loop counts goes to memory.
    In software a loop that is not unrolled, whose compilers take long for what is."""
    if in_software:
        return braced("for (int k = 0; k < EACH; k++)", body("k"))
    lines = []
    for k in range(each):
        some = body(str(k))
        is_alone = len(some) == 1
        lines += some if is_alone else ["{", *[INDENT + line for line in some], "}"]
    return lines


def running_sums(threads: int, word: str, apart: int = 1) -> list[str]:
    """`sums` from `side` on: the running sums of a word of each thread, over threads that are so
    far apart. `sums` has room for two words a thread."""
    return [
        "int side = 0;",
        f"sums[thread] = {word};",
        *BARRIER,
        f"for (int apart = {apart}; apart < {threads}; apart <<= 1) {{",
        f"{INDENT}uint sum = sums[side + thread];",
        f"{INDENT}sum += thread >= apart ? sums[side + thread - apart] : 0u;",
        f"{INDENT}side = {threads} - side;",
        f"{INDENT}sums[side + thread] = sum;",
        *[INDENT + line for line in BARRIER],
        "}",
    ]


def each_of(each: int, in_software: bool) -> list[str]:
    """The elements of a thread: in software a number that no compiler unrolls loops by."""
    if in_software:
        return ["uniform int each;", "#define EACH each", f"#define MOST {each}"]
    return [f"#define EACH {each}", f"#define MOST {each}"]
