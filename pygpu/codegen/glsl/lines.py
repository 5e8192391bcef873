"""Lines of GLSL: in blocks, with the `break`s of loops, which may become their conditions; as text.

flat(block("if (found)", [Break(leave, stay, is_plain=True)]))      # ["if (found) {", ...]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pygpu.codegen.glsl.expressions.text import Text, wrap
from pygpu.core.host.records import record

INDENT: Final = "    "


@record
class Break:
    """`if (leave) break;`, which at the head of a loop becomes `while (stay)` if it is plain:
    compilers turn that into `if (!stay) break;`."""

    leave: Text
    stay: Text
    is_plain: bool


Line = str | Break


def block(head: str, lines: list[Line], always: bool = False) -> list[Line]:
    """The lines under a head, in braces unless one simple line says it all."""
    inner = flat(lines)
    if len(inner) == 1 and inner[0].endswith(";") and not always:
        return [head, INDENT + inner[0]]
    return [*braced(head, inner)]


def braced(head: str, lines: Iterable[str]) -> list[str]:
    """Lines in braces, under a head if there is one."""
    return [f"{head} {{".lstrip(), *[INDENT + line for line in lines], "}"]


def flat(lines: Iterable[Line]) -> list[str]:
    """Lines with their breaks spelled out."""
    texts: list[str] = []
    for line in lines:
        if isinstance(line, Break):
            texts += [f"if ({line.leave})", f"{INDENT}break;"]
        else:
            texts.append(line)
    return texts


def triangle(
    declared: Sequence[str] = (), handed: Sequence[str] = (), embedded: bool = False
) -> str:
    """The program of the vertices of a triangle over everything, and of what they hand on."""
    x, y = [f"gl_VertexID == {vertex} ? 3.0 : -1.0" for vertex in (1, 2)]
    main = braced("void main()", [*handed, f"gl_Position = vec4({x}, {y}, 0.0, 1.0);"])
    version = "300 es" if embedded else f"{430 if declared else 330} core"
    return lines_of([f"#version {version}", *declared, "", *main])


def lines_of(lines: Sequence[str]) -> str:
    """Lines as text, none wider than the page."""
    return "".join(f"{part}\n" for line in lines for part in wrap(line))


TRIANGLE: Final = triangle()
