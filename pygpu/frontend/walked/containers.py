"""Containers of `collections`, and `contextlib.ExitStack`, as Python classes, which are walked like
the user's own: what a function puts into them may be dynamic, and follows its control flow. Lists
and dicts from which classes derive are, too; like those written in C they ask no overriding method.
"""

import collections
from collections.abc import Callable, Iterator
from typing import Any


class Deque:
    """collections.deque"""

    stands_for = collections.deque

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
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        return self.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.items[index]

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Deque):
            what = type(other).__name__
            raise TypeError(f'can only concatenate deque (not "{what}") to deque')
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
        if size > 1:
            turned = [self.items[(k - n) % size] for k, _ in enumerate(self.items)]
            self.items.clear()  # iterators end here
            self.items.extend(turned)

    def clear(self) -> None:
        self.items.clear()

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

    stands_for = collections.defaultdict

    def __init__(self, default_factory: Any = None, *mapping: Any, **named: Any) -> None:
        self.default_factory = default_factory
        self.data = dict(*mapping, **named)

    def __getitem__(self, key: Any) -> Any:
        return self.data[key] if key in self.data else self.__missing__(key)

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        self.data[key] = self.default_factory()
        return self.data[key]

    def copy(self) -> Any:
        return DefaultDict(self.default_factory, self.data)


class OrderedDict(Mapping):
    """collections.OrderedDict"""

    stands_for = collections.OrderedDict

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

    stands_for = collections.Counter

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


class DerivedDict(Mapping):
    """dict"""

    stands_for = dict

    def __init__(self, *mapping: Any, **named: Any) -> None:
        self.data = dict(*mapping, **named)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.data and hasattr(self, "__missing__"):
            return self.__missing__(key)
        return self.data[key]

    def __or__(self, other: Any) -> Any:
        return self.data | plain(other)

    def __ror__(self, other: Any) -> Any:
        return other | self.data

    def __ior__(self, other: Any) -> Any:
        self.data |= plain(other)
        return self

    def copy(self) -> Any:
        return dict(self.data)


class DerivedList:
    """list"""

    stands_for = list

    def __init__(self, items: Any = ()) -> None:
        self.data = list(items)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __reversed__(self) -> Any:
        return reversed(self.data)

    def __contains__(self, value: Any) -> Any:
        return value in self.data

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.data[index]

    def __add__(self, other: Any) -> Any:
        return self.data + plain(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.data

    def __iadd__(self, other: Any) -> Any:
        self.data.extend(other)
        return self

    def __mul__(self, count: Any) -> Any:
        return self.data * count

    def __rmul__(self, count: Any) -> Any:
        return self.data * count

    def __imul__(self, count: Any) -> Any:
        self.data *= count
        return self

    def __eq__(self, other: object) -> Any:
        return self.data == plain(other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __lt__(self, other: Any) -> Any:
        return self.data < plain(other)

    def __le__(self, other: Any) -> Any:
        return self.data <= plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.data > plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.data >= plain(other)

    def append(self, value: Any) -> None:
        self.data.append(value)

    def extend(self, values: Any) -> None:
        self.data.extend(values)

    def insert(self, index: Any, value: Any) -> None:
        self.data.insert(index, value)

    def pop(self, index: Any = -1) -> Any:
        return self.data.pop(index)

    def remove(self, value: Any) -> None:
        self.data.remove(value)

    def clear(self) -> None:
        self.data.clear()

    def copy(self) -> Any:
        return list(self.data)

    def count(self, value: Any) -> int:
        return self.data.count(value)

    def index(self, *value: Any) -> int:
        return self.data.index(*value)

    def reverse(self) -> None:
        self.data.reverse()

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: Any = False) -> None:
        self.data.sort(key=key, reverse=reverse)


def plain(other: Any) -> Any:
    """The list or dict in an object of a class that derives from one; others as they are."""
    return other.data if isinstance(other, (DerivedDict, DerivedList)) else other


def _counts(counted: Any, named: Any) -> Any:
    """Pairs of a key and a count."""
    pairs = list(counted.items()) if hasattr(counted, "items") else [(key, 1) for key in counted]
    return pairs + list(named.items())


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
