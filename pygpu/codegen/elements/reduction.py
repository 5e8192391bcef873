"""Native code that folds values, made of the texels at each place, by any function of two values.

`tiles`, over whole steps x0 <= x < x1 of the places of a tile, folds into as many values as a step
has places: those of STEPS steps, and these. `rest` folds what all tiles have left, what is behind
the last step, and at last the lanes of a vector.

    made = reduction(FoldTask(value, join, inputs, 1, types, BOTH), machine)    # or None
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from pygpu.codegen.llvm.block import FIRST_IMAGE, IMAGE_SLOTS
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop
from pygpu.codegen.llvm.plan import TapSet, plan
from pygpu.codegen.llvm.schedule import cost
from pygpu.codegen.llvm.span import Writer
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import FoldTask, Task
from pygpu.core.rewriter import Rewriter
from pygpu.core.storage import Format
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.if_conversion import convert_all, convert_near
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, Op, Value, walk
from pygpu.types import INT, Type

STEPS: Final = 32  # folded one after the other: sums of floats then err little
AHEAD: Final = 4096  # bytes fetched before they are folded
LARGEST: Final = 200  # operations of a step, above which passes are as good
PARTIAL, LENGTH, COUNT, TOTAL, DONE = range(5)  # of what a span is given behind the uniforms

Parts = list[list[Val]]  # the components of all parts of a value, for each vector


@record
class Reduction:
    """The IR of both spans, and what is given to them: see _Jobs in devices/cpu/folds.py."""

    tiles: str
    rest: str
    step: int  # places
    words: int  # of a value
    function: Function  # with the tables and uniforms
    images: int  # that this one has
    is_placed: bool  # values depend on their places


def reduction(task: FoldTask, machine: Machine) -> Reduction | None:
    """None where a value reads other texels than those at its place, or takes loops."""
    value, join, inputs, types = task.value, task.join, task.inputs, task.types
    loads = [op for op in walk(value.body) if op.code in ("load", "voxel")]
    own = [op for op in loads if op.operands == (value.x, value.y)]
    if len(inputs) > task.count or own != loads or any(op.data.dx or op.data.dy for op in own):
        return None
    if join.tables:
        return None
    made = [
        _Made(value, inputs, None, types),
        _Made(value, inputs, join, types),
        _Made(_pair(types), [], join, types),
    ]
    _, step, _ = found = [each.function_of_lanes() for each in made]
    size = cost(step.body)
    if size > LARGEST or any(op.regions for each in found for op in walk(each.body)):
        return None
    vectors = 4 if size <= 16 else 2 if size <= 48 else 1

    def part(index: int, vectors: int) -> _Part:
        return _Part(found[index], made[index], machine, vectors)

    tiles = _Whole(machine, types).tiles(*[part(index, vectors) for index in range(3)])
    rest = _Whole(machine, types).rest(part(2, 1), part(1, 1), part(2, 1))
    words = sum(type.size for type in types)
    step_of = vectors * machine.lanes
    is_placed = _is_placed(step, made[1].first)
    return Reduction(tiles, rest, step_of, words, step, len(step.images), is_placed)


class _Made(Rewriter):
    """The value of a place, or the fold of a value so far and that. What else is not computed of
    texels, the column, the row and the value so far, is loaded from images more, which code is
    given: they change from lane to lane."""

    def __init__(
        self,
        value: Function,
        inputs: Sequence[Format],
        join: Function | None,
        types: Sequence[Type],
    ) -> None:
        self.first, self.join, self.types = len(value.images), join, types
        more = [("column", INT), ("row", INT), *[(f"part{k}", t) for k, t in enumerate(types)]]
        images = [*value.images, *[ImageInput(name, type) for name, type in more]]
        super().__init__(value, images=images)
        self.formats = [
            *inputs,
            *[
                Format(np.dtype(NUMPY_TYPE[image.type.kind]), image.type.size, normalize=False)
                for image in images[len(inputs) :]
            ],
        ]

    def function_of_lanes(self) -> Function:
        """The function, with both sides of its branches computed."""
        function = without_nans(self.run(), self.formats)
        return apply((convert_all, *CLEAN, convert_near, *CLEAN), function)

    def run(self) -> Function:
        build, value = self.build, self.function
        loaded = [
            build.load(index, build.x, build.y, "inside")
            for index in range(self.first, len(build.images))
        ]
        self.new[value.x], self.new[value.y], *before = loaded
        self.inline(value.body)
        found = self._of_types([self.new[each] for each in value.outputs])
        if self.join is not None:
            self.new.update(zip(self.join.uniforms, [*before, *found], strict=True))
            self.inline(self.join.body)
            found = self._of_types([self.new[each] for each in self.join.outputs])
        return build.finish(found)

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load":
            return None
        data = replace(op.data, boundary="inside", cval=())
        return [self.build.emit("load", self.build.x, self.build.y, data=data)]

    def _of_types(self, values: Sequence[Value]) -> list[Value]:
        return [
            value if value.type == type else self.build.emit(f"to_{type.kind}", value)
            for value, type in zip(values, self.types, strict=True)
        ]


def _pair(types: Sequence[Type]) -> Function:
    """A value that is there already, as one of texels."""
    build = Builder("pair", [ImageInput(f"other{k}", type) for k, type in enumerate(types)], [])
    return build.finish([build.load(k, build.x, build.y) for k in range(len(types))])


def _loads(function: Function, image: int) -> list[Value]:
    """The texels of an image among the function's values."""
    return [
        op.results[0] for op in walk(function.body) if op.code == "load" and op.data.image == image
    ]


def _is_placed(function: Function, first: int) -> bool:
    """Whether it asks for the column, which is loaded from the image `first`, or for the row."""
    return any(_loads(function, first + index) for index in (0, 1))


class _Part(Writer):
    """A function whose code stands within another, once."""

    of_planes: ClassVar[bool] = False

    def __init__(self, function: Function, made: _Made, machine: Machine, vectors: int) -> None:
        task = Task(function, made.formats, ())
        layout = plan(task, machine.lanes)
        layout.vectors, layout.rows = vectors, 1
        super().__init__(task, machine, layout)
        self.first, self.types = made.first, made.types
        self.is_placed = _is_placed(function, made.first)

    def begin(self, code: Code) -> None:
        """What is the same for all places."""
        self.code = code
        self.rows = self.row_pointers()
        self.uniforms()
        self.env[self.f.y, 0, 0] = (code.constant("int", 0),)
        self.of_rows()

    def row_pointers(self) -> dict[tuple[TapSet, int], Val]:
        return {(taps, 0): self.image(taps.image, 0, "ptr") for taps in self.plan.taps}

    def fetch(self, x: Val) -> None:
        """Bring the texels some steps further on into the caches."""
        lanes = self.machine.lanes * self.plan.vectors
        for index in range(self.first):
            size = self.inputs[index].nbytes
            here = self.code.at(
                self.image(index, 0, "ptr"), self.code.cast("sext", x, "long") * size
            )
            self.code.fetch(here, AHEAD, lanes * size)

    def at(self, x: Val, *given: Parts) -> Parts:
        """The results from the place x on. `given`: the values so far, and others in place of
        texels."""
        self.x, code = x, self.code
        for u in range(self.plan.vectors):
            if self.is_placed:
                self._place(u)
            for parts, start in zip(given, (self.first + 2, 0), strict=False):
                self._give(u, start, parts[u])
        self.body()
        lanes = given[0][0][0].lanes if given else self.machine.lanes
        found: Parts = []
        for u in range(self.plan.vectors):
            values = [self.get(value, (u, 0)) for value in self.f.outputs]
            found.append(
                [code.plain(code.splat(part, lanes)) for parts in values for part in parts]
            )
        return found

    def _give(self, u: int, start: int, components: Sequence[Val]) -> None:
        """Have the texels of images from one on be these."""
        at = 0
        for k, type in enumerate(self.types):
            for value in _loads(self.f, start + k):
                self.env[value, u, 0] = tuple(components[at : at + type.size])
            at += type.size

    def _place(self, u: int) -> None:
        """The columns and rows of a vector, which has places of two rows at most."""
        code, lanes = self.code, self.machine.lanes
        start = self.x + u * lanes
        width = code.argument(1, "int")
        row = code.binary("sdiv", start, width)
        columns = code.ramp(start - row * width)
        beyond = columns >= width
        columns = code.select(beyond, columns - width, columns)
        rows = code.select(beyond, code.splat(row + 1, lanes), code.splat(row, lanes))
        for index, found in ((0, columns), (1, rows)):
            for value in _loads(self.f, self.first + index):
                self.env[value, u, 0] = (found,)


class _Whole:
    """Writes a span of parts."""

    def __init__(self, machine: Machine, types: Sequence[Type]) -> None:
        self.code, self.lanes = Code(machine), machine.lanes
        self.kinds = [type.kind for type in types for _ in range(type.size)]
        self.row = len(self.kinds) * self.lanes * 4  # bytes of a vector for each component

    def given(self, part: _Part, slot: int, kind: str) -> Val:
        """A number behind those that the function of a part is given."""
        function = part.f
        first = FIRST_IMAGE + len(function.images) * IMAGE_SLOTS + len(function.tables)
        first += sum(value.type.size for value in function.uniforms)
        return self.code.argument(first + slot, kind)

    def rounds(
        self, start: Val, end: Val, step: int, first: Parts, fold: Callable[[Val, Parts], Parts]
    ) -> Parts:
        """What is folded into the first values from a start on, before an end."""
        code = self.code
        branch = Branch(code, start < end)
        with branch.side():
            with Loop(code, [start, *_flat(first)]) as loop:
                x, *values = loop.params
                loop.next(x + step < end, [x + step, *_flat(fold(x, self.parts(values)))])
            found = loop.results[1:]
        return self.parts(branch.join(found, _flat(first)))

    def tiles(self, value: _Part, step: _Part, pair: _Part) -> str:
        code, vectors = self.code, value.plan.vectors
        x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%x0", "%x1"))
        one = vectors * self.lanes
        for part in (value, step, pair):
            part.begin(code)

        def stepped(x: Val, before: Parts) -> Parts:
            step.fetch(x)
            return step.at(x, before)

        nothing = [code.constant(kind, 0, self.lanes) for kind in self.kinds] * vectors
        with Loop(code, [x0, *nothing]) as loop:
            x, *before = loop.params
            end = code.minimum(x + STEPS * one, x1)
            total = self.rounds(x + one, end, one, value.at(x), stepped)
            joined = _flat(pair.at(x, self.parts(before), total))
            both = zip(_flat(total), joined, strict=True)
            loop.next(end < x1, [end, *[code.select(x.eq(x0), *each) for each in both]])
        tile = code.binary("sdiv", x0, self.given(step, LENGTH, "int"))
        start = code.cast("sext", tile, "long") * (self.row * vectors)
        for u, components in enumerate(self.parts(loop.results[1:])):
            self.store(components, code.at(self.given(step, PARTIAL, "ptr"), start + u * self.row))
        return code.span()

    def rest(self, pair: _Part, step: _Part, single: _Part) -> str:
        """Rows of values, a vector for each component, into one; the places behind the last step;
        the lanes into the first."""
        code, lanes = self.code, self.lanes
        for part in (pair, step, single):
            part.begin(code)
        partial, total = self.given(step, PARTIAL, "ptr"), self.given(step, TOTAL, "int")
        zero, one = code.constant("int", 0), code.constant("int", 1)

        def row(k: Val, lane: bool = False) -> Parts:
            place = code.cast("sext", k, "long") * (4 if lane else self.row)
            return [self.read(code.at(partial, place), 1 if lane else lanes)]

        def behind(x: Val, before: Parts) -> Parts:
            start = code.minimum(x, total - lanes)  # some of which are folded already
            is_new = code.ramp(start) >= x
            both = zip(step.at(start, before)[0], before[0], strict=True)
            return [[code.select(is_new, *each) for each in both]]

        count = self.given(step, COUNT, "int")
        found = self.rounds(one, count, 1, row(zero), lambda k, v: pair.at(zero, v, row(k)))
        done = self.given(step, DONE, "int")
        self.store(self.rounds(done, total, lanes, found, behind)[0], partial)
        end = code.constant("int", lanes)
        first = row(zero, lane=True)
        found = self.rounds(one, end, 1, first, lambda k, v: single.at(zero, v, row(k, lane=True)))
        self.store(found[0], partial)
        return code.span()

    def parts(self, flat: Sequence[Val]) -> Parts:
        size = len(self.kinds)
        return [list(flat[start : start + size]) for start in range(0, len(flat), size)]

    def read(self, place: Val, lanes: int) -> list[Val]:
        """A row of values, or one of the lanes of such a row."""
        found = []
        for index, kind in enumerate(self.kinds):
            at = self.code.at(place, index * self.lanes * 4)
            word = self.code.read("int" if kind == "bool" else kind, at, lanes, 4)
            found.append(word.ne(0) if kind == "bool" else word)
        return found

    def store(self, components: Sequence[Val], place: Val) -> None:
        for index, part in enumerate(components):
            word = self.code.cast("zext", part, "int") if part.kind == "bool" else part
            self.code.store(word, self.code.at(place, index * self.lanes * 4), 4)


def _flat(parts: Parts) -> list[Val]:
    return [part for components in parts for part in components]
