"""Numbers that pipelines fold images to stay on the device until somebody asks for their value."""

import copy
import math
import operator
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Bool, Float, Image, Int, Position, Vec3
from pygpu.core.storage import NumberLike
from pygpu.devices.opengl.driver.context import Context

RNG = np.random.default_rng(7)
GREY = RNG.random((37, 53)).astype(np.float32)
BYTES = RNG.integers(3, 250, (37, 53), dtype=np.uint8)
PHOTO = RNG.integers(0, 256, (17, 23, 3), dtype=np.uint8)
COUNTS = RNG.integers(-90, 900, (37, 53), dtype=np.int32)
GPUS = ("fragment", "compute")


@pytest.fixture(autouse=True)
def here(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to PyGPU runs on the target, in pipelines and out of them."""
    monkeypatch.setenv("PYGPU_TARGET", target)


@pygpu.compile
def scaled(im: Image, p: Position, gain: Float = 2.0):
    return gain * im(p)


@pygpu.compile
def tinted(im: Image, p: Position, gains: Vec3):
    return gains * im(p)


@pygpu.compile
def step(im: Image, p: Position):
    return abs(im(p + (1, 0)) - im(p))


@pygpu.compile
def shifted(im: Image, p: Position, by: Int):
    return im(p) + by, im(p + (by % 5, 0))


@contextmanager
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes were read from the device each time that this was done."""
    found: list[int] = []
    with monkeypatch.context() as patch:
        for name, place in (("download", 1), ("read", 3)):

            def counted(self: Any, *args: Any, real: Any, place: int) -> Any:
                found.append(args[place].nbytes)
                return real(self, *args)

            real = getattr(Context, name)
            patch.setattr(
                Context,
                name,
                lambda self, *args, real=real, place=place: counted(
                    self, *args, real=real, place=place
                ),
            )
        yield found


def near(have: Any, want: Any, rtol: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=rtol, atol=1e-5)


def levels(im: Any) -> Any:
    low, high = im.min(), im.max()
    return (im - low) / (high - low)


def normal(im: Any) -> Any:
    return scaled(im - im.mean(), 1 / im.std())


def edges(im: Any) -> Any:
    found = step(im)
    return found > 0.5 * found.max()


def share(im: Any) -> Any:
    return scaled(im, (im > 0.5).sum() / (im.width * im.height))


def balanced(im: Any) -> Any:
    mean = im.mean(axis=(0, 1)) + 1e-6
    return tinted(im, mean.max() / mean) - mean * im.std(axis=(0, 1))


@pytest.mark.parametrize("image", [PHOTO, PHOTO[..., :2]], ids=["photo", "pairs"])
@pytest.mark.parametrize("name", ["min", "max", "sum", "mean", "std", "any", "all"])
def test_channels_are_folded_apart(
    name: str, image: Any, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @pygpu.pipeline
    def fold(im):
        return im, getattr(im, name)(axis=(0, 1))

    given = Image(image)
    fold(given)
    with reads(monkeypatch) as found:
        have = fold(given)[1]
    assert found == []
    want = getattr(given, name)(axis=(0, 1))
    assert isinstance(have, NumberLike) == (target in GPUS)
    assert have.shape == want.shape
    near(have, want)
    near(list(have), want)
    assert len(have) == len(want)
    near(have[-1], want[-1])
    near(pickle.loads(pickle.dumps(have)), want)
    for fewer in ("sum", "mean", "max", "min"):
        near(getattr(have * 2.0, fewer)(), getattr(want * 2.0, fewer)())


def test_channels_fold_beside_other_images() -> None:
    wide = RNG.random((17, 3)).astype(np.float32)

    @pygpu.pipeline
    def fold(im, wide):
        means = im.mean(axis=(0, 1))
        return wide * means, im * means * np.arange(3), scaled(im, means.sum())

    means = np.asarray(Image(PHOTO).mean(axis=(0, 1)))
    one, two, three = fold(Image(PHOTO), Image(wide))
    near(one, wide * means)
    near(two, PHOTO / np.float32(255) * means * np.arange(3))
    near(three, PHOTO / np.float32(255) * means.sum())


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max"])
def test_functions_of_numpy_fold_numbers(name: str) -> None:
    """They ask an object's method, with an axis and an array to fill."""
    function, filled = getattr(np, name), np.empty(())

    @pygpu.pipeline
    def folded(im):
        each = im.max(axis=(0, 1))
        found.append((function(each), function(each, axis=0), function(im.max())))
        function(each, out=filled)
        return im

    found: list[Any] = []
    folded(PHOTO)
    each = PHOTO.max(axis=(0, 1)) / np.float32(255)
    expected = function(each), function(each), each.max()
    np.testing.assert_allclose([float(value) for value in found[0]], expected, rtol=1e-6)
    np.testing.assert_allclose(filled, function(each), rtol=1e-6)


def test_several_numbers_are_no_single_one() -> None:
    @pygpu.pipeline
    def wrong(im):
        return scaled(im, im.max(axis=(0, 1)))

    with pytest.raises(TypeError, match="gain: takes a float, got"):
        wrong(Image(PHOTO))


@pytest.mark.parametrize("function", [levels, normal, edges, share])
@pytest.mark.parametrize("image", [GREY, BYTES, PHOTO], ids=["grey", "bytes", "photo"])
def test_pipelines_wait_for_no_number(
    function: Callable[[Any], Any], image: Any, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Image(image)
    want = function(given)
    piped = pygpu.pipeline(function)
    piped(given)
    with reads(monkeypatch) as found:
        have = piped(given)
    assert found == []
    assert (have.shape, have.dtype) == (want.shape, want.dtype)
    near(have, want)


def test_pipelines_wait_for_no_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = pygpu.pipeline(balanced)
    near(piped(Image(PHOTO)), balanced(Image(PHOTO)))
    with reads(monkeypatch) as found:
        piped(Image(PHOTO))
    assert found == []


def test_it_is_counted_where_a_number_is_read(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @pygpu.pipeline
    def halved(im):
        high = im.max()
        return scaled(im, 0.5) if high > 0.5 else im

    with reads(monkeypatch) as found:
        halved(Image(GREY))
    assert len(found) == (target in GPUS)
    assert sum(found) <= 16


OPERATORS = [
    lambda a, b: a + 2,
    lambda a, b: 2.5 - a,
    lambda a, b: a * b,
    lambda a, b: b / a,
    lambda a, b: a // 0.25,
    lambda a, b: 7 % a,
    lambda a, b: a**2,
    lambda a, b: 2**a,
    lambda a, b: divmod(a, 0.3)[0] + divmod(a, 0.3)[1],
    lambda a, b: -a + abs(-b) + (+a),
    lambda a, b: np.sqrt(a) + np.float32(2) * b,
    lambda a, b: np.maximum(a, b) + np.arctan2(a, 3),
    lambda a, b: (a < b) | (a == b),
    lambda a, b: (a >= 0.5) & (b != 2) ^ (a <= b),
]


@pytest.mark.parametrize("place", range(len(OPERATORS)))
def test_arithmetic_is_the_devices(
    place: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = OPERATORS[place]
    kept: list[Any] = []

    @pygpu.pipeline
    def fold(im):
        kept.append(function(im.max(), im.sum()))
        return im

    with reads(monkeypatch) as found:
        fold(Image(GREY))
    assert found == []
    (number,) = kept
    assert isinstance(number, NumberLike) == (target in GPUS)
    near(number, function(GREY.max(), GREY.sum(dtype=np.float64)))


def test_whoever_asks_for_the_value_gets_it() -> None:
    @pygpu.pipeline
    def fold(im, counts):
        return im, im.max(), counts.max(), (im > 2).any(), (im < 2).all(), im.std()

    _, high, count, some, every, spread = fold(Image(GREY), Image(COUNTS))
    assert float(high) == GREY.max()
    assert f"{high:.4f}" == f"{GREY.max():.4f}"
    assert repr(float(high)) in repr(high) or "float32" in repr(high)
    assert str(count) == str(COUNTS.max())
    assert int(count) == operator.index(count) == COUNTS.max()
    assert list(range(1000))[count] == COUNTS.max()
    assert round(high, 1) == round(float(GREY.max()), 1)
    assert math.floor(float(high)) == 0
    assert high == GREY.max()
    assert hash(count) == hash(int(COUNTS.max()))
    assert {int(COUNTS.max()): "found"}[count] == "found"
    assert not some
    assert every
    assert float(spread) == pytest.approx(GREY.std(), rel=1e-5)
    assert sorted([high, 0.5, 0.25])[0] == 0.25
    near(high * np.arange(3), GREY.max() * np.arange(3))
    near(np.arange(3) * high, GREY.max() * np.arange(3))
    near(np.add.reduce([high, high]), 2 * GREY.max())
    assert np.asarray(count).dtype.kind == "i"
    assert complex(high) == complex(GREY.max())
    near(Vec3(1, 2, 3) * high, np.arange(1, 4) * GREY.max())
    assert pickle.loads(pickle.dumps(high)) == GREY.max()
    assert copy.deepcopy(count) == COUNTS.max()
    assert np.clip(high, 0, 0.5) == 0.5
    assert min(high, 0.25) == 0.25


def test_numbers_come_back_as_images_do() -> None:
    @pygpu.pipeline
    def fold(im):
        return {"high": im.max()}, [im.sum()]

    high, (total,) = fold(GREY)
    assert isinstance(high["high"], (float, np.floating))
    assert high["high"] == GREY.max()
    assert total == pytest.approx(GREY.sum(dtype=np.float64), rel=1e-6)
    stays, _ = fold(Image(GREY))
    near(scaled(Image(GREY), stays["high"]), GREY.max() * GREY)
    near(Image(GREY) * stays["high"] - stays["high"], GREY.max() * GREY - GREY.max())


def test_folds_by_functions_give_numbers(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def both(a, b):
        return a[0] + b[0], max(a[1], b[1])

    def spread(im, weights):
        total, high = pygpu.reduce(both, im, map=lambda v: (v * v, v))
        weighted = pygpu.reduce(
            np.add, im, weights, map=lambda v, w, gain: gain * v * w, gain=im.max()
        )
        return scaled(im, total / high) + weighted

    given, weights = Image(GREY), Image(BYTES)
    want = spread(given, weights)
    piped = pygpu.pipeline(spread)
    piped(given, weights)
    with reads(monkeypatch) as found:
        have = piped(given, weights)
    assert found == []
    near(have, want)


def test_whole_numbers_are_exact() -> None:
    def count(im):
        return shifted(im, (im > 40).sum())

    near(pygpu.pipeline(count)(Image(COUNTS)), count(Image(COUNTS)), rtol=0)
    large = np.full((300, 300), 2**24 + 1, np.int32)
    total = pygpu.pipeline(lambda im: (im, im.sum()))(Image(large))[1]
    assert int(total) == 300 * 300 * (2**24 + 1)


@pytest.mark.parametrize("image", [GREY, PHOTO], ids=["grey", "photo"])
def test_numbers_are_taken_wherever_numbers_are(image: Any) -> None:
    class Lamp:
        def __init__(self, strength: Any) -> None:
            self.strength = strength

    @pygpu.compile
    def lit(im: Image, p: Position, lamp: Lamp, *more: Float, flag: Bool = False):
        return im(p) * lamp.strength + sum(more) + flag

    @pygpu.compile
    def blurred(im: Image, p: Position, tint: Vec3, radius=1):
        taps = [im(p + (d, 0)) for d in range(-radius, radius + 1)]
        return sum(taps) / len(taps) * tint.x

    lerp = pygpu.vectorize(lambda a, b, t: a + t * (b - a))

    def every(im, counts):
        high, count = im.max(), (counts > 890).sum()
        one = lit(im, Lamp(high), high / 2, count, flag=high > 2)
        two = blurred(one, (high, high, high), radius=2 if count >= 0 else 1)
        return lerp(one, two, high / 4), np.where(counts > count, high, 0.0)

    given = Image(image), Image(COUNTS)
    for have, want in zip(pygpu.pipeline(every)(*given), every(*given), strict=True):
        near(have, want)


def test_a_number_of_another_kind_is_refused() -> None:
    @pygpu.pipeline
    def wrong(im):
        return shifted(im, im.max())

    with pytest.raises(TypeError, match="by: takes an int, got"):
        wrong(Image(GREY))


def test_signals_and_volumes_are_folded_too() -> None:
    @pygpu.compile
    def louder(x: pygpu.Signal, p: Position, gain: Float):
        return x(p) * gain + x(p - 1)

    @pygpu.compile
    def denser(v: pygpu.Volume, p: Position, gain: Float):
        return v(p) * gain + v(p + (0, 0, 1))

    def sound(x: pygpu.Signal):
        return louder(x, 1 / x.max()) / x.sum()

    def body(v: pygpu.Volume):
        return denser(v, 1 / v.max())

    signal = RNG.random(5000).astype(np.float32)
    near(pygpu.pipeline(sound)(signal), sound(pygpu.Signal(signal)))
    volume = RNG.random((4, 9, 11)).astype(np.float32)
    near(pygpu.pipeline(body)(volume), body(pygpu.Volume(volume)))


def test_rounds_take_numbers() -> None:
    @pygpu.compile
    def round_of(im: Image, p: Position, rate: Float):
        return im(p) + rate * (im(p + (1, 0)) - im(p))

    def rounds(im):
        return round_of.iterate(im, 5, rate=0.5 * im.max())

    near(pygpu.pipeline(rounds)(Image(GREY)), rounds(Image(GREY)))


def test_thin_and_tiny_images() -> None:
    for shape in ((1, 1), (1, 4000), (4000, 1), (2, 1), (70000, 2)):
        image = RNG.random(shape).astype(np.float32) + 0.5
        near(pygpu.pipeline(levels)(Image(image * 2)), levels(Image(image * 2)))
        near(pygpu.pipeline(normal)(Image(image)), normal(Image(image)))


def test_checked_pipelines_read_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CHECK", "1")
    near(pygpu.pipeline(share)(Image(GREY)), share(Image(GREY)))


def test_numbers_written_by_one_target_serve_another() -> None:
    @pygpu.pipeline
    def fold(im):
        return im, im.max()

    _, high = fold(Image(GREY))
    for target in ("cpu", *GPUS):
        near(scaled.on(target)(GREY, high), GREY * GREY.max())
        checked = pygpu.compile(scaled.__wrapped__, target=target, check=True)
        near(checked(GREY, high), GREY * GREY.max())


def test_the_same_step_is_done_once() -> None:
    @pygpu.pipeline
    def twice(im):
        return scaled(step(im), 1 / im.max()) + scaled(step(im), 1 / im.max())

    near(twice(Image(GREY)), 2 * np.asarray(scaled(step(Image(GREY)), 1 / GREY.max())))
    names = [name for stage in twice.lower(Image(GREY)).stages for name in stage.steps]
    assert names.count("step") == names.count("scaled") == 1


def test_filters_read_what_they_must_know() -> None:
    def smooth(im):
        high = im.max()
        one = pygpu.filters.gaussian(im, sigma=high)
        two = pygpu.filters.gaussian(one, sigma=(high, 2 * high))
        return pygpu.filters.percentile_filter(two, percentile=50 * high)

    near(pygpu.pipeline(smooth)(Image(GREY)), smooth(Image(GREY)))


def test_rounds_end_by_numbers() -> None:
    @pygpu.compile
    def smoothed(im: Image, p: Position):
        return (im(p - (1, 0)) + im(p) + im(p + (1, 0))) / 3

    def rounds(im):
        return smoothed.iterate(im, 40, until=lambda u: u.max() < 0.8, every=3)

    near(pygpu.pipeline(rounds)(Image(GREY)), rounds(Image(GREY)))
