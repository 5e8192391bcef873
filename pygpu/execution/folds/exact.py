"""Sums of ints that may not fit in an Int: folded as two words, which make a value of 64 bits.

if may_overflow(folding, types):
    reduced(words_of(folding))         # (high, low) of each component; see total_of
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pygpu.execution.arrays.passes import IMAGES, lasting, made
from pygpu.execution.folds.by_group import Folding
from pygpu.execution.folds.folding import folded_once
from pygpu.language.scalars import UInt
from pygpu.language.vectors import Vector
from pygpu.passes.analysis.ranges import Ranges
from pygpu.types import INTEGERS, Type

SUMS: Final = (np.add, operator.add)


def may_overflow(folding: Folding, type: Type) -> bool:
    """Whether a fold of values of this type is a sum whose result need not fit in an Int: the
    ranges of values, as far as the program tells, and how many there are decide."""
    if folding.function not in SUMS or type.kind not in INTEGERS:
        return False
    roles = {"function": "known", "first": "known", "images": IMAGES, "given": "object"}
    images = tuple([each.image for each in folding.images])
    values = {"first": folding.first, "images": images, "given": dict(folding.given)}
    found = made(folded_once, roles, folding.target).made(function=None, **values)
    span = Ranges(found.function, found.formats).of(found.function.outputs[0])
    if span is None or type.kind == "uint":
        return True
    storage = images[0].storage
    width, height = storage.width, storage.height
    most = max(abs(span.low), abs(span.high)) + abs(span.x) * width + abs(span.y) * height
    return most * width * height >= 2**31


def words_of(folding: Folding) -> Folding:
    """The same sum of the two words of each component, in a tuple: high, low, high, low."""
    texel = folding.map is None
    map = lasting(_words(None if texel else folding.map))
    return replace(folding, function=_sum_of_words, map=map)


def total_of(parts: Any) -> Any:
    """The number, or the array of numbers, that the words of all components are."""
    totals = [
        (int(high) << 32) + int(low) for high, low in zip(parts[::2], parts[1::2], strict=True)
    ]
    return totals[0] if len(totals) == 1 else np.array(totals, np.int64)


def _words(map: Callable[..., Any] | None) -> Callable[..., Any]:
    """The map, its values taken apart."""

    def words(*texels: Any, **arguments: Any) -> Any:
        value = texels[0] if map is None else map(*texels, **arguments)
        parts = list(value) if isinstance(value, Vector) else [value]
        found: list[Any] = []
        for part in parts:
            is_unsigned = isinstance(part, UInt)
            found += [0 if is_unsigned else int(part) >> 31, UInt(part)]
        return tuple(found)

    return words


def _sum_of_words(a: Any, b: Any) -> Any:
    """The sum of numbers of two words each, carried from the low one to the high one."""
    found: list[Any] = []
    for k in range(0, len(a), 2):
        low = a[k + 1] + b[k + 1]
        found += [a[k] + b[k] + (1 if low < a[k + 1] else 0), low]
    return tuple(found)


__all__ = ["may_overflow", "total_of", "words_of"]
