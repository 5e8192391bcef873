"""Numbers as words whose order, as of unsigned ones, is theirs: for atomic operations and sorts.

ordered_functions("float", "maximum")     # GLSL of `ordered`, and of the way back
"""

from __future__ import annotations

from pygpu.codegen.glsl.lines import INDENT
from pygpu.codegen.glsl.partials import function


def ordered_functions(kind: str, how: str) -> list[str]:
    """`uint ordered(uint)` and `uint original(uint)`. A NaN is the greatest where the greatest is
    looked for, else the least: so it is what remains."""
    there, back = _WAYS[kind]
    nan = "0xffffffffu" if how == "maximum" else "0u"
    return [
        *function("uint ordered(uint word)", [line.format(nan=nan) for line in there]),
        *function("uint original(uint word)", back),
    ]


_WAYS = {
    "float": (
        [
            "if ((word & 0x7fffffffu) > 0x7f800000u)",
            f"{INDENT}return {{nan}};",
            "return (word & 0x80000000u) != 0u ? ~word : word | 0x80000000u;",
        ],
        ["return (word & 0x80000000u) != 0u ? word & 0x7fffffffu : ~word;"],
    ),
    "int": (["return word ^ 0x80000000u;"], ["return word ^ 0x80000000u;"]),
    "uint": (["return word;"], ["return word;"]),
}

# The word that leaves other words as they are where the least or the greatest is looked for.
LEAST = {
    ("float", "maximum"): 0x007FFFFF,
    ("float", "minimum"): 0xFF800000,
    ("int", "maximum"): 0,
    ("int", "minimum"): 0xFFFFFFFF,
    ("uint", "maximum"): 0,
    ("uint", "minimum"): 0xFFFFFFFF,
}
