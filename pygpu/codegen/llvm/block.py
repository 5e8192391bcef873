"""The block of pixels that native code computes at once: its cells and the values in them.

A block is `vectors` x `rows` *cells*, a vector of lanes each. A value that is the same in several
cells is kept once, one that is the same for all lanes as a scalar. Taps are loaded when they are
first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.memory import decode_words, load_block, load_words
from pygpu.codegen.llvm.plan import Multiple, Plan, TapSet
from pygpu.codegen.llvm.schedule import Cell
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.programs import Task
from pygpu.passes.analysis.variance import ROW, X
from pygpu.ssa import Load, Region, Value, walk

Values = tuple[Val, ...]  # the components of an SSA value
Masks = dict[Cell, Val | None]  # the lanes of each cell that are live; None: all

# The block of 64-bit numbers that `span` is given as %args.
STOP, WIDTH, HEIGHT, FIRST_IMAGE = range(4)
PLANE_PLACES: Final = 1  # numbers behind the pointers to rows in %ctx, before those of images
AHEAD: Final = 16  # texels from anywhere of which some are asked for ahead: a cubic sample's
IMAGE_SLOTS: Final = 4  # of an image: where it begins, width, height, texels from row to row


class Block:
    """See the module's head. `get` gives a value in a cell; `env` has what was computed.

    Where images begin changes from plane to plane, so it stands in %ctx, behind the pointers to
    rows. Code that is called by other loops than that over tiles finds it in %args: it is not
    `of_planes`."""

    of_planes: ClassVar[bool] = True

    def __init__(self, task: Task, machine: Machine, layout: Plan, wide: bool = False) -> None:
        self.f, self.inputs, self.outputs = task.function, task.inputs, task.outputs
        self.machine, self.plan, self.wide, self.planar = machine, layout, wide, task.planar
        self.bits = layout.bits
        self.code = Code(machine)
        self.env: dict[tuple[Value, int, int], Values] = {}
        self.places: dict[tuple[Value, int, int], Any] = {}  # of texels that may be moved
        self.waiting: dict[tuple[Value, int, int], Values] = {}  # made, and taken by nothing yet
        self.cells = [(u, r) for r in range(layout.rows) for u in range(layout.vectors)]
        self.ctx = Val(self.code, "ptr", 1, "%ctx", 0)
        self.x: Val  # the column of the first pixel
        self.width: Val  # of the results
        self.rows: dict[tuple[TapSet, int], Val] = {}  # pointers to source rows
        self.slots: dict[TapSet, int] = {}  # in %ctx, of the first pointer to a row of a set
        self.table_slot = FIRST_IMAGE + len(self.f.images) * IMAGE_SLOTS
        pointers = sum(len(taps.rows) for taps in layout.taps) + layout.rows * len(self.outputs)
        self.plane_slot = pointers
        ops = [*walk(self.f.body)]
        far = sum(op.code == "load" and op not in layout.set_of for op in ops)
        # Whether texels from anywhere are asked for ahead: those of one sample, or a few.
        self.fetches = far <= AHEAD and all(op.code != "loop" for op in ops)
        self.stops = False  # whether there are loops that look at the stop flag

    def region(self, region: Region, cells: Sequence[Cell], masks: Masks) -> None:
        """Compute the ops of a region."""
        raise NotImplementedError

    # ------------------------------------------------------------ values and cells

    def cell(self, value: Value, cell: Cell) -> Cell:
        """The cell that holds a value for this one: rows and vectors that agree share the first."""
        bits = self.bits[value]
        return (cell[0] if bits & X else 0), (cell[1] if bits & ROW else 0)

    def get(self, value: Value, cell: Cell) -> Values:
        bits = self.bits[value]
        u, r = cell[0] if bits & X else 0, cell[1] if bits & ROW else 0
        found = self.env.get((value, u, r))
        if found is None:
            assert value.op in self.plan.late, value
            return self.tap(value, (u, r))
        return found

    def tap(self, value: Value, cell: Cell) -> Values:
        """A load near the pixel, through the pointer to its row."""
        op, (u, r) = value.op, cell
        assert op is not None
        load: Load = op.data
        taps, lanes = self.plan.set_of[op], self.machine.lanes
        if op in self.plan.multiples:
            return self.tap_apart(taps, self.plan.multiples[op], cell)
        if not taps.shifted:
            return self.texels(taps, load.dy + r, load.dx + u * lanes)
        chunk, shift = divmod(load.dx - taps.left + u * lanes, lanes)
        first = self.texels(taps, load.dy + r, taps.left + chunk * lanes)
        if shift == 0:
            return first
        second = self.texels(taps, load.dy + r, taps.left + (chunk + 1) * lanes)
        places = range(shift, shift + lanes)
        pairs = zip(first, second, strict=True)
        return tuple([self.code.shuffle(a, b, places) for a, b in pairs])

    def tap_apart(self, taps: TapSet, at: Multiple, cell: Cell) -> Values:
        """A load at multiples of the pixel's column: neighbours read texels that lie n columns
        apart. n vectors are read, and each n-th column of them taken: as bits, where a word holds a
        texel, so that all components are taken at once and none is decoded that nobody asks for."""
        (u, r), lanes, (across, down) = cell, self.machine.lanes, taps.apart
        times, first = divmod(at.dx - taps.left, across)
        start = taps.left + (times + u * lanes) * across
        row = at.dy + down * r
        format = self.inputs[taps.image]
        if format.channels == 1 and not self.plan.raw:
            return (self.texels(taps, row, start, across)[first],)
        if across > 1 and format.nbytes <= 4 and not self.plan.raw:
            words = [self.words(taps, row, start + k * lanes) for k in range(across)]
            return decode_words(self.code, self.taken(words, first), format)
        vectors = [self.texels(taps, row, start + k * lanes) for k in range(across)]
        return tuple([self.taken(parts, first) for parts in zip(*vectors, strict=True)])

    def taken(self, vectors: Sequence[Val], first: int) -> Val:
        """Each n-th lane, from the first on, of n vectors that follow each other in memory."""
        n, lanes = len(vectors), self.machine.lanes
        places = [divmod(first + n * lane, lanes) for lane in range(lanes)]
        found = vectors[0]
        for index, other in enumerate(vectors[1:], 1):
            # Lanes that were taken of earlier vectors stay where they are in `found`; those of the
            # first vector, which nothing was taken of yet, are still at their places there.
            order = []
            for lane, (vector, place) in enumerate(places):
                held = place if index == 1 else lane
                order.append(held if vector < index else lanes + place if vector == index else -1)
            found = self.code.shuffle(found, other, order)
        return found

    def texels(self, taps: TapSet, row: int, dx: int, columns: int = 1) -> Values:
        """A vector of texels, loaded once. Of images of one channel, `columns` texels that lie side
        by side may be the components of one."""
        make = partial(self._loaded, taps, row, dx, columns)
        return self.code.remembered((taps, row, dx), self.x.depth, make)  # type: ignore[no-any-return]

    def words(self, taps: TapSet, row: int, dx: int) -> Val:
        """The bits of a vector of texels, loaded once."""

        def make() -> Val:
            return load_words(self.code, self.place(taps, row, dx), self.inputs[taps.image])

        return self.code.remembered((taps, row, dx, "words"), self.x.depth, make)  # type: ignore[no-any-return]

    def place(self, taps: TapSet, row: int, dx: int) -> Val:
        """Where the texels of a vector are."""
        texel = self.inputs[taps.image].nbytes
        start = self.code.cast("sext", self.x, "long") * (texel * taps.apart[0])
        return self.code.at(self.code.at(self.rows[taps, row], start), dx * texel)

    def _loaded(self, taps: TapSet, row: int, dx: int, columns: int) -> Values:
        return self.loaded(taps, self.place(taps, row, dx), columns)

    def loaded(self, taps: TapSet, place: Val, columns: int = 1) -> Values:
        format = self.inputs[taps.image]
        if columns > 1:
            format = replace(format, channels=columns)
        return load_block(self.code, place, format, self.plan.raw)

    def set(self, value: Value, cell: Cell, parts: Values) -> None:
        self.env[(value, *self.cell(value, cell))] = parts

    def spread(self, value: Value, parts: Values) -> list[Val]:
        """Components with as many lanes as the value has, to be handed on by a branch or loop."""
        lanes = self.machine.lanes if self.bits[value] & X else 1
        return [self.code.plain(self.code.splat(part, lanes)) for part in parts]

    def cells_of(self, value: Value, cells: Sequence[Cell]) -> list[Cell]:
        found = [self.cell(value, cell) for cell in cells]
        return found if len(found) == 1 else list(dict.fromkeys(found))

    def seldom(self, condition: Val) -> Branch:
        """A branch whose first side hardly ever runs. LLVM would have what waits to be added up
        wait behind all such branches, and what it is made of: 24 samples take twice the time."""
        for part in chain.from_iterable(self.waiting.values()):
            self.code.hold(part)
        self.waiting = {}
        return Branch(self.code, condition, rare=True)

    # ------------------------------------------------------------ arguments

    def image(self, index: int, part: int, kind: str = "int") -> Val:
        """Where an image begins (part 0), its width (1), height (2), or texels of a row (3)."""
        if part == 0 and self.of_planes:
            slot = self.plane_slot + PLANE_PLACES + index
            return self.code.load(kind, self.code.at(self.ctx, slot * 8), 1, 8)
        return self.code.argument(FIRST_IMAGE + index * IMAGE_SLOTS + part, kind)
