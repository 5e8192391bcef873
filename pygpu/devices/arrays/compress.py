"""Compressing on compute: programs of codegen/arrays/compress.py over storage buffers.

program = compress(task)                       # None: the driver has no room for what it takes
storages, total = program.run(Elements(storages, [], count), rows_of)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.codegen.arrays.compress import EACH, TILE, CompressText, compress_programs
from pygpu.core.arrays import CompressProgram, CompressTask, Elements
from pygpu.core.storage import Storage
from pygpu.devices.arrays.ready import Programs, format_of, nbytes, result
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.driver.context import Context

WORD: Final = 4


def compress(task: CompressTask) -> Compressed | None:
    """The program of a compression."""
    with opengl.context() as gl:
        Bindings.check(task.value, gl.limits.uniform_components)
        if len(task.inputs) + len(task.types) > gl.limits.storage_blocks:
            return None
        return Compressed(gl, task, compress_programs(task, gl.dialect, gl.is_software))


class Compressed(CompressProgram):
    """The programs of a compression, made ready in the context when they first run."""

    def __init__(self, gl: Context, task: CompressTask, text: CompressText) -> None:
        self.task, self.text = task, text
        self.source = text.move.text
        self._programs = Programs(task.inputs)
        self._texts = text.count, text.offsets, text.move
        self._programs.all(gl, *self._texts)  # a driver that refuses one says so now

    def run(
        self, of: Elements, rows_of: Callable[[int], tuple[int, int]]
    ) -> tuple[list[Storage], int]:
        """See arrays.CompressProgram."""
        inputs, uniforms, count = of
        tiles = -(-count // TILE)
        formats = [format_of(type) for type in self.task.types[1:]]
        sizes: dict[str, Any] = {"extent": (count, inputs[0].width, tiles), "each": EACH}
        with opengl.context() as gl:
            count_up, offsets, move = self._programs.all(gl, *self._texts)
            images, masks = move.read(gl, inputs), count_up.read(gl, inputs)
            read = [each.glo for each in (*images, *masks)]
            counts = gl.results([*read, *count_up.bindings.buffers], [WORD * (1 + tiles)])[0]
            count_up.bind([*masks, counts], inputs, **sizes)
            count_up.dispatch(gl, tiles, uniforms)
            gl.order.before([counts.glo], [counts.glo])
            offsets.bind([counts], [], tiles=tiles)
            offsets.dispatch(gl, 1)
            words = np.zeros(1, np.uint32)
            gl.download(counts, words)
            gl.check()
            total = int(words[0])
            shape = rows_of(max(total, 1))
            room = [_room(nbytes(shape, format)) for format in formats]
            made = gl.results([counts.glo, *read, *move.bindings.buffers], room)
            if total:
                move.bind([*images, counts, *made], inputs, **sizes)
                move.dispatch(gl, tiles, uniforms)
            pairs = zip(made, formats, strict=True)
            return [result(held, shape, format) for held, format in pairs], total


def _room(size: int) -> int:
    """The bytes of a buffer for so many: one of few sizes, so that others find it in the pool,
    though each call picks another number of elements."""
    step = max(256, 1 << max(size.bit_length() - 4, 0))
    return -(-size // step) * step
