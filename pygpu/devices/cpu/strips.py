"""Programs that read one another's results, as one native job: see codegen/jobs/strips.py.

    linked = strips([Link(blur, task, (0,), (1,)), ...], {2}, (1024, 1024))
    linked.run({0: photo}, [(), (1.5,)])      # {2: ...}; of image 1 some rows exist at a time

An image that is wanted and read by others above or below is kept, too, and copied: a row that
threads of two strips make may be read by one of them while the other writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache, partial
from itertools import count
from typing import Any, Final

from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.jobs.strips import native_strips
from pygpu.codegen.llvm.text import Machine
from pygpu.core.host.records import record
from pygpu.core.programs import NOTHING, Link, Linked, Planes
from pygpu.core.storage import Format, Storage, is_thin, strides_of
from pygpu.devices.cpu.chunks import address, addresses
from pygpu.devices.cpu.given import is_wide
from pygpu.devices.cpu.layout import Block, Layout, Rows, Sizes, StripsJob
from pygpu.devices.cpu.native import Native
from pygpu.devices.cpu.program import LAYOUTS, LONG, SHORT, SMALL, CpuProgram
from pygpu.devices.cpu.threads import POOL, Job, thread_count
from pygpu.devices.process.reserve import RESERVE, clear
from pygpu.ssa import Constant

STEP: Final = 12  # rows, a multiple of those of all blocks: programs have 1, 2, 3, 4 or 6
STEPS: Final = 2  # steps that a thread goes down at once, if what is kept fits in the cache
CACHE: Final = 1 << 19  # bytes of what is kept that stay in a core's cache beside all else
SHORT_ROW: Final = 1 << 11  # bytes of rows that are kept one behind the other
MOST: Final = 1 << 25  # bytes that a thread may keep
SHARES: Final = 2  # strips for each thread: none waits long for another
_COPIED: Final = slots.JOB_SLOTS + slots.IMAGE_SLOTS + slots.OUT_BASE  # where a copy is written
AGAIN: Final = 0.15  # the part of the work that may be done twice, where strips meet


@lru_cache(maxsize=4)
def stage_loops(made_for: Machine) -> Native:
    """The native code of jobs of several stages."""
    return Native(native_strips(made_for), made_for, ["strips"])


@record(eq=False, frozen=False)
class Stage:
    """A program in strips: rows it computes above and below, and rows ahead of the results."""

    program: CpuProgram
    inputs: tuple[int, ...]  # images by their numbers
    outputs: tuple[int, ...]
    shape: tuple[int, int]
    place: int  # of the program that it is of, among those that run together
    above: int = 0
    below: int = 0
    ahead: int = 0


def strips(
    links: Sequence[Link],
    wanted: Set[int],
    shape: tuple[int, int],
    planes: Planes | None = None,
) -> CpuStrips | None:
    """The programs as one; None where strips are too small or compute too much twice. `planes`:
    those of a single program, whose images they are read from, each result of which has one."""
    stages, height = _staged(links, shape), shape[0]
    for stage in stages if planes else ():
        stage.program = stage.program.of_rows(stage.shape[1])
    # Parts of one function read no rows but those that are made.
    apart = [max(reach) for maker, reader, reach in _reads(stages) if maker.place != reader.place]
    reach = max(apart, default=0)
    is_turned = planes is None and is_thin(shape, SHORT)
    if len(stages) < 2 or is_turned or height <= 2 * reach + 2 or not shape[1]:
        return None
    cost = sum(stage.program.cost for stage in stages)
    twice = sum((stage.above + stage.below) * stage.program.cost for stage in stages) / cost
    depth = planes.count if planes else 1
    is_small = depth * height * shape[1] * cost < SMALL * stages[0].program.plan.lanes
    threads = 1 if is_small else min(thread_count(), -(-height // STEP) * depth)
    shares = min(SHARES * threads, int(AGAIN * height / twice) if twice else height)
    if planes is None and shares < threads and all(stage.place == 0 for stage in stages):
        # Whole windows cost more than parts of them that are made twice.
        shares = threads = min(threads, max(1, int(height / twice)))
    if planes:
        read = zip(stages[0].program.task.inputs, planes.reads, strict=False)
        texels = sum([format.nbytes for format, each in read if each])
        shares = max(1, min(shares, texels * height * shape[1] // CACHE))
    elif threads > 1 and shares < threads:
        return None
    made = CpuStrips(stages, wanted, shape, shares if threads > 1 else 1, planes)
    made.is_small = is_small
    return None if made.own > MOST else made


def _staged(links: Sequence[Link], shape: tuple[int, int]) -> list[Stage]:
    stages: list[Stage] = []
    numbers = count(-1, -1)  # of images within programs
    for place, link in enumerate(links):
        stages += _parts(link, place, shape, numbers)
    for maker, reader, (above, below) in reversed(_reads(stages)):  # each is before its readers
        maker.above = max(maker.above, reader.above + above)
        maker.below = max(maker.below, reader.below + below)
        maker.ahead = max(maker.ahead, reader.ahead + below)
    return stages


def _parts(link: Link, place: int, shape: tuple[int, int], numbers: Iterator[int]) -> list[Stage]:
    """The stages of a program."""
    parted: Any = link.program
    if isinstance(parted, CpuProgram):
        return [Stage(parted, link.inputs, link.outputs, shape, place)]
    found: list[Stage] = []
    made: tuple[int, ...] = ()
    for part, native in zip(parted.parts, parted.programs, strict=True):
        inputs = (*link.inputs, *made)
        made = tuple([next(numbers) for _ in native.task.outputs])
        margin = part.margin
        size = shape[0] + margin.up + margin.down, shape[1] + margin.left + margin.right
        found.append(Stage(native, inputs, made, size, place))
    found[-1].outputs = link.outputs
    return found


def _reads(stages: Sequence[Stage]) -> list[tuple[Stage, Stage, tuple[int, int]]]:
    """Which stage is read by which, and how many rows above and below."""
    makers = {image: stage for stage in stages for image in stage.outputs}
    found = []
    for reader in stages:
        for index, image in enumerate(reader.inputs):
            if image in makers:
                found.append((makers[image], reader, _reach(reader, index, makers[image])))
    return found


def _reach(reader: Stage, index: int, maker: Stage) -> tuple[int, int]:
    """How many rows above and below are read of an image."""
    reach = reader.program.reach(index, is_inside=reader.inputs[index] < 0)
    assert reach is not None, "what is read of it whole is made before"
    beyond = reader.shape[0] - maker.shape[0]
    if beyond <= 0:
        return reach
    # Rows of the reader's margin read those at the maker's edges, or others by a mirror there.
    farthest = max(reach) + 2 * beyond
    return farthest, farthest


class StageLayout(Layout):
    """The layout of a stage: some of its images and results have few rows."""

    def __init__(self, program: CpuProgram, sizes: Sizes, rows: dict[int, Rows]) -> None:
        self.rows = rows
        super().__init__(program.plan, program.code.task, program.given.tables, sizes, 1)

    def _rows(self, index: int) -> Rows:
        return self.rows.get(index) or super()._rows(index)


@record
class Kept:
    """An image of which a thread keeps some rows, in its memory behind so many bytes."""

    start: int
    rows: Rows


class CpuStrips(Linked):
    """See the module's head."""

    def __init__(
        self,
        stages: Sequence[Stage],
        wanted: Set[int],
        shape: tuple[int, int],
        count: int,
        planes: Planes | None = None,
    ) -> None:
        self.stages, self.shape, self.count = stages, shape, count
        self.planes, self.depth = planes, planes.count if planes else 1
        self.native = stage_loops(stages[0].program.machine)
        self.is_small = False
        self.threads = min(thread_count(), count * self.depth)
        self.formats: dict[int, Format] = {}
        self.makers = {image: stage for stage in stages for image in stage.outputs}
        for stage in stages:
            self.formats.update(zip(stage.outputs, stage.program.task.outputs, strict=True))
        whole = {
            image for stage in stages if stage.above == stage.below == 0 for image in stage.outputs
        }
        self.wanted = [image for image in self.formats if image in wanted]
        self.direct = whole.intersection(self.wanted)
        self.copied = [image for image in self.wanted if image not in whole]
        self.step = STEP * STEPS
        self._keep()
        while self.own > CACHE and self.step > STEP:
            self.step -= STEP
            self._keep()
        # Images that are there or are made whole, as stages read and write them: of each stage, the
        # places among its images, and which of all that is given it is.
        self.read = [
            (stage, index, image)
            for stage in stages
            for index, image in enumerate(stage.inputs)
            if image not in self.formats
        ]
        self.place_of = {(id(stage), index): n for n, (stage, index, _) in enumerate(self.read)}
        self.jobs: dict[tuple[int, ...], Jobs] = {}  # by how the rows of what is given lie
        loops = any(stage.program.plan.loops for stage in stages)
        cost = sum(stage.program.cost for stage in stages)
        self.is_brief = not loops and self.depth * shape[0] * shape[1] * cost < LONG

    # ------------------------------------------------------------ what is kept

    def _keep(self) -> None:
        """Give each image that is kept its place."""
        needed: dict[int, int] = {}
        for stage in self.stages:
            needed.update(dict.fromkeys(stage.outputs, self.step))
        for stage in self.stages:
            for index, image in enumerate(stage.inputs):
                if image in self.makers:
                    maker = self.makers[image]
                    rows = maker.ahead - stage.ahead + _reach(stage, index, maker)[0]
                    needed[image] = max(needed[image], self.step + rows)
        self.kept: dict[int, Kept] = {}
        self.own = 0
        for image, rows in needed.items():
            if image not in self.direct:
                stride = self.makers[image].shape[1] * self.formats[image].nbytes
                if stride > SHORT_ROW:  # an odd number of lines: rows lie in different sets
                    stride = (-(-stride // slots.ALIGN) | 1) * slots.ALIGN
                    self.own += -self.own % slots.PAGE
                self.kept[image] = Kept(self.own, Rows(rows, stride))
                self.own += rows * stride
        self.own += 4 * slots.ALIGN
        last = [stage for stage in self.stages if not self.direct.isdisjoint(stage.outputs)]
        read = {image for stage in last for image in stage.inputs if image in self.kept}
        self.facing = tuple({self.kept[image].rows for image in read})

    def _shift(self, places: Sequence[int], given: Sequence[NDArray[Any]]) -> int:
        """Where in a page what is kept is to begin: stores of results take long, so loads of what
        they are computed from are not to wait for them."""
        made = zip(self.wanted, places[len(self.read) :], given[len(self.read) :], strict=True)
        line = slots.ALIGN
        results = [
            (place % slots.PAGE // line * line, array.strides[0])
            for image, place, array in made
            if image in self.direct
        ]
        return clear(self.facing, tuple(results)) if self.facing else 0

    # ------------------------------------------------------------ a run

    def run(
        self,
        images: Mapping[int, Storage],
        uniforms: Sequence[Sequence[Constant]],
        out: Mapping[int, NDArray[Any]] = NOTHING,
    ) -> dict[int, Storage]:
        height, width = self.shape
        arrays = {image: out[image] for image in self.wanted if image in out}
        read = [stage.program.given.array(n, images[image]) for stage, n, image in self.read]
        for image in self.wanted:
            format = self.formats[image]
            if image not in arrays:
                shape = self.depth * height, width, format.channels
                arrays[image] = RESERVE.beside(shape, format.dtype, read[0] if read else None)
        given = [*read, *[arrays[image] for image in self.wanted]]
        jobs = self._jobs(given)
        if jobs.waiting:
            jobs.find_sides()
        try:
            job = jobs.idle.pop()
        except IndexError:
            job = self._job(jobs.layouts, given)
        places, numbers = addresses(given), job.header.numbers
        job.fill(places, uniforms)
        own = numbers[slots.OWN] // slots.PAGE * slots.PAGE
        numbers[slots.OWN] = own + self._shift(places, given)
        threads = min(self.threads, numbers[slots.TILES])
        calls, is_small = self.stages[0].program.calls, self.is_brief and self.is_small
        of_all = Job(job, numbers[slots.SCRATCH], (self, given))
        POOL.run(calls, of_all, threads, self.is_brief, is_small)
        jobs.idle.append(job)
        return {image: Storage.of(array) for image, array in arrays.items()}

    def _jobs(self, given: Sequence[NDArray[Any]]) -> Jobs:
        """The jobs for what lies like this."""
        key = strides_of(given)
        found = self.jobs.get(key)
        if found is None:
            made = dict(zip(self.wanted, given[len(self.read) :], strict=True))
            layouts = []
            for stage in self.stages:
                inputs = {}
                for index, image in enumerate(stage.inputs):
                    if image in self.direct:
                        inputs[index] = made[image]
                    elif image not in self.formats:
                        inputs[index] = given[self.place_of[id(stage), index]]
                layouts.append((self._layout(stage, inputs, made), is_wide([*inputs.values()])))
            if len(self.jobs) >= LAYOUTS:
                self.jobs = {}
            found = self.jobs[key] = Jobs([stage.program for stage in self.stages], layouts)
        return found

    def _layout(
        self, stage: Stage, inputs: Mapping[int, NDArray[Any]], made: Mapping[int, NDArray[Any]]
    ) -> Layout:
        sizes: list[tuple[int, int]] = []
        rows = {}
        for index, image in enumerate((*stage.inputs, *stage.outputs)):
            whole = inputs.get(index) if index < len(stage.inputs) else made.get(image)
            if image in self.kept:
                rows[index] = self.kept[image].rows
            elif whole is not None:
                rows[index] = Rows(slots.WHOLE, whole.strides[0])
        reads = [None] * len(stage.inputs) if self.planes is None else list(self.planes.reads)
        reads += [None] * (len(stage.inputs) - len(reads))
        for index, (image, read) in enumerate(zip(stage.inputs, reads, strict=True)):
            high, wide = inputs[index].shape[:2] if index in inputs else self.makers[image].shape
            sizes.append((high // read.depth if read else high, wide))
        planes = Planes(self.depth, tuple(reads))
        return StageLayout(stage.program, Sizes(tuple(sizes), stage.shape, (), planes), rows)

    def _job(
        self, layouts: Sequence[tuple[Layout, bool]], given: Sequence[NDArray[Any]]
    ) -> StripsJob:
        """The jobs of all stages and of copies, and the one that runs them, for what lies like
        this. What differs from call to call is filled in later."""
        made = {image: n for n, image in enumerate(self.wanted, len(self.read))}
        blocks, fields, numbered, streamed = [], [], [], []
        read = {image for stage in self.stages for image in stage.inputs}
        for stage, (layout, wide) in zip(self.stages, layouts, strict=True):
            images = (*stage.inputs, *stage.outputs)
            starts = [self.kept[image].start if image in self.kept else 0 for image in images]
            block = Block(layout.numbers, layout.inner, layout.stop)
            layout.filled(block, stage.program.span(wide), starts, ())
            block.numbers[slots.SIDES] = 0 if wide else stage.program.sides(layout)
            for index, image in enumerate(images):
                if image in self.direct:
                    fields.append((block.numbers, layout.places[index], made[image]))
                elif image not in self.formats:
                    number = self.place_of[id(stage), index]
                    fields.append((block.numbers, layout.places[index], number))
            blocks.append(block)
            if self.direct.issuperset(stage.outputs) and read.isdisjoint(stage.outputs):
                at = [0] * len(stage.inputs), [made[image] for image in stage.outputs]
                streamed.append((partial(stage.program.stream, wide, layout), block, at))
            if layout.task.function.uniforms:
                numbered.append((layout, block, stage.place))
        for image in self.copied:
            block = self._copy(image, given[made[image]])
            fields.append((block.numbers, _COPIED, made[image]))
            blocks.append(block)
        header = self._header(max(layout.scratch for layout, _ in layouts))
        place = slots.JOB_SLOTS + slots.STAGE_JOB
        for block in blocks:
            header.numbers[place] = block.address
            place += slots.STAGE_SLOTS
        return StripsJob(header, blocks, fields, numbered, streamed)

    def _copy(self, image: int, array: NDArray[Any]) -> Block:
        """The job of copying what is kept of an image."""
        kept, texel = self.kept[image], self.formats[image].nbytes
        images = slots.JOB_SLOTS
        results = images + slots.IMAGE_SLOTS
        stop = results + slots.OUT_SLOTS
        held = {
            slots.IMAGE_TABLE: images,
            slots.OUTPUT_TABLE: results,
            slots.STOP: stop,
            images + slots.BASE: kept.start,
            images + slots.PLANE_STRIDE: kept.rows.stride,
            images + slots.RING: kept.rows.number,
            results + slots.OUT_BASE: address(array),
            results + slots.OUT_STRIDE: array.strides[0],
            results + slots.OUT_TEXEL: texel * self.shape[1],
            results + slots.OUT_RING: slots.WHOLE,
        }
        numbers = [held.get(slot, 0) for slot in range(stop + 1)]
        return Block(numbers, (slots.IMAGE_TABLE, slots.OUTPUT_TABLE, slots.STOP), stop)

    def _header(self, scratch: int) -> Block:
        """The job of all stages, one of which takes so much scratch; their jobs come later."""
        stages = [(s.shape[0], s.above, s.below, s.ahead) for s in self.stages]
        stages += [(self.shape[0], 0, 0, self.makers[image].ahead) for image in self.copied]
        table = slots.JOB_SLOTS
        stop = table + len(stages) * slots.STAGE_SLOTS
        height = self.shape[0]
        tall = -(-height // self.count)
        tall = -(-tall // STEP) * STEP
        work = -(-8 * len(stages) // slots.ALIGN) * slots.ALIGN
        own = -(-(work + scratch) // slots.PAGE) * slots.PAGE
        numbers = [0] * (stop + 1)
        for slot, value in {
            slots.TILES: -(-height // tall) * self.depth,
            slots.MORE_PLANES: self.depth - 1,
            slots.TILE_HEIGHT: tall,
            slots.HEIGHT: height,
            slots.STAGES: len(stages),
            slots.STRIPS: self.native.addresses["strips"],
            slots.STAGE_TABLE: table,
            slots.STEP: self.step,
            slots.WARM: max([above + ahead for _, above, _, ahead in stages]),
            slots.WORK: work,
            slots.OWN: own,
            slots.SCRATCH: own + self.own + slots.PAGE,
            slots.GATE: slots.SHUT,
            slots.STOP: stop,
        }.items():
            numbers[slot] = value
        for place, rows in enumerate(stages):
            start = table + place * slots.STAGE_SLOTS
            numbers[start : start + slots.STAGE_SLOTS] = [0, *rows]
        return Block(numbers, (slots.STAGE_TABLE, slots.STOP), stop)


class Jobs:
    """Jobs for what lies alike in memory: the layouts of stages, each with whether its places need
    64 bits, and the jobs that no call uses. One that was halted does not come back."""

    def __init__(
        self, programs: Sequence[CpuProgram], layouts: Sequence[tuple[Layout, bool]]
    ) -> None:
        self.layouts = layouts
        self.idle: list[StripsJob] = []
        each = zip(programs, layouts, strict=True)
        # Programs for which code for the ends of rows may come.
        self.waiting = [(program, at) for program, (at, wide) in each if at.row_ends and not wide]

    def find_sides(self) -> None:
        count = len(self.waiting)
        still = [each for each in self.waiting if not each[0].sides(each[1])]
        self.waiting = [each for each in still if each[1].row_ends]
        if len(still) < count:
            self.idle = []
