"""Functions of which a row of results reads a column are computed in small tiles."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.codegen.llvm.plan import plan
from pygpu.core.programs import Task
from pygpu.core.storage import Format


@pygpu.compile(target="cpu")
def transposed(im: Image, p: Position):
    return im((p.y, p.x))


@pygpu.compile(target="cpu")
def turned(im: Image, p: Position):
    return im((p.y, im.height - 1 - p.x))


@pygpu.compile(target="cpu")
def sheared(im: Image, p: Position):
    return im((p.x, p.y + p.x // 2))


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 200), (64, 64), (129, 65), (300, 127), (512, 513)])
def test_columns_become_rows(shape, dtype, channels, threads, monkeypatch) -> None:
    monkeypatch.setenv("PYGPU_THREADS", threads)
    texels = np.random.default_rng(0).integers(0, 255, (*shape, *channels)).astype(dtype)
    have = np.asarray(transposed(texels, shape=shape[::-1], dtype=dtype))
    np.testing.assert_array_equal(have, texels.swapaxes(0, 1))
    have = np.asarray(turned(texels, shape=shape[::-1], dtype=dtype))
    np.testing.assert_array_equal(have, np.rot90(texels, -1))


def test_only_what_reads_a_column_is_in_small_tiles() -> None:
    floats = Format(np.dtype("float32"), 1)
    image = Image(np.zeros((9, 9), np.float32))

    def crosses(function) -> bool:
        made = function.lower(image)._made.translated.function
        return plan(Task(made, (floats,), (floats,)), 16).crosses

    assert crosses(transposed)
    assert crosses(turned)
    assert not crosses(sheared)
