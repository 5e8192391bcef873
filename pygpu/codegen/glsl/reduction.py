"""Prints a fold of an image as two compute programs: texels to partial results, and those to fewer.

A lane (a thread of a work group) folds some texels by itself, then the lanes of a group fold what
they have through shared memory. What a group leaves is a partial result: words in a buffer, a
plane for each component of the value. No identity is needed: every fold begins with a value.

    text = fold_program(task, dialect, warp=32)                   # None where it does not fit
    text.first, text.rest                                         # GlslPrograms

Where the functions are short, a lane loads whole chunks of 16 bytes and folds pairs of pairs, so
that an error of rounding grows with the logarithm of the texels. Lanes, chunks and rounds are
ordered so that whatever is missing at the edges of an image comes last: where a right operand is
there, its left one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.glsl.partials import down_program, function, rest_program, struct
from pygpu.codegen.glsl.strips import main, plain_strip, strips
from pygpu.codegen.glsl.values import CHUNK, JoinWriter, ValueWriter, own_texels
from pygpu.codegen.glsl.writer import Dialect, GlslProgram
from pygpu.core.host.records import record
from pygpu.core.programs import ALONG_Y, Along, FoldTask
from pygpu.core.storage import Format
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, walk
from pygpu.types import Type

LANES_DOWN: Final = 256  # lanes of a group that folds columns
LANES_REST: Final = 256  # lanes of a group that folds partial results
LEAST_LANES: Final = 32  # lanes of any group
SHARED: Final = 32768  # bytes of shared memory that OpenGL 4.3 grants
TEXELS: Final = 32  # texels that a lane of a wide program holds at once: enough loads on their way
ROUNDS: Final = (4, 8)  # how often a lane loads as many, in two nested loops
DOWN: Final = 8  # texels that a lane holds at once where it folds a column
PLAIN_ROUNDS: Final = (8, 8)  # how often a lane loads where it loads single texels
OPERATIONS: Final = 4096  # operations printed at most for what a lane holds at once


@record
class FoldTexts:
    """Texts, and how much of an image a group folds. `first` takes the images that `first.images`
    names, then the partial results, as storage buffers."""

    first: GlslProgram
    rest: GlslProgram
    down: GlslProgram  # folds rows of partial results
    along: Along
    types: tuple[Type, ...]  # of the parts of a value
    lanes: int
    rest_lanes: int
    pixels: int  # of a chunk: neighbours along a row that a lane folds together
    rounds: tuple[int, int, int]  # of a lane: rounds of rounds of chunks that it loads at once
    image_sizes: tuple[str, ...]  # uniforms (width, height, elements from row to row) of images
    element_bytes: tuple[int, ...]  # of the images' buffers

    @property
    def components(self) -> int:
        return sum(type.size for type in self.types)


def fold_program(
    task: FoldTask, dialect: Dialect, warp: int, unrolled: bool = True
) -> FoldTexts | None:
    """Programs for a fold, whose `join` has the two values as uniforms. The results of both
    functions are converted to the task's types. None where a group's values do not fit into shared
    memory. A group is a `warp`, but where columns are folded: lanes that go in step wait for no
    others. Without `unrolled` the text stays short."""
    inputs, count, types, along = task.inputs, task.count, task.types, task.along
    most = _most_lanes(types)
    lanes = min(most, LANES_DOWN if along == ALONG_Y else max(warp, LEAST_LANES))
    if lanes < LEAST_LANES:
        return None
    value = apply(CLEAN, lower_boundary(own_texels(task.value, count)))
    join = apply(CLEAN, lower_boundary(task.join))
    chunks = _chunks(value, join, inputs[:count], along, unrolled)
    writer = ValueWriter(value, inputs, dialect, count if chunks.is_wide else 0)
    pixel = writer.printed(types)
    joiner = JoinWriter(join, (), dialect, frozenset(writer.namer.taken))
    joined = joiner.printed(types)
    read = sorted(writer.read)
    body = [
        *struct(types),
        *joined,
        *(line for image in read if image not in writer.whole for line in writer.accessor(image)),
        *pixel,
    ]
    body += function("bool is_there(int x, int y)", ["return x < extent.x && y < extent.y;"])
    if chunks.is_wide:
        body += [*writer.chunk(chunks.pixels), *strips(chunks.count)]
    elif chunks.count > 1:
        body += function("Value chunk(int x, int y, bool whole)", ["return value(ivec2(x, y));"])
        body += strips(chunks.count)
    else:
        body += plain_strip()
    body += main(types, along, lanes)
    writer.printer.helpers.update(joiner.printer.helpers)
    writer.declared += joiner.declared
    writer.bound += joiner.bound
    rounds = ROUNDS if chunks.is_wide else PLAIN_ROUNDS
    sizes = sorted({*read, *writer.sized})
    text = writer.program(430, _head(writer, lanes, sizes), [], body)
    names = tuple([writer.sizes[image] if image in sizes else "" for image in range(len(inputs))])
    elements = tuple([16 if image in writer.whole else 4 for image in range(len(inputs))])
    rest_lanes = min(most, LANES_REST)
    rest = rest_program(joiner, joined, types, rest_lanes)
    down = down_program(joiner, joined, types)
    return FoldTexts(
        text, rest, down, along, tuple(types), lanes, rest_lanes, chunks.pixels,
        (*rounds, chunks.count), names, elements,
    )  # fmt: skip


def _head(writer: ValueWriter, lanes: int, sizes: Sequence[int]) -> list[str]:
    """What declares the buffers and uniforms of the first program."""
    read = sorted(writer.read)
    blocks = [
        f"layout(std430, binding = {place}) readonly buffer {writer.data[image]}_block "
        f"{{ {'uvec4' if image in writer.whole else 'uint'} {writer.data[image]}[]; }};"
        for place, image in enumerate(read)
    ]
    return [
        f"layout(local_size_x = {lanes}) in;",
        "",
        *blocks,
        f"layout(std430, binding = {len(read)}) writeonly buffer partials_block "
        "{ uint partials[]; };",
        *(f"uniform ivec3 {writer.sizes[image]};" for image in sizes),
        "uniform ivec4 extent;  // chunks of a row, rows, full chunks of a row, pixels of a row",
        "uniform int across;  // lanes side by side",
        "uniform ivec2 pace;  // from one chunk of a lane to the next",
        "uniform ivec3 rounds;  // rounds of rounds of chunks, of a lane",
        "uniform ivec2 tile;  // chunks and rows of a group",
        "uniform int top;  // the first row of groups",
        "uniform ivec2 parts;  // partial results of a row, of all",
        "uniform ivec3 folds;  // the first and last distance of lanes that meet, their bits",
    ]


def _most_lanes(types: Sequence[Type]) -> int:
    """The lanes of a group that have room for a value, a power of two."""
    words = sum(4 if type.size == 3 else type.size for type in types)
    nbytes = 4 * (words if words == 1 else -(-words // 4) * 4)
    return 1 << ((SHARED // nbytes).bit_length() - 1)


@record
class _Chunks:
    """What a lane loads at once: so many chunks of so many pixels."""

    pixels: int
    count: int
    is_wide: bool


def _chunks(
    value: Function, join: Function, folded: Sequence[Format], along: str, unrolled: bool
) -> _Chunks:
    """Whole chunks where the functions are short and have no loop, else a texel at a time. Lanes
    that fold columns have neighbouring columns, some texels of one at once."""
    ops = [*walk(value.body), *walk(join.body)]
    pixels = 1 if along == ALONG_Y else max([_chunk_pixels(format) for format in folded])
    if any(op.code == "loop" for op in ops) or pixels * len(ops) > OPERATIONS:
        return _Chunks(1, 1, False)
    count = (DOWN if along == ALONG_Y else TEXELS // max(pixels, 4)) if unrolled else 1
    while count > 1 and count * pixels * len(ops) > OPERATIONS:
        count //= 2
    return _Chunks(pixels, count, along != ALONG_Y)


def _chunk_pixels(format: Format) -> int:
    """The fewest pixels that fill whole chunks."""
    pixels = 1
    while pixels * format.nbytes % CHUNK:
        pixels *= 2
    return pixels
