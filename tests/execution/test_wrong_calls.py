"""Every public function given what it does not take: the error is the caller's, in the caller's
frame alone, and says in PyGPU's words what was wrong."""

import traceback
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Signal, Volume, filters, glsl
from pygpu.language.fragments import Discarded
from pygpu.language.names import GLSL_ALONE

HOME = str(Path(pygpu.__file__).parent)
GREY = Image(np.ones((5, 7), np.float32))
SIGNAL = Signal(np.ones(5, np.float32))
VOLUME = Volume(np.ones((3, 4, 5), np.float32))
COMPILED = pygpu.compile(lambda im, p: im(p), im=Image, p=Position, target="cpu")


class Thing:
    def __repr__(self):
        return "<a thing>"


def nothing():
    return 1


WRONG = {
    "nothing": (),
    "a string": ("x",),
    "None": (None,),
    "a number": (3,),
    "a dict": ({},),
    "an object": (Thing(),),
    "two strings": ("x", "y"),
    "three None": (None, None, None),
    "a mixed list": ([1, "a"],),
    "a function": (nothing,),
}

# What is right for a function though it is wrong for most.
TAKEN = {
    "pygpu.Bool": {*WRONG} - {"two strings", "three None"},
    "pygpu.DeviceError": {*WRONG},
    "pygpu.CompileError": {*WRONG},
    "pygpu.clear": {"nothing"},
    "pygpu.compile": {"nothing", "None", "a function"},
    "pygpu.each": {"a string", "a dict", "a mixed list"},
    "pygpu.frames": {"a number"},
    "pygpu.info": {"nothing"},
    "pygpu.offsets": {"a mixed list"},
    "filters.offsets": {"a mixed list"},
    "pygpu.pipeline": {"nothing", "None", "a function"},
    "pygpu.progress": {*WRONG} - {"two strings", "three None"},
    "pygpu.vectorize": {"nothing", "None", "a function"},
    "pygpu.Shader": {"nothing"},
    "filters.keep_alpha": {"a function"},
    "Compiled.map": {"a string", "a dict", "a mixed list"},  # stacks, asked when items are
    "Compiled.recompile": {"nothing"},
    "Signal()": {"a number"},
}
for name in ("Int", "UInt", "Float", "Complex"):
    TAKEN[f"pygpu.{name}"] = {"nothing", "a number"}
for name in pygpu.__all__:
    if name[-1].isdigit() or name == "Position":
        TAKEN[f"pygpu.{name}"] = {"a number"}
for name in ("pyramid_gaussian", "pyramid_laplacian"):  # generators: asked when the first is
    TAKEN[f"filters.{name}"] = {*WRONG} - {"nothing", "three None"}
for name in ("any", "all"):  # strings, lists and dicts are iterables
    TAKEN[f"glsl.{name}"] = {"a string", "a dict", "a mixed list", "a number"}
for name in ("sum", "mean", "std", "min", "max", "any", "all", "clip", "sampled", "to_pil"):
    TAKEN[f"Image.{name}"] = {"nothing", "None"}
for name in ("mean", "std", "sum", "clip", "sampled"):
    TAKEN[f"Image.{name}"].add("three None")
TAKEN["Image.clip"].add("a number")
TAKEN["Image.numpy"] = {"nothing"}
TAKEN["filters.gray2rgb"] = TAKEN["filters.linear_to_srgb"] = {"a number"}
TAKEN["filters.srgb_to_linear"] = {"a number"}

ELSEWHERE = {"pygpu.show", "pygpu.view", "pygpu.info"}  # these open windows, or print

RANDOM = ("uniform", "normal", "integers")
OF_COMPILED = ("export", "iterate", "lower", "map", "on", "profile", "recompile")

REFUSALS = (TypeError, ValueError, OSError, RuntimeError, Discarded)

# What Python and NumPy say of values, which means nothing to who called PyGPU.
FOREIGN = (
    *("has no attribute", "not supported between", "unsupported operand", "cannot unpack"),
    *("ufunc", "argument after *", "cannot be interpreted", "object is not", "to unpack"),
    *("invalid literal", "could not convert", "formatting", "<locals>"),
)


def callables():
    found = {f"pygpu.{name}": getattr(pygpu, name) for name in pygpu.__all__}
    found |= {f"glsl.{name}": getattr(glsl, name) for name in sorted(GLSL_ALONE)}
    found |= {f"filters.{name}": getattr(filters, name) for name in filters.__all__}
    found |= {f"random.{name}": getattr(pygpu.random, name) for name in RANDOM}
    found |= {f"Compiled.{name}": getattr(COMPILED, name) for name in OF_COMPILED}
    for name in dir(Image):
        if not name.startswith("_"):
            found[f"Image.{name}"] = getattr(GREY, name)
    found |= {"Image()": GREY, "Signal()": SIGNAL, "Volume()": VOLUME, "Compiled()": COMPILED}
    return {
        name: f
        for name, f in found.items()
        if callable(f) and not isinstance(f, types.ModuleType) and name not in ELSEWHERE
    }


CALLABLES = callables()


@pytest.mark.parametrize("name", CALLABLES)
def test_wrong_calls_are_told_to_who_called(name):
    function = CALLABLES[name]
    number = isinstance(function, types.FunctionType) and name.startswith(("pygpu.", "glsl."))
    for what, arguments in WRONG.items():
        if what in TAKEN.get(name, ()) or (number and what == "a number"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(REFUSALS) as caught:
                function(*arguments)
        shown = traceback.extract_tb(caught.value.__traceback__)
        ours = [f"{f.filename}:{f.lineno}" for f in shown if f.filename.startswith(HOME)]
        text = f"{name} given {what}: {type(caught.value).__name__}: {caught.value}"
        assert not ours, f"{text}\n{ours}"
        assert not [words for words in FOREIGN if words in str(caught.value)], text
        assert 10 < len(str(caught.value)) < 400, text


class Grey(pygpu.Shader):
    def vertex(self, position):
        return pygpu.Vec4(position, 0, 1)

    def fragment(self):
        return 1.0


QUAD = pygpu.Mesh.quad()
ONES = np.ones((2, 2), np.float32)


def goes(v, p):
    return p


# Options by keyword, of which none takes an object, a dict or an array.
OPTIONS = {
    "boundary": lambda x: Image(ONES, boundary=x),
    "interpolation": lambda x: Image(ONES, interpolation=x),
    "cval": lambda x: Image(ONES, boundary="constant", cval=x),
    "sampled": lambda x: GREY.sampled(boundary=x),
    "out": lambda x: COMPILED(GREY, out=x),
    "dtype": lambda x: COMPILED(GREY, dtype=x),
    "shape": lambda x: COMPILED(GREY, shape=x),
    "n": lambda x: COMPILED.iterate(GREY, x),
    "every": lambda x: COMPILED.iterate(GREY, 2, until=lambda im: False, every=x),
    "until": lambda x: COMPILED.iterate(GREY, 2, until=lambda: x, every=1),
    "precision": lambda x: pygpu.compile(goes, v=Image, p=Position, precision=x)(GREY),
    "target": lambda x: pygpu.compile(goes, v=Image, p=Position, target=x),
    "reduce map": lambda x: pygpu.reduce(np.add, GREY, map=x),
    "reduce initial": lambda x: pygpu.reduce(np.add, GREY, initial=x),
    "reduce groups": lambda x: pygpu.reduce(np.add, GREY, by=lambda v: 0, groups=x),
    "scan axis": lambda x: pygpu.scan(np.add, GREY, axis=x),
    "sort axis": lambda x: pygpu.sort(GREY, axis=x),
    "sum axis": lambda x: GREY.sum(axis=x),
    "scatter shape": lambda x: pygpu.scatter(GREY, goes, x),
    "scatter combine": lambda x: pygpu.scatter(GREY, goes, (3, 3), combine=x),
    "scatter initial": lambda x: pygpu.scatter(GREY, goes, (3, 3), initial=x),
    "draw shape": lambda x: pygpu.draw(Grey(), QUAD, shape=x),
    "draw clear": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), clear=x),
    "draw cull": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), cull=x),
    "draw blend": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), blend=x),
    "draw samples": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), samples=x),
    "draw depth": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), depth=x),
    "draw dtype": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), dtype=x),
    "draw onto": lambda x: pygpu.draw(Grey(), QUAD, shape=(2, 2), onto=x),
    "indices": lambda x: pygpu.Mesh(x, position=np.zeros((3, 2))),
    "random low": lambda x: pygpu.random.integers(Position(1, 2), 1, x, 9),
    "random count": lambda x: pygpu.random.uniform(Position(1, 2), 1, x),
    "cube": lambda x: pygpu.Cube(ONES, ONES, ONES, ONES, ONES, x),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_wrong_options_are_told_to_who_called(name):
    for value in (Thing(), {}, np.zeros((100, 90)), [1, "a", None]):
        with pytest.raises(REFUSALS) as caught:
            OPTIONS[name](value)
        shown = traceback.extract_tb(caught.value.__traceback__)
        ours = [f"{f.filename}:{f.lineno}" for f in shown if f.filename.startswith(HOME)]
        text = f"{name} given {value!r}: {type(caught.value).__name__}: {caught.value}"
        assert not ours, f"{text}\n{ours}"
        assert "ambiguous" not in str(caught.value), text
        assert "unhashable" not in str(caught.value), text
        assert 10 < len(str(caught.value)) < 400, text


MASKED = np.ma.masked_array(np.ones((5, 7), np.float32), mask=np.eye(5, 7, dtype=bool))


@pytest.mark.parametrize(
    "call",
    [
        COMPILED,
        Image,
        lambda a: filters.gaussian(a, sigma=1),
        lambda a: pygpu.reduce(np.add, a),
        lambda a: pygpu.scan(np.add, a),
        lambda a: pygpu.vectorize(lambda v: v + 1)(a),
        lambda a: COMPILED.map(np.ma.stack([a, a])),
        lambda a: Signal(a[0]),
        lambda a: GREY + a,
        lambda a: np.where(GREY > 0, a, 1),
        lambda a: np.where(a, GREY, 1),
        lambda a: np.average(GREY, weights=a),
        lambda a: pygpu.imwrite("masked.tif", a),
    ],
)
def test_what_a_masked_array_leaves_out_is_not_read(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"a masked array .* give its \.filled\(value\)"):
        call(MASKED)
    call(np.ma.masked_array(np.ones((5, 7), np.float32)))  # nothing is left out


@pytest.mark.parametrize(
    "call",
    [
        lambda out: COMPILED(MASKED.data, out=out),
        lambda out: np.add(GREY, 1, out=out),
        lambda out: np.sum(GREY, axis=0, out=out[0]),
        lambda out: pygpu.vectorize(lambda v: v + 1)(MASKED.data, out=out),
    ],
)
def test_results_do_not_go_into_masked_arrays(call):
    with pytest.raises(TypeError, match=r"out: a masked array .* give its \.data"):
        call(MASKED.copy())
    call(np.ma.masked_array(np.ones((5, 7), np.float32)))


@pygpu.compile(target="cpu")
def both(a: Image, b: Image, p: Position):
    return a(p), b(p)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Image(MASKED.data, bounary="wrap"), r"^Image\(\) got .*; is boundary meant\?"),
        (lambda: Signal(), r"^Signal\(\) missing 1 required .* 'data'"),
        (lambda: GREY.sum(axi=0), r"^Image\.sum\(\) got .*; is axis meant\?"),
        (lambda: COMPILED(MASKED.data, shape="33"), "shape: takes .* got '33'"),
        (lambda: both.iterate(GREY, 3), r"needs b: image; .* both\.iterate\(\(a, b\), n\)"),
    ],
)
def test_wrong_calls_say_what_was_called_and_what_it_takes(call, says):
    with pytest.raises(TypeError, match=says):
        call()
