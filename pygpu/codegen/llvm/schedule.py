"""In which order native code computes a block of pixels.

A chain of additions (`w0 * a + w1 * b + ...`) fixes an order in which floats need not be added, so
chains are taken apart into *sums* of terms. A function that is one straight line is then computed
term by term, by columns of taps: all rows of the block take a weight and a texel as soon as they
are loaded, and few values are alive at a time. Without sums, rows advance by the source row that
each has reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pygpu.ssa import Function, Op, Region, Value, walk

Cell = tuple[int, int]
LEAST: Final = 4  # terms of a sum worth the name
_LAST: Final = 1 << 30
Rank = tuple[int, int, int, int, int]  # level, place of the last tap, number of the sum, term
_NEVER: Final[Rank] = (_LAST, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Addend:
    """A term of a sum: one value, or the product of two, added or subtracted."""

    factors: tuple[Value, ...]
    minus: bool


@dataclass(slots=True, eq=False)
class Sum:
    """A chain of additions taken apart: the op that has the result, and the terms."""

    root: Op
    terms: list[Addend]
    level: int = 0  # how many sums its terms depend on, one through the other


@dataclass(slots=True)
class Term:
    """A step of a schedule: one term of a sum."""

    of: Sum
    index: int


@dataclass(slots=True)
class Sums:
    """The sums of a function by their roots, and the ops that went into them."""

    by_root: dict[Op, Sum] = field(default_factory=dict)
    absorbed: set[Op] = field(default_factory=set)


def find_sums(function: Function) -> Sums:
    """All sums of floats of at least LEAST terms, in all regions."""
    uses: dict[Value, int] = {}
    for region in _regions(function.body):
        for value in region.results:
            uses[value] = uses.get(value, 0) + 2  # not to be absorbed
        for op in region.ops:
            for value in op.operands:
                uses[value] = uses.get(value, 0) + 1
    result = Sums()
    for region in _regions(function.body):
        _find_in(region, uses, result)
    return result


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for op in region.ops:
        for inner in op.regions:
            yield from _regions(inner)


def _find_in(region: Region, uses: dict[Value, int], result: Sums) -> None:
    here = set(region.ops)
    inner: set[Op] = set()  # parts of a chain that a later op continues
    for op in reversed(region.ops):
        if not _adds(op) or op in inner:
            continue
        terms: list[Addend] = []
        parts: list[Op] = []
        pending = [(op.result, False)]
        while pending:
            value, minus = pending.pop()
            source = value.op
            if source is None or source not in here or not _continues(source, op, uses):
                product = source is not None and source.code == "mul" and uses[value] == 1
                if product and source in here:
                    terms.append(Addend(source.operands, minus))
                    parts.append(source)
                else:
                    terms.append(Addend((value,), minus))
                continue
            parts.append(source)
            if source.code == "neg":
                pending.append((source.operands[0], not minus))
            else:
                first, second = source.operands
                pending.append((second, minus != (source.code == "sub")))
                pending.append((first, minus))
        inner.update(parts)
        if len(terms) >= LEAST:
            result.by_root[op] = Sum(op, terms)
            result.absorbed.update(part for part in parts if part is not op)


def _adds(op: Op) -> bool:
    return op.code in ("add", "sub") and op.result.type.kind == "float"


def _continues(op: Op, root: Op, uses: dict[Value, int]) -> bool:
    if op is root:
        return True
    return (_adds(op) or op.code == "neg") and uses[op.result] == 1


# ---------------------------------------------------------------- orders


Step = tuple[Op | Term, Cell]


def by_rows(function: Function, taps: set[Op], cells: Sequence[Cell]) -> Iterator[Step]:
    """Ops and cells by the source row, then the source column, that each has reached."""
    reached = _reached(function, taps, lambda dx, dy: (dy, dx))
    items = []
    for index, op in enumerate(function.body.ops):
        if op not in taps:
            row, column = reached[op]
            items += [(row + r, column, index, r, u, op) for u, r in cells]
    items.sort(key=lambda item: item[:5])
    return ((op, (u, r)) for _, _, _, r, u, op in items)


def by_terms(
    function: Function, taps: set[Op], sums: Sums, cells: Sequence[Cell], row_by_row: bool
) -> Iterator[Step]:
    """Terms by column, then by row of their taps (or by source row, then column), each with what
    only it needs just before."""
    body = function.body
    if row_by_row:
        reached = _reached(function, taps, lambda dx, dy: (dy, dx))
    else:
        reached = _reached(function, taps, lambda dx, dy: (dx, dy))
    _set_levels(body, sums)
    totals = list(sums.by_root.values())
    rank = {
        (total, index): (total.level, *_last_of(term, reached), number, index)
        for number, total in enumerate(totals)
        for index, term in enumerate(total.terms)
    }
    place = dict.fromkeys(body.ops, _NEVER)  # the rank of the first term that needs an op
    for op in reversed(body.ops):
        if op in sums.by_root:
            total = sums.by_root[op]
            users = [(v, rank[total, i]) for i, t in enumerate(total.terms) for v in t.factors]
        elif op in sums.absorbed:
            continue
        else:
            users = [(value, place[op]) for value in _inputs(op)]
        for value, by in users:
            if value.op in place:
                place[value.op] = min(place[value.op], by)
    items: list[tuple[tuple[int, ...], Op | Term, Cell]] = []

    def add(at: Rank, index: int, step: Op | Term) -> None:
        level, major, minor, number, term = at
        for u, r in cells:
            row = major + r if row_by_row and at is not _NEVER else major
            items.append(((level, row, minor, number, term, r, u, index), step, (u, r)))

    for index, op in enumerate(body.ops):
        if op not in taps and op not in sums.absorbed and op not in sums.by_root:
            add(place[op], index, op)
    for (total, index), at in rank.items():
        add(at, _LAST, Term(total, index))
    items.sort(key=lambda item: item[0])
    return ((step, cell) for _, step, cell in items)


def _last_of(term: Addend, reached: dict[Op, tuple[int, int]]) -> tuple[int, int]:
    """The last tap that a term depends on."""
    return max([reached[v.op] for v in term.factors if v.op in reached], default=(-_LAST, 0))


def _inputs(op: Op) -> list[Value]:
    """What an op and the regions within use."""
    within = list(walk(Region(ops=[op])))
    inner = [value for each in within for value in each.operands]
    return inner + [value for each in within for r in each.regions for value in r.results]


def _reached(function: Function, taps: set[Op], key: object) -> dict[Op, tuple[int, int]]:
    """Of each op, the last of the taps that it depends on, as `key(dx, dy)` orders them."""
    assert callable(key)
    lowest = min([key(op.data.dx, op.data.dy) for op in taps], default=(0, 0))
    reached: dict[Op, tuple[int, int]] = {}
    for op in function.body.ops:
        times = [reached[value.op] for value in _inputs(op) if value.op in reached]
        times += [key(e.data.dx, e.data.dy) for e in walk(Region(ops=[op])) if e in taps]
        reached[op] = max(times, default=lowest)
    return reached


def _set_levels(body: Region, sums: Sums) -> None:
    """A sum that depends on another comes after it."""
    level: dict[Op, int] = {}
    for op in body.ops:
        if op in sums.absorbed:
            continue
        if op in sums.by_root:
            total = sums.by_root[op]
            inputs = [value for term in total.terms for value in term.factors]
        else:
            inputs = _inputs(op)
        highest = max([level[value.op] for value in inputs if value.op in level], default=0)
        if op in sums.by_root:
            total.level = highest
            highest += 1
        level[op] = highest
