"""Images of UInt: what comes back, what functions see of it, and what it is stored as."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, UInt, Vec2

SHAPE = (5, 9)
MASK = 0xFFFFFFFF
X, Y = np.meshgrid(np.arange(9, dtype=np.int64), np.arange(5, dtype=np.int64))
HASHES = (X * 2654435761 + Y * 40503) & MASK


def hashed(p: Position):
    return (p.x * 2654435761 + p.y * 40503) & MASK


def test_results_are_uint32(target: str) -> None:
    made = pygpu.compile(hashed, target=target)(shape=SHAPE)
    assert made.dtype == np.uint32
    np.testing.assert_array_equal(made.numpy(), HASHES)
    assert "uint32" in repr(made)
    assert isinstance(made(3, 4), UInt)


def test_images_of_results_are_seen_without_a_sign(target: str) -> None:
    @pygpu.compile(target=target)
    def mixed(im: Image, p: Position):
        return im(p + (1, 0)) >> 16, im(p) / 2**32, im(p) > 0x7FFFFFFF, im(p - (0, 1)) * 3

    first = pygpu.compile(hashed, target=target)(shape=SHAPE)
    high, part, is_large, product = [np.asarray(each) for each in mixed(first)]
    right, above = HASHES[:, [*range(1, 9), 8]], HASHES[[0, *range(4)]]
    np.testing.assert_array_equal(high, right >> 16)
    np.testing.assert_allclose(part, HASHES / 2**32, rtol=1e-7)
    np.testing.assert_array_equal(is_large, HASHES >= 2**31)
    np.testing.assert_array_equal(product, above * 3 % 2**32)


def test_rounds_of_a_generator_are_those_of_python(target: str) -> None:
    @pygpu.compile(target=target)
    def stepped(state: Image, p: Position):
        return (state(p) * 1664525 + 1013904223) & MASK

    expected = HASHES
    for _ in range(7):
        expected = (expected * 1664525 + 1013904223) & MASK
    seeds = pygpu.compile(hashed, target=target)(shape=SHAPE)
    np.testing.assert_array_equal(stepped.iterate(seeds, 7).numpy(), expected)


@pytest.mark.parametrize(
    "dtype", ["uint32", "uint8", "uint16", "int16", "int32", "float32", "bool"]
)
def test_results_go_into_other_dtypes_saturated(dtype: str, target: str) -> None:
    out = np.zeros(SHAPE, dtype)
    pygpu.compile(hashed, target=target)(shape=SHAPE, out=out)
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    want = HASHES if limits is None else HASHES.clip(limits.min, limits.max)
    np.testing.assert_array_equal(out, want.astype(dtype))


@pytest.mark.parametrize("kind", ["int", "float", "bool"])
def test_other_results_go_into_uint32(kind: str, target: str) -> None:
    @pygpu.compile(target=target)
    def ramp(p: Position):
        return {"int": (p.x - 3) * 7, "float": (p.x - 3) * 2.0**30, "bool": p.x > 3}[kind]

    out = np.zeros(SHAPE, np.uint32)
    ramp(shape=SHAPE, out=out)
    most = 2**32 - 1
    want = {"int": (X - 3) * 7, "float": (X - 3) * 2.0**30, "bool": (X > 3) * most}[kind]
    np.testing.assert_array_equal(out, want.clip(0, most).astype(np.uint32))


def test_vectors_of_uints_come_back_as_channels(target: str) -> None:
    @pygpu.compile(target=target)
    def pairs(p: Position, scale: Vec2):
        return (p * 2654435761) & MASK

    made = pairs(Vec2(1, 1), shape=SHAPE).numpy()
    np.testing.assert_array_equal(made[..., 0], X * 2654435761 & MASK)
    np.testing.assert_array_equal(made[..., 1], Y * 2654435761 & MASK)


def test_sums_of_uints_are_exact(target: str) -> None:
    made = pygpu.compile(hashed, target=target)(shape=SHAPE)
    assert made.sum() == HASHES.sum()
    assert (made.min(), made.max()) == (HASHES.min(), HASHES.max())
    largest = pygpu.reduce(np.maximum, made, target="auto" if target == "interpreter" else target)
    assert largest == HASHES.max()


def test_arrays_of_uint32_must_fit_an_int() -> None:
    @pygpu.compile(target="cpu")
    def same(im: Image, p: Position):
        return im(p)

    assert same(np.array([[1, 2**31 - 1]], np.uint32)).dtype == np.int32
    with pytest.raises(OverflowError, match="does not fit in 32 bits"):
        same(np.array([[1, 2**31]], np.uint32))


def test_a_parameter_takes_what_is_a_uint() -> None:
    @pygpu.compile(target="cpu")
    def given(p: Position, seed: UInt = 7):
        return seed + p.x

    assert np.asarray(given(4294967295, shape=(1, 2))).tolist() == [[4294967295, 0]]
    assert np.asarray(given(np.uint32(5), shape=(1, 1))) == 5
    for wrong in (-1, 2**32):
        with pytest.raises(OverflowError, match="seed"):
            given(wrong, shape=(1, 1))
    with pytest.raises(TypeError, match="seed"):
        given(1.5, shape=(1, 1))
