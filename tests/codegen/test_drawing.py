"""The GLSL of what is drawn."""

from dataclasses import replace
from typing import Any

import numpy as np

import pygpu
from pygpu import Float, Image, Mat4, Position, Vec3, Vec4
from pygpu.codegen.drawing import draw_program
from pygpu.drawing.drawings import arguments_of, translate
from pygpu.drawing.mesh import Mesh
from pygpu.drawing.shader import Shader
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import CLEAN, apply


class Lit(Shader):
    camera: Mat4
    light: Vec3
    wood: Image
    edge: Float = 0.5

    def vertex(self, position: Vec3, normal: Vec3, unused: Float):
        return self.camera @ Vec4(position, 1), normal, position.x * unused

    def fragment(self, normal, unused, p: Position):
        n = pygpu.normalize(normal)
        if n.z < self.edge:
            pygpu.discard()
        return self.wood(p) * pygpu.dot(n, self.light), pygpu.fwidth(n.x)


def test_a_pair_of_programs_reads_as_one_would_write_it(golden: Any) -> None:
    mesh = Mesh(position=np.zeros((3, 3)), normal=np.zeros((3, 3)), unused=np.zeros(3))
    shader = Lit(np.eye(4), (0, 0, 1), Image(np.zeros((2, 2, 3), np.float32)))
    drawing = translate(shader, mesh.geometry, arguments_of(shader)).drawing
    assert [value.name for value in drawing.vertex.inputs] == ["position", "normal"]
    assert [value.name for value in drawing.fragment.inputs] == ["normal"]
    stages = [
        replace(stage, function=apply(CLEAN, lower_boundary(stage.function)))
        for stage in (drawing.vertex, drawing.fragment)
    ]
    lowered = replace(drawing, vertex=stages[0], fragment=stages[1])
    golden.check("glsl/drawing.glsl", draw_program(lowered).text)
