"""
Wireframe
=========

A knot of glass, its edges drawn as lines of equal width: each corner of a triangle has another
coordinate of three set to 1, and how much these change from pixel to pixel (`fwidth`) says how far
an edge is in pixels. Drawn onto the photograph, which a function has darkened.

Reference: A. Baerentzen et al., *Single-pass wireframe rendering*, 2006.
"""

import numpy as np
from _gallery import main
from _meshes import camera, knot, turned

import pygpu
from pygpu import Image, Mat4, Mesh, Position, Shader, Vec3, Vec4, dot, fwidth, mix, normalize


class Wires(Shader):
    camera: Mat4
    model: Mat4
    width: float

    def vertex(self, position: Vec3, normal: Vec3, edges: Vec3):
        turned = self.model @ Vec4(normal, 0)
        return self.camera @ (self.model @ Vec4(position, 1)), turned.xyz, edges

    def fragment(self, normal, edges):
        away = edges / fwidth(edges)  # pixels from each edge
        line = 1 - pygpu.smoothstep(self.width - 0.5, self.width + 0.5, min(*away))
        light = 0.5 + 0.5 * dot(normalize(normal), normalize(Vec3(0.3, 0.8, 0.5)))
        glass = Vec3(0.1, 0.25, 0.4) * light
        return Vec4(mix(glass, Vec3(0.95, 0.9, 0.6), line), mix(0.55, 1.0, line))


@pygpu.compile
def darkened(im: Image, p: Position):
    return Vec4(0.35 * im(p), 1.0)


def with_edges(mesh):
    """The mesh with corners of its own for each triangle, numbered 0, 1, 2 by `edges`."""
    order = mesh.indices.ravel()
    fields = {name: values[order] for name, values in mesh.attributes.items()}
    return Mesh(**fields, edges=np.tile(np.eye(3), (len(order) // 3, 1)))


def render(photo: Image, *, width=1.0, turn=20.0) -> Image:
    seen = camera((0, 0, 5.5), (0, 0, 0), photo.shape)
    shader = Wires(seen, turned(turn, -15), width)
    mesh = with_edges(knot(128, 12))
    drawn = pygpu.draw(shader, mesh, onto=darkened(photo), blend="alpha", cull="back")
    return opaque(drawn)


@pygpu.compile
def opaque(im: Image, p: Position):
    return im(p).rgb


if __name__ == "__main__":
    main(render, width=(0.1, 20), turn=(-360, 360))
