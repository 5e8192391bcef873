"""The table of operations: one row an operation, with its type rule and its meaning.

The array meaning is NumPy on float32, int32, uint32 and bool arrays (vectors have components in the
last axis, so operations on components need no case of their own). It is the definition that the
interpreter runs, that folding applies to constants, and that code generators must match.
Where Python would raise, the meaning here says what a device gives instead: integer division by
zero is 0, conversion to int saturates and takes NaN to 0.

    TABLE["add"].result((FLOAT, FLOAT), None) is FLOAT
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.types import BOOL, FLOAT, INT, Kind, Type, vector

Array = NDArray[Any]
TypeRule = Callable[[Sequence[Type], Any], Type]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: operands, type rule, array meaning.

    `pure` operations may be shared, moved and removed; all here are. `commutes`: the two operands
    may be exchanged without any change of the result.
    """

    name: str
    arity: int | None  # None: any number
    rule: TypeRule
    meaning: Callable[..., Array] | None  # None: the interpreter's own (it needs the data)
    commutes: bool = False

    def result(self, types: Sequence[Type], data: object) -> Type:
        """The type of the result. TypeError where the operands do not fit."""
        if self.arity is not None and len(types) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} operands, got {len(types)}")
        return self.rule(types, data)


# ---------------------------------------------------------------- type rules


def _same(*kinds: Kind) -> TypeRule:
    """All operands of one type, of one of these kinds; so is the result."""

    def rule(types: Sequence[Type], data: object) -> Type:
        first = types[0]
        if first.kind not in kinds or any(type is not first for type in types):
            raise TypeError(f"takes equal types of {' or '.join(kinds)}, got {list(types)}")
        return first

    return rule


def _compare(types: Sequence[Type], data: object) -> Type:
    _same("float", "int", "uint", "bool")(types, data)
    return vector("bool", types[0].size)


def _test_float(types: Sequence[Type], data: object) -> Type:
    _same("float")(types, data)
    return vector("bool", types[0].size)


def _convert(kind: Kind) -> TypeRule:
    return lambda types, data: vector(kind, types[0].size)


def _select(types: Sequence[Type], data: object) -> Type:
    condition, first, second = types
    if condition.kind != "bool" or first is not second or condition.size not in (1, first.size):
        raise TypeError(f"takes a bool (or one a component) and two equal types, got {list(types)}")
    return first


def _construct(types: Sequence[Type], data: object) -> Type:
    if not 2 <= len(types) <= 4 or any(t is not types[0] or not t.is_scalar for t in types):
        raise TypeError(f"takes 2 to 4 equal scalars, got {list(types)}")
    return vector(types[0].kind, len(types))


def _splat(types: Sequence[Type], data: int) -> Type:
    if not types[0].is_scalar or data not in (2, 3, 4):
        raise TypeError(f"takes a scalar and a size of 2 to 4, got {types[0]} and {data}")
    return vector(types[0].kind, data)


def _swizzle(types: Sequence[Type], data: tuple[int, ...]) -> Type:
    if not 1 <= len(data) <= 4 or not all(0 <= index < types[0].size for index in data):
        raise TypeError(f"components {data} of {types[0]}")
    return vector(types[0].kind, len(data))


def _element(types: Sequence[Type], data: object) -> Type:
    if types[0].is_scalar or types[1] is not INT:
        raise TypeError(f"takes a vector and an int, got {list(types)}")
    return vector(types[0].kind, 1)


def _dot(types: Sequence[Type], data: object) -> Type:
    _same("float", "int", "uint")(types, data)
    return vector(types[0].kind, 1)


def _fold_bools(types: Sequence[Type], data: object) -> Type:
    _same("bool")(types, data)
    return BOOL


def _constant(types: Sequence[Type], data: tuple[Type, object]) -> Type:
    return data[0]


def _load(types: Sequence[Type], data: Any) -> Type:
    if list(types) != [INT, INT]:
        raise TypeError(f"takes two ints, got {list(types)}")
    return data.type  # type: ignore[no-any-return]


def _floats_to_int(types: Sequence[Type], data: object) -> Type:
    """All operands are floats."""
    if any(type is not FLOAT for type in types):
        raise TypeError(f"takes floats, got {list(types)}")
    return INT


def _ints_to(result: Type) -> TypeRule:
    """All operands are ints."""

    def rule(types: Sequence[Type], data: object) -> Type:
        if any(type is not INT for type in types):
            raise TypeError(f"takes ints, got {list(types)}")
        return result

    return rule


def _word(types: Sequence[Type], data: object) -> Type:
    if types[0] is not vector("float", 4):
        raise TypeError(f"takes a vec4, got {types[0]}")
    return INT


def _table(types: Sequence[Type], data: Any) -> Type:
    if list(types) != [INT]:
        raise TypeError(f"takes an int, got {list(types)}")
    return data.type  # type: ignore[no-any-return]


def _size(types: Sequence[Type], data: object) -> Type:
    return INT


# ---------------------------------------------------------------- meanings that NumPy lacks


def _floordiv(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.floor_divide(a, b)
    wide = np.floor_divide(a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64))
    return np.where(b == 0, 0, wide).astype(a.dtype)


def _mod(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.remainder(a, b)
    wide = np.remainder(a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64))
    return np.where(b == 0, 0, wide).astype(a.dtype)


def _to_integer(dtype: type[np.integer[Any]]) -> Callable[[Array], Array]:
    """Floats are truncated and saturated, NaN is 0; integers keep their bits."""
    low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)

    def convert(a: Array) -> Array:
        if a.dtype.kind != "f":
            return a.astype(dtype)
        wide = np.nan_to_num(a.astype(np.float64), nan=0.0, posinf=high, neginf=low)
        return np.clip(np.trunc(wide), low, high).astype(dtype)

    return convert


def _shl(a: Array, b: Array) -> Array:
    """Left shift; by 32 or more (or by a negative count, which Python refuses) gives 0."""
    inside = (b >= 0) & (b < 32)
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), 0).astype(a.dtype)


def _shr(a: Array, b: Array) -> Array:
    """Right shift that keeps the sign, of uints with zeros; counts of 32 or more, or negative,
    leave the sign alone: 0 of a uint."""
    inside = (b >= 0) & (b < 32)
    shifted = np.right_shift(a, np.where(inside, b, 31).astype(a.dtype))
    return np.where(inside | (a.dtype.kind == "i"), shifted, 0).astype(a.dtype)


def _power(a: Array, b: Array) -> Array:
    """Floats: IEEE pow. Ints: wrapping power by squaring; a negative exponent gives 0."""
    if a.dtype.kind == "f":
        a, b = np.broadcast_arrays(a, b)
        spread = np.ascontiguousarray(b)  # a scalar 0.5 would be taken for sqrt: -0.0, NaN of -inf
        return _wide(np.power)(np.ascontiguousarray(a), spread).reshape(a.shape)
    with np.errstate(over="ignore"):
        base, left = np.broadcast_arrays(a, b)
        base, left = base.copy(), np.where(left < 0, 0, left).astype(a.dtype)
        result = np.ones_like(base)
        while np.any(left):
            result = np.where(left & 1, result * base, result)
            base = base * base
            left = left >> 1
    return np.where(b < 0, 0, result).astype(a.dtype)


# Lanes: the two halves of an int as float16, for devices that compute on both at once. They hold
# whole numbers of at most 2048 in units of 2**-24, which are exact (pygpu/passes/blocks/lanes.py).


def _halves(word: Array) -> Array:
    """Both lanes, the lower first, in a last axis of their own."""
    return np.ascontiguousarray(word)[..., None].view(np.float16)


def _lanes(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function of both lanes of its operands."""

    def both(*words: Array) -> Array:
        lanes = function(*map(_halves, np.broadcast_arrays(*words)))
        return np.ascontiguousarray(lanes.astype(np.float16)).view(np.int32)[..., 0]

    return both


def _lane(index: int) -> Callable[[Array], Array]:
    return lambda word: _halves(word)[..., index].astype(np.float32)


def _lanes_join(a: Array, b: Array) -> Array:
    """The upper lane of a, the lower of b."""
    return (a.view(np.uint32) >> 16 | b.view(np.uint32) << 16).view(np.int32)


def _lanes_pack(low: Array, high: Array) -> Array:
    """Both as float16."""
    both = np.stack(np.broadcast_arrays(low, high), -1)
    with np.errstate(over="ignore"):
        return both.astype(np.float16).view(np.int32)[..., 0]


def _unorm8x4(a: Array) -> Array:
    bytes = np.rint(np.clip(np.nan_to_num(a, nan=0.0), 0.0, 1.0) * 255).astype(np.uint8)
    return np.ascontiguousarray(bytes).view(np.int32)[..., 0]


def _from_unorm8x4(a: Array) -> Array:
    bytes = np.ascontiguousarray(np.asarray(a, np.int32)[..., None]).view(np.uint8)
    return (bytes / 255).astype(np.float32)


OPEN: Final = "open"  # data of a min or max: what comes of a NaN is left open


def _minimum(a: Array, b: Array) -> Array:
    """Python's min: b where b < a, else a. NaN in a stays, NaN in b is passed over."""
    return np.where(b < a, b, a)


def _maximum(a: Array, b: Array) -> Array:
    """Python's max: b where b > a, else a."""
    return np.where(b > a, b, a)


def _wide(function: Callable[..., Any]) -> Callable[..., Array]:
    """The function computed in float64 and rounded once: NumPy's float32 forms err by some ulp."""

    def rounded(*operands: Array) -> Array:
        return function(*[a.astype(np.float64) for a in operands]).astype(np.float32)  # type: ignore[no-any-return]

    return rounded


# ---------------------------------------------------------------- the table

_ARITHMETIC = _same("float", "int", "uint")
_FLOATS = _same("float")
_INTS = _same("int", "uint")
_BITS = _same("int", "uint", "bool")
_BOOLS = _same("bool")
_LANES = _ints_to(INT)
_FUSED = _wide(lambda a, b, c: a * b + c)


def _row(
    name: str,
    arity: int | None,
    rule: TypeRule,
    meaning: Callable[..., Array] | None,
    commutes: bool = False,
) -> tuple[str, Operation]:
    return name, Operation(name, arity, rule, meaning, commutes)


TABLE: Final[dict[str, Operation]] = dict(
    [
        _row("constant", 0, _constant, None),  # data: (type, number or tuple of numbers)
        # arithmetic
        _row("add", 2, _ARITHMETIC, np.add, commutes=True),
        _row("sub", 2, _ARITHMETIC, np.subtract),
        _row("mul", 2, _ARITHMETIC, np.multiply, commutes=True),
        _row("div", 2, _FLOATS, np.divide),
        _row("floordiv", 2, _ARITHMETIC, _floordiv),
        _row("mod", 2, _ARITHMETIC, _mod),  # the sign of the divisor, as Python's %
        _row("fmod", 2, _FLOATS, np.fmod),  # the sign of the dividend, as C's
        _row("pow", 2, _ARITHMETIC, _power),
        _row("fma", 3, _FLOATS, _FUSED),
        _row("neg", 1, _ARITHMETIC, np.negative),
        _row("abs", 1, _ARITHMETIC, np.abs),
        _row("sign", 1, _ARITHMETIC, np.sign),
        _row("min", 2, _ARITHMETIC, _minimum),  # data: None, or OPEN
        _row("max", 2, _ARITHMETIC, _maximum),
        # rounding, floats to floats
        _row("floor", 1, _FLOATS, np.floor),
        _row("ceil", 1, _FLOATS, np.ceil),
        _row("trunc", 1, _FLOATS, np.trunc),
        _row("round", 1, _FLOATS, np.rint),  # half to even
        # functions of floats
        _row("sqrt", 1, _FLOATS, np.sqrt),
        _row("inversesqrt", 1, _FLOATS, _wide(lambda a: 1 / np.sqrt(a))),
        _row("cbrt", 1, _FLOATS, _wide(np.cbrt)),
        _row("exp", 1, _FLOATS, _wide(np.exp)),
        _row("exp2", 1, _FLOATS, _wide(np.exp2)),
        _row("expm1", 1, _FLOATS, _wide(np.expm1)),
        _row("log", 1, _FLOATS, _wide(np.log)),
        _row("log2", 1, _FLOATS, _wide(np.log2)),
        _row("log10", 1, _FLOATS, _wide(np.log10)),
        _row("log1p", 1, _FLOATS, _wide(np.log1p)),
        _row("sin", 1, _FLOATS, _wide(np.sin)),
        _row("cos", 1, _FLOATS, _wide(np.cos)),
        _row("tan", 1, _FLOATS, _wide(np.tan)),
        _row("asin", 1, _FLOATS, _wide(np.arcsin)),
        _row("acos", 1, _FLOATS, _wide(np.arccos)),
        _row("atan", 1, _FLOATS, _wide(np.arctan)),
        _row("atan2", 2, _FLOATS, _wide(np.arctan2)),
        _row("sinh", 1, _FLOATS, _wide(np.sinh)),
        _row("cosh", 1, _FLOATS, _wide(np.cosh)),
        _row("tanh", 1, _FLOATS, _wide(np.tanh)),
        _row("asinh", 1, _FLOATS, _wide(np.arcsinh)),
        _row("acosh", 1, _FLOATS, _wide(np.arccosh)),
        _row("atanh", 1, _FLOATS, _wide(np.arctanh)),
        _row("hypot", 2, _FLOATS, _wide(np.hypot)),
        _row("copysign", 2, _FLOATS, np.copysign),
        _row("isnan", 1, _test_float, np.isnan),
        _row("isinf", 1, _test_float, np.isinf),
        # bits of ints; and, or and xor of bools too
        _row("bit_and", 2, _BITS, np.bitwise_and, commutes=True),
        _row("bit_or", 2, _BITS, np.bitwise_or, commutes=True),
        _row("bit_xor", 2, _BITS, np.bitwise_xor, commutes=True),
        _row("bit_not", 1, _INTS, np.bitwise_not),
        _row("shl", 2, _INTS, _shl),
        _row("shr", 2, _INTS, _shr),
        _row("not", 1, _BOOLS, np.logical_not),
        # comparison, a component at a time
        _row("lt", 2, _compare, np.less),
        _row("le", 2, _compare, np.less_equal),
        _row("gt", 2, _compare, np.greater),
        _row("ge", 2, _compare, np.greater_equal),
        _row("eq", 2, _compare, np.equal, commutes=True),
        _row("ne", 2, _compare, np.not_equal, commutes=True),
        # conversion
        _row("to_float", 1, _convert("float"), lambda a: a.astype(np.float32)),
        _row("to_int", 1, _convert("int"), _to_integer(np.int32)),  # of a uint the same bits
        _row("to_uint", 1, _convert("uint"), _to_integer(np.uint32)),
        _row("to_bool", 1, _convert("bool"), lambda a: a != 0),
        # choice: select(condition, if true, if false)
        _row("select", 3, _select, None),
        # vectors
        _row("construct", None, _construct, None),
        _row("splat", 1, _splat, None),  # data: the size
        _row("swizzle", 1, _swizzle, None),  # data: the components taken, one or more
        _row("element", 2, _element, None),  # by a dynamic index, clamped into the vector
        _row("dot", 2, _dot, None, commutes=True),
        _row("any", 1, _fold_bools, None),
        _row("all", 1, _fold_bools, None),
        # two small whole numbers in an int: see _halves
        _row("lanes_add", 2, _LANES, _lanes(np.add), commutes=True),
        _row("lanes_sub", 2, _LANES, _lanes(np.subtract)),
        _row("lanes_fma", 3, _LANES, _lanes(_FUSED)),
        _row("lanes_abs", 1, _LANES, _lanes(np.abs)),
        _row("lanes_min", 2, _LANES, _lanes(np.minimum), commutes=True),
        _row("lanes_max", 2, _LANES, _lanes(np.maximum), commutes=True),
        _row("lanes_join", 2, _LANES, _lanes_join),
        _row("lanes_pack", 2, _floats_to_int, _lanes_pack),  # floats, the first in the lower lane
        _row("lane_low", 1, _ints_to(FLOAT), _lane(0)),
        _row("lane_high", 1, _ints_to(FLOAT), _lane(1)),
        _row("unorm8x4", 1, _word, _unorm8x4),  # four floats in [0, 1] as bytes, the first lowest
        _row("from_unorm8x4", 1, _ints_to(vector("float", 4)), _from_unorm8x4),  # and back
        # memory: what the function is given
        _row("load", 2, _load, None),  # operands x, y; data: ssa.Load
        _row("table", 1, _table, None),  # operand: index, clamped; data: ssa.Lookup
        _row("width", 0, _size, None),  # data: the image's index
        _row("height", 0, _size, None),
    ]
)

NUMPY_TYPE: Final[dict[Kind, type[np.generic]]] = {
    "float": np.float32,
    "int": np.int32,
    "uint": np.uint32,
    "bool": np.bool_,
}

__all__ = ["BOOL", "FLOAT", "INT", "NUMPY_TYPE", "TABLE", "Operation"]
