"""GLSL written by hand: fragment and compute programs called like compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Int, Mat3, Position, Signal, UInt, Vec3, Vec4

GENERATOR = np.random.default_rng(0)
COLOURS = GENERATOR.integers(0, 250, (13, 18, 3)).astype(np.uint8)
GREY = COLOURS[..., 0] // 10 * 10 + 5  # between the tenths of a histogram
EDGE: dict[str, Any] = {
    "inputs": {"im": Image},
    "outputs": {"result": Vec4},
    "uniforms": {"gain": Float},
}


@pytest.fixture(autouse=True)
def opengl() -> None:
    require("fragment")
    require("compute")


def test_fragment_programs_read_samplers() -> None:
    edge = pygpu.program("result = texelFetch(im, p, 0) * gain;", **EDGE)
    for gain in (2.0, 0.5):
        found = edge(COLOURS, gain=gain)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found[..., :3], COLOURS / 255 * gain, 1e-6)


def test_functions_and_main_may_be_written() -> None:
    text = """
    vec4 twice(vec4 v) { return 2.0 * v; }
    void main() { result = twice(texelFetch(im, ivec2(gl_FragCoord.xy), 0)) * gain; }
    """
    found = pygpu.program(text, **EDGE)(COLOURS, 1.5)
    np.testing.assert_allclose(found[..., :3], COLOURS / 255 * 3, 1e-6)


def test_results_of_several_types() -> None:
    both = pygpu.program(
        "a = vec3(texelFetch(im, p, 0).r); b = p.x + 1000 * p.y;",
        inputs={"im": Image}, outputs={"a": Vec3, "b": Int},
    )  # fmt: skip
    a, b = both(GREY)
    np.testing.assert_allclose(a, np.repeat(GREY[..., None] / 255, 3, 2), 1e-6)
    np.testing.assert_array_equal(b, np.arange(18) + 1000 * np.arange(13)[:, None])


def test_compute_programs_read_buffers() -> None:
    count = pygpu.program(
        "doubled[i] = 2.0 * im[i]; atomicAdd(counts[uint(im[i] * 25.5)], 1u);",
        inputs={"im": Image}, outputs={"doubled": Float, "counts": UInt},
    )  # fmt: skip
    doubled, counts = count(GREY)
    np.testing.assert_allclose(doubled, GREY / 255 * 2, 1e-6)
    tenths = (GREY / np.float32(255) * np.float32(25.5)).astype(int)
    expected = np.bincount(tenths.ravel(), minlength=13 * 18)
    np.testing.assert_array_equal(counts.ravel(), expected)


def test_three_channels_in_buffers() -> None:
    swap = pygpu.program(
        "result[i] = im[i].bgr;", inputs={"im": Image}, outputs={"result": Vec3}, target="compute"
    )
    np.testing.assert_allclose(swap(COLOURS), COLOURS[..., ::-1] / 255, 1e-6)


def test_signals_are_turned_round() -> None:
    back = pygpu.program("y[i] = x[x_size.x - 1 - i];", inputs={"x": Signal}, outputs={"y": Float})
    x = GENERATOR.random(1000).astype(np.float32)
    np.testing.assert_array_equal(back(x), x[::-1])
    assert isinstance(back(Signal(x)), Signal)


def test_matrices_are_as_written() -> None:
    mix = pygpu.program(
        "result = m * texelFetch(im, p, 0).rgb;",
        inputs={"im": Image}, outputs={"result": Vec3}, uniforms={"m": Mat3},
    )  # fmt: skip
    matrix = GENERATOR.random((3, 3))
    np.testing.assert_allclose(mix(COLOURS, matrix), COLOURS / 255 @ matrix.T, 1e-5)


def test_calls_are_those_of_compiled_functions() -> None:
    image = pygpu.program("r = float(p.x + size.x * p.y);", outputs={"r": Float})(shape=(3, 4))
    assert isinstance(image, Image)
    np.testing.assert_array_equal(np.asarray(image), np.arange(12).reshape(3, 4))
    edge = pygpu.program("result = texelFetch(im, p, 0) * gain;", **EDGE)
    out = np.empty((13, 18, 4), np.uint8)
    assert edge(COLOURS, 1.0, out=out) is out
    np.testing.assert_array_equal(out[..., :3], COLOURS)
    assert edge(COLOURS, 1.0, dtype=np.uint8).dtype == np.uint8
    assert edge(Image(COLOURS, boundary="wrap"), 1.0).boundary == "wrap"
    assert "gain" in repr(edge)
    assert edge.source(COLOURS, gain=1.0).startswith("#version 330 core")


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: pygpu.program(3, outputs={"r": Float}), TypeError, "text takes GLSL"),
    (
        lambda: pygpu.program("r = 1.0;", inputs=np.zeros(2), outputs={"r": Float}),
        TypeError,
        "inputs takes a dict of names",
    ),
    (lambda: pygpu.program("", outputs={}), ValueError, "outputs takes a result"),
    (lambda: pygpu.program("", outputs={"p": Float}), ValueError, "'p' is a name that PyGPU"),
    (lambda: pygpu.program("", outputs={"gl_r": Float}), ValueError, "no name in GLSL"),
    (lambda: pygpu.program("", outputs={"r": Float}, inputs={"r": Image}), ValueError, "twice"),
    (lambda: pygpu.program("", outputs={"r": Image}), TypeError, "r takes a type of numbers"),
    (lambda: pygpu.program("", outputs={"r": Float}, inputs={"im": Float}), TypeError, "Image or"),
    (
        lambda: pygpu.program("", outputs={"r": Float}, uniforms={"k": Position}),
        TypeError,
        "uniforms: k takes",
    ),
    (lambda: pygpu.program("", outputs={"r": Float}, target="cpu"), pygpu.DeviceError, "OpenGL"),
    (lambda: pygpu.program("r = 1.0;", outputs={"r": Float})(), TypeError, "needs shape="),
    (
        lambda: pygpu.program("r =\nnope;", outputs={"r": Float})(shape=(2, 2)),
        pygpu.CompileError,
        r"(?s)0:2\(1\): error: `nope'|0\(2\) : error .*\"nope\"",  # Mesa's words; NVIDIA's
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_wrong_calls_say_what_is_taken(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
