"""Functions written as on Shadertoy."""

from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import Vec2, Vec3, Vec4
from pygpu.command.live import scenes


def test_places_count_from_the_bottom_and_are_of_pixels_centres(target: str) -> None:
    @pygpu.shadertoy
    def place(fragCoord, iResolution):
        return Vec3(fragCoord.x, fragCoord.y, iResolution.x / iResolution.y)

    found = np.asarray(place.on(target)(shape=(3, 6)))
    y, x = np.mgrid[:3, :6]
    np.testing.assert_array_equal(found[..., 0], x + 0.5)
    np.testing.assert_array_equal(found[..., 1], 2.5 - y)
    np.testing.assert_array_equal(found[..., 2], 2)


def test_time_mouse_frame_and_channels_are_given() -> None:
    photo = np.random.default_rng(0).random((4, 5, 3)).astype(np.float32)

    @pygpu.shadertoy
    def given(f, iTime, iMouse, iFrame, iChannel0):
        uv = Vec2(f.x / 5, 1 - f.y / 4)
        return Vec4(iChannel0.at(uv) + iTime + iMouse.w + iFrame, 0.5)

    found = given(0.5, shape=(4, 5), mouse=(0, 0, 0, 2), frame=3, iChannel0=photo)
    np.testing.assert_allclose(np.asarray(found), photo + 5.5, rtol=1e-5)
    with pytest.raises(TypeError, match="takes the pictures iChannel0, got none"):
        given(0.5)
    for shape in (4, (4, 5, 3)):
        with pytest.raises(TypeError, match=r"shape: takes \(height, width\).*, got"):
            given(0.5, shape=shape, iChannel0=photo)


def test_the_next_row_is_the_one_below(target: str) -> None:
    @pygpu.shadertoy
    def slopes(f):
        return Vec3(pygpu.ddx(2 * f.x), -pygpu.ddy(3 * f.y), pygpu.fwidth(f.x * f.y))

    x, y = np.meshgrid(np.arange(5) + 0.5, 3.5 - np.arange(4))
    found = np.asarray(slopes.on(target)(shape=(4, 5)))
    np.testing.assert_array_equal(found, np.stack([0 * x + 2, 0 * x + 3, y + x], axis=-1))


def test_it_moves_and_goes_to_the_browser(tmp_path: Path) -> None:
    @pygpu.shadertoy
    def flash(f, iTime):
        """Grey that gets lighter."""
        return Vec3(pygpu.fract(iTime))

    path = pygpu.animate(flash, [0.0, 0.25, 0.5], tmp_path / "flash.png", shape=(2, 3))
    assert [int(frame[0, 0, 0]) for frame in pygpu.frames(path)] == [0, 64, 128]
    text = flash.export(tmp_path / "page.html", shape=(20, 30)).read_text("utf-8")
    assert '"name":"time","kind":"time"' in text
    assert '"name":"resolution"' not in text
    assert '"name":"mouse"' not in text  # which nobody asks for
    assert "<title>flash" in text
    assert "Grey that gets lighter." in text
    assert "def flash(f, iTime)" in text
    assert "_pixel" not in text


def test_frames_are_counted(tmp_path: Path) -> None:
    @pygpu.shadertoy
    def counting(f, iFrame):
        return Vec3(iFrame / 8)

    def films(**options: object) -> list[int]:
        path = pygpu.animate(counting, 4, tmp_path / "film.png", shape=(2, 3), **options)
        return [int(frame[0, 0, 0]) for frame in pygpu.frames(path)]

    assert films() == [0, 32, 64, 96]
    assert np.unique(films(frame=4)).tolist() == [128]
    scene = scenes.scene_of(scenes.Request(counting, (), {}, shape=(2, 3)))
    shown = [scene.frame({"time": [seconds]})[0, 0, 0] for seconds in (0, 0.1, 0.2, 0)]
    assert shown == [0, 32, 64, 0]


def test_other_names_are_refused() -> None:
    with pytest.raises(TypeError, match="'time' is none of iTime, iResolution"):
        pygpu.shadertoy(lambda f, time: Vec3(time))
    with pytest.raises(TypeError, match="channels are taken from iChannel0 on"):
        pygpu.shadertoy(lambda f, iChannel1: iChannel1(f))
    with pytest.raises(TypeError, match="takes a function, got 3"):
        pygpu.shadertoy(3)
