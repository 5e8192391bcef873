"""
Edges
=====

The edge detector of the PyGPU paper, and two others from the same function: only the kernel
differs. The gradient's two components are correlations with a kernel and its transpose; the
picture is the gradient's length, for each colour. Kernels are known when the function is
compiled, so that the loop over their weights is unrolled and the zeros cost nothing.

Reference: C. Lejdfors and L. Ohlsson, *Implementing an embedded GPU language by combining
translation and generation*, SAC 2006. H. Scharr, *Optimale Operatoren in der digitalen
Bildverarbeitung*, 2000.
"""

from typing import Literal

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, offsets

KERNELS = {
    "sobel": np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 4,
    "prewitt": np.array([[-1, 0, 1], [-1, 0, 1], [-1, 0, 1]]) / 3,
    "scharr": np.array([[-3, 0, 3], [-10, 0, 10], [-3, 0, 3]]) / 16,
}


def correlate(kernel, im: Image, p: Position):
    return sum(w * im(p + d) for w, d in zip(np.ravel(kernel), offsets(kernel), strict=True))


@pygpu.compile
def edges(im: Image, p: Position, gain: float = 1.0, kernel=KERNELS["sobel"]):
    gx = correlate(kernel, im, p)
    gy = correlate(kernel.T, im, p)
    return gain * np.sqrt(gx * gx + gy * gy)


def render(
    photo: Image, *, kernel: Literal["sobel", "prewitt", "scharr"] = "sobel", gain=2.5
) -> Image:
    return edges(photo, kernel=KERNELS[kernel], gain=gain)


if __name__ == "__main__":
    main(render, gain=(0, 100))
