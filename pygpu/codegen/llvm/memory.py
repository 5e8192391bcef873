"""Texels in memory: how native code reads and writes them, in blocks of lanes and one by one.

Stored dtypes are converted in registers, interleaved channels are taken apart and put together by
shuffles. Texels of 1 and 2 bytes travel as bits of wider lanes. Every index was brought into the
image by a boundary rule (boundary.py), whatever the function computed, so no access leaves its
memory (an aligned word around a texel may be read, which never crosses a page).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from pygpu.codegen.llvm.code import Code, nearest_even
from pygpu.codegen.llvm.text import FLOATING, Val, type_text
from pygpu.core.storage import Format
from pygpu.ssa import Number

RAW: Final = {"int8": "byte", "uint8": "byte", "bool": "byte", "int16": "short", "uint16": "short",
              "float16": "short", "int32": "int", "uint32": "uint",
              "float32": "float"}  # fmt: skip
LIMITS: Final = {"int8": (-128, 127), "int16": (-(2**15), 2**15 - 1), "uint8": (0, 255),
                 "uint16": (0, 65535), "uint32": (0, 2**32 - 1)}  # fmt: skip


# ---------------------------------------------------------------- one lane's bits and its meaning


def decode(code: Code, raw: Val, format: Format) -> Val:
    """A texel's component from its stored bits: floats as they are, else ints that hold them in
    their low bits, what is above being anything."""
    name = _name(format.dtype)
    if name in ("float32", "int32", "uint32"):
        return code.bits(raw, RAW[name])
    if name == "float16":
        return half_to_float(code, raw)
    size: int = format.dtype.itemsize * 8
    if name in ("int8", "int16"):
        return (raw << (32 - size)) >> (32 - size)
    value = raw & ((1 << size) - 1)
    if name == "bool":
        return value.ne(0)
    if not format.normalize:
        return value
    if size == 16:
        found = code.to_float(value) * (1.0 / 65535)
    else:
        found = _byte_to_unit(code, code.to_float(value))
    code.stored[found.text, name] = raw
    return found


@cache
def _name(dtype: np.dtype[Any]) -> str:
    """NumPy makes the name anew each time."""
    return dtype.name


def _byte_to_unit(code: Code, value: Val) -> Val:
    """v / 255, correctly rounded."""
    if not code.machine.has("fma"):
        return value / 255.0
    high = float(np.float32(1 / 255))
    return code.fma(value, high, value * (1 / 255 - high))


def encode(code: Code, value: Val, format: Format) -> Val:
    """The stored bits of a result (see device.Task), in the low bits of ints."""
    name = _name(format.dtype)
    if name == "float32":
        return code.to_float(value)
    if name == "float16":
        return float_to_half(code, code.to_float(value))
    if (value.text, name) in code.stored:
        return code.stored[value.text, name]
    if name == "bool":
        return code.to_int(code.to_bool(value))
    if value.kind == "bool":
        most = LIMITS[name][1] if format.dtype.kind == "u" else 1
        kind = "uint" if name == "uint32" else "int"
        return code.select(value, code.constant(kind, most), code.constant(kind, 0))
    if value.kind == "float" and (name == "uint32" or format.dtype.kind == "i"):
        value = nearest_even(code, value)
    if name == "uint32" or value.kind == "uint":
        return _encode_unsigned(code, value, name)
    if value.kind == "float" and format.dtype.kind == "u":
        # Adding 1.5 * 2**23 rounds to the nearest int and leaves it in the low bits.
        top = float(LIMITS[name][1])
        return code.bits(code.clamp(value * top, 0.0, top) + 12582912.0, "int")
    whole = code.to_int(value)
    return whole if name == "int32" else code.clamp(whole, *LIMITS[name])


def _encode_unsigned(code: Code, value: Val, name: str) -> Val:
    """Numbers into uint32, and uints into any integers, saturated."""
    if name != "uint32":
        top = LIMITS[name][1] if name in LIMITS else 2**31 - 1
        return code.bits(code.minimum(value, top), "int")
    return code.to_uint(code.maximum(value, 0) if value.kind == "int" else value)


def half_to_float(code: Code, raw: Val) -> Val:
    """A float16 in the low bits of an int."""
    if code.machine.has("f16c"):
        return code.to_float(code.bits(code.cast("trunc", raw, "short"), "half"))
    bits = raw & 0x7FFF
    sign = (raw & 0x8000) << 16
    # Exponents are shifted by 112; multiplying treats subnormal numbers like the others.
    scaled = code.bits(code.bits(bits << 13, "float") * 2.0**112, "int")
    special = (bits << 13) | 0x7F800000
    return code.bits(code.select(bits >= 0x7C00, special, scaled) | sign, "float")


def float_to_half(code: Code, value: Val) -> Val:
    """A float16 in the low bits of an int, rounded to nearest even."""
    if code.machine.has("f16c"):
        half = code.bits(code.to_float(value, "half"), "short")
        return code.cast("zext", half, "int")
    bits = code.bits(value, "int")
    sign = code.binary("lshr", bits, 16) & 0x8000
    magnitude = bits & 0x7FFFFFFF
    odd = code.binary("lshr", magnitude, 13) & 1
    normal = code.binary("lshr", magnitude - 0x38000000 + 0xFFF + odd, 13)
    # Below 2**-14 the sum with 0.5 has the result's last place at its own.
    small = code.bits(code.bits(magnitude, "float") + 0.5, "int") - 0x3F000000
    nan = (code.binary("lshr", magnitude, 13) & 0x3FF) | 0x7E00
    result = code.select(magnitude < 0x38800000, small, normal)
    result = code.select(magnitude >= 0x477FF000, code.constant("int", 0x7C00), result)
    return code.select(magnitude > 0x7F800000, nan, result) | sign


# ---------------------------------------------------------------- blocks of texels


def load_block(code: Code, pointer: Val, format: Format, raw: bool = False) -> tuple[Val, ...]:
    """The components of `lanes` texels that lie side by side; `raw`: of one channel, as stored."""
    size, channels, lanes = format.dtype.itemsize, format.channels, code.machine.lanes
    if raw or (size == 4 and channels == 1):
        return (code.load(RAW[_name(format.dtype)], pointer, lanes, size),)
    if (size, channels) == (1, 3):
        return decode_words(code, load_words(code, pointer, format), format)
    parts = unpack(code, pointer, size, channels, size)
    return tuple([decode(code, value, format) for value in parts])


def load_words(code: Code, pointer: Val, format: Format) -> Val:
    """The bits of texels of at most 4 bytes side by side, an int each, to be decoded later."""
    size, channels = format.dtype.itemsize, format.channels
    if (size, channels) == (1, 3):
        # Two vectors that overlap are spread to words by one shuffle.
        lanes = code.machine.lanes
        first, second = (code.load("byte", code.at(pointer, p), 2 * lanes) for p in (0, lanes))
        bytes_of = [3 * i + c if c < 3 else -1 for i in range(lanes) for c in range(4)]
        places = [p if p < 3 * lanes // 2 else p + lanes for p in bytes_of]
        return code.regroup(code.shuffle(first, second, places), "int")
    (word,) = unpack(code, pointer, size * channels, 1, size)
    return word


def decode_words(code: Code, words: Val, format: Format) -> tuple[Val, ...]:
    """The components of texels of which `load_words` has the bits."""
    parts = parts_of(code, words, format.dtype.itemsize, format.channels)
    return tuple([decode(code, value, format) for value in parts])


def unpack(code: Code, pointer: Val, size: int, channels: int, align: int) -> list[Val]:
    lanes = code.machine.lanes
    if (size, channels, lanes) == (4, 2, 8):
        return _pairs(code, pointer, align)
    if size == 4 or channels == 3:
        kind = {1: "byte", 2: "short", 4: "int"}[size]
        parts = [
            code.load(kind, code.at(pointer, j * lanes * size), lanes, align)
            for j in range(channels)
        ]
        return [code.cast("zext", v, "int") for v in deinterleave(code, parts)]
    if channels == 1:
        value = code.load("byte" if size == 1 else "short", pointer, lanes, align)
        return [code.cast("zext", value, "int")]
    pairs = unpack(code, pointer, size * 2, channels // 2, align)
    return [v for pair in pairs for v in (pair, code.binary("lshr", pair, size * 8))]


def _pairs(code: Code, pointer: Val, align: int) -> list[Val]:
    """Eight texels of two words. AVX shuffles within halves of registers in one instruction, so
    each half is read where it is to be."""
    a, b, c, d = [code.load("int", code.at(pointer, 16 * j), 4, align) for j in range(4)]
    first, second = (code.shuffle(*halves, range(8)) for halves in ((a, c), (b, d)))
    places = (0, 2, 8, 10, 4, 6, 12, 14)
    return [code.shuffle(first, second, [place + k for place in places]) for k in (0, 1)]


def store_block(
    code: Code, values: Sequence[Val], pointer: Val, format: Format, raw: bool = False
) -> None:
    """Write the components of `lanes` texels side by side; `raw`: one, as it is stored."""
    lanes = code.machine.lanes
    if raw:
        _put(code, values[0], pointer, format.dtype.itemsize)
        return
    parts = [code.splat(encode(code, value, format), lanes) for value in values]
    _pack(code, parts, pointer, format.dtype.itemsize, lanes)


def _pack(code: Code, raw: list[Val], pointer: Val, size: int, lanes: int) -> None:
    channels = len(raw)
    if (size, channels) == (1, 3):
        red, green, blue = raw
        words = (red & 255) | ((green & 255) << 8) | (blue << 16)
        memory = code.regroup(words, "byte")
        places = [4 * i + c for i in range(lanes) for c in range(3)]
        code.store(code.shuffle(memory, None, places[: 2 * lanes]), pointer)
        code.store(code.shuffle(memory, None, places[2 * lanes :]), code.at(pointer, 2 * lanes))
        return
    if size == 4 or channels in (1, 3):
        kind = {1: "byte", 2: "short", 4: raw[0].kind}[size]
        parts = [code.cast("trunc", v, kind) for v in raw] if size < 4 else raw
        for j, part in enumerate(interleave(code, parts)):
            _put(code, part, code.at(pointer, j * lanes * size), size)
        return
    low = 2 ** (size * 8) - 1
    pairs = [(a & low) | (b << (size * 8)) for a, b in zip(raw[::2], raw[1::2], strict=True)]
    _pack(code, pairs, pointer, size * 2, lanes)


def _put(code: Code, part: Val, pointer: Val, size: int) -> None:
    """Write a register of elements of so many bytes."""
    if code.machine.streams:
        code.store(part, pointer, size * part.lanes, ", !nontemporal !0")
    else:
        code.store(part, pointer, size)


def deinterleave(code: Code, parts: list[Val]) -> list[Val]:
    """The channels of texels in 1 to 4 vectors of memory."""
    channels, n = len(parts), parts[0].lanes
    if channels == 1 or n == 1:
        return parts
    if channels == 2:
        return [code.shuffle(parts[0], parts[1], range(c, 2 * n, 2)) for c in (0, 1)]
    if channels == 3:
        result = []
        for c in range(3):
            places = range(c, 3 * n, 3)
            first = [p if p < 2 * n else -1 for p in places]
            both = code.shuffle(parts[0], parts[1], first)
            last = [i if p < 2 * n else p - n for i, p in enumerate(places)]
            result.append(code.shuffle(both, parts[2], last))
        return result
    half = n // 2
    # Each of these holds two channels of half the texels, one after the other.
    halves = [
        [
            code.shuffle(
                parts[k], parts[k + 1], [4 * i + low + c for c in (0, 1) for i in range(half)]
            )
            for k in (0, 2)
        ]
        for low in (0, 2)
    ]
    low_half = [*range(half), *range(n, n + half)]
    high_half = [i + half for i in low_half]
    return [
        code.shuffle(first, second, order)
        for first, second in halves
        for order in (low_half, high_half)
    ]


def interleave(code: Code, values: list[Val]) -> list[Val]:
    """The vectors of memory that hold 1 to 4 channels of texels."""
    channels, n = len(values), values[0].lanes
    if channels == 1 or n == 1:
        return values
    if channels == 2:
        order = [lane for i in range(n) for lane in (i, i + n)]
        return [code.shuffle(values[0], values[1], part) for part in (order[:n], order[n:])]
    if channels == 3:
        result = []
        for j in range(3):
            places = [divmod(j * n + e, 3) for e in range(n)]
            both = code.shuffle(
                values[0], values[1], [-1 if c == 2 else pixel + c * n for pixel, c in places]
            )
            last = [pixel + n if c == 2 else e for e, (pixel, c) in enumerate(places)]
            result.append(code.shuffle(both, values[2], last))
        return result
    left = interleave(code, values[:2])
    right = interleave(code, values[2:])
    result = []
    for a, b in zip(left, right, strict=True):
        for start in (0, n // 2):
            pairs = [(start + e // 4 * 2 + e % 2) + (n if e % 4 >= 2 else 0) for e in range(n)]
            result.append(code.shuffle(a, b, pairs))
    return result


# ---------------------------------------------------------------- texels anywhere


def steps(format: Format) -> int:
    """In how many units `gather` counts from texel to texel: words, else bytes."""
    return format.nbytes if format.nbytes % 4 else format.nbytes // 4


def gather(code: Code, base: Val, place: Val, format: Format, count: Val | int) -> tuple[Val, ...]:
    """The components of the texels at places from `base`: see `gather_raw`."""
    return decode_raw(code, gather_raw(code, base, place, format, count), format)


def gather_raw(code: Code, base: Val, place: Val, format: Format, count: Val | int) -> list[Val]:
    """The bits of the texels at places from `base`, in ints: a word of each texel that has at most
    4 bytes, else a word for each component. `base` is aligned to 4 bytes where a texel has words
    of its own: place i * steps(format) is that of texel i. A scalar place loads one texel.
    `count`: the texels from the first to the last, which fill 4 bytes at least."""
    size, channels = format.dtype.itemsize, format.channels
    if size == 4:
        return [_word(code, code.at(base, 4 * c), place) for c in range(channels)]
    if size * channels <= 2 and place.lanes > 1 and not code.machine.gathers:
        short = _each_at(code, base, place, "i8", "byte" if size * channels == 1 else "short")
        return [code.cast("zext", short, "int")]
    if size * channels <= 2:
        over = code.cast("ptrtoint", base, "long") & 3
        base = code.at(base, -over)
        place = place + code.cast("trunc", over, place.kind)
        return [_shifted(code, _word(code, base, code.binary("lshr", place, 2)), place & 3)]
    if size * channels == 3:
        # The 4 bytes from a texel on; of the last one, those that end with it.
        start = code.minimum(place, code.like(place, count) * 3 - 4)
        return [_shifted(code, _bytes(code, base, start), place - start)]
    if channels == 3:
        first, last = (_bytes(code, base, place + start) for start in (0, 2))
        return [first, *parts_of(code, last, size, 2)]
    # The texel has a word of its own, or two.
    step = size * channels // 4
    words = [_word(code, code.at(base, 4 * j), place) for j in range(step)]
    if step == 1:
        return words
    return [part for word in words for part in parts_of(code, word, size, 4 // size)]


def decode_raw(code: Code, raw: Sequence[Val], format: Format) -> tuple[Val, ...]:
    """The components of texels of which `gather_raw` has the bits."""
    if format.nbytes <= 4:
        return decode_words(code, raw[0], format)
    return tuple([decode(code, value, format) for value in raw])


def parts_of(code: Code, word: Val, size: int, count: int) -> list[Val]:
    """The first components in a word, each in the low bits of an int."""
    return [code.binary("lshr", word, 8 * size * c) if c else word for c in range(count)]


def _shifted(code: Code, word: Val, places: Val) -> Val:
    """The word from so many bytes on."""
    amount = places << 3
    return code.binary("lshr", word, code.cast("trunc", amount, "int"))


def _word(code: Code, base: Val, index: Val) -> Val:
    """The 4 bytes at base + 4 * index, as an int."""
    return _int_at(code, base, index, "i32", 4)


def _bytes(code: Code, base: Val, place: Val) -> Val:
    """The 4 bytes at base + place, as an int."""
    return _int_at(code, base, place, "i8", 1)


def _int_at(code: Code, base: Val, index: Val, unit: str, align: int) -> Val:
    if index.lanes > 1 and not code.machine.gathers:
        return code.gathered(_each_at(code, base, index, unit, "int", align))
    pointers = _pointer(code, base, index, unit)
    if index.lanes == 1:
        return code.load("int", pointers, 1, align)
    return code.gathered(masked_gather(code, pointers, "int", align))


def _pointer(code: Code, base: Val, index: Val, unit: str) -> Val:
    """base + index units, of each lane."""
    text = f"getelementptr {unit}, ptr {base.text}, {index.type} {index.text}"
    return code.make("ptr", text, base, index, lanes=index.lanes)


def _each_at(code: Code, base: Val, index: Val, unit: str, kind: str, align: int = 1) -> Val:
    """What lies at base + index units, of each lane by itself. LLVM would make vectors of pointers
    first."""
    found = Val(code, kind, index.lanes, "poison", 0)
    for lane, place in enumerate(_places(code, index)):
        one = code.load(kind, _pointer(code, base, place, unit), 1, align)
        text = f"insertelement {found.type} {found.text}, {one.type} {one.text}, i64 {lane}"
        found = code.make(kind, text, found, one)
    return found


def move(code: Code, base: Val, place: Val, pointer: Val, format: Format) -> None:
    """Write the texels at places, as `gather` counts them from `base`, side by side."""
    unit = "i8" if steps(format) == format.nbytes else "i32"
    for lane, start in enumerate(_places(code, place)):
        source, to = _pointer(code, base, start, unit), code.at(pointer, lane * format.nbytes)
        done = 0
        for kind, lanes, size in (("int", 4, 16), ("long", 1, 8), ("int", 1, 4), ("short", 1, 2)):
            if format.nbytes - done >= size:
                code.store(code.load(kind, code.at(source, done), lanes), code.at(to, done))
                done += size


def _places(code: Code, index: Val) -> list[Val]:
    """The lanes of an index in 64 bits. Ints leave their register by twos, behind a fence: where
    bytes were moved to make them, LLVM 20 to 22 take the upper of the two for zero."""
    if index.kind != "int":
        return [code.lane(index, lane) for lane in range(index.lanes)]
    fenced = code.intrinsic("arithmetic.fence", code.regroup(index, "double"))
    longs = code.bits(fenced, "long")
    lanes = [code.lane(longs, lane) for lane in range(longs.lanes)]
    halves = [(code.cast("trunc", two, "int"), code.binary("ashr", two, 32)) for two in lanes]
    return [place for low, high in halves for place in (code.cast("sext", low, "long"), high)]


def masked_gather(code: Code, pointers: Val, kind: str, align: int = 4) -> Val:
    """One value of 4 bytes from each pointer."""
    n = pointers.lanes
    result = type_text(kind, n)
    letter = "f32" if kind in FLOATING else "i32"
    name = f"llvm.masked.gather.v{n}{letter}.v{n}p0"
    every = f"<{', '.join(['i1 true'] * n)}>"
    if code.machine.version >= 22:
        code.declared[name] = f"declare {result} @{name}(<{n} x ptr>, <{n} x i1>, {result})"
        given = f"<{n} x ptr> align {align} {pointers.text}, <{n} x i1> {every}, {result} poison"
    else:
        code.declared[name] = f"declare {result} @{name}(<{n} x ptr>, i32, <{n} x i1>, {result})"
        given = f"<{n} x ptr> {pointers.text}, i32 {align}, <{n} x i1> {every}, {result} poison"
    return code.make(kind, f"call {result} @{name}({given})", pointers)


def mixed(code: Code, valid: Val, texel: Sequence[Val], cval: Sequence[Number]) -> tuple[Val, ...]:
    """The texel where valid, else the constant."""
    return tuple(
        [
            code.select(valid, value, code.constant(value.kind, number))
            for value, number in zip(texel, cval, strict=True)
        ]
    )
