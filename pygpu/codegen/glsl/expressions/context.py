"""What the rows of operations may ask of the printer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pygpu.codegen.glsl.expressions.text import Text
from pygpu.ssa import Op, Value


class Context(Protocol):
    """What rows may ask of the printer."""

    def helper(self, name: str, size: int, *operands: Text) -> Text:
        """A call of a helper, on components where size is more than 1."""

    def text(self, value: Value) -> Text:
        """What stands for a value where it is used."""

    def inlined(self, value: Value) -> Op | None:
        """The operation of a value that is printed where it is used; None where it has a name."""

    def negated(self, condition: Value) -> Text:
        """The opposite of a bool. Only comparisons that know no NaN are turned around."""

    def to_int(self, size: int, operand: Text) -> Text:
        """Floats made ints: the nearest where there is none, 0 for NaN."""

    def may_be_nan(self, value: Value) -> bool: ...

    def is_place(self, value: Value) -> bool:
        """Whether it is the x or y of the pixel."""

    def is_plain(self, value: Value) -> bool:
        """Whether no comparison with a NaN can be in a bool."""

    @property
    def precise(self) -> bool:
        """Whether variables are declared so: drivers regroup what is not."""

    @property
    def fused(self) -> bool:
        """Whether the driver computes a product and a sum at once, rounded once."""

    @property
    def loose(self) -> bool:
        """Whether the driver's optimiser supposes that what is compared is not NaN."""


Row = Callable[[Context, Op, Sequence[Text]], Text]
