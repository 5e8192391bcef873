"""Lines of programs whose groups of threads have a tile of the elements each.

tile(256, "extent.z")          # `thread`, `number` of the tile, `first` of its elements
running_sums(256, "own")       # `sums` from `side` on: of the words that threads have
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.glsl.printer import INDENT

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


def running_sums(threads: int, word: str) -> list[str]:
    """`sums` from `side` on: the running sums of a word of each thread. `sums` has room for two
    words a thread."""
    return [
        "int side = 0;",
        f"sums[thread] = {word};",
        *BARRIER,
        f"for (int apart = 1; apart < {threads}; apart <<= 1) {{",
        f"{INDENT}uint sum = sums[side + thread];",
        f"{INDENT}sum += thread >= apart ? sums[side + thread - apart] : 0u;",
        f"{INDENT}side = {threads} - side;",
        f"{INDENT}sums[side + thread] = sum;",
        *[INDENT + line for line in BARRIER],
        "}",
    ]


__all__ = ["BARRIER", "running_sums", "tile"]
