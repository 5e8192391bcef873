"""The kernels of the suite as straight-line code of one pixel, for peers that are programmed so.

Peers write the same arithmetic in their own language: a `Stage` is a list of lines, each of which
names a texel or a number, in expressions of + - * /, comparisons and the functions
`sqrt exp floor abs min max select int float`, with x, y, width and height as ints. Borders are
clamped. Texels are floats: 8-bit ones are v / 255.

    print(python(STAGES["scale"][0], names={"min": "tl.minimum"}))
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from benchmarks.kernels import AMOUNT, ANGLE, CONV9, GAUSS5, GAUSS15, RANGE, SHIFT, SOBEL, SPACE


@dataclass(frozen=True, slots=True)
class Tap:
    """The texel at (x + dx, y + dy)."""

    name: str
    dx: int = 0
    dy: int = 0
    channel: int = 0


@dataclass(frozen=True, slots=True)
class Fetch:
    """The texel at a place that is calculated."""

    name: str
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Let:
    """A number: `kind` is "float" or "int"."""

    name: str
    kind: str
    text: str


Line = Tap | Fetch | Let


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass over the image: what it makes of a pixel's surroundings."""

    lines: tuple[Line, ...]
    results: tuple[str, ...]

    @property
    def taps(self) -> list[Tap]:
        return [line for line in self.lines if isinstance(line, Tap)]

    @property
    def reach(self) -> tuple[int, int]:
        """How far it looks along x and y, to both sides."""
        across = max((abs(tap.dx) for tap in self.taps), default=0)
        return across, max((abs(tap.dy) for tap in self.taps), default=0)

    @property
    def is_local(self) -> bool:
        """Whether all texels are at fixed offsets."""
        return not any(isinstance(line, Fetch) for line in self.lines)


def _name(dx: int, dy: int) -> str:
    return f"t_{dx}_{dy}".replace("-", "m")


def _number(value: float) -> str:
    return f"({float(value)!r})" if value < 0 else repr(float(value))


def _sum(kernel: Any, name: str, seen: set[str]) -> list[Line]:
    """The lines of a correlation; taps in `seen` are there already."""
    height, width = kernel.shape
    lines: list[Line] = []
    total = ""
    for j in range(height):
        for i in range(width):
            if not kernel[j, i]:
                continue
            tap = Tap(_name(i - width // 2, j - height // 2), i - width // 2, j - height // 2)
            if tap.name not in seen:
                lines.append(tap)
                seen.add(tap.name)
            product = f"{_number(kernel[j, i])} * {tap.name}"
            now = f"{name}_{j}_{i}"
            lines.append(Let(now, "float", f"{total} + {product}" if total else product))
            total = now
    return [*lines, Let(name, "float", total)]


def convolution(kernel: Any) -> Stage:
    return Stage(tuple(_sum(np.asarray(kernel), "total", set())), ("total",))


def _sobel() -> Stage:
    seen: set[str] = set()
    lines = _sum(SOBEL, "gx", seen) + _sum(SOBEL.T, "gy", seen)
    return Stage((*lines, Let("edge", "float", "sqrt(gx * gx + gy * gy)")), ("edge",))


def _unsharp() -> Stage:
    lines = _sum(GAUSS5, "blurred", set())
    centre = _name(0, 0)
    text = f"{centre} + {AMOUNT!r} * ({centre} - blurred)"
    return Stage((*lines, Let("sharp", "float", text)), ("sharp",))


def _bilateral() -> Stage:
    offsets = [(dx, dy) for dy in range(-2, 3) for dx in range(-2, 3)]
    lines: list[Line] = [Tap("centre")]
    total = weights = ""
    for dx, dy in offsets:
        tap = Tap(_name(dx, dy), dx, dy)
        near = (dx * dx + dy * dy) / (2 * SPACE**2)
        d, w, s, n = (f"{letter}{tap.name}" for letter in "dwsn")
        lines += [tap, Let(d, "float", f"{tap.name} - centre")]
        lines.append(Let(w, "float", f"exp({-1 / (2 * RANGE**2)!r} * {d} * {d} - {near!r})"))
        lines.append(Let(s, "float", f"{total} + {w} * {tap.name}" if total else f"{w} * {d[1:]}"))
        lines.append(Let(n, "float", f"{weights} + {w}" if weights else w))
        total, weights = s, n
    return Stage((*lines, Let("smoothed", "float", f"{total} / {weights}")), ("smoothed",))


# Exchanges that bring the middle of nine to place 4 (Paeth, Graphics Gems, 1990).
_EXCHANGES: Final = (
    (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3),
    (5, 8), (4, 7), (3, 6), (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
)  # fmt: skip


def _median() -> Stage:
    lines: list[Line] = []
    at = []
    for index in range(9):
        dx, dy = index % 3 - 1, index // 3 - 1
        lines.append(Tap(_name(dx, dy), dx, dy))
        at.append(_name(dx, dy))
    for step, (i, j) in enumerate(_EXCHANGES):
        low, high = f"l{step}", f"h{step}"
        lines += [
            Let(low, "float", f"min({at[i]}, {at[j]})"),
            Let(high, "float", f"max({at[i]}, {at[j]})"),
        ]
        at[i], at[j] = low, high
    return Stage(tuple(lines), (at[4],))


def _hsv() -> Stage:
    texts = {
        "high": "max(r, max(g, b))",
        "low": "min(r, min(g, b))",
        "span": "high - low",
        "safe": "select(span > 0.0, span, 1.0)",
        "hue_r": "(g - b) / safe",
        "hue_g": "(b - r) / safe + 2.0",
        "hue_b": "(r - g) / safe + 4.0",
        "hue": "select(high == r, hue_r, select(high == g, hue_g, hue_b))",
        "turned": f"hue / 6.0 + {SHIFT!r}",
        "h": "(turned - floor(turned)) * 6.0",
        "kr": "min(max(abs(h - 3.0) - 1.0, 0.0), 1.0)",
        "kg": "min(max(2.0 - abs(h - 2.0), 0.0), 1.0)",
        "kb": "min(max(2.0 - abs(h - 4.0), 0.0), 1.0)",
        "red": "low + span * kr",
        "green": "low + span * kg",
        "blue": "low + span * kb",
    }
    taps = [Tap(name, channel=channel) for channel, name in enumerate("rgba")]
    lines = [Let(name, "float", text) for name, text in texts.items()]
    return Stage((*taps, *lines), ("red", "green", "blue", "a"))


def _rotation() -> Stage:
    c, s = repr(math.cos(ANGLE)), repr(math.sin(ANGLE))
    texts: dict[str, tuple[str, str]] = {
        "cx": ("float", "float(width - 1) * 0.5"),
        "cy": ("float", "float(height - 1) * 0.5"),
        "px": ("float", "float(x) - cx"),
        "py": ("float", "float(y) - cy"),
        "u": ("float", f"{c} * px - {s} * py + cx"),
        "v": ("float", f"{s} * px + {c} * py + cy"),
        "left": ("float", "floor(u)"),
        "top": ("float", "floor(v)"),
        "fu": ("float", "u - left"),
        "fv": ("float", "v - top"),
        "i": ("int", "int(left)"),
        "j": ("int", "int(top)"),
    }
    lines: list[Line] = [Let(name, *text) for name, text in texts.items()]
    for name, x, y in (
        ("a00", "i", "j"),
        ("a10", "i + 1", "j"),
        ("a01", "i", "j + 1"),
        ("a11", "i + 1", "j + 1"),
    ):
        lines.append(Fetch(name, x, y))
    lines.append(Let("above", "float", "a00 + fu * (a10 - a00)"))
    lines.append(Let("below", "float", "a01 + fu * (a11 - a01)"))
    lines.append(Let("turned", "float", "above + fv * (below - above)"))
    return Stage(tuple(lines), ("turned",))


# By name the stages of each kernel. Two are not straight-line code: the peers write `mandelbrot`
# and `sum` out.
STAGES: Final[dict[str, tuple[Stage, ...]]] = {
    "scale": (Stage((Tap("v"), Let("w", "float", "1.5 * v + 0.25")), ("w",)),),
    "sobel": (_sobel(),),
    "gauss 5x5": (convolution(GAUSS5),),
    "gauss 15 separable": (convolution(GAUSS15[None, :]), convolution(GAUSS15[:, None])),
    "conv 9x9": (convolution(CONV9),),
    "bilateral 5x5": (_bilateral(),),
    "median 3x3": (_median(),),
    "hsv shift": (_hsv(),),
    "unsharp": (_unsharp(),),
    "rotation": (_rotation(),),
}

_WORD: Final = re.compile(r"\d+\.\d*(?:e-?\d+)?|[a-z]\w*")


def spelled(
    text: str, names: Mapping[str, str], literal: Callable[[str], str] = lambda text: text
) -> str:
    """An expression with a language's own names, and its own spelling of floats."""

    def one(found: re.Match[str]) -> str:
        word = found[0]
        return literal(word) if word[0].isdigit() else names.get(word, word)

    return _WORD.sub(one, text)


def offset(name: str, by: int) -> str:
    return f"{name} + {by}" if by > 0 else f"{name} - {-by}" if by else name


def python(
    stage: Stage,
    texel: Callable[[str, str, int], str],
    names: Mapping[str, str],
    literal: Callable[[str], str] = lambda text: text,
) -> list[str]:
    """The lines in a language that reads as Python; `texel` spells a load at x, y of a channel."""
    lines = []
    for line in stage.lines:
        match line:
            case Tap(name, dx, dy, channel):
                lines.append(f"{name} = {texel(offset('x', dx), offset('y', dy), channel)}")
            case Fetch(name, x, y):
                lines.append(f"{name} = {texel(x, y, 0)}")
            case Let(name, _, text):
                lines.append(f"{name} = {spelled(text, names, literal)}")
    return lines


def c(stage: Stage, texel: Callable[[str, str, int], str], names: Mapping[str, str]) -> list[str]:
    """The lines in C or GLSL."""
    lines = []
    for line in stage.lines:
        match line:
            case Tap(name, dx, dy, channel):
                text = texel(offset("x", dx), offset("y", dy), channel)
                lines.append(f"float {name} = {text};")
            case Fetch(name, x, y):
                lines.append(f"float {name} = {texel(x, y, 0)};")
            case Let(name, kind, text):
                spelling = spelled(text, names, lambda number: number + "f")
                lines.append(f"{kind} {name} = {spelling};")
    return lines


def evaluate(
    stage: Stage, texel: Callable[[Any, Any, int], Any], scope: Mapping[str, Any]
) -> list[Any]:
    """The results where a library's operators are Python's: expressions run on its objects. `scope`
    has x, y, width, height, the functions, and `F`, which makes a float of a number."""
    values = dict(scope)
    for line in stage.lines:
        match line:
            case Tap(name, dx, dy, channel):
                values[name] = texel(dx, dy, channel)
            case Fetch(name, x, y):
                values[name] = values["fetch"](eval(x, values), eval(y, values))
            case Let(name, _, text):
                names = {"int": "to_int", "float": "to_float", "min": "minimum", "max": "maximum"}
                values[name] = eval(spelled(text, names, lambda number: f"F({number})"), values)
    return [values[name] for name in stage.results]
