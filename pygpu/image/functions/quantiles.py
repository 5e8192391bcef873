"""Medians and quantiles of texels, as NumPy gives them: np.median, np.percentile, np.quantile, and
those that leave NaNs out.

    rule(np.percentile, (im, [2, 98]), {})

Those of all texels, of each channel's, or of each line's are found by PyGPU; in a pipeline on a GPU
those of all stay there. NumPy says what is refused, and of which dtype results are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import asked
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike, NumberLike, texels
from pygpu.devices import targets
from pygpu.execution.arguments.numbers import Number
from pygpu.execution.arrays.ranks import Ranked, Sorted, between, ranked_on_host, sorted_there
from pygpu.execution.folds import kept, totals
from pygpu.image.functions.lines import standing
from pygpu.image.functions.statistics import signature
from pygpu.image.functions.texels import first, seen_in

MEDIANS: Final = (np.median, np.nanmedian)
PERCENTILES: Final = (np.percentile, np.nanpercentile)
RULED: Final = (*MEDIANS, *PERCENTILES, np.quantile, np.nanquantile)
WITHOUT_NAN: Final = (np.nanmedian, np.nanpercentile, np.nanquantile)
LEAST: Final = 1 << 12  # numbers below which NumPy is as quick
MOST: Final = 4  # results that stay on a device: those of one texel


# ---------------------------------------------------------------- places


@record
class Places:
    """Where quantiles stand among ordered numbers: `share` between two (None: at the first)."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    share: NDArray[np.float64] | None

    @property
    def listed(self) -> list[int]:
        """The places below and those above, one after the other."""
        return [*self.first.ravel().tolist(), *self.second.ravel().tolist()]


# Alpha and beta of R. J. Hyndman and Y. Fan, *Sample quantiles in statistical packages*, 1996.
_CONTINUOUS: Final = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _closest(place: Any) -> Any:
    """Of two places that are equally near the one with an even number, counted from 1."""
    low = np.floor(place)
    return np.where((place == low) & (low % 2 == 1), low, low + 1)


_DISCRETE: Final[dict[str, Callable[[int, Any], Any]]] = {
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "closest_observation": lambda n, q: _closest(n * q - 1.5),
}


def places(method: str, count: Any, q: NDArray[Any]) -> Places:
    """Where quantiles of so many numbers stand, by one of NumPy's methods or "median"."""
    if method == "median":
        low, high = (places(each, count, q).first for each in ("lower", "higher"))
        return Places(low, high, np.full(q.shape, 0.5))
    if method in _DISCRETE:
        at = np.clip(_DISCRETE[method](count, q), 0, count - 1).astype(np.intp)
        return Places(at, at, None)
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at = count * q + (alpha + q * (1 - alpha - beta)) - 1
    else:
        at = count * q - 1 if method == "averaged_inverted_cdf" else (count - 1) * q
    if method == "midpoint":
        at = 0.5 * (np.floor(at) + np.ceil(at))
    lower = np.floor(at)
    share = at - lower
    if method == "averaged_inverted_cdf":
        share = np.where(share == 0, 0.5, 1.0)
    elif method == "midpoint":
        share = np.where(share == 0, 0.0, 0.5)
    one, other = (np.clip(each, 0, count - 1).astype(np.intp) for each in (lower, lower + 1))
    return Places(one, other, share)


# ---------------------------------------------------------------- what is asked for


@record(eq=False)
class Wanted:
    """What a call asks for: of all numbers, of each channel's, or of the lines along an axis of
    coordinates, at which shares, by which method. `is_weak`: one number of Python's, so that
    results have the texels' type. `like` is what NumPy gives of a few texels."""

    function: Callable[..., Any]
    q: NDArray[np.float64]
    method: str
    by_channel: bool
    axis: int | None
    is_weak: bool
    like: NDArray[Any]

    @property
    def is_median(self) -> bool:
        return self.function in MEDIANS

    @property
    def without_nan(self) -> bool:
        return self.function in WITHOUT_NAN

    def places(self, count: int) -> Places:
        """Where results stand among so many numbers."""
        return places("median" if self.is_median else self.method, count, self.q)

    def of(self, ranked: Ranked, last: int) -> NDArray[Any]:
        """The results of numbers, of which the one at `last` is NaN where one is."""
        if ranked.count == 0:
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
            return np.full(self.q.shape, np.nan, np.float32)
        where = self.places(ranked.count)
        found = ranked.at([*where.listed, last])
        if found[-1] != found[-1]:
            # NumPy gives one number, not an array of one
            is_one = self.q.ndim == 0 and not self.by_channel
            return np.full(self.q.shape, np.nan, found.dtype if is_one else self.like.dtype)
        size = self.q.size
        one, other = (each.reshape(self.q.shape) for each in (found[:size], found[size:-1]))
        return np.asarray(self.between(one, other, where.share), self.like.dtype)

    def of_lines(self, image: ImageLike, axis: int) -> NDArray[Any]:
        """The results of the lines of an image along an axis."""
        count, channels = image.storage.shape[axis], image.format.channels
        others = [n for k, n in enumerate(image.storage.shape) if k != axis]
        others += [channels] if channels > 1 else []
        counts: Any = np.intp(count)
        if self.without_nan and image.storage.dtype.kind == "f":
            known = np.asarray((image == image).sum(axis=axis))  # type: ignore[attr-defined]
            counts = counts if (known == count).all() else known
        q = self.q.reshape(self.q.shape + (1,) * np.ndim(counts))
        where = replace(self, q=q).places(np.maximum(counts, 1))
        wide = (-1, *others) if np.ndim(counts) else (-1,)
        listed = np.stack([where.first, where.second]).reshape(wide)
        found = texels(standing(image, axis, listed), image.format)
        one, other = found.reshape(2, *self.q.shape, *others)
        share = where.share
        if share is not None:
            share = share.reshape(share.shape + (1,) * (one.ndim - share.ndim))
        if (counts == 0).any():
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
        return np.asarray(self.between(one, other, share), self.like.dtype)

    def between(self, one: Any, other: Any, share: NDArray[np.float64] | None) -> Any:
        """Numbers between two, with NumPy's roundings."""
        if self.is_median:
            return np.mean([one, other], axis=0, dtype=self.like.dtype)
        if share is None:
            return one
        if one.dtype.kind in "iu":  # whose differences may not fit
            one, other = one.astype(np.float64), other.astype(np.float64)
        step = other - one
        kind = step.dtype if self.is_weak else share.dtype
        near, far = one + step * share.astype(kind), other - step * (1 - share).astype(kind)
        return np.where(share >= 0.5, far, near)


def _wanted(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
) -> tuple[ImageLike, Wanted] | None:
    """The image, and what is asked of it; None where NumPy does it: weights, other axes, out."""
    bound = asked(signature(function).bind, *args, **kwargs)
    given = {n: v for n, v in bound.arguments.items() if v is not np._NoValue}
    image, axis = given.pop("a"), given.pop("axis", None)
    q, method = given.pop("q", 0.5), given.pop("method", "linear")
    given.pop("overwrite_input", None)
    if isinstance(q, NumberLike):
        q = q.item()
    if not isinstance(image, ImageLike) or isinstance(q, ImageLike):
        return None
    if any(each is not None and each is not False for each in given.values()):
        return None
    channels = image.format.channels
    axes = set(totals.checked_axes(axis, image.dims + (channels > 1)))
    by_channel = channels > 1 and axes == set(range(image.dims))
    line = None
    if not by_channel and len(axes) < image.dims + (channels > 1):
        line = min(axes, default=image.dims)
        if len(axes) != 1 or line >= image.dims:
            return None
    few = texels(np.zeros(2, image.storage.dtype), image.format)
    is_median = function in MEDIANS
    like = function(few) if is_median else asked(function, few, q, method=method)
    shares = np.asarray(q, np.float64)
    if function in PERCENTILES:
        shares = shares / 100
    if few.dtype.kind == "b" or shares.ndim > 1:
        return None
    if function not in PERCENTILES and np.asarray(q).dtype.kind in "iu" and method == "linear":
        method = "lower"  # the least or the greatest itself
    is_weak = type(q) in (int, float)
    return image, Wanted(function, shares, method, by_channel, line, is_weak, np.asarray(like))


# ---------------------------------------------------------------- rule


def rule(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What NumPy's function gives of an image."""
    wanted = _wanted(function, args, kwargs)
    found = None if wanted is None else _found(*wanted)
    if found is not None:
        return found
    image = first(args, kwargs)
    given = {name: value for name, value in kwargs.items() if name != "overwrite_input"}
    # NumPy's differences of 32 bits may not fit.
    is_wide = image.storage.dtype == np.int32 and function not in MEDIANS
    result = asked(function, *seen_in(args, image, is_wide), **seen_in(given, image, is_wide))
    is_narrowed = is_wide and kwargs.get("out") is None and result.dtype == np.int64
    return result.astype(np.int32) if is_narrowed else result


def _found(image: ImageLike, wanted: Wanted) -> Any:
    """The results, a Number where they stay on the device; None where NumPy is as quick."""
    storage, is_kept = image.storage, kept.keeps("auto", [image])
    count = storage.height * storage.width * (1 if wanted.by_channel else storage.channels)
    if count < LEAST and not is_kept:
        return None
    if wanted.axis is not None:
        with targets.at_once():
            return wanted.of_lines(image, wanted.axis)
    with targets.at_once():
        device = targets.choose("auto")
        lines = None
        if is_kept or device.is_hardware:  # software sorts no quicker than the host finds
            lines = sorted_there(image, wanted.by_channel)
        if lines is None:
            host = ranked_on_host(
                storage.host(), image.format, wanted.by_channel, wanted.without_nan
            )
            return _together([wanted.of(each, each.count - 1) for each in host], wanted)
        if wanted.without_nan and storage.dtype.kind == "f":
            lines = _without_nan(lines, image, wanted)
        elif is_kept and len(lines) * wanted.q.size <= MOST and image.format.kind == "float":
            return _kept(lines, wanted)
        return _together([wanted.of(each, _last(each, wanted)) for each in lines], wanted)


def _last(line: Sorted, wanted: Wanted) -> int:
    """The place of a NaN, where there is one that counts."""
    return (line.count if wanted.without_nan else line.lines.count) - 1


def _without_nan(lines: list[Sorted], image: Any, wanted: Wanted) -> list[Sorted]:
    """Lines as long as they have numbers that are not NaN: they stand first."""
    axes = tuple(range(image.dims)) if wanted.by_channel else None
    counts = np.ravel(np.asarray((image == image).sum(axis=axes)))
    return [
        Sorted(line.image, line.lines, int(count))
        for line, count in zip(lines, counts, strict=True)
    ]


def _kept(lines: list[Sorted], wanted: Wanted) -> Number:
    """The results where the lines are."""
    where = wanted.places(lines[0].count)
    one, other = where.first.ravel().tolist(), where.second.ravel().tolist()
    shares = np.zeros(wanted.q.shape) if where.share is None else where.share
    return Number(between(lines, (one, other), shares.ravel().tolist(), wanted.is_median))


def _together(parts: list[NDArray[Any]], wanted: Wanted) -> Any:
    """The results of channels, along a last axis."""
    return np.stack(parts, axis=-1)[()] if wanted.by_channel else parts[0][()]
