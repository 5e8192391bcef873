"""`Mesh`: vertices with attributes, and the triangles between them.

mesh = Mesh([(0, 1, 2)], position=corners, colour=colours)    # (N,) to (N, 4), and (M, 3)
Mesh.quad()                                                   # two triangles over the whole picture
Mesh.of(trimesh.creation.icosphere())                         # whatever has vertices and faces
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.drawing import Geometry
from pygpu.core.errors import guarded, shown


class Mesh:
    """Vertices and triangles. It never changes: devices keep it.

    `attributes` are arrays (N,) to (N, 4) of numbers, one element a vertex, taken as float32, under
    the names by which `Shader.vertex` asks for them. `indices`, (M, 3), are the vertices of each
    triangle; without them each three vertices are one. Counter-clockwise is the front.
    ValueError and TypeError name what does not fit.
    """

    __slots__ = ("__weakref__", "geometry", "widths")

    @guarded
    def __init__(self, indices: Any = None, **attributes: Any) -> None:
        if not attributes:
            raise TypeError("Mesh: needs attributes, as position=corners")
        arrays = {name: _attribute(name, values) for name, values in attributes.items()}
        first, count = next((name, len(array)) for name, array in arrays.items())
        for name, array in arrays.items():
            if len(array) != count:
                raise ValueError(
                    f"Mesh: {name!r} has {len(array)} elements, {first!r} {count}: "
                    "there is one for each vertex"
                )
        triangles = _consecutive(count) if indices is None else _triangles(indices, count)
        self.geometry = Geometry(arrays, triangles)
        self.widths = tuple([(name, array.shape[1]) for name, array in arrays.items()])

    @classmethod
    def quad(cls) -> Mesh:
        """Two triangles that cover the picture: `position`, a Vec2 in clip space, and `uv`, which
        is (0, 0) on top left and (1, 1) on bottom right."""
        position = [(-1, 1), (1, 1), (-1, -1), (1, -1)]
        uv = [(0, 0), (1, 0), (0, 1), (1, 1)]
        return cls([(0, 2, 1), (1, 2, 3)], position=position, uv=uv)

    @classmethod
    @guarded
    def of(cls, source: Any, **attributes: Any) -> Mesh:
        """The mesh of anything with `vertices` (N, 3) and `faces` (M, 3), as trimesh has them.

        Its vertices become `position`, its `vertex_normals` (where it has such) `normal`, its
        `visual.uv` `uv`, turned over, since files have v = 0 at the bottom. `attributes` are
        further ones, or others in place of these.
        """
        try:
            vertices, faces = source.vertices, source.faces
        except AttributeError:
            raise TypeError(
                f"Mesh.of: takes something with vertices and faces, got {shown(source)}"
            ) from None
        found = {"position": vertices}
        normals = getattr(source, "vertex_normals", None)
        uv = getattr(getattr(source, "visual", None), "uv", None)
        if normals is not None:
            found["normal"] = normals
        if uv is not None:
            found["uv"] = np.asarray(uv) * (1, -1) + (0, 1)
        return cls(faces, **(found | attributes))

    @property
    def indices(self) -> NDArray[np.uint32]:
        """The vertices of each triangle, (M, 3)."""
        return self.geometry.triangles

    @property
    def attributes(self) -> Mapping[str, NDArray[np.float32]]:
        """The attributes by name, each (N, 1) to (N, 4)."""
        return self.geometry.attributes

    def __repr__(self) -> str:
        each = ", ".join(f"{name} {a.shape[1]}" for name, a in self.attributes.items())
        return f"Mesh({self.geometry.count} vertices, {len(self.indices)} triangles: {each})"

    def __reduce__(self) -> Any:
        return _made_again, (self.indices, dict(self.attributes))


def _made_again(indices: Any, attributes: dict[str, Any]) -> Mesh:
    return Mesh(indices, **attributes)


def _attribute(name: str, values: Any) -> NDArray[np.float32]:
    """The values of an attribute, (N, width)."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged
        raise ValueError(f"Mesh: {name!r}: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"Mesh: {name!r} is an array of dtype {array.dtype}; it takes numbers")
    is_wide = array.ndim == 2 and not 1 <= array.shape[1] <= 4
    if array.size and (array.ndim not in (1, 2) or is_wide):
        raise ValueError(
            f"Mesh: {name!r} has shape {array.shape}; an attribute is (N,) or (N, 1) to (N, 4)"
        )
    width = array.shape[1] if array.ndim == 2 and array.shape[1] else 1
    with np.errstate(over="ignore"):
        made = array.astype(np.float32).reshape(-1, width)
    made.flags.writeable = False
    return made


def _consecutive(count: int) -> NDArray[np.uint32]:
    if count % 3:
        raise ValueError(
            f"Mesh: {count} vertices without indices; each three are a triangle, so it takes a "
            "multiple of 3"
        )
    return np.arange(count, dtype=np.uint32).reshape(-1, 3)


def _triangles(indices: Any, count: int) -> NDArray[np.uint32]:
    """Indices, checked: (M, 3)."""
    array = np.asarray(indices)
    if array.size == 0:
        return np.zeros((0, 3), np.uint32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"Mesh: indices are of dtype {array.dtype}; they are whole numbers")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"Mesh: indices have shape {array.shape}; triangles are (M, 3)")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= count:
        worst = low if low < 0 else high
        row = int(np.argwhere((array < 0) | (array >= count))[0, 0])
        raise IndexError(
            f"Mesh: triangle {row} has the vertices {array[row].tolist()}, and there are {count} "
            f"vertices: indices are 0 to {count - 1}, got {worst}"
        )
    made = np.ascontiguousarray(array, np.uint32)
    made = made.copy() if made is array else made
    made.flags.writeable = False
    return made
