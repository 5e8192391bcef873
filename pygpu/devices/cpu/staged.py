"""Programs of the cpu target whose functions are taken apart into stages (passes/stages).

    program = compiled(task)              # a CpuStaged where that pays, else a CpuProgram
    program.plain                         # the function as it is: for small images and rounds

Both give the same bits, so it does not matter which one runs. Only sums that a loop adds up come in
another order in stages, for they would take too long to compile written out: there stages run
wherever strips can be made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm.plan import chooses
from pygpu.codegen.llvm.schedule import cost
from pygpu.core.boundaries import rows_read
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import Link, Planes, Prepared, Program, Task, Work
from pygpu.core.storage import Format, Storage, rows_of
from pygpu.devices.cpu.chunks import host
from pygpu.devices.cpu.given import Code, Given
from pygpu.devices.cpu.program import LAYOUTS, SMALL, CpuProgram
from pygpu.passes.analysis.taps import find_taps
from pygpu.passes.stages.extremes import Order
from pygpu.passes.stages.part import STORED, Part, stages
from pygpu.passes.stages.rank import factored
from pygpu.ssa import Constant, has, walk

with later():
    from pygpu.devices.cpu import strips

LEAST: Final = 5 * SMALL  # vector operations, below which stages are not worth their ado
# So many operations in lanes of bytes cost what one of floats costs in stages, whose rows are
# written and read besides. Means of 9 x 9 bytes have 4.6 times the operations of their stages and
# take 0.6 of the stages' time; means of 15 x 15 have 7.6 times as many and take 1.4 of it.
NARROW: Final = 5
WIDENED: Final = 25  # texels of a sum worth its stages where each is to be made a float first


def compiled(task: Task) -> CpuProgram | CpuStaged:
    """The program of a task."""
    given = Given(task)
    code, function = Code(given.task, host()), given.task.function
    if task.low:
        return CpuProgram(task, given, code)
    order = _order(task)
    made = factored(function, order, formats=task.inputs)
    parts = stages(made, as_wide=task.planar)
    is_widened = any(f.dtype.itemsize < 4 for f in task.inputs)
    if made is function and not parts and is_widened and not code.narrow:
        less = factored(function, order, WIDENED, task.inputs)
        of_less = stages(less, as_wide=task.planar)
        if of_less:
            return CpuStaged(task, given, of_less)
    is_written_out = made is not function and has(function, "loop")  # what a loop added up
    if not parts and (made is function or is_written_out):
        return CpuProgram(task, given, code)
    least = sum([cost(part.function.body) for part in parts]) if parts else cost(made.body)
    least += STORED * max(0, len(parts) - 2)  # one is counted in NARROW
    spares = cost(function.body) <= NARROW * least and not is_written_out
    if spares and (code.narrow or chooses(code.task)):
        return CpuProgram(task, given, code)
    if is_written_out:
        return CpuStaged(task, given, parts, is_written_out=True)
    given.task = replace(given.task, function=made)
    return CpuStaged(task, given, parts) if parts else CpuProgram(task, given)


def _order(task: Task) -> Order:
    """What windows are gone along first: rows. What is kept of these lies in other sets of a cache
    than its neighbours; rows of an image that is a power of two wide all lie in the same. Of
    planes layers and columns, if rules at edges give texels: such stages are as wide as planes."""
    loads = [op.data for op in walk(task.function.body) if op.code == "load"]
    is_given = all(each.boundary != "constant" for each in loads)
    return "planes" if task.planar and is_given else "rows"


class CpuStaged(Program):
    """See the module's head."""

    def __init__(
        self, task: Task, given: Given, parts: Sequence[Part], *, is_written_out: bool = False
    ) -> None:
        self.task, self.given, self.parts = task, given, parts
        self.is_written_out = is_written_out
        self.stages = [part.function for part in parts]
        self.cost = cost(given.task.function.body)
        self.linked: dict[Any, strips.CpuStrips | None] = {}  # for images of some sizes

    @cached_property
    def plain(self) -> CpuProgram:
        return CpuProgram(self.task, self.given)

    @cached_property
    def programs(self) -> list[CpuProgram]:
        """The stages."""
        inputs, found = tuple(self.task.inputs), []
        made: tuple[Format, ...] = ()
        for part in self.parts[:-1]:
            formats = inputs + made
            task = replace(self.task, function=part.function, inputs=formats)
            task = replace(task, outputs=_stored(task))
            made = tuple(task.outputs)
            found.append(CpuProgram(task))
        function = self.parts[-1].function
        last = replace(self.task, function=function, inputs=inputs + made)
        return [*found, CpuProgram(last)]

    @property
    def source(self) -> str:  # type: ignore[override]
        return "\n\n".join(program.source for program in self.programs)

    @property
    def driver_seconds(self) -> float:  # type: ignore[override]
        made = [*self.__dict__.get("programs", ()), self.__dict__.get("plain")]
        return float(sum([program.driver_seconds for program in made if program is not None]))

    def run(self, work: Work) -> list[Storage]:
        linked = None if self._is_small(work.shape) else self._linked(work)
        return self.plain.run(work) if linked is None else self._run_linked(linked, work)

    def _run_linked(self, linked: strips.CpuStrips, work: Work) -> list[Storage]:
        first = len(work.inputs)
        given = {n: array for n, array in enumerate(work.out, first) if array is not None}
        made = linked.run(dict(enumerate(work.inputs)), [work.uniforms], given)
        return [made[number] for number in range(first, first + len(work.out))]

    def _linked(self, work: Work, planes: Planes | None = None) -> strips.CpuStrips | None:
        shape = work.size
        key = (shape, planes, *[(each.height, each.width) for each in work.inputs])
        if key in self.linked:
            return self.linked[key]
        first = len(work.inputs)
        outputs = tuple(range(first, first + len(self.task.outputs)))
        found = strips.strips(
            [Link(self, self.task, tuple(range(first)), outputs)], set(outputs), shape, planes
        )
        if len(self.linked) >= LAYOUTS:
            self.linked = {}
        self.linked[key] = found
        return found

    def _is_small(self, shape: tuple[int, ...]) -> bool:
        is_small = math.prod(shape) * self.cost < LEAST * host().lanes
        return is_small and not self.is_written_out

    def prepared(
        self,
        sizes: Sequence[tuple[int, int]],
        shape: tuple[int, ...],
        strides: tuple[int, ...] = (),
        planes: Planes | None = None,
    ) -> Prepared | None:
        if self._is_small(shape):
            return self.plain.prepared(sizes, shape, strides, planes)
        if len(shape) != 2 and (planes is None or strides):
            return None
        return StagedPrepared(self, sizes, shape, planes)

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        return self.plain.run_rounds(work, rounds, state)

    def run_planes(self, work: Work, planes: Planes) -> list[Storage]:
        (height, width), linked = work.size, None
        is_as_wide = all(each.width == width for each in work.inputs)
        if is_as_wide and not self._is_small((planes.count, height, width)):
            linked = self._linked(work, planes)
        if linked is None:
            return self.plain.run_planes(work, planes)
        given = [*work.uniforms, 0] if self.task.planar else work.uniforms
        return self._run_linked(linked, work._replace(uniforms=given))

    def reach(self, index: int) -> tuple[int, int] | None:
        above = below = 0
        function = self.given.task.function
        taps = find_taps(function)
        for op in walk(function.body):
            if op.code != "load" or op.data.image != index:
                continue
            read = rows_read(op.data.boundary, max(-op.data.dy, 0), max(op.data.dy, 0))
            if op not in taps or index in self.given.widened or read is None:
                return None
            above, below = max(above, read[0]), max(below, read[1])
        return above, below


def _stored(task: Task) -> list[Format]:
    """How results of a stage are stored: as the texels that it chooses among, or as they are, which
    what lies outside of images may be, too."""
    values = task.function.outputs
    chosen = [task.inputs[0]] * len(values)
    loads = [op.data for op in walk(task.function.body) if op.code == "load"]
    is_outside = any(each.boundary == "constant" and any(each.cval) for each in loads)
    if not is_outside and chooses(replace(task, outputs=chosen)):
        return chosen
    return [Format(np.dtype(NUMPY_TYPE[v.type.kind]), v.type.size) for v in values]


@record(eq=False)
class StagedPrepared(Prepared):
    """A program of stages, for inputs and results of such sizes: see core/programs.py."""

    program: CpuStaged
    sizes: Sequence[tuple[int, int]]
    shape: tuple[int, ...]
    planes: Planes | None

    def run(
        self,
        inputs: Sequence[NDArray[Any]],
        uniforms: Sequence[Constant],
        out: Sequence[NDArray[Any]] | None,
    ) -> list[NDArray[Any]] | None:
        size, formats, planes = rows_of(self.shape), self.program.task.outputs, self.planes
        targets = [None if out is None else out[n].reshape(*size, -1) for n in range(len(formats))]
        every = zip(inputs, self.sizes, strict=True)
        work = Work([Storage.of(a.reshape(*s, -1)) for a, s in every], uniforms, size, targets)
        if planes is None:
            made = self.program.run(work)
        else:
            work = work._replace(uniforms=uniforms[:-1], shape=(size[0] // planes.count, size[1]))
            made = self.program.run_planes(work, planes)
        if out is not None:
            return list(out)
        channels = [() if format.channels == 1 else (format.channels,) for format in formats]
        return [m.host().reshape(*self.shape, *c) for m, c in zip(made, channels, strict=True)]
