"""Containers of `collections` as Python classes, which are walked like the user's own: what a
function puts into them may be dynamic, and follows its control flow. Lists and dicts from which
classes derive are, too. They ask the overriding methods that Python's own ask, and no others.
"""

import collections
from collections.abc import Callable, Iterator
from typing import Any


def hold(holder: Any, value: Any, name: str = "held_in_c") -> None:
    """Set what C code holds in an object, past a `__setattr__` of its class."""
    object.__setattr__(holder, name, value)


class Container:
    """What those below have in common: what they hold is in a list or dict, by a name that no
    class of a user's is likely to have for something else."""

    held_in_c: Any

    def __len__(self) -> int:
        return len(self.held_in_c)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held_in_c)

    def __reversed__(self) -> Any:
        return reversed(self.held_in_c)

    def __contains__(self, value: Any) -> Any:
        return value in self.held_in_c

    def __getitem__(self, index: Any) -> Any:
        return self.held_in_c[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.held_in_c[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.held_in_c[index]

    def __ne__(self, other: object) -> Any:
        return not self == other

    def clear(self) -> None:
        self.held_in_c.clear()


class Sequence(Container):
    """What lists and deques have in common."""

    def insert(self, index: Any, value: Any) -> None:
        self.held_in_c.insert(index, value)

    def count(self, value: Any) -> int:
        return self.held_in_c.count(value)  # type: ignore[no-any-return]

    def index(self, *value: Any) -> int:
        return self.held_in_c.index(*value)  # type: ignore[no-any-return]

    def remove(self, value: Any) -> None:
        self.held_in_c.remove(value)

    def reverse(self) -> None:
        self.held_in_c.reverse()


class Deque(Sequence):
    """collections.deque"""

    stands_for = collections.deque
    maxlen: Any

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        hold(self, maxlen, "maxlen")
        hold(self, [])
        Deque.extend(self, iterable)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        return self.held_in_c[index]

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Deque):
            what = type(other).__name__
            raise TypeError(f'can only concatenate deque (not "{what}") to deque')
        return type(self)([*self.held_in_c, *other], self.maxlen)

    def __iadd__(self, other: Any) -> Any:
        Deque.extend(self, other)
        return self

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Deque) and self.held_in_c == other.held_in_c

    def append(self, value: Any) -> None:
        self.held_in_c.append(value)
        if self.maxlen is not None and len(self.held_in_c) > self.maxlen:
            del self.held_in_c[0]

    def appendleft(self, value: Any) -> None:
        self.held_in_c.insert(0, value)
        if self.maxlen is not None and len(self.held_in_c) > self.maxlen:
            del self.held_in_c[-1]

    def extend(self, iterable: Any) -> None:
        for value in iterable:
            Deque.append(self, value)

    def extendleft(self, iterable: Any) -> None:
        for value in iterable:
            Deque.appendleft(self, value)

    def insert(self, index: Any, value: Any) -> None:
        if self.maxlen is not None and len(self.held_in_c) == self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.held_in_c.insert(index, value)

    def pop(self) -> Any:
        if not self.held_in_c:
            raise IndexError("pop from an empty deque")
        return self.held_in_c.pop()

    def popleft(self) -> Any:
        if not self.held_in_c:
            raise IndexError("pop from an empty deque")
        return self.held_in_c.pop(0)

    def rotate(self, n: Any = 1) -> None:
        size = len(self.held_in_c)
        if size > 1:
            turned = [self.held_in_c[(k - n) % size] for k, _ in enumerate(self.held_in_c)]
            self.held_in_c.clear()  # iterators end here
            self.held_in_c.extend(turned)

    def copy(self) -> Any:
        return type(self)(self.held_in_c, self.maxlen)


class Mapping(Container):
    """What the dicts below have in common."""

    __missing__: Any  # of classes that have it

    def __getitem__(self, key: Any) -> Any:
        if hasattr(type(self), "__missing__") and key not in self.held_in_c:
            return self.__missing__(key)
        return self.held_in_c[key]

    def __reversed__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = reversed(list(self.held_in_c))
        return iterator

    def get(self, key: Any, default: Any = None) -> Any:
        return self.held_in_c.get(key, default)

    def keys(self) -> Any:
        return self.held_in_c.keys()

    def values(self) -> Any:
        return self.held_in_c.values()

    def items(self) -> Any:
        return self.held_in_c.items()

    def __eq__(self, other: object) -> Any:
        return self.held_in_c == (other.held_in_c if isinstance(other, Mapping) else other)

    def update(self, *mapping: Any, **named: Any) -> None:
        self.held_in_c.update(*mapping, **named)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.held_in_c.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.held_in_c.pop(key, *default)

    def popitem(self) -> Any:
        return self.held_in_c.popitem()


class DefaultDict(Mapping):
    """collections.defaultdict"""

    stands_for = collections.defaultdict
    default_factory: Any

    def __init__(self, default_factory: Any = None, *mapping: Any, **named: Any) -> None:
        hold(self, default_factory, "default_factory")
        hold(self, dict(*mapping, **named))

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = made = self.default_factory()
        return made

    def copy(self) -> Any:
        return type(self)(self.default_factory, self.held_in_c)


class OrderedDict(Mapping):
    """collections.OrderedDict"""

    stands_for = collections.OrderedDict

    def __init__(self, *mapping: Any, **named: Any) -> None:
        hold(self, {})
        OrderedDict.update(self, *mapping, **named)

    def update(self, *mapping: Any, **named: Any) -> None:
        if type(self).__setitem__ is OrderedDict.__setitem__:
            self.held_in_c.update(*mapping, **named)
            return
        for key, value in dict(*mapping, **named).items():
            self[key] = value

    def move_to_end(self, key: Any, last: Any = True) -> None:
        value = self.held_in_c.pop(key)
        if last:
            self.held_in_c[key] = value
        else:
            hold(self, {key: value, **self.held_in_c})

    def popitem(self, last: Any = True) -> Any:
        key = list(self.held_in_c)[-1 if last else 0]
        return key, self.held_in_c.pop(key)

    def copy(self) -> Any:
        return type(self)(self.held_in_c)


class Counter(Mapping):
    """collections.Counter"""

    stands_for = collections.Counter

    def __init__(self, counted: Any = (), **named: Any) -> None:
        hold(self, {})
        self.update(counted, **named)

    def __missing__(self, key: Any) -> Any:
        return 0

    def update(self, counted: Any = (), **named: Any) -> None:
        for key, count in _counts(counted, named):
            self[key] = self.get(key, 0) + count

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Counter):
            return self.held_in_c == other
        return all(count == other[key] for key, count in self.items()) and all(
            count == self[key] for key, count in other.items()
        )

    def __le__(self, other: Any) -> Any:
        return all(self[key] <= other[key] for key in [*self, *other])

    def __ge__(self, other: Any) -> Any:
        return other <= self

    def __lt__(self, other: Any) -> Any:
        return self <= other and self != other

    def __gt__(self, other: Any) -> Any:
        return other < self

    def __add__(self, other: Any) -> Any:
        return self.combined(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self.combined(other, lambda a, b: a - b)

    def __or__(self, other: Any) -> Any:
        return self.combined(other, max)

    def __and__(self, other: Any) -> Any:
        return self.combined(other, min)

    def __iadd__(self, other: Any) -> Any:
        return self.become(self + other)

    def __isub__(self, other: Any) -> Any:
        return self.become(self - other)

    def __ior__(self, other: Any) -> Any:
        return self.become(self | other)

    def __iand__(self, other: Any) -> Any:
        return self.become(self & other)

    def become(self, other: Any) -> Any:
        hold(self, other.held_in_c)
        return self

    def __pos__(self) -> Any:
        return self + Counter()

    def __neg__(self) -> Any:
        return Counter() - self

    def combined(self, other: Any, count_of: Callable[[Any, Any], Any]) -> Any:
        """What has counts above 0 of those in either."""
        if not isinstance(other, Counter):
            return NotImplemented
        both = Counter()
        for key in [*self, *[key for key in other if key not in self]]:
            count = count_of(self[key], other[key])
            if count > 0:
                both.held_in_c[key] = count
        return both

    def subtract(self, counted: Any = (), **named: Any) -> None:
        for key, count in _counts(counted, named):
            self[key] = self.get(key, 0) - count

    def total(self) -> Any:
        return sum(self.held_in_c.values())

    def elements(self) -> Any:
        return [key for key, count in self.held_in_c.items() for _ in range(count)]

    def most_common(self, n: Any = None) -> Any:
        return sorted(self.held_in_c.items(), key=lambda pair: pair[1], reverse=True)[:n]

    def copy(self) -> Any:
        return type(self)(self.held_in_c)


class DerivedDict(Mapping):
    """dict"""

    stands_for = dict

    def __init__(self, *mapping: Any, **named: Any) -> None:
        hold(self, dict(*mapping, **named))

    def __or__(self, other: Any) -> Any:
        return self.held_in_c | plain(other)

    def __ror__(self, other: Any) -> Any:
        return other | self.held_in_c

    def __ior__(self, other: Any) -> Any:
        self.held_in_c.update(plain(other))
        return self

    def copy(self) -> Any:
        return dict(self.held_in_c)


class DerivedList(Sequence):
    """list"""

    stands_for = list

    def __init__(self, items: Any = ()) -> None:
        hold(self, list(items))

    def __add__(self, other: Any) -> Any:
        return self.held_in_c + plain(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.held_in_c

    def __iadd__(self, other: Any) -> Any:
        self.held_in_c.extend(other)
        return self

    def __mul__(self, count: Any) -> Any:
        return self.held_in_c * count

    def __rmul__(self, count: Any) -> Any:
        return self.held_in_c * count

    def __imul__(self, count: Any) -> Any:
        hold(self, self.held_in_c * count)
        return self

    def __eq__(self, other: object) -> Any:
        return self.held_in_c == plain(other)

    def __lt__(self, other: Any) -> Any:
        return self.held_in_c < plain(other)

    def __le__(self, other: Any) -> Any:
        return self.held_in_c <= plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.held_in_c > plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.held_in_c >= plain(other)

    def append(self, value: Any) -> None:
        self.held_in_c.append(value)

    def extend(self, values: Any) -> None:
        self.held_in_c.extend(values)

    def pop(self, index: Any = -1) -> Any:
        return self.held_in_c.pop(index)

    def copy(self) -> Any:
        return list(self.held_in_c)

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: Any = False) -> None:
        self.held_in_c.sort(key=key, reverse=reverse)


def plain(other: Any) -> Any:
    """The list or dict in an object of a class that derives from one; others as they are."""
    return other.held_in_c if isinstance(other, (DerivedDict, DerivedList)) else other


def _counts(counted: Any, named: Any) -> Any:
    """Pairs of a key and a count."""
    pairs = list(counted.items()) if hasattr(counted, "items") else [(key, 1) for key in counted]
    return pairs + list(named.items())
