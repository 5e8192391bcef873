"""Prints the functions of a fold in GLSL: the value of a pixel, and that of two values.

A `Value` is a struct of the parts of a value (partials.struct). The results of both functions are
converted to the types of these parts, which the results of the fold have.

    writer = ValueWriter(function, formats, dialect, 0)          # Value value(ivec2 p)
    joiner = JoinWriter(join, (), dialect, writer.namer.taken)   # Value join(Value a, Value b)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.expressions.operations import converted
from pygpu.codegen.glsl.expressions.text import Text, call
from pygpu.codegen.glsl.partials import AXES, function
from pygpu.codegen.glsl.strips import tree
from pygpu.codegen.glsl.writer import Dialect, Writer, as_seen, stored_type
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.core.storage import Format
from pygpu.ssa import Function, Op, Value
from pygpu.types import INT, Type

CHUNK: Final = 16  # bytes
TAKEN: Final = frozenset(
    """Value value join chunk full edge edge_chunk strip is_there lanes before partials extent
    across pace rounds tile top group parts folds count a b""".split()
)


def own_texels(function: Function, count: int) -> Function:
    """The function with loads at the pixel itself, which is in these images, as `inside`."""

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load" or op.data.image >= count or op.data.dx or op.data.dy:
            return None
        if op.operands != (function.x, function.y):
            return None
        data = replace(op.data, boundary="inside", cval=())
        return [rewriter.build.emit("load", *operands, data=data)]

    return rewrite(function, rule)


class ValueWriter(Writer):
    """Prints the value of a pixel. Of the first `wide` images the pixel's texel is a parameter;
    other texels are read through a function for each image."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        dialect: Dialect,
        wide: int,
        taken: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(function, inputs, dialect, TAKEN | taken)
        places = range(len(inputs))
        self.wide = wide
        self.sizes = [self.namer.fresh(f"{self.images[i]}_size") for i in places]
        self.data = [self.namer.fresh(f"{self.images[i]}_data") for i in places]
        self.texels = [self.namer.fresh(f"{self.images[i]}_texel") for i in places]
        self.whole: set[int] = set()  # images read in chunks
        self.sized: set[int] = set()  # images of which the size is read

    def size(self, image: int, axis: str) -> Text:
        self.sized.add(image)
        return Text(f"{self.sizes[image]}.{axis}")

    def texel(self, image: int, op: Op) -> Text:
        if image < self.wide:
            assert op.operands == (self.function.x, self.function.y), "read at the pixel alone"
            self.whole.add(image)
            return Text(self.texels[image])
        return call(self.images[image], self.place(op))

    def printed(self, types: Sequence[Type]) -> list[str]:
        lines = [*self.body(), _returned(self, types)]
        texels = [f"{self.inputs[i].type} {self.texels[i]}" for i in sorted(self.whole)]
        return function(f"Value value({', '.join(['ivec2 p', *texels])})", lines)

    def numbered(self, types: Sequence[Type]) -> list[str]:
        """The function that gives the number of an element's group, its last result, and its value,
        all results before."""
        lines, outputs = self.body(), self.function.outputs
        number = converted(self.printer, outputs[-1].type, INT, self.printer.text(outputs[-1]))
        lines += [f"v = {_value(self, outputs[:-1], types)};", f"return {number};"]
        return function("int element(ivec2 p, out Value v)", lines)

    def accessor(self, image: int) -> list[str]:
        """The function that reads a texel from words."""
        format, size, data = self.inputs[image], self.sizes[image], self.data[image]
        nbytes, itemsize = format.nbytes, format.dtype.itemsize
        parts = []
        for offset in range(0, nbytes, itemsize):
            if nbytes % 4 == 0:
                word, shift = f"at + {offset // 4}", str(8 * (offset % 4))
            else:
                word, shift = f"at + (first + {offset} >> 2)", f"8 * (first + {offset} & 3)"
            parts.append(_component(format, f"{data}[{word}]", shift))
        if nbytes % 4 == 0:
            lines = [f"int at = p.y * {size}.z + {nbytes // 4} * p.x;"]
        else:
            lines = [f"int first = {nbytes} * p.x;", f"int at = p.y * {size}.z;"]
        lines.append(f"return {self.seen(format, parts)};")
        return function(f"{format.type} {self.images[image]}(ivec2 p)", lines)

    def seen(self, format: Format, parts: Sequence[str]) -> Text:
        """A texel as functions see it, of its stored components."""
        whole = parts[0] if len(parts) == 1 else f"{stored_type(format)}({', '.join(parts)})"
        return as_seen(self.printer, Text(whole), format)

    def chunk(self, pixels: int) -> list[str]:
        """The function that folds the pixels of a chunk: those there are, if not `whole`."""
        lines = [f"int before = {pixels} * x;"]
        texels: list[list[Text]] = [[] for _ in range(pixels)]
        for image in sorted(self.whole):
            format, size, data = self.inputs[image], self.sizes[image], self.data[image]
            itemsize = format.dtype.itemsize
            nbytes = pixels * format.nbytes
            words = [self.namer.fresh(f"{data}{i}") for i in range(nbytes // CHUNK)]
            lines.append(f"int {data}_at = {len(words)} * x;")
            for step, word in enumerate(words):
                at = f"{data}_at + {step}"
                if step:  # a row may end before its last chunk does
                    at = f"min({at}, {size}.z - 1)"
                lines.append(f"uvec4 {word} = {data}[y * {size}.z + {at}];")
            for pixel in range(pixels):
                first = pixel * format.nbytes
                parts = [
                    _component(
                        format,
                        f"{words[offset // CHUNK]}.{AXES[offset % CHUNK // 4]}",
                        str(8 * (offset % 4)),
                    )
                    for offset in range(first, first + format.nbytes, itemsize)
                ]
                texels[pixel].append(self.seen(format, parts))
        for pixel, each in enumerate(texels):
            place = f"ivec2(before + {pixel}, y)" if pixel else "ivec2(before, y)"
            lines.append(f"Value v{pixel} = value({', '.join([place, *map(str, each)])});")
        lines += tree("v", pixels, lambda k: f"whole || before + {k} < extent.w")
        lines.append("return v0;")
        return function("Value chunk(int x, int y, bool whole)", lines)


class JoinWriter(Writer):
    """Prints the function of two values, which its uniforms are the parts of."""

    def printed(self, types: Sequence[Type]) -> list[str]:
        self.uniforms = [f"{name}.v{i}" for name in "ab" for i in range(len(types))]
        return function("Value join(Value a, Value b)", [*self.body(), _returned(self, types)])


def _returned(writer: Writer, types: Sequence[Type]) -> str:
    return f"return {_value(writer, writer.function.outputs, types)};"


def _value(writer: Writer, outputs: Sequence[Value], types: Sequence[Type]) -> str:
    """The struct of a function's results, which are converted to these types."""
    parts = [
        str(writer.printer.text(value) if value.type is type else
            converted(writer.printer, value.type, type, writer.printer.text(value)))
        for value, type in zip(outputs, types, strict=True)
    ]  # fmt: skip
    return f"Value({', '.join(parts)})"


def _component(format: Format, word: str, shift: str) -> str:
    """A stored component of a word."""
    bits = 8 * format.dtype.itemsize
    if bits == 32:
        return {"f": f"uintBitsToFloat({word})", "i": f"int({word})", "u": word}[format.dtype.kind]
    if format.dtype.kind == "f":
        return f"unpackHalf2x16({word} >> ({shift})).x"
    word = f"int({word})" if format.dtype.kind == "i" else word
    return f"bitfieldExtract({word}, {shift}, {bits})"
