"""A task as fragment programs: which results each draws, and which fragments it is for.

    for part in drawn(task, dialect, outputs=8, images=0):
        part.inner.text, part.indices          # a program, and the results that it draws

Results of one channel are packed, as textures of one channel are: a texel is four pixels of a row,
and a fragment makes four. Others are made one pixel a fragment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.writer import Dialect
from pygpu.codegen_glsl import FragmentProgram, block_fragment, four_pixels, fragment_program
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.blocks.block import Halves, can_block, halves, size
from pygpu.passes.blocks.block_views import COLUMNS
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.if_conversion import convert_all
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import only

LARGEST: Final = 2048  # operations of a block, before what is shared is left out
GREY: Final = frozenset((1,))  # channels of textures that are packed


@record
class Drawn:
    """The texts of what draws the results at `indices`. Where there is one for `edges`, `halves`
    says which fragments it is for."""

    indices: Sequence[int]
    outputs: Sequence[Format]
    inner: FragmentProgram
    edges: FragmentProgram | None = None
    halves: Halves | None = None
    is_packed: bool = True

    @property
    def texts(self) -> list[FragmentProgram]:
        """One program or two."""
        return [self.inner] if self.edges is None else [self.inner, self.edges]


def drawn(task: Task, dialect: Dialect, outputs: int, images: int) -> list[Drawn]:
    """The programs of a task: for the results of one channel and for the others, so many `outputs`
    each at most. Textures are bound as images, where the dialect says so, if there are units
    (`images`) for all."""
    function = without_nans(task.function, task.inputs)
    enough = len(function.images) <= images
    dialect = replace(dialect, images=dialect.images and enough)
    grey = [index for index, format in enumerate(task.outputs) if format.channels == 1]
    others = [index for index in range(len(task.outputs)) if index not in grey]
    parts = []
    for chosen, make in ((grey, _packed), (others, _plain)):
        for first in range(0, len(chosen), outputs):
            indices = chosen[first : first + outputs]
            formats = [task.outputs[index] for index in indices]
            some = Task(only(function, indices), task.inputs, formats)
            parts.append(make(some, dialect, indices))
    return parts


def _packed(task: Task, dialect: Dialect, indices: Sequence[int]) -> Drawn:
    """Four pixels a fragment: by blocks where these share anything."""
    function, packed = task.function, packed_images(task.inputs)
    if not can_block(function) or COLUMNS * size(function) > LARGEST:
        program = four_pixels(_lowered(task, dialect), dialect, packed)
        return Drawn(indices, task.outputs, program)
    made = halves(task, few=0, viewed=GREY)
    return Drawn(
        indices,
        task.outputs,
        block_fragment(made.inner, dialect, packed),
        block_fragment(made.edges, dialect, packed) if made.edges else None,
        made,
    )


def _plain(task: Task, dialect: Dialect, indices: Sequence[int]) -> Drawn:
    """One pixel a fragment."""
    program = fragment_program(_lowered(task, dialect), dialect, packed_images(task.inputs))
    return Drawn(indices, task.outputs, program, is_packed=False)


def _lowered(task: Task, dialect: Dialect) -> Task:
    """The function with all loads inside their images. Drivers whose loops end at their heads
    alone take selections for small branches that end them."""
    function = convert_all(task.function) if dialect.loose else task.function
    return replace(task, function=apply(CLEAN, lower_boundary(function)))


def packed_images(inputs: Sequence[Format]) -> frozenset[int]:
    """The inputs whose textures hold four pixels a texel."""
    return frozenset(index for index, format in enumerate(inputs) if format.channels == 1)
