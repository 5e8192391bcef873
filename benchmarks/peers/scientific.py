"""SciPy and scikit-image, whichever of them has the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import scipy
import skimage
from scipy import ndimage
from skimage import color

from benchmarks.kernels import AMOUNT, ANGLE, CONV9, GAUSS15, ROW, SHIFT, SOBEL

NAME: Final = "SciPy"
APPROXIMATE: Final = ()


def version() -> str:
    return f"{scipy.__version__}, scikit-image {skimage.__version__}"


def _sobel(im: Any, out: Any) -> None:
    gx = ndimage.correlate(im, SOBEL, mode="nearest")
    gy = ndimage.correlate(im, SOBEL.T, mode="nearest")
    np.hypot(gx, gy, out=out)


def _gauss5(im: Any, out: Any) -> None:
    half = ndimage.correlate1d(im, ROW, axis=0, mode="nearest")
    ndimage.correlate1d(half, ROW, axis=1, output=out, mode="nearest")


def _gauss15(im: Any, out: Any) -> None:
    half = ndimage.correlate1d(im, GAUSS15, axis=0, mode="nearest")
    ndimage.correlate1d(half, GAUSS15, axis=1, output=out, mode="nearest")


def _conv9(im: Any, out: Any) -> None:
    ndimage.correlate(im, CONV9, output=out, mode="nearest")


def _median(im: Any, out: Any) -> None:
    ndimage.median_filter(im, 3, output=out, mode="nearest")


def _hsv(im: Any, out: Any) -> None:
    turned = color.rgb2hsv(im[..., :3])
    turned[..., 0] = (turned[..., 0] + SHIFT) % 1
    out[..., :3] = color.hsv2rgb(turned)
    out[..., 3] = im[..., 3]


def _unsharp(im: Any, out: Any) -> None:
    _gauss5(im, out)
    np.subtract(im, out, out=out)
    np.multiply(out, AMOUNT, out=out)
    np.add(out, im, out=out)


def _rotation(im: Any, out: Any) -> None:
    height, width = im.shape
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    matrix = np.array([[c, s], [-s, c]])
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    ndimage.affine_transform(
        im, matrix, centre - matrix @ centre, output=out, order=1, mode="nearest"
    )


KERNELS: Final[dict[tuple[str, str], Callable[[], Callable[..., Any]]]] = {
    ("sobel", "float32"): lambda: _sobel,
    ("gauss 5x5", "float32"): lambda: _gauss5,
    ("gauss 15 separable", "float32"): lambda: _gauss15,
    ("conv 9x9", "float32"): lambda: _conv9,
    ("median 3x3", "float32"): lambda: _median,
    ("hsv shift", "float32"): lambda: _hsv,
    ("unsharp", "float32"): lambda: _unsharp,
    ("rotation", "float32"): lambda: _rotation,
    ("median 3x3", "uint8"): lambda: _median,
    ("rotation", "uint8"): lambda: _rotation,
}
