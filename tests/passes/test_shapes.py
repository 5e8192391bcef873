"""Shapes of compute programs: their default, and how what was measured is remembered."""

import numpy as np
import pytest

from pygpu.core.device import Task
from pygpu.core.host import cache
from pygpu.core.storage import Format
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.shapes import Shape
from pygpu.ssa import Builder, ImageInput
from pygpu.types import FLOAT

FLOATS = Format(np.dtype("float32"), 1)
BYTES = Format(np.dtype("uint8"), 1)


@pytest.fixture(autouse=True)
def disk(monkeypatch, tmp_path):
    monkeypatch.setenv("PYGPU_CACHE", "1")
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    shapes.forget()
    yield
    shapes.forget()


def scaled(by):
    build = Builder("scaled", [ImageInput("image", FLOAT)])
    texel = build.load(0, build.x, build.y)
    return build.finish([build.emit("mul", texel, build.constant(FLOAT, by))])


def test_candidates_are_different_and_include_each_default():
    assert len(set(shapes.CANDIDATES)) == len(shapes.CANDIDATES)
    assert {shapes.OWN, shapes.POINTS, shapes.WINDOWS, shapes.PACKED} <= set(shapes.CANDIDATES)


def test_default_shapes_follow_how_a_function_reads():
    build = Builder("sides", [ImageInput("image", FLOAT)])
    sides = [build.load(0, build.x, build.y, dx=dx) for dx in (-1, 1)]
    near = build.finish([build.emit("add", *sides)])
    build = Builder("turned", [ImageInput("image", FLOAT)])
    turned = build.finish([build.load(0, build.y, build.x)])
    assert shapes.default(Task(scaled(2.0), [FLOATS], [FLOATS])) == shapes.OWN
    colours = Format(np.dtype(np.float32), 4)
    assert shapes.default(Task(scaled(2.0), [colours], [colours])) == shapes.WHOLE
    assert shapes.default(Task(scaled(2.0), [BYTES], [BYTES])) == shapes.WINDOWS
    assert shapes.default(Task(near, [FLOATS], [FLOATS])) == shapes.POINTS
    assert shapes.default(Task(turned, [FLOATS], [FLOATS])) == shapes.SINGLE
    assert shapes.default(Task(turned, [BYTES], [BYTES])) == shapes.SCATTERED
    assert shapes.default(Task(turned, [BYTES], [BYTES]), narrow=True) == shapes.SINGLE


def test_a_shape_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Shape(4, 0, 64, 1)


def test_a_key_knows_function_formats_and_driver():
    keys = [
        shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "A"),
        shapes.key(Task(scaled(3.0), [FLOATS], [FLOATS]), "A"),
        shapes.key(Task(scaled(2.0), [BYTES], [FLOATS]), "A"),
        shapes.key(Task(scaled(2.0), [FLOATS], [BYTES]), "A"),
        shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "B"),
    ]
    assert len(set(keys)) == len(keys)
    assert shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "A") == keys[0]


def test_what_was_measured_is_found_by_another_process():
    shape = Shape(4, 2, 32, 8)
    assert shapes.remembered("key") is None
    shapes.remember("key", shape)
    assert shapes.remembered("key") == shape
    shapes.forget()  # what another process begins with
    assert shapes.remembered("key") == shape


def test_without_a_cache_it_is_remembered_in_the_process_alone(monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE", "0")
    shapes.remember("key", Shape(4, 2, 32, 8))
    assert shapes.remembered("key") == Shape(4, 2, 32, 8)
    shapes.forget()
    assert shapes.remembered("key") is None


@pytest.mark.parametrize("data", [b"", b"4 2 32", b"4 0 32 8", b"four", b"4 2 32 8 1", b"\xff"])
def test_an_entry_of_something_else_counts_as_none(data):
    cache.put(shapes.KIND, "key", data)
    assert shapes.remembered("key") is None
