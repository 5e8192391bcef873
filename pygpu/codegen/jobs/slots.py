"""Where the numbers of a job stand, of 64 bits each: they are all that native loops are given."""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.plan import MULTIPLE
from pygpu.passes.analysis.taps import FAR

# The job.
(NEXT, TILES, TILE_COLUMNS, TILE_WIDTH, TILE_HEIGHT, WIDTH, HEIGHT, ROWS, BLOCK, BEGIN, END, SETS,
 SET_TABLE, OUTPUTS, OUTPUT_TABLE, ARGS, SLOTS, SPAN, STOP, GATE, SCRATCH, MORE_PLANES, IMAGES,
 IMAGE_TABLE, HELD, STAGES, STAGE_TABLE, STEP, WARM, WORK, OWN, ROUNDS, EDGE,
 STRIPS, STREAM, LANES, GIVEN, ASIDE, SIDES, OF_LINES, OF_BLOCKS, JOB_SLOTS,
) = range(42)  # fmt: skip
# END is WHOLE where rows follow each other in memory, and pixels read their columns alone: rows
# that need no rule of a boundary are computed as one.
# EDGE is how many pixels are computed at once where all taps of a set are outside: whole blocks.
# SLOTS pointers to rows come first in what `span` is given as its context, then, where HELD numbers
# are held there, the plane and a pointer to each image.
# STREAM is a span that writes past the caches, or 0: for whole lines of the cache, where all rows
# of results begin at such. A line that is written partly so and partly through the cache takes
# longer than all else of a short row. OF_LINES pixels are whole lines of all results, OF_BLOCKS
# are whole lines and whole blocks.
# ASIDE is how many pixels of each row are computed into the thread's memory, and copied, where the
# results lie so that loads would wait for stores; 0 where that is not looked at.
# SIDES is the code for LANES pixels at the ends of rows (codegen/llvm/boundary.py), or 0.
# GIVEN points at the table of what a job is given as Python's objects (arrays.py).
# An image: where it begins, bytes of a plane, planes, and which of them, counted from that of the
# result, is read, by the rule for places outside.
BASE, PLANE_STRIDE, DEPTH, OFFSET, PLANE_RULE, RING, IMAGE_SLOTS = range(7)
# A set of taps: the image, how it is read at its edges, and what a block needs of it. Columns that
# are PERIOD apart are equal, where both are outside on one side. GROUP columns are a texel. What a
# pixel reads is ACROSS columns from what the one beside it reads, and DOWN rows from the one below.
(IMAGE, SET_WIDTH, SET_HEIGHT, STRIDE, RULE, OUTSIDE, LEFT, COUNT, SIZE, CHANNELS, SET_ROWS, DYS,
 PERIOD, GROUP, ACROSS, DOWN, FIRST, INNER, FRAME, SET_SLOTS) = range(20)  # fmt: skip
# FRAME points at the image's frame: its own memory has INNER columns from FIRST on and the rows
# from TOP up to BOTTOM. Other rows of these columns lie ABOVE and BELOW it, other columns of all
# rows BEFORE and BEHIND. Each is where the image's row 0 and column 0 would be, and bytes of a row.
(TOP, BOTTOM, ABOVE_ROWS, ABOVE_STRIDE, BELOW_ROWS, BELOW_STRIDE, BEFORE, BEFORE_STRIDE, BEHIND,
 BEHIND_STRIDE, FRAME_SLOTS) = range(11)  # fmt: skip
# A result.
OUT_BASE, OUT_STRIDE, OUT_TEXEL, OUT_PLANE, OUT_RING, OUT_SLOTS = range(6)

# A job of several stages (strips.py) has STAGES of them, and STRIPS points at the native code of
# such jobs; it is 0 in others. Its tiles are strips, which are computed in steps of so many rows,
# from WARM rows above the strip on. In the thread's memory the stages' scratch begins at WORK, and
# what they keep at OWN. Of each stage stand there: its job; how many rows it has; how many rows it
# computes above and below a strip; how many rows it is ahead of the results.
STAGE_JOB, STAGE_HEIGHT, ABOVE, BELOW, AHEAD, STAGE_SLOTS = range(6)
# The base of an image or a result that is kept in the thread's memory is counted from OWN on; its
# row y is row y % RING there. An image or a result that is whole has in place of RING:
WHOLE: Final = 1 << 62

# What ROUNDS points at in a job of several rounds. There are ROUND_COUNT rounds of equally many
# tiles. Each is a job of its own, whose address stands where ROUND_JOBS points. Tiles are in parts,
# and rounds go in bands: see rounds.py. REACH is 1 where a tile reads what the round before has
# made of its neighbours, 0 where that of the same tile is enough, -1 where it may read all.
# PART_NEXT and DONE point at numbers, one for each part (each in a line of its own) and one for
# each tile. PASS_ON is the system's function that lets other threads have the processor, or 0.
(ROUND_COUNT, PARTS, BAND, REACH, ROUND_JOBS, PART_NEXT, DONE, ARRIVED, FINISHED, PASS_ON,
 ROUND_SLOTS,
) = range(11)  # fmt: skip
LINE: Final = 64  # bytes of a line of the cache

ALIGN: Final = 64  # of rows in scratch
PAGE: Final = 4096
WAITED: Final = 512  # bytes behind a load within a page, of another: stores there are waited for
ASIDE_BYTES: Final = 1024  # of a row that are stored in the thread's memory first
SHUT: Final = 1 << 32  # a gate that is shut
MARGIN: Final = 2 * FAR + 128  # columns around those of a block, with the rest of a vector


def scratch_size(held: int, edge: int, rows_bytes: int) -> int:
    """The bytes of scratch that a job needs: `rows_bytes` for its padded rows."""
    return held * 24 + (edge * MULTIPLE + MARGIN) * 16 + rows_bytes + ALIGN
