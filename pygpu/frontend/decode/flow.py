"""The control-flow graph of one function: blocks, dominators, natural loops.

Pure graph theory: a graph is made from the number of instructions and the successors of those
that do not simply go on to the next.  A block is named by the index of its first instruction;
the entry is block 0; every block is reachable from it.

>>> graph = Graph(5, {1: (2, 4), 3: (1,), 4: ()})    # 1 tests, 3 jumps back, 4 returns
>>> graph.blocks, graph.loops
({0: 1, 1: 2, 2: 4, 4: 5}, {1: frozenset({1, 2})})
"""

from collections.abc import Iterator, Mapping
from typing import Final

_NOTHING: Final[Mapping[int, int | None]] = {}


class Graph:
    """The blocks of a function and what follows from their edges.

    `jumps` maps the index of each instruction that may go elsewhere than to the next to the
    indices it may go to, the next one included: a branch names two, a return none.  No reachable
    instruction may run past the last.  `raising`, needed where there are handlers of exceptions,
    maps the indices of instructions that may raise to where they go then, None out of the function;
    those of one block go to the same.
    """

    __slots__ = (
        "_forward",
        "_merges",
        "back_edges",
        "blocks",
        "guards",
        "idom",
        "loops",
        "number",
        "order",
        "predecessors",
        "reducible",
        "successors",
    )

    blocks: Final[dict[int, int]]
    """First instruction of each block to the index after its last, in the order of the code."""
    successors: Final[dict[int, tuple[int, ...]]]
    """Where each block may go, the fall-through first, without duplicates."""
    predecessors: Final[dict[int, tuple[int, ...]]]
    """Where each block may come from, in reverse postorder."""
    order: Final[tuple[int, ...]]
    """The blocks in reverse postorder: each comes before its successors, back edges apart."""
    number: Final[dict[int, int]]
    """Each block's position in `order`."""
    guards: Final[dict[int, frozenset[int]]]
    """The handlers that a block is the first to lead to: what they guard begins there."""
    idom: Final[dict[int, int]]
    """Each block's immediate dominator; the entry is its own."""
    back_edges: Final[frozenset[tuple[int, int]]]
    """The edges (block, header) that go to a dominator of where they come from."""
    loops: Final[dict[int, frozenset[int]]]
    """Each loop header's natural loop, the header included."""
    reducible: Final[bool]
    """Whether each loop has one entrance, its header."""

    def __init__(
        self,
        length: int,
        jumps: Mapping[int, tuple[int, ...]],
        raising: Mapping[int, int | None] = _NOTHING,
    ) -> None:
        self.blocks, self.successors = _blocks(length, jumps, raising)
        self.order = _reverse_postorder(self.successors)
        self.number = {block: place for place, block in enumerate(self.order)}
        predecessors: dict[int, list[int]] = {block: [] for block in self.order}
        for block in self.order:
            for successor in self.successors[block]:
                predecessors[successor].append(block)
        self.predecessors = {block: tuple(sources) for block, sources in predecessors.items()}
        self.idom = _dominators(self.order, self.number, self.predecessors)

        retreating = [
            (block, successor)
            for block in self.order
            for successor in self.successors[block]
            if self.number[successor] <= self.number[block]
        ]
        self.back_edges = frozenset(edge for edge in retreating if self.dominates(*edge[::-1]))
        self.reducible = len(self.back_edges) == len(retreating)
        self.loops = _loops(self.back_edges, self.number, self.predecessors)

        self._forward = dict(self.predecessors)
        for _, header in self.back_edges:
            self._forward[header] = tuple(
                block
                for block in self.predecessors[header]
                if (block, header) not in self.back_edges
            )
        merges: dict[int, list[int]] = {}
        for block in self.order[1:]:
            if len(self._forward[block]) > 1:
                merges.setdefault(self.idom[block], []).append(block)
        self._merges = {block: tuple(children) for block, children in merges.items()}
        guards: dict[int, set[int]] = {}
        for handler in {target for target in raising.values() if target in self.blocks}:
            guards.setdefault(self.idom[handler], set()).add(handler)
        self.guards = {block: frozenset(handlers) for block, handlers in guards.items()}

    def dominates(self, above: int, below: int) -> bool:
        """Whether every path from the entry to `below` passes `above`; each block its own too."""
        number, idom = self.number, self.idom
        while number[below] > number[above]:
            below = idom[below]
        return below == above

    def forward_predecessors(self, block: int) -> tuple[int, ...]:
        """The block's predecessors, those over back edges to it left out."""
        return self._forward[block]

    def merges(self, block: int) -> tuple[int, ...]:
        """The blocks right below `block` in the dominator tree where paths meet, in order."""
        return self._merges.get(block, ())

    def exits(self, header: int) -> tuple[int, ...]:
        """The blocks outside the loop that its blocks may go to, in order."""
        body = self.loops[header]
        outside = {target for block in body for target in self.successors[block]} - body
        return tuple(sorted(outside, key=self.number.__getitem__))


def _blocks(
    length: int, jumps: Mapping[int, tuple[int, ...]], raising: Mapping[int, int | None]
) -> tuple[dict[int, int], dict[int, tuple[int, ...]]]:
    """Each reachable block's end, and its successors."""
    starts = {0}
    for place, targets in jumps.items():
        starts.add(place + 1)
        starts.update(targets)
    before: int | None = None
    for place, handler in raising.items():
        if handler != before:
            starts.add(place)
        if handler is not None:
            starts.add(handler)
        before = handler
    starts.discard(length)
    bounds = sorted(starts)
    ends = dict(zip(bounds, [*bounds[1:], length], strict=True))

    successors: dict[int, tuple[int, ...]] = {}
    waiting = [0]
    while waiting:
        block = waiting.pop()
        if block in successors:
            continue
        end = ends[block]
        handlers = {raising[place] for place in range(block, end) if place in raising}
        targets = (*jumps.get(end - 1, (end,)), *[one for one in handlers if one is not None])
        assert all(target < length for target in targets), f"block {block} runs past the end"
        successors[block] = tuple(dict.fromkeys(targets))
        waiting.extend(targets)
    return {block: end for block, end in ends.items() if block in successors}, successors


def _reverse_postorder(successors: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The blocks, each before its successors; a branch's fall-through comes right after it."""
    postorder: list[int] = []
    seen = {0}
    path: list[tuple[int, Iterator[int]]] = [(0, reversed(successors[0]))]
    while path:
        block, rest = path[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                path.append((target, reversed(successors[target])))
                break
        else:
            postorder.append(block)
            path.pop()
    return tuple(reversed(postorder))


def _dominators(
    order: tuple[int, ...], number: Mapping[int, int], predecessors: Mapping[int, tuple[int, ...]]
) -> dict[int, int]:
    """Immediate dominators, by Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm"."""
    entry = order[0]
    idom = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [source for source in predecessors[block] if source in idom]
            nearest = known[0]
            for other in known[1:]:
                while nearest != other:
                    if number[nearest] > number[other]:
                        nearest = idom[nearest]
                    else:
                        other = idom[other]
            if idom.get(block) != nearest:
                idom[block] = nearest
                changed = True
    return idom


def _loops(
    back_edges: frozenset[tuple[int, int]],
    number: Mapping[int, int],
    predecessors: Mapping[int, tuple[int, ...]],
) -> dict[int, frozenset[int]]:
    """The natural loop of each header, outer headers first: all that reaches its back edges."""
    bodies: dict[int, set[int]] = {}
    for source, header in sorted(back_edges, key=lambda edge: number[edge[1]]):
        body = bodies.setdefault(header, {header})
        waiting = [source]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting.extend(predecessors[block])
    return {header: frozenset(body) for header, body in bodies.items()}
