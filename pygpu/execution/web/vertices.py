"""Vertices as text, exactly and in few bytes: what a surface's neighbours say of them is left out.

An attribute's floats are foretold one after the other from those before, as polynomials would go
on along rows of a grid and across them. What is kept is how many floats lie between a float and
what was foretold: numbers of a few bits where a surface is smooth. The page's meshes.js foretells
the same, in the same order of float64. Vertices that occur several times are kept once.

    packed(attribute, triangles)     # {"size": 3, "data": "...", "terms": [[6, 2, 257], ...]}
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ALONG: Final = 6  # degrees of polynomials along rows, and across them
ACROSS: Final = 3
FARTHEST: Final = 1 << 12  # vertices between neighbours of two rows
ROWS: Final = 3  # lengths of rows that are tried
TRIED: Final = 1 << 13  # vertices by which the best way is chosen
Terms = tuple[int, int, int]  # degrees along and across rows, and the vertices of a row


def packed(values: NDArray[np.float32], triangles: NDArray[np.uint32]) -> dict[str, Any]:
    """An attribute (N, C), of vertices in triangles (M, 3)."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    _, first, found = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    rest: dict[str, Any] = {}
    if len(first) < 0.7 * len(values):
        order = np.argsort(first)
        places = np.argsort(order)[found.reshape(-1)].astype(np.uint32)
        values, triangles = values[first[order]], places[triangles]
        rest = {"places": whole(places)}
    rows = _rows(triangles)
    terms = [_best(column, rows) for column in values.T]
    columns = [_left(column, each) for column, each in zip(values.T, terms, strict=True)]
    return {"size": values.shape[1], "data": _text(np.stack(columns)), "terms": terms, **rest}


def whole(numbers: NDArray[np.uint32]) -> str:
    """Whole numbers (N,) as text: how each differs from the one before."""
    return _text(_zigzag(np.diff(numbers, prepend=np.uint32(0)))[None])


def _text(columns: NDArray[np.uint32]) -> str:
    """Numbers of 32 bits, (C, N), as text: zlib of all first bytes of the first column, then all
    second bytes, and so on: like bytes stand together."""
    lanes = np.ascontiguousarray(columns).view(np.uint8).reshape(len(columns), -1, 4)
    data = np.ascontiguousarray(np.moveaxis(lanes, 2, 1)).tobytes()
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _zigzag(differences: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """0, -1, 1, -2 ... as 0, 1, 2, 3 ..."""
    signs = (differences.view(np.int32) >> 31).view(np.uint32)
    return (differences << np.uint32(1)) ^ signs


# ---------------------------------------------------------------- what is foretold


def _rows(triangles: NDArray[np.uint32]) -> list[int]:
    """How many vertices a row may have: how far corners of triangles are apart."""
    if not triangles.size:
        return []
    whole = triangles.astype(np.int64)
    apart = np.abs(whole - np.roll(whole, 1, axis=1)).ravel()
    counts = np.bincount(apart[apart < FARTHEST], minlength=4)
    counts[:3] = 0
    likely = np.argsort(counts)[::-1][:ROWS]
    return [int(row) for row in likely if counts[row]]


def _best(column: NDArray[np.float32], rows: Sequence[int]) -> Terms:
    """The degrees and the row by which the fewest bits are left."""
    if not np.isfinite(column).all():
        return 0, 0, 0
    some = column[:TRIED]
    ways = [(along, 0, 0) for along in range(ALONG + 1)]
    ways += [
        (along, across, row)
        for row in rows
        for across in range(1, ACROSS + 1)
        for along in range(ALONG + 1)
    ]
    return min(ways, key=lambda way: float(np.log2(_left(some, way) + 1.0).sum()))


def _left(column: NDArray[np.float32], terms: Terms) -> NDArray[np.uint32]:
    """How far each float is from what is foretold."""
    sums, floats = np.zeros(len(column)), column.astype(np.float64)
    for lag, factor in _factors(*terms):
        if lag < len(column):
            sums[lag:] += factor * floats[: len(column) - lag]
    with np.errstate(over="ignore"):
        foretold = sums.astype(np.float32)
    return _zigzag(_ordered(np.ascontiguousarray(column)) - _ordered(foretold))


def _ordered(floats: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Whole numbers in the order of the floats, one for each."""
    bits = floats.view(np.uint32)
    top = np.uint32(1 << 31)
    return np.where(bits & top, ~bits, bits | top)


def _factors(along: int, across: int, row: int) -> list[tuple[int, float]]:
    """How many vertices before, and times what: so differences of these degrees are 0."""
    return [
        (i + j * row, -float((-1) ** (i + j) * math.comb(along, i) * math.comb(across, j)))
        for i in range(along + 1)
        for j in range(across + 1)
        if i or j
    ]
