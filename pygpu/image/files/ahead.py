"""JPEGs that Pillow decodes on a core of its own while Python still imports the rest.

ahead = Ahead(paths)     # begins; Pillow is all that is imported for it
ahead.taken(path)        # a decoded picture, once, or None: it is to be opened
ahead.stop()
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import Any, Final

MOST: Final = 1 << 26  # pixels that wait decoded: 256 MB
WHOLE: Final = 1 << 26  # bytes decoded at once: between blocks Python's lock is waited for


class Ahead:
    """Pictures by their paths, decoded in order. What fails is left to who opens it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.pictures: dict[str, Any] = {}
        self.begun: set[str] = set()  # or taken before that
        self.changed = threading.Condition()
        self.is_over = False
        self.thread = threading.Thread(target=self._decode, args=[list(paths)])
        self.thread.start()

    def stop(self) -> None:
        """Begin no further picture, and leave files to who opens them."""
        self.is_over = True
        if self in _AHEAD:
            _AHEAD.remove(self)

    def taken(self, path: Any) -> Any:
        """The picture at a path, waited for if it is being decoded."""
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        with self.changed:
            if name not in self.begun:
                self.begun.add(name)
                self.pictures[name] = None  # whoever reads it again opens it, too
                return None
            self.changed.wait_for(lambda: name in self.pictures)
            picture, self.pictures[name] = self.pictures[name], None
            return picture

    def _decode(self, paths: list[str]) -> None:
        pixels = 0
        for path in paths:
            with self.changed:
                if self.is_over or pixels > MOST or path in self.begun:
                    continue
                self.begun.add(path)
            picture = None
            try:
                picture = _decoded(path)
                pixels += picture.width * picture.height if picture else 0
            except Exception:  # which is told where it is opened
                pass
            finally:
                with self.changed:
                    self.pictures[path] = picture
                    self.changed.notify_all()


def _decoded(path: str) -> Any:
    from PIL import Image as PILImage  # heavy, and needed only here

    with PILImage.open(path) as picture:
        if picture.format != "JPEG":
            return None
        picture.decodermaxblock = WHOLE
        picture.load()
        return picture


_AHEAD: list[Ahead] = []


def begin(paths: Iterable[str]) -> Ahead:
    """Decode pictures of this process ahead."""
    _AHEAD[:] = [Ahead(paths)]
    return _AHEAD[0]


def taken(path: Any) -> Any:
    """A picture that was decoded ahead, or None."""
    found = next(iter(_AHEAD), None)
    return None if found is None else found.taken(path)
