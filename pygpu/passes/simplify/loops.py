"""Loops with less to carry: a carried value that never changes is its initial value, two that go
through the same values are one, and a loop that never goes on is its body.

    loop (i = 0, j = 0) { next ..., i + 1, j + 1 }  ->  loop (i = 0) { next ..., i + 1 }
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, constant_of, walk


def settle_loops(function: Function) -> Function:
    """The function with its loops so settled; itself where there is nothing to settle."""
    loops = [op for op in walk(function.body) if op.code == "loop"]
    if not any(_runs_once(op) or _settled(op) for op in loops):
        return function
    return rewrite(function, _settle)


def _runs_once(op: Op) -> bool:
    return constant_of(op.regions[0].results[0]) is False


def _settled(op: Op) -> dict[int, int]:
    """Which carried values need not be carried: i -> i for one that never changes, i -> j for one
    that is always equal to j, which stays."""
    (body,) = op.regions
    found: dict[int, int] = {}
    alike: dict[Any, list[int]] = {}  # those that stay and begin alike, by how they go on
    for i, (initial, param) in enumerate(zip(op.operands, body.params, strict=True)):
        following = body.results[i + 1]
        if following is param or following is initial:
            found[i] = i
            continue
        others = [alike.setdefault((initial, key), []) for key in _ways(following)]
        same = [j for other in others for j in other if _same_round(body, i, j)]
        if same:
            found[i] = min(same)
        else:
            for other in others:
                other.append(i)
    return found


def _ways(following: Value) -> list[Any]:
    """How a carried value goes on, in which it has one in common with those that may equal it."""
    op = following.op
    if op is None or op.regions:
        return [following]
    return [following, (op.code, op.data)]


def _same_round(body: Region, i: int, j: int) -> bool:
    """Whether carried values i and j, if equal, are equal in the next round."""
    one, other = body.results[i + 1], body.results[j + 1]
    if one is other:
        return True
    a, b = one.op, other.op
    if a is None or b is None or a.regions or b.regions:
        return False
    pair = (body.params[i], body.params[j])
    return (
        a.code == b.code
        and a.code != "constant"
        and a.data == b.data
        and all(x is y or (x, y) == pair for x, y in zip(a.operands, b.operands, strict=True))
    )


def _settle(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    if op.code != "loop":
        return None
    (body,) = op.regions
    if _runs_once(op):
        rewriter.new.update(zip(body.params, operands, strict=True))
        rewriter.inline(body)
        return [rewriter.new[value] for value in body.results[1:]]
    settled = _settled(op)
    if not settled:
        return None
    keep = [i not in settled for i in range(len(operands))]
    params = [Value(value.type, value.name) for value in body.params]
    for i, j in settled.items():
        rewriter.new[body.params[i]] = operands[i] if i == j else params[j]
    new = Region(tuple(compress(params, keep)))
    rewriter.new.update(compress(zip(body.params, params, strict=True), keep))
    with rewriter.build.inside(new):
        rewriter.inline(body)
        go, *following = [rewriter.new[value] for value in body.results]
        new.results = (go, *compress(following, keep))
    initial = tuple(compress(operands, keep))
    kept = iter(rewriter.build.again(op, initial, [new], compress(op.results, keep)))
    results = [
        next(kept) if is_kept else param for is_kept, param in zip(keep, params, strict=True)
    ]
    for i, j in settled.items():
        results[i] = operands[i] if i == j else results[j]
    return results
