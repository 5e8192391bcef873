"""`f.map`: each frame of a stack gives what a call gives."""

import numpy as np
import PIL.Image
import pytest

import pygpu
from pygpu import Float, Image, Position, Signal, Volume


def blurred(im: Image, p: Position, gain: Float = 1.0):
    return gain * (im(p - (1, 0)) + 2 * im(p) + im(p + (1, 1)))


def film(*shape, dtype="float32"):
    values = np.random.default_rng(sum(shape)).random(shape)
    return (values * (200 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


@pytest.mark.parametrize("shape", [(5, 7, 9), (1, 8, 8), (3, 6, 7, 3), (4, 5, 6, 1), (17, 1, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_frames_are_calls(target, shape, dtype):
    stack = film(*shape, dtype=dtype)
    f = pygpu.compile(blurred, target=target)
    expected = np.stack([f(frame) for frame in stack])
    result = f.map(stack)
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float32
    assert np.array_equal(result, expected)
    doubled = f.map(stack, 2.0, dtype="float64")
    assert doubled.dtype == np.float64
    np.testing.assert_allclose(doubled, 2 * expected, rtol=1e-6)


def test_further_axes_and_no_frames(target):
    f = pygpu.compile(blurred, target=target)
    stack = film(2, 3, 5, 6, 3)
    result = f.map(stack)
    assert result.shape == stack.shape
    assert np.array_equal(result[1, 2], f(stack[1, 2]))
    assert f.map(film(2, 3, 5, 6)).shape == (2, 3, 5, 6)
    assert f.map(np.empty((0, 5, 6), np.float32)).shape == (0, 5, 6)


def test_several_stacks_and_what_does_not_vary(target):
    def mixed(a: Image, b: Image, table: Signal, p: Position, gain: Float):
        return gain * a(p + (1, 0)) + b(p) * table(p.x) + a((p.y, p.x))

    a, b = film(4, 6, 7), film(4, 6, 7) + 1
    table = film(7)
    f = pygpu.compile(mixed, target=target)
    both = f.map(a, b, table, 3.0)
    assert np.array_equal(both, np.stack([f(x, y, table, 3.0) for x, y in zip(a, b, strict=True)]))
    one = f.map(a, b[0], Signal(table), gain=3.0)
    assert np.array_equal(one, np.stack([f(x, b[0], table, 3.0) for x in a]))
    kept = f.map(a, Image(b[1], boundary="wrap"), table, 3.0)
    assert isinstance(kept, Volume)
    with pytest.raises(ValueError, match=r"stacks of different lengths: a \(4,\), b \(3,\)"):
        f.map(a, b[:3], table, 3.0)


def test_results_in_out_and_tuples(target):
    def split(im: Image, p: Position):
        return im(p) + 1, im(p + (1, 0)) > 0.5, im(p) * p

    stack = film(3, 5, 6)
    f = pygpu.compile(split, target=target)
    more, above, places = f.map(stack)
    assert np.array_equal(more, stack + 1)
    assert above.dtype == bool
    assert places.shape == (3, 5, 6, 2)
    g = pygpu.compile(blurred, target=target)
    out = np.empty((3, 5, 6), np.float32)
    assert g.map(stack, out=out) is out
    assert np.array_equal(out, g.map(stack))
    same = stack.copy()
    g.map(same, out=same)
    assert np.array_equal(same, out)
    bytes_ = np.empty((3, 5, 6), np.uint8)
    g.map(stack / 4, out=bytes_)
    np.testing.assert_allclose(bytes_ / 255, out / 4, atol=0.003)
    with pytest.raises(ValueError, match=r"shape \(3, 5, 6\), got \(5, 6\)"):
        g.map(stack, out=np.empty((5, 6), np.float32))
    wide = g.map(stack, shape=(4, 8))
    assert wide.shape == (3, 4, 8)
    assert np.array_equal(wide[2], g(stack[2], shape=(4, 8)))


def test_images_volumes_and_signals_are_stacks(target):
    stack = film(4, 6, 7)
    f = pygpu.compile(blurred, target=target)
    result = f.map(Volume(stack, boundary="wrap"))
    assert isinstance(result, Volume)
    assert result.boundary == "wrap"
    wrapped = np.stack([np.asarray(f(Image(frame, boundary="wrap"))) for frame in stack])
    assert np.array_equal(np.asarray(result), wrapped)

    smooth = pygpu.compile(lambda x=Signal, p=Position: x(p - 1) + x(p + 1), target=target)
    rows = film(5, 40)
    expected = np.stack([smooth(row) for row in rows])
    assert np.array_equal(smooth.map(rows), expected)
    assert smooth.map(film(2, 3, 40)).shape == (2, 3, 40)
    stereo = film(5, 40, 2)
    assert np.array_equal(smooth.map(stereo), np.stack([smooth(row) for row in stereo]))
    assert isinstance(smooth.map(Image(rows)), Image)
    assert np.array_equal(np.asarray(smooth.map(Image(rows))), expected)

    up = pygpu.compile(lambda v=Volume, p=Position: v(p + (0, 1, 1)) + p.z, target=target)
    for scans in (film(3, 4, 5, 6), film(3, 1, 5, 6)):
        assert np.array_equal(up.map(scans), np.stack([up(scan) for scan in scans]))


def test_iterables_give_generators(target):
    f = pygpu.compile(blurred, target=target)
    stack = film(4, 5, 6)
    asked = []

    def camera():
        for number, frame in enumerate(stack):
            asked.append(number)
            yield frame

    results = f.map(camera(), gain=2.0)
    assert asked == []
    assert np.array_equal(next(results), f(stack[0], 2.0))
    assert asked == [0]
    assert len(list(results)) == 3
    listed = f.map([Image(frame) for frame in stack])
    assert all(isinstance(each, Image) for each in listed)
    pictures = [PIL.Image.fromarray((frame * 255).astype(np.uint8)) for frame in stack]
    assert all(isinstance(each, PIL.Image.Image) for each in f.map(pictures))
    with pytest.raises(TypeError, match="out: of frames that come one by one"):
        f.map(camera(), out=stack)


def test_motion_between_frames(target):
    def motion(now: Image, before: Image, p: Position):
        return abs(now(p) - before(p))

    stack = film(5, 6, 7)
    f = pygpu.compile(motion, target=target)
    assert np.array_equal(f.map(stack[1:], stack[:-1]), np.abs(np.diff(stack, axis=0)))
    pairs = f.map(iter(stack[1:]), stack[:-1])
    assert np.array_equal(np.stack(list(pairs)), np.abs(np.diff(stack, axis=0)))


def test_checked_programs_name_the_frame(target):
    def careful(im: Image, p: Position):
        assert im(p) < 2, "too bright"
        return im(p)

    stack = film(4, 5, 6)
    stack[2, 3, 1] = 3
    f = pygpu.compile(careful, target=target, check=True)
    with pytest.raises(AssertionError, match="too bright") as caught:
        f.map(stack)
    notes = "".join(caught.value.__notes__)
    assert "at the position (1, 3)" in notes
    assert "in frame 2" in notes


def test_methods_are_mapped():
    class Filter:
        def __init__(self, gain):
            self.gain = gain

        @pygpu.compile
        def apply(self, im: Image, p: Position):
            return self.gain * im(p)

    stack = film(3, 4, 5)
    assert np.array_equal(Filter(2.0).apply.map(stack), stack * 2)


def test_one_program_serves_all_frames():
    f = pygpu.compile(blurred, target="cpu")
    f.map(film(9, 8, 7))
    f.map(film(3, 8, 7))
    assert len(f.specialisations()) == 1


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((5, 6)), ValueError, r"im: takes a stack of frames.*\(5, 6\)"),
        (Image(np.zeros((5, 6))), TypeError, "im: takes a stack of frames, got a pygpu.Image"),
        (PIL.Image.new("L", (4, 4)), TypeError, "im: takes a stack of frames"),
        (5.0, TypeError, "im: got 5.0"),
    ],
)
def test_what_is_no_stack_is_refused(value, error, message):
    with pytest.raises(error, match=message):
        pygpu.compile(blurred).map(value)


def test_stacks_in_calls_are_told_of_map():
    with pytest.raises(ValueError, match=r"has 4 axes; an image is .*f.map\(stack\) maps over"):
        pygpu.compile(blurred)(np.zeros((3, 4, 5, 3)))
    with pytest.raises(TypeError, match="takes frames of an image, and none is given"):
        pygpu.compile(lambda p=Position: p.x).map()
