"""What is asked of the rounds of `f.iterate` besides their number: when they end, and arguments
that have another value in each.

    heat.iterate(photo, 1000, until=lambda im: im.max() < 0.5, every=50)
    fft.iterate(signal, 10, each([1 << k for k in range(10)]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from pygpu.core.errors import asked, guarded, shown, whole
from pygpu.core.host.records import record

EVERY: Final = 16  # rounds between two questions whether it is enough: each waits for the device


class Each:
    """Values of an argument of `f.iterate`, one for each round. Made by `each`."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"each({shown(list(self.values))})"


@guarded
def each(values: Iterable[Any]) -> Each:
    """An argument of `f.iterate` that has another value in each round: the first in the first
    round, and so on. There must be as many as rounds."""
    try:
        if not isinstance(values, str):
            return Each(list(values))
    except TypeError:
        pass
    raise TypeError(f"each: takes values, one for each round, got {shown(values)}")


@record
class Ending:
    """When rounds end before their number is reached: after every so many, `until` is asked."""

    until: Callable[..., Any] | None = None
    every: int = EVERY

    @classmethod
    def of(cls, until: Any, every: Any) -> Ending:
        """From what a call gives."""
        if until is not None and not callable(until):
            raise TypeError(f"iterate: until takes a function of the images, got {shown(until)}")
        if every is None:
            return cls(until)
        if until is None:
            raise TypeError("iterate: every= needs until=, what to ask after so many rounds")
        rounds = whole(every)
        if rounds is None:
            raise TypeError(f"iterate: every takes a number of rounds, got {shown(every)}")
        if rounds < 1:
            raise ValueError(f"iterate: every takes 1 round or more, got {every}")
        return cls(until, rounds)

    def unasked(self, done: int, stop: int) -> int:
        """How many rounds follow whose results nobody asks for; 1 where the next one's are."""
        if self.until is None:
            return stop - done
        return max(min(self.every - done % self.every, stop - done) - 1, 1)

    def is_reached(self, done: int, rounds: int, state: Sequence[Any]) -> bool:
        """Whether that is so after `done` of the rounds."""
        if self.until is None or (done % self.every and done < rounds):
            return False
        return truth(asked(self.until, *state))


def truth(answer: Any) -> bool:
    """What `until` has said. TypeError where that is no truth value: nothing, where a `return` was
    forgotten, or what is only empty or not."""
    if answer is None or not hasattr(type(answer), "__bool__"):
        raise no_truth(answer)
    try:
        return bool(answer)
    except ValueError:
        raise no_truth(answer) from None


def no_truth(answer: Any) -> TypeError:
    """What is said of an answer that is no truth value."""
    return TypeError(
        f"iterate: until gives a number or a truth value, got {shown(answer)}; "
        ".all(), .any(), .max() make one of an image"
    )


def check_each(values: Sequence[Any], rounds: int, names: Sequence[str]) -> list[int]:
    """The places of arguments that change each round; ValueError where values are too few."""
    places = [place for place, value in enumerate(values) if isinstance(value, Each)]
    for place in places:
        count = len(values[place].values)
        if count != rounds:
            raise ValueError(
                f"iterate: {names[place]}=each(...) has {count} values for {rounds} rounds"
            )
    return places


def places_of(values: Sequence[Any], images: Sequence[Any]) -> list[int]:
    """Where the iterated images stand among a call's, one that is given twice for each time."""
    places: list[int] = []
    for value in values:
        same = [i for i, image in enumerate(images) if image is value]
        places.append(next(i for i in same if i not in places))
    return places
