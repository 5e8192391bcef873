"""How steep an image is, by the operators of scikit-image and with its scales.

`_h` finds horizontal edges (the slope along y), `_v` vertical ones, and the name alone the length
of the gradient: the root of the mean of their squares.

    sobel(photo); sobel_v(im, p)
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.filters.linear import convolve
from pygpu.glsl import sqrt
from pygpu.image.image import Image
from pygpu.language.vectors import Position
from pygpu.runtime import compile

__all__ = [
    "farid", "farid_h", "farid_v", "laplace", "prewitt", "prewitt_h", "prewitt_v", "roberts",
    "roberts_neg_diag", "roberts_pos_diag", "scharr", "scharr_h", "scharr_v", "sobel",
    "sobel_h", "sobel_v",
]  # fmt: skip

STEP: Final = np.array([1.0, 0.0, -1.0])

# Farid and Simoncelli (2004), table 1, with the further digits that scikit-image has.
FARID_SMOOTH: Final = np.array(
    [
        0.0376593171958126,
        0.249153396177344,
        0.426374573253687,
        0.249153396177344,
        0.0376593171958126,
    ]
)
FARID_STEP: Final = np.array(
    [0.109603762960254, 0.276690988455557, 0.0, -0.276690988455557, -0.109603762960254]
)

# Weights that convolution turns: first ones are below and right.
KERNELS: Final = {
    "sobel": np.outer(STEP, [0.25, 0.5, 0.25]),
    "prewitt": np.outer(STEP, [1 / 3, 1 / 3, 1 / 3]),
    "scharr": np.outer(STEP, [3 / 16, 10 / 16, 3 / 16]),
    "farid": np.outer(FARID_STEP, FARID_SMOOTH),
}
POSITIVE_DIAGONAL: Final = np.array([[1.0, 0.0], [0.0, -1.0]])
NEGATIVE_DIAGONAL: Final = np.array([[0.0, 1.0], [-1.0, 0.0]])
LAPLACE: Final = np.array([[0.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 0.0]])


def _named(name: str, text: str) -> Callable[[Any], Any]:
    """Give a function its name, its documentation, and compile it."""

    def finish(function: Any) -> Any:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = text
        return compile(function)

    return finish


def _slope(name: str, kernel: Any, edges: str) -> Any:
    @_named(name, f"{edges}; `skimage.filters.{name}`.")
    def slope(im: Image, p: Position) -> Any:
        return convolve(kernel, im, p)

    return slope


def _steepness(name: str, first: Any, second: Any) -> Any:
    @_named(name, f"The root of the mean square of both slopes; `skimage.filters.{name}`.")
    def steepness(im: Image, p: Position) -> Any:
        a, b = convolve(first, im, p), convolve(second, im, p)
        return sqrt((a * a + b * b) / 2)

    return steepness


def _family(name: str) -> tuple[Any, Any, Any]:
    kernel = KERNELS[name]
    return (
        _steepness(name, kernel, kernel.T),
        _slope(f"{name}_h", kernel, "Horizontal edges, positive where it is brighter below"),
        _slope(f"{name}_v", kernel.T, "Vertical edges, positive where it is brighter to the right"),
    )


sobel, sobel_h, sobel_v = _family("sobel")
prewitt, prewitt_h, prewitt_v = _family("prewitt")
scharr, scharr_h, scharr_v = _family("scharr")
farid, farid_h, farid_v = _family("farid")

roberts = _steepness("roberts", POSITIVE_DIAGONAL, NEGATIVE_DIAGONAL)
roberts_pos_diag = _slope(
    "roberts_pos_diag", POSITIVE_DIAGONAL, "The slope along the main diagonal"
)
roberts_neg_diag = _slope("roberts_neg_diag", NEGATIVE_DIAGONAL, "The slope along the other one")


@compile
def laplace(im: Image, p: Position) -> Any:
    """Four times the texel less its neighbours; `skimage.filters.laplace`, which is the negative of
    `scipy.ndimage.laplace`."""
    return convolve(LAPLACE, im, p)
