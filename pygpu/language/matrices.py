"""Square matrices of floats, as plain Python values: `Mat2`, `Mat3` and `Mat4`.

A matrix is its rows, which are vectors: `M[i]` is the row itself, so that `M[0].x = 1` changes M.
`@` is the matrix product; all other arithmetic works a component at a time.

    M = Mat2((0, -1), (1, 0)); M @ Vec2(1, 0) is the vector (0, 1); M[1][0] == M[1, 0] == 1.0
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.language.components import operand, sum_of_products
from pygpu.language.componentwise import Componentwise, Operator
from pygpu.language.scalars import number
from pygpu.language.vectors import Vec2, Vec3, Vec4, Vector, vector_of_array

_ROWS: Final[dict[int, type[Vector]]] = {2: Vec2, 3: Vec3, 4: Vec4}


class Matrix(Componentwise):
    """What the matrix classes have in common.

    Built from its rows; from nested lists or a two-dimensional array; from one number, which is
    put on the diagonal; or from another matrix, the upper left part of a larger one.
    """

    __slots__ = ("_rows",)
    __hash__ = None
    SIZE: ClassVar[int]
    _rows: tuple[Vector, ...]

    @guarded
    def __init__(self, *parts: Any) -> None:
        size = self.SIZE
        rows = _rows_of(parts, size)
        taken = [tuple(row) if hasattr(row, "__iter__") else () for row in rows]
        if len(rows) != size or min(map(len, taken)) < 2:  # one number would be spread
            raise TypeError(
                f"{type(self).__name__} takes {size} rows of {size} numbers, apart or in one list "
                f"or array, or one number for the diagonal; got {shown(parts)}"
            )
        self._rows = tuple(_ROWS[size](*row) for row in taken)

    # ---- rows

    def __len__(self) -> int:
        return self.SIZE

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __getitem__(self, index: Any) -> Any:
        """A row by its index, a number by two, whatever slices give by slices."""
        if isinstance(index, tuple) and len(index) == 2 and not isinstance(index[0], slice):
            return self._rows[index[0]][index[1]]
        if isinstance(index, tuple | slice):
            return self._from_result(np.asarray(self)[index])
        return self._rows[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        """Set the numbers of a row, or with two indices one number."""
        row, column = index if isinstance(index, tuple) else (index, slice(None))
        if isinstance(row, slice):
            raise TypeError("rows are assigned one by one")
        self._rows[row][column] = value

    @property
    def T(self) -> Any:  # noqa: N802 as NumPy has it
        """The transposed matrix."""
        return type(self)(*zip(*self._rows, strict=True))

    # ---- operators

    def _binary(self, op: Operator, left: Any, right: Any) -> Any:
        if op in (operator.eq, operator.ne):
            return op(self, right if left is self else left)
        first, second = self._row_operands(left), self._row_operands(right)
        if first is None or second is None:
            return NotImplemented
        return type(self)(*(op(x, y) for x, y in zip(first, second, strict=True)))

    def _row_operands(self, value: Any) -> Sequence[Any] | None:
        """What each row is combined with; None if value is no operand."""
        size = self.SIZE
        if number(value) is not None:
            return [value] * size
        if isinstance(value, Vector):
            name, other = type(self).__name__, type(value).__name__
            raise TypeError(f"no such arithmetic of {name} and {other}: the matrix product is @")
        if isinstance(value, Matrix | list | tuple | np.ndarray):
            if np.shape(value) != (size, size):
                raise TypeError(f"shape {np.shape(value)} where {(size, size)} is needed")
            return list(value)
        return None

    def _unary(self, op: Callable[[Any], Any]) -> Any:
        return type(self)(*map(op, self._rows))

    def __matmul__(self, other: Any) -> Any:
        """The product with a matrix, or with a column vector."""
        if _is_vector(other):
            values = operand(other, len(self))
            if values is None:
                return NotImplemented
            return _ROWS[self.SIZE](*(sum_of_products(row, values) for row in self._rows))
        return self._product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """The product of a matrix, or of a row vector, with this one."""
        if _is_vector(other):
            return self.T @ other
        return self._product(other, self)

    def _product(self, first: Any, second: Any) -> Any:
        other = second if first is self else first
        if not isinstance(other, Matrix | np.ndarray | list | tuple):
            return NotImplemented
        return self._from_result(np.asarray(first) @ np.asarray(second))

    def __eq__(self, other: object) -> Any:
        """Whether all numbers are equal: one bool, unlike the comparison of vectors."""
        if not isinstance(other, Matrix | np.ndarray | list | tuple):
            return NotImplemented
        return bool(np.array_equal(np.asarray(self), np.asarray(other)))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        raise ValueError(f"the truth of a {type(self).__name__} is ambiguous")

    # ---- texts, copies, arrays

    def __repr__(self) -> str:
        rows = ", ".join(repr(tuple(row)) for row in self._rows)
        return f"{type(self).__name__}({rows})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(tuple(row) for row in self._rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a matrix is not stored as an array: it can only be copied to one")
        return np.array([tuple(row) for row in self._rows], dtype or np.float64)

    def _from_array(self, result: np.ndarray[Any, Any]) -> Any:
        if result.ndim == 2 and result.shape[0] == result.shape[1] and result.dtype.kind == "f":
            cls = MATRICES.get(result.shape[0])
            return result if cls is None else cls(*result.tolist())
        return vector_of_array(result)


def _is_vector(value: Any) -> bool:
    return isinstance(value, Vector | list | tuple | np.ndarray) and np.ndim(value) == 1


def _rows_of(parts: tuple[Any, ...], size: int) -> Sequence[Any]:
    """The rows that a constructor's arguments mean, as sequences of numbers."""
    if len(parts) != 1:
        return parts
    (part,) = parts
    diagonal = number(part)
    if diagonal is not None:
        return [[diagonal * (row == column) for column in range(size)] for row in range(size)]
    if isinstance(part, Matrix):
        return [tuple(row)[:size] for row in part][:size]
    if isinstance(part, list | tuple | np.ndarray):
        return list(part)
    return parts


class Mat2(Matrix):
    """Two rows of two floats."""

    __slots__ = ()
    SIZE = 2


class Mat3(Matrix):
    """Three rows of three floats."""

    __slots__ = ()
    SIZE = 3


class Mat4(Matrix):
    """Four rows of four floats."""

    __slots__ = ()
    SIZE = 4


MATRICES: Final[dict[int, type[Matrix]]] = {2: Mat2, 3: Mat3, 4: Mat4}
