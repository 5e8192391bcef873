"""Takes a function apart into what a call knows and what its pixels compute.

    taken = ahead(function)       # None where too little would be saved
    taken.first                   # of no image: at (i, 0) the i-th of the numbers that a call knows
    taken.rest                    # is given these as more uniforms, of names that `place_of` knows

A kernel made of parameters is the same for all pixels: `exp(-(dx*dx + dy*dy) / (2 * s * s))`, where
s is given at the call, 49 times. Programs of GPUs compute it for each pixel, as they have no place
before all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.passes.stages.price import price_of
from pygpu.ssa import Function, Op, Region, Value, used_by, walk
from pygpu.types import FLOAT, INT

WORTH: Final = 300  # sums of floats that a pixel is to be spared
READ: Final = 4  # sums of floats that taking a number costs: what takes less is computed
MOST: Final = 512  # numbers
ROW: Final = 4  # numbers of a row of the block that programs are given them in
_NAME: Final = "ahead."  # and the number's place: no parameter of a Python function is called so
# What is not known without the images, or would take tables along.
_ELSEWHERE: Final = frozenset(code for code, row in TABLE.items() if row.is_memory)


@record
class Ahead:
    """See the module's head. `rest` has `count` uniforms more than the function, all floats, whole
    rows of them; those that fill the last row are 0."""

    first: Function
    rest: Function
    count: int


def ahead(function: Function) -> Ahead | None:
    """The function in two parts; None where pixels would be spared too little."""
    known = _known(function)
    if sum(map(price_of, known)) < WORTH:
        return None
    asked = {value for op in function.body.ops if op not in known for value in used_by(op)}
    asked.update(function.body.results)
    candidates = [
        op
        for op in known
        if len(op.results) == 1 and op.result in asked and op.result.type is FLOAT
    ]
    slices = {op: _slice(op, known) for op in candidates}
    wanted = [op for op in candidates if sum(map(price_of, slices[op])) > READ][:MOST]
    spared: set[Op] = set().union(*[slices[op] for op in wanted])
    if sum(map(price_of, spared)) - READ * len(wanted) < WORTH:
        return None
    count = -(-len(wanted) // ROW) * ROW
    return Ahead(
        apply(CLEAN, _first(function, wanted, spared)),
        apply(CLEAN, _rest(function, wanted, count)),
        count,
    )


def place_of(uniform: str | None) -> int | None:
    """Which of the numbers computed ahead a uniform of this name is; None for all others."""
    return int(uniform[len(_NAME) :]) if uniform and uniform.startswith(_NAME) else None


def _known(function: Function) -> dict[Op, None]:
    """The operations, not within others, that only depend on numbers of a call, in order. Vectors
    are made where they are used, of numbers that are known."""
    varying = {function.x, function.y}
    known: dict[Op, None] = {}
    for op in function.body.ops:
        inner = [each for region in op.regions for each in walk(region)]
        codes = [each.code for each in (op, *inner)]
        are_numbers = all(value.type.is_scalar for value in op.results)
        if are_numbers and varying.isdisjoint(used_by(op)) and _ELSEWHERE.isdisjoint(codes):
            known[op] = None
        else:
            varying.update(op.results)
    return known


def _slice(op: Op, known: dict[Op, None]) -> set[Op]:
    """The operations that one needs, itself included."""
    needed, waiting = {op}, [op]
    while waiting:
        for value in used_by(waiting.pop()):
            if value.op in known and value.op not in needed:
                needed.add(value.op)
                waiting.append(value.op)
    return needed


def _first(function: Function, wanted: Sequence[Op], spared: set[Op]) -> Function:
    """The function of no image that gives the wanted numbers, side by side."""
    rewriter = Rewriter(function, images=())
    rewriter.inline(Region(ops=[op for op in function.body.ops if op in spared]))
    build = rewriter.build
    result = build.constant(FLOAT, 0.0)
    for place, op in enumerate(wanted):
        here = build.emit("eq", build.x, build.constant(INT, place))
        result = build.emit("select", here, rewriter.new[op.result], result)
    return build.finish([result])


def _rest(function: Function, wanted: Sequence[Op], count: int) -> Function:
    """The function that is given the wanted numbers."""
    places = {op: place for place, op in enumerate(wanted)}
    names = [f"{_NAME}{place}" for place in range(count)]

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        return [rewriter.numbers[places[op]]] if op in places else None

    return Rewriter(function, rule, numbers=names, type=FLOAT).run()
