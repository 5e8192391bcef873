"""Functions that GLSL lacks, or whose meaning it leaves open: integers, choices, bits, texels.

With those of mathematics.py beside this file they are the helpers of programs. A program contains
those it uses and no others. NaN is told by its bits: optimisers take `!(a < b)` for `a >= b`.

source([("sin", 3)])      # the text of pg_sin for float, what it needs, and pg_sin for vec3
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.expressions.helper import INF, NAN, Helper
from pygpu.codegen.glsl.expressions.mathematics import MATHEMATICS


def _exact_comparison(operator: str) -> Helper:
    """Mesa turns `b < a ? b : a` into a minimum that forgets NaN, `a < c && b < c` into
    `max(a, b) < c`, and the like. `precise` forbids it, within its function."""
    body = f"precise bool holds = a {operator} b;\nreturn holds;"
    return Helper("bool", "float a, float b", body)


def _to_unorm(top: str) -> Helper:
    """What is above zero is scaled, rounded and saturated; NaN and all else is 0."""
    positive = "floatBitsToUint(a) - 1u < 0x7f800000u"
    return Helper("uint", "float a", f"return {positive} ? uint(min(a, 1.0) * {top} + 0.5) : 0u;")


def _saturated(top: int) -> Helper:
    """Floats as unsigned integers of up to `top`, where the device's own clamp, which costs it
    nothing, takes NaN for 0. Floats from 2**23 to 2**24 are whole, and their last bits are the
    number."""
    return Helper("uint", "float a", f"return {_bits(top)} & {top}u;")


def _bits(top: int) -> str:
    """The bits of such a float."""
    return f"floatBitsToUint(fma(clamp(a, 0.0, 1.0), {top}.0, 8388608.0))"


def _lanes(params: str, expression: str) -> Helper:
    """Of two float16 in an int each, by functions that programs define as their driver has them:
    `pg_lanes` takes a word apart, `pg_word` puts one together."""
    for name in params:
        expression = expression.replace(f"${name}", f"pg_lanes(uint({name}))")
    declared = ", ".join(f"int {name}" for name in params)
    return Helper("int", declared, f"return int(pg_word({expression}));", is_macro=True)


def _lane(axis: str) -> Helper:
    return Helper("float", "int a", f"return float(pg_lanes(uint(a)).{axis});", is_macro=True)


def _words(params: str, expression: str) -> Helper:
    """Of two lanes, by their bits or as new."""
    return Helper("int", params, f"return int({expression});", is_macro=True)


def _bytes(to_unorm: str) -> Helper:
    body = f"""
uint low = pg_{to_unorm}(a.x) | pg_{to_unorm}(a.y) << 8;
uint high = pg_{to_unorm}(a.z) | pg_{to_unorm}(a.w) << 8;
return int(low | high << 16);
"""
    return Helper("int", "vec4 a", body, (to_unorm,))


def _of_bytes(unorm: str) -> Helper:
    parts = [f"pg_{unorm}(bitfieldExtract(uint(a), {shift}, 8))" for shift in (0, 8, 16, 24)]
    return Helper("vec4", "int a", f"return vec4({', '.join(parts)});", (unorm,))


HELPERS: Final[dict[str, Helper]] = {
    # ------------------------------------------------ bits
    "isnan": Helper("bool", "float a", "return (floatBitsToInt(a) & 0x7fffffff) > 0x7f800000;"),
    "isinf": Helper("bool", "float a", "return (floatBitsToInt(a) & 0x7fffffff) == 0x7f800000;"),
    "sign": Helper("float", "float a", "return pg_isnan(a) ? a : sign(a);", ("isnan",)),
    "copysign": Helper(
        "float",
        "float a, float b",
        """
uint bits = (floatBitsToUint(a) & 0x7fffffffu) | (floatBitsToUint(b) & 0x80000000u);
return uintBitsToFloat(bits);
""",
    ),
    # ------------------------------------------------ quotients
    "quotient_by_zero": Helper(
        "float",
        "float a, float b",
        f"""
if (b != 0.0)
    return a / b;
return (floatBitsToInt(b) < 0 ? -a : a) * {INF};
""",
    ),
    "large_quotient": Helper(  # by 2**126 and more, by way of the quotient by 2**62 and more
        "float",
        "float a, float b",
        """
precise float quotient = a * 5.4210109e-20 / (b * 5.4210109e-20);
return quotient;
""",
    ),
    # ------------------------------------------------ choice
    "min": Helper(
        "float",
        "float a, float b",
        """
precise float smaller = b < a ? b : a;
return smaller;
""",
    ),
    "max": Helper(
        "float",
        "float a, float b",
        """
precise float larger = b > a ? b : a;
return larger;
""",
    ),
    # With NaN kept; where neither it nor the limits are zeros of another sign.
    "clamp": Helper(
        "float",
        "float a, float low, float high",
        "float inside = clamp(a, low, high);\nreturn isnan(a) ? a : inside;",
    ),
    "min_int": Helper("int", "int a, int b", "return b < a ? b : a;"),
    "max_int": Helper("int", "int a, int b", "return b > a ? b : a;"),
    "min_uint": Helper("uint", "uint a, uint b", "return b < a ? b : a;"),
    "max_uint": Helper("uint", "uint a, uint b", "return b > a ? b : a;"),
    "select_int": Helper("int", "bool c, int a, int b", "return c ? a : b;"),
    "select_uint": Helper("uint", "bool c, uint a, uint b", "return c ? a : b;"),
    "select_bool": Helper("bool", "bool c, bool a, bool b", "return c ? a : b;"),
    "lt": _exact_comparison("<"),
    "le": _exact_comparison("<="),
    "gt": _exact_comparison(">"),
    "ge": _exact_comparison(">="),
    # ------------------------------------------------ integers
    "to_int": Helper(
        "int",
        "float a",
        """
int bits = floatBitsToInt(a) & 0x7fffffff;
if (bits < 0x4f000000)
    return int(a);
return bits > 0x7f800000 ? 0 : a > 0.0 ? 2147483647 : -2147483647 - 1;
""",
    ),
    "floordiv_int": Helper(
        "int",
        "int a, int b",
        """
if (b == 0)
    return 0;
uint n = a < 0 ? 0u - uint(a) : uint(a);
uint d = b < 0 ? 0u - uint(b) : uint(b);
uint q = n / d;
if ((a ^ b) < 0)
    return int(0u - q) - (n != q * d ? 1 : 0);
return int(q);
""",
    ),
    "mod_int": Helper(
        "int",
        "int a, int b",
        "return b == 0 ? 0 : a - b * pg_floordiv_int(a, b);",
        ("floordiv_int",),
    ),
    # Powers of 0.5 and -0.5: IEEE's pow takes -0.0 for 0.0, and minus infinity for infinity.
    "root": Helper(
        "float",
        "float a",
        f"""
if (a == 0.0)
    return 0.0;
return a == -{INF} ? {INF} : sqrt(a);
""",
    ),
    "inverse_root": Helper(
        "float",
        "float a",
        f"""
if (a == 0.0)
    return {INF};
return a == -{INF} ? 0.0 : 1.0 / sqrt(a);
""",
    ),
    # Rounds of powers are counted: software drivers come to no end with twenty loops that end
    # by a value of the pixel.
    "pow_int": Helper(
        "int",
        "int a, int b",
        """
int power = b < 0 ? 0 : 1;
for (int bit = 0; bit < 31; bit++) {
    power *= (b >> bit & 1) != 0 ? a : 1;
    a *= a;
}
return power;
""",
    ),
    "to_uint": Helper(
        "uint",
        "float a",
        """
if (!(a >= 1.0))
    return 0u;
return a >= 4294967296.0 ? 0xffffffffu : uint(a);
""",
    ),
    "floordiv_uint": Helper("uint", "uint a, uint b", "return b == 0u ? 0u : a / b;"),
    "mod_uint": Helper("uint", "uint a, uint b", "return b == 0u ? 0u : a % b;"),
    "pow_uint": Helper(
        "uint",
        "uint a, uint b",
        """
uint power = 1u;
for (int bit = 0; bit < 32; bit++) {
    power *= (b >> bit & 1u) != 0u ? a : 1u;
    a *= a;
}
return power;
""",
    ),
    "dot_ivec2": Helper("int", "ivec2 a, ivec2 b", "return a.x * b.x + a.y * b.y;"),
    "dot_ivec3": Helper("int", "ivec3 a, ivec3 b", "return a.x * b.x + a.y * b.y + a.z * b.z;"),
    "dot_ivec4": Helper(
        "int", "ivec4 a, ivec4 b", "return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;"
    ),
    **{
        f"dot_uvec{size}": Helper(
            "uint",
            f"uvec{size} a, uvec{size} b",
            f"return {' + '.join(f'a.{axis} * b.{axis}' for axis in 'xyzw'[:size])};",
        )
        for size in (2, 3, 4)
    },
    "shl": Helper("int", "int a, int b", "return uint(b) < 32u ? a << b : 0;"),
    "shr": Helper("int", "int a, int b", "return a >> (uint(b) < 32u ? b : 31);"),
    "shl_uint": Helper("uint", "uint a, uint b", "return b < 32u ? a << b : 0u;"),
    "shr_uint": Helper("uint", "uint a, uint b", "return b < 32u ? a >> b : 0u;"),
    # ------------------------------------------------ remainders
    # Long division, ten bits of quotient a round: the divisor is split so that each product is
    # exact, and so is the remainder. Drivers' quotients may be a little less than 1 where they are
    # 1, without which the loop would not end, and are 0 of divisors above 2**126.
    "fmod": Helper(
        "float",
        "float a, float b",
        f"""
float rest = abs(a);
float d = abs(b);
if (d == 0.0 || pg_isnan(b) || floatBitsToInt(rest) >= 0x7f800000)
    return {NAN};
if (pg_isinf(b))
    return a;
bool large = d > 1e37;
rest *= large ? 0.0625 : 1.0;
d *= large ? 0.0625 : 1.0;
while (rest >= d) {{
    int above = (floatBitsToInt(rest) >> 23) - (floatBitsToInt(d) >> 23) - 10;
    float step = intBitsToFloat(floatBitsToInt(d) + (max(above, 0) << 23));
    float high = intBitsToFloat(floatBitsToInt(step) & 0x7ffff000);
    float q = max(floor(rest / step), 1.0);
    rest = (rest - q * high) - q * (step - high);
    if (rest < 0.0)
        rest += step;
}}
rest *= large ? 16.0 : 1.0;
return a < 0.0 ? -rest : rest;
""",
        ("isnan", "isinf"),
    ),
    "mod": Helper(
        "float",
        "float a, float b",
        """
float rest = pg_fmod(a, b);
return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
""",
        ("fmod",),
    ),
    "floordiv": Helper(
        "float",
        "float a, float b",
        """
if (b == 0.0)
    return a / b;
float rest = pg_fmod(a, b);
float scale = abs(b) > 1e37 ? 0.0625 : 1.0;
float q = roundEven((a - rest) * scale / (b * scale));
return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? q - 1.0 : q;
""",
        ("fmod",),
    ),
    # ------------------------------------------------ texels
    # a / 255 and a / 65535, correctly rounded: the first product is exact, the second adds what
    # lacks. It is one of a + a so that no driver joins the two. Processors, which software drivers
    # use, make floats of ints by one instruction and of unsigned ints by several.
    "unorm8": Helper(
        "float", "uint a", "return float(int(a)) * 0.00390625 + float(int(a + a)) * 7.659314e-6;"
    ),
    "unorm16": Helper(
        "float", "uint a", "return float(int(a)) * 1.5258789e-5 + float(int(a + a)) * 1.164171e-10;"
    ),
    # The same where `fma` is the driver's own: conversions are what such devices are slow at.
    "fused_unorm8": Helper(
        "float", "uint a", "float b = float(a);\nreturn fma(b, 0.00390625, b * 1.5318628e-5);"
    ),
    "fused_unorm16": Helper(
        "float", "uint a", "float b = float(a);\nreturn fma(b, 1.5258789e-5, b * 2.328342e-10);"
    ),
    "fused_to_unorm8": _saturated(255),
    "fused_to_unorm16": _saturated(65535),
    "to_unorm8": _to_unorm("255.0"),
    "to_unorm16": _to_unorm("65535.0"),
    "from_unorm8x4": _of_bytes("unorm8"),
    "fused_from_unorm8x4": _of_bytes("fused_unorm8"),
    "unorm8x4": _bytes("to_unorm8"),
    # The bits of 2**23 + n are 0x4b000000 + n. Taken 256 times, the first byte leaves the 32 bits;
    # the other is dropped by `& 65535` and `<< 16`.
    "fused_unorm8x4": Helper(
        "int",
        "vec4 a",
        """
uint low = pg_whole8(a.x) + 256u * pg_whole8(a.y);
uint high = pg_whole8(a.z) + 256u * pg_whole8(a.w);
return int(low & 65535u | high << 16);
""",
        ("whole8",),
    ),
    "whole8": Helper("uint", "float a", f"return {_bits(255)};"),
    # ------------------------------------------------ lanes
    "lanes_add": _lanes("ab", "$a + $b"),
    "lanes_sub": _lanes("ab", "$a - $b"),
    "lanes_fma": _lanes("abc", "fma($a, $b, $c)"),
    "lanes_abs": _lanes("a", "abs($a)"),
    "lanes_min": _lanes("ab", "min($a, $b)"),
    "lanes_max": _lanes("ab", "max($a, $b)"),
    "lanes_join": _words("int a, int b", "uint(a) >> 16 | uint(b) << 16"),
    "lanes_pack": _words("float a, float b", "packHalf2x16(vec2(a, b))"),
    "lane_low": _lane("x"),
    "lane_high": _lane("y"),
    "to_half": Helper(  # rounds half to even what a driver might cut off
        "float",
        "float a",
        f"""
int bits = floatBitsToInt(a) & 0x7fffffff;
if (bits >= 0x477ff000)
    return bits > 0x7f800000 ? a : a * {INF};
if (bits < 0x38800000)
    return roundEven(a * 16777216.0) * 5.9604645e-8;
bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fff;
return a < 0.0 ? -intBitsToFloat(bits) : intBitsToFloat(bits);
""",
    ),
    **MATHEMATICS,
}


# In place of those above where nothing can be `precise`, or where that is no help: a driver makes
# its own minimum of a comparison and a choice, which may be the number of a number and NaN; Mesa's
# does where one of them is itself chosen. There is no `||` in it: it would be a branch, and the
# windows of many minima take browsers minutes to compile with branches.
_WITHOUT_PRECISE: Final = {
    name: replace(
        HELPERS[name],
        body=(
            f"float kept = b {operator} a ? b : a;\n"
            "int most = max(floatBitsToInt(a) & 0x7fffffff, floatBitsToInt(b) & 0x7fffffff);\n"
            "return most > 0x7f800000 ? a : kept;"
        ),
    )
    for name, operator in (("min", "<"), ("max", ">"))
}


def source(used: Iterable[tuple[str, int]], precise: bool = True) -> str:
    """The text of the helpers used, each with the size of its operands, needed ones first.
    `precise`: whether variables can be declared so."""
    helpers = HELPERS if precise else {**HELPERS, **_WITHOUT_PRECISE}
    texts: dict[tuple[str, int], str] = {}

    def add(name: str, size: int) -> None:
        if (name, size) in texts:
            return
        helper = helpers[name]
        if size > 1:
            add(name, 1)
            texts[name, size] = helper.vector_text(name, size)
            return
        for needed in helper.needs:
            add(needed, 1)
        texts[name, size] = helper.text(name)

    for name, size in used:
        add(name, size)
    return "\n".join(texts.values())
