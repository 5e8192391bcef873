"""What is kept on disk between processes: compiled programs and what was measured on this machine.

One file an entry, named by the hash of its key. The folder is the platform's cache folder, or
PYGPU_CACHE_DIR; PYGPU_CACHE=0 turns it off. Many processes may use it at once: files appear whole,
by renaming. A damaged, foreign, missing or unwritable file or folder is as good as an entry not
there: each begins with a digest of its name and content.

    cache.put("native", key, machine_code); cache.get("native", key)
"""

import hashlib
import os
import random
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

LAYOUT: Final = "2"  # changes when the layout of files does
LIMIT: Final = 256 * 2**20  # bytes kept, the least recently used go first
_SWEEP: Final = 50  # a sweep follows one in so many writes
_DIGEST: Final = 16  # bytes
_UNFINISHED: Final = ".new"  # ends the names of files that are being written
_ABANDONED: Final = 3600  # seconds after which nobody is writing one any more


def get(kind: str, key: bytes | str) -> bytes | None:
    """What was put under the key, or None."""
    path = _path(kind, key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = _opened(path.name, content)
    if data is None:
        with suppress(OSError):
            path.unlink()
        return None
    with suppress(OSError):
        os.utime(path)  # used now: see _sweep
    return data


def put(kind: str, key: bytes | str, data: bytes) -> None:
    """Keep data under a key, if it can be kept."""
    path = _path(kind, key)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=_UNFINISHED)
    except OSError:
        return
    try:
        with open(handle, "wb") as file:
            file.write(_digest(path.name, data) + data)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        return
    if random.randrange(_SWEEP) == 0:
        _sweep(path.parent.parent)


def clear() -> None:
    """Remove every entry."""
    folder = _folder()
    if folder is not None:
        _sweep(folder, 0)


def place() -> str | None:
    """The folder where entries are, None where none are kept."""
    folder = _folder()
    return None if folder is None else str(folder)


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST, key=name.encode()).digest()


def _opened(name: str, content: bytes) -> bytes | None:
    """The data of a file, None where it is damaged or another entry's."""
    data = content[_DIGEST:]
    return data if _digest(name, data) == content[:_DIGEST] else None


def _path(kind: str, key: bytes | str) -> Path | None:
    folder = _folder()
    if folder is None:
        return None
    name = hashlib.sha256(key.encode() if isinstance(key, str) else key).hexdigest()
    return folder / kind / name


def _folder() -> Path | None:
    if os.environ.get("PYGPU_CACHE", "1").lower() in ("0", "off", "false", "no"):
        return None
    chosen = os.environ.get("PYGPU_CACHE_DIR")
    folder = Path(chosen) if chosen else _default_folder()
    return None if folder is None else folder / LAYOUT


@lru_cache(maxsize=1)
def _default_folder() -> Path | None:
    """The platform's, None where it has none: a user without a home, in some containers."""
    import platformdirs  # only where no folder is named: it costs milliseconds

    folder = Path(platformdirs.user_cache_dir("pygpu", appauthor=False))
    return folder if folder.is_absolute() else None


def _sweep(folder: Path, limit: int | None = None) -> None:
    """Remove what was used longest ago, until the rest is within the limit, and what was never
    finished."""
    entries = []
    with suppress(OSError):
        for path in folder.glob("*/*"):
            with suppress(OSError):
                state = path.stat()
                if path.suffix == _UNFINISHED and state.st_mtime < time.time() - _ABANDONED:
                    path.unlink()
                    continue
                entries.append((state.st_mtime, state.st_size, path))
    entries.sort(key=lambda entry: entry[0], reverse=True)
    total = 0
    for _, size, path in entries:
        total += size
        if total > (LIMIT if limit is None else limit):
            with suppress(OSError):
                path.unlink()
