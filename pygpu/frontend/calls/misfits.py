"""Arguments that one of the compiler's own functions does not take, said as Python says it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pygpu.core.errors import CompileError


def misfit(
    function: Any,
    rule: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    owner: tuple[Any, ...] = (),
) -> Exception | None:
    """The error if `rule`, which stands for the callable `function`, does not take the arguments.
    Where that is a class's method, the object comes apart from the arguments, as `owner`.

    >>> misfit(abs, lambda x: x, (1, 2), {})
    TypeError('abs(): too many positional arguments')
    """
    name = name_of(function)
    own = _reason(function, (*owner, *args), keywords)
    if own:
        return TypeError(f"{name}(): {own}")
    reason = _reason(rule, args, keywords)
    if not reason:
        return None
    if own is None:
        return TypeError(f"{name}(): {reason}")
    return CompileError(f"{name}() cannot be called so on dynamic values: {reason}")


def _reason(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> str | None:
    """Why the arguments do not fit a callable; None where it does not say what it takes."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        return str(error)
    return ""


def name_of(function: Any) -> str:
    """A callable as the user calls it: abs, numpy.sum, list.append."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        return repr(function)
    module = (getattr(function, "__module__", None) or "").lstrip("_")
    owner = getattr(function, "__self__", None)
    if owner is not None and not inspect.ismodule(owner) and "." not in name:
        return f"{type(owner).__name__}.{name}"
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"
