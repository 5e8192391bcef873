"""The intermediate representation: a function of one pixel in SSA form, with structured control.

    function = images, tables, body           body.params = x, y, then the uniforms
    region   = params, ops, results           results: what the region hands to what holds it
    op       = code, operands, data, results, regions, place

Every value is assigned once, by an op or as a parameter of a region, and is seen by the ops after
it in its region and in the regions within. There is no jump and no phi. Two ops have regions:

    if   operand: a bool. Two regions without parameters; each region's results become the op's.
    loop operands: initial values of the body's parameters. The body's results are (go, next...):
         where `go` holds, the body runs again with `next` as its parameters, else the op's results
         are `next`. So a body runs at least once, and whatever leaves a loop early is a `go` that
         does not hold; masked execution needs nothing more.

Evaluation has no side effects. A loop whose `go` never fails does not end.

A volume is read by `voxel` at x, y, z, and `plane` is the z of the pixel, until
pygpu/passes/layout/planes.py makes a function of images of it: devices know `load` alone. A signal
is an image of one row.

Printed (pygpu/core/ssa_text.py):

    function scale(photo: image float, gain: float) {
      %0 = load photo[x, y + 1] nearest
      %1 = mul %0, gain
      return %1
    }
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.boundaries import RULES
from pygpu.core.errors import Place
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.types import BOOL, Kind, Type, vector

with later():
    from pygpu.core import ssa_text

Number = bool | int | float
Constant = Number | tuple[Number, ...]

BOUNDARIES: Final = tuple(RULES)
TABLE_KINDS: Final[dict[str, Kind]] = {"f": "float", "b": "bool"}


class Call:
    """A call of a function that was walked, within the call `outer` (None: the outermost)."""

    __slots__ = ("outer",)

    def __init__(self, outer: Call | None) -> None:
        self.outer: Final = outer


class Value:
    """One value of one type. `name` is a hint from the user's variables, or empty. `call` is the
    call in which it was made (None: the outermost), kept until rounding is settled."""

    __slots__ = ("call", "name", "op", "type")

    def __init__(self, type: Type, name: str = "", op: Op | None = None) -> None:
        self.type: Final = type
        self.name = name
        self.op = op  # the op that makes it; None: a region's parameter
        self.call: Call | None = None

    def __repr__(self) -> str:
        return f"<{self.name or (self.op.code if self.op else 'parameter')}: {self.type}>"


class Op:
    """One operation. `data` is what the operation knows besides its operands, hashable."""

    __slots__ = ("code", "data", "operands", "place", "regions", "results")

    def __init__(
        self,
        code: str,
        operands: tuple[Value, ...],
        data: Any = None,
        results: Sequence[Type | Value] = (),  # values that are made before the op, or their types
        regions: tuple[Region, ...] = (),
        place: Place | None = None,
    ) -> None:
        self.code: Final = code
        self.operands: Final = operands
        self.data: Final = data
        self.regions: Final = regions
        self.place: Final = place
        if len(results) == 1 and results[0].__class__ is Value:  # what most are made with
            results[0].op = self
            self.results: Final[tuple[Value, ...]] = (results[0],)
            return
        made = tuple([each if each.__class__ is Value else Value(each) for each in results])  # type: ignore[arg-type]
        for value in made:
            value.op = self
        self.results = made  # type: ignore[misc]

    @property
    def result(self) -> Value:
        return self.results[0]

    def __repr__(self) -> str:
        return f"<{self.code} {list(self.operands)} {self.data}>"


@record(eq=False, frozen=False)
class Region:
    """Ops in order, and the values handed on at the end."""

    params: tuple[Value, ...] = ()
    ops: list[Op] = field(default_factory=list)
    results: tuple[Value, ...] = ()


def alike(values: Iterable[Value]) -> list[Value]:
    """New values of the types, names and calls of others."""
    made = []
    for value in values:
        new = Value(value.type, value.name)
        new.call = value.call
        made.append(new)
    return made


TRUE, FALSE = [Op("constant", (), (BOOL, known), (BOOL,)).result for known in (True, False)]


@record
class ImageInput:
    """An image the function reads: its name and the type of its texels as functions see them.
    An 8-bit image is float or vec; only the device knows how its texels are stored. `dims` is how
    many coordinates it has."""

    name: str
    type: Type
    dims: int = 2


@record
class Load:
    """The data of a load: image[x + dx, y + dy], x and y being the operands.

    Loads near the pixel have the function's own x and y as operands (pass `places` sees to it).
    `boundary` is one of BOUNDARIES, or "inside" where the place is known to lie in the image
    (as it is after the pass `boundary`). `cval` has a number a channel.
    """

    image: int
    type: Type
    dx: int = 0
    dy: int = 0
    boundary: str = "nearest"
    cval: tuple[Number, ...] = ()

    @property
    def outside(self) -> Constant:
        """What the boundary "constant" gives outside of the image."""
        return self.cval[0] if self.type.is_scalar else self.cval


@record
class Lookup:
    """The data of a table lookup: which table, and the type of its elements."""

    table: int
    type: Type


@record(eq=False)
class Table:
    """Constants indexed at run time: (n,) or (n, components) of float32, int32, uint32 or bool."""

    name: str
    values: NDArray[Any]


@record(eq=False, frozen=False)
class Function:
    """A whole program: what is computed for the pixel at x, y."""

    name: str
    images: tuple[ImageInput, ...]
    tables: tuple[Table, ...]
    body: Region

    @property
    def x(self) -> Value:
        return self.body.params[0]

    @property
    def y(self) -> Value:
        return self.body.params[1]

    @property
    def uniforms(self) -> tuple[Value, ...]:
        return self.body.params[2:]

    @property
    def outputs(self) -> tuple[Value, ...]:
        return self.body.results

    def __str__(self) -> str:
        return ssa_text.text(self)


_SINGLE: Final = struct.Struct("<f")  # rounds as NumPy does, and sooner


def normal(type: Type, value: Any) -> Constant:
    """A constant as its type holds it: float32, int32 and uint32 wrapped to 32 bits, bool. A number
    for a vector is meant for all its components."""
    if not type.is_scalar:
        scalar = vector(type.kind, 1)
        components = value if isinstance(value, Iterable) else (value,) * type.size
        return tuple(normal(scalar, component) for component in components)  # type: ignore[misc]
    if type.kind == "float":
        if value.__class__ is float:
            try:
                return _SINGLE.unpack(_SINGLE.pack(value))[0]  # type: ignore[no-any-return]
            except OverflowError:  # rounds to an infinity
                return math.copysign(math.inf, value)
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    if type.kind == "int":
        return (int(value) + 2**31) % 2**32 - 2**31
    if type.kind == "uint":
        return int(value) % 2**32
    return bool(value)


def only(function: Function, indices: Sequence[int]) -> Function:
    """The function with some of its outputs."""
    body = function.body
    some = Region(body.params, body.ops, tuple([body.results[index] for index in indices]))
    return Function(function.name, function.images, function.tables, some)


def visit(region: Region) -> Iterator[tuple[Op, bool]]:
    """Every op of the region and of those within: before these, and again (True) after them."""
    waiting: list[tuple[Op | None, Iterator[Op]]] = [(None, iter(region.ops))]
    while waiting:
        outer, ops = waiting[-1]
        for op in ops:
            yield op, False
            if op.regions:
                inner = chain.from_iterable(each.ops for each in op.regions)
                waiting.append((op, inner))
                break
            yield op, True
        else:
            waiting.pop()
            if outer is not None:
                yield outer, True


def walk(region: Region) -> Iterator[Op]:
    """Every op of the region and of the regions within, outer before inner, in order."""
    waiting = [iter(region.ops)]
    while waiting:
        for op in waiting[-1]:
            yield op
            if op.regions:
                waiting += [iter(inner.ops) for inner in reversed(op.regions)]
                break
        else:
            waiting.pop()


def within(op: Op) -> Iterator[Op]:
    """An op, and every op in its regions."""
    return walk(Region(ops=[op])) if op.regions else iter((op,))


def used_by(op: Op) -> Iterator[Value]:
    """What an op takes, and what ops and regions within its regions take and hand on."""
    for each in within(op):
        yield from each.operands
        for region in each.regions:
            yield from region.results


def uses(function: Function) -> Counter[Value]:
    """How often each value is an operand, or handed on by a region."""
    found = Counter(function.outputs)
    held = found.get
    for op in walk(function.body):
        for value in op.operands:
            found[value] = held(value, 0) + 1
        for region in op.regions:
            found.update(region.results)
    return found


def has(function: Function, *codes: str) -> bool:
    """Whether one of these operations is in it."""
    return any(op.code in codes for op in walk(function.body))


def is_of_volumes(function: Function) -> bool:
    """Whether a function is given volumes, or asks in which plane it is."""
    return any(image.dims == 3 for image in function.images) or has(function, "plane")


def images_read(function: Function) -> set[int]:
    """The images that the function loads texels of."""
    return {op.data.image for op in walk(function.body) if op.code == "load"}


def is_constant(value: Value) -> bool:
    return value.op is not None and value.op.code == "constant"


def constant_of(value: Value) -> Constant | None:
    """The number (or tuple of numbers) a constant holds; None for any other value."""
    return value.op.data[1] if value.op is not None and value.op.code == "constant" else None


def base_and_offset(value: Value, offset: Number = 0) -> tuple[Value, int]:
    """value + offset (ints or uints) as base + offset, where the base adds no constant itself."""
    op = value.op
    if op is not None and op.code in ("add", "sub"):
        c = constant_of(op.operands[1])
        if isinstance(c, int):
            offset += c if op.code == "add" else -c
            value = op.operands[0]
    if offset == 0:
        return value, 0
    return value, normal(vector(value.type.kind, 1), offset)  # type: ignore[return-value]
