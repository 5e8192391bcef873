"""The rules by which places outside an image are read, each stated once.

`index` says which texel along an axis of `size` texels a place reads. It takes the arithmetic of
the numbers that it computes with: Python's integers and NumPy's arrays have theirs here, values of
SSA in pygpu/passes/lower/boundary.py, native code in pygpu/codegen/llvm/boundary.py.

    index("mirror", INTEGERS, -1, 4) == 1          # d c b | a b c d | c b a

The rule "constant" has no texel outside: what `index` gives there is the nearest one, and the
constant replaces it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record

Number = TypeVar("Number")
Place = TypeVar("Place", contravariant=True)


class Arithmetic(Protocol[Place, Number]):
    """How numbers of a kind are computed with. A place may be something else than a number: a sum
    that must not overflow. Second operands may be Python's integers."""

    def clamped(self, place: Place, size: Number) -> Number:
        """The nearest of 0 to size - 1."""

    def modulo(self, place: Place, period: Number) -> Number:
        """The remainder, which is not negative, by a number above zero."""

    def add(self, a: Number, b: Number) -> Number: ...

    def sub(self, a: Number, b: Number | int) -> Number: ...

    def min(self, a: Number, b: Number) -> Number: ...

    def max(self, a: Number, b: Number | int) -> Number: ...


_Meaning = Callable[[Arithmetic[Any, Any], Any, Any], Any]


def _nearest(numbers: Arithmetic[Any, Any], place: Any, size: Any) -> Any:
    """a a a | a b c d | d d d"""
    return numbers.clamped(place, size)


def _wrap(numbers: Arithmetic[Any, Any], place: Any, size: Any) -> Any:
    """b c d | a b c d | a b c"""
    return numbers.modulo(place, size)


def _reflect(numbers: Arithmetic[Any, Any], place: Any, size: Any) -> Any:
    """c b a | a b c d | d c b: what repeats is the image and its mirror image."""
    period = numbers.add(size, size)
    there = numbers.modulo(place, period)
    back = numbers.sub(numbers.sub(period, 1), there)
    return numbers.min(there, back)


def _mirror(numbers: Arithmetic[Any, Any], place: Any, size: Any) -> Any:
    """d c b | a b c d | c b a: the ends are not repeated. One texel is everywhere itself."""
    period = numbers.max(numbers.sub(numbers.add(size, size), 2), 1)
    there = numbers.modulo(place, period)
    return numbers.min(there, numbers.sub(period, there))


RULES: Final[dict[str, _Meaning]] = {
    "nearest": _nearest,
    "reflect": _reflect,
    "mirror": _mirror,
    "wrap": _wrap,
    "constant": _nearest,
}


def index(boundary: str, numbers: Arithmetic[Place, Number], place: Place, size: Number) -> Number:
    """The texel that a place reads."""
    found: Number = RULES[boundary](numbers, place, size)
    return found


MIRRORING: Final = frozenset(("reflect", "mirror"))  # rules by which what is above lies below


def rows_read(boundary: str, up: int, down: int) -> tuple[int, int] | None:
    """How many rows above and below some are read for places so far up and down of them; None where
    these are at the other end of the image."""
    if boundary == "wrap" and (up or down):
        return None
    return (max(up, down),) * 2 if boundary in MIRRORING else (up, down)


def period(boundary: str, size: int) -> int:
    """After how many places outside, on one side, a rule gives the same texels again."""
    periods = {"reflect": 2 * size, "mirror": max(2 * size - 2, 1), "wrap": size}
    return periods.get(boundary, 1)


# ---------------------------------------------------------------- numbers of Python and of NumPy


@record
class _Numbers:
    """Arithmetic by Python's operators, and these functions for the lesser and the greater."""

    min: Callable[[Any, Any], Any]
    max: Callable[[Any, Any], Any]

    def clamped(self, place: Any, size: Any) -> Any:
        return self.min(self.max(place, 0), size - 1)

    def modulo(self, place: Any, period: Any) -> Any:
        return place % period

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def sub(self, a: Any, b: Any) -> Any:
        return a - b


INTEGERS: Final[Arithmetic[int, int]] = _Numbers(min, max)
ARRAYS: Final[Arithmetic[NDArray[Any], Any]] = _Numbers(np.minimum, np.maximum)
