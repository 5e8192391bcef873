"""What a shader holds, flattened again as it was the last time.

To flatten an object (execution/arguments/parameters.py) is to sort what each field holds and to
make a key of it. A `Trail` is what one such walk met: classes, names, known values. An object in
which it meets the same has the same key, and only hands over its numbers and images.

    trail = Trail.of(shader)            # None for objects that are flattened at every draw
    found = trail.follow(shader)        # their uniforms and images; None: not the same
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pygpu.core.sampler import Sampler, of
from pygpu.core.storage import Storage
from pygpu.execution.arguments import uniforms
from pygpu.execution.arguments.contents import Category, category, fields_of, slots_of
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.parameters import SCALARS
from pygpu.ssa import Constant

MOST: Final = 1000  # objects that one that is followed holds
# Of these a value that is the same object has the same key.
_NEVER_CHANGE: Final = (types.NoneType, str, bytes, type, types.FunctionType, types.ModuleType)


class Found:
    """What an object holds that is not compiled in."""

    __slots__ = ("images", "met", "uniforms")

    def __init__(self) -> None:
        self.uniforms: list[Constant] = []
        self.images: list[Storage] = []
        self.met: list[int] = []  # the ids of all objects: no object may be there twice


class Node(NamedTuple):
    """A value on the way: its class, how it is taken, and what for that is known of it."""

    cls: type
    take: Callable[[Any, Any, Found], bool]
    data: Any


class Trail:
    """See the module's head. `kept` is for what the trail leads to."""

    __slots__ = ("kept", "root")

    def __init__(self, root: Node) -> None:
        self.root = root
        self.kept: dict[Any, Any] = {}

    @classmethod
    def of(cls, value: Any) -> Trail | None:
        """The trail of an object; one in which something stands twice has none."""
        root = _node(value, set())
        trail = None if root is None else cls(root)
        return None if trail is None or trail.follow(value) is None else trail

    def follow(self, value: Any) -> Found | None:
        """What the object holds; None where it is not flattened like this."""
        found, root = Found(), self.root
        try:
            if type(value) is not root.cls or not root.take(value, root.data, found):
                return None
        except (TypeError, ValueError, OverflowError):  # said in its words where it is flattened
            return None
        met = found.met
        return found if len(met) < 2 or len(set(met)) == len(met) else None


def _node(value: Any, met: set[int]) -> Node | None:
    """The node of a value; None where there is none. `met` are the ids of the objects before it."""
    cls: Any = type(value)
    kind = category(cls)
    made = _leaf(value, cls, kind)
    if made is not None or kind not in ("object", "items", "mapping"):
        return made
    if id(value) in met or len(met) >= MOST:
        return None
    met.add(id(value))
    return _branch(value, cls, kind, met)


def _leaf(value: Any, cls: Any, kind: Category) -> Node | None:
    if kind in SCALARS:
        return Node(cls, _scalar, SCALARS[kind])
    match kind:
        case "complex":
            return Node(cls, _complex, None)
        case "known":
            if cls in _NEVER_CHANGE:
                return Node(cls, _same, value)
            return Node(cls, _known, known_key(value))
        case "vector":
            return Node(cls, _vector, cls.TYPE)
        case "matrix":
            return Node(cls, _matrix, len(value))
        case "image":
            return Node(cls, _image, (of(value), value.dims))
    return None


def _branch(value: Any, cls: Any, kind: Category, met: set[int]) -> Node | None:
    """The node of an object that has others."""
    if kind == "object" and (slots_of(cls) or not hasattr(value, "__dict__")):
        return None
    children = fields_of(value, kind)
    if kind != "items" and any(type(name) is not str for name in children):
        return None
    made = []
    for child in children.values():
        node = _node(child, met)
        if node is None:
            return None
        made.append(node)
    if kind == "items":
        return Node(cls, _items, made)
    named = list(zip(children, made, strict=True))
    return Node(cls, _attributes if kind == "object" else _mapping, named)


# ---------------------------------------------------------------- how values are taken


def _scalar(value: Any, type: Any, found: Found) -> bool:
    found.uniforms.append(uniforms.convert(type, value, ""))
    return True


def _complex(value: Any, _: None, found: Found) -> bool:
    found.uniforms.append(uniforms.complex_number(value, ""))
    return True


def _vector(value: Any, type: Any, found: Found) -> bool:
    found.met.append(id(value))
    found.uniforms.append(uniforms.convert(type, value, ""))
    return True


def _matrix(value: Any, size: int, found: Found) -> bool:
    found.met.append(id(value))
    found.uniforms += uniforms.matrix(size, value, "")
    return True


def _image(value: Any, read: tuple[Sampler, int], found: Found) -> bool:
    found.met.append(id(value))
    found.images.append(value.storage)
    return of(value) is read[0] and value.dims == read[1]


def _same(value: Any, known: Any, found: Found) -> bool:
    return value is known


def _known(value: Any, key: Any, found: Found) -> bool:
    return bool(known_key(value) == key)


def _items(value: Any, nodes: list[Node], found: Found) -> bool:
    found.met.append(id(value))
    if len(value) != len(nodes):
        return False
    for item, (cls, take, data) in zip(value, nodes, strict=True):
        if type(item) is not cls or not take(item, data, found):
            return False
    return True


def _attributes(value: Any, named: list[tuple[str, Node]], found: Found) -> bool:
    return _entries(value, value.__dict__, named, found)


def _mapping(value: Any, named: list[tuple[str, Node]], found: Found) -> bool:
    return _entries(value, value, named, found)


def _entries(
    value: Any, entries: dict[Any, Any], named: list[tuple[str, Node]], found: Found
) -> bool:
    found.met.append(id(value))
    if len(entries) != len(named):
        return False
    for (name, item), (known, (cls, take, data)) in zip(entries.items(), named, strict=True):
        if name != known or type(item) is not cls or not take(item, data, found):
            return False
    return True
