"""What native code does with a job, on each thread that takes part: an image in tiles, several
stages in strips, or rounds, each of which reads what the one before has made.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.jobs.handover import hand_over
from pygpu.codegen.jobs.rounds import rounds
from pygpu.codegen.jobs.slots import ROUNDS, STAGES
from pygpu.codegen.jobs.strips import Rows, Strips
from pygpu.codegen.jobs.tiles import Tile, Tiles
from pygpu.codegen.llvm.boundary import place
from pygpu.codegen.llvm.text import Machine

_TAKE: Final = """
define internal void @take(ptr %job, ptr %scratch, i64 %step) #1 {{
entry:
  %at = getelementptr i8, ptr %job, i64 {stages}
  %stages = load i64, ptr %at, align 8
  %any = icmp ne i64 %stages, 0
  br i1 %any, label %several, label %plain
plain:
  %rounds_at = getelementptr i8, ptr %job, i64 {rounds}
  %rounds = load i64, ptr %rounds_at, align 8
  %again = icmp ne i64 %rounds, 0
  br i1 %again, label %many, label %one
many:
  call void @rounds(ptr %job, ptr %scratch)
  ret void
several:
  call void @strips(ptr %job, ptr %scratch, i64 %step)
  ret void
one:
  call void @tiles(ptr %job, ptr %scratch, i64 %step)
  ret void
}}
"""


def driver(machine: Machine) -> str:
    """The IR of `run(job, scratch)`, and of how threads come to it."""
    loops = Tile(machine), Tiles(machine), Rows(machine), Strips(machine)
    texts = [loop.write() for loop in loops]
    declared = {line for loop in loops for line in loop.code.declared.values()}
    take = _TAKE.format(stages=8 * STAGES, rounds=8 * ROUNDS)
    parts = place(machine), rounds(machine), take, hand_over(machine)
    return "\n".join([*texts, *sorted(declared), *parts])


__all__ = ["driver"]
