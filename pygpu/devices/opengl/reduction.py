"""Folds on the compute target: programs of codegen/glsl/reduction.py over storage buffers.

    folded = fold(FoldTask(value, join, inputs, 1, types, BOTH))    # None where it does not fit
    folded.partials(storages, uniforms)    # arrays (rows, columns, channels), one for each part
    folded.whole(storages, uniforms)       # the same, (1, 1, channels)

A group folds at most 65536 texels, so that partial results of 16-bit ints are exact in 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.buffers import row_bytes
from pygpu.codegen.glsl.partials import DOWN_LANES, PARTIALS, ROWS
from pygpu.codegen.glsl.reduction import FoldTexts, fold_program
from pygpu.core.host.records import record
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import ALONG_X, ALONG_Y, BOTH, FoldProgram, FoldTask
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings, Ready
from pygpu.devices.opengl.buffers import COPY, read_buffer, upload
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer
from pygpu.devices.opengl.passes import kept
from pygpu.ssa import Constant

Array = NDArray[Any]
IDLE: Final = 1.125  # lanes for each chunk, at most: the others have nothing to fold
THREADS: Final = 1 << 17  # threads that fold an image of as many texels: they keep a GPU busy
FEWEST: Final = 4  # rounds of a lane, below which it is better to have fewer threads
COLUMNS: Final = 128  # lanes side by side where columns are folded, each through many rows
COMPONENTS: Final = 16  # of a value: with more, drivers take long to compile unrolled rounds
LAYOUTS: Final = 16  # that a program keeps
TEXEL: Final = row_bytes(Format(np.dtype("float32"), 4), 1)  # bytes of the widest image of one
NARROW: Final = 32  # lanes side by side that still read whole lines of the cache


def fold(task: FoldTask) -> Folded | None:
    """The fold's programs; None where the driver has no room for them."""
    with opengl.context() as gl:
        Bindings.check(task.value, gl.limits.uniform_components)
        if len(task.inputs) + 1 > gl.limits.storage_blocks:
            return None
        components = sum(type.size for type in task.types)
        unrolled = not gl.is_software and components <= COMPONENTS
        program = fold_program(task, gl.dialect, gl.limits.warp, unrolled)
        return None if program is None else Folded(gl, program, task.inputs)


@record(eq=False)
class _Layout:
    """How groups share texels of some sizes: shape of partial results, groups, and uniforms."""

    shape: tuple[int, int]
    groups: tuple[int, int]
    sizes: dict[str, Any]

    @property
    def parts(self) -> int:
        return self.shape[0] * self.shape[1]


class Folded(FoldProgram):
    """A fold's programs, made ready in the context when they first run."""

    def __init__(self, gl: Context, program: FoldTexts, inputs: Sequence[Format]) -> None:
        self.program, self.inputs = program, tuple(inputs)
        self.source = "\n".join([program.first.text, program.rest.text])
        self._make_ready(gl)

    def _make_ready(self, gl: Context) -> None:
        program = self.program
        self._first = Ready(gl, program.first.text, program.first)
        self._rest = Ready(gl, program.rest.text, program.rest)
        self._layouts: dict[Any, _Layout] = {}
        self._down: Ready | None = None  # made when it is first needed
        self._images = [i for i, name in enumerate(program.first.images) if name is not None]
        self._context = gl

    def takes(self, height: int, width: int) -> bool:
        return True

    def partials(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], fewest: bool = False
    ) -> list[Array]:
        """What groups have made of their parts of the image: arrays (rows, columns, channels),
        (H, n, C) along x and (n, W, C) along y."""
        with opengl.context() as gl:
            buffer, shape = self.dispatch(gl, inputs, uniforms)
            if fewest and self.program.along == ALONG_Y:
                buffer, shape = self._folded_down(gl, buffer, shape)
            return self._read(gl, buffer, shape)

    def _folded_down(
        self, gl: Context, buffer: Buffer, shape: tuple[int, int]
    ) -> tuple[Buffer, tuple[int, int]]:
        """Rows of partial results, folded into one."""
        rows, columns = shape
        if rows > 1 and self._down is None:
            self._down = Ready(gl, self.program.down.text, self.program.down)
        while rows > 1 and self._down is not None:
            ready, left = self._down, -(-rows // ROWS)
            read = [buffer.glo, *ready.bindings.buffers]
            (fewer,) = gl.results(read, [4 * left * columns * self.program.components])
            ready.bind_to(buffer, fewer)
            ready.set(count=(rows, left, columns))
            ready.dispatch(gl, -(-left * columns // DOWN_LANES))
            buffer, rows = fewer, left
        return buffer, (rows, columns)

    def whole(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Array]:
        """The fold of all texels, each part (1, 1, channels). `along` must be BOTH."""
        with opengl.context() as gl:
            return self._read(gl, self._whole(gl, inputs, uniforms), (1, 1))

    def kept(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Storage] | None:
        """See FoldProgram.kept. Bools are words here, and bytes in images: these are read."""
        if any(type.kind == "bool" for type in self.program.types):
            return None
        with opengl.context() as gl:
            buffer, place = self._whole(gl, inputs, uniforms), 0
            found = []
            for type in self.program.types:
                format = Format(np.dtype(NUMPY_TYPE[type.kind]), type.size, normalize=False)
                texel = buffer
                if len(self.program.types) > 1:
                    texel = gl.buffer(row_bytes(format, 1))
                    gl.copy(texel, buffer, format.nbytes, 4 * place)
                found.append(kept(texel, COPY, (1, 1), format, read_buffer))
                place += type.size
            return found

    def _whole(
        self, gl: Context, inputs: Sequence[Storage], uniforms: Sequence[Constant]
    ) -> Buffer:
        """A buffer that begins with the words of the fold of all texels."""
        assert self.program.along == BOTH
        buffer, (rows, columns) = self.dispatch(gl, inputs, uniforms)
        count = rows * columns
        ready = self._rest
        while count > 1:
            left = -(-count // (PARTIALS * self.program.rest_lanes))
            read = [buffer.glo, *ready.bindings.buffers]
            (fewer,) = gl.results(read, [self._nbytes(left)])
            ready.bind_to(buffer, fewer)
            ready.set(count=(count, left))
            ready.dispatch(gl, left)
            buffer, count = fewer, left
        return buffer

    def _nbytes(self, values: int) -> int:
        """Bytes of so many values: at least those of an image of one texel."""
        return max(4 * values * self.program.components, TEXEL)

    def dispatch(
        self, gl: Context, inputs: Sequence[Storage], uniforms: Sequence[Constant]
    ) -> tuple[Buffer, tuple[int, int]]:
        """A buffer of partial results, and how many rows and columns of them there are."""
        if self._context is not gl:
            self._make_ready(gl)
        ready = self._first
        key = tuple([(image.width, image.height) for image in inputs])
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[key] = self._layout(gl, inputs)
        held = [upload(gl, inputs[index]) for index in self._images]
        read = [*[each.glo for each in held], *ready.bindings.buffers]
        (buffer,) = gl.results(read, [self._nbytes(layout.parts)])
        ready.bind_to(*held, buffer)
        ready.set(**layout.sizes)
        ready.bindings.bind(uniforms)
        ready.held.dispatch(layout.groups, gl.limits.groups, ready.uniforms["top"], 1)
        return buffer, layout.shape

    def _layout(self, gl: Context, inputs: Sequence[Storage]) -> _Layout:
        """How groups share the texels of images of these sizes."""
        program = self.program
        height, width = inputs[0].height, inputs[0].width
        chunks = -(-width // program.pixels)
        across = _across(program, chunks)
        down = program.lanes // across
        rounds = _rounds(program, chunks * height, 1 if gl.is_software else THREADS)
        far = math.prod(rounds)
        is_high = 2 * height >= down * far or chunks <= across
        is_high = is_high and -(-chunks // across) <= gl.limits.groups
        is_tall = program.along == ALONG_Y or (program.along == BOTH and is_high)
        tile = (across, down * far) if is_tall else (across * far, down)
        groups = -(-chunks // tile[0]), -(-height // tile[1])
        rows = height if program.along == ALONG_X else groups[1]
        columns = width if program.along == ALONG_Y else groups[0]
        sizes: dict[str, Any] = {
            name: (image.width, image.height, row_bytes(format, image.width) // element)
            for name, format, element, image in zip(
                program.image_sizes, self.inputs, program.element_bytes, inputs, strict=True
            )
            if name
        }
        first, last = {
            BOTH: (program.lanes // 2, 1),
            ALONG_X: (across // 2, 1),
            ALONG_Y: (program.lanes // 2, across),
        }[program.along]
        sizes |= {
            "extent": (chunks, height, width // program.pixels, width),
            "across": across,
            "pace": (0, down) if is_tall else (across, 0),
            "rounds": rounds,
            "tile": tile,
            "top": 0,
            "parts": (columns, rows * columns),
            "folds": (first, last, max(2 * first - last, 0)),
        }
        return _Layout((rows, columns), groups, sizes)

    def _read(self, gl: Context, buffer: Buffer, shape: tuple[int, int]) -> list[Array]:
        """Words of a buffer as arrays, one for each part of a value."""
        words = np.empty((self.program.components, *shape), np.uint32)
        gl.download(buffer, words)
        gl.check()
        arrays, place = [], 0
        for type in self.program.types:
            part = words[place : place + type.size]
            dtype = np.int32 if type.kind == "bool" else NUMPY_TYPE[type.kind]
            seen = part.view(dtype)
            seen = seen.reshape(*shape, 1) if type.size == 1 else seen.transpose(1, 2, 0)
            arrays.append(seen.astype(NUMPY_TYPE[type.kind], order="C", copy=False))
            place += type.size
        return arrays


def _across(program: FoldTexts, chunks: int) -> int:
    """How many lanes of a group lie side by side, for rows of so many chunks."""
    lanes = program.lanes
    if program.along == ALONG_Y:
        return min(lanes, COLUMNS if chunks >= COLUMNS else COLUMNS // 2)
    if program.along == ALONG_X:  # a row becomes one value where its chunks are not too many
        return min(lanes, _power(-(-chunks // program.rounds[2])))
    best = min(lanes, _power(chunks))
    while best > NARROW and -(-chunks // best) * best > chunks * IDLE:
        best //= 2
    return best


def _rounds(program: FoldTexts, chunks: int, threads: int) -> tuple[int, int, int]:
    """The rounds of a lane for so many chunks: fewer where else threads would be too few."""
    outer, inner, count = program.rounds
    if program.along != ALONG_X:
        while outer * inner > FEWEST and chunks < threads * outer * inner * count:
            outer, inner = (outer // 2, inner) if outer >= inner else (outer, inner // 2)
    return outer, inner, count


def _power(number: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << (number - 1).bit_length()
