"""What native code must know of a function before it is written: what changes from pixel to pixel,
which loads are taps, how many pixels make a block, and in which order they are computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import combinations
from typing import Final

from pygpu.codegen.llvm.schedule import Cell, Chain, Step, chains, cost, in_order, is_cheap
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.analysis.taps import REACH, find_taps, is_flat, loads_of_block
from pygpu.passes.analysis.variance import X, variance
from pygpu.ssa import Function, Load, Number, Op, Value, walk

with later():
    from pygpu.passes.analysis import branches, counters, ranges

MULTIPLE: Final = 4  # neighbours' taps further apart along an axis than this are gathered
GATHERED: Final = 8  # operations that a lane's texel from anywhere costs as much as
LITTLE: Final = 0.67  # of a pixel's loads, above which few are those that rows of a block share
WRITTEN: Final = 24  # vectors of results that a block of several rows writes at most


@record(eq=False)
class TapSet:
    """The taps of one image under one boundary rule: how far they reach along x, and the source
    rows that a block needs, relative to its first. `shifted`: texels that cost work to load are
    loaded once in vectors that lie one behind the other; taps are cut out of two of them."""

    image: int
    boundary: str
    cval: tuple[Number, ...]
    left: int  # the smallest dx
    right: int  # the largest, or as far as the last vector needs
    rows: tuple[int, ...]
    shifted: bool
    apart: tuple[int, int] = (1, 1)  # columns, and rows, from the taps of a pixel to the next one's


@record
class Reach:
    """A load at an offset that is found at run time, the same for all pixels, and known to lie
    between these ends: the values that are added to x and to y (or subtracted: the bool)."""

    across: tuple[tuple[Value, bool], ...]
    down: tuple[tuple[Value, bool], ...]
    columns: tuple[int, int]
    rows: tuple[int, int]


@record
class Multiple:
    """A load at known multiples of the pixel's coordinates, with what is added to these: of each
    second column (2 * x + 1), of a known row (0 * y + 3)."""

    apart: tuple[int, int]
    dx: int
    dy: int


@record(frozen=False)
class Plan:
    """See the module's head."""

    function: Function
    lanes: int
    bits: dict[Value, int]
    vectors: int = 1  # a block's vectors along x
    rows: int = 1
    taps: tuple[TapSet, ...] = ()
    set_of: dict[Op, TapSet] = field(default_factory=dict)
    reaching: dict[Op, Reach] = field(default_factory=dict)
    multiples: dict[Op, Multiple] = field(default_factory=dict)
    inside: set[Op] = field(default_factory=set)  # reads of tables that are known to be within
    late: set[Op] = field(default_factory=set)  # taps, loaded where they are first needed
    cheap: set[Op] = field(default_factory=set)  # branches of which both sides are computed
    bounded: set[Op] = field(default_factory=set)  # loops of few rounds
    going: dict[Value, int] = field(default_factory=dict)  # see branches.going_on
    chains: list[Chain] = field(default_factory=list)
    straight: bool = False  # no loops, no branches but cheap ones
    meeting: bool = False  # cells take each other's values, also on the sides of branches
    raw: bool = False  # texels are kept as they are stored: see chooses
    loops: bool = False  # there are loops that may take long
    group: int = 1  # pixels of code that are one of the images, whose components they are
    crosses: bool = False  # a row reads columns, as where images are transposed
    single: bool = False  # pixels are computed one by one: see gathers_apart
    apart: bool = False  # blocks of a row are better where caches do not hold the images
    flat: bool = False  # pixels read themselves alone, and not where they are: any row is as good
    joins: bool = False  # blocks have a row, which may go on in the next: pixels read their columns

    def order(self, cells: Sequence[Cell]) -> Iterator[Step]:
        """What is computed for which cell, one after the other."""
        return in_order(self.function, self.late, cells)


def plan(task: Task, lanes: int, raw: bool = False, group: int = 1) -> Plan:
    """How a task's function is laid out."""
    function, inputs = task.function, task.inputs
    result = Plan(function, lanes, variance(function), raw=raw, group=group)
    ops = list(walk(function.body))
    near = find_taps(function)
    taps = [op for op in ops if op in near]
    others = [op for op in ops if op.code == "load" and op not in near]
    lookups = [op for op in ops if op.code == "table"]
    if others or lookups:
        within = ranges.Ranges(function)
        counts = [len(function.tables[op.data.table].values) for op in lookups]
        result.inside = {
            op
            for op, count in zip(lookups, counts, strict=True)
            if within.lies_in(op.operands[0], 0, count - 1)
        }
        result.multiples = find_multiples(within, others, inputs)
        result.reaching = find_reaching(result, within, others)
        taps += result.multiples
    far = [op for op in others if op not in result.multiples and op not in result.reaching]
    result.crosses = any(_crosses(result.bits, op) for op in far)
    result.late = set(taps)
    result.cheap = {op for op in ops if op.code == "if" and is_cheap(op)}
    loops = [op for op in ops if op.code == "loop"]
    if loops:
        counters.find_bounded(function.body, result.bounded)
        result.going = branches.going_on(function, loops)
    result.loops = any(op not in result.bounded for op in loops)
    result.chains = chains(function)
    result.straight = all(
        op.code not in ("if", "loop") or op in result.cheap for op in function.body.ops
    ) and not any(op.code == "if" and not result.bits[op.operands[0]] for op in ops)
    result.flat = is_flat(function)
    result.vectors, result.rows = block(result, ops, taps, all(map(is_plain, inputs)))
    is_down = not others and is_flat(function, down=True)
    result.apart = result.rows > 1 and not result.flat and shares_little(result, taps, inputs)
    if gathers_apart(result, far):
        result.single, result.lanes, result.vectors, result.rows = True, 1, 1, 1
        result.bits = dict.fromkeys(result.bits, 0)
    elif result.flat or task.low:
        result.vectors, result.rows = result.vectors * result.rows, 1
        if result.apart:
            result.vectors = min(result.vectors, 4 if len(result.chains) == 1 else 2)
    elif task.planar and (is_down or (not task.short and len({op.data.image for op in taps}) > 1)):
        # Planes a power of two apart lie in the same sets of the cache: of few rows each all fit.
        result.rows = 1
    elif task.short and result.rows == 1 and result.straight:
        result.vectors, result.rows = (1, 4) if task.short == 2 else (2, 1)  # see boundary.FEW
    result.joins = result.rows == 1 and is_down and not loops  # which run for columns of the image
    gather_taps(result, taps, inputs)
    return result


def gathers_apart(made: Plan, far: Sequence[Op]) -> bool:
    """Whether most of the work are texels from anywhere, several in each round, in loops of which
    each pixel knows its rounds beforehand, as in rows of a sparse matrix. Lanes fetch these one by
    one and wait for the last of them; pixels one by one have their next texels on their way."""
    loops = [op for op in walk(made.function.body) if op.code == "loop" and op not in made.bounded]
    apart = [op for op in loops if made.bits[op.regions[0].results[0]] & X]
    for loop in apart:
        found = [op for op in walk(loop.regions[0]) if op in far]
        fetched = [op for op in found if made.bits[op.operands[0]] & X]
        few = len(fetched) < 2 or cost(loop.regions[0]) > len(fetched) * GATHERED
        if few or counters.ends_by(loop, fetched):
            return False
    return bool(apart)


def _crosses(bits: dict[Value, int], load: Op) -> bool:
    """Whether pixels of a row read a column."""
    across, down = (bits[value] for value in load.operands)
    return down == X and not across & X


def block(made: Plan, ops: Sequence[Op], taps: Sequence[Op], plain: bool) -> tuple[int, int]:
    """The vectors along x and the rows of a block: several rows where they share loads. `plain`:
    texels cost nothing but their loads."""
    work = cost(made.function.body)
    for op in ops:
        decisive = op.operands[:1] if op.code == "if" else ()
        if op.code == "loop":
            decisive = op.regions[0].results[:1]
        if any(made.bits[value] for value in decisive) and op not in made.cheap:
            # Two vectors hide each other's delays; more than that wait for the last lane.
            return 2 if work <= 200 else 1, 1
    shared = shares_rows(made, taps)
    near = {*made.reaching, *taps}
    distant = [op for op in ops if op.code in ("load", "table") and op not in near]
    has_loop = any(op.code == "loop" for op in ops)
    if len(distant) > len(taps) and not has_loop:
        # Each lane fetches for itself, and rows share nothing of that.
        return 2 if work + 4 * len(distant) <= 200 else 1, 1
    if made.straight and made.chains:
        return block_of_sums(made, shared, plain)
    fetched = [op for op in distant if op.code == "load" and made.bits[op.operands[0]] & X]
    fetched = [op for op in fetched if not _reads_rows(made, op)]
    if has_loop and len(fetched) > len(taps):
        # Two vectors hide each other's delays; where a row's pixels read a row, so do two rows, and
        # what of each round is the same in a row is computed for several vectors.
        of_rows = all(not made.bits[op.operands[1]] & X for op in fetched)
        once = cost(made.function.body, rounds=1) + 4 * len(fetched)
        return (2 if once <= 200 else 1, 2 if of_rows else 1)
    if has_loop:
        # What a round costs besides its texels is paid once for the block, also in loops in loops
        # where vectors of texels are read: windows whose size the call decides.
        if all(_reads_rows(made, op) for op in distant):
            work = min(work, 8 * cost(made.function.body, rounds=1))
        return (2, 4) if work <= 400 else (1, 2) if work <= 1000 else (1, 1)
    if not shared:
        return 2 if (work >= 20 or distant or made.multiples) and work <= 200 else 1, 1
    most = WRITTEN // sum([value.type.size for value in made.function.outputs])
    return 1, max(1, min(6 if work <= 100 else 4 if work <= 300 else 2, most))


def _reads_rows(made: Plan, op: Op) -> bool:
    """Whether pixels beside each other read texels beside each other, if these are inside."""
    if op.code != "load" or made.bits[op.operands[1]] & X:
        return False
    return _offset(op.operands[0], made.function.x, made.bits) is not None


def shares_rows(made: Plan, taps: Sequence[Op]) -> bool:
    """Whether pixels below each other read the same rows."""
    if not made.multiples:
        return len({op.data.dy for op in taps}) > 1
    found = [place_of(made, op) for op in taps]
    return any(
        one.apart == other.apart
        and one.dy != other.dy
        and one.apart[1]
        and (one.dy - other.dy) % one.apart[1] == 0
        for one, other in combinations(found, 2)
    )


def shares_little(made: Plan, taps: Sequence[Op], inputs: Sequence[Format]) -> bool:
    """Whether the rows of a block load hardly less than as many pixels alone, as where one of many
    images is read above and below. Each row of each image, and of results, is a stretch of memory
    of its own, of which processors foresee a few."""
    is_plain_block = made.straight and all(map(is_plain, inputs))
    if not taps or not is_plain_block or made.multiples or made.reaching:
        return False
    return loads_of_block(taps, made.rows) > LITTLE * loads_of_block(taps, 1)


def place_of(made: Plan, op: Op) -> Multiple:
    """Where a tap is, of which pixel."""
    return made.multiples.get(op) or Multiple((1, 1), op.data.dx, op.data.dy)


_Shapes = tuple[tuple[int, int], ...]
# The vectors and rows that a block of sums may have; the first that fits is taken. _PLAIN and
# _ALONE are for one sum whose rows share taps: of texels that cost nothing but their loads, and of
# others; _SHARING is for several sums, _APART for rows that share nothing. With six rows most is
# got from each load. Rows of an image that is a power of two wide share places in the cache: twelve
# rows of taps fit there, fourteen do not.
_PLAIN: Final[_Shapes] = ((3, 4), (2, 4), (2, 3), (1, 4), (1, 3), (1, 2))
_ALONE: Final[_Shapes] = ((2, 6), (2, 4), (2, 3), (1, 4), (1, 3), (1, 2))
_SHARING: Final[_Shapes] = ((1, 6), (1, 4), (1, 3), (1, 2))
_APART: Final[_Shapes] = ((2, 4), (1, 4))
_MULTIPLES: Final[_Shapes] = ((2, 1),)  # which read several rows for one
# How many terms a block may have at most, by how many cells it has at most: LLVM takes longer for
# more terms than a larger block saves. With fewer than six cells the multipliers have to wait.
_TERMS: Final = ((6, 3000), (8, 1500), (12, 1000))


def block_of_sums(made: Plan, shared: bool, plain: bool) -> tuple[int, int]:
    """The vectors and rows of a block of sums: enough accumulators to keep the multipliers busy,
    few enough for the registers, and a text that compiles soon. Twelve accumulators are best for
    few taps that rows share. Eight take 1.05 to 1.1 of the time and compile in three quarters of
    it; six take 1.05 of that, and compile in 0.6 of it."""
    accumulators = sum([chain.size for chain in made.chains])
    terms = sum([chain.terms * chain.size for chain in made.chains])
    work = max(terms, cost(made.function.body) // 4)
    if made.multiples:
        # Of sums of sums, as of rows, which rows of a block share, one at a time is added up.
        accumulators = sum([chain.size for chain in made.chains if not chain.is_inner])
        shapes = _SHARING if shared else _MULTIPLES
    else:
        alone = _PLAIN if plain else _ALONE
        # Sums of bytes have two registers each.
        shapes = (alone if accumulators == 1 and not made.raw else _SHARING) if shared else _APART
    for vectors, rows in shapes:
        cells = vectors * rows
        fits = accumulators * cells <= 12 and (accumulators + 1) * cells <= 2 * made.lanes
        if fits and work * cells <= next(m for most, m in _TERMS if cells <= most):
            return vectors, rows
    return 1, 2 if shared else 1


def gather_taps(made: Plan, taps: Sequence[Op], inputs: Sequence[Format]) -> None:
    """Make the sets of taps."""
    groups: dict[tuple[int, str, tuple[Number, ...], tuple[int, int]], list[Op]] = {}
    for op in [*taps, *made.reaching]:
        data: Load = op.data
        boundary = "nearest" if data.boundary == "inside" else data.boundary
        cval = data.cval if boundary == "constant" else ()
        apart = place_of(made, op).apart
        groups.setdefault((data.image, boundary, cval, apart), []).append(op)
    sets = []
    for (image, boundary, cval, apart), members in groups.items():
        columns, rows = set(), set()
        for op in members:
            reach, place = made.reaching.get(op), place_of(made, op)
            columns |= set(reach.columns) if reach else {place.dx}
            if reach:
                rows |= set(range(reach.rows[0], reach.rows[1] + made.rows))
            else:
                rows |= {place.dy + apart[1] * r for r in range(made.rows)}
        if any(op in made.reaching for op in members):
            rows = set(range(min(rows), max(rows) + 1))
        left, right = min(columns), max(columns)
        format = inputs[image]
        costly = not is_plain(format) and format.kind != "bool" and not made.raw
        shifted = costly and len(columns) > 2 and apart == (1, 1)
        if apart[0] > 1:  # whole vectors are read, of all columns from that of a pixel on
            right = left + (right - left) // apart[0] * apart[0] + apart[0] - 1
        if shifted:
            right = left - (left - right) // made.lanes * made.lanes
        taps_of = TapSet(image, boundary, cval, left, right, tuple(sorted(rows)), shifted, apart)
        sets.append(taps_of)
        made.set_of.update(dict.fromkeys(members, taps_of))
    made.taps = tuple(sets)


def chooses(task: Task) -> bool:
    """Whether the function only chooses among texels of one channel that are stored like the
    result. Their order is that of their bits, so a register holds as many as it has bytes."""
    function, formats = task.function, (*task.inputs, *task.outputs)
    dtypes = {format.dtype.name for format in formats}
    if len(dtypes) != 1 or not dtypes <= {"uint8", "uint16"}:
        return False
    if any(format.channels > 1 for format in formats):
        return False
    near = Near.of(function, task.inputs)
    ops = [op for op in function.body.ops if op not in near.places]
    return all(op.code in ("min", "max") or op in near.loads for op in ops) and not _others(
        function, ops
    )


def _others(function: Function, ops: Sequence[Op]) -> set[Value]:
    """What a function of texels and extremes alone computes with, or gives, that is neither: a
    uniform, a place. `ops`: those that do not say where texels are."""
    texels = {value for op in ops for value in op.results}
    used = {v for op in ops if op.code in ("min", "max") for v in op.operands}
    return {*used, *function.outputs} - texels


@record
class Near:
    """The loads of a function without branches that are read as whole vectors, and the operations
    that only say where those are."""

    loads: frozenset[Op]
    places: frozenset[Op]

    @classmethod
    def of(cls, function: Function, inputs: Sequence[Format]) -> Near:
        ops = function.body.ops
        loads = find_taps(function)
        others = [op for op in ops if op.code == "load" and op not in loads]
        if not others:
            return cls(frozenset(loads), frozenset())
        loads |= find_multiples(ranges.Ranges(function), others, inputs).keys()
        needed, places = set(function.outputs), set()
        for op in reversed(ops):
            if op in loads:
                continue
            if op.regions or op.code == "load" or not needed.isdisjoint(op.results):
                needed.update(op.operands)
            else:
                places.add(op)
        return cls(frozenset(loads), frozenset(places))


def is_plain(format: Format) -> bool:
    """Whether texels are in registers as they are in memory."""
    return format.channels == 1 and format.dtype.itemsize == 4


def find_multiples(
    within: ranges.Ranges, loads: Sequence[Op], inputs: Sequence[Format]
) -> dict[Op, Multiple]:
    """The loads at known multiples of the pixel's coordinates. Whole vectors are worth while where
    half of their texels are asked for, of small numbers always: these are slow to fetch."""
    found: dict[Op, Multiple] = {}
    asked: dict[tuple[int, int], set[int]] = {}
    for op in loads:
        across, down = (within.of(value) for value in op.operands)
        if across is None or down is None or across.low < across.high or down.low < down.high:
            continue
        apart = across.x, down.y
        dx, dy = int(across.low) + op.data.dx, int(down.low) + op.data.dy
        if (
            across.y == down.x == 0
            and 1 <= apart[0] <= MULTIPLE
            and 0 <= apart[1] <= MULTIPLE
            and abs(dx) <= REACH
        ):
            found[op] = Multiple(apart, dx, dy)
            asked.setdefault((op.data.image, apart[0]), set()).add(dx % apart[0])
    return {
        op: place
        for op, place in found.items()
        if inputs[op.data.image].nbytes < 3
        or 2 * len(asked[op.data.image, place.apart[0]]) >= place.apart[0]
    }


def find_reaching(made: Plan, within: ranges.Ranges, loads: Sequence[Op]) -> dict[Op, Reach]:
    """The loads, not taps, that cannot leave the neighbourhood of the pixel."""
    function, found = made.function, {}
    for op in [load for load in loads if load not in made.multiples]:
        across = _offset(op.operands[0], function.x, made.bits)
        down = _offset(op.operands[1], function.y, made.bits)
        if across is None or down is None:
            continue
        ends = []
        for value, dimension, by in zip(op.operands, ((1, 0), (0, 1)), (op.data.dx, op.data.dy),
                                        strict=True):  # fmt: skip
            span = within.of(value)
            offset = span.offset(*dimension) if span else None
            if offset is not None and -REACH <= offset[0] + by <= offset[1] + by <= REACH:
                ends.append((offset[0] + by, offset[1] + by))
        if len(ends) == 2:
            found[op] = Reach(tuple(across), tuple(down), *ends)
    return found


def _offset(value: Value, pixel: Value, bits: dict[Value, int]) -> list[tuple[Value, bool]] | None:
    """What is added to the pixel's coordinate, where that is the same for all pixels."""
    terms: list[tuple[Value, bool]] = []
    while value is not pixel:
        op = value.op
        if op is None or op.code not in ("add", "sub"):
            return None
        first, second = op.operands
        if bits[second] == 0:
            terms.append((second, op.code == "sub"))
            value = first
        elif bits[first] == 0 and op.code == "add":
            terms.append((first, False))
            value = second
        else:
            return None
    return terms
