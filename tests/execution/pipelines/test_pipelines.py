"""Pipelines give what the same calls give one by one, and compile nothing twice."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from PIL import Image as PILImage

import pygpu
from pygpu import Float, Image, Int, Position, Signal, Vec3
from pygpu.execution.pipeline import Pipeline

RNG = np.random.default_rng(5)
GREY = RNG.random((17, 23)).astype(np.float32)
PHOTO = RNG.integers(0, 256, (17, 23, 3), dtype=np.uint8)
BOUNDARIES = ("nearest", "reflect", "mirror", "wrap", "constant")


@pygpu.compile
def luma(im: Image, p: Position):
    return pygpu.dot(im(p), Vec3(0.3, 0.6, 0.1))


@pygpu.compile
def gradient(im: Image, p: Position):
    return im(p + (1, 0)) - im(p - (1, 0)), im(p + (0, 1)) - im(p - (0, 1))


@pygpu.compile
def products(a: Image, b: Image, p: Position):
    return a(p) * a(p), a(p) * b(p), b(p) * b(p)


@pygpu.compile
def box(im: Image, p: Position):
    return sum(im(p + (dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)) / 9


@pygpu.compile
def scaled(im: Image, p: Position, gain: Float = 2.0):
    return gain * im(p)


@pygpu.compile
def response(a: Image, b: Image, c: Image, p: Position, k: Float = 0.04):
    return a(p) * c(p) - b(p) * b(p) - k * (a(p) + c(p)) ** 2


def corners(im: Any, k: float = 0.04) -> Any:
    xx, xy, yy = map(box, products(*gradient(luma(im))))
    r = response(xx, xy, yy, k)
    return r > 0.01 * r.max()


@pytest.fixture(autouse=True)
def here(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to PyGPU runs on the target, in pipelines and out of them."""
    monkeypatch.setenv("PYGPU_TARGET", target)


def check(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Pipeline:
    """A pipeline of a function gives what the function gives."""
    want = function(*args, **kwargs)
    piped = pygpu.pipeline(function)
    have = piped(*args, **kwargs)
    want, have = (each if isinstance(each, tuple) else (each,) for each in (want, have))
    assert len(want) == len(have)
    for each, other in zip(want, have, strict=True):
        a, b = np.asarray(each), np.asarray(other)
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return piped


def test_corners_are_those_of_the_calls_one_by_one() -> None:
    piped = check(corners, Image(PHOTO), k=0.05)
    lowered = piped.lower(Image(PHOTO))
    assert lowered.stats["steps"] > lowered.stats["stages"]
    assert "luma (test_pipelines.py:" in str(lowered)


def test_results_of_one_call_of_which_some_are_kept_whole() -> None:
    @pygpu.compile
    def parts(im: Image, p: Position):
        return im(p + (1, 0)) - im(p), im(p + (0, 2)) + p.x

    @pygpu.compile
    def second(a: Image, b: Image, p: Position):  # of `b` it needs other pixels
        return a(p) + b(p + (1, 1))

    def both(im):
        first, other = parts(im)
        return second(first, other)

    check(both, Image(GREY))


def test_what_comes_back_is_what_went_in() -> None:
    @pygpu.pipeline
    def brighter(im, gain=0.5):
        return scaled(scaled(im, gain), 3.0), im.width

    array, width = brighter(GREY)
    assert isinstance(array, np.ndarray)
    assert width == 23
    np.testing.assert_allclose(array, 1.5 * GREY, rtol=1e-6)
    assert isinstance(brighter(Image(GREY))[0], Image)
    picture, _ = brighter(PILImage.fromarray(PHOTO), gain=0.1)
    assert isinstance(picture, PILImage.Image)
    want = scaled(scaled(Image(PHOTO), 0.1), 3.0).to_pil()
    assert np.abs(np.asarray(picture, int) - np.asarray(want, int)).max() <= 1


def test_arrays_are_what_annotations_say() -> None:
    @pygpu.compile
    def lowpass(x: pygpu.Signal, p: Position):
        return (x(p) + x(p - 1)) / 2

    @pygpu.compile
    def between(v: pygpu.Volume, p: Position):
        return (v(p) + v(p + (0, 0, 1))) / 2

    @pygpu.pipeline
    def sound(x: pygpu.Signal):
        return lowpass(lowpass(x)) * 2

    @pygpu.pipeline
    def stack(*volumes: pygpu.Volume):
        return tuple(between(between(each)) + 1 for each in volumes)

    signal, volume = RNG.random(40).astype(np.float32), RNG.random((3, 4, 5)).astype(np.float32)
    want = lowpass(lowpass(signal)) * 2
    assert isinstance(sound(signal), np.ndarray)
    assert isinstance(sound(pygpu.Signal(signal)), pygpu.Signal)
    np.testing.assert_allclose(sound(signal), want, rtol=1e-6)
    (found,) = stack(volume)
    np.testing.assert_allclose(found, between(between(volume)) + 1, rtol=1e-6)


def test_second_call_compiles_nothing(caplog: pytest.LogCaptureFixture) -> None:
    piped = check(corners, Image(PHOTO))
    caplog.set_level("INFO", "pygpu")
    piped(Image(PHOTO), 0.1)
    assert not [r for r in caplog.records if "compiled" in r.message or "stages" in r.message]


def test_values_that_are_asked_for_are_computed_then() -> None:
    def stretched(im):
        low, high = im.min(), im.max()
        if high > 2:
            return im
        total = float(np.asarray(scaled(im, 1.0)).sum())
        return (im - low) / (high - low) + 0 * total, total

    check(stretched, Image(GREY))


def test_functions_that_ask_for_the_pipelines_target_are_put_together(target: str) -> None:
    here, grey = pygpu.compile(box.__wrapped__, target=target), Image(GREY)
    for piped in (
        pygpu.pipeline(lambda im: here(box(im))),
        pygpu.pipeline(lambda im: box(here(im))),
    ):
        assert piped.lower(grey).stats["steps"] == 2
    other = "cpu" if target == "interpreter" else "interpreter"
    elsewhere = pygpu.compile(box.__wrapped__, target=other)
    mixed = pygpu.pipeline(lambda im: elsewhere(box(im)))
    assert mixed.lower(grey).stats["steps"] == 1
    np.testing.assert_allclose(mixed(GREY), box(box(GREY)), atol=1e-6)


def test_images_that_are_kept_are_there_later() -> None:
    kept: list[Image] = []

    def function(im):
        between = scaled(im, 3.0)
        kept.append(between)
        return scaled(between, 2.0)

    pygpu.pipeline(function)(Image(GREY))
    gc.collect()
    np.testing.assert_allclose(np.asarray(kept[0]), 3 * GREY, rtol=1e-6)


def test_images_between_may_be_given_to_another_pipeline() -> None:
    inner = pygpu.pipeline(lambda im: scaled(box(im), 2.0))

    def outer(im):
        return box(inner(im))

    check(outer, Image(GREY))
    first = pygpu.pipeline(lambda im: scaled(im, 2.0))(Image(GREY))
    np.testing.assert_allclose(np.asarray(inner(first)), np.asarray(inner(scaled(Image(GREY)))))


def test_rounds_sizes_crops_and_operators() -> None:
    @pygpu.compile
    def sized(im: Image, p: Position):
        return im(p) + im.width + 100 * im.height

    @pygpu.compile
    def halved(im: Image, p: Position):
        return im(p * 2)

    def function(im):
        spread = box.iterate(im, 5)
        small = halved(spread, shape=(8, 11))
        return sized(small + 1) - small, -spread[2:9, 3:12], (spread > 0.5) & (im < 0.7)

    check(function, Image(GREY))


def test_results_that_are_given_or_made_twice() -> None:
    def function(im):
        twice = scaled(im)
        return im, twice, twice, scaled(twice)

    check(function, Image(GREY))


def test_dtypes_that_are_asked_for_between() -> None:
    def function(im):
        return scaled(scaled(im, 0.3, dtype=np.uint8), 2.0)

    check(function, Image(GREY))


def test_position_and_loops_within_steps() -> None:
    @pygpu.compile
    def wave(im: Image, p: Position, n: Int = 3):
        total = im(p) * 0
        for k in range(n):
            total += im(p + (k, 0)) * p.x
        return total

    check(lambda im: box(wave(scaled(im), 4)), Image(GREY))


def test_arrays_to_fill_are_filled() -> None:
    out = np.zeros_like(GREY)

    @pygpu.pipeline
    def function(im):
        scaled(scaled(im), out=out)
        return im

    function(Image(GREY))
    np.testing.assert_allclose(out, 4 * GREY, rtol=1e-6)


def test_methods_and_threads() -> None:
    class Filter:
        gain = 3.0

        @pygpu.pipeline
        def apply(self, im):
            return scaled(scaled(im, self.gain), 2.0)

    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(Filter().apply(GREY))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found:
        np.testing.assert_allclose(each, 6 * GREY, rtol=1e-6)


def test_errors_are_those_of_the_users_line() -> None:
    @pygpu.pipeline
    def function(im):
        return scaled(im, gain="much")

    with pytest.raises(TypeError, match="gain: takes a float"):
        function(GREY)
    np.testing.assert_allclose(pygpu.pipeline(lambda im: scaled(im))(GREY), 2 * GREY)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a function over images, got 3"):
        pygpu.pipeline(3)
    with pytest.raises(ValueError, match="target='gpu': takes"):
        pygpu.pipeline(lambda im: im, target="gpu")


@pygpu.compile
def shifted(im: Image, p: Position, gain: Float = 0.5):
    return gain * im(p + (2, -1)) - im(p - (0, 3))


@pygpu.compile
def mixed(a: Image, b: Image, p: Position):
    return a(p) * 0.5 + b(p + (1, 1)) * 0.25


@pygpu.compile
def squared(im: Image, p: Position):
    return im(p) ** 2 + 0.125


@pygpu.compile
def placed(im: Image, p: Position):
    return im(p) + 0.01 * p.x - 0.02 * p.y


@pygpu.compile
def pair(im: Image, p: Position):
    return im(p) + 1, im(p + (1, 0)) * 0.5


STEPS = ("shifted", "mixed", "squared", "placed", "pair", "box", "operator", "boundary", "crop")


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 99)), min_size=2, max_size=9))
@settings(max_examples=12, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
def test_random_pipelines(steps: list[tuple[str, int]]) -> None:
    def function(im):
        images = [im]
        for name, number in steps:
            one, other = images[number % len(images)], images[number // 7 % len(images)]
            if name == "operator":
                images.append(one * 0.5 + other if one.shape == other.shape else one - 0.25)
            elif name == "boundary":
                images.append(one.sampled(boundary=BOUNDARIES[number % 5]))
            elif name == "crop":
                images.append(one[1:] if one.height > 4 else one)
            elif name == "mixed":
                images.append(mixed(one, other))
            elif name == "pair":
                images += pair(one)
            else:
                images.append(globals()[name](one))
        return tuple(images[-3:])

    check(function, Image(GREY))


def test_functions_of_one_image_are_called_for_each_of_a_tuple(target: str) -> None:
    @pygpu.compile(target=target)
    def blurred(im: Image, p: Position):
        return (im(p - (1, 0)) + im(p) + im(p + (1, 0))) / 3

    @pygpu.compile(target=target)
    def products(im: Image, p: Position):
        return im(p), im(p) ** 2, im(p) * p.x

    @pygpu.compile(target=target)
    def mixed(a: Image, b: Image, p: Position, share: pygpu.Float = 0.5):
        return share * a(p) + (1 - share) * b(p)

    @pygpu.pipeline(target=target)
    def chain(im):
        one, two, three = blurred(products(im))
        return mixed((one, two), three, share=0.25)

    image = np.random.default_rng(3).random((9, 11), np.float32)
    one, two, three = [blurred(each) for each in products(image)]
    for found in (chain(image), mixed((one, two), b=three, share=0.25)):
        assert isinstance(found, tuple)
        np.testing.assert_allclose(found[0], 0.25 * one + 0.75 * three, rtol=1e-5)
        np.testing.assert_allclose(found[1], 0.25 * two + 0.75 * three, rtol=1e-5)
    outs = np.empty_like(image), np.empty_like(image)
    assert blurred((image, 2 * image), out=outs)[1] is outs[1]
    np.testing.assert_array_equal(outs[1], blurred(2 * image))
    np.testing.assert_array_equal(blurred(((1, 2), (3, 4))), blurred(np.array([[1, 2], [3, 4]])))
    with pytest.raises(ValueError, match="a has 2, b has 3"):
        mixed((one, two), (one, two, three))
    with pytest.raises(TypeError, match="out: takes a tuple of 2"):
        blurred((one, two), out=outs[0])


def test_lower_says_which_images_are_extended() -> None:
    piped = pygpu.pipeline(lambda a, b: scaled(products(a, b)[1]) + 1)
    few = Image(GREY[:3, :4], boundary="wrap")
    assert all(not stage.extended for stage in piped.lower(Image(GREY), Image(GREY)).stages)
    lowered = piped.lower(Image(GREY), few)
    said = "b (4 x 3) is extended by wrap in products"
    assert [each for stage in lowered.stages for each in stage.extended] == [said]
    assert said in str(lowered)
    assert said in lowered._repr_html_()


def test_programs_put_together_are_printed_where_the_environment_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYGPU_DUMP", "ssa,source")
    piped = pygpu.pipeline(lambda a: scaled(box(a)) * 3)
    piped(Image(GREY))
    shown = capsys.readouterr().out
    assert "# put together\nfunction box_scaled" in shown
    assert piped.lower(Image(GREY)).stages[0].source in shown


@pygpu.compile
def tinted(im: Image, p: Position, colour: Vec3):
    return im(p) * colour


@pygpu.compile
def weighted(im: Image, s: Signal, p: Position):
    return im(p) * s(p.x)


@pygpu.compile
def doubled(s: Signal, p: Position):
    return 2 * s(p)


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
def test_numbers_of_numpy_are_numbers(number: Any) -> None:
    scaled = pygpu.pipeline(lambda im, factor: luma(im) * factor)
    for _ in range(3):
        np.testing.assert_array_equal(scaled(PHOTO, number), 2 * luma(PHOTO))


@pytest.mark.parametrize("form", [lambda c: Vec3(*c), np.array, tuple, list])
def test_vectors_and_tables_are_given_as_they_are(form: Any) -> None:
    made = pygpu.pipeline(lambda im, colour: tinted(im, colour))
    for colour in ((1.0, 2.0, 3.0), (3.0, 2.0, 0.5)):
        np.testing.assert_array_equal(made(PHOTO, form(colour)), tinted(PHOTO, colour))


def test_signals_need_no_annotation() -> None:
    table = RNG.random(23).astype(np.float32)
    weigh = pygpu.pipeline(lambda im, t: weighted(im, t))
    twice = pygpu.pipeline(lambda t: doubled(doubled(t)))
    for values in (table, 1 - table, table + 1):
        np.testing.assert_array_equal(weigh(GREY, values), weighted(GREY, values))
        np.testing.assert_array_equal(twice(values), 4 * values)


def test_wrong_calls_name_the_function_and_what_it_takes() -> None:
    @pygpu.pipeline
    def scaled(im, factor):
        return im * factor

    with pytest.raises(TypeError, match=r"scaled\(im, factor\): missing .* 'im'"):
        scaled()
    with pytest.raises(TypeError, match=r"scaled\(im, factor\): too many"):
        scaled(GREY, 2, 3)
    with pytest.raises(TypeError, match=r"'dtype'; dtype= is an option of the functions that"):
        scaled(GREY, 2, dtype=np.uint8)
    np.testing.assert_array_equal(scaled(GREY, 2), 2 * GREY)
