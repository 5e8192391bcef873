"""Functions of a byte as tables of their 256 results, which registers look up: of a curve, a power
or a look at a known table nothing else is left.

    byte = of_bytes(task, machine)       # a copy of bytes, of one component; None: no such function
    byte.results                         # what each becomes
    looked_up(code, held, byte.results)  # of a register of bytes

x86 looks up 16 bytes by 4 bits of each byte, and gives 0 where the highest bit is set. A byte from
which 16 was taken k times, saturated, goes on being found while it is not below 0; so what the k-th
of eight such tables holds is what differs from the one before, and all are put together by `xor`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core import interpret
from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format, stored
from pygpu.passes.blocks.tabulate import of_a_byte, pays
from pygpu.passes.simplify.if_conversion import convert_any
from pygpu.ssa import ImageInput, Load, has, images_read, used_by, walk
from pygpu.types import INT

BYTES: Final = Format(np.dtype(np.uint8), 1, False)
SHUFFLES: Final = {
    16: ("ssse3", "llvm.x86.ssse3.pshuf.b.128"),
    32: ("avx2", "llvm.x86.avx2.pshuf.b"),
    64: ("avx512bw", "llvm.x86.avx512.pshuf.b.512"),
}


@record(eq=False)
class OfBytes:
    """A task of one component's bytes, components of a texel, and what each byte becomes."""

    task: Task
    group: int
    results: NDArray[np.uint8]


def of_bytes(task: Task, machine: Machine) -> OfBytes | None:
    """See the module's head."""
    feature, _ = SHUFFLES.get(4 * machine.lanes, ("", ""))
    if not machine.x86 or not machine.has(feature) or task.planar or task.low:
        return None
    found = of_a_byte(replace(task, function=convert_any(task.function)))
    if found is None or found.kept:
        return None
    if not pays(found.function) and not has(found.function, "table"):
        return None
    function, (read,) = found.function, images_read(found.function)
    if any(value in function.uniforms for op in walk(function.body) for value in used_by(op)):
        return None
    every: NDArray[Any] = np.arange(256, dtype=np.float32)[None] / np.float32(255)
    if not task.inputs[read].is_scaled:
        every = np.arange(256, dtype=np.int32)[None]
    images = [every] * len(function.images)
    uniforms = [(0,) * v.type.size if v.type.size > 1 else 0 for v in function.uniforms]
    with np.errstate(all="ignore"):
        (values,) = interpret.run(function, images, uniforms, (1, 256))
    return OfBytes(_copy(task, read), task.outputs[0].channels, stored(values[0], BYTES.dtype))


def _copy(task: Task, read: int) -> Task:
    old = task.function
    images = [
        ImageInput(image.name, INT if index == read else image.type)
        for index, image in enumerate(old.images)
    ]
    build = Builder(old.name, images, [(value.name, value.type) for value in old.uniforms])
    build.tables = list(old.tables)
    function = build.finish([build.emit("load", build.x, build.y, data=Load(read, INT))])
    inputs = [replace(f, channels=1) for f in task.inputs]
    inputs[read] = BYTES
    return replace(task, function=function, inputs=inputs, outputs=[BYTES])


def looked_up(code: Code, held: Val, results: NDArray[np.uint8]) -> Val:
    """What each byte of a register becomes."""
    halves = []
    for half in (0, 1):
        at = code.binary("xor", held, code.constant("byte", -128)) if half else held
        before = np.zeros(16, np.uint8)
        found: Val | None = None
        for part in results.reshape(2, 8, 16)[half]:
            shuffled = _shuffled(code, part ^ before, at)
            found = shuffled if found is None else code.binary("xor", found, shuffled)
            at = code.intrinsic("ssub.sat", at, code.constant("byte", 16))
            before = part
        halves.append(found)
    low, high = halves
    assert low is not None
    assert high is not None
    return code.binary("or", low, high)


def _shuffled(code: Code, table: NDArray[np.uint8], at: Val) -> Val:
    name, type = SHUFFLES[at.lanes][1], at.type
    code.declared[name] = f"declare {type} @{name}({type}, {type})"
    signed = table.view(np.int8)
    text = ", ".join([f"i8 {number}" for number in (*signed,) * (at.lanes // 16)])
    return code.make("byte", f"call {type} @{name}({type} <{text}>, {type} {at.text})", at)
