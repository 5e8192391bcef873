"""What `compile` is told of how, not what, to compile; what is said for all that a block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from pygpu.core.errors import is_among, shown
from pygpu.core.host import settings


class Options(NamedTuple):
    """`precision` is "fast", or None for the accuracy that is promised."""

    target: str = "auto"
    dtype: Any = None
    check: bool = False
    precision: str | None = None

    @property
    def is_fast(self) -> bool:
        """Whether functions may err by 2**-12. ValueError for a precision that there is not."""
        if is_among(self.precision, (None, "fast")):
            return self.precision == "fast"
        raise ValueError(
            f"precision={shown(self.precision)}: takes 'fast' (functions may err by 2**-12) or None"
        )


_FAST: Final[ContextVar[bool]] = ContextVar("fast", default=False)


# Whether functions that are called here may err by 2**-12, whatever they were compiled for.
is_fast_here: Final[Callable[[], bool]] = _FAST.get


def is_checked_here() -> bool:
    """Whether the environment asks for checked programs."""
    return settings.flag("PYGPU_CHECK")


@contextmanager
def fast_within(fast: bool) -> Iterator[None]:
    """Have functions that are called in the block be fast ones, if `fast` says so."""
    token = _FAST.set(fast or _FAST.get())
    try:
        yield
    finally:
        _FAST.reset(token)
