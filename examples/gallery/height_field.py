"""
Height field
============

The photograph as a landscape: a fine grid, whose vertices read the picture and rise with its
brightness, seen from aside in the light of a low sun. The normals are differences of the heights.
"""

import numpy as np
from _gallery import main
from _meshes import camera, plane

import pygpu
from pygpu import Image, Mat4, Position, Shader, Vec2, Vec3, Vec4, dot, normalize

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def softened(im: Image, p: Position):
    """Brightness without its finest detail: the heights."""
    around = [dot(GREY, im(p + 3 * d)) for d in pygpu.offsets(np.ones((5, 5)))]
    return sum(around) / len(around)


class Land(Shader):
    camera: Mat4
    photo: Image
    heights: Image
    high: float
    aspect: float
    light: Vec3

    def vertex(self, position: Vec3, uv: Vec2):
        uv = Vec2(uv.x, 1 - uv.y)
        place = Vec3(position.x * self.aspect, self.height(uv), position.z)
        step = 1 / 128
        right = self.height(uv + Vec2(step, 0)) - self.height(uv - Vec2(step, 0))
        down = self.height(uv + Vec2(0, step)) - self.height(uv - Vec2(0, step))
        normal = Vec3(-right / self.aspect, 4 * step, -down)
        return self.camera @ Vec4(place, 1), normal, uv

    def height(self, uv):
        return self.high * self.heights.at(uv)

    def fragment(self, normal, uv):
        lit = pygpu.clamp(dot(normalize(normal), self.light), 0.0, 1.0)
        return self.photo.at(uv) * (0.3 + 1.1 * lit)


def render(photo: Image, *, high=0.4, turn=0.5) -> Image:
    aspect = photo.width / photo.height
    eye = (2.2 * turn, 2.4, 2.6)
    seen = camera(eye, (0, 0.05, 0.1), photo.shape, 38)
    light = normalize(Vec3(-0.8, 0.6, 0.1))
    shader = Land(seen, photo, softened(photo), high, min(max(aspect, 0.2), 5), light)
    sky = (0.75, 0.82, 0.9)
    return pygpu.draw(shader, plane(384), shape=photo.shape[:2], clear=sky, samples=4)


if __name__ == "__main__":
    main(render, high=(0, 10), turn=(-2, 2))
