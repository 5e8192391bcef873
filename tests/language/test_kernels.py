"""The offsets of a kernel's elements."""

import sys
import time

import numpy as np
import pytest

from pygpu.language.kernels import offsets
from pygpu.language.matrices import Mat3
from pygpu.language.vectors import (
    Position,
    Vec3,
)


@pytest.mark.parametrize(
    "shape", [(3, 3), (2, 3), (1, 4), (4, 1), (5, 2), (3,), (4,), (1,), (1, 1)]
)
def test_offsets_lie_around_half_of_each_axis_in_c_order(shape):
    kernel = np.ones(shape)
    height, width = kernel.shape if len(shape) == 2 else (1, *shape)
    expected = [(x - width // 2, y - height // 2) for y in range(height) for x in range(width)]
    for form in (kernel, kernel.tolist(), tuple(kernel)):
        found = offsets(form)
        assert [tuple(offset) for offset in found] == expected
        assert all(type(offset) is Position for offset in found)


def test_offsets_belong_to_elements_that_may_be_anything():
    assert [tuple(d) for d in offsets([Vec3(1), Vec3(2), Vec3(3)])] == [(-1, 0), (0, 0), (1, 0)]
    assert len(offsets([[Vec3(1), "a"], [None, 2]])) == 4
    assert len(offsets(Mat3(1))) == 9


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (np.array(3), r"shape \(\)"),
        (np.ones((1, 2, 3, 4)), r"shape \(1, 2, 3, 4\)"),
        ([[[[1]]]], r"shape \(1, 1, 1, 1\)"),
        ([[1], [1, 2]], r"lengths \[1, 2\]"),
        ([[1], 2], "lengths"),
    ],
)
def test_offsets_name_the_shape_they_refuse(kernel, message):
    with pytest.raises(ValueError, match=message):
        offsets(kernel)


def test_offsets_of_what_is_no_kernel():
    with pytest.raises(TypeError, match="takes an array or nested lists, got 3"):
        offsets(3)


def test_offsets_of_a_large_kernel_are_quick():
    kernel = np.ones((63, 63))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        offsets(kernel)
        times.append(time.perf_counter() - start)
    assert min(times) < (0.010 if sys.gettrace() is None else 1)
