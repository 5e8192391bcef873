"""What goes wrong at run time: paths that end by raising, and what checked programs find.

A variable of the walk's own, `Faults.cell`, follows control flow as any object does. It holds 0, or
the number of the first fault that was met on the way: those of `Faults.sites`, counted from 1. Code
that cannot fail costs nothing: there it is known to be 0.

    raise ValueError(x)      # under a dynamic condition: the cell holds 1 where the condition does

What is raised where a handler waits (`try`, `with`) is a value, a `Raised`, and a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, Final, Literal

from pygpu.core.builder import Builder
from pygpu.core.errors import Place
from pygpu.core.host.records import record
from pygpu.frontend.values.objects import Cell
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Dynamic, NotKnown, Parts
from pygpu.ssa import Region, Value
from pygpu.types import INT

Stage = Literal["", "vertex", "fragment"]  # of a shader; "" is a function of images


@record
class Fault:
    """One place where something goes wrong: the exception that Python would raise there (None: an
    exception that only the run will tell) and its message."""

    error: type[BaseException] | None
    message: str
    place: Place | None
    raised: BaseException | None = field(default=None, compare=False)  # where Python raised it
    always: bool = False  # raised after the run of a program that is not checked, too


def said_by(function: Callable[..., Any], *args: Any) -> str:
    """What Python's exception says where a function fails of arguments: it differs by version."""
    try:
        function(*args)
    except Exception as error:
        return str(error)
    raise AssertionError(f"{function} takes {args}")


class Raised(Abstract):
    """An exception on its way to a handler: that of a fault, and where it was made of what is not
    known, the object that holds that."""

    __slots__ = ("fault", "held")
    CHOICES: ClassVar[int] = 256

    def __init__(self, fault: Fault, held: Any = None) -> None:
        self.fault: Final = fault
        self.held: Final = held

    def parts(self) -> Parts:
        return () if self.held is None else (((), self.held),)

    def rebuild(self, parts: tuple[Any, ...]) -> Raised:
        return Raised(self.fault, *parts)

    def shape(self) -> Any:
        return id(self.fault), self.held is None

    def real(self, parts: tuple[Any, ...]) -> Any:
        if self.fault.raised is None:
            raise NotKnown
        return self.fault.raised

    def describe(self) -> str:
        name = self.fault.error.__name__ if self.fault.error else "exception"
        place = self.fault.place
        return f"the {name} raised" + (f" at line {place.line}" if place else "")


@record
class Raising:
    """An exception that the instruction being walked raises where a dynamic condition holds."""

    where: Value
    error: Any  # a Raised, or a Choice of some
    state: State  # the world when it is raised
    region: Region  # where the condition stands


class PathEnds(Exception):
    """The path that is being walked ends by raising: a call on it never returns. `error` is what it
    raises where a handler waits for it."""

    def __init__(self, error: Any = None) -> None:
        super().__init__()
        self.error = error


@record(frozen=False)
class Faults:
    """The faults of a walk. Where it is `checked`, every one ends in an error after the run; else
    the results of a pixel whose path ends by raising are NaN, 0 or False. In a fragment that is
    drawn, paths may also end where it is dropped: faults of the exception Discarded."""

    checked: bool = False
    stage: Stage = ""
    cell: Cell = field(default_factory=lambda: Cell(0))
    numbers: dict[Fault, int] = field(default_factory=dict)  # from 1, in order
    errors: dict[int, Raised] = field(default_factory=dict)  # by the numbers of their faults

    @property
    def sites(self) -> list[Fault]:
        """The faults, in the order of their numbers."""
        return list(self.numbers)

    def number(self, fault: Fault) -> int:
        """The number of a fault; one that is met again, in another round, has the same."""
        return self.numbers.setdefault(fault, len(self.numbers) + 1)

    def raised(self, fault: Fault, held: Any = None) -> Raised:
        """The exception of a fault."""
        number = self.number(fault)
        if held is not None:
            return Raised(self.sites[number - 1], held)
        return self.errors.setdefault(number, Raised(fault))

    def value(self, build: Builder, state: State) -> Value:
        """What the cell holds, as an int."""
        held = state.get(self.cell)
        return held.value if isinstance(held, Dynamic) else build.constant(INT, held)

    def first(self, build: Builder, state: State, number: int) -> Any:
        """What the cell holds once a fault has been met for sure: the first one stays."""
        held = state.get(self.cell)
        if not isinstance(held, Dynamic):
            return held or number
        return Dynamic(chosen(build, is_set(build, held.value), held.value, number))

    def possible(self, build: Builder, state: State, where: Value, number: int) -> Dynamic:
        """What the cell holds once a fault has been met where a condition holds."""
        before = self.value(build, state)
        new = build.emit("select", where, build.constant(INT, number), build.constant(INT, 0))
        return Dynamic(build.emit("select", is_set(build, before), before, new))


def is_set(build: Builder, fault: Value) -> Value:
    """Whether the number of a fault says that there is one."""
    return build.emit("ne", fault, build.constant(INT, 0))


def chosen(build: Builder, condition: Value, yes: Value, no: int) -> Value:
    """One of two numbers of faults."""
    return build.emit("select", condition, yes, build.constant(INT, no))
