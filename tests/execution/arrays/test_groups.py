"""Folds of several images, by group and of positions; histograms; what is scattered: against NumPy,
on every target."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from pygpu import Image, Position, Vec2

Array = NDArray[Any]
GENERATOR = np.random.default_rng(0)
A = GENERATOR.random((37, 45)).astype(np.float32)
B = GENERATOR.random((37, 45)).astype(np.float32)
X = GENERATOR.random(3001).astype(np.float32)


@pytest.fixture(params=["whole", "folded"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Arrays (N,) as one row, and in rows of 64, as where a device holds no longer ones."""
    if request.param == "folded":
        monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "64")
    return str(request.param)


# ---------------------------------------------------------------- reduce


def test_several_images_and_arguments_are_mapped(target: str) -> None:
    total = functools.partial(pygpu.reduce, np.add, A, B, target=target)
    for gain in (2.0, 3):
        found = total(map=lambda v, w, gain: gain * v * w, gain=gain)
        assert found == pytest.approx(gain * (A * B).sum(dtype=float), 1e-5)
    found = total(map=lambda v, w, p, *, gain: gain * v * w * p.x, gain=0.5)
    assert found == pytest.approx(0.5 * (A * B * np.arange(45)).sum(dtype=float), 1e-5)
    found = total(map=lambda v, w, c: (v - c.x) * (w - c.y), c=Vec2(0.25, 1.0))
    assert found == pytest.approx(((A - 0.25) * (B - 1)).sum(dtype=float), 1e-5)


def test_other_arguments_compile_nothing() -> None:
    def calls() -> None:
        for gain in (1.0, 2.0, 3.0):
            pygpu.reduce(np.add, A, map=lambda v, g: v * g, g=gain, target="cpu")

    from pygpu.execution.folds import folding

    calls()
    before = folding.program.cache_info().misses
    calls()
    assert folding.program.cache_info().misses == before


def test_arrays_of_one_axis_are_folded(target: str, layout: str) -> None:
    total = functools.partial(pygpu.reduce, np.add, target=target)
    assert total(X) == pytest.approx(X.sum(dtype=float), 1e-5)
    weighted = (X * np.arange(len(X))).sum(dtype=float)
    assert total(X, map=lambda v, p: v * p.x) == pytest.approx(weighted, 1e-5)
    assert pygpu.reduce(np.maximum, X[:65], target=target) == X[:65].max()
    assert total(np.zeros(0)) == 0


def test_signals_are_folded_scanned_and_sorted(target: str, layout: str) -> None:
    stereo = pygpu.Signal(GENERATOR.random((200, 2)).astype(np.float32), boundary="wrap")
    array = np.asarray(stereo)
    weighted = pygpu.reduce(np.add, stereo, map=lambda v, p: v * p, target=target)
    np.testing.assert_allclose(weighted, (array * np.arange(200)[:, None]).sum(0), 1e-5)
    for found, expected in (
        (pygpu.scan(np.add, stereo, target=target), np.cumsum(array, 0)),
        (pygpu.sort(stereo, target=target), np.sort(array, 0)),
        (pygpu.argsort(stereo, target=target), np.argsort(array, 0)),
    ):
        assert isinstance(found, pygpu.Signal)
        assert found.boundary == "wrap"
        np.testing.assert_allclose(np.asarray(found), expected, 1e-5)
    np.testing.assert_array_equal(pygpu.compress(array[:, 0] > 0.5, stereo, target=target),
                                  array[array[:, 0] > 0.5])  # fmt: skip
    sums = pygpu.scatter(stereo, lambda v, p: p // 50, 4, target=target)
    assert isinstance(sums, pygpu.Signal)
    np.testing.assert_allclose(sums, array.reshape(4, 50, 2).sum(1), 1e-5)
    counts, _ = pygpu.histogram(stereo, 4, target=target)
    np.testing.assert_array_equal(counts[1], np.histogram(array[:, 1], 4, (0, 1))[0])


def test_volumes_are_folded_and_sorted_along_x(target: str) -> None:
    volume = pygpu.Volume(GENERATOR.random((5, 6, 7)).astype(np.float32))
    v = np.asarray(volume)
    place = pygpu.reduce(np.argmax, volume, target=target)
    assert tuple(place)[::-1] == np.unravel_index(v.argmax(), v.shape)
    planes = pygpu.reduce(np.add, volume, by=lambda v, p: p.z, groups=6, target=target)
    np.testing.assert_allclose(planes, [*v.sum((1, 2)), 0], 1e-5)
    np.testing.assert_array_equal(pygpu.sort(volume, target=target), np.sort(v))
    np.testing.assert_allclose(pygpu.scan(np.add, volume, target=target), np.cumsum(v, 2), 1e-5)
    turned = pygpu.scatter(volume, lambda v, p: (p.y, p.x, p.z), (5, 7, 6), target=target)
    assert isinstance(turned, pygpu.Volume)
    np.testing.assert_array_equal(np.asarray(turned), v.swapaxes(1, 2))


def test_positions_of_extremes(target: str, layout: str) -> None:
    few = np.round(A * 8) / 8  # many are equal: the first one counts
    some = few.copy()
    some[5, 6] = some[5, 3] = np.nan
    for array in (few, some):
        for function in (np.argmax, np.argmin):
            x, y = pygpu.reduce(function, array, target=target)
            assert (y, x) == np.unravel_index(function(array), array.shape)
    assert pygpu.reduce(np.argmin, X, target=target) == X.argmin()
    assert pygpu.reduce(np.argmax, X, map=lambda v: -v, target=target) == X.argmin()


# ---------------------------------------------------------------- groups


def test_groups_are_folded(target: str, layout: str) -> None:
    numbers = (A * 16).astype(int)
    counts = np.bincount(numbers.ravel(), minlength=16)
    fold = functools.partial(pygpu.reduce, target=target)
    found = fold(np.add, A, map=lambda v: 1, by=lambda v: int(v * 16), groups=16)
    np.testing.assert_array_equal(found, counts)
    sums = np.bincount(numbers.ravel(), A.ravel(), minlength=16)[3:11]
    for add in (np.add, lambda a, b: a + b):  # numbers below 0 and above 7 are of no group
        found = fold(add, A, by=lambda v, k: int(v * k) - 3, k=16, groups=8, initial=0)
        np.testing.assert_allclose(found, sums, 1e-5)
    greatest = fold(np.maximum, A, by=lambda v, p: p.x % 7, groups=9)
    np.testing.assert_array_equal(greatest[:7], [A[:, i::7].max() for i in range(7)])
    np.testing.assert_array_equal(greatest[7:], -np.inf)


def far_from_associative_order(a: Any, b: Any) -> Any:
    """A function with branches on both sides, of values of several kinds."""
    count, least, both = a[0] + b[0], min(a[1], b[1]), a[2] and b[2]
    if a[0] > b[0]:
        return count, least, both
    return count, least, both


def test_any_function_is_folded_by_native_code() -> None:
    wide = GENERATOR.integers(0, 50, (300, 517)).astype(np.int32)
    counts, least, positive = pygpu.reduce(
        far_from_associative_order,
        wide, map=lambda v, p: (1, v * 1.5 + p.y, v > 0), by=lambda v: v - 3, groups=40,
        initial=(0, 9.0, True), target="cpu",
    )  # fmt: skip
    expected = np.bincount(wide.ravel(), minlength=50)[3:43]
    np.testing.assert_array_equal(counts, expected)
    rows = np.broadcast_to(np.arange(300)[:, None], wide.shape)
    lows = [(k * 1.5 + rows[wide == k]).min() for k in range(3, 43)]
    np.testing.assert_allclose(least, lows)
    assert positive.dtype == np.bool_
    assert positive.all()
    empty = pygpu.reduce(
        lambda a, b: a or b, wide, map=lambda v: v > 9, by=lambda v: v % 4 * 2, groups=7,
        initial=False, target="cpu",
    )  # fmt: skip
    assert empty.tolist() == [True, False] * 3 + [True]


def test_long_groups_err_little() -> None:
    ones = np.full(3_000_000, 0.1, np.float32)
    for add in (np.add, lambda a, b: a + b):
        sums = pygpu.reduce(add, ones, by=lambda v, p: p.x % 3, groups=3, initial=0, target="cpu")
        np.testing.assert_allclose(sums, np.float32(0.1) * 1e6, 1e-5)


def test_many_groups_of_an_array(target: str, layout: str) -> None:
    numbers = (X * 1000).astype(int)
    expected = np.bincount(numbers, X, minlength=1100)
    for add in (np.add, lambda a, b: a + b):
        found = pygpu.reduce(
            add, X, by=lambda v: int(v * 1000), groups=1100, initial=0, target=target
        )
        np.testing.assert_allclose(found, expected, 1e-5)


def test_empty_groups_have_the_identity(target: str) -> None:
    product = pygpu.reduce(np.multiply, X[:9], by=lambda v, p: p.x // 5, groups=4, target=target)
    np.testing.assert_allclose(product[:2], [X[:5].prod(), X[5:9].prod()], 1e-5)
    assert product[2:].tolist() == [1, 1]
    found = pygpu.reduce(np.add, X[:9], by=lambda v: 1, groups=3, initial=7, target=target)
    np.testing.assert_allclose(found, [7, X[:9].sum(), 7], 1e-5)
    nothing = pygpu.reduce(np.add, X[:0], by=lambda v: 1, groups=3, target=target)
    assert nothing.tolist() == [0, 0, 0]


def test_tuples_are_folded_by_group(target: str) -> None:
    sums, counts = pygpu.reduce(
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        A, B, map=lambda v, w: (Vec2(v, w), 1), by=lambda v, w: int(v * 5), groups=6,
        initial=((0, 0), 0), target=target,
    )  # fmt: skip
    numbers = (A * 5).astype(int).ravel()
    np.testing.assert_array_equal(counts, np.bincount(numbers, minlength=6))
    for place, image in enumerate((A, B)):
        expected = np.bincount(numbers, image.ravel(), minlength=6)
        np.testing.assert_allclose(sums[:, place], expected, 1e-5)


def test_numpys_functions_fold_parts_of_tuples_by_group(target: str) -> None:
    numbers = (A * 5).astype(int).ravel()
    sums, counts = pygpu.reduce(
        np.add, A, B, map=lambda v, w: (Vec2(v, w), 1), by=lambda v, w: int(v * 5), groups=7,
        target=target,
    )  # fmt: skip
    np.testing.assert_array_equal(counts, np.bincount(numbers, minlength=7))
    expected = [np.bincount(numbers, image.ravel(), minlength=7) for image in (A, B)]
    np.testing.assert_allclose(sums.T, expected, 1e-5)


def test_positions_by_group(target: str) -> None:
    places = pygpu.reduce(np.argmax, A, by=lambda v, p: p.y // 10, groups=5, target=target)
    assert places.shape == (5, 2)
    assert places[4].tolist() == [-1, -1]
    for k, (x, y) in enumerate(places[:4]):
        assert A[y, x] == A[10 * k : 10 * k + 10].max()


def test_means_of_clusters_are_those_of_numpy(target: str) -> None:
    """A round of k-means: the nearest centre is the group."""
    colours = GENERATOR.random((20, 31, 3)).astype(np.float32)
    centres = [pygpu.Vec3(*c) for c in GENERATOR.random((4, 3))]

    def nearest(v: Any, centres: Any) -> Any:
        best, least = 0, 9.0
        for k, centre in enumerate(centres):
            d = v - centre
            far = pygpu.dot(d, d)
            best, least = (k, far) if far < least else (best, least)
        return best

    sums, counts = pygpu.reduce(
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        colours, map=lambda v: (v, 1), by=nearest, groups=4, centres=centres,
        initial=((0, 0, 0), 0), target=target,
    )  # fmt: skip
    flat = colours.reshape(-1, 3)
    at = np.array([list(c) for c in centres])
    expected = ((flat[:, None] - at) ** 2).sum(-1).argmin(1)
    np.testing.assert_array_equal(counts, np.bincount(expected, minlength=4))
    np.testing.assert_allclose(sums[0], flat[expected == 0].sum(0), 1e-4)


def test_equal_results_in_each_run() -> None:
    sums = [pygpu.reduce(np.add, X, by=lambda v, p: p.x % 3, groups=3) for _ in range(3)]
    assert sums[0].tolist() == sums[1].tolist() == sums[2].tolist()


# ---------------------------------------------------------------- histograms

BINS: list[tuple[Any, tuple[float, float]]] = [
    (256, (0, 1)),
    (10, (-1, 3)),
    (5, (10, 77)),
    ([0, 0.1, 0.5, 0.9], (0, 1)),
    ([0, 2, 2, 5.5, 9], (0, 1)),
]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "int32", "bool", "float16"])
def test_histograms_are_those_of_numpy(target: str, dtype: str) -> None:
    array = GENERATOR.integers(0, 99, (13, 27)).astype(dtype)
    seen: Array = array.astype(np.int32)
    if dtype in ("uint8", "uint16"):
        seen = array.astype(np.float32) / np.float32(np.iinfo(dtype).max)
    elif dtype == "float16":
        seen = array.astype(np.float32)
    check_histogram(array, seen, target)


def test_histograms_of_edges_and_nans(target: str) -> None:
    array = (GENERATOR.integers(-40, 300, (13, 27)) / 256).astype(np.float32)
    array[::5] = GENERATOR.random((3, 27))
    check_histogram(array, array, target)
    array[0, :2] = np.nan, np.inf
    counts, _ = pygpu.histogram(array, 16, target=target)
    np.testing.assert_array_equal(counts, np.histogram(array[np.isfinite(array)], 16, (0, 1))[0])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.1, 0.7), (1000, 1001), (0, 1e-20)])
def test_histograms_beside_their_edges(target: str, low: float, high: float) -> None:
    """Values that are edges, and those next to them in float32."""
    edges = np.linspace(low, high, 101, dtype=np.float32)
    beside = [np.nextafter(edges, np.float32(way)) for way in (-np.inf, np.inf)]
    values = np.concatenate([edges, *beside])
    values[np.abs(values) < np.finfo(np.float32).tiny] = 0  # as drivers may read them
    for limits in ((low, high), (np.float32(low), np.float32(high))):
        counts, _ = pygpu.histogram(values, 100, limits, target=target)
        np.testing.assert_array_equal(counts, np.histogram(values, 100, limits)[0])


@pytest.mark.parametrize("bins", [1, 7, 256, 5000])
def test_histograms_of_many_values_on_cpu(bins: int) -> None:
    """By threads, each in tables of its own, of several copies where bins are few."""
    for count in (15, 70_001, 300_000):
        values = np.float32(GENERATOR.uniform(-0.2, 1.2, count))
        values[: count // 2] = GENERATOR.integers(0, bins + 1, count // 2) / bins
        values[-3:] = np.nan, np.inf, -np.inf
        stereo = np.stack([values, values[::-1]], axis=-1)[np.newaxis]
        for array in (values, stereo):
            counts, _ = pygpu.histogram(array, bins, target="cpu")
            known = values[np.isfinite(values)]
            expected = np.histogram(known, bins, (0, 1))[0]
            np.testing.assert_array_equal(counts, np.broadcast_to(expected, counts.shape))


def check_histogram(array: Array, seen: Array, target: str) -> None:
    for bins, limits in BINS:
        counts, edges = pygpu.histogram(array, bins, limits, target=target)
        expected, expected_edges = np.histogram(seen, bins, limits)
        assert counts.dtype == expected.dtype
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(edges, expected_edges)


def test_channels_have_histograms_of_their_own(target: str) -> None:
    array = GENERATOR.integers(0, 256, (13, 27, 3)).astype(np.uint8)
    counts, _ = pygpu.histogram(Image(array), 8, target=target)
    expected = [np.histogram(array[..., c] / 255, 8, (0, 1))[0] for c in range(3)]
    np.testing.assert_array_equal(counts, expected)
    empty, _ = pygpu.histogram(np.zeros(0), 4, target=target)
    assert empty.tolist() == [0, 0, 0, 0]


# ---------------------------------------------------------------- scatter


@pytest.mark.parametrize("combine", [np.add, np.maximum, np.minimum, np.multiply])
def test_elements_are_scattered(target: str, combine: Any) -> None:
    for count in (0, 1, 17, 100):
        xs = X[:count]
        expected = np.full(10, 0.5, np.float32)
        where = (xs * 12).astype(int) - 1  # some are outside
        inside = (where >= 0) & (where < 10)
        combine.at(expected, where[inside], xs[inside])
        found = pygpu.scatter(xs, lambda v: int(v * 12) - 1, 10, combine, 0.5, target=target)
        np.testing.assert_allclose(found, expected, 1e-5)


def test_every_size_is_scattered() -> None:
    for count in range(101):
        ints = GENERATOR.integers(-9, 9, count)
        found = pygpu.scatter(ints, lambda v, p: p.x // 3, 34, target="cpu")
        padded = np.append(ints, np.zeros(102 - count, int)).reshape(34, 3)
        np.testing.assert_array_equal(found, padded.sum(1))


def test_images_are_scattered(target: str) -> None:
    colours = GENERATOR.random((37, 45, 3)).astype(np.float32)
    found = pygpu.scatter(colours, lambda v, p: (p.x // 2, p.y // 3), (13, 23), target=target)
    padded = np.zeros((39, 46, 3))
    padded[:37, :45] = colours
    np.testing.assert_allclose(found, padded.reshape(13, 3, 23, 2, 3).sum((1, 3)), 1e-5)
    image = Image(A, boundary="wrap")
    same = pygpu.scatter(image, lambda v, p: p + 0.4, (37, 45), target=target)
    assert same.boundary == "wrap"
    np.testing.assert_array_equal(np.asarray(same), A)
    lost = pygpu.scatter(A, lambda v, p: (v * float("nan"), p.y), (37, 45), target=target)
    assert not lost.any()


# ---------------------------------------------------------------- errors

WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: pygpu.reduce(np.add), TypeError, "got no image"),
    (lambda: pygpu.reduce(np.add, A, B), TypeError, "2 images need map="),
    (lambda: pygpu.reduce(np.add, A, X, map=max), ValueError, r"sizes: \(37, 45\), \(3001,\)"),
    (lambda: pygpu.reduce(np.add, A, by=lambda v: 0), TypeError, "by= needs groups="),
    (lambda: pygpu.reduce(np.add, A, groups=3), TypeError, "groups= needs by="),
    (lambda: pygpu.reduce(np.add, A, by=lambda v: 0, groups=0), ValueError, "groups takes 1 to"),
    (lambda: pygpu.reduce(np.add, A, by=lambda v: 0, groups=2**31), ValueError, "groups takes 1"),
    (lambda: pygpu.reduce(np.add, A, by=lambda v: 0, groups=2.5), TypeError, "a whole number"),
    (lambda: pygpu.reduce(np.add, A, by=lambda v: v, groups=2), TypeError, "an Int, got float"),
    (lambda: pygpu.reduce(max, A, by=lambda v: 0, groups=2), TypeError, "needs initial="),
    (lambda: pygpu.reduce(np.add, A, gain=2), TypeError, "'gain' that neither map nor by takes"),
    (lambda: pygpu.reduce(np.add, A, map=lambda v, p, q: v), TypeError, "one takes v, p, q"),
    (lambda: pygpu.reduce(np.add, A, map=lambda: 1), TypeError, "takes 1 texel"),
    (lambda: pygpu.reduce(np.argmax, A, initial=0), TypeError, "positions have no initial"),
    (lambda: pygpu.reduce(np.argmax, np.ones((2, 2, 3))), TypeError, "not of vec3: take map="),
    (lambda: pygpu.reduce(max, X[:0]), ValueError, "no elements has no value: give initial="),
    (lambda: pygpu.reduce(np.add, np.zeros((1, 2, 3, 4))), ValueError, "4 axes"),
    (lambda: pygpu.histogram(A, 0), ValueError, "bins takes 1 to"),
    (lambda: pygpu.histogram(A, [3, 1]), ValueError, "monotonically"),
    (lambda: pygpu.histogram(A, "auto"), TypeError, "a number of them or their edges"),
    (lambda: pygpu.histogram(A, 4, 1), TypeError, "range=1"),
    (lambda: pygpu.scatter(A, 3, (2, 2)), TypeError, "to takes a function"),
    (lambda: pygpu.scatter(A, lambda v: 0, (2, 2)), TypeError, r"a position \(x, y\), got int"),
    (lambda: pygpu.scatter(A, lambda v, p: p, 3), TypeError, "number of an element, got"),
    (lambda: pygpu.scatter(A, lambda v, p: p, (2, 2), max), TypeError, "combine takes np.add"),
    (lambda: pygpu.scatter(A, lambda v, p: p, (2, 2, 2, 2)), TypeError, "shape takes"),
    (lambda: pygpu.scatter(A, lambda v, p: p, (2**20, 2**20)), ValueError, "elements in all"),
    (lambda: pygpu.scatter(A, lambda v, p: p, (0, 2)), ValueError, "elements in all"),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_wrong_calls_say_what_is_taken(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (37, 19)])
def test_values_of_parts_of_all_kinds_are_folded(target, shape):
    """Between passes four numbers of a kind are one image."""
    texels = np.random.default_rng(0).random(shape).astype(np.float32)

    def parts(v):
        steps = int(v * 1000)
        masks = [v > k / 4 for k in range(3)]
        hashes = [np.uint32(steps) * 2654435761 + k for k in range(2)]
        floats = [v * k for k in range(5)]
        return (*masks, pygpu.Vec2(v, 1 - v), *hashes, *floats, steps, -steps, *floats)

    def join(a, b):
        sums = [x + y for x, y in zip(a[3:-5], b[3:-5], strict=True)]
        greatest = [max(x, y) for x, y in zip(a[-5:], b[-5:], strict=True)]
        return (
            *[x and y for x, y in zip(a[:2], b[:2], strict=True)],
            a[2] + b[2],
            *sums,
            *greatest,
        )

    found = pygpu.reduce(join, texels, map=parts, target=target)
    steps = (texels * np.float32(1000)).astype(np.int64)
    hashes = [((steps * 2654435761 + k) % 2**32).sum() % 2**32 for k in range(2)]
    exact = [
        texels.min() > 0,
        texels.min() > 0.25,
        (texels > 0.5).sum(),
        *hashes,
        steps.sum(),
        -steps.sum(),
    ]
    assert [*found[:3], *found[4:6], *found[11:13]] == exact
    np.testing.assert_allclose(found[3], [texels.sum(), (1 - texels).sum()], rtol=1e-5)
    np.testing.assert_allclose(found[6:11], [texels.sum() * k for k in range(5)], rtol=1e-5)
    np.testing.assert_allclose(found[13:], [texels.max() * np.float32(k) for k in range(5)])


def test_functions_keep_the_defaults_they_were_compiled_with(target):
    """Two of the same code are one only with equal defaults, whatever becomes of the first."""
    texels = np.arange(6, dtype=np.float32).reshape(2, 3)

    def weighing(by):
        def weigh(v, table=by, *, gain=by[0]):
            return v * table[0] * gain

        return weigh

    first, second = weighing([2.0]), weighing([2.0])
    assert pygpu.reduce(np.add, texels, map=first, target=target) == 60
    first.__defaults__[0][0], first.__kwdefaults__["gain"] = 5.0, 7.0
    assert pygpu.reduce(np.add, texels[:, :2], map=second, target=target) == 32
    assert pygpu.reduce(np.add, texels.astype(np.uint8), map=second, target=target) * 255 == (
        pytest.approx(60, rel=1e-5)
    )
    assert pygpu.reduce(np.add, texels, map=first, target=target) == 15 * 35


def test_arguments_may_stand_anywhere_among_the_parameters_of_a_map(target: str) -> None:
    total = functools.partial(pygpu.reduce, np.add, A, B, target=target)
    expected = 3 * (A * B * np.arange(45)).sum(dtype=float) + 0.5 * A.size
    for map in (
        lambda k, v, w, p, c: k * v * w * p.x + c,
        lambda v, k, w, c, p: k * v * w * p.x + c,
        lambda v, w, c, p, *, k: k * v * w * p.x + c,
        lambda v, w, c, p, **more: more["k"] * v * w * p.x + c,
    ):
        assert total(map=map, k=3.0, c=0.5) == pytest.approx(expected, 1e-5)
    counts = pygpu.reduce(
        np.add, X, map=lambda v: 1, by=lambda n, v: int(n * v), groups=4, n=4, target=target
    )
    assert counts.tolist() == np.bincount((4 * X).astype(int)).tolist()
    with pytest.raises(TypeError, match="this one takes v, q, p"):
        pygpu.reduce(np.add, A, map=lambda k, v, q, p: v, k=2.0)


def test_arrays_of_channels_lie_beside_arrays_of_one_axis(target: str) -> None:
    colours = GENERATOR.random((3001, 3)).astype(np.float32)
    dot = pygpu.reduce(np.add, colours, X, map=lambda c, x: c * x, target=target)
    np.testing.assert_allclose(dot, (colours * X[:, None]).sum(0), rtol=1e-4)
    keys, moved = pygpu.sort(X, colours, target=target)
    assert np.array_equal(keys, np.sort(X))
    assert np.array_equal(moved, colours[np.argsort(X, kind="stable")])
    assert np.array_equal(pygpu.compress(X > 0.5, colours, target=target), colours[X > 0.5])
    volume = GENERATOR.random((5, 6, 7)).astype(np.float32)
    keys, moved = pygpu.sort(pygpu.Volume(volume), 2 * volume, target=target)
    assert isinstance(keys, pygpu.Volume)
    assert np.array_equal(moved, np.sort(2 * volume))
    with pytest.raises(ValueError, match=r"values\[0\] is of size"):
        pygpu.sort(X, colours[1:], target=target)


def test_sums_of_ints_are_exact(target: str) -> None:
    ints = GENERATOR.integers(-(2**31), 2**31, (120, 131)).astype(np.int32)
    large = np.full((120, 131), 2**30, np.int32)
    for summed in (ints, -large, pygpu.Signal(large.ravel()), ints.reshape(120, 131, 1)):
        found = pygpu.reduce(np.add, summed, target=target)
        assert isinstance(found, int)
        assert found == np.asarray(summed).sum(dtype=np.int64)
    colours = ints[:, :120].reshape(120, 40, 3)
    found = pygpu.reduce(np.add, colours, target=target)
    assert found.tolist() == colours.sum((0, 1), np.int64).tolist()
    unsigned = pygpu.reduce(np.add, large, map=lambda v: pygpu.UInt(v) * 3, target=target)
    assert unsigned == 3 * 2**30 * large.size
    counted = pygpu.reduce(np.add, ints, map=lambda v, k: 1 if v > k else 0, k=5, target=target)
    assert counted == (ints > 5).sum()


def test_images_of_uints_are_counted_moved_and_compared(target: str) -> None:
    def numbers(p: Position):
        return (p.x * 374761393 + p.y * 668265263) & 0xFFFFFFFF

    image = pygpu.compile(numbers, target=target)(shape=(9, 7))
    array = np.asarray(image)
    assert array.dtype == np.uint32
    for bins in ([0, 2**30, 2**31, 2**32], [-5, -1, -0.5]):
        found = pygpu.histogram(image, bins=bins)[0]
        np.testing.assert_array_equal(found, np.histogram(array, bins)[0])
    every = pygpu.histogram(image, bins=4, range=(0, 2**32))[0]
    np.testing.assert_array_equal(every, np.histogram(array, 4, (0, 2**32))[0])
    for move in (np.flip, np.transpose, np.rot90, lambda x: np.roll(x, 1), lambda x: np.pad(x, 1)):
        np.testing.assert_array_equal(np.asarray(move(image)), move(array))
    np.testing.assert_array_equal(np.asarray(np.stack([image, image])), np.stack([array, array]))
    np.testing.assert_array_equal(np.asarray(image > 2**31), array > 2**31)
    np.testing.assert_array_equal(
        np.asarray(np.maximum(image, 2**31)), np.maximum(array, np.uint32(2**31))
    )
    np.testing.assert_array_equal(
        np.asarray(np.clip(image, 5, 2**32 - 9)), np.clip(array, 5, 2**32 - 9)
    )
    for other in (0, np.uint32(2**31), pygpu.UInt(7), image // 3):
        chosen = np.asarray(np.where(image > 2**31, image, other))
        expected = np.where(array > 2**31, array, np.asarray(other, np.uint32))
        np.testing.assert_array_equal(chosen, expected, strict=True)
    with pytest.raises(
        pygpu.CompileError, match=r"-1 \(int\) cannot be one value"
    ):  # as in a function
        np.where(image > 2**31, image, -1)
    chosen = np.asarray(np.select([image > 2**31], [image], 3))
    np.testing.assert_array_equal(chosen, np.where(array > 2**31, array, 3))
    for combine in (np.add, np.maximum, np.minimum, np.multiply):
        start = 2**32 - 1 if combine is np.minimum else 1
        met = pygpu.scatter(image, lambda v, p: p.x, 7, combine, start, target=target)
        expected = combine.reduce(array, axis=0, dtype=np.uint32, initial=start)
        np.testing.assert_array_equal(np.asarray(met), expected, strict=True)
    sums = pygpu.reduce(np.add, image, by=lambda v: v % 3, groups=3, target=target)
    assert sums.tolist() == [array[array % 3 == k].astype(np.int64).sum() for k in range(3)]
    with pytest.raises(TypeError, match="by gives the number of a group"):
        pygpu.reduce(np.add, image, by=lambda v: 0.5, groups=3, target=target)
