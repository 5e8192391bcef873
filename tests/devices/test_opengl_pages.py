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


def test_large_pages_are_given_back(gl: Context) -> None:
    if gl.pages is None:
        pytest.skip("this driver has no large pages")
    nbytes = max(gl.limits.memory // 3, LARGE) // 16 * 16
    for _ in range(4):  # more than there is
        gl.pages.buffer(nbytes).release()
    gl.check()
