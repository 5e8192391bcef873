"""Records: values of several fields, whose classes are made fast.

    @record
    class Tap:
        dx: int
        dy: int = 0

Records are dataclasses with slots: `dataclasses.replace` and `fields` take them, and two are equal
if their fields are (with `eq=False` each is itself alone). They do not change, but for those with
`frozen=False`, which cannot be hashed unless each is itself alone. Fields of `init=False` are left
to `__post_init__`. `dataclass` has the
compiler make six functions for such a class, which takes half a millisecond; here one is made, and
the others are shared. A process that imports a hundred records starts 30 ms sooner.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(*, eq: bool = True, frozen: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T] | None = None, /, *, eq: bool = True, frozen: bool = True) -> Any:
    """Make a class of annotated fields one of records."""
    return (lambda cls: _made(cls, eq, frozen)) if cls is None else _made(cls, eq, frozen)


def _made(plain: type[Any], eq: bool, frozen: bool) -> type[Any]:
    cls: Any = dataclass(init=False, repr=False, eq=False, slots=True)(plain)
    listed = fields(cls)
    methods: dict[str, Any] = {
        "__init__": _init(cls, listed, frozen),
        "__repr__": _repr(tuple([each.name for each in listed if each.repr])),
        "__getstate__": _method(_values([each.name for each in listed])),
        "__setstate__": _restore([_setter(cls, each) for each in listed]),
    }
    if frozen:
        methods |= {"__setattr__": _set, "__delattr__": _delete}
    if eq:
        values = _values([each.name for each in listed if each.compare])
        methods |= {"__eq__": _equal(values), "__hash__": _hashed(values) if frozen else None}
    own = {name for name in vars(plain) if name in methods}
    if "__eq__" in own and vars(plain)["__hash__"] is None:  # Python's doing, not the class's
        own.discard("__hash__")
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls  # type: ignore[no-any-return]


def _init(cls: type[Any], listed: tuple[Field[Any], ...], frozen: bool) -> Any:
    """def __init__(self, dx, dy=default): set_dx(self, dx); set_dy(self, dy), where these are those
    of slots, since a frozen record lets nobody set attributes"""
    known: dict[str, Any] = {"MISSING": MISSING}
    params, lines = ["self"], []
    for number, each in enumerate(listed):
        if not each.init:  # set by __post_init__
            continue
        value = each.name
        if frozen:
            known[f"set{number}"] = _setter(cls, each)
        if each.default_factory is not MISSING:
            known[f"make{number}"], params = each.default_factory, [*params, f"{each.name}=MISSING"]
            value = f"make{number}() if {each.name} is MISSING else {each.name}"
        elif each.default is not MISSING:
            known[f"default{number}"] = each.default
            params.append(f"{each.name}=default{number}")
        else:
            params.append(each.name)
        lines.append(
            f"    set{number}(self, {value})\n" if frozen else f"    self.{each.name} = {value}\n"
        )
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()\n")
    exec(f"def __init__({', '.join(params)}):\n{''.join(lines) or '    pass'}", known)
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def _setter(cls: type[Any], each: Field[Any]) -> Callable[[Any, Any], None]:
    setter: Callable[[Any, Any], None] = getattr(cls, each.name).__set__  # of its slot
    return setter


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the fields of these names."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def text(self: Any) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{type(self).__qualname__}({shown})"

    return text


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return values(self) == values(other)

    return equal


def _hashed(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _method(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function in C is bound to no object."""
    return lambda self: function(self)


def _restore(setters: list[Callable[[Any, Any], None]]) -> Callable[[Any, Any], None]:
    def restore(self: Any, state: Any) -> None:
        for setter, value in zip(setters, state, strict=True):
            setter(self, value)

    return restore


def _set(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


__all__ = ["record"]
