"""Random functions with inputs to run them on, from a seed or from hypothesis.

case = random_case(7)                       # or @given(cases())
results = target(case.function, case.formats, case.outputs, case.storages(), ...)
case.check(results)                         # arrays (H, W), (H, W, 1) or (H, W, n)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from agreement import GRAPHICS, Accuracy, check
from pygpu.core.builder import Builder
from pygpu.core.interpret import run
from pygpu.core.operations.ops import TABLE
from pygpu.core.storage import Format, Storage, texels
from pygpu.core.verify import verify
from pygpu.ssa import BOUNDARIES, Constant, Function, ImageInput, Lookup, Region, Value, normal
from pygpu.types import BOOL, FLOAT, INT, INTEGERS, KINDS, UINT, Kind, Type, vector

Array = NDArray[Any]

DTYPES: Final = (
    "float32", "uint8", "int32", "bool", "float16", "uint16", "int16", "int8", "uint32",
)  # fmt: skip
STORED_AS: Final = {"float": "float32", "int": "int32", "uint": "uint32", "bool": "bool"}
EDGES: Final = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 0xDEADBEEF, 65535, 65536, 2654435769)


@dataclass(eq=False)
class Case:
    """A function, and what to run it on. `arrays` are (H, W, C), as they are stored."""

    function: Function
    formats: list[Format]
    arrays: list[Array]
    uniforms: list[Constant]
    shape: tuple[int, int]

    def storages(self) -> list[Storage]:
        return [Storage.of(array) for array in self.arrays]

    @cached_property
    def images(self) -> list[Array]:
        """The texels as the function sees them."""
        seen = [texels(a, f) for a, f in zip(self.arrays, self.formats, strict=True)]
        return [a[..., 0] if a.shape[-1] == 1 else a for a in seen]

    @property
    def outputs(self) -> list[Format]:
        """Formats that hold the results as they are."""
        types = [value.type for value in self.function.outputs]
        return [Format(np.dtype(STORED_AS[type.kind]), type.size) for type in types]

    def interpret(self, function: Function | None = None) -> list[Array]:
        """The results of this function, or of another one of the same inputs."""
        return run(function or self.function, self.images, self.uniforms, self.shape)

    def check(self, actual: Sequence[Array], accuracy: Accuracy = GRAPHICS) -> None:
        """Assert that a target's results agree with the interpreter's."""
        check(self.function, self.images, self.uniforms, self.shape, actual, accuracy)

    def __repr__(self) -> str:
        inputs = [f"{a.shape} {f.dtype}" for a, f in zip(self.arrays, self.formats, strict=True)]
        return f"Case(shape={self.shape}, {inputs}, {self.uniforms}):\n{self.function}"


def random_function(seed: int, size: int = 25) -> Function:
    """A verified function of about `size` operations."""
    return random_case(seed, size).function


def random_case(seed: int, size: int = 25) -> Case:
    """A verified function of about `size` operations, and inputs for it."""
    return make_case(random.Random(seed), size)


def cases(size: int = 12) -> st.SearchStrategy[Case]:
    """Cases that hypothesis can make smaller."""
    return st.randoms(use_true_random=False).map(lambda source: make_case(source, size))


def make_case(source: random.Random, size: int) -> Case:
    maker = _Maker(source)
    maker.ops(size, depth=0)
    function = verify(maker.build.finish(maker.pick_outputs()))
    generator = np.random.default_rng(source.randrange(1000))
    shape = (source.randint(1, 9), source.randint(1, 21))
    arrays = [_random_array(generator, source, format, shape) for format in maker.formats]
    uniforms = [_random_constant(source, value.type) for value in function.uniforms]
    return Case(function, maker.formats, arrays, uniforms, shape)


def _random_array(
    generator: np.random.Generator, source: random.Random, format: Format, shape: tuple[int, int]
) -> Array:
    """Texels of the output's size, or of another."""
    height, width = shape if source.random() < 0.6 else (source.randint(1, 6), source.randint(1, 6))
    size = (height, width, format.channels)
    if format.dtype.kind == "f":
        return generator.normal(0, 2, size).astype(format.dtype)
    if format.dtype.kind == "b":
        return generator.random(size) < 0.5
    if format.normalize and format.dtype.kind == "u":
        return generator.integers(0, np.iinfo(format.dtype).max, size, format.dtype, endpoint=True)
    limits = np.iinfo(format.dtype)
    if source.random() < 0.3:
        return generator.integers(limits.min, limits.max, size, format.dtype, endpoint=True)
    return generator.integers(-100 if format.dtype.kind == "i" else 0, 100, size, format.dtype)


def _random_constant(source: random.Random, type: Type) -> Constant:
    if not type.is_scalar:
        inner = vector(type.kind, 1)
        return tuple(_random_constant(source, inner) for _ in range(type.size))  # type: ignore[misc]
    if type is FLOAT:
        special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1]
        number = round(source.uniform(-4, 4), 2)
        return float(np.float32(source.choice(special) if source.random() < 0.5 else number))
    if type.kind in INTEGERS and (type is UINT or source.random() < 0.2):
        edges = source.choice(EDGES), source.randrange(2**32), source.randrange(40)
        return normal(type, source.choice(edges))
    if type is INT:
        return source.choice([0, 1, 2, -1, 3, 7, 31, 255, source.randint(-20, 20)])
    return source.random() < 0.5


# ---------------------------------------------------------------- making operations

FAR: Final = 1e9  # a domain that goes beyond it on both sides is that of all numbers
MOST: Final = 16.0  # of operands of functions that are of fewer
LEAST: Final = 0.01  # of those that are of positive ones


def _drawn(kind: Kind, arity: int) -> list[str]:
    """The operations of the table of so many operands of a kind, whose result is of that kind. Sums
    and products come up more often than others."""
    type = vector(kind, 1)
    found = [
        code
        for code, row in TABLE.items()
        if row.arity == arity and kind in row.kinds
        if not row.lowered and not row.of_neighbours
        if row.result([type] * arity, None) is type
    ]
    return found + [code for code in found if TABLE[code].symbol in ("+", "-", "*")]


def _tame(code: str) -> list[tuple[float, float] | None]:
    """What operands of a function are held between most of the time, so that it is tame; None for
    those that may be any."""
    return [
        None
        if low < -FAR and high > FAR
        else (LEAST if 0 <= low < LEAST else max(low, -MOST), min(high, MOST))
        for low, high in TABLE[code].domain
    ]


_UNARY: Final = {kind: _drawn(kind, 1) for kind in KINDS}
_BINARY: Final = {kind: _drawn(kind, 2) for kind in KINDS}
_COMPARE: Final = [code for code, row in TABLE.items() if row.is_comparison]
_TESTS: Final = [  # of floats
    code for code, row in TABLE.items() if row.kinds == ("float",) and type(row.nan) is bool
]
_CONVERT: Final = [code for code in TABLE if code.startswith("to_")]
_TAME: Final = {code: _tame(code) for code in TABLE}


class _Maker:
    """Appends random operations to a builder. `scope` has the values to choose operands from."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.formats = [self.format() for _ in range(source.randint(0, 3))]
        images = [ImageInput(f"image{i}", f.type) for i, f in enumerate(self.formats)]
        types = [self.type() for _ in range(source.randint(0, 3))]
        self.build = Builder("f", images, [(f"u{i}", type) for i, type in enumerate(types)])
        self.scope: list[Value] = list(self.build.body.params)
        self.used: set[Value] = set()
        for kind in source.sample(KINDS, source.randint(0, 2)):
            self.table(vector(kind, source.choice([1, 1, 2, 3, 4])))
        self.kinds_of_op: list[tuple[int, Callable[[int], None]]] = [
            (12, lambda depth: self.arithmetic("float")),
            (6, lambda depth: self.arithmetic("int")),
            (4, lambda depth: self.arithmetic("uint")),
            (2, lambda depth: self.comparison()),
            (1, lambda depth: self.bools()),
            (1, lambda depth: self.conversion()),
            (2, lambda depth: self.vectors()),
            (2, lambda depth: self.selection()),
            (8, lambda depth: self.load()),
            (1, lambda depth: self.look_up()),
            (2, self.branch),
            (2, self.loop),
        ]

    # -- choosing

    def format(self) -> Format:
        name = self.source.choice(DTYPES)
        channels = self.source.choice([1, 1, 2, 3, 4])
        return Format(np.dtype(name), channels, self.source.random() < 0.7)

    def type(self) -> Type:
        """Any type, scalars and floats more often."""
        kind = self.source.choice(["float", "float", "float", "int", "int", "uint", "bool", "bool"])
        return vector(kind, self.source.choice([1, 1, 1, 2, 3, 4]))  # type: ignore[arg-type]

    def value(self, type: Type) -> Value:
        """A value in scope, unused ones more often; else a constant, or made from a scalar."""
        fitting = [value for value in self.scope if value.type is type]
        if fitting and self.source.random() < 0.85:
            unused = [value for value in fitting if value not in self.used]
            value = self.source.choice(unused if unused and self.source.random() < 0.7 else fitting)
            self.used.add(value)
            return value
        if not type.is_scalar and self.source.random() < 0.4:
            return self.emit("splat", self.value(vector(type.kind, 1)), data=type.size)
        if type is FLOAT and self.source.random() < 0.4:
            return self.emit("to_float", self.value(INT))
        return self.constant(type, _random_constant(self.source, type))

    def constant(self, type: Type, value: Any) -> Value:
        return self.build.constant(type, value)

    def emit(self, code: str, *operands: Value, data: Any = None) -> Value:
        value = self.build.emit(code, *operands, data=data)
        self.used.update(operands)
        self.scope.append(value)
        return value

    def unused(self, since: int = 0) -> list[Value]:
        """Values in scope that nothing uses yet."""
        made = [value for value in self.scope[since:] if value.op is not None]
        return [value for value in made if value not in self.used]

    def pick_outputs(self) -> list[Value]:
        """One to four outputs from values that nothing uses, scalars joined into vectors, so that
        most of the function counts."""
        outputs = []
        for kind in KINDS:
            scalars = [v for v in self.unused() if v.type is vector(kind, 1)]
            for i in range(0, len(scalars), 4):
                group = scalars[i : i + 4]
                outputs.append(self.emit("construct", *group) if len(group) > 1 else group[0])
        outputs += [value for value in self.unused() if value.type.size > 1]
        outputs = list(dict.fromkeys(outputs)) or [self.value(FLOAT)]
        return self.source.sample(outputs, min(len(outputs), 4))

    # -- operations

    def ops(self, count: int, depth: int) -> None:
        weights = [
            weight if depth < 2 else weight * (i < 10)
            for i, (weight, _) in enumerate(self.kinds_of_op)
        ]
        makers = [maker for _, maker in self.kinds_of_op]
        for maker in self.source.choices(makers, weights, k=self.source.randint(count // 2, count)):
            maker(depth)

    def arithmetic(self, kind: Kind) -> None:
        type = vector(kind, self.source.choice([1, 1, 1, 2, 3, 4]))
        if self.source.random() < 0.3:
            code = self.source.choice(_UNARY[kind])
            self.emit(code, *self.tame(code, self.value(type)))
            return
        code = self.source.choice(_BINARY[kind])
        left, right = self.value(type), self.value(type)
        if code == "pow" and kind != "float":
            right = self.clamp(right, 0 if kind == "uint" else -4, 4)
        self.emit(code, *self.tame(code, left, right))

    def tame(self, code: str, *values: Value) -> list[Value]:
        if values[0].type.kind != "float" or not _TAME[code] or self.source.random() > 0.9:
            return list(values)
        pairs = zip(values, _TAME[code], strict=True)
        return [self.clamp(value, *ends) if ends else value for value, ends in pairs]

    def clamp(self, value: Value, low: float, high: float) -> Value:
        type = value.type
        ends = [
            self.constant(type, end if type.is_scalar else (end,) * type.size)
            for end in (low, high)
        ]
        return self.build.emit("min", self.build.emit("max", value, ends[0]), ends[1])

    def comparison(self) -> None:
        type = self.type()
        code = self.source.choice(_COMPARE)
        self.emit(code, self.value(type), self.value(type))
        if type.kind == "float" and self.source.random() < 0.3:
            self.emit(self.source.choice(_TESTS), self.value(type))

    def bools(self) -> None:
        type = vector("bool", self.source.choice([1, 1, 2, 3, 4]))
        code = self.source.choice(_UNARY["bool"] + _BINARY["bool"])
        self.emit(code, *[self.value(type) for _ in range(TABLE[code].arity or 0)])

    def conversion(self) -> None:
        value = self.value(self.type())
        self.emit(self.source.choice(_CONVERT), value)

    def vectors(self) -> None:
        kind = self.source.choice(["float", "float", "int", "uint", "bool"])
        scalar = vector(kind, 1)  # type: ignore[arg-type]
        size = self.source.choice([2, 3, 4])
        made = vector(scalar.kind, size)
        match self.source.randrange(4):
            case 0:
                self.emit("construct", *[self.value(scalar) for _ in range(size)])
            case 1:
                self.emit("splat", self.value(scalar), data=size)
            case 2:
                taken = [self.source.randrange(size) for _ in range(self.source.randint(1, 4))]
                self.emit("swizzle", self.value(made), data=tuple(taken))
            case _:
                self.emit("element", self.value(made), self.value(INT))

    def selection(self) -> None:
        type = self.type()
        size = type.size if self.source.random() < 0.5 else 1
        condition = self.value(vector("bool", size))
        self.emit("select", condition, self.value(type), self.value(type))

    # -- memory

    def load(self) -> None:
        if not self.build.images:
            return
        index = self.source.randrange(len(self.build.images))
        if self.source.random() < 0.1:
            self.emit(self.source.choice(["width", "height"]), data=index)
            return
        type = self.build.images[index].type
        boundary = self.source.choice(BOUNDARIES)
        inner = vector(type.kind, 1)
        cval = [_random_constant(self.source, inner) for _ in range(type.size)]
        outside: Any = tuple(cval) if boundary == "constant" else ()
        dx, dy = (self.source.choice([0, 0, 1, -1, 2, -3]) for _ in range(2))
        place = self.place(self.build.x), self.place(self.build.y)
        self.scope.append(self.build.load(index, *place, boundary, outside, dx, dy))

    def place(self, pixel: Value) -> Value:
        """A coordinate: next to the pixel, or anywhere within some thousands."""
        if self.source.random() < 0.7:
            if self.source.random() < 0.5:
                return pixel
            offset = self.constant(INT, self.source.randint(-5, 5))
            return self.build.emit(self.source.choice(["add", "sub"]), pixel, offset)
        place = self.clamp(self.value(INT), -5000, 5000)
        return self.build.emit("add", pixel, place) if self.source.random() < 0.4 else place

    def table(self, type: Type) -> None:
        generator = np.random.default_rng(self.source.randrange(1000))
        count = self.source.randint(1, 9)
        values: Array = generator.integers(
            -9, 9, (count,) if type.is_scalar else (count, type.size)
        )
        match type.kind:
            case "float":
                values = values / 2
            case "bool":
                values = values > 0
            case "uint":
                values = (values * 0x10000001).astype(np.uint32)
        self.build.add_table(f"table{len(self.build.tables)}", values)

    def look_up(self) -> None:
        if not self.build.tables:
            return
        index = self.source.randrange(len(self.build.tables))
        values = self.build.tables[index].values
        kind = {"f": "float", "i": "int", "u": "uint", "b": "bool"}[values.dtype.kind]
        type = vector(kind, values.size // len(values))  # type: ignore[arg-type]
        self.emit("table", self.value(INT), data=Lookup(index, type))

    # -- control flow

    def branch(self, depth: int) -> None:
        condition = self.value(BOOL)
        types: list[Type] = []
        regions: list[Region] = []
        for _ in range(2):
            region, before = Region(), len(self.scope)
            with self.build.inside(region):
                self.ops(4, depth + 1)
                if not regions:
                    types = [value.type for value in self.unused(before)[-2:]] or [self.type()]
                region.results = tuple([self.value(type) for type in types])
            del self.scope[before:]
            regions.append(region)
        self.scope += self.build.append("if", [condition], types, regions)

    def loop(self, depth: int) -> None:
        """Up to four rounds, counted, and perhaps left early."""
        types = [INT, *(self.type() for _ in range(self.source.randint(1, 3)))]
        initial = [self.constant(INT, 0), *(self.value(type) for type in types[1:])]
        limit: Value = self.constant(INT, self.source.randint(1, 4))
        if self.source.random() < 0.5:
            limit = self.build.emit("min", limit, self.value(INT))
        body = Region(tuple([Value(type, f"c{i}") for i, type in enumerate(types)]))
        before = len(self.scope)
        with self.build.inside(body):
            self.scope += body.params
            count = self.build.emit("add", body.params[0], self.constant(INT, 1))
            self.ops(5, depth + 1)
            go = self.build.emit("lt", count, limit)
            if self.source.random() < 0.5:
                go = self.build.emit("bit_and", go, self.value(BOOL))
            following = [self.bounded(self.value(type)) for type in types[1:]]
            body.results = (go, count, *following)
        del self.scope[before:]
        self.scope += self.build.append("loop", initial, types, [body])

    def bounded(self, value: Value) -> Value:
        """A carried float kept from growing without end."""
        if value.type.kind == "float" and self.source.random() < 0.7:
            return self.clamp(value, -50.0, 50.0)
        return value
