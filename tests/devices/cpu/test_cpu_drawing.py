"""PyGPU's own rasteriser: which pixels triangles cover, exactly; what is interpolated, to float64;
depth, blending, cutting, samples, whatever the threads."""

import gc
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pygpu
from pygpu.codegen.raster import layout
from pygpu.core.builder import Builder
from pygpu.core.drawing import Draw, Drawing, Geometry, Stage
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu import drawing as cpu_drawing
from pygpu.devices.cpu import native
from pygpu.devices.cpu.device import CpuDevice
from pygpu.ssa import ImageInput, Region, Value
from pygpu.types import FLOAT, vector

RNG = np.random.default_rng(21)
VEC4 = vector("float", 4)


def passed_on(widths):
    """A vertex stage that hands on its position and attributes of these widths."""
    types = [(f"a{i}", vector("float", width)) for i, width in enumerate(widths)]
    build = Builder("vertex", [], [("position", VEC4), *types])
    return Stage(build.finish(list(build.uniforms)), 1 + len(widths), ())


def drawing(widths=(1,), fragment=None, images=(), **state):
    """What draws its varyings, or what a function of a builder and the varyings makes of them."""
    types = [(f"a{i}", vector("float", width)) for i, width in enumerate(widths)]
    build = Builder("fragment", list(images), types)
    outputs = list(build.uniforms) if fragment is None else fragment(build, *build.uniforms)
    stage = Stage(
        build.finish(outputs), len(widths), [Format(np.dtype("float32"), 1)] * len(images)
    )
    return Drawing(passed_on(widths), stage, **state)


def draw(made, shape, positions, triangles, *attributes, program=None, images=(), **more):
    """What comes of it: arrays (H, W, C)."""
    arrays = {"position": positions, **{f"a{i}": a for i, a in enumerate(attributes)}}
    arrays = {name: np.ascontiguousarray(a, np.float32) for name, a in arrays.items()}
    indices = np.ascontiguousarray(triangles, np.uint32).reshape(-1, 3)
    geometry = Geometry(arrays, indices)
    clear = more.pop("clear", [(0.0,) * type.size for type in made.colours])
    images = ([], [Storage.of(image) for image in images])
    asked = Draw(geometry, list(arrays), [], images, shape, clear, **more)
    program = program or CpuDevice().drawing(made)
    return [storage.host() for storage in program.draw(asked)]


def counted(shape, positions, triangles, **state):
    """How many triangles cover each pixel."""
    made = COUNTING.get(tuple(state.items()))
    if made is None:
        one = drawing(fragment=lambda b, a: [b.constant(FLOAT, 1.0)], depth=False, blend="add",
                      **state)  # fmt: skip
        made = COUNTING[tuple(state.items())] = one, CpuDevice().drawing(one)
    nothing = np.zeros((len(positions), 1))
    return draw(made[0], shape, positions, triangles, nothing, program=made[1])[0][..., 0]


COUNTING: dict = {}


def on_picture(positions, shape):
    """Corners in 1/256 of a pixel, y downwards; positions are (N, 4) with w > 0."""
    x, y, _, w = np.float64(np.float32(positions)).T
    across = (x / w * 0.5 + 0.5) * (256.0 * shape[1])
    down = (0.5 - y / w * 0.5) * (256.0 * shape[0])
    return np.stack([np.rint(across), np.rint(down)], -1).astype(object)


def covers(corners, shape, across=0, down=0):
    """The pixels that a triangle covers, by whole numbers of any size."""
    (ax, ay), (bx, by), (cx, cy) = [(int(x), int(y)) for x, y in corners]
    if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0:
        (bx, by), (cx, cy) = (cx, cy), (bx, by)
    px = np.array([256 * x + 128 + across for x in range(shape[1])], object)
    py = np.array([256 * y + 128 + down for y in range(shape[0])], object)[:, None]
    inside = np.full(shape, (bx - ax) * (cy - ay) != (by - ay) * (cx - ax))
    for (sx, sy), (ex, ey) in (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay))):
        side = (ex - sx) * (py - sy) - (ey - sy) * (px - sx)
        is_left, is_top = ey < sy, ey == sy and ex > sx
        inside &= (side >= 0 if is_left or is_top else side > 0).astype(bool)
    return inside


def expected(shape, positions, triangles):
    corners = on_picture(positions, shape)
    total = np.zeros(shape)
    for triangle in triangles:
        total += covers(corners[list(triangle)], shape)
    return total


def flat(points):
    """Positions in clip space of points (N, 2)."""
    points = np.asarray(points, float)
    return np.concatenate([points, np.zeros((len(points), 1)), np.ones((len(points), 1))], -1)


def at_pixels(points, shape):
    """Positions of points given in pixels, y downwards."""
    points = np.asarray(points, float)
    return flat(np.stack([points[:, 0] / shape[1] * 2 - 1, 1 - points[:, 1] / shape[0] * 2], -1))


# ---------------------------------------------------------------- coverage


@pytest.mark.parametrize("shape", [(40, 50), (1, 1), (1, 200), (131, 3), (130, 150)])
@pytest.mark.parametrize("spread", [0.1, 1.5, 12.0])
def test_random_triangles_cover_what_whole_numbers_say(shape, spread):
    positions = flat(RNG.normal(0, spread, (36, 2)))
    triangles = np.arange(36).reshape(-1, 3)
    actual = counted(shape, positions, triangles)
    np.testing.assert_array_equal(actual, expected(shape, positions, triangles))


@given(st.lists(st.tuples(*[st.integers(-64, 64 * 9)] * 2), min_size=3, max_size=3))
def test_corners_on_pixels_and_between_them(points):
    shape = (8, 9)
    positions = at_pixels(np.array(points) / 64, shape)
    actual = counted(shape, positions, [[0, 1, 2]])
    np.testing.assert_array_equal(actual, expected(shape, positions, [[0, 1, 2]]))


@given(st.lists(st.tuples(*[st.floats(-1e4, 1e4)] * 2), min_size=3, max_size=3))
def test_huge_triangles(points):
    shape = (70, 133)
    positions = at_pixels(np.array(points), shape)
    actual = counted(shape, positions, [[0, 1, 2]])
    np.testing.assert_array_equal(actual, expected(shape, positions, [[0, 1, 2]]))


def test_long_thin_triangles():
    shape = (150, 150)
    points = [(RNG.uniform(-9000, 9000), RNG.uniform(-9000, 9000)) for _ in range(20)]
    near = [p + RNG.normal(0, 0.5, 2) for p in np.array(points)]
    middle = RNG.uniform(0, 150, (20, 2))
    positions = at_pixels([*points, *near, *middle], shape)
    triangles = [[i, 20 + i, 40 + i] for i in range(20)]
    actual = counted(shape, positions, triangles)
    np.testing.assert_array_equal(actual, expected(shape, positions, triangles))


def grid(n, wiggle):
    """A square of n x n cells, corners moved about, that covers everything."""
    points = np.stack(np.meshgrid(*[np.linspace(-1.2, 1.2, n + 1)] * 2), -1)
    points[1:-1, 1:-1] += RNG.uniform(-wiggle, wiggle, (n - 1, n - 1, 2)) / n
    index = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([c, b, d], -1)], 2).reshape(-1, 3)
    return flat(points.reshape(-1, 2)), triangles


@pytest.mark.parametrize("n", [2, 7, 60, 150])
def test_shared_edges_are_drawn_once(n):
    positions, triangles = grid(n, 0.6)
    assert (counted((101, 117), positions, triangles) == 1).all()


def test_square_of_two_triangles_covers_each_pixel_once():
    positions = flat([(-1, -1), (1, -1), (-1, 1), (1, 1)])
    for triangles in ([[0, 1, 2], [2, 1, 3]], [[0, 1, 3], [0, 3, 2]]):
        assert (counted((64, 64), positions, triangles) == 1).all()


def test_triangle_of_one_pixel():
    shape = (20, 20)
    positions = at_pixels([(3, 5), (4.1, 5), (3, 6.1)], shape)
    result = counted(shape, positions, [[0, 1, 2]])
    assert result.sum() == result[5, 3] == 1


@pytest.mark.parametrize(
    "points", [[(1, 1)] * 3, [(1, 1), (5, 5), (9, 9)], [(3, 3), (3, 3), (9, 1)]]
)
def test_triangles_without_area_cover_nothing(points):
    assert counted((16, 16), at_pixels(points, (16, 16)), [[0, 1, 2]]).sum() == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("component", range(4))
def test_triangle_with_a_corner_that_is_not_finite_is_dropped(bad, component):
    positions = np.concatenate([flat([(-1, -1), (1, -1), (0, 1)])] * 2)
    positions[1, component] = bad
    result = counted((16, 16), positions, [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(result, expected((16, 16), positions, [[3, 4, 5]]))


@pytest.mark.parametrize(("cull", "kept"), [("", 2), ("back", 1), ("front", 1)])
def test_culling(cull, kept):
    positions = flat([(-1, -1), (0, -1), (-1, 1), (0, -1), (1, -1), (1, 1)])
    counter_clockwise, clockwise = [0, 1, 2], [3, 5, 4]
    result = counted((10, 10), positions, [counter_clockwise, clockwise], cull=cull)
    left, right = bool(result[:, :5].any()), bool(result[:, 5:].any())
    assert left + right == kept
    assert (left, right) == (cull != "front", cull != "back")


def test_no_triangles_give_what_is_cleared():
    made = drawing((3,))
    (result,) = draw(made, (5, 7), np.zeros((0, 4)), [], np.zeros((0, 3)), clear=[(1.0, 2.0, 3.0)])
    np.testing.assert_array_equal(result, np.broadcast_to(np.float32([1, 2, 3]), (5, 7, 3)))


def test_too_large_a_picture_is_refused():
    with pytest.raises(DeviceError, match="32768 pixels along a side"):
        counted((1, 40_000), flat([(0, 0)] * 3), [[0, 1, 2]])


def test_samples_that_nobody_has_are_refused():
    with pytest.raises(DeviceError, match="samples=3"):
        CpuDevice().drawing(drawing(samples=3))


def test_more_triangles_than_a_batch(monkeypatch):
    monkeypatch.setattr(cpu_drawing, "BATCH", 2 * layout.CHUNK)
    n = 5 * layout.CHUNK + 77
    shape = (30, 30)
    positions = at_pixels(RNG.uniform(0, 30, (n, 1, 2)).repeat(3, 1).reshape(-1, 2)
                          + RNG.normal(0, 1, (3 * n, 2)), shape)  # fmt: skip
    triangles = np.arange(3 * n).reshape(-1, 3)
    order = drawing((1,), depth=False)
    ids = np.arange(n).repeat(3)[:, None]
    (last,) = draw(order, shape, positions, triangles, ids, clear=[(-1.0,)])
    corners, wanted = on_picture(positions, shape).astype(int), np.full(shape, -1)
    for index, triangle in enumerate(triangles):
        points = corners[triangle]
        x0, y0 = np.maximum(points.min(0) // 256, 0)
        x1, y1 = points.max(0) // 256 + 1
        if x1 <= 0 or y1 <= 0 or x0 >= 30 or y0 >= 30:
            continue
        size = (min(y1, 30) - y0, min(x1, 30) - x0)
        inside = covers(points - [256 * x0, 256 * y0], size)
        wanted[y0 : y0 + size[0], x0 : x0 + size[1]][inside] = index
    np.testing.assert_array_equal(last[..., 0], wanted)


# ---------------------------------------------------------------- interpolation


def in_float64(positions, values, shape):
    """Perspective-correct values of one triangle at the centres of all pixels, and where it is."""
    x, y, z, w = np.float64(np.float32(positions)).T
    height, width = shape
    px = (np.arange(width) + 0.5) / width * 2 - 1
    py = 1 - (np.arange(height) + 0.5) / height * 2
    px, py = np.meshgrid(px, py)
    # 1/w and value/w are linear on the picture: solved from the corners, which may lie behind.
    corners = np.stack([x, y, w])
    at = np.stack([px.ravel(), py.ravel(), np.ones(px.size)])
    shares = np.linalg.solve(corners, at)
    inside = (shares >= 0).all(0).reshape(shape)
    one = shares.sum(0)
    found = (np.float64(np.float32(values)).T @ shares) / one
    depth = (z @ shares) * 0.5 + 0.5
    return np.moveaxis(found.reshape(-1, *shape), 0, -1), depth.reshape(shape), inside


@pytest.mark.parametrize("size", [0.7, 3.0, 40.0])
def test_varyings_are_those_of_float64(size):
    shape = (90, 110)
    for _ in range(6):
        w = RNG.uniform(1, 9, 3)
        points = RNG.normal(0, size, (3, 2))
        positions = np.stack([*(points * w[:, None]).T, RNG.uniform(-0.9, 0.9, 3) * w, w], -1)
        values = RNG.normal(0, 5, (3, 4))
        # The exact corners, so that only the arithmetic is compared.
        corners = on_picture(positions, shape).astype(float) / 256
        exact = at_pixels(corners, shape)[:, :2] * np.float32(w)[:, None]
        colour, depth = draw(drawing((4,)), shape, positions, [[0, 1, 2]], values, keep_depth=True)
        true, near, _ = in_float64(np.stack([*exact.T, positions[:, 2], w], -1), values, shape)
        covered = covers(on_picture(positions, shape), shape)
        np.testing.assert_allclose(colour[covered], true[covered], rtol=0, atol=2e-5)
        np.testing.assert_allclose(depth[..., 0][covered], near[covered], rtol=0, atol=1e-6)
        assert (depth[~covered] == 1).all()


def test_far_parts_of_what_begins_at_the_eye_lose_no_digits():
    """A floor that begins far outside the picture, where 1/w is a thousand times as large."""
    shape = (30, 40)
    w = np.array([0.1, 100.0, 90.0])
    points = np.array([(-1000, -2000), (0.9, -0.5), (-0.9, 0.9)])
    values = np.array([[0.0, 1.0], [1.0, 0.0], [0.25, 0.5]])
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]):
        positions = np.stack([*(points * w[:, None]).T, 0 * w, w], -1)[order]
        (result,) = draw(drawing((2,)), shape, positions, [[0, 1, 2]], values[order])
        covered = covers(on_picture(positions, shape), shape)
        assert covered.sum() > 50
        exact = at_pixels(on_picture(positions, shape).astype(float) / 256, shape)[:, :2]
        near = np.stack([*(exact * w[order][:, None]).T, 0 * w, w[order]], -1)
        x, y = near[:, :2].T
        height, width = shape
        px, py = np.meshgrid((np.arange(width) + 0.5) / width * 2 - 1,
                             1 - (np.arange(height) + 0.5) / height * 2)  # fmt: skip
        at = np.stack([px.ravel(), py.ravel(), np.ones(px.size)])
        shares = np.linalg.solve(np.stack([x, y, w[order]]), at)
        true = (values[order].T @ shares / shares.sum(0)).T.reshape(*shape, 2)
        np.testing.assert_allclose(result[covered], true[covered], rtol=0, atol=2e-6)


def test_thin_triangles_stay_between_their_corners():
    shape = (64, 64)
    start = RNG.uniform(-30, 94, (300, 2))
    points = np.concatenate([start, start + RNG.normal(0, 0.02, (300, 2)), 64 - start])
    triangles = [[i, 300 + i, 600 + i] for i in range(300)]
    values = RNG.uniform(0, 1, (900, 1))
    (result,) = draw(drawing((1,)), shape, at_pixels(points, shape), triangles, values,
                     clear=[(0.5,)])  # fmt: skip
    assert result.min() >= -1e-6
    assert result.max() <= 1 + 1e-6


def test_equal_values_stay_equal():
    positions, triangles = grid(9, 0.5)
    positions[:, 3] = RNG.uniform(1, 3, len(positions))
    (result,) = draw(drawing((2,)), (50, 50), positions, triangles,
                     np.full((len(positions), 2), [0.3, 7.0]), clear=[(0.3, 7.0)])  # fmt: skip
    assert (result == np.float32([0.3, 7.0])).all()


# ---------------------------------------------------------------- planes


def test_triangles_that_cross_the_near_plane_are_cut():
    shape = (80, 100)
    some = False
    for _ in range(30):
        positions = RNG.normal(0, 1, (3, 4)) * [2, 2, 1, 1]
        values = RNG.normal(0, 1, (3, 2))
        colour, depth = draw(drawing((2,)), shape, positions, [[0, 1, 2]], values,
                             clear=[(9.0, 9.0)], keep_depth=True)  # fmt: skip
        true, near, inside = in_float64(positions, values, shape)
        inside &= (near >= 0) & (near <= 1)
        drawn = depth[..., 0] < 1
        # Edges are rounded to 1/256 of a pixel: compare away from them.
        core = inside.copy()
        rim = inside.copy()
        for axis in (0, 1):
            for by in (-1, 1):
                core &= np.roll(inside, by, axis)
                rim |= np.roll(inside, by, axis)
        assert drawn[core].all()
        assert not drawn[~rim].any()
        steep = np.abs(true).max(-1) > 50
        sure = core & ~steep
        np.testing.assert_allclose(colour[sure], true[sure], rtol=0, atol=0.06)
        some |= bool(core.any())
    assert some


def test_behind_the_eye_there_is_nothing():
    positions = flat([(-1, -1), (1, -1), (0, 1)])
    positions[:, 3] = -1
    assert counted((9, 9), positions, [[0, 1, 2]]).sum() == 0


@pytest.mark.parametrize("z", [-1.01, 1.01])
def test_outside_near_and_far_there_is_nothing(z):
    positions = flat([(-1, -1), (1, -1), (0, 1)])
    positions[:, 2] = z
    assert counted((9, 9), positions, [[0, 1, 2]]).sum() == 0


def test_huge_coordinates_cover_all():
    for size in (1e3, 1e6, 1e15, 1e30):
        positions = flat([(-size, -size), (size, -size), (0, size)])
        assert (counted((40, 70), positions, [[0, 1, 2]]) == 1).all()


def test_edges_of_cut_triangles_meet():
    positions, triangles = grid(6, 0.5)
    floor = positions.copy()
    # A floor that goes on behind the eye: y = -1, seen with 1 / distance.
    x, y = positions[:, 0] * 40, positions[:, 1] * 40
    floor = np.stack([x, -np.ones_like(x), y - 0.1, y], -1)
    result = counted((90, 120), floor, triangles)
    assert (result[46:] == 1).all()
    assert (result[:44] == 0).all()


def ball(around, down):
    """A closed surface around the origin, each corner at a distance of its own."""
    rings = np.pi * np.arange(1, down)[:, None] / down
    turns = 2 * np.pi * np.arange(around) / around
    ring = [np.sin(rings) * np.cos(turns), np.sin(rings) * np.sin(turns), np.cos(rings) + 0 * turns]
    points = np.concatenate([[[0, 0, 1]], np.stack(ring, -1).reshape(-1, 3), [[0, 0, -1]]])
    corner = np.arange(1, len(points) - 1).reshape(down - 1, around)
    beside, last = np.roll(corner, -1, 1), len(points) - 1
    parts = [
        np.stack([np.zeros_like(corner[0]), corner[0], beside[0]], -1),
        np.stack([np.full_like(corner[0], last), beside[-1], corner[-1]], -1),
        np.stack([corner[:-1], corner[1:], beside[:-1]], -1).reshape(-1, 3),
        np.stack([beside[:-1], corner[1:], beside[1:]], -1).reshape(-1, 3),
    ]
    return points * RNG.uniform(0.6, 1.6, (len(points), 1)), np.concatenate(parts)


@pytest.mark.parametrize("scale", [0.02, 1.0, 50.0])
def test_from_inside_a_closed_mesh_each_pixel_is_covered_once(scale):
    """Triangles all around the eye cross the near plane and reach far beyond the picture."""
    near, far = 1e-4, 1e5
    for around, down in ((3, 2), (5, 9), (30, 14)):
        points, triangles = ball(around, down)
        turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
        x, y, z = scale * turn @ points.T
        depth = -(far + near) / (far - near) * z - 2 * far * near / (far - near)
        positions = np.stack([0.7 * x, 0.7 * y, depth, -z], -1)
        assert (counted((61, 83), positions, triangles) == 1).all()


# ---------------------------------------------------------------- state


def full(depths, shape_of=3):
    """Triangles that cover everything, one a depth: positions, indices, and the number of each."""
    corners = np.array([(-1, -1), (3, -1), (-1, 3)], float)
    positions = np.concatenate([flat(corners) + [0, 0, z, 0] for z in depths])
    ids = np.arange(len(depths)).repeat(3)[:, None] + 1.0
    return positions, np.arange(3 * len(depths)).reshape(-1, 3), ids


def test_the_nearest_is_seen_and_of_equals_the_first():
    result = draw(drawing(), (20, 20), *full([0.5, -0.25, 0.25, -0.25]), keep_depth=True)
    assert (result[0] == 2).all()
    np.testing.assert_allclose(result[1], 0.375)


def test_without_depth_the_last_is_seen():
    (result,) = draw(drawing(depth=False), (20, 20), *full([0.5, -0.25, 0.25]))
    assert (result == 3).all()


def test_depths_that_are_given_are_kept_and_tested():
    depths = np.full((20, 24, 1), 0.5, np.float32)
    depths[:, :10] = 0
    below = np.full((20, 24, 1), 7, np.float32)
    colour, after = draw(drawing(), (20, 24), *full([-0.5]), onto=[Storage.of(below)],
                         depths=Storage.of(depths), keep_depth=True)  # fmt: skip
    assert (colour[:, :10] == 7).all()
    assert (colour[:, 10:] == 1).all()
    assert (after[:, :10] == 0).all()
    assert (after[:, 10:] == 0.25).all()
    assert (below == 7).all()
    assert set(np.unique(depths)) == {0.0, 0.5}


@pytest.mark.parametrize(
    ("blend", "wanted"),
    [
        ("alpha", [0.25 * (0.5 * 0.2 + 0.5 * 8) + 0.75 * 0.6, 0.5 * 0.5 * 0.75 + 0.25 * 0.75]),
        ("add", [8 + 0.2 + 0.6, 0.0 + 0.5 + 0.75]),
        ("multiply", [8 * 0.2 * 0.6, 0.0]),
    ],
)
def test_blending_is_in_order(blend, wanted):
    positions, triangles, _ = full([0.0, 0.0])
    colours = np.array([[0.2, 0.2, 0.2, 0.5]] * 3 + [[0.6, 0.6, 0.6, 0.75]] * 3)
    made = drawing((4,), depth=False, blend=blend)
    (result,) = draw(made, (9, 20), positions, triangles, colours, clear=[(8.0, 8.0, 8.0, 0.0)])
    if blend == "alpha":
        wanted[1] = 0.75 * 0.75 + 0.25 * (0.5 * 0.5)
    np.testing.assert_allclose(result[..., 0], wanted[0], rtol=1e-6)
    np.testing.assert_allclose(result[..., 3], wanted[1], rtol=1e-6)


def test_dropped_fragments_leave_depth_and_colour():
    def fragment(build, value):
        x = build.emit("mod", build.x, build.constant(build.x.type, 2))
        return [value, build.emit("eq", x, build.constant(build.x.type, 0))]

    made = drawing((1,), fragment, discards=True)
    colour, depth = draw(made, (8, 21), *full([0.0, 0.5]), clear=[(9.0,)], keep_depth=True)
    assert (colour[:, ::2] == 9).all()
    assert (colour[:, 1::2] == 1).all()
    assert (depth[:, ::2] == 1).all()
    assert (depth[:, 1::2] == 0.5).all()


def test_several_results_of_several_widths():
    def fragment(build, value):
        two = build.emit("construct", value, value, data=vector("float", 2))
        return [value, two, build.emit("neg", two)]

    results = draw(drawing((1,), fragment), (8, 21), *full([0.0]))
    assert [result.shape[2] for result in results] == [1, 2, 2]
    assert [result.mean() for result in results] == [1, 1, -1]


@pytest.mark.parametrize("code", ["ddx", "ddy"])
@pytest.mark.parametrize("shape", [(33, 37), (1, 1)])
def test_differences_of_pixels(code, shape):
    def fragment(build, value):
        square = build.emit("mul", value, value)
        return [build.emit(code, square)]

    points = [(-300, -200), (350, -180), (10, 400)]
    values = np.array([[1.0], [2.0], [4.0]])
    positions = at_pixels(points, shape)
    (result,) = draw(drawing((1,), fragment), shape, positions, [[0, 1, 2]], values)
    even = tuple(-(-size // 2) * 2 for size in shape)
    wide = [(x, y) for x, y in points]
    # A picture of even sides shows the same at more pixels.
    value = in_float64(at_pixels(wide, even), values, even)[0][..., 0] ** 2
    axis = 1 if code == "ddx" else 0
    pairs = np.moveaxis(value, axis, 0)
    wanted = np.moveaxis(np.repeat(pairs[1::2] - pairs[::2], 2, 0), 0, axis)
    np.testing.assert_allclose(result[..., 0], wanted[: shape[0], : shape[1]], atol=3e-5)


def test_differences_at_edges_are_those_inside():
    shape = (40, 40)
    made = drawing((1,), lambda build, value: [build.emit("ddx", value), build.emit("ddy", value)])
    positions = at_pixels([(5.3, 4.2), (33.1, 9.7), (14.2, 36.6)], shape)
    values = np.array([[5.3 + 8.4], [33.1 + 19.4], [14.2 + 73.2]])  # x + 2 y
    across, down = draw(made, shape, positions, [[0, 1, 2]], values)
    covered = covers(on_picture(positions, shape), shape)
    np.testing.assert_allclose(across[..., 0][covered], 1, atol=1e-2)
    np.testing.assert_allclose(down[..., 0][covered], 2, atol=1e-2)


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_samples_are_counted_exactly(samples):
    shape = (40, 50)
    positions = flat(RNG.normal(0, 1, (30, 2)))
    triangles = np.arange(30).reshape(-1, 3)
    actual = counted(shape, positions, triangles, samples=samples)
    corners = on_picture(positions, shape)
    wanted = sum(
        covers(corners[list(triangle)], shape, *offset).astype(float)
        for triangle in triangles
        for offset in layout.SAMPLES[samples]
    )
    np.testing.assert_allclose(actual, wanted / samples, atol=1e-6)


def test_depths_of_samples():
    """Two triangles that cut through each other: each sample has the nearer one."""
    shape = (16, 16)
    positions = np.concatenate([flat([(-1, -1), (3, -1), (-1, 3)])] * 2)
    positions[:3, 2] = [-0.4, 1.2, -0.4]
    ids = np.array([[1.0]] * 3 + [[0.0]] * 3)
    (result,) = draw(drawing(samples=4), shape, positions, np.arange(6), ids)
    across = (np.arange(16)[:, None] * 256 + 128 + np.array(layout.SAMPLES[4])[:, 0]) / 4096
    wanted = (across * 2 - 1 < 0).mean(1)
    np.testing.assert_allclose(result[3, :, 0], wanted)


# ---------------------------------------------------------------- threads, images, loops


def test_threads_change_nothing(monkeypatch):
    shape = (200, 260)
    positions = flat(RNG.normal(0, 0.6, (3000, 2)))
    positions[:, 2] = RNG.uniform(-1, 1, 3000)
    triangles = RNG.integers(0, 3000, (5000, 3))
    values = RNG.uniform(0, 1, (3000, 4))
    results = []
    for count in ("1", "3"):
        monkeypatch.setenv("PYGPU_THREADS", count)
        results.append(draw(drawing((4,), blend="alpha"), shape, positions, triangles, values)[0])
    np.testing.assert_array_equal(*results)


def test_fragments_read_images_and_loop():
    def fragment(build, value):
        texel = build.load(0, build.x, build.y)
        start = build.constant(FLOAT, 0.0)
        total = Value(FLOAT, "total")
        body = Region((total,))
        with build.inside(body):
            more = build.emit("add", total, texel)
            go = build.emit("lt", more, value)
            body.results = (go, more)
        return list(build.append("loop", [start], [FLOAT], [body]))

    image = RNG.uniform(0.5, 2, (30, 41)).astype(np.float32)
    made = drawing((1,), fragment, [ImageInput("im", FLOAT)])
    positions, triangles, _ = full([0.0])
    values = np.full((3, 1), 20.0)
    (result,) = draw(made, (30, 41), positions, triangles, values, images=[image])
    wanted = np.zeros_like(image)
    for _ in range(60):
        wanted = np.where((wanted < 20) | (wanted == 0), wanted + image, wanted)
    np.testing.assert_allclose(result[..., 0], wanted, rtol=1e-5)


def test_million_triangles_in_bounded_memory():
    n = 1_000_000
    positions = flat(RNG.uniform(-1, 1, (5000, 2)))
    near = np.arange(n) % 4990
    triangles = np.stack([near, near + 3, near + 7], -1)
    made = drawing((1,), lambda build, value: [value], cull="back")
    counted((8, 8), positions, triangles[:10])
    program = CpuDevice().drawing(made)
    values = np.zeros((5000, 1))
    draw(made, (64, 64), positions * [0.2, 0.2, 1, 1], triangles[:20_000], values, program=program)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    small = positions * [0.01, 0.01, 1, 1]
    draw(made, (64, 64), small, triangles, values, program=program)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # KiB


def test_the_code_of_a_draw_stays_while_it_is_drawn_with() -> None:
    """Of threads that make one code at once the cache keeps one's; another's draws go on with
    theirs."""

    class Flat(pygpu.Shader):
        def vertex(self, position):
            return pygpu.Vec4(position, 0, 1)

        def fragment(self):
            return 2.0

    first = pygpu.draw(Flat(), pygpu.Mesh.quad(), shape=(4, 5), target="cpu")
    native.native_of.cache_clear()
    gc.collect()
    again = pygpu.draw(Flat(), pygpu.Mesh.quad(), shape=(4, 5), target="cpu")
    np.testing.assert_array_equal(np.asarray(again), np.asarray(first))
