"""Meshes and cameras that several pictures here use, made with NumPy."""

import numpy as np

from pygpu import Mesh


def surface(place, n, m):
    """The mesh of a function of u and v, both from 0 to 1, to points (..., 3): n x m squares, with
    normals, and tangents along u."""
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1))
    along, across = place(u + 1e-4, v) - place(u - 1e-4, v), place(u, v + 1e-4) - place(u, v - 1e-4)
    corner = np.arange((n + 1) * (m + 1)).reshape(m + 1, n + 1)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    fields = {
        "position": place(u, v),
        "normal": unit(np.cross(along, across)),
        "tangent": unit(along),
        "uv": np.stack([u, v], -1),
    }
    return Mesh(
        np.stack([a, b, c, b, d, c], -1).reshape(-1, 3),
        **{name: values.reshape(-1, values.shape[-1]) for name, values in fields.items()},
    )


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def ball(n=96, m=48):
    """A sphere of radius 1."""

    def place(u, v):
        a, b = 2 * np.pi * u, np.pi * (0.002 + 0.996 * v)
        return np.stack([np.sin(b) * np.cos(a), np.cos(b), np.sin(b) * np.sin(a)], -1)

    return surface(place, n, m)


def knot(n=192, m=20, thickness=0.32):
    """A tube along a trefoil knot."""

    def middle(t):
        a = 2 * np.pi * t
        out = 1.1 + 0.45 * np.cos(3 * a)
        return np.stack([out * np.cos(2 * a), out * np.sin(2 * a), 0.55 * np.sin(3 * a)], -1)

    def place(u, v):
        ahead = unit(middle(u + 1e-3) - middle(u - 1e-3))
        side = unit(np.cross(ahead, unit(middle(u) * (1, 1, 0))))
        up = np.cross(side, ahead)
        b = 2 * np.pi * v[..., None]
        return middle(u) + thickness * (np.cos(b) * side + np.sin(b) * up)

    return surface(place, n, m)


def plane(n=8):
    """The square from -1 to 1 in x and z, its face up; uv is that of a picture seen from above, its
    upper edge far away."""
    return surface(lambda u, v: np.stack([2 * u - 1, 0 * u, 1 - 2 * v], -1), n, n)


def turned(around_y, around_x=0.0):
    """A turn around y, after one around x, in degrees."""
    (a, b), (c, d) = [(np.cos(r), np.sin(r)) for r in np.radians([around_y, around_x])]
    y = np.array([(a, 0, b, 0), (0, 1, 0, 0), (-b, 0, a, 0), (0, 0, 0, 1)])
    return y @ np.array([(1, 0, 0, 0), (0, c, -d, 0), (0, d, c, 0), (0, 0, 0, 1)])


def camera(eye, target, shape, angle=40.0, near=0.1, far=50.0):
    """From the world to clip space, seen from an eye; `angle` is that of the smaller side."""
    back = unit(np.subtract(eye, target).astype(float))
    right = unit(np.cross((0, 1, 0), back))
    looking = np.eye(4)
    looking[:3, :3] = right, np.cross(back, right), back
    looking[:3, 3] = -looking[:3, :3] @ np.array(eye, float)
    f, (height, width) = 1 / np.tan(np.radians(angle) / 2), shape[:2]
    least, depth = min(height, width), near - far
    seen = np.zeros((4, 4))
    seen[0, 0], seen[1, 1] = f * least / width, f * least / height
    seen[2, 2:] = (far + near) / depth, 2 * far * near / depth
    seen[3, 2] = -1
    return seen @ looking
