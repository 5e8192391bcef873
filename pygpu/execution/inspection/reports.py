"""What the stages of pipelines did, for whoever looks at them.

made = pygpu.pipeline(corners).lower(photo)      # a LoweredPipeline: it was run once
print(made, made.stages[0].source)
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import field
from pathlib import Path

from pygpu.core.host.records import record
from pygpu.execution.inspection import html
from pygpu.execution.pipelines.deferred import Graph, Note
from pygpu.execution.pipelines.stages import Ready, Runner, pending
from pygpu.execution.programs.extents import extended
from pygpu.passes.stages.price import price
from pygpu.ssa import walk


@record
class StageReport:
    """What a stage did: the steps in it with their lines, images read and made, those among them of
    which some rows exist at a time, pixels, bytes of whole images moved and operations a pixel, its
    program's text, the job that it was part of, and which images are smaller than what a step of it
    makes."""

    steps: tuple[str, ...]
    lines: tuple[str, ...]
    size: tuple[int, int]
    reads: int
    makes: int
    kept: int
    nbytes: int
    operations: int
    loads: int
    job: int
    source: str = field(repr=False)
    extended: tuple[str, ...] = ()


@record
class LoweredPipeline:
    """The stages of a pipeline that has run once for some arguments: which steps were put together,
    and what each stage reads, makes and computes."""

    name: str
    target: str
    stages: tuple[StageReport, ...]

    @property
    def source(self) -> str:
        """The programs' texts."""
        return "\n\n".join(stage.source for stage in self.stages)

    @property
    def stats(self) -> dict[str, int]:
        """Steps, stages, jobs of one or more stages, bytes moved and operations in all."""
        pixels = [stage.size[0] * stage.size[1] for stage in self.stages]
        operations = [stage.operations for stage in self.stages]
        return {
            "steps": sum(len(stage.steps) for stage in self.stages),
            "stages": len(self.stages),
            "jobs": len({stage.job for stage in self.stages}),
            "bytes": sum(stage.nbytes for stage in self.stages),
            "ops": sum(n * each for n, each in zip(pixels, operations, strict=True)),
        }

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(s.job + 1),
                " + ".join(f"{step} ({line})" for step, line in zip(s.steps, s.lines, strict=True)),
                f"{s.size[0]} x {s.size[1]}",
                f"{s.reads} read, {s.makes} made"
                + (f", {s.kept} of them as rows in a cache" if s.kept else ""),
                f"{s.nbytes / 2**20:.3g} MiB",
                "; ".join([f"{s.operations} operations and {s.loads} taps a pixel", *s.extended]),
            )
            for s in self.stages
        ]

    def __str__(self) -> str:
        stats = self.stats
        head = (
            f"{self.name} for {self.target}: {stats['steps']} steps in {stats['stages']} stages, "
            f"{stats['jobs']} jobs, {stats['bytes'] / 2**20:.3g} MiB moved"
        )
        return "\n".join([head, *(f"  {row[0]}: {'; '.join(row[1:])}" for row in self._rows())])

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        columns = ("job", "stage", "size", "images", "bytes", "work")
        return html.framed(
            html.heading(self.name, str(self).partition("\n")[0]), html.table(columns, self._rows())
        )


def reported(runner: Runner, graph: Graph, wanted: Set[int]) -> list[StageReport]:
    """Compute images, and say what the stages did."""
    notes = [graph.notes[note] for note in pending(graph, wanted)]
    stages = runner.settle(graph, wanted)
    return [_reported(each, [notes[k] for k in each.stage.steps], graph.sizes) for each in stages]


def _reported(each: Ready, notes: Sequence[Note], sizes: Sequence[tuple[int, int]]) -> StageReport:
    height, width = each.shape
    images = (*each.reads, *each.stage.makes)
    formats = zip(images, (*each.task.inputs, *each.task.outputs), strict=True)
    body = each.task.function.body
    return StageReport(
        tuple([note.task.function.name for note in notes]),
        tuple([f"{Path(note.file).name}:{note.line}" for note in notes]),
        (width, height),
        len(each.reads),
        len(each.stage.makes),
        len(each.kept.intersection(images)),
        sum(
            height * width * format.nbytes for number, format in formats if number not in each.kept
        ),
        price(body),
        sum(op.code == "load" for op in walk(body)),
        each.job,
        each.program.source,
        tuple(
            f"{image} in {note.task.function.name}"
            for note in notes
            for image in extended(note.task, [sizes[number] for number in note.inputs], note.shape)
        ),
    )
