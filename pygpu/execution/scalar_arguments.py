"""What functions of scalars are given, by place or by keyword.

signature = plain_signature(function, values)      # without the parameters that are known
bound = Bound.of(signature, "lin_comb", args, kwargs)
bound.names, bound.values, bound.keywords
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.annotations import user_type
from pygpu.execution.arguments.signatures import RESERVED


@record(frozen=False)
class Bound:
    """The arguments of a call. The last ones are given by the names in `keywords`."""

    names: list[str]
    values: list[Any]
    keywords: list[str] = field(default_factory=list)

    @property
    def has_images(self) -> bool:
        return any(isinstance(value, ImageLike) for value in self.values)

    @classmethod
    def of(
        cls,
        signature: inspect.Signature | None,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Bound:
        """The arguments of a call in the order of the parameters, by keyword alone last. TypeError
        names the function. Without a signature all come by place."""
        if signature is None:
            if kwargs:
                raise TypeError(f"{name}() takes no keywords here, got {min(kwargs)!r}")
            return cls([f"argument {i}" for i in range(len(args))], list(args))
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        found, by_keyword = cls([], []), False
        for parameter, described in signature.parameters.items():
            if parameter not in bound.arguments:
                by_keyword = True  # what comes after one that is left out has no place
                continue
            value = bound.arguments[parameter]
            match described.kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    found.names += [f"{parameter}[{i}]" for i in range(len(value))]
                    found.values += value
                case inspect.Parameter.VAR_KEYWORD:
                    found.names += value.keys()
                    found.values += value.values()
                    found.keywords += value.keys()
                case kind:
                    found.names.append(parameter)
                    found.values.append(value)
                    if by_keyword or kind is inspect.Parameter.KEYWORD_ONLY:
                        found.keywords.append(parameter)
        return found


def plain_signature(
    function: Callable[..., Any], values: Mapping[str, Any]
) -> inspect.Signature | None:
    """The parameters that calls give; None where Python does not know them."""
    if isinstance(function, np.ufunc):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    for name, parameter in signature.parameters.items():
        if name in RESERVED:
            raise TypeError(f"vectorize: a parameter {name!r}, a name that PyGPU keeps: rename it")
        types = (user_type(parameter.annotation), user_type(parameter.default))
        if any(found is not None and found[0] in ("position", "image") for found in types):
            raise TypeError(
                f"vectorize: {name!r} is no scalar; functions of images and positions are for "
                "pygpu.compile"
            )
    unknown = values.keys() - signature.parameters.keys()
    if unknown:
        raise TypeError(f"vectorize: the function has no parameter {min(unknown)!r}")
    kept = [
        p
        for name, p in signature.parameters.items()
        if name not in values or user_type(values[name]) is not None
    ]
    return signature.replace(parameters=kept)


def with_known(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """The function of the other parameters alone, by place."""
    if not known:
        return function
    names = [n for n in inspect.signature(function).parameters if n not in known]

    def with_known(*args: Any) -> Any:
        return function(**known, **dict(zip(names, args, strict=False)))

    return with_known
