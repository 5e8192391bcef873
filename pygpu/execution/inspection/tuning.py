"""`pygpu.tune`: the fastest way to share a program's work out, found by trying.

    print(pygpu.tune(edges, photo))    # once; remembered on disk for this machine and driver
    edges(photo)                       # runs as found

All shapes compute the same bits, so that results do not depend on which one was the fastest.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from statistics import median
from typing import Any, Final

from pygpu.core.errors import DeviceError, guarded, shown
from pygpu.core.host import log
from pygpu.core.host.records import record
from pygpu.core.programs import Program, Shape
from pygpu.execution.inspection.profile import Job
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.specialise import COMPILING, Specialisation
from pygpu.passes.blocks import shapes

ROUNDS: Final = 7  # in each, every candidate runs once
WARM: Final = 1
WORTH: Final = 0.97  # of the present shape's time: what is no faster than that may be noise


@record
class Tuned:
    """What `pygpu.tune` found. `times` has the median seconds of each shape that was tried, the
    fastest first; `before` is the shape until now and `shape` the one from now on. Where a target
    has no shapes, these are None and `times` is empty. `refused` are shapes that the driver does
    not take."""

    name: str
    target: str
    shape: Shape | None = None
    before: Shape | None = None
    times: dict[Shape, float] = field(default_factory=dict)
    refused: tuple[Shape, ...] = ()

    def __repr__(self) -> str:
        if self.shape is None:
            return f"{self.name} on {self.target}: there is nothing to choose"
        head = f"{self.name} on {self.target}: {self.shape}"
        if self.shape == self.before:
            head += ", as before"
        lines = [f"  {1e3 * seconds:8.4g} ms  {shape}" for shape, seconds in self.times.items()]
        lines += [f"  refused      {shape}" for shape in self.refused]
        return "\n".join([head, *lines])


@guarded
def tune(
    function: Any,
    /,
    *args: Any,
    shape: tuple[int, ...] | None = None,
    dtype: Any = None,
    **kwargs: Any,
) -> Tuned:
    """Find the fastest shape of a compiled function's program for arguments like these, by running
    it on them in each of the shapes that its device takes. It counts from the next call on, and in
    later processes on this machine and driver, where the disk cache is on. Images should be as
    large as those to come. Of the targets only compute has shapes, and functions in stages have
    none. DeviceError where the images are too large for the device at once."""
    if isinstance(getattr(function, "__func__", None), Programs):  # a method of an object
        function, args = function.__func__, (function.__self__, *args)
    if not isinstance(function, Programs):
        raise TypeError(f"tune: takes a compiled function, got {shown(function)}")
    job = Job.of(function, args, kwargs, shape, dtype)
    if not job.made.device.shapes or job.made.program.stages:
        return Tuned(function.signature.name, job.made.device.name)
    return _tuned(function, job)


def _tuned(compiled: Programs, job: Job) -> Tuned:
    made, name = job.made, compiled.signature.name
    programs, refused = _programs(made)
    measured = _measured(job, programs)
    times = dict(sorted(measured.items(), key=lambda pair: pair[1]))
    best = next(iter(times))
    before = _present(made, programs)
    if before is not None and times[best] > WORTH * times[before]:
        best = before
    key = _key(made)
    shapes.remember(key, best)
    with COMPILING.lock:
        for other in compiled.specialisations():
            if other.device is made.device and _key(other) == key:
                other.program = programs[best]
    log.info("tuned %s: %s", name, best)
    return Tuned(name, made.device.name, best, before, times, tuple(refused))


def _key(made: Specialisation) -> str:
    return shapes.key(made.task, made.device.driver)


def _programs(made: Specialisation) -> tuple[dict[Shape, Program], list[Shape]]:
    """The function compiled in each shape, and the shapes that the driver refuses."""
    programs, refused = {}, []
    for shape in made.device.shapes:
        try:
            programs[shape] = made.device.compile(made.task, shape)
        except DeviceError as error:
            log.info("%s is refused: %s", shape, error)
            refused.append(shape)
    if not programs:
        name = made.task.function.name
        raise DeviceError(f"{name}: the driver refuses every shape (log 'pygpu' has why)")
    return programs, refused


def _present(made: Specialisation, programs: dict[Shape, Program]) -> Shape | None:
    """The shape of the program until now, None where it is none of these."""
    equal = [shape for shape, program in programs.items() if program.source == made.program.source]
    return equal[0] if equal else None


def _measured(job: Job, programs: dict[Shape, Program]) -> dict[Shape, float]:
    """The median seconds of each program, all in turn each round, equal texts once."""
    first: dict[str, Shape] = {}
    for shape, program in programs.items():
        first.setdefault(program.source, shape)
    tried = list(first.values())
    runs = [partial(job.run, programs[shape]) for shape in tried]
    times = job.made.device.seconds(runs * (WARM + ROUNDS))[WARM * len(runs) :]
    found = {shape: median(times[at :: len(runs)]) for at, shape in enumerate(tried)}
    return {shape: found[first[program.source]] for shape, program in programs.items()}
