"""Common subexpressions: equal operations on equal operands are one operation, loads included.

An operation is known in the region where it stands and in the regions within it.
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.ssa import Constant, Value
from pygpu.types import Type

Key = tuple[Any, ...]

_COMMUTES: Final = frozenset(code for code, row in TABLE.items() if row.commutes)


def key(code: str, operands: tuple[Value, ...], data: Any) -> Key:
    """What equal operations have in common."""
    if code in _COMMUTES and id(operands[0]) > id(operands[1]):
        operands = operands[::-1]
    if code == "fma" and id(operands[0]) > id(operands[1]):
        operands = operands[1], operands[0], operands[2]
    if code in ("load", "voxel") and data.cval:
        return code, data, _bits(data.cval), operands
    return code, data, operands


def constant_key(type: Type, value: Constant) -> Key:
    """Equal for constants of one type and equal bits."""
    return type, _bits(value)


def _bits(value: Any) -> Any:
    """Tells 0.0 from -0.0, which are equal, and NaN by its name, which is not equal to itself."""
    if isinstance(value, tuple):
        return tuple([_bits(number) for number in value])
    return repr(value) if value == 0 or value != value else value


class Known:
    """The operations made so far, by key, in the region being built and those around it."""

    def __init__(self) -> None:
        self.values: dict[Key, Value] = {}
        self.scopes: list[list[tuple[Key, Value | None]]] = []  # regions: what was known before

    def add(self, key: Key, value: Value) -> None:
        if self.scopes:
            self.scopes[-1].append((key, self.values.get(key)))
        self.values[key] = value

    def enter(self) -> None:
        self.scopes.append([])

    def leave(self) -> None:
        for key, before in reversed(self.scopes.pop()):
            if before is None:
                del self.values[key]
            else:
                self.values[key] = before
