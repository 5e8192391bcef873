"""Counter-based random numbers: Random123's known answers, moments, independence, equal bits."""

from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import pygpu
from conftest import require
from pygpu import Int, Position, Vec2
from pygpu.language.random import philox

SHAPE: Final = (300, 400)

# From kat_vectors of Random123: counter, key, result of philox4x32 with 10 rounds.
KNOWN: Final = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def words(numbers: list[int]) -> list[Int]:
    return [Int(n - 2**32 if n >= 2**31 else n) for n in numbers]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter: Any, key: Any, expected: Any) -> None:
    assert [int(w) & 0xFFFFFFFF for w in philox(words(counter), words(key))] == expected


def all_kinds(p: Position, seed: Int = 0):
    return (
        pygpu.random.uniform(p, 7),
        pygpu.random.normal(p, 2**63 + 5),
        pygpu.random.integers(p, seed, -5, 12),
        pygpu.random.normal(p, seed, count=3),
        pygpu.random.integers(p, 1, 0, 2**31 - 1, count=2),
    )


@pytest.mark.parametrize("on", ["cpu", "fragment", "compute"])
def test_bits_are_those_of_plain_python(on: str) -> None:
    require(on)
    made = pygpu.compile(all_kinds, target=on)(shape=(9, 11), seed=-3)
    plain = [[all_kinds(Position(x, y), Int(-3)) for x in range(11)] for y in range(9)]
    for index, result in enumerate(made):
        values = [[row[index] for row in line] for line in plain]
        expected = [[list(v) if hasattr(v, "__len__") else v for v in line] for line in values]
        assert_array_equal(np.asarray(result), np.array(expected, np.asarray(result).dtype))


def drawn(function: Any, **options: Any) -> Any:
    compiled = pygpu.compile(lambda p: function(p, 11, **options), p=Position, target="cpu")
    return compiled(shape=SHAPE)


def test_uniform_numbers_are_uniform_and_independent() -> None:
    numbers = np.asarray(drawn(pygpu.random.uniform, count=4), np.float64).reshape(-1, 4)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    for one in numbers.T:
        assert stats.kstest(one, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.015
    assert np.abs(np.corrcoef(numbers.T) - np.eye(4)).max() < 0.015
    other = pygpu.compile(lambda p: pygpu.random.uniform(p, 12), p=Position, target="cpu")
    assert abs(np.corrcoef(numbers[:, 0], np.ravel(other(shape=SHAPE)))[0, 1]) < 0.015


def test_normal_numbers_are_normal() -> None:
    numbers = np.asarray(drawn(pygpu.random.normal, count=2), np.float64).ravel()
    assert stats.kstest(numbers, "norm").pvalue > 1e-4
    assert abs(numbers.mean()) < 0.01
    assert abs(numbers.std() - 1) < 0.01
    assert abs(stats.skew(numbers)) < 0.02
    assert abs(stats.kurtosis(numbers)) < 0.04
    assert 4 < np.abs(numbers).max() < 6.5


def test_integers_cover_their_range_evenly() -> None:
    numbers = np.asarray(drawn(pygpu.random.integers, low=-3, high=4)).ravel()
    counts = np.unique(numbers, return_counts=True)
    assert counts[0].tolist() == [-3, -2, -1, 0, 1, 2, 3]
    assert stats.chisquare(counts[1]).pvalue > 1e-4


def test_positions_of_one_to_three_coordinates_and_many_draws() -> None:
    assert pygpu.random.uniform(5, 1) == pygpu.random.uniform((5, 0), 1)
    assert pygpu.random.uniform((5, 2), 1) == pygpu.random.uniform((5, 2, 0), 1)
    assert pygpu.random.uniform((5, 2, 1), 1) != pygpu.random.uniform((5, 2), 1)
    assert isinstance(pygpu.random.uniform((1, 2), 3, count=2), Vec2)
    many = pygpu.random.uniform((1, 2), 3, count=9)
    assert isinstance(many, tuple)
    assert len(set(many)) == 9
    assert many[:4] == tuple(pygpu.random.uniform((1, 2), 3, count=4))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="count: takes a whole number of at least 1"):
        pygpu.random.uniform((0, 0), 1, count=0)
    with pytest.raises(ValueError, match="count: takes up to 65536 numbers a position, got 1000"):
        pygpu.random.uniform((0, 0), 1, count=10**12)
    with pytest.raises(ValueError, match="1 to 3 coordinates, got 4"):
        pygpu.random.uniform((0, 0, 0, 0), 1)


def test_integers_of_an_empty_range_are_refused():
    with pytest.raises(ValueError, match="high: takes a number above low, 5, got 2"):
        pygpu.random.integers(Position(1, 2), 1, 5, 2)
    with pytest.raises(ValueError, match="above low"):
        pygpu.compile(lambda p=Position: pygpu.random.integers(p, 1, 5, 5), target="cpu")(
            shape=(2, 2)
        )


@pytest.mark.parametrize("on", ["cpu", "fragment", "compute"])
def test_seeds_of_all_kinds_are_those_of_plain_python(on: str) -> None:
    require(on)

    def value(p: Position, seed: Int):
        return pygpu.random.uniform(p, seed)

    dynamic = pygpu.compile(value, target=on)
    for seed in (0, 5, -1, -(2**31), 2**31 - 1):
        plain = pygpu.random.uniform(Position(1, 2), seed)
        assert np.asarray(dynamic(seed, shape=(3, 4)))[2, 1] == plain
        assert pygpu.random.uniform(Position(1, 2), Int(seed)) == plain
    for seed in (2**64 - 1, -(2**63), np.uint64(2**63), np.int32(-3), pygpu.UInt(3 * 10**9)):
        known = pygpu.compile(value, seed=seed, target=on)
        plain = pygpu.random.uniform(Position(1, 2), seed)
        assert np.asarray(known(shape=(3, 4)))[2, 1] == plain


@pytest.mark.parametrize("seed", [1.5, "a", None, 2**64, -(2**63) - 1, (1, 2)])
def test_seeds_that_are_no_ints_of_64_bits_are_refused(seed: object) -> None:
    with pytest.raises((TypeError, ValueError), match="seed: takes an int of up to 64 bits"):
        pygpu.random.uniform((1, 2), seed)
