"""What the environment asks for. What means nothing is a ValueError that names the variable.

flag("PYGPU_CHECK")                        # "1" and the like, or not
words("PYGPU_DUMP", ("ssa", "source"))     # some of these, with commas between
count("PYGPU_THREADS")                     # a whole number from 1 up; None where none is asked for
"""

import os
from collections.abc import Sequence
from typing import Final

_FLAGS: Final = dict.fromkeys(("1", "on", "true", "yes"), True) | dict.fromkeys(
    ("0", "off", "false", "no"), False
)


def flag(name: str, default: bool = False) -> bool:
    """Whether a variable is on; the default where it is not set or empty."""
    given = os.environ.get(name)
    if given is None:
        return default
    text = given.strip().lower()
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


def _text(name: str) -> str:
    return os.environ.get(name, "").strip()


__all__ = ["count", "flag", "words"]
