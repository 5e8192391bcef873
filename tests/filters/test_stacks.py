"""Ready filters over stacks of frames, and what they measure of PIL images."""

import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import PIL.Image
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pygpu
from pygpu import Image, Volume, filters

BYTES = np.stack([pygpu.data.astronaut()[k : k + 41, 200:253] for k in (60, 100, 300)])
GREY = np.float32(BYTES[..., 1] / 255)
THREE = np.ones((3, 3))
MAPPED = {
    "gaussian": (BYTES, (2,), {}),
    "resize": (BYTES, ((29, 70),), {}),
    "rescale": (GREY, (0.4,), {"order": 0}),
    "unsharp_mask": (BYTES, (2,), {"dtype": np.uint8}),
    "equalize_adapthist": (GREY, (), {}),
    "opening": (BYTES, (THREE,), {}),
    "canny": (GREY, (), {"sigma": 1.5}),
    "threshold_otsu": (GREY, (), {}),
    "rgb2lab": (BYTES, (), {}),
    "hog": (GREY, (), {}),
}


@pytest.mark.parametrize("name", MAPPED)
def test_each_frame_of_a_stack_is_a_call(name):
    stack, args, options = MAPPED[name]
    function = getattr(filters, name)
    expected = np.stack([function(frame, *args, **options) for frame in stack])
    assert_allclose(function.map(stack, *args, **options), expected, atol=1e-6)
    volume = function.map(Volume(stack), *args, **options)
    assert_allclose(np.asarray(volume), expected, atol=1e-2 if "dtype" in options else 1e-5)
    frames = function.map(iter(stack), *args, **options)
    assert inspect.isgenerator(frames)
    assert_allclose(np.stack(list(frames)), expected, atol=1e-6)


def test_a_stack_may_have_several_axes_and_a_place_for_its_results():
    stack = np.stack([BYTES, BYTES[::-1]])
    expected = np.stack([filters.opening.map(each, THREE, dtype=np.uint8) for each in stack])
    out = np.empty_like(stack)
    assert filters.opening.map(stack, THREE, out=out) is out
    assert_array_equal(out, expected)
    assert_array_equal(filters.opening.map(stack, THREE, dtype=np.uint8), expected)


def test_several_results_and_layers_are_stacks_each():
    regions, counts = filters.label.map(GREY > 0.5, return_num=True)
    assert regions.shape == GREY.shape
    assert_array_equal(counts, regions.max(axis=(1, 2)))
    layers = list(filters.pyramid_gaussian.map(BYTES, 2))
    expected = [filters.pyramid_gaussian(frame, 2) for frame in BYTES]
    for layer, each in zip(layers, zip(*expected, strict=True), strict=True):
        assert_array_equal(layer, np.stack(each))


def test_a_dask_stack_gives_one():
    array = pytest.importorskip("dask.array")
    lazy = filters.canny.map(array.from_array(GREY, chunks=(1, 41, 53)), sigma=1.5)
    assert isinstance(lazy, array.Array)
    assert_array_equal(lazy.compute(), filters.canny.map(GREY, sigma=1.5))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.canny.map(GREY[0]), r"canny: takes a stack of frames.*\(41, 53\), which"),
        (lambda: filters.canny.map(Image(GREY[0])), "canny: takes a stack of frames, got a pygpu"),
        (lambda: filters.canny.map("film.mp4"), r"canny: got 'film\.mp4' of type str"),
        (lambda: filters.canny.map(GREY[:0]), r"canny\.map: a stack without frames"),
        (lambda: filters.canny.map(GREY, sgma=1), r"canny\(\) got an unexpected keyword argument"),
        (lambda: filters.canny.map(BYTES), "canny takes an image of 1 channel, got 3"),
        (lambda: filters.canny.map(iter(GREY), out=GREY), "frames that come one by one"),
    ],
)
def test_what_is_no_stack_is_refused(call, words):
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        call()
    assert len(caught.traceback) == 2  # no frame of ours


def test_what_is_measured_of_a_pil_image_is_not_cut_off_at_8_bits():
    values = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    picture = PIL.Image.fromarray(values)
    for function in (filters.label, lambda image: filters.local_binary_pattern(image, 12, 2)):
        result = function(picture)
        assert result.mode == "I"
        assert_array_equal(np.asarray(result), function(values))
        assert function(values).max() > 255
    for function in (filters.distance_transform_edt, filters.corner_harris):
        result = function(picture)
        assert result.mode == "F"
        assert_allclose(np.asarray(result), function(values))
    assert filters.distance_transform_edt(picture, dtype=np.uint8).mode == "L"


def test_pipelines_are_mapped_over_stacks():
    @pygpu.pipeline
    def sharper(im, amount=2.0):
        return {"edges": amount * (im - filters.gaussian(im, sigma=1)), "both": [im.max(), im[2:]]}

    film = np.stack([GREY, GREY[:, ::-1]])
    stack, stored = sharper.map(film, amount=3.0), sharper.map(np.uint8(255 * film))
    assert stack["both"][0].shape == film.shape[:2]
    assert stored["both"][1].dtype == np.uint8
    for place in np.ndindex(2, 3):
        one = sharper(film[place], 3.0)
        assert_array_equal(stack["edges"][place], one["edges"])
        assert_array_equal(stack["both"][1][place], one["both"][1])
    assert [each["edges"].shape for each in sharper.map(iter(GREY))] == [GREY.shape[1:]] * 3
    da = pytest.importorskip("dask.array")
    lazy = sharper.map(da.from_array(film, chunks=20), amount=3.0)
    assert_allclose(lazy["edges"].compute(), stack["edges"], atol=1e-6)
    louder = pygpu.pipeline(lambda line: 2 * line)
    louder.__wrapped__.__annotations__["line"] = pygpu.Signal
    assert pygpu.pipeline(louder.__wrapped__).map(GREY[0]).shape == GREY[0].shape
    with pytest.raises(ValueError, match="sharper: takes a stack of frames"):
        sharper.map(GREY[0])


def test_all_filters_and_their_maps_travel_by_name():
    for name in filters.__all__:
        function = getattr(filters, name)
        for value in (function, getattr(function, "map", function)):
            again = pickle.loads(pickle.dumps(value))
            assert again is value or again == value, value


def test_a_mapped_filter_computes_in_another_process():
    film = np.stack([GREY, GREY[:, ::-1]])
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(filters.canny.map, film, sigma=1.5).result()
    assert_array_equal(found, filters.canny.map(film, sigma=1.5))
