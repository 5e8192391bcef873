"""Classes of the user's that derive from containers written in C, as classes of Python alone, whose
objects can be virtual: what is done to them follows the control flow of the function.

    class Stack(list): ...
    walked_class(w, Stack)          # a Stack that derives from DerivedList, with the same methods
"""

from __future__ import annotations

import array
import collections
import types
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_number_class, is_of_users
from pygpu.frontend.values.known import concrete, is_users_class
from pygpu.frontend.values.objects import Dict, Instance, List, Object, attributes
from pygpu.frontend.values.values import NotKnown

with later():
    from pygpu.frontend.walked import containers, derived, written

# Of the standard library's, those that are written in C.
STANDARD: Final[frozenset[Any]] = frozenset(
    (collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)
    + (bytearray, array.array)
)
NUMBERS: Final[Any] = (int, float, complex)
_WRITTEN_IN_C: Final[Any] = (list, dict, *NUMBERS, *STANDARD)
_WITHIN: Final = ("maxlen", "default_factory", "typecode")  # that are no part of any dict
_BYTEWISE: Final = ("byteswap", "frombytes", "fromfile", "fromunicode")  # change what arrays hold
HELD: Final = "held_in_c"  # what `containers` have their list or dict as
_OF_THE_CLASS: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)


def walked_class(w: Evaluator | None, cls: type) -> Any:
    """What a container of the standard library, or a class that derives from one, from list, dict
    or a kind of number, is walked as; None of others."""
    if w is None or cls in (list, dict, *NUMBERS) or not issubclass(cls, _WRITTEN_IN_C):
        return None
    known = w.environment.derived
    if cls not in known:
        known[cls] = _standing_for(cls) or _made(w, cls)
    return known[cls]


def _made(w: Evaluator, cls: type) -> Any:
    new: Any = cls.__new__
    if issubclass(cls, NUMBERS):
        if not is_number_class(cls):
            return None
    elif isinstance(new, types.FunctionType) or type(cls).__call__ is not type.__call__:
        return None
    bases = tuple([_standing_for(base) or walked_class(w, base) or base for base in cls.__bases__])
    names = {k: v for k, v in vars(cls).items() if not isinstance(v, _OF_THE_CLASS)}
    made: Any = types.new_class(
        cls.__name__, bases, {"metaclass": type(cls)}, lambda own: own.update(names)
    )
    made.stands_for = cls
    return made if is_users_class(made) else None


def _standing_for(cls: type) -> Any:
    if cls not in _WRITTEN_IN_C:
        return None
    module = written if cls in (bytearray, array.array) else containers
    module = derived if cls in NUMBERS else module
    made = [each for each in vars(module).values() if isinstance(each, type)]
    return next(each for each in made if vars(each).get("stands_for") is cls)


def method_of(w: Evaluator, function: Any, owner: type) -> Any:
    """dict.__getitem__ of an object that is walked as one of the classes above: the function that
    stands for it. None if there is none."""
    cls: Any = getattr(function, "__objclass__", None)
    stand_in = None if cls is None else _standing_for(cls)
    if stand_in is None or not issubclass(getattr(owner, "stands_for", object), cls):
        return None
    return getattr(stand_in, function.__name__, None)


class Holder(Instance):
    """An object of such a class: it holds its items in a list or dict of ours."""

    __slots__ = ()

    def hollow(self) -> Any:
        cls: Any = self.cls
        if issubclass(cls.stands_for, array.array):
            return None  # it is of a kind of number
        return cls.stands_for.__new__(cls.stands_for)

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        names = dict(zip(contents, parts, strict=True))
        items = names.pop(HELD, ())
        if hollow is None:
            return array.array(names["typecode"], items)
        if isinstance(hollow, collections.deque):
            collections.deque.__init__(hollow, items, names.pop("maxlen"))
        elif isinstance(hollow, list):
            list.extend(hollow, items)
        elif isinstance(hollow, bytearray):
            bytearray.extend(hollow, items)
        else:
            ordered = isinstance(hollow, collections.OrderedDict)
            store: Any = collections.OrderedDict.__setitem__ if ordered else dict.__setitem__
            for key in items:
                store(hollow, key, items[key])
        return super().fill(hollow, names, tuple(names.values()))

    def taken(self, real: Any, old: Any) -> Any:
        return old | attributes(real)

    def settle(self, real: Any, contents: Any, made: dict[Object, Any]) -> None:
        items = made[contents[HELD]]
        if isinstance(real, dict):
            items.clear()
            items.update(real)
        else:
            items[:] = real


def _kind(cls: Any) -> Any:
    """Which of the kinds of numbers a class derives from."""
    return next(kind for kind in NUMBERS if issubclass(getattr(cls, "stands_for", cls), kind))


class Valued(Holder):
    """An object of a class that derives from a kind of number: the number is one of its parts, and
    stays what it is."""

    __slots__ = ()

    def hollow(self) -> Any:
        return None  # it is of its number

    def fill(self, hollow: Any, contents: Any, parts: tuple[Any, ...]) -> Any:
        names = dict(zip(contents, parts, strict=True))
        cls: Any = self.cls
        real = _kind(cls).__new__(cls.stands_for, names.pop(HELD))
        return Instance.fill(self, real, names, tuple(names.values()))

    def settle(self, real: Any, contents: Any, made: dict[Object, Any]) -> None:
        pass


def number(w: Evaluator, cls: Any, args: Any, keywords: Any) -> Any:
    """float.__new__(cls, *args, **keywords) and its like, of a user's class, whichever stands for
    it; NotImplemented of other classes."""
    made = cls if "stands_for" in vars(cls) else walked_class(w, cls)
    if made is None:
        return NotImplemented
    return Valued(made, {HELD: w.call(_kind(made), *args, **keywords)})


def plain_number(w: Evaluator, value: Any) -> Any:
    """The number that an object of a class that derives from a kind of number holds, or that a
    known one is; anything else as it is."""
    if value.__class__ is Valued:
        return w.read(value)[HELD]
    return items_of(value)[0] if is_of_users(value) else value


def plain_key(w: Evaluator, key: Any) -> Any:
    """The number by which an object of such a class is found in a dict, unless the class says by
    what; anything else as it is."""
    if key.__class__ is not Valued:
        return key
    stand_in = _standing_for(_kind(key.cls))
    is_own = any(getattr(key.cls, n) is not getattr(stand_in, n) for n in ("__eq__", "__hash__"))
    return key if is_own else w.read(key)[HELD]


def with_class(w: Evaluator, value: Any) -> Any:
    """A known number of a user's class as an object of ours; anything else as it is."""
    if not is_of_users(value):
        return value
    made = Valued(walked_class(w, type(value)), {})
    made.initial = held(value, [*items_of(value), *attributes(value).values()])
    return made


def held_dict(w: Evaluator, value: Any) -> Any:
    """What dict() reads of an object whose class derives from dict: the dict in it, as it stands,
    whatever `keys` and `__getitem__` give, unless the class iterates otherwise. Others as they are.
    """
    cls: Any = value.cls if isinstance(value, Holder) else object
    kind = getattr(cls, "stands_for", object)
    names = ["__iter__"]
    if issubclass(kind, collections.OrderedDict):
        names += ["keys", "__getitem__"]
    if not issubclass(kind, dict) or any(
        getattr(cls, name) is not getattr(containers.OrderedDict, name) for name in names
    ):
        return value
    return w.read(value)[HELD]


def hollow_of(cls: Any) -> Instance:
    """An object of a class, before its constructor has run."""
    is_holder = issubclass(getattr(cls, "stands_for", object), _WRITTEN_IN_C)
    return (Holder if is_holder else Instance)(cls, {})


def items_of(real: Any) -> list[Any]:
    """The items of a Python object that can be walked as one, its values, or its number."""
    if isinstance(real, NUMBERS):
        return [_kind(type(real)).__pos__(real)]
    return list(real.values() if isinstance(real, dict) else real)


def held(real: Any, parts: list[Any]) -> dict[str, Any]:
    """What one holds, of what a Python object's items and attributes have become."""
    count = len(items_of(real))
    items, others = parts[:count], parts[count:]
    names = dict(zip(attributes(real), others, strict=True))
    if isinstance(real, dict):
        names[HELD] = Dict(dict(zip(real, items, strict=True)))
    elif isinstance(real, NUMBERS):
        names[HELD] = items[0]
    else:
        names[HELD] = List(tuple(items))
    return names | {name: getattr(real, name) for name in _WITHIN if hasattr(real, name)}


def of_known(w: Evaluator, buffer: Instance, name: str) -> Any:
    """An attribute of bytes or an array that Python gives, where all is known of the items."""
    cls: Any = buffer.cls.stands_for  # type: ignore[attr-defined]
    if name not in dir(cls):
        raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
    try:
        names = w.read(buffer)
        given = (names["typecode"],) if cls is array.array else ()
        real = cls(*given, concrete(w, names[HELD]))
    except NotKnown:
        real = None
    if real is None or name in _BYTEWISE:
        raise w.error(
            f"{cls.__name__}.{name} has no meaning on dynamic values: write it in Python, item by "
            "item"
        )
    return getattr(real, name)
