"""Images for reading by normalised coordinates: levels of mipmaps, cubes of six faces.

Levels are computed here, by NumPy, so that they are the same on every target. Each pixel of a level
is the mean of the area of the level before that it covers.

    mipmaps(image)                         # what image.sampled(mipmap=True) gives
    Cube(px, nx, py, ny, pz, nz)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded, shown
from pygpu.core.storage import ImageLike, stored, texels
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Signature
from pygpu.language import textures
from pygpu.language.textures import Mipmaps, halved
from pygpu.language.vectors import Position
from pygpu.runtime import Compiled
from pygpu.types import INT


def mipmaps(image: ImageLike) -> Mipmaps:
    """The image with its levels. They are of the image's dtype, of float32 where that is wider
    than 16 bits. ValueError for images of ints and bools, and for a constant around."""
    if image.format.kind != "float":
        raise ValueError(f"mipmap=True needs an image of floats, not of {image.storage.dtype}")
    if image.boundary == "constant":
        raise ValueError("mipmap=True: levels have no constant around them; take 'nearest' or so")
    width, height = image.storage.width, image.storage.height
    count = (max(width, height) - 1).bit_length() + 1
    level = texels(image.storage.host(), image.format)
    shape = height + count, width + halved(width, 1), level.shape[2]
    whole = np.zeros(shape, np.float32)
    whole[:height, :width] = level
    made = Mipmaps(image, width, height, count, image.boundary)
    for number in range(1, count):
        level = _half(_half(level, 0), 1)
        left, top = made.corner(number)
        whole[top : top + level.shape[0], left : left + level.shape[1]] = level
    dtype = image.storage.dtype
    narrow = dtype if dtype.itemsize <= 2 and image.format.normalize else np.dtype("float32")
    kept = stored(whole, narrow)
    made.levels = ImageMaker.wrap(kept[..., 0] if kept.shape[2] == 1 else kept)
    return made


def _half(level: NDArray[Any], axis: int) -> NDArray[Any]:
    """Half as many pixels along an axis, rounded up: means of what each covers."""
    level = np.moveaxis(level, axis, 0)
    size, half = len(level), (len(level) + 1) // 2
    if size == 2 * half:
        made = (level[0::2] + level[1::2]) * np.float32(0.5)
        return np.moveaxis(made, 0, axis)
    step = size / half  # less than two: a pixel covers parts of up to three
    begin = np.arange(half) * step
    first = np.minimum(begin.astype(int), size - 1)
    total = np.zeros((half, *level.shape[1:]), np.float32)
    for k in range(3):
        at = np.minimum(first + k, size - 1)
        covered = np.minimum(first + k + 1, begin + step) - np.maximum(first + k, begin)
        weight = np.clip(covered, 0, 1) * (first + k < size) / step
        total += level[at] * weight.astype(np.float32).reshape(-1, *[1] * (level.ndim - 1))
    return np.moveaxis(total, 0, axis)


class Cube(textures.Cube):
    """Six square images around a point: `Cube(px, nx, py, ny, pz, nz)(direction)` is a colour.

    Faces are those of positive and negative x, y and z, each as OpenGL's cube maps have it: seen
    from inside, row 0 on top; square, of one size, dtype and number of channels. Between pixels of
    two faces lies what is between these two, so that no seam is seen. ValueError names the face
    that does not fit.
    """

    @guarded
    def __init__(self, px: Any, nx: Any, py: Any, ny: Any, pz: Any, nz: Any) -> None:
        faces: dict[str, Any] = dict(
            zip("px nx py ny pz nz".split(), (px, nx, py, ny, pz, nz), strict=True)
        )
        given = faces
        are_there = all(isinstance(face, ImageLike) for face in faces.values())
        if not are_there:
            faces = {name: np.asarray(face) for name, face in faces.items()}
        first = faces["px"]
        for name, array in faces.items():
            shape = array.shape
            if not isinstance(faces[name], ImageLike) and array.dtype.kind not in "fiub":
                raise TypeError(f"Cube: {name} takes a square image, got {shown(given[name])}")
            if len(shape) not in (2, 3) or shape[0] != shape[1]:
                raise ValueError(f"Cube: {name} has shape {shape}; faces are square images")
            if shape != first.shape or array.dtype != first.dtype:
                raise ValueError(
                    f"Cube: {name} is {array.shape} of {array.dtype}, px {first.shape} of "
                    f"{first.dtype}: faces are alike"
                )
        size = first.shape[0]
        on_device = are_there and any(face.storage.array is None for face in faces.values())
        joined = _beside_each_other if on_device else partial(np.concatenate, axis=1)
        super().__init__(ImageMaker.wrap(joined(list(faces.values()))), size)

    def __repr__(self) -> str:
        return f"Cube({self.size} x {self.size}, {self.faces!r})"


def _beside_each_other(faces: Sequence[Any]) -> Any:
    """Six images of one size side by side, on the device."""
    size, dtype = faces[0].storage.width, faces[0].storage.dtype
    return _beside()(tuple(faces), size=size, shape=(size, 6 * size), dtype=dtype)


@lru_cache(maxsize=1)
def _beside() -> Compiled:
    signature = Signature.by_roles(_side_by_side, faces="object", size=INT, p="position")
    return Compiled(_side_by_side, signature)


def _side_by_side(faces: Any, size: Any, p: Any) -> Any:
    """The texel of the face that p lies in."""
    face, at = p.x // size, Position(p.x % size, p.y)
    for number in range(5):
        if face == number:
            return faces[number](at)
    return faces[5](at)
