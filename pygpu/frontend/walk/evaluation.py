"""What rules are given: the world of a walk, and Python's protocols on the values in it.

`Evaluation` answers each question of an `Evaluator` by the room that knows. How blocks of
instructions are walked is for `Walker` to say, which is made on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pygpu.core.builder import Builder
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.calls import calls
from pygpu.frontend.calls.native import native
from pygpu.frontend.flow import attempts, choices
from pygpu.frontend.flow.attempts import Attempt
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.protocols import datamodel, operators, sequences
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.environment import Environment
from pygpu.frontend.values.evaluator import Condition, Mark
from pygpu.frontend.values.faults import Fault, Faults, PathEnds
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.heap import Heap
from pygpu.frontend.values.objects import Object, Thrown
from pygpu.frontend.values.states import Meanings, State
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Tuple

with later():
    from pygpu.frontend.collections import bounded
    from pygpu.frontend.flow import generators, handling
    from pygpu.frontend.methods import methods
    from pygpu.frontend.protocols import attributes, comparisons, indexing, lookups


class Evaluation(ControlFlow):
    """The world at one point of a walk, and what may be asked there."""

    # What is asked most often: the heap itself answers.
    peek: Callable[[Object], Any]  # type: ignore[assignment]
    read: Callable[[Object], Any]  # type: ignore[assignment]
    write: Callable[[Object, Any], None]  # type: ignore[assignment]

    def __init__(self, build: Builder, faults: Faults) -> None:
        self.build = build
        self.faults = faults
        self.meanings = Meanings()
        self.frames = []
        self.heap = heap = Heap(self.error, lambda has: bounded.collected(self, has.rows, has.room))
        self.peek, self.read, self.write = heap.peek, heap.read, heap.write
        self.conditions: tuple[Condition, ...] = ()
        self.steps = 0
        self.unrolled = 0
        self.inlined = 0
        self.undone = 0  # operations that were emitted and taken back
        self.too_deep = 0  # how often calls were nested too deep, in attempts, too
        self.tried = Counter[Any]()
        self.kept = [faults.cell]
        self.guarded = {}
        self.fresh = None
        self.environment = Environment()

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def error(self, message: str) -> CompileError:
        """A CompileError at the instruction being walked."""
        return CompileError(message, self.frames[-1].place() if self.frames else None)

    @property
    def state(self) -> State:
        return self.heap.state

    @state.setter
    def state(self, state: State) -> None:
        self.heap.state = state

    def in_sight(self, handles: Iterable[Object], beside: Object | None = None) -> bool:
        return generators.in_sight(self, handles, beside)

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        return calls.call(self, function, args, keywords)

    def native(self, function: Any, args: Iterable[Any], keywords: Mapping[str, Any]) -> Any:
        return native(self, function, tuple(args), keywords)

    def mark(self, state: State | None = None) -> Mark:
        return attempts.mark(self, state)

    def rewind(self, to: Mark, until: int | None = None) -> None:
        attempts.rewind(self, to, until)

    def attempt(self, since: Mark | None = None) -> Attempt:
        return Attempt(self, since)

    def attribute(self, value: Any, name: str) -> Any:
        return attributes.attribute(self, value, name)

    def method(self, value: Any, name: str) -> Builtin | None:
        return methods.method(self, value, name)

    def special(self, value: Any, name: str) -> Any:
        return datamodel.find_method(self, value, name)

    def item(self, container: Any, index: Any) -> Any:
        return indexing.item(self, container, index)

    def length(self, value: Any) -> Any:
        return indexing.length(self, value)

    def items(self, value: Any) -> tuple[Any, ...]:
        return sequences.items_of(self, value)

    def iterate(self, value: Any) -> Any:
        return sequences.iterate(self, value)

    def next(self, iterator: Any) -> Any:
        return sequences.advance_iterator(self, iterator)

    def send(self, iterator: Any, value: Any) -> Any:
        return generators.send(self, iterator, value)

    def throw(self, iterator: Any, error: Any) -> Any:
        return generators.throw(self, iterator, error)

    def truth(self, value: Any) -> Any:
        if type(value) is Choice:
            return choices.truth(self, value)
        return comparisons.truth(self, value)

    def choose(self, test: Any, a: Any, b: Any) -> Any:
        return lookups.choose(self, test, a, b)

    def unary(self, symbol: str, a: Any) -> Any:
        return operators.unary(self, symbol, a)

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        return operators.binary(self, symbol, a, b)

    def compare(self, symbol: str, a: Any, b: Any) -> Any:
        return comparisons.compare(self, symbol, a, b)

    # ------------------------------------------------------------ faults

    def check(self, wrong: Any, error: type[BaseException], message: str, *args: Any) -> None:
        if not isinstance(wrong, Dynamic) and not wrong:
            return
        if self.handled():
            self.may_raise(wrong, error, message, *args)
            return
        if not self.faults.checked:
            return
        number = self.faults.number(Fault(error, message, self.frame.place()))
        if isinstance(wrong, Dynamic):
            fault = self.faults.possible(self.build, self.state, wrong.value, number)
        else:
            fault = self.faults.first(self.build, self.state, number)
        self.write(self.faults.cell, fault)

    def may_raise(self, wrong: Any, error: type[BaseException], message: str, *args: Any) -> None:
        if not self.handled():
            return
        if any(isinstance(each, Abstract) for each in args):
            fault = Fault(error, message, self.frame.place())
            raised = self.faults.raised(fault, Thrown(error, {"args": Tuple(args)}))
        else:
            known = error(*(args or ([message] if message else [])))
            raised = self.faults.raised(Fault(error, message, self.frame.place(), known))
        if isinstance(wrong, Dynamic):
            handling.note(self, wrong, raised, self.state.fork())
        elif wrong:
            raise PathEnds(raised) if raised.held is not None else known

    def handled(self) -> bool:
        has_some = any(frame.code.handlers for frame in self.frames)
        return has_some and handling.is_awaited(self.frames)

    def lenient(self) -> bool:
        return bool(self.conditions) and not self.handled()
