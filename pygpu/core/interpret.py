"""Executes a function over whole images in NumPy: the living definition of the representation.

A value is an array that broadcasts to (H, W), or to (H, W, n) for a vector of n; what does not
depend on the pixel stays a scalar. Evaluation has no side effects, so an `if` evaluates the sides
that some pixel takes and selects, and a `loop` runs until no pixel wants another round.

    (result,) = run(function, [texels], [1.5], shape=(480, 640))
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.boundaries import ARRAYS, index
from pygpu.core.operations.meanings import Array
from pygpu.core.operations.ops import NUMPY_TYPE, TABLE
from pygpu.ssa import Constant, Function, Load, Op, Region, Value
from pygpu.types import Type

STRIP: Final = 1 << 16  # pixels computed at once: the values in flight stay in the cache


def run(
    function: Function,
    images: Sequence[Array],
    uniforms: Sequence[Constant],
    shape: tuple[int, int],
) -> list[Array]:
    """The outputs, each (H, W) or (H, W, n), for all pixels of shape (H, W).

    `images` are texels as functions see them: (H, W) or (H, W, C) of the NumPy types in ops.
    """
    height, width = shape
    outputs = [
        np.empty(shape if value.type.is_scalar else (*shape, value.type.size), dtype_of(value.type))
        for value in function.outputs
    ]
    interpreter = Interpreter(function, images)
    rows = max(2, STRIP // max(width, 1) & ~1)  # even: neighbours are computed together
    for top in range(0, height, rows):
        strip = range(top, min(top + rows, height))
        results = interpreter.run(parameters(function, uniforms, strip, width))
        for output, result in zip(outputs, results, strict=True):
            output[strip.start : strip.stop] = result
    return outputs


def parameters(
    function: Function, uniforms: Sequence[Constant], rows: range, width: int
) -> list[Array]:
    """What the body's parameters are in some rows of pixels."""
    x = np.arange(width, dtype=np.int32)[None, :]
    y = np.arange(rows.start, rows.stop, dtype=np.int32)[:, None]
    pairs = zip(function.uniforms, uniforms, strict=True)
    return [x, y, *(scalar(value.type, uniform) for value, uniform in pairs)]


def dtype_of(type: Type) -> type[np.generic]:
    """The NumPy type that holds the components."""
    return NUMPY_TYPE[type.kind]


def scalar(type: Type, value: Constant) -> Array:
    """A constant as an array without pixels: () or (n,)."""
    return np.array(value, dtype_of(type))


# ---------------------------------------------------------------- meanings that need the data
#
# Scalars have 0 or 2 axes and vectors 1 or 3, so an odd number of axes tells a vector.


def choose(condition: Array, first: Array, second: Array) -> Array:
    """`first` where the condition holds. A scalar condition chooses whole vectors."""
    if condition.ndim % 2 == 0 and first.ndim % 2 == 1:
        condition = condition[..., None]
    return np.where(condition, first, second)


def _element(data: None, a: Array, index: Array) -> Array:
    """The component at an index, which is clamped into the vector."""
    result = a[..., 0]
    for component in range(1, a.shape[-1]):
        result = np.where(index >= component, a[..., component], result)
    return result


def _dot(data: None, a: Array, b: Array) -> Array:
    products = a * b
    if products.ndim % 2 == 0:
        return products
    result = products[..., 0]
    for component in range(1, products.shape[-1]):
        result = result + products[..., component]
    return result


def _difference(axis: int) -> Callable[..., Array]:
    """The difference along an axis within pairs of pixels, the first of which is even."""

    def rule(data: None, a: Array) -> Array:
        if a.ndim < 2 or a.shape[axis] == 1:
            return np.zeros_like(a)
        size = a.shape[axis] // 2 * 2
        pairs = np.moveaxis(a, axis, 0)
        differences = np.zeros_like(pairs)  # a last one alone has no neighbour
        differences[:size] = np.repeat(pairs[1:size:2] - pairs[0:size:2], 2, axis=0)
        return np.moveaxis(differences, 0, axis)

    return rule


STRUCTURE: Final[dict[str, Callable[..., Array]]] = {
    "constant": lambda data: scalar(*data),
    "construct": lambda data, *components: np.stack(np.broadcast_arrays(*components), axis=-1),
    "splat": lambda size, a: np.broadcast_to(a[..., None], (*a.shape, size)),
    "swizzle": lambda data, a: a[..., data[0]] if len(data) == 1 else a[..., list(data)],
    "element": _element,
    "select": lambda data, condition, first, second: choose(condition, first, second),
    "dot": _dot,
    "ddx": _difference(1),
    "ddy": _difference(0),
    "any": lambda data, a: a.any(axis=-1) if a.ndim % 2 else a,
    "all": lambda data, a: a.all(axis=-1) if a.ndim % 2 else a,
}


# ---------------------------------------------------------------- places outside an image


def gather(data: Load, image: Array, x: Array, y: Array) -> Array:
    """image[x + dx, y + dy] with its boundary. Places are added in 64 bits: they never wrap."""
    height, width = image.shape[:2]
    x, y = x.astype(np.int64) + data.dx, y.astype(np.int64) + data.dy
    boundary = "nearest" if data.boundary == "inside" else data.boundary
    column, row = index(boundary, ARRAYS, x, width), index(boundary, ARRAYS, y, height)
    if x.ndim == y.ndim == 2 and x.shape[0] == 1 and y.shape[1] == 1:
        texels: Array = image.take(row[:, 0], axis=0).take(column[0], axis=1)  # 5 times as fast
    else:
        texels = image[row, column]
    if data.boundary != "constant":
        return texels
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return choose(inside, texels, scalar(data.type, data.outside))


def look_up(values: Array, index: Array) -> Array:
    """The element of a table at an index, which is clamped into the table."""
    result: Array = values[np.clip(index, 0, len(values) - 1)]
    return result


# ---------------------------------------------------------------- control flow


class Interpreter:
    """Runs a function's ops; `values` holds what is still to be used."""

    def __init__(self, function: Function, images: Sequence[Array]) -> None:
        self.function = function
        self.images = images
        self.values: dict[Value, Array] = {}
        self.last_used: dict[Op, list[Value]] = {}
        _last_uses(function.body, self.last_used)

    def run(self, params: Sequence[Array]) -> list[Array]:
        """The outputs in the pixels of the given parameters of the body."""
        body = self.function.body
        self.values = dict(zip(body.params, params, strict=True))
        with np.errstate(all="ignore"):
            return self.region(body, None)

    def region(self, region: Region, live: Array | None) -> list[Array]:
        """The region's results. Only pixels that are `live` (None: all) count."""
        values = self.values
        for op in region.ops:
            operands = [values[value] for value in op.operands]
            if op.regions:
                results = (self.branch if op.code == "if" else self.loop)(op, operands, live)
                values.update(zip(op.results, results, strict=True))
            else:
                values[op.results[0]] = self.compute(op, operands)
            for value in self.last_used[op]:
                del values[value]
        return [values[value] for value in region.results]

    def compute(self, op: Op, operands: list[Array]) -> Array:
        data = op.data
        match op.code:
            case "load":
                return gather(data, self.images[data.image], *operands)
            case "table":
                return look_up(self.function.tables[data.table].values, *operands)
            case "width":
                return np.int32(self.images[data].shape[1])  # type: ignore[return-value]
            case "height":
                return np.int32(self.images[data].shape[0])  # type: ignore[return-value]
            case _:
                return compute(op.code, data, operands)

    def branch(self, op: Op, operands: list[Array], live: Array | None) -> list[Array]:
        (condition,) = operands
        yes, no = op.regions
        first = condition if live is None else condition & live
        second = ~condition if live is None else ~condition & live
        if not second.any():
            return self.region(yes, live)
        if not first.any():
            return self.region(no, live)
        sides = zip(self.region(yes, first), self.region(no, second), strict=True)
        return [choose(condition, a, b) for a, b in sides]

    def loop(self, op: Op, operands: list[Array], live: Array | None) -> list[Array]:
        (body,) = op.regions
        carried = operands
        together = True  # no pixel has left before the others: nothing must be kept for any
        while True:
            self.values.update(zip(body.params, carried, strict=True))
            go, *results = self.region(body, live)
            if together:
                carried = results
            else:
                assert live is not None
                carried = [choose(live, a, b) for a, b in zip(results, carried, strict=True)]
            left = go if live is None else go & live
            if not left.any():
                return carried
            if go.ndim:
                together = together and bool(left.all())
                live = left


def compute(code: str, data: Any, operands: Sequence[Array]) -> Array:
    """The result of an operation that reads neither images nor tables."""
    meaning = TABLE[code].meaning
    return meaning(*operands) if meaning is not None else STRUCTURE[code](data, *operands)


def _last_uses(region: Region, last_used: dict[Op, list[Value]]) -> set[Value]:
    """Notes after which op each value made in the region is not used again (in the region or in
    the regions within); returns all the values that the region uses."""
    own = {*region.params, *(value for op in region.ops for value in op.results)}
    used = set(region.results)
    for op in reversed(region.ops):
        here = {*op.operands, *op.results}
        for inner in op.regions:
            here |= _last_uses(inner, last_used)
        last_used[op] = [value for value in here if value in own and value not in used]
        used |= here
    return used
