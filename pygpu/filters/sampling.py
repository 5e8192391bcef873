"""An image, or any function of whole positions, between its pixels, and so in another size.

    bicubic(im, q)                              # q may be any pair of numbers
    lanczos(im, q)                              # transform.py has warp and rotate
    resize(photo, (100, 150)); rescale(photo, 0.5)

`mode` says what lies outside, in NumPy's names, as in `skimage.transform`: "constant" with `cval`,
"edge", "symmetric" (d c b a | a b c d), "reflect" (d c b | a b c d), "wrap".
"""

from __future__ import annotations

import functools
import math
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu import glsl
from pygpu.core.errors import guarded, shown
from pygpu.devices import targets
from pygpu.execution.large import resized as large
from pygpu.execution.large.images import LazyImage, derived
from pygpu.filters.linear import gaussian, gaussian_weights, widths
from pygpu.filters.whole import image_of, pair_of, together, whole, whole_only
from pygpu.image.image import Image
from pygpu.language.vectors import IVec2, Position, Vec2, Vector
from pygpu.runtime import compile

__all__ = ["bicubic", "bilinear", "lanczos", "rescale", "resize"]


def _check(name: str, arguments: tuple[Any, ...]) -> None:
    for im in arguments[:1]:
        if not callable(im):
            raise TypeError(f"{name}: takes an image, or a function of positions, got {shown(im)}")
    for q in arguments[1:2]:
        if not isinstance(q, (Vector, list, tuple, np.ndarray)) or len(q) != 2:
            raise TypeError(f"{name}: takes a place, a pair of numbers, got {shown(q)}")


_between = functools.partial(guarded, check=_check)


@_between
def bilinear(im: Any, q: Any) -> Any:
    """The mean of four texels by their nearness: what `interpolation="linear"` gives."""
    x, y = q
    left, top = math.floor(x), math.floor(y)
    u, v = x - left, y - top
    upper = (1 - u) * im((left, top)) + u * im((left + 1, top))
    lower = (1 - u) * im((left, top + 1)) + u * im((left + 1, top + 1))
    return (1 - v) * upper + v * lower


@_between
def bicubic(im: Any, q: Any) -> Any:
    """The sum of 4 x 4 texels by Keys' cubic (a = -1/2, Catmull and Rom's); Pillow's BICUBIC."""
    return _separable(im, q, 2, _cubic)


@_between
def lanczos(im: Any, q: Any, lobes: int = 3) -> Any:
    """The sum of (2 lobes)² texels by a windowed sinc; Pillow's LANCZOS with 3 lobes."""
    return _separable(im, q, lobes, lambda x: _lanczos(x, lobes))


def _separable(im: Any, q: Any, reach: int, weight: Any) -> Any:
    """The weighted mean of 2 reach x 2 reach texels around q."""
    x, y = q
    left, top = math.floor(x) - reach + 1, math.floor(y) - reach + 1
    side = range(2 * reach)
    columns = [weight(x - (left + i)) for i in side]
    rows = [weight(y - (top + j)) for j in side]
    total = sum(
        [
            v * sum([u * im((left + i, top + j)) for i, u in enumerate(columns)])
            for j, v in enumerate(rows)
        ]
    )
    return total / (sum(columns) * sum(rows))


def _cubic(x: Any) -> Any:
    x = abs(x)
    if x < 1:
        return 1 + x * x * (1.5 * x - 2.5)
    return 2 + x * (-4 + x * (2.5 - 0.5 * x))


def _lanczos(x: Any, lobes: int) -> Any:
    if abs(x) < 1e-3:
        return 1 - 1.6449341 * x * x * (1 + 1 / lobes**2)  # the series: a quotient loses digits
    t = math.pi * x
    return lobes * math.sin(t) * math.sin(t / lobes) / (t * t)


# ---------------------------------------------------------------- other sizes

POLE: Final = math.sqrt(3) - 2  # of the filter that undoes a cubic B-spline
REACH: Final = 13  # pixels within which that filter falls below 4e-8
LEAPS: Final = 4  # texels from one to the next, at most, that programs know how to read
LARGE: Final = 1 << 17  # pixels, from which two passes are worth their calls where few are read
BEYOND: Final = 2  # pixels beyond an image, of which a spline within it has coefficients


@compile
def _stretched(
    im: Image,
    p: Position,
    scale: Vec2,
    first: IVec2,
    corner: IVec2,
    order: Any = 1,
    axis: Any = None,
) -> Any:
    """A part of an image stretched over another size, so that corners lie on corners: `im` begins
    at `corner` of the whole image, and the result at `first` of the whole result. Of an `axis` it
    is stretched along that one alone, as arrays number them."""

    def place(k: Any) -> Any:
        return (p[k] + first[k] + 0.5) * scale[k] - 0.5

    if axis == 0:
        return _along(lambda j: im((p.x, j - corner[1])), place(1), order)
    if axis == 1:
        return _along(lambda i: im((i - corner[0], p.y)), place(0), order)

    def row(j: Any) -> Any:
        return _along(lambda i: im((i - corner[0], j - corner[1])), place(0), order)

    return _along(row, place(1), order)


@compile
def _shrunk(
    im: Image, p: Position, scale: float, axis: Any = 0, sigma: Any = 0.0, times: Any = None
) -> Any:
    """Smoothed by a Gaussian and made smaller along one axis, all of whose texels are inside: its
    weights at two texels, shared out by nearness. `times` is the scale if that is a whole number
    which is known: then weights and steps from texel to texel are known too."""
    x, y = p
    place = x if axis == 1 else y
    if times is None:
        at = (place + 0.5) * scale - 0.5
        left = math.floor(at)
        t = at - left
    else:
        left, t = times * place + (times - 1) // 2, 0.5 - 0.5 * (times % 2)
    weights = [0.0, *gaussian_weights(sigma), 0.0]
    reach, total = len(weights) // 2 - 1, 0.0
    for i, (near, far) in enumerate(pairwise(weights), left - reach):
        total += ((1 - t) * far + t * near) * im((i, y) if axis == 1 else (x, i))
    return total


@compile
def _middle(im: Image, p: Position, times: Any = (2, 2)) -> Any:
    """The mean of the texels in the middle of each block of `times` rows and columns."""
    rows, columns = [sorted({(n - 1) // 2, n // 2}) for n in times]
    x, y = times[1] * p.x, times[0] * p.y
    return sum([im((x + i, y + j)) for j in rows for i in columns]) / (len(rows) * len(columns))


def _along(at: Any, x: Any, order: int) -> Any:
    """A function of whole numbers between them: the nearest, linear, or as the cubic B-spline of
    which it gives the coefficients."""
    if order == 0:
        return at(math.floor(x + 0.5))
    left = math.floor(x)
    t = x - left
    s = 1 - t
    if order == 1:
        return s * at(left) + t * at(left + 1)
    weights = [s**3 / 6, (4 - 3 * t * t * (1 + s)) / 6, (4 - 3 * s * s * (1 + t)) / 6, t**3 / 6]
    return sum(w * at(left + i) for i, w in enumerate(weights, -1))


@compile
def _coefficients(im: Image, p: Position, axis: Any = 0) -> Any:
    """Coefficients of the cubic B-spline that passes through the texels of a row or column."""
    step = (1, 0) if axis == 1 else (0, 1)
    x = np.arange(-REACH, REACH + 1)
    weights = 6 * POLE / (POLE**2 - 1) * POLE ** np.abs(x)
    return sum(w * im(p + (i * step[0], i * step[1])) for i, w in zip(x, weights, strict=True))


@compile
def _moved(im: Image, p: Position) -> Any:
    return im(p - (BEYOND, BEYOND))


def _widened(image: Any) -> Any:
    """The image with what lies just outside."""
    if isinstance(image, LazyImage):
        pads = (*[(BEYOND, BEYOND)] * 2, (0, 0))[: image.ndim]
        outside: dict[str, Any] = {"mode": "edge"}
        if image.boundary == "constant":
            outside = {"mode": "constant", "constant_values": image.cval[0]}
        return image.reading(np.pad(image.texels(), pads, **outside))
    return _moved(image, shape=tuple([n + 2 * BEYOND for n in image.shape[:2]]))


def resized(image: Any, shape: tuple[int, int], order: int, boundary: Any) -> Any:
    """The image in another size, read with the boundary of another."""
    if shape == image.shape[:2]:
        return image
    height, width = shape
    scale = Vec2(image.width / width, image.height / height)
    source = image.sampled(boundary=boundary.boundary, cval=boundary.cval)
    before = 0
    if order == 3:
        # Coefficients repeat beyond an image as its texels do, if these are mirrored or wrapped.
        if source.boundary in ("nearest", "constant"):
            before, source = BEYOND, _widened(source)
        source = _coefficients(_coefficients(source, axis=1), axis=0)
    if isinstance(source, LazyImage):
        return large.resized(functools.partial(_part, scale, order, before), source, shape)
    whole = {"scale": scale, "first": IVec2(0, 0), "corner": IVec2(-before, -before)}
    are_few = height < source.height or height * width < LARGE  # texels that are read
    at_once = order == 0 or (order == 1 and are_few)
    if at_once or not targets.is_on_host(targets.choose("auto")):
        return _stretched(source, order=order, shape=shape, **whole)
    # On processors texels along a row are gathered one by one: from as few rows as there may be.
    first = 1 if source.height < height else 0
    for axis in (first, 1 - first):
        size = (height, source.width) if axis == 0 else (source.height, width)
        source = _stretched(source, order=order, axis=axis, shape=size, **whole)
    return source


def shrunk(image: Any, shape: tuple[int, int], sigma: Any) -> Any:
    """The image smoothed by a Gaussian, and as small as it is to become along each axis where it
    gets smaller: rows first. No texel outside is then read between two, so what is there is the
    same mean of smoothed texels that `resized` would make."""
    wide = widths(sigma)
    if isinstance(image, LazyImage):
        return gaussian(image, sigma=sigma) if any(wide) else image
    sizes = [*zip(image.shape, shape, wide, strict=False)]
    leaps = [old // new if old % new == 0 and old // new <= LEAPS else 0 for old, new, _ in sizes]
    if min(leaps) > 1 and not any(wide):
        return _middle(image, times=tuple(leaps), shape=shape)
    for axis, ((old, new, width), times) in enumerate(zip(sizes, leaps, strict=True)):
        if old > new and (times or (width and axis == 0)):
            size = (new, image.shape[1]) if axis == 0 else (image.shape[0], new)
            options = {"axis": axis, "sigma": width, "times": times or None}
            image = _shrunk(image, scale=old / new, shape=size, **options)
        elif width:
            image = gaussian(image, sigma=(0, width) if axis else (width, 0))
    return image


def _part(
    scale: Vec2,
    order: int,
    before: int,
    part: Image,
    first: Any,
    corner: Any,
    shape: tuple[int, int],
) -> Any:
    places = {"first": IVec2(*first), "corner": IVec2(*[n - before for n in corner])}
    return _stretched(part, scale=scale, order=order, shape=shape, **places)


# ---------------------------------------------------------------- as filters

# What lies outside: NumPy's names, as scikit-image has them here, and PyGPU's (SciPy's).
MODES: Final = {
    "constant": "constant",
    "edge": "nearest",
    "symmetric": "reflect",
    "reflect": "mirror",
    "wrap": "wrap",
}
TINY: Final = math.ulp(0.0)  # the least number above 0


def read_as(image: Image, mode: str, cval: float) -> Image:
    """The image with another boundary, by NumPy's name."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"mode={shown(mode)}: takes {', '.join(map(repr, MODES))}")
    return image.sampled(boundary=MODES[mode], cval=cval)


def order_of(order: int | None, image: Image, name: str) -> int:
    """How values between pixels are found: 0 the nearest, 1 linear, 3 cubic."""
    is_bool = image.format.kind == "bool"
    if order is None:
        return 0 if is_bool else 1
    if order not in (0, 1, 3):
        raise ValueError(
            f"{name}: order takes 0 (nearest), 1 (linear) or 3 (cubic), got {shown(order)}"
        )
    if is_bool and order:
        raise ValueError(f"{name}: an image of bools takes order 0, got {order}")
    return order


@compile
def _floats(im: Image, p: Position) -> Any:
    return 1.0 * im(p)


def between_ints(image: Any, order: int) -> Any:
    """The image, of floats where values between its texels are asked for."""
    return image if order == 0 or image.format.kind == "float" else _floats(image)


@compile
def _within(im: Image, low: Image, p: Position) -> Any:
    return between(low, im(p))


def between(ends: Any, texel: Any) -> Any:
    """Clipped to what is between two texels: the least and the greatest of an image."""
    return glsl.clamp(texel, ends((0, 0)), ends((1, 0)))


def ends_of(image: Any, *more: float) -> Any:
    """The ends of the range of an image, all channels together, and of what lies outside."""
    shape = (1, 2, image.channels)
    ends = functools.partial(_ends, image.channels, more)
    least, greatest = _span(image)
    return image_of(derived(ends, least, greatest, shape=shape, dtype=np.float32), "clip")


def _span(image: Any) -> tuple[Any, Any]:
    """The least and the greatest number of an image."""
    return image.span() if isinstance(image, LazyImage) else (np.nanmin(image), np.nanmax(image))


def _ends(
    channels: int, more: tuple[float, ...], least: float, greatest: float
) -> NDArray[np.float32]:
    """The least and the greatest value beside each other, of each channel."""
    ends = np.array([[min([least, *more]), max([greatest, *more])]], np.float32)
    return np.repeat(ends[..., None], channels, axis=2)


def size_of(shape: Any, name: str, channels: int) -> tuple[int, int]:
    takes = f"{name}: takes a size (height, width), whole numbers from 1 up, got {shown(shape)}"
    try:
        given = [*shape]
        height, width, *more = sides = [*map(int, given)]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(takes) from None
    if sides != given or min(height, width) < 1 or more not in ([], [channels]):
        raise ValueError(takes + f"; the image has {channels} channels" * bool(more))
    return height, width


@whole
@together
def resize(
    image: Image,
    output_shape: tuple[int, ...],
    order: int | None = None,
    mode: str = "reflect",
    cval: float = 0.0,
    clip: bool = True,
    anti_aliasing: bool | None = None,
    anti_aliasing_sigma: Any = None,
) -> Any:
    """The image in another size (height, width); `skimage.transform.resize`.

    `order` is 0 (the nearest texel; of bools the only one), 1 (linear) or 3 (cubic B-splines, held
    within the image's range unless `clip=False`). Ints become floats, but for order 0. Where it
    gets smaller it is smoothed first, unless `anti_aliasing=False`.
    """
    shape = size_of(output_shape, "resize", image.channels)
    order = order_of(order, image, "resize")
    seen = read_as(between_ints(image, order), mode, cval)
    factors = [old / new for old, new in zip(image.shape, shape, strict=False)]
    if anti_aliasing is None:
        anti_aliasing = (order > 0 or image.dtype.kind == "f") and max(factors) > 1
    sigma: Any = [max(0.0, (f - 1) / 2) for f in factors] if anti_aliasing else 0.0
    if anti_aliasing and anti_aliasing_sigma is not None:
        takes = "a number of pixels from 0 up, or two (along y, along x)"
        sigma = pair_of(anti_aliasing_sigma, "resize: anti_aliasing_sigma", takes, 0)
    if order == 1:
        smooth = shrunk(seen, shape, sigma)
    else:
        smooth = gaussian(seen, sigma=sigma) if anti_aliasing else seen
    return resized_within(smooth, shape, order, mode, cval, image if clip else None)


def resized_within(
    image: Any, shape: tuple[int, int], order: int, mode: str, cval: float, within: Any
) -> Any:
    """The image in another size, held within the range of an image where one is given."""
    made = resized(image, shape, order, read_as(image, mode, cval))
    return clipped(made, order, within, mode, cval)


def clipped(made: Any, order: int, within: Any, mode: str, cval: float) -> Any:
    """What cubic interpolation has made, held within the range of an image where one is given."""
    ends = limits(within, order, mode, cval)
    return made if ends is None else _within(made, ends)


def limits(within: Any, order: int, mode: str, cval: float) -> Any:
    """The ends of the range that cubic interpolation is held within; None of others."""
    if order < 3 or within is None:
        return None
    return ends_of(within, *([cval] if mode == "constant" else []))


@whole_only
def rescale(
    image: Any,
    scale: Any,
    order: int | None = None,
    mode: str = "reflect",
    cval: float = 0.0,
    clip: bool = True,
    anti_aliasing: bool | None = None,
    anti_aliasing_sigma: Any = None,
    *,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """The image `scale` times as large, or (along y, along x) times; `skimage.transform.rescale`.
    What else it takes is that of `resize`."""
    first = image_of(image, "rescale")
    factors = pair_of(scale, "rescale: scale", "a factor above 0, or two of such", TINY)
    sides = zip(first.shape, factors, strict=False)
    shape = tuple([max(int(np.round(n * f)), 1) for n, f in sides])
    how = order, mode, cval, clip, anti_aliasing, anti_aliasing_sigma
    return resize(image, shape, *how, out=out, dtype=dtype)
