"""Images of another size, turned, or in steps of sizes; as in `skimage.transform`.

    resize(photo, (100, 150)); rescale(photo, 0.5); rotate(photo, 30)
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
from numpy.typing import NDArray

from pygpu import glsl
from pygpu.core.errors import shown
from pygpu.execution.large.images import LazyImage, derived
from pygpu.filters.linear import gaussian
from pygpu.filters.sampling import bicubic, bilinear, resized
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

# What lies outside: NumPy's names, as scikit-image has them here, and PyGPU's (SciPy's).
MODES: Final = {
    "constant": "constant",
    "edge": "nearest",
    "symmetric": "reflect",
    "reflect": "mirror",
    "wrap": "wrap",
}
TINY: Final = math.ulp(0.0)  # the least number above 0


def _outside(image: Image, mode: str, cval: float) -> Image:
    """The image with another boundary, by NumPy's name."""
    if mode not in MODES:
        raise ValueError(f"mode={shown(mode)}: takes {', '.join(map(repr, MODES))}")
    return image.sampled(boundary=MODES[mode], cval=cval)


def _order(order: int | None, image: Image, name: str) -> int:
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


def _between_ints(image: Any, order: int) -> Any:
    """The image, of floats where values between its texels are asked for."""
    return image if order == 0 or image.format.kind == "float" else _floats(image)


# ---------------------------------------------------------------- other sizes


@compile
def _between(im: Image, low: Image, p: Position) -> Any:
    """Clipped to what is between two texels of `low`: the least and the greatest of an image."""
    return glsl.clamp(im(p), low((0, 0)), low((1, 0)))


def _clipped(result: Any, image: Image, *more: float) -> Any:
    """Held within the range of an image, all channels together, and of what lies outside."""
    shape = (1, 2, image.channels)
    ends = functools.partial(_ends, image.channels, more)
    least, greatest = np.min(image.min()), np.max(image.max())
    found = derived(ends, least, greatest, shape=shape, dtype=np.float32)
    return _between(result, image_of(found, "clip"))


def _ends(
    channels: int, more: tuple[float, ...], least: float, greatest: float
) -> NDArray[np.float32]:
    """The least and the greatest value beside each other, of each channel."""
    ends = np.array([[min([least, *more]), max([greatest, *more])]], np.float32)
    return np.repeat(ends[..., None], channels, axis=2)


def _in_one_piece(image: Any, name: str) -> None:
    """TypeError for a Dask array of several chunks, of which a chunk of the result may need any."""
    if isinstance(image, LazyImage) and image.array.npartitions > 1:
        refuse_dask(
            name,
            "it reads far from the position, so that every chunk would need all of it",
            "Give it as one piece, its .rechunk(-1), or that of a part",
            image,
        )


def _shape(shape: Any, name: str) -> tuple[int, int]:
    try:
        height, width = (int(n) for n in tuple(shape)[:2])
    except (TypeError, ValueError):
        raise TypeError(f"{name}: takes a size (height, width), got {shown(shape)}") from None
    if height < 1 or width < 1:
        raise ValueError(f"{name}: takes a size (height, width) from 1 up, got {shown(shape)}")
    return height, width


@whole
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
    shape = _shape(output_shape, "resize")
    order = _order(order, image, "resize")
    seen = _outside(_between_ints(image, order), mode, cval)
    factors = [old / new for old, new in zip(image.shape, shape, strict=False)]
    if anti_aliasing is None:
        anti_aliasing = (order > 0 or image.dtype.kind == "f") and max(factors) > 1
    smooth: Any = seen
    if anti_aliasing:
        sigma = [max(0.0, (f - 1) / 2) for f in factors]
        if anti_aliasing_sigma is not None:
            sigma = anti_aliasing_sigma
        smooth = gaussian(seen, sigma=sigma)
    return _resized(smooth, shape, order, mode, cval, image if clip else None)


def _resized(
    image: Any, shape: tuple[int, int], order: int, mode: str, cval: float, within: Any
) -> Any:
    """The image in another size, held within the range of an image where one is given."""
    made = resized(image, shape, order, _outside(image, mode, cval))
    if order < 3 or within is None:
        return made
    return _clipped(made, within, *([cval] if mode == "constant" else []))


@whole_only
def rescale(image: Any, scale: Any, **options: Any) -> Any:
    """The image `scale` times as large, or (along y, along x) times; `skimage.transform.rescale`.
    The options are those of `resize`."""
    first = image_of(image, "rescale")
    factors = pair_of(scale, "rescale: scale", "a factor above 0, or two of such", TINY)
    sides = zip(first.shape, factors, strict=False)
    shape = tuple([max(int(np.round(n * f)), 1) for n, f in sides])
    return resize(image, shape, **options)


# ---------------------------------------------------------------- rotation, any map


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


@whole
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
    order = _order(order, image, "rotate")
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
    turned = _turned(
        _outside(_between_ints(image, order), mode, cval),
        to=Vec2(*map(float, to)),
        around=Vec2(*map(float, centre)),
        turn=Vec2(cos, sin),
        order=order,
        shape=shape,
    )
    if order < 3 or not clip:
        return turned
    return _clipped(turned, image, *([cval] if mode == "constant" else []))


@compile
def _by_matrix(im: Image, p: Position, matrix: Mat3, order: Any = 1) -> Any:
    """Each position is read where a matrix takes it, in homogeneous coordinates."""
    x, y, w = matrix @ Vec3(p.x, p.y, 1.0)
    return _between_texels(im, Vec2(x / w, y / w), order)


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
    order = _order(order, image, "warp")
    _in_one_piece(image, "warp")
    seen = _outside(_between_ints(image, order), mode, cval)
    matrix = _matrix(inverse_map)
    size = None if output_shape is None else _shape(output_shape, "warp: output_shape")
    own = image.height, image.width
    if matrix is not None:
        warped = _by_matrix(seen, matrix=matrix, order=order, shape=size or own)
    else:
        places = _places(inverse_map, map_args or {}, size or own)
        if size is not None and places.shape[:2] != size:
            raise ValueError(
                f"warp: output_shape={size}, and the places are of shape {places.shape[:2]}"
            )
        warped = _by_places(seen, Image(places), order=order, shape=places.shape[:2])
    if order < 3 or not clip:
        return warped
    return _clipped(warped, image, *([cval] if mode == "constant" else []))


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


def _smooth(image: Any, sigma: float, mode: str, cval: float) -> Any:
    """As `skimage.filters.gaussian` smooths: there "reflect" repeats the edge, as in SciPy."""
    names = {"edge": "nearest", "symmetric": "reflect"}
    return gaussian(outside(image, names.get(mode, mode), cval), sigma=sigma)


def _factor(factor: float, name: str) -> None:
    if number(factor) is None or not factor > 1:
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
    shape = math.ceil(image.height / downscale), math.ceil(image.width / downscale)
    smooth = _smooth(image, 2 * downscale / 6 if sigma is None else sigma, mode, cval)
    order = _order(order, smooth, "pyramid_reduce")
    return _resized(smooth, shape, order, mode, cval, smooth)


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
    image = _between_ints(image, 1)  # smoothed they will be floats
    order = _order(order, image, "pyramid_expand")
    large = _resized(image, shape, order, mode, cval, image)
    return _smooth(large, 2 * upscale / 6 if sigma is None else sigma, mode, cval)


def _layers(image: Any, name: str, steps: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """The layers of a pyramid, each in the form of what was given."""
    first = image_of(image, name)
    for layer in steps(first):
        yield presented(layer, image, first)


@whole_only
def pyramid_gaussian(
    image: Any, max_layer: int = -1, downscale: float = 2, **options: Any
) -> Iterator[Any]:
    """The image and what `pyramid_reduce` makes of it, again and again, `max_layer` times or until
    nothing gets smaller; `skimage.transform.pyramid_gaussian`. The options are those of
    `pyramid_reduce`."""
    _factor(downscale, "pyramid_gaussian: downscale")
    most = operator.index(max_layer)

    def steps(layer: Any) -> Iterator[Any]:
        yield layer
        count = 0
        while count != most:
            smaller = pyramid_reduce(layer, downscale, **options)
            if smaller.shape == layer.shape:
                return
            yield smaller
            layer, count = smaller, count + 1

    return _layers(image, "pyramid_gaussian", steps)


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

    def steps(image: Any) -> Iterator[Any]:
        most = math.ceil(math.log(max(image.shape[:2]), downscale)) if given < 0 else given
        smooth = _smooth(image, width, mode, cval)
        way = _order(order, smooth, "pyramid_laplacian")
        yield image - smooth
        for _ in range(most):
            shape = math.ceil(smooth.height / downscale), math.ceil(smooth.width / downscale)
            layer = _resized(smooth, shape, way, mode, cval, smooth)
            smooth = _smooth(layer, width, mode, cval)
            yield layer - smooth

    return _layers(image, "pyramid_laplacian", steps)
