"""Functions are taken apart into stages where expressions are used at several pixels."""

import functools
import math
import random
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import pygpu
from pygpu import Float, Image, Position, Volume, offsets
from pygpu.core.builder import Builder
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu import staged, strips
from pygpu.devices.cpu.device import CpuDevice
from pygpu.devices.cpu.staged import CpuStaged
from pygpu.passes.blocks.tiling import Source, tiling
from pygpu.passes.simplify.pipeline import simplify
from pygpu.passes.stages import added, rank
from pygpu.passes.stages.part import stages
from pygpu.passes.stages.rank import factored
from pygpu.passes.stages.shifts import numbered
from pygpu.runtime import Compiled
from pygpu.ssa import BOUNDARIES, Function, ImageInput, Value, walk
from pygpu.types import FLOAT

FLOATS = Format(np.dtype("float32"), 1)
WEIGHTS = ((-1, 1), (0, 2), (1, 1))
SQUARE = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips and threads for small images, too."""
    monkeypatch.setenv("PYGPU_THREADS", "3")
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    for module, name in ((strips, "SMALL"), (staged, "LEAST")):
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(strips, "AGAIN", 100.0)


def lowered(function: Compiled, **kwargs: object) -> Function:
    image = Image(np.zeros((9, 9), np.float32))
    return function.lower(image, **kwargs)._made.translated.function


def slope(im: Image, p: Position, x: int, y: int):
    def beside(side: int):
        return sum(w * im(p + (side * x + i * y, side * y + i * x)) for i, w in WEIGHTS)

    return (beside(1) - beside(-1)) / 8


@pygpu.compile
def corner(im: Image, p: Position, k: Float = 0.04):
    slopes = [(slope(im, p + d, 1, 0), slope(im, p + d, 0, 1)) for d in SQUARE]
    xx, xy, yy = (sum(e) for e in zip(*[(x * x, x * y, y * y) for x, y in slopes], strict=True))
    return xx * yy - xy * xy - k * (xx + yy) ** 2


@pygpu.compile
def windows(im: Image, p: Position):
    rows = [pygpu.sqrt(sum(im(p + (x, y)) for x in range(-3, 4))) for y in range(-5, 6)]
    middle = [sum(rows[i : i + 5]) for i in range(7)]
    return sum(pygpu.sqrt(each) for each in middle)


@pygpu.compile
def placed(im: Image, p: Position):
    return sum(pygpu.sqrt(im(p + d) + p.x) for d in SQUARE)


@pygpu.compile
def cheap(im: Image, p: Position):
    return sum(2 * im(p + d) + 1 for d in SQUARE)


def test_products_are_a_stage_of_a_window_over_them() -> None:
    first, last = stages(lowered(corner))
    assert (first.margin.left, first.margin.right, first.margin.up, first.margin.down) == (1,) * 4
    assert len(first.function.outputs) in (2, 3)  # slopes, or products of them
    assert last.margin.up == last.margin.left == 0


def test_windows_of_windows_are_several_stages() -> None:
    parts = stages(lowered(windows))
    assert len(parts) >= 2
    assert [part.margin.up for part in parts] == sorted([part.margin.up for part in parts])[::-1]


@pytest.mark.parametrize("function", [placed, cheap])
def test_what_gains_nothing_stays_whole(function: Compiled) -> None:
    assert stages(lowered(function)) == ()


def test_shifts_are_found_whatever_the_loads_are() -> None:
    build = Builder("f", [ImageInput("im", FLOAT)])

    def expression(dx: int, dy: int, boundary: str = "nearest") -> Value:
        left = build.load(0, build.x, build.y, boundary, (), dx - 1, dy)
        right = build.load(0, build.x, build.y, boundary, (), dx + 1, dy)
        return build.emit("sqrt", build.emit("sub", right, left))

    one, other, wrapped = expression(0, 0), expression(2, -3), expression(1, 0, "wrap")
    moved = build.emit("add", one, build.emit("to_float", build.x))
    found = numbered(build.finish([one, other, wrapped, moved]))
    assert found[one].number == found[other].number != found[wrapped].number
    assert (found[one].dx, found[one].dy, found[other].dx, found[other].dy) == (0, 0, 2, -3)
    assert moved not in found


def test_what_differences_are_squared_of_may_change_places() -> None:
    """The weights of a bilateral filter are those of the pixels on the other side, too."""
    build = Builder("f", [ImageInput("im", FLOAT)])
    left, here, right = (build.load(0, build.x, build.y, "nearest", (), dx, 0) for dx in (-1, 0, 1))
    first, second = build.emit("sub", right, here), build.emit("sub", left, here)
    even = [build.emit("abs", d) for d in (first, second)]
    even += [build.emit("mul", d, d) for d in (first, second)]
    found = numbered(build.finish([*even, first, second]))
    one, other, square, beside = (found[value] for value in even)
    assert (one.number, one.dx - 1) == (other.number, other.dx)
    assert (square.number, square.dx - 1) == (beside.number, beside.dx)
    assert found[first].number != found[second].number


def test_what_is_shown_of_stages() -> None:
    found = corner.lower(Image(np.zeros((90, 90), np.float32)))
    assert found.stats["stages"] == 2
    assert "# stage 1 of 2" in found.ssa
    assert found.source.count("define i32 @span") == 2


def check(program: CpuStaged, arrays: list[np.ndarray], uniforms: list[float]) -> None:
    """In stages as a whole."""
    shape = arrays[0].shape[:2]
    storages = [Storage.of(array) for array in arrays]
    have = program.run(Work(storages, uniforms, shape, [None]))[0].host()
    assert None not in program.linked.values()
    want = program.plain.run(Work(storages, uniforms, shape, [None]))[0].host()
    assert have.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_stages_give_the_bits_of_the_whole(boundary: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    for function, shape in ((corner, (61, 43)), (corner, (40, 130)), (windows, (64, 37))):
        texels = (rng.random(shape) * (1 if dtype == "float32" else 255)).astype(dtype)
        image = Image(texels, boundary=boundary)
        program = function.lower(image)._made.program
        assert isinstance(program, CpuStaged)
        check(program, [texels], [0.04] if function is corner else [])


def test_random_expressions_at_several_pixels() -> None:
    for seed in range(25):
        source = random.Random(seed)
        build = Builder("f", [ImageInput("a", FLOAT), ImageInput("b", FLOAT)], [("g", FLOAT)])
        make = random_expression(source, build)
        offsets = {(source.randint(-3, 3), source.randint(-3, 3)) for _ in range(6)}
        values = [make(dx, dy) for dx, dy in sorted(offsets)]
        total = values[0]
        for value in values[1:]:
            total = build.emit(source.choice(("add", "mul", "max")), total, value)
        function = simplify(build.finish([build.emit("add", total, build.uniforms[0])]))
        program = CpuDevice().compile(Task(function, (FLOATS, FLOATS), (FLOATS,)))
        if isinstance(program, CpuStaged):
            rng = np.random.default_rng(seed)
            shape = source.choice(((43, 50), (70, 19), (31, 131)))
            check(program, [rng.random((*shape, 1), np.float32) for _ in range(2)], [0.5])
        elif len(offsets) > 4:
            raise AssertionError(f"seed {seed} is not taken apart")


def random_expression(source: random.Random, build: Builder):  # type: ignore[no-untyped-def]
    """What makes an expression of taps and costly functions of them, at an offset."""
    taps = [
        (
            source.randrange(2),
            source.choice(BOUNDARIES),
            source.randint(-2, 2),
            source.randint(-2, 2),
        )
        for _ in range(source.randint(2, 4))
    ]
    codes = [source.choice(("add", "sub", "mul", "max")) for _ in taps]

    def make(dx: int, dy: int) -> Value:
        total = None
        for (image, boundary, x, y), code in zip(taps, codes, strict=True):
            texel = build.load(image, build.x, build.y, boundary, (0.25,), dx + x, dy + y)
            texel = build.emit("exp", build.emit("mul", texel, build.uniforms[0]))
            total = texel if total is None else build.emit(code, total, texel)
        return total

    return make


GAUSS = np.exp(-0.2 * np.arange(-3, 4) ** 2.0)
WINDOWS = {
    "gauss": np.outer(GAUSS, GAUSS) / GAUSS.sum() ** 2,
    "slope": np.outer(GAUSS, np.arange(-4, 5)),
    "box": np.full((6, 9), 1 / 54),
}


@pytest.mark.parametrize("shape", [(61, 47), (40, 33, 3)])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("name", WINDOWS)
def test_weights_of_rows_and_columns_are_sums_of_sums(
    name: str, dtype: str, shape: tuple[int, ...]
) -> None:
    weights = WINDOWS[name]

    @pygpu.compile
    def window(im: Image, p: Position):
        return sum(float(w) * im(p + (i - 3, j - 2)) for (j, i), w in np.ndenumerate(weights))

    most = 1 if dtype == "float32" else 255
    texels = (np.random.default_rng(5).random(shape) * most).astype(dtype)
    image = Image(texels, boundary="mirror")
    program = window.lower(image)._made.program
    assert isinstance(program, CpuStaged)
    assert sum(op.code == "load" for part in program.stages for op in walk(part.body)) < 20
    wide = texels / most
    padded = np.pad(wide, [(9, 9), (9, 9)] + [(0, 0)] * (wide.ndim - 2), mode="reflect")
    want = sum(
        w * padded[9 + j - 2 : 9 + j - 2 + shape[0], 9 + i - 3 : 9 + i - 3 + shape[1]]
        for (j, i), w in np.ndenumerate(weights)
    )
    for _ in range(3):  # the first call, and those that go through the gate
        have = np.asarray(window(image))
        np.testing.assert_allclose(have, want, rtol=0, atol=2e-6 * np.abs(weights).sum())
    np.testing.assert_allclose(
        window(texels, out=np.empty(shape, np.float32)),
        np.asarray(window(Image(texels))), rtol=0, atol=0,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_texels_that_are_to_be_made_floats_first_are_added_up_by_stages_from_5_x_5_on(dtype):
    row = np.array([1, 4, 6, 4, 1]) / 16
    kernel = np.outer(row, row)

    @pygpu.compile
    def sharpened(im: Image, p: Position, amount: float = 0.5):
        smooth = sum(w * im(p + d) for w, d in zip(kernel.ravel(), offsets(kernel), strict=True))
        return im(p) + amount * (im(p) - smooth)

    texels = np.random.default_rng(3).random((40, 70, 3))
    most = np.iinfo(dtype).max if dtype.startswith("u") else 1
    texels = (most * texels).astype(dtype)
    floats = np.float64(texels) / most
    smooth = scipy.ndimage.correlate(floats, kernel[..., None], mode="nearest")
    np.testing.assert_allclose(sharpened(texels), floats + 0.5 * (floats - smooth), atol=2e-6)
    program = sharpened.lower(texels)._made.program
    assert isinstance(program, CpuStaged) == (dtype != "float32")


def test_other_weights_stay_as_they_are() -> None:
    weights = np.random.default_rng(0).random((7, 7))

    @pygpu.compile
    def window(im: Image, p: Position):
        return sum(float(w) * im(p + (i, j)) for (j, i), w in np.ndenumerate(weights))

    function = lowered(window)
    assert factored(function) is function


def test_sums_of_products_of_sums_take_time_by_their_length(monkeypatch) -> None:
    looked = []
    terms = rank._terms
    monkeypatch.setattr(rank, "_terms", lambda *args: looked.append(1) or terms(*args))

    def chain(length):
        @pygpu.compile
        def long(im: Image, p: Position):
            total = 0.0
            for k in range(length):
                near = k % 3, k // 3 % 3  # texels of three columns and rows
                total = total * 0.5 + im(p + near) * (k + 2.0)
            return total

        looked.clear()
        lowered(long)
        return len(looked)

    short = chain(40)
    assert short > 0
    assert chain(160) < 6 * short


def test_sums_beside_a_factored_one_are_rounded_as_they_were() -> None:
    def chain(im: Image, p: Position):
        other = im(p)
        for k in range(1, 40):
            other = other * im(p + (k % 3, k % 5)) + im(p - (0, k % 7))
        return other

    @pygpu.compile(target="cpu")
    def beside(im: Image, p: Position):
        window = [(i, j) for i in range(-3, 4) for j in range(-3, 4)]
        return sum(im(p + d) * im(p + (d[0] + 1, d[1])) for d in window), chain(im, p)

    function = lowered(beside)
    made = factored(function)
    assert made is not function
    loops = [sum(op.code == "fma" for op in walk(each.body)) for each in (function, made)]
    assert loops[0] >= 39 + 48
    assert loops[1] >= 39 + 6  # those of a column stay, too
    texels = np.random.default_rng(2).random((20, 23), np.float32)
    assert np.array_equal(beside(texels)[1], pygpu.compile(chain, target="cpu")(texels))


def test_stages_in_a_pipeline_are_stages_of_it() -> None:
    @pygpu.compile
    def smooth(im: Image, p: Position):
        return (im(p - (0, 2)) + im(p) + im(p + (0, 3))) / 3

    @pygpu.pipeline
    def chain(im):
        return smooth(corner(smooth(im)))

    image = Image(np.random.default_rng(4).random((75, 52), np.float32), boundary="reflect")
    np.testing.assert_array_equal(chain(image).numpy(), smooth(corner(smooth(image))).numpy())
    (group,) = next(iter(chain._runner._ready.values()))
    assert len(group.linked.stages) == 4


def box(im: Image, p: Position):
    total = 0.0
    for j in range(-15, 16):
        for i in range(-15, 16):
            total += im(p + (i, j))
    return total / 961


def bell(im: Image, p: Position):
    return im(p) - sum(
        w * im(p + d) for w, d in zip(BELL.ravel(), pygpu.offsets(BELL), strict=True)
    )


def leaning(im: Image, p: Position):
    total = -im(p + (-9, -20))
    for k in range(1, 900):
        total -= im(p + (k % 30 - 9, k // 30 - 20)) * (1 + k % 30)
    return total / 1000


LINE = np.exp(-(np.linspace(-2, 2, 33) ** 2))
BELL = np.outer(LINE, LINE) / LINE.sum() ** 2


@pytest.mark.parametrize("function", [box, bell, leaning])
@pytest.mark.parametrize(
    ("boundary", "dtype", "channels"),
    [*[(each, "float32", 1) for each in BOUNDARIES], ("mirror", "uint8", 1), ("wrap", "uint8", 3)],
)
def test_windows_added_up_by_loops_are_stages_where_weights_are_products(
    function, boundary: str, dtype: str, channels: int
) -> None:
    most = 1 if dtype == "float32" else 255
    texels = np.random.default_rng(6).random((71, 97, channels)) * most
    image = Image(texels.astype(dtype), boundary=boundary, cval=0.25)
    run = pygpu.compile(function)
    lowered = run.lower(image)
    assert lowered.stats["stages"] == 2
    have = np.asarray(run(image))
    for x, y in [(0, 0), (40, 33), (96, 70), (3, 69), (95, 20)]:
        want = function(image, Position(x, y))
        np.testing.assert_allclose(have[y, x], np.asarray(want), rtol=2e-6, atol=4e-6)
    small = image[:20, :20]  # too few rows for strips: the loop itself
    np.testing.assert_allclose(
        np.asarray(run(small))[7, 5], np.asarray(function(small, Position(5, 7))), atol=4e-6
    )


def soft_by_a_loop(im: Image, p: Position):
    total, weight = 0.0, 0.0
    for j in range(-15, 16):
        for i in range(-15, 16):
            w = math.exp(-(i * i + j * j) / 56)
            total += im(p + (i, j)) * w
            weight += w
    return total / weight


def greatest(im: Image, p: Position):
    most = -1.0
    for j in range(-15, 16):
        for i in range(-15, 16):
            most = max(most, im(p + (i, j)))
    return most


def spread_by_tests(im: Image, p: Position):
    least, most = 9.0, im(p) - 1
    for j in range(-4, 5):
        for i in range(-4, 5):
            v = im(p + (i, j))
            if v < least:
                least = v
            if most < v:
                most = v
    return most - least


@pytest.mark.parametrize(
    ("function", "stages"), [(soft_by_a_loop, 2), (greatest, 4), (spread_by_tests, 2)]
)
def test_windows_are_stages_whatever_they_begin_with(function, stages) -> None:
    """Sums beside sums of their weights, and the most of texels and something else: 31 rows and
    columns from halves."""
    image = Image(np.random.default_rng(6).random((71, 97), np.float32), boundary="mirror")
    run = pygpu.compile(function)
    assert run.lower(image).stats["stages"] == stages
    have = np.asarray(run(image))
    for x, y in [(0, 0), (40, 33), (96, 70), (3, 69), (95, 20)]:
        want = function(image, Position(x, y))
        np.testing.assert_allclose(have[y, x], want, rtol=2e-6, atol=4e-6)


@pytest.mark.parametrize("function", [box, soft_by_a_loop, greatest])
def test_windows_of_loops_are_made_in_tiles(function) -> None:
    """All rounds count, so that what is apart costs many times as much."""
    found = lowered(pygpu.compile(function))
    made = tiling([Source(found, (0,), (1,))], 32768)
    assert made is not None
    assert len(made.pieces) == 2


def by_position(im: Image, p: Position):
    total = 0.0
    for j in range(31):
        for i in range(31):
            total += im(p + (i, j)) * p.x
    return total


def from_the_middle(im: Image, p: Position):
    total = 0.0
    for j in range(31):
        for i in range(31):
            total += (im(p + (i, j)) - im(p)) ** 2
    return total


def around(im: Image, p: Position):
    total = 0.0
    for j in range(-15, 16):
        for i in range(-15, 16):
            if i * i + j * j < 200:
                total += im(p + (i, j))
    return total


@pytest.mark.parametrize("function", [by_position, from_the_middle, around])
def test_loops_that_add_up_anything_else_stay(function) -> None:
    found = lowered(pygpu.compile(function))
    assert factored(found) is found


def weighted(kernel, im: Image, p: Position):
    return sum(w * im(p + d) for w, d in zip(np.ravel(kernel), pygpu.offsets(kernel), strict=True))


@pytest.mark.parametrize("is_product", [True, False])
def test_loops_are_left_where_weights_are_seen_to_be_no_products(
    is_product: bool, monkeypatch
) -> None:
    """Of 45 x 45 weights, those of two rows are enough for that."""
    weights = np.random.default_rng(4).random((2, 45, 45))
    kernel = np.outer(weights[0, 0], weights[1, 0]) if is_product else weights[0]
    found = lowered(pygpu.compile(weighted, kernel=kernel))
    rounds = []
    texel = added._Rounds.texel
    monkeypatch.setattr(
        added._Rounds, "texel", lambda *given: rounds.append(given) or texel(*given)
    )
    assert any(op.code == "loop" for op in found.body.ops)
    assert (factored(found) is not found) == is_product
    assert (len(rounds) == 45 * 45) if is_product else (0 < len(rounds) < 2 * 45)


NEAR = [(i, j) for j in range(-4, 4) for i in range(-2, 5)]  # 7 columns, 8 rows


def energy(im: Image, p: Position, w: Float = 0.5):
    return sum(im(p + d)[0] ** 2 for d in NEAR) + sum(w * im(p + d)[1] + 0.5 for d in NEAR)


def brightness(im: Image, p: Position):
    total = 0.0
    for j in range(-7, 8):
        for i in range(-7, 8):
            r, g, b = im(p + (i, j))
            total += 0.299 * r + 0.587 * g + 0.114 * b
    return total / 225


def covariance(im: Image, p: Position):
    pairs = [(im(p + d)[0], im(p + d)[2]) for d in NEAR]
    means = [sum(each) / len(NEAR) for each in zip(*pairs, strict=True)]
    return sum(a * b for a, b in pairs) / len(NEAR) - means[0] * means[1]


def soft(im: Image, p: Position):
    return math.log(sum(math.exp(im(p + d)[0] - im(p + d)[1]) for d in NEAR))


def smoothed(im: Image, p: Position):
    """Weights that a loop computes."""
    total = 0.0
    for j in range(-20, 21):
        for i in range(-20, 21):
            total += math.exp(-(i * i + j * j) / 90) * im(p + (i, j))
    return total / 100


def counted(im: Image, p: Position):
    return sum(im(p + d)[0] > im(p + d)[1] for d in NEAR)


def span(im: Image, p: Position):
    return max(im(p + d)[0] for d in NEAR) - min(im(p + d)[0] * im(p + d)[1] for d in NEAR)


def oriented(im: Image, p: Position):
    bins = [0.0] * 6
    for d in NEAR:
        gx, gy = im(p + d)[0] - 0.5, im(p + d)[1] - 0.5
        bins[int(math.atan2(gy, gx) % math.pi * 2) % 6] += math.hypot(gx, gy)
    return max(bins)


def levels(im: Image, p: Position):
    counts = np.zeros(4, int)
    for d in NEAR:
        counts[int(im(p + d)[2] * 4)] += 1
    return counts[1] - counts[2]


@pytest.mark.parametrize(
    "function", [energy, brightness, covariance, soft, smoothed, counted, span, oriented, levels]
)
def test_windows_of_any_expression_are_stages(function, target: str) -> None:
    texels = np.random.default_rng(8).random((61, 83, 3)).astype(np.float32)
    image = Image(texels, boundary="mirror")
    run = pygpu.compile(function, target=target)
    made = run.lower(image)._made.translated.function
    assert factored(made) is not made
    have = np.asarray(run(image))
    for x, y in [(0, 0), (40, 33), (82, 60), (3, 59), (81, 20)]:
        want = function(image, Position(x, y))
        np.testing.assert_allclose(have[y, x], np.asarray(want), rtol=4e-6, atol=4e-6)


@pytest.mark.parametrize("most", [max, min])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_the_most_of_a_window_is_pythons(target: str, most, dtype: str) -> None:
    """With NaN: the first is kept, others are passed over."""
    rng = np.random.default_rng(9)
    texels = rng.integers(-9, 9, (41, 53)).astype(dtype)
    if dtype == "float32":
        texels[rng.random(texels.shape) < 0.4] = np.nan
        texels[:12, :14] = np.nan
        texels[rng.random(texels.shape) < 0.1] = np.inf if most is min else -np.inf

    @pygpu.compile(target=target)
    def found(im: Image, p: Position):
        return most(im(p + d) for d in NEAR)

    image = Image(texels, boundary="wrap")
    have = np.asarray(found(image, dtype=np.float32 if dtype == "float32" else None))
    seen = np.asarray(texels / np.float32(255) if dtype == "uint8" else texels)
    height, width = seen.shape
    want = [
        [most(seen[(y + j) % height, (x + i) % width] for i, j in NEAR) for x in range(width)]
        for y in range(height)
    ]
    np.testing.assert_allclose(have, want, rtol=1e-6)


@pytest.mark.parametrize("begins", [0.25, -math.inf, math.nan])
def test_the_most_of_a_window_and_another_number_is_pythons(target: str, begins: float) -> None:
    most, image, want = most_and(begins)
    have = np.asarray(most.on(target)(image))
    np.testing.assert_allclose(have, want, rtol=1e-6)


@functools.lru_cache(maxsize=1)
def most_and(begins: float) -> tuple[Any, Image, list[list[float]]]:
    """The most of a window and a number, an image, and what it is there in plain Python."""
    rng = np.random.default_rng(9)
    texels = rng.random((41, 53), np.float32)
    texels[rng.random(texels.shape) < 0.4] = np.nan
    texels[:12, :14] = np.nan

    def most(im: Image, p: Position):
        found = begins
        for d in NEAR:
            if (value := im(p + d)) > found:
                found = value
        return found

    image = Image(texels, boundary="wrap")
    want = [[most(image, Position(x, y)) for x in range(53)] for y in range(41)]
    return pygpu.compile(most), image, want


CUBES = {
    "gauss": np.multiply.outer(GAUSS[1:6], np.outer(GAUSS[:5], GAUSS)) / GAUSS.sum() ** 3,
    "box": np.full((3, 3, 3), 1 / 27),
}


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("dtype", ["float32", "uint16"])
@pytest.mark.parametrize("name", CUBES)
def test_windows_of_volumes_are_sums_over_planes_rows_and_columns(name, dtype, boundary):
    weights = CUBES[name]
    deep, tall, wide = (size // 2 for size in weights.shape)

    def window(v: Volume, p: Position):
        return sum(
            float(w) * v(p + (i - wide, j - tall, k - deep))
            for (k, j, i), w in np.ndenumerate(weights)
        )

    most = 1 if dtype == "float32" else 65535
    texels = (np.random.default_rng(5).random((13, 19, 83)) * most).astype(dtype)
    compiled = pygpu.compile(window, target="cpu")
    program = compiled.lower(texels)._made.program
    assert isinstance(program, CpuStaged)
    assert sum(op.code == "load" for part in program.stages for op in walk(part.body)) < 60
    volume = Volume(texels, boundary=boundary, cval=0.25)
    modes = {"wrap": "grid-wrap", "constant": "grid-constant"}
    want = scipy.ndimage.correlate(
        texels / most, weights, mode=modes.get(boundary, boundary), cval=0.25
    )
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(compiled(volume)), want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_gradients_of_volumes_that_begin_with_the_same_sum_are_stages(dtype):
    reach = range(-2, 3)
    window = [(x, y, z) for x in reach for y in reach for z in reach]
    weights = [math.exp(-(x * x + y * y + z * z) / 3) / 20 for x, y, z in window]

    def gradient(v: Volume, p: Position):
        total = 0.0
        for axis in range(3):  # the first taps have the same weights along all axes
            pairs = zip(window, weights, strict=True)
            total += sum([d[axis] * w * v(p + d) for d, w in pairs]) ** 2
        return total

    most = 1 if dtype == "float32" else 255
    texels = (np.random.default_rng(6).random((11, 17, 83)) * most).astype(dtype)
    compiled = pygpu.compile(gradient, target="cpu")
    program = compiled.lower(texels)._made.program
    assert isinstance(program, CpuStaged)
    assert sum(op.code == "load" for part in program.stages for op in walk(part.body)) < 90
    kernel = np.reshape(weights, (5, 5, 5))
    slopes = [
        scipy.ndimage.correlate(texels / most, kernel * np.swapaxes(STEPS, 0, axis), mode="nearest")
        for axis in range(3)
    ]
    want = sum(each**2 for each in slopes)
    np.testing.assert_allclose(np.asarray(compiled(Volume(texels))), want, rtol=2e-5, atol=2e-6)


STEPS = np.arange(-2.0, 3)[:, None, None]


def test_planes_in_parts_give_what_all_at_once_give(monkeypatch):
    def spread(v: Volume, p: Position, k: Float):
        some = [v(p + d) * k for d in offsets(np.ones((3, 5, 5)))]
        return sum(some), max(some), min(some)

    texels = np.random.default_rng(3).random((11, 40, 50), np.float32)
    wanted = pygpu.compile(spread, target="cpu")(texels, 0.5)
    assert np.array_equal(
        wanted[1], scipy.ndimage.maximum_filter(texels * np.float32(0.5), (3, 5, 5))
    )
    monkeypatch.setattr(strips, "CACHE", 1000)  # several strips of each plane
    found = pygpu.compile(spread, target="cpu")(texels, 0.5)
    assert all(map(np.array_equal, found, wanted))
    monkeypatch.setattr(strips, "strips", lambda *_: None)  # no stages
    found = pygpu.compile(spread, target="cpu")(texels, 0.5)
    assert all(map(np.array_equal, found, wanted))


def test_frames_of_a_stack_are_made_in_stages():
    def blurred(im: Image, p: Position):
        return sum(im(p + (i, j)) for i in range(-4, 5) for j in range(-4, 5)) / 81

    stack = np.random.default_rng(4).random((7, 60, 70), np.float32)
    compiled = pygpu.compile(blurred, target="cpu")
    wanted = [compiled(frame) for frame in stack]
    assert np.array_equal(compiled.map(stack), wanted)


def test_the_greatest_of_a_volume_is_that_of_python_with_nan():
    def greatest(v: Volume, p: Position):
        return max(v(p + d) for d in offsets(np.ones((3, 3, 3))))

    texels = np.random.default_rng(6).random((6, 30, 40), np.float32)
    texels[texels > 0.95] = np.nan
    found = pygpu.compile(greatest, target="cpu")(texels)
    wanted = pygpu.compile(greatest, target="interpreter")(texels)
    assert np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_volumes_that_are_not_as_wide_as_the_result(boundary):
    def mixed(v: Volume, w: Volume, p: Position):
        return v(p) + sum([w(p + d) / 125 for d in offsets(np.ones((5, 5, 5)))])

    rng = np.random.default_rng(7)
    compiled = pygpu.compile(mixed, target="cpu")
    for first, other in ((40, 40), (40, 50), (50, 40)):
        texels = rng.random((6, 20, first), np.float32)
        volume = Volume(rng.random((6, 20, other), np.float32), boundary=boundary, cval=0.5)
        wanted = pygpu.compile(mixed, target="interpreter")(texels, volume)
        np.testing.assert_allclose(compiled(texels, volume), wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_the_greatest_of_small_numbers_is_stored_as_they_are(dtype):
    def spread(v: Volume, p: Position):
        return max([v(p + d) for d in offsets(np.ones((7, 7, 7)))])

    texels = np.random.default_rng(8).integers(0, 256, (9, 40, 70)).astype(dtype)
    compiled = pygpu.compile(spread, target="cpu")
    program = compiled.lower(texels, dtype=dtype)._made.program
    assert isinstance(program, CpuStaged)
    assert len(program.parts) == 3
    assert all(native.task.outputs[0].dtype == dtype for native in program.programs)
    wanted = scipy.ndimage.maximum_filter(texels, 7)
    assert np.array_equal(compiled(texels, dtype=dtype), wanted)
