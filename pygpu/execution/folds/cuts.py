"""Images that are folded part by part, where a device does not hold them at once.

Cut((image,), tiles)[0]                # ((part,), (left, top))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu.core.sampler import make
from pygpu.core.storage import ImageLike, Storage
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.programs.tiles import Tile


class Cut(Sequence[Any]):
    """Images in tiles, each made when it is asked for: of large ones there may be very many."""

    def __init__(self, images: Sequence[ImageLike], tiles: Sequence[Tile]) -> None:
        self.images, self.tiles = images, tiles

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: Any) -> Any:
        tile = self.tiles[index]
        return tuple([_cut(image, tile) for image in self.images]), (tile.left, tile.top)


def _cut(image: ImageLike, tile: Tile) -> ImageLike:
    values = np.ascontiguousarray(tile.of(image.storage.host()))
    return ImageMaker.make(Storage.of(values), make(image.format))
