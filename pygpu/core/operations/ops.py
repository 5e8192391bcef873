"""The table of operations: one row an operation, with all that is the same on every target.

A row says of which types an operation is, what it means, who means it in Python, and what passes,
targets and tests ask of it: what it costs, what its results lie between, what becomes of NaN. A
target's own table adds how the operation is spelled there. Nobody keeps a list of operations by
hand that could be asked of the rows.

The meaning is a NumPy function on arrays of these types (meanings.py). It is the
definition: the interpreter runs it, folding applies it to constants, targets must match it.

    TABLE["add"].result((FLOAT, FLOAT), None) is FLOAT
    [code for code, row in TABLE.items() if row.cost is Cost.SERIES]
"""

import math
import operator
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

import numpy as np

from pygpu.core.host.records import record
from pygpu.core.operations import intervals, meanings
from pygpu.core.operations import type_rules as rules
from pygpu.core.operations.intervals import ANY, POSITIVE, Range, RangeRule
from pygpu.core.operations.meanings import Array, wide
from pygpu.core.operations.type_rules import TypeRule
from pygpu.types import FLOAT, INT, KINDS, Kind, Type, vector


class Cost(Enum):
    """What an operation is for a device to compute, roughly. What that weighs is a pass's own."""

    FREE = "nothing: it names a value, or puts it elsewhere"
    ONE = "an instruction"
    FEW = "some instructions, or a slow one"
    DIVISION = "a division of floats"
    NATIVE = "a function that devices have"
    SERIES = "a function that programs bring along: a polynomial and what leads to it"
    ROUNDS = "a function that programs bring along, with a loop"
    MEMORY = "a read at a place"
    GIVEN = "a number that the program is given"


@record
class Operation:
    """One operation. All are pure: they may be shared, moved and removed."""

    name: str
    arity: int | None  # None: any number
    rule: TypeRule
    meaning: Callable[..., Array] | None  # None: the interpreter's own (it needs the data)
    cost: Cost = Cost.ONE

    # Who means it, on values that are not known. A callable is given as such or, of a library that
    # is not imported here, by its full name.
    python: tuple[Any, ...] = ()  # functions of numbers, vectors and arrays, element by element
    glsl: str = ""  # such a function's name in pygpu.glsl
    works_in: Kind | None = None  # the kind that those compute in; None: the widest of operands
    symbol: str = ""  # Python's operator
    operators: tuple[Any, ...] = ()  # functions that mean the operator, with all that it is of

    # What holds of it.
    componentwise: bool = True  # each component of the result is of that component of operands
    commutes: bool = False  # its two operands may be exchanged without any change of the result
    of_neighbours: bool = False  # it is of the values of other pixels: those of what is drawn
    lowered: bool = False  # passes make it for targets that have it; the front end never does
    exact: Callable[..., Any] | None = None  # the same on wider floats than float32
    approximate: bool = False  # targets may err by what the contract allows for functions
    whole: bool = False  # the result is a whole number, an infinity or NaN
    scales: bool = False  # of operands c times as large, c > 0, the result is c times as large
    negates: bool = False  # of an int it may give the negative, or that of its bits
    on_lanes: str = ""  # the operation that does the same to two small whole numbers in an int

    # What results are.
    bounds: Range = ANY  # what a float result lies between that is not NaN, whatever the operands
    range: RangeRule | None = None  # the same for finite operands, of what these lie between
    ints: RangeRule | None = None  # the same for ints, where theirs is another
    is_total: bool = False  # of finite operands the result is finite: no NaN, within `bounds`
    nan: float | bool | int | None = None  # the result where an operand is NaN; None: it depends
    domain: tuple[Range, ...] = ()  # of operands, where targets are as accurate as promised

    # Of comparisons: `not (a < b)` is `a >= b` where no operand is NaN; `a < b` is `b > a`.
    negated: str = ""
    exchanged: str = ""

    def result(self, types: Sequence[Type], data: object) -> Type:
        """The type of the result. TypeError where the operands do not fit."""
        if self.arity is not None and len(types) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} operands, got {len(types)}")
        return self.rule(types, data)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of scalars it is of; none where operands' types differ or do not suffice."""
        if not self.arity:
            return ()
        found = []
        for kind in KINDS:
            try:
                self.result([vector(kind, 1)] * self.arity, None)
            except (TypeError, AttributeError, IndexError):
                continue
            found.append(kind)
        return tuple(found)

    def is_closed(self, kind: Kind) -> bool:
        """Whether of numbers of a kind it gives one of that kind."""
        given = vector(kind, 1)
        return kind in self.kinds and self.rule((given,) * (self.arity or 0), None) is given

    @property
    def is_memory(self) -> bool:
        """Whether its result is none of its operands' alone: texels, tables, sizes."""
        return self.cost in (Cost.MEMORY, Cost.GIVEN)

    @property
    def is_comparison(self) -> bool:
        return bool(self.negated)


# ---------------------------------------------------------------- rows

_ARITHMETIC: Final = rules.same("float", "int", "uint")
_FLOATS: Final = rules.same("float")
_INTS: Final = rules.same("int", "uint")
_BITS: Final = rules.same("int", "uint", "bool")
_BOOLS: Final = rules.same("bool")
_LANES: Final = rules.ints_to(INT)
_UNIT: Final[Range] = (-1.0, 1.0)
_LEFT: Final[Range] = (0.0, 3e38)  # of logarithms and roots
_ALL: Final[Range] = (-3e38, 3e38)
_ANGLES: Final[Range] = (-8192.0, 8192.0)
_LANE: Final[Range] = (-(2.0**-13), 2.0**-13)

OPEN: Final = "open"  # data of a min or max: what comes of a NaN is left open


def _row(
    name: str,
    arity: int | None,
    rule: TypeRule,
    meaning: Callable[..., Array] | None,
    cost: Cost = Cost.ONE,
    **facts: Any,
) -> Operation:
    return Operation(name, arity, rule, meaning, cost, **facts)


def _arithmetic(
    name: str, symbol: str, meaning: Callable[..., Array], *operators: Any, **facts: Any
) -> Operation:
    """An operator of Python's on floats and ints."""
    given = {"rule": _ARITHMETIC, "nan": math.nan, **facts}
    return Operation(name, 2, meaning=meaning, symbol=symbol, operators=operators, **given)


def _bits(
    name: str, symbol: str, meaning: Callable[..., Array], *operators: Any, **facts: Any
) -> Operation:
    """An operator of Python's on the bits of ints; of bools too unless `rule` says otherwise."""
    given = {"rule": _BITS, **facts}
    return Operation(name, 2, meaning=meaning, symbol=symbol, operators=operators, **given)


def _comparison(name: str, symbol: str, negated: str, exchanged: str, *operators: Any) -> Operation:
    """A component at a time. With a NaN none holds but `ne`."""
    return Operation(
        name, 2, rules.compare, operators[1], symbol=symbol, operators=operators,
        negated=negated, exchanged=exchanged, nan=name == "ne", commutes=exchanged == name,
    )  # fmt: skip


def _rounding(name: str, exact: np.ufunc, *python: Any) -> Operation:
    """A whole number near the operand, a float."""
    return Operation(
        name, 1, _FLOATS, exact, python=(exact, *python), glsl=name, works_in="float", exact=exact,
        whole=True, range=intervals.rounded, nan=math.nan, domain=(_ALL,),
    )  # fmt: skip


def _function(
    name: str, exact: Callable[..., Any], domain: Range, *python: Any, **facts: Any
) -> Operation:
    """A function of floats, computed in wider ones and rounded once."""
    given: dict[str, Any] = {
        "arity": 1, "rule": _FLOATS, "meaning": wide(exact), "cost": Cost.SERIES,
        "works_in": "float", "nan": math.nan, "approximate": True, **facts,
    }  # fmt: skip
    domains = given.pop("domains", (domain,) * given["arity"])
    return Operation(name, exact=exact, python=python, domain=domains, **given)


# ---------------------------------------------------------------- the table

_ROWS: Final = (
    _row("constant", 0, rules.constant, None, Cost.FREE, componentwise=False),  # type, number(s)
    # ------------------------------------------------ arithmetic
    _arithmetic("add", "+", np.add, operator.add, np.add,
                commutes=True, scales=True, range=intervals.total, on_lanes="lanes_add"),
    _arithmetic("sub", "-", np.subtract, operator.sub, np.subtract,
                scales=True, range=intervals.difference, on_lanes="lanes_sub"),
    _arithmetic("mul", "*", np.multiply, operator.mul, np.multiply,
                commutes=True, range=intervals.product, on_lanes="lanes_fma"),
    _arithmetic("div", "/", np.divide, operator.truediv, np.divide,
                rule=_FLOATS, cost=Cost.DIVISION, exact=np.divide, glsl="divide",
                works_in="float"),
    _arithmetic("floordiv", "//", meanings.floordiv, operator.floordiv, np.floor_divide,
                cost=Cost.ROUNDS, exact=np.floor_divide, ints=intervals.quotient),
    # Of the sign of the divisor, as Python's %.
    _arithmetic("mod", "%", meanings.mod, operator.mod, np.remainder,
                cost=Cost.ROUNDS, exact=np.remainder, glsl="mod", works_in="float",
                ints=intervals.remainder),
    # Of the sign of the dividend, as C's.
    _row("fmod", 2, _FLOATS, np.fmod, Cost.ROUNDS, python=(math.fmod, np.fmod), works_in="float",
         exact=np.fmod, nan=math.nan),
    _arithmetic("pow", "**", meanings.power, operator.pow, np.power,
                python=(math.pow, np.float_power), glsl="pow", works_in="float", cost=Cost.SERIES,
                exact=np.power, approximate=True, nan=None, negates=True,
                domain=((0.01, 20.0), (-4.0, 4.0))),
    _row("fma", 3, _FLOATS, meanings.fused, lowered=True, range=intervals.fused, nan=math.nan,
         on_lanes="lanes_fma"),
    _row("neg", 1, _ARITHMETIC, np.negative, exact=np.negative, nan=math.nan, scales=True,
         negates=True, range=intervals.negative, on_lanes="lanes_sub"),
    _row("abs", 1, _ARITHMETIC, np.abs, python=(np.abs,), glsl="abs",
         exact=np.abs, nan=math.nan, scales=True, bounds=POSITIVE, range=intervals.magnitude,
         on_lanes="lanes_abs"),
    _row("sign", 1, _ARITHMETIC, np.sign, python=(np.sign,), glsl="sign", exact=np.sign,
         nan=math.nan, bounds=_UNIT, negates=True),
    # Of two, Python's: a NaN that comes first stays. Data: None, or OPEN.
    _row("min", 2, _ARITHMETIC, meanings.minimum, glsl="min", scales=True, range=intervals.least,
         on_lanes="lanes_min"),
    _row("max", 2, _ARITHMETIC, meanings.maximum, glsl="max", scales=True,
         range=intervals.greatest, on_lanes="lanes_max"),
    # ------------------------------------------------ rounding, floats to floats
    _rounding("floor", np.floor),
    _rounding("ceil", np.ceil),
    _rounding("trunc", np.trunc, np.fix),
    _rounding("round", np.rint),  # half to even
    # ------------------------------------------------ functions of floats
    _function("sqrt", np.sqrt, _LEFT, math.sqrt, np.sqrt, glsl="sqrt", cost=Cost.FEW,
              meaning=np.sqrt, approximate=False, bounds=POSITIVE, range=intervals.root),
    _function("inversesqrt", lambda a: 1 / np.sqrt(a), (1e-30, 3e38), glsl="inversesqrt",
              cost=Cost.FEW),
    _function("cbrt", np.cbrt, _ALL, math.cbrt, np.cbrt),
    _function("exp", np.exp, (-87.0, 88.7), math.exp, np.exp, glsl="exp", cost=Cost.NATIVE,
              bounds=POSITIVE),
    _function("exp2", np.exp2, (-126.0, 127.9), math.exp2, np.exp2, glsl="exp2",
              cost=Cost.NATIVE, bounds=POSITIVE),
    _function("expm1", np.expm1, (-87.0, 88.7), math.expm1, np.expm1),
    _function("log", np.log, _LEFT, np.log, glsl="log", cost=Cost.NATIVE),
    _function("log2", np.log2, _LEFT, math.log2, np.log2, glsl="log2", cost=Cost.NATIVE),
    _function("log10", np.log10, _LEFT, math.log10, np.log10),
    _function("log1p", np.log1p, (-0.9999, 3e38), math.log1p, np.log1p),
    _function("sin", np.sin, _ANGLES, math.sin, np.sin, glsl="sin", bounds=_UNIT, is_total=True),
    _function("cos", np.cos, _ANGLES, math.cos, np.cos, glsl="cos", bounds=_UNIT, is_total=True),
    _function("tan", np.tan, _ANGLES, math.tan, np.tan, glsl="tan"),
    _function("asin", np.arcsin, _UNIT, math.asin, np.arcsin, glsl="asin", bounds=(-2.0, 2.0)),
    _function("acos", np.arccos, _UNIT, math.acos, np.arccos, glsl="acos", bounds=(0.0, 4.0)),
    _function("atan", np.arctan, _ALL, math.atan, np.arctan, bounds=(-2.0, 2.0), is_total=True),
    _function("atan2", np.arctan2, _ALL, math.atan2, np.arctan2, arity=2, bounds=(-4.0, 4.0),
              is_total=True),
    _function("sinh", np.sinh, (-88.7, 88.7), math.sinh, np.sinh, glsl="sinh"),
    _function("cosh", np.cosh, (-88.7, 88.7), math.cosh, np.cosh, glsl="cosh", bounds=POSITIVE),
    _function("tanh", np.tanh, (-100.0, 100.0), math.tanh, np.tanh, glsl="tanh", bounds=_UNIT,
              is_total=True),
    _function("asinh", np.arcsinh, _ALL, math.asinh, np.arcsinh, glsl="asinh"),
    _function("acosh", np.arccosh, (1.0, 3e38), math.acosh, np.arccosh, glsl="acosh",
              bounds=POSITIVE),
    _function("atanh", np.arctanh, (-0.99999, 0.99999), math.atanh, np.arctanh, glsl="atanh"),
    _function("hypot", np.hypot, (-1e38, 1e38), arity=2, nan=None, scales=True, bounds=POSITIVE),
    _function("erf", meanings.each(math.erf), _ALL, math.erf, "scipy.special.erf", bounds=_UNIT,
              is_total=True),
    _function("erfc", meanings.each(math.erfc), _ALL, math.erfc, "scipy.special.erfc",
              bounds=(0.0, 2.0), is_total=True),
    _function("gamma", meanings.each(meanings.gamma), (-40.0, 35.0), math.gamma,
              "scipy.special.gamma"),
    _function("lgamma", meanings.each(meanings.lgamma), (-3e38, 4e36), math.lgamma,
              "scipy.special.gammaln"),
    _row("copysign", 2, _FLOATS, np.copysign, python=(math.copysign, np.copysign),
         works_in="float", exact=np.copysign),
    _row("isnan", 1, rules.test_of_floats, np.isnan, python=(math.isnan, np.isnan), glsl="isnan",
         works_in="float", exact=np.isnan, nan=True),
    _row("isinf", 1, rules.test_of_floats, np.isinf, python=(math.isinf, np.isinf), glsl="isinf",
         works_in="float", exact=np.isinf, nan=False),
    # ------------------------------------------------ bits of ints; and, or and xor of bools too
    _bits("bit_and", "&", np.bitwise_and, operator.and_, np.bitwise_and, commutes=True,
          ints=intervals.common_bits),
    _bits("bit_or", "|", np.bitwise_or, operator.or_, np.bitwise_or, commutes=True,
          ints=intervals.all_bits),
    _bits("bit_xor", "^", np.bitwise_xor, operator.xor, np.bitwise_xor, commutes=True),
    _bits("shl", "<<", meanings.shl, operator.lshift, np.left_shift, rule=_INTS),
    _bits("shr", ">>", meanings.shr, operator.rshift, np.right_shift, rule=_INTS,
          ints=intervals.shifted),
    _row("bit_not", 1, _INTS, np.bitwise_not, negates=True),
    _row("not", 1, _BOOLS, np.logical_not, python=(np.logical_not,), works_in="bool"),
    # ------------------------------------------------ comparison
    _comparison("lt", "<", "ge", "gt", operator.lt, np.less),
    _comparison("le", "<=", "gt", "ge", operator.le, np.less_equal),
    _comparison("gt", ">", "le", "lt", operator.gt, np.greater),
    _comparison("ge", ">=", "lt", "le", operator.ge, np.greater_equal),
    _comparison("eq", "==", "ne", "eq", operator.eq, np.equal),
    _comparison("ne", "!=", "eq", "ne", operator.ne, np.not_equal),
    # ------------------------------------------------ conversion
    _row("to_float", 1, rules.convert("float"), lambda a: a.astype(np.float32), nan=math.nan,
         whole=True),
    _row("to_int", 1, rules.convert("int"), meanings.to_integer(np.int32), nan=0),
    _row("to_uint", 1, rules.convert("uint"), meanings.to_integer(np.uint32), nan=0),
    _row("to_bool", 1, rules.convert("bool"), lambda a: a != 0, nan=True),
    # The bits of a float as an int's, and back. Which of a NaN's bits there are is left open.
    _row("float_bits", 1, rules.bits_as("float", "int"), meanings.bits_as(np.int32)),
    _row("bits_float", 1, rules.bits_as("int", "float"), meanings.bits_as(np.float32)),
    # ------------------------------------------------ choice: select(condition, if true, if false)
    _row("select", 3, rules.select, None, range=intervals.union),
    # ------------------------------------------------ vectors
    _row("construct", None, rules.construct, None, Cost.FREE, componentwise=False,
         range=intervals.union),
    # Data: the size.
    _row("splat", 1, rules.splat, None, Cost.FREE, componentwise=False, range=intervals.union),
    # Data: the components taken, one or more.
    _row("swizzle", 1, rules.swizzle, None, Cost.FREE, componentwise=False, range=intervals.union),
    # By a dynamic index, clamped into the vector.
    _row("element", 2, rules.element, None, Cost.FEW, componentwise=False, range=intervals.union),
    _row("dot", 2, rules.dot, None, Cost.FEW, componentwise=False, commutes=True,
         range=intervals.inner, nan=math.nan),
    _row("any", 1, rules.fold_bools, None, componentwise=False),
    _row("all", 1, rules.fold_bools, None, componentwise=False),
    # ------------------------------------------------ neighbours, in fragments of what is drawn
    # The value at the right (lower) pixel less that at the left (upper) one of the two columns
    # (rows) of the block of 2 x 2 pixels: ddy is downwards.
    _row("ddx", 1, _FLOATS, None, Cost.FEW, componentwise=False, of_neighbours=True,
         scales=True),
    _row("ddy", 1, _FLOATS, None, Cost.FEW, componentwise=False, of_neighbours=True,
         scales=True),
    # ------------------------------------------------ two small whole numbers in an int
    _row("lanes_add", 2, _LANES, meanings.lanes(np.add), commutes=True, lowered=True),
    _row("lanes_sub", 2, _LANES, meanings.lanes(np.subtract), lowered=True),
    _row("lanes_fma", 3, _LANES, meanings.lanes(meanings.fused), lowered=True),
    _row("lanes_abs", 1, _LANES, meanings.lanes(np.abs), lowered=True),
    _row("lanes_min", 2, _LANES, meanings.lanes(np.minimum), commutes=True, lowered=True),
    _row("lanes_max", 2, _LANES, meanings.lanes(np.maximum), commutes=True, lowered=True),
    _row("lanes_join", 2, _LANES, meanings.lanes_join, lowered=True),
    # Of two floats, the first in the lower lane.
    _row("lanes_pack", 2, rules.floats_to_int, meanings.lanes_pack, lowered=True),
    _row("lane_low", 1, rules.ints_to(FLOAT), meanings.lane(0), lowered=True, bounds=_LANE,
         is_total=True),
    _row("lane_high", 1, rules.ints_to(FLOAT), meanings.lane(1), lowered=True, bounds=_LANE,
         is_total=True),
    # Four floats in [0, 1] as bytes, the first lowest; and back.
    _row("unorm8x4", 1, rules.word, meanings.unorm8x4, Cost.FEW, componentwise=False,
         lowered=True),
    _row("from_unorm8x4", 1, rules.ints_to(vector("float", 4)), meanings.from_unorm8x4, Cost.FEW,
         componentwise=False, lowered=True, bounds=(0.0, 1.0), is_total=True),
    # ------------------------------------------------ memory: what the function is given
    _row("load", 2, rules.load, None, Cost.MEMORY, componentwise=False),  # x, y; data: ssa.Load
    # Operand: an index, clamped; data: ssa.Lookup.
    _row("table", 1, rules.table, None, Cost.MEMORY, componentwise=False),
    _row("width", 0, rules.size_of, None, Cost.GIVEN, componentwise=False),  # data: which image
    _row("height", 0, rules.size_of, None, Cost.GIVEN, componentwise=False),
    # Of volumes, which passes make images of: x, y, z; data: ssa.Load, without an offset.
    _row("voxel", 3, rules.voxel, None, Cost.MEMORY, componentwise=False),
    _row("depth", 0, rules.size_of, None, Cost.GIVEN, componentwise=False),
    _row("plane", 0, rules.size_of, None, Cost.GIVEN, componentwise=False),  # the pixel's z
)  # fmt: skip

TABLE: Final[dict[str, Operation]] = {row.name: row for row in _ROWS}


def cost_of(code: str) -> Cost | None:
    """What an operation costs; None of `if` and `loop`, which cost what they hold."""
    row = TABLE.get(code)
    return row.cost if row else None


NUMPY_TYPE: Final[dict[Kind, type[np.generic]]] = {
    "float": np.float32,
    "int": np.int32,
    "uint": np.uint32,
    "bool": np.bool_,
}
