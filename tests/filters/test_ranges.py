"""Numbers beyond what filters take are refused by name, and what is at the ends is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pygpu import filters

GREY = np.float32(np.random.default_rng(0).random((32, 40)))
NAN, INF = float("nan"), float("inf")
BLUR = np.ones((3, 3)) / 9


@pytest.mark.parametrize(
    ("name", "given", "values"),
    [
        ("equalize_adapthist", "kernel_size", [0, -1, 1.5, 10**9, (4, 0), (3, 3, 3), NAN, "8"]),
        ("equalize_adapthist", "clip_limit", [-0.1, NAN]),
        ("canny", "low_threshold", [NAN, 0.5]),
        ("canny", "high_threshold", [NAN, 0.05]),
        ("hog", "orientations", [0, -1, 2.5, NAN]),
        ("hog", "pixels_per_cell", [(0, 8), (8, -1), (1.5, 8), 8, (8, 8, 8), (100, 8)]),
        ("hog", "cells_per_block", [(0, 0), (3, -1), "22", (30, 30)]),
        ("label", "connectivity", [0, 3, 1.5]),
        ("guided", "radius", [-1, 1.5, 10**9]),
        ("guided", "eps", [0, -1, NAN]),
        ("denoise_tv_chambolle", "max_num_iter", [0, -1]),
        ("denoise_nl_means", "patch_size", [1, 0, INF, 2**40, NAN]),
        ("denoise_nl_means", "patch_distance", [-1, INF, 2**40, NAN]),
        ("denoise_nl_means", "sigma", [-1, NAN]),
        ("denoise_bilateral", "sigma_spatial", [0, INF, NAN]),
        ("pyramid_reduce", "downscale", [1, INF, NAN, "2"]),
        ("pyramid_expand", "upscale", [1, INF, NAN]),
        ("resize", "mode", ["mirror", [], 3]),
        ("median", "size", [0, True, 2.5, (1, 2, 3), [[1, 2], [3]]]),
        ("median", "footprint", [[[1, 2], [3]]]),
        ("dilation", "footprint", [[[1, 2], [3]]]),
        ("dilation", "cval", [[[1, 2], [3]]]),
        ("gaussian", "out", [[]]),
        ("equalize_hist", "nbins", [0, True, 2.5, 2**17]),
        ("distance_transform_edt", "sampling", [0, -1, INF, NAN]),
    ],
)
def test_numbers_outside_are_refused_by_name(name: str, given: str, values: list[Any]) -> None:
    function = getattr(filters, name)
    for value in values:
        with pytest.raises(ValueError, match=given.split("_")[0]):
            function(
                GREY, **({"output_shape": (8, 8)} if name == "resize" else {}), **{given: value}
            )


@pytest.mark.parametrize(
    ("given", "values"), [("num_iter", [-1, 1.5, NAN]), ("filter_epsilon", [NAN])]
)
def test_rounds_of_a_deconvolution_are_counted(given: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ValueError, match=given):
            filters.richardson_lucy(GREY, BLUR, **{given: value})
    assert np.all(filters.richardson_lucy(GREY, BLUR, num_iter=0) == 0.5)


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("canny", "use_quantiles", {}),
        ("resize", "clip", {"output_shape": (8, 8)}),
        ("resize", "anti_aliasing", {"output_shape": (8, 8)}),
        ("rescale", "clip", {"scale": 0.5}),
        ("unsharp_mask", "preserve_range", {}),
    ],
)
def test_what_is_true_or_false_takes_nothing_else(
    name: str, given: str, options: dict[str, Any]
) -> None:
    function = getattr(filters, name)
    for value in ("no", [], NAN, 2):
        with pytest.raises(TypeError, match=f"{given}: takes True or False, got"):
            function(GREY, **options, **{given: value})
    for value in (True, np.False_, 1):
        function(GREY, **options, **{given: value})


def test_colours_that_are_never_alike_stay() -> None:
    for result in (
        filters.denoise_bilateral(GREY, sigma_color=1e-30, mode="edge"),
        filters.denoise_nl_means(GREY, h=1e-30, patch_distance=2),
    ):
        np.testing.assert_allclose(result, GREY, rtol=1e-6)


def test_a_background_is_a_number() -> None:
    mask = GREY > 0.5
    for value in ("0", [0], np.zeros(2)):
        with pytest.raises(TypeError, match="background takes a number"):
            filters.label(mask, background=value)
    assert np.array_equal(filters.label(mask, background=None), filters.label(mask))


def test_an_offset_is_a_number() -> None:
    for value in ([], "", {}):
        with pytest.raises(TypeError, match="offset"):
            filters.threshold_local(GREY, offset=value)
    plain = filters.threshold_local(GREY)
    for value in (0, 0.0, np.float32(0)):
        np.testing.assert_allclose(filters.threshold_local(GREY, offset=value), plain, rtol=1e-6)


def test_no_limit_of_contrast() -> None:
    unlimited = filters.equalize_adapthist(GREY, clip_limit=0)
    for limit in (1, 2.0, INF):
        assert np.array_equal(filters.equalize_adapthist(GREY, clip_limit=limit), unlimited)
    assert filters.equalize_adapthist(GREY, kernel_size=64).shape == GREY.shape
