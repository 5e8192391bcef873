"""Compiled functions as methods of objects."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pygpu.core.host.later import later
from pygpu.execution.arguments import plain

with later():
    from pygpu.execution.inspection import lowered
    from pygpu.execution.inspection import profile as profiling


class BoundMethod:
    """A compiled method of an object: calls give the object as the first argument."""

    def __init__(self, compiled: Any, instance: Any) -> None:
        self.__func__ = compiled
        self.__self__ = instance
        self.__wrapped__ = types.MethodType(compiled.__wrapped__, instance)
        self.__name__ = compiled.signature.name
        self.__doc__ = compiled.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> lowered.Lowered:
        """As `lower` of the compiled function."""
        made: lowered.Lowered = self.__func__.lower(self.__self__, *args, **kwargs)
        return made

    def profile(self, *args: Any, **kwargs: Any) -> profiling.Profile:
        """As `profile` of the compiled function."""
        found: profiling.Profile = self.__func__.profile(self.__self__, *args, **kwargs)
        return found

    def iterate(self, image: Any, n: int, *args: Any, **kwargs: Any) -> Any:
        """As `iterate` of the compiled function."""
        return self.__func__.iterate(image, n, self.__self__, *args, **kwargs)

    def export(self, path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> Path:
        """As `export` of the compiled function."""
        page: Path = self.__func__.export(path, self.__self__, *args, **kwargs)
        return page

    def map(self, *args: Any, **kwargs: Any) -> Any:
        """As `map` of the compiled function."""
        return self.__func__.map(self.__self__, *args, **kwargs)

    def plain_binding(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        convert: Callable[[type, Any], Any] = plain.in_class,
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments for the plain method."""
        args, kwargs = self.__func__.plain_binding((self.__self__, *args), kwargs, convert)
        if args:
            return args[1:], kwargs
        first = self.__func__.signature.parameters[0].name
        return (), {name: value for name, value in kwargs.items() if name != first}

    @property
    def target(self) -> str:
        """The target on which calls run."""
        return str(self.__func__.target)

    def on(self, target: str) -> BoundMethod:
        """As `on` of the compiled function."""
        return BoundMethod(self.__func__.on(target), self.__self__)

    def recompile(self) -> None:
        self.__func__.recompile()

    def __repr__(self) -> str:
        return f"<compiled method {self.__name__} of {self.__self__!r}>"
