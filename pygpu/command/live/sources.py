"""The file that a function is from: whether it has changed, and the function as it is there now.

The file is executed again. Where that comes to a call of `pygpu.show`, what this call asks for is
shown from then on, so that edits of its arguments count, too; else the function of the same name.
"""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pygpu.command.live.scenes import Request

# Whether a file is executed again, so that its call of `show` is to be told and not done.
AGAIN: Final[ContextVar[bool]] = ContextVar("pygpu_again", default=False)


class Reached(BaseException):
    """A file run again has come to its call of `show`; no handler may take it for an error."""

    def __init__(self, request: Request) -> None:
        self.request = request


class Source:
    """See the module's head. `path` is None for what is from no file: a cell, a prompt."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.path = _path(request.function)
        self.seen = self._stamp()

    def changed(self) -> bool:
        """Whether the file has changed since this was last asked."""
        now = self._stamp()
        has, self.seen = now not in (self.seen, 0), now
        return has

    def again(self) -> Request:
        """What is to be shown by the file as it is now. What the file raises is passed on;
        LookupError where the function is gone."""
        assert self.path is not None, "only what has a file changes"
        name = inspect.unwrap(self.request.function).__module__
        linecache.checkcache(str(self.path))
        spec = importlib.util.spec_from_file_location(name, self.path)
        assert spec is not None, "a Python file"
        module = importlib.util.module_from_spec(spec)
        if name != "__main__":  # that name is the running program's own
            sys.modules[name] = module
        token = AGAIN.set(True)
        try:
            exec(compile(self.path.read_bytes(), str(self.path), "exec"), vars(module))
        except Reached as reached:
            _close(self.request)  # only one program at a time can read a camera
            self.request = reached.request
            return self.request
        finally:
            AGAIN.reset(token)
        found: Any = module
        for part in inspect.unwrap(self.request.function).__qualname__.split("."):
            found = getattr(found, part, None)
        if found is None:
            known = inspect.unwrap(self.request.function).__qualname__
            raise LookupError(f"{self.path.name} has no function {known} any more")
        self.request = replace(self.request, function=found)
        return self.request

    def _stamp(self) -> int:
        try:
            return self.path.stat().st_mtime_ns if self.path is not None else 0
        except OSError:
            return 0  # an editor is about to put it back


def _close(request: Request) -> None:
    """Let go of what frames come from."""
    for value in (*request.images, *request.arguments.values()):
        if isinstance(value, Iterator) and hasattr(value, "close"):
            value.close()


def _path(function: Any) -> Path | None:
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return None
    return Path(file) if file is not None and Path(file).is_file() else None
