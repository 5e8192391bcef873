"""What a page lets its reader change: sliders, check boxes, colours, the time.

    guess("sigma", FLOAT, 1.5, None)         # a slider from 0 to 3
    guess("tint", vector("float", 3), (1, 0.5, 0), "colour")

Without a wish, the range goes from 0 to twice the value (to 1 where the value is within), both
ways from 0 for values below it; a parameter called `time` is a clock; vectors of three floats whose
name has to do with colour are one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pygpu.core.errors import shown
from pygpu.ssa import Constant
from pygpu.types import INTEGERS, Type

SECONDS: Final = 20.0  # that a clock's slider spans
STEPS: Final = 200  # of a slider of floats
_COLOUR: Final = re.compile(r"colou?r|tint|shade|ink|paper|background|foreground|sky|fog")
_TAKES: Final = (
    "(least, greatest), (least, greatest, step), 'colour', 'time', or False for no control"
)


@dataclass(frozen=True, slots=True)
class Control:
    """One control: `kind` is range, check, colour or time. `value` has a number a component."""

    name: str
    kind: str
    value: list[float]
    low: float = 0.0
    high: float = 1.0
    step: float = 0.005
    is_whole: bool = False

    def described(self) -> dict[str, Any]:
        """As the page has it."""
        return asdict(self)


def guess(name: str, type: Type, value: Constant, wish: Any) -> Control | None:
    """The control of a value that programs are given; None where it is to have none. TypeError or
    ValueError for a wish that does not fit."""
    if wish is False:
        return None
    numbers = [float(part) for part in (value if isinstance(value, tuple) else (value,))]
    if type.kind == "bool":
        return Control(name, "check", numbers)
    whole = type.kind in INTEGERS
    if wish is None:
        wish = _natural(name, type, numbers)
    if wish in ("colour", "color"):
        if type.kind != "float" or type.size < 3:
            raise TypeError(f"controls[{name!r}]: a colour has three floats or four, not {type}")
        return Control(name, "colour", numbers)
    if wish == "time":
        if not type.is_scalar:
            raise TypeError(f"controls[{name!r}]: the time is a number, not {type}")
        return Control(name, "time", numbers, 0.0, SECONDS, 1.0 if whole else 0.01, whole)
    low, high, step = _range(name, wish, whole)
    return Control(name, "range", numbers, low, high, step, whole)


def _natural(name: str, type: Type, numbers: Sequence[float]) -> Any:
    """What a name and a value let expect."""
    if name == "time":
        return "time"
    is_unit = all(0 <= number <= 1 for number in numbers)
    if type.kind == "float" and type.size in (3, 4) and is_unit and _COLOUR.search(name.lower()):
        return "colour"
    finite = [abs(number) for number in numbers if math.isfinite(number)]
    top = max(finite, default=0.0)
    high = 2 * top if top > 1 else 1.0
    if type.kind in INTEGERS:
        high = max(2 * top, 8.0)
    return (-high if min(numbers) < 0 else 0.0), high


def _range(name: str, wish: Any, whole: bool) -> tuple[float, float, float]:
    """Least, greatest and step."""
    try:
        numbers = [float(part) for part in wish]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (2, 3) or not all(map(math.isfinite, numbers)):
        raise TypeError(f"controls[{name!r}]: takes {_TAKES}; got {shown(wish)}")
    low, high = numbers[:2]
    step = numbers[2] if len(numbers) == 3 else 1.0 if whole else (high - low) / STEPS
    if not low < high or step <= 0:
        raise ValueError(
            f"controls[{name!r}]: least is below greatest and the step above 0; got {shown(wish)}"
        )
    return low, high, step


def check_names(wishes: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """The wishes, or a TypeError for one that names no number which the function is given."""
    found = {} if wishes is None else dict(wishes)
    for name in found:
        if name not in names:
            there = ", ".join(names) or "none"
            raise TypeError(
                f"controls: no number is called {name!r}; the function is given {there} (what is "
                "known when it is compiled cannot be changed on the page: annotate it with Float)"
            )
    return found


__all__ = ["Control", "check_names", "guess"]
