"""Rounds of loops that were unrolled: what is done again and again, with other numbers.

    s1 = add s0, im[x + d]
    s2 = add s1, im[x + d * 2.0]        a chain of s0, s1, s2, s3, and three rounds
    s3 = add s2, im[x + d * 3.0]

A *chain* is a value that each round makes of what the round before made of it. What only leads to
the values of one round belongs to that round. Rounds that follow each other and differ in numbers
alone are a roll; a sum that stands where others have a product within it is that with 1. Rounds are
counted from the last one, 0, since the first may begin with less.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.passes.analysis.variance import X
from pygpu.ssa import Constant, Op, Region, Value, constant_of, used_by
from pygpu.types import Type

LEAST: Final = 4  # rounds of a loop
TRIED: Final = 4  # chains that are looked at
ADDING: Final = frozenset(("add", "sub", "fma"))
COSTLY: Final = (Cost.NATIVE, Cost.SERIES, Cost.ROUNDS)


@record(eq=False)
class Costs:
    """What is fetched, of which a loop's rounds have so many at least, and what changes along x."""

    fetched: set[Op]
    least: int
    bits: Mapping[Value, int]

    def pay(self, ops: Iterable[Op]) -> bool:
        """Whether operations are worth a loop."""
        return sum(op in self.fetched for op in ops) >= self.least

    def is_of_rows(self, op: Op) -> bool:
        """Whether an operation is costly, and done once for a row where it is in no loop."""
        return cost_of(op.code) in COSTLY and not any(self.bits[v] & X for v in op.results)


@record
class Link:
    """What a round makes of a chain, and which operand is what the round before made of it."""

    op: Op
    place: int

    @property
    def before(self) -> Value:
        return self.op.operands[self.place]


Chain = Sequence[Link]  # the last first


@record
class Does:
    """What an operation does: with operands that its round makes, by where these are made, with
    others as they are, and with numbers, whose types stand here, and they beside."""

    what: tuple[Hashable, ...]  # its code before all else
    taken: tuple[Hashable, ...]
    numbers: tuple[Constant | None, ...]
    type: Type

    def like(self, other: Does) -> tuple[Constant | None, ...] | None:
        """The numbers with which this is what another operation does; None where it is not."""
        if (self.what, self.taken) == (other.what, other.taken):
            return self.numbers
        products = self.as_products() if other.what[0] == "fma" else ()
        return next(
            (p.numbers for p in products if (p.what, p.taken) == (other.what, other.taken)), None
        )

    def as_products(self) -> Iterator[Does]:
        """A sum of a and b as one with a * 1 or b * 1, and a difference likewise."""
        code, *rest = self.what
        if code not in ("add", "sub"):
            return
        first, second = zip(self.taken, self.numbers, strict=True)
        factors = ((first, second), (second, first)) if code == "add" else ((second, first),)
        number = 1.0 if code == "add" else -1.0
        one = self.type, number if self.type.is_scalar else (number,) * self.type.size
        for factor, term in factors:
            for operands in ((factor, one, term), (one, factor, term)):
                taken, numbers = zip(*operands, strict=True)
                yield Does(("fma", *rest), taken, numbers, self.type)


@record(eq=False)
class Round:
    """The operations of a round and what they do, its links, by chain, and where these are made."""

    ops: Sequence[Op]
    does: Sequence[Does]
    links: Sequence[Link]
    makes: Sequence[Hashable]

    @property
    def made(self) -> list[Op]:
        return [link.op for link in self.links]

    def like(self, other: Round) -> Numbers | None:
        """The numbers with which another round is this one."""
        if self.makes != other.makes or len(self.ops) != len(other.ops):
            return None
        found = []
        for own, its in zip(self.does, other.does, strict=True):
            numbers = own.like(its)
            if numbers is None:
                return None
            found.append(numbers)
        return found


def _round(ops: Sequence[Op], links: Sequence[Link]) -> Round:
    known: dict[Value, Hashable] = {link.before: index for index, link in enumerate(links)}
    does = []
    for index, op in enumerate(ops):
        taken, numbers = _taken(op, known)
        regions = [_region(region, known, (index, n)) for n, region in enumerate(op.regions)]
        types = tuple([value.type for value in op.results])
        does.append(Does((op.code, op.data, types, *regions), taken, numbers, types[0]))
        known.update({value: (index, place) for place, value in enumerate(op.results)})
    return Round(ops, does, links, [known[link.op.result] for link in links])


def _taken(
    op: Op, known: Mapping[Value, Hashable]
) -> tuple[tuple[Hashable, ...], tuple[Constant | None, ...]]:
    numbers = tuple([None if v in known else constant_of(v) for v in op.operands])
    pairs = zip(op.operands, numbers, strict=True)
    return tuple([known.get(v, v) if n is None else v.type for v, n in pairs]), numbers


def _region(region: Region, outer: Mapping[Value, Hashable], at: tuple[int, ...]) -> Hashable:
    """What a region does, with its numbers. `at`: where it is in its round."""
    known = dict(outer)
    known.update({value: (at, index) for index, value in enumerate(region.params)})

    def taken(values: Iterable[Value]) -> Hashable:
        pairs = [(value, constant_of(value)) for value in values]
        return tuple([known.get(v, v) if n is None else (v.type, repr(n)) for v, n in pairs])

    does: list[Hashable] = []
    for index, op in enumerate(region.ops):
        if op.code != "constant":
            inner = [_region(each, known, (*at, index, n)) for n, each in enumerate(op.regions)]
            does.append((op.code, op.data, taken(op.operands), *inner))
        known.update({value: (at, index, place) for place, value in enumerate(op.results)})
    return (*does, taken(region.results))


Numbers = list[tuple[Constant | None, ...]]  # of each operation of a round, by operand


@record(eq=False)
class Roll:
    """Rounds that become one: a pattern, and for each round the numbers with which it is that."""

    rounds: list[Round]
    pattern: Round
    numbers: list[Numbers]

    @property
    def ops(self) -> list[Op]:
        return [op for each in self.rounds for op in each.ops]

    @property
    def handed(self) -> list[Value]:
        """What the last round makes."""
        return [op.result for op in self.rounds[-1].made]

    @property
    def takes(self) -> set[Value]:
        """What is not made in the rounds."""
        ops = self.ops
        return {v for op in ops for v in used_by(op)} - {v for op in ops for v in op.results}

    def longer(self, more: Round) -> Roll | None:
        """This one and a round, where it is like the pattern, or all others are like it."""
        own = more.like(self.pattern)
        if own is not None:
            return Roll([*self.rounds, more], self.pattern, [*self.numbers, own])
        rounds = [*self.rounds, more]
        numbers = [like for each in rounds if (like := each.like(more)) is not None]
        return Roll(rounds, more, numbers) if len(numbers) == len(rounds) else None


# ---------------------------------------------------------------- rounds, found


class Rounds:
    """The rounds of a region."""

    def __init__(self, region: Region, costs: Costs) -> None:
        self.region, self.costs = region, costs
        # What belongs to no round: numbers, what is in one already, and what is costly and once
        # computed for a row.
        self.apart = {op for op in region.ops if op.code == "constant" or costs.is_of_rows(op)}
        self.found: list[Roll] = []
        self.users: dict[Value, list[Op | None]] = {}  # None: what the region hands on
        self.chain_of: dict[Op, Chain] = {}

    def rolls(self) -> list[Roll]:
        if not self.costs.pay(self.left()):
            return self.found
        for op in self.region.ops:
            for value in dict.fromkeys(used_by(op)):
                self.users.setdefault(value, []).append(op)
        for value in self.region.results:
            self.users.setdefault(value, []).append(None)
        chains = sorted(self.chains(), key=len, reverse=True)
        self.chain_of = {link.op: chain for chain in chains for link in chain}
        for chain in chains[:TRIED]:
            if not self.costs.pay(self.left()):
                break
            if self.apart.isdisjoint([link.op for link in chain]):
                self.of_chain(chain)
        return self.found

    def left(self) -> list[Op]:
        """Operations that are in no round."""
        return [op for op in self.region.ops if op not in self.apart]

    def chains(self) -> Iterator[Chain]:
        """Operations that each take what the one before gave."""
        before: dict[Op, Op] = {}
        length: dict[Op, int] = {}
        place: dict[Op, int] = {}
        for op in self.region.ops:
            if op.code in ("load", "constant", "loop") or len(op.results) != 1:
                continue
            length[op] = 1
            for index, value in enumerate(op.operands):
                last = value.op
                if last in length and _is_alike(op, last) and length[last] >= length[op]:
                    before[op], length[op], place[op] = last, length[last] + 1, index
        seen: set[Op] = set()
        for op in sorted(length, key=lambda op: -length[op]):
            chain: list[Link] = []
            while op in before and op not in seen:
                if chain and place[op] != chain[-1].place and op.code == chain[-1].op.code:
                    break
                seen.add(op)
                chain.append(Link(op, place[op]))
                op = before[op]
            # The first begins with anything, where others take what the one before gave.
            if chain and op not in seen and chain[-1].place < len(op.operands):
                chain.append(Link(op, chain[-1].place))
            if len(chain) >= LEAST:
                yield chain

    def of_chain(self, chain: Chain) -> None:
        """Find the rolls of a chain, and of others that come with it."""
        links: list[dict[int, Link]] = []  # of each chain, by round: those of the first end in 0
        owner: dict[Op, int] = {}
        found, later = chain, 0
        while found:
            links.append({later + at: link for at, link in enumerate(found)})
            linked = {link: at for each in links for at, link in each.items()}
            owner = self.owners(linked)
            found, later = self.joining(owner, {link.op for link in linked}, len(chain))
        rounds: dict[int, list[Op]] = {}
        for op in self.region.ops:
            if op in owner:
                rounds.setdefault(owner[op], []).append(op)
        made = {
            at: _round(ops, [each[at] for each in links])
            for at, ops in rounds.items()
            if all(at in each for each in links)
        }
        self.runs(made, owner)

    def owners(self, links: Mapping[Link, int]) -> dict[Op, int]:
        """The rounds that operations belong to, counted from the last. What chains begin with
        belongs to none."""
        owner = {link.op: at for link, at in links.items()}
        starts = {link.before.op for link in links}
        for op in reversed(self.region.ops):
            if op not in owner and op not in self.apart and op not in starts:
                rounds = {owner.get(user) if user else None for user in self.users_of(op)}
                at = rounds.pop() if len(rounds) == 1 else None
                if at is not None:
                    owner[op] = at
        return owner

    def users_of(self, op: Op) -> list[Op | None]:
        return [user for value in op.results for user in self.users.get(value, [])]

    def joining(self, owner: Mapping[Op, int], linked: set[Op], length: int) -> tuple[Chain, int]:
        """Another chain, not much shorter, that takes or makes what would belong to a round but for
        that, and the number of its last round; an empty one where there is none."""
        for op in self.region.ops:
            if op in owner or op in self.apart:
                continue
            users = [user for user in self.users_of(op) if user is not None]
            rounds = {owner[user] for user in users if user in owner}
            for each in (op, *users) if len(rounds) == 1 else ():
                ops = [link.op for link in self.chain_of.get(each, ())]
                is_new = linked.isdisjoint(ops) and self.apart.isdisjoint(ops)
                if 2 * len(ops) >= length and is_new:
                    return self.chain_of[each], rounds.pop() - ops.index(each)
        return (), 0

    def runs(self, rounds: Mapping[int, Round], owner: Mapping[Op, int]) -> None:
        """Rounds that follow each other and do the same."""
        numbers = sorted(rounds, reverse=True)
        roll: Roll | None = None
        for before, at in zip([-1, *numbers], numbers, strict=False):
            each, longer = rounds[at], None
            if roll and before == at + 1 and self.follows(roll.rounds[-1], each, at, owner):
                longer = roll.longer(each)
            if longer is None:
                self.take(roll)
            roll = longer or Roll([each], each, [[does.numbers for does in each.does]])
        self.take(roll)

    def follows(self, before: Round, after: Round, at: int, owner: Mapping[Op, int]) -> bool:
        """Whether nobody but a round and the one before it takes what that one hands on."""
        return all(
            first.op.result is second.before
            and all(user and owner.get(user) in (at, at + 1) for user in self.users[second.before])
            for first, second in zip(before.links, after.links, strict=True)
        )

    def take(self, roll: Roll | None) -> None:
        """Have rounds become one, where that is worth it and they take nothing that is made of
        what they make."""
        if roll is None or len(roll.rounds) < LEAST or not self.costs.pay(roll.ops):
            return
        if roll.takes.isdisjoint(self.after(roll.ops)):
            self.found.append(roll)
            self.apart.update(roll.ops)

    def after(self, ops: Sequence[Op]) -> set[Value]:
        """What these make, and what is made of that, a roll's values all at once."""
        roll_of = {op: roll.ops for roll in self.found for op in roll.ops}
        found, before = {value for op in ops for value in op.results}, 0
        while before < len(found):
            before = len(found)
            for op in self.region.ops:
                if not found.isdisjoint(used_by(op)):
                    found.update(v for each in roll_of.get(op, (op,)) for v in each.results)
        return found


def _is_alike(op: Op, other: Op) -> bool:
    """Whether both may be of one chain."""
    same = op.code == other.code or (op.code in ADDING and other.code in ADDING)
    return same and op.result.type is other.result.type
