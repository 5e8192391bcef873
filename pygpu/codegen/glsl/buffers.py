"""How texels lie in storage buffers, and the GLSL that reads and writes them there.

Rows start at multiples of 16 bytes and have room for a multiple of 4 pixels, so that a program may
store 4 pixels at once without looking where a row ends. Components of 8 and 16 bits stay packed:
their buffers have elements of 4 bytes, or, where the driver knows `narrow` ones, of a pixel's 1 or
2 bytes. Pixels of 3 and 6 bytes are words, but for those of 3 that are read apart from each other.

    row_bytes(Format(np.dtype("uint8"), 3), width=5)     # 32: 8 pixels of 3 bytes, rounded up
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.expressions.text import Text
from pygpu.codegen.glsl.lines import braced
from pygpu.codegen.glsl.writer import stored_type, table_kind, table_numbers
from pygpu.core.storage import Format
from pygpu.passes.blocks.block_views import NARROW
from pygpu.types import Type, vector

ALIGNMENT: Final = 16
AXES: Final = "xyzw"


def row_bytes(format: Format, width: int) -> int:
    """Bytes from one row to the next."""
    pixels = -(-width // 4) * 4
    needed = pixels * format.nbytes
    return -(-needed // ALIGNMENT) * ALIGNMENT


def element_type(format: Format, narrow: bool, apart: bool = False) -> str:
    """The type of a buffer's elements, in GLSL."""
    if format.dtype.itemsize < 4:
        return {1: "uint8_t", 2: "uint16_t", 4: "uint"}[element_bytes(format, narrow, apart)]
    scalar = Format(format.dtype, 1)
    return stored_type(scalar if format.channels == 3 else format)


def element_bytes(format: Format, narrow: bool, apart: bool = False) -> int:
    """Bytes of a buffer's element: a pixel's, or 4; of pixels of three bytes one, where they are
    read `apart`: those near each other are read faster by words, of which they share some."""
    if narrow and apart and format.nbytes == 3:
        return 1
    is_narrow = narrow and format.nbytes in NARROW
    is_whole = format.dtype.itemsize == 4 and format.channels != 3
    return format.nbytes if is_narrow or is_whole else 4


def pixels_at_once(format: Format, narrow: bool) -> int:
    """The fewest pixels that fill whole elements: a program stores so many at once."""
    count = 1
    while count * format.nbytes % element_bytes(format, narrow):
        count *= 2
    return count


# ---------------------------------------------------------------- reading


def read_texel(
    format: Format, data: str, size: str, element: int, place: str = "p"
) -> tuple[list[str], Text]:
    """The lines of a GLSL function of `ivec2 p` that reads a texel, and the expression of what is
    stored there. Where no lines are needed, the expression reads at `place`, which need not be p.
    `size.z` is the number of elements in a row, each of so many bytes (`element_bytes`)."""
    channels, itemsize = format.channels, format.dtype.itemsize
    if itemsize == 4:
        return _read_whole(channels, data, size, stored_type(format), place)
    if element < 4:
        return _read_narrow(format, data, size, place)
    bits = 8 * itemsize
    per_word = 4 // itemsize
    lines = [f"int row = p.y * {size}.z;"]
    if channels == 3 and itemsize == 1:  # three bytes lie in two words at most
        lines += [
            "int first = 3 * p.x;",
            "int shift = (first & 3) * 8;",
            # By 32 - shift in two steps: GLSL does not define what a shift by 32 gives.
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
        index = _times(count, "p.x")
        lines += [
            f"uint word{j} = {data}[row + {index}{f' + {j}' if j else ''}];" for j in range(count)
        ]
        words = [f"word{c // per_word}" for c in range(channels)]
        shifts = [str(c % per_word * bits) for c in range(channels)]
    parts = [_extract(format, word, shift, bits) for word, shift in zip(words, shifts, strict=True)]
    return lines, _joined(format, parts)


def _read_whole(
    channels: int, data: str, size: str, type: str, place: str
) -> tuple[list[str], Text]:
    if channels != 3:
        return [], Text(f"{data}[{place}.y * {size}.z + {place}.x]")
    parts = ", ".join(f"{data}[at{f' + {c}' if c else ''}]" for c in range(3))
    return [f"int at = p.y * {size}.z + 3 * p.x;"], Text(f"{type}({parts})")


def _read_narrow(format: Format, data: str, size: str, place: str) -> tuple[list[str], Text]:
    """Lines and the texel as `read_texel` gives them, where elements are pixels or components."""
    if format.channels == 3:
        bytes_of = [f"uint({data}[at{f' + {c}' if c else ''}])" for c in range(3)]
        if format.dtype.kind == "i":
            bytes_of = [f"bitfieldExtract(int({each}), 0, 8)" for each in bytes_of]
        return [f"int at = p.y * {size}.z + 3 * p.x;"], _joined(format, bytes_of)
    element = f"uint({data}[{place}.y * {size}.z + {place}.x])"
    if format.channels == 1 and format.dtype.kind in "ub":
        return [], Text(element)
    bits = 8 * format.dtype.itemsize
    parts = [_extract(format, "pixel", str(c * bits), bits) for c in range(format.channels)]
    return [f"uint pixel = {element};"], _joined(format, parts)


def _joined(format: Format, parts: Sequence[str]) -> Text:
    """A stored texel of its components."""
    if len(parts) == 1:
        return Text(parts[0])
    return Text(f"{stored_type(format)}({', '.join(parts)})")


def _extract(format: Format, word: str, shift: str, bits: int) -> str:
    if format.dtype.kind == "i":
        return f"bitfieldExtract(int({word}), {shift}, {bits})"
    if format.dtype.kind == "f":
        return f"unpackHalf2x16({word} >> ({shift})).x"
    return f"bitfieldExtract({word}, {shift}, {bits})"


# ---------------------------------------------------------------- tables


def table_elements(values: NDArray[Any]) -> NDArray[Any]:
    """Scalars one by one, vectors as such: where threads look numbers of their own up, what each
    reads counts. Those of three components are read as of four."""
    values = table_numbers(values)
    if values.ndim < 2 or values.shape[1] != 3:
        return np.ascontiguousarray(values)
    return np.pad(values, ((0, 0), (0, 1)))


def table_type(elements: NDArray[Any]) -> Type:
    """The type of a table's elements."""
    return vector(table_kind(elements), elements.shape[1] if elements.ndim > 1 else 1)


def read_table(name: str, data: str, type: Type) -> list[str]:
    """The function that reads a table's element, as functions see it."""
    element = f"{data}[i]"
    if type.size == 3:
        element += ".xyz"
    if type.kind == "bool":
        element = f"{type}({element})"
    return [*braced(f"{type} {name}(int i)", [f"return {element};"]), ""]


# ---------------------------------------------------------------- writing


def write_texels(
    format: Format, data: str, size: str, texels: Sequence[str], x: str, y: str, narrow: bool
) -> list[str]:
    """The lines of GLSL that store pixels of row y from x on, which fill whole elements."""
    channels, itemsize = format.channels, format.dtype.itemsize
    row = f"{y} * {size}.z"
    if itemsize == 4 and channels != 3:
        return [
            f"{data}[{row} + {x}{f' + {k}' if k else ''}] = {texel};"
            for k, texel in enumerate(texels)
        ]
    element = element_bytes(format, narrow)
    scaled = channels * itemsize
    is_whole = scaled % element == 0
    start = _times(scaled // element, x) if is_whole else f"{_times(scaled, x)} / {element}"
    return [
        f"int at = {row} + {start};",
        *(
            f"{data}[at{f' + {j}' if j else ''}] = {stored};"
            for j, stored in enumerate(elements(format, texels, narrow))
        ),
    ]


def elements(format: Format, texels: Sequence[str], narrow: bool) -> Sequence[str]:
    """What a buffer holds of neighbouring pixels, which fill whole elements."""
    channels, itemsize = format.channels, format.dtype.itemsize
    if itemsize == 4 and channels != 3:
        return texels
    parts = [
        f"{texel}.{AXES[c]}" if channels > 1 else texel for texel in texels for c in range(channels)
    ]
    element = element_bytes(format, narrow)
    together = element // itemsize
    words = [
        _pack(format, parts[first : first + together]) for first in range(0, len(parts), together)
    ]
    if element < 4:
        return [f"{element_type(format, narrow)}({word})" for word in words]
    return words


def _times(count: int, x: str) -> str:
    return x if count == 1 else f"{count} * {x}"


def _pack(format: Format, parts: Sequence[str]) -> str:
    """Components in one word."""
    if format.dtype.kind == "f" and format.dtype.itemsize == 2:
        return f"packHalf2x16(vec2({', '.join(parts)}))"
    if len(parts) == 1:
        return parts[0]
    bits = 8 * format.dtype.itemsize
    if format.dtype.kind == "i":
        parts = [f"(uint({part}) & {2**bits - 1}u)" for part in parts]
    return " | ".join(f"({part} << {k * bits})" if k else part for k, part in enumerate(parts))
