"""Pictures made sharper, whole and coloured: what was blurred, or seen through coloured glass.

unsharp_mask(photo, radius=2, amount=1.5)
richardson_lucy(blurred, psf)
demosaic(raw, "RGGB")
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.errors import whole as whole_number
from pygpu.core.host.optional import optional
from pygpu.core.host.records import record
from pygpu.core.storage import texels
from pygpu.devices.host.regions import numbered
from pygpu.execution.arguments.convert import without_channel_axis
from pygpu.execution.large.images import derived
from pygpu.filters.linear import correlate, gaussian
from pygpu.filters.whole import channels_of, known_mask, pair_of, together, whole
from pygpu.glsl import clamp, select
from pygpu.image.image import Image
from pygpu.language.kernels import offsets
from pygpu.language.vectors import Position, Vec3
from pygpu.runtime import compile
from pygpu.types import INTEGERS

__all__ = ["demosaic", "inpaint_biharmonic", "richardson_lucy", "unsharp_mask"]

# ---------------------------------------------------------------- sharpening


@compile
def _sharpened(
    im: Image, smooth: Image, p: Position, amount: float, low: float, high: float
) -> Any:
    return clamp(im(p) + amount * (im(p) - smooth(p)), low, high)


@whole
@together
def unsharp_mask(
    image: Image, radius: Any = 1.0, amount: float = 1.0, preserve_range: bool = False
) -> Any:
    """The image with `amount` times of what a Gaussian of `radius` takes away from it;
    `skimage.filters.unsharp_mask`. It is held in [0, 1], or in [-1, 1] where some value is below
    0, unless `preserve_range` says that nothing is held. So it is of ints, which lie anywhere."""
    sigma = pair_of(radius, "unsharp_mask: radius", "a number from 0 up, or two", 0)
    smooth = gaussian(image.sampled(boundary="reflect"), sigma=sigma)
    low: Any = -np.inf
    high = np.inf
    if not preserve_range and image.format.kind not in INTEGERS:
        unsigned = image.format.dtype.kind in "bu"
        low, high = 0.0 if unsigned else derived(_least_held, image.min()), 1.0
    return _sharpened(image, smooth, amount=amount, low=low, high=high)


def _least_held(least: Any) -> Any:
    """-1 below 0, else 0, also of NaN: by ufuncs, which take numbers that are not known yet."""
    return np.fmax(np.fmin(np.floor(least), 0.0), -1.0)


# ---------------------------------------------------------------- deconvolution


@compile
def _half(im: Image, p: Position) -> Any:
    return 0.0 * im(p) + 0.5


@compile
def _ratio(im: Image, guess: Image, p: Position, least: float, kernel: Any = None) -> Any:
    """What was seen by what the guess would look like; 0 where that is below `least`."""
    expected = correlate(kernel, guess, p) + 1e-12
    return select(expected < least, 0.0 * expected, im(p) / expected)


@compile
def _corrected(guess: Image, factor: Image, p: Position, kernel: Any = None) -> Any:
    return guess(p) * correlate(kernel, factor, p)


@compile
def _held(im: Image, p: Position) -> Any:
    return clamp(im(p), -1.0, 1.0)


def _centred(kernel: NDArray[Any]) -> NDArray[Any]:
    """The kernel turned, centred as `scipy.signal` does: even sides before their middle."""
    return np.pad(kernel, [(1 - n % 2, 0) for n in kernel.shape])[::-1, ::-1]


@whole
def richardson_lucy(
    image: Image,
    psf: Any,
    num_iter: int = 50,
    clip: bool = True,
    filter_epsilon: float | None = None,
) -> Any:
    """A blur undone: each of `num_iter` rounds blurs the guess by `psf`, compares it with what was
    seen and corrects it by the blurred ratio; `skimage.restoration.richardson_lucy`.

    `psf` is an array of two axes: what the blur makes of a point. Outside there is nothing. Where
    `filter_epsilon` is given, ratios of less light count for nothing; with `clip` the result is
    held in [-1, 1], but of ints. References: W. Richardson, 1972; L. Lucy, 1974.
    """
    kernel = np.asarray(psf)
    if kernel.ndim != 2 or not kernel.size or kernel.dtype.kind not in "fiub":
        raise ValueError(f"richardson_lucy: psf is an array of two axes, got {shown(psf)}")
    kernel = kernel.astype(float)
    blur, back = _centred(kernel), _centred(kernel[::-1, ::-1])
    rounds = whole_number(num_iter)
    if rounds is None or rounds < 0:
        raise ValueError(
            f"richardson_lucy: num_iter takes a whole number from 0 up, got {shown(num_iter)}"
        )
    least = -np.inf if filter_epsilon is None else filter_epsilon
    if least != least:
        raise ValueError("richardson_lucy: filter_epsilon is a number, got nan")
    guess = _half(image.sampled(boundary="constant", cval=0))
    for _ in range(rounds):
        factor = _ratio(image, guess, least=least, kernel=blur)
        factor = factor.sampled(boundary="constant", cval=0)
        guess = _corrected(guess, factor, kernel=back)
    return _held(guess) if clip and image.format.kind not in INTEGERS else guess


# ---------------------------------------------------------------- inpainting


@whole
def inpaint_biharmonic(image: Image, mask: Any) -> Any:
    """The pixels where the mask is true, filled by the smoothest surface over what is around them:
    the one whose Laplacian's Laplacian is 0; `skimage.restoration.inpaint_biharmonic`.

    Each channel is held between the least and the greatest of its known values. No pixel's value
    follows from its neighbourhood: SciPy, which is optional, solves the system on the host, on
    whichever target the rest runs.
    Reference: S. Damelin and N. Hoang, *On surface completion and image inpainting by biharmonic
    functions*, 2018.
    """
    hole = known_mask(
        "inpaint_biharmonic",
        "each hole is one system of equations",
        "Give it the .compute() of the part around a hole, two pixels more at each side",
        image,
        mask,
    )
    places = np.flatnonzero(hole)
    if len(places) == hole.size:
        raise ValueError("inpaint_biharmonic: the mask leaves no pixel that is known")
    if not len(places):
        return image
    result = np.array(texels(image.storage.host(), image.format), np.float32)
    down, across = np.divmod(places, hole.shape[1])
    part = _reach(down), _reach(across)
    filled = _filled(result[part].astype(np.float64), hole[part])
    flat = result.reshape(hole.size, -1)
    flat[places] = flat[np.argmin(hole)]  # a pixel that is known
    # One by one, as NumPy folds the rows of an array of few columns slowly.
    ends = np.array([(channel.min(), channel.max()) for channel in flat.T])
    flat[places] = np.clip(filled, *ends.T)
    return Image(without_channel_axis(result))


def _reach(touched: NDArray[Any]) -> slice:
    """From two before the first of the rows (or columns) of a hole to two behind the last."""
    return slice(max(int(touched.min()) - 2, 0), int(touched.max()) + 3)


STEPS: Final = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]])  # of the Laplacian
TWICE: Final = np.array(  # the Laplacian's Laplacian, far from the sides of a picture
    [[0, 0, 1, 0, 0], [0, 2, -8, 2, 0], [1, -8, 20.0, -8, 1], [0, 2, -8, 2, 0], [0, 0, 1, 0, 0]]
)
INSIDE: Final = np.argwhere(TWICE) - 2  # (down, across) of its weights
WEIGHTS: Final = TWICE[TWICE != 0]
SIMPLE: Final = 10**6  # products of a solution in a band, above which holes are told apart
BAND: Final = 10**8  # products of a solution in a band, above which one of sparse factors is tried


def _widened(hole: NDArray[Any]) -> NDArray[Any]:
    """With the neighbours of each pixel: holes that share an equation then touch."""
    wide = hole.copy()
    wide[1:] |= hole[:-1]
    wide[:-1] |= hole[1:]
    wide[:, 1:] |= hole[:, :-1]
    wide[:, :-1] |= hole[:, 1:]
    return wide


def _equations(hole: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The hole's pixels, by their places in a picture laid out as one row; and for each weight of
    the Laplacian's Laplacian at them the number of the pixel, the place that it weighs, itself."""
    height, width = hole.shape
    places = np.flatnonzero(hole)
    numbers = np.arange(len(places))
    down, across = np.divmod(places, width)
    inside = (down > 1) & (down < height - 2) & (across > 1) & (across < width - 2)
    column = places[inside] + (INSIDE @ [width, 1])[:, None]
    row = np.broadcast_to(numbers[inside], column.shape)
    weight = np.broadcast_to(WEIGHTS[:, None], column.shape)
    if inside.all():
        return places, row.ravel(), column.ravel(), weight.ravel()
    sides = np.flatnonzero(~inside)
    beside = _beside(down[sides], across[sides], hole.shape)
    parts = zip((row, column, weight), (sides[beside[0]], *beside[1:]), strict=True)
    return places, *[np.concatenate([a.ravel(), b]) for a, b in parts]


def _beside(
    down: NDArray[Any], across: NDArray[Any], shape: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The weights at pixels near sides, where Laplacians are of the neighbours there are."""
    height, width = shape
    count = len(down)

    def weights(down: NDArray[Any], across: NDArray[Any]) -> NDArray[Any]:
        """Of the Laplacian, for each step: 1, or less the number of neighbours; 0 outside."""
        edges = [(across < width - 1), (across > 0), (down < height - 1), (down > 0)]
        sides = np.stack(edges).astype(float)
        return np.concatenate([-sides.sum(axis=0)[None], sides])

    first = weights(down, across)  # (5, N)
    down = down + STEPS[:, :1]
    across = across + STEPS[:, 1:]
    second = weights(down, across) * first  # (5 steps more, 5, N)
    column = down * width + across + (STEPS @ [width, 1])[:, None, None]
    row = np.broadcast_to(np.arange(count), column.shape)
    used = second != 0
    return row[used], column[used], second[used]


def _filled(values: NDArray[Any], hole: NDArray[Any]) -> NDArray[Any]:
    """The values (N, C) of the hole with which the Laplacian's Laplacian is 0 there.

    The system is symmetric and positive. Where the hole is taken along its shorter side, and where
    that is not enough each of several holes by itself, what depends on each other lies near the
    diagonal: then it is solved as a band."""
    if optional("scipy") is None:
        raise ImportError("inpaint_biharmonic needs SciPy: pip install scipy")
    from scipy import sparse  # heavy, and needed only here
    from scipy.linalg.lapack import dpbsv
    from scipy.sparse.linalg import splu

    places, row, column, weight = equations = _equations(hole)
    count = len(places)
    known = np.where(hole[..., None], 0, values).reshape(hole.size, -1)
    right = np.empty((count, known.shape[1]))
    for channel, around in enumerate(known.T):
        right[:, channel] = -np.bincount(row, weight * around[column], count)
    if not np.isfinite(right).all():
        raise ValueError("inpaint_biharmonic: beside the mask there is NaN or infinity")
    down, across = np.divmod(places, hole.shape[1])
    rows = np.arange(count)
    turns = [rows, np.lexsort((down, across))][:: 1 if hole.shape[1] <= hole.shape[0] else -1]
    band = _Band.of(turns[0], equations, hole.size)
    if count * band.width**2 > SIMPLE:
        apart = numbered(_widened(hole), False, diagonal=False)[0].ravel()[places]
        turns[0:1] = [np.lexsort(keys) for keys in ((across, down, apart), (down, across, apart))]
        others = [_Band.of(turn, equations, hole.size) for turn in turns]
        band = min([band, *others], key=lambda band: band.width)
    if count * band.width**2 > BAND:
        numbers = np.full(hole.size, -1)
        numbers[places] = rows
        unknown = hole.ravel()[column]
        entries = weight[unknown], (row[unknown], numbers[column[unknown]])
        pivots = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}  # none is needed
        return np.asarray(splu(sparse.csc_array(entries), "MMD_AT_PLUS_A", **pivots).solve(right))
    _, found, failed = dpbsv(band.matrix(equations), right[band.turn], lower=1, overwrite_ab=1)
    if failed:
        raise np.linalg.LinAlgError("inpaint_biharmonic: the equations have no solution")
    return np.asarray(found[band.order])


@record(eq=False)
class _Band:
    """The unknown pixels in an order. `turn`: which comes first, second, ...; `order`: where each
    stands in it; `below`: for each weight how far before the pixel of its equation the pixel stands
    that it weighs, less than 0 where it stands behind it or is known; `width`: the largest of
    these."""

    turn: NDArray[Any]
    order: NDArray[Any]
    below: NDArray[Any]
    width: int

    @classmethod
    def of(cls, turn: NDArray[Any], equations: Sequence[NDArray[Any]], size: int) -> _Band:
        places, row, column, _ = equations
        order = np.empty(len(turn), int)
        order[turn] = np.arange(len(turn))
        ranks = np.full(size, len(turn))  # of what is known: behind all
        ranks[places] = order
        below = order[row] - ranks[column]
        return cls(turn, order, below, int(below.max()))

    def matrix(self, equations: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The diagonal and what lies below it, as LAPACK takes a band: column by column."""
        _, row, _, weight = equations
        lower, length = np.flatnonzero(self.below >= 0), self.width + 1
        # In the column of the pixel that is weighed, so far below the diagonal.
        place = self.order[row[lower]] * length - self.below[lower] * self.width
        band = np.bincount(place, weight[lower], length * len(self.turn))
        return band.reshape(-1, length).T


# ---------------------------------------------------------------- demosaicing

# Weights in eighths: green at red or blue; at green the colour that is in its row (transposed: in
# its column); red at blue and blue at red. Malvar, He and Cutler (2004), figure 2.
GREEN: Final = np.array(
    [[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]]
)
IN_ROW: Final = np.array(
    [[0, 0, 0.5, 0, 0], [0, -1, 0, -1, 0], [-1, 4, 5, 4, -1], [0, -1, 0, -1, 0], [0, 0, 0.5, 0, 0]]
)
DIAGONAL: Final = np.array(
    [
        [0, 0, -1.5, 0, 0],
        [0, 2, 0, 2, 0],
        [-1.5, 0, 6, 0, -1.5],
        [0, 2, 0, 2, 0],
        [0, 0, -1.5, 0, 0],
    ]
)
PATTERNS: Final = {"RGGB": (0, 0), "GRBG": (1, 0), "GBRG": (0, 1), "BGGR": (1, 1)}  # red's place


@compile
def _developed(raw: Image, p: Position, left: int, top: int) -> Any:
    """The colour of a pixel where the sensor sees red at (left, top) and every second pixel."""

    def filtered(kernel: Any) -> Any:
        taps = zip(kernel.ravel(), offsets(kernel), strict=True)
        return sum(w * raw(p + d) for w, d in taps) / 8

    right, lower = (p.x + left) % 2, (p.y + top) % 2
    if right == lower:
        other, green = filtered(DIAGONAL), filtered(GREEN)
        return Vec3(raw(p), green, other) if right == 0 else Vec3(other, green, raw(p))
    row, column = filtered(IN_ROW), filtered(IN_ROW.T)
    return Vec3(row, raw(p), column) if lower == 0 else Vec3(column, raw(p), row)


@whole
@functools.partial(together, alone=True)
def demosaic(image: Image, pattern: str = "RGGB") -> Any:
    """The colours of what a camera's sensor sees through Bayer's coloured glass: the image has one
    channel, the result three. `pattern` is what the first two pixels of the first two rows see:
    "RGGB", "GRBG", "GBRG" or "BGGR".

    Reference: H. Malvar, L.-w. He, R. Cutler, *High-quality linear interpolation for demosaicing of
    Bayer-patterned color images*, 2004.
    """
    channels_of(image, "demosaic", 1)
    if pattern not in PATTERNS:
        raise ValueError(f"demosaic: pattern={pattern!r}: takes {', '.join(PATTERNS)}")
    left, top = PATTERNS[pattern]
    return _developed(image.sampled(boundary="mirror"), left=left, top=top)  # it keeps the parity
