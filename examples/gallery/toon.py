"""
Toon shading
============

A knot as in a drawing: light in a few steps, and ink around it. The ink is the mesh once more, a
little larger, of which only what is turned away is drawn (`cull="front"`): it shows around the
outline. Both are drawn over the photograph, in soft colours.

Reference: A. Lake et al., *Stylized rendering techniques for scalable real-time 3D animation*,
2000.
"""

from _gallery import main
from _meshes import camera, knot, turned

import pygpu
from pygpu import Image, Mat4, Position, Shader, Vec3, Vec4, dot, mix, normalize


class Ink(Shader):
    camera: Mat4
    model: Mat4
    width: float

    def vertex(self, position: Vec3, normal: Vec3):
        return self.camera @ (self.model @ Vec4(position + self.width * normal, 1))

    def fragment(self):
        return Vec3(0.05, 0.04, 0.06)


class Toon(Shader):
    camera: Mat4
    model: Mat4
    light: Vec3
    steps: float

    def vertex(self, position: Vec3, normal: Vec3):
        turned = self.model @ Vec4(normal, 0)
        return self.camera @ (self.model @ Vec4(position, 1)), turned.xyz

    def fragment(self, normal):
        n = normalize(normal)
        bright = 0.5 + 0.5 * dot(n, self.light)
        stepped = pygpu.floor(bright * self.steps + 0.5) / self.steps
        shine = pygpu.step(0.97, dot(n, normalize(self.light + Vec3(0, 0, 1))))
        return mix(Vec3(0.25, 0.05, 0.2), Vec3(1.0, 0.55, 0.35), stepped) + 0.6 * shine


@pygpu.compile
def pale(im: Image, p: Position):
    grey = dot(im(p), Vec3(0.2125, 0.7154, 0.0721))
    return 0.55 + 0.4 * mix(Vec3(grey), im(p), 0.5)


def render(photo: Image, *, steps=3.0, ink=0.035) -> Image:
    seen, model = camera((0, 0, 5.5), (0, 0, 0), photo.shape), turned(-25, 20)
    light = normalize(Vec3(-0.5, 0.7, 0.6))
    mesh = knot()
    drawn, depths = pygpu.draw(
        Ink(seen, model, ink), mesh, onto=pale(photo), cull="front", keep_depth=True
    )
    return pygpu.draw(Toon(seen, model, light, steps), mesh, onto=drawn, depth=depths, cull="back")


if __name__ == "__main__":
    main(render, steps=(1, 16), ink=(0, 0.5))
