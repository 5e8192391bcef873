"""Sums of ints that may not fit in an Int: folded as two words, which make a value of 64 bits.

words = words_in(folding, types, is_tuple)     # None: all fit
fold(words.of(folding))                        # of such parts (high, low) of each component
words.totals(results)

By group they are folded as digits, which are few enough bits that so many of them fit in an Int:
devices add those as they add Ints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.execution.arrays.passes import IMAGES, lasting, made
from pygpu.execution.folds.by_group import Folding
from pygpu.execution.folds.folding import folded_once
from pygpu.execution.folds.stored import STORED
from pygpu.language.scalars import Int, UInt
from pygpu.language.vectors import Vector
from pygpu.passes.analysis.ranges import Ranges
from pygpu.ssa import Value
from pygpu.types import INTEGERS, Type


@record
class Words:
    """A sum some parts of which are folded as words: of these the number of components, 0 of
    others; and whether values are tuples of such parts."""

    sizes: tuple[int, ...]
    is_tuple: bool

    def of(self, folding: Folding) -> Folding:
        """The sum of the words: tuples of the parts, in place of wide ones high, low, high, low."""
        map = _words(self.sizes, self.is_tuple, folding.map)
        return replace(folding, function=lasting(_sum_of_words(self.sizes)), map=lasting(map))

    def totals(self, results: Sequence[Any]) -> list[Any]:
        """The parts of the sum, those of words as ints or arrays of int64."""
        found: list[Any] = []
        rest = iter(results)
        for size in self.sizes:
            if size == 0:
                found.append(next(rest))
                continue
            numbers = [(int(next(rest)) << 32) + int(next(rest)) for _ in range(size)]
            found.append(numbers[0] if size == 1 else np.array(numbers, np.int64))
        return found


def words_in(folding: Folding, types: Sequence[Type], is_tuple: bool) -> Words | None:
    """The parts of a sum that need not fit in an Int; None where all do."""
    wide = may_overflow(folding, types)
    if not any(wide):
        return None
    return Words(tuple([t.size if w else 0 for t, w in zip(types, wide, strict=True)]), is_tuple)


@record
class Digits:
    """A sum some parts of which are folded as digits of `bits` each, from the lowest on: how many
    components these parts have and how many digits each component, 0 of others."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    bits: int
    is_tuple: bool

    def of(self, folding: Folding) -> Folding:
        """The sum of the digits: tuples of the parts, in place of wide ones their digits."""
        map = _digits(self.sizes, self.counts, self.bits, self.is_tuple, folding.map)
        return replace(folding, map=lasting(map))

    def totals(self, results: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """The parts of the sum for each group, those of digits in int64."""
        found: list[NDArray[Any]] = []
        rest = iter(results)
        for size, count in zip(self.sizes, self.counts, strict=True):
            if count == 0:
                found.append(next(rest))
                continue
            columns = []
            for _ in range(size):
                each = [next(rest).astype(np.int64) << self.bits * k for k in range(count)]
                columns.append(np.sum(each, axis=0))
            found.append(columns[0] if size == 1 else np.stack(columns, axis=-1))
        return found


def digits_in(folding: Folding, types: Sequence[Type], is_tuple: bool) -> Digits | None:
    """The parts of a sum by group that need not fit in an Int; None where all do."""
    widths = _widths(folding, types)
    if not any(widths):
        return None
    storage = folding.images[0].image.storage
    bits = max(((2**31 - 1) // (storage.width * storage.height)).bit_length() - 1, 1)
    counts = tuple([-(-width // bits) for width in widths])
    return Digits(tuple([type.size for type in types]), counts, bits, is_tuple)


def may_overflow(folding: Folding, types: Sequence[Type]) -> list[bool]:
    """Of each part of values of these types whether a fold is a sum whose result need not fit in an
    Int."""
    return [width > 0 for width in _widths(folding, types)]


def _widths(folding: Folding, types: Sequence[Type]) -> list[int]:
    """Of each part of values of these types how many bits its ints have, with their sign, where the
    fold is a sum that need not fit in an Int, else 0: the ranges of values, as far as the program
    tells, and how many there are decide."""
    if STORED.get(folding.function) != "sum" or not any(type.kind in INTEGERS for type in types):
        return [0] * len(types)
    roles = {"function": "known", "first": "known", "images": IMAGES, "given": "object"}
    images = tuple([each.image for each in folding.images])
    values = {"first": folding.first, "images": images, "given": dict(folding.given)}
    found = made(folded_once, roles, folding.target).made(function=None, **values)
    ranges, storage = Ranges(found.function, found.formats), images[0].storage
    width, height = storage.width, storage.height

    def bits_of(output: Value, type: Type) -> int:
        if type.kind not in INTEGERS:
            return 0
        span = ranges.of(output)
        if span is None or type.kind == "uint":
            return 32
        most = max(abs(span.low), abs(span.high)) + abs(span.x) * width + abs(span.y) * height
        return min(int(most).bit_length() + 1, 32) if most * width * height >= 2**31 else 0

    # Checked functions give more: what went wrong, after the parts.
    return [bits_of(*pair) for pair in zip(found.function.outputs, types, strict=False)]


def _digits(
    sizes: tuple[int, ...],
    counts: tuple[int, ...],
    bits: int,
    is_tuple: bool,
    map: Callable[..., Any] | None,
) -> Callable[..., Any]:
    """The map, its wide parts taken apart into digits."""

    def digits(*texels: Any, **arguments: Any) -> Any:
        value = texels[0] if map is None else map(*texels, **arguments)
        found: list[Any] = []
        for part, size, count in zip(value if is_tuple else (value,), sizes, counts, strict=True):
            if count == 0:
                found.append(part)
                continue
            for number in list(part) if size > 1 else [part]:
                whole = number if isinstance(number, UInt) else int(number)
                for k in range(count):
                    digit = whole >> bits * k
                    found.append(Int(digit & (1 << bits) - 1 if k < count - 1 else digit))
        return tuple(found)

    return digits


def _words(
    sizes: tuple[int, ...], is_tuple: bool, map: Callable[..., Any] | None
) -> Callable[..., Any]:
    """The map, its wide parts taken apart."""

    def words(*texels: Any, **arguments: Any) -> Any:
        value = texels[0] if map is None else map(*texels, **arguments)
        found: list[Any] = []
        for part, size in zip(value if is_tuple else (value,), sizes, strict=True):
            if size == 0:
                found.append(part)
                continue
            for number in list(part) if isinstance(part, Vector) else [part]:
                is_unsigned = isinstance(number, UInt)
                found += [0 if is_unsigned else int(number) >> 31, UInt(number)]
        return tuple(found)

    return words


def _sum_of_words(sizes: tuple[int, ...]) -> Callable[..., Any]:
    """The sum of numbers of two words each, carried from the low one to the high one."""

    def summed(a: Any, b: Any) -> Any:
        found: list[Any] = []
        for size in sizes:
            if size == 0:
                found.append(a[len(found)] + b[len(found)])
            for _ in range(size):
                k = len(found)
                low = a[k + 1] + b[k + 1]
                found += [a[k] + b[k] + (1 if low < a[k + 1] else 0), low]
        return tuple(found)

    return summed
