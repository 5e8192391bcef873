"""Values by their rank among the neighbours, and other statistics of them.

    median(photo, size=5); percentile_filter(photo, percentile=10, size=5)
    rank.mean(photo, disc); rank.equalize(photo, disc)

Those with `size` are SciPy's: outside, an image is read as its `boundary` says. Those with a
footprint are those of `skimage.filters.rank`, which count what is inside the image alone.
"""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu import glsl
from pygpu.core.errors import is_ragged, shown
from pygpu.core.errors import whole as whole_number
from pygpu.filters.linear import correlate
from pygpu.filters.whole import last, whole
from pygpu.image.image import Image
from pygpu.language.kernels import offsets
from pygpu.language.vectors import BVec2, BVec3, BVec4, Position, Vector
from pygpu.runtime import Compiled, compile

__all__ = [
    "maximum_filter", "median", "minimum_filter", "percentile_filter", "rank_filter",
    "uniform_filter",
]  # fmt: skip


def sides(size: Any, name: str = "median") -> tuple[int, int]:
    """Rows and columns of a window. ValueError for anything but a whole number from 1, or two."""
    pair = (size, size) if is_ragged(size) or np.ndim(size) == 0 else tuple(size)
    if len(pair) != 2 or not all((whole_number(n) or 0) >= 1 for n in pair):
        raise ValueError(
            f"{name}: size takes a whole number, 1 or more, or a pair of such (rows, columns), "
            f"got {shown(size)}"
        )
    return pair


def _by_place(function: Callable[..., Any]) -> Compiled:
    """A compiled function of which calls may give all but the position by place, as SciPy's."""
    made: Compiled = compile(function)
    made.signature.take_known_by_place()
    return made


def _window(size: Any, footprint: Any, name: str) -> list[Any]:
    """The offsets of a window's texels: of the footprint's, where there is one. scikit-image's
    functions take it in place of the size."""
    if footprint is None and not is_ragged(size) and np.ndim(size) == 2:
        footprint = size
    if footprint is None:
        return [*offsets(np.ones(sides(size, name)))]
    array = footprint_of(footprint, name)
    return [d for d, is_in in zip(offsets(array), array.ravel(), strict=True) if is_in]


def footprint_of(footprint: Any, name: str) -> NDArray[np.bool_]:
    """Which texels are under a footprint. ValueError for what is none."""
    if isinstance(footprint, (list, tuple)) and any(isinstance(each, tuple) for each in footprint):
        raise ValueError(
            f"{name}: a footprint is one array, not a sequence of them: scikit-image's functions "
            "make one with decomposition=None"
        )
    array = np.asarray(None if is_ragged(footprint) else footprint)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.any():
        raise ValueError(
            f"{name}: a footprint is an array of two axes with some element that is not "
            f"zero, got {shown(footprint)}"
        )
    return np.asarray(array != 0)


def _ranked(im: Any, p: Any, places: Sequence[Any], rank: int) -> Any:
    """The value of a rank among the texels of a window, for each channel."""
    window = [im(p + d) for d in places]
    if not isinstance(window[0], Vector):
        return sorted(window)[rank]
    values = [sorted(channel)[rank] for channel in zip(*window, strict=True)]
    return type(window[0])(*values)


@_by_place
def median(im: Image, p: Position, size: Any = 3, footprint: Any = None) -> Any:
    """The middle of the texels of a window for each channel; `scipy.ndimage.median_filter`.

    `size` is the window's side, or (rows, columns): whole numbers, 1 or more, known when the
    function is compiled. With a footprint, an array, the window is where that is not zero. It may
    come as the size: `skimage.filters.median` takes it second. Of an even number of texels it is
    the upper one of the middle two.
    """
    window = _window(size, footprint, "median")
    return _ranked(im, p, window, len(window) // 2)


@_by_place
def rank_filter(im: Image, p: Position, rank: Any = 0, size: Any = 3, footprint: Any = None) -> Any:
    """The texel of a window that `rank` others are below, from the greatest down where it is
    negative; `scipy.ndimage.rank_filter`. Windows are those of `median`."""
    window = _window(size, footprint, "rank_filter")
    if not isinstance(rank, (int, np.integer)):
        raise ValueError(f"rank_filter: rank takes a whole number, got {shown(rank)}")
    if not -len(window) <= rank < len(window):
        raise ValueError(f"rank_filter: {len(window)} texels have no rank {rank!r}")
    return _ranked(im, p, window, int(rank))


@_by_place
def percentile_filter(
    im: Image, p: Position, percentile: Any = 50, size: Any = 3, footprint: Any = None
) -> Any:
    """The texel of a window that `percentile` of 100 are below, from 100 down where it is negative;
    `scipy.ndimage.percentile_filter`. Windows are those of `median`."""
    window = _window(size, footprint, "percentile_filter")
    if not isinstance(percentile, (int, float, np.number)):
        raise ValueError(f"percentile_filter: percentile takes a number, got {shown(percentile)}")
    share = percentile + 100 if percentile < 0 else percentile
    if not 0 <= share <= 100:
        raise ValueError(
            f"percentile_filter: takes a percentile up to 100, got {shown(percentile)}"
        )
    return _ranked(im, p, window, min(int(len(window) * share / 100), len(window) - 1))


@_by_place
def minimum_filter(im: Image, p: Position, size: Any = 3, footprint: Any = None) -> Any:
    """The least texel of a window for each channel; `scipy.ndimage.minimum_filter`. Windows are
    those of `median`."""
    window = _window(size, footprint, "minimum_filter")
    return _extreme(operator.and_, glsl.min, [im(p + d) for d in window])


@_by_place
def maximum_filter(im: Image, p: Position, size: Any = 3, footprint: Any = None) -> Any:
    """The greatest texel of a window for each channel; `scipy.ndimage.maximum_filter`. Windows are
    those of `median`."""
    window = _window(size, footprint, "maximum_filter")
    return _extreme(operator.or_, glsl.max, [im(p + d) for d in window])


def _extreme(of_bools: Any, of_numbers: Any, texels: Sequence[Any]) -> Any:
    """The least or the greatest: of bools a bool, which is no number of 0 and 1."""
    is_bool = isinstance(texels[0], (bool, np.bool_, BVec2, BVec3, BVec4))
    return functools.reduce(of_bools if is_bool else of_numbers, texels)


@_by_place
def uniform_filter(im: Image, p: Position, size: Any = 3) -> Any:
    """The mean of the texels of a window; `scipy.ndimage.uniform_filter`."""
    rows, columns = sides(size, "uniform_filter")
    return correlate(np.full((rows, columns), 1 / (rows * columns)), im, p)


# ---------------------------------------------------------------- of a footprint


class Neighbours:
    """The texels under a footprint, and for each whether it is inside the image."""

    def __init__(self, texels: Sequence[Any], inside: Sequence[Any]) -> None:
        self.texels = texels
        self.inside = inside

    def sum(self, of: Callable[[Any], Any]) -> Any:
        pairs = zip(self.texels, self.inside, strict=True)
        return sum([glsl.select(is_in, of(v), 0.0 * of(v)) for v, is_in in pairs])

    def count(self) -> Any:
        return sum([1.0 if is_in else 0.0 for is_in in self.inside])

    def mean(self) -> Any:
        return self.sum(lambda v: v) / self.count()

    def least(self) -> Any:
        return self._folded(glsl.min, math.inf)

    def greatest(self) -> Any:
        return self._folded(glsl.max, -math.inf)

    def _folded(self, f: Callable[[Any, Any], Any], neutral: float) -> Any:
        pairs = zip(self.texels, self.inside, strict=True)
        values = [glsl.select(is_in, v, 0.0 * self.texels[0] + neutral) for v, is_in in pairs]
        return functools.reduce(f, values)


@compile
def _statistic(
    im: Image, p: Position, of: Any = None, footprint: Any = None, test: Any = False
) -> Any:
    """A function of the texel and of its neighbours; 0 where none of these is in the image, as no
    `test` holds there: each is false of the NaN that their mean is."""
    texels, inside = [], []
    for d, is_in in zip(offsets(footprint), footprint.ravel(), strict=True):
        if is_in:
            q = p + d
            texels.append(im(q))
            inside.append(0 <= q.x < im.width and 0 <= q.y < im.height)
    v = im(p)
    result = of(v, Neighbours(texels, inside))
    return result if test or _holds_centre(footprint) or any(inside) else 0.0 * v


def _holds_centre(footprint: NDArray[Any]) -> bool:
    """Whether a footprint takes the texel that it lies on."""
    return bool(footprint[footprint.shape[0] // 2, footprint.shape[1] // 2])


def _local(of: Callable[[Any, Neighbours], Any], test: bool = False) -> Callable[[Any, Any], Any]:
    """Make a filter of a function of a texel and its neighbours, or of a `test` of them."""
    name = of.__name__

    def local(image: Image, footprint: Any) -> Any:
        array = footprint_of(footprint, f"rank.{name}")
        if image.format.kind != "float":
            raise ValueError(f"rank.{name} takes bytes, words and floats, got {image.dtype}")
        return last(_statistic, image, of=of, footprint=array, test=test)

    local.__name__ = local.__qualname__ = name
    local.__doc__ = of.__doc__
    return whole(local)


@_local
def mean(v: Any, near: Neighbours) -> Any:
    """The mean of the texels under the footprint; `skimage.filters.rank.mean`."""
    return near.mean()


@_local
def minimum(v: Any, near: Neighbours) -> Any:
    """The least of the texels under the footprint; `skimage.filters.rank.minimum`."""
    return near.least()


@_local
def maximum(v: Any, near: Neighbours) -> Any:
    """The greatest of the texels under the footprint; `skimage.filters.rank.maximum`."""
    return near.greatest()


@_local
def gradient(v: Any, near: Neighbours) -> Any:
    """The greatest less the least; `skimage.filters.rank.gradient`."""
    return near.greatest() - near.least()


@_local
def autolevel(v: Any, near: Neighbours) -> Any:
    """Where between the least and the greatest a texel is, in [0, 1]: 0 where these are the same;
    `skimage.filters.rank.autolevel`."""
    low, high = near.least(), near.greatest()
    seen = glsl.clamp(v, low, high)  # the footprint may leave the texel itself out
    return glsl.select(high > low, (seen - low) / glsl.max(high - low, 1e-30), 0.0 * v)


@_local
def enhance_contrast(v: Any, near: Neighbours) -> Any:
    """The least or the greatest, whichever is nearer; `skimage.filters.rank.enhance_contrast`."""
    low, high = near.least(), near.greatest()
    slack = 2e-7 * glsl.abs(high)  # of bytes that lie in the middle the distances round apart
    return glsl.select(high - v + slack < v - low, high, low)


@functools.partial(_local, test=True)
def threshold(v: Any, near: Neighbours) -> Any:
    """Whether a texel is above the mean; `skimage.filters.rank.threshold`."""
    return v > near.mean()


@_local
def equalize(v: Any, near: Neighbours) -> Any:
    """The share of the texels that are not above this one; `skimage.filters.rank.equalize`."""
    below = near.sum(lambda other: glsl.select(other <= v, 0.0 * v + 1.0, 0.0 * v))
    return below / near.count()


@_local
def geometric_mean(v: Any, near: Neighbours) -> Any:
    """The geometric mean of the texels under the footprint, each with a byte's step added;
    `skimage.filters.rank.geometric_mean`."""
    step = 1 / 255
    return glsl.exp(near.sum(lambda other: glsl.log(other + step)) / near.count()) - step


@_local
def subtract_mean(v: Any, near: Neighbours) -> Any:
    """One half of how far a texel is above the mean, and one half;
    `skimage.filters.rank.subtract_mean`."""
    return (v - near.mean()) / 2 + 127 / 255
