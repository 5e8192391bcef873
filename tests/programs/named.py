"""Named tuples whose classes have methods in place of a tuple's own."""

from collections import namedtuple
from typing import NamedTuple

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


class Angle(namedtuple("Angle", "turn lift")):
    """Checked and reduced where it is made, as is usual."""

    __slots__ = ()

    def __new__(cls, turn, lift=3.0):
        if turn < -1:
            raise ValueError("too far")
        return super().__new__(cls, turn % 1, lift)

    @classmethod
    def twice(cls, turn):
        return cls(2 * turn)

    @property
    def product(self):
        return self.turn * self.lift


class Named(Angle):
    def __new__(cls, *args, **named):
        return super(Named, cls).__new__(cls, *args, **named)


class Square(namedtuple("Square", "width height")):
    def __new__(cls, side):
        return tuple.__new__(cls, (side, 2 * side))


class Other(namedtuple("Other", "x y")):
    """Nothing of it is a tuple's but what it holds."""

    def __len__(self):
        return super().__len__() + 5

    def __getitem__(self, index):
        return super().__getitem__(index) + 1

    def __iter__(self):
        return (2 * each for each in super().__iter__())

    def __bool__(self):
        return False


class Sized(NamedTuple):
    x: float
    y: float = 2.0

    def __len__(self):
        return 9

    def __iter__(self):
        yield self.y


class Ordered(namedtuple("Ordered", "x y")):
    def __lt__(self, other):
        return self.y < other.y

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return 1


@program
def made_by_its_class(im: Image, p: Position):
    angle = Angle(abs(im(p)) * 3)
    return angle.product, Angle.twice(abs(im(p))).turn, Named(im(p) + 2, lift=4).product, len(angle)


@program
def made_of_fewer(im: Image, p: Position):
    square = Square(im(p))
    return square.width + square.height, square == (im(p), 2 * im(p)), square[1]


@program
def refused_by_its_class(im: Image, p: Position):
    try:
        return Angle(im(p)).turn
    except ValueError:
        return 9.0


@program
def made_anew_in_a_loop(counts: Image, p: Position):
    angle, total = Angle(counts(p), 1.0), 0.0
    for _ in range(counts(p)):
        angle = Angle(angle.turn + 0.25, angle.lift + 1)
        total += angle.product
    return total


@program
def methods_of_its_own(im: Image, p: Position):
    other = Other(im(p), 2.0)
    x, y = other
    return len(other), other[1], other[0], x, y, other.x, 1 if other else 0, sum(other), max(other)


@program
def a_generator_of_its_own(im: Image, p: Position):
    sized = Sized(im(p), im(p) + 1)
    return len(sized), sum(sized), list(sized)[0], sized.x


@program
def an_item_by_a_dynamic_index(ints: Image, p: Position):
    other = Other(ints(p), 2)
    either = other if ints(p) > 3 else Other(1, ints(p))
    return other[ints(p) % 2], either.x, either[1], len(either)


@program
def tuples_own_operators_see_what_it_holds(im: Image, p: Position):
    a, b = Other(im(p), 1.0), Other(0.5, im(p + (1, 0)))
    return a < b, a == b, a != b, len(a + b), (a + b)[0], im(p) in a, 2 * im(p) in a


@program
def comparisons_of_its_own(im: Image, p: Position):
    a, b = Ordered(im(p), 2.0), Ordered(0.5, im(p + (1, 0)))
    return a < b, a > b, a == b, a != b, min(a, b).y, sorted([a, b])[0].x, a in [b]


@program
def made_of_another(im: Image, p: Position):
    angle = Angle(abs(im(p)))
    return angle._replace(lift=im(p)).lift, Angle._make([im(p), 4.0]).turn, angle._asdict()["lift"]


@program
def replaced_by_what_is_no_field(im: Image, p: Position):
    try:
        return Sized(im(p))._replace(z=1.0).x
    except (ValueError, TypeError):
        return im(p) + 7
