"""`f.map(stack)`: a function of images over stacks of frames, with one program.

    denoise.map(film)                      # (T, H, W) gives (T, H, W), (T, H, W, C) alike
    for frame in denoise.map(camera()): ...    # frames one by one: a generator

A stack has axes before those that the function's parameter takes. The frames of an array are not
copied, and on `cpu` they are one native job. Arguments that do not vary are given as in a call.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.host.records import record
from pygpu.core.programs import Work
from pygpu.core.storage import ImageLike, Storage
from pygpu.execution.arguments.convert import KINDS, array_of, is_picture, is_pil, storage_of
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import ImageMaker, Out, form_of
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.large.sources import NO_OUT, is_dask
from pygpu.execution.programs import checked, running
from pygpu.execution.programs.calls import Programs, Run
from pygpu.execution.programs.specialise import Specialisation


@record
class Stack:
    """Frames given for a parameter: the axes that they lie along, and each as a call takes it."""

    leading: tuple[int, ...]
    frame: Callable[[int], Any]
    storage: Storage | None  # of all, where they are in memory

    @property
    def count(self) -> int:
        return math.prod(self.leading)


def map_over(
    compiled: Programs,
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    out: Any,
    shape: Any,
    dtype: Any,
) -> Any:
    """See runtime.Compiled.map. `call` calls the function, for frames that come one by one."""
    signature = compiled.signature
    values = signature.collect(args, kwargs)
    images = [i for i, p in enumerate(signature.parameters) if p.role == "image"]
    given = [i for i in images if values[i] is not signature.parameters[i].default]
    if not given:
        raise TypeError(f"{signature.name}.map: takes frames of an image, and none is given")
    if any(is_dask(values[i]) for i in given):
        if out is not None:
            raise TypeError(NO_OUT)
        return _lazily(call, signature, values, given, shape, dtype)
    if any(come_one_by_one(values[i]) for i in given):
        if out is not None:
            raise TypeError("out: of frames that come one by one each result is a new one")
        stacks = _iterables(signature, values, given)
        names = [p.name for p in signature.parameters]
        fixed = {names[i]: v for i, v in enumerate(values) if _is_given(signature, i, v)}
        return _one_by_one(call, {names[i]: s for i, s in stacks.items()}, fixed, shape, dtype)
    stacks_of = _stacks(signature, values, given)
    return _at_once(compiled, values, stacks_of, out, shape, dtype)


# ---------------------------------------------------------------- what varies


def come_one_by_one(value: Any) -> bool:
    """Whether it is frames, and no array of them."""
    is_one = isinstance(value, ImageLike | str | bytes) or is_picture(value)
    return isinstance(value, Iterable) and not is_one


def _is_given(signature: Signature, index: int, value: Any) -> bool:
    parameter = signature.parameters[index]
    return parameter.role != "position" and value is not parameter.default


def _stacks(signature: Signature, values: Sequence[Any], given: Sequence[int]) -> dict[int, Stack]:
    """The stacks among the arguments, by parameter. The first image always varies; of the others
    those that have more axes than a call takes."""
    found: dict[int, Stack] = {}
    for place, index in enumerate(given):
        parameter = signature.parameters[index]
        stack = stack_of(values[index], parameter.name, parameter.type, must=place == 0)
        if stack is not None:
            found[index] = stack
    _common(signature, found)
    return found


def _common(signature: Signature, stacks: Mapping[int, Stack]) -> tuple[int, ...]:
    """The axes along which all stacks lie. ValueError where they differ."""
    leading = {stack.leading for stack in stacks.values()}
    if len(leading) > 1:
        listed = ", ".join(
            f"{signature.parameters[i].name} {stack.leading}" for i, stack in stacks.items()
        )
        raise ValueError(f"{signature.name}.map: stacks of different lengths: {listed}")
    return next(iter(leading))


def stack_of(value: Any, name: str, dims: int, must: bool) -> Stack | None:
    """The frames in a value; None where it is an argument of a call as it stands."""
    if isinstance(value, ImageLike):
        return _stack_of_image(value, name, dims, must)
    if is_pil(value):
        if must:
            raise TypeError(f"{name}: takes a stack of frames, got {shown(value)}")
        return None
    array = array_of(value, name, dims)
    axes = array.ndim - dims
    if not must and (axes <= 0 or (axes == 1 and array.shape[-1] <= 4)):
        return None
    has_channels = axes > 1 and 1 <= array.shape[-1] <= 4
    leading = array.shape[: axes - has_channels]
    if axes < 1:
        raise ValueError(
            f"{name}: takes a stack of frames, an array with axes before those of "
            f"{KINDS[dims]}; got one of shape {array.shape}, which is no more than a frame"
        )
    return _stack_of_array(array, leading, name, dims)


def _stack_of_array(array: NDArray[Any], leading: tuple[int, ...], name: str, dims: int) -> Stack:
    frames = array.reshape(math.prod(leading), *array.shape[len(leading) :])
    if len(frames) == 0:  # what is compiled has the types of frames that might have been
        frame = np.zeros(frames.shape[1:], frames.dtype)
        return Stack(leading, lambda _: frame, storage_of(frame, name, dims))
    rows = (
        frames
        if dims == 2
        else frames[:, None]
        if dims == 1
        else frames.reshape(-1, *frames.shape[2:])
    )
    return Stack(leading, frames.__getitem__, storage_of(rows, name, 3))


def _stack_of_image(image: ImageLike, name: str, dims: int, must: bool) -> Stack | None:
    """Images are frames of a volume, signals those of an image."""
    if image.dims == dims + 1:
        storage, reading = image.storage, sampler.of(image)
        if dims == 1:
            storage = storage.as_image()
            storage = Storage.of(storage.host(), (storage.height, 1, storage.width))

        def frame(t: int) -> ImageLike:
            plane = storage.plane(t)
            return ImageMaker.make(plane.shaped((plane.width,)) if dims == 1 else plane, reading)

        return Stack(storage.shape[:1], frame, storage)
    if must:
        raise TypeError(
            f"{name}: takes a stack of frames, got a pygpu.{KINDS[image.dims]} of shape "
            f"{image.storage.shape}"
        )
    return None


# ---------------------------------------------------------------- frames one by one


def _iterables(
    signature: Signature, values: Sequence[Any], given: Sequence[int]
) -> dict[int, Iterable[Any]]:
    """What is gone through, frame by frame: iterables, and stacks beside them."""
    found: dict[int, Iterable[Any]] = {}
    for place, index in enumerate(given):
        value, parameter = values[index], signature.parameters[index]
        if come_one_by_one(value):
            found[index] = value
            continue
        stack = stack_of(value, parameter.name, parameter.type, must=place == 0)
        if stack is not None:
            found[index] = map(stack.frame, range(stack.count))
    return found


def _lazily(
    call: Callable[..., Any],
    signature: Signature,
    values: Sequence[Any],
    given: Sequence[int],
    shape: Any,
    dtype: Any,
) -> Any:
    """The results of frames of Dask arrays, each a graph of its own, in chunks as theirs."""
    array = sys.modules["dask.array"]
    stacks = {}
    for place, index in enumerate(given):
        parameter, value = signature.parameters[index], values[index]
        if is_dask(value):
            lazy = lazy_stack(value, parameter.name, parameter.type, must=place == 0)
            if place == 0 or lazy.leading:
                stacks[index] = lazy
            continue
        stack = stack_of(value, parameter.name, parameter.type, must=place == 0)
        if stack is not None:
            stacks[index] = stack
    leading = _common(signature, stacks)
    names = [p.name for p in signature.parameters]
    fixed = {names[i]: v for i, v in enumerate(values) if _is_given(signature, i, v)}
    made = [
        call(
            **{**fixed, **{names[i]: s.frame(t) for i, s in stacks.items()}},
            shape=shape,
            dtype=dtype,
        )
        for t in range(math.prod(leading))
    ]
    if not made:
        raise ValueError(f"{signature.name}.map: a Dask array without frames")
    parts = list(zip(*made, strict=True)) if isinstance(made[0], tuple) else [tuple(made)]
    found = [values[i].chunks for i in stacks if is_dask(values[i])]
    chunks = dict(enumerate(found[0][: len(leading)])) if found else {}  # as many frames in each
    results = [
        array.stack(part).reshape((*leading, *part[0].shape)).rechunk(chunks) for part in parts
    ]
    return tuple(results) if isinstance(made[0], tuple) else results[0]


def lazy_stack(value: Any, name: str, dims: int, must: bool = True) -> Stack:
    """The frames of a Dask array; one without axes before those of a frame has none to vary."""
    axes = value.ndim - dims
    has_channels = axes > 1 and 1 <= value.shape[-1] <= 4
    if axes < 1 and must:
        raise ValueError(
            f"{name}: takes a stack of frames, got a Dask array of shape {value.shape}, which is "
            "no more than a frame"
        )
    leading = value.shape[: max(axes - has_channels, 0)]
    return Stack(leading, partial(_dask_frame, value, leading), None)


def _dask_frame(value: Any, leading: tuple[int, ...], t: int) -> Any:
    return value[np.unravel_index(t, leading)]


def _one_by_one(
    call: Callable[..., Any],
    stacks: Mapping[str, Iterable[Any]],
    fixed: Mapping[str, Any],
    shape: Any,
    dtype: Any,
) -> Iterator[Any]:
    """The result of each frame, when it is asked for. The shortest of several stacks ends it."""
    for frames in zip(*stacks.values(), strict=False):
        varying = dict(zip(stacks, frames, strict=True))
        yield call(**{**fixed, **varying}, shape=shape, dtype=dtype)


# ---------------------------------------------------------------- frames at once


def _at_once(
    compiled: Programs,
    values: list[Any],
    stacks: Mapping[int, Stack],
    out: Any,
    shape: Any,
    dtype: Any,
) -> Any:
    """The results of all frames, in arrays with the axes of the stacks before theirs."""
    first = next(iter(stacks.values()))
    leading, count = first.leading, first.count
    framed = _of_frame(values, stacks, 0)
    arguments = flatten(compiled.signature, framed, stays=False)
    targeted = None if out is None else Out.of(out)
    wanted = compiled.wanted(form_of(arguments.deciding), targeted, dtype)
    size = compiled.size(shape, arguments, None)
    arguments.asked = len(size)
    made = compiled.specialisation(arguments, wanted)
    whole, place = (count, *size), _places(arguments, framed, stacks)
    inputs = [each.storage for each in arguments.images] + made.captured
    for image, index in place.items():
        stored = stacks[index].storage
        assert stored is not None, "the frames are in memory"
        inputs[image] = stored
    direct: list[NDArray[Any] | None] = [None] * len(made.task.outputs)
    if targeted is not None:
        targeted.check(made.types, made.is_tuple, (*leading, *size))
        formats, rows = made.task.outputs[: len(made.types)], (math.prod(whole[:-1]), whole[-1])
        direct[: len(made.types)] = targeted.direct(formats, inputs, rows)
    compiled.check_sizes(arguments, made, size)
    if count == 0:
        storages = [_nothing(whole, format.channels, format.dtype) for format in made.task.outputs]
    else:
        work = Work(inputs, arguments.uniforms, size, direct)
        varying = {image: arguments.images[image].storage.shape for image in place}
        made, storages = compiled.held(
            made, lambda made: running.run_frames(made, work, count, varying), arguments, wanted
        )
    if made.translated.translation.faults:
        numbers = storages.pop().host().reshape(whole)
        _raise_first(compiled, made, numbers, values, stacks)
    storages = [each.shaped(whole) for each in storages]
    run = Run(made, wanted, storages, targeted, direct[: len(storages)], arguments)
    results = run.presented()
    if len(leading) == 1 or targeted is not None:
        return results
    made_of = results if isinstance(results, tuple) else (results,)
    shaped = tuple([np.asarray(each).reshape(*leading, *each.shape[1:]) for each in made_of])
    return shaped if isinstance(results, tuple) else shaped[0]


def _of_frame(values: Sequence[Any], stacks: Mapping[int, Stack], t: int) -> list[Any]:
    """The arguments of a call for one frame."""
    return [stacks[i].frame(t) if i in stacks else value for i, value in enumerate(values)]


def _places(
    arguments: Arguments, framed: Sequence[Any], stacks: Mapping[int, Stack]
) -> dict[int, int]:
    """Which images of the call are frames, and of which parameter."""
    frames = {id(framed[index]): index for index in stacks}
    return {
        image: frames[id(given.original)]
        for image, given in enumerate(arguments.images)
        if id(given.original) in frames
    }


def _nothing(whole: tuple[int, ...], channels: int, dtype: np.dtype[Any]) -> Storage:
    array = np.empty((0, whole[-1], channels), dtype)
    return Storage(0, whole[-1], channels, dtype, array).shaped(whole)


def _raise_first(
    compiled: Programs,
    made: Specialisation,
    numbers: NDArray[Any],
    values: Sequence[Any],
    stacks: Mapping[int, Stack],
) -> None:
    """Raise what went wrong in the first frame in which something has."""
    for t in np.flatnonzero(numbers.reshape(len(numbers), -1).any(1))[:1]:
        arguments = flatten(compiled.signature, _of_frame(values, stacks, int(t)), stays=False)
        faults = made.translated.translation.faults
        try:
            checked.raise_first(
                faults, numbers[t], compiled.function, compiled.signature, arguments
            )
        except Exception as error:
            error.add_note(f"in frame {t}")
            raise
