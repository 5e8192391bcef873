"""Sequences whose items are made when they are asked for, each by its index or one after the other.

evens = Indexed(n, lambda index, step: w.binary("*", index, step), "even numbers", (2,))
evens.element(index)            # emits a product
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pygpu.frontend.values.values import Abstract, Conflict, Parts, numbered


class Indexed(Abstract):
    """A sequence too long to be unrolled, or of dynamic length: a length and an element by index.

    `make` takes an index (an int or a Dynamic int) and the values that the sequence is made `of`,
    and emits what makes the element. Whatever may be dynamic is one of these, for it has to follow
    the sequence out of a branch.
    """

    __slots__ = ("grouped", "length", "make", "of", "what")

    def __init__(
        self,
        length: Any,
        make: Callable[..., Any],
        what: str,
        of: tuple[Any, ...] = (),
        grouped: bool = False,
    ) -> None:
        self.length: Final = length
        self.make: Final = make
        self.what: Final = what
        self.of: Final = of
        self.grouped: Final = grouped  # each element is a list of elements, of a nested loop

    def element(self, index: Any) -> Any:
        """The element at an index that lies in the sequence."""
        return self.make(index, *self.of)

    def parts(self) -> Parts:
        return (((".length",), self.length), *numbered(self.of))

    def rebuild(self, parts: tuple[Any, ...]) -> Indexed | None:
        if any(isinstance(part, Conflict) for part in parts):
            return None
        return type(self)(parts[0], self.make, self.what, parts[1:], self.grouped)

    def shape(self) -> Any:
        return id(self.make), len(self.of)

    def describe(self) -> str:
        return self.what


class Row(Indexed):
    """A row of a known array that is taken by a dynamic index: its elements are looked up when
    they are used. In arithmetic, and to NumPy, it is an array."""

    __slots__ = ()


class Lazy(Abstract):
    """What an iterator over other iterators takes from: `step(w, index, *of)` makes the next item,
    or raises StopIteration. Whatever may be dynamic is one of the values that it is made `of`.
    `whole(w)`, where given, is an iterator over all items, to be used before one has been taken."""

    __slots__ = ("of", "step", "whole")

    def __init__(
        self,
        step: Callable[..., Any],
        of: tuple[Any, ...],
        whole: Callable[..., Any] | None = None,
    ) -> None:
        self.step: Final = step
        self.of: Final = of
        self.whole: Final = whole

    def parts(self) -> Parts:
        return numbered(self.of)

    def rebuild(self, parts: tuple[Any, ...]) -> Lazy | None:
        if any(isinstance(part, Conflict) for part in parts):
            return None
        return Lazy(self.step, parts, self.whole)

    def shape(self) -> Any:
        return id(self.step), len(self.of)
