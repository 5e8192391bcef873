"""What the library's functions of objects mean on those that the function has made: attributes by
name, operators that change their operand, copies, text, and what `dataclasses` takes apart.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import types
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.errors import shown
from pygpu.core.host.later import later
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import datamodel, operators, pictures
from pygpu.frontend.values import ranges
from pygpu.frontend.values.callables import Bound, Builtin, Function
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Text, is_word, scalar_kind
from pygpu.frontend.values.known import concrete, lift
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.objects import Dict, Instance, List, Matrix, Object, Thrown, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Dynamic,
    Natural,
    NotKnown,
    Picture,
    Tuple,
    describe,
    tuple_of,
)
from pygpu.frontend.walked import asked, library
from pygpu.types import INT

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import derived, numerals, remembered, splitting, texts, words
    from pygpu.frontend.protocols import attributes, indexing


# ---------------------------------------------------------------- attributes and items


def _getattr(w: Evaluator, value: Any, name: Any, *default: Any) -> Any:
    name = concrete(w, name)
    if default and attributes.is_property(w, value, name):
        return w.call(library.attribute_or, value, name, *default)
    if default and isinstance(value, Picture) and not pictures.has_attribute(value, str(name)):
        return default[0]
    if default and isinstance(value, Dynamic) and not _hasattr(w, value, name):
        return default[0]
    try:
        return attributes.attribute(w, value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(w: Evaluator, value: Any, name: Any) -> Any:
    name = concrete(w, name)
    if attributes.is_property(w, value, name):
        return w.call(library.has_attribute, value, name)
    own = not isinstance(value, Abstract) or isinstance(value, Instance)
    found = datamodel.has_by_class(w, value, name)
    if found is not None:
        return found
    if isinstance(value, Vector):  # as plain Python's, not as NumPy's, which it stands for too
        return hasattr(value.cls(*[0] * value.type.size), name)
    if isinstance(value, Dynamic):
        is_position = name == "x" and value.type is INT and is_word(value)
        return is_position or datamodel.in_each_class(w, value, name)
    if isinstance(value, Picture):
        return isinstance(name, str) and pictures.has_attribute(value, name)
    if not own and isinstance(name, str) and datamodel.in_class(value, name):
        return True
    try:
        attributes.attribute(w, value, name)
    except AttributeError:
        return False
    return True


def _setattr(w: Evaluator, value: Any, name: Any, new: Any) -> None:
    attributes.set_attribute(w, value, concrete(w, name), new)


def _delattr(w: Evaluator, value: Any, name: Any) -> None:
    attributes.delete_attribute(w, value, concrete(w, name))


def _of_object(method: Any) -> Rule:
    """object.__setattr__ and the like."""
    return lambda w, value, name, *new: method(w, value, concrete(w, name), *new)


def _in_place(symbol: str) -> Rule:
    return lambda w, a, b: operators.in_place(w, symbol, a, b)


_IN_PLACE: Final = {
    operator.iadd: "+=",
    operator.isub: "-=",
    operator.imul: "*=",
    operator.itruediv: "/=",
    operator.ifloordiv: "//=",
    operator.imod: "%=",
    operator.ipow: "**=",
    operator.imatmul: "@=",
    operator.iand: "&=",
    operator.ior: "|=",
    operator.ixor: "^=",
    operator.ilshift: "<<=",
    operator.irshift: ">>=",
    operator.iconcat: "+=",
}


# ---------------------------------------------------------------- namespaces and copies


def _namespace(w: Evaluator, *args: Any, **fields: Any) -> Any:
    if args:  # from 3.13 on
        named = w.call(dict, args[0])
        fields = {**w.read(named), **fields}
    return Instance(types.SimpleNamespace, fields)


def _copy(w: Evaluator, value: Any) -> Any:
    """copy.copy: a new object with the same contents."""
    own = datamodel.find_method(w, value, "__copy__")
    return _copied(w, value, lambda part: part) if own is None else w.call(own)


def _deepcopy(w: Evaluator, value: Any, memo: Any = None) -> Any:
    """copy.deepcopy: objects in it are copied too, each once."""
    made: dict[Any, Any] = {}

    def deep(part: Any) -> Any:
        known = None if isinstance(part, Abstract) else lift(part)
        if known is not None and not isinstance(known, Object):
            return copy.deepcopy(part)
        part = part if known is None else known
        if part not in made:
            own = datamodel.find_method(w, part, "__deepcopy__")
            made[part] = _copied(w, part, deep, made) if own is None else w.call(own, Dict({}))
        return made[part]

    return deep(value)


def _copied(
    w: Evaluator, value: Any, part_of: Callable[[Any], Any], made: dict[Any, Any] | None = None
) -> Any:
    """A new object with the parts of one, each as `part_of` gives it."""
    if isinstance(value, Tuple):
        return value.rebuild(tuple(map(part_of, value.items)))
    if not isinstance(value, Object):
        return value
    copied = value.like(value, False)
    assert copied is not None
    if made is not None:
        made[value] = copied
    contents = w.read(value)
    if isinstance(value, Matrix):  # its rows are its own
        parts = tuple([_copied(w, row, part_of) for row in contents])
    else:
        parts = tuple([part_of(part) for _, part in value.parts_of(contents)])
    w.write(copied, value.gather(contents, parts))
    return copied


# ---------------------------------------------------------------- functions that remember


def _lru_cache(w: Evaluator, maxsize: Any = 128, typed: Any = False) -> Any:
    if isinstance(maxsize, Function):
        return remembered.cached(w, maxsize, 128)
    made = functools.lru_cache(maxsize, typed)
    if callable(maxsize):
        return made

    def wrap(f: Any) -> Any:
        return remembered.cached(w, f, maxsize, typed) if type(f) is Function else w.call(made, f)

    return Builtin("lru_cache", wrap)


def _update_wrapper(w: Evaluator, wrapper: Any, wrapped: Any, *more: Any, **keywords: Any) -> Any:
    """functools.update_wrapper of a nested function, which stays one."""
    if not isinstance(wrapper, Function) or more or keywords:
        return NotImplemented
    kept: dict[str, Any] = {}
    if isinstance(wrapped, Function) and wrapped.attributes is not None:
        kept = dict(w.read(wrapped.attributes))
    elif not isinstance(wrapped, Abstract):
        kept = dict(getattr(wrapped, "__dict__", {}))
    kept["__wrapped__"] = wrapped
    for name in ("__name__", "__qualname__", "__doc__"):
        if isinstance(wrapped, Function) or hasattr(wrapped, name):
            kept[name] = w.attribute(wrapped, name)
    for name, value in kept.items():
        attributes.set_attribute(w, wrapper, name, value)
    return wrapper


def _wraps(w: Evaluator, wrapped: Any, *more: Any, **keywords: Any) -> Any:
    """functools.wraps of a nested function."""
    if more or keywords:
        return NotImplemented
    return Bound(functools.update_wrapper, (), {"wrapped": wrapped})


# ---------------------------------------------------------------- text


def _text(function: Any) -> Rule:
    """str and repr, of what is known throughout or says itself."""

    def rule(w: Evaluator, value: Any = "", *more: Any, **keywords: Any) -> Any:
        try:
            return w.native(function, (value, *more), keywords)
        except NotKnown:
            pass
        if isinstance(value, Raised) and value.held is not None:
            value = value.held
        for name in ("__str__", "__repr__") if function is str else (f"__{function.__name__}__",):
            method = datamodel.find_method(w, value, name)
            if method is not None:
                return w.call(method, *more)
        if function is str and isinstance(value, Thrown):
            return w.call(library.message_of, value)
        if function is ascii or (function is repr and texts.is_written(value)):
            return value if isinstance(value, Text) else Text(describe(value))
        return texts.of_value(w, value, *more)

    return rule


def _in_base(base: int, prefix: str) -> Rule:
    """bin, oct and hex."""

    def rule(w: Evaluator, value: Any) -> Any:
        method = datamodel.find_method(w, value, "__index__")
        value = w.call(method) if method is not None else value
        if not isinstance(value, Abstract):
            return {2: bin, 8: oct, 16: hex}[base](value)
        if scalar_kind(value) not in ("int", "uint", "bool"):
            raise TypeError(
                f"'{datamodel.class_of(value).__name__}' object cannot be interpreted as an "
                f"integer: {describe(value)}"
            )
        return texts.numeral(w, w.call(int, value), base, 0, prefix)

    return rule


def _code(w: Evaluator, letter: Any) -> Any:
    """ord(letter)"""
    if isinstance(letter, Choice):
        return words.number_of_each(w, ord, letter)
    if texts.is_written(letter) and w.length(letter) == 1:
        return w.call(ord, w.item(letter, 0))
    return NotImplemented


def _refuse_method(w: Evaluator, name: str) -> Any:
    if name not in dir(str):
        raise AttributeError(f"'str' object has no attribute '{name}'")
    raise w.error(
        f"str.{name} has no meaning on a string whose characters only the device knows: loop over "
        "them, or compute with the number itself"
    )


def _by_form(make: Callable[..., Any]) -> Rule:
    return lambda w, number, form, *more: texts.of_form(w, number, form, make, *more)


def _counted(w: Evaluator, number: Any, start: Any) -> Any:
    is_natural = type(number) is Dynamic and number.type is INT and ranges.is_natural(w, start)
    return Natural(number.value) if is_natural else number


def _digit(w: Evaluator, letter: Any, base: int) -> Any:
    if isinstance(letter, Abstract):
        return w.call(int, letter, base)
    try:
        return int(letter, base)
    except ValueError as wrong:
        if not w.conditions:
            raise
        w.check(True, ValueError, str(wrong))
        return 0


def _room(w: Evaluator, xs: Any) -> Any:
    some = lists.bounded(w, xs)
    return w.length(xs) if some is None else some.most


def _options(w: Evaluator, text: Any) -> list[Any]:
    """What each character may be."""
    held = texts.letters(w, text)
    items = held.items if isinstance(held, Bounded) else held
    return [getattr(each, "options", (each,)) for each in items]


def _may_begin(w: Evaluator, text: Any, few: str) -> bool:
    return any(letter in few for letter in _options(w, text)[0])


def _greatest(w: Evaluator, text: Any, base: int) -> int:
    number, letters = 0, _options(w, text)
    if base not in (2, 8, 16) or any("-" in options for options in letters):
        return 0
    for options in letters:
        digits = [int(each, base) for each in options if each.isalnum() and int(each, 36) < base]
        number = number * base + max(digits, default=0)
    return number


def _before(w: Evaluator, a: Any, b: Any) -> Any:
    """a < b, of strings: a list of places is compared, with 0 behind the end of each."""
    held = [texts.letters(w, text) for text in (a, b)]
    slots = [own.items[: own.most] if isinstance(own, Bounded) else own for own in held]
    found = words.ranked(w, [*slots[0], *slots[1]])
    if found is None:
        raise w.error(f"{describe(a)} and {describe(b)} cannot be put in order")
    places = found[0][: len(slots[0])], found[0][len(slots[0]) :]
    longest = max(map(len, places))
    columns = []
    for own, its in zip(held, places, strict=True):
        column = [w.binary("+", place, 1) for place in its] + [0] * (longest - len(its))
        for at in range(len(its)) if isinstance(own, Bounded) else ():
            column[at] = w.choose(lists.is_there(w, own, at), column[at], 0)
        columns.append(tuple_of(tuple(column)))
    return w.compare("<", *columns)


# ---------------------------------------------------------------- dataclasses


def _asdict(w: Evaluator, value: Any, *, dict_factory: Any = dict) -> Any:
    taken = _by_fields(w, dict_factory, lambda name, part: tuple_of((name, part)))
    return taken(_checked(value, "asdict"))


def _astuple(w: Evaluator, value: Any, *, tuple_factory: Any = tuple) -> Any:
    return _by_fields(w, tuple_factory, lambda name, part: part)(_checked(value, "astuple"))


def _by_fields(w: Evaluator, factory: Any, item: Callable[[str, Any], Any]) -> Callable[[Any], Any]:
    """What makes of each dataclass, in containers too, what a factory gives of its items."""

    def taken(part: Any) -> Any:
        return _taken_apart(w, part, taken, fields)

    def fields(part: Instance) -> Any:
        names = [field.name for field in dataclasses.fields(part.cls)]
        items = [item(name, taken(attributes.attribute(w, part, name))) for name in names]
        return w.call(factory, List(tuple(items)))

    return taken


def _checked(value: Any, name: str) -> Any:
    if not isinstance(value, Instance) or not dataclasses.is_dataclass(value.cls):
        raise TypeError(f"{name}() should be called on dataclass instances")
    return value


def _taken_apart(w: Evaluator, part: Any, taken: Any, fields: Any) -> Any:
    """A part of a dataclass with the dataclasses in it taken apart."""
    part = lift(part) if not isinstance(part, Picture) else part
    if isinstance(part, Instance) and dataclasses.is_dataclass(part.cls):
        return fields(part)
    if isinstance(part, (List, Tuple, Dict)):
        return _copied(w, part, taken)
    return part if vector_type(part) is None else _copied(w, lift(part), taken)


OBJECT_RULES: Final[dict[Any, Rule]] = {
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    delattr: _delattr,
    object.__setattr__: _of_object(attributes.store_plain),
    object.__delattr__: _of_object(attributes.delete_plain),
    object.__getattribute__: _of_object(attributes.plain_attribute),
    operator.setitem: lambda w, xs, index, new: indexing.set_item(w, xs, index, new),
    operator.delitem: lambda w, xs, index: indexing.delete_item(w, xs, index),
    **{function: _in_place(symbol) for function, symbol in _IN_PLACE.items()},
    types.SimpleNamespace: _namespace,
    functools.cache: lambda w, f: (
        remembered.cached(w, f) if type(f) is Function else NotImplemented
    ),
    functools.lru_cache: _lru_cache,
    functools.update_wrapper: _update_wrapper,
    functools.wraps: _wraps,
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
    str: _text(str),
    repr: _text(repr),
    ascii: _text(ascii),
    format: _text(format),
    bin: _in_base(2, "0b"),
    oct: _in_base(8, "0o"),
    hex: _in_base(16, "0x"),
    chr: lambda w, x: texts.character(w, x) if isinstance(x, Abstract) else NotImplemented,
    ord: _code,
    asked.refuse_method: _refuse_method,
    asked.letters: _by_form(lambda *given: List(numerals.letters(*given))),
    asked.count: _by_form(lambda *given: numerals.count(*given)),
    asked.letter: _by_form(lambda *given: numerals.letter(*given)),
    asked.filled: _by_form(lambda *given: texts.filled(*given)),
    asked.joined: lambda w, separator, parts: texts.joined(w, separator, w.items(parts)),
    asked.letters_of_all: lambda w, parts: texts.letters_of_all(w, parts),
    asked.justified: lambda w, s, width, fill, side: texts.justified(w, s, width, fill, side),
    asked.split: lambda w, s, separator, most: splitting.split(w, s, separator, most),
    asked.may_begin: _may_begin,
    asked.greatest: _greatest,
    asked.before: _before,
    asked.digit: _digit,
    asked.room: _room,
    asked.counted: _counted,
    asked.other: lambda w, buffer, name: derived.of_known(w, buffer, name),
    shown: lambda w, value: describe(value),  # in what our own functions refuse
    dataclasses.fields: lambda w, value: dataclasses.fields(datamodel.class_of(value)),
    dataclasses.is_dataclass: lambda w, x: dataclasses.is_dataclass(datamodel.class_of(x)),
    dataclasses.asdict: _asdict,
    dataclasses.astuple: _astuple,
}
# Those that change an object: of one from outside they say so.
CHANGING: Final = frozenset([setattr, delattr, operator.setitem, operator.delitem, *_IN_PLACE])
REMEMBERING: Final = frozenset([functools.cache, functools.lru_cache])
