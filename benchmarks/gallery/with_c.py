"""C: a function of a pixel that a loop on all cores calls (gcc, fast mathematics), and a kernel of
CUDA C of the same text, a thread a pixel."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.gallery.capture import Run
from benchmarks.gallery.scalars import Statements, Unsupported
from pygpu.core.storage import Format
from pygpu.ssa import Load, Lookup

NAME: Final = "C"
TYPES: Final = {"float": "float", "int": "int", "uint": "unsigned", "bool": "bool"}
STORED: Final = {
    "float32": "float", "uint8": "unsigned char", "int32": "int", "uint32": "unsigned",
    "bool": "bool", "uint16": "unsigned short", "int16": "short", "int8": "signed char",
}  # fmt: skip
_INFIX: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "bit_and": "&", "bit_or": "|",
    "bit_xor": "^", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=",
}  # fmt: skip
_MATH: Final = (
    "floor ceil trunc sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 "
    "sinh cosh tanh asinh acosh atanh hypot erf erfc lgamma copysign fmod pow cbrt fma"
).split()
_OTHER: Final = {
    "neg": "(-{0})", "not": "(!{0})", "bit_not": "(~{0})", "inversesqrt": "(1.0f / sqrtf({0}))",
    "round": "rintf({0})", "sign": "(float)(({0} > 0) - ({0} < 0))", "isnan": "({0} != {0})",
    "gamma": "tgammaf({0})", "isinf": "(fabsf({0}) > 3.4e38f)",
}  # fmt: skip
HEAD: Final = """\
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define FUNCTION static __device__ __forceinline__
#else
#include <math.h>
#include <stdbool.h>
#define FUNCTION static inline
#endif
FUNCTION int imin(int a, int b) { return a < b ? a : b; }
FUNCTION int imax(int a, int b) { return a > b ? a : b; }
FUNCTION int ifloor(int a, int b) {
    return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}
FUNCTION int imod(int a, int b) { int r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
FUNCTION float fmodulo(float a, float b) { return a - b * floorf(a / b); }
FUNCTION int nearest(int i, int n) { return imin(imax(i, 0), n - 1); }
FUNCTION int wrap(int i, int n) { return imod(i, n); }
FUNCTION int reflect(int i, int n) { i = imod(i, 2 * n); return imin(i, 2 * n - 1 - i); }
FUNCTION int mirror(int i, int n) {
    if (n == 1) return 0;
    i = imod(i, 2 * n - 2);
    return imin(i, 2 * n - 2 - i);
}
"""


class C:
    """How C's statements are spelled."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def literal(self, kind: str, value: Any) -> str:
        if kind == "bool":
            return "true" if value else "false"
        if kind == "uint":
            return f"{int(value)}u"
        if kind == "int":
            return f"({int(value)})" if value != -(2**31) else "(-2147483647 - 1)"
        if not np.isfinite(value):
            return "(0.0f / 0.0f)" if value != value else f"({'-' * (value < 0)}1.0f / 0.0f)"
        text = f"{float(value)!r}"
        return f"({text if '.' in text or 'e' in text else text + '.0'}f)"

    def operation(self, code: str, kind: str, operands: Sequence[str], to: str) -> str:
        a, b = operands[0], operands[-1]
        is_float = kind == "float"
        if code in ("to_float", "to_int", "to_uint"):
            return f"({TYPES[to]})({a})"
        if code == "to_bool":
            return f"({a} != 0)"
        if code in ("min", "max"):
            mark = "f" + code + "f" if is_float else "i" + code
            if kind == "uint":
                return f"({a} {'<' if code == 'min' else '>'} {b} ? {a} : {b})"
            return f"{mark}({a}, {b})"
        if code == "abs":
            return f"{'fabsf' if is_float else 'abs'}({a})"
        if code == "floordiv":
            return f"floorf({a} / {b})" if is_float else _whole("ifloor", "/", kind, a, b)
        if code == "mod":
            return f"fmodulo({a}, {b})" if is_float else _whole("imod", "%", kind, a, b)
        if code == "fma" and not is_float:
            return f"({a} * {operands[1]} + {b})"
        if code == "sign" and not is_float:
            return f"(({a} > 0) - ({a} < 0))"
        if kind == "int" and code in ("add", "sub", "mul"):  # which wrap, as C's ints do not
            return f"(int)((unsigned){a} {_INFIX[code]} (unsigned){b})"
        if code in _INFIX:
            return f"({a} {_INFIX[code]} {b})"
        if code in _OTHER:
            return _OTHER[code].format(*operands)
        if code in _MATH and is_float:
            return f"{code}f({', '.join(operands)})"
        raise Unsupported(code)

    def load(self, data: Load, x: str, y: str, is_near: bool) -> list[str]:
        k, format = data.image, self.run.formats[data.image]
        column = x if not data.dx else f"{x} + {data.dx}"
        row = y if not data.dy else f"{y} + {data.dy}"
        test = ""
        if data.boundary == "constant":
            test = f"{column} >= 0 && {column} < w{k} && {row} >= 0 && {row} < h{k}"
        if data.boundary != "inside":
            rule = {"constant": "nearest"}.get(data.boundary, data.boundary)
            column, row = f"{rule}({column}, w{k})", f"{rule}({row}, h{k})"
        place = f"(({row}) * w{k} + ({column})) * {format.channels}"
        found = []
        for c in range(data.type.size):
            text = f"im{k}[{place} + {c}]"
            if format.is_scaled:
                text = f"({text} * {self.literal('float', 1 / np.iinfo(format.dtype).max)})"
            if test:
                text = f"(({test}) ? {text} : {self.literal(format.kind, data.cval[c])})"
            found.append(text)
        return found

    def lookup(self, data: Lookup, index: str, component: int) -> str:
        values = self.run.function.tables[data.table].values
        size = values.shape[1] if values.ndim > 1 else 1
        at = f"imin(imax((int)({index}), 0), {len(values) - 1})"
        return f"table{data.table}[{at} * {size} + {component}]"

    def select(self, condition: str, first: str, second: str) -> str:
        return f"({condition} ? {first} : {second})"

    def declare(self, name: str, kind: str, value: str) -> str:
        return f"{TYPES[kind]} {name} = {value};"

    def assign(self, name: str, value: str) -> str:
        return f"{name} = {value};"

    def blocks(self, head: str, condition: str) -> tuple[str, str]:
        return {"if": f"if ({condition}) {{", "else": "else {", "loop": "for (;;) {"}[head], "}"

    def leave(self, go: str) -> str:
        return f"if (!{go}) break;"


def _whole(function: str, sign: str, kind: str, a: str, b: str) -> str:
    return f"({a} {sign} {b})" if kind == "uint" else f"{function}({a}, {b})"


def text(run: Run) -> str:
    """A kernel for CUDA, and a function for other compilers."""
    language = C(run)
    body = Statements(language, run.function)
    lines = list(body.lines)
    for index, (names, format) in enumerate(zip(body.results, run.outputs, strict=True)):
        kind = run.function.outputs[index].type.kind
        for k, name in enumerate(names):
            place = f"out{index}[(y * width + x) * {format.channels} + {k}]"
            lines.append(f"{place} = {_stored(name, kind, format)};")
    constants = []
    for index, table in enumerate(run.function.tables):
        kind = {"f": "float", "b": "bool", "u": "uint"}.get(table.values.dtype.kind, "int")
        numbers = ", ".join([language.literal(kind, v) for v in table.values.ravel().tolist()])
        constants.append(f"DATA {TYPES[kind]} table{index}[] = {{{numbers}}};")
    pixel = "\n".join("    " + line for line in lines)
    return f"""{HEAD}
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DATA static __device__ const
#else
#define DATA static const
#endif
{chr(10).join(constants)}
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
extern "C" __global__ void kernel({_parameters(run, "__restrict__")}) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
{pixel}
}}
#else
void kernel({_parameters(run, "restrict")}) {{
#pragma omp parallel for schedule(static)
for (int y = 0; y < height; y++)
#pragma omp simd
for (int x = 0; x < width; x++) {{
{pixel}
}}
}}
#endif
"""


def _stored(name: str, kind: str, format: Format) -> str:
    if format.dtype == np.uint8:
        if kind == "float":
            return f"(unsigned char)fminf(fmaxf({name} * 255.0f + 0.5f, 0.0f), 255.0f)"
        return f"({name} ? 255 : 0)" if kind == "bool" else f"imin(imax({name}, 0), 255)"
    if format.dtype.itemsize == 4 or format.dtype.kind == "b":
        return name
    raise Unsupported(str(format.dtype))


def _parameters(run: Run, restrict: str) -> str:
    try:
        found = [f"{STORED[f.dtype.name]} *{restrict} out{k}" for k, f in enumerate(run.outputs)]
        for k, format in enumerate(run.formats):
            found.append(f"const {STORED[format.dtype.name]} *{restrict} im{k}, int h{k}, int w{k}")
    except KeyError as error:
        raise Unsupported(str(error)) from None
    for k, value in enumerate(run.function.uniforms):
        found += [f"{TYPES[value.type.kind]} u{k}_{i}" for i in range(value.type.size)]
    return ", ".join([*found, "int height", "int width"])


def numbers(run: Run) -> list[Any]:
    """The uniforms' components, of NumPy's types."""
    types = {"float": np.float32, "int": np.int32, "uint": np.uint32, "bool": np.bool_}
    found = []
    for value, given in zip(run.function.uniforms, run.uniforms, strict=True):
        each = given if isinstance(given, (tuple, list)) else (given,)
        found += [types[value.type.kind](number) for number in each]
    return found


_C: Final = {
    "float32": ctypes.c_float, "int32": ctypes.c_int, "uint32": ctypes.c_uint, "bool": ctypes.c_bool
}  # fmt: skip


def make(run: Run) -> Callable[[Sequence[Any]], None]:
    """run(outs): the captured run by gcc's code."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise Unsupported("no gcc")
    folder = Path(tempfile.mkdtemp(prefix="pygpu-gallery-"))
    (folder / "kernel.c").write_text(text(run))
    target = folder / "kernel.so"
    # Two steps: a library that is linked with -ffast-math has the thread that loads it take
    # subnormal numbers for 0 from then on.
    compiled = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-w", "-c", "kernel.c"]
    linked = ["-fopenmp", "-shared", "kernel.o", "-o", str(target), "-lm"]
    for flags in compiled, linked:
        done = subprocess.run(
            [compiler, *flags], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr[:2000])
    kernel = ctypes.CDLL(str(target)).kernel
    kernel.restype = None
    given: list[Any] = []
    for image in run.images:
        given += [ctypes.c_void_p(image.ctypes.data), *map(ctypes.c_int, image.shape[:2])]
    given += [_C[number.dtype.name](number) for number in numbers(run)]
    given += list(map(ctypes.c_int, run.shape))

    def again(outs: Sequence[Any]) -> None:
        kernel(*[ctypes.c_void_p(out.ctypes.data) for out in outs], *given)

    return again
