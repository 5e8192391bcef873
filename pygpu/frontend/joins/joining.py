"""What is asked of the join of two states, while two values of theirs become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from pygpu.core.host.records import record
from pygpu.frontend.values.objects import Cell, Object, Waiting
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Key, Parts, Unset
from pygpu.ssa import Value
from pygpu.types import Type

# Makes of two different leaves (numbers, Dynamics, or contents of a vector) one of the type.
Leaf = Callable[[Any, Any, Type, Key], Value]


@record
class Round:
    """Where a loop comes round, and the right is the end of its body."""

    before: Callable[[Any], Any]  # what a number of the left was before the loop
    rounds: int | None  # how many there are at most, where that is known
    sure: bool  # whether there are so many, if the body runs
    entry: int  # parts the objects that there were before the loop from later ones


@record
class Meeting:
    """Where two paths meet."""

    place: Callable[[], str]  # where they part and meet, in words
    loop: Round | None
    outer: Callable[[], Iterable[Any]]  # what the frames around this one hold
    explain: Callable[[str], str]  # what to say of a name that is defined on one side only
    int_classes: Callable[[Any], frozenset[type]]  # of a dynamic int: Python's, Int, or either

    def unset(self, name: str, key: Any) -> Unset:
        """What a name is that is defined on one side only."""
        return Unset(self.explain(name), name if self.loop and is_variable(key) else "")


def is_variable(key: Any) -> bool:
    """Whether what is joined is a variable of the program, not what the walk keeps beside these."""
    return isinstance(key, (Cell, Waiting)) or (isinstance(key, str) and key.isidentifier())


@record
class Renumbered:
    """What says which option a choice is, in the numbers of another choice: `numbers` has that of
    each option. A leaf of a join, as numbers and SSA values are."""

    which: Value
    numbers: tuple[int, ...]


class Joining(Protocol):
    """What is asked of the join of two states."""

    left: State
    right: State
    leaf: Leaf
    older: int  # the youngest object that was there before the paths parted
    meeting: Meeting
    grows: bool  # whether a list has come that holds a Growing
    spoiled: bool  # whether a Conflict has come where the left had none
    pairs: dict[tuple[Object, Object], Object]  # what two objects have become
    lone: dict[tuple[bool, Object], Object]  # of what one side made; right or not
    aliases: list[tuple[Object, Object]]  # (older object, joined one it may be)
    taken: dict[Object, Object]  # what the objects go on as that a loop has carried so far

    @property
    def entry(self) -> int:
        """Parts the objects that there were before the paths parted, or the loop began."""

    def value(self, a: Any, b: Any, key: Key) -> Any:
        """Two values as one."""

    def set_on_one_side(self, cell: Cell, a: Any, b: Any) -> Any:
        """What a variable holds that one path has set, which closures share."""

    def alone(self, handle: Object, right: bool, key: Key, again: bool = False) -> Any:
        """An object that one side alone leads to, for an option of a choice: itself where it was
        there before the paths parted. Of an object that was made on that side one is made whose
        numbers may be any on the other side; ABSENT where it holds things that no number stands
        for. Where a loop comes round, one is made `again` in place of an older one, too."""

    def objects(self, a: Object, b: Object, key: Key) -> Any:
        """Two objects as one."""

    def sees(self, one: Object) -> bool:
        """Whether an object is in sight where the paths have met."""

    def lifted(self, known: Any) -> Any:
        """A known value as a virtual one, the same one for the same."""

    def joined(self, a: Parts, b: Parts, key: Key) -> tuple[Any, ...]:
        """Parts of the same names, each with the other."""
