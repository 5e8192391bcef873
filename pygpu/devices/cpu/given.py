"""What native code is given: a task's function as native code takes it, the tables that it looks up
and its inputs, as the code reads them.

Code reads words of four bytes; an image that cannot store the constant that lies outside
it is read as float32 or int32.

Calls that are given images of the same sizes again and again have their job prepared.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs import arrays, slots
from pygpu.codegen.llvm.text import Machine
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Frame, Planes, Prepared, Taken, Taking, Task
from pygpu.core.storage import Format, Storage, texels
from pygpu.devices.cpu.chunks import address, addresses
from pygpu.devices.cpu.layout import Block, Inner, Layout, stored_constant
from pygpu.devices.cpu.threads import POOL, Calls, Job
from pygpu.devices.process import reserve
from pygpu.devices.process.reserve import RESERVE
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.if_conversion import convert_all, convert_near
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Constant, Function, Load, Number, Value, walk
from pygpu.types import Type

with later():
    from pygpu.codegen.jobs import objects
    from pygpu.codegen.narrow import lookup
    from pygpu.codegen.narrow import values as narrow_values
    from pygpu.codegen.narrow import writer as narrow_lanes
    from pygpu.passes.blocks import flattened
    from pygpu.passes.lower import align, reroll

MAX_OPS: Final = 60_000
# Texels from anywhere that rounds fetch together which are worth a loop: ten bilinear samples. Such
# loops run as fast as what was unrolled, fewer rounds in up to 1.2 of the time.
FETCHED: Final = 40
HUGE: Final = 2**31  # bytes of an image that need indices of 64 bits


class Given:
    """See the module's head. `task` has the function to compile and the formats it reads."""

    def __init__(self, task: Task) -> None:
        inputs = task.inputs
        function = without_nans(task.function, inputs)
        # Lanes that disagree pay for both sides.
        function = apply((convert_all, *CLEAN, convert_near, *CLEAN), function)
        if sum(op.code == "load" for op in walk(function.body)) >= FETCHED:
            function = apply((lambda function: reroll.reroll(function, FETCHED),), function)
        if any(op.code == "loop" for op in walk(function.body)):
            function = apply((align.align,), function)
        self.size = sum(1 for _ in walk(function.body))
        if self.size > MAX_OPS:
            raise CompileError(
                f"{function.name} has {self.size} operations; native code takes {MAX_OPS}: loop "
                "over a table or a range given at run time instead of unrolling"
            )
        self.widened = _unrepresentable(function, inputs)
        stored = [
            Format(_wide_type(format), format.channels) if index in self.widened else format
            for index, format in enumerate(inputs)
        ]
        self.task = replace(task, function=function, inputs=stored)
        self.tables = [
            readable(np.ascontiguousarray(t.values), Format(t.values.dtype, 1, False))
            for t in function.tables
        ]

    def arrays(self, inputs: Sequence[Storage]) -> list[NDArray[Any]]:
        """The texels of inputs, as the code reads them."""
        return [self.array(index, storage) for index, storage in enumerate(inputs)]

    def array(self, index: int, storage: Storage) -> NDArray[Any]:
        """The texels of one of them."""
        array = storage.lying()
        if index in self.widened:
            array = np.ascontiguousarray(texels(array, self.widened[index]))
        return readable(array, self.task.inputs[index])


class Arrays(NamedTuple):
    """What a run reads, numbers included, and where it writes pixels of which shape."""

    arrays: list[NDArray[Any]]
    uniforms: Sequence[Constant]
    shape: tuple[int, int]
    results: list[NDArray[Any]]


@record(eq=False)
class Framed:
    """An image in several memories, as native code finds it (codegen/jobs/slots.py): its size, and
    for its own memory and each part of its frame where row 0 and column 0 of the image would be,
    and how many bytes a row has."""

    size: tuple[int, int]
    inner: Inner
    first: int
    around: tuple[tuple[int, int], ...]
    memory: tuple[NDArray[Any], ...]  # which must stay

    @classmethod
    def of(cls, own: NDArray[Any], frame: Frame, format: Format) -> Framed:
        """Of its own memory, and what is around it."""
        (height, width), texel = own.shape[:2], own.shape[2] * own.itemsize
        above, below, left, right = frame.sides
        given = frame.above, frame.below, frame.left, frame.right
        places = [(0, left), (above + height, left), (0, 0), (0, left + width)]
        parts = [
            (None if part is None else readable(part, format), *place)
            for part, place in zip(given, places, strict=True)
        ]
        around = [
            (0, 0)
            if part is None
            else (address(part) - row * part.strides[0] - column * texel, part.strides[0])
            for part, row, column in parts
        ]
        return cls(
            (above + height + below, left + width + right),
            Inner(above, left, height, width),
            address(own) - above * own.strides[0] - left * texel,
            tuple(around),
            tuple([part for part, _, _ in parts if part is not None]),
        )


def packing(types: Sequence[Type]) -> struct.Struct:
    """How constants of these types lie among a job's numbers of 64 bits: for what `parts` gives."""
    return struct.Struct(
        "=" + "".join(("f4x" if type.kind == "float" else "q") * type.size for type in types)
    )


def parts(constants: Sequence[Constant]) -> list[Number]:
    """The numbers of several constants."""
    return [
        part
        for constant in constants
        for part in (constant if isinstance(constant, tuple) else (constant,))
    ]


def alignment(format: Format) -> int:
    """What an image's address is divisible by: code reads words of four bytes, where texels have
    words of their own at their place."""
    return 4 if format.nbytes % 4 == 0 else 2 if format.nbytes % 2 == 0 else 1


def is_wide(arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether places in an array need 64 bits."""
    return any(len(array) * array.strides[0] >= HUGE for array in arrays)


def readable(array: NDArray[Any], format: Format) -> NDArray[Any]:
    """The array in memory of at least 4 bytes that begins where `alignment` says."""
    if array.itemsize >= 4 and array.flags.aligned and array.size:
        return array
    least = alignment(format)
    if array.nbytes >= 4 and (least == 1 or address(array) % least == 0):
        return array
    flat = np.zeros(array.size + 8 // array.itemsize, array.dtype)
    start = -address(flat) % 4 // array.itemsize
    flat[start : start + array.size] = array.ravel()
    return flat[start : start + array.size].reshape(array.shape)


class Code:
    """How a function is written: of one component, where the components of texels are treated
    alike, in narrow lanes, where it is for these, and as a table, where it is one of a byte."""

    def __init__(self, task: Task, machine: Machine) -> None:
        self.task, self.group = _by_component(task)
        self.machine = machine
        self.byte = None
        if all(format.dtype == np.uint8 for format in (*task.inputs, *task.outputs)):
            self.byte = lookup.of_bytes(task, machine)
        if self.byte is not None and narrow_lanes.narrowed(self.task, machine) is not None:
            self.byte = None  # its operations on bytes are fewer
        if self.byte is not None:
            self.task, self.group = self.byte.task, self.byte.group

    @cached_property
    def narrow(self) -> narrow_values.Narrow | None:
        """Its small values, read as bytes; None of a function written in lanes of floats."""
        if self.byte is not None:
            return narrow_lanes.of_a_table(self.byte)
        if not any(format.dtype == np.uint8 for format in self.task.inputs):
            return None
        return narrow_lanes.narrowed(self.task, self.machine)


def _by_component(task: Task) -> tuple[Task, int]:
    """The task as one of images of one component, with how many of these a texel has; the task
    itself, and 1, where components are not treated alike."""
    is_wide = any(value.type.size > 1 for value in task.function.outputs)
    found = flattened.flattened(task.function) if is_wide else None
    return (task, 1) if found is None else (of_channels(task, found[0], 1), found[1])


def of_channels(task: Task, function: Function, channels: int) -> Task:
    """The task of a function whose images and results have so many channels."""
    inputs, outputs = (
        [replace(format, channels=channels) for format in formats]
        for formats in (task.inputs, task.outputs)
    )
    return replace(task, function=function, inputs=inputs, outputs=outputs)


def is_used(function: Function, value: Value) -> bool:
    """Whether anything is computed of a value, or it is a result."""
    ops = list(walk(function.body))
    results = [function.outputs, *[region.results for op in ops for region in op.regions]]
    return any(value in some for some in [*results, *[op.operands for op in ops]])


def are_own(planes: Planes) -> bool:
    """Whether each plane of the result is made of the same planes of all inputs."""
    return all(
        read is not None and read.offset == 0 and read.depth == planes.count
        for read in planes.reads
    )


def _wide_type(format: Format) -> np.dtype[Any]:
    return np.dtype({"float": "float32", "uint": "uint32"}.get(format.kind, "int32"))


def _unrepresentable(function: Function, inputs: Sequence[Format]) -> dict[int, Format]:
    """The images that cannot store what lies outside them: they are read as float32 or int32."""
    result = {}
    for op in walk(function.body):
        data = op.data
        if isinstance(data, Load) and data.boundary == "constant":
            format = inputs[data.image]
            if not _storable(data.cval, format):
                result[data.image] = format
    return result


def _storable(cval: Sequence[float], format: Format) -> bool:
    """Whether an image of this format could have such a texel."""
    if format.dtype.name in ("float32", "int32", "uint32", "bool"):
        return True
    if format.dtype.kind != "f":
        limits = np.iinfo(format.dtype)
        scale = limits.max if format.kind == "float" else 1
        if not all(limits.min <= value * scale <= limits.max for value in cval):
            return False
    back = texels(stored_constant(cval, format), format)
    return np.array_equal(back, np.array(cval, back.dtype), equal_nan=format.dtype.kind == "f")


class How(NamedTuple):
    """How the jobs of a program run, on so many threads at most.
    `stream` gives a span that writes past the caches, if results lie so; `sides` the code for the
    ends of rows, once it is worth it."""

    calls: Calls
    span: int
    threads: int
    is_brief: bool  # nobody might wish to interrupt it
    is_tiny: bool  # so little work that one thread does it
    is_small: bool  # so little that nobody waits for another
    stream: Callable[[bool, Layout, Sequence[int]], int]
    sides: Callable[[Layout], int]


class Door:
    """Jobs of a prepared program that are given Python's objects, as a table says."""

    def __init__(self, prepared: CpuPrepared, listed: objects.Listed) -> None:
        self.prepared, self.listed = prepared, listed
        self.accept, self.size = prepared.calls.accept, prepared.layout.scratch
        self.blocks: list[Block] = []  # those not in use

    def enter(
        self, given: tuple[Any, ...], results: tuple[Any, ...], uniforms: Sequence[Constant] = ()
    ) -> bool:
        """Run it; False where objects are not as the table says: nothing has been done then."""
        prepared, size = self.prepared, self.size
        try:
            block = self.blocks.pop()
        except IndexError:
            block = self._block()
        if uniforms:
            prepared.layout.number(block, uniforms)
        if prepared.is_tiny:
            fits = self.accept(block.address, POOL.scratch(size), given, results)
        else:
            fits = self.accept(block.address, 0, given, results)
            if fits:
                prepared.go(Job(block, size, (prepared, given, results)))
        self.blocks.append(block)
        return bool(fits)

    def take(
        self, given: tuple[Any, ...], out: tuple[Any, ...] | None
    ) -> tuple[NDArray[Any], ...] | None:
        """See core/programs.Taking."""
        prepared = self.prepared
        if prepared.waits:
            prepared.find_sides()
        if out is None:
            out = tuple([np.empty(*kind) for kind in prepared.results])
        return out if self.enter(given, out) else None

    def _block(self) -> Block:
        """One more block, with the table."""
        prepared, layout = self.prepared, self.prepared.layout
        start = len(layout.numbers)
        table, inner = self.listed.table(start)
        numbers = [*layout.numbers, *table]
        numbers[slots.GIVEN] = start
        numbers[slots.SPAN], numbers[slots.SIDES] = prepared.span, prepared.sides
        block = Block(numbers, (*layout.inner, slots.GIVEN, *inner), layout.stop)
        for kind, place, value in self.listed.constants:
            if kind == "float":
                block.floats[place // 4] = value
            else:
                block.numbers[place // 8] = int(value)
        return block


class CpuPrepared(Prepared):
    """See core/programs.py. It holds all that a call needs, in the order of its use."""

    def __init__(self, task: Task, layout: Layout, shape: tuple[int, ...], how: How) -> None:
        self.layout, self.how = layout, how
        self.is_tiny, self.is_small = how.is_tiny, how.is_small
        self.threads = min(how.threads, layout.tiles)
        self.span, self.calls = how.span, how.calls
        self.waits, self.sides = layout.row_ends > 0, 0  # whether code for them may come
        self.results: Final = [
            (shape if f.channels == 1 else (*shape, f.channels), f.dtype) for f in task.outputs
        ]
        self.is_large = layout.written >= reserve.LEAST
        self.empty = RESERVE.empty if self.is_large else np.empty
        # How far results are to begin behind the first image, within a page.
        is_waited_for = task.inputs and layout.written >= reserve.WAITING
        self.apart = reserve.apart(layout.pitches[0]) if is_waited_for else None
        self.alignments = [alignment(format) for format in task.inputs]
        self.doors: list[Door] = []
        # Whether a job is given arrays as objects.
        self.is_given = not self.is_large and arrays.are_read()

    @cached_property
    def places(self) -> objects.Places:
        """Where objects go."""
        masks = [least - 1 for least in self.alignments]
        layout = self.layout
        return objects.Places([8 * n for n in layout.places], masks, 8 * layout.first_uniform)

    @cached_property
    def door(self) -> Door:
        """The way in of arrays that others have looked at."""
        return self._door(objects.any_arrays(self.places))

    def _door(self, listed: objects.Listed) -> Door:
        """One more way in."""
        self.doors.append(Door(self, listed))
        return self.doors[-1]

    def taking(self, taken: Sequence[Taken], out: Sequence[Taken] | None) -> Taking | None:
        if not self.is_given or self.apart is not None:
            return None
        uniforms = [uniform.type for uniform in self.layout.task.function.uniforms]
        listed = objects.listed(taken, out, self.places, uniforms)
        return None if listed is None else self._door(listed).take

    def run(
        self,
        inputs: Sequence[NDArray[Any]],
        uniforms: Sequence[Constant],
        out: Sequence[NDArray[Any]] | None,
    ) -> list[NDArray[Any]] | None:
        if out is not None:
            results = list(out)
        elif self.apart is None:
            results = [self.empty(*kind) for kind in self.results]
        else:
            at = address(inputs[0]) + self.apart
            results = [RESERVE.empty(*kind, at=at) for kind in self.results]
        if self.waits:
            self.find_sides()
        if self.is_given:
            fits = self.door.enter(tuple(inputs), tuple(results), uniforms)
        else:
            places = addresses((*inputs, *results))
            fits = self.run_at(places, uniforms, (inputs, results))
        return results if fits else None

    def find_sides(self) -> None:
        """Have the code for the ends of rows, once it is there."""
        self.sides = self.how.sides(self.layout)
        self.waits = not self.sides and self.layout.row_ends > 0
        if self.sides:
            for door in self.doors:
                door.blocks = []

    def run_at(self, places: Sequence[int], uniforms: Sequence[Constant], memory: Any) -> bool:
        """Run it for texels at these places in memory that stays, the inputs' first. False where a
        place is not as aligned as the code expects: nothing has been done then."""
        for place, least in zip(places, self.alignments, strict=False):
            if place % least:
                return False
        layout, how = self.layout, self.how
        stream = how.stream(False, layout, places) if self.is_large else 0
        block = layout.block(self.span, places, uniforms, stream, self.sides)
        if self.is_tiny:
            self.calls.run_held(block.address, POOL.scratch(layout.scratch))
        else:
            self.go(Job(block, layout.scratch, (self, memory)))
        layout.blocks.append(block)
        return True

    def go(self, job: Job) -> None:
        """Run a job on as many threads as it is worth."""
        if self.is_small:
            POOL.run_small(self.calls, job, self.threads)
        else:
            POOL.run(self.calls, job, self.threads, self.how.is_brief)
