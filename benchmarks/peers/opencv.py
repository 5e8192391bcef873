"""OpenCV. Its rotation has weights of 5 bits and its bilateral filter a disc of 13 of the 25 taps,
with exp from a table; its HSV of bytes has 8 bits a channel, and its sharpening of bytes rounds
twice: the check lets these not pass, so they are timed as "approximate"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import cv2
import numpy as np

from benchmarks.kernels import AMOUNT, ANGLE, CONV9, GAUSS15, RANGE, ROW, SHIFT, SPACE

NAME: Final = "OpenCV"
APPROXIMATE: Final = (
    ("rotation", "float32"),
    ("rotation", "uint8"),
    ("bilateral 5x5", "float32"),
    ("bilateral 5x5", "uint8"),
    ("hsv shift", "uint8"),
    ("unsharp", "uint8"),
)
EDGE: Final = cv2.BORDER_REPLICATE
Run = Callable[..., Any]


def version() -> str:
    return str(cv2.__version__)


class _Kept:
    """Arrays for what is between two calls, by shape."""

    def __init__(self) -> None:
        self.arrays: dict[Any, Any] = {}

    def of(self, shape: Any, count: int, dtype: Any = np.float32) -> Any:
        if shape not in self.arrays:
            self.arrays[shape] = [np.empty(shape, dtype) for _ in range(count)]
        return self.arrays[shape]


def _scale(unit: float) -> Run:
    return lambda im, out: cv2.addWeighted(im, 1.5, im, 0.0, 0.25 * unit, dst=out)


def _sobel(unit: float) -> Run:
    kept = _Kept()

    def run(im: Any, out: Any) -> None:
        gx, gy = kept.of(im.shape, 2)
        cv2.Sobel(im, cv2.CV_32F, 1, 0, dst=gx, ksize=3, borderType=EDGE)
        cv2.Sobel(im, cv2.CV_32F, 0, 1, dst=gy, ksize=3, borderType=EDGE)
        if unit == 1:
            cv2.magnitude(gx, gy, magnitude=out)
        else:
            cv2.convertScaleAbs(cv2.magnitude(gx, gy, magnitude=gx), dst=out)

    return run


def _blur(row: Any, sigma: float) -> Callable[[float], Run]:
    """A separable blur; of bytes by GaussianBlur, which is in fixed point and faster."""
    weights, size = row.astype(np.float32), (len(row), len(row))

    def prepare(unit: float) -> Run:
        if unit == 1:
            return lambda im, out: cv2.sepFilter2D(
                im, cv2.CV_32F, weights, weights, dst=out, borderType=EDGE
            )
        return lambda im, out: cv2.GaussianBlur(im, size, sigma, dst=out, borderType=EDGE)

    return prepare


# A sigma of 0 with 5 taps stands for 1 4 6 4 1.
_GAUSS5, _GAUSS15 = _blur(ROW, 0), _blur(GAUSS15, 3)


def _conv9(unit: float) -> Run:
    kernel = CONV9.astype(np.float32)
    return lambda im, out: cv2.filter2D(im, -1, kernel, dst=out, borderType=EDGE)


def _bilateral(unit: float) -> Run:
    return lambda im, out: cv2.bilateralFilter(im, 5, RANGE * unit, SPACE, dst=out, borderType=EDGE)


def _median(unit: float) -> Run:
    return lambda im, out: cv2.medianBlur(im, 3, dst=out)


def _hsv(unit: float) -> Run:
    if unit > 1:
        return _hsv_bytes

    def run(im: Any, out: Any) -> None:
        turned = cv2.cvtColor(im, cv2.COLOR_RGB2HSV)
        hue = turned[..., 0]
        np.add(hue, 360 * SHIFT, out=hue)
        np.subtract(hue, 360, out=hue, where=hue >= 360)
        rgb = cv2.cvtColor(turned, cv2.COLOR_HSV2RGB)
        cv2.mixChannels([rgb, im], [out], [0, 0, 1, 1, 2, 2, 6, 3])

    return run


def _hsv_bytes(im: Any, out: Any) -> None:
    """A hue of 256 steps, which turns by itself."""
    turned = cv2.cvtColor(im, cv2.COLOR_RGB2HSV_FULL)
    hue = turned[..., 0]
    np.add(hue, np.uint8(round(256 * SHIFT)), out=hue)
    rgb = cv2.cvtColor(turned, cv2.COLOR_HSV2RGB_FULL)
    cv2.mixChannels([rgb, im], [out], [0, 0, 1, 1, 2, 2, 6, 3])


def _unsharp(unit: float) -> Run:
    kept, blur = _Kept(), _GAUSS5(unit)

    def run(im: Any, out: Any) -> None:
        (blurred,) = kept.of(im.shape, 1, im.dtype)
        blur(im, blurred)
        cv2.addWeighted(im, 1 + AMOUNT, blurred, -AMOUNT, 0.0, dst=out)

    return run


def _rotation(unit: float) -> Run:
    def run(im: Any, out: Any) -> None:
        height, width = im.shape
        cx, cy, c, s = (width - 1) / 2, (height - 1) / 2, np.cos(ANGLE), np.sin(ANGLE)
        matrix = np.array([[c, -s, cx - c * cx + s * cy], [s, c, cy - s * cx - c * cy]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cv2.warpAffine(im, matrix, (width, height), dst=out, flags=flags, borderMode=EDGE)

    return run


_PREPARED: Final[dict[str, Callable[[float], Run]]] = {
    "scale": _scale,
    "sobel": _sobel,
    "gauss 5x5": _GAUSS5,
    "gauss 15 separable": _GAUSS15,
    "conv 9x9": _conv9,
    "bilateral 5x5": _bilateral,
    "median 3x3": _median,
    "hsv shift": _hsv,
    "unsharp": _unsharp,
    "rotation": _rotation,
}
KERNELS: Final[dict[tuple[str, str], Callable[[], Run]]] = {
    (name, dtype): lambda prepare=prepare, unit=unit: prepare(unit)
    for dtype, unit in (("float32", 1.0), ("uint8", 255.0))
    for name, prepare in _PREPARED.items()
}
