"""Filters of the gallery against other implementations: SciPy, scikit-image, some lines of NumPy.

Where libraries treat the border otherwise, the inside is compared.
"""

import math

import numpy as np
import pytest
import skimage.feature
import skimage.filters
import skimage.morphology
import skimage.restoration
from numpy.testing import assert_allclose
from scipy import ndimage

import gallery
from gallery_numpy import channels, inside, sampled, shifted, window
from pygpu import Image

pytestmark = pytest.mark.usefixtures("on_cpu")


# ---------------------------------------------------------------- edges and features


@pytest.mark.parametrize("name", ["sobel", "prewitt", "scharr"])
def test_edges(name, colours) -> None:
    module = gallery.load("edges")
    kernel = module.KERNELS[name]

    def reference(a):
        return np.hypot(
            ndimage.correlate(a, kernel, mode="nearest"),
            ndimage.correlate(a, kernel.T, mode="nearest"),
        )

    actual = module.render(Image(colours), kernel=name, gain=1.0)
    assert_allclose(actual, channels(reference, colours), atol=1e-5)


def test_sobel_is_that_of_scikit_image(grey) -> None:
    actual = gallery.load("edges").edges(Image(grey))
    assert_allclose(np.asarray(actual) / math.sqrt(2), skimage.filters.sobel(grey), atol=1e-6)


def test_laplacian_of_gaussian(grey) -> None:
    actual = gallery.load("laplacian_of_gaussian").laplacian(Image(grey), sigma=2.0)
    expected = ndimage.gaussian_laplace(grey, 2.0, mode="nearest")
    assert_allclose(actual, expected, atol=5e-3 * np.abs(expected).max())


def test_canny(colours, grey) -> None:
    actual = np.asarray(gallery.load("canny").edges(Image(colours), sigma=1.5, low=0.1, high=0.25))
    expected = skimage.feature.canny(grey, 1.5, 0.1, 0.25, mode="nearest")
    assert expected.sum() > 50
    assert (inside(actual, 1) != inside(expected, 1)).mean() < 0.002


def test_harris(colours, grey) -> None:
    actual = gallery.load("harris").corners(Image(colours), sigma=1.5, k=0.05)
    expected = skimage.feature.corner_harris(grey, k=0.05, sigma=1.5)
    assert_allclose(inside(actual, 8), inside(expected, 8), atol=1e-5 * np.abs(expected).max())


def test_harris_marks_peaks(colours) -> None:
    module = gallery.load("harris")
    strength = module.corners(Image(colours))
    actual = np.argwhere(module.peaks(strength, least=0.05 * strength.max()))
    expected = skimage.feature.peak_local_max(
        np.asarray(strength), min_distance=4, threshold_rel=0.05, exclude_border=False
    )
    assert sorted(map(tuple, actual)) == sorted(map(tuple, expected))


@pytest.mark.filterwarnings("ignore:Applying `local_binary_pattern`")
def test_local_binary_patterns(grey) -> None:
    actual = gallery.load("local_binary_patterns").patterns(Image(grey), points=8, radius=1.0)
    expected = skimage.feature.local_binary_pattern(grey, 8, 1.0)
    assert (inside(actual, 1) == inside(expected, 1)).mean() > 0.999


def test_structure_tensor(colours, grey) -> None:
    module = gallery.load("structure_tensor")
    products = module.products(Image(colours))
    actual = module.averaged(module.averaged(products, sigma=2.0), sigma=2.0, across=True)
    gx, gy = (ndimage.correlate1d(grey, [-0.5, 0, 0.5], axis, mode="nearest") for axis in (1, 0))
    expected = [
        ndimage.gaussian_filter(a, 2.0, mode="nearest", truncate=3.0)
        for a in (gx * gx, gx * gy, gy * gy)
    ]
    assert_allclose(actual, np.stack(expected, axis=-1), atol=1e-7)


def test_template_matching(grey) -> None:
    module = gallery.load("template_matching")
    template = grey[13:24, 30:43]
    scores = module.matched(Image(grey), Image(template))
    assert_allclose(scores, skimage.feature.match_template(grey, template), atol=1e-4)
    best, at = module.best(scores)
    assert divmod(at, scores.width) == (13, 30)
    assert best == pytest.approx(1, abs=1e-5)


def test_nothing_matches_what_is_flat(grey) -> None:
    picture = np.full((48, 64), 0.123, np.float32)
    picture[20:31, 40:53] = grey[13:24, 30:43]
    module = gallery.load("template_matching")
    scores = np.asarray(module.matched(Image(picture), Image(grey[13:24, 30:43])))
    assert (scores[:5, :20] == 0).all()
    assert divmod(module.best(Image(scores))[1], scores.shape[1]) == (20, 40)


def test_optical_flow_finds_a_motion() -> None:
    y, x = np.mgrid[0:48, 0:64]

    def scene(dx, dy):
        return Image(0.5 + 0.25 * np.sin((x - dx) / 4) + 0.25 * np.cos((y - dy) / 5))

    flow = gallery.load("optical_flow").flow_between(
        scene(0, 0), scene(0.6, -0.4), rounds=600, smoothness=0.02
    )
    # The scene's slopes vanish here and there: there the flow is the neighbours'.
    assert_allclose(np.median(flow, axis=(0, 1)), [0.6, -0.4], atol=0.03)


def test_optical_flow(grey) -> None:
    second = shifted(grey, 1, 0)
    actual = gallery.load("optical_flow").flow_between(
        Image(grey), Image(second), rounds=20, smoothness=0.1
    )
    box = np.ones((2, 2)) / 4
    both, difference = grey + second, second - grey

    def correlated(a, kernel):
        return ndimage.correlate(a, kernel, mode="nearest", origin=(-1, -1))

    slopes = [
        correlated(both, np.array([[-1, 1], [-1, 1]]) / 4),
        correlated(both, np.array([[-1, -1], [1, 1]]) / 4),
        correlated(difference, box),
    ]
    around = np.array([[1, 2, 1], [2, 0, 2], [1, 2, 1]]) / 12
    u, v = np.zeros_like(grey), np.zeros_like(grey)
    for _ in range(20):
        u, v = (ndimage.correlate(a, around, mode="nearest") for a in (u, v))
        wrong = slopes[0] * u + slopes[1] * v + slopes[2]
        wrong /= 0.1**2 + slopes[0] ** 2 + slopes[1] ** 2
        u, v = u - wrong * slopes[0], v - wrong * slopes[1]
    assert_allclose(actual, np.stack([u, v], axis=-1), atol=1e-4)


# ---------------------------------------------------------------- blurs


@pytest.mark.parametrize("sigma", [0.7, 4.0])
def test_gaussian_blur(sigma, colours) -> None:
    actual = gallery.load("gaussian_blur").render(Image(colours), sigma=sigma)
    expected = ndimage.gaussian_filter(colours, (sigma, sigma, 0), mode="nearest")
    assert_allclose(actual, expected, atol=2e-6)


def test_box_blur(colours) -> None:
    actual = gallery.load("box_blur").render(Image(colours), radius=3, rounds=2)
    expected = colours
    for _ in range(2):
        expected = ndimage.uniform_filter1d(expected, 7, axis=1, mode="nearest")
    for _ in range(2):
        expected = ndimage.uniform_filter1d(expected, 7, axis=0, mode="nearest")
    assert_allclose(actual, expected, atol=2e-6)


def test_motion_blur(colours) -> None:
    actual = gallery.load("motion_blur").render(Image(colours), distance=9.0, angle=30.0)
    y, x = np.mgrid[0:48, 0:64].astype(float)
    dx, dy = 9 * math.cos(math.pi / 6), -9 * math.sin(math.pi / 6)
    steps = np.linspace(-0.5, 0.5, 9)
    expected = np.mean([sampled(colours, x + t * dx, y + t * dy) for t in steps], axis=0)
    assert_allclose(actual, expected, atol=1e-5)


def test_zoom_blur(colours) -> None:
    actual = gallery.load("zoom_blur").render(Image(colours), amount=0.2, samples=8)
    y, x = np.mgrid[0:48, 0:64].astype(float)
    dx, dy = 0.2 * (32 - x), 0.2 * (0.3 * 48 - y)
    steps = np.arange(8) / 8
    expected = np.mean([sampled(colours, x + t * dx, y + t * dy) for t in steps], axis=0)
    assert_allclose(actual, expected, atol=1e-5)


def test_tilt_shift_keeps_the_line_sharp(colours) -> None:
    actual = gallery.load("tilt_shift").tilted(Image(colours), line=0.5, sharp=0.25, blur=20.0)
    assert_allclose(np.asarray(actual)[12:37], colours[12:37], atol=1e-6)
    assert np.abs(np.asarray(actual)[0] - colours[0]).max() > 0.05


def test_unsharp_mask(colours) -> None:
    actual = gallery.load("unsharp_mask").render(Image(colours), sigma=1.5, amount=2.0)
    expected = channels(
        lambda c: skimage.filters.unsharp_mask(c, 1.5, 2.0, preserve_range=True), colours
    )
    assert_allclose(inside(actual, 6), inside(expected, 6), atol=1e-5)


def test_bloom_halves_as_a_pyramid_does(colours) -> None:
    cv2 = pytest.importorskip("cv2")
    actual = gallery.load("bloom").halved(Image(colours), shape=(24, 32))
    expected = cv2.pyrDown(colours, borderType=cv2.BORDER_REPLICATE)
    assert_allclose(actual, expected, atol=1e-6)


# ---------------------------------------------------------------- edge-preserving filters


def test_bilateral(colours) -> None:
    actual = gallery.load("bilateral").render(Image(colours), near=2.0, like=0.2, radius=4)
    total = weights = 0.0
    for dx, dy in window(4):
        v = shifted(colours, dx, dy)
        near, like = (dx * dx + dy * dy) / 2.0**2, ((v - colours) ** 2).sum(axis=-1) / 0.2**2
        weight = np.exp(-0.5 * (near + like))[..., np.newaxis]
        total, weights = total + weight * v, weights + weight
    assert_allclose(actual, total / weights, atol=5e-6)


def test_median(colours) -> None:
    actual = gallery.load("median").median(Image(colours), size=5)
    expected = ndimage.median_filter(colours, (5, 5, 1), mode="nearest")
    assert_allclose(actual, expected, atol=1e-7)


def test_kuwahara(colours) -> None:
    radius = 3
    squares = []
    for sx, sy in [(-1, -1), (-1, 1), (1, -1), (1, 1)]:
        places = [(sx * i, sy * j) for i in range(radius + 1) for j in range(radius + 1)]
        texels = np.stack([shifted(colours, *d) for d in places])
        squares.append((texels.var(axis=0).sum(axis=-1), texels.mean(axis=0)))
    variances = np.stack([variance for variance, _ in squares])
    means = np.stack([mean for _, mean in squares])
    best = variances.argmin(axis=0)
    expected = np.take_along_axis(means, best[np.newaxis, ..., np.newaxis], axis=0)[0]
    assert_allclose(
        gallery.load("kuwahara").render(Image(colours), radius=radius), expected, atol=1e-5
    )


def test_anisotropic_diffusion(colours) -> None:
    expected = colours
    for _ in range(10):
        flows = [shifted(expected, *d) - expected for d in [(1, 0), (-1, 0), (0, 1), (0, -1)]]
        weights = [np.exp(-(f * f).sum(axis=-1, keepdims=True) / 0.12**2) for f in flows]
        expected = expected + 0.2 * sum(w * f for w, f in zip(weights, flows, strict=True))
    actual = gallery.load("anisotropic_diffusion").render(Image(colours), rounds=10)
    assert_allclose(actual, expected, atol=1e-5)


def test_non_local_means(colours) -> None:
    total, weights = np.zeros_like(colours), np.zeros(colours.shape[:2])
    padded = np.pad(colours, ((4, 4), (4, 4), (0, 0)), mode="edge")
    for dx, dy in window(3):
        moved = shifted(padded, dx, dy)
        squares = ((moved - padded) ** 2).sum(axis=-1)
        distance = ndimage.uniform_filter(squares, 3)
        weight = np.exp(-distance / (3 * 0.1**2))[4:-4, 4:-4]
        total += weight[..., np.newaxis] * shifted(colours, dx, dy)
        weights += weight
    actual = gallery.load("non_local_means").render(Image(colours), strength=0.1, search=3)
    expected = total / weights[..., np.newaxis]
    assert_allclose(inside(actual, 4), inside(expected, 4), atol=1e-5)


def test_guided_filter(colours) -> None:
    def mean(a):
        return ndimage.uniform_filter(a, 9, mode="nearest")

    def reference(c):
        m = mean(c)
        variance = mean(c * c) - m * m
        a = variance / (variance + 0.05**2)
        return mean(a) * c + mean(m - a * m)

    actual = gallery.load("guided_filter").guided(Image(colours), radius=4, edge=0.05)
    assert_allclose(actual, channels(reference, colours), atol=2e-4)


def test_total_variation(colours) -> None:
    """Theirs minimises the same energy, in other steps."""
    actual = gallery.load("total_variation").render(Image(colours), weight=0.1, steps=400)
    expected = skimage.restoration.denoise_tv_chambolle(
        colours, weight=0.1, eps=1e-9, max_num_iter=2000, channel_axis=-1
    )
    assert_allclose(actual, expected, atol=5e-3)


def test_richardson_lucy(grey) -> None:
    module = gallery.load("richardson_lucy")
    kernel = module.disc(2.0)
    actual = module.deconvolved(Image(grey), kernel, 8)
    seen = np.pad(grey, 40, mode="edge")
    expected = skimage.restoration.richardson_lucy(seen, kernel, num_iter=8, clip=False)[
        40:-40, 40:-40
    ]
    actual = module.deconvolved(Image(grey), kernel, 8, guess=Image(np.full_like(grey, 0.5)))
    assert_allclose(inside(actual, 16), inside(expected, 16), atol=1e-4)


# ---------------------------------------------------------------- morphology and thresholds


@pytest.mark.parametrize(
    ("operation", "reference"),
    [
        ("erosion", skimage.morphology.erosion),
        ("dilation", skimage.morphology.dilation),
        ("opening", skimage.morphology.opening),
        ("closing", skimage.morphology.closing),
        ("tophat", skimage.morphology.white_tophat),
        ("gradient", lambda a, e: ndimage.morphological_gradient(a, footprint=e, mode="nearest")),
    ],
)
def test_morphology(operation, reference, colours) -> None:
    element = skimage.morphology.disk(3)
    actual = gallery.load("morphology").render(Image(colours), operation=operation, radius=3)
    assert_allclose(actual, channels(lambda c: reference(c, element), colours), atol=1e-6)


def test_distance_transform() -> None:
    mask = np.random.default_rng(1).random((48, 64)) < 0.01
    actual = np.asarray(gallery.load("distance_transform").transform(Image(mask)))
    expected = ndimage.distance_transform_edt(~mask)
    # Jump flooding may miss the nearest seed, never by much.
    assert (np.abs(actual - expected) > 1e-4).mean() < 0.005
    assert_allclose(actual, expected, atol=1)


def test_adaptive_threshold(colours, grey) -> None:
    actual = gallery.load("adaptive_threshold").render(Image(colours), sigma=3.0, offset=0.02)
    limit = skimage.filters.threshold_local(grey, 3, "gaussian", 0.02, param=3.0)
    assert (inside(actual, 12) == inside(grey > limit, 12)).mean() > 0.999
