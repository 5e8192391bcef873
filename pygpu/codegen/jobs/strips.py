"""The native loops over several stages, each of which reads what those before it make.

`strips(job, scratch, step)`: every thread takes strips of rows of the results, and goes down each
in steps of some rows. In a step each stage, in turn, computes so many rows further as those after
it will read. What only stages read is kept in the thread's memory, in as many rows as are read
again: row y of the image is row y % RING there, over one that nobody reads any more. So it stays in
a cache. At the beginning of a strip the rows above it that its stages read are computed by this
thread, too.

A job may have several planes, as one of tiles.py has: a strip is then one of one plane, and the
same strip of the next plane comes next.

`rows(job, scratch, own, z, y0, y1)` computes rows of one stage: its job is that of an image
(tiles.py), whose descriptors say which images and results are kept. A job without a span copies
rows of what is kept to where they are asked for.
"""

from __future__ import annotations

from pygpu.codegen.jobs import slots
from pygpu.codegen.jobs.tiles import Tiles, together
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val


class Rows(Tiles):
    """Writes the loop over some rows of a stage."""

    def write(self) -> str:
        code = self.code
        names = (("ptr", "%own"), ("long", "%z"), ("long", "%y0"), ("long", "%y1"))
        self.own, z, y0, y1 = (Val(code, kind, 1, name, 0) for kind, name in names)
        self.prepare()
        branch = Branch(code, self.number(slots.SPAN).eq(0))
        with branch.side():
            self.copies(y0, y1)
        with branch.side():
            self.point_images(z)
            self.part(z, (self.zero, y0), (self.number(slots.WIDTH), y1))
        branch.join([], [])
        code.line("ret void")
        parameters = "ptr %job, ptr %scratch, ptr %own, i64 %z, i64 %y0, i64 %y1"
        return f"define internal void @rows({parameters}) #1 {{\n{code.text()}\n}}"

    def copies(self, y0: Val, y1: Val) -> None:
        """Copy rows of the only image to the only result: a texel is a row here."""
        image = self.row(self.pointer(slots.IMAGE_TABLE), slots.IMAGE_SLOTS, self.zero)
        result = self.row(self.pointer(slots.OUTPUT_TABLE), slots.OUT_SLOTS, self.zero)
        with counting(self.code, y1 - y0) as k:
            row = self.row_of_image(self.zero, y0 + k) * image[slots.PLANE_STRIDE]
            source = self.as_pointer(self.start_of_image(image) + row)
            to = self.as_pointer(result[slots.OUT_BASE] + (y0 + k) * result[slots.OUT_STRIDE])
            self.copy(to, source, result[slots.OUT_TEXEL])

    def kept(self, base: Val, ring: Val) -> Val:
        own = self.code.cast("ptrtoint", self.own, "long")
        return base + self.code.select(ring < slots.WHOLE, own, self.zero)

    def start_of_image(self, image: list[Val]) -> Val:
        return self.kept(image[slots.BASE], image[slots.RING])

    def row_of_image(self, index: Val, row: Val) -> Val:
        image = self.row(self.pointer(slots.IMAGE_TABLE), slots.IMAGE_SLOTS, index)
        return self.within(image[slots.RING], row)

    def within(self, ring: Val, row: Val) -> Val:
        """Where a row is in what is kept, in whose order so many may follow."""
        place = self.code.binary("srem", row, ring)
        self.follow(ring - 1 - place)
        return place

    def start_of_result(self, result: list[Val]) -> Val:
        return self.kept(result[slots.OUT_BASE], result[slots.OUT_RING])

    def row_of_result(self, result: list[Val], row: Val) -> Val:
        return self.within(result[slots.OUT_RING], row)


class Strips(Tiles):
    """Writes the loop over strips."""

    def write(self) -> str:
        code = self.code
        self.zero = code.constant("long", 0)
        self.stopping = self.pointer(slots.STOP)
        self.work = code.at(self.scratch, self.number(slots.WORK))
        self.own = code.at(self.scratch, self.number(slots.OWN))
        with Loop(code, [code.constant("bool", True)]) as loop:
            strip, more = self.taken()
            with when(code, more):
                planes = self.number(slots.MORE_PLANES) + 1
                self.z = code.binary("srem", strip, planes)
                down = code.binary("sdiv", strip, planes)
                self.strip(down * self.number(slots.TILE_HEIGHT))
            loop.next(more & ~self.stopped(), [code.constant("bool", True)])
        code.line("ret void")
        head = "define void @strips(ptr %job, ptr %scratch, i64 %step) #1"
        return f"{head} {{\n{code.text()}\n}}"

    def strip(self, y0: Val) -> None:
        """The results' rows of a plane from y0 on. Up to which row each stage has come stands in
        scratch."""
        code = self.code
        y1 = code.minimum(y0 + self.number(slots.TILE_HEIGHT), self.number(slots.HEIGHT))
        with counting(code, self.number(slots.STAGES)) as index:
            above = self.stage(index)[slots.ABOVE]
            self.write_to(code.maximum(y0 - above, 0), self.scratch, index)
        with Loop(code, [y0 - self.number(slots.WARM)]) as loop:
            (y,) = loop.params
            following = code.minimum(y + self.number(slots.STEP), y1)
            with counting(code, self.number(slots.STAGES)) as index:
                self.advance(index, following, y1)
            loop.next((following < y1) & ~self.stopped(), [following])

    def stage(self, index: Val) -> list[Val]:
        return self.row(self.pointer(slots.STAGE_TABLE), slots.STAGE_SLOTS, index)

    def advance(self, index: Val, reached: Val, end: Val) -> None:
        """Let a stage compute what is needed for the results above the row `reached`."""
        code, stage = self.code, self.stage(index)
        last = code.minimum(end + stage[slots.BELOW], stage[slots.STAGE_HEIGHT])
        to = code.minimum(reached + stage[slots.AHEAD], last)
        done = self.read("long", self.scratch, index)
        with when(code, to > done):
            given = f"ptr {self.as_pointer(stage[slots.STAGE_JOB]).text}, ptr {self.work.text}, "
            given += f"ptr {self.own.text}, i64 {self.z.text}, i64 {done.text}, i64 {to.text}"
            code.line(f"call void @rows({given})")
            self.write_to(to, self.scratch, index)


def native_strips(machine: Machine) -> str:
    """The IR of `strips(job, scratch, step)`."""
    return together([Rows(machine), Strips(machine)], machine)
