"""
Perspective
===========

The photograph as a poster on a floor that reaches to the horizon. NumPy solves for the homography
that takes the poster's corners to four points of the picture; on the device it is a matrix and a
division. The nearer the horizon, the more samples each pixel averages.

Reference: R. Hartley and A. Zisserman, *Multiple View Geometry*, 2004, chapter 4.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Mat3, Position, Vec2, Vec3, mix


def homography(source, target):
    """The matrix that takes four points to four points."""
    rows = []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return np.append(np.linalg.solve(rows, np.ravel(target)), 1).reshape(3, 3)


@pygpu.compile
def laid_out(im: Image, p: Position, to_photo: Mat3, horizon: float, samples: int = 4):
    tiles = im.sampled(interpolation="linear", boundary="mirror")
    total = Vec3(0.0)
    for j in range(samples):
        for i in range(samples):
            x, y, w = to_photo @ Vec3(p + (Vec2(i, j) + 0.5) / samples - 0.5, 1.0)
            total += tiles((x / w, y / w))
    haze = Vec3(0.75, 0.82, 0.9)
    near = min(1.0, (p.y - horizon) / (0.25 * im.height))
    return haze if p.y < horizon + 2 else mix(haze, total / samples**2, near)


def render(photo: Image, *, horizon=0.25) -> Image:
    w, h = max(photo.width - 1.0, 1.0), max(photo.height - 1.0, 1.0)
    top = horizon + 0.3 * (1 - horizon)
    # The poster's sides meet at the horizon, in the middle.
    side = 0.5 * (top - horizon) / (1 - horizon)
    corners = [(w * (0.5 - side), h * top), (w * (0.5 + side), h * top), (w, h), (0, h)]
    to_photo = homography(corners, [(0, 0), (w, 0), (w, h), (0, h)])
    return laid_out(photo, to_photo=to_photo, horizon=horizon * h)


if __name__ == "__main__":
    main(render, horizon=(0, 0.8))
