"""What is known of ints that are not: whether they can be negative, and between which they lie.

is_natural(w, n)                    # of abs(n), n % 7, n & 255, p.x
range_of(w, (n % 7 + 1).value)      # (1, 7)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygpu.core.host.later import later
from pygpu.core.operations.intervals import Range
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.values import Dynamic, Natural
from pygpu.ssa import Value

with later():
    from pygpu.core import bounds


def is_natural(w: Evaluator, value: Any) -> bool:
    """Whether an int is known never to be negative; abs(-2**31), which is itself, aside."""
    if isinstance(value, Natural) or scalar_kind(value) in ("bool", "uint"):
        return True
    if not isinstance(value, Dynamic):
        return bool(value >= 0)
    return range_of(w, value.value)[0] >= 0


def is_above(w: Evaluator, value: Any, least: Any) -> bool:
    """Whether what may be an int is one that is known to be greater than a known one."""
    if type(least) is not int or scalar_kind(value) != "int":
        return False
    return bool((range_of(w, value.value)[0] if isinstance(value, Dynamic) else value) > least)


def range_of(
    w: Evaluator, value: Value, known: Callable[[Value], Range | None] | None = None
) -> tuple[int, int]:
    """The least and the greatest that an int can be, by what made it, and what is known besides."""

    def given(value: Value) -> Range | None:
        if known is not None and (found := known(value)) is not None:
            return found
        if value in (w.build.x, w.build.y) or value in w.environment.places:
            return bounds.PLACE
        if value.op is None or value.op.code != "table":
            return None
        values = w.build.tables[value.op.data.table].values
        return (int(values.min()), int(values.max())) if values.dtype.kind in "iu" else None

    found = bounds.between(value, given)
    assert found is not None, value
    return int(found[0]), int(found[1])
