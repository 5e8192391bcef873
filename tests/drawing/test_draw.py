"""Meshes drawn by shader classes: against the rasteriser in plain Python, and what is refused."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pygpu
from drawing_reference import reference
from pygpu import Image, Mat3, Mat4, Position, Vec2, Vec3, Vec4
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import FRAMEBUFFERS, Context
from pygpu.devices.opengl.driver.pages import _Buffer as LargeBuffer
from pygpu.drawing.draw import draw
from pygpu.drawing.mesh import Mesh
from pygpu.drawing.shader import Shader

TARGETS = ("cpu", "fragment", "compute")


@pytest.fixture(params=TARGETS)
def on(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Coloured(Shader):
    """Positions in clip space, with colours."""

    def vertex(self, position: Vec4, colour: Vec4):
        return position, colour

    def fragment(self, colour):
        return colour


class Flat(Shader):
    gain: float = 1.0

    def vertex(self, position: Vec2):
        return Vec4(position, 0, 1)

    def fragment(self):
        return self.gain


def triangles(rng: np.random.Generator, count: int, spread: float = 1.2) -> Mesh:
    """Random triangles, in perspective."""
    position = rng.uniform(-spread, spread, (3 * count, 4))
    position[:, 3] = rng.uniform(0.5, 2.0, 3 * count)
    position[:, :3] *= position[:, 3:]
    position[:, 2] *= 0.7
    return Mesh(position=position, colour=rng.uniform(0, 1, (3 * count, 4)))


def compare(shader: Shader, mesh: Mesh, shape: tuple[int, int], on: str, **how: Any) -> Any:
    """Draw and compare where rounding does not decide."""
    names = how.pop("names", ("position", "colour"))
    sizes = how.pop("sizes", (4,))
    expected = reference(shader, mesh, shape, names=names, sizes=sizes, **how)
    drawn = draw(shader, mesh, shape=shape, target=on, **how)
    sure = ~expected.unsure
    assert sure.mean() > 0.5
    images = drawn if isinstance(drawn, tuple) else (drawn,)
    for image, colours in zip(images, expected.colours, strict=True):
        actual = np.asarray(image).reshape(colours.shape)
        np.testing.assert_allclose(actual[sure], colours[sure], rtol=1e-3, atol=1e-3)
    return expected


# ---------------------------------------------------------------- coverage, interpolation, order


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", [{}, {"cull": "back"}, {"cull": "front"}, {"depth": False}])
def test_triangles_are_those_of_plain_python(seed: int, how: Any, on: str) -> None:
    mesh = triangles(np.random.default_rng(seed), 4)
    expected = compare(Coloured(), mesh, (23, 30), on, **how)
    assert expected.covered.any() or "cull" in how


@pytest.mark.parametrize("blend", ["alpha", "add", "multiply"])
def test_blending_is_that_of_plain_python(blend: str, on: str) -> None:
    mesh = triangles(np.random.default_rng(5), 5)
    compare(Coloured(), mesh, (16, 16), on, blend=blend, depth=False, clear=0.5)


@pytest.mark.parametrize("seed", range(4))
def test_triangles_are_cut_at_the_near_and_the_far_plane(seed: int, on: str) -> None:
    rng = np.random.default_rng(seed)
    position = rng.uniform(-1, 1, (9, 4))
    position[:, 2] *= 2
    position[:, 3] = rng.uniform(-0.5, 1.5, 9)
    mesh = Mesh(position=position, colour=rng.uniform(0, 1, (9, 4)))
    compare(Coloured(), mesh, (20, 20), on)


def test_shared_edges_are_drawn_once(on: str) -> None:
    side = np.linspace(-1, 1, 9)
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(side, side), -1)
    grid[1:-1, 1:-1] += rng.uniform(-0.08, 0.08, (7, 7, 2))
    at = np.arange(81).reshape(9, 9)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
    indices = np.stack([a, b, c, b, d, c], -1).reshape(-1, 3)
    mesh = Mesh(indices, position=grid.reshape(-1, 2))
    drawn = draw(Flat(), mesh, shape=(64, 64), blend="add", depth=False, target=on)
    assert np.unique(np.asarray(drawn)).tolist() == [1.0]


def test_pixel_on_an_edge_is_that_of_the_lower_right_triangle(on: str) -> None:
    """Top and left edges belong to a triangle: of two squares that meet at pixel centres the right
    one, and the lower one, have those pixels."""

    def square(x0: float, y0: float, x1: float, y1: float) -> Mesh:
        corners = np.array([(x0, y0), (x1, y0), (x0, y1), (x1, y1)])
        clip = np.stack([corners[:, 0] / 4 - 1, 1 - corners[:, 1] / 4], -1)  # of 8 x 8 pixels
        return Mesh([(0, 2, 1), (1, 2, 3)], position=clip)

    drawn = np.asarray(draw(Flat(), square(1.5, 2.5, 4.5, 5.5), shape=(8, 8), target=on))
    rows, columns = np.nonzero(drawn)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (2, 4, 1, 3)


def test_counter_clockwise_is_the_front(on: str) -> None:
    mesh = Mesh([(0, 1, 2)], position=[(-1, -1), (1, -1), (0, 1)])
    assert np.asarray(draw(Flat(), mesh, shape=(9, 9), cull="back", target=on)).any()
    assert not np.asarray(draw(Flat(), mesh, shape=(9, 9), cull="front", target=on)).any()


def test_row_0_is_on_top_and_uv_begins_there(on: str) -> None:
    class Uv(Shader):
        def vertex(self, position, uv):
            return Vec4(position, 0, 1), uv

        def fragment(self, uv):
            return uv

    drawn = np.asarray(draw(Uv(), Mesh.quad(), shape=(4, 5), target=on))
    x, y = np.meshgrid((np.arange(5) + 0.5) / 5, (np.arange(4) + 0.5) / 4)
    np.testing.assert_allclose(drawn, np.stack([x, y], -1), atol=1e-6)


def test_varyings_are_those_of_float64_to_rounding(on: str) -> None:
    rng = np.random.default_rng(8)
    position = np.array([(-3, -3, 0, 1), (9, -3, 0.5, 2.5), (-3, 9, 0.2, 1.7)])
    mesh = Mesh(position=position, colour=rng.uniform(0, 1, (3, 4)))
    expected = reference(Coloured(), mesh, (32, 32), names=("position", "colour"))
    actual = np.asarray(draw(Coloured(), mesh, shape=(32, 32), target=on))
    sure = ~expected.unsure
    np.testing.assert_allclose(actual[sure], expected.colours[0][sure], atol=2e-5)


def test_nearer_fragments_win_whatever_the_order(on: str) -> None:
    near = [(-1, -1, 0.1, 1), (1, -1, 0.1, 1), (0, 1, 0.1, 1)]
    far = [(-1, 1, 0.5, 1), (0, -1, 0.5, 1), (1, 1, 0.5, 1)]
    colours = {"near": [(1, 0, 0, 1)] * 3, "far": [(0, 1, 0, 1)] * 3}
    results = []
    for order in (("near", "far"), ("far", "near")):
        position = [corner for name in order for corner in (near if name == "near" else far)]
        colour = [c for name in order for c in colours[name]]
        mesh = Mesh(position=position, colour=colour)
        results.append(np.asarray(draw(Coloured(), mesh, shape=(17, 17), target=on)))
    np.testing.assert_array_equal(*results)
    assert results[0][12, 8].tolist() == [1, 0, 0, 1]


# ---------------------------------------------------------------- what shaders may be


class Lamp:
    def __init__(self, colour: Vec3) -> None:
        self.colour = colour

    def shade(self, n: Any) -> Any:
        return self.colour * pygpu.clamp(n.z, 0.0, 1.0)


class Half(Lamp):
    def shade(self, n: Any) -> Any:
        return super().shade(n) * 0.5


class Lit(Shader):
    turn: Mat3
    lamps: list[Any]
    tint: Image

    def vertex(self, position: Vec4, normal: Vec3, frame: Vec3):
        rows = Mat3(frame, frame.yzx, frame.zxy)
        return position, self.turn @ normal, rows

    def fragment(self, normal, frame):
        n = pygpu.normalize(normal + 0.1 * (frame @ normal))
        return sum(lamp.shade(n) * self.tint((1, 0)).x for lamp in self.lamps), n.x


def test_objects_matrices_images_and_several_results(on: str) -> None:
    rng = np.random.default_rng(2)
    base = triangles(rng, 3)
    mesh = Mesh(
        position=base.attributes["position"],
        normal=rng.normal(size=(9, 3)) + (0, 0, 2),
        frame=rng.normal(size=(9, 3)),
    )
    tint = Image(np.float32([[[0.1, 0.2], [0.7, 0.4]]]))
    shader = Lit(np.eye(3)[[1, 0, 2]], [Lamp(Vec3(1, 2, 3)), Half(Vec3(4, 0, 1))], tint)
    names = ("position", "normal", "frame")
    compare(shader, mesh, (18, 18), on, names=names, sizes=(3, 1))


def test_fields_change_without_recompiling(on: str) -> None:
    shader = Flat()
    draw(shader, Mesh.quad(), shape=(2, 2), target=on)
    count = len(Flat._drawings)
    shader.gain = 3  # an int for a Float is one
    drawn = draw(shader, Mesh.quad(), shape=(2, 2), target=on)
    assert np.asarray(drawn).tolist() == [[3, 3], [3, 3]]
    assert len(Flat._drawings) == count


def test_fields_make_a_constructor_which_inherits() -> None:
    class Base(Shader):
        camera: Mat4
        gain: float = 2.0

    class Derived(Base):
        tint: Vec3 = Vec3(1, 2, 3)

    made = Derived(np.eye(4), tint=(4, 5, 6))
    assert isinstance(made.camera, Mat4)
    assert made.gain == 2.0
    assert list(made.tint) == [4, 5, 6]
    with pytest.raises(TypeError, match="camera"):
        Base()

    class Textured(Shader):
        photo: Image

    with pytest.raises(TypeError, match=r"pygpu\.Image"):
        Textured(np.zeros((2, 2)))


def test_methods_run_in_plain_python() -> None:
    assert list(Flat(2.0).vertex(Vec2(1, 2))) == [1, 2, 0, 1]
    assert Flat(2.0).fragment() == 2.0


def test_position_in_a_fragment_is_the_pixel(on: str) -> None:
    class Pixel(Shader):
        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self, p: Position):
            return Vec2(p.x, p.y)

    drawn = np.asarray(draw(Pixel(), Mesh.quad(), shape=(3, 4), target=on))
    assert drawn[2, 3].tolist() == [3, 2]
    assert drawn[0, 1].tolist() == [1, 0]


def test_discarded_fragments_leave_what_was_there(on: str) -> None:
    class Holes(Shader):
        def vertex(self, position: Vec4, colour: Vec4):
            return position, colour

        def fragment(self, colour):
            if colour.x < 0.4:
                pygpu.discard()
            for _ in range(3):
                if colour.y > 0.8:
                    pygpu.discard()
                colour = colour * 0.9
            return colour

    compare(Holes(), triangles(np.random.default_rng(4), 4), (20, 20), on, clear=0.25)


def test_derivatives_are_differences_within_blocks(on: str) -> None:
    class Edges(Shader):
        def vertex(self, position: Vec4, colour: Vec4):
            return position, colour

        def fragment(self, colour):
            d = pygpu.ddx(colour.x * colour.y)
            return Vec4(d, pygpu.ddy(colour.z), pygpu.fwidth(colour.xy))

    position = [(-1.5, -1.2, 0, 1), (2, -1.5, 0.5, 1.5), (-1, 2, 0.2, 1.2)]
    mesh = Mesh(position=position, colour=np.random.default_rng(1).uniform(0, 1, (3, 4)))
    compare(Edges(), mesh, (16, 16), on)


# ---------------------------------------------------------------- images drawn into


def test_drawing_goes_on_over_images_and_depths(on: str) -> None:
    rng = np.random.default_rng(11)
    first, second = triangles(rng, 2), triangles(rng, 2)
    both = Mesh(
        position=np.concatenate([m.attributes["position"] for m in (first, second)]),
        colour=np.concatenate([m.attributes["colour"] for m in (first, second)]),
    )
    shape = (19, 21)
    colour, depths = draw(Coloured(), first, shape=shape, keep_depth=True, target=on)
    before = np.asarray(colour).copy()
    assert depths.shape == shape
    more = draw(Coloured(), second, onto=colour, depth=depths, target=on)
    once = draw(Coloured(), both, shape=shape, target=on)
    np.testing.assert_allclose(np.asarray(more), np.asarray(once), atol=1e-6)
    np.testing.assert_array_equal(np.asarray(colour), before)
    far = np.asarray(depths) == 1
    assert far.any()
    assert not far.all()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_that_functions_made_are_drawn_onto_and_read(channels: int, on: str) -> None:
    class One(Shader):
        value: Any

        def vertex(self, position):
            return Vec4(position * 0.5, 0, 1)

        def fragment(self):
            return self.value

    @pygpu.compile(target=on)
    def doubled(im: Image, p: Position):
        return im(p) * 2.0

    photo = np.random.default_rng(0).random((9, 11, channels)).astype(np.float32)
    under = doubled(Image(photo[..., 0] if channels == 1 else photo))
    value = {1: 3.0, 2: Vec2(3, 3), 3: Vec3(3, 3, 3), 4: Vec4(3, 3, 3, 3)}[channels]
    drawn = draw(One(value), Mesh.quad(), onto=under, depth=False, target=on)
    expected = 2 * photo
    expected[2:7, 3:8] = 3
    actual = np.asarray(doubled(drawn)).reshape(9, 11, channels)
    np.testing.assert_array_equal(actual, 2 * expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
def test_results_have_the_dtype_asked_for(dtype: str, on: str) -> None:
    drawn = draw(Flat(0.3), Mesh.quad(), shape=(3, 5), dtype=dtype, target=on)
    assert drawn.dtype == dtype
    assert drawn.shape == (3, 5)
    value = np.float32(0.3).astype(dtype) if dtype != "uint8" else 77  # 76.5 is a tie
    assert abs(float(np.asarray(drawn)[0, 0]) - value) <= (dtype == "uint8")
    again = draw(Flat(1.0), Mesh.quad(), onto=drawn, target=on)
    assert again.dtype == dtype


def test_each_image_is_cleared_with_its_colour(on: str) -> None:
    class Two(Shader):
        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self):
            return Vec2(1, 1), Vec3(1, 1, 1)

    empty = Mesh(np.zeros((0, 3), int), position=np.zeros((3, 2)))
    one, two = draw(Two(), empty, shape=(1, 1), clear=[0.5, (1, 2, 3)], target=on)
    assert np.asarray(one).ravel().tolist() == [0.5, 0.5]
    assert np.asarray(two).ravel().tolist() == [1, 2, 3]


def test_several_samples_soften_edges(on: str) -> None:
    mesh = Mesh([(0, 1, 2)], position=[(-1, -1), (1, -1), (-1, 1)])
    hard = np.asarray(draw(Flat(), mesh, shape=(32, 32), target=on))
    soft = np.asarray(draw(Flat(), mesh, shape=(32, 32), samples=4, target=on))
    assert set(np.unique(hard)) == {0.0, 1.0}
    assert ((soft > 0) & (soft < 1)).sum() >= 16
    assert abs(soft.mean() - 0.5) < 0.02


def test_a_program_that_follows_reads_what_was_drawn(on: str) -> None:
    @pygpu.compile(target=on)
    def sum_of(a: Image, b: Image, p: Position):
        return a(p) + b(p)

    drawn = draw(Flat(2.0), Mesh.quad(), shape=(5, 6), target=on)
    assert np.asarray(sum_of(drawn, drawn)).tolist() == [[4.0] * 6] * 5


# ---------------------------------------------------------------- degenerate and large


@pytest.mark.parametrize(
    "position",
    [
        [(0, 0, 0, 1)] * 3,
        [(-1, -1, 0, 1), (0, 0, 0, 1), (1, 1, 0, 1)],
        [(math.nan, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1)],
        [(-1, -1, 0, -1), (1, -1, 0, -1), (0, 1, 0, -1)],
        [(0, 0, 0, 0)] * 3,
    ],
)
def test_nothing_is_drawn_of_what_has_no_area(position: Any, on: str) -> None:
    mesh = Mesh(position=position, colour=np.ones((3, 4)))
    assert not np.asarray(draw(Coloured(), mesh, shape=(8, 8), target=on)).any()


def test_far_corners_are_no_harm(on: str) -> None:
    position = [(-3e4, -3e4, 0, 1), (3e4, -3e4, 0, 1), (0, 6e4, 0, 1)]
    mesh = Mesh(position=position, colour=np.ones((3, 4)))
    assert np.asarray(draw(Coloured(), mesh, shape=(8, 8), target=on)).all()


def test_one_pixel_is_a_picture(on: str) -> None:
    drawn = draw(Flat(2.0), Mesh.quad(), shape=(1, 1), target=on)
    assert np.asarray(drawn).tolist() == [[2.0]]


# ---------------------------------------------------------------- what is refused


def test_meshes_say_what_does_not_fit() -> None:
    corners = np.zeros((4, 2))
    for how, kind, message in [
        (((), {}), TypeError, "needs attributes"),
        (((), {"position": corners}), ValueError, "4 vertices without indices"),
        (((), {"a": corners, "b": corners[:3]}), ValueError, "'b' has 3 elements, 'a' 4"),
        (((), {"a": np.zeros((3, 5))}), ValueError, r"'a' has shape \(3, 5\)"),
        (((), {"a": ["x", "y", "z"]}), TypeError, "'a' is an array of dtype <U1"),
        ((([(0, 1, 4)],), {"a": corners}), IndexError, "triangle 0 .* 0 to 3, got 4"),
        ((([(0, 1, -1)],), {"a": corners}), IndexError, "got -1"),
        ((([(0, 1)],), {"a": corners}), ValueError, r"indices have shape \(1, 2\)"),
        ((([(0, 1, 2.5)],), {"a": corners}), TypeError, "indices are of dtype float64"),
    ]:
        args, attributes = how
        with pytest.raises(kind, match=message):
            Mesh(*args, **attributes)
    with pytest.raises(TypeError, match="vertices and faces"):
        Mesh.of(3)


class Bad(Shader):
    def vertex(self, position: Vec2):
        return Vec4(position, 0, 1), 1.0

    def fragment(self, x):
        return x


def refused(
    kind: Any, message: str, *, vertex: Any = None, fragment: Any = None, **how: Any
) -> None:
    methods = {"vertex": vertex or Bad.vertex, "fragment": fragment or Bad.fragment}
    cls = type("Bad", (Shader,), methods)
    with pytest.raises(kind, match=message):
        draw(cls(), how.pop("mesh", Mesh.quad()), shape=(2, 2), target="fragment", **how)


def test_shaders_say_what_does_not_fit() -> None:
    compile_error = pygpu.CompileError
    for kind, message, methods in [
        (TypeError, "takes the attribute 'normal'", {"vertex": lambda self, normal: normal}),
        (
            TypeError,
            "'position' is annotated as Image",
            {"vertex": _annotated(lambda self, position: position, position=Image)},
        ),
        (
            TypeError,
            "'position' with 3 components, the mesh's has 2",
            {"vertex": _annotated(lambda self, position: position, position=Vec3)},
        ),
        (compile_error, "returns no position", {"vertex": lambda self, position: position}),
        (compile_error, "returns None", {"fragment": lambda self, x: None}),
        (
            compile_error,
            "'text'.*interpolated",
            {"vertex": lambda self, position: (Vec4(position, 0, 1), "text")},
        ),
        (TypeError, "gives 1 value after the position", {"fragment": lambda self: 1.0}),
        (TypeError, "takes 'y'", {"fragment": lambda self, x, y: 1.0}),
        (
            compile_error,
            "a vertex has none",
            {"vertex": lambda self, position: (Vec4(pygpu.ddx(position), 0, 1), 1.0)},
        ),
        (compile_error, r"called in Shader\.fragment", {"vertex": _discarding}),
        (compile_error, "drops every fragment", {"fragment": lambda self, x: pygpu.discard()}),
    ]:
        refused(kind, message, **methods)


def test_fields_say_what_does_not_fit() -> None:
    class Seen(Shader):
        camera: Mat4
        light: Vec3

    for values, words in [
        ((np.eye(3), (0, 0, 1)), "camera: Mat4 takes 4 rows of 4 numbers"),
        (("x", (0, 0, 1)), "camera: takes a Mat4, or its rows; got 'x'"),
        ((np.eye(4), (0, 1)), "light: Vec3 takes 3 components, got 2"),
    ]:
        with pytest.raises(TypeError, match=words):
            Seen(*values)


def _discarding(self: Any, position: Any) -> Any:
    pygpu.discard()
    return Vec4(position, 0, 1), 1.0


def _annotated(function: Any, **annotations: Any) -> Any:
    function.__annotations__ = annotations
    return function


def test_draws_say_what_does_not_fit() -> None:
    photo = Image(np.zeros((2, 2), np.float32))
    for kind, message, how in [
        (ValueError, "cull='left': takes None, 'back' or 'front'", {"cull": "left"}),
        (ValueError, "blend=1: takes", {"blend": 1}),
        (ValueError, "fourth is alpha", {"blend": "alpha"}),
        (ValueError, "samples=3", {"samples": 3}),
        (TypeError, "dtype=int32: what is drawn is", {"dtype": "int32"}),
        (ValueError, "onto: the picture has shape", {"onto": Image(np.zeros((2, 2, 3)))}),
        (ValueError, "got 2", {"onto": (photo, photo)}),
        (ValueError, "what is drawn onto has shape", {"onto": Image(np.zeros((3, 2)))}),
        (ValueError, "an image of depths is", {"depth": Image(np.zeros((3, 2)))}),
        (TypeError, "takes True, False or an image", {"depth": "yes"}),
        (ValueError, "keep_depth", {"depth": False, "keep_depth": True}),
        (ValueError, "several depths", {"samples": 4, "keep_depth": True}),
        (TypeError, "clear: takes a number", {"clear": (1, 2)}),
        (TypeError, "takes a pygpu.Mesh", {"mesh": 3}),
    ]:
        refused(kind, message, **how)
    with pytest.raises(TypeError, match=r"shape=\(height, width\)"):
        draw(Flat(), Mesh.quad())
    with pytest.raises(TypeError, match=r"instance of a pygpu\.Shader"):
        draw(Flat, Mesh.quad(), shape=(2, 2))  # type: ignore[arg-type]


def test_meshes_of_other_libraries_are_taken() -> None:
    other = SimpleNamespace(
        vertices=np.zeros((3, 3)),
        faces=[(0, 1, 2)],
        vertex_normals=np.ones((3, 3)),
        visual=SimpleNamespace(uv=np.array([(0.25, 0.25)] * 3)),
    )
    made = Mesh.of(other, weight=[1, 2, 3])
    assert repr(made) == "Mesh(3 vertices, 1 triangles: position 3, normal 3, uv 2, weight 1)"
    assert made.attributes["uv"][0].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [8, 7])
def test_compute_programs_and_what_is_drawn_share_images(channels: int, width: int) -> None:
    """On the device where rows have one layout: then nothing is on the host."""

    @pygpu.compile(target="compute")
    def ramp(im: Image, p: Position):
        return im(p) + 0.5 * p.x

    class One(Shader):
        under: Image

        def vertex(self, position):
            return Vec4(position * 0.5, 0, 1)

        def fragment(self, p: Position):
            return self.under(p) * 2.0

    photo = np.random.default_rng(0).random((6, width, channels)).astype(np.float32)
    photo = photo[..., 0] if channels == 1 else photo
    made = ramp(Image(photo))
    drawn = draw(One(made), Mesh.quad(), onto=made, target="compute")
    again = ramp(drawn)
    is_shared = width % 4 == 0
    assert (made.storage.array is None) == is_shared
    assert (drawn.storage.array is None) == is_shared
    slope = (0.5 * np.arange(width)).reshape(1, -1, *[1] * (photo.ndim - 2))
    expected = photo + slope
    actual = np.asarray(again) - slope
    doubled = np.isclose(actual, 2 * expected, atol=1e-5)
    same = np.isclose(actual, expected, atol=1e-5)
    assert (doubled | same).all()
    assert doubled[2:4, 2 : width - 2].all()
    assert same[[0, 5]].all()


def test_draws_in_a_pipeline_are_those_without_one() -> None:
    @pygpu.compile
    def doubled(im: Image, p: Position):
        return im(p) * 2.0

    class Half(Shader):
        under: Image

        def vertex(self, position):
            return Vec4(position * 0.5, 0, 1)

        def fragment(self, p: Position):
            return self.under(p) + 5.0

    def steps(im):
        first = doubled(im)
        drawn, depths = pygpu.draw(Half(first), Mesh.quad(), onto=first, keep_depth=True)
        return doubled(drawn) + depths

    photo = Image(np.random.default_rng(0).random((8, 8)).astype(np.float32))
    expected = np.asarray(steps(photo))
    np.testing.assert_array_equal(np.asarray(pygpu.pipeline(steps)(photo)), expected)


def test_volumes_are_refused_and_signals_read(on: str) -> None:
    class Reading(Shader):
        samples: Any

        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self, p: Position):
            return self.samples(p.x)

    signal = pygpu.Signal(np.arange(5, dtype=np.float32))
    drawn = draw(Reading(signal), Mesh.quad(), shape=(1, 5), target=on)
    assert np.asarray(drawn).tolist() == [[0, 1, 2, 3, 4]]

    class Deep(Reading):
        def fragment(self, p: Position):
            return self.samples((p.x, p.y, 0))

    volume = pygpu.Volume(np.zeros((2, 3, 4), np.float32))
    with pytest.raises(TypeError, match="Deep: 'self_samples' is a Volume"):
        draw(Deep(volume), Mesh.quad(), shape=(1, 5), target=on)


def test_raising_paths_are_nan(on: str) -> None:
    class Limited(Shader):
        limit: float

        def vertex(self, position, uv):
            return Vec4(position, 0, 1), uv

        def fragment(self, uv):
            if uv.x > self.limit:
                raise ValueError("beyond the limit")
            return uv.x

    drawn = np.asarray(draw(Limited(0.5), Mesh.quad(), shape=(1, 4), target=on))
    np.testing.assert_allclose(drawn[0], [0.125, 0.375, np.nan, np.nan], atol=1e-6)


def test_attributes_come_by_any_name_and_defaults_are_known(on: str) -> None:
    class Taking(Shader):
        def vertex(self, scale=0.5, **attributes):
            return Vec4(attributes["position"] * scale, 0, 1), attributes["uv"]

        def fragment(self, *varyings):
            return varyings[0].x

    drawn = np.asarray(draw(Taking(), Mesh.quad(), shape=(4, 4), target=on))
    np.testing.assert_allclose(drawn[1], [0, 0.25, 0.75, 0], atol=1e-6)


def test_sets_of_textures_that_are_drawn_into_stay_few() -> None:
    class Two(Shader):
        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self):
            return Vec2(1, 2), Vec4(1, 2, 3, 4)

    kept = []
    for _ in range(3 * FRAMEBUFFERS // 2):
        kept.append(draw(Two(), Mesh.quad(), shape=(2, 2), target="fragment"))
    with opengl.context() as gl:
        assert len(gl.framebuffers) <= FRAMEBUFFERS
    for one, two in (kept[0], kept[-1]):
        assert np.asarray(one)[1, 1].tolist() == [1, 2]
        assert np.asarray(two)[0, 1].tolist() == [1, 2, 3, 4]


def test_images_in_large_pages_are_shared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers in large pages are wrapped: copies to and from textures take what is inside."""
    made: list[Any] = []

    def wrapped(context: Any, nbytes: int) -> Any:
        made.append(LargeBuffer(context.gl.buffer(reserve=nbytes), lambda: None))
        return made[-1]

    monkeypatch.setattr(Context, "new_buffer", wrapped)

    @pygpu.compile(target="compute")
    def ramp(im: Image, p: Position):
        return im(p) + 1.0 * p.x

    photo = np.random.default_rng(0).random((36, 52, 3)).astype(np.float32)  # of no pooled size
    first = ramp(Image(photo))
    drawn = draw(Flat3(), Mesh.quad(), onto=first, target="compute")
    again = ramp(drawn)
    assert made
    assert drawn.storage.array is None
    expected = np.asarray(first) + np.arange(52)[:, None]
    expected[9:27, 13:39] = 7 + np.arange(13, 39)[:, None]
    np.testing.assert_allclose(np.asarray(again), expected, atol=1e-4)


class Flat3(Shader):
    def vertex(self, position):
        return Vec4(position * 0.5, 0, 1)

    def fragment(self):
        return Vec3(7, 7, 7)


def test_a_draw_that_is_repeated_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class One(Shader):
        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self):
            return 0.5

    def draw_twice() -> None:
        first, depths = draw(One(), Mesh.quad(), shape=(4, 4), keep_depth=True, target="fragment")
        draw(One(), Mesh.quad(), onto=first, depth=depths, dtype="uint8", target="fragment")

    draw_twice()
    compiled: list[str] = []
    original = Context._compile

    def compiling(context: Any, text: str, *more: Any) -> Any:
        compiled.append(text)
        return original(context, text, *more)

    monkeypatch.setattr(Context, "_compile", compiling)
    draw_twice()
    assert compiled == []


def test_depths_of_an_image_stay_as_they_are(on):
    """They are float32 on each target, as they are on cpu."""
    depths = (1e-3 * np.random.default_rng(0).random((16, 20))).astype(np.float32)
    behind = Mesh(position=[(-1, -1), (1, -1), (-1, 1)])
    drawn, kept = pygpu.draw(
        Flat(), behind, depth=depths, shape=(16, 20), keep_depth=True, target=on
    )
    assert np.array_equal(kept, depths)
    assert not np.asarray(drawn).any()


def test_depths_are_float32_on_opengl():
    near = Mesh(
        indices=[(0, 1, 2)], position=[(-1, -1, -1 + 2e-7), (3, -1, -1 + 6e-7), (-1, 3, -1)]
    )

    class At(Shader):
        def vertex(self, position: Vec3):
            return Vec4(position, 1)

        def fragment(self):
            return 1.0

    depths = {
        target: np.asarray(pygpu.draw(At(), near, shape=(8, 8), keep_depth=True, target=target)[1])
        for target in TARGETS
    }
    for drawn in depths.values():  # 24 bits would have steps of 6e-8
        assert len(np.unique(drawn)) > 8
        np.testing.assert_allclose(drawn, depths["cpu"], rtol=0, atol=2e-8)
