"""Functions that people have written compile as they are, and give what they give in CPython.

The corpus (tests/corpus) holds functions of packages, called as they are, and functions in the
manner of public code. All run on cpu; a rotation of them on the targets of OpenGL.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import corpus
import pygpu
from conftest import require
from corpus import refused
from corpus.suite import CORNERS, HEIGHT, WIDTH, Entry
from programs.suite import topics_of
from pygpu import CompileError, Image, Position

TOPICS = topics_of(corpus)
ENTRIES = {entry.name: entry for topic in TOPICS for entry in topic.program}
LEAST = 150  # programs that compile with no change
SHARE = 0.9  # of all, with those that are refused
ROTATION = 6  # every how many run on a target of OpenGL

Plane = np.ndarray[Any, Any]


def inputs(entry: Entry) -> dict[str, Image]:
    return {name: Image(CORNERS[name]) for name in entry.images}


def in_python(entry: Entry) -> list[Plane]:
    """The program's results, an array (H, W, components) each, from CPython."""
    given = inputs(entry)
    pixels = []
    for y, x in np.ndindex(HEIGHT, WIDTH):
        here = {entry.position: Position(x, y)} if entry.position else {}
        result = entry.function(**given, **here)
        pixels.append(result if isinstance(result, tuple) else (result,))
    return [
        np.array([components(value) for value in values]).reshape(HEIGHT, WIDTH, -1)
        for values in zip(*pixels, strict=True)
    ]


def components(value: Any) -> list[Any]:
    if isinstance(value, complex):
        return [value.real, value.imag]
    return np.asarray(value if np.ndim(value) == 0 else list(value)).ravel().tolist()


def compiled(entry: Entry, target: str) -> list[Plane]:
    given = inputs(entry)
    size = {} if given else {"shape": (HEIGHT, WIDTH)}
    result = pygpu.compile(entry.function, target=target)(**given, **size)
    results = result if isinstance(result, tuple) else (result,)
    return [np.asarray(one).reshape(HEIGHT, WIDTH, -1) for one in results]


def check(name: str, target: str) -> None:
    entry = ENTRIES[name]
    if entry.missing:
        pytest.skip(f"the package {entry.missing} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is shown to nobody
        results = compiled(entry, target)
        expected = in_python(entry)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(
            result.astype(float), wanted.astype(float), rtol=entry.within, atol=entry.within
        )


@pytest.mark.parametrize("name", ENTRIES)
def test_function_gives_what_python_gives(name: str) -> None:
    check(name, "cpu")


@pytest.mark.parametrize("name", list(ENTRIES)[:: 2 * ROTATION])
def test_function_gives_it_in_fragments(name: str) -> None:
    require("fragment")
    check(name, "fragment")


@pytest.mark.parametrize("name", list(ENTRIES)[ROTATION :: 2 * ROTATION])
def test_function_gives_it_in_work_groups(name: str) -> None:
    require("compute")
    check(name, "compute")


def test_corpus_is_large_and_few_of_it_are_refused() -> None:
    assert len(ENTRIES) == sum(len(topic.program) for topic in TOPICS)  # no name stands twice
    assert len(ENTRIES) >= LEAST
    assert len(ENTRIES) / (len(ENTRIES) + len(refused.PAIRS)) >= SHARE


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("pair", refused.PAIRS, ids=lambda pair: pair.refused.__name__)
def test_advice_of_a_refusal_works(pair: refused.Pair) -> None:
    with pytest.raises(CompileError) as caught:
        compiled(Entry(pair.refused, {}), "interpreter")
    assert pair.advice in caught.value.msg
    assert caught.value.lineno is not None
    advised = Entry(pair.advised, {})
    wanted = in_python(advised)
    for result, plane in zip(compiled(advised, "cpu"), wanted, strict=True):
        np.testing.assert_allclose(result.astype(float), plane.astype(float), rtol=1e-5, atol=1e-5)
    same = runs_in_python(pair.refused) if pair.alike else None
    if same is not None:
        np.testing.assert_allclose(wanted[0].astype(float), same[0].astype(float))


def runs_in_python(function: Callable[..., Any]) -> list[Plane] | None:
    """What a refused program gives in plain Python, None where that refuses it as well."""
    try:
        return in_python(Entry(function, {}))
    except (ValueError, UnboundLocalError):
        return None
