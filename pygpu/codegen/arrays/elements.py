"""What programs over whole arrays have in common: how values lie in words, how elements are read.

A value is a struct of its parts (partials.struct), in buffers a word for each component. Images
are read as functions see them; results are rows of words.

    words((FLOAT, INT), "v")              # ["floatBitsToUint(v.v0)", "uint(v.v1)"]
    of_words((FLOAT,), ["w[0]"])          # "Value(uintBitsToFloat(w[0]))"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.glsl.expressions.functions import source
from pygpu.codegen.glsl.lines import lines_of
from pygpu.codegen.glsl.partials import AXES, function
from pygpu.codegen.glsl.values import JoinWriter, ValueWriter, own_texels
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.core.arrays import CompressTask, GroupTask, SortTask
from pygpu.core.host.records import record
from pygpu.core.programs import FoldTask
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.types import Type

SHARED: Final = 32768  # bytes of shared memory that OpenGL 4.3 grants


@record(frozen=False)
class ArrayText:
    """A program, and how it takes its images: the uniforms of their sizes, (width, height, words
    from row to row), "" where they are not read. Buffers are bound in order: images that are read,
    then what the kind of program says."""

    program: GlslProgram
    sizes: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.program.text


def words(types: Sequence[Type], name: str) -> list[str]:
    """The words of a value of this name."""
    found = []
    for index, type in enumerate(types):
        for component in range(type.size):
            part = f"{name}.v{index}" + (f".{AXES[component]}" if type.size > 1 else "")
            found.append(f"floatBitsToUint({part})" if type.kind == "float" else f"uint({part})")
    return found


def of_words(types: Sequence[Type], given: Sequence[str]) -> str:
    """The value of these words."""
    forms = {"float": "uintBitsToFloat({})", "int": "int({})", "uint": "{}", "bool": "({} != 0u)"}
    left, parts = list(given), []
    for type in types:
        components = [forms[type.kind].format(left.pop(0)) for _ in range(type.size)]
        parts.append(components[0] if type.size == 1 else f"{type}({', '.join(components)})")
    return f"Value({', '.join(parts)})"


def count_words(types: Sequence[Type]) -> int:
    return sum(type.size for type in types)


def shared_bytes(types: Sequence[Type]) -> int:
    """The bytes of a value in shared memory, at most: parts lie as std430 has them."""
    place, widest = 0, 1
    for type in types:
        aligned = {1: 1, 2: 2}.get(type.size, 4)
        place = -(-place // aligned) * aligned + type.size
        widest = max(widest, aligned)
    return 4 * (-(-place // widest) * widest)


def result_blocks(types: Sequence[Type], first: int) -> list[str]:
    """What declares the buffers of results, one for each part of a value."""
    blocks = [
        f"layout(std430, binding = {first + k}) writeonly buffer result{k}_block "
        f"{{ uint result{k}[]; }};"
        for k in range(len(types))
    ]
    return [*blocks, f"uniform int strides[{len(types)}];  // words from row to row of results"]


def stores(types: Sequence[Type]) -> list[str]:
    """The function that stores a value's words in the buffers of results."""
    lines, given = [], words(types, "v")
    for k, type in enumerate(types):
        at = f"p.y * strides[{k}] + p.x" + (f" * {type.size}" if type.size > 1 else "")
        some, given = given[: type.size], given[type.size :]
        lines += [
            f"result{k}[{at}{f' + {c}' if c else ''}] = {word};" for c, word in enumerate(some)
        ]
    return function("void store(ivec2 p, Value v)", lines)


@record(frozen=False)
class Functions:
    """The functions that a program is made around: that of a pixel's value, and that of two."""

    writer: ValueWriter
    joiner: JoinWriter
    pixel: list[str]
    joined: list[str]

    @classmethod
    def of(cls, task: FoldTask | GroupTask, dialect: Dialect, taken: frozenset[str]) -> Functions:
        """The functions of a task, whose images are read at the pixel itself or anywhere. Of a task
        of groups, that of a pixel gives the number of its group besides its value."""
        value = apply(CLEAN, lower_boundary(own_texels(task.value, task.count)))
        join = apply(CLEAN, lower_boundary(task.join))
        writer = ValueWriter(value, task.inputs, dialect, 0, taken)
        is_grouped = isinstance(task, GroupTask)
        pixel = (writer.numbered if is_grouped else writer.printed)(task.types)
        joiner = JoinWriter(join, (), dialect, frozenset(writer.namer.taken))
        return cls(writer, joiner, pixel, joiner.printed(task.types))

    @classmethod
    def of_texel(
        cls, task: CompressTask | SortTask, dialect: Dialect, taken: frozenset[str]
    ) -> Functions:
        """Of a task that joins no values: the function of a pixel alone."""
        value = apply(CLEAN, lower_boundary(own_texels(task.value, task.count)))
        writer = ValueWriter(value, task.inputs, dialect, 0, taken)
        pixel = writer.printed(task.types)
        return cls(writer, JoinWriter(value, (), dialect, taken), pixel, [])

    @property
    def accessors(self) -> list[str]:
        return [line for image in sorted(self.writer.read) for line in self.writer.accessor(image)]

    def blocks(self) -> list[str]:
        """What declares the buffers of images and the uniforms of their sizes."""
        writer = self.writer
        found = [
            f"layout(std430, binding = {place}) readonly buffer {writer.data[image]}_block "
            f"{{ uint {writer.data[image]}[]; }};"
            for place, image in enumerate(sorted(writer.read))
        ]
        return found + [f"uniform ivec3 {writer.sizes[image]};" for image in self.sized]

    @property
    def sized(self) -> list[int]:
        return sorted({*self.writer.read, *self.writer.sized})

    def finish(
        self, head: Sequence[str], body: Sequence[str], extensions: Sequence[str] = ()
    ) -> ArrayText:
        """The program, of its own declarations and functions."""
        writer, joiner = self.writer, self.joiner
        writer.printer.helpers.update(joiner.printer.helpers)
        writer.declared += joiner.declared
        writer.bound += joiner.bound
        text = writer.program(430, [*head, *self.blocks()], [], body, extensions)
        sized = self.sized
        names = [
            writer.sizes[image] if image in sized else "" for image in range(len(writer.inputs))
        ]
        return ArrayText(text, tuple(names))

    def finish_join(self, head: Sequence[str], body: Sequence[str]) -> ArrayText:
        """A program that reads no images: of the function of two values alone."""
        joiner = self.joiner
        parts = ["#version 430 core\n", lines_of(head), lines_of(joiner.declared)]
        parts += [source(joiner.printer.helpers), lines_of(body)]
        text = "\n".join(part for part in parts if part)
        return ArrayText(GlslProgram(text, [], [], joiner.bound), ())
