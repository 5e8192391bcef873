"""Makes sums over a window, whose known weights are products of one for the column and one for the
row, sums of sums along rows or columns. Loops may add them up. So with the greatest and least of a
window, of any shape (extremes.py).

    sum of w[j] * v[i] * im[x + i, y + j]  ->  sum of v[i] * (sum of w[j] * im[x + i, y + j])
    max(im[x - 3, y - 3], ..., im[x + 3, y + 3])  ->  max of the greatest of each row

What is added up or compared is a texel, or any expression of texels near it. What is found along
lines is one expression at several pixels, which becomes a stage (part.py): of n x n operations n
and n are left. Where several images have windows with the same weights but for a factor, as the
planes of a volume have, what is added up is their sum. Of a plane that comes first, then columns:
where rules of boundaries give texels, what reads columns alone is as wide as the result. Sums
differ by roundings alone, and alike for all pixels; of zeros of two signs either may be the
greatest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.core.storage import Format
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.passes.simplify.rules import made_by, number
from pygpu.passes.stages.extremes import Compared, Extreme, Order, Place, before, extreme, step
from pygpu.passes.stages.shifts import MOST, Shifted, Texels, alike, numbered
from pygpu.ssa import Function, Load, Op, Value, has, uses, within
from pygpu.types import Type

with later():
    from pygpu.passes.analysis import ranges
    from pygpu.passes.stages import added, written

LEAST: Final = 26  # texels of a sum worth it: 5 x 5 of floats take as long
TOLERANCE: Final = 5e-7  # of a weight: they are products that were rounded to float32
SMALL: Final = 0.1  # of the largest weight: what is less may err by as much as this
LAYERS: Final = 64  # expressions of a sum
TALL: Final = 7  # rows of a sum from which on rows of the results are kept, if so they are
DEEPEST: Final = 16  # sums and products within a sum that are looked at
SUMS: Final = ("add", "sub", "fma")


@record(eq=False)
class _Layer:
    """One expression at several places near the pixel, with weights: texels of a loop's sum, or
    values that the function has anyhow."""

    weights: dict[Place, float]
    load: Load | None
    values: dict[Place, Value]

    def value(self, rewriter: Rewriter, place: Place) -> Value:
        """The expression at a place, in the function being written."""
        if place in self.values:
            return rewriter.new[self.values[place]]
        assert self.load is not None
        build, (dx, dy) = rewriter.build, place
        return build.emit("load", build.x, build.y, data=replace(self.load, dx=dx, dy=dy))


@record(eq=False)
class _Product:
    """A weighted sum over a window, with a weight for each row, each column and each layer."""

    layers: list[tuple[_Layer, float]]
    rows: list[tuple[int, float]]
    columns: list[tuple[int, float]]

    def written(self, rewriter: Rewriter, type: Type, order: Order) -> Value:
        """Sums along `inner` come first, those of planes before them where the order says so."""
        rows_first = order == "rows" and len(self.rows) >= TALL
        apart = order == "planes" and len(self.layers) > 1
        outer, inner = (self.rows, self.columns) if rows_first else (self.columns, self.rows)

        def line(at: int) -> Value:
            terms = []
            for along, weight in inner:
                place = (along, at) if rows_first else (at, along)
                shared = 1.0 if apart else weight
                some = [
                    (layer.value(rewriter, place), shared * share) for layer, share in self.layers
                ]
                terms += [(_sum(rewriter.build, type, some), weight)] if apart else some
            return _sum(rewriter.build, type, terms)

        return _sum(rewriter.build, type, [(line(at), weight) for at, weight in outer])


def factored(
    function: Function,
    order: Order = "columns",
    least: int = LEAST,
    formats: Sequence[Format] = (),
) -> Function:
    """The function with such sums, of so many texels, outside of branches and loops; itself where
    there is none. Formats of images, if given, tell what cannot be NaN."""
    made = _factored(function, order, least, formats)
    if made is not function or not has(function, "loop"):
        return made
    plain = written.written_out(function)
    if plain is None:
        return function
    made = _factored(plain, order, least, formats)
    return function if made is plain else made


def _factored(function: Function, order: Order, least: int, formats: Sequence[Format]) -> Function:
    apart = {op for op in function.body.ops if op.code == "fma" and not _is_linear(op)}
    parted, made = _parted(function, apart if len(apart) >= LEAST else set())
    finder = _Finder(parted, order, least, formats)
    products, numbers = finder.found(), finder.numbers
    if not products:
        return function
    layers = [layer for e in products.values() if isinstance(e, _Product) for layer, _ in e.layers]
    added_up = {value for layer in layers for value in layer.values.values()}
    if not added_up.issuperset(made.values()):
        parted, _ = _parted(function, {op for op, value in made.items() if value in added_up})
        finder = _Finder(parted, order, least, formats)
        products, numbers = finder.found(), finder.numbers

    is_wider = any(f.dtype.itemsize < 4 for f in formats)  # sums are, than texels
    order = "columns" if order == "rows" and is_wider else order

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if not any(value in products or value in numbers for value in op.results):
            return None
        made = rewriter.copy(op, operands) if op.code == "loop" else operands
        return [
            products[value].written(rewriter, value.type, order) if value in products
            else rewriter.build.constant(value.type, numbers[value]) if value in numbers
            else old
            for value, old in zip(op.results, made, strict=op.code == "loop")
        ]  # fmt: skip

    return apply(CLEAN, Rewriter(parted, rule).run())


def _parted(function: Function, apart: Set[Op]) -> tuple[Function, dict[Op, Value]]:
    """The function with these products apart from the sums that they are part of, so that what is
    added up is a value, and that of each. Those of a column become part of its sum again."""
    made: dict[Op, Value] = {}

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op not in apart:
            return None
        made[op] = rewriter.build.emit("mul", *operands[:2])
        return [rewriter.build.emit("add", made[op], operands[2])]

    return (rewrite(function, rule) if apart else function), made


class _Finder:
    def __init__(
        self, function: Function, order: Order, least: int, formats: Sequence[Format]
    ) -> None:
        self.function, self.order, self.least, self.formats = function, order, least, formats
        self.count: Counter[Value] = uses(function)
        self.products: dict[Value, _Product | Extreme] = {}
        self.added: dict[Value, Texels] = {}  # by loops
        self.compared: dict[Value, Compared] = {}
        self.numbers: dict[Value, Any] = {}  # those that loops make beside them
        self.terms: dict[Op, list[tuple[Value, float]]] = {}  # see `_terms`
        for op in function.body.ops:
            for value, made in added.added(op, function).items() if op.code == "loop" else ():
                if isinstance(made, Texels):
                    self.added[value] = made
                elif isinstance(made, Compared):
                    self.compared[value] = made
                else:
                    self.numbers[value] = made

    @cached_property
    def places(self) -> dict[Value, Shifted]:
        return numbered(self.function)

    @cached_property
    def known(self) -> ranges.Ranges:
        return ranges.Ranges(self.function, self.formats)

    def found(self) -> dict[Value, _Product | Extreme]:
        """What can be written by columns, by the values that it makes."""
        for value, most in self.compared.items():
            made = self.of_loop(value, most)
            if made is not None:
                self.products[value] = made
        if not self.added and not self._has_windows():
            return self.products
        inner: set[Value] = set()  # sums within sums, and extremes of what is compared further
        for op in reversed(self.function.body.ops):
            one = step(op)
            if one is not None:
                has_nans = self.known.may_be_nan(op.result)
                if op.result not in inner:
                    found = extreme(op, self.places, self.count, self.order, self.least, has_nans)
                    if found is not None:
                        self.products[op.result] = found
                earlier = before(one, self.count, has_nans)
                inner.update(earlier[:1] if earlier else ())
                continue
            if _is_linear(op):
                parts = [v for v in op.operands if self.count[v] == 1 and v.op is not None]
                inner.update(value for value in parts if value.op and step(value.op) is None)
            for value in op.results if op.code == "loop" or _is_linear(op) else ():
                if value.type.kind in ("float", "int") and value not in inner:
                    self.look(value, DEEPEST)
        return self.products

    def of_loop(self, value: Value, most: Compared) -> Extreme | None:
        loop = value.op
        assert loop is not None
        loads = [op.result for op in within(loop) if op.code == "load"]
        has_nans = any(map(self.known.may_be_nan, loads))
        return most.by_lines(self.order, has_nans)

    def _has_windows(self) -> bool:
        """Whether texels are read in three columns and three rows: a sum of fewer is no product."""
        loads = [op.data for op in self.function.body.ops if op.code == "load"]
        return len({load.dx for load in loads}) >= 3 and len({load.dy for load in loads}) >= 3

    def look(self, value: Value, depth: int) -> None:
        """Find the largest sums in a value that are products."""
        op = value.op
        if op is None or op.code not in (*SUMS, "mul", "neg", "loop") or depth == 0:
            return
        ways = [(False, False), (True, False)]
        if depth == DEEPEST:  # it is not a part of what was looked at
            ways.append((False, True))
        for is_deep, is_shared in ways:
            layers = self.layers(value, is_deep, is_shared)
            product = None if layers is None else _product(layers, value.type, self.least)
            if product is not None:
                self.products[value] = product
                return
        for operand in op.operands:
            if self.count[operand] == 1:
                self.look(operand, depth - 1)

    def layers(self, value: Value, is_deep: bool, is_shared: bool) -> list[_Layer] | None:
        """The weighted sums over windows that a value is the sum of; None where it is anything
        else. Where that `is_deep`, what is added to a sum may be a sum itself; where it
        `is_shared`, what is added to may be used elsewhere, as by another sum that begins alike."""
        layers: dict[int | None, _Layer] = {}  # by numbers of expressions; None: of loops
        pending: list[tuple[Value, float]] = [(value, 1.0)]
        sums = {value}
        while pending:
            each, weight = pending.pop()
            op, shifted = each.op, self.places.get(each)
            is_term = shifted is not None and shifted.number in layers
            read = self.added.get(each)
            if read is not None:
                layer = layers.setdefault(None, _Layer({}, read.load, {}))
                assert layer.load is not None
                if not alike(layer.load, read.load):
                    return None
                for place, share in read.weights.items():
                    layer.weights[place] = layer.weights.get(place, 0.0) + weight * share
            elif op is not None and each in sums and not is_term and (terms := self.terms_of(op)):
                pending += [(term, weight * times) for term, times in terms]
                inner = [term for term, _ in (terms if is_deep else terms[:1])]
                sums.update(term for term in inner if is_shared or self.count[term] == 1)
            elif shifted is None:
                return None
            else:
                place = shifted.dx, shifted.dy
                layer = layers.setdefault(shifted.number, _Layer({}, None, {}))
                layer.weights[place] = layer.weights.get(place, 0.0) + weight
                layer.values[place] = each
            if len(layers) > (1 if None in layers else LAYERS):
                return None
        texels = sum(len(layer.weights) for layer in layers.values())
        return list(layers.values()) if texels <= MOST else None

    def terms_of(self, op: Op) -> list[tuple[Value, float]]:
        """What a sum adds up; nothing of what is no sum."""
        found = self.terms.get(op)
        if found is None:
            found = self.terms[op] = _terms(op) if _is_linear(op) else []
        return found


def _is_linear(op: Op) -> bool:
    """Whether it is a sum, or what is summed times a number."""
    if op.code in ("mul", "fma"):
        return any(number(operand) is not None for operand in op.operands[:2])
    return op.code in ("add", "sub", "neg")


def _terms(op: Op) -> list[tuple[Value, float]]:
    """What a sum adds up, with weights: first what it is added to."""
    first, *rest = op.operands
    if op.code in ("add", "sub", "neg"):
        signs = (1.0, 1.0) if op.code == "add" else (1.0, -1.0) if op.code == "sub" else (-1.0,)
        return list(zip(op.operands, signs, strict=True))
    factor, other = (first, rest[0]) if number(first) is not None else (rest[0], first)
    times = number(factor)
    assert times is not None
    return [*((each, 1.0) for each in rest[1:]), (other, times)]


def _product(layers: Sequence[_Layer], type: Type, least: int) -> _Product | None:
    """A sum's weights by rows, columns and layers; None where they are no products, or too few. Of
    ints there are only plain sums, which are exact."""
    every = [{place: w for place, w in layer.weights.items() if w} for layer in layers]
    places = every[0].keys()
    if type.kind == "int" and any(weight != 1 for each in every for weight in each.values()):
        return None
    columns, rows = (sorted({place[axis] for place in places}) for axis in (0, 1))
    if len(places) * len(every) < least or min(len(rows), len(columns)) < 3:
        return None
    if len(places) != len(rows) * len(columns) or any(each.keys() != places for each in every):
        return None
    table: NDArray[np.float64] = np.array(
        [[[each[x, y] for x in columns] for y in rows] for each in every]
    )
    if not np.isfinite(table).all():
        return None
    most, top, left = np.unravel_index(np.abs(table).argmax(), table.shape)
    down, across = table[most, :, left] / table[most, top, left], table[most, top]
    shares = table[:, top, left] / table[most, top, left]
    weight = np.abs(table)
    known = np.maximum(weight, SMALL * weight.max())
    if (np.abs(np.einsum("k,j,i->kji", shares, down, across) - table) > TOLERANCE * known).any():
        return None
    return _Product(
        list(zip(layers, shares.tolist(), strict=True)),
        list(zip(rows, down.tolist(), strict=True)),
        list(zip(columns, across.tolist(), strict=True)),
    )


def _sum(build: Builder, type: Type, terms: Sequence[tuple[Value, float]]) -> Value:
    """A weighted sum, in order."""
    total: Value | None = None
    for value, weight in terms:
        is_product = weight == 1.0 and type.kind == "float"
        product = made_by(value, "mul") if is_product else None
        if total is None and weight == 1.0:
            total = value
        elif total is not None and product is not None:
            total = build.emit("fma", *product.operands, total)
        elif total is not None and weight == 1.0:
            total = build.emit("add", total, value)
        elif total is None:
            total = build.emit("mul", value, build.constant(type, weight))
        else:
            total = build.emit("fma", value, build.constant(type, weight), total)
    assert total is not None
    return total
