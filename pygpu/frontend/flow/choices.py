"""Values that are one of several: what instructions do with them, and what tests say of them.

An instruction on a choice is executed for each option, on a path of its own, as if the program had
asked which it is. A test of one (`x is None`, `if x`, `mode == "soft"`) says on its two sides which
options are left; where one is left, that is what a variable holds there. The same is known of ints
that are remainders: after tests for 0 to 4, `i % 6` is 5.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.flow.paths import ControlFlow, Outcome
from pygpu.frontend.methods.changing import MUTATING
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import arrays, datamodel
from pygpu.frontend.rules import object_calls
from pygpu.frontend.values.callables import Bound, Builtin, Function
from pygpu.frontend.values.kinds import Text
from pygpu.frontend.values.lazy import Row
from pygpu.frontend.values.objects import Array, Dict, List, Object, Set, youngest
from pygpu.frontend.values.states import State, reachable, settled
from pygpu.frontend.values.values import Abstract, Choice, Conflict, Dynamic, describe
from pygpu.frontend.values.views import several_of
from pygpu.ssa import Value, constant_of

with later():
    from pygpu.frontend.flow import branches, excluded, handling

MEET: Final = -4  # where the paths of the options meet again
REMAINDERS: Final = 64  # numbers that remainders are told apart by

# How many of the topmost values an instruction looks into.
_OPERANDS: Final = {
    "ATTR": 1,
    "DELATTR": 1,
    "DELITEM": 2,
    "SETATTR": 1,
    "SETITEM": 2,
    "BINARY": 2,
    "CALL_EX": 4,
    "COMPARE": 2,
    "IN": 2,
    "ITEM": 2,
    "ITER": 1,
    "LEN": 1,
    "MATCH_KEYS": 2,
    "METHOD": 1,
    "UNARY": 1,
    "UNPACK": 1,
    "UNPACK_EX": 1,
}
# Of instructions that change an object: how far from the top it is.
_CHANGED: Final = {"BINARY": 2, "DELATTR": 1, "DELITEM": 2, "SETATTR": 1, "SETITEM": 2}
_WALKED: Final = (Function, Bound, type(describe))


def looked(op: str, arg: Any) -> tuple[int, bool]:
    """How many of the topmost values an instruction looks into: where one of them is a choice,
    `chosen` is to be asked. And whether it may change one of them, so that `aim` is to be asked."""
    if op == "CALL":
        return arg[0] + 2, True
    changes = op in _CHANGED and (op != "BINARY" or arg[-1] == "=")
    return _OPERANDS.get(op, 0), changes


# ---------------------------------------------------------------- what tests say


def possible(w: ControlFlow, choice: Choice) -> frozenset[int]:
    """The options that a choice can be here, by number."""
    every = frozenset(range(len(choice.options)))
    return w.state.facts.get(choice.which.value, every)


def narrowed(w: ControlFlow, value: Any) -> Any:
    """What a variable holds: the only option that is left, where one is."""
    return settled(value, w.state.facts)


def loaded(w: ControlFlow, choice: Choice) -> Any:
    """What a variable holds that is one of several values: an error where it may not be set."""
    value = settled_by_tests(w, choice)
    if type(value) is Choice:
        for number in _without(w, value, _cannot_be_read):
            excluded.raises_unset(w, value, number)
        return narrowed(w, value)
    if _cannot_be_read(value):
        raise w.error(value.message)
    return value


def _cannot_be_read(value: Any) -> bool:
    return isinstance(value, Conflict) and not isinstance(value, Text)


def _without(w: ControlFlow, choice: Choice, is_odd: Callable[[Any], bool]) -> list[int]:
    """Note which odd options a choice cannot be, by the tests that led here. Gives the others."""
    left = possible(w, choice)
    odd = [i for i in left if is_odd(choice.options[i])]
    if not odd or len(odd) == len(left):
        return odd
    out = frozenset([i for i in odd if excluded.is_excluded(w, choice, i)])
    if out:
        w.state.facts = {**w.state.facts, choice.which.value: left - out}
    return [i for i in odd if i not in out]


def settled_by_tests(w: ControlFlow, choice: Choice) -> Any:
    """What a choice is, less what it cannot be by tests of what is read beside it in a table."""
    value = choice.which.value
    if value.op is not None and value.op.code == "table":
        found = excluded.left(w, value)
        if found is not None and possible(w, choice) & found:
            w.state.facts = {**w.state.facts, value: possible(w, choice) & found}
    return narrowed(w, choice)


def is_one_of(
    w: ControlFlow, subject: Dynamic, numbers: frozenset[int], left: frozenset[int]
) -> Any:
    """Whether an int is one of some numbers, where those in `left` are all that it can be."""
    if not numbers or numbers == left:
        return bool(numbers)
    found: Any = False
    for number in sorted(numbers):
        found = arithmetic.either(w, found, arithmetic.compare(w, "==", subject, number))
    w.meanings.known[found.value] = (subject.value, numbers, left - numbers)
    return found


def negated(w: ControlFlow, condition: Any) -> Any:
    """The opposite of a test, which says the opposite."""
    made = arithmetic.negate(w, condition)
    if isinstance(condition, Dynamic) and condition.value in w.meanings.known:
        subject, yes, no = w.meanings.known[condition.value]
        w.meanings.known[made.value] = (subject, no, yes)
    return made


def is_same(w: ControlFlow, a: Any, b: Any, inverted: bool) -> Any:
    """`a is b`, where one of them is a choice."""
    if type(a) is type(b):
        found = _any_pair(w, a, b, operator.is_)
        return negated(w, found) if inverted else found
    choice, other = (a, b) if isinstance(a, Choice) else (b, a)
    left = possible(w, choice)
    same = frozenset([i for i in left if choice.options[i] is other])
    found = is_one_of(w, choice.which, same, left)
    return negated(w, found) if inverted else found


def truth(w: ControlFlow, choice: Choice) -> Any:
    """bool(choice)"""
    left = possible(w, choice)
    truths = {i: w.truth(choice.options[i]) for i in left}
    found: Any = False
    for i, true in truths.items():
        here = is_one_of(w, choice.which, frozenset((i,)), left)
        found = arithmetic.either(w, found, arithmetic.both(w, here, true))
    if isinstance(found, Dynamic):
        yes = frozenset([i for i, true in truths.items() if true is not False])
        no = frozenset([i for i, true in truths.items() if true is not True])
        w.meanings.known[found.value] = (choice.which.value, yes, no)
    return found


def compare_remainder(w: ControlFlow, symbol: str, a: Any, b: Any) -> Any:
    """What is asked of a remainder, or of a choice's length; None where it is no such test."""
    value, number = (a, b) if isinstance(a, Dynamic) else (b, a)
    if type(value) is not Dynamic or type(number) is not int:
        return None
    counted = w.meanings.counts.get(value.value)
    if counted:
        which, counts = counted
        left = w.state.facts.get(which.value, frozenset(range(len(counts))))
        sides = {i: (counts[i], b) if value is a else (a, counts[i]) for i in left}
        held = frozenset([i for i in left if arithmetic.compare(w, symbol, *sides[i])])
        return is_one_of(w, which, held, left)
    count = _remainders(value.value) if symbol in ("==", "!=") else None
    if count is None:
        return None
    left = w.state.facts.get(value.value, frozenset(range(count)))
    found = is_one_of(w, value, left & {number}, left)
    return negated(w, found) if symbol == "!=" else found


def _remainders(value: Value) -> int | None:
    """How many numbers from 0 on a value can be, if it is a remainder of few."""
    op = value.op
    if op is None or value.type.kind != "int" or op.code != "mod":
        return None
    divisor: Any = constant_of(op.operands[1])
    if not isinstance(divisor, int) or not 1 <= divisor <= REMAINDERS:
        return None
    return divisor


_PLAIN: Final = (str, bytes, enum.Enum, type, types.FunctionType, types.NoneType)
_VIEWS: Final[tuple[type, ...]] = type({}.keys()), type({}.values())
_CONTAINERS: Final[tuple[type, ...]] = (tuple, list, set, frozenset, dict, *_VIEWS)


def _is_plain(value: Any) -> bool:
    """Whether all that a value may be is known, and equal to others or not."""
    if type(value) is Choice:
        return all(isinstance(option, _PLAIN) for option in value.options)
    return isinstance(value, _PLAIN)


def _is_known(state: State, container: Any) -> bool:
    """Whether all is known of what a container holds, of a dict of its keys."""
    if not isinstance(container, (Dict, List, Set)):
        return isinstance(container, _CONTAINERS)
    held = state.get(container)
    return isinstance(held, (tuple, dict)) and not any(isinstance(item, Abstract) for item in held)


def asked(w: ControlFlow, a: Any, b: Any, ask: Callable[[Any, Any], Any]) -> Any:
    """What is asked of a known value and a choice of known values (`mode == "soft"`): which options
    are left on its two sides is known then. None where it is of something else."""
    choice = a if type(a) is Choice else b
    if type(choice) is not Choice or not _is_plain(a):
        return None
    if not _is_plain(b) and not _is_known(w.state, b):
        return None
    if type(a) is type(b):
        return _any_pair(w, a, b, ask)
    left = possible(w, choice)
    answers = {i: ask(*(choice.options[i] if v is choice else v for v in (a, b))) for i in left}
    return is_one_of(w, choice.which, frozenset([i for i in left if answers[i]]), left)


# What is asked of all options of a choice at once.
OF_ALL: Final = (isinstance, np.isscalar)


def holds(w: ControlFlow, ask: Any, choice: Choice, *more: Any) -> Any:
    """What is asked of a choice: isinstance(choice, cls), np.isscalar(choice)."""
    left = possible(w, choice)
    held = [i for i in left if w.call(ask, choice.options[i], *more)]
    return is_one_of(w, choice.which, frozenset(held), left)


def _any_pair(w: ControlFlow, a: Choice, b: Choice, ask: Callable[[Any, Any], Any]) -> Any:
    """What is asked of two choices: whether they are two options of which it holds."""
    pairs = itertools.product(possible(w, a), possible(w, b))
    same = [_both(w, (a, i), (b, j)) for i, j in pairs if ask(a.options[i], b.options[j])]
    return functools.reduce(functools.partial(arithmetic.either, w), same, False)


def _both(w: ControlFlow, one: tuple[Choice, int], other: tuple[Choice, int]) -> Any:
    """Whether two choices are certain options."""
    tests = [
        is_one_of(w, choice.which, frozenset((place,)), possible(w, choice))
        for choice, place in (one, other)
    ]
    return arithmetic.both(w, *tests)


# ---------------------------------------------------------------- instructions


def chosen(state: State, op: str, arg: Any) -> int | None:
    """Which of the operands of the next instruction, from the top of the stack, is a choice that
    it must be executed for option by option."""
    stack = state.stack
    if op == "IN" or (op == "COMPARE" and arg in ("==", "!=")):
        container = stack[-1] if op == "IN" else None
        if _is_plain(stack[-2]) and (_is_plain(stack[-1]) or _is_known(state, container)):
            return None  # asked of all options at once: see `asked`
    if op == "CALL":
        count: int = arg[0]
        first, second = stack[-count - 1], stack[-count - 2]
        if type(first) is Choice or type(second) is Choice:
            return count + 1 if type(first) is Choice else count + 2
        if any(each is first or each is second for each in OF_ALL):
            return None
        if isinstance(first, _WALKED) or isinstance(second, _WALKED):
            return None  # what it does with a choice is seen in it
        count_looked = count
    else:
        count_looked = _OPERANDS.get(op, 0)
    for place in range(1, count_looked + 1):
        if type(stack[-place]) is Choice:
            return place
    return None


def aim(w: ControlFlow, state: State, op: str, arg: Any) -> None:
    """Where an instruction changes a joined object, put the choice of the objects that it may be in
    its place on the stack: the instruction is then executed for each."""
    stack = state.stack
    if op == "CALL":
        for place in (arg[0] + 1, arg[0] + 2):
            callee = stack[-place]
            several = several_of(w, callee.owner) if type(callee) is Builtin else None
            if several is not None and _changes(callee):
                methods = tuple([w.attribute(option, callee.name) for option in several.options])
                stack[-place] = Choice(several.which, methods, "")
        count, names = arg
        callees = stack[-count - 2 : -count] if count else []
        changed = [count] if any(map(_is_changing, callees)) else []
        changed += [len(names) - names.index("out")] if "out" in names else []
        for place in changed:
            several = several_of(w, stack[-place])
            stack[-place] = stack[-place] if several is None else several
        return
    place = _CHANGED[op]
    if op == "BINARY" and _is_stored_back(w, stack):
        row = stack[-2]
        stack[-2] = arrays.opened(w, row) if isinstance(row, Row) else Array(w.read(row))
        return
    several = several_of(w, stack[-place])
    if several is not None and (op != "BINARY" or _changes_in_place(arg, stack[-place])):
        stack[-place] = several


def _is_stored_back(w: ControlFlow, stack: list[Any]) -> bool:
    """Whether a row of an array is changed in place that is stored there next: `a[n] += v`."""
    if len(stack) < 4 or type(stack[-4]) is not Array or type(stack[-2]) not in (Array, Row):
        return False
    if type(stack[-2]) is Row:
        return True
    return stack[-2] in w.heap.aliases.views(stack[-4].whole)


def _is_changing(function: Any) -> bool:
    return any(each is function for each in object_calls.CHANGING)


def _changes(method: Builtin) -> bool:
    kind = datamodel.class_of(method.owner)
    return any(method.name in MUTATING.get(base, ()) for base in kind.__mro__)


def _changes_in_place(symbol: str, value: Object) -> bool:
    return symbol[-1] == "=" and isinstance(value, (Array, Dict, List, Set))


def renew(w: ControlFlow) -> None:
    """Make joined objects anew of which one of the objects that they may be has changed."""
    stale, w.heap.stale = w.heap.stale, []
    seen: set[Object] | None = None
    for view in dict.fromkeys(stale):
        several = several_of(w, view)
        if several is None or not isinstance(w.peek(view), Conflict):
            continue
        if seen is None:
            seen = reachable(branches.in_sight(w, w.frame, w.state), w.state)
        if view not in seen:
            continue  # no variable leads to it: its values may be of a region that has been left
        first, *others = several.options
        for option in several.options:
            if type(option) is Array and option.base is not None:
                w.state.heap.pop(option, None)  # a view holds what its base holds
        before = youngest()
        try:
            with w.attempt() as trial:
                found = first
                for number, option in enumerate(others, 1):
                    here = arithmetic.compare(w, "==", several.which, number)
                    found = w.choose(here, option, found)
                trial.keep(found)
        except CompileError:
            continue
        w.state.heap[view] = w.state.get(found)
        held = reachable((view,), w.state)
        seen |= held
        for option in several.options:
            w.heap.aliases.forget(option, before, held)


Instruction = tuple[str, Any, Callable[[State], None]]  # its name, its argument, and what it does


def execute(w: ControlFlow, state: State, place: int, what: Instruction) -> Outcome:
    """Execute an instruction for each option of a choice on the stack: the paths of those where it
    does not raise arrive at MEET."""
    choice = state.stack[-place]
    settled_by_tests(w, choice)
    _without(w, choice, lambda option: option is None)
    return _rest(w, state, place, choice, sorted(possible(w, choice)), what)


def _rest(
    w: ControlFlow, state: State, place: int, choice: Choice, left: list[int], what: Instruction
) -> Outcome:
    frame = w.frame
    op, arg, step = what

    def run(number: int, own: State) -> Outcome:
        w.state = frame.state = own
        own.facts = {**own.facts, choice.which.value: frozenset((number,))}
        option = choice.options[number]
        own.stack[-place] = option
        if looked(op, arg)[1]:
            aim(w, own, op, arg)
        another = chosen(own, op, arg)
        before = own.stack.copy() if another is not None else []
        try:
            step(own)
        except Exception as error:
            if another is None or frame is not w.frame:
                return failed(number, own, error)
        else:
            return handling.part(w, frame, own, partial(Outcome.one, MEET))
        own.stack = before
        return execute(w, own, another, what)

    def failed(number: int, own: State, error: Exception) -> Outcome:
        if frame is w.frame and handling.is_handled(w, frame, error):
            return handling.leave(w, frame, own, handling.raised(w, frame, error))
        if frame is w.frame and len(choice.options) > 1:
            if excluded.is_excluded(w, choice, number):
                return Outcome({}, {})
            if isinstance(error, _UNUSABLE) and excluded.is_excluded(w, choice, number, nan=False):
                return handling.leave(w, frame, own, handling.raised(w, frame, TypeError()))
        if choice.options[number] is None and isinstance(error, _UNUSABLE):
            raise w.error(choice.unusable()) from error
        raise error

    if len(left) == 1:
        return run(left[0], state)
    first, *others = left
    condition = arithmetic.compare(w, "==", choice.which, first)
    other = state.fork()
    return branches.branch(
        w,
        frame,
        condition.value,
        lambda: run(first, state),
        lambda: _rest(w, other, place, choice, others, what),
    )


_UNUSABLE: Final = (TypeError, AttributeError, CompileError)  # what is said of a use of None
