"""Decides, before any text is printed, which values become expressions and which variables.

A value used once becomes part of the expression that uses it; others get a variable. Values that
follow each other (what a loop carries, what the sides of a branch leave) share one variable where
their lives do not overlap, so that no copies are printed.

    plan = make_plan(function)
    value in plan.inlined        # printed where it is used
    plan.variable[value]         # the Variable of any other value that is not free
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Final

from pygpu.core.host.records import record
from pygpu.ssa import Function, Op, Region, Value, walk

# Operations in one expression: enough for a row of a window, whose texels then need no variables.
LARGEST: Final = 18
BRANCH: Final = 10  # operations in a branch that is printed as `c ? a : b`
CHOOSING: Final = frozenset("select bit_and bit_or".split())  # they may leave operands uncomputed


@record(eq=False, frozen=False)
class Variable:
    """What one or more values live in, and when: from position to position, in printing order."""

    values: list[Value]
    lives: list[tuple[int, int]]
    name: str = ""  # given when it is declared

    def meets(self, other: Variable) -> bool:
        return any(a < d and c < b for a, b in self.lives for c, d in other.lives)


@record(frozen=False)
class Plan:
    """See the module's head. `free` values are printed at every use: constants, parameters of the
    function, sizes, components of a variable."""

    function: Function
    uses: dict[Value, int] = field(default_factory=dict)
    free: set[Value] = field(default_factory=set)
    inlined: set[Value] = field(default_factory=set)
    apart: frozenset[str] = frozenset()  # codes of operations whose operands are variables
    held: frozenset[str] = frozenset()  # codes of operations whose results are variables
    calling: frozenset[str] = frozenset()  # codes of those that are not chosen within expressions
    choices: set[Op] = field(default_factory=set)  # branches printed as `c ? a : b`
    variable: dict[Value, Variable] = field(default_factory=dict)
    roles: dict[Value, str] = field(default_factory=dict)  # what unnamed values are called
    parted: Op | None = None  # the branch that ends the function, if its sides end it themselves

    def is_live(self, op: Op) -> bool:
        return any(value in self.uses for value in op.results)

    def is_expression(self, value: Value) -> bool:
        return value in self.inlined or value in self.free

    def is_statement(self, op: Op) -> bool:
        """Whether the op is printed where it stands."""
        return self.is_live(op) and not all(map(self.is_expression, op.results))

    def operands(self, op: Op) -> list[Value]:
        """What the expression of an op reads; for a choice also what its sides leave."""
        if op not in self.choices:
            return list(op.operands)
        index = self.used_results(op)[0]
        return [*op.operands, *(region.results[index] for region in op.regions)]

    def reads(self, value: Value) -> set[Variable]:
        """The variables that the text of a value contains."""
        if value in self.variable:
            return {self.variable[value]}
        if value.op is None:
            return set()
        return {each for operand in self.operands(value.op) for each in self.reads(operand)}

    def writes(self, op: Op) -> set[Variable]:
        """The variables that a statement assigns, inner statements included."""
        found = {self.variable[value] for value in op.results if value in self.variable}
        for region in op.regions:
            found.update(*(self.writes(inner) for inner in region.ops if self.is_statement(inner)))
        return found

    def used_results(self, op: Op) -> list[int]:
        return [index for index, value in enumerate(op.results) if value in self.uses]


def make_plan(
    function: Function,
    is_parted: bool = False,
    apart: frozenset[str] = frozenset(),
    held: frozenset[str] = frozenset(),
    calling: frozenset[str] = frozenset(),
) -> Plan:
    """The plan of a function. Operands of the operations `apart` are variables, and results of
    those that are `held`. What is chosen by `c ? a : b`, or stands beside `&&`, is a variable where
    its expression has an operation of `calling`.
    `is_parted` says that each side of a branch that ends the function, and makes all its results,
    ends it by itself: what the sides leave goes into no common variables."""
    plan = Plan(function, apart=apart, held=held, calling=calling)
    if is_parted:
        plan.parted = _last_branch(function)
    plan.free.update(function.body.params)
    _count(plan, function.body.results)
    scopes = _Scopes(function)
    _choose_expressions(plan, scopes, function.body, {})
    lives = _lives(plan, scopes)
    _share(plan, scopes, lives)
    _name_roles(plan, function.body)
    return plan


def _last_branch(function: Function) -> Op | None:
    """The branch that ends a function and makes all its results."""
    last = function.body.ops[-1] if function.body.ops else None
    if last is None or last.code != "if" or not set(function.outputs) <= set(last.results):
        return None
    return last


def _count(plan: Plan, wanted: Iterable[Value]) -> None:
    """Count the uses of all that the wanted values need."""
    open_ = list(wanted)
    seen: set[Op] = set()
    while open_:
        value = open_.pop()
        plan.uses[value] = plan.uses.get(value, 0) + 1
        op = value.op
        if op is None:
            continue
        if op.code == "if":
            index = op.results.index(value)
            if plan.uses[value] == 1:
                open_ += [region.results[index] for region in op.regions]
        if op not in seen:
            seen.add(op)
            open_ += op.operands
            if op.code == "loop":
                open_ += _handed_on(op.regions[0])


def _handed_on(body: Region) -> tuple[Value, ...]:
    """What the end of a loop's body reads. Where the body ends in a branch on whether to go on, its
    sides know that by themselves, and only what is carried is read."""
    last = body.ops[-1] if body.ops else None
    if last is not None and last.code == "if" and last.operands[0] is body.results[0]:
        return body.results[1:]
    return body.results


class _Scopes:
    """Where things stand: the innermost loop around each value, and positions in printing order."""

    def __init__(self, function: Function) -> None:
        self.loop: dict[Value, Op | None] = {}
        self.outer: dict[Op, Op | None] = {}  # the loop around a loop
        self.start: dict[Op, int] = {}
        self.end: dict[Op, int] = {}
        self.region_end: dict[int, int] = {}
        self.position = 0
        for value in function.body.params:
            self.loop[value] = None
        self.region(function.body, None)

    def step(self) -> int:
        """The next position. It is even, so that a life from it to the odd one after it meets none
        that begins later."""
        self.position += 2
        return self.position

    def region(self, region: Region, loop: Op | None) -> None:
        for op in region.ops:
            self.start[op] = self.step()
            inner = op if op.code == "loop" else loop
            if op.code == "loop":
                self.outer[op] = loop
            for each in op.regions:
                self.loop.update(dict.fromkeys(each.params, inner))
                self.region(each, inner)
            self.end[op] = self.step() if op.regions else self.start[op]
            self.loop.update(dict.fromkeys(op.results, loop))
        self.region_end[id(region)] = self.step()

    def read(self, value: Value, position: int, loop: Op | None) -> int:
        """Until when a value lives that is read at a position in a loop. Rounds repeat, so a value
        from before a loop lives to the loop's end."""
        while loop is not self.loop[value] and loop is not None:
            position = max(position, self.end[loop])
            loop = self.outer[loop]
        return position


# ---------------------------------------------------------------- expressions


def _choose_expressions(
    plan: Plan, scopes: _Scopes, region: Region, sizes: dict[Value, int]
) -> None:
    """Decide for each value of the region; `sizes` counts the operations in expressions."""
    used_in = _loops_of_uses(plan)
    named = {op.operands[0] for op in walk(region) if op.code in plan.apart}
    chosen: set[Value] = set()
    calls: set[Value] = set()  # expressions with an operation of `calling`
    if plan.calling:
        chosen = {each for op in walk(region) if op.code in CHOOSING for each in op.operands}
    for op in _inner_first(region):
        if not plan.is_live(op):
            continue
        if op.code == "if":
            _choose_branch(plan, op, sizes)
        if op.code == "loop" or (op.code == "if" and op not in plan.choices):
            continue
        value = op.results[plan.used_results(op)[0]]
        if _is_free(plan, op):
            plan.free.add(value)
            continue
        operands = plan.operands(op)
        size = 1 + sum(sizes.get(operand, 0) for operand in operands)
        if not (plan.uses[value] == 1 and used_in.get(value) is scopes.loop[value]):
            continue
        if size > LARGEST or value in named or op.code in plan.held:
            continue
        if op.code in plan.calling or not calls.isdisjoint(operands):
            if value in chosen:
                continue
            calls.add(value)
        plan.inlined.add(value)
        sizes[value] = size


def _inner_first(region: Region) -> Iterable[Op]:
    for op in region.ops:
        for inner in op.regions:
            yield from _inner_first(inner)
        yield op


def _loops_of_uses(plan: Plan) -> dict[Value, Op | None]:
    """The innermost loop around the (last) use of each value."""
    found: dict[Value, Op | None] = dict.fromkeys(plan.function.body.results)

    def visit(region: Region, loop: Op | None) -> None:
        for op in filter(plan.is_live, region.ops):
            found.update(dict.fromkeys(op.operands, loop))
            inner = op if op.code == "loop" else loop
            for each in op.regions:
                visit(each, inner)
                used = each.results
                if op.code == "if":
                    used = tuple([used[index] for index in plan.used_results(op)])
                found.update(dict.fromkeys(used, inner))

    visit(plan.function.body, None)
    return found


def _is_free(plan: Plan, op: Op) -> bool:
    if op.code in ("constant", "width", "height"):
        return True
    if op.code == "swizzle":
        (operand,) = op.operands
        return operand not in plan.inlined and not operand.type.is_scalar
    return False


def _choose_branch(plan: Plan, op: Op, sizes: dict[Value, int]) -> None:
    """An `if` with one small expression on each side becomes a choice."""
    used = plan.used_results(op)
    if len(used) != 1:
        return
    for region in op.regions:
        if any(plan.is_statement(inner) for inner in region.ops):
            return
        if sizes.get(region.results[used[0]], 0) > BRANCH:
            return
    plan.choices.add(op)


# ---------------------------------------------------------------- variables


def _lives(plan: Plan, scopes: _Scopes) -> dict[Value, int]:
    """Until when each value is read, expressions counted where they are printed."""
    last: dict[Value, int] = {}

    def read(value: Value, position: int, loop: Op | None) -> None:
        last[value] = max(last.get(value, 0), scopes.read(value, position, loop))

    def visit(region: Region, loop: Op | None) -> None:
        for op in reversed(region.ops):
            if not plan.is_live(op):
                continue
            if op in plan.choices or not op.regions:
                result = op.results[plan.used_results(op)[0]]
                position = last[result] if plan.is_expression(result) else scopes.start[op]
                for operand in plan.operands(op):
                    read(operand, position, loop)
                for inner in op.regions:
                    visit(inner, loop)
                continue
            inside = op if op.code == "loop" else loop
            for inner in op.regions:
                results = (
                    _handed_on(inner)
                    if op.code == "loop"
                    else [inner.results[index] for index in plan.used_results(op)]
                )
                end = scopes.end[op] if op.code == "loop" else scopes.region_end[id(inner)]
                for value in results:
                    read(value, end, inside)
                visit(inner, inside)
            for operand in op.operands:
                read(operand, scopes.start[op], loop)

    end = scopes.step()
    for value in plan.function.body.results:
        read(value, end, None)
    visit(plan.function.body, None)
    return last


def _share(plan: Plan, scopes: _Scopes, last: dict[Value, int]) -> None:
    """Give every value a variable, the same one to values that follow each other."""

    def own(value: Value, position: int) -> Variable:
        variable = Variable([value], [(position, max(last.get(value, 0), position + 1))])
        plan.variable[value] = variable
        return variable

    statements = [
        op
        for op in _inner_first(plan.function.body)
        if plan.is_statement(op) and op is not plan.parted
    ]
    for op in statements:
        for index, value in enumerate(op.results):
            if op.code == "loop":
                variable = own(op.regions[0].params[index], scopes.start[op])
                variable.values.append(value)
                end = scopes.end[op]
                variable.lives.append((end, max(last.get(value, 0), end + 1)))
                plan.variable[value] = variable
            elif value in plan.uses:
                own(value, scopes.end[op])
    for op in sorted(statements, key=scopes.start.__getitem__):
        for first, second in _followers(plan, op):
            _merge(plan, first, second)


def _followers(plan: Plan, op: Op) -> list[tuple[Value, Value]]:
    """Pairs of values of which the second takes over from the first."""
    if op.code == "loop":
        (body,) = op.regions
        pairs = list(zip(op.operands, body.params, strict=True))
        return pairs + list(zip(body.results[1:], body.params, strict=True))
    if op.code == "if":
        return [
            (region.results[index], op.results[index])
            for region in reversed(op.regions)
            for index in plan.used_results(op)
        ]
    return []


def _merge(plan: Plan, first: Value, second: Value) -> None:
    one, other = plan.variable.get(first), plan.variable.get(second)
    if one is None or other is None or one is other or one.meets(other):
        return
    one.values += other.values
    one.lives += other.lives
    for value in other.values:
        plan.variable[value] = one


def positions(plan: Plan, ops: Sequence[Op]) -> Callable[[Value], int]:
    """After how many of the ops, printed in order, a value is known."""
    after = {
        value: index + 1
        for index, op in enumerate(ops)
        for value in op.results
        if not plan.is_expression(value)
    }

    def find(value: Value) -> int:
        if value not in after:
            op = value.op
            operands = plan.operands(op) if op is not None and plan.is_expression(value) else []
            after[value] = max(map(find, operands), default=0)
        return after[value]

    return find


_EDGES: Final = {"width": "right_edge", "height": "bottom_edge"}


def _name_roles(plan: Plan, region: Region) -> None:
    """Texels, and the coordinates they are read at."""
    for op in _inner_first(region):
        if op.code == "load":
            plan.roles[op.result] = "texel"
            plan.roles.setdefault(op.operands[0], "x")
            plan.roles.setdefault(op.operands[1], "y")
        elif op.code in ("sub", "add") and op.operands[0].op is not None:
            edge = _EDGES.get(op.operands[0].op.code)
            if edge:
                plan.roles.setdefault(op.result, edge)
