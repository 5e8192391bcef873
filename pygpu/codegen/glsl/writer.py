"""Puts a GLSL program together around the printed body: names, tables, uniforms, helpers.

What differs between kinds of programs, how a texel is read and how a result leaves, is in the
writers of pygpu/codegen_glsl.py, which build on this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.expressions.functions import source
from pygpu.codegen.glsl.expressions.operations import CALLED, clamped
from pygpu.codegen.glsl.expressions.text import Namer, Text, call, infix, literal, wrap
from pygpu.codegen.glsl.lines import INDENT, flat, lines_of
from pygpu.codegen.glsl.loops import Printer
from pygpu.codegen.glsl.plan import make_plan
from pygpu.core.host.records import record
from pygpu.core.storage import Format
from pygpu.passes.analysis.ranges import Ranges
from pygpu.passes.analysis.variance import variance
from pygpu.passes.lower.predicate import predicated
from pygpu.passes.stages.ahead import ROW, place_of
from pygpu.ssa import Function, Load, Op, Value, walk
from pygpu.types import INT, Kind, Type, vector

SMALL_TABLE: Final = 64  # numbers that are printed as a constant array
FEWEST: Final = 16  # numbers that are printed so wherever they are read
BLOCKS: Final = 11  # tables in uniform blocks of a program; the specification grants it 12 blocks
AHEAD: Final = "ahead_block"  # the one of numbers computed ahead: see passes/stages/ahead.py
TEXTURES: Final = 4  # tables of one program that are textures where they need not be: units are few
NARROW_BUFFERS: Final = "GL_NV_gpu_shader5"  # by which buffers have elements of 8 and 16 bits
# By which NVIDIA's compiler leaves sums as they are written: without, it makes wrong ones of those
# that share terms, one in six hundred at random (580.159). Others ignore it.
FAITHFUL: Final = "#pragma optionNV(fastmath off)"
# Operations whose operand gets a variable of its own: drivers compute them slower within an
# expression that is assigned to a `precise` variable.
APART: Final = frozenset(("sqrt",))
# What browsers take for a branch where it is chosen by `c ? a : b`: to ANGLE every function may
# have effects but GLSL's mathematical ones. Browsers without a GPU draw in SwiftShader, which takes
# twice as long to compile a loop for each branch in it: 49 in one did not end in five minutes.
CALLING: Final = CALLED | {"load", "table"}
# The functions that take a word of 32 bits apart into two float16, and put it together, by whether
# the driver has numbers of 16 bits. Where it has none, the two are computed with as floats.
_LANES: Final = {
    True: {"lanes": "unpackFloat2x16", "word": "packFloat2x16"},
    False: {"lanes": "unpackHalf2x16", "word": "packHalf2x16"},
}
SUBGROUP: Final = 32
TABLE_WIDTH: Final = 1024  # texels in a row of a table that is a texture
# How texts of GLSL ES begin: all in 32 bits, and nothing can be declared `precise`.
EMBEDDED: Final = [
    "#version 300 es",
    "#define precise",
    *(f"precision highp {type};" for type in "float int sampler2D isampler2D usampler2D".split()),
]


@record
class Dialect:
    """What a driver needs the text to heed."""

    version: int = 330  # the latest of GLSL that it takes
    loose: bool = False  # its optimiser supposes that floats that are compared are not NaN
    block_size: int = 16384  # bytes of a uniform block; the specification grants these
    fused: bool = False  # it computes products and sums at once, rounded once
    images: bool = False  # it reads textures faster where they are bound as images
    narrow: bool = False  # it has NARROW_BUFFERS, and float16 with them
    lanes: bool = False  # it computes with two float16 at once
    saturates: bool = False  # its int(x) is the nearest int where none holds x, and 0 for NaN
    uniform_blocks: bool = False  # its uniform blocks are fast where all threads read one element
    embedded: bool = False  # it is GLSL ES 3.00, as browsers take it
    subgroups: bool = False  # its subgroups are SUBGROUP threads, which tell each other words
    gathers: bool = False  # threads store faster side by side, from what their group shares

    @property
    def precise(self) -> bool:
        """Whether it can be told not to regroup what is computed."""
        return self.version >= 400 and not self.embedded


@record(eq=False)
class BoundTable:
    """A table apart from the text: four numbers a row, for a uniform block or a texture."""

    name: str
    values: NDArray[Any]  # (n, 4) float32 or int32
    is_block: bool


@record(frozen=False)
class GlslProgram:
    """A program's text, and under which names it takes what it is given (None: not used)."""

    text: str
    images: list[str | None]
    uniforms: list[str | None]
    tables: list[BoundTable] = field(default_factory=list)


class Writer:
    """See the module's head. Writers of a kind define `texel` and `size`."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Format],
        dialect: Dialect,
        taken: frozenset[str],
        is_parted: bool = False,
        held: frozenset[str] = frozenset(),
    ) -> None:
        self.function = function = predicated(function) if dialect.fused else function
        self.inputs = inputs
        # NVIDIA's compiler (580.159) takes a float16 and that float16 saturated, as bytes are
        # stored, for one value.
        self.clamps = dialect.fused and not any(each.dtype == np.float16 for each in inputs)
        self.dialect = dialect
        self.namer = Namer(taken | {"p", "ahead", AHEAD})
        apart = APART if dialect.fused else frozenset()
        calling = CALLING if dialect.embedded else frozenset()
        self.plan = make_plan(function, is_parted, apart, held, calling)
        ranges = Ranges(function, inputs)
        self.ranges = ranges
        self.printer = Printer(self.plan, self.namer, ranges, dialect.loose, self.leaf)
        self.printer.saturates = dialect.saturates
        self.printer.switches = dialect.loose or dialect.embedded
        self.printer.precise, self.printer.fused = dialect.precise, dialect.fused
        self.read: set[int] = set()  # images
        self.images = [self.namer.fresh(image.name) for image in function.images]
        self.uniforms = [self.uniform(value.name) for value in function.uniforms]
        self.accessors: dict[int, str] = {}
        self.bound: list[BoundTable] = []
        self.declared: list[str] = []
        self.constant: set[int] = set()  # tables that are constant arrays
        self.varying: set[int] | None = None  # tables that pixels read at places of their own

    # ------------------------------------------------ the body

    def body(self) -> list[str]:
        """The lines that compute the function's results, which `self.printer.text` then has."""
        self.start()
        return flat(self.printer.region(self.function.body))

    def start(self) -> None:
        """Name the function's parameters."""
        function, printer = self.function, self.printer
        printer.names[function.x], printer.names[function.y] = Text("p.x"), Text("p.y")
        for value, name in zip(function.uniforms, self.uniforms, strict=True):
            printer.names[value] = Text(name)

    def leaf(self, printer: Printer, op: Op) -> Text:
        """Loads, tables and sizes."""
        if op.code == "table":
            return self.look_up(op)
        if not isinstance(op.data, Load):
            return self.size(op.data, "x" if op.code == "width" else "y")
        assert op.data.boundary == "inside", "loads are lowered before they are printed"
        self.read.add(op.data.image)
        return self.texel(op.data.image, op)

    def size(self, image: int, axis: str) -> Text:
        """The width (x) or height (y) of an image."""
        raise NotImplementedError

    def texel(self, image: int, op: Op) -> Text:
        """What a load gives."""
        raise NotImplementedError

    def place(self, op: Op) -> Text:
        """The coordinates that a load reads, an ivec2."""
        dx, dy = op.data.dx, op.data.dy
        if op.operands[0] is self.function.x and op.operands[1] is self.function.y:
            if dx == dy == 0:
                return Text("p")
            return infix("+", Text("p"), call("ivec2", str(dx), str(dy)))
        x, y = map(self.printer.text, op.operands)
        return call("ivec2", _moved(x, dx), _moved(y, dy))

    @property
    def has_lanes(self) -> bool:
        """Whether what was printed so far computes with two float16 at once."""
        return any(name.startswith("lane") for name, _ in self.printer.helpers)

    def stored(self, value: Value, format: Format, name: str) -> tuple[list[str], Text]:
        """The lines that stand before a result is stored, and what is stored. A sum gets a variable
        of this name, or one like it, for only variables can be `precise`."""
        printer, lines = self.printer, []
        names, text = printer.names, str(printer.text(value))
        type = printer.qualified(value)
        if type != str(value.type) and not text.isidentifier():
            name = self.namer.fresh(name)
            lines.append(f"{type} {name} = {text};")
            printer.names = {**names, value: Text(name)}
        made = store(printer, value, format, self.clamps)
        printer.names = names
        return lines, made

    # ------------------------------------------------ tables

    def look_up(self, op: Op) -> Text:
        index = op.data.table
        table = self.function.tables[index]
        if index not in self.accessors:
            if self.is_small(index):
                self.constant.add(index)
            self.accessors[index] = self.namer.fresh(table.name)
            self.declared += self.table(index, self.accessors[index], op.data.type)
        name = self.accessors[index]
        at, last = self.printer.text(op.operands[0]), len(table.values) - 1
        if not self.ranges.lies_in(op.operands[0], 0, last):
            at = clamped(at, 0, last)
        return Text(f"{name}[{at}]") if index in self.constant else call(name, at)

    def is_small(self, index: int) -> bool:
        """Whether a table is a constant array, which GPUs read as they do uniform blocks."""
        values = self.function.tables[index].values
        few = values.size <= SMALL_TABLE and bool(np.isfinite(values).all())
        return few and (values.size <= FEWEST or not self.is_scattered(index))

    def is_scattered(self, index: int) -> bool:
        """Whether pixels read a table at places of their own, one thread of a GPU after the other
        where it is no texture."""
        if not self.dialect.uniform_blocks:
            return False
        if self.varying is None:
            bits = variance(self.function)
            self.varying = {
                op.data.table
                for op in walk(self.function.body)
                if op.code == "table" and bits[op.operands[0]]
            }
        textures = sum(not table.is_block for table in self.bound)
        return index in self.varying and textures < TEXTURES

    def in_buffer(self, name: str, values: NDArray[Any], type: Type) -> list[str] | None:
        """What declares a table that is read from a storage buffer; None where that cannot be."""
        return None

    def table(self, index: int, name: str, type: Type) -> list[str]:
        """What declares a table: a constant array, or a function that reads it."""
        values = self.function.tables[index].values
        if index in self.constant:
            rows = values.reshape(len(values), -1).tolist()
            elements = [literal(type, tuple(row) if len(row) > 1 else row[0]) for row in rows]
            array = f"{type}[{len(values)}]"
            return wrap(f"const {type} {name}[{len(values)}] = {call(array, *elements)};")
        scattered = self.is_scattered(index)
        lines = self.in_buffer(name, values, type) if scattered else None
        if lines is not None:
            return lines
        rows4 = _in_rows_of_four(values)
        blocks = sum(table.is_block for table in self.bound)
        is_block = rows4.nbytes <= self.dialect.block_size and blocks < BLOCKS
        is_block = is_block and not scattered
        data = self.namer.fresh(f"{name}_data")
        self.bound.append(BoundTable(data if not is_block else f"{data}_block", rows4, is_block))
        kind = table_kind(values)
        row_type = vector(kind, 4)
        if is_block:
            self.namer.taken.add(f"{data}_block")
            lines = [
                f"layout(std140) uniform {data}_block {{",
                f"{INDENT}{row_type} {data}[{len(rows4)}];",
                "};",
            ]
            row = f"{data}[%s]"
        else:
            lines = [f"uniform {_PREFIX[kind]}sampler2D {data};"]
            row = f"texelFetch({data}, ivec2((%s) % {TABLE_WIDTH}, (%s) / {TABLE_WIDTH}), 0)"
        if type.is_scalar:
            element = f"{row.replace('%s', 'i >> 2')}[i & 3]"
        else:
            element = row.replace("%s", "i") + "." + "xyzw"[: type.size]
        if type.kind == "bool":
            element = f"{type}({element})"
        return [*lines, f"{type} {name}(int i) {{", f"{INDENT}return {element};", "}"]

    # ------------------------------------------------ the whole

    def uniform(self, name: str | None) -> str:
        """What a uniform is called in the text."""
        place = place_of(name)
        if place is None:
            return self.namer.fresh(name or "u")
        return f"ahead[{place // ROW}].{'xyzw'[place % ROW]}"

    def given(self, type: Type, name: str) -> str:
        """What declares a value that each call gives."""
        return f"uniform {type} {name};"

    def program(
        self,
        version: int,
        inputs: Sequence[str],
        declared: Sequence[str],
        main: Sequence[str],
        extensions: Sequence[str] = (),
    ) -> GlslProgram:
        """The text, for GLSL of a version or of a later one that has what helpers need."""
        used = [value in self.plan.uses for value in self.function.uniforms]
        ahead = [place_of(value.name) is not None for value in self.function.uniforms]
        declarations = [
            self.given(value.type, name)
            for value, name, is_used, is_ahead in zip(
                self.function.uniforms, self.uniforms, used, ahead, strict=True
            )
            if is_used and not is_ahead
        ]
        uniforms = [declaration for declaration in declarations if declaration]
        if rows := sum(ahead) // ROW:
            uniforms += [f"layout(std140) uniform {AHEAD} {{", f"{INDENT}vec4 ahead[{rows}];", "};"]
        helpers = self.printer.helpers
        header = [f"#version {version} core"]
        is_exact = not (self.dialect.embedded or self.dialect.loose)
        functions = source(helpers, is_exact)
        if self.dialect.embedded:
            header = EMBEDDED
        elif version < 400 and _is_of_400([functions, *declared, *main]):
            is_known = self.dialect.version >= 400
            header = ["#version 400 core"] if is_known else [*header, "#define precise"]
        if self.dialect.fused:
            header = [*header, FAITHFUL]
        if self.has_lanes and self.dialect.narrow:
            extensions = sorted({*extensions, NARROW_BUFFERS})
        header += [f"#extension {name} : require" for name in extensions]
        if self.has_lanes:
            lanes = _LANES[self.dialect.narrow]
            header += [f"#define pg_{name} {own}" for name, own in lanes.items()]
        parts = [lines_of(header), lines_of([*inputs, *uniforms])]
        parts += [lines_of(declared), lines_of(self.declared), functions, lines_of(main)]
        return GlslProgram(
            "\n".join(part for part in parts if part),
            [name if i in self.read else None for i, name in enumerate(self.images)],
            [name if u else None for name, u in zip(self.uniforms, used, strict=True)],
            self.bound,
        )


def _is_of_400(texts: Sequence[str]) -> bool:
    """Whether texts have what GLSL knows from version 4.00 on."""
    return any(word in text for text in texts for word in ("precise ", "fma("))


def _moved(text: Text, offset: int) -> Text:
    return infix("+", text, literal(INT, offset)) if offset else text


def table_kind(values: NDArray[Any]) -> Kind:
    """The kind of a table's numbers in GLSL, where bools are kept as ints."""
    kinds: dict[str, Kind] = {"f": "float", "u": "uint"}
    return kinds.get(values.dtype.kind, "int")


def table_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """A table's numbers as they are kept."""
    return values.astype(np.int32) if values.dtype.kind == "b" else values


def _in_rows_of_four(values: NDArray[Any]) -> NDArray[Any]:
    """Scalars four a row, vectors one a row."""
    values = table_numbers(values)
    if values.ndim == 2 and values.shape[1] > 1:
        rows = np.zeros((len(values), 4), values.dtype)
        rows[:, : values.shape[1]] = values
        return rows
    flat_values = np.zeros(-(-values.size // 4) * 4, values.dtype)
    flat_values[: values.size] = values.ravel()
    return flat_values.reshape(-1, 4)


_PREFIX: Final = {"float": "", "int": "i", "uint": "u"}  # of the names of vectors and samplers


# ---------------------------------------------------------------- texels


def stored_type(format: Format) -> str:
    """The type of what is stored, in GLSL."""
    kind = {"f": "float", "i": "int", "u": "uint", "b": "uint"}[format.dtype.kind]
    if format.channels == 1:
        return kind
    return f"{_PREFIX[kind]}vec{format.channels}"


def as_seen(printer: Printer, texel: Text, format: Format) -> Text:
    """A stored texel as functions see it."""
    dtype = format.dtype
    if format.is_scaled:
        name = f"{'fused_' if printer.fused else ''}unorm{8 * dtype.itemsize}"
        return printer.helper(name, format.channels, texel)
    if dtype.kind in "ub" and format.kind != "uint":
        return call(str(format.type), texel)
    return texel


def store(printer: Printer, value: Value, format: Format, clamps: bool) -> Text:
    """A result as it is stored: pygpu.core.storage.stored in GLSL; `clamps`: by the device's own
    clamp."""
    dtype, kind, size = format.dtype, value.type.kind, value.type.size
    text = printer.text(value)
    if dtype.kind == "f":
        if kind != "float":
            text = call(str(vector("float", size)), text)
        return printer.helper("to_half", size, text) if dtype.itemsize == 2 else text
    target = stored_type(format)
    if dtype.kind == "b":
        zero = literal(value.type, (0,) * size if size > 1 else 0)
        if kind == "float":  # subnormal numbers compare as zero on some devices, their bits do not
            bits = infix("&", call("floatBitsToUint", text), Text("0x7fffffffu"))
            text, zero = bits, call(target, "0u") if size > 1 else Text("0u")
        if kind != "bool":
            text = call("notEqual", text, zero) if size > 1 else infix("!=", text, zero)
        return call(target, text)
    if kind == "bool":
        top = np.iinfo(dtype).max if dtype.kind == "u" else 1
        text = call(target, text)
        return text if top == 1 else infix("*", text, Text(f"{top}u"))
    if kind == "float" and dtype.kind == "u" and dtype.itemsize <= 2:
        name = f"{'fused_' if clamps else ''}to_unorm{8 * dtype.itemsize}"
        return printer.helper(name, size, text)
    return _whole(printer, text, kind, format.dtype, size)


def _whole(printer: Printer, text: Text, kind: Kind, dtype: np.dtype[Any], size: int) -> Text:
    """A number stored as an integer: rounded, saturated."""
    limits, is_uint = np.iinfo(dtype), dtype == np.uint32
    target = str(vector("uint" if dtype.kind == "u" else "int", size))
    if kind == "uint":
        if is_uint:
            return text
        return call(target, call("min", text, f"{limits.max}u"))
    if kind == "float":
        text = call("roundEven", text)
    if kind == "float" and is_uint:
        return printer.helper("to_uint", size, text)
    if kind == "float":
        text = printer.to_int(size, text)
    if dtype == np.int32:
        return text
    if is_uint:
        return call(target, call("max", text, "0"))
    text = clamped(text, int(limits.min), int(limits.max))
    return call(target, text) if dtype.kind == "u" else text
