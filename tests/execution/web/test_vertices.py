"""Vertices in pages: packed here, unpacked by a browser to the bit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gallery
import pygpu
from browser import browser_page, opened
from pygpu import Mesh, Shader, Vec4
from pygpu.execution.web.recorded import export_recorded
from pygpu.execution.web.vertices import packed, whole

RNG = np.random.default_rng(5)
STRANGE = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0]


class White(Shader):
    def vertex(self, position):
        return Vec4(position, 0, 1)

    def fragment(self):
        return Vec4(1, 1, 1, 1)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    def drawn(under):
        return pygpu.draw(White(), Mesh.quad(), onto=under)

    file = tmp_path_factory.mktemp("pages") / "page.html"
    under = pygpu.Image(np.zeros((4, 4, 4), np.float32))
    with browser_page(viewport={"width": 500, "height": 400}) as page:
        opened(page, export_recorded(drawn, file, [under]))
        yield page


def grid(rows: int, columns: int) -> NDArray[np.uint32]:
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1]
    return np.stack([a, b, c], -1).reshape(-1, 3).astype(np.uint32)


def wave(rows: int, columns: int) -> NDArray[np.float32]:
    y, x = np.mgrid[:rows, :columns] / columns
    return np.stack([np.sin(5 * x + y), np.cos(3 * y) * x, y * y], -1).reshape(-1, 3)


SMOOTH = wave(20, 33).astype(np.float32)
CASES = {
    "smooth": (SMOOTH, grid(20, 33)),
    "noise": (RNG.normal(size=(100, 4)).astype(np.float32), grid(10, 10)),
    "strange": (RNG.choice(STRANGE, (300, 2)).astype(np.float32), grid(15, 20)),
    "large": ((3e38 * SMOOTH[:, :1]).astype(np.float32), grid(20, 33)),
    "corner by corner": (SMOOTH[grid(20, 33).ravel()], np.arange(1824, dtype=np.uint32)[:, None]),
    "alone": (SMOOTH[:1], np.zeros((0, 3), np.uint32)),
    "none": (SMOOTH[:0], np.zeros((0, 3), np.uint32)),
}


@pytest.mark.parametrize("name", CASES)
def test_browser_has_the_floats_to_the_bit(page: Any, name: str) -> None:
    values, triangles = CASES[name]
    given = packed(values, triangles.reshape(-1, 3))
    words = "floatsOf(given).then((floats) => Array.from(new Uint32Array(floats.buffer)))"
    found = np.array(page.evaluate(f"(given) => {words}", given), np.uint32)
    np.testing.assert_array_equal(found, values.view(np.uint32).ravel())


def test_browser_has_the_triangles(page: Any) -> None:
    numbers = RNG.integers(0, 2**32, 200).astype(np.uint32)
    found = page.evaluate(
        "(text) => wholeOf(text).then((whole) => Array.from(whole))", whole(numbers)
    )
    assert found == numbers.tolist()


def test_smooth_surfaces_and_repeated_vertices_take_few_bytes() -> None:
    plain = 4 / 3 * SMOOTH.nbytes
    assert len(packed(SMOOTH, grid(20, 33))["data"]) < plain / 3
    corners = packed(SMOOTH[grid(20, 33).ravel()], np.arange(1824, dtype=np.uint32).reshape(-1, 3))
    assert len(corners["data"]) + len(corners["places"]) < 0.6 * plain


@pytest.mark.parametrize(
    "name",
    ["environment_map", "height_field", "normal_map", "shadow_map", "toon", "wireframe"],
)
def test_gallery_page_of_a_mesh_is_below_100_kib(name: str, tmp_path: Path) -> None:
    photo = gallery.photo(8, 8)
    file = export_recorded(gallery.load(name).render, tmp_path / "page.html", [photo])
    assert len(file.read_bytes()) < 100 * 1024
