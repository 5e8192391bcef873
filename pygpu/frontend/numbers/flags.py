"""Whose a dynamic truth value would be in plain Python: NumPy's or Python's.

They differ in arithmetic: of NumPy's ~ is the opposite, of Python's -2 or -1; NumPy's `a + b` and
`a * b` are `a | b` and `a & b`, where Python counts. A comparison may give either (`np.sqrt(v) > 1`
NumPy's, `v > 1` Python's), so that only a `Truth` says of itself whose it is. What is NumPy's on
one path and may be Python's on another is not added up.
"""

from __future__ import annotations

import enum
import itertools
import operator
from typing import Any

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers.numbers import as_value, dynamic
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import (
    any_of,
    certainty,
    flag_class,
    is_numpys,
    is_word,
    may_be_numpys,
    narrow_dtype,
    scalar_kind,
    truth_either,
)
from pygpu.frontend.values.values import Certainty, Dynamic, Flagged, Numpys, Truth
from pygpu.language.scalars import Int
from pygpu.ssa import Value
from pygpu.types import BOOL, INT, Kind

with later():
    from pygpu.frontend.walked import library


def flags_of(w: Evaluator, number: Any, cls: type[enum.IntFlag]) -> Flagged:
    """cls(number) of an int."""
    highest = max(map(int, cls.__members__.values()), default=0)
    made = w.call(library.flags_by, number, 1 << highest.bit_length())
    return Flagged(made.value, cls)


def complement(w: Evaluator, a: Dynamic) -> Any:
    """~a of a bool, or of flags. A bool that may be NumPy's or Python's is refused."""
    if isinstance(a, Flagged):
        return flags_of(w, w.call(operator.invert, Dynamic(a.value)), a.cls)
    if not isinstance(a, Truth) or a.is_numpys is None:
        raise w.error(
            "~ of a truth value is -2 or -1 in Python, which are both true: write 'not x', or "
            "np.logical_not(x)"
        )
    if not a.is_numpys:
        return dynamic(w, "bit_not", as_value(w, a, INT))
    return Truth(w.build.emit("not", a.value), True)


def may_be_of_numpys(w: Evaluator, a: Any, b: Any, *kinds: Kind) -> bool:
    """Whether an operator of two numbers is NumPy's of bools, or may be."""
    if kinds == ("bool", "bool"):
        return may_be_numpys(a) or may_be_numpys(b)
    unclear = [getattr(v, "own", True) is None for v in (a, b)]
    if not any(unclear) or not w.environment.widened:
        return False
    truths = [origins.truths(w, v) for v in (a, b)]
    return all(truths) and any(map(may_be_numpys, itertools.chain(*truths)))


def combined(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a + b, a * b or a - b of two bools, as NumPy has it."""
    is_sure = scalar_kind(a) == scalar_kind(b) and (is_numpys(a) or is_numpys(b))
    if (symbol != "*" or {scalar_kind(a), scalar_kind(b)} != {"bool"}) and not is_sure:
        raise w.error(
            f"{symbol} of a truth value that is NumPy's on one path and may be Python's on "
            "another: Python counts, NumPy does not; write int(x) to count, x | y for 'or'"
        )
    if symbol == "-":
        return np.subtract(True, True)  # which NumPy refuses
    code = {"+": "bit_or", "*": "bit_and"}[symbol]
    made = w.build.emit(code, as_value(w, a, BOOL), as_value(w, b, BOOL))
    return Truth(made, True if is_sure else None)


def marked(result: Any, is_numpys: bool) -> Any:
    """A truth value as NumPy's or Python's; known values are what they are."""
    return Truth(result.value, is_numpys) if isinstance(result, Dynamic) else result


def counted(a: Any) -> Any:
    """A truth value of which nothing is said: arithmetic takes it for a number."""
    return Dynamic(a.value) if isinstance(a, Truth) else a


def compared(w: Evaluator, result: Any, a: Any, b: Any) -> Any:
    """Whether a < b and the like holds: NumPy's, where one of the two is and the other is no Int,
    which compares as Python's numbers do."""
    if not isinstance(result, Dynamic) or result.type is not BOOL:
        return result
    own = whose(w, a, b)
    if own is True:
        is_sure = any(certainty(v) is Certainty.NUMPY or is_numpys(v) for v in (a, b))
        return marked(result, True) if is_sure else result
    return result if own is False else Truth(result.value, None)


def made(code: str | None, value: Value, a: Any, *more: Any) -> Dynamic:
    """What an operation of numbers gives: NumPy's number, where it is one."""
    if code in ("min", "max"):
        return any_of(value, a, *more)
    if code == "not" and isinstance(a, Truth):
        return Truth(value, a.is_numpys)
    is_kept = code in ("neg", "abs", "bit_not") and isinstance(a, Numpys)
    return Numpys(value, a.own) if is_kept else Dynamic(value)


def whose(w: Evaluator, *numbers: Any) -> Any:
    """Whether an operator of these is NumPy's: True, False, the bool that says so, or None where
    nobody can say. An Int's operators are Python's, beside NumPy's numbers too."""
    is_sure = any(is_numpys(x) or narrow_dtype(x) is not None for x in numbers)
    owns = [x.own for x in numbers if isinstance(x, Numpys) and x.own is not True]
    if not owns and not is_sure:
        return False
    classes = [origins.int_classes(w, x) for x in numbers if is_word(x)]
    if any(int not in each for each in classes):
        return False
    if any(Int in each for each in classes):
        return None
    clear = [own for own in owns if isinstance(own, Value)]
    if is_sure or len(clear) < len(owns):
        return is_sure or None
    return Dynamic(clear[0] if len(clear) == 1 else w.build.emit("bit_or", *clear))


def inherited(w: Evaluator, result: Dynamic, a: Any, b: Any, symbol: str) -> Dynamic:
    """What an operator gives of two numbers: NumPy's where one of them is. `a & b` and the like of
    bools is Python's where both are, of flags it is flags."""
    if a.__class__ is Dynamic is b.__class__:
        return result
    if Int in (a.__class__, b.__class__) and result.type is INT:
        origins.as_class(w, result, Int)
    if result.type is not BOOL:
        cls = flag_class(a) or flag_class(b) if symbol in "&|^" else None
        if cls:
            return Flagged(result.value, cls)
        is_plain = result.__class__ is Dynamic and result.type.kind != "uint"
        own = is_plain and whose(w, a, b)
        if own is False:
            return result
        return Numpys(result.value, own.value if isinstance(own, Dynamic) else own)
    is_either = is_numpys(a) or is_numpys(b)
    return Truth(result.value, True) if is_either else truth_either(result.value, a, b)
