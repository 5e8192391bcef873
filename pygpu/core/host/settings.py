"""What the environment asks for. What means nothing is a ValueError that names the variable.

flag("PYGPU_CHECK")                        # "1" and the like, or not
words("PYGPU_DUMP", ("ssa", "source"))     # some of these, with commas between
count("PYGPU_THREADS")                     # a whole number from 1 up; None where none is asked for
size("PYGPU_MEMORY")                       # bytes, as 512M; None where none is asked for
check()                                    # all of them
standing()                                 # what calls ask for, to compare with later
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

DUMPED: Final = ("ssa", "source")  # texts that PYGPU_DUMP may ask for
BACKENDS: Final = ("egl", "native")  # how OpenGL is reached

_FLAGS: Final = dict.fromkeys(("1", "on", "true", "yes"), True) | dict.fromkeys(
    ("0", "off", "false", "no"), False
)


def flag(name: str, default: bool = False) -> bool:
    """Whether a variable is on; the default where it is not set or empty."""
    text = _text(name).lower()
    if not text:
        return default
    if text not in _FLAGS:
        raise ValueError(f"{name}={text!r}: takes 0 or 1")
    return _FLAGS[text]


def words(name: str, known: Sequence[str]) -> set[str]:
    """Which of the words that are known a variable lists."""
    found = {word.strip() for word in _text(name).split(",")} - {""}
    if found - set(known):
        wrong = min(found - set(known))
        raise ValueError(f"{name}: {wrong!r} is none of {', '.join(known)}")
    return found


def count(name: str) -> int | None:
    """The number a variable gives; None where it is not set or empty."""
    text = _text(name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise ValueError(f"{name}={text!r}: takes a whole number from 1 up")
    return int(text)


def size(name: str) -> int | None:
    """The number of bytes (or texels) a variable gives, as 4096, 512M or 2G; None where it is not
    set or empty."""
    text = _text(name)
    if not text:
        return None
    found = re.fullmatch(r"([0-9]+)\s*([KMG]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise ValueError(f"{name}={text!r}: takes a number, as 65536, 512M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()]


def folder(name: str) -> Path | None:
    """The folder a variable names, which need not be there; None where it names none."""
    text = read(name)
    if not text:
        return None
    if os.path.exists(text) and not os.path.isdir(text):
        raise ValueError(f"{name}={text!r}: is no folder")
    return Path(text)


def backend() -> str:
    """How PYGPU_GL_BACKEND would have OpenGL reached; nothing where it does not say."""
    text = _text("PYGPU_GL_BACKEND").lower()
    if text and text not in BACKENDS:
        raise ValueError(f"PYGPU_GL_BACKEND={text!r}: takes {' or '.join(BACKENDS)}")
    return text


def check() -> None:
    """A ValueError for the first variable that means nothing, whoever would ask for it."""
    for name in ("PYGPU_CACHE", "PYGPU_CHECK", "PYGPU_VERIFY", "PYGPU_DEBUG", "PYGPU_LARGE_PAGES"):
        flag(name)
    count("PYGPU_THREADS")
    size("PYGPU_MEMORY")
    size("PYGPU_TEXTURE_SIZE")
    words("PYGPU_DUMP", DUMPED)
    folder("PYGPU_CACHE_DIR")
    backend()


def read(name: str) -> str:
    """What a variable says; nothing where it is not set. Calls ask, and `os.environ` takes a
    microsecond to say: so the table behind it is asked."""
    if _TABLE is None:
        return os.environ.get(name, "")
    said = _TABLE.get(_key(name))
    return "" if said is None else _text_of(said)


def standing() -> list[Any]:
    """What the variables say that calls ask for: equal to what it was while none has changed."""
    return [*map(_LOOK, _KEYS)]


_TABLE: Final[Mapping[Any, Any] | None] = getattr(os.environ, "_data", None)


@lru_cache(maxsize=64)
def _key(name: str) -> Any:
    """A name as the table has it."""
    return os.environ.encodekey(name)


@lru_cache(maxsize=64)
def _text_of(said: Any) -> str:
    """What the table has under a name, in words."""
    return str(os.environ.decodevalue(said))


_OF_CALLS: Final = ("PYGPU_TARGET", "PYGPU_CHECK", "PYGPU_MEMORY", "PYGPU_TEXTURE_SIZE")
_LOOK: Final = os.environ.get if _TABLE is None else _TABLE.get
_KEYS: Final = _OF_CALLS if _TABLE is None else tuple(map(_key, _OF_CALLS))


def _text(name: str) -> str:
    return read(name).strip()
