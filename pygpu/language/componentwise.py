"""What vectors and matrices share: operators a component at a time, and NumPy's functions.

Where Python raises on floats (division by zero, a power out of range), components follow IEEE, as
they do on a device: `Vec2(1, 0) / 0` is (inf, nan). Integers raise as Python's do.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np

from pygpu.language.scalars import OPERATORS, ROUNDING, Int, from_numpy_scalar, number

Operator = Callable[[Any, Any], Any]

_IEEE: Final[dict[Operator, np.ufunc]] = {
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
}
_OF_BOOLS: Final = frozenset(
    {operator.and_, operator.or_, operator.xor, operator.eq, operator.ne}
    | {operator.lt, operator.le, operator.gt, operator.ge}
)


def calculate(op: Operator, x: Any, y: Any) -> Any:
    """`op` on two components: floats as IEEE says, bools as integers where it is arithmetic."""
    if op not in _OF_BOOLS:
        x = Int(x) if isinstance(x, bool) else x
        y = Int(y) if isinstance(y, bool) else y
    try:
        result = op(x, y)
    except (ZeroDivisionError, OverflowError):
        floats = op is operator.truediv or isinstance(x, float) or isinstance(y, float)
        if op not in _IEEE or not floats:
            raise
        return _ieee(op, x, y)
    return _ieee(op, x, y) if isinstance(result, complex) else result


def _ieee(op: Operator, x: Any, y: Any) -> float:
    with np.errstate(all="ignore"):
        return float(_IEEE[op](float(x), float(y)))


def operators(op: Operator) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The method for an operator of Python and the reflected one."""
    return (
        lambda self, other: self._binary(op, self, other),
        lambda self, other: self._binary(op, other, self),
    )


class Componentwise:
    """Arithmetic and NumPy's functions for a class that has `_binary`, `_unary` and `__array__`.

    There is no in-place arithmetic: `a += b` binds `a` to the sum and leaves the old object alone.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def _binary(self, op: Operator, left: Any, right: Any) -> Any:
        """`op`, one operand of which is self; NotImplemented where the other is of no use."""
        raise NotImplementedError

    def _unary(self, op: Callable[[Any], Any]) -> Any:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        raise NotImplementedError

    def _from_array(self, result: np.ndarray[Any, Any]) -> Any:
        """What NumPy made, as a value of the language where there is one of that shape."""
        raise NotImplementedError

    __add__, __radd__ = operators(operator.add)
    __sub__, __rsub__ = operators(operator.sub)
    __mul__, __rmul__ = operators(operator.mul)
    __truediv__, __rtruediv__ = operators(operator.truediv)
    __floordiv__, __rfloordiv__ = operators(operator.floordiv)
    __mod__, __rmod__ = operators(operator.mod)
    __pow__, __rpow__ = operators(operator.pow)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Any:
        return self._unary(operator.neg)

    def __pos__(self) -> Any:
        return self._unary(operator.pos)

    def __abs__(self) -> Any:
        return self._unary(operator.abs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Operators are our own, so that integers wrap; other functions are computed by NumPy, and
        all of bools, whose sums are bools there."""
        if not all(_is_ours(value) for value in inputs):
            return NotImplemented
        is_operator = method == "__call__" and not keywords and ufunc in OPERATORS
        if is_operator and any(np.asarray(value).dtype != bool for value in inputs):
            op = OPERATORS[ufunc]
            result = self._binary(op, *inputs) if len(inputs) == 2 else op(self)
            if result is not NotImplemented:
                return result
        arrays = [as_arrays(value) for value in inputs]
        if ufunc in ROUNDING:
            arrays = [value.astype(np.float64) for value in map(np.asarray, arrays)]
        result = getattr(ufunc, method)(*arrays, **keywords)
        if getattr(result, "dtype", None) == np.float16:  # which NumPy has of bools
            result = getattr(ufunc, method)(*arrays, dtype=np.float64, **keywords)
        return result if "out" in keywords else self._from_result(result)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, keywords: dict[str, Any]
    ) -> Any:
        if not all(issubclass(kind, Componentwise | np.ndarray) for kind in types):
            return NotImplemented
        arrays = {name: as_arrays(value) for name, value in keywords.items()}
        result = function(*as_arrays(arguments), **arrays)
        return result if "out" in keywords else self._from_result(result)

    def _from_result(self, result: Any) -> Any:
        if type(result) is tuple:
            return tuple(self._from_result(item) for item in result)
        if isinstance(result, np.generic):
            return from_numpy_scalar(result)
        return self._from_array(result) if isinstance(result, np.ndarray) else result


def _is_ours(value: object) -> bool:
    ours = isinstance(value, Componentwise | np.ndarray | list | tuple)
    return ours or number(value) is not None


def as_arrays(value: Any) -> Any:
    """The value, its vectors and matrices as arrays, also those in lists and tuples."""
    if isinstance(value, Componentwise):
        return np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(as_arrays(item) for item in value)
    return value
