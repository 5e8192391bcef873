"""NumPy alone, as one writes it with care for temporaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks.kernels import AMOUNT, CONV9, GAUSS5, GAUSS15, SOBEL

NAME: Final = "NumPy"
APPROXIMATE: Final = ()


def version() -> str:
    return str(np.__version__)


def _taps(im: Any, kernel: Any, out: Any) -> None:
    kernel = np.asarray(kernel, np.float32)
    height, width = kernel.shape
    padded = np.pad(im, [(height // 2, height // 2), (width // 2, width // 2)], mode="edge")
    product = np.empty_like(im)
    out[...] = 0
    for j in range(height):
        for i in range(width):
            if kernel[j, i]:
                part = padded[j : j + im.shape[0], i : i + im.shape[1]]
                np.multiply(part, kernel[j, i], out=product)
                np.add(out, product, out=out)


def _scale(im: Any, out: Any) -> None:
    np.multiply(im, np.float32(1.5), out=out)
    np.add(out, np.float32(0.25), out=out)


def _scale_bytes(im: Any, out: Any) -> None:
    table = np.clip(np.rint(1.5 * np.arange(256) + 0.25 * 255), 0, 255).astype(np.uint8)
    np.take(table, im, out=out, mode="clip")


def _sobel(im: Any, out: Any) -> None:
    gx = np.empty_like(im)
    _taps(im, SOBEL, gx)
    _taps(im, SOBEL.T, out)
    np.multiply(gx, gx, out=gx)
    np.multiply(out, out, out=out)
    np.add(out, gx, out=out)
    np.sqrt(out, out=out)


def _gauss15(im: Any, out: Any) -> None:
    half = np.empty_like(im)
    _taps(im, GAUSS15[None, :], half)
    _taps(half, GAUSS15[:, None], out)


def _unsharp(im: Any, out: Any) -> None:
    _taps(im, GAUSS5, out)
    np.subtract(im, out, out=out)
    np.multiply(out, np.float32(AMOUNT), out=out)
    np.add(out, im, out=out)


KERNELS: Final[dict[tuple[str, str], Callable[[], Callable[..., Any]]]] = {
    ("scale", "float32"): lambda: _scale,
    ("sobel", "float32"): lambda: _sobel,
    ("gauss 5x5", "float32"): lambda: lambda im, out: _taps(im, GAUSS5, out),
    ("gauss 15 separable", "float32"): lambda: _gauss15,
    ("conv 9x9", "float32"): lambda: lambda im, out: _taps(im, CONV9, out),
    ("unsharp", "float32"): lambda: _unsharp,
    ("scale", "uint8"): lambda: _scale_bytes,
}
