"""How colours meet those that were drawn before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import Val

Colour = Sequence[Val]


def _alpha(code: Code, new: Colour, old: Colour) -> list[Val]:
    alpha, rest = new[3], 1.0 - new[3]
    return [code.fma(a, alpha, b * rest) for a, b in zip(new, old, strict=True)]


BLENDS: Final[dict[str, Callable[[Code, Colour, Colour], list[Val]]]] = {
    "alpha": _alpha,
    "add": lambda code, new, old: [a + b for a, b in zip(new, old, strict=True)],
    "multiply": lambda code, new, old: [a * b for a, b in zip(new, old, strict=True)],
}
