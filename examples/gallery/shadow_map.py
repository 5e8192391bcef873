"""
Shadow map
==========

A knot above the photograph, and its shadow: what the lamp sees is drawn first, and only its depths
are kept. A point is in the shadow if the lamp sees something nearer there; sixteen looks around
make the edge soft.

Reference: L. Williams, *Casting curved shadows on curved surfaces*, 1978.
"""

import numpy as np
from _gallery import main
from _meshes import camera, knot, plane, turned

import pygpu
from pygpu import Image, Mat4, Position, Shader, Vec2, Vec3, Vec4, dot, normalize

SIZE = 512  # pixels of a side of what the lamp sees


class Depths(Shader):
    camera: Mat4
    model: Mat4

    def vertex(self, position: Vec3):
        return self.camera @ (self.model @ Vec4(position, 1))

    def fragment(self):
        return 0.0


class Lit(Shader):
    """Something that the lamp shines on: what it is like, `colour` says."""

    camera: Mat4
    model: Mat4
    lamp: Mat4  # from the world to what the lamp sees
    light: Vec3
    depths: Image
    softness: float

    def vertex(self, position: Vec3, normal: Vec3, uv: Vec2):
        world = self.model @ Vec4(position, 1)
        return self.camera @ world, world, (self.model @ Vec4(normal, 0)).xyz, uv

    def fragment(self, world, normal, uv):
        lit = pygpu.clamp(dot(normalize(normal), self.light), 0.0, 1.0)
        return self.colour(uv) * (0.25 + 0.85 * lit * self.open(world))

    def open(self, world):
        """How much of the lamp is seen."""
        clip = self.lamp @ world
        place = Vec2(0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w)
        depth = 0.5 + 0.5 * clip.z / clip.w - 0.002
        seen = 0.0
        for x in np.linspace(-1, 1, 4):
            for y in np.linspace(-1, 1, 4):
                found = self.depths.at(place + self.softness * Vec2(x, y), interpolation="nearest")
                seen += float(depth < found)
        return seen / 16

    def colour(self, uv):
        return Vec3(0.9, 0.5, 0.25)


class Floor(Lit):
    photo: Image

    def colour(self, uv):
        return self.photo.at(Vec2(uv.x, 1 - uv.y))


@pygpu.compile
def shown(im: Image, p: Position):
    """Bright parts bent towards white."""
    return 1 - pygpu.exp(-1.6 * im(p))


def render(photo: Image, *, softness=0.006, angle=55.0) -> Image:
    light = turned(110, 0) @ turned(0, -angle) @ np.array([0, 0, 1, 0])
    above = np.eye(4)
    above[:3, 3] = 1.0, 1.0, -0.2
    above = above @ turned(30, 75) @ np.diag([0.6, 0.6, 0.6, 1])
    ground = np.diag([3.2, 1, 3.2, 1])
    lamp = camera(light[:3] * 12, (0, 0.6, 0), (SIZE, SIZE), 30, 4, 24)
    seen = camera((0, 4.6, 5.2), (0, 0.4, 0), photo.shape, 42)
    mesh, floor = knot(), plane()
    _, depths = pygpu.draw(Depths(lamp, above), mesh, shape=(SIZE, SIZE), keep_depth=True)
    shared = {"lamp": lamp, "light": light[:3], "depths": depths, "softness": softness}
    drawn, near = pygpu.draw(
        Floor(seen, ground, photo=photo, **shared), floor,
        shape=photo.shape[:2], keep_depth=True, clear=(0.1, 0.12, 0.15),
    )  # fmt: skip
    return shown(pygpu.draw(Lit(seen, above, **shared), mesh, onto=drawn, depth=near, cull="back"))


if __name__ == "__main__":
    main(render, softness=(0, 0.2), angle=(5, 85))
