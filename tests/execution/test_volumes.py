"""Volumes: functions of three coordinates, on every target what they are in plain Python and in
SciPy."""

import copy
import functools
import itertools
import pickle

import numpy as np
import pytest
import scipy.ndimage

import pygpu
from conftest import require
from pygpu import CompileError, Float, Image, Int, Position, Signal, Vec3, Volume, offsets
from pygpu.core.device import Limits
from pygpu.core.storage import Storage
from pygpu.devices import targets
from pygpu.devices.cpu import program, staged
from pygpu.devices.opengl import compute
from pygpu.passes.layout.planes import by_planes

MODES = {
    "nearest": "nearest",
    "reflect": "reflect",
    "mirror": "mirror",
    "wrap": "grid-wrap",
    "constant": "constant",
}
DTYPES = ("uint8", "uint16", "float16", "float32", "float64", "int8", "int16", "int32", "bool")
SHAPES = [(1, 1, 1), (1, 5, 7), (4, 1, 9), (6, 5, 1), (3, 4, 5), (7, 3, 33), (2, 17, 18)]


def scan(shape, dtype="float32", channels=1):
    full = shape if channels == 1 else (*shape, channels)
    values = np.random.default_rng(sum(shape)).random(full)
    if dtype == "bool":
        return values > 0.5
    return (values * (100 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


def in_python(f, volume, **values):
    depth, height, width = volume.storage.shape
    places = itertools.product(range(depth), range(height), range(width))
    texels = [f(volume, Position(x, y, z), **values) for z, y, x in places]
    texels = [list(texel) if np.ndim(texel) else texel for texel in texels]
    made = np.array(texels)
    return made.reshape(depth, height, width, *made.shape[1:])


@functools.cache
def small_in_python(f, **options):
    """A small volume, and what the function makes of it."""
    channels = options.pop("channels")
    volume = Volume(scan((4, 5, 6), channels=channels), cval=0.5, **options)
    return volume, in_python(f, volume)


def correlate(kernel, v: Volume, p: Position):
    taps = zip(np.ravel(kernel), offsets(kernel), strict=True)
    return sum([float(w) * v(p + d) for w, d in taps])


@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_the_texel_alone_see_the_number_of_its_plane(target, shape):
    for f in (
        lambda im, p: im(p) * p.z,
        lambda im, p: im(p) + p.z if p.x > 1 else 2.0 * p.z,
        lambda im, p: p.z,
    ):
        volume = Volume(scan(shape))
        compiled = pygpu.compile(f, im=Volume, p=Position, target=target)
        np.testing.assert_allclose(compiled(volume), in_python(f, volume), 1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32", "int8", "bool"])
def test_all_planes_at_once_are_what_they_are_one_by_one(dtype, monkeypatch):
    require("compute")

    def across(v, p):
        return v(p + (1, 0, 1)) + v(p - (0, 1, 2)) * p.z + v((p.x, p.y, 1)) - v(p + (0, 1, 0))

    def least(v, p):
        return min([v(p + d) for d in offsets(np.ones((3, 3, 3)))])

    def run(f, volume):
        return np.asarray(pygpu.compile(f, v=Volume, p=Position, target="compute")(volume))

    # Each is a program of its own, slow to compile: all of them for one type, some for each.
    shapes, modes = [(7, 3, 33)], list(MODES)[:2]
    if dtype == "float32":
        shapes, modes = [(6, 5, 1), *shapes, (2, 17, 18)], list(MODES)
    for f, shape, boundary in itertools.product((across, least), shapes, modes):
        volume = Volume(scan(shape, dtype), boundary=boundary)
        at_once = run(f, volume)
        with monkeypatch.context() as patch:
            patch.setattr(compute.PlanarFunction, "run_planes", lambda *_: None)
            one_by_one = run(f, volume)
        np.testing.assert_array_equal(at_once, one_by_one)


def test_planes_at_once_go_into_arrays_and_feed_the_next_call():
    require("compute")
    compiled = pygpu.compile(correlate, kernel=np.ones((3, 3, 3)), target="compute")
    a, out = scan((5, 6, 7)), np.zeros((5, 6, 7), np.float32)
    compiled(a, out=out)
    once = compiled(Volume(a))
    np.testing.assert_array_equal(out, once)
    twice = scipy.ndimage.correlate(out.astype(float), np.ones((3, 3, 3)), mode="nearest")
    np.testing.assert_allclose(compiled(once), twice, 1e-4)


@pytest.mark.parametrize("boundary", MODES)
def test_boundaries_are_those_of_scipy(target, boundary):
    kernel = np.random.default_rng(0).standard_normal((3, 3, 2))
    compiled = pygpu.compile(correlate, kernel=kernel, target=target)
    for shape in SHAPES:
        a = scan(shape)
        expected = scipy.ndimage.correlate(a.astype(float), kernel, mode=MODES[boundary], cval=0.75)
        result = compiled(Volume(a, boundary=boundary, cval=0.75))
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-4, atol=2e-5)


def crossed(v: Volume, p: Position):
    return v((p.z, p.x, p.y)) + 2 * v((v.width - p.x, p.y - 3, 2 * p.z - p.x))


def between(v: Volume, p: Position):
    return v(p * 0.625 - (1.25, -0.5, 0.75)) + v((p.x, p.y, p.z + 0.25))


def in_a_loop(v: Volume, p: Position, reach: Int = 2):
    total = 0.0 * v(p)
    for k in range(-reach, reach + 1):
        total = total + v(p + (0, 0, k)) * (k + 3)
    return total


def of_the_place(v: Volume, p: Position):
    x, y, _z = p
    return x + 10 * y + 100 * p.z + v.depth * v.height * v.width + v.shape[0] + 0 * v(p)


@pytest.mark.parametrize("boundary", MODES)
@pytest.mark.parametrize("f", [crossed, between, in_a_loop, of_the_place])
def test_targets_give_what_python_gives(target, f, boundary):
    for interpolation, channels in (("nearest", 1), ("linear", 1), ("linear", 3)):
        v, expected = small_in_python(
            f, boundary=boundary, interpolation=interpolation, channels=channels
        )
        result = np.asarray(pygpu.compile(f, target=target)(v))
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_every_dtype_is_read_and_given_back(target, dtype, channels):
    a = scan((3, 4, 7), dtype, channels)
    moved = pygpu.compile(lambda v=Volume, p=Position: v(p + (1, 0, -1)), target=target)
    volume = Volume(a)
    assert volume.shape == a.shape
    assert np.array_equal(np.asarray(volume), a.astype(volume.dtype))
    result = moved(volume, dtype=volume.storage.dtype)
    assert isinstance(result, Volume)
    expected = a[[0, 0, 1]][:, :, [1, 2, 3, 4, 5, 6, 6]]
    assert np.array_equal(np.asarray(result), expected.astype(volume.storage.dtype))


def test_slices_and_projections_are_images(target):
    def highest(v: Volume, p: Position):
        best = v((p.x, p.y, 0))
        for z in range(v.depth):
            best = max(best, v((p.x, p.y, z)))
        return best

    a = scan((5, 6, 7))
    result = pygpu.compile(highest, target=target)(a, shape=(6, 7))
    assert isinstance(result, np.ndarray)
    assert np.array_equal(result, a.max(0))

    def line(v: Volume, p: Position):
        return v((2, 3, p))

    assert np.array_equal(pygpu.compile(line, target=target)(a, shape=(5,)), a[:, 3, 2])


def test_volumes_beside_images_and_signals(target):
    def lit(v: Volume, mask: Image, gain: Signal, p: Position, level: Float):
        return v(p) * mask(p.xy) * gain(p.z) + level

    a, mask, gain = scan((4, 5, 6)), scan((5, 6, 1))[..., 0], scan((4, 1, 1))[:, 0, 0]
    result = pygpu.compile(lit, target=target)(a, mask, gain, 0.25)
    np.testing.assert_allclose(result, a * mask * gain[:, None, None] + 0.25, rtol=1e-6)


def test_volumes_of_other_sizes_extend(target):
    def both(v: Volume, w: Volume, p: Position):
        return v(p) + w(p + (0, 0, 1))

    a, b = scan((5, 4, 6)), scan((2, 3, 4))
    wide = np.pad(b, ((0, 4), (0, 1), (0, 2)))
    result = pygpu.compile(both, target=target)(a, Volume(b, boundary="constant"))
    np.testing.assert_allclose(result, a + wide[1:6], rtol=1e-6)
    wide = np.pad(b, ((0, 4), (0, 1), (0, 2)), "wrap")
    result = pygpu.compile(both, target=target)(a, Volume(b, boundary="wrap"))
    np.testing.assert_allclose(result, a + wide[1:6], rtol=1e-6)


def test_volumes_are_made_of_nothing(target):
    ball = pygpu.compile(lambda p=Position, r=Float: pygpu.length(Vec3(p) - 4.0) < r, target=target)
    made = ball(3.5, shape=(9, 9, 9))
    assert isinstance(made, Volume)
    z, y, x = np.mgrid[:9, :9, :9] - 4
    assert np.array_equal(np.asarray(made), np.sqrt(x * x + y * y + z * z) < 3.5)
    constant = pygpu.compile(lambda p=Position: 2.0, target=target)
    assert np.array_equal(constant(shape=(2, 3, 4)), np.full((2, 3, 4), 2.0))
    out = np.empty((2, 3, 4, 2), np.float32)
    pygpu.compile(lambda p=Position: p.zx * 1.0, target=target)(out=out)
    assert np.array_equal(out, np.stack(np.mgrid[:2, :3, :4][[0, 2]], -1))


def test_several_results_and_out(target):
    def split(v: Volume, p: Position):
        return v(p) + 1, v(p - (0, 0, 1)) > 0.5, p

    a = scan((3, 4, 5))
    more, above, place = pygpu.compile(split, target=target)(a)
    assert np.array_equal(more, a + 1)
    assert np.array_equal(above, a[[0, 0, 1]] > 0.5)
    assert place.shape == (3, 4, 5, 3)
    assert np.array_equal(place, np.stack(np.mgrid[:3, :4, :5][::-1], -1))
    moved = pygpu.compile(lambda v=Volume, p=Position: v(p + (0, 0, 1)), target=target)
    out = np.empty((3, 4, 5), np.float64)
    assert moved(a, out=out) is out
    assert np.array_equal(out, a[[1, 2, 2]])
    same = a.copy()
    moved(same, out=same)
    assert np.array_equal(same, a[[1, 2, 2]])
    with pytest.raises(ValueError, match=r"shape \(3, 4, 5\), got \(3, 4, 6\)"):
        moved(a, out=np.empty((3, 4, 6), np.float32))


def test_rounds_stay_on_the_device(target):
    def diffuse(v: Volume, p: Position):
        ends = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        return sum([v(p + d) + v(p - np.array(d)) for d in ends]) / 6

    a = scan((4, 5, 6))
    kernel = scipy.ndimage.generate_binary_structure(3, 1).astype(float) / 6
    kernel[1, 1, 1] = 0
    expected = a.astype(float)
    for _ in range(3):
        expected = scipy.ndimage.correlate(expected, kernel, mode="grid-wrap")
    compiled = pygpu.compile(diffuse, target=target)
    result = compiled.iterate(Volume(a, boundary="wrap"), 3)
    assert isinstance(result, Volume)
    assert result.boundary == "wrap"
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)
    assert np.array_equal(compiled.iterate(a, 0), a)
    assert compiled.iterate(a, 2).shape == a.shape


def test_more_planes_than_a_device_reads_at_once(target):
    def long(v: Volume, p: Position):
        return sum([v(p + (0, 0, k)) * (k + 60) for k in range(-40, 41)])

    a = scan((6, 3, 4))
    weights = np.arange(20, 101, dtype=float)
    expected = scipy.ndimage.correlate1d(a.astype(float), weights, 0, mode="grid-wrap")
    result = pygpu.compile(long, target=target)(Volume(a, boundary="wrap"))
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)


def test_large_gathers_work_everywhere(target):
    """More rows than a texture has, and more texels than 100,000."""
    if target == "interpreter":
        pytest.skip("slow there")

    def shuffled(v: Volume, p: Position):
        return v(((p.x * 5 + p.z) % v.width, (p.y * 7 + p.x) % v.height, (p.z * 11) % v.depth))

    a = scan((300, 60, 7))
    z, y, x = np.mgrid[:300, :60, :7]
    expected = a[(z * 11) % 300, (y * 7 + x) % 60, (x * 5 + z) % 7]
    assert np.array_equal(pygpu.compile(shuffled, target=target)(a), expected)


def test_operators_folds_and_parts():
    a, b = scan((4, 5, 6)), scan((4, 5, 6)) + 1
    v, w = Volume(a, boundary="wrap"), Volume(b)
    for result, expected in (
        (v + w, a + b),
        (v * 2 - b, a * 2 - b),
        (np.sqrt(v), np.sqrt(a)),
        (v > 0.5, a > 0.5),
        (v + b[:1], a + b[:1]),
        (v.clip(0.2, 0.6), a.clip(0.2, 0.6)),
        (v[1:3, ::2, ::-1], a[1:3, ::2, ::-1]),
        ((v + 1)[1:3, ::2, ::-1], (a + 1)[1:3, ::2, ::-1]),
    ):
        assert isinstance(result, Volume)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)
    assert (v + w).boundary == "wrap"
    np.testing.assert_allclose(v.sum(), a.sum(), rtol=1e-6)
    for axis in (0, 1, 2, -1, (0, 2), (0, 1, 2)):
        np.testing.assert_allclose(v.sum(axis), a.sum(axis), rtol=1e-6)
        assert np.array_equal(v.max(axis), a.max(axis))
    np.testing.assert_allclose(v.mean(), a.mean(), rtol=1e-6)
    assert v[1, 2, 3] == a[1, 2, 3]
    assert np.array_equal(v[1], a[1])
    colours = scan((3, 4, 5), channels=3)
    assert np.array_equal(Volume(colours)[..., 1], colours[..., 1])
    np.testing.assert_allclose(Volume(colours) * [1, 2, 3], colours * [1, 2, 3], rtol=1e-6)


def test_folds_of_texels_and_places(target):
    a = scan((4, 5, 6), "int32")
    v = Volume(a)
    assert pygpu.reduce(np.add, v, target=target) == a.sum()
    assert pygpu.reduce(np.maximum, v, map=lambda t: -t, target=target) == (-a).max()
    z, y, x = np.mgrid[:4, :5, :6]
    folded = pygpu.reduce(
        lambda s, t: (s[0] + t[0], s[1] + t[1]),
        v,
        map=lambda t, p: (t * p.z, t * (p.x - p.y)),
        target=target,
    )
    assert folded == ((a * z).sum(), (a * (x - y)).sum())


def test_checked_programs_say_where(target):
    def careful(v: Volume, p: Position):
        assert v(p) < 0.99, "too bright"
        return v(p)

    a = np.zeros((3, 4, 5), np.float32)
    a[1, 2, 3] = a[2, 0, 0] = 1
    compiled = pygpu.compile(careful, target=target, check=True)
    with pytest.raises(AssertionError, match="too bright") as caught:
        compiled(a)
    assert "at the position (3, 2, 1), the first of 2" in "".join(caught.value.__notes__)


def test_looking_at_volumes():
    v = Volume(scan((3, 4, 5)), boundary="mirror")
    text = "Volume(shape=(3, 4, 5), dtype=float32, boundary='mirror', device='host')"
    assert repr(v) == text
    assert (len(v), v.depth, v.height, v.width, v.ndim, v.size) == (3, 3, 4, 5, 3, 60)
    for odd in (v, Volume(scan((2, 1, 1), "uint8", 4)), Volume(scan((1, 9, 2), "bool"))):
        assert odd._repr_html_().count("<img") == odd.depth
    again = pickle.loads(pickle.dumps(v))
    assert isinstance(again, Volume)
    assert np.array_equal(again, v)
    assert copy.copy(v) is v
    f = pygpu.compile(lambda v=Volume, p=Position: v(p - (0, 0, 1)), target="cpu")
    lowered = f.lower(v)
    assert "voxel v[x, y, " in str(lowered.ssa)
    assert f.profile(v).size == (3, 4, 5)
    assert "v: volume" in repr(f)


def test_volumes_in_plain_python():
    a = scan((3, 4, 5))
    v = Volume(a, boundary="mirror", interpolation="linear")
    p = Position(1, 2, 0)
    assert isinstance(p, Position)
    assert (p.x, p.y, p.z) == (1, 2, 0)
    assert repr(p + (0, 0, 1)) == "Position(1, 2, 1)"
    assert repr(p.xy) == "Position(1, 2)"
    assert pickle.loads(pickle.dumps(p)).z == 0
    assert v(p) == v((1, 2, 0)) == v(1, 2, 0) == a[0, 2, 1]
    assert v((0, -1, 0)) == a[0, 1, 0]
    assert v((0.5, 0, 1.5)) == pytest.approx(a[1:3, 0, 0:2].mean())
    f = pygpu.compile(lambda v=Volume, p=Position: v(p) + p.z)
    assert f(v, Position(0, 0, 2)) == a[2, 0, 0] + 2
    with pytest.raises(TypeError, match="a volume takes a position"):
        v((1, 2))


def test_offsets_of_three_dimensions():
    kernel = np.zeros((3, 1, 2))
    assert [tuple(d) for d in offsets(kernel)] == [(x, 0, z) for z in (-1, 0, 1) for x in (-1, 0)]
    assert [tuple(d) for d in offsets([[1, 2]], dims=3)] == [(-1, 0, 0), (0, 0, 0)]
    assert offsets([1, 2, 3], dims=1) == [-1, 0, 1]
    with pytest.raises(ValueError, match=r"dims=1: takes 2, 3"):
        offsets(np.zeros((2, 2)), dims=1)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((3, 3)), ValueError, "has 2 axes; a volume is .* annotated Image takes it"),
        (np.zeros((3, 3, 3, 9)), ValueError, "has 9 channels; a volume is"),
        (np.zeros((3, 0, 3)), ValueError, "is empty; a volume is an array"),
        (Image(np.zeros((3, 3))), TypeError, "v: takes a Volume .*, got a pygpu.Image"),
    ],
)
def test_wrong_arguments_are_named(value, error, message):
    with pytest.raises(error, match=message):
        pygpu.compile(crossed)(value)


def test_wrong_positions_are_refused():
    with pytest.raises(CompileError, match=r"the volume 'v' takes a position, as volume\(p\)"):
        pygpu.compile(lambda v=Volume, p=Position: v(p.xy))(scan((2, 2, 2)))
    with pytest.raises(CompileError, match=r"the volume 'v' takes a position"):
        pygpu.compile(lambda v=Volume, p=Position: v(p))(scan((2, 2, 2)), shape=(2, 2))


def test_planes_that_are_known_are_handed_over():
    def taps(v: Volume, p: Position):
        return v(p + (1, 0, -1)) + v(p - (0, 2, 1)) + v(p + (0, 0, 1))

    lowered = pygpu.compile(taps, target="interpreter").lower(scan((2, 3, 4)))
    compiled = pygpu.compile(taps, target="interpreter")
    compiled(scan((2, 3, 4)))
    (made,) = compiled.specialisations()
    assert [read.offset for read in made.planar.reads] == [-1, 1]
    assert "load v_before1[x + 1, y] nearest" in str(lowered.source)
    rows = by_planes(made.translated.function, most=1)
    assert [read.offset for read in rows.reads] == [None]


def test_storages_of_planes_are_their_rows():
    planes = [Storage.of(np.full((2, 3), k, np.float32)) for k in range(4)]
    stacked = Storage.stacked(planes).shaped((4, 2, 3))
    assert stacked.plane(2) is planes[2]
    assert np.array_equal(stacked.seen()[:, 0, 0], [0, 1, 2, 3])
    assert stacked.as_image().shape == (8, 3)


@pytest.mark.parametrize("size", [(70, 5, 3), (3, 70, 90), (40, 33, 65)])
def test_all_planes_are_one_job_on_cpu(size, monkeypatch):
    """What reads the plane's number, neighbours, far places and nothing but itself."""

    def mixed(v: Volume, w: Image, p: Position, gain: Float):
        near = v(p - (1, 1, 1)) + v(p + (2, 0, 1))
        far = v((v.width - 1 - p.x, p.y, p.z)) + w((p.y, p.x))
        return gain * near + far + p.z, p.z > 1

    a, w = scan(size), scan((1, 9, 11))[0]
    compiled = pygpu.compile(mixed, target="cpu")
    reference = pygpu.compile(mixed, target="interpreter")
    for boundary in MODES:
        given = Volume(a, boundary=boundary, cval=0.25)
        results, expected = compiled(given, w, 2.0), reference(given, w, 2.0)
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-6)
    (program, *_) = [made.program for made in compiled.specialisations()]
    monkeypatch.setattr(program, "run", None)  # plane by plane
    compiled(Volume(a, boundary="nearest", cval=0.25), w, 2.0)
    own = pygpu.compile(lambda v=Volume, p=Position: v(p) * 2 + 1, target="cpu")
    assert np.array_equal(own(a), a * 2 + 1)


def test_pipelines_of_volumes_and_signals():
    rise = pygpu.compile(lambda v=Volume, p=Position: v(p + (0, 0, 1)) - v(p))
    smooth = pygpu.compile(lambda x=Signal, p=Position: x(p - 1) + x(p + 1))

    def chain(v, x):
        steep, soft = rise(v * 2), smooth(smooth(x))
        return rise(steep) + 1, steep.max(), soft - x

    v, x = Volume(scan((4, 5, 6))), Signal(scan((1, 1, 30)).ravel())
    results, expected = pygpu.pipeline(chain)(v, x), chain(v, x)
    assert isinstance(results[0], Volume)
    assert isinstance(results[2], Signal)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-6)


def test_volumes_are_not_exported(tmp_path):
    f = pygpu.compile(lambda v=Volume, p=Position: v(p + (0, 0, 1)))
    with pytest.raises(TypeError, match="functions of volumes run plane by plane"):
        f.export(tmp_path / "page.html", Volume(scan((2, 3, 4))))


def test_labels_come_back():
    xarray = pytest.importorskip("xarray")
    f = pygpu.compile(lambda v=Volume, p=Position: v(p) + p.z)
    given = xarray.DataArray(scan((3, 4, 5)), dims=("z", "y", "x"), coords={"z": [1, 2, 3]})
    result = f(given)
    assert result.dims == ("z", "y", "x")
    assert list(result.z) == [1, 2, 3]
    frames = pygpu.compile(lambda im=Image, p=Position: im(p) * 2).map(given)
    assert frames.dims == ("z", "y", "x")
    assert np.array_equal(frames, given * 2)


@pytest.fixture
def limited(monkeypatch):
    """`limited(side, memory)`: from now on no device holds more."""

    def limit(side=1 << 40, memory=1 << 60):
        monkeypatch.setattr(targets, "limits", lambda device: Limits(side, 1 << 60, memory))

    return limit


@pytest.mark.parametrize("boundary", MODES)
def test_planes_in_tiles_and_memory_for_few(target, limited, boundary):
    def around(v: Volume, p: Position):
        taps = [(-3, 0, 1), (0, 2, -1), (4, -1, 0), (1, 1, 2)]
        return sum([(k + 1) * v(p + d) for k, d in enumerate(taps)]) + p.z, p.x + v.depth

    v = Volume(scan((5, 19, 31)), boundary=boundary, cval=0.25)
    compiled = pygpu.compile(around, target=target)
    whole = [np.asarray(each) for each in compiled(v)]
    stack = scan((4, 19, 31))
    shifted = pygpu.compile(lambda im=Image, p=Position: im(p + (2, 1)), target=target)
    frames = shifted.map(stack)
    for limits in ({"side": 13}, {"memory": 12_000}):
        limited(**limits)
        for result, wanted in zip(compiled(v), whole, strict=True):
            assert np.array_equal(np.asarray(result), wanted)
        assert np.array_equal(shifted.map(stack), frames)


def _neighbours(v: Volume, p: Position):
    return v(p + (1, 0, 0)) - v(p - (0, 1, 0)) * 0.5 + v(p + (0, 0, 1))


def _scaled(v: Volume, p: Position, k: Float):
    return v(p) * k + 0.25


def _numbered(v: Volume, w: Image, p: Position, k: Float):
    return v(p - (0, 0, 1)) * k + w(p.x, p.y) * p.z, v(p).x + p.y


def _mean(v: Volume, p: Position, k: Float):
    return sum(v(p + d) for d in offsets(np.ones((3, 3, 3)))) * k


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("shape", [(3, 5, 7), (16, 40, 64, 3), (40, 36, 33), (5, 3, 40)])
def test_calls_again_give_what_a_first_one_does(shape, dtype, monkeypatch):
    monkeypatch.setattr(staged, "LEAST", 0)
    monkeypatch.setattr(program, "ENDS", 0)
    source = np.random.default_rng(shape[2])
    for function in (_neighbours, _scaled, _mean):
        again = pygpu.compile(function, target="cpu")
        out = np.empty(shape, np.float32)
        for k in (0.5, 2.0, 0.25, 1.5):
            texels = (source.random(shape) * (1 if dtype == "float32" else 255)).astype(dtype)
            numbers = () if function is _neighbours else (k,)
            wanted = pygpu.compile(function, target="cpu")(texels, *numbers, dtype="float32")
            assert np.array_equal(again(texels, *numbers, dtype="float32"), wanted)
            assert again(texels, *numbers, out=out) is out
            assert np.array_equal(out, wanted)


def test_calls_again_of_volumes_beside_images():
    again = pygpu.compile(_numbered, v=Volume, target="cpu")
    source = np.random.default_rng(5)
    for k in (0.5, 2.0, 0.25, 1.5):
        texels, page = source.random((4, 20, 30, 3), np.float32), source.random((9, 11), np.float32)
        found = again(texels, page, k)
        wanted = pygpu.compile(_numbered, target="cpu")(texels, page, k)
        assert all(map(np.array_equal, found, wanted))
