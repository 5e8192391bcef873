"""Small buffers downloaded through one that stays mapped: tests/devices runs it in software, too,
where the context itself maps what it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import require
from pygpu.devices.opengl import context as opengl

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize("nbytes", [4, 8, 7, 252, 256, 260, 4096, 100_001, 1 << 18])
def test_words_are_downloaded(nbytes: int) -> None:
    require("compute")
    with opengl.context() as gl:
        if gl.mapped is None:
            pytest.skip("the driver has no buffers that stay mapped")
        given = GENERATOR.integers(0, 256, -(-nbytes // 4) * 4, np.uint8)
        buffer = gl.buffer(len(given))
        for _ in range(3):
            given = given[::-1].copy()
            gl.write(buffer, given)
            found = np.zeros(nbytes, np.uint8)
            assert gl.mapped.takes(buffer.glo, nbytes)
            gl.order.before(read=[buffer.glo])
            gl.mapped.download(buffer.glo, found)
            np.testing.assert_array_equal(found, given[:nbytes])


def test_large_buffers_and_ends_go_another_way() -> None:
    require("compute")
    with opengl.context() as gl:
        if gl.mapped is None:
            pytest.skip("the driver has no buffers that stay mapped")
        assert not gl.mapped.takes(gl.buffer(1 << 20).glo, (1 << 18) + 1)
        assert not gl.mapped.takes(gl.buffer(7).glo, 7)
        assert not gl.mapped.takes(gl.buffer(8).glo, 0)


def test_a_mapped_buffer_is_released_and_made_again() -> None:
    require("compute")
    with opengl.context() as gl:
        if gl.mapped is None:
            pytest.skip("the driver has no buffers that stay mapped")
        gl.mapped.release()
        del gl.mapped
        buffer = gl.buffer(8)
        gl.write(buffer, np.arange(8, dtype=np.uint8))
        found = np.zeros(8, np.uint8)
        assert gl.mapped is not None
        gl.order.before(read=[buffer.glo])
        gl.mapped.download(buffer.glo, found)
        np.testing.assert_array_equal(found, np.arange(8))


def test_a_fence_that_fails_is_waited_for_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    require("compute")
    with opengl.context() as gl:
        if gl.mapped is None:
            pytest.skip("the driver has no buffers that stay mapped")
        failing = {**gl.mapped._call, "glClientWaitSync": lambda *_: 0x911D}
        monkeypatch.setattr(gl.mapped, "_call", failing)
        waited: list[bool] = []
        monkeypatch.setattr(gl.mapped, "_gl", _Watched(gl.mapped._gl, waited))
        given = GENERATOR.integers(0, 256, 4096, np.uint8)
        buffer = gl.buffer(len(given))
        gl.write(buffer, given)
        found = np.zeros(len(given), np.uint8)
        gl.order.before(read=[buffer.glo])
        gl.mapped.download(buffer.glo, found)
        np.testing.assert_array_equal(found, given)
        assert waited


class _Watched:
    """A context that notes when it is finished."""

    def __init__(self, gl: Any, waited: list[bool]) -> None:
        self.gl, self.waited = gl, waited

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gl, name)

    def finish(self) -> None:
        self.gl.finish()
        self.waited.append(True)
