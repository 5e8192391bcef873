"""Several rounds at once of loops that count to a known number and may leave early.

Of the rounds that are done at once a single one looks whether the count is reached: it can only be
reached in that one. Compilers do this with loops that only count, but not where a `break` stands in
the body.

    while n < 256:                      while n < 256:
        if g(x): break              ->      if g(x): break
        x, n = f(x), n + 1                  if g(f(x)): n += 1; break
                                            ...
                                            x, n = f(f(x)), n + 2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.analysis.branches import goes_by, left_by
from pygpu.passes.analysis.counters import counters
from pygpu.ssa import Function, Op, Region, Value, constant_of, walk
from pygpu.types import BOOL

LARGEST: Final = 128  # operations of the rounds together
MOST: Final = 8  # rounds at once


def unroll(function: Function) -> Function:
    """The function with its loops so unrolled; itself where there are none such."""
    if not any(_counted(op) for op in walk(function.body) if op.code == "loop"):
        return function
    return rewrite(function, _unroll)


@record
class _Counted:
    """A loop whose body ends in `if test { go on, or leave } else { leave }`. The test, on what is
    counted alone, holds `count` times."""

    body: Region
    branch: Op
    count: int
    rounds: int  # at once


def _counted(loop: Op) -> _Counted | None:
    (body,) = loop.regions
    branch = body.ops[-1] if body.ops else None
    go = body.results[0]
    if branch is None or branch.code != "if" or go not in branch.results:
        return None
    index = branch.results.index(go)
    going, leaving = [constant_of(region.results[index]) for region in branch.regions]
    leaves = going is None and leaving is False
    count = _count(loop, branch) if leaves else 0
    ops = list(walk(body))
    if not count or any(op.code == "loop" for op in ops):
        return None
    size = sum(max(value.type.size for value in op.results) for op in ops if op.code != "constant")
    rounds = MOST
    while rounds > 1 and (rounds * size > LARGEST or 2 * rounds > count):
        rounds //= 2
    return _Counted(body, branch, count, rounds) if rounds > 1 else None


def _count(loop: Op, branch: Op) -> int:
    """How often the branch is taken if nothing else ends the loop; 0 where that is not known."""
    for counter in counters(loop):
        if counter.condition is branch.operands[0] and not counter.is_after:
            return len(counter.held or ())
    return 0


def _unroll(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    loop = _counted(op) if op.code == "loop" else None
    if loop is None:
        return None
    params = tuple([Value(value.type, value.name) for value in loop.body.params])
    body = Region(params)
    with rewriter.build.inside(body):
        body.results = tuple(_rounds(rewriter, loop, params, loop.rounds))
    return rewriter.build.again(op, operands, [body])


def _rounds(
    rewriter: Rewriter, loop: _Counted, params: Sequence[Value], left: int
) -> Sequence[Value]:
    """The last `left` rounds done at once: whether the loop goes on, and with what."""
    body, branch = loop.body, loop.branch
    rewriter.new.update(zip(body.params, params, strict=True))
    if loop.count % loop.rounds == loop.rounds - left:
        return _rest(rewriter, loop, body.ops, body.results, left)
    rewriter.inline(Region(ops=body.ops[:-1]))
    return _rest(rewriter, loop, branch.regions[0].ops, left_by(branch, 0, body.results), left)


def _rest(
    rewriter: Rewriter, loop: _Counted, ops: Sequence[Op], results: Sequence[Value], left: int
) -> Sequence[Value]:
    """The ops that end a round, and the rounds after it; `results` are the old function's own."""
    new = rewriter.new
    go, *following = results
    last = ops[-1] if ops else None
    sides = _sides(last, results) if last is not None and left > 1 else None
    if last is not None and sides is not None:
        rewriter.inline(Region(ops=list(ops[:-1])))
        first, second = [
            partial(_rest, rewriter, loop, region.ops, values, left)
            for region, values in zip(last.regions, sides, strict=True)
        ]
        return _either(rewriter, new[last.operands[0]], first, second)
    rewriter.inline(Region(ops=list(ops)))
    known, handed = constant_of(go), [new[value] for value in following]
    goes = new[go] if known is None else rewriter.build.constant(BOOL, known)
    if left == 1 or known is False:
        return goes, *handed
    if known:
        return _rounds(rewriter, loop, handed, left - 1)
    return _either(
        rewriter,
        goes,
        lambda: _rounds(rewriter, loop, handed, left - 1),
        lambda: (rewriter.build.constant(BOOL, False), *handed),
    )


def _sides(op: Op, results: Sequence[Value]) -> list[list[Value]] | None:
    """What a round hands on after each side of a branch that ends it, where that says whether the
    loop goes on, and it does so after one side at most."""
    go = results[0]
    if op.code != "if" or (go is not op.operands[0] and go not in op.results):
        return None
    sides = [[goes_by(op, side, go), *left_by(op, side, results[1:])] for side in (0, 1)]
    return sides if any(constant_of(goes) is False for goes, *_ in sides) else None


def _either(
    rewriter: Rewriter,
    condition: Value,
    first: Callable[[], Sequence[Value]],
    second: Callable[[], Sequence[Value]],
) -> Sequence[Value]:
    sides, before = [], dict(rewriter.new)
    for make in (first, second):
        side = Region()
        with rewriter.build.inside(side):
            side.results = tuple(make())
        sides.append(side)
        rewriter.new.update(before)  # later rounds have given the loop's values others
    types = [value.type for value in sides[0].results]
    names = [value.name for value in sides[0].results]
    return rewriter.build.append("if", [condition], types, sides, names)
