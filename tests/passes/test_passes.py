"""Passes keep what a function means, leave it well formed, and do what each is for."""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from agreement import Accuracy
from pygpu.core.builder import Builder
from pygpu.core.interpret import Interpreter, parameters, run
from pygpu.core.operations.meanings import Array
from pygpu.core.operations.ops import OPEN
from pygpu.core.storage import Format
from pygpu.core.verify import verify
from pygpu.passes.analysis.footprint import Footprint, footprint
from pygpu.passes.analysis.ranges import Ranges
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.fuse import fuse
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.lower.predicate import predicated
from pygpu.passes.lower.unroll import unroll
from pygpu.passes.simplify import pipeline as passes
from pygpu.passes.simplify.hoist import HELD, hoist
from pygpu.ssa import BOUNDARIES, Function, ImageInput, Lookup, Op, Region, Value, walk
from pygpu.types import BOOL, FLOAT, INT, Type, vector
from random_functions import Case, cases, random_case

VEC3 = vector("float", 3)
UNIFORMS = {"a": FLOAT, "b": FLOAT, "i": INT, "j": INT, "p": BOOL, "q": BOOL, "v": VEC3, "w": VEC3}
EXACT = Accuracy(1e-6, 0.0, ieee=True)  # a rule that multiplies instead of a power errs by an ulp


class Maker(Builder):
    """A builder with a few uniforms, by name, that reads like the printed form."""

    def __init__(self, images: Sequence[ImageInput] = ()) -> None:
        super().__init__("f", images or [ImageInput("im", FLOAT)], list(UNIFORMS.items()))
        self.named = dict(zip(UNIFORMS, self.uniforms, strict=True))

    def __getattr__(self, name: str) -> Any:
        """An operation by its name: `m.add(a, 1)`. Numbers become constants of the other's type."""
        code = name.rstrip("_")

        def emit(*operands: Any, data: Any = None) -> Value:
            like = next(o.type for o in operands[::-1] if isinstance(o, Value))
            values = [o if isinstance(o, Value) else self.constant(like, o) for o in operands]
            return self.emit(code, *values, data=data)

        return emit


Write = Callable[..., Any]


def function(write: Write) -> Function:
    """The function that `write(m, a, i, ...)` makes: uniforms, x and y are passed by name."""
    maker = Maker()
    names = write.__code__.co_varnames[1 : write.__code__.co_argcount]
    known = {**maker.named, "x": maker.x, "y": maker.y}
    outputs = write(maker, *[known[name] for name in names])
    return verify(maker.finish(outputs if isinstance(outputs, tuple) else [outputs]))


def body(function: Function) -> str:
    """The lines of a function's text between the braces, on one line."""
    lines = str(function).strip().splitlines()[1:-1]
    return "; ".join(line.strip() for line in lines)


def simplified(write: Write) -> str:
    return body(passes.simplify(function(write)))


# ---------------------------------------------------------------- rules

RULES: list[tuple[Write, str]] = [
    # vectors
    (lambda m, v: m.mul(v, m.constant(VEC3, (0.5, 0.0, 0.0))),
        "%0 = swizzle v.x; %1 = mul %0, 0.5; %2 = construct %1, 0.0, 0.0; return %2"),
    (lambda m, v, w: m.fma(v, m.constant(VEC3, (0.0, 2.0, 3.0)), w),
        "%0 = swizzle w.x; %1 = swizzle v.yz; %2 = swizzle w.yz; %3 = fma %1, vec2(2.0, 3.0), %2; "
        "%4 = swizzle %3.x; %5 = swizzle %3.y; %6 = construct %0, %4, %5; return %6"),
    (lambda m, v: m.dot(m.constant(VEC3, (0.0, 0.0, 4.0)), v),
        "%0 = swizzle v.z; %1 = mul %0, 4.0; return %1"),
    (lambda m, v: m.dot(v, m.constant(VEC3, (5.0, 0.0, 4.0))),
        "%0 = swizzle v.xz; %1 = dot %0, vec2(5.0, 4.0); return %1"),
    (lambda m, v, w: m.swizzle(m.sqrt(m.mul(v, w)), data=(2,)),
        "%0 = swizzle v.z; %1 = swizzle w.z; %2 = mul %0, %1; %3 = sqrt %2; return %3"),
    (lambda m, v, w: m.swizzle(m.abs(m.mul(v, w)), data=(2, 0)),
        "%0 = swizzle v.xz; %1 = swizzle w.xz; %2 = mul %0, %1; %3 = abs %2; "
        "%4 = swizzle %3.yx; return %4"),
    (lambda m, v, w: (m.mul(v, w), m.swizzle(m.mul(v, w), data=(0,))),
        "%0 = mul v, w; %1 = swizzle %0.x; return %0, %1"),
    # floats
    (lambda m, a: m.select(m.gt(a, 0.0), a, 0.0), "%0 = max 0.0, a; return %0"),
    (lambda m, a: m.select(m.lt(a, 1.0), 1.0, a), "%0 = max a, 1.0; return %0"),
    (lambda m, a: m.select(m.gt(a, 0.0), a, -0.0),
        "%0 = gt a, 0.0; %1 = select %0, a, -0.0; return %1"),
    (lambda m, a: m.add(a, 0.0), "return a"),
    (lambda m, a: m.add(-0.0, a), "return a"),
    (lambda m, a: m.sub(a, 0.0), "return a"),
    (lambda m, a: m.sub(0.0, a), "%0 = neg a; return %0"),
    (lambda m, a: m.mul(a, 1.0), "return a"),
    (lambda m, a: m.mul(a, -1.0), "%0 = neg a; return %0"),
    (lambda m, a: m.mul(a, 0.0), "return 0.0"),
    (lambda m, a, b: m.add(b, m.mul(0.0, a)), "return b"),
    (lambda m, a, b: m.add(a, m.neg(b)), "%0 = sub a, b; return %0"),
    (lambda m, a, b: m.add(m.neg(a), b), "%0 = sub b, a; return %0"),
    (lambda m, a, b: m.sub(a, m.neg(b)), "%0 = add a, b; return %0"),
    (lambda m, a: m.neg(m.neg(a)), "return a"),
    (lambda m, a, b: m.neg(m.sub(a, b)), "%0 = sub b, a; return %0"),
    (lambda m, a: m.neg(m.mul(a, 3.0)), "%0 = mul a, -3.0; return %0"),
    (lambda m, a: m.mul(m.neg(a), 3.0), "%0 = mul a, -3.0; return %0"),
    (lambda m, a, b: m.mul(m.neg(a), m.neg(b)), "%0 = mul a, b; return %0"),
    (lambda m, a: m.sub(a, a), "%0 = sub a, a; return %0"),  # NaN, infinity
    (lambda m, a: m.add(m.add(a, 1.0), 2.0), "%0 = add a, 1.0; %1 = add %0, 2.0; return %1"),
    (lambda m, a: m.div(a, 1.0), "return a"),
    (lambda m, a: m.div(a, 4.0), "%0 = mul a, 0.25; return %0"),
    (lambda m, a: m.div(a, -1.0), "%0 = neg a; return %0"),
    (lambda m, a: m.div(a, 3.0), "%0 = div a, 3.0; return %0"),
    (lambda m, a: m.pow(a, 0.0), "return 1.0"),
    (lambda m, a: m.pow(a, 1.0), "return a"),
    (lambda m, a: m.pow(a, 2.0), "%0 = mul a, a; return %0"),
    (lambda m, a: m.pow(a, 3.0), "%0 = mul a, a; %1 = mul %0, a; return %1"),
    (lambda m, a: m.pow(a, 4.0), "%0 = mul a, a; %1 = mul %0, %0; return %1"),
    (lambda m, a: m.pow(a, -1.0), "%0 = div 1.0, a; return %0"),
    (lambda m, a: m.pow(a, 0.5), "%0 = pow a, 0.5; return %0"),  # of -infinity it is infinity
    (lambda m, a: m.pow(m.mul(a, a), 0.5), "%0 = mul a, a; %1 = sqrt %0; return %1"),
    (lambda m, a: m.pow(2.0, a), "%0 = exp2 a; return %0"),
    (lambda m, a: m.abs(m.neg(a)), "%0 = abs a; return %0"),
    (lambda m, a: m.min(a, a), "return a"),
    (lambda m, a: m.min(m.min(a, 3.0), 2.0), "%0 = min a, 2.0; return %0"),
    (lambda m, a: m.min(2.0, a), "%0 = min 2.0, a; return %0"),  # NaN: 2.0, and not the other way
    (lambda m, a: m.floor(m.round(a)), "%0 = round a; return %0"),
    (lambda m, a: m.to_int(m.trunc(a)), "%0 = to_int a; return %0"),
    (lambda m, i: m.floor(m.to_float(i)), "%0 = to_float i; return %0"),
    # ints
    (lambda m, i: m.add(m.sub(m.add(i, 1), 3), 1), "%0 = sub i, 1; return %0"),
    (lambda m, i: m.sub(m.add(i, 3), 3), "return i"),
    (lambda m, i: m.sub(i, i), "return 0"),
    (lambda m, i: m.mul(m.mul(i, 3), 5), "%0 = mul i, 15; return %0"),
    (lambda m, i: m.floordiv(i, 8), "%0 = shr i, 3; return %0"),
    (lambda m, i: m.mod(i, 8), "%0 = bit_and i, 7; return %0"),
    (lambda m, i: m.mod(i, 1), "return 0"),
    (lambda m, i: m.floordiv(i, 0), "return 0"),
    (lambda m, i: m.pow(i, 2), "%0 = mul i, i; return %0"),
    (lambda m, i: m.bit_and(i, -1), "return i"),
    (lambda m, i: m.bit_or(i, -1), "return -1"),
    (lambda m, i: m.bit_xor(i, -1), "%0 = bit_not i; return %0"),
    (lambda m, i: m.bit_xor(i, i), "return 0"),
    (lambda m, i: m.shl(i, 0), "return i"),
    (lambda m, i: m.min(5, m.min(3, i)), "%0 = min i, 3; return %0"),
    (lambda m, i: m.to_int(i), "return i"),
    # bools and comparisons
    (lambda m, p: m.not_(m.not_(p)), "return p"),
    (lambda m, p: m.bit_and(p, True), "return p"),
    (lambda m, p: m.bit_and(False, p), "return false"),
    (lambda m, p: m.bit_or(p, True), "return true"),
    (lambda m, p: m.bit_xor(p, True), "%0 = not p; return %0"),
    (lambda m, p: m.eq(p, False), "%0 = not p; return %0"),
    (lambda m, p: m.to_bool(m.to_float(m.to_int(p))), "return p"),
    (lambda m, i: m.lt(i, i), "return false"),
    (lambda m, a: m.eq(a, a), "%0 = eq a, a; return %0"),  # NaN
    (lambda m, a: m.lt(0.0, a), "%0 = gt a, 0.0; return %0"),
    (lambda m, i, j: m.not_(m.lt(i, j)), "%0 = ge i, j; return %0"),
    (lambda m, a, b: m.not_(m.lt(a, b)), "%0 = lt a, b; %1 = not %0; return %1"),  # NaN
    (lambda m, a, b: m.not_(m.eq(a, b)), "%0 = ne a, b; return %0"),
    # choice
    (lambda m, p, a: m.select(p, a, a), "return a"),
    (lambda m, p, a, b: m.select(m.not_(p), a, b), "%0 = select p, b, a; return %0"),
    (lambda m, p, a, b: m.select(p, m.select(p, a, b), b), "%0 = select p, a, b; return %0"),
    (lambda m, p, q: m.select(p, True, q), "%0 = bit_or p, q; return %0"),
    (lambda m, p, q: m.select(p, q, m.constant(BOOL, False)), "%0 = bit_and p, q; return %0"),
    (
        lambda m, p, q, a, b: m.select(p, m.select(q, a, b), b),
        "%0 = bit_and p, q; %1 = select %0, a, b; return %1",
    ),
    (
        lambda m, p, q, a, b: m.select(p, a, m.select(q, a, b)),
        "%0 = bit_or p, q; %1 = select %0, a, b; return %1",
    ),
    (
        lambda m, p, i, j: m.not_(m.bit_or(m.not_(p), m.ge(i, j))),
        "%0 = lt i, j; %1 = bit_and p, %0; return %1",
    ),
    # vectors
    (lambda m, v: m.swizzle(v, data=(0, 1, 2)), "return v"),
    (lambda m, v: m.swizzle(m.swizzle(v, data=(2, 0)), data=(1,)), "%0 = swizzle v.x; return %0"),
    (lambda m, a, b: m.swizzle(m.construct(a, b), data=(1,)), "return b"),
    (lambda m, a: m.construct(a, a), "%0 = splat a; return %0"),
    (
        lambda m, v: m.construct(m.swizzle(v, data=(1,)), m.swizzle(v, data=(0,))),
        "%0 = swizzle v.yx; return %0",
    ),
    (lambda m, v: m.element(v, m.constant(INT, 9)), "%0 = swizzle v.z; return %0"),
    (lambda m, a: m.mul(m.splat(a, data=2), (2, 2)), "%0 = mul a, 2.0; %1 = splat %0; return %1"),
    (lambda m, p, q: m.all(m.construct(p, q)), "%0 = bit_and p, q; return %0"),
    (lambda m, v: m.mul(v, (0, 0, 0)), "return vec3(0.0, 0.0, 0.0)"),
    # choice
    (
        lambda m, a, b, p: m.select(p, m.add(b, a), a),
        "%0 = select p, b, 0.0; %1 = add a, %0; return %1",
    ),
    (
        lambda m, a, b, p: m.select(p, m.min(a, b), a),
        "%0 = select p, b, inf; %1 = min a, %0; return %1",
    ),
    (  # a NaN in a would be lost
        lambda m, a, b, p: m.select(p, m.min(b, a), a),
        "%0 = min b, a; %1 = select p, %0, a; return %1",
    ),
    (  # fused
        lambda m, a, b, p: m.select(p, m.add(a, m.mul(b, b)), a),
        "%0 = mul b, b; %1 = add a, %0; %2 = select p, %1, a; return %2",
    ),
    (  # an index is wrapped
        lambda m, i: m.select(m.lt(i, 0), m.add(i, 9), i),
        "%0 = lt i, 0; %1 = add i, 9; %2 = select %0, %1, i; return %2",
    ),
    (  # an item is stored where it was looked up
        lambda m, a, b, i: m.select(m.eq(i, 1), m.add(m.select(m.eq(i, 1), b, a), 2.0), b),
        "%0 = eq i, 1; %1 = select %0, 2.0, 0.0; %2 = add b, %1; return %2",
    ),
    # constants
    (lambda m, a: m.mul(m.add(m.constant(FLOAT, 2.0), 1.0), a), "%0 = mul a, 3.0; return %0"),
    (lambda m, i: m.add(i, m.mul(m.constant(INT, 2**30), 4)), "return i"),
    (
        lambda m, a: m.fma(m.constant(FLOAT, 1.5), m.constant(FLOAT, 3.0), a),
        "%0 = fma 1.5, 3.0, a; return %0",
    ),
    # sharing
    (lambda m, a, b: m.sub(m.mul(a, b), m.mul(b, a)), "%0 = mul a, b; %1 = sub %0, %0; return %1"),
]  # fmt: skip


@pytest.mark.parametrize(("write", "expected"), RULES, ids=[text for _, text in RULES])
def test_a_rule_simplifies(write: Write, expected: str) -> None:
    assert simplified(write) == expected


def test_zeros_of_either_sign_are_told_apart() -> None:
    def write(m: Maker, a: Value) -> Any:
        return m.copysign(a, 0.0), m.copysign(a, -0.0)

    assert simplified(write) == "%0 = copysign a, 0.0; %1 = copysign a, -0.0; return %0, %1"


def test_a_table_is_read_at_a_constant_index() -> None:
    def write(m: Maker) -> Any:
        table = m.add_table("t", np.array([1.5, 2.5]))
        return m.emit("table", m.constant(INT, 7), data=Lookup(table, FLOAT))

    assert simplified(write) == "table t: [2] float32; return 2.5"


# ---------------------------------------------------------------- loads


def test_constants_in_places_become_offsets() -> None:
    def write(m: Maker, x: Value, y: Value, i: Value) -> Any:
        far = m.add(m.sub(m.add(y, i), 2), 1)
        return m.load(0, m.sub(m.add(1, x), 4), far, dx=1)

    assert simplified(write) == "%0 = add y, i; %1 = load im[x - 2, %0 - 1] nearest; return %1"


def test_an_offset_inside_a_sum_is_found() -> None:
    def write(m: Maker, x: Value, y: Value, i: Value) -> Any:
        return m.load(0, m.add(x, m.sub(i, 3)), m.sub(y, m.add(i, 2)))

    expected = "%0 = add x, i; %1 = sub y, i; %2 = load im[%0 - 3, %1 - 2] nearest; return %2"
    assert simplified(write) == expected


def test_whole_places_as_floats_become_offsets() -> None:
    def write(m: Maker, x: Value, y: Value, a: Value) -> Any:
        across = m.emit("floor", m.add(m.add(m.emit("to_float", x), -1.0), 0.5))
        down = m.emit("to_float", m.mul(y, 2))
        whole = m.load(0, m.emit("to_int", across), m.emit("to_int", m.sub(down, 3.0)))
        moved = m.emit("to_int", m.emit("floor", m.add(m.emit("to_float", x), a)))
        return m.add(whole, m.load(0, moved, m.emit("to_int", m.add(down, 0.5))))

    expected = """
        %0 = to_float x; %1 = mul y, 2; %2 = to_float %1; %3 = load im[x - 1, %1 - 3] nearest;
        %4 = add %0, a; %5 = floor %4; %6 = to_int %5; %7 = add %2, 0.5; %8 = to_int %7;
        %9 = load im[%6, %8] nearest; %10 = add %3, %9; return %10"""
    assert simplified(write) == " ".join(expected.split())


def test_distances_between_places_are_known() -> None:
    def write(m: Maker, x: Value, y: Value) -> Any:
        place = m.sub(m.add(m.emit("to_float", x), 1.75), 4.0)
        low = m.emit("floor", place)
        far = m.add(place, 2.0**21)
        return m.sub(place, low), m.sub(low, place), m.sub(far, place), m.emit("floor", low)

    expected = """
        %0 = to_float x; %1 = add %0, 1.75; %2 = sub %1, 4.0; %3 = add %0, -3.0;
        %4 = add %2, 2.097152e+06; %5 = sub %4, %2; return 0.75, -0.75, %5, %3"""
    assert simplified(write) == " ".join(expected.split())


def test_equal_taps_are_loaded_once() -> None:
    def write(m: Maker, x: Value, y: Value) -> Any:
        first = m.load(0, m.add(x, 1), y)
        return m.add(first, m.load(0, m.sub(m.add(x, 2), 1), y))

    assert simplified(write) == "%0 = load im[x + 1, y] nearest; %1 = add %0, %0; return %1"


def test_loads_with_other_boundaries_stay_apart() -> None:
    def write(m: Maker, x: Value, y: Value) -> Any:
        return tuple(m.load(0, x, y, "constant", (c,)) for c in (0.0, -0.0, 1.0))

    assert simplified(write).count("load") == 3


# ---------------------------------------------------------------- control flow


def branch(m: Maker, condition: Value, *sides: Callable[[], Sequence[Value]]) -> tuple[Value, ...]:
    regions = []
    for side in sides:
        region = Region()
        with m.inside(region):
            region.results = tuple(side())
        regions.append(region)
    types = [value.type for value in regions[0].results]
    return m.append("if", [condition], types, regions)


def loop(
    m: Maker, initial: Sequence[Value], round: Callable[..., Sequence[Value]]
) -> tuple[Value, ...]:
    region = Region(tuple([Value(value.type, f"c{i}") for i, value in enumerate(initial)]))
    with m.inside(region):
        region.results = tuple(round(*region.params))
    return m.append("loop", initial, [value.type for value in initial], [region])


def test_a_known_condition_takes_its_side() -> None:
    def write(m: Maker, a: Value, b: Value) -> Any:
        return branch(m, m.constant(BOOL, False), lambda: [m.exp(a)], lambda: [m.log(b)])

    assert simplified(write) == "%0 = log b; return %0"


def test_a_condition_is_known_in_its_sides() -> None:
    def write(m: Maker, p: Value, a: Value) -> Any:
        return branch(
            m, m.not_(p), lambda: [m.exp(m.select(p, a, 1.0))], lambda: [m.log(m.to_float(p))]
        )

    assert simplified(write) == "%0 = select p, 0.0, 2.7182817; return %0"


def test_a_small_branch_becomes_a_select() -> None:
    def write(m: Maker, p: Value, a: Value) -> Any:
        return branch(m, p, lambda: [m.neg(a)], lambda: [a])

    assert simplified(write) == "%0 = neg a; %1 = select p, %0, a; return %1"


def test_a_branch_around_a_load_stays() -> None:
    def write(m: Maker, p: Value, a: Value, x: Value, y: Value) -> Any:
        return branch(m, p, lambda: [m.load(0, x, y)], lambda: [a])

    expected = "%1 = if p {; %0 = load im[x, y] nearest; yield %0; } else {; yield a; }; return %1"
    assert simplified(write) == expected


@pytest.mark.parametrize("kind", [FLOAT, INT])
@pytest.mark.parametrize("test", ["gt", "lt", "ge", "le"])
@pytest.mark.parametrize("is_crossed", [False, True])
def test_a_choice_of_what_is_compared_is_an_extreme(
    kind: Type, test: str, is_crossed: bool
) -> None:
    """To the bit: where they are equal, or NaN, the first of min and max is kept."""
    build = Builder("chosen", [ImageInput("a", kind), ImageInput("b", kind)])
    a, b = [build.load(k, build.x, build.y) for k in range(2)]
    sides = (b, a) if is_crossed else (a, b)
    plain = build.finish([build.emit("select", build.emit(test, a, b), *sides)])
    made = passes.simplify(plain)
    extreme = ["max" if (test in ("gt", "ge")) != is_crossed else "min"]
    is_exact = kind is INT or test in ("gt", "lt")
    codes = [op.code for op in made.body.ops if op.code != "load"]
    assert codes == (extreme if is_exact else [test, "select"])
    numbers = [-3, 0, 2] if kind is INT else [-1.5, -0.0, 0.0, 2.0, np.nan, np.inf]
    pairs = np.array(list(itertools.product(numbers, repeat=2)), f"{kind.kind}32")
    given = [column[None] for column in np.ascontiguousarray(pairs.T)]
    (whole,), (chosen,) = [run(each, given, [], (1, len(pairs))) for each in (plain, made)]
    np.testing.assert_array_equal(whole.view("int32"), chosen.view("int32"))


def test_nested_branches_become_selects_from_the_inside() -> None:
    def write(m: Maker, p: Value, q: Value, a: Value, b: Value) -> Any:
        def inner() -> Sequence[Value]:
            return branch(m, q, lambda: [b], lambda: [m.neg(b)])

        return branch(m, p, inner, lambda: [a])

    expected = "%0 = neg b; %1 = select q, b, %0; %2 = select p, %1, a; return %2"
    assert simplified(write) == expected


def test_what_both_sides_compute_is_computed_before() -> None:
    def write(m: Maker, p: Value, a: Value, x: Value, y: Value) -> Any:
        def side(code: str) -> Callable[[], Sequence[Value]]:
            return lambda: [m.emit(code, m.mul(m.load(0, x, y), a), a)]

        return branch(m, p, side("add"), side("sub"))

    assert simplified(write) == (
        "%0 = load im[x, y] nearest; %1 = mul %0, a; %2 = add %1, a; %3 = sub %1, a; "
        "%4 = select p, %2, %3; return %4"
    )


def test_what_both_sides_hand_on_needs_no_branch() -> None:
    def write(m: Maker, p: Value, a: Value, b: Value, x: Value, y: Value) -> Any:
        return branch(m, p, lambda: [b, m.load(0, x, y)], lambda: [b, a])[0]

    assert simplified(write) == "return b"


def test_unused_results_are_removed() -> None:
    def write(m: Maker, p: Value, a: Value, x: Value, y: Value) -> Any:
        def side() -> Sequence[Value]:
            return [m.exp(a), m.load(0, x, y), m.sin(a)]

        return branch(m, p, side, lambda: [a, a, a])[1]

    expected = "%1 = if p {; %0 = load im[x, y] nearest; yield %0; } else {; yield a; }; return %1"
    assert simplified(write) == expected


def test_values_that_serve_only_themselves_leave_a_loop() -> None:
    def write(m: Maker, i: Value, a: Value) -> Any:
        def round(n: Value, waste: Value, total: Value) -> Sequence[Value]:
            n = m.add(n, 1)
            return m.lt(n, i), n, m.mul(waste, 2.0), m.mul(total, a)

        zero, one = m.constant(INT, 0), m.constant(FLOAT, 1.0)
        return loop(m, [zero, one, one], round)[2]

    assert simplified(write) == (
        "%3, %4 = loop (c0 = 0, c2 = 1.0) {; %0 = add c0, 1; %1 = lt %0, i; %2 = mul c2, a; "
        "next %1, %0, %2; }; return %4"
    )


def test_a_loop_whose_results_are_unused_is_removed() -> None:
    def write(m: Maker, i: Value, a: Value) -> Any:
        loop(m, [i], lambda n: (m.constant(BOOL, True), n))
        return a

    assert simplified(write) == "return a"


def test_carried_values_that_never_change_are_not_carried() -> None:
    def write(m: Maker, i: Value, a: Value) -> Any:
        def round(n: Value, same: Value, other: Value) -> Sequence[Value]:
            n = m.add(n, 1)
            return m.lt(n, i), n, same, m.sin(m.mul(other, same))

        return loop(m, [m.constant(INT, 0), a, a], round)[1:]

    text = simplified(write)
    assert "loop (c0 = 0, c2 = a)" in text
    assert "mul c2, a" in text
    assert text.endswith("return a, %5")


def test_equal_counters_are_one() -> None:
    def write(m: Maker, i: Value) -> Any:
        def round(n: Value, k: Value) -> Sequence[Value]:
            n, k = m.add(n, 1), m.add(k, 1)
            return m.lt(n, i), n, k

        zero = m.constant(INT, 0)
        n, k = loop(m, [zero, zero], round)
        return m.mul(n, k)

    text = simplified(write)
    assert "loop (c0 = 0) {" in text
    assert text.endswith("%3 = mul %2, %2; return %3")


def test_a_loop_that_never_goes_on_is_its_body() -> None:
    def write(m: Maker, a: Value) -> Any:
        return loop(m, [a], lambda c: (m.constant(BOOL, False), m.exp(c)))

    assert simplified(write) == "%0 = exp a; return %0"


def test_what_is_the_same_in_every_round_is_computed_before() -> None:
    def write(m: Maker, i: Value, a: Value, x: Value, y: Value) -> Any:
        def inner(k: Value, total: Value) -> Sequence[Value]:
            k = m.add(k, 1)
            return m.lt(k, 9), k, m.add(total, m.mul(m.load(0, x, y), m.exp(a)))

        def outer(n: Value, total: Value) -> Sequence[Value]:
            n = m.add(n, 1)
            return m.lt(n, i), n, loop(m, [n, total], inner)[1]

        return loop(m, [m.constant(INT, 0), a], outer)[1]

    lines = simplified(write).split("; ")
    first = next(number for number, line in enumerate(lines) if "loop" in line)
    assert [line.split("= ")[1] for line in lines[:first]] == [
        "load im[x, y] nearest",
        "exp a",
        "mul %0, %1",
    ]


# ---------------------------------------------------------------- properties

EACH: list[passes.Pass] = [*passes.CLEAN, *passes.RESTRUCTURE]
DEVICE: list[passes.Pass] = [lower_boundary, fuse, predicated, unroll]


@pytest.mark.parametrize("each", EACH + DEVICE, ids=lambda each: each.__name__)
@given(case=cases())
@settings(max_examples=60)
def test_each_pass_keeps_the_meaning(each: passes.Pass, case: Case) -> None:
    before = str(case.function)
    case.check(case.interpret(verify(each(case.function))), EXACT)
    assert str(case.function) == before
    tidy = passes.apply(passes.CLEAN, case.function)
    case.check(case.interpret(verify(each(tidy))), EXACT)


def test_simplifying_keeps_the_meaning() -> None:
    for seed in range(150):
        case = random_case(seed)
        case.check(case.interpret(passes.simplify(case.function)), EXACT)


def test_simplifying_twice_is_simplifying_once() -> None:
    for seed in range(150):
        once = passes.simplify(random_case(seed).function)
        assert str(passes.simplify(once)) == str(once)


# ---------------------------------------------------------------- boundaries

PAD = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap",
       "constant": "constant"}  # fmt: skip


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (2, 1), (3, 4)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_lowered_boundaries_are_exact(boundary: str, size: tuple[int, int], dynamic: bool) -> None:
    reach = 11
    image = np.random.default_rng(0).normal(size=size).astype(np.float32)
    build = Builder("f", [ImageInput("im", FLOAT)], [("zero", INT)])
    x, y = (
        (build.emit("add", v, build.uniforms[0]) for v in (build.x, build.y))
        if dynamic
        else (build.x, build.y)
    )
    cval = (0.25,) if boundary == "constant" else ()
    load = build.load(0, x, y, boundary, cval, -reach, -reach)
    lowered = verify(lower_boundary(build.finish([load])))
    shape = (size[0] + 2 * reach, size[1] + 2 * reach)
    (result,) = run(lowered, [image], [0], shape)
    extra = {"constant_values": 0.25} if boundary == "constant" else {}
    assert np.array_equal(result, np.pad(image, reach, PAD[boundary], **extra))  # type: ignore[call-overload]


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_lowered_boundaries_do_not_overflow(boundary: str) -> None:
    image = np.arange(35, dtype=np.int32).reshape(5, 7)
    places = [-(2**31), -(2**31) + 3, -1, 0, 6, 2**31 - 4, 2**31 - 1]
    build = Builder("f", [ImageInput("im", INT)], [("x0", INT), ("y0", INT)])
    cval = (-1,) if boundary == "constant" else ()
    x0, y0 = build.uniforms
    loads = [build.load(0, x0, y0, boundary, cval, d, -d) for d in (0, 5, -5)]
    function = build.finish(loads)
    lowered = verify(lower_boundary(function))
    for x in places:
        for y in places:
            assert run(lowered, [image], [x, y], (1, 1)) == run(function, [image], [x, y], (1, 1))


def test_places_known_inside_stay_as_they_are() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])
    function = build.finish([build.load(0, build.x, build.y, "wrap", (), 1, -1)])
    assert body(lower_boundary(function, "xy")) == "%0 = load im[x + 1, y - 1] inside; return %0"
    assert "load im[x + 1, %2] inside" in body(lower_boundary(function, "x"))


# ---------------------------------------------------------------- footprints


def test_a_footprint_covers_offsets() -> None:
    build = Builder("f", [ImageInput("im", FLOAT), ImageInput("other", FLOAT)])
    build.load(0, build.x, build.y, dx=-2, dy=1)
    build.load(0, build.emit("add", build.x, build.constant(INT, 3)), build.y)
    assert footprint(build.finish([])) == [Footprint(2, 3, 0, 1), Footprint()]


def test_a_footprint_covers_offsets_from_tables_and_counters() -> None:
    def write(m: Maker, x: Value, y: Value, a: Value) -> Any:
        table = m.add_table("t", np.array([3, -1, 2]))

        def round(n: Value, total: Value) -> Sequence[Value]:
            dx = m.emit("table", n, data=Lookup(table, INT))
            texel = m.load(0, m.add(x, dx), m.add(y, m.sub(n, 1)))
            n = m.add(n, 1)
            return m.lt(n, 3), n, m.add(total, texel)

        return loop(m, [m.constant(INT, 0), a], round)[1]

    assert footprint(function(write)) == [Footprint(1, 3, 1, 1)]


def test_a_clamped_offset_has_a_footprint() -> None:
    def write(m: Maker, x: Value, y: Value, i: Value) -> Any:
        return m.load(0, m.add(x, m.max(m.min(i, 4), -2)), m.sub(y, m.mod(i, 5)))

    assert footprint(function(write)) == [Footprint(2, 4, 4, 0)]


def test_a_place_anywhere_has_no_footprint() -> None:
    def write(m: Maker, x: Value, y: Value, i: Value) -> Any:
        return m.load(0, m.add(x, i), y), m.load(0, y, x)

    assert footprint(function(write)) == [None]


class Watching(Interpreter):
    """Notes how far from the pixel loads are."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.function, case.images)
        self.x, self.y, *_ = parameters(
            case.function, case.uniforms, range(case.shape[0]), case.shape[1]
        )
        self.live: Array | None = None
        self.seen: dict[int, Footprint] = {}

    def region(self, region: Region, live: Array | None) -> list[Array]:
        before, self.live = self.live, live
        results = super().region(region, live)
        self.live = before
        return results

    def compute(self, op: Op, operands: list[Array]) -> Array:
        if op.code == "load":
            live = np.broadcast_to(
                True if self.live is None else self.live, (self.y.size, self.x.size)
            )
            dx = (operands[0].astype(np.int64) + op.data.dx - self.x + 0 * self.y)[live]
            dy = (operands[1].astype(np.int64) + op.data.dy - self.y + 0 * self.x)[live]
            if live.any():
                here = Footprint(*map(int, (-dx.min(), dx.max(), -dy.min(), dy.max())))
                before = self.seen.get(op.data.image, Footprint())
                self.seen[op.data.image] = before.joined(here)
        return super().compute(op, operands)


def test_no_load_is_outside_its_footprint() -> None:
    for seed in range(200):
        case = random_case(seed)
        watching = Watching(case)
        height, width = case.shape
        watching.run(parameters(case.function, case.uniforms, range(height), width))
        for bound, image in zip(footprint(case.function), range(len(case.images)), strict=True):
            seen = watching.seen.get(image, Footprint())
            assert bound is None or bound.joined(seen) == bound, case


# ---------------------------------------------------------------- NaN


def test_the_greatest_less_the_least_is_not_negative() -> None:
    build = Builder("range", [ImageInput("im", FLOAT)])
    a, b, c = (build.load(0, build.x, build.y, dx=dx) for dx in range(3))
    greatest = build.emit("max", build.emit("max", a, b), c)
    least, other = build.emit("min", c, a), build.emit("min", a, b)
    apart, less = build.emit("sub", greatest, least), build.emit("sub", least, greatest)
    unlike = build.emit("sub", c, other)
    function = build.finish([apart, less, unlike])
    ranges = Ranges(function, [Format(np.dtype("uint8"), 1)])
    assert [ranges.bounds(value) for value in (apart, less, unlike)] == [(0, 1), (-1, 1), (-1, 1)]
    floats = Ranges(function, [Format(np.dtype("float32"), 1)])
    assert floats.may_be_nan(apart)


def test_bytes_are_never_nan() -> None:
    build = Builder("median", [ImageInput("im", FLOAT)])
    texel, other = build.load(0, build.x, build.y), build.load(0, build.y, build.x)
    lesser = build.emit("min", texel, other, data=OPEN)
    total = build.emit("div", lesser, other)  # which may be 0 / 0
    tests = [build.emit("isnan", value) for value in (texel, lesser, total)]
    either = build.emit("bit_or", build.emit("bit_or", *tests[:2]), tests[2])
    nan = build.constant(FLOAT, float("nan"))
    function = build.finish([build.emit("select", either, nan, lesser)])
    of_bytes, of_floats = (
        without_nans(function, [Format(np.dtype(dtype), 1)]) for dtype in ("uint8", "float32")
    )
    assert [op.operands[0].op.code for op in of_bytes.body.ops if op.code == "isnan"] == ["div"]
    assert of_floats is function


# ---------------------------------------------------------------- speed


def convolution(size: int) -> Function:
    """A convolution as it is walked: every tap with its own sums."""
    build = Builder("convolve", [ImageInput("im", FLOAT)])
    weights = np.random.default_rng(0).normal(size=(size, size))
    total = build.constant(FLOAT, 0.0)
    for (row, column), weight in np.ndenumerate(weights):
        x = build.emit("add", build.x, build.constant(INT, column - size // 2))
        y = build.emit("add", build.y, build.constant(INT, row - size // 2))
        texel = build.emit("mul", build.constant(FLOAT, weight), build.load(0, x, y))
        total = build.emit("add", total, texel)
    return build.finish([total])


def test_a_convolution_is_simplified_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_VERIFY", "0")
    function, times = convolution(15), []
    for _ in range(5):
        start = time.perf_counter()
        passes.simplify(function)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.2  # 9 ms where nothing else runs


def guarded_loop(first: int, end: int | None, inside: Callable[[Any, Any], Any]) -> Function:
    """`while n < end: total += inside(n)`; where `end` is None it is a uniform."""
    build = Builder("looping", [ImageInput("im", FLOAT)], [("end", INT)])
    (given,) = build.uniforms
    limit = given if end is None else build.constant(INT, end)
    n, total = Value(INT, "n"), Value(FLOAT, "total")
    body = Region((n, total))
    with build.inside(body):
        test = build.emit("lt", n, limit)
        sides = [Region(), Region()]
        with build.inside(sides[0]):
            more = build.emit("add", total, inside(build, n))
            after = build.emit("add", n, build.constant(INT, 1))
            sides[0].results = (build.constant(BOOL, True), after, more)
        with build.inside(sides[1]):
            sides[1].results = (build.constant(BOOL, False), n, total)
        body.results = tuple(build.append("if", [test], [BOOL, INT, FLOAT], sides))
    begin = [build.constant(INT, first), build.constant(FLOAT, 0.0)]
    return build.finish(build.append("loop", begin, [INT, FLOAT], [body])[1:])


def test_what_a_loop_reads_anew_in_each_round_is_read_before_it() -> None:
    def inside(build: Any, n: Any) -> Any:
        texel = build.load(0, build.x, build.y, dx=1)
        return build.emit("mul", build.emit("exp", texel), build.emit("to_float", n))

    def before(function: Function) -> set[str]:
        return {op.code for op in function.body.ops}

    known = hoist(guarded_loop(0, 5, inside))
    assert {"load", "exp"} <= before(known)
    unknown = hoist(guarded_loop(0, None, inside))
    assert "load" in before(unknown)
    assert "exp" not in before(unknown)
    never = hoist(guarded_loop(5, 5, inside))
    assert "exp" not in before(never)


def test_no_more_is_read_before_a_loop_than_registers_hold() -> None:
    def inside(build: Any, n: Any) -> Any:
        total = build.emit("to_float", n)
        for dx in range(2 * HELD):
            total = build.emit("add", total, build.load(0, build.x, build.y, dx=dx))
        return total

    moved = hoist(guarded_loop(0, 5, inside))
    assert sum(op.code == "load" for op in moved.body.ops) == HELD
    assert sum(op.code == "load" for op in walk(moved.body)) == 2 * HELD
