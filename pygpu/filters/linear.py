"""Weighted sums of neighbours.

    correlate(kernel, im, p) == sum(w * im(p + d))     # scipy.ndimage.correlate
    convolve(kernel, im, p)  == sum(w * im(p - d))     # scipy.ndimage.convolve

The function called `convolve` in the PyGPU paper is `correlate`.
"""

import functools
from typing import Any, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.execution.arguments.convert import is_picture
from pygpu.execution.large.sources import NO_OUT, is_dask
from pygpu.filters.whole import refusing, together, whole, with_map
from pygpu.image.image import Image
from pygpu.language.kernels import known, offsets
from pygpu.language.vectors import Position
from pygpu.runtime import compile

__all__ = ["convolve", "correlate", "gaussian"]


def _check_image(name: str, arguments: tuple[Any, ...]) -> None:
    for im in arguments[1:2]:
        if not callable(im):
            help = f"; compile({name}, kernel=k) makes a function of arrays" * is_picture(im)
            raise TypeError(f"{name}: im takes an image, got {shown(im)}{help}")


FARTHEST: Final = 2**16  # pixels to the last that is read


@functools.partial(guarded, check=_check_image)
def correlate(kernel: Any, im: Image, p: Position) -> Any:
    """The sum of the texels around p by the weights that lie on them; `scipy.ndimage.correlate`.

    The kernel is an array, nested lists, or one row of weights, which lies along x; its centre is
    element n // 2. `compile(correlate, kernel=k)` makes it a function of images.
    """
    weights = np.asarray(kernel).ravel()
    return sum([w * im(p + d) for w, d in zip(weights, offsets(kernel), strict=True)])


@functools.partial(guarded, check=_check_image)
def convolve(kernel: Any, im: Image, p: Position) -> Any:
    """The same with the kernel turned by 180 degrees; `scipy.ndimage.convolve`."""
    weights = np.asarray(kernel).ravel()
    return sum([w * im(p - d) for w, d in zip(weights, offsets(kernel), strict=True)])


def widths(sigma: Any) -> tuple[Any, Any]:
    """Sigma along y and x. ValueError for anything but a number from 0 up, or two."""
    sigma = known(sigma, "gaussian: sigma")
    pair = (sigma, sigma) if np.ndim(sigma) == 0 else tuple([known(s, "sigma") for s in sigma])
    if len(pair) != 2 or not all(
        isinstance(s, int | float | np.number) and 0 <= s < np.inf for s in pair
    ):
        raise ValueError(
            "gaussian: sigma takes a number, 0 or more, or a pair of such (along y, along x), "
            f"got {shown(sigma)}"
        )
    return pair


def gaussian_weights(sigma: float, truncate: float = 4.0) -> Any:
    """Samples of a Gaussian out to `truncate` sigma, of sum 1."""
    radius = int(min(truncate * sigma, FARTHEST) + 0.5)
    if radius == FARTHEST:
        raise ValueError(
            f"gaussian: sigma times truncate takes less than {FARTHEST} pixels, got "
            f"{shown(sigma)} times {shown(truncate)}"
        )
    if radius == 0:
        return np.ones(1)
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    return weights / weights.sum()


@with_map
@refusing
def gaussian(
    im: Any,
    p: Any = None,
    sigma: Any = 1.0,
    *,
    truncate: float = 4.0,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """The mean of the neighbours, weighted by a Gaussian; `skimage.filters.gaussian`.

    `sigma` is a number of pixels, or two: along y, along x; one may also be given second. A whole
    image is made in two passes, along rows and columns, with nothing rounded in between; `out` and
    `dtype` are those of any call. With a position it is one sum over a square of texels: in a
    function that is dear for a large sigma, which is known when the function is compiled.
    """
    if isinstance(p, (int, float, np.number)):  # as scikit-image's, whose second parameter is sigma
        p, sigma = None, p
    if isinstance(p, str):
        raise TypeError(f"gaussian: p takes a position, got {shown(p)}")
    down, across = widths(sigma)
    if isinstance(truncate, float | int) and not 0 < truncate < np.inf:
        raise ValueError(f"gaussian: truncate takes a number above 0, got {shown(truncate)}")
    if p is not None:
        if is_picture(im) and not callable(im):
            raise TypeError(
                f"gaussian: at a position, im takes a pygpu.Image or a function, got {shown(im)}"
            )
        columns = gaussian_weights(down, truncate)
        return correlate(np.outer(columns, gaussian_weights(across, truncate)), im, p)
    if not (is_picture(im) or is_dask(im)):
        raise TypeError(f"gaussian: im takes an image, or a position with it, got {shown(im)}")
    if is_dask(im):
        if out is not None:
            raise TypeError(NO_OUT)
        rows = _along(im, sigma=across, truncate=truncate, axis=1)
        return _along(rows, sigma=down, truncate=truncate, axis=0, dtype=dtype)
    if out is None and dtype is None and isinstance(im, Image):
        return _gaussian(im, down, across, truncate)  # which pipelines put off
    return _smooth(im, down, across, truncate, out=out, dtype=dtype)


@compile
def _along(im: Image, p: Position, sigma: Any = 1.0, truncate: Any = 4.0, axis: Any = 1) -> Any:
    """One pass, along x (axis 1) or y."""
    weights = gaussian_weights(sigma, truncate)
    return correlate(weights if axis == 1 else weights[:, np.newaxis], im, p)


@compile
def box(im: Image, p: Position, size: Any = 3, axis: Any = 1) -> Any:
    """The mean of so many texels of a row (axis 1) or of a column."""
    weights = np.full(size, 1 / size)
    return correlate(weights if axis == 1 else weights[:, np.newaxis], im, p)


@together
def _gaussian(image: Any, down: Any, across: Any, truncate: float) -> Any:
    rows = _along(image, sigma=across, truncate=truncate, axis=1)
    return _along(rows, sigma=down, truncate=truncate, axis=0)


_smooth: Final = whole(_gaussian)
