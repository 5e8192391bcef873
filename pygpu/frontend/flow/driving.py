"""Loops over generators: the generator is walked, and at each `yield` the body of the loop.

So what makes an item stands where its `yield` does: under the generator's conditions, in its
loops, be they unrolled or loops of the device. Meanwhile the function whose loop it is waits: its
variables are an object's parts, so that they are joined where paths of the generator meet.

    def steps(x):
        while x > 1:                # a loop of the device, its body that of the `for`
            yield x
            x = x / 2
    for x in steps(im(p)):
        total += x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pygpu.bytecode import ITERATOR_SLOTS
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.flow.paths import RAISED, RESULT, RETURN, ControlFlow, Outcome, still_read
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.lazy import Suspended
from pygpu.frontend.values.objects import Iterator, Waiting
from pygpu.frontend.values.states import State, reachable

with later():
    from pygpu.frontend.flow import dropped, generators, handling

_FINISHED = -5  # where the generator has ended, the loop with it
_FAILED = -6  # where it has raised
_CODES = 4096  # exits of one loop, each of a number of its own


def suspended(w: ControlFlow, state: State) -> Suspended | None:
    """The generator that the next loop is over, if it is over one."""
    iterator = state.stack[-ITERATOR_SLOTS]
    w.state = state
    source = w.read(iterator)[0] if isinstance(iterator, Iterator) else None
    return source if isinstance(source, Suspended) else None


def drive(
    w: ControlFlow,
    frame: Frame,
    header: int,
    state: State,
    stops: frozenset[int],
    ask: Callable[[State], Outcome],
) -> Outcome | None:
    """A loop over a generator; None where it is over something else. `ask` walks it item by item:
    what else leads to the generator may take some too, and more after a loop that is left early."""
    source = suspended(w, state)
    if source is None or frame.graph.blocks[header] - 1 != header:
        return None
    w.state = frame.state = state
    frame.at = header
    if frame.suspends and _yields(frame, header):
        return ask(state)
    ways = [lambda state: _Drive(w, frame, header, stops, source).walk(state), ask]
    if not _is_named(w, frame, state):
        return ways[0](state)
    if len(frame.graph.exits(header)) > 1:
        ways.reverse()
    try:
        with w.attempt() as trial:
            return trial.made(lambda: ways[0](state.fork()))
    except CompileError:
        return ways[1](state)


def _yields(frame: Frame, header: int) -> bool:
    """Whether a loop's body yields: a generator asked for an item cannot wait amid another."""
    bodies = [(block, frame.graph.blocks[block]) for block in frame.graph.loops[header]]
    code = frame.code.instructions
    return any(i.op == "YIELD" for start, end in bodies for i in code[start:end])


def _is_named(w: ControlFlow, frame: Frame, state: State) -> bool:
    """Whether something leads to a loop's iterator besides the loop and its own variable."""
    read = [i.arg for i in frame.code.instructions if i.op == "LOAD"]
    held = [v for name, v in state.locals.items() if read.count(name) > 1]
    held += [*state.stack[:-ITERATOR_SLOTS], *w.kept]
    for other in w.frames:
        if other is not frame and other.state is not None:
            held += [*other.state.locals.values(), *other.state.stack]
    return state.stack[-ITERATOR_SLOTS] in reachable(held, state)


class _Drive:
    """A loop that its generator drives."""

    def __init__(
        self, w: ControlFlow, frame: Frame, header: int, stops: frozenset[int], source: Suspended
    ) -> None:
        graph = frame.graph
        meets = [e for e in graph.exits(header) if len(graph.forward_predecessors(e)) > 1]
        self.w = w
        self.frame = frame
        self.header = header
        self.body = graph.blocks[header]
        self.stops = stops.union((header,), meets)
        self.source = source
        self.generator: Waiting = source.of[0]
        # what its variables were: kept where it has ended, if it may be closed on another path
        self.begun: Mapping[str, Any] = w.read(source.of[0]) if self.generator in w.guarded else {}
        self.function = Waiting({})  # the function whose loop it is
        self.exits: dict[int, int] = {}  # where the body leaves the loop to: a number of its own

    def walk(self, state: State) -> Outcome:
        w, frame = self.w, self.frame
        w.kept.append(self.function)
        state.locals = still_read(w, frame.code, self.header, state)
        w.write(self.function, generators.packed(self.header, state))
        frame.state = None
        outcome = generators.go_on(
            w, self.source.code, self.source.globals, self.generator, self._item
        )
        frame.state = state
        frame.at = self.header
        w.kept.remove(self.function)
        return self._leave(outcome)

    def _item(self, state: State, item: Any, end: int) -> Outcome:
        """Walk the body of the loop for an item, and then go on with the generator."""
        w = self.w
        contents = w.read(self.function)
        _, locals, stack = generators.unpacked(contents, contents[generators.AT])
        inner = State(locals, [*stack, item], state.heap, state.facts)
        with dropped.driven(w, self.generator, (self.function, state, end)):
            outcome = w.enter(self.frame, self.body, inner, self.stops)
        self.frame.state = None
        self.frame.at = self.header
        exits: dict[int, State] = {}
        codes: dict[int, int] = {}
        for target, reached in outcome.exits.items():
            codes[target] = self._code(target, end)
            if target == RAISED:
                exits[RAISED] = reached
                continue
            reached.locals = still_read(w, self.frame.code, target, reached)
            heap = {**reached.heap, self.function: generators.packed(max(target, 0), reached)}
            if target == self.header:
                made = State(state.locals, [*state.stack, None], heap, reached.facts)
            else:
                if self.generator not in w.guarded:
                    heap[self.generator] = {generators.AT: generators.LEFT}
                elif heap[self.generator][generators.AT] == generators.RUNNING:
                    heap[self.generator] = generators.at_yield(state, end)
                made = State({}, [], heap, reached.facts)
            exits[codes[target]] = made
        return Outcome(exits, {codes[target]: guard for target, guard in outcome.guards.items()})

    def _code(self, target: int, end: int) -> int:
        """Where in the generator a path goes on that arrives somewhere in the function."""
        if target == self.header:
            return end
        if target == RAISED:
            return RAISED
        return self.exits.setdefault(target, -_CODES * self.function.serial - len(self.exits))

    def _leave(self, outcome: Outcome) -> Outcome:
        """The paths out of the generator as paths out of the loop."""
        after = self.frame.code.instructions[self.header].arg
        targets = {code: target for target, code in self.exits.items()}
        error = self._error(outcome)
        targets |= {RETURN: _FINISHED, RAISED: RAISED if error is None else _FAILED}
        exits: dict[int, State] = {}
        for code, reached in outcome.exits.items():
            result = reached.stack[-1] if code == RETURN else None
            if targets[code] != RAISED:
                contents = reached.heap.pop(self.function, self.function.initial)
                _, locals, stack = generators.unpacked(contents, contents[generators.AT])
                reached = State(locals, stack, reached.heap, reached.facts)
            if code == RETURN:
                del reached.stack[-ITERATOR_SLOTS:]
                reached.heap[self.generator] = {**self.begun, generators.AT: generators.ENDED}
                if self.frame.code.instructions[after].op == "RESULT":
                    reached.locals[RESULT] = result
            exits[targets[code]] = reached
        made = Outcome(exits, {targets[code]: guard for code, guard in outcome.guards.items()})
        if _FAILED in exits:  # to the handler around the loop

            def fail(frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
                frame.at = self.header
                return handling.leave(self.w, frame, state, error)

            made = self.w.advance(self.frame, made, _FAILED, self.stops, fail)
        if _FINISHED not in exits:
            return made
        return self.w.advance(
            self.frame,
            made,
            _FINISHED,
            self.stops,
            lambda frame, block, state, stops: Outcome.one(after, state),
        )

    def _error(self, outcome: Outcome) -> Any:
        """What the generator raises where the loop stands in a `try`; else None."""
        raised = outcome.exits.get(RAISED)
        return (
            raised.stack[0]
            if raised and raised.stack and handling.has_handler(self.frame)
            else None
        )
