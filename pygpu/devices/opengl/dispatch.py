"""Programs of the compute target, ready to be dispatched: what is bound, which sizes are set, over
how many groups of threads they run.

each = Pass(gl, text, range(1), [Format(float32, 1)])
(buffer,) = each.compute(gl, Work(storages, [1.5], (480, 640), [None]), None)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from pygpu.codegen.glsl.buffers import row_bytes
from pygpu.codegen.glsl.compute import ComputeProgram
from pygpu.core.programs import Planes, Work
from pygpu.core.sampler import indices
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.buffers import COPY, upload
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer
from pygpu.ssa import Constant

LAYOUTS: Final = 64  # sizes of results of which is remembered what they take
KEPT: Final = 8  # sizes of volumes of which a program remembers what is read


class _Launch(NamedTuple):
    """What a program is run on: images, of which it reads sizes alone, numbers, the size (H, W) of
    results, groups of threads across and down, buffers in the order in which they are bound, and
    the one of numbers computed ahead."""

    inputs: Sequence[Storage]
    uniforms: Sequence[Constant]
    size: tuple[int, int]
    groups: tuple[int, int]
    buffers: Sequence[Buffer]
    ahead: Sequence[Buffer] = ()
    planes: Planes | None = None


class Pass:
    """One program of the driver's, ready to be dispatched."""

    def __init__(
        self, gl: Context, text: ComputeProgram, indices: Sequence[int], outputs: Sequence[Format]
    ) -> None:
        Bindings.check_textures(gl, text, 0)
        self.held = gl.program(text.text, is_compute=True)
        self.program = self.held.glo
        self.indices, self.outputs = indices, outputs
        self.columns = text.columns * text.threads[0]  # of a group
        self.rows = text.rows * text.threads[1]
        self.images = [
            source for source, name in zip(text.sources, text.images, strict=True) if name
        ]
        self.bindings = Bindings(gl, self.held, text, 0)
        self.has_ahead = self.bindings.has_ahead
        self.image_sizes = [  # source, uniform, bytes of an element, whether it is of a view
            (source, self.program[name], element, source != index)
            for index, (source, (name, element)) in enumerate(
                zip(text.sources, text.image_sizes, strict=True)
            )
            if name is not None and name in self.program
        ]
        self.result_sizes = [
            (self.program[name], format, element)
            for (name, element), format in zip(text.result_sizes, outputs, strict=True)
            if name in self.program
        ]
        self.tables = [gl.constants(values) for values in text.stored]
        self.constants = [*self.bindings.buffers, *[table.glo for table in self.tables]]
        self.most = gl.limits.groups  # along an axis at once
        self.top = self.program.get("top", None)
        self.layouts: dict[tuple[int, int], tuple[list[int], tuple[int, int]]] = {}
        self.planes: dict[Planes, Buffer] = {}  # what is read of planes, as `_which` has it

    def compute(self, gl: Context, work: Work, planes: Planes | None) -> list[Buffer]:
        """See Pass."""
        inputs, size = work.inputs, work.size
        nbytes, groups = self.layouts.get(size) or self._layout(size)
        if planes is not None:
            nbytes = [planes.count * each for each in nbytes]
        read, ahead = self._split([upload(gl, each) for each in self._given(work)])
        more = [] if planes is None else [self._which(gl, planes)]  # which may take a barrier
        results = gl.results(self._read(read, ahead), nbytes)
        buffers = [*read, *results, *more]
        self._dispatch(_Launch(inputs, work.uniforms, size, groups, buffers, ahead, planes))
        return results

    def noted(self, gl: Context, work: Work, size: tuple[int, int]) -> list[Buffer] | None:
        """See Pass."""
        if self.held.context is not gl:
            return None
        inputs, read = work.inputs, self.constants.copy()
        found: list[Buffer] = []
        for each in self._given(work):
            held = each.copies.get(COPY)
            if held is None or held.context is not gl:
                return None
            found.append(held)
            read.append(held.glo)
        nbytes, groups = self.layouts.get(size) or self._layout(size)
        results: list[Buffer] | None = gl.kept_results(read, nbytes)
        if results is not None:
            images, ahead = self._split(found) if self.has_ahead else (found, [])
            launch = _Launch(inputs, work.uniforms, size, groups, images + results, ahead)
            gl.notes.put(partial(self._dispatch, launch))
        return results

    def _given(self, work: Work) -> list[Storage]:
        """The images that are read, and after them the numbers computed ahead, if any."""
        inputs = work.inputs
        images = [inputs[index] for index in self.images]
        return images + self.bindings.ahead(work) if self.has_ahead else images

    def _split(self, held: list[Buffer]) -> tuple[list[Buffer], list[Buffer]]:
        """What holds images, and what holds the numbers computed ahead."""
        count = len(self.images)
        return held[:count], held[count:]

    def _read(self, images: Sequence[Buffer], ahead: Sequence[Buffer]) -> list[Any]:
        """All buffers that are read."""
        return [*[held.glo for held in (*images, *ahead)], *self.constants]

    def _dispatch(self, launch: _Launch) -> None:
        """Run the program."""
        binding = 0
        for held in launch.buffers:
            held.glo.bind_to_storage_buffer(binding)
            binding += 1
        for table in self.tables:
            table.glo.bind_to_storage_buffer(binding)
            binding += 1
        self._set_sizes(launch)
        if self.bindings.has_any:
            self.bindings.bind(launch.uniforms, launch.ahead)
        deep = 1 if launch.planes is None else launch.planes.count
        self.held.dispatch(launch.groups, self.most, self.top, self.rows, deep)

    def _which(self, gl: Context, planes: Planes) -> Buffer:
        """The buffer that says which plane of each image is read for one of the result."""
        found = self.planes.get(planes)
        if found is None:
            numbers = np.full((planes.count, len(planes.reads)), -1, np.int32)
            places = np.arange(planes.count)
            for index, read in enumerate(planes.reads):
                if read is not None:
                    numbers[:, index] = indices(read.boundary, places + read.offset, read.depth)
            found = gl.buffer(max(numbers.nbytes, numbers.itemsize))
            gl.write(found, numbers)
            gl.order.settle()
            if len(self.planes) >= KEPT:
                self.planes.pop(next(iter(self.planes)))
            self.planes[planes] = found
        return found

    def _layout(self, shape: tuple[int, int]) -> tuple[list[int], tuple[int, int]]:
        """The bytes of each result of (H, W), and the groups of threads across and down."""
        height, width = shape
        nbytes = [height * row_bytes(format, width) for format in self.outputs]
        found = nbytes, (-(-width // self.columns), -(-height // self.rows))
        if len(self.layouts) >= LAYOUTS:
            self.layouts.clear()
        self.layouts[shape] = found
        return found

    def _set_sizes(self, launch: _Launch) -> None:
        """Set the uniforms of sizes, and `top` to 0, where they are not so already."""
        inputs, shape, planes = launch.inputs, launch.size, launch.planes
        sizes: list[Any] = [shape, planes]
        for index, *_ in self.image_sizes:
            image = inputs[index]
            sizes += image.width, image.height
        if sizes == self.held.sizes:
            return
        images = [inputs[index] for index, *_ in self.image_sizes]
        for image, (index, uniform, element, is_view) in zip(images, self.image_sizes, strict=True):
            plane = planes.reads[index] if planes else None
            rows = image.height if plane is None else image.height // plane.depth
            row = row_bytes(Format(image.dtype, image.channels), image.width)
            width = -(-image.width * image.channels // 4) if is_view else image.width
            uniform.value = width, rows, row // element
        height, width = shape
        for uniform, format, element in self.result_sizes:
            uniform.value = width, height, row_bytes(format, width) // element
        if self.top is not None:
            self.top.value = 0
        self.held.sizes = sizes
