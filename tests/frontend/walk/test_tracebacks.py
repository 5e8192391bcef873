"""Tracebacks of errors that are the user's: their call, at most one frame of ours, their caret."""

import traceback
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, filters

PHOTO = np.ones((3, 4), np.float32)
HOME = str(Path(pygpu.__file__).parent)


def refused(v):
    return [v, 1.0][v]


def missing(v):
    return {"here": 1}["not here"] * v


def helper(table, name):
    return table[name]


def wrong(im: Image, p: Position):
    return refused(im(p))


def fails(im: Image, p: Position):
    return missing(im(p))


def fails_within(im: Image, p: Position):
    return helper({}, "not here") * im(p)


class Lens:
    @pygpu.compile
    def look(self, im: Image, p: Position):
        return refused(im(p))


CALLS = {
    "call": lambda: pygpu.compile(wrong)(PHOTO),
    "lower": lambda: pygpu.compile(wrong).lower(PHOTO),
    "iterate": lambda: pygpu.compile(wrong).iterate(PHOTO, 2),
    "method": lambda: Lens().look(PHOTO),
    "lower of a method": lambda: Lens().look.lower(PHOTO),
    "vectorize": lambda: pygpu.vectorize(refused)(PHOTO),
    "vectorize of images": lambda: pygpu.vectorize(refused)(Image(PHOTO)),
    "vectorize of scalars": lambda: pygpu.vectorize(refused)(1.5),
    "lower of vectorize": lambda: pygpu.vectorize(refused).lower(PHOTO),
    "reduce": lambda: pygpu.reduce(lambda a, b: refused(a), PHOTO),
    "map": lambda: pygpu.reduce(max, PHOTO, map=refused),
}


def frames(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused_shows_the_users_expression(name):
    with pytest.raises(pygpu.CompileError) as caught:
        CALLS[name]()
    error = caught.value
    assert sum(file.startswith(HOME) for file in frames(error)) <= 1
    assert __file__ in frames(error)[1]
    shown = "".join(traceback.format_exception(error))
    assert "    return [v, 1.0][v]\n           ^^^^^^^^^^^\n" in shown
    assert HOME not in "\n".join(traceback.format_exception_only(error))
    assert "During handling" not in shown
    assert "direct cause" not in shown


@pytest.mark.parametrize(
    "call",
    [
        lambda: pygpu.compile(fails)(PHOTO),
        lambda: pygpu.compile(fails).lower(PHOTO),
        lambda: pygpu.compile(fails).iterate(PHOTO, 2),
        lambda: pygpu.vectorize(missing)(PHOTO),
        lambda: pygpu.reduce(lambda a, b: missing(a), PHOTO),
    ],
)
def test_what_known_code_raises_says_where_it_was(call):
    with pytest.raises(KeyError, match="not here") as caught:
        call()
    assert sum(file.startswith(HOME) for file in frames(caught.value)) == 0
    notes = caught.value.__notes__
    place, source, carets = notes[0].splitlines()
    assert place.startswith("at compile time, ")
    assert place.endswith(", in missing:")
    assert source == '    return {"here": 1}["not here"] * v'
    assert carets == "           ^^^^^^^^^^^^^^^^^^^^^^^"
    assert HOME not in "\n".join(notes)


def test_frames_of_functions_that_python_ran_are_kept():
    with pytest.raises(KeyError) as caught:
        pygpu.compile(fails_within)(PHOTO)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "helper"


def test_operators_refuse_in_one_frame():
    with pytest.raises(pygpu.CompileError, match="float and int") as caught:
        Image(PHOTO) & 1
    assert sum(file.startswith(HOME) for file in frames(caught.value)) <= 1
    assert caught.value.filename is None  # there is no line of the user's but the call


def untyped(im, p):
    return im(p)


def typed(im: Image, p: Position):
    return im(p)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pygpu.compile(3),
        lambda: pygpu.compile(gain=2.0)(3),
        lambda: pygpu.compile(untyped),
        lambda: pygpu.compile(wrong, gain=2.0),
        lambda: pygpu.compile(wrong, target="abacus"),
        lambda: pygpu.compile(wrong)(),
        lambda: pygpu.compile(wrong)(PHOTO, PHOTO),
        lambda: pygpu.compile(typed)(PHOTO, shape="wide"),
        lambda: pygpu.vectorize(3),
        lambda: pygpu.vectorize(wrong),
        lambda: pygpu.vectorize(refused, w=2),
        lambda: pygpu.vectorize(refused, target="abacus"),
        lambda: pygpu.compile(typed).on("abacus"),
        lambda: pygpu.vectorize(refused).on("abacus"),
        lambda: Image("photo"),
        lambda: Image(PHOTO, boundary="wide"),
        lambda: pygpu.Mesh([(0, 1, 7)], position=np.zeros((3, 3))),
        lambda: pygpu.Mesh.of(3),
        lambda: filters.gaussian(PHOTO, sigma="wide"),
        lambda: filters.over(PHOTO, PHOTO),
        lambda: filters.median(PHOTO, size="z"),
        lambda: filters.opening(PHOTO, sigma=2),
        lambda: filters.unsharp_mask(PHOTO, amount=None),
        lambda: filters.rgb2hsv(PHOTO),
        lambda: filters.label("photo"),
        lambda: pygpu.pipeline(target="abacus")(wrong),
        lambda: pygpu.pipeline(int),
        lambda: pygpu.compile(typed, check=3),
        lambda: pygpu.compile(typed).export(None, PHOTO),
        lambda: pygpu.compile(typed).export("page.html", PHOTO, controls=3),
        lambda: pygpu.compile(typed)(PHOTO, pygpu.Position(0, 0)),
    ],
)
def test_wrong_calls_show_no_frame_of_ours(call):
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        call()
    assert [file for file in frames(caught.value) if file.startswith(HOME)] == []
    assert not any(HOME in note for note in getattr(caught.value, "__notes__", ()))


def test_our_own_mistakes_keep_their_frames(monkeypatch):
    monkeypatch.setattr("pygpu.runtime.wrapped", lambda parameter, wrap: None + 1)
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        pygpu.compile(wrong)
    assert any(file.startswith(HOME) for file in frames(caught.value))


def test_our_own_mistakes_are_no_errors_of_the_program(monkeypatch):
    """A handler of the function must not take for its own what arose in the walk."""
    names = {}
    where = str(Path(HOME, "frontend", "flow", "mistaken.py"))
    exec(compile("def branch(*args):\n    return [][3]\n", where, "exec"), names)
    monkeypatch.setattr("pygpu.frontend.flow.branches.branch", names["branch"])

    def chosen(im: Image, p: Position):
        try:
            return im(p) if p.x > 1 else 0.5
        except IndexError:
            return 7.0

    with pytest.raises(pygpu.CompileError, match=r"mistake of its own \(IndexError: list index"):
        pygpu.compile(chosen, target="interpreter")(PHOTO)


def test_what_a_program_raises_is_its_own(target):
    def handled(im: Image, p: Position):
        words = {"a": im(p)}
        found = 0.0
        for step in (
            lambda: words["b"],
            lambda: [im(p)][4],
            lambda: im.nothing,
            lambda: np.array([im(p)])[2],
            lambda: nowhere,  # noqa: F821
        ):
            try:
                step()
            except (LookupError, AttributeError, NameError):
                found += 1
        return found + 0 * im(p)

    assert np.asarray(pygpu.compile(handled, target=target)(PHOTO)).min() == 5
