"""What known calls and operators have newly made becomes virtual, so that later changes follow the
control flow of the function. What others refer to as well came from outside and stays as it is.

    adopt(w, [1, [2]])                  # a List of 1 and a List of 2
    adopt(w, (note.append, note))       # a tuple of what nothing else refers to
"""

from __future__ import annotations

import sys
import types
from collections import Counter, abc
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pygpu.bytecode import decode
from pygpu.core.errors import mark_as_theirs
from pygpu.frontend.collections.derived import (
    NUMBERS,
    STANDARD,
    Holder,
    Valued,
    held,
    items_of,
    walked_class,
)
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.known import is_users_class
from pygpu.frontend.values.objects import (
    Array,
    Cell,
    Dict,
    Instance,
    Iterator,
    List,
    Matrix,
    Names,
    Replay,
    Set,
    Vector,
    attributes,
)
from pygpu.frontend.values.values import UNBOUND, Tuple
from pygpu.language import matrices, vectors

_NOTHING: Final[Mapping[int, Any]] = {}


def adopt(w: Evaluator | None, result: Any, given: Mapping[int, Any] = _NOTHING) -> Any:
    """A container, function with variables of its own, or object of the program's own classes, that
    a call or operator has just made, as a virtual object; other results as they are. What others
    refer to as well came from outside: it stays as it is. What was `given`, by the identity of
    what Python was given for it, is the same object in it.

    The caller holds the result in one local variable, so that the references can be counted.
    """
    kind = type(result)
    if kind in _ATOMS:
        return result
    if kind not in _HOLDING and not _is_named_tuple(kind) and not _is_own(w, kind):
        return result
    if sys.getrefcount(result) > _FRESH or _shows_others(result, given):
        return result
    return virtual(result, w, given)


def _shows_others(real: Any, given: Mapping[int, Any] = _NOTHING) -> bool:
    """Whether it is a view of an array that others refer to as well."""
    if type(real) is not np.ndarray or real.base is None:
        return False
    root = real.base
    while isinstance(root, np.ndarray) and root.base is not None:
        root = root.base
    return id(root) not in given and sys.getrefcount(root) > _SHOWN


def own(w: Evaluator | None, function: Any, *args: Any) -> Any:
    """What Python gives for a call, adopted. A function of its own, that the references to the
    result are counted alike wherever it is called from."""
    try:
        result = function(*args)
    except Exception as error:
        mark_as_theirs(error)
        raise
    return adopt(w, result)


def _is_own(w: Evaluator | None, cls: type) -> bool:
    """Whether a class comes from where the compiled function does: objects of libraries stay as
    they are, for their methods are best run by Python."""
    if w is None or not w.frames or issubclass(cls, tuple):
        return False
    if not is_users_class(cls) and walked_class(w, cls) is None:
        return False
    if cls in STANDARD:
        return True
    home = str(w.frames[0].globals.get("__name__", ""))
    same = cls.__module__.partition(".")[0] == home.partition(".")[0]
    return same and not hasattr(cls, "__del__")


def _references_of_new() -> int:
    """How many references `adopt` sees of what is new; it differs between versions of CPython."""
    count = 0

    def like_adopt(w: Evaluator | None, result: Any) -> Any:
        nonlocal count
        count = sys.getrefcount(result)
        return result

    def like_caller() -> Any:
        result: list[Any] = []
        return like_adopt(None, result)

    like_caller()
    return count


_FRESH: Final = _references_of_new()


def virtual(real: Any, w: Evaluator | None = None, given: Mapping[int, Any] = _NOTHING) -> Any:
    """A known list, dict, tuple, set, array, vector, matrix, function or object, which nothing
    refers to but who asks, as a virtual one of our own."""
    kind = type(real)
    if kind is list and _ATOMS.issuperset(map(type, real)):
        return List(tuple(real))
    if kind is tuple and _ATOMS.issuperset(map(type, real)):
        return real
    return _leaf(real) if kind in _LEAVES else Adoption(w, real, given).value(real)


def _leaf(real: Any) -> Any:
    """What holds numbers alone, or none that can be seen, as a virtual object."""
    kind = type(real)
    if kind is set:
        return Set(tuple(real))
    if kind is np.ndarray:
        return Array(real)
    if kind in _VECTORS:
        return Vector(kind, kind.TYPE, tuple(real))
    if kind in _MATRICES:
        return Matrix(kind, tuple([_leaf(row) for row in real]))
    return Iterator((Replay(real), 0))


class Adoption:
    """What is new of a result: those of its parts, and of theirs, to which nothing refers but
    others of them. So two functions that share a variable share a virtual one, and a list that both
    a function and a tuple hold is one list. The result itself is new."""

    def __init__(self, w: Evaluator | None, root: Any, given: Mapping[int, Any] = _NOTHING) -> None:
        self.w = w
        self.nodes: dict[int, tuple[Any, list[Any]]] = {}  # by identity: an object, its parts
        self.counts: Counter[int] = Counter()  # how often each is a part of one of these
        self.made = {**given}
        self.collect(root)
        while dropped := self._held(id(root)) or self._constant():
            for key in dropped:
                self.counts.subtract(map(id, self.nodes.pop(key)[1]))

    def collect(self, root: Any) -> None:
        waiting = [root]
        while waiting:
            each = waiting.pop()
            is_there = id(each) in self.nodes or id(each) in self.made
            parts = None if is_there else self._parts(each)
            if parts is not None:
                self.nodes[id(each)] = each, parts
                self.counts.update(map(id, parts))
                waiting += parts

    def _parts(self, each: Any) -> list[Any] | None:
        """What an object holds; None of one that stays as it is."""
        kind = type(each)
        if kind in _ATOMS:
            return None
        if kind is list or kind is tuple or _is_named_tuple(kind):
            return list(each)
        if kind is dict:
            return list(each.values())
        if kind is types.FunctionType:
            held = each.__closure__, each.__defaults__, *(each.__kwdefaults__ or {}).values()
            return [part for part in held if part] or None
        if kind is types.MethodType:
            return [each.__self__]
        if kind is types.CellType:
            return [] if _is_unbound(each) else [each.cell_contents]
        if kind in _LEAVES or _is_iterator(kind):
            return None if _shows_others(each, self.made) else []
        if not _is_own(self.w, kind):
            return None
        items = items_of(each) if walked_class(self.w, kind) else []
        return [*items, *attributes(each).values()]

    def excess(self) -> dict[int, int]:
        """The references to each besides those in `nodes`, which has each part twice."""
        return {
            key: sys.getrefcount(node) - 2 * self.counts[key]
            for key, (node, _) in self.nodes.items()
        }

    def _held(self, root: int) -> list[int]:
        """What others refer to as well."""
        return [key for key, n in self.excess().items() if n > _HELD and key != root]

    def _constant(self) -> list[int]:
        """The functions where none changes anything: what they hold is known."""
        kinds = {key: type(node) for key, (node, _) in self.nodes.items()}
        functions = [key for key, kind in kinds.items() if kind is types.FunctionType]
        return [] if any(map(self._changes, functions)) else functions

    def _changes(self, function: int) -> bool:
        """Whether a function holds something that may change, or sets a variable of others."""
        reached, waiting = set[int](), [function]
        while waiting:
            key = waiting.pop()
            if key in self.made:
                return True
            if key in reached or key not in self.nodes:
                continue
            reached.add(key)
            node, parts = self.nodes[key]
            kind = type(node)
            if _sets(node.__code__) if kind is types.FunctionType else kind not in _STEADY:
                return True
            waiting += map(id, parts)
        return False

    def value(self, real: Any) -> Any:
        """The virtual object that one becomes, or itself."""
        key = id(real)
        if key not in self.made:
            if key not in self.nodes:
                return real
            self._make(key, *self.nodes[key])
        return self.made[key]

    def _make(self, key: int, real: Any, parts: list[Any]) -> None:
        kind = type(real)
        if isinstance(real, tuple):
            items = tuple(map(self.value, parts))
            same = all(item is part for item, part in zip(items, parts, strict=True))
            self.made[key] = real if same else Tuple(items, kind)
        elif kind in _LEAVES or _is_iterator(kind):
            self.made[key] = _leaf(real)
        elif kind is types.FunctionType:
            self.made[key] = made = Function.of(real)
            made.closure = tuple(map(self.value, real.__closure__ or ()))
            made.defaults = tuple(map(self.value, real.__defaults__ or ()))
            made.keyword_defaults = {
                name: self.value(part) for name, part in (real.__kwdefaults__ or {}).items()
            }
            wrapped = _OF_WRAPPED if hasattr(real, "__wrapped__") else ()
            names = vars(real) | {name: getattr(real, name) for name in wrapped}
            made.attributes = Names(names) if names else None
        elif kind is types.MethodType:
            owner = self.value(real.__self__)
            self.made[key] = real if owner is real.__self__ else Bound(real.__func__, (owner,))
        elif kind not in _HOLDING and (cls := walked_class(self.w, kind)):
            self.made[key] = holder = (Valued if issubclass(kind, NUMBERS) else Holder)(cls, {})
            holder.initial = held(real, list(map(self.value, parts)))
        else:
            names = real if kind is dict else attributes(real)
            hollow = {list: List, dict: Dict, types.CellType: Cell}.get(kind)
            self.made[key] = handle = hollow(()) if hollow else Instance(kind, {})
            contents: Any = tuple(map(self.value, parts))
            if kind is types.CellType:
                contents = contents[0] if contents else UNBOUND
            elif kind is not list:
                contents = dict(zip(names, contents, strict=True))
            handle.initial = contents


def _is_unbound(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is UNBOUND
    except ValueError:
        return True


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_iterator(kind: type) -> bool:
    return kind.__module__ in ("builtins", "itertools") and issubclass(kind, abc.Iterator)


def _sets(code: types.CodeType) -> bool:
    """Whether a function, or one within it, sets variables of others, items or attributes."""
    return any(each.op in _SETTING for each in decode(code).instructions) or any(
        _sets(each) for each in code.co_consts if isinstance(each, types.CodeType)
    )


def _references_of_parts() -> int:
    """How many references `Adoption.excess` sees of what nothing else refers to."""
    empty = Adoption(None, None)
    empty.collect([[]])
    return min(empty.excess().values())


_OF_WRAPPED: Final = ("__name__", "__qualname__", "__doc__")  # which functools.wraps sets
_SETTING: Final = frozenset(("SETREF", "SETITEM", "DELITEM", "SETATTR"))
_VECTORS: Final = frozenset([*vectors.CLASSES.values(), *vectors.POSITIONS.values()])
_MATRICES: Final = frozenset(matrices.MATRICES.values())
_ATOMS: Final = frozenset([int, float, complex, bool, str, bytes, type(None), np.float64])
_LEAVES: Final = frozenset([set, np.ndarray]) | _VECTORS | _MATRICES
_STEADY: Final = frozenset([tuple, types.CellType, types.MethodType]) | (_LEAVES - {set})
ADOPTED: Final = frozenset([list, dict]) | _LEAVES
_HOLDING: Final = ADOPTED | {tuple, types.FunctionType, types.MethodType}
_HELD: Final = _references_of_parts()


def _references_of_shown() -> int:
    """The references to an array that nothing refers to but a view, as `_shows_others` counts."""
    view = np.empty(2)[1:]
    root = view.base
    return sys.getrefcount(root)


_SHOWN: Final = _references_of_shown()
