"""LLVM's types and constants as text, the machine that code is made for, and the values in code.

A `Val` is a scalar, or a vector with one lane a pixel. It behaves like a number: operators append
instructions to its code (code.py); a scalar that meets a vector is broadcast.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Final, Protocol

from pygpu.core.host.records import record

TYPES: Final = {
    "float": "float",
    "double": "double",
    "half": "half",
    "int": "i32",
    "uint": "i32",
    "long": "i64",
    "byte": "i8",
    "short": "i16",
    "bool": "i1",
    "ptr": "ptr",
}
FLOATING: Final = ("float", "double", "half")
BITS: Final = {"bool": 1, "byte": 8, "short": 16, "int": 32, "uint": 32, "long": 64, "half": 16,
               "float": 32, "double": 64}  # fmt: skip

# Conversions of vectors of floats to ints, by lanes: intrinsics of x86.
TRUNCATE: Final = {
    4: "llvm.x86.sse2.cvttps2dq",
    8: "llvm.x86.avx.cvtt.ps2dq.256",
    16: "llvm.x86.avx512.mask.cvttps2dq.512",
}
# The instructions of operations and comparisons, by kind.
INT_OPS: Final = {"add": "add", "sub": "sub", "mul": "mul"}
FLOAT_OPS: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INT_TESTS: Final = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne",
                     "ult": "ult", "ule": "ule"}  # fmt: skip
UNSIGNED_TESTS: Final = {**INT_TESTS, "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
FLOAT_TESTS: Final = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}


@record
class Machine:
    """What code is made for: LLVM's version, the processor, and float lanes of a register."""

    version: int
    cpu: str
    features: str
    lanes: int
    known: frozenset[str]  # the features that change what is emitted
    x86: bool
    fast: bool = False  # functions may err by 2**-12 of their results
    streams: bool = False  # results are written past the caches, to places of whole registers

    def has(self, feature: str) -> bool:
        """Processors other than x86 are taken to have all that is asked for here (ARMv8 does)."""
        return feature in self.known or not self.x86

    @property
    def gathers(self) -> bool:
        """Whether lanes are fetched by one instruction, rather than one by one, as on AMD's."""
        is_fast = self.has("avx512f") or (self.has("avx2") and not self.cpu.startswith("znver"))
        return self.x86 and is_fast

    @property
    def pause(self) -> str:
        """The intrinsic for a moment of waiting."""
        return "llvm.x86.sse2.pause" if self.x86 else "llvm.donothing"


@cache
def type_text(kind: str, lanes: int) -> str:
    return TYPES[kind] if lanes == 1 else f"<{lanes} x {TYPES[kind]}>"


@cache
def suffix_text(kind: str, lanes: int) -> str:
    """A type as the names of intrinsics end in it."""
    scalar = f"{'f' if kind in FLOATING else 'i'}{BITS[kind]}"
    return scalar if lanes == 1 else f"v{lanes}{scalar}"


def literal(kind: str, value: float) -> str:
    """A constant as LLVM reads it; floats by their bits."""
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if kind == "double":
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if kind == "bool":
        return "true" if value else "false"
    if kind == "uint" and value >= 2**31:
        value -= 2**32
    return str(int(value))


@cache
def lanes_text(indices: tuple[int, ...]) -> str:
    """The mask of a shufflevector; -1 for a lane that does not matter."""
    items = ", ".join("i32 poison" if i < 0 else f"i32 {i}" for i in indices)
    return f"<{len(indices)} x i32> <{items}>"


class Instructions(Protocol):
    """What operators of values append instructions to: pygpu/codegen/llvm/code.py."""

    def arithmetic(self, name: str, first: Val, second: Val | float) -> Val:
        """add, sub, mul or div, by the kind of the first."""

    def binary(self, opcode: str, first: Val, second: Val | float) -> Val:
        """An instruction of LLVM of two operands of one type."""

    def compare(self, test: str, first: Val, second: Val | float) -> Val:
        """lt, le, gt, ge, eq or ne, as bools."""

    def like(self, model: Val, value: Val | float) -> Val:
        """A number as a constant of the model's kind; a value as it is."""

    def negative(self, value: Val) -> Val:
        """Minus the value."""

    def ramp(self, base: Val) -> Val:
        """base, base + 1, base + 2, ... in the lanes of a vector."""


class Val:
    """A value: its kind (a key of TYPES), lanes, text, and the depth of the scope it lives in.

    `base`, where set, says that the lanes of this vector of ints are base, base + 1, base + 2...;
    its text is then made when it is first asked for.
    """

    __slots__ = ("_text", "base", "code", "depth", "kind", "lanes", "number", "type")

    def __init__(
        self,
        code: Instructions,
        kind: str,
        lanes: int,
        text: str,
        depth: int,
        number: float | None = None,
    ) -> None:
        self.code, self.kind, self.lanes, self.depth = code, kind, lanes, depth
        self.type = type_text(kind, lanes)
        self._text = text
        self.number = number  # the value of a constant
        self.base: Val | None = None

    @property
    def text(self) -> str:
        if self.base is not None:
            return self.code.ramp(self.base).text
        return self._text

    def __repr__(self) -> str:
        return f"<{self.type} {self._text or 'ramp'}>"

    def __add__(self, other: Val | float) -> Val:
        return self.code.arithmetic("add", self, other)

    def __radd__(self, other: Val | float) -> Val:
        return self.code.arithmetic("add", self.code.like(self, other), self)

    def __sub__(self, other: Val | float) -> Val:
        return self.code.arithmetic("sub", self, other)

    def __rsub__(self, other: Val | float) -> Val:
        return self.code.arithmetic("sub", self.code.like(self, other), self)

    def __mul__(self, other: Val | float) -> Val:
        return self.code.arithmetic("mul", self, other)

    def __rmul__(self, other: Val | float) -> Val:
        return self.code.arithmetic("mul", self.code.like(self, other), self)

    def __truediv__(self, other: Val | float) -> Val:
        return self.code.arithmetic("div", self, other)

    def __rtruediv__(self, other: Val | float) -> Val:
        return self.code.arithmetic("div", self.code.like(self, other), self)

    def __neg__(self) -> Val:
        return self.code.negative(self)

    def __and__(self, other: Val | int) -> Val:
        return self.code.binary("and", self, other)

    def __or__(self, other: Val | int) -> Val:
        return self.code.binary("or", self, other)

    def __xor__(self, other: Val | int) -> Val:
        return self.code.binary("xor", self, other)

    def __lshift__(self, other: Val | int) -> Val:
        return self.code.binary("shl", self, other)

    def __rshift__(self, other: Val | int) -> Val:
        return self.code.binary("lshr" if self.kind == "uint" else "ashr", self, other)

    def __invert__(self) -> Val:
        return self.code.binary("xor", self, True if self.kind == "bool" else -1)

    def __lt__(self, other: Val | float) -> Val:
        return self.code.compare("lt", self, other)

    def __le__(self, other: Val | float) -> Val:
        return self.code.compare("le", self, other)

    def __gt__(self, other: Val | float) -> Val:
        return self.code.compare("gt", self, other)

    def __ge__(self, other: Val | float) -> Val:
        return self.code.compare("ge", self, other)

    def eq(self, other: Val | float) -> Val:
        return self.code.compare("eq", self, other)

    def ne(self, other: Val | float) -> Val:
        return self.code.compare("ne", self, other)
