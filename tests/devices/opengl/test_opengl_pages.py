"""Large buffers: in large pages where the driver has a way for that, else plain."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import LARGE, Context
from pygpu.devices.opengl.driver.pages import LargePages, PagesError


@pytest.fixture
def gl() -> Iterator[Context]:
    require("compute")
    with opengl.context() as context:
        yield context


class Refusing:
    """Large pages of which there are none left."""

    def __init__(self) -> None:
        self.asked = 0

    def buffer(self, nbytes: int) -> Any:
        self.asked += 1
        raise PagesError("cuMemCreate answered 2")


def nothing(function: str) -> int:
    return 0


def test_driver_without_the_extension_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "pygpu"):
        assert LargePages.open(SimpleNamespace(extensions=set()), nothing) is None
    assert "no GL_EXT_memory_object_fd" in caplog.text


def test_driver_without_the_functions_has_plain_buffers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gl = SimpleNamespace(extensions={"GL_EXT_memory_object_fd"})
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    with caplog.at_level(logging.INFO, "pygpu"):
        assert LargePages.open(gl, nothing) is None
    assert "no glGetUnsignedBytei_vEXT" in caplog.text


def test_environment_turns_them_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_LARGE_PAGES", "0")
    assert LargePages.open(SimpleNamespace(), nothing) is None


def test_plain_buffers_serve_where_large_pages_are_short(
    gl: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = Refusing()
    monkeypatch.setitem(gl.__dict__, "pages", pages)
    gl.pool.clear()
    gl.memory(1000)
    assert pages.asked == 0  # small ones do not ask
    held = gl.memory(LARGE)
    assert pages.asked == 2  # again once the pool was emptied
    held.glo.write(b"1234")
    assert held.glo.read(4) == b"1234"


def test_large_images_come_back_as_they_went_up(gl: Context) -> None:
    image = np.random.default_rng(7).random((4099, 4099), np.float32)
    twice = pygpu.compile(
        lambda im, p: 2 * im(p), im=pygpu.Image, p=pygpu.Position, target="compute"
    )
    assert image.nbytes > LARGE
    np.testing.assert_array_equal(twice(image), 2 * image)


def test_large_images_of_any_size_keep_what_programs_write(gl: Context) -> None:
    if gl.pages is None:
        pytest.skip("this driver has no large pages")
    numbers = pygpu.compile(
        lambda im, p, k: p.x + k,
        im=pygpu.Signal,
        p=pygpu.Position,
        k=pygpu.Int,
        target="compute",
    )
    empty = pygpu.Signal(np.zeros(1, np.float32))
    sides = np.random.default_rng(3).integers(LARGE // 4, LARGE * 6, 40)
    kept = [numbers(empty, k, shape=(int(side),)) for k, side in enumerate(sides)]
    for k, (side, result) in enumerate(zip(sides, kept, strict=True)):
        found = np.asarray(result)
        assert (found[0], found[-1]) == (k, side - 1 + k)
        assert (found[1:] > 0).all()


class Forgetful:
    """OpenGL by a driver whose buffers in large pages lose what is written to them."""

    error = "GL_NO_ERROR"

    def external_buffer(self, name: int, nbytes: int) -> Any:
        return self.buffer(nbytes)

    def buffer(self, reserve: int) -> Any:
        return SimpleNamespace(
            size=reserve, write=lambda *_, **__: None, read=lambda: bytes(4), release=lambda: None
        )

    def copy_buffer(self, *given: Any, **more: Any) -> None:
        pass


def test_buffer_that_loses_what_is_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LargePages, "__init__", lambda self: None)
    monkeypatch.setattr(LargePages, "_exported", lambda self, size: 3)
    asked: list[str] = []
    monkeypatch.setattr(LargePages, "_gl", lambda self, name, *given: asked.append(name))
    pages = LargePages()  # type: ignore[call-arg]
    pages.gl, pages.page = Forgetful(), 1 << 21
    with pytest.raises(PagesError, match="loses what is written"):
        pages.buffer(40_000_000)
    assert asked[-1] == "glDeleteBuffers"


def test_large_pages_are_given_back(gl: Context) -> None:
    if gl.pages is None:
        pytest.skip("this driver has no large pages")
    nbytes = max(gl.limits.memory // 3, LARGE) // 16 * 16
    for _ in range(4):  # more than there is
        gl.pages.buffer(nbytes).release()
    gl.check()
