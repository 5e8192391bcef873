"""Meshes and cameras, made with NumPy: each mesh has position, normal, tangent and uv."""

import numpy as np

from pygpu import Mesh


def surface(place, n, m):
    """The mesh of a function of u and v (arrays) to points (..., 3), of n x m squares. Normals and
    tangents are differences of the function; u runs along the tangent."""
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1))
    step = 1e-4
    along = place(u + step, v) - place(u - step, v)
    across = place(u, v + step) - place(u, v - step)
    tangent = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
    normal = np.cross(along, across)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    corner = np.arange((n + 1) * (m + 1)).reshape(m + 1, n + 1)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    triangles = np.stack([a, b, c, b, d, c], -1).reshape(-1, 3)
    flat = {"position": place(u, v), "normal": normal, "tangent": tangent}
    flat = {name: values.reshape(-1, 3) for name, values in flat.items()}
    return Mesh(triangles, uv=np.stack([u, v], -1).reshape(-1, 2), **flat)


def floor(size):
    """A square in the plane y = 0."""
    return surface(lambda u, v: np.stack([size * (u - 0.5), 0 * u, size * (0.5 - v)], -1), 8, 8)


def torus(radius, thickness, n=96, m=48):
    """A ring around the y axis."""

    def place(u, v):
        a, b = 2 * np.pi * u, -2 * np.pi * v
        out = radius + thickness * np.cos(b)
        return np.stack([out * np.cos(a), thickness * np.sin(b), out * np.sin(a)], -1)

    return surface(place, n, m)


def ball(radius, n=64, m=32):
    """A sphere around the origin."""

    def place(u, v):
        a, b = 2 * np.pi * u, np.pi * (0.002 + 0.996 * v)
        ring = np.sin(b)
        return radius * np.stack([ring * np.cos(a), np.cos(b), ring * np.sin(a)], -1)

    return surface(place, n, m)


# ---------------------------------------------------------------- matrices, for columns: M @ v


def moved(x, y, z, turn=0.0, tilt=0.0):
    """To a place, turned around y, tilted around x before."""
    c, s, d, t = np.cos(turn), np.sin(turn), np.cos(tilt), np.sin(tilt)
    around_y = np.array([(c, 0, s, 0), (0, 1, 0, 0), (-s, 0, c, 0), (0, 0, 0, 1)])
    around_x = np.array([(1, 0, 0, 0), (0, d, -t, 0), (0, t, d, 0), (0, 0, 0, 1)])
    made = around_y @ around_x
    made[:3, 3] = x, y, z
    return made


def view(eye, target):
    """From the world to an eye that looks along -z, y up."""
    eye, target = np.array(eye, float), np.array(target, float)
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    turn = np.eye(4)
    turn[:3, :3] = right, np.cross(back, right), back
    turn[:3, 3] = -turn[:3, :3] @ eye
    return turn


def perspective(angle, aspect, near=0.1, far=100.0):
    """From the eye to clip space; `angle` in degrees, from top to bottom."""
    f = 1 / np.tan(np.radians(angle) / 2)
    depth = near - far
    return np.array(
        [
            (f / aspect, 0, 0, 0),
            (0, f, 0, 0),
            (0, 0, (far + near) / depth, 2 * far * near / depth),
            (0, 0, -1, 0),
        ]
    )
