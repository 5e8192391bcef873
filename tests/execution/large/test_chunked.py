"""Calls with Dask arrays: the same results as with the whole image, whatever the chunks."""

import pickle
from typing import Any, Final

import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback
from numpy.testing import assert_array_equal

import pygpu
from conftest import require
from pygpu import Bool, Float, Image, Int, Position
from pygpu.core import sampler
from pygpu.execution.large import calls, work
from pygpu.execution.large.regions import Assembly, Reach

RANDOM: Final = np.random.default_rng(3)
GREY: Final = RANDOM.random((61, 47), np.float32)
RGB: Final = RANDOM.integers(0, 256, (40, 50, 3), np.uint8)
CHUNKS: Final = [(20, 30), (1, 47), (61, 7), (5, 5), ((0, 54, 7), (44, 3)), -1]
BOUNDARIES: Final = ["nearest", "reflect", "mirror", "wrap", "constant"]


@pytest.fixture(autouse=True)
def synchronous() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def stencil(boundary: str) -> Any:
    @pygpu.compile(target="cpu")
    def function(im: Image, p: Position, gain: Float = 2.0):
        im = im.sampled(boundary=boundary, cval=0.5)
        near = gain * im(p + (3, -2)) - im(p + (-1, 4)) * 0.5
        return near + 0.001 * p.x + 0.01 * p.y + im.width - im.height

    return function


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_chunks_give_what_the_whole_image_gives(boundary: str, chunks: Any) -> None:
    function = stencil(boundary)
    lazy = function(da.from_array(GREY, chunks=chunks), gain=3.0)
    whole = function(GREY, gain=3.0)
    assert (lazy.shape, lazy.dtype) == (whole.shape, whole.dtype)
    assert lazy.chunks == da.from_array(GREY, chunks=chunks).chunks
    assert_array_equal(lazy.compute(), whole)


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_bands_of_chunks_are_those_of_the_whole(
    boundary: str, chunks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "BAND", 1)
    monkeypatch.setattr(work, "LEAST_BAND", 3)
    function = stencil(boundary)
    lazy = function(da.from_array(GREY, chunks=chunks))
    assert_array_equal(lazy.compute(), function(GREY))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("start", [-100, -7, 0, 3])
@pytest.mark.parametrize("size", [1, 2, 9])
def test_windows_are_put_together_of_runs(boundary: str, start: int, size: int) -> None:
    """What of an image of few texels lies at places that are often outside."""
    line = np.arange(10, 10 + size, dtype=np.float32)
    outside = sampler.indices(boundary, np.arange(start, start + 60), size)
    reach = Reach.of(boundary, start, start + 60, size)
    bounds = range(size + 1)  # a piece for each texel
    pieces = list(reach.pieces(bounds))
    places = tuple((slice(0, 1), to) for _, _, to in pieces)
    assembly = Assembly((Reach.inside(0, 1), reach), places)
    found = assembly.of([line[None, p[0] : p[0] + 1] for p in pieces])
    assert_array_equal(found[0], line[outside])


@pytest.mark.parametrize("opengl", ["fragment", "compute"])
def test_chunks_on_opengl(opengl: str) -> None:
    require(opengl)
    function = stencil("reflect").on(opengl)
    lazy = function(da.from_array(GREY, chunks=16))
    assert_array_equal(lazy.compute(), function(GREY))


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint16", "float64", "int64"])
def test_dtypes_are_those_of_a_whole_call(dtype: str) -> None:
    array = (GREY * 200).astype(dtype)
    function = pygpu.compile(lambda im, p: im(p + (1, 1)), im=Image, p=Position, target="cpu")
    lazy, whole = function(da.from_array(array, chunks=17)), function(array)
    assert lazy.dtype == whole.dtype == lazy._meta.dtype
    assert_array_equal(lazy.compute(), whole)
    lazy = function(da.from_array(array, chunks=17), dtype=np.uint8)
    assert_array_equal(lazy.compute(), function(array, dtype=np.uint8))


def test_several_results_and_images_of_other_kinds() -> None:
    mask = RANDOM.random((40, 50))

    @pygpu.compile(target="cpu")
    def both(im: Image, mask: Image, p: Position):
        return im(p).bgr, mask(p + (1, 0)) * 2

    lazy = both(da.from_array(RGB, chunks=(13, 17, 1)), mask)
    assert lazy[0].chunks == ((13, 13, 13, 1), (17, 17, 16), (3,))
    assert lazy[1].chunks == ((13, 13, 13, 1), (17, 17, 16))
    for part, whole in zip(lazy, both(RGB, mask), strict=True):
        assert part.dtype == whole.dtype
        assert_array_equal(part.compute(), whole)
    other = both(RGB, da.from_array(mask, chunks=9))  # the first image says the size
    assert other[1].chunks == ((9, 9, 9, 9, 4), (9, 9, 9, 9, 9, 5))
    assert_array_equal(other[0].compute(), both(RGB, mask)[0])


def test_images_read_as_globals_come_along() -> None:
    backdrop = Image(RGB, boundary="wrap")

    @pygpu.compile(target="cpu")
    def over(im: Image, p: Position):
        return im(p) + backdrop(p + (-3, 0)).r

    grey = RGB[..., 0]
    assert_array_equal(over(da.from_array(grey, chunks=16)).compute(), over(grey))


def test_rest_of_arguments_may_be_dask_arrays() -> None:
    @pygpu.compile(target="cpu")
    def total(first: Image, p: Position, *more: Image):
        return first(p) + sum(im(p + (1, 0)) for im in more)

    lazy = [da.from_array(GREY, chunks=n) for n in (10, 20, 30)]
    assert_array_equal(total(*lazy).compute(), total(GREY, GREY, GREY))


def test_an_offset_given_at_the_call_has_a_halo() -> None:
    @pygpu.compile(target="cpu")
    def shifted(im: Image, p: Position, n: int = 2):
        return im(p + (n, 0))

    assert_array_equal(shifted(da.from_array(GREY, chunks=20), n=-7).compute(), shifted(GREY, n=-7))


def test_numbers_may_be_dask_arrays() -> None:
    @pygpu.compile(target="cpu")
    def function(im: Image, p: Position, low: Float, n: Int = 2, is_on: Bool = False):
        return n * (im(p + (1, 0)) - low) + (1.0 if is_on else 0.0)

    lazy = da.from_array(GREY, chunks=(20, 30))
    count, is_on = (lazy > 0.99).sum(), (lazy > 2).any()
    made = function(lazy, lazy.max(), n=count, is_on=~is_on)
    whole = function(GREY, GREY.max(), n=int((GREY > 0.99).sum()), is_on=True)
    assert_array_equal(made.compute(), whole)
    rounds = function.iterate(lazy, 3, lazy.min())
    assert_array_equal(rounds.compute(), function.iterate(GREY, 3, GREY.min()))
    with pytest.raises(TypeError, match="n: takes an int"):
        function(lazy, 0.0, n=lazy.max()).compute()


def test_known_values_and_offsets_are_no_dask_arrays() -> None:
    @pygpu.compile(target="cpu")
    def function(im: Image, p: Position, n: Int, k: Any = 3):
        return im(p + (n, k))

    lazy = da.from_array(GREY, chunks=(20, 30))
    with pytest.raises(TypeError, match=r"k: a Dask array of no dimensions .* its \.compute\(\)"):
        function(lazy, 1, k=lazy.max())
    with pytest.raises(ValueError, match=r"im is read far from the position.*rechunk"):
        function(lazy, (lazy > 1).sum())


def test_known_offsets_stand_beside_lazy_numbers() -> None:
    @pygpu.compile(target="cpu")
    def function(im: Image, p: Position, n: Int = 1, gain: float = 1.0):
        return gain * im(p + (n, 0))

    lazy = da.from_array(GREY, chunks=(20, 30))
    made = function(lazy, n=5, gain=lazy.max())
    assert_array_equal(made.compute(), function(GREY, n=5, gain=GREY.max()))


def test_other_sizes() -> None:
    @pygpu.compile(target="cpu")
    def stretched(im: Image, p: Position):
        return im((p.x // 2, p.y // 2))

    lazy = stretched(da.from_array(GREY, chunks=-1), shape=(122, 94))
    assert lazy.shape == (122, 94)
    assert_array_equal(lazy.compute(), stretched(GREY, shape=(122, 94)))


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    touched = []

    def block(_: Any, block_info: Any = None) -> Any:
        touched.append(block_info)
        return np.ones((10, 10), np.float32)

    source = da.zeros((30, 30), chunks=10).map_blocks(block, dtype=np.float32, meta=GREY[:0, :0])
    lazy = stencil("nearest")(source)
    assert touched == []
    assert_array_equal((lazy + 1).sum().compute(), (stencil("nearest")(source) + 1).sum().compute())
    assert len(touched) == 18


def test_gathers_are_refused_with_the_way_out() -> None:
    @pygpu.compile(target="cpu")
    def mirrored(im: Image, p: Position):
        return im((im.width - 1 - p.x, p.y))

    with pytest.raises(ValueError, match=r"im is read far from the position.*im\.rechunk\(-1\)"):
        mirrored(da.from_array(GREY, chunks=20))
    assert_array_equal(mirrored(da.from_array(GREY, chunks=-1)).compute(), GREY[:, ::-1])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (da.zeros((4, 5, 6, 3)), r"shape \(4, 5, 6, 3\); an image is an array"),
        (da.zeros((4, 5, 7)), "1 to 4 channels"),
        (da.zeros((4, 0)), "is empty"),
        (da.from_array(GREY, chunks=9)[da.from_array(GREY[:, 0], chunks=9) > 0.5], "unknown size"),
    ],
)
def test_misshapen_arrays_are_refused(array: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"im: a Dask array.*{message}"):
        stencil("nearest")(array)


def test_out_and_other_places_are_refused() -> None:
    lazy = da.from_array(GREY, chunks=20)
    with pytest.raises(TypeError, match="out: a Dask array is computed later"):
        stencil("nearest")(lazy, out=np.empty_like(GREY))

    @pygpu.compile(target="cpu")
    def known(im: Image, p: Position, weights=None):
        return im(p)

    with pytest.raises(TypeError, match="a Dask array is taken as an image"):
        known(GREY, weights=lazy)


def test_functions_travel_by_value_and_arrive_once() -> None:
    weight = 2.5
    function = pygpu.compile(
        lambda im, p, gain: weight * gain * im(p + (1, 0)),
        im=Image,
        p=Position,
        gain=Float,
        target="cpu",
    )
    sent = pickle.dumps(function)
    arrived = pickle.loads(sent)
    assert arrived is pickle.loads(sent)
    assert pickle.loads(pickle.dumps(arrived)) is arrived
    assert_array_equal(arrived(GREY, 2.0), function(GREY, 2.0))


def test_functions_of_modules_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(pygpu.filters.sobel)) is pygpu.filters.sobel


def test_processes_compute_chunks() -> None:
    lazy = stencil("wrap")(da.from_array(GREY, chunks=30))
    assert_array_equal(lazy.compute(scheduler="processes"), stencil("wrap")(GREY))


def test_results_may_be_assigned_to() -> None:
    function = stencil("nearest")
    want = function(GREY)
    want[:3] = 0
    found = function(da.from_array(GREY, chunks=(20, 30)))
    found[:3] = 0
    assert_array_equal(found.compute(), want)
    found = function(da.from_array(GREY, chunks=(20, 30)))
    np.add(found, 1, out=found)
    assert_array_equal(found.compute(), function(GREY) + 1)


def test_a_result_that_is_computed_keeps_no_chunk() -> None:
    function = stencil("mirror")
    lazy = function(da.from_array(GREY, chunks=(20, 30)), dtype=np.float16)
    kept = []
    with Callback(posttask=lambda key, result, *rest: kept.append((key, result))):
        whole = lazy.compute()
    assert_array_equal(whole, function(GREY, dtype=np.float16))
    own = [result for (name, *_), result in kept if name == lazy.name]
    assert own == [None] * lazy.npartitions
    assert_array_equal(dask.compute(lazy, lazy + 1)[0], whole)  # as Dask does it
    assert type(lazy.persist()) is type(lazy[:9]) is da.Array


# ---------------------------------------------------------------- element by element


@pytest.mark.parametrize("shape", [(30,), (12, 30), (5, 12, 30)])
def test_vectorized_functions_broadcast_dask_arrays(shape: tuple[int, ...]) -> None:
    axpy = pygpu.vectorize(lambda a, x, y: a * x + y, target="cpu")
    x, y = RANDOM.random(shape, np.float32), RANDOM.random(30, np.float32)
    lazy = axpy(2.0, da.from_array(x, chunks=7), y)
    assert lazy.dtype == np.float32
    assert_array_equal(lazy.compute(), axpy(2.0, x, y))
    assert_array_equal(axpy(2.0, x, da.from_array(y, chunks=11)).compute(), axpy(2.0, x, y))


def test_vectorized_tuples_and_vectors_of_dask_arrays() -> None:
    @pygpu.vectorize(target="cpu")
    def polar(x: float, y: float, *, scale: float = 1.0):
        return pygpu.length(pygpu.Vec2(x, y)) * scale, pygpu.Vec3(x, y, 1), x > y

    x, y = RANDOM.random((2, 14, 9), np.float32)
    lazy = polar(da.from_array(x, chunks=5), y, scale=2.0)
    whole = polar(x, y, scale=2.0)
    for part, expected in zip(lazy, whole, strict=True):
        assert (part.dtype, part.shape) == (expected.dtype, expected.shape)
        assert_array_equal(part.compute(), expected)
    only = pygpu.vectorize(lambda x: pygpu.Vec2(x, -x), target="cpu", precision="fast")
    assert_array_equal(only(da.from_array(x, chunks=5)).compute(), only(x))
    assert pickle.loads(pickle.dumps(only)) is not only
    assert_array_equal(pickle.loads(pickle.dumps(only))(x), only(x))


# ---------------------------------------------------------------- rounds


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("chunks", [(40, 30), (1, 47), (5, 5), -1], ids=str)
@pytest.mark.parametrize("dtype", [None, np.uint8])
def test_rounds_are_those_of_the_whole_image(boundary: str, chunks: Any, dtype: Any) -> None:
    @pygpu.compile(target="cpu")
    def diffuse(im: Image, p: Position, rate: Float = 0.2):
        im = im.sampled(boundary=boundary, cval=0.5)
        around = im(p + (1, 0)) + im(p + (-1, 0)) + im(p + (0, 2)) + im(p + (0, -1))
        return im(p) + rate * (around - 4 * im(p)) + 0.001 * p.x

    lazy = diffuse.iterate(da.from_array(GREY, chunks=chunks), 7, rate=0.1, dtype=dtype)
    whole = diffuse.iterate(GREY, 7, rate=0.1, dtype=dtype)
    assert lazy.dtype == whole.dtype
    assert_array_equal(lazy.compute(), whole)


@pytest.mark.parametrize(
    ("where", "boundary"),
    [*(("cpu", each) for each in BOUNDARIES), ("fragment", "mirror"), ("compute", "constant")],
)
def test_rounds_by_one_job_are_those_of_the_whole(
    where: str, boundary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several for a chunk before the next: the device does them, with edges that are not the
    whole's."""
    if where != "cpu":
        require(where)
    monkeypatch.setattr(calls, "EXTRA", 10.0)
    still = Image(RANDOM.random((50, 70), np.float32), boundary="reflect")

    @pygpu.compile(target=where)
    def react(u: Image, v: Image, p: Position, feed: Image = None):
        u, feed = u.sampled(boundary=boundary, cval=0.5), feed.sampled(boundary=boundary)
        near = u(p + (2, 0)) - u(p + (-1, 1)) + v(p + (0, -2)) * 0.5 + still(p + (1, 0)) * 0.1
        place = 0.001 * p.x / u.width + 0.002 * p.y / feed.height
        return 0.5 * near + place, v(p) * 0.5 + feed(p + (-1, 1)).r

    u, v = RANDOM.random((2, 50, 70), np.float32)
    feed = RANDOM.integers(0, 256, (50, 70, 3), np.uint8)
    whole = react.iterate((u, v), 5, feed=feed)
    for lazy in [(True, True, True), (True, True, False), (False, True, True)]:
        given = [
            da.from_array(each, chunks=(20, 30, *each.shape[2:])) if is_lazy else each
            for each, is_lazy in zip((u, v, feed), lazy, strict=True)
        ]
        made = react.iterate((given[0], given[1]), 5, feed=given[2])
        for part, expected in zip(made, whole, strict=True):
            assert_array_equal(part.compute(), expected)


def test_an_image_may_be_iterated_twice() -> None:
    @pygpu.compile(target="cpu")
    def counted(a: Image, b: Image, p: Position):
        return a(p) + 1, b(p) + a(p)

    zeros = np.zeros((20, 20), np.float32)
    lazy = da.from_array(zeros, chunks=10)
    for a, b in [counted.iterate((each, each), 5) for each in (zeros, lazy)]:
        assert (a[0, 0], b[0, 0]) == (5, 10)


def test_functions_that_may_err_do_so_in_chunks() -> None:
    wave = pygpu.compile(
        lambda im, p: pygpu.exp(im(p)) * pygpu.sin(im(p + (1, 0))),
        im=Image,
        p=Position,
        precision="fast",
        target="cpu",
    )
    lazy = da.from_array(GREY, chunks=20)
    assert_array_equal(wave(lazy).compute(), wave(GREY))
    assert_array_equal(wave.iterate(lazy, 4).compute(), wave.iterate(GREY, 4))


def test_rounds_of_several_images_with_one_that_stays() -> None:
    still = RANDOM.random((80, 90), np.float32)
    u, v = RANDOM.random((2, 80, 90), np.float32)

    @pygpu.compile(target="cpu")
    def react(u: Image, v: Image, p: Position, feed: Image = None):
        near = u(p + (1, 0)) + u(p + (-1, 0))
        return u(p) * 0.9 + 0.05 * near + feed(p + (0, 3)) * 0.01, v(p) * 0.5 + u(p + (0, 1)) * 0.5

    for chunks in (30, (80, 45), 80):
        given = [da.from_array(each, chunks=chunks) for each in (u, v, still)]
        lazy = react.iterate((given[0], given[1]), 9, feed=given[2])
        for part, whole in zip(lazy, react.iterate((u, v), 9, feed=still), strict=True):
            assert_array_equal(part.compute(), whole)
        mixed = react.iterate((given[0], given[1]), 9, feed=still)
        assert_array_equal(mixed[0].compute(), lazy[0].compute())


def test_rounds_that_reach_little_are_done_together() -> None:
    step = pygpu.compile(lambda im, p: im(p + (1, 0)) * 0.5, im=Image, p=Position, target="cpu")
    lazy = step.iterate(da.zeros((400, 400), chunks=200, dtype=np.float32), 21)
    assert sum(isinstance(key, tuple) and key[0].startswith("<lambda>") for key in lazy.dask) < 20


def test_no_rounds_give_the_input_back() -> None:
    step = pygpu.compile(lambda im, p: im(p), im=Image, p=Position, target="cpu")
    lazy = da.from_array(RGB, chunks=20)
    assert step.iterate(lazy, 0) is lazy
    assert_array_equal(
        step.iterate(lazy, 0, dtype=np.float32).compute(), step.iterate(RGB, 0, dtype=np.float32)
    )


# ---------------------------------------------------------------- checked programs


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_checked_chunks_raise_at_the_position_in_the_whole(boundary: str) -> None:
    @pygpu.compile(target="cpu", check=True)
    def positive(im: Image, p: Position):
        v = im.sampled(boundary=boundary, cval=1.0)(p + (3, -2))
        assert v > 0, f"{v} is not positive"
        return v

    image = GREY + 1
    lazy = positive(da.from_array(image, chunks=16))
    assert_array_equal(lazy.compute(), positive(image))
    image[38, 30] = -2
    lazy = positive(da.from_array(image, chunks=16))
    with pytest.raises(AssertionError, match=r"^-2.0 is not positive") as caught:
        lazy.compute()
    note = "positive at the position (27, 40), the only such position in its chunk"
    assert caught.value.__notes__ == [f"at run time, {note}"]
    assert caught.traceback[-1].name == "positive"


def test_rounds_and_the_environment_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    step = pygpu.compile(lambda im, p: 8 // (4 - im(p)), im=Image, p=Position, target="cpu")
    ramp = np.zeros((9, 20), np.int32)
    ramp[7, 15] = 4
    lazy = step(da.from_array(ramp, chunks=5))
    assert lazy.compute()[7, 15] == 0
    monkeypatch.setenv("PYGPU_CHECK", "1")
    lazy = step(da.from_array(ramp, chunks=5))
    monkeypatch.delenv("PYGPU_CHECK")  # it is the call that was made with it
    with pytest.raises(ZeroDivisionError) as caught:
        lazy.compute()
    assert "at the position (15, 7), the only such position" in caught.value.__notes__[-1]
    monkeypatch.setenv("PYGPU_CHECK", "1")
    ramp[7, 15] = 2  # 8 // 2 is 4, at which the next round divides by zero
    lazy = step.iterate(da.from_array(ramp, chunks=5), 2)
    with pytest.raises(ZeroDivisionError):
        lazy.compute()


def test_checked_chunks_are_of_images_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CHECK", "1")
    add = pygpu.compile(lambda a, b, p: a(p) + b(p), a=Image, b=Image, p=Position, target="cpu")
    with pytest.raises(ValueError, match="b: an image of 30 x 47 pixels in a checked call"):
        add(da.from_array(GREY, chunks=16), da.from_array(GREY[:30], chunks=16))
