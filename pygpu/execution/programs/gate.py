"""Gates before calls: what earlier calls were given, and the programs that they ran.

A call that is given the same as one of the last few (arrays of the same shapes and dtypes, images
that are read alike, numbers for numbers, the same known values, by the same keywords) goes to that
program at once, without its arguments being sorted, or a key being made of them. Whatever is not
sure to be the same takes the long way.

    gate = Gate.after(signature, args, kwargs, run)     # None where the long way is the only one
    gate.enter(programs, args, kwargs, out)             # the results, or SHUT
    Gates.find(args); gates = gates.having(args, gate)  # those of calls with such a first argument
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import OutOfMemory
from pygpu.core.host import settings
from pygpu.core.programs import Prepared, Taken, Taking, Work
from pygpu.core.storage import ImageLike, Storage, rows_of, strides_of
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.execution.arguments.results import Form, ImageMaker, info_from, present
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.programs import running, tiles
from pygpu.execution.programs.calls import Programs, Run
from pygpu.execution.programs.passages import LEFT, Held, Passage, take
from pygpu.ssa import Constant

NOTHING: Final[Mapping[Any, tuple[Gate, ...]]] = MappingProxyType({})
SHUT: Final = object()  # says that a call takes the long way
KEPT: Final = 4  # gates of a function for images of one size: calls by turns have one each
SIZES: Final = 16  # sizes of images that a function has gates for, as of a pyramid's levels


class Gate:
    """See the module's head."""

    __slots__ = (
        "captured", "count", "depends", "device", "dtype", "fast", "form", "made", "names", "out",
        "passages", "prepared", "ready", "rows", "said", "samplers", "shape", "structure", "taking",
        "whole",
    )  # fmt: skip

    def __init__(
        self,
        names: tuple[str, ...],
        count: int,
        passages: Sequence[Passage],
        run: Run,
        dtype: Any,
        shape: Any,
        structure: Any = None,
    ) -> None:
        self.dtype: Final = dtype  # of results, as it was asked for
        self.shape: Final = shape  # of results, as it was asked for: a tuple of ints, or None
        self.said: Final = settings.standing()  # by the environment
        self.names: Final = names  # of the arguments that come by keyword
        self.count: Final = count  # of all arguments
        self.passages: Final = tuple(passages)  # in the order of the parameters
        self.made: Final = run.specialisation
        self.depends: Final = self.made.translated.translation.dependencies
        self.device, self.fast = self.made.device, self.made.task.fast
        self.samplers: Final = run.samplers()
        self.form: Final[Form] = run.wanted.form
        self.structure: Final = structure  # of what objects hold
        self.whole: Final[tuple[int, ...]] = run.storages[0].shape
        out = None if run.out is None else [each for each in run.out.arrays if each is not None]
        self.out: Final = None if out is None else [(a.shape, a.dtype, a.strides) for a in out]
        self.rows: Final = rows_of(self.whole)
        self.prepared: Final = _prepared(run)
        captured: list[Any] = self.made.captured
        inputs = [given.storage for given in run.arguments.images] + captured
        self.ready: Final = None if self.prepared else running.ready(self.made, inputs, self.whole)
        takes = self.prepared is not None and self.form == "array" and not captured
        self.taking: Taking | None = self._take_first if takes else None
        self.captured: Final = captured if self.prepared is None else [s.host() for s in captured]

    @classmethod
    def after(
        cls,
        signature: Signature,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        run: Run,
        dtype: Any = None,
        shape: Any = None,
    ) -> Gate | None:
        """The gate for calls like one that was given these arguments."""
        made, arguments = run.specialisation, run.arguments
        if (
            arguments.checked
            or made.translated.translation.faults
            or run.wanted.form == "pil"
            or any(d != s.dtype for d, s in zip(made.dtypes, run.storages, strict=True))
            or (len(args) > len(signature.positional) and signature.rest is None)
            or not (arguments.images if shape is None else _is_plain(shape))
            or (run.out is not None and any(array is None for array in run.direct))
        ):
            return None
        places = dict(zip(signature.positional, range(len(args)), strict=False))
        for place, name in enumerate(kwargs, len(args)):
            places[signature.indices.get(name, LEFT)] = place
        given = (*args, *kwargs.values())
        images, held = iter(arguments.images), Held()
        passages = []
        for index, parameter in enumerate(signature.parameters):
            place = places.pop(index, LEFT)
            if index == signature.rest:
                first = len(signature.positional)
                each = [(n, _one_of(parameter, n - first)) for n in range(first, len(args))]
            elif place == LEFT and (parameter.role == "position" or parameter.is_left):
                continue
            else:
                each = [(place, parameter)]
            for place, one in each:
                value = parameter.default if place == LEFT else given[place]
                passage = Passage.of(place, one, value, images, held)
                if passage is None:
                    return None
                passages.append(passage)
        structure = held.structure()
        if places or next(images, None) is not None or structure is None:
            return None
        return cls(tuple(kwargs), len(given), passages, run, dtype, shape, structure)

    @classmethod
    def of_elements(
        cls,
        names: Sequence[str],
        values: Sequence[Any],
        run: Run,
        dtype: Any,
        shape: tuple[int, ...] | None = None,
    ) -> Gate | None:
        """The gate for calls of a function of single numbers like one that was given these values:
        Python's own numbers, and arrays or images of the result's size. `shape` is () where numbers
        alone give one."""
        made, arguments = run.specialisation, run.arguments
        whole = run.storages[0].shape
        images = iter(arguments.images)
        passages = []
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            passage = Passage.of_element(place, name, value, whole, images)
            if passage is None:
                return None
            passages.append(passage)
        numbers = sum(passage.how == "number" for passage in passages)
        if (
            arguments.checked
            or made.translated.translation.faults
            or len(arguments.uniforms) != numbers
            or next(images, None) is not None
            or any(d != s.dtype for d, s in zip(made.dtypes, run.storages, strict=True))
        ):
            return None
        return cls((), len(values), passages, run, dtype, shape)

    def _take_first(self, args: tuple[Any, ...], out: Any) -> Sequence[NDArray[Any]] | None:
        """Find what takes calls' arguments from them itself, if the device has it, and use it."""
        every = [passage.taken() for passage in self.passages]
        if self.prepared is None or any(each is None for each in every):
            self.taking = None
            return None
        taken = [one for each in every for one in each or ()]
        into = None
        if self.out is not None:
            into = [Taken("array", place, kind) for place, kind in enumerate(self.out)]
        taking = self.taking = self.prepared.taking(taken, into)
        return None if taking is None else taking(args, out)

    def is_shape(self, shape: Any) -> bool:
        """Whether results of this shape were asked for, too."""
        return _is_plain(shape) and bool(shape == self.shape)

    def enter(
        self,
        programs: Programs,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        dtype: Any = None,
    ) -> Any:
        """The results of a call that is like the one before; SHUT where it is not."""
        made, prepared = self.made, self.prepared
        if dtype is not self.dtype:
            return SHUT
        if kwargs or self.names:
            if tuple(kwargs) != self.names:
                return SHUT
            args = (*args, *kwargs.values())
        if len(args) != self.count or (out is None) is not (self.out is None):
            return SHUT
        # The device before images are looked at, which may be deferred.
        if (
            settings.standing() != self.said
            or self.fast is not programs.is_fast()
            or programs.device() is not self.device
        ):
            return SHUT
        if self.depends.changed():
            return SHUT
        if made.is_tuple and out is not None and not self._are_as_many(out):
            return SHUT
        taking = self.taking  # which another thread may find meanwhile
        if taking is not None:
            results = taking(args, None if out is None else self._outs(out))
            if results is not None:
                if out is not None:
                    return out
                return results if made.is_tuple else results[0]
        taken = take(self.passages, args, prepared is not None)
        if taken is None:
            return SHUT
        inputs, values, held = taken
        if held is not None and held.structure() != self.structure:
            return SHUT
        if out is not None and not self._takes(out, inputs):
            return SHUT
        inputs += self.captured
        if prepared is None:
            return self._run(inputs, values, args, out)
        arrays = prepared.run(inputs, values, None if out is None else self._outs(out))
        if arrays is None:
            return SHUT
        if out is not None:
            return out
        if self.form != "array":
            return self._presented([*map(self._storage, arrays)], args)
        return tuple(arrays) if made.is_tuple else arrays[0]

    def _storage(self, array: NDArray[Any]) -> Storage:
        """The texels of a result."""
        texels = array.reshape(*self.rows, -1)
        storage = Storage(*texels.shape, array.dtype, texels)
        storage.shape = self.whole
        return storage

    def _are_as_many(self, out: Any) -> bool:
        """Whether as many arrays were given for results as there are."""
        return type(out) is tuple and len(out) == len(self.out or ())

    def _outs(self, out: Any) -> tuple[Any, ...]:
        """The arrays that were given for results."""
        return out if self.made.is_tuple else (out,)

    def _takes(self, out: Any, inputs: Sequence[Any]) -> bool:
        """Whether results may go straight into arrays, as those of the call before did."""
        outs = self._outs(out)
        for array, kind in zip(outs, self.out or (), strict=True):
            if array.__class__ is not np.ndarray or not array.flags.behaved:
                return False
            if (array.shape, array.dtype, array.strides) != kind:
                return False
            for each in inputs:
                is_storage = isinstance(each, Storage)
                if each.shares(array) if is_storage else np.may_share_memory(array, each):
                    return False
        if len(outs) == 1:
            return True
        return not any(np.may_share_memory(one, other) for one, other in combinations(outs, 2))

    def _run(
        self, inputs: list[Storage], values: Sequence[Constant], args: Sequence[Any], out: Any
    ) -> Any:
        """The results by the program itself."""
        made = self.made
        if out is None and self.ready is not None:
            try:
                storages = self.ready(Work(inputs, values, self.rows, [None] * len(made.types)))
            except OutOfMemory:
                return SHUT
            for storage in storages:
                storage.shape = self.whole
            return self._presented(storages, args)
        direct: list[NDArray[Any] | None] = [None] * len(made.types)
        if out is not None:
            direct = [array.reshape(*rows_of(self.whole), -1) for array in self._outs(out)]
        try:
            storages = running.run(made, Work(inputs, values, self.whole, direct))
        except (tiles.NotCut, OutOfMemory):
            return SHUT
        if out is not None:
            return out
        return self._presented([storage.shaped(self.whole) for storage in storages], args)

    def _presented(self, storages: Sequence[Storage], args: Sequence[Any]) -> Any:
        """Results as the caller of the call before got them."""
        made, form = self.made, self.form
        shown: list[Any] = []
        info = NO_INFO if form == "array" else info_from(args)
        for storage, dtype, sampler in zip(storages, made.dtypes, self.samplers, strict=True):
            if form == "image" and dtype is storage.dtype:
                shown.append(ImageMaker.make(storage, sampler, info=info))
            else:
                shown.append(present(form, storage, dtype, sampler, info))
        return tuple(shown) if made.is_tuple else shown[0]


class Gates:
    """The gates of a function, by the size of the image that calls are given first. It is never
    changed, so that threads may look into it while another one puts a gate in front."""

    __slots__ = ("_of_sizes",)

    def __init__(self, of_sizes: Mapping[Any, tuple[Gate, ...]] = NOTHING) -> None:
        self._of_sizes: Final = of_sizes

    def find(self, args: tuple[Any, ...]) -> tuple[Gate, ...]:
        """The gates of calls whose first image had the size of this call's."""
        if args and args[0].__class__ is np.ndarray:
            return self._of_sizes.get(args[0].shape, ())
        return self._of_sizes.get(_size(args), ())

    def having(self, args: tuple[Any, ...], gate: Gate) -> Gates:
        """With one in front; of the sizes the one that was added first goes."""
        size = _size(args)
        others = {key: gates for key, gates in self._of_sizes.items() if key != size}
        if len(others) >= SIZES:
            del others[next(iter(others))]
        return Gates({**others, size: (gate, *self.find(args)[: KEPT - 1])})


def _size(args: tuple[Any, ...]) -> Any:
    """The shape of the array or the image that comes first; None of anything else."""
    if args:
        first = args[0]
        if first.__class__ is np.ndarray:
            return first.shape
        if isinstance(first, ImageLike):
            return first.storage.shape
    return None


def _is_plain(shape: Any) -> bool:
    """Whether a shape is a tuple of ints, which is what it is equal to."""
    return shape.__class__ is tuple and {*map(type, shape)} <= {int}


def _prepared(run: Run) -> Prepared | None:
    """The program of a run, prepared for more runs of this size."""
    made, shape = run.specialisation, run.storages[0].shape
    storages = [given.storage for given in run.arguments.images] + made.captured
    strides: tuple[int, ...] = ()
    if made.device.rows_apart:
        strides = strides_of([each.lying() for each in (*storages, *run.storages)])
    if made.planar is not None:
        return None if strides else running.prepared(made, made.planar, storages, shape)
    sizes = [(each.height, each.width) for each in storages]
    return made.program.prepared(sizes, shape, strides)


def _one_of(parameter: Parameter, number: int) -> Parameter:
    """One of the arguments that a parameter takes all the rest of."""
    name = f"{parameter.name}[{number}]"
    return replace(parameter, name=name, kind=inspect.Parameter.POSITIONAL_ONLY)
