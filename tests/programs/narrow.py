"""Integers that NumPy holds in fewer than 32 bits: they wrap in their own width."""

import math
import operator

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, UInt

program = Suite()

BYTES = np.array([0, 1, 127, 128, 200, 255, 17, 90], np.uint8)
SIGNED = np.array([-128, -1, 0, 1, 100, 127, -77, 5], np.int8)
WORDS = np.array([0, 1, 255, 256, 32768, 65535, 40000, 1234], np.uint16)
SHORTS = np.array([-32768, -1, 0, 1, 300, 32767, -20000, 77], np.int16)
SQUARE = np.array([[1, 250], [255, 3]], np.uint8)
WIDE = np.array([300, 5, 70000, -3])


def four(p):
    k, n = p.x % 8, (p.x * 3 + p.y * 5) % 8
    return (BYTES[k], SIGNED[n]), (WORDS[n], SHORTS[k]), BYTES[n], SIGNED[k]


@program
def sums_and_products_of_narrow_integers(im: Image, p: Position):
    with np.errstate(over="ignore"):
        (a, b), (c, d), e, f = four(p)
        of_one = a + e, a - e, a * e, b + f, b * f, c * c, d - 20000, d * d, a**2, e**a
        return *of_one, a * 2 - e, 255 - a, 3 * b, a + (p.x > 2), np.multiply(a, 3), np.add(b, f)


@program
def narrow_integers_of_two_widths(im: Image, p: Position):
    with np.errstate(over="ignore"):
        (a, b), (c, d), _, _ = four(p)
        wide = a + np.int64(100), np.int32(300) + a, c * d, a + np.uint32(3), a * p.x
        return a + c, a - b, d * a, a & b, c ^ a, a // np.int8(-7), *wide


@program
def narrow_integers_alone(im: Image, p: Position):
    with np.errstate(over="ignore"):
        (a, b), (c, d), _, _ = four(p)
        return -a, -b, ~a, ~b, -c, -d, abs(b), abs(d), np.negative(a), np.sign(b), np.invert(c)


@program
def bits_of_narrow_integers(im: Image, p: Position):
    (a, b), (c, d), e, f = four(p)
    shifted = a << 1, b << 3, c << 9, d << 15, a >> 2, b >> 9, 1 << a, a << (e & 15), d >> (e & 15)
    return *shifted, (a << 3) | (a >> 5), a ^ (a >> 1), a & 15 | e, b ^ f


@program
def quotients_of_narrow_integers(im: Image, p: Position):
    with np.errstate(all="ignore"):
        (a, b), (_, d), e, f = four(p)
        floors = a // 7, a % 7, b // -1, b // 5, b % 5, d // -7, d % -7, a // e, a % e, b // f
        return *floors, b % f, a // b, divmod(a, 100)[1], a / 2, d / -3, 7 // a


@program
def arrays_of_narrow_integers(im: Image, p: Position):
    with np.errstate(over="ignore"):
        counts, pair = np.zeros(4, np.uint8), np.array([BYTES[p.x % 8], BYTES[p.y % 8]])
        counts[p.x % 4] += 200
        counts[p.x % 4] += 100
        counts[1] = p.x
        counts -= 3
        counts *= np.uint8(7)
        ends = counts.sum(), counts[0], counts[p.y % 4], counts.max(), counts.astype(int)[1] * 300
        of_pair = (pair + 100)[0], pair.sum(), (pair**2)[1], (-pair)[0], (~pair)[1], (pair << 1)[0]
        of_sums = np.sum(pair, dtype=np.uint8), pair.prod(dtype=np.int8), pair.mean()
        beside = (pair + [100, 300])[0], (pair + np.array([1, 2]))[1], (pair + np.uint8(99))[0]
        return *ends, *of_pair, *of_sums, *beside, pair[0] * 2, (pair @ pair) * 1


@program
def rows_of_narrow_integers(im: Image, p: Position):
    with np.errstate(over="ignore"):
        a, b = SQUARE[p.x % 2], SQUARE[p.y % 2]
        row = BYTES.reshape(2, 4)[p.x % 2]
        sums = (a + b)[1], (a * 2)[1], (a + SQUARE[0])[1], (a + [100, 100])[1], (SQUARE[1] - a)[0]
        return *sums, (row[1:] + row[:-1])[0], (row + 1)[2], row.sum(), row[p.y % 4] * 2


@program
def numbers_made_narrow(im: Image, p: Position):
    with np.errstate(over="ignore"):
        (_, b), (c, d), _, _ = four(p)
        scalars = np.uint8(p.x) * 99, np.int8(p.x) - 100, np.uint8(c), np.uint8(d), np.int8(c)
        floats = np.uint8(im(p) * 0 + p.x * 20.5) * 3, np.int16(p.x * -1.5) * 9999, np.uint16(b)
        whole = np.array([p.x * 100, p.y - 5]).astype(np.uint8)
        mixed = np.array([BYTES[p.x % 8], 7]), np.array([b, BYTES[p.y % 8]])
        of_arrays = whole[0] + whole[1], whole[1] * 2, (mixed[0] * 2)[0], (mixed[1] * 200)[1]
        return *scalars, *floats, *of_arrays, WIDE[p.x % 4].astype(np.uint8), c.item() * 3


@program
def narrow_integers_that_become_pythons(im: Image, p: Position):
    a, (b, c) = BYTES[p.x % 8], (SIGNED[p.y % 8], WORDS[p.x % 8])
    whole = int(a) * 2, round(a) * 2, math.floor(b) * 3, math.ceil(c) * 2, operator.index(a) * 9
    ranges = sum(i * 300 for i in range(a)), sum(i for i in range(int(b), a, 3))
    return *whole, *ranges, float(a) * 2, a.item() * 2, int(np.bitwise_count(a)) * 30


@program
def norms_and_means_of_narrow_integers(im: Image, p: Position):
    pair = np.array([BYTES[p.x % 8], BYTES[p.y % 8]])
    norm, mean = np.linalg.norm(pair), np.average(pair, weights=[2, 3])
    return norm, mean, np.linalg.norm(pair, 1), np.linalg.norm(pair, 3), np.var(pair), pair.std()


def crc8(crc):
    for _ in range(8):
        crc = (crc << 1) ^ np.uint8(0x07) if crc & 0x80 else crc << 1
    return crc


@program
def checksums_of_bytes(im: Image, p: Position):
    with np.errstate(over="ignore"):
        register, turned, h = np.uint16(0xACE1), np.uint8(0), np.uint8(7)
        for _ in range(p.x + 3):
            bit = (register ^ (register >> 2) ^ (register >> 3) ^ (register >> 5)) & 1
            register = (register >> 1) | (bit << 15)
            h = h * 31 + BYTES[p.y % 8]
        v = np.uint8(p.x * 8 + p.y)
        for _ in range(8):
            turned, v = (turned << 1) | (v & 1), v >> 1
        return crc8(np.uint8(p.x * 8 + p.y)), register, turned, h


@program
def narrow_integers_that_paths_choose(im: Image, p: Position):
    with np.errstate(over="ignore"):
        v, total, best = np.uint8(200) if p.y > 1 else np.uint8(100), 0, np.uint8(0)
        for k in range(p.x):
            total += BYTES[(k + p.y) % 8]
            best = BYTES[k % 8] if BYTES[k % 8] > best else best
        least = np.where(p.x > 2, BYTES[p.x % 8], BYTES[p.y % 8]) + np.uint8(100)
        a, b = BYTES[p.x % 8], BYTES[p.y % 8]
        return v + v, v * 3, total, best + np.uint8(10), best * 2, least, a - b if a > b else b - a


class Total:
    def __init__(self):
        self.value = np.uint8(0)

    def add(self, x):
        self.value += x
        return self


@program
def narrow_integers_in_what_holds_them(im: Image, p: Position):
    with np.errstate(over="ignore"):
        a, b = BYTES[p.x % 8], BYTES[p.y % 8]
        xs, counts = [a, b], {0: np.uint8(250), 1: np.uint8(3)}
        counts[p.x % 2] += np.uint8(10)
        of_xs = xs[0] + xs[1], sum(xs), max(xs) - min(xs), sorted(xs)[0] * 2, xs[p.x % 2] + a
        return *of_xs, counts[0], counts[1], Total().add(a).add(b).value, (lambda x, y: x * y)(a, b)


@program
def bytes_stored_at_a_dynamic_place_wrap(im: Image, p: Position):
    counts = np.zeros(3, np.uint8)
    counts[p.x % 3] = 200
    counts += np.uint8(100)
    return counts[0] * 1.0


@program
def bytes_stored_under_a_condition_wrap(im: Image, p: Position):
    counts = np.zeros(3, np.int8)
    if im(p) > 0:
        counts[0] = 100
    return (counts * 2)[0] * 1.0


@program
def bytes_that_grow_in_a_loop_wrap(im: Image, p: Position):
    counts = np.zeros(3, np.uint8)
    for _ in range(p.x):
        counts += np.uint8(90)
    return counts[0] * 1.0


COLOURS = np.array([[10, 250, 3], [200, 7, 90], [99, 100, 255]], np.uint8)
LONG = np.array([[200, 250, 3, 1, 2], [1, 3, 255, 254, 128], [7, 5, 6, 77, 90]], np.uint8)
PAIRS = np.array([[300, 65535, 1], [2, 40000, 5], [9, 9, 9]], np.uint16)


@program
def rows_of_bytes_keep_their_width_in_functions(im: Image, p: Position):
    with np.errstate(over="ignore"):
        row, other = COLOURS[p.x % 3], COLOURS[p.y % 3]
        ends = row.min() - row.max(), row.max() * 2, np.fmax(row, other)[0] * 2
        moved = np.roll(row, 1)[0] - row[1], np.flip(row)[0] * 3, np.append(row, other)[4] * 2
        chosen = (
            np.where(im(p) > 0.5, row, other)[1] * 3,
            np.where(row > other, row, 7)[2] * np.uint8(3),
        )
        return *ends, *moved, *chosen, row.copy()[0] * np.uint8(3), np.take(row, [2, 0])[1] * 3


@program
def longer_rows_of_bytes_keep_their_width(im: Image, p: Position):
    with np.errstate(over="ignore"):
        row, other = LONG[p.x % 3], LONG[p.y % 3]
        chosen = np.where(im(p) > 0.5, row, other)[3] * 2, np.maximum(row, other)[2] + row[1]
        return *chosen, np.roll(row, 2)[0] * 2, sorted(row)[3] + row[0], max(row) * 2


@program
def rows_of_two_widths_meet_in_the_wider(im: Image, p: Position):
    with np.errstate(over="ignore"):
        small, large = COLOURS[p.x % 3], PAIRS[p.y % 3]
        return np.where(im(p) > 0.5, small, large)[1] * 2, np.where(small > 90, WIDE[:3], small)[
            1
        ] * 300


@program
def known_arrays_of_64_bits_beside_bytes(im: Image, p: Position):
    byte = LONG[p.x % 3, p.y % 5]
    made = np.arange(3) + byte, np.zeros(3, int) + byte, np.array([1000, 2000, 3]) + byte
    of_slopes = np.gradient(LONG[p.x % 3])[1], np.gradient(COLOURS[p.x % 3])[1]
    return (
        made[0][1] * 100,
        made[1][2] * 2,
        made[2][0],
        np.maximum(np.arange(3), byte)[1] * 300,
        *of_slopes,
    )


@program
def bytes_beside_ints_of_pythons_wrap(im: Image, p: Position):
    with np.errstate(over="ignore"):
        byte, short, counted = BYTES[p.x % 8], SIGNED[p.x % 8], 0
        for i in range(p.x):  # Python's int
            counted += float(byte - i)
        rounded = byte + math.floor(im(p) ** 2 * 9), byte - round(im(p) ** 2 * 3), int(byte) - byte
        return counted, *rounded, short * len([v for v in (1, 2, 3) if v > p.y])


@program
def bytes_beside_the_counter_of_a_long_loop_wrap(im: Image, p: Position):
    total = 0.0
    with np.errstate(over="ignore"):
        for i in range(1500):
            total += float(LONG[(i + p.x) % 3, i % 5] - i % 100)
    return total


@program
def products_of_known_matrices_with_rows_of_bytes(im: Image, p: Position):
    row, matrix = COLOURS[p.x % 3], np.array([[2, 1, 0], [0, 2, 1], [1, 0, 2]])
    columns = np.array([[1, 2], [3, 4]]) @ np.array([LONG[p.x % 3, 1], LONG[p.x % 3, 0]])
    chosen = np.where(np.array([True, False]), row[1], np.array([1000, 2]))
    return *(matrix @ row), *(row @ matrix), *columns, np.isclose(row[1], 506), *(chosen * 2)


@program
def rows_of_bytes_are_put_together(im: Image, p: Position):
    with np.errstate(over="ignore"):
        row, other = COLOURS[p.x % 3], COLOURS[p.y % 3]
        of_one = (
            np.stack([row, other])[0, 1] * 2,
            np.repeat(row, 2)[2] * 2,
            np.outer(row, other)[1, 1],
        )
        wide = np.concatenate([row, WIDE])[1] * 2, np.vstack([row, WIDE[:3]])[0, 1] * 2
        return (
            *of_one,
            *wide,
            np.append(row, 300)[1] * 2,
            np.insert(row, 1, 3)[2] * 2,
            np.diff(row)[1],
        )


@program
def functions_of_numpy_make_bytes_of_pythons_ints(im: Image, p: Position):
    with np.errstate(over="ignore"):
        byte, counted = BYTES[p.x % 8], [np.minimum(BYTES[k], p.y * 0 + k) for k in range(3)]
        chosen = (
            np.where(byte > 100, byte, 0) * 2,
            np.clip(byte, 5, 100) * 3,
            np.maximum(byte, 7) * 2,
        )
        return *chosen, np.clip(COLOURS[p.x % 3], 3, 200)[1] * 2, *counted


STACK = np.arange(1, 19).reshape(2, 3, 3)


@program
def bytes_beside_uints_and_stacks_of_ints(im: Image, p: Position):
    byte, mixed = BYTES[p.x % 8], (p.x * 2654435761) & 0xFFFFFFFF
    stacked = (STACK @ COLOURS[p.x % 3])[1, 2], (STACK @ COLOURS[:, p.y % 3])[0, 0]
    return byte ^ mixed, byte + UInt(p.x), UInt(p.y) * byte, *stacked
