"""Filters of whole images that take several passes: what comes back is what went in.

    @whole
    def opening(image, footprint):         # called with an array, a PIL image or a pygpu.Image
        return dilation(erosion(image, footprint=footprint), footprint=footprint)

In the function the image is a pygpu.Image, whatever was given, and so is what it returns; of a
Dask array it is a LazyImage, which no texel can be asked of.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import (
    check_flags,
    flags_of,
    guarded,
    name_misfit,
    name_unknown,
    shorten,
    shown,
)
from pygpu.core.storage import STORED, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.convert import (
    array_of,
    is_pil,
    result_dtype,
    texels_of,
    without_channel_axis,
)
from pygpu.execution.arguments.parameters import Given, flatten
from pygpu.execution.arguments.results import ImageMaker, Out, form_of, info_from, picture_of
from pygpu.execution.framewise import mapped
from pygpu.execution.large import labels
from pygpu.execution.large.images import LazyImage
from pygpu.execution.large.sources import NO_OUT, holds_dask, is_dask
from pygpu.execution.pipelines.deferred import current, settled
from pygpu.execution.pipelines.together import Together
from pygpu.image.image import Image
from pygpu.language.vectors import CLASSES, Position
from pygpu.runtime import Compiled, compile
from pygpu.types import vector

LARGE: Final = 1 << 15  # pixels above which passes are put together
BYTES: Final = frozenset(("L", "LA", "P", "RGB", "RGBA"))  # modes whose results are bytes again
SOME: Final = 1 << 8  # floats by which it is told whether they may have been
MANY: Final = 1 << 11  # floats by which it is told whether they have few values
LEVELS: Final = (255, 1023, 4095, 16383, 65535)  # whole numbers of 8 to 16 bits
PICTURE: Final = "picture"  # in place of a dtype: floats become bytes, the rest stays


def image_of(value: Any, name: str) -> Any:
    """A pygpu.Image that shares the memory of what was given; of a Dask array a LazyImage."""
    if isinstance(value, (Image, LazyImage)):
        return value
    if is_dask(value):
        return LazyImage.of(value, name)
    storage = Storage.of(texels_of(array_of(value, name), name))
    reading = sampler.default(storage.dtype, storage.channels)
    return ImageMaker.make(storage, reading, info=info_from([value]))


class Levels(NamedTuple):
    """An image of bytes or words, and what texels are that are numbers of these: by what they are
    more than the same bytes or words, or the value of each."""

    image: Image
    scale: float = 1.0
    values: NDArray[np.float32] | None = None

    @property
    def unit(self) -> float:
        return self.scale / np.iinfo(self.image.format.dtype).max if self.values is None else 1.0

    def of(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """What numbers stand for, in units."""
        return numbers if self.values is None else self.values[numbers]


def levels_of(image: Image) -> Levels | None:
    """Bytes and words as they are, or those that floats have been made of or that tell few floats
    apart; None of other images. They are counted, in a fraction of the time of a sort."""
    host = image.storage.host()
    if host.dtype != np.float32:
        return Levels(image) if host.dtype in (np.uint8, np.uint16) else None
    some = host.ravel()[:: max(1, host.size // SOME | 1)]
    for most in LEVELS:
        if _of_levels(some, most) is not None:
            found = _of_levels(host, most)
            if found is not None:
                return Levels(Image(found), np.iinfo(found.dtype).max / most)
    return _told_apart(host)


def _of_levels(floats: NDArray[np.float32], most: int) -> NDArray[Any] | None:
    """The bytes or words, up to so many, that floats have been made of; None of other floats."""
    kind = np.uint8 if most == 255 else np.uint16
    with np.errstate(invalid="ignore", over="ignore"):
        found: NDArray[Any] = np.rint(floats * np.float32(most)).astype(kind)
    made = found / np.float32(most), found * np.float32(1 / most)
    return found if any(np.array_equal(each, floats) for each in made) else None


def _told_apart(host: NDArray[np.float32]) -> Levels | None:
    """Floats of few values, as bytes are that something was done to, as words: even steps of their
    range, or of each power of two, if each step has one value."""
    flat, device = host.reshape(-1, 1), targets.choose("auto")
    some = flat[:: max(1, len(flat) // MANY | 1)]
    is_worth_it = len(flat) >= LARGE and len(np.unique(some)) < len(some) // 2
    low, high = flat.min(), flat.max()
    with np.errstate(all="ignore"):
        scale = np.float32(65535 / (high - low))  # 0 or no number where there is one that is none
    if not (is_worth_it and 0 < scale < math.inf and targets.is_on_host(device)):
        return None
    start = np.full((1 << 16, 1), low, np.float32)
    for is_even in (True, False):
        if is_even:
            words = np.rint((flat - low) * scale).astype(np.int32)
        else:
            words = (flat - low).view(np.int32) >> 15
        values = device.fold_groups(flat, words[:, 0], "maximum", start.copy())
        if values is not None and np.array_equal(values.take(words), flat):
            return Levels(Image(words.astype(np.uint16).reshape(host.shape)), values=values[:, 0])
    return None


def refuse_dask(name: str, reason: str, instead: str, *images: Any) -> None:
    """TypeError for Dask arrays, of which a filter would need all texels at one place."""
    if any(map(is_dask, images)):
        raise TypeError(f"{name}: takes no such Dask array: {reason}. {instead}")


def known_mask(name: str, reason: str, instead: str, image: Image, mask: Any) -> NDArray[np.bool_]:
    """A mask of the image's size, in memory as the image is."""
    refuse_dask(name, reason, instead, image, mask)
    found = np.asarray(mask, bool)
    if found.shape != image.shape[:2]:
        size = image.shape[:2]
        raise ValueError(f"{name}: a mask has the image's size {size}, got {found.shape}")
    return found


def channels_of(image: Image, name: str, *taken: int) -> None:
    """ValueError for an image of other channels."""
    if image.channels not in taken:
        most = " or ".join(map(str, taken)) + " channel" + "s" * (taken[-1] > 1)
        help = ": rgb2gray makes one of three" if taken == (1,) else ""
        raise ValueError(f"{name} takes an image of {most}, got {image.channels}{help}")


def outside(image: Image, mode: str, cval: Any) -> Image:
    """The image with another boundary. `mode` is a parameter of the filter's, in SciPy's names."""
    if not isinstance(mode, str) or mode not in sampler.BOUNDARY_NAMES:
        names = ", ".join(map(repr, sampler.BOUNDARY_NAMES))
        raise ValueError(f"mode={shown(mode)}: takes {names}")
    return image.sampled(boundary=mode, cval=cval)


def pair_of(value: Any, name: str, takes: str, least: float = -math.inf) -> tuple[Any, Any]:
    """Two numbers, along y and x, of a pair or of one number for both. ValueError for others, and
    for those below the least, which says what is taken."""
    try:
        down, across = (value, value) if np.ndim(value) == 0 else value
        if all(least <= n and abs(n) < math.inf for n in (down, across)):
            return down, across
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} takes {takes}, got {shown(value)}")


def whole(function: Callable[..., Any], measures: bool = False) -> Callable[..., Any]:
    """Make a function of a pygpu.Image (and more) one of anything that is an image, with the
    keywords `out` and `dtype` of any call. Its result is an image, or a tuple of them. What it
    `measures` is no brightness: of a PIL image it is one of floats."""
    name, flags = function.__name__.lstrip("_"), flags_of(inspect.unwrap(function))

    @functools.wraps(function)
    def filtered(image: Any, *args: Any, out: Any = None, dtype: Any = None, **options: Any) -> Any:
        if labels.holds_labelled((image, *args), options):
            asked = {"out": out, "dtype": dtype}
            return labels.call(filtered, (image, *args), options | asked)
        try:
            check_flags(flags, (image, *args), options)
            target = None if out is None else Out.of(out)
            first = image_of(image, name)
            early = _early(image, target, dtype, measures)
            result = getattr(function, "last", function)(first, *args, **options)
            if isinstance(result, Last):
                result, left = result.made(early, target)
                if target is not None and result is target.arrays[0]:
                    return result
                dtype = dtype if early is None else None if early is PICTURE else left
            if measures and out is None and dtype is None and is_pil(image):
                dtype = np.float32
            return presented(result, image, first, out, dtype)
        except Exception as error:
            name_misfit(error, function, (image, *args), options)
            shorten(error)
            if isinstance(error, TypeError) and _is_misfit(error):
                error.__traceback__ = None
                error.__pygpu_refused__ = True  # type: ignore[attr-defined]  # for who guards a call
                name_unknown(error, function, options)
            raise

    filtered.__pygpu_whole__ = True  # type: ignore[attr-defined]
    filtered.__pygpu_takes_out__ = True  # type: ignore[attr-defined]
    return with_map(filtered)


def _is_double(dtype: Any) -> bool:
    """Whether results are to be floats of 64 bits, which no image holds: they are made at last."""
    return dtype is not None and result_dtype(dtype) == np.float64


def _early(image: Any, target: Out | None, dtype: Any, measures: bool) -> Any:
    """The dtype that the last pass may make itself; None for none."""
    if target is not None:
        kinds = set(target.dtypes())
        kind = None if len(kinds) > 1 or dtype is not None else kinds.pop()
        return kind if kind in STORED else None
    if type(image) is np.ndarray:
        return None if _is_double(dtype) else dtype
    in_bytes = dtype is None and not measures and is_pil(image) and image.mode in BYTES
    return PICTURE if in_bytes else None


def together(
    function: Callable[..., Any], least: int | None = None, alone: bool = False
) -> Callable[..., Any]:
    """Put the passes of a filter together, as a pipeline does, where the image has so many pixels
    that it is worth it, and do what has come before without Python. For filters that do not ask for
    texels on their way. One that is `alone` has a single pass, which makes a dtype if one is asked
    for."""
    parameters, passes = inspect.signature(function).parameters, Together(function)
    places = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    needed = {name for name, each in parameters.items() if each.default is each.empty}
    converted = Together(lambda dtype, **values: _as(dtype, function(**values)))

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        return as_dtype(None, None, *args, **options)[0]

    def named(args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any] | None:
        """Arguments by their names, in the parameters' order; None for such as do not fit. What
        `inspect` has for it takes four times as long."""
        found = dict(zip(places, args, strict=False)) | options
        fits = len(found) == len(args) + len(options) and needed <= found.keys()
        if not fits or not found.keys() <= parameters.keys():
            return None
        return {name: found[name] for name in parameters if name in found}

    def as_dtype(
        dtype: Any, target: Out | None, image: Image, *args: Any, **options: Any
    ) -> tuple[Any, Any]:
        """The result, made in the target if that can be done, and the dtype that it is to become:
        None where its last pass made that."""
        given = None
        if not holds_dask((image, *args, *options.values())):
            # What does not fit is said by the function's own call, as of other filters.
            given = named((image, *args), options)
        if given is None:
            return function(image, *args, **options), dtype
        most = LARGE if least is None else least
        if dtype is None:
            return function(**given) if alone else passes(most, given), None
        if isinstance(dtype, np.dtype | type) and np.dtype(dtype).isnative:
            dtype = np.dtype(dtype).name  # calls are told apart by names
        return converted(most, {"dtype": dtype, **given}, target), None

    def as_last(*args: Any, **options: Any) -> Last:
        return Last(lambda dtype, target: as_dtype(dtype, target, *args, **options))

    run.last = as_last  # type: ignore[attr-defined]
    return run


def last(function: Any, *args: Any, **options: Any) -> Last:
    """Such passes, or a compiled function, as the last step of a filter that has looked at its
    arguments, or at texels."""
    if not isinstance(function, Compiled):
        made: Last = function.last(*args, **options)
        return made

    def called(dtype: Any, target: Out | None) -> tuple[Any, Any]:
        is_lazy = any(isinstance(each, LazyImage) for each in (*args, *options.values()))
        if target is None or dtype is None or is_lazy:
            return function(*args, **options), dtype
        return function(*args, **options, out=target.arrays[0]), None

    return Last(called)


class Last(NamedTuple):
    """The last step of a filter, not made yet. Of a dtype and a target it is the result (or the
    target's array), and the dtype that is left to be made."""

    made: Callable[[Any, Out | None], tuple[Any, Any]]


def _as(dtype: Any, result: Any) -> Any:
    """A result, or a tuple of them, of a dtype, or as a PIL image has it."""
    if isinstance(result, tuple):
        return tuple([_as(dtype, one) for one in result])
    if dtype is not PICTURE:
        return result if result.dtype == dtype else _same(result, dtype=dtype)
    return _same(result, dtype="uint8") if result.format.kind == "float" else result


def _is_misfit(error: TypeError) -> bool:
    """Whether the arguments did not fit: then no line of the function was reached."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_filename == __file__


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter `guarded`, which takes labelled arrays, too."""
    inner = guarded(function)

    @functools.wraps(function)
    def labelled(*args: Any, **keywords: Any) -> Any:
        if labels.holds_labelled(args, keywords):
            return labels.call(refused, args, keywords)
        return inner(*args, **keywords)

    refused = guarded(labelled)
    refused.__pygpu_plain__ = function, {}  # type: ignore[attr-defined]
    return refused


def whole_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `refusing`, for a function of whole images that gives something else than an image."""
    refused = with_map(refusing(function))
    refused.__pygpu_whole__ = True  # type: ignore[attr-defined]
    return refused


def with_map(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with one of stacks as its `map`."""
    function.map = mapped(function)  # type: ignore[attr-defined]
    return function


def presented(result: Any, original: Any, first: Any, out: Any = None, dtype: Any = None) -> Any:
    """A result in the form of what was given, and read as that was."""
    if isinstance(result, tuple):
        outs = out if isinstance(out, tuple) else (out,) * len(result)
        pairs = zip(result, outs, strict=True)
        return tuple([presented(one, original, first, where, dtype) for one, where in pairs])
    if isinstance(result, LazyImage):
        if out is not None:
            raise TypeError(NO_OUT)
        if isinstance(original, LazyImage):
            return result
        is_given = isinstance(first, LazyImage) and result.array is first.array  # by no pass made
        return result.texels() if is_given and dtype is None else result.converted(dtype)
    form = form_of([Given(None, None, original)])  # type: ignore[arg-type]
    if out is None and dtype is None and form[0] != "pil":
        if form[0] == "image":
            reading = sampler.inherited(sampler.of(first), result.format)
            storage = result.storage if current() is not None else settled(result.storage)
            return ImageMaker.make(storage, reading, info=first.info)
        if result.storage is not first.storage:
            return without_channel_axis(result.storage.host())
    if form[0] == "pil" and out is None and dtype is None:
        is_made = result.storage.dtype == np.uint8 and result.storage is not first.storage
        if is_made and result.format.kind == "float":
            return picture_of(result.storage.handed(), first.info)
        # Numbers of regions and codes are no brightness: 8 bits would cut them off.
        dtype = np.int32 if result.format.kind == "int" else None
    targeted = None if out is None else Out.of(out)
    if targeted is not None and len(targeted.arrays) == 1 and targeted.holds(0, result.storage):
        return targeted.arrays[0]
    if not result.info:  # made anew, of texels that the filter asked for
        result = ImageMaker.make(result.storage, sampler.of(result), info=first.info)
    signature = _same.signature
    arguments = flatten(signature, signature.collect((result,), {}))
    wanted = _same.wanted(form, targeted, dtype)
    run = _same.run(arguments, wanted, out=targeted)
    run.parent = sampler.of(first)
    return run.presented()


@compile
def _same(im: Image, p: Position) -> Any:
    return im(p)


@compile
def _joined(*layers: Image, p: Position) -> Any:
    return CLASSES[vector("float", len(layers))](*[im(p) for im in layers])


def layers_of(image: Any) -> list[Any]:
    """The channels of an image, each an image."""
    return [image] if image.channels == 1 else [image[..., c] for c in range(image.channels)]


def joined(layers: Sequence[Any]) -> Any:
    """Images of one channel as one image."""
    return layers[0] if len(layers) == 1 else _joined(*layers)
