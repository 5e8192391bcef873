"""What is decided of each instruction once for a code object, before it is walked.

planned(code)[at]       # (what executes it, its argument, how many values it looks into, ...)
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from pygpu.bytecode import Code
from pygpu.frontend.flow import choices
from pygpu.frontend.walk.displays import Step
from pygpu.frontend.walk.steps import STEPS


class Plan(NamedTuple):
    """One instruction: see `choices.looked` for what it looks into and may change."""

    step: Step
    arg: Any
    looked: int
    changes: bool


Plans = tuple[Plan | None, ...]
TERMINATORS: Final = frozenset({"BRANCH", "FOR", "JUMP", "RAISE", "RERAISE", "RETURN", "YIELD"})


_PLANS: Final[WeakKeyDictionary[Code, Plans]] = WeakKeyDictionary()


def planned(code: Code) -> Plans:
    """The plans of a code's instructions; None of those that end a block, which the walker does."""
    plans = _PLANS.get(code)
    if plans is None:
        plans = _PLANS[code] = tuple(
            [
                None if op in TERMINATORS else Plan(STEPS[op], arg, *choices.looked(op, arg))
                for op, arg, _ in code.instructions
            ]
        )
    return plans
