"""Images read by normalised coordinates: (0, 0) is the top left corner, (1, 1) the opposite one.

Plain Python, which is compiled as any function is, so that all targets read alike: nothing is left
to samplers of the hardware.

    at(im, Vec2(0.5, 0.5))             # the middle, between pixels
    Mipmaps(...).at(uv, lod=2.5)       # of smaller and smaller images, between two of them
    Cube(faces, size)(direction)       # of six images around a point
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.core.boundaries import INTEGERS, index
from pygpu.glsl import clamp, dot, floor, log2, max, mix
from pygpu.language.fragments import ddx, ddy
from pygpu.language.vectors import Vec2, Vec3


def at(seen: Any, uv: Any, lod: Any = None, bias: Any = 0.0) -> Any:
    """The image at normalised coordinates, read as it is seen: ((x + 0.5) / width,
    (y + 0.5) / height) is the pixel (x, y)."""
    if lod is not None or not (isinstance(bias, float) and bias == 0.0):
        raise TypeError(
            "at(lod=..., bias=...) reads an image's levels: im.sampled(mipmap=True) has them"
        )
    u, v = uv
    return seen((u * seen.width - 0.5, v * seen.height - 0.5))


class Mipmaps:
    """An image with its levels: each is half as wide and high as the one before, a mean of it. Made
    by `Image.sampled(mipmap=True)`; it stands for an image wherever one is given.

    All lie in one image, `levels`: level 0 in its corner, beside it the others, one below another.
    """

    def __init__(self, levels: Any, width: int, height: int, count: int, boundary: str) -> None:
        self.levels = levels
        self.width, self.height, self.count = width, height, count
        self.boundary = boundary

    @property
    def channels(self) -> int:
        return self.levels.channels  # type: ignore[no-any-return]

    def at(self, uv: Any, lod: Any = None, bias: Any = 0.0) -> Any:
        """The image at normalised coordinates, linear between four pixels and two levels.

        `lod` is the level: 0 is the image, 1 half as large. Where it is not given it follows from
        how far uv of neighbouring pixels are apart. `bias` is added to it.
        """
        u, v = uv
        if lod is None:
            place = Vec2(u * self.width, v * self.height)
            right, below = ddx(place), ddy(place)
            step = max(dot(right, right), dot(below, below))
            lod = 0.5 * log2(max(step, 1e-12))
        last = self.count - 1
        lod = clamp(lod + bias, 0.0, 1.0 * last)
        lower = int(floor(lod))
        upper = min_int(lower + 1, last)
        return mix(self.level(u, v, lower), self.level(u, v, upper), lod - lower)

    def __call__(self, position: Any) -> Any:
        """The image itself at a position in pixels, linear between them."""
        x, y = position
        return self.level((x + 0.5) / self.width, (y + 0.5) / self.height, 0)

    def level(self, u: Any, v: Any, number: Any) -> Any:
        """A level at normalised coordinates."""
        width = halved(self.width, number)
        height = halved(self.height, number)
        left, top = self.corner(number)
        x, y = u * width - 0.5, v * height - 0.5
        column, row = int(floor(x)), int(floor(y))
        along, down = x - floor(x), y - floor(y)
        rows = []
        for j in (row, row + 1):
            there = top + index(self.boundary, INTEGERS, j, height)
            a = self.levels((left + index(self.boundary, INTEGERS, column, width), there))
            b = self.levels((left + index(self.boundary, INTEGERS, column + 1, width), there))
            rows.append(a * (1.0 - along) + b * along)
        return rows[0] * (1.0 - down) + rows[1] * down

    def corner(self, number: Any) -> Any:
        """Where a level lies: x, y of its first pixel."""
        if number == 0:
            return 0, 0
        return self.width, self.height - halved(self.height, number - 1) + number - 1

    @property
    def shape(self) -> Any:
        """(height, width) of the image."""
        return self.height, self.width


def min_int(a: Any, b: Any) -> Any:
    return b if b < a else a


def halved(size: Any, times: Any) -> Any:
    """How many pixels are left of a side that is halved so often, rounded up."""
    return (size + (1 << times) - 1) >> times


class Cube:
    """Six square images around a point, read by direction: `pygpu.Cube(px, nx, py, ny, pz, nz)`.

    Faces are those of positive and negative x, y and z, each as OpenGL's cube maps have it: seen
    from inside, the row 0 on top. What lies between pixels of two faces is between these two, so
    that no seam is seen.
    """

    def __init__(self, faces: Any, size: int) -> None:
        self.faces, self.size = faces, size  # six side by side

    def __call__(self, direction: Any) -> Any:
        """The colour in a direction, which need not be of length 1."""
        face, s, t = self.place(direction)
        x, y = s * self.size - 0.5, t * self.size - 0.5
        left, top = floor(x), floor(y)
        along, down = x - left, y - top
        a, b = self.nearest(face, left, top), self.nearest(face, left + 1.0, top)
        c, d = self.nearest(face, left, top + 1.0), self.nearest(face, left + 1.0, top + 1.0)
        last = self.size - 1
        if (left < 0.0 or left >= last) and (top < 0.0 or top >= last):
            # Three faces meet in a corner of the cube: the mean of their pixels is the fourth.
            total = a + b + c + d
            above, before = top < 0.0, left < 0.0
            if above:
                a, b = ((total - a) / 3.0, b) if before else (a, (total - b) / 3.0)
            else:
                c, d = ((total - c) / 3.0, d) if before else (c, (total - d) / 3.0)
        upper = a * (1.0 - along) + b * along
        lower = c * (1.0 - along) + d * along
        return upper * (1.0 - down) + lower * down

    def nearest(self, face: Any, x: Any, y: Any) -> Any:
        """The pixel of a face; beyond its edges that of the face which lies there."""
        last = self.size - 1
        if x < 0.0 or x > last or y < 0.0 or y > last:
            s, t = (x + 0.5) / self.size, (y + 0.5) / self.size
            face, s, t = self.place(self.direction(face, s, t))
            x, y = floor(s * self.size), floor(t * self.size)
        column, row = int(clamp(x, 0.0, 1.0 * last)), int(clamp(y, 0.0, 1.0 * last))
        return self.faces((face * self.size + column, row))

    def place(self, direction: Any) -> Any:
        """The face that a direction points to, and where on it, both from 0 to 1."""
        x, y, z = direction
        ax, ay, az = abs(x), abs(y), abs(z)
        if ax >= ay and ax >= az:
            face, s, t, along = (0, -z, -y, ax) if x > 0 else (1, z, -y, ax)
        elif ay >= az:
            face, s, t, along = (2, x, z, ay) if y > 0 else (3, x, -z, ay)
        else:
            face, s, t, along = (4, x, -y, az) if z > 0 else (5, -x, -y, az)
        return face, 0.5 * s / along + 0.5, 0.5 * t / along + 0.5

    def direction(self, face: Any, s: Any, t: Any) -> Any:
        """The direction to a place on a face."""
        a, b = 2.0 * s - 1.0, 2.0 * t - 1.0
        if face == 0:
            return Vec3(1.0, -b, -a)
        if face == 1:
            return Vec3(-1.0, -b, a)
        if face == 2:
            return Vec3(a, 1.0, b)
        if face == 3:
            return Vec3(a, -1.0, -b)
        if face == 4:
            return Vec3(a, -b, 1.0)
        return Vec3(-a, -b, -1.0)


TEXTURES: Final = (Mipmaps, Cube)  # what holds images that are read by coordinates of its own
