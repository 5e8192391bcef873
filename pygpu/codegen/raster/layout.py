"""Where the numbers of a draw lie in memory: set-up (setup.py) writes, tiles (tiles.py) read.

Triangles are drawn in batches of *chunks*. Set-up makes of each chunk some *records*, one for each
triangle that may cover a pixel (several for one that is cut at a plane), in the triangles' order,
and lists of the records that touch each tile of the picture. A tile then draws its records, chunk
after chunk: so what is drawn does not depend on how many threads there are.

Positions are whole numbers of 1/256 of a pixel. Of an edge,

    E(x, y) = 256 * (A*x + B*y) + C          at the centre of pixel (x, y)

is twice the area that the edge spans with the centre, in units of 1/256 squared; C is one less for
edges that are neither top nor left, so that a centre belongs to the triangle where no E is below 0.
As C is a whole number, E >= 0 where A*x + B*y + floor(C / 256) >= 0. Within a tile that is a number
of 32 bits: see LARGEST.
"""

from __future__ import annotations

from typing import Final

UNITS: Final = 256  # of a pixel, to which corners are rounded
TILE_BITS: Final = 6
TILE: Final = 1 << TILE_BITS  # pixels along a tile's sides: a multiple of any register's lanes
LARGEST: Final = 1 << 15  # pixels along a side of a picture
# Triangles that reach so far from the middle of the picture, in pixels, are cut. So A and B are at
# most 2**24, and E / 256 changes by less than 2**31 between two pixels of a tile that it is 0 in.
GUARD: Final = (1 << 15) - 2
# Within a triangle that has less than half this area, and some pixels around it, E / 256 is a
# number of 32 bits.
EXACT: Final = 1 << 38

CHUNK: Final = 512  # triangles
AT_ONCE: Final = 2048  # vertices that a thread projects
OUTSIDE: Final = 8  # bytes into a place
NOT_FINITE: Final = 1 << 30  # the bit of a vertex with a component that is not finite
CHUNKS: Final = 64  # of a batch
PLANES: Final = 7  # at which triangles are cut
MOST_CORNERS: Final = 3 + PLANES  # of a triangle that was cut
MOST_RECORDS: Final = CHUNK * (MOST_CORNERS - 2)  # of a chunk
FEW: Final = 16  # tiles; a record that may touch more is *wide*: every tile looks at it
ENTRIES: Final = MOST_RECORDS * FEW  # in the lists of a chunk

# Samples of a pixel, as D3D has them, in units from its centre.
SAMPLES: Final[dict[int, tuple[tuple[int, int], ...]]] = {
    1: ((0, 0),),
    2: ((64, 64), (-64, -64)),
    4: ((-32, -96), (96, -32), (-96, 32), (32, 96)),
    8: ((16, -48), (-16, 48), (80, 16), (-48, -80), (-80, 80), (-112, -16), (48, 112), (112, -112)),
    16: (
        (16, 16),
        (-16, -48),
        (-48, 32),
        (64, -16),
        (-80, -32),
        (32, 80),
        (80, 48),
        (48, -80),
        (-32, 96),
        (0, -112),
        (-64, -96),
        (-96, 64),
        (-128, 0),
        (112, -64),
        (96, 112),
        (-112, -128),
    ),
}

# A record, by bytes. Pixels that it may cover: first and last column, first and last row.
BOX: Final = 0
A: Final = 16  # of the edges opposite to the first, second and third corner
B: Final = 28
CORNERS: Final = 40  # indices of the three vertices of the triangle
IS_LARGE: Final = 52  # whether its area is EXACT or more
C: Final = 56  # three numbers of 64 bits
# E / 256 is floor(C / 256) + A*x + B*y and a rest, which is given for the second edge and the
# third; and 256 / (twice the area).
RESTS: Final = 80
INVERSE: Final = 88
# Numbers at the first corner, and how much more there is at the second and the third: depth; 1/w;
# and the shares of the triangle's second and third vertex over w.
DEPTH: Final = 92
WEIGHT: Final = 104
SECOND: Final = 116
THIRD: Final = 128
RECORD: Final = 144  # bytes

# What set-up is given, as numbers of 64 bits: first where the stop flag is, as any span is; the
# last two are floats.
(_, POSITIONS, PLACES, VERTICES, TRIANGLES, COUNT, RECORDS, TOTALS, STARTS, LISTS, WIDE,
 WIDE_TOTALS, COLUMNS, ROWS, WIDTH, HEIGHT, GUARD_X, GUARD_Y, SETUP_SLOTS) = range(19)  # fmt: skip
# POSITIONS, in clip space, has four floats for each of the VERTICES, PLACES four ints: where the
# vertex is on the picture, and a bit for each plane that it lies outside of (OUTSIDE).
# TOTALS: records of each chunk, as ints. STARTS: of each chunk a row of ints, where the list of
# each tile begins in LISTS, which has ENTRIES ints for a chunk. WIDE has MOST_RECORDS ints for a
# chunk, the records that every tile looks at, and WIDE_TOTALS says how many.

# What tiles are given after the numbers that any function of pixels is (codegen/llvm/block.py): the
# first seven as above, for there they are written.
(TILE_RECORDS, TILE_STARTS, TILE_LISTS, TILE_WIDE, TILE_WIDE_TOTALS, TILE_COLUMNS, TILE_ROWS,
 TILE_CHUNKS, BEGINS, ENDS, PITCH, PLANE, PICTURE_WIDTH, TARGETS) = range(14)  # fmt: skip
# BEGINS, ENDS: whether these are the first triangles, before which tiles are filled, and the last.
# PITCH: pixels from row to row in memory, a multiple of the lanes; PLANE: pixels from sample to
# sample. From TARGETS on, of the depths (where they are kept) and of each colour, TARGET_SLOTS
# numbers: where it is in memory, the four floats that it is cleared with, where the picture is that
# is drawn over instead, or 0, and where the picture is to be written at the end, or 0.
COLOUR, BELOW, PICTURE, TARGET_SLOTS = 1, 5, 6, 7
