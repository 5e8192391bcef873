"""Noise taken away, edges kept; as in `skimage.restoration`.

    denoise_bilateral(photo, sigma_color=0.1, sigma_spatial=2)
    denoise_nl_means(photo, h=0.08)
    denoise_tv_chambolle(photo, weight=0.1)
    guided(photo, radius=8, eps=0.01)

The examples bilateral, non_local_means, total_variation and guided_filter of the gallery show how
each is made.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.core.errors import whole as whole_number
from pygpu.devices import targets
from pygpu.execution.large.images import LazyImage, by_strips, derived
from pygpu.execution.large.sources import is_dask
from pygpu.filters.linear import FARTHEST, box
from pygpu.filters.sampling import read_as
from pygpu.filters.whole import image_of, joined, last, layers_of, together, whole
from pygpu.glsl import sqrt
from pygpu.image.image import Image
from pygpu.language.kernels import offsets
from pygpu.language.vectors import Position, Vec2, Vector
from pygpu.runtime import compile

__all__ = ["denoise_bilateral", "denoise_nl_means", "denoise_tv_chambolle", "guided"]

CUTOFF: Final = 5.0  # the distance of patches beyond which their weight counts for nothing
STEPS: Final = 8  # to which a program of non-local means compares a patch,
MOST_TEXELS: Final = {True: 600, False: 250}  # and numbers of them, on the host and elsewhere
IN_STAGES: Final = 1 << 21  # numbers of the patches of all pixels, from which on squares are images
# A polynomial, the highest power first, of which the eighth power is exp(-8 t) within two in a
# million for t up to CUTOFF / 8.
FADING: Final = (-0.006110961, 0.040187165, -0.16620325, 0.49993524, -0.99999702, 1.0)
MOST_UNLIKE: Final = 1e30  # 1 / 2 sigma² by which other colours count for nothing
ONE_TASK: Final = 1 << 24  # bytes of a Dask array whose rounds cost less in one task than in many
AT_ONCE: Final = 6  # rounds that are made together, some rows at a time,
LARGE: Final = 1 << 19  # of so many pixels, which caches do not hold
SLOWER: Final = 0.85  # which part of its change the energy changes by in the next round, often
STEP: Final = 0.25  # of Chambolle's iteration in two dimensions


def _square(texel: Any) -> Any:
    """The squared length of a colour."""
    return sum(v * v for v in texel) if isinstance(texel, Vector) else texel * texel


# ---------------------------------------------------------------- bilateral


@compile
def _bilateral(im: Image, p: Position, color: float, near: Any = None) -> Any:
    """The mean by likeness (`color` is 1 / 2 sigma²) and nearness, whose weights are known."""
    centre = im(p)
    total, weights = 0.0 * centre, 0.0
    for d, w in zip(offsets(near), near.ravel(), strict=True):
        texel = im(p + d)
        weight = w * math.exp(-color * _square(texel - centre))
        total += weight * texel
        weights += weight
    return total / weights


@whole
def denoise_bilateral(
    image: Image,
    win_size: int | None = None,
    sigma_color: float | None = None,
    sigma_spatial: float = 1,
    mode: str = "constant",
    cval: float = 0,
) -> Any:
    """The mean of neighbours, which count the less the farther away they are and the less the more
    their colour differs; `skimage.restoration.denoise_bilateral`.

    `sigma_color` is a distance of colours, the standard deviation of the image unless said;
    `sigma_spatial` is in pixels; the window's side is 6 of these and 1. `mode` says what lies
    outside, in NumPy's names. As in scikit-image, distances of colours are divided by the number
    of channels. Weights are exact; scikit-image takes them from tables, and those of nearness, in
    its release 0.26, by an index that is off by some columns.
    Reference: C. Tomasi and R. Manduchi, *Bilateral filtering for gray and color images*, 1998.
    """
    seen = read_as(image, mode, cval)
    if not 0 < sigma_spatial < math.inf or (sigma_color is not None and not sigma_color > 0):
        raise ValueError("denoise_bilateral: sigma_color and sigma_spatial are above 0")
    if win_size is None:
        win_size = max(5, 2 * math.ceil(3 * sigma_spatial) + 1)
    if not (isinstance(win_size, int | np.integer) and 0 < win_size < FARTHEST and win_size % 2):
        raise ValueError(
            f"denoise_bilateral: win_size is odd and below {FARTHEST}, got {shown(win_size)}"
        )
    if sigma_color is None:
        deviation = image.std()
        sigma_color = deviation if is_dask(deviation) else float(deviation)
    x = np.arange(win_size) - win_size // 2
    near = np.exp(-0.5 * (x[:, None] ** 2 + x**2) / sigma_spatial**2)
    color = derived(functools.partial(_likeness, image.channels), sigma_color)
    return last(_bilateral, seen, color=color, near=near)


def _likeness(channels: int, sigma: Any) -> Any:
    """1 / 2 sigma² of distances of colours. Where all are alike nothing else counts."""
    return min(0.5 / (channels * sigma) ** 2, MOST_UNLIKE) if sigma else MOST_UNLIKE


# ---------------------------------------------------------------- non-local means


@compile
def _bordered(im: Image, p: Position, left: int, top: int) -> Any:
    return im(p - (left, top))


@compile
def _nothing(im: Image, p: Position) -> Any:
    return 0.0 * im(p)


@compile
def _zero(im: Image, p: Position) -> Any:
    return 0.0


def _fading(t: Any) -> Any:
    """exp(-8 t), and 0 beyond CUTOFF."""
    root = FADING[0]
    for factor in FADING[1:]:
        root = root * t + factor
    fourth = (root * root) ** 2
    return fourth * fourth if t <= CUTOFF / 8 else 0.0


@compile
def _alike(weights: Image, *images: Image, p: Position, by: Vec2, layout: Any = None) -> Any:
    """The sum of texels of a row below or above, so many steps to the right, weighted by how alike
    the patches around them are, and of the weights, added to what others gave. `images`: the planes
    of these texels, what was added up of each, and for each step the sums of squares of differences
    along lines of a patch, which are added up here. `by` is the scale of a sum of squares, and what
    noise adds to it; `layout` the steps, what half a patch is, how wide the border is, and the way
    from line to line."""
    steps, half, border, (dx, dy) = layout
    planes = (len(images) - len(steps)) // 2
    others, totals, lines = images[:planes], images[planes : 2 * planes], images[2 * planes :]
    results, shares = [total(p) for total in totals], weights(p)
    for step, line in zip(steps, lines, strict=True):
        squares = sum([line(p + (i * dx, i * dy)) for i in range(1, 2 * half + 1)])
        weight = _fading(max(squares * by.x - by.y, 0.0))
        texels = [other(p + (border + half + step, half)) for other in others]
        results = [result + weight * v for result, v in zip(results, texels, strict=True)]
        shares += weight
    return (*results, shares)


@compile
def _squares(*planes: Image, p: Position, layout: Any = None) -> Any:
    """The squares of differences of texels to those of other rows, so many steps to the right."""
    steps, _, border, _ = layout
    rows, others = planes[: len(planes) // 2], planes[len(planes) // 2 :]
    texels = [im(p + (border, 0)) for im in rows]

    def square(step: int) -> Any:
        seen = [im(p + (border + step, 0)) for im in others]
        return sum([(v - texel) ** 2 for v, texel in zip(seen, texels, strict=True)])

    return tuple([square(step) for step in steps])


@compile
def _columns(*squares: Image, p: Position, layout: Any = None) -> Any:
    """Sums along columns of a patch."""
    side = range(1, 2 * layout[1] + 1)
    return tuple([sum([square(p + (0, j)) for j in side]) for square in squares])


@together
def _compared(weights: Image, planes: Any, by: Vec2, layout: Any, shape: Any) -> Any:
    """What `_alike` gives, squares first and then their sums along columns, which patches beside
    each other share: all of some rows, in a cache. `planes`: rows, others and what was added up."""
    rows, others, totals = planes
    squares = _squares(*rows, *others, layout=layout, shape=shape)
    lines = _columns(*squares, layout=layout, shape=shape)
    return _alike(weights, *others, *totals, *lines, by=by, layout=layout, shape=shape)


@compile
def _at_once(weights: Image, *images: Image, p: Position, by: Vec2, layout: Any = None) -> Any:
    """The same in one program, for devices that share what neighbours compute, and for chunks."""
    (rows, others, total), (steps, half, border, _) = images, layout

    def line(step: int) -> Any:
        def along(q: Any) -> Any:
            places = [q + (border + i, 0) for i in range(1, 2 * half + 1)]
            return sum([_square(others(at + (step, 0)) - rows(at)) for at in places])

        return along

    return _alike(weights, others, total, *map(line, steps), p=p, by=by, layout=layout)


@compile
def _mean(total: Image, weights: Image, p: Position) -> Any:
    return total(p) / weights(p)


@whole
def denoise_nl_means(
    image: Image, patch_size: int = 7, patch_distance: int = 11, h: float = 0.1, sigma: float = 0.0
) -> Any:
    """The mean of the pixels around, weighted by how alike their surroundings are;
    `skimage.restoration.denoise_nl_means` in its fast mode.

    `patch_size` is the side of what is compared (made odd), `patch_distance` how far away. The
    larger `h` is, the less alike may they be; `sigma` is the noise's standard deviation, where
    it is known. As in scikit-image, whose sums leave a row and a column out, a side of 7 compares
    6 x 6 texels, and distances are means over 7 x 7. Weights err by two in a million, those of
    scikit-image by up to 4 in a hundred, and its results by some thousandths. Reference: A. Buades,
    B. Coll, J.-M. Morel, *A non-local algorithm for image denoising*, 2005.
    """
    side, reach = map(whole_number, (patch_size, patch_distance))
    if (
        (side is None or not 2 <= side < FARTHEST)
        or (reach is None or not 0 <= reach < FARTHEST)
        or not (h > 0 and sigma >= 0)
    ):
        raise ValueError(
            "denoise_nl_means: patch_size is a whole number from 2 up, patch_distance one from 0, "
            f"sigma from 0, h above 0, got {patch_size}, {patch_distance}, {sigma} and {h}"
        )
    size = side + 1 - side % 2
    half = size // 2
    (height, width), values = image.shape[:2], image.channels * size**2
    across, down = reach + half, 2 * half
    shape = height + 2 * across, width + 2 * across
    bordered = _bordered(image.sampled(boundary="mirror"), left=across, top=across, shape=shape)
    scale = min(1 / (values * h**2), MOST_UNLIKE) / 8
    by = Vec2(scale, 2 * image.channels * (down * sigma) ** 2 * scale)
    is_on_host = targets.is_on_host(targets.choose("auto"))
    in_stages = is_on_host and not is_dask(image) and height * width * values >= IN_STAGES
    planes = layers_of(bordered) if in_stages else [bordered]
    count = STEPS if in_stages else max(1, min(STEPS, MOST_TEXELS[is_on_host] // values))
    starts = range(-reach, reach + 1, count)
    groups = [tuple(range(first, min(first + count, reach + 1))) for first in starts]
    beside = down if in_stages else 0  # squares are images of the same size as what is added up
    shape = height + beside, width + beside
    weights, totals = _zero(bordered, shape=shape), [_nothing(one, shape=shape) for one in planes]
    rows = [one[reach : reach + height + down] for one in planes]
    for j in range(2 * reach + 1):
        others = [one[j : j + height + down] for one in planes]
        for steps in groups:
            layout = steps, half, reach, (1, 0) if in_stages else (0, 1)
            if in_stages:
                given = rows, others, totals
                *totals, weights = _compared(weights, given, by, layout, shape)
            else:
                given = *rows, *others, *totals
                *totals, weights = _at_once(weights, *given, by=by, layout=layout, shape=shape)
    return joined([_mean(total, weights, shape=(height, width)) for total in totals])


# ---------------------------------------------------------------- total variation


def _divergence(u: Any, v: Any, q: Any) -> Any:
    """Less the divergence of a field; nothing flows in over the border."""
    u, v = u.sampled(boundary="constant"), v.sampled(boundary="constant")
    return u(q - (1, 0)) - u(q) + v(q - (0, 1)) - v(q)


@compile
def _round(u: Image, v: Image, im: Image, p: Position, weight: float) -> Any:
    """A round of the dual problem: the field, and what each pixel has of the energy before it."""

    def out(q: Any) -> Any:
        return im(q) + _divergence(u, v, q)

    here = out(p)
    gx = out(p + (1, 0)) - here if p.x < im.width - 1 else 0.0
    gy = out(p + (0, 1)) - here if p.y < im.height - 1 else 0.0
    length = sqrt(gx * gx + gy * gy)
    slower = 1 + STEP / weight * length
    energy = _divergence(u, v, p) ** 2 + weight * length
    return (u(p) - STEP * gx) / slower, (v(p) - STEP * gy) / slower, energy


@compile
def _denoised(u: Image, v: Image, im: Image, p: Position) -> Any:
    return im(p) + _divergence(u, v, p)


def _least_variation(layer: Any, weight: float, eps: float, rounds: int) -> Any:
    """One channel: rounds until the energy changes by less than `eps` of what it was at first."""
    if isinstance(layer, LazyImage):
        return _lazily_least(layer, weight, eps, rounds)
    u = v = _nothing(layer)
    if not eps:  # no change is less than that: all rounds are made, and none needs the energy
        u, v = _step.iterate((u, v), rounds - 1, layer, weight=weight)
        return _denoised(u, v, layer)
    energies: list[float] = []
    while len(energies) < rounds - 1:
        most = _unasked(energies, eps) if layer.height * layer.width >= LARGE else 1
        count = min(most, rounds - 1 - len(energies))
        new_u, new_v, *each = _several(u, v, layer, weight, count)
        for made, energy in enumerate(each):
            energies.append(float(energy.mean()))
            if len(energies) > 1 and abs(energies[-2] - energies[-1]) < eps * energies[0]:
                u, v = _step.iterate((u, v), made, layer, weight=weight)  # those before the end
                return _denoised(u, v, layer)
        u, v = new_u, new_v
    return _denoised(u, v, layer)


def _unasked(energies: list[float], eps: float) -> int:
    """How many rounds are made at once: in as many the energy is likely to change by more."""
    change, count = np.abs(np.diff(energies[-3:])).min(initial=math.inf), 1
    while count < AT_ONCE and change * SLOWER**count > eps * max(energies[:1], default=0.0):
        count += 1
    return count


@together
def _several(u: Any, v: Any, im: Any, weight: float, count: int) -> tuple[Any, ...]:
    """So many rounds, rows of which are in a cache, and the energies before each."""
    energies = []
    for _ in range(count):
        u, v, energy = _round(u, v, im, weight=weight)
        energies.append(energy)
    return u, v, *energies


@compile
def _step(u: Image, v: Image, im: Image, p: Position, weight: float) -> Any:
    """A round of the dual problem, as `_round`, without the energy."""
    return _round(u, v, im, p, weight)[:2]


@compile
def _energy(u: Image, v: Image, im: Image, p: Position, weight: float) -> Any:
    return _round(u, v, im, p, weight)[2]


def _lazily_least(layer: LazyImage, weight: float, eps: float, rounds: int) -> Any:
    """One channel of a Dask array: rounds after the end are in the graph and not computed. What
    is one chunk, or as small as one, is done by one task."""
    im = layer.array
    if im.npartitions == 1 or im.nbytes <= ONE_TASK:
        task = functools.partial(denoise_tv_chambolle, weight=weight, eps=eps, max_num_iter=rounds)
        made = by_strips(task, im, None, np.dtype(np.float32))
        return layer.reading(made.rechunk(im.chunks))
    u = v = _nothing(im)
    energies = [_energy(u, v, im, weight=weight).mean(dtype=np.float64)]

    def is_enough(*state: Any) -> Any:
        energies.append(_energy(*state, im, weight=weight).mean(dtype=np.float64))
        first, before, now = energies[0], *energies[-2:]
        return abs(before - now) < eps * first

    if rounds > 1:
        u, v = _step.iterate((u, v), rounds - 1, im, until=is_enough, every=1, weight=weight)
    return _denoised(layer.reading(u), layer.reading(v), layer)


@whole
def denoise_tv_chambolle(
    image: Image, weight: float = 0.1, eps: float = 2.0e-4, max_num_iter: int = 200
) -> Any:
    """The picture near to a noisy one that has little variation: flat areas with sharp edges;
    `skimage.restoration.denoise_tv_chambolle`, of each channel by itself.

    The larger `weight`, the flatter. Rounds end after `max_num_iter`, or when the energy changes
    by less than `eps` of what it was at first. Reference: A. Chambolle, *An algorithm for total
    variation minimization and applications*, 2004.
    """
    if not (weight > 0 and eps >= 0 and max_num_iter >= 1):
        raise ValueError(
            "denoise_tv_chambolle: weight is above 0, eps from 0 and max_num_iter from 1 up, "
            f"got {weight}, {eps} and {max_num_iter}"
        )
    layers = layers_of(image)
    return joined([_least_variation(one, weight, eps, max_num_iter) for one in layers])


# ---------------------------------------------------------------- guided


@compile
def _products(im: Image, guide: Image, p: Position) -> Any:
    """What means are taken of: the guide, the image, the guide's square and their product."""
    g, v = guide(p), im(p)
    return g, v, g * g, g * v


@compile
def _lines(g: Image, v: Image, square: Image, product: Image, p: Position, eps: float) -> Any:
    """Slope and offset of the image as a line of the guide, by least squares."""
    variance = square(p) - g(p) * g(p)
    covariance = product(p) - g(p) * v(p)
    slope = covariance / (variance + eps)
    return slope, v(p) - slope * g(p)


@compile
def _applied(slope: Image, offset: Image, guide: Image, p: Position) -> Any:
    return slope(p) * guide(p) + offset(p)


@whole
def guided(image: Image, guide: Any = None, radius: int = 8, eps: float = 0.01) -> Any:
    """In every window the image is taken for a straight line of the guide, by itself if none is
    given, and these lines are averaged: smooth where the guide varies less than `eps` (a
    variance), and as sharp as the guide where it varies more.

    A guide has one channel, or each channel of the image has its own. Outside, the image is
    reflected. Reference: K. He, J. Sun, X. Tang, *Guided image filtering*, 2010.
    """
    if not (isinstance(radius, int | np.integer) and 0 <= radius < FARTHEST and eps > 0):
        raise ValueError(
            f"guided: radius is a whole number from 0 to {FARTHEST - 1} and eps above 0, "
            f"got {shown(radius)}, {shown(eps)}"
        )
    lead = image if guide is None else image_of(guide, "guided: guide")
    if lead.channels not in (1, image.channels) or lead.shape[:2] != image.shape[:2]:
        raise ValueError(
            f"guided: the guide has the image's size and its channels or one; the image is "
            f"{image.shape}, the guide {lead.shape}"
        )
    return last(_guided, image, None if guide is None else lead, radius, eps)


@together
def _guided(image: Any, guide: Any, radius: int, eps: float) -> Any:
    lead = image if guide is None else guide

    def mean(one: Any) -> Any:
        rows = box(one.sampled(boundary="reflect"), size=2 * radius + 1)
        return box(rows, size=2 * radius + 1, axis=0)

    slope, offset = _lines(*map(mean, _products(image, lead)), eps=eps)
    return _applied(mean(slope), mean(offset), lead)
