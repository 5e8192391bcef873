"""Memory next to pages that nobody may touch: inputs and `out=` end where such a page begins, or
begin where one ends, so that reading or writing a byte too far is the end of the process."""

import signal
import sys

import pytest

from conftest import require
from processes import run, start

GUARDED = """
import ctypes, itertools, mmap

page = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
FORBIDDEN = 0  # PROT_NONE

class Guarded:
    '''Memory between two forbidden pages, for arrays at its end or its start.'''

    def __init__(self, size):
        pages = -(-size // page)
        self.memory = mmap.mmap(-1, (pages + 2) * page)
        self.size = pages * page
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for forbidden in (start, start + page + self.size):
            assert libc.mprotect(forbidden, page, FORBIDDEN) == 0

    def array(self, shape, dtype, at_end):
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        first = page + (self.size - nbytes if at_end else 0)
        return np.frombuffer(self.memory, dtype, int(np.prod(shape)), first).reshape(shape)

RULES = {
    "nearest": lambda i, n: np.clip(i, 0, n - 1),
    "reflect": lambda i, n: np.minimum(i % (2 * n), 2 * n - 1 - i % (2 * n)),
    "mirror": lambda i, n: n - 1 - abs(n - 1 - i % max(2 * n - 2, 1)),
    "wrap": lambda i, n: i % n,
    "constant": lambda i, n: np.where((i < 0) | (i >= n), n, i),  # a row or column of zeros
}

def at(array, y, x, boundary):
    height, width = array.shape[:2]
    padded = np.pad(array, ((0, 1), (0, 1), *[(0, 0)] * (array.ndim - 2)))
    return padded[RULES[boundary](y, height), RULES[boundary](x, width)]

# Places beside the pixel, and one that nobody knows beforehand.
def taps(im: Image, p: Position):
    return im(p + (1, 1)), im(p - (2, 1)), im((p.y, p.x))

f = pygpu.compile(taps, target=TARGET)
inputs, outs = Guarded(1 << 14), [Guarded(1 << 14) for _ in range(3)]
rng = np.random.default_rng(0)
count = 0

def check(width, height, dtype, channels, boundary, at_end):
    shape = (height, width) + ((channels,) if channels > 1 else ())
    given = inputs.array(shape, dtype, at_end)
    given[...] = rng.integers(0, 2 if dtype == "bool" else 100, shape)
    made = tuple([each.array(shape, dtype, at_end) for each in outs])
    for each in made:
        each[...] = 0
    f(Image(given, boundary=boundary), out=made)
    y, x = np.mgrid[:height, :width]
    for result, ys, xs in zip(made, (y + 1, y - 1, x), (x + 1, x - 2, y), strict=True):
        expected = at(given, ys, xs, boundary)
        assert np.array_equal(result, expected), (shape, dtype, boundary, at_end, result, expected)

kinds = itertools.product(DTYPES, (1, 2, 3, 4), RULES)
for number, (dtype, channels, boundary) in enumerate(kinds):
    if number % EVERY:
        continue
    for width in range(1, 71):
        turn = width + number
        check(width, 1 + turn % 3, dtype, channels, boundary, bool(turn % 2))
        count += 1
    for width, at_end in itertools.product((1, 16, 17), (False, True)):
        check(width, 2, dtype, channels, boundary, at_end)
print(count)
"""

DTYPES = (
    *("uint8", "uint16", "uint32", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "bool"),
)


linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="pages are guarded by mprotect"
)


# Code for the ends of rows from the first call on, in rows that are long enough.
AT_ONCE = """
from pygpu.devices.cpu import program
program.ENDS = 0
"""


# Each dtype with each number of channels, and both with each boundary; on OpenGL fewer.
@linux
@pytest.mark.parametrize(("name", "every", "first"), [
    ("cpu", 3, ""), ("cpu", 3, AT_ONCE), ("fragment", 9, ""), ("compute", 9, ""),
])  # fmt: skip
def test_no_byte_beside_an_image_is_read_or_written(name, every, first):
    require(name)
    text = f"TARGET, EVERY, DTYPES = {name!r}, {every}, {DTYPES}\n{first}{GUARDED}"
    assert int(run(text)) == 70 * -(-5 * 4 * len(DTYPES) // every)


CROPS = """
def check_crop(width, height, dtype, channels, at_end):
    more = 1 + width % 5  # columns beside the crop
    shape = (height, width + more) + ((channels,) if channels > 1 else ())
    part = np.s_[:, more:] if at_end else np.s_[:, :width]
    whole = inputs.array(shape, dtype, at_end)
    whole[...] = rng.integers(0, 2 if dtype == "bool" else 100, shape)
    targets = [each.array(shape, dtype, at_end) for each in outs]
    for each in targets:
        each[...] = 1
    f(whole[part], out=tuple([each[part] for each in targets]))
    y, x = np.mgrid[:height, :width]
    for target, ys, xs in zip(targets, (y + 1, y - 1, x), (x + 1, x - 2, y), strict=True):
        expected = np.ones(shape, dtype)
        expected[part] = at(whole[part], ys, xs, "nearest")
        assert np.array_equal(target, expected), (shape, dtype, at_end, target, expected)

count = 0
for dtype, channels in itertools.product(DTYPES, (1, 2, 3, 4)):
    for width in (*range(1, 20), 31, 33, 64, 65, 70):
        for at_end in (False, True):
            check_crop(width, 1 + (width + channels) % 4, dtype, channels, at_end)
            count += 1
print(count)
"""


@linux
def test_no_byte_beside_a_crop_is_read_past_its_image_or_written():
    text = f"TARGET, EVERY, DTYPES = 'cpu', 10**9, {DTYPES}\n{GUARDED}{CROPS}"
    assert run(text).split()[-1] == str(2 * 24 * 4 * len(DTYPES))


MULTIPLES = """
def multiples(im: Image, p: Position):
    q = p * 2
    third = im((3 * p.x + 1, p.y)) + im((3 * p.x + 2, p.y))
    return (im(q) + im(q + (1, 1)) + third + im((4 * p.x + 3, p.y * 4 + 3))) * 0.2

g = pygpu.compile(multiples, target=TARGET)
plain = pygpu.compile(multiples, target="interpreter")
for channels, dtype in itertools.product((1, 3), ("uint8", "float32")):
    for width, at_end in itertools.product((1, 7, 33, 64, 130), (False, True)):
        shape = (8, width) + ((channels,) if channels > 1 else ())
        given = inputs.array(shape, dtype, at_end)
        given[...] = rng.integers(0, 100, shape)
        for size in ((2, -(-width // 4)), (4, -(-width // 2)), (8, width)):
            have, wanted = g(given, shape=size), plain(given, shape=size)
            assert np.allclose(have, wanted, 1e-5), (shape, dtype, size, at_end)
            count += 1

def most(im: Image, p: Position):
    return max(im((2 * p.x + 1, p.y * 2)), im((2 * p.x, p.y)), im((3 * p.x + 4, p.y)))

g = pygpu.compile(most, target=TARGET)
plain = pygpu.compile(most, target="interpreter")
for dtype in ("uint8", "uint16"):
    for width, at_end in itertools.product((1, 7, 33, 64, 130, 200), (False, True)):
        given = inputs.array((8, width), dtype, at_end)
        given[...] = rng.integers(0, 256, given.shape)
        for size in ((4, -(-width // 2)), (8, width)):
            out = outs[0].array(size, dtype, at_end)
            g(given, shape=size, out=out)
            assert np.array_equal(out, plain(given, shape=size, dtype=dtype)), (dtype, size)
            count += 1
print(count)
"""


@linux
def test_no_byte_beside_an_image_is_read_at_multiples():
    text = f"TARGET, EVERY, DTYPES = 'cpu', 1, ()\n{GUARDED}{MULTIPLES}"
    assert run(text).split()[-1] == str(4 * 10 * 3 + 2 * 12 * 2)


JOINED = """
from pygpu.devices.cpu import moves, program
from pygpu.devices.cpu.chunks import cores
program.MANY, moves.JOINED = 1, 64

def far(im: Image, p: Position):
    square = [im(p + (i, j)) * (i + 3 * j + 1) for j in range(-2, 4) for i in range(-3, 3)]
    return sum(square)

g = pygpu.compile(far, target=TARGET)
plain = pygpu.compile(far, target="cpu")
WIDTHS = 8, 9, 13, 16, 24, 31, 33, 64, 127
for width, dtype in itertools.product(WIDTHS, ("float32", "uint8")):
    for more, at_end in itertools.product(range(7), (False, True)):
        shape = 60 + 500 // width + more, width
        given = inputs.array((shape), dtype, at_end)
        given[...] = rng.integers(0, 100, shape)
        out = outs[0].array(shape, dtype, at_end)
        program.MANY = 1
        g(given, out=out, dtype=dtype)
        program.MANY = 1 << 30
        assert np.array_equal(out, plain(given, dtype=dtype)), (shape, dtype, at_end)
        count += 1
(made, *_) = g.specialisations()
steps = {max(cores().machine.lanes // width, 1) for width in WIDTHS}  # rows of one vector
assert set(made.program.joined.programs) == steps, (made.program.joined.programs, steps)
print(count)
"""


@linux
def test_no_byte_beside_short_rows_that_run_on_is_read_or_written():
    text = f"TARGET, EVERY, DTYPES = 'cpu', 1, ()\n{GUARDED}{JOINED}"
    text = text.replace("inputs, outs = Guarded(1 << 14)", "inputs, outs = Guarded(1 << 17)")
    text = text.replace("Guarded(1 << 14) for _", "Guarded(1 << 17) for _")
    assert run(text).split()[-1] == str(9 * 2 * 7 * 2)


FAR = """
def most(im: Image, p: Position):
    return max(im((p.x + dx, p.y)) for dx in range(-70, 110))

g = pygpu.compile(most, target=TARGET)
for boundary, dtype, at_end in itertools.product(RULES, ("float32", "uint8"), (False, True)):
    for width in (1, 31, 64, 130, 300):
        given = inputs.array((3, width), dtype, at_end)
        given[...] = rng.integers(0, 100, given.shape)
        out = outs[0].array(given.shape, dtype, at_end)
        g(Image(given, boundary=boundary), out=out)
        y, x = np.mgrid[:3, :width]
        texels = [at(given, y, x + dx, boundary) for dx in range(-70, 110)]
        assert np.array_equal(out, np.max(texels, axis=0)), (boundary, dtype, width, at_end)
        count += 1
print(count)
"""


@linux
def test_no_byte_beside_an_image_is_read_by_windows_that_reach_far():
    text = f"TARGET, EVERY, DTYPES = 'cpu', 1, ()\n{GUARDED}{FAR}"
    assert run(text).split()[-1] == str(5 * 2 * 2 * 5)


TOUCH = """
whole = inputs.array((inputs.size,), np.uint8, True)
ctypes.string_at(whole.ctypes.data + PLACE, 1)
"""


@linux
def test_the_guarded_pages_are_guarded():
    text = f"TARGET, EVERY, DTYPES = 'cpu', 1, ()\n{GUARDED}{TOUCH}"
    for place in ("-1", "inputs.size"):
        child = start(text.replace("PLACE", place))
        child.communicate(timeout=60)
        assert child.returncode == -signal.SIGSEGV
    assert run(text.replace("PLACE", "inputs.size - 1")) == "0\n"
