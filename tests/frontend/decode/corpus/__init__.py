"""Small functions of the kind users write, each with calls; valid from Python 3.11 on."""

from collections.abc import Callable, Iterator
from typing import Any

from . import (
    branches,
    comprehensions,
    exceptions,
    expressions,
    for_loops,
    functions,
    while_loops,
)

MODULES = (expressions, functions, comprehensions, branches, for_loops, while_loops, exceptions)


def _functions() -> Iterator[Callable[..., Any]]:
    for module in MODULES:
        for thing in vars(module).values():
            if hasattr(thing, "calls"):
                yield thing


FUNCTIONS: tuple[Callable[..., Any], ...] = tuple(_functions())
CALLS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = tuple(
    (function, arguments)
    for function in FUNCTIONS
    for arguments in function.calls  # type: ignore[attr-defined]
)
