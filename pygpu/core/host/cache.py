"""What is kept on disk between processes: compiled programs and what was measured on this machine.

One file an entry, named by the hash of its key. The folder is the platform's cache folder, or
PYGPU_CACHE_DIR; PYGPU_CACHE=0 turns it off. Many processes may use it at once: files appear whole,
by renaming. A damaged, foreign, missing or unwritable file or folder is as good as an entry not
there: each begins with a digest of its name and content.

Entries are executed. So one counts only where nobody but this user and root can have made it: it is
a regular file of theirs, in a folder of theirs, and others may write neither. A digest says nothing
of that, for whoever can write the file can compute it.

    cache.put("native", key, machine_code); cache.get("native", key)
"""

import hashlib
import os
import stat
import sys
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from pygpu.core.host import settings
from pygpu.core.host.forks import IMPORTING

LAYOUT: Final = "3"  # changes when the layout of files does
LIMIT: Final = 256 * 2**20  # bytes kept at most, the least recently used go first
_SPARE: Final = 8  # where there are too many bytes, this part of the limit is made free
_DIGEST: Final = 16  # bytes
_UNFINISHED: Final = ".new"  # ends the names of files that are being written
_ABANDONED: Final = 3600  # seconds after which nobody is writing one any more
# No link is followed, and opening a pipe that nobody writes does not wait. Windows has other flags.
_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def get(kind: str, key: bytes | str) -> bytes | None:
    """What was put under the key, or None."""
    path = _path(kind, key)
    if path is None:
        return None
    try:
        content = _read(path)
    except OSError:
        return None
    data = None if content is None else _opened(path.name, content)
    if data is None:
        with suppress(OSError):
            path.unlink()
        return None
    return data


def put(kind: str, key: bytes | str, data: bytes) -> None:
    """Keep data under a key, if it can be kept."""
    path = _path(kind, key)
    if path is None or _DIGEST + len(data) > LIMIT:
        return
    with IMPORTING:
        import tempfile  # which costs milliseconds, as few calls need

    try:
        if not _make_folder(path.parent):
            return
        _SIZE.make_room(path.parent.parent, _DIGEST + len(data))
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
    _SIZE.grow(path.parent.parent, _DIGEST + len(data))


def clear() -> None:
    """Remove every entry."""
    folder = _folder()
    if folder is not None:
        _sweep(folder, 0)


def place() -> str | None:
    """The folder where entries are, None where none are kept."""
    folder = _folder()
    return None if folder is None else str(folder)


# ---------------------------------------------------------------- whose files


def _read(path: Path) -> bytes | None:
    """The content of a file; None where the file is not to be trusted. OSError where there is none,
    or the folder is not to be trusted."""
    if not all(_is_own(folder) for folder in (path.parent, path.parent.parent)):
        raise PermissionError(f"others may write in {path.parent}")
    handle = os.open(path, _READ)
    try:
        state = os.fstat(handle)  # of what was opened, whatever bears its name by now
        if not stat.S_ISREG(state.st_mode) or not _is_safe(state):
            return None
        with suppress(OSError):  # used now: see _sweep
            os.utime(handle if os.utime in os.supports_fd else path)
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _is_own(folder: Path) -> bool:
    """Whether a folder of the cache's own is one in which nobody else can write. A link is none: it
    may lead into a folder of this user's that holds what others have written."""
    state = folder.lstat()
    return not stat.S_ISLNK(state.st_mode) and _is_safe(state)


def _is_safe(state: os.stat_result) -> bool:
    """Whether only this user and root can have written a file or in a folder. Windows' permissions
    are other ones: there the folder, which lies in the user's profile, is what protects it."""
    if not hasattr(os, "geteuid"):
        return True
    return state.st_uid in (os.geteuid(), 0) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_folder(folder: Path) -> bool:
    """Make a folder, and those it lies in, for this user alone. Whether it may be written to. None
    are made in another user's folder: that user could not write there afterwards. Nothing is
    written where a link leads: its folder may be one of this user's with other files."""
    missing, whole = [], folder
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    state = folder.stat()
    if missing and hasattr(os, "geteuid") and state.st_uid not in (os.geteuid(), 0):
        return False
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            each.mkdir(0o700)
    return _is_own(whole) and _is_own(whole.parent)


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
    if not settings.flag("PYGPU_CACHE", default=True):
        return None
    folder = settings.folder("PYGPU_CACHE_DIR") or _default_folder()
    return None if folder is None else folder / LAYOUT


@lru_cache(maxsize=1)
def _default_folder() -> Path | None:
    """The platform's, None where it has none: a user without a home, in some containers."""
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:  # what platformdirs says there
        folder = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        path = Path(folder, "pygpu")
    else:
        with IMPORTING:
            import platformdirs  # it costs milliseconds

        path = Path(platformdirs.user_cache_dir("pygpu", appauthor=False))
    return path if path.is_absolute() else None


# ---------------------------------------------------------------- how much


class _Size:
    """How many bytes all entries have, as far as this process knows: exactly, while nobody else
    writes there, which the times of the folders tell."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.times: list[tuple[str, int]] = []
        self.total = 0

    def make_room(self, folder: Path, nbytes: int) -> None:
        """Let there be room for so many bytes within the limit."""
        if folder != self.folder or _times(folder) != self.times:
            self.total = sum(size for _, size, _ in _entries(folder))
        if self.total + nbytes > LIMIT:
            self.total = _sweep(folder, max(LIMIT - LIMIT // _SPARE - nbytes, 0))
        self.folder = None

    def grow(self, folder: Path, nbytes: int) -> None:
        """Add bytes that were written. Where they replace an entry the total is too large, until it
        reaches the limit: then all entries are counted anew."""
        self.folder, self.times = folder, _times(folder)
        self.total += nbytes


_SIZE: Final = _Size()


def _times(folder: Path) -> list[tuple[str, int]]:
    """When each folder of a kind was changed last."""
    with suppress(OSError), os.scandir(folder) as kinds:
        return sorted([(kind.name, kind.stat().st_mtime_ns) for kind in kinds])
    return []


def _entries(folder: Path) -> list[tuple[float, int, str]]:
    """Time of last use, size and path of all files; what was never finished is removed."""
    entries: list[tuple[float, int, str]] = []
    with suppress(OSError):
        if not _is_own(folder):
            return entries
        kinds = [each.path for each in os.scandir(folder) if each.is_dir(follow_symlinks=False)]
        for kind in kinds:
            for entry in os.scandir(kind):
                with suppress(OSError):
                    state = entry.stat(follow_symlinks=False)
                    old = state.st_mtime < time.time() - _ABANDONED
                    if old and entry.name.endswith(_UNFINISHED):
                        os.unlink(entry.path)
                        continue
                    entries.append((state.st_mtime, state.st_size, entry.path))
    return entries


def _sweep(folder: Path, limit: int) -> int:
    """Remove what was used longest ago until the rest is within the limit; the rest's bytes."""
    total, is_full = 0, False
    for _, size, path in sorted(_entries(folder), reverse=True):
        is_full = is_full or total + size > limit
        if is_full:
            with suppress(OSError):
                os.unlink(path)
                continue
        total += size
    return total
