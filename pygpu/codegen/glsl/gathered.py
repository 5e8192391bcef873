"""Results that a work group keeps in shared memory until all are there, and then stores side by
side.

Of pixels of three floats a thread has three elements of 16 bytes in a row. Stored one after the
other, each store of the group's threads leaves gaps that the next ones fill, and memory is written
in parts: on an H200 that takes 1.7 to 2.7 times as long as storing what lies next to each other.

    kept = kept_results(targets, blocked, threads, narrow, fresh)      # by the results' indices
    kept[0].declared                                                   # "shared vec4 kept[768];"
    kept[0].keep(["a", "b", "c"], row=1)                               # "kept[at + 192] = a;", ...
    kept[0].store()                                                    # after the group's barrier
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pygpu.codegen.glsl.buffers import element_bytes, element_type
from pygpu.codegen.glsl.lines import INDENT, braced
from pygpu.core.host.records import record
from pygpu.core.storage import Format
from pygpu.passes.blocks.block import Blocked

SHARED: Final = 32768  # bytes of a group that OpenGL 4.3 grants
FEW: Final = 16384  # bytes of which many groups are at work at once
TAKEN: Final = ("row", "column", "first")  # names within what is printed here


@record
class Target:
    """Names of a result: of its values, its buffer's data, and its size."""

    name: str
    format: Format
    data: str
    size: str


@record
class Kept:
    """A result of which each thread has `count` elements in each of its `rows`. `at` is a thread's
    first element in what the group keeps: its rows one below the other, as in the buffer."""

    name: str
    at: str
    type: str
    data: str
    size: str
    count: int
    rows: int
    threads: tuple[int, int]

    @property
    def pitch(self) -> int:
        """Elements of a row of the group's."""
        return self.count * self.threads[0]

    @property
    def declared(self) -> str:
        return f"shared {self.type} {self.name}[{self.pitch * self.rows * self.threads[1]}];"

    @property
    def begun(self) -> str:
        """The line that says where a thread's elements begin."""
        across = f"int(gl_LocalInvocationID.x) * {self.count}"
        return f"int {self.at} = {self._down()} * {self.pitch} + {across};"

    def keep(self, elements: Sequence[str], row: int) -> list[str]:
        """Lines that keep a thread's elements of one of its rows."""
        places = range(row * self.pitch, row * self.pitch + self.count)
        return [
            f"{self.name}[{self.at}{f' + {place}' if place else ''}] = {element};"
            for place, element in zip(places, elements, strict=True)
        ]

    def store(self) -> list[str]:
        """Lines that store what the group has kept, neighbouring threads neighbouring elements."""
        inside = f"p.y + row < {self.size}.y && first + column < {self.size}.z"
        place = f"(p.y + row) * {self.size}.z + first + column"
        element = f"{self.name}[({self._down()} + row) * {self.pitch} + column]"
        across = f"int column = int(gl_LocalInvocationID.x); column < {self.pitch}"
        each = [
            f"for ({across}; column += {self.threads[0]})",
            f"{INDENT}if ({inside})",
            f"{INDENT}{INDENT}{self.data}[{place}] = {element};",
        ]
        return [
            f"for (int row = 0; row < {self.rows}; row++) {{",
            f"{INDENT}int first = int(gl_WorkGroupID.x) * {self.pitch};",
            *[INDENT + line for line in each],
            "}",
        ]

    def _down(self) -> str:
        """The first of a thread's rows, of the group's."""
        y = "int(gl_LocalInvocationID.y)"
        return y if self.rows == 1 else f"{y} * {self.rows}"


def kept_results(
    targets: Sequence[Target],
    blocked: Blocked,
    threads: tuple[int, int],
    narrow: bool,
    fresh: Callable[[str], str],
) -> dict[int, Kept]:
    """The results that a group keeps, by their numbers: those of which a thread has several
    elements in a row, as far as there is room."""
    found, room = {}, SHARED
    for index, (target, texels) in enumerate(zip(targets, blocked.texels, strict=True)):
        row = target.format.nbytes * texels
        needed = row * blocked.rows * threads[0] * threads[1]
        count = row // element_bytes(target.format, narrow)
        if count > 1 and needed <= room:
            room -= needed
            found[index] = Kept(
                fresh(f"{target.name}_kept"),
                fresh(f"{target.name}_at"),
                element_type(target.format, narrow),
                target.data,
                target.size,
                count,
                blocked.rows,
                threads,
            )
    return found


def gathered(
    place: str, size: str, kept: Sequence[Kept], body: Sequence[str], stores: Sequence[str]
) -> list[str]:
    """The main function: `body` computes at `place` where there is a pixel, all threads of a group
    come to its barrier, and `stores` follow."""
    main = [
        f"ivec2 p = {place};",
        *[each.begun for each in kept],
        *braced(f"if (p.x < {size}.x && p.y < {size}.y)", body),
        "barrier();",
        *stores,
    ]
    return [*[each.declared for each in kept], "", *braced("void main()", main)]
