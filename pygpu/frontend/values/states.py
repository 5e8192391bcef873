"""Walks through the values of a state: what can be reached, and what leaves a region as something
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pygpu import ssa
from pygpu.frontend.values.values import (
    ABSENT,
    Abstract,
    Array,
    Bound,
    Builtin,
    Cell,
    ClassParts,
    Conflict,
    Dict,
    Dynamic,
    Frozen,
    Function,
    Indexed,
    Instance,
    Iterator,
    Lazy,
    Maybe,
    Object,
    Slice,
    State,
    Super,
    Tuple,
)
from pygpu.ssa import Value

Key = tuple[Any, ...]  # where a leaf stands: the variable's name, then indices


def reachable(values: Iterable[Any], state: State) -> set[Object]:
    """Every object that can be reached from the values."""
    seen: set[Object] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        match value:
            case Object():
                if value not in seen:
                    seen.add(value)
                    waiting.extend(parts_of(value, state.get(value)))
                    if isinstance(value, Array) and value.base is not None:
                        waiting.append(value.base)
            case Tuple():
                waiting.extend(value.items)
            case Function():
                waiting.extend([*value.closure, *value.defaults])
                waiting.extend(value.keyword_defaults.values())
            case Bound():
                waiting.extend([value.function, *value.args, *value.keywords.values()])
            case Super() | Builtin():
                waiting.append(value.owner)
            case Slice():
                waiting.extend(value.parts)
            case Indexed():
                waiting.extend([value.length, *value.parts])
            case Lazy():
                waiting.extend(value.parts)
            case Maybe():
                waiting.append(value.value)
            case Frozen():
                waiting.extend([*value.state.locals.values(), *value.state.stack])
    return seen


def parts_of(handle: Object, contents: Any) -> Iterable[Any]:
    """The values an object's contents are made of."""
    match handle:
        case Cell():
            return (contents,)
        case Dict() | Instance() if isinstance(contents, dict):
            return tuple(contents.values())
        case Array() if isinstance(contents, np.ndarray):
            return tuple(contents.reshape(-1))
        case Iterator() if isinstance(contents, tuple):
            source, index = contents
            return (*source, index) if isinstance(source, tuple) else (source, index)
    return contents if isinstance(contents, tuple) else (contents,)


class Export:
    """Maps every leaf of a state: what leaves a region is replaced by what it is outside.

    `moved` are the objects made in the region (younger than `older`) whose contents changed so.
    """

    def __init__(self, state: State, leaf: Callable[[Value, Key], Value], older: int) -> None:
        self.state = state
        self.leaf = leaf
        self.older = older
        self.moved: list[Object] = []
        self.seen: set[Object] = set()
        self.heap: dict[Object, Any] = {}

    def states(self) -> State:
        state = self.state
        locals = {name: self.value(value, (name,)) for name, value in state.locals.items()}
        stack = [self.value(value, (f".{i}",)) for i, value in enumerate(state.stack)]
        for handle in state.heap:
            if handle.serial <= self.older or type(handle) is ClassParts:
                self.object(handle, (handle,))
        return State(locals, stack, self.heap)

    def value(self, value: Any, key: Key) -> Any:
        if not isinstance(value, Abstract):
            return value
        match value:
            case Dynamic():
                new = self.leaf(value.value, key)
                return value if new is value.value else Dynamic(new)
            case Object():
                self.object(value, key)
                return value
            case Tuple():
                items = self.sequence(value.items, key)
                return value if items is value.items else Tuple(items, value.cls)
            case Slice():
                return Slice(self.sequence(value.parts, key))
            case Super():
                return Super(value.cls, self.value(value.owner, key))
            case Builtin():
                self.value(value.owner, key)
            case Bound():
                function = self.value(value.function, key)
                keywords = {n: self.value(v, (*key, n)) for n, v in value.keywords.items()}
                return Bound(function, self.sequence(value.args, key), keywords)
            case Function():
                defaults = {n: self.value(v, (*key, n)) for n, v in value.keyword_defaults.items()}
                self.sequence(value.closure, key)
                return Function(
                    value.code,
                    value.globals,
                    self.sequence(value.defaults, key),
                    defaults,
                    value.closure,
                )
            case Maybe():
                taken = self.value(value.taken, (*key, ".taken"))
                return Maybe(taken, self.value(value.value, key))
            case Lazy():
                parts = self.sequence(value.parts, key)
                return value if parts is value.parts else Lazy(value.step, parts, value.whole)
            case Indexed():
                length = self.value(value.length, (*key, ".length"))
                parts = self.sequence(value.parts, key)
                if length is value.length and parts is value.parts:
                    return value
                return type(value)(length, value.make, value.what, parts, value.grouped)
            case Frozen():
                return self.frozen(value, key)
        return value

    def frozen(self, value: Frozen, key: Key) -> Frozen:
        old = value.state
        locals = {name: self.value(part, (*key, name)) for name, part in old.locals.items()}
        stack = [self.value(part, (*key, f".{i}")) for i, part in enumerate(old.stack)]
        heap = {handle: self.contents(handle, c, (handle,)) for handle, c in old.heap.items()}
        before = [*old.locals.values(), *old.stack, *old.heap.values()]
        after = [*locals.values(), *stack, *heap.values()]
        if all(a is b for a, b in zip(before, after, strict=True)):
            return value
        return Frozen(State(locals, stack, heap))

    def sequence(self, values: Iterable[Any], key: Key) -> tuple[Any, ...]:
        old = tuple(values)
        new = tuple([self.value(value, (*key, i)) for i, value in enumerate(old)])
        same = all(a is b for a, b in zip(old, new, strict=True))
        return values if same and isinstance(values, tuple) else new

    def object(self, handle: Object, key: Key) -> None:
        if handle in self.seen:
            return
        self.seen.add(handle)
        if isinstance(handle, Array) and handle.base is not None:
            self.object(handle.base, key)
            return
        contents = self.state.get(handle)
        new = self.contents(handle, contents, key)
        if new is not handle.initial:
            self.heap[handle] = new
            if handle.serial > self.older:
                self.moved.append(handle)

    def contents(self, handle: Object, contents: Any, key: Key) -> Any:
        if isinstance(contents, ssa.Value):
            return self.leaf(contents, key)
        if isinstance(contents, Conflict):
            return contents
        match handle:
            case Cell():
                return self.value(contents, key)
            case Dict() | Instance():
                new = {name: self.value(part, (*key, name)) for name, part in contents.items()}
                return contents if all(new[name] is contents[name] for name in new) else new
            case Array() if contents.dtype != object:
                return contents
            case Array():
                array = np.empty(contents.shape, object)
                array.reshape(-1)[:] = self.sequence(contents.reshape(-1), key)
                return array
            case Iterator():
                source, index = contents
                items = self.sequence(source, key) if isinstance(source, tuple) else source
                if isinstance(source, Abstract):
                    items = self.value(source, key)
                place = self.value(index, (*key, ".index"))
                return contents if items is source and place is index else (items, place)
        if isinstance(contents, tuple):
            return self.sequence(contents, key)
        return self.value(contents, key)


def move_out(exports: list[Export]) -> None:
    """Objects that came out of a region changed hold on every way out what they hold there, and do
    not exist anywhere else."""
    for handle in {handle for export in exports for handle in export.moved}:
        for export in exports:
            if handle in export.seen:
                export.heap.setdefault(handle, handle.initial)
        handle.initial = ABSENT


__all__ = ["Export", "Key", "move_out", "parts_of", "reachable"]
