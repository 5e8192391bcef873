"""Makes a function compute a block of neighbouring pixels, which share what they read and compute.

    blocked = block(Task(sobel, inputs, outputs), Cut(columns=4, rows=2))

The new function's x and y are those of the block's first pixel; x is a multiple of `columns`. Where
it is wider, images are read, and results written, as *views* of them (block_views.py), whose
texels hold several pixels. Blocks that look over the left or right edge read pixel by pixel, unless
what they read there is found without that: single pixels at a cheap place, or parts of texels by
selection.

    load im[x - 1, y]   of the pixels x to x + 3   ->   if x >= 1 & x + 4 < width im {
    load im[x, y]                                         %0 = load im4[x >> 2, y]   # 4 pixels
    load im[x + 1, y]                                     %1 = load im[x - 1, y]
                                                          %2 = load im[x + 4, y]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import Cost, cost_of
from pygpu.core.programs import Task
from pygpu.core.rewriter import Rewriter
from pygpu.core.storage import Format
from pygpu.passes.analysis.footprint import fixed
from pygpu.passes.blocks.block_views import COLUMNS, NARROW, is_near, pack, view_of, widen
from pygpu.passes.blocks.pairs import share_pairs
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.hoist import hoist
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Region, Value, used_by, walk, within
from pygpu.types import INT

FEW: Final = 2  # pixels of four that are read one by one rather than all at once
# What the larger functions that programs bring along are to compile; all else counts 1.
WEIGHTS: Final[dict[Cost | None, int]] = {Cost.ROUNDS: 100, Cost.SERIES: 25}
CHEAP: Final = ("nearest", "constant")  # boundaries that take no division
FAR: Final = 8  # words read far from a pixel, up to which four pixels in a thread cost no more
VIEWED: Final = frozenset((1, 2, 3))  # channels of images and results of which there are views


@record
class Cut:
    """How a function's pixels are put together in blocks of `columns`, 1 or COLUMNS, and `rows`.

    Up to a `few` pixels of four are read one by one rather than all at once; there are views of
    images and results of the channels `viewed`. Where buffers have `narrow` elements, a pixel of 1
    or 2 bytes is as cheap to read as one of 4. Pixels of blocks that look over an edge may be
    computed one after the other: a loop (`loops`) is less to compile, and software leaves it at
    once where no thread needs it. Where rows need not be clamped that functions read alone
    (`flat`), they are not. Where all is read `ahead`, no more is computed before than places to
    read.
    """

    columns: int
    rows: int
    few: int = FEW
    viewed: frozenset[int] = VIEWED
    narrow: bool = False
    loops: bool = False
    flat: bool = False
    ahead: bool = False


@record
class Blocked:
    """The function of a block. It reads the images of the original, and after them views: of which
    image each is one stands in `views`. Its results are those of the original in order, each row by
    row, from left to right: texels of `outputs`, `texels` of them in a row."""

    function: Function
    columns: int
    rows: int
    inputs: tuple[Format, ...]
    outputs: tuple[Format, ...]
    texels: tuple[int, ...]
    views: tuple[int, ...]


def can_block(function: Function) -> bool:
    """Whether pixels gain by being computed in blocks: they share what they read, or wait for
    memory together. Pixels that loop do not, nor do those that read on one side of a branch."""
    branches = [op for op in function.body.ops if op.regions]
    return not any(op.code in ("loop", "load") for branch in branches for op in within(branch))


def size(function: Function) -> int:
    """How much a pixel of the function is to compile, in additions."""
    return sum(_weight(op) for op in walk(function.body))


def _weight(op: Op) -> int:
    if op.code == "constant":
        return 0
    is_heavy = op.operands and op.operands[0].type.kind == "float"
    weight = WEIGHTS.get(cost_of(op.code), 1) if is_heavy else 1
    return weight * max([value.type.size for value in op.results], default=1)


def columns_of(task: Task, narrow: bool) -> int:
    """How many pixels along x a block has best. Where pixels are four components wide, each is read
    and written whole, and neighbours belong to neighbouring threads; so do pixels that read nothing
    near, or much far away, whose threads read close to each other then. Pixels that share words are
    written together; where buffers have `narrow` elements, that matters less than what is read."""
    loads = [op for op in task.function.body.ops if op.code == "load"]
    reads_near = any(is_near(task.function, op) for op in loads)
    reads_far = words_far(task) > FAR
    is_wide = any(format.channels == 4 for format in (*task.inputs, *task.outputs))
    alone: tuple[int, ...] = ()  # bytes of results that share words, and are written one by one
    if narrow and reads_near and reads_far:
        alone = (*NARROW, 3)
    elif narrow and loads and not reads_near:
        alone = NARROW
    shares = any(format.nbytes % 4 and format.nbytes not in alone for format in task.outputs)
    return 1 if (is_wide or reads_far or not reads_near) and not shares else COLUMNS


def words_far(task: Task, is_apart: bool = False) -> float:
    """How many words of four bytes a pixel reads at places that blocks do not share, and that
    differ by pixel; a texel is at least one. With `is_apart`, of texels around one such place one
    counts."""
    function, same = task.function, fixed(task.function)
    far = [op for op in function.body.ops if op.code == "load" and not is_near(function, op)]
    read = [(op.data.image, *op.operands) for op in far if op.data.image not in same]
    images: list[int] = [image for image, *_ in (dict.fromkeys(read) if is_apart else read)]
    return sum(max(task.inputs[image].nbytes / 4, 1) for image in images)


def shares_words(task: Task) -> bool:
    """Whether pixels of a result next to each other lie in one word."""
    return any(format.nbytes % 4 for format in task.outputs)


def block(task: Task, cut: Cut) -> Blocked:
    """The function of a block, with all loads inside their images."""
    made = _sides(task, cut)
    fast, exact = map(_reads_first, made.sides) if cut.ahead else made.sides
    if not made.reach:
        return made.blocked(fast)
    return made.blocked(_either(made.reach, made.is_clamped, fast, exact))


def rows_of_pixels(function: Function, rows: int) -> Function:
    """The function of so many pixels below one another, with all loads inside their images. Its
    results are those of the original in order, each from top to bottom."""
    pixels = _by_source_row(share_pairs(_pixels(function, 1, rows)))
    return apply(CLEAN, lower_boundary(pixels))


@record
class Halves:
    """Two functions of blocks of COLUMNS columns. `inner` is for blocks that look over no edge to
    the left or right. `edges` is for any block, and computes one pixel after the other; None where
    no block looks beyond itself. `reach` has, of each image, how far to the left and to the right
    of its first pixel a block looks.

    Where pixels beside the block `are_clamped`, `inner` serves at edges too. It does not for a
    block that is not whole in an image, nor for one that looks over the right edge of an image
    whose width is no multiple of COLUMNS. Where blocks read their own rows alone (`is_flat`),
    `inner` serves for the rows that all images have.
    """

    inner: Blocked
    edges: Blocked | None
    reach: dict[int, tuple[int, int]]
    are_clamped: bool
    is_flat: bool

    def whole(self, sizes: Sequence[tuple[int, int]], count: int, height: int) -> tuple[int, int]:
        """Of so many blocks in each of so many rows, the first for the first function and the first
        after those; `sizes` are those of images, as (width, height)."""
        first, end = 0, count
        for image, (left, right) in self.reach.items():
            width = sizes[image][0]
            if self.is_flat and sizes[image][1] < height:
                return 0, 0
            if self.are_clamped and width % COLUMNS == 0:
                end = min(end, width // COLUMNS)
            else:
                end = min(end, (width - right - 1) // COLUMNS + 1)
            if not self.are_clamped:
                first = max(first, -(-left // COLUMNS))
        return (first, end) if first < end else (0, 0)


def halves(task: Task, few: int, viewed: frozenset[int]) -> Halves:
    """The two functions of blocks of COLUMNS pixels of a row; `few` and `viewed` are a Cut's."""
    made = _sides(task, Cut(COLUMNS, 1, few, viewed, loops=True, flat=True))
    inner, edges = map(made.blocked, made.sides)
    edges_needed = edges if made.reach else None
    return Halves(inner, edges_needed, made.reach, made.is_clamped, made.is_flat)


@record
class _Sides:
    """The function of blocks that look over no edge and that of any block, and what is known of
    them: the fields of Halves. `blocked` makes a Blocked of either."""

    sides: tuple[Function, Function]
    reach: dict[int, tuple[int, int]]
    is_clamped: bool
    is_flat: bool
    blocked: Callable[[Function], Blocked]


def _sides(task: Task, cut: Cut) -> _Sides:
    columns, inputs, outputs = cut.columns, task.inputs, task.outputs
    pixels = _by_source_row(share_pairs(_pixels(task.function, columns, cut.rows)))
    reach = _reach(pixels, columns)
    own = range(columns)
    beside = [op for op in walk(pixels.body) if is_near(pixels, op) and op.data.dx not in own]
    is_clamped = is_flat = False
    if not cut.loops and _are_single(beside, inputs, cut):
        fast = lower_boundary(pixels, "x", own)
        reach = dict.fromkeys(reach, (0, columns - 1))
    else:
        is_flat = cut.flat and _is_flat(pixels)
        fast = lower_boundary(pixels, "xy" if is_flat else "x")
        is_nearest = all(op.data.boundary == "nearest" for op in beside)
        is_clamped = is_nearest and columns == COLUMNS
    exact = _one_by_one(task.function, cut) if cut.loops else lower_boundary(pixels)
    views: tuple[int, ...] = ()
    if columns == COLUMNS:
        fast, views = widen(fast, inputs, cut.few, cut.viewed, is_clamped)
        fast, exact = pack(fast, outputs, cut.rows), pack(exact, outputs, cut.rows)
    every = (*inputs, *[view_of(inputs[image]) for image in views])
    stored = tuple([view_of(format) if columns == COLUMNS else format for format in outputs])
    texels = tuple([_texels(format, columns) for format in outputs])

    def blocked(side: Function) -> Blocked:
        made = apply(CLEAN, side)
        return Blocked(made, columns, cut.rows, every, stored, texels, views)

    return _Sides((fast, exact), reach, is_clamped, is_flat, blocked)


def _texels(format: Format, columns: int) -> int:
    return columns * format.channels // 4 if columns == COLUMNS else columns


# ---------------------------------------------------------------- pixels


def _pixels(function: Function, columns: int, rows: int) -> Function:
    """The pixels of a block, computed one after the other; what they share, once."""
    gate = Gate(function)
    pixels = []
    for row in range(rows):
        for column in range(columns):
            gate.new[function.x] = gate("add", gate.x, gate.constant(INT, column))
            gate.new[function.y] = gate("add", gate.y, gate.constant(INT, row))
            gate.inline(function.body)
            pixels.append(gate.mapped(function.outputs))
    results = [value for result in zip(*pixels, strict=True) for value in result]
    return remove_dead(gate.finish(results))


def _one_by_one(function: Function, cut: Cut) -> Function:
    """The pixels of a block, all loads inside their images, computed by a loop."""
    lowered = lower_boundary(function)
    columns, count = cut.columns, cut.columns * cut.rows
    rewriter = Rewriter(lowered)
    build = rewriter.build
    results = [Value(value.type, value.name) for value in lowered.outputs for _ in range(count)]
    at = Value(INT, "k")
    body = Region((at, *results))
    with build.inside(body):
        column = build.emit("mod", at, build.constant(INT, columns))
        row = build.emit("floordiv", at, build.constant(INT, columns))
        rewriter.new[lowered.x] = build.emit("add", build.x, column)
        rewriter.new[lowered.y] = build.emit("add", build.y, row)
        rewriter.inline(lowered.body)
        following = []
        for index, result in enumerate(results):
            value = rewriter.new[lowered.outputs[index // count]]
            here = build.emit("eq", at, build.constant(INT, index % count))
            following.append(build.emit("select", here, value, result))
        after = build.emit("add", at, build.constant(INT, 1))
        goes = build.emit("lt", after, build.constant(INT, count))
        body.results = (goes, after, *following)
    zeros = [build.constant(value.type, 0) for value in results]
    types = [INT, *[value.type for value in results]]
    made = build.append("loop", [build.constant(INT, 0), *zeros], types, [body])
    return hoist(build.finish(made[1:]))


def _by_source_row(function: Function) -> Function:
    """The operations in the order of rows they wait for: each row is used up before the next."""
    last: dict[Value, int] = {}  # row that a value needs
    first = min((op.data.dy for op in function.body.ops if op.code == "load"), default=0)

    def needed(op: Op) -> int:
        row = max((last.get(value, first) for value in used_by(op)), default=first)
        if op.code == "load" and op.operands[1] is function.y:
            row = max(row, op.data.dy)
        last.update(dict.fromkeys(op.results, row))
        return row

    body = function.body
    ops = [op for _, op in sorted([(needed(op), op) for op in body.ops], key=lambda pair: pair[0])]
    ordered = Region(body.params, ops, body.results)
    return Function(function.name, function.images, function.tables, ordered)


def _reads_first(function: Function) -> Function:
    """All loads, and what their places need, before anything else."""
    needed: set[Value] = set()
    first: list[Op] = []
    rest: list[Op] = []
    for op in reversed(function.body.ops):
        is_early = op.code == "load" or not needed.isdisjoint(op.results)
        (first if is_early else rest).append(op)
        if is_early:
            needed.update(used_by(op))
    ordered = Region(function.body.params, [*first[::-1], *rest[::-1]], function.body.results)
    return Function(function.name, function.images, function.tables, ordered)


# ---------------------------------------------------------------- edges


def _reach(function: Function, columns: int) -> dict[int, tuple[int, int]]:
    """For each image read next to the block's first pixel how far at most to each side."""
    found: dict[int, tuple[int, int]] = {}
    for op in walk(function.body):
        if is_near(function, op):
            left, right = found.get(op.data.image, (0, columns - 1))
            found[op.data.image] = max(left, -op.data.dx), max(right, op.data.dx)
    return found


def _is_flat(function: Function) -> bool:
    """Whether what is read near the pixel's row is in it, and near its column too."""
    loads = [op for op in walk(function.body) if op.code == "load"]
    rows = [op for op in loads if op.operands[1] is function.y]
    return all(op.data.dy == 0 and is_near(function, op) for op in rows)


def _are_single(beside: Sequence[Op], inputs: Sequence[Format], cut: Cut) -> bool:
    """Whether each of these pixels to the left and right of the block is best a load of its own, at
    a place that is cheap to find at the image's edge too."""
    if any(op.data.boundary not in CHEAP for op in beside):
        return False
    if cut.columns == 1:
        return True
    used: dict[tuple[int, Value, int, bool], set[int]] = {}  # image, row, left: pixels
    for op in beside:
        side = (op.data.image, op.operands[1], op.data.dy, op.data.dx < 0)
        used.setdefault(side, set()).add(op.data.dx)
    formats = [inputs[op.data.image] for op in beside]
    whole = NARROW if cut.narrow else ()
    are_whole = all(each.dtype.itemsize >= 4 or each.nbytes in whole for each in formats)
    return are_whole and all(len(pixels) <= cut.few for pixels in used.values())


def _either(
    reach: dict[int, tuple[int, int]], is_clamped: bool, fast: Function, exact: Function
) -> Function:
    """`fast` where all that is read along x lies inside, or, where what lies beside the block
    `is_clamped`, where the block does and no texel of a view is over the right edge; else
    `exact`."""
    rewriter = Rewriter(fast)
    build = rewriter.build
    tests = []
    for image, (left, right) in reach.items():
        width = build.emit("width", data=image)
        end = build.emit("add", build.x, build.constant(INT, right))
        test = build.emit("lt", end, width)
        if is_clamped:
            rest = build.emit("mod", width, build.constant(INT, COLUMNS))
            whole = build.emit("eq", rest, build.constant(INT, 0))
            inside = build.emit("lt", build.x, width)
            test = build.emit("bit_or", test, build.emit("bit_and", whole, inside))
        elif left:
            tests.append(build.emit("ge", build.x, build.constant(INT, left)))
        tests.append(test)
    inside = reduce(lambda a, b: build.emit("bit_and", a, b), tests)
    sides = []
    for function in (fast, exact):
        rewriter.new.update(zip(function.body.params, build.body.params, strict=True))
        side = Region()
        with build.inside(side):
            rewriter.inline(function.body)
        side.results = tuple([rewriter.new[value] for value in function.outputs])
        sides.append(side)
    types = [value.type for value in fast.outputs]
    return build.finish(build.append("if", [inside], types, sides))
