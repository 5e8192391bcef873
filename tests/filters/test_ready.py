"""Every ready function on every target: the same to float32's accuracy, on odd sizes."""

import inspect
from typing import Any

import numpy as np
import PIL.Image
import pytest
import skimage
from numpy.typing import NDArray

import pygpu
from pygpu import filters

LIBRARIES = ["filters", "feature", "morphology", "exposure", "color", "transform", "restoration"]
BYTES = pygpu.data.astronaut()[60:101, 200:253]  # 41 x 53
PHOTO = BYTES / np.float32(255)
GREY = np.ascontiguousarray(PHOTO[..., 1])
BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16
READY = {
    "resize": lambda: filters.resize(PHOTO, (29, 70)),
    "resize cubic": lambda: filters.resize(GREY, (60, 31), order=3),
    "rescale": lambda: filters.rescale(BYTES, 0.4),
    "rotate": lambda: filters.rotate(PHOTO, 20, resize=True),
    "pyramid": lambda: list(filters.pyramid_laplacian(GREY, 2))[1],
    "equalize_hist": lambda: filters.equalize_hist(BYTES),
    "equalize_hist of floats": lambda: filters.equalize_hist(GREY, 50),
    "equalize_adapthist": lambda: filters.equalize_adapthist(PHOTO),
    "match_histograms": lambda: filters.match_histograms(BYTES, BYTES[::-2] // 2),
    "match_histograms of floats": lambda: filters.match_histograms(GREY, PHOTO[..., 0] ** 2),
    "threshold_local": lambda: filters.threshold_local(GREY, 9, "mean"),
    "opening": lambda: filters.opening(PHOTO, np.ones((3, 5))),
    "closing of bools": lambda: filters.closing(GREY > 0.5),
    "label": lambda: filters.label(GREY > 0.5),
    "distance_transform_edt": lambda: filters.distance_transform_edt(GREY > 0.3),
    "percentile_filter": lambda: filters.percentile_filter(PHOTO, percentile=30),
    "rank.mean": lambda: filters.rank.mean(BYTES, np.ones((3, 3))),
    "rank.equalize": lambda: filters.rank.equalize(GREY, np.ones((3, 3))),
    "denoise_bilateral": lambda: filters.denoise_bilateral(PHOTO, sigma_color=0.1),
    "denoise_nl_means": lambda: filters.denoise_nl_means(GREY, 3, 3, h=0.2),
    "denoise_tv_chambolle": lambda: filters.denoise_tv_chambolle(PHOTO, max_num_iter=5),
    "guided": lambda: filters.guided(PHOTO, GREY, radius=3),
    "unsharp_mask": lambda: filters.unsharp_mask(PHOTO, 2),
    "richardson_lucy": lambda: filters.richardson_lucy(GREY, BLUR, 3),
    "demosaic": lambda: filters.demosaic(GREY),
    "canny": lambda: filters.canny(GREY),
    "corner_harris": lambda: filters.corner_harris(GREY),
    "local_binary_pattern": lambda: filters.local_binary_pattern(GREY, 8, 2),
    "hog": lambda: filters.hog(PHOTO),
    "value_noise": lambda: filters.value_noise(shape=(33, 45), scale=7.0, octaves=2),
    "simplex_noise": lambda: filters.simplex_noise(shape=(33, 45), scale=7.0),
    "worley_noise": lambda: filters.worley_noise(shape=(33, 45), scale=7.0),
    "rgb2luv": lambda: filters.rgb2luv(PHOTO),
    "rgb2hed": lambda: filters.rgb2hed(PHOTO),
}


@pytest.fixture(scope="module")
def expected() -> dict[str, NDArray]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYGPU_TARGET", "cpu")
        return {name: np.asarray(call()) for name, call in READY.items()}


@pytest.mark.parametrize("name", READY)
def test_targets_agree(target, name, expected, monkeypatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", target)
    actual, wanted = np.asarray(READY[name]()), expected[name]
    assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
    error = np.abs(actual.astype(float) - wanted.astype(float))
    off = error > 1e-4 * max(1.0, float(np.abs(wanted).max()))
    assert off.mean() < 0.005  # where a value lies within rounding of a decision


@pytest.mark.parametrize(
    "function",
    [
        filters.canny,
        filters.corner_harris,
        filters.distance_transform_edt,
        filters.equalize_hist,
        filters.label,
        filters.opening,
        lambda picture: filters.inpaint_biharmonic(picture, np.eye(33, 45, dtype=bool)),
        lambda picture: filters.local_binary_pattern(picture, 8, 2),
        lambda picture: filters.match_histograms(picture, BYTES[..., 0]),
        lambda picture: filters.resize(picture, (20, 20), order=3),
    ],
)
@pytest.mark.usefixtures("on_cpu")
def test_results_say_what_the_picture_said(function) -> None:
    """Those of filters that put texels together on the host, too."""
    picture = PIL.Image.fromarray(BYTES[:33, :45, 0].copy())
    picture.info.update(icc_profile=b"profile", dpi=(72, 72))
    told = {"icc_profile": b"profile", "dpi": (72, 72)}
    assert function(picture).info == told
    assert function(pygpu.Image(picture)).info == told


def test_defaults_are_those_of_the_libraries() -> None:
    """What a call leaves out means what it means there; `size=3` is for SciPy's required one."""
    libraries = [getattr(skimage, name) for name in LIBRARIES]
    found = {}
    for name in dir(filters):
        theirs = next((getattr(m, name) for m in libraries if hasattr(m, name)), None)
        if theirs is None or not callable(getattr(filters, name)):
            continue
        ours = inspect.signature(getattr(filters, name)).parameters
        for key, other in inspect.signature(theirs).parameters.items():
            if key in ours and ours[key].default != other.default:
                found[f"{name}, {key}"] = (ours[key].default, other.default)
    assert found == {
        "label, connectivity": (2, None),  # None is 2 there, too
        "threshold_otsu, image": (inspect.Parameter.empty, None),  # or `hist`
    }


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype(">f8")])
@pytest.mark.parametrize("name", ["erosion", "unsharp_mask", "gaussian", "opening", "canny"])
def test_doubles_are_given_where_they_are_asked_for(name: str, dtype: Any) -> None:
    grey = np.asarray(filters.rgb2gray(PHOTO))
    for source in (grey, (255 * grey).astype(np.uint8)):
        made = getattr(filters, name)(source, dtype=dtype)
        assert made.dtype == np.float64
        np.testing.assert_allclose(made, getattr(filters, name)(source, dtype="float32"), atol=1e-6)
