"""Filters of several passes, put together, give what their passes give one by one."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, filters
from pygpu.core.storage import Storage
from pygpu.devices import targets
from pygpu.devices.cpu.device import CpuDevice
from pygpu.execution.pipelines.steady import Trusted
from pygpu.execution.pipelines.takes import Takes
from pygpu.filters import denoise, whole

SQUARE = np.ones((3, 5), bool)
FILTERS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (filters.guided, {"radius": 3}),
    (filters.unsharp_mask, {"radius": 1.5}),
    (filters.corner_harris, {}),
    (filters.opening, {"footprint": SQUARE}),
    (filters.closing, {"footprint": SQUARE}),
    (filters.white_tophat, {"footprint": SQUARE}),
    (filters.black_tophat, {"footprint": SQUARE}),
    (filters.threshold_local, {"block_size": 7}),
    (filters.pyramid_reduce, {}),
    (filters.pyramid_expand, {}),
]


@pytest.mark.parametrize(("filter", "options"), FILTERS, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_passes_together_give_the_same(
    filter: Callable[..., Any],
    options: dict[str, Any],
    dtype: str,
    target: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    texels = np.random.default_rng(1).random((61, 47)) * (1 if dtype == "float32" else 255)
    image = Image(texels.astype(dtype))
    monkeypatch.setattr(whole, "LARGE", 1 << 60)
    want = filter(image, **options)
    monkeypatch.setattr(whole, "LARGE", 0)
    have = filter(image, **options)
    assert type(have.storage) is Storage  # it holds on to nothing else
    assert have.dtype == want.dtype
    if target == "cpu":
        np.testing.assert_array_equal(have.numpy(), want.numpy())
    else:
        np.testing.assert_allclose(
            have.numpy().astype(float), want.numpy().astype(float), rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize(("filter", "options"), FILTERS, ids=lambda v: getattr(v, "__name__", ""))
def test_calls_done_again_follow_their_arguments(
    filter: Callable[..., Any],
    options: dict[str, Any],
    target: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    generator = np.random.default_rng(2)
    for least in (0, 0, -1, 0):  # the range is looked at by some
        image = generator.uniform(least, 1, (32, 37)).astype(np.float32)
        have = filter(image, **options)
        sys.setprofile(lambda *_: None)  # it wants to see every call
        try:
            want = filter(image, **options)
        finally:
            sys.setprofile(None)
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)
    names = [name for name in ("radius", "sigma", "downscale") if name in options]
    for name in names:
        other = filter(image, **{**options, name: options[name] + 1})
        assert not np.allclose(other, have)


def test_filters_of_other_filters_leave_their_passes_to_the_pipeline() -> None:
    lowered = pygpu.pipeline(lambda im: filters.closing(im) - im, target="cpu").lower(
        np.random.default_rng(0).random((256, 300), np.float32)
    )
    assert lowered.stats["jobs"] == 1


def test_what_does_not_fit_is_said_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "LARGE", 0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'radios'"):
        filters.unsharp_mask(np.zeros((9, 9), np.float32), radios=1)


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("rescale", {"scale": 2, "order_": 1}, r"rescale\(\) got .* 'order_'; is order meant\?"),
        ("hog", {"channel_axis": 2}, "channels are the last axis: leave it out"),
        ("threshold_otsu", {"zzz": 2}, "'zzz'; it takes image, nbins"),
        ("gaussian", {"sigm": 2}, "is sigma meant"),
        ("gaussian", {"mode": "wrap"}, r"'mode'; .* outside: pygpu\.Image\(a, boundary=\.\.\."),
        ("sobel", {"cval": 1}, r"'cval' .* outside: pygpu\.Image\(a, boundary=\.\.\., cval="),
        ("rotate", {"angle": 2, "preserve_range": True}, "bytes are 0 to 1: leave it out"),
        ("erosion", {"footprint": [(np.ones((3, 1)), 2)]}, "one array, not a sequence"),
    ],
)
def test_of_a_keyword_that_is_not_taken_it_is_said_what_may_be_meant(name, more, words) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        getattr(filters, name)(np.zeros((9, 9), np.float32), **more)


def test_a_gaussian_in_a_pipeline_is_put_off_with_what_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # of many threads each has few rows, for which rows in a cache do not pay
    monkeypatch.setenv("PYGPU_THREADS", "2")

    @pygpu.compile
    def sharper(im: pygpu.Image, smooth: pygpu.Image, p: pygpu.Position):
        return 2 * im(p) - smooth(p)

    @pygpu.pipeline(target="cpu")
    def sharpened(im):
        return sharper(im, filters.gaussian(im, sigma=2))

    photo = np.random.default_rng(0).random((256, 300), np.float32)
    assert sharpened.lower(photo).stats["jobs"] == 1
    np.testing.assert_allclose(
        sharpened(photo), 2 * photo - filters.gaussian(photo, sigma=2), atol=1e-5
    )


def test_images_of_other_sizes_compile_no_step_again(monkeypatch: pytest.MonkeyPatch) -> None:
    smoothed = pygpu.pipeline(lambda im: filters.gaussian(im, sigma=2.25), target="cpu")
    photo = np.random.default_rng(0).random((256, 300), np.float32)
    smoothed(photo)
    monkeypatch.setattr(CpuDevice, "compile", lambda *_: pytest.fail("it was compiled again"))
    part = smoothed(photo[:200, :250])
    np.testing.assert_allclose(part[:180, :230], smoothed(photo)[:180, :230])


def test_calls_with_much_that_is_known_are_not_done_again() -> None:
    device, image = targets.choose("cpu"), Image(np.ones((9, 9), np.float32))
    takes = Takes(Trusted)
    assert takes.exact({"image": image, "footprint": SQUARE, "sigma": (1, 2.5)}, device)
    for known in (np.ones((99, 99), np.float32), object(), [object()], (image,)):
        assert takes.exact({"image": image, "known": known}, device) is None
    assert takes.exact({"image": image, "guide": image}, device) is None


LAST: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (filters.gaussian, {"sigma": 2}),
    (filters.guided, {"radius": 2}),
    (filters.distance_transform_edt, {}),
    (filters.equalize_hist, {}),
    (filters.rank.mean, {"footprint": SQUARE}),
    (filters.local_binary_pattern, {"P": 8, "R": 1.0}),
    (filters.denoise_bilateral, {"win_size": 3}),
    (filters.equalize_adapthist, {}),
]


def _filled(filter: Callable[..., Any], image: Any, options: dict[str, Any], like: Any) -> Any:
    """What calls put into an array, the last of which have been done before."""
    out = like
    for _ in range(3):
        out = like.copy()
        assert filter(image, **options, out=out) is out
    return out


@pytest.mark.parametrize(
    ("filter", "options"),
    [*FILTERS, *LAST],
    ids=lambda v: getattr(v, "__name__", ""),
)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_results_go_into_arrays_of_any_dtype_and_layout(
    filter: Callable[..., Any], options: dict[str, Any], dtype: str, target: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    monkeypatch.setattr(whole, "LARGE", 0)
    texels = np.random.default_rng(3).random((61, 47)) * (1 if dtype == "float32" else 255)
    image = texels.astype(dtype)
    for kind in ("float32", "uint8", "float64"):
        want = filter(image, **options, dtype=kind)
        wide = np.zeros((want.shape[0] + 2, want.shape[1] + 3), kind)
        for like in (wide[: want.shape[0], : want.shape[1]].copy(), wide[1:-1, 2:-1]):
            np.testing.assert_array_equal(_filled(filter, image, options, like), want)
        rows = wide[1:-1, 2:-1]
        for _ in range(3):
            rows[...] = 0
            filter(image, **options, out=rows)
            np.testing.assert_array_equal(rows, want)
            assert not wide[[0, -1]].any()
            assert not wide[:, [0, 1, -1]].any()
        turned = np.zeros(want.shape[::-1], kind).T
        np.testing.assert_array_equal(_filled(filter, image, options, turned), want)


@pytest.mark.parametrize(
    ("filter", "options"),
    [*FILTERS[:-2], *LAST],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_result_may_go_where_its_image_lies(
    filter: Callable[..., Any], options: dict[str, Any], target: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    monkeypatch.setattr(whole, "LARGE", 0)
    memory = np.random.default_rng(4).random((70, 47), np.float32)
    for start in (0, 1, 9):  # rows of which the result begins behind the image
        for _ in range(4):
            texels = memory.copy()
            image, out = texels[:61], texels[start : start + 61]
            want = filter(image.copy(), **options)
            assert filter(image, **options, out=out) is out
            np.testing.assert_array_equal(out, want)


def test_a_result_is_made_where_it_is_to_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    image = np.random.default_rng(5).random((256, 300), np.float32)
    out = np.empty_like(image)
    for _ in range(2):
        filters.unsharp_mask(image, radius=2, out=out)
    monkeypatch.setattr(whole, "_same", None)  # what would copy it
    want = filters.unsharp_mask(image, radius=2)
    out[...] = 0
    filters.unsharp_mask(image, radius=2, out=out)
    np.testing.assert_array_equal(out, want)
    two = np.empty((2, 2), np.float32)
    with pytest.raises(AttributeError):
        filters.unsharp_mask(image, radius=2, out=two)


@pytest.mark.parametrize("rounds", [1, 2, 3, 8, 60])
@pytest.mark.parametrize("eps", [2e-3, 1e-5])
def test_rounds_made_together_end_where_rounds_one_by_one_do(
    rounds: int, eps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "LARGE", 0)
    noise = np.random.default_rng(6).random((61, 83), np.float32)
    for image in (noise, np.zeros_like(noise), np.float32(np.indices((61, 83)).sum(0) % 17) / 17):
        options = {"eps": eps, "max_num_iter": rounds}
        monkeypatch.setattr(denoise, "LARGE", 0)
        have = filters.denoise_tv_chambolle(image, **options)
        monkeypatch.setattr(denoise, "LARGE", 1 << 60)
        want = filters.denoise_tv_chambolle(image, **options)
        np.testing.assert_array_equal(have, want)
