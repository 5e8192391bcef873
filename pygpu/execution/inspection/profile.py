"""How fast a program runs on its device, and how fast it could: `f.profile(image)`.

    profile = edges.profile(photo)
    profile.milliseconds, profile.fraction     # 0.95: memory moves at 0.95 of the speed of a copy

What limits a program of few operations is memory: it cannot be much faster than a copy of the bytes
that it reads and writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median
from typing import Any, Final

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.core.programs import Program, Shape, Work
from pygpu.core.storage import Storage, rows_of
from pygpu.devices import targets
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import form_of
from pygpu.execution.programs import running, tiles
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.specialise import Specialisation
from pygpu.ssa import Constant, Function, images_read, walk

WARM: Final = 3  # runs before those that count
RUNS: Final = 9
LEAST_COPY: Final = 1 << 16  # bytes whose copy is measured, at least and at most
GREATEST_COPY: Final = 1 << 28

# What computes nothing: it says where a value is from, or puts it elsewhere.
FREE: Final = (None, Cost.FREE, Cost.MEMORY)  # None: branches and loops


@record
class Profile:
    """What `f.profile` measured.

    `seconds` is the median of `times`, of the device alone: nothing travels, nothing is compiled.
    `bytes_read` and `bytes_written` count each image once, as they are stored; `copied` is how many
    bytes a second a copy on the device moves, read and written. `operations` and `texels` are
    those of a pixel, component by component, a loop's (`loops`) counted once. `shape` is how
    compute programs share the work out, None on other targets.
    """

    name: str
    target: str
    size: tuple[int, ...]  # (H, W) of the results
    times: tuple[float, ...]  # seconds
    bytes_read: int
    bytes_written: int
    copied: float
    operations: int
    texels: int
    loops: int
    shape: Shape | None = None

    @property
    def seconds(self) -> float:
        return median(self.times)

    @property
    def milliseconds(self) -> float:
        return 1e3 * self.seconds

    @property
    def bandwidth(self) -> float:
        """Bytes a second, read and written."""
        return (self.bytes_read + self.bytes_written) / self.seconds

    @property
    def fraction(self) -> float:
        """The bandwidth over that of a copy on the device."""
        return self.bandwidth / self.copied

    def __repr__(self) -> str:
        pixels = " x ".join(map(str, self.size[::-1]))
        least, most = 1e3 * min(self.times), 1e3 * max(self.times)
        loops = f" (a loop's counted once, {self.loops} of them)" if self.loops else ""
        rate = self.operations * math.prod(self.size) / self.seconds
        lines = [
            f"{self.name} on {self.target}, {pixels} pixels",
            f"time        {self.milliseconds:.4g} ms, median of {len(self.times)} "
            f"({least:.4g} to {most:.4g})",
            f"memory      {_shown(self.bytes_read)}B read, {_shown(self.bytes_written)}B written: "
            f"{_shown(self.bandwidth)}B/s, {self.fraction:.2g} of a copy's "
            f"{_shown(self.copied)}B/s",
            f"a pixel     {self.texels} texels, {self.operations} operations{loops}: "
            f"{_shown(rate)}/s",
        ]
        if self.shape is not None:
            lines.append(f"shape       {self.shape}")
        return "\n".join(lines)


@record
class Job:
    """A program and all it is given, so that it can be run again and again."""

    made: Specialisation
    inputs: list[Storage]
    uniforms: list[Constant]
    size: tuple[int, ...]

    @classmethod
    def of(
        cls,
        compiled: Programs,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        shape: tuple[int, ...] | None = None,
        dtype: Any = None,
    ) -> Job:
        """What a call would run. DeviceError where the device does not hold the images at once."""
        arguments = flatten(compiled.signature, compiled.signature.collect(args, kwargs))
        arguments.asked = len(compiled.size(shape, arguments, None))
        wanted = compiled.wanted(form_of(arguments.deciding), None, dtype)
        made = compiled.specialisation(arguments, wanted)
        inputs = [given.storage for given in arguments.images] + made.captured
        size = compiled.size(shape, arguments, None)
        limits = targets.limits(made.device)
        if limits is not None and made.planar is None:
            rows, width = rows_of(size)
            if not tiles.hold(limits, made, inputs, (rows, width)):
                raise DeviceError(
                    f"{compiled.signature.name}: the target {made.device.name!r} computes these "
                    f"{width} x {rows} pixels in tiles, and a tile's time says little: give a "
                    "smaller image"
                )
        return cls(made, inputs, list(arguments.uniforms), size)

    def run(self, program: Program | None = None) -> list[Storage]:
        """Run its program, or another of the same function."""
        nowhere = [None] * len(self.made.task.outputs)
        work = Work(self.inputs, self.uniforms, self.size, nowhere)
        if self.made.planar is None:
            return (program or self.made.program).run(work)
        made = self.made if program is None else replace(self.made, program=program)
        return running.run(made, work)


def profile(
    compiled: Programs,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    shape: tuple[int, ...] | None,
    dtype: Any,
) -> Profile:
    """Measure a call. See Compiled.profile."""
    job = Job.of(compiled, args, kwargs, shape, dtype)
    made, function = job.made, job.made.task.function
    times = made.device.seconds([job.run] * (WARM + RUNS))[WARM:]
    read, written = moved(job)
    ops = list(walk(function.body))
    return Profile(
        compiled.signature.name,
        made.device.name,
        job.size,
        tuple(max(time, 1e-9) for time in times),  # what timers count in
        read,
        written,
        copy_bandwidth(made.device, (read + written) // 2),
        operations(function),
        sum(op.code == "load" for op in ops),
        sum(op.code == "loop" for op in ops),
        made.program.shape,
    )


def moved(job: Job) -> tuple[int, int]:
    """Bytes that a program must read and write: each image that it reads once, each result once."""
    made = job.made
    read_by = images_read(made.task.function)
    if made.planar is not None:
        read_by = {made.planar.reads[index].image for index in read_by}
    images = [job.inputs[index] for index in sorted(read_by)]
    read = sum(
        image.height * image.width * image.channels * image.dtype.itemsize for image in images
    )
    texel = sum(format.nbytes for format in made.task.outputs)
    return read, math.prod(job.size) * texel


def operations(function: Function) -> int:
    """Operations a pixel that compute something, each component of a vector by itself."""
    return sum(
        max(value.type.size for value in (*op.operands, *op.results))
        for op in walk(function.body)
        if cost_of(op.code) not in FREE
    )


def copy_bandwidth(device: Device, nbytes: int) -> float:
    """Bytes a second, read and written, of a copy of about so many bytes on a device: measured once
    in a process for a device and each power of two."""
    nbytes = min(max(nbytes, LEAST_COPY), GREATEST_COPY)
    return _copied(device, 1 << (nbytes - 1).bit_length())


@lru_cache(maxsize=64)
def _copied(device: Device, nbytes: int) -> float:
    times = device.copies(nbytes, WARM + RUNS)
    return 2 * nbytes / max(median(times[WARM:]), 1e-9)


def _shown(number: float) -> str:
    """A number with one of the prefixes of SI, as 4.1 T."""
    for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if number >= 10**power:
            return f"{number / 10**power:.3g} {prefix}"
    return f"{number:.3g} "
