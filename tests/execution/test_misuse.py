"""Wrong calls of what is not compiled: which errors they raise, and how much these quote."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Mat3, Position, Vec2, Vec3, filters, glsl

GREY = Image(np.random.default_rng(0).random((5, 7), np.float32))
COLOURS = Image(np.random.default_rng(1).random((5, 7, 3), np.float32))
LARGE = np.zeros((300, 400))


def constant(p: Position):
    return p.x * 2


@pytest.mark.parametrize("name", ["any", "all", "sum", "mean", "max", "min", "std", "clip"])
def test_an_image_is_no_out(name):
    more = (0, 1) if name == "clip" else ()
    with pytest.raises(TypeError, match="out: an image cannot be written to"):
        getattr(np, name)(GREY, *more, out=GREY)


def test_an_image_is_no_out_of_methods_of_ufuncs():
    with pytest.raises(TypeError, match="out: an image cannot be written to"):
        np.add.reduce(GREY, out=GREY)


@pytest.mark.parametrize("axis", ["x", 1.5, (0, "x"), [0], True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_axes_are_whole_numbers(name, axis):
    with pytest.raises(TypeError, match="axis: takes a whole number"):
        getattr(GREY, name)(axis=axis)


@pytest.mark.parametrize("axis", [2, -3, (0, 5)])
def test_axes_are_those_there_are(axis):
    with pytest.raises(ValueError, match="out of bounds"):
        GREY.sum(axis=axis)
    with pytest.raises(ValueError, match="twice"):
        GREY.sum(axis=(0, -2))


@pytest.mark.parametrize("initial", ["a", {}, (1, 2), np.zeros((2, 2)), [None, 1, 2], Vec2(0, 0)])
@pytest.mark.parametrize("image", [GREY, COLOURS], ids=["grey", "colours"])
def test_an_identity_is_like_what_is_folded(image, initial):
    with pytest.raises(TypeError, match="reduce: initial takes a value like"):
        pygpu.reduce(lambda a, b: a + b, image, initial=initial, target="interpreter")


@pytest.mark.parametrize("initial", [0, 0.0, np.float32(0), False, Vec3(0, 0, 0), (0, 0, 0)])
def test_identities_are_taken(initial):
    total = pygpu.reduce(lambda a, b: a + b, COLOURS, initial=initial, target="interpreter")
    np.testing.assert_allclose(total, np.asarray(COLOURS).sum((0, 1)), rtol=1e-5)
    both = pygpu.reduce(
        lambda a, b: (min(a[0], b[0]), a[1] + b[1]),
        GREY, map=lambda v: (v, v), initial=(1, 0.0), target="interpreter",
    )  # fmt: skip
    assert both[0] == np.asarray(GREY).min()


FUNCTIONS = [
    getattr(glsl, row.__name__) for row in glsl.PRIMITIVES if row.__name__ not in ("any", "all")
]
FUNCTIONS += [glsl.determinant, glsl.inverse, glsl.mix, glsl.clamp, glsl.smoothstep, glsl.fract]
JUNK = [("zzz",), ("",), (None,), ("zzz", None), (None, 1.0), ("a", "b", "c"), ({}, [], None)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("arguments", JUNK, ids=repr)
def test_what_is_no_number_is_a_type_error(function, arguments):
    with pytest.raises(TypeError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert "converted during string formatting" not in text
    assert "loop with signature" not in text


@pytest.mark.parametrize("wrong", [None, 3.5, []])
def test_what_is_no_path_is_no_picture(wrong):
    with pytest.raises(TypeError, match=r"Image\.open: takes the path of a picture, got "):
        Image.open(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pygpu.compile(constant, check=3),
        lambda: pygpu.scan(np.add, GREY, exclusive="no"),
        lambda: pygpu.scan(np.add, GREY, reverse=[]),
        lambda: pygpu.sort(GREY, descending="no"),
        lambda: pygpu.argsort(GREY, descending=2.5),
        lambda: Image(LARGE, normalize="no"),
        lambda: pygpu.Signal(LARGE[0], normalize=3),
    ],
)
def test_what_is_neither_true_nor_false_is_refused(call):
    with pytest.raises(TypeError, match=": takes True or False, got "):
        call()


def test_flags_of_numpy_and_numbers_are_taken():
    texels = np.full((2, 2), 255, np.uint8)
    for normalize in (False, 0, np.False_):
        assert not Image(texels, normalize=normalize).format.normalize
    assert Image(texels, normalize=np.True_).format.normalize
    assert pygpu.sort(GREY, axis=None, descending=1)[0] == np.asarray(GREY).max()


@pytest.mark.parametrize("wrong", ["x", b"x", {1: 2}, 3j])
@pytest.mark.parametrize("function", [glsl.any, glsl.all])
def test_texts_and_tables_have_no_components(function, wrong):
    with pytest.raises(TypeError, match="takes a vector, or something to iterate over"):
        function(wrong)


def test_vectors_beside_each_other_are_of_one_size():
    with pytest.raises((TypeError, ValueError), match="components"):
        glsl.faceforward(Vec3(1, 2, 3), Vec2(1, 2), Vec2(1, 2))


@pytest.mark.parametrize("function", [lambda a: a, lambda: 1, lambda a, b, c: a, np.sqrt])
@pytest.mark.parametrize("fold", [pygpu.reduce, pygpu.scan])
def test_a_fold_takes_two_values(fold, function):
    with pytest.raises(TypeError, match="function folds two values into one, got"):
        fold(function, GREY)


@pytest.mark.parametrize("bins", [[], [1.0], int, "many"])
def test_bins_have_edges(bins):
    with pytest.raises(TypeError, match="histogram: takes bins"):
        pygpu.histogram(GREY, bins=bins)


@pytest.mark.parametrize("wrong", [[[1, 2], [3]], [1, 2], [[1, 2, 3]] * 2, Vec2(1, 2), 3.0, LARGE])
@pytest.mark.parametrize("function", [glsl.determinant, glsl.inverse])
def test_matrices_are_square(function, wrong):
    with pytest.raises(TypeError, match="takes a matrix"):
        function(wrong)
    assert glsl.determinant([[1, 2], [3, 4]]) == -2
    assert glsl.determinant(np.eye(3)) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: Vec3(LARGE),
        lambda: Vec3(1, 2, 3) + LARGE[0],
        lambda: Mat3(LARGE),
        lambda: pygpu.reduce(LARGE, GREY),
        lambda: pygpu.tune(LARGE),
        lambda: pygpu.vectorize(LARGE),
        lambda: pygpu.compile(LARGE),
        lambda: GREY(LARGE),
        lambda: GREY(LARGE, 1),
        lambda: GREY.sampled(boundary="constant", cval=LARGE[0]),
        lambda: pygpu.compile(lambda c, p: c, c=Vec3, p=pygpu.Position)(LARGE, shape=(2, 2)),
        lambda: pygpu.compile(lambda c, p: c, c=float, p=pygpu.Position)(LARGE, shape=LARGE),
        lambda: pygpu.compile(lambda p: p.x, p=pygpu.Position)(shape=LARGE),
        lambda: pygpu.Image.open(LARGE),
        lambda: glsl.determinant(LARGE),
        lambda: pygpu.compile(lambda p: p.x, p=pygpu.Position, target=LARGE),
        lambda: pygpu.compile(lambda p: p.x, p=pygpu.Position)(shape=(2, 2), dtype=LARGE),
        lambda: pygpu.compile(lambda im, p: 0, im=pygpu.Image, p=pygpu.Position)(
            LARGE, pygpu.Position(0, 0)
        ),
    ],
)
def test_errors_quote_no_whole_arrays(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("PYGPU_VERIFY=maybe", "PYGPU_VERIFY='maybe': takes 0 or 1"),
        ("PYGPU_DEBUG=maybe", "PYGPU_DEBUG='maybe': takes 0 or 1"),
        ("PYGPU_LARGE_PAGES=maybe", "PYGPU_LARGE_PAGES='maybe': takes 0 or 1"),
        ("PYGPU_MEMORY=lots", "PYGPU_MEMORY='lots': takes a number, as 65536, 512M or 2G"),
        ("PYGPU_TEXTURE_SIZE=-1", "PYGPU_TEXTURE_SIZE='-1': takes a number"),
        ("PYGPU_GL_BACKEND=mine", "PYGPU_GL_BACKEND='mine': takes egl or native"),
        ("PYGPU_TARGET=gpu", "PYGPU_TARGET='gpu': takes 'auto', 'fragment', 'compute', 'cpu'"),
        (f"PYGPU_CACHE_DIR={__file__}", "PYGPU_CACHE_DIR=.*: is no folder"),
        ("PYGPU_CPU_FEATURES=+sse4.2,,", "takes .*LLVM features"),
        ("PYGPU_CPU_FEATURES=fast", "takes .*LLVM features"),
        ("PYGPU_CPU_FEATURES=+nonsense", "LLVM has no feature 'nonsense'"),
        ("PYGPU_DUMP=everything", "PYGPU_DUMP: 'everything' is none of ssa, source"),
        ("PYGPU_THREADS=many", "PYGPU_THREADS='many': takes a whole number from 1 up"),
        ("PYGPU_THREADS=0", "PYGPU_THREADS='0': takes a whole number from 1 up"),
        ("PYGPU_CACHE=perhaps", "PYGPU_CACHE='perhaps': takes 0 or 1"),
        ("PYGPU_CHECK=maybe", "PYGPU_CHECK='maybe': takes 0 or 1"),
    ],
)
def test_settings_that_mean_nothing_are_told_on_every_target(setting, words, target, monkeypatch):
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    f = pygpu.compile(lambda im, p: im(p) + 1, im=Image, p=pygpu.Position, target=target)
    with pytest.raises((ValueError, pygpu.DeviceError), match=words):
        f(np.asarray(GREY))
    monkeypatch.delenv(name)
    assert f(np.asarray(GREY)).shape == (5, 7)


@pytest.mark.parametrize(
    "call",
    [
        lambda: filters.gaussian(GREY, sigma=LARGE),
        lambda: filters.rescale(GREY, LARGE),
        lambda: filters.resize(GREY, LARGE),
        lambda: filters.rank_filter(GREY, 1, size=LARGE),
        lambda: filters.erosion(GREY, LARGE[None]),
        lambda: filters.warp(GREY, np.eye(3), order=LARGE[0]),
        lambda: pygpu.compile(constant)(shape=LARGE),
    ],
)
def test_messages_do_not_quote_arrays(call):
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        call()
    assert len(str(caught.value)) < 300
