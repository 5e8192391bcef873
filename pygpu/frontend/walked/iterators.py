"""Iterators over iterators as generator functions: walked like the user's own where what they are
over is a generator, or where a dynamic value decides which items there are.
"""

from collections.abc import Iterator
from typing import Any

END: Any = object()


def enumerated(xs: Any, start: Any) -> Iterator[Any]:
    number = start
    for x in xs:
        yield number, x
        number = number + 1


def mapped(function: Any, xs: Any, *rest: Any) -> Iterator[Any]:
    for row in zipped(xs, *rest):
        yield function(*row)


def zipped(xs: Any, *rest: Any) -> Iterator[Any]:
    for x in xs:
        row = [x]
        for other in rest:
            y = next(other, END)
            if y is END:
                return
            row.append(y)
        yield tuple(row)


def kept(wanted: bool, function: Any, xs: Any) -> Iterator[Any]:
    """What a filter keeps, or leaves out."""
    for x in xs:
        holds = x if function is None else function(x)
        if wanted:
            if holds:
                yield x
        elif not holds:
            yield x


def taken_while(function: Any, xs: Any) -> Iterator[Any]:
    for x in xs:
        if not function(x):
            return
        yield x


def dropped_while(function: Any, xs: Any) -> Iterator[Any]:
    begun = False
    for x in xs:
        if begun or not function(x):
            begun = True
            yield x


def sliced(xs: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    if stop is not None and stop <= 0:
        return
    number = 0
    for x in xs:
        if number >= start and (number - start) % step == 0:
            yield x
        number = number + 1
        if stop is not None and number >= stop:
            return


def accumulated(xs: Any, function: Any) -> Iterator[Any]:
    begun, total = False, 0
    for x in xs:
        total = function(total, x) if begun else x
        begun = True
        yield total


def chained(*sequences: Any) -> Iterator[Any]:
    for xs in sequences:
        yield from xs
