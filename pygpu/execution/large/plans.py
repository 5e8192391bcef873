"""Calls less their Dask arrays, as workers get them, and what a process makes of one: once, however
many chunks it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.device import Device
from pygpu.core.host.records import record
from pygpu.core.programs import Program, Task
from pygpu.core.storage import Format, Storage
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import Wanted, output_dtype, output_format
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.arguments.uniforms import convert
from pygpu.execution.programs.specialise import COMPILING, FAULTS, LIMIT, Translated
from pygpu.execution.programs.tiles import Tile
from pygpu.frontend.values.faults import Fault
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.layout.planes import Planar, Read, by_planes
from pygpu.passes.layout.window import Placed, View, Windowed, placed, window
from pygpu.passes.lower.settle import settle
from pygpu.ssa import Constant, is_of_volumes
from pygpu.types import Type

WHOLE: Final = 8  # plans with images that are no Dask arrays, which are kept without their graphs


class Function(Protocol):
    """What is asked of a compiled function."""

    @property
    def signature(self) -> Signature: ...

    @property
    def function(self) -> Callable[..., Any]: ...
    def translated(self, arguments: Arguments, checked: bool | None = None) -> Translated: ...
    def device(self) -> Device: ...
    def wanted(self, form: tuple[Any, str], out: None = None, dtype: Any = None) -> Wanted: ...
    def is_fast(self) -> bool: ...
    def size(self, shape: Any, arguments: Arguments, out: None) -> tuple[int, ...]: ...


@record
class Rounds:
    """Several rounds of a function, done for a chunk and what is around it before the next chunk:
    how many, which image each result becomes in the next round, how far a round reaches, and in
    which dtype the last results are asked for."""

    count: int
    state: tuple[int, ...]
    reach: Footprint
    dtype: np.dtype[Any] | None


@record
class Told:
    """A number of a call that has to be computed first: its place among the uniforms."""

    place: int
    type: Type
    name: str

    def of(self, value: NDArray[Any]) -> tuple[int, Constant]:
        """The place, and what has been computed."""
        return self.place, convert(self.type, value.item(), self.name)


@record(weak=True)
class Plan:
    """A call, less its Dask arrays, for which `values` has images of one pixel. Plans are equal if
    their tokens are, so that a process compiles each once however often it is sent."""

    token: str
    compiled: Function = field(compare=False)
    values: list[Any] = field(compare=False)
    wanted: Wanted = field(compare=False)
    chunked: tuple[int, ...] = field(compare=False)  # which of the call's images are Dask arrays
    sizes: tuple[tuple[int, int], ...] = field(compare=False)  # of all images: (width, height)
    depths: tuple[int, ...] = field(compare=False)  # of all images; 1 of what is no volume
    left: tuple[int, ...] | None = field(compare=False)  # uniforms: see `windowed_for`
    checked: bool = field(compare=False)  # whether what goes wrong at run time is to be found
    fast: bool = field(compare=False)  # whether functions may err by 2**-12
    rounds: Rounds | None = field(default=None, compare=False)
    numbers: tuple[tuple[int, Constant], ...] = field(default=(), compare=False)  # see `Told`

    def uniforms(self, arguments: Arguments) -> list[Any]:
        """The numbers of the call, with those in their places that had to be computed first."""
        found = list(arguments.uniforms)
        for place, value in self.numbers:
            found[place] = value
        return found


@record
class Ready:
    """A plan, compiled in this process."""

    views: Views
    translated: Translated
    device: Device
    formats: tuple[Format, ...]  # of the results
    dtypes: tuple[np.dtype[Any], ...]
    inputs: tuple[Format, ...]  # of the views
    images: tuple[Format, ...]  # of the images
    whole: tuple[Storage | None, ...]  # images that are no Dask arrays, by index
    arguments: Arguments
    faults: tuple[Fault, ...]  # of a checked program, which has one more result that numbers them

    @property
    def is_tuple(self) -> bool:
        return self.translated.translation.is_tuple

    @property
    def program(self) -> Program:
        """The program of a window."""
        written = (*self.formats, FAULTS) if self.faults else self.formats
        with COMPILING.lock:
            return _compiled(
                self.device, self.views.windowed, self.inputs, written, self.arguments.fast
            )

    def of_parts(self) -> tuple[Program, tuple[int, ...]]:
        """The program of a part of the result and of the images, and of which images it is given
        the sizes, after the part's corner."""
        with COMPILING.lock:
            made = _placed(self.translated)
            fast = self.arguments.fast
            return _compiled(self.device, made, self.images, self.formats, fast), made.sized


@record(eq=False)
class Part:
    """What is computed at once: a tile of the results of a plan, in the plane `z` of volumes."""

    ready: Ready
    plan: Plan
    tile: Tile
    z: int | None = None

    def of(self, tile: Tile) -> Part:
        """Another tile of the same results."""
        return Part(self.ready, self.plan, tile, self.z)


def ready_for(plan: Plan) -> Ready:
    """The plan, compiled once in this process. With images that are no Dask arrays, which may be
    large, it is let go of when the graph is."""
    with COMPILING.lock:
        if len(plan.chunked) == len(plan.sizes):
            return _of_chunks(plan)
        found = _THERE.get(plan)
        if found is None:
            found = _THERE[plan] = _with_whole(plan)
        return found


def _prepared(plan: Plan) -> Ready:
    arguments = flatten(plan.compiled.signature, plan.values, stays=False)
    arguments.fast = plan.fast
    translated = plan.compiled.translated(arguments, plan.checked)
    views = windowed_for(translated, arguments, plan.left)
    captured = translated.translation.captured
    formats, dtypes = results(translated, plan.wanted)
    read = [given.sampler.format for given in arguments.images]
    read += [sampler.of(image).format for image in captured]
    inputs = tuple([read[views.read(each).image] for each in views.views])
    whole = [given.storage for given in arguments.images] + [image.storage for image in captured]
    return Ready(
        views,
        translated,
        plan.compiled.device(),
        formats,
        dtypes,
        inputs,
        tuple(read),
        tuple([None if i in plan.chunked else storage for i, storage in enumerate(whole)]),
        arguments,
        tuple(translated.translation.faults),
    )


_of_chunks: Final = lru_cache(maxsize=LIMIT)(_prepared)
_with_whole: Final = lru_cache(maxsize=WHOLE)(_prepared)
_THERE: Final[WeakKeyDictionary[Plan, Ready]] = WeakKeyDictionary()


@record(eq=False)
class Views:
    """The function of a window, in a plane where there are volumes, and what it reads."""

    windowed: Windowed
    planar: Planar | None

    @property
    def views(self) -> tuple[View, ...]:
        return self.windowed.views

    def read(self, view: View) -> Read:
        """What a view is of: an image of the call, or a plane of one."""
        return Read(view.image, 0) if self.planar is None else self.planar.reads[view.image]

    def numbers(
        self, sizes: Sequence[tuple[int, int]], depths: Sequence[int], z: int | None
    ) -> tuple[list[int], list[int]]:
        """The uniforms that stand before the window's corner, and after it."""
        before: list[int] = []
        if self.planar is not None:
            assert z is not None
            before = [n for i in self.planar.sized for n in (sizes[i][1], depths[i])] + [z]
        after: list[int] = []
        for index in self.windowed.sized:
            read = Read(index) if self.planar is None else self.planar.reads[index]
            width, height = sizes[read.image]
            is_rows = self.planar is not None and read.offset is None
            after += [width, height * depths[read.image] if is_rows else height]
        return before, after


def windowed_for(
    translated: Translated, arguments: Arguments, left: tuple[int, ...] | None
) -> Views:
    """The function of a window. Where some numbers given at the call are `left` uniforms, by their
    places, the others are constants, so that offsets made of them are known."""
    values = None
    if left is not None:
        values = tuple([None if n in left else v for n, v in enumerate(arguments.uniforms)])
    return _windowed(translated, values, arguments.dims)


@lru_cache(maxsize=LIMIT)
def _windowed(translated: Translated, uniforms: tuple[Any, ...] | None, dims: int) -> Views:
    function = translated.function
    if uniforms is not None:
        function = settle(function, uniforms)
    planar = by_planes(function) if dims == 3 or is_of_volumes(function) else None
    return Views(window(function if planar is None else planar.function, between=True), planar)


@lru_cache(maxsize=LIMIT)
def _placed(translated: Translated) -> Placed:
    return placed(translated.function)


@lru_cache(maxsize=LIMIT)
def _compiled(
    device: Device,
    made: Windowed | Placed,
    inputs: tuple[Format, ...],
    written: tuple[Format, ...],
    fast: bool,
) -> Program:
    """The program of a window, or of parts: calls of one function share it."""
    return device.compile(Task(made.function, inputs, written, fast=fast))


def results(
    translated: Translated, wanted: Wanted
) -> tuple[tuple[Format, ...], tuple[np.dtype[Any], ...]]:
    types = [value.type for value in translated.results]
    dtypes = tuple([output_dtype(wanted, index, type) for index, type in enumerate(types)])
    return tuple(map(output_format, types, dtypes)), dtypes
