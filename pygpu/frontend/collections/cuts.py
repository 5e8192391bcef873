"""Changes of slices whose length only the device knows: `xs = xs[k:]`, then `xs.pop()`.

Such a slice is its items with a test for each, which folds and loops take as they are. A variable
that its function changes is a list from the start; another slice that has a name is no list that
could be changed under it, which is an error rather than a change that gets lost.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from pygpu.bytecode import Code
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.lazy import Bounded, Cut
from pygpu.frontend.values.states import parts_held, reachable
from pygpu.frontend.values.values import Tuple

CHANGES: Final = frozenset(
    {"append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear"}
    | {"__setitem__", "__delitem__", "__iadd__", "__imul__"}
)


@lru_cache(maxsize=1024)
def changed_in(code: Code) -> frozenset[str]:
    """The variables of which a function calls a method that changes lists, or stores or deletes an
    item at a constant or a variable."""
    of_methods = {
        one.arg
        for one, then in pairwise(code.instructions)
        if one.op == "LOAD" and then.op == "ATTR" and then.arg in CHANGES
    }
    of_items = {
        one.arg
        for one, index, then in zip(*(code.instructions[n:] for n in range(3)), strict=False)
        if one.op == "LOAD" and index.op in ("CONST", "LOAD") and then.op in ("SETITEM", "DELITEM")
    }
    return frozenset(of_methods | of_items)


def check_change(w: Evaluator, cut: Cut, by: str, names: int = 0) -> None:
    """A CompileError for a slice that is about to be changed, and is held by more than so many
    variables, operands and objects."""
    states = [frame.state for frame in w.frames if frame.state is not None]
    named = [value for state in states for value in (*state.locals.values(), *state.stack)]
    objects = reachable([*named, *w.kept], w.state)
    holders = [*named, *(each for one in objects for _, each in parts_held(one, w.state.get(one)))]
    if sum(_is_in(cut, each) for each in holders) > names:
        raise w.error(
            f"{cut.describe()} is changed by {by}: make a list of it before, as in "
            "xs = list(xs[k:]), so that the change is seen under all its names"
        )


def _is_in(cut: Cut, value: Any) -> bool:
    """Whether a value is a slice, or holds it as tuples do."""
    if isinstance(value, (Tuple, Bounded)):
        value = value.items
    return any(_is_in(cut, each) for each in value) if isinstance(value, tuple) else value is cut
