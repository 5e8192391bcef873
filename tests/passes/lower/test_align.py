"""What loops count that pixels leave apart is counted once for all, where texels are read by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.codegen.llvm.plan import plan
from pygpu.core import interpret
from pygpu.core.verify import verify
from pygpu.devices.cpu.given import Given
from pygpu.execution.inspection.profile import Job
from pygpu.passes.lower.align import align

PICTURE = np.random.default_rng(4).random((7, 21), np.float32)


def run_length(im: Image, p: Position):
    n = 0
    while n < 29 and abs(im(p.x - n - 1, p.y) - im(p)) < 0.6:
        n += 1
    return n * 1.0


def the_other_way_round(im: Image, p: Position):
    n = 48
    while im(p.x, p.y + n) > 0.2 and n > 0:
        n -= 2
    return n * 1.0


def left_by_break(im: Image, p: Position):
    k, acc = 1, im(p)
    while k < 17:
        if im(p.x + k, p.y + k) > 0.5 + 0.02 * k:
            break
        acc += im(p.x + k, p.y)
        k += 1
    return k + acc


def only_some_count(im: Image, p: Position):
    n, rounds = 0, 0
    while n < 5 and rounds < 9:
        rounds += 1
        if im(p.x + n, p.y) > 0.4:
            n += 1
    return n * 10.0 + rounds


def not_a_place(im: Image, p: Position):
    n, t = 0, im(p)
    while n < 20 and t < 3.0:
        t, n = t * 1.25, n + 1
    return n * 1.0


FOUND = {  # of each function: how many of its reads are known to be near their pixel
    run_length: 1,
    the_other_way_round: 1,
    left_by_break: 2,
    only_some_count: 0,
    not_a_place: 0,
}


@pytest.mark.parametrize("function", FOUND)
def test_texels_are_read_side_by_side_and_counts_stay(function: Callable[..., Any]) -> None:
    task = Job.of(pygpu.compile(function, target="interpreter"), (PICTURE,), {}).made.task
    (expected,) = interpret.run(task.function, [PICTURE], [], PICTURE.shape)
    (found,) = interpret.run(verify(align(task.function)), [PICTURE], [], PICTURE.shape)
    np.testing.assert_array_equal(found, expected)
    made = plan(Given(task).task, 8)
    assert len(made.reaching) == FOUND[function]
    np.testing.assert_array_equal(pygpu.compile(function, target="cpu")(PICTURE), expected)
