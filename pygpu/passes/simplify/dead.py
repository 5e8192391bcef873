"""Removes what no output needs: operations, results of `if`s, carried values of loops.

A carried value is needed where its final value is, or where the body uses it for something needed:
a value that only serves its own next round goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, walk, within


def remove_dead(function: Function) -> Function:
    """The function without what is not needed; itself where all is needed."""
    needed = _needed(function)
    kept = [op for op in function.body.ops if _is_needed(op, needed)]
    every = [op for top in kept for op in within(top)]
    whole = all(_is_needed(op, needed) for op in every)
    if not whole or not all(needed.issuperset(op.results) for op in every):
        return rewrite(function, lambda *what: _reduce(needed, *what))
    if len(kept) == len(function.body.ops):
        return function
    body = Region(function.body.params, kept, function.body.results)
    return Function(function.name, function.images, function.tables, body)


def _is_needed(op: Op, needed: set[Value]) -> bool:
    return any(value in needed for value in op.results)


def _needed(function: Function) -> set[Value]:
    """All values that outputs need, with all that must stay to hand on those of regions."""
    index: dict[Value, tuple[Op, int]] = {}
    for op in walk(function.body):
        if op.regions:
            params = op.regions[0].params
            index.update((value, (op, i)) for i, value in enumerate((*op.results, *params)))
    needed: set[Value] = set()
    waiting = list(function.body.results)
    while waiting:
        value = waiting.pop()
        if value in needed:
            continue
        needed.add(value)
        if value in index:
            op, i = index[value]
            waiting += _handed_on(op, i % len(op.results))
        elif value.op is not None:
            waiting += value.op.operands
    return needed


def _handed_on(op: Op, i: int) -> Sequence[Value]:
    """What result i of an `if` or a loop comes from."""
    if op.code == "if":
        return op.operands[0], op.regions[0].results[i], op.regions[1].results[i]
    (body,) = op.regions
    return op.results[i], op.operands[i], body.results[0], body.results[i + 1]


def _reduce(
    needed: set[Value], rewriter: Rewriter, op: Op, operands: tuple[Value, ...]
) -> Sequence[Value] | None:
    """The op with the results that are needed. The others stand for themselves: nothing asks."""
    keep = [value in needed for value in op.results]
    if not any(keep):
        return op.results
    if not op.regions:
        return None
    regions = tuple([rewriter.copy_region(region) for region in op.regions])
    if op.code == "if":
        for region in regions:
            region.results = tuple(compress(region.results, keep))
    else:
        (body,) = regions
        operands = tuple(compress(operands, keep))
        body.params = tuple(compress(body.params, keep))
        body.results = (body.results[0], *compress(body.results[1:], keep))
    made = iter(rewriter.build.again(op, operands, regions, compress(op.results, keep)))
    return [next(made) if is_kept else old for old, is_kept in zip(op.results, keep, strict=True)]
