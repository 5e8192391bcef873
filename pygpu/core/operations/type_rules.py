"""Type rules: of which types an operation's operands may be, and of which its result then is.

A rule raises a TypeError where operands do not fit. `data` is what the operation holds besides its
operands.

    same("float", "int")([FLOAT, FLOAT], None) is FLOAT
"""

from collections.abc import Callable, Sequence
from typing import Any

from pygpu.types import BOOL, FLOAT, INT, Kind, Type, vector

TypeRule = Callable[[Sequence[Type], Any], Type]


def same(*kinds: Kind) -> TypeRule:
    """All operands of one type, of one of these kinds; so is the result."""

    def rule(types: Sequence[Type], data: object) -> Type:
        first = types[0]
        equal = first.kind in kinds
        for type in types:
            equal = equal and type is first
        if not equal:
            raise TypeError(f"takes equal types of {' or '.join(kinds)}, got {list(types)}")
        return first

    return rule


def compare(types: Sequence[Type], data: object) -> Type:
    same("float", "int", "uint", "bool")(types, data)
    return vector("bool", types[0].size)


def test_of_floats(types: Sequence[Type], data: object) -> Type:
    same("float")(types, data)
    return vector("bool", types[0].size)


def convert(kind: Kind) -> TypeRule:
    return lambda types, data: vector(kind, types[0].size)


def select(types: Sequence[Type], data: object) -> Type:
    condition, first, second = types
    if condition.kind != "bool" or first is not second or condition.size not in (1, first.size):
        raise TypeError(f"takes a bool (or one a component) and two equal types, got {list(types)}")
    return first


def construct(types: Sequence[Type], data: object) -> Type:
    if not 2 <= len(types) <= 4 or any(t is not types[0] or not t.is_scalar for t in types):
        raise TypeError(f"takes 2 to 4 equal scalars, got {list(types)}")
    return vector(types[0].kind, len(types))


def splat(types: Sequence[Type], data: int) -> Type:
    if not types[0].is_scalar or data not in (2, 3, 4):
        raise TypeError(f"takes a scalar and a size of 2 to 4, got {types[0]} and {data}")
    return vector(types[0].kind, data)


def swizzle(types: Sequence[Type], data: tuple[int, ...]) -> Type:
    if not 1 <= len(data) <= 4 or not all(0 <= index < types[0].size for index in data):
        raise TypeError(f"components {data} of {types[0]}")
    return vector(types[0].kind, len(data))


def element(types: Sequence[Type], data: object) -> Type:
    if types[0].is_scalar or types[1] is not INT:
        raise TypeError(f"takes a vector and an int, got {list(types)}")
    return vector(types[0].kind, 1)


def dot(types: Sequence[Type], data: object) -> Type:
    same("float", "int", "uint")(types, data)
    return vector(types[0].kind, 1)


def fold_bools(types: Sequence[Type], data: object) -> Type:
    same("bool")(types, data)
    return BOOL


def constant(types: Sequence[Type], data: tuple[Type, object]) -> Type:
    return data[0]


def load(types: Sequence[Type], data: Any) -> Type:
    if list(types) != [INT, INT]:
        raise TypeError(f"takes two ints, got {list(types)}")
    return data.type  # type: ignore[no-any-return]


def voxel(types: Sequence[Type], data: Any) -> Type:
    if list(types) != [INT, INT, INT]:
        raise TypeError(f"takes three ints, got {list(types)}")
    return data.type  # type: ignore[no-any-return]


def floats_to_int(types: Sequence[Type], data: object) -> Type:
    """All operands are floats."""
    if any(type is not FLOAT for type in types):
        raise TypeError(f"takes floats, got {list(types)}")
    return INT


def bits_as(given: Kind, made: Kind) -> TypeRule:
    """The operand is of one kind; the result has its bits, and is of another."""

    def rule(types: Sequence[Type], data: object) -> Type:
        if types[0].kind != given:
            raise TypeError(f"takes a {given}, got {types[0]}")
        return vector(made, types[0].size)

    return rule


def ints_to(result: Type) -> TypeRule:
    """All operands are ints."""

    def rule(types: Sequence[Type], data: object) -> Type:
        if any(type is not INT for type in types):
            raise TypeError(f"takes ints, got {list(types)}")
        return result

    return rule


def word(types: Sequence[Type], data: object) -> Type:
    if types[0] is not vector("float", 4):
        raise TypeError(f"takes a vec4, got {types[0]}")
    return INT


def table(types: Sequence[Type], data: Any) -> Type:
    if list(types) != [INT]:
        raise TypeError(f"takes an int, got {list(types)}")
    return data.type  # type: ignore[no-any-return]


def size_of(types: Sequence[Type], data: object) -> Type:
    return INT
