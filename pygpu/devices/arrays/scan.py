"""Running folds on compute: programs of codegen/arrays/scan.py over storage buffers.

program = scan(FoldTask(value, join, inputs, 1, types, BOTH), "x")
program.run(storages, [], Lines("x", 480, 640))      # a storage for each part of a value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.codegen.arrays.scan import (
    ACROSS,
    FAN,
    NODES,
    THREADS,
    ScanText,
    column_program,
    line_programs,
)
from pygpu.core.arrays import Layout, Lines, ScanProgram
from pygpu.core.programs import FoldTask
from pygpu.core.storage import Storage
from pygpu.devices.arrays.ready import Programs, Ready, format_of, nbytes, result, stride
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer
from pygpu.ssa import Constant

IN_SOFTWARE = False  # whether it is used there, where passes take half the time
EPOCHS: Final = 1 << 31
ROOM: Final = 1 << 10  # nodes for which there is room at least


def scan(task: FoldTask, layout: Layout) -> Scanned | None:
    """The program; None where values have no room, or are bools, which no words are."""
    if any(type.kind == "bool" for type in task.types):
        return None
    with opengl.context() as gl:
        if gl.is_software and not IN_SOFTWARE:
            return None
        Bindings.check(task.value, gl.limits.uniform_components)
        if len(task.inputs) + len(task.types) + 2 > gl.limits.storage_blocks:
            return None
        text = line_programs(task, layout, gl.dialect, gl.is_software)
        return None if text is None else Scanned(gl, task, layout, text)


class Scanned(ScanProgram):
    """A scan's programs, made ready in the context when they first run."""

    def __init__(self, gl: Context, task: FoldTask, layout: Layout, text: ScanText) -> None:
        self.task, self.text = task, text
        self.source = text.whole.text
        self.down = column_program(task, gl.dialect, gl.is_software) if layout == "y" else None
        self._make_ready(gl)

    def _make_ready(self, gl: Context) -> None:
        self._ready = Programs(self.task.inputs).ready
        self._context, self._epoch, self._room = gl, 0, 0
        self._states: list[Buffer] = []

    def run(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], lines: Lines
    ) -> list[Storage]:
        """See arrays.ScanProgram."""
        shape = inputs[0].height, inputs[0].width
        formats = [format_of(type) for type in self.task.types]
        strides = tuple([stride(shape, format) for format in formats])
        sizes: dict[str, Any] = {
            "row": inputs[0].width,
            "sign": -1 if lines.reverse else 1,
            "strides": strides if len(strides) > 1 else strides[0],
        }
        with opengl.context() as gl:
            if self._context is not gl:
                self._make_ready(gl)
            is_down = self.down is not None and lines.lines >= ACROSS
            text = self.down if is_down and self.down else self.text
            ready = self._ready(gl, text.whole)
            images = ready.read(gl, inputs)
            read = [*[each.glo for each in images], *ready.bindings.buffers]
            if is_down:
                made = gl.results(read, [nbytes(shape, format) for format in formats])
                sizes |= {"extent": (lines.count, lines.lines, 1, 0), "each": text.each}
                ready.bind([*images, *made], inputs, **sizes)
                ready.dispatch(gl, -(-lines.lines // ACROSS), uniforms)
            else:
                made = self._along(gl, ready, inputs, images, uniforms, lines, sizes)
            return [result(held, shape, f) for held, f in zip(made, formats, strict=True)]

    def _along(
        self,
        gl: Context,
        ready: Ready,
        inputs: Sequence[Storage],
        images: Sequence[Buffer],
        uniforms: Sequence[Constant],
        lines: Lines,
        sizes: dict[str, Any],
    ) -> list[Buffer]:
        """The buffers of results of lines in tiles."""
        each = self.text.each
        across = min(THREADS, 1 << (-(-lines.count // each) - 1).bit_length())
        tiles = -(-lines.count // (across * each))
        groups = tiles * -(-lines.lines // (THREADS // across))
        levels = _levels(tiles)
        states = self._nodes(gl, sum(levels) * lines.lines)
        sizes["extent"] = lines.count, lines.lines, tiles, sum(levels)
        sizes |= {"across": across, "each": each}
        self._epoch = self._epoch % EPOCHS + 1
        shape = inputs[0].height, inputs[0].width
        room = [nbytes(shape, format_of(type)) for type in self.task.types]
        if self.text.sums is not None and tiles > 1:
            sums = self._ready(gl, self.text.sums)
            made = gl.results([each.glo for each in images], room)
            sums.bind([*images, *made, *states], inputs, **sizes)
            self._start(gl, sums, groups, uniforms)
            self._fold_nodes(gl, states, levels, lines)
        made = gl.results([*[i.glo for i in images], *ready.bindings.buffers], room)
        ready.bind([*images, *made, *states], inputs, **sizes)
        self._start(gl, ready, groups, uniforms)
        return made

    def _start(self, gl: Context, ready: Ready, groups: int, uniforms: Sequence[Constant]) -> None:
        if "epoch" in ready.uniforms:
            ready.uniforms["epoch"].value = self._epoch
        ready.dispatch(gl, groups, uniforms)

    def _fold_nodes(
        self, gl: Context, states: Sequence[Buffer], levels: Sequence[int], lines: Lines
    ) -> None:
        """Make the nodes above tiles, level by level, of whose lines there are so many."""
        assert self.text.nodes is not None
        ready = self._ready(gl, self.text.nodes)
        first = 0
        for below in levels[:-1]:
            whole = (below - 1) // FAN  # of the last one something may be missing
            gl.order.settle()
            if whole:
                extent = first, first + below, whole, sum(levels)
                ready.bind(states, [], extent=extent)
                ready.uniforms["epoch"].value = self._epoch
                ready.bindings.bind(())
                ready.held.glo.run(-(-whole // NODES), lines.lines, 1)
            first += below
        gl.order.settle()

    def _nodes(self, gl: Context, nodes: int) -> list[Buffer]:
        """The states of so many nodes and what they hold, after what programs do with them now."""
        if not self._states or nodes > self._room:
            self._room = max(nodes, ROOM)
            states = gl.buffer(4 * (1 + self._room))
            gl.write(states, np.zeros(1 + self._room, np.uint32))
            words = sum(type.size for type in self.task.types)
            self._states = [states, gl.buffer(4 * words * self._room)]
        gl.order.before(written=[each.glo for each in self._states])
        return self._states


def _levels(tiles: int) -> list[int]:
    """The nodes of a line on each level of the tree, of which the lowest are its tiles."""
    found = [tiles]
    while found[-1] > 1:
        found.append(-(-found[-1] // FAN))
    return found
