"""The shader classes of the gallery against the rasteriser in plain Python, on small meshes."""

from typing import Any

import numpy as np
import pytest

import gallery
import pygpu
from drawing_reference import reference
from pygpu import Cube, Image, Mesh

SHAPE = (20, 26)
PHOTO = np.random.default_rng(0).random((8, 8, 3)).astype(np.float32)


def scenes() -> dict[str, Any]:
    """Each class with its fields, its mesh, and the width of its colours."""
    meshes = gallery.load("_meshes")
    seen = meshes.camera((0, 0, 5.5), (0, 0, 0), SHAPE)
    model = meshes.turned(20, -15)
    knot, ball = meshes.knot(20, 6), meshes.ball(12, 8)
    depths = Image(np.random.default_rng(1).uniform(0.6, 1, (6, 6)).astype(np.float32))
    lit = {"lamp": seen, "light": (0, 0.6, 0.8), "depths": depths, "softness": 0.01}
    faces = [PHOTO[::step] if step > 0 else PHOTO[:, ::step] for step in (1, -1) * 3]
    wires = gallery.load("wireframe")
    return {
        "wireframe": (wires.Wires(seen, model, 1.0), wires.with_edges(knot), 4),
        "toon": (gallery.load("toon").Toon(seen, model, (0, 0.6, 0.8), 3.0), knot, 3),
        "ink": (gallery.load("toon").Ink(seen, model, 0.03), knot, 3),
        "shadow": (gallery.load("shadow_map").Lit(seen, model, **lit), knot, 3),
        "normal": (
            gallery.load("normal_map").Beaten(
                seen, model, (0, 0, 5.5), (0, 0.6, 0.8), Image(PHOTO - 0.3, boundary="wrap")
            ),
            ball,
            3,
        ),
        "chrome": (
            gallery.load("environment_map").Chrome(
                seen, model, (0, 0, 5.5), Cube(*faces), (0.8, 0.9, 1)
            ),
            ball,
            3,
        ),
        "land": (
            gallery.load("height_field").Land(
                meshes.camera((1, 2, 3), (0, 0, 0), SHAPE),
                Image(PHOTO),
                Image(PHOTO[..., 0]),
                0.4,
                1.0,
                (0, 0.8, 0.6),
            ),
            meshes.plane(6),
            3,
        ),
    }


SCENES = scenes()


@pytest.mark.parametrize("on", ["cpu", "fragment"])
@pytest.mark.parametrize("name", SCENES)
def test_shader_is_that_of_plain_python(name: str, on: str) -> None:
    shader, mesh, width = SCENES[name]
    code = type(shader).vertex.__code__
    names = code.co_varnames[1 : code.co_argcount]
    expected = reference(shader, mesh, SHAPE, names=names, cull="back", sizes=(width,))
    drawn = np.asarray(pygpu.draw(shader, mesh, shape=SHAPE, cull="back", target=on))
    sure = ~expected.unsure
    assert expected.covered.sum() > 40
    close = np.isclose(drawn, expected.colours[0], rtol=5e-3, atol=5e-3).all(axis=2)
    # What a step or a comparison decides may be decided otherwise where rounding does.
    assert close[sure].mean() > 0.97


def test_meshes_of_the_gallery_face_outwards() -> None:
    mesh: Mesh = gallery.load("_meshes").ball(12, 8)
    corners = mesh.attributes["position"][mesh.indices.astype(int)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    there = np.linalg.norm(normal, axis=1) > 1e-6
    assert ((normal * corners.mean(axis=1)).sum(axis=1)[there] > 0).all()
