"""Products of matrices, arrays and vectors of small sizes: `@`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.numbers import as_value, dynamic
from pygpu.frontend.numbers.operands import operand_components, operand_kind, vector_type
from pygpu.frontend.protocols.arrays import (
    array_of,
    as_vectors,
    is_array,
    matrix_rows,
    of_own_widths,
    to_objects,
    vector_like,
)
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.objects import Array, Matrix, Vector
from pygpu.frontend.values.values import tuple_of
from pygpu.language import matrices
from pygpu.types import vector, widest


def matmul(w: Evaluator, a: Any, b: Any) -> Any:
    """M @ N, M @ v and v @ M for matrices, arrays, stacks and vectors of small sizes."""
    if is_array(a) or is_array(b):
        found = of_own_widths(w, (a, b), [to_objects(w, a), to_objects(w, b)])
        pairs = list(zip((a, b), found, strict=True))
        if any(is_array(x) and own.ndim > 2 for x, own in pairs):
            return _stacked(w, *found)
        a, b = [Array(own) if is_array(x) else x for x, own in pairs]
    left, right = matrix_rows(w, a), matrix_rows(w, b)
    if left is None and right is None:
        return inner_product(w, a, b)
    if right is None:
        like = a if isinstance(a, (Matrix, matrices.Matrix)) else b
        return vector_like(w, [inner_product(w, row, b) for row in left or ()], like)
    columns = [
        tuple_of(column) for column in zip(*[items_of(w, row) for row in right], strict=True)
    ]
    if left is None:
        like = b if isinstance(b, (Matrix, matrices.Matrix)) else a
        return vector_like(w, [inner_product(w, a, column) for column in columns], like)
    rows = [[inner_product(w, row, column) for column in columns] for row in left]
    made = array_of([part for row in rows for part in row], (len(rows), len(rows[0])))
    is_matrix = any(isinstance(value, (Matrix, matrices.Matrix)) for value in (a, b))
    return as_vectors(w, made) if is_matrix else made


def _stacked(w: Evaluator, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Any:
    """Products of stacks of matrices, of which the axes before the last two are broadcast. An array
    of one axis is a row on the left, a column on the right."""
    first, second = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    stack = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    first = np.broadcast_to(first, (*stack, *first.shape[-2:]))
    second = np.broadcast_to(second, (*stack, *second.shape[-2:]))
    if first.shape[-1] != second.shape[-2]:
        raise ValueError(
            f"matmul: a product of shapes {a.shape} and {b.shape} does not fit: "
            f"{first.shape[-1]} columns, {second.shape[-2]} rows"
        )
    parts = []
    for place in np.ndindex(stack):
        for row in first[place]:
            for column in second[place].T:
                parts.append(inner_product(w, tuple_of(tuple(row)), tuple_of(tuple(column))))
    rows = () if a.ndim == 1 else (first.shape[-2],)
    columns = () if b.ndim == 1 else (second.shape[-1],)
    return array_of(parts, (*stack, *rows, *columns))


def inner_product(w: Evaluator, a: Any, b: Any) -> Any:
    """The sum of the products of two sequences of scalars."""
    sizes = [vector_type(value) for value in (a, b)]
    if any(isinstance(value, Vector) and not isinstance(w.read(value), tuple) for value in (a, b)):
        size = next(type.size for type in sizes if type)
        if all(operands.operand_components(w, value, size) is not None for value in (a, b)):
            return dot(w, a, b)
    first, second = items_of(w, a), items_of(w, b)
    if len(first) != len(second):
        raise ValueError(f"a product of {len(first)} and {len(second)} elements does not fit")
    if not any(sizes) and all(scalar_kind(x) == "bool" for x in (*first, *second)):
        both = [arithmetic.both(w, x, y) for x, y in zip(first, second, strict=True)]
        return functools.reduce(lambda x, y: arithmetic.either(w, x, y), both)
    products = [w.binary("*", x, y) for x, y in zip(first, second, strict=True)]
    return functools.reduce(lambda x, y: w.binary("+", x, y), products)


def dot(w: Evaluator, a: Any, b: Any) -> Any:
    """The sum of the products of two vectors' components."""
    first, second = vector_type(a), vector_type(b)
    size = (first or second).size  # type: ignore[union-attr]
    parts = [operand_components(w, operand, size) for operand in (a, b)]
    kind = widest(*[operand_kind(part) for part in parts])
    type = vector("int" if kind == "bool" else kind, size)
    return dynamic(w, "dot", *[as_value(w, part, type) for part in parts])
