"""What native code does with a job, on each thread that takes part: an image in tiles, several
stages in strips, or rounds, each of which reads what the one before has made. Strips are code of
their own (strips.py), which a job of several stages points at: few processes need it.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.jobs.arrays import accept
from pygpu.codegen.jobs.handover import hand_over
from pygpu.codegen.jobs.rounds import rounds
from pygpu.codegen.jobs.slots import ROUNDS, STRIPS
from pygpu.codegen.jobs.tiles import Tile, Tiles, together
from pygpu.codegen.llvm.text import Machine

_TAKE: Final = """
define internal void @take(ptr %job, ptr %scratch, i64 %step) #1 {{
entry:
  %strips_at = getelementptr i8, ptr %job, i64 {strips}
  %strips = load ptr, ptr %strips_at, align 8
  %any = icmp ne ptr %strips, null
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
  call void %strips(ptr %job, ptr %scratch, i64 %step)
  ret void
one:
  call void @tiles(ptr %job, ptr %scratch, i64 %step)
  ret void
}}
"""


def driver(machine: Machine) -> str:
    """The IR of `run(job, scratch)`, and of how threads come to it."""
    take = _TAKE.format(strips=8 * STRIPS, rounds=8 * ROUNDS)
    parts = rounds(machine), take, hand_over(machine), accept()
    return "\n".join([together([Tile(machine), Tiles(machine)], machine), *parts])
