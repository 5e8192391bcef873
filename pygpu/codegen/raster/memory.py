"""Memory that native code reads and writes as it goes: fields of records, variables, small arrays.

Reads stand where they are written, for what they read may change.

    total = variable(code, "int")
    write(code, count, total)
    read(code, "int", total)             # count, until the next `write`
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import BITS, TYPES, Val

_BYTES: Final = {**{kind: bits // 8 for kind, bits in BITS.items()}, "ptr": 8}


def read(code: Code, kind: str, pointer: Val, offset: Val | int = 0) -> Val:
    """A number so many bytes on."""
    return code.read(kind, code.at(pointer, offset), align=_BYTES[kind])


def write(code: Code, value: Val, pointer: Val, offset: Val | int = 0) -> None:
    """Put a number so many bytes on."""
    code.store(value, code.at(pointer, offset), _BYTES[value.kind])


def variable(code: Code, kind: str) -> Val:
    """A place for a number, to be made at the top of a function."""
    return code.fixed("ptr", 1, f"alloca {TYPES[kind]}, align 8")


def fill(code: Code, pointer: Val, size: Val) -> None:
    """Zeros in so many bytes."""
    name = "llvm.memset.p0.i64"
    code.declared[name] = f"declare void @{name}(ptr, i8, i64, i1)"
    code.line(f"call void @{name}(ptr {pointer.text}, i8 0, i64 {size.text}, i1 false)")


def copy(code: Code, to: Val, source: Val, size: Val) -> None:
    """Copy bytes between places that do not overlap."""
    name = "llvm.memcpy.p0.p0.i64"
    code.declared[name] = f"declare void @{name}(ptr, ptr, i64, i1)"
    code.line(f"call void @{name}(ptr {to.text}, ptr {source.text}, i64 {size.text}, i1 false)")
