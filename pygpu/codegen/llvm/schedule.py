"""In which order native code computes a block of pixels, and about how long that takes.

All cells of a block advance together, by the source rows that each has reached (or by columns,
where the function reads them so): all rows of the block take a texel as soon as it is loaded, and
few values are alive at a time. The order decides about time alone: what is computed is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE, Cost
from pygpu.ssa import Function, Op, Region, Value, used_by, uses, walk, within

Cell = tuple[int, int]
Step = tuple[Op, Cell]
Reached = dict[Op, tuple[int, int]]  # of each op, the last of the taps that it depends on
LEAST: Final = 4  # terms of a chain worth the name
CHEAP: Final = 12  # ops of a side of a branch that is computed whether it is taken or not
COSTLY: Final = frozenset(
    code
    for code, row in TABLE.items()
    if row.cost in (Cost.NATIVE, Cost.SERIES, Cost.ROUNDS, Cost.MEMORY)
)


@record
class Chain:
    """A chain of additions (`w0 * a + w1 * b + ...`): how many terms, of how many components.
    `is_inner`: it is itself a term of another, times a weight."""

    terms: int
    size: int
    is_inner: bool = False


def chains(function: Function) -> list[Chain]:
    """All chains of additions of floats of at least LEAST terms, in all regions."""
    count = uses(function)
    terms: dict[Value, int] = {}  # of the chains so far, by their ends
    weighed: dict[Value, Value] = {}  # ends of chains, by their products
    inner: set[Value] = set()
    for op in walk(function.body):
        if op.code in ("add", "sub", "fma") and op.result.type.kind == "float":
            addends = op.operands[2:] if op.code == "fma" else op.operands
            ends = [value for value in addends if value in terms and count[value] == 1]
            terms[op.result] = sum([terms.pop(value) for value in ends]) + 2 - len(ends)
            inner.update(weighed[value] for value in addends if value in weighed)
            inner.update(op.operands[:2] if op.code == "fma" else ())
        elif op.code == "neg" and op.operands[0] in terms and count[op.operands[0]] == 1:
            terms[op.result] = terms.pop(op.operands[0])
        elif op.code == "mul" and count[op.result] == 1:
            for end in terms.keys() & op.operands:
                weighed[op.result] = end
    return [
        Chain(held, value.type.size, value in inner and count[value] == 1)
        for value, held in terms.items()
        if held >= LEAST
    ]


def in_order(function: Function, taps: set[Op], cells: Sequence[Cell]) -> Iterator[Step]:
    """Ops and cells by the source row, then the source column, that each has reached; by column,
    then row, where more ops then follow the taps that they take. Constants are not among them."""
    rows = _reached(function, taps, lambda dx, dy: (dy, dx))
    columns = _reached(function, taps, lambda dx, dy: (dx, dy))
    by_rows = _prompt(rows, taps, lambda dx, dy: (dy, dx))
    by_columns = _prompt(columns, taps, lambda dx, dy: (dx, dy))
    items = []
    for index, op in enumerate(function.body.ops):
        if op in taps or op.code == "constant":
            continue
        row, column = rows[op]
        if by_columns > by_rows:
            column, row = columns[op]
            items += [(column, row + r, index, r, u, op) for u, r in cells]
        else:
            items += [(row + r, column, index, r, u, op) for u, r in cells]
    items.sort(key=lambda item: item[:5])
    return ((op, (u, r)) for _, _, _, r, u, op in items)


def bunched(
    steps: Iterable[Step], fetched: Callable[[Op, Cell], bool], most: int
) -> Iterator[list[Step]]:
    """Steps one by one, but so many of those that fetch at once as do not wait for each other: what
    waits for them comes after the bunch."""
    queue = list(steps)
    while queue:
        bunch, later, missing = [], [], set()
        for index, (op, cell) in enumerate(queue):
            if any((value.op, cell) in missing for value in used_by(op)):
                later.append((op, cell))
            elif fetched(op, cell):
                bunch.append((op, cell))
            else:
                yield [(op, cell)]
                continue
            missing.add((op, cell))
            if len(bunch) == most:
                later += queue[index + 1 :]
                break
        if bunch:
            yield bunch
        queue = later


def _prompt(reached: Reached, taps: set[Op], key: Callable[[int, int], tuple[int, int]]) -> int:
    """How many ops take the tap that they wait for: others keep what they take waiting."""
    return sum(
        any(v.op in taps and key(v.op.data.dx, v.op.data.dy) == last for v in op.operands if v.op)
        for op, last in reached.items()
    )


def _reached(
    function: Function, taps: set[Op], key: Callable[[int, int], tuple[int, int]]
) -> Reached:
    """Of each op, the last of the taps that it depends on, as `key(dx, dy)` orders them."""
    lowest = min([key(op.data.dx, op.data.dy) for op in taps], default=(0, 0))
    reached: Reached = {}
    for op in function.body.ops:
        times = [reached[value.op] for value in used_by(op) if value.op in reached]
        times += [key(e.data.dx, e.data.dy) for e in within(op) if e in taps]
        reached[op] = max(times, default=lowest)
    return reached


def is_cheap(op: Op) -> bool:
    """Whether both sides of a branch may be computed for less than it costs to choose."""
    for region in op.regions:
        inner = list(walk(region))
        if len(inner) > CHEAP or any(o.code in COSTLY or o.regions for o in inner):
            return False
    return True


def cost(region: Region, rounds: int = 8) -> int:
    """About how many operations a pixel takes; loops count as a few rounds."""
    total = 0
    for op in region.ops:
        times = rounds if op.code == "loop" else 1
        total += times * sum([cost(inner, rounds) for inner in op.regions])
        total += 10 if op.code in COSTLY and op.code != "load" else op.code != "constant"
    return total
