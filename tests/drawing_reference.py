"""What pygpu.draw does, in plain Python: a rasteriser with exact edge functions.

    colours, unsure = reference(shader, mesh, (20, 30))

The shader's methods are called as they stand, for each vertex and each fragment. `unsure` holds
where a pixel's centre lies so near to an edge that rounding decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pygpu.drawing.mesh import Mesh
from pygpu.drawing.shader import Shader
from pygpu.language.fragments import Discarded, Surroundings, around
from pygpu.language.matrices import Matrix
from pygpu.language.vectors import CLASSES, Vector
from pygpu.types import vector

STEPS = 256  # of a pixel
NEAR = 2.0 / STEPS  # pixels from an edge within which rounding may decide


@dataclass
class Corner:
    """A vertex: its position in clip space, and what is interpolated, flat."""

    clip: np.ndarray[Any, Any]
    varyings: np.ndarray[Any, Any]


@dataclass
class Picture:
    colours: list[np.ndarray[Any, Any]]
    depths: np.ndarray[Any, Any]
    unsure: np.ndarray[Any, Any]
    covered: np.ndarray[Any, Any]  # how often
    shapes: list[Any] = field(default_factory=list)


def as_value(numbers: Any) -> Any:
    values = [float(value) for value in np.atleast_1d(numbers)]
    return values[0] if len(values) == 1 else CLASSES[vector("float", len(values))](*values)


def flat(value: Any) -> list[float]:
    if isinstance(value, Matrix):
        return [float(x) for row in value for x in row]
    return [float(x) for x in value] if isinstance(value, Vector) else [float(value)]


def unflat(numbers: Any, shapes: Sequence[Any]) -> list[Any]:
    """The varyings, as they were given."""
    made, at = [], 0
    for shape in shapes:
        size = shape.SIZE**2 if isinstance(shape, type) and issubclass(shape, Matrix) else shape
        part = [float(x) for x in numbers[at : at + size]]
        at += size
        if isinstance(shape, type):
            made.append(shape(np.reshape(part, (shape.SIZE, shape.SIZE)).tolist()))
        else:
            made.append(as_value(part))
    return made


def vertices(shader: Shader, mesh: Mesh, names: Sequence[str]) -> tuple[list[Corner], list[Any]]:
    corners, shapes = [], []
    for index in range(mesh.geometry.count):
        given = {name: as_value(mesh.attributes[name][index]) for name in names}
        found = shader.vertex(**given)
        parts = list(found) if isinstance(found, tuple) else [found]
        shapes = [type(p) if isinstance(p, Matrix) else len(flat(p)) for p in parts[1:]]
        rest = [x for part in parts[1:] for x in flat(part)]
        corners.append(Corner(np.array(flat(parts[0])), np.array(rest)))
    return corners, shapes


def clipped(corners: list[Corner]) -> list[Corner]:
    """The polygon between the near and the far plane."""
    # z >= -w, z <= w, and w above 0: what lies at w = 0 is infinitely far away.
    for *plane, least in ((0, 0, 1, 1, 0), (0, 0, -1, 1, 0), (0, 0, 0, 1, 1e-7)):
        made: list[Corner] = []
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            da, db = float(plane @ a.clip) - least, float(plane @ b.clip) - least
            if da >= 0:
                made.append(a)
            if (da >= 0) != (db >= 0):
                t = da / (da - db)
                made.append(
                    Corner(
                        a.clip + t * (b.clip - a.clip), a.varyings + t * (b.varyings - a.varyings)
                    )
                )
        corners = made
    return corners


def reference(
    shader: Shader,
    mesh: Mesh,
    shape: tuple[int, int],
    *,
    names: Sequence[str] = ("position",),
    cull: str | None = None,
    blend: str | None = None,
    depth: bool = True,
    clear: float = 0.0,
    sizes: Sequence[int] = (4,),
) -> Picture:
    height, width = shape
    colours = [np.full((height, width, size), clear, float) for size in sizes]
    picture = Picture(
        colours,
        np.ones(shape),
        np.zeros(shape, bool),
        np.zeros(shape, int),
    )
    corners, picture.shapes = vertices(shader, mesh, names)
    for triangle in mesh.indices:
        three = [corners[int(index)] for index in triangle]
        if not all(np.isfinite(corner.clip).all() for corner in three):
            continue
        polygon = clipped(three)
        for place in range(1, len(polygon) - 1):
            part = [polygon[0], polygon[place], polygon[place + 1]]
            _draw(shader, part, picture, cull, blend, depth)
    return picture


def _draw(
    shader: Shader,
    corners: list[Corner],
    picture: Picture,
    cull: str | None,
    blend: str | None,
    depth: bool,
) -> None:
    height, width = picture.depths.shape
    points = []
    for corner in corners:
        x, y, _, w = corner.clip
        points.append(
            (
                round((x / w * 0.5 + 0.5) * width * STEPS),
                round((0.5 - y / w * 0.5) * height * STEPS),
            )
        )
    area = _edge(points[0], points[1], points[2])
    if area == 0:
        return
    is_front = area < 0  # y is downwards here
    if cull == ("front" if is_front else "back"):
        return
    order = [0, 2, 1] if area < 0 else [0, 1, 2]
    points, corners = [points[i] for i in order], [corners[i] for i in order]
    area = abs(area)
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    columns = range(max(0, min(xs) // STEPS - 1), min(width, max(xs) // STEPS + 2))
    rows = range(max(0, min(ys) // STEPS - 1), min(height, max(ys) // STEPS + 2))
    for row in rows:
        for column in columns:
            centre = column * STEPS + STEPS // 2, row * STEPS + STEPS // 2
            inside = True
            for i in range(3):
                a, b = points[(i + 1) % 3], points[(i + 2) % 3]
                e = _edge(a, b, centre)
                is_top_left = (a[1] == b[1] and b[0] > a[0]) or b[1] < a[1]
                inside = inside and (e > 0 or (e == 0 and is_top_left))
                length = math.hypot(b[0] - a[0], b[1] - a[1])
                if length == 0:
                    continue
                along = (centre[0] - a[0]) * (b[0] - a[0]) + (centre[1] - a[1]) * (b[1] - a[1])
                on_it = -STEPS <= along / length <= length + STEPS
                if abs(e) / length < NEAR * STEPS and on_it:
                    picture.unsure[row, column] = True
            if inside:
                _fragment(shader, corners, points, area, picture, column, row, blend, depth)


def _edge(a: Any, b: Any, p: Any) -> int:
    return int((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]))


def _weights(points: Any, area: int, column: int, row: int) -> np.ndarray[Any, Any]:
    centre = column * STEPS + STEPS // 2, row * STEPS + STEPS // 2
    edges = [_edge(points[(i + 1) % 3], points[(i + 2) % 3], centre) for i in range(3)]
    return np.array(edges) / area


def _fragment(
    shader: Shader,
    corners: list[Corner],
    points: Any,
    area: int,
    picture: Picture,
    column: int,
    row: int,
    blend: str | None,
    depth: bool,
) -> None:
    weights = _weights(points, area, column, row)
    z = float(weights @ [corner.clip[2] / corner.clip[3] for corner in corners]) * 0.5 + 0.5
    if depth and not z < picture.depths[row, column]:
        return

    def compute(x: int, y: int) -> Any:
        share = _weights(points, area, x, y) / [corner.clip[3] for corner in corners]
        share = share / share.sum()
        values = sum(s * corner.varyings for s, corner in zip(share, corners, strict=True))
        return shader.fragment(*unflat(values, picture.shapes))

    def surroundings(x: int, y: int) -> Surroundings:
        def neighbour(axis: int) -> Any:
            other = (x ^ 1, y) if axis == 0 else (x, y ^ 1)
            is_after = (x, y) < other
            return lambda: compute(*other), surroundings(*other), is_after

        return Surroundings(neighbour)

    try:
        with around(surroundings(column, row)):
            results = compute(column, row)
    except Discarded:
        return
    picture.covered[row, column] += 1
    parts = results if isinstance(results, tuple) else (results,)
    for colours, part in zip(picture.colours, parts, strict=True):
        new, old = np.array(flat(part)), colours[row, column]
        if blend == "alpha":
            new = new * new[3] + old * (1 - new[3])
        elif blend == "add":
            new = new + old
        elif blend == "multiply":
            new = new * old
        colours[row, column] = new
    if depth:
        picture.depths[row, column] = z
