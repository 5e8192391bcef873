"""What calls of `reduce` have decided, for calls that are given the same kinds: arrays/recall.py.

call = Call.of(images, {"gain": 2.0}, None, "auto", (Code(function), ...))
call.plan.run(call.images, numbers({"gain": 2.0}))       # where an earlier call has left a plan
by_passes(call.key, folding, state, False)               # else writes one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.programs import BOTH
from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.uniforms import convert
from pygpu.execution.arrays.grouping import Grouping
from pygpu.execution.arrays.lines import as_images
from pygpu.execution.arrays.recall import Plan, Plans
from pygpu.execution.arrays.whole import Fold, parts_of
from pygpu.execution.folds.by_group import By, Elements, Folding
from pygpu.execution.folds.by_group import at_once as device_groups
from pygpu.execution.folds.exact import Words
from pygpu.execution.folds.folding import State, program, unpacked
from pygpu.execution.programs.options import is_checked_here
from pygpu.execution.programs.specialise import Translated
from pygpu.language.vectors import Position
from pygpu.ssa import Constant
from pygpu.types import BOOL, FLOAT, INT, Type

_PLANS: Final = Plans(everywhere=True)
_PLAIN: Final[dict[Any, Type]] = {float: FLOAT, int: INT, bool: BOOL}


@record(eq=False)
class Call:
    """A call's images, the key of calls like it (None: they have no plans), and their plan."""

    images: tuple[Any, ...]
    key: Any
    plan: Plan | None

    @classmethod
    def of(
        cls,
        images: tuple[Any, ...],
        arguments: Mapping[str, Any],
        initial: Any,
        target: str,
        how: tuple[Any, ...],
    ) -> Call:
        """The call with these arguments, and an identity or None. Where all are arrays of the host
        or images, they are images from here on."""
        plain = tuple([(name, type(value)) for name, value in arguments.items()])
        is_plain = initial is None or type(initial) in _PLAIN
        is_plain = is_plain and all(kind in _PLAIN for _, kind in plain)
        seen = _seen(images, target) if is_plain else None
        if seen is None:
            return cls(images, None, None)
        key = _PLANS.key(target, seen, *how, plain, known_key(initial))
        return cls(seen, key, _PLANS.find(key))


def _seen(images: tuple[Any, ...], target: str) -> tuple[Any, ...] | None:
    """The images, host arrays as such; None of others, and of arrays if folds stay on a device."""
    if not images:
        return None
    if all(isinstance(image, ImageLike) for image in images):
        return images
    return None if targets.choose(target).keeps else as_images(images, names(images))


def names(images: Sequence[Any]) -> list[str]:
    """What errors call images."""
    return [f"image {i}" if len(images) > 1 else "image" for i in range(len(images))]


def numbers(arguments: Mapping[str, Any]) -> tuple[Constant, ...]:
    """Arguments as programs take them."""
    given = arguments.items()
    return tuple([convert(_PLAIN[type(value)], value, f"given.{name}") for name, value in given])


def keep(key: Any, run: Callable[..., Any], sources: tuple[Translated, ...] = ()) -> None:
    """Write down what gives the results for images and numbers: not of programs that may raise,
    whose faults are to be read."""
    if any(source.translation.faults for source in sources):
        return
    _PLANS.keep(key, Plan(run, sources))


def at_once(key: Any, folding: Folding, words: Words | None) -> None:
    """Write down what folds all texels at once, where something does."""
    images = [each.image for each in folding.images]
    is_one = not is_checked_here() and np.prod(images[0].storage.shape) > 1
    if not (is_one and all(each.is_itself for each in folding.images)):
        return
    fold = program(Code(folding.function), Code(folding.map), folding.target, folding.reading)
    ready = fold.ready(State(tuple(images)), BOTH)
    if ready is None:
        return
    place = _place(folding)

    def run(images: Sequence[Any], numbers: Sequence[Constant]) -> Any:
        found = ready.run([image.storage for image in images], whole=True, numbers=numbers)
        return _result(found.parts, found.is_tuple, words, place)

    keep(key, run, ready.sources)


def of_places(key: Any, folding: Folding, find: Callable[[Sequence[Any]], list[Any]]) -> None:
    """Write down what finds the value, column and row of an extreme."""
    place = folding.images[0].place
    keep(key, lambda images, _: Position(*place(*find(images)[1:])))


def by_passes(key: Any, folding: Folding, state: State, words: Words | None) -> None:
    """Write down the passes that were run for this call."""
    if not all(each.is_itself for each in folding.images):
        return
    place = _place(folding)
    passes, packing, is_tuple = state.passes, state.packing, state.is_tuple

    def run(images: Sequence[Any], numbers: Sequence[Constant]) -> Any:
        storages = passes[0].run([image.storage for image in images], numbers)
        for each in passes[1:]:
            storages = each.run(storages)
        found = [storage.host() for storage in storages]
        parts = found if packing is None else unpacked(found, packing)
        return _result(parts, is_tuple, words, place)

    keep(key, run, tuple([each.made.translated for each in passes]))


def _place(folding: Folding) -> Callable[[Any, Any], list[Any]] | None:
    """What makes coordinates of a column and a row, where positions are wanted."""
    return folding.images[0].place if folding.reading.placed else None


def _result(
    parts: Sequence[NDArray[Any]],
    is_tuple: bool,
    words: Words | None,
    place: Callable[[Any, Any], list[Any]] | None,
) -> Any:
    """What a call gives, of arrays of one pixel for the parts of a value."""
    results = [part.item() if part.size == 1 else np.array(part[0, 0]) for part in parts]
    if words is not None:
        results, is_tuple = words.totals(results), words.is_tuple
    if place is not None:
        return Position(*place(*results[1:]))
    return tuple(results) if is_tuple else results[0]


def by_group(key: Any, folding: Folding, by: By, fold: Fold) -> None:
    """Write down what folds by group."""
    types, is_tuple = fold.types, fold.is_tuple
    is_there = all(each.is_itself and each.count != 0 for each in folding.images)
    if not is_there:
        return
    whole = device_groups(folding, by, fold)
    if whole is not None:

        def run(images: Sequence[Any], numbers: Sequence[Constant]) -> Any:
            found = whole.run([image.storage for image in images], numbers)
            parts = parts_of(found, types, by.groups)
            return tuple(parts) if is_tuple else parts[0]

        keep(key, run, whole.sources)
        return
    elements = Elements.of(folding, by, types)
    made = elements.ran.made
    if targets.limits(made.device) is not None:
        return
    grouping = Grouping(fold, by.groups, folding.target)

    def again(images: Sequence[Any], numbers: Sequence[Constant]) -> Any:
        there = elements.again([image.storage for image in images], numbers)
        parts = grouping.of(there.values, there.index, there.wide.lines)
        return tuple(parts) if is_tuple else parts[0]

    keep(key, again, (made.translated,))
