"""What NumPy's functions do with images: `__array_function__` of images, signals and volumes.

Functions see texels as operators do: bytes in [0, 1]. Those that give an array of texels give an
image, others what NumPy gives. For a function that is not here a TypeError says `np.asarray`.

    np.median(im); np.where(im > 0.5, im, 0); np.roll(im, 3, axis=1)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import asked, whole
from pygpu.core.storage import Format, ImageLike
from pygpu.execution.arguments.convert import MOVES
from pygpu.execution.arrays.histograms import histogram
from pygpu.execution.arrays.scanning import scan
from pygpu.execution.arrays.sorting import argsort, sort
from pygpu.execution.programs.options import Options
from pygpu.execution.vectorized import Vectorized
from pygpu.image.functions import moves, products, quantiles, statistics
from pygpu.image.functions.texels import first, image_of, seen, seen_in, stored_in

Rule = Callable[..., Any]


def _functions(names: str) -> tuple[Any, ...]:
    """NumPy's functions of these names, those that this NumPy has."""
    found = [functools.reduce(_attribute, name.split("."), np) for name in names.split()]
    return tuple([function for function in found if function is not None])


def _attribute(owner: Any, name: str) -> Any:
    return getattr(owner, name, None)


# Numbers, indices and arrays that are no images: computed by NumPy from texels. Sums in 64 bits.
_VALUES: Final = _functions(
    """
    all allclose any argmax argmin argpartition argwhere array_equal array_equiv bincount
    common_type count_nonzero digitize flatnonzero histogram2d histogram_bin_edges histogramdd
    intersect1d iscomplexobj isin isrealobj lexsort nanargmax nanargmin nanmax nanmin ndim nonzero
    ptp searchsorted setdiff1d setxor1d shape size trace union1d unique unique_all unique_counts
    unique_inverse unique_values
    """
)
_SUMS: Final = _functions(
    """
    average corrcoef cov dot einsum inner interp linalg.norm matmul matvec nanmean nanprod nanstd
    nansum nanvar outer prod std tensordot trapezoid var vdot vecdot vecmat
    """
)
# Texels that come of others at their own place or beside it: images.
_IMAGES: Final = _functions(
    """
    angle around choose convolve correlate cross diff ediff1d fix gradient i0 imag isclose
    isneginf isposinf kron nan_to_num nancumprod nancumsum partition piecewise real real_if_close
    round select sinc unwrap cumulative_sum cumulative_prod
    """
)
# What looks at the array that an image holds, as np.asarray does.
_HELD: Final = _functions(
    """
    array2string array_repr array_str can_cast copy copyto may_share_memory min_scalar_type
    result_type save savetxt savez savez_compressed shares_memory put putmask place
    """
)


# NumPy's functions that write into their first argument.
_WRITING: Final = (np.copyto, np.put, np.putmask, np.place)
_TARGETS: Final = ("dst", "a", "arr")  # the names of what they write into


def called(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy's of images."""
    rule = _TABLE.get(function)
    if rule is None:
        name = getattr(function, "__name__", "this function")
        module = getattr(function, "__module__", "numpy")
        raise TypeError(
            f"{module}.{name} of a pygpu.{type(first(args, kwargs)).__name__}: PyGPU has no "
            f"program for it; np.asarray(image) gives an array of what the image holds"
        )
    if isinstance(kwargs.get("out"), ImageLike):
        raise TypeError("out: an image cannot be written to, take an ndarray")
    return rule(function, args, kwargs)


# ---------------------------------------------------------------- rules


def _value(function: Any, args: Any, kwargs: Any) -> Any:
    image = first(args, kwargs)
    given = {name: value for name, value in kwargs.items() if name != "overwrite_input"}
    return asked(function, *seen_in(args, image), **seen_in(given, image))


def _sum(function: Any, args: Any, kwargs: Any) -> Any:
    image = first(args, kwargs)
    return asked(function, *seen_in(args, image, True), **seen_in(dict(kwargs), image, True))


def _texels(function: Any, args: Any, kwargs: Any) -> Any:
    image = first(args, kwargs)
    result = _value(function, args, kwargs)
    if isinstance(result, (list, tuple)):
        return type(result)([image_of(each, image) for each in result])
    return image_of(result, image)


def _held(function: Any, args: Any, kwargs: Any) -> Any:
    def change(value: Any) -> Any:
        return stored_in(value)

    written = args[0] if args else next((kwargs[name] for name in _TARGETS if name in kwargs), None)
    if function in _WRITING and isinstance(written, ImageLike):
        raise TypeError("an image cannot be written to: take a copy, np.array(image)")
    return asked(function, *change(args), **change(dict(kwargs)))


def _method(name: str) -> Rule:
    """A reduction that images have as a method; with other options by NumPy."""

    def rule(function: Any, args: Any, kwargs: Any) -> Any:
        given = {key: v for key, v in kwargs.items() if v is not np._NoValue}
        image, *rest = args if args else (None,)
        known = given.keys() <= {"axis", "dtype", "out", "keepdims"}
        if not isinstance(image, ImageLike) or len(rest) > 1 or not known:
            return _sum(function, args, kwargs)
        return getattr(image, name)(*rest, **given)

    return rule


def _where(function: Any, args: Any, kwargs: Any) -> Any:
    if len(args) != 3 or kwargs:
        return _value(function, args, kwargs)
    image = first(args)
    condition, *listed = [_beside(each, image) for each in args]
    if any(isinstance(each, ImageLike) and each.format.kind == "uint" for each in listed):
        # Whole numbers beside words without a sign are known, as in a function.
        named = dict(zip("ab", listed, strict=True))
        known = {name: value for name, value in named.items() if whole(value) is not None}
        rest = {name: value for name, value in named.items() if name not in known}
        return _selected(**known)(condition, **rest)
    return _selected()(condition, *listed)


def _beside(value: Any, image: ImageLike) -> Any:
    """An argument beside an image: arrays of as many axes are images of what functions see."""
    if isinstance(value, (np.ndarray, list)) and np.ndim(value) >= image.dims:
        seen_ = seen_in(np.asanyarray(value), image)
        return image_of(seen_, image)
    return value


@functools.lru_cache(maxsize=16, typed=True)
def _selected(**known: Any) -> Vectorized:
    return Vectorized(_select, Options(), known)


def _select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)


def _clip(function: Any, args: Any, kwargs: Any) -> Any:
    image, *rest = args
    if not isinstance(image, ImageLike):
        return _texels(function, args, kwargs)
    given = {{"a_min": "min", "a_max": "max"}.get(key, key): v for key, v in kwargs.items()}
    given = {key: v for key, v in given.items() if v is not np._NoValue}
    return image.clip(*rest, **given)  # type: ignore[attr-defined]


def _line(image: ImageLike, axis: Any) -> tuple[int | None, bool]:
    """An axis of NumPy's as one of coordinates, or None of all texels of one channel; and whether
    it is either, not the axis of channels."""
    axes = image.dims + (image.format.channels > 1)
    if axis is None:
        return None, axes == image.dims
    if whole(axis) is None or not -axes <= axis < axes or axis % axes >= image.dims:
        return None, False
    return int(axis % axes), True


def _sorting(program: Rule) -> Rule:
    """A sort along a coordinate by programs, else by NumPy of stored texels."""

    def rule(function: Any, args: Any, kwargs: Any) -> Any:
        image = first(args, kwargs)
        given = dict(zip(("a", "axis", "kind", "order"), args, strict=False)) | dict(kwargs)
        axis, known = _line(image, given.get("axis", -1))
        if not known or given.get("order") is not None:
            result = asked(function, *stored_in(args), **stored_in(dict(kwargs)))
            return image_of(result, image, stored=program is sort)
        return program(image, axis=axis)

    return rule


def _scanning(ufunc: np.ufunc) -> Rule:
    """Running sums of floats by programs; of whole numbers by NumPy in 64 bits, that must fit."""

    def rule(function: Any, args: Any, kwargs: Any) -> Any:
        image = first(args, kwargs)
        given = dict(zip(("a", "axis", "dtype", "out"), args, strict=False)) | dict(kwargs)
        axis, known = _line(image, given.get("axis"))
        others = any(given.get(name) is not None for name in ("dtype", "out"))
        if others or image.format.kind != "float" or not known:
            return image_of(_sum(function, args, kwargs), image)
        return scan(ufunc, image, axis)

    return rule


def _histogram(function: Any, args: Any, kwargs: Any) -> Any:
    """numpy.histogram of all texels."""
    given = dict(zip(("a", "bins", "range", "density", "weights"), args, strict=False)) | kwargs
    image, bins, limits = given["a"], given.get("bins", 10), given.get("range")
    plain = given.get("density") or given.get("weights") is not None
    if not isinstance(image, ImageLike) or plain or isinstance(bins, (str, ImageLike)):
        return _value(function, args, kwargs)
    if limits is None and np.ndim(bins) == 0:
        limits = float(image.min()), float(image.max())  # type: ignore[attr-defined]
        if not np.isfinite(limits).all() or limits[0] == limits[1]:
            return _value(function, args, kwargs)
    counts, edges = histogram(image, bins, (0.0, 1.0) if limits is None else limits)
    return (counts.sum(0) if counts.ndim > 1 else counts), edges


def _like(fill: Any) -> Rule:
    """Images of one value, of the type of texels that functions see."""

    def rule(function: Any, args: Any, kwargs: Any) -> Any:
        image = first(args, kwargs)
        value = fill
        if fill is None:
            value = kwargs.get("fill_value", args[1] if len(args) > 1 else 0)
        more = set(kwargs) - {"fill_value"}
        if more or len(args) > 2 or args[0] is not image:
            return asked(function, *stored_in(args), **kwargs)
        format = Format(image.format.dtype, image.format.channels, image.format.normalize)
        dtype = np.float32 if format.kind == "float" else seen(image).dtype
        return image_of(asked(np.full, image.storage.seen().shape, value, dtype), image)

    return rule


_TABLE: Final[dict[Any, Rule]] = {
    **dict.fromkeys(_VALUES, _value),
    **dict.fromkeys(_SUMS, _sum),
    **dict.fromkeys(_IMAGES, _texels),
    **dict.fromkeys(_HELD, _held),
    **dict.fromkeys(MOVES, moves.moved),
    **dict.fromkeys(quantiles.RULED, quantiles.rule),
    **{getattr(np, name): _method(name) for name in ("sum", "mean", "min", "max")},
    np.amin: _method("min"),
    np.amax: _method("max"),
    np.where: _where,
    np.clip: _clip,
    np.sort: _sorting(sort),
    np.argsort: _sorting(argsort),
    np.cumsum: _scanning(np.add),
    np.cumprod: _scanning(np.multiply),
    np.histogram: _histogram,
    np.zeros_like: _like(0),
    np.empty_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _like(None),
}

_TABLE.update(statistics.rules(_TABLE))
_TABLE.update(products.rules(_TABLE))
