"""Branches and loops in native code, for the cells of a block.

Where all pixels of a block agree, these are branches and loops of the machine. Where lanes may
disagree, both sides are computed and chosen from, or each side runs under a mask of the lanes that
take it, if there are any; lanes that have left a loop keep their values until none is live.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pygpu.codegen.llvm.block import STOP, Block, Masks
from pygpu.codegen.llvm.flow import Branch, Loop
from pygpu.codegen.llvm.schedule import Cell
from pygpu.codegen.llvm.text import Val
from pygpu.passes.analysis.variance import X
from pygpu.ssa import Op, Value


def _results(block: Block, op: Op, side: int, cells: Sequence[Cell]) -> list[Val]:
    """What a side of a branch hands on, component by component."""
    return [
        part
        for result, value in zip(op.results, op.regions[side].results, strict=True)
        for cell in block.cells_of(result, cells)
        for part in block.spread(result, block.get(value, cell))
    ]


def _assign(
    block: Block, values: Sequence[Value], cells: Sequence[Cell], parts: Sequence[Val]
) -> None:
    """Let these components, one after the other, be those of the values."""
    rest = iter(parts)
    for value in values:
        for u, r in block.cells_of(value, cells):
            block.env[value, u, r] = tuple([next(rest) for _ in range(value.type.size)])


def uniform_if(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """All pixels of the block take the same side."""
    branch = Branch(block.code, block.get(op.operands[0], (0, 0))[0])
    parts = []
    for side, region in enumerate(op.regions):
        with branch.side():
            block.region(region, cells, masks)
            parts.append(_results(block, op, side, cells))
    _assign(block, op.results, cells, branch.join(*parts))


def both_sides(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """Both sides cost little and have no loops: compute both, choose by lane."""
    for region in op.regions:
        block.region(region, cells, masks)
    _choose(block, op, cells)


def _choose(block: Block, op: Op, cells: Sequence[Cell]) -> None:
    first, second = op.regions
    for result, a, b in zip(op.results, first.results, second.results, strict=True):
        if result in block.plan.going:  # what stands beside it is not looked at
            a = b = a if block.plan.going[result] == 0 else b
        for cell in block.cells_of(result, cells):
            (condition,) = block.get(op.operands[0], cell)
            pairs = zip(block.get(a, cell), block.get(b, cell), strict=True)
            block.set(result, cell, tuple([block.code.select(condition, *p) for p in pairs]))


def divergent_if(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """Each side runs where any lane takes it, under a mask of those that do.

    Where only rows disagree, the vectors of a row are taken together: they share scalars, which a
    vector of lanes that have all left a loop must not replace.
    """
    if block.plan.meeting:
        groups = [cells]
    elif block.bits[op.operands[0]] & X:
        groups = [[cell] for cell in cells]
    else:
        groups = [
            [cell for cell in cells if cell[1] == r] for r in dict.fromkeys(r for _, r in cells)
        ]
    for group in groups:
        sides = [_one_side(block, op, side, group, masks) for side in range(2)]
        holders = [
            block.get(op.operands[0], cell)[0]
            for result in op.results
            for cell in block.cells_of(result, group)
            for _ in range(result.type.size)
        ]
        choices = zip(holders, *sides, strict=True)
        _assign(block, op.results, group, [block.code.select(*choice) for choice in choices])


def _one_side(block: Block, op: Op, side: int, cells: Sequence[Cell], masks: Masks) -> list[Val]:
    """What a side hands on, component by component; zeros where no lane of the cells takes it."""
    code, taking = block.code, Masks()
    for cell in cells:
        (condition,) = block.get(op.operands[0], cell)
        taken, outer = condition if side == 0 else ~condition, masks[cell]
        mask = taken if outer is None else taken & outer
        taking[cell] = code.splat(mask, block.machine.lanes) if mask.lanes > 1 else mask
    somewhere = [code.anywhere(mask) for mask in taking.values() if mask is not None]
    branch = Branch(code, reduce(Val.__or__, somewhere))
    with branch.side():
        block.region(op.regions[side], cells, taking)
        parts = _results(block, op, side, cells)
    with branch.side():
        blank = [code.constant(part.kind, 0, part.lanes) for part in parts]
    return branch.join(parts, blank)


def loop(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """A loop, by whether all pixels leave it together."""
    go = op.regions[0].results[0]
    if block.bits[go] & X:
        _divergent_loop(block, op, cells, masks)
    else:
        _uniform_loop(block, op, cells, masks)


def _uniform_loop(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """All pixels of the block leave together."""
    body = op.regions[0]
    with Loop(block.code, _carried(block, op, op.operands, cells)) as rounds:
        _assign(block, body.params, cells, rounds.params)
        block.region(body, cells, masks)
        following = _carried(block, op, body.results[1:], cells)
        (go,) = block.get(body.results[0], cells[0])
        _poll(block, op)
        rounds.next(go, following)
    _assign(block, op.results, cells, rounds.results)


def _divergent_loop(block: Block, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
    """Lanes that have left keep their values; the loop ends when none is live.

    A parameter that is the same for all live lanes is a scalar inside; what each lane leaves with
    is kept beside it.
    """
    code, body, lanes = block.code, op.regions[0], block.machine.lanes
    live = [_live(block, cell, masks[cell]) for cell in cells]
    start = _carried(block, op, op.operands, cells)
    kept = [
        (index, cell)
        for index, param in enumerate(body.params)
        if not block.bits[param] & X
        for cell in cells
    ]
    before = [
        code.splat(part, lanes) for i, cell in kept for part in block.get(op.operands[i], cell)
    ]
    with Loop(code, [*live, *start, *before]) as rounds:
        alive, inside, outside = _split(rounds.params, len(live), len(start))
        _assign(block, body.params, cells, inside)
        of_cell: Masks = dict(zip(cells, alive, strict=True))
        block.region(body, cells, of_cell)
        following = _frozen(block, op, cells, of_cell, inside)
        leaving = [
            code.splat(part, lanes)
            for i, cell in kept
            for part in block.get(body.results[i + 1], cell)
        ]
        holders = [of_cell[cell] for i, cell in kept for _ in range(body.params[i].type.size)]
        after = [
            code.select(mask, part, old)
            for mask, part, old in zip(holders, leaving, outside, strict=True)
            if mask is not None
        ]
        still = [
            mask & code.splat(block.get(body.results[0], cell)[0], lanes)
            for cell, mask in zip(cells, alive, strict=True)
        ]
        _poll(block, op)
        rounds.next(code.anywhere(reduce(Val.__or__, still)), [*still, *following, *after])
    _, inside, outside = _split(rounds.results, len(live), len(start))
    _leave(block, op, cells, inside, outside)


def _split(
    values: Sequence[Val], first: int, second: int
) -> tuple[Sequence[Val], Sequence[Val], Sequence[Val]]:
    end = first + second
    return values[:first], values[first:end], values[end:]


def _leave(
    block: Block, op: Op, cells: Sequence[Cell], inside: Sequence[Val], outside: Sequence[Val]
) -> None:
    """Name what a divergent loop left: parameters, and what was kept of scalar ones."""
    carried, kept = iter(inside), iter(outside)
    for param, result in zip(op.regions[0].params, op.results, strict=True):
        count = len(block.cells_of(param, cells)) * param.type.size
        parts = [next(carried) for _ in range(count)]
        if block.bits[param] & X:
            _assign(block, [result], cells, parts)
            continue
        for cell in cells:
            block.set(result, cell, tuple([next(kept) for _ in range(param.type.size)]))


def _carried(block: Block, op: Op, values: Sequence[Value], cells: Sequence[Cell]) -> list[Val]:
    """Values for the parameters of a loop, component by component."""
    return [
        part
        for param, value in zip(op.regions[0].params, values, strict=True)
        for cell in block.cells_of(param, cells)
        for part in block.spread(param, block.get(value, cell))
    ]


def _frozen(
    block: Block, op: Op, cells: Sequence[Cell], live: Masks, old: Sequence[Val]
) -> list[Val]:
    """The next parameters: of lanes that are live; the old ones of the others."""
    body, rest, result = op.regions[0], iter(old), []
    for param, value in zip(body.params, body.results[1:], strict=True):
        for cell in block.cells_of(param, cells):
            mask = live[cell] if block.bits[param] & X else None
            for part in block.spread(param, block.get(value, cell)):
                before = next(rest)
                result.append(part if mask is None else block.code.select(mask, part, before))
    return result


def _live(block: Block, cell: Cell, mask: Val | None) -> Val:
    """The lanes that a loop runs for: those in the image, where nothing else is known."""
    code = block.code
    if mask is not None:
        return code.splat(mask, block.machine.lanes)
    x = block.env[block.f.x, cell[0], 0][0]
    return x < code.splat(block.width, block.machine.lanes)


def _poll(block: Block, op: Op) -> None:
    """Leave the function where the caller has asked for it."""
    if op in block.plan.bounded:
        return
    block.stops = True
    code, pointer = block.code, block.code.argument(STOP, "ptr")
    flag = code.fixed("int", 1, f"load atomic i32, ptr {pointer.text} monotonic, align 4")
    stop = code.fixed("bool", 1, f"icmp ne i32 {flag.text}, 0")
    label = code.fresh("on")
    code.terminate(f"br i1 {stop.text}, label %stopped, label %{label}", label)
