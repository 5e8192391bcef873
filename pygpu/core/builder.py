"""Makes functions in SSA form, op by op.

build = Builder("double", images=[ImageInput("photo", FLOAT)])
texel = build.load(0, build.x, build.y)
function = build.finish([build.emit("add", texel, texel)])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import Place
from pygpu.core.operations.ops import NUMPY_TYPE, TABLE
from pygpu.ssa import (
    TABLE_KINDS,
    Call,
    Function,
    ImageInput,
    Load,
    Number,
    Op,
    Region,
    Table,
    Value,
    alike,
    normal,
)
from pygpu.types import INT, Type

# The types of results, by operation and types of operands, where nothing else decides them.
_RESULTS: Final[dict[tuple[str, tuple[Type, ...]], Type]] = {}


class Builder:
    """Appends ops to a region; regions nest.

    build = Builder("double", images=[ImageInput("photo", FLOAT)])
    texel = build.load(0, build.x, build.y)
    function = build.finish([build.emit("add", texel, texel)])
    """

    def __init__(
        self,
        name: str,
        images: Sequence[ImageInput] = (),
        uniforms: Sequence[tuple[str, Type]] = (),
    ) -> None:
        params = [("x", INT), ("y", INT), *uniforms]
        self.name = name
        self.images = list(images)
        self.tables: list[Table] = []
        self._bits: dict[Table, Any] = {}
        self.body = Region(tuple(Value(type, hint) for hint, type in params))
        self.x, self.y = self.body.params[:2]
        self.uniforms = self.body.params[2:]
        self.dims = 2  # coordinates of a position; with 1 all rows but the first are empty
        self.region = self.body
        self.place: Place | None = None
        self.count = 0  # operations emitted so far, constants apart
        self.call: Call | None = None  # of the function that is being walked

    def emit(self, code: str, *operands: Value, data: Any = None, name: str = "") -> Value:
        """Append an op of the table; its type follows from its row."""
        if len(operands) == 2:
            types: tuple[Type, ...] = (operands[0].type, operands[1].type)
        else:
            types = tuple([operand.type for operand in operands])
        type = _RESULTS.get((code, types)) if data is None else TABLE[code].result(types, data)
        if type is None:
            type = _RESULTS[code, types] = TABLE[code].result(types, None)
        value = Value(type, name)
        value.call = self.call
        self.region.ops.append(Op(code, operands, data, (value,), (), self.place))
        self.count += 1
        return value

    __call__ = emit

    def constant(self, type: Type, value: Any) -> Value:
        is_normal = type is INT and value.__class__ is int and -(2**31) <= value < 2**31
        data = (type, value if is_normal else normal(type, value))
        made = Value(type)
        self.region.ops.append(Op("constant", (), data, (made,), (), self.place))
        return made

    def load(
        self,
        image: int,
        x: Value,
        y: Value,
        boundary: str = "nearest",
        cval: tuple[Number, ...] = (),
        dx: int = 0,
        dy: int = 0,
    ) -> Value:
        data = Load(image, self.images[image].type, dx, dy, boundary, cval)
        return self.emit("load", x, y, data=data)

    def texel(
        self, image: int, place: Sequence[Value], boundary: str, cval: tuple[Number, ...]
    ) -> Value:
        """The load of a signal, image or volume at one, two or three coordinates."""
        if len(place) == 3:
            data = Load(image, self.images[image].type, 0, 0, boundary, cval)
            return self.emit("voxel", *place, data=data)
        x, *rest = place
        row = rest[0] if rest else self.y if self.dims == 1 else self.constant(INT, 0)
        return self.load(image, x, row, boundary, cval)

    def add_table(self, name: str, values: NDArray[Any]) -> int:
        """The index of a new table (or of an equal one)."""
        kind = TABLE_KINDS.get(values.dtype.kind, "int")
        if values.dtype == np.uint32:
            kind = "uint"
        values = np.ascontiguousarray(values, NUMPY_TYPE[kind])
        made = Table(name, values)
        bits = self._bits_of(made)
        for index, table in enumerate(self.tables):
            if self._bits_of(table) == bits:
                return index
        values.flags.writeable = False
        self.tables.append(made)
        return len(self.tables) - 1

    def _bits_of(self, table: Table) -> Any:
        """What a table holds, found once: many are compared with each new one."""
        if table not in self._bits:
            values = table.values
            self._bits[table] = values.shape, values.dtype, values.tobytes()
        return self._bits[table]

    def append(
        self,
        code: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        regions: Sequence[Region],
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Append an op with regions (`if` or `loop`)."""
        hints = names or ("",) * len(types)
        results = [Value(type, name) for type, name in zip(types, hints, strict=True)]
        self.take(Op(code, tuple(operands), None, results, tuple(regions), self.place))
        return tuple(results)

    def take(self, op: Op) -> None:
        """Append an op with regions that is made already."""
        for value in op.results:
            value.call = self.call
        self.region.ops.append(op)

    def again(
        self,
        op: Op,
        operands: Sequence[Value],
        regions: Sequence[Region] = (),
        results: Iterable[Value] | None = None,
        data: Any = None,
    ) -> tuple[Value, ...]:
        """Append an op like another one, of new operands and regions. Its results are like those,
        or like some of them; its data may be other."""
        made = alike(op.results if results is None else results)
        data = op.data if data is None else data
        self.region.ops.append(Op(op.code, tuple(operands), data, made, tuple(regions), op.place))
        return tuple(made)

    def inside(self, region: Region) -> _Inside:
        """`with build.inside(region):` appends to that region."""
        return _Inside(self, region)

    def finish(self, outputs: Sequence[Value]) -> Function:
        self.body.results = tuple(outputs)
        return Function(self.name, tuple(self.images), tuple(self.tables), self.body)


class _Inside:
    """Sets a builder's region for the length of a `with` block."""

    def __init__(self, builder: Builder, region: Region) -> None:
        self.builder, self.region = builder, region

    def __enter__(self) -> Region:
        self.outer = self.builder.region
        self.builder.region = self.region
        return self.region

    def __exit__(self, *error: object) -> None:
        self.builder.region = self.outer
