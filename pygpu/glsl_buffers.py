"""How texels lie in storage buffers, and the GLSL that reads and writes them there.

Rows start at multiples of 16 bytes and have room for a multiple of 4 pixels, so that a program may
store 4 pixels at once without looking where a row ends. Components of 8 and 16 bits stay packed in
words.

    row_bytes(Format(np.dtype("uint8"), 3), width=5)     # 32: 8 pixels of 3 bytes, rounded up
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.glsl_text import Text
from pygpu.glsl_writer import stored_type
from pygpu.storage import Format

ALIGNMENT: Final = 16
AXES: Final = "xyzw"


def row_bytes(format: Format, width: int) -> int:
    """Bytes from one row to the next."""
    pixels = -(-width // 4) * 4
    needed = pixels * format.channels * format.dtype.itemsize
    return -(-needed // ALIGNMENT) * ALIGNMENT


def element_type(format: Format) -> str:
    """The type of a buffer's elements, in GLSL."""
    if format.dtype.itemsize < 4:
        return "uint"
    scalar = Format(format.dtype, 1)
    return stored_type(scalar if format.channels == 3 else format)


def element_bytes(format: Format) -> int:
    if format.dtype.itemsize < 4 or format.channels == 3:
        return 4
    return 4 * format.channels


def pixels_a_word(format: Format) -> int:
    """The fewest pixels that fill whole words: a program stores so many at once."""
    count = 1
    while count * format.channels * format.dtype.itemsize % 4:
        count *= 2
    return count


# ---------------------------------------------------------------- reading


def read_texel(format: Format, data: str, size: str) -> tuple[list[str], Text]:
    """Lines of a function of `ivec2 p`, and the stored texel at p. `size.z` is a row's elements."""
    channels, itemsize = format.channels, format.dtype.itemsize
    if itemsize == 4:
        return _read_whole(channels, data, size, stored_type(format))
    bits = 8 * itemsize
    per_word = 4 // itemsize
    lines = [f"int row = p.y * {size}.z;"]
    if channels == 3 and itemsize == 1:  # three bytes lie in two words at most
        lines += [
            "int first = 3 * p.x;",
            "int shift = (first & 3) * 8;",
            f"uint word = {data}[row + (first >> 2)] >> shift",
            f"    | {data}[row + ((first + 2) >> 2)] << (31 - shift) << 1;",
        ]
        words, shifts = ["word"] * channels, ["0", "8", "16"]
    elif channels == 3:
        lines.append("int first = 3 * p.x;")
        words = [f"{data}[row + ((first + {c}) >> {per_word // 2})]" for c in range(channels)]
        shifts = [f"((first + {c}) & {per_word - 1}) * {bits}" for c in range(channels)]
    elif channels < per_word:
        together = per_word // channels
        lines.append(f"uint word = {data}[row + (p.x >> {together // 2})];")
        lines.append(f"int shift = (p.x & {together - 1}) * {channels * bits};")
        words = ["word"] * channels
        shifts = [f"shift + {c * bits}" if c else "shift" for c in range(channels)]
    else:
        count = channels // per_word
        index = "p.x" if count == 1 else f"{count} * p.x"
        lines += [
            f"uint word{j} = {data}[row + {index}{f' + {j}' if j else ''}];" for j in range(count)
        ]
        words = [f"word{c // per_word}" for c in range(channels)]
        shifts = [str(c % per_word * bits) for c in range(channels)]
    parts = [_extract(format, word, shift, bits) for word, shift in zip(words, shifts, strict=True)]
    whole = parts[0] if channels == 1 else f"{stored_type(format)}({', '.join(parts)})"
    return lines, Text(whole)


def _read_whole(channels: int, data: str, size: str, type: str) -> tuple[list[str], Text]:
    if channels != 3:
        return [], Text(f"{data}[p.y * {size}.z + p.x]")
    parts = ", ".join(f"{data}[at{f' + {c}' if c else ''}]" for c in range(3))
    return [f"int at = p.y * {size}.z + 3 * p.x;"], Text(f"{type}({parts})")


def _extract(format: Format, word: str, shift: str, bits: int) -> str:
    if format.dtype.kind == "i":
        return f"bitfieldExtract(int({word}), {shift}, {bits})"
    if format.dtype.kind == "f":
        return f"unpackHalf2x16({word} >> ({shift})).x"
    return f"bitfieldExtract({word}, {shift}, {bits})"


# ---------------------------------------------------------------- writing


def write_texels(
    format: Format, data: str, size: str, texels: Sequence[str], x: str, y: str
) -> list[str]:
    """Lines that store neighbouring pixels, the first at x; whole words of them."""
    channels, itemsize = format.channels, format.dtype.itemsize
    row = f"{y} * {size}.z"
    if itemsize == 4 and channels != 3:
        return [
            f"{data}[{row} + {x}{f' + {k}' if k else ''}] = {texel};"
            for k, texel in enumerate(texels)
        ]
    parts = [
        f"{texel}.{AXES[c]}" if channels > 1 else texel for texel in texels for c in range(channels)
    ]
    per_word = 4 // itemsize
    words = [
        _pack(format, parts[first : first + per_word]) for first in range(0, len(parts), per_word)
    ]
    scaled = channels * itemsize
    start = x if scaled == 4 else f"{scaled // 4} * {x}" if scaled % 4 == 0 else ""
    if not start:
        start = f"{scaled} * {x} / 4" if scaled > 1 else f"{x} / 4"
    return [
        f"int at = {row} + {start};",
        *(f"{data}[at{f' + {j}' if j else ''}] = {word};" for j, word in enumerate(words)),
    ]


def _pack(format: Format, parts: Sequence[str]) -> str:
    """Components in one word."""
    if len(parts) == 1:
        return parts[0]
    if format.dtype.kind == "f":
        return f"packHalf2x16(vec2({', '.join(parts)}))"
    bits = 8 * format.dtype.itemsize
    if format.dtype.kind == "i":
        parts = [f"(uint({part}) & {2**bits - 1}u)" for part in parts]
    return " | ".join(f"({part} << {k * bits})" if k else part for k, part in enumerate(parts))
