"""What the rules of simplification share: how they look at values and how they make new ones.

A rule gets an operation that is about to be appended, its operands already simplified, and returns
the value to use instead, or None where it has nothing better:

    def _neg(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
        inner = made_by(operands[0], "neg")
        return inner.operands[0] if inner else None
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Protocol

from pygpu.ssa import Number, Op, Table, Value
from pygpu.types import FLOAT, INT, Type

FARTHEST: Final = 1 << 20  # constants beyond that are not brought together with places


class Emit(Protocol):
    """Appends operations to the function being built, each through the rules."""

    tables: list[Table]

    def __call__(self, code: str, *operands: Value, data: Any = None) -> Value:
        """The value of an operation, which need not be a new one."""

    def constant(self, type: Type, value: Any) -> Value:
        """A constant; a number for a vector is meant for all its components."""


Rule = Callable[[Emit, tuple[Value, ...], Any], Value | None]


def number(value: Value) -> Number | None:
    """The number that a constant has in all its components; None for any other value."""
    op = value.op
    if op is None or op.code != "constant":
        return None
    held = op.data[1]
    if isinstance(held, tuple):
        first = held[0]
        same = all(
            n == first and (n != 0 or repr(n) == repr(first)) for n in held
        )  # 0.0 is not -0.0
        return first if same else None
    return held  # type: ignore[no-any-return]


def finite(value: Value) -> float | None:
    """The finite float that a constant has in all its components; None for any other value."""
    held = number(value)
    return held if isinstance(held, float) and math.isfinite(held) else None


def made_by(value: Value, code: str) -> Op | None:
    """The op that makes a value, where it is of that code."""
    return value.op if value.op is not None and value.op.code == code else None


def place(value: Value) -> tuple[Value, float] | None:
    """An integer, as a float, and the constant that is added to it, where a float is such a sum. As
    float32 it is rounded once or more; the two parts are what it stands for."""
    total = 0.0
    while value.type is FLOAT and (op := made_by(value, "add") or made_by(value, "sub")):
        value, b = op.operands
        c = finite(b)
        if c is None:
            return None
        total += c if op.code == "add" else -c
    whole = made_by(value, "to_float")
    is_near = whole is not None and whole.operands[0].type is INT and abs(total) <= FARTHEST
    return (value, total) if is_near else None
