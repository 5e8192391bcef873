"""Sets of numbers that are found to be one: an int for each number is another of its set that is no
greater, and itself for the least.

    code.line(f"call fastcc void @meet(ptr {array.text}, i64 {one.text}, i64 {other.text})")
"""

from __future__ import annotations

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop
from pygpu.codegen.llvm.text import Machine, Val


def read(code: Code, array: Val, index: Val) -> Val:
    """An int of an array as it is now, as a long."""
    return code.cast("sext", code.read("int", code.at(array, index * 4), align=4), "long")


def write(code: Code, array: Val, index: Val, value: Val) -> None:
    """Put a long into an array of ints."""
    code.store(code.cast("trunc", value, "int"), code.at(array, index * 4), 4)


def meet(machine: Machine) -> str:
    """A function that makes one set of those of two numbers. It halves the ways to the least, and
    leaves the lesser of these with both."""
    code = Code(machine)
    sets, *numbers = (
        Val(code, kind, 1, name, 0)
        for kind, name in (("ptr", "%sets"), ("long", "%one"), ("long", "%other"))
    )
    firsts = []
    for number in numbers:
        with Loop(code, [number]) as loop:
            here = loop.params[0]
            above_it = read(code, sets, here)
            above = read(code, sets, above_it)
            write(code, sets, here, above)
            loop.next(above.ne(above_it), [above])
        firsts += loop.results
    first = code.minimum(*firsts)
    for number in (code.maximum(*firsts), *numbers):
        write(code, sets, number, first)
    code.line("ret void")
    head = "define internal fastcc void @meet(ptr %sets, i64 %one, i64 %other) #1 {"
    return f"{head}\n{code.text()}\n}}\n{code.helpers()}"
