"""What a page lets its reader change: sliders, check boxes, colours, the time.

    guess("sigma", FLOAT, 1.5, None)         # a slider from 0 to 3
    guess("tint", vector("float", 3), (1, 0.5, 0), "colour")

Without a wish, the range goes from 0 to twice the value (to 1 where the value is within), both
ways from 0 for values below it; a parameter called `time` is a clock; one called `mouse`, of two
floats, the place of the pointer; vectors of three floats whose name has to do with colour are one.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from pygpu.core.errors import shown
from pygpu.core.host.records import record
from pygpu.execution.arguments.signatures import MISSING, Signature
from pygpu.ssa import Constant
from pygpu.types import INTEGERS, Type

PLACES: Final = ("window", "notebook", "page")  # where a function is shown at work
SECONDS: Final = 20.0  # seconds that a clock's slider spans
STEPS: Final = 200  # steps of a slider of floats, at least
FINER: Final = 4  # powers of ten that a step may be finer for the sake of what it starts at
GIVEN: Final = ("time", "mouse")  # parameters that need not be given: what is shown gives them
POINTERS: Final = {"mouse": 2, "iMouse": 4}  # controls of the mouse, and their numbers
_COLOUR: Final = re.compile(r"colou?r|tint|shade|ink|paper|background|foreground|sky|fog")
_TAKES: Final = (
    "(least, greatest), (least, greatest, step), 'colour', 'time', 'frame', 'mouse', 'iMouse', or "
    "False for no control"
)


@record
class Control:
    """One control: `kind` is range, check, colour, time, frame (pictures that the clock has made),
    mouse or iMouse. `value` has a number a component."""

    name: str
    kind: str
    value: list[float]
    low: float = 0.0
    high: float = 1.0
    step: float = 0.005
    is_whole: bool = False

    def described(self) -> dict[str, Any]:
        """The control as the page's script is told of it."""
        return asdict(self)

    def number(self, parts: Sequence[float]) -> Any:
        """What a function is given where the control stands at these numbers."""
        kind: type = bool if self.kind == "check" else int if self.is_whole else float
        made = tuple(kind(part) for part in parts)
        return made if len(made) > 1 else made[0]


def pointed(
    control: Control, now: Sequence[float], place: tuple[float, float], height: int, button: str
) -> list[float]:
    """What a control of the mouse stands at with the pointer at a place of the picture, in pixels
    from its top left. `button` is "pressed" when it goes down, "down" while it is, else "up"."""
    x, y = place
    if control.kind == "mouse":
        return [x, y]
    up = height - 1 - y  # Shadertoy's: from the bottom; where the button is and where it went down
    at = [x, up] if button != "up" else [*now[:2]]
    since = [x, up] if button == "pressed" else [abs(now[2]), -abs(now[3])]
    return [*at, since[0] if button != "up" else -since[0], since[1]]


def guess(name: str, type: Type, value: Constant, wish: Any) -> Control | None:
    """The control of a value that programs are given; None where it is to have none. TypeError or
    ValueError for a wish that does not fit."""
    if wish is False:
        return None
    numbers = [float(part) for part in (value if isinstance(value, tuple) else (value,))]
    if type.kind == "bool":
        if wish is not None:
            raise TypeError(f"controls[{name!r}]: a Bool is a check box, got {shown(wish)}")
        return Control(name, "check", numbers)
    whole = type.kind in INTEGERS
    if wish is None and not all(map(math.isfinite, numbers)):
        return None  # no slider goes there
    if wish is None:
        wish = _natural(name, type, numbers)
    if wish in ("colour", "color"):
        if type.kind != "float" or type.size < 3:
            raise TypeError(f"controls[{name!r}]: a colour has three floats or four, not {type}")
        return Control(name, "colour", numbers)
    if wish in POINTERS:
        if type.kind != "float" or type.size != POINTERS[wish]:
            floats = POINTERS[wish]
            raise TypeError(f"controls[{name!r}]: {wish!r} is {floats} floats, not {type}")
        return Control(name, wish, numbers)
    if wish == "time":
        if not type.is_scalar:
            raise TypeError(f"controls[{name!r}]: the time is a number, not {type}")
        return Control(name, "time", numbers, 0.0, SECONDS, 1.0 if whole else 0.01, whole)
    if wish == "frame":
        if not type.is_scalar or not whole:
            raise TypeError(f"controls[{name!r}]: pictures are counted by an int, not by {type}")
        return Control(name, "frame", numbers, is_whole=True)
    low, high, step = _range(name, wish, whole, numbers)
    return Control(name, "range", numbers, low, high, step, whole)


def _natural(name: str, type: Type, numbers: Sequence[float]) -> Any:
    """What a name and a value let expect."""
    if name == "time" and type.is_scalar:
        return "time"
    if name == "mouse" and type.kind == "float" and type.size == POINTERS["mouse"]:
        return "mouse"
    is_unit = all(0 <= number <= 1 for number in numbers)
    if type.kind == "float" and type.size in (3, 4) and is_unit and _COLOUR.search(name.lower()):
        return "colour"
    top = max(map(abs, numbers), default=0.0)
    is_gain = type.is_scalar and top == 1  # a factor of one: it may be more
    high = 2 * top if top > 1 or is_gain else 1.0
    if type.kind in INTEGERS:
        high = min(max(2 * top, 8.0), 2.0**31 - 1)
    return (-high if min(numbers) < 0 else 0.0), high


def _step(low: float, high: float, numbers: Sequence[float]) -> float:
    """A step of 1, 2 or 5 times a power of ten, 200 of them or more in the range, from whose least
    all these numbers are whole steps away: a slider stands at no others. Else a fine step."""
    widest = (high - low) / STEPS
    power = math.floor(math.log10(widest))
    distances = [number - low for number in numbers if math.isfinite(number)]
    for digits in range(power, power - FINER, -1):
        for times in (5, 2, 1):
            step = float(f"{times}e{digits}")
            counts = [distance / step for distance in distances]
            if step <= 1.001 * widest and all(abs(x - round(x)) < 1e-6 for x in counts):
                return step
    return float(f"1e{power - FINER}")


def _range(name: str, wish: Any, whole: bool, now: Sequence[float]) -> tuple[float, float, float]:
    """Least, greatest and step, of a slider that stands at these numbers first."""
    try:
        numbers = [float(part) for part in wish]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (2, 3) or not all(map(math.isfinite, numbers)):
        raise TypeError(f"controls[{name!r}]: takes {_TAKES}; got {shown(wish)}")
    low, high = numbers[:2]
    step = numbers[2] if len(numbers) == 3 else 1.0
    if whole and not all(number.is_integer() for number in (low, high, step)):
        raise TypeError(f"controls[{name!r}]: an int goes by whole numbers, got {shown(wish)}")
    if not low < high or step <= 0:
        raise ValueError(
            f"controls[{name!r}]: least is below greatest and the step above 0; got {shown(wish)}"
        )
    if len(numbers) == 2 and not whole:
        step = _step(low, high, now)
    return low, high, step


def unasked(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call, with zeros for the clock and the pointer where nothing is given."""
    by_place = {signature.parameters[i].name for i in signature.positional[: len(args)]}
    more = {}
    for p in signature.parameters:
        is_missing = p.default is MISSING and p.name not in {*by_place, *kwargs}
        if is_missing and p.name in GIVEN and p.role == "uniform":
            more[p.name] = (0.0,) * p.type.size if p.type.size > 1 else 0.0
    return {**kwargs, **more}


def unasked_of_plain(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The same for Python over whole images, where the pointer is a tuple."""
    given = signature.bind_partial(*args, **kwargs).arguments
    missing = [n for n in GIVEN if n in signature.parameters and n not in given]
    without = [n for n in missing if signature.parameters[n].default is MISSING]
    return {**kwargs, **{n: 0.0 if n == "time" else (0.0, 0.0) for n in without}}


def check_names(wishes: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """The wishes, or a TypeError for one that names no number which the function is given."""
    if not isinstance(wishes, (Mapping, type(None))):
        raise TypeError(f"controls: takes a dict of what each number has, got {shown(wishes)}")
    found = {
        name: tuple(wish) if isinstance(wish, list) else wish
        for name, wish in (wishes or {}).items()
    }
    for name in found:
        if name not in names:
            there = ", ".join(names) or "none"
            raise TypeError(
                f"controls: no number is called {name!r}; the function is given {there} (what is "
                "known when it is compiled cannot be changed on the page: annotate it with Float)"
            )
    return found
