"""Radix sorts on compute: programs of codegen/arrays/sort.py over storage buffers.

program = sort(task)
keys, places = program.run(storage, Lines("x", 480, 640), 0)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pygpu.codegen.arrays.sort import DIGITS, THREADS, SortText, sort_programs
from pygpu.core.arrays import Lines, SortProgram, SortTask
from pygpu.core.storage import Format, Storage
from pygpu.devices.arrays.ready import Programs, nbytes, result, stride
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer

PLACES: Final = Format(np.dtype("int32"), 1, normalize=False)
BUFFERS: Final = 9
WORD: Final = 4


def sort(task: SortTask) -> Sorted | None:
    """The program of a sort; None where the driver has no room for what it takes."""
    with opengl.context() as gl:
        if gl.limits.storage_blocks < BUFFERS:
            return None
        return Sorted(gl, task, sort_programs(task, gl.dialect, gl.is_software))


class Sorted(SortProgram):
    """The programs of a sort, made ready in the context when they first run."""

    def __init__(self, gl: Context, task: SortTask, text: SortText) -> None:
        self.task, self.text = task, text
        self.source = text.move.text
        self.words = task.inputs[0].dtype.itemsize == WORD
        self._programs = Programs(task.inputs)
        self._texts = text.count, text.offsets, text.move
        self._programs.all(gl, *self._texts)  # a driver that refuses one says so now

    def run(
        self, image: Storage, lines: Lines, bound: int
    ) -> tuple[Storage | None, Storage | None]:
        """See arrays.SortProgram."""
        shape, count = (image.height, image.width), lines.lines * lines.count
        bits = bound.bit_length() if self.task.is_bounded else self.task.bits
        rounds = [(shift, 0) for shift in range(0, bits, 8)] or [(0, 0)]
        line_bits = (lines.lines - 1).bit_length()
        rounds += [(shift, 1) for shift in range(0, line_bits, 8)]
        tiles = -(-count // (THREADS * self.text.each))
        with opengl.context() as gl:
            count_up, offsets, move = self._programs.all(gl, *self._texts)
            read = move.read(gl, [image])
            gl.order.before([each.glo for each in read])
            keys, places = self._pairs(gl, count, len(rounds))
            counts, totals = gl.buffer(WORD * DIGITS * tiles), gl.buffer(WORD * DIGITS)
            made = gl.results([each.glo for each in read], [nbytes(shape, PLACES)] * 2)
            sizes: dict[str, Any] = {
                "extent": (count, lines.count, tiles, stride(shape, PLACES)),
                "row": image.width,
                "bound": bound,
                "each": self.text.each,
            }
            steps = (count_up, tiles), (offsets, self.text.groups), (move, tiles)
            already: dict[int, Buffer] = {}
            for number, (shift, of_line) in enumerate(rounds):
                before, after = number % 2, (number + 1) % 2
                round_of = int(number == 0), int(number == len(rounds) - 1), shift, of_line
                buffers = [*read, keys[before], places[before], keys[after], places[after], counts]
                buffers += [totals, *made]
                for ready, groups in steps:
                    gl.order.settle()
                    ready.bind(buffers, [image], already, round_of=round_of, **sizes)
                    ready.dispatch(gl, groups)
            used = [*keys, *places, counts, totals, *made]  # what comes waits for the last step
            gl.order.before(written=[each.glo for each in used])
            kept = Format(image.dtype, 1, normalize=False)
            found = result(made[0], shape, kept) if self.words else None
            return found, result(made[1], shape, PLACES) if self.task.is_placed else None

    def _pairs(self, gl: Context, count: int, rounds: int) -> tuple[list[Buffer], list[Buffer]]:
        """Buffers of keys and of places before and after a round; small ones where none is used."""
        nothing = gl.buffer(WORD)
        pairs = []
        for is_needed in (True, self.task.is_placed):
            # The first round writes the second of a pair, the next one the first.
            some = [is_needed and rounds > 2, is_needed and rounds > 1]
            pairs.append([gl.buffer(WORD * count) if each else nothing for each in some])
        return pairs[0], pairs[1]
