"""With check= or PYGPU_CHECK what goes wrong in a shader is raised as Python would raise it."""

from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Mat2, Mesh, Position, Shader, Vec2, Vec4

TABLE = [0.25, 0.5, 0.75]
TRIANGLE = Mesh([[0, 1, 2]], position=np.array([[-1, -1], [3, -1], [-1, 3]], np.float32))


@pytest.fixture(params=["cpu", "fragment", "compute"], autouse=True)
def on(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    require(request.param)
    monkeypatch.setenv("PYGPU_CHECK", "1")
    return request.param


def fails(shader: Shader, mesh: Mesh, on: str, **options: Any) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller looks which it is
        pygpu.draw(shader, mesh, shape=(4, 6), target=on, **options)
    return caught.value


class Indexed(Shader):
    scale: Float

    def vertex(self, position: Vec2):
        return Vec4(position, 0, 1), position

    def fragment(self, place, p: Position):
        return TABLE[int((place.x + 1) * self.scale)]


def test_fragments_raise_what_python_raises(on: str) -> None:
    assert pygpu.draw(Indexed(1.4), TRIANGLE, shape=(4, 6), target=on).numpy().max() == 0.75
    error = fails(Indexed(1.8), TRIANGLE, on)
    assert type(error) is IndexError
    assert str(error) == "list index out of range"
    assert error.__notes__[-1] == (
        "at run time, Indexed.fragment at the position (5, 0), the first of 4 such positions"
    )


class Asserted(Shader):
    limit: Float
    texels: Image

    def vertex(self, position: Vec2, weight: Float):
        assert weight < self.limit, f"heavy: {weight}"
        turn = Mat2((weight, 0), (0, 1))
        return Vec4(position, 0, 1), turn, position, weight

    def fragment(self, turn, place, weight, p: Position):
        if p.x == 2:
            pygpu.discard()
        seen = self.texels((p.x, p.y)) + turn[0][0] * 0.001
        assert seen < 12.5, f"bright: {seen:.1f} at {p.x}"
        return Vec4(place, weight, seen)


def asserted(weights: Any) -> Mesh:
    return Mesh(
        TRIANGLE.geometry.triangles,
        position=TRIANGLE.geometry.attributes["position"],
        weight=np.array(weights, np.float32),
    )


def test_vertices_raise_what_python_raises(on: str) -> None:
    texels = Image(np.zeros((4, 6), np.float32))
    error = fails(Asserted(2.0, texels), asserted([1, 3, 5]), on)
    assert type(error) is AssertionError
    assert str(error).startswith("heavy: 3.0")
    assert "Asserted.vertex at vertex 1, the first of 2 such vertices" in error.__notes__[-1]


def test_images_matrices_and_dropped_fragments(on: str) -> None:
    texels = Image(np.arange(24, dtype=np.float32).reshape(4, 6))
    mesh = asserted([1, 1, 1])
    fine = Image(np.asarray(texels) / 2)
    drawn = pygpu.draw(Asserted(2.0, fine), mesh, shape=(4, 6), target=on).numpy()
    np.testing.assert_allclose(drawn[3, 3, 3], 10.501, atol=1e-4)
    error = fails(Asserted(2.0, texels), mesh, on, blend="alpha")
    assert type(error) is AssertionError
    assert str(error).startswith("bright: 13.0 at 1")
    assert error.__notes__[-1].endswith("(1, 2), the first of 9 such positions")


class Hidden(Shader):
    def vertex(self, position: Vec2):
        return Vec4(position, 0.5 if position.x > 5 else 0.0, 1), position.x

    def fragment(self, x, p: Position):
        numbers = [1, 2]
        return 1.0 * numbers[p.x // (p.y + 1)]


def test_what_nothing_is_drawn_of_is_fine(on: str) -> None:
    empty = Mesh(np.zeros((0, 3), np.uint32), position=np.zeros((3, 2), np.float32))
    assert not pygpu.draw(Hidden(), empty, shape=(4, 6), target=on).numpy().any()
    error = fails(Hidden(), TRIANGLE, on)
    assert type(error) is IndexError
    assert "at the position (2, 0), the first of 6" in error.__notes__[-1]


class Beyond(Shader):
    limit: Float

    def vertex(self, position: Vec2, weight: Float):
        return Vec4(position, 0, 1), Mat2((position.x, 0), (0, 1)), weight, position.x

    def fragment(self, turn, weight, x):
        assert x < self.limit, f"right of it: {turn[0][0]:.1f}"
        assert weight < 5, f"heavy: {weight:.1f}"
        return x


@pytest.mark.parametrize(
    ("samples", "limit", "weight", "said"),
    [
        (1, 0.85, 1.0, ""),
        (4, 0.85, 1.0, "right of it: 0.9"),  # the centre of the last column, not covered
        (4, 2.0, 1.0, ""),
        (4, 2.0, 9.0, "heavy: 9.0"),
        (1, 2.0, 9.0, "heavy: 9.0"),
    ],
)
def test_each_fragment_that_samples_ask_for_is_checked(
    samples: int, limit: float, weight: float, said: str, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The square ends within the last column, left of its pixels' centres."""
    monkeypatch.delenv("PYGPU_CHECK")
    corners = np.array([(-1, -1), (0.83, -1), (-1, 1), (0.83, 1)], np.float32)
    mesh = Mesh([(0, 1, 2), (2, 1, 3)], position=corners, weight=np.full(4, weight, np.float32))
    options: Any = {"shape": (8, 8), "samples": samples, "check": True, "target": on}
    if not said:
        assert pygpu.draw(Beyond(limit), mesh, **options).shape == (8, 8)
        return
    with pytest.raises(AssertionError, match=said) as caught:
        pygpu.draw(Beyond(limit), mesh, **options)
    count = 8 if limit < 1 else 8 * (7 + (samples > 1))
    assert f"the first of {count} such positions" in caught.value.__notes__[-1]


def test_checks_are_asked_for_by_a_keyword_too(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYGPU_CHECK")
    assert pygpu.draw(Indexed(1.8), TRIANGLE, shape=(4, 6), target=on).shape == (4, 6)
    assert type(fails(Indexed(1.8), TRIANGLE, on, check=True)) is IndexError
