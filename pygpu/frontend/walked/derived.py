"""Numbers from which users' classes derive, as Python classes, which are walked: what such a class
does not do otherwise is done with the number that its object holds, and gives Python's own.

    class Degrees(float): ...
    Degrees(x) + 1                      # Number's __add__, of the x in it: a float
"""

import math
import operator
from collections.abc import Callable
from typing import Any


def number_of(value: Any) -> Any:
    """The number in such an object; anything else as it is."""
    return value.held_in_c if isinstance(value, Number) else value


def _of_one(function: Any) -> Callable[..., Any]:
    return lambda self, *more: function(self.held_in_c, *more)


def _of_two(function: Any) -> Callable[..., Any]:
    return lambda self, other: function(self.held_in_c, number_of(other))


def _swapped(function: Any) -> Callable[..., Any]:
    return lambda self, other: function(number_of(other), self.held_in_c)


def _method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **keywords: getattr(self.held_in_c, name)(*args, **keywords)


def _attribute(name: str) -> Any:
    return property(lambda self: getattr(self.held_in_c, name))


class Number:
    """What ints, floats and complex numbers have in common."""

    held_in_c: Any

    def __repr__(self) -> str:
        return repr(self.held_in_c)

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.held_in_c, spec) if spec else str(self)


_TWO = "add sub mul truediv floordiv mod pow lshift rshift and or xor".split()
_ONE = {"bool": bool, "int": int, "float": float, "hash": hash, "complex": complex}
_ONE |= {"round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}
_ONE |= {name: getattr(operator, f"__{name}__") for name in "neg pos invert index".split()}
_ONE["abs"] = abs
_COMPARED = "eq ne lt le gt ge".split()


def _standing_for(kind: Any) -> Any:
    """A class with all that a number's class has."""
    names: dict[str, Any] = {"stands_for": kind, "__new__": staticmethod(kind.__new__)}
    for name in (*_TWO, *_COMPARED):
        function = getattr(operator, f"__{name}__")
        names[f"__{name}__"] = _of_two(function)
        names[f"__r{name}__"] = _swapped(function)
    names["__divmod__"], names["__rdivmod__"] = _of_two(divmod), _swapped(divmod)
    names |= {f"__{name}__": _of_one(function) for name, function in _ONE.items()}
    for name, found in vars(kind).items():
        if name[0] != "_" and callable(found):
            names[name] = _method(name)
        elif name[0] != "_" and not isinstance(found, (classmethod, staticmethod)):
            names[name] = _attribute(name)
    own = {n: each for n, each in names.items() if n in dir(kind) or n == "stands_for"}
    return type(f"Derived{kind.__name__.title()}", (Number,), own)


DerivedFloat: Any = _standing_for(float)
DerivedInt: Any = _standing_for(int)
DerivedComplex: Any = _standing_for(complex)
