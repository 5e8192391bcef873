"""
Environment map
===============

A knot of chrome in a room whose walls are the photograph: six images around a point, a cube, read
by the direction in which a surface mirrors the look of the eye, and so is what lies behind.

Reference: N. Greene, *Environment mapping and other applications of world projections*, 1986.
"""

import numpy as np
from _gallery import main
from _meshes import camera, knot, turned

import pygpu
from pygpu import Cube, Image, Mat4, Position, Shader, Vec2, Vec3, Vec4, dot, normalize, reflect

SIZE = 256


@pygpu.compile
def wall(photo: Image, p: Position, size: float, bright: float):
    """The photograph as a wall of the room, darker towards its edges."""
    uv = Vec2(p.x + 0.5, p.y + 0.5) / size
    edge = pygpu.glsl.max(*abs(uv * 2 - 1))
    return bright * photo.at(uv) * (1 - 0.35 * edge**4)


@pygpu.compile
def ceiling(p: Position, size: float):
    """A lamp in the middle of a grey ceiling."""
    uv = Vec2(p.x + 0.5, p.y + 0.5) / size * 2 - 1
    return Vec3(0.25, 0.27, 0.3) + Vec3(2.2, 2.0, 1.7) * pygpu.smoothstep(
        0.5, 0.3, pygpu.length(uv)
    )


class Chrome(Shader):
    camera: Mat4
    model: Mat4
    eye: Vec3
    room: Cube
    tint: Vec3

    def vertex(self, position: Vec3, normal: Vec3):
        world = self.model @ Vec4(position, 1)
        return self.camera @ world, world.xyz, (self.model @ Vec4(normal, 0)).xyz

    def fragment(self, world, normal):
        look, n = normalize(world - self.eye), normalize(normal)
        rim = (1 - pygpu.clamp(-dot(look, n), 0.0, 1.0)) ** 5
        return self.room(reflect(look, n)) * pygpu.mix(self.tint, Vec3(1.0), rim)


class Behind(Shader):
    """The room itself: over the whole picture, as far away as can be."""

    back: Mat4  # from clip space to directions
    room: Cube

    def vertex(self, position: Vec2):
        far = self.back @ Vec4(position, 1, 1)
        return Vec4(position, 1, 1), far.xyz / far.w

    def fragment(self, direction):
        return 0.6 * self.room(direction)


def render(photo: Image, *, turn=30.0, size=SIZE) -> Image:
    walls = [wall(photo, size=size, bright=b, shape=(size, size)) for b in (0.9, 0.7, 1.0, 0.8)]
    floor = wall(photo, size=size, bright=0.3, shape=(size, size))
    room = Cube(walls[0], walls[1], ceiling(size=size, shape=(size, size)), floor, *walls[2:])
    eye = turned(15) @ np.array([0, 0.8, 5.5, 1])
    seen = camera(eye[:3], (0, 0, 0), photo.shape)
    away = camera((0, 0, 0), -eye[:3], photo.shape, 60)
    behind = Behind(np.linalg.inv(away), room)
    drawn = pygpu.draw(behind, pygpu.Mesh.quad(), shape=photo.shape[:2], depth=False)
    shader = Chrome(seen, turned(turn, -20), eye[:3], room, (0.85, 0.88, 0.92))
    return pygpu.draw(shader, knot(), onto=drawn, cull="back")


if __name__ == "__main__":
    main(render, turn=(-360, 360), size=(2, 2048))
