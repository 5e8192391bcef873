"""Into which dtypes and arrays results go, and what is refused."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import pygpu
from pygpu import Float, Image, Int, Position, Vec3
from pygpu.core.device import Limits
from pygpu.devices import targets
from pygpu.execution.programs.tiles import Tile, Tiles

PHOTO = np.random.default_rng(0).random((6, 8), dtype=np.float32)
HALVES = np.array([[0.5, 1.5, -0.5, -1.5, 2.7, -2.7, 1e10, -1e10, np.nan]], np.float32)
SMALL = np.array([[1e-40, -1e-40, 1e-45, 0.0, -0.0, 1.0, np.nan]], np.float32)


def same(im: Image, p: Position):
    return im(p)


def colours(im: Image, p: Position):
    return Vec3(im(p), 0.0, im(p))


def two(im: Image, p: Position):
    return im(p), 2 * im(p)


def ramp(p: Position, gain: Float = 1.0):
    return gain * p.x


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_floats_are_rounded_into_signed_integers(target, dtype):
    limits = np.iinfo(dtype)
    large = [min(10**10, limits.max), max(-(10**10), limits.min)]
    expected = [[0, 2, 0, -2, 3, -3, *large, 0]]
    assert pygpu.compile(same, target=target)(HALVES, dtype=dtype).tolist() == expected
    out = np.empty(HALVES.shape, dtype)
    assert pygpu.compile(same, target=target)(HALVES, out=out) is out
    assert out.tolist() == expected
    assert pygpu.compile(colours, target=target)(HALVES, dtype=dtype)[..., 2].tolist() == expected


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [(), (3,), (4,)])
def test_float16_stored_as_bytes_is_computed_with_as_it_is(target, dtype, channels):
    halves = np.random.default_rng(1).uniform(-2, 2, (9, 12, *channels)).astype(np.float16)
    wide, top = halves.astype(np.float64), np.iinfo(dtype).max
    several = [
        (lambda v: (v, v + 1.0), (wide, wide + 1)),
        (lambda v: (v * v, v, v * 0.5), (wide * wide, wide, wide / 2)),
    ]
    for of, expected in several:
        f = pygpu.compile(lambda im, p: of(im(p)), im=Image, p=Position, target=target)  # noqa: B023
        for made, values in zip(f(halves, dtype=dtype), expected, strict=True):
            np.testing.assert_allclose(made, np.rint(np.clip(values, 0, 1) * top), atol=1.01)


@pytest.mark.parametrize("function", [same, colours])
def test_subnormal_numbers_are_true(target, function):
    made = pygpu.compile(function, target=target)(SMALL, dtype=bool)
    expected = [[True, True, True, False, False, True, True]]
    assert made.reshape(*SMALL.shape, -1)[..., 0].tolist() == expected


@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "uint16", "int32", "float16", "float32", "bool"]
)
def test_results_of_an_axis_of_one_channel_are_without_it(target, dtype):
    texels, f = (
        (np.arange(12) % 5).astype(dtype).reshape(3, 4, 1),
        pygpu.compile(same, target=target),
    )
    expected = f(texels[..., 0])
    made = f(texels)
    assert made.shape == (3, 4)
    assert made.dtype == expected.dtype
    assert np.array_equal(made, expected)
    for shape in ((3, 4), (3, 4, 1)):
        out = np.zeros(shape, expected.dtype)
        assert f(texels, out=out) is out
        assert np.array_equal(out.reshape(3, 4), expected)


def test_one_array_for_two_results_is_refused(target):
    f, out = pygpu.compile(two, target=target), np.zeros((6, 8, 2), np.float32)
    with pytest.raises(ValueError, match="same memory"):
        f(PHOTO, out=(out[..., 0], out[..., 0]))
    with pytest.raises(ValueError, match="same memory"):
        f(PHOTO, out=(out[..., 1], out.reshape(12, 8)[:6]))
    f(PHOTO, out=(out[..., 0], out[..., 1]))
    assert np.array_equal(out, np.dstack([PHOTO, 2 * PHOTO]))


@pytest.mark.parametrize("strides", [(0, 4), (32, 0), (4, 4), (0, 0)])
def test_an_array_whose_elements_share_memory_is_refused(target, strides):
    out = as_strided(np.zeros(48, np.float32), (6, 8), strides)
    with pytest.raises(ValueError, match="share memory"):
        pygpu.compile(same, target=target)(PHOTO, out=out)
    with pytest.raises(ValueError, match="share memory"):
        pygpu.vectorize(lambda x: x + 1, target=target)(PHOTO, out=out)


@pytest.mark.parametrize(
    "view", [lambda a: a[:6, :8], lambda a: a[::2, ::-2][:6, :8], lambda a: a.T[:6, :8]]
)
def test_parts_of_arrays_are_filled(target, view):
    whole = np.zeros((17, 17), np.float32)
    pygpu.compile(same, target=target)(PHOTO, out=view(whole))
    assert np.array_equal(view(whole), PHOTO)
    assert np.count_nonzero(whole) == np.count_nonzero(PHOTO)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_takes_results(target):
    out = np.asmatrix(np.zeros((6, 8), np.float32))
    assert pygpu.compile(same, target=target)(PHOTO, out=out) is out
    assert np.array_equal(np.asarray(out), PHOTO)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 2**31 + 64), (2**40, 1), (2**31, 5)])
def test_sides_are_of_31_bits(target, shape):
    f = pygpu.compile(ramp, target=target)
    with pytest.raises(ValueError, match="from 1 to 2147483647"):
        f(1.0, shape=shape)
    if 0 in shape:
        with pytest.raises(ValueError, match="from 1 to 2147483647"):
            f(1.0, out=np.zeros(shape))
    else:
        with pytest.raises(ValueError, match="at most 2147483647"):
            pygpu.compile(same, target=target)(np.broadcast_to(np.uint8(1), shape))


def test_what_does_not_fit_into_memory_says_so_at_once(target, monkeypatch):
    monkeypatch.setattr(targets, "limits", lambda device: Limits(1 << 12, 1 << 30, 1 << 30))
    with pytest.raises(MemoryError, match=r"2147483647 x 2147483647 pixels \(17,179,869,168 GiB\)"):
        pygpu.compile(ramp, target=target)(1.0, shape=(2**31 - 1, 2**31 - 1))


def test_tiles_are_made_as_they_are_needed():
    tiles = Tiles((2**31 - 1, 2**31 - 1), 1000, 3000)
    assert len(tiles) == 2147484 * 715828
    assert tiles[0] == next(iter(tiles)) == Tile(0, 0, 1000, 3000)
    assert tiles[-1] == Tile(2147483000, 2147481000, 647, 2647)
    few = Tiles((5, 7), 3, 2)
    assert list(few) == few[:]
    assert len(few) == 9
    covered = np.zeros((5, 7), int)
    for tile in few:
        tile.of(covered)[...] += 1
    assert np.all(covered == 1)


def test_lower_says_which_images_are_extended(target):
    def masked(im: Image, mask: Image, table: Image, p: Position):
        return im(p) * mask(p + (1, 0)) + table((Int(im(p) * 3.0), 0))

    f = pygpu.compile(masked, target=target)
    whole = f.lower(PHOTO, PHOTO, PHOTO[:1, :3])
    assert whole.extended == ()
    half = f.lower(PHOTO, Image(PHOTO[:3], boundary="wrap"), PHOTO[:1, :3])
    assert [str(each) for each in half.extended] == ["mask (8 x 3) is extended by wrap"]
    assert repr(half).endswith("ms; mask (8 x 3) is extended by wrap>")
    assert "mask (8 x 3) is extended" in half._repr_html_()
    larger = f.lower(PHOTO, PHOTO, PHOTO[:1, :3], shape=(7, 8))
    assert [each.name for each in larger.extended] == ["im", "mask"]


def test_results_are_the_callers_to_write(target: str) -> None:
    double = pygpu.compile(lambda im, p: im(p) * 2, im=pygpu.Image, p=pygpu.Position, target=target)
    for shape in ((5, 7), (5, 7, 3)):
        result = double(np.ones(shape, np.float32))
        result += 1
        np.testing.assert_array_equal(double(np.ones(shape, np.float32), out=result), 2)
