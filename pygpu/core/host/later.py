"""Modules that are imported when something of theirs is first asked for.

    with later():
        from pygpu.frontend.protocols import indexing, tables

    ...
    tables.item(...)      # the first such line runs the module, all others find it as any module

What is named in the block is found at once and run later: a process runs what its programs use. It
is for modules, since a name taken from one would be asked for at once; and what is in the block is
of no use while the module that it stands in is imported.

A module is run by one thread, while others that ask for it wait, and forks wait too. Each has a
lock, and no two threads wait for each other's, since there is no circle of imports. Handlers of
signals run in the main thread between any two instructions, and what they call would find a module
that has not been run to its end: where a program has handlers of its own, the main thread has its
modules run undisturbed.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, Final

from pygpu.core.host.collector import lasting
from pygpu.core.host.forks import IMPORTING
from pygpu.core.host.undisturbed import is_disturbed, undisturbed

# What Python asks any module for, without wanting what it holds.
_OF_ALL: Final = frozenset(
    f"__{name}__"
    for name in ("spec", "loader", "package", "path", "name", "file", "cached", "class")
)


class _Later(ModuleType):
    """A module that has not been run, or not to its end."""

    def __getattribute__(self, name: str) -> Any:
        if name not in _OF_ALL:
            loader = ModuleType.__getattribute__(self, "__loader__")
            if isinstance(loader, _Loader):  # else another thread has just run it
                loader.run(self)
        return ModuleType.__getattribute__(self, name)


class _Loader:
    """Runs a module later, by the loader that it would have had."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.lock = threading.RLock()
        self.is_running = False

    def create_module(self, spec: ModuleSpec) -> None:
        """One as Python makes them."""

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _Later

    def run(self, module: _Later) -> None:
        if is_disturbed() and _has_handlers():
            undisturbed(self._run, module)
        else:
            self._run(module)

    def _run(self, module: _Later) -> None:
        with IMPORTING, self.lock, running():
            # What a module defines may be looked up in it while it is run, by this thread.
            if self.is_running or type(module) is not _Later:
                return
            self.is_running = True
            try:
                self.real.exec_module(module)
            finally:
                self.is_running = False
            module.__spec__.loader = module.__loader__ = self.real  # type: ignore[union-attr]
            module.__class__ = ModuleType  # type: ignore[assignment]


def _has_handlers() -> bool:
    """Whether signals call functions of the program's own; `signal` would make enumerations."""
    found = map(_signal.getsignal, range(1, _signal.NSIG))
    return any(callable(each) and each is not _signal.default_int_handler for each in found)


class _Finder:
    """Finds a module that is a file in the one folder of its room, and rooms in rooms; PathFinder,
    which looks for all that it could be, takes four times as long."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None or len(path) != 1 or not name.startswith("pygpu."):
            return None
        room = os.path.join(path[0], name.rpartition(".")[2])
        file, folders = room + ".py", None
        if not os.path.isfile(file):
            file, folders = os.path.join(room, "__init__.py"), [room]
            if not os.path.isfile(file):
                return None
        spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file)
        spec.has_location = True
        spec.submodule_search_locations = folders
        return spec


_FINDER: Final = _Finder()


class running(lasting):  # noqa: N801
    """Modules of the package that are imported in the block are found sooner than others, and what
    they make while they are run is no work for the collector of garbage."""

    __slots__ = ("is_lasting", "modules")

    def __enter__(self) -> None:
        super().__enter__()
        self.modules = len(sys.modules)
        sys.meta_path.insert(0, _FINDER)

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(_FINDER)
        self.is_lasting = len(sys.modules) > self.modules
        super().__exit__(*error)


class later:  # noqa: N801 - read as a word of the language
    """Modules that are imported in the block are run when something of theirs is asked for."""

    __slots__ = ("thread",)

    def __enter__(self) -> None:
        self.thread = threading.get_ident()
        sys.meta_path.insert(0, self)

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks for a module that it has not imported: one that is run later. What is
        not written in Python is made by its own loader alone: should such be imported meanwhile, by
        what a collection of garbage calls, it is imported at once."""
        if threading.get_ident() != self.thread:
            return None
        spec = _FINDER.find_spec(name, path) or PathFinder.find_spec(name, path, target)
        is_module = spec is not None and spec.submodule_search_locations is None
        if spec is not None and is_module and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec
