"""Draws by a program that has drawn before: cpu keeps what draws of a kind have in common."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import require
from pygpu import Float, Image, Int, Mesh, Shader, Vec2, Vec3, Vec4, draw
from pygpu.devices.cpu import drawing as native


@pytest.fixture(params=["cpu", "fragment", "compute"])
def on(request: pytest.FixtureRequest) -> str:
    require(request.param)
    return str(request.param)


def shaders() -> type[Shader]:
    """A class of its own, for which nothing has been drawn yet."""

    class Photo(Shader):
        photo: Image
        tint: Vec3
        moved: Vec2
        steps: Int

        def vertex(self, position: Vec2, uv: Vec2):
            lifted = 0.25 * self.photo.at(uv).x
            return Vec4(position + self.moved, lifted, 1), uv

        def fragment(self, uv):
            bright = 0.0
            for _ in range(self.steps):
                bright += 0.5
            colour = self.photo.at(uv).xyz * self.tint * bright
            return Vec4(colour, 0.5), uv.x

    return Photo


Photo = shaders()


def scene(seed: int) -> tuple[list[Any], Mesh, dict[str, Any]]:
    """What a shader holds, a mesh and a state: each of a few kinds, in all orders."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=6)
    photo = rng.random(((5, 4), (7, 9))[kind[0]] + (3,)).astype(np.float32)
    given = [Image(photo), Vec3(*rng.random(3)), Vec2(*(0.2 * rng.random(2))), int(kind[1]) + 1]
    corners = 6 if kind[2] else 3
    mesh = Mesh(position=rng.uniform(-1, 1, (corners, 2)), uv=rng.random((corners, 2)))
    shape = ((20, 32), (70, 67))[kind[3]]
    state: dict[str, Any] = {"shape": shape, "clear": [tuple(rng.random(4)), rng.random()]}
    if kind[4]:
        state["keep_depth"] = True
    if kind[5]:
        under = Image(rng.random((*shape, 4)).astype(np.float32)), rng.random(shape, np.float32)
        state |= {"onto": under, "depth": rng.random(shape, np.float32)}
    return given, mesh, state


def drawn(cls: type[Shader], seed: int, on: str) -> list[NDArray[Any]]:
    given, mesh, state = scene(seed)
    return [np.asarray(image) for image in draw(cls(*given), mesh, target=on, **state)]


def test_draws_by_one_program_are_those_by_programs_of_their_own(on: str) -> None:
    seeds = range(12 if on == "cpu" else 6)
    expected = [drawn(shaders(), seed, on) for seed in seeds]
    actual = [drawn(Photo, seed, on) for seed in (*seeds, *seeds)]  # all held until the end
    for first, second in zip(itertools.chain(expected, expected), actual, strict=True):
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)


def test_threads_draw_by_one_program_at_once() -> None:
    seeds = [seed % 10 for seed in range(120)]
    expected = [drawn(shaders(), seed, "cpu") for seed in range(10)]
    with ThreadPoolExecutor(4) as threads:
        actual = list(threads.map(lambda seed: drawn(Photo, seed, "cpu"), seeds))
    for seed, found in zip(seeds, actual, strict=True):
        for one, other in zip(expected[seed], found, strict=True):
            np.testing.assert_array_equal(one, other)


class Grey(Shader):
    bright: Float

    def vertex(self, position: Vec2):
        return Vec4(position, 0, 1)

    def fragment(self):
        return self.bright


def test_memory_of_large_draws_is_not_kept_and_kinds_are_few() -> None:
    (first,) = _programs(Grey(0.5), [(8, 8)])
    for frame in first.frames.values():
        assert frame.memory is not None
        assert frame.memory.nbytes <= native.SPARE + 64
    large = np.asarray(draw(Grey(0.25), Mesh.quad(), shape=(900, 1001), target="cpu"))
    assert (large == 0.25).all()
    sizes = {frame.size for frame in first.frames.values() if frame.memory is None}
    assert min(sizes) > native.SPARE
    _programs(Grey(0.5), [(8, 8 + width) for width in range(2 * native.FRAMES)])
    assert len(first.frames) <= native.FRAMES


def _programs(shader: Shader, shapes: list[tuple[int, int]]) -> list[Any]:
    """The programs that such draws went by."""
    for shape in shapes:
        assert (np.asarray(draw(shader, Mesh.quad(), shape=shape, target="cpu")) == 0.5).all()
    made = [each for each in type(shader)._drawings.values() if each.program is not None]
    return [each.program for each in made]
