"""What a fragment knows of the pixels around it, and that it may be dropped.

A derivative is a difference to a neighbouring pixel. In plain Python, where pixels are computed one
after the other, the neighbour is computed as far as to the same call:

    with around(Surroundings(at_neighbour)):        # at_neighbour(0): the pixel beside, for ddx
        fragment(...)                               # may call ddx
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NoReturn

from pygpu.core.errors import guarded
from pygpu.core.host.records import record

# What computes a neighbour along an axis (0: x, 1: y): a call of the same function for that pixel,
# its own surroundings, and whether the neighbour comes after this pixel or before it.
Neighbour = Callable[[int], tuple[Callable[[], Any], "Surroundings", bool]]


class Discarded(Exception):
    """A fragment has called `discard()`."""

    __pygpu_refused__ = True


@guarded
def discard() -> NoReturn:
    """Drop the fragment that is being computed: nothing of it is drawn. Nothing after it is done.
    In `Shader.fragment` alone."""
    raise Discarded("discard() drops a fragment: pygpu.draw leaves that pixel as it was")


@guarded
def ddx(x: Any) -> Any:
    """The difference of a number or vector to the pixel on the right.

    In `Shader.fragment` that between the columns of the block of 2 x 2 pixels, as OpenGL has it; in
    a function of images x at p + (1, 0) less x at p. Not in a loop, nor after a condition that
    does not hold for the neighbour.
    """
    return _difference(x, 0)


@guarded
def ddy(x: Any) -> Any:
    """The difference to the pixel below, downwards as positions are. Otherwise as `ddx`."""
    return _difference(x, 1)


@guarded
def fwidth(x: Any) -> Any:
    """abs(ddx(x)) + abs(ddy(x)): how much a value changes from pixel to pixel."""
    return abs(ddx(x)) + abs(ddy(x))


# ---------------------------------------------------------------- in plain Python


@record(frozen=False)
class Surroundings:
    """The neighbours of the pixel that is being computed. `wanted` is the derivative whose operand
    is asked for, where this pixel is itself computed as a neighbour."""

    neighbour: Neighbour
    wanted: int = -1
    count: int = 0  # derivatives met so far


class _Found(BaseException):
    """The operand that was asked for: nothing more is to be computed."""

    def __init__(self, value: Any) -> None:
        self.value = value


_SURROUNDINGS: Final[ContextVar[Surroundings | None]] = ContextVar("pygpu_around", default=None)


@contextmanager
def around(surroundings: Surroundings) -> Iterator[None]:
    """Where derivatives are computed with these neighbours."""
    token = _SURROUNDINGS.set(surroundings)
    try:
        yield
    finally:
        _SURROUNDINGS.reset(token)


def _difference(here: Any, axis: int) -> Any:
    surroundings = _SURROUNDINGS.get()
    if surroundings is None:
        error = RuntimeError(
            f"{'ddx' if axis == 0 else 'ddy'}() needs the neighbours of a pixel: call the compiled "
            "function with a Position, or draw with pygpu.draw"
        )
        error.__pygpu_refused__ = True  # type: ignore[attr-defined]
        raise error
    number = surroundings.count
    surroundings.count += 1
    if number == surroundings.wanted:
        raise _Found(here)
    compute, there, is_after = surroundings.neighbour(axis)
    there.wanted = number
    try:
        with around(there):
            compute()
    except _Found as found:
        return found.value - here if is_after else here - found.value
    except Discarded:
        pass
    return (here - here) * float("nan")  # the neighbour went another way
