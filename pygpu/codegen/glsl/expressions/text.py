"""GLSL as text: names, numbers, expressions with their precedence, and lines that fit a page.

infix("*", text_a, text_b)     # parentheses where the precedence of GLSL asks for them
literal(FLOAT, 0.1)            # "0.1": the shortest decimal that float32 reads back
"""

import re
from typing import Final

import numpy as np

from pygpu.core.host.records import record
from pygpu.ssa import Constant
from pygpu.types import Type, vector

WIDTH: Final = 100

# How tightly each form binds (the GLSL specification, 5.1).
PRIMARY: Final = 17
UNARY: Final = 15
CONDITIONAL: Final = 3
INFIX: Final = {
    "*": 14, "/": 14, "%": 14, "+": 13, "-": 13, "<<": 12, ">>": 12,
    "<": 11, "<=": 11, ">": 11, ">=": 11, "==": 10, "!=": 10,
    "&": 9, "^": 8, "|": 7, "&&": 6, "^^": 5, "||": 4,
}  # fmt: skip
_SIGNED: Final = (UNARY, INFIX["*"])  # forms of which the first sign is that of the whole
_BITS: Final = {"<<", ">>", "&", "^", "|"}  # few remember how these bind: they get parentheses

# Of the specification, and of Cg and C++, which NVIDIA's compiler takes, too.
_KEYWORDS: Final = """
attribute const uniform varying buffer shared coherent volatile restrict readonly writeonly
atomic_uint layout centroid flat smooth noperspective patch sample break continue do for while
switch case default if else subroutine in out inout float double int void bool true false invariant
precise discard return struct uint lowp mediump highp precision common partition active asm class
union enum typedef template this resource goto inline noinline public static extern external
interface long short half fixed unsigned superp input output hvec2 hvec3 hvec4 fvec2 fvec3 fvec4
filter sizeof cast namespace using row_major main defined
register auto delete friend new operator private protected virtual typename typeid catch throw try
const_cast dynamic_cast reinterpret_cast static_cast explicit mutable signed char wchar_t
char16_t char32_t nullptr constexpr decltype static_assert thread_local and_eq bitand bitor compl
not_eq or_eq xor xor_eq compile compile_fragment emit pixelfragment vertexfragment technique pass
sampler_state string matrix vector texture1D texture2D texture3D textureCUBE textureRECT
asm_fragment column_major pack packed pragma
"""
_FUNCTIONS: Final = """
radians degrees sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh pow exp log exp2 log2
sqrt inversesqrt abs sign floor trunc round roundEven ceil fract mod modf min max clamp mix step
smoothstep isnan isinf floatBitsToInt floatBitsToUint intBitsToFloat uintBitsToFloat fma frexp ldexp
length distance dot cross normalize ftransform faceforward reflect refract matrixCompMult
outerProduct transpose determinant inverse lessThan lessThanEqual greaterThan greaterThanEqual equal
notEqual any all not textureSize texture texelFetch textureLod textureGrad textureOffset
texelFetchOffset textureProj dFdx dFdy fwidth noise1 noise2 noise3 noise4 barrier memoryBarrier
groupMemoryBarrier imageLoad imageStore imageSize bitCount findLSB findMSB bitfieldExtract
bitfieldInsert bitfieldReverse
"""
_TYPES: Final = re.compile(
    r"[iubd]?vec[234]|d?mat[234](x[234])?|[iu]?(sampler|image|texture)(\dD|Cube|Buffer)\w*"
)
RESERVED: Final = frozenset((_KEYWORDS + _FUNCTIONS).split())


class Namer:
    """Gives out identifiers: each once, none that GLSL reserves."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self.taken = set(RESERVED | taken)
        self.counts: dict[str, int] = {}
        self.repeated: dict[str, int] = {}  # the last count that a name was given

    def numbered(self, hint: str) -> str:
        """The hint with the next number that is free: t1, t2."""
        count = self.counts.get(hint, 0) + 1
        while f"{hint}{count}" in self.taken:
            count += 1
        self.counts[hint] = count
        self.taken.add(f"{hint}{count}")
        return f"{hint}{count}"

    def fresh(self, hint: str) -> str:
        """An unused identifier like the hint, numbered where it must be."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", hint)
        base = re.sub(r"__+", "_", base)
        if not re.match(r"[A-Za-z_]", base) or base.startswith(("gl_", "pg_", "GL_")):
            base = f"v_{base}".replace("__", "_")
        if base == "_" or _TYPES.fullmatch(base):
            base = f"v{base}"
        name, count = base, self.repeated.get(base, 1)
        while name in self.taken:
            count += 1
            name = f"{base.rstrip('_')}_{count}"
        self.taken.add(name)
        self.repeated[base] = count
        return name


@record
class Text:
    """An expression: its text, how tightly its outermost form binds, and, for a vector whose
    components are all alike, the text of one of them."""

    text: str
    binds: int = PRIMARY
    scalar: "Text | None" = None

    def __str__(self) -> str:
        return self.text

    @property
    def is_number(self) -> bool:
        return self.text.lstrip("-")[:1].isdigit() and self.binds >= UNARY

    def within(self, binds: int) -> str:
        """The text, in parentheses where it binds less tightly than that."""
        return self.text if self.binds >= binds else f"({self.text})"


def infix(operator: str, left: Text, right: Text) -> Text:
    """left operator right; operators of one level group to the left."""
    binds = INFIX[operator]
    if operator in _BITS:
        same = left.binds == binds and operator in ("&", "^", "|")
        return Text(
            f"{left.within(binds if same else UNARY)} {operator} {right.within(UNARY)}", binds
        )
    if operator == "*" and right.is_number and not left.is_number and left.binds > binds:
        left, right = right, left  # constants stand first
    if operator in ("+", "-") and right.text.startswith("-") and right.binds in _SIGNED:
        other = "-" if operator == "+" else "+"  # a + -2 * b is a - 2 * b
        return Text(f"{left.within(binds)} {other} {right.text[1:]}", binds)
    return Text(f"{left.within(binds)} {operator} {right.within(binds + 1)}", binds)


def prefix(operator: str, operand: Text) -> Text:
    return Text(f"{operator}{operand.within(UNARY + 1)}", UNARY)


def call(function: str, *operands: Text | str) -> Text:
    return Text(f"{function}({', '.join(map(str, operands))})")


def conditional(condition: Text, first: Text, second: Text) -> Text:
    inner = CONDITIONAL + 1
    text = f"{condition.within(inner)} ? {first.within(inner)} : {second.within(CONDITIONAL)}"
    return Text(text, CONDITIONAL)


def literal(type: Type, value: Constant) -> Text:
    """A constant of a type, read back to the same bits."""
    if isinstance(value, tuple):
        inner = vector(type.kind, 1)
        parts = [literal(inner, component) for component in value]
        if len({part.text for part in parts}) == 1:
            return Text(f"{type}({parts[0]})", scalar=parts[0])
        return call(str(type), *parts)
    if type.kind == "bool":
        return Text("true" if value else "false")
    if type.kind == "int":
        if value == -(2**31):
            return Text("-2147483647 - 1", INFIX["-"])
        return Text(str(value), PRIMARY if value >= 0 else UNARY)
    if type.kind == "uint":
        return Text(f"{value}u")
    return _float(np.float32(value))


def _float(value: np.float32) -> Text:
    bits = int(value.view(np.uint32))
    if not np.isfinite(value) or 0 < bits & 0x7FFFFFFF < 0x00800000:  # subnormals: no decimals
        return Text(f"uintBitsToFloat({bits:#010x}u)")
    text = str(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        mantissa = mantissa.removesuffix(".0")
        text = f"{mantissa}e{int(exponent)}"
    return Text(text, UNARY if text.startswith("-") else PRIMARY)


_NO_BREAK: Final = frozenset(("=", "+=", "-=", "*=", "/=", ":"))
_TOKENS: Final = re.compile(r"[()\[\]]|, | (?:[-+*/?:&|^<>=!]+) ")


def wrap(line: str) -> list[str]:
    """The line broken before operators, or after commas, where it is too wide for the page. A
    directive of the preprocessor ends with its line: it stays whole."""
    if line.startswith("#"):
        return [line]
    indent = len(line) - len(line.lstrip())
    lines = [line]
    while len(lines[-1]) > WIDTH and (cut := _cut(lines[-1])):
        last = lines.pop()
        lines += [last[:cut].rstrip(), " " * (indent + 4) + last[cut:].lstrip()]
    return lines


def _cut(line: str) -> int | None:
    """Where to break: before the last of the operators that bind least, in the fewest parentheses,
    that is on the page and not at its left edge."""
    best: dict[tuple[int, int], int] = {}
    depth = 0
    start = len(line) - len(line.lstrip()) + 20
    for match in _TOKENS.finditer(line):
        token = match.group()
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif match.start() > WIDTH - 2:
            break
        elif token == ", " and match.start() > start:
            best[depth, 0] = match.end()
        elif token.strip() not in _NO_BREAK and match.start() > start:
            best[depth, INFIX.get(token.strip(), CONDITIONAL)] = match.start()
    return best[min(best)] if best else None
