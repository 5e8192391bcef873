"""The bits of numbers: `view` of NumPy's numbers and arrays, and `struct`."""

import struct

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


@program
def bits_of_floats(im: Image, p: Position):
    x = np.float32(im(p))
    i, u = x.view(np.int32), x.view(np.uint32)
    return i, u >> 23, (i >> 23) - 127, i.view(np.float32), u.view(np.float32), u.view(np.int32)


@program
def inverse_root_by_bits_of_numpys_numbers(unit: Image, p: Position):
    x = np.float32(unit(p))
    i = np.int32(0x5F3759DF) - (x.view(np.int32) >> 1)
    y = i.view(np.float32)
    return y * (np.float32(1.5) - np.float32(0.5) * x * y * y)


@program
def inverse_root_by_struct(unit: Image, p: Position):
    number = unit(p)
    i = struct.unpack("<i", struct.pack("<f", number))[0]
    i = 0x5F3759DF - (i >> 1)
    y = struct.unpack("<f", struct.pack("<i", i))[0]
    return y * (1.5 - 0.5 * number * y * y)


@program
def inverse_root_of_an_array(unit: Image, p: Position):
    x = np.array([unit(p), unit(p + (1, 0)), 0.25], dtype=np.float32)
    i = x.view(np.int32)
    y = (0x5F3759DF - (i >> 1)).astype(np.int32).view(np.float32)
    y = y * (1.5 - 0.5 * x * y * y)
    return y[0], y[1], y[2], x.view(np.uint32)[2], x.view(np.uint32).sum() > 5, x.view()[0]


@program
def fields_of_a_struct(im: Image, ints: Image, counts: Image, p: Position):
    n, k = ints(p), counts(p)
    data = struct.pack(">hBxi?", n, k, n * 1000, n > 3)
    a, b, c, d = struct.unpack(">hBxi?", data)
    native = struct.pack("bi2H", k, n, k, 7)
    bits = struct.unpack("!I", struct.pack("!f", im(p)))[0]
    return (
        *(len(data), data[0], data[7], a, b, c, d, len(native), native[4]),
        *struct.unpack("bi2H", native),
        *(bits >> 31, bits & 0x7FFFFF, int.from_bytes(struct.pack("<f", im(p)), "little") >> 23),
        struct.unpack("f", bytes([k, 0, 128, 63]))[0],
    )


@program
def numbers_that_a_struct_does_not_hold(ints: Image, p: Position):
    try:
        packed = struct.pack("b", ints(p) * 8)
    except struct.error:
        return -1000
    return packed[0]


@program
def hash_of_bits(im: Image, p: Position):
    h = 2166136261
    for v in (im(p), im(p + (1, 0)), 0.5):
        for byte in struct.pack("<f", v):
            h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return h


@program
def products_of_nothing(im: Image, p: Position):
    none = [im(p) for i in range(0)]
    empty = np.zeros((2, 0)) * im(p)
    return (
        *(np.multiply.reduce(none), np.add.reduce(none), np.prod(none), np.sum(none)),
        *np.prod(empty, axis=1),
        *np.multiply.reduce(empty, axis=1),
        *np.sum(empty, axis=1),
    )


PAIR = struct.Struct("<hB")


@program
def structs_and_buffers(ints: Image, counts: Image, p: Position):
    n, k = ints(p), counts(p)
    data = PAIR.pack(n, k)
    first, second = PAIR.unpack(data)
    buffer = bytearray(8)
    PAIR.pack_into(buffer, 1, n, 7)
    struct.pack_into(">H", buffer, 5, k * 300)
    rows = struct.iter_unpack("<hB", data + data)
    own = struct.Struct(">HH")
    return (
        *(first, second, PAIR.size, buffer[0], buffer[3], sum(buffer)),
        *PAIR.unpack_from(buffer, offset=1),
        struct.unpack_from(">H", buffer, 5)[0],
        sum(a + b for a, b in rows),
        own.unpack(own.pack(k, 5))[0],
    )


@program
def bytes_packed_in_a_loop(im: Image, p: Position):
    packed = bytearray(4)
    for _ in range(p.x):
        struct.pack_into("f", packed, 0, 1.0)
    return packed[3]
