"""Random numbers and clocks in a compiled function: one value for all pixels, and a warning."""

import datetime
import functools
import logging
import random
import time
import uuid
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import pygpu
from pygpu import Image, Position

FLAT = np.zeros((3, 4), np.float32)
GENERATOR = np.random.default_rng(3)


def python_random(im: Image, p: Position):
    return im(p) + random.random()


def python_own(im: Image, p: Position):
    return im(p) + random.Random(3).uniform(0, 1)


def numpy_random(im: Image, p: Position):
    return im(p) + np.random.rand()


def numpy_generator(im: Image, p: Position):
    return im(p) + GENERATOR.normal()


def clock(im: Image, p: Position):
    return im(p) + time.time() % 1


def today(im: Image, p: Position):
    return im(p) + datetime.datetime.now().second


def unique(im: Image, p: Position):
    return im(p) + uuid.uuid4().int % 7


def jitter():
    return 2 * random.random()


def deep():
    return jitter() + 1


def through_a_helper(im: Image, p: Position):
    return im(p) + deep()


def seeded():
    return np.random.default_rng(0).random()


def through_a_seeded_helper(im: Image, p: Position):
    return im(p) + seeded()


def unseeded():
    rng = np.random.default_rng()
    return rng.normal() + random.Random().random()


def through_an_unseeded_helper(im: Image, p: Position):
    return im(p) + unseeded()


def distribution(im: Image, p: Position):
    return im(p) + scipy.stats.norm.rvs()


drawn = functools.partial(random.uniform, 0, 1)


def partial(im: Image, p: Position):
    return im(p) + drawn()


def key(im: Image, p: Position):
    return im(p) + max((1, 2), key=lambda v: random.random())


def date(im: Image, p: Position):
    return im(p) + (np.datetime64("now") == np.datetime64("2020-01-01"))


@pytest.mark.parametrize(
    "function",
    [
        partial,
        key,
        date,
        through_a_helper,
        through_an_unseeded_helper,
        distribution,
        python_random,
        python_own,
        numpy_random,
        numpy_generator,
        clock,
        today,
        unique,
    ],
)
def test_a_call_that_gives_something_else_each_time_is_warned_of_once(function: Any) -> None:
    line = function.__code__.co_firstlineno + 1
    with pytest.warns(UserWarning, match=r"executed once.*pygpu\.random") as caught:
        result = pygpu.compile(function, target="cpu")(FLAT)
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]
    assert len(np.unique(result)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pygpu.compile(function, target="cpu")(FLAT)


def test_a_helper_with_a_seed_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pygpu.compile(through_a_seeded_helper, target="cpu")(FLAT)


def test_what_gives_the_same_each_time_is_not_warned_of() -> None:
    def seeded(im: Image, p: Position):
        rng = np.random.default_rng(3)
        return im(p) + float(rng is not None) + time.sleep.__name__.count("s")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pygpu.compile(seeded, target="cpu")(FLAT)


def shows(im: Image, p: Position):
    print("texel", im(p))
    logging.getLogger("shows").info(f"at {p}")
    print("known", 3)
    return im(p)


def test_what_is_shown_of_dynamic_values_is_warned_of_once_and_of_known_ones_shown(capsys) -> None:
    compiled = pygpu.compile(shows, target="interpreter")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(FLAT)
        compiled(FLAT[:2])
    first, second = [str(one.message) for one in caught]
    assert first.startswith("print() of a dynamic value shows nothing")
    assert second.startswith("Logger.info() of a dynamic value shows nothing")
    assert capsys.readouterr().out == "known 3\n"


def chosen(p: Position):
    return random.choice([p.x, p.y])


def chosen_too(p: Position):
    return 2 * random.choice([p.x, p.y])


@pytest.mark.parametrize("function", [chosen, chosen_too])
def test_a_function_of_a_library_that_is_walked_is_warned_of_where_it_is_called(
    function: Any,
) -> None:
    with pytest.warns(UserWarning, match="is executed once") as caught:
        pygpu.compile(function, target="interpreter")(shape=(2, 2))
    code = function.__code__
    assert (caught[0].filename, caught[0].lineno) == (code.co_filename, code.co_firstlineno + 1)
