"""What leaves a region: each leaf of a state that was computed in it becomes what it is outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pygpu import ssa
from pygpu.frontend.values.objects import Array, ClassParts, Object
from pygpu.frontend.values.states import State, parts_held
from pygpu.frontend.values.values import ABSENT, Abstract, Dynamic, Key, Parts
from pygpu.ssa import Value


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
        self.facts: dict[Value, frozenset[int]] = dict(state.facts)

    def states(self) -> State:
        state = self.state
        locals = {name: self.value(value, (name,)) for name, value in state.locals.items()}
        stack = [self.value(value, (f".{i}",)) for i, value in enumerate(state.stack)]
        for handle in state.heap:
            if handle.serial <= self.older or type(handle) is ClassParts:
                self.object(handle, (handle,))
        return State(locals, stack, self.heap, self.facts)

    def value(self, value: Any, key: Key) -> Any:
        if isinstance(value, Dynamic):
            new = self.leaf(value.value, key)
            if new is value.value:
                return value
            if value.value in self.state.facts:
                self.facts[new] = self.state.facts[value.value]
            return Dynamic(new)
        if isinstance(value, Object):
            self.object(value, key)
        elif isinstance(value, Abstract):
            parts = value.parts()
            exported = self.exported(parts, key)
            return value if exported is None else value.rebuild(exported)
        elif isinstance(value, ssa.Value):  # a whole vector, in an object
            return self.leaf(value, key)
        return value

    def exported(self, parts: Parts, key: Key) -> tuple[Any, ...] | None:
        """The parts as they are outside; None if they are the same."""
        new = tuple([self.value(part, (*key, *name)) for name, part in parts])
        return None if all(a is b for (_, a), b in zip(parts, new, strict=True)) else new

    def object(self, handle: Object, key: Key) -> None:
        if handle in self.seen:
            return
        self.seen.add(handle)
        if isinstance(handle, Array) and handle.base is not None:
            self.object(handle.base, key)
            return
        contents = self.state.get(handle)
        exported = self.exported(parts_held(handle, contents), key)
        new = contents if exported is None else handle.gather(contents, exported)
        if new is not handle.initial:
            self.heap[handle] = new
            if handle.serial > self.older:
                self.moved.append(handle)


def move_out(exports: Iterable[Export]) -> None:
    """Objects that came out of a region changed hold on every way out what they hold there, and do
    not exist anywhere else."""
    for handle in {handle for export in exports for handle in export.moved}:
        for export in exports:
            if handle in export.seen:
                export.heap.setdefault(handle, handle.initial)
        handle.initial = ABSENT


__all__ = ["Export", "move_out"]
