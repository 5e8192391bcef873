"""Iterators over iterators as generator functions: walked like the user's own where what they are
over is a generator, or where a dynamic value decides which items there are. And what ranges have.
"""

from collections.abc import Iterator
from typing import Any

from pygpu.frontend.walked.asked import counted, room

END: Any = object()


def called_until(function: Any, sentinel: Any) -> Iterator[Any]:
    """iter(function, sentinel)"""
    while True:
        x = function()
        if x == sentinel:
            return
        yield x


def asked(step: Any) -> Iterator[Any]:
    """What an iterator of the user's own class gives, by its method __next__."""
    while True:
        try:
            x = step()
        except StopIteration:
            return
        yield x


def by_index(xs: Any) -> Iterator[Any]:
    """What an object gives that has a method __getitem__ and none to iterate."""
    index = 0
    while True:
        try:
            x = xs[index]
        except IndexError:
            return
        yield x
        index += 1


def next_or(step: Any, default: Any) -> Any:
    """next(iterator, default), of one of the user's own class, by its method __next__."""
    try:
        return step()
    except StopIteration:
        return default


def enumerated(xs: Any, start: Any) -> Iterator[Any]:
    number = start
    for x in xs:
        yield counted(number, start), x
        number = number + 1


def mapped(function: Any, xs: Any, *rest: Any) -> Iterator[Any]:
    for row in zipped(xs, *rest):
        yield function(*row)


def zipped(xs: Any, *rest: Any) -> Iterator[Any]:
    for x in xs:
        row = [x]
        for other in rest:
            y = next(other, END)
            if y is END:
                return
            row.append(y)
        yield tuple(row)


def kept(wanted: bool, function: Any, xs: Any) -> Iterator[Any]:
    """What a filter keeps, or leaves out."""
    for x in xs:
        holds = x if function is None else function(x)
        if wanted:
            if holds:
                yield x
        elif not holds:
            yield x


def mapped_members(function: Any, xs: Any) -> Any:
    """map(), of what has no order: neither has what is made of it."""
    return (function(x) for x in xs)


def kept_members(wanted: Any, function: Any, xs: Any) -> Any:
    """filter(), of such."""
    return (x for x in xs if bool(x if function is None else function(x)) == wanted)


def taken_while(function: Any, xs: Any) -> Iterator[Any]:
    for x in xs:
        if not function(x):
            return
        yield x


def dropped_while(function: Any, xs: Any) -> Iterator[Any]:
    begun = False
    for x in xs:
        if begun or not function(x):
            begun = True
            yield x


def sliced(xs: Any, *bounds: Any) -> Iterator[Any]:
    part = slice(*bounds)
    start, stop, step = part.start or 0, part.stop, part.step or 1
    if stop is not None and stop < 0:
        raise ValueError("the end of islice() is not negative")
    if stop is not None and stop == 0:
        return
    number = 0
    for x in xs:
        if number >= start and (number - start) % step == 0:
            yield x
        number = number + 1
        if stop is not None and number >= stop:
            return


def accumulated(xs: Any, function: Any = None, *, initial: Any = None) -> Iterator[Any]:
    begun, total = False, 0
    if initial is not None:
        begun, total = True, initial
        yield total
    for x in xs:
        if not begun:
            total = x
        elif function is None:
            total = total + x
        else:
            total = function(total, x)
        begun = True
        yield total


def grouped_by_device(xs: Any, keys: Any) -> Iterator[Any]:
    """itertools.groupby, of keys, or of a number of items, that only the device knows."""
    group: list[Any] = []
    for place in range(room(xs)):
        if place < len(xs):
            if place and keys[place] != keys[place - 1]:
                yield keys[place - 1], iter(group)
                group = []
            group.append(xs[place])
    if len(xs) > 0:
        yield keys[-1], iter(group)


def grouped_to_an_end(xs: Any, key: Any) -> Iterator[Any]:
    """itertools.groupby, of as many items as only the device knows."""
    return grouped_by_device(xs, xs if key is None else [key(x) for x in xs])


def chained(*sequences: Any) -> Iterator[Any]:
    for xs in sequences:
        yield from xs


def chained_rows(rows: Any) -> Iterator[Any]:
    for xs in rows:
        yield from xs


def cycled(xs: Any) -> Iterator[Any]:
    items = []
    for x in xs:
        yield x
        items.append(x)
    while items:
        yield from items


def starred(function: Any, rows: Any) -> Iterator[Any]:
    for row in rows:
        yield function(*row)


def paired(xs: Any) -> Iterator[Any]:
    iterator = iter(xs)
    last = next(iterator, END)
    if last is END:
        return
    for x in iterator:
        pair = last, x
        last = x
        yield pair


def compressed(data: Any, selectors: Any) -> Iterator[Any]:
    for x, wanted in zipped(data, iter(selectors)):
        if wanted:
            yield x


def zipped_longest(*sequences: Any, fillvalue: Any = None) -> Iterator[Any]:
    iterators = [iter(xs) for xs in sequences]
    left = [True for _ in iterators]
    while True:
        row = []
        for place, iterator in enumerate(iterators):
            x = next(iterator, END) if left[place] else END
            if x is END:
                left[place] = False
                x = fillvalue
            row.append(x)
        if not any(left):
            return
        yield tuple(row)


def batched(xs: Any, n: Any, *, strict: bool = False) -> Iterator[Any]:
    iterator = iter(xs)
    while True:
        batch = []
        for _ in range(n):
            x = next(iterator, END)
            if x is END:
                break
            batch.append(x)
        if strict and 0 < len(batch) < n:
            raise ValueError("batched(): incomplete batch")
        if not batch:
            return
        yield tuple(batch)


def copied(xs: Any, n: Any = 2) -> Any:
    iterator = iter(xs)
    items: list[Any] = []  # that one of the copies has taken

    def copy() -> Iterator[Any]:
        place = 0
        while True:
            if place == len(items):
                x = next(iterator, END)
                if x is END:
                    return
                items.append(x)
            yield items[place]
            place += 1

    return tuple([copy() for _ in range(n)])


def grouped(known: Any, xs: Any, key: Any = None) -> Iterator[Any]:
    """Of a group nothing is left when the next one has been asked for."""
    iterator = iter(xs)
    number, waiting, its = 0, END, None  # an item that no group has given yet, and its key

    def step() -> bool:
        nonlocal waiting, its
        waiting = next(iterator, END)
        if waiting is END:
            return False
        its = known(waiting if key is None else key(waiting))
        return True

    def group(own: int, wanted: Any) -> Iterator[Any]:
        nonlocal waiting
        while own == number:
            if (waiting is END and not step()) or its != wanted:
                return
            x, waiting = waiting, END
            yield x

    if not step():
        return
    while True:
        wanted, number = its, number + 1
        yield wanted, group(number, wanted)
        while its == wanted:
            if not step():
                return


def merged(*iterables: Any, key: Any = None, reverse: Any = False) -> Iterator[Any]:
    """heapq.merge(): the next item of each, of which always the least goes first."""
    heads = []
    for xs in iterables:
        rest = iter(xs)
        x = next(rest, END)
        if x is not END:
            heads.append((x if key is None else key(x), x, rest))
    while heads:
        first = 0
        for i in range(1, len(heads)):
            if (heads[first][0] < heads[i][0]) if reverse else (heads[i][0] < heads[first][0]):
                first = i
        _, least, rest = heads[first]
        yield least
        x = next(rest, END)
        if x is END:
            heads.pop(first)
        else:
            heads[first] = (x if key is None else key(x), x, rest)


def slice_indices(start: Any, stop: Any, step: Any, length: Any) -> Any:
    """slice(start, stop, step).indices(length)"""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    forward = step > 0
    low = 0 if forward else -1
    high = length if forward else length - 1
    if start is None:
        start = low if forward else high
    else:
        start = min(max(start + length if start < 0 else start, low), high)
    if stop is None:
        stop = high if forward else low
    else:
        stop = min(max(stop + length if stop < 0 else stop, low), high)
    return start, stop, step


def part_of_range(start: Any, stop: Any, step: Any, begin: Any, end: Any, by: Any) -> Any:
    """range(start, stop, step)[begin:end:by]"""
    count = len(range(start, stop, step))
    first, last, by = slice_indices(begin, end, by, count)
    return range(start + first * step, start + last * step, step * by)


def index_in_range(start: Any, stop: Any, step: Any, x: Any) -> Any:
    if x not in range(start, stop, step):
        raise ValueError("the number is not in range")
    return (x - start) // step


def count_in_range(start: Any, stop: Any, step: Any, x: Any) -> Any:
    return 1 if x in range(start, stop, step) else 0


def stored_from(xs: Any, start: Any, new: Any) -> None:
    for place, item in enumerate(new):
        xs[start + place] = item


def between(xs: Any, start: Any, stop: Any, step: Any) -> Any:
    """xs[start:stop:step], of a list of which only the device knows the length."""
    start, stop, step = slice_indices(start, stop, 1 if step is None else step, len(xs))
    places = range(start, stop, step)
    found = [item for place, item in enumerate(xs) if place in places]
    return found if step > 0 else found[::-1]


def spliced(xs: Any, start: Any, stop: Any, new: Any) -> Any:
    """xs[start:stop] = new, as a list."""
    start, stop, _ = slice_indices(start, stop, 1, len(xs))
    return xs[:start] + new + xs[max(start, stop) :]


def count_of(xs: Any, value: Any) -> Any:
    """operator.countOf"""
    return sum(1 for x in xs if x == value)


def index_of(xs: Any, value: Any) -> Any:
    """operator.indexOf"""
    for place, x in enumerate(xs):
        if x == value:
            return place
    raise ValueError("sequence.index(x): x not in sequence")
