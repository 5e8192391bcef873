"""Prints functions as GLSL compute programs over storage buffers.

    program = block_program(blocked, threads=(64, 1))      # a thread makes a block of pixels
    program = pixel_program(task)                          # a thread makes one, or fills an element
    program.text                                            # "#version 430 core ..."

How texels lie in buffers, pygpu/codegen/glsl/buffers.py says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final

from numpy.typing import NDArray

from pygpu.codegen.glsl.buffers import (
    element_bytes,
    element_type,
    elements,
    pixels_at_once,
    read_table,
    read_texel,
    table_elements,
    table_type,
    write_texels,
)
from pygpu.codegen.glsl.expressions.text import Text, call
from pygpu.codegen.glsl.gathered import TAKEN, Kept, Target, gathered, kept_results
from pygpu.codegen.glsl.lines import INDENT, braced, flat
from pygpu.codegen.glsl.plan import positions
from pygpu.codegen.glsl.writer import (
    NARROW_BUFFERS,
    Dialect,
    GlslProgram,
    Writer,
    as_seen,
    stored_type,
)
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.passes.analysis.branches import left_by
from pygpu.passes.blocks.block import Blocked
from pygpu.passes.blocks.block_views import is_near
from pygpu.ssa import Op, Value, walk
from pygpu.types import Type

_TYPES: Final = ("int", "uint", "vec4", "uvec4", "ivec4")
GROUP: Final = (64, 1)  # threads of a work group along x and y
BUFFERS: Final = 8  # storage buffers of a program that OpenGL 4.3 grants
PLAIN: Final = Dialect(version=430)


@record(frozen=False)
class ComputeProgram(GlslProgram):
    """Buffers are bound in order: the images that are read (`sources` says which of the inputs each
    is), then the results. A thread makes `columns` by `rows` pixels, a group `threads` times as
    many. The uniforms of sizes are (width, height, elements from row to row), of views the width in
    texels; `image_sizes` and `result_sizes` have their names (None: not used) and the bytes of an
    element; `top` is the first row. Tables that are `stored` are buffers too, bound after the rest.

    A planar program has groups along z for planes, whose number is the function's last uniform. In
    buffers planes lie one below the other; the one that is bound last says, for each plane of the
    result, which one is read of each source (-1: the image is read whole)."""

    sources: list[int] = field(default_factory=list)
    columns: int = 1
    rows: int = 1
    threads: tuple[int, int] = GROUP
    image_sizes: list[tuple[str | None, int]] = field(default_factory=list)
    result_sizes: list[tuple[str, int]] = field(default_factory=list)
    stored: list[NDArray[Any]] = field(default_factory=list)


def pixel_program(
    task: Task,
    threads: tuple[int, int] = GROUP,
    dialect: Dialect = PLAIN,
    loops: bool = False,
    planar: bool = False,
) -> ComputeProgram:
    """The program of a function whose loads lie inside their images. A thread makes one pixel, or
    as many along a row as fill whole elements of the buffers: where it `loops`, by a loop that no
    compiler unrolls, for those of software take ten times as long for four pixels as for one."""
    columns = max([pixels_at_once(format, dialect.narrow) for format in task.outputs])
    writer = ComputeWriter(task, dialect)
    writer.planar, writer.binds_tables = planar, True
    lines, stores = writer.body(), []
    for target, value in zip(writer.targets, writer.function.outputs, strict=True):
        before, text = writer.stored(value, target.format, "value")
        lines += before
        stores.append(f"{target.name} = {text};")
    main = _one_pixel(writer, lines, stores)
    if columns > 1:
        main = _some_pixels(writer, lines, stores, columns, loops)
    return writer.finish(main, columns, 1, threads)


def block_program(
    blocked: Blocked,
    threads: tuple[int, int] = GROUP,
    dialect: Dialect = PLAIN,
    early: bool = True,
    planar: bool = False,
) -> ComputeProgram:
    """The program of which a thread makes a block. Rows are stored as soon as they are there
    (`early`), so that few values live at once, or all at the end: no driver moves loads before
    stores, so all rows are read before any is stored then."""
    held = frozenset() if early else frozenset(("load",))
    made = Task(blocked.function, blocked.inputs, blocked.outputs)
    writer = ComputeWriter(made, dialect, True, held, TAKEN if dialect.gathers else ())
    if dialect.gathers:
        fresh = writer.namer.fresh
        writer.gathers = kept_results(writer.targets, blocked, threads, dialect.narrow, fresh)
    count = len(blocked.inputs) - len(blocked.views)
    writer.planar, writer.sources = planar, [*range(count), *blocked.views]
    writer.binds_tables = True
    size = writer.targets[0].size
    step = f"ivec2({blocked.columns}, {blocked.rows})"
    is_one = blocked.columns == blocked.rows == 1
    place = "ivec2(gl_GlobalInvocationID.xy)" + ("" if is_one else f" * {step}")
    place += " + ivec2(0, top)"
    writer.start()
    body: list[str] = []
    ops, outputs, branch = writer.function.body.ops, writer.function.outputs, writer.plan.parted
    if branch is None:
        body += _rows(writer, blocked, ops, outputs, early)
    else:
        printer = writer.printer
        body += flat(printer.statements(ops[:-1]))
        first, second = [
            _rows(writer, blocked, region.ops, left_by(branch, side, outputs), early)
            for side, region in enumerate(branch.regions)
        ]
        body += flat(printer.if_else(branch.operands[0], [*first], [*second]))
    if writer.gathers:
        kept = [*writer.gathers.values()]
        stores = [line for each in kept for line in writer.placed(each.store(), each.data)]
        main = gathered(place, size, kept, body, stores)
    else:
        outside = [f"if (p.x >= {size}.x || p.y >= {size}.y)", f"{INDENT}return;"]
        main = braced("void main()", [f"ivec2 p = {place};", *outside, *body])
    return writer.finish(main, blocked.columns, blocked.rows, threads)


def _rows(
    writer: ComputeWriter, blocked: Blocked, ops: Sequence[Op], values: Sequence[Value], early: bool
) -> list[str]:
    """The lines that compute a block and store it."""
    lines: list[str] = []
    done = 0
    position = positions(writer.plan, ops)
    for row in range(blocked.rows):
        some = list(_of_row(blocked, values, row))
        ready = max([done, *[position(value) for _, _, texels in some for value in texels]])
        ready = ready if early else len(ops)
        lines += flat(writer.printer.statements(ops[done:ready]))
        done = ready
        lines += _store_row(writer, blocked, row, some)
    return lines


def _of_row(
    blocked: Blocked, values: Sequence[Value], row: int
) -> Iterator[tuple[int, int, Sequence[Value]]]:
    """Of each result: its index, its texels in a row, and their values in this one."""
    first = 0
    for index, texels in enumerate(blocked.texels):
        start = first + row * texels
        yield index, texels, values[start : start + texels]
        first += blocked.rows * texels


def _store_row(
    writer: ComputeWriter,
    blocked: Blocked,
    row: int,
    results: Sequence[tuple[int, int, Sequence[Value]]],
) -> list[str]:
    """Lines that store or keep a row, if the image has it; `results` as _of_row gives them."""
    size = writer.targets[0].size
    y = f"(p.y + {row})" if row else "p.y"
    kept: list[str] = []
    lines: list[str] = []
    for index, count, values in results:
        target = writer.targets[index]
        x = _texel_of_view("p.x", count, blocked.columns)
        named, texts = [], []
        for value in values:
            before, text = stored_texel(writer, target, value)
            named += before
            texts.append(text)
        if index in writer.gathers:
            words = elements(target.format, texts, writer.dialect.narrow)
            kept += scoped([*named, *writer.gathers[index].keep(words, row)])
            continue
        inner = [*named, *writer.stores(target, texts, x, y)]
        lines += inner if row and len(results) == 1 else scoped(inner)
    if row and lines:
        lines = braced(f"if (p.y + {row} < {size}.y)", lines)
    return [*kept, *lines]


def stored_texel(writer: ComputeWriter, target: Target, value: Value) -> tuple[list[str], str]:
    """What is stored of a value, and lines before it: what is cut apart gets a name."""
    format = target.format
    lines, made = writer.stored(value, format, target.name)
    text = str(made)
    if (format.dtype.itemsize < 4 or format.channels == 3) and not text.isidentifier():
        name = writer.namer.fresh(target.name)
        lines.append(f"{stored_type(format)} {name} = {text};")
        text = name
    return lines, text


def _texel_of_view(x: str, texels: int, columns: int) -> str:
    """Where the texels of a row of a block begin."""
    if texels == columns:
        return x
    if texels == 3:
        return f"3 * ({x} >> 2)"
    return f"({x} >> {(columns // texels).bit_length() - 1})"


def _one_pixel(writer: ComputeWriter, lines: list[str], stores: list[str]) -> list[str]:
    size = writer.targets[0].size
    body = [
        "ivec2 p = ivec2(gl_GlobalInvocationID.xy) + ivec2(0, top);",
        f"if (p.x >= {size}.x || p.y >= {size}.y)",
        f"{INDENT}return;",
        *lines,
    ]
    for target, line in zip(writer.targets, stores, strict=True):
        body.append(f"{stored_type(target.format)} {line}")
        body += scoped(writer.stores(target, [target.name], "p.x", "p.y"))
    return braced("void main()", body)


def _some_pixels(
    writer: ComputeWriter, lines: list[str], stores: list[str], columns: int, loops: bool
) -> list[str]:
    """A function for one pixel, and a thread that calls it for some of them."""
    targets = writer.targets
    outs = ", ".join(f"out {stored_type(target.format)} {target.name}" for target in targets)
    size = targets[0].size
    arguments = ", ".join(f"{target.name}[k]" for target in targets)
    if loops:
        each = [
            f"int count = min({columns}, {size}.x - x);",
            "for (int k = 0; k < count; k++)",
            f"{INDENT}pixel(ivec2(x + k, y), {arguments});",
        ]
    else:
        each = [
            f"for (int k = 0; k < {columns}; k++)",
            f"{INDENT}pixel(ivec2(min(x + k, {size}.x - 1), y), {arguments});",
        ]
    body = [
        f"int x = {columns} * int(gl_GlobalInvocationID.x);",
        "int y = int(gl_GlobalInvocationID.y) + top;",
        f"if (x >= {size}.x || y >= {size}.y)",
        f"{INDENT}return;",
        *(f"{stored_type(target.format)} {target.name}[{columns}];" for target in targets),
        *each,
    ]
    for target in targets:
        texels = [f"{target.name}[{k}]" for k in range(columns)]
        body += scoped(writer.stores(target, texels, "x", "y"))
    return [
        *braced(f"void pixel(ivec2 p, {outs})", [*lines, *stores]),
        "",
        *braced("void main()", body),
    ]


def scoped(lines: list[str]) -> list[str]:
    """Lines, in a scope of their own where they declare something."""
    return braced("", lines) if any(line.split()[0] in _TYPES for line in lines) else lines


class ComputeWriter(Writer):
    """Reads storage buffers, through a function for each image, and knows where results go."""

    def __init__(
        self,
        task: Task,
        dialect: Dialect,
        is_parted: bool = False,
        held: frozenset[str] = frozenset(),
        names_taken: Sequence[str] = (),
    ) -> None:
        outputs = task.outputs
        many = len(outputs) > 1
        names = [f"result{index}" if many else "result" for index in range(len(outputs))]
        taken = frozenset([*names, "top", "pixel", "planes", *names_taken])
        super().__init__(task.function, task.inputs, dialect, taken, is_parted, held)
        self.sizes: dict[int, str] = {}
        self.data: dict[int, str] = {}
        self.planar, self.sources = False, list(range(len(task.inputs)))
        function = task.function  # which looks next to the pixel in these images
        self.near = {op.data.image for op in walk(function.body) if is_near(function, op)}
        self.gathers: dict[int, Kept] = {}  # of the results, by their indices
        self.tables_stored: list[tuple[str, NDArray[Any]]] = []  # in buffers: names and elements
        self.binds_tables = False  # whether who runs the program binds those
        fresh = self.namer.fresh
        self.targets = [
            Target(name, format, fresh(f"{name}_data"), fresh(f"{name}_size"))
            for name, format in zip(names, outputs, strict=True)
        ]

    def name(self, image: int) -> None:
        if image not in self.sizes:
            self.sizes[image] = self.namer.fresh(f"{self.images[image]}_size")
            self.data[image] = self.namer.fresh(f"{self.images[image]}_data")

    def size(self, image: int, axis: str) -> Text:
        self.name(image)
        return Text(f"{self.sizes[image]}.{axis}")

    def texel(self, image: int, op: Op) -> Text:
        self.name(image)
        return call(self.images[image], self.place(op))

    def read_bytes(self, image: int) -> int:
        """Bytes of an element of an image's buffer."""
        return element_bytes(self.inputs[image], self.dialect.narrow, image not in self.near)

    def accessor(self, image: int) -> list[str]:
        """The function that reads an image's texel as functions see it."""
        format = self.inputs[image]
        data, size = self.data[image], self.sizes[image]
        place = (
            "(p)" if self.has_lanes else "p"
        )  # of macros, as their helpers (expressions/helper.py)
        lines, texel = read_texel(format, data, size, self.read_bytes(image), place)
        seen = as_seen(self.printer, texel, format)
        if self.has_lanes and not lines:
            return self.placed([f"#define {self.images[image]}(p) {seen}", ""], data)
        head = f"{format.type} {self.images[image]}(ivec2 p)"
        return self.placed([*braced(head, [*lines, f"return {seen};"]), ""], data)

    def in_buffer(self, name: str, values: NDArray[Any], type: Type) -> list[str] | None:
        bound = len(self.inputs) + len(self.targets) + self.planar + len(self.tables_stored)
        if bound >= BUFFERS or not self.binds_tables:
            return None
        data = self.namer.fresh(f"{name}_data")
        self.tables_stored.append((data, table_elements(values)))
        return read_table(name, data, type)

    def stores(self, target: Target, texels: Sequence[str], x: str, y: str) -> list[str]:
        """Lines that store neighbouring texels of a result, the first at x."""
        narrow = self.dialect.narrow
        lines = write_texels(target.format, target.data, target.size, texels, x, y, narrow)
        return self.placed(lines, target.data)

    # ------------------------------------------------ planes

    def placed(self, lines: list[str], data: str) -> list[str]:
        """Lines that read or write a buffer, from where its plane begins."""
        if not self.planar:
            return lines
        return [line.replace(f"{data}[", f"{data}[{data}_plane + ") for line in lines]

    def given(self, type: Type, name: str) -> str:
        if self.planar and name == self.uniforms[-1]:
            return f"#define {name} int(gl_WorkGroupID.z)"
        return super().given(type, name)

    def begun(self, main: list[str], read: Sequence[int]) -> list[str]:
        """The main function, which first finds where the planes of its group begin."""
        if not self.planar:
            return main
        count, first, lines = max(self.sources, default=0) + 1, main.index("void main() {"), []
        for image in read:
            data, size = self.data[image], self.sizes[image]
            plane = f"planes[int(gl_WorkGroupID.z) * {count} + {self.sources[image]}]"
            lines.append(f"{data}_plane = max({plane}, 0) * {size}.y * {size}.z;")
        for target in self.targets:
            size = target.size
            lines.append(f"{target.data}_plane = int(gl_WorkGroupID.z) * {size}.y * {size}.z;")
        return [*main[: first + 1], *[INDENT + line for line in lines], *main[first + 1 :]]

    def finish(
        self, main: list[str], columns: int, rows: int, threads: tuple[int, int]
    ) -> ComputeProgram:
        """The program, main and all around it."""
        read, narrow = sorted(self.read), self.dialect.narrow
        images = [(self.inputs[image], image not in self.near) for image in read]
        types = [element_type(format, narrow, apart) for format, apart in images]
        bound = [("readonly", type, self.data[i]) for type, i in zip(types, read, strict=True)]
        for target in self.targets:
            bound.append(("writeonly", element_type(target.format, narrow), target.data))
        blocks = [
            f"layout(std430, binding = {binding}) {access} buffer {name}_block "
            f"{{ {type} {name}[]; }};"
            for binding, (access, type, name) in enumerate(bound)
        ]
        is_narrow = any(type in ("uint8_t", "uint16_t") for _, type, _ in bound)
        uniforms = [f"uniform ivec3 {name};" for _, name in sorted(self.sizes.items())]
        uniforms += [f"uniform ivec3 {target.size};" for target in self.targets]
        if self.planar:
            blocks.append(
                f"layout(std430, binding = {len(bound)}) readonly buffer planes_block "
                "{ int planes[]; };"
            )
            names = [*[self.data[image] for image in read], *[t.data for t in self.targets]]
            blocks += [f"int {name}_plane;" for name in names]
        first = len(bound) + self.planar
        blocks += [
            f"layout(std430, binding = {binding}) readonly buffer {name}_block "
            f"{{ {table_type(values)} {name}[]; }};"
            for binding, (name, values) in enumerate(self.tables_stored, first)
        ]
        accessors = [line for image in read for line in self.accessor(image)]
        across = f"local_size_x = {threads[0]}"
        down = f", local_size_y = {threads[1]}" if threads[1] > 1 else ""
        text = self.program(
            430,
            [f"layout({across}{down}) in;", "", *blocks, *uniforms, "uniform int top;"],
            [],
            [*accessors, *self.begun(main, read)],
            [NARROW_BUFFERS] if is_narrow else [],
        )
        return ComputeProgram(
            text.text,
            text.images,
            text.uniforms,
            text.tables,
            list(self.sources),
            columns,
            rows,
            threads,
            [(self.sizes.get(image), self.read_bytes(image)) for image in range(len(self.inputs))],
            [(target.size, element_bytes(target.format, narrow)) for target in self.targets],
            [values for _, values in self.tables_stored],
        )
