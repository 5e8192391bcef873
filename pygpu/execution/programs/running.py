"""Programs run for storages: at once, in tiles where a device does not hold them, and planes of a
volume one after the other.

    run(made, Work(inputs, uniforms, (D, H, W), out))      # storages of D * H rows
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Limits
from pygpu.core.errors import OutOfMemory
from pygpu.core.host import log
from pygpu.core.host.later import later
from pygpu.core.programs import PlaneRead, Planes, Prepared, Work
from pygpu.core.storage import Storage, copy_turned, is_thin, rows_of
from pygpu.devices import targets
from pygpu.execution.programs.specialise import COMPILING, Specialisation, dump
from pygpu.ssa import Constant

with later():
    from pygpu.execution.programs import joined, strips, tiles
    from pygpu.passes.layout import planes, single, turned

LONG: Final = 1 << 10  # pixels of a column or a row that are worth a program of its own


def run(made: Specialisation, work: Work) -> list[Storage]:
    """The results, rows of which there are as many as the shape has. NotCut or OutOfMemory where
    the device does not hold what it takes."""
    limits = targets.limits(made.device)
    if made.planar is not None:
        return _by_planes(limits, made, made.planar, work)
    return _within(limits, made, work)


def ready(
    made: Specialisation, inputs: Sequence[Storage], shape: tuple[int, ...]
) -> Callable[[Work], list[Storage]] | None:
    """What runs again and again for storages of these sizes, at once and as they are; None where
    there is more to it, or the environment says what fits."""
    limits = targets.limits(made.device)
    if made.planar is not None or targets.is_limited():
        return None
    if limits is None:
        return made.program.run
    size = rows_of(shape)
    if is_thin(size) and size[0] >= LONG:
        return None
    made = _with_rows(made, Work(inputs, (), shape, ()), is_turned=False)
    absent = [Storage(s.height, s.width, s.channels, s.dtype) for s in inputs]  # at worst
    if not tiles.hold(limits, made, absent, size):
        return None
    return made.program.ready(size)


def _within(limits: Limits | None, made: Specialisation, work: Work) -> list[Storage]:
    """Run at once where the device holds that, else in tiles."""
    if limits is None:
        return made.program.run(work)
    size = work.size
    in_long_rows = joined.run(limits, made, work)
    if in_long_rows is not None:
        return in_long_rows
    if is_thin(size) and size[0] >= LONG:
        return _of_columns(limits, made, work)
    return _of_rows(limits, _with_rows(made, work, is_turned=False), work)


def _of_columns(limits: Limits, made: Specialisation, work: Work) -> list[Storage]:
    """Run for images that are turned: their short rows would leave most of a group of threads, and
    three of four pixels of a packed texel, without work."""
    inputs, uniforms, shape, out, _ = work
    height, width = rows_of(shape)
    columns = Work([each.turned() for each in inputs], uniforms, (width, height), [None] * len(out))
    other = _with_rows(made, columns, is_turned=True)
    results = []
    for turned_result, array in zip(_of_rows(limits, other, columns), out, strict=True):
        if array is not None:
            copy_turned(turned_result.host(), array)
        results.append(Storage.of_turned(turned_result) if array is None else Storage.of(array))
    return results


def _with_rows(made: Specialisation, work: Work, is_turned: bool) -> Specialisation:
    """The program for a result of these rows: of images that are turned, and, for a result of one
    long row, of those that have one row, too. Made when it is first needed."""
    flat: tuple[int, ...] = ()
    if work.shape[-1] >= LONG and work.size[0] == 1:
        flat = tuple([i for i, each in enumerate(work.inputs) if each.height == 1])
    if not is_turned and not flat:
        return made
    with COMPILING.lock:
        found = made.variants.get((is_turned, flat))
        if found is None:
            found = made.variants[is_turned, flat] = _variant(made, is_turned, flat)
    return found


def _variant(made: Specialisation, is_turned: bool, flat: Collection[int]) -> Specialisation:
    function = made.task.function
    if is_turned:
        function = turned.turned(function)
    if flat and single.reads_rows(function):
        function = single.of_one_row(function, flat)
    if function is made.task.function:
        return made
    task = replace(made.task, function=function)
    program = made.device.compile(task)
    dump("source", program.source)
    return replace(
        made,
        task=task,
        program=program,
        cut=None,
        stripped=None,
        joined=None,
        wrapped={},
        variants={},
    )


def _of_rows(limits: Limits, made: Specialisation, work: Work) -> list[Storage]:
    """Run a program for images as they are."""
    inputs, size = work.inputs, work.size
    if tiles.hold(limits, made, inputs, size):
        try:
            return made.program.run(work)
        except OutOfMemory as error:
            log.info("%s; trying tiles", error)
            needed = tiles.needed(made, inputs, size)
            limits = replace(limits, memory=min(limits.memory, max(needed // 4, 1)))
    row = strips.run(limits, made, work)
    return row if row is not None else tiles.run(limits, made, work)


# ---------------------------------------------------------------- frames


def run_frames(
    made: Specialisation, work: Work, count: int, varying: Mapping[int, tuple[int, ...]]
) -> list[Storage]:
    """Run for each frame of some inputs, frames of the shapes that `varying` says; the others are
    the same for all. The results lie one below the other."""
    inputs, uniforms, shape, out, _ = work
    rows, width = rows_of(shape)
    if made.planar is None and targets.limits(made.device) is None:
        frame = PlaneRead(0, "nearest", count)
        reads = tuple([frame if index in varying else None for index in range(len(inputs))])
        planes = Planes(count, reads)
        at_once = made.program.run_planes(work._replace(shape=(rows, width)), planes)
        if at_once is not None:
            return at_once
    found: list[list[Storage]] = [[] for _ in out]
    for t in range(count):
        images = [
            _frame(each, t, count, varying[index]) if index in varying else each
            for index, each in enumerate(inputs)
        ]
        place = slice(t * rows, (t + 1) * rows)
        parts = [None if array is None else array[place] for array in out]
        for results, result in zip(
            found, run(made, Work(images, uniforms, shape, parts)), strict=True
        ):
            results.append(result)
    return [
        Storage.of(array) if array is not None else Storage.stacked(results)
        for array, results in zip(out, found, strict=True)
    ]


def _frame(storage: Storage, t: int, count: int, shape: tuple[int, ...]) -> Storage:
    """A frame of a stack: a plane, or, of volumes, as many as a frame has."""
    if len(shape) < 3:
        return storage.plane(t)
    rows = storage.height // count
    return Storage.of(storage.host()[t * rows : (t + 1) * rows], shape)


# ---------------------------------------------------------------- planes


def _by_planes(
    limits: Limits | None, made: Specialisation, planar: planes.Planar, work: Work
) -> list[Storage]:
    """Run the function of one plane for each plane of the result."""
    inputs, uniforms, shape, out, _ = work
    *depths, height, width = (1, 1, *shape)[-3:]
    depth, host = depths[0], not made.device.copy
    given = [*uniforms, *_sides(planar, inputs)]
    images = [inputs[read.image] for read in planar.reads]
    if limits is None or tiles.hold(limits, made, images, (depth * height, width)):
        reads = tuple([_plane_read(read, inputs[read.image]) for read in planar.reads])
        planes = Planes(depth, reads)
        try:
            at_once = made.program.run_planes(Work(images, given, (height, width), out), planes)
        except OutOfMemory as error:
            log.info("%s; computing planes one by one", error)
            at_once = None
        if at_once is not None:
            return at_once
    places = [
        np.empty((depth * height, width, format.channels), format.dtype)
        if array is None and host
        else array
        for array, format in zip(out, made.task.outputs, strict=True)
    ]
    frugal = limits is not None and _bytes(made, inputs, shape) > limits.memory
    found: list[list[Storage]] = [[] for _ in places]
    for z in range(depth):
        images = [_image(read, inputs[read.image], z) for read in planar.reads]
        rows = slice(z * height, (z + 1) * height)
        parts = [None if array is None else array[rows] for array in places]
        results = _within(limits, made, Work(images, [*given, z], (height, width), parts))
        for plane, result in zip(found, results, strict=True):
            plane.append(result)
        if frugal:
            _let_go(results, [*images, *results])
    return [
        Storage.of(array) if array is not None else Storage.stacked(planes)
        for array, planes in zip(places, found, strict=True)
    ]


class PreparedPlanes(Prepared):
    """A program of a plane, prepared for volumes: see core/programs.py. `places`: which image of
    the whole each input is; `numbers`: those behind the whole's."""

    def __init__(self, of_one: Prepared, places: Sequence[int], numbers: Sequence[int]) -> None:
        self.of_one, self.places, self.numbers = of_one, places, numbers

    def run(
        self, inputs: Sequence[NDArray[Any]], uniforms: Sequence[Constant], out: Any
    ) -> list[NDArray[Any]] | None:
        given = [inputs[place] for place in self.places]
        return self.of_one.run(given, [*uniforms, *self.numbers], out)


def prepared(
    made: Specialisation, planar: planes.Planar, inputs: Sequence[Storage], shape: tuple[int, ...]
) -> Prepared | None:
    """The program, prepared for more runs for volumes of these sizes."""
    places = [read.image for read in planar.reads]
    sizes = [(inputs[place].height, inputs[place].width) for place in places]
    reads = tuple([_plane_read(read, inputs[read.image]) for read in planar.reads])
    found = made.program.prepared(sizes, shape, (), Planes((1, 1, *shape)[-3], reads))
    return None if found is None else PreparedPlanes(found, places, [*_sides(planar, inputs), 0])


def _sides(planar: planes.Planar, inputs: Sequence[Storage]) -> list[int]:
    return [side for image in planar.sized for side in _height_and_depth(inputs[image])]


def _height_and_depth(volume: Storage) -> tuple[int, int]:
    depth, height, _ = volume.shape
    return height, depth


def _image(read: planes.Read, storage: Storage, z: int) -> Storage:
    """What is read of a storage for the plane z of the result."""
    if read.offset is None:
        return storage.as_image()
    place = np.array([z + read.offset])
    return storage.plane(int(sampler.indices(read.boundary, place, storage.shape[0])[0]))


def _plane_read(read: planes.Read, storage: Storage) -> PlaneRead | None:
    if read.offset is None:
        return None
    return PlaneRead(read.offset, read.boundary, storage.shape[0])


def _bytes(made: Specialisation, inputs: Sequence[Storage], shape: tuple[int, ...]) -> int:
    """Bytes of all that is read and made."""
    rows, width = rows_of(shape)
    total = sum(rows * tiles.row_bytes(format, width) for format in made.task.outputs)
    return total + sum(each.height * each.width * each.channels * 4 for each in inputs)


def _let_go(results: Sequence[Storage], storages: Sequence[Storage]) -> None:
    """Have the device's memory for the planes that follow."""
    for result in results:
        result.host()
    for storage in storages:
        if storage.array is not None:
            storage.copies.clear()
