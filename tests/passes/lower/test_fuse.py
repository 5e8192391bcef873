"""Products in their sums: which go into which, and that rounding once is what is computed."""

import ctypes
import ctypes.util

import numpy as np
import pytest

from pygpu.core.builder import Builder
from pygpu.core.operations.ops import TABLE
from pygpu.passes.lower.fuse import fuse
from pygpu.passes.simplify import pipeline as passes
from pygpu.ssa import Call, ImageInput
from pygpu.types import FLOAT


def fused(write):
    """The simplified text of what `write` emits of four numbers."""
    build = Builder("f", [], [(name, FLOAT) for name in "abcd"])
    text = str(passes.simplify(fuse(build.finish([write(build, *build.uniforms)]))))
    return "; ".join(line.strip() for line in text.splitlines()[1:-1])


def test_a_product_goes_into_the_sum_that_it_is_for():
    def write(build, a, b, c, d):
        return build.emit("add", c, build.emit("mul", a, b))

    assert fused(write) == "%0 = fma a, b, c; return %0"


def test_a_product_is_taken_from_something():
    def write(build, a, b, c, d):
        return build.emit("sub", c, build.emit("mul", a, b))

    assert fused(write) == "%0 = neg a; %1 = fma %0, b, c; return %1"


def test_something_is_taken_from_a_product():
    def write(build, a, b, c, d):
        return build.emit("sub", build.emit("mul", a, b), c)

    assert fused(write) == "%0 = neg c; %1 = fma a, b, %0; return %1"


def test_of_two_products_that_are_added_the_second_goes_in():
    def write(build, a, b, c, d):
        return build.emit("add", build.emit("mul", a, b), build.emit("mul", c, d))

    assert fused(write) == "%0 = mul a, b; %1 = fma c, d, %0; return %1"


def test_two_products_are_rounded_alike():
    def write(build, a, b, c, d):
        return build.emit("sub", build.emit("mul", a, b), build.emit("mul", c, d))

    assert fused(write) == "%0 = mul a, b; %1 = mul c, d; %2 = sub %0, %1; return %2"


def test_a_square_is_a_product():
    def write(build, a, b, c, d):
        square = build.emit("pow", a, build.constant(FLOAT, 2))
        return build.emit("add", square, c)

    assert fused(write) == "%0 = fma a, a, c; return %0"


def test_a_product_that_is_needed_itself_stays():
    def write(build, a, b, c, d):
        product = build.emit("mul", a, b)
        return build.emit("div", build.emit("add", product, c), product)

    assert "fma" not in fused(write)


def test_a_product_does_not_go_where_an_equal_one_is_needed():
    def write(build, a, b, c, d):
        whole = build.emit("floor", build.emit("mul", b, a))
        return build.emit("sub", build.emit("mul", a, b), whole)

    assert "fma" not in fused(write)


def test_a_product_that_a_function_is_given_is_as_any_number():
    def write(build, a, b, c, d):
        product = build.emit("mul", a, b)
        build.call = Call(None)
        return build.emit("add", product, build.emit("mul", c, d))

    assert fused(write) == "%0 = mul a, b; %1 = fma c, d, %0; return %1"


def test_nothing_is_asked_of_how_what_a_function_is_given_was_computed():
    def write(build, a, b, c, d):
        whole = build.emit("floor", build.emit("mul", b, a))
        build.call = Call(None)
        return build.emit("sub", build.emit("mul", a, b), whole)

    assert "fma" in fused(write)


def test_nothing_is_asked_of_what_becomes_of_what_a_function_gives():
    def write(build, a, b, c, d):
        build.call = Call(None)
        product = build.emit("mul", a, b)
        made = build.emit("add", c, product)
        build.call = None
        return build.emit("mul", made, product)

    assert fused(write) == "%0 = mul a, b; %1 = fma a, b, c; %2 = mul %1, %0; return %2"


def test_a_call_knows_the_products_of_calls_that_it_makes():
    def write(build, a, b, c, d):
        build.call = Call(None)
        outer, build.call = build.call, Call(build.call)
        product = build.emit("mul", a, b)
        build.call = outer
        return build.emit("add", c, product)

    assert fused(write) == "%0 = fma a, b, c; return %0"


@pytest.mark.parametrize(
    ("factor", "added", "text"),
    [
        (0.0, None, "return c"),
        (1.0, None, "%0 = add c, a; return %0"),
        (-1.0, None, "%0 = sub c, a; return %0"),
        (2.5, 0.0, "%0 = mul a, 2.5; return %0"),
    ],
)
def test_known_factors_and_addends(factor, added, text):
    def write(build, a, b, c, d):
        product = build.emit("mul", a, build.constant(FLOAT, factor))
        return build.emit("add", product, c if added is None else build.constant(FLOAT, added))

    assert fused(write) == text


def test_texels_are_fused_in_the_order_in_which_they_are_added():
    build = Builder("f", [ImageInput("im", FLOAT)])
    one, weight = build.emit("to_float", build.x), build.constant(FLOAT, 0.3)
    total = one
    for dx in (-1, 0, 1):
        texel = build.load(0, build.x, build.y, dx=dx)
        total = build.emit("add", total, build.emit("mul", weight, texel))
    text = str(passes.simplify(fuse(build.finish([total]))))
    assert [line.split("= ")[1] for line in text.splitlines() if "fma" in line] == [
        "fma %1, 0.3, %0",
        "fma %3, 0.3, %2",
        "fma %5, 0.3, %4",
    ]


def test_the_meaning_is_that_of_c():
    name = ctypes.util.find_library("m")
    if name is None:
        pytest.skip("no libm")
    fmaf = ctypes.CDLL(name).fmaf
    fmaf.restype, fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(0, 1, (3, 4000)) * 2.0 ** rng.integers(-30, 30, (3, 4000))).astype("f4")
    c[:2000] = -(a * b)[:2000] * (1 + rng.integers(-3, 4, 2000) * 2.0**-20)  # nearly cancels
    expected = np.array([fmaf(*each) for each in zip(a, b, c, strict=True)], np.float32)
    meaning = TABLE["fma"].meaning
    assert meaning is not None
    np.testing.assert_array_equal(meaning(a, b, c).view(np.int32), expected.view(np.int32))
