"""Images turned, warped, or in steps of sizes; as in `skimage.transform`.

    rotate(photo, 30); warp(photo, matrix)
    for layer in pyramid_gaussian(photo): ...

`mode` says what lies outside, in NumPy's names, as in `skimage.transform`: "constant" with `cval`,
"edge", "symmetric" (d c b a | a b c d), "reflect" (d c b | a b c d), "wrap".
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.execution.large.images import LazyImage
from pygpu.filters.linear import gaussian
from pygpu.filters.sampling import (
    between,
    between_ints,
    bicubic,
    bilinear,
    clipped,
    limits,
    order_of,
    read_as,
    resized_within,
    shrunk,
    size_of,
)
from pygpu.filters.whole import (
    image_of,
    outside,
    pair_of,
    presented,
    refuse_dask,
    together,
    whole,
    whole_only,
)
from pygpu.image.image import Image
from pygpu.language.matrices import Mat3
from pygpu.language.scalars import number
from pygpu.language.vectors import Position, Vec2, Vec3
from pygpu.runtime import compile

__all__ = [
    "pyramid_expand", "pyramid_gaussian", "pyramid_laplacian", "pyramid_reduce", "rotate",
    "warp",
]  # fmt: skip

AT_ONCE: Final = 1 << 19  # pixels of a layer below which all that are smaller are made at once


# ---------------------------------------------------------------- rotation, any map


def _in_one_piece(image: Any, name: str) -> None:
    """TypeError for a Dask array of several chunks, of which a chunk of the result may need any."""
    if isinstance(image, LazyImage) and image.array.npartitions > 1:
        refuse_dask(
            name,
            "it reads far from the position, so that every chunk would need all of it",
            "Give it as one piece, its .rechunk(-1), or that of a part",
            image,
        )


def _between_texels(im: Any, q: Any, order: int) -> Any:
    """The image at a place between its texels."""
    if order == 0:
        return im((math.floor(q.x + 0.5), math.floor(q.y + 0.5)))
    return bilinear(im, q) if order == 1 else bicubic(im, q)


@compile
def _turned(im: Image, p: Position, to: Vec2, around: Vec2, turn: Vec2, order: Any = 1) -> Any:
    """Each position is read where a rotation takes it: `to` goes to `around`."""
    v = Vec2(p.x, p.y) - to
    q = around + Vec2(turn.x * v.x - turn.y * v.y, turn.y * v.x + turn.x * v.y)
    return _between_texels(im, q, order)


@compile
def _turned_within(
    im: Image, ends: Image, p: Position, to: Vec2, around: Vec2, turn: Vec2, order: Any = 1
) -> Any:
    return between(ends, _turned(im, p, to, around, turn, order))


@whole
@functools.partial(together, alone=True)
def rotate(
    image: Image,
    angle: float,
    resize: bool = False,
    center: Any = None,
    order: int | None = None,
    mode: str = "constant",
    cval: float = 0.0,
    clip: bool = True,
) -> Any:
    """The image turned by so many degrees, counter-clockwise; `skimage.transform.rotate`.

    It turns around `center` (x, y), the middle unless said. With `resize` the result is as large
    as the whole turned image needs. `order` is 0 (nearest), 1 (linear) or 3 (bicubic, held within
    the image's range unless `clip=False`).
    """
    order = order_of(order, image, "rotate")
    if not math.isfinite(angle):
        raise ValueError(f"rotate: angle takes degrees, got {shown(angle)}")
    _in_one_piece(image, "rotate")
    middle = (np.array([image.width, image.height]) - 1) / 2
    centre = np.array(pair_of(middle if center is None else center, "rotate: center", "(x, y)"))
    radians = math.radians(angle % 360)
    cos, sin = math.cos(radians), math.sin(radians)
    to, shape = centre, image.shape[:2]
    if resize:
        corners = np.array([[x, y] for x in (0, 2 * middle[0]) for y in (0, 2 * middle[1])])
        back = (corners - centre) @ np.array([[cos, -sin], [sin, cos]])  # clockwise in the result
        low, high = back.min(axis=0), back.max(axis=0)
        size = np.round(np.round(high - low, 9) + 1).astype(int)
        shape = (int(size[1]), int(size[0]))
        to = -low
    ends = limits(image if clip else None, order, mode, cval)
    seen = read_as(between_ints(image, order), mode, cval)
    images = (seen,) if ends is None else (seen, ends)
    return (_turned if ends is None else _turned_within)(
        *images,
        to=Vec2(*map(float, to)),
        around=Vec2(*map(float, centre)),
        turn=Vec2(cos, sin),
        order=order,
        shape=shape,
    )


@compile
def _by_matrix(im: Image, p: Position, matrix: Mat3, order: Any = 1) -> Any:
    """Each position is read where a matrix takes it, in homogeneous coordinates."""
    x, y, w = matrix @ Vec3(p.x, p.y, 1.0)
    return _between_texels(im, Vec2(x / w, y / w), order)


@compile
def _by_matrix_within(im: Image, ends: Image, p: Position, matrix: Mat3, order: Any = 1) -> Any:
    return between(ends, _by_matrix(im, p, matrix, order))


@compile
def _by_places(im: Image, places: Image, p: Position, order: Any = 1) -> Any:
    """Each position is read at the place that an image has for it."""
    return _between_texels(im, places(p), order)


@whole
def warp(
    image: Image,
    inverse_map: Any,
    map_args: Mapping[str, Any] | None = None,
    output_shape: Any = None,
    order: int | None = None,
    mode: str = "constant",
    cval: float = 0.0,
    clip: bool = True,
) -> Any:
    """Each position of the result is read where `inverse_map` takes it; `skimage.transform.warp`.

    `inverse_map` is a matrix 3 x 3 of homogeneous coordinates (x, y, 1), an object that has one as
    `params` (scikit-image's transforms), an array (2, H, W) of the rows and the columns to read, or
    a function that is given positions (N, 2), as x and y, with `map_args`, and returns as many.
    `output_shape` is (height, width), that of the image or of the array unless said. `order` is 0
    (nearest), 1 (linear) or 3 (bicubic, held within the image's range unless `clip=False`).
    """
    order = order_of(order, image, "warp")
    _in_one_piece(image, "warp")
    seen = read_as(between_ints(image, order), mode, cval)
    matrix = _matrix(inverse_map)
    size = None
    if output_shape is not None:
        size = size_of(output_shape, "warp: output_shape", image.channels)
    own = image.height, image.width
    within = image if clip else None
    if matrix is not None:
        ends = limits(within, order, mode, cval)
        if ends is not None:
            return _by_matrix_within(seen, ends, matrix=matrix, order=order, shape=size or own)
        warped = _by_matrix(seen, matrix=matrix, order=order, shape=size or own)
    else:
        places = _places(inverse_map, map_args or {}, size or own)
        if size is not None and places.shape[:2] != size:
            raise ValueError(
                f"warp: output_shape={size}, and the places are of shape {places.shape[:2]}"
            )
        warped = _by_places(seen, Image(places), order=order, shape=places.shape[:2])
    return clipped(warped, order, within, mode, cval)


def _matrix(inverse_map: Any) -> Any:
    """The matrix of a map; None where it is none."""
    found = getattr(inverse_map, "params", inverse_map)
    if isinstance(found, Mat3):
        return found
    is_matrix = isinstance(found, np.ndarray | list | tuple) and np.shape(found) == (3, 3)
    return Mat3(*np.asarray(found, float).tolist()) if is_matrix else None


def _places(inverse_map: Any, arguments: Mapping[str, Any], size: tuple[int, int]) -> Any:
    """Where each position is read: (H, W, 2), x and y."""
    if callable(inverse_map):
        rows, columns = np.indices(size)
        given = np.stack([columns.ravel(), rows.ravel()], axis=1).astype(float)
        found = np.asarray(inverse_map(given, **arguments), np.float32)
        if found.shape != given.shape:
            raise ValueError(
                f"warp: inverse_map was given positions of shape {given.shape} and returned some "
                f"of shape {found.shape}"
            )
        return found.reshape(*size, 2)
    array = np.asarray(inverse_map)
    if array.dtype.kind not in "fiu" or array.ndim != 3 or array.shape[0] != 2:
        raise TypeError(
            "warp: inverse_map takes a matrix 3 x 3, an object with `params`, a function of "
            f"positions (N, 2), or an array (2, H, W); got {shown(inverse_map)}"
        )
    return np.ascontiguousarray(np.float32(array[::-1].transpose(1, 2, 0)))


# ---------------------------------------------------------------- pyramids


def _as_smoothed(image: Any, mode: str, cval: float) -> Any:
    """The image as `skimage.filters.gaussian` reads it: "reflect" repeats the edge, as in SciPy."""
    return outside(image, {"edge": "nearest", "symmetric": "reflect"}.get(mode, mode), cval)


def _lessened(image: Any, factor: float) -> tuple[int, int]:
    """The size of the next layer."""
    return math.ceil(image.height / factor), math.ceil(image.width / factor)


def _factor(factor: float, name: str) -> None:
    if number(factor) is None or not 1 < factor < math.inf:
        raise ValueError(f"{name}: takes a factor above 1, got {shown(factor)}")


@whole
@functools.partial(together, least=1 << 19)
def pyramid_reduce(
    image: Image,
    downscale: float = 2,
    sigma: float | None = None,
    order: int = 1,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Any:
    """The image smoothed, then `downscale` times smaller; `skimage.transform.pyramid_reduce`.
    `sigma` is a third of `downscale` unless said."""
    _factor(downscale, "pyramid_reduce: downscale")
    return _reduced(image, downscale, sigma, order, mode, cval)


def _reduced(
    image: Any, downscale: float, sigma: float | None, order: int, mode: str, cval: float
) -> Any:
    width, shape = 2 * downscale / 6 if sigma is None else sigma, _lessened(image, downscale)
    seen = _as_smoothed(image, mode, cval)
    smooth = shrunk(seen, shape, width) if order == 1 else gaussian(seen, sigma=width)
    order = order_of(order, smooth, "pyramid_reduce")
    return resized_within(smooth, shape, order, mode, cval, smooth)


@whole
@together
def pyramid_expand(
    image: Image,
    upscale: float = 2,
    sigma: float | None = None,
    order: int = 1,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Any:
    """The image `upscale` times larger, then smoothed; `skimage.transform.pyramid_expand`."""
    _factor(upscale, "pyramid_expand: upscale")
    shape = math.ceil(image.height * upscale), math.ceil(image.width * upscale)
    image = between_ints(image, 1)  # smoothed they will be floats
    order = order_of(order, image, "pyramid_expand")
    large = resized_within(image, shape, order, mode, cval, image)
    width = 2 * upscale / 6 if sigma is None else sigma
    return gaussian(_as_smoothed(large, mode, cval), sigma=width)


def _layers(image: Any, name: str, steps: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """The layers of a pyramid, each in the form of what was given."""
    first = image_of(image, name)
    for layer in steps(first):
        yield presented(layer, image, first)


def _is_small(layer: Any) -> bool:
    """Whether this layer and the smaller ones take less time than calls: made at once."""
    return not isinstance(layer, LazyImage) and bool(layer.height * layer.width < AT_ONCE)


@whole_only
def pyramid_gaussian(
    image: Any,
    max_layer: int = -1,
    downscale: float = 2,
    sigma: float | None = None,
    order: int = 1,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Iterator[Any]:
    """The image and what `pyramid_reduce` makes of it, again and again, `max_layer` times or until
    nothing gets smaller; `skimage.transform.pyramid_gaussian`. The other options are those of
    `pyramid_reduce`."""
    _factor(downscale, "pyramid_gaussian: downscale")
    most, options = operator.index(max_layer), (downscale, sigma, order, mode, cval)

    def steps(layer: Any) -> Iterator[Any]:
        yield layer
        count = 0
        while count != most and not _is_small(layer):
            smaller = pyramid_reduce(layer, *options)
            if smaller.shape == layer.shape:
                return
            yield smaller
            layer, count = smaller, count + 1
        if count != most:
            yield from _smaller(layer, most - count, options)

    return _layers(image, "pyramid_gaussian", steps)


@together
def _smaller(layer: Any, most: int, options: Any) -> tuple[Any, ...]:
    """So many smaller layers, or less than 0: until nothing gets smaller."""
    layers = [layer]
    while len(layers) != most + 1:
        smaller = _reduced(layers[-1], *options)
        if smaller.shape == layers[-1].shape:
            break
        layers.append(smaller)
    return tuple(layers[1:])


@whole_only
def pyramid_laplacian(
    image: Any,
    max_layer: int = -1,
    downscale: float = 2,
    sigma: float | None = None,
    order: int = 1,
    mode: str = "reflect",
    cval: float = 0.0,
) -> Iterator[Any]:
    """What each layer loses when it is smoothed; `skimage.transform.pyramid_laplacian`."""
    _factor(downscale, "pyramid_laplacian: downscale")
    width = 2 * downscale / 6 if sigma is None else sigma
    given = operator.index(max_layer)

    def steps(layer: Any) -> Iterator[Any]:
        most = math.ceil(math.log(max(layer.shape[:2]), downscale)) if given < 0 else given
        options = order, mode, cval
        while most and not _is_small(layer):
            lost, smooth = _loss(layer, width, mode, cval)
            yield lost
            layer, most = _next(smooth, downscale, *options), most - 1
        yield from _losses(layer, most, width, downscale, options)

    return _layers(image, "pyramid_laplacian", steps)


def _loss(layer: Any, sigma: float, mode: str, cval: float) -> tuple[Any, Any]:
    """What a layer loses when it is smoothed, and what is left."""
    smooth = gaussian(_as_smoothed(layer, mode, cval), sigma=sigma)
    return layer - smooth, smooth


def _next(smooth: Any, downscale: float, order: int, mode: str, cval: float) -> Any:
    """The layer after a smoothed one."""
    order = order_of(order, smooth, "pyramid_laplacian")
    return resized_within(smooth, _lessened(smooth, downscale), order, mode, cval, smooth)


@together
def _losses(layer: Any, most: int, sigma: float, downscale: float, options: Any) -> tuple[Any, ...]:
    """Of a layer and so many after it."""
    _, mode, cval = options
    lost, smooth = _loss(layer, sigma, mode, cval)
    found = [lost]
    for _ in range(most):
        lost, smooth = _loss(_next(smooth, downscale, *options), sigma, mode, cval)
        found.append(lost)
    return tuple(found)
