"""The partial evaluator's control flow: walks canonical bytecode and builds SSA.

Straight code is executed on values that are known or dynamic (steps.py). A branch on a known
condition is taken; at a dynamic one both arms are walked, each in a region and a state of its own,
up to where the control-flow graph says that paths meet. Walking gives an `Outcome`: the places
that paths arrived at, each with its state and, where there are several, a guard, a bool that says
whether this path was taken. A loop over known things is unrolled; one that cannot be, or whose
unrolled form would exceed the budget, becomes a loop of the SSA, whose carried values are found
by walking the body until nothing changes any more: each leaf only climbs (known, then dynamic,
then a wider type), so it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pygpu import bytecode
from pygpu.core.builder import Builder
from pygpu.core.errors import HOME, Place
from pygpu.core.host.later import later
from pygpu.frontend.flow import choices, loops, turns
from pygpu.frontend.flow.choices import MEET
from pygpu.frontend.flow.paths import RAISED, RETURN, Outcome
from pygpu.frontend.values.faults import Faults, PathEnds, Stage
from pygpu.frontend.values.frames import Frame
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Choice
from pygpu.frontend.walk.evaluation import Evaluation
from pygpu.frontend.walk.plans import Plan, planned
from pygpu.frontend.walk.steps import STEPS

with later():
    from pygpu.frontend.effects import raising
    from pygpu.frontend.flow import branches, dropped, excluded, handling, options, runs
    from pygpu.frontend.walk import locating
    from pygpu.frontend.walked import written

STEP_LIMIT: Final = 5_000_000  # instructions walked for one program
EMIT_LIMIT: Final = 1_000_000  # operations emitted for one program, those taken back included
CALL_LIMIT: Final = 150  # calls inside calls
GIVE_UP: Final = 32  # times that they are nested deeper, in one attempt after the other
_NESTED: Final = (
    f"calls are nested {CALL_LIMIT} deep: recursion must end on known values; where it does not, "
    "write a while loop"
)
_GROWING: Final = (
    "a string grows in a loop, and how often the loop goes round is not known: put its letters in "
    "a list, as in letters.append(c), and take ''.join(letters)"
)

_NONE: Final[frozenset[int]] = frozenset()
_OF_PROGRAMS: Final = (Exception, GeneratorExit)  # what a program may raise and handle


class Walker(Evaluation):
    """Walks one function and everything it calls into one SSA function."""

    def __init__(self, build: Builder, checked: bool = False, stage: Stage = "") -> None:
        super().__init__(build, Faults(checked, stage))
        self.returns: list[tuple[Any, Place]] = []  # what the outermost function returned, where

    def inline(self, code: Any, globals: dict[str, Any], locals: dict[str, Any]) -> Any:
        """Walk a function's code with its parameters bound; the value it returns."""
        self.too_deep += len(self.frames) >= CALL_LIMIT
        if len(self.frames) >= CALL_LIMIT or self.too_deep > GIVE_UP:
            letters = vars(written.Joined)["letters"].fget.__code__  # of strings made of strings
            grows = any(frame.code.code is letters for frame in self.frames[-2:])
            raise self.error(_GROWING if grows else _NESTED)
        outer = self.state
        frame = Frame(bytecode.decode(code), globals, self.frames[-1] if self.frames else None)
        self.inlined += 1
        outcome = self.enter(frame, 0, State(locals, [], outer.heap, outer.facts), _NONE)
        inner, raised = outcome.exits.get(RETURN), outcome.exits.get(RAISED)
        self.state = outer
        if inner is None:
            if raised is None:
                raise self.error(f"{frame.name} never returns")
            outer.heap = raised.heap
            raise PathEnds(raised.stack[0] if raised.stack else None)
        outer.heap = inner.heap
        if raised is not None:
            handling.keep(self, outcome, raised, inner)
        result = inner.stack[-1]
        if type(result) is Choice and any(option is None for option in result.options):
            is_ours = frame.code.code.co_filename.startswith(HOME)
            name = frame.caller.name if is_ours and frame.caller else frame.name
            why = f"{name}() {'meets' if is_ours else 'returns'} None on one path"
            return Choice(result.which, result.options, why)
        return result

    def enter(self, frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
        """As `run`, in a frame that is entered for it and left again. What Python raises in it may
        be caught by who called it: so the walk is then where it was, with the effects so far."""
        outer, conditions, call = self.state, self.conditions, self.build.call
        before = frame.conditions
        self.frames.append(frame)
        if before is None:
            frame.conditions = conditions
        self.build.call = frame.call
        try:
            return self.run(frame, block, state, stops)
        except _OF_PROGRAMS:
            if self.conditions is conditions:
                outer.heap = self.state.heap
            self.state, self.conditions = outer, conditions
            raise
        finally:
            frame.conditions = before
            self.frames.pop()
            self.build.call = call

    def run(
        self, frame: Frame, block: int, state: State, stops: frozenset[int], force: bool = False
    ) -> Outcome:
        """Walk from a block until every path is at one of `stops` or has returned. With `force`
        the block itself is walked though it is a stop or a loop's header."""
        outcome = Outcome.one(block, state)
        if force:
            outcome = self.block(frame, block, state, stops)
        while True:
            if len(outcome.exits) == 1:  # as after most blocks
                ((target, state),) = outcome.exits.items()
                if target < 0 or target in stops:
                    return outcome
                outcome = self._enter(frame, target, state, stops)
                continue
            pending = [t for t in outcome.exits if t >= 0 and t not in stops]
            if not pending:
                return outcome
            target, others = pending[0], stops
            if len(pending) > 1:
                target = min(pending, key=frame.graph.number.__getitem__)
                others = stops.union(t for t in pending if t != target)
            outcome = self.advance(frame, outcome, target, others, self._enter)

    def _enter(self, frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
        if block in frame.graph.loops:
            return loops.loop(self, frame, block, state, stops)
        return self.block(frame, block, state, stops)

    def advance(
        self,
        frame: Frame,
        outcome: Outcome,
        target: int,
        stops: frozenset[int],
        walk: Callable[[Frame, int, State, frozenset[int]], Outcome],
    ) -> Outcome:
        """Go on from one of an outcome's exits, under its guard where there are others."""
        if len(outcome.exits) == 1:
            return walk(frame, target, outcome.exits[target], stops)
        condition, wanted = outcome.guards[target]
        rest = {t: s for t, s in outcome.exits.items() if t != target}
        guards = {t: outcome.guards[t] for t in rest} if len(rest) > 1 else {}
        stay = Outcome(rest, guards)

        def on() -> Outcome:
            return walk(frame, target, outcome.exits[target], stops)

        arms = (on, lambda: stay) if wanted else (lambda: stay, on)
        return branches.branch(self, frame, condition, *arms)

    def block(self, frame: Frame, block: int, state: State, stops: frozenset[int]) -> Outcome:
        """Walk one basic block; dynamic branches at its end are walked up to where they meet. Where
        it is the first in a `try`, all that is guarded is walked up to the handler."""
        guards = frame.graph.guards.get(block, _NONE)
        if not guards <= stops:
            inner = stops.union(guards, frame.graph.merges(block))
            return self.run(frame, block, state, inner, force=True)
        end = frame.graph.blocks[block]
        if self.conditions and block in frame.doomed():
            frame.at = end - 1
            if not self.handled():
                self.state = frame.state = state
                raised = self.faults.raised(raising.doom(frame, block))
                return handling.leave(self, frame, state, raised)
        self.steps += end - block + 2  # a block costs something itself
        if self.steps > STEP_LIMIT:
            frame.at = block
            raise self.error(
                f"more than {STEP_LIMIT} steps at compile time: "
                "is there a loop over known values that does not end?"
            )
        if self.build.count + self.undone > EMIT_LIMIT:
            frame.at = block
            raise self.error(
                f"more than {EMIT_LIMIT} operations at compile time, most of them in vain: lists, "
                "strings and dicts of which only the device knows what they hold are too long here"
            )
        if frame.code.handlers:
            stops = stops.union(frame.graph.merges(block))
        return self._walk(frame, block, block, state, stops)

    def _parted(
        self, frame: Frame, block: int, at: int, state: State, stops: frozenset[int]
    ) -> Outcome:
        """Part the paths of what an instruction has raised, and walk on after it."""
        own = partial(self._walk, frame, block, at + 1)
        return handling.part(self, frame, state, partial(_until, own, stops))

    def _walk(
        self, frame: Frame, block: int, start: int, state: State, stops: frozenset[int]
    ) -> Outcome:
        """Walk a block from one of its instructions on."""
        self.state = frame.state = state
        end, plans = frame.graph.blocks[block], frame.plans
        heap, guarded = self.heap, self.guarded
        if plans is None:
            plans = frame.plans = planned(frame.code)
        last = frame.code.instructions[end - 1]
        try:
            for at in range(start, end if plans[end - 1] else end - 1):
                frame.at = at
                step, arg, looked, changes = plan = plans[at]
                if heap.stale:
                    choices.renew(self)
                if changes:
                    choices.aim(self, state, frame.code.instructions[at].op, arg)
                if looked and _has_choice(state.stack, looked):
                    op = frame.code.instructions[at].op
                    runs.listed(self, state, op, arg)
                    if options.at_once(self, state, op, arg):
                        if frame.raising:
                            return self._parted(frame, block, at, state, stops)
                        continue
                    place = choices.chosen(state, op, arg)
                    if place is not None:
                        each = op, arg, partial(_step, self, plan)
                        outcome = choices.execute(self, state, place, each)
                        if list(outcome.exits) != [MEET]:
                            rest = partial(self._after, block, at + 1)
                            return self._on(frame, outcome, MEET, stops, rest)
                        state = outcome.exits[MEET]
                        self.state = frame.state = state
                        continue
                step(self, state, arg)
                if frame.raising:
                    return self._parted(frame, block, at, state, stops)
                if guarded:
                    dropped.close(self, frame, state)
            if heap.stale:
                choices.renew(self)
            return self._end(frame, block, state, last, stops)
        except (PathEnds, *_OF_PROGRAMS) as error:
            if frame is not self.frames[-1]:
                raise
            if isinstance(error, PathEnds):
                if error.error is not None:
                    return handling.leave(self, frame, state, error.error)
                return Outcome.one(RAISED, State({}, [], state.heap))
            unbound = isinstance(error, NameError) and excluded.is_for_nan(self)
            if not unbound and not handling.is_handled(self, frame, error):
                placed = locating.located(self, error)
                if placed is error:
                    raise
                raise placed from None
            frame.raising = []
            return handling.leave(self, frame, state, handling.raised(self, frame, error))

    def _end(
        self,
        frame: Frame,
        block: int,
        state: State,
        last: bytecode.Instruction,
        stops: frozenset[int],
    ) -> Outcome:
        frame.at = frame.graph.blocks[block] - 1
        outcome = self._turn(frame, block, state, last, stops)
        if frame.raising:
            handling.refuse_parting(self)
        return outcome

    def _after(
        self, block: int, start: int, frame: Frame, target: int, state: State, stops: frozenset[int]
    ) -> Outcome:
        return self._walk(frame, block, start, state, stops)

    def _on(
        self,
        frame: Frame,
        outcome: Outcome,
        target: int,
        stops: frozenset[int],
        walk: Callable[[Frame, int, State, frozenset[int]], Outcome],
    ) -> Outcome:
        """Go on from one of an outcome's exits, if it is there."""
        if target not in outcome.exits:
            return outcome
        return self.advance(frame, outcome, target, stops, walk)

    def _turn(
        self,
        frame: Frame,
        block: int,
        state: State,
        last: bytecode.Instruction,
        stops: frozenset[int],
    ) -> Outcome:
        """What ends a block."""
        end = frame.graph.blocks[block]
        match last.op:
            case "BRANCH":
                return turns.branch_on(self, frame, block, state, last.arg, stops)
            case "FOR":
                return turns.next_round(self, frame, block, state, last.arg, stops)
            case "JUMP":
                return Outcome.one(last.arg, state)
            case "RAISE" | "RERAISE":
                return handling.leave(self, frame, state, raising.raised_by(self, state, last))
            case "RETURN":
                result = state.stack.pop()
                if not frame.caller:
                    self.returns.append((result, frame.place()))
                return Outcome.one(RETURN, State({}, [result], state.heap, state.facts))
            case "YIELD":
                if frame.driver is not None:
                    outcome: Outcome = frame.driver(state, state.stack.pop(), end)
                    return outcome
                STEPS["YIELD"](self, state, None)
        return Outcome.one(end, state)


def _has_choice(stack: list[Any], looked: int) -> bool:
    """Whether one of the topmost values is a choice."""
    if stack[-1].__class__ is Choice:
        return True
    if looked == 2:
        return stack[-2].__class__ is Choice
    return looked > 2 and Choice in map(type, stack[-looked:])


def _until(
    walk: Callable[[State, frozenset[int]], Outcome], stops: frozenset[int], state: State
) -> Outcome:
    return walk(state, stops)


def _step(w: Walker, plan: Plan, state: State) -> None:
    plan.step(w, state, plan.arg)
