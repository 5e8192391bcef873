"""What the environment asks for. What means nothing is a ValueError that names the variable.

flag("PYGPU_CHECK")                        # "1" and the like, or not
words("PYGPU_DUMP", ("ssa", "source"))     # some of these, with commas between
count("PYGPU_THREADS")                     # a whole number from 1 up; None where none is asked for
"""

import os
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Any, Final

_FLAGS: Final = dict.fromkeys(("1", "on", "true", "yes"), True) | dict.fromkeys(
    ("0", "off", "false", "no"), False
)


def flag(name: str, default: bool = False) -> bool:
    """Whether a variable is on; the default where it is not set or empty."""
    given = read(name)
    text = given.strip().lower() if given else ""
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


def read(name: str) -> str:
    """What a variable says; nothing where it is not set. Calls ask, and `os.environ` takes a
    microsecond to say that there is no such variable: so the table behind it is asked first."""
    if _TABLE is not None and _key(name) not in _TABLE:
        return ""
    return os.environ.get(name, "")


_TABLE: Final[Container[Any] | None] = getattr(os.environ, "_data", None)


@lru_cache(maxsize=64)
def _key(name: str) -> Any:
    """A name as the table has it."""
    return os.environ.encodekey(name)


def _text(name: str) -> str:
    return read(name).strip()


__all__ = ["count", "flag", "read", "words"]
