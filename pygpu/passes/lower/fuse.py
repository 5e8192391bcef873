"""Makes products that go into one sum part of it, rounded once: `fma`.

    %0 = mul a, b; %1 = add %0, c  ->  %1 = fma a, b, c

This runs before anything else, on the function as it was walked, and decides by the expression
alone: no later pass and no code generator rounds otherwise. So an expression has the same bits
whichever pixel computes it, whatever else its pixel computes, and however pixels share work. A
product goes into a sum where

- nothing else in the function that adds uses it, and the other part does not depend on the same
  product: `x*k - floor(x*k)` is never negative;
- the other part is no product that is taken from it, or that it is taken from: `a*b - c*d` is zero
  for equal products. Of two that are added the second goes in. Nothing but where they stand may
  say which: how their factors were computed, a function of equal arguments must not see;
- the product was made in the call of the function that adds, or in calls which that made. A
  function of equal arguments has equal bits: so nothing outside its call is looked at, neither how
  what it was given was computed, nor what becomes of what it gives.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.passes.simplify.cse import constant_key
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.rules import made_by, number
from pygpu.ssa import Call, Function, Op, Value, has, walk

with later():
    from pygpu.passes.simplify import nesting

SEEN: Final = 64  # values that are looked at for what a part of a sum depends on


def fuse(function: Function) -> Function:
    """The function with products in their sums, and nested as deep as passes take it."""
    if has(function, "if"):
        function = nesting.bound_nesting(function)
    sums = _Sums(function)
    special = {"add": sums.take, "sub": sums.take, "mul": sums.leave, "pow": sums.leave}
    return remove_dead(Gate(function, special).run())


class _Sums:
    """See the module's head: what becomes of sums."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.users = _users(function)
        self.chosen: dict[Op, int] = {}  # of sums, the operand that goes in
        self.gone: set[Op] = set()  # products that go into sums: no other value is computed alike
        sums, products = [], []
        for op in walk(function.body):
            if op.code in ("add", "sub") and op.results[0].type.kind == "float":
                sums.append(op)
            elif op.code in ("mul", "pow"):
                products.append(op)
        self.likeness = {product: _likeness(product) for product in products}
        self.like = Counter(self.likeness.values())
        for op in sums:
            index = self._product_of(op)
            if index is not None:
                self.chosen[op] = index
                product = op.operands[index].op
                if product is None or product.code == "neg":
                    continue
                if not self._is_repeated(product) and len(self.users[product.result]) == 1:
                    self.gone.add(product)

    @cached_property
    def same(self) -> _Numbers:
        return _Numbers(self.function)

    def _is_repeated(self, product: Op) -> bool:
        """Whether another value is computed as the product is. Numbers are made only where a look
        at the factors does not tell."""
        return self.like[self.likeness[product]] > 1 and (
            self.same.number(product.results[0]) in self.same.shared
        )

    def leave(self, gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        """What becomes of a product: nothing, where it is only part of a sum."""
        return op.results if op in self.gone else None

    def take(self, gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
        """What becomes of a sum or a difference."""
        made = self._sum(gate, op, operands)
        if made.op is not None and not made.name:
            made.name = op.result.name
        return [made]

    def _sum(self, gate: Gate, op: Op, operands: tuple[Value, ...]) -> Value:
        index = self.chosen.get(op)
        if index is None:
            return gate.emit(op.code, operands, None, op.results[0].type)
        factors, minus = _factors(op.operands[index])
        a, b = gate.mapped(factors)
        other = operands[1 - index]
        if op.code == "sub" and index == 0:
            other = gate("neg", other)
        elif op.code == "sub":
            minus = not minus
        a = gate("neg", a) if minus else a
        return gate.emit("fma", (a, b, other), None, op.results[0].type)

    def _product_of(self, op: Op) -> int | None:
        """Which operand goes into the sum; None for neither."""
        call = op.result.call
        products = [
            index
            for index, value in enumerate(op.operands)
            if _factors(value)[0] and all(_is_within(each.call, call) for each in _parts(value))
        ]
        if op.code == "sub" and len(products) > 1:
            return None
        free = [index for index in products if self._is_free(op.operands, index, call)]
        return free[-1] if free else None

    def _is_free(self, operands: tuple[Value, ...], index: int, call: Call | None) -> bool:
        """Whether a product may go into the sum of these operands, made in that call."""
        product, other = operands[index], operands[1 - index]
        return self._is_own(product, call) and not self._contains(other, product, call)

    def _is_own(self, product: Value, call: Call | None) -> bool:
        """Whether in a call one operation alone uses a product."""
        return all(
            sum(_is_within(user, call) for user in self.users[value]) == 1
            for value in _parts(product)
        )

    def _contains(self, value: Value, product: Value, call: Call | None) -> bool:
        """Whether an equal product is among what a value is computed from in a call."""
        inner = made_by(product, "neg")
        product = inner.operands[0] if inner else product
        if product.op is None or not self._is_repeated(product.op):
            return False
        wanted = self.same.number(product)
        waiting, seen = deque([value]), {value}
        while waiting:
            value = waiting.popleft()
            if not _is_within(value.call, call):
                continue
            if self.same.number(value) == wanted:
                return True
            for part in value.op.operands if value.op else ():
                if part not in seen and len(seen) < SEEN:
                    seen.add(part)
                    waiting.append(part)
        return False


def _users(function: Function) -> dict[Value, list[Call | None]]:
    """Of each product, and of the negative of one, the calls in which it is used, use by use."""
    users: dict[Value, list[Call | None]] = {}
    for op in walk(function.body):
        if op.code in _PRODUCTS:
            users[op.result] = []
    for op in walk(function.body):
        handed_on = [value for region in op.regions for value in region.results]
        for value in (*op.operands, *handed_on):
            if value in users:
                users[value].append(op.result.call)
    for value in function.outputs:
        if value in users:
            users[value].append(None)
    return users


_PRODUCTS: Final = frozenset(("mul", "pow", "neg"))


def _is_within(call: Call | None, outer: Call | None) -> bool:
    """Whether a call is another one, or was made in it."""
    if outer is None:
        return True
    while call is not None and call is not outer:
        call = call.outer
    return call is outer


def _parts(product: Value) -> tuple[Value, ...]:
    """A product, and what it is the negative of."""
    inner = made_by(product, "neg")
    return (product, inner.operands[0]) if inner else (product,)


def _factors(value: Value) -> tuple[tuple[Value, ...], bool]:
    """The factors of a product, and whether it is negated; none for what is no product."""
    inner = made_by(value, "neg")
    op = inner.operands[0].op if inner else value.op
    if op is not None and op.code == "mul":
        return op.operands, inner is not None
    if op is not None and op.code == "pow" and number(op.operands[1]) == 2:
        return (op.operands[0], op.operands[0]), inner is not None
    return (), False


def _likeness(product: Op) -> Any:
    """Equal for products that are computed alike, and for some that are not."""
    key = 0
    for value in product.operands:
        op = value.op
        if op is None or op.regions:
            key ^= id(value)
        else:
            key ^= hash(op.data) if op.code in _TELLING else hash(op.code)
    return key


_TELLING: Final = frozenset(("constant", "load"))  # operations whose data tell them apart


class _Numbers:
    """Equal numbers for values that are computed alike, and which numbers several values have."""

    def __init__(self, function: Function) -> None:
        self.numbers: dict[Value, int] = {}
        self.shared: set[int] = set()
        known: dict[Any, int] = {}
        numbers, number = self.numbers, self.number
        for op in walk(function.body):
            if op.regions:
                continue
            code = op.code
            operands = [number(value) for value in op.operands]
            if code == "mul":
                operands.sort()
            fresh = len(numbers)
            data = constant_key(*op.data) if code == "constant" else op.data
            found = known.setdefault((code, data, *operands), fresh)
            numbers[op.results[0]] = found
            if found != fresh:
                self.shared.add(found)

    def number(self, value: Value) -> int:
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.numbers)
        return found
