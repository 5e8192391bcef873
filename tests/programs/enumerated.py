"""Members of enumerations that are numbers, by value and chosen; groups, places and repetitions that
only the device knows."""

import bisect
import enum
import itertools

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


class State(enum.IntEnum):
    IDLE = 3
    BUSY = 5
    DONE = 4


class Cell(enum.IntEnum):
    DEAD = 0
    ALIVE = 1


class Right(enum.IntFlag):
    READ = 4
    WRITE = 2


class Unit(enum.Enum):
    CM = "cm"
    INCH = "in"


STATES = list(State)


def row(im, p):
    return [im(p + (i, 0)) for i in range(5)]


@program
def member_by_a_dynamic_value(counts: Image, p: Position):
    state = State(counts(p) % 3 + 3)
    match state:
        case State.IDLE:
            return len(state.name)
        case State.BUSY:
            return 20 + state
        case other:
            return other.value * 10


@program
def no_member_has_the_value(counts: Image, p: Position):
    try:
        return State(counts(p) % 7).value
    except ValueError:
        return -1


@program
def member_by_a_chosen_word(im: Image, p: Position):
    return Unit("cm" if im(p) > 0.5 else "in") is Unit.CM


@program
def chosen_members_that_are_numbers(counts: Image, p: Position):
    state = STATES[counts(p) % 3]
    either = State.DONE if counts(p) > 2 else counts(p + (1, 0))
    return (
        state,
        state is State.BUSY,
        isinstance(state, State) and state * 2 + counts(p),
        float(state),
        max(state, 4),
        either + 1,
        either is State.DONE,
    )


@program
def members_change_in_a_loop(counts: Image, p: Position):
    state, busy = State.IDLE, 0
    for _ in range(counts(p)):
        state = State.BUSY if state is State.IDLE else State.IDLE
        busy += state is State.BUSY
    return state, busy


@program
def cells_that_are_members(im: Image, p: Position):
    around = [[Cell(int(im(p + (i, j)) > 0.5)) for i in (-1, 0, 1)] for j in (-1, 0, 1)]
    count = sum(map(sum, around)) - around[1][1]
    if around[1][1] is Cell.ALIVE and count in (2, 3):
        return Cell.ALIVE
    return Cell.ALIVE if count == 3 else Cell.DEAD


@program
def flags_under_conditions(im: Image, p: Position):
    rights = Right(0)
    if im(p) > 0.3:
        rights |= Right.READ
    if im(p) > 0.6:
        rights |= Right.WRITE
    return rights, bool(rights & Right.WRITE)


@program
def groups_by_a_dynamic_key(im: Image, p: Position):
    runs = [(k, len(list(g))) for k, g in itertools.groupby(row(im, p), key=lambda v: v > 0.5)]
    longest = max(n for _, n in runs)
    total = 0.0
    for place, (key, group) in enumerate(itertools.groupby(row(im, p), lambda v: int(3 * v))):
        total += place * max(group) + key
    return len(runs), longest, total


@program
def look_and_say(counts: Image, p: Position):
    said = []
    for digit, group in itertools.groupby([counts(p + (i, 0)) % 2 for i in range(4)]):
        said += [sum(1 for _ in group), digit]
    value = 0
    for digit in said:
        value = value * 5 + digit
    return value


@program
def sorted_while_it_grows(im: Image, p: Position):
    pairs = [(0.3, 1), (0.6, 2)]
    xs = []
    for v in row(im, p):
        bisect.insort(xs, v)
        if v > 0.4:
            bisect.insort(pairs, (v, 7), key=lambda pair: pair[0])
    bisect.insort_left(xs, 0.5)
    return xs[0], xs[3], pairs[1][1], bisect.bisect([0.1, 0.3, 0.5], xs[2], 1)


@program
def words_repeated_a_dynamic_number_of_times(counts: Image, p: Position):
    n = counts(p) + 1
    word = "Fizz" * (n % 3 == 0) + "Buzz" * (not n % 5) or str(n)
    bar = "#" * (n % 4 - 1)
    return len(word), word == "Buzz", bar.count("#")


class Wall(enum.IntFlag):
    NORTH = 1
    EAST = 2
    SOUTH = 4


def walls(im, p):
    found = Wall(0)
    for k, wall in enumerate(Wall):
        if im(p + (k, 0)) > 0:
            found |= wall
    return found


@program
def flags_that_the_pixel_sets(im: Image, p: Position):
    found = walls(im, p)
    some = Wall.NORTH | Wall.SOUTH
    asked = found.value, Wall.EAST in found, some in found, found in some, isinstance(found, Wall)
    opposite = ~found, (~found).value, found & ~Wall.NORTH, (found ^ some).value, len(found | 8)
    counted = sum(wall in found for wall in Wall), len(found), sum(wall.value for wall in found)
    return *asked, *opposite, *counted, found + 1, found == some, bool(found & some), int(found)


@program
def flags_of_a_number(counts: Image, p: Position):
    n, last, found = counts(p) & 3, Wall(counts(p) % 8), Wall.EAST
    k = 0
    while k < n:
        found |= Wall(1 << k)
        if Wall.SOUTH in found:
            found &= ~Wall.NORTH
        k += 1
    each = 0
    for wall in last:
        each = each * 10 + wall.value
    return found, Wall.NORTH in found, last.value, each, {Wall.EAST: 5}.get(found, 7)


class High(enum.IntFlag):
    LOW = 1
    TOP = 1 << 24


@program
def flags_beyond_all_that_are_named(counts: Image, p: Position):
    n = counts(p) * 5 - 12
    high = High(counts(p) & 3) | High.TOP
    return int(Wall(n)), int(~Wall(n)), int(Wall(-8) | Wall(n & 7)), int(~high), ~high & High.LOW


class Level(enum.IntEnum):
    LOW = 1
    MID = 5

    @classmethod
    def _missing_(cls, value):
        return cls.MID


class Step(enum.Enum):
    LOW = 1
    MID = 4
    HIGH = 6

    @classmethod
    def _missing_(cls, value):
        for member in cls:
            if member.value >= value:
                return member
        return cls.HIGH


@program
def members_for_other_values(ints: Image, counts: Image, p: Position):
    step = Step(ints(p))
    return Level(counts(p)).value, step.value, step is Step.HIGH, Step(counts(p)).name == "MID"


@program
def runs_of_as_many_as_the_device_knows(ints: Image, counts: Image, p: Position):
    xs = [ints(p + (i, 0)) % 7 for i in range(counts(p))]
    runs = [(key, sum(group)) for key, group in itertools.groupby(xs, key=lambda v: v % 3)]
    bits = f"{abs(ints(p)) % 128:b}"
    zeros = 0
    for bit, group in itertools.groupby(bits):
        if bit == "0":
            zeros = max(zeros, len(list(group)))
    lengths = [len(list(group)) for _, group in itertools.groupby(bits)]
    return len(runs), sum(total for key, total in runs if key), zeros, len(lengths), lengths[0]
