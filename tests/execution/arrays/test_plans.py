"""Calls that follow plans of earlier ones give what calls without plans give, to the bit."""

from __future__ import annotations

import gc
import operator
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu.execution.arrays.recall import KEPT, Plans

FACTOR: Any = 2.0  # read by functions of the calls, and bound anew between them
OTHER: Any = None


@contextmanager
def no_plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls within find no plans and leave none."""
    with monkeypatch.context() as patch:
        patch.setattr(Plans, "find", lambda self, key: None)
        patch.setattr(Plans, "keep", lambda self, key, plan: None)
        yield


def scaled(v: Any) -> Any:
    return v * FACTOR


def moved(v: Any, p: Any) -> Any:
    return v + OTHER(p)


def times(k: Any) -> Callable[..., Any]:
    return lambda v: v * k


def first_of(items: Any) -> Callable[..., Any]:
    return lambda v, items=items: v * items[0]


class Calls:
    """Random calls of few kinds, so that many follow a plan which another one has left."""

    def __init__(self, seed: int, target: str) -> None:
        self.pick, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.target = target

    def image(self) -> Any:
        pick = self.pick.choice
        array = self.numbers.normal(0, 90, pick([(5, 6), (6, 5), (30,), (2, 3, 5), (5, 6, 3)]))
        array = abs(array).astype("u1") if pick([0, 1]) else array.astype(pick(["f4", "i4", "i2"]))
        if array.dtype.kind == "f":
            array.flat[self.pick.randrange(array.size)] = pick([1.0, 1.0, np.nan, np.inf, -0.0])
        if pick([0, 0, 1]):
            return array
        made = {1: pygpu.Signal, 2: pygpu.Image}.get(array.ndim, pygpu.Volume)
        made = pygpu.Image if array.shape == (5, 6, 3) else made
        image = made(array, boundary=pick(["nearest", "wrap"]), normalize=pick([True, True, False]))
        return image + 0 if pick([0, 0, 1]) else image

    def call(self) -> Callable[[], Any]:
        pick, image = self.pick.choice, self.image()
        on = {"target": self.target}
        fold = pick([np.add, np.maximum, np.argmax, operator.add, lambda a, b: a + b])
        match pick(["map", "map", "map", "given", "group", "group", "scan", "sort", "count", "of"]):
            case "map":
                map = pick([None, scaled, moved, times(pick([1, 2.0, True, -0.0])), first_of([3])])
                map = pick([map, times(np.float32(2)), first_of([pick([1.0, 2.0])])])
                initial = pick([None, None, 0, 0.0, True, -1.5])
                return partial(pygpu.reduce, fold, image, map=map, initial=initial, **on)
            case "given":
                given = {"k": pick([1, 1.0, True, np.float32(3), 2**40, float("nan")])}
                return partial(pygpu.reduce, fold, image, map=lambda v, k: v * k, **given, **on)
            case "group":
                groups, initial = pick([2, 5, True, np.int64(5), 5.0, 0]), pick([None, 0, 1.0])
                by = pick([lambda v, p, k: int(np.sum(v) * k), lambda v, p, k: k > 1])
                given = {"k": pick([1, 2.0]), "groups": groups, "initial": initial, **on}
                return partial(pygpu.reduce, fold, image, by=by, **given)
            case "scan":
                axis, reverse = pick([-1, 0, None, True, 0.0]), pick([False, True])
                return partial(pygpu.scan, fold, image, axis, reverse=reverse, **on)
            case "sort":
                function, descending = pick([pygpu.sort, pygpu.argsort]), pick([False, True])
                return partial(function, image, axis=pick([-1, None]), descending=descending, **on)
            case "count":
                bins = pick([7, 256, np.array([0.0, 0.25, 1.0])])
                return partial(spoilt, image, bins, pick([(0, 1), (0.0, 1.0), (-5, 100)]), on)
        return partial(pygpu.compress, image != 0, image, **on)


def spoilt(image: Any, bins: Any, range: Any, on: Any) -> Any:
    """A histogram, of which the caller changes what was given and got."""
    bins = bins.copy() if isinstance(bins, np.ndarray) else bins
    counts, edges = pygpu.histogram(image, bins, range, **on)
    found = counts.copy(), edges.copy()
    for array in (counts, edges, bins):
        if isinstance(array, np.ndarray):
            array[...] = 7
    return found


def outcome(call: Callable[[], Any]) -> Any:
    """A result to the bit, with its type; of a refused call the error."""
    try:
        return described(call())
    except Exception as error:
        return type(error), str(error)


def described(value: Any) -> Any:
    if isinstance(value, (pygpu.Image, pygpu.Signal, pygpu.Volume)):
        array = np.asarray(value)
        return type(value), value.boundary, array.dtype, array.shape, array.tobytes()
    if isinstance(value, tuple) and type(value) is tuple:
        return [described(each) for each in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else repr(value)


def test_random_calls_with_plans_give_what_they_give_without(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    global FACTOR, OTHER
    calls = Calls(3, target)
    followed, find = 0, Plans.find

    def counted(plans: Plans, key: Any) -> Any:
        nonlocal followed
        plan = find(plans, key)
        followed += plan is not None
        return plan

    monkeypatch.setattr(Plans, "find", counted)
    OTHER = pygpu.Image(np.ones((5, 6), np.float32))
    earlier: list[Callable[[], Any]] = []
    many = 200 if target in ("cpu", "interpreter") else 90  # where compiling is slow
    for _ in range(many):
        if calls.pick.random() < 0.1:
            FACTOR = calls.pick.choice([2.0, 2, 3.0])
            OTHER = pygpu.Image(np.full((5, 6), FACTOR, np.float32))
        is_new = not earlier or calls.pick.random() < 0.4
        call = calls.call() if is_new else calls.pick.choice(earlier[-20:])
        earlier.append(call)
        found = outcome(call)
        with no_plans(monkeypatch):
            expected = outcome(call)
        assert found == expected
    assert followed > many // 20


@pytest.mark.parametrize("own", [True, False])
def test_edges_are_the_callers(target: str, own: bool) -> None:
    image = pygpu.Image(np.arange(256, dtype=np.uint8).reshape(16, 16))
    for _ in range(3):
        bins = np.array([0.0, 0.25, 1.0]) if own else 2
        counts, edges = pygpu.histogram(image, bins, target=target)
        assert counts.tolist() == ([64, 192] if own else [128, 128])
        assert edges.tolist() == [0.0, 0.25 if own else 0.5, 1.0]
        edges[...], counts[...] = 0, 0
        if own:
            bins[...] = 0


def test_plans_hold_no_images(target: str) -> None:
    array = np.random.default_rng(0).random((40, 50)).astype(np.float32)
    calls: list[Callable[[Any], Any]] = [
        lambda image: pygpu.reduce(np.add, image, target=target),
        lambda image: pygpu.reduce(np.argmax, image, map=lambda v, k: v * k, k=2.0, target=target),
        lambda image: pygpu.reduce(np.add, image, by=lambda v: int(v * 4), groups=4, target=target),
        lambda image: pygpu.scan(np.add, image, target=target),
        lambda image: pygpu.sort(image, axis=None, target=target),
        lambda image: pygpu.compress(image, image, target=target),
        lambda image: pygpu.histogram(image, target=target),
    ]
    for call in calls:
        image = pygpu.Image(array) + 0
        call(image), call(image)
        seen = weakref.ref(image.storage)
        del image
        gc.collect()
        assert seen() is None


def test_threads_write_plans_down_at_once(target: str) -> None:
    """More kinds than are kept, from several threads."""
    failed: list[Any] = []

    def work(offset: int) -> None:
        try:
            for k in range(KEPT + 20):
                array = np.ones((1 + (k + offset) % 97, 3), np.float32)
                found = pygpu.reduce(np.add, array, map=lambda v, k: v * k, k=2.0, target=target)
                assert found == 2.0 * array.size
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(30 * n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_settings_that_change_between_calls(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.array([[1, 0, 2]], np.int32)
    for image in (array, pygpu.Image(array)):
        for _ in range(2):
            assert pygpu.reduce(np.add, image, map=lambda v: 4 // v, target=target) == 6
        with monkeypatch.context() as patch:
            patch.setenv("PYGPU_CHECK", "1")
            with pytest.raises(ZeroDivisionError):
                pygpu.reduce(np.add, image, map=lambda v: 4 // v, target=target)
        assert pygpu.reduce(np.add, image, map=lambda v: 4 // v, target=target) == 6
