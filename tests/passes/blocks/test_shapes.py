"""Shapes of compute programs: their default, and how what was measured is remembered."""

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position
from pygpu.core.builder import Builder
from pygpu.core.host import cache
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.devices.opengl.passes import Passes
from pygpu.passes.analysis.footprint import fixed
from pygpu.passes.analysis.pressure import pressure
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.block import size
from pygpu.passes.blocks.shapes import Shape
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.ssa import ImageInput, Lookup, walk
from pygpu.types import FLOAT, INT, vector

FLOATS = Format(np.dtype("float32"), 1)
BYTES = Format(np.dtype("uint8"), 1)


@pytest.fixture(autouse=True)
def disk(monkeypatch, tmp_path):
    monkeypatch.setenv("PYGPU_CACHE", "1")
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    shapes.forget()
    yield
    shapes.forget()


def scaled(by):
    build = Builder("scaled", [ImageInput("image", FLOAT)])
    texel = build.load(0, build.x, build.y)
    return build.finish([build.emit("mul", texel, build.constant(FLOAT, by))])


def test_candidates_are_different_and_include_each_default():
    assert len(set(shapes.CANDIDATES)) == len(shapes.CANDIDATES)
    assert {shapes.OWN, shapes.POINTS, shapes.WINDOWS, shapes.PACKED} <= set(shapes.CANDIDATES)


def test_default_shapes_follow_how_a_function_reads():
    build = Builder("sides", [ImageInput("image", FLOAT)])
    sides = [build.load(0, build.x, build.y, dx=dx) for dx in (-1, 1)]
    near = build.finish([build.emit("add", *sides)])
    build = Builder("turned", [ImageInput("image", FLOAT)])
    turned = build.finish([build.load(0, build.y, build.x)])
    assert shapes.default(Task(scaled(2.0), [FLOATS], [FLOATS])) == shapes.OWN
    colours = Format(np.dtype(np.float32), 4)
    assert shapes.default(Task(scaled(2.0), [colours], [colours])) == shapes.WHOLE
    assert shapes.default(Task(scaled(2.0), [BYTES], [BYTES])) == shapes.WINDOWS
    assert shapes.default(Task(near, [FLOATS], [FLOATS]), is_software=True) == shapes.POINTS
    assert shapes.default(Task(near, [FLOATS], [FLOATS])) in shapes.NEAR
    assert shapes.default(Task(turned, [FLOATS], [FLOATS])) == shapes.SINGLE
    assert shapes.default(Task(turned, [BYTES], [BYTES])) == shapes.SCATTERED
    assert shapes.default(Task(turned, [BYTES], [BYTES]), narrow=True) == shapes.SINGLE


@pytest.mark.parametrize(("far", "shape"), [(8, shapes.WIDE), (9, shapes.SQUARE)])
def test_colours_read_at_many_places_are_computed_in_squares(far, shape):
    build = Builder("turned", [ImageInput("image", vector("float", 3))])
    places = [build.emit("add", build.y, build.constant(INT, k)) for k in range(far)]
    total = build.load(0, build.x, build.y)
    for place in places:
        total = build.emit("add", total, build.load(0, place, build.x))
    colours = Format(np.dtype(np.float32), 3)
    assert shapes.default(Task(build.finish([total]), [colours], [colours])) == shape


def window(offsets, channels=1):
    """The sum of texels at these offsets."""
    build = Builder(
        "window", [ImageInput("image", vector("float", channels) if channels > 1 else FLOAT)]
    )
    texels = [build.load(0, build.x, build.y, dx=dx, dy=dy) for dx, dy in offsets]
    total = texels[0]
    for texel in texels[1:]:
        total = build.emit("add", total, texel)
    return build.finish([total])


def test_blocks_are_as_wide_and_high_as_what_neighbours_share():
    columns = [(0, dy) for dy in range(-16, 17)]
    rows = [(dx, 0) for dx in range(-16, 17)]
    colours = Format(np.dtype("float32"), 3)
    task = Task(window(columns, 3), [colours], [colours])
    assert shapes.default(task) == Shape(1, 4, 32, 4)  # twelve numbers wait, where they share all
    wide = shapes.default(Task(window(rows, 3), [colours], [colours]))
    assert (wide.columns, wide.rows) == (4, 1)
    square = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    both = shapes.default(Task(window(square), [FLOATS], [FLOATS]))
    assert both.columns == 4
    assert both.rows > 1
    # bytes of a result share words: their pixels are written together
    assert shapes.default(Task(window(columns, 3), [colours], [BYTES])).columns == 4


def test_much_arithmetic_takes_fewer_pixels_a_thread():
    build = Builder("much", [ImageInput("image", FLOAT)])
    value = build.load(0, build.x, build.y)
    for _ in range(shapes.MUCH + 1):
        value = build.emit("sqrt", value)
    much = build.finish([value])
    for format in (FLOATS, BYTES):
        assert shapes.default(Task(much, [format], [FLOATS])) == shapes.HEAVY


def test_blocks_that_are_too_much_to_compile_are_not_taken():
    """Four colours of a row are too much here: the program would be of single pixels."""
    colours = Format(np.dtype("float32"), 3)
    build = Builder("heavy", [ImageInput("image", vector("float", 3))])
    total = build.load(0, build.x, build.y)
    for place in range(shapes.LARGEST // 12):
        texel = build.load(0, build.x, build.y, dx=place % 7 + 1, dy=place % 5)
        total = build.emit("add", total, build.emit("mul", texel, total))
    task = Task(build.finish([total]), [colours], [colours])
    assert size(task.function) * 4 > shapes.LARGEST
    assert shapes.default(task).columns == 1


def test_pixels_that_read_tables_are_of_one_column():
    build = Builder("looked_up", [ImageInput("image", FLOAT)])
    table = build.add_table("table", np.arange(64, dtype=np.float32))
    value = build.load(0, build.x, build.y)
    for _ in range(shapes.MUCH):
        index = build.emit("to_int", value)
        value = build.emit("table", index, data=Lookup(table, FLOAT))
    task = Task(build.finish([value]), [FLOATS], [FLOATS])
    assert shapes.default(task) == shapes.TABLED


def test_a_shape_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Shape(4, 0, 64, 1)


def test_a_key_knows_function_formats_and_driver():
    keys = [
        shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "A"),
        shapes.key(Task(scaled(3.0), [FLOATS], [FLOATS]), "A"),
        shapes.key(Task(scaled(2.0), [BYTES], [FLOATS]), "A"),
        shapes.key(Task(scaled(2.0), [FLOATS], [BYTES]), "A"),
        shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "B"),
    ]
    assert len(set(keys)) == len(keys)
    assert shapes.key(Task(scaled(2.0), [FLOATS], [FLOATS]), "A") == keys[0]


def test_what_was_measured_is_found_by_another_process():
    shape = Shape(4, 2, 32, 8)
    assert shapes.remembered("key") is None
    shapes.remember("key", shape)
    assert shapes.remembered("key") == shape
    shapes.forget()  # what another process begins with
    assert shapes.remembered("key") == shape


def test_without_a_cache_it_is_remembered_in_the_process_alone(monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE", "0")
    shapes.remember("key", Shape(4, 2, 32, 8))
    assert shapes.remembered("key") == Shape(4, 2, 32, 8)
    shapes.forget()
    assert shapes.remembered("key") is None


@pytest.mark.parametrize("data", [b"", b"4 2 32", b"4 0 32 8", b"four", b"4 2 32 8 1", b"\xff"])
def test_an_entry_of_something_else_counts_as_none(data):
    cache.put(shapes.KIND, "key", data)
    assert shapes.remembered("key") is None


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((128, 128), Shape(4, 4, 32, 4)),
        ((20, 1), Shape(4, 4, 32, 4)),  # over before another program is compiled
        ((16384, 1), Shape(1, 4, 1, 128)),
        ((16384, 3), Shape(1, 4, 4, 32)),
        ((16384, 16), Shape(4, 4, 4, 32)),
        ((16384, 100), Shape(4, 4, 32, 4)),
        ((1, 16384), Shape(4, 1, 128, 1)),
        ((2, 16384), Shape(4, 2, 128, 1)),
        ((3, 16384), Shape(4, 4, 128, 1)),
    ],
)
def test_groups_are_fitted_to_narrow_and_low_results(size, expected):
    assert shapes.fitted(Shape(4, 4, 32, 4), size) == expected


def test_groups_of_few_rows_are_fitted_to_one_row():
    assert shapes.fitted(Shape(4, 2, 64, 2), (1, 16384)) == Shape(4, 1, 128, 1)
    assert shapes.fitted(Shape(4, 2, 64, 2), (2, 16384)) == Shape(4, 2, 64, 2)


@pytest.mark.parametrize("size", [(5000, 1), (5000, 3), (4999, 7), (900, 16), (1, 5000), (2, 4999)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_fitted_groups_compute_the_same_bits(size, dtype):
    """Of one program: images that are turned, or have one row, have another (running.py), which may
    add in another order what it reads of a column."""
    require("compute")

    def near(im: Image, p: Position):
        return im(p) * 0.3 + im(p + (1, 2)) * 0.7 - im(p - (0, 1)) * 0.1

    f = pygpu.compile(near, target="compute", dtype=dtype)
    image = (255 * np.random.default_rng(0).random(size)).astype(dtype)
    f(image[:2, :2])
    (made,) = f.specialisations()
    program, given = made.program, Storage.of(image)
    assert program.shape != shapes.fitted(program.shape, size)
    (fitted,) = program.run(Work([given], [], size, [None]))
    (plain,) = Passes.run(program, Work([given], [], size, [None]))
    assert np.array_equal(fitted.host(), plain.host())


def test_number_that_all_pixels_read_has_no_shape():
    build = Builder("over", [ImageInput("image", FLOAT), ImageInput("number", FLOAT)])
    first = build.constant(INT, 0)
    over = build.emit(
        "mul", build.load(1, first, first), build.load(0, build.x, build.y), name="scaled"
    )
    function = build.finish([over])
    assert fixed(function) == {1}
    assert shapes.default(Task(function, (FLOATS, FLOATS), (FLOATS,))) == shapes.OWN
    assert shapes.default(Task(function, (BYTES, FLOATS), (BYTES,))) != shapes.SCATTERED
    lowered = lower_boundary(function)
    assert "max" not in str(lowered)
    assert str(lowered).count("width") == 1  # that of the image, for its edge


def test_pressure_is_what_lives_at_once():
    build = Builder("sums", [ImageInput("image", FLOAT)])
    texels = [build.load(0, build.x, build.y, dx=dx) for dx in range(9)]
    late = build.emit("add", texels[0], texels[8])
    for texel in texels[1:8]:
        late = build.emit("add", late, texel)
    assert pressure(build.finish([late]).body) == 10
    build = Builder("turns", [ImageInput("image", FLOAT)])
    total = build.load(0, build.x, build.y)
    for dx in range(1, 9):
        total = build.emit("add", total, build.load(0, build.x, build.y, dx=dx))
    assert pressure(build.finish([total]).body) == 3


def test_block_of_more_numbers_than_registers_is_none(monkeypatch):
    """Taps in no order, whose sums need all of a block's texels at once."""
    require("compute")
    device = targets.open_device("compute")
    places = [(int(x), int(y)) for x, y in np.random.default_rng(0).integers(-9, 10, (100, 2))]
    build = Builder("taps", [ImageInput("image", vector("float", 3))])
    texels = [build.load(0, build.x, build.y, dx=dx, dy=dy) for dx, dy in places]
    total = texels[0]
    for texel in texels[1:]:
        total = build.emit("add", total, texel)
    colours = Format(np.dtype("float32"), 3)
    task = Task(build.finish([total]), (colours,), (colours,))
    monkeypatch.setattr(device, "largest", 4096)
    monkeypatch.setattr(device, "is_software", True)
    blocked = device.plain(task)
    assert blocked.shape.columns == 4
    monkeypatch.setattr(device, "is_software", False)
    pixels = device.plain(task)
    assert pixels.shape.columns * pixels.shape.rows == 1


def test_long_chains_of_extremes_take_fewer_rows(monkeypatch):
    require("compute")
    device = targets.open_device("compute")
    monkeypatch.setattr(device, "is_software", False)
    monkeypatch.setattr(device, "largest", 4096)

    def rows(reach):
        def greatest(im: Image, p: Position):
            near = range(-reach, reach + 1)
            return max(im(p + (i, j)) for j in near for i in near if abs(i) + abs(j) <= reach)

        image = Image(np.zeros((9, 9), np.float32))
        function = pygpu.compile(greatest).lower(image)._made.translated.function
        return device.plain(Task(function, (FLOATS,), (FLOATS,))).shape.rows

    assert [rows(reach) for reach in (3, 5, 7)] == [4, 2, 1]


def test_pixels_that_read_on_one_side_of_a_branch_are_in_blocks(monkeypatch):
    require("compute")
    device = targets.open_device("compute")
    monkeypatch.setattr(device, "is_software", False)

    def life(im: Image, p: Position):
        near = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if (i, j) != (0, 0)]
        count = sum(im(p + d) > 0.5 for d in near)
        return count == 3 or (count == 2 and im(p) > 0.5)

    image = Image(np.random.default_rng(0).random((9, 13)).astype(np.float32))
    function = pygpu.compile(life).lower(image)._made.translated.function
    alive = Format(np.dtype("bool"), 1)
    program = device.compile(Task(function, (FLOATS,), (alive,)))
    assert program.shape.columns == 4

    def halves(left: Image, right: Image, p: Position):
        return left(p) if p.x < left.width // 2 else right(p)

    function = pygpu.compile(halves).lower(image, image)._made.translated.function
    assert any(op.code == "if" for op in walk(function.body))
    program = device.compile(Task(function, (FLOATS, FLOATS), (FLOATS,)))
    assert program.shape.columns == 1  # each pixel reads one of the images alone
