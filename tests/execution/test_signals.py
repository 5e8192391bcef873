"""Signals: functions of one coordinate, on every target what they are in plain Python."""

import copy
import pickle

import numpy as np
import pytest
import scipy.ndimage

import pygpu
from pygpu import CompileError, Float, Image, Int, Position, Signal, offsets

MODES = {
    "nearest": "nearest",
    "reflect": "reflect",
    "mirror": "mirror",
    "wrap": "grid-wrap",
    "constant": "constant",
}
DTYPES = ("uint8", "uint16", "float16", "float32", "float64", "int8", "int16", "int32", "bool")


def in_python(f, *signals, count=None, **values):
    """The function at every position, in CPython."""
    count = len(signals[0]) if count is None else count
    rows = [f(*signals, pygpu.Position(i), **values) for i in range(count)]
    return np.array([np.asarray(list(row) if np.ndim(row) else row) for row in rows])


def samples(count, dtype="float32", channels=1):
    shape = count if channels == 1 else (count, channels)
    values = np.random.default_rng(count).random(shape)
    if dtype == "bool":
        return values > 0.5
    return (values * (100 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


def around(x: Signal, p: Position):
    return x(p - 2) + 2 * x(p - 1) + 4 * x(p) + 8 * x(p + 1) + 16 * x(p + 3)


def coordinates(x: Signal, p: Position):
    return x(p.x) * p.x + p, x.width, x.shape[0]


def between(x: Signal, p: Position):
    return x(p * 0.75 - 1.125)


def from_the_end(x: Signal, p: Position):
    return x(x.width - 1 - p)


def far(x: Signal, p: Position, step: Int):
    return x((p * step) % x.width)


def over_a_loop(x: Signal, p: Position, n: Int):
    total = 0.0
    for k in range(n):
        total += x(p - k) * (k + 1)
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 33, 100])
@pytest.mark.parametrize("boundary", MODES)
def test_boundaries_are_those_of_scipy(target, boundary, count):
    kernel = np.array([1.0, -2.0, 3.0, 0.5, 0.25])

    def correlate(x: Signal, p: Position):
        return sum([w * x(p + d) for w, d in zip(kernel, offsets(kernel, dims=1), strict=True)])

    x = samples(count)
    given = Signal(x, boundary=boundary, cval=0.75)
    expected = scipy.ndimage.correlate1d(x.astype(float), kernel, mode=MODES[boundary], cval=0.75)
    result = pygpu.compile(correlate, target=target)(given)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("boundary", MODES)
@pytest.mark.parametrize("f", [around, coordinates, between, from_the_end])
def test_targets_give_what_python_gives(target, f, boundary):
    for interpolation in ("nearest", "linear"):
        for channels in (1, 3):
            x = Signal(
                samples(23, channels=channels),
                boundary=boundary,
                cval=0.5,
                interpolation=interpolation,
            )
            results = pygpu.compile(f, target=target)(x)
            for index, result in enumerate(results if isinstance(results, tuple) else (results,)):

                def one(x, p, index=index):
                    value = f(x, p)
                    return value[index] if isinstance(value, tuple) else value

                expected = in_python(one, x)
                np.testing.assert_allclose(np.asarray(result), expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_every_dtype_is_read_and_given_back(target, dtype, channels):
    x = samples(13, dtype, channels)
    same = pygpu.compile(lambda x=Signal, p=Position: x(p), target=target)
    signal = Signal(x)
    assert signal.shape == x.shape
    assert np.array_equal(np.asarray(signal), x.astype(signal.dtype))
    result = same(signal, dtype=signal.storage.dtype)
    assert isinstance(result, Signal)
    assert result.shape == x.shape
    assert np.array_equal(np.asarray(result), x.astype(signal.storage.dtype))


def test_far_reads_of_100000_elements_work_everywhere(target):
    x = samples(100_003)
    result = pygpu.compile(far, target=target)(x, 7919)
    places = np.arange(len(x), dtype=np.int64) * 7919
    places = (places + 2**31) % 2**32 - 2**31
    assert np.array_equal(result, x[places % len(x)])


def test_long_signals_are_filtered_everywhere(target):
    if target == "interpreter":
        pytest.skip("slow there")
    x = samples(70_001)
    result = pygpu.compile(around, target=target)(Signal(x, boundary="wrap"))
    expected = sum(
        w * np.roll(x.astype(float), -d) for w, d in ((1, -2), (2, -1), (4, 0), (8, 1), (16, 3))
    )
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)


def test_device_loops_over_offsets(target):
    x = samples(40)
    result = pygpu.compile(over_a_loop, target=target)(Signal(x, boundary="constant"), 5)
    expected = np.convolve(x, [1, 2, 3, 4, 5])[:40]
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)


def test_signals_are_tables_of_functions_of_images(target):
    def look_up(im: Image, curve: Signal, p: Position):
        return curve(255 * im(p))

    photo = np.random.default_rng(1).integers(0, 256, (9, 11), np.uint8)
    curve = Signal(np.sqrt(np.arange(256, dtype=np.float32)), interpolation="linear")
    result = pygpu.compile(look_up, target=target)(photo, curve)
    np.testing.assert_allclose(result, np.sqrt(photo.astype(float)), rtol=1e-4)


def test_signals_are_made_of_images_and_of_nothing(target):
    def row_sums(im: Image, p: Position):
        total = 0.0
        for x in range(im.width):
            total += im((x, p))
        return total

    photo = np.random.default_rng(2).random((6, 9)).astype(np.float32)
    result = pygpu.compile(row_sums, target=target)(photo, shape=(6,))
    np.testing.assert_allclose(result, photo.sum(1), rtol=1e-5)
    ramp = pygpu.compile(lambda p=Position, gain=Float: gain * p, target=target)
    assert isinstance(ramp(2.0, shape=(5,)), Signal)
    assert np.array_equal(ramp(2.0, shape=(5,)), [0, 2, 4, 6, 8])
    assert np.array_equal(ramp(2.0, out=np.empty(4, np.float32)), [0, 2, 4, 6])


def test_what_comes_back_is_what_went_in(target):
    smooth = pygpu.compile(lambda x=Signal, p=Position: (x(p - 1) + x(p + 1)) / 2, target=target)
    x = samples(12)
    assert isinstance(smooth(x), np.ndarray)
    assert smooth(x).shape == (12,)
    assert smooth(list(x)).shape == (12,)
    kept = smooth(Signal(x, boundary="wrap", interpolation="linear"))
    assert (kept.boundary, kept.interpolation, kept.shape) == ("wrap", "linear", (12,))
    out = np.empty(12, np.float64)
    assert smooth(x, out=out) is out
    assert np.array_equal(out, smooth(x))
    with pytest.raises(ValueError, match=r"shape \(12,\), got \(13,\)"):
        smooth(x, out=np.empty(13, np.float32))
    overlapping = x.copy()
    assert np.array_equal(smooth(overlapping, out=overlapping), smooth(x))


def test_rounds_keep_the_boundary(target):
    def step(x: Signal, p: Position):
        return (x(p - 1) + x(p + 1)) / 2

    x = samples(9)
    compiled = pygpu.compile(step, target=target)
    expected = x.astype(float)
    for _ in range(4):
        expected = (np.roll(expected, 1) + np.roll(expected, -1)) / 2
    result = compiled.iterate(Signal(x, boundary="wrap"), 4)
    assert isinstance(result, Signal)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)
    assert np.array_equal(compiled.iterate(x, 0), x)
    out = np.empty(9, np.float32)
    assert compiled.iterate(x, 0, out=out) is out
    assert np.array_equal(out, x)


def test_operators_and_numpys_functions():
    x, y = samples(50), samples(50) + 1
    a, b = Signal(x, boundary="wrap"), Signal(y)
    for result, expected in (
        (a + b, x + y),
        (a * 2 - y, x * 2 - y),
        (y / a, y / x),
        (np.sqrt(a), np.sqrt(x)),
        (a > 0.5, x > 0.5),
        (-a, -x),
        (a.clip(0.2, 0.6), x.clip(0.2, 0.6)),
    ):
        assert isinstance(result, Signal)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)
    assert (a + b).boundary == "wrap"
    stereo = samples(50, channels=2)
    assert np.array_equal(Signal(stereo) * [1, 2], stereo * np.float32([1, 2]))
    assert np.array_equal(Signal(stereo) + stereo, stereo + stereo)
    with pytest.raises(ValueError, match=r"different sizes: 50, 49"):
        a + samples(49)
    with pytest.raises(ValueError, match=r"different sizes"):
        a + Image(np.zeros((1, 50), np.float32))


def test_sums_and_folds(target):
    x = samples(1000, "uint8")
    a = Signal(x)
    assert a.sum() == pytest.approx(x.sum() / 255)
    assert a.max() == pytest.approx(x.max() / 255)
    assert a.min() == pytest.approx(x.min() / 255)
    assert a.mean() == pytest.approx(x.mean() / 255)
    stereo = Signal(samples(1000, channels=2))
    np.testing.assert_allclose(stereo.sum(axis=0), np.asarray(stereo).sum(0), rtol=1e-6)
    y = samples(1000, "int32")
    assert pygpu.reduce(np.add, Signal(y), target=target) == y.sum()
    assert pygpu.reduce(np.maximum, Signal(y), map=lambda v: -v, target=target) == (-y).max()
    weighted = pygpu.reduce(np.add, Signal(y), map=lambda v, p: v * p, target=target)
    assert weighted == (y.astype(np.int64) * np.arange(1000)).sum()
    both = pygpu.reduce(
        lambda a, b: (a[0] + b[0], max(a[1], b[1])),
        Signal(y),
        map=lambda v, p: (v, p.x),
        target=target,
    )
    assert both == (y.sum(), 999)


def test_vectorized_functions_take_signals():
    f = pygpu.vectorize(lambda a, x, y: a * x + y)
    x, y = Signal(samples(20)), Signal(samples(20))
    result = f(2.0, x, y)
    assert isinstance(result, Signal)
    assert result.shape == (20,)
    np.testing.assert_allclose(result, 2 * np.asarray(x) + np.asarray(y), rtol=1e-6)


def test_parts_by_indices():
    x = samples(30)
    a = Signal(x, boundary="wrap")
    assert isinstance(a[3:9], Signal)
    assert np.array_equal(a[3:9], x[3:9])
    assert a[3:9].boundary == "wrap"
    assert np.array_equal(a[::-2], x[::-2])
    assert a[4] == x[4]
    assert a[-1] == x[-1]
    stereo = samples(30, channels=2)
    assert np.array_equal(Signal(stereo)[5:9, 1], stereo[5:9, 1])
    made = a + 1  # on the device of `auto`, whichever that is
    assert np.array_equal(made[10:20:3], np.asarray(made)[10:20:3])
    with pytest.raises(ValueError, match=r"empty crop .* of a signal of 30"):
        a[5:5]


def test_looking_at_signals():
    a = Signal(samples(6), boundary="wrap")
    assert repr(a) == "Signal(shape=(6,), dtype=float32, boundary='wrap', device='host')"
    assert (len(a), a.width, a.ndim, a.size, a.channels, a.dims) == (6, 6, 1, 6, 1, 1)
    assert a._repr_png_().startswith(b"\x89PNG")
    for odd in (np.full(4, np.nan, np.float32), np.zeros(1), samples(5000, channels=4)):
        assert Signal(odd)._repr_html_().startswith("<img")
    again = pickle.loads(pickle.dumps(a))
    assert isinstance(again, Signal)
    assert np.array_equal(again, a)
    assert again.boundary == "wrap"
    assert copy.copy(a) is a
    smooth = pygpu.compile(around)
    assert repr(smooth) == "<compiled around(x: signal, p: position), target 'auto'>"
    assert "load x[x - 2, y] wrap" in str(smooth.lower(a).ssa)


def test_signals_in_plain_python():
    x = samples(8)
    a = Signal(x, boundary="mirror", interpolation="linear")
    p = Position(3)
    assert p == 3
    assert p.x == 3
    assert (p + 1).x == 4
    assert repr(p) == "Position(3)"
    assert a(p) == a(3) == a((3,)) == x[3]
    assert a(-1) == x[1]
    assert a(2.5) == pytest.approx((x[2] + x[3]) / 2)
    f = pygpu.compile(lambda x=Signal, p=Position: x(p) + p.x)
    assert f(a, Position(2)) == x[2] + 2
    with pytest.raises(TypeError, match=r"a signal takes a position x, got"):
        a((1, 2))


def test_signals_in_objects_and_globals(target):
    class Bank:
        def __init__(self, curve):
            self.curve = curve

    def apply(bank: Bank, x: Signal, p: Position):
        return x(p) * bank.curve(p) + table(p + 1)

    x = samples(10)
    table = Signal(samples(10, "int32"))
    result = pygpu.compile(apply, target=target)(Bank(Signal(x + 1)), x)
    expected = x * (x + 1) + np.append(np.asarray(table)[1:], np.asarray(table)[-1])
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_dimensions_are_kept_apart():
    """Equal texels and readings, of one coordinate and of two: two programs."""

    class Holder:
        def __init__(self, field):
            self.field = field

    def width(holder: Holder, p: Position):
        return holder.field.width + len(holder.field.shape)

    f = pygpu.compile(width)
    x = samples(6)
    assert f(Holder(Signal(x)), shape=(2, 2)).numpy().max() == 7
    assert f(Holder(Image(x.reshape(1, 6))), shape=(2, 2)).numpy().max() == 8


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((3, 100)), ValueError, "has 100 channels; a signal is .*annotated Image"),
        (np.zeros((3, 3, 3)), ValueError, "has 3 axes; a signal is an array"),
        (np.zeros(0), ValueError, "is empty; a signal is an array"),
        (np.array(["a"]), TypeError, "holds no texels"),
        (5.0, TypeError, "a signal is an array"),
        (Image(np.zeros((3, 3))), TypeError, "x: takes a Signal .*, got a pygpu.Image"),
    ],
)
def test_wrong_arguments_are_named(value, error, message):
    f = pygpu.compile(around)
    with pytest.raises(error, match=message):
        f(value)


def test_wrong_functions_are_refused():
    def with_two(x: Signal, p: Position):
        return x((p, p))

    with pytest.raises(CompileError, match=r"the signal 'x' takes a position, as signal\(p\)"):
        pygpu.compile(with_two)(samples(4))

    def with_height(x: Signal, p: Position):
        return x.height

    with pytest.raises(
        CompileError, match=r"the signal 'x' has no attribute 'height'.*width, shape"
    ):
        pygpu.compile(with_height)(samples(4))

    def subscripted(x: Signal, p: Position):
        return x[p]

    with pytest.raises(CompileError, match=r"a signal is called with a position"):
        pygpu.compile(subscripted)(samples(4))
    with pytest.raises(TypeError, match=r"Image of a pygpu.Signal"):
        Image(Signal(samples(4)))
    with pytest.raises(TypeError, match=r"takes an Image .*, got a pygpu.Signal"):
        pygpu.compile(lambda im=Image, p=Position: im(p))(Signal(samples(4)))


def test_scans_give_signals_back():
    x = samples(30)
    total = pygpu.scan(np.add, Signal(x))
    assert isinstance(total, Signal)
    np.testing.assert_allclose(total, np.cumsum(x), rtol=1e-5)
    volume = np.random.default_rng(0).random((2, 3, 4), np.float32)
    np.testing.assert_array_equal(pygpu.sort(pygpu.Volume(volume), axis=0), np.sort(volume, 0))


@pytest.mark.parametrize("boundary", MODES)
def test_rows_longer_than_a_texture_are_those_of_cpu(target, boundary):
    """Near, at an offset known when it runs, far, by place; two results; of a signal and a row."""
    if target in ("interpreter", "cpu"):
        pytest.skip("what is compared with, or slow")

    def mixed(x: Signal, y: Signal, p: Position, k: Int):
        near = x(p - 3) + 2 * x(p + 1) + y(p + min(max(k, 0), 2))
        return near + x((p * 7919) % x.width) + 0.001 * (p % 100), x(p) > y(p + 2)

    x, y = samples(40_013), samples(40_013) + 0.25
    given = [Signal(each, boundary=boundary, cval=0.5) for each in (x, y)]
    results = pygpu.compile(mixed, target=target)(*given, 1)
    expected = pygpu.compile(mixed, target="cpu")(*given, 1)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-5)
    row = pygpu.compile(lambda im=Image, p=Position: im(p + (2, 0)) - im(p - (1, 0)), target=target)
    wide = Image(x[None], boundary=boundary, cval=0.5)
    out = np.empty((1, 40_013), np.float32)
    assert row(wide, out=out) is out
    expected = row.on("cpu")(wide)
    np.testing.assert_allclose(out, np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_signals_and_volumes_are_told_apart_from_images(target):
    def rank(x, p):
        if isinstance(x, Signal):
            return 1 if hasattr(p, "x") and str(p) == f"{p.x}" else -1
        return 3 if type(x) is pygpu.Volume and hasattr(x, "depth") else -2

    numbers = np.arange(12, dtype=np.float32)

    @pygpu.compile(target=target)
    def of_signal(x: Signal, p: Position):
        return rank(x, p) + 10 * isinstance(x, Image)

    @pygpu.compile(target=target)
    def of_volume(x: pygpu.Volume, p: Position):
        return rank(x, p) + 10 * isinstance(x, (Image, Signal))

    assert np.all(of_signal(numbers) == 1)
    assert np.all(of_volume(numbers.reshape(2, 2, 3)) == 3)
    assert of_signal.__wrapped__(Signal(numbers), Position(3)) == 1
