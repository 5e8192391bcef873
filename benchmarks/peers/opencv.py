"""OpenCV. Its rotation has weights of 5 bits and its bilateral filter a disc of 13 of the 25 taps,
with exp from a table: the check lets neither pass, so those two are timed as "approximate"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import cv2
import numpy as np

from benchmarks.kernels import AMOUNT, ANGLE, CONV9, GAUSS15, RANGE, ROW, SHIFT, SPACE

NAME: Final = "OpenCV"
APPROXIMATE: Final = ("rotation", "bilateral 5x5")
EDGE: Final = cv2.BORDER_REPLICATE


def version() -> str:
    return str(cv2.__version__)


def _scale() -> Callable[..., Any]:
    return lambda im, out: cv2.addWeighted(im, 1.5, im, 0.0, 0.25, dst=out)


def _sobel() -> Callable[..., Any]:
    kept: dict[Any, Any] = {}

    def run(im: Any, out: Any) -> None:
        gx, gy = kept.setdefault(im.shape, (np.empty_like(im), np.empty_like(im)))
        cv2.Sobel(im, cv2.CV_32F, 1, 0, dst=gx, ksize=3, borderType=EDGE)
        cv2.Sobel(im, cv2.CV_32F, 0, 1, dst=gy, ksize=3, borderType=EDGE)
        cv2.magnitude(gx, gy, magnitude=out)

    return run


def _gauss5() -> Callable[..., Any]:
    row = ROW.astype(np.float32)
    return lambda im, out: cv2.sepFilter2D(im, cv2.CV_32F, row, row, dst=out, borderType=EDGE)


def _gauss15() -> Callable[..., Any]:
    row = GAUSS15.astype(np.float32)
    return lambda im, out: cv2.sepFilter2D(im, cv2.CV_32F, row, row, dst=out, borderType=EDGE)


def _conv9() -> Callable[..., Any]:
    kernel = CONV9.astype(np.float32)
    return lambda im, out: cv2.filter2D(im, cv2.CV_32F, kernel, dst=out, borderType=EDGE)


def _bilateral() -> Callable[..., Any]:
    return lambda im, out: cv2.bilateralFilter(im, 5, RANGE, SPACE, dst=out, borderType=EDGE)


def _median() -> Callable[..., Any]:
    return lambda im, out: cv2.medianBlur(im, 3, dst=out)


def _hsv() -> Callable[..., Any]:
    def run(im: Any, out: Any) -> None:
        turned = cv2.cvtColor(im, cv2.COLOR_RGB2HSV)
        hue = turned[..., 0]
        np.add(hue, 360 * SHIFT, out=hue)
        np.subtract(hue, 360, out=hue, where=hue >= 360)
        rgb = cv2.cvtColor(turned, cv2.COLOR_HSV2RGB)
        cv2.mixChannels([rgb, im], [out], [0, 0, 1, 1, 2, 2, 6, 3])

    return run


def _unsharp() -> Callable[..., Any]:
    row = ROW.astype(np.float32)
    kept: dict[Any, Any] = {}

    def run(im: Any, out: Any) -> None:
        blurred = kept.setdefault(im.shape, np.empty_like(im))
        cv2.sepFilter2D(im, cv2.CV_32F, row, row, dst=blurred, borderType=EDGE)
        cv2.addWeighted(im, 1 + AMOUNT, blurred, -AMOUNT, 0.0, dst=out)

    return run


def _rotation() -> Callable[..., Any]:
    def run(im: Any, out: Any) -> None:
        height, width = im.shape
        cx, cy, c, s = (width - 1) / 2, (height - 1) / 2, np.cos(ANGLE), np.sin(ANGLE)
        matrix = np.array([[c, -s, cx - c * cx + s * cy], [s, c, cy - s * cx - c * cy]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cv2.warpAffine(im, matrix, (width, height), dst=out, flags=flags, borderMode=EDGE)

    return run


KERNELS: Final[dict[str, Callable[[], Callable[..., Any]]]] = {
    "scale": _scale,
    "sobel": _sobel,
    "gauss 5x5": _gauss5,
    "gauss 15 separable": _gauss15,
    "conv 9x9": _conv9,
    "bilateral 5x5": _bilateral,
    "median 3x3": _median,
    "hsv shift": _hsv,
    "unsharp": _unsharp,
    "rotation": _rotation,
}
