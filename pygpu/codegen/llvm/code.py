"""What an LLVM function says: lanes, arithmetic, conversions, memory.

    code = Code(machine)
    total = code.load("float", pointer) * 2.0 + row

Operators of values come here (text.py); how instructions become the body of a function is for
body.py to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pygpu.codegen.llvm.body import Body
from pygpu.codegen.llvm.text import (
    BITS,
    FLOAT_OPS,
    FLOAT_TESTS,
    FLOATING,
    INT_OPS,
    INT_TESTS,
    TRUNCATE,
    TYPES,
    UNSIGNED_TESTS,
    Val,
    lanes_text,
    suffix_text,
    type_text,
)

CACHE_LINE: Final = 64  # bytes


class Code(Body):
    """What the body of a function says: lanes, arithmetic, conversions, memory."""

    # ------------------------------------------------------------ lanes

    def splat(self, value: Val, lanes: int) -> Val:
        """A scalar in every lane; a vector as it is."""
        if value.lanes == lanes:
            return value
        assert value.lanes == 1, f"{value} where {lanes} lanes are due"
        if value.number is not None:
            return self.constant(value.kind, value.number, lanes)
        wide = type_text(value.kind, lanes)
        one = self.make(
            value.kind, f"insertelement {wide} poison, {value.type} {value.text}, i64 0", value,
            lanes=lanes,
        )  # fmt: skip
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.make(
            value.kind, f"shufflevector {wide} {one.text}, {wide} poison, {zeros}", one
        )

    def level(self, *values: Val) -> list[Val]:
        """The values with equal lanes."""
        lanes = most = values[0].lanes
        equal = True
        for value in values:
            if value.lanes != lanes:
                equal, most = False, max(most, value.lanes)
        return list(values) if equal else [self.splat(value, most) for value in values]

    def ramp(self, base: Val, lanes: int = 0) -> Val:
        """base, base + 1, base + 2, ..."""
        lanes = lanes or self.machine.lanes
        if lanes == 1:
            return base
        steps = ", ".join([f"{TYPES[base.kind]} {i}" for i in range(lanes)])
        start = self.splat(base, lanes)
        return self.make(base.kind, f"add {start.type} {start.text}, <{steps}>", start)

    def linear(self, base: Val) -> Val:
        """base, base + 1, base + 2, ..., made only where it is needed as a vector."""
        value = Val(self, base.kind, self.machine.lanes, "", base.depth)
        value.base = base
        return value

    def plain(self, value: Val) -> Val:
        """The value, made now if it was to be made later."""
        return value if value.base is None else self.ramp(value.base)

    def shuffle(self, first: Val, second: Val | None, indices: Sequence[int]) -> Val:
        if len(indices) == 1 and indices[0] < first.lanes:
            return self.lane(first, indices[0])
        other = second.text if second is not None else "poison"
        text = f"shufflevector {first.type} {first.text}, {first.type} {other}, "
        text += lanes_text(tuple(indices))
        operands = [first] if second is None else [first, second]
        return self.make(first.kind, text, *operands, lanes=len(indices))

    def lane(self, vector: Val, index: int) -> Val:
        return self.make(
            vector.kind, f"extractelement {vector.type} {vector.text}, i64 {index}", vector, lanes=1
        )

    def anywhere(self, mask: Val) -> Val:
        """Whether any lane holds, as a scalar."""
        if mask.lanes == 1:
            return mask
        bits = self.make("bool", f"bitcast {mask.type} {mask.text} to i{mask.lanes}", mask, lanes=1)
        return self.make("bool", f"icmp ne i{mask.lanes} {bits.text}, 0", bits, lanes=1)

    # ------------------------------------------------------------ arithmetic

    def binary(self, opcode: str, first: Val, second: Val | float) -> Val:
        a, b = self.level(first, self.like(first, second))
        return self.make(a.kind, f"{opcode} {a.type} {a.text}, {b.text}", a, b)

    def arithmetic(self, name: str, first: Val, second: Val | float) -> Val:
        b = self.like(first, second)
        if first.kind in FLOATING:
            return self.binary(FLOAT_OPS[name], first, b)
        if name != "mul" and (first.base is not None) != (b.base is not None):
            if first.base is not None and b.lanes == 1:
                return self.linear(self.binary(name, first.base, b))
            if b.base is not None and first.lanes == 1 and name == "add":
                return self.linear(self.binary(name, first, b.base))
        if first.number == 0 and name == "add":
            return b
        if b.number == (1 if name == "mul" else 0) and name in ("add", "sub", "mul"):
            return first
        return self.binary(INT_OPS[name], first, b)

    def negative(self, value: Val) -> Val:
        if value.kind in FLOATING:
            return self.make(value.kind, f"fneg {value.type} {value.text}", value)
        return self.like(value, 0) - value

    def compare(self, test: str, first: Val, second: Val | float) -> Val:
        a, b = self.level(first, self.like(first, second))
        if a.kind in FLOATING:
            text = f"fcmp {FLOAT_TESTS[test]}"
        else:
            unsigned = a.kind in ("bool", "byte", "short", "uint")
            text = f"icmp {(UNSIGNED_TESTS if unsigned else INT_TESTS)[test]}"
        return self.make("bool", f"{text} {a.type} {a.text}, {b.text}", a, b)

    def select(self, condition: Val, first: Val, second: Val | float) -> Val:
        other = self.like(first, second)
        if first is other:
            return first
        if condition.number is not None:
            return first if condition.number else other
        lanes = max(condition.lanes, first.lanes, other.lanes)
        a, b = self.splat(first, lanes), self.splat(other, lanes)
        text = f"select {condition.type} {condition.text}, {a.type} {a.text}, {b.type} {b.text}"
        return self.make(a.kind, text, a, b, condition)

    def minimum(self, first: Val, second: Val | float) -> Val:
        """Python's min: second where second < first, else first."""
        other = self.like(first, second)
        return self.select(other < first, other, first)

    def maximum(self, first: Val, second: Val | float) -> Val:
        other = self.like(first, second)
        return self.select(other > first, other, first)

    def clamp(self, value: Val, low: Val | float, high: Val | float) -> Val:
        """low where value is not greater (NaN too), else high where value is greater than that."""
        low, high = self.like(value, low), self.like(value, high)
        return self.minimum(self.select(value > low, value, low), high)

    def intrinsic(self, name: str, *operands: Val) -> Val:
        """A call of an LLVM intrinsic on values of one type, which is that of the result."""
        values = self.level(*operands)
        first = values[0]
        return self.call(f"llvm.{name}", first.kind, values, self.suffix(first))

    def suffix(self, value: Val) -> str:
        return suffix_text(value.kind, value.lanes)

    def multiply_add(self, a: Val, b: Val, c: Val) -> Val:
        """a * b + c of floats, rounded once where the machine can; of ints."""
        return self.fma(a, b, c) if a.kind in FLOATING else a * b + c

    def fma(self, a: Val, b: Val | float, c: Val | float) -> Val:
        """a * b + c, rounded once where the machine can, else twice."""
        b, c = self.like(a, b), self.like(a, c)
        return self.intrinsic("fma", a, b, c) if self.has_fma else a * b + c

    def sqrt(self, value: Val) -> Val:
        return self.intrinsic("sqrt", value)

    def absolute(self, value: Val) -> Val:
        if value.kind in FLOATING:
            return self.intrinsic("fabs", value)
        if value.kind == "uint":
            return value
        return self.select(value < 0, -value, value)

    def outlined(self, name: str, rule: Callable[..., Val], *operands: Val) -> Val:
        """A rule too large to repeat, of operands in as many lanes: see `apart`."""
        values = self.level(*operands)
        lanes = values[0].lanes
        (found,) = self.apart(
            f"@{name}.{lanes}",
            lambda code, *given: [code.splat(rule(code, *given), lanes)],
            *values,
        )
        return found

    # ------------------------------------------------------------ conversion

    def cast(self, opcode: str, value: Val, kind: str) -> Val:
        if value.kind == kind:
            return value
        to = type_text(kind, value.lanes)
        return self.make(kind, f"{opcode} {value.type} {value.text} to {to}", value)

    def bits(self, value: Val, kind: str) -> Val:
        return self.cast("bitcast", value, kind)

    def regroup(self, value: Val, kind: str) -> Val:
        """A vector's bits as one of more or fewer lanes of another size."""
        lanes = value.lanes * BITS[value.kind] // BITS[kind]
        text = f"bitcast {value.type} {value.text} to {type_text(kind, lanes)}"
        return self.make(kind, text, value, lanes=lanes)

    def to_float(self, value: Val, kind: str = "float") -> Val:
        if value.kind in FLOATING:
            if value.kind == kind:
                return value
            return self.cast("fpext" if BITS[kind] > BITS[value.kind] else "fptrunc", value, kind)
        return self.cast("uitofp" if value.kind in ("bool", "uint") else "sitofp", value, kind)

    def to_int(self, value: Val, kind: str = "int") -> Val:
        """Floats are truncated and saturated, NaN is 0; bools are 0 and 1."""
        if value.kind == "bool":
            return self.cast("zext", value, kind)
        if value.kind not in FLOATING:
            return self.bits(value, kind)
        if value.lanes == 1:
            names = f"i{BITS[kind]}.f{BITS[value.kind]}"
            return self.call("llvm.fptosi.sat", kind, [value], names)
        # LLVM takes the lanes of fptosi.sat one by one; x86 gives the least int for others.
        if self.machine.x86 and value.kind == "float" and value.lanes in TRUNCATE:
            whole = self.truncated(value)
        else:
            least = self.select(value > -(2.0**31), value, self.constant("float", -(2.0**31)))
            whole = self.to_int_inside(self.minimum(least, 2147483520.0))
        top = self.select(value >= 2.0**31, self.constant("int", 2**31 - 1), whole)
        made = self.select(value.eq(value), top, self.constant("int", 0))
        if value.kind == "float":
            self.whole[made.text] = self.whole.get(value.text, value)
        return made

    def to_uint(self, value: Val) -> Val:
        """Floats are truncated and saturated, NaN is 0; ints keep their bits."""
        if value.kind == "bool":
            return self.cast("zext", value, "uint")
        if value.kind not in FLOATING:
            return self.bits(value, "uint")
        # From 2**31 on floats are whole: what is above it is converted by itself.
        is_large = value >= 2.0**31
        low = self.select(value >= 1.0, value, self.constant("float", 0.0))
        rest = self.minimum(low - 2.0**31, 2147483392.0)
        high = self.bits(self.to_int_inside(rest), "uint") + 2**31
        small = self.minimum(low, 2147483520.0)
        whole = self.select(is_large, high, self.bits(self.to_int_inside(small), "uint"))
        return self.select(value >= 2.0**32, self.constant("uint", 2**32 - 1), whole)

    def truncated(self, value: Val) -> Val:
        """x86's conversion of a vector of floats to ints."""
        name = TRUNCATE[value.lanes]
        result, n = type_text("int", value.lanes), value.lanes
        if n < 16:
            self.declared[name] = f"declare {result} @{name}({value.type})"
            return self.make("int", f"call {result} @{name}({value.type} {value.text})", value)
        self.declared[name] = f"declare {result} @{name}({value.type}, {result}, i16, i32)"
        given = f"{value.type} {value.text}, {result} zeroinitializer, i16 -1, i32 4"
        return self.make("int", f"call {result} @{name}({given})", value)

    def to_int_inside(self, value: Val, kind: str = "int") -> Val:
        """Truncates floats known to lie within the ints."""
        return self.cast("fptosi", value, kind)

    def to_bool(self, value: Val) -> Val:
        return value if value.kind == "bool" else value.ne(0)

    # ------------------------------------------------------------ memory

    def at(self, pointer: Val, offset: Val | int) -> Val:
        """A pointer so many bytes on (an i64, or a vector of them or of ints)."""
        if isinstance(offset, int):
            if offset == 0:
                return pointer
            return self.make("ptr", f"getelementptr i8, ptr {pointer.text}, i64 {offset}", pointer)
        text = f"getelementptr i8, ptr {pointer.text}, {offset.type} {offset.text}"
        return self.make("ptr", text, pointer, offset, lanes=offset.lanes)

    def load(self, kind: str, pointer: Val, lanes: int = 1, align: int = 1) -> Val:
        """A load from memory that nobody writes while the function runs."""
        text = f"load {type_text(kind, lanes)}, ptr {pointer.text}, align {align}"
        return self.make(kind, text, pointer, lanes=lanes)

    def read(self, kind: str, pointer: Val, lanes: int = 1, align: int = 1) -> Val:
        """A load of what is in memory now: the function, or another thread, may change it."""
        text = f"load {type_text(kind, lanes)}, ptr {pointer.text}, align {align}"
        return self.fixed(kind, lanes, text)

    def argument(self, slot: int, kind: str) -> Val:
        """One of the 64-bit numbers that `span` is given as %args."""
        return self.load(kind, self.at(Val(self, "ptr", 1, "%args", 0), 8 * slot), 1, 8)

    def ends(self) -> tuple[Val, Val]:
        """The places x0 and x1 from which and up to which `span` runs, as longs."""
        first, end = (Val(self, "int", 1, name, 0) for name in ("%x0", "%x1"))
        return self.cast("sext", first, "long"), self.cast("sext", end, "long")

    def store(self, value: Val, pointer: Val, align: int = 1, how: str = "") -> None:
        self.line(f"store {value.type} {value.text}, ptr {pointer.text}, align {align}{how}")

    def fetch(self, pointer: Val, ahead: int, size: int, *, to_write: bool = False) -> None:
        """Bring so many bytes into the caches, those that begin so far on, which need not be
        memory of ours: what is read in order once is on its way before it is asked for. What the
        processor fetches by itself ends with each page of 4 KiB. `to_write`: as this core's own,
        so that stores need not wait for that one after the other."""
        self.declared["llvm.prefetch"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        for line in range(0, size, CACHE_LINE):
            place = self.at(pointer, ahead + line)
            self.line(
                f"call void @llvm.prefetch.p0(ptr {place.text}, i32 {int(to_write)}, i32 3, i32 1)"
            )


def floor(code: Code, value: Val) -> Val:
    """The floor of floats; below SSE4.1 only for those within the ints."""
    if code.machine.has("sse4.1"):
        return code.intrinsic("floor", value)
    whole = code.to_float(code.to_int_inside(value), value.kind)
    return whole - code.select(
        whole > value, code.constant(value.kind, 1), code.constant(value.kind, 0)
    )


def _rounded(code: Code, x: Val, name: str) -> Val:
    """A whole number near x, by an instruction, or below SSE4.1 through ints."""
    if code.machine.has("sse4.1"):
        made = code.intrinsic(name, x)
        if name in ("floor", "trunc"):
            code.whole[made.text] = x
        return made
    a = code.absolute(x)
    inside = a < 2.0**23  # others are whole, infinite or NaN
    usual = code.select(inside, x, code.constant("float", 0.0))
    if name == "rint":
        result = code.absolute(usual) + 8388608.0 - 8388608.0
    else:
        result = code.to_float(code.to_int_inside(usual))
        one, zero = code.constant("float", 1.0), code.constant("float", 0.0)
        if name == "floor":
            result = result - code.select(result > usual, one, zero)
        elif name == "ceil":
            result = result + code.select(result < usual, one, zero)
    return code.select(inside, code.intrinsic("copysign", result, x), x)


trunc, ceil, floor_32, nearest_even = (
    partial(_rounded, name=name) for name in ("trunc", "ceil", "floor", "rint")
)


# ---------------------------------------------------------------- widths and signs


def widened(code: Code, x: Val) -> Val:
    return code.to_float(x, "double")


def narrow(code: Code, x: Val) -> Val:
    return code.to_float(x, "float")


def signed(code: Code, x: Val, magnitude: Val) -> Val:
    """A double as a float with the sign of x."""
    return code.intrinsic("copysign", narrow(code, magnitude), x)


def keep_zero(code: Code, x: Val, result: Val) -> Val:
    return code.select(x.eq(0.0), x, narrow(code, result))


# ---------------------------------------------------------------- numbers to lanes and back


def vector(code: Code, parts: Sequence[Val]) -> Val:
    """A vector of numbers."""
    lanes, kind = len(parts), parts[0].kind
    made, wide = code.splat(parts[0], lanes), type_text(kind, lanes)
    for i, part in enumerate(parts):
        text = f"insertelement {wide} {made.text}, {part.type} {part.text}, i64 {i}"
        made = code.make(kind, text, made, part, lanes=lanes)
    return made


def singles(code: Code, parts: Sequence[Val]) -> list[Val]:
    """Words as a vector."""
    return [vector(code, parts)]


def pairs(code: Code, parts: Sequence[Val]) -> list[Val]:
    """The first and the second words of double words, of which four are put into two registers of
    128 bits as one instruction takes their words apart."""
    lanes = range(len(parts))
    halves = [vector(code, [parts[i] for i in lanes if i % 4 // 2 == k]) for k in (0, 1)]
    first, second = (code.regroup(half, "int") for half in halves)
    at = [i // 4 * 4 + i % 2 * 2 + i % 4 // 2 * len(parts) for i in lanes]
    return [code.shuffle(first, second, [i + k for i in at]) for k in (0, 1)]


def quads(code: Code, parts: Sequence[Val]) -> list[Val]:
    """The words of each four, transposed in registers of 128 bits."""
    while len(parts) > 4:  # the lanes four on beside each
        half, many = len(parts) // 2, range(2 * parts[0].lanes)
        parts = [code.shuffle(parts[i], parts[i + half], many) for i in range(half)]
    lanes = range(parts[0].lanes)

    def take(a: Val, b: Val, *places: int) -> Val:
        """Words of each four: those from 4 on are the other's."""
        at = [places[i % 4] for i in lanes]
        return code.shuffle(
            a, b, [i // 4 * 4 + p % 4 + p // 4 * len(lanes) for i, p in zip(lanes, at, strict=True)]
        )

    low, high = (
        [take(parts[i], parts[i + 1], *places) for i in (0, 2)]
        for places in ((0, 4, 1, 5), (2, 6, 3, 7))
    )
    return [take(a, b, *at) for a, b in (low, high) for at in ((0, 1, 4, 5), (2, 3, 6, 7))]
