"""Where the numbers of a job stand, of 64 bits each: they are all that native loops are given."""

from __future__ import annotations

from typing import Final

# The job.
(NEXT, TILES, TILE_COLUMNS, TILE_WIDTH, TILE_HEIGHT, WIDTH, HEIGHT, ROWS, BLOCK, BEGIN, END, SETS,
 SET_TABLE, OUTPUTS, OUTPUT_TABLE, ARGS, SLOTS, SPAN, STOP, GATE, SCRATCH, MORE_PLANES, IMAGES,
 IMAGE_TABLE, HELD, JOB_SLOTS,
) = range(26)  # fmt: skip
# SLOTS pointers to rows come first in what `span` is given as its context, then, where HELD numbers
# are held there, the plane and a pointer to each image.
# An image: where it begins, bytes of a plane, planes, and which of them, counted from that of the
# result, is read, by the rule for places outside.
BASE, PLANE_STRIDE, DEPTH, OFFSET, PLANE_RULE, IMAGE_SLOTS = range(6)
# A set of taps: the image, how it is read at its edges, and what a block needs of it.
(IMAGE, SET_WIDTH, SET_HEIGHT, STRIDE, RULE, OUTSIDE, LEFT, COUNT, SIZE, CHANNELS, SET_ROWS, DYS,
 SET_SLOTS) = range(13)  # fmt: skip
# A result.
OUT_BASE, OUT_STRIDE, OUT_TEXEL, OUT_PLANE, OUT_SLOTS = range(5)

ALIGN: Final = 64  # of rows in scratch
SHUT: Final = 1 << 32  # a gate that is shut


def scratch_size(held: int, block: int, rows_bytes: int) -> int:
    """The bytes of scratch that a job needs: `rows_bytes` for its padded rows."""
    return held * 16 + (block + 256) * 16 + rows_bytes + ALIGN
