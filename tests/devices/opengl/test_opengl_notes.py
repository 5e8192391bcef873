"""Commands that wait for a section in which the context is current."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position
from pygpu.core.errors import DeviceError
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver import notes
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.notes import TOGETHER, TRIES, Notes
from pygpu.devices.opengl.driver.platform import EglContext


def scaled(im: Image, p: Position, by: Float) -> Any:
    return im(p + (1, 0)) * by


@pytest.fixture
def gl(monkeypatch: pytest.MonkeyPatch) -> Context:
    """The context, which takes notes as one of hardware does."""
    require("compute")
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "is_software", False)
        monkeypatch.setattr(gl.notes, "together", TOGETHER)
        monkeypatch.setattr(notes, "BURST", 1e3)
    return gl


@pytest.fixture
def entered(gl: Context, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows whenever the context is made current."""
    found: list[object] = []
    enter = EglContext.enter

    def counted(self: EglContext) -> Any:
        found.append(self)
        return enter(self)

    monkeypatch.setattr(EglContext, "enter", counted)
    return found


def warm(f: Any, image: pygpu.Image, number: float = 1.0) -> None:
    """Leaves buffers enough for results."""
    results = [f(image, number) for _ in range(40)]
    results[-1].numpy()


def test_commands_are_given_in_their_order() -> None:
    given: list[int] = []
    waiting = Notes(3)
    waiting.acted()
    while waiting.are_taken():
        waiting.put(partial(given.append, len(given) + len(waiting._waiting)))
    assert waiting
    assert given == []
    waiting.give()
    assert given == [0, 1, 2]
    assert not waiting


def test_nothing_waits_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "BURST", 1e-3)
    waiting = Notes(8)
    waiting.acted()
    time.sleep(2e-3)
    assert not waiting.are_taken()


def test_an_interrupted_command_is_given_again() -> None:
    given: list[str] = []
    waiting = Notes(8)

    def interrupted() -> None:
        given.append("begun")
        if len(given) == 1:
            raise KeyboardInterrupt

    waiting.put(interrupted)
    waiting.put(partial(given.append, "next"))
    with pytest.raises(KeyboardInterrupt):
        waiting.give()
    assert not waiting.are_taken()
    waiting.give()
    assert given == ["begun", "begun", "next"]
    assert not waiting


def test_a_command_that_fails_again_and_again_is_an_error() -> None:
    waiting = Notes(8)
    waiting.put(lambda: 1 / 0)
    for _ in range(TRIES):
        with pytest.raises(ZeroDivisionError):
            waiting.give()
    with pytest.raises(DeviceError, match="could not be given"):
        waiting.give()


def test_calls_that_follow_each_other_share_a_section(entered: list[object]) -> None:
    f, image = pygpu.compile(scaled, target="compute"), pygpu.Image(np.ones((9, 14), np.float32))
    warm(f, image)
    del entered[:]
    results = [f(image, float(n)) for n in range(16)]
    assert len(entered) < 4
    for n, result in enumerate(results):
        assert np.all(result.numpy() == n)


def test_chains_of_calls_wait_for_each_other(gl: Context) -> None:
    f = pygpu.compile(scaled, target="compute")
    texels = np.random.default_rng(0).random((7, 30), np.float32)
    image = pygpu.Image(texels)
    warm(f, image)
    expected = texels
    for _ in range(50):
        image = f(image, 0.5)
        expected = np.roll(np.pad(expected, ((0, 0), (0, 1)), "edge"), -1, 1)[:, :-1] / 2
    assert np.array_equal(image.numpy(), expected)


def test_another_thread_finds_what_waits(gl: Context) -> None:
    f, image = pygpu.compile(scaled, target="compute"), pygpu.Image(np.ones((9, 14), np.float32))
    warm(f, image)
    results = [f(image, float(n)) for n in range(5)]
    assert gl.notes
    with ThreadPoolExecutor(3) as pool:
        again = list(pool.map(lambda result: f(result, 2.0).numpy(), results))
    for n, each in enumerate(again):
        assert np.all(each == 2 * n)


def test_what_is_interrupted_while_it_is_noted_harms_no_other_call(
    gl: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, image = pygpu.compile(scaled, target="compute"), pygpu.Image(np.ones((9, 14), np.float32))
    warm(f, image)
    first = f(image, 3.0)

    def interrupted(self: Notes, command: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Notes, "put", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(image, 4.0)
    last = f(image, 5.0)
    assert np.all(first.numpy() == 3)
    assert np.all(last.numpy() == 5)


def test_functions_that_loop_are_given_at_once(entered: list[object]) -> None:
    def counted(im: Image, p: Position, n: int) -> Any:
        v = 0.0
        for _ in range(n):
            v = v * 0.5 + im(p)
        return v

    f, image = pygpu.compile(counted, target="compute"), pygpu.Image(np.ones((9, 14), np.float32))
    warm(f, image, 1)
    del entered[:]
    for n in range(5):
        f(image, n)
    assert len(entered) == 5


def test_stages_of_a_pipeline_share_a_section(entered: list[object]) -> None:
    across = pygpu.compile(lambda im=Image, p=Position: sum(im(p + (i, 0)) for i in range(-6, 7)))
    down = pygpu.compile(lambda im=Image, p=Position: sum(im(p + (0, i)) for i in range(-6, 7)))

    @pygpu.pipeline(target="compute")
    def both(im: Any) -> Any:
        return down(across(im))

    image = pygpu.Image(np.ones((90, 140), np.float32))
    results = [both(image) for _ in range(40)]
    assert np.all(results[0].numpy() == 169)
    del results, entered[:]
    for _ in range(16):
        result = both(image)
    assert len(entered) < 16
    assert np.all(result.numpy() == 169)


@pytest.mark.parametrize("channels", [1, 3])
def test_what_is_drawn_is_made_before_commands_are_put_down(gl: Context, channels: int) -> None:
    class Tinted(pygpu.Shader):
        value: Any

        def vertex(self, position: Any) -> Any:
            return pygpu.Vec4(position * 0.5, 0, 1)

        def fragment(self) -> Any:
            return self.value

    f = pygpu.compile(scaled, target="compute")
    value = 3.0 if channels == 1 else pygpu.Vec3(3, 3, 3)
    under = np.ones((9, 14, channels), np.float32)[..., slice(None) if channels > 1 else 0]
    for _ in range(3):
        image = f(pygpu.Image(under), 2.0)
        drawn = pygpu.draw(
            Tinted(value), pygpu.Mesh.quad(), onto=image, depth=False, target="compute"
        )
        found = f(drawn, 0.5).numpy()
        assert (np.min(found), np.max(found)) == (1, 1.5)
        expected = np.asarray(drawn)
        np.testing.assert_array_equal(found[:, :-1], expected[:, 1:] * 0.5)
