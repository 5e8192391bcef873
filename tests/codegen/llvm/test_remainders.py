"""Remainders of floats on cpu are exact, of small quotients and large ones, by any divisors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position

DIVISORS = [1.0, 6.0, 0.1, -3.7, 255.0, 1 / 3, 1e-20, 3e37, 1e-39, -math.inf]
SIDE = 128


def numbers(divisor: float) -> Any:
    """Of any bits, of usual sizes, and beside multiples of the divisor."""
    source = np.random.default_rng(abs(hash(divisor)) % 1000)
    shape = SIDE, SIDE
    bits = source.integers(0, 2**32, shape, dtype=np.uint32).view(np.float32)
    usual = (source.standard_normal(shape) * 10 ** source.uniform(-8, 8, shape)).astype(np.float32)
    if not math.isfinite(divisor):
        return np.concatenate([bits, usual])
    times = source.integers(-(2**20), 2**20, shape) * np.float64(np.float32(divisor))
    with np.errstate(over="ignore"):
        beside = times.astype(np.float32)
    beside = np.nextafter(beside, np.float32(math.inf) * source.choice([-1, 1], shape))
    return np.concatenate([bits, usual, beside.astype(np.float32), times.astype(np.float32)])


def remainder(x: Any, y: Any) -> Any:
    """Python's %, of float32, with the sign of the divisor also for zeros."""
    rest = np.fmod(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    rest = np.where(np.isinf(y) & np.isfinite(x), x, rest)
    moved = np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
    return np.where(rest == 0, np.copysign(np.float32(0), y), moved)


def same(a: Any, b: Any) -> bool:
    return bool(np.all((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)))


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_remainders_are_exact(divisor: float) -> None:
    x = numbers(divisor)
    by = np.full_like(x, divisor)
    varied = np.resize(np.array(DIVISORS, np.float32), x.shape)

    @pygpu.compile(target="cpu")
    def known(im: Image, p: Position):
        return im(p) % divisor, math.fmod(im(p), divisor), im(p) // divisor

    @pygpu.compile(target="cpu")
    def given(im: Image, by: Image, p: Position):
        return im(p) % by(p), math.fmod(im(p), by(p)), im(p) // by(p)

    found = known(x)
    for one, other in zip(found, given(x, by), strict=True):
        assert same(np.asarray(one), np.asarray(other))
    for made, y in ((found, by), (given(x, varied), varied)):
        assert same(np.asarray(made[0]), remainder(x, y))
        exact = np.fmod(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
        exact = np.where(exact == 0, np.copysign(np.float32(0), x), exact)
        assert same(np.asarray(made[1]), exact)
        assert same(np.asarray(made[2]), np.floor_divide(x, y))
