"""Boundary rules in native code: pygpu/core/boundaries.py on lanes, and on numbers of 64 bits.

At the ends of rows a vector of texels, some of which lie outside, is one of those inside, shuffled
as the rule says: copies of rows around the pixels (codegen/jobs/edges.py) take much longer. The
`span` of such code computes a single vector, whose end lies so many pixels before its start as
these say: LEFT and RIGHT at the ends of a row, WITHIN between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Final

from pygpu.codegen.llvm.block import Block, Values
from pygpu.codegen.llvm.code import Code, floor
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.memory import decode_raw, gather_raw, mixed, move, steps
from pygpu.codegen.llvm.plan import Plan, TapSet
from pygpu.codegen.llvm.schedule import cost
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.boundaries import INTEGERS, RULES, index
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.ssa import Load

NUMBERS: Final = {name: number for number, name in enumerate(RULES)}  # of rules, in descriptors
LEFT, RIGHT, WITHIN = SIDES = range(3)
LARGEST: Final = 500  # operations of a column of a block, above which copies of rows cost less
# Vectors of a plane's row below which each row costs much besides its pixels, so that four are
# computed at once; longer ones are stored one by one: four streams of stores wait for memory.
FEW: Final = 16
FEWEST: Final = 4  # lanes of floats, which all machines have
WIDTH: Final = 1 << 12  # texels of an image that stands for all wide ones
Asked = tuple[Load, Val, Val]  # a load, and the column and row that it is beside


@record
class _Native:
    """The arithmetic of native code."""

    code: Code

    def clamped(self, place: Val, size: Val) -> Val:
        return self.code.clamp(place, 0, size - 1)

    def modulo(self, place: Val, period: Val) -> Val:
        """Of vectors by float64, which holds all ints and is exact here."""
        code = self.code
        if place.lanes == 1 and period.lanes == 1:
            rest = code.binary("srem", place, period)
            return code.select(rest < 0, rest + period, rest)
        a, b = code.to_float(place, "double"), code.to_float(period, "double")
        quotient = code.to_int_inside(floor(code, a / b), "int")
        return place - quotient * period

    def add(self, a: Val, b: Val) -> Val:
        return a + b

    def sub(self, a: Val, b: Val | int) -> Val:
        return a - b

    def min(self, a: Val, b: Val) -> Val:
        return self.code.minimum(a, b)

    def max(self, a: Val, b: Val | int) -> Val:
        return self.code.maximum(a, b)


def inside(code: Code, place: Val, size: Val, boundary: str) -> tuple[Val, Val | None]:
    """The index that a rule gives, in [0, size), and, for "constant", where the place is in there
    by itself. "unchecked" is for places that have been looked at, "inside" for any texel there."""
    if boundary == "unchecked":
        return place, None
    rule = "nearest" if boundary == "inside" else boundary
    floats = code.whole.get(place.text)
    if rule == "nearest" and floats is not None:
        return _nearest(code, floats, size), None
    found = index(rule, _Native(code), place, size)
    return found, code.compare("ult", place, size) if boundary == "constant" else None


def _nearest(code: Code, places: Val, size: Val) -> Val:
    """The index nearest to what floats are, truncated: NaN is 0. Whether they are within the ints
    is settled by what brings them into the image."""
    above = code.select(places > 0.0, places, code.constant("float", 0.0))
    return code.minimum(code.to_int_inside(code.minimum(above, 2147483520.0)), size - 1)


def by_number(code: Code, rule: Val, place: Val, size: Val) -> Val:
    """The index that the rule of a number gives; -1 for the constant. They are 64 bits wide."""

    def choose(names: list[str]) -> Val:
        name, *others = names
        if not others:
            return outside(name)
        branch = Branch(code, rule.eq(NUMBERS[name]))
        with branch.side():
            first = [outside(name)]
        with branch.side():
            second = [choose(others)]
        return branch.join(first, second)[0]

    def outside(name: str) -> Val:
        if name == "constant":
            return code.constant("long", -1)
        return index(name, _Native(code), place, size)

    branch = Branch(code, code.compare("ult", place, size))
    with branch.side():
        within = [place]
    with branch.side():
        beyond = [choose(list(NUMBERS))]
    return branch.join(within, beyond)[0]


def place(machine: Machine) -> str:
    """place(index, size, rule): the index in [0, size) that a rule gives; -1: the constant."""
    code = Code(machine)
    index, size, rule = (Val(code, "long", 1, name, 0) for name in ("%index", "%size", "%rule"))
    result = by_number(code, rule, index, size)
    code.line(f"ret i64 {result.text}")
    return f"define internal i64 @place(i64 %index, i64 %size, i64 %rule) #1 {{\n{code.text()}\n}}"


# ---------------------------------------------------------------- texels anywhere


@record
class Place:
    """Where a load finds texels: inside the image, by its boundary's rule."""

    code: Code
    load: Load
    format: Format
    base: Val
    column: Val
    row: Val
    width: Val
    height: Val
    pitch: Val
    inside: tuple[Val | None, Val | None]  # whether that is so without the rule, if it matters

    @property
    def place(self) -> Val:
        """So many steps from the base. Texels of one column or one row have a product in common."""
        step = steps(self.format)
        return self.row * (self.pitch * step) + self.column * step

    def gathered(self) -> list[Val]:
        count = (self.height - 1) * self.pitch + self.width
        return gather_raw(self.code, self.base, self.place, self.format, count)

    def moved(self, pointer: Val, format: Format) -> bool:
        """Write the texels as they are, if they are stored so there and are larger than a word:
        taking their components apart and together takes longer."""
        if self.format != format or format.nbytes <= 4:
            return False
        move(self.code, self.base, self.place, pointer, format)
        return True

    def texels(self) -> Values:
        """The components of what is stored at the place, or the constant."""
        code, (across, down) = self.code, self.inside
        texels = decode_raw(code, self.gathered(), self.format)
        if across is None or down is None:
            return texels
        return mixed(code, across & down, texels, self.load.cval)


def located(block: Block, load: Load, x: Val, y: Val) -> Place:
    code, format, group = block.code, block.inputs[load.image], block.plan.group
    if group == 1:
        column, inside_x = inside(code, x, block.image(load.image, 1), load.boundary)
    else:  # rules know texels
        texel, texels = (code.binary("sdiv", n, group) for n in (x, block.image(load.image, 1)))
        column, inside_x = inside(code, texel, texels, load.boundary)
        column = column * group + (x - texel * group)
    row, inside_y = inside(code, y, block.image(load.image, 2), load.boundary)
    width, height, pitch = (block.image(load.image, part) for part in (1, 2, 3))
    if block.wide or max(column.lanes, row.lanes) == 1:
        width, height, pitch = (code.cast("sext", n, "long") for n in (width, height, pitch))
        column, row = (code.cast("sext", value, "long") for value in (column, row))
    base = block.image(load.image, 0, "ptr")
    valid = inside_x, inside_y
    return Place(code, load, format, base, column, row, width, height, pitch, valid)


What = Callable[[Place], Sequence[Val]]


def anywhere(block: Block, asked: Sequence[Asked], what: What) -> list[Val]:
    """`what` of the places of loads, one load after the other. It is much code that rarely runs:
    so a function, called for each place that loads are beside."""
    code = block.code
    given = [block.ctx] * block.of_planes + [Val(code, "ptr", 1, "%args", 0)]
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, (load, x, y) in enumerate(asked):
        groups.setdefault((load.image, load.boundary, load.cval, x.text, y.text), []).append(at)
    found: dict[int, list[Val]] = {}
    for (*of, _, _), places in groups.items():
        loads, (x, *_), (y, *_) = zip(*[asked[at] for at in places], strict=True)
        name = f"{what.__name__} {of} {[(load.dx, load.dy) for load in loads]} {x.lanes} {y.lanes}"
        make = partial(_of_places, block, loads, what)
        parts = code.apart(f'@"{name}"', make, code.plain(x), code.plain(y), *given)
        each = len(parts) // len(places)
        found.update({at: parts[i * each : (i + 1) * each] for i, at in enumerate(places)})
    return [part for at in range(len(asked)) for part in found[at]]


def _of_places(
    outer: Block, loads: Sequence[Load], what: What, code: Code, x: Val, y: Val, *_: Val
) -> list[Val]:
    block = copy(outer)
    block.code, block.ctx = code, Val(code, "ptr", 1, outer.ctx.text, 0)
    places = [located(block, load, x + load.dx, y + load.dy) for load in loads]
    return [part for place in places for part in what(place)]


# ---------------------------------------------------------------- the ends of rows


@record
class Shuffle:
    """How a vector is made whose texels lie partly outside: `places` in the vector that begins at
    the column `near`, counted from that of the first pixel, and behind these in the one at the
    other end of the row, or in one of constants."""

    near: int
    places: tuple[int, ...]


def ends_are_written(layout: Plan, task: Task) -> bool:
    """Whether the ends of rows are worth code of their own, and can have it."""
    if layout.reaching or cost(task.function.body) * layout.rows > LARGEST:
        return False
    beside = any(taps.left < 0 or taps.right > 0 for taps in layout.taps)
    return beside and all(_is_shuffled(taps, layout, task) for taps in layout.taps)


def least_width(layout: Plan) -> int:
    """The pixels of a row that has both ends, and vectors between them that read none outside."""
    return 2 * layout.lanes + beside(layout)


def beside(layout: Plan) -> int:
    """How far is read to a side."""
    return max([0, *[max(-each.left, each.right) for each in layout.taps]])


def has_both(width: int, lanes: int, beside: int) -> bool:
    """Whether a row has both ends, which may overlap where nothing is between them."""
    return lanes + beside <= width and not 0 < width - 2 * lanes < beside


def lanes_for(layout: Plan, width: int, most: int) -> int:
    """Of how many lanes of floats, `most` as it is, so long a row has both ends; 0: of none."""
    of_lane, lanes = layout.lanes // most, most
    while lanes >= FEWEST and not has_both(width, lanes * of_lane, beside(layout)):
        lanes //= 2
    return lanes if lanes >= FEWEST else 0


def _is_shuffled(taps: TapSet, layout: Plan, task: Task) -> bool:
    if taps.apart != (1, 1):
        return False
    if taps.boundary == "constant":
        is_plain = task.inputs[taps.image].dtype.name == "float32"
        if layout.raw or not (is_plain or set(taps.cval) == {0}):
            return False
    return all(
        shuffle(taps.boundary, start, side, layout.lanes, layout.group) is not None
        for start in _starts(taps, layout)
        for side in (LEFT, RIGHT)
    )


def _starts(taps: TapSet, layout: Plan) -> Iterator[int]:
    """Where the vectors of a set of taps begin, from the first pixel on."""
    if taps.shifted:
        yield from range(taps.left, taps.right + 1, layout.lanes)
    else:
        yield from {op.data.dx for op, each in layout.set_of.items() if each is taps}


@lru_cache(maxsize=1024)
def shuffle(boundary: str, start: int, side: int, lanes: int, group: int) -> Shuffle | None:
    """How the vector is made that begins so many columns from the first pixel; None where it takes
    more than a load at each end of the row."""
    width = WIDTH * group
    first = 0 if side == LEFT else width - lanes  # the column of the first pixel
    columns = [_column(boundary, first + start + k, group) for k in range(lanes)]
    near = [at for at in columns if at is not None and abs(at - first) < width // 2]
    base = 0 if side == LEFT else width - lanes
    if near:
        base = max(base, max(near) - lanes + 1) if side == LEFT else min(base, min(near))
    other = width - lanes if side == LEFT else 0
    places = []
    for at in columns:
        place, low = (at - base, 0) if at in near else (lanes + (at or other) - other, lanes)
        if not low <= place < low + lanes:
            return None
        places.append(place)
    return Shuffle(base - first, tuple(places))


def _column(boundary: str, column: int, group: int) -> int | None:
    """Which column the rule gives; None for the constant."""
    texel, part = divmod(column, group)
    if boundary == "constant" and not 0 <= texel < WIDTH:
        return None
    return index(boundary, INTEGERS, texel, WIDTH) * group + part


def texels_at_end(block: Block, taps: TapSet, row: int, start: int, side: int) -> Values:
    """A vector of texels at an end of a row."""
    made = shuffle(taps.boundary, start, side, block.machine.lanes, block.plan.group)
    assert made is not None, "ends_are_written"
    code, lanes = block.code, block.machine.lanes
    near = block.loaded(taps, block.place(taps, row, made.near))
    if made.places == tuple(range(lanes)):
        return near
    other = near
    if max(made.places) >= lanes and taps.boundary == "constant":
        numbers = zip(near, taps.cval, strict=True)
        other = tuple([code.constant(part.kind, number, lanes) for part, number in numbers])
    elif max(made.places) >= lanes:
        across = code.cast("sext", block.width, "long") * block.inputs[taps.image].nbytes
        far = block.place(taps, row, -lanes if side == LEFT else lanes)
        other = block.loaded(taps, code.at(far, across if side == LEFT else -across))
    return tuple([code.shuffle(a, b, made.places) for a, b in zip(near, other, strict=True)])
