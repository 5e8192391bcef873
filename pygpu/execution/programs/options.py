"""What `compile` is told of how, not what, to compile."""

from __future__ import annotations

from typing import Any, NamedTuple

from pygpu.core.errors import is_among, shown


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


__all__ = ["Options"]
