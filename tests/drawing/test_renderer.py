"""The renderer of the examples; and shader classes of PyStream's shape, through an adaptor."""

import numpy as np
import pytest

import pygpu
from drawing_reference import reference
from examples.renderer.geometry import ball, moved, perspective, torus, view
from examples.renderer.render import Renderer
from pygpu import Mat4, Mesh, Shader, Vec3, Vec4


def test_frames_agree_between_targets() -> None:
    frames = [Renderer(40, 64, target).frame(0.3) for target in ("cpu", "fragment")]
    assert frames[0].shape == (40, 64, 3)
    assert frames[0].dtype == np.uint8
    difference = np.abs(frames[0].astype(int) - frames[1]).max(axis=2)
    assert (difference > 12).mean() < 0.03  # edges, and what is a decision
    assert frames[0].std() > 20


def test_frames_move() -> None:
    renderer = Renderer(30, 48, "cpu")
    assert (renderer.frame(0.0) != renderer.frame(0.25)).mean() > 0.2


@pytest.mark.parametrize(
    ("mesh", "radius"), [(torus(1.0, 0.3, 12, 8), 1.0), (ball(1.0, 12, 8), 0.0)]
)
def test_meshes_face_outwards(mesh: Mesh, radius: float) -> None:
    corners = mesh.attributes["position"][mesh.indices.astype(int)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = corners.mean(axis=1)
    ring = middle * (1, 0, 1)
    core = radius * ring / np.maximum(np.linalg.norm(ring, axis=1, keepdims=True), 1e-9)
    there = np.linalg.norm(normal, axis=1) > 1e-6
    assert ((normal * (middle - core)).sum(axis=1)[there] > 0).all()
    given = mesh.attributes["normal"][mesh.indices[:, 0].astype(int)]
    assert ((normal * given).sum(axis=1)[there] > 0).all()


# ---------------------------------------------------------------- shaders of PyStream's shape


class Context:
    """What a method of PyStream's shaders writes its results to."""


class Material:
    """A shader as PyStream has them: methods that set the context's attributes."""

    def __init__(self, worldToCamera, projection, colour):
        self.worldToCamera, self.projection, self.colour = worldToCamera, projection, colour

    def shade_vertex(self, context, pos, normal):
        trans = self.worldToCamera @ Vec4(pos, 1.0)
        newNormal = self.worldToCamera @ Vec4(normal, 0.0)
        context.position = self.projection @ trans
        return trans.xyz, newNormal.xyz

    def shade_fragment(self, context, pos, normal):
        surface = self.process(pygpu.normalize(normal))
        context.colors = Vec4(surface, 1.0), Vec4(pos, 1.0)

    def process(self, n):
        return self.colour * pygpu.clamp(n.z, 0.0, 1.0)


class Shiny(Material):
    def process(self, n):
        return super().process(n) + pygpu.clamp(n.z, 0.0, 1.0) ** 16


class Adapted(Shader):
    """The ten lines that run such a shader here."""

    shader: Material

    def vertex(self, position, normal):
        context = Context()
        varyings = self.shader.shade_vertex(context, position, normal)
        return context.position, *varyings

    def fragment(self, *varyings):
        context = Context()
        self.shader.shade_fragment(context, *varyings)
        return context.colors


@pytest.mark.parametrize("cls", [Material, Shiny])
@pytest.mark.parametrize("on", ["cpu", "fragment"])
def test_shaders_that_set_a_context_run_through_an_adaptor(cls: type, on: str) -> None:
    looking = Mat4(view((0.5, 1.5, 4), (0, 0, 0)) @ moved(0, 0, 0, 0.4))
    shader = Adapted(cls(looking, Mat4(perspective(40, 1.5)), Vec3(0.9, 0.5, 0.2)))
    mesh = torus(1.0, 0.4, 10, 6)
    names = ("position", "normal")
    expected = reference(shader, mesh, (20, 30), names=names, cull="back", sizes=(4, 4))
    drawn = pygpu.draw(shader, mesh, shape=(20, 30), cull="back", target=on)
    sure = ~expected.unsure
    assert expected.covered.sum() > 100
    for image, colours in zip(drawn, expected.colours, strict=True):
        np.testing.assert_allclose(np.asarray(image)[sure], colours[sure], rtol=1e-3, atol=2e-3)
