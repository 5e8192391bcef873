"""Objects of classes of one's own that are iterated by __next__, or by __getitem__ alone."""

import itertools

import numpy as np

from programs.suite import Suite
from pygpu import Image, Int, Position

program = Suite()


class Upwards:
    """1 to n."""

    def __init__(self, n):
        self.at, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return self.at


class Endless(Upwards):
    def __init__(self):
        super().__init__(0)

    def __next__(self):
        self.at += 1
        return self.at


class Collatz:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 1:
            raise StopIteration
        self.n = self.n // 2 if self.n % 2 == 0 else 3 * self.n + 1
        return self.n


class Bag:
    """Its iterator is another object."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return Taking(self.items)


class Taking(Upwards):
    def __init__(self, items):
        super().__init__(len(items))
        self.items = items

    def __next__(self):
        return self.items[super().__next__() - 1]


class Multiples:
    """No length, and no method to iterate."""

    def __init__(self, of, count):
        self.of, self.count = of, count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError
        return self.of * index


@program
def left_in_the_middle(im: Image, p: Position):
    numbers, total = Upwards(5), 0
    for n in numbers:
        if n > 2:
            break
        total += n
    return total, next(numbers), numbers.at, sum(numbers), next(numbers, -7)


@program
def items_of_another_object(im: Image, p: Position):
    bag = Bag([im(p), im(p + (1, 0)), 2.0])
    a, b, c = bag
    first, *others = bag
    pairs = tuple(zip(bag, bag))
    return a + b * c, max(bag), sorted(bag)[0], first + sum(others), pairs[1][0], list(bag)[1]


@program(n=3)
def end_that_only_the_device_knows(im: Image, p: Position, n: Int):
    total = 0
    for k in Upwards(n):
        if k == 2:
            continue
        if im(p + (k, 0)) > 0.9:
            break
        total += k
    else:
        total += 100
    return total, sum(Upwards(n)), max(Upwards(n), default=0)


@program
def rounds_of_each_pixel(im: Image, p: Position):
    count = 0
    for _ in Collatz(p.x + 3):
        count += 1
    return count, max(Collatz(p.x + 7))


@program(n=3)
def no_end(im: Image, p: Position, n: Int):
    total = 0
    for k in Endless():
        if k > n + p.x:
            break
        total += k
    return total


@program
def some_of_no_end(im: Image, p: Position):
    numbers = Endless()
    three = list(itertools.islice(numbers, 3))
    pairs = sum(a * b for a, b in zip(numbers, [im(p), 1.0]))
    return three[2], pairs, next(numbers)


@program
def next_with_a_default(im: Image, p: Position):
    numbers = Upwards(2)
    return next(numbers), next(numbers, 0.0), next(numbers, im(p)), next(iter(Bag([])), -1)


@program(n=3)
def by_index_alone(im: Image, p: Position, n: Int):
    total = 0.0
    for x in Multiples(im(p), n):
        total += x
    known = Multiples(im(p), 4)
    items = iter(known)
    return (
        total,
        next(items) + next(items),
        sum(known),
        list(Multiples(2.0, 4))[3],
        len(list(items)),
    )


# ---------------------------------------------------------------- places and ranges


class Place:
    def __init__(self, at):
        self.at = at

    def __index__(self):
        return int(self.at)


@program(n=3)
def objects_as_indices(im: Image, p: Position, n: Int):
    items, pair, array = [1.0, im(p), 3.0], (4.0, 5.0), np.array([6.0, im(p), 8.0])
    items[Place(p.x % 2)] = 9.0
    which = items[Place(p.x % 3)], pair[Place(1)], "abc"[Place(2)] == "c", array[Place(p.y % 3)]
    return *which, sum(items[Place(1) :]), sum(range(Place(n)))


@program
def keys_that_could_be_indices(im: Image, p: Position):
    one, two = Place(0), Place(1)
    return {one: im(p), two: 2.0}[two] + [im(p), 1.0][one]


@program(n=5)
def parts_of_ranges(im: Image, p: Position, n: Int):
    found = range(n)
    return (
        found[1:3][0],
        sum(found[::2]),
        sum(found[: p.x - 2]),
        sum(range(2, n * 3, 3)[p.x % 3 : -1]),
        sum(found[::-2]),
        len(found[-2:]),
        found[p.x % 2 :][1],
    )


@program(n=5)
def places_in_ranges(im: Image, p: Position, n: Int):
    return range(0, n * 4, 2).index(4), range(n).count(p.x), range(p.y, n + 9, 3).index(p.y + 6)
