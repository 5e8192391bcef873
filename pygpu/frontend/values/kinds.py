"""Which kind holds several scalars as what they are: where paths meet, in tables and choices.

Dynamic ints and uints are kept apart: neither holds the other, unless an int is never negative. A
known integer goes with either that holds it, and from 2**31 on it is a uint.

    meeting((3, uint)) == "uint"; meeting((-1, uint)) is None; meeting((1, 0x80000000)) == "uint"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygpu.frontend.values.values import Abstract, Natural, scalar_kind
from pygpu.types import Kind, widest


def is_plain(value: Any) -> bool:
    """Whether it is a known integer of no particular kind: Python's own, or NumPy's."""
    return not isinstance(value, Abstract) and scalar_kind(value) == "int"


def is_beyond(value: Any) -> bool:
    """Whether it is a known integer that needs more than 32 bits."""
    return is_plain(value) and not -(2**31) <= int(value) < 2**32


def meeting(scalars: Sequence[Any], wrapping: bool = False) -> Kind | None:
    """The kind that holds all of these scalars, None where there is none.

    `wrapping`: known integers are taken modulo 2**32, so that one from 2**31 on may be an int: as
    what a loop begins with. One of more than 32 bits is left to whoever makes a constant of it.
    """
    kind = widest(*[scalar_kind(value) or "float" for value in scalars])
    if kind in ("float", "bool") or any(map(is_beyond, scalars)):
        return kind
    large = [value for value in scalars if is_plain(value) and int(value) >= 2**31]
    if kind == "int" and (wrapping or not large):
        return kind
    held = [
        isinstance(v, Natural) or (is_plain(v) and int(v) >= 0)
        for v in scalars
        if scalar_kind(v) == "int"
    ]
    return "uint" if all(held) else None


def held_kind(value: Any) -> Kind | None:
    """The kind that holds a scalar by itself; None for anything else."""
    return meeting((value,)) if scalar_kind(value) else None


__all__ = ["held_kind", "is_beyond", "is_plain", "meeting"]
