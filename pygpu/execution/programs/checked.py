"""Checked programs: what has gone wrong in a run, raised as Python would raise it.

A checked program has one more result, which numbers the first fault that each pixel met. For the
first such pixel the plain function is called, which raises what Python raises there, in the user's
own lines; where it does not (what fails may lie within the tolerance of a decision), the fault
itself says what.

    f = pygpu.compile(f, check=True)      # or PYGPU_CHECK=1
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import AT_RUN_TIME, HOME
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.storage import NumberLike
from pygpu.execution.arguments import plain
from pygpu.execution.arguments.parameters import Arguments
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Signature
from pygpu.frontend.values.faults import Fault
from pygpu.language.vectors import Position
from pygpu.ssa import Function

with later():
    from pygpu.passes.analysis import footprint

Where = Callable[[tuple[int, ...]], str]  # of a pixel, by its coordinates, in words


@record
class Elements:
    """What the pixels of a pass are called that are elements of an array, one after the other in
    rows of `row`; behind the last one is nothing. `size` is that of the array, without channels."""

    row: int
    size: tuple[int, ...]

    @property
    def count(self) -> int:
        return math.prod(self.size)

    def __call__(self, coordinates: tuple[int, ...]) -> str:
        number = coordinates[1] * self.row + coordinates[0]
        return _position(tuple(map(int, np.unravel_index(number, self.size)[::-1])))


def check_sizes(
    function: Callable[..., Any],
    made: Function,
    shapes: Sequence[tuple[int, ...]],
    size: tuple[int, ...],
) -> None:
    """ValueError where an image is smaller than the result: what lies outside is read by its
    boundary, which may not be meant. (PyGPU's filters mean it; an image that is read far from the
    position, as a table is, has no size that results should have.) `made` is the function as it is
    run. `shapes` are those of the images, (H, W) of an image, as `size` is that of the result."""
    code = getattr(function, "__code__", None)
    if code is not None and code.co_filename.startswith(HOME):
        return
    for place, (image, shape) in enumerate(zip(made.images, shapes, strict=False)):
        if any(map(operator.lt, shape, size)) and not _is_read_far(made, place):
            theirs, ours = (" x ".join(map(str, sides)) for sides in (shape, size))
            raise ValueError(
                f"{image.name}: an image of {theirs} pixels in a checked call whose result has "
                f"{ours}"
            )


def _is_read_far(made: Function, place: int) -> bool:
    """Whether an image is read elsewhere than around the position."""
    return footprint.footprint(made)[place] is None


def raise_first(
    faults: Sequence[Fault],
    numbers: NDArray[Any],
    function: Callable[..., Any],
    signature: Signature,
    arguments: Arguments | None,
    corner: tuple[int, ...] | None = None,
    where: Where | None = None,
) -> None:
    """Raise the fault of the first pixel, in raster order, that has one. `numbers`, of the shape of
    the results, holds for each pixel which one, counted from 1; 0: none. They may be those of a
    chunk alone, with its first pixel at `corner` (x, y; or x; or x, y, z). No `arguments`: nobody
    has them as whole images. `where` says where a pixel is, if that is no position of the
    user's."""
    there = numbers.reshape(-1)
    places = np.flatnonzero(there[: where.count] if isinstance(where, Elements) else there)
    if not places.size:
        return
    place = np.unravel_index(places[0], numbers.shape)
    fault = faults[int(numbers[place]) - 1]
    coordinates = tuple([int(n) for n in place[::-1]])
    among = ""
    if corner is not None:
        coordinates = tuple([n + first for n, first in zip(coordinates, corner, strict=True)])
        among = " in its chunk"
    error = None
    if arguments is not None:
        error = _in_python(function, signature, arguments, Position(*coordinates))
    named = (where or _position)(coordinates)
    more = counted(len(places), "position") + among
    raise told(fault, error, signature.name + (named and f" at the {named}, {more}"))


def told(fault: Fault, error: BaseException | None, where: str) -> BaseException:
    """What is raised of a fault: the `error` that plain Python raised there, if it did, else what
    the fault itself says, with a note."""
    if error is None:
        error = (fault.error or RuntimeError)(fault.message)
        if fault.place is not None:
            error.add_note(f"{AT_RUN_TIME}{fault.place}")
    error.add_note(f"{AT_RUN_TIME}{where}")
    return error


def counted(count: int, what: str) -> str:
    """How many such places there are, of which the first was named."""
    plural = "vertices" if what == "vertex" else f"{what}s"
    return f"the first of {count} such {plural}" if count > 1 else f"the only such {what}"


def nowhere(coordinates: tuple[int, ...]) -> str:
    """Of pixels whose positions users do not know."""
    return ""


def _position(coordinates: tuple[int, ...]) -> str:
    return f"position {_shown(coordinates)}"


def _shown(coordinates: tuple[int, ...]) -> str:
    return str(coordinates[0] if len(coordinates) == 1 else coordinates)


def _in_python(
    function: Callable[..., Any], signature: Signature, arguments: Arguments, position: Any
) -> BaseException | None:
    """What the plain function raises at a position."""
    images = {id(given.original): given for given in arguments.images}

    def held(value: Any) -> Any:
        if isinstance(value, NumberLike):
            return value.item()
        given = images.get(id(value))
        return value if given is None else ImageMaker.make(given.storage, given.sampler)

    values: list[Any] = []
    for parameter, value in zip(signature.parameters, arguments.values, strict=True):
        cls = parameter.vector_class()
        if parameter.role == "position":
            values.append(position)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            values.append(tuple(map(held, value)))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            values.append({name: held(item) for name, item in value.items()})
        else:
            values.append(held(value) if cls is None else plain.in_class(cls, value))
    try:
        plain.call(function, signature, values)
    except Exception as error:
        return error
    return None
