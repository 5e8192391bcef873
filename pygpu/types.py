"""The types the compiler reasons with: scalars and vectors of floats, integers and bools.

A `Type` is a kind and a number of components; scalars have one. Equal types are the same object,
so types compare by identity. An int is signed, a uint is not; both have 32 bits.
Names are GLSL's: float, vec3, ivec2, uvec2, bvec4.

    vector("float", 3) is vector("float", 3); str(vector("int", 2)) == "ivec2"
"""

from typing import Final, Literal

Kind = Literal["float", "int", "uint", "bool"]
KINDS: Final[tuple[Kind, ...]] = ("bool", "int", "uint", "float")  # as they widen

_PREFIX: Final = {"float": "vec", "int": "ivec", "uint": "uvec", "bool": "bvec"}


class Type:
    """A scalar (size 1) or vector (size 2 to 4) type. Made only here; compare with `is`."""

    __slots__ = ("is_scalar", "kind", "name", "size")

    def __init__(self, kind: Kind, size: int) -> None:
        self.kind: Final = kind
        self.size: Final = size
        self.is_scalar: Final = size == 1
        self.name: Final = kind if size == 1 else f"{_PREFIX[kind]}{size}"

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return vector, (self.kind, self.size)


_TYPES: Final = {(kind, size): Type(kind, size) for kind in KINDS for size in (1, 2, 3, 4)}

FLOAT: Final = _TYPES["float", 1]
INT: Final = _TYPES["int", 1]
UINT: Final = _TYPES["uint", 1]
BOOL: Final = _TYPES["bool", 1]
INTEGERS: Final[tuple[Kind, ...]] = ("int", "uint")


def vector(kind: Kind, size: int) -> Type:
    """The type of `size` components of a kind; a scalar where size is 1."""
    return _TYPES[kind, size]


def wider(first: Type, second: Type) -> Type:
    """That of two types whose kind is the wider."""
    return max(first, second, key=lambda type: KINDS.index(type.kind))


def widest(*kinds: Kind) -> Kind:
    """The kind in which arithmetic of them works: bool < int < uint < float."""
    if kinds.count(kinds[0]) == len(kinds):
        return kinds[0]
    return max(kinds, key=KINDS.index)
