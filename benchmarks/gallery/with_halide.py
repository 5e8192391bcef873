"""Halide: all of a function inlined, strips of rows in parallel, vectors along x. Loops of the
device have no form there that can be written mechanically."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import halide as hl
import numpy as np

from benchmarks.gallery.capture import Run
from benchmarks.gallery.scalars import Unsupported
from benchmarks.gallery.with_numba import flat
from pygpu.core.storage import Format
from pygpu.ssa import Load, Op, Region, Value, walk

NAME: Final = "Halide"
STRIP: Final = 16
_CAST: Final = {"float": hl.f32, "int": hl.i32, "uint": hl.u32}
_UNARY: Final = (
    "floor ceil trunc sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf"
).split()


def _operation(code: str, of: str, a: list[Any], to: str) -> Any:
    """An operation of scalars."""
    match code:
        case "add":
            return a[0] + a[1]
        case "sub":
            return a[0] - a[1]
        case "mul":
            return a[0] * a[1]
        case "fma":
            return a[0] * a[1] + a[2]
        case "div":
            return a[0] / a[1]
        case "floordiv":
            return hl.floor(a[0] / a[1]) if of == "float" else a[0] / a[1]
        case "mod":
            return a[0] - a[1] * hl.floor(a[0] / a[1]) if of == "float" else a[0] % a[1]
        case "neg":
            return -a[0]
        case "abs":
            return hl.abs(a[0]) if of == "float" else hl.i32(hl.abs(a[0]))
        case "min":
            return hl.min(a[0], a[1])
        case "max":
            return hl.max(a[0], a[1])
        case "pow":
            return hl.pow(a[0], a[1])
        case "fmod":
            return a[0] - a[1] * hl.trunc(a[0] / a[1])
        case "atan2":
            return hl.atan2(a[0], a[1])
        case "hypot":
            return hl.sqrt(a[0] * a[0] + a[1] * a[1])
        case "round":
            return hl.round(a[0])
        case "inversesqrt":
            return hl.f32(1) / hl.sqrt(a[0])
        case "exp2":
            return hl.pow(hl.f32(2), a[0])
        case "log2":
            return hl.log(a[0]) * hl.f32(1.4426950408889634)
        case "sign":
            one = _CAST[to]
            return hl.select(a[0] > 0, one(1), hl.select(a[0] < 0, one(-1), one(0)))
        case "lt":
            return a[0] < a[1]
        case "le":
            return a[0] <= a[1]
        case "gt":
            return a[0] > a[1]
        case "ge":
            return a[0] >= a[1]
        case "eq":
            return a[0] == a[1]
        case "ne":
            return a[0] != a[1]
        case "not":
            return ~a[0] if of != "bool" else a[0] == hl.cast(hl.Bool(), 0)
        case "bit_and":
            return a[0] & a[1]
        case "bit_or":
            return a[0] | a[1]
        case "bit_xor":
            return a[0] ^ a[1]
        case "shl":
            return a[0] << a[1]
        case "shr":
            return a[0] >> a[1]
        case "bit_not":
            return ~a[0]
        case "to_float" | "to_int" | "to_uint":
            return _CAST[to](a[0])
        case "to_bool":
            return a[0] != 0
    if code in _UNARY:
        return getattr(hl, code)(a[0])
    raise Unsupported(code)


class _Writer:
    """Expressions of a function's values, a list of components for each."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.x, self.y, self.c = hl.Var("x"), hl.Var("y"), hl.Var("c")
        self.sources = [hl.ImageParam(_type(f), 2 if f.channels == 1 else 3) for f in run.formats]
        self.read: dict[Any, Any] = {}
        function = run.function
        self.values: dict[Value, list[Any]] = {function.x: [self.x], function.y: [self.y]}
        types = {"float": hl.Float(32), "int": hl.Int(32), "uint": hl.UInt(32)}
        self.params: list[Any] = []  # uniforms are parameters, as PyGPU's are
        for value in function.uniforms:
            kind, made = value.type.kind, []
            for _ in range(value.type.size):
                param = hl.Param(types.get(kind, hl.Int(32)), 0)
                self.params.append(param)
                made.append(hl.cast(types[kind], param) if kind in types else param == 1)
            self.values[value] = made
        self.region(function.body)

    def region(self, region: Region) -> list[list[Any]]:
        for op in region.ops:
            if op.code == "loop":
                raise Unsupported("loop")
            if op.code == "if":
                first, second = [self.region(inner) for inner in op.regions]
                (condition,) = self.values[op.operands[0]]
                for result, a, b in zip(op.results, first, second, strict=True):
                    pairs = zip(a, b, strict=True)
                    self.values[result] = [hl.select(condition, p, q) for p, q in pairs]
            else:
                self.values[op.result] = self.simple(op)
        return [self.values[value] for value in region.results]

    def simple(self, op: Op) -> list[Any]:
        operands = [self.values[v] for v in op.operands]
        kind = op.result.type.kind
        match op.code:
            case "constant":
                type, value = op.data
                return [_literal(type.kind, v) for v in ([value] if type.is_scalar else value)]
            case "construct":
                return [each for operand in operands for each in operand]
            case "splat":
                return operands[0] * op.data
            case "swizzle":
                return [operands[0][k] for k in op.data]
            case "width" | "height":
                return [self.extent(op.data, 0 if op.code == "width" else 1)]
            case "load":
                return self.load(op.data, operands[0][0], operands[1][0])
            case "select":
                conditions = operands[0] * (len(operands[1]) // len(operands[0]))
                return [hl.select(*each) for each in zip(conditions, *operands[1:], strict=True)]
            case "dot":
                products = [a * b for a, b in zip(*operands, strict=True)]
                return [sum(products[1:], products[0])]
            case "any" | "all":
                found = operands[0][0]
                for each in operands[0][1:]:
                    found = found | each if op.code == "any" else found & each
                return [found]
            case "element" | "table" | "ddx" | "ddy":
                raise Unsupported(op.code)
        of = op.operands[0].type.kind
        return [_operation(op.code, of, list(a), kind) for a in zip(*operands, strict=True)]

    def extent(self, image: int, axis: int) -> Any:
        """The width or height of an image."""
        return self.sources[image].dim(axis + (self.run.formats[image].channels > 1)).extent()

    def load(self, data: Load, x: Any, y: Any) -> list[Any]:
        format = self.run.formats[data.image]
        func = self.source(data.image, data)
        column, row = x + data.dx if data.dx else x, y + data.dy if data.dy else y
        found = []
        for k in range(data.type.size):
            texel = func[column, row] if format.channels == 1 else func[k, column, row]
            found.append(texel)
        return found

    def source(self, image: int, data: Load) -> Any:
        """The image beyond its boundary, as functions see it."""
        format = self.run.formats[image]
        key = image, data.boundary, data.cval if data.boundary == "constant" else ()
        if key in self.read:
            return self.read[key]
        param = self.sources[image]
        region = [(0, self.extent(image, 0)), (0, self.extent(image, 1))]
        if format.channels > 1:
            region.insert(0, (hl.Expr(), hl.Expr()))
        bounds = hl.BoundaryConditions
        seen = hl.Func("seen")
        axes = (self.x, self.y) if format.channels == 1 else (self.c, self.x, self.y)
        if data.boundary == "constant":
            if format.channels > 1 and len(set(data.cval)) > 1:
                raise Unsupported("constants of several channels")
            plain = hl.Func("plain")
            plain[axes] = _seen(param[axes], format)
            seen = bounds.constant_exterior(plain, _literal(format.kind, data.cval[0]), region)
        else:
            rule = {
                "nearest": bounds.repeat_edge,
                "wrap": bounds.repeat_image,
                "reflect": bounds.mirror_image,
                "mirror": bounds.mirror_interior,
                "inside": bounds.repeat_edge,
            }[data.boundary]
            beyond = rule(param, region)
            seen[axes] = _seen(beyond[axes], format)
        self.read[key] = seen
        return seen


def _literal(kind: str, value: Any) -> Any:
    if kind == "bool":
        return hl.cast(hl.Bool(), int(value))
    if kind == "float" and not np.isfinite(value):
        raise Unsupported("a constant that is not finite")
    if kind == "uint":
        return hl.u32(hl.i32(int(np.uint32(value).astype(np.int32))))
    return _CAST[kind](float(value) if kind == "float" else int(value))


def _seen(texel: Any, format: Format) -> Any:
    if format.is_scaled:
        return hl.f32(texel) * hl.f32(1 / np.iinfo(format.dtype).max)
    return texel != 0 if format.kind == "bool" else _CAST[format.kind](texel)


def _type(format: Format) -> Any:
    bits = 8 * format.dtype.itemsize
    if format.dtype.kind == "b":
        return hl.UInt(8)
    return {"f": hl.Float, "u": hl.UInt, "i": hl.Int}[format.dtype.kind](bits)


def _stored(value: Any, kind: str, format: Format) -> Any:
    if format.dtype == np.uint8:
        if kind == "float":
            return hl.u8(hl.clamp(value * hl.f32(255) + hl.f32(0.5), hl.f32(0), hl.f32(255)))
        if kind == "bool":
            return hl.select(value, hl.u8(255), hl.u8(0))
        return hl.u8(hl.clamp(value, 0, 255))
    if format.dtype.kind == "b":
        return hl.select(value, hl.u8(1), hl.u8(0))
    return value


_BUILT: Final[dict[Any, tuple[_Writer, Any]]] = {}


def make(run: Run) -> Callable[[Sequence[Any]], None]:
    """run(outs): the captured run by Halide."""
    if len(run.outputs) > 1:
        raise Unsupported("several results")
    if any(op.code == "loop" for op in walk(run.function.body)):
        raise Unsupported("loop")
    key = str(run.function), run.formats, run.outputs
    if key not in _BUILT:
        _BUILT[key] = _built(run)
    writer, out = _BUILT[key]
    sources = [_buffer(np.ascontiguousarray(image)) for image in run.images]
    numbers = [v for u in run.uniforms for v in (u if isinstance(u, (tuple, list)) else (u,))]
    kinds = [v.type.kind for v in run.function.uniforms for _ in range(v.type.size)]

    def again(outs: Sequence[Any]) -> None:
        for source, buffer in zip(writer.sources, sources, strict=True):
            source.set(buffer)
        for param, number, kind in zip(writer.params, numbers, kinds, strict=True):
            param.set(float(number) if kind == "float" else int(number))
        out.realize(_buffer(outs[0]))

    return again


def _buffer(array: Any) -> Any:
    whole = flat(array)
    return hl.Buffer(whole.view(np.uint8) if whole.dtype.kind == "b" else whole)


def _built(run: Run) -> tuple[_Writer, Any]:
    writer = _Writer(run)
    (format,), (value,) = run.outputs, run.function.outputs
    parts = [_stored(each, value.type.kind, format) for each in writer.values[value]]
    out, x, y, c = hl.Func("out"), writer.x, writer.y, writer.c
    strip = hl.Var("strip")
    if format.channels == 1:
        out[x, y] = parts[0]
    else:
        out[c, x, y] = hl.mux(c, parts)
        out.bound(c, 0, format.channels).unroll(c)
        out.output_buffer().dim(1).set_stride(format.channels)
    for source, each in zip(writer.sources, run.formats, strict=True):
        if each.channels > 1:
            source.dim(0).set_bounds(0, each.channels)
            source.dim(1).set_stride(each.channels)
    out.split(y, strip, y, STRIP).parallel(strip).vectorize(x, 16)
    out.compile_jit()
    return writer, out
