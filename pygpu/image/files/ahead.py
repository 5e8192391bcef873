"""JPEGs that Pillow decodes on a core of its own while Python still imports the rest.

decoding = begin(paths)  # Pillow is all that is imported for it
taken(path)              # a decoded picture, once, or None: it is to be opened
decoding.stop()
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

MOST: Final = 1 << 26  # pixels that wait decoded: 256 MB
WHOLE: Final = 1 << 26  # bytes decoded at once: between blocks Python's lock is waited for


class Ahead:
    """Pictures by their paths, decoded in order. What fails is left to who opens it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.pixels = 0
        self.pool = ThreadPoolExecutor(1)
        self.begun = {path: self.pool.submit(self._decoded, path) for path in dict.fromkeys(paths)}

    def stop(self) -> None:
        """Begin no further picture, and leave files to who opens them."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.begun.clear()

    def taken(self, path: Any) -> Any:
        """The picture at a path, waited for if it is being decoded."""
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        decoding = self.begun.pop(name, None)
        if decoding is None or decoding.cancel() or decoding.exception() is not None:
            return None
        return decoding.result()

    def _decoded(self, path: str) -> Any:
        from PIL import Image as PILImage  # heavy, and needed only here

        if self.pixels > MOST:
            return None
        with PILImage.open(path) as picture:
            if picture.format != "JPEG":
                return None
            picture.decodermaxblock = WHOLE
            picture.load()
            self.pixels += picture.width * picture.height
            return picture


_AHEAD: list[Ahead] = []


def begin(paths: Iterable[str]) -> Ahead:
    """Decode pictures of this process ahead."""
    _AHEAD[:] = [Ahead(paths)]
    return _AHEAD[0]


def taken(path: Any) -> Any:
    """A picture that was decoded ahead, or None."""
    return _AHEAD[0].taken(path) if _AHEAD else None
