"""Constant folding: an operation on constants is the constant that its meaning gives.

add 1.0, 2.0  ->  3.0        table[5]  ->  the table's sixth element
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.interpret import compute, look_up, scalar
from pygpu.ssa import Constant, Table, Value

_NEED_MEMORY: Final = frozenset(("load", "width", "height", "constant"))


def fold(
    code: str, operands: tuple[Value, ...], data: Any, tables: Sequence[Table]
) -> Constant | None:
    """The number (or tuple of numbers) of an operation on constants, None where it has none."""
    if code in _NEED_MEMORY:
        return None
    values = [scalar(*value.op.data) for value in operands]  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        if code == "table":
            result = look_up(tables[data.table].values, values[0])
        else:
            result = compute(code, data, values)
    numbers: Any = result.tolist()
    return tuple(numbers) if isinstance(numbers, list) else numbers
