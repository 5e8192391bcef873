"""Which steps are put together: a plan of stages for the images that are wanted.

    stages = plan(steps, wanted={7}, sizes=...)     # each makes some images whole, of whole ones

An image that only other images are made of need not be stored: it is computed where it is used, if
computing it so often costs less than writing and reading it. Steps that read the same images become
one that reads them once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.execution.arguments.results import natural_dtype
from pygpu.passes.lower.merge import Part, is_here, is_pointwise
from pygpu.passes.stages.price import price
from pygpu.ssa import Function, Op, walk

AGAIN: Final = 24  # sums that cost what writing an image and reading it does, for each pixel
LARGEST: Final = 400  # sums of a stage into which more is put
OUTPUTS: Final = 4  # of a stage that was several
ONE: Final = (1, 1)  # the size of a number: images of other sizes read it at one place
LOOKED_AT: Final = 64  # stages up to which pairs of them are compared


@record(eq=False)
class Planned:
    """A step as plans see it: its task, the numbers of its images, and the size of its results."""

    task: Task
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    shape: tuple[int, int]

    @property
    def part(self) -> Part:
        return Part(self.task.function, self.inputs, self.outputs)


@record(eq=False, frozen=False)
class Stage:
    """Steps that run as one, by their places; the images they store and those they read."""

    steps: list[int]
    makes: list[int]
    reads: set[int]


def plan(
    steps: Sequence[Planned], wanted: Set[int], sizes: Mapping[int, tuple[int, int]]
) -> list[Stage]:
    """The stages that make the images `wanted`, in an order in which they can run."""
    needed = _needed(steps, wanted)
    inlined = _Inlining(steps, needed, wanted, sizes).run()
    stages = []
    for place in needed:
        makes = [image for image in steps[place].outputs if image not in inlined]
        makes = [image for image in makes if image in wanted or _is_read(steps, needed, image)]
        if makes:
            stages.append(_stage(steps, place, makes, inlined))
    return _ordered(_joined(steps, stages))


def _needed(steps: Sequence[Planned], wanted: Set[int]) -> list[int]:
    """The places of steps that the wanted images depend on."""
    found, images = [], set(wanted)
    for place in reversed(range(len(steps))):
        if images.intersection(steps[place].outputs):
            found.append(place)
            images.update(steps[place].inputs)
    return found[::-1]


def _is_read(steps: Sequence[Planned], needed: Iterable[int], image: int) -> bool:
    return any(image in steps[place].inputs for place in needed)


def _stage(
    steps: Sequence[Planned], root: int, makes: list[int], inlined: Mapping[int, int]
) -> Stage:
    """A step with all that is computed within it."""
    parts, pending, reads = {root}, [root], set()
    while pending:
        for image in steps[pending.pop()].inputs:
            maker = inlined.get(image)
            if maker is None:
                reads.add(image)
            elif maker not in parts:
                parts.add(maker)
                pending.append(maker)
    return Stage(sorted(parts), makes, reads)


class _Inlining:
    """Decides which images are computed where they are used."""

    def __init__(
        self,
        steps: Sequence[Planned],
        needed: Sequence[int],
        wanted: Set[int],
        sizes: Mapping[int, tuple[int, int]],
    ) -> None:
        self.steps, self.needed, self.wanted, self.sizes = steps, needed, wanted, sizes
        self.readers: dict[int, list[int]] = defaultdict(list)
        for place in needed:
            for image in dict.fromkeys(steps[place].inputs):
                self.readers[image].append(place)
        self.prices: dict[int, int] = {}  # of steps, with what is computed within them

    def run(self) -> dict[int, int]:
        """The step that makes each such image."""
        inlined: dict[int, int] = {}
        for place in self.needed:
            step = self.steps[place]
            within = [inlined[image] for image in dict.fromkeys(step.inputs) if image in inlined]
            self.prices[place] = price(step.task.function.body) + sum(
                self.prices[maker] * self._places(place, image)
                for maker in within
                for image in self.steps[maker].outputs
                if image in step.inputs
            )
            for index, image in enumerate(step.outputs):
                if image not in self.wanted and self._is_inlined(place, index, image, inlined):
                    inlined[image] = place
        return inlined

    def _is_inlined(self, place: int, index: int, image: int, inlined: Mapping[int, int]) -> bool:
        step, readers = self.steps[place], self.readers[image]
        format = step.task.outputs[index]
        value = step.task.function.outputs[index]
        is_kept = format.dtype == natural_dtype(value.type) and format.type == value.type
        if not readers or not is_kept:
            return False
        count = 0
        for reader in readers:
            is_here = self._reads_here(reader, image)
            if self.steps[reader].shape != step.shape and (step.shape != ONE or is_here):
                return False
            if not is_here and not self._may_be_moved(place, reader, image, inlined):
                return False
            if price(self.steps[reader].task.function.body) + self.prices[place] > LARGEST:
                return False
            count += self._places(reader, image)
        return self.prices[place] * (count - 1) <= AGAIN

    def _loads(self, reader: int, image: int) -> list[Op]:
        step = self.steps[reader]
        return [
            op
            for op in walk(step.task.function.body)
            if op.code == "load" and step.inputs[op.data.image] == image
        ]

    def _places(self, reader: int, image: int) -> int:
        """How often an image is computed anew for a pixel of a reader."""
        return 1 if self._reads_here(reader, image) else max(len(self._loads(reader, image)), 1)

    def _reads_here(self, reader: int, image: int) -> bool:
        function: Function = self.steps[reader].task.function
        return all(is_here(function, op) for op in self._loads(reader, image))

    def _may_be_moved(
        self, maker: int, reader: int, image: int, inlined: Mapping[int, int]
    ) -> bool:
        """Whether a step can be computed beside the pixel: it is pointwise, and what lies outside
        is what lies inside."""
        loads = self._loads(reader, image)
        return self._is_pointwise(maker, inlined) and all(
            op.data.boundary != "constant" for op in loads
        )

    def _is_pointwise(self, place: int, inlined: Mapping[int, int]) -> bool:
        """Whether a step reads images, all of its size, at its own pixel alone."""
        step = self.steps[place]
        return is_pointwise(step.task.function) and all(
            self.sizes[image] == step.shape
            and (image not in inlined or self._is_pointwise(inlined[image], inlined))
            for image in step.inputs
        )


# ---------------------------------------------------------------- steps beside one another


def _joined(steps: Sequence[Planned], stages: list[Stage]) -> list[Stage]:
    """Stages of one size that read a common image, and neither needs the other, as one."""
    if len(stages) > LOOKED_AT:
        return stages
    found = True
    while found:
        found = False
        for first, second in combinations(stages, 2):
            if _may_join(steps, stages, first, second):
                joined = Stage(
                    sorted({*first.steps, *second.steps}),
                    [*first.makes, *second.makes],
                    first.reads | second.reads,
                )
                stages = [each for each in stages if each not in (first, second)] + [joined]
                found = True
                break
    return stages


def _may_join(
    steps: Sequence[Planned], stages: Sequence[Stage], first: Stage, second: Stage
) -> bool:
    if not first.reads & second.reads or len(first.makes) + len(second.makes) > OUTPUTS:
        return False
    if steps[first.steps[-1]].shape != steps[second.steps[-1]].shape:
        return False
    together = sum(price(steps[place].task.function.body) for place in first.steps + second.steps)
    if together > LARGEST:
        return False
    return not _leads(stages, first, second) and not _leads(stages, second, first)


def _leads(stages: Sequence[Stage], first: Stage, second: Stage) -> bool:
    """Whether one stage needs what another makes, by way of others too."""
    pending, seen = [first], {id(first)}
    while pending:
        makes = set(pending.pop().makes)
        for stage in stages:
            if makes & stage.reads and id(stage) not in seen:
                if stage is second:
                    return True
                seen.add(id(stage))
                pending.append(stage)
    return False


def _ordered(stages: Sequence[Stage]) -> list[Stage]:
    """Each after those whose images it reads."""
    made_by = {image: stage for stage in stages for image in stage.makes}
    ordered: list[Stage] = []
    done: set[int] = set()
    for stage in stages:
        pending = [stage]
        while pending:
            top = pending[-1]
            before = [made_by[i] for i in top.reads if i in made_by and id(made_by[i]) not in done]
            if before:
                pending += before
                continue
            pending.pop()
            if id(top) not in done:
                done.add(id(top))
                ordered.append(top)
    return ordered
