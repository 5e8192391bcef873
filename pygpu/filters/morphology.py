"""Shapes: erosion and what is made of it, connected regions, distances to the background.

    opening(photo, footprint=np.ones((5, 5)))
    regions, count = label(grey > 0.5, return_num=True)
    distance_transform_edt(mask)

As in `skimage.morphology`, `skimage.measure` and `scipy.ndimage`; `mode` has SciPy's names.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu import glsl
from pygpu.core.errors import shown
from pygpu.core.storage import Format
from pygpu.devices import targets
from pygpu.devices.host.distances import nearest_zero
from pygpu.devices.host.regions import numbered
from pygpu.execution.large import connected
from pygpu.execution.large.images import LazyImage, by_strips
from pygpu.execution.pipelines.deferred import current
from pygpu.filters.rank import footprint_of
from pygpu.filters.whole import (
    channels_of,
    image_of,
    last,
    outside,
    pair_of,
    presented,
    together,
    whole,
    whole_only,
)
from pygpu.image.image import Image
from pygpu.language.kernels import offsets
from pygpu.language.scalars import number
from pygpu.language.vectors import Position
from pygpu.runtime import compile

__all__ = [
    "black_tophat", "closing", "dilation", "distance_transform_edt", "erosion", "label",
    "opening", "white_tophat",
]  # fmt: skip

FAR: Final = 2**20  # more than any distance within an image
WIDER: Final = 4  # times as far each pass along columns looks: of more texels, in fewer passes
AT_ONCE: Final = 4  # columns, of which some too many are looked at: less than looks would cost
CROSS: Final = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)


# ---------------------------------------------------------------- erosion, dilation


@compile
def _folded(im: Image, p: Position, by: Any = glsl.min, footprint: Any = CROSS) -> Any:
    """The texels under a footprint combined by a function of two."""
    inside = zip(offsets(footprint), footprint.ravel(), strict=True)
    return functools.reduce(by, [im(p + d) for d, is_in in inside if is_in])


def _footprint(footprint: Any, name: str) -> NDArray[np.bool_]:
    """A footprint with a middle: sides of even length get a row or column more in front."""
    if footprint is None:
        return CROSS
    array = footprint_of(footprint, name)
    return np.pad(array, [(1 - n % 2, 0) for n in array.shape])


def _fold(
    image: Any,
    footprint: NDArray[np.bool_],
    greatest: bool,
    mode: str,
    cval: Any,
    is_last: bool = True,
    limits: tuple[Any, Any] | None = None,
) -> Any:
    """One erosion or dilation. A rectangle is a row of columns: two passes do. What is not the last
    pass gives bytes of bytes, for their extremes are some of them. `limits` are those of what was
    given, of which ints may have been narrower."""
    of_bools = image.format.kind == "bool"
    by = (operator.and_, operator.or_) if of_bools else (glsl.min, glsl.max)
    narrow = image.dtype if image.format.is_scaled and mode != "constant" else None
    if mode in ("min", "max", "ignore"):
        least, most = limits or _limits(image.format)
        is_most = mode == "max" or (mode == "ignore" and not greatest)
        mode, cval = "constant", most if is_most else least
    result = outside(image, mode, cval)
    filled = np.ix_(footprint.any(axis=1), footprint.any(axis=0))
    parts: list[Any] = [footprint]
    if footprint[filled].all() and mode != "constant" and min(footprint[filled].shape) > 1:
        parts = [footprint.any(axis=0, keepdims=True), footprint.any(axis=1, keepdims=True)]
    for place, part in enumerate(parts, 1):
        dtype = None if is_last and place == len(parts) else narrow
        result = _folded(result, by=by[greatest], footprint=part, dtype=dtype)
    return result


def _limits(format: Format) -> tuple[Any, Any]:
    """The least and the greatest value of an image's type."""
    if format.is_scaled:
        return 0.0, 1.0
    if format.kind == "int":
        found = np.iinfo(format.dtype)
        return found.min, found.max
    return (False, True) if format.kind == "bool" else (-np.inf, np.inf)


@whole
@together
def erosion(image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0) -> Any:
    """The least of the texels under the footprint, a cross unless said;
    `skimage.morphology.erosion`. Of bools: whether all are true.

    `mode` may also be "ignore": what lies outside counts for nothing.
    """
    return _fold(image, _footprint(footprint, "erosion"), False, mode, cval)


@whole
@together
def dilation(image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0) -> Any:
    """The greatest of the texels under the footprint; `skimage.morphology.dilation`."""
    return _fold(image, _footprint(footprint, "dilation"), True, mode, cval)


def _twice(image: Any, footprint: NDArray[np.bool_], greatest: bool, mode: str, cval: Any) -> Any:
    """One of the two, then the other by the footprint turned round."""
    limits = _limits(image.format)
    first = _fold(image, footprint, greatest, mode, cval, False, limits)
    return _fold(first, footprint[::-1, ::-1], not greatest, mode, cval, True, limits)


@whole
@together
def opening(image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0) -> Any:
    """An erosion, then a dilation: bright details that the footprint does not fit into are gone;
    `skimage.morphology.opening`."""
    return _twice(image, _footprint(footprint, "opening"), False, mode, cval)


@whole
@together
def closing(image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0) -> Any:
    """A dilation, then an erosion: dark details are gone; `skimage.morphology.closing`."""
    return _twice(image, _footprint(footprint, "closing"), True, mode, cval)


def _difference(image: Any, other: Any) -> Any:
    return image ^ other if image.format.kind == "bool" else image - other


@whole
@together
def white_tophat(
    image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0
) -> Any:
    """What an opening takes away: bright details; `skimage.morphology.white_tophat`."""
    return _difference(image, opening(image, footprint, mode=mode, cval=cval))


@whole
@together
def black_tophat(
    image: Image, footprint: Any = None, *, mode: str = "reflect", cval: Any = 0.0
) -> Any:
    """What a closing adds: dark details; `skimage.morphology.black_tophat`."""
    return _difference(closing(image, footprint, mode=mode, cval=cval), image)


# ---------------------------------------------------------------- connected regions


@whole_only
def label(
    label_image: Any,
    background: float | None = None,
    return_num: bool = False,
    connectivity: int | None = 2,
) -> Any:
    """The number of the connected region of equal values that each pixel is in, from 1, in the
    order of their first pixels; 0 for the background; `skimage.measure.label`.

    `background` is a texel, that of bytes in [0, 1]. With `connectivity=1` diagonal neighbours are
    not connected. With `return_num` the result is a tuple: the regions, and how many there are, of
    a Dask array as one of no dimensions.
    """
    if connectivity not in (None, 1, 2):
        raise ValueError(f"label: connectivity takes 1 or 2, got {shown(connectivity)}")
    image = image_of(label_image, "label")
    channels_of(image, "label", 1)
    if background is not None and number(background) is None:
        raise TypeError(f"label: background takes a number, got {shown(background)}")
    outside, diagonal = _stored(background or 0, image), connectivity != 1
    if isinstance(image, LazyImage):
        labels, count = connected.numbered(image.array, outside, diagonal, numbered)
        return (labels, count) if return_num else labels
    labels, count = numbered(np.asarray(image), outside, diagonal)
    is_array = type(label_image) is np.ndarray  # whose result is one
    result = labels if is_array else presented(image_of(labels, "label"), label_image, image)
    return (result, count) if return_num else result


def _stored(background: float, image: Any) -> Any:
    """The background, a texel, as the image's array has it."""
    dtype = image.format.dtype
    if image.format.normalize and dtype.kind == "u":
        if background > 1:
            raise ValueError(
                f"label: background={shown(background)}: texels of {dtype} are in [0, 1]: "
                f"give it divided by {np.iinfo(dtype).max}"
            )
        value = background * int(np.iinfo(dtype).max)
        whole = round(value) if math.isfinite(value) else value
        return whole if abs(value - whole) < 1e-3 else value
    return background


# ---------------------------------------------------------------- distances


@compile
def _background(im: Image, p: Position) -> Any:
    return FAR if im(p) else 0


@compile
def _along_column(distance: Image, p: Position, step: int) -> Any:
    """The least of the distance here and of those some `step`s above and below, which are as much
    farther."""
    seen = distance.sampled(boundary="constant", cval=FAR)
    least = seen(p)
    for far in range(1, WIDER):
        nearer = min(seen(p - (0, far * step)), seen(p + (0, far * step)))
        least = min(least, nearer + far * step)
    return least


@compile
def _squares(distance: Image, p: Position, down: float) -> Any:
    return (down * distance(p)) ** 2


@compile
def _across(squares: Image, p: Position, across: float, down: float) -> Any:
    """The least distance to what the columns left and right are nearest to, whose squares are
    given. It is looked for until the columns themselves are farther away, some columns for one look
    at that."""
    seen = squares.sampled(boundary="constant", cval=math.inf)
    least, k = seen(p), 1
    while k < squares.width and (across * k) ** 2 < least:
        for far in range(k, k + AT_ONCE):
            nearer = min(seen(p - (far, 0)), seen(p + (far, 0)))
            least = min(least, nearer + (across * far) ** 2)
        k += AT_ONCE
    return math.sqrt(least) if least < (down * FAR) ** 2 else math.inf


@functools.partial(whole, measures=True)
def distance_transform_edt(image: Any, sampling: Any = None) -> Any:
    """The distance of each pixel that is not zero to the nearest that is;
    `scipy.ndimage.distance_transform_edt`, and exact as that.

    `sampling` is the distance between pixels, or two: along y, along x. Where no pixel is zero, all
    distances are infinite. Reference: P. Felzenszwalb and D. Huttenlocher, *Distance transforms of
    sampled functions*, 2004, for taking columns first.
    """
    channels_of(image, "distance_transform_edt", 1)
    asked = 1.0 if sampling is None else sampling
    pair = pair_of(asked, "distance_transform_edt: sampling", "a number above 0, or two")
    if not all(n > 0 and math.isfinite(n) for n in pair):
        raise ValueError(f"distance_transform_edt: sampling is above 0, got {shown(sampling)}")
    size = {"across": float(pair[1]), "down": float(pair[0])}
    if not isinstance(image, LazyImage):
        if current() is None and targets.is_on_host(targets.choose("auto")):
            return image_of(nearest_zero(np.asarray(image), **size), "distance_transform_edt")
        return last(_distances, image, **size)
    columns = by_strips(_distances_down, image.array, 0, np.dtype(np.int32))
    across = functools.partial(_distances_across, **size)
    rows = by_strips(across, columns, 1, np.dtype(np.float32))
    return image.reading(rows.rechunk(image.array.chunks))


@together
def _distances(image: Any, across: float, down: float) -> Any:
    return _distances_across(_distances_down(image), across=across, down=down)


def _distances_down(image: Any) -> Any:
    """The distance of each pixel to the nearest in its column that is zero."""
    distance, step = _background(image), 1
    while step < len(image):
        distance = _along_column(distance, step=step)
        step *= WIDER
    return distance


def _distances_across(distance: Any, across: float, down: float) -> Any:
    return _across(_squares(distance, down=down), across=across, down=down)
