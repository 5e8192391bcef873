"""Images whose rows do not follow each other, as those of crops, are read and written in place."""

import itertools
from functools import reduce

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.core.storage import Storage, in_rows

BLUR = np.outer((1, 2, 3, 2, 1), (1, 2, 3, 2, 1)) / 81


def scale(im: Image, p: Position):
    return im(p) * 0.5


def gradient(im: Image, p: Position):
    return im(p + (1, 0)) - im(p - (1, 2)) + im(p + (0, 1))


def blurred_twice(im: Image, p: Position):
    return sum(im(p + d) * w for d, w in np.ndenumerate(BLUR)) * im(p)


def anywhere(im: Image, p: Position):
    return im((p.x * 2 + 1, p.y // 2 + p.x % 3))


def largest(im: Image, p: Position):
    return reduce(np.maximum, [im(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)])


CROPS = {
    "a crop": np.s_[3:70, 5:71],
    "every second row": np.s_[::2, 1:],
    "a row": np.s_[5:6, 3:60],
    "a column": np.s_[:, 4:5],
    "rows from the last": np.s_[::-1, 2:],
    "every second column": np.s_[:, ::2],
}


def pattern(dtype, channels, shape=(83, 90)):
    numbers = np.arange(np.prod(shape) * channels).reshape(*shape, channels) * 37 % 101
    texels = numbers.astype(dtype) if np.dtype(dtype).kind != "f" else np.float32(numbers) / 101
    return texels if channels > 1 else texels[..., 0]


@pytest.mark.parametrize("function", [scale, gradient, anywhere, largest])
@pytest.mark.parametrize(("dtype", "channels"), [
    *itertools.product(["uint8", "float32"], (1, 2, 3, 4)), ("uint16", 3), ("int32", 1),
])  # fmt: skip
def test_a_view_gives_what_its_copy_gives(function, dtype, channels):
    f = pygpu.compile(function, target="cpu", dtype=dtype)
    whole = pattern(dtype, channels)
    for name, crop in CROPS.items():
        expected = f(whole[crop].copy())
        around = np.full(whole.shape, 9, dtype)
        f(whole[crop], out=around[crop])
        kept = np.full(whole.shape, 9, dtype)
        kept[crop] = expected
        assert np.array_equal(f(whole[crop]), expected), name
        assert np.array_equal(around, kept), name


def test_stages_read_and_write_views():
    f = pygpu.compile(blurred_twice, target="cpu")
    chain = pygpu.pipeline(lambda im: f(f(im)), target="cpu")
    whole = pattern("float32", 1, (900, 1000))
    crop = whole[7:810, 3:907]
    assert np.array_equal(f(crop), f(crop.copy()))
    assert np.array_equal(chain(crop), chain(crop.copy()))
    out = np.zeros_like(whole)
    f(crop, out=out[7:810, 3:907])
    assert np.array_equal(out[7:810, 3:907], f(crop.copy()))
    out[7:810, 3:907] = 0
    assert not out.any()


def test_several_images_lie_each_in_its_own_way():
    def mixed(a: Image, b: Image, p: Position):
        return a(p + (1, 1)) - b((p.x, p.y + 1))

    f = pygpu.compile(mixed, target="cpu")
    whole = pattern("float32", 1)
    a, b = whole[:40, :50], whole[9:49, 21:71]
    for one, other in itertools.product((a, a.copy()), (b, b.copy())):
        assert np.array_equal(f(one, other), f(a.copy(), b.copy()))


def test_a_view_of_a_volume_and_of_frames():
    @pygpu.compile(target="cpu")
    def along(v: pygpu.Volume, p: pygpu.Position):
        return v(p + (1, 0, -1)) + v(p - (0, 2, 0))

    whole = pattern("float32", 1, (6 * 20, 30)).reshape(6, 20, 30)
    for crop in (np.s_[:, :, 3:28], np.s_[1:5], np.s_[:, 2:9, 1:], np.s_[::2]):
        assert np.array_equal(along(whole[crop]), along(whole[crop].copy()))
    f = pygpu.compile(gradient, target="cpu")
    assert np.array_equal(f.map(whole[:, 1:9, 2:]), f.map(whole[:, 1:9, 2:].copy()))


def test_rounds_of_a_view():
    f = pygpu.compile(gradient, target="cpu")
    whole = pattern("float32", 1)
    crop = whole[5:50, 7:80]
    assert np.array_equal(f.iterate(crop, 4), f.iterate(crop.copy(), 4))


def test_a_result_beside_what_is_read_is_a_copy():
    f = pygpu.compile(gradient, target="cpu")
    whole = pattern("float32", 1)
    expected = f(whole[:40, :50].copy())
    f(whole[:40, :50], out=whole[1:41, 2:52])
    assert np.array_equal(whole[1:41, 2:52], expected)


def test_a_view_is_read_where_it_lies():
    whole = pattern("float32", 1)
    storage = Storage.of(whole[3:50, 5:60])
    assert storage.array is None
    assert np.shares_memory(storage.lying(), whole)
    assert storage.host().flags.c_contiguous
    assert storage.lying() is storage.host()


@pytest.mark.parametrize("function", [scale, gradient, anywhere])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_calls_of_the_same_kind_read_views_where_they_lie(function, dtype):
    f = pygpu.compile(function, target="cpu")
    whole = pattern(dtype, 1)
    around = np.zeros(whole.shape, np.float32)
    for left in (1, 2, 3, 4, 7):  # from the second on through the gate
        crop = np.s_[left : left + 40, left : left + 40]
        expected = f(whole[crop].copy())
        assert np.array_equal(f(whole[crop]), expected)
        f(whole[crop], out=around[crop])
        assert np.array_equal(around[crop], expected)
        around[crop] = 0
        assert not around.any()


def test_what_lies_in_rows():
    texels = pattern("uint8", 3)
    assert in_rows(texels)
    assert in_rows(texels[3:9, 2:7])
    assert in_rows(texels[::3])
    assert in_rows(np.broadcast_to(texels[:1], texels.shape))
    assert not in_rows(texels[::-1])
    assert not in_rows(texels[:, ::2])
    assert not in_rows(texels[..., ::-1])
    assert not in_rows(texels[..., :2])
