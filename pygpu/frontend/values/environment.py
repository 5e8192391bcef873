"""What a translation knows of the world outside the function."""

from __future__ import annotations

import builtins
import types
from collections import Counter
from typing import Any

from pygpu.core.builder import Builder
from pygpu.core.host.later import later
from pygpu.core.storage import ImageLike
from pygpu.frontend.values.dependencies import Dependencies
from pygpu.frontend.values.objects import Cell, ClassParts
from pygpu.frontend.values.values import UNBOUND, Picture
from pygpu.language.names import hint_of_name
from pygpu.ssa import ImageInput, Value

with later():
    from pygpu.core import ssa_text


class Environment:
    """What a translation knows of the world outside: what it has read, images it has captured,
    results of calls it has made, classes."""

    def __init__(self) -> None:
        self.dependencies = Dependencies()
        self.captured: list[ImageLike] = []
        self.pictures: dict[int, Picture] = {}
        self.places: set[Value] = set()  # columns and rows of texels, besides the pixel's own
        self.widened: dict[Value, tuple[Any, ...]] = {}  # numbers: what they were, or may be
        self.singles: dict[Value, type] = {}  # floats of fewer than 64 bits: their classes
        self.words: set[Value] = set()  # NumPy's numbers of 32 bits for sure
        self.ints: dict[Value, frozenset[type]] = {}  # ints: Python's own or Int, see origins.py
        self.carried: dict[Value, list[Any]] = {}  # what an int that a loop carries may be
        self.asked: dict[Value, frozenset[type]] = {}  # of which of these that was asked, and told
        self.loops_ints: dict[Value, frozenset[type]] = {}  # as `ints`, as long as `asked` holds
        self.caches: dict[Any, Any] = {}  # of functools', by Python's own
        self.memo: dict[Any, list[tuple[Any, Any, Any]]] = {}
        self.class_parts: dict[type, ClassParts] = {}  # of classes that were made in the function
        self.made: dict[int, tuple[Any, Any]] = {}  # by calls, in C: under which conditions
        self.derived: dict[type, type | None] = {}  # from containers written in C: walked as what
        self.class_cells: list[tuple[types.CellType, Cell]] = []  # what their methods close over
        self.rows: dict[Any, tuple[Any, Any]] = {}  # of tables: what makes an element of a row
        self.still: set[types.FunctionType] = set()  # called when compiling, to no one's surprise
        self.sites: list[Any] = []  # where known calls were made, in order
        self._counts: Counter[Any] = Counter()  # how often each of these was reached

    # ---- calls that Python has executed

    def count_call(self, site: Any) -> int:
        """How often a site has been reached before."""
        self.sites.append(site)
        self._counts[site] += 1
        return self._counts[site] - 1

    def forget_calls(self, since: int) -> list[Any]:
        """Let it be as if the calls since then had not been made; gives where they were."""
        forgotten = self.sites[since:]
        del self.sites[since:]
        self._counts.subtract(forgotten)
        return forgotten

    # ---- names from outside

    def read_global(self, names: dict[str, Any], name: str) -> Any:
        self.dependencies.add_global(names, name)
        if name in names:
            return names[name]
        scope = names.get("__builtins__", builtins)
        scope = scope if isinstance(scope, dict) else vars(scope)
        if name in scope:
            return scope[name]
        raise NameError(f"name '{name}' is not defined{hint_of_name(name)}")

    def read_cell(self, cell: types.CellType, name: str) -> Any:
        self.dependencies.add_cell(cell)
        try:
            contents = cell.cell_contents
        except ValueError:
            return UNBOUND
        return contents  # the methods of a class made in the function close over our own cells

    def capture(self, build: Builder, image: ImageLike) -> Picture:
        """An image that was read as a known value: a further input."""
        if id(image) not in self.pictures:
            for other in self.captured:
                if other.storage is image.storage:
                    index = self.pictures[id(other)].index
                    break
            else:
                index, place = len(build.images), len(self.captured)
                name = f"{ssa_text.NOUNS[image.dims]}{place}"
                build.images.append(ImageInput(name, image.format.type, image.dims))
            self.captured.append(image)
            self.pictures[id(image)] = Picture(
                index,
                build.images[index].name,
                image.format.type,
                image.boundary,
                tuple(image.cval),
                image.interpolation,
                image.dims,
            )
        return self.pictures[id(image)]
