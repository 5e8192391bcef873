"""Arrays that show elements of other arrays, as NumPy's slices, rows, transposes and reshapes do.

A view is told from a copy by doing to an array of numbers what is done to the array: where the
result shares memory with the numbers, they are the places of the elements that it shows.

    row = viewed(w, array, lambda a: a[1])      # what is stored into row[0] is seen in array[1, 0]

Where paths have met an array, or another object, may be one of several: what changes it is done to
each of these, under a condition.

    several_of(w, joined)                       # a Choice of them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import as_numpys
from pygpu.frontend.values.objects import EITHER, Array, List, Object
from pygpu.frontend.values.values import Abstract, Choice


class View(List):
    """What a dict's methods give: items in order, which are no list."""

    __slots__ = ()

    def describe(self) -> str:
        return f"the {type(self).__name__.lower()} of a dict"


class Keys(View):
    """dict.keys(): compared and combined as a set."""

    __slots__ = ()


class Items(View):
    """dict.items(): compared and combined as a set."""

    __slots__ = ()


class Values(View):
    """dict.values(): equal to itself alone."""

    __slots__ = ()


AS_SETS: Final = (Keys, Items)
LISTS: Final = (List, Keys, Items, Values)

# Functions of NumPy that may give a view of their first argument.
VIEWING: Final = frozenset(
    [np.expand_dims, np.flip, np.fliplr, np.flipud, np.moveaxis, np.ravel, np.reshape, np.rot90]
    + [np.squeeze, np.swapaxes, np.transpose]
)


def viewed(w: Evaluator, source: Array, choose: Callable[[Any], Any]) -> Any:
    """What `choose` (an index, a method) makes of an array: a view where NumPy makes one."""
    contents = w.read(source)
    chosen = choose(contents)
    if isinstance(chosen, np.ndarray) and contents.ndim == 0 == chosen.ndim:
        return source if np.may_share_memory(chosen, contents) else Array(chosen)
    if not isinstance(chosen, np.ndarray):
        return as_numpys(chosen)
    numbers = np.arange(contents.size).reshape(contents.shape)
    shown = numbers if source.places is None else source.places  # in the order of its memory
    places = choose(shown)
    if not np.may_share_memory(places, shown):
        return Array(chosen)
    return Array(None, source.outside, source.whole, places)


def showing(source: Array, places: Any) -> Array:
    """The view of an array that shows the elements at these places, counted in C order."""
    if source.base is not None and source.places is not None:
        return Array(
            None, source.outside, source.base, np.asarray(source.places.reshape(-1)[places])
        )
    return Array(None, source.outside, source, places)


def is_viewing(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Whether a call may give a view of an array of ours."""
    if not args or type(args[0]) is not Array or not callable(function):
        return False
    if any(isinstance(value, Abstract) for value in (*args[1:], *keywords.values())):
        return False
    try:
        return function in VIEWING
    except TypeError:  # not hashable
        return False


def several_of(w: Evaluator, value: Any) -> Choice | None:
    """The objects that a joined object may be, as a choice; None where they may not be changed. A
    view of one shows the same places of each."""
    if not isinstance(value, Object) or value.outside != EITHER:
        return None
    if value.either is None and type(value) is Array and value.base is not None:
        whole = several_of(w, value.base)
        if whole is None:
            return None
        views = [showing(option, value.places) for option in whole.options]
        return Choice(whole.which, tuple(views), whole.why)
    several = None if value.either is None else w.peek(value.either)
    return several if isinstance(several, Choice) else None


def several_or_one(w: Evaluator, value: Any, other: Any) -> Any:
    """A joined object as a choice if `other` is one of its; other values as they are."""
    several = several_of(w, value)
    if several is None or not any(other is option for option in several.options):
        return value
    return several
