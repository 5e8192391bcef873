"""Calls that are given what an earlier one was given go by its plan, and see what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Signal
from pygpu.devices.arrays import scan
from pygpu.execution.arrays import recall, whole

GENERATOR = np.random.default_rng(0)
STEP = 1.0


@pytest.fixture(autouse=True)
def in_software(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    require("compute")
    monkeypatch.setattr(scan, "IN_SOFTWARE", True)
    monkeypatch.setenv("PYGPU_TARGET", "compute")
    whole.clear()
    yield
    whole.clear()


def floats(*shape: int) -> Any:
    return GENERATOR.random(shape, np.float32)


def stepped(a: Any, b: Any) -> Any:
    return a + b + 0 * STEP


CALLS: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda im: pygpu.scan(np.add, im), lambda a: np.cumsum(a, -1)),
    (lambda im: pygpu.scan(np.maximum, im, 0), lambda a: np.maximum.accumulate(a, 0)),
    (lambda im: pygpu.sort(im), lambda a: np.sort(a, -1)),
    (lambda im: pygpu.argsort(im, 0, descending=True), lambda a: np.argsort(-a, 0, kind="stable")),
    (lambda im: pygpu.reduce(np.maximum, im), lambda a: a.max()),
    (
        lambda im: pygpu.reduce(np.add, im, by=lambda v: int(v * 4), groups=3),
        lambda a: np.bincount((a * 4).astype(int).ravel(), a.ravel(), 4)[:3],
    ),
    (lambda im: pygpu.histogram(im, 10)[0], lambda a: np.histogram(a, 10, (0, 1))[0]),
    (lambda im: pygpu.compress(im, im), lambda a: a.ravel()),
]


@pytest.mark.parametrize(("call", "expected"), CALLS)
@pytest.mark.parametrize("shape", [(300,), (20, 30)])
def test_calls_of_one_kind_follow_a_plan(call: Any, expected: Any, shape: tuple[int, ...]) -> None:
    kind: Any = Signal if len(shape) == 1 else Image
    for count in range(3):
        array = floats(*shape)
        missed = AssertionError("looked at in full again")
        with patch.object(recall.Plans, "keep", side_effect=missed if count else None, autospec=True
                          ) as keep:  # fmt: skip
            if not count:
                keep.side_effect = lambda self, key, plan: self._kept.update({key: plan})
            found = call(kind(array))
        np.testing.assert_allclose(np.asarray(found), expected(array), 1e-5)


def test_the_place_of_the_greatest_is_planned() -> None:
    for shape in ((50,), (7, 9), (3, 5, 7)):
        kind: Any = (Signal, Image, pygpu.Volume)[len(shape) - 1]
        for _ in range(3):
            array = floats(*shape)
            place = np.unravel_index(array.argmax(), shape)
            found = pygpu.reduce(np.argmax, kind(array))
            assert tuple(np.ravel(found))[::-1] == place


def test_a_changed_global_ends_a_plan() -> None:
    global STEP
    array = Signal(floats(100))

    def by_step(v: Any) -> Any:
        return v * STEP

    assert pygpu.reduce(np.maximum, array, map=by_step) <= 1
    try:
        STEP = 8.0
        assert pygpu.reduce(np.maximum, array, map=by_step) > 1
    finally:
        STEP = 1.0


def test_plans_tell_images_apart_by_how_they_are_read() -> None:
    photo = GENERATOR.integers(0, 256, (20, 30), np.uint8)
    for _ in range(2):
        assert np.asarray(pygpu.scan(np.maximum, Image(photo))).max() <= 1
        assert np.asarray(pygpu.scan(np.maximum, Image(photo, normalize=False))).max() > 1
        assert pygpu.sort(Image(photo)).dtype == np.uint8


def test_wrong_arguments_are_refused_after_a_plan_too() -> None:
    image = Image(floats(8, 8))
    pygpu.scan(np.add, image, 1)
    for axis in (True, 1.0, [1], 2):
        with pytest.raises((TypeError, np.exceptions.AxisError), match="axis"):
            pygpu.scan(np.add, image, axis)
    pygpu.sort(image)
    with pytest.raises(ValueError, match="target"):
        pygpu.sort(image, target="toaster")


def test_results_of_plans_inherit_what_their_image_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for boundary in ("wrap", "mirror", "wrap"):
        image = Image(floats(8, 8), boundary=boundary)
        assert pygpu.scan(np.add, image).boundary == boundary
        assert pygpu.sort(image).boundary == boundary
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "4")
    array = floats(8, 8)
    np.testing.assert_allclose(pygpu.scan(np.add, Image(array)), np.cumsum(array, 1), 1e-5)


@pytest.mark.parametrize("on", ["cpu", "fragment"])
def test_folds_by_passes_follow_plans(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require(on)
    monkeypatch.setenv("PYGPU_TARGET", on)

    def both(a: Any, b: Any) -> Any:
        return a[0] + b[0], max(a[1], b[1]), a[2] + b[2]

    def one_of_each(v: Any, p: Any) -> Any:
        return v, v, p.x

    calls: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
        (lambda im: pygpu.reduce(np.add, im), lambda a: a.sum(dtype=float)),
        (lambda im: pygpu.reduce(np.maximum, im), lambda a: a.max()),
        (lambda im: pygpu.reduce(stepped, im), lambda a: a.sum(dtype=float)),
        (
            lambda im: pygpu.reduce(np.add, im, map=lambda v: 2 * v),
            lambda a: 2 * a.sum(dtype=float),
        ),
        (
            lambda im: pygpu.reduce(both, im, map=one_of_each),
            lambda a: (a.sum(dtype=float), a.max(), 20 * np.arange(30).sum()),
        ),
        (
            lambda im: pygpu.reduce(np.argmin, im),
            lambda a: np.unravel_index(a.argmin(), a.shape)[::-1],
        ),
        (lambda im: pygpu.reduce(np.add, im, map=lambda v: 2**31 - 1), lambda a: 600 * (2**31 - 1)),
    ]
    kept = recall.Plans.keep
    for call, expected in calls:
        for count in range(3):
            array = floats(20, 30)
            with patch.object(recall.Plans, "keep", autospec=True, side_effect=kept) as keep:
                found = call(Image(array))
            assert bool(keep.called) is (count == 0)
            np.testing.assert_allclose(found, expected(array), 1e-5)
    colours = GENERATOR.integers(0, 256, (20, 30, 3), np.uint8)
    for _ in range(2):
        found = pygpu.reduce(np.add, Image(colours))
        np.testing.assert_allclose(found, colours.sum((0, 1)) / 255, 1e-5)
        assert pygpu.reduce(np.minimum, Image(colours)).shape == (3,)


def test_a_changed_global_ends_a_plan_of_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    test_a_changed_global_ends_a_plan()
