"""Containers of `collections`, and `contextlib.ExitStack`, as Python classes, which are walked like
the user's own: what a function puts into them may be dynamic, and follows its control flow.
"""

from collections.abc import Callable, Iterator
from typing import Any


class Deque:
    """collections.deque"""

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        self.maxlen = maxlen
        self.items: list[Any] = []
        self.extend(iterable)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __reversed__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = reversed(self.items)
        return iterator

    def __contains__(self, value: Any) -> bool:
        return value in self.items

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.items[index]

    def __add__(self, other: Any) -> Any:
        return Deque([*self.items, *other], self.maxlen)

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Deque) and self.items == other.items

    def __ne__(self, other: object) -> Any:
        return not self == other

    def append(self, value: Any) -> None:
        self.items.append(value)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            del self.items[0]

    def appendleft(self, value: Any) -> None:
        self.items.insert(0, value)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            del self.items[-1]

    def extend(self, iterable: Any) -> None:
        for value in iterable:
            self.append(value)

    def extendleft(self, iterable: Any) -> None:
        for value in iterable:
            self.appendleft(value)

    def insert(self, index: Any, value: Any) -> None:
        if self.maxlen is not None and len(self.items) == self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.items.insert(index, value)

    def pop(self) -> Any:
        if not self.items:
            raise IndexError("pop from an empty deque")
        return self.items.pop()

    def popleft(self) -> Any:
        if not self.items:
            raise IndexError("pop from an empty deque")
        return self.items.pop(0)

    def rotate(self, n: Any = 1) -> None:
        size = len(self.items)
        if size:
            self.items = [self.items[(k - n) % size] for k, _ in enumerate(self.items)]

    def clear(self) -> None:
        self.items = []

    def copy(self) -> Any:
        return Deque(self.items, self.maxlen)

    def count(self, value: Any) -> int:
        return self.items.count(value)

    def index(self, value: Any) -> int:
        return self.items.index(value)

    def remove(self, value: Any) -> None:
        self.items.remove(value)

    def reverse(self) -> None:
        self.items.reverse()


class Mapping:
    """What the dicts below have in common."""

    data: dict[Any, Any]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __reversed__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = reversed(list(self.data))
        return iterator

    def __contains__(self, key: Any) -> bool:
        return key in self.data

    def __getitem__(self, key: Any) -> Any:
        return self.data[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[key]

    def get(self, key: Any, default: Any = None) -> Any:
        return self.data.get(key, default)

    def keys(self) -> Any:
        return self.data.keys()

    def values(self) -> Any:
        return self.data.values()

    def items(self) -> Any:
        return self.data.items()

    def __eq__(self, other: object) -> Any:
        return self.data == (other.data if isinstance(other, Mapping) else other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def update(self, *mapping: Any, **named: Any) -> None:
        self.data.update(*mapping, **named)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.data.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.data.pop(key, *default)

    def popitem(self) -> Any:
        return self.data.popitem()

    def clear(self) -> None:
        self.data.clear()


class DefaultDict(Mapping):
    """collections.defaultdict"""

    def __init__(self, default_factory: Any = None, *mapping: Any, **named: Any) -> None:
        self.default_factory = default_factory
        self.data = dict(*mapping, **named)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.data and self.default_factory is not None:
            self.data[key] = self.default_factory()
        return self.data[key]

    def copy(self) -> Any:
        return DefaultDict(self.default_factory, self.data)


class OrderedDict(Mapping):
    """collections.OrderedDict"""

    def __init__(self, *mapping: Any, **named: Any) -> None:
        self.data = dict(*mapping, **named)

    def move_to_end(self, key: Any, last: Any = True) -> None:
        value = self.data.pop(key)
        if last:
            self.data[key] = value
        else:
            self.data = {key: value, **self.data}

    def popitem(self, last: Any = True) -> Any:
        key = list(self.data)[-1 if last else 0]
        return key, self.data.pop(key)

    def copy(self) -> Any:
        return OrderedDict(self.data)


class Counter(Mapping):
    """collections.Counter"""

    def __init__(self, counted: Any = (), **named: Any) -> None:
        self.data = {}
        self.update(counted, **named)

    def __getitem__(self, key: Any) -> Any:
        return self.data.get(key, 0)

    def update(self, counted: Any = (), **named: Any) -> None:
        for key, count in _counts(counted, named):
            self.data[key] = self.data.get(key, 0) + count

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Counter):
            return self.data == other
        return all(count == other[key] for key, count in self.items()) and all(
            count == self[key] for key, count in other.items()
        )

    def subtract(self, counted: Any = (), **named: Any) -> None:
        for key, count in _counts(counted, named):
            self.data[key] = self.data.get(key, 0) - count

    def total(self) -> Any:
        return sum(self.data.values())

    def elements(self) -> Any:
        return [key for key, count in self.data.items() for _ in range(count)]

    def most_common(self, n: Any = None) -> Any:
        return sorted(self.data.items(), key=lambda pair: pair[1], reverse=True)[:n]

    def copy(self) -> Any:
        return Counter(self.data)


def _counts(counted: Any, named: Any) -> Any:
    """Pairs of a key and a count."""
    pairs = list(counted.items()) if hasattr(counted, "items") else [(key, 1) for key in counted]
    return pairs + list(named.items())


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


class ExitStack:
    """contextlib.ExitStack"""

    def __init__(self) -> None:
        self.exits: list[Callable[..., Any]] = []

    def enter_context(self, context: Any) -> Any:
        value = context.__enter__()
        self.exits.append(context.__exit__)
        return value

    def push(self, exit: Any) -> Any:
        self.exits.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def callback(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        def leave(*error: Any) -> None:
            function(*args, **keywords)

        self.exits.append(leave)
        return function

    def pop_all(self) -> Any:
        other = ExitStack()
        other.exits, self.exits = self.exits, []
        return other

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> Any:
        handled = False
        while self.exits:
            leave = self.exits.pop()
            if leave(*error):
                error, handled = (None, None, None), True
        return handled


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
