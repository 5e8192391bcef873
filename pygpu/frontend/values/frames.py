"""The frames of a walk: the functions that are being walked, each called by the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygpu import bytecode
from pygpu.core.errors import HOME, Place
from pygpu.core.host.records import record
from pygpu.frontend.values.faults import Raising
from pygpu.frontend.values.lazy import Suspended
from pygpu.frontend.values.objects import Waiting
from pygpu.frontend.values.states import State
from pygpu.ssa import Call


class Frame:
    """A function being walked."""

    __slots__ = (
        *("_doomed", "at", "call", "caller", "code", "conditions", "driver", "globals"),
        *("graph", "name", "plans", "raising", "state", "stored", "suspends"),
    )

    def __init__(self, code: bytecode.Code, globals: dict[str, Any], caller: Frame | None) -> None:
        self.code = code
        self.graph = code.graph
        self.plans: Any = None  # what executes each instruction, once that was asked for
        self.globals = globals
        self.name = code.code.co_qualname
        self.caller = caller
        self.call: Call | None = Call(caller.call) if caller else None
        self.at = 0  # the instruction being walked
        self.state: State | None = None
        self.raising: list[Raising] = []  # what the instruction raises, to be handled
        self.conditions: Any = None  # the dynamic branches and loops around its call
        self._doomed: frozenset[int] | None = None
        # Of a generator: what becomes of an item, from the state, the item and where to go on.
        self.driver: Callable[[State, Any, int], Any] | None = None
        self.suspends = False  # whether it waits at the item then
        self.stored: dict[str, int] = {}  # the instruction that last assigned each variable

    def place(self, at: int | None = None) -> Place:
        """Where the instruction stands in the user's source; for our own functions, which are
        walked as well, where they were called."""
        if self.caller and self.code.code.co_filename.startswith(HOME):
            return self.caller.place()
        span = self.code.instructions[self.at if at is None else at].span
        caller = self.caller.place() if self.caller else None
        file = self.code.code.co_filename
        line = span.line or self.code.code.co_firstlineno
        return Place(file, self.name, line, span.end_line, span.column, span.end_column, caller)

    def line(self) -> int:
        """The line of that place."""
        frame = self
        while frame.caller and frame.code.code.co_filename.startswith(HOME):
            frame = frame.caller
        return frame.code.instructions[frame.at].span.line or frame.code.code.co_firstlineno

    def raises(self) -> bool:
        """Whether the basic block that is being walked ends by raising."""
        blocks = self.graph.blocks.items()
        end = next(end for start, end in blocks if start <= self.at < end)
        return self.code.instructions[end - 1].op == "RAISE"

    def doomed(self) -> frozenset[int]:
        """The blocks from which every path leaves the function by one `raise` of something new."""
        if self._doomed is None:
            raises: dict[int, frozenset[int]] = {}
            for block in reversed(self.graph.order):
                at = self.graph.blocks[block] - 1
                last, after = self.code.instructions[at], self.graph.successors[block]
                if last.op == "RAISE" and last.arg and not after:
                    raises[block] = frozenset((at,))
                elif after and last.op != "YIELD" and raises.keys() >= set(after):
                    raises[block] = frozenset[int]().union(*[raises[each] for each in after])
            self._doomed = frozenset([block for block, all in raises.items() if len(all) == 1])
        return self._doomed


@record(frozen=False)
class Guarded:
    """A generator with handlers: the call that has made it and, while a loop is driven by it, the
    loop's function, the state at its `yield`, and where it goes on."""

    source: Suspended
    owner: Call | None
    driven: tuple[Waiting, State, int] | None = None
