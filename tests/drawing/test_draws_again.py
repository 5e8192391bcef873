"""Draws by a program that has drawn before: cpu keeps what draws of a kind have in common."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import require
from pygpu import Float, Image, Int, Mat2, Mesh, Shader, Vec2, Vec3, Vec4, draw
from pygpu.devices.cpu import drawing as native
from pygpu.drawing import programs


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


class Lamp:
    def __init__(self, colour: Vec3, bright: float) -> None:
        self.colour, self.bright = colour, bright

    def shade(self):
        return self.colour * self.bright


class Twice(Lamp):
    def shade(self):
        return self.colour * self.bright * 2


SCALE = 1.0


class Held(Shader):
    """A shader with all that objects hold."""

    lamps: list
    photo: Image
    turn: Mat2
    mode: str
    table: object
    named: dict

    def vertex(self, position: Vec2):
        return Vec4(self.turn @ position, 0, 1)

    def fragment(self):
        total = sum(lamp.shade() for lamp in self.lamps) * SCALE + self.photo((5, 0))
        if self.mode == "extra":
            total += self.table[1] + self.named["more"]
        return total


def held() -> Held:
    lamps = [Lamp(Vec3(0.1, 0.2, 0.3), 0.5), Twice(Vec3(0.3, 0.1, 0), 0.25)]
    photo = Image(np.float32([[[0.1, 0.0, 0.2], [0.5, 0.25, 0]]]))
    return Held(lamps, photo, np.eye(2), "extra", np.array([1.0, 2.0]), {"more": 0.5})


def _swap_lamps(shader: Held) -> None:
    shader.lamps.reverse()


def _one_lamp_twice(shader: Held) -> None:
    shader.lamps[1] = shader.lamps[0]


def _one_vector_twice(shader: Held) -> None:
    shader.lamps[1].colour = shader.lamps[0].colour


def _change_numbers(shader: Held) -> None:
    shader.lamps[0].colour.x = 3.0
    shader.turn[0, 1] = 0.5
    shader.named["more"] = -1.0


CHANGES: dict[str, Any] = {
    "numbers": _change_numbers,
    "order": _swap_lamps,
    "one object twice": _one_lamp_twice,
    "one vector twice": _one_vector_twice,
    "another class": lambda shader: setattr(shader.lamps[0], "__class__", Twice),
    "an int for a float": lambda shader: setattr(shader.lamps[0], "bright", 3),
    "one more": lambda shader: shader.lamps.append(Lamp(Vec3(1, 1, 1), 1.0)),
    "one less": lambda shader: shader.lamps.pop(),
    "one more field": lambda shader: setattr(shader, "further", 1.0),
    "another text": lambda shader: setattr(shader, "mode", "plain"),
    "known values in place": lambda shader: shader.table.__setitem__(1, 7.0),
    "another key": lambda shader: shader.named.update(other=1.0),
    "another boundary": lambda shader: setattr(
        shader, "photo", shader.photo.sampled(boundary="constant", cval=0.75)
    ),
    "another dtype": lambda shader: setattr(
        shader, "photo", Image(np.full((3, 3, 3), 51, np.uint8))
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_shader_holds_may_change_between_draws(name: str) -> None:
    shader, mesh = held(), Mesh.quad()
    for _ in range(3):
        before = np.asarray(draw(shader, mesh, shape=(2, 2), target="cpu"))
    assert len(Held._trails) >= 1
    np.testing.assert_allclose(before[0, 0], np.float32(shader.fragment()), rtol=1e-6)
    CHANGES[name](shader)
    for _ in range(2):
        after = np.asarray(draw(shader, mesh, shape=(2, 2), target="cpu"))
        np.testing.assert_allclose(after[0, 0], np.float32(shader.fragment()), rtol=1e-6)


def test_a_global_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    shader, mesh = held(), Mesh.quad()
    for scale in (1.0, 1.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        found = np.asarray(draw(shader, mesh, shape=(1, 1), target="cpu"))
        np.testing.assert_allclose(found[0, 0], np.float32(shader.fragment()), rtol=1e-6)


def test_what_does_not_fit_is_named_after_draws_that_did() -> None:
    shader, mesh = held(), Mesh.quad()
    for _ in range(2):
        draw(shader, mesh, shape=(1, 1), target="cpu")
    shader.lamps[1].bright = 1e39
    with pytest.raises(OverflowError, match=r"lamps\[?\.?1.*bright.*1e\+39"):
        draw(shader, mesh, shape=(1, 1), target="cpu")


def test_draws_that_are_repeated_are_not_flattened(monkeypatch: pytest.MonkeyPatch) -> None:
    shader, mesh = held(), Mesh.quad()
    draw(shader, mesh, shape=(1, 1), target="cpu")
    monkeypatch.setattr(programs, "arguments_of", None)
    shader.named["more"] = 2.0
    found = np.asarray(draw(shader, mesh, shape=(1, 1), target="cpu"))
    np.testing.assert_allclose(found[0, 0], np.float32(shader.fragment()), rtol=1e-6)


def test_one_program_draws_meshes_by_turns() -> None:
    small = Mesh([(0, 1, 2)], position=[(-1, 1), (-1, -1), (1, -1)])
    other = Mesh([(0, 1, 2)], position=[(-1, 1), (1, -1), (1, 1)])
    first = [np.asarray(draw(Grey(1), each, shape=(9, 9), target="cpu")) for each in (small, other)]
    assert (first[0] + first[1] == 1).all()
    for _ in range(3):
        for mesh, picture in zip((small, other), first, strict=True):
            again = np.asarray(draw(Grey(1), mesh, shape=(9, 9), target="cpu"))
            np.testing.assert_array_equal(again, picture)
