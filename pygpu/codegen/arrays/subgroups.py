"""What the threads of a subgroup tell each other, without shared memory and without waiting for the
rest of their group: GL_KHR_shader_subgroup, where subgroups are of SUBGROUP threads.

    votes(is_there)                        # a word, with a bit for each thread where it holds
    before(7u)                             # the sum of the words of the threads before
    told(word, 3)                          # the word that thread 3 has

A thread is number `lane` of subgroup `team`; a group's words are `team * SUBGROUP + lane`.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.arrays.tiles import BARRIER
from pygpu.codegen.glsl.lines import INDENT
from pygpu.codegen.glsl.partials import function
from pygpu.codegen.glsl.writer import SUBGROUP

EXTENSIONS: Final = tuple(
    f"GL_KHR_shader_subgroup_{name}" for name in ("basic", "ballot", "arithmetic", "shuffle")
)
FUNCTIONS: Final = (
    *function("uint votes(bool holds)", ["return subgroupBallot(holds).x;"]),
    *function("uint before(uint word)", ["return subgroupExclusiveAdd(word);"]),
    *function("uint told(uint word, int who)", ["return subgroupShuffle(word, uint(who));"]),
)
NAMES: Final = frozenset("votes before told alike same lane team teams".split())
THREAD: Final = ("int lane = int(gl_SubgroupInvocationID);", "int team = int(gl_SubgroupID);")


def alike(bits: int) -> list[str]:
    """The function that gives the threads of a subgroup with the same word of so many bits."""
    lines = ["uint same = 0xffffffffu;", "uint set;"]
    for bit in range(bits):
        is_set = f"(word & {1 << bit}u) != 0u"
        lines += [f"set = votes({is_set});", f"same &= {is_set} ? set : ~set;"]
    return function("uint alike(uint word)", [*lines, "return same;"])


def sums_before(threads: int, word: str, name: str, room: int) -> list[str]:
    """A name for the sum of a word of each thread before this one, in the order of teams and lanes.
    `teams` has room for a word a team, from here on."""
    return [
        f"uint {name} = before({word});",
        f"if (lane == {SUBGROUP - 1})",
        f"{INDENT}teams[{room} + team] = {name} + {word};",
        *BARRIER,
        f"for (int other = 0; other < {threads // SUBGROUP}; other++)",
        f"{INDENT}{name} += other < team ? teams[{room} + other] : 0u;",
    ]
