"""Python's operators, for classes with one method for all of two operands, one for all of one.

class Number(Operators):
    def _binary(self, function, left, right): ...     # operator.sub, 3, self: of 3 - self
    def _unary(self, function): ...                   # operator.neg: of -self
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from pygpu.core.errors import guarded

Method = Callable[..., Any]


def _both(function: Method) -> tuple[Method, Method]:
    """The method for an operator of Python and the reflected one."""

    @guarded
    def method(self: Any, other: Any, *modulus: Any) -> Any:  # pow may be given one
        return NotImplemented if modulus else self._binary(function, self, other)

    @guarded
    def reflected(self: Any, other: Any) -> Any:
        return self._binary(function, other, self)

    return method, reflected


def _sign(function: Method) -> Method:
    return guarded(lambda self: self._unary(function))


class Operators:
    """All operators of numbers but `@`."""

    __slots__ = ()
    __hash__: ClassVar[Any] = None

    def _binary(self, function: Method, left: Any, right: Any) -> Any:
        """A function of self and another operand; NotImplemented where that is of no use."""
        raise NotImplementedError

    def _unary(self, function: Method) -> Any:
        raise NotImplementedError

    __add__, __radd__ = _both(operator.add)
    __sub__, __rsub__ = _both(operator.sub)
    __mul__, __rmul__ = _both(operator.mul)
    __truediv__, __rtruediv__ = _both(operator.truediv)
    __floordiv__, __rfloordiv__ = _both(operator.floordiv)
    __mod__, __rmod__ = _both(operator.mod)
    __divmod__, __rdivmod__ = _both(divmod)
    __pow__, __rpow__ = _both(operator.pow)
    __and__, __rand__ = _both(operator.and_)
    __or__, __ror__ = _both(operator.or_)
    __xor__, __rxor__ = _both(operator.xor)
    __lshift__, __rlshift__ = _both(operator.lshift)
    __rshift__, __rrshift__ = _both(operator.rshift)
    __lt__, _ = _both(operator.lt)
    __le__, _ = _both(operator.le)
    __gt__, _ = _both(operator.gt)
    __ge__, _ = _both(operator.ge)
    __eq__, _ = _both(operator.eq)
    __ne__, _ = _both(operator.ne)
    del _
    __neg__, __pos__ = _sign(operator.neg), _sign(operator.pos)
    __abs__, __invert__ = _sign(operator.abs), _sign(operator.invert)
