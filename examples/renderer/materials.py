"""What surfaces are: a shader class that draws, instead of light, what lights need to know.

Three images: colour and gloss, normal, and position with the distance from the eye. Textures are
functions of images from nothing; normals follow from heights.
"""

import numpy as np

import pygpu
from pygpu import Float, Image, Mat3, Mat4, Position, Shader, Vec2, Vec3, Vec4

STEPS = 8  # of the search for where a ray meets the relief


class Surface(Shader):
    """A material with colours, a relief and its normals, all read by uv."""

    camera: Mat4  # from the world to clip space
    model: Mat4  # from the mesh to the world
    eye: Vec3
    colours: Image
    normals: Image
    heights: Image
    gloss: Float = 0.3
    relief: Float = 0.05
    repeat: Float = 1.0
    tint: Vec3 = Vec3(1.0)

    def vertex(self, position: Vec3, normal: Vec3, tangent: Vec3, uv: Vec2):
        world = self.model @ Vec4(position, 1)
        turn = Mat3(*[row.xyz for row in self.model][:3])
        return self.camera @ world, world.xyz, turn @ normal, turn @ tangent, uv * self.repeat

    def fragment(self, world, normal, tangent, uv):
        n = pygpu.normalize(normal)
        t = pygpu.normalize(tangent - pygpu.dot(tangent, n) * n)
        frame = pygpu.transpose(Mat3(t, pygpu.cross(n, t), n))  # columns: from the surface out
        away = self.eye - world
        look = pygpu.transpose(frame) @ pygpu.normalize(away)
        uv = self.met(uv, look)
        bump = self.normals.at(uv) * 2.0 - 1.0
        colour = self.colour(uv) * self.tint
        seen = pygpu.normalize(frame @ bump)
        return Vec4(colour, self.gloss), seen, Vec4(world, pygpu.length(away))

    def colour(self, uv):
        return self.colours.at(uv)

    def met(self, uv, look):
        """Where a ray that enters at uv meets the relief (parallax mapping, in steps). The relief
        fades where it is seen from the side."""
        relief = self.relief * pygpu.smoothstep(0.1, 0.5, look.z)
        step = Vec2(-look.x, look.y) / (pygpu.clamp(look.z, 0.2, 1.0) * STEPS) * relief
        depth = 0.0
        for k in range(STEPS):
            if 1.0 - self.heights.at(uv) > depth:
                uv, depth = uv + step, (k + 1) / STEPS
        return uv


class Ground(Surface):
    """A large floor: its colours go with heights read larger, so that no repetition is seen."""

    def colour(self, uv):
        return super().colour(uv) * (0.5 + 0.7 * self.heights.at(uv * 0.13))


# ---------------------------------------------------------------- textures


def hashed(x, y):
    """A number in [0, 1) of two whole ones."""
    return pygpu.fract(pygpu.sin(x * 127.1 + y * 311.7) * 43758.5453)


def noise(x, y, period):
    """Values between those of a grid, which repeats."""
    i, j = pygpu.floor(x), pygpu.floor(y)
    a, b = x - i, y - j
    a, b = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
    corners = [[hashed((i + k) % period, (j + m) % period) for k in (0, 1)] for m in (0, 1)]
    return pygpu.mix(pygpu.mix(*corners[0], a), pygpu.mix(*corners[1], a), b)


@pygpu.compile
def bricks(p: Position, size: float = 256.0):
    """A wall that repeats: heights, 8 rows of 4 bricks with rough faces."""
    x, y = (p.x + 0.5) / size, (p.y + 0.5) / size
    row = pygpu.floor(8 * y)
    a = pygpu.fract(4 * x + 0.5 * (row % 2)) - 0.5
    b = pygpu.fract(8 * y) - 0.5
    edge = min(0.5 - abs(a), 0.5 * (0.5 - abs(b)))
    rough = sum(noise(x * 2**k, y * 2**k, 2.0**k) / 2 ** (k - 3) for k in (4, 5, 6))
    return pygpu.smoothstep(0.02, 0.09, edge) * (0.75 + 0.12 * rough) + 0.02 * rough


@pygpu.compile
def dunes(p: Position, size: float = 256.0):
    """Soft bumps that repeat."""
    x, y = (p.x + 0.5) / size, (p.y + 0.5) / size
    return sum(noise(x * 2**k, y * 2**k, 2.0**k) / 2 ** (k - 2) for k in (3, 4, 5, 6)) / 1.9


@pygpu.compile
def normals_of(heights: Image, p: Position, steep: float = 4.0):
    """Normals of heights, as colours in [0, 1]."""
    slope = Vec2(
        heights(p + (1, 0)) - heights(p - (1, 0)), heights(p - (0, 1)) - heights(p + (0, 1))
    )
    return pygpu.normalize(Vec3(-steep * slope, 1.0)) * 0.5 + 0.5


@pygpu.compile
def coloured(heights: Image, p: Position, low: Vec3, high: Vec3):
    """Colours by height, a little uneven."""
    h = heights(p)
    return pygpu.mix(low, high, pygpu.smoothstep(0.15, 0.8, h)) * (
        0.85 + 0.3 * noise(p.x, p.y, 256)
    )


def textures(heights, low, high, steep):
    """Colours, normals and heights as fields of a Surface."""
    wrapped = heights.sampled(boundary="wrap")
    kept = {"boundary": "wrap"}
    return {
        "colours": Image(coloured(wrapped, low=low, high=high), **kept).sampled(mipmap=True),
        "normals": Image(normals_of(wrapped, steep=steep), **kept).sampled(mipmap=True),
        "heights": wrapped,
    }


def stone():
    return textures(bricks(shape=(256, 256)), Vec3(0.2, 0.18, 0.17), Vec3(0.5, 0.22, 0.14), 5.0)


def sand():
    return textures(dunes(shape=(256, 256)), Vec3(0.45, 0.36, 0.24), Vec3(0.75, 0.65, 0.45), 3.0)


def smooth(colour):
    """No relief: one colour."""
    flat = np.ones((2, 2), np.float32)
    return {
        "colours": Image(flat[..., None] * np.float32(colour)),
        "normals": Image(flat[..., None] * np.float32([0.5, 0.5, 1.0])),
        "heights": Image(flat),
    }
