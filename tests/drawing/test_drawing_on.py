"""Draws over pictures: copied where somebody else has them, drawn into as they are where not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import DeviceError, Float, Image, Mesh, Position, Shader, Vec2, Vec3, Vec4, draw
from pygpu.devices.meshes import opengl as meshes


@pytest.fixture(params=["cpu", "fragment", "compute"])
def on(request: pytest.FixtureRequest) -> str:
    require(request.param)
    return str(request.param)


class Layer(Shader):
    """Adds its colour in the middle of the picture."""

    value: Any
    z: Float = 0.0
    texels: Any = None

    def vertex(self, position):
        return Vec4(position * 0.5, self.z, 1)

    def fragment(self, p: Position):
        return self.value if self.texels is None else self.value + self.texels(p)


def layers(count: int, channels: int) -> tuple[Any, Any]:
    """A colour, and a picture that it was added to so often."""
    colour = np.arange(3, 3 + channels, dtype=np.float32)
    picture = np.zeros((8, 12, channels), np.float32)
    picture[2:6, 3:9] = count * colour
    values: Any = {1: 3.0, 2: Vec2(3, 4), 3: Vec3(3, 4, 5), 4: Vec4(3, 4, 5, 6)}
    return values[channels], picture if channels > 1 else picture[..., 0]


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What of pictures is copied to be drawn over."""
    found: list[str] = []
    fill = meshes._Targets._fill

    def filling(targets: Any, textures: Any, depths: Any, under: Any, what: str) -> None:
        if under.texture is not None:
            found.append(what)
        fill(targets, textures, depths, under, what)

    monkeypatch.setattr(meshes._Targets, "_fill", filling)
    return found


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pictures_that_nobody_else_has_are_drawn_over_without_a_copy(
    channels: int, on: str, copied: list[str]
) -> None:
    value, expected = layers(4, channels)
    shader, options = Layer(value), {"blend": "add", "keep_depth": True, "target": on}
    drawn, depths = draw(shader, Mesh.quad(), shape=(8, 12), **options)
    for z in (-0.1, -0.2, -0.3):
        shader = Layer(value, z)
        drawn, depths = draw(shader, Mesh.quad(), onto=drawn, depth=depths, **options)
    np.testing.assert_array_equal(np.asarray(drawn), expected)
    assert np.asarray(depths)[4, 6] == np.float32(0.35)
    assert copied == []


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pictures_that_somebody_has_stay_as_they_are(channels: int, on: str) -> None:
    value, once = layers(1, channels)
    _, twice = layers(2, channels)
    _, thrice = layers(3, channels)
    options: Any = {"blend": "add", "depth": False, "target": on}
    first = draw(Layer(value), Mesh.quad(), shape=(8, 12), **options)
    second = draw(Layer(value), Mesh.quad(), onto=first, **options)
    third = draw(Layer(value), Mesh.quad(), onto=second, **options)
    other = draw(Layer(value, 0.0, first), Mesh.quad(), onto=first, **options)
    for made, expected in ((third, thrice), (first, once), (second, twice), (other, thrice)):
        np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_pictures_by_functions_are_drawn_over_and_read_without_a_copy(
    channels: int, copied: list[str]
) -> None:
    doubled = pygpu.compile(twice_of, target="fragment")
    value, expected = layers(1, channels)
    made = doubled(Image(np.zeros_like(expected)))
    made = draw(Layer(value), Mesh.quad(), onto=made, target="fragment")
    texture = made.storage.copies["opengl"].glo
    made = doubled(made)
    np.testing.assert_array_equal(np.asarray(made), 2 * expected)
    assert copied == []
    assert texture is not made.storage.copies["opengl"].glo


def twice_of(im: Image, p: Position):
    return im(p) * 2.0


def test_draws_that_wait_are_drawn_by_whoever_reads_first(on: str) -> None:
    value, expected = layers(2, 3)
    options: Any = {"blend": "add", "depth": False, "target": on}
    for _ in range(5):
        drawn = draw(Layer(value), Mesh.quad(), shape=(8, 12), **options)
        drawn = draw(Layer(value), Mesh.quad(), onto=drawn, **options)
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda im: np.asarray(im + 0.0), [drawn] * 8))
        for each in made:
            np.testing.assert_array_equal(each, expected)


def test_draws_that_wait_are_read_on_the_host_and_written_to_arrays(on: str) -> None:
    @pygpu.compile(target="cpu")
    def twice(im: Image, p: Position):
        return 2 * im(p)

    value, expected = layers(1, 1)
    over = Image(np.zeros((8, 12), np.float32))
    drawn = [draw(Layer(value), Mesh.quad(), onto=over, target=on) for _ in range(2)]
    assert np.array_equal(2 * expected, np.asarray(twice(drawn[0])))
    out = np.zeros((8, 12), np.float32)
    pygpu.compile(twice.__wrapped__, target=on)(drawn[1], out=out)
    assert np.array_equal(2 * expected, out)


def test_a_draw_that_is_interrupted_in_its_pictures_own_texture_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value, expected = layers(2, 4)
    options: Any = {"blend": "add", "depth": False, "target": "fragment"}

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    for is_held in (False, True):
        drawn = draw(Layer(value), Mesh.quad(), shape=(8, 12), **options)
        held = drawn if is_held else None
        drawn = draw(Layer(value), Mesh.quad(), onto=drawn, **options)
        with monkeypatch.context() as patch:
            patch.setattr(meshes, "_render", interrupted)
            with pytest.raises(KeyboardInterrupt):
                np.asarray(drawn)
        if held is None:
            with pytest.raises(DeviceError, match="lost when its draw was interrupted"):
                np.asarray(drawn)
        else:  # it is there still
            np.testing.assert_array_equal(np.asarray(drawn), expected)
