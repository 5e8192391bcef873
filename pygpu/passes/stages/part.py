"""Takes a function apart into stages: an expression that several pixels use becomes an image.

    parts = stages(harris)      # products of slopes first, then what sums them over a window
    stages(scale) == ()

The image of a stage has a margin: what lies outside of the function's result is computed, from the
boundaries of the images that it reads, as it was before. So results are the same to the bit. Where
images are known to be as wide as results, an expression of texels of one column needs no margin
beside rows: it is read by the boundary of these texels, and gives the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.builder import Builder
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.passes.stages.price import numbers_read, price, price_of
from pygpu.passes.stages.shifts import Shifted, numbered
from pygpu.ssa import BOUNDARIES, Function, ImageInput, Load, Op, Value, within

with later():
    from pygpu.passes.analysis import footprint

STORED: Final = 4  # sums that cost what storing a number and finding it in a cache does
WORTH: Final = 1.3  # times as much as in stages, and so many sums more, a function must cost
LEAST: Final = 12
MOST: Final = 12  # images that a stage makes
LOOKED_AT: Final = 64  # expressions, above which none is taken
EVERYWHERE: Final = frozenset(BOUNDARIES) - {"constant"}  # rules that give texels
FARTHEST: Final = 48  # pixels to one side that an expression is used at


@record(eq=False)
class Part:
    """A stage: its function reads the images of the whole, and behind them those that the stage
    before it makes. Its results have so many rows and columns more than those of the whole on each
    side, and its x and y count from the first."""

    function: Function
    margin: footprint.Footprint


def stages(function: Function, as_wide: bool = False) -> tuple[Part, ...]:
    """The stages of a function, in order; the last gives its results. Nothing where it costs about
    as little as it is. `as_wide`: images are as wide as results."""
    parted = _part(function, as_wide)
    if parted is None:
        return ()
    first, rest, margin = parted
    inner = stages(first, as_wide) or (Part(first, footprint.Footprint()),)
    before = [Part(each.function, each.margin.around(margin)) for each in inner]
    return (*before, Part(rest, footprint.Footprint()))


def _part(
    function: Function, as_wide: bool
) -> tuple[Function, Function, footprint.Footprint] | None:
    """A function in two, and the margin of the first's images."""
    found = numbered(function)
    chosen = _chosen(function, found)
    if not chosen:
        return None
    places = [found[value] for values in chosen.values() for value in values]
    rule = _rule(chosen, found) if as_wide else None
    across = [0 if rule else place.dx for place in places]
    margin = footprint.Footprint(
        max(0, *[-dx for dx in across]),
        max(0, *across),
        max(0, *[-place.dy for place in places]),
        max(0, *[place.dy for place in places]),
    )
    if max(margin.sides) > FARTHEST:
        return None
    first = apply(CLEAN, _First(function, margin).run([v[0] for v in chosen.values()], found))
    rest = apply(CLEAN, _rest(function, chosen, found, margin, rule))
    stored = STORED * sum([value.type.size for value in first.outputs])
    apart = _work(first) + _work(rest) + stored
    before = _work(function)
    return (first, rest, margin) if before > max(WORTH * apart, apart + LEAST) else None


def _rule(chosen: dict[int, list[Value]], found: dict[Value, Shifted]) -> str | None:
    """The boundary of all texels that the expressions read, where each reads a single column; of a
    constant that depends on what is made of it."""
    loads = [
        (op.data, found[value].dx)
        for values in chosen.values()
        for value in values
        for op in _ops(value)
        if op.code == "load"
    ]
    rules = {load.boundary for load, _ in loads}
    is_column = all(load.dx == dx for load, dx in loads)
    return rules.pop() if is_column and len(rules) == 1 and rules <= EVERYWHERE else None


def _work(function: Function) -> int:
    """What a function costs, and its loads."""
    return price(function.body) + numbers_read(function.body)


def _chosen(function: Function, found: dict[Value, Shifted]) -> dict[int, list[Value]]:
    """The values that become loads of a stage's images, by the numbers of their expressions. These
    are expressions that are used at several pixels, by something that is not itself such."""
    by_number: dict[int, list[Value]] = defaultdict(list)
    for value, shifted in found.items():
        by_number[shifted.number].append(value)
    several = {
        number
        for number, values in by_number.items()
        if len({(found[value].dx, found[value].dy) for value in values}) > 1
    }
    roots: set[int] = set()
    for users, operands in _reads(function):
        within = [found[user].number for user in users if user in found]
        if within and all(number in several for number in within):
            continue
        roots |= {found[v].number for v in operands if v in found and found[v].number in several}
    if len(roots) > LOOKED_AT:
        return {}
    chosen = {}
    for number in sorted(roots):
        values = by_number[number]
        value, places = values[0], {(found[v].dx, found[v].dy) for v in values}
        again = sum([price_of(op) for op in _ops(value)]) * (len(places) - 1)
        if value.op is not None and value.op.code != "load" and again > STORED + len(places):
            chosen[number] = values
    chosen = {n: values for n, values in chosen.items() if not _follows(values, chosen, found)}
    return chosen if len(chosen) <= MOST else {}


def _follows(
    values: Sequence[Value], chosen: dict[int, list[Value]], found: dict[Value, Shifted]
) -> bool:
    """Whether what is chosen is one operation on what is chosen besides, which is done anew for
    less than it costs to store and load it: whether a number is NaN."""
    op = values[0].op
    assert op is not None
    near = [value for value in op.operands if value in found]
    again = price_of(op) * len({(found[v].dx, found[v].dy) for v in values})
    is_cheap = again <= STORED + len(values)
    return is_cheap and bool(near) and all(found[value].number in chosen for value in near)


def _reads(function: Function) -> Iterable[tuple[Sequence[Value], Sequence[Value]]]:
    """What is made, of what; outputs and the results of regions make nothing."""
    yield (), function.outputs
    for op in function.body.ops:
        yield op.results, op.operands
        for inner in within(op):
            if inner is not op:
                yield (), inner.operands
            for region in inner.regions:
                yield (), region.results


def _ops(value: Value) -> set[Op]:
    """All operations that a value depends on."""
    found: set[Op] = set()
    pending = [value]
    while pending:
        op = pending.pop().op
        if op is not None and op not in found:
            found.add(op)
            pending += op.operands
    return found


class _First:
    """Writes the stage that makes expressions where the pixel is."""

    def __init__(self, function: Function, margin: footprint.Footprint) -> None:
        self.function, self.margin = function, margin
        uniforms = [(value.name, value.type) for value in function.uniforms]
        self.build = Builder(f"{function.name}_stage", function.images, uniforms)
        self.build.tables = list(function.tables)

    def run(self, values: Sequence[Value], found: dict[Value, Shifted]) -> Function:
        return self.build.finish([self.moved(value, found[value]) for value in values])

    def moved(self, value: Value, place: Shifted) -> Value:
        """A value without its shift."""
        function, build = self.function, self.build
        new = dict(zip(function.uniforms, build.uniforms, strict=True))
        needed = _ops(value)
        dx, dy = place.dx + self.margin.left, place.dy + self.margin.up
        for op in function.body.ops:
            if op not in needed:
                continue
            build.place = op.place
            if op.code == "load":
                data = replace(op.data, dx=op.data.dx - dx, dy=op.data.dy - dy)
                new[op.result] = build.emit("load", build.x, build.y, data=data)
            else:
                operands = [new[each] for each in op.operands]
                new[op.result] = build.emit(op.code, *operands, data=op.data, name=op.result.name)
        return new[value]


def _rest(
    function: Function,
    chosen: dict[int, list[Value]],
    found: dict[Value, Shifted],
    margin: footprint.Footprint,
    beside: str | None,
) -> Function:
    """The function that reads what a stage makes, by the rule of a boundary beside rows."""
    made = {number: index for index, number in enumerate(chosen, len(function.images))}
    inputs = [
        ImageInput(f"stage{index}", values[0].type) for index, values in enumerate(chosen.values())
    ]

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        place = found.get(op.results[0]) if op.results else None
        if place is None or place.number not in made:
            return None
        dx, dy = place.dx + margin.left, place.dy + margin.up
        data = Load(made[place.number], op.results[0].type, dx, dy, boundary=beside or "nearest")
        return [rewriter.build.emit("load", rewriter.build.x, rewriter.build.y, data=data)]

    whole = Function(function.name, (*function.images, *inputs), function.tables, function.body)
    return Rewriter(whole, rule).run()
