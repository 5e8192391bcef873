"""What changes from pixel to pixel.

bits = variance(function)
bits[value] & X, bits[value] & ROW      # along a row; from row to row
"""

from __future__ import annotations

from typing import Final

from pygpu.ssa import Function, Op, Region, Value

X: Final = 1  # a value changes along a row
ROW: Final = 2  # a value changes from row to row


def variance(function: Function) -> dict[Value, int]:
    """Of each value, whether it changes along x (X) and from row to row (ROW)."""
    bits: dict[Value, int] = dict.fromkeys(function.body.params, 0)
    bits[function.x], bits[function.y] = X, ROW
    _vary(function.body, bits, function)
    return bits


def _vary(region: Region, bits: dict[Value, int], function: Function) -> None:
    for op in region.ops:
        own = 0
        for value in op.operands:
            own |= bits[value]
        if op.code == "if":
            for inner in op.regions:
                _vary(inner, bits, function)
            for result, a, b in zip(
                op.results, *[inner.results for inner in op.regions], strict=True
            ):
                bits[result] = own | bits[a] | bits[b]
        elif op.code == "loop":
            _vary_loop(op, bits, function)
        else:
            for result in op.results:
                bits[result] = own


def _vary_loop(op: Op, bits: dict[Value, int], function: Function) -> None:
    body = op.regions[0]
    for param, value in zip(body.params, op.operands, strict=True):
        bits[param] = bits[value]
    while True:
        _vary(body, bits, function)
        changed = False
        for param, value in zip(body.params, body.results[1:], strict=True):
            if bits[value] | bits[param] != bits[param]:
                bits[param] |= bits[value]
                changed = True
        if not changed:
            break
    leave = bits[body.results[0]]
    for param, result in zip(body.params, op.results, strict=True):
        bits[result] = bits[param] | leave
