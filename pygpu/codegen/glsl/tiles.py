"""Prints functions that are put together for work groups (passes/blocks/tiling.py): a group makes a
tile of the results, and keeps what is between in shared memory.

    program = tile_program(tiling, inputs, outputs, dialect)

    for (int i = int(gl_LocalInvocationIndex); i < 544; i += 256) {     // a piece
        ivec2 at = ivec2(i % 68, i / 68 * 4);
        ivec2 p = origin - ivec2(2, 4) + at;
        ...
        tile0[(at.y + 1) * 68 + at.x] = value;
    }
    barrier();
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pygpu.codegen.glsl.compute import ComputeProgram, ComputeWriter, scoped, stored_texel
from pygpu.codegen.glsl.expressions.text import Text
from pygpu.codegen.glsl.lines import INDENT, braced, flat
from pygpu.codegen.glsl.writer import Dialect
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.blocks.tiling import ROWS, Piece, Tiling
from pygpu.ssa import Load, Op

THREADS: Final = (256, 1)  # of a work group


def tile_program(
    made: Tiling,
    inputs: Sequence[Format],
    outputs: Sequence[Format],
    dialect: Dialect,
    planar: bool = False,
) -> ComputeProgram:
    """The program of images that are read; pixels of `outputs` fill whole elements."""
    between = [
        Format(np.dtype(NUMPY_TYPE[image.type.kind]), image.type.size)
        for image in made.images[len(made.reads) :]
    ]
    formats = (*inputs, *between)
    writers: list[_PieceWriter] = []
    for piece in made.pieces:
        task = Task(piece.function, formats, outputs)
        writers.append(_PieceWriter(made, piece, task, dialect, writers[0] if writers else None))
    for writer in writers:
        writer.planar = planar
        writer.sources = [*range(len(inputs)), *[0] * len(between)]  # what is between has none
    last = writers[-1]
    body = [f"ivec2 origin = ivec2(gl_WorkGroupID.xy) * ivec2{made.size} + ivec2(0, top);"]
    for writer in writers:
        body += writer.loop()
        if writer.piece.makes:
            body.append("barrier();")
    for writer in writers:
        for index, value in enumerate(writer.function.uniforms):
            if value in writer.plan.uses:
                last.plan.uses.setdefault(last.function.uniforms[index], 1)
    shared = []
    for place, maker in enumerate(made.makers, len(made.reads)):
        piece = made.pieces[maker]
        count = piece.width * piece.height
        shared.append(f"shared {made.images[place].type} tile{place}[{count}];")
    width, height = made.size
    program = last.finish([*shared, "", *braced("void main()", body)], width, height, THREADS)
    program.threads = 1, 1  # a group makes as many pixels, whichever thread makes which
    return program


class _PieceWriter(ComputeWriter):
    """Writes one piece. Names, and what stands before `main`, are those of the first one's."""

    def __init__(
        self, made: Tiling, piece: Piece, task: Task, dialect: Dialect, first: _PieceWriter | None
    ) -> None:
        tiles = [f"tile{place}" for place in range(len(made.reads), len(made.images))]
        super().__init__(task, dialect, names_taken=["at", "i", "origin", *tiles])
        self.made, self.piece = made, piece
        if first is not None:
            self.namer = self.printer.namer = first.namer
            self.images, self.uniforms, self.targets = first.images, first.uniforms, first.targets
            self.read, self.sizes, self.data = first.read, first.sizes, first.data
            self.declared, self.printer.helpers = first.declared, first.printer.helpers

    def leaf(self, printer: object, op: Op) -> Text:
        count = len(self.made.reads)
        if isinstance(op.data, Load) and op.data.image >= count:
            return self.kept(op, op.data)
        if op.code in ("width", "height") and op.data >= count:
            return Text(f"{self.targets[0].size}.{'x' if op.code == 'width' else 'y'}")
        return super().leaf(self.printer, op)

    def kept(self, op: Op, data: Load) -> Text:
        """What shared memory has of an image."""
        maker = self.made.pieces[self.made.makers[data.image - len(self.made.reads)]]
        x, y = [self._within(op, data, maker, axis) for axis in range(2)]
        return Text(f"tile{data.image}[({y}) * {maker.width} + {x}]")

    def _within(self, op: Op, data: Load, maker: Piece, axis: int) -> str:
        """A column or row of a piece's area."""
        name, offset = "xy"[axis], (data.dx, data.dy)[axis] + maker.before[axis]
        operand = op.operands[axis]
        if operand is (self.function.x, self.function.y)[axis]:
            return _plus(f"at.{name}", offset - self.piece.before[axis])
        return _plus(f"({self.printer.text(operand)}) - origin.{name}", offset)

    def loop(self) -> list[str]:
        """The lines in which the threads of a group make the pixels of the piece's area."""
        piece = self.piece
        self.start()
        size = self.targets[0].size
        right, below = [
            f"p.{axis} >= {_plus(f'{size}.{axis}', more)}"
            for axis, more in zip("xy", piece.beyond, strict=True)
        ]
        first = "origin" if piece.before == (0, 0) else f"origin - ivec2{piece.before}"
        outside = [right, below] if piece.before == (0, 0) else ["p.x < 0", "p.y < 0", right, below]
        body = [
            f"ivec2 at = ivec2(i % {piece.width}, i / {piece.width} * {ROWS});",
            f"ivec2 p = {first} + at;",
            f"if ({' || '.join(outside)})",
            f"{INDENT}continue;",
            *flat(self.printer.statements(self.function.body.ops)),
            *(self._keeps() if piece.makes else self._results()),
        ]
        count = piece.width * piece.height // ROWS
        threads = THREADS[0] * THREADS[1]
        return braced(
            f"for (int i = int(gl_LocalInvocationIndex); i < {count}; i += {threads})", body
        )

    def _keeps(self) -> list[str]:
        lines = []
        for index, value in enumerate(self.function.outputs):
            tile, row = self.piece.makes[index // ROWS], index % ROWS
            text, type = str(self.printer.text(value)), self.printer.qualified(value)
            if type != str(value.type) and not text.isidentifier():  # only variables are precise
                name = self.namer.fresh("kept")
                lines.append(f"{type} {name} = {text};")
                text = name
            place = f"({_plus('at.y', row)}) * {self.piece.width} + at.x"
            lines.append(f"tile{tile}[{place}] = {text};")
        return lines

    def _results(self) -> list[str]:
        lines: list[str] = []
        size = self.targets[0].size
        for row in range(ROWS):
            stores: list[str] = []
            y = f"(p.y + {row})" if row else "p.y"
            for index, target in enumerate(self.targets):
                value = self.function.outputs[index * ROWS + row]
                before, text = stored_texel(self, target, value)
                stores += scoped([*before, *self.stores(target, [text], "p.x", y)])
            lines += braced(f"if ({y} < {size}.y)", stores) if row else stores
        return lines


def _plus(text: str, number: int) -> str:
    if number == 0:
        return text
    return f"{text} {'+' if number > 0 else '-'} {abs(number)}"
