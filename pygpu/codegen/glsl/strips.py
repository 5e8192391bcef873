"""How the lanes of a fold share an image out, in GLSL: a lane folds a strip of chunks, a group what
its lanes have. The functions of a chunk and of two values stand before: reduction.py.

    strips(count=8)             # Value strip(int x, int y): what a lane folds
    main(types, along, lanes)   # void main(): where it begins, and what the group leaves
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pygpu.codegen.glsl.lines import INDENT
from pygpu.codegen.glsl.partials import function, stores
from pygpu.core.programs import ALONG_X, ALONG_Y
from pygpu.types import Type

EDGE: Final = 4  # chunks that a lane loads at once where some may be missing


def tree(name: str, count: int, is_there: Callable[[int], str]) -> list[str]:
    """Fold name0, name1, ... by pairs into name0. `is_there(k)` prints whether the kth is there."""
    lines: list[str] = []
    step = 1
    while step < count:
        for left in range(0, count, 2 * step):
            right = left + step
            test = is_there(right)
            lines += [f"if ({test})"] if test else []
            indent = INDENT if test else ""
            lines.append(f"{indent}{name}{left} = join({name}{left}, {name}{right});")
        step *= 2
    return lines


def strips(count: int) -> list[str]:
    """What a lane folds: rounds of `count` chunks at once. Where all of these are there and full,
    nothing is tested; else they come few by few, so that the text stays short."""
    places = [f"x + {k} * pace.x, y + {k} * pace.y" if k else "x, y" for k in range(count)]
    full = [
        *(f"Value c{k} = chunk({place}, true);" for k, place in enumerate(places)),
        *tree("c", count, lambda k: ""),
        "return c0;",
    ]
    some = min(count, EDGE)
    tests = [f"is_there({place})" for place in places[:some]]
    nearest = [f"min({axis}, extent.{axis} - 1)" for axis in "xy"]
    edge = [
        "Value folded;",
        f"for (int k = 0; k < rounds.z; k += {some}) {{",
        f"{INDENT}if (is_there(x, y)) {{",
        *[
            f"{INDENT * 2}Value c{k} = edge_chunk({place});"
            for k, place in enumerate(places[:some])
        ],
        *[INDENT * 2 + line for line in tree("c", some, lambda k: tests[k])],
        f"{INDENT * 2}if (k == 0)",
        f"{INDENT * 3}folded = c0;",
        f"{INDENT * 2}else",
        f"{INDENT * 3}folded = join(folded, c0);",
        f"{INDENT}}}",
        f"{INDENT}x += {some} * pace.x;",
        f"{INDENT}y += {some} * pace.y;",
        "}",
        "return folded;",
    ]
    last = [f"{axis} + {count - 1} * pace.{axis}" if count > 1 else axis for axis in "xy"]
    lines = [
        "Value one;",
        f"if ({last[0]} < extent.z && {last[1]} < extent.y)",
        f"{INDENT}one = full(x, y);",
        "else",
        f"{INDENT}one = edge(x, y);",
    ]
    return [
        *function("Value full(int x, int y)", full),
        *function(
            "Value edge_chunk(int x, int y)", [f"return chunk({', '.join(nearest)}, false);"]
        ),
        *function("Value edge(int x, int y)", edge),
        *_strip(count, lines),
    ]


def plain_strip() -> list[str]:
    """What a lane folds, a texel at a time."""
    return _strip(1, ["Value one = value(ivec2(x, y));"])


def _strip(count: int, lines: Sequence[str]) -> list[str]:
    """The function of a lane's rounds within rounds. In each, lines make `one` of `count` chunks,
    of which the first is there. Compilers do not see how many rounds there are, so that none
    unrolls them."""
    inside = [
        *lines,
        "if (inner == 0)",
        f"{INDENT}part = one;",
        "else",
        f"{INDENT}part = join(part, one);",
    ]
    body = [
        "bool begins = is_there(x, y);",
        "Value part;",
        "for (int inner = 0; inner < rounds.y; inner++) {",
        f"{INDENT}if (is_there(x, y)) {{",
        *[INDENT * 2 + line for line in inside],
        f"{INDENT}}}",
        f"{INDENT}x += {count} * pace.x;",
        f"{INDENT}y += {count} * pace.y;",
        "}",
        "if (outer == 0)",
        f"{INDENT}folded = part;",
        "else if (begins)",
        f"{INDENT}folded = join(folded, part);",
    ]
    return function(
        "Value strip(int x, int y)",
        [
            "Value folded;",
            "for (int outer = 0; outer < rounds.x; outer++) {",
            *[INDENT + line for line in body],
            "}",
            "return folded;",
        ],
    )


def main(types: Sequence[Type], along: str, lanes: int) -> list[str]:
    """Where a lane begins, and what a group does with what its lanes have folded."""
    column = "x" if along == ALONG_Y else "group.x"
    row = "y" if along == ALONG_X else "group.y"
    body = [
        "ivec2 group = ivec2(gl_WorkGroupID.xy) + ivec2(0, top);",
        "ivec2 corner = group * tile;",
        "int lane = int(gl_LocalInvocationID.x);",
        "int x = corner.x + lane % across;",
        "int y = corner.y + lane / across;",
        "if (is_there(x, y))",
        f"{INDENT}lanes[lane] = strip(x, y);",
        "for (int apart = folds.x; apart >= folds.y; apart >>= 1) {",
        f"{INDENT}memoryBarrierShared();",
        f"{INDENT}barrier();",
        f"{INDENT}int other = lane + apart;",
        f"{INDENT}if ((lane & apart) == 0",
        f"{INDENT * 3}&& is_there(corner.x + other % across, corner.y + other / across))",
        f"{INDENT * 2}lanes[lane] = join(lanes[lane], lanes[other]);",
        "}",
        "if ((lane & folds.z) == 0 && is_there(x, y)) {",
        f"{INDENT}Value folded = lanes[lane];",
        f"{INDENT}int at = {row} * parts.x + {column};",
        *[INDENT + line for line in stores(types, "parts.y")],
        "}",
    ]
    return [f"shared Value lanes[{lanes}];", "", *function("void main()", body)]
