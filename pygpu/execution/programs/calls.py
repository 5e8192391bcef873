"""What a call runs: the programs of a function, made for the arguments of its calls, and run.

    programs = Programs(function, signature, "auto")
    arguments = flatten(signature, [photo, 1.5])
    programs.run(arguments, Wanted("array")).presented()

Compiled functions (runtime.py) are these with what users see of them; folds, rounds, measurements
and functions of scalars use them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError, OutOfMemory, shown
from pygpu.core.host import log
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Work
from pygpu.core.sampler import Sampler, inherited
from pygpu.core.storage import ImageLike, Storage, rows_of
from pygpu.devices import targets
from pygpu.execution.arguments.convert import LONGEST, result_dtype
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.execution.arguments.parameters import NUMBER, Arguments
from pygpu.execution.arguments.results import Form, Out, Wanted, info_of, present
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.programs import running
from pygpu.execution.programs.extents import Extended, extended
from pygpu.execution.programs.options import is_checked_here, is_fast_here
from pygpu.execution.programs.specialise import (
    COMPILING,
    Cache,
    Specialisation,
    Translated,
    specialise,
    translate,
)
from pygpu.frontend.values.faults import Fault
from pygpu.ssa import Constant
from pygpu.types import Type

with later():
    from pygpu.execution.programs import checked, tiles
    from pygpu.language import textures


class Programs:
    """A function's programs on a target: `dtype` is that of results where a call asks for none. One
    that is `inner` is PyGPU's own: its positions and its images' sizes mean nothing to users."""

    fast = False  # whether functions may err by 2**-12 of their results

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        target: str = "auto",
        dtype: Any = None,
        check: bool = False,
        inner: bool = False,
    ) -> None:
        self.function: Final = function
        self.signature: Final = signature
        self._target = targets.check(target)
        self._dtype = None if dtype is None else result_dtype(dtype)
        self._check = check
        self._inner: Final = inner
        self._cache = Cache()
        self.places: checked.Where | None = None  # what its pixels are called
        self.cleared = 0  # how often programs were forgotten

    def wanted(self, form: tuple[Form, str], out: Out | None = None, dtype: Any = None) -> Wanted:
        """What a call asks for: `form` as inputs have it, the dtype of `out`, else `dtype`."""
        asked = self._dtype if dtype is None else result_dtype(dtype)
        if out is None:
            return Wanted(*form, asked)
        dtypes = out.dtypes()
        if dtype is not None and any(d is not None and d != asked for d in dtypes):
            raise TypeError(f"dtype={asked} and an out of dtype {dtypes[0]}: give one of them")
        return Wanted("array", "", tuple([asked if d is None else d for d in dtypes]))

    def run(
        self,
        arguments: Arguments,
        wanted: Wanted,
        *,
        out: Out | None = None,
        shape: tuple[int, ...] | None = None,
        order: Sequence[int] = (),
        where: checked.Where | None = None,
    ) -> Run:
        """Run for flattened arguments; `order` says from which image each result inherits how it
        is read, if not from the first, `where` how a checked program calls a pixel."""
        whole = self.size(shape, arguments, out)
        arguments.asked = len(whole)
        made = self.specialisation(arguments, wanted, order)
        inputs = [given.storage for given in arguments.images] + made.captured
        direct: list[NDArray[Any] | None]
        if out is None:
            direct = [None] * len(made.types)
        else:
            out.check(made.types, made.is_tuple, whole)
            formats = made.task.outputs[: len(made.types)]
            direct = out.direct(formats, inputs, rows_of(whole), made.device.rows_apart)
        faults = made.translated.translation.faults
        if faults:
            direct.append(None)
        self.check_sizes(arguments, made, whole)
        work = Work(inputs, arguments.uniforms, whole, direct)
        made, storages = self.held(
            made, lambda made: running.run(made, work), arguments, wanted, order
        )
        if faults:
            numbers = storages.pop().host().reshape(whole)
            self.raise_first(faults, numbers, arguments, where)
        storages = [storage.shaped(whole) for storage in storages]
        return Run(made, wanted, storages, out, direct, arguments)

    def check_sizes(
        self, arguments: Arguments, made: Specialisation, whole: tuple[int, ...]
    ) -> None:
        """ValueError where an image of a checked call is smaller than the result."""
        if arguments.checked and not self._inner:
            given = [
                whole if each.rank == NUMBER else each.storage.shape for each in arguments.images
            ]
            shapes = [*given, *[each.shape for each in made.captured]]
            checked.check_sizes(self.function, made.translated.function, shapes, whole)

    def raise_first(
        self,
        faults: Sequence[Fault],
        numbers: NDArray[Any],
        arguments: Arguments,
        where: checked.Where | None,
    ) -> None:
        """Raise what a checked call has found first (checked.py)."""
        function, signature, where = self.function, self.signature, where or self.places
        checked.raise_first(faults, numbers, function, signature, arguments, where=where)

    def held(
        self,
        made: Specialisation,
        run: Callable[[Specialisation], list[Storage]],
        arguments: Arguments,
        wanted: Wanted,
        order: Sequence[int] = (),
    ) -> tuple[Specialisation, list[Storage]]:
        """What a program gives, run so, and the program; the cpu's where the device does not hold
        what it takes and the target was left to PyGPU."""
        try:
            return made, run(made)
        except (tiles.NotCut, OutOfMemory) as error:
            other = self._instead(made, error, arguments, wanted, order)
        return other, run(other)

    def rounds(
        self, arguments: Arguments, uniforms: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> Run | None:
        """Run as many times as there are uniforms, each result being the image that `state` names
        the next time. None where the device does not, or where what comes out is not read as what
        went in."""
        whole = self.size(None, arguments, None)
        arguments.asked = len(whole)
        wanted = Wanted("image")
        made = self.specialisation(arguments, wanted, state)
        if (
            arguments.checked
            or made.planar is not None
            or made.translated.translation.faults
            or len(made.types) != len(state)
            or any(
                arguments.images[place].sampler != sampler or dtype != sampler.format.dtype
                for place, sampler, dtype in zip(state, made.samplers, made.dtypes, strict=True)
            )
        ):
            return None
        inputs = [given.storage for given in arguments.images] + made.captured
        is_limited = targets.limits(made.device) is not None
        if is_limited and running.ready(made, inputs, whole) is None:
            return None
        nowhere: list[NDArray[Any] | None] = [None] * len(state)
        work = Work(inputs, (), whole, nowhere)
        try:
            storages = made.program.run_rounds(work, uniforms, state)
        except OutOfMemory as error:
            log.info("%s; computing rounds one by one", error)
            return None
        if storages is None:
            return None
        shaped = [storage.shaped(whole) for storage in storages]
        return Run(made, wanted, shaped, None, nowhere, arguments)

    def is_checked(self) -> bool:
        """Whether what goes wrong at run time is to be found."""
        return self._check or is_checked_here()

    def is_fast(self) -> bool:
        """Whether functions may err by 2**-12 of their results."""
        return self.fast or is_fast_here()

    def extended(
        self, made: Specialisation, arguments: Arguments, shape: Any, out: Out | None
    ) -> tuple[Extended, ...]:
        """The images that are smaller than what such a call would give."""
        inputs = [given.storage for given in arguments.images] + made.captured
        if not inputs or made.planar is not None:
            return ()
        sizes = [(each.height, each.width) for each in inputs]
        return extended(made.task, sizes, rows_of(self.size(shape, arguments, out)))

    def _instead(
        self,
        made: Specialisation,
        error: Exception,
        arguments: Arguments,
        wanted: Wanted,
        order: Sequence[int],
    ) -> Specialisation:
        """The cpu's program for what OpenGL does not hold; DeviceError where it was demanded."""
        name, other = self.signature.name, targets.instead_of(made.device, self._target)
        if other is None:
            if isinstance(error, DeviceError):
                raise error
            raise DeviceError(
                f"{name}: {error}; the target {made.device.name!r} does not hold it at once, "
                "target='cpu' does"
            ) from None
        log.warning("%s on %s: %s; running on %s", name, made.device.name, error, other.name)
        return self.specialisation(arguments, wanted, order, other)

    def specialisation(
        self,
        arguments: Arguments,
        wanted: Wanted,
        order: Sequence[int] = (),
        device: Device | None = None,
    ) -> Specialisation:
        """The program for these arguments: kept, or compiled now."""
        if device is None:
            device = self.device()
        order = order or (arguments.first,)
        arguments.checked, arguments.fast = self.is_checked(), self.is_fast()
        asked = arguments.checked, arguments.fast, arguments.dims
        key = (*asked, *arguments.key, wanted, device.name, *order)
        found = self._cache.get(key)
        if found is not None:
            return found
        with COMPILING.lock:
            found = self._cache.get(key)
            if found is None:
                found = self._specialise(arguments, wanted, order, device)
                self._cache.put(key, found)
        return found

    def translated(self, arguments: Arguments, checked: bool | None = None) -> Translated:
        """The function in SSA for these arguments; a checked program where that is asked for, by
        the function or the environment if `checked` does not say."""
        with COMPILING.lock:
            arguments.checked = self.is_checked() if checked is None else checked
            return translate(self.function, self.signature, arguments, self._cache)

    def share(self, other: Programs) -> None:
        """Take the same function's translations for another target as one's own, and give it what
        is translated from now on."""
        self._cache.translations = other._cache.translations

    def device(self) -> Device:
        """The device on which calls run."""
        return targets.choose(self._target)

    @property
    def target(self) -> str:
        """The name of that device."""
        return self.device().name

    def types(self, arguments: Arguments) -> tuple[tuple[Type, ...], bool]:
        """The types of the results, and whether the function returns a tuple."""
        made = self.translated(arguments)
        types = tuple([value.type for value in made.results])
        return types, made.translation.is_tuple

    def _specialise(
        self, arguments: Arguments, wanted: Wanted, order: Sequence[int], device: Device
    ) -> Specialisation:
        """Compile; what a driver refuses goes to the cpu where the target was left to PyGPU."""
        function, signature, cache = self.function, self.signature, self._cache
        try:
            return specialise(function, signature, arguments, wanted, device, cache, order)
        except DeviceError as error:
            other = targets.instead_of(device, self._target)
            if other is None:
                raise
            log.warning("%s on %s: %s; running on %s", signature.name, device.name, error, other)
        return specialise(function, signature, arguments, wanted, other, cache, order)

    def size(self, shape: Any, arguments: Arguments, out: Out | None) -> tuple[int, ...]:
        """The shape of the results: (N,) of signals, (H, W) of images, (D, H, W) of volumes."""
        if shape is not None:
            return _checked_shape(shape)
        if arguments.first < len(arguments.images):
            return arguments.images[arguments.first].storage.shape
        for value in arguments.values:
            if isinstance(value, textures.Mipmaps):  # which stand for the image that they are of
                return value.height, value.width
        there = [array for array in (out.arrays if out else ()) if array is not None]
        array = next((array for array in there if 1 <= array.ndim <= 4), None)
        dims = 2 if array is None else {1: 1, 4: 3}.get(array.ndim, 2)  # of three axes: channels
        captured = self._captured(arguments, dims)
        if captured is not None:
            return captured.storage.shape
        if array is not None:
            return _checked_size(array.shape[:dims], "out: shape", array.shape)
        raise TypeError(
            f"{self.signature.name}() is given no image, so it needs the size of its result: "
            "shape=(height, width)"
        )

    def _captured(self, arguments: Arguments, dims: int) -> ImageLike | None:
        """The first image that a function which is given none reads as a global. Only when it is
        translated this shows, and then positions have components already: `dims`, or as many as
        there must be."""
        refused = None
        for count in dict.fromkeys((dims, 2, 1, 3)):
            arguments.asked = count
            try:
                captured = self.translated(arguments).translation.captured
            except Exception as error:  # whatever the function says of such positions
                refused = refused or error
                continue
            if not captured or captured[0].dims == count:
                return captured[0] if captured else None
        assert refused is not None, "an image has one to three coordinates"
        raise refused

    def specialisations(self) -> list[Specialisation]:
        """The programs that have been compiled so far."""
        return list(self._cache.programs.values())

    def clear(self) -> None:
        """Forget all programs, one that another thread compiles now, too."""
        with COMPILING.lock:
            self.cleared += 1
            self._cache.clear()


@record(frozen=False)
class Run:
    """Results, still as storages."""

    specialisation: Specialisation
    wanted: Wanted
    storages: list[Storage]
    out: Out | None
    direct: list[NDArray[Any] | None]
    arguments: Arguments
    parent: Sampler | None = None  # results are read as this image; None: as the call's first

    def presented(self) -> Any:
        """The results as the caller gets them."""
        made = self.specialisation
        results = [self._one(index) for index in range(len(self.storages))]
        return tuple(results) if made.is_tuple else results[0]

    def samplers(self) -> Sequence[Sampler]:
        """How each result is read."""
        made, parent = self.specialisation, self.parent
        if parent is None:
            return made.samplers
        outputs = made.task.outputs[: len(made.samplers)]
        return [inherited(parent, format) for format in outputs]

    def _one(self, index: int) -> Any:
        made = self.specialisation
        storage = self.storages[index]
        if self.out is not None and self.out.fill(index, storage, self.direct[index]):
            return self.out.arrays[index]
        reading = self.samplers()[index]
        form = self.wanted.form
        info = NO_INFO if form == "array" else info_of(self.arguments.deciding)
        return present(form, storage, made.dtypes[index], reading, info)


def _checked_shape(shape: Any) -> tuple[int, ...]:
    try:
        if any(isinstance(side, (float, np.floating, str)) for side in shape):
            raise TypeError
        sides = tuple([int(side) for side in shape])
        if not 1 <= len(sides) <= 3:
            raise TypeError
    except (TypeError, ValueError):
        raise TypeError(
            "shape: takes (height, width), of signals (length,), of volumes (depth, height, "
            f"width), got {shown(shape)}"
        ) from None
    return _checked_size(sides, "shape", shape)


def checked_shape(shape: Any) -> tuple[int, int]:
    """(height, width) as it was given. TypeError or ValueError for anything else."""
    if type(shape) is tuple and len(shape) == 2:
        height, width = shape
        if type(height) is type(width) is int and 0 < height <= LONGEST and 0 < width <= LONGEST:
            return height, width
    sides = _checked_shape(shape)
    if len(sides) != 2:
        raise TypeError(f"shape: takes (height, width), got {shown(shape)}")
    return sides[0], sides[1]


def _checked_size(size: tuple[int, ...], name: str, given: Any) -> tuple[int, ...]:
    """The size, or a ValueError: positions are 32 bits wide."""
    if min(size) < 1 or max(rows_of(size)) > LONGEST:
        sides = {1: "the length is", 2: "height and width are", 3: "width and rows are"}[len(size)]
        raise ValueError(f"{name}={shown(given)}: {sides} from 1 to {LONGEST}")
    return size
