"""Functions of users that make values of texels: what their parameters are given, and how.

Parameters that the call names are its arguments; of the others the first are texels, one of each
image, and one more is the position.

    bound("map", lambda v, w, p, gain: ..., images=2, arguments={"gain"})
    # (True, ("gain",), ()): the position too, and gain; nothing stands before a texel's place
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from pygpu.core.host.records import record
from pygpu.language.kernels import natural
from pygpu.language.vectors import Position

CHUNK: Final = "where the chunk begins"  # among what is given, of a part of a larger image
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def bound(
    what: str, function: Callable[..., Any], images: int, arguments: Collection[str]
) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Whether the function is given the position after the texels, which arguments by name, and,
    where some of these come before a texel or the position, what its first parameters are given:
    the name of an argument, or "" for the next texel. TypeError where it takes fewer texels than
    there are images, or something else besides."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function of NumPy's or of C: texels alone
        return False, (), ()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        named = tuple(arguments)
    else:
        named = tuple([p.name for p in parameters if p.name in arguments])
    rest = [p for p in parameters if p.name not in arguments]
    if any(p.kind is p.VAR_POSITIONAL for p in rest):
        return False, named, ()
    places = [p for p in rest if p.kind in _PLACED]
    needed = [p for p in places if p.default is p.empty]
    lacking = [p for p in rest if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if lacking:
        raise TypeError(f"{what} needs an argument {lacking[0].name!r}")
    if len(needed) == images + 1:
        return True, *_in_order(parameters, named, images + 1)
    if len(needed) > images or len(places) < images:
        texels = f"{images} texel{'s' * (images > 1)}"
        names = ", ".join([p.name for p in needed]) or "nothing"
        raise TypeError(
            f"{what} takes {texels}, and the position where it has one parameter more; besides "
            f"what is given by name this one takes {names}"
        )
    return False, *_in_order(parameters, named, images)


def _in_order(
    parameters: Sequence[inspect.Parameter], named: tuple[str, ...], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments given by name, and those given in their place between `count` texels."""
    order: list[str] = []
    for parameter in [p for p in parameters if p.kind in _PLACED]:
        if order.count("") == count:
            break
        order.append(parameter.name if parameter.name in named else "")
    if not any(order):
        return named, ()
    return tuple([name for name in named if name not in order]), tuple(order)


def check_arguments(what: str, arguments: Iterable[str], taken: Collection[str]) -> None:
    """TypeError for an argument that nothing takes."""
    for name in arguments:
        if name not in taken:
            raise TypeError(f"{what} got an argument {name!r} that neither map nor by takes")


# ---------------------------------------------------------------- values


@record
class Reading:
    """How values are made of texels: whether the map takes the position too, and which arguments,
    by name, or in `order` with the texels (see `bound`). Positions have so many `axes`; `row` is
    the elements in a row of an array (N,) that is folded, else 0, or the rows in a plane of a
    volume. `placed`: a value is a tuple of it and its column and row."""

    with_position: bool = False
    names: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    axes: int = 2
    row: int = 0
    placed: bool = False

    @property
    def known(self) -> tuple[Any, ...]:
        return self.with_position, self.names, self.order, self.axes, self.row, self.placed

    def of(self, with_position: bool, names: tuple[str, ...], order: tuple[str, ...]) -> Reading:
        """These texels, read by a map with or without a position, and arguments: see `bound`."""
        return replace(self, with_position=with_position, names=names, order=order)

    @property
    def given(self) -> tuple[str, ...]:
        """The arguments that the map takes."""
        return *self.names, *filter(None, self.order)


def value_at(first: Any, images: Any, is_tuple: Any, p: Any, corner: Any, given: Any) -> Any:
    """The value at a position: a texel of each image, or where there is `first`, (map, reading),
    what the map makes of them. For compiled functions."""
    if first is None:
        return tuple([image(p) for image in images]) if is_tuple else images[0](p)
    map, (with_position, names, order, axes, row, placed) = first
    x, y = p.x + corner[0], p.y + corner[1]
    if CHUNK in given:
        x, y = x + given[CHUNK].x, y + given[CHUNK].y
    texels = [image(p) for image in images]
    value = texels[0]
    if map is not None:
        values = [*texels, _position(axes, row, x, y)] if with_position else texels
        for place, name in enumerate(order):
            if name:
                values = [*values[:place], given[name], *values[place:]]
        value = _real(map(*values, **{name: given[name] for name in names}))
    return (value, x, y) if placed else value


def _position(axes: Any, row: Any, x: Any, y: Any) -> Any:
    """The position of a texel, by its column and row where it lies."""
    if axes == 1:
        return Position(natural(y * row + x))
    if axes == 2:
        return Position(natural(x), natural(y))
    return Position(natural(x), natural(y % row), natural(y // row))


def _real(value: Any) -> Any:
    """What a map has given. Between passes values are pixels, where a complex number is a pair,
    whose product is another one than that of complex numbers: so these are refused."""
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        if isinstance(part, complex):
            raise TypeError(
                "reduce: complex numbers are folded as pairs: let map= give "
                "Vec2(z.real, z.imag), and function take complex(*a)"
            )
    return value


def first_of(map: Any, reading: Reading | None) -> Any:
    """What value_at is told of values that are not the texels themselves."""
    if reading is None:
        return None if map is None else (map, Reading(takes_two(map)).known)
    return None if map is None and reading == Reading() else (map, reading.known)


def takes_two(function: Callable[..., Any] | None) -> bool:
    """Whether it must be given two arguments."""
    if function is None:
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    required = [
        p
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) == 2
