"""What a function's parameters hold when it is called, as Python binds them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pygpu.frontend.values.callables import Function
from pygpu.frontend.values.objects import Dict
from pygpu.frontend.values.values import tuple_of


def bind(function: Function, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """A function's parameters with their values; the TypeErrors that Python gives."""
    code, defaults = function.code, function.defaults
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    locals = dict(zip(names[:count], args, strict=False))
    rest = args[count:]
    place = count + only
    takes_rest = code.co_flags & inspect.CO_VARARGS
    if takes_rest:
        locals[names[place]] = tuple_of(tuple(rest))
        place += 1
    elif rest:
        raise TypeError(
            f"{code.co_qualname}() takes {count} positional arguments but {len(args)} were given"
        )
    more: dict[str, Any] = {}
    if keywords:
        accepted = names[code.co_posonlyargcount : count + only]
        for name, value in keywords.items():
            if name in accepted:
                if name in locals and name in names[: len(args)]:
                    raise TypeError(
                        f"{code.co_qualname}() got multiple values for argument '{name}'"
                    )
                locals[name] = value
            elif code.co_flags & inspect.CO_VARKEYWORDS:
                more[name] = value
            else:
                raise TypeError(f"{code.co_qualname}() got an unexpected keyword argument '{name}'")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        locals[names[place]] = Dict(more)
    first_default = count - len(defaults)
    missing = []
    for index in range(len(args), count):
        if names[index] not in locals:
            if index >= first_default:
                locals[names[index]] = defaults[index - first_default]
            else:
                missing.append(names[index])
    for name in names[count : count + only]:
        if name not in locals:
            if name in function.keyword_defaults:
                locals[name] = function.keyword_defaults[name]
            else:
                missing.append(name)
    if missing:
        shown = ", ".join(map(repr, missing))
        raise TypeError(f"{code.co_qualname}() missing required arguments: {shown}")
    return locals
