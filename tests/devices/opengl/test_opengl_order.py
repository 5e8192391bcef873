"""Barriers between compute programs: where they share buffers, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Int, Position
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.dispatch import Pass
from pygpu.devices.opengl.driver.context import SPARE, Context
from pygpu.devices.opengl.driver.order import Order
from pygpu.devices.opengl.driver.pool import Pool


def doubled(im: Image, p: Position) -> Any:
    return im(p) * 2


class Counted:
    def __init__(self, barrier: Callable[[], object] = int) -> None:
        self.count, self.barrier = 0, barrier

    def __call__(self) -> None:
        self.count += 1
        self.barrier()


def buffers(count: int) -> list[Any]:
    return [object() for _ in range(count)]


@pytest.mark.parametrize(
    ("first", "second", "barriers"),
    [
        (("a", "b"), ("a", "c"), 0),  # both read a
        (("a", "b"), ("b", "c"), 1),  # reads what was written
        (("a", "b"), ("c", "b"), 1),  # writes what was written
        (("a", "b"), ("c", "a"), 1),  # writes what was read
    ],
)
def test_barriers_are_where_buffers_are_shared(
    first: tuple[str, str], second: tuple[str, str], barriers: int
) -> None:
    named = dict(zip("abc", buffers(3), strict=True))
    barrier = Counted()
    order = Order(barrier)
    for read, written in (first, second):
        order.before([named[read]], [named[written]])
    assert barrier.count == barriers


def test_a_barrier_ends_what_was_before() -> None:
    a, b, c = buffers(3)
    barrier = Counted()
    order = Order(barrier)
    order.before([a], [b])
    assert order.busy == {a, b}
    order.before([b], [c])
    assert barrier.count == 1
    assert a not in order.busy
    order.before(read=[b])  # it was there before the barrier
    order.before(read=[c])
    assert barrier.count == 2


def test_a_pool_gives_what_is_busy_last() -> None:
    pool = Pool(100, lambda thing: None)
    for thing in "abc":
        pool.give("kind", thing, 1)
    busy = {"c"}
    assert pool.take("kind", busy, 3) == "a"
    busy.add("b")
    assert pool.take("kind", busy, 3) is None  # there may be a third
    assert pool.take("kind", busy, 2) == "b"  # there may not
    assert pool.take("kind", busy) == "c"
    assert pool.take("kind", busy) is None


# ---------------------------------------------------------------- the device


@pytest.fixture
def barriers(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """How many barriers there are, as on hardware, where results take turns in several buffers, of
    commands that are given at once."""
    require("compute")
    with opengl.context() as gl:
        counted = Counted(gl.order.barrier)
        gl.order.barrier()
        monkeypatch.setattr(gl.notes, "together", 0)
        monkeypatch.setattr(gl, "order", Order(counted))
        monkeypatch.setattr(gl, "is_software", False)
        monkeypatch.setattr(Context, "pages", None)
    return counted


def test_calls_of_their_own_take_few_barriers(barriers: Counted) -> None:
    compiled = pygpu.compile(doubled, target="compute")
    image = pygpu.Image(np.random.default_rng(0).random((17, 23), np.float32))
    compiled(image)
    before = barriers.count
    for _ in range(40):
        compiled(image)
    assert barriers.count - before <= 40 // SPARE


def test_calls_that_depend_on_each_other_take_one_each(barriers: Counted) -> None:
    compiled = pygpu.compile(doubled, target="compute")
    image = pygpu.Image(np.ones((9, 14), np.float32))
    value = compiled(image)
    before = barriers.count
    for _ in range(5):
        value = compiled(value)
    assert barriers.count == before + 5
    np.testing.assert_array_equal(value.numpy(), 64)
    assert barriers.count == before + 6  # what is downloaded was written


def test_rounds_take_turns_in_two_buffers(barriers: Counted) -> None:
    """Each waits for the one before it, after which older ones are free."""
    compiled = pygpu.compile(doubled, target="compute")
    value = pygpu.Image(np.ones((9, 14), np.float32))
    names = set()
    for _ in range(12):
        value = compiled(value)
        names.add(next(iter(value.storage.copies.values())).glo.glo)
    assert len(names) == 2


def test_tables_are_read_too(barriers: Counted) -> None:
    """Their buffers may become those of results once nobody holds the program."""
    table = np.random.default_rng(1).random(500)

    def looked_up(im: Image, p: Position, place: Int) -> Any:
        return im(p) + table[place]  # the same for all pixels: no texture

    pygpu.compile(looked_up, target="compute")(pygpu.Image(np.ones((2, 3), np.float32)), 7)
    with opengl.context() as gl:
        assert len(gl.order.busy) == 3  # the image, the table and the result


def test_threads_get_what_is_theirs(target: str) -> None:
    """Commands of several threads take one another's textures and buffers, and run in order."""

    def beside(im: Image, p: Position) -> Any:
        return im(p + (1, 0)) + im(p)

    compiled = pygpu.compile(beside, target=target)
    images = np.random.default_rng(5).random((400, 10, 12)).astype(np.float32)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda image: compiled(image[:, 1:11]), images))
    right = np.concatenate([images[:, :, 2:11], images[:, :, 10:11]], axis=2)
    np.testing.assert_array_equal(np.stack(found), right + images[:, :, 1:11])


def test_chains_give_what_numpy_gives(target: str) -> None:
    """Results of many sizes, let go in every order, whose buffers others take."""
    compiled = pygpu.compile(doubled, target=target)
    generator = np.random.default_rng(3)
    held: list[tuple[Any, Any]] = []
    for step in range(300):
        if held and generator.random() < 0.6:
            image, exact = held[generator.integers(len(held))]
        else:
            exact = generator.random((8, int(generator.integers(1, 4)) * 16)).astype(np.float32)
            image = pygpu.Image(exact)
        held.append((compiled(image), np.minimum(exact * 2, 1e30)))
        while len(held) > 6:
            image, exact = held.pop(int(generator.integers(len(held))))
            if step % 3 == 0:
                np.testing.assert_allclose(image.numpy(), exact, rtol=1e-6)
    for image, exact in held:
        np.testing.assert_allclose(image.numpy(), exact, rtol=1e-6)


def test_results_are_sent_to_the_device_before_another_thread_may_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require("compute")
    sent = Counted()
    image = pygpu.Image(np.ones((8, 8), np.float32))
    f = pygpu.compile(doubled, target="compute")
    f(image)
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "_flush", sent)
    sent.count = 0
    for _ in range(5):
        f(image)
    assert sent.count == 5


@pytest.mark.parametrize("device", ["fragment", "compute"])
def test_rounds_need_no_more_memory_than_two(device: str) -> None:
    require(device)
    compiled = pygpu.compile(doubled, target=device)
    image = pygpu.Image(np.ones((31, 44), np.float32))
    with opengl.context() as gl:
        gl.give_up()
    np.testing.assert_array_equal(compiled.iterate(image, 40).numpy(), 2.0**40)
    with opengl.context() as gl:
        gl.drain()
        assert len(gl.pool) <= 4


def test_what_a_first_call_makes_of_a_volume_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What planes read is written beforehand, with a barrier that forgets what is at work."""
    require("compute")
    compute, found = Pass.compute, []

    def watched(self: Pass, gl: Any, work: Any, planes: Any) -> Any:
        made = compute(self, gl, work, planes)
        found.append((planes is not None, [each.glo in gl.order.busy for each in made]))
        return made

    monkeypatch.setattr(Pass, "compute", watched)
    f = pygpu.compile(lambda v, p: v(p) + v(p + (0, 0, 1)), v=pygpu.Volume, p=pygpu.Position,
                      target="compute")  # fmt: skip
    f(np.ones((3, 4, 5), np.float32))
    assert found == [(True, [True])]
