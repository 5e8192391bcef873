"""Records: values of several fields, whose classes are made fast.

    @record
    class Tap:
        dx: int
        dy: int = 0

Records are dataclasses with slots: `dataclasses.replace` and `fields` take them, and two are equal
if their fields are (with `eq=False` each is itself alone). They do not change, but for those with
`frozen=False`, which cannot be hashed unless each is itself alone. Fields of `init=False` are left
to `__post_init__`.

`dataclass` has the compiler make six functions for such a class, and looks at each of its fields,
which takes 0.5 ms; a process imports a hundred records and makes objects of few. So here all but
the constructor are shared functions, and the constructor, and what `fields` gives, are made when
they are first asked for: 0.04 ms.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(
    *, eq: bool = True, frozen: bool = True, weak: bool = False
) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type[T] | None = None, /, *, eq: bool = True, frozen: bool = True, weak: bool = False
) -> Any:
    """Make a class of annotated fields one of records. `weak`: they take weak references."""
    make = partial(_made, eq=eq, frozen=frozen, weak=weak)
    return make if cls is None else make(cls)


def _made(plain: Any, eq: bool, frozen: bool, weak: bool) -> Any:
    inherited: dict[str, Field[Any]] = {}
    for base in plain.__mro__[:0:-1]:
        inherited |= vars(base).get("__record__", {})
    own = _fields_of(plain)
    listed = inherited | own
    namespace = {
        name: value
        for name, value in vars(plain).items()
        if name not in own and name not in ("__dict__", "__weakref__")
    }
    if "__eq__" in namespace and namespace["__hash__"] is None:
        del namespace["__hash__"]  # Python's doing, not the class's
    methods = {**_methods(list(listed.values()), eq, frozen), "__record__": listed}
    slots = [name for name in own if name not in inherited] + ["__weakref__"] * weak
    namespace = {**methods, **namespace, "__slots__": tuple(slots)}
    cls = type(plain)(plain.__name__, plain.__bases__, namespace)
    cls.__qualname__ = plain.__qualname__
    return cls


def _fields_of(plain: type[Any]) -> dict[str, Field[Any]]:
    """The fields that a class itself has."""
    found = {}
    for name, kind in plain.__annotations__.items():
        if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
            value = vars(plain).get(name, MISSING)
            each: Field[Any] = value if isinstance(value, Field) else field(default=value)
            each.name, each.type = name, kind
            found[name] = each
    return found


def _methods(listed: list[Field[Any]], eq: bool, frozen: bool) -> dict[str, Any]:
    names = [each.name for each in listed]
    methods: dict[str, Any] = {
        "__init__": _Later(lambda cls: _init(cls, frozen)),
        "__dataclass_fields__": _Later(lambda cls: _described(cls, frozen)),
        "__match_args__": tuple([each.name for each in listed if each.init]),
        "__replace__": lambda self, /, **changes: replace(self, **changes),
        "__repr__": _repr(tuple([each.name for each in listed if each.repr])),
        "__getstate__": _method(_values(names)),
        "__setstate__": _restore(names),
    }
    if frozen:
        methods |= {"__setattr__": _set, "__delattr__": _delete}
    if eq:
        values = _values([each.name for each in listed if each.compare])
        methods |= {"__eq__": _equal(values), "__hash__": _hashed(values) if frozen else None}
    return methods


class _Later:
    """An attribute of a record that a function of the class makes when it is first asked for."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def __set_name__(self, cls: type[Any], name: str) -> None:
        self.cls, self.name = cls, name

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        made = self.make(self.cls)
        setattr(self.cls, self.name, made)
        return made.__get__(instance, owner) if callable(made) else made


def _described(cls: Any, frozen: bool) -> Any:
    """What `dataclasses` is to find of a record."""
    listed = cls.__record__
    kinds = {name: each.type for name, each in listed.items()}
    # Where there is no docstring `dataclass` makes one by `inspect.signature`, which takes 3 ms.
    names = {"__module__": cls.__module__, "__doc__": cls.__name__}
    namespace = {"__annotations__": kinds, **names, **listed}
    like: Any = type(cls.__name__, (), namespace)
    like = dataclass(eq=False, repr=False, init=False, frozen=frozen)(like)
    cls.__dataclass_params__ = like.__dataclass_params__
    return like.__dataclass_fields__


def _init(cls: Any, frozen: bool) -> Any:
    """def __init__(self, dx, dy=default): set_dx(self, dx); set_dy(self, dy), where these are those
    of slots, since a frozen record lets nobody set attributes"""
    known: dict[str, Any] = {"MISSING": MISSING}
    params, lines = ["self"], []
    for number, each in enumerate(cls.__record__.values()):
        if not each.init:  # set by __post_init__
            continue
        if each.kw_only is True and "*" not in params:
            params.append("*")
        value = each.name
        if frozen:
            known[f"set{number}"] = getattr(cls, each.name).__set__  # of its slot
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


def _restore(names: list[str]) -> Callable[[Any, Any], None]:
    def restore(self: Any, state: Any) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return restore


def _set(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
