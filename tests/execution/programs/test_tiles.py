"""Images in tiles: the same as at once, on every target, whatever lies outside."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pygpu
from pygpu import Float, Image, Position, Vec2
from pygpu.core import boundaries, interpret, sampler
from pygpu.core.device import Limits
from pygpu.core.programs import Program
from pygpu.core.storage import texels as stored_texels
from pygpu.core.verify import verify
from pygpu.devices import targets
from pygpu.devices.interpreter import InterpreterDevice
from pygpu.execution.programs import tiles
from pygpu.passes.analysis.footprint import Footprint
from pygpu.passes.layout.window import window
from pygpu.passes.simplify.pipeline import simplify
from random_functions import cases

BOUNDARIES = ("nearest", "reflect", "mirror", "wrap", "constant")
LARGE = 1 << 40


def texels(*shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 256, shape).astype(dtype)


@pytest.fixture
def limited(monkeypatch):
    """`limited(side)`: from now on no device holds an image larger than that."""

    def limit(side=LARGE, nbytes=LARGE, memory=LARGE):
        monkeypatch.setattr(targets, "limits", lambda device: Limits(side, nbytes, memory))

    return limit


def both(limited, function, *args, target, limits=(), **kwargs):
    """The results of a call at once, and in tiles."""
    limited()
    whole = function(*args, **kwargs)
    limited(**dict(limits or {"side": 13}))
    return whole, function(*args, **kwargs)


# ---------------------------------------------------------------- tiles are the whole


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (37, 1), (29, 41), (13, 26)])
def test_every_boundary(target, limited, boundary, shape):
    def around(im: Image, p: Position):
        return sum([(k + 1) * im(p + d) for k, d in enumerate([(-3, 0), (0, 2), (4, -1), (1, 1)])])

    image = Image(texels(*shape), boundary=boundary, cval=0.25)
    whole, tiled = both(limited, pygpu.compile(around, target=target), image, target=target)
    np.testing.assert_allclose(np.asarray(tiled), np.asarray(whole), rtol=1e-6)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_margins_larger_than_the_image(target, limited, boundary):
    def far(im: Image, p: Position):
        return im(p - (7, 9)) + im(p + (5, 11))

    image = Image(texels(4, 3), boundary=boundary, cval=0.25)
    f = pygpu.compile(far, target=target)
    whole, tiled = both(limited, f, image, shape=(30, 35), target=target, limits={"side": 28})
    np.testing.assert_array_equal(np.asarray(tiled), np.asarray(whole))


def test_positions_and_sizes_are_those_of_the_whole(target, limited):
    def where(a: Image, b: Image, p: Position, k: Float):
        return p, a.width + b.height, k * p.x + a(p), Vec2(b.width, p.y) * b(p)

    f = pygpu.compile(where, target=target)
    args = texels(30, 17), texels(8, 50), 0.5
    whole, tiled = both(limited, f, *args, target=target)
    for one, other in zip(whole, tiled, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16", "bool"])
@pytest.mark.parametrize("channels", [(), (3,), (4,)])
def test_every_dtype(target, limited, dtype, channels):
    f = pygpu.compile(lambda im=Image, p=Position: im(p + (2, 1)), target=target)
    image = Image(texels(21, 33, *channels, dtype=dtype), boundary="wrap")
    whole, tiled = both(limited, f, image, dtype=dtype, target=target)
    assert tiled.dtype == dtype
    np.testing.assert_array_equal(np.asarray(tiled), np.asarray(whole))


def test_images_of_several_sizes_and_several_results_of_several_dtypes(target, limited):
    def mixed(a: Image, b: Image, c: Image, p: Position):
        smooth = (a(p - (1, 0)) + a(p + (1, 0))) / 2
        return smooth * b(p + (0, 3)), c(p - (2, 2)) > 0.5, int(255 * b(p))

    f = pygpu.compile(mixed, target=target)
    args = (
        Image(texels(25, 31, dtype="uint8"), boundary="mirror"),
        Image(texels(9, 60), boundary="wrap"),
        Image(texels(40, 7, seed=3), boundary="constant", cval=1.0),
    )
    whole, tiled = both(limited, f, *args, target=target)
    for one, other in zip(whole, tiled, strict=True):
        # drivers order the product's factors as they like, here and there
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=3e-7)


def test_an_image_seen_with_several_boundaries(target, limited):
    def seen(im: Image, p: Position):
        wrapped = im.sampled(boundary="wrap")
        outside = im.sampled(boundary="constant", cval=7.0)
        return im(p + (2, 0)) + 10 * wrapped(p + (0, 5)) + 100 * outside(p - (3, 3))

    f = pygpu.compile(seen, target=target)
    whole, tiled = both(limited, f, Image(texels(20, 31)), target=target, limits={"side": 20})
    np.testing.assert_allclose(np.asarray(tiled), np.asarray(whole), rtol=1e-6)


def test_constants_that_the_dtype_does_not_hold(target, limited):
    image = Image(texels(20, 20, dtype="uint8"), boundary="constant", cval=-3.5)
    f = pygpu.compile(lambda im=Image, p=Position: im(p - (6, 2)), target=target)
    whole, tiled = both(limited, f, image, target=target)
    np.testing.assert_array_equal(np.asarray(tiled), np.asarray(whole))
    assert np.asarray(tiled)[0, 0] == -3.5


def test_small_images_may_be_read_anywhere(target, limited):
    def lookup(im: Image, table: Image, p: Position):
        return table((int(9 * im(p)), 0)) + im(p + (1, 1))

    f = pygpu.compile(lookup, target=target)
    args = texels(30, 30), texels(1, 10, seed=1)
    whole, tiled = both(limited, f, *args, target=target)
    np.testing.assert_array_equal(tiled, whole)


def test_interpolation_is_cut_where_the_fraction_is_known(target, limited):
    image = Image(texels(25, 30), boundary="reflect", interpolation="linear")
    f = pygpu.compile(lambda im=Image, p=Position: im(p + (1, 0)) + im(p), target=target)
    whole, tiled = both(limited, f, image, target=target)
    np.testing.assert_array_equal(np.asarray(tiled), np.asarray(whole))
    assert (tiled.boundary, tiled.interpolation) == ("reflect", "linear")


def test_images_from_nothing(target, limited):
    f = pygpu.compile(lambda p=Position: (p.x * 1000 + p.y, p), target=target)
    whole, tiled = both(limited, f, shape=(33, 47), target=target)
    for one, other in zip(whole, tiled, strict=True):
        np.testing.assert_array_equal(np.asarray(other), np.asarray(one))


@pytest.mark.parametrize(
    "limits", [{"memory": 4000}, {"nbytes": 1500}, {"side": 11, "memory": 3000}, {"memory": 700}]
)
def test_bytes_are_limited_too(target, limited, limits):
    f = pygpu.compile(lambda im=Image, p=Position: im(p + (1, -1)), target=target)
    whole, tiled = both(limited, f, texels(31, 43), target=target, limits=limits)
    np.testing.assert_array_equal(tiled, whole)


def test_results_go_where_they_are_wanted(target, limited):
    f = pygpu.compile(lambda im=Image, p=Position: im(p - (1, 1)), target=target)
    array = texels(30, 31)
    limited()
    expected = f(array)
    limited(side=12)
    out = np.zeros((30, 31), np.float32)
    assert f(array, out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.zeros((60, 62), ">f8")[::2, ::2]
    f(array, out=wide)
    np.testing.assert_array_equal(wide, expected)
    f(array, out=array)  # overlapping: as if the input had been copied
    np.testing.assert_array_equal(array, expected)


def test_rounds_operators_and_vectorized_functions(target, limited, monkeypatch):
    monkeypatch.setenv("PYGPU_TARGET", target)
    blur = pygpu.compile(lambda im=Image, p=Position: (im(p) + im(p + (1, 0))) / 2)
    image = Image(texels(20, 31), boundary="wrap")
    mask = texels(20, 1, seed=2)
    limited()
    expected = blur.iterate(image, 3), image * 2 + image**2, pygpu.vectorize(max)(image, mask)
    limited(side=16)
    found = blur.iterate(image, 3), image * 2 + image**2, pygpu.vectorize(max)(image, mask)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(np.asarray(other), np.asarray(one))
        assert other.boundary == "wrap"


def test_captured_images_are_cut(target, limited):
    texture = Image(texels(40, 20, seed=4), boundary="wrap")
    f = pygpu.compile(lambda im=Image, p=Position: im(p) + texture(p + (2, 2)), target=target)
    whole, tiled = both(limited, f, texels(20, 40), target=target)
    np.testing.assert_array_equal(tiled, whole)


@given(cases(), st.randoms(use_true_random=False))
def test_windows_of_random_functions_are_parts_of_the_whole(case, source):
    height, width = case.shape
    top, left = source.randrange(height), source.randrange(width)
    tall, wide = source.randint(1, height - top), source.randint(1, width - left)
    tile = tiles.Tile(left, top, wide, tall)
    function = simplify(case.function)
    windowed = window(function)
    views = []
    for each in windowed.views:
        image = case.arrays[each.image]
        if each.margin is not None:
            image = tiles.view(image, each.boundary, tile, each.margin)
        seen = stored_texels(image, case.formats[each.image])
        views.append(seen[..., 0] if image.shape[2] == 1 else seen)
    sizes = [n for i in windowed.sized for n in case.arrays[i].shape[1::-1]]
    uniforms = [*case.uniforms, left, top, *sizes]
    parts = interpret.run(verify(windowed.function), views, uniforms, (tall, wide))
    for part, whole in zip(parts, case.interpret(function), strict=True):
        np.testing.assert_array_equal(part, whole[top : top + tall, left : left + wide])


# ---------------------------------------------------------------- what cannot be cut


def turned(im: Image, p: Position):
    return im((p.y, p.x))


def test_what_is_read_far_away_cannot_be_cut(target, limited):
    limited(side=12)
    f = pygpu.compile(turned, target=target)
    with pytest.raises(pygpu.DeviceError, match=r"turned: the image 'im' of 31 x 20 .*'cpu'"):
        f(texels(20, 31))
    assert f(texels(10, 10)).shape == (10, 10)


def test_a_margin_larger_than_a_tile_cannot_be_cut(target, limited):
    limited(side=12)
    f = pygpu.compile(lambda im=Image, p=Position: im(p + (12, 0)), target=target)
    with pytest.raises(pygpu.DeviceError, match="not even one pixel"):
        f(texels(20, 31))


@pytest.fixture
def small(monkeypatch):
    """A device that holds images of 12 pixels a side is that of the target "auto"."""
    pytest.importorskip("llvmlite")

    class Small(InterpreterDevice):
        """As fragment, by interpreting."""

        name = "fragment"

        def limits(self):
            return Limits(12, LARGE, LARGE)

    state = targets._State()
    state.opened["fragment"] = state.automatic = Small()
    monkeypatch.setattr(targets, "_STATE", state)
    monkeypatch.delenv("PYGPU_TARGET", raising=False)


def test_what_cannot_be_cut_goes_to_the_cpu_where_the_target_is_ours(small, caplog):
    array = texels(20, 31)
    expected = array.T[np.minimum(np.arange(20), 30)][:, np.minimum(np.arange(31), 19)]
    np.testing.assert_array_equal(pygpu.compile(turned)(array), expected)
    assert "running on cpu" in caplog.text
    with pytest.raises(pygpu.DeviceError, match="cannot be cut"):
        pygpu.compile(turned, target="fragment")(array)


def test_frames_that_cannot_be_cut_go_to_the_cpu_where_the_target_is_ours(small):
    stack = np.stack([texels(20, 20), 2 * texels(20, 20)])
    out = np.empty_like(stack)
    f = pygpu.compile(turned)
    np.testing.assert_array_equal(f.map(stack), stack.swapaxes(1, 2))
    np.testing.assert_array_equal(f.map(stack, out=out), stack.swapaxes(1, 2))
    with pytest.raises(pygpu.DeviceError, match=r"turned: the image 'im' .*'cpu'"):
        f.on("fragment").map(stack)


def test_pipelines_of_what_cannot_be_cut_go_to_the_cpu_where_the_target_is_ours(small, caplog):
    f = pygpu.compile(turned)

    def twice(im):
        return f(2 * f(im) + 1) * f(im)

    array = texels(20, 20)
    expected = (2 * array + 1) * array.T
    pipeline = pygpu.pipeline(twice)
    for _ in range(4):  # the third call is the first that is done again without its Python
        np.testing.assert_allclose(pipeline(array), expected, rtol=1e-6)
    assert "running on cpu" in caplog.text
    with pytest.raises(pygpu.DeviceError, match="cannot be cut"):
        pipeline.on("fragment")(array)


def test_memory_that_is_short_is_tried_again_in_tiles(limited, monkeypatch):
    from pygpu.core.errors import OutOfMemory

    device = targets.open_device("interpreter")
    compiled = device.compile

    class Short(Program):
        """A program that takes little."""

        def __init__(self, task):
            self.program = compiled(task)
            self.source = self.program.source

        def run(self, work):
            if math.prod(work.shape) > 300:
                raise OutOfMemory("no memory")
            return self.program.run(work)

    monkeypatch.setattr(type(device), "compile", lambda self, task: Short(task))
    limited()
    f = pygpu.compile(lambda im=Image, p=Position: im(p), target="interpreter")
    array = texels(20, 50)
    np.testing.assert_array_equal(f(array), array)


# ---------------------------------------------------------------- parts


@given(
    st.sampled_from(BOUNDARIES[:4]), st.integers(1, 9), st.integers(1, 9),
    st.tuples(st.integers(-25, 25), st.integers(-25, 25), st.integers(1, 12), st.integers(1, 12)),
    st.tuples(*[st.integers(-3, 20)] * 4),
)  # fmt: skip
def test_views_hold_what_is_read_at_each_place(boundary, height, width, place, margins):
    left, top, wide, tall = place
    margin = Footprint(*[max(m, -min(wide, tall) // 2 + 1) for m in margins])
    array = texels(height, width, 2)
    image = Image(array, boundary=boundary)
    view = tiles.view(array, boundary, tiles.Tile(left, top, wide, tall), margin)
    assert view.flags.c_contiguous
    assert view.shape == (tall + margin.up + margin.down, wide + margin.left + margin.right, 2)
    for y, x in [(0, 0), (-1, -1), (view.shape[0] // 2, view.shape[1] // 2)]:
        at = (x % view.shape[1] + left - margin.left, y % view.shape[0] + top - margin.up)
        np.testing.assert_array_equal(view[y, x], np.float32(tuple(image(at))))


@pytest.mark.parametrize("boundary", BOUNDARIES[:4])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_indices_of_arrays_are_those_of_numbers(boundary, size):
    places = np.arange(-25, 25)
    expected = [boundaries.index(boundary, boundaries.INTEGERS, int(i), size) for i in places]
    assert sampler.indices(boundary, places, size).tolist() == expected


def test_rows_that_are_whole_are_not_copied():
    array = texels(20, 30, 1)
    view = tiles.view(array, "wrap", tiles.Tile(0, 5, 30, 4), Footprint(0, 0, 1, 2))
    assert np.shares_memory(view, array)


# ---------------------------------------------------------------- settings


def test_the_environment_lowers_what_devices_take(monkeypatch):
    from conftest import require

    require("fragment")
    device = targets.open_device("fragment")
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "4K")
    monkeypatch.setenv("PYGPU_MEMORY", "512M")
    assert targets.limits(device).side == 4096
    assert targets.limits(device).memory == 512 << 20
    for wrong in ("much", "-3", "0", "1T"):
        monkeypatch.setenv("PYGPU_MEMORY", wrong)
        with pytest.raises(ValueError, match=f"PYGPU_MEMORY='{wrong}'"):
            targets.limits(device)
    assert targets.limits(targets.open_device("interpreter")) is None


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_drivers_are_given_tiles(name, monkeypatch):
    from conftest import require

    require(name)
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "16")
    monkeypatch.setenv("PYGPU_MEMORY", "4K")
    f = pygpu.compile(lambda im=Image, p=Position: im(p - (2, 1)), target=name)
    image = Image(texels(50, 35, 3, dtype="uint8"), boundary="wrap")
    expected = np.roll(np.asarray(image), (1, 2), (0, 1))
    np.testing.assert_array_equal(np.asarray(f(image, dtype="uint8")), expected)


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_numbers_of_pipelines_are_read_where_the_device_does_not_hold_the_image(name, monkeypatch):
    from conftest import require

    require(name)
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "64")
    twice = pygpu.compile(lambda im=Image, p=Position: 2 * im(p))
    image = texels(203, 305)

    @pygpu.pipeline(target=name)
    def centred(im):
        made = twice(im)
        return made - made.mean()

    expected = 2 * image - np.mean(2 * image, dtype=np.float64)
    for _ in range(3):
        np.testing.assert_allclose(centred(image), expected, atol=1e-5)


def enough(im):
    raise ValueError("enough")


def test_progress_is_shown_where_it_is_asked_for(limited, capfd):
    f = pygpu.compile(lambda im=Image, p=Position: im(p), target="interpreter")
    limited(side=8)
    f(texels(40, 8))
    assert capfd.readouterr().err == ""
    pygpu.progress(True)
    try:
        f(texels(40, 8))
        assert "tile" in capfd.readouterr().err
        f.iterate(texels(4, 8), 5)
        assert "round" in capfd.readouterr().err
        with pytest.raises(ValueError, match="enough"):  # and it goes, too
            f.iterate(texels(4, 8), 50, until=enough, every=1)
        assert capfd.readouterr().err.endswith("\r")
    finally:
        pygpu.progress(False)
    f(texels(40, 8))
    assert capfd.readouterr().err == ""


def test_no_bar_library_is_imported_without_being_asked_for():
    code = "import sys, pygpu; pygpu.compile; print('tqdm' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------- short rows


@pytest.mark.parametrize("width", [1, 3, 15])
def test_short_rows_are_columns(target, width):
    """Thin images are turned on OpenGL as on cpu, and results stay on the device."""

    def around(im: Image, p: Position):
        return im(p + (0, 2)) - 3 * im(p - (1, 0)) + p.y * 0.5 + im((p.y % im.width, p.x)), im(
            p
        ) > 0.5

    texels = np.random.default_rng(0).random((1500, width)).astype(np.float32)
    compiled = pygpu.compile(around, target=target)
    expected = pygpu.compile(around, target="interpreter")(texels)
    for result, wanted in zip(compiled(texels), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=1e-5)
    twice = pygpu.compile(lambda im=Image, p=Position: im(p + (0, 1)) * 2, target=target)
    again = twice(twice(Image(texels, boundary="wrap")))
    np.testing.assert_allclose(np.asarray(again), 4 * np.roll(texels, -2, 0), rtol=1e-6)
    out = np.empty((1500, width), np.float32)
    assert np.array_equal(twice(texels, out=out), twice(texels))
    steps = twice.iterate(Image(texels, boundary="wrap"), 3)
    np.testing.assert_allclose(np.asarray(steps), 8 * np.roll(texels, -3, 0), rtol=1e-6)


@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
@pytest.mark.parametrize("shape", [(1, 1500), (1500, 1)])
def test_images_of_one_row_are_read_above_and_below_it(target, boundary, shape):
    """Of these there are programs on OpenGL that know it."""

    def around(im: Image, table: Image, p: Position):
        near = im(p + (2, 0)) - 3 * im(p - (1, 1)) + 5 * im(p + (1, 2)) + 7 * im(p + (0, 1))
        far = im((p.y, p.x % 7 - 3)) + im((p.x % 5, p.y - 1)) + table(p % 4) + table(p - (1, 1))
        return near, far + im.height * 0.5 + p.y + p.x

    texels = np.random.default_rng(0).random(shape).astype(np.float32)
    table = np.random.default_rng(1).random((4, 3)).astype(np.float32)
    given = [Image(each, boundary=boundary, cval=0.25) for each in (texels, table)]
    compiled = pygpu.compile(around, target=target)
    expected = pygpu.compile(around, target="interpreter")(*given)
    for result, wanted in zip(compiled(*given), expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-5, atol=1e-5)
    many = compiled(given[1], given[0], shape=shape)  # another image is the one of a row
    for result, wanted in zip(
        many,
        pygpu.compile(around, target="interpreter")(given[1], given[0], shape=shape),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-5, atol=1e-5)
