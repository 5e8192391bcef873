"""How a function of the corpus says what it is called with, and what these functions use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

SCALE = 3


def on(*calls: tuple[Any, ...]) -> Callable[[F], F]:
    """Note the argument tuples to call the function with."""

    def note(function: F) -> F:
        function.calls = calls  # type: ignore[attr-defined]
        return function

    return note


@dataclass
class V2:
    """A pair of floats with a bit of everything a class can have."""

    x: float
    y: float = 0.0

    def dot(self, other: "V2") -> float:
        return self.x * other.x + self.y * other.y

    def scale(self, k: float = 2.0) -> "V2":
        return V2(self.x * k, self.y * k)

    @property
    def n2(self) -> float:
        return self.dot(self)

    def __add__(self, other: "V2") -> "V2":
        return V2(self.x + other.x, self.y + other.y)


def helper(a: Any, b: Any = 2, *rest: Any, c: Any = 10, **more: Any) -> Any:
    return a + b * 10 + sum(rest) * 100 + c * 1000 + sum(more.values())
