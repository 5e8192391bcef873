"""How colours meet those that were drawn before them, and pixels in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import Val

Colour = Sequence[Val]


def _alpha(code: Code, new: Colour, old: Colour) -> list[Val]:
    alpha, rest = new[3], 1.0 - new[3]
    return [code.fma(a, alpha, b * rest) for a, b in zip(new, old, strict=True)]


def _add(code: Code, new: Colour, old: Colour) -> list[Val]:
    return [a + b for a, b in zip(new, old, strict=True)]


def _multiply(code: Code, new: Colour, old: Colour) -> list[Val]:
    return [a * b for a, b in zip(new, old, strict=True)]


BLENDS: Final[dict[str, Callable[[Code, Colour, Colour], list[Val]]]] = {
    "alpha": _alpha,
    "add": _add,
    "multiply": _multiply,
}


@dataclass(frozen=True, slots=True)
class Target:
    """Floats (rows, pitch, channels) in memory, one such picture a sample. Rows are whole blocks of
    lanes, so that a block is read and written whole and no other thread's pixels are in it."""

    base: Val
    channels: int
    slot: int  # of its address, among the numbers that tiles are given

    def get(self, code: Code, place: Val, lanes: int) -> list[Val]:
        """The vectors that hold a block."""
        places = [code.at(place, 4 * lanes * k) for k in range(self.channels)]
        return [
            code.fixed("float", lanes, f"load <{lanes} x float>, ptr {each.text}, align 4")
            for each in places
        ]

    def put(self, code: Code, place: Val, vectors: Sequence[Val]) -> None:
        lanes = vectors[0].lanes
        for k, vector in enumerate(vectors):
            code.store(vector, code.at(place, 4 * lanes * k), 4)
