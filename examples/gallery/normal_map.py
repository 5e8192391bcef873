"""
Normal map
==========

The photograph beaten into a copper ball: its brightness is a relief, whose slopes tilt the ball's
normals pixel by pixel. The ball itself is smooth, as its outline shows.

Reference: J. Blinn, *Simulation of wrinkled surfaces*, 1978.
"""

from _gallery import main
from _meshes import ball, camera, turned

import pygpu
from pygpu import Image, Mat3, Mat4, Position, Shader, Vec2, Vec3, Vec4, dot, normalize

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def normals_of(im: Image, p: Position, depth: float):
    """Normals of the relief, as they lie on a plane: a difference to the right, and one upwards."""
    height = depth * dot(GREY, im(p))
    slope = Vec2(pygpu.ddx(height), -pygpu.ddy(height))
    return normalize(Vec3(-slope, 1.0))


class Beaten(Shader):
    camera: Mat4
    model: Mat4
    eye: Vec3
    light: Vec3
    normals: Image

    def vertex(self, position: Vec3, normal: Vec3, tangent: Vec3, uv: Vec2):
        world = self.model @ Vec4(position, 1)
        turn = Mat3(self.model[0].xyz, self.model[1].xyz, self.model[2].xyz)
        return self.camera @ world, world.xyz, turn @ normal, turn @ tangent, uv

    def fragment(self, world, normal, tangent, uv):
        n = normalize(normal)
        t = normalize(tangent - dot(tangent, n) * n)
        bump = self.normals.at(Vec2(2 - 2 * uv.x, uv.y))
        n = normalize(bump.x * -t + bump.y * pygpu.cross(n, t) + bump.z * n)
        look = normalize(self.eye - world)
        shine = pygpu.clamp(dot(n, normalize(look + self.light)), 0.0, 1.0) ** 24
        bright = pygpu.clamp(dot(n, self.light), 0.0, 1.0)
        rim = (1 - pygpu.clamp(dot(n, look), 0.0, 1.0)) ** 3
        return Vec3(0.75, 0.38, 0.22) * (0.12 + bright) + Vec3(1, 0.8, 0.6) * (shine + 0.2 * rim)


def render(photo: Image, *, depth=6.0, turn=0.0) -> Image:
    eye = (0, 0, 4.2)
    wrapped = Image(normals_of(photo, depth=depth), boundary="wrap")
    light = normalize(Vec3(-0.6, 0.7, 0.7))
    shader = Beaten(camera(eye, (0, 0, 0), photo.shape, 32), turned(turn + 45), eye, light, wrapped)
    background = (0.07, 0.08, 0.1)
    return pygpu.draw(
        shader, ball(), shape=photo.shape[:2], cull="back", clear=background, samples=4
    )


if __name__ == "__main__":
    main(render, depth=(0, 100), turn=(-360, 360))
