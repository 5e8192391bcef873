"""Where the paths of a walk arrive.

An `Outcome` says at which blocks paths have arrived, each with the state there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Protocol

from pygpu.bytecode import Code
from pygpu.core.host.records import record
from pygpu.frontend.decode import liveness
from pygpu.frontend.values.evaluator import Evaluator, Mark
from pygpu.frontend.values.frames import Frame, Guarded
from pygpu.frontend.values.objects import Iterator, Waiting
from pygpu.frontend.values.states import Meanings, State, reachable
from pygpu.frontend.values.values import Key
from pygpu.ssa import Value
from pygpu.types import BOOL, Type

RETURN: Final = -1  # the exit of a frame
RAISED: Final = -3  # where a path ends by raising
SUSPENDED: Final = -2  # where a generator's frame stops, the item on its stack
FEW_EXITS: Final = 8  # of a loop, each with a state of its own
SHORT: Final = 24  # instructions of a block that is taken for part of the loop before it


class ControlFlow(Evaluator, Protocol):
    """An evaluator's control flow, as loops and generators use it."""

    unrolled: int  # iterations of loops that were unrolled
    inlined: int  # calls that were walked
    tried: Counter[Any]  # how often a `while` loop was walked on in vain for its end
    guarded: dict[Waiting, Guarded]  # generators with handlers that may wait
    fresh: Iterator | None  # the last that an ITER has made
    meanings: Meanings  # what conditions say

    def run(
        self, frame: Frame, block: int, state: State, stops: frozenset[int], force: bool = False
    ) -> Outcome:
        """Walk from a block until every path is at one of `stops` or has returned. With `force`
        the block itself is walked though it is a stop or a loop's header."""

    def enter(self, frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
        """As `run`, in a frame that is entered for it and left again."""

    def rewind(self, to: Mark, until: int | None = None) -> None:
        """Undo all that was walked since the mark; objects older than `until` were made by that."""

    def advance(
        self,
        frame: Frame,
        outcome: Outcome,
        target: int,
        stops: frozenset[int],
        walk: Callable[[Frame, int, State, frozenset[int]], Outcome],
    ) -> Outcome:
        """Go on from one of an outcome's exits, under its guard where there are others."""


@record(frozen=False)
class Outcome:
    """Where paths arrived, and which was taken: a bool and the truth it must have, or None."""

    exits: dict[int, State]
    guards: dict[int, tuple[Value, bool]]

    @classmethod
    def one(cls, target: int, state: State) -> Outcome:
        return cls({target: state}, {})


def guard(w: Evaluator, outcome: Outcome, target: int) -> Value:
    """The guard of one target, as a value in the region being built."""
    if target not in outcome.exits or len(outcome.exits) == 1:
        return w.build.constant(BOOL, target in outcome.exits)
    value, wanted = outcome.guards[target]
    return value if wanted else w.build.emit("not", value)


def zero(w: Evaluator, type: Type) -> Value:
    """What stands for a value that is never used."""
    return w.build.constant(type, 0)


def still_read(w: ControlFlow, code: Code, block: int, state: State) -> dict[str, Any]:
    """Of a state's variables those that are read from a block on, and those that hold a generator
    which is closed once they do not."""
    wanted = liveness.still_read(code, block, state.locals)
    if w.guarded and len(wanted) < len(state.locals):
        for name, value in state.locals.items():
            if name not in wanted and not w.guarded.keys().isdisjoint(reachable([value], state)):
                wanted = {**wanted, name: value}
    return wanted


RESULT: Final = ".result"  # the variable of what the generator returned that a loop has ended


def name_of(key: Key) -> str:
    return key[0] if isinstance(key[0], str) and key[0].isidentifier() else ""


def exits_of(frame: Frame, header: int) -> set[int]:
    """Where a loop is left to. Each such place costs a bool and a state that branches hand on, so
    where there are many, what is done on the way to where they meet is taken for part of it."""
    exits = set(frame.graph.exits(header))
    return exits if len(exits) <= FEW_EXITS else beyond_all(frame, header)


def beyond_all(frame: Frame, header: int) -> set[int]:
    """Where its exits lead to, see _beyond."""
    exits = frame.graph.exits(header)
    return {target for block in exits if (target := _beyond(frame, block)) is not None}


def _beyond(frame: Frame, block: int) -> int | None:
    """Where execution goes from a short block that nothing else leads to, as far as that is known;
    None where it leaves the function."""
    graph = frame.graph
    while len(graph.forward_predecessors(block)) == 1 and graph.blocks[block] - block <= SHORT:
        if not graph.successors[block]:
            return None
        following = graph.successors[block][0]
        if len(graph.successors[block]) > 1 or following in graph.loops:  # perhaps of an outer loop
            break
        block = following
    return block
