"""Folds by group on compute: programs of codegen/arrays/groups.py over storage buffers.

program = fold_groups(task)                    # None: nothing here is for it
program.run(Elements(storages, [], count), (1, 256))     # a storage for each part of a value
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.codegen.arrays.elements import SHARED, ArrayText
from pygpu.codegen.arrays.groups import (
    ATOMIC_THREADS,
    GroupText,
    atomic_programs,
    over_words,
    table_programs,
    table_words,
)
from pygpu.codegen.arrays.numbers import LEAST
from pygpu.codegen.arrays.sums import FINISHING, SumText, sum_programs
from pygpu.codegen.arrays.sums import THREADS as SUM_THREADS
from pygpu.core.arrays import Elements, GroupProgram, GroupTask
from pygpu.core.storage import Storage
from pygpu.devices.arrays.ready import Programs, format_of, nbytes, result, stride
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer

ATOMIC: Final = ("add", "maximum", "minimum")
ROOM: Final = SHARED - 1024  # bytes of the tables of a group of threads
COPIES: Final = 8192  # bytes for which words of a table are copied, so that fewer threads meet
LEAST_THREADS: Final = 32
MOST_THREADS: Final = 256
PARTS: Final = 2048  # groups of threads, at most, where each leaves a table
SUM_PARTS: Final = 128  # groups of threads, at most, where each leaves two words for every group
MOST_SUMS: Final = 1 << 16  # groups whose elements are read a few times, once a range
ELEMENTS: Final = 1 << 14  # of a group of threads, at least


def fold_groups(task: GroupTask) -> Tables | Atomic | Sums | None:
    """The programs of a fold by group."""
    with opengl.context() as gl:
        Bindings.check(task.value, gl.limits.uniform_components)
        if len(task.inputs) + len(task.types) + 1 > gl.limits.storage_blocks:
            return None
        if any(type.kind == "bool" for type in task.types):
            return None
        kinds = {type.kind for type in task.types}
        is_exact = kinds <= {"int", "uint"} or task.how in ("maximum", "minimum")
        if task.how in ATOMIC and task.has_identity and len(task.types) == 1 and is_exact:
            return Atomic(gl, task)
        is_sum = task.how == "add" and kinds == {"float"} and task.has_identity
        words = table_words(task.types, not task.has_identity, is_sum, task.groups)
        threads = MOST_THREADS
        while threads >= LEAST_THREADS and 4 * words * threads > ROOM:
            threads //= 2
        if threads < LEAST_THREADS:
            sums = is_sum and len(task.types) == 1
            return Sums(gl, task) if sums and task.groups <= MOST_SUMS else None
        return Tables(gl, task, table_programs(task, gl.dialect, threads, is_sum, gl.is_software))


class _Made(GroupProgram):
    """Programs that are made ready in the context when they first run."""

    def __init__(self, gl: Context, task: GroupTask, text: GroupText | SumText) -> None:
        self.task = task
        self.source = text.main.text
        self.ready = Programs(task.inputs).ready
        self.ready(gl, text.main)  # a driver that refuses it says so now

    def shared(self, count: int, most: int, width: int, threads: int) -> tuple[int, dict[str, Any]]:
        """Over how many groups of so many threads elements are shared out, and what tells them."""
        each = max(-(-count // most), ELEMENTS // MOST_THREADS * threads)
        each = -(-each // threads) * threads
        extent = count, width, each, self.task.groups
        return -(-count // each), {"extent": extent, "pace": (threads % width, threads // width)}

    def over(self, gl: Context, text: ArrayText, buffer: Buffer, value: int) -> None:
        """Run a program over all words of a buffer."""
        gl.order.before([], [buffer.glo])
        ready = self.ready(gl, text)
        words = buffer.nbytes // 4
        ready.bind([buffer], [], count=words, value=value)
        ready.dispatch(gl, -(-words // ATOMIC_THREADS))


class Tables(_Made):
    """Each thread has a table of its own."""

    def __init__(self, gl: Context, task: GroupTask, text: GroupText) -> None:
        self.text = text
        super().__init__(gl, task, text)

    def run(self, of: Elements, shape: tuple[int, int]) -> list[Storage]:
        """See arrays.GroupProgram."""
        inputs, uniforms, count = of
        task, formats = self.task, [format_of(type) for type in self.task.types]
        neutral = task.neutral if len(task.neutral) > 1 else task.neutral[0]
        with opengl.context() as gl:
            main = self.ready(gl, self.text.main)
            parts, sizes = self.shared(count, PARTS, inputs[0].width, self.text.threads)
            images = main.read(gl, inputs)
            words = (sum(type.size for type in task.types) + 1) * task.groups
            read = [*[each.glo for each in images], *main.bindings.buffers]
            (partials,) = gl.results(read, [4 * words * parts])
            main.bind([*images, partials], inputs, parts=parts, neutral=neutral, **sizes)
            main.dispatch(gl, parts, uniforms)
            assert self.text.rest is not None
            rest = self.ready(gl, self.text.rest)
            made = gl.results(
                [partials.glo, *rest.bindings.buffers], [nbytes(shape, f) for f in formats]
            )
            strides = tuple([stride(shape, format) for format in formats])
            rest.bind(
                [partials, *made],
                inputs,
                extent=(task.groups, parts),
                row=shape[1],
                neutral=neutral,
                strides=strides if len(strides) > 1 else strides[0],
            )
            rest.dispatch(gl, task.groups, ())
            return [result(held, shape, f) for held, f in zip(made, formats, strict=True)]


class Atomic(_Made):
    """A group of threads has one table, or there is none but the result."""

    def __init__(self, gl: Context, task: GroupTask) -> None:
        (type,) = task.types
        words = task.groups * type.size
        copies = 1 if 4 * words <= ROOM else 0
        while copies and 2 * 4 * words * copies <= COPIES and copies < LEAST_THREADS:
            copies *= 2
        programs = atomic_programs(
            task, task.how, gl.dialect, words * copies, copies, gl.is_software
        )
        self.fill = over_words("value")
        self.least = 0 if task.how == "add" else LEAST[type.kind, task.how]
        self.is_direct = not copies
        self.text = programs
        super().__init__(gl, task, programs)

    def run(self, of: Elements, shape: tuple[int, int]) -> list[Storage]:
        """See arrays.GroupProgram."""
        inputs, uniforms, count = of
        format = format_of(self.task.types[0])
        with opengl.context() as gl:
            main = self.ready(gl, self.text.main)
            images = main.read(gl, inputs)
            (made,) = gl.results([], [nbytes(shape, format)])
            self.over(gl, self.fill, made, self.least)
            parts, sizes = self.shared(count, PARTS, inputs[0].width, self.text.threads)
            gl.order.before([*[each.glo for each in images], *main.bindings.buffers], [made.glo])
            row = {"row": shape[1], "stride": stride(shape, format), "least": self.least}
            main.bind([*images, made], inputs, **row, **sizes)
            main.dispatch(gl, parts, uniforms)
            if self.text.finish is not None:
                self.over(gl, self.text.finish, made, 0)
            return [result(made, shape, format)]


class Sums(_Made):
    """Sums of floats as whole numbers, over ranges of groups."""

    def __init__(self, gl: Context, task: GroupTask) -> None:
        self.sums = sum_programs(task, gl.dialect, gl.is_software)
        self.fill = over_words("value")
        super().__init__(gl, task, self.sums)

    def run(self, of: Elements, shape: tuple[int, int]) -> list[Storage]:
        """See arrays.GroupProgram."""
        inputs, uniforms, count = of
        text, type = self.sums, self.task.types[0]
        format, words = format_of(type), self.task.groups * type.size
        base = min(38 - (count.bit_length() + 1), 31)
        with opengl.context() as gl:
            parts, sizes = self.shared(count, SUM_PARTS, inputs[0].width, SUM_THREADS)
            sizes |= {"parts": parts, "base": base}
            top, main, finish = [self.ready(gl, t) for t in (text.top, text.main, text.finish)]
            images = main.read(gl, inputs)
            read = [*[each.glo for each in images], *main.bindings.buffers]
            tops, sums = gl.results(read, [8 * words, 8 * words * parts])
            self.over(gl, self.fill, tops, 0)
            for ready, groups in zip((top, main), text.ranges, strict=True):
                gl.order.before([*read, tops.glo], [tops.glo, sums.glo])
                ready.bind([*images, tops, sums], inputs, **sizes)
                ready.dispatch(gl, parts * -(-self.task.groups // groups), uniforms)
            (made,) = gl.results([tops.glo, sums.glo], [nbytes(shape, format)])
            extent = words, parts, shape[1] * type.size, stride(shape, format)
            finish.bind([tops, sums, made], [], extent=extent, base=base)
            finish.dispatch(gl, -(-words // FINISHING))
            return [result(made, shape, format)]
