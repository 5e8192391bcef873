"""Numbers, known and dynamic, as values of the SSA.

as_value(w, 2, FLOAT)                # the constant 2.0
dynamic(w, "add", first, second)     # what an operation makes, as a scalar of the walk
"""

from __future__ import annotations

import math
from typing import Any

from pygpu.frontend.joins.joining import Renumbered
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.values import Abstract, Dynamic
from pygpu.language.scalars import FLOAT_LIMIT, fit
from pygpu.ssa import Value
from pygpu.types import FLOAT, INT, Kind, Type, vector


def number_of(w: Evaluator, value: Any, kind: Kind) -> bool | int | float:
    """A known number as a constant of a kind; integers are taken modulo 2**32."""
    if kind == "float":
        number = float(value)
        if abs(number) >= FLOAT_LIMIT and abs(number) != math.inf:
            if w.conditions:  # on a path that may not be taken, what float32 has for it
                return math.copysign(math.inf, number)
            raise w.error(
                f"{value} does not fit in a 32-bit float: the largest is about 3.4e38, and "
                "math.inf is larger than all"
            )
        return number
    if kind == "bool":
        return bool(value)
    try:
        return fit(int(value)) % 2**32 if kind == "uint" else fit(int(value))
    except OverflowError:
        raise w.error(
            f"{int(value)} needs more than 32 bits, and integers on the device have no more: "
            f"where a result in 32-bit floats will do, write float({int(value)}); where only the "
            f"lower 32 bits of the result are used, ({int(value)} & 0xFFFFFFFF)"
        ) from None


def hint_of_number(value: Any) -> str:
    """What a message adds where a number was taken for a vector or sequence; "" for others."""
    if scalar_kind(value) is None:
        return ""
    return ": it is one number, as images of one channel give; use it as it is"


def bounded(value: Any) -> Any:
    """A number to compare with floats: beyond their range an infinity does as well."""
    if isinstance(value, (int, float)) and abs(value) >= FLOAT_LIMIT:
        return math.inf if value > 0 else -math.inf
    return value


def convert(w: Evaluator, value: Value, kind: Kind) -> Value:
    """A value of another kind: to int truncated, to bool compared with 0; uints keep their bits."""
    return value if value.type.kind == kind else w.build.emit(f"to_{kind}", value, name=value.name)


def as_value(w: Evaluator, contents: Any, type: Type) -> Value:
    """A number, a Dynamic, an SSA value or a tuple of scalars as an SSA value of the type."""
    if isinstance(contents, Dynamic):
        contents = contents.value
        if contents.__class__ is Value and contents.type is type:
            return contents
    elif contents.__class__ is float and type is FLOAT and -FLOAT_LIMIT < contents < FLOAT_LIMIT:
        return w.build.constant(FLOAT, contents)
    elif contents.__class__ is int and type is INT and -(2**31) <= contents < 2**31:
        return w.build.constant(INT, contents)
    if isinstance(contents, Renumbered):
        contents = _in_numbers(w, contents)
    if isinstance(contents, Value):
        value = convert(w, contents, type.kind)
        if value.type.size == type.size:
            return value
        return w.build.emit("splat", value, data=type.size)
    if isinstance(contents, tuple):
        if not any(isinstance(part, Abstract) for part in contents):
            numbers = [number_of(w, part, type.kind) for part in contents]
            return w.build.constant(type, tuple(numbers))
        whole = whole_of(contents, type)
        if whole is not None:
            return whole
        scalar = vector(type.kind, 1)
        parts = [as_value(w, part, scalar) for part in contents]
        return w.build.emit("construct", *parts)
    number = number_of(w, contents, type.kind)
    return w.build.constant(type, number if type.is_scalar else (number,) * type.size)


def _in_numbers(w: Evaluator, contents: Renumbered) -> Value:
    """Which option a choice is, in other numbers."""
    build, (first, *rest) = w.build, contents.numbers
    made = build.constant(INT, first)
    for place, number in enumerate(rest, 1):
        is_it = build.emit("eq", contents.which, build.constant(INT, place))
        made = build.emit("select", is_it, build.constant(INT, number), made)
    return made


def whole_of(parts: tuple[Any, ...], type: Type) -> Value | None:
    """The vector that the parts are the components of, in order, if there is one."""
    source = None
    for index, part in enumerate(parts):
        op = part.value.op if isinstance(part, Dynamic) else None
        if op is None or op.code != "swizzle" or op.data != (index,):
            return None
        if source is not None and op.operands[0] is not source:
            return None
        source = op.operands[0]
    return source if source is not None and source.type is type else None


def dynamic(w: Evaluator, code: str, *operands: Value, data: Any = None) -> Dynamic:
    return Dynamic(w.build.emit(code, *operands, data=data))
