"""Filters of Dask arrays: nothing is computed before it is asked for, and then it is what the
filter gives for the whole image; or the filter is refused by its name, with the way out."""

import types
from collections.abc import Callable
from typing import Any, Final

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pygpu import filters
from pygpu.filters import denoise, rank

RANDOM: Final = np.random.default_rng(5)
GREY: Final = RANDOM.random((37, 45), np.float32)
BYTES: Final = RANDOM.integers(0, 256, GREY.shape, np.uint8)
RGB: Final = RANDOM.integers(0, 256, (*GREY.shape, 3), np.uint8)
MASK: Final = GREY > 0.4
CHUNKS: Final = [(16, 20), ((0, 30, 1, 6), (2, 43))]
FOOTPRINT: Final = np.ones((3, 5))

_Case = Callable[[Any], Any]  # of an image
OF_COLOURS: Final = [name for name in filters.__all__ if "2" in name and name != "gray2rgb"]
OF_TWO: Final = [name for name in filters.BLENDS if name != "normal"]  # it gives the second
PLAIN: Final = (
    "black_tophat canny closing corner_harris demosaic denoise_bilateral dilation "
    "distance_transform_edt equalize_adapthist equalize_hist erosion farid farid_h farid_v "
    "gaussian gray2rgb guided label laplace linear_to_srgb maximum_filter median minimum_filter "
    "opening percentile_filter prewitt prewitt_h prewitt_v pyramid_expand pyramid_gaussian "
    "pyramid_laplacian pyramid_reduce rank_filter roberts roberts_neg_diag roberts_pos_diag scharr "
    "scharr_h scharr_v sobel sobel_h sobel_v srgb_to_linear threshold_local threshold_otsu "
    "uniform_filter unsharp_mask white_tophat"
).split()
OTHERS: Final = (
    "BLENDS normal offsets blend over keep_alpha convolve correlate bicubic bilinear lanczos "
    "simplex_noise value_noise worley_noise"  # of pixels, and of no image
).split()
CASES: Final[dict[str, tuple[_Case, Any]]] = {
    **{name: (getattr(filters, name), GREY) for name in PLAIN},
    **{name: (getattr(filters, name), RGB) for name in OF_COLOURS},
    **{f"rank.{f.__name__}": (lambda im, f=f: f(im, FOOTPRINT), GREY) for f in (
        rank.mean, rank.minimum, rank.maximum, rank.gradient, rank.autolevel,
        rank.enhance_contrast, rank.threshold, rank.equalize)},
    **{name: (lambda im, name=name: getattr(filters, name)(im, GREY), GREY) for name in OF_TWO},
    "canny of smooth": (lambda im: filters.canny(im, 2, 0.05, 0.08), GREY),
    "canny, mask": (lambda im: filters.canny(im, mask=MASK, mode="nearest"), BYTES),
    "denoise_bilateral of colours": (lambda im: filters.denoise_bilateral(im, mode="wrap"), RGB),
    "denoise_bilateral of one value": (filters.denoise_bilateral, np.full_like(GREY, 0.3)),
    "denoise_nl_means": (lambda im: filters.denoise_nl_means(im, 3, 3, 0.3), GREY),
    "denoise_tv_chambolle": (lambda im: filters.denoise_tv_chambolle(im, 0.3, 5e-3, 9), GREY),
    "denoise_tv_chambolle, rounds": (lambda im: filters.denoise_tv_chambolle(im, 0.3, 0, 3), BYTES),
    "denoise_tv_chambolle of doubles": (
        lambda im: filters.denoise_tv_chambolle(im, 0.3, 0, 3), RGB / 255),
    "distance_transform_edt, sampling": (
        lambda im: filters.distance_transform_edt(im, (2, 1)), MASK),
    "equalize_adapthist of bytes": (lambda im: filters.equalize_adapthist(im, (7, 11)), BYTES),
    "equalize_adapthist of colours": (lambda im: filters.equalize_adapthist(im, 50), RGB),
    "equalize_adapthist of one value": (filters.equalize_adapthist, np.full_like(GREY, 0.3)),
    "equalize_hist of bytes": (filters.equalize_hist, BYTES),
    "equalize_hist of colours": (filters.equalize_hist, RGB / np.float32(255)),
    "pyramid_gaussian of bytes": (filters.pyramid_gaussian, BYTES),
    "gaussian of doubles": (lambda im: filters.gaussian(im, sigma=(0, 3)), GREY.astype(float)),
    "guided by another": (lambda im: filters.guided(im, GREY[::-1].copy(), 2), RGB),
    "label of ints": (lambda im: filters.label(im, connectivity=1), (3 * GREY).astype(np.int32)),
    "label of bools": (lambda im: filters.label(im, return_num=True), MASK),
    "local_binary_pattern": (lambda im: filters.local_binary_pattern(im, 8, 1.5), BYTES),
    "match_histograms": (lambda im: filters.match_histograms(im, BYTES // 2), BYTES),
    "match_histograms of colours": (lambda im: filters.match_histograms(im, RGB[..., ::-1]), RGB),
    "opening of bytes": (
        lambda im: filters.opening(im, FOOTPRINT, mode="constant", cval=0.5), BYTES),
    "dilation, ignore": (lambda im: filters.dilation(im, FOOTPRINT, mode="ignore"), MASK),
    "resize": (lambda im: filters.resize(im, (21, 63), 3, mode="edge"), GREY),
    "resize, wrap": (lambda im: filters.resize(im, (50, 30), 3, mode="wrap", clip=False), GREY),
    "resize of bytes": (lambda im: filters.resize(im, (90, 91), mode="constant", cval=0.5), RGB),
    "resize of ints": (
        lambda im: filters.resize(im, (50, 30), 3), (900 * GREY).astype(np.int64)),
    "resize of bools": (lambda im: filters.resize(im, (20, 20)), MASK),
    "rescale": (lambda im: filters.rescale(im, 0.4), GREY),
    "richardson_lucy": (lambda im: filters.richardson_lucy(im, FOOTPRINT / 15, 3), GREY),
    "threshold_local, median": (lambda im: filters.threshold_local(im, 3, "median", 0.1), BYTES),
    "threshold_otsu of bytes": (filters.threshold_otsu, BYTES),
    "threshold_otsu of one value": (filters.threshold_otsu, np.full_like(GREY, 0.3)),
    "unsharp_mask below 0": (lambda im: filters.unsharp_mask(im, 2), GREY - 0.5),
}  # fmt: skip
REFUSED: Final[dict[str, tuple[_Case, str]]] = {
    "hog": (filters.hog, "windows"),
    "inpaint_biharmonic": (lambda im: filters.inpaint_biharmonic(im, MASK), "around a hole"),
    "match_histograms": (lambda im: filters.match_histograms(im, GREY), "uint8 and uint16"),
    "threshold_otsu of ints": (
        lambda im: filters.threshold_otsu(im.astype(np.int16)), r"\.astype"),
    "equalize_hist of ints": (lambda im: filters.equalize_hist(im.astype(int)), r"\.astype"),
    "rotate": (lambda im: filters.rotate(im, 30), r"\.rechunk\(-1\)"),
    "warp": (lambda im: filters.warp(im, np.eye(3)), r"\.rechunk\(-1\)"),
    "canny": (lambda im: filters.canny(im, use_quantiles=True), "without use_quantiles"),
    "equalize_hist": (lambda im: filters.equalize_hist(im, mask=MASK), "Leave the mask out"),
}  # fmt: skip


def nobody(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("computed before it was asked for")


def listed(result: Any) -> list[Any]:
    several = isinstance(result, (tuple, types.GeneratorType))
    return list(result) if several else [result]


def test_all_filters_are_tried() -> None:
    tried = {name.split(" ")[0].split(",")[0] for name in [*CASES, *REFUSED, *OTHERS]}
    assert set(filters.__all__) <= tried


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_filters_of_dask_arrays_are_those_of_the_whole(name: str, chunks: Any) -> None:
    function, image = CASES[name]
    lazy = da.from_array(image, chunks=(*chunks, *image.shape[2:]))
    with dask.config.set(scheduler=nobody):
        made = listed(function(lazy))
    assert all(isinstance(each, da.Array) for each in made)
    for one, whole in zip(made, listed(function(image)), strict=True):
        found = one.compute(scheduler="synchronous")
        expected = np.asarray(whole)
        assert one.shape == found.shape == expected.shape
        assert expected.ndim == 0 or one.dtype == found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        else:
            assert_array_equal(found, expected)


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_rounds_of_large_arrays_end_where_those_of_one_task_do(
    chunks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(denoise, "ONE_TASK", 0)
    test_filters_of_dask_arrays_are_those_of_the_whole("denoise_tv_chambolle", chunks)


def test_rounds_of_a_small_array_are_one_task() -> None:
    lazy = da.from_array(GREY, chunks=10)
    made = filters.denoise_tv_chambolle(lazy)  # of 200 rounds, and any of them may be the last
    assert made.chunks == lazy.chunks
    assert len(made.__dask_graph__()) < 6 * lazy.npartitions
    assert_array_equal(made.compute(), filters.denoise_tv_chambolle(GREY))


@pytest.mark.parametrize(
    "name",
    "threshold_otsu equalize_hist equalize_adapthist unsharp_mask denoise_bilateral label".split(),
)
def test_chunks_are_made_once(name: str) -> None:
    asked = []

    def made() -> Any:
        asked.append(1)
        return GREY[:12, :11]

    told = {"dtype": GREY.dtype, "meta": GREY[:0, :0]}
    lazy = da.map_blocks(made, chunks=((12,) * 3, (11,) * 4), **told)
    getattr(filters, name)(lazy).compute(scheduler="synchronous")
    assert len(asked) == 12


@pytest.mark.parametrize("name", REFUSED)
def test_filters_that_need_all_at_one_place_are_refused(name: str) -> None:
    function, instead = REFUSED[name]
    with dask.config.set(scheduler=nobody), pytest.raises(TypeError, match=instead) as error:
        function(da.from_array(GREY, chunks=20))
    assert str(error.value).startswith(f"{name.split()[0]}: takes no such Dask array")


@pytest.mark.parametrize(
    "name", ["label", "distance_transform_edt", "equalize_adapthist", "denoise_tv_chambolle"]
)
def test_empty_chunks_along_both_axes_are_left_out(name: str) -> None:
    lazy = da.from_array(GREY[:1, :9], chunks=((0, 0, 1), (0, 3, 6)))
    found = getattr(filters, name)(lazy).compute(scheduler="synchronous")
    assert_allclose(found, getattr(filters, name)(GREY[:1, :9]), atol=1e-5)


def test_a_row_with_empty_chunks_is_resized() -> None:
    lazy = da.from_array(GREY[:1], chunks=((0, 1, 0), (45,)))
    made = filters.resize(lazy, (1, 9), 3, mode="edge")  # Dask's np.pad takes no empty chunks
    assert_allclose(made.compute(), filters.resize(GREY[:1], (1, 9), 3, mode="edge"), atol=1e-5)


def test_far_reading_filters_take_one_piece() -> None:
    lazy = da.from_array(GREY, chunks=-1)
    for function in (lambda im: filters.rotate(im, 30), lambda im: filters.warp(im, np.eye(3))):
        assert_array_equal(function(lazy).compute(), function(GREY))


def test_results_have_the_dtype_asked_for_and_no_out() -> None:
    lazy = da.from_array(BYTES, chunks=20)
    made = filters.opening(lazy, dtype="uint8")
    assert made.dtype == np.uint8
    assert_array_equal(made.compute(), filters.opening(BYTES, dtype="uint8"))
    assert_array_equal(filters.gaussian(lazy, dtype="uint16").compute(),
                       filters.gaussian(BYTES, dtype="uint16"))  # fmt: skip
    for function in (filters.opening, filters.gaussian):
        with pytest.raises(TypeError, match="to_zarr or store"):
            function(lazy, out=np.empty(BYTES.shape, np.uint8))


def test_masks_and_guides_may_be_lazy_alone() -> None:
    lazy = da.from_array(MASK, chunks=20)
    found = filters.canny(GREY, mask=lazy)
    assert isinstance(found, da.Array)
    assert_array_equal(found.compute(), filters.canny(GREY, mask=MASK))
    found = filters.guided(GREY, da.from_array(GREY[::-1], chunks=16), 3)
    assert_allclose(found.compute(), filters.guided(GREY, GREY[::-1], 3), atol=1e-6)


def test_empty_and_misshapen_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match=r"opening: a Dask array of shape \(0, 5\) is empty"):
        filters.opening(da.zeros((0, 5)))
    with pytest.raises(ValueError, match=r"opening: a Dask array of shape \(5,\)"):
        filters.opening(da.zeros(5))
    with pytest.raises(TypeError, match="opening: a Dask array of complex128"):
        filters.opening(da.zeros((5, 5), dtype=complex))
