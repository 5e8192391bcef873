"""Numba: loops over rows in parallel and over pixels, the edges apart from the inside, fast
mathematics."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.gallery.capture import Run
from benchmarks.gallery.scalars import Statements, Unsupported
from benchmarks.gpu_peers import module
from pygpu.core.storage import Format
from pygpu.ssa import Load, Lookup, walk

NAME: Final = "Numba"
_CASTS: Final = {"float": "f32", "int": "i32", "uint": "u32", "bool": "bool"}
_MATH: Final = (
    "floor ceil sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh "
    "tanh asinh acosh atanh hypot erf erfc gamma lgamma copysign isnan isinf fmod pow"
).split()
_INFIX: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "bit_and": "&",
    "bit_or": "|", "bit_xor": "^", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_OTHER: Final = {
    "neg": "-{0}", "abs": "abs({0})", "min": "min({0}, {1})", "max": "max({0}, {1})",
    "fma": "{0} * {1} + {2}", "not": "not {0}", "bit_not": "~{0}", "trunc": "f32(math.trunc({0}))",
    "inversesqrt": "f32(1) / math.sqrt({0})", "exp2": "f32(2) ** {0}", "round": "np.rint({0})",
    "cbrt": "np.cbrt({0})", "sign": "f32(({0} > 0) - ({0} < 0))", "pow": "{0} ** {1}",
}  # fmt: skip
HEAD: Final = """\
import math
import numpy as np
from numba import njit, prange
f32, i32, u32, u8 = np.float32, np.int32, np.uint32, np.uint8

"""


class Python:
    """How Python's statements are spelled. `inside`: loads near the pixel are in the image."""

    def __init__(self, run: Run, inside: bool) -> None:
        self.run, self.inside = run, inside

    def literal(self, kind: str, value: Any) -> str:
        if kind == "bool":
            return str(bool(value))
        if kind != "float":
            return f"{_CASTS[kind]}({int(value)})"
        if not np.isfinite(value):
            return f"f32({'np.nan' if value != value else 'np.inf' if value > 0 else '-np.inf'})"
        return f"f32({float(value)!r})"

    def operation(self, code: str, kind: str, operands: Sequence[str], to: str) -> str:
        if code in ("to_float", "to_int", "to_uint", "to_bool"):
            return f"{operands[0]} != 0" if code == "to_bool" else f"{_CASTS[to]}({operands[0]})"
        if code in _INFIX:
            text = f"{operands[0]} {_INFIX[code]} {operands[1]}"
        elif code in _OTHER:
            text = _OTHER[code].format(*operands)
        elif code in _MATH:
            text = f"math.{code}({', '.join(operands)})"
        else:
            raise Unsupported(code)
        if to in ("int", "uint") or (to == "float" and code in ("pow", "round", "cbrt", "exp2")):
            return f"{_CASTS[to]}({text})"  # Numba widens
        return f"({text})"

    def load(self, data: Load, x: str, y: str, is_near: bool) -> list[str]:
        format = self.run.formats[data.image]
        column, row = (_added(a, d) for a, d in ((x, data.dx), (y, data.dy)))
        size = f"w{data.image}", f"h{data.image}"
        fits = self.run.images[data.image].shape[:2] == self.run.shape
        outside = ""
        if data.boundary != "inside" and not (self.inside and is_near and fits):
            if data.boundary == "constant":
                outside = f"0 <= {column} < {size[0]} and 0 <= {row} < {size[1]}"
            rule = {"constant": "nearest"}.get(data.boundary, data.boundary)
            column, row = f"{rule}({column}, {size[0]})", f"{rule}({row}, {size[1]})"
        found = []
        for k in range(data.type.size):
            channel = f", {k}" if format.channels > 1 else ""
            text = seen(f"im{data.image}[{row}, {column}{channel}]", format)
            if outside:
                text = f"({text} if {outside} else {self.literal(format.kind, data.cval[k])})"
            found.append(text)
        return found

    def lookup(self, data: Lookup, index: str, component: int) -> str:
        values = self.run.function.tables[data.table].values
        channel = f", {component}" if values.ndim > 1 else ""
        return f"table{data.table}[min(max({index}, 0), {len(values) - 1}){channel}]"

    def select(self, condition: str, first: str, second: str) -> str:
        return f"({first} if {condition} else {second})"

    def declare(self, name: str, kind: str, value: str) -> str:
        return f"{name} = {value}"

    assign = staticmethod(lambda name, value: f"{name} = {value}")

    def blocks(self, head: str, condition: str) -> tuple[str, str]:
        return {"if": f"if {condition}:", "else": "else:", "loop": "while True:"}[head], ""

    def leave(self, go: str) -> str:
        return f"if not {go}: break"


def seen(text: str, format: Format) -> str:
    """A stored texel as functions see it."""
    if format.is_scaled:
        return f"(f32({text}) * f32({1 / np.iinfo(format.dtype).max!r}))"
    kind = format.kind
    return f"({text} != 0)" if kind == "bool" else f"{_CASTS[kind]}({text})"


def stored(text: str, kind: str, format: Format) -> str:
    """What a function gives as a texel of the result."""
    if format.dtype.kind == "f" or format.dtype.kind == "b":
        return text
    if format.dtype.itemsize >= 4:
        return text
    if format.dtype != np.uint8:
        raise Unsupported(str(format.dtype))
    if kind == "float":
        return f"u8(min(max({text} * f32(255) + f32(0.5), f32(0)), f32(255)))"
    return f"u8(255 if {text} else 0)" if kind == "bool" else f"u8(min(max({text}, 0), 255))"


def _added(name: str, by: int) -> str:
    return name if by == 0 else f"{name} + {by}" if by > 0 else f"{name} - {-by}"


RULES: Final = """\
@njit
def nearest(i, n): return min(max(i, 0), n - 1)
@njit
def wrap(i, n): return i % n
@njit
def reflect(i, n):
    i = i % (2 * n)
    return min(i, 2 * n - 1 - i)
@njit
def mirror(i, n):
    if n == 1: return 0
    i = i % (2 * n - 2)
    return min(i, 2 * n - 2 - i)
"""


def make(run: Run) -> Callable[[Sequence[Any]], None]:
    """run(outs): the captured run by Numba."""
    function = run.function
    near = [
        op.data
        for op in walk(function.body)
        if op.code == "load" and op.operands == (function.x, function.y)
    ]
    reach = max([max(abs(d.dx), abs(d.dy)) for d in near], default=0)
    edge, inside = (_pixel(run, flag) for flag in (False, True))
    arguments = parameters(run)
    height, width = run.shape
    lines = [HEAD, RULES]
    lines += ["@njit(parallel=True, fastmath=True, nogil=True)", f"def kernel({arguments}):"]
    lines += ["    for row in prange(height):", "        y = i32(row)"]
    pad = " " * 8

    def loop(first: str, last: str, body: list[str], pad: str) -> list[str]:
        head = [f"{pad}for column in range({first}, {last}):", f"{pad}    x = i32(column)"]
        return head + [f"{pad}    {line}" for line in body]

    if reach and 2 * reach < min(height, width):
        lines.append(f"{pad}if row < {reach} or row >= height - {reach}:")
        lines += loop("0", "width", edge, pad + "    ")
        lines.append(f"{pad}else:")
        lines += loop("0", f"{reach}", edge, pad + "    ")
        lines += loop(f"{reach}", f"width - {reach}", inside, pad + "    ")
        lines += loop(f"width - {reach}", "width", edge, pad + "    ")
    else:
        lines += loop("0", "width", edge if reach else inside, pad)
    text = "\n".join(lines)
    made = module(f"gallery_{run.name.replace('.', '_')}_{zlib.crc32(text.encode())}", text)
    for index, table in enumerate(function.tables):
        setattr(made, f"table{index}", np.ascontiguousarray(table.values))
    given = values(run)

    def again(outs: Sequence[Any]) -> None:
        made.kernel(*[flat(out) for out in outs], *given, height, width)

    return again


def _pixel(run: Run, inside: bool) -> list[str]:
    body = Statements(Python(run, inside), run.function)
    lines = list(body.lines)
    for index, (names, format) in enumerate(zip(body.results, run.outputs, strict=True)):
        kind = run.function.outputs[index].type.kind
        for k, name in enumerate(names):
            channel = f", {k}" if len(names) > 1 else ""
            lines.append(f"out{index}[y, x{channel}] = {stored(name, kind, format)}")
    return lines


def parameters(run: Run) -> str:
    """The names of what a kernel is given."""
    found = [f"out{k}" for k in range(len(run.outputs))]
    for k in range(len(run.images)):
        found += [f"im{k}", f"h{k}", f"w{k}"]
    for k, value in enumerate(run.function.uniforms):
        found += [f"u{k}_{i}" for i in range(value.type.size)]
    return ", ".join([*found, "height", "width"])


def values(run: Run) -> list[Any]:
    """What stands for them: images and uniforms."""
    found: list[Any] = []
    for image in run.images:
        found += [flat(image), np.int32(image.shape[0]), np.int32(image.shape[1])]
    types = {"float": np.float32, "int": np.int32, "uint": np.uint32, "bool": bool}
    for value, given in zip(run.function.uniforms, run.uniforms, strict=True):
        numbers = given if isinstance(given, (tuple, list)) else (given,)
        found += [types[value.type.kind](number) for number in numbers]
    return found


def flat(array: Any) -> Any:
    """Texels of one channel without the axis of channels."""
    return array[..., 0] if array.shape[2] == 1 else array
