"""Programs for the arguments of a call: translated, simplified, compiled, and kept.

A *translation* is the SSA of a function for certain types and known values; a *program* is a
translation compiled for a device and for formats of its inputs and outputs. Both hang on the
compiled function in a `Cache`, and nowhere else, so they go when it goes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from pygpu.core.device import Device
from pygpu.core.host import forks, log, settings
from pygpu.core.host.collector import paused
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Program, Task
from pygpu.core.sampler import Sampler, inherited, make, of
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.parameters import Arguments, bindings
from pygpu.execution.arguments.results import Wanted, output_dtype, output_format
from pygpu.execution.arguments.signatures import Signature
from pygpu.frontend import translate as frontend
from pygpu.passes.lower.fuse import fuse
from pygpu.passes.simplify import pipeline as passes
from pygpu.ssa import Function, Value, has, is_of_volumes, only
from pygpu.types import Type

with later():
    from pygpu.passes.layout import planes
    from pygpu.passes.lower import fast, merge, neighbours

LIMIT: Final = 128  # programs kept for one function
FAULTS: Final = Format(np.dtype("int32"), 1, normalize=False)  # which fault a pixel has met


# One compilation at a time, since functions compile one another while they are walked.
COMPILING: Final = forks.Renewed()


@record(eq=False, frozen=False)
class Translated:
    """A function in SSA, before and after the passes, and what it cost."""

    translation: frontend.Translation
    function: Function
    before: str
    times: dict[str, float]

    @property
    def results(self) -> tuple[Value, ...]:
        """What the function returns: its outputs, less that of a checked program's faults."""
        outputs = self.function.outputs
        return outputs[:-1] if self.translation.faults else outputs

    def changed(self) -> bool:
        return self.translation.dependencies.changed()


@record(eq=False, frozen=False, weak=True)
class Specialisation:
    """A program that can run, and how its results are to be presented."""

    program: Program
    device: Device
    translated: Translated
    task: Task  # its images: those given, then the captured
    captured: list[Storage]
    types: tuple[Type, ...]
    is_tuple: bool
    dtypes: tuple[np.dtype[Any], ...]
    samplers: tuple[Sampler, ...]
    times: dict[str, float]
    used: int = 0
    planar: planes.Planar | None = None  # of volumes: the program is that of a plane
    cut: Any = None  # the program of tiles, for images that are too large: see tiles.py
    # The programs for thin images, with columns for rows, and for images of one row: see running.py
    variants: dict[tuple[bool, tuple[int, ...]], Specialisation] = field(default_factory=dict)
    stripped: Any = None  # the program of strips, for a long row: see strips.py
    joined: Any = None  # the program of long rows made of many short ones: see joined.py
    wrapped: dict[tuple[int, ...], Specialisation] = field(default_factory=dict)  # wrapping.py


@record(frozen=False)
class Cache:
    """The translations and programs of one function, the least recently used dropped."""

    programs: dict[Any, Specialisation] = field(default_factory=dict)
    translations: dict[Any, Translated] = field(default_factory=dict)
    clock: itertools.count[int] = field(default_factory=itertools.count)

    def get(self, key: Any) -> Specialisation | None:
        """The program kept for a key, if what it was translated from is unchanged."""
        found = self.programs.get(key)
        if found is None or found.translated.translation.dependencies.changed():
            return None
        found.used = next(self.clock)
        return found

    def put(self, key: Any, made: Specialisation) -> None:
        made.used = next(self.clock)
        self.programs[key] = made
        if len(self.programs) > LIMIT:
            oldest = min(self.programs, key=lambda key: self.programs[key].used)
            del self.programs[oldest]

    def clear(self) -> None:
        self.programs.clear()
        self.translations.clear()


def specialise(
    function: Callable[..., Any],
    signature: Signature,
    arguments: Arguments,
    wanted: Wanted,
    device: Device,
    cache: Cache,
    order: Sequence[int] = (),
) -> Specialisation:
    """Compile a function for these arguments on a device. Nothing is kept if it fails.

    `order` says from which image each result inherits how it is read; the last one is that of all
    further results.
    """
    started = time.perf_counter()
    targets.check_environment()
    translated = translate(function, signature, arguments, cache)
    translation = translated.translation
    types = tuple([value.type for value in translated.results])
    dtypes = _dtypes(wanted, types)
    formats = tuple(map(output_format, types, dtypes))
    read = [given.sampler for given in arguments.images] + list(map(of, translation.captured))
    begun = time.perf_counter()
    extra = (FAULTS,) if translation.faults else ()
    task = Task(
        translated.function,
        tuple([sampler.format for sampler in read]),
        formats + extra,
        low=arguments.dims == 1,
        fast=arguments.fast,
    )
    planar = None
    if arguments.dims == 3 or is_of_volumes(task.function):
        device = device.of_planes()
        task, planar = _of_planes(task, device)
    program = device.compile(task)
    seconds, driver = time.perf_counter() - begun, program.driver_seconds
    times = translated.times | {"compile": seconds - driver, "driver": driver}
    log.info(
        "compiled %s for %s in %.1f ms",
        signature.name,
        device.name,
        1e3 * (time.perf_counter() - started),
    )
    dump("source", program.source)
    return Specialisation(
        program,
        device,
        translated,
        task,
        [image.storage for image in translation.captured],
        types,
        translation.is_tuple,
        dtypes,
        _samplers([read[place] for place in order if place < len(read)], formats),
        times,
        planar=planar,
    )


def _dtypes(wanted: Wanted, types: Sequence[Type]) -> tuple[np.dtype[Any], ...]:
    """The dtypes of results of these types."""
    if isinstance(wanted.dtype, tuple) and len(wanted.dtype) != len(types):
        raise ValueError(
            f"out: the function has {len(types)} result{'s' * (len(types) > 1)}, "
            f"got {len(wanted.dtype)} array{'s' * (len(wanted.dtype) > 1)}"
        )
    return tuple([output_dtype(wanted, index, type) for index, type in enumerate(types)])


def _of_planes(task: Task, device: Device) -> tuple[Task, planes.Planar]:
    """A task of volumes as that of one plane."""
    planar = planes.by_planes(task.function, device.images_at_once(len(task.outputs)))
    inputs = tuple([task.inputs[each.image] for each in planar.reads])
    return replace(task, function=planar.function, inputs=inputs, planar=True, low=False), planar


def _samplers(parents: Sequence[Sampler], formats: Sequence[Format]) -> tuple[Sampler, ...]:
    """How results are read: each as the image that it inherits from."""
    if not parents:
        return tuple(map(make, formats))
    last = len(parents) - 1
    return tuple([inherited(parents[min(i, last)], format) for i, format in enumerate(formats)])


def translate(
    function: Callable[..., Any], signature: Signature, arguments: Arguments, cache: Cache
) -> Translated:
    """The function in simplified SSA: kept, or walked now."""
    key = tuple(
        [
            (part.type, part.boundary, part.cval, part.interpolation)
            if isinstance(part, Sampler)
            else part
            for part in (arguments.checked, arguments.fast, arguments.dims, *arguments.key)
        ]
    )
    kept = cache.translations.get(key)
    if kept is not None and not kept.changed():
        return kept
    with paused():
        made = _translated(function, signature, arguments)
    if len(cache.translations) >= LIMIT:
        cache.translations.pop(next(iter(cache.translations)))
    cache.translations[key] = made
    return made


def _translated(
    function: Callable[..., Any], signature: Signature, arguments: Arguments
) -> Translated:
    """The function, walked and simplified."""
    bound, images, uniforms = bindings(signature, arguments)
    times = {}
    begun = time.perf_counter()
    walk = partial(frontend.translate, function, bound, images=images, uniforms=uniforms)
    translation = walk(checked=arguments.checked)
    is_plain = not (arguments.checked and translation.faults)
    plain = translation if is_plain else walk(like=translation)
    times["translate"] = time.perf_counter() - begun
    before = str(translation.function) if dumps("ssa") else ""
    begun = time.perf_counter()
    fused = fuse(plain.function)
    if plain is not translation:
        fused, translation = _with_faults(fused, plain, translation)
    plain.memo.clear()
    if has(fused, "ddx", "ddy"):
        again = neighbours.recompute_differences(fused, signature.has_neighbours)
        simplified = passes.simplify(again)
    else:
        simplified = passes.settle(fused)
    if arguments.fast:
        simplified = passes.settle(fast.fastened(simplified))
    times["simplify"] = time.perf_counter() - begun
    if before:
        dump("ssa", f"{before}\n\n# simplified\n{simplified}")
    return Translated(translation, simplified, before, times)


def _with_faults(
    function: Function, plain: frontend.Translation, checked: frontend.Translation
) -> tuple[Function, frontend.Translation]:
    """A function, walked plain, and beside it the faults of a checked one: what a check asks makes
    other expressions, which may be rounded otherwise, so results are not taken from these."""
    given = len(plain.function.images) - len(plain.captured)
    captured = {id(image): image for image in (*plain.captured, *checked.captured)}
    order = list(captured)
    places = [*range(given), *[given + order.index(id(image)) for image in checked.captured]]
    faults = only(checked.function, [len(checked.function.outputs) - 1])
    if plain.faults:  # those of any program, of which the checked one tells as well
        function = only(function, range(len(function.outputs) - 1))
    whole = merge.beside(function, fuse(faults), places)
    read = tuple(captured.values())
    return whole, replace(checked, function=whole, captured=read, is_tuple=plain.is_tuple)


def dumps(what: str) -> bool:
    """Whether PYGPU_DUMP asks for texts of a kind."""
    return what in settings.words("PYGPU_DUMP", settings.DUMPED)


def dump(what: str, text: str) -> None:
    """Print a text where PYGPU_DUMP asks for it."""
    if dumps(what):
        print(text)
